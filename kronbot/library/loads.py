"""Loads by the frames and beams they act on, as people give them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kronbot.description.wording import quote, unknown
from kronbot.errors import Argument, UsageError
from kronbot.library import arguments
from kronbot.library.arguments import NumberLike
from kronbot.mechanics.multibody.kinematics import frame
from kronbot.model.robot import Robot

# By the name of what they act on; several on one as pairs.
Loads = Mapping[str, Sequence[NumberLike]] | Sequence[tuple[str, Sequence[NumberLike]]]
Limits = Mapping[str, NumberLike | Sequence[NumberLike | None]]


def on_frames(robot: Robot, loads: Loads | None) -> list[tuple[str, list[float]]]:
    """Force and moment (6 numbers) on each of some frames. Raises UsageError for names that are not there."""
    return [_load(robot, *each) for each in _named(loads, "loads")]


def on_moving_frames(robot: Robot, loads: Loads | None) -> list[tuple[str, list[float]]]:
    """The same. Raises UsageError for the frame that does not move, too."""
    found = on_frames(robot, loads)
    for name, _ in found:
        if not frame(robot, name).way:
            raise UsageError(Argument("loads"), f": the frame {quote(name)} does not move; a force on it does nothing")
    return found


def on_beams(robot: Robot, distributed: Loads | None) -> list[tuple[str, list[float]]]:
    """Force (3 numbers, N/m) along each of some beams. Raises UsageError for names that are not there."""
    return [_distributed(robot, *each) for each in _named(distributed, "distributed")]


def _named(loads: Loads | None, word: str) -> list[tuple[str, object]]:
    if not arguments.is_list(loads):
        return [] if loads is None else list(arguments.pairs(loads, word).items())
    found = arguments.entries(loads, word)
    pairs = [arguments.entries(each, word) if arguments.is_list(each) else [] for each in found]
    if any(len(pair) != 2 for pair in pairs):
        raise UsageError(Argument(word), ": pairs of a name and its numbers are wanted, like [('name', [0, 0, -10])]")
    return [(arguments.text(name, word), row) for name, row in pairs]


def _load(robot: Robot, name: str, row: object) -> tuple[str, list[float]]:
    frame(robot, name)
    numbers = arguments.numbers(row, robot.description.values, f"load on {name}", (3, 6))
    return name, [*numbers, 0.0, 0.0, 0.0][:6]


def _distributed(robot: Robot, link: str, row: object) -> tuple[str, list[float]]:
    beams = [each.name for each in robot.links if each.beam is not None]
    if link not in beams:
        raise unknown(link, beams, "distributed: no flexible link ", there="; flexible links are")
    return link, arguments.numbers(row, robot.description.values, f"distributed load on {link}", (3,))
