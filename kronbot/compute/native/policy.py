"""Whether native code is used: where it pays, always, or never. Light to import: options are read before models."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from kronbot.errors import UsageError

CHOICES = ("auto", "on", "off")
_choice = ContextVar("native", default="auto")


def choice() -> str:
    """``auto``, ``on`` or ``off``."""
    return _choice.get()


@contextmanager
def native(choice: str) -> Iterator[None]:
    """Use native code as chosen: ``auto`` from the cache, and compiled where that is expected to save more than its
    time (twice its time where it is waited for); ``on`` compiled in any case; ``off`` never. Answers are
    the same to the last bit.

    Raises UsageError for another word.
    """
    if choice not in CHOICES:
        raise UsageError(f"native {choice!r}: there are {', '.join(CHOICES)}")
    token = _choice.set(choice)
    try:
        yield
    finally:
        _choice.reset(token)
