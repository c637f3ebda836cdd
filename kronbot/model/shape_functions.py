"""Shape functions of a beam that is clamped at xi = 0: bending and torsion, as functions of xi = x/l in [0, 1].

A shape is phi(x) = l**p phihat(x/l) with one integer power p a mode, so that its n-th derivative by x is
l**(p - n) times the n-th derivative of phihat. This module knows phihat only; the powers of l are the caller's.
Every bending shape has phi(0) = phi'(0) = 0, every torsion shape phi(0) = 0. Every constructor takes the number m of
shapes, m = 0 included, and raises ValueError for a negative one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from functools import lru_cache, partial

import numpy as np
import numpy.typing as npt

from kronbot.floats import Array, read_only
from kronbot.model import eigenfunctions
from kronbot.model.eigenfunctions import Eigenfunctions
from kronbot.records import dataclass

Polynomial = tuple[Fraction, ...]
# More shapes than these are integrated by quadrature: exact numbers take time, and formulas of so many nobody reads.
RATIONAL = 8
# Ascending coefficients of the deflections by a force and by a moment at the tip.
TIP_LOADS: tuple[Polynomial, ...] = (
    (Fraction(0), Fraction(0), Fraction(3, 2), Fraction(-1, 2)),
    (Fraction(0), Fraction(0), Fraction(1)),
)


@dataclass(frozen=True, eq=False)
class Shapes:
    """The m shape functions of one direction of a beam (bending in or out of the plane, or torsion).

    ``powers``: the power p of the length in phi(x) = l**p phihat(x/l), one a mode; 0 everywhere but for ``polynomial``
    and ``torsion_polynomial``. ``nodes``: Gauss nodes on [0, 1] for products of four shapes or derivatives.
    ``evaluate(xi, n)``: the n-th derivatives of all phihat at xi, (k,) -> (m, k); callers use ``values``. It pickles.
    ``knots``: ascending places inside (0, 1) between which shapes are cubics, none for smooth shapes.
    ``rational``: ascending coefficients in xi of the first shapes, where these are polynomials, for exact integrals;
    ``waves``: the last shapes, where these are eigenfunctions, likewise.
    """

    powers: tuple[int, ...]
    nodes: int
    evaluate: Callable[[Array, int], Array]
    knots: Array = field(default_factory=lambda: np.zeros(0))
    rational: tuple[Polynomial, ...] = ()
    waves: Eigenfunctions | None = None

    def __post_init__(self) -> None:
        """Make it read-only: all beams with such shapes have these."""
        object.__setattr__(self, "knots", read_only(self.knots))

    def __len__(self) -> int:
        """Return m, the number of shapes."""
        return len(self.powers)

    def values(self, xi: npt.ArrayLike, derivative: int = 0) -> Array:
        """Return d^n phihat / d xi^n, n = ``derivative``, at the points ``xi`` (k,) as an array (m, k).

        Raises ValueError unless the derivative is 0, 1 or 2.
        """
        if derivative not in (0, 1, 2):
            raise ValueError(f"the derivative of a shape must be 0, 1 or 2, not {derivative}")
        return self.evaluate(np.atleast_1d(np.asarray(xi, dtype=float)), derivative)


@lru_cache(maxsize=32)
def clamped_free(m: int) -> Shapes:
    """Bending eigenfunctions of the cantilever: phi'''' = beta^4 phi, phi''(1) = phi'''(1) = 0, phi(1) = 1."""
    return _waves(eigenfunctions.clamped_free(_count(m)))


def clamped_mass(m: int, mass_ratio: float, inertia_ratio: float) -> Shapes:
    """Bending eigenfunctions of a cantilever with a rigid mass M and a rotary inertia J at its tip.

    phi'''' = beta^4 phi, phi''(1) = iota beta^4 phi'(1), phi'''(1) = -mu beta^4 phi(1), with ``mass_ratio``
    mu = M/(rho A l) and ``inertia_ratio`` iota = J/(rho A l^3). The largest absolute value on [0, 1] is 1 and the
    first lobe is positive, phi''(0) > 0; phi(1) = 1 would not do, since under a heavy mass the tip hardly moves.
    Raises ValueError unless both ratios are finite and not negative.
    """
    return _waves(eigenfunctions.clamped_mass(_count(m), mass_ratio, inertia_ratio))


@lru_cache(maxsize=32)
def craig_bampton(m: int) -> Shapes:
    """Static shapes of a tip force, (3 xi^2 - xi^3)/2, and of a tip moment, xi^2, then m - 2 clamped-clamped modes.

    The modes have the largest value 1 and a positive first lobe.
    """
    static = TIP_LOADS[: _count(m)]
    modes = eigenfunctions.clamped_clamped(max(m - 2, 0))
    nodes = max(_polynomial_nodes(3), wave_nodes(modes.roots))
    return Shapes((0,) * m, nodes, partial(_static_first, static, _of(modes)), rational=_rational(static), waves=modes)


@lru_cache(maxsize=32)
def polynomial(m: int) -> Shapes:
    """Bending shapes x^(i+1) of Piedboeuf, x in metres: phihat = xi^(i+1) with powers i + 1, i = 1..m."""
    return _monomials(2, m)


@lru_cache(maxsize=32)
def legendre(m: int) -> Shapes:
    """Bending shapes xi^2 P_i(2 xi - 1), i = 0..m-1: the space of ``polynomial``, well conditioned."""
    return _legendre(2, m)


@lru_cache(maxsize=32)
def torsion_sine(m: int) -> Shapes:
    """Torsion eigenfunctions sin((2 i - 1) pi xi/2), i = 1..m, of a shaft clamped at 0 and free at its tip."""
    half_waves: Array = np.arange(0.5, _count(m))
    return Shapes((0,) * m, wave_nodes(np.pi * half_waves), partial(_sines, half_waves))


@lru_cache(maxsize=32)
def torsion_craig_bampton(m: int) -> Shapes:
    """The twist xi of a tip torque, then sin(i pi xi), i = 1..m - 1, the modes of a shaft clamped at both ends."""
    static = [[0, 1]][: _count(m)]
    half_waves: Array = np.arange(1.0, m)
    nodes = max(_polynomial_nodes(1), wave_nodes(np.pi * half_waves))
    evaluate = partial(_static_first, static, partial(_sines, half_waves))
    return Shapes((0,) * m, nodes, evaluate, rational=_rational(static))


@lru_cache(maxsize=32)
def torsion_polynomial(m: int) -> Shapes:
    """Torsion shapes x^i, x in metres: phihat = xi^i with powers i, i = 1..m."""
    return _monomials(1, m)


@lru_cache(maxsize=32)
def torsion_legendre(m: int) -> Shapes:
    """Torsion shapes xi P_i(2 xi - 1), i = 0..m-1."""
    return _legendre(1, m)


BENDING: Mapping[str, Callable[[int], Shapes]] = {
    "clamped-free": clamped_free,
    "polynomial": polynomial,
    "legendre": legendre,
    "craig-bampton": craig_bampton,
}
"""Bending shapes by their name in a robot file; ``clamped-mass`` is not here because it takes the tip's data too."""

TORSION: Mapping[str, Callable[[int], Shapes]] = {
    "clamped-free": torsion_sine,
    "clamped-mass": torsion_sine,
    "polynomial": torsion_polynomial,
    "legendre": torsion_legendre,
    "craig-bampton": torsion_craig_bampton,
}
"""Torsion shapes by the name in a robot file (one name stands for both fields of a beam)."""


@lru_cache(maxsize=256)
def gauss(n: int) -> tuple[Array, Array]:
    """Return the n Gauss-Legendre nodes on [0, 1], ascending, and their weights, both (n,) and read-only."""
    from numpy.polynomial import legendre  # here and below, since robots that are known do without

    x, w = legendre.leggauss(n)
    nodes, weights = np.asarray((x + 1) / 2, dtype=float), np.asarray(w / 2, dtype=float)
    for array in (nodes, weights):
        array.setflags(write=False)  # the cache hands the same arrays to everyone
    return nodes, weights


def nodes_needed(*families: Shapes) -> int:
    """Return the number of Gauss nodes on [0, 1] for integrals of products of four shapes or derivatives and of xi.

    The four factors may be integrated from the root on the way, as in the square of a foreshortening. Exact for
    polynomials, for eigenfunctions to 1e-12 of the integral of the absolute value, for splines to the error that they
    have themselves; at least 1.
    """
    return max((family.nodes for family in families), default=1)


def wave_nodes(roots: Array) -> int:
    """Gauss nodes on [0, 1] for products of four waves up to the last of the ascending ``roots`` beta (m,).

    A product of four has the wave number 4 beta, which takes beta nodes to resolve; from there on the error falls to
    1e-12 within some multiple of beta^(1/3) nodes (fitted and tested). Slow modes are cubics but for a small quartic.
    """
    if not roots.size:
        return 1
    beta = float(roots[-1])
    return max(math.ceil(beta + 5 * math.cbrt(beta) + 4), _polynomial_nodes(4))


def _count(m: int) -> int:
    if m < 0:
        raise ValueError(f"the number of shapes must not be negative, not {m}")
    return m


def _of(modes: Eigenfunctions) -> Callable[[Array, int], Array]:
    return partial(Eigenfunctions.values, modes)


def _waves(modes: Eigenfunctions) -> Shapes:
    return Shapes((0,) * len(modes.roots), wave_nodes(modes.roots), _of(modes), waves=modes)


def _sines(half_waves: Array, xi: Array, n: int) -> Array:
    """n-th derivatives (m, k) of sin(pi r xi), r = ``half_waves`` (m,), exactly zero where they are."""
    turns = np.mod(half_waves[:, None] * xi + n / 2, 2.0)  # of pi; the derivative is the sine half a turn further
    nearest = np.round(2 * turns) / 2
    rest = np.pi * (turns - nearest)
    quarter = np.mod(2 * nearest, 4).astype(int)
    sine = np.choose(quarter, [np.sin(rest), np.cos(rest), -np.sin(rest), -np.cos(rest)])
    return np.asarray((np.pi * half_waves[:, None]) ** n * sine)


def _polynomial_nodes(degree: int) -> int:
    """Nodes for the degree of four factors and xi, 4 degree + 1 (bending times torsion, squared, has 4 degree)."""
    return 2 * degree + 1


def _monomials(lowest: int, m: int) -> Shapes:
    powers = tuple(range(lowest, lowest + _count(m)))
    rows = [[0] * power + [1] for power in powers]
    nodes = _polynomial_nodes(max(powers, default=0))
    return Shapes(powers, nodes, partial(_power_values, rows), rational=_rational(rows))


def _rational(rows: Sequence[Sequence[int | Fraction]]) -> tuple[Polynomial, ...]:
    return tuple(tuple(map(Fraction, row)) for row in rows[:RATIONAL])


def _power_values(rows: Sequence[Sequence[int | Fraction]], xi: Array, n: int) -> Array:
    """n-th derivatives (m, k) of the polynomials whose ascending coefficients are the rows."""
    from numpy.polynomial import polynomial

    values = [polynomial.polyval(xi, polynomial.polyder(np.array(row, dtype=float), n)) for row in rows]
    return np.asarray(values, dtype=float).reshape(len(rows), len(xi))


def _static_first(
    static: Sequence[Sequence[int | Fraction]], others: Callable[[Array, int], Array], xi: Array, n: int
) -> Array:
    """n-th derivatives (m, k) of polynomials, then of other shapes."""
    return np.vstack([_power_values(static, xi, n), others(xi, n)])


def _legendre(power: int, m: int) -> Shapes:
    """Shapes xi^power P_i(2 xi - 1), i = 0..m-1."""
    rows = [
        [0] * power + [(-1) ** (i + k) * math.comb(i, k) * math.comb(i + k, k) for k in range(i + 1)]
        for i in range(min(_count(m), RATIONAL))
    ]
    nodes = _polynomial_nodes(power + m - 1 if m else 0)
    return Shapes((0,) * m, nodes, partial(_legendre_products, power, m), rational=_rational(rows))


def _legendre_products(power: int, m: int, xi: Array, n: int) -> Array:
    """n-th derivatives (m, k) of xi^power P_i(2 xi - 1), by the product rule."""
    terms = [
        math.comb(n, j) * math.perm(power, j) * xi ** max(power - j, 0) * _legendre_values(m, xi, n - j)
        for j in range(n + 1)
    ]
    return np.asarray(np.sum(terms, axis=0), dtype=float)


def _legendre_values(m: int, xi: Array, n: int) -> Array:
    """n-th derivatives by xi (m, k) of P_i(2 xi - 1), i = 0..m-1."""
    from numpy.polynomial import legendre

    rows = [2.0**n * legendre.legder([0.0] * i + [1.0], n) for i in range(m)]
    values = [legendre.legval(2 * xi - 1, row) for row in rows]
    return np.asarray(values, dtype=float).reshape(m, len(xi))
