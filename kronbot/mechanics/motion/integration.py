"""Numerical integration of x' = f(t, x) from stop to stop.

A stop is a time at which the equations have a corner: no step goes over it, and after it the integration starts afresh
with a step that the equations suggest. Steps depend on the equations, the tolerances and the stops, never on the times
at which the states are wanted: those are interpolated.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import field, replace
from typing import ClassVar

import casadi
import numpy as np
import numpy.typing as npt
from casadi import SX

from kronbot.compute.buffered import Buffered
from kronbot.compute.native.awaited import Native
from kronbot.compute.native.cost import INTERPRETED, instructions
from kronbot.errors import Argument, ComputationError, UsageError
from kronbot.floats import Array
from kronbot.mechanics.motion.charts import Charts
from kronbot.mechanics.motion.contacts import Switch, Switching
from kronbot.records import dataclass
from kronbot.system.interruption import Interruptions
from kronbot.system.silence import unwarned

WHY = "the motion runs away there, or the tolerances are too tight"
# Bounds of rtol: a hundred roundings, below which SciPy refuses, and what is no accuracy any more.
FINEST, COARSEST = 2.5e-14, 0.1
# Stops that are fewer units in the last place apart are one. The equations before a stop are read half as far before;
# all others of a time so far behind it that corners which are one with a stop are behind a step from there.
APART = 8
BEHIND = 1 + APART * float(np.finfo(float).eps)
# Steps that a start may take to find its length; who would then need HOPELESS more is lost.
PATIENCE, HOPELESS = 1000, 1e12
# Evaluations after which a forecast of what is to come means something.
TELLING = 200


def _no_contacts() -> Switch:
    return Switch(SX(0, 1), SX(0, 1))


@dataclass(frozen=True)
class Ode:
    """x' = rate(t, x): symbols t (1 x 1) and x (n x 1), the traced rate (n x 1), ``symbols`` that get values at a run.

    x begins with so many ``coordinates``, whose rates are the next so many; what controllers remember, so many numbers
    ``beside``, comes next, and accounts, on which no rate depends, are last; so many of these, ``unseen``, are too
    small to be seen by estimates of errors. ``sampled`` is the state that follows on x at the instants of sampled
    controllers, of which ``held`` entries (n,) are the torques from there on.
    """

    t: SX
    x: SX
    rate: SX
    coordinates: int
    symbols: SX = field(default_factory=lambda: SX(0, 1))
    switch: Switch = field(default_factory=_no_contacts)
    beside: int = 0
    sampled: SX | None = None
    held: npt.NDArray[np.bool_] | bool = False
    unseen: int = 0


@dataclass(frozen=True)
class Tolerances:
    """Relative and absolute error allowed in a step. Raises UsageError where they make no sense."""

    rtol: float
    atol: float

    def __post_init__(self) -> None:
        if not FINEST <= self.rtol <= COARSEST:
            raise UsageError(Argument("rtol"), f" must be from {FINEST:g} to {COARSEST:g}, not {self.rtol:g}")
        if not 0 < self.atol <= 1:
            raise UsageError(Argument("atol"), f" must be above 0 and at most 1, not {self.atol:g}")

    def of_some(self, seen: int, count: int) -> Tolerances:
        """Those with which the mean square of ``count`` errors is that of the ``seen`` ones, the others being none."""
        share = math.sqrt(seen / count)
        return Tolerances(max(FINEST, share * self.rtol), share * self.atol)

    def of(self, size: float) -> float:
        """The error that a number of that size may have."""
        return self.atol + self.rtol * size

    def norm(self, change: Array, x: Array) -> float:
        """Mean square of a change of the state x, each number by the error that it may have."""
        return float(np.sqrt(np.mean((change / (self.atol + self.rtol * np.abs(x))) ** 2)))


@dataclass(frozen=True)
class Block:
    """What an integrator has done since it was last heard of: it stands at t with state x (n,), and ``states`` (k, n)
    are those at the next k of the times asked for."""

    t: float
    x: Array
    states: Array


# Of a run beside others, which waits for the next steps of them all.
WAITING = Block(math.nan, np.empty(0), np.empty((0, 0)))


def stops(duration: float, corners: Iterable[float]) -> tuple[float, ...]:
    """0, the corners in between, and the duration (s), ascending; those that rounding cannot tell apart once."""
    found = [0.0]
    for t in sorted(corners):
        if t - found[-1] > APART * np.spacing(t) and duration - t > APART * np.spacing(duration):
            found.append(t)
    return (*found, duration)


class Integrator(ABC):
    """Follows a state from stop to stop; ``steps`` and ``evaluations`` count.

    It depends on the equations and the tolerances, and serves one run after the other, each with its own values.
    """

    # Of the error estimate: how the error of a first step depends on its length.
    ORDER: ClassVar[int]

    def __init__(self, ode: Ode, tolerances: Tolerances) -> None:
        self.ode, self.tolerances = ode, tolerances.of_some(ode.x.numel() - ode.unseen, ode.x.numel())
        # The rate may jump at a stop; before it, it is that of the time before, up to ``latest``.
        self.latest = SX.sym("latest")
        self.contacts = ode.switch.touching.numel()
        self.symbols = casadi.vertcat(self.latest, ode.switch.touching, ode.symbols)
        self.bound = np.full(self.symbols.numel(), math.inf)
        self.expression = casadi.densify(self.rate_at(ode.t))
        self.rate = casadi.Function("rate", [ode.t, ode.x, self.symbols], [self.expression])
        self._rate_here = Buffered(self.rate, [np.zeros(1), np.zeros(ode.x.numel()), self.bound])
        self.met = Interruptions()  # those of whoever runs this
        sampled = ode.x if ode.sampled is None else ode.sampled
        self._sampled = casadi.Function("sampled", [ode.t, ode.x, self.symbols], [casadi.densify(sampled)])
        self.switch: Switching | None = None
        if self.contacts:
            touching = self.bound[1 : 1 + self.contacts]
            look = casadi.Function("contacts", [ode.t, ode.x, self.symbols], [casadi.densify(ode.switch.seen)])
            self.switch = Switching(touching, Buffered(look), self.bound, self._state_at)
        self.begin((0.0, 0.0), self.bound[1 + self.contacts :])

    def begin(
        self,
        stops: tuple[float, ...],
        values: npt.ArrayLike = (),
        charts: Charts | None = None,
        instants: Collection[float] = (),
    ) -> None:
        """The next run goes by these ``stops`` (s), start, every corner of the rate and end, and values of the symbols.

        Some of them are ``instants`` of sampled controllers: there the state is what these make of it.
        With ``charts`` it changes between these, of which the last symbol tells. Whatever it has run before, it runs as
        if it were new.
        """
        self.stops, self.charts, self.instants = stops, charts, frozenset(instants)
        self.bound[1 : 1 + self.contacts] = 0.0
        self.bound[1 + self.contacts :] = values  # in place: functions were pointed to it
        self.steps = self.evaluations = self.events = 0
        self.tried = 0  # evaluations that found out something, of which there is no more to come
        self.looking = bool(self.contacts)  # for contacts that begin or end

    @property
    def span(self) -> float:
        """From start to end (s)."""
        return self.stops[-1] - self.stops[0]

    def rate_at(self, t: SX) -> SX:
        """The rate at another symbol or expression of time."""
        return casadi.substitute(self.ode.rate, self.ode.t, casadi.fmin(BEHIND * t, self.latest))

    def use(self, *groups: Mapping[casadi.Function, float]) -> None:
        """These are evaluated, each so many times an evaluation of the rate; as native code where that pays, each group
        by itself."""
        self.natives = tuple(Native(*functions) for functions in groups)
        self.weights = tuple(tuple(functions.values()) for functions in groups)
        every = [(part, weight) for functions in groups for part, weight in functions.items()]
        # Of one evaluation, with its share of Jacobians.
        self.instructions = int(sum(weight * instructions(part) for part, weight in every))

    def run(self, times: Array, x: Array) -> Iterator[Block]:
        """Blocks whose states are those at ``times`` (k,), ascending and after the first stop, where x (n,) is.

        Raises ComputationError where it gives up, KeyboardInterrupt for a Ctrl-C.
        """
        places = np.searchsorted(times, self.stops, side="right").tolist()
        stretches = zip(itertools.pairwise(self.stops), itertools.pairwise(places), strict=True)
        if self.switch is not None:
            self.switch.set(self.stops[0], x)
        for (start, end), (first, last) in stretches:
            self.bound[0] = end - APART // 2 * np.spacing(end)
            if start > self.stops[0]:
                x = self.sampled(start, x)
            wanted = times[first:last].tolist()
            while start < end:
                blocks = self.follow(start, end, wanted, x)
                while (block := self._next(blocks, x, start)) is not None:
                    if block is WAITING:
                        yield block
                        continue
                    event = self._event(start, x, block, wanted)
                    ended = block if event is None else event
                    yield self._told(ended, end, wanted)
                    start, x, wanted = ended.t, ended.x, wanted[len(ended.states) :]
                    self._expect_more((start - self.stops[0]) / self.span)
                    self.events += event is not None
                    leaving = self.leaves(x)
                    if self.charts is not None and leaving:
                        x = self.charts.changed(x)
                        self.bound[-1] = self.charts.chart
                    if event is not None or leaving:
                        break

    def _told(self, block: Block, end: float, wanted: list[float]) -> Block:
        """A block whose state at an instant of sampled controllers is that of a row."""
        count = len(block.states)
        row = wanted[count - 1] if count else -math.inf
        if end not in self.instants or block.t < end or row < end - APART * np.spacing(end):
            return block
        self.bound[0] = math.inf  # what jumps there has jumped
        return replace(block, states=np.vstack([block.states[:-1], self.row_at(end, block.states[-1])]))

    def row_at(self, t: float, x: Array) -> Array:
        """What a row tells of a state: at an instant the torques from there on, and what these follow from."""
        return np.where(self.ode.held, self.sampled(t, x), x)

    def sampled(self, t: float, x: Array) -> Array:
        """The state that follows on x at a time: another one where that is an instant of sampled controllers."""
        if t not in self.instants:
            return x
        behind = min(BEHIND * t, self.stops[-1])  # there is nothing behind the last row of a table
        return np.asarray(self._sampled(behind, x, self.bound))[:, 0]

    def _event(self, t: float, x: Array, block: Block, wanted: list[float]) -> Block | None:
        """The block from t and x on up to where a contact changes first, which is then changed; None where none does.

        ``wanted`` are the times after t that are asked for.
        """
        # A step that was refused is a block, too: nothing changes in it, also where a contact has begun just now.
        change = None if self.switch is None or block.t == t else self.switch.first_change(t, x, block.t, block.x)
        if self.switch is None or change is None:
            return None
        at, contact = change
        if block.t - at <= APART * np.spacing(block.t):
            ended = block
        elif at - t <= APART * np.spacing(at):
            ended = Block(t, x, np.empty((0, len(x))))
        else:
            ended = self._ending(t, x, at, wanted[: bisect_right(wanted, at)])
        self.switch.change(contact, ended.t, ended.x)
        return ended

    def _state_at(self, t: float, x: Array, end: float) -> Array:
        return self._ending(t, x, end, []).x

    def _ending(self, t: float, x: Array, end: float, times: list[float]) -> Block:
        """The block from t and x to an end."""
        states, at, reached = [np.empty((0, len(x)))], t, x
        self.looking = False
        blocks = self.follow(t, end, times, x)
        while (block := self._next(blocks, reached, at)) is not None:
            at, reached = block.t, block.x
            states.append(block.states)
        self.looking = True
        return Block(end, reached, np.concatenate(states))

    def leaves(self, x: Array) -> bool:
        """Whether a state leaves its chart: a block ends there."""
        return self.charts is not None and self.charts.leaves(x)

    def longest(self, x: Array) -> float:
        """How long (s) a block that begins with a state may be."""
        return math.inf if self.charts is None else self.charts.longest(x)

    def _next(self, blocks: Iterator[Block], x: Array, t: float) -> Block | None:
        with unwarned(), np.errstate(all="ignore"):  # what overflows is seen in the states
            try:
                return next(blocks, None)
            except (ValueError, ArithmeticError, np.linalg.LinAlgError):
                raise ComputationError(f"the motion overflows after t = {t:g} s") from None

    @abstractmethod
    def follow(self, start: float, end: float, times: list[float], x: Array) -> Iterator[Block]:
        """The blocks from one stop to the next, with ``times`` in (start, end]."""

    def first_step(self, t: float, x: Array, end: float) -> float:
        """A length (s) to begin with at t: Hairer, Norsett and Wanner, Solving ODEs I, section II.4."""
        before = self._rate(t, x)
        size, slope = self.tolerances.norm(x, x), self.tolerances.norm(before, x)
        trial = min(0.01 * size / slope if min(size, slope) >= 1e-5 else 1e-6, end - t)
        after = self._rate(t + trial, x + trial * before)
        largest = max(slope, self.tolerances.norm(after - before, x) / trial if trial else math.inf)
        # What a rest tells of a step is little.
        length = (0.01 / largest) ** (1 / (self.ORDER + 1)) if largest > 1e-15 else max(1e-6, trial * 1e-3)
        length = min(100 * trial, length, end - t)
        if not length > 0:
            raise ComputationError(f"the motion is faster at t = {t:g} s than numbers of this size can follow")
        return length

    def _rate(self, t: float, x: Array) -> Array:
        self.evaluations += 1
        time, state, _ = self._rate_here.arguments
        time[0], state[:] = t, x
        self._rate_here()
        return self._rate_here.results[0].copy()

    def demand_progress(self, t: float, end: float, length: float, steps: int) -> None:
        """Raise ComputationError where so many steps have led to such a length that the end is out of reach."""
        if steps > PATIENCE and end - t > HOPELESS * length:
            raise ComputationError(f"{type(self).__name__} gave up at t = {t:g} s, in steps of {length:.1g} s: {WHY}")

    def _expect_more(self, share: float) -> None:
        """What this share of the run took is a measure of what is to come."""
        if self.evaluations >= TELLING and share > 0:
            left = (self.evaluations - self.tried) * (1 - share) / share
            spent = self.evaluations * self.instructions * INTERPRETED
            for native, weights in zip(self.natives, self.weights, strict=True):
                native.expect(*(int(min(left, 1e15) * weight) for weight in weights), spent=spent)

    def close(self) -> None:
        """Told when the run is over, however it ends: leaves no compiler at work."""
        for native in self.natives:
            native.close()

    def demand_no_interruption(self) -> None:
        """Raise KeyboardInterrupt after a Ctrl-C, also one that native code or a destructor has swallowed."""
        self.met.demand_none()
