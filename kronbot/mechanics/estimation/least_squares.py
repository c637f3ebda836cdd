"""Weighted least squares with priors, bounds and robust losses: scipy.optimize.least_squares with exact Jacobians.

Minimized is 1/2 sum rho(e_i^2) + 1/2 sum ((p_j - mean_j) / deviation_j)^2 with e the errors over their sigmas. Priors
are never robust: rho is theirs as it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kronbot.cached import cached_property
from kronbot.floats import Array, all_finite
from kronbot.mechanics.estimation.knowledge import RANK, hearing, seen, triangle
from kronbot.mechanics.estimation.valleys import followed
from kronbot.records import dataclass

Flags = np.ndarray[Any, np.dtype[np.bool_]]
Residuals = Callable[[Array], Array]
# Where robust losses leave the square, in sigmas: 95 % of the efficiency of least squares under Gaussian noise
# (Holland and Welsch 1977).
TUNING = {"linear": 1.0, "huber": 1.345, "cauchy": 2.385}
# Steps of a search, and relative changes of parameters and cost that end it.
STEPS, CHANGE, IMPROVEMENT = 200, 1e-11, 1e-9
# Robust losses approach their least value step by step: what is left of it is many times the last improvement.
STEADY = 1e-2
# The first step without priors, as a share of one that changes all by their scales.
FIRST = 0.02
# What errors hardly feel goes by its own size, so many times as far as what they feel most.
WIDEST = 1.0
# A search crawls that has lost less than this share of its cost in so many steps.
CRAWL, SLOW = 8, 0.5
# A value is at a bound within this share of its scale.
AT_BOUND = 1e-7


@dataclass(frozen=True)
class Beliefs:
    """What is known of parameters before: where to begin, bounds, and priors, of which NaN is none (k,) each."""

    start: Array
    lower: Array
    upper: Array
    mean: Array
    deviation: Array

    @cached_property
    def informed(self) -> Flags:
        """Which have a prior (k,)."""
        return ~np.isnan(self.mean)

    @cached_property
    def scale(self) -> Array:
        """Sizes (k,) of changes that matter alike: the prior's deviation, the width of bounds, the value, or 1."""
        with np.errstate(invalid="ignore"):
            width = self.upper - self.lower
        size = np.where(self.start != 0, np.abs(self.start), 1.0)
        size = np.where(np.isfinite(width), np.minimum(size, width), size)
        return np.where(self.informed, self.deviation, size)

    def at_bound(self, values: Array) -> Flags:
        """Which values (k,) lie on a bound."""
        near = AT_BOUND * self.scale
        return np.asarray((values - self.lower <= near) | (self.upper - values <= near))

    def joined(self, others: Sequence[float]) -> Beliefs:
        """The same and others of which nothing is known but where to begin."""
        none, far = np.full(len(others), np.nan), np.full(len(others), np.inf)
        own = self.start, self.lower, self.upper, self.mean, self.deviation
        more = np.array(others, dtype=float), -far, far, none, none
        return Beliefs(*(np.concatenate(both) for both in zip(own, more, strict=True)))

    def begun(self, start: Array) -> Beliefs:
        """The same with another start, brought within the bounds."""
        return replace(self, start=np.clip(start, self.lower, self.upper))


@dataclass(frozen=True)
class Fit:
    """Where a search ended: values (k,), weighted errors (M,) and their Jacobian (M, k), without priors.

    ``cost`` is what was minimized; ``weights`` (M,) are the shares with which robust losses count squares;
    ``converged`` says that the search ended because nothing changed any more, after so many ``steps`` and tries of one.
    """

    values: Array
    errors: Array
    jacobian: Array
    cost: float
    weights: Array
    converged: bool
    steps: int


class NoStart(ArithmeticError):
    """Squares of errors at the start, or of their derivatives, are not finite."""


class _Crawling(ArithmeticError):
    """A search gets on slowly at some values (k,), after so many steps."""

    def __init__(self, values: Array, steps: int) -> None:
        super().__init__("a search crawls")
        self.values, self.steps = values, steps


def fitted(
    errors: Residuals,
    jacobian: Residuals,
    beliefs: Beliefs,
    loss: str,
    steps: int = STEPS,
    home: Array | None = None,
    accuracy: float = RANK,
) -> Fit:
    """The parameters (k,) with the least cost near the start; ``errors`` (M,) are over their sigmas.

    What neither errors nor priors know is at ``home`` (k,), by default at the start, wherever the search has begun.
    Directions that errors tell less of than a share ``accuracy`` (see :func:`hearing`) are the priors' alone: along
    them no step follows errors.
    Errors that are not finite shorten a step. Where a search crawls it goes on along the floor of the valley that it is
    in. Where no step is left, which may be at once, it ends where it is. Raises NoStart where errors are not finite at
    the start.
    """
    home, used, patient = beliefs.start if home is None else home, 0, loss != "linear"
    while True:
        try:
            found = _descended(errors, jacobian, beliefs, loss, steps - used, home, patient, accuracy)
        except _Crawling as met:
            values, leaps = _along_the_floor(errors, jacobian, beliefs, met.values, accuracy)
            used += met.steps + leaps
            patient = not leaps or steps - used <= CRAWL
            beliefs = beliefs.begun(values)
        else:
            return replace(found, steps=found.steps + used)


def _along_the_floor(
    errors: Residuals, jacobian: Residuals, beliefs: Beliefs, values: Array, accuracy: float
) -> tuple[Array, int]:
    """Values (k,) further along the valley, and in how many steps; none beyond bounds."""
    scale, informed = beliefs.scale, beliefs.informed
    rows = (np.eye(len(scale)) * scale)[informed] / beliefs.deviation[informed, None]

    def whole(x: Array) -> Array:
        at = values + scale * x
        if (at < beliefs.lower).any() or (at > beliefs.upper).any():
            return np.array([np.inf])
        return np.concatenate([errors(at), (at - beliefs.mean)[informed] / beliefs.deviation[informed]])

    def slope(x: Array) -> Array:
        J = jacobian(values + scale * x) * scale
        return np.concatenate([J @ hearing(triangle(J), accuracy), rows])

    x, steps = followed(whole, slope, np.zeros(len(scale)))
    return values + scale * x, steps


def _descended(
    errors: Residuals,
    jacobian: Residuals,
    beliefs: Beliefs,
    loss: str,
    steps: int,
    home: Array,
    patient: bool,
    accuracy: float,
) -> Fit:
    """Where trust regions lead to. Raises _Crawling where they get on slowly, unless one is ``patient``."""
    from scipy.optimize import least_squares  # here, since it takes a quarter of a second

    scale, informed = beliefs.scale, beliefs.informed
    deviations, means = beliefs.deviation[informed], beliefs.mean[informed]
    rows = (np.eye(len(scale)) * scale)[informed] / deviations[:, None]

    evaluated, costs = list[float](), list[float]()  # costs of all points, and of those that were gone on from
    units, first = _steps(_norms(_bounded(jacobian(beliefs.start) * scale)), informed, beliefs.start != 0)

    def whole(x: Array) -> Array:
        values = beliefs.start + scale * (x - first)
        found = np.concatenate([errors(values), (values[informed] - means) / deviations, still])
        evaluated.append(float(found @ found))
        return found

    still = np.zeros(len(scale))
    count = len(_bounded(whole(first))) - len(means) - len(still)

    def slope(x: Array) -> Array:
        J = _bounded(jacobian(beliefs.start + scale * (x - first)) * scale)
        R = triangle(J)
        heard = hearing(R, accuracy)  # what errors do not know stays where it is, not where rounding leads it
        costs.append(evaluated[-1])
        if not patient and len(costs) > CRAWL and costs[-1] > (1 - SLOW) * costs[-1 - CRAWL]:
            raise _Crawling(beliefs.start + scale * (x - first), len(evaluated))
        return np.concatenate([J @ heard, rows, _holding(np.concatenate([R @ heard, rows]))])

    def rho(squares: Array) -> Array:
        told = np.array([squares, np.ones_like(squares), np.zeros_like(squares)])
        told[:, :count] = _rho(squares[:count], loss)
        return told

    low, high = (
        np.where(np.isfinite(b), first + (b - beliefs.start) / scale, b) for b in (beliefs.lower, beliefs.upper)
    )
    found = least_squares(
        whole, first, slope, (low, high), x_scale=units, ftol=IMPROVEMENT * (1.0 if loss == "linear" else STEADY),
        xtol=CHANGE, gtol=None, loss="linear" if loss == "linear" else rho, max_nfev=max(1, steps),
    )  # fmt: skip
    values = beliefs.start + scale * (found.x - first)
    J = jacobian(values)
    # What was more than rounding on the way only goes back. It moves no error, and no derivative of one: a search may
    # begin where a number is all but 0 that was larger at home.
    whole_way = np.maximum(scale, beliefs.begun(home).scale)
    values = np.where(seen(_norms(J * whole_way)) | informed, values, home)
    last = errors(values)
    return Fit(values, last, J, float(found.cost), counted(last, loss), found.status > 0, int(found.nfev))


def _holding(J: Array) -> Array:
    """Rows (k, k) beside those of J (M, k) that make its rank full: what it does not tell stays where it is.

    They are the directions, by columns of norm 1, along which J is rounding. Their errors are 0 wherever a search is:
    without them a step goes as far along such a direction as it may, to where numbers lose their digits.
    """
    norms = _norms(J)
    told = seen(norms) & (norms > 0)
    rows = np.zeros((len(norms), len(norms)))
    rows[~told, ~told] = norms.max(initial=0.0) or 1.0
    if told.any():
        R = np.asarray(np.linalg.qr(J[:, told] / norms[told], mode="r"))
        _, sizes, V = np.linalg.svd(all_finite(R))
        sizes = np.concatenate([sizes, np.zeros(len(V) - len(sizes))])
        blind = sizes <= RANK * sizes[0]
        rows[np.ix_(np.flatnonzero(told)[blind], told)] = V[blind] * norms[told]
    return rows


def _steps(norms: Array, informed: Flags, sized: Flags) -> tuple[Array, Array]:
    """What lengths of steps are measured by (k,), and the first ``x`` (k,), whose distance from 0 is the longest first.

    Where there are priors it is one deviation of each. Measured by what errors feel of them, steps that are cut short
    would leave the priors along what the data hardly tell, and the way back leads through a curved valley. Without a
    prior a parameter counts as those with one do that errors feel as much of. Without any it counts as errors feel it,
    and those that they hardly feel count by their values, which ``sized`` ones have: else these would be the first to
    change their signs. ``norms`` (k,) are of columns at first.
    """
    known = informed if informed.any() else seen(norms)
    typical = np.sqrt(np.mean(norms[known] ** 2)) if known.any() else 0.0
    units = np.ones(len(norms))
    felt = ~informed & seen(norms) & (typical > 0)
    units[felt] = typical / norms[felt]
    if informed.any():
        return units, units
    units[sized] = np.minimum(units[sized], WIDEST)
    return units, FIRST * units


def solved(errors: Residuals, jacobian: Residuals, beliefs: Beliefs) -> Fit:
    """The same where errors are linear in the parameters, without bounds and losses: one linear least squares.

    Of what data and priors leave open it takes the values nearest to the start, by scaled parameters.
    """
    scale, informed, start = beliefs.scale, beliefs.informed, beliefs.start
    rows = np.eye(len(scale))[informed] / beliefs.deviation[informed, None]
    e = np.concatenate([errors(start), (start - beliefs.mean)[informed] / beliefs.deviation[informed]])
    _bounded(e)
    J = _bounded(np.concatenate([jacobian(start), rows]))
    values = start.copy()
    for _ in range(2):  # the second one takes away what rounding has left
        R = triangle(J, e)
        norms = _norms(R[:, :-1] * scale)
        told = seen(norms)
        scaled = R[:, :-1][:, told] * (scale[told] / norms[told])
        step = np.linalg.lstsq(all_finite(scaled), all_finite(-R[:, -1]), rcond=RANK)[0]
        values[told] += scale[told] * step / norms[told]
        e = np.concatenate([errors(values), (values - beliefs.mean)[informed] / beliefs.deviation[informed]])
    last = errors(values)
    return Fit(values, last, jacobian(values), float(e @ e) / 2, np.ones(len(last)), True, 2)


def _bounded(values: Array) -> Array:
    """The values. Raises NoStart where their squares are too many or too large for a sum."""
    with np.errstate(all="ignore"):
        if not np.isfinite((values**2).sum()):
            raise NoStart("squares are too large")
    return values


def _norms(J: Array) -> Array:
    """Of the columns (k,)."""
    return np.asarray(np.sqrt((J**2).sum(axis=0)))


def counted(errors: Array, loss: str) -> Array:
    """The shares (M,) with which a loss counts squares of errors in sigmas."""
    return np.asarray(_rho(errors**2, loss)[1])


def _rho(squares: Array, loss: str) -> Array:
    """rho of squares of errors in sigmas and its two derivatives (3, M)."""
    if loss == "linear":
        return np.array([squares, np.ones_like(squares), np.zeros_like(squares)])
    size = TUNING[loss] ** 2
    z = squares / size
    if loss == "cauchy":
        return np.array([size * np.log1p(z), 1 / (1 + z), -1 / (size * (1 + z) ** 2)])
    root, inside = np.sqrt(np.maximum(z, 1.0)), z <= 1
    return np.array(
        [
            np.where(inside, squares, size * (2 * root - 1)),
            np.where(inside, 1.0, 1 / root),
            np.where(inside, 0.0, -0.5 / (size * root**3)),
        ]
    )


def starts(beliefs: Beliefs, count: int, seed: int) -> Array:
    """Where searches begin (count, k): the start itself, then scrambled Sobol points of priors, bounds, or the scale.

    A prior's points are those of its normal distribution; bounds on both sides are filled evenly, a parameter without
    either is looked for within its scale around the start.
    """
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
