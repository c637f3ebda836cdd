"""Files written whole: a temporary file beside the place, which takes it at the end.

The file system decides at that moment whether there is a file already. Folders are held open from the check before the
computation to the end, so that nobody can exchange them meanwhile.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath

from kronbot.errors import ComputationError
from kronbot.system.interruption import UNFINISHED, Interruptions
from kronbot.system.private import WRITABLE_BY_OTHERS

_TEMPORARY = re.compile(r"\.kronbot-[0-9a-f]{16}")
# A descriptor of a folder that one may search, though perhaps not list.
_FOLDER = os.O_DIRECTORY | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)
# Bytes of text that are written at a time, so that little is lost.
_SOME = 1 << 16
# As many links as Linux follows.
_LINKS = 40
# Names that are tried for an answer whose own has been taken meanwhile.
_OTHERS = range(2, 1000)


@dataclass
class Draft:
    """A temporary file: its name in the folder of its target, its descriptor, the end of its last whole line."""

    name: str
    descriptor: int
    end: int = 0
    mine: bool = False

    def claim(self) -> None:
        """Before it is ended: this thread does that, or the end of the process, which is waited for."""
        while not self.mine:
            self.mine = UNFINISHED.pop(self.name, None) is not None
            time.sleep(0.0 if self.mine else 1.0)

    def write(self, content: bytes) -> None:
        """Add something that is of use only as a whole. Raises OSError."""
        left = memoryview(content)
        while left:
            left = left[os.write(self.descriptor, left) :]
        self.end += len(content)

    def fill(self, pieces: Iterable[bytes], met: Interruptions) -> BaseException | None:
        """Add text piece by piece; what has stopped that, None where all of it is written.

        Where making or writing a piece fails, whole lines before that stay. Raises what fails where there are none,
        and errors that are not of the computation or the file system.
        """
        try:
            for piece in pieces:
                for lines in _lines(piece):
                    self.write(lines)
            return None
        except (Exception, KeyboardInterrupt) as error:
            # CasADi makes a nameless error of a Ctrl-C.
            if not self.end or not (met or isinstance(error, OSError | ComputationError | KeyboardInterrupt)):
                raise
            met.take_time()
            return KeyboardInterrupt() if met else error


@dataclass(frozen=True)
class Target:
    """A place for a file: a folder by its descriptor, and a name in it."""

    folder: int
    name: str
    overwrite: bool

    @classmethod
    def at(cls, path: str, overwrite: bool) -> Target:
        """The place that a path names, links followed. Raises OSError, and ValueError for what is no path."""
        folder, name = _located(path)
        return cls(folder, name, overwrite)

    def close(self) -> None:
        """Let go of the folder."""
        os.close(self.folder)

    def found(self) -> os.stat_result | None:
        """What stands there now."""
        try:
            return os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def same(self, other: Target) -> bool:
        """Whether the two are one place."""
        return self.name == other.name and os.path.samestat(os.stat(self.folder), os.stat(other.folder))

    def writable(self) -> bool:
        """Whether files can be made in the folder."""
        return os.access(".", os.W_OK | os.X_OK, dir_fd=self.folder)

    def replaceable(self, found: os.stat_result) -> bool:
        """Whether what stands there may be replaced: in a sticky folder (/tmp) only by its owner."""
        folder = os.stat(self.folder)
        return not folder.st_mode & stat.S_ISVTX or os.geteuid() in (0, found.st_uid, folder.st_uid)

    @contextmanager
    def draft(self) -> Iterator[Draft]:
        """A fresh file in the folder, with a lock that lasts as long as its writer; gone at the end. Raises OSError."""
        self._tidy()
        # What replaces a private file is not for others to read while it grows.
        mode = 0o666 if self.found() is None else 0o600
        name = f".kronbot-{os.urandom(8).hex()}"
        draft = Draft(name, -1)
        UNFINISHED[name] = partial(self.drop, draft)
        try:
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            draft.descriptor = descriptor = os.open(name, flags, mode, dir_fd=self.folder)
            with suppress(OSError):  # a file system without locks, where nothing is tidied
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            if os.fstat(descriptor).st_nlink:
                yield draft
            else:  # tidied by another run before it was locked
                with self.draft() as fresh:
                    yield fresh
        finally:
            draft.claim()
            with suppress(OSError):
                self.drop(draft)  # there only where it has not been renamed
            if draft.descriptor >= 0:
                os.close(draft.descriptor)

    def publish(self, draft: Draft) -> str:
        """Give a draft its name, or another one where a file has appeared that is not to be replaced: the name.

        Raises OSError, also where somebody has put another file in the place of the draft.
        """
        os.ftruncate(draft.descriptor, draft.end)
        os.fsync(draft.descriptor)
        if not self.overwrite:
            path = PurePath(self.name)
            for name in (self.name, *(f"{path.stem}-{number}{path.suffix}" for number in _OTHERS)):
                with suppress(FileExistsError):
                    self._take(draft.name, name)
                    return self._demand_own(draft, name)
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
        found = self.found()
        if found is not None:
            if not stat.S_ISREG(found.st_mode):
                raise OSError(errno.EEXIST, "what stands there is no file any more")
            _inherit(draft.descriptor, found)
        self._rename(draft.name, self.name)
        return self._demand_own(draft, self.name)

    def _demand_own(self, draft: Draft, name: str) -> str:
        """The name, under which the draft stands now: others who can write to the folder may have exchanged it.

        In a folder of the user's alone there is nothing to see, and not every file system keeps numbers of files.
        """
        folder = os.stat(self.folder)
        shared = folder.st_uid != os.geteuid() or folder.st_mode & WRITABLE_BY_OTHERS
        if shared and not os.path.samestat(
            os.stat(name, dir_fd=self.folder, follow_symlinks=False), os.fstat(draft.descriptor)
        ):
            raise OSError(errno.EPERM, "somebody who can write to the folder has put another file in its place")
        return name

    def drop(self, draft: Draft) -> str:
        """Remove a draft, which leaves nothing to be told."""
        os.unlink(draft.name, dir_fd=self.folder)
        return ""

    def _take(self, temporary: str, name: str) -> None:
        """Give a file a name that none has. Raises FileExistsError."""
        try:
            os.link(temporary, name, src_dir_fd=self.folder, dst_dir_fd=self.folder, follow_symlinks=False)
        except FileExistsError:
            raise
        except OSError:  # a file system without links: the name is taken first, then filled
            os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=self.folder))
            self._rename(temporary, name)

    def _rename(self, temporary: str, name: str) -> None:
        os.replace(temporary, name, src_dir_fd=self.folder, dst_dir_fd=self.folder)

    def _tidy(self) -> None:
        """Remove what killed runs have left in the folder: temporary files of this user that no run holds locked."""
        with suppress(OSError):
            listed = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self.folder)
            try:
                names = os.listdir(listed)
            finally:
                os.close(listed)
            for name in filter(_TEMPORARY.fullmatch, names):
                with suppress(OSError):
                    self._remove_left(name)

    def _remove_left(self, name: str) -> None:
        status = os.stat(name, dir_fd=self.folder, follow_symlinks=False)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
            return
        descriptor = os.open(name, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=self.folder)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.unlink(name, dir_fd=self.folder)
        finally:
            os.close(descriptor)


def _located(path: str) -> tuple[int, str]:
    """Folder and name of a path, link by link. Raises OSError, also for a link that somebody else may have laid."""
    parts = path.split("/")[::-1]
    folder = os.open("/" if path.startswith("/") else ".", _FOLDER)
    followed = 0
    try:
        while True:
            part = parts.pop() or "."
            link = _link(folder, part)
            if link is None and not parts:
                return folder, part
            followed += link is not None
            if followed > _LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            if link is not None:
                parts += link.split("/")[::-1]
            before = folder
            if link is None:
                folder = os.open(part, _FOLDER | os.O_NOFOLLOW, dir_fd=before)
            elif link.startswith("/"):
                folder = os.open("/", _FOLDER)
            else:
                continue
            os.close(before)
    except BaseException:
        os.close(folder)
        raise


def _link(folder: int, name: str) -> str | None:
    """Where a link leads, None for what is none.

    Raises PermissionError for a link of another user in a folder where everybody may lay one (/tmp), as Linux does
    where it is told to.
    """
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISLNK(status.st_mode):
        return None
    if status.st_uid not in (0, os.geteuid()) and os.stat(folder).st_mode & (stat.S_ISVTX | stat.S_IWOTH):
        raise PermissionError(errno.EACCES, "a link that another user has laid in a folder for everybody")
    return os.readlink(name, dir_fd=folder)


def _lines(text: bytes) -> Iterator[bytes]:
    """Whole lines, many at a time."""
    start = 0
    while start < len(text):
        end = text.rfind(b"\n", start, start + _SOME) + 1 or len(text)
        yield text[start:end]
        start = end


def _inherit(descriptor: int, found: os.stat_result) -> None:
    """Give a file the owner and permissions of the one that it replaces, and nobody more than that one gave."""
    mode = stat.S_IMODE(found.st_mode) & 0o777
    try:
        os.fchown(descriptor, found.st_uid if os.geteuid() == 0 else -1, found.st_gid)
    except OSError:
        mode &= ~stat.S_IRWXG  # of another group
    os.fchmod(descriptor, mode)
