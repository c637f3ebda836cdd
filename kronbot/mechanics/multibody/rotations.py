"""Numeric rotation matrices as rotation vectors (rad), unit quaternions, and angles of roll, pitch and yaw."""

from __future__ import annotations

import numpy as np

from kronbot.errors import ComputationError
from kronbot.floats import Array

# Below this a rotation has no axis of its own: it is whole turns about the axis before it.
AXIS = 1e-7
TURNS = np.arange(-8, 9)
# Cosine of a pitch below which roll and yaw turn about one axis: what tells them apart is rounding; and how near to -pi
# an angle is pi.
LOCK = 1e-12


def along(R: Array) -> Array:
    """Rotation vectors (..., K, 3) of matrices (..., K, 3, 3) that follow each other continuously from the identity.

    They may grow beyond pi: a beam that is bent into a full circle has turned by 2 pi at its tip, not by 0. Between
    neighbours the change must be under pi.
    """
    principals = rotation_vectors(R)
    if (_size(np.diff(principals, axis=-2)) < np.pi).all() and (_size(principals[..., 0, :]) < np.pi).all():
        return principals
    vectors = np.empty_like(principals)
    before = np.zeros_like(principals[..., 0, :])
    for k in range(principals.shape[-2]):
        principal = principals[..., k, :]
        size, length = _size(principal)[..., None], _size(before)[..., None]
        turned = size > AXIS
        axis = np.where(turned, principal / np.where(turned, size, 1.0), before / np.where(length > 0, length, 1.0))
        branches = principal[..., None, :] + 2 * np.pi * TURNS[:, None] * axis[..., None, :]
        nearest = _size(branches - before[..., None, :]).argmin(axis=-1)
        before = vectors[..., k, :] = np.take_along_axis(branches, nearest[..., None, None], axis=-2)[..., 0, :]
    return vectors


def rotation_vectors(R: Array) -> Array:
    """Rotation vectors (..., 3) of at most pi of matrices (..., 3, 3)."""
    row = quaternions(R)
    sine = _size(row[..., :3])[..., None]
    angle = 2 * np.arctan2(sine, row[..., 3:])
    return np.asarray(angle / np.where(sine > 0, sine, 1.0) * row[..., :3])


def quaternions(R: Array) -> Array:
    """Unit quaternions (..., 4) as x, y, z, w with w >= 0, by the largest component (Shepperd 1978).

    Here, since SciPy's rotations take half a second to import.
    """
    if not np.isfinite(R).all():
        raise ComputationError("deflections are so large that numbers overflow")
    diagonal, trace = np.diagonal(R, axis1=-2, axis2=-1), np.trace(R, axis1=-2, axis2=-1)[..., None]
    skew = np.stack([R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]], axis=-1)
    quarters = np.empty((*R.shape[:-2], 4, 4))  # row i: 4 q_i times the quaternion
    quarters[..., :3, :3] = R + R.swapaxes(-2, -1)
    quarters[..., range(3), range(3)] = 1 - trace + 2 * diagonal
    quarters[..., :3, 3] = quarters[..., 3, :3] = skew
    quarters[..., 3, 3] = 1 + trace[..., 0]
    largest = np.diagonal(quarters, axis1=-2, axis2=-1).argmax(axis=-1)
    row = np.take_along_axis(quarters, largest[..., None, None], axis=-2)[..., 0, :]
    row = np.where(row[..., 3:] < 0, -row, row)
    return np.asarray(row / _size(row)[..., None])


def roll_pitch_yaw(R: Array) -> Array:
    """Angles (..., 3) with R = Rz(yaw) Ry(pitch) Rx(roll), pitch from -pi/2 to pi/2; roll is 0 where it has no axis.

    Roll and yaw are in (-pi, pi]: half a turn is pi, whichever sign rounding gives it.
    The yaw is that which belongs to the roll, so that the three make R again to rounding also near a pitch of pi/2.
    """
    upright = np.hypot(R[..., 2, 1], R[..., 2, 2])
    roll = np.where(upright < LOCK, 0.0, _turned(R[..., 2, 1], R[..., 2, 2]))
    c, s = np.cos(roll), np.sin(roll)
    yaw = _turned(s * R[..., 0, 2] - c * R[..., 0, 1], c * R[..., 1, 1] - s * R[..., 1, 2])
    return np.stack([roll, np.arctan2(-R[..., 2, 0], upright), yaw], axis=-1)


def _turned(sine: Array, cosine: Array) -> Array:
    """The angle of a sine and a cosine, in (-pi, pi] to rounding."""
    angle = np.arctan2(sine, cosine)
    return np.asarray(np.where(angle < LOCK - np.pi, angle + 2 * np.pi, angle))


def of_roll_pitch_yaw(angles: Array) -> Array:
    """Rz(yaw) Ry(pitch) Rx(roll) (..., 3, 3) of angles (..., 3)."""
    (cx, cy, cz), (sx, sy, sz) = (np.moveaxis(part, -1, 0) for part in (np.cos(angles), np.sin(angles)))
    rows = [
        [cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx],
        [sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx],
        [-sy, cy * sx, cy * cx],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def of_quaternion(x: float, y: float, z: float, w: float) -> Array:
    """The rotation matrix (3 x 3) of a unit quaternion."""
    v = np.array([x, y, z])
    skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.asarray(np.eye(3) * (w * w - v @ v) + 2 * np.outer(v, v) + 2 * w * skew)


def _size(vectors: Array) -> Array:
    """Lengths (...) of vectors (..., 3)."""
    return np.asarray(np.sqrt((vectors * vectors).sum(axis=-1)))
