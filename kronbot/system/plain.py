"""What posix.py is for, by plain means, where there are neither owners of files nor locks (Windows).

Files are reached by their paths, and nothing that anybody else could have changed is run: there is no native code.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]
import math
import os
import shutil
import socket
import stat
from collections.abc import Callable
from contextlib import suppress
from select import select

OWNERS = False
ENDING = {signal.SIGTERM: 1.0}
WRITABLE_BY_OTHERS = 0
ROOT = 0
_FILE = getattr(os, "O_BINARY", 0) | getattr(os, "O_NOINHERIT", 0)

Judge = Callable[[os.stat_result, str, "os.stat_result | None"], None]


class Folder:
    """A folder by its path."""

    def __init__(self, path: str) -> None:
        self._path = path

    def close(self) -> None:
        """Nothing is held."""

    def status(self) -> os.stat_result:
        """Its own."""
        return os.stat(self._path)

    def found(self, name: str) -> os.stat_result | None:
        """Status of what stands there, None where nothing does."""
        try:
            return os.lstat(self._at(name))
        except FileNotFoundError:
            return None

    def names(self, inner: str = ".") -> list[str]:
        """What is in it, or in a folder in it."""
        return os.listdir(self._at(inner))

    def open(self, name: str, flags: int, mode: int = 0o600, linked: bool = True) -> int:
        """Descriptor of a file."""
        return os.open(self._at(name), flags | _FILE, mode)

    def make(self, name: str, mode: int = 0o700) -> None:
        """A folder in it."""
        os.mkdir(self._at(name), mode)

    def inner(self, name: str) -> Folder:
        """A folder in it."""
        return Folder(self._at(name))

    def touch(self, name: str) -> None:
        """Mark a file as used now."""
        os.utime(self._at(name))

    def remove(self, name: str) -> None:
        """A file."""
        os.unlink(self._at(name))

    def remove_folder(self, name: str) -> None:
        """A folder that is empty."""
        os.rmdir(self._at(name))

    def remove_tree(self, name: str) -> None:
        """A folder with all that is in it, as far as possible."""
        with suppress(RecursionError):
            shutil.rmtree(self._at(name), ignore_errors=True)

    def rename(self, name: str, other: str, to: Folder | None = None) -> None:
        """Also where there is a file of the other name; ``to`` another folder, if it is given."""
        os.replace(self._at(name), (to or self)._at(other))

    def link(self, name: str, other: str) -> None:
        """Give a file a second name. Raises FileExistsError."""
        os.link(self._at(name), self._at(other))

    def hand_on(self, name: str, found: os.stat_result, descriptor: int) -> None:
        """Folders give their files permissions."""

    def writable(self) -> bool:
        """Whether files can be made in it."""
        return os.access(self._path, os.W_OK)

    def _at(self, name: str) -> str:
        return os.path.join(self._path, name)


def located(path: str, judge: Judge, make: bool = False) -> tuple[Folder, str]:
    """Folder and name of a path, links followed. Raises OSError, ValueError for what is no path."""
    try:
        folder, name = os.path.split(os.path.realpath(path, strict=True))
    except FileNotFoundError:
        folder, name = os.path.split(os.path.realpath(path))
    if not stat.S_ISDIR(os.stat(folder).st_mode):
        raise NotADirectoryError(folder)
    return Folder(folder), name or "."


def own(found: os.stat_result, *others: int) -> bool:
    """Everything is the user's."""
    return True


def exposed(found: os.stat_result) -> bool:
    """Nobody else is known."""
    return False


def replaceable(found: os.stat_result, folder: os.stat_result) -> bool:
    """The system tells when it comes to that."""
    return True


def settle() -> None:
    """Files are on the disk when the system finds the time."""


def before_renaming(descriptor: int) -> int:
    """An open file cannot be renamed."""
    os.close(descriptor)
    return -1


def lock(descriptor: int) -> None:
    """There are none. Raises OSError."""
    raise OSError("no locks")


def read_only(descriptor: int) -> bool:
    """Writing tells."""
    return False


def takes_text(descriptor: int) -> bool:
    """Nobody can tell."""
    return True


class Channel:
    """Bytes, numbers of signals among them, for a thread that waits: by sockets, since pipes cannot be waited for."""

    def __init__(self) -> None:
        self._reading, self._told = socket.socketpair()
        self._told.setblocking(False)
        self.writing = self._told.fileno()

    def tell(self, byte: int) -> None:
        """Send one."""
        self._told.send(bytes([byte]))

    def read(self, timeout: float | None) -> int | None:
        """The next one, None after ``timeout`` seconds."""
        return self._reading.recv(1)[0] if select([self._reading], [], [], timeout)[0] else None


def program_head(size: int) -> bytes:
    """The first bytes of the program that this process runs; none where it is not known."""
    return b""


def processor_features() -> frozenset[str]:
    """Not known."""
    return frozenset()


def cores() -> int:
    """Those of the machine."""
    return os.cpu_count() or 1


def memory_limit() -> float:
    """None is known."""
    return math.inf


def memory_left() -> float:
    """No limit is known."""
    return math.inf


def at_native_exit(answer: Callable[[], object]) -> None:
    """For processes whose memory is limited."""
