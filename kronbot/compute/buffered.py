"""A function on memory that is laid out once: for one call after the other, where a call by value would cost more than
what it evaluates."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import casadi
import numpy as np

from kronbot.floats import Array

if TYPE_CHECKING:
    from kronbot.compute.native.kernel import Loop


class Buffered:
    """Calling it reads the ``arguments`` and writes the ``results``, both as dense column-major arrays of one axis.

    ``arguments`` and ``results`` are kept and may serve several functions; by default they are new. New results are one
    behind the other in memory, the ``whole`` of it.
    """

    def __init__(
        self, function: casadi.Function, arguments: Sequence[Array] = (), results: Sequence[Array] = ()
    ) -> None:
        self.arguments = arguments or [np.zeros(function.numel_in(i)) for i in range(function.n_in())]
        self.results = results or self._new_results(function, 1)
        self._buffer: Any
        self._buffer, self._call = function.buffer()
        for place, values in enumerate(self.arguments):
            if values.size:  # of nothing CasADi wants no place in memory: it takes some for its own
                self._buffer.set_arg(place, memoryview(values))  # type: ignore[arg-type]
        for place, values in enumerate(self.results):
            self._buffer.set_res(place, memoryview(values))  # type: ignore[arg-type]

    def __call__(self) -> None:
        """Evaluate."""
        self._call()

    def _new_results(self, function: casadi.Function, count: int) -> Sequence[Array]:
        ends = [*accumulate((count * function.numel_out(i) for i in range(function.n_out())), initial=0)]
        self.whole = np.zeros(ends[-1])
        return [self.whole[start:end] for start, end in pairwise(ends)]


class BufferedRows(Buffered):
    """The same for a compiled loop over so many points; those of the numbers ``shared`` are not repeated."""

    def __init__(self, function: casadi.Function, loop: Loop, count: int, shared: Sequence[int]) -> None:
        counts = [1 if i in shared else count for i in range(function.n_in())]
        self.arguments = [np.zeros(each * function.numel_in(i)) for i, each in enumerate(counts)]
        self.results = self._new_results(function, count)
        self._call = loop.prepared(self.arguments, self.results, count)
