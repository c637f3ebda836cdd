"""One function at many points: in chunks, as native code where that pays, on every core that the process may use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import casadi
import numpy as np

from kronbot.compute import sharing
from kronbot.compute.native import policy
from kronbot.compute.native.cost import INTERPRETED, NATIVE, instructions
from kronbot.floats import Array

if TYPE_CHECKING:
    from kronbot.compute.native.kernel import Kernel

# Points that one call evaluates: enough to forget the call, few enough to stay in the processor's cache.
CHUNK = 512
# Chunks that a thread does before it looks whether to go on.
PART = 16
# Work (s) of a thread in one call of CasADi's, at most: nothing hears a Ctrl-C meanwhile.
SPELL = 0.01
# Work (s) that a look into the cache of native code is worth.
WORTH_LOOKING = 0.02


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
    work = count * instructions(function)
    threads = min(count, sharing.threads_for(work * INTERPRETED, sharing.SPELLS))
    kernel = _kernel(function, count, work, threads)
    if kernel is None:
        many, chunk = _interpreted(function, count, work, threads)
        _fill(many, function, points, constant, outputs, range(0, count, chunk))
        return outputs
    chunk = CHUNK if count >= CHUNK else 1
    crew = sharing.threads_for(work * NATIVE, sharing.THREAD)
    parts = -(-count // (PART * chunk)) if chunk > 1 else min(count, crew)
    bounds = [*(chunk * np.linspace(0, count // chunk, parts + 1).astype(int)[:-1]).tolist(), count]

    def fill(part: int) -> None:
        _fill(kernel, function, points, constant, outputs, range(bounds[part], bounds[part + 1], chunk))

    sharing.by_threads(fill, parts, min(parts, crew))
    return outputs


def _kernel(function: casadi.Function, count: int, work: int, threads: int) -> Kernel | None:
    """Native code for whole chunks, whose points are one loop in C, or for a point where they are fewer."""
    if work * INTERPRETED <= WORTH_LOOKING and policy.choice() != "on":
        return None
    from kronbot.compute.native.use import at_once  # here, since most questions do without

    return at_once(function.map(CHUNK) if count >= CHUNK else function, count // threads)


def _interpreted(function: casadi.Function, count: int, work: int, threads: int) -> tuple[casadi.Function, int]:
    """The function for as many points as one call evaluates, and how many that are."""
    # Where CasADi can start some of its threads only, the process ends.
    threads = max(1, sharing.startable(threads)) if threads > 1 else 1
    each = max(1, min(CHUNK, count // threads, int(count * SPELL / max(SPELL, work * INTERPRETED))))
    one = function.map(each)
    return (one.map(threads, "thread") if threads > 1 else one), each * threads


def _fill(
    many: casadi.Function | Kernel,
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
        _fill_evenly(one.map(rest), points, constant, outputs, range(whole.stop, chunks.stop, rest))


def _fill_evenly(
    evaluated: casadi.Function | Kernel,
    points: Sequence[Array],
    constant: Array | None,
    outputs: Sequence[Array],
    chunks: range,
) -> None:
    constants = [] if constant is None else [np.tile(constant, (chunks.step, 1))]
    if not isinstance(evaluated, casadi.Function):
        reads, writes = (
            [(rows[chunks.start :].ctypes.data, rows.strides[0] * chunks.step) for rows in side]
            for side in (points, outputs)
        )
        evaluated.walk([*reads, *((each.ctypes.data, 0) for each in constants)], writes, len(chunks))
        return
    buffer: Any
    buffer, evaluate_chunk = evaluated.buffer()
    for place, values in enumerate(constants, len(points)):
        buffer.set_arg(place, memoryview(values))  # type: ignore[arg-type]
    for row in chunks:
        for place, rows in enumerate(points):
            buffer.set_arg(place, memoryview(rows[row : row + chunks.step]))  # type: ignore[arg-type]
        for place, rows in enumerate(outputs):
            buffer.set_res(place, memoryview(rows[row : row + chunks.step]))  # type: ignore[arg-type]
        evaluate_chunk()
