"""Elements that have no direction, because their ends meet, and those whose force is that of one time."""

from __future__ import annotations

import casadi
import numpy as np
from casadi import SX

from kronbot.compute.trace import traced
from kronbot.errors import ComputationError
from kronbot.floats import Array
from kronbot.mechanics.multibody.elements import stretched, tendons
from kronbot.model.robot import Robot

PURPOSE = "the length of elements"


def demand_directions(robot: Robot, q: Array) -> None:
    """Raise ComputationError, naming it, where an element that needs a direction has length zero in a row of q (N, n).

    Springs of rest length zero need none.
    """
    for name in _meeting(robot, q):
        raise ComputationError(_told(robot, name))


def told_of_meeting(robot: Robot) -> list[str]:
    """The same of all such elements where joints are at 0, in words. Raises FreeParameters."""
    return [
        f"where all joints are at 0 {_told(robot, name)}"
        for name in _meeting(robot, robot.undeformed(np.zeros((1, robot.n))))
    ]


def told_of_time(robot: Robot) -> list[str]:
    """What questions that know no time make of forces that change in it, in words."""
    names = [each.name for each in robot.elements if each.in_time is not None]
    return [f"the force of {name} changes in time: here it is that at t = 0" for name in names]


def told_of_tendons(robot: Robot, q: Array) -> list[str]:
    """Tendons at q (n,) that are slack, or exactly at their rest, in words."""
    names = [element.name for element in robot.elements if element.one_sided]
    if not names:
        return []

    def depths() -> tuple[dict[str, SX], dict[str, SX]]:
        at = SX.sym("q", robot.n)
        return {"q": at}, {"depths": casadi.vertcat(*(each.depth for each in tendons(robot, at)))}

    found = traced(robot, "depths of tendons", PURPOSE, depths)(q)["depths"].tolist()
    slack = [f"tendon {name} is slack by {-depth:.3g} m" for name, depth in zip(names, found, strict=True) if depth < 0]
    edge = [f"tendon {name} is exactly at its rest" for name, depth in zip(names, found, strict=True) if not depth]
    return [f"{each}: it holds nothing in this model" for each in (*slack, *edge)]


def _told(robot: Robot, name: str) -> str:
    straight = next(element.straight for element in robot.elements if element.name == name)
    what, cure = ("", ", or take rest: 0 and no damping and no force") if straight else ("a piece of ", "")
    return f"the ends of {what}element {name!r} meet: at length zero it has no direction; move one of its points{cure}"


def _meeting(robot: Robot, q: Array) -> list[str]:
    """The names of elements that need a direction and have none in a row of q (N, n)."""
    names = [element.name for element in robot.elements if element.directed]
    if not names:
        return []

    def lengths() -> tuple[dict[str, SX], dict[str, SX]]:
        at = SX.sym("q", robot.n)
        found = [each.shortest for each in stretched(robot, at) if each.element.directed]
        return {"q": at}, {"lengths": casadi.vertcat(*found)}

    met = traced(robot, "lengths", PURPOSE, lengths).rows(q)["lengths"].reshape(len(q), -1) == 0
    return [name for name, meeting in zip(names, met.any(axis=0).tolist(), strict=True) if meeting]
