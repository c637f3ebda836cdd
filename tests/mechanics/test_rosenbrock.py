"""RODAS: its coefficients by the order conditions, its step by closed forms, its runs by those of other integrators."""

import casadi
import numpy as np
import pytest
from casadi import SX
from robots_in_tests import columns

import kronbot
from kronbot.compute.native import policy
from kronbot.description import shipped_robots
from kronbot.mechanics.motion import rosenbrock
from kronbot.mechanics.motion.integration import Ode, Tolerances
from kronbot.mechanics.motion.rodas import Rodas


def matrix(rows):
    """Rows of a strictly lower triangular matrix."""
    filled = np.zeros((rosenbrock.STAGES, rosenbrock.STAGES))
    for row, values in enumerate(rows):
        filled[row, : len(values)] = values
    return filled


def method():
    """Coefficients as Hairer and Wanner derive them, before the transformation: alpha_ij, gamma_ij, b_i and those of
    the error estimate's method."""
    gammas = np.linalg.inv(np.eye(rosenbrock.STAGES) / rosenbrock.GAMMA - matrix(rosenbrock.C))
    weights = np.array([*rosenbrock.A[4], 1.0, 1.0])
    return matrix(rosenbrock.A) @ gammas, gammas, weights @ gammas, (weights - np.eye(6)[5]) @ gammas


def conditions(b, alpha, beta):
    """What is left of the order conditions, by rooted trees (Hairer and Wanner, table IV.7.1): order by order."""
    a, c = alpha.sum(axis=1), beta.sum(axis=1)
    return [
        [b.sum() - 1],
        [b @ c - 1 / 2],
        [b @ a**2 - 1 / 3, b @ beta @ c - 1 / 6],
        [b @ a**3 - 1 / 4, b @ (a * (alpha @ c)) - 1 / 8, b @ beta @ a**2 - 1 / 12, b @ beta @ beta @ c - 1 / 24],
    ]


def test_the_coefficients_meet_the_order_conditions():
    """Order 4, of the error estimate 3 and no more; they are given to 16 digits and as large as 34."""
    alpha, gammas, b, estimate = method()
    assert np.abs(np.concatenate(conditions(b, alpha, alpha + gammas))).max() < 1e-13
    *lower, highest = conditions(estimate, alpha, alpha + gammas)
    assert np.abs(np.concatenate(lower)).max() < 1e-13
    assert np.abs(highest).max() > 1e-3
    assert np.allclose(alpha.sum(axis=1), rosenbrock.ALPHAS, atol=1e-13)
    assert np.allclose(gammas.sum(axis=1), rosenbrock.GAMMAS, atol=1e-13)


def test_it_is_l_stable():
    """R(z) = 1 + z b (I - z beta)^-1 1: nowhere above 1 on the imaginary axis, and nothing left of what is infinitely
    stiff."""
    alpha, gammas, b, _ = method()
    ones = np.ones(rosenbrock.STAGES)

    def left(z):
        return abs(1 + z * b @ np.linalg.solve(np.eye(rosenbrock.STAGES) - z * (alpha + gammas), ones))

    assert max(left(1j * y) for y in np.geomspace(1e-3, 1e6, 500)) <= 1 + 1e-14
    assert left(-1e9) < 1e-8


def taken(t, x, rate, coordinates, state, h, start=0.3):
    """A step of length h, and its error estimate."""
    end, error, _ = rosenbrock.step(t, x, rate, coordinates, 0, SX(0, 1))(start, state, h, [], [1.0, 1.0])
    return np.asarray(end)[:, 0], float(error)


def test_a_step_is_of_order_4_and_its_error_of_order_3():
    """A driven pendulum with friction, whose work is kept as an account: halved steps leave a 32nd and a 16th."""
    t, x = SX.sym("t"), SX.sym("x", 5)
    acceleration = casadi.vertcat(
        casadi.sin(3 * t) - casadi.sin(x[0]) - 0.3 * x[2] * x[3], x[0] * x[3] - casadi.tanh(x[1]) + t**2
    )
    rate = casadi.vertcat(x[2], x[3], acceleration, x[2] * casadi.sin(3 * t) + x[0])
    start = np.array([0.4, -0.2, 1.0, 0.5, 0.1])
    exact = casadi.integrator(
        "exact", "cvodes", {"t": t, "x": x, "ode": rate}, 0.3, [0.35, 0.4, 0.5], {"reltol": 1e-13, "abstol": 1e-15}
    )
    truth = np.asarray(exact(x0=start)["xf"]).T
    found = [taken(t, x, rate, 2, start, h) for h in (0.05, 0.1, 0.2)]
    errors = [np.abs(end - wanted).max() for (end, _), wanted in zip(found, truth, strict=True)]
    assert 20 < errors[1] / errors[0] < 40
    assert 20 < errors[2] / errors[1] < 40
    assert 11 < found[1][1] / found[0][1] < 21
    assert 11 < found[2][1] / found[1][1] < 21


def test_the_linear_equations_are_those_of_the_whole_state():
    """One step of a linear system by dense algebra on [q, qd, account], against the step that eliminates."""
    rng = np.random.default_rng(5)
    n, h = 3, 0.4
    whole = np.zeros((2 * n + 2, 2 * n + 2))
    whole[:n, n : 2 * n] = np.eye(n)
    whole[n:, : 2 * n] = rng.standard_normal((n + 2, 2 * n))
    start = rng.standard_normal(2 * n + 2)
    system, increments = np.eye(2 * n + 2) / (h * rosenbrock.GAMMA) - whole, []
    for a, c in zip(rosenbrock.A, rosenbrock.C, strict=True):
        at = start + sum((w * u for w, u in zip(a, increments, strict=True)), np.zeros(2 * n + 2))
        right = whole @ at + sum((w / h * u for w, u in zip(c, increments, strict=True)), np.zeros(2 * n + 2))
        increments.append(np.linalg.solve(system, right))
    wanted = start + sum(w * u for w, u in zip((*rosenbrock.A[5], 1.0), increments, strict=True))
    x = SX.sym("x", 2 * n + 2)
    end, error = taken(SX.sym("t"), x, SX(whole) @ x, n, start, h)
    assert np.abs(end - wanted).max() < 1e-12
    scale = 1 + np.maximum(np.abs(start), np.abs(wanted))
    assert error == pytest.approx(np.sqrt(np.mean((increments[-1] / scale) ** 2)), rel=1e-9)


@pytest.mark.parametrize("written", [40, 0])
def test_its_linear_equations_are_solved_to_rounding(written, monkeypatch):
    """Of any signs and sizes, singular but for what h adds, by reflections and by CasADi: backward errors."""
    monkeypatch.setattr(rosenbrock, "WRITTEN_OUT", written)
    rng = np.random.default_rng(7)
    for n, h, size in ((1, 0.1, 1.0), (2, 1e-3, 1e6), (5, 10.0, 1e-4), (9, 0.4, 1e3)):
        eliminate, solve = rosenbrock._elimination(2 * n, n, n)
        A, B = size * rng.standard_normal((n, n)), rng.standard_normal((n, n)) * (n > 1)
        right = rng.standard_normal(2 * n)
        wanted = [casadi.MX(each) for each in (h, A, B, right)]
        nothing = casadi.MX(0, n)
        call = casadi.Function("call", [], [solve(h, *eliminate(*wanted[:3]), wanted[1], nothing, nothing, wanted[3])])
        q, w = np.split(np.asarray(call()["o0"])[:, 0], 2)
        length = rosenbrock.GAMMA * h
        matrix, second = np.eye(n) / length - B - length * A, right[n:] + length * A @ right[:n]
        left = np.abs(matrix @ w - second).max()
        assert left < 1e-14 * n * (np.abs(matrix).max() * np.abs(w).max() + np.abs(second).max())
        assert np.allclose(q, length * (right[:n] + w), rtol=1e-15)


def test_numbers_without_squares_are_eliminated():
    """Squares of what is far below 1e-154 are 0 or lose their digits: the increments are those without them."""
    n, h = 3, 0.1
    eliminate, solve = rosenbrock._elimination(2 * n, n, n)
    A, B, right = casadi.MX.sym("A", n, n), casadi.MX.sym("B", n, n), np.arange(1.0, 2 * n + 1)
    nothing = casadi.MX(0, n)
    call = casadi.Function("call", [A, B], [solve(h, *eliminate(h, A, B), A, nothing, nothing, right)])
    for size in np.geomspace(1e-170, 1e-150, 41):
        found = np.asarray(call(size * np.ones((n, n)), size * np.ones((n, n))))[:, 0]
        assert np.abs(found[n:] - h * rosenbrock.GAMMA * right[n:]).max() < 1e-15


@pytest.mark.slow
def test_fast_vibrations_do_not_bound_its_steps():
    """The canadarm: errors by the largest deflection, and steps, as README and ``explain integration`` tell them."""
    robot = kronbot.load("canadarm")
    with policy.native("off"):  # compiling takes as long as the run
        fine = robot.simulate(rtol=1e-8)
    tips = columns(fine, "tip.upper.y", "tip.forearm.y", "tip.wrist.y")
    assert fine.summary["steps"] == pytest.approx(34_000, rel=0.02)
    for tolerance, error, steps, fewer in ((1e-3, 3e-2, 130, 200), (1e-4, 5e-3, 1_200, 25)):
        quick = robot.simulate(solver="rodas", rtol=tolerance, atol=tolerance)
        apart = np.abs(columns(quick, "tip.upper.y", "tip.forearm.y", "tip.wrist.y") - tips)
        assert apart.max() < error * np.abs(tips).max()
        assert quick.summary["steps"] < fine.summary["steps"] / fewer
        assert quick.summary["steps"] == pytest.approx(steps, rel=0.05)


@pytest.mark.slow
def test_stiff_beams_cost_no_more():
    """Overdamped modes, where an explicit method takes 1e6 steps."""
    text = shipped_robots()["canadarm"].read_text()
    stiff = kronbot.loads(text.replace("shape: clamped-free", "damping: {ratio: 50}"))
    quick = stiff.simulate(1.0, 0.05, solver="rodas", rtol=1e-5, atol=1e-7)
    exact = stiff.simulate(1.0, 0.05, rtol=1e-9)
    assert quick.summary["steps"] < 1000
    assert np.abs(columns(quick, *stiff.coordinates) - columns(exact, *stiff.coordinates)).max() < 1e-4


def test_within_a_step_it_is_of_order_3():
    """x'' = -x by one step of 0.1 and of 0.2, looked at between: a 16th."""
    x, worst = SX.sym("x", 2), []
    for h in (0.1, 0.2):
        solver = Rodas(Ode(SX.sym("t"), x, casadi.vertcat(x[1], -x[0]), 1), Tolerances(0.1, 1.0))
        solver.begin((0.0, h))
        solver.first_step = lambda t, x, end: end - t
        at = np.linspace(0.0, h, 21)[1:]
        states = np.concatenate([block.states for block in solver.run(at, np.array([1.0, 0.5]))])
        assert solver.steps == 1
        worst.append(np.abs(states[:, 0] - np.cos(at) - 0.5 * np.sin(at)).max())
    assert 13 < worst[1] / worst[0] < 19
