"""Elements that go over points of other frames: against closed forms, and by the energy and the reactions of a run."""

import math

import numpy as np
import pytest
from robots_in_tests import loaded

import kronbot
from kronbot.errors import ComputationError, DescriptionError
from kronbot.mechanics.multibody import drawing
from kronbot.plots.page.robot import Shown

# A hook that hangs from two ropes side by side, one rope that goes down over the hook and up again.
TACKLE = """
kronbot: 1
name: tackle
gravity: [0, 0, -9.81]
parameters: {k: 4000, c: 30, a: 0.3}
links:
  - name: hook
    joint: {type: prismatic, name: d}
    pose: {rpy: [pi, 0, 0]}
    rigid: {mass: 20}
elements:
  - {name: rope, type: spring, between: [world, world], points: [[-a, 0, 0], [a, 0, 0]], via: [{frame: hook}],
     stiffness: k, rest: 2, damping: c}
"""
K, C, A, M, G = 4000.0, 30.0, 0.3, 20.0, 9.81


@pytest.fixture(scope="module")
def tackle():
    return loaded(TACKLE)


def test_a_rope_over_a_hook_bears_it_twice(tackle):
    """l = 2 sqrt(a^2 + d^2); both pieces have the tension, and the rope's stiffness counts by (dl/dd)^2."""
    d, rate, change = 1.1, 0.4, 0.7
    tau = tackle.dynamics(q=[d], qd=[rate], qdd=[change])["tau"]
    half = math.hypot(A, d)
    slope = 2 * d / half
    tension = K * (2 * half - 2) + C * slope * rate
    assert tau == pytest.approx([M * change - M * G + slope * tension], rel=1e-12)
    linear = tackle.linearize(q=[d])
    curved = 2 * A**2 / half**3
    assert linear["K_L"][0, 0] == pytest.approx(K * slope**2 + K * (2 * half - 2) * curved, rel=1e-11)
    assert linear["D_L"][0, 0] == pytest.approx(C * slope**2, rel=1e-12)


def test_statics_and_reactions_bear_it(tackle):
    hung = tackle.statics(q=[1.0], tau={"d": 0}, outputs=["reaction:d"]).series
    d = hung["d"][0] if "d" in hung else hung["angle.d"][0]
    half = math.hypot(A, d)
    assert hung["tension.rope"] * 2 * d / half == pytest.approx([M * G], rel=1e-10)
    assert hung["length.rope"] == pytest.approx([2 * half], rel=1e-12)
    # The rope holds all of it, and its ends on the ground count among what the ground bears.
    assert abs(hung["reaction.d.fz"][0]) < 1e-9 * M * G
    assert hung["reaction.fz"] == pytest.approx([M * G], rel=1e-10)


BOOM = """
kronbot: 1
name: crane
convention: standard
gravity: [0, -9.81, 0]
links:
  - name: boom
    joint: {type: revolute, name: luff, damping: 0.5}
    dh: {a: 3, d: 0, alpha: 0, theta: 0}
    flexible: {mass: 12, EI: {z: 9000}, modes: {v: 1}, damping: {ratio: 0.01}}
  - name: jib
    joint: {type: revolute, name: tilt, spring: {stiffness: 300}}
    dh: {a: 1, d: 0, alpha: 0, theta: 0}
    rigid: {mass: 5, com: [-0.4, 0, 0], inertia: {Izz: 0.5}}
elements:
  - {name: hoist, type: spring, between: [world, jib], points: [[-1, 2, 0], [0, -0.1, 0]],
     via: [{frame: boom, point: [-0.6, 0.3, 0]}, {frame: boom, point: [-0.1, 0.25, 0]}, {frame: "jib:root"}],
     stiffness: 700, rest: 4, damping: 20, force: 15}
  - {name: stay, type: spring, between: [world, jib], points: [[-1, 2, 0], [0, 0.2, 0]],
     via: [{frame: boom, point: [0, 0.3, 0]}], stiffness: 60}
simulate: {duration: 0.3, step: 0.05}
"""


def test_energy_is_balanced_in_a_run():
    answer = loaded(BOOM).simulate(q=[0.4, -0.3], rtol=1e-11, atol=1e-12, outputs=["reaction:tilt", "spring:tilt"])
    assert answer.summary["energy_drift"] < 1e-8
    series = answer.series
    borne = series["torque.tilt"] + series["spring.tilt.spring"]
    assert series["reaction.tilt.mz"] == pytest.approx(borne, abs=1e-9 * series["tension.hoist"].max())


@pytest.mark.parametrize("order", ["1", "2", "exact"])
def test_lengths_are_those_of_the_way(order):
    """Between frames as `kinematics` has them; a piece within one body counts, and never changes."""
    robot = loaded(BOOM, order)
    q = {"luff": 0.4, "boom.v1": -0.02, "tilt": -0.3}
    frames = robot.kinematics(q=q, frame=["boom", "jib:root", "jib"])["T"].reshape(3, 4, 4)
    boom, root, jib = ((lambda point, T=T: T[:3, :3] @ point + T[:3, 3]) for T in frames)
    way = [np.array([-1, 2, 0]), boom([-0.6, 0.3, 0]), boom([-0.1, 0.25, 0]), root([0, 0, 0]), jib([0, -0.1, 0])]
    length = np.linalg.norm(np.diff(way, axis=0), axis=1).sum()
    start = robot.simulate(q=q, duration=0.05, step=0.05).series
    assert start["length.hoist"][0] == pytest.approx(length, rel=1e-12)
    assert start["tension.hoist"][0] == pytest.approx(700 * (length - 4) - 15, rel=1e-12)


def test_a_force_shortens_the_whole_way():
    """An input of linear models: B has dl/dq."""
    robot = loaded(BOOM)
    q, step = np.array([0.4, 0.01, -0.3]), 1e-6
    B = robot.linearize(q=q.tolist(), inputs=["elements"])["B"]
    M = robot.dynamics(q=q.tolist())["M"]

    def length(q):
        return robot.simulate(q=q.tolist(), duration=0.05, step=0.05).series["length.hoist"][0]

    slope = [(length(q + step * each) - length(q - step * each)) / (2 * step) for each in np.eye(3)]
    assert M @ B[3:, 0] == pytest.approx(slope, abs=1e-8)


def test_pieces_are_drawn():
    robot = loaded(BOOM).model
    pieces = drawing.elements(robot, np.array([0.4, 0.0, -0.3]))
    assert pieces.shape == (4 + 2, 2, 3)
    assert np.array_equal(pieces[:3, 1], pieces[1:4, 0]) and np.array_equal(pieces[4, 1], pieces[5, 0])
    assert pieces[0, 0] == pytest.approx([-1, 2, 0])
    shown = Shown(robot, ["jib"])
    data = shown.data(np.array([[0.4, 0.0, -0.3]]))
    assert len(data["elements"]) == 6 and shown.place(0) == data["elements"][-1] + 6
    assert np.array_equal(shown.at(np.array([0.4, 0.0, -0.3]))[-14:-2].reshape(6, 2, 3), pieces)


def test_a_piece_without_a_length_is_named():
    text = TACKLE.replace("points: [[-a, 0, 0], [a, 0, 0]]", "points: [[0, 0, 0], [a, 0, 0]]")
    with pytest.raises(ComputationError, match="the ends of a piece of element 'rope' meet"):
        kronbot.loads(text).dynamics(q=[0.0])


@pytest.mark.parametrize(
    ("was", "new", "said"),
    [
        ("{frame: hook}", "{frame: hok}", "unknown frame 'hok'; did you mean 'hook'"),
        ("{frame: hook}", "{frame: world}", "all points are on the frame 'world': their distance never changes"),
        ("{frame: hook}", "{point: [0, 0, 0]}", "frame"),
        ("[{frame: hook}]", f"[{', '.join(['{frame: hook}'] * 33)}]", "33 points on the way, at most 32 are allowed"),
        ("{frame: hook}", "{frame: hook, point: [x, 0, 0]}", "unknown name 'x'"),
        ("via: [{frame: hook}]", "over: [{frame: hook}]", "unknown key 'over'"),
    ],
)
def test_mistakes_are_named(was, new, said):
    with pytest.raises(DescriptionError, match=said):
        kronbot.loads(TACKLE.replace(was, new))
