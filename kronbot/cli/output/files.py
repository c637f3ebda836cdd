"""Files that answers are written to: checked before anything is computed, kept apart from what is read, saved whole."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import cast

import click

from kronbot.cli.input.completion import STANDARD_INPUT
from kronbot.description.wording import quote
from kronbot.errors import KronbotError, UsageError, said
from kronbot.system.interruption import UNFINISHED, interruptions
from kronbot.system.platform import host
from kronbot.system.saving import Draft, Target

SUFFIXES = (".json", ".csv", ".npz", ".mat", ".tex")
ROBOT_SUFFIXES = (".yaml", ".yml")
LOST = "cannot write the answer: stdout is closed"
_NOTES = "kronbot.files"


@dataclass
class _Notes:
    """Files that one command writes, by their names, and files that it reads, by device and inode."""

    written: dict[str, tuple[str, Target]] = field(default_factory=dict)
    read: dict[tuple[int, int], str] = field(default_factory=dict)

    def demand_apart(self) -> None:
        for place, target in self.written.values():
            found = target.found()
            if found is not None and (what := self.read.get((found.st_dev, found.st_ino))):
                raise UsageError(f"{place}: that is {what} itself")


def _notes() -> _Notes:
    context = click.get_current_context(silent=True)
    return _Notes() if context is None else cast("_Notes", context.meta.setdefault(_NOTES, _Notes()))


def check_target(output: str | None, overwrite: bool) -> None:
    """Raise UsageError, before anything is computed, where ``-o`` names what cannot be written.

    Raises KronbotError where the answer goes to stdout, and that is closed.
    """
    if output is None or output == "-":
        with suppress(OSError, ValueError):  # of what is no file, writing tells
            if host.read_only(sys.stdout.fileno()):
                raise KronbotError(LOST)
        return
    if Path(output).suffix not in SUFFIXES:
        raise UsageError(f"-o {shown(output)}: the suffix decides the format; it must be one of {', '.join(SUFFIXES)}")
    check_place("-o", output, overwrite)


def check_robot_file(option: str, name: str, overwrite: bool) -> None:
    """The same for a robot file."""
    if Path(name).suffix not in ROBOT_SUFFIXES:
        raise UsageError(f"{option} {shown(name)}: a robot file ends in {' or '.join(ROBOT_SUFFIXES)}")
    check_place(option, name, overwrite)


def check_place(option: str, name: str, overwrite: bool) -> None:
    """Raise UsageError where the file that an option names cannot be made, or is there and not to be replaced.

    What is found is kept until the file is saved: nobody can exchange folders or links meanwhile.
    """
    place = f"{option} {shown(name)}"
    try:
        target = Target.at(name, overwrite)
        found = target.found()
    except (FileNotFoundError, NotADirectoryError):
        raise UsageError(f"{place}: there is no folder {_folder(name)}") from None
    except (OSError, ValueError) as error:  # no name that a file can have
        raise UsageError(f"{place}: {_why(error)}") from None
    if context := click.get_current_context(silent=True):
        context.call_on_close(target.folder.close)
    if found is not None and not stat.S_ISREG(found.st_mode):
        kind = "a folder" if stat.S_ISDIR(found.st_mode) else "a device or a pipe"
        raise UsageError(f"{place}: {kind}, not a file")
    if found is not None and not overwrite:
        raise UsageError(f"{place}: the file is there already; --overwrite replaces it")
    if found is not None and not target.replaceable(found):
        raise UsageError(f"{place}: the file belongs to another user, and only its owner may replace it in this folder")
    if not target.folder.writable():
        raise UsageError(f"{place}: the folder {_folder(name)} is read-only")
    notes = _notes()
    for other, (writer, taken) in notes.written.items():
        if other != name and target.same(taken):
            raise UsageError(f"{place}: that is what {writer} writes")
    notes.written[name] = (place, target)
    notes.demand_apart()


def keep_apart(source: str, what: str) -> None:
    """Raise UsageError where an answer would take the place of a file that it comes from, by whatever name."""
    with suppress(OSError, ValueError):
        status = os.fstat(0) if source in STANDARD_INPUT else os.stat(source)
        if not stat.S_ISREG(status.st_mode):
            return
        notes = _notes()
        notes.read[status.st_dev, status.st_ino] = what
        notes.demand_apart()
        if os.path.samestat(status, os.fstat(sys.stdout.fileno())):
            raise UsageError(f"stdout is {what} itself: -o FILE writes the answer to another file")


def save(name: str, content: bytes | Iterable[bytes]) -> None:
    """Write a file that :func:`check_place` has been asked about, whole or not at all, and say so on stderr.

    Text may come piece by piece; where the computation, a signal or a full disk stops it, its whole lines are saved,
    and the error goes on. A file that has appeared meanwhile stays: the answer gets another name.

    Raises KronbotError where the file system refuses, for example because it is full.
    """
    try:
        _, target = _notes().written.get(name) or ("", Target.at(name, False))
        with interruptions() as met, target.draft() as draft:
            stopped = None
            if isinstance(content, bytes):
                draft.write(content)
            else:
                UNFINISHED[draft.name] = partial(_rescue, name, target, draft, _quiet())
                stopped = draft.fill(content, met)
            with met.saving():
                draft.claim()
                written = _published(name, target, draft)
                tell(f"wrote {shown(written)}{', incomplete' if stopped else ''}")
    except OSError as error:
        raise KronbotError(f"cannot write {shown(name)}: {_why(error)}") from None
    if isinstance(stopped, OSError):
        raise KronbotError(f"cannot write all of {shown(name)}: {_why(stopped)}")
    if stopped is not None:
        raise stopped
    if written != name:
        raise KronbotError(f"{shown(name)} has appeared meanwhile and stays; the answer is in {shown(written)}")


def _published(name: str, target: Target, draft: Draft) -> str:
    """The name that a file has got: the one that was asked for, or another one in its folder."""
    published = target.publish(draft)
    return name if published == target.name else os.path.join(os.path.dirname(name), published)


def _rescue(name: str, target: Target, draft: Draft, quiet: bool) -> str:
    """Save the whole lines that there are, where the process is ended; a line that says so."""
    if not draft.end:
        return target.drop(draft)
    written = _published(name, target, draft)
    with suppress(OSError):
        target.drop(draft)  # there where the file has got its name by a link
    return "" if quiet else f"wrote {shown(written)}, incomplete\n"


def tell(text: str) -> None:
    """A line on stderr, unless the command is to be quiet or nobody hears it."""
    if not _quiet():
        with suppress(OSError):
            click.echo(text, err=True)


def _quiet() -> bool:
    context = click.get_current_context(silent=True)
    return context is None or bool(context.params.get("quiet"))


def _why(error: Exception) -> str:
    """What an error says, without the name that is told already, or a temporary one."""
    if isinstance(error, OSError):
        error.filename = None
    return said(error)


def _folder(name: str) -> str:
    return shown(os.path.dirname(os.path.realpath(name)))


def shown(name: str) -> str:
    """A file name for messages: bare, or in quotes with escapes and cut where it would not print well."""
    return name if name.isprintable() and 0 < len(name) <= 200 else quote(name)
