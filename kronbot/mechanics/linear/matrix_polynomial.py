"""Matrix polynomials A0 + s A1 + s^2 A2 with uncertain entries: their size, residuals, and vectors near eigenvalues."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from kronbot.cached import cached_property
from kronbot.floats import Array
from kronbot.records import dataclass

Complex = npt.NDArray[np.complex128]
# Real where s is.
Numbers = npt.NDArray[Any]
Wide = npt.NDArray[Any]

ROUNDING = float(np.finfo(float).eps)
# Of what is computed in extended precision, where the machine has one.
WIDE = float(np.finfo(np.longdouble).eps)


@dataclass(frozen=True)
class Polynomial:
    """P(s) = sum s^k A_k of real n x n matrices, with bounds of the errors of their entries.

    Or many of them, of matrices (M, 1, n, n), each for equally many of the numbers s. Where they are all ``symmetric``
    left vectors are right ones. ``zeros`` of its roots are known to be at zero.
    """

    matrices: Sequence[Array]
    errors: Sequence[Array]
    symmetric: bool = False
    zeros: int = 0

    def at(self, s: Numbers, derivative: int = 0) -> Numbers:
        """Values (N, n, n) at s (N,), or first derivatives by s."""
        return _sum(self._slopes if derivative else self.matrices, s)

    def size(self, s: Numbers) -> Array:
        """sum |s|^k |A_k| (N, n, n), to measure residuals by."""
        return _sum(self._sizes, np.abs(s))

    def error(self, s: Numbers) -> Array:
        """Bounds of the errors of the entries (N, n, n) at s, and of arithmetic with them."""
        return _sum(self.all_errors, np.abs(s))

    @cached_property
    def _sizes(self) -> list[Array]:
        return [np.abs(A) for A in self.matrices]

    @cached_property
    def _slopes(self) -> list[Array]:
        return [k * A for k, A in enumerate(self.matrices) if k]

    @cached_property
    def all_errors(self) -> list[Array]:
        """Errors of the entries with those of arithmetic in extended precision."""
        return [E + 4 * WIDE * A.shape[-1] * A for A, E in zip(self._sizes, self.errors, strict=True)]

    def resolvent(self, s: Complex) -> Complex:
        """Inverses (N, n, n) at s, infinite where they are beyond floats."""
        scale = self.scale(s)
        values = self.at(s) * scale[:, :, None] * scale[:, None, :]
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(inverse(values) * scale[:, :, None] * scale[:, None, :])

    def scale(self, s: Numbers) -> Array:
        """Powers of two (N, n) that bring the diagonal of ``size`` to one."""
        usual = _sum([np.diagonal(A, axis1=-2, axis2=-1)[..., None] for A in self._sizes], np.abs(s))[:, :, 0]
        if not (usual > 0).all():
            usual = np.where(usual > 0, usual, self.size(s).max(axis=2))
            usual = np.where(usual > 0, usual, 1.0)
        return balancing(usual)

    @cached_property
    def _wide(self) -> list[npt.NDArray[np.longdouble]]:
        return [A.astype(np.longdouble) for A in self.matrices]

    def residual(self, s: Numbers, X: Numbers, left: bool = False) -> Wide:
        """L(s_i) x_i in extended precision, for columns of X (n, N) and s (N,) or one s for all; or L(s_i)^H x_i."""
        plain = np.isrealobj(X)
        z: Wide = s.astype(np.longdouble if plain and np.isrealobj(s) else np.clongdouble)
        total: Wide = np.zeros((), dtype=z.dtype)
        sides = (X,) if plain else (X.real, X.imag) if X.imag.any() else (X.real,)
        parts = [part.astype(np.longdouble) for part in sides]
        for A in reversed(self._wide):
            A = A.swapaxes(-1, -2) if left else A
            whole = [A @ part if A.ndim == 2 else _by_systems(A, part) for part in parts]
            total = total * (z.conj() if left else z) + (whole[0] if len(whole) == 1 else whole[0] + 1j * whole[1])
        return total

    def residual_of_pair(self, X: Complex, S: Complex) -> Wide:
        """sum A_k X S^k (n, m) in extended precision: nothing where S (m, m) has m eigenvalues, with X (n, m)."""
        total: Wide = np.zeros(X.shape, dtype=np.clongdouble)
        for A in reversed(self._wide):
            total = A @ X + total @ S
        return total

    def left(self, X: Numbers, Y: Numbers) -> Numbers:
        """Left vectors to right ones X: by symmetry, or Y where there is none."""
        return X.conj() if self.symmetric else Y

    def bordered(self, s: Numbers, slope: Numbers, near: tuple[Numbers, Numbers] | None) -> Bordered:
        """Solutions of the bordered systems at s (N,), where L' is ``slope``: regular where an eigenvalue is near, once
        refined.

        With vectors ``near`` x, y (N, n) borders are L' x and y^H L': solutions keep clear of other eigenvectors, to
        which these are orthogonal; else they are in general position. Where symmetry gives the left vector, it is left
        out.
        """
        n, scale = self.matrices[0].shape[-1], self.scale(s)
        if near is None:
            # Nothing in a robot is like these.
            usual = np.cos(np.arange(1, 2 * n + 1) ** 2 * 0.7).reshape(2, n) / np.sqrt(n)
            b, c = np.broadcast_to(usual.astype(s.dtype)[:, None], (2, len(s), n))
        else:
            met = slope @ near[0][:, :, None], slope.conj().swapaxes(1, 2) @ near[1][:, :, None]
            b, c = (_unit(scale * side[:, :, 0]) for side in met)
        whole = np.zeros((len(s), n + 1, n + 1), dtype=b.dtype)
        whole[:, :n, :n] = self.at(s) * scale[:, :, None] * scale[:, None, :]
        whole[:, :n, n], whole[:, n, :n] = b, c.conj()
        H = inverse(whole)
        sides = []
        for left, border in ((False, b),) if self.symmetric else ((False, b), (True, c)):
            h = H.conj().transpose(0, 2, 1) if left else H
            solution = h[:, :, n].copy()  # of L x + b t = 0 with c^H x = 1
            x, t = scale * solution[:, :n], solution[:, n:]
            rest = scale * self.residual(s, x.T, left).T + border * t
            solution -= (h[:, :, :n] @ rest.astype(h.dtype)[:, :, None])[:, :, 0]
            sides.append(scale * solution[:, :n])
        return Bordered(sides[0], sides[-1], scale[:, :, None] * H[:, :n, :n] * scale[:, None, :], scale)


def together(many: Sequence[Polynomial], counts: Sequence[int]) -> Polynomial:
    """Polynomials for so many numbers s each."""
    if len(many) == 1:
        return many[0]
    sides = (zip(*side, strict=True) for side in ((p.matrices for p in many), (p.errors for p in many)))
    matrices, errors = ([np.array(each)[:, None] for each in side] for side in sides)
    if len(set(counts)) > 1:
        matrices, errors = ([np.repeat(A, counts, axis=0) for A in side] for side in (matrices, errors))
    return Polynomial(matrices, errors, many[0].symmetric)


@dataclass(frozen=True)
class Bordered:
    """Vectors x, y (N, n) with L x + b t = 0, y^H L + t c^H = 0 and c^H x = y^H b = 1, t = 0 at an eigenvalue.

    ``rest`` (N, n, n): a change dL of the matrix changes x by -rest dL x. In units of ``scale`` (N, n) entries are of
    one size.
    """

    x: Numbers
    y: Numbers
    rest: Numbers
    scale: Array


def each(A: Numbers, X: Numbers) -> Numbers:
    """A matrix, or those of many polynomials, in front of what meets them for every s (N, k, l)."""
    return X if A.ndim == 2 else X.reshape(len(A), -1, *X.shape[1:])


def _by_systems(A: Wide, X: Wide) -> Wide:
    """Columns of X (n, N) times those matrices (M, 1, n, n) that they are for."""
    n, count = X.shape
    return (A[:, 0] @ X.reshape(n, len(A), -1).swapaxes(0, 1)).swapaxes(1, 2).reshape(count, n).T


def _sum(parts: Sequence[Array], s: Numbers) -> Numbers:
    """sum s^k A_k (N, n, n) of parts A_k at s (N,), by Horner's rule."""
    z = each(parts[0], s[:, None, None])
    total: Numbers = parts[-1] * (z if len(parts) > 1 else np.ones_like(z))
    for A in parts[-2:0:-1]:
        total = (total + A) * z
    total = total + parts[0] if len(parts) > 1 else total
    return total.reshape(-1, *total.shape[-2:])


def balancing(size: Array) -> Array:
    """Powers of two near 1/sqrt(size): rows and columns times them have the size one."""
    return np.asarray(np.ldexp(1.0, -(np.frexp(size)[1] >> 1)))


def _unit(x: Numbers) -> Numbers:
    return np.asarray(x / np.sqrt((np.abs(x) ** 2).sum(axis=1, keepdims=True)))


def inverse(values: Numbers, share: float = ROUNDING) -> Numbers:
    """Inverses (N, n, n); of matrices that are singular to the last bit, those of matrices a rounding away.

    NaN where an entry is no finite number.
    """
    try:
        return np.asarray(np.linalg.inv(values))
    except np.linalg.LinAlgError:
        if len(values) > 1:
            return np.concatenate([inverse(each[None]) for each in values])
        if not np.isfinite(values).all():
            return np.full_like(values, np.nan)
    away = share * (np.abs(values).max(initial=0.0) or 1.0) * np.random.default_rng(0).standard_normal(values.shape)
    return inverse(values + away, 4 * share)


def eigen(A: Numbers, tries: int = 8) -> tuple[Numbers, Numbers]:
    """Eigenvalues (..., n) and vectors (..., n, n); of matrices for which LAPACK finds none, those of the same ones in
    other orthogonal coordinates.

    Raises LinAlgError where an entry is no finite number.
    """
    try:
        values, vectors = np.linalg.eig(A)
        return values, vectors
    except np.linalg.LinAlgError:
        if not tries or not np.isfinite(A).all():
            raise
    if A.ndim > 2:
        every = [eigen(each) for each in A]
        return np.array([values for values, _ in every]), np.array([vectors for _, vectors in every])
    turned = np.linalg.qr(np.random.default_rng(tries).standard_normal(A.shape))[0]
    values, vectors = eigen(turned.T @ A @ turned, tries - 1)
    return values, turned @ vectors
