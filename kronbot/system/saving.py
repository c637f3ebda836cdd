"""Files written whole: a temporary file beside the place, which takes it at the end.

The file system decides at that moment whether there is a file already. Folders are held open from the check before the
computation to the end, so that nobody can exchange them meanwhile.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import PurePath

from kronbot.errors import ComputationError
from kronbot.records import dataclass
from kronbot.system.interruption import UNFINISHED, Interruptions
from kronbot.system.platform import host

_TEMPORARY = re.compile(r"\.kronbot-([0-9a-f]{16})[0-9a-f]{8}")
# Bytes of text that are written at a time, so that little is lost.
_SOME = 1 << 16
# Of the names that are tried for an answer: its own, and others where that has been taken meanwhile.
NUMBERS = range(1, 1000)


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
    """A place for a file: a folder that is held open, its path for messages, and a name in it."""

    folder: host.Folder
    name: str
    overwrite: bool
    place: str

    @classmethod
    def at(cls, path: str, overwrite: bool) -> Target:
        """The place that a path names, links followed. Raises OSError, and ValueError for what is no path."""
        place = os.path.dirname(os.path.realpath(path) if os.path.islink(path) else path)
        return cls(*host.located(path, _judge), overwrite, place)

    def found(self) -> os.stat_result | None:
        """What stands there now."""
        return self.folder.found(self.name)

    def same(self, other: Target) -> bool:
        """Whether the two are one place."""
        return self.name == other.name and os.path.samestat(self.folder.status(), other.folder.status())

    def taken(self, read: Mapping[tuple[int, int], str]) -> str:
        """Which file that is read, of those by device and inode, stands here, or in a folder that does; "" for none.

        Raises OSError for a folder that cannot be listed.
        """
        found = self.found()
        if found is None or not read:
            return ""
        inside = stat.S_ISDIR(found.st_mode)
        names = [f"{self.name}/{each}" for each in self.folder.names(self.name)] if inside else [self.name]
        for each in filter(None, map(self.folder.found, names)):
            if what := read.get((each.st_dev, each.st_ino)):
                return f"{what} is in that folder" if inside else f"that is {what} itself"
        return ""

    def fault(self, found: os.stat_result | None, folder: bool = False) -> str:
        """Why the system would let nobody put a file, or a ``folder``, where this is ``found``; "" where it would."""
        if found is None:
            return ""
        wanted = "folder" if folder else "file"
        if (stat.S_ISDIR if folder else stat.S_ISREG)(found.st_mode):
            if host.replaceable(found, self.folder.status()):
                return ""
            return f"the {wanted} belongs to another user, and only its owner may replace it in this folder"
        kinds = {stat.S_IFDIR: "a folder", stat.S_IFREG: "a file"}
        return f"{kinds.get(stat.S_IFMT(found.st_mode), 'a device or a pipe')}, not a {wanted}"

    @contextmanager
    def draft(self) -> Iterator[Draft]:
        """A fresh file in the folder, with a lock that lasts as long as its writer; gone at the end. Raises OSError."""
        self._tidy()
        # What replaces a private file is not for others to read while it grows.
        mode = 0o600 if self.overwrite and self.found() is not None else 0o666
        name = temporary(os.urandom(8).hex())
        draft = Draft(name, -1)
        UNFINISHED[name] = partial(self.drop, draft)
        try:
            draft.descriptor = self.folder.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)
            with suppress(OSError):  # a file system without locks, where nothing is tidied
                host.lock(draft.descriptor)
            if os.fstat(draft.descriptor).st_nlink:
                yield draft
            else:  # tidied by another run before it was locked
                with self.draft() as fresh:
                    yield fresh
        finally:
            draft.claim()
            if draft.descriptor >= 0:
                os.close(draft.descriptor)
            with suppress(OSError):
                self.drop(draft)  # there only where it has not been renamed

    def numbered(self, number: int) -> str:
        """Its name, 1, or another one of those that an answer gets whose own has been taken meanwhile."""
        path = PurePath(self.name)
        return self.name if number == 1 else f"{path.stem}-{number}{path.suffix}"

    @property
    def blocked(self) -> bool:
        """Whether what stands there now, a link or a pipe, is no file that could be replaced."""
        found = self.found()
        return found is not None and not stat.S_ISREG(found.st_mode)

    def finish(self, draft: Draft) -> os.stat_result:
        """What is to be written is written: what the file is now. Raises OSError."""
        os.ftruncate(draft.descriptor, draft.end)
        os.fsync(draft.descriptor)
        found = self.found() if self.overwrite else None
        if found is not None:
            self.folder.hand_on(self.name, found, draft.descriptor)
        status = os.fstat(draft.descriptor)
        draft.descriptor = host.before_renaming(draft.descriptor)
        return status

    def take(self, draft: Draft, status: os.stat_result, name: str) -> None:
        """Give a draft its name.

        Raises FileExistsError where there is a file that is not to be replaced, OSError, also where somebody has put
        another file in the place of the draft.
        """
        if self.overwrite:
            self.folder.rename(draft.name, name)
        else:
            self._link(draft.name, name)
        self.demand_own(status, name)

    def demand_own(self, mine: os.stat_result, name: str) -> None:
        """What is mine stands under the name now: others who can write to the folder may have exchanged it.

        In a folder of the user's alone there is nothing to see, and not every file system keeps numbers of files.
        Raises OSError.
        """
        found = self.folder.found(name)
        if host.exposed(self.folder.status()) and (found is None or not os.path.samestat(found, mine)):
            raise OSError(errno.EPERM, "somebody who can write to the folder has put another file in its place")

    def give_back(self, status: os.stat_result, name: str) -> None:
        """Remove what has taken a name."""
        with suppress(OSError):
            if os.path.samestat(self.folder.found(name) or status, status):
                self.folder.remove(name)

    def drop(self, draft: Draft) -> str:
        """Remove a draft, which leaves nothing to be told."""
        self.folder.remove(draft.name)
        return ""

    def _link(self, temporary: str, name: str) -> None:
        """Give a file a name that none has. Raises FileExistsError."""
        try:
            self.folder.link(temporary, name)
        except FileExistsError:
            raise
        except OSError:  # a file system without links: the name is taken first, then filled
            os.close(self.folder.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
            self.folder.rename(temporary, name)

    def _tidy(self) -> None:
        """Remove what killed runs have left in the folder: temporary files of this user that no run holds locked.

        A file of that kind of name that kronbot has not given stays.
        """
        with suppress(OSError):
            for found in filter(None, map(_TEMPORARY.fullmatch, self.folder.names())):
                with suppress(OSError):
                    if found[0] == temporary(found[1]):
                        self._remove_left(found[0])

    def _remove_left(self, name: str) -> None:
        found = self.folder.found(name)
        if found is not None and stat.S_ISREG(found.st_mode) and host.own(found):
            descriptor = self.folder.open(name, os.O_RDWR)
            try:
                host.lock(descriptor)
                self.folder.remove(name)
            finally:
                os.close(descriptor)


def temporary(drawn: str) -> str:
    """The name of a draft, of 16 hexadecimal digits; what follows them marks it as one of kronbot's."""
    return f".kronbot-{drawn}{zlib.crc32(b'a draft of kronbot ' + drawn.encode()):08x}"


def by_inode(files: Iterable[tuple[PurePath, str]]) -> dict[tuple[int, int], str]:
    """Files that are read, in words, by device and inode, for :meth:`Target.taken`, as far as they are there."""
    read: dict[tuple[int, int], str] = {}
    for path, what in files:
        with suppress(OSError, ValueError):
            found = os.stat(path)
            read[found.st_dev, found.st_ino] = what
    return read


def publish(files: Sequence[tuple[Target, Draft]], numbers: Iterable[int] = NUMBERS) -> int:
    """Give the drafts of one answer their names, all of them or none: the number of those that they have got.

    It is the first at which none is the name of a file that is not to be replaced: of any, where something else than a
    file has come to where one was to be. Raises FileExistsError where there is no such number, OSError.
    """
    if any(target.blocked for target, _ in files):
        files = [(replace(target, overwrite=False), draft) for target, draft in files]
    statuses = [target.finish(draft) for target, draft in files]
    for number in numbers:
        with suppress(FileExistsError), ExitStack() as taken:
            for (target, draft), status in zip(files, statuses, strict=True):
                target.take(draft, status, target.numbered(number))
                if not target.overwrite:
                    taken.callback(target.give_back, status, target.numbered(number))
            taken.pop_all()
            return number
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))


def _judge(found: os.stat_result, place: str, above: os.stat_result | None) -> None:
    """A link of another user leads nowhere, whatever the folder that it is in: its owner chooses where to.

    Linux has it so in sticky folders (/tmp) that everybody may write to. Root's links lead where root wants.
    """
    if above is not None and not host.own(found, host.ROOT):
        raise PermissionError(errno.EACCES, "a link that another user has laid; name the place that it leads to")


def _lines(text: bytes) -> Iterator[bytes]:
    """Whole lines, many at a time."""
    start = 0
    while start < len(text):
        end = text.rfind(b"\n", start, start + _SOME) + 1 or len(text)
        yield text[start:end]
        start = end
