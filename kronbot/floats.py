"""Floating point numbers: arrays of them, as most of this package takes and gives them, and what is said of one."""

from __future__ import annotations

from decimal import ROUND_UP, Context, Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def ascending(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The different ones among values (N,), in order. Here, since NumPy's own way imports masked arrays at first."""
    values = np.sort(values)
    return np.asarray(values[np.append(values[:1] == values[:1], values[1:] != values[:-1])])


def within(value: float, error: float) -> str:
    """A value to two digits with an error that holds it as it is: rounded up, with what the digits leave out."""
    said = f"{value:.2g}"
    exact = [Decimal(repr(float(each))) for each in (value, error)]
    left = Context(prec=2, rounding=ROUND_UP).plus(abs(Decimal(said) - exact[0]) + exact[1])
    return f"{said} +- {float(left):.2g}"
