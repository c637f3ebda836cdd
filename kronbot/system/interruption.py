"""Ctrl-C at any moment, and the signals by which others ask for an end.

Those are SIGTERM (timeout, containers, batch systems), SIGHUP (a terminal that closes) and SIGXCPU (a limit of time).
Where Python runs they raise KeyboardInterrupt. CasADi makes a nameless RuntimeError of that, and imports and
destructors may swallow it, so what was met is remembered. The command line does not rely on either: a thread ends the
process when the work has not ended by itself.
"""

from __future__ import annotations

# What is below the module signal, which makes an enumeration of every answer: forty at each question.
import _signal as signal  # type: ignore[import-not-found]
import math
import os
import sys
import time
from _thread import RLock
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

from kronbot.system.platform import host

# Each with the time (s) within which a second one is the same request; nobody types so fast.
REPEATS: dict[int, float] = {signal.SIGINT: 0.1, **host.ENDING}
SIGNALS = tuple(REPEATS)
# What a shell adds to the number of the signal that ended a process.
ENDED = 128
# Time (s) that the work has to end by itself after a Ctrl-C; the process ends within a second.
PATIENCE = 0.8
# The same after the other signals, whose senders wait longer than people: what there is is worth it.
UNATTENDED = 5.0
# Bytes that Python and a thread of it need, by far, beside the thread's stack; numbers take more.
LEAST_MEMORY = 40 << 20
# What the end of the process does with files that are not whole, with compilers at work and what they work in, by their
# names, the last one first. Each says what it has left, if anything.
UNFINISHED: dict[str, Callable[[], str | None]] = {}
# Two threads may end the process: neither before the other one has left nothing behind.
_ENDING = RLock()
# In the pipe that the numbers of signals come through: those before it are being answered; they have been.
_ANSWERED, _OVER = 0, 255


class _Repeats:
    """Tells a signal that is sent twice at once from a second request."""

    def __init__(self) -> None:
        self._last = -math.inf

    def __call__(self, number: int) -> bool:
        now = time.monotonic()
        again = now - self._last < REPEATS[number]
        self._last = self._last if again else now
        return again


class Interruptions(list[int]):
    """The signals met in one piece of work: true after the first one."""

    def __init__(self) -> None:
        super().__init__()
        self.pipe: host.Channel | None = None
        # What other handlers, of the program that uses the library, have raised during a question.
        self.raised: list[BaseException] = []
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        self.clear()
        # What is being done, for who is told that it was interrupted.
        self.doing: Callable[[], str] = lambda: "interrupted"
        self._again = _Repeats()
        self._saving = self._telling = self._hurried = self._whole = False

    @property
    def code(self) -> int:
        """What the process ends with."""
        return ENDED + self[0]

    def note(self, number: int, frame: FrameType | None) -> None:
        """Handle the signal."""
        if self._again(number):
            return
        self.append(number)
        if self._whole:
            return
        if not self._saving or len(self) > 1:
            raise KeyboardInterrupt
        if not self._hurried:
            self.take_time()

    def take_time(self) -> None:
        """What was met is being answered, by saving what there is: that may take longer than PATIENCE."""
        self._tell(_ANSWERED)

    def hurry(self) -> None:
        """What was saved is there and is told from now on: a signal waits for that, though no longer than PATIENCE."""
        self._saving = self._hurried = True
        if self:
            self._tell(_OVER)

    def _tell(self, byte: int) -> None:
        if self.pipe is not None:
            with suppress(OSError):
                self.pipe.tell(byte)

    @contextmanager
    def saving(self) -> Iterator[None]:
        """A first signal waits until what is saved in here is saved, a second one does not."""
        before, met = self._saving, len(self)
        self._saving = True
        try:
            yield
        finally:
            self._saving = before or self._telling
        if self and not met and not self._telling:
            raise KeyboardInterrupt

    @contextmanager
    def whole(self) -> Iterator[None]:
        """Signals wait until what is done in here is done, however many."""
        before, met = self._whole, len(self)
        self._whole = True
        try:
            yield
        finally:
            self._whole = before
        if len(self) > met and not before and (not self._saving or len(self) > 1):
            raise KeyboardInterrupt

    @contextmanager
    def telling(self) -> Iterator[None]:
        """What was saved in here is told in here, too: once it is saved, a first signal waits for that."""
        before = self._saving, self._telling, self._hurried
        self._telling = True
        try:
            yield
        finally:
            self._saving, self._telling, self._hurried = before

    @contextmanager
    def at_work(self, told: Callable[[], str]) -> Iterator[None]:
        """What is ``told`` where a signal ends the process in here, since the work does not end by itself."""
        before, self.doing = self.doing, told
        try:
            yield
        except KeyboardInterrupt:  # of which somebody else tells
            raise
        except BaseException:
            self.doing = before
            raise
        self.doing = before

    @contextmanager
    def polled(self) -> Iterator[None]:
        """In here a first signal waits for :meth:`demand_none`, though no longer than PATIENCE."""
        before = self._saving, self._hurried
        self._saving = self._hurried = True
        try:
            yield
        finally:
            self._saving, self._hurried = before

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Whatever becomes of a Ctrl-C in here (another error, nothing at all), it ends as KeyboardInterrupt.

        What another handler has raised ends as itself. Nothing waits in here, also within :meth:`saving`, and after
        one in here, whose answer is a part of the work.
        """
        before = self._saving, self._telling
        try:
            self._saving = self._telling = False
            yield
        except Exception:
            if not self and not self.raised:
                raise
        finally:
            self._saving, self._telling = before
        self.demand_none()

    def demand_none(self) -> None:
        """Raise what was met, also where native code or a destructor has swallowed it."""
        if self.raised:
            raise self.raised[0]
        if self:
            raise KeyboardInterrupt from None


# What the process has met in the question, or the command, that is being answered.
MET = Interruptions()


def handle(handler: Callable[[int, FrameType | None], object] | int) -> None:
    """Let every signal that asks for an end be answered so."""
    for number in _wanted(SIGNALS):
        signal.signal(number, handler)


def _wanted(signals: Iterable[int]) -> list[int]:
    """Those that the process was not told to ignore when it began (nohup, jobs in the background of scripts)."""
    return [number for number in signals if signal.getsignal(number) not in (signal.SIG_IGN, None)]


@contextmanager
def interruptions(signals: Iterable[int] = (signal.SIGINT,)) -> Iterator[Interruptions]:
    """The signals met meanwhile, so that what they raise can be told from an error of its own.

    Within another one it is the same list: what an inner piece of work has met is known to the outer one. Only the
    command line asks for more than Ctrl-C: other signals belong to the program that uses the library.
    """
    import threading  # here, because the command line waits for this module before it handles Ctrl-C

    if threading.current_thread() is not threading.main_thread():
        yield Interruptions()
        return
    ours = signal.default_int_handler, signal.SIG_DFL, signal.SIG_IGN, None, MET.note, leave
    if of_program(signal.SIGINT) not in ours:
        own = Interruptions()  # the program has other plans; what it raises is noted
        own.raised = MET.raised
        yield own
        return
    if any(signal.getsignal(number) == MET.note for number in SIGNALS):
        yield MET
        return
    MET.forget()
    before = {number: signal.getsignal(number) for number in _wanted(signals)}
    for number in before:
        signal.signal(number, MET.note)
    try:
        yield MET
    finally:
        surely(lambda: set_handlers(before))


class Heard:
    """A handler of signals, and a note of what it raises."""

    def __init__(self, handler: Callable[[int, FrameType | None], object], raised: list[BaseException]) -> None:
        self.handler, self.raised = handler, raised

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Handle the signal. Raises what the handler does."""
        try:
            self.handler(number, frame)
        except BaseException as error:
            self.raised.append(error)
            raise


def of_program(number: int) -> object:
    """The handler of a signal that the program has set."""
    handler = signal.getsignal(number)
    while isinstance(handler, Heard):
        handler = handler.handler
    return handler


def set_handlers(handlers: Mapping[int, object]) -> None:
    """Of signals by their numbers."""
    for number, handler in handlers.items():
        signal.signal(number, handler)


def surely(do: Callable[[], object]) -> None:
    """Do what can be done twice, to its end also where a handler of signals raises in between."""
    try:
        do()
    except BaseException:
        do()
        raise


def leave(number: int, *_: object) -> NoReturn:
    """End the process as one that a signal has ended, whatever it is doing. Also a handler of signals."""
    end(MET.doing(), ENDED + number)


def end_unfinished() -> str:
    """Leave nothing behind that is under way, where the process ends; what is said of it."""
    said = ""
    with _ENDING:
        while UNFINISHED:
            with suppress(OSError, KeyError):  # full; ended by another thread
                said += UNFINISHED.popitem()[1]() or ""
    return said


def end(words: str, code: int) -> NoReturn:
    """End the process with an error, whatever it is doing."""
    said = end_unfinished()
    with suppress(OSError, ValueError):
        # A pipe that is full, with nobody who reads it, would block.
        if host.takes_text(2):
            os.write(2, f"{said}Error: {words}\n".encode(errors="backslashreplace"))
    os._exit(code)


def leave_answered(code: int) -> NoReturn:
    """End the process with the code of its answer, which is told, and leave nothing of what is done after it."""
    handle(signal.SIG_IGN)
    end_unfinished()
    os._exit(code)


def leave_twice_interrupted() -> NoReturn:
    """End the process where a second signal came while the first was being answered."""
    leave(MET[0])


def leave_in_time() -> None:
    """From now on a signal ends the process in time, unless the work has ended it or asked for more.

    In time is after PATIENCE or UNATTENDED. For the main thread of the command line. One call of native code that keeps
    other threads from running delays it.
    Destructors and callbacks that swallow the exception do not print it. Raises OSError for want of descriptors,
    MemoryError where a thread might find so little that Python crashes in it or waits for it for ever.
    """
    if host.memory_limit() < LEAST_MEMORY:
        raise MemoryError(f"{LEAST_MEMORY >> 20} MB of memory and a thread's stack are the least")
    import threading

    def print_unless_interrupted(unraisable: sys.UnraisableHookArgs) -> None:
        if not issubclass(unraisable.exc_type, KeyboardInterrupt):
            sys.__unraisablehook__(unraisable)

    sys.unraisablehook = print_unless_interrupted
    MET.pipe = pipe = host.Channel()
    signal.set_wakeup_fd(pipe.writing, warn_on_full_buffer=False)

    def watch() -> None:
        again = _Repeats()
        waiting: list[tuple[float, int]] = []
        while True:
            end, first = min(waiting, default=(None, 0))
            left = None if end is None else max(0.0, end - time.monotonic())
            number = pipe.read(left)
            if number is None:
                leave(first)
            if number == _ANSWERED:
                waiting.clear()
            elif number == _OVER:
                waiting.append((time.monotonic() + PATIENCE, MET[0]))
            elif number in SIGNALS and not again(number):
                patience = PATIENCE if number == signal.SIGINT else UNATTENDED
                waiting.append((time.monotonic() + patience, number))

    with suppress(RuntimeError):  # the limit of threads (ulimit -u): without one, native code delays the end
        threading.Thread(target=watch, daemon=True).start()
