"""Ctrl-C while native code runs: CasADi turns the exception it raises into a nameless RuntimeError."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interruptions() -> Iterator[list[int]]:
    """The Ctrl-Cs met meanwhile, so that what they raise can be told from an error of its own."""
    met: list[int] = []

    def note(number: int, frame: object) -> None:
        met.append(number)
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield met
        return
    before = signal.signal(signal.SIGINT, note)
    try:
        yield met
    finally:
        signal.signal(signal.SIGINT, before)
