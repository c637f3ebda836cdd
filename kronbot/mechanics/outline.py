"""The lines that draw a robot: for every link the way from its root frame along the beam to its tip frame."""

from __future__ import annotations

from dataclasses import dataclass

import casadi
import numpy as np
import numpy.typing as npt
from casadi import SX

from kronbot.compute.trace import Trace
from kronbot.mechanics.kinematics import endpoint, tip_frame
from kronbot.mechanics.recursion import propagate
from kronbot.model.pose import Pose
from kronbot.model.robot import Robot

Array = npt.NDArray[np.float64]

POINTS = 25


@dataclass(frozen=True)
class Outline:
    """Draws a robot at any q (n,): polylines (3, K) by link in the base frame, m, and a last one to the endpoint."""

    trace: Trace

    @staticmethod
    def of(robot: Robot) -> Outline:
        """The outline of a robot."""
        q = SX.sym("q", robot.n)
        state = propagate(robot, q, SX(robot.n, 1))
        lines: dict[str, SX] = {}
        for at in state.links:
            points = [SX(3, 1)]
            if at.link.beam is not None:
                places = np.linspace(0, 1, POINTS).tolist()
                points += [each.pose.r for each in at.link.beam.cross_sections(places, q[at.link.modal, :])]
            else:
                points.append(at.tip.pose.r)
            line = casadi.horzcat(*((at.pose @ Pose(point, SX.eye(3))).r for point in points))
            before = SX(3, 1) if at.link.parent < 0 else tip_frame(state.links[at.link.parent]).r
            lines[at.link.name] = casadi.horzcat(before, line)
        lines["endpoint"] = casadi.horzcat(tip_frame(state.links[robot.endpoint.link]).r, endpoint(state))
        return Outline(Trace(robot.parameters, {"q": q}, lines, "drawing"))

    def at(self, q: Array) -> list[Array]:
        """The polylines at q."""
        return list(self.trace(q).values())
