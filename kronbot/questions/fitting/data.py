"""Measurements: columns of numbers by name, in a table or in a CSV file whose mistakes have their places."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Protocol

import numpy as np

from kronbot.cached import cached_property
from kronbot.description.csv_lines import Line
from kronbot.description.expressions.expression import CONSTANTS, Expression, ExpressionError, evaluate, parse
from kronbot.description.expressions.grammar import unquoted
from kronbot.description.mistakes import first_of
from kronbot.description.wording import did_you_mean, listing, quote
from kronbot.description.yaml.source import (
    decode,
    exists,
    lines_in,
    near_file,
    read_beside,
    read_bytes,
    realpath,
    within,
)
from kronbot.errors import Argument, DescriptionError, MeasurementError, Mistake, UsageError
from kronbot.floats import Array
from kronbot.records import dataclass

# Bytes of a file: a million rows of twenty numbers are less.
LARGEST = 1 << 29
# Values at most, of which squares are summed.
MOST = 1e150
# What stands where nothing was measured.
MISSING = ("", "nan", "na", "n/a", "null", "none", "-")
_CURE = "put what it gives into a file"
_WANTED = "a header of names is wanted here, and rows of numbers below it"
# Lines that are read at a time.
BLOCK = 20_000
FUNCTIONS: Mapping[str, Callable[[Array], Array]] = {
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "sqrt": np.sqrt, "exp": np.exp,
}  # fmt: skip


NOWHERE: Mapping[str, int] = {}
# Names that stand in expressions without quotes, and numbers in other words than names that columns may have.
_PLAIN = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)
_SAME = {"pi": "180*deg", "deg": "pi/180"}


class Table(Protocol):
    """Columns of measurements, NaN where something is missing."""

    @property
    def name(self) -> str:
        """What messages call it."""

    @property
    def header(self) -> Sequence[str]:
        """Names of the columns."""

    def numbers(self, names: Iterable[str]) -> dict[str, Array]:
        """Some columns. Raises UsageError."""

    def mistaken(self, columns: Mapping[str, str], rows: Mapping[str, int] = NOWHERE) -> UsageError:
        """What is wrong with some columns, by name, or with what is in one of their ``rows``, from 0."""


@dataclass(frozen=True)
class Columns:
    """Columns that somebody has handed over."""

    given: Mapping[str, Array]
    name: str = "data"

    @property
    def header(self) -> Sequence[str]:
        """Names of the columns."""
        return tuple(self.given)

    def numbers(self, names: Iterable[str]) -> dict[str, Array]:
        """Some columns."""
        return {name: self.given[name] for name in names}

    def mistaken(self, columns: Mapping[str, str], rows: Mapping[str, int] = NOWHERE) -> UsageError:
        """What is wrong with some columns, by name, or with what is in one of their ``rows``, from 0."""
        return UsageError("\n".join(f"{self.name}: {said}" for said in columns.values()))


@dataclass(frozen=True)
class Sheet:
    """A CSV file with names in its first line and a row of numbers in every other one that is not blank.

    Lines before the names that begin with a # and a blank say what it is.
    """

    name: str
    lines: Sequence[str]

    @cached_property
    def header(self) -> Sequence[str]:
        """Names of the columns. Raises MeasurementError."""
        line, wrong, before = self._names, list[Mistake](), set[str]()
        if separated := line.misparted:
            raise MeasurementError([separated])
        for i, name in enumerate(line.cells):
            if not name:
                wrong.append(line.mistake("a column without a name", i))
            elif name in before:
                wrong.append(line.mistake(f"a second column {quote(name)}", i))
            before.add(name)
        first = next((cell for cell in line.cells if cell not in CONSTANTS), "t")  # a name like any other here
        if not wrong and _number(first) is not None:
            what = "stands for what was not measured" if first.casefold() in MISSING else "is a number"
            told = f"names of columns are wanted in the first line, and numbers below it; {quote(first)} {what}"
            wrong.append(line.mistake(told, line.cells.index(first)))
        if wrong:
            raise MeasurementError(first_of(wrong))
        return tuple(line.cells)

    def mistaken(self, columns: Mapping[str, str], rows: Mapping[str, int] = NOWHERE) -> UsageError:
        """What is wrong with some columns, by name, or with what is in one of their ``rows``, from 0, with its places;
        those of made columns are not known."""
        places = {name: i for i, name in enumerate(self._names.cells)}
        below = (Line(self.name, i, text) for i, text in enumerate(self.lines, 1) if i > self._first + 1)
        filled = (line for line in below if line.text.strip())
        lines = list(islice(filled, max(rows.values(), default=-1) + 1))
        return MeasurementError(
            first_of(
                (lines[rows[name]] if name in rows else self._names).mistake(said, places.get(name, 0))
                for name, said in columns.items()
            )
        )

    @cached_property
    def _names(self) -> Line:
        return Line(self.name, self._first + 1, self.lines[self._first])

    @cached_property
    def _first(self) -> int:
        """The line of the names, from 0."""
        return next((i for i, line in enumerate(self.lines) if not line.startswith("# ")), 0)

    def numbers(self, names: Iterable[str]) -> dict[str, Array]:
        """Some columns. Raises MeasurementError with every mistake in them."""
        wanted = list(names)
        found = {name: place for place, name in enumerate(self.header)}
        places = [found[name] for name in wanted]
        wrong: list[Mistake] = []
        blocks = [
            self._block(begin, self.lines[begin : begin + BLOCK], places, wrong)
            for begin in range(self._first + 1, len(self.lines), BLOCK)
        ]
        if wrong:
            raise MeasurementError(first_of(wrong))
        table = np.concatenate([np.zeros((0, len(places))), *blocks])
        if not len(table):
            raise MeasurementError(
                [Mistake(self._first + 2, 1, "rows of numbers are wanted below the header", self.name)]
            )
        return dict(zip(wanted, table.T, strict=True))

    def _block(self, before: int, lines: Sequence[str], places: list[int], wrong: list[Mistake]) -> Array:
        rows = [line for line in lines if line.strip()]
        if rows and places and all(line.count(",") == len(self.header) - 1 for line in rows):
            try:
                table = np.loadtxt(rows, delimiter=",", ndmin=2, comments=None, dtype=float, usecols=places)
            except ValueError:  # something is missing, or wrong
                pass
            else:
                if not np.isinf(table).any():
                    return np.asarray(table, dtype=float)
        lengths = [
            self._row(Line(self.name, i, text), places, wrong)
            for i, text in enumerate(lines, before + 1)
            if text.strip()
        ]
        return np.array(lengths, dtype=float).reshape(len(lengths), len(places))

    def _row(self, line: Line, places: list[int], wrong: list[Mistake]) -> list[float]:
        count = len(self.header)
        if len(line.cells) != count:
            wrong.append(
                line.separated or line.mistake(f"cells in this row: {len(line.cells)}, in the header: {count}")
            )
            return [math.nan] * len(places)
        row = []
        for place in places:
            value = _number(line.cells[place])
            if value is None:
                text = line.cells[place]
                said = "is not finite" if text.strip("+-").casefold() in ("inf", "infinity") else "is not a number"
                wrong.append(
                    line.mistake(f"{quote(text)} {said}; leave the cell empty where nothing was measured", place)
                )
            row.append(math.nan if value is None else value)
        return row


def _number(text: str) -> float | None:
    """A cell as a number, NaN where something is missing, None where it is neither."""
    if text.casefold() in MISSING:
        return math.nan
    try:
        value = float(text) if text.isascii() and "_" not in text else None
    except ValueError:
        value = None
    if value is None:
        try:
            value = evaluate(parse(text), {})
        except ExpressionError:
            return None
    return value if math.isfinite(value) else None


def read(name: str, word: str = "data") -> Sheet:
    """The file of a path. Raises UsageError where there is none, MeasurementError where it cannot be read as text."""
    if not name or not exists(name):
        hint = near_file(name, Path(), (".csv", ".txt"))
        raise UsageError(Argument(word), f": no file {quote(name)}{hint}")
    shown = str(Path(name))
    with _measured():
        return sheet(shown, read_bytes(Path(name), shown, LARGEST, _CURE))


def beside(folder: Path, name: str, place: Path | None) -> Sheet:
    """A file that a robot file names, whose folder has led to ``place``. Raises MeasurementError."""
    shown = str(folder / name)
    with _measured():
        return sheet(shown, read_beside(place or realpath(folder), name, shown, LARGEST, _CURE))


@contextmanager
def _measured() -> Iterator[None]:
    """What is wrong with a file is told as of measurements."""
    try:
        yield
    except DescriptionError as error:
        raise MeasurementError(error.mistakes) from None


def sheet(name: str, content: bytes) -> Sheet:
    """The content of a file that messages call so. Raises MeasurementError where it is too much, or no text."""
    with _measured():
        return Sheet(name, lines_in(decode(name, within(content, name, LARGEST), _WANTED)))


@dataclass(frozen=True)
class Named:
    """Columns of a table by the names that answers have: those of their own name, and ``expressions`` of others.

    In these names of columns stand as :func:`parse` has quoted ones. ``lacking`` says of rows in which something is not
    given what they are.
    """

    table: Table
    expressions: Mapping[str, Expression]
    lacking: str = "without all that is given"

    @staticmethod
    def of(table: Table, texts: Mapping[str, str]) -> Named:
        """With what texts say: the name of a column of the table, whatever signs it has, or an expression of columns.

        Raises UsageError where one is neither, or uses a column that is not there.
        """
        return Named(table, {name: _expression(table, name, text.strip()) for name, text in texts.items()})

    @property
    def names(self) -> list[str]:
        """Names of all columns."""
        return [*self.expressions, *(name for name in self.table.header if name not in self.expressions)]

    @property
    def kinds(self) -> frozenset[str]:
        """What columns are about: their names up to the first dot."""
        return frozenset(name.partition(".")[0] for name in self.names)

    @property
    def spent(self) -> set[str]:
        """Columns of the table that expressions use."""
        return {used for name in self.expressions for used in self._used(name).values()}

    def _used(self, name: str) -> dict[str, str]:
        """The columns of the table that an expression uses, by their names in it."""
        return {used: unquoted(used) for used in self.expressions[name].names}

    def numbers(self, names: Iterable[str]) -> dict[str, Array]:
        """Some columns (N,), NaN where a cell that makes them is empty. Raises MeasurementError with what is wrong."""
        wanted = list(names)
        made = [name for name in wanted if name in self.expressions]
        needed = {used for name in made for used in self._used(name).values()}
        plain = dict.fromkeys([*(name for name in wanted if name not in self.expressions), *sorted(needed)])
        found = given = self.table.numbers(plain or self.table.header[:1])
        count = len(next(iter(found.values())))
        constants = {name: np.full(count, evaluate(parse(name), {})) for name in CONSTANTS}
        for name in made:
            cells = {each: given[used] for each, used in self._used(name).items()}
            with np.errstate(all="ignore"):
                values = self.expressions[name].fold(
                    lambda number: np.full(count, float(number)), cells | constants, FUNCTIONS
                )
            # Beside an empty cell nothing is made, not even 1 of its power with exponent 0.
            empty = np.isnan([*cells.values(), np.zeros(count)]).any(axis=0)
            made_here = np.where(empty, np.nan, values)
            if (strange := ~empty & ~np.isfinite(made_here)).any():
                row, used = int(strange.argmax()), min(self._used(name).values(), default=name)
                said = f"no {'real' if np.isnan(made_here[row]) else 'finite'} number in row {row + 1}"
                cure = "leave the cell empty where nothing was measured"
                raise self.table.mistaken({used: f"{quote(name)[1:-1]}: {said}; {cure}"}, {used: row})
            found = {**found, name: made_here}
        beyond = {name: np.flatnonzero(np.abs(found[name]) > MOST) for name in wanted}
        first = {name: int(rows[0]) for name, rows in beyond.items() if len(rows)}
        wrong = {
            name: f"{quote(name)}: {found[name][row]:g} in row {row + 1} is too large for its square; other units?"
            for name, row in first.items()
        }
        if wrong:
            raise self.table.mistaken(wrong, first)
        return {name: found[name] for name in wanted}


def _expression(table: Table, name: str, text: str) -> Expression:
    """What makes a column of a name: a column of the table, or an expression of some. Raises UsageError."""
    if text in table.header:
        own = f"'{text}'"
        return Expression(own, ast.Name(own), own)
    whose = f" {quote(name)[1:-1]}: "
    try:
        found = parse(text, quoted=True)
    except ExpressionError as error:
        raise UsageError(Argument("columns"), whose, error.of(text, "an expression")) from None
    for used in sorted(map(unquoted, found.names)):
        if used not in table.header:
            hint = did_you_mean(used, table.header) or f"; there are {listing(table.header)}"
            odd = any(column in hint and not _PLAIN.fullmatch(column) for column in table.header)
            how = " (such a name stands in quotes in an expression)" if odd else ""
            raise UsageError(Argument("columns"), whose, f"{table.name} has no column {quote(used)}{hint}{how}")
    numbers = {node.id for node in ast.walk(found.root) if isinstance(node, ast.Name)} & {*CONSTANTS}
    for both in sorted(numbers.intersection(table.header)):
        cure = f"the column stands in quotes, {quote(both)}, and the number is {_SAME[both]}"
        raise UsageError(Argument("columns"), whose, f"{both} is a number, and a column of {table.name}: {cure}")
    return found
