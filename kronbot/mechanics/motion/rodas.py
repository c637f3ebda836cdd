"""RODAS follows a motion: its steps one by one, in a row in C, and those of many runs side by side."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from contextlib import suppress
from copy import copy

import casadi
import numpy as np

from kronbot.compute.buffered import Buffered
from kronbot.compute.native import policy
from kronbot.compute.native.compiling import Code, made
from kronbot.compute.native.cost import FULL, INTERPRETED
from kronbot.compute.native.kernel import Kernel, Loop
from kronbot.compute.native.use import rows_in_any_case
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
from kronbot.mechanics.motion.rosenbrock import ORDER, STAGES, D, step
from kronbot.mechanics.motion.strides import Memory, Stride, Strides

# Work (s, interpreted) after which is told how far it is.
PAUSE = 0.02


class Rodas(Integrator):
    """Quick where the tolerance is that of an engineer.

    The estimated error of a step, per number of the state, meets the tolerances in the mean square, as in CVODES.
    """

    ORDER = ORDER
    SAFETY, LEAST, MOST = 0.9, 0.1, 6.0

    def __init__(self, ode: Ode, tolerances: Tolerances) -> None:
        super().__init__(ode, tolerances)
        self.step = step(ode.t, ode.x, self.rate_at(ode.t), ode.coordinates, ode.beside, self.symbols)
        self.attempts: dict[Code[casadi.Function] | None, Buffered] = {}
        self.strides: dict[Code[casadi.Function], Stride | None] = {}
        self.use({self.step: 1 / STAGES})
        # A call by value would take as long as the step.
        self.lane, self.memory, self.abreast = 0, self.room(1), False
        self.memory.bound = self.bound[None]

    def room(self, lanes: int) -> Memory:
        """For so many runs; each keeps as many steps as take PAUSE."""
        limits = np.array([self.tolerances.rtol, self.tolerances.atol])
        return Memory(lanes, self.ode.x.numel(), self.bound.size, limits, self.pause)

    @property
    def pause(self) -> int:
        """How many steps take so long."""
        return max(1, int(PAUSE / (INTERPRETED * STAGES * max(1, self.instructions))))

    def follow(self, start: float, end: float, times: list[float], x: Array) -> Iterator[Block]:
        """Steps of the traced function, as long as the estimated errors allow."""
        # Contacts are looked for step by step, and charts may change after each.
        stride = None if self.abreast or self.charts is not None or self.contacts else self._stride()
        if self.abreast or stride is not None:
            yield from self._follow_natively(stride, start, end, np.array(times), x)
            return
        t, length, largest, steps = start, self.first_step(start, x, end), self.MOST, 0
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
            self.evaluations += STAGES
            if error <= 1.0:
                goal = end if h == end - t else t + h
                last = bisect_right(times, goal)
                if last > done:
                    kept.append(np.concatenate(((last - done, t, goal, h), here, there, within)))
                t, done = goal, last
                here[:] = there
                length = h * min(largest, self._factor(error))
                largest = self.MOST
            elif t + h * self.LEAST == t:
                raise ComputationError(f"Rodas gave up at t = {t:g} s: {WHY}")
            else:
                length = h * min(1.0, self._factor(error))
                largest = 1.0  # what has just failed is not made longer again at once
            self.demand_progress(t, end, length, steps)
            if steps - shown >= pause or t == end or self.leaves(here):
                reached = here.copy()
                steps_kept = np.array(kept).reshape(len(kept), 4 + 4 * len(x))
                states = _between(np.array(times[done - int(steps_kept[:, 0].sum()) : done]), steps_kept)
                yield Block(t, reached, states)
                here[:] = reached  # where others may have gone meanwhile, to look for contacts
                attempt, kept, shown = self._attempt(), [], steps

    def _follow_natively(
        self, stride: Stride | None, start: float, end: float, times: Array, x: Array
    ) -> Iterator[Block]:
        """The same by the loop in C, which stops where it has given up; abreast somebody else calls it for all lanes,
        which may change their places meanwhile."""
        memory, lane = self.memory, self.lane
        memory.state[lane] = start, self.first_step(start, x, end), self.MOST, end
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
            t, length, _, _ = memory.state[lane].tolist()
            _, steps, done, count, lost = memory.counts[lane].tolist()
            self.steps += steps - before
            self.evaluations += STAGES * (steps - before)
            self.demand_progress(t, end, length, steps)
            if lost:
                raise ComputationError(f"Rodas gave up at t = {t:g} s: {WHY}")
            states = _between(times[first:done], memory.kept[lane, :count])
            memory.counts[lane, 3], before, first = 0, steps, done
            yield Block(t, memory.here[lane].copy(), states)

    def _stride(self) -> Stride | None:
        """Steps in a row in C, where the step is native code and that is wanted in any case."""
        code = self.native.code()
        if code is None or policy.choice() != "on":
            return None
        if code not in self.strides:
            self.strides[code] = None
            with suppress(OSError, AttributeError):  # evicted a moment ago
                self.strides[code] = self.in_a_row(Kernel(self.step.name(), code.library), self.memory)
        return self.strides[code]

    def in_a_row(self, step: Kernel | Loop, memory: Memory) -> Stride | None:
        """The loop in C round a step, None where there is none."""
        constants = {"SAFETY": self.SAFETY, "LEAST": self.LEAST, "MOST": self.MOST, "POWER": -1 / (ORDER + 1)}
        found = made(FULL, Strides(constants | {"PATIENCE": PATIENCE, "HOPELESS": HOPELESS}, self._factor))
        return None if found is None else memory.prepared(found.function, step)

    def _attempt(self) -> Buffered:
        """The step of the memory's first lane."""
        code = self.native.code()
        if code not in self.attempts:
            sides = [[rows[0] for rows in side] for side in self.memory.sides]
            self.attempts[code] = Buffered(self.step if code is None else code.function, *sides)
        return self.attempts[code]

    def beside(self, memory: Memory, lane: int) -> Rodas:
        """The same for another run, in a lane of a memory."""
        other = copy(self)
        other.bound = self.bound.copy()
        other._rate_here = Buffered(self.rate, [np.zeros(1), np.zeros(self.ode.x.numel()), other.bound])
        other.memory, other.lane, other.abreast = memory, lane, True
        return other

    def _factor(self, error: float) -> float:
        """How many times as long the next step may be; an error that is no number demands the least."""
        if not math.isfinite(error):
            return self.LEAST
        factor = self.SAFETY * math.pow(max(error, 1e-12), -1 / (ORDER + 1))
        return min(self.MOST, max(self.LEAST, factor))


class Abreast:
    """RODAS for as many runs at a time as there are ``lanes``, whose steps are taken together, each run's own: the bits
    of one alone. Raises RuntimeError where there is no native code, without which nothing is gained.
    """

    def __init__(self, ode: Ode, tolerances: Tolerances, lanes: int) -> None:
        with policy.native("off"):  # lanes have code of their own
            one = Rodas(ode, tolerances)
        step, memory = rows_in_any_case(one.step, ()), one.room(lanes)
        stride = None if step is None else one.in_a_row(step, memory)
        if stride is None:
            raise RuntimeError("lanes without native code")
        self.memory, self.stride = memory, stride
        self.lanes = [one.beside(memory, lane) for lane in range(lanes)]

    def drive(self, runs: Iterable[Iterator[object]]) -> None:
        """Runs of the lanes, in their order, to their ends; each waits with WAITING for its next steps."""
        going = list[tuple[Rodas, Iterator[object]]]()
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


def _between(times: Array, steps: Array) -> Array:
    """States at times within steps that have been taken, many at once: they are short.

    A step is how many of the times lie in it, its start, its end and its length (s), the states at both, and what D
    makes of it.
    """
    every = np.repeat(steps, steps[:, 0].astype(int), axis=0)
    t, goal, h = every[:, 1:4].T
    here, end, second, third = np.split(every[:, 4:], 2 + len(D), axis=1)
    s = np.where(times == goal, 1.0, (times - t) / h)[:, None]
    return (1 - s) * here + s * (end + (1 - s) * (second + s * third))
