"""The picture of ``modes``: shapes on the arm, with joints locked and with joints free."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kronbot.compute.arrays import NamedArray
from kronbot.floats import percent, rounded
from kronbot.mechanics.linear.modal import CREEPING
from kronbot.mechanics.multibody import drawing
from kronbot.mechanics.multibody.drawing import Lines
from kronbot.model.robot import Robot
from kronbot.plots import arms, stills
from kronbot.plots.arms import View
from kronbot.plots.curves import decades
from kronbot.plots.style import COLOURS, GREY, HEIGHT, SPATIAL, Picture, drawn, entitle, flow, stroke
from kronbot.questions.result import Result
from kronbot.questions.verdict import AN_INSTANT
from kronbot.records import dataclass

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Shapes of a case, and where all are wanted, for more of which no picture has room; how far one goes on paper, as a
# share of the robot's size.
SHOWN, MOST = 5, 60
SHARE = stills.DEFLECTED
# Inches: several rows should fit on a page.
HIGHEST = 2.6
# What lines of a mode are: dotted ones half a period after the others.
SWINGING = "; grey: at rest, dotted: back"
# Curves of a diagram, and shares that are rounding there.
CURVES, ROUNDING = 6, 1e-14


@dataclass(frozen=True)
class Shape:
    """A mode that swings: its frequency and damping in words, and its direction (n,) among the coordinates."""

    title: str
    direction: np.ndarray


@drawn
def draw(result: Result, whole: bool = False) -> Picture:
    """The picture of modes: a column with joints locked, one with joints free; the slowest, or the ``whole`` of them.

    Below them, where the answer tells it, how the frequencies converge.
    """
    robot = result.model
    lines = drawing.lines(robot)
    q = np.array([result.at["q"].get(coordinate, 0.0) for coordinate in robot.coordinates])
    seen = arms.views(robot, q[None], most=3)
    answered = [case for case in ("locked", "free") if f"poles_{case}" in result.arrays]
    every = {case: swinging(result, f"_{case}") for case in answered}
    found = {case: shapes[: MOST if whole else SHOWN] for case, shapes in every.items()}
    columns = [case for case, shapes in found.items() if shapes] or [answered[-1]]
    both = max(1, min(len(found[case]) for case in columns))
    mosaic = [[f"{case} {i}" for case in columns] for i in range(both)]
    left = [f"{case} {i}" for case in columns for i in range(both, len(found[case]))]
    mosaic += flow(left)
    spatial = [key for row in mosaic for key in dict.fromkeys(row)]
    if not any(found.values()) or not stills.wanted(robot, seen):
        spatial = []
    tall = stills.HEIGHT if spatial else min(HIGHEST, arms.height(seen, [lines(q)], 1 / len(columns)))
    heights = [tall] * len(mosaic)
    tables = {f"convergence {i}": case for i, case in enumerate(columns) if _converges(result, case)}
    if tables:
        mosaic.append([key if (key := f"convergence {i}") in tables else [*tables][0] for i in range(len(columns))])
        heights.append(HEIGHT)
    shown = " and ".join(
        f"{case} ({told(len(found[case]), len(every[case]))}{_others(result, case)})" for case in every
    )
    title = f"modes of {robot.name}, order {result.order}, joints {shown}{of_an_instant(result)}"
    title += SWINGING if any(found.values()) else ""
    axes = Picture(title, mosaic, heights, spatial=spatial)
    axes.naming = mosaic[0][0]
    for key, case in tables.items():
        _draw_convergence(axes[key], case, result.arrays[f"convergence_{case}"])
    for key, axis in axes.items():
        if key in tables:
            continue
        case, _, i = key.partition(" ")
        if found[case]:
            shape = found[case][int(i)]
            titled = replace(shape, title=f"{case}: {shape.title}")
            draw_shape(axis, robot, lines, seen, q, titled, key == mosaic[0][0])
        else:
            arms.trace(axis, seen[0], lines(q), color=COLOURS[0])
            arms.bodies(axis, seen[0], robot, q)
            arms.finish(axis, seen[0], "no mode swings")
    return axes


def swinging(result: Result, suffix: str) -> list[Shape]:
    """The modes of an answer that swing, slowest first: ``frequencies``, ``damping`` and ``shapes`` with a suffix."""
    frequencies, damping, shapes = (result.arrays[f"{word}{suffix}"] for word in ("frequencies", "damping", "shapes"))
    robot = result.model
    places = [robot.coordinates.index(name) for name in shapes.rows]
    twists = arms.twisting(robot)
    found = []
    for i, (omega, ratio) in enumerate(zip(frequencies.values, damping.values, strict=True)):
        if omega > 0 and abs(ratio) < CREEPING:
            direction = np.zeros(robot.n)
            direction[places] = shapes.values[:, i].real
            lost = f", damping {percent(ratio)} %" if abs(ratio) > 1 - CREEPING else ""
            twist = ", torsion" if int(np.abs(direction).argmax()) in twists else ""
            found.append(
                Shape(f"{rounded(omega, 4)} rad/s, {rounded(omega / (2 * math.pi), 3)} Hz{lost}{twist}", direction)
            )
    return found


def told(shown: int, there: int) -> str:
    """How many of those that there are are drawn."""
    return f"all {there}" if 0 < shown == there else f"{shown} of {there}" if there else "none"


def _others(result: Result, case: str) -> str:
    """That there are modes which creep or fall over, and are not drawn."""
    moving = result.arrays[f"frequencies_{case}"].values > 0
    damping = result.arrays[f"damping_{case}"].values[moving]
    alone = damping[np.abs(damping) >= CREEPING]
    falling = int((alone < 0).sum())
    told = f"; {falling} {'falls' if falling == 1 else 'fall'} over, not drawn" if falling else ""
    return f" that swing{told}" if alone.size else ""


def of_an_instant(result: Result) -> str:
    """What a title says of a model whose coefficients change with time."""
    frozen = any(AN_INSTANT in str(said) for word, said in result.summary.items() if word.startswith("verdict"))
    return f"; {AN_INSTANT}" if frozen else ""


def _converges(result: Result, case: str) -> bool:
    table = result.arrays.get(f"convergence_{case}")
    return table is not None and len(table.rows) > 1 and bool(table.values.any())


def _draw_convergence(axis: Axes, case: str, table: NamedArray) -> None:
    """How far the first frequencies are above those with most modes, over the modes a direction."""
    counts = [int(row) for row in table.rows]
    last = table.values[-1]
    for i, place in enumerate(np.flatnonzero(last > 0)[:CURVES]):
        above = table.values[:-1, place] / last[place] - 1
        axis.plot(
            counts[:-1],
            np.where(above > ROUNDING, 100 * above, np.nan),
            marker=".",
            label=f"{rounded(last[place] / (2 * math.pi), 4)} Hz",
            **stroke(i),
        )
    if math.isfinite(most := axis.dataLim.ymax):
        decades(axis, axis.dataLim.minposy, most)
    axis.set_xticks(counts[:-1])
    axis.set_xlabel("modes a direction")
    axis.set_ylabel("[%]")
    entitle(axis, f"{case}: frequencies above those with {counts[-1]} modes a direction")


def draw_shape(
    axis: Axes,
    robot: Robot,
    lines: Lines,
    seen: Sequence[View],
    q: np.ndarray,
    shape: Shape,
    named: bool,
) -> None:
    """A robot at rest in grey, and swung to both sides along a mode: in space, or in the view that shows most of it.

    In views bodies are marked where they rest, in space where they swing; they stand in the legend where they are to be
    ``named``.
    """
    if axis.name == SPATIAL:
        stills.swung(axis, robot, q, shape.direction, shape.title, named)
        return
    rest, moved = lines(q), arms.displacement(lines, q, shape.direction)
    size = arms.size(rest)
    most = float(np.linalg.norm(np.hstack(moved), axis=0).max())
    view = max(seen, key=lambda view: arms.swept(view, rest, moved))
    arms.trace(axis, view, rest, color=GREY)
    arms.bodies(axis, view, robot, q, named)
    if most <= arms.UNSEEN * size:
        arms.finish(axis, view, f"{shape.title}: no line moves")
        return
    for sign, look in ((-1, {"linestyle": ":", "linewidth": 0.9}), (1, {"linestyle": "-"})):
        step = sign * SHARE * size / most
        swung = [line + step * way for line, way in zip(rest, moved, strict=True)]
        arms.trace(axis, view, swung, color=COLOURS[0], **look)
    arms.finish(axis, view, shape.title)
