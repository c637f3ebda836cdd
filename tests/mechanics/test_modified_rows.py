"""Branched robots in modified DH (Craig) rows: against poses by hand, and against the same robot of free poses."""

import numpy as np
import pytest
from robots_in_tests import model
from thinned import rare

from kronbot.library.robot import Robot

# alpha and a of a row stand before its joint, theta and d behind: of the trunk, and of two children at its tip.
ROWS = {"trunk": (0.3, 0.2, 0.7, 0.4), "left": (-0.2, 0.1, 1.1, -0.3), "right": (0.5, -0.4, -0.6, 0.2)}
BEAM = "flexible: {length: 0.8, mass: 1.2, EI: {z: 90, y: 60}, modes: {v: 1, w: 1}}"
BODY = "rigid: {mass: 0.7, com: [0.1, -0.2, 0.3], inertia: {Ixx: 0.02, Iyy: 0.03, Izz: 0.04, Ixy: 0.005}}"
KINDS = {"trunk": BEAM, "left": BEAM, "right": BODY}
HEAD = "kronbot: 1\nname: tree\nconvention: modified\ngravity: [1, 2, -9.81]\nlinks:\n"


def rows(**parents):
    """The robot in modified rows."""
    lines = []
    for name, (alpha, a, theta, d) in ROWS.items():
        kind = "prismatic" if name == "right" else "revolute"
        lines.append(
            f"  - {{name: {name}, parent: {parents[name]}, joint: {{type: {kind}, name: q_{name}}}, "
            f"dh: {{a: {a}, d: {d}, alpha: {alpha}, theta: {theta}}}, {KINDS[name]}}}\n"
        )
    return Robot(model(HEAD + "".join(lines)))


def poses(**parents):
    """The same of poses: a joint about or along z turns and slides in any order, and so do theta and d before it."""
    lines = []
    for name, (alpha, a, theta, d) in ROWS.items():
        kind = "prismatic" if name == "right" else "revolute"
        # Rx(alpha) Rz(theta) is no roll, pitch, yaw in one: the turn about x stands in a link of its own.
        lines.append(
            f"  - {{name: {name}_before, parent: {parents[name]}, joint: {{type: fixed}}, "
            f"pose: {{xyz: [{a}, 0, 0], rpy: [{alpha}, 0, 0]}}}}\n"
            f"  - {{name: {name}, parent: {name}_before, joint: {{type: {kind}, name: q_{name}}}, "
            f"pose: {{xyz: [0, 0, {d}], rpy: [0, 0, {theta}]}}, {KINDS[name]}}}\n"
        )
    return Robot(model(HEAD.replace("convention: modified\n", "") + "".join(lines)))


def turned(axis, angle):
    """A homogeneous rotation about x or z."""
    c, s = np.cos(angle), np.sin(angle)
    i, j = {"x": (1, 2), "z": (0, 1)}[axis]
    T = np.eye(4)
    T[i, i], T[i, j], T[j, i], T[j, j] = c, -s, s, c
    return T


def moved(x, y, z):
    T = np.eye(4)
    T[:3, 3] = x, y, z
    return T


def root(name, q):
    """Craig's Rx(alpha) Tx(a) Rz(theta) Tz(d) with the joint's coordinate."""
    alpha, a, theta, d = ROWS[name]
    slides = name == "right"
    joint = turned("z", theta + (0 if slides else q)) @ moved(0, 0, d + (q if slides else 0))
    return turned("x", alpha) @ moved(a, 0, 0) @ joint


TREES = [
    {"trunk": "world", "left": "trunk", "right": "trunk"},
    {"trunk": "world", "left": "world", "right": "left"},
]


@pytest.mark.parametrize("parents", TREES)
def test_frames_of_a_branched_robot_in_modified_rows(parents):
    """Straight beams: the tip is 0.8 along x of the root, and that is where every child begins."""
    robot = rows(**parents)
    q = {"q_trunk": 0.3, "q_left": -0.5, "q_right": 0.25}
    h = 1e-6

    def tip(name, values):
        before = np.eye(4) if parents[name] == "world" else tip(parents[name], values)
        along = 0.0 if name == "right" else 0.8
        return before @ root(name, values[f"q_{name}"]) @ moved(along, 0, 0)

    for name in ROWS:
        found = robot.taylor("position", frame=name, terms=0, q=q)["position"]
        assert np.ravel(found) == pytest.approx(tip(name, q)[:3, 3], abs=1e-14)
        answer = robot.jacobian(q, frame=name)
        for joint in q:
            up, down = (tip(name, q | {joint: q[joint] + step}) for step in (h, -h))
            change = (up - down) / (2 * h)
            spin = change[:3, :3] @ tip(name, q)[:3, :3].T
            column = answer.arrays["J_T"].columns.index(joint)
            assert answer["J_T"][:, column] == pytest.approx(change[:3, 3], abs=1e-9)
            assert answer["J_R"][:, column] == pytest.approx([spin[2, 1], spin[0, 2], spin[1, 0]], abs=1e-9)


@pytest.mark.parametrize("parents", [TREES[0], rare(TREES[1])])
def test_a_branched_robot_in_modified_rows_is_that_of_poses(parents):
    """Jacobians, M, gravity and Coriolis terms of bent beams, at every frame."""
    one, other = rows(**parents), poses(**parents)
    names = one.model.coordinates
    assert names == other.model.coordinates
    q = dict(zip(names, 0.3 * np.sin(1 + np.arange(len(names))), strict=True))
    qd = dict(zip(names, np.cos(2 * np.arange(len(names))), strict=True))
    for name in (*ROWS, "trunk:root", "left:root", "com:right"):
        left, right = (robot.jacobian(q, frame=name) for robot in (one, other))
        for array in ("J_T", "J_R"):
            assert left[array] == pytest.approx(right[array], abs=1e-13)
    left, right = (robot.dynamics(q, qd) for robot in (one, other))
    for array in ("M", "C", "g"):
        assert left[array] == pytest.approx(right[array], abs=1e-12 * np.abs(right[array]).max())
