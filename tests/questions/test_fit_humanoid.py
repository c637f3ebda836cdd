"""Calibration of a tree with two hands, whose measurements are those of a program of its own: no code of kronbot's.

Every joint yields about its axis and across it under the weight of all that it carries, one follows two others as a
parallelogram does, and a camera sees a point of each hand.
"""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import kronbot

NOISE, WEIGHT = 3e-4, np.array([0, 0, -9.81])
SIZES = {"a": 2e-3, "d": 2e-3, "alpha": 1e-2, "theta": 2e-2}
CAMERA, POINT = {"x": 2.0, "y": 0.3, "z": 1.0, "roll": 0.1, "pitch": -0.2, "yaw": 0.5}, (0.03, 0.02, 0.12)
DOWN = (
    "-9.81*(cos(camera_yaw)*sin(camera_pitch)*cos(camera_roll) + sin(camera_yaw)*sin(camera_roll))",
    "-9.81*(sin(camera_yaw)*sin(camera_pitch)*cos(camera_roll) - cos(camera_yaw)*sin(camera_roll))",
    "-9.81*cos(camera_pitch)*cos(camera_roll)",
)


@dataclass(frozen=True)
class Joint:
    """A joint, the one before it, its DH row (a, d, alpha, theta), mass and its place, and how far it yields."""

    name: str
    before: str
    row: tuple
    mass: float
    com: tuple
    soft: float = 2e-5
    follows: bool = False


def humanoid(fingers):
    """Three joints of a torso and one that follows two of them, two arms of so many joints, a head on long ones."""
    H = np.pi / 2
    joints = [
        Joint("t1", "", (0, 0.3, -H, 0), 6, (0, 0.1, 0)),
        Joint("t2", "t1", (0.3, 0, 0, -H), 5, (-0.15, 0, 0)),
        Joint("t3", "t2", (0.3, 0, 0, 0), 4, (-0.15, 0, 0)),
        Joint("t4", "t3", (0.1, 0, H, 0), 8, (0, 0, 0.15), 0.0, True),
    ]
    rows = [(0, 0.2, H, H), (0.02, 0.4, -H, 0), (0, 0, H, 0), (0, 0.39, -H, 0), (0, 0, H, 0), (0, 0.1, 0, 0)]
    for side, way in (("l", 1), ("r", -1)):
        before = "t4"
        for i, row in enumerate([(0.05, way * 0.2, -way * 1.2, 0), *rows][:fingers], 1):
            joints.append(Joint(f"{side}{i}", before, row, 3.4 - 0.3 * i, (0.01, 0.03, 0.05), 6e-5))
            before = f"{side}{i}"
    return [*joints, Joint("h1", "t4", (0, 0.35, -H, 0), 2, (0, -0.1, 0), 6e-5)] if fingers == 7 else joints


def parameters(joints):
    """Those of the file, and the deviations of their priors."""
    file, deviation = {}, {}
    for joint in joints:
        for (word, size), value in zip(SIZES.items(), joint.row, strict=True):
            file[f"{word}_{joint.name}"], deviation[f"{word}_{joint.name}"] = value, size
        if joint.soft:
            for axis in "xyz":
                file[f"c{axis}_{joint.name}"] = deviation[f"c{axis}_{joint.name}"] = joint.soft
    for word, value in CAMERA.items():
        file[f"camera_{word}"], deviation[f"camera_{word}"] = value, 1.0
    for side in "lr":
        for axis, value in zip("xyz", POINT, strict=True):
            file[f"hand_{side}_{axis}"], deviation[f"hand_{side}_{axis}"] = value, 0.02
    return file, deviation


def text(joints):
    """The robot file."""
    file = parameters(joints)[0]
    lines = ["kronbot: 1", "name: humanoid", "convention: standard", "gravity:", *(f'  - "{each}"' for each in DOWN)]
    lines += ["parameters:", *(f"  {name}: {float(value)!r}" for name, value in file.items()), "links:"]
    lines += ["  - name: camera", "    joint: {type: fixed}"]
    lines += ["    pose: {xyz: [camera_x, camera_y, camera_z], rpy: [camera_roll, camera_pitch, camera_yaw]}"]
    for each in joints:
        name = each.name
        soft = f"elastic: {{compliance: cz_{name}}}, bearing: {{compliance: {{x: cx_{name}, y: cy_{name}}}}}"
        lines += [f"  - name: {name}_link", f"    parent: {each.before + '_link' if each.before else 'camera'}"]
        how = "follows: -(t2 + t3)" if each.follows else soft
        lines += [f"    joint: {{type: revolute, name: {name}, {how}}}"]
        lines += [f"    dh: {{a: a_{name}, d: d_{name}, alpha: alpha_{name}, theta: theta_{name}}}"]
        lines += [f"    rigid: {{mass: {each.mass}, com: {list(each.com)}, inertia: {{Ixx: 1, Iyy: 1, Izz: 1}}}}"]
    for side in "lr":
        last = [each.name for each in joints if each.name.startswith(side)][-1]
        lines += [f"  - name: hand_{side}", f"    parent: {last}_link", "    joint: {type: fixed}"]
        lines += [f"    pose: {{xyz: [hand_{side}_x, hand_{side}_y, hand_{side}_z]}}"]
    return "\n".join(lines) + "\n"


def seen(joints, p, q):
    """Points of both hands (6,) in the camera's axes: joints turn under weights until nothing changes any more."""
    names = [each.name for each in joints]
    before = [names.index(each.before) if each.before else -1 for each in joints]
    c = np.array([[p.get(f"c{axis}_{name}", 0.0) for axis in "xyz"] for name in names])
    mass, com = np.array([each.mass for each in joints]), np.array([each.com for each in joints])
    yields = np.zeros((len(joints), 3))
    for _ in range(60):
        axes, poses = [], []
        turns = q + yields[:, 2]
        turns[names.index("t4")] = -turns[names.index("t2")] - turns[names.index("t3")]
        for i, name in enumerate(names):
            R, r = poses[before[i]] if before[i] >= 0 else (np.eye(3), np.zeros(3))
            tilted = R @ Rotation.from_rotvec([*yields[i, :2], 0]).as_matrix()
            axes.append((R, r, tilted[:, 2]))
            R = tilted @ Rotation.from_rotvec([0, 0, turns[i] + p[f"theta_{name}"]]).as_matrix()
            r = r + R @ [p[f"a_{name}"], 0, p[f"d_{name}"]]
            poses.append((R @ Rotation.from_rotvec([p[f"alpha_{name}"], 0, 0]).as_matrix(), r))
        torques = np.zeros((len(joints), 3))
        for i, (R, r) in enumerate(poses):
            at, force, place = r + R @ com[i], mass[i] * WEIGHT, i
            while place >= 0:
                base, origin, axis = axes[place]
                moment = np.cross(at - origin, force)
                w = np.array([*yields[place, :2], 0])
                S = np.array([[0, 0, w[1]], [0, 0, -w[0]], [-w[1], w[0], 0]])
                # d exp(w) = exp(w) (1 + S/2 + S^2/6 + ...) dw, seen from behind
                torques[place, :2] += ((np.eye(3) + S / 2 + S @ S / 6).T @ base.T @ moment)[:2]
                torques[place, 2] += axis @ moment
                place = before[place]
        for name in ("t2", "t3"):
            torques[names.index(name), 2] -= torques[names.index("t4"), 2]
        last, yields = yields, c * torques
        if np.abs(yields - last).max() < 1e-15:
            break
    C = Rotation.from_euler("ZYX", [p[f"camera_{word}"] for word in ("yaw", "pitch", "roll")]).as_matrix()
    points = []
    for side in "lr":
        R, r = poses[max(i for i, name in enumerate(names) if name.startswith(side))]
        points.append(r + R @ [p[f"hand_{side}_{axis}"] for axis in "xyz"])
    return np.concatenate([C @ each + [p[f"camera_{axis}"] for axis in "xyz"] for each in points])


@pytest.mark.slow
def test_what_is_found_is_what_was_there():
    """True values drawn from the priors come back within their errors, in few steps though much cannot be told."""
    poses, count = 60, 65
    joints, rng = humanoid(2), np.random.default_rng(4)
    file, deviation = parameters(joints)
    true = {name: value + deviation[name] * rng.normal() for name, value in file.items()}
    q = rng.uniform(-1, 1, (poses, len(joints))) * [0.6 if each.name[0] == "t" else 1.3 for each in joints]
    noise = rng.normal(size=(poses, 6))
    noise[rng.random(poses) < 0.1, :3] = np.nan
    measured = np.array([seen(joints, true, row) for row in q]) + NOISE * noise
    names = [f"position.hand_{side}.{axis}" for side in "lr" for axis in "xyz"]
    data = {each.name: q[:, i] for i, each in enumerate(joints) if not each.follows}
    data |= dict(zip(names, measured.T, strict=True))
    robot = kronbot.loads(text(joints))
    answer = robot.fit(data, sigma={"position": NOISE}, prior={name: (file[name], deviation[name]) for name in file})
    summary = answer.summary
    assert summary["parameters"] == count and summary["complete"] and summary["evaluations"] <= 15
    freedom = summary["degrees_of_freedom"]
    assert abs(summary["noise_factor"] ** 2 - 1) < 4 * np.sqrt(2 / freedom)
    # Twice the logarithm of the likelihood above that of the truth: a chi-square of as many degrees as parameters.
    found = answer.at["parameters"]
    priors = [sum(((p[name] - file[name]) / deviation[name]) ** 2 for name in file) for p in (true, found)]
    gained = np.nansum(noise**2) + priors[0] - summary["chi_square"] - priors[1]
    assert abs(gained - count) < 4 * np.sqrt(2 * count)
    assert any("these data tell" in each for each in answer.warnings)
