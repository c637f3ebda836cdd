"""A step for many simple eigenvalues at once: inverse iteration from both sides and the Rayleigh quotient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kronbot.floats import Array
from kronbot.mechanics.linear.matrix_polynomial import ROUNDING, Numbers, Polynomial, Wide, each

Complex = npt.NDArray[np.complex128]

# Refined far enough: the last step as a share of the eigenvalue.
SETTLED = 1e-14
# The share of itself by which a step may turn a vector that is nearly right.
SHORT = 1e-3
# Those of a first step are settled that went this share of the way to the next eigenvalue, if its square, which is left
# of the way, is a small share of the error; and to eigenvalues that differ by such a share of themselves, and by many
# times their errors.
STEP, LEFT, DISTANCE, ERRORS = 1e-7, 0.02, 1e-7, 8.0
# A share of the second order that is too much for an eigenvalue alone, and a share of itself where others may be then.
CROWDED, AROUND = 0.24, 1e-2
TINY = float(np.finfo(float).tiny)


class Steps(NamedTuple):
    """Eigenvalues (N,) after a step of refinement from ``starts``, with vectors (N, n), ``rest`` (N, n, n) and errors
    (N,), and what P(s) x is at them (N, n)."""

    starts: Complex
    values: Complex
    right: Complex
    left: Complex
    rest: Complex
    errors: Array
    residual: Complex

    def part(self, rows: slice) -> Steps:
        """Some of them."""
        s, z, x, y, rest, errors, residual = self
        return Steps(s[rows], z[rows], x[rows], y[rows], rest[rows], errors[rows], residual[rows])


def joined(many: Sequence[Steps]) -> Steps:
    """Steps of several systems."""
    if len(many) == 1:
        return many[0]
    s, z, x, y, rest, errors, residual = (np.concatenate(parts) for parts in zip(*many, strict=True))
    return Steps(s, z, x, y, rest, errors, residual)


@np.errstate(all="ignore")  # where two have met
def refined(p: Polynomial, s: Numbers, right: Numbers | None = None, left: Numbers | None = None) -> Steps:
    """A step for eigenvalues (N,) that are apart from all others, with vectors (N, n) where some are known."""
    near = None if right is None or left is None else (right, left)
    if not s.imag.any():  # real arithmetic, a third of the work
        s, near = s.real, None if near is None else (near[0].real, near[1].real)
    slopes = p.at(s, 1)
    near_by = p.bordered(s, slopes, near)
    X = unit(near_by.x.T)
    Y = unit(p.left(X, near_by.y.T))
    change, residual = (slopes @ X.T[:, :, None])[:, :, 0], p.residual(s, X).T
    slope = (change * Y.T.conj()).sum(axis=1)
    step = -np.asarray((Y.T.conj() * residual).sum(axis=1) / slope).astype(s.dtype)
    step = np.where(s.imag == 0, step.real, step)
    errors = _errors(p, s, X.T, Y.T, slope, near_by.rest)
    residual = residual + step[:, None] * change
    if len(p.matrices) == 3:
        A = p.matrices[2]
        residual += step[:, None] ** 2 * (A @ each(A, X.T[:, :, None])).reshape(X.T.shape)
    after, rest = s + step, near_by.rest
    # The same inverse takes the step out of the vectors.
    x, back = _turned(X.T, rest, residual, near_by.scale)
    residual = residual - (p.at(after) @ back[:, :, None])[:, :, 0]
    y = x.conj()
    if not p.symmetric:
        y, _ = _turned(Y.T, rest.conj().swapaxes(1, 2), p.residual(after, Y, left=True).T, near_by.scale)
    s, after, x, y, rest, residual = (part.astype(complex) for part in (s, after, x, y, rest, residual))
    return Steps(s, after, x, y, rest, errors, residual)


def _errors(p: Polynomial, s: Numbers, X: Numbers, Y: Numbers, slope: Numbers, rest: Numbers) -> Array:
    """Bounds (N,) of what the errors of the entries change, of first order and of second: a share of it that grows as
    another eigenvalue comes near.

    What a quadratic equation makes of these two; infinite where they may bring it together with another one.
    """
    x, y, spread = np.abs(X)[:, :, None], np.abs(Y)[:, None], p.error(s)
    moved = spread @ x
    first = (y @ moved).ravel() / np.abs(slope)
    turned = (y @ spread @ (np.abs(rest) @ moved)).ravel()
    later = sum(k * np.abs(s) ** (k - 1) * _form(y, E, x) for k, E in enumerate(p.errors) if k)
    bent = np.abs(_form(Y.conj()[:, None], p.matrices[2], X[:, :, None])) if len(p.matrices) == 3 else 0.0
    share = (turned / np.maximum(first, TINY) + later + first * bent) / np.abs(slope)
    share = np.where(first > 0, share, 0.0)
    grown = np.where(share < CROWDED, 2 / (1 + np.sqrt(np.maximum(1 - 4 * share, 0.0))), np.inf)
    return np.asarray(np.where(first > 0, first * grown, 0.0) + ROUNDING / 2 * np.abs(s))


def _form(y: Numbers, A: Array, x: Numbers) -> Numbers:
    """y A x of rows y (N, 1, n) and columns x (N, n, 1)."""
    return np.asarray(each(A, y) @ A @ each(A, x)).ravel()


def _turned(X: Numbers, rest: Numbers, residual: Wide, scale: Array) -> tuple[Numbers, Numbers]:
    """Vectors (N, n) without what the residual says that they are off by, and that; as they were where it is much."""
    back = (rest @ residual.astype(rest.dtype)[:, :, None])[:, :, 0]
    much = ~((np.abs(back) / scale).max(axis=1) <= SHORT * (np.abs(X) / scale).max(axis=1))
    back[much] = 0.0
    return X - back, back


def measured(p: Polynomial, after: Steps) -> tuple[Array, Array]:
    """Backward errors and condition numbers (N,) of eigenvalues for componentwise changes."""
    s, x, y = after.values, np.abs(after.right)[:, :, None], np.abs(after.left)[:, None]
    size = (y @ p.size(s) @ x).ravel()
    left_over = (y[:, 0] * np.abs(after.residual)).sum(axis=1)
    slope = np.abs((after.left.conj()[:, None] @ p.at(s, 1) @ after.right[:, :, None]).ravel() * s)
    # At a zero that nothing takes out, whatever changes moves it.
    left_over, size = np.where(size > 0, left_over, 0.0), np.where(size > 0, size, 1.0)
    return left_over / size, size / np.maximum(slope, ROUNDING * size)


@np.errstate(all="ignore")
def plainly(after: Steps, sizes: tuple[int, int]) -> npt.NDArray[np.bool_]:
    """Which steps of some systems (N, m) were small, and led to eigenvalues apart from all others and from zero."""
    start, s, errors = (part.reshape(sizes) for part in (after.starts, after.values, after.errors))
    own = np.eye(s.shape[1], dtype=bool)
    gaps = np.where(own, np.inf, np.abs(s[:, :, None] - s[:, None]))
    if s.imag.any():
        mirrored = np.abs(s[:, :, None] - s[:, None].conj())
        gaps = np.minimum(gaps, np.where(own & (s.imag == 0)[:, :, None], np.inf, mirrored))
    lengths = np.abs(s)
    reach = np.where(np.isfinite(errors), errors, AROUND * lengths)
    far = gaps > DISTANCE * lengths[:, :, None] + ERRORS * (reach[:, :, None] + reach[:, None])
    step, reach = np.abs(s - start), np.minimum(gaps.min(axis=2, initial=np.inf), lengths)
    short = (step <= STEP * reach) & (step**2 <= LEFT * errors * reach) | (step <= SETTLED * lengths)
    return np.asarray(far.all(axis=2) & short & (lengths > ERRORS * errors))


def unit(X: Numbers) -> Numbers:
    """Columns with their largest entry one."""
    return np.asarray(X / X[np.abs(X).argmax(axis=0), np.arange(X.shape[1])])
