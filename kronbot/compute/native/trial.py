"""A compiled library tried in a process of its own: what is damaged may end that one, which imports nothing of kronbot.

Run as a program, with a library and words for its functions. It says LOADING, then TRIED, unless the library has ended
it in between. What a library lacks is no harm here: whoever loads it tells. It imports little, since that takes longer
than all else.
"""

from __future__ import annotations

import ctypes
import sys

LOADING, TRIED = "loading", "tried"
# Bytes at a multiple of which arrays begin, as large as the largest registers, and of a number.
ALIGNED, NUMBER = 64, 8
# What CasADi asks a function before it calls it, where it has that; the last three for each input and output.
ASKED, OF_PLACES = ("incref", "n_in", "n_out", "checkout"), ("name_{}", "sparsity_{}", "default_{}")


def interface(name: str, inputs: list[int], outputs: list[int]) -> str:
    """The word for a function with CasADi's interface, of so many numbers in each input and output."""
    return _word("interface", name, inputs, outputs)


def rows(name: str, room: str, inputs: list[int], outputs: list[int]) -> str:
    """That for a loop over one point with a work memory of so many numbers as the constant ``room`` says."""
    return _word("rows", f"{name},{room}", inputs, outputs)


def numbers(name: str) -> str:
    """That for a function of two numbers that is one."""
    return _word("numbers", name, [], [])


def _word(kind: str, name: str, *sides: list[int]) -> str:
    return ":".join((kind, name, *(",".join(map(str, side)) for side in sides)))


def _try(library: str, functions: list[str]) -> None:
    """Load it, and call each function once, where all numbers are 0."""
    loaded = ctypes.CDLL(library)
    for word in functions:
        kind, name, *sides = word.split(":")
        inputs, outputs = ([int(size) for size in side.split(",") if size] for side in sides)
        if kind == "interface":
            _call_interface(loaded, name, inputs, outputs)
        elif kind == "rows":
            name, room = name.split(",")
            work = _array(ctypes.c_longlong.in_dll(loaded, room).value)
            loaded[name](*map(_table, (inputs, outputs)), work, ctypes.c_longlong(1))
        else:
            function = loaded[name]
            function.argtypes, function.restype = (ctypes.c_double,) * 2, ctypes.c_double
            function(0.0, 0.0)


def _call_interface(loaded: ctypes.CDLL, name: str, inputs: list[int], outputs: list[int]) -> None:
    for each in ASKED:
        if hasattr(loaded, f"{name}_{each}"):
            loaded[f"{name}_{each}"]()
    for side, sizes in (("in", inputs), ("out", outputs)):
        for each in OF_PLACES:
            if hasattr(loaded, f"{name}_{each.format(side)}"):
                for i in range(len(sizes)):
                    loaded[f"{name}_{each.format(side)}"](ctypes.c_longlong(i))
    needs = [ctypes.c_longlong() for _ in range(4)]
    loaded[f"{name}_work"](*map(ctypes.byref, needs))
    arguments, results, integers, reals = (each.value for each in needs)
    tables = _table(inputs, arguments), _table(outputs, results)
    loaded[name](*tables, _array(integers), _array(reals), ctypes.c_int(0))


def _array(size: int) -> ctypes.c_void_p:
    """Zeros that stay."""
    memory = ctypes.create_string_buffer(NUMBER * size + ALIGNED)
    _kept.append(memory)
    return ctypes.c_void_p(-(-ctypes.addressof(memory) // ALIGNED) * ALIGNED)


def _table(sizes: list[int], width: int = 0) -> ctypes.Array[ctypes.c_void_p]:
    """The places of arrays of such sizes, with room for so many."""
    places = (ctypes.c_void_p * max(1, width, len(sizes)))()
    for i, size in enumerate(sizes):
        places[i] = _array(size).value
    return places


_kept: list[object] = []

if __name__ == "__main__":
    print(LOADING, flush=True)
    try:
        _try(sys.argv[1], sys.argv[2:])
    except (OSError, AttributeError, ValueError) as error:
        print(error)
    print(TRIED, flush=True)
