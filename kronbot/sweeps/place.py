"""The output of a sweep: beside it a journal while it is computed, whole at the end, gone on with where it stopped."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import PurePath

from kronbot.description.wording import quote, shown_path
from kronbot.errors import Argument, ComputationError, Failure, Interrupted, UsageError, said
from kronbot.records import dataclass
from kronbot.sweeps.archive import Archive
from kronbot.sweeps.folder import FORMATS, Folder
from kronbot.sweeps.journal import SUFFIX, Journal
from kronbot.sweeps.output import Csv, File, Form, Json, demand_written
from kronbot.sweeps.work import Done, Task
from kronbot.system.saving import Target, by_inode

# Computes all cases but those of the spans.
Compute = Callable[[Task, Iterable[tuple[int, int]]], Iterator[Done]]

FILES: Mapping[str, File] = {".csv": Csv(), ".json": Json(), ".npz": Archive()}
_FOLDER = re.compile(r"(.*?)/+(\.npz|\.json)?", re.DOTALL)


@dataclass(frozen=True)
class Place:
    """A path and the form that its name wants, whether what stands there may be replaced, whether a sweep that has
    stopped goes on, and what messages call it."""

    path: str
    form: Form
    overwrite: bool = False
    resume: bool = False
    typed: str = ""

    @classmethod
    def named(cls, output: str, overwrite: bool = False, resume: bool = False) -> Place:
        """A file whose suffix decides the format; NAME/ and a folder that is there are one of .npz files, NAME/.json is
        one of .json files.

        Raises UsageError for other names.
        """
        if folder := _FOLDER.fullmatch(f"{output}/" if os.path.isdir(output) else output):
            return cls(folder[1] or os.sep, Folder(folder[2] or FORMATS[0]), overwrite, resume, output)
        suffix = PurePath(output).suffix
        if suffix not in FILES:
            known = f"the suffix must be one of {', '.join(FILES)}; a folder ends in /"
            raise UsageError(Argument("output", quote(output)), f": {known}")
        return cls(output, FILES[suffix], overwrite, resume, output)

    def demand_possible(self, task: Task) -> None:
        """Raise UsageError where the output of a sweep that has not begun cannot come to be; also one that is resumed,
        but for what may be its own."""
        self.form.demand_room(task)
        with self._found() as target:
            self._demand_apart(target, task)
            found = self.form.obstacle(target)
            if not (self.resume and found is not None and found.replaceable):
                self._demand_free(target)

    def written(self, task: Task, compute: Compute) -> Iterator[Done]:
        """Chunks in the order of the cases, once all are computed and the output is there.

        Raises UsageError before anything is computed where it or a journal is in the way.
        """
        with self._found() as target:
            self._demand_apart(target, task)
            self._demand_free(target)
            journal = Journal.beside(target, task.key, task.cases.count, self.resume, self.overwrite, task.kept.hidden)
            begun = replace(task, kept=task.kept.hiding(journal.hidden))
            whole = False
            try:
                with self._going_on(journal, task.cases.count):
                    for done in journal.chunks():
                        demand_written(done, begun)
                    for done in compute(begun, journal.spans):
                        journal.add(done)
                    self.form.save(target, begun, journal.chunks)
                whole = True
                yield from journal.chunks()
            finally:
                journal.close(gone=whole or not journal.places)

    def holds(self, task: Task) -> bool:
        """Whether the output is there, and is that of this sweep: it has been finished.

        A kill may have left its journal, which goes, unless the output is to be replaced. Raises UsageError where it is
        another one.
        """
        with self._found() as target:
            begun = target.folder.found(target.name + SUFFIX) is not None
            if self.form.obstacle(target) is None or (begun and self.overwrite):
                return False
            if self.form.holds(target, task):
                if begun:
                    Journal.beside(target, task.key, task.cases.count, True, False).close(gone=True)
                return True
            if not begun:
                self._demand_free(target, ", and of another sweep, or not all of this one")
            return False

    @property
    def _where(self) -> Argument:
        return Argument("output", shown_path(self.typed))

    def _demand_apart(self, target: Target, task: Task) -> None:
        """Raise UsageError where a file stands there that the robot is read from."""
        if taken := target.taken(by_inode(task.robot.model.description.files)):
            raise UsageError(self._where, f": {taken}")

    def _demand_free(self, target: Target, more: str = "") -> None:
        """Raise UsageError where something stands there that is not to be replaced, and where nothing can be made."""
        found = self.form.obstacle(target)
        if found is not None and not (self.overwrite and found.replaceable):
            cure = (f"{more}; ", Argument("overwrite"), " replaces it") if found.replaceable else ()
            raise UsageError(self._where, f": {found.what}", *cure)
        if not target.folder.writable():
            raise UsageError(self._where, ": the folder that it is to be in is read-only")

    @contextmanager
    def _going_on(self, journal: Journal, count: int) -> Iterator[None]:
        """What stops a computation of so many cases in here says what is kept, and how to go on with it."""
        try:
            yield
        except (KeyboardInterrupt, Interrupted):
            raise Interrupted("interrupted", *_kept(journal, count)) from None
        except ComputationError as error:
            raise ComputationError(*error.args, *_kept(journal, count)) from None
        except OSError as error:
            there = f"; {_done(journal)} of {count} cases are in the journal {journal.name}: "
            kept = (there, Argument("resume"), " goes on with it") if journal.places else ()
            raise Failure(self._where, f": {said(error, place=False)}", *kept) from None

    @contextmanager
    def _found(self) -> Iterator[Target]:
        try:
            target = Target.at(self.path, self.overwrite)
        except (OSError, ValueError) as error:
            raise UsageError(self._where, f": {said(error)}") from None
        try:
            yield target
        except OSError as error:
            raise Failure(self._where, f": {said(error)}") from None
        finally:
            target.folder.close()


def place_of(output: str | None, overwrite: bool, resume: bool) -> Place | None:
    """Where the table goes, None for no file. Raises UsageError where a sweep without one is to be resumed."""
    if output is None and resume:
        raise UsageError(
            Argument("resume"), " goes on with the journal beside a file: name it with ", Argument("output")
        )
    return None if output is None else Place.named(output, overwrite, resume)


def _done(journal: Journal) -> int:
    return sum(stop - start for start, stop in journal.spans)


def _kept(journal: Journal, count: int) -> tuple[str | Argument, ...]:
    done = _done(journal)
    if not done:
        return (" before the first case: nothing is kept",)
    return f" after {done} of {count} cases; ", Argument("resume"), " goes on with what is computed"
