"""Methods of one step follow a motion: step by step, in a row in C, and many runs side by side."""

from __future__ import annotations

import math
from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from contextlib import suppress
from copy import copy
from typing import TYPE_CHECKING, ClassVar

import casadi
import numpy as np

from kronbot.compute.buffered import Buffered
from kronbot.compute.native import policy
from kronbot.compute.native.cost import FULL, INTERPRETED
from kronbot.errors import ComputationError
from kronbot.floats import Array
from kronbot.mechanics.motion.integration import (
    HOPELESS,
    PATIENCE,
    WAITING,
    WHY,
    Block,
    Integrator,
    Ode,
    Tolerances,
)
from kronbot.mechanics.motion.strides import Memory, Stride, Strides

if TYPE_CHECKING:
    from kronbot.compute.native.compiling import Code
    from kronbot.compute.native.kernel import Kernel, Loop

# Work (s, interpreted) after which is told how far it is.
PAUSE = 0.02


class OneStep(Integrator):
    """A method whose step is one traced function: (t, x, h, values of the symbols, (rtol, atol)) -> (x at t + h, the
    error by the tolerances, what else is kept of a step in which there is something to tell), made of calls alone.

    A step of an error up to 1 is good: its numbers meet the tolerances in the mean square, as in CVODES.
    """

    STAGES: ClassVar[int]
    SAFETY, LEAST, MOST = 0.9, 0.1, 6.0
    # What the error of a good step and that of the one before have to say of the next (PI control, Solving ODEs II,
    # section IV.2), by the order of the estimate; the one before is no smaller.
    GAINS, SMALL = (1.0, 0.0), 1e-4

    def __init__(self, ode: Ode, tolerances: Tolerances) -> None:
        super().__init__(ode, tolerances)
        self.step = self.traced()
        self.attempts: dict[Code[casadi.Function] | None, Buffered] = {}
        self.strides: dict[Code[casadi.Function], Stride | None] = {}
        self.use({self.step: 1 / self.STAGES})
        # A call by value would take as long as the step.
        self.lane, self.memory = 0, self.room(1)
        self.many: Loop | None = None  # steps of many runs, of which this is one
        self.memory.bound = self.bound[None]

    @abstractmethod
    def traced(self) -> casadi.Function:
        """The step."""

    @abstractmethod
    def between(self, times: Array, steps: Array) -> Array:
        """States at times within steps that have been taken.

        A step is how many of the times lie in it, its start, its end and its length (s), the states at both, and what
        else is kept of it.
        """

    def room(self, lanes: int) -> Memory:
        """For so many runs; each keeps as many steps as take PAUSE."""
        limits = np.array([self.tolerances.rtol, self.tolerances.atol])
        sizes = self.ode.x.numel(), self.step.numel_out(2), self.bound.size
        return Memory(lanes, sizes, limits, self.pause)

    @property
    def pause(self) -> int:
        """How many steps take so long."""
        return max(1, int(PAUSE / (INTERPRETED * self.STAGES * max(1, self.instructions))))

    def follow(self, start: float, end: float, times: list[float], x: Array) -> Iterator[Block]:
        """Steps of the traced function, as long as the estimated errors allow."""
        # Contacts are looked for step by step, and charts may change after each.
        stride = None if self.many or self.charts is not None or self.contacts else self._stride()
        if self.many or stride is not None:
            yield from self._follow_natively(stride, start, end, np.array(times), x)
            return
        t, length, largest, steps, before = start, self.first_step(start, x, end), self.MOST, 0, 0.0
        shown, done, pause = 0, 0, 1 if self.looking else self.pause
        attempt, kept = self._attempt(), list[Array]()
        now, ahead, here, there, within, told = (
            rows[0]
            for rows in (
                self.memory.t,
                self.memory.h,
                self.memory.here,
                self.memory.end,
                self.memory.within,
                self.memory.error,
            )
        )
        here[:] = x
        while t < end:
            # The last two are even, so that none is a rest.
            h = end - t if end - t <= length * (1 + 1e-9) else min(length, (end - t) / 2)
            now[0], ahead[0] = t, h
            attempt()
            error = told.item()
            steps += 1
            self.steps += 1
            self.evaluations += self.STAGES
            if error <= 1.0:
                goal = end if h == end - t else t + h
                last = bisect_right(times, goal)
                if last > done:
                    kept.append(np.concatenate(((last - done, t, goal, h), here, there, within)))
                t, done = goal, last
                here[:] = there
                length = h * min(largest, self._factor(error, before))
                largest, before = self.MOST, error
            elif t + h * self.LEAST == t:
                raise ComputationError(f"{type(self).__name__} gave up at t = {t:g} s: {WHY}")
            else:
                length = h * min(1.0, self._factor(error, before))
                largest = 1.0  # what has just failed is not made longer again at once
            self.demand_progress(t, end, length, steps)
            if steps - shown >= pause or t == end or self.leaves(here):
                reached = here.copy()
                steps_kept = np.array(kept).reshape(len(kept), self.memory.kept.shape[2])
                states = self.between(np.array(times[done - int(steps_kept[:, 0].sum()) : done]), steps_kept)
                yield Block(t, reached, states)
                here[:] = reached  # where others may have gone meanwhile, to look for contacts
                attempt, kept, shown = self._attempt(), [], steps

    def _follow_natively(
        self, stride: Stride | None, start: float, end: float, times: Array, x: Array
    ) -> Iterator[Block]:
        """The same by the loop in C, which stops where it has given up; abreast somebody else calls it for all lanes,
        which may change their places meanwhile."""
        memory, lane = self.memory, self.lane
        memory.state[lane] = start, self.first_step(start, x, end), self.MOST, end, 0.0
        memory.counts[lane] = len(times), 0, 0, 0, 0
        memory.times[lane] = times.ctypes.data
        memory.here[lane], memory.bound[lane] = x, self.bound
        t, before, first = start, 0, 0
        while t < end:
            if stride is None:
                yield WAITING
            else:
                stride(1)
            lane = self.lane
            t, length, *_ = memory.state[lane].tolist()
            _, steps, done, count, lost = memory.counts[lane].tolist()
            self.steps += steps - before
            self.evaluations += self.STAGES * (steps - before)
            self.demand_progress(t, end, length, steps)
            if lost:
                raise ComputationError(f"{type(self).__name__} gave up at t = {t:g} s: {WHY}")
            states = self.between(times[first:done], memory.kept[lane, :count])
            memory.counts[lane, 3], before, first = 0, steps, done
            yield Block(t, memory.here[lane].copy(), states)

    def _stride(self) -> Stride | None:
        """Steps in a row in C, where the step is native code and that is wanted in any case."""
        code = self.natives[0].code()
        if code is None or policy.choice() != "on":
            return None
        if code not in self.strides:
            from kronbot.compute.native.kernel import Kernel  # here, as in what follows, since most runs do without

            self.strides[code] = None
            with suppress(OSError, AttributeError):  # evicted a moment ago
                self.strides[code] = self.in_a_row(Kernel(self.step.name(), code.library), self.memory)
        return self.strides[code]

    def in_a_row(self, step: Kernel | Loop, memory: Memory) -> Stride | None:
        """The loop in C round a step, None where there is none."""
        from kronbot.compute.native.compiling import made

        constants = {"SAFETY": self.SAFETY, "LEAST": self.LEAST, "MOST": self.MOST, "SMALL": self.SMALL}
        constants |= dict(zip(("POWER", "NOW", "BEFORE"), self._powers(), strict=True))
        found = made(FULL, Strides(constants | {"PATIENCE": PATIENCE, "HOPELESS": HOPELESS}, self._factor))
        return None if found is None else memory.prepared(found.function, step)

    def ends(self, t: Array, x: Array, h: Array) -> Array:
        """Where steps of lengths h (k,) from t (k,) and x (k, n) end, whatever their errors (k, n)."""
        found = np.empty_like(x)
        if self.many is not None:
            limits, errors = np.tile(self.memory.limits[:1], (len(t), 1)), np.empty((len(t), 1))
            given = t[:, None], x, h[:, None], np.tile(self.bound, (len(t), 1)), limits
            within = np.empty((len(t), self.memory.within.shape[1]))
            self.many([np.ascontiguousarray(each) for each in given], [found, errors, within])
            return found
        here, attempt = self.memory.here[0], self._attempt()
        reached = here.copy()
        for i, (start, length) in enumerate(zip(t, h, strict=True)):
            self.memory.t[0], self.memory.h[0], here[:] = start, length, x[i]
            attempt()
            found[i] = self.memory.end[0]
        here[:] = reached
        return found

    def _attempt(self) -> Buffered:
        """The step of the memory's first lane."""
        code = self.natives[0].code()
        if code not in self.attempts:
            sides = [[rows[0] for rows in side] for side in self.memory.sides]
            self.attempts[code] = Buffered(self.step if code is None else code.function, *sides)
        return self.attempts[code]

    def beside(self, memory: Memory, lane: int, many: Loop) -> OneStep:
        """The same for another run, in a lane of a memory."""
        other = copy(self)
        other.bound = self.bound.copy()
        other._rate_here = Buffered(self.rate, [np.zeros(1), np.zeros(self.ode.x.numel()), other.bound])
        other.memory, other.lane, other.many = memory, lane, many
        return other

    def _factor(self, error: float, before: float) -> float:
        """How many times as long the next step may be, by the error of this one and of the last good one before; an
        error that is no number demands the least."""
        if not math.isfinite(error):
            return self.LEAST
        power, now, then = self._powers()
        if error > 1.0:
            factor = self.SAFETY * math.pow(error, power)
        else:
            factor = self.SAFETY * math.pow(max(error, 1e-12), now) * math.pow(max(before, self.SMALL), then)
        return min(self.MOST, max(self.LEAST, factor))

    def _powers(self) -> tuple[float, float, float]:
        """Of an error that is too large, of one that is not, and of the one before."""
        power = 1 / (self.ORDER + 1)
        return -power, -power * self.GAINS[0], power * self.GAINS[1]


class Abreast:
    """A method for as many runs at a time as there are ``lanes``, whose steps are taken together, each run's own: the
    bits of one alone. Raises RuntimeError where there is no native code, without which nothing is gained.
    """

    def __init__(self, method: type[OneStep], ode: Ode, tolerances: Tolerances, lanes: int) -> None:
        from kronbot.compute.native.use import rows_in_any_case

        with policy.native("off"):  # lanes have code of their own
            one = method(ode, tolerances)
        step, memory = rows_in_any_case(one.step, ()), one.room(lanes)
        stride = None if step is None else one.in_a_row(step, memory)
        if step is None or stride is None:
            raise RuntimeError("lanes without native code")
        self.memory, self.stride = memory, stride
        self.lanes = [one.beside(memory, lane, step) for lane in range(lanes)]

    def drive(self, runs: Iterable[Iterator[object]]) -> None:
        """Runs of the lanes, in their order, to their ends; each waits with WAITING for its next steps."""
        going = list[tuple[OneStep, Iterator[object]]]()
        for one, run in zip(self.lanes, runs, strict=False):
            one.lane = len(going)
            going += [(one, run)] if next(run, None) is not None else []
        while going:
            self.stride(len(going))
            for lane in self.memory.stopped(len(going)):
                if next(going[lane][1], None) is None:
                    *going, last = going
                    if lane < len(going):
                        self.memory.move(len(going), lane)
                        last[0].lane, going[lane] = lane, last
