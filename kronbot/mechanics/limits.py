"""Joints beyond the limits that their file gives them: computed all the same, and worth a word."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kronbot.model.robot import Robot

Array = npt.NDArray[np.float64]

# Share of the range: what ends at a limit comes out beyond it by rounding, and splines overshoot a little more.
OVERSHOOT = 1e-6


@dataclass(frozen=True)
class Passing:
    """A joint that is beyond its limit (rad or m): by how much at most, and the first row in which it is."""

    joint: str
    limit: float
    excess: float
    first: int
    unit: str

    def __str__(self) -> str:
        return f"{self.joint} is beyond its limit of {self.limit:.6g} {self.unit}"

    @property
    def amount(self) -> str:
        """How far it is beyond, with the unit."""
        return f"{self.excess:.3g} {self.unit}"


def nothing(limit: float) -> float:
    """No error."""
    return 0.0


def passings(robot: Robot, q: Array, error: Callable[[float], float] = nothing) -> list[Passing]:
    """The joints beyond a limit in some row of q (N, n), each once, with the limit that it passes most.

    ``error`` is that of a value near a limit: what it leaves open is not told.
    """
    found = []
    for place, ends in robot.limits.items():
        size, width = max(map(abs, ends)), ends[1] - ends[0]
        sides = [(end, sign * (q[:, place] - end)) for sign, end in zip((-1, 1), ends, strict=True)]
        limit, excess = max(sides, key=lambda side: float(side[1].max()))
        beyond = excess > OVERSHOOT * width + error(size)
        if beyond.any():
            first = int(np.argmax(beyond))
            found.append(Passing(robot.coordinates[place], limit, float(excess.max()), first, robot.units[place]))
    return found


def told_at(robot: Robot, q: Array) -> list[str]:
    """The joints that are beyond a limit at q (n,), in words."""
    return [f"{each} by {each.amount}" for each in passings(robot, q[None, :])]


def told_of_rows(robot: Robot, q: Array) -> list[str]:
    """The joints beyond a limit in some of the rows (N, n), in words that are the same for all blocks of rows."""
    return [f"{each} in some of the rows" for each in passings(robot, q)]
