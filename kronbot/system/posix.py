"""What takes a POSIX system: folders by descriptor, owners and permissions, locks, process groups.

Its substitute elsewhere is plain.py, with the same names.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]
import errno
import fcntl
import math
import os
import select
import stat
from collections.abc import Callable
from contextlib import suppress

from kronbot.system import rights

# Whether files have owners, who alone may change them where they wish so.
OWNERS = True
# Signals beside Ctrl-C by which others ask for an end, with the time (s) within which a second one is the same request:
# timeout and shells send it to a process and to its group at once, and a limit of processor time every second.
ENDING = {signal.SIGTERM: 1.0, signal.SIGHUP: 1.0, signal.SIGXCPU: math.inf}
WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH
ROOT = 0
# Symbolic links that one path may follow, as many as Linux follows.
_LINKS = 40
# A descriptor of a folder that one may search, though perhaps not list.
_FOLDER = os.O_DIRECTORY | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)
# Neither a symbolic link nor a pipe without a writer gets past the opening.
_FILE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
# A descriptor of a folder that is listed, and is no link.
_LISTED = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# What native code calls has to outlive the calls.
_ANSWERS: list[object] = []

# Raises what is wrong with a folder on the way, by its status and path, or with a link, where the status of the folder
# that it is in comes last.
Judge = Callable[[os.stat_result, str, "os.stat_result | None"], None]


class Folder:
    """A folder held open: what is done to its files is done there, whatever becomes of its path."""

    def __init__(self, descriptor: int) -> None:
        self._here = descriptor

    def close(self) -> None:
        """Let go of it."""
        os.close(self._here)

    def status(self) -> os.stat_result:
        """Its own."""
        return os.fstat(self._here)

    def found(self, name: str) -> os.stat_result | None:
        """Status of what stands there, also of a link; None where nothing does."""
        try:
            return os.stat(name, dir_fd=self._here, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def names(self, inner: str = ".") -> list[str]:
        """What is in it, or in a folder in it."""
        listed = os.open(inner, _LISTED, dir_fd=self._here)
        try:
            return os.listdir(listed)
        finally:
            os.close(listed)

    def open(self, name: str, flags: int, mode: int = 0o600, linked: bool = False) -> int:
        """Descriptor of a file; a link is not followed unless it may be ``linked``."""
        return os.open(name, flags | (_FILE & ~os.O_NOFOLLOW if linked else _FILE), mode, dir_fd=self._here)

    def make(self, name: str, mode: int = 0o700) -> None:
        """A folder in it, for the user alone."""
        os.mkdir(name, mode, dir_fd=self._here)

    def inner(self, name: str) -> Folder:
        """A folder in it, of the user's, held open, too. Raises OSError for a link and for one of somebody else."""
        inside = Folder(os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=self._here))
        if own(inside.status()):
            return inside
        inside.close()
        raise PermissionError(errno.EACCES, "a folder of another user")

    def touch(self, name: str) -> None:
        """Mark a file as used now."""
        os.utime(name, dir_fd=self._here)

    def remove(self, name: str) -> None:
        """A file."""
        os.unlink(name, dir_fd=self._here)

    def remove_folder(self, name: str) -> None:
        """A folder that is empty."""
        os.rmdir(name, dir_fd=self._here)

    def remove_tree(self, name: str) -> None:
        """A folder with all that is in it that is the user's, as far as possible; links are not followed."""
        with suppress(OSError):
            _empty(os.open(name, _LISTED, dir_fd=self._here))
        with suppress(OSError):
            os.rmdir(name, dir_fd=self._here)

    def rename(self, name: str, other: str, to: Folder | None = None) -> None:
        """Also where there is a file of the other name; ``to`` another folder, if it is given."""
        os.replace(name, other, src_dir_fd=self._here, dst_dir_fd=(to or self)._here)

    def link(self, name: str, other: str) -> None:
        """Give a file a second name. Raises FileExistsError."""
        os.link(name, other, src_dir_fd=self._here, dst_dir_fd=self._here, follow_symlinks=False)

    def hand_on(self, name: str, found: os.stat_result, descriptor: int) -> None:
        """Owner and permissions of what was ``found`` there, to the open file that replaces it. Raises OSError."""
        rights.inherit(descriptor, found, lambda: self.open(name, os.O_RDONLY), os.geteuid() == ROOT)

    def writable(self) -> bool:
        """Whether files can be made in it."""
        return os.access(".", os.W_OK | os.X_OK, dir_fd=self._here)

    def spare(self) -> int:
        """A descriptor to be closed where removing needs one."""
        return os.dup(self._here)


def _empty(here: int) -> None:
    """Remove what is in an open folder, however deep, by two descriptors, and close it.

    Others could make an end recede, or exchange what is on the way back: their folders are not entered, and who comes
    back to another one than the way in went through raises OSError.
    """
    way: list[tuple[os.stat_result, list[str]]] = []
    try:
        inner = _folders_left(here)
        while way or inner:
            if inner:
                try:
                    there = os.open(inner[-1], _LISTED, dir_fd=here)
                except OSError:
                    inner.pop()
                    continue
                way.append((os.fstat(here), inner))
            else:
                there = os.open("..", _LISTED, dir_fd=here)
            here, left = there, here
            os.close(left)
            if inner:
                inner = _folders_left(here)
                continue
            before, inner = way.pop()
            if not os.path.samestat(os.fstat(here), before):
                raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
            with suppress(OSError):
                os.rmdir(inner.pop(), dir_fd=here)
    finally:
        os.close(here)


def _folders_left(here: int) -> list[str]:
    """The folders in an open one of the user's, whose files are removed as far as possible; in one of others none."""
    if not own(os.fstat(here)):
        return []
    with os.scandir(here) as found:
        entries = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in found]
    for name, folder in entries:
        if not folder:
            with suppress(OSError):
                os.unlink(name, dir_fd=here)
    return [name for name, folder in entries if folder]


def located(path: str, judge: Judge, make: bool = False) -> tuple[Folder, str]:
    """Folder and name of a path, link by link; ``make`` makes folders that are missing, for the user alone.

    What is judged is what is entered: nobody can exchange it in between. Raises OSError, ValueError for what is no path
    and whatever ``judge`` raises.
    """
    ahead = path.split("/")[::-1]
    place = "/" if path.startswith("/") else "."
    folder, links = Folder(os.open(place, _FOLDER)), 0
    try:
        while True:
            name = ahead.pop() or "."
            found = folder.found(name)
            judge(folder.status(), place, None)
            if found is not None and stat.S_ISLNK(found.st_mode):
                judge(found, os.path.join(place, name), folder.status())
                links += 1
                if links > _LINKS:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
                leads = os.readlink(name, dir_fd=folder._here)
                ahead += leads.split("/")[::-1]
                if not leads.startswith("/"):
                    continue
                inner, place = os.open("/", _FOLDER), "/"
            elif not ahead:
                return folder, name
            else:
                if make and found is None:
                    with suppress(FileExistsError):
                        folder.make(name)
                inner = os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=folder._here)
                place = place if name == "." else os.path.join(place, name)
            folder.close()
            folder = Folder(inner)
    except BaseException:
        folder.close()
        raise


def own(found: os.stat_result, *others: int) -> bool:
    """Whether something belongs to the user, or to one of the others."""
    return found.st_uid in (os.geteuid(), *others)


def exposed(found: os.stat_result) -> bool:
    """Whether anybody but the user can change it."""
    return not own(found) or bool(found.st_mode & WRITABLE_BY_OTHERS)


def replaceable(found: os.stat_result, folder: os.stat_result) -> bool:
    """Whether a file may be replaced: in a sticky folder (/tmp) only by its owner."""
    return not folder.st_mode & stat.S_ISVTX or os.geteuid() in (ROOT, found.st_uid, folder.st_uid)


def settle() -> None:
    """What was written is on the disk: one call for many files."""
    os.sync()


def before_renaming(descriptor: int) -> int:
    """An open file can be renamed, and stays locked."""
    return descriptor


def lock(descriptor: int) -> None:
    """Have a file to oneself, as long as the process lives and it is open; not waited for.

    Raises BlockingIOError where another process has it, OSError where the file system knows no locks.
    """
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def read_only(descriptor: int) -> bool:
    """Whether nothing can be written to it."""
    return fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY


def takes_text(descriptor: int) -> bool:
    """Whether writing a little would not wait, as for a pipe that is full, with nobody who reads it."""
    return _ready(descriptor, select.POLLOUT, 0)


def _ready(descriptor: int, event: int, timeout: float | None) -> bool:
    """Whether that is so within ``timeout`` seconds; select() knows descriptors below 1024 alone. Raises OSError."""
    poll = select.poll()
    poll.register(descriptor, event)
    found = poll.poll(None if timeout is None else 1000 * timeout)
    if found and found[0][1] & select.POLLNVAL:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    return bool(found)


class Channel:
    """Bytes, numbers of signals among them, for a thread that waits; telling one does not wait. Raises OSError."""

    def __init__(self) -> None:
        self._reading, self.writing = os.pipe()
        os.set_blocking(self.writing, False)

    def tell(self, byte: int) -> None:
        """Send one."""
        os.write(self.writing, bytes([byte]))

    def read(self, timeout: float | None) -> int | None:
        """The next one, None after ``timeout`` seconds."""
        return os.read(self._reading, 1)[0] if _ready(self._reading, select.POLLIN, timeout) else None


def memory_limit() -> float:
    """Bytes that this process may have (ulimit -v, -d), without the stack (ulimit -s) of one thread more."""
    *memory, stack = _limits()
    return min(memory) - (0 if stack == math.inf else stack)


def _limits() -> list[float]:
    """Bytes of all memory (ulimit -v), of what can be written to (ulimit -d), and of a stack (ulimit -s)."""
    import resource

    every = (resource.getrlimit(each)[0] for each in (resource.RLIMIT_AS, resource.RLIMIT_DATA, resource.RLIMIT_STACK))
    return [math.inf if each == resource.RLIM_INFINITY else float(each) for each in every]


def memory_left() -> float:
    """Bytes that this process may still take (ulimit -v, -d); where what it has is not known, all that it may have."""
    limits = _limits()[:2]
    if min(limits) == math.inf:
        return math.inf
    try:
        with open("/proc/self/statm") as file:
            pages = file.read().split()
    except OSError:  # as on macOS
        return min(limits)
    return min(most - int(pages[i]) * os.sysconf("SC_PAGE_SIZE") for i, most in zip((0, 5), limits, strict=True))


def at_native_exit(answer: Callable[[], object]) -> None:
    """Call it before native code ends the process (exit), as OpenBLAS does where memory has run out."""
    with suppress(ImportError, OSError, AttributeError, MemoryError):  # no memory even for that
        import ctypes

        called = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: answer())
        _ANSWERS.append(called)
        getattr(ctypes.CDLL(None), "__cxa_atexit")(called, None, None)


def end_group(process: int) -> None:
    """Kill a process and all that it has started. Raises ProcessLookupError."""
    os.killpg(process, signal.SIGKILL)


def program_head(size: int) -> bytes:
    """The first bytes of the program that this process runs; none where it is not known."""
    try:
        with open("/proc/self/exe", "rb") as program:
            return program.read(size)
    except OSError:  # as on macOS
        return b""


def processor_features() -> frozenset[str]:
    """Words of Linux for what an x86 processor can do, with the system's leave; none elsewhere."""
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            lines = file.read(8192).splitlines()  # of the first processor
    except OSError:
        return frozenset()
    return next((frozenset(line.split()) for line in lines if line.startswith("flags")), frozenset())


def cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
