"""Structures that robots of different values share, until something is traced that tells them apart."""

import pytest

import kronbot

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
    "statics": lambda robot: robot.statics({"q1": 0.3}),
    "simulate": lambda robot: robot.simulate(0.02, 0.01, q={"q1": 0.3}),
    "taylor": lambda robot: robot.taylor("M", 1, {"q1": 0.3}),
}


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("values", [{"turn": "pi/2"}, {"place": 0.5}, {"EI": 30}])
@pytest.mark.parametrize("first", [True, False])
def test_who_is_asked_first_does_not_matter(asked, values, first):
    """Of robots that were made from each other before either was asked: answers of robots just loaded, to the bit."""
    robot, ask = kronbot.loads(ARM), ASKED[asked]
    other = robot.with_parameters(**values)
    wanted = [ask(kronbot.loads(ARM)).to_dict(), ask(kronbot.loads(ARM, parameters=values)).to_dict()]
    pair = [robot, other]
    order = (0, 1) if first else (1, 0)
    for i in (*order, *order):
        assert ask(pair[i]).to_dict() == wanted[i]
    for i in order:
        again = pair[1 - i].with_parameters(**[FIRST, FIRST | values][i])
        assert ask(pair[i].with_parameters(EI=25)).to_dict() == ask(again.with_parameters(EI=25)).to_dict()
