"""What notebooks show of robots and answers: tables with names and units, and a still picture."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape

import numpy as np
from casadi import SX

from kronbot.compute.arrays import NamedArray
from kronbot.errors import KronbotError
from kronbot.mechanics.multibody.energy import total_mass
from kronbot.model.robot import Link, Robot
from kronbot.plots import pictures
from kronbot.questions.result import Result
from kronbot.questions.tables import number

PURPOSE = "notebook"
# Rows and columns that a notebook has room for.
ROWS, COLUMNS = 11, 24


def of_result(result: Result) -> str:
    """The answer as HTML: arrays, rows of the series, summary and warnings."""
    parts = [_heading(f"{result.command} {result.robot}, order {result.order}")]
    parts += [_array(name, array) for name, array in result.arrays.items()]
    parts += [_series(result)] if result.series else []
    if result.summary:
        parts.append(_table("summary", [(name, number(value)) for name, value in result.summary.items()]))
    parts += [f"<p>warning: {escape(text)}</p>" for text in result.warnings]
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
    tree.append(("all", "", "", "", _number(robot, total_mass(robot))))
    names = [f"{name} [{unit}]" for name, unit in zip(robot.coordinates, robot.units, strict=True)]
    parts = [
        _heading(f"{robot.name}, order {robot.order}{f': {about}' if about else ''}"),
        _table("links", tree, ["link", "carried by", "joint", "body", "mass [kg]"]),
        f"<p>{robot.n} coordinates: {escape(', '.join(names))}</p>",
    ]
    return "".join(parts) + ("" if posture is None else _picture(posture))


def _mass(robot: Robot, link: Link) -> str:
    beam = [] if link.beam is None else [link.beam.mass]
    hub = [] if link.hub is None else [link.hub.mass]
    return _number(robot, sum((*beam, *hub, *(body.mass for body in link.bodies)), SX(0)))


def _number(robot: Robot, expression: SX) -> str:
    """A value, nothing where a parameter in it has none."""
    free = robot.parameters.free_in(expression)
    return "" if free else number(robot.parameters.evaluate(expression, PURPOSE))


def _picture(posture: Result) -> str:
    """The picture of a posture, nothing where there is no matplotlib or a parameter has no value."""
    try:
        content = pictures.draw(posture).content(".png")
    except KronbotError:
        return ""
    return f'<img src="data:image/png;base64,{base64.b64encode(content).decode()}" alt="{escape(posture.robot)}">'


def _array(name: str, array: NamedArray) -> str:
    """A vector or a matrix; a stack, and what is larger than a page, by its size."""
    values = array.values if array.columns is not None else array.values[..., None]
    if array.axis is not None or values.shape[1] > COLUMNS:
        size = " x ".join(map(str, array.values.shape))
        return f"<p>{escape(name)}: {size}</p>"
    whole = f" [{array.units}]" if isinstance(array.units, str) else ""
    rows, columns = (
        names if isinstance(array.units, str) else _with_units(names, array.units.get(word, ()))
        for word, names in (("rows", array.rows), ("columns", array.columns or ()))
    )
    cells = [(row, *map(number, entries)) for row, entries in zip(rows, values.tolist(), strict=True)]
    return _table(f"{name}{whole}", cells, ["", *columns] if columns else ())


def _with_units(names: Sequence[str], units: Sequence[str]) -> list[str]:
    """Names with units, where there are any."""
    if not units:
        return list(names)
    return [f"{name} [{unit}]" if unit != "1" else name for name, unit in zip(names, units, strict=True)]


def _series(result: Result) -> str:
    """Rows spread evenly over the series, and its first columns."""
    columns = dict(list(result.series.items())[:COLUMNS])
    count = len(next(iter(columns.values())))
    rows = np.unique(np.linspace(0, count - 1, min(count, ROWS)).round().astype(int))
    left = [f"{len(rows)} of {count} rows"] if len(rows) < count else []
    left += [f"{len(columns)} of {len(result.series)} columns"] if len(columns) < len(result.series) else []
    cells = [[number(column[row]) for column in columns.values()] for row in rows]
    head = _with_units(list(columns), [result.units.get(name, "1") for name in columns])
    return _table(", ".join(left), cells, head)


def _heading(text: str) -> str:
    return f"<p><b>{escape(text)}</b></p>"


def _table(caption: str, rows: Iterable[Sequence[str]], head: Sequence[str] = ()) -> str:
    """Cells of text under a caption; nothing in them is markup."""
    above = f"<tr>{''.join(f'<th>{escape(each)}</th>' for each in head)}</tr>" if head else ""
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table>{f'<caption>{escape(caption)}</caption>' if caption else ''}{above}{body}</table>"
