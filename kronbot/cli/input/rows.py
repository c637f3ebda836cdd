"""Rows of coordinates in a CSV file, a pipe or standard input: ``--q @file.csv``."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import field
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from kronbot.cached import cached_property
from kronbot.cli.input.completion import STANDARD_INPUT
from kronbot.cli.input.habits import angles
from kronbot.cli.input.streams import opened
from kronbot.cli.output.messages import show_warnings
from kronbot.description import csv_lines
from kronbot.description.csv_lines import UNDECODED, Line, lines_of
from kronbot.description.degrees import doubt_of
from kronbot.description.expressions.expression import ExpressionError, evaluate, parse
from kronbot.description.wording import did_you_mean, listing, quote
from kronbot.description.wording import shown_path as shown
from kronbot.description.yaml.source import STANDARD_INPUT_NAME
from kronbot.errors import Mistake, Mistaken, UsageError
from kronbot.records import dataclass

if TYPE_CHECKING:
    from kronbot.model.robot import Robot

# Blank lines that may follow each other: a file of nothing else is refused in time.
BLANK_LIMIT = 1_000_000


class RowError(Mistaken, UsageError):
    """A file of rows is wrong, at a place."""


def blocks_of(robot: Robot, name: str, option: str, size: int) -> Iterator[dict[str, np.ndarray]]:
    """Columns by name, so many rows at a time; at least one block."""
    try:
        with opened(robot.description.source, name, option, "the file of rows", "@") as file:
            lines = lines_of(file)
            head, *rest = next(lines)
            sheet = _Sheet(robot, STANDARD_INPUT_NAME if name in STANDARD_INPUT else name, option, head)
            held = np.empty((0, len(sheet.header)))
            count = 0
            for some in chain([rest], lines):
                held = np.concatenate([held, sheet.numbers(some)])
                while len(held) >= size:
                    yield dict(zip(sheet.header, held[:size].T, strict=True))
                    count, held = count + size, held[size:]
            if len(held):
                yield dict(zip(sheet.header, held.T, strict=True))
            elif not count:
                raise sheet.mistake(sheet.read, 1, "rows of numbers are wanted below the header", "")
    except OSError as error:
        raise UsageError(f"{option} @{shown(name)}: {error.strerror or error}") from None


@dataclass
class _Sheet:
    """What a file of rows has in its first line, and how many lines were read, the last of them blank."""

    robot: Robot
    name: str
    option: str
    head: str
    read: int = 1
    blank: int = 0
    warned: bool = False
    header: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.header = self._names()

    def mistake(self, line: int, column: int, message: str, text: str) -> RowError:
        """Something is wrong at a place in the file; ``text`` is the line."""
        return RowError([Mistake(line, column, message, self.name, text)])

    def numbers(self, lines: list[str]) -> np.ndarray:
        """The next lines as rows (N, columns); blank ones are none. Raises RowError at the first mistake."""
        before = self.read
        self.read += len(lines)
        rows = [line for line in lines if line.strip()]
        self.blank = 0 if rows else self.blank + len(lines)
        if self.blank > BLANK_LIMIT:
            raise self.mistake(self.read, 1, f"more than {BLANK_LIMIT} blank lines", "")
        table = self._plain_numbers(rows) if rows and max(map(len, lines)) <= csv_lines.LINE_LIMIT else None
        if table is None:
            numbered = (Line(self.name, i, text) for i, text in enumerate(lines, before + 1))
            told = [self._row(line) for line in numbered if self._checked(line).text.strip()]
            table = np.array(told).reshape(-1, len(self.header))
        if not self.warned and self._turning:
            self._warn_of_degrees(table, lines, before)
        return table

    def _plain_numbers(self, rows: list[str]) -> np.ndarray | None:
        """The rows where all are finite decimal numbers, as nearly always, and None elsewhere."""
        try:
            table = np.loadtxt(rows, delimiter=",", ndmin=2, comments=None, dtype=float)
        except ValueError:
            return None
        return table if table.shape[1] == len(self.header) and np.isfinite(table).all() else None

    def _checked(self, line: Line) -> Line:
        """The line again. Raises RowError where it is too long, or no text."""
        if len(line.text) > csv_lines.LINE_LIMIT:
            raise self.mistake(line.number, 1, f"a line of more than {csv_lines.LINE_LIMIT} characters", "")
        if wrong := UNDECODED.search(line.text):
            message = "not UTF-8 text: save the file with the encoding UTF-8"
            raise self.mistake(line.number, wrong.start() + 1, message, line.text)
        return line

    def _row(self, line: Line) -> list[float]:
        """A row, cell by cell: numbers as expressions like those of the options."""
        found, count = len(line.cells), len(self.header)
        if found != count:
            column = line.starts[count] if found > count else len(line.text.rstrip()) + 1
            message = f"values in this row: {found}, names in the header: {count}"
            raise self.mistake(line.number, column, message, line.text)
        row = []
        for text, start in zip(line.cells, line.starts, strict=True):
            try:
                row.append(self._number(text))
            except ExpressionError as error:
                wrong = error.of(text, "a finite number") if text else "a value is missing"
                raise self.mistake(line.number, start + error.offset, wrong, line.text) from None
        return row

    def _number(self, text: str) -> float:
        """A decimal number as NumPy reads it, or the value of an expression."""
        try:
            value = float(text) if text.isascii() and "_" not in text else None
        except ValueError:
            value = None
        if value is None:
            return self._evaluated(text)
        if not math.isfinite(value):
            raise ExpressionError(f"its value is {value}")
        return value

    @cached_property
    def _evaluated(self) -> Callable[[str], float]:
        """The value of an expression; the same ones come in many rows."""
        known = {name: value for name, value in self.robot.description.values.items() if value is not None}
        return lru_cache(4096)(lambda text: evaluate(parse(text), known))

    @cached_property
    def _turning(self) -> list[int]:
        """Columns of angles."""
        turning = angles(self.robot, self.option)
        return [i for i, name in enumerate(self.header) if self.robot.coordinates.index(name) in turning]

    def _warn_of_degrees(self, table: np.ndarray, lines: list[str], before: int) -> None:
        """At the first such angle, once."""
        beyond = np.argwhere(np.abs(table[:, self._turning]) > 2 * math.pi)
        if not len(beyond):
            return
        rows = [i for i, line in enumerate(lines) if line.strip()]
        for row, turning in beyond:
            line, column = Line(self.name, before + rows[row] + 1, lines[rows[row]]), self._turning[turning]
            if doubt := doubt_of(self.header[column], table[row, column], line.cells[column]):
                show_warnings([line.mistake(doubt, column)])
                self.warned = True
                return

    def _names(self) -> list[str]:
        """The names of the columns. Raises RowError where one is no coordinate, or stands twice."""
        line = self._checked(Line(self.name, 1, self.head))
        if not line.text.strip():
            raise self.mistake(1, 1, "a header of coordinate names is wanted here, and rows of numbers below it", "")
        known = self.robot.coordinates
        names: list[str] = []
        for i, name in enumerate(line.cells):
            if name not in known:
                if wrong := line.separated:
                    raise RowError([wrong])
                hint = did_you_mean(name, known)
                others = "kronbot sweep --cases takes others"
                keep = (
                    f"keep only the columns of coordinates, which are {listing(known)}"
                    if known
                    else "the robot has none"
                )
                hint = hint or f"; {keep}; {others}"
                message = f"the header must name coordinates, {quote(name)} is none{hint}"
                raise RowError([line.mistake(message, i)])
            if name in names:
                raise RowError([line.mistake(f"{name} stands twice in the header", i)])
            names.append(name)
        return names
