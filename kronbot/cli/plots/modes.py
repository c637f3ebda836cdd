"""The picture of ``modes``: shapes on the arm, with joints locked and with joints free."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kronbot.cli.plots import arms
from kronbot.cli.plots.arms import Lines, View
from kronbot.cli.plots.style import COLOURS, GREY, picture
from kronbot.compute.result import Result
from kronbot.mechanics.outline import Outline
from kronbot.model.robot import Robot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Shapes of a column, and how far a shape goes on paper as a share of the robot's size.
SHOWN = 5
SHARE = 0.1
# Inches: several rows should fit on a page.
HIGHEST = 2.6
# Movements of the lines below this share of the robot's size, for a shape whose largest entry is 1, are rounding.
UNSEEN = 1e-10
# Damping ratios of at least this are no vibrations.
CREEPING = 1 - 1e-9


@dataclass(frozen=True)
class Shape:
    """A mode that swings: its frequency and damping in words, and its direction (n,) among the coordinates."""

    title: str
    direction: np.ndarray


def draw(name: str, robot: Robot, result: Result) -> None:
    """Write the picture of the modes of ``robot``: a column with joints locked, one with joints free."""
    lines = Outline.of(robot).at
    q = np.array([result.at["q"].get(coordinate, 0.0) for coordinate in robot.coordinates])
    seen = arms.views(robot, lines, q[None], most=3)
    found = {case: swinging(robot, result, f"_{case}")[:SHOWN] for case in ("locked", "free")}
    columns = [case for case, shapes in found.items() if shapes] or ["free"]
    rows = max(1, *(len(found[case]) for case in columns))
    mosaic = [[f"{case} {i}" for case in columns] for i in range(rows)]
    height = min(HIGHEST, arms.height(seen, [lines(q)], 1 / len(columns)))
    with picture(
        name, f"modes of {robot.name}, order {result.order}, joints locked and free", mosaic, [height] * rows
    ) as axes:
        for key, axis in axes.items():
            case, _, i = key.partition(" ")
            if int(i) < len(found[case]):
                shape = found[case][int(i)]
                draw_shape(axis, lines, seen, q, Shape(f"{case}: {shape.title}", shape.direction))
            elif any(found.values()):
                axis.set_axis_off()
            else:
                arms.trace(axis, seen[0], lines(q), color=COLOURS[0])
                arms.finish(axis, seen[0], "no mode swings")


def swinging(robot: Robot, result: Result, suffix: str) -> list[Shape]:
    """The modes of an answer that swing, slowest first: ``frequencies``, ``damping`` and ``shapes`` with a suffix."""
    frequencies, damping, shapes = (result.arrays[f"{word}{suffix}"] for word in ("frequencies", "damping", "shapes"))
    places = [robot.coordinates.index(name) for name in shapes.rows]
    twists = arms.twisting(robot)
    found = []
    for i, (omega, ratio) in enumerate(zip(frequencies.values, damping.values, strict=True)):
        if omega > 0 and abs(ratio) < CREEPING:
            direction = np.zeros(robot.n)
            direction[places] = shapes.values[:, i].real
            lost = f", damping {100 * ratio:.2g} %" if abs(ratio) > 1 - CREEPING else ""
            twist = ", torsion" if int(np.abs(direction).argmax()) in twists else ""
            found.append(Shape(f"{omega:.4g} rad/s, {omega / (2 * math.pi):.3g} Hz{lost}{twist}", direction))
    return found


def draw_shape(axis: Axes, lines: Lines, seen: Sequence[View], q: np.ndarray, shape: Shape) -> None:
    """A robot at rest in grey, and swung to both sides along a mode, in the view that shows most of it."""
    rest, moved = lines(q), arms.displacement(lines, q, shape.direction)
    size = arms.size(rest)
    most = float(np.linalg.norm(np.hstack(moved), axis=0).max())
    view = max(seen, key=lambda view: arms.swept(view, rest, moved))
    arms.trace(axis, view, rest, color=GREY)
    if most <= UNSEEN * size:
        arms.finish(axis, view, f"{shape.title}: no line moves")
        return
    for sign, look in ((-1, {"linestyle": ":", "linewidth": 0.9}), (1, {"linestyle": "-"})):
        step = sign * SHARE * size / most
        swung = [line + step * way for line, way in zip(rest, moved, strict=True)]
        arms.trace(axis, view, swung, color=COLOURS[0], **look)
    arms.finish(axis, view, shape.title)
