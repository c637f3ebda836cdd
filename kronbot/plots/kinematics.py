"""The picture of ``kinematics``: the arm, the axes of the frames that were asked for, other solutions of an inverse."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from casadi import SX

from kronbot.compute.trace import traced
from kronbot.description.names import WORLD
from kronbot.mechanics.multibody import drawing
from kronbot.mechanics.multibody.kinematics import frame, relative_motion
from kronbot.plots import arms, stills
from kronbot.plots.style import GREY, Picture, drawn
from kronbot.questions.kinematics import Asked
from kronbot.questions.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PURPOSE, SPACE = "plot", "space"


@drawn
def draw(result: Result) -> Picture:
    """The picture of a posture; a spatial robot is seen from two sides."""
    robot, asked = result.model, result.asked
    assert isinstance(asked, Asked)
    seen = asked.frames
    q = np.array([result.at["q"][coordinate] for coordinate in robot.coordinates])
    lines = drawing.lines(robot)
    shape, others = lines(q), [lines(each) for each in other_solutions(result, q)]
    planes = arms.views(robot, q[None])

    def poses() -> tuple[dict[str, SX], dict[str, SX]]:
        symbols, world = SX.sym("q", robot.n), frame(robot, WORLD)
        found = (relative_motion(robot, symbols, of, world).pose for each in seen for of in (each.of, each.to))
        return {"q": symbols}, {f"{i}{word}": part for i, pose in enumerate(found) for word, part in vars(pose).items()}

    trace = traced(robot, seen, PURPOSE, poses)
    placed = trace(q)

    def frames(q: np.ndarray) -> stills.Frames:
        found = trace(q)
        return [(found[f"{2 * i}r"], found[f"{2 * i}R"]) for i in range(len(seen))]

    height = arms.height(planes, [shape, *others], 1 / len(planes))
    what = seen[0].name if len(seen) == 1 else f"{len(seen)} frames"
    panels = [f"robot {column}" for column in range(len(planes))]
    spatial = [SPACE] if stills.wanted(robot, planes) else []
    rows, heights = [panels, *([key] * len(panels) for key in spatial)], [height, *(stills.HEIGHT for _ in spatial)]
    picture = Picture(f"kinematics {robot.name}, order {result.order}: {what}", rows, heights, spatial=spatial)
    for key in spatial:
        stills.states(picture[key], robot, q[None], ["#777777"], bool(robot.flexible), frames=frames)
    for axis, plane in zip(map(picture.get, panels), planes, strict=True):
        assert axis is not None
        for other in others:
            arms.trace(axis, plane, other, color=GREY, linewidth=0.8)
        arms.trace(axis, plane, shape, color="#777777")
        arms.joints(axis, plane, robot, shape)
        first = axis is picture["robot 0"]
        arms.bodies(axis, plane, robot, q, first)
        for i, (r, R) in enumerate(frames(q)):
            _axes(axis, plane, r, R, arms.SHARE * arms.size(shape), first and not i)
        if asked.target is not None and not np.isnan(asked.target.position).any():
            wanted = placed["1r"] + placed["1R"] @ asked.target.position
            axis.plot(*plane.of(wanted[:, None]), "x", color="black", zorder=5, label="wanted" if first else None)
        what = f"axes of the frame, {1 + len(others)} solutions" if others else "axes of the frames"
        arms.finish(axis, plane, what if first else f"the same, seen along {plane.along}")
    return picture


def other_solutions(result: Result, q: np.ndarray) -> list[np.ndarray]:
    """Coordinates (n,) of further solutions."""
    solutions = result.arrays.get("solutions")
    if solutions is None:
        return []
    assert solutions.columns is not None
    found = np.repeat(q[None], len(solutions.values) - 1, axis=0)
    found[:, [list(result.at["q"]).index(name) for name in solutions.columns]] = solutions.values[1:]
    return list(found)


def _axes(axis: Axes, plane: arms.View, r: np.ndarray, R: np.ndarray, length: float, named: bool) -> None:
    """The axes of a frame at r (3,) as short lines, in the legend where they are to be ``named``."""
    for k, (colour, stroke) in enumerate(arms.AXES):
        tip = np.column_stack([r, r + length * R[:, k]])
        label = "xyz"[k] if named else None
        axis.plot(*plane.of(tip), color=colour, linestyle=stroke, linewidth=1.6, zorder=4, label=label)
