"""Bending eigenfunctions of a uniform Euler-Bernoulli beam, phi'''' = beta^4 phi on [0, 1], clamped at 0.

phi(0) = phi'(0) = 0 leaves two solutions f and g of t = beta xi, and so a mode is two coefficients and its root beta.
For a small beta they are power series without cancellation, else decaying exponentials: with cosh - cos and
sinh - sin all digits are lost at beta = 37, the twelfth mode.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache

import numpy as np

from kronbot.floats import Array, read_only
from kronbot.records import dataclass

# Below this beta the series are used. Either form is accurate to rounding there.
_SMALL = 2.0
_SERIES_TERMS = 7  # t^(4 * 7)/28! = 1e-21 at t = 2


@dataclass(frozen=True, eq=False)
class Eigenfunctions:
    """Modes by ascending frequency: ``roots`` beta (m,) and ``coefficients`` (2, m) of f and g.

    beta = (rho A omega^2 l^4/(EI))^(1/4) gives the angular frequency omega. ``parity`` (m,): phi(1 - xi) = +-phi(xi)
    between two equal ends, which makes both ends exact. ``squares`` (m,): the integrals of phi^2 of modes that are
    orthogonal, and so are their curvatures; None where the tip has a mass.
    """

    roots: Array
    coefficients: Array
    parity: Array | None = None
    squares: Array | None = None

    def __post_init__(self) -> None:
        """Make it read-only: all beams with such shapes have these."""
        for name in ("roots", "coefficients", "parity", "squares"):
            if (held := getattr(self, name)) is not None:
                object.__setattr__(self, name, read_only(held))

    def values(self, xi: Array, derivative: int) -> Array:
        """Return d^n phi / d xi^n, n = ``derivative`` in 0..3, at the points xi, (k,) or (m, k), as an array (m, k)."""
        beta = self.roots[:, None]
        at = xi if self.parity is None else np.minimum(xi, 1 - xi)
        found = beta**derivative * _combine(self.coefficients[:, :, None], _solutions(beta, at, derivative))
        return found if self.parity is None else mirrored(found, xi, self.parity, derivative)

    def integrals(self) -> Array:
        """Return int_0^1 phi dxi (m,), from d^4 phi / d xi^4 = beta^4 phi."""
        root, tip = self._ends(3)
        return np.asarray((tip - root) / self.roots**4)

    def first_moments(self) -> Array:
        """Return int_0^1 xi phi dxi (m,), by parts from d^4 phi / d xi^4 = beta^4 phi."""
        root, tip = self._ends(2)
        return np.asarray((self._ends(3)[1] - tip + root) / self.roots**4)

    def _ends(self, derivative: int) -> Array:
        return self.values(np.array([0.0, 1.0]), derivative).T


def clamped_free(m: int) -> Eigenfunctions:
    """First m modes of the cantilever: 1 + cos(beta) cosh(beta) = 0, scaled to phi(1) = 1."""
    roots = _cosine_roots(np.pi * np.arange(0.5, m), 1.0)
    place, _, curvature, shear = _tip(roots)
    coefficients = _null_vectors(curvature, shear)
    return Eigenfunctions(roots, coefficients / _combine(coefficients, place), squares=np.full(m, 0.25))


def clamped_clamped(m: int) -> Eigenfunctions:
    """First m modes of the beam clamped at both ends: 1 - cos(beta) cosh(beta) = 0, scaled as ``clamped_mass``."""
    roots = _cosine_roots(np.pi * np.arange(1.5, m + 1), -1.0)
    place, slope, _, _ = _tip(roots)
    parity: Array = np.where(np.arange(m) % 2, -1.0, 1.0)
    modes = _with_unit_peaks(Eigenfunctions(roots, _null_vectors(place, slope), parity))
    bent = modes.values(np.zeros(1), 2)[:, 0] / roots**2
    return replace(modes, squares=bent**2 / 4)


def mirrored(values: Array, xi: Array, parity: Array, derivative: int) -> Array:
    """Values (m, k) at min(xi, 1 - xi) of functions with phi(1 - xi) = ``parity`` phi(xi), as those at xi."""
    return np.where(xi > 0.5, (-1) ** derivative * parity[:, None] * values, values)


@lru_cache(maxsize=256)
def clamped_mass(m: int, mass_ratio: float, inertia_ratio: float) -> Eigenfunctions:
    """First m modes of the cantilever with a rigid mass M and a rotary inertia J at its tip.

    phi''(1) = iota beta^4 phi'(1), phi'''(1) = -mu beta^4 phi(1), with ``mass_ratio`` mu = M/(rho A l) and
    ``inertia_ratio`` iota = J/(rho A l^3). The largest absolute value on [0, 1] is 1 and phi''(0) > 0.
    Raises ValueError unless both ratios are finite and not negative.
    """
    for name, ratio in (("mass_ratio", mass_ratio), ("inertia_ratio", inertia_ratio)):
        if not (math.isfinite(ratio) and ratio >= 0):
            raise ValueError(f"{name} must be finite and not negative, not {ratio}")
    roots = _loaded_roots(m, mass_ratio, inertia_ratio)
    coefficients = _null_vectors(*_tip_balance(_tip(roots), roots, mass_ratio, inertia_ratio))
    return _with_unit_peaks(Eigenfunctions(roots, coefficients))


def _cosine_roots(starts: Array, sign: float) -> Array:
    """Newton's method on cos(beta) + sign/cosh(beta) from the asymptotic roots, which are off by 0.31 at most."""
    beta = starts
    for _ in range(6):
        sech = 2 * np.exp(-beta) / (1 + np.exp(-2 * beta))
        beta = beta + (np.cos(beta) + sign * sech) / (np.sin(beta) + sign * sech * np.tanh(beta))
    return beta


def _loaded_roots(m: int, mass_ratio: float, inertia_ratio: float) -> Array:
    """Bisection on the number of roots below beta, which misses none."""
    number = np.arange(1, m + 1)
    # The tip has two coordinates, so that root k lies between root k - 2 of the held tip and root k of the free one.
    low, high = np.maximum(number - 2, 0) * np.pi, number * np.pi
    for _ in range(60):
        middle = (low + high) / 2
        enough = _roots_below(middle, mass_ratio, inertia_ratio) >= number
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return (low + high) / 2


def _roots_below(beta: Array, mass_ratio: float, inertia_ratio: float) -> Array:
    """Number of roots below each beta, by Wittrick and Williams.

    It is the number of roots with the tip held plus that of the negative eigenvalues of the tip's symmetric dynamic
    stiffness Z, (-phi''' - mu beta^4 phi, phi'' - iota beta^4 phi') = Z (phi, phi').
    """
    tip = _tip(beta)
    moment, force = _tip_balance(tip, beta, mass_ratio, inertia_ratio)
    place, slope, _, _ = tip
    # One root of the held tip lies between n pi and (n + 1) pi, n = 1, 2, ... Both numbers below take the same sign of
    # its determinant: beside such a root, where rounding decides that sign, their sum is still right.
    sign = np.copysign(1.0, _cross(place, slope))
    half_waves = np.floor(beta / np.pi)
    held = half_waves - 1 + (sign * (-1) ** half_waves > 0)
    z_det, z_11 = sign * _cross(moment, force), sign * _cross(slope, force)
    return np.asarray(held + np.where(z_det < 0, 1, np.where(z_11 < 0, 2, 0)))


def _tip_balance(tip: list[Array], beta: Array, mass_ratio: float, inertia_ratio: float) -> tuple[Array, Array]:
    """Moment and force that f and g leave unbalanced at their ``tip``, each (2, m), divided by a number to be O(1)."""
    place, slope, curvature, shear = tip
    inertia, mass = inertia_ratio * beta**3, mass_ratio * beta
    return (curvature - inertia * slope) / (1 + inertia), (shear + mass * place) / (1 + mass)


def _tip(beta: Array) -> list[Array]:
    """f and g and their first three derivatives by t at xi = 1: four arrays (2, m)."""
    return [_solutions(beta, np.ones_like(beta), n) for n in range(4)]


def _solutions(beta: Array, xi: Array, n: int) -> Array:
    """n-th derivatives (0 to 3) of f and g by t = beta xi, shape (2, ...), beta and xi broadcast.

    f = t^2/2 + ..., g = t^3/6 + ... for a small beta, else f = exp(-t) - cos t + sin t and
    g = exp(t - beta) - exp(-beta) (cos t + sin t); both pairs have the same orientation (sign of f'' g''' - f''' g'').
    """
    t = beta * xi
    minus, plus = np.sin(t) - np.cos(t), np.sin(t) + np.cos(t)
    turns = [minus, plus, -minus, -plus]  # each the derivative of the one before
    large = [(-1) ** n * np.exp(-t) + turns[n], np.exp(t - beta) - np.exp(-beta) * turns[(n + 1) % 4]]
    bounded = np.where(beta < _SMALL, t, 0.0)
    small = [_series((2 - n) % 4, bounded), _series((3 - n) % 4, bounded)]
    return np.where(beta < _SMALL, small, large)


def _series(n: int, t: Array) -> Array:
    """Sum over i of t^(n + 4 i)/(n + 4 i)!; its derivative is the series of n - 1 (modulo 4)."""
    coefficients = [1 / math.factorial(n + 4 * i) for i in range(_SERIES_TERMS)]
    return np.asarray(t**n * np.polynomial.polynomial.polyval(t**4, coefficients))


def _cross(a: Array, b: Array) -> Array:
    return np.asarray(a[0] * b[1] - a[1] * b[0])


def _combine(coefficients: Array, solutions: Array) -> Array:
    return np.asarray(coefficients[0] * solutions[0] + coefficients[1] * solutions[1])


def _null_vectors(first: Array, second: Array) -> Array:
    """Coefficients (2, m) that two rows (2, m), parallel at a root, annul; the longer row says it more precisely."""
    row = np.where(np.hypot(*first) > np.hypot(*second), first, second)
    return np.stack([-row[1], row[0]])


def _with_unit_peaks(modes: Eigenfunctions) -> Eigenfunctions:
    """Scale every mode to the largest absolute value 1 on [0, 1] and to phi''(0) > 0."""
    m = len(modes.roots)
    grid = np.linspace(0.0, 1.0, 16 * m + 17)
    low, high = np.maximum(grid - grid[1], 0.0), np.minimum(grid + grid[1], 1.0)
    # Newton's method on phi' from every point: lobes can differ by less than a grid tells apart.
    xi = np.tile(grid, (m, 1))
    for _ in range(4):
        slope, curvature = modes.values(xi, 1), modes.values(xi, 2)
        xi = np.clip(xi - slope / np.where(curvature == 0, 1.0, curvature), low, high)
    size = np.abs(np.hstack([modes.values(xi, 0), modes.values(np.ones(1), 0)])).max(axis=1)
    lobe = np.sign(modes.values(np.zeros(1), 2)[:, 0])
    return replace(modes, coefficients=modes.coefficients * lobe / size)
