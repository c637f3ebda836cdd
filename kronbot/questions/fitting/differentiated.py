"""Rates and accelerations of rows that hold coordinates alone: a filter without delay, then a spline's derivatives.

Torques pass the same filter, computed and measured ones (:mod:`kronbot.questions.fitting.smoothed`).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from kronbot.description.wording import listing, quote
from kronbot.errors import Argument, UsageError
from kronbot.floats import Array
from kronbot.model.robot import Robot
from kronbot.questions.fitting.columns import torques
from kronbot.questions.fitting.data import Columns, Named
from kronbot.questions.fitting.smoothed import ORDER, Filter

# Of the splines whose derivatives are taken.
DEGREE = 5
# Periods of the cut-off after which the filter has forgotten an end: exp(-0.38 2 pi PERIODS).
PERIODS = 4
# Steps of time are even within this share of one.
EVEN = 0.01
# What rows without them are.
AT_ENDS = "near the ends of a record, where derivatives are not taken"


def differentiated(robot: Robot, named: Named, cutoff: float) -> tuple[Named, Filter]:
    """A table with rates and accelerations of its coordinates, filtered, and the filter; ``cutoff`` is in Hz.

    Rows nearer to an end of a record than four periods of the cut-off have none; within two more nothing is compared.
    Raises UsageError for rates that are there, times that are not even, cells that are empty, and records that are too
    short.
    """
    name_of = robot.derivative_names(["q", "qd", "qdd"])
    rates = dict(zip(name_of["q"], zip(name_of["qd"], name_of["qdd"], strict=True), strict=True))
    alias = {f"angle.{joint.name}": robot.coordinates[joint.driven] for joint in robot.joints}
    where = named.table.name
    there = [name for pair in rates.values() for name in pair if name in named.names]
    if there:
        raise UsageError(f"{where}: {quote(there[0])} is there already; leave it out, or ", Argument("differentiate"))
    moved = [name for name in named.names if name in rates or name in alias]
    if not moved or "t" not in named.names:
        raise UsageError(
            f"{where}: a column t, the time in s, and coordinates are wanted by ", Argument("differentiate")
        )
    kept = [name for name in named.names if name in torques(robot)]
    records = ["record"] if "record" in named.names else []
    found = named.numbers(["t", *records, *moved, *kept])
    for name in ("t", *moved, *kept):
        if np.isnan(found[name]).any():
            empty = np.flatnonzero(np.isnan(found[name])).tolist()
            rows = listing(str(row + 1) for row in empty)
            told = f"{name} is empty in row {rows}: a filter wants all rows of a record"
            raise named.table.mistaken({name: told}, {name: empty[0]})
    t, new = found["t"], {name: found[name].copy() for name in (*moved, *kept)}
    passing = Filter(cutoff, np.zeros(len(t)))
    for name in moved:
        new |= {each: np.full(len(t), np.nan) for each in rates[alias.get(name, name)]}
    numbers = found["record"] if records else np.zeros(len(t))
    for begin, end in pairwise([0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), len(t)]):
        rate, edge = _edge(t[begin:end], passing, f"{where}, rows {begin + 1} to {end}")
        inside, passing.rates[begin:end] = slice(begin + edge, end - edge), rate
        for name in moved:
            new[name][begin:end] = passing(found[name][begin:end], rate)
            curve = _spline(t[begin:end], new[name][begin:end])
            for order, each in enumerate(rates[alias.get(name, name)], 1):
                new[each][inside] = curve(t[inside], order)
    return Named(Columns(new, named.table.name), {}, AT_ENDS), passing


def _edge(t: Array, passing: Filter, where: str) -> tuple[float, int]:
    """How many rows a second there are, and how many at either end are left out."""
    steps, cutoff = np.diff(t), passing.cutoff
    if not len(steps) or not (steps > 0).all() or np.ptp(steps) > EVEN * steps.mean():
        raise UsageError(f"{where}: even steps of t are wanted by ", Argument("differentiate"))
    rate = 1 / float(steps.mean())
    if not cutoff < rate / 2:
        raise UsageError(Argument("differentiate"), f" must be below half the rate of the rows, {rate / 2:.4g} Hz")
    edge = np.ceil(PERIODS * rate / cutoff)  # infinite where the cut-off is next to nothing
    least = 2 * (edge + (passing.end(rate) if np.isfinite(edge) else 0)) + 6 * ORDER
    if len(t) < least:
        raise UsageError(
            f"{where}: {len(t)} rows are too short for a cut-off of {cutoff:g} Hz at {rate:.4g} rows a second, which "
            f"wants {least:.12g} rows ({least / rate:.4g} s) or more; a higher cut-off wants fewer"
        )
    return rate, int(edge)


def _spline(t: Array, values: Array) -> Any:
    from scipy.interpolate import make_interp_spline

    return make_interp_spline(t, values, k=DEGREE)
