"""Whether deflections stay as small as orders 1 and 2 are made for, Piedboeuf A5: one measure for every question."""

from __future__ import annotations

import casadi
import numpy as np
import numpy.typing as npt
from casadi import SX

from kronbot.compute.trace import traced
from kronbot.floats import Array
from kronbot.model.beam import TIP
from kronbot.model.robot import Robot

# A tip may go by this share of its beam's length.
SMALL = 0.1
# And turn (rad) by this, in bending (0.15 where it goes by a tenth) or in torsion.
TURN = 0.3


def tips(robot: Robot, purpose: str, q: Array) -> dict[str, Array]:
    """Of the tip of every beam with modes, at rows q (N, n): how far it is from where it is straight (m), the same as a
    share of its length, and its turn (rad) where the order knows a rotation vector, else 0; (N, 3)."""

    def traces() -> tuple[dict[str, SX], dict[str, SX]]:
        symbol, found = SX.sym("q", robot.n), {"none": SX(3, 1)}  # since nothing at all has no trace
        for link in robot.links:
            beam = link.beam
            if beam is not None and link.modes:
                (tip,) = beam.cross_sections([TIP], symbol[link.modal, :])
                size = casadi.norm_2(beam.moved(TIP, tip.pose.r))
                found[link.name] = casadi.vertcat(size, size / beam.length, casadi.norm_2(tip.theta))
        return {"q": symbol}, found

    values = traced(robot, "tips", purpose, traces).rows(q)
    return {name: values[name] for name in values if name != "none"}


def beyond_small(robot: Robot, q: Array, purpose: str) -> npt.NDArray[np.bool_]:
    """Rows of q (rows, n) in which the tip of a beam goes or turns further than the robot's order is made for.

    Orders 0 and exact hold everywhere. Raises UsageError where a parameter has no value.
    """
    beyond = np.zeros(len(q), dtype=bool)
    if robot.order in ("1", "2") and q[:, list(robot.flexible)].any():
        for tip in tips(robot, purpose, q).values():
            beyond |= (tip[:, 1] > SMALL) | (tip[:, 2] > TURN)
    return beyond
