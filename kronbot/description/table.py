"""Reading a table of time and value from a CSV file."""

from __future__ import annotations

import math
import re
from pathlib import Path

from kronbot.description import limits
from kronbot.description.rules import file_fault
from kronbot.description.source import decode, read_bytes
from kronbot.description.wording import first_of, quote
from kronbot.errors import DescriptionError, Mistake

_NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?", re.ASCII)


def read_table(folder: Path | None, file: str, rows: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Times (s, strictly ascending) and values in the two columns of ``file`` in ``folder``, at least ``rows`` rows.

    A first line that holds no number is a header. Raises DescriptionError with every mistake of the CSV file.
    """
    fault = file_fault(file, folder)
    if fault or folder is None:
        raise DescriptionError([Mistake(1, 1, fault, file)])
    text = decode(file, read_bytes(folder / file, file, limits.TABLE_BYTES))
    mistakes: list[Mistake] = []
    times: list[float] = []
    values: list[float] = []
    header_may_come = True
    for line, content in enumerate(text.splitlines(), start=1):
        if not content.strip():
            continue
        cells = content.split(",")
        if header_may_come and not any(_NUMBER.fullmatch(cell.strip()) for cell in cells):
            header_may_come = False
            continue
        header_may_come = False
        numbers = _row(cells, line, file, mistakes)
        if numbers is None:
            continue
        if times and numbers[0] <= times[-1]:
            mistakes.append(Mistake(line, 1, f"the time {numbers[0]!r} does not come after {times[-1]!r}", file))
        times.append(numbers[0])
        values.append(numbers[1])
    if not mistakes and len(times) < rows:
        mistakes.append(Mistake(1, 1, f"{len(times)} rows of numbers, at least {rows} are wanted", file))
    if mistakes:
        raise DescriptionError(first_of(mistakes))
    return tuple(times), tuple(values)


def _row(cells: list[str], line: int, file: str, mistakes: list[Mistake]) -> tuple[float, float] | None:
    if len(cells) != 2:
        mistakes.append(Mistake(line, 1, f"two columns (time, value) are wanted here, not {len(cells)}", file))
        return None
    numbers: list[float] = []
    column = 1
    for cell in cells:
        bare = cell.strip()
        number = float(bare) if _NUMBER.fullmatch(bare) else math.nan
        if math.isfinite(number):
            numbers.append(number)
        else:
            mistakes.append(Mistake(line, column, f"{quote(bare)} is not a finite number", file))
        column += len(cell) + 1
    return (numbers[0], numbers[1]) if len(numbers) == 2 else None
