"""A robot that moves, to scale at a few instants, above diagrams over time that mark these."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from kronbot.floats import Array, rounded
from kronbot.mechanics.multibody import drawing
from kronbot.plots import arms, curves, stills
from kronbot.plots.curves import Curve, Diagram
from kronbot.plots.style import HEIGHT, Picture, flow
from kronbot.questions.result import Result

SNAPSHOTS = 6
# A coordinate rests while it is no farther from where it begins, or ends, than this share of its span.
RESTING = 0.01
# Points of the path of the endpoint that paper shows.
ROWS = 4000
SPACE = "space"


def moving(result: Result, title: str, panels: Mapping[str, Diagram], others: Sequence[str] = ()) -> Picture:
    """The picture of a motion with its diagrams by panel, and panels of ``others``, which are left empty."""
    robot, series = result.model, result.series
    time = Curve("t", "s", series["t"])
    lines = drawing.lines(robot)
    states = np.column_stack([series[name] for name in robot.coordinates] or [np.zeros((len(time.values), 0))])
    chosen = snapshots(states)
    shapes = [lines(q) for q in states[chosen]]
    every = math.ceil(len(states) / ROWS)
    ends = [f"endpoint.{letter}" for letter in "xyz"]
    path = np.array([series[name][::every] for name in ends]) if all(name in series for name in ends) else None
    seen = arms.views(robot, states[chosen])
    spatial = [SPACE] if stills.wanted(robot, seen) else []
    mosaic = flow([*(f"motion {i}" for i in range(len(seen))), *spatial, *panels, *others])
    tall = max(arms.height(seen, shapes, 0.5), HEIGHT)
    heights = [tall if row[0].startswith("motion") else stills.HEIGHT if SPACE in row else HEIGHT for row in mosaic]
    axes = Picture(title, mosaic, heights, spatial=spatial)
    shades = [arms.shade(k / max(1, len(shapes) - 1)) for k in range(len(shapes))]
    for key in spatial:
        stills.states(axes[key], robot, states[chosen], shades, False)
    for i, view in enumerate(seen):
        axis = axes[f"motion {i}"]
        if path is not None:
            way = "path of the endpoint" if i == 0 else None
            axis.plot(*view.of(path), color="black", linestyle=":", linewidth=0.8, label=way)
        for k, shape in enumerate(shapes):
            arms.trace(axis, view, shape, color=shades[k])
        arms.joints(axis, view, robot, shapes[-1])
        arms.bodies(axis, view, robot, states[chosen[-1]], i == 0)
        times = ", ".join(rounded(t, 3) for t in time.values[chosen])
        arms.finish(axis, view, f"at t = {times} s" if i == 0 else f"the same, seen along {view.along}")
    for key, diagram in panels.items():
        curves.draw(axes[key], time, diagram)
        # When the robot is seen, in the shades in which it is.
        feet, below = np.zeros(len(chosen)), axes[key].get_xaxis_transform()
        axes[key].scatter(
            time.values[chosen], feet, s=14, marker="^", c=shades, transform=below, clip_on=False, zorder=5
        )
    return axes


def snapshots(states: Array) -> npt.NDArray[np.int_]:
    """Rows of states (N, n) at which the robot is drawn: even ones of all, or of those in which it moves where it rests
    in most, as before and after a path that it bends for early."""
    first, last, far = 0, len(states) - 1, RESTING * np.ptp(states, axis=0)
    gone = np.flatnonzero((np.abs(states - states[0]) > far).any(axis=1))
    coming = np.flatnonzero((np.abs(states - states[-1]) > far).any(axis=1))
    if len(gone) and 2 * (coming[-1] + 2 - gone[0]) < last:
        first, last = gone[0] - 1, coming[-1] + 1
    return np.unique(np.linspace(first, last, min(len(states), SNAPSHOTS)).round().astype(int))


def numbered(before: Mapping[str, Diagram], word: str, found: Sequence[Diagram]) -> dict[str, Diagram]:
    """Diagrams by a word and numbers that none before has."""
    return {f"{word} {i}": diagram for i, diagram in enumerate(found, len(before))}
