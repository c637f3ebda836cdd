"""Files of cases: --cases FILE, a table whose header names what varies, a case in each row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import BinaryIO

from kronbot.cli.input.completion import STANDARD_INPUT
from kronbot.cli.input.streams import opened
from kronbot.description.csv_lines import lines_of
from kronbot.description.wording import shown_path as shown
from kronbot.description.yaml.source import STANDARD_INPUT_NAME, Source
from kronbot.errors import UsageError, said

# Bytes of a file of cases, whose numbers are all in memory: a pipe may never end.
LARGEST = 1 << 27


def columns(robot: Source, name: str) -> Mapping[str, Sequence[object]]:
    """The columns of a file by their names, of a pipe or of standard input.

    Raises UsageError where it cannot be read, or is no table of cases.
    """
    from kronbot.sweeps.grammar import table  # here, since help and completion need no NumPy

    place = f"--cases {shown(name)}"
    try:
        with opened(robot, name, "--cases", "the file of cases") as file:
            return table(_bounded(file, place), STANDARD_INPUT_NAME if name in STANDARD_INPUT else name).columns
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
