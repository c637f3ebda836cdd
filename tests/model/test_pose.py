"""The exponential of a rotation vector: exact, orthogonal and smooth, at zero too."""

from functools import cache

import casadi
import mpmath
import numpy as np
import pytest
from thinned import rare

from kronbot.model.pose import exponential, left_jacobian

VECTORS = [(0, 0, 0), (1e-9, -2e-9, 1e-9), (1e-3, 2e-3, -1e-3), (0.4, -0.3, 0.8), (1.9, -1.6, 1.8)]


def function(output):
    theta = casadi.SX.sym("theta", 3)
    return casadi.Function("f", [theta], [output(theta)])


def exact(theta):
    """exp(skew(theta)) with 200 digits, enough for differences of it."""
    with mpmath.workdps(200):
        x, y, z = map(mpmath.mpf, theta)
        return mpmath.expm(mpmath.matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]]))


@pytest.mark.parametrize("theta", VECTORS)
def test_exponential_to_rounding(theta):
    """Against the matrix exponential; |theta| up to pi."""
    R = np.array(function(exponential)(theta))
    assert np.abs(R - np.array(exact(theta).tolist(), dtype=float)).max() < 4e-16
    assert np.abs(R @ R.T - np.eye(3)).max() < 1e-15


@pytest.mark.parametrize("theta", VECTORS)
def test_left_jacobian_is_the_derivative_of_the_rotation(theta):
    """dR/dtheta_i R^T = skew(V e_i), dR by automatic differentiation of the rotation itself."""
    symbol = casadi.SX.sym("theta", 3)
    R = exponential(symbol)
    dR = casadi.Function("dR", [symbol], [casadi.jacobian(casadi.vec(R), symbol)])
    V, R = np.array(function(left_jacobian)(theta)), np.array(function(exponential)(theta))
    for i, column in enumerate(np.array(dR(theta)).T):
        spin = column.reshape(3, 3, order="F") @ R.T
        assert np.abs(spin - np.array(casadi.skew(casadi.DM(V[:, i])))).max() < 2e-15


@pytest.mark.parametrize("theta", [VECTORS[0], *map(rare, VECTORS[1:3]), VECTORS[3]])
def test_derivatives_up_to_the_fourth(theta):
    """Along a direction, against differences of the exact exponential; the naive quotient is NaN at zero."""
    direction = (0.3, -0.5, 0.7)
    turned = cache(lambda s: exact([a + s * b for a, b in zip(theta, direction, strict=True)]))
    t = casadi.SX.sym("t")
    expression = casadi.vec(exponential(casadi.vertcat(*(a + t * b for a, b in zip(theta, direction, strict=True)))))
    for order in range(1, 5):
        expression = casadi.jacobian(expression, t)
        ours = np.array(casadi.Function("d", [t], [expression])(0)).reshape(3, 3, order="F")
        with mpmath.workdps(40):
            wanted = [[mpmath.diff(lambda s, at=(i, j): turned(s)[at], 0, order) for j in range(3)] for i in range(3)]
        assert np.abs(ours - np.array(wanted, dtype=float)).max() < 1e-14


def test_one_component_gives_plain_sine_and_cosine():
    """A planar beam traces sin and cos of its slope, no series."""
    angle = casadi.SX.sym("a")
    R = exponential(casadi.vertcat(0, 0, angle))
    assert str(R[0, 0]) == "cos(a)"
    assert str(R[1, 0]) == "sin(a)"
    assert str(left_jacobian(casadi.vertcat(0, 0, angle))) == str(casadi.SX.eye(3))
