"""Where a linear model holds no longer: it is that of one instant, and of one side of whatever holds on one side."""

from __future__ import annotations

from kronbot.floats import Array
from kronbot.model.robot import Robot
from kronbot.questions.elements import told_of_tendons, told_of_time
from kronbot.questions.friction import told_of_friction
from kronbot.questions.stops import told_of_stops


def told_of_validity(robot: Robot, q: Array, qd: Array, locked: frozenset[int] = frozenset()) -> list[str]:
    """What the model about q, qd (n,) makes of forces in time, dry friction, stops and tendons, in words.

    Friction and stops of what is ``locked`` have no part in it.
    """
    alone = [*told_of_time(robot), *told_of_friction(robot, qd, locked)]
    return [*alone, *told_of_stops(robot, q, locked), *told_of_tendons(robot, q)]
