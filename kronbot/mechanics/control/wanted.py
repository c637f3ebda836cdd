"""What is wanted of a motion from rest to rest, and of which arms."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kronbot.floats import Array
from kronbot.mechanics.control.repeated import Repeated
from kronbot.mechanics.control.residual import Residual
from kronbot.records import dataclass


@dataclass(frozen=True)
class Arm:
    """One that moves from rest at ``start`` to rest at ``goal`` (n,), with the ``forces`` [q, qd, qdd] -> n.

    ``seen`` [q, qd, qdd] -> m is what limits hold, ``residual`` what is left at the end, where that is least.
    """

    forces: Repeated
    seen: Repeated
    start: Array
    goal: Array
    residual: Residual | None = None

    @property
    def jumping(self) -> Sequence[int]:
        """Columns seen that depend on accelerations, by number."""
        rows, places = self.seen.jacobian.sparsity_out(0).get_triplet()
        return sorted({row for row, place in zip(rows, places, strict=True) if place >= 2 * len(self.start)})


@dataclass(frozen=True)
class Wanted:
    """Torques or forces (k,) at the coordinates ``driven`` between ``low`` and ``high``; ``scale`` (k,) is their size,
    ``ways`` (n,) are what coordinates go, in the order of size, ``weights`` (n,) those of the forces in all equations.

    What is seen of an arm is between ``low_seen`` and ``high_seen`` (m,), of the size ``sizes``. ``least`` is the
    "time", of which ``duration`` (s), kept otherwise, is a first guess; the "effort", the integral of the squares of
    the torques, each by its scale; the "change", that of the rates of what moves them; the "residual" energy of all
    arms, whose coordinates that are not driven end anywhere; what torques are away from those before ("nearest"); or
    the sum of what limits, of torques and of what is seen, are passed by, each by its size ("excess").
    ``follows``: motors follow a motion. The coordinates ``driven`` pass ``through`` places (k,), NaN for any, at shares
    of the time, or in this order ``whenever`` it is best, the shares being a first guess.
    """

    driven: tuple[int, ...]
    low: Array
    high: Array
    scale: Array
    ways: Array
    weights: Array
    low_seen: Array
    high_seen: Array
    sizes: Array
    duration: float
    least: str
    follows: bool
    through: Sequence[tuple[float, Array]] = ()
    whenever: bool = False

    @property
    def cures(self) -> str:
        """What may help a search that is lost, of what there is to change."""
        limited = any(np.isfinite(each).any() for each in (self.low, self.high, self.low_seen, self.high_seen))
        cures = ["more time"] if limited and self.least != "time" else []
        cures += ["wider limits"] if limited else []
        cures += [] if self.follows else ["motors that follow a motion (drive motion)"]
        return ", ".join([*cures, "or a goal that is nearer" if cures else "a goal that is nearer"])
