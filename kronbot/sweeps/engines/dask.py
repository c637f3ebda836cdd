"""A Dask cluster: its scheduler hands chunks to its workers, wherever these run and however they were started."""

from __future__ import annotations

import json
import logging
import math
import os
import platform
import re
import threading
import time
from collections.abc import Iterable
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any, Self

from kronbot.description.wording import quote
from kronbot.errors import Argument, ComputationError, KronbotError, UsageError, said
from kronbot.sweeps.engines.interface import Lost
from kronbot.sweeps.work import Done, Parcel
from kronbot.system import environment, private
from kronbot.system.importing import whole_imports
from kronbot.system.platform import host
from kronbot.system.silence import unlogged

# How long (s) a scheduler may take to answer; how often one that works is asked for its workers.
PATIENCE, PAUSE = 10.0, 2.0
# Bytes that are read of its file, which lists its workers.
LARGEST = 1 << 26
GONE = "the connection to the scheduler is lost"
# Variables that say where Dask's settings are, beside HOME.
_SETTINGS = ("DASK_CONFIG", "DASK_ROOT_CONFIG")
# Addresses of schedulers.
_ADDRESS = re.compile(
    r"(tcp|tls|ucx|wss?)://([^\s/:\[\]]+|\[[0-9a-f:.]+(%\w+)?\]):(?P<port>[0-9]{1,5})/?|inproc://\S+", re.IGNORECASE
)
# They print tracebacks of what is told here, by whoever it comes from.
_LOGS = [f"distributed.{name}" for name in ("client", "core", "protocol.core", "comm.tcp", "utils")]


class Dask:
    """The cluster of a scheduler: an address (``tcp://...``, ``tls://...`` by Dask's configuration) or its file."""

    def __init__(self, parcel: Parcel, scheduler: str) -> None:
        where = scheduler if "://" in scheduler else _address(scheduler)
        if not _usable(where):
            cure = "an address like tcp://HOST:8786 is wanted, or the path of a scheduler's file"
            raise UsageError(Argument("scheduler", quote(scheduler)), f": {cure}")
        self._distributed: Any = _imported()
        self._unlogged = ExitStack()
        self._unlogged.enter_context(unlogged(*_LOGS))
        answer: SimpleQueue[Any] = SimpleQueue()
        threading.Thread(target=self._connect, args=(where, answer), daemon=True).start()
        try:
            self._client: Any = answer.get(timeout=PATIENCE + PAUSE)
        except Empty:  # Dask waits without an end for who accepts a connection and says nothing
            self._client = TimeoutError("nothing comes from who listens there")
        if isinstance(self._client, Exception):
            self._unlogged.close()
            within = f" within {PATIENCE:g} s" if isinstance(self._client, OSError) else ""
            why = f"no Dask scheduler answers{within} ({said(self._client)})"
            raise ComputationError(Argument("scheduler", quote(scheduler)), f": {why}") from None
        # A task of its own, so that Dask copies it from worker to worker and makes it again where it is lost.
        self._parcel = self._client.submit(_same, parcel, pure=False)
        self._threads, self._asked = 0, -math.inf
        self._where, self._alone, self._patience = where, math.inf, PATIENCE
        self._futures: dict[Any, tuple[int, int]] = {}
        self._come: SimpleQueue[Any] = SimpleQueue()

    def _connect(self, where: str, answer: SimpleQueue[Any]) -> None:
        """A client, or what is wrong: of addresses and of what comes from there Dask makes errors of all kinds."""
        client = self._distributed.Client.__new__(self._distributed.Client)
        try:
            client.__init__(where, timeout=PATIENCE, set_as_default=False)
            answer.put(client)
        except Exception as error:
            with suppress(Exception):
                client.close(timeout=PAUSE / 10)
            client.status = "closed"  # else what is left of it waits for its end where it is forgotten
            answer.put(error)

    @property
    def workers(self) -> int:
        """Threads of all workers there are now."""
        self._ask()
        return max(1, self._threads)

    def _ask(self) -> None:
        """See how many threads there are; say once that there are none, since somebody may have forgotten workers."""
        if time.monotonic() > self._asked + PAUSE:
            try:
                self._threads = sum(map(int, self._client.nthreads().values()))
            except (OSError, TimeoutError):
                raise ComputationError(GONE) from None
            self._asked = time.monotonic()
            self._alone = math.inf if self._threads else min(self._alone, self._asked)
            if self._asked > self._alone + self._patience:
                cure = f"this waits for some: dask worker {self._where}"
                logging.getLogger("kronbot").warning("the scheduler at %s has no workers; %s", self._where, cure)
                self._patience = math.inf

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._futures and self._client.status == "running":
            self._client.cancel(list(self._futures), force=True)
        self._client.close(timeout=PAUSE)
        self._unlogged.close()

    def submit(self, span: tuple[int, int]) -> None:
        """To whichever worker is free."""
        future = self._client.submit(_work, self._parcel, span, pure=False)
        self._futures[future] = span
        future.add_done_callback(self._come.put)

    def results(self) -> Iterable[Done | Lost]:
        """What has come. Raises as an engine's."""
        future = self._next()
        span = self._futures.pop(future)
        if future.status == "cancelled" or self._client.status != "running":
            raise ComputationError(GONE)
        try:
            # What a worker that has died had finished is computed again, and waited for.
            done = Done(*future.result())
        except self._distributed.scheduler.KilledWorker:
            yield Lost(span)
        except KronbotError:
            raise
        except (Exception, self._distributed.CancelledError) as error:
            gone = future.status == "cancelled" or self._client.status != "running"
            told = GONE if gone else f"a worker of the cluster cannot compute: {said(error)}"
            raise ComputationError(told) from None
        else:
            yield done

    def _next(self) -> Any:
        while True:
            try:
                return self._come.get(timeout=PAUSE)
            except Empty:
                if self._client.status != "running":
                    raise ComputationError(GONE) from None
                self._ask()


def _imported() -> Any:
    """``distributed``, without settings that others can have laid (HOME kept by sudo): they name code that clients run.

    Where Dask has been imported before, the caller's program has read its settings. Raises UsageError.
    """
    usual = os.path.join(os.path.expanduser("~"), ".config", "dask")  # as Dask itself says it
    places = {"HOME": usual} | {name: os.environ[name] for name in _SETTINGS if os.environ.get(name)}
    foreign = {name: place for name, place in places.items() if host.OWNERS and not _own(Path(place).absolute())}
    for place in foreign.values():
        if os.path.lexists(place):
            why = f"Dask's settings in {quote(place)} name code that it runs, and others can change them"
            raise UsageError(Argument("scheduler"), f": {why}; let them, and the folders above, be yours alone")
    hidden = dict.fromkeys(foreign, f"{os.devnull}/none")  # what is not there yet may come
    try:
        with environment.for_now(hidden | {"PATH": environment.search_path()}), whole_imports():
            import distributed

            platform.processor()  # for which Dask asks: a program tells it, once
    except ImportError:
        raise UsageError(Argument("scheduler"), " needs Dask: pip install 'kronbot[cluster]'") from None
    return distributed


def _own(place: Path) -> bool:
    """Nobody else can lay anything there: a folder, or the one of a file, and where a link leads."""
    if place.is_symlink() and place.exists():
        return _own(place.parent) and _own(place.parent / place.readlink())
    file = place.is_file()
    try:
        with closing(private.opened(place.parent if file else place, create=False)) as folder:
            if file:
                private.content(place.name, folder, LARGEST)
    except FileNotFoundError:
        return True  # below folders of one's own
    except (KronbotError, OSError):
        return False
    return True


def _usable(address: str) -> bool:
    """Whether there can be somebody at an address: a protocol of Dask's, a host and a port, or this process."""
    found = _ADDRESS.fullmatch(address)
    return found is not None and (found["port"] is None or 0 < int(found["port"]) < 1 << 16)


def _address(file: str) -> str:
    """Where the scheduler of a file is: Dask would wait for the file for ever. Raises UsageError."""
    try:
        # Of a pipe without a writer nothing comes, and is not waited for.
        with open(os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as opened:
            told = json.loads(opened.read(LARGEST) or b"")["address"]
        if not isinstance(told, str) or not _usable(told):
            raise ValueError(told)
        return told
    except OSError as error:
        raise UsageError(Argument("scheduler", quote(file)), f": {said(error, place=False)}") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise UsageError(Argument("scheduler", quote(file)), " is not the file of a Dask scheduler") from None


def _same(parcel: Parcel) -> Parcel:
    return parcel


def _work(parcel: Parcel, span: tuple[int, int]) -> tuple[object, ...]:
    """A chunk, where the worker is."""
    return tuple(parcel.done(*span))
