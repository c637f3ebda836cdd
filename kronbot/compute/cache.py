"""The folder of compiled functions: private, verified before use, bounded in size, shared by any number of processes.

An entry is KEY.so, and KEY.sha256 with the digest of its bytes. Nothing else in the folder is ever touched, except the
cache's own lock files (lock-00 ... lock-ff) and the folders that compilers work in (build-...).
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from kronbot.errors import KronbotError

LOG = logging.getLogger("kronbot")

# What compiled functions may fill; the least recently used go first.
MAX_BYTES = 256_000_000
# A build folder this old (s) was left by a process that was killed: no compilation runs nearly as long.
ABANDONED = 3600.0
# How often (s) a process that waits for another one looks again.
PATIENCE_STEP = 0.05

LIBRARY = re.compile(r"[0-9a-f]{64}\.so")
OWN = re.compile(r"[0-9a-f]{64}\.(so|sha256)|lock-[0-9a-f]{2}")
BUILD = "build-"
WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


class CacheRefused(KronbotError):
    """Code from this folder would not be safe to run; the message names the folder and the cure."""


@dataclass(frozen=True)
class Entry:
    """A compiled function in the cache: its file, size in bytes, and time of last use (s since the epoch)."""

    path: Path
    size: int
    used: float


def folder() -> Path:
    """Where compiled functions are kept: $KRONBOT_CACHE, else ``kronbot`` in the user's cache folder.

    That one is $XDG_CACHE_HOME, ~/Library/Caches on macOS, ~/.cache elsewhere. Raises CacheRefused without a home.
    """
    if own := os.environ.get("KRONBOT_CACHE"):
        return Path(own).absolute()
    shared = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(shared):  # a relative one is void by the XDG specification
        return Path(shared) / "kronbot"
    try:
        home = Path.home()
    except RuntimeError:
        raise CacheRefused("no home folder to keep compiled functions in; set KRONBOT_CACHE to a folder") from None
    return home / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "kronbot"


@dataclass(frozen=True)
class Cache:
    """Compiled functions in one folder, by key (64 hexadecimal digits)."""

    path: Path

    def create(self) -> None:
        """Make the folder, for its owner alone, where it is not there yet. Raises OSError where that is impossible."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            self.path.mkdir(mode=0o700)

    def demand_private(self) -> None:
        """Raise CacheRefused where anybody but the user could have put code into the folder.

        It must be a folder (no symbolic link) of the user's that neither group nor others can write, and none of the
        folders above it may let everybody rename it. Raises FileNotFoundError where there is no folder.
        """
        if os.name != "posix":
            raise CacheRefused("compiled functions are kept on POSIX systems only")
        found = self.path.lstat()
        if not stat.S_ISDIR(found.st_mode):
            raise CacheRefused(f"{self.path} is a link or a file; set KRONBOT_CACHE to a folder of your own")
        if found.st_uid != os.geteuid():
            raise CacheRefused(f"{self.path} belongs to somebody else; set KRONBOT_CACHE to a folder of your own")
        if found.st_mode & WRITABLE_BY_OTHERS:
            raise CacheRefused(f"{self.path} can be written by others; chmod go-w it")
        for above in Path(os.path.realpath(self.path)).parents:
            mode = above.stat().st_mode
            if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
                raise CacheRefused(f"everybody can rename what is in {above}; chmod o-w it, or set KRONBOT_CACHE")

    def find(self, key: str) -> Path | None:
        """The library of a key, marked as used; None where there is none or it is not what was stored."""
        library = self._library(key)
        try:
            digest = _own_content(self._digest(key)).decode("ascii", "replace")
            if hashlib.sha256(_own_content(library)).hexdigest() != digest:
                raise CacheRefused(f"{library} is not what was stored")
            os.utime(library)
        except FileNotFoundError:  # never stored, or evicted a moment ago
            return None
        except (OSError, CacheRefused) as error:
            LOG.debug("compiled function passed over: %s", error)
            return None
        return library

    def store(self, key: str, library: Path) -> Path:
        """Move a library from a build folder of this cache to its key. Returns its new path."""
        library.chmod(0o600)
        digest = library.with_name("digest")
        digest.write_text(hashlib.sha256(library.read_bytes()).hexdigest())
        digest.chmod(0o600)
        os.replace(digest, self._digest(key))  # first: whoever sees the library finds its digest
        os.replace(library, self._library(key))
        return self._library(key)

    @contextmanager
    def build_folder(self) -> Iterator[Path]:
        """A private folder on the same file system, gone afterwards."""
        with tempfile.TemporaryDirectory(prefix=BUILD, dir=self.path, ignore_cleanup_errors=True) as name:
            yield Path(name)

    @contextmanager
    def turn(self, key: str, patience: float) -> Iterator[None]:
        """Hold the lock of a key, so that one process compiles and the others wait for its library.

        Goes on without the lock as soon as the library is there, and where the file system knows no locks. The system
        frees a lock when its process ends, however it ends. Raises TimeoutError after ``patience`` seconds.
        """
        import fcntl  # not on Windows

        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(self.path / f"lock-{key[:2]}", flags, 0o600)
        try:
            last = time.monotonic() + patience
            while True:
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    if self._library(key).exists():
                        break
                    if time.monotonic() > last:
                        raise TimeoutError("another process is still compiling") from None
                    time.sleep(PATIENCE_STEP)
                    continue
                except OSError:
                    pass
                break
            yield
        finally:
            os.close(handle)

    def entries(self) -> list[Entry]:
        """What is stored, least recently used first; nothing where there is no folder."""
        found = []
        for path in self._own():
            if LIBRARY.fullmatch(path.name):
                with suppress(FileNotFoundError):
                    status = path.lstat()
                    found.append(Entry(path, status.st_size, status.st_mtime))
        return sorted(found, key=lambda entry: (entry.used, entry.path))

    def evict(self) -> None:
        """Remove the least recently used libraries beyond MAX_BYTES, and what killed processes left behind.

        A process that has loaded a library keeps it; one about to load it compiles it anew.
        """
        entries = self.entries()
        size = sum(entry.size for entry in entries)
        for entry in entries:
            if size <= MAX_BYTES:
                break
            size -= entry.size
            entry.path.unlink(missing_ok=True)
            entry.path.with_suffix(".sha256").unlink(missing_ok=True)
        for build in self._builds():
            with suppress(FileNotFoundError):
                if build.lstat().st_mtime < time.time() - ABANDONED:
                    shutil.rmtree(build, ignore_errors=True)

    def clear(self) -> int:
        """Remove everything that the cache has put into its folder; how many compiled functions that were."""
        count = len(self.entries())
        for path in self._own():
            path.unlink(missing_ok=True)
        for build in self._builds():
            shutil.rmtree(build, ignore_errors=True)
        return count

    def _library(self, key: str) -> Path:
        return self.path / f"{key}.so"

    def _digest(self, key: str) -> Path:
        return self.path / f"{key}.sha256"

    def _own(self) -> list[Path]:
        return [path for path in self._content() if OWN.fullmatch(path.name)]

    def _builds(self) -> list[Path]:
        return [path for path in self._content() if path.name.startswith(BUILD) and not path.is_symlink()]

    def _content(self) -> list[Path]:
        try:
            return list(self.path.iterdir())
        except FileNotFoundError:
            return []


def _own_content(path: Path) -> bytes:
    """Bytes of a regular file of the user's that nobody else can write; raises CacheRefused or OSError otherwise."""
    # Neither a symbolic link nor a pipe without a writer gets past the opening.
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(handle, "rb") as file:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & WRITABLE_BY_OTHERS:
            raise CacheRefused(f"{path} is not a file that only its owner, the user, can write")
        return file.read()
