"""Pictures of ``design``: poles of the closed loop and of the observer, gains over time, or impulses of a shaper."""

from __future__ import annotations

import numpy as np

from kronbot.floats import rounded
from kronbot.model.robot import Robot
from kronbot.plots.poles import draw_poles
from kronbot.plots.style import COLOURS, HEIGHT, Picture, drawn, entitle
from kronbot.questions.result import Result

# Of the height of impulses, above the highest.
CLEAR = 1.15


# Panels of gains over time, of each torque.
OF_GAINS = ("{}.q", "{}.qd")


def words(robot: Robot, shaper: bool, motion: bool, filtered: bool) -> list[str]:
    """Of the panels that a picture may have."""
    if shaper:
        return ["impulse"]
    if motion:
        return [each.format(f"torque.{joint.name}") for joint in robot.joints for each in OF_GAINS]
    return ["pole", "observer"] if filtered else ["pole"]


@drawn
def draw(result: Result) -> Picture:
    """The picture of gains, or of a shaper."""
    robot, arrays = result.model, result.arrays
    title = f"design for {robot.name}, order {result.order}"
    if "impulses" in arrays:
        return _impulses(result, title)
    if "poles" not in arrays:
        return _gains(result, title)
    loops = {"pole": ("poles", "closed loop"), "observer": ("observer_poles", "Kalman filter")}
    kept = {key: told for key, told in loops.items() if told[0] in arrays}
    axes = Picture(f"{title}, disk margin {result.summary['disk_margin']:.3g}", [[*kept] * (3 - len(kept))], [HEIGHT])
    for key, (name, word) in kept.items():
        draw_poles(axes[key], np.asarray(arrays[name].values, dtype=complex))
        entitle(axes[key], f"{axes[key].get_title(loc='left')}, of the {word}")
    return axes


def _gains(result: Result, title: str) -> Picture:
    """A panel for each torque: the gains of coordinates, and of rates, over time."""
    K = result.arrays["K"]
    assert K.axis is not None and K.columns is not None, "gains over time"
    times, half = np.array(K.axis[1]), len(K.columns) // 2
    axes = Picture(title, [[each.format(row)] * 3 for row in K.rows for each in OF_GAINS], [HEIGHT] * 2 * len(K.rows))
    for i, row in enumerate(K.rows):
        for word, columns in zip(OF_GAINS, (range(half), range(half, 2 * half)), strict=True):
            axis = axes[word.format(row)]
            for k, column in enumerate(columns):
                axis.plot(times, K.values[:, i, column], color=COLOURS[k % len(COLOURS)], label=K.columns[column])
            axis.legend()
            axis.set_xlabel("t [s]")
            axis.set_ylabel("[SI]")
            entitle(axis, f"gains of {row} by {'rates' if columns.start else 'coordinates'}")
    return axes


def _impulses(result: Result, title: str) -> Picture:
    times, sizes = result.arrays["impulses"].values.T
    axes = Picture(title, [["impulse", "impulse"]], [HEIGHT])
    axis = axes["impulse"]
    axis.vlines(times, 0, sizes, color=COLOURS[0], linewidth=2)
    axis.plot(times, sizes, "o", color=COLOURS[0])
    axis.set_ylim(min(0.0, CLEAR * float(sizes.min())), CLEAR * float(sizes.max()))
    axis.axhline(0, color="black", linewidth=0.8)
    axis.set_xlabel("t [s]")
    axis.set_ylabel("[1]")
    said = result.summary
    entitle(
        axis,
        f"impulses for {rounded(float(said['frequency']), 4)} rad/s, damping {said['damping']:.3g} ({said['model']})",
    )
    return axes
