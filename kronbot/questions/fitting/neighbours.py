"""Errors that follow one another along records, as in a local minimum: standard errors do not hold for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from kronbot.description.wording import listing
from kronbot.floats import Array, all_finite
from kronbot.mechanics.estimation.knowledge import following
from kronbot.questions.fitting.noise import alike
from kronbot.questions.fitting.search import Search, read
from kronbot.questions.fitting.sorting import Sorted
from kronbot.questions.fitting.words import below_one

# Standard errors that are so many times too small want a word.
MORE = 1.5
# Errors of runs are below this share of a column's range, or below a size: a thousand times the tolerances of 1e-8 that
# data and fits keep to in a step, as steps add up, and ten times that of 1e-10 where nothing moves.
OF_RUNS, LEAST = 1e-5, 1e-9
# Columns of a matrix whose singular values are below this share of the largest are one with others.
SAME = 1e-9


def neighbours(search: Search) -> Iterator[str]:
    """Columns whose errors are correlated along records, how much too small standard errors are, and what helps.

    With a correlation r of neighbours, which fades by r from row to row, N errors tell as much as N (1 - r)/(1 + r)
    independent ones, and as one at least. Noise of first rows that are taken as exact is in all others and is told
    elsewhere: columns count whose errors are correlated without what it may lead to, too. Noise of joints that are
    differentiated alternates along the rows that are compared.
    """
    told, differentiated = search.told, search.inquiry.differentiate is not None
    if not search.found.converged or (told.records is None and not differentiated):
        return
    weighted = search.found.errors * np.sqrt(search.found.weights)
    found = _correlated(search, weighted, search.knowledge.leverage())
    if alternating := {name: r for name, (r, _) in found.items() if r < 0}:
        yield (
            f"errors of {listing(alternating)} alternate along the rows, neighbours with a correlation of "
            f"{min(alternating.values()):.2g}, as noise of joints does that is differentiated: standard errors hold "
            "for independent errors, and are too large"
        )
        found = {name: each for name, each in found.items() if name not in alternating}
    states = {name for names in search.robot.derivative_names(["q", "qd"]).values() for name in names}
    if found and search.inquiry.initial == "rows" and not states.isdisjoint(told.compared):
        left = _correlated(search, *_beside_first_rows(search, weighted))
        found = {name: each for name, each in found.items() if name in left}
    if not found:
        return
    (r, times), inquiry = np.max([*found.values()], axis=0), search.inquiry
    starts = "several starts (starts: 8)" if inquiry.starts == 1 else "more starts or another seed"
    lacks = "what the model lacks"
    helps = lacks if search.direct else f"{starts}, where this is a local minimum, else {lacks}"
    yield (
        f"errors of {listing(found)} follow one another along records, neighbours with a correlation of "
        f"{below_one(r)}: standard errors hold for independent errors, and are up to some {times:.2g} times too small; "
        f"what helps: {helps}"
    )


def _correlated(search: Search, errors: Array, leverages: Array) -> dict[str, tuple[float, float]]:
    """By column whose weighted errors (M,) are correlated how much, and how many times too small standard errors are.

    Where sigma is given, errors far below it are no matter.
    """
    told, present, found = search.told, search.present, {}
    along = np.zeros(len(told.rows)) if told.records is None else told.records
    column = np.nonzero(present)[1]
    for i, smallest in enumerate(_of_runs(told) / search.noise.sigma):
        own, records = errors[column == i], along[present[:, i]]
        rms = float(np.sqrt(own @ own / max(len(own), 1)))
        if rms > smallest:
            r = following(own, leverages[column == i], records)
            times = rms * float(np.sqrt((1 + r) / max(1 - r, 2 / len(own))))
            if (r > 0 and times > MORE) or (told.records is None and (1 + r) * MORE**2 < 1 - r):
                found[told.columns[i].name] = r, times
    return found


def _of_runs(told: Sorted) -> Array:
    """Errors (columns,) that runs may make, by the largest range among the axes of a thing."""
    ranges = [float(np.ptp(y[~np.isnan(y)])) if not np.isnan(y).all() else 0.0 for y in told.measured.T]
    things = [alike(column) for column in told.columns]
    largest = [max(r for r, each in zip(ranges, things, strict=True) if each == thing) for thing in things]
    return OF_RUNS * np.array(largest) + LEAST


def _beside_first_rows(search: Search, weighted: Array) -> tuple[Array, Array]:
    """Errors and leverages (M,) that a fit would leave, linearly, that finds where the records begin, too."""
    inquiry, told = search.inquiry, search.told
    assert inquiry.data is not None, "rows are wanted"
    answers, whole = read(search.variation, inquiry.data, replace(inquiry, initial="fitted"), inquiry.only)
    answers = answers.of(np.flatnonzero(np.isin(whole.rows, told.rows)))
    values = np.array([*search.found.values, *answers.beside.values()])
    slopes = answers.jacobian(values)[:, len(search.found.values) :] * search.weights[:, None]
    J = np.concatenate([search.found.jacobian, slopes], axis=1) * np.sqrt(search.found.weights)[:, None]
    norms = np.sqrt((J**2).sum(axis=0))
    moving = (norms > 0) & np.isfinite(norms)
    U, sizes, _ = np.linalg.svd(all_finite(J[:, moving] / norms[moving]), full_matrices=False)
    U = U[:, sizes > SAME * sizes.max(initial=0.0)]
    return weighted - U @ (U.T @ weighted), np.asarray((U**2).sum(axis=1))
