"""Elements that have no direction, because their ends meet, and those whose force is that of one time."""

from __future__ import annotations

from collections.abc import Sequence

import casadi
import numpy as np
from casadi import SX

from kronbot.compute.trace import traced
from kronbot.description.wording import quote
from kronbot.errors import ComputationError, UsageError
from kronbot.floats import Array
from kronbot.mechanics.multibody.elements import falls, stretched, tendons
from kronbot.model.floating import hung
from kronbot.model.robot import Robot

PURPOSE = "the length of elements"
# What begins to hold within this depth (rad or m) is at its edge: rounding has the side.
EDGE = 1e-12


def demand_directions(robot: Robot, q: Array, where: str = "") -> None:
    """Raise ComputationError, naming it, where an element that needs a direction has none in a row of q (N, n).

    Springs of rest length zero need none. ``where`` tells of a single row.
    """
    for name, row in _meeting(robot, q).items():
        raise ComputationError(_told(robot, name, f" in row {row + 1} of {len(q)}" if len(q) > 1 else where))


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


def demand_constant(robot: Robot) -> None:
    """Raise UsageError, naming it, where the force of an element changes in time."""
    changing = [each.name for each in robot.elements if each.in_time is not None]
    if changing:
        raise UsageError(
            f"the force of {quote(changing[0])} changes in time: along a motion only constant forces are taken"
        )


def told_of_tendons(robot: Robot, q: Array) -> list[str]:
    """Tendons at q (n,) that are slack, or exactly at their rest, in words."""
    found = {name: float(depth[0]) for name, depth in depths_of_tendons(robot, q[None]).items()}
    slack = [f"tendon {name} is slack by {-depth:.3g} m" for name, depth in found.items() if depth < -EDGE]
    edge = [told_of_rest(name, depth) for name, depth in found.items() if abs(depth) <= EDGE]
    return [*(f"{each}: it holds nothing in this model" for each in slack), *edge]


def told_of_rest(name: str, depth: float) -> str:
    """That a tendon is at its rest, from which rounding has it away by a depth."""
    holds = "holds, as where it is longer," if depth > 0 else "holds nothing"
    return f"tendon {name} is exactly at its rest: it {holds} in this model"


def varying_tendons(robot: Robot, free: Sequence[int]) -> list[str]:
    """Tendons whose length some of these coordinates change, by name."""
    at = SX.sym("q", robot.n)
    depends = {each.element.name: casadi.which_depends(each.depth, at, 1) for each in tendons(robot, at)}
    return [name for name, places in depends.items() if any(places[place] for place in free)]


def depths_of_tendons(robot: Robot, q: Array) -> dict[str, Array]:
    """By how much tendons are longer than their rest (m), by name, in every row of q (N, n)."""
    names = [element.name for element in robot.elements if element.one_sided]
    if not names:
        return {}

    def depths() -> tuple[dict[str, SX], dict[str, SX]]:
        at = SX.sym("q", robot.n)
        return {"q": at}, {"depths": casadi.vertcat(*(each.depth for each in tendons(robot, at)))}

    found = traced(robot, "depths of tendons", PURPOSE, depths).rows(q)["depths"]
    return dict(zip(names, found.T, strict=True))


def falling(robot: Robot, q: Array) -> bool:
    """Whether gravity sets a floating base falling from rest at q (n,), where no element holds it."""

    def found() -> tuple[dict[str, SX], dict[str, SX]]:
        at = SX.sym("q", robot.n)
        return {"q": at}, {"falls": falls(robot, at)}

    if not robot.base or not any(robot.parameters.evaluate_all(robot.gravity, PURPOSE)):
        return False
    return not hung(robot) or bool(traced(robot, "falls", PURPOSE, found).rows(q[None])["falls"].all())


def _told(robot: Robot, name: str, where: str = "") -> str:
    element = next(element for element in robot.elements if element.name == name)
    what = "" if element.straight else "a piece of "
    spring = element.straight and not element.one_sided and not element.stiffness.is_zero()
    cure = ", or take rest: 0 and no damping and no force" if spring else ""
    return (
        f"the ends of {what}element {name!r} meet{where}: at length zero it has no direction; move one of its "
        f"points{cure}"
    )


def _meeting(robot: Robot, q: Array) -> dict[str, int]:
    """The elements that need a direction and have none in a row of q (N, n), and the first such row."""
    names = [element.name for element in robot.elements if element.directed]
    if not names:
        return {}

    def meets() -> tuple[dict[str, SX], dict[str, SX]]:
        at = SX.sym("q", robot.n)
        found = [each.meets for each in stretched(robot, at) if each.element.directed]
        return {"q": at}, {"meets": casadi.vertcat(*found)}

    met = traced(robot, "meets", PURPOSE, meets).rows(q)["meets"] > 0
    return {name: int(rows.argmax()) for name, rows in zip(names, met.T, strict=True) if rows.any()}
