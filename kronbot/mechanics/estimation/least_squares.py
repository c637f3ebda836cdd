"""Weighted least squares with priors, bounds and robust losses: scipy.optimize.least_squares with exact Jacobians.

Minimized is 1/2 sum rho(e_i^2) + 1/2 sum ((p_j - mean_j) / deviation_j)^2 with e the errors over their sigmas. Priors
are never robust: rho is theirs as it stands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from kronbot.floats import Array, all_finite
from kronbot.mechanics.estimation.beliefs import Beliefs, Flags
from kronbot.mechanics.estimation.knowledge import RANK, hearing, seen, triangle
from kronbot.mechanics.estimation.losses import counted, rho
from kronbot.mechanics.estimation.valleys import followed
from kronbot.records import dataclass

Residuals = Callable[[Array], Array]
# Steps of a search, and relative changes of parameters and cost that end it.
STEPS, CHANGE, IMPROVEMENT = 200, 1e-11, 1e-9
# Robust losses approach their least value step by step: what is left of it is many times the last improvement.
STEADY = 1e-2
# The first step without priors, as a share of one that changes all by their scales.
FIRST = 0.02
# Bounds so many scales from the start are none: trust regions are shaped by how far they are.
FAR = 1e12
# What errors hardly feel goes by its own size, so many times as far as what they feel most.
WIDEST = 1.0
# Scales of a start that are so many times those of where a search has ended were no measure of what matters there.
SHRUNK = 1e4
# A search crawls that has lost less than this share of its cost in so many steps.
CRAWL, SLOW = 8, 0.5
# Standard errors by which derivatives may still want to move a search that has ended. Else shorter and shorter steps,
# each that share of the one before, are tried for that share of the improvement that derivatives promise.
SETTLED, SHORTER, TRIES, KEPT = 0.1, 0.25, 6, 0.1


@dataclass(frozen=True)
class Fit:
    """Where a search ended: values (k,), weighted errors (M,) and their Jacobian (M, k), without priors.

    ``cost`` is what was minimized; ``weights`` (M,) are the shares with which robust losses count squares;
    ``converged`` says that the search ended because nothing changed any more, after so many ``steps`` and tries of one,
    and where its derivatives want it to. Where these promise more, and no step that they name keeps that, ``promised``
    is the share of the cost.
    """

    values: Array
    errors: Array
    jacobian: Array
    cost: float
    weights: Array
    converged: bool
    steps: int
    promised: float = 0.0


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
    in. Where it ends though derivatives promise more it goes on from where these lead to, if that is better. Where no
    step is left, which may be at once, it ends where it is. Raises NoStart where errors are not finite at the start.
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
            used += found.steps
            anew = beliefs.begun(found.values)
            if found.converged and used < steps and (beliefs.scale > SHRUNK * anew.scale).any():
                beliefs = anew
                continue
            step, share = _wanted(found, beliefs, accuracy) if found.converged else (found.values, 0.0)
            if not share:
                return replace(found, steps=used)
            values, tries = _further(errors, beliefs, loss, found, step, share)
            used += tries
            if np.array_equal(values, found.values):
                return replace(found, converged=False, steps=used, promised=share)
            beliefs = beliefs.begun(values)


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

    def of_errors(squares: Array) -> Array:
        told = np.array([squares, np.ones_like(squares), np.zeros_like(squares)])
        told[:, :count] = rho(squares[:count], loss)
        return told

    low, high = (
        np.where(np.abs(b - beliefs.start) < FAR * scale, first + (b - beliefs.start) / scale, none)
        for b, none in ((beliefs.lower, -np.inf), (beliefs.upper, np.inf))
    )
    found = least_squares(
        whole, first, slope, (low, high), x_scale=units, ftol=IMPROVEMENT * (1.0 if loss == "linear" else STEADY),
        xtol=CHANGE, gtol=None, loss="linear" if loss == "linear" else of_errors, max_nfev=max(1, steps),
    )  # fmt: skip
    values = beliefs.start + scale * (found.x - first)
    J = jacobian(values)
    # What was more than rounding on the way only goes back. It moves no error, and no derivative of one: a search may
    # begin where a number is all but 0 that was larger at home.
    norms = _norms(J)
    told = seen(norms * np.maximum(scale, beliefs.begun(home).scale), norms * beliefs.begun(values).scale)
    values = np.where(told | informed, values, home)
    last = errors(values)
    return Fit(values, last, J, float(found.cost), counted(last, loss), found.status > 0, int(found.nfev))


def _wanted(fit: Fit, beliefs: Beliefs, accuracy: float) -> tuple[Array, float]:
    """The Gauss-Newton step (k,) where a search has ended, and the share of the cost that it takes away: the square of
    the cosine between errors and what parameters away from bounds can change.

    It is cut at bounds and where it changes a parameter by more than its size, or than the way to its prior. It is
    none, and the share 0, where it is at most SETTLED standard errors, sigmas being those of the errors where these are
    larger, and where it changes errors by less than their ``accuracy``, a share of what changing a parameter by its
    scale does.
    """
    values, J, root, informed = fit.values, fit.jacobian * beliefs.scale, np.sqrt(fit.weights), beliefs.informed
    free = np.flatnonzero(~beliefs.at_bound(values))
    rows = (np.eye(len(values)) * beliefs.scale)[informed] / beliefs.deviation[informed, None]
    whole = np.concatenate([J @ hearing(triangle(J), accuracy) * root[:, None], rows])[:, free]
    e = np.concatenate([fit.errors * root, (values - beliefs.mean)[informed] / beliefs.deviation[informed]])
    step, norms = np.zeros(len(values)), _norms(whole)
    told = seen(norms) & (norms > 0)
    if not told.any():
        return step, 0.0
    R = triangle(whole[:, told] / norms[told], e)
    x = np.linalg.lstsq(all_finite(R[:, :-1]), all_finite(R[:, -1]), rcond=RANK)[0]
    step[free[told]] = -x / norms[told] * beliefs.scale[free[told]]
    moving, largest = step != 0, np.maximum(np.abs(values), beliefs.scale)
    largest[informed] = np.maximum(largest, np.abs(values - beliefs.mean))[informed]
    room = np.minimum(np.where(step > 0, beliefs.upper - values, values - beliefs.lower), largest)[moving]
    part = float(np.min(room / np.abs(step[moving]), initial=1.0))
    size, moved, freedom = float(e @ e), float(np.linalg.norm(R[:, :-1] @ x)), max(len(e) - int(told.sum()), 1)
    least = max(SETTLED * max(1.0, (size / freedom) ** 0.5), accuracy * float(_norms(J).max()))
    if part * moved <= least:
        return 0 * step, 0.0
    return part * step, part * (2 - part) * moved**2 / size


def _further(errors: Residuals, beliefs: Beliefs, loss: str, fit: Fit, step: Array, share: float) -> tuple[Array, int]:
    """Values (k,) of a part of a step that keeps what is promised of it, those of the fit where none does, and after
    how many tries."""
    informed = beliefs.informed
    for count in range(TRIES):
        part = SHORTER**count
        values = fit.values + part * step
        found, known = errors(values), (values - beliefs.mean)[informed] / beliefs.deviation[informed]
        cost = float(rho(found**2, loss)[0].sum() + known @ known) / 2
        if fit.cost - cost >= KEPT * part * share * fit.cost:
            return values, count + 1
    return fit.values, TRIES


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
    informed, start = beliefs.informed, beliefs.start
    rows = np.eye(len(start))[informed] / beliefs.deviation[informed, None]
    e = np.concatenate([errors(start), (start - beliefs.mean)[informed] / beliefs.deviation[informed]])
    _bounded(e)
    J = _bounded(np.concatenate([jacobian(start), rows]))
    values = start.copy()
    steps, size, before = 0, np.inf, None
    # Each takes away what rounding of the one before has left, by sizes that are no longer those of the start.
    while steps < STEPS:
        scale, R, steps = beliefs.begun(values).scale, triangle(J, e), steps + 1
        norms = _norms(R[:, :-1] * scale)
        told = seen(norms)
        scaled = R[:, :-1][:, told] * (scale[told] / norms[told])
        step = np.linalg.lstsq(all_finite(scaled), all_finite(-R[:, -1]), rcond=RANK)[0]
        values[told] += scale[told] * step / norms[told]
        e = np.concatenate([errors(values), (values - beliefs.mean)[informed] / beliefs.deviation[informed]])
        old, size = size, float(np.linalg.norm(e))
        if before is not None and size > old / 2 and (told == before).all():
            break
        before = told
    last = errors(values)
    return Fit(values, last, jacobian(values), float(e @ e) / 2, np.ones(len(last)), True, steps)


def _bounded(values: Array) -> Array:
    """The values. Raises NoStart where their squares are too many or too large for a sum."""
    with np.errstate(all="ignore"):
        if not np.isfinite((values**2).sum()):
            raise NoStart("squares are too large")
    return values


def _norms(J: Array) -> Array:
    """Of the columns (k,)."""
    return np.asarray(np.sqrt((J**2).sum(axis=0)))
