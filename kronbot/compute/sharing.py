"""One piece of work on several cores: by processes, or by threads where it does without Python's lock."""

from __future__ import annotations

import logging
import mmap
import os
import signal
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from threading import Thread

from kronbot.system.interruption import handle

# Work (s) that a further process is worth, started and ended, and a further thread.
PROCESS, THREAD = 0.05, 0.001

LOG = logging.getLogger("kronbot")

Fill = Callable[[int], None]


def processes_for(work: float) -> int:
    """How many processes so much work (s) is worth; without fork one."""
    return _workers(work / PROCESS) if sys.platform == "linux" else 1


def threads_for(work: float) -> int:
    """How many threads so much work (s) is worth."""
    return _workers(work / THREAD)


def _workers(worth: float) -> int:
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return max(1, min(cores, int(worth)))


def by_processes(fill: Fill, parts: int) -> None:
    """Every part, the first here, the others each in a process of its own; what one of them fails at is done here.

    The parts write to memory that is shared with processes forked from this one. Ctrl-C ends them all.
    """
    # The system may keep how a child has ended to itself: below cron, SIGCHLD is ignored.
    done = mmap.mmap(-1, parts)
    children: list[int] = []
    try:
        for part in range(1, parts):
            try:
                with warnings.catch_warnings():
                    # Python warns of threads, whose locks a child could wait for; it takes none but the allocator's.
                    warnings.simplefilter("ignore", DeprecationWarning)
                    child = os.fork()
            except OSError as error:
                LOG.debug("no further process can be started (ulimit -u): %s", error)
                break
            if child == 0:
                _work_and_leave(fill, part, done)
            children.append(child)
        fill(0)
        while children:
            with suppress(ChildProcessError):
                os.waitpid(children[0], 0)
            del children[0]
        for part in range(1, parts):
            if not done[part]:
                fill(part)
    finally:
        for child in children:
            with suppress(ChildProcessError):  # it has ended, and its number may be another's
                if os.waitpid(child, os.WNOHANG)[0] == 0:
                    os.kill(child, signal.SIGKILL)
                    os.waitpid(child, 0)


def _work_and_leave(fill: Fill, part: int, done: mmap.mmap) -> None:
    """What a child does: its part, and nothing of what its parent would do at its end."""
    try:
        handle(signal.SIG_DFL)
        fill(part)
        done[part] = 1
    finally:
        os._exit(0)


def by_threads(fill: Fill, parts: int, workers: int) -> None:
    """Every part, by this thread and further ones; after an error or a Ctrl-C no part is begun."""
    left = iter(range(parts))
    failed: list[BaseException] = []

    def work() -> None:
        try:
            for part in left:
                if failed:
                    break
                fill(part)
        except BaseException as error:
            failed.append(error)

    threads = [Thread(target=work, daemon=True) for _ in range(workers - 1)]
    started = []
    with suppress(RuntimeError):  # the limit of threads (ulimit -u): fewer do it, too
        for thread in threads:
            thread.start()
            started.append(thread)
    work()
    for thread in started:
        thread.join()
    if failed:
        raise failed[0]
