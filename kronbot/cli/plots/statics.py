"""Pictures of ``statics``: Piedboeuf's Figures 6 to 12 for any sweep, and the deformed robot to scale."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kronbot.cli.plots import arms
from kronbot.cli.plots.arms import Lines, View
from kronbot.cli.plots.style import COLOURS, GREY, HEIGHT, flow, head, picture, stroke

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


def draw(name: str, robot: Robot, results: Mapping[str, Result], lines: Lines) -> None:
    """Write the picture of a sweep (``results`` by order, the one asked for first) or of one case."""
    order, main = next(iter(results.items()))
    swept = _swept(robot, main)
    panels = {} if swept is None else {f"panel {i}": each for i, each in enumerate(_panels(robot, results, swept))}
    states = np.column_stack([
        main.series[name] if name in main.series else main.series[f"angle.{name}"] for name in robot.coordinates
    ]) if robot.n else np.zeros((1, 0))  # fmt: skip
    chosen = np.unique(np.linspace(0, len(states) - 1, min(len(states), OUTLINES)).round().astype(int))
    seen = arms.views(robot, lines, states[chosen])
    views = {f"view {i}": view for i, view in enumerate(seen)}
    # Two views belong side by side; one may stand beside the last panel.
    mosaic = flow([*views, *panels] if len(views) > 1 else [*panels, *views])
    share = max(row.count(key) / len(row) for row in mosaic for key in views)
    tall = max(HEIGHT, arms.height(seen, [lines(q) for q in states[chosen]], share))
    heights = [tall if views.keys() & set(row) else HEIGHT for row in mosaic]
    title = f"statics of {robot.name}, order {main.order}, {main.summary['solver']} solver"
    with picture(name, title, mosaic, heights) as axes:
        for key, panel in panels.items():
            _curves(axes[key], robot, main, swept or "", panel)
        if panels:
            handles, labels = axes["panel 0"].get_legend_handles_labels()
            figure = axes["panel 0"].get_figure(root=True)
            if labels and figure is not None:
                figure.legend(handles, labels, loc="outside lower center", ncols=4, handlelength=3)
        what = f"{len(chosen)} of {len(states)} cases" if len(states) > 1 else "the case"
        for i, (key, view) in enumerate(views.items()):
            _outlines(axes[key], robot, lines, view, states[chosen])
            side = f"the same, seen along {view.along}"
            arms.finish(axes[key], view, f"{what} to scale, grey: undeformed" if i == 0 else side)


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
    against = ", relative to the calibration" if gauges and "relative" in gauges[0] else ""
    columns += [(name, f"curvature at {name.partition('.')[2]}{against}", "1/m", 1.0) for name in gauges[:1]]
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
            elif (values != lower).any():
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
    head(axis, panel.title)
    axis.set_xlabel(f"{joint} [{'deg' if revolute else 'm'}]")
    axis.set_ylabel(f"[{panel.unit}]")


def _outlines(axis: Axes, robot: Robot, lines: Lines, view: View, states: np.ndarray) -> None:
    """The deformed robot to scale over the undeformed one."""
    straight = states.copy()
    straight[:, list(robot.flexible)] = 0.0
    for q in straight:
        arms.trace(axis, view, lines(q), color=GREY, linewidth=0.8)
    for q in states:
        arms.trace(axis, view, lines(q), color=COLOURS[0])
