"""How a floating base is turned: R = Rz(rz) Ry(ry) Rx(rx), and the same attitude in another chart, R = C Rz Ry Rx."""

from __future__ import annotations

import numpy as np

from kronbot.errors import UsageError
from kronbot.floats import Array
from kronbot.mechanics.multibody.rotations import of_quaternion, quaternions, roll_pitch_yaw
from kronbot.model.robot import Robot

# Where cos(ry) is less, M, which goes as its square, is singular to rounding.
LOCKED = 1e-8
# Turns (rad) that are not looked at any closer.
FINEST = 1e-6


def demand_no_gimbal_lock(robot: Robot, q: Array) -> None:
    """Raise UsageError where the first and the last angle of a floating base turn about one axis in rows q (..., n)."""
    for place in robot.base[4:5]:
        ry = np.atleast_1d(q[..., place])
        locked = np.abs(np.cos(ry)) < LOCKED
        if locked.any():
            name, value = robot.coordinates[place], float(ry[locked][0])
            raise UsageError(
                f"{name} = {value:.6g} rad is gimbal lock: cos({name}) is 0, base.rx and base.rz turn about one axis "
                "there and no rates of them turn the base about another; turn the fixed frame, or stay off a little"
            )


def angles_near(R: Array, near: Array) -> Array:
    """Those angles (3,) of a rotation (3, 3) that are nearest to some."""
    rx, ry, rz = roll_pitch_yaw(R).tolist()
    both = np.array([[rx, ry, rz], [rx + np.pi, np.pi - ry, rz + np.pi]])
    both += 2 * np.pi * np.round((near - both) / (2 * np.pi))
    return np.asarray(both[np.abs(both - near).sum(axis=1).argmin()])


def angles_behind(before: Array, angles: Array, R: Array) -> Array:
    """The angles (3,) of a rotation (3, 3) to which those of the one before lead on the shortest way.

    The nearer the way comes to gimbal lock, where rx and rz go round at once, the closer it is looked at; through it ry
    goes on.
    """
    way = float(np.linalg.norm(R - before)) / np.sqrt(2)
    off = min(float(np.hypot(*each[2, 1:])) for each in (before, R))
    if way <= max(off / 2, FINEST):
        return angles_near(R, angles)
    first, last = quaternions(np.stack([before, R]))
    middle = first + last if first @ last >= 0 else first - last
    between = of_quaternion(*(middle / np.linalg.norm(middle)).tolist())
    return angles_behind(between, angles_behind(before, angles, between), R)


def angular_velocity(angles: Array, rates: Array) -> Array:
    """omega (N, 3) of angles and their rates (N, 3)."""
    (_, cy, cz), (_, sy, sz) = np.cos(angles).T, np.sin(angles).T
    x, y, z = rates.T
    return np.stack([cz * cy * x - sz * y, sz * cy * x + cz * y, z - sy * x], axis=-1)


def rates(angles: Array, omega: Array) -> Array:
    """Rates (N, 3) of angles (N, 3) at omega (N, 3)."""
    (_, cy, cz), (_, sy, sz) = np.cos(angles).T, np.sin(angles).T
    x = (cz * omega[:, 0] + sz * omega[:, 1]) / cy
    return np.stack([x, cz * omega[:, 1] - sz * omega[:, 0], omega[:, 2] + sy * x], axis=-1)
