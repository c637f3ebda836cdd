"""Whether deflections stay as small as orders 1 and 2 are made for, Piedboeuf A5: one measure for every question."""

from __future__ import annotations

import casadi
import numpy as np
import numpy.typing as npt
from casadi import SX

from kronbot.compute.trace import traced
from kronbot.model.beam import TIP
from kronbot.model.robot import Robot

Array = npt.NDArray[np.float64]

# A tip may go by this share of its beam's length.
SMALL = 0.1
# And turn (rad) by this, in bending (0.15 where it goes by a tenth) or in torsion.
TURN = 0.3


def beyond_small(robot: Robot, q: Array, purpose: str) -> npt.NDArray[np.bool_]:
    """Rows of q (rows, n) in which the tip of a beam goes or turns further than the robot's order is made for.

    Orders 0 and exact hold everywhere. Raises UsageError where a parameter has no value.
    """

    if robot.order not in ("1", "2") or not robot.flexible:
        return np.zeros(len(q), dtype=bool)

    def tips() -> tuple[dict[str, SX], dict[str, SX]]:
        symbol, shares = SX.sym("q", robot.n), []
        for link in robot.links:
            if link.beam is not None and link.modes:
                (tip,) = link.beam.cross_sections([TIP], symbol[link.modal, :])
                moved = tip.pose.r - casadi.vertcat(link.beam.root + link.beam.length, 0, 0)
                shares += [casadi.norm_2(moved) / (SMALL * link.beam.length), casadi.norm_2(tip.theta) / TURN]
        return {"q": symbol}, {"shares": casadi.vertcat(*shares)}

    shares = traced(robot, "small", purpose, tips).rows(q)["shares"]
    return np.asarray((shares.reshape(len(q), -1) > 1).any(axis=1))
