"""Variables of the process: where programs are looked for that it starts, and values for now."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager


def search_path() -> str:
    """The folders of PATH that are absolute: what is in the current folder, or beneath it, anybody may have laid there.

    Where none is left it leads nowhere: an empty one would be the current folder.
    """
    known = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(filter(os.path.isabs, known)) or os.devnull


@contextmanager
def for_now(values: Mapping[str, str]) -> Iterator[None]:
    """Variables have other values inside."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
