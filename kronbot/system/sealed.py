"""What comes out of a pickle as it went in: a sum over its content tells where somebody, or a disk, has changed it.

It is no signature. Who writes pickles can write what they do when they are read: pickles of strangers are programs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from kronbot.errors import UsageError


def seal(*content: object) -> str:
    """The sum over text, numbers, arrays, lists, mappings and data classes of these; of what else there is the kind."""
    found = hashlib.sha256()
    for piece in _pieces(content):
        found.update(b"%d:" % len(piece) + piece)
    return found.hexdigest()[:32]


def demand_same(what: str, then: str, now: str) -> None:
    """Raise UsageError where two sums differ."""
    if then != now:
        raise UsageError(f"this pickle of {what} is not as it was written: its content has another sum")


def _pieces(value: Any) -> Iterable[bytes]:
    yield type(value).__name__.encode()
    if hasattr(value, "dtype"):  # NumPy's, which descriptions do without
        yield f"{value.dtype.str} {value.shape}".encode()
        yield repr(value.tolist()).encode() if value.dtype.hasobject else value.tobytes()
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from _pieces(key)
            yield from _pieces(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _pieces(each)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _pieces(getattr(value, field.name))
    elif isinstance(value, str | int | float | complex):
        yield repr(value).encode(errors="surrogatepass")
