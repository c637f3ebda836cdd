"""What notebooks show of robots and answers: tables with names and units, and a still picture."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape

import numpy as np
from casadi import SX

from kronbot.compute.arrays import NamedArray
from kronbot.errors import Failure
from kronbot.mechanics.multibody.energy import total_mass
from kronbot.model.robot import Link, Robot
from kronbot.plots import pictures
from kronbot.questions.columns import swings
from kronbot.questions.result import Result
from kronbot.questions.tables import columns_shown, hertz, in_hertz, judged, number, shown, side_by_side, summarized

PURPOSE = "notebook"
# Rows and columns that a notebook has room for.
ROWS, COLUMNS = 11, 24
# MathJax, which notebooks show formulas by, takes what stands between dollars for one, with links in it.
PLAIN = 'class="mathjax_ignore tex2jax_ignore"'


def of_result(result: Result) -> str:
    """The answer as HTML: arrays, rows of the series, summary and warnings."""
    parts = [heading(f"{result.command} {result.robot}, order {result.order}")]
    parts += [_array(name, array, judged(result, name)) for name, array in result.arrays.items()]
    parts += [_series(result)] if result.series else []
    if result.summary:
        parts.append(table("summary", [*summarized(result)]))
    parts += [told(f"warning: {text}") for text in result.warnings]
    return "".join(parts)


def of_robot(robot: Robot, posture: Result | None) -> str:
    """A robot as HTML: its tree with masses, its coordinates, and the picture of a posture where there can be one."""
    about = robot.file.description
    links = {link.name: link for link in robot.links}
    tree = [
        (
            each.name,
            "" if link.parent < 0 else robot.links[link.parent].name,
            "" if each.joint.type == "fixed" else f"{each.joint.name}, {each.joint.type}",
            "flexible" if link.beam is not None else "rigid",
            _mass(robot, link),
        )
        for each in robot.file.links
        for link in [links[each.name]]
    ]
    base = [link for link in robot.links if link.name not in {each.name for each in robot.file.links}]
    if base:
        tree.insert(0, ("base", "", "free", "rigid", _mass(robot, *base)))
    tree.append(("all", "", "", "", _number(robot, total_mass(robot))))
    names = [f"{name} [{unit}]" for name, unit in zip(robot.coordinates, robot.units, strict=True)]
    parts = [
        heading(f"{robot.name}, order {robot.order}{f': {about}' if about else ''}"),
        table("links", tree, ["link", "carried by", "joint", "body", "mass [kg]"]),
        told(f"{robot.n} coordinates: {', '.join(names)}"),
    ]
    return "".join(parts) + ("" if posture is None else _picture(posture))


def of_sweep(
    title: str, varied: Iterable[tuple[Sequence[str], int, Sequence[Sequence[object]]]], kept: Sequence[str]
) -> str:
    """What a sweep that is not computed varies: names that vary together, how often, the first and last of each."""
    rows = [
        (name, str(size), *map(number, values))
        for names, size, ends in varied
        for name, values in zip(names, ends, strict=True)
    ]
    coming = "nothing is computed yet: .result(), .to_pandas(), .plot() or .view() computes it"
    table_of = table("varied", rows, ["name", "values", "first", "last"])
    return heading(title) + table_of + told(f"kept: {', '.join(kept)}") + told(coming)


def _mass(robot: Robot, *links: Link) -> str:
    carried = [[each.mass for each in (link.beam, link.hub, *link.bodies) if each is not None] for link in links]
    return _number(robot, sum((mass for masses in carried for mass in masses), SX(0)))


def _number(robot: Robot, expression: SX) -> str:
    """A value, nothing where a parameter in it has none."""
    free = robot.parameters.free_in(expression)
    return "" if free else number(robot.parameters.evaluate(expression, PURPOSE))


def _picture(posture: Result) -> str:
    """The picture of a posture, nothing where there is no matplotlib or a parameter has no value."""
    try:
        content = pictures.draw(posture).content(".png")
    except Failure:
        return ""
    return f'<img src="data:image/png;base64,{base64.b64encode(content).decode()}" alt="{escape(posture.robot)}">'


def _array(name: str, array: NamedArray, judged: bool) -> str:
    """A vector, or the first columns of a matrix; a stack by its size, unless it is a matrix with a row a case."""
    array = side_by_side(array)
    if array.axis is not None:
        size = " x ".join(map(str, array.values.shape))
        return told(f"{name}: {size}")
    if array.columns is None and name.startswith("frequenc"):
        array = in_hertz(array)
    values = shown(name, array, judged)
    wide = values.shape[1]
    if wide > COLUMNS:
        name, values = f"{name}, {COLUMNS} of {wide} columns", values[:, :COLUMNS]
    whole = f" [{array.units}]" if isinstance(array.units, str) and array.units not in ("", "1") else ""
    rows, columns = (
        names if isinstance(array.units, str) else _with_units(names, array.units.get(word, ()))
        for word, names in (("rows", array.rows), ("columns", array.columns or ()))
    )
    cells = [(row, *map(number, entries)) for row, entries in zip(rows, values.tolist(), strict=True)]
    return table(f"{name}{whole}", cells, ["", *columns[:COLUMNS]] if columns else ())


def _with_units(names: Sequence[str], units: Sequence[str]) -> list[str]:
    """Names with units, where there are any."""
    if not units:
        return list(names)
    return [f"{name} [{unit}]" if unit not in ("", "1") else name for name, unit in zip(names, units, strict=True)]


def _series(result: Result) -> str:
    """Rows spread evenly over the series, and its first columns; frequencies in Hz, too."""
    series = columns_shown(result)
    # Of a sweep not those that no case has a value of.
    there = {name: each for name, each in series.items() if any(value is not None for value in each.tolist())}
    columns = dict(list(there.items())[:COLUMNS])
    count = len(next(iter(columns.values())))
    rows = np.unique(np.linspace(0, count - 1, min(count, ROWS)).round().astype(int))
    left = [f"{len(rows)} of {count} rows"] if len(rows) < count else []
    left += [f"{len(columns)} of {len(there)} columns"] if len(columns) < len(there) else []
    head, texts = [], []
    for name, column in columns.items():
        unit = result.units.get(name, "1")
        head += _with_units([name], [unit])
        texts.append([number(column[row]) for row in rows])
        if swings(name, unit):
            head.append("[Hz]")
            texts.append([hertz(column[row]) for row in rows])
    return table(", ".join(left), zip(*texts, strict=True), head)


def heading(text: str) -> str:
    """What a table is about."""
    return f"<p {PLAIN}><b>{escape(text)}</b></p>"


def told(text: str) -> str:
    """A paragraph."""
    return f"<p {PLAIN}>{escape(text)}</p>"


def table(caption: str, rows: Iterable[Sequence[str]], head: Sequence[str] = ()) -> str:
    """Cells of text under a caption; nothing in them is markup."""
    above = f"<tr>{''.join(f'<th>{escape(each)}</th>' for each in head)}</tr>" if head else ""
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    # On the left: of a table that is wider than the page nobody would see its middle.
    named = f'<caption style="text-align: left">{escape(caption)}</caption>' if caption else ""
    return f"<table {PLAIN}>{named}{above}{body}</table>"
