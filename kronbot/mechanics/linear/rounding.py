"""What rounding does to the matrices of a linear model, and which of their zeros are more than chance."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from kronbot.cached import cached_property
from kronbot.compute.trace import Trace
from kronbot.floats import Array
from kronbot.mechanics.linear.deflation import SecondOrder
from kronbot.mechanics.linear.matrix_polynomial import ROUNDING
from kronbot.mechanics.linear.null_spaces import lasting, null_space, null_spaces
from kronbot.records import dataclass

# Pairs of points beside a point, what the largest change found is multiplied by, and the share that numbers are moved
# by: large beside a rounding e, so that roundings on the way count e/STEP times, and no larger, for they bend what is
# there by the square of STEP, which counts whole as rounding would.
PAIRS, SAFETY, STEP = 3, 4.0, 2.0**-44
# By which share all numbers are changed to see whether a zero stands for a symmetry, and the power of them that is
# looked at, too: a stiffness of 1e14 rounds away what is beside it, also with numbers near by, and is 56 there.
SHARE, ALIKE = 1e-2, 1 / 8
# A share of the largest entry below which one may be rounding, and rows whose errors are looked for at once.
FAINT, BLOCK = 1e-14, 512
# What a system is by what its entries are one by one: so is each part of it.
BY_ENTRIES = ("symmetric", "undamped", "reciprocal")
# Of ten numbers that are no smaller, and none larger than its inverse, every product is a number.
EXTREME = 1e-30
# The output with what stops and tendons hold: what holds beside a point and not at it tells
# nothing of its rounding; so many pairs are looked at where all of a few are such.
HOLDING, MANY = "holding", 64
# The output with the part of gains in K and D (n x 2n), numbers of a file that are exact.
FED = "fed"


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
        A, errors = _with_errors(trace, points)
        both, count = trace.named(np.concatenate([A, errors])), len(A)
        values, known = (
            {name: each[rows] for name, each in both.items()} for rows in (slice(count), slice(count, None))
        )
        three = np.array([both[name] for name in "MDK"])
        dusty = _with_dust(three[:, :count], three[:, count:], values.get(FED))
        return Entries(trace, points, values, known | dict(zip("MDK", dusty, strict=True)))

    @cached_property
    def matrices(self) -> Array:
        """M, D, K and bounds of the errors of their entries (6, N, n, n)."""
        rows = [part[name] for part in (self.values, self.errors) for name in "MDK"]
        n = math.isqrt(rows[0].size // len(rows[0]))  # a matrix of one entry is none in a trace
        return np.array(rows).reshape(6, len(rows[0]), n, n)

    def systems(self, kept: Sequence[int], wholes: Sequence[SecondOrder] = ()) -> list[SecondOrder]:
        """The systems of the coordinates ``kept``, parts of ``wholes`` if these are known.

        A direction without stiffness is one that stays so with other numbers, of robot and question: symmetry, and no
        accident as at a buckling load, or where pi/2 in a float turns a joint's axis to the vertical, or where two
        numbers of the file happen to be equal. Zeros and exact quarter turns of the file stay what they are. Where as
        many directions are free with other numbers, these may be others: the way of a spring between two pulleys. Other
        numbers are some near by, and some that are nearly of one size, in which nothing is lost beside large ones.
        """

        @cache
        def elsewhere() -> list[list[SecondOrder]]:
            near, alike = (_systems(each.of(kept)) for each in (self._elsewhere(), self._elsewhere(ALIKE)))
            sound = self._alike
            return [[one, other][: 1 + sound[i]] for i, (one, other) in enumerate(zip(near, alike, strict=True))]

        def free_of(i: int, F: Array, is_free: npt.NDArray[np.bool_], K: Array, dK: Array) -> Array:
            if not (K[:, is_free].any() or dK[:, is_free].any()) and not self._extreme:
                return F  # zeros without errors are so by structure
            for k, other in enumerate(elsewhere()[i]):
                same = lasting(F, [(other.K, other.dK)])
                if same.shape[1] == F.shape[1] or (own := null_space(other.K, other.dK)).shape[1] < F.shape[1]:
                    F = same
                else:
                    elsewhere()[i][k] = replace(other, free=own)
            return F

        def others(i: int) -> Sequence[SecondOrder]:
            return elsewhere()[i]

        own, places = self.of(kept), range(len(self.points[0]))
        if all(self._stiff.get(i) == tuple(kept) for i in places):
            free = [np.zeros((len(kept), 0)) for _ in places]
        else:
            free = []
            for i, (F, sure) in enumerate(null_spaces(own[2], own[5])):
                is_free = np.asarray(F.any(axis=1))
                held = [place for place, free_too in zip(kept, is_free.tolist(), strict=True) if not free_too]
                self._stiff[i] = tuple(held) if sure else ()
                free.append(free_of(i, F, is_free, own[2][i], own[5][i]) if F.size else F)
        beside = [partial(others, i) for i in places], [partial(self._potential, kept, others, i) for i in places]
        systems = [SecondOrder(*each) for each in zip(*own, free, *beside, strict=True)]
        for part, whole in zip(systems, wholes, strict=False):
            vars(part).update({word: True for word in BY_ENTRIES if getattr(whole, word)})
        return systems

    @cached_property
    def _extreme(self) -> bool:
        """Whether numbers are so large or small that zeros without errors may be products of them."""
        sizes = np.abs(np.concatenate([part.ravel() for part in (self.trace.bound, *self.points)]))
        return bool(((sizes > 1 / EXTREME) | ((sizes > 0) & (sizes < EXTREME))).any())

    @cached_property
    def _stiff(self) -> dict[int, tuple[int, ...]]:
        """By point coordinates of which K is known to be regular within its errors."""
        return {}

    def _potential(self, kept: Sequence[int], others: Callable[[int], Sequence[SecondOrder]], i: int) -> bool:
        """Whether the forces of coordinates have a potential at other points, too, where just as much is zero.

        They have it everywhere if they have it at one that is no accident: that is looked at once.
        """
        if FED in self.values and not _passive(self.values[FED][i], kept):
            return False
        zero = np.concatenate([part[i] for part in self.points]) == 0

        def find() -> list[bool | None]:
            systems = _systems(self._anywhere(zero).of(kept))
            return [each.symmetric if np.isfinite(each.K).all() else None for each in systems]

        known = self.trace.once((zero.tobytes(), *kept), find)
        answer = known[i if len(known) > 1 else 0]
        return all(each.symmetric for each in others(i)) if answer is None else answer

    def _anywhere(self, zero: npt.NDArray[np.bool_]) -> Entries:
        """The same with other numbers of the file, of every robot, at one point with such zeros."""

        def find() -> Entries:
            trace, _ = self.trace.elsewhere(self.points, SHARE, ALIKE)
            robots, ends = len(np.atleast_2d(trace.bound)), np.cumsum([part.shape[1] for part in self.points])
            point = np.where(zero, 0.0, np.random.default_rng(4).uniform(0.5, 1, len(zero)))
            with np.errstate(all="ignore"):
                return Entries.at(trace, np.split(np.tile(point, (robots, 1)), ends[:-1], axis=1))

        return self.trace.once(zero.tobytes(), find)

    def of(self, kept: Sequence[int]) -> list[Array]:
        """M, D, K and their errors of some coordinates."""
        parts = self.matrices
        if len(kept) < parts.shape[-1]:
            parts = parts[:, :, kept][..., kept]
        # In one layout of memory however many points there are: products depend on it by a rounding.
        return [*np.ascontiguousarray(parts)]

    @cached_property
    def _elsewhere(self) -> Callable[..., Entries]:
        """The same with other numbers, near by or of a power."""

        @cache
        def find(power: float = 1.0) -> Entries:
            with np.errstate(all="ignore"):  # what has no value there is not looked at
                return Entries.at(*self.trace.elsewhere(self.points, SHARE, power))

        return find

    def stiffness_elsewhere(self) -> list[tuple[Array, Array]]:
        """K and bounds of the errors of its entries, each (points, n, n), with other numbers: near by, and of a power
        where these make a robot."""
        (near, wrong), (alike, also) = (self._elsewhere(power).matrices[[2, 5]] for power in (1.0, ALIKE))
        return [(near, wrong), (alike[self._alike], also[self._alike])]

    @cached_property
    def _alike(self) -> list[bool]:
        """By point whether the numbers of one size make a robot, on which the same stops and tendons hold."""
        other = self._elsewhere(ALIKE)
        sound = np.asarray(np.isfinite(other.matrices).all(axis=(0, 2, 3)))
        if HOLDING in self.values:
            here, there = (each.values[HOLDING].reshape(len(sound), -1) for each in (self, other))
            sound &= (here == there).all(axis=1)
        found: list[bool] = sound.tolist()
        return found


def _systems(parts: Sequence[Array]) -> list[SecondOrder]:
    """Those of matrices and their errors, of which nothing is known to be free."""
    return [SecondOrder(*each) for each in zip(*parts, np.zeros((*parts[0].shape[:2], 0)), strict=True)]


def without_dust(trace: Trace, points: Sequence[Array], found: Mapping[str, Array]) -> dict[str, Array]:
    """What a trace has given at points (each input N, size), by name, with 0 for what is nothing but rounding of terms
    that cancel: where something is faint beside others of its output, errors are looked for."""
    cleared = {name: values.copy() for name, values in found.items()}
    rows = np.flatnonzero(_faint([values.reshape(len(values), -1) for values in found.values() if values.size]))
    for some in np.array_split(rows, max(1, math.ceil(len(rows) / BLOCK))):
        if some.size:
            _, errors = _with_errors(trace.of_some(some), [part[some] for part in points])
            for name, error in trace.named(errors).items():
                values = cleared[name][some]
                cleared[name][some] = np.where(np.abs(values) <= error, 0.0, values)
    return cleared


def _faint(outputs: Sequence[Array]) -> npt.NDArray[np.bool_]:
    """Whether rows (N,) of outputs (N, numbers) have an entry that is nothing beside the largest of its output."""
    counts = [values.shape[1] for values in outputs]
    size = np.abs(np.concatenate(outputs, axis=1))
    largest = np.maximum.reduceat(size, [*accumulate(counts[:-1], initial=0)], axis=1)
    return np.asarray(((size > 0) & (size <= FAINT * np.repeat(largest, counts, axis=1))).any(axis=1))


def _with_errors(trace: Trace, points: Sequence[Array]) -> tuple[Array, Array]:
    """All outputs (N, numbers) at points, and what rounding does to them."""
    A, turned, left = _changes(trace, points, PAIRS)
    if HOLDING in trace.outputs and (lost := np.isnan(turned).all(axis=1)).any():
        some = np.flatnonzero(lost)
        _, turned[some], left[some] = _changes(trace.of_some(some), [part[some] for part in points], MANY)
    return A, SAFETY * ROUNDING / (2 * STEP) * turned + 2 * left + ROUNDING * np.abs(A)


def _changes(trace: Trace, points: Sequence[Array], pairs: int) -> tuple[Array, Array, Array]:
    """All outputs (N, numbers) at points; the largest differences between pairs of points beside them; and the largest
    second ones. NaN where all pairs have other stops and tendons that hold: those are no rounding."""
    every = trace.beside(points, STEP, pairs)
    A = every[0]
    with np.errstate(invalid="ignore"):
        ahead, back = every[1 : 1 + pairs] - A, every[1 + pairs :] - A
        second = ahead + back
        if HOLDING in trace.outputs:
            held = np.array([trace.named(each)[HOLDING].reshape(len(A), -1) for each in every])
            first, other = np.split((held[1:] != held[0]).any(axis=2)[:, :, None], 2)
            # Where points to one side are left, what is beside a difference to that side is in it.
            second = np.where(first, back, np.where(other, ahead, second))
            ahead, back = np.where(first, -back, ahead), np.where(other, -ahead, back)
            second, ahead = (np.where(first & other, np.nan, each) for each in (second, ahead))
        turned, left = (np.fmax.reduce(np.abs(change)) for change in (ahead - back, second))
    return A, turned, left


def _with_dust(rows: Array, errors: Array, fed: Array | None) -> Array:
    """Errors (3, N, ...) of M, D, K, those of entries that are nothing beside others of their row or column at least as
    large as these: rounding that is the same at all points near by. Their diagonal is never beside others.

    So are entries of K that are nothing beside its largest one, opposite exact zeros, as no force of a potential is,
    but for gains of a file (``fed``). What is large is told in units in which all coordinates have the same inertia,
    whatever their own are.
    """
    size, E = (_square(np.concatenate(part)) for part in (np.abs(rows), errors))
    inertia = np.maximum(*(part[: len(part) // 3].diagonal(axis1=1, axis2=2) for part in (size, E)))
    if not inertia.all():
        usual = np.exp(np.log(inertia, out=np.zeros_like(inertia), where=inertia > 0).mean(axis=1, keepdims=True))
        inertia = np.where(inertia > 0, inertia, usual)
    units = np.concatenate([np.sqrt(inertia)] * 3)
    alike = size / (units[:, :, None] * units[:, None, :])
    beside = np.maximum(alike.max(axis=2, keepdims=True, initial=0.0), alike.max(axis=1, keepdims=True, initial=0.0))
    lone = (size + E).swapaxes(1, 2) == 0
    lone &= alike <= ROUNDING * beside.max(axis=(1, 2), keepdims=True, initial=0.0)
    lone[: 2 * len(lone) // 3] = False
    if fed is not None:
        n = math.isqrt(fed[0].size // 2)
        lone[2 * len(lone) // 3 :, :n, :n] &= fed.reshape(len(fed), n, 2 * n)[:, :, :n] == 0
    dust = ((alike <= ROUNDING * beside) | lone) & ~np.eye(size.shape[1], dtype=bool)
    return np.asarray(np.where(dust, np.maximum(E, size), E).reshape(errors.shape))


def _passive(fed: Array, kept: Sequence[int]) -> bool:
    """Whether gains of the coordinates ``kept`` are those of springs and dampers, however small they are."""
    n = math.isqrt(fed.size // 2)
    own = [place for place in kept if place < n]
    stiff, damped = (part[own][:, own] for part in np.split(fed.reshape(n, 2 * n), 2, axis=1))
    return bool((stiff == stiff.T).all()) and bool((np.linalg.eigvalsh(damped + damped.T) >= 0).all())


def _square(rows: Array) -> Array:
    """Matrices of the rows of a trace: a matrix of one entry is none there."""
    n = math.isqrt(rows.size // len(rows))
    return rows.reshape(len(rows), n, n)
