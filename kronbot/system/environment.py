"""Variables of the process: where programs are looked for that it starts, and values for now."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import RLock

_TURN = RLock()
# Values for now, the last ones last, and those of variables before all of them.
_inside: list[Mapping[str, str]] = []
_before: dict[str, str | None] = {}


def search_path() -> str:
    """The folders of PATH that are absolute: what is in the current folder, or beneath it, anybody may have laid there.

    Where none is left it leads nowhere: an empty one would be the current folder.
    """
    known = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(filter(os.path.isabs, known)) or os.devnull


@contextmanager
def for_now(values: Mapping[str, str]) -> Iterator[None]:
    """Variables have other values inside, and those that they had before after the last thread that has left."""
    with _TURN:
        _inside.append(values)
        for name in values:
            _before.setdefault(name, os.environ.get(name))
        os.environ.update(values)
    try:
        yield
    finally:
        with _TURN:
            _inside.remove(values)
            for name in values:
                others = [each[name] for each in _inside if name in each]
                value = others[-1] if others else _before.pop(name)
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value
