"""The stationary Riccati equation A' P + P A - P B R^-1 B' P + Q = 0: its solution that makes A - B R^-1 B' P stable.

It starts from the invariant subspace of the Hamiltonian matrix (Laub 1979) of modes, in units in which rows and columns
of that are alike (symplectic balancing: Benner 2001) and the quadratic term is as large as Q, so that neither units nor
a common factor of Q and R matter. Newton's steps (Kleinman 1968) by residuals in whole numbers do the rest: all digits
are those of the solution, however little damping there is.
"""

from __future__ import annotations

import math
from contextlib import suppress
from functools import partial, reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from kronbot.errors import ComputationError
from kronbot.floats import Array, all_finite
from kronbot.mechanics.linear.blocks import connected
from kronbot.mechanics.linear.matrix_polynomial import ROUNDING, eigen
from kronbot.system.silence import unwarned

Complex = npt.NDArray[np.complex128]
# Whole numbers of any size: what they stand for times 2^BITS.
Fixed = npt.NDArray[Any]
BITS = 160
# The last of Newton's steps beside P. Each leaves what rounding makes of it to the next one.
SETTLED, STEPS = 1e-22, 60
# How uneven rows and columns may be, and how often units are changed until then.
EVEN, CHANGES = 1.5, 100
# Modes nearer than this share of the fastest are taken together; a change of coordinates that is worse is none.
NEAR, WORST = 1e-6, 1e8
APART = "numbers are too far apart"


def stationary(A: Array, B: Array, Q: Array, R: Array) -> tuple[Array, Array]:
    """P (n, n) and R^-1 B' P (m, n). Raises ComputationError where there is none, or rounding leaves none."""
    if not Q.any() and _growth(A) <= np.sqrt(ROUNDING):
        return np.zeros_like(A), np.zeros_like(B.T)
    try:
        # Products are symmetric but for their last bits, which would be left of every step.
        Q, W = (Q + Q.T) / 2, all_finite(np.linalg.inv(R))
        W = (W + W.T) / 2
        x, u = _units(A, B @ W @ B.T, Q), _powers(np.sqrt(np.diag(W)))
        P, K = _solved(A / x[:, None] * x, B / x[:, None] * u, x[:, None] * Q * x, W / u[:, None] / u)
        return P / x[:, None] / x, K * u[:, None] / x
    except (np.linalg.LinAlgError, ValueError, OverflowError):  # of numbers beyond floats
        raise ComputationError(APART) from None


def _solved(A: Array, B: Array, Q: Array, W: Array) -> tuple[Array, Array]:
    """The same of equations with Q and W = R^-1, in units in which whole numbers hold all their digits."""
    from scipy.linalg import solve_continuous_lyapunov

    T = _modes(A)
    into = np.asarray(np.linalg.inv(T), dtype=float)
    T = T * _units(into @ A @ T, into @ B @ W @ B.T @ into.T, T.T @ Q @ T)
    rate = 2.0 ** np.ceil(np.log2(np.abs(A).max() or 1.0))
    t, w = _fixed(T), _fixed(W / rate)
    inverse = _inverse(T, t)
    parts = (inverse, _fixed(A / rate), t), (inverse, _fixed(B)), (t.T, _fixed(Q / rate), t)
    a, b, q = (_product(*factors) for factors in parts)
    A, B, Q = _floats(a), _floats(b), _floats(q)
    P = _fixed(_beginning(A, B @ (W / rate) @ B.T, Q, rate))
    for _ in range(STEPS):
        forces, of_P = _product(b.T, P), _product(a.T, P)
        K = _product(w, forces)
        loop, left = A - B @ _floats(K), _floats(of_P + of_P.T + q - _product(forces.T, K))
        with unwarned(), np.errstate(all="ignore"):  # about steps that are judged by where they lead
            step = solve_continuous_lyapunov(all_finite(loop.T), all_finite(-left))
        length, size = np.abs(step).max(), np.abs(_floats(P)).max()
        if not length * SETTLED <= size:
            break
        if length <= SETTLED * size and _growth(loop) < 0:
            return _known(_product(inverse.T, P, inverse)), rate * _known(_product(K, inverse))
        P = P + _fixed((step + step.T) / 2)
    raise ComputationError(APART)


def _growth(A: Array) -> float:
    """The largest growth rate beside the size of a matrix."""
    return float(eigen(A)[0].real.max(initial=-np.inf) / (np.linalg.norm(A) or 1.0))


def _fixed(A: Array) -> Fixed:
    return np.asarray(np.frompyfunc(lambda value: int(math.ldexp(value, BITS)), 1, 1)(A))


def _floats(A: Fixed) -> Array:
    return np.asarray(A / 2**BITS, dtype=float)


def _product(*factors: Fixed) -> Fixed:
    return reduce(lambda left, right: (left @ right) >> BITS, factors)


def _inverse(T: Array, t: Fixed) -> Fixed:
    """The inverse, by Newton's steps, each of which doubles its digits."""
    found, twice = _fixed(np.asarray(np.linalg.inv(T), dtype=float)), _fixed(2 * np.eye(len(T)))
    for _ in range(2):
        found = _product(found, twice - _product(t, found))
    return found


def _modes(A: Array) -> Array:
    """Directions (n, n) that span modes, or those of several that are near to each other: in these fast ones leave the
    digits of slow ones alone."""
    from scipy.linalg import schur

    values, vectors = eigen(A)
    apart = np.minimum(np.abs(values[:, None] - values), np.abs(values[:, None] - values.conj()))
    labels, found = connected(apart <= NEAR * np.abs(values).max(initial=0.0)), list[Array]()
    for label in np.unique(labels):
        own, others = values[labels == label], values[labels != label]
        if len(own) <= 2 and (len(own) == 1 or own[0].imag):
            x = vectors[:, np.flatnonzero(labels == label)[0]]
            found.append(np.column_stack([x.real, x.imag] if len(own) == 2 else [x.real]))
        else:
            nearer = partial(_nearer, own, others)
            try:
                found.append(schur(all_finite(A), sort=nearer)[1][:, : len(own)] if len(others) else np.eye(len(A)))
            except np.linalg.LinAlgError:
                return np.eye(len(A))
    T = np.hstack([side / np.linalg.norm(side, axis=0) for side in found])
    return T if np.linalg.cond(all_finite(T)) < WORST else np.eye(len(A))


def _nearer(own: Complex, others: Complex, real: float, imaginary: float) -> bool:
    value = complex(real, imaginary)
    return bool(np.abs(own - value).min() < np.abs(others - value).min())


def _known(A: Fixed) -> Array:
    """Numbers, 0 for those that are less than what is left of an equation."""
    found = _floats(A)
    return np.where(np.abs(found) <= SETTLED * np.abs(found).max(initial=0.0), 0.0, found)


def _units(A: Array, G: Array, Q: Array) -> Array:
    """Powers of two for states, in which rows of [A, G] are as large as columns of [A; Q], and all of G is as Q."""
    A, G, Q = (np.abs(part) for part in (A - np.diag(np.diag(A)), G, Q))
    known, t = bool(G.any() and Q.any()), np.ones(len(A))
    for _ in range(CHANGES):
        t = t * (((G / t[:, None] / t).sum() / (t[:, None] * Q * t).sum()) ** 0.25 if known else 1.0)
        inside = A / t[:, None] * t
        rows, columns = inside.sum(axis=1) + (G / t).sum(axis=1) / t, inside.sum(axis=0) + (Q * t).sum(axis=1) * t
        both = (rows > 0) & (columns > 0)
        change = np.where(both, rows, 1.0) / np.where(both, columns, 1.0)
        if max(change.max(), 1 / change.min()) <= EVEN:
            break
        t = t * change**0.25
    return _powers(t)


def _powers(numbers: Array) -> Array:
    """Powers of two that are as large."""
    return np.asarray(2.0 ** np.round(np.log2(numbers)))


def _beginning(A: Array, G: Array, Q: Array, rate: float) -> Array:
    """P of the stable invariant subspace."""
    from scipy.linalg import schur

    n, H = len(A), np.block([[A, -G], [-Q, -A.T]])
    with suppress(np.linalg.LinAlgError):
        _, Z, stable = schur(all_finite(H), sort="lhp")
        P = np.linalg.solve(Z[:n, :n].T, Z[n:, :n].T)
        P = (P + P.T) / 2
        if stable == n and _growth(A - G @ P) < 0:
            return np.asarray(P)
    poles = eigen(H)[0]
    pole = poles[(np.abs(poles.real) / np.maximum(np.abs(poles), np.finfo(float).tiny)).argmin()]
    raise ComputationError(f"the damping of a mode at {rate * abs(pole):.4g} rad/s would be lost to rounding")
