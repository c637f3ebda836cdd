"""Pictures of ``statics``: Piedboeuf's Figures 6 to 12 for any sweep, and the deformed robot to scale."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kronbot.cli.plots.style import COLOURS, picture, stroke

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from kronbot.compute.result import Result
    from kronbot.model.robot import Robot

# Curves that can still be told apart, and outlines that do not hide each other.
CURVES, OUTLINES = 12, 7


@dataclass(frozen=True)
class Panel:
    """One diagram: its title, the unit of its ordinate, and the values (cases,)."""

    title: str
    unit: str
    values: np.ndarray


def draw(
    name: str, robot: Robot, results: Mapping[str, Result], lines: Callable[[np.ndarray], Sequence[np.ndarray]]
) -> None:
    """Write the picture of a sweep (``results`` by order, the one asked for first) or of one case."""
    order, main = next(iter(results.items()))
    swept = _swept(robot, main)
    panels = [] if swept is None else _panels(robot, results, swept)
    columns = 2 if panels else 1
    rows = max(1, math.ceil((len(panels) + 1) / columns))
    solver = main.summary["solver"]
    with picture(name, rows, columns, f"statics of {robot.name}, order {order}, {solver} solver") as (figure, axes):
        for axis, panel in zip(axes, panels, strict=False):
            _curves(axis, robot, main, swept or "", panel)
        _outlines(axes[len(panels)], robot, main, lines)
        for axis in axes[len(panels) + 1 :]:
            axis.set_axis_off()
        handles, labels = axes[0].get_legend_handles_labels()
        if panels and labels:
            figure.legend(handles, labels, loc="outside lower center", ncols=4, handlelength=3)


def _swept(robot: Robot, result: Result) -> str | None:
    """The joint with most different angles, None where all stay."""
    counts = {joint.name: len(np.unique(result.series[f"angle.{joint.name}"])) for joint in robot.joints}
    joint = max(counts, key=lambda name: counts[name], default=None)
    return joint if joint is not None and counts[joint] > 1 else None


def _panels(robot: Robot, results: Mapping[str, Result], joint: str) -> list[Panel]:
    """What Figures 6 to 12 show: torque, curvature at the first gauge, tip deflection, and what lower orders miss."""
    order, main = next(iter(results.items()))
    others = [(other, result) for other, result in results.items() if other != order]
    kind = next(each for each in robot.joints if each.name == joint)
    columns = [(f"torque.{joint}", f"torque of {joint}", "N m" if kind.revolute else "N", 1.0)]
    gauges = [name for name in main.series if name.startswith("curvature_relative.")]
    gauges = gauges or [name for name in main.series if name.startswith("curvature.")]
    columns += [(name, f"curvature at {name.partition('.')[2]}", "1/m", 1.0) for name in gauges[:1]]
    bent = [link.name for link in robot.links if link.beam is not None and link.modes]
    if bent:
        columns.append((f"tip.{bent[-1]}.y", f"deflection of the tip of {bent[-1]}, y", "cm", 100.0))
    panels = []
    for column, title, unit, factor in columns:
        values = factor * main.series[column]
        panels.append(Panel(f"{title}, order {order}", unit, values))
        for other, result in others:
            if other == "0" and not column.startswith("torque"):
                continue
            lower = factor * result.series[column]
            if column.startswith("curvature"):
                panels.append(Panel(f"{title}, order {other}", unit, lower))
            else:
                panels.append(Panel(f"{title}, order {order} - order {other}", unit, values - lower))
    return panels


def _curves(axis: Axes, robot: Robot, result: Result, joint: str, panel: Panel) -> None:
    """One curve for every load (and angle of the other joints) over the swept joint."""
    revolute = next(each for each in robot.joints if each.name == joint).revolute
    angles = result.series[f"angle.{joint}"] * (180 / math.pi if revolute else 1.0)
    given = [name for name in result.series if name.startswith(("angle.", "force.", "moment."))]
    varied = [n for n in given if n != f"angle.{joint}" and len(np.unique(result.series[n])) > 1]
    keys = list(zip(*(result.series[name] for name in varied), strict=True)) or [()] * len(angles)
    for i, key in enumerate(list(dict.fromkeys(keys))[:CURVES]):
        chosen = [place for place, other in enumerate(keys) if other == key]
        label = ", ".join(f"{name} = {value:.3g}" for name, value in zip(varied, key, strict=True))
        axis.plot(angles[chosen], panel.values[chosen], label=label or None, marker=".", markersize=3, **stroke(i))
    axis.set_title(panel.title)
    axis.set_xlabel(f"{joint} [{'deg' if revolute else 'm'}]")
    axis.set_ylabel(f"[{panel.unit}]")


def _outlines(axis: Axes, robot: Robot, result: Result, lines: Callable[[np.ndarray], Sequence[np.ndarray]]) -> None:
    """The deformed robot to scale over the undeformed one, in the plane that shows most of it."""
    states = np.column_stack([
        result.series[name] if name in result.series else result.series[f"angle.{name}"] for name in robot.coordinates
    ]) if robot.n else np.zeros((1, 0))  # fmt: skip
    chosen = np.unique(np.linspace(0, len(states) - 1, min(len(states), OUTLINES)).round().astype(int))
    straight = states[chosen].copy()
    straight[:, list(robot.flexible)] = 0.0
    shapes = [lines(q) for q in states[chosen]]
    extent = np.ptp(np.hstack([line for shape in shapes for line in shape]), axis=1)
    across = int(np.argmin(extent))
    x, y = (i for i in range(3) if i != across)
    looks: list[tuple[dict[str, Any], Any]] = [
        ({"color": "#bbbbbb", "linewidth": 0.8}, map(lines, straight)),
        ({"color": COLOURS[0]}, shapes),
    ]
    for style, drawn in looks:
        for shape in drawn:
            for line in shape:
                axis.plot(line[x], line[y], solid_capstyle="round", **style)
    axis.plot(0, 0, marker="s", color="black", markersize=5)
    axis.set_aspect("equal", adjustable="datalim")
    what = f"{len(chosen)} of {len(states)} cases" if len(states) > 1 else "the case"
    axis.set_title(f"{what} to scale, grey: undeformed")
    axis.set_xlabel(f"{'xyz'[x]} [m]")
    axis.set_ylabel(f"{'xyz'[y]} [m]")
