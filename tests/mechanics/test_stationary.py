"""The stationary Riccati equation against closed forms of masses and oscillators, mixed by whole numbers."""

import mpmath
import numpy as np
import pytest

from kronbot.errors import ComputationError
from kronbot.mechanics.control.feedback import Reached, observer, regulator
from kronbot.mechanics.control.stationary import stationary

# Squares of frequencies, from a mass that nothing holds to a mode a thousand times as fast as the next one.
SQUARES = [0.0, 1.0, 9.0, 2.0**20]


def closed_form(square, weight, effort):
    """K of y'' + square y = u with the least integral of weight y^2 + effort u^2, to 40 digits."""
    with mpmath.workdps(60):
        stiff = mpmath.sqrt(mpmath.mpf(square) ** 2 + mpmath.mpf(weight) / mpmath.mpf(effort)) - square
        return [float(stiff), float(mpmath.sqrt(2 * stiff))]


def mixed(weight, effort):
    """A, B, Q, R of the oscillators with states mixed by whole numbers, whose inverse are whole numbers, and K."""
    n = len(SQUARES)
    rng = np.random.default_rng(7)
    T, back = np.eye(2 * n), np.eye(2 * n)
    for _ in range(24):
        i, j = rng.choice(2 * n, 2, replace=False)
        T[i] += T[j]
        back[:, j] -= back[:, i]
    assert (T @ back == np.eye(2 * n)).all()
    A, B = np.zeros((2 * n, 2 * n)), np.zeros((2 * n, n))
    A[:n, n:], A[n:, :n], B[n:] = np.eye(n), -np.diag(SQUARES), np.eye(n)
    K = np.zeros((n, 2 * n))
    for i, square in enumerate(SQUARES):
        K[i, [i, n + i]] = closed_form(square, weight, effort)
    Q = np.diag([weight] * n + [0.0] * n)
    return T @ A @ back, T @ B, back.T @ Q @ back, effort * np.eye(n), K, back


@pytest.mark.parametrize(("weight", "effort"), [(1, 1), (1, 1e4), (1e-6, 1e6), (1e6, 1e-6), (2.0**-20, 2.0**20)])
def test_gains_and_filters_are_closed_forms(weight, effort):
    """However far weights and efforts are apart, and the filter of the dual system has the same numbers."""
    A, B, Q, R, K, back = mixed(weight, effort)
    P, found = stationary(A, B, Q, R)
    wanted = K @ back
    assert found == pytest.approx(wanted, rel=1e-6, abs=1e-14 * np.abs(wanted).max())
    one = np.eye(len(A))
    assert observer(Reached(A.T, one, one, one), B.T, Q, R) == pytest.approx(found.T, rel=1e-15)
    assert np.linalg.eigvalsh(P).min() > -1e-15 * np.abs(P).max()


def test_last_bits_of_products_do_not_count():
    """Costs and noise are products with their own transposes, but for those."""
    A, B, Q, R, K, back = mixed(1.0, 1.0)
    uneven = Q * (1 + 4e-16 * np.triu(np.ones_like(Q)))
    assert (uneven != uneven.T).any()
    assert stationary(A, B, uneven, R)[1] == pytest.approx(K @ back, rel=1e-6, abs=1e-12 * np.abs(K @ back).max())
    rng = np.random.default_rng(3)
    for density in 10.0 ** rng.uniform(-3, 3, 8):
        noise = B @ np.diag([density, 0.3, 1, density]) @ B.T
        Y, gains = stationary(A.T, np.eye(8)[:, :4], noise, np.eye(4))
        left = A @ Y + Y @ A.T + noise - Y[:, :4] @ Y[:4]
        assert (np.abs(left) <= 1e-13 * (np.abs(A) @ np.abs(Y)).max()).all()
        assert gains == pytest.approx(Y[:4], rel=1e-12)


def test_units_and_a_common_factor_change_nothing():
    """Powers of two leave the last bit alone: of states, of inputs, of the cost."""
    A, B, Q, R, *_ = mixed(1.0, 1e4)
    P, K = stationary(A, B, Q, R)
    for factor in (2.0**-20, 2.0**13, 2.0**40):
        others = stationary(A, B, factor * Q, factor * R)
        assert others[1] == pytest.approx(K, rel=1e-13)
        assert others[0] / factor == pytest.approx(P, rel=1e-13)
    for states in (2.0 ** np.arange(-12, 12, 3), 2.0 ** np.arange(-280, 280, 70)):  # of bodies that nobody can see, too
        for inputs in (2.0 ** np.array([9, -20, 3, 0]), 2.0 ** np.array([-150, 150, -90, 60])):
            _, other = stationary(
                A * states[:, None] / states, B * states[:, None] / inputs, Q / states[:, None] / states,
                R / inputs[:, None] / inputs,
            )  # fmt: skip
            assert other * states / inputs[:, None] == pytest.approx(K, rel=1e-13)


def test_what_has_no_solution_says_why():
    """A mode that nothing damps or weighs; one that swings by itself is left alone where nothing costs."""
    oscillators = np.kron(np.diag([1.0, 25.0]), [[0.0, 0], [-1, 0]]) + np.kron(np.eye(2), [[0.0, 1], [0, 0]])
    B, Q = np.array([[0.0], [1], [0], [1]]), np.diag([1.0, 0, 0, 0])
    whole = Reached(oscillators, B, np.eye(4), np.eye(4))
    with pytest.raises(ComputationError, match="no best feedback: the damping of a mode at 5 rad/s would be lost"):
        regulator(whole, Q, np.eye(1))
    with pytest.raises(ComputationError, match="no Kalman filter: the damping of a mode at 5 rad/s would be lost"):
        observer(whole, np.array([[1.0, 0, 0, 0]]), np.eye(1), np.eye(1))
    P, K = stationary(oscillators, B, 0 * Q, np.eye(1))
    assert not P.any() and not K.any()
    with pytest.raises(ComputationError, match="would be lost to rounding"):
        stationary(oscillators, B, 1e300 * Q, 1e-300 * np.eye(1))
    with pytest.raises(ComputationError, match="too far apart"):
        stationary(oscillators, B, Q, np.array([[1e-320]]))
