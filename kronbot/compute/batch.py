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
    size = count * instructions(function)
    work = size * INTERPRETED
    if work > WORTH_LOOKING or policy.choice() == "on":
        from kronbot.compute.native import at_once  # here, since most questions do without

        found = at_once(function, count // _cores(work, count))
        if found is not None:
            function, work = found, size * NATIVE
    cores = _cores(work, count)
    outputs = [_shared(count, size) if cores > 1 else np.empty((count, size)) for size in sizes]
    bounds = np.linspace(0, count, cores + 1).astype(int).tolist()

    def fill(part: int) -> None:
        _fill(function, points, constant, outputs, bounds[part], bounds[part + 1])

    _share(fill, cores)
    return outputs


def _fill(
    function: casadi.Function, points: Sequence[Array], constant: Array, outputs: Sequence[Array], first: int, last: int
) -> None:
    """Rows first to last of the outputs, through memory that both sides share: converting costs many evaluations."""
    chunk = max(1, min(last - first, CHUNK))
    buffer: Any
    buffer, evaluate_chunk = function.map(chunk).buffer()
    taken = [np.zeros((chunk, rows.shape[1])) for rows in points] + [np.tile(constant, (chunk, 1))]
    given = [np.zeros((chunk, rows.shape[1])) for rows in outputs]
    for place, array in enumerate(taken):
        buffer.set_arg(place, memoryview(array))  # type: ignore[arg-type]
    for place, array in enumerate(given):
        buffer.set_res(place, memoryview(array))  # type: ignore[arg-type]
    for start in range(first, last, chunk):
        size = min(chunk, last - start)
        for array, rows in zip(taken, points, strict=False):
            array[:size] = rows[start : start + size]
        evaluate_chunk()
        for rows, array in zip(outputs, given, strict=True):
            rows[start : start + size] = array[:size]


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
