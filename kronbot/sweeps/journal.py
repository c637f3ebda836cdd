"""The memory of a sweep beside its output: rows and warnings of each chunk as lines of JSON, appended as they come."""

from __future__ import annotations

import errno
import json
import os
import re
import stat
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import field
from itertools import pairwise
from typing import Any

from kronbot.errors import Argument, Failure, UsageError, said
from kronbot.questions.doubts import Doubt
from kronbot.records import dataclass
from kronbot.sweeps.work import Done
from kronbot.system.platform import host
from kronbot.system.saving import Target

SUFFIX = ".part"
# How a journal begins.
_MARK = b'{"kronbot sweep": 1, '
_HIDDEN = "hidden"
# Bytes of a line that says what sweep this is; another file may have no end of its first one.
LONGEST = 1 << 26
_FOREIGN = "is not a file of the user's alone: remove it"
# The line before the rows of a chunk: its cases, how many failed, length of the rows, of the line of warnings after
# them where there are some, the sum of both, and whether some failed of the machine: who resumes computes these again.
_HEAD = re.compile(
    rb'\{"cases":\[(N),(N)\],"failed":(N),"bytes":(N)(?:,"told":(N))?,"sum":(N)(,"starved":true)?\}\n'.replace(
        b"N", rb"\d{1,18}"
    )
)

Key = Mapping[str, object]


@dataclass
class Journal:
    """The file, held open and locked; ``places`` are where the chunks begin in it, by their first case.

    ``hidden`` names what each row has besides the table, as far as it was begun so.
    """

    folder: host.Folder
    name: str
    descriptor: int
    hidden: list[str] = field(default_factory=list)
    places: dict[int, tuple[int, int, int, int, int]] = field(default_factory=dict)
    end: int = 0

    @classmethod
    def beside(
        cls, target: Target, key: Key, count: int, resume: bool, overwrite: bool, hidden: Iterable[str] = ()
    ) -> Journal:
        """The journal of an output with so many cases: begun with so much ``hidden``, or with ``resume`` gone on with
        as it was begun.

        Raises UsageError where there is one that is not to be resumed, or one of another sweep (saying which part
        differs), and KronbotError for what is no regular file of the user's alone.
        """
        name = target.name + SUFFIX
        place = f"the journal {name}"
        try:
            descriptor = target.folder.open(name, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            there = target.folder.found(name)
            if error.errno in (errno.EISDIR, errno.ELOOP) or (there is not None and not host.own(there)):
                raise Failure(f"{place} {_FOREIGN}") from None
            raise Failure(f"{place}: {said(error)}") from None
        made = cls(target.folder, name, descriptor, list(hidden))
        try:
            made._demand_own(place)
            known = made._head(place)
            if known is not None and not resume and not overwrite:
                begun = f"{place} of a sweep that has not ended is there: "
                cures = Argument("resume"), " goes on with it, ", Argument("overwrite"), " begins afresh"
                raise UsageError(begun, *cures)
            if known is not None and resume:
                made._demand_same(known, key, place)
                made.hidden = known.get(_HIDDEN) or []
                if not isinstance(made.hidden, list) or not all(type(each) is str for each in made.hidden):
                    raise made._foreign
                made._read(count)
            else:
                made._begin(key)
        except BaseException:
            os.close(descriptor)
            raise
        return made

    def _begin(self, key: Key) -> None:
        """Say what sweep this is. Raises KronbotError where there is no room, and leaves nothing then."""
        os.ftruncate(self.descriptor, 0)
        self.end = 0
        try:
            self._write(_MARK + json.dumps({**key, _HIDDEN: self.hidden}).encode()[1:] + b"\n")
        except BaseException:
            self._removed()
            raise

    def _demand_own(self, place: str) -> None:
        try:
            host.lock(self.descriptor)
        except BlockingIOError:
            raise UsageError(f"{place}: another sweep is writing it") from None
        except OSError:  # a file system without locks
            pass
        found = os.fstat(self.descriptor)
        if not found.st_nlink:  # between opening and locking it was finished, and went
            raise UsageError(f"{place}: the sweep that was writing it has just ended")
        if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1 or not host.own(found):
            raise Failure(f"{place} {_FOREIGN}")
        if host.exposed(found):  # its rows would be believed
            raise Failure(f"{place} can be written by others: look at it, then chmod go-w it, or remove it")

    def _head(self, place: str) -> dict[str, Any] | None:
        """The key of a journal that is there, None where not even that is whole. Raises UsageError for another file."""
        with open(os.dup(self.descriptor), "rb") as file:
            file.seek(0)
            head = file.readline(LONGEST)
            self.end = file.tell()
        if not head.startswith(_MARK) and not _MARK.startswith(head):
            raise UsageError(f"{place} is not one of kronbot: remove it, or give another output")
        if head.endswith(b"\n"):
            with suppress(ValueError, RecursionError):
                known: dict[str, Any] = json.loads(head)
                return known
        return None

    @staticmethod
    def _demand_same(known: Key, key: Key, place: str) -> None:
        if different := [part for part in key if known.get(part) != key[part]]:
            told = f"{place} is that of another sweep, with other {' and '.join(different)}: "
            raise UsageError(told, Argument("overwrite"), " without ", Argument("resume"), " begins afresh")

    def _read(self, count: int) -> None:
        """Find the chunks that are whole; what comes after the first one that is not, or is none of these, is dropped.

        Raises UsageError where chunks share cases.
        """
        with open(os.dup(self.descriptor), "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(self.end)
            while found := _HEAD.fullmatch(file.readline(LONGEST)):
                *numbers, starved = found.groups(b"0")
                start, stop, failed, length, told, checksum = map(int, numbers)
                place, whole = file.tell(), length + told
                content = file.read(whole) if length and whole < size and start < stop <= count else b""
                if len(content) < max(1, whole) or zlib.crc32(content) != checksum:
                    break
                if starved == b"0":
                    self.places[start] = stop, failed, place, length, told
                self.end = file.tell()
        if any(one[1] > other[0] for one, other in pairwise(self.spans)):
            raise self._foreign
        os.ftruncate(self.descriptor, self.end)

    @property
    def _foreign(self) -> UsageError:
        return UsageError(f"the journal {self.name} is not as a sweep has written it: remove it")

    def add(self, done: Done) -> None:
        """Append a chunk. Raises KronbotError where there is no room."""
        doubts = (json.dumps(done.doubts) + "\n").encode() if done.doubts else b""
        told = b',"told":%d' % len(doubts) if doubts else b""
        again = b',"starved":true' if done.starved else b""
        numbers = done.start, done.stop, done.failed, len(done.text), told, zlib.crc32(done.text + doubts), again
        self._write(b'{"cases":[%d,%d],"failed":%d,"bytes":%d%b,"sum":%d%b}\n' % numbers + done.text + doubts)
        place = self.end - len(done.text) - len(doubts)
        self.places[done.start] = done.stop, done.failed, place, len(done.text), len(doubts)

    def _write(self, content: bytes) -> None:
        left = memoryview(content)
        try:
            os.lseek(self.descriptor, self.end, os.SEEK_SET)
            while left:
                left = left[os.write(self.descriptor, left) :]
        except OSError as error:
            cure = ("; ", Argument("resume"), " goes on") if self.places else ()
            raise Failure(f"the journal {self.name}: {said(error)}", *cure) from None
        self.end += len(content)

    @property
    def spans(self) -> list[tuple[int, int]]:
        """The cases that are there, in order."""
        return sorted((start, place[0]) for start, place in self.places.items())

    def chunks(self) -> Iterator[Done]:
        """What is there, in the order of the cases. Raises KronbotError for warnings that are none."""
        with open(os.dup(self.descriptor), "rb") as file:
            for start in sorted(self.places):
                stop, failed, place, length, told = self.places[start]
                file.seek(place)
                text, doubts = file.read(length), file.read(told)
                yield Done(start, stop, text, failed, doubts=_doubts(doubts, start, stop) if doubts else ())

    def close(self, gone: bool = False) -> None:
        """Let go of it: what was written is on the disk, or, with ``gone``, nothing is to be remembered."""
        # While it is locked: the next sweep has a journal of the same name.
        removed = gone and self._removed()
        with suppress(OSError):
            os.fsync(self.descriptor)
        os.close(self.descriptor)
        if gone and not removed:  # some systems remove no open file
            self._removed()

    def _removed(self) -> bool:
        try:
            self.folder.remove(self.name)
        except OSError:
            return False
        return True


def _doubts(content: bytes, start: int, stop: int) -> tuple[Doubt, ...]:
    try:
        found = tuple(Doubt(*each) for each in json.loads(content))
        if all((type(each.text), type(each.first), type(each.cases)) == (str, int, int) for each in found) and all(
            each.text.encode() and start < each.first <= stop and 0 < each.cases <= stop + 1 - each.first
            for each in found
        ):
            return found
    except (TypeError, ValueError, RecursionError):
        pass
    raise Failure(f"the warnings of cases {start + 1} to {stop} are not as a sweep has written them")
