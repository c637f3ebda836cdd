"""Before anything is measured: which rows tell most, and how far estimates would be from the truth."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from kronbot.compute.arrays import NamedArray, Scalar
from kronbot.description.wording import listing
from kronbot.errors import Argument, ComputationError, UsageError
from kronbot.floats import Array, all_finite
from kronbot.mechanics.estimation.knowledge import RANK, Knowledge
from kronbot.mechanics.estimation.least_squares import Fit
from kronbot.mechanics.estimation.plans import chosen
from kronbot.model.robot import Robot
from kronbot.questions.fitting.answers import begun
from kronbot.questions.fitting.data import Named
from kronbot.questions.fitting.inquiry import Inquiry
from kronbot.questions.fitting.noise import Noise
from kronbot.questions.fitting.search import Search, read
from kronbot.questions.fitting.sorting import Sorted
from kronbot.questions.fitting.words import ambiguous, correlated
from kronbot.questions.keeping import gathered, kept
from kronbot.questions.result import Outcome, Result
from kronbot.system.interruption import Interruptions

PURPOSE = "fit"
# Draws of noise that have a spread.
LEAST_DRAWS = 2


def plan(robot: Robot, inquiry: Inquiry, candidates: Named, count: int) -> Result:
    """The ``count`` rows of candidates that tell most of the parameters at their first values, beside data and priors.

    Of motions they are records. What stands in a measured cell does not matter, only that something does. Raises
    UsageError where columns have no sigma, ComputationError where so many cannot determine the parameters.
    """
    told, J, accuracy = _information(robot, inquiry, candidates)
    k = len(inquiry.names)
    labels: npt.NDArray[Any]
    if told.records is None:
        blocks = np.zeros((*told.measured.shape, k))
        blocks[~np.isnan(told.measured)] = J
        word, labels = "row", told.rows
    else:
        word, labels = "record", np.unique(told.records)
        blocks = _by_record(told, J, k, labels)
    if count > len(blocks):
        raise UsageError(Argument("plan"), f": {count} of {len(blocks)} candidates cannot be chosen")
    there = np.zeros((0, k))
    tables = [told]
    if inquiry.data is not None:
        before, J, _ = _information(robot, inquiry, inquiry.data)
        tables.append(before)
        there = J if before.records is None else _by_record(before, J, k, np.unique(before.records)).reshape(-1, k)
    idle = [*inquiry.unmeasured(*tables)]
    all_rows = np.concatenate([there, blocks.reshape(-1, k)])
    beliefs = inquiry.beliefs.measured(np.ones(len(all_rows)), all_rows)
    known = there.T @ there + np.diag(np.nan_to_num(beliefs.deviation**-2.0))
    rows = chosen(blocks, known, count)

    def of(some: Array) -> Knowledge:
        J = np.concatenate([there, some.reshape(-1, k)])
        return Knowledge(J, beliefs.scale, beliefs.deviation, accuracy=accuracy)

    knowledge, everything = of(blocks[rows]), of(blocks)
    if np.isnan(knowledge.errors).any():
        said = "; ".join(ambiguous(knowledge.ambiguities, inquiry.names, bool(beliefs.informed.any())))
        raise ComputationError(f"{count} of these {word}s do not determine the parameters: {said}")
    ratio = np.linalg.slogdet(everything.covariance)[1] - np.linalg.slogdet(knowledge.covariance)[1]
    summary: dict[str, Scalar] = {
        "question": inquiry.question, "candidates": len(blocks), f"{word}s": count, "parameters": k,
        "efficiency": float(np.exp(ratio / k)),
    }  # fmt: skip
    series: dict[str, npt.NDArray[Any]] = {word: labels[rows]}
    if word == "row":
        series |= {name: values[rows] for name, values in told.inputs.items()}
    warnings = [*told.notes, *idle, *correlated(knowledge, inquiry.names)]
    return Result(
        PURPOSE, robot.name, robot.order, arrays=_predicted(inquiry, knowledge), series=series, summary=summary,
        warnings=warnings, about=robot, asked="plan",
    )  # fmt: skip


def _by_record(told: Sorted, J: Array, k: int, labels: npt.NDArray[Any]) -> Array:
    """What each record tells of the first k parameters, as a triangle (records, k, k) with the same squares.

    Where it begins is found, too, with the other columns of J: what errors tell of that they do not tell of these.
    """
    assert told.records is not None, "rows of records"
    row, _ = np.nonzero(~np.isnan(told.measured))
    blocks = np.zeros((len(labels), k, k))
    for block, label in zip(blocks, labels, strict=True):
        own = J[told.records[row] == label]
        U, sizes, _ = np.linalg.svd(all_finite(own[:, k:]), full_matrices=False)
        U = U[:, sizes > RANK * sizes.max(initial=0.0)]
        R = np.linalg.qr(own[:, :k] - U @ (U.T @ own[:, :k]), mode="r")
        block[: len(R)] = R
    return blocks


def synthetic(robot: Robot, inquiry: Inquiry, count: int, progress: Callable[[float], None]) -> Outcome:
    """Fits to ``count`` draws of noise on what the robot's own values give: their bias and spread.

    Beside them the standard errors that theory predicts. What stands in a measured cell does not matter. Where somebody
    interrupts it is about the draws before, which are two at least. Raises UsageError where columns have no sigma.
    """
    return kept(lambda met: _synthetic(robot, inquiry, count, progress, met))


def _synthetic(
    robot: Robot, inquiry: Inquiry, count: int, progress: Callable[[float], None], met: Interruptions
) -> Outcome:
    assert inquiry.data is not None, "rows are wanted"
    variation = inquiry.variation(robot, inquiry.data)
    with met.heard():
        answers, told = read(variation, inquiry.data, inquiry, inquiry.only)
        inquiry = inquiry.with_beside(answers)
        noise, start = _noise(told, inquiry), inquiry.beliefs.start
        idle = [*inquiry.unmeasured(told)]
        slopes = begun(variation, answers, told, start)[1]
        exact = answers.computed(start)
    J = slopes * noise.weights(~np.isnan(exact))[:, None]
    beliefs = inquiry.beliefs.measured(np.ones(len(J)), J)
    inquiry = replace(inquiry, beliefs=beliefs)
    knowledge = Knowledge(J, beliefs.scale, beliefs.deviation, accuracy=answers.accuracy)
    rng = np.random.default_rng(inquiry.seed)

    def fits() -> Iterator[Fit]:
        for i in range(count):
            drawn = answers.disturbed(exact, noise.sigma * rng.standard_normal(exact.shape))
            rows = answers.measuring(drawn), replace(told, measured=drawn)
            search = Search(robot, inquiry, lambda share: None, variation, *rows, None, noise, [], (start, slopes))
            search.run()
            yield search.found
            progress((i + 1) / count)

    found, error = gathered(met, fits(), lambda found: f"interrupted after {len(found)} of {count} draws")
    if error is not None and len(found) < LEAST_DRAWS:
        raise error
    values = np.array([each.values for each in found])
    lost = sum(not each.converged for each in found)
    kept = [i for i in range(len(inquiry.names)) if np.isfinite(knowledge.errors[i])]
    off = values.mean(axis=0) - start
    table = np.column_stack([start, off, values.std(axis=0, ddof=1), np.nan_to_num(knowledge.errors)])[kept]
    names = [inquiry.names[i] for i in kept]
    arrays = {"synthetic": NamedArray(table, names, "", ("value", "bias", "spread", "predicted"))}
    arrays |= _predicted(inquiry, knowledge)
    summary: dict[str, Scalar] = {
        "question": inquiry.question, "rows": len(told.rows), "measurements": len(J), "parameters": len(inquiry.names),
        "rank": knowledge.rank, "repetitions": len(found), "not_converged": lost,
    }  # fmt: skip
    if error is not None:
        summary = {"complete": False, **summary}
    warnings = [*told.notes, *idle, *ambiguous(knowledge.ambiguities, inquiry.names, bool(beliefs.informed.any()))]
    warnings += correlated(knowledge, inquiry.names)
    answer = Result(
        PURPOSE, robot.name, robot.order, arrays=arrays, summary=summary, warnings=warnings, about=robot,
        asked="synthetic",
    )  # fmt: skip
    return Outcome(answer, error)


def _information(robot: Robot, inquiry: Inquiry, rows: Named) -> tuple[Sorted, Array, float]:
    """Rows and the weighted derivatives (M, k) of what is measured in them, at the first values; their accuracy."""
    variation = inquiry.variation(robot, rows)
    answers, told = read(variation, rows, inquiry, inquiry.only)
    noise, start = _noise(told, inquiry), inquiry.with_beside(answers).beliefs.start
    slopes = begun(variation, answers, told, start)[1]
    return told, slopes * noise.weights(~np.isnan(told.measured))[:, None], answers.accuracy


def _noise(told: Sorted, inquiry: Inquiry) -> Noise:
    noise = Noise.of(told, inquiry.sigma, inquiry.loss)
    if noise.groups:
        names = dict.fromkeys(name for name, _ in noise.groups)
        raise UsageError("what would be measured has no ", Argument("sigma"), f": {listing(names)}")
    return noise


def _predicted(inquiry: Inquiry, knowledge: Knowledge) -> dict[str, NamedArray]:
    kept = [i for i in range(len(inquiry.names)) if np.isfinite(knowledge.errors[i])]
    names = [inquiry.names[i] for i in kept]
    arrays = {"standard_errors": NamedArray(knowledge.errors[kept], names, "")}
    if len(kept) > 1:
        arrays["correlations"] = NamedArray(knowledge.correlations[np.ix_(kept, kept)], names, "1", names)
    numbers = [str(i + 1) for i in range(len(knowledge.singular_values))]
    return arrays | {"singular_values": NamedArray(knowledge.singular_values, numbers, "1")}
