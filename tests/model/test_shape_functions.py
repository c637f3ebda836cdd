"""Shapes and their integrals against multiple-precision and exact rational formulas, written independently.

Unless a test says otherwise a tolerance is relative to the largest value of the shape and stands for rounding: the
argument beta xi of a sine is rounded by beta * 1e-16, which at the 64th mode (beta = 200) is 2e-14.
"""

import dataclasses
import itertools
import math
from fractions import Fraction
from typing import get_args

import mpmath as mp
import numpy as np
import pytest
import scipy.linalg
from hypothesis import strategies as st
from thinned import drawn, thinned

from kronbot.description.schema import ShapeName
from kronbot.model import beam_integrals, eigenfunctions, shape_functions
from kronbot.model.beam_integrals import first_moment, gram, integral, running, running_twice

DIGITS = 220  # cosh(beta) is 1e87 at the 64th mode; the oracle loses twice that and keeps 40 digits
RATIOS = [0.0, 1e-3, 0.1, 1.0, 100.0, 1e6]
POINTS = np.array([0.0, 0.05, 0.3, 0.5, 0.77, 0.98, 1.0])

FAMILIES = {
    **{f"bending {name}": build for name, build in shape_functions.BENDING.items()},
    "bending clamped-mass": lambda m: shape_functions.clamped_mass(m, 0.7, 0.05),
    "torsion sine": shape_functions.torsion_sine,
    "torsion craig-bampton": shape_functions.torsion_craig_bampton,
    "torsion polynomial": shape_functions.torsion_polynomial,
    "torsion legendre": shape_functions.torsion_legendre,
}
WAVES = {
    "clamped-free": shape_functions.clamped_free,
    "clamped-mass": lambda m: shape_functions.clamped_mass(m, 0.7, 0.05),
    "heavy tip": lambda m: shape_functions.clamped_mass(m, 1e4, 1e3),
    "craig-bampton": shape_functions.craig_bampton,
    "sine": shape_functions.torsion_sine,
    "static twist and sines": shape_functions.torsion_craig_bampton,
}


# --- oracles -----------------------------------------------------------------------------------------------------


def textbook_mode(beta, ratio):
    """phi = cosh - cos - ratio (sinh - sin) of beta xi and its first two derivatives by xi, at mp precision."""

    def phi(xi, n):
        t = beta * mp.mpf(float(xi))
        even, odd = (mp.cosh(t), mp.sinh(t)) if n % 2 == 0 else (mp.sinh(t), mp.cosh(t))
        turn = n * mp.pi / 2
        return beta**n * (even - mp.cos(t + turn) - ratio * (odd - mp.sin(t + turn)))

    return phi


def cantilever(start):
    beta = mp.findroot(lambda b: mp.cos(b) * mp.cosh(b) + 1, mp.mpf(float(start)))
    return beta, textbook_mode(beta, (mp.cosh(beta) + mp.cos(beta)) / (mp.sinh(beta) + mp.sin(beta)))


def held_beam(start):
    beta = mp.findroot(lambda b: mp.cos(b) * mp.cosh(b) - 1, mp.mpf(float(start)))
    return beta, textbook_mode(beta, (mp.cosh(beta) - mp.cos(beta)) / (mp.sinh(beta) - mp.sin(beta)))


def frequency_function(b, mu, iota, lib):
    """Characteristic function of the cantilever with tip mass and inertia, divided by cosh(b); lib: numpy or mp."""
    c, s, th, sech = lib.cos(b), lib.sin(b), lib.tanh(b), 1 / lib.cosh(b)
    return sech + c + mu * b * (c * th - s) - iota * b**3 * (c * th + s) + mu * iota * b**4 * (sech - c)


def legendre_rows(m):
    """Exact ascending coefficients of P_i(2 xi - 1), i = 0..m-1."""
    return [[Fraction((-1) ** (i + k) * math.comb(i, k) * math.comb(i + k, k)) for k in range(i + 1)] for i in range(m)]


def exact_derivative(row, n, x):
    """n-th derivative at x of the polynomial with ascending coefficients, in rational arithmetic."""
    return sum((c * math.perm(k, n) * x ** (k - n) for k, c in enumerate(row) if k >= n), Fraction(0))


# --- eigenfunctions ----------------------------------------------------------------------------------------------


def test_clamped_free_modes_equal_the_textbook_formula_to_the_64th():
    shapes, beta = shape_functions.clamped_free(64), eigenfunctions.clamped_free(64).roots
    with mp.workdps(DIGITS):
        for i in (*range(8), *range(8, 64, 5)):
            exact_beta, phi = cantilever(beta[i])
            assert abs(exact_beta / mp.mpf(float(beta[i])) - 1) < 1e-15
            for n in (0, 1, 2):
                exact = np.array([float(phi(x, n) / phi(1, 0)) for x in POINTS])
                error = np.abs(shapes.values(POINTS, n)[i] - exact).max() / np.abs(exact).max()
                assert error < 5e-14, (i, n)


def test_the_oracle_has_a_free_tip():
    with mp.workdps(DIGITS):
        for start in (1.9, 4.7, 98.96, 199.5):
            beta, phi = cantilever(start)
            assert abs(phi(1, 2) / beta**2) < 1e-60
            assert abs(phi(1, 3) / beta**3) < 1e-60


def test_clamped_free_roots_are_the_first_ones():
    """One root between every two multiples of pi: the table misses none and repeats none."""
    roots = eigenfunctions.clamped_free(64).roots
    assert np.array_equal(np.floor(roots / np.pi), np.arange(64))


def test_clamped_clamped_modes_equal_the_textbook_formula():
    shapes = shape_functions.craig_bampton(42)
    with mp.workdps(DIGITS):
        for i in (0, 1, 2, 10, 39):
            beta, phi = held_beam((i + 1.5) * math.pi)
            peak = held_peak(phi)
            for n in (0, 1, 2):
                exact = np.array([float(phi(x, n) / peak) for x in POINTS])
                error = np.abs(shapes.values(POINTS, n)[i + 2] - exact).max() / np.abs(exact).max()
                assert error < 5e-14, (i, n)


def held_peak(phi):
    """Largest value of |phi|, which lies in the first lobe: dense scan, then the zero of phi' beside it."""
    grid = np.linspace(0, 1, 400)
    best = max(grid, key=lambda x: abs(phi(x, 0)))
    place = mp.findroot(lambda x: phi(x, 1), mp.mpf(float(best)), tol=1e-30, verify=False)
    return abs(phi(place, 0))


def test_craig_bampton_starts_with_the_static_shapes():
    values = shape_functions.craig_bampton(5).values(POINTS)
    np.testing.assert_allclose(values[0], (3 * POINTS**2 - POINTS**3) / 2, rtol=1e-15)
    np.testing.assert_allclose(values[1], POINTS**2, rtol=1e-15)
    np.testing.assert_allclose(values[2:, -1], 0, atol=1e-14)
    assert len(shape_functions.craig_bampton(1)) == 1


PAIRS = list(itertools.product(RATIOS, RATIOS))


# By default each of them with two others, zeros and the largest together, too.
@pytest.mark.parametrize(("mu", "iota"), thinned(PAIRS, [*PAIRS[::7], *PAIRS[5::5]]))
def test_no_root_of_a_loaded_cantilever_is_missed(mu, iota):
    """As many sign changes of the characteristic function below 12 pi as roots, one at each to 1e-12 of the root."""
    roots = eigenfunctions.clamped_mass(14, mu, iota).roots
    grid = np.concatenate([np.geomspace(0.02, 1, 500), np.linspace(1.0001, 12 * np.pi, 6000)])
    values = frequency_function(grid, mu, iota, np)
    assert np.count_nonzero(values[1:] * values[:-1] < 0) == np.count_nonzero(roots < 12 * np.pi)
    assert roots[-1] > 12 * np.pi > roots[0] > 0.02
    with mp.workdps(50):
        for root in roots:
            below, above = (
                frequency_function(mp.mpf(float(root)) * (1 + e), mu, iota, mp)
                for e in (-mp.mpf("1e-12"), mp.mpf("1e-12"))
            )
            assert below * above < 0


@pytest.mark.parametrize(
    ("mu", "iota"),
    thinned([*itertools.product([0.0, 0.01, 1.0, 10.0], [0.0, 0.01, 1.0])], [(0.0, 0.0), (0.01, 1.0), (10.0, 0.01)]),
)
def test_loaded_roots_equal_a_ritz_model(mu, iota):
    """40 Legendre functions; the eigenvalue solver's rounding, 1e-16 of the largest eigenvalue, is 1e-9 of the 8th."""
    basis = shape_functions.legendre(40)
    tip, slope = basis.values(1.0)[:, 0], basis.values(1.0, 1)[:, 0]
    mass = gram(basis, 0) + mu * np.outer(tip, tip) + iota * np.outer(slope, slope)
    compliance = scipy.linalg.eigh(mass, gram(basis, 2), eigvals_only=True)[::-1][:8]
    np.testing.assert_allclose(eigenfunctions.clamped_mass(8, mu, iota).roots, compliance**-0.25, rtol=1e-8)


def check_loaded_modes(m, mu, iota):
    """Tip conditions, orthogonality with the tip's mass, Rayleigh quotient, normalization."""
    family = eigenfunctions.clamped_mass(m, mu, iota)
    shapes, beta = shape_functions.clamped_mass(m, mu, iota), family.roots
    phi, slope, curvature, shear = (family.values(np.ones(1), n)[:, 0] / beta**n for n in range(4))
    inertia, mass = iota * beta**3, mu * beta
    assert np.abs((curvature - inertia * slope) / (1 + inertia)).max() < 1e-13
    assert np.abs((shear + mass * phi) / (1 + mass)).max() < 1e-13
    stiffness = gram(shapes, 2)
    size = np.sqrt(np.diag(stiffness))
    np.testing.assert_allclose(stiffness / np.outer(size, size), np.eye(m), atol=1e-11)
    tip, tip_slope = shapes.values(1.0)[:, 0], shapes.values(1.0, 1)[:, 0]
    inertia_matrix = gram(shapes, 0) + mu * np.outer(tip, tip) + iota * np.outer(tip_slope, tip_slope)
    np.testing.assert_allclose(np.diag(stiffness) / np.diag(inertia_matrix), beta**4, rtol=3e-9)
    fine = shapes.values(np.linspace(0, 1, 2001))
    assert np.abs(fine).max() <= 1 + 1e-13
    assert np.abs(fine).max(axis=1).min() > 1 - (12 * np.pi / 4000) ** 2  # half a step beside the peak
    assert (shapes.values(0.0, 2) > 0).all()


@drawn(8, 17, st.integers(1, 12), st.floats(-6, 3), st.floats(-6, 3))
def test_loaded_modes_satisfy_their_equations(m, log_mu, log_iota):
    check_loaded_modes(m, 10**log_mu, 10**log_iota)


def test_a_tip_without_mass_gives_the_clamped_free_modes():
    loaded, free = shape_functions.clamped_mass(20, 0.0, 0.0), shape_functions.clamped_free(20)
    for n in (0, 1, 2):
        expected = free.values(POINTS, n) / np.sign(free.values(0.0, 2)) / np.abs(free.values([1.0]))
        scale = np.abs(expected).max(axis=1, keepdims=True)
        np.testing.assert_allclose(loaded.values(POINTS, n) / scale, expected / scale, atol=5e-14)


def test_a_heavy_tip_leaves_its_static_shapes_and_clamped_clamped_modes():
    """Deviations are of the order 1/mu and 1/iota."""
    heavy = shape_functions.clamped_mass(6, 1e6, 1e6).values(POINTS)
    fixed = shape_functions.craig_bampton(6).values(POINTS)
    np.testing.assert_allclose(heavy[2:], fixed[2:], atol=1e-4)
    cubic, *_ = np.linalg.lstsq(fixed[:2].T, heavy[:2].T, rcond=None)
    np.testing.assert_allclose(cubic.T @ fixed[:2], heavy[:2], atol=1e-6)


@pytest.mark.parametrize("bad", [-1e-9, math.inf, math.nan])
def test_impossible_tips_are_refused(bad):
    with pytest.raises(ValueError, match="mass_ratio"):
        shape_functions.clamped_mass(2, bad, 0.0)
    with pytest.raises(ValueError, match="inertia_ratio"):
        shape_functions.clamped_mass(2, 0.0, bad)


# --- polynomials and torsion -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("build", "lowest"), [(shape_functions.polynomial, 2), (shape_functions.torsion_polynomial, 1)]
)
@pytest.mark.parametrize("n", [0, 1, 2])
def test_powers_are_exact_up_to_rounding(build, lowest, n):
    shapes = build(9)
    assert shapes.powers == tuple(range(lowest, lowest + 9))
    exact = [[math.perm(p, n) * (x ** (p - n) if p >= n else 0) for x in POINTS] for p in shapes.powers]
    np.testing.assert_allclose(shapes.values(POINTS, n), exact, rtol=4e-15)


@pytest.mark.parametrize(("build", "lowest"), [(shape_functions.legendre, 2), (shape_functions.torsion_legendre, 1)])
@pytest.mark.parametrize("n", [0, 1, 2])
def test_legendre_shapes_equal_rational_arithmetic(build, lowest, n):
    rows = [[Fraction(0)] * lowest + row for row in legendre_rows(25)]
    exact = np.array([[float(exact_derivative(row, n, Fraction(float(x)))) for x in POINTS] for row in rows])
    scale = np.abs(exact).max(axis=1, keepdims=True) + (n == 2)  # xi'' is zero
    np.testing.assert_allclose(build(25).values(POINTS, n) / scale, exact / scale, atol=1e-14)


def test_torsion_modes_are_sines():
    shapes = shape_functions.torsion_sine(8)
    roots = (np.arange(8) + 0.5) * np.pi
    np.testing.assert_allclose(shapes.values(POINTS), np.sin(np.outer(roots, POINTS)), atol=1e-14)
    np.testing.assert_allclose(gram(shapes, 0), np.eye(8) / 2, atol=1e-14)
    np.testing.assert_allclose(gram(shapes, 1), np.diag(roots**2) / 2, atol=1e-13 * roots[-1] ** 2)
    np.testing.assert_allclose(shapes.values(1.0, 1) / roots[:, None], 0, atol=1e-14)


def test_craig_bampton_torsion_is_the_static_twist_and_modes_held_at_both_ends():
    """No stiffness couples the twist of a tip torque with the modes."""
    shapes = shape_functions.torsion_craig_bampton(6)
    roots = np.arange(1, 6) * np.pi
    np.testing.assert_allclose(shapes.values(POINTS), [POINTS, *np.sin(np.outer(roots, POINTS))], atol=1e-14)
    np.testing.assert_allclose(gram(shapes, 1), np.diag([1, *roots**2 / 2]), atol=1e-13 * roots[-1] ** 2)


# --- every family ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FAMILIES)
def test_the_root_is_clamped(name):
    shapes = FAMILIES[name](12)
    assert np.array_equal(shapes.values(0.0), np.zeros((12, 1)))
    if name.startswith("bending"):
        assert np.array_equal(shapes.values(0.0, 1), np.zeros((12, 1)))


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("n", [0, 1])
def test_derivatives_integrate_to_their_shape(name, n):
    shapes = FAMILIES[name](12)
    xi, weight = shape_functions.gauss(60)
    start = shapes.values(0.0, n)[:, 0]
    for x in (0.2, 0.9, 1.0):
        area = shapes.values(x * xi, n + 1) @ weight * x
        scale = np.maximum(np.abs(shapes.values(np.linspace(0, 1, 50), n + 1)).max(axis=1), 1)
        np.testing.assert_allclose((start + area) / scale, shapes.values(x, n)[:, 0] / scale, atol=2e-14)


@pytest.mark.parametrize("name", FAMILIES)
def test_fewer_shapes_are_the_first_ones_of_more(name):
    few, more = FAMILIES[name](3), FAMILIES[name](9)
    assert few.powers == more.powers[:3]
    np.testing.assert_allclose(few.values(POINTS, 1), more.values(POINTS, 1)[:3], rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("name", FAMILIES)
def test_no_shapes_at_all(name):
    none = FAMILIES[name](0)
    assert len(none) == 0
    assert none.values(POINTS, 2).shape == (0, len(POINTS))
    assert gram(none, 0).shape == (0, 0)
    assert integral(none).shape == (0,)
    assert running(none, 1, shape_functions.legendre(2), 0, POINTS).shape == (len(POINTS), 0, 2)
    with pytest.raises(ValueError, match="negative"):
        FAMILIES[name](-1)


def test_a_scalar_point_and_a_bad_derivative():
    shapes = shape_functions.clamped_free(2)
    np.testing.assert_allclose(shapes.values(1.0), [[1], [1]], rtol=1e-15)
    for bad in (-1, 3):
        with pytest.raises(ValueError, match="derivative"):
            shapes.values(0.5, bad)


# --- quadrature --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 7, 40, 120])
def test_gauss_is_exact_for_powers(n):
    xi, weight = shape_functions.gauss(n)
    powers = np.arange(2 * n)
    np.testing.assert_allclose(xi ** powers[:, None] @ weight, 1 / (powers + 1), atol=1e-14)
    assert not xi.flags.writeable
    assert not weight.flags.writeable


@pytest.mark.parametrize("name", WAVES)
@pytest.mark.parametrize("m", thinned([1, 2, 3, 5, 8, 12], [1, 3, 12]))
def test_nodes_needed_by_eigenfunctions(name, m):
    """Products of four of the three fastest shapes or derivatives, of integrals of two, and these times xi."""
    shapes = WAVES[name](m)

    def products(count):
        xi, weight = shape_functions.gauss(count)
        single = np.vstack([shapes.values(xi, n)[-3:] for n in (0, 1, 2)])
        pairs = np.array([a * b for a, b in itertools.combinations_with_replacement(single, 2)])
        shift = running(shapes, 1, shapes, 1, xi)[:, -3:, -3:].reshape(count, -1).T
        pairs = np.vstack([pairs, shift])
        return [(pairs * weight * f) @ pairs.T for f in (1, xi)], (np.abs(pairs) * weight) @ np.abs(pairs).T

    few, _ = products(shape_functions.nodes_needed(shapes))
    many, size = products(shape_functions.nodes_needed(shapes) + 40)
    for a, b in zip(few, many, strict=True):
        assert (np.abs(a - b) <= 1e-12 * size).all()


@pytest.mark.parametrize("m", [1, 2, 5])
def test_nodes_needed_by_polynomials(m):
    """xi times four factors of the highest degree, and the square of a foreshortening, are exact."""
    for shapes in (shape_functions.polynomial(m), shape_functions.torsion_polynomial(m)):
        degree = shapes.powers[-1]
        xi, weight = shape_functions.gauss(shape_functions.nodes_needed(shapes))
        assert xi ** (4 * degree + 1) @ weight == pytest.approx(1 / (4 * degree + 2), rel=1e-14)
    assert shape_functions.nodes_needed(shape_functions.legendre(m)) == shape_functions.nodes_needed(
        shape_functions.polynomial(m)
    )
    assert (
        shape_functions.nodes_needed(
            shape_functions.legendre(2), shape_functions.polynomial(m), shape_functions.legendre(0)
        )
        >= shape_functions.legendre(m).nodes
    )
    assert shape_functions.nodes_needed() == shape_functions.nodes_needed(shape_functions.clamped_free(0)) == 1


# --- integrals over the beam -------------------------------------------------------------------------------------


def test_clamped_free_integrals_have_their_closed_forms():
    """m_ij = delta/4, k_ij = beta^4 delta/4; C and D by parts, since phi is its fourth derivative over beta^4."""
    family, shapes = eigenfunctions.clamped_free(12), shape_functions.clamped_free(12)
    beta = family.roots
    np.testing.assert_allclose(gram(shapes, 0), np.eye(12) / 4, atol=1e-13)
    np.testing.assert_allclose(gram(shapes, 2) / np.outer(beta**2, beta**2), np.eye(12) / 4, atol=1e-13)
    np.testing.assert_allclose(integral(shapes), -family.values(np.zeros(1), 3)[:, 0] / beta**4, atol=1e-14)
    np.testing.assert_allclose(first_moment(shapes), shapes.values(0.0, 2)[:, 0] / beta**4, atol=1e-14)


@pytest.mark.parametrize(
    "build",
    [shape_functions.clamped_free, shape_functions.craig_bampton, lambda m: shape_functions.clamped_mass(m, 0.3, 0.02)],
)
def test_closed_forms_of_integrals_are_those_of_quadrature(build):
    """From the ends of the beam, and by Gauss: also of modes held at both ends, and under a mass."""
    shapes = build(9)
    xi, weight = shape_functions.gauss(90)
    values, curvatures = shapes.values(xi), shapes.values(xi, 2)
    np.testing.assert_allclose(integral(shapes), values @ weight, atol=1e-14)
    np.testing.assert_allclose(first_moment(shapes), values @ (xi * weight), atol=1e-14)
    np.testing.assert_allclose(gram(shapes, 0), (values * weight) @ values.T, atol=1e-14)
    stiffness = (curvatures * weight) @ curvatures.T
    np.testing.assert_allclose(gram(shapes, 2), stiffness, atol=1e-13 * stiffness.max())


def test_what_is_known_of_eigenfunctions_is_exact():
    """Held ends do not move nor turn, a free shaft's end has no strain, the squares of the cantilever are 1/4."""
    for shapes in (shape_functions.craig_bampton(12), shape_functions.torsion_craig_bampton(12)):
        held = slice(-10, None)
        assert not shapes.values([0.0, 1.0])[held].any()
    assert not shape_functions.craig_bampton(12).values([0.0, 1.0], 1)[2:].any()
    assert not shape_functions.torsion_sine(12).values(1.0, 1).any()
    assert np.array_equal(shape_functions.torsion_sine(3).values(1.0)[:, 0], [1, -1, 1])
    assert np.array_equal(gram(shape_functions.clamped_free(12), 0), np.eye(12) / 4)


def test_polynomial_integrals_are_rational():
    shapes = shape_functions.polynomial(5)
    p = np.array(shapes.powers)
    np.testing.assert_allclose(integral(shapes), 1 / (p + 1), rtol=1e-14)
    np.testing.assert_allclose(first_moment(shapes), 1 / (p + 2), rtol=1e-14)
    total = p[:, None] + p
    np.testing.assert_allclose(gram(shapes, 0), 1 / (total + 1), rtol=1e-14)
    np.testing.assert_allclose(gram(shapes, 2), np.outer(p * (p - 1), p * (p - 1)) / (total - 3), rtol=1e-14)
    assert np.array_equal(gram(shapes, 1), gram(shapes, 1).T)


def test_khang_arm():
    """First clamped-free mode, l = 0.9 m: the modal data of the paper's arm, recomputed outside kronbot (1e-15)."""
    length, shapes = 0.9, shape_functions.clamped_free(1)
    assert eigenfunctions.clamped_free(1).roots[0] == pytest.approx(1.8751040687119611, rel=1e-15)
    assert first_moment(shapes)[0] * length**2 == pytest.approx(0.23037442620251386, rel=1e-14)
    assert integral(shapes)[0] * length == pytest.approx(0.3523462902178316, rel=1e-14)
    assert gram(shapes, 0)[0, 0] * length == pytest.approx(0.225, rel=1e-14)
    assert gram(shapes, 2)[0, 0] / length**3 == pytest.approx(4.239493610537102, rel=1e-14)
    assert running(shapes, 1, shapes, 1, 1.0)[0, 0, 0] / length == pytest.approx(1.2910495329662888, rel=1e-14)
    xi, weight = shape_functions.gauss(30)
    shift = running(shapes, 1, shapes, 1, xi)[:, 0, 0]
    assert shift @ weight == pytest.approx(0.3927195474985625, rel=1e-14)
    assert shift @ (xi * weight) * length == pytest.approx(0.2685006841743576, rel=1e-14)


# --- integrals along the beam ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("da", "db"), [(1, 1), (1, 2), (2, 0), (0, 2), (0, 1)])
def test_running_integrals_of_powers(da, db):
    a, b = shape_functions.polynomial(4), shape_functions.torsion_polynomial(3)
    xi = np.array([0.7, 0.0, 1.0, 0.7, 0.013])
    p, q = np.array(a.powers)[:, None], np.array(b.powers)
    factor = p * (p - 1) if da == 2 else p**da
    factor = factor * (q * (q - 1) if db == 2 else q**db)
    e = np.maximum(p + q - da - db, 0)
    x = xi[:, None, None]
    np.testing.assert_allclose(running(a, da, b, db, xi), factor * x ** (e + 1) / (e + 1), rtol=2e-14)
    expected = factor * x ** (e + 2) / ((e + 1) * (e + 2))
    np.testing.assert_allclose(running_twice(a, da, b, db, xi), expected, rtol=2e-14)


@pytest.mark.slow
def test_running_integrals_of_eigenfunctions():
    v, torsion = shape_functions.clamped_free(3), shape_functions.torsion_sine(2)
    xi = np.array([0.9, 0.25])
    once = running(v, 1, torsion, 1, xi)
    twice = running_twice(v, 2, torsion, 0, xi)
    with mp.workdps(20):
        for i, start in enumerate(eigenfunctions.clamped_free(3).roots):
            _, phi = cantilever(start)
            tip = phi(1, 0)
            for j, (k, x) in itertools.product(range(2), enumerate(xi)):
                c = (j + mp.mpf(1) / 2) * mp.pi
                slopes = mp.quad(lambda t: phi(t, 1) / tip * c * mp.cos(c * t), [0, x / 2, x])  # noqa: B023
                bends = mp.quad(lambda t: (x - t) * phi(t, 2) / tip * mp.sin(c * t), [0, x / 2, x])  # noqa: B023
                assert once[k, i, j] == pytest.approx(float(slopes), rel=1e-12, abs=1e-13)
                assert twice[k, i, j] == pytest.approx(float(bends), rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("name", [name for name in FAMILIES if name.startswith("bending")])
def test_running_integrals_do_not_depend_on_the_other_points(name):
    """One panel from the root against many; by parts, phi phi' = int phi'^2 + int phi phi''."""
    shapes = FAMILIES[name](6)
    xi = np.linspace(1, 0, 23)
    together = running_twice(shapes, 2, shapes, 0, xi)
    for k, x in enumerate(xi):
        np.testing.assert_allclose(together[k], running_twice(shapes, 2, shapes, 0, x)[0], rtol=1e-12, atol=1e-12)
    parts = running(shapes, 0, shapes, 2, xi) + running(shapes, 1, shapes, 1, xi)
    ends = np.einsum("ik,jk->kij", shapes.values(xi), shapes.values(xi, 1))
    np.testing.assert_allclose(parts, ends, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(running(shapes, 0, shapes, 0, 1.0)[0], gram(shapes, 0), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("bad", [-0.1, 1.1, math.nan])
def test_points_off_the_beam_are_refused(bad):
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        beam_integrals.running(shape_functions.legendre(1), 0, shape_functions.legendre(1), 0, [0.5, bad])


def test_integrals_of_polynomials_are_rational_numbers_rounded_once():
    """Not 27.999999999999993: 1/3, 28 and 1/4 to the last bit, whatever the family."""
    assert gram(shape_functions.polynomial(3), 2).tolist() == [[4, 6, 8], [6, 12, 18], [8, 18, 144 / 5]]
    assert gram(shape_functions.craig_bampton(5), 2)[:2, :2].tolist() == [[3, 3], [3, 4]]
    assert gram(shape_functions.craig_bampton(5), 0)[:2, :2].tolist() == [[33 / 140, 13 / 60], [13 / 60, 1 / 5]]
    assert gram(shape_functions.legendre(2), 2).tolist() == [[4, 8], [8, 28]]
    assert gram(shape_functions.torsion_craig_bampton(3), 1)[0, 0] == 1
    assert integral(shape_functions.polynomial(2)).tolist() == [1 / 3, 1 / 4]
    assert first_moment(shape_functions.craig_bampton(2)).tolist() == [11 / 40, 1 / 4]
    rows = [[Fraction(0)] * 2 + row for row in legendre_rows(8)]
    for n in (0, 1, 2):
        slopes = [[c * math.perm(k, n) for k, c in enumerate(row)][n:] for row in rows]
        exact = [
            [sum(a * b / (i + j + 1) for i, a in enumerate(p) for j, b in enumerate(q)) for q in slopes] for p in slopes
        ]
        assert gram(shape_functions.legendre(8), n).tolist() == [[float(value) for value in row] for row in exact]


@pytest.mark.parametrize("name", FAMILIES)
def test_exact_integrals_are_those_of_quadrature(name):
    shapes = FAMILIES[name](7)
    plain = dataclasses.replace(shapes, rational=())
    for n in (0, 1, 2):
        scale = np.sqrt(np.diag(gram(plain, n))) + (name.startswith("torsion") and n == 2)  # xi'' is zero
        assert np.abs((gram(shapes, n) - gram(plain, n)) / np.outer(scale, scale)).max() < 1e-12
    assert np.abs(integral(shapes) - integral(plain)).max() < 1e-13
    assert np.abs(first_moment(shapes) - first_moment(plain)).max() < 1e-13


def test_every_word_of_a_file_has_shapes():
    """Those with a tip mass are made of what the file says of it."""
    assert {*get_args(ShapeName)} == {*shape_functions.TORSION} == {*shape_functions.BENDING, "clamped-mass"}
