"""Directions that matrices with uncertain entries map to zero, in coordinates of their own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kronbot.floats import Array, all_finite
from kronbot.mechanics.linear.matrix_polynomial import ROUNDING, balancing

Places = npt.NDArray[np.intp]


def null_space(K: Array, dK: Array) -> Array:
    """Directions (n, r) that K (m x n) maps to zero within the errors of its entries, in echelon form, those of zero
    columns first."""
    n = K.shape[1]
    free = [j for j in range(n) if not K[:, j].any()]
    rest = [j for j in range(n) if j not in free]
    found = [np.eye(n)[:, free]]
    if rest:
        A, E = K[:, rest], dK[:, rest]
        sure = np.where(np.abs(A) > E, A, 0.0)  # rounding beside zeros must not be brought to size one
        rows, columns = equilibrium(sure)
        _, sizes, Vh = np.linalg.svd(all_finite(rows[:, None] * sure * columns))
        limit = np.abs(rows[:, None] * E * columns).sum(axis=1).max() * 4 + 64 * ROUNDING * len(rest)
        count = int((sizes <= limit).sum())
        V, own = echelon(columns[:, None] * Vh[len(rest) - count :].T)
        others = np.setdiff1d(np.arange(len(rest)), own)
        if count and others.size:  # as right as a residual in extended precision makes them
            left = (rows[:, None] * (sure.astype(np.longdouble) @ V)).astype(float)
            scaled = (rows[:, None] * sure * columns)[:, others]
            V[others] -= columns[others, None] * (np.linalg.pinv(all_finite(scaled)) @ left)
        V[np.abs(V) <= 64 * len(V) * ROUNDING * np.abs(V).max(axis=0, initial=0.0)] = 0.0
        held = (np.abs(A @ V) <= 4 * (E + ROUNDING * np.abs(A)) @ np.abs(V)).all(axis=0)
        wide = np.zeros((n, int(held.sum())))
        wide[rest] = V[:, held]
        found.append(wide)
    return np.hstack(found)


def null_spaces(K: Array, dK: Array) -> list[tuple[Array, bool]]:
    """The same for many matrices (N, n, n), and whether an inverse shows at once that there are no more than zero
    columns: that of the part without their rows and columns."""
    n = K.shape[1]
    found: list[Array | None] = [None] * len(K)
    zero = np.asarray(~K.any(axis=1))
    for columns in {each.tobytes(): each for each in zero}.values():
        places = np.flatnonzero((zero == columns).all(axis=1)) if len(K) > 1 else np.zeros(1, dtype=np.intp)
        A, E = K, dK
        if columns.any() or len(places) < len(K):
            rest, some = np.flatnonzero(~columns), slice(None) if len(places) == len(K) else places[:, None, None]
            A, E = K[some, rest[:, None], rest], dK[some, rest[:, None], rest]
        size = np.sqrt(np.abs(np.diagonal(A, axis1=1, axis2=2)))
        scale = 1 / np.where(size > 0, size, 1.0)
        limit = (scale[:, :, None] * E * scale[:, None]).sum(axis=2).max(axis=1, initial=0.0) + ROUNDING * A.shape[1]
        try:
            within = np.linalg.inv(scale[:, :, None] * A * scale[:, None])
        except np.linalg.LinAlgError:
            continue
        for i in places[np.sqrt((within**2).sum(axis=(1, 2))) * limit < 1e-3].tolist():
            found[i] = np.eye(n)[:, columns]
    return [
        (null_space(A, E), False) if directions is None else (directions, True)
        for directions, A, E in zip(found, K, dK, strict=True)
    ]


def lasting(directions: Array, others: Sequence[tuple[Array, Array]]) -> Array:
    """Those of the directions (n, r) that other matrices map to zero, too, within the errors of their entries."""
    for A, E in others:
        if (A @ directions).any():
            directions = directions @ null_space(A @ directions, E @ np.abs(directions))
    return directions


def equilibrium(A: Array) -> tuple[Array, Array]:
    """Powers of two that bring rows and columns of A to the size one."""
    rows, columns = np.ones(A.shape[0]), np.ones(A.shape[1])
    for _ in range(4):
        B = np.abs(rows[:, None] * A * columns)
        high, wide = B.max(axis=1), B.max(axis=0)
        rows = rows * balancing(np.where(high > 0, high, 1.0))
        columns = columns * balancing(np.where(wide > 0, wide, 1.0))
    return rows, columns


def echelon(V: Array) -> tuple[Array, Places]:
    """The same space (n, r) with a unit matrix in rows of its own, and these rows (r,): no two columns share one."""
    own = np.abs(V).argmax(axis=0) if V.size else np.zeros(V.shape[1], dtype=np.intp)
    if np.count_nonzero(V) == len(set(own.tolist())) == len(own):  # coordinates
        return V / V[own, np.arange(len(own))], own
    V, rows = V.copy(), np.zeros(V.shape[1], dtype=np.intp)
    for k in range(V.shape[1]):
        left = np.abs(V[:, k:]) / np.maximum(np.abs(V[:, k:]).max(axis=0), np.finfo(float).tiny)
        rows[k], column = np.unravel_index(left.argmax(), left.shape)
        V[:, [k, k + int(column)]] = V[:, [k + int(column), k]]
        V[:, k] /= V[rows[k], k]
        others = [j for j in range(V.shape[1]) if j != k]
        V[:, others] -= np.outer(V[:, k], V[rows[k], others])
    return V, rows
