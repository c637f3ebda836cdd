"""What is known of parameters before they are looked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kronbot.cached import cached_property
from kronbot.floats import Array
from kronbot.records import dataclass
from kronbot.system.importing import whole_imports

Flags = np.ndarray[Any, np.dtype[np.bool_]]
# A value is at a bound within this share of its scale.
AT_BOUND = 1e-7
# Scales are between these shares of the changes that errors at the start feel as much as they are.
LEAST, MOST = 1e-6, 1e6


@dataclass(frozen=True)
class Beliefs:
    """What is known of parameters before: where to begin, bounds, and priors, of which NaN is none (k,) each.

    ``felt`` are changes that move weighted errors by as much as these are at first: infinite where nobody has measured.
    """

    start: Array
    lower: Array
    upper: Array
    mean: Array
    deviation: Array
    felt: Array | float = np.inf

    @cached_property
    def informed(self) -> Flags:
        """Which have a prior (k,)."""
        return ~np.isnan(self.mean)

    @cached_property
    def scale(self) -> Array:
        """Sizes (k,) of changes that matter alike: the prior's deviation, the width of bounds, the value, or 1.

        A value all but 0, of which errors feel nothing, is none, and priors that are far wider than what they feel, or
        than their numbers have digits, tell no size.
        """
        with np.errstate(invalid="ignore"):
            width = self.upper - self.lower
        width = np.where(np.isfinite(width), width, np.inf)
        own = np.maximum(np.abs(self.start), np.nan_to_num(np.abs(self.mean)))
        widest = MOST * np.minimum(self.felt, np.where(own > 0, own, np.inf))
        least = np.where(np.isfinite(self.felt), np.minimum(LEAST * self.felt, 1.0), 0.0)
        size = np.maximum(np.where(self.start != 0, np.abs(self.start), 1.0), least)
        return np.where(self.informed, np.minimum(self.deviation, widest), np.minimum(size, width))

    def at_bound(self, values: Array) -> Flags:
        """Which values (k,) lie on a bound."""
        near = AT_BOUND * self.scale
        return np.asarray((values - self.lower <= near) | (self.upper - values <= near))

    def landed(self, values: Array) -> Array:
        """The values (k,), those that lie on a bound exactly there."""
        nearest = np.where(values - self.lower <= self.upper - values, self.lower, self.upper)
        return np.asarray(np.where(self.at_bound(values), nearest, values))

    def joined(self, others: Sequence[float]) -> Beliefs:
        """The same and others of which nothing is known but where to begin."""
        none, far = np.full(len(others), np.nan), np.full(len(others), np.inf)
        own = self.start, self.lower, self.upper, self.mean, self.deviation
        more = np.array(others, dtype=float), -far, far, none, none
        return Beliefs(*(np.concatenate(both) for both in zip(own, more, strict=True)))

    def measured(self, errors: Array, jacobian: Array) -> Beliefs:
        """The same by weighted errors (M,) at the start, of one where they are less, and their Jacobian (M, k)."""
        with np.errstate(all="ignore"):
            size = max(float(np.linalg.norm(errors)), len(errors) ** 0.5)
            return replace(self, felt=size / np.sqrt((jacobian**2).sum(axis=0)))

    def begun(self, start: Array) -> Beliefs:
        """The same with another start, brought within the bounds."""
        return replace(self, start=np.clip(start, self.lower, self.upper))


def starts(beliefs: Beliefs, count: int, seed: int) -> Array:
    """Where searches begin (count, k): the start itself, then scrambled Sobol points of priors, bounds, or the scale.

    A prior's points are those of its normal distribution; bounds on both sides are filled evenly, a parameter without
    either is looked for within its scale around the start.
    """
    with whole_imports():
        from scipy.special import ndtri
        from scipy.stats import qmc

    power = max(int(np.ceil(np.log2(max(count - 1, 1)))), 0)
    shares = qmc.Sobol(len(beliefs.start), seed=seed).random_base2(power)[: count - 1]
    shares = np.clip(shares, 1e-9, 1 - 1e-9)
    bounded = np.isfinite(beliefs.lower) & np.isfinite(beliefs.upper)
    low = np.where(bounded, beliefs.lower, beliefs.start - beliefs.scale)
    high = np.where(bounded, beliefs.upper, beliefs.start + beliefs.scale)
    points = low + shares * (high - low)
    drawn = beliefs.mean + beliefs.deviation * ndtri(shares)
    points = np.where(beliefs.informed, drawn, points)
    return np.asarray(np.clip(np.concatenate([beliefs.start[None], points]), beliefs.lower, beliefs.upper))
