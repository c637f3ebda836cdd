"""Limits of the process that libraries meet beneath Python: they end it, wait for ever, or use words of their own."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable

from kronbot.errors import LIMITS, KronbotError, not_loaded, said
from kronbot.system.platform import host

# Bytes that packages with a BLAS take when they are loaded, with what else is loaded by then. SciPy's waits for ever
# where it does not get them, and holds up whoever would answer signals; beside NumPy and what comes after it Python
# crashes now and then.
ROOM = {"numpy": 120 << 20, "scipy": 160 << 20}


def met(error: BaseException) -> str | None:
    """What is told of a limit that an error comes of, and that whatever the process does next meets, too.

    None for other errors, and where memory is out: less at a time may need no more than there is.
    """
    if limit := not_loaded(error):
        return f"cannot load a library: {limit}"
    if isinstance(error, OSError) and error.errno in LIMITS:
        return said(error)
    if isinstance(error, SystemError) and _speechless(error) and host.memory_limit() < math.inf:
        return _given_up()
    return None


def tell_native_exits(end: Callable[[str, int], object]) -> None:
    """Where a library ends the process for want of memory, ``end`` does it before, with the limit and an exit code.

    Where one would wait for memory, it is not loaded.
    """
    if host.memory_limit() == math.inf:
        return
    words = _given_up()
    host.at_native_exit(lambda: end(words, KronbotError.exit_code))
    sys.meta_path.insert(0, _Room())


class _Room:
    """Looks whether there is memory for packages before they are loaded."""

    def __init__(self) -> None:
        self._left = dict(ROOM)

    def find_spec(self, name: str, *_: object) -> None:
        """Find nothing. Raises ImportError."""
        if (wanted := self._left.get(name)) is None:
            return
        if host.memory_left() < wanted:
            raise ImportError(f"{name} wants {wanted >> 20} MB more: Cannot allocate memory")
        del self._left[name]


def _given_up() -> str:
    return f"a library has given up: {said(MemoryError())}"


def _speechless(error: SystemError) -> bool:
    """Whether Python has met a failure without an exception, or the reverse: of libraries, and where memory is out."""
    return bool(re.search("without .*exception|with an exception set|unreported exception", str(error)))
