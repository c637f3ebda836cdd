"""A simulation is a function of its values: what was traced for one run serves all robots of its structure."""

from concurrent.futures import ThreadPoolExecutor
from functools import cache

import pytest
from thinned import thinned

import kronbot
from kronbot.errors import ComputationError, UsageError
from kronbot.mechanics.motion import equations
from kronbot.mechanics.motion.integration import Integrator
from kronbot.mechanics.motion.integrators import Cvodes
from kronbot.model import parameters

ARM = """
kronbot: 1
name: arm
convention: standard
gravity: [0, g, 0]
parameters: {g: -9.81, mass: 0.4, turn: 0.3, tau: 0.2, kp: 5, goal: 0.4, way: 0.3, T: 0.03}
links:
  - name: upper
    joint: {type: revolute, name: q1}
    dh: {a: 0.9, d: 0, alpha: turn, theta: turn}
    flexible: {mass: mass, EI: {z: 20}, modes: {v: 1}, shape: craig-bampton}
  - name: fore
    joint: {type: prismatic, name: q2}
    dh: {a: 0, d: 0, alpha: pi/2, theta: 0}
    rigid: {mass: 0.3}
  - name: hand
    joint: {type: revolute, name: q3}
    dh: {a: 0.2, d: 0, alpha: 0, theta: 0}
    rigid: {mass: 0.2, com: [-0.1, 0, 0], inertia: {Izz: 1e-3}}
simulate:
  duration: 0.05
  step: 0.01
  drive:
    q1: {torque: tau}
    q2: {pd: {kp: kp, kd: 1, target: goal}}
    q3: {motion: {type: polynomial, from: 0, to: way, duration: T, degree: 3}}
"""
SHORT = """
kronbot: 1
name: short
gravity: [0, 0, 0]
links:
  - {name: block, joint: {type: prismatic, name: q1}, pose: {}, rigid: {mass: 2}}
simulate: {duration: 1, step: 0.5, drive: {q1: {torque: 3}}}
statics: {loads: [{frame: endpoint, force: [0.123, 0, 0]}]}
"""
VALUES = (
    {"mass": 0.5, "tau": -1, "kp": 8, "goal": 0.1, "way": -1, "T": 0.02},
    {"turn": "pi/2"},
    {"turn": 0.4, "T": 0.7},
)


@cache
def just_loaded(*overrides):
    """For every solver: what the first one traced is of these values."""
    return kronbot.loads(ARM, parameters=dict(overrides))


@pytest.mark.slow
@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("solver", ["cvodes", "dop853"])
def test_other_values_are_those_of_a_robot_that_was_just_loaded(solver):
    """To the last bit, whatever was asked before: values of every kind, a folded angle, another duration and start."""
    robot = kronbot.loads(ARM)
    other = {"duration": 0.037, "step": 0.02, "q": {"q1": 0.3}, "qd": {"upper.v1": 0.1}}
    for values, asked in zip(VALUES, ([{}, other], [{}], [other]), strict=True):
        robot = robot.with_parameters(**values)
        fresh = just_loaded(*robot.description.overrides.items())
        for more in asked:
            assert robot.simulate(solver=solver, **more).to_dict() == fresh.simulate(solver=solver, **more).to_dict()


def test_nothing_is_traced_twice(monkeypatch):
    """Of one structure: other values and starts, another duration; other tolerances make another integrator."""
    made, propagate, init = [], equations.propagate, Integrator.__init__
    monkeypatch.setattr(equations, "propagate", lambda *given: made.append("equations") or propagate(*given))
    monkeypatch.setattr(Integrator, "__init__", lambda *given: made.append("integrator") or init(*given))
    robot = kronbot.loads(ARM)
    robot.simulate(start="equilibrium")
    robot.with_parameters(mass=0.6, tau=2, kp=3, goal=0, way=1, T=0.04).simulate(0.1, 0.03, q={"q1": 1})
    robot.simulate(q={"q2": 0.1}, qd={"q1": 1})
    assert made == ["equations", "integrator"]
    robot.simulate(rtol=1e-5)
    assert made == ["equations", "integrator", "integrator"]


@pytest.mark.slow
def test_a_run_that_fails_leaves_nothing_behind(monkeypatch):
    """Neither does one for which a parameter has no value."""
    robot = kronbot.loads(ARM)
    wanted = robot.simulate(duration=0.02).to_dict()
    follow = Cvodes.follow

    def lost(self, *given):
        yield next(iter(follow(self, *given)))
        raise ComputationError("lost")

    with monkeypatch.context() as patched, pytest.raises(ComputationError, match="lost"):
        patched.setattr(Cvodes, "follow", lost)
        robot.simulate(duration=0.02)
    with pytest.raises(UsageError, match="tau has no value"):
        kronbot.loads(ARM.replace("tau: 0.2", "tau: ")).simulate()
    assert robot.simulate(duration=0.02).to_dict() == wanted


@pytest.mark.slow
@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("solver", ["cvodes", "rodas"])
def test_eight_threads_get_the_bits_of_one(solver):
    """Each its own values, of one structure."""
    robot = kronbot.loads(ARM)

    def ask(i):
        return robot.with_parameters(tau=0.1 * (i % 4)).simulate(duration=0.02, solver=solver).to_dict()

    alone = [ask(i) for i in range(4)]
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(ask, range(8))) == alone * 2


@pytest.mark.parametrize("most", thinned([1, 9, 10], [10]))
def test_what_is_forgotten_is_made_again(most, monkeypatch):
    """A structure keeps so many things at a time; equations that are traced again see numbers that were met since."""
    monkeypatch.setattr(parameters, "MOST_KEPT", most)
    robot = kronbot.loads(SHORT)
    wanted = robot.simulate().to_dict()
    robot.statics()
    assert robot.simulate().to_dict() == wanted
