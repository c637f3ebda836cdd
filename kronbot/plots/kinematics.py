"""The picture of ``kinematics``: the arm, and the axes of the frames that were asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
from casadi import SX

from kronbot.compute.trace import traced
from kronbot.description.names import WORLD
from kronbot.mechanics.multibody import drawing
from kronbot.mechanics.multibody.kinematics import frame, relative_motion
from kronbot.plots import arms
from kronbot.plots.style import COLOURS, Picture, drawn
from kronbot.questions.jacobian import FrameView
from kronbot.questions.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PURPOSE = "plot"
# The length of drawn axes, as a share of the robot's size, and their colours and strokes: x, y, z.
SHARE = 0.12
AXES = ((COLOURS[1], "-"), (COLOURS[2], "--"), (COLOURS[0], ":"))


@drawn
def draw(result: Result) -> Picture:
    """The picture of a posture; a spatial robot is seen from two sides."""
    robot, seen = result.model, cast("tuple[FrameView, ...]", result.asked)
    q = np.array([result.at["q"][coordinate] for coordinate in robot.coordinates])
    lines = drawing.lines(robot)
    shape = lines(q)
    planes = arms.views(robot, lines, q[None])

    def poses() -> tuple[dict[str, SX], dict[str, SX]]:
        symbols, world = SX.sym("q", robot.n), frame(robot, WORLD)
        found = (relative_motion(robot, symbols, each.of, world).pose for each in seen)
        return {"q": symbols}, {f"{i}{word}": part for i, pose in enumerate(found) for word, part in vars(pose).items()}

    placed = traced(robot, seen, PURPOSE, poses)(q)
    height = arms.height(planes, [shape], 1 / len(planes))
    what = seen[0].name if len(seen) == 1 else f"{len(seen)} frames"
    panels = [str(column) for column in range(len(planes))]
    picture = Picture(f"kinematics {robot.name}, order {result.order}: {what}", [panels], [height])
    for axis, plane in zip(picture.values(), planes, strict=True):
        arms.trace(axis, plane, shape, color="#777777")
        arms.joints(axis, plane, robot, shape)
        first = axis is picture["0"]
        arms.bodies(axis, plane, robot, q, first)
        for i in range(len(seen)):
            _axes(axis, plane, placed[f"{i}r"], placed[f"{i}R"], SHARE * arms.size(shape), first and not i)
        arms.finish(axis, plane, "axes of the frames" if first else f"the same, seen along {plane.along}")
        if first:
            axis.legend()
    return picture


def _axes(axis: Axes, plane: arms.View, r: np.ndarray, R: np.ndarray, length: float, named: bool) -> None:
    """The axes of a frame at r (3,) as short lines, in the legend where they are to be ``named``."""
    for k, (colour, stroke) in enumerate(AXES):
        tip = np.column_stack([r, r + length * R[:, k]])
        label = "xyz"[k] if named else None
        axis.plot(*plane.of(tip), color=colour, linestyle=stroke, linewidth=1.6, zorder=4, label=label)
