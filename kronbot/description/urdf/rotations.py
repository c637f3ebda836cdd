"""Rotation matrices as tuples of floats, for the translation of files, which runs without NumPy."""

from __future__ import annotations

import math
import struct
from decimal import Decimal
from typing import Final

Vector = tuple[float, ...]
Matrix = tuple[Vector, ...]

IDENTITY: Final[Matrix] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))

_QUARTER = math.pi / 2
# Decimals of pi/2 as files have them; a rotation by pi/2 is then one of zeros and ones.
_SNAP = 1e-12
# The last digit of an angle that is a multiple of pi/2 to its digits is finer; what is as near as this could be meant.
_COARSEST, _NEAR = 2e-6, 2e-3
# Angles as large as 1e16 would all be multiples.
_LARGEST = 1000.0
# Products of rotations are right to this: a cosine of the pitch below it tells nothing of roll and yaw.
_ROUNDING = 1e-14
# Beyond it the smallest turn loses digits, since that to -z itself has no axis.
_BACKWARD = -0.9


def quarter_turns(angle: float) -> int | None:
    """How many times pi/2 the angle is, to 1e-12 rad, or None where it is no multiple."""
    turns = round(angle / _QUARTER) if abs(angle) < _LARGEST else 0
    return turns if abs(angle - turns * _QUARTER) <= _SNAP else None


def as_meant(angle: float) -> float:
    """The multiple of pi/2 (not 0) that an angle is to the digits it has, six of them behind the point at least.

    It may be rounded, cut off, or a number of single precision. Shorter ones, like 1.5708, stay as they are: they move
    a tip by what a comparison with another program shows.
    """
    turns = round(angle / _QUARTER) if abs(angle) < _LARGEST else 0
    exact, last = turns * _QUARTER, 10.0 ** int(Decimal(repr(angle)).as_tuple().exponent)
    single = struct.unpack("f", struct.pack("f", exact))[0]
    rounded = min(abs(angle - exact), abs(angle - single)) <= 0.5000001 * last
    cut = 0 <= abs(exact) - abs(angle) < last
    return exact if turns and last < _COARSEST and (rounded or cut) else angle


def nearly(angle: float) -> bool:
    """Whether an angle could have been meant as a multiple of pi/2 (not 0) and is none."""
    turns = round(angle / _QUARTER) if abs(angle) < _LARGEST else 0
    return bool(turns) and _SNAP < abs(angle - turns * _QUARTER) < _NEAR


def product(A: Matrix, B: Matrix) -> Matrix:
    """A B."""
    columns = tuple(zip(*B, strict=True))
    return tuple(tuple(_dot(row, column) for column in columns) for row in A)


def applied(A: Matrix, v: Vector) -> Vector:
    """A v."""
    return tuple(_dot(row, v) for row in A)


def transposed(A: Matrix) -> Matrix:
    """The inverse of a rotation."""
    return tuple(zip(*A, strict=True))


def from_rpy(rpy: Vector) -> Matrix:
    """Rz(yaw) Ry(pitch) Rx(roll), rad."""
    (cr, sr), (cp, sp), (cy, sy) = map(_cosine_and_sine, rpy)
    x = ((1.0, 0.0, 0.0), (0.0, cr, -sr), (0.0, sr, cr))
    y = ((cp, 0.0, sp), (0.0, 1.0, 0.0), (-sp, 0.0, cp))
    z = ((cy, -sy, 0.0), (sy, cy, 0.0), (0.0, 0.0, 1.0))
    return product(z, product(y, x))


def to_rpy(R: Matrix) -> Vector:
    """Roll, pitch, yaw (rad) with R = Rz(yaw) Ry(pitch) Rx(roll) to rounding, the pitch within pi/2 of 0.

    Roll and pitch are taken from Rz(-yaw) R, so that also next to a pitch of pi/2, where the yaw is hardly determined,
    the three together give R; at it the yaw is 0.
    """
    yaw = math.atan2(R[1][0], R[0][0]) if math.hypot(R[0][0], R[1][0]) > _ROUNDING else 0.0
    c, s = _cosine_and_sine(yaw)
    pitch = math.atan2(-R[2][0], c * R[0][0] + s * R[1][0])
    roll = math.atan2(s * R[0][2] - c * R[1][2], c * R[1][1] - s * R[0][1])
    return roll, pitch, yaw


def turn_to(axis: Vector) -> Matrix:
    """A rotation that takes z to the direction of ``axis`` (not zero): the smallest, but Rx(pi) before it near -z.

    Identity for z, one quarter turn about x or y for the axes x, -x, y, -y, the half turn about x for -z; it varies
    smoothly next to these.
    """
    length = math.hypot(*axis)
    x, y, z = (component / length for component in axis)
    if z < _BACKWARD:
        half_turn = ((1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, -1.0))
        return product(half_turn, turn_to((x, -y, -z)))
    k = 1 / (1 + z)
    return ((1 - k * x * x, -k * x * y, x), (-k * x * y, 1 - k * y * y, y), (-x, -y, z))


def _cosine_and_sine(angle: float) -> tuple[float, float]:
    turns = quarter_turns(angle)
    if turns is None:
        return math.cos(angle), math.sin(angle)
    return ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[turns % 4]


def _dot(a: Vector, b: Vector) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
