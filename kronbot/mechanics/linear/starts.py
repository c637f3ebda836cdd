"""Rough eigenvalues of M s^2 + D s + K with their vectors, for many systems at once.

With M = 1 and the symmetric part of K = diag(k) by a change of coordinates, the state matrix is nearly normal where
damping is small, and slow motions keep their digits beside fast ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kronbot.floats import Array
from kronbot.mechanics.linear.matrix_polynomial import ROUNDING, balancing, eigen, inverse

Complex = npt.NDArray[np.complex128]

# Rates by which stiffness is divided are at least this share of the largest.
SLOW = 1e-12


class Starts(NamedTuple):
    """Eigenvalues (N, m) of N systems with vectors from both sides (N, m, n)."""

    values: Complex
    right: Complex
    left: Complex


def rough(
    M: Array, D: Array, K: Array, degree: int, reciprocal: bool, free: Sequence[int], idle: Sequence[int], count: int
) -> Starts:
    """The ``count`` largest eigenvalues in s (degree 2) or s^2 (1).

    Columns of K at ``free`` are zero, and so are rows and columns of K and D at those of them that are ``idle``.
    """
    total, n = M.shape[:2]
    damped = [j for j in free if j not in idle]
    order = [*idle, *damped, *(j for j in range(n) if j not in free)]
    scale = balancing(np.diagonal(M, axis1=1, axis2=2))
    # Rows of W are coordinates with M = 1 in which those that are idle, or free, meet no others' stiffness.
    scaled = scale[:, :, None] * M * scale[:, None]
    if free:
        W = np.empty_like(M)
        W[:, :, order] = np.linalg.inv(_cholesky(scaled[:, order][:, :, order]))
    else:
        W = np.asarray(np.linalg.inv(_cholesky(scaled)), dtype=float)
    W *= scale[:, None]
    stiff = W[:, len(free) :]
    k, V = np.linalg.eigh(stiff @ ((K + K.swapaxes(1, 2)) / 2) @ stiff.swapaxes(1, 2))
    stiff = V.swapaxes(1, 2) @ stiff
    if degree == 1 and reciprocal:
        starts = Starts(-k.astype(complex), stiff.astype(complex), stiff.astype(complex))
        return starts if k.shape[1] == count else _largest(starts, count)
    Q = np.concatenate([W[:, len(idle) : len(free)], stiff], axis=1) if degree == 2 else stiff
    first, rates = Q.shape[1] - k.shape[1], Q.shape[1]
    forces = Q @ K @ stiff.swapaxes(1, 2)
    forces[:, first:] = Q[:, first:] @ ((K - K.swapaxes(1, 2)) / 2) @ stiff.swapaxes(1, 2)
    diagonal = np.arange(k.shape[1])
    forces[:, first + diagonal, diagonal] += k
    if degree == 1:
        A = -forces
    else:
        root = np.sqrt(np.abs(k))
        root = np.maximum(root, SLOW * root.max(axis=1, initial=0.0, keepdims=True))
        root[root == 0] = 1.0
        A = np.zeros((total, rates + k.shape[1], rates + k.shape[1]))
        A[:, :rates, :rates] = -Q @ D @ Q.swapaxes(1, 2)
        A[:, :rates, rates:] = -forces / root[:, None]
        A[:, rates + diagonal, first + diagonal] = root
    s, U = eigen(A)
    right = (U.swapaxes(1, 2)[:, :, :rates] @ Q).astype(complex)
    left = right.conj() if reciprocal else inverse(U)[:, :, :rates].conj() @ Q
    starts = Starts(s.astype(complex), right, left.astype(complex))
    return starts if s.shape[1] == count else _largest(starts, count)


def _largest(starts: Starts, count: int) -> Starts:
    """Those that are no known zeros; where that cuts a pair in two, what is left of it becomes real."""
    order = np.argsort(-np.abs(starts.values), axis=1, kind="stable")[:, :count]
    s, right, left = (part[np.arange(len(order))[:, None], order] for part in starts)
    halved = (s.imag > 0).sum(axis=1) != (s.imag < 0).sum(axis=1)
    s[halved, -1:] = np.abs(s[halved, -1:])
    return Starts(s, right, left)


def _cholesky(M: Array, share: float = ROUNDING) -> Array:
    """Lower factors of matrices (N, n, n) with a unit diagonal; of one that is singular, those of one beside it."""
    try:
        return np.asarray(np.linalg.cholesky(M), dtype=float)
    except np.linalg.LinAlgError:
        if len(M) > 1:
            return np.concatenate([_cholesky(each[None]) for each in M])
        if not np.isfinite(M).all():
            raise
    return _cholesky(M + share * np.eye(M.shape[1]), 4 * share)
