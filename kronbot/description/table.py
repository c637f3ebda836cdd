"""Tables of CSV files: time and value of a motion or a torque, and shapes of a beam.

A file is read when the robot is loaded, and never again: the description carries its text.
Messages name a file by its path from where the user stands, so that editors find it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice, pairwise
from pathlib import Path

from kronbot.cached import cached_property
from kronbot.description import limits
from kronbot.description.checks.rules import file_fault
from kronbot.description.csv_lines import DECIMAL_COMMA, NUMBER, Line
from kronbot.description.gains import Gains, gains_of
from kronbot.description.mistakes import raise_all
from kronbot.description.wording import did_you_mean, quote
from kronbot.description.yaml.source import decode, read_bytes
from kronbot.errors import DescriptionError, Mistake
from kronbot.records import dataclass

# Rows that a cubic spline and a broken line need.
_CUBIC_ROWS, _LINEAR_ROWS = 4, 2
# Fewer do not say where a shape bends.
_FEWEST_ROWS = 5
_COUNTED = {1: "two", 3: "four"}
_COLUMN = re.compile(r"x|[vwt][1-9][0-9]?", re.ASCII)
_COLUMNS = "x, v1, v2, ..., w1, w2, ..., t1, t2, ..."
# Programs print places with seven digits; a table in other units, or of another beam, is off by more.
_PLACE = 1e-6
_SMALLEST_STEP = 1e-9
# A clamped root is exactly at rest in a finite-element program: what is left of it is the rounding of the numbers.
_ROOT_VALUE = 1e-6
# Of the steepest slope. The curvature that a spline needs to undo a slope of 1 % at its root stiffens it by 1 % or so.
_ROOT_SLOPE = 1e-2
# Mean square by which strains leave the line between their neighbours, as a share of their own: that of a wave over
# twelve rows. Too few digits make the strains of a fine table zigzag, by this share of its stiffness.
_ROUGH = 0.02
# Squares and quotients of shapes within these sizes keep their digits.
_SIZES = (1e-9, 1e9)


@dataclass(frozen=True)
class ShapeTable:
    """Shapes of a beam: values by column name at the places ``x`` (m, from 0 at the beam's root to its length).

    Deflections v1, v2, ..., w1, ... of bending and twists t1, ... of torsion, all dimensionless, as many as are used.
    ``mistake(column, message)`` says at a column's name that something is wrong with it.
    """

    x: tuple[float, ...]
    columns: Mapping[str, tuple[float, ...]]
    mistake: Callable[[str, str], Mistake]


Columns = tuple[tuple[float, ...], tuple[float, ...]]


@dataclass(frozen=True)
class Table:
    """A CSV file that is not empty: its ``text``, and its ``name`` in messages.

    What is asked of it raises DescriptionError with every mistake of the file.
    """

    name: str
    text: str

    def motion(self) -> Columns:
        """Times (s, strictly ascending) and values of a cubic spline. A first line without a number is a header."""
        return self._of_rows(_CUBIC_ROWS)

    def period(self, turning: bool) -> Columns:
        """The same of a spline that repeats: the last row is the first again, or whole turns further on if ``turning``.

        What the digits of the file have left of a difference is gone.
        """
        times, values = self.motion()
        rise = values[-1] - values[0]
        turns = math.tau * round(rise / math.tau) if turning else 0.0
        if abs(rise - turns) > _PLACE * (max(values) - min(values)):
            *_, last = self._lines()
            further = ", or whole turns further on" if turning else ""
            wrong = f"the last row of a period is the first again: {values[0]!r}{further}, not {values[-1]!r}"
            raise DescriptionError([last.mistake(wrong, 1)])
        return times, (*values[:-1], values[0] + turns)

    def torque(self) -> Columns:
        """The same of a broken line, which needs fewer rows."""
        return self._of_rows(_LINEAR_ROWS)

    def force(self) -> Columns:
        """The same of what acts at t = 0 in commands that know no time."""
        times, values = self.torque()
        if not times[0] <= 0 <= times[-1]:
            line = next(line for line in self._lines() if line.holds_a_number)
            wrong = f"the force at t = 0 is wanted too: the table goes from t = {times[0]:g} s to {times[-1]:g} s"
            raise DescriptionError([line.mistake(wrong)])
        return times, values

    def vector(self) -> tuple[tuple[float, ...], ...]:
        """Times and three components of a broken line."""
        columns = self._read("x", "y", "z")
        raise_all(_too_few(columns[0], _LINEAR_ROWS, self.name))
        return columns

    def _of_rows(self, least: int) -> Columns:
        raise_all(_too_few(self._columns[0], least, self.name))
        return self._columns

    @cached_property
    def _columns(self) -> Columns:
        times, values = self._read("value")
        return times, values

    def _read(self, *names: str) -> tuple[tuple[float, ...], ...]:
        """Times, strictly ascending, and a column for each name."""
        lines = self._lines()
        first = next(lines)
        if first.holds_a_number:
            lines = chain([first], lines)
        found = list(islice(lines, limits.TABLE_ROWS + 1))
        if len(found) > limits.TABLE_ROWS:
            raise DescriptionError([found[-1].mistake(f"more than {limits.TABLE_ROWS} rows of numbers")])
        mistakes: list[Mistake] = []
        rows: list[list[float]] = []
        wanted = f"{_COUNTED[len(names)]} columns (time, {', '.join(names)}) are wanted here"
        for line in found:
            numbers = line.numbers(1 + len(names), wanted, mistakes)
            if numbers is None:
                continue
            if rows and numbers[0] <= rows[-1][0]:
                mistakes.append(line.mistake(f"the time {numbers[0]!r} does not come after {rows[-1][0]!r}"))
            rows.append(numbers)
        raise_all(mistakes)
        return tuple(zip(*rows, strict=True)) or ((),) * (1 + len(names))

    def gains(self) -> Gains:
        """Gains of a state feedback."""
        return gains_of(self._lines())

    def shapes(self, length: float, counts: Mapping[str, int]) -> ShapeTable:
        """The shapes of a beam of a ``length`` (m) in the columns that a header names.

        ``counts`` says how many columns of each letter v, w and t are used; those beyond are left out. x must grow from
        0 to the length and every shape rest at the root, with its value and, in bending, with its slope.
        """
        lines = self._lines()
        header = next(lines)
        names = _headers(header, counts)
        rows = list(islice(lines, limits.SHAPE_ROWS + 1))
        if len(rows) > limits.SHAPE_ROWS:
            raise DescriptionError([rows[-1].mistake(f"more than {limits.SHAPE_ROWS} rows of numbers")])
        mistakes: list[Mistake] = []
        wanted = f"{len(names)} columns are wanted here, as in the header"
        numbers = [row.numbers(len(names), wanted, mistakes) for row in rows]
        if not mistakes:
            mistakes += _too_few(rows, _FEWEST_ROWS, header.file)
        raise_all(mistakes)
        columns = dict(zip(names, zip(*filter(None, numbers), strict=True), strict=True))
        x = columns["x"]
        raise_all(_wrong_places(x, length, rows, names.index("x")))
        used = {name: columns[name] for letter, count in counts.items() for name in _names(letter, count)}
        for name, values in used.items():
            fault = _fault(name, x, values)
            mistakes += [rows[0].mistake(fault, names.index(name))] if fault else []
        raise_all(mistakes)
        return ShapeTable(x, used, lambda column, message: header.mistake(message, names.index(column)))

    def _lines(self) -> Iterator[_Line]:
        """The lines that are not blank, at least one."""
        lines = enumerate(self.text.splitlines(), start=1)
        return (_Line(self.name, number, text) for number, text in lines if text.strip())

    def __reduce__(self) -> tuple[object, ...]:
        """Without what was made of the text."""
        return Table, (self.name, self.text)


def read_table(folder: Path | None, file: str) -> Table:
    """The CSV ``file`` in ``folder``. Raises DescriptionError where it cannot be read as text, or is empty."""
    name = file if folder is None else str(folder / file)
    fault = file_fault(file, folder)
    if fault or folder is None:
        raise DescriptionError([Mistake(1, 1, fault, name)])
    content = read_bytes(folder / file, name, limits.TABLE_BYTES, "put the table into a file")
    return Table(name, decode(name, content, "a table in columns that commas separate is wanted here"))


class _Line(Line):
    """A line that is not blank, of names or of numbers."""

    @property
    def holds_a_number(self) -> bool:
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


def _too_few(rows: Sequence[object], least: int, file: str) -> list[Mistake]:
    few = len(rows) < least
    return [Mistake(1, 1, f"{len(rows)} rows of numbers, at least {least} are wanted", file)] if few else []


def _names(letter: str, count: int) -> list[str]:
    return [f"{letter}{i + 1}" for i in range(count)]


def _headers(header: _Line, counts: Mapping[str, int]) -> list[str]:
    """The names of all columns."""
    if header.holds_a_number:
        header.demand_commas()
        raise DescriptionError([header.mistake(f"the first line must name the columns: {_COLUMNS}")])
    if len(header.cells) > limits.SHAPE_COLUMNS:
        excess = f"{len(header.cells)} columns, at most {limits.SHAPE_COLUMNS} are allowed"
        raise DescriptionError([header.mistake(excess)])
    used = [name for letter, count in counts.items() for name in _names(letter, count)]
    if not all(map(_COLUMN.fullmatch, header.cells)):
        header.demand_commas()
    names = header.cells
    missing = [name for name in ("x", *used) if name not in names]
    mistakes: list[Mistake] = []
    for i, name in enumerate(names):
        if name in names[:i]:
            mistakes.append(header.mistake(f"a second column {quote(name)}", i))
        elif not _COLUMN.fullmatch(name):
            hint = did_you_mean(name, missing) if len(mistakes) < limits.MISTAKES else ""
            mistakes.append(header.mistake(f"unknown column {quote(name)}{hint or f'; known are {_COLUMNS}'}", i))
    if "x" in missing:
        mistakes.append(header.mistake("no column 'x': the places of the rows, m from the beam's root"))
    for letter, key in (("v", "v"), ("w", "w"), ("t", "torsion")):
        gone = [name for name in missing if name[0] == letter]
        if gone:
            asked = f"modes: {{{key}: {counts[letter]}}}"
            mistakes.append(header.mistake(f"no column {', '.join(map(quote, gone))} for {asked}"))
    raise_all(mistakes)
    return names


def _wrong_places(x: Sequence[float], length: float, rows: Sequence[_Line], column: int) -> list[Mistake]:
    mistakes = [
        row.mistake(f"x must grow from row to row: {after!r} after {before!r}", column)
        for row, (before, after) in zip(rows[1:], pairwise(x), strict=True)
        if not after - before > _SMALLEST_STEP * length
    ]
    if abs(x[0]) > _PLACE * length:
        mistakes.append(rows[0].mistake(f"the first x must be 0, the root of the beam; it is {x[0]!r}", column))
    if abs(x[-1] - length) > _PLACE * length:
        wanted = f"the last x must be the length of the beam, {length!r} m from its root"
        mistakes.append(rows[-1].mistake(f"{wanted}; it is {x[-1]!r}", column))
    return mistakes


def _fault(name: str, x: Sequence[float], values: Sequence[float]) -> str:
    """What is wrong with the values of a shape; an empty string for a good one."""
    size = max(map(abs, values))
    if size == 0:
        return f"the shape {name} is zero everywhere"
    if not _SIZES[0] <= size <= _SIZES[1]:
        return f"the largest value of {name} is {size!r}: scale shapes to about 1"
    cure = "clamp the root of the beam in the program that the shapes come from"
    if abs(values[0]) > _ROOT_VALUE * size:
        return f"the shape {name} must be 0 at the root, it is {values[0]!r}: {cure}"
    middles = [(after + before) / 2 for before, after in pairwise(x)]
    slopes = _quotients(x, values, 1)
    centres = [sum(three) / 3 for three in zip(x, x[1:], x[2:], strict=False)]
    torsion = name[0] == "t"
    if _is_rough(middles, slopes) if torsion else _is_rough(centres, _quotients(x, values, 2)):
        strain = "twist per length" if torsion else "curvature"
        return f"the {strain} of {name} jumps from row to row: write more digits, or twelve rows a wave"
    # Newton's interpolation of three and of four rows; where they disagree the table is too coarse to judge by.
    of_three = slopes[0] - _quotients(x[:3], values[:3], 2)[0] / 2 * (x[1] - x[0])
    of_four = of_three + _quotients(x[:4], values[:4], 3)[0] / 6 * (x[1] - x[0]) * (x[2] - x[0])
    if not torsion and abs(of_four) > _ROOT_SLOPE * max(map(abs, slopes)) + abs(of_four - of_three):
        return f"the slope of {name} must be 0 at the root, it is {of_four!r} per m: {cure}"
    return ""


def _quotients(x: Sequence[float], values: Sequence[float], degree: int) -> list[float]:
    """Derivatives of the polynomials through each ``degree`` + 1 neighbours."""
    result = list(values)
    for n in range(1, degree + 1):
        result = [n * (b - a) / (x[i + n] - x[i]) for i, (a, b) in enumerate(pairwise(result))]
    return result


def _is_rough(places: Sequence[float], strains: Sequence[float]) -> bool:
    """Whether strains leave the line between their neighbours by much of what they are, in the mean."""
    rows = list(zip(places, strains, strict=True))
    off = [
        s - ((after - x) * left + (x - before) * right) / (after - before)
        for (before, left), (x, s), (after, right) in zip(rows, rows[1:], rows[2:], strict=False)
    ]
    return math.fsum(e * e for e in off) / len(off) > _ROUGH * math.fsum(s * s for s in strains) / len(strains)
