"""Processes of this machine, started afresh (spawn): each has a pipe, so that one knows whose chunk has ended it."""

from __future__ import annotations

import errno
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import field
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from types import ModuleType, TracebackType
from typing import Self

from kronbot.errors import ComputationError, KronbotError, said
from kronbot.records import dataclass
from kronbot.sweeps.engines.interface import Lost
from kronbot.sweeps.engines.worker import work
from kronbot.sweeps.work import Done, Parcel
from kronbot.system.environment import for_now
from kronbot.system.interruption import UNFINISHED, interruptions
from kronbot.system.platform import host

# Processes that end before their first chunk, one after the other: more will not do either.
STARTS = 3
# Time (s) that processes have to clear away what they have under way, before a Ctrl-C ends the driver.
GRACE = 0.5
# The same where the driver ends at once: what does not hear that it has gone, in native code, would go on without it.
LAST_GRACE = 0.15
# One thread for matrices; nothing is imported from the folder that the driver happens to be in.
_SURROUNDINGS = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "PYTHONSAFEPATH"), "1"
)
# What processes begin with belongs to the whole program, whose threads may all have sweeps.
_STARTING = threading.Lock()


@dataclass
class _Worker:
    process: SpawnProcess
    pipe: Connection
    lease: Connection
    spans: deque[tuple[int, int]] = field(default_factory=deque)
    ready: bool = False

    def close(self) -> str:
        """Wait for its end; with what code that is, in words."""
        self.process.join()
        self.pipe.close()
        self.lease.close()
        code = self.process.exitcode
        if code is None:  # nobody is told where SIGCHLD is ignored, as below cron
            return ""
        self.process.close()
        return f" with code {code}"


class Local:
    """So many processes, by default one a core, no more than there are cases."""

    def __init__(self, parcel: Parcel, workers: int | None, cases: int) -> None:
        self._parcel = parcel
        self._count = min(workers or host.cores(), cases)
        self._workers: list[_Worker] = []
        self._failures = 0
        self._owner = os.getpid()

    @property
    def workers(self) -> int:
        """How many there are."""
        return self._count

    def __enter__(self) -> Self:
        if multiprocessing.current_process().daemon:
            raise ComputationError(
                "a sweep starts processes, and those of multiprocessing.Pool may have none: call it from the program "
                "itself, or from a concurrent.futures.ProcessPoolExecutor"
            )
        UNFINISHED[self._name] = lambda: self._end(LAST_GRACE)
        try:
            for _ in range(self._count):
                self._start()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end(GRACE)
        UNFINISHED.pop(self._name, None)
        for worker in self._workers if self._own else ():
            worker.close()
        self._workers.clear()

    @property
    def _own(self) -> bool:
        """Whether processes are those of this one, and not of one that it was forked from."""
        return os.getpid() == self._owner

    def _demand_own(self) -> None:
        if not self._own:
            why = "a sweep goes on in the process that has begun it, not in one that is forked from there"
            raise ComputationError(f"{why}: begin another one")

    @property
    def _name(self) -> str:
        return f"sweep {id(self)}"

    def _end(self, grace: float) -> None:
        """Of all processes, once they have had so much time (s); two threads may be at it."""
        workers, end = [*self._workers] if self._own else [], time.monotonic() + grace
        for worker in workers:
            worker.lease.close()
        for worker in workers:
            with suppress(OSError, ValueError):  # the other thread has waited for its end
                if not wait([worker.process.sentinel], max(0.0, end - time.monotonic())):  # in native code, perhaps
                    worker.process.kill()

    def submit(self, span: tuple[int, int]) -> None:
        """To the worker with least to do."""
        self._demand_own()
        idle = min(self._workers, key=lambda worker: len(worker.spans))
        idle.spans.append(span)
        with suppress(OSError):  # it has ended, which its pipe tells
            idle.pipe.send(span)

    def results(self) -> Iterable[Done | Lost]:
        """What has come. Raises as an engine's."""
        self._demand_own()
        found: list[Done | Lost] = []
        while not found:
            by_pipe = {worker.pipe: worker for worker in self._workers}
            for pipe in wait(list(by_pipe)):
                worker = by_pipe[pipe]  # type: ignore[index]
                try:
                    answer = worker.pipe.recv()
                except (EOFError, OSError):
                    found += self._ended(worker)
                    continue
                if answer is None:
                    worker.ready, self._failures = True, 0
                elif isinstance(answer, KronbotError):
                    raise answer
                else:
                    worker.spans.popleft()
                    found.append(answer)
        return found

    def _ended(self, worker: _Worker) -> list[Done | Lost]:
        """The chunk that a worker was at; those that waited for it go to others."""
        self._workers.remove(worker)
        code = worker.close()
        spans = list(worker.spans)
        if not worker.ready:
            self._failures += 1
            if self._failures >= STARTS:
                raise ComputationError(f"processes of the sweep do not start: they end{code}")
            lost: list[Done | Lost] = []
        else:
            lost = [Lost(spans.pop(0))] if spans else []
        self._start()
        for span in spans:
            self.submit(span)
        return lost

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        held, lease = context.Pipe(duplex=False)
        process = context.Process(target=work, args=(theirs, held), daemon=True, name="kronbot sweep")
        try:
            with _STARTING, interruptions() as met, met.saving(), _plain_start():
                process.start()
                self._workers.append(_Worker(process, ours, lease))
        except OSError as error:
            which = {errno.EAGAIN: " (ulimit -u)", errno.ENOENT: " (is the current folder gone?)"}.get(
                error.errno or 0, ""
            )
            raise ComputationError(f"no process can be started: {said(error)}{which}") from None
        finally:
            theirs.close()
            held.close()
        with suppress(OSError):  # as above
            ours.send(self._parcel)


@contextmanager
def _plain_start() -> Iterator[None]:
    """A process that begins in here runs nothing of the main program, hears no Ctrl-C and computes on one thread."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        with for_now(_SURROUNDINGS), _deaf():
            yield
    finally:
        sys.modules["__main__"] = main


@contextmanager
def _deaf() -> Iterator[None]:
    """No Ctrl-C is heard in here, nor by processes that begin, until they have handlers of their own."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    masked = signal.pthread_sigmask(signal.SIG_BLOCK, set())
    # multiprocessing's own process, which begins with the first of these, would unblock the signal for them.
    resource_tracker.ensure_running()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, masked)
