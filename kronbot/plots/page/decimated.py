"""Less of long series: what a screen cannot show is left out, and no peak with it."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from kronbot.floats import Array

# Numbers of a page: of all states together, of all curves together; rows of each that a screen tells apart.
STATES, CURVES = 120_000, 160_000
ROWS, POINTS = 1500, 2000
# Digits of states, of which positions are computed, and of curves.
EXACT, SEEN = 12, 7


def rows(count: int, width: int) -> Array:
    """Which of so many rows of that width are shown: the first and the last, and evenly between."""
    most = max(2, min(count, ROWS, STATES // max(width, 1)))
    return np.unique(np.linspace(0, count - 1, most).round().astype(int))


def curves(over: Array, columns: Mapping[str, Array]) -> tuple[Array, dict[str, Array]]:
    """Columns over ascending values (N,), each in as many points as are seen.

    Where there are more rows, every part of them has the smallest and the largest value of each column, in the order
    in which they come, at the same two places of the part for all columns. NaN stands for no value.
    """
    count, most = len(over), max(4, min(POINTS, CURVES // max(len(columns), 1)))
    if count <= most:
        return over, dict(columns)
    edges = np.linspace(0, count, most // 2 + 1).round().astype(int)
    starts = edges[:-1]
    found = {}
    for name, values in columns.items():
        low, high = np.fmin.reduceat(values, starts), np.fmax.reduceat(values, starts)
        parts = (values[a:b] for a, b in zip(starts, edges[1:], strict=True))
        falling = np.array([np.nan_to_num(part).argmin() > np.nan_to_num(part).argmax() for part in parts])
        found[name] = np.column_stack([np.where(falling, high, low), np.where(falling, low, high)]).ravel()
    places = np.column_stack([over[starts], (over[starts] + over[edges[1:] - 1]) / 2]).ravel()
    places[-1] = over[-1]
    return places, found


def digits(values: Array, count: int) -> list[float | None]:
    """Numbers (N,) with so many digits, None for what is none."""
    return [float(f"{value:.{count}g}") if math.isfinite(value) else None for value in values.tolist()]
