"""Second-order systems with uncertain entries, and how their poles at zero are taken out exactly.

Directions without stiffness are coordinates whose columns of L(s) = M s^2 + D s + K are multiples of s: divided out,
they leave a polynomial without these poles. Where a momentum is conserved with such a coordinate a row is a multiple
of s, too (Routh's reduction), and so on until nothing is singular at s = 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kronbot.cached import cached_property
from kronbot.floats import Array
from kronbot.mechanics.linear.eigenvalues import Eigenvalue
from kronbot.mechanics.linear.matrix_polynomial import ROUNDING, Polynomial, inverse

Complex = npt.NDArray[np.complex128]
Places = npt.NDArray[np.intp]


@dataclass(frozen=True)
class SecondOrder:
    """M y'' + D y' + K y = 0 with bounds of the errors of the entries, n x n each.

    ``free`` (n, r) are directions that K maps to zero, exactly; a column has its own entry 1 where the others have 0.
    """

    M: Array
    D: Array
    K: Array
    dM: Array
    dD: Array
    dK: Array
    free: Array

    @staticmethod
    def exact(M: Array, D: Array, K: Array) -> SecondOrder:
        """Matrices whose entries are right but for their last rounding; coordinates with zero columns in K are free."""
        dM, dD, dK = (ROUNDING * np.abs(A) for A in (M, D, K))
        return SecondOrder(M, D, K, dM, dD, dK, null_space(K, dK))

    @cached_property
    def symmetric(self) -> bool:
        """Whether forces have a potential: K is symmetric within the errors of its entries."""
        return bool((np.abs(self.K - self.K.T) <= 2 * (self.dK + self.dK.T)).all())

    @cached_property
    def reciprocal(self) -> bool:
        """Whether L(s) is symmetric: forces have a potential, and D is symmetric within the errors of its entries."""
        return self.symmetric and bool((np.abs(self.D - self.D.T) <= 2 * (self.dD + self.dD.T)).all())

    @cached_property
    def gyroscopic(self) -> bool:
        """Whether velocities take no energy: D is skew within the errors of its entries."""
        return bool((np.abs(self.D + self.D.T) <= 2 * (self.dD + self.dD.T)).all())


@dataclass(frozen=True, eq=False)
class Refined:
    """An eigenvalue of a polynomial, whose vectors are those of coordinates once multiplied by the lifts (n x n)."""

    eigenvalue: Eigenvalue
    polynomial: Polynomial
    lift_right: Complex
    lift_left: Complex

    def right_error(self, rows: Array) -> Array:
        """Bounds (k,) of what the errors of the entries change in ``rows`` (k x n) times x."""
        e = self.eigenvalue
        return np.asarray(np.abs(rows @ self.lift_right @ e.rest) @ (self._error() @ np.abs(e.right)))

    def left_error(self, columns: Array) -> Array:
        """Bounds (k,) of what they change in y^H times ``columns`` (n x k)."""
        e = self.eigenvalue
        return np.asarray(np.abs(e.left) @ self._error() @ np.abs(e.rest @ self.lift_left.conj().T @ columns))

    def _error(self) -> Array:
        return np.asarray(self.polynomial.error(np.array([self.eigenvalue.value]))[0])


def null_space(K: Array, dK: Array) -> Array:
    """Directions (n, r) that K (m x n) maps to zero within the errors of its entries, in echelon form, those of zero
    columns first."""
    n = K.shape[1]
    free = [j for j in range(n) if not K[:, j].any()]
    rest = [j for j in range(n) if j not in free]
    found = [np.eye(n)[:, free]]
    if rest:
        A, E = K[:, rest], dK[:, rest]
        rows, columns = equilibrium(A)
        _, sizes, Vh = np.linalg.svd(rows[:, None] * A * columns)
        limit = np.abs(rows[:, None] * E * columns).sum(axis=1).max() * 4 + 64 * ROUNDING * len(rest)
        count = int((sizes <= limit).sum())
        V = echelon(columns[:, None] * Vh[len(rest) - count :].T)[0]
        V[np.abs(V) <= 64 * len(V) * ROUNDING * np.abs(V).max(axis=0, initial=0.0)] = 0.0
        held = (np.abs(A @ V) <= 4 * (E + ROUNDING * np.abs(A)) @ np.abs(V)).all(axis=0)
        wide = np.zeros((n, int(held.sum())))
        wide[rest] = V[:, held]
        found.append(wide)
    return np.hstack(found)


def null_spaces(K: Array, dK: Array) -> list[Array]:
    """The same for many matrices (N, n, n); an inverse shows at once where there are no more than zero columns."""
    n = K.shape[1]
    found: list[Array | None] = [None] * len(K)
    zero = np.asarray(~K.any(axis=1))
    for columns in {each.tobytes(): each for each in zero}.values():
        places, rest = np.flatnonzero((zero == columns).all(axis=1)), np.flatnonzero(~columns)
        A, E = (B[places][:, rest][:, :, rest] for B in (K, dK))
        size = np.sqrt(np.abs(np.diagonal(A, axis1=1, axis2=2)))
        scale = 1 / np.where(size > 0, size, 1.0)
        limit = (scale[:, :, None] * E * scale[:, None]).sum(axis=2).max(axis=1, initial=0.0) + ROUNDING * len(rest)
        try:
            within = np.linalg.inv(scale[:, :, None] * A * scale[:, None])
        except np.linalg.LinAlgError:
            continue
        for i in places[np.sqrt((within**2).sum(axis=(1, 2))) * limit < 1e-3].tolist():
            found[i] = np.eye(n)[:, columns]
    return [null_space(*each[1:]) if each[0] is None else each[0] for each in zip(found, K, dK, strict=True)]


def equilibrium(A: Array) -> tuple[Array, Array]:
    """Powers of two that bring rows and columns of A to the size one."""
    rows, columns = np.ones(A.shape[0]), np.ones(A.shape[1])
    for _ in range(4):
        B = np.abs(rows[:, None] * A * columns)
        high, wide = B.max(axis=1), B.max(axis=0)
        rows = rows * np.exp2(-np.round(np.log2(np.where(high > 0, high, 1.0)) / 2))
        columns = columns * np.exp2(-np.round(np.log2(np.where(wide > 0, wide, 1.0)) / 2))
    return rows, columns


def echelon(V: Array) -> tuple[Array, Places]:
    """The same space (n, r) with a unit matrix in rows of its own, and these rows (r,): no two columns share one."""
    V, rows = V.copy(), np.zeros(V.shape[1], dtype=np.intp)
    for k in range(V.shape[1]):
        left = np.abs(V[:, k:]) / np.maximum(np.abs(V[:, k:]).max(axis=0), np.finfo(float).tiny)
        rows[k], column = np.unravel_index(left.argmax(), left.shape)
        V[:, [k, k + int(column)]] = V[:, [k + int(column), k]]
        V[:, k] /= V[rows[k], k]
        others = [j for j in range(V.shape[1]) if j != k]
        V[:, others] -= np.outer(V[:, k], V[rows[k], others])
    return V, rows


@dataclass(frozen=True)
class Step:
    """Rows of a polynomial are combined, R (n x n) times them, and those that are ``divided`` (n,) by s."""

    R: Array
    divided: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Deflated:
    """A polynomial P without the poles at zero, of coordinates z: P(s) = steps T^T L(s) T diag(s^-columns), y = T z.

    ``columns`` are 1 for free directions, and ``counts`` (n,) says how many poles at zero each stands for.
    """

    polynomial: Polynomial
    T: Array
    steps: tuple[Step, ...]
    counts: npt.NDArray[np.int64]

    @property
    def columns(self) -> npt.NDArray[np.int64]:
        """By which power of s columns are divided (n,)."""
        return (self.counts > 0).astype(int)

    def refined(self, e: Eigenvalue) -> Refined:
        """The eigenvalue with the way back to the coordinates y."""
        right = e.value ** (self.columns.max(initial=0) - self.columns).astype(float)
        left = np.eye(len(self.T), dtype=complex)
        for step in reversed(self.steps):
            left = step.R.T @ (np.where(step.divided, 1.0, np.conj(e.value))[:, None] * left)
        return Refined(e, self.polynomial, (self.T * right).astype(complex), self.T.astype(complex) @ left)


def deflated(system: SecondOrder, degree: int) -> Deflated:
    """The polynomial in s (degree 2) or s^2 (degree 1) with its roots at zero divided out of columns, then of rows.

    The staircase of Van Dooren for the structure at zero: what is left at s = 0 is singular as long as there are more.
    """
    n = len(system.M)
    scale = np.exp2(-np.round(np.log2(np.diag(system.M)) / 2))
    T = np.diag(scale)
    directions, pivots = echelon(system.free / scale[:, None])
    T[:, pivots] = scale[:, None] * directions
    parts = [(system.K, system.dK), (system.D, system.dD), (system.M, system.dM)]
    if degree == 1:
        del parts[1]
    parts = [_congruent(A, E, T) for A, E in parts]
    held = pivots
    if system.symmetric:
        # Coordinates of the free ones in which those that meet nothing more stand alone, rows like columns.
        block = np.ix_(pivots, pivots)
        idle = null_space(parts[1][0][block].T, parts[1][1][block].T)
        whole = np.eye(n)
        whole[block] = _completed(idle)
        T, parts = T @ whole, [_congruent(A, E, whole) for A, E in parts]
        parts[0][0][pivots], parts[0][1][pivots] = 0, 0
    elif pivots.size:
        held = echelon(null_space(system.K.T, system.dK.T))[1][: len(pivots)]
    for A in parts[0]:
        A[:, pivots] = 0
    if system.reciprocal:
        parts = [((A + A.T) / 2, np.maximum(E, E.T)) for A, E in parts]
    counts = np.zeros(n, dtype=int)
    counts[pivots] = 1
    polynomial, steps = _divided(parts, counts > 0), []
    while len(held) == len(pivots) > 0:
        step, more = _staircase(polynomial, held, pivots)
        if not step.divided.any():
            break
        polynomial = _stepped(polynomial, step)
        steps.append(step)
        counts[more] += 1
    mixed = any((np.eye(n) != step.R).any() for step in steps)
    if system.reciprocal and not mixed:
        rows = np.array([step.divided for step in steps]).reshape(-1, n).sum(axis=0)
        polynomial = Polynomial(polynomial.matrices, polynomial.errors, rows - (counts > 0))
    return Deflated(polynomial, T, tuple(steps), counts)


def _completed(directions: Array) -> Array:
    """Directions (r, k) in echelon form in the places of their pivots, unit vectors in the others (r x r)."""
    turn = np.eye(len(directions))
    directions, pivots = echelon(directions)
    turn[:, pivots] = directions
    return turn


def _staircase(p: Polynomial, held: Places, free: Places) -> tuple[Step, Places]:
    """Combinations of rows that are zero at s = 0, to be divided by s; and which free columns meet nothing there.

    Rows ``held`` are those of forces that no stiffness makes, columns ``free`` those of free directions; the others
    make a regular block A, and what is singular is its Schur complement S.
    """
    G, E, n = p.matrices[0], p.errors[0], len(p.matrices[0])
    others = np.setdiff1d(np.arange(n), held), np.setdiff1d(np.arange(n), free)
    inner, lower, upper = np.ix_(*others), np.ix_(held, others[1]), np.ix_(others[0], free)
    corner = np.ix_(held, free)
    X = np.zeros((len(held), len(others[0])))
    S, dS = G[corner].copy(), E[corner].copy()
    coupled = (np.abs(G[lower]) > 0).any(axis=1)
    if coupled.any():
        rows, columns = equilibrium(G[inner])
        within = columns[:, None] * inverse((rows[:, None] * G[inner] * columns).astype(complex)[None])[0].real * rows
        if np.abs(np.linalg.eigvals(np.abs(within) @ E[inner])).max() < 0.1:
            X = G[lower] @ within
            S -= X @ G[upper]
            moved = (E[lower] + np.abs(X) @ E[inner]) @ np.abs(within) @ np.abs(G[upper])
            dS += np.abs(X) @ (E[upper] + 4 * ROUNDING * np.abs(G[upper])) + moved
        else:  # as at a buckling load: nothing is known of the rows that it moves
            S[coupled], dS[coupled] = np.eye(*S.shape)[coupled], 0.0
    idle, pivots = echelon(null_space(S.T, dS.T))
    places, divided, R = held[pivots], np.zeros(n, dtype=bool), np.eye(n)
    divided[places] = True
    R[np.ix_(places, held)] = idle.T
    R[np.ix_(places, others[0])] = -idle.T @ X
    return Step(R, divided), free[echelon(null_space(S, dS))[1]]


def _stepped(p: Polynomial, step: Step) -> Polynomial:
    """The polynomial after a step; errors grow in combined rows only."""
    size, mixed = np.abs(step.R), (np.eye(len(step.R)) != step.R).any(axis=1)[:, None]
    matrices = [step.R @ A for A in p.matrices]
    errors = [size @ E + 4 * ROUNDING * mixed * (size @ np.abs(A)) for A, E in zip(p.matrices, p.errors, strict=True)]
    for parts in (matrices, errors):
        for k, A in enumerate(parts):
            A[step.divided] = parts[k + 1][step.divided] if k + 1 < len(parts) else 0.0
    return Polynomial(matrices, errors)


def _divided(parts: list[tuple[Array, Array]], columns: npt.NDArray[np.bool_]) -> Polynomial:
    """The polynomial of coefficients and errors with columns divided by s."""
    matrices, errors = (_stepped_columns([part[i] for part in parts], columns) for i in (0, 1))
    return Polynomial(matrices, errors)


def _stepped_columns(parts: list[Array], columns: npt.NDArray[np.bool_]) -> list[Array]:
    after = [*parts[1:], np.zeros_like(parts[0])]
    return [np.where(columns, later, A) for A, later in zip(parts, after, strict=True)]


def _congruent(A: Array, E: Array, T: Array) -> tuple[Array, Array]:
    """T^T A T with its errors; exact where T only scales by powers of two."""
    size = np.abs(T)
    plain = (np.count_nonzero(T, axis=0) == 1).all() and (np.log2(size[size > 0]) % 1 == 0).all()
    rounding = 0.0 if plain else 4 * ROUNDING
    return T.T @ A @ T, size.T @ (E + rounding * np.abs(A)) @ size
