"""Whether bytes can be what the loader of a Linux system takes: a cut library ends the process that loads it."""

from __future__ import annotations

import struct
import sys

HEADER, SEGMENT = 64, 56  # bytes
SHARED, LOADED = 3, 1  # kinds of an object and of a segment
WORDS = 2  # the class of objects with 64 bits
# Types and places of: kind, first segment's place, size and number of segments; of a segment: kind, place, size.
FIELDS = (("H", 16), ("Q", 32), ("H", 54), ("H", 56))
OF_SEGMENT = (("I", 0), ("Q", 8), ("Q", 32))


def plausible(library: bytes, program: bytes) -> bool:
    """True for a whole shared object of 64 bits that is made for the machine of ``program``, given from its start."""
    if len(library) < HEADER or library[:6] != program[:6] or library[18:20] != program[18:20] or library[4] != WORDS:
        return False
    order = "<" if sys.byteorder == "little" else ">"
    kind, first, size, count = (struct.unpack_from(order + form, library, at)[0] for form, at in FIELDS)
    if kind != SHARED or size != SEGMENT or first + size * count > len(library):
        return False
    for at in range(first, first + size * count, size):
        loaded, offset, filled = (struct.unpack_from(order + form, library, at + k)[0] for form, k in OF_SEGMENT)
        if loaded == LOADED and offset + filled > len(library):
            return False
    return True
