"""Answers to one question at many points, one after the other: stacked, those kept that were there when one failed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from kronbot.compute.arrays import NamedArray, Scalar
from kronbot.errors import ComputationError
from kronbot.questions.doubts import of_rows
from kronbot.questions.keeping import gathered, kept
from kronbot.questions.result import Outcome, Result
from kronbot.system.interruption import Interruptions

# What a verdict may begin with that somebody should look at, and a flag of an answer that is counted.
DOUBTS = ("unstable", "undecided")
FLAG = "beyond_small_deflections"


# Points whose numbers are made together: enough to forget each call, few enough for memory and a Ctrl-C.
BATCH = 32
Piece = TypeVar("Piece")


def in_batches(ask: Callable[[slice], Sequence[Piece]], count: int) -> Callable[[int], Piece]:
    """What ``ask`` finds for rows, by number, where they are asked for one after the other."""
    batch: list[Piece] = []

    def one(i: int) -> Piece:
        if i % BATCH == 0:
            batch[:] = ask(slice(i, min(count, i + BATCH)))
        return batch[i % BATCH]

    return one


def at_rows(ask: Callable[[int], Result], count: int, progress: Callable[[float], None]) -> Outcome:
    """The answers at points 0 ... count - 1 as one, with stacks of their arrays along the axis ``case`` (1 ... N), and
    with warnings that say in which cases.

    Where one fails, or the user interrupts, it holds those before, marked incomplete. Raises what the first one raises.
    """

    def answers() -> Iterator[Result]:
        for i in range(count):
            try:
                answer = ask(i).settled()
            except ComputationError as failed:
                raise ComputationError(f"case {i + 1}: ", *failed.args) from None
            except np.linalg.LinAlgError as failed:
                raise ComputationError(f"case {i + 1}: there is no answer ({failed})") from None
            yield answer
            progress((i + 1) / count)

    def together(met: Interruptions) -> Outcome:
        found, error = gathered(met, answers(), lambda found: f"interrupted after {len(found)} of {count} cases")
        summary: dict[str, Scalar] = {"complete": error is None, "cases": len(found)}
        summary |= _together([answer.summary for answer in found])
        arrays = {name: stacked([answer.arrays[name] for answer in found]) for name in found[0].arrays}
        warnings = of_rows([answer.warnings for answer in found])
        return Outcome(replace(found[0], at={}, arrays=arrays, summary=summary, warnings=warnings), error)

    return kept(together)


def stacked(arrays: Sequence[NamedArray]) -> NamedArray:
    """Arrays as one with the axis ``case``; those with fewer entries (fewer modes) end with zeros."""
    largest = max(arrays, key=lambda array: array.values.size)
    values = np.zeros((len(arrays), *largest.values.shape), largest.values.dtype)
    for i, array in enumerate(arrays):
        values[i][tuple(slice(size) for size in array.values.shape)] = array.values
    return replace(largest, values=values, axis=("case", range(1, len(arrays) + 1)))


def _together(summaries: Sequence[Mapping[str, Scalar]]) -> dict[str, Scalar]:
    """What is the same in all, the largest of what is called so, and how many cases are not stable."""
    found: dict[str, Scalar] = {}
    for word in dict.fromkeys(word for summary in summaries for word in summary if word != FLAG):
        values = [summary[word] for summary in summaries if word in summary]
        if word.startswith("largest_"):
            found[word] = max(value for value in values if isinstance(value, float))
        elif values.count(values[0]) == len(summaries):
            found[word] = values[0]
    return found | dict(_counts(summaries))


def _counts(summaries: Sequence[Mapping[str, Scalar]]) -> Iterator[tuple[str, int]]:
    verdicts = dict.fromkeys(word for summary in summaries for word in summary if word.startswith("verdict"))
    for word in verdicts:
        for doubt in DOUBTS:
            count = sum(str(summary.get(word, "")).startswith(doubt) for summary in summaries)
            if count:
                yield f"{doubt}_cases{word.removeprefix('verdict')}", count
    flagged = sum(FLAG in summary for summary in summaries)
    if flagged:
        yield f"cases_{FLAG}", flagged
