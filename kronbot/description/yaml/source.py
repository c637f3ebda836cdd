"""Getting the text of a robot file: from a path, from standard input, or from the robots that come with kronbot."""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable
from contextlib import closing
from itertools import islice
from pathlib import Path, PurePath

from kronbot.description import limits
from kronbot.description.shipped import shipped_robots
from kronbot.description.wording import QUOTED_LENGTH, did_you_mean, listing, quote
from kronbot.errors import LIMITS, DescriptionError, Failure, Mistake, UsageError, said
from kronbot.records import dataclass
from kronbot.system.platform import host

STANDARD_INPUT_NAME = "<stdin>"
_STANDARD_INPUT = ("-", "/dev/stdin")
_ROBOT_FILE = "a robot file begins with 'kronbot: 1'"
_PIPED = "pipe it in and name it -"
_TEXT_CURE = "kronbot.loads takes text, the command line reads it from stdin (-)"
# What most files are made of alone: they need no expression, which takes longer to compile than such a file to read.
_USUAL = bytes((*b"\t\n\r", *range(32, 127)))
# Named one by one, which takes a tenth of the time to compile of a set without all others.
_UNPRINTABLE = "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]"


@dataclass(frozen=True)
class Source:
    """The text of a robot file.

    ``name`` is what messages show, ``folder`` is where files named in the description are looked up (None: nowhere),
    and ``place`` where that has led, by way of links, when the text was read.
    """

    name: str
    text: str
    folder: Path | None
    place: Path | None = None


def read(argument: str) -> Source:
    """The robot file that ``argument`` means: ``-``, a path, or the name of a shipped robot.

    Raises UsageError where there is no such file, DescriptionError where it cannot be read as text.
    """
    if argument in _STANDARD_INPUT:
        content = read_standard_input(limits.TEXT_BYTES)
        return Source(STANDARD_INPUT_NAME, decode(STANDARD_INPUT_NAME, content), None)
    path = Path(argument)
    if exists(argument):
        return _source(argument, path)
    robots = shipped_robots()
    shipped = robots.get(argument.removesuffix(".yaml"))
    if shipped is None:
        demand_no_text(argument, ("kronbot:",), _TEXT_CURE)
        hint = near_file(argument, Path(), (".yaml", ".yml"), robots)
        known = f" (shipped robots: {listing(robots)})" if robots else ""
        raise UsageError(f"no file and no shipped robot {quote(argument)}{hint}{known}")
    return _source(shipped.name, shipped)


def _source(name: str, path: Path) -> Source:
    """The robot file of a path. The folder is the one that it stands in, whatever is exchanged on the way meanwhile."""
    place = realpath(path.parent)

    def opened() -> int:
        folder, last = host.located(f"{place}/.", _demand_no_link)
        with closing(folder):
            return folder.open(os.path.join(last, path.name or "."), os.O_RDONLY, linked=True)

    return Source(name, decode(name, _content(opened, name, limits.TEXT_BYTES)), path.parent, place)


def realpath(folder: Path) -> Path:
    """Where a path leads, by way of links."""
    return Path(os.path.realpath(folder))


def exists(argument: str) -> bool:
    """Whether there is something at a path, or one may not know: opening it says why."""
    return bool(argument) and not absent(Path(argument))


def absent(path: Path) -> bool:
    """Whether nothing is at a path, as far as one may look."""
    try:
        os.stat(path)
        return False
    except OSError as error:  # also of a name that the file system cannot hold
        return error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.EINVAL)
    except ValueError:
        return True


def demand_no_text(argument: str, signs: Iterable[str], cure: str) -> None:
    """Raise UsageError where the name of a file is the text of one, by its lines or by what is in every such text."""
    if "\n" in argument or any(sign in argument for sign in signs):
        raise UsageError(f"a file is wanted, not the text of one: {quote(argument)}; {cure}")


def near_file(name: str, folder: Path, suffixes: Iterable[str], others: Iterable[str] = ()) -> str:
    """``did_you_mean`` for a path in ``folder`` that is not there: files beside it that end so, and ``others``."""
    path = PurePath(name)
    try:
        with os.scandir(folder / path.parent) as entries:
            beside = sorted(entry.name for entry in islice(entries, limits.FILES) if entry.is_file())
    except (OSError, ValueError):  # no such folder, or not to be looked into; a name with NUL in it
        beside = []
    ends = tuple(suffix.casefold() for suffix in suffixes)
    files = (PurePath(file) for file in beside if file != path.name)
    known = {other: other for other in others}
    for file in files:
        if file.suffix.casefold() in ends:
            whole = str(path.parent / file)
            known[file.stem] = whole if len(whole) <= QUOTED_LENGTH else str(file)
    hint = did_you_mean(path.stem, known, known.__getitem__)
    return hint or did_you_mean(path.name, known, known.__getitem__)


def read_bytes(path: Path, name: str, limit: int, cure: str = _PIPED) -> bytes:
    """The content of a regular file of at most ``limit`` bytes.

    Never waits: FIFOs and devices are refused, with a ``cure``. Raises DescriptionError at 1:1 of ``name``.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    return _content(lambda: os.open(path, flags), name, limit, cure)


def read_beside(place: Path, file: str, name: str, limit: int, cure: str) -> bytes:
    """The same of a file that a robot file names, in its folder or below, whatever is exchanged there meanwhile.

    ``place`` is where the folder has led; links that lead out of it lead nowhere.
    """

    def opened() -> int:
        path = realpath(place / file)
        if not path.is_relative_to(place):
            raise OSError(errno.EACCES, "it leads out of the folder of the robot file")
        folder, last = host.located(str(path), _demand_no_link)
        with closing(folder):
            return folder.open(last, os.O_RDONLY)

    return _content(opened, name, limit, cure)


def _demand_no_link(found: os.stat_result, place: str, above: os.stat_result | None) -> None:
    """On a path that has none."""
    if above is not None:
        raise OSError(errno.ELOOP, "it has become a link while it was read")


def _content(opened: Callable[[], int], name: str, limit: int, cure: str = _PIPED) -> bytes:
    """What is in an open file, as :func:`read_bytes`."""
    try:
        # Without O_NONBLOCK opening a FIFO waits for a writer; the kind is judged on what was opened, not on the name.
        with open(opened(), "rb") as file:
            if not stat.S_ISREG(mode := os.fstat(file.fileno()).st_mode):
                kind = "a pipe" if stat.S_ISFIFO(mode) else "a device or a socket"
                raise _at_start(name, f"not a regular file ({kind}); {cure}")
            content = file.read(limit + 1) or b""  # None from what would have to be waited for
    except IsADirectoryError:
        raise _at_start(name, "a directory, not a file") from None
    except OSError as error:
        if error.errno in LIMITS:  # of the process, not of the file
            raise Failure(f"cannot read {quote(name)}: {said(error, place=False)}") from None
        raise _at_start(name, f"cannot be read: {error.strerror or error}") from None
    return within(content, name, limit)


def decode(name: str, content: bytes, wanted: str = _ROBOT_FILE) -> str:
    """UTF-8 text that is not empty and has no control characters. Raises DescriptionError at the first wrong place.

    ``wanted`` is said of what is empty.
    """
    try:
        text = content.removeprefix(BOM_UTF8).decode()  # as utf-8-sig, a module of its own, has it
    except UnicodeDecodeError as error:
        place = len(error.object[: error.start].decode("utf-8", "replace"))
        readable = content.decode("utf-8-sig", "replace")
        raise _at(name, readable, place, "not UTF-8 text: save the file with the encoding UTF-8") from None
    demand_text(name, text, wanted)
    return text


def demand_text(name: str, text: str, wanted: str = _ROBOT_FILE) -> None:
    """Raise DescriptionError where there is no text, or at its first control character or surrogate."""
    if not text.strip():
        raise _at_start(name, f"empty: {wanted}")
    usual = text.isascii() and not text.encode().translate(None, _USUAL)
    if not usual and (wrong := re.search(_UNPRINTABLE, text)):
        raise _at(name, text, wrong.start(), f"the character U+{ord(wrong[0]):04X} is not allowed in a text file")


def demand_plain_lines(name: str, text: str) -> None:
    """Raise DescriptionError at the first character of YAML that ends a line for readers of version 1.1 alone, so that
    the rest of a comment would be keys, and at a byte order mark behind the start, which some of them skip.
    """
    if not text.isascii() and (wrong := re.search("[\x85\u2028\u2029]|(?<!^)\ufeff", text)):
        does = "skip it" if wrong[0] == "\ufeff" else "end a line there"
        message = f"the character U+{ord(wrong[0]):04X} is not allowed: it is not seen, and some readers of YAML {does}"
        raise _at(name, text, wrong.start(), f'{message}; take it out (in quotes write "\\u{ord(wrong[0]):04X}")')


def lines_in(text: str) -> list[str]:
    """The lines of a text, as editors count them: no other character ends one than CR and LF."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def read_standard_input(limit: int, wanted: str = "a robot file") -> bytes:
    """All of standard input, at most ``limit`` bytes.

    Raises UsageError where nothing is piped into it, DescriptionError where it cannot be read or is longer.
    """
    if sys.stdin is None or sys.stdin.closed:
        raise UsageError(f"standard input is closed: name {wanted}")
    if sys.stdin.isatty():
        raise UsageError(f"standard input is a terminal: pipe {wanted} into it, or name one")
    try:
        content = sys.stdin.buffer.read(limit + 1)
    except OSError as error:
        raise _at_start(STANDARD_INPUT_NAME, f"cannot be read: {error.strerror or error}") from None
    if content is None:
        raise _at_start(STANDARD_INPUT_NAME, "cannot be read: it does not wait for who writes into it")
    return within(content, STANDARD_INPUT_NAME, limit)


def within(content: bytes, name: str, limit: int) -> bytes:
    """The content, of at most ``limit`` bytes. Raises DescriptionError."""
    if len(content) > limit:
        raise _at_start(name, f"larger than {limit // 1024} kB")
    return content


def _at_start(name: str, message: str) -> DescriptionError:
    return DescriptionError([Mistake(1, 1, message, name)])


def _at(name: str, text: str, place: int, message: str) -> DescriptionError:
    before = lines_in(text[:place])
    line = lines_in(text)[len(before) - 1]
    return DescriptionError([Mistake(len(before), len(before[-1]) + 1, message, name, line)])
