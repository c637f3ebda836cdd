"""Second-order systems with uncertain entries, and how their poles at zero are taken out exactly.

Directions without stiffness are coordinates whose columns, and rows where forces have a potential, of L(s) = M s^2 +
D s + K are multiples of s: divided out, they leave a polynomial without these poles. Where nothing damps such a
coordinate its momentum is conserved, and rows and columns go together: Routh's reduction.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kronbot.mechanics.matrix_polynomial import ROUNDING, Eigenvalue, Polynomial

Array = npt.NDArray[np.float64]
Complex = npt.NDArray[np.complex128]


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

    @property
    def symmetric(self) -> bool:
        """Whether forces have a potential: K is symmetric within the errors of its entries."""
        return bool((np.abs(self.K - self.K.T) <= 2 * (self.dK + self.dK.T)).all())

    @property
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
    """Directions (n, r) that K maps to zero within the errors of its entries, echelon form, zero columns first."""
    n = len(K)
    free = [j for j in range(n) if not K[:, j].any()]
    rest = [j for j in range(n) if j not in free]
    found = [np.eye(n)[:, free]]
    if rest:
        A, E = K[:, rest], dK[:, rest]
        rows, columns = equilibrium(A)
        _, sizes, Vh = np.linalg.svd(rows[:, None] * A * columns)
        limit = np.abs(rows[:, None] * E * columns).sum(axis=1).max() * 4 + 64 * ROUNDING * len(rest)
        count = int((sizes <= limit).sum())
        V = _echelon(columns[:, None] * Vh[len(rest) - count :].T)
        held = (np.abs(A @ V) <= 4 * (E + ROUNDING * np.abs(A)) @ np.abs(V)).all(axis=0)
        wide = np.zeros((n, int(held.sum())))
        wide[rest] = V[:, held]
        found.append(wide)
    return np.hstack(found)


def equilibrium(A: Array) -> tuple[Array, Array]:
    """Powers of two that bring rows and columns of A to the size one."""
    rows, columns = np.ones(A.shape[0]), np.ones(A.shape[1])
    for _ in range(4):
        B = np.abs(rows[:, None] * A * columns)
        high, wide = B.max(axis=1), B.max(axis=0)
        rows = rows * np.exp2(-np.round(np.log2(np.where(high > 0, high, 1.0)) / 2))
        columns = columns * np.exp2(-np.round(np.log2(np.where(wide > 0, wide, 1.0)) / 2))
    return rows, columns


def _echelon(V: Array) -> Array:
    """The same space with a unit matrix in the rows of the pivots; what is rounding elsewhere goes."""
    V = V.copy()
    for k in range(V.shape[1]):
        left = np.abs(V[:, k:]) / np.maximum(np.abs(V[:, k:]).max(axis=0), np.finfo(float).tiny)
        row, column = np.unravel_index(left.argmax(), left.shape)
        V[:, [k, k + int(column)]] = V[:, [k + int(column), k]]
        V[:, k] /= V[row, k]
        others = [j for j in range(V.shape[1]) if j != k]
        V[:, others] -= np.outer(V[:, k], V[row, others])
    return np.where(np.abs(V) <= 64 * len(V) * ROUNDING * np.abs(V).max(axis=0, initial=0.0), 0.0, V)


@dataclass(frozen=True)
class Deflated:
    """L(s) = diag(s^rows) P(s) diag(s^columns) in coordinates z, y = T z, without the poles at zero."""

    polynomial: Polynomial
    T: Array
    rows: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int64]

    def refined(self, e: Eigenvalue) -> Refined:
        """The eigenvalue with the way back to the coordinates y."""
        right = e.value ** (self.columns.max(initial=0) - self.columns).astype(float)
        left = np.conj(e.value) ** (self.rows.max(initial=0) - self.rows).astype(float)
        return Refined(e, self.polynomial, self.T * right, self.T * left)


def deflated(system: SecondOrder, degree: int) -> Deflated:
    """The polynomial in s (degree 2) or s^2 (degree 1) with its roots at zero divided out of rows and columns."""
    n, free = len(system.M), system.free
    scale = np.exp2(-np.round(np.log2(np.diag(system.M)) / 2))
    T = np.diag(scale)
    pivots = [int(np.abs(v / scale).argmax()) for v in free.T]
    T[:, pivots] = free / (np.abs(free / scale[:, None]).max(axis=0, initial=0.0) if free.size else 1.0)
    symmetric = system.symmetric
    matrices = [_congruent(A, E, T) for A, E in ((system.K, system.dK), (system.D, system.dD), (system.M, system.dM))]
    (K, dK), (D, dD), (M, dM) = matrices
    rows, columns = np.zeros((2, n), dtype=int)
    if pivots:
        if degree == 2:
            block = np.ix_(pivots, pivots)
            idle = null_space(D[block], dD[block])
            if idle.size:  # coordinates of the free ones in which those without damping stand alone
                where = [int(np.abs(v).argmax()) for v in idle.T]
                turn = np.eye(len(pivots))
                turn[:, where] = idle
                whole = np.eye(n)
                whole[block] = turn
                T = T @ whole
                matrices = [_congruent(A, E, whole) for A, E in matrices]
                (K, dK), (D, dD), (M, dM) = matrices
                idle_pivots = [pivots[i] for i in where]
                still = [p for p in idle_pivots if _nothing(D[p, pivots], dD[p, pivots])]
                if symmetric:
                    rows[still] = 1
                    D[np.ix_(still, pivots)] = D[np.ix_(pivots, still)] = 0
                    dD[np.ix_(still, pivots)] = dD[np.ix_(pivots, still)] = 0
                else:
                    columns[[p for p in still if _nothing(D[:, p], dD[:, p])]] = 1
                    D[:, columns == 1], dD[:, columns == 1] = 0, 0
        columns[pivots] += 1
        K[:, pivots], dK[:, pivots] = 0, 0
        if symmetric:
            K[pivots], dK[pivots] = 0, 0
    parts = [(K, dK), (D, dD), (M, dM)] if degree == 2 else [(K, dK), (M, dM)]
    return Deflated(_shifted(parts, rows[:, None] + columns), T, rows, columns)


def _nothing(values: Array, errors: Array) -> bool:
    return bool((np.abs(values) <= 4 * errors).all())


def _congruent(A: Array, E: Array, T: Array) -> tuple[Array, Array]:
    """T^T A T with its errors; exact where T only scales by powers of two."""
    size = np.abs(T)
    plain = (np.count_nonzero(T, axis=0) == 1).all() and (np.log2(size[size > 0]) % 1 == 0).all()
    rounding = 0.0 if plain else 4 * ROUNDING
    return T.T @ A @ T, size.T @ (E + rounding * np.abs(A)) @ size


def _shifted(parts: list[tuple[Array, Array]], shift: npt.NDArray[np.int64]) -> Polynomial:
    """Entry (i, j) divided by s^shift(i, j)."""
    degree = len(parts)
    lists: list[list[Array]] = [[], []]
    for which, made in enumerate(lists):
        for k in range(degree):
            entry = np.zeros(shift.shape)
            for by in range(degree - k):
                entry = np.where(shift == by, parts[k + by][which], entry)
            made.append(entry)
    return Polynomial(*lists)
