"""One function at many points: in chunks, as native code where that pays, on every core that the process may use."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import casadi
import numpy as np

from kronbot.compute import sharing
from kronbot.compute.native import policy
from kronbot.compute.native.cost import INTERPRETED, NATIVE, instructions
from kronbot.floats import Array

if TYPE_CHECKING:
    from kronbot.compute.native.kernel import Loop

# Points that one call evaluates: enough to forget the call, few enough to stay in the processor's cache.
CHUNK = 512
# Points that a thread does before it looks whether to go on.
PART = 8192
# Work (s) of a thread in one call of CasADi's, at most: nothing hears a Ctrl-C meanwhile.
SPELL = 0.01
# Work (s) that a look into the cache of native code is worth.
WORTH_LOOKING = 0.02
# Functions of many points that were asked for last.
_HELD: deque[casadi.Function] = deque(maxlen=64)


def evaluate(
    function: casadi.Function, points: Sequence[Array], constant: Array | None, sizes: Sequence[int]
) -> list[Array]:
    """Outputs (N, size) of a function whose inputs are rows of ``points`` (N, size) and perhaps a constant (size,).

    The values do not depend on how the work is done. Python's threads share native code, CasADi's what is interpreted,
    since CasADi keeps Python's lock while it evaluates; Ctrl-C ends them all.
    """
    count = len(points[0])
    points = [np.ascontiguousarray(rows) for rows in points]
    outputs = [np.empty((count, size)) for size in sizes]
    if not count:
        return outputs
    work = count * instructions(function)
    threads = min(count, sharing.threads_for(work * INTERPRETED, sharing.SPELLS))
    loop = _loop(function, () if constant is None else (len(points),), count, work, threads)
    if loop is None:
        many, chunk = _interpreted(function, count, work, threads)
        _fill(many, function, points, constant, outputs, range(0, count, chunk))
        return outputs
    crew = sharing.threads_for(work * NATIVE, sharing.THREAD)
    ends = np.linspace(0, count, max(crew, -(-count // PART)) + 1).astype(int)
    shared = [] if constant is None else [np.ascontiguousarray(constant)]

    def fill(part: int) -> None:
        rows = slice(ends[part], ends[part + 1])
        loop([*(each[rows] for each in points), *shared], [each[rows] for each in outputs])

    sharing.by_threads(fill, len(ends) - 1, crew)
    return outputs


def _loop(function: casadi.Function, shared: Sequence[int], count: int, work: int, threads: int) -> Loop | None:
    """Native code for the loop over points, where there is so much to do that looking for it pays."""
    if work * INTERPRETED <= WORTH_LOOKING and policy.choice() != "on":
        return None
    from kronbot.compute.native.use import rows_at_once  # here, since most questions do without

    return rows_at_once(function, shared, count // threads)


def _interpreted(function: casadi.Function, count: int, work: int, threads: int) -> tuple[casadi.Function, int]:
    """The function for as many points as one call evaluates, and how many that are."""
    # Where CasADi can start some of its threads only, the process ends.
    threads = max(1, sharing.startable(threads)) if threads > 1 else 1
    each = max(1, min(CHUNK, count // threads, int(count * SPELL / max(SPELL, work * INTERPRETED))))
    one = _mapped(function, each)
    return (one.map(threads, "thread") if threads > 1 else one), each * threads


def _mapped(function: casadi.Function, count: int) -> casadi.Function:
    """The function for so many points. CasADi finds one again that somebody holds; else it needs half a millisecond."""
    many = function.map(count)
    _HELD.append(many)
    return many


def _fill(
    many: casadi.Function,
    one: casadi.Function,
    points: Sequence[Array],
    constant: Array | None,
    outputs: Sequence[Array],
    chunks: range,
) -> None:
    """Rows of the outputs, in place: converting or copying would cost as much as evaluating.

    ``many`` is the function for as many points as ``chunks`` has between its numbers, ``one`` that for a single one.
    """
    rest = (chunks.stop - chunks.start) % chunks.step
    whole = range(chunks.start, chunks.stop - rest, chunks.step)
    _fill_evenly(many, points, constant, outputs, whole)
    if rest:
        _fill_evenly(_mapped(one, rest), points, constant, outputs, range(whole.stop, chunks.stop, rest))


def _fill_evenly(
    evaluated: casadi.Function,
    points: Sequence[Array],
    constant: Array | None,
    outputs: Sequence[Array],
    chunks: range,
) -> None:
    constants = [] if constant is None else [np.tile(constant, (chunks.step, 1))]
    buffer: Any
    buffer, evaluate_chunk = evaluated.buffer()
    for place, values in enumerate(constants, len(points)):
        buffer.set_arg(place, memoryview(values))  # type: ignore[arg-type]
    # Of nothing CasADi wants no place in memory: it takes some for its own.
    filled = [(place, rows) for place, rows in enumerate(points) if rows.size]
    for row in chunks:
        for place, rows in filled:
            buffer.set_arg(place, memoryview(rows[row : row + chunks.step]))  # type: ignore[arg-type]
        for place, rows in enumerate(outputs):
            buffer.set_res(place, memoryview(rows[row : row + chunks.step]))  # type: ignore[arg-type]
        evaluate_chunk()
