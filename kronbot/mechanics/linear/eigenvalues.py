"""Eigenvalues of A0 + s A1 + s^2 A2 with error bounds: none lost, small ones as right as the entries allow.

Rough ones are refined by inverse iteration from both sides and the Rayleigh quotient, whose residual is computed in
extended precision; those too near to each other for that on their common space. Where two have met at one eigenvalue,
the one that is lacking is found by Aberth's method, which divides the others out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, repeat

import numpy as np
import numpy.typing as npt

from kronbot.floats import Array
from kronbot.mechanics.linear.matrix_polynomial import ROUNDING, Polynomial
from kronbot.mechanics.linear.refinement import SETTLED, Steps, refined, unit

Complex = npt.NDArray[np.complex128]

# Eigenvalues nearer to each other than these shares of their size are refined together, at first and later on.
NEAR, NEARER = 1e-8, 1e-12
# Steps, after how many of them those still on their way are sought one by one, and steps of that search.
SWEEPS, PATIENCE, SEARCHES = 36, 12, 60
# A quotient that leads further than this share of the eigenvalue does not lead to the nearest one.
FAR = 0.05
# As many vectors as eigenvalues span a common space where this little is left of the equilibrated matrix on it.
COMMON = 1e-5
# Vectors of a common space with a larger condition number are those of a defective eigenvalue.
DEFECTIVE = 1e6
# Points on a circle around a group, and how it grows until no error of the entries carries an eigenvalue across it.
CIRCLE, GROWTH = 16, 2.0


@dataclass(frozen=True, eq=False)
class Eigenvalue:
    """One eigenvalue s with vectors, L(s) x = 0 and y^H L(s) = 0.

    A change dL changes x by -rest dL x, y^H by -y^H dL rest. ``error`` bounds |ds|, to first order in the errors of the
    entries; ``moved`` is the last step towards it. ``shared`` eigenvalues were refined on one space (0: not yet on
    its own), their vectors are a basis of it; ``group`` numbers these.
    """

    value: complex
    right: Complex
    left: Complex
    rest: Complex
    error: float = np.inf
    moved: float = np.inf
    shared: int = 1
    group: int = 0


def eigenvalues(polynomial: Polynomial, starts: Complex, found: list[Eigenvalue]) -> list[Eigenvalue]:
    """All eigenvalues from as many rough ones, conjugates included; of complex pairs the upper ones are returned.

    ``found`` are these as far as they are known.
    """
    for sweep in range(SWEEPS):
        if sweep and sweep % PATIENCE == 0:
            lost = [e for e in found if _moving(e)]
            found = [e for e in found if not _moving(e)]
            found += _sought(polynomial, _all(lost), _all(found))
        groups = near(found)
        # Vectors of a space that is larger than it must be are mixed with those of others.
        moving = [any(_moving(e) or e.shared != _count(group) for e in group) for group in groups]
        if not any(moving):
            break
        alone = [g[0] for g, moves in zip(groups, moving, strict=True) if moves and _count(g) == 1]
        rest = [e for g, moves in zip(groups, moving, strict=True) if not moves for e in g]
        together = [g for g, moves in zip(groups, moving, strict=True) if moves and _count(g) > 1]
        found = rest + _alone(polynomial, alone, found)
        for i, group in enumerate(together):
            waiting = [e for later in together[i + 1 :] for e in later]
            found += _together(polynomial, group, found + waiting)
    found = _complete(polynomial, found, starts)
    return [replace(e, group=i) for i, group in enumerate(near(found)) for e in group]


def _complete(p: Polynomial, found: list[Eigenvalue], starts: Complex) -> list[Eigenvalue]:
    """Those that have settled; the others as rough as they are, with errors that say so."""
    settled = [e for e in found if not _moving(e)]
    rough = [e for e in found if _moving(e)]
    if len(_all(found)) != len(starts):
        left = list(starts)
        for s in _all(settled)[: len(starts)]:
            left.remove(min(left, key=lambda z: abs(z - s) / max(abs(z), abs(s), 1e-300)))
        if len(_all(settled)) > len(starts):
            settled, left = [], list(starts)
        pairs = {z for z in left if z.imag > 0 and z.conjugate() in left}
        alone = [complex(z.real) for z in left if z not in pairs and z.conjugate() not in pairs]
        rough = [start(p, z) for z in [*(z for z in left if z in pairs), *alone]]
    widest = float(np.abs(starts).max(initial=0.0))
    return settled + [replace(e, error=max(abs(e.value), _radius(p, e.value, [e], widest)), moved=0.0) for e in rough]


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
    labels, old = np.arange(len(found)), np.full(len(found), -1)
    while (labels != old).any():  # what is close to each other takes the lowest label
        labels, old = np.where(close | close.T, labels, len(found)).min(axis=1, initial=len(found)), labels
    return [[found[i] for i in np.flatnonzero(labels == label)] for label in np.unique(labels)]


def _reach(e: Eigenvalue, share: float = NEAR) -> float:
    known = np.isfinite(e.error)
    return max(min(share, NEARER) * abs(e.value), 4 * e.error) if known else share * abs(e.value)


def _moving(e: Eigenvalue) -> bool:
    return not np.isfinite(e.error) or e.moved > max(SETTLED * abs(e.value), 0.1 * e.error)


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


def advanced(p: Polynomial, after: Steps, shared: int, settled: Iterable[bool] = ()) -> list[Eigenvalue]:
    """Eigenvalues after a step, settled or not; those that it led far away begin again where they were."""
    done = chain(settled, repeat(False))
    return [
        Eigenvalue(complex(z.real, abs(z.imag)), x, y, rest, float(error), 0.0 if end else float(abs(z - s)), shared)
        if abs(z - s) <= FAR * abs(s)
        else start(p, s)
        for (s, z, x, y, rest, error, _), end in zip(zip(*after, strict=True), done, strict=False)
    ]


def _alone(p: Polynomial, group: Sequence[Eigenvalue], found: Sequence[Eigenvalue]) -> list[Eigenvalue]:
    """A step for eigenvalues that are apart from all others."""
    if not group:
        return []
    known = [e for e in group if np.isfinite(e.error)]
    if 0 < len(known) < len(group):
        return _alone(p, known, found) + _alone(p, [e for e in group if e not in known], found)
    vectors = [np.array([getattr(e, side) for e in group]) if known else None for side in ("right", "left")]
    made = advanced(p, refined(p, np.array([e.value for e in group]), *vectors), len(known[:1]))
    s = np.array([e.value for e in made if np.isinf(e.error)])
    if len(s):  # the starts were poor
        step = _aberth(p, s, _all(found))
        s = s + np.where(s.imag == 0, step.real, step)
    poor = [start(p, complex(z.real, abs(z.imag))) for z in s]
    return [e for e in made if np.isfinite(e.error)] + poor


def _aberth(p: Polynomial, s: Complex, others: Complex) -> Complex:
    """Newton's steps for the determinant with the ``others`` divided out; those that are s itself do not count."""
    rate = np.einsum("nij,nji->n", p.resolvent(s), p.at(s, 1))
    apart = s[:, None] - np.append(others, np.zeros(p.zeros))
    with np.errstate(all="ignore"):
        pull = np.where(apart == 0, 0.0, 1 / apart).sum(axis=1)
        step = -1 / (rate - pull)
    return np.where(np.isfinite(step), step, 0.0)


def _together(p: Polynomial, group: list[Eigenvalue], others: list[Eigenvalue]) -> list[Eigenvalue]:
    """A step for eigenvalues that are near each other, on the space of all of them."""
    count, real = _count(group), any(map(_on_axis, group))
    centre = complex(np.mean([e.value for e in group]))
    centre = complex(centre.real) if real else centre
    s = np.array([centre])
    near_by = p.bordered(s, count)
    if np.abs(near_by.T).max() <= COMMON:
        near_by = p.bordered(s, count, (near_by.X, near_by.Y))
        X = _basis(near_by.X[0], p.scale(s)[0])
        Y = p.left(X, _basis(near_by.Y[0], p.scale(s)[0]))
        T = (Y.conj().T @ p.residual(s, X)).astype(complex)
        T1 = Y.conj().T @ p.at(s, 1)[0] @ X
        if real:
            T, T1 = T.real, T1.real
        steps, W = _reduced(T, T1, p.symmetric)
        if np.linalg.cond(W) < DEFECTIVE and np.abs(steps).max() <= FAR * abs(centre):
            # Of the vectors that the space lacks, from the nearest eigenvalue outside.
            away = np.abs(_all(others) - centre).min(initial=np.inf)
            lacking = float(np.abs(steps).max() ** 2 / away) if away else 0.0
            moved = [max(lacking, min(abs(centre + d - e.value) for e in group)) for d in steps]
            rows = np.linalg.solve(T1 @ W, Y.conj().T)
            spread = np.abs(rows) @ p.error(s)[0] @ np.abs(X @ W)
            # Gershgorin's circles around them; alone where they do not meet.
            first, whole = np.diagonal(spread), spread.sum(axis=1)
            apart = np.array([np.delete(np.abs(steps - d), i).min() for i, d in enumerate(steps)])
            errors = np.where(apart > 4 * whole.max(), first + whole * whole.max() / np.maximum(apart, 1e-300), whole)
            right, left, errors = unit(X @ W), unit(rows.conj().T), errors + lacking
            return [
                Eigenvalue(
                    complex(centre + d), right[:, i], left[:, i], near_by.rest[0], float(errors[i]), moved[i], count
                )
                for i, d in enumerate(steps)
                if not real or d.imag >= 0
            ]
    lost = count - _inside(p, centre, group, others, count)
    if lost > 0:
        return _search(p, group, others, lost)
    radius = _radius(p, centre, group, abs(centre))
    best = np.linalg.svd(near_by.T[0])
    x = unit(near_by.X[0] @ best[2][-1:].conj().T)
    y = unit(p.left(x, near_by.Y[0] @ best[0][:, -1:]))
    common = Eigenvalue(centre, x[:, 0], y[:, 0], near_by.rest[0], radius, 0.0, count)
    return [replace(common, value=e.value) for e in group]


def _basis(X: Complex, scale: Array) -> Complex:
    """An orthonormal basis of the columns of X (n, m), in coordinates of equal size."""
    return np.asarray(scale[:, None] * np.linalg.qr(X / scale[:, None])[0])


def _reduced(T: Complex, T1: Complex, symmetric: bool) -> tuple[Complex, Complex]:
    """Steps d and vectors w with (T + d T1) w = 0; of real symmetric T and T1 > 0 real ones, orthonormal by T1."""
    if symmetric and not np.iscomplexobj(T):
        try:
            inverse = np.linalg.inv(np.linalg.cholesky((T1 + T1.T) / 2))
        except np.linalg.LinAlgError:
            pass
        else:
            steps, turned = np.linalg.eigh(-inverse @ ((T + T.T) / 2) @ inverse.T)
            return steps.astype(complex), inverse.T @ turned
    steps, W = np.linalg.eig(np.linalg.solve(T1, -T))
    return steps, W


def _inside(p: Polynomial, centre: complex, group: list[Eigenvalue], others: list[Eigenvalue], count: int) -> int:
    """How many eigenvalues a circle around a group holds, by the principle of the argument; ``count`` if crowded."""
    spread = max(max(abs(e.value - centre) for e in group), NEAR * abs(centre))
    away = np.abs(np.append(_all(others), 2 * centre if centre else 1.0) - centre).min()
    if away < 16 * spread:
        return count
    offsets = np.sqrt(spread * away) * np.exp(2j * np.pi * (np.arange(CIRCLE) + 0.5) / CIRCLE)
    points = centre + offsets
    rate = np.einsum("nij,nji->n", p.resolvent(points), p.at(points, 1))
    return int(np.round((rate * offsets).mean().real))


def _search(p: Polynomial, group: list[Eigenvalue], others: list[Eigenvalue], lost: int) -> list[Eigenvalue]:
    """The group without those that met another one's eigenvalue, and the eigenvalues that were lacking instead."""
    real, centre = any(map(_on_axis, group)), group[0].value.real
    kept = [replace(group[0], value=complex(centre), moved=np.inf)] * (_count(group) - lost) if real else group[lost:]
    start = np.full(lost if real else 2 * lost, group[0].value)
    return kept + _sought(p, start, _all([*kept, *others]))


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


def _radius(p: Polynomial, centre: complex, group: list[Eigenvalue], widest: float) -> float:
    """Radius of a circle around a group that no error of the entries lets an eigenvalue cross: its pseudospectrum."""
    radius = max(max(abs(e.value - centre) for e in group), ROUNDING * abs(centre), ROUNDING**2 * widest)
    turn = np.exp(2j * np.pi * np.arange(CIRCLE) / CIRCLE)
    while radius < widest:
        points = centre + radius * turn
        with np.errstate(all="ignore"):
            gain = np.abs(p.resolvent(points)) @ p.error(points)
        if np.isfinite(gain).all() and np.abs(np.linalg.eigvals(gain)).max() < 0.5:
            break
        radius *= GROWTH
    return float(2 * radius)
