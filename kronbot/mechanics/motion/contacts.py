"""One-sided contacts in an integration: when they begin and end."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from casadi import SX

from kronbot.compute.buffered import Buffered
from kronbot.errors import ComputationError
from kronbot.floats import Array
from kronbot.records import dataclass

# Changes of each contact at one instant that are no motion any more.
CHATTER = 8
# Of what it moves in a piece, how far a contact is from a change that is not looked for.
FAR = 2.0
# Shares of a block at which a contact that has just changed is looked at again, besides its start.
LATER = (0.5, 0.25, 0.125, 0.0625)


@dataclass(frozen=True)
class Switch:
    """One-sided contacts that the rate of an Ode depends on, as functions of t and x.

    ``touching`` (m x 1) are symbols, 1 of contacts that push and 0 of others; ``seen`` (3 m x 1) are depths, forces
    and rates of the depths. What touches has a positive depth and force; in between, the rate is smooth.
    """

    touching: SX
    seen: SX


class Switching:
    """Finds the instants at which contacts begin and end, in blocks of an integration that are short beside the motion.

    One that has begun or ended within a block is located by integrating from its start anew, by ``state`` (t, x, end):
    to where its depth, or its force, is zero to rounding. ``touching`` (m,) are 1 of contacts that push and 0 of
    others, in place; ``look`` evaluates what is seen at t and x with values ``bound`` of the symbols.
    """

    def __init__(
        self, touching: Array, look: Buffered, bound: Array, state: Callable[[float, Array, float], Array]
    ) -> None:
        self.touching, self._look, self._bound, self._state = touching, look, bound, state
        self.last, self.at_once = -math.inf, 0

    def seen(self, t: float, x: Array) -> Array:
        """Depths, forces, rates of the depths (3, m)."""
        time, state, bound = self._look.arguments
        time[0], state[:], bound[:] = t, x, self._bound
        self._look()
        return self._look.results[0].reshape(3, -1).copy()

    def set(self, t: float, x: Array) -> None:
        """At the start of a run."""
        self.before = self.seen(t, x)
        self.touching[:] = (self.before[:2] > 0).all(axis=0)
        self.last, self.at_once = -math.inf, 0

    def far(self, times: Sequence[float], states: Array) -> bool:
        """Whether every contact is further from a change than it moves, at times and states (k, n) of a piece."""
        seen = np.array([self.seen(t, x) for t, x in zip(times, states, strict=True)])
        near = np.where(self.touching > 0, -seen[:, 1], seen[:, 0])  # changes where it is positive
        return bool((near.max(axis=0) + FAR * np.ptp(near, axis=0) < 0).all())

    def first_change(self, t: float, x: Array, end: float, after: Array) -> tuple[float, int] | None:
        """When in the block from t and x to an end and the state ``after`` it a contact changes first, and which."""
        before, self.before = self.before, self.seen(end, after)
        changes = ((self._change(each, t, x, end, before), each) for each in range(len(self.touching)))
        return min(((at, contact) for at, contact in changes if at is not None), default=None)

    def change(self, contact: int, t: float, x: Array) -> None:
        """It begins or ends. Raises ComputationError where it has done so again and again at one instant."""
        self.touching[contact] = 1 - self.touching[contact]
        self.before = self.seen(t, x)
        self.at_once = self.at_once + 1 if t == self.last else 0
        self.last = t
        if self.at_once > CHATTER * len(self.touching):
            raise ComputationError(f"the contacts of stops or tendons change again and again at t = {t:g} s")

    def _change(self, contact: int, t: float, x: Array, end: float, first: Array) -> float | None:
        touching = bool(self.touching[contact])

        def wrong(depth: float, force: float) -> float:
            """Positive where it is not what it should be."""
            return -force if touching else min(depth, force)

        (before, _, entering), (after, force, leaving) = first[:, contact].tolist(), self.before[:, contact].tolist()
        last = end

        def at(time: float) -> float:
            # At the end it is what the block says: another integration need not say the same within tolerances.
            if time == last:
                return wrong(after, force)
            depth, push, _ = self.seen(time, x if time == t else self._state(t, x, time))[:, contact].tolist()
            return wrong(depth, push)

        if wrong(after, force) <= 0:
            if touching or not (before <= 0 and entering > 0 > leaving):
                return None
            # Perhaps it has been in and out: the cubic of depths and rates tells where it was deepest.
            end = _peak(t, before, entering, end, after, leaving)
            if at(end) <= 0:
                return None
        # What has just changed is zero to rounding: it changes again behind where it is right.
        places = (t, *(t + part * (end - t) for part in LATER))
        start = next((place for place in places if at(place) < 0), None)
        return t if start is None else _zero_of(at, start, end)


def _peak(t: float, before: float, entering: float, end: float, after: float, leaving: float) -> float:
    """Where the cubic with these values and slopes at two times is largest between them."""
    h = end - t
    a = h * (entering + leaving) - 2 * (after - before)
    b = 3 * (after - before) - h * (2 * entering + leaving)
    # Of slope 3 a s^2 + 2 b s + h entering; the root at which it falls.
    root = math.sqrt(max(b * b - 3 * a * h * entering, 0.0))
    return t + h * min(max(h * entering / (root - b) if root > b else 0.5, 0.0), 1.0)


def _zero_of(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a function changes its sign, to rounding."""
    from scipy.optimize import brentq

    return float(brentq(function, low, high, xtol=np.spacing(high), rtol=4 * np.finfo(float).eps))
