"""The table of a sweep as arrays over what varies, for its picture."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from kronbot.cached import cached_property
from kronbot.plots.followed import Followed, followed
from kronbot.plots.style import readable, short
from kronbot.questions.given_columns import given_columns
from kronbot.questions.result import Result
from kronbot.questions.swept import Swept
from kronbot.records import dataclass

CASE, ROW, ANGLE = "case", "row", "angle."
_ENTRY = re.compile(r"(.+)\[(\d+)\]")


@dataclass(frozen=True)
class Side:
    """What varies along one side of the table: its label and unit, its values, and words where they are no numbers.

    ``whole`` are numbers between which there is none.
    """

    label: str
    unit: str
    values: npt.NDArray[np.float64]
    words: Sequence[str] = ()
    whole: bool = False

    @property
    def rank(self) -> tuple[bool, bool, int]:
        """What makes it the abscissa: numbers with a name, many of them."""
        return not self.words, self.label != ROW, len(self.values)

    def said(self, place: int) -> str:
        """One of the values, for a legend."""
        label = self.label.removeprefix(ANGLE)
        if self.words:
            return f"{label} {short(self.words[place])}"
        return f"{label} {self.values[place]:.4g}{' ' * bool(self.unit)}{self.unit}"


@dataclass(frozen=True)
class Table:
    """The columns of a sweep as arrays over its sides, the first slowest."""

    result: Result
    swept: Swept

    @cached_property
    def _place(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The case of every row, from 0, and its place among the rows of that case."""
        case = self.result[CASE].astype(int) - 1
        first = np.searchsorted(case, case)
        return case, np.arange(len(case)) - first

    @cached_property
    def sides(self) -> list[Side]:
        """Those of more than one value; rows of a case are one more."""
        made = []
        case, row = self._place
        firsts = np.flatnonzero(row == 0)
        stride = math.prod(size for _, size in self.swept.factors)
        for names, size in self.swept.factors:
            stride //= size
            rows = firsts[np.arange(size) * stride]
            telling = [name for name in names if len(set(self.result[name][rows].tolist())) > 1]
            made.append(self._side(telling, rows) if len(telling) == 1 else Side(CASE, "", np.arange(1.0, size + 1)))
        return made + self._inner(np.flatnonzero(case == np.bincount(case).argmax()))

    def _inner(self, rows: npt.NDArray[np.int64]) -> list[Side]:
        """Rows of a case: of statics angles with loads, which are faster."""
        varying = [name for name in given_columns(self.result) if len(set(self.result[name][rows])) > 1]
        angles = [name for name in varying if name.startswith(ANGLE)]
        loads = [name for name in varying if name not in angles]
        posture = np.column_stack([self.result[name][rows] for name in angles] or [0 * rows])
        count = int((posture == posture[0]).all(axis=1).sum())
        if len(rows) % count:  # no grid
            count = len(rows)
        return [self._of_rows(angles, rows[::count]), self._of_rows(loads, rows[:count])]

    def _of_rows(self, names: Sequence[str], rows: npt.NDArray[np.int64]) -> Side:
        return self._side(names, rows) if len(names) == 1 else Side(ROW, "", np.arange(1.0, len(rows) + 1))

    def _side(self, names: Sequence[str], rows: npt.NDArray[np.int64]) -> Side:
        (name,) = names
        values = self.result[name][rows]
        if values.dtype.kind not in "iuf":
            words = [str(value) for value in values.tolist()]
            numbers = [_number(word) for word in words]
            if None in numbers:
                return Side(name, "", np.arange(1.0, len(words) + 1), words)
            values = np.array(numbers)
        factor, unit = readable(float(np.abs(values).max(initial=0.0)), self.unit(name))
        return Side(name, unit, factor * values.astype(float), whole=factor == 1 and values.dtype.kind in "iu")

    @property
    def columns(self) -> list[str]:
        """Those that hold numbers that differ, counts last; all that hold numbers where none does."""
        numbers = sorted(self._ranges, key=self.counts)
        return [name for name in numbers if self._ranges[name] > 0] or numbers

    def counts(self, name: str) -> bool:
        """Whether a column is a count that nobody has named."""
        return name in self.swept.usual and self.result[name].dtype.kind in "iu"

    @property
    def level(self) -> list[str]:
        """Those that somebody has named and that are the same in all cases, beside others that are not."""
        return [name for name in self._ranges if name not in (*self.columns, *self.swept.usual)]

    @cached_property
    def _ranges(self) -> dict[str, float]:
        """How far the numbers of each column differ."""
        given = given_columns(self.result)
        computed = {name: self.numbers(name) for name in self.swept.kept if name not in given}
        return {name: _range(values) for name, values in computed.items() if finite(values).size}

    def numbers(self, name: str) -> npt.NDArray[np.float64]:
        """A column over all sides, NaN where there is no number."""
        values = self.result[name]
        if values.dtype.kind not in "iufbO":
            return np.full(0, np.nan)
        flat = np.array([math.nan if not isinstance(v, int | float) else float(v) for v in values.tolist()])
        return self._spread(flat, math.nan)

    def _spread(self, flat: npt.NDArray[Any], nothing: object) -> npt.NDArray[Any]:
        sizes = [len(side.values) for side in self.sides]
        case, row = self._place
        inner = math.prod(sizes[-2:])
        whole = np.full((math.prod(sizes[:-2]), inner), nothing, dtype=flat.dtype)
        kept = row < inner
        whole[case[kept], row[kept]] = flat[kept]
        return whole.reshape(sizes)

    def along(self, name: str, x: int, at: Sequence[int | slice]) -> npt.NDArray[np.float64]:
        """A column over side ``x`` at a place of the others; a frequency is followed by its mode shape."""
        order = np.argsort(self.sides[x].values, kind="stable")
        entry = _ENTRY.fullmatch(name)
        if entry is None or entry[1] not in self.swept.beside or self.sides[x].words:
            return np.asarray(self.numbers(name)[tuple(at)][order])
        rows = self._rows[tuple(at)][order]
        tracks, _ = self._tracks(entry[1], tuple(rows.tolist()))
        return np.asarray(tracks[:, int(entry[2]) - 1])

    def together(
        self, names: Sequence[str], x: int, at: Sequence[int | slice]
    ) -> tuple[dict[str, npt.NDArray[np.float64]], dict[str, int]]:
        """Columns that belong together over side ``x`` by name, and the places of those that are at one place only.

        Of frequencies that are followed by their modes these are all that were kept, and those that begin as one of
        them in a later case, called ``[NUMBER at VALUE]``: a column ends where a case has no such mode, and a mode that
        was there and not kept may be in its place from then on.
        """
        entry = _ENTRY.fullmatch(names[0])
        later = {}
        if entry and entry[1] in self.swept.beside and not self.sides[x].words:
            every = [name for name in self.swept.kept if (one := _ENTRY.fullmatch(name)) and one[1] == entry[1]]
            order = np.argsort(self.sides[x].values, kind="stable")
            tracks, begun = self._tracks(entry[1], tuple(self._rows[tuple(at)][order].tolist()))
            told = np.array([self.numbers(name)[tuple(at)][order] for name in every])
            ended = np.isnan([self.along(name, x, at) for name in every]).any(axis=0)
            for k, (case, place) in enumerate(begun):
                name, track = f"{entry[1]}[{place + 1}]", tracks[:, k]
                if f"{entry[1]}[{k + 1}]" in every:
                    continue
                if case == begun[0][0] or name not in every:
                    same = (told == track) & ended
                    if not same.any():
                        continue
                    case, track = int(same.any(axis=0).argmax()), np.where(same.any(axis=0), track, np.nan)
                    name = every[int(same[:, case].argmax())]
                later[f"{name[:-1]} at {self.sides[x].values[order][case]:.4g}]"] = track
        else:
            every = [*names]
        found = {name: self.along(name, x, at) for name in every} | later
        there = {name: np.flatnonzero(np.isfinite(values)) for name, values in found.items()}
        most = max(map(len, there.values()))
        alone = {name: int(places[0]) for name, places in there.items() if len(places) == 1 < most}
        moving = [name for name in found if name in names or name in later or _range(found[name])]
        return {name: found[name] for name in moving if name not in alone}, alone

    @property
    def across(self) -> int:
        """The side that makes the abscissa."""
        many = [i for i, side in enumerate(self.sides) if len(side.values) > 1]
        return max(many, key=lambda i: self.sides[i].rank) if many else 0

    def slices(self, x: int) -> npt.NDArray[np.int64]:
        """Rows of the table (K, N) by ascending values of side ``x``, for every place of the others; -1 for none."""
        order = np.argsort(self.sides[x].values, kind="stable")
        return np.asarray(np.moveaxis(self._rows, x, -1).reshape(-1, len(order))[:, order])

    def _tracks(self, key: str, rows: tuple[int, ...]) -> Followed:
        shapes = key.replace("frequencies", "shapes")
        if (key, rows) not in self._followed:
            parts = ([self.swept.beside[word][row] if row >= 0 else None for row in rows] for word in (key, shapes))
            found, begun = followed(*parts)
            wide = np.full((len(rows), max(_largest(self.swept.kept), found.shape[1])), np.nan)
            wide[:, : found.shape[1]] = found
            self._followed[key, rows] = wide, begun
        return self._followed[key, rows]

    @cached_property
    def _followed(self) -> dict[tuple[str, tuple[int, ...]], Followed]:
        return {}

    @cached_property
    def _rows(self) -> npt.NDArray[Any]:
        return self._spread(np.arange(len(self.result[CASE])), -1)

    def unit(self, name: str) -> str:
        """The unit of a column where it is known."""
        return self.result.units.get(name, "")


def _largest(kept: Sequence[str]) -> int:
    entries = (_ENTRY.fullmatch(name) for name in kept)
    return max((int(entry[2]) for entry in entries if entry), default=0)


def _number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None


def _range(values: npt.NDArray[np.float64]) -> float:
    """How far those differ that are numbers, 0 where there is none."""
    numbers = finite(values)
    return float(np.ptp(numbers)) if numbers.size else 0.0


def finite(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Those that are numbers."""
    return np.asarray(values[np.isfinite(values)])
