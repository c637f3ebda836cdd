"""Methods of one step: in a row in C and in lanes they take the steps of Python; DOP853 by its order and stability."""

import shutil

import casadi
import mpmath
import numpy as np
import pytest
import scipy.integrate
from casadi import SX
from hypothesis import assume
from hypothesis import strategies as st
from random_robots import robots
from robots_in_tests import columns, loaded, model, run, turning
from thinned import drawn, rare

import kronbot
from kronbot.compute.native import policy
from kronbot.compute.native.compiling import COMPILERS
from kronbot.errors import ComputationError
from kronbot.mechanics.motion import dop853, one_step
from kronbot.mechanics.motion.dop853 import Dop853
from kronbot.mechanics.motion.integration import WAITING, Ode, Tolerances
from kronbot.mechanics.motion.integrators import ONE_STEP
from kronbot.mechanics.motion.one_step import Abreast

METHODS = list(ONE_STEP.values())


@drawn(1, 2, robots(max_links=3, max_coordinates=8), st.sampled_from(["1", "2"]))
def test_random_robots_move_as_by_cvodes(robot, order):
    """Trees of rigid and flexible links that fall and swing, with damping; errors of a run are some 100 of a step."""
    moving = model(robot, order)
    answers = [run(moving, duration=0.01, step=0.005, rtol=rtol, solver=name) for name, rtol in RUNS]
    assume(all(answer.error is None for answer in answers))
    q = [columns(each.result.series, *moving.coordinates, "energy.dissipated") for each in answers]
    for each, share in zip(q[1:], (1e-5, 1e-7), strict=True):
        assert np.abs(q[0] - each).max() < share * (np.abs(q[0]).max() + 1e-2)


RUNS = (("cvodes", 1e-10), ("rodas", 1e-7), ("dop853", 1e-10))


@pytest.mark.slow
@pytest.mark.parametrize(("solver", "rtol"), [("rodas", 1e-2), ("dop853", 1e-5)])
def test_native_code_steps_to_the_same_bits(solver, rtol, monkeypatch):
    """Of the same run, by the same steps, whatever their number in a row and in an answer of native code."""
    robot = loaded(turning("flexible: {mass: 1, EI: {z: 30}, modes: {v: 1}}", gravity=9.81))
    answers = []
    for choice, pause in (("on", one_step.PAUSE), ("on", 1e-4), ("off", one_step.PAUSE)):
        monkeypatch.setattr(one_step, "PAUSE", pause)
        with policy.native(choice):
            answers.append(robot.simulate(0.5, 0.01, solver=solver, rtol=rtol).to_dict())
    assert answers[0] == answers[1] == answers[2]


@pytest.mark.skipif(not any(map(shutil.which, COMPILERS)), reason="native code needs a C compiler on the path")
@pytest.mark.parametrize("method", [METHODS[0], *map(rare, METHODS[1:])])
def test_steps_in_a_row_are_those_of_python(method):
    """Of what oscillates, is driven by jolts, and runs away: times, states, counts and words."""
    x, t = SX.sym("x", 2), SX.sym("t")
    times = np.linspace(0.01, 2.0, 50)
    driven = casadi.if_else(t < 0.7, 5, -900 * x[0]) + casadi.sin(40 * t)
    rates = [driven, x[1] ** 2, casadi.sqrt(0.4 - t)]
    for rate in rates:
        found = []
        for choice in ("on", "off"):
            with policy.native(choice):
                solver = method(Ode(t, x, casadi.vertcat(x[1], rate), 1), Tolerances(1e-4, 1e-6))
                solver.begin((0.0, 0.3, 0.7, 2.0))
                states, told = [np.zeros(2)], ""
                try:
                    for block in solver.run(times, np.array([0.0, 1.0])):
                        states += [*block.states, block.x]
                except ComputationError as error:
                    told = str(error)
                assert any(solver.strides.values()) == (choice == "on")
                found.append((np.array(states).tobytes(), told, solver.steps, solver.evaluations))
        assert found[0] == found[1]
        assert solver.steps > 20 or told


@pytest.mark.skipif(not any(map(shutil.which, COMPILERS)), reason="native code needs a C compiler on the path")
@pytest.mark.parametrize("method", [METHODS[0], *map(rare, METHODS[1:])])
def test_runs_in_lanes_are_those_of_one_alone(method):
    """More than registers have lanes, with stops, values and tolerances' steps of their own; two of them run away."""
    x, t, k = SX.sym("x", 3), SX.sym("t"), SX.sym("k")
    ode = Ode(t, x, casadi.vertcat(x[1], -k * x[0] + casadi.if_else(k < 0, x[1] ** 2, 0), x[0]), 1, k)
    tolerances, times = Tolerances(1e-4, 1e-6), np.linspace(0.01, 3.0, 60)
    values = [900.0, 1.0, -1.0, 4e4, 90.0, 3.0, 7.0, 1e3, -2.0, 0.0, 5e3]

    def followed(solver, value, found):
        """The states, the counts and the words of a run, with a pause wherever it waits for others."""
        solver.begin((0.0, 0.3, 1.0 + abs(value) % 7 / 10), [value])
        wanted, states, told = times[times <= solver.stops[-1]], [np.zeros(3)], ""
        try:
            for block in solver.run(wanted, np.array([0.0, 1.0, 0.0])):
                if block is WAITING:
                    yield block
                else:
                    states += [*block.states, block.x]
        except ComputationError as error:
            told = str(error)
        found.append((value, np.array(states).tobytes(), told, solver.steps, solver.evaluations))

    with policy.native("off"):
        alone, one = [], method(ode, tolerances)
        for value in values:
            assert list(followed(one, value, alone)) == []
    with policy.native("on"):
        lanes = Abreast(method, ode, tolerances, len(values))
        for some in (values, values[3:5]):  # what is used again is as new
            beside = []
            lanes.drive(followed(solver, value, beside) for solver, value in zip(lanes.lanes, some, strict=False))
            assert sorted(beside) == sorted(each for each in alone if each[0] in some)
    assert sum(bool(told) for _, _, told, *_ in alone) == 2


@pytest.mark.parametrize("method", METHODS)
def test_it_gives_up_where_the_motion_ends(method):
    """qdd = qd^2 runs away at t = 1: told, not searched for ever."""
    x = SX.sym("x", 2)
    solver = method(Ode(SX.sym("t"), x, casadi.vertcat(x[1], x[1] ** 2), 1), Tolerances(1e-6, 1e-8))
    solver.begin((0.0, 2.0))
    with pytest.raises(ComputationError, match=rf"{method.__name__} gave up at t = (1|0\.99)"):
        list(solver.run(np.array([2.0]), np.array([0.0, 1.0])))
    assert solver.steps < 20_000


def row(weights):
    """Coefficients of all stages."""
    return np.array([weights.get(j, 0.0) for j in range(dop853.STAGES)])


def test_the_coefficients_of_dop853_are_those_of_scipy():
    """And meet the conditions of quadrature up to order 8, those of the estimates up to their own."""
    theirs, A = scipy.integrate.DOP853, np.array([row(weights) for weights in dop853.A])
    assert np.array_equal(A, theirs.A)
    assert np.array_equal(row(dop853.B), theirs.B)
    assert np.array_equal(row(dop853.B) - row(dop853.THIRD), theirs.E3[:-1])
    assert np.array_equal(row(dop853.FIFTH), theirs.E5[:-1])
    c = A.sum(axis=1)
    assert np.allclose(c, theirs.C, rtol=0, atol=2e-15)
    assert max(abs(row(dop853.B) @ c**k - 1 / (k + 1)) for k in range(8)) < 1e-15
    assert abs(row(dop853.THIRD) @ c**2 - 1 / 3) < 1e-15
    assert max(abs(row(dop853.FIFTH) @ c**k) for k in range(5)) < 1e-15


def test_dop853_is_stable_as_told():
    """|R(z)|, R = 1 + sum b A^(k - 1) 1 z^k: of undamped vibrations up to 5.96, of decays up to 6.39."""
    A, powers, vector = np.array([row(weights) for weights in dop853.A]), [1.0], np.ones(dop853.STAGES)
    for _ in range(dop853.STAGES):
        powers.append(row(dop853.B) @ vector)
        vector = A @ vector

    def left(z):
        return np.abs(np.polynomial.polynomial.polyval(z, powers))

    assert left(1j * np.linspace(0.5, 5.96, 500)).max() < 1 < left(5.97j)
    assert left(-np.linspace(0.5, 6.39, 500)).max() < 1 < left(-6.4)


def test_a_step_of_dop853_is_of_order_8_and_its_error_of_order_7():
    """A driven pendulum against Taylor series of 20 digits: halved steps leave a 512th and a 256th."""
    t, x = SX.sym("t"), SX.sym("x", 2)
    step = dop853.step(t, x, casadi.vertcat(x[1], casadi.cos(2 * t) - casadi.sin(x[0])), SX(0, 1))
    with mpmath.workdps(20):
        exact = mpmath.odefun(lambda t, x: [x[1], mpmath.cos(2 * t) - mpmath.sin(x[0])], 0.3, [0.4, 1.0])
        truth = [[float(each) for each in exact(0.3 + mpmath.mpf(h))] for h in (0.25, 0.5)]
    found = [step(0.3, [0.4, 1.0], h, [], [1.0, 1.0])[:2] for h in (0.25, 0.5)]
    errors = [np.abs(np.asarray(end)[:, 0] - wanted).max() for (end, _), wanted in zip(found, truth, strict=True)]
    assert errors[1] < 1e-7
    assert 350 < errors[1] / errors[0] < 700
    assert 180 < float(found[1][1]) / float(found[0][1]) < 350


def test_rows_of_dop853_are_as_exact_as_its_steps():
    """x'' = -x within one long step: no interpolation that would be of a lower order."""
    x, h = SX.sym("x", 2), 0.5
    solver = Dop853(Ode(SX.sym("t"), x, casadi.vertcat(x[1], -x[0]), 1), Tolerances(0.1, 1.0))
    solver.begin((0.0, h))
    solver.first_step = lambda t, x, end: end - t
    at = np.linspace(0.0, h, 21)[1:]
    states = np.concatenate([block.states for block in solver.run(at, np.array([1.0, 0.5]))])
    assert solver.steps == 1 and solver.evaluations == dop853.STAGES
    errors = np.abs(states[:, 0] - np.cos(at) - 0.5 * np.sin(at))
    assert errors.argmax() == len(at) - 1
    assert errors.max() < 1e-9


@pytest.mark.slow
def test_dop853_follows_the_canadarm_in_a_tenth_of_the_steps():
    """Tips by the largest deflection, as ``explain integration`` tells: of vibrations below the tolerance it takes no
    more notice than that they are stable."""
    robot, names = kronbot.load("canadarm-craig-bampton"), [f"tip.{link}.y" for link in ("upper", "forearm", "wrist")]
    with policy.native("off"):
        loose = robot.simulate(0.5, solver="dop853", rtol=1e-4, atol=1e-4)
        fine = robot.simulate(0.5, solver="dop853", rtol=1e-9, atol=1e-11)
        other = robot.simulate(0.5, rtol=1e-9, atol=1e-11)
    tips = [columns(each, *names) for each in (loose, fine, other)]
    largest = np.abs(tips[1]).max()
    assert np.abs(tips[1] - tips[2]).max() < 2e-8 * largest
    assert np.abs(tips[0] - tips[1]).max() < 2e-6 * largest
    assert loose.summary["steps"] < other.summary["steps"] / 10
    assert fine.summary["energy_drift"] < 1e-10
