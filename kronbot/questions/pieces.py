"""A motion that was simulated, in pieces in which its linear model is smooth.

They end at corners of motions, where stops and tendons begin and cease to hold, and where joints with dry friction
turn back, at which its slope is a peak that steps of any order could step over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from kronbot.cached import cached_property
from kronbot.floats import Array
from kronbot.model.robot import Robot
from kronbot.questions.instants import Flags, Instants, Places
from kronbot.records import dataclass

# Pieces, at least, between two such instants; places in an interval at which is looked for them.
FINELY, LOOKS = 4, 4
# A share of a piece beside a border at which coefficients jump: there they are those of its own side.
ASIDE = 1e-4
# Rows of the way to a corner of its motions, at least.
DENSE = 8
# Borders nearer to each other than this share of all are one.
APART = 1e-13


@dataclass(frozen=True)
class Way:
    """Times (rows,) s and q, qd, qdd (rows, n), tau (rows, joints) there; between them cubics with their slopes.

    In intervals with a kink, at instants (K,) s, the way is that of the interval before and then that of the next.
    """

    times: Array
    q: Array
    qd: Array
    qdd: Array
    tau: Array
    kinks: Sequence[float] = ()

    @property
    def states(self) -> Array:
        """[q; qd] (rows, 2n)."""
        return np.hstack([self.q, self.qd])

    def at(self, times: Array) -> Way:
        """The same at other times (N,) of it."""
        i = np.searchsorted(self.times, times, "right") - 1
        for kink in self.kinks:
            near = kink + APART * self.times[-1] * np.array([-1, 1])
            first, last = np.searchsorted(self.times, near, "right") - 1
            i = np.where((first <= i) & (i <= last), np.where(times < kink, first - 1, last + 1), i)
        i = np.clip(i, 0, len(self.times) - 2)
        h = (self.times[i + 1] - self.times[i])[:, None]
        s = (times - self.times[i])[:, None] / h

        def straight(values: Array) -> Array:
            return np.asarray((1 - s) * values[i] + s * values[i + 1])

        def cubic(values: Array, slopes: Array) -> Array:
            rise = values[i + 1] - values[i]
            bent = (1 - s) * (h * slopes[i] - rise) + s * (rise - h * slopes[i + 1])
            return straight(values) + s * (1 - s) * bent

        return Way(times, cubic(self.q, self.qd), cubic(self.qd, self.qdd), straight(self.qdd), straight(self.tau))


@dataclass(frozen=True)
class Pieces:
    """Of the way of a robot from every second row to the next, and between instants at which something begins or ceases
    to hold, which are shorter by so much ``more``.
    """

    robot: Robot
    way: Way
    more: int
    purpose: str

    @cached_property
    def borders(self) -> Array:
        """Where they begin and end (N + 1,) s."""
        rows, last = self.way.times[::2], self.way.times[-1]
        instants = np.unique(np.concatenate([[0.0], self.jumping, self._instants(self.way).reversals, [last]]))
        stretches, count = pairwise(instants), FINELY * self.more
        short = [np.linspace(a, b, count + 1) for a, b in stretches if b - a < count * (rows[1] - rows[0])]
        times = np.sort(np.concatenate([rows, instants, *short]))
        near = np.diff(times, prepend=-np.inf) <= APART * last
        near[np.searchsorted(times, rows)] = False
        return np.asarray(times[~near])

    @property
    def kept(self) -> Places:
        """Which of the borders are the rows."""
        return np.searchsorted(self.borders, self.way.times[::2])

    @property
    def samples(self) -> tuple[Array, Places]:
        """Times (K,) s at which coefficients are wanted, and which of them (N, 3) are beginning, middle, end."""
        a, b = self.borders[:-1], self.borders[1:]
        jumping = np.isin(np.arange(len(self.borders)), self._places(self.jumping))
        aside = ASIDE * (b - a)
        times = np.stack([a + aside * jumping[:-1], (a + b) / 2, b - aside * jumping[1:]], axis=1)
        found, which = np.unique(times, return_inverse=True)
        return found, which.reshape(times.shape)

    def jumps(self, free: list[int], periodic: bool) -> list[tuple[int, Array, Array]]:
        """Borders with s and c s (free,): there the rates of deviations y jump by -M^-1 s^T c s y."""
        times, which, begins = self.contacts
        instants, found = self._instants(self.smooth), []
        for t, contact in zip(times[begins].tolist(), which[begins].tolist(), strict=True):
            place = int(self._places(np.array([t]))[0])
            border = place or (len(self.borders) - 1 if periodic else 0)
            if border and (jump := instants.stiffening(t, contact, free)):
                found.append((border, *jump))
        return found

    @property
    def smooth(self) -> Way:
        """The way with a kink at corners of motions, and where a contact begins: where the way before leads to it."""
        times, _, begins = self.contacts
        return replace(self.way, kinks=[*self._corners, *times[begins].tolist()])

    @property
    def jumping(self) -> Array:
        """Where coefficients jump (K,) s."""
        return np.append(self._corners, self.contacts[0])

    @cached_property
    def _corners(self) -> list[float]:
        """Where accelerations of motions, or their derivatives, jump (s): there rows may be those of the other side.

        None of those that rows hardly part.
        """
        motions, end = self.robot.motions.values(), float(self.way.times[-1])
        found = {t for each in motions for t in each.corners(self.robot.parameters, end, self.purpose) if 0 <= t <= end}
        inner = found - {0.0, end}
        return sorted(found if len(inner) * DENSE < len(self.way.times) else found - inner)

    @cached_property
    def contacts(self) -> tuple[Array, Places, Flags]:
        """Instants (K,) s, which contact it is (K,), and whether it begins there with a depth of zero (K,)."""
        rows, (times, _, begins) = self.way.times, self._instants(replace(self.way, kinks=self._corners)).contacts
        ends = [rows[np.searchsorted(rows, t)] for t in times[begins].tolist()]
        return self._instants(replace(self.way, kinks=[*self._corners, *ends])).contacts

    def _instants(self, way: Way) -> Instants:
        """Those of a way."""

        def states(times: Array) -> tuple[Array, Array]:
            there = way.at(times)
            return there.q, there.qd

        return Instants(self.robot, states, self._looks, self.purpose)

    @property
    def _looks(self) -> Array:
        times = self.way.times
        return np.append((times[:-1, None] + np.diff(times)[:, None] * np.arange(LOOKS) / LOOKS).ravel(), times[-1])

    def _places(self, times: Array) -> Places:
        """The borders that are nearest to times (K,)."""
        after = np.clip(np.searchsorted(self.borders, times), 1, len(self.borders) - 1)
        return after - (times - self.borders[after - 1] < self.borders[after] - times)
