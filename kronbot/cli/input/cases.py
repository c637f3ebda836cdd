"""Files of cases: --cases FILE, a table whose header names what varies, a case in each row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from itertools import islice
from typing import TYPE_CHECKING, BinaryIO, cast

from kronbot.cli.input.completion import STANDARD_INPUT
from kronbot.cli.input.streams import opened
from kronbot.cli.output.messages import worded
from kronbot.description import limits
from kronbot.description.csv_lines import Line, lines_of
from kronbot.description.mistakes import first_of
from kronbot.description.wording import shown_path as shown
from kronbot.description.yaml.source import STANDARD_INPUT_NAME, Source
from kronbot.errors import CasesError, StrangeValues, UsageError, said
from kronbot.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

    from kronbot.sweeps.cases import Value

# Bytes of a file of cases, whose numbers are all in memory: a pipe may never end.
LARGEST = 1 << 27
# Different values of a column that are looked at one by one.
FEW = 100


@dataclass(frozen=True)
class Sheet:
    """Columns of a file of cases by their names, and the text that they come from."""

    name: str
    columns: Mapping[str, Sequence[Value]]
    text: bytes

    def placed(self, error: UsageError, ask: Callable[[Mapping[str, Sequence[Value]]], object]) -> UsageError:
        """An error with its places in the file, where it is about columns that are refused by themselves.

        ``ask`` is the question about some of the columns.
        """
        found = (each for name, column in self.columns.items() for each in wrong_values(ask, name, column, worded))
        wrong = [*islice(found, limits.MISTAKES + 1)]
        if not wrong:
            return error
        lines = self._lines({row for row, _, _ in wrong})
        names = list(self.columns)
        told = (lines[row].mistake(why, names.index(name)) for row, name, why in wrong)
        return CasesError(first_of(told, counted=False))

    def _lines(self, rows: set[int]) -> dict[int, Line]:
        """Those of rows, by number; the header is row 0."""
        from kronbot.sweeps.grammar import filled

        found: dict[int, Line] = {}
        row, read = 0, 0
        for some in lines_of(BytesIO(self.text)):
            for number, text in filled(some, read + 1, self.name):
                if row in rows:
                    found[row] = Line(self.name, number, text)
                row += 1
            if len(found) == len(rows):
                break
            read += len(some)
        return found


def wrong_values(
    ask: Callable[[Mapping[str, Sequence[Value]]], object],
    name: str,
    column: Sequence[Value],
    words: Callable[[UsageError], str],
) -> list[tuple[int, str, str]]:
    """Where a column is refused the rows, from 1, the name, and why; row 0 where that is the name itself, or all of it.

    ``ask`` is the question about some of the columns; errors are told in ``words``.
    """

    def refusal(values: Sequence[Value]) -> UsageError | None:
        try:
            ask({name: values})
        except UsageError as error:
            return error
        return None

    if (error := refusal(column)) is None:
        return []
    if isinstance(error, StrangeValues):
        return [(row, each, f"{each}: {why}") for row, each, why in error.values]
    known: dict[Value, str | None] = {}
    found: list[tuple[int, str, str]] = []
    if (name_alone := refusal(["0"])) is not None and words(name_alone) == words(error):
        return [(0, name, words(error))]
    for row, value in enumerate(column[:], 1):
        if value not in known and len(known) < FEW:
            alone = refusal([value])
            known[value] = None if alone is None else words(alone)
        if (why := known.get(value)) is not None:
            found.append((row, name, why))
        if len(found) > limits.MISTAKES:
            break
    return found or [(0, name, words(error))]


class _Heard:
    """A file that keeps what is read from it."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.parts: list[bytes] = []

    def read(self, size: int) -> bytes:
        """What comes next."""
        part = self.file.read(size)
        self.parts += [part] if part else []
        return part


def read(robot: Source, name: str) -> Sheet:
    """A file of cases, a pipe or standard input. Raises UsageError where it cannot be read, or is no table of cases."""
    from kronbot.sweeps.grammar import table  # here, since help and completion need no NumPy

    place = f"--cases {shown(name)}"
    called = STANDARD_INPUT_NAME if name in STANDARD_INPUT else name
    try:
        with opened(robot, name, "--cases", "the file of cases") as file:
            heard = _Heard(file)
            columns = table(_bounded(cast(BinaryIO, heard), place), called).columns
            return Sheet(called, columns, b"".join(heard.parts))
    except (OSError, ValueError) as error:
        raise UsageError(f"{place}: {said(error, place=False)}") from None


def _bounded(file: BinaryIO, place: str) -> Iterator[list[str]]:
    """The lines of a file. Raises UsageError where they are too many."""
    size = 0
    for lines in lines_of(file):
        size += sum(map(len, lines)) + len(lines)
        if size > LARGEST:
            raise UsageError(f"{place}: larger than {LARGEST >> 20} MB: sweep it in parts")
        yield lines
