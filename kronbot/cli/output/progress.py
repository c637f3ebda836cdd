"""A progress bar on stderr: only on a terminal that moves its cursor, and only for what takes longer than a second."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

PATIENCE = 1.0
# Time (s) between two pictures of the bar: drawing takes longer than much of the work that tells its share.
PAUSE = 0.05


@contextmanager
def progress_bar(title: str, quiet: bool) -> Iterator[Callable[[float], None]]:
    """A function that takes the share that is done (0 to 1) and shows it where somebody can see it."""
    # TERM=dumb would get an empty line for it.
    if quiet or not sys.stderr.isatty() or os.environ.get("TERM", "").lower() in ("dumb", "unknown"):
        yield lambda share: None
        return
    from rich.console import Console
    from rich.progress import Progress

    shown = time.monotonic()
    bar = Progress(console=Console(stderr=True), transient=True)

    def start() -> None:
        with suppress(RuntimeError):  # no thread left (ulimit -u): no bar
            bar.start()

    # Some work, like tracing, tells nothing for long.
    alarm = threading.Timer(PATIENCE, start)
    alarm.daemon = True
    task = bar.add_task(title, total=1.0)

    def show(share: float) -> None:
        nonlocal shown
        now = time.monotonic()
        if now - shown < PAUSE:
            return
        shown = now
        bar.update(task, completed=share)

    try:
        with suppress(RuntimeError):
            alarm.start()
        yield show
    finally:
        alarm.cancel()
        if alarm.is_alive():
            alarm.join()
        bar.stop()
