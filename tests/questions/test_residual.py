"""What plans leave of vibration where not all arms of a range can rest: masses on springs, by matrix exponentials."""

from functools import cache

import casadi
import numpy as np
import pytest
from robots_in_tests import model
from scipy.integrate import quad
from scipy.linalg import expm

from kronbot.errors import UsageError
from kronbot.library.robot import Robot
from kronbot.mechanics.control.collocation import TIMES
from kronbot.mechanics.motion.integration import Tolerances
from kronbot.questions import judgement, searching

pytestmark = pytest.mark.usefixtures("interpreted", "unmeasured")

TWO = """
kronbot: 1
name: two
gravity: [0, 0, 0]
parameters: {k: 1}
links:
  - name: block
    joint: {type: prismatic, name: q1, rotor_inertia: 1, elastic: {stiffness: k}}
    pose: {}
    rigid: {mass: 1}
"""
RANGE = (0.7, 1.4)
SPRINGS = [1.0, *RANGE]
MOST = "acceleration.q1.motor"


def energy(k, x, rate):
    """Of a mass on a spring whose other end stands at 1."""
    return (k * (x - 1) ** 2 + rate**2) / 2


def least(springs, T, N, most):
    """The least mean energy after N linear pieces of the jerk of what the springs hang at, from 0 to 1 at rest, its
    acceleration within limits at the stages: a quadratic program of the jerks."""
    A = np.zeros((7, 7))  # place and rate of the mass; place, rate, acceleration, jerk of the motor, rate of that
    A[0, 1] = A[2, 3] = A[3, 4] = A[4, 5] = A[5, 6] = 1
    ends, unit, h = [], np.eye(N + 1), T / N
    for k in springs:
        A[1, [0, 2]] = -k, k
        steps = [expm(A * h * c) for c in TIMES]
        state, stages = np.zeros((5, N + 1)), []
        for i in range(N):
            begin = np.vstack([state, unit[i], (unit[i + 1] - unit[i]) / h])
            stages += [step[4] @ begin for step in steps]
            state = (steps[-1] @ begin)[:5]
        ends.append(state[:, 1:-1])
    x, size = casadi.SX.sym("x", N - 1), 100 / T**3
    left = [energy(k, size * E[:1] @ x, size * E[1:2] @ x) for k, E in zip(springs, ends, strict=True)]
    held = casadi.vertcat(size * ends[0][2:] @ x, size * np.array(stages)[:, 1:-1] @ x)
    program = {"x": x, "f": sum(left) / len(left), "g": held}
    solver = casadi.nlpsol("least", "ipopt", program, {"ipopt.tol": 1e-12, "ipopt.print_level": 0, "print_time": 0})
    limits, goal = np.full(3 * N, most), np.array([1.0, 0, 0])
    return float(solver(lbg=np.concatenate([goal, -limits]), ubg=np.concatenate([goal, limits]))["f"])


@cache
def quiet(T, robust, most):
    """The plan of least residual energy in T, and what its search has found first."""
    found, search = [], searching.collocated

    def kept(*given):
        found.append(search(*given))
        return found[-1]

    given = {} if robust is None else {"robust": {"k": [*robust]}}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(searching, "collocated", kept)
        patch.setattr(judgement, "FINE", Tolerances(1e-8, 1e-10))
        asked = {"drive": "motion", "least": "residual", "limits": {MOST: most}}
        return Robot(model(TWO)).plan({"q1": 1}, duration=T, **asked, **given), found[0]


LONG = 8.0
BASE = LONG - np.pi  # and half a period later once more, each to a half


def shaped(t):
    """The acceleration of a cycloidal motion that is shaped by zv for k = 1, and ends at LONG."""
    w = 2 * np.pi / BASE
    return sum(np.sin(w * s) * w / BASE / 2 * (0 < s < BASE) for s in (t, t - np.pi))


REACHED = max(map(shaped, np.linspace(0, LONG, 4001)))


@pytest.mark.slow
@pytest.mark.parametrize(("T", "robust", "most"), [(LONG, RANGE, REACHED), (5, None, 0.3)])
def test_the_least_energy_is_that_of_a_quadratic_program(T, robust, most):
    """On one mesh to the accuracy of the search; the answer, drawn in between the stages, leaves a little more."""
    answer, first = quiet(T, robust, most)
    springs = SPRINGS if robust else [1.0]
    left = [energy(k, q[0], qd[0]) for k, (q, qd) in zip(springs, first.ends, strict=True)]
    wanted = least(springs, T, first.intervals, most)
    assert np.mean(left) == pytest.approx(wanted, rel=1e-5)
    assert wanted < answer.summary["residual_energy"] < 1.1 * wanted
    assert answer.summary["residual_energy"] <= answer.summary["largest_residual_energy"]
    assert energy(1, answer["q1"][-1], answer["q1_dot"][-1]) <= answer.summary["largest_residual_energy"]
    assert answer["q1.motor"][-1] == pytest.approx(1, abs=1e-9) and abs(answer["q1.motor_dot"][-1]) < 1e-6
    assert np.abs(answer[MOST]).max() < most * (1 + 1e-5) and answer.summary["end_error"] < 1e-5


@pytest.mark.slow
def test_a_range_is_left_quieter_than_by_a_shaper():
    """Of zv for the middle, after a cycloidal motion, in the same time within the same acceleration."""

    def of_shaper(k):  # the amplitude of what a motor's acceleration excites
        parts = [
            quad(lambda t, f=f: shaped(t) * f(np.sqrt(k) * t), 0, LONG, points=[np.pi, BASE], epsabs=1e-12)[0]
            for f in (np.cos, np.sin)
        ]
        return (parts[0] ** 2 + parts[1] ** 2) / 2

    assert of_shaper(1.0) < 1e-20
    answer, _ = quiet(LONG, RANGE, REACHED)
    assert answer.summary["residual_energy"] < 0.6 * np.mean([of_shaper(k) for k in SPRINGS])


def test_what_has_no_residual_is_refused():
    robot = Robot(model(TWO))
    for given, said in (
        ({"duration": 5}, "goes with drive motion"),
        ({"duration": 5, "drive": "motion"}, "wants effort_limits or limits"),
        ({"shortest": True, "effort_limits": {"q1": 1}}, "goes with duration"),
    ):
        with pytest.raises(UsageError, match=said):
            robot.plan({"q1": 1}, least="residual", **given)
    rigid = Robot(model(TWO.replace(", elastic: {stiffness: k}", "")))
    with pytest.raises(UsageError, match="nothing vibrates here"):
        rigid.plan({"q1": 1}, duration=5, drive="motion", least="residual", effort_limits={"q1": 9})
