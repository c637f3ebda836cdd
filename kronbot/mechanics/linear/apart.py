"""Poles of many systems at once, where those of a system are simple and clearly apart from each other.

With M = 1 and K = diag(k) by a change of coordinates, L(s) is s^2 + C s + k: directions without stiffness have poles at
zero, which are left out, the others are eigenvalues of a matrix that is nearly diagonal where damping is small, and
need one step of refinement. What is less plain is left to ``eigenvalues``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kronbot.floats import Array
from kronbot.mechanics.linear.deflation import SecondOrder
from kronbot.mechanics.linear.eigenvalues import SETTLED, refined
from kronbot.mechanics.linear.matrix_polynomial import ROUNDING, Polynomial

Complex = npt.NDArray[np.complex128]

WORDS = ("M", "D", "K", "dM", "dD", "dK")
# Systems at a time: enough to forget the calls, few enough for the processor's cache.
MANY = 16
# A step of this share of the way to the next eigenvalue leaves a square of it: vectors are right to such a share, too.
STEP = 1e-7
# Eigenvalues are apart that differ by this share of themselves, and by many times their errors.
DISTANCE, ERRORS = 1e-7, 8.0


@dataclass(frozen=True)
class Apart:
    """Eigenvalues of the upper half plane (m,) with vectors (m, n), ``rest`` (m, n, n) and errors (m,) as those of an
    ``Eigenvalue``; backward errors and conditions; coordinates with poles at zero, and how many each (r,)."""

    polynomial: Polynomial
    values: Complex
    right: Complex
    left: Complex
    rest: Complex
    errors: Array
    backward: Array
    condition: Array
    free: Sequence[int]
    counts: Sequence[int]


def apart(systems: Sequence[SecondOrder], degree: int) -> list[Apart | None]:
    """Eigenvalues in s (degree 2) or s^2 (1) of systems with symmetric K; None where they are less plain than that."""
    found: list[Apart | None] = [None] * len(systems)
    alike: dict[tuple[int, bool, tuple[int, ...], tuple[int, ...]], list[int]] = {}
    for place, system in enumerate(systems):
        free = system.free.argmax(axis=0).tolist()
        if np.count_nonzero(system.free) == len(free):
            idle = tuple(j for j in free if not system.D[j].any() and not system.D[:, j].any())
            alike.setdefault((len(system.K), system.reciprocal, tuple(free), idle), []).append(place)
    for (_, reciprocal, directions, idle), everywhere in alike.items():
        for places in (everywhere[i : i + MANY] for i in range(0, len(everywhere), MANY)):
            parts = [np.array([getattr(systems[i], word) for i in places]) for word in WORDS]
            for i, answer in _eigenvalues(parts, reciprocal, list(directions), list(idle), degree):
                found[places[i]] = answer
    return found


def _eigenvalues(
    parts: list[Array], reciprocal: bool, free: list[int], idle: list[int], degree: int
) -> Iterator[tuple[int, Apart]]:
    """Places and eigenvalues of the systems (N, n, n) where they are plain."""
    for A in parts[2::3]:
        A[:, free] = A[:, :, free] = 0
    if reciprocal:
        parts = [(A + A.swapaxes(1, 2)) / 2 for A in parts[:3]] + [np.maximum(E, E.swapaxes(1, 2)) for E in parts[3:]]
    M, D, K, dM, dD, dK = parts
    try:
        s, X, Y = _rough(M, D, K, reciprocal, free, idle, degree)
    except np.linalg.LinAlgError:
        if len(parts[0]) > 1:
            for i in range(len(parts[0])):
                for _, answer in _eigenvalues([A[i : i + 1] for A in parts], reciprocal, free, idle, degree):
                    yield i, answer
        return
    matrices, errors = ([K, D, M], [dK, dD, dM]) if degree == 2 else ([K, M], [dK, dM])
    mirror = np.zeros(len(M[0]), dtype=int) if reciprocal else None
    upper = s.imag >= 0
    sizes = upper.sum(axis=1)
    counts = [2 if degree == 1 or j in idle else 1 for j in free]
    for m in set(sizes.tolist()) - {0}:
        places = np.flatnonzero(sizes == m)
        many, spread = ([np.repeat(A[places], m, axis=0) for A in each] for each in (matrices, errors))
        every = Polynomial(many, spread, mirror)
        chosen = upper[places]
        start = s[places][chosen]
        with np.errstate(all="ignore"):  # where they are not apart
            step = refined(every, start, X[places][chosen], Y[places][chosen])
            backward, condition = measured(every, step.values, step.right, step.left, step.residual)
        split = (len(places), m)
        good = _plain(start.reshape(split), step.values.reshape(split), step.errors.reshape(split))
        for k in np.flatnonzero(good):
            rows, i = slice(k * m, (k + 1) * m), int(places[k])
            own = Polynomial([A[i] for A in matrices], [E[i] for E in errors], mirror)
            values, right, left, rest = (each[rows] for each in (step.values, step.right, step.left, step.rest))
            measures = step.errors[rows], backward[rows], condition[rows]
            yield i, Apart(own, values, right, left, rest, *measures, free, counts)


def _rough(
    M: Array, D: Array, K: Array, reciprocal: bool, free: list[int], idle: list[int], degree: int
) -> tuple[Complex, Complex, Complex]:
    """Eigenvalues (N, m) but for those at zero, and vectors (N, m, n) from both sides."""
    count, n = M.shape[:2]
    order = idle + [j for j in free if j not in idle] + [j for j in range(n) if j not in free]
    scale = np.exp2(-np.round(np.log2(np.diagonal(M, axis1=1, axis2=2)) / 2))
    # Rows of W are coordinates with M = 1 in which those that are idle, or free, meet no others' stiffness.
    lower = np.linalg.cholesky((scale[:, :, None] * M * scale[:, None])[:, order][:, :, order])
    W = np.empty_like(M)
    W[:, :, order] = np.linalg.inv(lower)
    W *= scale[:, None]
    stiff = W[:, len(free) :]
    k, V = np.linalg.eigh(stiff @ K @ stiff.swapaxes(1, 2))
    Q = np.concatenate([W[:, len(idle) : len(free)], V.swapaxes(1, 2) @ stiff], axis=1)
    if degree == 1:
        X = Q.astype(complex)
        return -k.astype(complex), X, X
    rates, root = Q.shape[1], np.sqrt(np.abs(k))
    first = rates - k.shape[1]
    A = np.zeros((count, rates + k.shape[1], rates + k.shape[1]))
    A[:, :rates, :rates] = -Q @ D @ Q.swapaxes(1, 2)
    here, there = np.arange(first, rates), np.arange(rates, A.shape[1])
    A[:, here, there], A[:, there, here] = -np.sign(k) * root, root
    s, U = np.linalg.eig(A)
    X = U[:, :rates].swapaxes(1, 2) @ Q
    Y = X if reciprocal else np.linalg.inv(U)[:, :, :rates] @ Q
    return s.astype(complex), X.astype(complex), Y.conj().astype(complex)


def _plain(start: Complex, s: Complex, errors: Array) -> npt.NDArray[np.bool_]:
    """Whether all steps of a system (N, m) were small, and lead to eigenvalues apart from each other and from zero."""
    own = np.eye(s.shape[1], dtype=bool)
    mirrored = np.where(own & (s.imag == 0)[:, :, None], np.inf, np.abs(s[:, :, None] - s[:, None].conj()))
    gaps = np.minimum(np.where(own, np.inf, np.abs(s[:, :, None] - s[:, None])), mirrored)
    sizes = np.abs(s)
    far = gaps > DISTANCE * sizes[:, :, None] + ERRORS * (errors[:, :, None] + errors[:, None])
    step = np.abs(s - start) <= np.maximum(STEP * np.minimum(gaps.min(axis=2), sizes), SETTLED * sizes)
    return np.asarray((far.all(axis=2) & step & (sizes > ERRORS * errors)).all(axis=1))


def measured(p: Polynomial, s: Complex, right: Complex, left: Complex, residual: Complex) -> tuple[Array, Array]:
    """Backward errors and condition numbers (N,) for componentwise changes, of eigenvalues s (N,), vectors (N, n).

    ``residual`` (N, n) is P(s) x.
    """
    x, y = np.abs(right)[:, :, None], np.abs(left)[:, None]
    size = (y @ p.size(s) @ x).ravel()
    left_over = (y[:, 0] * np.abs(residual)).sum(axis=1)
    slope = np.abs((left.conj()[:, None] @ p.at(s, 1) @ right[:, :, None]).ravel() * s)
    # At a zero that nothing takes out, whatever changes moves it.
    left_over, size = np.where(size > 0, left_over, 0.0), np.where(size > 0, size, 1.0)
    return left_over / size, size / np.maximum(slope, ROUNDING * size)
