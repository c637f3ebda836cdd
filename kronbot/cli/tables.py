"""Answers for people: the summary, arrays and a few rows of a series as tables on stdout."""

from __future__ import annotations

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kronbot.compute.result import Array, Result, plain

# Rows of a series worth showing to a person; all of them are in the machine formats.
SHOWN_ROWS = 11
SHOWN_COLUMNS = 9
DIGITS = 6
PIPE_WIDTH = 200


def table(result: Result) -> None:
    """Print the whole answer."""
    console = Console(soft_wrap=True)
    if not console.is_terminal:
        console = Console(width=PIPE_WIDTH)  # a pipe has no width to fit
    console.print(Text(f"{result.command} {result.robot}, order {result.order}", style="bold"))
    for name, array in result.arrays.items():
        console.print(_array(name, array) if array.axis is None and not array.symbolic else _listing(name, array))
    if result.series:
        console.print(_series(result))
    console.print(_summary(result))


def _summary(result: Result) -> Table:
    grid = Table(show_header=False, box=None, padding=(0, 2))
    for name, value in result.summary.items():
        grid.add_row(Text(name), Text(_number(value)))
    return grid


def _array(name: str, array: Array) -> Table:
    units = array.units if isinstance(array.units, str) else ""
    grid = Table(title=Text(f"{name} [{units}]" if units else name), title_justify="left")
    grid.add_column("")
    for column in [""] if array.columns is None else array.columns:
        grid.add_column(Text(column), justify="right")
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


def _series(result: Result) -> Table:
    """The first columns, at evenly spread rows."""
    names = list(result.series)
    shown = names[:SHOWN_COLUMNS]
    count = len(result.series[names[0]])
    rows = np.unique(np.linspace(0, count - 1, min(count, SHOWN_ROWS)).round().astype(int))
    more = f", {len(names) - len(shown)} more columns" if len(names) > len(shown) else ""
    grid = Table(title=Text(f"{len(rows)} of {count} rows{more} (all with --format csv)"), title_justify="left")
    for name in shown:
        grid.add_column(Text(name), justify="right")
    for row in rows:
        grid.add_row(*(Text(_number(result.series[name][row])) for name in shown))
    return grid


def _number(value: object) -> str:
    """Numbers to a few digits; text and yes/no as they are."""
    value = plain(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, complex):
        return f"{value.real:.{DIGITS}g}{value.imag:+.{DIGITS}g}i"
    return f"{value:.{DIGITS}g}" if isinstance(value, float) else str(value)
