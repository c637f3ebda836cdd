"""Rotation matrices as tuples of decimals, for the translation of files, which runs without NumPy.

They have twice the digits of a float: what is turned and turned back reads as it was written, 0.1 and not
0.09999999999999999, and what is left of a zero is the rounding of the numbers in the file.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from functools import wraps
from typing import Final, ParamSpec, TypeVar

Vector = tuple[Decimal, ...]
Matrix = tuple[Vector, ...]
Number = float | Decimal
Given = ParamSpec("Given")
Found = TypeVar("Found")

_ZERO, _ONE = Decimal(0), Decimal(1)
IDENTITY: Final[Matrix] = ((_ONE, _ZERO, _ZERO), (_ZERO, _ONE, _ZERO), (_ZERO, _ZERO, _ONE))
_CONTEXT = Context(prec=40, Emax=MAX_EMAX, Emin=MIN_EMIN)
_HALF_PI = Decimal("1.5707963267948966192313216916397514420985846996876")
# A share of the numbers that something is made of: the rounding of what a file holds.
_NOISE = Decimal("1e-15")
# A moment of a thin rod that is zero may come out negative, by as many digits as a file may lack.
_NEGATIVE = 1e-12

_QUARTER = math.pi / 2
# Decimals of pi/2 as files have them; a rotation by pi/2 is then one of zeros and ones.
_SNAP = 1e-12
# The last digit of an angle that is a multiple of pi/2 to its digits is finer; what is as near as this could be meant.
_COARSEST, _NEAR = 2e-6, 2e-3
# Digits of an angle that nobody has written, and decimals of one that somebody has.
_LONG, _SHORT = 14, 4
# Angles as large as 1e16 would all be multiples.
_LARGEST = 1000.0
# Products of rotations are right to this: a cosine of the pitch below it tells nothing of roll and yaw.
_ROUNDING = Decimal("1e-14")
# Beyond it the smallest turn loses digits, since that to -z itself has no axis.
_BACKWARD = Decimal("-0.9")


def _precise(function: Callable[Given, Found]) -> Callable[Given, Found]:
    """Whatever decimals a caller is used to."""

    @wraps(function)
    def precise(*given: Given.args, **named: Given.kwargs) -> Found:
        with localcontext(_CONTEXT):
            return function(*given, **named)

    return precise


def quarter_turns(angle: float) -> int | None:
    """How many times pi/2 the angle is, to 1e-12 rad, or None where it is no multiple."""
    turns = round(angle / _QUARTER) if abs(angle) < _LARGEST else 0
    return turns if abs(angle - turns * _QUARTER) <= _SNAP else None


@_precise
def beside_quarter_turns(angle: float) -> tuple[int, float] | None:
    """A multiple of pi/2, up to a whole turn, and a short decimal that are an angle of many digits, to the last bit.

    By chance one angle in 1e10 is such a sum at most.
    """
    if len(Decimal(repr(angle)).as_tuple().digits) < _LONG:
        return None
    parts = ((turns, round(Decimal(angle) - turns * _HALF_PI, _SHORT)) for turns in (-1, 1, -2, 2, -3, 3, -4, 4))
    return next(((turns, float(rest)) for turns, rest in parts if float(turns * _HALF_PI + rest) == angle), None)


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


def exact(values: Iterable[Number]) -> Vector:
    """Numbers as they are written."""
    return tuple(value if isinstance(value, Decimal) else Decimal(repr(value)) for value in values)


@_precise
def rounded(values: Iterable[Decimal], size: float, by: Matrix) -> tuple[float, ...]:
    """What numbers of some size have become by a rotation, as floats: 0 in the place of their rounding.

    One by quarter turns rounds nothing, and leaves every number as it is.
    """
    turned = any(abs(entry) not in (0, 1) for row in by for entry in row)
    least = _NOISE * Decimal(size) if turned else _ZERO
    return tuple(0.0 if abs(value) <= least else float(value) for value in values)


@_precise
def product(A: Matrix, B: Matrix) -> Matrix:
    """A B."""
    columns = tuple(zip(*B, strict=True))
    return tuple(tuple(_dot(row, column) for column in columns) for row in A)


@_precise
def applied(A: Matrix, v: Iterable[Number]) -> Vector:
    """A v."""
    known = exact(v)
    return tuple(_dot(row, known) for row in A)


def placed(A: Matrix, at: tuple[float, ...]) -> tuple[float, ...]:
    """A place (m) in axes that are turned by A^T."""
    return rounded(applied(A, at), math.hypot(*at), A)


def turned_tensor(tensor: tuple[float, ...], B: Matrix) -> tuple[float, ...]:
    """B I B^T, as Ixx, Iyy, Izz, Ixy, Ixz, Iyz (kg m^2). Raises ValueError for a negative moment of inertia."""
    if B == IDENTITY:
        return tensor
    xx, yy, zz, xy, xz, yz = exact(tensor)
    turned = product(B, product(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)), transposed(B)))
    size = max(map(abs, tensor))
    upper = (turned[i][k] for i, k in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))
    x, y, z, *products = rounded(upper, size, B)
    if min(x, y, z) < -_NEGATIVE * size:
        raise ValueError("has an inertia that no body can have: it is negative about some axis")
    return (*(max(moment, 0.0) for moment in (x, y, z)), *products)


def transposed(A: Matrix) -> Matrix:
    """The inverse of a rotation."""
    return tuple(zip(*A, strict=True))


@_precise
def from_rpy(rpy: Iterable[Number]) -> Matrix:
    """Rz(yaw) Ry(pitch) Rx(roll), rad."""
    (cr, sr), (cp, sp), (cy, sy) = map(_cosine_and_sine, exact(rpy))
    x = ((_ONE, _ZERO, _ZERO), (_ZERO, cr, -sr), (_ZERO, sr, cr))
    y = ((cp, _ZERO, sp), (_ZERO, _ONE, _ZERO), (-sp, _ZERO, cp))
    z = ((cy, -sy, _ZERO), (sy, cy, _ZERO), (_ZERO, _ZERO, _ONE))
    return product(z, product(y, x))


@_precise
def to_rpy(R: Matrix) -> Vector:
    """Roll, pitch, yaw (rad) with R = Rz(yaw) Ry(pitch) Rx(roll) to rounding, the pitch within pi/2 of 0.

    Roll and pitch are taken from Rz(-yaw) R, so that also next to a pitch of pi/2, where the yaw is hardly determined,
    the three together give R; at it the yaw is 0.
    """
    yaw = _angle(R[1][0], R[0][0]) if (R[0][0] ** 2 + R[1][0] ** 2).sqrt() > _ROUNDING else _ZERO
    c, s = _cosine_and_sine(yaw)
    pitch = _angle(-R[2][0], c * R[0][0] + s * R[1][0])
    roll = _angle(s * R[0][2] - c * R[1][2], c * R[1][1] - s * R[0][1])
    return roll, pitch, yaw


@_precise
def turn_to(axis: Iterable[Number]) -> Matrix:
    """A rotation that takes z to the direction of ``axis`` (not zero): the smallest, but Rx(pi) before it near -z.

    Identity for z, one quarter turn about x or y for the axes x, -x, y, -y, the half turn about x for -z; it varies
    smoothly next to these.
    """
    known = exact(axis)
    length = _dot(known, known).sqrt()
    x, y, z = (component / length for component in known)
    if z < _BACKWARD:
        half_turn = ((_ONE, _ZERO, _ZERO), (_ZERO, -_ONE, _ZERO), (_ZERO, _ZERO, -_ONE))
        return product(half_turn, turn_to((x, -y, -z)))
    k = 1 / (1 + z)
    return ((1 - k * x * x, -k * x * y, x), (-k * x * y, 1 - k * y * y, y), (-x, -y, z))


def _cosine_and_sine(angle: Decimal) -> tuple[Decimal, Decimal]:
    turns, left = quarter_turns(float(angle)), _ZERO
    if turns is None:
        if abs(angle) >= _LARGEST:
            return Decimal(math.cos(angle)), Decimal(math.sin(angle))
        turns = int((angle / _HALF_PI).to_integral_value())
        left = angle - turns * _HALF_PI
    c, s = _series(left)
    return ((c, s), (-s, c), (-c, -s), (s, -c))[turns % 4]


def _series(angle: Decimal) -> tuple[Decimal, Decimal]:
    """Cosine and sine of a small angle."""
    sums, term, k = [_ONE, angle], angle, 1
    while term and (term.adjusted() > -_CONTEXT.prec - 5 or k < 3):
        k += 1
        term *= angle / k
        sums[k % 2] += -term if k % 4 > 1 else term
    return sums[0], sums[1]


def _angle(y: Decimal, x: Decimal) -> Decimal:
    """That of a point (x, y): the float that is nearest, and what it lacks."""
    near = Decimal(math.atan2(y, x))
    turns = int((near / _HALF_PI).to_integral_value())
    c, s = _series(near - turns * _HALF_PI)
    c, s = ((c, s), (-s, c), (-c, -s), (s, -c))[turns % 4]
    return near + (y * c - x * s) / (x * c + y * s)


def _dot(a: Vector, b: Vector) -> Decimal:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
