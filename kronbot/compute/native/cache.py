"""The folder of compiled functions and known robots: private, verified before use, bounded in size, for all processes.

An entry is KEY.so, or KEY.robot of what is remembered of a robot, and KEY.sha256 with the digest of its name and bytes,
so that none takes the place of another. Nothing else in the folder is ever touched, except the cache's own lock files
(KEY.lock) and the folders that compilers work in (build-KEY-...), which are there as long as somebody is at work.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path

from kronbot.compute.native import policy
from kronbot.errors import Failure, said
from kronbot.records import dataclass
from kronbot.system import private
from kronbot.system.interruption import UNFINISHED
from kronbot.system.platform import host
from kronbot.system.private import NotPrivate

# What compiled functions may fill; the least recently used go first.
MAX_BYTES = 256_000_000
# A build folder or lock this old (s) was left by a process that was killed, also where the file system knows no locks.
ABANDONED = 3600.0
# Bytes of a digest.
DIGEST = 64
# How often (s) a process that waits for another one looks again.
PATIENCE_STEP = 0.05

SUFFIXES = ("so", "robot")
ENTRY = re.compile(r"[0-9a-f]{64}\.(so|robot)")
DIGESTS = re.compile(r"[0-9a-f]{64}\.sha256")
LOCKS = re.compile(r"([0-9a-f]{64})\.lock")
# Versions before 0.10 shared 256 locks, and had build folders by these.
OWN = re.compile(r"[0-9a-f]{64}\.(so|robot|sha256|lock)|lock-[0-9a-f]{2}")
BUILD = re.compile(r"build-([0-9a-f]{2}|[0-9a-f]{64})-[0-9a-f]{16}")


@dataclass(frozen=True)
class Entry:
    """A compiled function or a robot in the cache: its file, size in bytes, time of last use (s since the epoch)."""

    path: Path
    size: int
    used: float

    @property
    def is_robot(self) -> bool:
        """Whether it is what is remembered of a robot."""
        return self.path.suffix == ".robot"


def folder() -> Path:
    """Where compiled functions are kept: $KRONBOT_CACHE, else ``kronbot`` in the user's cache folder.

    That one is $XDG_CACHE_HOME, ~/Library/Caches on macOS, ~/.cache elsewhere. Raises NotPrivate without a home.
    """
    if own := os.environ.get("KRONBOT_CACHE"):
        return Path(os.path.expanduser(own)).absolute()  # shells leave ~ alone within quotes
    shared = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(shared):  # a relative one is void by the XDG specification
        return Path(shared) / "kronbot"
    try:
        home = Path.home()
    except RuntimeError:
        raise NotPrivate("no home folder to keep compiled functions in; set KRONBOT_CACHE to a folder") from None
    return home / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "kronbot"


class Cache:
    """Compiled functions in one folder, by key (64 hexadecimal digits); open as long as its context.

    ``create`` makes the folder, for its owner alone, where it is not there yet. What killed processes have left goes.
    Raises NotPrivate where anybody but the user could have put code into the folder, FileNotFoundError where there is
    none, and OSError.
    """

    def __init__(self, path: Path, create: bool = False) -> None:
        self.path = path
        self._folder = private.opened(path, create)
        self._remove_abandoned()

    def __enter__(self) -> Cache:
        return self

    def __exit__(self, *stopped: object) -> None:
        self._folder.close()

    def find(self, key: str) -> Path | None:
        """The library of a key, marked as used; None where there is none or it is not what was stored."""
        return None if self.content(key, "so") is None else self.path / f"{key}.so"

    def content(self, key: str, suffix: str) -> bytes | None:
        """What was stored by a key, marked as used; None where there is nothing or it is not what was stored."""
        name = f"{key}.{suffix}"
        try:
            digest = private.content(f"{key}.sha256", self._folder, DIGEST).decode("ascii", "replace")
            found = private.content(name, self._folder, MAX_BYTES)
            if _digest(name, found) != digest:
                raise NotPrivate(f"{name} is not what was stored")
        except FileNotFoundError:  # never stored, or evicted a moment ago
            return None
        except (OSError, NotPrivate) as error:
            policy.noted(f"{'compiled function' if suffix == 'so' else 'remembered robot'} passed over: {error}")
            return None
        with suppress(OSError):  # where nothing can be written nothing is evicted either
            self._folder.touch(name)
        return found

    def store(
        self,
        key: str,
        content: bytes,
        place: Path,
        suffix: str = "so",
        trial: Callable[[Path], object] = lambda library: None,
    ) -> Path:
        """Keep a library, or what the suffix says, by its key, by way of a build folder of this cache.

        It is tried before: what raises there, or ends the process, never gets into the cache. Returns its path. Raises
        OSError; then there is nothing by the key, or what was there before.
        """
        own = f"{key}.{suffix}"
        # The digest first: whoever sees the entry finds it. Both are written before: a full disk leaves none alone.
        parts = {f"{key}.sha256": _digest(own, content).encode(), own: content}
        for name, part in parts.items():
            with open(self._folder.open(f"{place.name}/{name}", os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
                file.write(part)
        trial(place / own)
        UNFINISHED[str(place / own)] = forget = partial(self._forget, parts)
        try:
            with ExitStack() as renamed:
                for name in parts:
                    self._folder.rename(f"{place.name}/{name}", name)
                    renamed.callback(forget)  # with another's digest what was there before is wrong, too
                renamed.pop_all()
        finally:
            UNFINISHED.pop(str(place / own), None)
        return self.path / own

    @contextmanager
    def build_folder(self, key: str) -> Iterator[Path]:
        """A private folder on the same file system, gone afterwards; for who holds the lock of the key."""
        name = f"build-{key}-{os.urandom(8).hex()}"
        with ExitStack() as spare:
            for _ in range(2):  # descriptors that removing takes: by then there may be no more
                spare.callback(os.close, self._folder.spare())

            def remove() -> None:
                spare.close()
                self._remove_build(name)

            UNFINISHED[name] = remove
            try:
                self._folder.make(name)
                yield self.path / name
            finally:
                remove()
                UNFINISHED.pop(name, None)  # once nothing is left, whatever ends the process meanwhile

    @contextmanager
    def turn(self, key: str, patience: float) -> Iterator[None]:
        """Hold the lock of a key, so that one process compiles and the others wait for its library.

        Goes on without the lock as soon as the library is there, and where the file system knows no locks. The system
        frees a lock when its process ends, however it ends. Raises TimeoutError after ``patience`` seconds.
        """
        begun, told = time.monotonic(), False
        with ExitStack() as held:
            while True:
                try:
                    held.enter_context(self._lock(key))
                    break
                except BlockingIOError:
                    if f"{key}.so" in self._folder.names():
                        break
                    waited = time.monotonic() - begun
                    if waited > patience:
                        raise TimeoutError("another process is still compiling") from None
                    if waited > policy.SILENT and not told:
                        policy.waited_for(f"another process that compiles the same, {patience:g} s at most")
                        told = True
                    time.sleep(PATIENCE_STEP)
            yield

    def entries(self) -> list[Entry]:
        """What is stored, least recently used first."""
        found = []
        for name in self._folder.names():
            if ENTRY.fullmatch(name) and (status := self._folder.found(name)):
                found.append(Entry(self.path / name, status.st_size, status.st_mtime))
        return sorted(found, key=lambda entry: (entry.used, entry.path))

    def evict(self) -> None:
        """Remove what was least recently used beyond MAX_BYTES.

        A process that has loaded a library keeps it; one about to load it compiles it anew.
        """
        entries = self.entries()
        size = sum(entry.size for entry in entries)
        for entry in entries:
            if size <= MAX_BYTES:
                break
            size -= entry.size
            self._remove(entry.path.name)
            self._remove(entry.path.with_suffix(".sha256").name)

    def _forget(self, names: Iterable[str]) -> None:
        for name in names:
            self._remove(name)

    def clear(self) -> int:
        """Remove everything that the cache has put into its folder; how many entries that were.

        Raises KronbotError where one cannot be removed.
        """
        count = len(self.entries())
        for name in self._folder.names():
            if OWN.fullmatch(name):
                try:
                    self._remove(name)
                except OSError as error:
                    raise Failure(f"cannot remove {self.path / name}: {said(error, place=False)}") from None
            elif BUILD.fullmatch(name):
                self._remove_build(name)
        return count

    def _remove_abandoned(self) -> None:
        """Build folders of processes that were killed: nobody holds the lock that their builder held.

        So are digests of entries that came no further, or that somebody has removed.
        """
        names = {*self._folder.names()}
        for digest in filter(DIGESTS.fullmatch, names):
            if names.isdisjoint(map(digest[:65].__add__, SUFFIXES)) and self._old(digest):
                with suppress(OSError):  # of a read-only file system
                    self._remove(digest)
        # A young lock may be one that its process has just made and not yet locked: a look would take it away.
        for lock in filter(None, map(LOCKS.fullmatch, names)):
            if self._old(lock[0]):
                with suppress(OSError), self._lock(lock[1]):
                    pass  # its file goes
        for build in filter(None, map(BUILD.fullmatch, names)):
            with suppress(OSError), self._lock(build[1]) as known:
                if known or self._old(build[0]):
                    self._remove_build(build[0])

    def _old(self, name: str) -> bool:
        status = self._folder.found(name)
        return status is not None and status.st_mtime < time.time() - ABANDONED

    def _remove_build(self, name: str) -> None:
        """Told where something of it stays, of another user for example: nothing else minds."""
        self._folder.remove_tree(name)
        if self._folder.found(name) is not None:
            policy.noted(f"{name} cannot be removed from the cache")

    @contextmanager
    def _lock(self, key: str) -> Iterator[bool]:
        """Hold the lock of a key, whose file is there no longer than that; whether the file system knows locks.

        Raises BlockingIOError where another process or thread holds it.
        """
        name = f"{key}.lock"
        with ExitStack() as held:
            known = None
            while known is None:
                held.close()
                handle = self._folder.open(name, os.O_RDWR | os.O_CREAT)
                held.callback(os.close, handle)
                known = self._locked(name, handle)
            unlock = partial(self._unlock, name, handle)
            place = f"{self.path}/{name} {handle}"
            UNFINISHED[place] = unlock
            held.callback(UNFINISHED.pop, place, None)
            held.callback(unlock)
            yield known

    def _locked(self, name: str, handle: int) -> bool | None:
        """Whether there are locks; None where whoever had this one has removed its file before it was locked anew."""
        try:
            host.lock(handle)
            return self._is(name, handle) or None
        except BlockingIOError:
            raise
        except OSError:
            return False

    def _unlock(self, name: str, handle: int) -> None:
        """Removed first: who has opened it meanwhile finds it gone."""
        with suppress(OSError):
            if self._is(name, handle):  # else somebody has cleared the folder, and another one has a new lock
                self._folder.remove(name)

    def _is(self, name: str, handle: int) -> bool:
        found = self._folder.found(name)
        return found is not None and os.path.samestat(found, os.fstat(handle))

    def _remove(self, name: str) -> None:
        with suppress(FileNotFoundError):
            self._folder.remove(name)


def _digest(name: str, content: bytes) -> str:
    return hashlib.sha256(name.encode() + b"\n" + content).hexdigest()
