"""Loads of ``statics``: their marks in pictures, and what is said of those that have none."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kronbot.description.expressions.expression import Expression
from kronbot.floats import rounded
from kronbot.model.robot import Robot
from kronbot.plots import arms, style
from kronbot.plots.arms import View
from kronbot.plots.style import readable, short
from kronbot.questions.result import Result
from kronbot.questions.static_report import Inquiry
from kronbot.records import dataclass

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Units of the columns of a load.
UNITS = {"force": "N", "moment": "N m"}
# The arrow of a load: its look, and the length of the largest as a share of what is drawn.
LOAD: dict[str, Any] = {
    "arrowstyle": "-|>", "mutation_scale": 12, "color": style.COLOURS[3], "linewidth": 1.4, "shrinkA": 0, "shrinkB": 0,
}  # fmt: skip
ARROW = 0.15
# Marks of what acts across a view, away from and towards who looks: the feathers and the tip of an arrow; turns, which
# lie around the marks of bodies.
ACROSS = {
    "force": (r"$\otimes$", r"$\odot$"),
    "moment": (r"$\circlearrowright$", r"$\circlearrowleft$"),
}
MARK: dict[str, Any] = {
    "color": LOAD["color"], "linestyle": "", "markeredgewidth": 0.2, "zorder": 4, "clip_on": False,
}  # fmt: skip
SIZES = {"force": 13, "moment": 22}
# Loads without a mark that titles have room for.
SPOKEN = 3


@dataclass(frozen=True)
class Load:
    """A dead force (N, or N/m) and moment (N m) on a frame, or along a beam."""

    frame: str
    beam: str
    numbers: Sequence[float]


def acting(result: Result) -> list[Load]:
    """What acts in every case of statics, by the file and by the question."""
    asked = result.asked
    if not isinstance(asked, Inquiry):
        return []
    found = [*of_file(result.model), *(Load(name, "", each) for name, each in asked.given.on_frames)]
    return found + [Load("", name, each) for name, each in asked.given.along_beams]


def of_file(robot: Robot) -> list[Load]:
    """What acts in every case of statics by the file."""
    told = robot.file.statics

    def numbers(*vectors: Sequence[Expression]) -> list[float]:
        return [robot.parameters.value(each, "view") for vector in vectors for each in vector]

    found = [Load(each.frame, "", numbers(each.force, each.moment)) for each in told.loads]
    return found + [Load("", each.link, numbers(each.force)) for each in told.distributed]


def at_endpoint(result: Result, kind: str) -> np.ndarray:
    """The force (N) or moment (N m) at the endpoint (3, cases)."""
    return np.array([result.series[f"{kind}.{letter}"] for letter in "xyz"])


def unmarked(result: Result, marked: Collection[str]) -> str:
    """What titles say of loads but for the kinds at the endpoint that are marked; nothing where there are none."""
    words = [_called(kind, at_endpoint(result, kind), unit) for kind, unit in UNITS.items() if kind not in marked]
    for load in acting(result):
        name, units = short(load.frame or load.beam), ["N/m"] if load.beam else UNITS.values()
        vectors = np.reshape(load.numbers, (-1, 3, 1))
        words += [_called(name, each, unit) for each, unit in zip(vectors, units, strict=True)]
    words = [word for word in words if word]
    if len(words) > SPOKEN:
        words[SPOKEN:] = [f"{len(words) - SPOKEN} more"]
    return f"; not drawn: {', '.join(words)}" if words else ""


def _called(name: str, vectors: np.ndarray, unit: str) -> str:
    """A load by its name and size, the smallest and the largest of the cases; nothing where it is zero."""
    sizes = np.linalg.norm(vectors, axis=0)
    if not sizes.any():
        return ""
    factor, shown = readable(float(sizes.max()), unit)
    ends = dict.fromkeys(str(rounded(factor * float(size), 3)) for size in (sizes.min(), sizes.max()))
    return f"{name} {' to '.join(ends)} {shown}"


def draw(axis: Axes, result: Result, cases: Sequence[int], view: View) -> list[str]:
    """Mark force and moment at the endpoint of each case; the kinds that are marked, which are in the legend.

    Forces are arrows to one scale, where they act across the view a point or a cross in a circle; moments are turns.
    """
    ends = view.of(np.array([result.series[f"endpoint.{letter}"][cases] for letter in "xyz"]))
    reach = ARROW * max(np.ptp(axis.dataLim.get_points(), axis=0))
    marked = []
    for kind, unit in UNITS.items():
        whole = at_endpoint(result, kind)
        vectors = whole[:, cases]
        sizes = np.linalg.norm(vectors, axis=0)
        label: str | None = _called(kind, whole, unit)
        ways = view.of(vectors) / view.factor
        for end, way, towards, size in zip(ends.T, ways.T, view.towards(vectors), sizes, strict=True):
            if kind == "force" and np.hypot(*way) > arms.FLAT * size:  # pushing at the endpoint, from outside
                tail = end - reach * way / sizes.max()
                axis.annotate("", end, tail, arrowprops=LOAD, annotation_clip=False)
                axis.update_datalim([tail])
                if label:
                    axis.plot([], [], color=LOAD["color"], linewidth=LOAD["linewidth"], label=label)
            elif abs(towards) > arms.FLAT * size:
                mark = ACROSS[kind][int(towards > 0)]
                axis.plot(*end[:, None], marker=mark, markersize=SIZES[kind], label=label, **MARK)
            else:
                continue
            label = None
        if label is None:
            marked.append(kind)
    return marked
