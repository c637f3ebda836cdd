"""A compiled function called as C is: by addresses, without Python's lock, so that threads can share its work."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path


class Kernel:
    """The function of that name in a library that CasADi wrote, with CasADi's interface: arguments, results, integer
    and real work memory. For functions that keep nothing between calls, as traces do."""

    def __init__(self, name: str, library: Path) -> None:
        loaded = ctypes.CDLL(str(library))
        self._call = loaded[name]
        self._call.argtypes = (*(ctypes.c_void_p,) * 4, ctypes.c_int)
        sizes = [ctypes.c_longlong() for _ in range(4)]
        loaded[f"{name}_work"](*map(ctypes.byref, sizes))
        self._sizes = [max(1, size.value) for size in sizes]

    def buffer(self) -> tuple[Memory, Callable[[], int]]:
        """Where to point it, and the call; as of a ``casadi.Function``. Every thread takes its own."""
        memory = Memory(self._sizes)
        places = [ctypes.addressof(each) for each in (memory.arguments, memory.results, memory.integers, memory.reals)]

        def evaluate() -> int:
            return int(self._call(*places, 0))

        return memory, evaluate


class Memory:
    """What a call reads, writes and works in."""

    def __init__(self, sizes: list[int]) -> None:
        self.arguments = (ctypes.c_void_p * sizes[0])()
        self.results = (ctypes.c_void_p * sizes[1])()
        self.integers = (ctypes.c_longlong * sizes[2])()
        self.reals = (ctypes.c_double * sizes[3])()

    def set_arg(self, place: int, values: memoryview) -> None:
        """Read an argument from there, which is to stay where it is."""
        self.arguments[place] = _address(values)

    def set_res(self, place: int, values: memoryview) -> None:
        """Write a result there."""
        self.results[place] = _address(values)


def _address(values: memoryview) -> int:
    """Of memory that a NumPy array holds."""
    return int(values.obj.__array_interface__["data"][0])  # type: ignore[attr-defined]
