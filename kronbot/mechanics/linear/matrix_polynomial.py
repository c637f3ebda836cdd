"""Matrix polynomials A0 + s A1 + s^2 A2 with uncertain entries: their size, residuals, and vectors near eigenvalues."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from kronbot.floats import Array

Complex = npt.NDArray[np.complex128]
# Real where s is.
Numbers = npt.NDArray[Any]
Wide = npt.NDArray[Any]

ROUNDING = float(np.finfo(float).eps)
# Of what is computed in extended precision, where the machine has one.
WIDE = float(np.finfo(np.longdouble).eps)


@dataclass(frozen=True)
class Polynomial:
    """P(s) = sum s^k A_k of real n x n matrices, with bounds of the errors of their entries, or one P for every s.

    Where they are all ``symmetric`` left vectors are right ones. ``zeros`` of its roots are known to be at zero.
    """

    matrices: Sequence[Array]
    errors: Sequence[Array]
    symmetric: bool = False
    zeros: int = 0

    def at(self, s: Numbers, derivative: int = 0) -> Numbers:
        """Values (N, n, n) at s (N,), or first derivatives by s."""
        powers = range(derivative, len(self.matrices))
        factors = [(k if derivative else 1) * s[:, None, None] ** (k - derivative) for k in powers]
        return np.asarray(sum(f * self.matrices[k] for f, k in zip(factors, powers, strict=True)))

    def size(self, s: Numbers) -> Array:
        """sum |s|^k |A_k| (N, n, n), to measure residuals by."""
        return np.asarray(sum(np.abs(s)[:, None, None] ** k * np.abs(A) for k, A in enumerate(self.matrices)))

    def error(self, s: Numbers) -> Array:
        """Bounds of the errors of the entries (N, n, n) at s, and of arithmetic with them."""
        return np.asarray(sum(np.abs(s)[:, None, None] ** k * E for k, E in enumerate(self.all_errors)))

    @cached_property
    def all_errors(self) -> list[Array]:
        """Errors of the entries with those of arithmetic in extended precision."""
        return [E + 4 * WIDE * A.shape[-1] * np.abs(A) for A, E in zip(self.matrices, self.errors, strict=True)]

    def resolvent(self, s: Complex) -> Complex:
        """Inverses (N, n, n) at s."""
        scale = self.scale(s)
        values = self.at(s) * scale[:, :, None] * scale[:, None, :]
        return np.asarray(inverse(values) * scale[:, :, None] * scale[:, None, :])

    def scale(self, s: Numbers) -> Array:
        """Powers of two (N, n) that bring the diagonal of ``size`` to one."""
        size = self.size(s)
        diagonal = np.diagonal(size, axis1=1, axis2=2)
        usual = np.where(diagonal > 0, diagonal, size.max(axis=2))
        return np.exp2(-np.round(np.log2(np.where(usual > 0, usual, 1.0)) / 2))

    @cached_property
    def _wide(self) -> list[npt.NDArray[np.longdouble]]:
        return [A.astype(np.longdouble) for A in self.matrices]

    def residual(self, s: Numbers, X: Numbers, left: bool = False) -> Wide:
        """L(s_i) x_i in extended precision, for columns of X (n, N) and s (N,) or one s for all; or L(s_i)^H x_i."""
        real = np.isrealobj(s) and np.isrealobj(X)
        z: Wide = s.astype(np.longdouble if real else np.clongdouble)
        total: Wide = np.zeros(X.shape, dtype=z.dtype)
        parts = [part.astype(np.longdouble) for part in ((X.real, X.imag) if X.imag.any() else (X.real,))]
        for A in reversed(self._wide):
            A = A.swapaxes(-1, -2) if left else A
            # One matrix, or one for every s.
            whole = [A @ part if A.ndim == 2 else (A @ part.T[:, :, None])[:, :, 0].T for part in parts]
            total = total * (z.conj() if left else z) + (whole[0] if len(whole) == 1 else whole[0] + 1j * whole[1])
        return total

    def left(self, X: Numbers, Y: Numbers) -> Numbers:
        """Left vectors to right ones X: by symmetry, or Y where there is none."""
        return X.conj() if self.symmetric else Y

    def bordered(self, s: Numbers, count: int, near: tuple[Numbers, Numbers] | None = None) -> Bordered:
        """Solutions of the bordered systems at s (N,), regular where ``count`` eigenvalues are near, once refined.

        With vectors ``near`` X, Y (N, n, count) borders are L' X and Y^H L': solutions keep clear of other
        eigenvectors, to which these are orthogonal; else they are in general position. Where symmetry gives the left
        vector of one eigenvalue, Y is left out.
        """
        n, scale = len(self.matrices[0].T), self.scale(s)
        if near is None:
            # Nothing in a robot is like these.
            usual = np.cos(np.arange(1, 2 * n * count + 1) ** 2 * 0.7).reshape(2, n, count) / np.sqrt(n)
            B, C = np.broadcast_to(usual.astype(s.dtype)[:, None], (2, len(s), n, count))
        else:
            slope = self.at(s, 1)
            met = slope @ near[0], slope.conj().swapaxes(1, 2) @ near[1]
            B, C = (_orthonormal(scale[:, :, None] * side) for side in met)
        whole = np.zeros((len(s), n + count, n + count), dtype=B.dtype)
        whole[:, :n, :n] = self.at(s) * scale[:, :, None] * scale[:, None, :]
        whole[:, :n, n:], whole[:, n:, :n] = B, C.conj().transpose(0, 2, 1)
        H = inverse(whole)
        sides = []
        one_sided = count == 1 and self.symmetric
        for left, border in ((False, B),) if one_sided else ((False, B), (True, C)):
            h = H.conj().transpose(0, 2, 1) if left else H
            solution = h[:, :, n:].copy()
            for k in range(count):  # of L x + b t = 0 with c^H x = 1
                x, t = scale * solution[:, :n, k], solution[:, n:, k]
                rest = scale * self.residual(s, x.T, left).T + np.einsum("nij,nj->ni", border, t)
                solution[:, :, k] -= np.einsum("nij,nj->ni", h[:, :, :n], rest.astype(h.dtype))
            sides.append(solution)
        X, Y = (scale[:, :, None] * side[:, :n] for side in (sides[0], sides[-1]))
        return Bordered(X, Y, sides[0][:, n:], scale[:, :, None] * H[:, :n, :n] * scale[:, None, :], scale)


def together(many: Sequence[Polynomial], counts: int | Sequence[int]) -> Polynomial:
    """Polynomials for so many numbers s each."""
    if len(many) == 1:
        return many[0]
    sides = (zip(*side, strict=True) for side in ((p.matrices for p in many), (p.errors for p in many)))
    matrices, errors = ([np.repeat(np.array(each), counts, axis=0) for each in side] for side in sides)
    return Polynomial(matrices, errors, many[0].symmetric)


@dataclass(frozen=True)
class Bordered:
    """Spaces X (N, n, m), Y of vectors with L X + B T = 0, Y^H L + T C^H = 0 and C^H X = Y^H B = 1; T (N, m, m) = 0 at
    an eigenvalue. ``rest`` (N, n, n): a change dL of the matrix changes X by -rest dL X. In units of ``scale`` (N, n)
    entries are of one size.
    """

    X: Numbers
    Y: Numbers
    T: Numbers
    rest: Numbers
    scale: Array


def _orthonormal(X: Numbers) -> Numbers:
    """Bases of the same spaces (N, n, m)."""
    one = X.shape[2] == 1
    return np.asarray(X / np.sqrt((np.abs(X) ** 2).sum(axis=1, keepdims=True)) if one else np.linalg.qr(X)[0])


def inverse(values: Numbers) -> Numbers:
    """Inverses (N, n, n); of matrices that are singular to the last bit, those of matrices a rounding away."""
    try:
        return np.asarray(np.linalg.inv(values))
    except np.linalg.LinAlgError:
        if len(values) > 1:
            return np.concatenate([inverse(each[None]) for each in values])
    away = ROUNDING * (np.abs(values).max(initial=0.0) or 1.0) * np.random.default_rng(0).standard_normal(values.shape)
    return inverse(values + away)
