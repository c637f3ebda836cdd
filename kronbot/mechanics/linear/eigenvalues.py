"""Eigenvalues of A0 + s A1 + s^2 A2 with error bounds: none lost, small ones as right as the entries allow.

Rough ones are refined by inverse iteration from both sides and the Rayleigh quotient, whose residual is computed in
extended precision; those too near to each other for that as blocks. Where two have met at one eigenvalue, the one that
is lacking is found by Aberth's method, which divides the others out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain, count, repeat

import numpy as np
import numpy.typing as npt

from kronbot.mechanics.linear.blocks import Block, blocks, connected
from kronbot.mechanics.linear.matrix_polynomial import ROUNDING, Polynomial
from kronbot.mechanics.linear.refinement import SETTLED, TINY, Steps, refined, unit
from kronbot.records import dataclass

Complex = npt.NDArray[np.complex128]

# Eigenvalues nearer to each other than these shares of their size are refined together, at first and later on.
NEAR, NEARER = 1e-8, 1e-12
# Steps, after how many of them those still on their way are sought one by one, and steps of that search.
SWEEPS, PATIENCE, SEARCHES = 36, 12, 60
# A quotient that leads further than this share of the eigenvalue does not lead to the nearest one.
FAR = 0.05
# A group is refined with the nearest eigenvalue outside where that is not so many times its spread away.
ROOM = 12.0
# Beyond so many times their size errors carry no eigenvalues, or there is nothing else.
FARTHEST = 1e6
# Points on a circle around what is not settled, and how it grows until no error carries an eigenvalue across it.
CIRCLE, GROWTH = 16, 2.0


@dataclass(frozen=True, eq=False)
class Eigenvalue:
    """One eigenvalue s with vectors, L(s) x = 0 and y^H L(s) = 0.

    A change dL changes x by -rest dL x, y^H by -y^H dL rest. ``error`` bounds |ds|; ``moved`` is the last step towards
    it, and others may be ``around`` where no circle was found that parts it from these. Those of one ``family`` were
    refined together (0: alone), those of one ``block`` cannot be told apart; ``group`` numbers these.
    """

    value: complex
    right: Complex
    left: Complex
    rest: Complex
    error: float = np.inf
    moved: float = np.inf
    around: float = 0.0
    family: int = 0
    block: Block | None = None
    group: int = 0


def eigenvalues(polynomial: Polynomial, starts: Complex, found: list[Eigenvalue]) -> list[Eigenvalue]:
    """All eigenvalues from as many rough ones, conjugates included; of complex pairs the upper ones are returned.

    ``found`` are these as far as they are known.
    """
    families, widest = count(1), float(np.abs(starts).max(initial=0.0))
    found = _with_zeros(polynomial, found, widest, next(families))
    for sweep in range(SWEEPS):
        groups = _apart(near(found))
        moving = [_unsettled(group) for group in groups]
        settled = [e for group, moves in zip(groups, moving, strict=True) if not moves for e in group]
        lacking = len(starts) - len(_all(settled))
        if not any(moving) and lacking <= 0:
            break
        if not any(moving) or (sweep and sweep % PATIENCE == 0):
            found = settled + _sought(polynomial, _left(starts, settled), _all(settled))
            continue
        together = [g for g, moves in zip(groups, moving, strict=True) if moves and (_count(g) > 1 or _crowded(g[0]))]
        alone = [g[0] for g, moves in zip(groups, moving, strict=True) if moves and g not in together]
        before, found = found, settled + _alone(polynomial, alone, found)
        for group in together:
            found += _together(polynomial, group, [e for e in before if e not in group], next(families), widest)
    found = _complete(polynomial, found, starts)
    numbers: dict[int, int] = {}
    own = [numbers.setdefault(id(e if e.block is None else e.block), len(numbers)) for e in found]
    return [replace(e, group=group) for e, group in zip(found, own, strict=True)]


def _apart(groups: list[list[Eigenvalue]]) -> list[list[Eigenvalue]]:
    """Groups with those that stand too near to them for a circle between."""
    while True:
        for i, group in enumerate(groups):
            if (_count(group) == 1 and not _crowded(group[0])) or not _unsettled(group):
                continue
            centre, spread = _centre(group)
            away = [np.abs(_all(other) - centre).min() if j != i else np.inf for j, other in enumerate(groups)]
            nearest = int(np.argmin(away))
            if away[nearest] < ROOM * spread:
                groups = [g for k, g in enumerate(groups) if k not in (i, nearest)] + [group + groups[nearest]]
                break
        else:
            return groups


def _complete(p: Polynomial, found: list[Eigenvalue], starts: Complex) -> list[Eigenvalue]:
    """Those that have settled; the others as rough as they are, with errors that say so."""
    settled = [e for e in found if not _moving(e)]
    rough = [e for e in found if _moving(e)]
    if len(_all(found)) != len(starts):
        if len(_all(settled)) > len(starts):
            settled = []
        left = _left(starts, settled).tolist()
        pairs = {z for z in left if z.imag > 0 and z.conjugate() in left}
        alone = [complex(z.real) for z in left if z not in pairs and z.conjugate() not in pairs]
        rough = [start(p, z) for z in [*(z for z in left if z in pairs), *alone]]
    widest, every = float(np.abs(starts).max(initial=0.0)), _all([*settled, *rough])
    every = np.concatenate([every, np.zeros(p.zeros, dtype=complex)])
    return settled + [replace(e, error=max(abs(e.value), _sure(p, e.value, every, widest)), moved=0.0) for e in rough]


def _left(starts: Complex, settled: Sequence[Eigenvalue]) -> Complex:
    """Rough eigenvalues without the nearest one of each that has settled."""
    left = starts.tolist()
    for s in _all(settled)[: len(starts)]:
        left.remove(min(left, key=lambda z: abs(z - s) / max(abs(z), abs(s), 1e-300)))
    return np.array(left, dtype=complex)


def start(p: Polynomial, s: complex) -> Eigenvalue:
    """One of which nothing but a rough value is known."""
    n = len(p.matrices[0])
    return Eigenvalue(complex(s), np.ones(n, complex), np.ones(n, complex), np.zeros((n, n), complex))


def near(found: Sequence[Eigenvalue], share: float = NEAR) -> list[list[Eigenvalue]]:
    """Eigenvalues of the upper half plane in groups whose members are nearer than a share, or not to be told apart."""
    found = sorted(found, key=lambda e: (abs(e.value), e.value.imag))
    values = np.array([e.value for e in found], dtype=complex)
    reach = np.array([_reach(e, share) for e in found])
    close = np.abs(values[:, None] - values) <= np.maximum(reach[:, None], reach)
    labels = connected(close)
    return [[found[i] for i in np.flatnonzero(labels == label)] for label in np.unique(labels)]


def _reach(e: Eigenvalue, share: float = NEAR) -> float:
    """How near others must be to be refined together: errors reach there."""
    size = abs(e.value)
    if not np.isfinite(e.error):
        return max((FAR if _crowded(e) else share) * size, e.around)
    return max(min(share, NEARER) * size, min(4 * e.error, size / 2))


def _crowded(e: Eigenvalue) -> bool:
    """Whether an eigenvalue cannot be refined without others, though these are not known yet."""
    return not np.isfinite(e.error) and np.isfinite(e.moved)


def _moving(e: Eigenvalue) -> bool:
    return not np.isfinite(e.error) or e.moved > max(SETTLED * abs(e.value), 0.1 * e.error)


def _unsettled(group: Sequence[Eigenvalue]) -> bool:
    """Whether some are on their way, or have been refined without others of a group."""
    families = {e.family for e in group}
    return any(map(_moving, group)) or len(families) > 1 or (families == {0} and _count(group) > 1)


def _on_axis(e: Eigenvalue) -> bool:
    """Whether an eigenvalue is real, or too near to its conjugate."""
    return 2 * e.value.imag <= _reach(e)


def _count(group: Sequence[Eigenvalue]) -> int:
    """How many eigenvalues a group of the upper half plane stands for; conjugates count where they are near."""
    return sum(2 if e.value.imag > 0 and any(map(_on_axis, group)) else 1 for e in group)


def _all(found: Sequence[Eigenvalue]) -> Complex:
    """Values with those of the lower half plane."""
    upper = np.array([e.value for e in found], dtype=complex)
    return np.concatenate([upper, upper[upper.imag > 0].conj()])


def advanced(p: Polynomial, after: Steps, settled: Iterable[bool] = ()) -> list[Eigenvalue]:
    """Eigenvalues after a step, settled or not; those that it led far away begin again where they were."""
    done, (right, left, every, _) = chain(settled, repeat(False)), after.vectors
    steps = zip(after.starts, after.values, right, left, every, after.errors, strict=True)
    return [
        Eigenvalue(complex(z.real, abs(z.imag)), x, y, rest, float(error), 0.0 if end else float(abs(z - s)))
        if abs(z - s) <= FAR * abs(s)
        else start(p, s)
        for (s, z, x, y, rest, error), end in zip(steps, done, strict=False)
    ]


def _alone(p: Polynomial, group: Sequence[Eigenvalue], found: Sequence[Eigenvalue]) -> list[Eigenvalue]:
    """A step for eigenvalues that are apart from all others."""
    if not group:
        return []
    known = [e for e in group if np.isfinite(e.error)]
    if 0 < len(known) < len(group):
        return _alone(p, known, found) + _alone(p, [e for e in group if e not in known], found)
    vectors = [np.array([getattr(e, side) for e in group]) if known else None for side in ("right", "left")]
    made = advanced(p, refined(p, np.array([e.value for e in group]), *vectors))
    s = np.array([e.value for e in made if np.isinf(e.moved)])
    if len(s):  # the starts were poor
        step = _aberth(p, s, _all(found))
        s = s + np.where(s.imag == 0, step.real, step)
    poor = [start(p, complex(z.real, abs(z.imag))) for z in s]
    return [e for e in made if np.isfinite(e.moved)] + poor


def _aberth(p: Polynomial, s: Complex, others: Complex) -> Complex:
    """Newton's steps for the determinant with the ``others`` divided out; those that are s itself do not count."""
    rate = np.einsum("nij,nji->n", p.resolvent(s), p.at(s, 1))
    apart = s[:, None] - np.append(others, np.zeros(p.zeros))
    with np.errstate(all="ignore"):
        pull = np.where(apart == 0, 0.0, 1 / apart).sum(axis=1)
        step = -1 / (rate - pull)
    return np.where(np.isfinite(step), step, 0.0)


def _centre(group: Sequence[Eigenvalue]) -> tuple[complex, float]:
    """Around what a group stands, and how far from it: on the axis where its conjugates are near."""
    centre = complex(np.mean([e.value for e in group]))
    spread = max(abs(e.value - centre) for e in group)
    if any(map(_on_axis, group)) or 2 * centre.imag < ROOM * spread:
        centre = complex(centre.real)
        spread = max(abs(e.value - centre) for e in group)
    return centre, spread


def _together(
    p: Polynomial, group: list[Eigenvalue], others: list[Eigenvalue], family: int, widest: float
) -> list[Eigenvalue]:
    """All eigenvalues where a group of them is, however many; as they were where no circle parts them from others."""
    middle, spread = _centre(group)
    around = max(e.around for e in group)
    made = _parted(p, group, others, middle, spread, around, widest)
    if made and middle.imag and (met := max(each.error - each.centre.imag for each in made)) > 0:
        # Errors reach conjugates.
        middle, around = complex(middle.real), max(around, met)
        spread = max(abs(e.value - middle) for e in group)
        made = _parted(p, group, others, middle, spread, max(around, spread), widest)
    if made is None:
        wider = max(GROWTH * around, _radius(p, middle, group, widest)) if any(map(_crowded, group)) else 0.0
        return [replace(start(p, e.value), around=wider) if _moving(e) else e for e in group]
    return _of_blocks(made, family)


def _of_blocks(made: Sequence[Block], family: int) -> list[Eigenvalue]:
    found = []
    for each in made:
        right, left = map(unit, each.vectors())
        shared, centre = each if len(each.N) > 1 else None, complex(each.centre)
        error = each.error
        found += [
            Eigenvalue(centre, x, y, each.rest[0], error, 0.0, 0.0, family, shared)
            for x, y in zip(right.T, left.T, strict=True)
        ]
    return found


def _with_zeros(p: Polynomial, found: list[Eigenvalue], widest: float, family: int) -> list[Eigenvalue]:
    """Eigenvalues of which those that errors may bring to zero are found together, since no step leads there.

    Beside known zeros all are left as rough as they are.
    """
    if not any(map(_moving, found)) or _holds(p, 0j, ROUNDING**2 * widest):
        return found
    radius = _radius(p, 0j, [], widest)
    # Starts are poor there: none that was lost is left beside.
    known = min((abs(e.value) for e in found if np.isfinite(e.moved)), default=widest)
    lost = [abs(e.value) for e in found if not np.isfinite(e.moved) and ROOM * abs(e.value) < known]
    if not lost and not any(_moving(e) and abs(e.value) <= radius for e in found):
        return found
    if p.zeros:  # no circle parts them from these
        return [replace(e, error=max(2 * abs(e.value), TINY), moved=0.0) for e in found]
    radius = max([radius, *lost])
    near, others = ([e for e in found if (abs(e.value) <= radius) == is_near] for is_near in (True, False))
    made = _parted(p, near, others, 0j, radius, radius, widest)
    if made is None or sum(len(each.N) * (2 if each.centre.imag else 1) for each in made) != len(_all(near)):
        return found
    alone = [each for each in made if len(each.N) == 1 and abs(each.centre) > each.error]
    begun = [start(p, each.centre) for each in alone]  # one by one they are known better
    return _of_blocks([each for each in made if each not in alone], family) + begun + others


def _parted(
    p: Polynomial,
    group: Sequence[Eigenvalue],
    others: Sequence[Eigenvalue],
    middle: complex,
    spread: float,
    around: float,
    widest: float,
) -> list[Block] | None:
    """Blocks of a group, if a circle parts it from the others."""
    outside = np.append(_all(others), np.zeros(min(p.zeros, 1)))
    if middle.imag:
        outside = np.append(outside, [e.value.conjugate() for e in group])
    # Around zero as far as there is room: near it soft parts are lost in stiff ones.
    farthest = max(widest, FARTHEST * around) if around > abs(middle) else max(abs(middle), ROOM * spread) or 1.0
    away = float(np.abs(outside - middle).min(initial=farthest))
    return blocks(p, middle, spread, away) if spread < away else None


def _sought(p: Polynomial, s: Complex, known: Complex) -> list[Eigenvalue]:
    """As many eigenvalues as there are starts s, none of them one of the ``known``."""
    s = s * (1 + 1e-2 * np.exp(1j * (1 + np.arange(len(s)))))
    for _ in range(SEARCHES):
        steps = [0j] * len(s)
        for i in range(len(s)):
            steps[i] = _aberth(p, s[i : i + 1], np.concatenate([known, np.delete(s, i)]))[0]
            s[i] += steps[i]
        if (np.abs(steps) <= NEAR * np.abs(s)).all():
            break
    s = np.where(np.abs(s.imag) <= NEAR * np.abs(s), s.real, s)
    return [start(p, z) for z in s if z.imag >= 0]


def _sure(p: Polynomial, s: complex, every: Complex, widest: float) -> float:
    """Radius of such a circle around s with as many eigenvalues in it as are told there, of ``every`` one."""
    radius = _radius(p, s, [], widest)
    while radius < FARTHEST * widest:
        way = radius / 2 * np.exp(2j * np.pi * np.arange(CIRCLE) / CIRCLE)
        inside = np.einsum("nij,nji,n->", p.resolvent(s + way), p.at(s + way, 1), way).real / CIRCLE
        if inside > np.count_nonzero(np.abs(every - s) <= radius / 2) - 0.5:
            break
        radius = _radius(p, s, [], widest, GROWTH * radius)
    return radius


def _radius(p: Polynomial, centre: complex, group: list[Eigenvalue], widest: float, least: float = TINY) -> float:
    """Radius of a circle around a group that no error of the entries lets an eigenvalue cross: its pseudospectrum."""
    reach = [abs(e.value - centre) for e in group]
    radius = max([*reach, ROUNDING * abs(centre), ROUNDING**2 * widest, least])
    while radius < FARTHEST * widest and not _holds(p, centre, radius):
        radius *= GROWTH
    return float(2 * radius)


def _holds(p: Polynomial, centre: complex, radius: float) -> bool:
    """Whether no error of the entries lets an eigenvalue cross a circle."""
    with np.errstate(all="ignore"):
        points = centre + max(radius, TINY) * np.exp(2j * np.pi * np.arange(CIRCLE) / CIRCLE)
        gain = np.abs(p.resolvent(points)) @ p.error(points)
    return bool(np.isfinite(gain).all() and np.abs(np.linalg.eigvals(gain)).max() < 0.5)
