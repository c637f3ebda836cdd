"""Divided differences of rows: slopes of what goes through them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise


def quotients(x: Sequence[float], values: Sequence[float], degree: int) -> list[float]:
    """Derivatives of the polynomials through each ``degree`` + 1 neighbours."""
    result = list(values)
    for n in range(1, degree + 1):
        result = [n * (b - a) / (x[i + n] - x[i]) for i, (a, b) in enumerate(pairwise(result))]
    return result


def first_slope(times: Sequence[float], values: Sequence[float]) -> float:
    """The slope at the first of four rows, of the cubic through them."""
    h, k, first = times[1] - times[0], times[2] - times[0], quotients(times[:2], values[:2], 1)[0]
    second, third = quotients(times[:3], values[:3], 2)[0] / 2, quotients(times, values, 3)[0] / 6
    return first - h * (second - k * third)
