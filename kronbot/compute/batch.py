"""One function at many points: in chunks, as native code where that pays, on every core that the process may use."""

from __future__ import annotations

import mmap
import os
import signal
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import casadi
import numpy as np
import numpy.typing as npt

from kronbot.compute import policy
from kronbot.compute.cost import INTERPRETED, NATIVE, instructions

Array = npt.NDArray[np.float64]

# Points that one call evaluates: enough to forget the call, few enough to stay in the processor's cache.
CHUNK = 512
# Work (s) that a look into the cache of native code is worth, and a further process, started and ended.
WORTH_LOOKING, WORTH_SHARING = 0.02, 0.05


def evaluate(function: casadi.Function, points: Sequence[Array], constant: Array, sizes: Sequence[int]) -> list[Array]:
    """Outputs (N, size) of a function whose inputs are rows of ``points`` (N, size) and, last, a constant (size,).

    The values do not depend on how the work is done. On Linux processes share it, since CasADi keeps Python's lock
    while it evaluates; Ctrl-C ends them all.
    """
    count = len(points[0])
    points = [np.ascontiguousarray(rows) for rows in points]
    chunk = min(CHUNK, count)
    many = function.map(chunk)
    size = count * instructions(function)
    work = size * INTERPRETED
    if work > WORTH_LOOKING or policy.choice() == "on":
        from kronbot.compute.native import at_once  # here, since most questions do without

        # Whole chunks are compiled as such, so that their points are one loop in C.
        found = at_once(many if count >= CHUNK else function, count // _cores(work, count))
        if found is not None:
            many, work = found if count >= CHUNK else found.map(chunk), size * NATIVE
    cores = _cores(work, count)
    outputs = [_shared(count, size) if cores > 1 else np.empty((count, size)) for size in sizes]
    bounds = [*(chunk * np.linspace(0, count // chunk, cores + 1).astype(int)[:-1]).tolist(), count]

    def fill(part: int) -> None:
        _fill(many, function, points, constant, outputs, range(bounds[part], bounds[part + 1], chunk))

    _share(fill, cores)
    return outputs


def _fill(
    many: casadi.Function,
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
    evaluated: casadi.Function, points: Sequence[Array], constant: Array, outputs: Sequence[Array], chunks: range
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


def _cores(work: float, count: int) -> int:
    """How many processes so much work (s) is worth."""
    if sys.platform != "linux":
        return 1
    return max(1, min(len(os.sched_getaffinity(0)), int(work / WORTH_SHARING), count))


def _shared(count: int, size: int) -> Array:
    """Memory that processes forked from this one write for it."""
    memory = mmap.mmap(-1, max(1, count * size * np.dtype(float).itemsize))
    return np.frombuffer(memory, dtype=float, count=count * size).reshape(count, size)


def _share(fill: Callable[[int], None], parts: int) -> None:
    """Every part, the first here, the others each in a process of its own; what one of them fails at is done here."""
    children: dict[int, int] = {}
    try:
        for part in range(1, parts):
            with warnings.catch_warnings():
                # Python warns of threads, whose locks a child could wait for; it takes none but the allocator's.
                warnings.simplefilter("ignore", DeprecationWarning)
                child = os.fork()
            if child == 0:
                _work_and_leave(fill, part)
            children[child] = part
        fill(0)
        while children:
            child, status = os.waitpid(next(iter(children)), 0)
            part = children.pop(child)
            if status != 0:
                fill(part)
    finally:
        for child in children:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def _work_and_leave(fill: Callable[[int], None], part: int) -> None:
    """What a child does: its part, and nothing of what its parent would do at its end."""
    status = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        fill(part)
        status = 0
    finally:
        os._exit(status)
