"""What handlers of signals raise that a program has set: it comes through a question as itself, and is not lost."""

from __future__ import annotations

# What is below the module signal, which makes an enumeration of every answer: forty at each question.
import _signal as signal  # type: ignore[import-not-found]
import time
from _thread import interrupt_main, start_new_thread
from collections.abc import Callable
from itertools import compress
from types import FrameType

from kronbot.system.interruption import MET, Heard, set_handlers, surely

_ALL = tuple(signal.valid_signals())
# Within it (s) Python has left a function that is called at a fork, by far.
MOMENT = 0.05


class OwnErrors:
    """What a handler of signals raises in here (a time limit by SIGALRM) comes through as itself.

    CasADi makes a nameless RuntimeError of it, as of a Ctrl-C, or loses it; what tries another way would hide it.
    """

    def __enter__(self) -> None:
        # Each has its own list: what one leaves that was interrupted as it ended is nobody's.
        raised: list[BaseException] = []
        self._heard = {number: Heard(handler, raised) for number, handler in _callable().items() if handler != MET.note}
        if not self._heard:
            return
        self._outer, MET.raised = MET.raised, raised
        try:
            set_handlers(self._heard)
        except BaseException:
            self._end()
            raise

    def __exit__(self, *_: object) -> None:
        if self._heard:
            raised = MET.raised
            surely(self._end)
            if raised:
                raise raised[0]

    def _end(self) -> None:
        MET.raised, heard = self._outer, self._heard.items()
        # The program may have set another one.
        set_handlers({number: note.handler for number, note in heard if signal.getsignal(number) is note})


class Later:
    """Signals that come while whatever a handler raises is dropped: they are told once more afterwards."""

    def __init__(self) -> None:
        self._met: list[int] = []
        self._handlers = _callable()
        set_handlers(dict.fromkeys(self._handlers, lambda number, _: self._met.append(number)))

    def end(self, again: bool) -> None:
        """Whether to tell them ``again``, to the main thread, a moment later."""
        set_handlers(self._handlers)
        if again and self._met:
            start_new_thread(self._tell, ())

    def _tell(self) -> None:
        time.sleep(MOMENT)
        for number in self._met:
            interrupt_main(number)  # type: ignore[arg-type]


def _callable() -> dict[int, Callable[[int, FrameType | None], object]]:
    """The handlers of signals that this thread runs."""
    import threading

    here = _ALL if threading.current_thread() is threading.main_thread() else ()
    return {number: signal.getsignal(number) for number in compress(here, map(callable, map(signal.getsignal, here)))}
