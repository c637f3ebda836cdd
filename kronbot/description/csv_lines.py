"""Lines of CSV files: cells between commas, in quotes or not, each with its place."""

from __future__ import annotations

import codecs
import io
import math
import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import accumulate
from typing import BinaryIO

from kronbot.cached import cached_property
from kronbot.description import limits
from kronbot.description.expressions.grammar import DECIMAL
from kronbot.description.wording import counted, quote
from kronbot.errors import DescriptionError, Mistake
from kronbot.records import dataclass

# Characters that a line of a file may have: 200 for each of the most coordinates that a robot has.
LINE_LIMIT = 200_000
# Bytes that are read from a file at a time.
CHUNK = 1 << 18
# Bytes that are no UTF-8, as :func:`lines_of` leaves them.
UNDECODED = re.compile("[\udc80-\udcff]")
_CELL = re.compile(r'(?:^|(?<=,))(?:\s*"(?:[^"]|"")*"\s*(?=,|$)|[^,]*)')
_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_SEPARATORS = {";": "semicolons", "\t": "tabs", " ": "spaces"}
NUMBER = re.compile(rf"[-+]?{DECIMAL}")
DECIMAL_COMMA = re.compile(r"[-+]?[0-9]+,[0-9]+([eE][-+]?[0-9]+)?", re.ASCII)


@dataclass(frozen=True)
class Line:
    """A line of a file, by its number from 1."""

    file: str
    number: int
    text: str

    @cached_property
    def _pieces(self) -> list[str]:
        """What stands between the commas that part cells."""
        return self.text.split(",") if '"' not in self.text else [piece[0] for piece in _CELL.finditer(self.text)]

    @cached_property
    def cells(self) -> list[str]:
        """What the cells say, without space around it, and without quotes."""
        bare = [piece.strip() for piece in self._pieces]
        return [cell[1:-1].replace('""', '"').strip() if _QUOTED.fullmatch(cell) else cell for cell in bare]

    @cached_property
    def starts(self) -> list[int]:
        """The columns, from 1, in which the cells begin."""
        places = accumulate((len(piece) + 1 for piece in self._pieces[:-1]), initial=1)
        return [place + piece.index(piece.strip()) for place, piece in zip(places, self._pieces, strict=True)]

    @property
    def separated(self) -> Mistake | None:
        """What is wrong where other signs part columns of names or numbers, or a comma stands for a decimal point."""
        if self.text.lstrip().startswith("#"):
            return self.mistake("a table has no comments: take this line out")
        for sign, name in _SEPARATORS.items():
            parts = [part.strip(' "') for part in self.text.split(sign) if part.strip(' "')]
            decimal = next(filter(DECIMAL_COMMA.fullmatch, parts), "")
            numbers = all(NUMBER.fullmatch(part.replace(",", ".", 1)) for part in parts)
            if len(parts) > 1 and ("," not in self.text or (decimal and numbers)):
                cure = f", and decimals have a point: {decimal.replace(',', '.')}" if decimal else ""
                return self.mistake(f"columns are separated by commas, not by {name}{cure}")
        places = (i for i, cell in enumerate(self.cells) if DECIMAL_COMMA.fullmatch(cell))
        i = next(places, None)
        return None if i is None else self.mistake(f"decimals have a point: {self.cells[i].replace(',', '.')}", i)

    @property
    def misparted(self) -> Mistake | None:
        """What is wrong where another sign parts more names than commas do, which may stand in names."""
        if len(self.cells) == 1:
            return self.separated
        for sign in ";\t":
            if self.text.count(sign) >= len(self.cells):
                return self.mistake(f"columns are separated by commas, not by {_SEPARATORS[sign]}")
        return None

    def mistake(self, message: str, cell: int = 0) -> Mistake:
        """Something is wrong with the line, or with one of its cells."""
        return Mistake(self.number, self.starts[cell], message, self.file, self.text)


def lines_of(file: BinaryIO) -> Iterator[list[str]]:
    """Lines of a text without their ends, many at a time; one that is too long is the last, and not whole.

    Bytes that are no UTF-8 become lone surrogates, which have a place like any character. Raises OSError.
    """
    utf8 = codecs.getincrementaldecoder("utf-8-sig")("surrogateescape")
    decoder = io.IncrementalNewlineDecoder(utf8, translate=True)
    rest = ""
    for chunk in iter(partial(file.read, CHUNK), b""):
        if chunk is None:
            raise OSError("cannot be read: it does not wait for who writes into it")
        *lines, rest = (rest + decoder.decode(chunk)).split("\n")
        if len(rest) > LINE_LIMIT:
            yield [*lines, rest]
            return
        if lines:
            yield lines
    yield (rest + decoder.decode(b"", final=True)).split("\n")


class TableLine(Line):
    """A line that is not blank, of names or of numbers."""

    @property
    def holds_a_number(self) -> bool:
        """Whether it may be a row of numbers."""
        return any(NUMBER.fullmatch(cell) for cell in self.cells)

    def numbers(self, count: int, wanted: str, mistakes: list[Mistake]) -> list[float] | None:
        """The ``count`` finite numbers of the line, or None and what is wrong."""
        if len(mistakes) > limits.MISTAKES:
            return self.counted(count, mistakes)
        if len(self.cells) != count:
            self.demand_commas()
            message = f"{wanted}, not {len(self.cells)}"
            halves = zip(self.cells[::2], self.cells[1::2], strict=False)
            if len(self.cells) == 2 * count and all(map(DECIMAL_COMMA.fullmatch, map(",".join, halves))):
                cure = f"{message} (decimals have a point: {self.cells[0]}.{self.cells[1]})"
                raise DescriptionError([self.mistake(cure)])
            mistakes.append(self.mistake(message))
            return None
        numbers, wrong = self._read()
        if wrong:
            self.demand_commas()
        mistakes += [self.mistake(f"{quote(self.cells[i])} is not a finite number", i) for i in wrong]
        return None if wrong else numbers

    def counted(self, count: int, mistakes: list[Mistake]) -> list[float] | None:
        """The same beyond the mistakes that are shown: words would take seconds for a hostile file."""
        numbers, wrong = self._read()
        found = 1 if len(numbers) != count else len(wrong)
        mistakes += [Mistake(self.number, 1, "", self.file)] * found
        return None if found else numbers

    def _read(self) -> tuple[list[float], list[int]]:
        """The numbers, and which of them are none."""
        numbers = [float(cell) if NUMBER.fullmatch(cell) else math.nan for cell in self.cells]
        return numbers, [i for i, number in enumerate(numbers) if not math.isfinite(number)]

    def demand_commas(self) -> None:
        """Raise DescriptionError where other signs part columns, or a comma stands for a decimal point.

        That is one mistake of the whole file, and not told line by line.
        """
        if wrong := self.separated:
            raise DescriptionError([wrong])


def too_few(rows: Sequence[object], least: int, file: str) -> list[Mistake]:
    """The mistake of a file with fewer rows of numbers than these."""
    few = len(rows) < least
    return [Mistake(1, 1, f"{counted(len(rows), 'row')} of numbers, at least {least} are wanted", file)] if few else []
