"""Joints beyond the limits that their file gives them: computed all the same, and worth a word."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from casadi import SX

from kronbot.compute.trace import Trace
from kronbot.floats import Array, ascending
from kronbot.model.joint import Limits
from kronbot.model.motions import Motion
from kronbot.model.robot import Robot
from kronbot.records import dataclass

# Share of the range: what ends at a limit comes out beyond it by rounding, and splines overshoot a little more.
OVERSHOOT = 1e-6
# Share of the range: joints may rest on their stops, and that is no start inside them.
DEEP = 1e-2
# Times at which a motion is looked at: a peak between them is higher by a millionth of the motion at most.
SAMPLES = 2001


@dataclass(frozen=True)
class Passing:
    """A joint that is beyond a limit (rad or m) in ``count`` of ``rows``: by how much at most, and first in which."""

    joint: str
    limit: float
    unit: str
    excess: float
    count: int
    rows: int
    first: int
    beyond: str = "beyond its limit of"

    def at(self, where: str) -> str:
        """In words, first somewhere."""
        return f"{self._joint} by up to {self._amount}, {where}"

    def __str__(self) -> str:
        """In words, at a point or in cases that are numbered from 1."""
        if self.rows == 1:
            return f"{self._joint} by {self._amount}"
        return self.at(f"in {self.count} of {self.rows} cases, first in case {self.first + 1}")

    @property
    def _joint(self) -> str:
        return f"{self.joint} is {self.beyond} {self.limit:.6g} {self.unit}"

    @property
    def _amount(self) -> str:
        return f"{self.excess:.3g} {self.unit}"


class Told(str):
    """A passing in words, which knows what they are made of: blocks of rows are told as one."""

    passing: Passing

    def __new__(cls, passing: Passing) -> Told:
        """Put it in words."""
        self = super().__new__(cls, passing)
        self.passing = passing
        return self

    def __reduce__(self) -> tuple[type[Told], tuple[Passing]]:
        return Told, (self.passing,)


class Blocks:
    """Warnings of blocks of rows, one after the other, as those of one answer."""

    def __init__(self) -> None:
        self.rows = 0
        self._others: dict[str, None] = {}
        self._passings: dict[tuple[str, float], Passing] = {}

    def add(self, warnings: Iterable[str], rows: int) -> None:
        """Those of the next block, of so many rows."""
        for warning in warnings:
            if not isinstance(warning, Told):
                self._others[warning] = None
                continue
            new = warning.passing
            key = new.joint, new.limit
            old = self._passings.get(key, replace(new, count=0, first=self.rows + new.first))
            excess, count = max(old.excess, new.excess), old.count + new.count
            self._passings[key] = replace(old, excess=excess, count=count)
        self.rows += rows

    def told(self) -> list[str]:
        """Each once."""
        return [*self._others, *(Told(replace(each, rows=self.rows)) for each in self._passings.values())]


def nothing(limit: float) -> float:
    """No error."""
    return 0.0


def passings(robot: Robot, q: Array, error: Callable[[float], float] = nothing) -> list[Passing]:
    """The limits that joints are beyond in some row of q (N, n), each once.

    ``error`` is that of a value near a limit: what it leaves open is not told. Joints with stops are meant to be there
    now and then.
    """
    free = [limits for limits in robot.limits if not limits.stops]
    return [each for limits in free for each in passings_of(limits, limits.values(q), error)]


def passings_of(limits: Limits, values: Array, error: Callable[[float], float] = nothing) -> Iterator[Passing]:
    """The same of one joint with ``values`` (N,)."""
    low, high = limits.low, limits.high
    for end, sign in ((low, -1), (high, 1)):
        excess = sign * (values - end)
        beyond = excess > OVERSHOOT * (high - low) + error(max(abs(low), abs(high)))
        if beyond.any():
            most, count, first = float(excess.max()), int(beyond.sum()), int(np.argmax(beyond))
            yield Passing(limits.joint, end, limits.unit, most, count, len(values), first)


def told_of_motion(robot: Robot, joint: str, motion: Motion, end: float | None, purpose: str) -> list[str]:
    """Whether a motion of a joint passes a limit of it up to ``end`` (s), in words.

    Where no end is known, up to the motion's own: of its table, of its last piece, of a period. Raises FreeParameters.
    """
    limits = next((each for each in robot.limits if each.joint == joint), None)
    if limits is None:
        return []
    first, last = motion.known(robot.parameters, purpose)
    begin, stops = first if math.isfinite(first) else 0.0, {motion.span(robot.parameters, purpose)}
    if end is not None:
        # A short motion in a long run is looked at as closely as the run.
        stops = {min(end, *stops), min(end, last)}
    times = ascending(np.concatenate([np.linspace(begin, max(begin, stop), SAMPLES) for stop in stops]))
    t = SX.sym("t")
    values = Trace(robot.parameters, {"t": t}, {"q": motion.value(t)}, purpose).rows(times)["q"].reshape(-1)
    return _timed(passings_of(limits, values), times)


def told_of_run(robot: Robot, q: Array, times: Array, error: Callable[[float], float]) -> list[str]:
    """The joints beyond a limit in q (N, n) at ``times`` (N,), in words; ``error`` as in :func:`passings`."""
    return _timed(passings(robot, q, error), times)


def told_of_rows(robot: Robot, q: Array) -> list[str]:
    """The joints beyond a limit in q (N, n), at a point or in cases, in words."""
    return [Told(each) for each in passings(robot, q)]


def told_of_pressing(robot: Robot, q: Array, free: Sequence[int]) -> list[str]:
    """The joints that are held, hence not ``free``, inside their stops in q (N, n), in words: these push them back."""
    held = [limits for limits in robot.limits if limits.stops and not limits.row[list(free)].any()]
    found = (each for limits in held for each in passings_of(limits, limits.values(q)))
    return [Told(replace(each, beyond="held in its stop at")) for each in found]


def told_of_start(robot: Robot, q: Array) -> list[str]:
    """The joints that start deep inside their stops at q (n,), from where these throw them back, in words."""
    return [
        f"at the start {each}"
        for limits in robot.limits
        if limits.stops
        for each in passings_of(limits, limits.values(q[None]))
        if each.excess > DEEP * (limits.high - limits.low)
    ]


def _timed(found: Iterable[Passing], times: Array) -> list[str]:
    return [each.at(f"first at t = {times[each.first]:.4g} s") for each in found]
