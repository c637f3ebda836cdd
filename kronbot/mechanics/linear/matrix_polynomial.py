"""Matrix polynomials A0 + s A1 + s^2 A2 with uncertain entries: their size, residuals, and vectors near eigenvalues."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from kronbot.floats import Array

Complex = npt.NDArray[np.complex128]

ROUNDING = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Polynomial:
    """P(s) = sum s^k A_k of real n x n matrices, with bounds of the errors of their entries, or one P for every s.

    Where it is symmetric but for powers of s, P^T = E P E^-1 with E = diag(s^e), ``mirror`` (n,) are these e.
    """

    matrices: Sequence[Array]
    errors: Sequence[Array]
    mirror: npt.NDArray[np.int64] | None = None

    def at(self, s: Complex, derivative: int = 0) -> Complex:
        """Values (N, n, n) at s (N,), or first derivatives by s."""
        powers = range(derivative, len(self.matrices))
        factors = [(k if derivative else 1) * s[:, None, None] ** (k - derivative) for k in powers]
        return np.asarray(sum(f * self.matrices[k] for f, k in zip(factors, powers, strict=True)))

    def size(self, s: Complex) -> Array:
        """sum |s|^k |A_k| (N, n, n), to measure residuals by."""
        return np.asarray(sum(np.abs(s)[:, None, None] ** k * np.abs(A) for k, A in enumerate(self.matrices)))

    def error(self, s: Complex) -> Array:
        """Bounds of the errors of the entries (N, n, n) at s."""
        return np.asarray(sum(np.abs(s)[:, None, None] ** k * E for k, E in enumerate(self.errors)))

    def resolvent(self, s: Complex) -> Complex:
        """Inverses (N, n, n) at s."""
        scale = self.scale(s)
        values = self.at(s) * scale[:, :, None] * scale[:, None, :]
        return np.asarray(inverse(values) * scale[:, :, None] * scale[:, None, :])

    def scale(self, s: Complex) -> Array:
        """Powers of two (N, n) that bring the diagonal of ``size`` to one."""
        size = self.size(s)
        diagonal = np.diagonal(size, axis1=1, axis2=2)
        usual = np.where(diagonal > 0, diagonal, size.max(axis=2))
        return np.exp2(-np.round(np.log2(np.where(usual > 0, usual, 1.0)) / 2))

    @cached_property
    def _wide(self) -> list[npt.NDArray[np.longdouble]]:
        return [A.astype(np.longdouble) for A in self.matrices]

    def residual(self, s: Complex, X: Complex, left: bool = False) -> npt.NDArray[np.clongdouble]:
        """L(s_i) x_i in extended precision, for columns of X (n, N) and s (N,) or one s for all; or L(s_i)^H x_i."""
        total, z = np.zeros(X.shape, dtype=np.clongdouble), s.astype(np.clongdouble)
        parts = [part.astype(np.longdouble) for part in ((X.real, X.imag) if X.imag.any() else (X.real,))]
        for A in reversed(self._wide):
            A = A.swapaxes(-1, -2) if left else A
            # One matrix, or one for every s.
            whole = [A @ part if A.ndim == 2 else (A @ part.T[:, :, None])[:, :, 0].T for part in parts]
            total = total * (z.conj() if left else z) + (whole[0] if len(whole) == 1 else whole[0] + 1j * whole[1])
        return total

    def left(self, s: Complex, X: Complex, Y: Complex) -> Complex:
        """Left vectors to right ones X (n, N) at s (N,) or one s for all: by symmetry, or Y where there is none."""
        return Y if self.mirror is None else np.conj(s[None] ** self.mirror[:, None].astype(float) * X)

    def own_borders(self, s: Complex, X: Complex, Y: Complex) -> tuple[Complex, Complex]:
        """L' X and Y^H L' as borders, for vectors (N, n, count) at s (N,): solutions keep clear of other eigenvectors,
        to which these are orthogonal."""
        slope, scale = self.at(s, 1), self.scale(s)[:, :, None]
        sides = slope @ X, slope.conj().transpose(0, 2, 1) @ Y
        B, C = (_orthonormal(scale * side) for side in sides)
        return B, C

    def bordered(self, s: Complex, count: int, borders: tuple[Complex, Complex] | None = None) -> Bordered:
        """Solutions of the bordered systems at s (N,), regular where ``count`` eigenvalues are near, once refined.

        ``borders`` B, C (N, n, count), in coordinates of equal size, are in general position unless given. Where
        symmetry gives the left vector of one eigenvalue, Y is left out.
        """
        n, scale = len(self.matrices[0].T), self.scale(s)
        # Nothing in a robot is like these.
        usual = np.cos(np.arange(1, 2 * n * count + 1) ** 2 * 0.7).reshape(2, n, count) / np.sqrt(n)
        B, C = borders or np.broadcast_to(usual.astype(complex)[:, None], (2, len(s), n, count))
        whole = np.zeros((len(s), n + count, n + count), dtype=complex)
        whole[:, :n, :n] = self.at(s) * scale[:, :, None] * scale[:, None, :]
        whole[:, :n, n:], whole[:, n:, :n] = B, C.conj().transpose(0, 2, 1)
        H = inverse(whole)
        sides = []
        one_sided = count == 1 and self.mirror is not None
        for left, border in ((False, B),) if one_sided else ((False, B), (True, C)):
            h = H.conj().transpose(0, 2, 1) if left else H
            solution = h[:, :, n:].copy()
            for k in range(count):  # of L x + b t = 0 with c^H x = 1
                x, t = scale * solution[:, :n, k], solution[:, n:, k]
                rest = scale * self.residual(s, x.T, left).T + np.einsum("nij,nj->ni", border, t)
                solution[:, :, k] -= np.einsum("nij,nj->ni", h[:, :, :n], rest.astype(complex))
            sides.append(solution)
        X, Y = (scale[:, :, None] * side[:, :n] for side in (sides[0], sides[-1]))
        return Bordered(X, Y, sides[0][:, n:], scale[:, :, None] * H[:, :n, :n] * scale[:, None, :])


@dataclass(frozen=True)
class Bordered:
    """Spaces X (N, n, m), Y of vectors with L X + B T = 0, Y^H L + T C^H = 0 and C^H X = Y^H B = 1; T (N, m, m) = 0 at
    an eigenvalue. ``rest`` (N, n, n): a change dL of the matrix changes X by -rest dL X.
    """

    X: Complex
    Y: Complex
    T: Complex
    rest: Complex


def _orthonormal(X: Complex) -> Complex:
    """Bases of the same spaces (N, n, m)."""
    one = X.shape[2] == 1
    return np.asarray(X / np.sqrt((np.abs(X) ** 2).sum(axis=1, keepdims=True)) if one else np.linalg.qr(X)[0])


def inverse(values: Complex) -> Complex:
    """Inverses (N, n, n); of matrices that are singular to the last bit, those of matrices a rounding away."""
    try:
        return np.asarray(np.linalg.inv(values))
    except np.linalg.LinAlgError:
        if len(values) > 1:
            return np.concatenate([inverse(each[None]) for each in values])
    away = ROUNDING * np.random.default_rng(0).standard_normal(values.shape)
    return inverse(values + away)
