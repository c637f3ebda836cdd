"""Floating point numbers: arrays of them, as most of this package takes and gives them, and what is said of one."""

from __future__ import annotations

import cmath
import math
from decimal import ROUND_UP, Context, Decimal
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Numbers = TypeVar("Numbers", bound=npt.NDArray[Any])
# Digits that every decimal keeps on its way through a float.
WRITTEN = 15


def is_finite(values: npt.NDArray[Any]) -> bool:
    """Whether all numbers are finite, real or complex; a sum of squares that is shows it at once."""
    return cmath.isfinite(np.vdot(values, values)) or bool(np.isfinite(values).all())


def read_only(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A view that cannot be made writeable, since what owns the memory is read-only."""
    owner = values
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    if owner.flags.writeable:
        owner.setflags(write=False)
    if owner is not values:
        values.setflags(write=False)
    return values.view()


def ascending(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The different ones among values (N,), in order. Here, since NumPy's own way imports masked arrays at first."""
    values = np.sort(values)
    return np.asarray(values[np.append(values[:1] == values[:1], values[1:] != values[:-1])])


def all_finite(values: Numbers) -> Numbers:
    """A matrix again. Raises LinAlgError where it is not finite: singular values of such, and what needs them, LAPACK
    seeks for ever, or writes of them into the answer on standard output."""
    if not is_finite(values):
        raise np.linalg.LinAlgError("numbers of a matrix are not finite")
    return values


def raised(values: npt.ArrayLike, power: float) -> Array:
    """A power of the size of each value, with its sign: of powers below 1 those far apart come near to each other."""
    return np.asarray(np.copysign(np.abs(values) ** power, values))


def decimals(*values: float) -> tuple[list[int], int]:
    """Numbers as people write them, in decimals, over one denominator: whole numbers, and it.

    What is added and multiplied of these and divided at the end is rounded once, so that it reads as it would be
    written: 0.1 + 0.2 is 0.3. Numbers of more digits than anybody writes are those of expressions, and as they are: a
    third of pi/2 is pi/6.
    """
    written = [Decimal(repr(float(value))) for value in values]
    exact = [Fraction(each if len(each.as_tuple().digits) <= WRITTEN else float(each)) for each in written]
    whole = math.lcm(*(each.denominator for each in exact))
    return [each.numerator * (whole // each.denominator) for each in exact], whole


def rounded(value: float, digits: int = 2) -> str:
    """A value to so many digits, in full where people write it so: 120, where the format alone says 1.2e+02."""
    return f"{float(f'{value:.{digits}g}'):g}"


def known(value: float, error: float) -> float:
    """What is known of a value: that of the fewest digits, six or more, within its error."""
    shorter = (float(f"{value:.{digits}g}") for digits in range(6, 17))
    return next((each for each in shorter if abs(each - value) <= error), float(value))


def percent(share: float) -> str:
    """A share in %, to two digits, and as many more as tell it from the whole: 99.6 is none of 100."""
    value = 100 * share
    left = 100 - abs(value)
    return f"{value:.{max(0, -math.floor(math.log10(left)))}f}" if 0 < left < 10 else rounded(value)


def within(value: float, error: float) -> str:
    """A value to two digits with an error that holds it as it is: rounded up, with what the digits leave out."""
    said = f"{value:.2g}"
    exact = [Decimal(repr(float(each))) for each in (value, error)]
    wide = Context(prec=60)  # whatever decimals a caller is used to
    left = wide.add(wide.abs(wide.subtract(Decimal(said), exact[0])), exact[1])
    left = Context(prec=2, rounding=ROUND_UP).plus(left)
    return f"{said} +- {float(left):.2g}"


def cleared(values: Array, errors: Array, least: Array | float) -> Array:
    """The values, 0 in the place of those that are neither more than their errors nor more than ``least``."""
    return np.asarray(np.where(np.abs(values) <= np.minimum(errors, least), 0.0, values))
