"""From a row of the robot file to frames: standard and modified Denavit-Hartenberg rows, and free poses."""

from __future__ import annotations

import casadi
from casadi import SX

from kronbot.description.entries import ZERO
from kronbot.description.expressions.expression import Expression
from kronbot.description.schema import DH, Placement
from kronbot.model.parameters import Parameters
from kronbot.model.pose import Pose, rotation_x, rotation_y, rotation_z
from kronbot.records import dataclass


@dataclass(frozen=True)
class Row:
    """The rigid part of a link's frames.

    ``before`` leads from the parent's tip frame to the joint's frame, the joint turns and slides about z by
    theta + q and d + q, ``after`` leads from the root frame to the frame at the end of the row; where a beam stands, it
    takes the place of ``along`` (the translation a of a standard row) in it.
    """

    before: Pose
    theta: Expression
    d: SX
    along: SX
    after: SX
    """Rotation (3 x 3) that follows the translation ``along``: Rx(alpha) of a standard row."""


def standard_row(dh: DH, parameters: Parameters) -> Row:
    """Rz(theta) Tz(d) Tx(a) Rx(alpha)."""
    return Row(
        before=Pose.identity(),
        theta=dh.theta,
        d=parameters.number(dh.d),
        along=parameters.number(dh.a),
        after=rotation_x(*parameters.cosine_and_sine(dh.alpha)),
    )


def modified_row(dh: DH, parameters: Parameters) -> Row:
    """Rx(alpha) Tx(a) Rz(theta) Tz(d)."""
    before = Pose(
        casadi.vertcat(parameters.number(dh.a), 0, 0), rotation_x(*parameters.cosine_and_sine(dh.alpha))
    )  # Tx(a) commutes with Rx(alpha)
    return Row(before, dh.theta, parameters.number(dh.d), along=SX(0), after=SX.eye(3))


def placed_row(pose: Placement, parameters: Parameters) -> Row:
    """xyz, then Rz(yaw) Ry(pitch) Rx(roll), then the joint about or along z."""
    roll, pitch, yaw = (parameters.cosine_and_sine(angle) for angle in pose.rpy)
    rotation = rotation_z(*yaw) @ rotation_y(*pitch) @ rotation_x(*roll)
    return Row(Pose(parameters.vector(pose.xyz), rotation), ZERO, SX(0), along=SX(0), after=SX.eye(3))


CONVENTIONS = {"standard": standard_row, "modified": modified_row}
