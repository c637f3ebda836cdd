"""Tables of the shapes of a beam: deflections and twists in columns, from another program."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice, pairwise

from kronbot.description import limits
from kronbot.description.csv_lines import TableLine, too_few
from kronbot.description.mistakes import raise_all
from kronbot.description.quotients import first_slope, quotients
from kronbot.description.wording import did_you_mean, quote, written
from kronbot.errors import DescriptionError, Mistake
from kronbot.records import dataclass

# Fewer do not say where a shape bends.
_FEWEST_ROWS = 5
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


def shapes_of(lines: Iterator[TableLine], length: float, counts: Mapping[str, int]) -> ShapeTable:
    """The shapes of a beam of a ``length`` (m) in the columns that a header names.

    ``counts`` says how many columns of each letter v, w and t are used; those beyond are left out. x must grow from
    0 to the length and every shape rest at the root, with its value and, in bending, with its slope.
    """
    header = next(lines)
    names = _headers(header, counts)
    rows = list(islice(lines, limits.SHAPE_ROWS + 1))
    if len(rows) > limits.SHAPE_ROWS:
        raise DescriptionError([rows[-1].mistake(f"more than {limits.SHAPE_ROWS} rows of numbers")])
    mistakes: list[Mistake] = []
    wanted = f"{len(names)} columns are wanted here, as in the header"
    numbers = [row.numbers(len(names), wanted, mistakes) for row in rows]
    if not mistakes:
        mistakes += too_few(rows, _FEWEST_ROWS, header.file)
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


def _names(letter: str, count: int) -> list[str]:
    return [f"{letter}{i + 1}" for i in range(count)]


def _headers(header: TableLine, counts: Mapping[str, int]) -> list[str]:
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


def _wrong_places(x: Sequence[float], length: float, rows: Sequence[TableLine], column: int) -> list[Mistake]:
    mistakes = [
        row.mistake(f"x must grow from row to row: {written(after)} after {written(before)}", column)
        for row, (before, after) in zip(rows[1:], pairwise(x), strict=True)
        if not after - before > _SMALLEST_STEP * length
    ]
    if abs(x[0]) > _PLACE * length:
        mistakes.append(rows[0].mistake(f"the first x must be 0, the root of the beam; it is {written(x[0])}", column))
    if abs(x[-1] - length) > _PLACE * length:
        wanted = f"the last x must be the length of the beam, {written(length)} m from its root"
        mistakes.append(rows[-1].mistake(f"{wanted}; it is {written(x[-1])}", column))
    return mistakes


def _fault(name: str, x: Sequence[float], values: Sequence[float]) -> str:
    """What is wrong with the values of a shape; an empty string for a good one."""
    size = max(map(abs, values))
    if size == 0:
        return f"the shape {name} is zero everywhere"
    if not _SIZES[0] <= size <= _SIZES[1]:
        return f"the largest value of {name} is {written(size)}: scale shapes to about 1"
    cure = "clamp the root of the beam in the program that the shapes come from"
    if abs(values[0]) > _ROOT_VALUE * size:
        return f"the shape {name} must be 0 at the root, it is {written(values[0])}: {cure}"
    middles = [(after + before) / 2 for before, after in pairwise(x)]
    slopes = quotients(x, values, 1)
    centres = [sum(three) / 3 for three in zip(x, x[1:], x[2:], strict=False)]
    torsion = name[0] == "t"
    if _is_rough(middles, slopes) if torsion else _is_rough(centres, quotients(x, values, 2)):
        strain = "twist per length" if torsion else "curvature"
        return f"the {strain} of {name} jumps from row to row: write more digits, or twelve rows a wave"
    # Newton's interpolation of three and of four rows; where they disagree the table is too coarse to judge by.
    of_three = slopes[0] - quotients(x[:3], values[:3], 2)[0] / 2 * (x[1] - x[0])
    of_four = first_slope(x[:4], values[:4])
    if not torsion and abs(of_four) > _ROOT_SLOPE * max(map(abs, slopes)) + abs(of_four - of_three):
        return f"the slope of {name} must be 0 at the root, it is {written(of_four)} per m: {cure}"
    return ""


def _is_rough(places: Sequence[float], strains: Sequence[float]) -> bool:
    """Whether strains leave the line between their neighbours by much of what they are, in the mean."""
    rows = list(zip(places, strains, strict=True))
    off = [
        s - ((after - x) * left + (x - before) * right) / (after - before)
        for (before, left), (x, s), (after, right) in zip(rows, rows[1:], rows[2:], strict=False)
    ]
    return math.fsum(e * e for e in off) / len(off) > _ROUGH * math.fsum(s * s for s in strains) / len(strains)
