"""Structures that robots of different values share, until something is traced that tells them apart."""

import itertools
from functools import cache

import numpy as np
import pytest
from thinned import thinned

import kronbot
from kronbot.compute.trace import Trace
from kronbot.model.build import numbers_apart, together

# The first angle is folded where the mechanics are traced, not where the robot is built; so is the place of the gauge.
ARM = """
kronbot: 1
name: arm
convention: standard
gravity: [0, -9.81, 0]
parameters: {turn: 0.3, place: 0.2, EI: 20}
links:
  - name: upper
    joint: {type: revolute, name: q1}
    dh: {a: 0.9, d: 0, alpha: 0.1, theta: turn}
    flexible: {mass: 0.4, EI: {z: EI}, modes: {v: 1}, shape: craig-bampton}
  - name: hand
    joint: {type: revolute, name: q2}
    dh: {a: 0.2, d: 0, alpha: 0, theta: 0}
    rigid: {mass: 0.2}
statics: {gauges: [{name: g, link: upper, x: place}]}
"""
FIRST = {"turn": 0.3, "place": 0.2, "EI": 20}
ASKED = {
    "jacobian": lambda robot: robot.jacobian({"q1": 0.3, "upper.v1": 0.01}),
    "linearize": lambda robot: robot.linearize({"q1": 0.3}, outputs=["gauges"]),
    "modes": lambda robot: robot.modes({"q1": 0.3}),
    "statics": lambda robot: robot.statics({"q1": 0.3}),
    "simulate": lambda robot: robot.simulate(0.02, 0.01, q={"q1": 0.3}),
    "taylor": lambda robot: robot.taylor("M", 1, {"q1": 0.3}),
}


OTHER = {"turn": {"turn": "pi/2"}, "place": {"place": 0.5}, "EI": {"EI": 30}}
# A gauge is where statics looks only.
TOLD_APART = [
    *(("jacobian", "turn", True), ("statics", "EI", True)),
    *(("jacobian", "turn", False), ("statics", "place", False)),
]
# Every question with every other value, either robot first in every other of them.
IN_TURN = [(*pair, k % 2 == 0) for k, pair in enumerate([*itertools.product(ASKED, OTHER)][::4])]


@cache
def alone(asked, value):
    """Answers of robots just loaded."""
    robots = kronbot.loads(ARM), kronbot.loads(ARM, parameters=OTHER[value])
    return [ASKED[asked](robot).to_dict() for robot in robots]


@pytest.mark.parametrize(("asked", "value", "first"), thinned(sorted({*TOLD_APART, *IN_TURN}), TOLD_APART))
def test_who_is_asked_first_does_not_matter(asked, value, first):
    """Of robots that were made from each other before either was asked: answers of robots just loaded, to the bit."""
    robot, ask, values = kronbot.loads(ARM), ASKED[asked], OTHER[value]
    other = robot.with_parameters(**values)
    wanted = alone(asked, value)
    pair = [robot, other]
    order = (0, 1) if first else (1, 0)
    for i in (*order, *order):
        assert ask(pair[i]).to_dict() == wanted[i]
    for i in order:
        again = pair[1 - i].with_parameters(**[FIRST, FIRST | values][i])
        assert ask(pair[i].with_parameters(EI=25)).to_dict() == ask(again.with_parameters(EI=25)).to_dict()


NUMBERS = """
kronbot: 1
name: numbers
gravity: [0, 0, 0]
parameters: {A: 1.3, B: A, C: 0.5*A, D: 0.5*A, E: 1.3, F: A - A, G: pi*A, H: }
links:
  - name: a
    joint: {type: revolute, name: q1, damping: 1}
    pose: {xyz: [1.3, 1, 0], rpy: [pi/2, 1.3, 1.3]}
    rigid: {mass: A, com: [B, C, D], inertia: {Ixx: E, Iyy: G, Izz: 2*0.65, Ixy: 0.5*A, Ixz: F}}
    payload: {mass: 1, com: [1.3, 0, 0]}
"""
MENTIONED = [*"ABCDEFG", "Ixy", "Izz", "damping", "mass", "rpy_y", "rpy_z", "x", "xyz_x", "xyz_y"]


def shown(robot):
    """What stands at each place of the file, as a trace."""
    (link,), (rigid, payload) = robot.links, robot.links[0].bodies
    pose, yaw = link.row.before, link.row.before.R
    places = [rigid.mass, *(rigid.com[i] for i in range(3)), rigid.inertia[0, 0], rigid.inertia[0, 2]]
    places += [rigid.inertia[1, 1], rigid.inertia[0, 1], rigid.inertia[2, 2], link.joint.damping, payload.mass]
    places += [yaw[2, 0], yaw[1, 0] / yaw[0, 0], payload.com[0], pose.r[0], pose.r[1]]
    return Trace(robot.parameters, {"q": pose.r[:0]}, dict(zip(MENTIONED, places, strict=True)), "test")


def test_every_number_of_a_file_moves_on_its_own():
    """Equal ones apart, a 1, too; what one name states as the same together; zeros and quarter turns stay."""
    trace = shown(numbers_apart(kronbot.loads(NUMBERS).model))
    other, _ = trace.elsewhere([np.zeros((1, 0))], 1e-2)
    was, now = ({name: float(value[0]) for name, value in each(np.zeros(0)).items()} for each in (trace, other))
    moved = {name: now[name] / was[name] - 1 for name in MENTIONED if was[name]}
    assert now["F"] == 0 and moved["B"] == moved["A"] and moved["G"] == pytest.approx(moved["A"])
    apart = [*(moved[name] for name in MENTIONED if name not in ("B", "F", "G"))]
    assert all(1e-6 < abs(each) < 0.1 for each in apart)
    assert min(abs(a - b) for i, a in enumerate(apart) for b in apart[:i]) > 1e-6
    shared = shown(kronbot.loads(NUMBERS).model).elsewhere([np.zeros((1, 0))], 1e-2)[0](np.zeros(0))
    assert shared["x"] == shared["xyz_x"] and shared["mass"] == shared["xyz_y"] == 1


def test_numbers_of_many_robots_move_like_those_of_each():
    """Definitions, too, which differ."""
    first = kronbot.loads(NUMBERS)
    robots = [first.with_parameters(**values).model for values in ({}, {"B": 1.3}, {"A": 2, "D": "B"})]
    points = [np.zeros((3, 0))]
    found = shown(numbers_apart(together(robots))).elsewhere(points, 1e-2)[0].rows(*points)
    for i, robot in enumerate(robots):
        alone = shown(numbers_apart(robot)).elsewhere([points[0][:1]], 1e-2)[0](np.zeros(0))
        assert {name: values[i].tolist() for name, values in found.items()} == {n: v.tolist() for n, v in alone.items()}
