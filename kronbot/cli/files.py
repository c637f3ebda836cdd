"""Files that answers are written to: checked before anything is computed, written whole or not at all."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from kronbot.compute.interruption import UNFINISHED
from kronbot.description.wording import quote
from kronbot.errors import KronbotError, UsageError

SUFFIXES = (".json", ".csv", ".npz", ".mat", ".tex")


def check_target(output: str | None, overwrite: bool) -> None:
    """Raise UsageError, before anything is computed, where ``-o`` names what cannot be written."""
    if output is None or output == "-":
        return
    if Path(output).suffix not in SUFFIXES:
        raise UsageError(f"-o {shown(output)}: the suffix decides the format; it must be one of {', '.join(SUFFIXES)}")
    check_place("-o", output, overwrite)


def demand_other_file(output: str | None, source: str, what: str) -> None:
    """Raise UsageError where the answer would take the place of what it comes from."""
    with suppress(OSError, ValueError):
        if output is not None and os.path.samefile(output, source):
            raise UsageError(f"-o {shown(output)}: that is {what} itself")


def check_place(option: str, name: str, overwrite: bool) -> None:
    """Raise UsageError where the file that an option names cannot be made, or is there and not to be replaced."""
    place = f"{option} {shown(name)}"
    try:
        path = Path(os.path.realpath(name))
        found = path.stat().st_mode if path.exists() else None
        folder = path.parent.is_dir()
    except (OSError, ValueError) as error:  # no name that a file can have
        raise UsageError(f"{place}: {getattr(error, 'strerror', None) or error}") from None
    if found is not None and not stat.S_ISREG(found):
        raise UsageError(f"{place}: {'a folder' if stat.S_ISDIR(found) else 'a device or a pipe'}, not a file")
    if found is not None and not overwrite:
        raise UsageError(f"{place}: the file is there already; --overwrite replaces it")
    if not folder:
        raise UsageError(f"{place}: there is no folder {shown(str(path.parent))}")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise UsageError(f"{place}: the folder {shown(str(path.parent))} is read-only")


def write_atomically(path: Path, content: bytes | Iterable[bytes]) -> None:
    """Write a file whole or not at all: a temporary file beside it, then a rename. Links are followed.

    Content may come piece by piece; where making a piece fails there is no file either.

    Raises KronbotError where the file system refuses, for example because it is full.
    """
    target = Path(os.path.realpath(path))
    name = str(target.with_name(f".kronbot-{os.urandom(8).hex()}"))
    UNFINISHED.add((name, None))
    try:
        with open(name, "xb") as file:
            file.writelines([content] if isinstance(content, bytes) else content)
        if target.exists():
            os.chmod(name, stat.S_IMODE(target.stat().st_mode))
        os.replace(name, target)
    except OSError as error:
        raise KronbotError(f"cannot write {shown(str(path))}: {error.strerror or error}") from None
    finally:
        with suppress(OSError):
            os.unlink(name)  # there only where something went wrong
        UNFINISHED.discard((name, None))


def shown(name: str) -> str:
    """A file name for messages: bare, or in quotes with escapes and cut where it would not print well."""
    return name if name.isprintable() and 0 < len(name) <= 200 else quote(name)
