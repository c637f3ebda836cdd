"""Files of rows that options name: a file, a pipe, or standard input, which has one reader."""

from __future__ import annotations

import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import click

from kronbot.cli.input.completion import STANDARD_INPUT
from kronbot.cli.output.files import keep_apart
from kronbot.description.wording import shown_path as shown
from kronbot.description.yaml.source import STANDARD_INPUT_NAME, Source
from kronbot.errors import UsageError, said
from kronbot.records import dataclass

# What of a command's options has read standard input, in the notes of its context.
_READER = "kronbot.reader_of_standard_input"
_TAKEN = "the robot file is read from standard input already"


# Arguments of questions that name a file to read, and those that may hold one after an @.
_NAMING, _HOLDING = ("through", "follow", "cases", "data", "validate", "candidates"), ("q", "qd", "qdd", "delta")


def demand_one_reader(robot: str) -> None:
    """Raise UsageError where another option would read standard input, too, which holds the ``robot``."""
    context = click.get_current_context(silent=True)
    if context is None or robot not in STANDARD_INPUT:
        return
    for names, sign in ((_NAMING, ""), (_HOLDING, "@")):
        for word in names:
            if context.params.get(word) in [sign + name for name in STANDARD_INPUT]:
                raise UsageError(f"--{word} {sign}-: {_TAKEN}")


def piped(name: str) -> bool:
    """Whether a file is standard input or a pipe, which is opened once."""
    try:
        return name in STANDARD_INPUT or Path(name).is_fifo()
    except (OSError, ValueError):  # no name that a file can have
        return False


@dataclass(frozen=True)
class Piped:
    """A table that came from a pipe: its name in messages and its content, which is read as often as somebody asks."""

    name: str
    content: bytes

    def read(self, size: int) -> bytes:
        """So many bytes of it."""
        return self.content[:size]


def table(robot: Source, name: str, option: str, what: str) -> str | Piped:
    """The name of a table, as it is, or what comes from a pipe or standard input. Raises UsageError."""
    if not piped(name):
        keep_apart(name, what)
        return name
    from kronbot.questions.fitting.data import LARGEST

    try:
        with opened(robot, name, option, what) as file:
            return Piped(STANDARD_INPUT_NAME if name in STANDARD_INPUT else name, file.read(LARGEST + 1))
    except OSError as error:
        raise UsageError(f"{option} {shown(name)}: {said(error, place=False)}") from None


@contextmanager
def opened(robot: Source, name: str, option: str, what: str, sign: str = "") -> Iterator[BinaryIO]:
    """``what`` an option names, after a ``sign``. Raises UsageError where that is nothing to be read, OSError.

    The file of the ``robot`` may have read standard input already.
    """
    where = f"{option} {sign}{shown(name)}"
    if not name:
        raise UsageError(
            f"{option} {sign or 'is empty'}: name a file{sign and ' after the @'}, or - for standard input"
        )
    if name in STANDARD_INPUT:
        file = _standard_input(robot, option, f"{option} {sign}-")
        keep_apart(name, what)
        yield file
        return
    try:
        kind = Path(name).stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise UsageError(f"{where}: there is no such file") from None
    except ValueError as error:  # no name that a file can have
        raise UsageError(f"{where}: {error}") from None
    if stat.S_ISDIR(kind):
        raise UsageError(f"{where}: a directory, not a file")
    if not stat.S_ISREG(kind) and not stat.S_ISFIFO(kind):
        raise UsageError(f"{where}: neither a file nor a pipe (a device or a socket)")
    keep_apart(name, what)
    with open(name, "rb") as own:
        yield own


def _standard_input(robot: Source, option: str, place: str) -> BinaryIO:
    context = click.get_current_context(silent=True)
    notes = {} if context is None else context.meta
    if robot.folder is None and robot.name == STANDARD_INPUT_NAME:
        raise UsageError(f"{place}: {_TAKEN}")
    if notes.setdefault(_READER, option) != option:
        raise UsageError(f"{place}: {notes[_READER]} reads standard input already")
    if sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():
        raise UsageError(f"{place}: nothing is piped into standard input: pipe rows into it, or name a file")
    return sys.stdin.buffer
