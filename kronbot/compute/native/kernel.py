"""Compiled functions called as C is: by addresses, without Python's lock, so that threads can share the work."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kronbot.floats import Array

# Where the first call reads or writes, and how many bytes further the next one does.
Place = tuple[int, int]
Counts = npt.NDArray[np.int64]
# Bytes of the largest registers: what a call works on begins at a multiple of them.
ALIGNED = 64


class Kernel:
    """The function of that name in a library that CasADi wrote, with CasADi's interface: arguments, results, integer
    and real work memory. For functions that keep nothing between calls, as traces do."""

    def __init__(self, name: str, library: Path) -> None:
        loaded = ctypes.CDLL(str(library))
        self._call = loaded[name]
        self._call.argtypes = (*(ctypes.c_void_p,) * 4, ctypes.c_int)
        sizes = [ctypes.c_longlong() for _ in range(4)]
        loaded[f"{name}_work"](*map(ctypes.byref, sizes))
        self._arguments, self._results, self._integers, self._reals = (max(1, size.value) for size in sizes)

    @property
    def address(self) -> int | None:
        """Where the function is."""
        return ctypes.cast(self._call, ctypes.c_void_p).value

    def memory(self) -> list[npt.NDArray[Any] | None]:
        """What a call works on, from the first aligned place on: places of arguments and results, integers, reals."""
        sizes = (self._arguments, self._results, self._integers, self._reals)
        return [np.zeros(size + ALIGNED // 8, dtype=np.int64) for size in sizes]

    def walk(self, arguments: Sequence[Place], results: Sequence[Place], calls: int) -> None:
        """So many calls in a row. What is at the places is to stay there meanwhile; every thread may be at one."""
        reads, writes = _addresses(arguments, self._arguments, calls), _addresses(results, self._results, calls)
        integers, reals = (ctypes.c_longlong * self._integers)(), (ctypes.c_double * self._reals)()
        work = ctypes.addressof(integers), ctypes.addressof(reals)
        for read, written in zip(_rows(reads), _rows(writes), strict=True):
            self._call(read, written, *work, 0)


class Loop:
    """The loop in a library, as ``lanes.source`` has written it. Raises OSError, AttributeError and ValueError where
    there is none."""

    def __init__(self, library: Path) -> None:
        from kronbot.compute.code.lanes import NAME, ROOM  # here, since most questions do without

        loaded = ctypes.CDLL(str(library))
        self._call = loaded[NAME]
        self._call.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_longlong)
        self._room = ctypes.c_longlong.in_dll(loaded, ROOM).value

    @property
    def address(self) -> int | None:
        """Where it is."""
        return ctypes.cast(self._call, ctypes.c_void_p).value

    def memory(self) -> list[npt.NDArray[Any] | None]:
        """What a call works on, in the places of that of a kernel."""
        return [None, None, None, np.empty(8 * self._room + ALIGNED, dtype=np.uint8)]

    def __call__(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        """Fill rows of outputs (N, size) from rows of inputs (N, size), or (size,) for those that all rows share; every
        thread may be at rows of its own. All are contiguous."""
        self.prepared(inputs, outputs, len(outputs[0]))()

    def prepared(self, inputs: Sequence[Array], outputs: Sequence[Array], rows: int) -> Callable[[], None]:
        """The same as often as it is called, for one thread at a time, on memory that stays."""
        reads, writes = (np.array([each.ctypes.data for each in side], dtype=np.uintp) for side in (inputs, outputs))
        (*_, room) = self.memory()
        assert room is not None
        kept = (reads, writes, room, inputs, outputs)
        call, at = self._call, (reads.ctypes.data, writes.ctypes.data, _aligned(room))

        def run(kept: object = kept) -> None:
            call(*at, rows)

        return run


class Steps:
    """Steps in a row round a compiled one, as ``strides.LOOP`` has them. Raises OSError and AttributeError where there
    are none."""

    def __init__(self, library: Path) -> None:
        loaded = ctypes.CDLL(str(library))
        self.factor = loaded["factor"]
        self.factor.argtypes, self.factor.restype = (ctypes.c_double,) * 2, ctypes.c_double
        self._call = loaded["steps"]
        self._call.argtypes = (*(ctypes.c_void_p,) * 12, *(ctypes.c_longlong,) * 4)

    def prepared(
        self, step: Kernel | Loop, arguments: Sequence[Array], results: Sequence[Array], others: Sequence[Any]
    ) -> Callable[[int], None]:
        """For so many lanes, of which those of a kernel are one: up to as many steps as the last of the others, of
        shape (lanes, steps, numbers), has rows for each. On memory that stays.
        """
        sides = [np.array([each.ctypes.data for each in side], dtype=np.uintp) for side in (arguments, results)]
        alone = isinstance(step, Kernel)
        work = step.memory()
        pointers = [*((step.address, None) if alone else (None, step.address))]
        pointers += [None if each is None else _aligned(each) for each in work]
        pointers += [each.ctypes.data for each in (*sides, *others)]
        sizes = arguments[1].shape[1], results[2].shape[1], others[-1].shape[1]

        def run(lanes: int, held: object = (work, sides, arguments, results, others)) -> None:
            self._call(*pointers, lanes, *sizes)

        return run


def _aligned(memory: npt.NDArray[Any]) -> int:
    return int(-(-memory.ctypes.data // ALIGNED) * ALIGNED)


def _addresses(places: Sequence[Place], width: int, calls: int) -> npt.NDArray[np.uintp]:
    """Those of each call in a row (calls, width), with room in which the function keeps others."""
    table = np.zeros((calls, width), dtype=np.uintp)
    for i, (first, stride) in enumerate(places):
        table[:, i] = first + stride * np.arange(calls)
    return table


def _rows(table: npt.NDArray[np.uintp]) -> range:
    """Where the rows are."""
    return range(table.ctypes.data, table.ctypes.data + table.nbytes, table.strides[0])
