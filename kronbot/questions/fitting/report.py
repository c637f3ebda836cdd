"""What a fit answers with: estimates, what is known of them, and how far measurements are from what is computed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from kronbot.compute.arrays import NamedArray, Scalar
from kronbot.description.compliance import rigid
from kronbot.description.described import with_overrides
from kronbot.description.wording import counted, listing
from kronbot.errors import DescriptionError
from kronbot.floats import Array
from kronbot.mechanics.estimation.knowledge import outlying, unlikely
from kronbot.questions.fitting.columns import Column
from kronbot.questions.fitting.neighbours import neighbours
from kronbot.questions.fitting.search import Search
from kronbot.questions.fitting.sorting import Sorted
from kronbot.questions.fitting.units import POOR, poor
from kronbot.questions.fitting.words import ambiguous, correlated, leaning, sum_of, uncertain
from kronbot.questions.result import Result
from kronbot.records import dataclass

PURPOSE = "fit"
# Of a measured column, and whether they have its unit.
QUALITY = {"count": "", "mean": "1", "rms": "1", "largest": "1", "R2": "", "sigma": "1"}
# Errors this many times what sigma says want a word.
MORE = 1.5
# A share of the numbers of a column that is their rounding.
ROUNDING = 1e-15


@dataclass(frozen=True)
class Fitted:
    """What draws a robot as it was fitted to a question.

    ``points`` are by measured column the frames of which it is a coordinate. Of rows (N,) of the data, of which some
    were ``fitted`` and others validate, it has the coordinates q (N, n) with what was found, and what was ``given``
    there by name.
    """

    question: str
    points: Mapping[str, str]
    rows: npt.NDArray[np.intp]
    fitted: npt.NDArray[np.bool_]
    q: Array
    given: Mapping[str, Array]


def report(search: Search, complete: bool) -> Result:
    """The answer of a search that has ended."""
    names, found, knowledge = search.inquiry.names, search.found, search.knowledge
    fitted_errors = search.unweighted
    leverages = search.leverages
    freedom = len(found.errors) - knowledge.rank
    spread = float(np.sum(found.weights * found.errors**2))
    known = [i for i in range(len(names)) if np.isfinite(knowledge.errors[i])]
    values = np.array([search.inquiry.beliefs.start, search.estimates]).T
    arrays = {"estimates": NamedArray(values, names, "", ("start", "estimate"))}
    arrays["standard_errors"] = NamedArray(knowledge.errors[known], [names[i] for i in known], "")
    if len(known) > 1:
        labels = [names[i] for i in known]
        arrays["correlations"] = NamedArray(knowledge.correlations[np.ix_(known, known)], labels, "1", labels)
    numbers = [str(i + 1) for i in range(len(knowledge.singular_values))]
    arrays["singular_values"] = NamedArray(knowledge.singular_values, numbers, "1")
    groups = knowledge.ambiguities
    combinations = [each for group in groups for each in group.known]
    if combinations:
        rows = np.zeros((len(combinations), len(names)))
        for row, each in zip(rows, combinations, strict=True):
            row[list(each.places)] = each.shares
        sums = [sum_of(each, names) for each in combinations]
        arrays["combinations"] = NamedArray(rows, sums, "", names)
        known_of = np.column_stack([rows @ search.estimates, [knowledge.error(each) for each in combinations]])
        arrays["combined"] = NamedArray(known_of, sums, "", ("estimate", "standard_error"))
    arrays["residuals"] = _quality(search, search.told, fitted_errors)
    if len(search.tried) > 1:
        costs = np.array([[cost, float(well)] for cost, well in search.tried if np.isfinite(cost)])
        starts = [str(i + 1) for i in range(len(costs))]
        arrays["searches"] = NamedArray(costs, starts, "", ("cost", "converged"))
    series = _long(search.told, fitted_errors, leverages, search.noise.sigma, False)
    summary: dict[str, Scalar] = {
        "question": search.inquiry.question,
        "complete": complete,
        "rows": len(search.told.rows),
        "measurements": len(found.errors),
        "parameters": len(names),
        "rank": knowledge.rank,
        "degrees_of_freedom": freedom,
        "chi_square": spread,
        "loss": search.inquiry.loss,
        "solved_at_once": search.direct,
        "evaluations": search.evaluations,
    }
    if freedom > 0:
        summary["noise_factor"] = search.noise.scale(found.errors, freedom)
    if search.check is not None:
        answers, told = search.check
        errors = answers.errors(search.judged)
        lost = np.asarray((~np.isfinite(errors) & ~np.isnan(told.measured)).any(axis=1))
        summary["validation_rows"] = int((~lost).sum())
        if lost.any():
            search.notes.append(f"no answer in rows {listing(map(str, told.rows[lost]))} of the validation")
        errors = np.where(lost[:, None], np.nan, errors)
        arrays["validation"] = _quality(search, told, errors)
        there = ~np.isnan(errors)
        if there.any():
            scaled = (errors / search.noise.sigma)[there]
            summary["validation_noise_factor"] = search.noise.scale(scaled, len(scaled))
            more = _long(told, errors, np.zeros_like(errors), search.noise.sigma, True)
            series = {name: np.concatenate([series[name], more[name]]) for name in series}
    meant = search.meant if poor(fitted_errors, search.told.measured) > POOR else []
    warnings = [*search.notes, *meant, *_doubts(search, freedom)]
    drawn = {column.name: column.point for column in search.told.columns if column.point}
    by_name = dict(zip(names, search.estimates.tolist(), strict=True))
    at = {"parameters": {name: by_name[name] for name in search.variation.names}}
    if beside := {name: by_name[name] for name in search.answers.beside}:
        at["start"] = beside
    return Result(
        PURPOSE, search.robot.name, search.robot.order, at, arrays, series, summary, warnings,
        about=search.robot, asked=_fitted(search, drawn) if drawn else None,
    )  # fmt: skip


def _fitted(search: Search, points: Mapping[str, str]) -> Fitted:
    """The postures of the rows, those that validate behind the others."""
    values, told = search.found.values, search.told
    rows, q, given = told.rows, search.answers.postures(values), told.inputs
    if search.check is not None:
        answers, more = search.check
        rows, q = np.concatenate([rows, more.rows]), np.concatenate([q, answers.postures(search.judged)])
        none = np.zeros(len(more.rows))
        given = {name: np.concatenate([each, more.inputs.get(name, none)]) for name, each in given.items()}
    return Fitted(search.inquiry.question, points, rows, np.arange(len(rows)) < len(told.rows), q, given)


def _doubts(search: Search, freedom: int) -> Iterator[str]:
    """What should be looked at."""
    names, knowledge, found = search.inquiry.names, search.knowledge, search.found
    if freedom <= 0:
        yield f"{len(found.errors)} measurements determine {knowledge.rank} combinations and leave nothing to judge by"
    by_name = dict(zip(search.variation.names, map(repr, search.estimates.tolist()), strict=False))
    try:
        described, before = with_overrides(search.robot.description, by_name), rigid(search.robot.description)
        if still := [name for name in rigid(described) if name not in before]:
            yield f"with a compliance of 0 all but statics have no {listing(still)}: leave out what names it"
    except DescriptionError as error:
        yield f"no robot has these estimates, give them bounds: {listing(map(str, error.mistakes))}"
    held = [names[i] for i in sorted(knowledge.held)]
    if held:
        yield f"at a bound: {listing(held)}; errors are those of the others, with these held"
    yield from dict.fromkeys(search.answers.doubts(found.values))  # each once, of whatever part of the rows
    yield from ambiguous(knowledge.ambiguities, names, bool(search.inquiry.beliefs.informed.any()))
    yield from correlated(knowledge, names)
    yield from leaning(knowledge, names)
    for name, count, left in search.noise.doubtful(search.unweighted, search.leverages) if freedom > 0 else ():
        rest = f"{counted(count, 'measurement')}, of which the fit leaves {max(round(left, 3), 0.0):.2g}"
        yield f"the noise of {name} is judged by {rest}: errors may be far larger, give it a sigma"
    of = slice(len(search.variation.names))  # a start that is 0 but for its error is no doubt
    yield from uncertain(search.inquiry.beliefs.start[of], found.values[of], knowledge.errors[of], names[of])
    factor = search.noise.scale(found.errors, freedom) if freedom > 0 else 1.0
    if factor > MORE and not search.noise.groups and unlikely(factor, freedom):
        yield f"errors are {factor:.3g} times what sigma says: the model, or sigma, is not that good"
    elif freedom > 0:
        yield from neighbours(search)
    row, _ = np.nonzero(search.present)
    leverage = search.leverages[search.present]
    if freedom > 0:
        out = outlying(found.errors / max(factor, 1.0), leverage, search.told.rows[row])
        if out:
            yield f"outlying rows: {listing(map(str, out))}"


def _quality(search: Search, told: Sorted, errors: Array) -> NamedArray:
    """By measured column how far it is from what is computed, R2 against its own mean, and its sigma."""
    rows, columns = [], list[Column]()
    for i, column in enumerate(told.columns):
        e, y = errors[:, i], told.measured[:, i]
        there = ~np.isnan(e)
        if not there.any():
            continue
        e, y = e[there], y[there]
        total = float(np.sum((y - (y.mean() if len(y) > 1 else 0.0)) ** 2))  # one number is its own mean
        # A column that is the same throughout has a mean that is rounded.
        least = len(y) * float(ROUNDING * np.abs(y).max()) ** 2
        share = 1 - float(e @ e) / total if total > least else float(e @ e <= least)
        rows.append([len(e), e.mean(), np.sqrt(np.mean(e**2)), np.abs(e).max(), share, search.noise.sigma[i]])
        columns.append(column)
    units = {"rows": [column.unit for column in columns], "columns": [*QUALITY.values()]}
    values = np.array(rows, dtype=float).reshape(len(rows), len(QUALITY))
    return NamedArray(values, [column.name for column in columns], units, [*QUALITY])


def _long(told: Sorted, errors: Array, leverages: Array, sigma: Array, validation: bool) -> dict[str, np.ndarray]:
    """A row for each measured number, those of a row of the data one after the other."""
    row, column = np.nonzero(~np.isnan(errors))
    e, y = errors[row, column], told.measured[row, column]
    names, units = np.array([(each.name, each.unit) for each in told.columns]).T
    return {
        "row": told.rows[row],
        "column": names[column],
        "unit": units[column],
        "measured": y,
        "residual": e,
        "standardized": e / sigma[column],
        "leverage": leverages[row, column],
        "fitted": np.full(len(row), int(not validation)),
    }
