"""The arrows of dead loads in every case of statics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kronbot.model.robot import Robot
from kronbot.plots.loads import UNITS, Load
from kronbot.plots.page.robot import Shown


def arrows(robot: Robot, shown: Shown, loads: Sequence[Load]) -> Iterator[dict[str, Any]]:
    """Forces and moments on frames, and forces along beams at some of their sections."""
    names = [link.name for link in robot.links]
    place = 0
    for load in loads:
        if load.beam:
            yield {"kind": "line", "along": names.index(load.beam), "vectors": [list(load.numbers)]}
            continue
        for kind, vector in zip(UNITS, (load.numbers[:3], load.numbers[3:]), strict=True):
            if any(vector):
                yield {"kind": kind, "at": shown.place(place), "vectors": [list(vector)]}
        place += 1
