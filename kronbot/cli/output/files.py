"""Files that answers are written to: checked before anything is computed, kept apart from what is read, saved whole."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import cast

import click

from kronbot.cli.input.completion import STANDARD_INPUT
from kronbot.cli.output.messages import quiet
from kronbot.description.wording import shown_path as shown
from kronbot.errors import LIMITS, Failure, UsageError, said
from kronbot.records import dataclass
from kronbot.system.interruption import UNFINISHED, interruptions
from kronbot.system.platform import host
from kronbot.system.saving import NUMBERS, Draft, Target, publish

# What formulas are written to, and what answers are.
FORMULAS = (".tex", ".py")
SUFFIXES = (".json", ".csv", ".npz", ".mat", *FORMULAS)
ROBOT_SUFFIXES = (".yaml", ".yml")
LOST = "cannot write the answer: stdout is closed"
_NOTES = "kronbot.files"


@dataclass
class _Notes:
    """Files that a command writes, by their names, files that it reads, by device and inode, answers displaced, and
    what has kept one from being printed."""

    written: dict[str, tuple[str, Target]] = field(default_factory=dict)
    read: dict[tuple[int, int], str] = field(default_factory=dict)
    displaced: list[str] = field(default_factory=list)
    unheard: OSError | None = None

    def demand_apart(self) -> None:
        for place, target in self.written.values():
            if taken := target.taken(self.read):
                raise UsageError(f"{place}: {taken}")

    def take(self, place: str, name: str, target: Target) -> None:
        for other, (writer, taken) in self.written.items():
            if other != name and target.same(taken):
                raise UsageError(f"{place}: that is what {writer} writes")
        self.written[name] = (place, target)
        self.demand_apart()


def _notes() -> _Notes:
    context = click.get_current_context(silent=True)
    return _Notes() if context is None else cast("_Notes", context.meta.setdefault(_NOTES, _Notes()))


def check_target(output: str | None, overwrite: bool, also: tuple[str, ...] = ()) -> None:
    """Raise UsageError, before anything is computed, where ``-o`` names what cannot be written.

    It names the suffixes of the command, with those that it writes ``also``.

    Raises KronbotError where the answer goes to stdout, and that is closed.
    """
    if output is None:
        with suppress(OSError, ValueError):  # of what is no file, writing tells
            if host.read_only(sys.stdout.fileno()):
                raise Failure(LOST)
        return
    context = click.get_current_context(silent=True)
    formulas = context is None or "latex" in context.params
    suffixes = tuple(each for each in SUFFIXES if formulas or each not in FORMULAS)
    if Path(output).suffix not in suffixes:
        known = ", ".join((*suffixes, *also))
        raise UsageError(f"-o {shown(output)}: the suffix decides the format; it must be one of {known}")
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
        if found is None:
            with suppress(OSError):  # a link to a stream leads to a name that is no file's
                found = os.stat(name)
    except (FileNotFoundError, NotADirectoryError):
        raise UsageError(f"{place}: there is no folder {_folder(name)}") from None
    except (OSError, ValueError) as error:  # no name that a file can have
        # A limit of the process is nothing that was asked wrongly.
        kind = Failure if isinstance(error, OSError) and error.errno in LIMITS else UsageError
        raise kind(f"{place}: {said(error, place=False)}") from None
    if context := click.get_current_context(silent=True):
        context.call_on_close(target.folder.close)
    if fault := target.fault(found):
        raise UsageError(f"{place}: {fault}")
    if found is not None and not overwrite:
        raise UsageError(f"{place}: the file is there already; --overwrite replaces it")
    if not target.folder.writable():
        raise UsageError(f"{place}: the folder {_folder(name)} is read-only")
    _notes().take(place, name, target)


def check_folder(name: str, folder: str) -> None:
    """Raise UsageError where a file is to be in the folder that ``-o`` names and writes anew, or is read from there.

    What else is in its way the sweep tells.
    """
    notes = _notes()
    with suppress(OSError, ValueError):
        target = Target.at(folder, False)
        if context := click.get_current_context(silent=True):
            context.call_on_close(target.folder.close)
        there = target.found()
        for place, other in notes.written.values():
            if there is not None and os.path.samestat(other.folder.status(), there):
                raise UsageError(f"{place}: -o writes that folder anew: name a place outside of it")
        notes.take(f"-o {shown(name)}", name, target)


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
    if isinstance(content, bytes):
        save_together([name], lambda names: [content])
        return
    with _refused(name):
        target = _target(name)
        with interruptions() as met, target.draft() as draft:
            UNFINISHED[draft.name] = partial(_rescue, name, target, draft, _quiet())
            stopped = draft.fill(content, met)
            with met.saving():
                draft.claim()
                _tell_written([name], [_path(name, target, publish([(target, draft)]))], stopped is not None)
    if isinstance(stopped, OSError):
        raise Failure(f"cannot write all of {shown(name)}: {said(stopped, place=False)}")
    if stopped is not None:
        raise stopped


@contextmanager
def heard() -> Iterator[None]:
    """While an answer is printed: who reads may go (| head), a disk be full, which :func:`demand_heard` tells.

    What the answer has beside it is told and written all the same: warnings and errors, files, the exit code.
    """
    try:
        yield
    except OSError as error:
        if error.filename is not None:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            _notes().unheard = error


def demand_heard() -> None:
    """Raise what has kept an answer from being printed."""
    if (error := _notes().unheard) is not None:
        raise error


def put(name: str | None, text: str) -> None:
    """Write a text to a file, or print it where there is no name."""
    if name is None:
        click.echo(text, nl=False)
    else:
        save(name, text.encode())


def save_together(names: Sequence[str], contents: Callable[[Sequence[str]], Sequence[bytes]]) -> None:
    """The same for the files of one answer, which may name each other: all are written, or none.

    ``contents`` makes them, for the names in their folders that they get: where one has appeared meanwhile, others, all
    with the same number.
    """
    with _refused(*names), interruptions() as met:
        targets = [_target(name) for name in names]
        for number in NUMBERS:
            written = [_path(name, target, number) for name, target in zip(names, targets, strict=True)]
            made = contents([os.path.basename(path) for path in written])
            with suppress(FileExistsError), ExitStack() as held:
                files = [(target, held.enter_context(target.draft())) for target in targets]
                for (_, draft), content in zip(files, made, strict=True):
                    draft.write(content)
                with met.saving():
                    for _, draft in files:
                        draft.claim()
                    publish(files, [number])
                    _tell_written(names, written, False)
                    return
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))


def demand_own_names() -> None:
    """Raise KronbotError, when all is done, where answers have got other names than they were to have."""
    if displaced := _notes().displaced:
        raise Failure("; ".join(displaced))


def _target(name: str) -> Target:
    written = _notes().written.get(name)
    return Target.at(name, False) if written is None else written[1]


def _path(name: str, target: Target, number: int) -> str:
    """The name that a file has got: the one that was asked for, or another one in its folder, where a link leads."""
    return name if number == 1 else os.path.join(target.place, target.numbered(number))


def _tell_written(names: Sequence[str], written: Sequence[str], stopped: bool) -> None:
    for path in written:
        tell(f"wrote {shown(path)}{', incomplete' if stopped else ''}")
    if written != names:
        there = [shown(name) for name in names if os.path.lexists(name)] or [shown(name) for name in names]
        verb = "has appeared meanwhile and stays" if len(there) == 1 else "have appeared meanwhile and stay"
        _notes().displaced.append(f"{_listed(there)} {verb}; the answer is in {_listed(map(shown, written))}")


def _listed(names: Iterable[str]) -> str:
    return " and ".join(names)


@contextmanager
def _refused(*names: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Failure(f"cannot write {_listed(map(shown, names))}: {said(error, place=False)}") from None


def _rescue(name: str, target: Target, draft: Draft, quiet: bool) -> str:
    """Save the whole lines that there are, where the process is ended; a line that says so."""
    if not draft.end:
        return target.drop(draft)
    written = _path(name, target, publish([(target, draft)]))
    with suppress(OSError):
        target.drop(draft)  # there where the file has got its name by a link
    return "" if quiet else f"wrote {shown(written)}, incomplete\n"


def tell(text: str) -> None:
    """A line on stderr, unless the command is to be quiet or nobody hears it."""
    if not _quiet():
        with suppress(OSError):
            click.echo(text, err=True)


def _quiet() -> bool:
    return click.get_current_context(silent=True) is None or quiet()


def _folder(name: str) -> str:
    whole = os.path.realpath(name)
    return shown(whole if name.endswith(os.sep) else os.path.dirname(whole))
