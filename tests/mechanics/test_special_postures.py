"""Postures at which entries of a linear model cancel: bars that hold a rounding of every number, counts of what is."""

import numpy as np
import pytest

from kronbot import loads

HEAD = "kronbot: 1\nname: special\nconvention: standard\ngravity: {}\n"
HANGING = """links:
  - {name: a, joint: {type: revolute, name: q0, damping: 2}, dh: {a: 1, d: 0, alpha: 0, theta: 0},
     rigid: {mass: 1, inertia: {Izz: 1}}}
  - {name: b, parent: a, joint: {type: revolute, name: q1, damping: 4, spring: {stiffness: 50, rest: 0}},
     dh: {a: 0, d: 0, alpha: 0, theta: 0}, rigid: {mass: 1, inertia: {Izz: 1}}}
  - {name: c, parent: a, joint: {type: revolute, name: q2, damping: 1, spring: {stiffness: 70, rest: 0}},
     dh: {a: 0, d: 0, alpha: 0, theta: 0}, rigid: {mass: 1, inertia: {Izz: 1}}}
"""
SLIDERS = """links:
  - {name: a, joint: {type: revolute, name: q0}, dh: {a: 1, d: 0, alpha: 0, theta: pi},
     rigid: {mass: 1, com: [-0.5, 0, 0], inertia: {Izz: 1}}}
  - {name: b, parent: a, joint: {type: prismatic, name: q1, spring: {stiffness: 50, rest: 0}},
     dh: {a: 2, d: 0, alpha: 0, theta: pi}, rigid: {mass: 1, inertia: {Izz: 1}}}
  - {name: c, parent: a, joint: {type: prismatic, name: q2, spring: {stiffness: 50, rest: 0}},
     dh: {a: 2, d: 0, alpha: 0, theta: pi}, rigid: {mass: 1, inertia: {Izz: 1}}}
"""
FOLDED = """links:
  - {name: a, joint: {type: revolute, name: q0, spring: {stiffness: 3, rest: 0}},
     dh: {a: 1, d: 0, alpha: 0, theta: 0}, rigid: {mass: 1, inertia: {Izz: 1}}}
  - {name: b, joint: {type: fixed}, dh: {a: 1, d: 0, alpha: 0, theta: THETA}, rigid: {mass: 1, inertia: {Izz: 1}}}
"""


@pytest.mark.parametrize(
    ("robot", "gravity", "q"),
    [
        (HANGING, "[0, -10, 0]", {"q0": "pi"}),
        (HANGING, "[0, -10, 0]", {"q0": "-pi"}),
        (SLIDERS, "[10, 0, 0]", {"q0": "pi/2", "q2": "1"}),
    ],
)
def test_a_pole_that_the_float_of_an_angle_moves_off_zero_is_zero_within_its_error(robot, gravity, q):
    answer = loads(HEAD.format(gravity) + robot).linearize(q=q)
    assert answer.summary["verdict"].startswith("undecided, pole 1 grows at ")
    assert abs(answer["poles"][0]) < answer["accuracy"][0, 0] < 1e-7
    assert (answer["accuracy"][1:, 0] < 1e-13).all()


def test_an_error_holds_the_neighbours_of_an_angle():
    robot = loads(HEAD.format("[0, -10, 0]") + HANGING)
    near = [np.nextafter(3.1415, -np.inf), 3.1415, np.nextafter(3.1415, np.inf)]
    below, at, above = (robot.linearize(q={"q0": float(q)}) for q in near)
    for other in (below, above):
        off = np.abs(other["poles"] - at["poles"])
        assert off[0] > 1e-15 and (off <= at["accuracy"][:, 0]).all()


@pytest.mark.parametrize(("theta", "states"), [("pi", 0), ("3.141592653589793", 0), ("pi/2+pi/2", 0), ("3.14159", 2)])
def test_what_only_rounding_lets_a_force_reach_is_out_of_reach(theta, states):
    text = HEAD.format("[0, 0, 0]") + FOLDED.replace("THETA", theta)
    summary = loads(text).linearize(inputs="force", outputs="endpoint").summary
    assert (summary["controllable"], summary["observable"]) == (states, states)


def test_rounding_of_what_outputs_show_is_not_seen():
    text = HEAD.format("[0, 0, 0]") + FOLDED.replace("THETA", "3.141592653589793") + "endpoint: {link: b}\n"
    for output, states in (("position:endpoint", 0), ("acceleration:endpoint", 2), ("rotation:endpoint", 2)):
        assert loads(text).linearize(outputs=output).summary["observable"] == states
