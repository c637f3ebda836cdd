"""A step for many simple eigenvalues at once: inverse iteration from both sides and the Rayleigh quotient."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kronbot.cached import cached_property
from kronbot.floats import Array
from kronbot.mechanics.linear.matrix_polynomial import ROUNDING, Numbers, Polynomial, Wide, each
from kronbot.records import dataclass

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


class Vectors(NamedTuple):
    """Vectors (N, n) of eigenvalues from both sides with ``rest`` (N, n, n), and what P(s) x is (N, n)."""

    right: Complex
    left: Complex
    rest: Complex
    residual: Complex


@dataclass(frozen=True, eq=False)
class Steps:
    """Eigenvalues (N,) after a step of refinement from ``starts``, with errors (N,), and what finds their vectors when
    somebody looks at them."""

    starts: Complex
    values: Complex
    errors: Array
    find: Callable[[], Vectors]

    @cached_property
    def vectors(self) -> Vectors:
        """Their vectors."""
        return self.find()

    def part(self, rows: slice) -> Steps:
        """Some of them."""
        return Steps(
            self.starts[rows],
            self.values[rows],
            self.errors[rows],
            lambda: Vectors(*(each[rows] for each in self.vectors)),
        )


def joined(many: Sequence[Steps]) -> Steps:
    """Steps of several systems."""
    if len(many) == 1:
        return many[0]
    s, z, errors = (np.concatenate([getattr(each, word) for each in many]) for word in ("starts", "values", "errors"))
    return Steps(
        s, z, errors, lambda: Vectors(*map(np.concatenate, zip(*(each.vectors for each in many), strict=True)))
    )


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
    if np.iscomplexobj(s):
        step = np.where(s.imag == 0, step.real, step)
    errors = _errors(p, s, X.T, Y.T, slope, near_by.rest)
    after, rest = s + step, near_by.rest

    def vectors() -> Vectors:
        with np.errstate(all="ignore"):
            left_over = residual + step[:, None] * change
            if len(p.matrices) == 3:
                A = p.matrices[2]
                left_over += step[:, None] ** 2 * (A @ each(A, X.T[:, :, None])).reshape(X.T.shape)
            # The same inverse takes the step out of the vectors.
            x, back = _turned(X.T, rest, left_over, near_by.scale)
            left_over = left_over - (p.at(after) @ back[:, :, None])[:, :, 0]
            y = x.conj()
            if not p.symmetric:
                y, _ = _turned(Y.T, rest.conj().swapaxes(1, 2), p.residual(after, Y, left=True).T, near_by.scale)
            return Vectors(*(part.astype(complex) for part in (x, y, rest, left_over)))

    return Steps(s.astype(complex), after.astype(complex), errors, vectors)


def _errors(p: Polynomial, s: Numbers, X: Numbers, Y: Numbers, slope: Numbers, rest: Numbers) -> Array:
    """Bounds (N,) of what the errors of the entries change, of first order and of second: a share of it that grows as
    another eigenvalue comes near.

    What a quadratic equation makes of these two; infinite where they may bring it together with another one.
    """
    x, y, spread = np.abs(X)[:, :, None], np.abs(Y)[:, None], p.error(s)
    moved = spread @ x
    size, slope = np.abs(s), np.abs(slope)
    first = (y @ moved).ravel() / slope
    turned = (y @ spread @ (np.abs(rest) @ moved)).ravel()
    later, bent = _form(y, p.errors[1], x), np.zeros(())
    if len(p.matrices) == 3:
        later = later + 2 * size * _form(y, p.errors[2], x)
        bent = np.abs(_form(Y.conj()[:, None], p.matrices[2], X[:, :, None]))
    share = (turned / np.maximum(first, TINY) + later + first * bent) / slope
    moves = first > 0
    share = np.where(moves, share, 0.0)
    grown = np.where(share < CROWDED, 2 / (1 + np.sqrt(np.maximum(1 - 4 * share, 0.0))), np.inf)
    return np.asarray(np.where(moves, first * grown, 0.0) + ROUNDING / 2 * size)


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
    s, (right, left, _, residual) = after.values, after.vectors
    x, y = np.abs(right)[:, :, None], np.abs(left)[:, None]
    size = (y @ p.size(s) @ x).ravel()
    left_over = (y[:, 0] * np.abs(residual)).sum(axis=1)
    slope = np.abs((left.conj()[:, None] @ p.at(s, 1) @ right[:, :, None]).ravel() * s)
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
