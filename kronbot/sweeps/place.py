"""The file of a sweep: beside it a journal while it is computed, whole at the end, gone on with where it stopped."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from kronbot.errors import Argument, ComputationError, Interrupted, KronbotError, UsageError, said
from kronbot.sweeps import archive, output
from kronbot.sweeps.journal import SUFFIX, Journal, Key
from kronbot.sweeps.kept import Kept
from kronbot.sweeps.work import Done
from kronbot.system.saving import Target, publish

# Computes all cases but those of the spans.
Compute = Callable[[Iterable[tuple[int, int]]], Iterator[Done]]


@dataclass(frozen=True)
class Place:
    """A path, whether what stands there may be replaced, and whether a sweep that has stopped goes on."""

    path: str
    overwrite: bool = False
    resume: bool = False

    def demand_format(self, kept: Kept) -> str:
        """The suffix, which decides the format. Raises UsageError for another one, and where it cannot hold all."""
        return output.demand_format(self.path, kept)

    def written(self, key: Key, kept: Kept, compute: Compute) -> Iterator[Done]:
        """Chunks in the order of the cases, once all are computed and the file is there.

        Raises UsageError before anything is computed where a file or a journal is in the way.
        """
        suffix = self.demand_format(kept)
        with self._opened() as target:
            journal = Journal.beside(target, key, self.resume, self.overwrite)
            whole = False
            try:
                with _going_on():
                    for done in compute(journal.spans):
                        journal.add(done)
                with target.draft() as draft:
                    if suffix == ".npz":
                        pieces = archive.pieces(kept, key, journal.chunks)
                    else:
                        pieces = output.pieces(suffix, kept, journal.chunks())
                    for piece in pieces:
                        draft.write(piece)
                    draft.claim()
                    publish([(target, draft)])
                whole = True
                yield from journal.chunks()
            finally:
                journal.close(gone=whole or not journal.places)

    def holds(self, key: Key, kept: Kept, ends: Callable[[], tuple[Done, ...]]) -> bool:
        """Whether a file is there without a journal, one that begins and ends like this sweep: it has been finished.

        ``ends`` computes the first and the last case. Raises UsageError where it is another one.
        """
        with self._folder() as target:
            if target.found() is None or target.folder.found(target.name + SUFFIX) is not None:
                return False
        suffix = self.demand_format(kept)
        head, tail = (b"", b"") if suffix == ".npz" else output.ends(suffix, kept, *ends())
        with self._folder() as target, open(target.folder.open(target.name, os.O_RDONLY), "rb") as file:
            if suffix == ".npz":
                same = archive.holds(file, key)
            else:
                same = file.read(len(head)) == head
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - len(tail)))
                same = same and file.read() == tail
        if not same and not self.overwrite:
            cure = Argument("overwrite"), " replaces it"
            raise UsageError(self._where, ": the file is there already, and of another sweep; ", *cure)
        return same

    @property
    def _where(self) -> Argument:
        return Argument("output", self.path)

    @contextmanager
    def _opened(self) -> Iterator[Target]:
        with self._folder() as target:
            if target.found() is not None and not self.overwrite:
                raise UsageError(self._where, ": the file is there already; ", Argument("overwrite"), " replaces it")
            yield target

    @contextmanager
    def _folder(self) -> Iterator[Target]:
        try:
            target = Target.at(self.path, self.overwrite)
        except (OSError, ValueError) as error:
            raise UsageError(self._where, f": {said(error)}") from None
        try:
            yield target
        except OSError as error:
            raise KronbotError(self._where, f": {said(error)}") from None
        finally:
            target.folder.close()


def place_of(output: str | None, overwrite: bool, resume: bool) -> Place | None:
    """Where the table goes, None for no file. Raises UsageError where a sweep without one is to be resumed."""
    if output is None and resume:
        raise UsageError(
            Argument("resume"), " goes on with the journal beside a file: name it with ", Argument("output")
        )
    return None if output is None else Place(output, overwrite, resume)


@contextmanager
def _going_on() -> Iterator[None]:
    """What stops a computation in here says how to go on with it."""
    cure = "; ", Argument("resume"), " goes on with what is computed"
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted("interrupted", *cure) from None
    except ComputationError as error:
        raise ComputationError(*error.args, *cure) from None
