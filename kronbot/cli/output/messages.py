"""What people read on stderr: errors, and the mistakes of a text with the lines and places they are about."""

from __future__ import annotations

import os
import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import replace
from typing import TextIO

import click

from kronbot.description.wording import escaped
from kronbot.errors import Argument, KronbotError, Mistake, Mistaken

WIDTH = 100
"""Columns that an excerpt of a source line may take, with its number."""

# Options that have another name than the argument.
_OPTIONS = {"axes": "in", "functions": "of", "loads": "load", "parameters": "set", "shared": "cse"}
_OPTIONS |= {"closed_loop": "closed-loop", "effort_limits": "effort-limits"}
_TAB = " " * 4
_CUT = "..."
# What tells warnings of one kind apart: names and numbers. So many of them have their lines told.
_VALUES = re.compile(r"'[^']*'|[-+]?\d[-+\d.e]*(\*deg)?")
SHOWN = 10
# Whether warnings are for nobody.
_HELD_BACK = ContextVar("_HELD_BACK", default=False)


def show_error(error: KronbotError) -> None:
    """An error on stderr: one line, or every mistake of a text with its place."""
    if isinstance(error, Mistaken):
        for mistake in error.mistakes:
            click.echo(_told(mistake, ""), err=True, color=colourful(sys.stderr))
    else:
        # Libraries repeat what comes from addresses and files.
        told = "\n".join(map(escaped, str(error).split("\n")))
        click.echo(f"{_painted('Error:', 'red')} {told}", err=True, color=colourful(sys.stderr))


def worded(error: KronbotError) -> str:
    """The message of an error with options for arguments."""
    return "".join(_option(part) if isinstance(part, Argument) else str(part) for part in error.args)


def _option(argument: Argument) -> str:
    name, _, part = argument.name.partition(" ")  # of one, like the load on a frame
    if not name.isidentifier():
        return str(argument)
    option = "-o" if name == "output" else f"--{_OPTIONS.get(name, name)}"  # as files of other commands are told
    return " ".join(filter(None, (option, part, argument.value)))


def show_warnings(warnings: Iterable[Mistake]) -> None:
    """Warnings about a text on stderr: of each kind the first, with the lines of the others."""
    kinds: dict[str, list[Mistake]] = {}
    for warning in warnings:
        kinds.setdefault(_VALUES.sub("", warning.message), []).append(warning)
    for alike in kinds.values():
        _warn(_told(_with_others(*alike), "warning: "))


def _with_others(first: Mistake, *others: Mistake) -> Mistake:
    if not others:
        return first
    lines = ", ".join(str(other.line) for other in others[:SHOWN]) + ", ..." * (len(others) > SHOWN)
    alike = f"; {len(others)} more like this: line{'s' * (len(others) > 1)} {lines}"
    return replace(first, message=first.message + alike)


def show_doubts(texts: Iterable[str]) -> None:
    """Warnings about an answer on stderr."""
    for text in texts:
        _warn(f"{_painted('warning:', 'yellow')} {escaped(text)}")


@contextmanager
def untold() -> Iterator[None]:
    """What is doubted inside has been told already, or will be."""
    before = _HELD_BACK.set(True)
    try:
        yield
    finally:
        _HELD_BACK.reset(before)


def quiet() -> bool:
    """Whether the command is to say nothing but errors."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.params.get("quiet"))


def _warn(text: str) -> None:
    if _HELD_BACK.get() or quiet():
        return
    with suppress(OSError):  # stderr is full: nobody hears it, and the answer is as it is
        click.echo(text, err=True, color=colourful(sys.stderr))


def _told(mistake: Mistake, word: str) -> str:
    place = _painted(f"{escaped(mistake.file)}:{mistake.line}:{mistake.column}:")
    return "\n".join([f"{place} {_painted(word, 'yellow')}{escaped(mistake.message)}", *_excerpt_lines(mistake)])


def _excerpt_lines(mistake: Mistake) -> list[str]:
    """The source line with its number and a caret below the place; nothing where there is no line to show."""
    if mistake.text is None or not mistake.text.strip():
        return []
    gutter = f"  {mistake.line} | "
    shown, offset = excerpt(mistake.text, mistake.column, WIDTH - len(gutter))
    below = " " * (len(gutter) - 2) + "| "
    return [gutter + shown.rstrip(), below + " " * offset + _painted("^", "red")]


def excerpt(line: str, column: int, width: int) -> tuple[str, int]:
    """The part of ``line`` around ``column`` (from 1) that fits into ``width``, and the caret's offset in it (from 0).

    Tabs are expanded, characters that do not print are escaped; wide and combining characters count as terminals show
    them.
    """
    at = min(column - 1, len(line))
    # Characters further away can never be in sight, but for combining ones, of which nobody needs more.
    left = [_cell(sign) for sign in reversed(line[max(at - 2 * width, 0) : at])]
    right = [_cell(sign) for sign in line[at : at + 2 * width]]
    if len(left) + len(right) < len(line) or _size(left) + _size(right) > width:
        room = width - 2 * len(_CUT)
        # What one side leaves free the other one may have.
        behind = _fitting(right, room - _size(_fitting(left, room // 2)))
        before = _fitting(left, room - _size(behind))
    else:
        before, behind = left, right
    head = _CUT if len(before) < at else ""
    tail = _CUT if len(behind) < len(line) - at else ""
    shown = "".join(text for text, _ in (*reversed(before), *behind))
    return head + shown + tail, len(head) + _size(before)


def _fitting(cells: list[tuple[str, int]], room: int) -> list[tuple[str, int]]:
    """The first cells, as many as fit."""
    for count, (_, size) in enumerate(cells):
        room -= size
        if room < 0:
            return cells[:count]
    return cells


def _size(cells: list[tuple[str, int]]) -> int:
    return sum(size for _, size in cells)


def _cell(sign: str) -> tuple[str, int]:
    """What stands for a character, and how many columns of a terminal it takes."""
    if sign == "\t":
        return _TAB, len(_TAB)
    if not sign.isprintable():
        shown = escaped(sign)
        return shown, len(shown)
    if unicodedata.category(sign) in ("Mn", "Me"):
        return sign, 0
    return sign, 2 if unicodedata.east_asian_width(sign) in "WF" else 1


def colourful(stream: TextIO) -> bool:
    """Whether somebody sees colours there, and wants them."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _painted(text: str, colour: str | None = None) -> str:
    return click.style(text, fg=colour, bold=True) if text and colourful(sys.stderr) else text
