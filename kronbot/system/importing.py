"""Imports that are whole or not begun.

Of NumPy, PyYAML, pandas and a few others what a Ctrl-C leaves half imported cannot be imported again in the process: a
notebook would have no answers until it is started anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType

from kronbot.system.forking import AtWork
from kronbot.system.interruption import interruptions


@contextmanager
def whole_imports() -> Iterator[None]:
    """A Ctrl-C waits for what is imported in here, however often it comes, and so does a fork in another thread."""
    with AtWork(), interruptions() as met, met.whole():
        yield


def imported(name: str) -> ModuleType:
    """The module of that name, whole."""
    with whole_imports():
        return import_module(name)


def parts_of(package: str) -> Callable[[str], ModuleType]:
    """The ``__getattr__`` of a package whose modules are imported, whole, when they are asked for."""

    def part(name: str) -> ModuleType:
        try:
            if not name.startswith("_"):
                return imported(f"{package}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{package}.{name}":
                raise
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return part
