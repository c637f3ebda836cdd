"""A progress bar on stderr: only on a terminal, and only for what takes longer than a second."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PATIENCE = 1.0
# Time (s) between two pictures of the bar: drawing takes longer than much of the work that tells its share.
PAUSE = 0.05


@contextmanager
def progress_bar(title: str, quiet: bool) -> Iterator[Callable[[float], None]]:
    """A function that takes the share that is done (0 to 1) and shows it where somebody can see it."""
    if quiet or not sys.stderr.isatty():
        yield lambda share: None
        return
    from rich.console import Console
    from rich.progress import Progress

    started = shown = time.monotonic()
    bar = Progress(console=Console(stderr=True), transient=True)
    task = bar.add_task(title, total=1.0)

    def show(share: float) -> None:
        nonlocal shown
        now = time.monotonic()
        if now - shown < PAUSE:
            return
        shown = now
        if now - started > PATIENCE and not bar.live.is_started:
            bar.start()
        bar.update(task, completed=share)

    try:
        yield show
    finally:
        bar.stop()
