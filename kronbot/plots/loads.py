"""Loads in pictures of ``statics``: an arrow to the endpoint, and how large they are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kronbot.floats import rounded
from kronbot.plots import arms, style
from kronbot.plots.arms import View
from kronbot.plots.style import readable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from kronbot.questions.result import Result

# Units of the columns of a load.
UNITS = {"force": "N", "moment": "N m"}
# The arrow of a load: its look, and its length as a share of what is drawn.
LOAD: dict[str, Any] = {
    "arrowstyle": "-|>", "mutation_scale": 12, "color": style.COLOURS[3], "linewidth": 1.4, "shrinkA": 0, "shrinkB": 0,
}  # fmt: skip
ARROW = 0.15


def draw(axis: Axes, result: Result, cases: Sequence[int], view: View, named: bool) -> None:
    """An arrow to the endpoint of each case, along the one force there; its size, and that of a moment, in the legend.

    Loads that differ from case to case are what the panels are over.
    """
    words = []
    for word, unit in UNITS.items():
        vectors = np.array([result.series[f"{word}.{letter}"] for letter in "xyz"])
        size = math.sqrt(float(vectors[:, 0] @ vectors[:, 0]))
        if not size or np.ptp(vectors, axis=1).any():
            continue
        factor, shown = readable(size, unit)
        words.append(f"{word} {rounded(factor * size, 3)} {shown}")
        along = view.of(vectors[:, :1] / size)[:, 0] / view.factor
        if word == "force" and np.hypot(*along) > arms.FLAT:
            ends = view.of(np.array([result.series[f"endpoint.{letter}"][cases] for letter in "xyz"]))
            reach = ARROW * max(np.ptp(axis.dataLim.get_points(), axis=0))
            for end in ends.T:  # pushing at the endpoint, from outside
                tail = end - reach * along
                axis.annotate("", end, tail, arrowprops=LOAD, annotation_clip=False)
                axis.update_datalim([tail])
    if words and named:
        axis.plot([], [], color=LOAD["color"], linewidth=LOAD["linewidth"], label=" and ".join(words))
