"""Robots to scale: the planes in which they are seen, their outlines, and how these give way."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kronbot.mechanics.multibody import drawing
from kronbot.mechanics.multibody.drawing import Lines
from kronbot.model.joint import FreeJoint
from kronbot.plots.reach import reach
from kronbot.plots.style import COLOURS, GREY, WIDTH, entitle, number_ticks, readable
from kronbot.questions.elements import depths_of_tendons
from kronbot.records import dataclass

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from kronbot.model.robot import Robot

# What is thinner than this share of the whole shows nothing when it is seen from the side.
FLAT = 0.02
# How far a robot is moved in thought along each coordinate, as a share of its size, to see where it can go.
SWAY = 0.2
# Movements of the lines below this share of the robot's size, for a shape whose largest entry is 1, are rounding.
UNSEEN = 1e-10
# Step of central differences by a coordinate; their error, its square, is far below the width of a line.
STEP = 1e-4
# Marks of bodies, points across: of the heaviest, and of the lightest that is still seen.
LARGEST_BODY, SMALLEST_BODY = 10.0, 5.5
# Those of joints, which lie on bodies and hide none.
JOINT: dict[str, Any] = {"markersize": 3, "markeredgewidth": 0.8, "markerfacecolor": "white", "color": COLOURS[6]}
EDGE: dict[str, Any] = {"markeredgecolor": "black", "markeredgewidth": 0.6}
# Marks, colours and words of a payload and of other bodies.
PAYLOAD, BODY = ("D", COLOURS[4], "payload"), ("o", GREY, "rigid body")
ELEMENT: dict[str, Any] = {"color": COLOURS[2], "linestyle": (0, (3, 1.5)), "linewidth": 1.2, "zorder": 2.3}
SLACK = {**ELEMENT, "linestyle": (0, (1, 3)), "linewidth": 0.9}
# The length of the axes of frames, as a share of the robot's size, and their colours and strokes: x, y, z.
SHARE = 0.12
AXES = ((COLOURS[1], "-"), (COLOURS[2], "--"), (COLOURS[0], ":"))
# Heights of a panel in inches, and what its labels take of it.
LOWEST, HIGHEST, LABELS = 1.5, 4.2, 0.75


@dataclass(frozen=True)
class View:
    """A plane of the base frame as it stands on paper: its axes to the right and upwards (``down``: downwards).

    Lengths are drawn in ``unit``, which is a metre divided by ``factor``.
    """

    x: int
    y: int
    down: bool
    factor: float = 1.0
    unit: str = "m"

    @property
    def along(self) -> str:
        """The axis of the base frame that is looked along."""
        return "xyz"[3 - self.x - self.y]

    def of(self, points: np.ndarray) -> np.ndarray:
        """Points (3, K) in m in the plane (2, K), in the unit of the view."""
        return self.factor * points[[self.x, self.y]]

    def towards(self, vectors: np.ndarray) -> np.ndarray:
        """The components (K,) of vectors (3, K) across the plane, positive to who looks at it."""
        right_handed = (self.y - self.x) % 3 == 1
        across: np.ndarray = vectors[3 - self.x - self.y]
        return across if right_handed != self.down else -across


def views(robot: Robot, states: np.ndarray, most: int = 2) -> list[View]:
    """One view of a robot that stays in a plane, else so many, the one that shows most of the states (N, n) first.

    Where the robot can go counts too: a straight arm is seen in the plane of its motion. Gravity points down.
    """
    outline = drawing.outline(robot)
    shapes = [points for q in states for points in outline(q)]
    factor, unit = readable(size(shapes), "m")
    extent = np.ptp(np.hstack(shapes), axis=1)
    largest = float(extent.max()) or 1.0
    reach = np.zeros(3)
    for i in range(robot.n):
        moved = np.abs(np.hstack(displacement(outline, states[-1], np.eye(robot.n)[i]))).max(axis=1)
        if moved.max() > 0:
            reach = np.maximum(reach, moved / moved.max())
    shown = extent + SWAY * largest * reach
    hidden = np.argsort(shown, kind="stable")[: 1 if shown.min() <= FLAT * shown.max() else most]
    return [replace(_view(robot, int(across)), factor=factor, unit=unit) for across in hidden]


def _view(robot: Robot, across: int) -> View:
    x, y = (i for i in range(3) if i != across)
    up, down = vertical(robot, y)
    return View(x, y, False) if up == across else View(x + y - up, up, down)


def vertical(robot: Robot, otherwise: int = 2) -> tuple[int, bool]:
    """The axis along which gravity acts, and whether it points down; another one where there is no gravity."""
    if not robot.parameters.free_in(robot.gravity):
        g = np.array([robot.parameters.evaluate(robot.gravity[i], "plot") for i in range(3)])
        if g.any():
            up = int(np.abs(g).argmax())
            return up, bool(g[up] > 0)
    return otherwise, False


def displacement(lines: Lines, q: np.ndarray, direction: np.ndarray) -> list[np.ndarray]:
    """How the polylines move (m per unit) when q moves along a direction (n,)."""
    step = STEP / (float(np.abs(direction).max(initial=0.0)) or 1.0)
    pairs = zip(lines(q + step * direction), lines(q - step * direction), strict=True)
    return [(after - before) / (2 * step) for after, before in pairs]


def twisting(robot: Robot) -> list[int]:
    """Places of the coordinates that twist a beam, which its line does not show."""
    beams = [(link.modal.stop, link.beam.torsion.count) for link in robot.links if link.beam is not None]
    return [place for stop, count in beams for place in range(stop - count, stop)]


def size(shape: Sequence[np.ndarray]) -> float:
    """The size of a robot (m): the largest distance of any of its points from the base, 1 where all are there.

    Raises ComputationError where that cannot be drawn.
    """
    return reach(np.hstack(list(shape)))


def swept(view: View, shape: Sequence[np.ndarray], moved: Sequence[np.ndarray]) -> float:
    """The area (m2) that the polylines of a robot pass over when their points move (m), as it is seen in a view."""
    area = 0.0
    for line, change in zip(shape, moved, strict=True):
        along, way = view.of(np.diff(line)), view.of(change[:, 1:] + change[:, :-1]) / 2
        area += float(np.abs(along[0] * way[1] - along[1] * way[0]).sum())
    return area


def height(seen: Sequence[View], shapes: Sequence[Sequence[np.ndarray]], share: float) -> float:
    """Height (inches) of panels that show shapes to scale and take a share of the width of the picture."""
    points = np.hstack([line for shape in shapes for line in shape])
    needed = [np.ptp(points[view.y]) / (np.ptp(points[view.x]) or 1.0) for view in seen]
    return float(np.clip(max(needed) * (share * WIDTH - LABELS), LOWEST - LABELS, HIGHEST - LABELS)) + LABELS


def trace(axis: Axes, view: View, shape: Sequence[np.ndarray], **look: Any) -> None:
    """Draw the polylines of a robot."""
    for line in shape:
        axis.plot(*view.of(line), solid_capstyle="round", **look)


def joints(axis: Axes, view: View, robot: Robot, shape: Sequence[np.ndarray]) -> None:
    """Mark the joints of a robot: circles, squares where they slide."""
    for link, line in zip(robot.links, shape, strict=False):
        if link.joint is not None and not isinstance(link.joint, FreeJoint):
            mark = "o" if link.joint.revolute else "s"
            axis.plot(*view.of(line[:, 1:2]), mark, **JOINT, zorder=3, clip_on=False)


def bodies(axis: Axes, view: View, robot: Robot, q: np.ndarray, named: bool = True) -> None:
    """Mark the centres of mass of rigid bodies, the area of a mark by the mass; payloads on a line from their tip.

    Elements are broken lines from end to end, slack tendons dotted ones. In the legend too, where they are to be
    ``named``.
    """
    known = set(axis.get_legend_handles_labels()[1])
    for ends, (word, look) in zip(drawing.elements(robot, q), elements(robot, q), strict=True):
        axis.plot(*view.of(ends.T), label=word if named and word not in known else None, **look)
        known.add(word)
    found = drawing.bodies(robot, q)
    sizes = marks(found.masses)
    # A square on its tip reaches beyond the circle of its size: the larger of two in one place is below the other.
    reach = sizes * np.where(found.payload, math.sqrt(2), 1.0)
    for i in np.argsort(-reach, kind="stable"):  # of each kind the heaviest is in the legend
        mark, colour, word = PAYLOAD if found.payload[i] else BODY
        centre = view.of(found.centres[:, i : i + 1])
        if found.payload[i]:
            stem = np.hstack([view.of(found.frames[:, i : i + 1]), centre])
            axis.plot(*stem, color="black", linewidth=0.6, zorder=2.4)
        label = word if named and word not in known else None
        axis.plot(
            *centre, mark, markersize=float(sizes[i]), color=colour, label=label, **EDGE, zorder=2.5, clip_on=False
        )
        known.add(word)


def elements(robot: Robot, q: np.ndarray) -> list[tuple[str, dict[str, Any]]]:
    """What each straight piece of the elements at q (n,) is called, and how it is drawn; whether tendons whose rest has
    no value are slack nobody knows."""
    known = not any(each.one_sided and robot.parameters.free_in(each.rest) for each in robot.elements)
    depths = depths_of_tendons(robot, q[None]) if known else {}
    slack = {name for name, depth in depths.items() if depth[0] < 0}
    looks = [("slack tendon", SLACK) if each.name in slack else ("element", ELEMENT) for each in robot.elements]
    return [look for look, each in zip(looks, robot.elements, strict=True) for _ in each.pieces]


def marks(masses: np.ndarray) -> np.ndarray:
    """Sizes (B,) of the marks of bodies, points across, by their masses (B,)."""
    return np.asarray(np.maximum(LARGEST_BODY * np.sqrt(masses / masses.max(initial=0.0)), SMALLEST_BODY))


def finish(axis: Axes, view: View, title: str) -> None:
    """The base, equal scales, labels with units, the title."""
    axis.plot(0, 0, marker="s", color="black", markersize=5, clip_on=False)
    axis.set_aspect("equal", adjustable="datalim")
    # Of both alike: a straight arm has no extent in one direction.
    peak = max(map(abs, (*axis.get_xlim(), *axis.get_ylim())))
    for each in (axis.xaxis, axis.yaxis):
        number_ticks(each, peak)
    axis.set_xlabel(f"{'xyz'[view.x]} [{view.unit}]")
    axis.set_ylabel(f"{'xyz'[view.y]} [{view.unit}]")
    if view.down:
        axis.invert_yaxis()
    entitle(axis, title)


def shade(share: float) -> tuple[float, ...]:
    """The first colour, paler for small shares (0 to 1)."""
    depth = 0.25 + 0.75 * share
    base = [int(COLOURS[0][i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return tuple(1 - depth * (1 - part) for part in base)
