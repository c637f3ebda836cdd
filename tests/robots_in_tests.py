"""Models and runs as the tests need them, in one call each."""

from functools import lru_cache

import casadi
import numpy as np
import yaml
from oracles import number
from random_robots import to_yaml

import kronbot
from kronbot import description
from kronbot.compute.trace import Trace
from kronbot.mechanics.motion.integration import Tolerances
from kronbot.mechanics.multibody.state import propagate
from kronbot.model.build import build
from kronbot.questions.grids import horizon
from kronbot.questions.simulate import Run, simulate

# A beam on a joint, with what plans and motions along a path have to bring to rest.
BOOM = """
kronbot: 1
name: boom
gravity: [0, 0, 0]
links:
  - name: boom
    joint: {type: revolute, name: q1, damping: 0.3}
    pose: {}
    flexible: {mass: 1, length: 1, EI: {z: 10}, modes: {v: 2}, shape: craig-bampton, damping: {ratio: 0.02}}
    payload: {mass: 0.5}
    hub: {mass: 0.1, inertia: {Izz: 0.3}}
"""


def turning(body, *, length=1, joint="q1", more="", gravity=0):
    """The text of a link on a revolute joint, and what is heavy on it."""
    return f"""
kronbot: 1
name: turning
convention: standard
gravity: [0, {-gravity}, 0]
links:
  - name: arm
    joint: {{type: revolute, name: {joint}{more}}}
    dh: {{a: {length}, d: 0, alpha: 0, theta: 0}}
    {body}
"""


def boom_and_arm(beam="", joint=""):
    """The text of a link that bends and a rigid one that it carries, under gravity, for what controls them."""
    return f"""
kronbot: 1
name: arm
convention: standard
gravity: [0, -9.81, 0]
links:
  - name: upper
    joint: {{type: revolute, name: q1, damping: 0.1}}
    dh: {{a: 0.8, d: 0, alpha: 0, theta: 0}}
    flexible: {{mass: 0.4, EI: {{z: 20}}, modes: {{v: 1}}, shape: craig-bampton{beam}}}
  - name: lower
    joint: {{type: revolute, name: q2{joint}}}
    dh: {{a: 0.5, d: 0, alpha: 0, theta: 0}}
    rigid: {{mass: 0.3, com: [-0.2, 0, 0], inertia: {{Izz: 0.01}}}}
"""


def model(robot, order="2"):
    """The model of a robot given as a dict (as for the oracle) or as YAML text, one of each: tracing takes longest."""
    return _model(robot if isinstance(robot, str) else to_yaml(robot), order)


@lru_cache(maxsize=32)
def _model(text, order):
    return build(description.load(description.Source("robot.yaml", text, None)), order)


@lru_cache(maxsize=32)
def loaded(text, order="2"):
    """The robot of a text, one for all who ask, with what was traced for the others."""
    return kronbot.loads(text, order=order)


@lru_cache(maxsize=16)
def shipped_robot(name, order="2"):
    """The robot of a shipped file, likewise."""
    return kronbot.load(name, order=order)


def shipped(name):
    """A shipped robot as the dict that the oracle takes, all expressions as numbers."""
    robot = yaml.safe_load(description.read(name).text)
    names = robot.get("parameters", {})
    words = {"name", "type", "parent", "shape", "description", "source", "convention", "link", "drive"}

    def numbers(entry, key=""):
        if isinstance(entry, dict):
            return {key: numbers(value, key) for key, value in entry.items()}
        if isinstance(entry, list):
            return [numbers(value) for value in entry]
        return number(entry, names) if isinstance(entry, str) and key not in words else entry

    return {
        key: numbers(value, key)
        for key, value in robot.items()
        if key not in ("motion", "simulate", "statics", "sweep", "fit")
    }


def traced(robot, **outputs):
    """Functions of (q, qd, third argument) as one callable; each output is a function of (state symbols q, qd, x)."""
    given = {name: casadi.SX.sym(name, robot.n) for name in ("q", "qd", "x")}
    expressions = {name: output(*given.values()) for name, output in outputs.items()}
    return Trace(robot.parameters, given, expressions, "test")


def moving(robot, **outputs):
    """The same, but each output is a function of (state of all links, x): they are propagated once, which is slow."""
    given = {name: casadi.SX.sym(name, robot.n) for name in ("q", "qd", "x")}
    state = propagate(robot, given["q"], given["qd"])
    expressions = {name: output(state, given["x"]) for name, output in outputs.items()}
    return Trace(robot.parameters, given, expressions, "test")


def run(
    robot, *, duration=None, step=None, rtol=1e-8, solver="cvodes", algorithm="recursive", q=(), qd=(), start="straight"
):
    """Simulate a model, or the model of a robot; q and qd are initial values by name."""
    robot = getattr(robot, "model", robot)
    duration, step = horizon(robot, duration, step)
    places = {name: place for place, name in enumerate(robot.coordinates)}
    starts = [{places[name]: value for name, value in dict(values).items()} for values in (q, qd)]
    settings = Run(duration, step, algorithm, solver, Tolerances(rtol, rtol * 1e-2), *starts, start)
    return simulate(robot, settings, lambda share: None)


def columns(series, *names):
    """Columns of a series side by side, one row a time."""
    return np.column_stack([series[name] for name in names])
