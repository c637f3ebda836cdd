"""Eigenvalues of A0 + s A1 + s^2 A2 with error bounds: none lost, small ones as right as the entries allow.

Rough ones are refined by inverse iteration from both sides and the Rayleigh quotient, whose residual is computed in
extended precision; those too near to each other for that on their common space. Where two have met at one eigenvalue,
the one that is lacking is found by Aberth's method, which divides the others out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Complex = npt.NDArray[np.complex128]

ROUNDING = float(np.finfo(float).eps)
# Eigenvalues nearer to each other than these shares of their size are refined together, at first and later on.
NEAR, NEARER = 1e-8, 1e-12
# Refined far enough: the last step as a share of the eigenvalue.
SETTLED = 1e-14
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


@dataclass(frozen=True)
class Polynomial:
    """sum s^k A_k of real n x n matrices, with bounds of the errors of their entries."""

    matrices: Sequence[Array]
    errors: Sequence[Array]

    def at(self, s: Complex, derivative: int = 0) -> Complex:
        """Values (N, n, n) at s (N,), or first derivatives by s."""
        powers = range(derivative, len(self.matrices))
        factors = [(k if derivative else 1) * s[:, None, None] ** (k - derivative) for k in powers]
        return np.asarray(sum(f * self.matrices[k] for f, k in zip(factors, powers, strict=True)))

    def size(self, s: Complex) -> Array:
        """sum |s|^k |A_k| (N, n, n), to measure residuals by."""
        return np.asarray(sum(np.abs(s)[:, None, None] ** k * np.abs(A) for k, A in enumerate(self.matrices)))

    def error(self, s: Complex) -> Array:
        """Bounds of the errors of the entries (N, n, n) at s."""
        return np.asarray(sum(np.abs(s)[:, None, None] ** k * E for k, E in enumerate(self.errors)))

    def resolvent(self, s: Complex) -> Complex:
        """Inverses (N, n, n) at s."""
        scale = self._scale(s)
        values = self.at(s) * scale[:, :, None] * scale[:, None, :]
        return np.asarray(_inverse(values) * scale[:, :, None] * scale[:, None, :])

    def _scale(self, s: Complex) -> Array:
        """Powers of two (N, n) that bring the diagonal of ``size`` to one."""
        diagonal = np.diagonal(self.size(s), axis1=1, axis2=2)
        return np.exp2(-np.round(np.log2(np.maximum(diagonal, np.finfo(float).tiny)) / 2))

    @cached_property
    def _wide(self) -> list[npt.NDArray[np.longdouble]]:
        return [A.astype(np.longdouble) for A in self.matrices]

    def residual(self, s: Complex, X: Complex, left: bool = False) -> npt.NDArray[np.clongdouble]:
        """L(s_i) x_i in extended precision, for columns of X (n, N) and s (N,) or one s for all; or L(s_i)^H x_i."""
        total, z = np.zeros(X.shape, dtype=np.clongdouble), s.astype(np.clongdouble)
        parts = X.real.astype(np.longdouble), X.imag.astype(np.longdouble)
        for A in reversed(self._wide):
            A = A.T if left else A
            total = total * (z.conj() if left else z) + (A @ parts[0] + 1j * (A @ parts[1]))
        return total

    def bordered(self, s: Complex, count: int) -> Bordered:
        """Solutions of the bordered systems at s (N,), regular where ``count`` eigenvalues are near, once refined."""
        n, scale = len(self.matrices[0]), self._scale(s)
        # Borders in general position: nothing in a robot is like them.
        B, C = np.cos(np.arange(1, 2 * n * count + 1) ** 2 * 0.7).reshape(2, n, count) / np.sqrt(n)
        whole = np.zeros((len(s), n + count, n + count), dtype=complex)
        whole[:, :n, :n] = self.at(s) * scale[:, :, None] * scale[:, None, :]
        whole[:, :n, n:], whole[:, n:, :n] = B, C.T
        H = _inverse(whole)
        sides = []
        for left, border in ((False, B), (True, C)):
            h = H.conj().transpose(0, 2, 1) if left else H
            solution = h[:, :, n:].copy()
            for k in range(count):  # of L x + b t = 0 with c^T x = 1
                x, t = scale * solution[:, :n, k], solution[:, n:, k]
                rest = scale * self.residual(s, x.T, left).T + (border @ t.T).T
                solution[:, :, k] -= np.einsum("nij,nj->ni", h[:, :, :n], rest.astype(complex))
            sides.append(solution)
        X, Y = (scale[:, :, None] * side[:, :n] for side in sides)
        return Bordered(X, Y, sides[0][:, n:], scale[:, :, None] * H[:, :n, :n] * scale[:, None, :])


@dataclass(frozen=True)
class Bordered:
    """Spaces X (N, n, m), Y of vectors with L X + B T = 0, Y^H L + T C^T = 0 and C^T X = Y^H B = 1; T (N, m, m) = 0 at
    an eigenvalue. ``rest`` (N, n, n): a change dL of the matrix changes X by -rest dL X.
    """

    X: Complex
    Y: Complex
    T: Complex
    rest: Complex


def _inverse(values: Complex) -> Complex:
    """Inverses (N, n, n); of matrices that are singular to the last bit, those of matrices a rounding away."""
    try:
        return np.asarray(np.linalg.inv(values))
    except np.linalg.LinAlgError:
        if len(values) > 1:
            return np.concatenate([_inverse(each[None]) for each in values])
    away = ROUNDING * np.random.default_rng(0).standard_normal(values.shape)
    return _inverse(values + away)


@dataclass(frozen=True, eq=False)
class Eigenvalue:
    """One eigenvalue s with vectors, L(s) x = 0 and y^H L(s) = 0.

    A change dL changes x by -rest dL x, y^H by -y^H dL rest. ``error`` bounds |ds|, to first order in the errors of the
    entries; ``moved`` is the last step towards it; ``group`` numbers those that cannot be told apart.
    """

    value: complex
    right: Complex
    left: Complex
    rest: Complex
    error: float = np.inf
    moved: float = np.inf
    group: int = 0


def eigenvalues(polynomial: Polynomial, starts: Complex) -> list[Eigenvalue]:
    """All eigenvalues from as many rough ones, conjugates included; of complex pairs the upper ones are returned."""
    found = [_start(polynomial, s) for s in starts if s.imag >= 0]
    for sweep in range(SWEEPS):
        if sweep and sweep % PATIENCE == 0:
            lost = [e for e in found if _moving(e)]
            found = [e for e in found if not _moving(e)]
            found += _sought(polynomial, _all(lost), _all(found))
        groups = near(found)
        moving = [any(map(_moving, group)) for group in groups]
        if not any(moving):
            break
        alone = [g[0] for g, moves in zip(groups, moving, strict=True) if moves and _count(g) == 1]
        rest = [e for g, moves in zip(groups, moving, strict=True) if not moves for e in g]
        together = [g for g, moves in zip(groups, moving, strict=True) if moves and _count(g) > 1]
        found = rest + _alone(polynomial, alone, found)
        for i, group in enumerate(together):
            waiting = [e for later in together[i + 1 :] for e in later]
            found += _together(polynomial, group, found + waiting)
    if sum(2 if e.value.imag > 0 else 1 for e in found) != len(starts):  # never met; rather rough than none
        found = [replace(_start(polynomial, s), error=abs(s), moved=0.0) for s in starts if s.imag >= 0]
    numbered = [replace(e, group=i) for i, group in enumerate(near(found, 0.0)) for e in group]
    return [replace(e, error=e.error if np.isfinite(e.error) else abs(e.value)) for e in numbered]


def _start(p: Polynomial, s: complex) -> Eigenvalue:
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


def _alone(p: Polynomial, group: Sequence[Eigenvalue], found: Sequence[Eigenvalue]) -> list[Eigenvalue]:
    """A step for eigenvalues that are apart from all others."""
    if not group:
        return []
    s = np.array([e.value for e in group])
    near_by = p.bordered(s, 1)
    X, Y = _unit(near_by.X[:, :, 0].T), _unit(near_by.Y[:, :, 0].T)
    slope = np.einsum("in,nij,jn->n", Y.conj(), p.at(s, 1), X)
    step = -np.asarray((Y.conj() * p.residual(s, X)).sum(axis=0) / slope).astype(complex)
    errors = np.einsum("in,nij,jn->n", np.abs(Y), p.error(s), np.abs(X)) / np.abs(slope)
    far = ~(np.abs(step) <= FAR * np.abs(s))
    if far.any():  # the start was poor
        step[far] = _aberth(p, s[far], _all(found))
        errors[far] = np.inf
    step = np.where(s.imag == 0, step.real, step)
    values = s + step
    return [
        Eigenvalue(complex(z.real, abs(z.imag)), x, y, rest, float(error), float(abs(d)))
        for z, x, y, rest, error, d in zip(values, X.T, Y.T, near_by.rest, errors, step, strict=True)
    ]


def _unit(X: Complex) -> Complex:
    """Columns with their largest entry one."""
    return np.asarray(X / X[np.abs(X).argmax(axis=0), np.arange(X.shape[1])])


def _aberth(p: Polynomial, s: Complex, others: Complex) -> Complex:
    """Newton's steps for the determinant with the ``others`` divided out; those that are s itself do not count."""
    rate = np.einsum("nij,nji->n", p.resolvent(s), p.at(s, 1))
    apart = s[:, None] - others[None, :]
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
    X, Y = near_by.X[0], near_by.Y[0]
    if np.abs(near_by.T).max() <= COMMON:
        T = (Y.conj().T @ p.residual(s, X)).astype(complex)
        T1 = Y.conj().T @ p.at(s, 1)[0] @ X
        if real:
            T, T1 = T.real, T1.real
        steps, W = np.linalg.eig(np.linalg.solve(T1, -T))
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
            right, left = _unit(X @ W), _unit(rows.conj().T)
            return [
                Eigenvalue(
                    complex(centre + d), right[:, i], left[:, i], near_by.rest[0], float(errors[i]) + lacking, moved[i]
                )
                for i, d in enumerate(steps)
                if not real or d.imag >= 0
            ]
    lost = count - _inside(p, centre, group, others, count)
    if lost > 0:
        return _search(p, group, others, lost)
    radius = _radius(p, centre, group)
    best = np.linalg.svd(near_by.T[0])
    x, y = _unit(X @ best[2][-1:].conj().T)[:, 0], _unit(Y @ best[0][:, -1:])[:, 0]
    return [replace(e, right=x, left=y, rest=near_by.rest[0], error=radius, moved=0.0) for e in group]


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
    return [_start(p, z) for z in s if z.imag >= 0]


def _radius(p: Polynomial, centre: complex, group: list[Eigenvalue]) -> float:
    """Radius of a circle around a group that no error of the entries lets an eigenvalue cross: its pseudospectrum."""
    radius = max(max(abs(e.value - centre) for e in group), ROUNDING * abs(centre))
    turn = np.exp(2j * np.pi * np.arange(CIRCLE) / CIRCLE)
    while radius < abs(centre):
        points = centre + radius * turn
        gain = np.abs(p.resolvent(points)) @ p.error(points)
        if np.abs(np.linalg.eigvals(gain)).max() < 0.5:
            break
        radius *= GROWTH
    return float(2 * radius)
