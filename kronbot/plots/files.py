"""Files that pictures and pages are written to by the library: whole, under their own names, or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from kronbot.description import Description
from kronbot.description.wording import shown_path
from kronbot.errors import Argument, Failure, UsageError, said
from kronbot.kinds import is_a
from kronbot.system.saving import Target, by_inode, publish


def name_of(file: str | os.PathLike[str], suffixes: str) -> str:
    """The name of a file as text. Raises UsageError for what is no path."""
    try:
        return str.__str__(os.fsdecode(file))
    except Exception:  # of classes of others, whatever they raise
        raise UsageError(f"file: a path is wanted, which ends in {suffixes}") from None


def flag(value: object, word: str) -> bool:
    """True or False. Raises UsageError for what is neither."""
    if not is_a(value, bool | np.bool_):
        raise UsageError(Argument(word), ": True or False is wanted")
    return bool(value)


@contextmanager
def place(name: str, overwrite: bool, about: Description | None) -> Iterator[Target]:
    """The place of a file, that is looked at before anything is drawn.

    Raises UsageError for a file that is there already unless ``overwrite``, and for one that the robot that it is
    ``about`` was read from, KronbotError where it cannot be written, here or inside.
    """
    try:
        target = Target.at(name, overwrite)
        try:
            found = target.found()
            if fault := target.fault(found):
                raise UsageError(f"{shown_path(name)}: {fault}")
            if taken := target.taken(by_inode(() if about is None else about.files)):
                raise UsageError(f"{shown_path(name)}: {taken}")
            if found is not None and not overwrite:
                there = f"{shown_path(name)}: the file is there already; "
                raise UsageError(there, Argument("overwrite"), " replaces it")
            if not target.folder.writable():
                raise Failure(f"cannot write {shown_path(name)}: the folder is read-only")
            yield target
        finally:
            target.folder.close()
    except (OSError, ValueError) as error:
        raise Failure(f"cannot write {shown_path(name)}: {said(error, place=False)}") from None


def demand_place(name: str, overwrite: bool, about: Description | None) -> None:
    """Raise what :func:`place` raises."""
    with place(name, overwrite, about):
        pass


def write(name: str, content: Callable[[], bytes], overwrite: bool, about: Description | None, what: str) -> None:
    """Write what is drawn, "the picture", to a file of a :func:`place`. Raises what that raises."""
    with place(name, overwrite, about) as target:
        with target.draft() as draft:
            draft.write(content())
            draft.claim()
            number = publish([(target, draft)])
        if number != 1:
            other = shown_path(os.path.join(target.place, target.numbered(number)))
            raise Failure(f"{shown_path(name)} has appeared meanwhile and stays; {what} is {other}")
