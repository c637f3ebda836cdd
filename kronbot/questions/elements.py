"""Elements that have no direction, because their ends meet."""

from __future__ import annotations

import casadi
import numpy as np
from casadi import SX

from kronbot.compute.trace import traced
from kronbot.errors import ComputationError
from kronbot.floats import Array
from kronbot.mechanics.multibody.elements import stretched
from kronbot.model.robot import Robot

PURPOSE = "the length of elements"


def demand_directions(robot: Robot, q: Array) -> None:
    """Raise ComputationError, naming it, where an element that needs a direction has length zero in a row of q (N, n).

    Springs of rest length zero need none.
    """
    names = [element.name for element in robot.elements if element.directed]
    if not names:
        return

    def lengths() -> tuple[dict[str, SX], dict[str, SX]]:
        at = SX.sym("q", robot.n)
        found = [each.length for each in stretched(robot, at) if each.element.directed]
        return {"q": at}, {"lengths": casadi.vertcat(*found)}

    met = traced(robot, "lengths", PURPOSE, lengths).rows(q)["lengths"].reshape(len(q), -1) == 0
    if met.any():
        raise ComputationError(
            f"the ends of element {names[int(np.argmax(met.any(axis=0)))]!r} meet: at length zero it has no direction; "
            "move one of its points, or take rest: 0 and no damping and no force"
        )
