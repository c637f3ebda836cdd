"""Whether native code is used: where it pays, always, or never. Light to import: options are read before models."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from kronbot.errors import UsageError

CHOICES = ("auto", "on", "off")
# Time (s) that somebody waits before it is told what for.
SILENT = 5.0
_choice = ContextVar("native", default="auto")
# Who is told why what was asked for is not to be had; each is told once.
_listeners: ContextVar[list[Callable[[str], None]] | None] = ContextVar("listeners", default=None)
_waiting: ContextVar[Callable[[str], None]] = ContextVar("waiting", default=lambda what: None)


def choice() -> str:
    """``auto``, ``on`` or ``off``."""
    return _choice.get()


@contextmanager
def native(
    choice: str, tell: Callable[[str], None] | None = None, waiting: Callable[[str], None] = lambda what: None
) -> Iterator[None]:
    """Use native code as chosen: ``auto`` from the cache, and compiled where that is expected to save more than its
    time (twice its time where it is waited for); ``on`` compiled in any case; ``off`` never. Answers are
    the same to the last bit. Where ``on`` finds no way to compile, ``tell`` is told why, once; ``waiting`` what is
    waited for, and how long at most, wherever that has taken SILENT seconds.

    Raises UsageError for another word.
    """
    if choice not in CHOICES:
        raise UsageError(f"native {choice!r}: there are {', '.join(CHOICES)}")
    token, listening = _choice.set(choice), _listeners.set([] if tell is None else [tell])
    patient = _waiting.set(waiting)
    try:
        yield
    finally:
        _choice.reset(token)
        _listeners.reset(listening)
        _waiting.reset(patient)


def interpreted(why: str) -> None:
    """There is no native code for a function: a debug line, and news for who has asked for it in any case."""
    noted(f"no native code: {why}")
    listeners = _listeners.get()
    if choice() == "on" and listeners:
        listeners.pop()(why)


def waited_for(what: str) -> None:
    """Nothing goes on until it is there: a debug line, and news for who waits."""
    noted(f"waiting for {what}")
    _waiting.get()(what)


def noted(words: str) -> None:
    """Tell who listens to the logger ``kronbot``: nobody where nothing has imported logging, which is not imported for
    them, since a small robot is traced as soon, and there may be no descriptor to read it."""
    if logging := sys.modules.get("logging"):
        logging.getLogger("kronbot").debug(words)
