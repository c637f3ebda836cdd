"""What handlers of signals raise that a program has set: it comes through a question as itself."""

from __future__ import annotations

# What is below the module signal, which makes an enumeration of every answer: forty at each question.
import _signal as signal  # type: ignore[import-not-found]
from itertools import compress

from kronbot.system.interruption import MET, Heard, set_handlers, surely

_ALL = tuple(signal.valid_signals())


class OwnErrors:
    """What a handler of signals raises in here (a time limit by SIGALRM) comes through as itself.

    CasADi makes a nameless RuntimeError of it, as of a Ctrl-C, or loses it; what tries another way would hide it.
    """

    def __enter__(self) -> None:
        import threading

        here = _ALL if threading.current_thread() is threading.main_thread() else ()
        # Each has its own list: what one leaves that was interrupted as it ended is nobody's.
        raised: list[BaseException] = []
        self._heard = {
            number: Heard(handler, raised)
            for number in compress(here, map(callable, map(signal.getsignal, here)))
            if (handler := signal.getsignal(number)) != MET.note
        }
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
