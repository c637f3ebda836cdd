"""Who follows motions of a flow: explicit steps, and L-stable ones where these do not hold."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import field

from kronbot.errors import ComputationError
from kronbot.floats import Array
from kronbot.mechanics.motion.integration import Tolerances
from kronbot.mechanics.motion.sensitivity import Flow, Follower, Grid, Stretches
from kronbot.records import dataclass


@dataclass
class Followers:
    """Those of a flow, each made once."""

    flow: Flow
    tolerances: Tolerances
    _made: dict[tuple[bool, bool], Follower] = field(default_factory=dict)

    def begun(self, derivatives: bool, stiff: bool, numbers: Array, slopes: Array) -> Follower:
        """The one that takes such steps, with numbers and the entries of their slopes (see :meth:`Follower.begin`)."""
        key = derivatives, stiff
        if key not in self._made:
            self._made[key] = Follower(self.flow, self.tolerances, *key)
        self._made[key].begin(numbers, slopes)
        return self._made[key]

    def grids(self, stretches: Stretches, x: Array, most: int, numbers: Array, slopes: Array) -> Iterator[Grid]:
        """New steps from x (nx,) on, at most so many, by one method after the other where they can be taken."""
        for stiff in (False, True):
            with suppress(ComputationError):
                yield self.begun(False, stiff, numbers, slopes).grid(stretches, x, most)
