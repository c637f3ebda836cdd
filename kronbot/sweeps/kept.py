"""What a sweep keeps of each answer: numbers, entries, series and what is made of them, as columns named beforehand."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from importlib import import_module
from itertools import chain, product

import numpy as np

from kronbot.compute.arrays import NamedArray, plain
from kronbot.description.wording import quote, unknown
from kronbot.errors import Argument, UsageError
from kronbot.model.build import at_order
from kronbot.model.robot import Robot
from kronbot.questions.outline import Outline
from kronbot.questions.result import Result
from kronbot.questions.swept import ERROR, undrawn
from kronbot.records import dataclass

# The column that is always there, as that of errors.
CASE = "case"
# Functions of what is kept: those of each entry, and those that make one number of many.
EACH: dict[str, Callable[..., object]] = {"abs": np.abs, "real": np.real, "imag": np.imag}
OF_ALL: dict[str, Callable[..., object]] = {
    "max": np.max,
    "min": np.min,
    "last": lambda values: values[-1] if np.ndim(values) else values,
    "rms": lambda values: np.sqrt(np.mean(np.abs(values) ** 2)),
}
FUNCTIONS = {**EACH, **OF_ALL}
_CALL = re.compile(rf"({'|'.join(FUNCTIONS)})\s*\((.*)\)")
_SIGNS = re.compile(r"[][(),]")
_ENTRY = re.compile(r"([^\[\]]+?)\s*\[(.*)\]")
# Vectors of modes, and the matrices that say what swings.
FREQUENCIES, SHAPES = "frequencies", "shapes"
# A column must not be mistaken for a spelling of thousands.
_COLUMNS = 100_000
# Most characters of a text that names them.
LONGEST = 100_000


@dataclass(frozen=True)
class Column:
    """One thing that is kept: of the summary (``number``), an ``entry`` of an array, a ``series`` or a whole ``array``.

    ``labels`` are those of an entry, ``functions`` what is made of it, the innermost first. A ``whole`` one is no
    single value.
    """

    name: str
    kind: str
    key: str
    labels: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    whole: bool = False

    def of(self, answer: Result) -> object:
        """The value in an answer, None where it has none."""
        found = self._found(answer)
        if found is None:
            return None
        for word in self.functions:
            if word in OF_ALL and isinstance(found, np.ndarray) and not found.size:
                return None
            found = FUNCTIONS[word](found)
        return _complex(found) if isinstance(found, np.ndarray) and found.dtype.kind == "c" else plain(found)

    def _found(self, answer: Result) -> object:
        if self.kind == "number":
            return answer.summary.get(self.key)
        if self.kind == "series":
            return answer.series.get(self.key)
        array = answer.arrays.get(self.key)
        if array is None or self.kind == "array":
            return None if array is None else array.values
        place = _place(array, self.labels)
        return None if place is None else array.values.T[place[::-1]].T


def _swings(column: Column) -> bool:
    return column.key.startswith(FREQUENCIES)


def _place(array: NamedArray, labels: tuple[str, ...]) -> tuple[int, ...] | None:
    try:
        names = (array.rows, array.columns or ())
        return tuple(side.index(label) for side, label in zip(names, labels, strict=False))
    except ValueError:
        return None


def _unseen(array: NamedArray | None) -> object:
    if array is None or array.columns is None:
        return None if array is None else plain(array.values)
    return {"rows": [*array.rows], **_complex(array.values)}


def _complex(values: np.ndarray) -> dict[str, object]:
    return {"real": plain(values.real), "imag": plain(values.imag)}


@dataclass(frozen=True)
class Kept:
    """The columns of a table: the case, the varied names, what is kept of each answer, the error.

    Where ``rows`` is set, series make a row of each of their entries, which columns that are ``telling`` tell apart.
    What is ``unseen`` is in no table: pictures need it. Columns that nobody has named are ``usual``; what a whole one
    has of single numbers stands in ``single`` by its name. ``units`` are those of entries, where they are known.
    """

    varied: tuple[str, ...]
    columns: tuple[Column, ...]
    rows: bool
    unseen: tuple[Column, ...] = ()
    usual: tuple[str, ...] = ()
    single: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    telling: tuple[str, ...] = ()

    @property
    def header(self) -> list[str]:
        """All names."""
        return [CASE, *self.varied, *(column.name for column in self.columns), ERROR]

    @property
    def whole(self) -> list[str]:
        """Names of columns that hold whole arrays or series in each row."""
        return [column.name for column in self.columns if column.whole and not (self.rows and column.kind == "series")]

    @property
    def numbered(self) -> dict[str, str]:
        """Names of columns that are entries of frequencies, and of which."""
        return {each.name: each.key for each in self.columns if each.kind == "entry" and _swings(each)}

    @property
    def hidden(self) -> list[str]:
        """Names of what is unseen."""
        return [column.name for column in self.unseen]

    def hiding(self, names: Iterable[str]) -> Kept:
        """The same with other arrays unseen."""
        return replace(self, unseen=tuple(Column(name, "array", name, whole=True) for name in names))

    def beside(self, answer: Result) -> list[object]:
        """What is kept unseen of an answer: vectors, and shapes with the names of their rows."""
        return [_unseen(answer.arrays.get(column.key)) for column in self.unseen]

    def cells(self, answer: Result) -> Iterator[list[object]]:
        """What is kept of an answer, in rows."""
        values = [column.of(answer) for column in self.columns]
        if not self.rows:
            yield values
            return
        spread = [column.whole and column.kind == "series" for column in self.columns]
        long = [len(v) for v, many in zip(values, spread, strict=True) if many and isinstance(v, list)]
        for i in range(max(long, default=0) or 1):  # a case without any has a row, too
            yield [
                (v[i] if isinstance(v, list) and v else None) if many else v
                for v, many in zip(values, spread, strict=True)
            ]


def kept(
    robot: Robot,
    question: str,
    possible: Mapping[str, Sequence[object]],
    varied: Sequence[str],
    asked: Iterable[str] | None,
    pictured: bool = False,
    apart: bool = False,
) -> Kept:
    """The columns asked for, by default those that are mostly asked for, or all of cases that are written ``apart``.

    ``possible`` are the values that each argument may have; for a sweep that is ``pictured`` shapes are kept unseen.
    Raises UsageError for what no answer holds, with what may have been meant, for nothing at all, and where a picture
    would have whole arrays only.
    """
    outline = _outline(robot, question, possible)
    taken = {CASE, ERROR, *varied}
    usual = outline.all if apart else [*outline.numbers, *outline.usual]
    columns = {
        column.name: column
        for text in (usual if asked is None else asked)
        for column in _columns(outline, text.strip(), question)
        if column.name not in taken
    }
    spread = outline.rows is not None and not apart and any(c.whole and c.kind == "series" for c in columns.values())
    unasked = [*columns] if asked is None else []
    telling = [name for name in outline.rows or () if name not in taken] if spread else []
    unasked += [name for name in telling if name not in columns]
    columns = {name: Column(name, "series", name, whole=True) for name in telling} | columns
    if not columns and not varied:
        raise UsageError("nothing is kept: name something, like ", Argument("keep", "'M[q1,q1]'"))
    if not columns and asked is not None:
        told = Argument("keep", _like(outline))
        raise UsageError(Argument("keep"), " names nothing beside what varies: name something, like ", told)
    if not columns:
        raise UsageError(
            f"{question} has no numbers that are kept by default: name some, like ", Argument("keep", _like(outline))
        )
    entries = [each for each in columns.values() if each.kind == "entry" and each.key in outline.units]
    units = {each.name: unit for each in entries if (unit := outline.unit(each.key, each.labels))}
    units |= {each.name: outline.of_series[each.key] for each in columns.values() if each.key in outline.of_series}
    found = Kept(
        tuple(varied), tuple(columns.values()), spread, usual=tuple(unasked), units=units, telling=tuple(telling)
    )
    single = {name: _single(outline, columns[name]) for name in found.whole}
    if pictured and single and len(single) == len(columns):
        raise UsageError(undrawn(single))
    found = replace(found, single=single)
    return found.hiding(_followed(columns.values())) if pictured else found


def _single(outline: Outline, column: Column) -> str:
    """What of a whole column is a single number, or several."""
    if column.kind != "array" or column.key in outline.stacks or column.key in outline.empty:
        return f"max({column.name})" if column.functions else f"max(abs({column.name}))"
    rows, columns = outline.arrays[column.key]
    # Of frequencies those that most ask for: an answer may have fewer than there is room for.
    most = sum(name.startswith(f"{column.key}[") for name in outline.usual) or len(rows)
    several = f"1:{most}" if most > 1 else "1"
    shown = f"{column.key}[{several if columns is None else f'{rows[0]},{columns[0]}'}]"
    uneven = column.key in outline.complex and not EACH.keys() & set(column.functions)
    for word in (*column.functions, *["abs"] * uneven):
        shown = f"{word}({shown})"
    return shown


def _followed(columns: Iterable[Column]) -> Iterator[str]:
    """What frequencies are followed by from case to case: all of them and their shapes."""
    vectors = (column.key for column in columns if column.kind == "entry" and _swings(column))
    for key in dict.fromkeys(vectors):
        yield from (key, key.replace(FREQUENCIES, SHAPES))


def _like(outline: Outline) -> str:
    """An entry that there is, else a number."""
    for name, (rows, columns) in outline.arrays.items():
        if name not in outline.empty and name not in outline.complex:
            return quote(f"{name}[{rows[0]}{',' + columns[0] if columns else ''}]")
    return next(iter((*outline.numbers, *outline.series)), "...")


def _outline(robot: Robot, question: str, possible: Mapping[str, Sequence[object]]) -> Outline:
    """What answers may hold at every order that is asked for."""
    module = import_module(f"kronbot.questions.{question}")
    orders = [str(order) for order in possible.get("order", ())] or [robot.order]
    whole = Outline()
    for order in orders:
        whole |= module.outline(robot if order == robot.order else at_order(robot, order), possible)
    return whole


def split(text: str) -> list[str]:
    """What stands between commas outside of brackets. Raises UsageError for a text too long for a list of names."""
    if len(text) > LONGEST:
        raise UsageError(Argument("keep"), f": a text of more than {LONGEST} characters")
    parts, start, depth = [], 0, 0
    for found in _SIGNS.finditer(text):
        depth += (found[0] in "([") - (found[0] in ")]")
        if found[0] == "," and not depth:
            parts.append(text[start : found.start()])
            start = found.end()
    return [part.strip() for part in (*parts, text[start:]) if part.strip()]


def _columns(outline: Outline, text: str, question: str) -> Iterator[Column]:
    functions: list[str] = []
    inner = text
    while called := _CALL.fullmatch(inner):
        functions.insert(0, called[1])
        inner = called[2].strip()
    for name, kind, key, labels in _sources(outline, inner, text, question):
        if functions and kind == "number" and key in outline.texts:
            raise UsageError(f"{quote(text)}: {inner} is a text, which is kept as it is")
        first = next((word for word in functions if word in OF_ALL), None)
        if first == "last" and kind == "array" and (outline.arrays[key][1] is not None or key in outline.stacks):
            raise UsageError(f"{quote(text)}: {inner} has rows and columns: which of them is the last?")
        many = kind in ("series", "array") or key in outline.stacks
        reduced = any(word in OF_ALL for word in functions)
        uneven = key in outline.complex and kind != "number" and not EACH.keys() & set(functions)
        if uneven and (kind == "entry" or reduced):
            raise UsageError(f"{quote(text)} is complex: keep abs({inner}), real({inner}) or imag({inner})")
        shown = name
        for word in functions:
            shown = f"{word}({shown})"
        yield Column(shown, kind, key, labels, tuple(functions), many and not reduced)


def _sources(outline: Outline, inner: str, text: str, question: str) -> Iterator[tuple[str, str, str, tuple[str, ...]]]:
    """Name, kind, key and labels of what a text without functions names."""
    # A joint may be called like a number, of which there are no functions.
    numbers, series = ("number", (*outline.numbers, *outline.texts)), ("series", outline.series)
    for kind, names in (numbers, series) if inner == text else (series, numbers):
        if inner in names:
            yield inner, kind, inner, ()
            return
    if inner in outline.arrays:
        yield inner, "array", inner, ()
        return
    entry = _ENTRY.fullmatch(inner)
    if entry and entry[1] in outline.series:
        raise UsageError(f"{text!r}: {entry[1]} is a column, no array: take last({entry[1]}) or max({entry[1]})")
    if entry is None or entry[1] not in outline.arrays:
        wanted = entry[1] if entry else inner
        known = [*outline.arrays] if entry else [*outline.numbers, *outline.texts, *outline.series, *outline.arrays]
        called = f"{text!r}: " if wanted != text else ""
        if wanted in outline.absent:
            raise UsageError(f"{called}answers of {question} hold no {quote(wanted)} here: {outline.absent[wanted]}")
        raise unknown(wanted, known, f"{called}answers of {question} hold no ", there="; there are")
    if entry[1] in outline.empty:
        raise UsageError(f"{quote(text)}: {entry[1]} of this robot has no entries")
    rows, columns = outline.arrays[entry[1]]
    sides = [rows] if columns is None else [rows, columns]
    parts = entry[2].split(",") if columns is None else entry[2].rsplit(",", 1)  # a row may be base-to:A,B
    asked = [part.strip() for part in parts]
    if len(asked) != len(sides):
        form = f"{entry[1]}[{'ROW' if columns is None else 'ROW,COLUMN'}]"
        raise UsageError(f"{quote(inner)} should read {form}, like {entry[1]}[{','.join(side[0] for side in sides)}]")
    found = [_labels(side, each, inner) for side, each in zip(sides, asked, strict=True)]
    if len(found[0]) * len(found[-1]) > _COLUMNS:
        raise UsageError(f"{quote(inner)} is more than {_COLUMNS} columns: keep {entry[1]} whole")
    for labels in product(*found):
        yield f"{entry[1]}[{','.join(labels)}]", "entry", entry[1], labels


def _labels(side: Sequence[str], text: str, inner: str) -> list[str]:
    """The labels that an index names: one, or from one to another, by names or by numbers from 1."""
    if text in side:
        return [text]
    ends = [part.strip() for part in text.split(":")]
    if len(ends) > 2:
        raise UsageError(f"{quote(inner)}: {quote(text)} should read FIRST:LAST")
    places = []
    for end in ends:
        number = int(end) - 1 if re.fullmatch("[0-9]{1,9}", end) else -1
        if end not in side and not 0 <= number < len(side):
            raise unknown(end, side, f"{inner}: no row or column ", there="; there are")
        places.append(list(side).index(end) if end in side else number)
    if places[0] > places[-1]:
        raise UsageError(f"{quote(inner)}: {quote(text)} is empty")
    return list(side[places[0] : places[-1] + 1])


def listed(asked: str | Iterable[str]) -> list[str]:
    """Names of what is to be kept, one by one."""
    return list(chain.from_iterable(map(split, [asked] if isinstance(asked, str) else asked)))
