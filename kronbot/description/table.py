"""Tables of CSV files: time and value of a motion or a torque, and shapes of a beam.

A file is read when the robot is loaded, and never again: the description carries its text.
Messages name a file by its path from where the user stands, so that editors find it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path

from kronbot.cached import cached_property
from kronbot.description import limits
from kronbot.description.checks.rules import file_fault
from kronbot.description.csv_lines import TableLine, too_few
from kronbot.description.degrees import doubt_of
from kronbot.description.gains import Filter, Gains, filter_of, gains_of
from kronbot.description.mistakes import raise_all
from kronbot.description.moving import TableMotion
from kronbot.description.quotients import first_slope, quotients
from kronbot.description.shape_tables import ShapeTable, shapes_of
from kronbot.description.wording import did_you_mean, quote, written
from kronbot.description.yaml.source import decode, lines_in, read_beside, realpath
from kronbot.errors import DescriptionError, Mistake
from kronbot.records import dataclass

# Rows that a cubic spline and a broken line need.
_CUBIC_ROWS, _LINEAR_ROWS = 4, 2
# How a header calls the time, with its unit or without.
_TIME = re.compile(r"t(ime)?([ /_\[(]+m?s[ \])]*)?", re.IGNORECASE)
# How a header says that angles are meant as they are.
_RAD = re.compile(r"(?<![A-Za-z])rad(?![A-Za-z])", re.IGNORECASE)
_COUNTED = {1: "two", 3: "four"}
# What digits of a file may leave between the ends of a period.
_PLACE = 1e-6
# The slope of rows at an end of what rests there, of their largest: the digits of a file leave as much.
_AT_REST = 1e-4
# Rounding of a value by which rows of what stands differ.
_ROUNDING = 1e-14


Columns = tuple[tuple[float, ...], tuple[float, ...]]


@dataclass(frozen=True)
class Table:
    """A CSV file that is not empty: its ``text``, and its ``name`` in messages.

    What is asked of it raises DescriptionError with every mistake of the file.
    """

    name: str
    text: str

    def motion(self, *wanted: str) -> Columns:
        """Times (s, strictly ascending) and values of a cubic spline. A first line without a number is a header.

        In a file of more columns it names them: the first is the time, the value that of the first of ``wanted``.
        """
        times, values = self._of_rows(_CUBIC_ROWS, wanted)
        if max(map(abs, (*times, *values))) > limits.LARGEST:
            rows = zip((line for line in self._lines() if line.holds_a_number), times, values, strict=True)
            places = (0, self._value_place(wanted))
            most = f"beyond {limits.LARGEST:g} (SI units) there is no motion"
            wrong = [
                line.mistake(most, place)
                for line, *pair in rows
                for place, number in zip(places, pair, strict=True)
                if abs(number) > limits.LARGEST
            ]
            raise DescriptionError(wrong)
        return times, values

    def period(self, turning: bool, *wanted: str) -> Columns:
        """The same of a spline that repeats: the last row is the first again, or whole turns further on if ``turning``.

        What the digits of the file have left of a difference is gone.
        """
        times, values = self.motion(*wanted)
        rise = values[-1] - values[0]
        turns = math.tau * round(rise / math.tau) if turning else 0.0
        if abs(rise - turns) > _PLACE * (max(values) - min(values)):
            *_, last = self._lines()
            further = ", or whole turns further on" if turning else ""
            wrong = (
                f"the last row of a period is the first again: {written(values[0])}{further}, not {written(values[-1])}"
            )
            raise DescriptionError([last.mistake(wrong, self._value_place(wanted))])
        return times, (*values[:-1], values[0] + turns)

    def of_joint(self, entry: TableMotion, joint: str, turning: bool) -> Columns:
        """The same of a joint, as its motion says; of many columns its own, of an elastic one that of its motor."""
        wanted = _wanted(entry, joint)
        if entry.periodic:
            return self.period(turning, *wanted)
        return self.held(*wanted) if entry.held else self.motion(*wanted)

    def turned(self, entry: TableMotion, joint: str) -> Iterator[Mistake]:
        """The first angle of a turning joint that looks like degrees, unless the header says rad."""
        first, wanted = next(self._lines()), _wanted(entry, joint)
        place, rows = self._value_place(wanted), (line for line in self._lines() if line.holds_a_number)
        times, values = self.motion(*wanted)
        if (entry.periodic and abs(values[-1] - values[0]) > math.pi) or _RAD.search(first.cells[place]):
            return
        beyond = ((line, doubt) for line, value in zip(rows, values, strict=True) if (doubt := doubt_of("", value)))
        for line, doubt in islice(beyond, 1):
            yield line.mistake(f"{doubt.partition(' (')[0]} (times pi/180 it is rad, as a header with rad says)", place)

    def held(self, *wanted: str) -> Columns:
        """The same as :meth:`motion` of what is at rest at both ends.

        It moves there where the cubic through the four last rows has a slope beyond what digits leave, and beyond the
        rate that the largest acceleration between rows makes in one step. Within that rows cannot tell: accelerations
        of at most A, constant from row to row, give this cubic a slope of up to A h/2 where they begin at rest.
        """
        times, values = self.motion(*wanted)
        rounding = _ROUNDING * max(map(abs, values))
        widest, sharpest = (max(map(abs, quotients(times, values, degree))) for degree in (1, 2))
        for row, end in ((0, slice(4)), (-1, slice(None, -5, -1))):
            (first, second, *_), rate = times[end], first_slope(times[end], values[end])
            step = abs(second - first)
            if abs(rate) > max(_AT_REST * widest, sharpest * step, rounding / step):
                line, cell = [line for line in self._lines() if line.holds_a_number][row], self._value_place(wanted)
                cure = "what is held is at rest at both ends; leave out held: true, or add rows that stand"
                told = f"{quote(wanted[-1])} moves here, by {rate:.3g} a second: {cure}"
                raise DescriptionError([line.mistake(told, cell)])
        return times, values

    def _value_place(self, wanted: tuple[str, ...]) -> int:
        """The column of the value."""
        first = next(self._lines())
        return 1 if first.holds_a_number or len(first.cells) == 2 else _place(first, wanted)

    def torque(self, *wanted: str) -> Columns:
        """The same of a broken line, which needs fewer rows."""
        return self._of_rows(_LINEAR_ROWS, wanted)

    def force(self, *wanted: str) -> Columns:
        """The same of what acts at t = 0 in commands that know no time."""
        times, values = self.torque(*wanted)
        if not times[0] <= 0 <= times[-1]:
            line = next(line for line in self._lines() if line.holds_a_number)
            wrong = f"the force at t = 0 is wanted too: the table goes from t = {times[0]:g} s to {times[-1]:g} s"
            raise DescriptionError([line.mistake(wrong)])
        return times, values

    def vector(self) -> tuple[tuple[float, ...], ...]:
        """Times and three components of a broken line."""
        columns = self._read("x", "y", "z")
        raise_all(too_few(columns[0], _LINEAR_ROWS, self.name))
        return columns

    def _of_rows(self, least: int, wanted: tuple[str, ...]) -> Columns:
        if wanted not in self._read_before:
            times, values = self._read("value", wanted=wanted)
            self._read_before[wanted] = times, values
        found = self._read_before[wanted]
        raise_all(too_few(found[0], least, self.name))
        return found

    @cached_property
    def _read_before(self) -> dict[tuple[str, ...], Columns]:
        return {}

    def _read(self, *names: str, wanted: tuple[str, ...] = ()) -> tuple[tuple[float, ...], ...]:
        """Times, strictly ascending, and a column for each name; of many that of the first name ``wanted`` there is."""
        lines = self._lines()
        first = next(lines)
        count, places = 1 + len(names), [*range(1 + len(names))]
        if first.holds_a_number:
            lines = chain([first], lines)
        else:
            if len(first.cells) < count and first.text.lstrip().startswith("#"):
                first.demand_commas()
            _demand_time_first(first)
            if wanted and len(first.cells) > count:
                count, places = len(first.cells), [0, _place(first, wanted)]
        found = list(islice(lines, limits.TABLE_ROWS + 1))
        if len(found) > limits.TABLE_ROWS:
            raise DescriptionError([found[-1].mistake(f"more than {limits.TABLE_ROWS} rows of numbers")])
        mistakes: list[Mistake] = []
        rows: list[list[float]] = []
        asked = f"{_COUNTED[len(names)]} columns (time, {', '.join(names)}) are wanted here"
        if count > len(places):
            asked = f"{count} columns are wanted here, as in the header"
        for line in found:
            every = line.numbers(count, asked, mistakes)
            if every is None:
                continue
            numbers = [every[place] for place in places]
            if rows and numbers[0] <= rows[-1][0]:
                mistakes.append(
                    line.mistake(f"the time {written(numbers[0])} does not come after {written(rows[-1][0])}")
                )
            rows.append(numbers)
        raise_all(mistakes)
        return tuple(zip(*rows, strict=True)) or ((),) * (1 + len(names))

    def gains(self) -> Gains:
        """Gains of a state feedback."""
        return gains_of(self._lines())

    def filter(self) -> Filter:
        """The Kalman filter of a state feedback."""
        return filter_of(self._lines())

    def shapes(self, length: float, counts: Mapping[str, int]) -> ShapeTable:
        """The shapes of a beam of a ``length`` (m) in the columns that a header names, as many as ``counts`` says."""
        return shapes_of(self._lines(), length, counts)

    def _lines(self) -> Iterator[TableLine]:
        """The lines that are not blank, at least one."""
        lines = enumerate(lines_in(self.text), start=1)
        return (TableLine(self.name, number, text) for number, text in lines if text.strip())

    def __reduce__(self) -> tuple[object, ...]:
        """Without what was made of the text."""
        return Table, (self.name, self.text)


def read_table(folder: Path | None, file: str, place: Path | None = None) -> Table:
    """The CSV ``file`` in ``folder``, which has led to ``place``.

    Raises DescriptionError where it cannot be read as text, or is empty.
    """
    name = file if folder is None else str(folder / file)
    fault = file_fault(file, place or folder)
    if fault or folder is None:
        raise DescriptionError([Mistake(1, 1, fault, name)])
    content = read_beside(place or realpath(folder), file, name, limits.TABLE_BYTES, "put the table into a file")
    return Table(name, decode(name, content, "a table in columns that commas separate is wanted here"))


def _wanted(entry: TableMotion, joint: str) -> tuple[str, ...]:
    """Names of the column of a joint, the first one first."""
    return (f"{joint}.motor", joint) if entry.column is None else (entry.column,)


def _demand_time_first(header: TableLine) -> None:
    """Raise DescriptionError for a header that calls another column the time."""
    times = [place for place, name in enumerate(header.cells) if _TIME.fullmatch(name)]
    if times and times[0]:
        said = f"time is the first column of a table: put {quote(header.cells[times[0]])} before the others"
        raise DescriptionError([header.mistake(said, times[0])])


def _place(header: TableLine, wanted: Sequence[str]) -> int:
    """The first of the columns ``wanted`` that a header of many names."""
    header.demand_commas()
    named = [name for name in wanted if name in header.cells[1:]]
    if not named:
        hint = did_you_mean(wanted[-1], header.cells[1:]) or "; column: NAME says which of these is meant"
        raise DescriptionError([header.mistake(f"no column {quote(wanted[-1])}{hint}")])
    if header.cells.count(named[0]) > 1:
        raise DescriptionError([header.mistake(f"a second column {quote(named[0])}")])
    return header.cells.index(named[0])
