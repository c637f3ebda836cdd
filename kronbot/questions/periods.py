"""After which time the linear model along a motion repeats: that of the coordinates that are free, and nothing else."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from kronbot.cached import cached_property
from kronbot.compute.trace import Trace
from kronbot.description.wording import quote
from kronbot.floats import Array
from kronbot.mechanics.linear.rounding import Entries
from kronbot.model.motions import Motion
from kronbot.model.robot import Robot
from kronbot.records import dataclass

Matrices = tuple[Array, Array, Array]

ALL_LOCKED = "all coordinates are locked"
# Entries of the matrices repeat that come back to this share of their largest, but for rounding of the largest of all.
REPEATING, ROUNDING = 1e-8, 1e-13
# Shares of a motion at which is looked whether it matters, and of a period.
PLACES, SHARES = np.array([0.0, 0.13, 0.37, 0.71]), np.linspace(0.0, 1.0, 33)
# Periods of a motion, or turns of a joint, after which all is where it was, and what rounding leaves of their ratio.
LONGEST_CYCLE, COMMENSURABLE = 1000, 1e-9
# Of a joint that follows another at up to so small a share of its turns.
GEARS = 12


@dataclass(frozen=True)
class Change:
    """The entry of M_L, D_L, K_L that is changed most, by which share of its largest value; and whether that counts."""

    entry: str
    share: float
    counts: bool

    def __str__(self) -> str:
        return f"{self.entry} is off by {self.share:.2g} of its largest value"


@dataclass(frozen=True)
class Along:
    """M_L, D_L, K_L of the coordinates that are ``free`` (places), as functions of time.

    The trace has a time for each of the robot's motions: one may go on where the others stay.
    """

    robot: Robot
    trace: Trace
    free: Sequence[int]
    purpose: str

    def at(self, times: Array) -> Matrices:
        """The matrices (N, m, m) at times (N,), or at a time for each motion (N, motions)."""
        rows = self.trace.rows(self._each(times))
        M, D, K = (self._reduced(rows[name].reshape(-1, self.robot.n, self.robot.n)) for name in "MDK")
        return M, D, K

    def errors(self, times: Array, period: float) -> Matrices:
        """Bounds of the errors of their entries at times (N,): rounding, and what is not the same a period later."""
        there = times + period <= self._end
        found = []
        errors = Entries.at(self.trace, [self._each(times)]).matrices[3:]
        for error, now, later in zip(errors, self.at(times), self.at(times + period), strict=True):
            found.append(self._reduced(error) + np.where(there[:, None, None], np.abs(later - now), 0.0))
        M, D, K = found
        return M, D, K

    def elsewhere(self, times: Array) -> list[tuple[Array, Array]]:
        """K_L and bounds of the errors of its entries with other numbers, at other times (N,), as many as there are."""
        found = Entries.at(self.trace, [self._each(times)]).stiffness_elsewhere()
        return [(self._reduced(K), self._reduced(error)) for K, error in found]

    def _each(self, times: Array) -> Array:
        return np.broadcast_to(times.reshape(len(times), -1), (len(times), len(self.robot.motions)))

    def _reduced(self, A: Array) -> Array:
        return A[:, self.free][:, :, self.free]

    @cached_property
    def entering(self) -> Mapping[str, Motion]:
        """The motions that the matrices depend on, by joint."""
        motions = self.robot.motions
        first = (self._known(motion)[0] for motion in motions.values())
        begins = np.array([begin if math.isfinite(begin) else 0.0 for begin in first])
        spans = np.array([self._span(motion) for motion in motions.values()])
        there = np.repeat(begins + np.outer(PLACES, spans - begins), len(PLACES), axis=0)
        found = {}
        for j, (joint, motion) in enumerate(motions.items()):
            moved, still = there.copy(), there.copy()
            moved[:, j] = np.tile(there[:: len(PLACES), j], len(PLACES))
            still[:, j] = begins[j]
            if self._change(self.at(still), self.at(moved)).counts:
                found[joint] = motion
        return found

    def period(self) -> float | str:
        """The first common period (s) of the motions that matter after which the matrices repeat, or why none is.

        Of all that repeat where none matters: what is constant has any period.
        """
        if not self.free:
            return ALL_LOCKED
        repeating = {joint: motion for joint, motion in self.robot.motions.items() if not self._ending(motion)}
        mattering = self.entering or {joint: motion for joint, motion in repeating.items() if self._span(motion)}
        if not mattering:
            return "M_L, D_L, K_L do not change along the motion"
        for joint, motion in mattering.items():
            if why := self._ending(motion):
                table = f"the table {quote(motion.file)} is not said to be periodic: " if motion.ends else ""
                return f"{table}the motion of {joint} {why}"
        spans = {joint: self._span(motion) for joint, motion in mattering.items()}
        first, *_ = spans.values()
        ratios = [_fraction(span / first) for span in spans.values()]
        if None in ratios:
            return "the motions have no common period"
        known = [ratio for ratio in ratios if ratio is not None]
        common = first * math.lcm(*(r.numerator for r in known)) / math.gcd(*(r.denominator for r in known))
        turning = [joint.name for joint in self.robot.joints if joint.revolute and joint.name in spans]
        turns = {joint: self._travel(mattering[joint]) * common / spans[joint] / math.tau for joint in turning}
        cycles = math.lcm(*(ratio.denominator for ratio in map(_fraction, turns.values()) if ratio is not None))
        cycles = cycles if cycles <= LONGEST_CYCLE else 1
        shares = {k * count for count in range(1, cycles + 1) if cycles % count == 0 for k in range(1, GEARS + 1)}
        for count in sorted(shares):
            if not self.change(count * common).counts:
                return count * common
        travels = [f"{joint} goes on by {turn * math.tau:.6g} rad" for joint, turn in turns.items() if turn]
        return "; ".join([f"M_L, D_L, K_L do not repeat after {common:g} s: {self.change(common)}", *travels])

    def change(self, period: float) -> Change:
        """What is changed most in a period (s), as far as tables go."""
        times = SHARES * max(0.0, min(period, self._end - period))
        return self._change(self.at(times), self.at(times + period))

    def going_on(self, period: float) -> list[str]:
        """The joints whose motions, also those that do not matter, are not where they were after a period (s).

        Of those that turn whole turns further on do not count.
        """
        found, turning = [], {joint.name for joint in self.robot.joints if joint.revolute}
        for joint, motion in self.robot.motions.items():
            span = self._span(motion)
            if not span:
                continue
            count = _fraction(period / span)
            travel = 0.0 if count is None or self._ending(motion) else self._travel(motion) * float(count)
            turns = _fraction(travel / math.tau) if joint in turning else Fraction(0) if not travel else None
            whole = [each is not None and each.denominator == 1 for each in (count, turns)]
            if self._ending(motion) or not all(whole):
                found.append(joint)
        return found

    @property
    def open_tables(self) -> list[str]:
        """Files of the tables that matter and end."""
        return [motion.file for motion in self.entering.values() if motion.ends]

    @property
    def _end(self) -> float:
        """Time (s) up to which the motions that matter are known."""
        return min((self._known(motion)[1] for motion in self.entering.values()), default=math.inf)

    def _ending(self, motion: Motion) -> str:
        """Why a motion does not repeat, nothing where it does."""
        if motion.period is None:
            return "does not repeat"
        start = motion.begins(self.robot.parameters, self.purpose)
        return f"does not repeat: it begins at t = {start:g} s" if start > 0 else ""

    def _known(self, motion: Motion) -> tuple[float, float]:
        return motion.known(self.robot.parameters, self.purpose)

    def _span(self, motion: Motion) -> float:
        return motion.span(self.robot.parameters, self.purpose)

    def _travel(self, motion: Motion) -> float:
        return self.robot.parameters.evaluate(motion.travel, self.purpose)

    def _change(self, before: Matrices, after: Matrices) -> Change:
        """The largest, over all rows."""
        names = [self.robot.coordinates[place] for place in self.free]
        worst, found = 0.0, Change("", 0.0, False)
        for letter, A, B in zip("MDK", before, after, strict=True):
            change, size = np.abs(B - A).max(axis=0), np.maximum(np.abs(A), np.abs(B)).max(axis=0)
            beyond = change / np.maximum(REPEATING * size + ROUNDING * size.max(initial=0.0), np.finfo(float).tiny)
            if beyond.max(initial=0.0) > worst:
                worst = float(beyond.max())
                i, j = np.unravel_index(beyond.argmax(), beyond.shape)
                entry = f"{letter}_L[{names[i]},{names[j]}]"
                found = Change(entry, float(change[i, j] / size[i, j]), worst > 1)
        return found


def _fraction(ratio: float) -> Fraction | None:
    """A ratio of small numbers, None where it is none."""
    found = Fraction(ratio).limit_denominator(LONGEST_CYCLE)
    return found if abs(found - ratio) <= COMMENSURABLE * max(1.0, abs(ratio)) else None
