"""Whether M, D, K stay what they are along the motion that a linear model is about.

Poles are those of constant coefficients. Where these change, as a rotor with unlike inertias turns on a shaft, poles of
an instant decide nothing about growth, wherever they lie (Hill, Mathieu): multipliers along the motion do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from kronbot.compute.trace import Rows
from kronbot.floats import Array
from kronbot.mechanics.linear.rounding import Entries

# Where a motion is looked at again: when one of its coordinates has gone on so far (rad, m).
FURTHER = np.array([0.7, 1.9])
# How many of the inputs say where a motion is and how it goes on: q, qd and qdd.
MOVING = 3
# The share of an entry that is no change, beside its errors: that of a pole that is no growth.
SAME = 1e-9


def frozen(entries: Entries, kept: Sequence[int]) -> list[bool]:
    """By point of ``entries`` (those of :func:`further`), whether M, D or K of the coordinates ``kept`` change where
    its motion goes on."""
    found = np.zeros(len(entries.points[0]), dtype=bool)
    if not any(part.any() for part in entries.points[1:MOVING]):
        return found.tolist()
    here = entries.of(kept)
    for rows, points in further(entries.points):
        left = ~found[rows]
        if left.any():
            open_ = rows[left]
            there = Entries.at(entries.trace.of_some(open_), [part[left] for part in points]).of(kept)
            found[open_] = _differ([A[open_] for A in here], there)
    return found.tolist()


def further(points: Sequence[Array]) -> Iterator[tuple[Rows, list[Array]]]:
    """Rows of points (each part N, size) that move, and the points where their motions have gone on.

    The parts are q, qd, and where there are more qdd, 0 without it, and others that stay as they are.
    """
    q, qd, *others = points
    qdd = others[0] if others else np.zeros_like(qd)
    for t in _times(qd, qdd).T:
        rows = np.flatnonzero(np.isfinite(t))
        if not rows.size:  # rates of which nothing is left in a quotient, too
            continue
        step, rates, change = t[rows, None], qd[rows], qdd[rows]
        gone = [q[rows] + step * rates + step**2 / 2 * change, rates + step * change]
        yield rows, [*gone, *(part[rows] for part in others)]


def _times(qd: Array, qdd: Array) -> Array:
    """Times (N, k) when a coordinate has gone on by ``FURTHER``, by its rate or its acceleration; infinite ones at the
    end of rows with fewer."""
    with np.errstate(divide="ignore"):
        scales = np.hstack([1 / np.abs(qd), 1 / np.sqrt(np.abs(qdd))])
    scales = np.sort(scales, axis=1)
    scales[:, 1:][scales[:, 1:] == scales[:, :-1]] = np.inf
    scales = np.sort(scales, axis=1)[:, : max(1, int(np.isfinite(scales).sum(axis=1).max(initial=0)))]
    return np.concatenate([share * scales for share in FURTHER], axis=1)


def _differ(here: Sequence[Array], there: Sequence[Array]) -> Array:
    """Whether (N,) some entry is another one; what is no number is."""
    found = np.zeros(len(here[0]), dtype=bool)
    for A, B, dA, dB in zip(here[:3], there[:3], here[3:], there[3:], strict=True):
        same = np.abs(B - A) <= SAME * np.maximum(np.abs(A), np.abs(B)) + dA + dB
        found |= ~same.all(axis=(1, 2))
    return found
