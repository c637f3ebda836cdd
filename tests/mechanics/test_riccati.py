"""The Riccati equation along a motion against SciPy's integrator, the cost that it promises, and what repeats."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline
from scipy.linalg import solve_continuous_are

from kronbot.mechanics.control.riccati import Varying, flow

T, N = 2.0, 80
Q, R = np.diag([3.0, 1.0, 0.2, 0.1]), np.diag([0.5, 2.0])


def A(t):
    """Two masses, one of them on springs that change, the other one unstable; a vibration of 20 rad/s."""
    k, g = 400 * (1 + 0.2 * np.sin(np.pi * t)), 1 + 4 * np.cos(2 * np.pi * t)
    return np.array([[0, 0, 1, 0], [0, 0, 0, 1], [-k, 5, -0.4, 0.1 * t * (T - t)], [5, g, 0, -0.1]])


def B(t):
    return np.array([[0, 0], [0, 0], [1, 0.3 * np.sin(np.pi * t)], [0.2, 1 + 0.5 * np.cos(np.pi * t)]])


def varying(intervals):
    return pieces(np.linspace(0, T, intervals + 1), np.arange(intervals + 1))


def pieces(borders, kept, jumps=()):
    places = np.stack([borders[:-1], (borders[:-1] + borders[1:]) / 2, borders[1:]], axis=1)
    a, b = (np.array([[f(t) for t in row] for row in places]) for f in (A, B))
    return Varying(a, b, Q, R, np.diff(borders), kept, dict(jumps))


def between(K):
    """Gains at any time, by those at even ones from 0 to T, without corners that an integrator would look for."""
    return CubicSpline(np.linspace(0, T, len(K)), K)


@pytest.fixture(scope="module")
def backward():
    """P at the ends of N intervals, by an integrator with an error of 1e-11."""
    last = solve_continuous_are(A(T), B(T), Q, R)

    def rate(s, p):
        P, a, b = p.reshape(4, 4), A(T - s), B(T - s)
        return (a.T @ P + P @ a - P @ b @ np.linalg.solve(R, b.T @ P) + Q).ravel()

    found = solve_ivp(rate, (0, T), last.ravel(), "DOP853", np.linspace(0, T, N + 1), rtol=1e-11, atol=1e-13)
    return last, found.y.T[::-1].reshape(-1, 4, 4)


def test_the_equation_is_solved_with_fourth_order(backward):
    last, wanted = backward
    errors = [np.abs(varying(N * more).backward(last)[::more] - wanted).max() for more in (1, 2, 4)]
    assert errors[0] < 1e-3 * np.abs(wanted).max()
    assert np.log2(np.divide(errors[:-1], errors[1:])) == pytest.approx([4, 4], abs=0.3)


def test_the_cost_is_what_a_simulation_of_the_linear_plant_pays(backward):
    """x' P x at the start; less than with any other gains."""
    last, _ = backward
    plant = varying(4 * N)
    P = plant.backward(last)
    gain = between(plant.gains(P))
    x0 = np.array([0.3, -0.2, 1.0, 0.5])

    def cost(factor):
        def rate(s, y):
            x, u = y[:4], -factor * gain(s) @ y[:4]
            return [*(A(s) @ x + B(s) @ u), x @ Q @ x + u @ R @ u]

        end = solve_ivp(rate, (0, T), [*x0, 0], "DOP853", rtol=1e-9, atol=1e-11).y[:, -1]
        return end[4] + end[:4] @ last @ end[:4]

    assert cost(1.0) == pytest.approx(x0 @ P[0] @ x0, rel=1e-5)
    assert min(cost(0.9), cost(1.1)) > cost(1.0) * (1 + 1e-5)


def test_what_repeats_is_found_and_its_loop_decays():
    """P of a period is the equation's own after it; the flow of the loop is that of an integrator."""
    plant = varying(2 * N)
    P = plant.periodic(np.eye(4))
    assert P[0] == pytest.approx(P[-1], rel=1e-8, abs=1e-8 * np.abs(P).max())
    assert plant.backward(P[-1])[0] == pytest.approx(P[0], rel=1e-8, abs=1e-8 * np.abs(P).max())
    K = plant.gains(P)
    loop, gain = plant.closed(K), between(K)
    assert np.abs(np.linalg.eigvals(loop)).max() < 1 < np.abs(np.linalg.eigvals(flow(plant.A, plant.h, {}))).max()

    def rate(s, y):
        return ((A(s) - B(s) @ gain(s)) @ y.reshape(4, 4)).ravel()

    wanted = solve_ivp(rate, (0, T), np.eye(4).ravel(), "DOP853", rtol=1e-9, atol=1e-11).y[:, -1].reshape(4, 4)
    assert loop == pytest.approx(wanted, abs=1e-3 * np.abs(wanted).max())


def test_jumps_and_borders_between_the_rows():
    """At t = 0.7 deviations jump by S, on borders of their own: the cost is that of the linear plant with its jump."""
    S = np.eye(4)
    S[2:, :2] = [[-0.4, 0.1], [0.2, -0.3]]
    last, rows, at = solve_continuous_are(A(T), B(T), Q, R), np.linspace(0, T, 101), 0.7 + 1 / 300
    borders = np.unique(np.concatenate([np.linspace(0, at, 170), np.linspace(at, T, 340), rows]))
    kept, jump = np.searchsorted(borders, rows), int(np.searchsorted(borders, at))
    plant = pieces(borders, kept, {jump: S})
    P = plant.backward(last)
    assert len(P) == 101

    def rate(s, p):
        P, a, b = p.reshape(4, 4), A(T - s), B(T - s)
        return (a.T @ P + P @ a - P @ b @ np.linalg.solve(R, b.T @ P) + Q).ravel()

    def back(P, s, end):
        return solve_ivp(rate, (s, end), P.ravel(), "DOP853", rtol=1e-10, atol=1e-12).y[:, -1].reshape(4, 4)

    wanted = back(S.T @ back(last, 0, T - at) @ S, T - at, T)
    assert P[0] == pytest.approx(wanted, rel=1e-6, abs=1e-6 * np.abs(wanted).max())
    K = np.zeros((101, 2, 4))
    parts = (pieces(each, np.arange(len(each))) for each in (borders[: jump + 1], borders[jump:]))
    first, second = (flow(part.A, part.h, {}) for part in parts)
    assert plant.closed(K) == pytest.approx(second @ S @ first, rel=1e-9, abs=1e-9)
