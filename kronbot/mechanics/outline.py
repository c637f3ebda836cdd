"""The lines that draw a robot: for every link the way from its root frame along the beam to its tip frame."""

from __future__ import annotations

from dataclasses import dataclass

import casadi
import numpy as np
import numpy.typing as npt
from casadi import SX

from kronbot.compute.trace import Trace
from kronbot.model.beam import TIP, Beam
from kronbot.model.pose import Pose
from kronbot.model.robot import BASE, Robot

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
        tips: dict[int, Pose] = {BASE: Pose.identity()}
        lines: dict[int, SX] = {}
        for i in robot.outward:
            link = robot.links[i]
            before, q_f = tips[link.parent], q[link.modal, :]
            root = before @ link.root_pose(q, robot.parameters)
            tips[i] = root @ link.tip(q_f).pose
            points = [root.r, tips[i].r]
            if link.beam is not None:
                points[1:] = [root.r + root.R @ point for point in _points(link.beam, q_f)]
            lines[i] = casadi.horzcat(before.r, *points)
        hand = tips[robot.endpoint.link]
        named = {link.name: lines[i] for i, link in enumerate(robot.links)}
        named["endpoint"] = casadi.horzcat(hand.r, hand.r + hand.R @ robot.endpoint.position)
        return Outline(Trace(robot.parameters, {"q": q}, named, "drawing"))

    def at(self, q: Array) -> list[Array]:
        """The polylines at q."""
        return list(self.trace(q).values())


def _points(beam: Beam, q_f: SX) -> list[SX]:
    """Positions (3 x 1) along a beam in its root frame; only those of a rod need the sections between them."""
    places = np.linspace(0, TIP, POINTS).tolist()
    if beam.order == "exact":
        return [section.pose.r for section in beam.cross_sections(places, q_f)]
    return [beam.position(xi, q_f) for xi in places]
