"""Poses as people give them: by the names of an answer's columns, as so many numbers, as a homogeneous matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from kronbot.description.choices import POSE, QUATERNION, RPY, XYZ
from kronbot.description.wording import unknown
from kronbot.errors import Argument, UsageError
from kronbot.library import arguments
from kronbot.library.arguments import NumberLike
from kronbot.mechanics.multibody.inverse_kinematics import Target
from kronbot.mechanics.multibody.rotations import of_quaternion, of_roll_pitch_yaw, quaternions
from kronbot.model.robot import Robot
from kronbot.questions.kinematics import FORMS

# By name; or x, y, z, or these with roll, pitch, yaw or with qx, qy, qz, qw; or a homogeneous matrix (4, 4).
PoseLike: TypeAlias = Mapping[str, NumberLike] | Sequence[NumberLike] | npt.NDArray[np.float64]
WORD = "inverse"
# How far a quaternion's length, or a matrix from a rotation, may be off: digits that somebody has left out.
OFF = 1e-2


def target(robot: Robot, given: object) -> Target:
    """The pose that is meant. Positions that are not named are free; so is a rotation of which nothing is named.

    Raises UsageError for what is no pose.
    """
    known = robot.description.values
    if arguments.is_named(given):
        named = arguments.pairs(given, WORD)
        for name in named:
            if name not in POSE:
                raise unknown(name, POSE, Argument(WORD), ": no part of a pose ")
        return _of(_numbers(robot, named))
    large = type(given) is np.ndarray and given.size > 16  # before any of very many values is read
    values = np.zeros(0) if large else arguments.array(given, known, WORD)
    if values.shape == (4, 4):
        return _of_matrix(values)
    if values.ndim != 1 or len(values) not in FORMS:
        why = ": x, y, z are wanted, and roll, pitch, yaw or qx, qy, qz, qw; or some by name, or a 4 x 4 matrix"
        raise UsageError(Argument(WORD), why)
    return _of(dict(zip(FORMS[len(values)], values.tolist(), strict=True)))


def _numbers(robot: Robot, named: Mapping[str, object]) -> dict[str, float]:
    known = robot.description.values
    return {name: arguments.number(value, known, f"{WORD} {name}") for name, value in named.items()}


def _of(values: Mapping[str, float]) -> Target:
    angles, parts = ([name for name in names if name in values] for names in (RPY, QUATERNION))
    if not values:
        raise UsageError(Argument(WORD), ": nothing of a pose is given")
    if angles and parts:
        raise UsageError(Argument(WORD), f": {angles[0]} and {parts[0]} both say how it is turned: leave one out")
    if parts and len(parts) < len(QUATERNION):
        raise UsageError(Argument(WORD), f": a quaternion has {', '.join(QUATERNION)}: give all four")
    position = np.array([values.get(name, np.nan) for name in XYZ])
    if angles:
        return Target(position, of_roll_pitch_yaw(np.array([values.get(name, 0.0) for name in RPY])))
    return Target(position, _unit(np.array([values[name] for name in QUATERNION])) if parts else None)


def _unit(quaternion: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    size = float(np.linalg.norm(quaternion))
    if abs(size - 1) > OFF:
        raise UsageError(Argument(WORD), f": the length of a unit quaternion is 1, not {size:.6g}")
    return of_quaternion(*(quaternion / size).tolist())


def _of_matrix(T: npt.NDArray[np.float64]) -> Target:
    R = T[:3, :3]
    if not (np.abs(R @ R.T - np.eye(3)).max() <= OFF and np.linalg.det(R) > 0 and T[3].tolist() == [0, 0, 0, 1]):
        raise UsageError(Argument(WORD), ": the matrix is not [[R, r], [0, 1]] with a rotation R")
    return Target(T[:3, 3], of_quaternion(*quaternions(R).tolist()))
