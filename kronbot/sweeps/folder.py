"""The folder of a sweep: a file a case with all that is kept of it, the table of the cases, and what sweep this is."""

from __future__ import annotations

import csv
import errno
import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from itertools import chain, compress
from stat import S_ISREG
from typing import BinaryIO

from kronbot.errors import UsageError
from kronbot.records import dataclass
from kronbot.sweeps import archive
from kronbot.sweeps.kept import CASE
from kronbot.sweeps.output import APPEARED, Chunks, Obstacle, as_csv, rows
from kronbot.sweeps.work import Task
from kronbot.system.interruption import interruptions
from kronbot.system.platform import host
from kronbot.system.saving import Target

TABLE, KEY = "cases.csv", "sweep.json"
# Is in the room of a folder that grows and of the one that it replaces: whatever is in there may be removed.
MARK = "unfinished"
PARTS = NEW, OLD = "new", "old"
_CASE = re.compile(r"([0-9]+)\.(npz|json)")
_OWN = re.compile(rf"{_CASE.pattern}|cases\.csv|sweep\.json|{MARK}")
# Bytes of its own file, and of the first and the last line of the table.
LONGEST, LINE = 1 << 26, 1 << 20
# What the system says where a folder is to appear and something stands, or is to be moved away and is none.
_THERE = (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR, errno.EISDIR, errno.ELOOP)
# More files in a folder are of use to nobody.
MOST = 1_000_000
FORMATS = (".npz", ".json")


@dataclass(frozen=True)
class Folder:
    """Files of a format, ``1.npz`` and so on; in the table is what has a single value."""

    suffix: str
    apart = True

    def demand_room(self, task: Task) -> None:
        """For so many files."""
        if task.cases.count > MOST:
            raise UsageError(f"a folder holds a file a case, {MOST} at most, not {task.cases.count}")

    def obstacle(self, target: Target) -> Obstacle | None:
        """What is no empty folder; that of a sweep may be replaced."""
        found = target.found()
        if found is None:
            return None
        if target.name in (".", ".."):
            return Obstacle("no folder can be put there", False)
        if fault := target.fault(found, True):
            return Obstacle(fault, False)
        if found.st_dev != target.folder.status().st_dev:
            return Obstacle("a file system of its own cannot be exchanged: name a folder in it", False)
        with suppress(OSError):  # where the current folder has been removed
            if os.path.samestat(found, os.stat(os.curdir)):
                return Obstacle("that is the current folder, which would be exchanged for another one", False)
        if not target.folder.names(target.name):
            return None
        if not host.own(found):
            return Obstacle("the folder belongs to another user: take another name", False)
        with closing(target.folder.inner(target.name)) as inside:
            if not _of_sweep(inside):
                return Obstacle("the folder holds other files than those of a sweep: take another name", False)
            if not inside.writable():
                return Obstacle("the folder is read-only: chmod u+w it, or take another name", False)
        return Obstacle("the folder is there already")

    def save(self, target: Target, task: Task, chunks: Chunks) -> None:
        """The folder appears by being renamed, out of a marked room where all is that a kill may leave behind."""
        folder, before = target.folder, target.found()
        # Nobody else is at it, who would have the lock of the journal.
        stem = f".kronbot-{hashlib.sha256(target.name.encode()).hexdigest()[:16]}"
        # What was killed between two renamings has left the only one there is: that stays until this one is there.
        _tidy(folder, stem, PARTS if before is not None else (NEW,))
        name = stem if folder.found(stem) is None else f"{stem}-{os.urandom(8).hex()}"
        with interruptions() as met:
            folder.make(name)
            with closing(folder.inner(name)) as room:
                try:
                    os.close(room.open(MARK, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
                    room.make(NEW, 0o777 if before is None else 0o700)
                    with closing(room.inner(NEW)) as inside, ExitStack() as held:
                        replaced = None
                        if before is not None and host.own(before):
                            with _said():
                                replaced = held.enter_context(closing(folder.inner(target.name)))
                        self._fill(inside, replaced, task, chunks)
                        host.settle()
                        if before is not None:
                            _inherit(inside, target, before)
                        mine = inside.status()
                    self._appear(target, room, mine, before)
                finally:
                    if met:
                        met.take_time()  # for removing many files
                    _remove(folder, name, room, PARTS if room.found(MARK) else (NEW,))
        _tidy(folder, stem, PARTS)

    def _appear(self, target: Target, room: host.Folder, mine: os.stat_result, before: os.stat_result | None) -> None:
        """Take the name, from a folder that was there ``before``: others may have used it since, or exchanged it."""
        folder = target.folder
        if not target.overwrite or target.found() is None or before is None or not host.own(before):
            with _said():
                room.rename(NEW, target.name, folder)  # where nothing is, or an empty folder
            target.demand_own(mine, target.name)
            return
        folder.rename(target.name, OLD, room)
        try:
            with _said(), closing(room.inner(OLD)) as replaced:
                if not _of_sweep(replaced) or not os.path.samestat(replaced.status(), before):
                    raise OSError(errno.ENOTEMPTY, "other files have come into the folder meanwhile: move them away")
            with _said():
                room.rename(NEW, target.name, folder)
            target.demand_own(mine, target.name)
        except BaseException:
            try:
                room.rename(OLD, target.name, folder)
            except OSError:  # somebody has taken the name: it stays where it is
                room.remove(MARK)
            raise

    def _fill(self, folder: host.Folder, replaced: host.Folder | None, task: Task, chunks: Chunks) -> None:
        """Files of the names of those in a folder that is ``replaced`` have their permissions."""

        @contextmanager
        def written(name: str) -> Iterator[BinaryIO]:
            with open(folder.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as file:
                if replaced is not None and (found := replaced.found(name)) is not None and S_ISREG(found.st_mode):
                    replaced.hand_on(name, found, file.fileno())
                yield file

        def write(name: str, content: bytes) -> None:
            with written(name) as file:
                file.write(content)

        kept = task.kept
        single = [name not in kept.whole for name in kept.header]
        write(KEY, json.dumps(task.key).encode())
        with written(TABLE) as table:
            table.write(as_csv([compress(kept.header, single)]))
            for row in chain.from_iterable(map(rows, chunks())):
                table.write(as_csv([compress(row, single)]))
                cells = dict(zip(kept.header, row, strict=False))
                write(self._name(row[0], task), self._content(cells))

    def _name(self, case: object, task: Task) -> str:
        """Of the file of a case; names sort as cases do."""
        return f"{str(case).zfill(len(str(task.cases.count)))}{self.suffix}"

    def _content(self, cells: Mapping[str, object]) -> bytes:
        if self.suffix == ".npz":
            return archive.packed(cells)
        return json.dumps(cells, ensure_ascii=False).encode() + b"\n"

    def holds(self, target: Target, task: Task) -> bool:
        """As its own file says, with a file of this format for each case."""
        try:
            names = target.folder.names(target.name)
            if self._name(1, task) not in names or sum(map(bool, map(_CASE.fullmatch, names))) != task.cases.count:
                return False
            with open(target.folder.open(f"{target.name}/{KEY}", os.O_RDONLY), "rb") as file:
                known = json.dumps(task.key).encode()  # no more is read than it has
                return bool(json.loads(file.read(len(known) + 1)) == task.key)
        except (FileNotFoundError, NotADirectoryError, ValueError, RecursionError):
            return False


def _tidy(folder: host.Folder, stem: str, parts: Sequence[str]) -> None:
    """Remove what killed sweeps have left, but for other parts: a sweep's own, as its mark and all names in it say.

    Others who can write to the folder may have given its name to any folder of the user's.
    """
    names = [stem]
    with suppress(OSError):
        names = [each for each in folder.names() if re.fullmatch(rf"{stem}(-.*)?", each)]
    for name in names:
        with suppress(OSError), closing(folder.inner(name)) as room:
            mark = room.found(MARK)
            if not room.names() or (mark is not None and host.own(mark) and _own(room, PARTS)):
                _remove(folder, name, room, parts)


def _remove(folder: host.Folder, name: str, inside: host.Folder, parts: Sequence[str] = ()) -> None:
    """Remove what sweeps put into a folder that is held open, its mark and itself if nothing else is left."""
    for part in parts:
        with suppress(OSError), closing(inside.inner(part)) as inner:
            if (_own if part == NEW else _of_sweep)(inner):
                _remove(inside, part, inner)
    with suppress(OSError):
        # What tells that it is a sweep's goes last: a kill may come between.
        for file in sorted(inside.names(), key=(TABLE, KEY).__contains__):
            if _OWN.fullmatch(file) and file != MARK:
                with suppress(OSError):
                    inside.remove(file)
        if inside.names() == [MARK]:
            inside.remove(MARK)
        folder.remove_folder(name)


def _inherit(inside: host.Folder, target: Target, before: os.stat_result) -> None:
    """Who may read the folder that is replaced may read this one, and nobody else."""
    if host.OWNERS:
        descriptor = inside.open(".", os.O_RDONLY)
        try:
            target.folder.hand_on(target.name, before, descriptor)
        finally:
            os.close(descriptor)


def _own(inside: host.Folder, parts: Sequence[str] = ()) -> bool:
    """Whether there is nothing in a folder but files with names that sweeps give, and parts of theirs."""
    return _plain(inside, [name for name in inside.names() if name not in parts])


def _plain(inside: host.Folder, names: Iterable[str]) -> bool:
    """Whether names in a folder are of files, and such as sweeps give."""
    return all(
        _OWN.fullmatch(name) and ((found := inside.found(name)) is None or S_ISREG(found.st_mode)) for name in names
    )


def _of_sweep(inside: host.Folder) -> bool:
    """Whether a folder is empty, or holds what a sweep has written, as its own file and its table tell, and nothing
    else; cases may be missing.

    Raises OSError for what cannot be read.
    """
    names = inside.names()
    cases = [found for name in names if (found := _CASE.fullmatch(name))]
    if not _plain(inside, names) or MARK in names:
        return False
    if not names:
        return True
    if KEY not in names or not (columns := _columns(inside)):
        return False
    if TABLE not in names:
        return not cases
    last = _last(inside, columns)
    return len({found[2] for found in cases}) <= 1 and all(
        len(found[1]) == len(str(last)) and 0 < int(found[1]) <= last for found in cases
    )


def _columns(inside: host.Folder) -> list[str]:
    """Of the sweep that its own file tells of; none where it is no sweep's."""
    with open(inside.open(KEY, os.O_RDONLY), "rb") as file, suppress(ValueError, RecursionError):
        return Task.columns_told(json.loads(file.read(LONGEST)))
    return []


def _last(inside: host.Folder, columns: Sequence[str]) -> int:
    """The number of the last case in the table, 0 where it is not that of the columns."""
    with open(inside.open(TABLE, os.O_RDONLY), "rb") as table:
        head = table.readline(LINE)
        table.seek(max(len(head), table.seek(0, os.SEEK_END) - LINE))
        lines = table.read().splitlines()
    with suppress(ValueError, csv.Error):
        (names,) = csv.reader([head.decode()])
        if names[:1] == [CASE] and {*names} <= {*columns} and lines:
            return int(lines[-1].partition(b",")[0])
    return 0


@contextmanager
def _said() -> Iterator[None]:
    """What is in the way of a folder that is renamed is told by what has happened: names of parts say nothing."""
    try:
        yield
    except OSError as error:
        if error.filename is None or error.errno not in _THERE:
            raise
        raise OSError(errno.EEXIST, APPEARED) from None
