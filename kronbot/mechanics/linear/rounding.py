"""What rounding does to the matrices of a linear model, and which of their zeros are more than chance."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np

from kronbot.cached import cached_property
from kronbot.compute.trace import Trace
from kronbot.floats import Array
from kronbot.mechanics.linear.deflation import SecondOrder
from kronbot.mechanics.linear.matrix_polynomial import ROUNDING
from kronbot.mechanics.linear.null_spaces import lasting, null_space, null_spaces

# Pairs of points beside a point, what the largest change found is multiplied by, and the share that numbers are moved
# by: large beside a rounding, and its square small.
PAIRS, SAFETY, STEP = 3, 4.0, 2.0**-38
# By which share all numbers are changed to see whether a zero stands for a symmetry.
SHARE = 1e-2


@dataclass(frozen=True)
class Entries:
    """What a trace has given (``values``, by name, a row for every point) at points, each input (N, size), with errors.

    They hold what a rounding of every number does that is given, of robot and question, by differences between two
    points, and what rounding does on the way: what points on a line have left of the second difference.
    """

    trace: Trace
    points: Sequence[Array]
    values: Mapping[str, Array]
    errors: Mapping[str, Array]

    @staticmethod
    def at(trace: Trace, points: Sequence[Array]) -> Entries:
        """Those at points."""
        A, *others = trace.beside(points, STEP, PAIRS)
        with np.errstate(invalid="ignore"):
            ahead, back = (np.array(side) - A for side in (others[:PAIRS], others[PAIRS:]))
            turned, left = (np.fmax.reduce(np.abs(change)) for change in (ahead - back, ahead + back))
        errors = SAFETY * ROUNDING / (2 * STEP) * turned + 2 * left + ROUNDING * np.abs(A)
        values, known = trace.named(A), trace.named(errors)
        return Entries(trace, points, values, known | {name: _with_dust(values[name], known[name]) for name in "MDK"})

    @property
    def matrices(self) -> list[Array]:
        """M, D, K (N, n, n)."""
        return _squares(self.values)

    @property
    def matrix_errors(self) -> list[Array]:
        """Bounds of the errors of their entries (N, n, n)."""
        return _squares(self.errors)

    def systems(self, kept: Sequence[int]) -> list[SecondOrder]:
        """The systems of the coordinates ``kept``.

        A direction without stiffness is one that stays so with other numbers, of robot and question: symmetry, and no
        accident as at a buckling load, or where pi/2 in a float turns a joint's axis to the vertical, or where two
        numbers of the file happen to be equal. Zeros and exact quarter turns of the file stay what they are. Where as
        many directions are free with other numbers, these may be others: the way of a spring between two pulleys.
        """

        @cache
        def elsewhere() -> list[SecondOrder]:
            parts = self._elsewhere._of(kept)
            return [SecondOrder(*each) for each in zip(*parts, np.zeros((*parts[0].shape[:2], 0)), strict=True)]

        def free_of(i: int, F: Array) -> Array:
            if not F.size:
                return F
            other = elsewhere()[i]
            same = lasting(F, [(other.K, other.dK)])
            if same.shape[1] == F.shape[1] or (own := null_space(other.K, other.dK)).shape[1] < F.shape[1]:
                return same
            elsewhere()[i] = replace(other, free=own)
            return F

        def others(i: int) -> Sequence[SecondOrder]:
            return elsewhere()[i : i + 1]

        own = self._of(kept)
        free = [free_of(i, F) for i, F in enumerate(null_spaces(own[2], own[5]))]
        systems = [SecondOrder(*each) for each in zip(*own, free, strict=True)]
        return [replace(system, others=partial(others, i)) for i, system in enumerate(systems)]

    def _of(self, kept: Sequence[int]) -> list[Array]:
        """M, D, K and their errors of some coordinates."""
        # In one layout of memory however many points there are: products depend on it by a rounding.
        return [np.ascontiguousarray(A[:, kept][:, :, kept]) for A in (*self.matrices, *self.matrix_errors)]

    @cached_property
    def _elsewhere(self) -> Entries:
        """The same with other numbers."""
        return Entries.at(*self.trace.elsewhere(self.points, SHARE))


def _with_dust(rows: Array, errors: Array) -> Array:
    """Errors (N, ...) of a matrix, those of entries that are nothing beside others of their row or column at least as
    large as these: rounding that is the same at all points near by. Its diagonal is never beside others.
    """
    size, E = np.abs(_square(rows)), _square(errors)
    beside = np.maximum(size.max(axis=2, keepdims=True, initial=0.0), size.max(axis=1, keepdims=True, initial=0.0))
    dust = (size <= ROUNDING * beside) & ~np.eye(size.shape[1], dtype=bool)
    return np.asarray(np.where(dust, np.maximum(E, size), E).reshape(errors.shape))


def _squares(values: Mapping[str, Array]) -> list[Array]:
    return [_square(values[name]) for name in "MDK"]


def _square(rows: Array) -> Array:
    """Matrices of the rows of a trace: a matrix of one entry is none there."""
    n = math.isqrt(rows.size // len(rows))
    return rows.reshape(len(rows), n, n)
