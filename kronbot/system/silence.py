"""What other libraries say of themselves while they work for a question, kept from who asks.

Streams, warnings and loggers belong to the whole program, any thread of which may use them, change them or ask, too.
So what is put in here lets pass what is said elsewhere, and is taken out without putting back anything older.
"""

from __future__ import annotations

import logging
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import RLock, get_ident
from typing import Any, TextIO, cast

_TURN = RLock()
_calls: set[object] = set()


def unheard(function: Callable[..., Any], **given: object) -> Any:
    """What a function of CasADi returns or raises. It prints on ``sys.stderr`` what it makes of a Ctrl-C: that is lost.

    What handlers of signals and other threads print meanwhile arrives. A stream that somebody else puts there stays.
    """
    me = object()
    try:
        with _TURN:
            _calls.add(me)
            if sys.stderr is not None and not isinstance(sys.stderr, _Sieve):
                sys.stderr = _Sieve(sys.stderr)
        return function(**given)
    finally:
        with _TURN:
            _calls.discard(me)
            if not _calls and isinstance(sieve := sys.stderr, _Sieve):
                sys.stderr = sieve.stream


class _Sieve:
    """A stream without what CasADi writes to it for :func:`unheard`: from C++, so that the function at work is still
    the one that was called.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        frame = sys._getframe(1)
        while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith("casadi."):
            frame = frame.f_back
        return len(text) if frame.f_code is unheard.__code__ else self.stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextmanager
def unwarned(pattern: str = "") -> Iterator[None]:
    """Warnings of this thread that begin with a pattern are ignored in here, by a filter of its own.

    ``warnings.catch_warnings`` puts back a list that other threads may have changed meanwhile, or put back before.
    """
    here = _Here(pattern)
    try:
        _filters().insert(0, ("ignore", here, Warning, None, 0))
        yield
    finally:
        here.over = True
        filters = _filters()
        # Those of others, too, who have left while an older list, which holds theirs, was waiting to be put back.
        for each in [each for each in filters if isinstance(each[1], _Here) and each[1].over]:
            with suppress(ValueError):
                filters.remove(each)


def _filters() -> list[Any]:
    return cast("list[Any]", warnings.filters)  # a list, whatever is told of it


class _Here:
    """In the place of the pattern of a filter of warnings: it matches what one thread says, until that is over."""

    def __init__(self, pattern: str) -> None:
        self.pattern, self.thread, self.over = re.compile(pattern), get_ident(), False

    def match(self, text: str) -> bool:
        return not self.over and self.thread == get_ident() and self.pattern.match(text) is not None


@contextmanager
def unlogged(*names: str) -> Iterator[None]:
    """Loggers of these names say nothing in here, whoever else silences them."""

    def nothing(record: logging.LogRecord) -> bool:
        return False

    logs = [*map(logging.getLogger, names)]
    try:
        for log in logs:
            log.addFilter(nothing)
        yield
    finally:
        for log in logs:
            log.removeFilter(nothing)
