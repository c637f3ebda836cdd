"""Forks beside threads at work: a process begins between two of their questions, or says at once that it cannot.

A forked process has no thread but one. What the others held of it stays shut for ever: locks of modules that they were
importing, those in CasADi. So a fork waits until they are between two questions, or tell how far one is.
"""

from __future__ import annotations

import os
import sys
from threading import Condition, RLock, get_ident
from types import FrameType, TracebackType

from kronbot.errors import Failure
from kronbot.system.handlers import Later, OwnErrors

# inspect.CO_GENERATOR, which takes longer to import than a robot.
_GENERATOR = 0x20
# Longest time (s) that a fork waits.
PATIENCE = 2.0
BESIDE = (
    "this process was forked while another thread was at work with kronbot, whose locks it cannot open: start "
    "processes by spawn (multiprocessing.get_context('spawn')), or fork before threads begin"
)


class _Gate:
    """Who is at work, how deep, and whether a thread forks."""

    def __init__(self) -> None:
        self._renew()
        # How deep each thread is, and in which frame it began.
        self.depths: dict[int, tuple[int, FrameType]] = {}
        self.forking: int | None = None
        self.shut = False
        self.later: Later | None = None

    def _renew(self) -> None:
        # The lock is shut by itself: a signal at the wrong moment would leave a condition shut, which is in Python.
        self.lock = RLock()
        self.free = Condition(self.lock)

    def enter(self, depth: int, frame: FrameType) -> bool:
        """Deeper by so much, in a frame; whether the thread was at work."""
        me = get_ident()
        with self.lock:
            while self.forking not in (None, me) and me not in self.depths:
                self.free.wait(PATIENCE)
            was, began = self.depths.get(me, (0, frame))
            # What a signal has ended just as it began, or ended, may be there still.
            within = was > 0 and _lasts(began)
            self.depths[me] = (was + depth, began) if within else (depth, frame)
        return within

    def leave(self, depth: int | None) -> tuple[int, FrameType | None]:
        """Back by a depth, or all the way; how deep it was, and in which frame that began."""
        me = get_ident()
        with self.lock:
            was, began = self.depths.get(me, (0, None))
            if depth is None or was <= depth or began is None:
                self.depths.pop(me, None)
                if self.forking is not None:  # nobody waits for anything else
                    self.free.notify_all()
            else:
                self.depths[me] = was - depth, began
        return was, began

    def others(self) -> bool:
        return any(each != get_ident() for each in self.depths)

    def before(self) -> None:
        self.lock.acquire()
        self.forking = get_ident()
        if self.others():
            self.later = Later()  # Python drops what is raised in here
            self.free.wait_for(lambda: not self.others(), PATIENCE)

    def in_parent(self) -> None:
        self.forking = None
        self.free.notify_all()
        self.lock.release()
        self.awake(True)

    def awake(self, again: bool) -> None:
        later, self.later = self.later, None
        if later is not None:
            later.end(again)

    def in_child(self) -> None:
        self.shut = self.shut or self.others()
        me = get_ident()
        self._renew()
        self.forking = None
        self.depths = {me: self.depths[me]} if me in self.depths else {}
        self.awake(False)


def _lasts(frame: FrameType) -> bool:
    """Whether a frame is among those of this thread; of a generator, which is in turn, that is not told."""
    here: FrameType | None = sys._getframe(1)
    while here is not None and here is not frame:
        here = here.f_back
    return here is frame or bool(frame.f_code.co_flags & _GENERATOR)


_gate = _Gate()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_gate.before, after_in_parent=_gate.in_parent, after_in_child=_gate.in_child)


class AtWork:
    """While a robot is built or a question answered, which may be part of another one.

    What a handler of signals raises comes through as itself. Raises KronbotError in a process that was forked beside
    one.
    """

    def __enter__(self) -> None:
        if _gate.shut:
            raise Failure(BESIDE)
        self._errors = None
        try:
            if not _gate.enter(1, sys._getframe(1)):
                self._errors = OwnErrors()
                self._errors.__enter__()
        except BaseException:
            _gate.leave(None)
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._errors is not None:
                self._errors.__exit__()
        finally:
            _gate.leave(1 if self._errors is None else None)


class Aside:
    """While the caller is told something in between: nothing is held then."""

    def __enter__(self) -> None:
        self._depth, self._began = _gate.leave(None)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._began is not None:
            _gate.enter(self._depth, self._began)
