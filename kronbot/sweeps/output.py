"""The table of a sweep as a file, written from chunks in the order of the cases, whole or not at all."""

from __future__ import annotations

import csv
import errno
import io
import json
import os
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, groupby, repeat
from typing import Any, BinaryIO, NamedTuple, Protocol

from kronbot.errors import Failure, UsageError
from kronbot.sweeps.cells import sound
from kronbot.sweeps.work import Done, Task, line
from kronbot.system.saving import Target, publish
from kronbot.version import __version__

# What there is, in the order of the cases, as often as somebody asks.
Chunks = Callable[[], Iterable[Done]]
APPEARED = "something has appeared there meanwhile and stays: move it away"


class Obstacle(NamedTuple):
    """What stands at the place of an output, and whether it may be replaced by who wishes that."""

    what: str
    replaceable: bool = True


class Form(Protocol):
    """How a sweep is written: as a file of some format, or as a folder."""

    @property
    def apart(self) -> bool:
        """Whether every case is written by itself, with all that its answer holds."""

    def demand_room(self, task: Task) -> None:
        """Raise UsageError where there is no room for what is kept."""

    def obstacle(self, target: Target) -> Obstacle | None:
        """What stands at the place."""

    def save(self, target: Target, task: Task, chunks: Chunks) -> None:
        """Have it there, whole or not at all. Raises OSError."""

    def holds(self, target: Target, task: Task) -> bool:
        """Whether what stands there is all of this sweep."""


class File:
    """What files of all formats have in common; ``foot`` is how they end."""

    apart = False
    foot = b""

    def demand_room(self, task: Task) -> None:
        """There is room for everything."""

    def obstacle(self, target: Target) -> Obstacle | None:
        """A file, or something else, which nothing replaces."""
        found = target.found()
        if fault := target.fault(found):
            return Obstacle(fault, False)
        return None if found is None else Obstacle("the file is there already")

    def save(self, target: Target, task: Task, chunks: Chunks) -> None:
        """The file appears by being renamed, under its own name or not at all."""
        with target.draft() as draft:
            for piece in self.pieces(task, chunks):
                draft.write(piece)
            draft.claim()
            try:
                publish([(target, draft)], [1])
            except FileExistsError:  # its journal stays, to go on with
                raise OSError(errno.EEXIST, APPEARED) from None

    def holds(self, target: Target, task: Task) -> bool:
        """As its content says."""
        with open(target.folder.open(target.name, os.O_RDONLY), "rb") as file:
            return self.same(file, task)

    def pieces(self, task: Task, chunks: Chunks) -> Iterator[bytes]:
        """Its content, piece by piece; chunks may be asked for more than once."""
        raise NotImplementedError

    def same(self, file: BinaryIO, task: Task) -> bool:
        """Whether it begins and ends as that of this sweep, whose first and last case are computed to know."""
        head, tail = self._ends(task)
        begins = file.read(len(head)) == head
        file.seek(max(0, file.seek(0, os.SEEK_END) - len(tail)))
        return begins and file.read() == tail

    def _ends(self, task: Task) -> tuple[bytes, bytes]:
        """What comes before the second case, and after the last but one."""

        def content(*chunks: Done) -> bytes:
            return b"".join(self.pieces(task, lambda: chunks))

        last, head = task.cases.count - 1, content().removesuffix(self.foot)
        return content(task.done(0, 1)).removesuffix(self.foot), content(task.done(last, last + 1))[len(head) :]


class Csv(File):
    """Numbers as they are in JSON; nothing where a case has none."""

    def demand_room(self, task: Task) -> None:
        """For single values."""
        if task.kept.whole:
            one, cure = task.kept.whole[0], "or the like, .npz and folders all"
            raise UsageError(f"{one} is no single number: a .csv takes an entry of it, max(abs({one})) {cure}")

    def pieces(self, task: Task, chunks: Chunks) -> Iterator[bytes]:
        """Lines, the header first."""
        kept = task.kept
        yield as_csv([kept.header])
        for done in chunks():
            if b'"' not in done.text and not kept.unseen:
                # Numbers, true, false and null only, in which nothing stands between commas by itself.
                yield done.text.replace(b"[", b"").replace(b"]", b"").replace(b"null", b"")
            else:
                yield as_csv(row[: len(kept.header)] for row in rows(done))


class Json(File):
    """An object that says what was asked, with the names of the columns, their units and the rows, a line each."""

    foot = b"\n]}\n"

    def pieces(self, task: Task, chunks: Chunks) -> Iterator[bytes]:
        """What was asked and the names, then a line a row."""
        kept, robot = task.kept, task.robot.model
        head: dict[str, object] = {
            "kronbot": __version__,
            "command": "sweep",
            "robot": robot.name,
            "order": robot.order,
        }
        head |= {"question": task.question, "columns": kept.header, "units": task.units}
        yield json.dumps(head, ensure_ascii=False)[:-1].encode() + b', "rows": [\n'
        comma = b""
        for done in chunks():
            text = done.text
            if kept.unseen:
                text = "".join(line(row[: len(kept.header)]) for row in rows(done)).encode()
            yield comma + text[:-1].replace(b"\n", b",\n")
            comma = b",\n"
        yield self.foot


def as_csv(lines: Iterable[Iterable[object]]) -> bytes:
    """Rows of values."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(map(_cell, row) for row in lines)
    return text.getvalue().encode()


def _cell(value: object) -> object:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)


def rows(done: Done) -> list[list[object]]:
    """The rows of a chunk as values; what is kept unseen comes last. Raises KronbotError where these are none."""
    try:
        text = b"[" + done.text[:-1].replace(b"\n", b",") + b"]"
        found: list[list[object]] = json.loads(text, parse_constant=_no_number)
        if all(isinstance(row, list) for row in found):
            return found
    except (ValueError, RecursionError):
        pass
    raise _not_written(done)


def demand_written(done: Done, task: Task) -> None:
    """Raise KronbotError for rows that no sweep has written of these cases: who resumes believes them.

    Files of folders are called by what says which case a row is of.
    """
    found, kept, names = rows(done), task.kept, task.kept.header
    cases: list[Any] = [row[0] if row else None for row in found]
    wanted = [*range(done.start + 1, done.stop + 1)]
    if not all(type(case) is int for case in cases) or [case for case, _ in groupby(cases)] != wanted:
        raise _not_written(done)
    last = len(names) - 1
    errors = [row[last] if len(row) > last else None for row in found]
    widths = [len(names) + (len(kept.unseen) if error is None else 0) for error in errors]
    if [*map(len, found)] != widths or not (kept.rows or len(found) == len(wanted)):
        raise _not_written(done)
    whole = [*map({*kept.whole}.__contains__, names)]
    if not all(all(map(sound, row, chain(whole, repeat(True)))) for row in found):
        raise _not_written(done)
    told = [error for error in errors if error is not None]
    if len(told) != done.failed or not all(type(error) is str for error in told):
        raise _not_written(done)
    # As text: 1, 1.0 and true are equal.
    varied = [line([*values]) for values in task.cases.rows(done.start, done.stop)]
    own = (line(row[1 : 1 + len(kept.varied)]) for row in found)
    if any(text != varied[case - wanted[0]] for text, case in zip(own, cases, strict=True)):
        raise _not_written(done)


def _no_number(token: str) -> object:
    """JSON has no NaN and no infinity, though Python reads them."""
    raise ValueError(token)


def _not_written(done: Done) -> Failure:
    return Failure(f"the rows of cases {done.start + 1} to {done.stop} are not as a sweep has written them")
