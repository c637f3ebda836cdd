"""The question ``kinematics``: where frames are and how they are turned, at given coordinates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import casadi
import numpy as np
from casadi import SX

from kronbot.compute.arrays import NamedArray
from kronbot.compute.question import Quantity, Question
from kronbot.floats import Array
from kronbot.mechanics.multibody.kinematics import relative_motion
from kronbot.mechanics.multibody.rotations import quaternions, roll_pitch_yaw
from kronbot.model.robot import Robot
from kronbot.questions.jacobian import FrameView, view
from kronbot.questions.outline import Given, Outline

PURPOSE = "kinematics"
# What stands for the endpoint and the tip frames of all links.
ALL = "all"
XYZ, RPY, QUATERNION = ("x", "y", "z"), ("roll", "pitch", "yaw"), ("qx", "qy", "qz", "qw")
POSE = (*XYZ, *RPY, *QUATERNION)
UNITS = ("m",) * 3 + ("rad",) * 3 + ("1",) * 4
# Rows and columns of a homogeneous matrix: the axes of the frame, its origin.
ROWS, COLUMNS = (*XYZ, "1"), (*XYZ, "origin")


@dataclass(frozen=True)
class Poses(Question):
    """A question about homogeneous matrices, whose answer has positions, angles and quaternions beside them."""

    def arrays(self, values: Mapping[str, Array], axis: tuple[str, Sequence[float]] | None) -> dict[str, NamedArray]:
        """``pose``, a row a frame, and the matrices."""
        found = super().arrays(values, axis)
        T = found["T"].values
        T = T.reshape(*T.shape[:-2], -1, 4, 4)
        R = T[..., :3, :3]
        pose = np.concatenate([T[..., :3, 3], roll_pitch_yaw(R), quaternions(R)], axis=-1)
        rows = [name.removesuffix(f".{ROWS[0]}") for name in found["T"].rows[:: len(ROWS)]]
        units = {"rows": ["1"] * len(rows), "columns": list(UNITS)}
        return {"pose": NamedArray(pose, rows, units, POSE, axis), **found}


def views(robot: Robot, names: Sequence[str]) -> tuple[FrameView, ...]:
    """The frames of those names, ``all`` for the endpoint and the tip frames of all links; each once.

    Raises UsageError that lists the frames.
    """
    links = [link.name for link in robot.links]
    every = ["endpoint", *links]
    asked = (each for name in names for each in (every if name == ALL and ALL not in links else [name]))
    return tuple(dict.fromkeys(view(robot, name, "base") for name in asked))


def kinematics(robot: Robot, seen: Sequence[FrameView]) -> Question:
    """T (4 x 4 a frame, one below the other): p_to = T p_of in homogeneous coordinates, Tuan (71)-(72)."""
    q = SX.sym("q", robot.n)
    poses = [relative_motion(robot, q, each.of, each.to).pose for each in seen]
    last = SX([[0, 0, 0, 1]])
    T = casadi.vertcat(*(part for pose in poses for part in (casadi.horzcat(pose.R, pose.r), last)))
    rows = [f"{each.name}.{row}" for each in seen for row in ROWS]
    units = {"rows": ["m", "m", "m", "1"] * len(seen), "columns": ["1/m", "1/m", "1/m", "1"]}
    return Poses(
        robot.parameters, {"q": q}, robot.derivative_names(["q"]), {"T": Quantity(T, rows, COLUMNS, units)}, PURPOSE
    )


def outline(robot: Robot, given: Given) -> Outline:
    """What the answer holds: poses and matrices of the frames."""
    names: list[str] = []
    for each in given.get("frame", ("endpoint",)):
        names += map(str, each if isinstance(each, list | tuple) else [each])
    frames = [each.name for each in views(robot, names)]
    arrays = {"pose": (frames, POSE), "T": ([f"{name}.{row}" for name in frames for row in ROWS], COLUMNS)}
    return Outline(arrays=arrays, usual=[f"pose[{name},{column}]" for name in frames for column in (*XYZ, *RPY)])
