"""Eigenvalues that are near each other, as one: an invariant pair (Gohberg, Lancaster and Rodman; Beyn).

Inside a circle around a group P(s)^-1 = X (s - c - N)^-1 Y^H + what is regular, N with as many rows as there are
eigenvalues. Moments of the resolvent on the circle give X, N and Y whether the group is semisimple or defective, and
errors of the entries move N by no more than |Y^H| |dP| |X|. What these may bring together cannot be told apart.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kronbot.floats import Array, all_finite
from kronbot.mechanics.linear.matrix_polynomial import ROUNDING, Numbers, Polynomial, inverse
from kronbot.records import dataclass

Complex = npt.NDArray[np.complex128]

# Points on a circle around a group, which it has to leave that many times its own spread on both sides.
POINTS, ROOM = 32, 4.0
# Points on a circle on which it is looked whether errors carry an eigenvalue across, how it grows, and how finely.
CIRCLE, GROWTH, FINELY, SURE = 16, 4.0, 5, 0.9
PI = 4 * np.arctan(np.longdouble(1))
# How often a block is corrected by its residual.
CORRECTIONS = 4
# What the number of eigenvalues inside a circle may be off from a whole one.
WHOLE = 1e-3


@dataclass(frozen=True, eq=False)
class Block:
    """Eigenvalues of one group: those of N (m, m) from a ``centre``, with X (n, m) and Y (n, m).

    A change dP of the entries adds -Y^H dP X to N, up to ``moved``, -rest dP X to X and -Y^H dP rest to Y^H: ``rest``
    and the bounds of |dP X| and |dP^T Y|, ``spread``, are for right and left vectors. ``scale`` is a size of N that
    matters: that of the eigenvalue, or the way to others. All eigenvalues stay within ``error`` of the centre.
    """

    centre: complex
    N: Complex
    X: Complex
    Y: Complex
    rest: tuple[Complex, Complex]
    spread: tuple[Array, Array]
    moved: Array
    scale: float
    error: float

    def vectors(self) -> tuple[Complex, Complex]:
        """Right and left vectors (n, m) of its eigenvalues; a defective one has fewer, again and again."""
        U, sizes, Vh = np.linalg.svd(all_finite(self.N))
        own = max(1, int((sizes <= 2 * np.linalg.norm(self.moved)).sum()))
        if own == len(sizes):
            return self.X, self.Y
        again = -1 - np.arange(len(sizes)) % own
        return self.X @ Vh[again].conj().T, self.Y @ U[:, again]


def blocks(p: Polynomial, centre: complex, spread: float, away: float, equal: bool = False) -> list[Block] | None:
    """All eigenvalues within a spread of a centre, others being further away, in blocks that can be told apart.

    None where no circle parts them from others, or their errors have no bound. Of a real centre those of the lower half
    plane are left out. Where they are known to be ``equal`` they are one.
    """
    real, n = centre.imag == 0, len(p.matrices[0])
    radius = away / ROOM if spread * ROOM**2 <= away else float(np.sqrt(spread * away))
    turn = np.exp(2j * PI * (np.arange(POINTS // (1 + real)) + np.longdouble(0.5)) / POINTS)
    scale = p.scale(np.array([abs(centre) + radius]))[0]
    sides = scale[:, None] * scale
    H, slope = _resolvent(p, centre + radius * turn, sides)

    def mean(values: Numbers) -> Numbers:
        total = values.sum(axis=0) / POINTS
        return np.asarray(2 * total.real if real else total)

    number = float(np.real(mean(np.einsum("zij,zji->z", H, slope) * radius * turn)))
    many = int(np.round(number)) if np.isfinite(number) else 0
    if abs(number - many) > WHOLE or not 0 < many <= 2 * n:
        return None
    A = [radius * mean(H * (turn ** (k + 1))[:, None, None]) for k in range(4)]
    first, second = np.block([[A[0], A[1]], [A[1], A[2]]]), np.block([[A[1], A[2]], [A[2], A[3]]])
    U, _, Vh = np.linalg.svd(all_finite(first.astype(float if real else complex)))
    U, V = U[:, :many].conj().T, Vh[:many].conj().T
    # In the wide numbers of the moments: eigenvalues of a defective N are roots of its errors.
    core = U @ first @ V
    within = np.linalg.inv(core.astype(U.dtype))
    within = within + within @ (np.eye(many) - core @ within)
    N = radius * (U @ second @ V) @ within
    at = complex(centre + np.trace(N) / many)
    N = (N - (at - centre) * np.eye(many)).astype(complex)
    X = scale[:, None] * (first[:n] @ V @ within).astype(complex)
    Y = scale[:, None] * (U @ first[:, :n]).conj().T.astype(complex)
    rest = sides * mean(H).astype(complex)
    X, N, left_over = _corrected(p, at, N, X, Y, rest)
    middle = complex(at + np.trace(N) / many)
    at, N = middle, N - (middle - at) * np.eye(many)
    reach = np.abs(N) + abs(at) * np.eye(many)
    turned = sum(E @ np.abs(X) @ np.linalg.matrix_power(reach, k) for k, E in enumerate(p.all_errors))
    spread_out = p.error(np.array([at]))[0]
    moved = np.abs(Y.T) @ (turned + spread_out @ np.abs(rest) @ turned) + 16 * ROUNDING * np.abs(N).max() + left_over
    if not np.isfinite(np.linalg.norm(moved)):
        return None
    return _Whole(at, N, X, Y, rest, spread_out, moved, max(abs(at), radius)).parts(bool(real), equal)


def _corrected(
    p: Polynomial, at: complex, N: Complex, X: Complex, Y: Complex, rest: Complex
) -> tuple[Complex, Complex, Array]:
    """X and N without what rounding on the circle did where stiff parts hide soft ones, and what may be left of N."""
    left_over = np.full(N.shape, np.inf)
    for _ in range(CORRECTIONS):
        residual = p.residual_of_pair(X, N + np.clongdouble(at) * np.eye(len(N)))
        off = (Y.conj().T @ residual).astype(complex)
        if not np.abs(off).max() < 0.5 * left_over.max():
            break
        X, N, left_over = X - (rest @ residual).astype(complex), N - off, np.abs(off)
    return X, N, left_over


def _resolvent(p: Polynomial, z: Numbers, sides: Array) -> tuple[Numbers, Numbers]:
    """Inverses of the scaled P at wide z (N,), nearly as exact as these, and P' there."""
    P, slope = p.at(z), p.at(z, 1)
    P, slope = P * sides, slope * sides
    H = inverse(P.astype(complex))
    with np.errstate(all="ignore"):
        rest = (np.eye(P.shape[1]) - P @ H).astype(complex)
        return H.astype(np.clongdouble) + H @ rest, slope


@dataclass(frozen=True, eq=False)
class _Whole:
    """All eigenvalues inside a circle around a centre, those of N."""

    centre: complex
    N: Complex
    X: Complex
    Y: Complex
    rest: Complex
    spread: Array
    moved: Array
    scale: float

    def parts(self, real: bool, equal: bool) -> list[Block]:
        """Blocks that errors keep apart. Of a ``real`` N those of the lower half plane are left out."""
        values = np.linalg.eigvals(self.N.real if real else self.N).astype(complex)
        near = np.abs(values[:, None] - values) <= np.linalg.norm(self.moved) + ROUNDING * abs(self.centre)
        near |= equal
        while True:
            labels = connected(np.asarray(near))
            sets = [labels == label for label in np.unique(labels)]
            means = np.array([values[own].mean() for own in sets])
            reach = [self._reach(s, np.abs(values[own] - s).max()) for s, own in zip(means, sets, strict=True)]
            met = np.abs(means[:, None] - means) <= np.add.outer(reach, reach)
            if np.count_nonzero(met) == len(sets):
                break
            place = np.unique(labels, return_inverse=True)[1]
            near = met[place][:, place]
        made = []
        for own, s, error in zip(sets, means, reach, strict=True):
            alone = real and abs(s.imag) <= error  # with the conjugates of all of its eigenvalues
            if alone or not real or s.imag > 0:
                made.append(self._part(values, own, s.real if alone else s, error, alone))
        return made

    def _reach(self, s: complex, start: float) -> float:
        """Radius of a circle around s, beyond a start, that no change of N by ``moved`` lets an eigenvalue cross, with
        what rounding leaves of the eigenvalue itself.
        """
        own = ROUNDING * abs(self.centre)
        if len(self.N) == 1:
            return float(self.moved[0, 0] + own)
        turn, size = np.exp(2j * np.pi * np.arange(CIRCLE) / CIRCLE)[:, None, None], float(np.linalg.norm(self.moved))

        def parts(radius: float) -> bool:
            with np.errstate(all="ignore"):
                gain = np.abs(inverse((s + radius * turn) * np.eye(len(self.N)) - self.N)) @ self.moved
            return bool(np.isfinite(gain).all() and np.abs(np.linalg.eigvals(gain)).max() < SURE)

        low = high = max(start, 1e-3 * size, np.finfo(float).tiny)
        while not parts(high):
            low, high = high, GROWTH * high
        for _ in range(FINELY * (high > low)):
            between = float(np.sqrt(low * high))
            low, high = (low, between) if parts(between) else (between, high)
        return float(high + own)

    def _part(self, values: Complex, own: npt.NDArray[np.bool_], s: complex, error: float, real: bool) -> Block:
        """The block of some eigenvalues, by the Schur form with these first."""
        count, N, X, rows, rest, moved = int(own.sum()), self.N, self.X, self.Y.conj().T, self.rest, self.moved
        if count < len(own):
            from scipy.linalg import schur, solve_sylvester

            nearest = np.sort(np.abs(values - s))
            limit = (nearest[count - 1] + nearest[count]) / 2
            T, Z, _ = schur(all_finite(N), output="complex", sort=lambda z: abs(z - s) <= limit)
            first, others = Z[:, :count], Z[:, count:]
            R = solve_sylvester(T[:count, :count], -T[count:, count:], -T[:count, count:])
            within = np.linalg.solve(s * np.eye(len(own) - count) - T[count:, count:], others.conj().T)
            rest = rest + X @ (first @ R + others) @ within @ rows
            right, left = first, first.conj().T - R @ others.conj().T
            if real:
                right = np.linalg.svd(all_finite(np.hstack([first.real, first.imag])))[0][:, :count].astype(complex)
                left = np.linalg.solve(left @ right, left).real
            N, X, rows, moved = left @ N @ right, X @ right, left @ rows, np.abs(left) @ moved @ np.abs(right)
        N = N - s * np.eye(count)
        Y, spread = rows.conj().T, (self.spread @ np.abs(X), self.spread.T @ np.abs(rows.T))
        return Block(self.centre + s, N, X, Y, (rest, rest), spread, moved, self.scale, error)


def connected(near: npt.NDArray[np.bool_]) -> npt.NDArray[np.intp]:
    """Labels of what is connected by what is near: the lowest place of each set."""
    labels, old = np.arange(len(near)), np.full(len(near), -1)
    while (labels != old).any():
        labels, old = np.where(near | near.T, labels, len(near)).min(axis=1, initial=len(near)), labels
    return labels
