"""Spatial robots as they stand in space: lines, and ribbons along their beams that bend and twist with them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from kronbot.floats import rounded
from kronbot.mechanics.multibody import drawing
from kronbot.plots import arms, loads
from kronbot.plots.style import COLOURS, GREY, SPATIAL, entitle, readable
from kronbot.records import dataclass

if TYPE_CHECKING:
    from kronbot.model.robot import Robot
    from kronbot.plots.arms import View

# Origins (3,), m, and axes (3, 3) of frames.
Frames: TypeAlias = "Sequence[tuple[np.ndarray, np.ndarray]]"
# Inches; half the width of a ribbon as a share of the robot's extent; how much of it is seen through.
HEIGHT, RIBBON, CLEAR = 3.0, 0.025, 0.35
# The largest deflection as a share of the robot's size, and the largest twist (rad), that are drawn magnified.
DEFLECTED, TWISTED = 0.1, 0.8
# A scale that is shorter than this share of the longest one is made so long; what is left free beyond the robot.
THIN, RIM = 0.4, 0.06
# Degrees above the ground from which all is seen, and to the side of what lies across; ticks of a scale at most.
ELEVATION, ASIDE, TICKS = 22, 30, 4
# Of what matplotlib draws in the panel, so that labels beside it have room; and below what is high.
ZOOM, BELOW = 0.86, 0.66


def wanted(robot: Robot, seen: Sequence[View]) -> bool:
    """Whether a robot that these views show is spatial or twists, and can be drawn so."""
    from matplotlib.projections import get_projection_names

    # What draws in space may be missing where one matplotlib is installed beside another.
    return (len(seen) > 1 or bool(arms.twisting(robot))) and SPATIAL in get_projection_names()


def magnification(most: float, turned: float) -> float:
    """1, 2, 5, 10, ...: how many times deflections can be drawn, of which these shares are drawn already.

    ``most`` is the largest deflection by the one that is drawn at the most, ``turned`` the largest twist.
    """
    largest = max(most, turned)
    if not 1e-9 < largest <= 0.5:
        return 1.0
    decade = 10.0 ** math.floor(math.log10(1 / largest))
    return max(step * decade for step in (1, 2, 5) if step * decade <= (1 + 1e-9) / largest)


def largest_twist(robot: Robot, direction: np.ndarray) -> float:
    """The largest angle (rad) by which a section of a beam turns about it when q changes by a direction (n,)."""
    return max((float(np.abs(each).max()) for each in drawing.twists(robot, direction).values()), default=0.0)


@dataclass(frozen=True)
class Shape:
    """What is drawn of a robot, or a change of it: polylines (3, K), m, sections of beams (6, K), points above y."""

    lines: list[np.ndarray]
    sections: list[np.ndarray]

    def moved(self, by: float, way: Shape) -> Shape:
        """This and so many times a change of it."""
        return Shape(
            *(
                [each + by * change for each, change in zip(own, other, strict=True)]
                for own, other in ((self.lines, way.lines), (self.sections, way.sections))
            )
        )

    @property
    def most(self) -> float:
        """The largest of the vectors that the lines hold."""
        return float(np.linalg.norm(np.hstack(self.lines), axis=0).max())


@dataclass(frozen=True)
class Still:
    """A robot in space, on axes of matplotlib with three of them; lengths in a readable unit."""

    axis: Any
    robot: Robot
    size: float
    extent: float
    _lines: Callable[[np.ndarray], list[np.ndarray]]
    _sections: Callable[[np.ndarray], list[np.ndarray]]

    @staticmethod
    def of(axis: Any, robot: Robot, q: np.ndarray) -> Still:
        """The robot beside which ribbons at all states have one width."""
        lines = drawing.lines(robot)
        shape = lines(q)
        size = arms.size(shape)
        extent = max(size, float(np.ptp(np.hstack(shape), axis=1).max()))  # of arms to both sides
        return Still(axis, robot, size, extent, lines, drawing.sections(robot))

    @property
    def scale(self) -> tuple[float, str]:
        """Factor and unit of lengths."""
        return readable(self.size, "m")

    def at(self, q: np.ndarray) -> Shape:
        """The robot at q (n,)."""
        return Shape(self._lines(q), self._sections(q))

    def way(self, q: np.ndarray, direction: np.ndarray) -> Shape:
        """How the robot changes (per unit) when q moves along a direction (n,)."""
        return Shape(*(arms.displacement(each, q, direction) for each in (self._lines, self._sections)))

    def draw(self, shape: Shape, colour: Any, ribbons: bool = True, **look: Any) -> None:
        """The lines of a shape, and the ribbons of its beams, of which one edge is drawn."""
        from mpl_toolkits.mplot3d.art3d import Poly3DCollection

        factor, _ = self.scale
        for line in shape.lines:
            self.axis.plot(*(factor * line), **{"color": colour, "linewidth": 1.2, **look})
        for beam in shape.sections if ribbons else []:
            along = beam[3:] / np.linalg.norm(beam[3:], axis=0)
            centres, across = factor * beam[:3], factor * RIBBON * self.extent * along
            left, right = (centres - across).T, (centres + across).T
            strips = np.stack([left[:-1], left[1:], right[1:], right[:-1]], axis=1)
            self.axis.add_collection3d(Poly3DCollection(strips, facecolor=colour, alpha=CLEAR, linewidth=0))
            self.axis.plot(*right.T, color=colour, linewidth=0.6)

    def bodies(self, q: np.ndarray, rest: np.ndarray, by: float, named: bool = False) -> None:
        """Rigid bodies, payloads and elements at so many times the way to q (n,) from a rest (n,).

        They are marked as in the views of :mod:`kronbot.plots.arms`, and in the legend where they are to be ``named``.
        """
        factor, _ = self.scale
        known = set[str]()

        def label(word: str) -> str | None:
            first = named and word not in known
            known.add(word)
            return word if first else None

        starts, found = drawing.elements(self.robot, rest), drawing.bodies(self.robot, q)
        ways = drawing.elements(self.robot, q) - starts
        for start, way, (word, look) in zip(starts, ways, arms.elements(self.robot, q), strict=True):
            self.axis.plot(*(factor * (start + by * way).T), label=label(word), **look)
        centres = drawing.bodies(self.robot, rest).centres
        centres = factor * (centres + by * (found.centres - centres))
        for i, size in enumerate(arms.marks(found.masses)):
            mark, colour, word = arms.PAYLOAD if found.payload[i] else arms.BODY
            look = {"markersize": float(size), "color": colour, **arms.EDGE}
            self.axis.plot(*centres[:, i : i + 1], mark, label=label(word), **look)

    def triad(self, r: np.ndarray, R: np.ndarray, length: float) -> None:
        """The axes of a frame at r (3,), m."""
        factor, _ = self.scale
        for column, (colour, stroke) in zip(R.T, arms.AXES, strict=True):
            line = factor * np.column_stack([r, r + length * column])
            self.axis.plot(*line, color=colour, linestyle=stroke, linewidth=1.6)

    def finish(self, title: str) -> None:
        """Equal scales, labels with units, what points up, the base, the title."""
        _, unit = self.scale
        axis = self.axis
        axis.plot([0], [0], [0], marker="s", color="black", markersize=4)
        limits = np.array([axis.get_xlim3d(), axis.get_ylim3d(), axis.get_zlim3d()])
        half = np.ptp(limits, axis=1) / 2
        half = (1 + RIM) * np.maximum(half, THIN * half.max())
        up, down = arms.vertical(self.robot)
        # Of the two that lie, the longer one is seen from its side, whichever matplotlib takes for the first.
        first, second = (up + 1) % 3, (up + 2) % 3
        deep = second if half[first] >= half[second] else first
        for i, (name, centre, reach) in enumerate(zip("xyz", limits.mean(axis=1), half, strict=True)):
            getattr(axis, f"set_{name}lim3d")(centre - reach, centre + reach)
            getattr(axis, f"set_{name}label")(f"{name} [{unit}]", labelpad=1)
            most = max(1, math.ceil((TICKS / 2 if i == deep else TICKS) * reach / half.max()))
            # Scales of two directions that lie meet in a corner, where one of them has no tick.
            axis.locator_params(axis=name, nbins=most, prune="lower" if i == second else None)
            axis.tick_params(axis=name, pad=-1, labelsize=7)
        turned = {"elev": -ELEVATION, "roll": 180} if down else {"elev": ELEVATION, "roll": 0}
        axis.view_init(azim=ASIDE - 90 if deep == second else -ASIDE, vertical_axis="xyz"[up], **turned)
        climb = np.radians([ELEVATION, ASIDE])
        high = half[up] * np.cos(climb[0]) + np.sin(climb[0]) * (
            half[deep] * np.cos(climb[1]) + half[3 - up - deep] * np.sin(climb[1])
        )
        axis.set_box_aspect(half, zoom=min(ZOOM, BELOW * float(np.linalg.norm(half) / high)))  # by what is upright
        axis.set_anchor("C" if down else "W")  # below its title; upside down labels are on the left
        entitle(axis, title)


def swung(axis: Any, robot: Robot, q: np.ndarray, direction: np.ndarray, title: str, named: bool) -> None:
    """A robot at rest in grey, and swung to both sides along a direction (n,), bent and twisted in proportion.

    Bodies and elements swing with it, to the side that is not dotted; they stand in the legend where they are to be
    ``named``.
    """
    still = Still.of(axis, robot, q)
    rest, way = still.at(q), still.way(q, direction)
    turned = largest_twist(robot, direction)
    still.draw(rest, GREY)
    if way.most > arms.UNSEEN * still.size or turned > arms.UNSEEN:
        step = 1 / max(way.most / (DEFLECTED * still.size), turned / TWISTED)
        still.draw(rest.moved(-step, way), COLOURS[0], False, linestyle=":", linewidth=0.9)
        still.draw(rest.moved(step, way), COLOURS[0])
        near = arms.STEP / float(np.abs(direction).max())
        still.bodies(q + near * direction, q, step / near, named)
    else:
        still.bodies(q, q, 1.0, named)
        title += ": no line moves"
    still.finish(title)


def states(
    axis: Any,
    robot: Robot,
    chosen: np.ndarray,
    colours: Sequence[Any],
    ghosts: bool,
    which: str = "",
    frames: Callable[[np.ndarray], Frames] = lambda q: (),
    forces: np.ndarray | None = None,
    left: str = "",
) -> None:
    """A robot at states (N, n) with deflections magnified, over the undeformed ones where these are wanted.

    Each has its bodies then, else the last one. ``which`` says of what they are, where the picture has others, too. The
    ``frames`` of the last state have axes. ``forces`` (N, 3) at the endpoint are arrows to one scale; ``left`` is what
    the title says of what is not drawn.
    """
    still, straight = Still.of(axis, robot, chosen[-1]), robot.undeformed(chosen)
    rests = [still.at(q) for q in straight]
    ways = [still.at(q).moved(-1.0, rest) for q, rest in zip(chosen, rests, strict=True)]
    most = max(way.most for way in ways) / (DEFLECTED * still.size)
    turned = max(largest_twist(robot, q) for q in chosen - straight)
    factor = magnification(most, turned / TWISTED)
    for rest in rests if ghosts else []:
        still.draw(rest, GREY, False, linewidth=0.8)
    shown = [shape.moved(factor, way) for shape, way in zip(rests, ways, strict=True)]
    for shape, colour in zip(shown, colours, strict=True):
        still.draw(shape, colour)
    for q, rest in [*zip(chosen, straight, strict=True)][0 if ghosts else -1 :]:
        still.bodies(q, rest, factor)
    for (r, R), (before, _) in zip(frames(chosen[-1]), frames(straight[-1]), strict=True):
        still.triad(before + factor * (r - before), R, arms.SHARE * still.size)
    if forces is not None and forces.any():
        tips = still.scale[0] * np.array([shape.lines[-1][:, -1] for shape in shown])
        pushes = loads.ARROW * still.scale[0] * still.size * forces / np.linalg.norm(forces, axis=1).max()
        axis.quiver(*(tips - pushes).T, *pushes.T, color=loads.LOAD["color"], linewidth=1.4, arrow_length_ratio=0.3)
    title = f"in space{which}" + (f", deflections x{factor:g}" if (chosen != straight).any() else "")
    title += f", twists up to {rounded(math.degrees(turned), 3)} deg" if turned > arms.UNSEEN else ""
    beams = any(link.beam is not None for link in robot.links)
    still.finish(title + ("; ribbons lie across y of their beams" if beams else "") + left)
