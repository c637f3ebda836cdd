"""Answers for people: the summary, arrays and a few rows of a series as tables on stdout."""

from __future__ import annotations

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kronbot.compute.result import Array, Result, plain

# Rows of a series worth showing to a person; all of them are in the machine formats.
SHOWN_ROWS = 11
DIGITS = 6
PIPE_WIDTH = 120
# What a column takes besides its text: a line and a blank on both sides.
BORDER = 3


class _Page(Console):
    """A console that leaves a closed pipe to the entry point, like every other writer."""

    def on_broken_pipe(self) -> None:
        """Raise what rich would turn into an exit of its own."""
        raise BrokenPipeError


def table(result: Result) -> None:
    """Print the whole answer, as wide as the terminal (a pipe has a fixed width)."""
    console = _Page(soft_wrap=True)
    if not console.is_terminal:
        console = _Page(width=PIPE_WIDTH, soft_wrap=True)
    console.print(Text(f"{result.command} {result.robot}, order {result.order}", style="bold"))
    for name, array in result.arrays.items():
        if array.axis is not None or array.symbolic:
            console.print(_listing(name, array))
            continue
        units = array.units if isinstance(array.units, str) else ""
        console.print(Text(f"{name} [{units}]" if units else name))
        console.print(_array(array))
    if result.series:
        _series(result, console)
    console.print(_summary(result))


def _summary(result: Result) -> Table:
    grid = Table(show_header=False, box=None, padding=(0, 2))
    for name, value in result.summary.items():
        grid.add_row(Text(name), Text(_number(value)))
    return grid


def _array(array: Array) -> Table:
    grid = Table()
    grid.add_column("", no_wrap=True)
    for column in [""] if array.columns is None else array.columns:
        grid.add_column(Text(column), justify="right", no_wrap=True)
    values = array.values if array.columns is not None else array.values[:, None]
    for row, entries in zip(array.rows, values, strict=True):
        grid.add_row(Text(row), *(Text(_number(entry)) for entry in entries))
    return grid


def _listing(name: str, array: Array) -> Text:
    """A formula as nested lists, a stack by its size."""
    if array.axis is not None:
        size = " x ".join(str(n) for n in array.values.shape[1:])
        return Text(f"{name}: {len(array.axis[1])} times {size}, all with --format json|csv or -o")
    if array.columns is None:
        return Text(f"{name} = [{', '.join(array.values.tolist())}]")
    rows = [f"[{', '.join(row)}]" for row in array.values.tolist()]
    head = f"{name} = ["
    return Text(head + (",\n" + " " * len(head)).join(rows) + "]")


def _series(result: Result, console: Console) -> None:
    """As many columns as fit, at evenly spread rows; numbers are never cut."""
    count = len(next(iter(result.series.values())))
    rows = np.unique(np.linspace(0, count - 1, min(count, SHOWN_ROWS)).round().astype(int))
    texts = {name: [_number(values[row]) for row in rows] for name, values in result.series.items()}
    shown: list[str] = []
    width = 1
    for name, column in texts.items():
        width += max(len(name), *map(len, column)) + BORDER
        if width > console.width and shown:
            break
        shown.append(name)
    more = f", {len(texts) - len(shown)} more columns" if len(texts) > len(shown) else ""
    console.print(Text(f"{len(rows)} of {count} rows{more} (all with --format csv)"))
    grid = Table()
    for name in shown:
        grid.add_column(Text(name), justify="right", no_wrap=True)
    for entries in zip(*(texts[name] for name in shown), strict=True):
        grid.add_row(*map(Text, entries))
    console.print(grid)


def _number(value: object) -> str:
    """Numbers to a few digits; text and yes/no as they are."""
    value = plain(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, complex):
        return f"{value.real:.{DIGITS}g}{value.imag:+.{DIGITS}g}i"
    return f"{value:.{DIGITS}g}" if isinstance(value, float) else str(value)
