"""Files of cases: --cases FILE, a table whose header names what varies, a case in each row."""

from __future__ import annotations

import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from kronbot.description.csv_lines import lines_of
from kronbot.description.wording import shown_path as shown
from kronbot.errors import UsageError, said

# Bytes of a file of cases, whose numbers are all in memory: a pipe may never end.
LARGEST = 1 << 27


def columns(name: str) -> Mapping[str, Sequence[object]]:
    """The columns of a file by their names. Raises UsageError where it cannot be read, or is no table of cases."""
    from kronbot.sweeps.grammar import table  # here, since help and completion need no NumPy

    place = f"--cases {shown(name)}"
    try:
        kind = Path(name).stat().st_mode
        if not stat.S_ISREG(kind) and not stat.S_ISFIFO(kind):
            raise UsageError(f"{place}: a file is wanted, or a pipe")
        with open(name, "rb") as file:
            return table(_bounded(file, place), name).columns
    except (OSError, ValueError) as error:
        raise UsageError(f"{place}: {said(error, place=False)}") from None


def _bounded(file: BinaryIO, place: str) -> Iterator[list[str]]:
    """The lines of a file. Raises UsageError where they are too many."""
    size = 0
    for lines in lines_of(file):
        size += sum(map(len, lines)) + len(lines)
        if size > LARGEST:
            raise UsageError(f"{place}: larger than {LARGEST >> 20} MB: sweep it in parts")
        yield lines
