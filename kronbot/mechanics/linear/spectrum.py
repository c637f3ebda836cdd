"""Poles of M y'' + D y' + K y = 0: all 2n of them, each with error bounds of its own.

Poles at zero are taken out of the quadratic eigenvalue problem L(s) = M s^2 + D s + K exactly (deflation), the others
start as eigenvalues of state matrices and are refined. A step of all of them at once settles those that are simple and
apart from the others; steps one by one are for what is left. Without damping and gyroscopic terms the problem is linear
in s^2.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from kronbot.cached import cached_property
from kronbot.errors import ComputationError
from kronbot.floats import Array, all_finite
from kronbot.mechanics.linear.blocks import Block
from kronbot.mechanics.linear.blocks import blocks as blocks_at
from kronbot.mechanics.linear.deflation import Deflated, SecondOrder, congruent, deflated, symmetric_part
from kronbot.mechanics.linear.eigenvalues import Eigenvalue, advanced, eigenvalues
from kronbot.mechanics.linear.growth import with_growth
from kronbot.mechanics.linear.matrix_polynomial import Polynomial, together
from kronbot.mechanics.linear.pole import Pole, Refined, no_block, of_squares, on_axis, without_noise
from kronbot.mechanics.linear.refinement import Steps, Vectors, joined, plainly, refined
from kronbot.mechanics.linear.regularity import demand_regular, regular
from kronbot.mechanics.linear.rounding import Entries
from kronbot.mechanics.linear.starts import Starts, rough
from kronbot.records import dataclass

Complex = npt.NDArray[np.complex128]


# Eigenvalues, the numbers of their groups, and what groups of several have in common.
Found = tuple[Steps, Sequence[int], Sequence[Block | None]]
# Of what is smaller no square has a rounding that is a number.
LEAST = math.sqrt(sys.float_info.min / sys.float_info.epsilon)
APART = "numbers of the robot are too large, too small or too far apart"
# Systems at a time: enough to forget the calls, few enough for the processor's cache.
MANY = 16


@dataclass(frozen=True)
class Solution:
    """A linear model of the coordinates ``names``, and its poles where they were found with those of others."""

    system: SecondOrder
    names: Sequence[str]
    regular: bool
    found: list[Pole] | None

    @cached_property
    def poles(self) -> list[Pole]:
        """All of them. Raises ComputationError where M is singular, where they are not 2n, or where doubles have no
        square, or no stiffness, of one."""
        if not self.regular:
            demand_regular(self.system.M, self.names)
        found = poles(self.system) if self.found is None else self.found
        tiny = (pole.value for pole in found if not pole.free and abs(pole.value) + pole.error < LEAST)
        if any(self.system.undamped or s.imag or not s for s in tiny):
            raise ComputationError(f"poles are too small for double precision: {APART}")
        return found


def solutions(
    entries: Entries, coordinates: Sequence[str], locked: frozenset[int], wider: Sequence[Solution] = ()
) -> list[Solution]:
    """The models of the coordinates that are not locked (by place), at every point.

    Models of these and more, ``wider``, whose M is regular show that so is theirs: eigenvalues of a part lie between
    those of the whole (Cauchy).
    """
    kept = [place for place in range(len(coordinates)) if place not in locked]
    names, systems = [coordinates[place] for place in kept], entries.systems(kept, [each.system for each in wider])
    if wider and all(each.regular for each in wider):
        sound = [True] * len(systems)
    else:
        sound = regular(np.array([system.M for system in systems])).tolist()
    found = iter(spectra([system for system, is_sound in zip(systems, sound, strict=True) if is_sound]))
    return [Solution(each, names, ok, next(found) if ok else None) for each, ok in zip(systems, sound, strict=True)]


def poles(system: SecondOrder) -> list[Pole]:
    """All poles, those at zero first, then by their size. Raises ComputationError where they are not 2n."""
    return _spectra([system], deflated(system, _degree(system)))[0]


def spectra(systems: Sequence[SecondOrder]) -> list[list[Pole] | None]:
    """The poles of many systems, alike ones together; None where those of one alone have an error to tell."""
    found: list[list[Pole] | None] = [None] * len(systems)
    every = dict[int, Deflated]()
    for place, system in enumerate(systems):
        with suppress(ComputationError):
            every[place] = deflated(system, _degree(system))
    alike: dict[tuple[object, ...], list[int]] = {}
    for place, reduced in every.items():
        system = systems[place]
        kind = len(system.M), _degree(system), system.symmetric, system.reciprocal, *reduced.structure
        alike.setdefault(kind if reduced.plain else (place,), []).append(place)
    for everywhere in alike.values():
        for places in (everywhere[i : i + MANY] for i in range(0, len(everywhere), MANY)):
            answers = _attempted([systems[i] for i in places], every[places[0]])
            for place, answer in zip(places, answers, strict=True):
                found[place] = answer
    return found


def _attempted(systems: Sequence[SecondOrder], reduced: Deflated) -> list[list[Pole] | None]:
    try:
        return [*_spectra(systems, reduced)]
    except (ComputationError, np.linalg.LinAlgError):
        return [None] if len(systems) == 1 else [_attempted([system], reduced)[0] for system in systems]


def _degree(system: SecondOrder) -> int:
    """1 where the problem is linear in s^2."""
    return 1 if system.undamped else 2


def _spectra(systems: Sequence[SecondOrder], reduced: Deflated) -> list[list[Pole]]:
    """The poles of systems that are alike: of one size, with one structure at zero."""
    degree, n = _degree(systems[0]), len(systems[0].M)
    if not n:
        return [[] for _ in systems]
    (K, D, M), errors = _matrices(systems, reduced)
    matrices, zeros = [K, D, M], sum(reduced.counts)
    if degree == 1:
        del matrices[1], errors[1]
    own = [
        Polynomial([A[i] for A in matrices], [E[i] for E in errors], systems[0].reciprocal, zeros)
        for i in range(len(systems))
    ]
    starts = rough(M, D, K, degree, systems[0].reciprocal, reduced.free, reduced.idle, n * degree - zeros)
    real = degree == 1 and systems[0].symmetric
    if reduced.polynomial is None:
        found = _found(own, starts, real)
    else:
        own = [reduced.polynomial]
        begun = advanced(own[0], refined(own[0], starts.values[0][starts.values[0].imag >= 0]))
        found = [_thorough(own[0], starts.values[0], begun, real)]
    made = _poles(own, reduced, found)
    if degree == 1:
        made = [of_squares(each, _on_axes(each, system)) for each, system in zip(made, systems, strict=True)]
    if reduced.free and reduced.polynomial is None:
        crowded = [any(map(_at_zero, each)) for each in made]
    else:
        crowded = [False for _ in systems]
    return [
        _spectra([system], deflated(system, degree, divided=True))[0]
        if beside
        else _whole(_with_zeros(system, reduced, 2 // degree, each), system)
        for each, system, beside in zip(made, systems, crowded, strict=True)
    ]


def _at_zero(pole: Pole) -> bool:
    """Whether a pole is zero within its error."""
    return abs(pole.value) <= pole.error


def _matrices(systems: Sequence[SecondOrder], reduced: Deflated) -> tuple[list[Array], list[Array]]:
    """K, D, M of systems (N, n, n) in coordinates in which free directions are such, and their errors."""
    whole, turned, words = systems[0], reduced.T is not None, ("K", "D", "M", "dK", "dD", "dM")
    if len(systems) == 1:
        parts = [getattr(whole, word)[None] for word in words]
    else:
        parts = [np.array([getattr(system, word) for system in systems]) for word in words]
    matrices, errors = parts[:3], parts[3:]
    if whole.symmetric:
        matrices[0], errors[0] = symmetric_part(matrices[0], errors[0])
    elif len(systems) == 1 and reduced.free:  # what is written below is no system's own
        matrices[0], errors[0] = matrices[0].copy(), errors[0].copy()
    if turned:
        pairs = [congruent(A, E, reduced.T) for A, E in zip(matrices, errors, strict=True)]
        matrices, errors = [A for A, _ in pairs], [E for _, E in pairs]
    for A in (matrices[0], errors[0]) if reduced.free else ():
        A[:, :, reduced.free] = 0.0
        if whole.symmetric:
            A[:, reduced.free] = 0.0
    if whole.reciprocal:
        for k, (A, E) in enumerate(zip(matrices, errors, strict=True)):
            if turned or k == 2 or (k == 1 and not whole.undamped):  # K is symmetric by now, and so is nothing
                matrices[k], errors[k] = (A + A.swapaxes(1, 2)) / 2, np.maximum(E, E.swapaxes(1, 2))
    return matrices, errors


def _found(own: Sequence[Polynomial], starts: Starts, real: bool) -> list[Found]:
    """Eigenvalues of polynomials in the upper half plane, with the numbers of their groups.

    A step from all starts at once is enough for those that are plainly simple; the others are refined one by one.
    """
    upper = starts.values.imag >= 0
    sizes = upper.sum(axis=1).tolist()
    found: dict[int, Found] = {}
    for m in set(sizes):
        places = [i for i, size in enumerate(sizes) if size == m]
        begun = starts if len(places) == len(own) else [part[places] for part in starts]
        if m == upper.shape[1]:
            chosen = [part.reshape(-1, *part.shape[2:]) for part in begun]
        else:
            chosen = [part[upper[places]] for part in begun]
        after = refined(together([own[i] for i in places], [m] * len(places)), *chosen)
        plain = plainly(after, (len(places), m))
        for k, i in enumerate(places):
            rows = after if len(places) == 1 else after.part(slice(k * m, (k + 1) * m))
            if plain[k].all():
                found[i] = rows, range(m), [None] * m
            else:
                found[i] = _thorough(own[i], starts.values[i], advanced(own[i], rows, plain[k]), real)
    return [found[i] for i in range(len(own))]


def _thorough(p: Polynomial, starts: Complex, begun: list[Eigenvalue], real: bool) -> Found:
    """Eigenvalues that are not all plainly simple, made ``real`` where they must be."""
    every = eigenvalues(p, starts, begun)
    every = [each for e in every for each in _real(e)] if real else every
    s, right = np.array([e.value for e in every]), np.array([e.right for e in every])
    left, rest, errors = (np.array([getattr(e, word) for e in every]) for word in ("left", "rest", "error"))
    vectors = Vectors(right, left, rest, p.residual(s, right.T).T.astype(complex))
    return Steps(s, s, errors, lambda: vectors), [e.group for e in every], [e.block for e in every]


def _poles(own: Sequence[Polynomial], reduced: Deflated, found: Sequence[Found]) -> list[list[Pole]]:
    """Eigenvalues as poles, one for a pair."""
    sizes = [len(groups) for _, groups, _ in found]
    every = together(own, sizes)
    whole = joined([steps for steps, _, _ in found])
    lifts = None if reduced.plain else reduced.lifts(whole.values, every.matrices[0].shape[-1])
    refined = Refined(every, whole, lifts)
    groups = [group for _, each, _ in found for group in each]
    lifted = {id(block): reduced.lifted(block) for _, _, each in found for block in each if block is not None}
    blocks = [_giving(lifted[id(block)]) if block else no_block for _, _, each in found for block in each]
    made = [
        Pole(s, partial(refined.sides, k), 2 if s.imag > 0 else 1, groups[k], error, error, 1.0, refined, k, blocks[k])
        for k, (s, error) in enumerate(zip(whole.values.tolist(), whole.errors.tolist(), strict=True))
    ]
    ends = accumulate(sizes)
    return [made[end - size : end] for end, size in zip(ends, sizes, strict=True)]


def _giving(block: Block) -> Callable[[bool], Block]:
    return lambda rates: block


def _whole(made: list[Pole], system: SecondOrder) -> list[Pole]:
    """All poles, in order."""
    if system.symmetric and _degree(system) == 2:
        made = with_growth(made, system)
        if system.conservative:
            made = on_axis(made)
    largest = max((abs(pole.value) for pole in made), default=0.0)
    clean = (without_noise(pole, largest) for pole in made)
    every = sorted(clean, key=lambda pole: (not pole.free, abs(pole.value), pole.value.real))
    if sum(pole.count for pole in every) != 2 * len(system.M):
        raise ComputationError("the poles cannot be told apart: numbers of the robot are too far apart")
    return every


def _on_axes(squares: Sequence[Pole], system: SecondOrder) -> bool:
    """Whether squares of poles are real by more than being alone: where forces have a potential."""
    alone = len({pole.group for pole in squares}) == len(squares)
    return system.symmetric if alone else system.potential


def _real(e: Eigenvalue) -> list[Eigenvalue]:
    """Real eigenvalues, as those of s^2 are where forces have a potential: a pair is two that rounding has mixed."""
    if not e.value.imag:
        return [e]
    parts = zip((e.right.real, e.right.imag), (e.left.real, e.left.imag), strict=True)
    error = e.error + e.value.imag
    return [
        replace(e, value=complex(e.value.real), right=x.astype(complex), left=y.astype(complex), error=error)
        for x, y in parts
    ]


def _with_zeros(system: SecondOrder, reduced: Deflated, power: int, others: list[Pole]) -> list[Pole]:
    """The poles with those at zero, one for every free direction; others that are there within their errors are of the
    block of these."""
    n, count = len(system.K), len(reduced.free)
    if not count:
        return others
    right = (np.eye(n) if reduced.T is None else reduced.T)[:, reduced.free].T.astype(complex)
    left = right if system.symmetric else np.linalg.svd(all_finite(system.K))[0][:, n - count :].T
    counts, near = [power * many for many in reduced.counts], [pole for pole in others if _at_zero(pole)]

    def coupled() -> bool:
        return bool((system.D @ right.T).any() or (right @ system.D).any())

    @cache
    def block(rates: bool) -> Block | None:
        if system.symmetric and not (rates or near) and (set(counts) == {1} or (set(counts) == {2} and not coupled())):
            return None  # what vectors say of one they say of the rest of its chain
        (K, D, M), errors = _matrices([system], reduced)
        p = Polynomial([K[0], D[0], M[0]], [E[0] for E in errors])
        away = min((abs(pole.value) - pole.error for pole in others if pole not in near), default=1.0)
        spread = max((abs(pole.value) + pole.error for pole in near), default=0.0)
        made = blocks_at(p, 0j, spread, away, equal=True) if away > spread else None
        if not made or len(made[0].N) != sum(counts) + sum(pole.count for pole in near):
            return None
        return replace(reduced, steps=(), polynomial=None).lifted(replace(made[0], centre=0j))

    zeros = [
        Pole(0j, partial(tuple, each), many, -1, block=block) for *each, many in zip(right, left, counts, strict=True)
    ]
    return zeros + [replace(pole, group=-1, block=block) if pole in near else pole for pole in others]
