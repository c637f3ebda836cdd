"""What a search for a motion has found, and how motors follow it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace

import numpy as np
from scipy.interpolate import CubicHermiteSpline

from kronbot.floats import Array, all_finite
from kronbot.records import dataclass


@dataclass(frozen=True)
class Plan:
    """States q, qd (N + 1, n) of the first arm at the ends of N intervals, ``inputs``, duration (s).

    Inputs are torques (N, k) on the intervals, or jerks (N + 1, k) at their ends, beside ``accelerations``. ``ends``
    are q and qd of every arm at the end. ``missed`` is how far conditions are missed, of a size of one: nearly nothing,
    unless the search was stopped. Places on the way are passed at ``instants`` (s). Limits, of torques and of columns,
    are passed by ``excess``, shares of their sizes, where that was asked for. It is not the best one where its search
    has not ``ended``.
    """

    q: Array
    qd: Array
    inputs: Array
    accelerations: Array
    ends: Sequence[tuple[Array, Array]]
    duration: float
    iterations: int
    missed: float
    instants: Sequence[float] = ()
    excess: Array = field(default_factory=lambda: np.zeros(0))
    ended: bool = True

    @property
    def intervals(self) -> int:
        """Their number."""
        return len(self.q) - 1

    def evenly(self, ends: Array) -> Plan:
        """The same, whose intervals end at shares of the time (N + 1), on as many of one length, nearly."""
        even = np.linspace(0, 1, len(ends))

        def at(rows: Array) -> Array:
            return np.column_stack([np.interp(even, ends, column) for column in rows.T])

        q = CubicHermiteSpline(ends, self.q, self.qd * self.duration)(even)
        inputs, steps = self.inputs, np.diff(ends)[:, None]
        steady = len(inputs) == self.intervals
        moved = np.diff(at(summed(0 * inputs[0], inputs * steps)), axis=0) * self.intervals if steady else at(inputs)
        return replace(self, q=q, qd=at(self.qd), inputs=moved, accelerations=at(self.accelerations))

    def followed(self, driven: Sequence[int], pieces: int) -> tuple[Array, Array]:
        """Times (s) and places of the joints that follow it, so many on each interval, at rest at the end to rounding.

        Integrated from its jerks, of which the least change undoes what the search has left of the end.
        """
        N, h = self.intervals, self.duration / self.intervals
        ahead = self.duration - h * np.arange(1, N)
        left = h * np.array([np.ones(N - 1), ahead, ahead**2 / 2 + h**2 / 12])
        way = np.zeros((3, len(driven)))
        way[2] = self.q[-1, driven] - self.q[0, driven]
        j = np.zeros((N + 1, len(driven)))
        way = way - left @ self.inputs[1:-1]
        j[1:-1] = self.inputs[1:-1] + np.linalg.lstsq(all_finite(left), all_finite(way), rcond=None)[0]
        a = summed(0 * way[0], h * (j[:-1] + j[1:]) / 2)
        v = summed(0 * way[0], h * a[:-1] + h**2 * (j[:-1] / 3 + j[1:] / 6))
        q = summed(self.q[0, driven], h * v[:-1] + h**2 * a[:-1] / 2 + h**3 * (j[:-1] / 8 + j[1:] / 24))
        parts = np.arange(pieces) / pieces * h
        snap, s = np.diff(j, axis=0)[:, None] / h, parts[None, :, None]
        rows = q[:-1, None] + s * (v[:-1, None] + s / 2 * (a[:-1, None] + s / 3 * (j[:-1, None] + s / 4 * snap)))
        times = (np.arange(N)[:, None] * h + parts).ravel()
        return np.append(times, self.duration), np.vstack([rows.reshape(-1, len(driven)), self.q[-1, driven]])


def summed(first: Array, changes: Array) -> Array:
    """The first row, and what it becomes by one change after the other."""
    return np.vstack([first, first + np.cumsum(changes, axis=0)])
