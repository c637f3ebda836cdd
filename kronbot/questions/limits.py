"""Joints beyond the limits that their file gives them: computed all the same, and worth a word."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from casadi import SX

from kronbot.compute.trace import Trace
from kronbot.floats import Array
from kronbot.model.motions import Motion
from kronbot.model.robot import Robot

# Share of the range: what ends at a limit comes out beyond it by rounding, and splines overshoot a little more.
OVERSHOOT = 1e-6
# Times at which a motion is looked at: a peak between them is higher by a millionth of the motion at most.
SAMPLES = 2001


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
    found = (passing(robot, place, q[:, place], error) for place in robot.limits)
    return [each for each in found if each is not None]


def passing(robot: Robot, place: int, values: Array, error: Callable[[float], float] = nothing) -> Passing | None:
    """The same of the joint at ``place`` with ``values`` (N,); None where it stays within, or has no limits."""
    if place not in robot.limits:
        return None
    ends = robot.limits[place]
    size, width = max(map(abs, ends)), ends[1] - ends[0]
    sides = [(end, sign * (values - end)) for sign, end in zip((-1, 1), ends, strict=True)]
    limit, excess = max(sides, key=lambda side: float(side[1].max()))
    beyond = excess > OVERSHOOT * width + error(size)
    if not beyond.any():
        return None
    return Passing(robot.coordinates[place], limit, float(excess.max()), int(np.argmax(beyond)), robot.units[place])


def told_of_motion(robot: Robot, place: int, motion: Motion, end: float | None, purpose: str) -> list[str]:
    """Whether a motion of the joint at ``place`` passes a limit up to ``end`` (s), in words.

    Where no end is known, up to the motion's own: of its table, of its last piece, of a period. Raises FreeParameters.
    """
    if place not in robot.limits:
        return []
    begin = motion.times[0] if motion.times else 0.0
    own = next(
        (robot.parameters.evaluate(each, purpose) for each in (motion.joint, motion.period) if each is not None), 0.0
    )
    stops = {motion.times[-1] if motion.times else own}
    if end is not None:
        # A short motion in a long run is looked at as closely as the run.
        stops = {min(end, *stops)} | ({end} if not motion.times else set())
    times = np.unique(np.concatenate([np.linspace(begin, max(begin, stop), SAMPLES) for stop in stops]))
    t = SX.sym("t")
    values = Trace(robot.parameters, {"t": t}, {"q": motion.value(t)}, purpose).rows(times)["q"].reshape(-1)
    found = passing(robot, place, values)
    return [] if found is None else [f"{found} by up to {found.amount}, first at t = {times[found.first]:.4g} s"]


def told_at(robot: Robot, q: Array) -> list[str]:
    """The joints that are beyond a limit at q (n,), in words."""
    return [f"{each} by {each.amount}" for each in passings(robot, q[None, :])]


def told_of_rows(robot: Robot, q: Array) -> list[str]:
    """The joints beyond a limit in some of the rows (N, n), in words that are the same for all blocks of rows."""
    return [f"{each} in some of the rows" for each in passings(robot, q)]
