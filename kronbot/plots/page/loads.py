"""Dead loads in every case of statics, and the arrows that show them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kronbot.description.expressions.expression import Expression
from kronbot.model.robot import Robot
from kronbot.plots.page.robot import Shown
from kronbot.questions.result import Result
from kronbot.questions.static_report import Inquiry
from kronbot.records import dataclass

# What a load on a frame consists of, as kinds of arrows.
KINDS = ("force", "moment")


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


def arrows(robot: Robot, shown: Shown, loads: Sequence[Load]) -> Iterator[dict[str, Any]]:
    """Forces and moments on frames, and forces along beams at some of their sections."""
    names = [link.name for link in robot.links]
    place = 0
    for load in loads:
        if load.beam:
            yield {"kind": "line", "along": names.index(load.beam), "vectors": [list(load.numbers)]}
            continue
        for kind, vector in zip(KINDS, (load.numbers[:3], load.numbers[3:]), strict=True):
            if any(vector):
                yield {"kind": kind, "at": shown.place(place), "vectors": [list(vector)]}
        place += 1
