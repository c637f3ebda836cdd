"""Cells of columns as arrays, numbers, text or whole arrays, NaN or no text where a case has none; uneven columns."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np
import numpy.typing as npt

from kronbot.questions.swept import ERROR
from kronbot.records import dataclass


@dataclass
class Form:
    """What the cells of a column have in common: kind, shape, and the length of texts."""

    kind: str = "?"
    shape: tuple[int, ...] = ()
    length: int = 1

    def widen(self, cells: Sequence[Any]) -> None:
        """Make room for some more cells."""
        for cell in cells:
            if isinstance(cell, str):
                self.kind, self.length = "U", max(self.length, len(cell))
            elif cell is None:
                self.kind = max(self.kind, "f", key=_KINDS.index)
            else:
                own = value(cell)
                self.kind = max(self.kind, _kind(own), key=_KINDS.index)
                if self.shape != own.shape:  # what has no rows does not know its columns
                    self.shape = tuple(map(max, zip_longest(self.shape, own.shape, fillvalue=0)))

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the array."""
        return np.dtype(f"<U{self.length}" if self.kind == "U" else _TYPES[self.kind])

    def array(self, cells: Sequence[Any]) -> npt.NDArray[Any]:
        """Cells as an array."""
        if self.kind == "U":
            told = [cell if isinstance(cell, str) else "" if cell is None else json.dumps(cell) for cell in cells]
            return np.array(told, self.dtype)
        made = np.full((len(cells), *self.shape), np.nan if self.kind in "fc" else 0, self.dtype)
        for row, cell in zip(made, cells, strict=True) if self.shape else ():
            if cell is not None and (own := value(cell)).size:
                row[tuple(map(slice, own.shape))] = own
        if not self.shape:
            made[:] = [np.nan if cell is None else value(cell) for cell in cells]
        return made


# Every one holds those before it.
_KINDS = "?ifcU"
_TYPES = {"?": "?", "i": "<i8", "f": "<f8", "c": "<c16"}


def value(cell: Any) -> npt.NDArray[Any]:
    """A cell as an array, of no axis where it is a single value."""
    return np.array(cell["real"]) + 1j * np.array(cell["imag"]) if isinstance(cell, dict) else np.array(cell)


def sound(cell: Any, whole: bool) -> bool:
    """Whether a cell is one that arrays and tables can hold: finite, and no array unless it may be a ``whole`` one."""
    if cell is None or type(cell) is bool:
        return True
    try:
        if type(cell) is float:
            return math.isfinite(cell)
        if type(cell) is int:
            return -(1 << 63) <= cell < 1 << 64
        if type(cell) is str:
            return bool(cell.encode() or True)
        own = value(cell)
        return own.dtype.kind in "biufc" and (whole or not own.ndim) and bool(np.isfinite(own).all())
    except (KeyError, TypeError, ValueError, OverflowError):  # an encoding that is none is a ValueError
        return False


def _kind(own: npt.NDArray[Any]) -> str:
    return "?" if own.dtype.kind == "b" else own.dtype.kind


def column(values: Sequence[object]) -> npt.NDArray[Any]:
    """A column as an array of numbers or text; of objects where one is missing."""
    made = np.array(values) if None not in values and not any(isinstance(v, list | dict) for v in values) else None
    if made is None or made.dtype.kind not in "biufU":
        made = np.empty(len(values), dtype=object)
        made[:] = values
    return made


def is_number(values: npt.NDArray[Any]) -> bool:
    """Whether a column holds numbers, though perhaps not for every case."""
    return values.dtype.kind in "iuf" or (
        values.dtype.kind == "O" and all(v is None or type(v) in (int, float) for v in values)
    )


def form_of(name: str, cells: npt.NDArray[Any]) -> Form:
    """What the cells of a column have in common: of errors, which mostly nothing is, text."""
    form = Form("U" if name == ERROR else "?")
    form.widen(cells.tolist())
    return form


def plain(name: str, cells: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A column of numbers, NaN where one is missing; texts and whole arrays as they are."""
    form = form_of(name, cells)
    return cells if form.kind == "U" or form.shape else form.array(cells.tolist())


def uneven(columns: Mapping[str, Iterable[object]], keys: Mapping[str, str], failed: Sequence[bool]) -> Iterator[str]:
    """That cases have different numbers of modes, whose columns are of no one mode then; ``keys`` are the arrays that
    ``columns`` of them are entries of, ``failed`` the cases that have none."""
    for key in dict.fromkeys(keys.values()):
        own = [columns[name] for name, of in keys.items() if of == key]
        counts = {
            sum(value is not None for value in row) for row, lost in zip(zip(*own, strict=True), failed, strict=True)
            if not lost
        }  # fmt: skip
        if len(counts) > 1:
            yield (
                f"some cases have {min(counts)} and others {max(counts)} of {key}: a column is not the same mode in all"
            )
