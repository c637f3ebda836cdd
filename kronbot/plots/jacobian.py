"""The picture of ``jacobian``: the arm, and the velocities that a frame of it takes at joint rates of norm one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from casadi import SX

from kronbot.compute.trace import traced
from kronbot.description.names import WORLD
from kronbot.floats import all_finite, rounded
from kronbot.mechanics.multibody import drawing
from kronbot.mechanics.multibody.kinematics import frame, relative_motion
from kronbot.model.robot import Robot
from kronbot.plots import arms
from kronbot.plots.arms import View as Plane
from kronbot.plots.style import COLOURS, Picture, drawn
from kronbot.questions.jacobian import FrameView
from kronbot.questions.result import Result
from kronbot.records import dataclass

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PURPOSE = "plot"
# The largest semi-axis on paper, as a share of the robot's size; semi-axes below this share of it are rounding.
SHARE = 0.3
NOTHING = 1e-9
CORNERS = 121


@dataclass(frozen=True)
class Ellipsoid:
    """Velocities (J q_r' with |q_r'| = 1) in the base frame: semi-axes as columns (3, 3), longest first, and a unit."""

    word: str
    unit: str
    axes: np.ndarray

    @property
    def sizes(self) -> np.ndarray:
        """Lengths of the semi-axes that are not nothing."""
        sizes = np.linalg.norm(self.axes, axis=0)
        return np.asarray(sizes[sizes > NOTHING * sizes.max()] if sizes.any() else sizes[:0])

    @property
    def title(self) -> str:
        """The lengths in words."""
        if not self.sizes.size:
            return f"{self.word}: none"
        noun = "semi-axis" if len(self.sizes) == 1 else "semi-axes"
        lengths = ", ".join(rounded(size, 3) for size in self.sizes)
        return f"{self.word}: {noun} {lengths} {self.unit}"

    def scale(self, size: float) -> float:
        """Metres on paper for a unit, beside a robot of that size (m)."""
        return SHARE * size / float(self.sizes.max())


@drawn
def draw(result: Result) -> Picture:
    """The picture of the Jacobians of a frame at one point.

    Modal coordinates are at rest: their rates have another unit and no common measure with those of joints. A spatial
    robot is seen from two sides, and the ellipsoid of its angular velocities too.
    """
    robot, seen = result.model, result.asked
    assert isinstance(seen, FrameView)
    q = np.array([result.at["q"][coordinate] for coordinate in robot.coordinates])
    lines = drawing.lines(robot)
    shape = lines(q)
    planes = arms.views(robot, q[None])
    centre, found = ellipsoids(result, q)
    if len(planes) == 1:
        # In a plane a body turns about one axis, which points at the reader.
        found = found[:1]
    words = [ellipsoid.word.replace(" ", "-") for ellipsoid in found]
    mosaic = [[f"{word} {column}" for column in range(len(planes))] for word in words]
    height = max(arms.height(planes, [shape], 1 / len(planes)), arms.LOWEST + SHARE * arms.HIGHEST)
    title = f"jacobian {robot.name}, order {result.order}: {of_what(seen)}"
    axes = Picture(title, mosaic, [height] * len(found))
    for row, ellipsoid in enumerate(found):
        for column, plane in enumerate(planes):
            axis = axes[mosaic[row][column]]
            arms.trace(axis, plane, shape, color="#777777")
            arms.joints(axis, plane, robot, shape)
            arms.bodies(axis, plane, robot, q, column == row == 0)
            scale = ellipsoid.scale(arms.size(shape)) if ellipsoid.sizes.size else 0.0
            if scale:
                _ellipse(axis, plane, centre, ellipsoid, scale, COLOURS[row])
            said = f"{ellipsoid.title}; 1 {ellipsoid.unit} as {rounded(scale)} m" if scale else ellipsoid.title
            arms.finish(axis, plane, said if column == 0 else f"the same, seen along {plane.along}")
    return axes


def of_what(seen: FrameView) -> str:
    """Whose velocities are shown, and at which rates."""
    relative = f" relative to {seen.to.name}" if seen.to.way else ""
    return f"{seen.of.name}{relative}, joint rates of norm 1"


def ellipsoids(result: Result, q: np.ndarray) -> tuple[np.ndarray, list[Ellipsoid]]:
    """Where the frame of an answer is (3,), and the ellipsoids of its velocity and of its angular velocity."""
    robot, seen = result.model, result.asked
    assert isinstance(seen, FrameView)
    centre, turn = _placed(robot, seen, q)
    columns = list(result.arrays["J_T"].columns or ())
    joints = [columns.index(robot.coordinates[joint.index]) for joint in robot.joints]
    return centre, [
        Ellipsoid(word, unit, _semi_axes(turn @ np.asarray(result.arrays[array].values, dtype=float)[:, joints]))
        for array, word, unit in (("J_T", "velocity", "m/s"), ("J_R", "angular velocity", "rad/s"))
    ]


def _placed(robot: Robot, seen: FrameView, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where the frame is (3,), and the rotation (3, 3) of the axes of its Jacobians, both in the base frame."""

    def poses() -> tuple[dict[str, SX], dict[str, SX]]:
        symbols = SX.sym("q", robot.n)
        moving, axes = (
            relative_motion(robot, symbols, of, frame(robot, WORLD)).pose
            for of in (seen.of, seen.of if seen.body else seen.to)
        )
        return {"q": symbols}, {"r": moving.r, "R": axes.R}

    placed = traced(robot, seen, PURPOSE, poses)(q)
    return placed["r"], placed["R"]


def _semi_axes(J: np.ndarray) -> np.ndarray:
    """U S of J = U S V^T: the semi-axes of the ellipsoid {J u, |u| = 1} as columns (3, 3), zero where it is flat."""
    U, sizes, _ = np.linalg.svd(all_finite(np.hstack([J, np.zeros((3, 3))])))
    return np.asarray(U * sizes)


def _ellipse(axis: Axes, plane: Plane, centre: np.ndarray, ellipsoid: Ellipsoid, scale: float, colour: str) -> None:
    """The ellipsoid's outline and principal axes; a flat one is an ellipse, or a segment, and so is its outline."""
    at = plane.of(centre)[:, None]
    # The outline of a projected ellipsoid is the ellipse of the sub-block of J J^T.
    U, sizes, _ = np.linalg.svd(all_finite(plane.of(ellipsoid.axes)))
    turn = np.linspace(0, 2 * np.pi, CORNERS)
    rim = at + scale * (U * sizes) @ np.array([np.cos(turn), np.sin(turn)])
    axis.fill(*rim, color=colour, alpha=0.12, linewidth=0)
    axis.plot(*rim, color=colour)
    for k in range(len(ellipsoid.sizes)):
        half = scale * plane.of(ellipsoid.axes[:, k : k + 1])
        axis.plot(*np.hstack([at - half, at + half]), color=colour, linewidth=0.9, linestyle=("-", "--", ":")[k])
    axis.plot(*at, marker="o", color=colour, markersize=3.5)
