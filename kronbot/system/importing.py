"""Imports that are whole or not begun.

Of NumPy, PyYAML, pandas and a few others what a Ctrl-C leaves half imported cannot be imported again in the process: a
notebook would have no answers until it is started anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kronbot.system.interruption import interruptions


@contextmanager
def whole_imports() -> Iterator[None]:
    """A Ctrl-C waits for what is imported in here."""
    with interruptions() as met, met.saving():
        yield
