"""What a plan is asked for, from arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kronbot.description.wording import unknown
from kronbot.errors import Argument, UsageError
from kronbot.floats import Array
from kronbot.library import arguments
from kronbot.library.arguments import NumberLike
from kronbot.library.values import Values, by_index, of_drives
from kronbot.model.robot import Robot
from kronbot.questions.plan import Wish


def wish(
    robot: Robot,
    to: Values,
    q: Values | None,
    shortest: bool,
    effort_limits: Mapping[str, NumberLike | Sequence[NumberLike]] | None,
    duration: float | None,
    after: float | None,
) -> Wish:
    """The wish that arguments tell. Raises UsageError where they tell none."""
    if shortest == (duration is not None):
        raise UsageError("one of ", Argument("duration"), " and ", Argument("shortest"), " is wanted")
    places = list(robot.rigid)
    given = of_drives(robot, by_index(robot, q, "q"), "q")
    start = np.array([given.get(place, 0.0) for place in places])
    ends = of_drives(robot, by_index(robot, to, "to"), "to")
    goal = np.array([ends.get(place, first) for place, first in zip(places, start.tolist(), strict=True)])
    return Wish(start, goal, *_limits(robot, effort_limits), duration, after)


def _limits(robot: Robot, given: Mapping[str, NumberLike | Sequence[NumberLike]] | None) -> tuple[Array, Array]:
    names, known = [joint.name for joint in robot.joints], robot.description.values
    low, high = np.full(len(names), -np.inf), np.full(len(names), np.inf)
    for name, each in arguments.pairs({} if given is None else given, "effort_limits").items():
        if name not in names:
            raise unknown(name, names, "effort_limits: no joint ")
        word = f"effort_limits {name}"
        if arguments.is_list(each):
            pair = arguments.numbers(each, known, word, (2,))
        else:
            size = arguments.positive(each, known, word)
            pair = [-size, size]
        if not pair[0] < 0 < pair[1]:
            raise UsageError(f"{word}: limits on either side of 0 are wanted, not {pair[0]:g} and {pair[1]:g}")
        low[names.index(name)], high[names.index(name)] = pair
    return low, high
