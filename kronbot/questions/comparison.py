"""Answers about the same load cases at several kinematic orders, side by side and as differences."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from kronbot.compute.arrays import NamedArray, Scalar
from kronbot.questions.columns import WRENCH
from kronbot.questions.noise import ROUNDING, without_rounding
from kronbot.questions.result import Outcome, Result

# Differences that tell what an order leaves out: the paper's O(2) - O(1) and O(2) - O(0), and all from the exact rod.
DIFFERENCES = (("2", "0"), ("2", "1"), ("exact", "0"), ("exact", "1"), ("exact", "2"))


def side_by_side(outcomes: Mapping[str, Outcome]) -> Outcome:
    """One block of rows an order with a column ``order``; columns that an order lacks are 0 in its rows.

    The array ``difference`` is a stack over the cases that all orders with cases have: a row a quantity, a column a
    pair of such orders. Modal coordinates are left out of it, since they mean different things at different orders.
    """
    results = {order: outcome.result for order, outcome in outcomes.items()}
    fullest = max(results.values(), key=lambda result: len(result.series))
    names = list(fullest.series)
    sizes = {order: int(result.summary["cases"]) for order, result in results.items()}
    series: dict[str, npt.NDArray[np.generic]] = {
        "order": np.concatenate([np.full(size, order, dtype="U5") for order, size in sizes.items()])
    }
    for name in names:
        series[name] = np.concatenate([result.series.get(name, np.zeros(sizes[o])) for o, result in results.items()])
    error = next((outcome.error for outcome in outcomes.values() if outcome.error is not None), None)
    summary: dict[str, Scalar] = {"complete": error is None, "cases": sum(sizes.values())}
    summary["solver"] = fullest.summary["solver"]
    for order, result in results.items():
        if outcomes[order].error is not None:
            summary[f"cases.{order}"] = sizes[order]
        for word in ("start", "cases_beyond_small_deflections", "unstable_cases", "undecided_cases"):
            if word in result.summary:
                summary[f"{word}.{order}"] = result.summary[word]
    there = {order for order, size in sizes.items() if size}
    pairs = [pair for pair in DIFFERENCES if there.issuperset(pair)]
    common = min(sizes[order] for order in there)
    simplest = min((results[order] for order in there), key=lambda result: len(result.series))
    robot = fullest.model
    compared = [name for name in simplest.series if name not in WRENCH] if pairs else []  # which is given
    stack = np.array(
        [[results[a].series[name][:common] - results[b].series[name][:common] for a, b in pairs] for name in compared]
    ).reshape(len(compared), len(pairs), common)
    stack = stack.transpose(2, 0, 1)
    cases = [float(case) for case in range(1, common + 1)]
    units = {"rows": [fullest.units[name] for name in compared], "columns": ["1"] * len(pairs)}
    difference = NamedArray(stack, compared, units, [f"{a}-{b}" for a, b in pairs], ("case", cases))
    telling = {
        *(f"torque.{joint.name}" for joint in robot.joints),
        *(f"curvature.{gauge.name}" for gauge in robot.file.statics.gauges),
    }
    largest = {
        f"{name}[{a}-{b}]": values
        for (a, b), column in zip(pairs, np.abs(stack).max(axis=0, keepdims=True).T, strict=True)
        for name, values in zip(compared, column, strict=True)
        if name in telling
    }
    # Beside the two that they are differences of.
    clean = without_rounding(series | largest, 2 * ROUNDING, robot.coordinates)
    summary |= {f"largest_difference.{name}": float(clean[name][0]) for name in largest}
    answer = Result(
        "statics",
        fullest.robot,
        "all",
        {},
        {"difference": difference} if pairs else {},
        series,
        summary,
        list(dict.fromkeys(warning for result in results.values() for warning in result.warnings)),
        units={"order": "1"} | dict(fullest.units),
        about=fullest.about,
        asked=fullest.asked,
    )
    return Outcome(answer, error)
