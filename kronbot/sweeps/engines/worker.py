"""What a process of a sweep does. Signals and limits are seen to before libraries are loaded, which takes long."""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # of signal the constants are none of handle()'s
import os
import threading
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, NoReturn

from kronbot.errors import ComputationError, KronbotError, out_of_memory, said
from kronbot.system import limits
from kronbot.system.interruption import ENDED, end_unfinished, handle

if TYPE_CHECKING:
    from kronbot.sweeps.work import Done, Parcel


def work(pipe: Connection, lease: Connection) -> NoReturn:
    """Chunks, one after the other, until nobody asks any more; the driver ends a ``lease``, also by its own end.

    The task comes through the pipe, too: of one that the driver's end cuts short, multiprocessing would print a
    traceback.
    """
    handle(_leave_by_signal)
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def tell(words: str, code: int) -> NoReturn:
        with suppress(OSError):
            pipe.send(ComputationError(words))
        _leave(code)

    try:
        threading.Thread(target=lambda: (wait([lease]), _leave(0)), daemon=True).start()
    except RuntimeError as error:
        tell(f"a process of the sweep cannot compute: {said(error)} (ulimit -u)", KronbotError.exit_code)
    limits.tell_native_exits(tell)
    parcel: Parcel | None = None
    answer: Done | KronbotError | None
    with suppress(EOFError, ConnectionError):
        while True:
            try:
                asked = pipe.recv()
                if parcel is None:
                    parcel = asked
                    parcel.task()
                    answer = None
                else:
                    answer = parcel.done(*asked)
            except (EOFError, ConnectionError):
                raise
            except KronbotError as error:
                answer = error
            except Exception as error:
                word = "" if out_of_memory(error) else f"{type(error).__name__}: "
                why = limits.met(error) or f"{word}{said(error)}"
                answer = ComputationError(f"a process of the sweep cannot compute: {why}")
            pipe.send(answer)
    _leave(0)


def _leave_by_signal(number: int, *_: object) -> NoReturn:
    handle(signal.SIG_IGN)  # another one would not let it come to its end
    _leave(ENDED + number)


def _leave(code: int) -> NoReturn:
    """Without what is under way, whatever the process is doing."""
    end_unfinished()
    os._exit(code)
