"""Words that a shell offers: robots, and the names that follow from the file of the ROBOT on the command line.

Functions for ``shell_complete=`` of click. They never raise: where a file is wrong there is nothing to offer. Neither
numpy nor casadi is imported.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    add_completion_class,
    get_completion_class,
    shell_complete,
    split_arg_string,
)

from kronbot.description import names
from kronbot.description.choices import POSE
from kronbot.description.csv_lines import UNDECODED

if TYPE_CHECKING:
    from kronbot.description.schema import RobotFile

    Items: TypeAlias = list[CompletionItem[Any]]
    Completer: TypeAlias = Callable[[click.Context, click.Parameter, str], Items]

VARIABLE = "_KRONBOT_COMPLETE"
SUFFIXES = (".yaml", ".yml")
STANDARD_INPUT = ("-", "/dev/stdin")

_BASH = """\
%(complete_func)s() {
    local type value
    COMPREPLY=()
    while IFS=, read -r type value; do
        case $type in
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
            open) compopt -o nospace; COMPREPLY+=("$value") ;;
            plain) COMPREPLY+=("$value") ;;
        esac
    done < <(COMP_LINE="${COMP_LINE:0:$COMP_POINT}" %(complete_var)s=bash_complete "$1")
}
complete -o nosort -F %(complete_func)s %(prog_name)s
"""


class Bash(BashComplete):
    """Bash, which takes ``=``, ``:`` and ``@`` for the ends of words: it is given the line, and what follows them."""

    name: ClassVar[str] = "bash"
    source_template: ClassVar[str] = _BASH

    def get_completion_args(self) -> tuple[list[str], str]:
        """The words before the cursor, and the one that it ends."""
        line = os.environ.get("COMP_LINE", "")
        words = split_arg_string(line)[1:]
        word = words.pop() if words and not line[-1:].isspace() else ""
        self.incomplete = word.partition("=")[2] if word.startswith("-") else word
        return words, word

    def format_completion(self, item: CompletionItem[Any]) -> str:
        """Kind and value; ``open`` where the word goes on."""
        cut = max(self.incomplete.rfind(sign) for sign in "=:@") + 1
        value = re.sub(r"([\s'\"\\$&;()|<>*?`])", r"\\\1", item.value[cut:])
        return f"{'open' if item.open else item.type},{value}"


def answer(command: click.Command, instruction: str) -> int:
    """Print what the environment variable ``_KRONBOT_COMPLETE`` asks for; the exit code.

    Whoever presses a key wants no messages; whoever asks for a script is told why there is none.
    """
    add_completion_class(Bash)
    shell, _, wanted = instruction.partition("_")
    if get_completion_class(shell) is None or wanted not in ("source", "complete"):
        _tell(f"{VARIABLE}={instruction}: take bash_source, zsh_source or fish_source")
        return 2
    try:
        code = shell_complete(command, {}, "kronbot", VARIABLE, instruction)
        sys.stdout.flush()
    except (OSError, LookupError, ValueError) as error:  # nobody to write to; variables that the shell should have set
        if wanted == "source":
            _tell(f"cannot write the script: {error}")
        return 1
    return code


def _tell(error: str) -> None:
    with suppress(OSError):  # stderr is full: the exit code still tells
        click.echo(f"Error: {error}", err=True)


def _safely(offer: Completer) -> Completer:
    """A file that is wrong, missing or not to be read is no mistake of somebody who presses a key."""

    def offered(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
        try:
            return offer(ctx, param, incomplete)
        except Exception:
            return []

    return offered


@_safely
def robots(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """ROBOT: names of shipped robots, robot files and folders."""
    return shipped(ctx, param, incomplete) + _files(incomplete)


@_safely
def shipped(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Names of shipped robots."""
    from kronbot.description.shipped import shipped_robots

    return _items(shipped_robots(), incomplete)


@_safely
def coordinates(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """``NAME=VALUE,NAME=VALUE`` over the coordinates at the order that is asked for."""
    return _assignments(names.coordinates(_robot(ctx), ctx.params.get("order") or "2"), incomplete)


@_safely
def joint_values(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """``JOINT=VALUE,JOINT=VALUE``."""
    return _assignments(names.joints(_robot(ctx)), incomplete)


def _of(known: Callable[[RobotFile], Iterable[str]]) -> Completer:
    """``NAME=...``, one of the names that the robot has."""
    return _safely(lambda ctx, param, incomplete: _assignment(known(_robot(ctx)), incomplete))


joint = _of(names.joints)
frame_load = _of(lambda robot: names.moving_frames(link.name for link in robot.links))
beam_load = _of(names.beams)


@_safely
def joints(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """``JOINT,JOINT`` or ``all``."""
    head, comma, piece = incomplete.rpartition(",")
    free = [name for name in names.joints(_robot(ctx)) if name not in _given(head)]
    return _items([head + comma + name for name in (free if comma else ["all", *free])], incomplete)


@_safely
def outputs(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """``joints``, ``KIND:NAME``, one after the other."""
    from kronbot.description.outputs import WORDS, named

    head, comma, piece = incomplete.rpartition(",")
    given, known = _given(head), named(_robot(ctx))
    kind, colon, _ = piece.partition(":")
    if colon:
        names = [f"{kind}:{name}" for name in dict.fromkeys(known.get(kind, ()))]
        return _items([head + comma + name for name in names if name not in given], incomplete)
    whole = _items([head + comma + word for word in WORDS if word not in given], incomplete)
    return whole + _items([f"{head}{comma}{kind}:" for kind, names in known.items() if names], incomplete, more=True)


@_safely
def frame(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """A frame, or ``base-to:A,B``."""
    known = names.frames(_robot(ctx))
    if not incomplete.startswith("base-to:"):
        return _items(known, incomplete) + _items(["base-to:"], incomplete, more=True)
    head, comma, _ = incomplete.rpartition(",")
    if comma:
        return _items([f"{head},{name}" for name in known], incomplete)
    return _items([f"base-to:{name}," for name in known], incomplete, more=True)


@_safely
def frames(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """The same, or ``all``."""
    return _items(["all"], incomplete) + frame(ctx, param, incomplete)


@_safely
def pose(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """``NAME=VALUE,NAME=VALUE`` over what a pose is made of."""
    return _assignments(POSE, incomplete)


@_safely
def parameter(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """``NAME=VALUE``: a parameter of the file, with the value that it has there."""
    held = _robot(ctx).parameters
    return [
        CompletionItem(f"{name}=", help=f"now {value}" if value is not None else "free", open=True)
        for name, value in held.items()
        if f"{name}=".startswith(incomplete)
    ]


@_safely
def varied(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """``NAME=...``: what a sweep may vary, parameters first, then coordinates, rates and options."""
    from kronbot.description import names

    robot = _robot(ctx)
    coordinates = names.coordinates(robot, ctx.params.get("order") or "2")
    return _assignment([*robot.parameters, *coordinates, *(f"{name}_dot" for name in coordinates), "order"], incomplete)


def _robot(ctx: click.Context) -> RobotFile:
    """What the file of the ROBOT on the command line says. Raises where there is none or it is wrong."""
    from kronbot import description

    # An option that waits for its value ends the parsing before the arguments are given their names.
    robot = ctx.params["robot"] or ctx.args[0]
    if robot in STANDARD_INPUT:
        raise ValueError("standard input is the keyboard, which nobody may wait for")
    return description.load(description.read(robot)).robot


def _items(words: Iterable[str], incomplete: str, more: bool = False) -> Items:
    """The words that begin so; with ``more`` they are not whole yet."""
    return [CompletionItem(word, open=more) for word in words if word.startswith(incomplete)]


def _assignment(names: Iterable[str], incomplete: str) -> Items:
    return _items([f"{name}=" for name in names], incomplete, more=True)


def _assignments(names: Iterable[str], incomplete: str) -> Items:
    head, comma, _ = incomplete.rpartition(",")
    given = _given(head)
    return _assignment([head + comma + name for name in names if name not in given], incomplete)


def _given(text: str) -> set[str]:
    """Names that stand there already."""
    return {part.partition("=")[0].strip() for part in text.split(",")}


def _files(incomplete: str) -> Items:
    """Robot files and folders, those with a dot in front only where one is typed, and none whose name is no text: the
    words would not be written.
    """
    folder, start = os.path.split(incomplete)
    head = incomplete.removesuffix(start)
    items: Items = []
    with os.scandir(os.path.expanduser(folder) or ".") as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if not entry.name.startswith(start) or (entry.name.startswith(".") and not start):
                continue
            if UNDECODED.search(head + entry.name):
                continue
            if entry.is_dir():
                items.append(CompletionItem(f"{head}{entry.name}/", open=True))
            elif entry.name.endswith(SUFFIXES):
                items.append(CompletionItem(head + entry.name))
    return items
