"""One piece of work on several cores: how many threads it is worth, and threads that do without Python's lock."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread

from kronbot.system.platform import host

# Work (s) that a further thread is worth: of Python's; of CasADi's, which begin anew with each call, and whose map
# takes some milliseconds to make.
THREAD, SPELLS = 0.001, 0.1

Fill = Callable[[int], None]


def threads_for(work: float, worth: float) -> int:
    """How many threads so much work (s) is worth."""
    return max(1, min(host.cores(), int(work / worth)))


def startable(wanted: int) -> int:
    """How many threads there can be beside this one, up to so many: the process may be limited (ulimit -u)."""
    over = Event()
    threads = _started(wanted, over.wait)
    over.set()
    for thread in threads:
        thread.join()
    return len(threads)


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

    threads = _started(workers - 1, work)
    work()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]


def _started(count: int, work: Callable[[], object]) -> list[Thread]:
    """As many threads at work as wanted, fewer where the system has no more."""
    threads = []
    with suppress(RuntimeError):
        for _ in range(count):
            thread = Thread(target=work, daemon=True)
            thread.start()
            threads.append(thread)
    return threads
