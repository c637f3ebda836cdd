"""Ctrl-C at any moment.

Where Python runs it raises KeyboardInterrupt. CasADi makes a nameless RuntimeError of that, and imports and destructors
may swallow it, so what was met is remembered. The command line does not rely on either: a thread ends the process when
the work has not ended by itself.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn

CODE = 130
# Time (s) that the work has to end by itself after a Ctrl-C; the process ends within a second.
PATIENCE = 0.8
# Temporary files that must not stay behind when the process is ended.
UNFINISHED: set[str] = set()


class Interruptions(list[int]):
    """The Ctrl-Cs met in one piece of work: true after the first one."""

    def __init__(self) -> None:
        super().__init__()
        self.answered = 0

    def note(self, number: int, frame: object) -> None:
        """Handle the signal."""
        self.append(number)
        raise KeyboardInterrupt

    def take_time(self) -> None:
        """What was met is being answered, by saving what there is: that may take longer than PATIENCE."""
        self.answered = len(self)

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Whatever becomes of a Ctrl-C in here (another error, nothing at all), it ends as KeyboardInterrupt."""
        try:
            yield
        except Exception:
            if not self:
                raise
        if self:
            raise KeyboardInterrupt


_met = Interruptions()


@contextmanager
def interruptions() -> Iterator[Interruptions]:
    """The Ctrl-Cs met meanwhile, so that what they raise can be told from an error of its own.

    Within another one it is the same list: what an inner piece of work has met is known to the outer one.
    """
    import threading  # here, because the command line waits for this module before it handles Ctrl-C

    if threading.current_thread() is not threading.main_thread():
        yield Interruptions()
        return
    before = signal.getsignal(signal.SIGINT)
    if before == _met.note:
        yield _met
        return
    _met.clear()
    _met.answered = 0
    signal.signal(signal.SIGINT, _met.note)
    try:
        yield _met
    finally:
        signal.signal(signal.SIGINT, before)


def leave(*_: object) -> NoReturn:
    """End the process as an interrupted one, whatever it is doing. Also a handler of the signal."""
    for name in tuple(UNFINISHED):
        with suppress(OSError):
            os.unlink(name)
    with suppress(OSError, ValueError):
        # A pipe that is full, with nobody who reads it, would block.
        if select.select([], [2], [], 0)[1]:
            os.write(2, b"Error: interrupted\n")
    os._exit(CODE)


def leave_in_time() -> None:
    """From now on a Ctrl-C ends the process after PATIENCE, unless the work has ended it or asked for more time.

    For the main thread of the command line. One call of native code that keeps other threads from running delays it.
    Destructors and callbacks that swallow the exception do not print it.
    """
    import threading

    def print_unless_interrupted(unraisable: sys.UnraisableHookArgs) -> None:
        if not issubclass(unraisable.exc_type, KeyboardInterrupt):
            sys.__unraisablehook__(unraisable)

    sys.unraisablehook = print_unless_interrupted
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)

    def watch() -> None:
        count = 0
        while True:
            if os.read(reading, 1) != bytes([signal.SIGINT]):
                continue
            count += 1
            time.sleep(PATIENCE)
            if _met.answered < count:
                leave()

    threading.Thread(target=watch, daemon=True).start()
