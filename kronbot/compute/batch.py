"""One function at many points: in chunks, as native code where that pays, on every core that the process may use."""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import casadi
import numpy as np
import numpy.typing as npt

from kronbot.compute import sharing
from kronbot.compute.native import policy
from kronbot.compute.native.cost import INTERPRETED, NATIVE, instructions

if TYPE_CHECKING:
    from kronbot.compute.native.kernel import Kernel

Array = npt.NDArray[np.float64]

# Points that one call evaluates: enough to forget the call, few enough to stay in the processor's cache.
CHUNK = 512
# Chunks that a thread does before it looks whether to go on.
PART = 16
# Work (s) that a look into the cache of native code is worth.
WORTH_LOOKING = 0.02


def evaluate(function: casadi.Function, points: Sequence[Array], constant: Array, sizes: Sequence[int]) -> list[Array]:
    """Outputs (N, size) of a function whose inputs are rows of ``points`` (N, size) and, last, a constant (size,).

    The values do not depend on how the work is done. Threads share native code, processes (on Linux) what is
    interpreted, since CasADi keeps Python's lock while it evaluates; Ctrl-C ends them all.
    """
    count = len(points[0])
    points = [np.ascontiguousarray(rows) for rows in points]
    work = count * instructions(function)
    processes = min(count, sharing.processes_for(work * INTERPRETED))
    kernel = _kernel(function, count, work, processes)
    if kernel is None:
        chunk, parts = min(CHUNK, count), processes
        outputs = [_shared(count, size) if processes > 1 else np.empty((count, size)) for size in sizes]
    else:
        chunk = CHUNK if count >= CHUNK else 1
        parts = -(-count // (PART * chunk))
        outputs = [np.empty((count, size)) for size in sizes]
    many = kernel or function.map(chunk)
    bounds = [*(chunk * np.linspace(0, count // chunk, parts + 1).astype(int)[:-1]).tolist(), count]

    def fill(part: int) -> None:
        _fill(many, function, points, constant, outputs, range(bounds[part], bounds[part + 1], chunk))

    if kernel is None:
        sharing.by_processes(fill, parts)
    else:
        sharing.by_threads(fill, parts, min(parts, sharing.threads_for(work * NATIVE)))
    return outputs


def _kernel(function: casadi.Function, count: int, work: int, processes: int) -> Kernel | None:
    """Native code for whole chunks, whose points are one loop in C, or for a point where they are fewer."""
    if work * INTERPRETED <= WORTH_LOOKING and policy.choice() != "on":
        return None
    from kronbot.compute.native.use import at_once  # here, since most questions do without

    return at_once(function.map(CHUNK) if count >= CHUNK else function, count // processes)


def _fill(
    many: casadi.Function | Kernel,
    one: casadi.Function,
    points: Sequence[Array],
    constant: Array,
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
    constant: Array,
    outputs: Sequence[Array],
    chunks: range,
) -> None:
    buffer: Any
    buffer, evaluate_chunk = evaluated.buffer()
    constants = np.tile(constant, (chunks.step, 1))
    buffer.set_arg(len(points), memoryview(constants))  # type: ignore[arg-type]
    for row in chunks:
        for place, rows in enumerate(points):
            buffer.set_arg(place, memoryview(rows[row : row + chunks.step]))  # type: ignore[arg-type]
        for place, rows in enumerate(outputs):
            buffer.set_res(place, memoryview(rows[row : row + chunks.step]))  # type: ignore[arg-type]
        evaluate_chunk()


def _shared(count: int, size: int) -> Array:
    """Memory that processes forked from this one write for it."""
    memory = mmap.mmap(-1, max(1, count * size * np.dtype(float).itemsize))
    return np.frombuffer(memory, dtype=float, count=count * size).reshape(count, size)
