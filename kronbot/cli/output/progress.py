"""A progress bar on stderr, on a terminal that moves its cursor, for what takes longer than a second; elsewhere a line
now and then of what takes longer than a minute."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from kronbot.cli.output.files import tell

PATIENCE = 1.0
# Time (s) between two pictures of the bar: drawing takes longer than much of the work that tells its share.
PAUSE = 0.05
# Time (s) before the first line where there is no bar; each further one comes after twice the time of the one before.
LONG = 60.0


@contextmanager
def progress_bar(title: str, quiet: bool) -> Iterator[Callable[[float], None]]:
    """A function that takes the share that is done (0 to 1) and shows it where somebody can see it."""
    if quiet:
        yield lambda share: None
        return
    # TERM=dumb would get an empty line for it.
    if not sys.stderr.isatty() or os.environ.get("TERM", "").lower() in ("dumb", "unknown"):
        yield _in_lines(title)
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


def _in_lines(title: str) -> Callable[[float], None]:
    began, due = time.monotonic(), LONG

    def show(share: float) -> None:
        nonlocal due
        passed = time.monotonic() - began
        if passed >= due:
            due = 2 * passed
            tell(f"{title}: some {100 * share:.0f} % done after {passed:.0f} s")

    return show
