"""Answers for people: the summary, arrays and a few rows of a series as aligned columns of plain text.

One record a line and no frames, so that grep, awk and a paste into a letter work.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import ROUND_UP, Context

import numpy as np

from kronbot.compute.arrays import NamedArray, Scalar, plain
from kronbot.description.wording import cut, escaped
from kronbot.floats import ascending
from kronbot.model.robot import Robot
from kronbot.questions.columns import swings, unit_of_number
from kronbot.questions.given_columns import given_columns, places
from kronbot.questions.noise import summary_without_rounding, without_rounding
from kronbot.questions.outputs import added
from kronbot.questions.result import Result
from kronbot.questions.swept import ERROR, Swept, reason, undrawn
from kronbot.records import dataclass

# Rows of a series worth showing to a person; all of them are in the machine formats.
SHOWN_ROWS = 11
DIGITS = 6
# Signs of a line where nobody says how many there are.
WIDTH = 120
# Parts of complex entries, and entries, below these shares of the largest one are noise to a reader.
PART, ENTRY = 1e-12, 1e-14
# Arrays whose entries are found one by one, as are those without a unit: what is small is no rounding of what is large.
ONE_BY_ONE = ("poles", "frequenc", "convergence_", "damping", "multiplier", "accuracy", "margins", "residuals")
GAP = "  "
# Signs of a text in a table: a longer one would leave no room for numbers.
SENTENCE = 40
# An array of more columns is told by its size: the lines would be longer than anyone reads.
WIDEST = 100
# A wider matrix is shown without its columns of zeros.
WIDE = 12
# What rad/s are in Hz, and the names of arrays that are shown in both.
HERTZ = 1 / (2 * np.pi)
FREQUENCIES = ("frequenc", "convergence_")


@dataclass(frozen=True)
class Line:
    """A line of text, which may be a heading."""

    text: str
    heading: bool = False


@dataclass(frozen=True)
class Table:
    """An answer as lines of a ``width``; ``rest`` says where the numbers are that there is no room for."""

    result: Result
    width: int
    rest: str

    def __str__(self) -> str:
        lines = [*self.arrays(), *self.series()]
        if self.result.summary:
            lines += [Line(""), Line(summary(self.result))]
        return "\n".join(line.text for line in lines)

    def arrays(self) -> Iterator[Line]:
        """What was asked, and the arrays, each after an empty line."""
        result = self.result
        yield Line(f"{result.command} {result.robot}, order {result.order}", True)
        for name, array in result.arrays.items():
            if not array.values.size:
                continue  # headings of nothing
            yield Line("")
            array = side_by_side(array)
            if array.symbolic and array.axis is None:
                yield Line(_formulas(name, array))
            elif array.axis is not None or len(array.columns or ()) > WIDEST:
                yield Line(f"{_size(name, array)}, {self.rest}")
            else:
                yield from _array(name, array, judged(result, name))

    def series(self) -> Iterator[Line]:
        """Rows of the series after an empty line, where there are any."""
        if self.result.series:
            yield Line("")
            yield from _series(self.result, self.width, self.rest)


def summary(result: Result) -> str:
    """The summary as lines of names and values."""
    left = max(map(len, result.summary))
    return "\n".join(f"{name:{left}}{GAP}{text}" for name, text in summarized(result))


def summarized(result: Result) -> Iterator[tuple[str, str]]:
    """Names and values of the summary with their units; of frequencies in Hz, too."""
    robot = None if result.about is None else result.model
    bounds = {f"{name}_error" for name in result.summary}  # of numbers beside them; others are measured
    for name, value in summary_without_rounding(result.summary, result.series, places(result)).items():
        text = _bound(value) if name in bounds else number(value)
        unit = unit_of_number(robot, name) if robot is not None and isinstance(plain(value), float) else ""
        text += f" {unit}" if unit else ""
        if unit == "rad/s":
            text += f", {number(float(value) * HERTZ)} Hz"
        yield name, text


def _array(name: str, array: NamedArray, judged: bool) -> Iterator[Line]:
    if not name.startswith(FREQUENCIES):
        yield from _plain_array(name, array, judged)
    elif array.columns is None:
        yield from _plain_array(name, in_hertz(array))
    else:
        yield from _plain_array(name, array)
        yield from _plain_array(name, replace(array, values=HERTZ * array.values, units="Hz"))


def in_hertz(frequencies: NamedArray) -> NamedArray:
    """Frequencies, rad/s, with those in Hz beside them."""
    both = np.column_stack([frequencies.values, HERTZ * frequencies.values])
    return NamedArray(both, frequencies.rows, "", ["rad/s", "Hz"])


def _plain_array(name: str, array: NamedArray, judged: bool = False) -> Iterator[Line]:
    """An array whose rounding is not shown, or which has been ``judged`` by its own errors."""
    heading = f"{name} [{array.unit}]" if array.unit else name
    values, alone = shown(name, array, judged), name.startswith(ONE_BY_ONE)
    telling, units = [bool(column.any()) for column in values.T], units_of_columns(array)
    if values.size > 1 and not any(telling) and not alone:
        yield Line(f"{heading}: all 0 ({' x '.join(map(str, array.values.shape))})", True)
        return
    if len(telling) > WIDE and not all(telling):
        heading += f": {sum(telling)} of {len(telling)} columns, the others are 0"
        assert array.columns is not None
        left = [column for column, tells in zip(array.columns, telling, strict=True) if tells]
        values, array = values[:, telling], replace(array, values=array.values[:, telling], columns=left)
        units = [unit for unit, tells in zip(units, telling, strict=True) if tells] if units else []
    yield Line(heading, True)
    said = [name] if array.columns is None else array.columns
    texts = [_bound if alone and word.endswith(("error", "errors")) else number for word in said]
    columns = [[text(entry) for entry in column] for text, column in zip(texts, values.T, strict=True)]
    rows = [*array.rows]
    if array.columns is None:
        yield from _columns([rows, *columns, *([units] if units else [])], None)
        return
    if units:  # a line of them below the names
        rows, columns = ["", *rows], [[unit, *column] for unit, column in zip(units, columns, strict=True)]
        for i in (i for i, (word, unit) in enumerate(zip(said, units, strict=True)) if swings(word, unit)):
            columns[i] = _paired(columns[i], ["Hz", *(hertz(value) for value in values[:, i].tolist())])
    beside = units_of_rows(array)
    yield from _columns([rows, *beside, *columns], ["", *("" for _ in beside), *array.columns])


def units_of_columns(array: NamedArray) -> list[str]:
    """Units of the columns of a matrix whose rows have none, or of the rows of a vector, where there are any."""
    if isinstance(array.units, str):
        return []
    mine, others = ("rows", "columns") if array.columns is None else ("columns", "rows")
    if {*array.units.get(others, ())} - {"1"}:
        return []
    units = ["" if unit == "1" else unit for unit in array.units.get(mine, ())]
    return units if any(units) else []


def units_of_rows(array: NamedArray) -> list[list[str]]:
    """A column of the units of the rows of a matrix whose columns have none, where there are any."""
    if isinstance(array.units, str) or {*array.units.get("columns", ())} - {"", "1"}:
        return []
    units = ["" if unit == "1" else unit for unit in array.units.get("rows", ())]
    return [units] if any(units) else []


def judged(result: Result, name: str) -> bool:
    """Whether the answer has the errors of what is in that array, by which its reader judges it."""
    return name.replace("poles", "accuracy") in {*result.arrays} - {name}


def shown(name: str, array: NamedArray, judged: bool = False) -> np.ndarray:
    """Values (rows, columns) as people see them: what is rounding beside others is 0, but where it is ``judged``."""
    values = array.values if array.columns is not None else array.values[:, None]
    if judged or array.symbolic:
        return values
    return _without_noise(values, np.abs(values) if not array.units or name.startswith(ONE_BY_ONE) else _sizes(values))


def columns_shown(result: Result) -> Mapping[str, np.ndarray]:
    """The series as people see it; a table of many cases has columns of every size, in which nothing is rounding."""
    swept = isinstance(result.asked, Swept)
    return result.series if swept else without_rounding(result.series, places=places(result))


def _sizes(values: np.ndarray) -> np.ndarray:
    """The largest number in the row or column of each entry: a weak spring is no rounding of a stiff one elsewhere."""
    sizes = np.abs(values)
    return np.asarray(np.maximum(sizes.max(axis=0, initial=0.0), sizes.max(axis=1, initial=0.0)[:, None]))


def _without_noise(values: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Numbers with what rounding has left beside ``sizes`` set to 0; real where nothing imaginary remains."""
    if not np.isfinite(sizes).all():
        return values
    if not np.iscomplexobj(values):
        return np.where(np.abs(values) <= ENTRY * sizes, 0.0, values)
    real, imaginary = (np.where(np.abs(part) <= PART * sizes, 0.0, part) for part in (values.real, values.imag))
    return real + 1j * imaginary if imaginary.any() else real


def _columns(columns: Sequence[Sequence[str]], names: Sequence[str] | None) -> Iterator[Line]:
    """Columns of text, the first one to the left, under their names."""
    whole = [[name, *column] for name, column in zip(names, columns, strict=True)] if names else columns
    widths = [max(map(len, column), default=0) for column in whole]
    for row in zip(*whole, strict=True):
        first, *others = (
            text.ljust(width) if not i else text.rjust(width)
            for i, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        yield Line(GAP.join([first, *others]).rstrip())


def side_by_side(array: NamedArray) -> NamedArray:
    """A short stack of vectors, or of matrices of one row, as a matrix with a row a case; all else as it is."""
    if array.axis is None or array.symbolic or not 0 < len(array.axis[1]) <= SHOWN_ROWS + 1:
        return array
    name, cases = array.axis
    rows = [f"{name} {number(case)}" for case in cases]
    units = array.units

    def of(side: str) -> str | Mapping[str, Sequence[str]]:
        return units if isinstance(units, str) else {"columns": units.get(side, ())}

    if array.columns is None and len(array.rows) <= WIDE:
        return NamedArray(array.values, rows, of("rows"), array.rows)
    if array.columns is not None and len(array.rows) == 1:
        return NamedArray(array.values[:, 0], rows, of("columns"), array.columns)
    return array


def _size(name: str, array: NamedArray) -> str:
    """A stack or a wide array by its size."""
    stacked = "" if array.axis is None else f"{len(array.axis[1])} times "
    size = " x ".join(str(n) for n in array.values.shape[array.axis is not None :])
    return f"{name}: {stacked}{size}"


def _formulas(name: str, array: NamedArray) -> str:
    """Formulas as nested lists."""
    if array.columns is None:
        return f"{name} = [{', '.join(array.values.tolist())}]"
    rows = [f"[{', '.join(row)}]" for row in array.values.tolist()]
    head = f"{name} = ["
    return head + (",\n" + " " * len(head)).join(rows) + "]"


def _series(result: Result, width: int, rest: str) -> Iterator[Line]:
    """As many columns as fit, at evenly spread rows; numbers are never cut. One row stands upright.

    Columns that are 0 throughout, or nothing but rounding, tell a reader nothing.
    """
    count = len(next(iter(result.series.values())))
    swept = result.asked if isinstance(result.asked, Swept) else None
    clean = columns_shown(result)
    named = {*clean} - {*swept.usual} if swept else set()  # what somebody has asked for is shown as it is
    telling = {
        name: values
        for name, values in clean.items()
        if values.dtype.kind == "U" or values.any() or (name in named and any(each is not None for each in values))
    }
    # Outputs are there where somebody has asked for them.
    if asked := added(result.about, result.series) if isinstance(result.about, Robot) else set():
        over = {"t", "order", *given_columns(result)}
        telling = dict(sorted(telling.items(), key=lambda at: (at[0] not in over, at[0] not in asked)))
    zeros, units = len(clean) - len(telling), result.units
    single = swept.single if swept else {}
    swing = {name for name, unit in units.items() if swings(name, unit) and name not in single}
    if count == 1:
        left = max(map(len, telling), default=0)
        for name, values in telling.items():
            unit = "" if (of := result.units.get(name, "1")) == "1" else f" {of}"
            both = f", {hertz(values[0])} Hz" if name in swing and values[0] is not None else ""
            yield Line(f"{name:{left}}{GAP}{number(values[0])}{unit}{both}")
        if zeros:
            yield Line(f"{more(zeros)} {'is' if zeros == 1 else 'are'} 0 ({rest})")
        return
    # Room for a word on what is left out is room for one more row.
    rows = ascending(np.linspace(0, count - 1, min(count, SHOWN_ROWS + (count == SHOWN_ROWS + 1))).round().astype(int))
    texts = {name: [number(values[row], SENTENCE) for row in rows] for name, values in telling.items()}
    if any(units.get(name, "1") != "1" for name in texts):  # a line of them below the names
        for name, column in texts.items():
            unit = "" if (of := units.get(name, "1")) == "1" else of
            beside = ["Hz", *(hertz(telling[name][row]) for row in rows)]
            texts[name] = _paired([unit, *column], beside) if name in swing else [unit, *column]
    if swept and ERROR in texts:
        taken = sum(max(len(name), *map(len, column)) + len(GAP) for name, column in texts.items() if name != ERROR)
        texts[ERROR][-len(rows) :] = [reason(telling[ERROR][row], max(SENTENCE, width - taken)) for row in rows]
    shown, taken = list[str](), 0
    for name, column in texts.items():
        taken += max(len(name), *map(len, column)) + len(GAP)
        if taken - len(GAP) > width and shown:
            break
        shown.append(name)
    told = [f"{len(rows)} of {count} rows"] if len(rows) < count else []
    whole = {name: single[name] for name in texts if name not in shown and name in single}
    if hidden := len(texts) - len(shown) - len(whole):
        told.append(f"{more(hidden)} that {'is' if hidden == 1 else 'are'} not 0")
    told += [f"{more(zeros)} of zeros"] if zeros and not swept else []
    if told:
        yield Line(f"{', '.join(told)} ({rest})")
    if whole:
        yield Line(undrawn(whole, "too wide for this table"))
    yield from _columns([texts[name] for name in shown], shown)


def _paired(left: Sequence[str], right: Sequence[str]) -> list[str]:
    """Two columns of text as one, which has one name."""
    widths = [max(map(len, column)) for column in (left, right)]
    return [f"{a:>{widths[0]}}{GAP}{b:>{widths[1]}}" for a, b in zip(left, right, strict=True)]


def hertz(value: object) -> str:
    """A frequency, rad/s, in Hz; nothing where there is none."""
    return number(HERTZ * value) if isinstance(value, int | float) else ""


def more(columns: int) -> str:
    """So many columns besides."""
    return f"{columns} more column{'s' * (columns != 1)}"


def _bound(value: Scalar) -> str:
    """A bound of an error, rounded up to one digit: it holds, and is 0 only where there is no error."""
    return f"{float(Context(prec=1, rounding=ROUND_UP).create_decimal(repr(float(value)))):g}"


def number(value: object, longest: int = 10**9) -> str:
    """Numbers to a few digits; text, up to so many signs, and yes/no as they are."""
    value = plain(value)
    if value is None:  # a case without an answer
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, complex):
        return f"{value.real + 0.0:.{DIGITS}g}{value.imag + 0.0:+.{DIGITS}g}i"
    if isinstance(value, dict):  # and a complex one
        return number((np.array(value["real"]) + 1j * np.array(value["imag"])).tolist())
    if isinstance(value, list):  # a whole array in a cell
        return f"[{', '.join(map(number, value))}]"
    return f"{value:.{DIGITS}g}" if isinstance(value, float) else escaped(cut(str(value), longest))
