"""The lines that draw a robot: for every link the way from its root frame along the beam to its tip frame."""

from __future__ import annotations

from dataclasses import dataclass

import casadi
import numpy as np
from casadi import SX

from kronbot.compute.trace import Trace, traced
from kronbot.floats import Array
from kronbot.mechanics.multibody.kinematics import link_frames
from kronbot.model.beam import TIP, Beam
from kronbot.model.robot import Robot

POINTS = 25


@dataclass(frozen=True)
class Outline:
    """Draws a robot at any q (n,): polylines (3, K) by link in the base frame, m, and a last one to the endpoint."""

    trace: Trace

    @staticmethod
    def of(robot: Robot) -> Outline:
        """The outline of a robot."""
        return Outline(traced(robot, "outline", "drawing", lambda: _lines(robot)))

    def at(self, q: Array) -> list[Array]:
        """The polylines at q."""
        return list(self.trace(q).values())


@dataclass(frozen=True)
class Bodies:
    """Where the rigid bodies of a robot are, at any q (n,)."""

    trace: Trace

    @staticmethod
    def of(robot: Robot) -> Bodies:
        """The bodies of a robot that have a mass; without those whose mass or place has no value."""

        def centres() -> tuple[dict[str, SX], dict[str, SX]]:
            q, places = SX.sym("q", robot.n), [SX(4, 1)]  # of the base, since nothing at all has no trace
            for link, (_, root, tip) in zip(robot.links, link_frames(robot, q), strict=True):
                hubs = [] if link.hub is None else [(root, link.hub)]
                for frame, body in (*hubs, *((tip, body) for body in link.bodies)):
                    if not robot.parameters.free_in(casadi.vertcat(body.mass, body.com)):
                        places.append(casadi.vertcat(body.mass, frame.r + frame.R @ body.com))
            return {"q": q}, {"bodies": casadi.horzcat(*places)}

        # Which bodies have values is a matter of the values.
        free = frozenset(name for name, value in robot.parameters.values.items() if value is None)
        return Bodies(traced(robot, ("bodies", free), "drawing", centres))

    def at(self, q: Array) -> tuple[Array, Array]:
        """Masses (B,), kg, of those that have one, and their centres of mass (3, B) in the base frame, m."""
        masses, *centres = self.trace(q)["bodies"].reshape(4, -1)
        heavy = masses > 0
        return masses[heavy], np.array(centres)[:, heavy]


@dataclass(frozen=True)
class Twists:
    """Angles (rad) by which the sections of beams with torsion are turned about them, at the points of their lines."""

    trace: Trace

    @staticmethod
    def of(robot: Robot) -> Twists:
        """The twists of a robot."""

        def angles() -> tuple[dict[str, SX], dict[str, SX]]:
            q, found = SX.sym("q", robot.n), {"none": SX(1, 1)}  # since nothing at all has no trace
            for link in robot.links:
                if link.beam is not None and link.beam.torsion.count:
                    own = q[link.modal, :][-link.beam.torsion.count :, :]
                    rows = [link.beam.row(link.beam.torsion, xi, 0) for xi in _places()]
                    found[link.name] = casadi.vertcat(*rows) @ own
            return {"q": q}, found

        return Twists(traced(robot, "twists", "drawing", angles))

    def along(self, direction: Array) -> dict[str, Array]:
        """Angles (POINTS,) by link for a change of the coordinates (n,), in which they are linear."""
        return {name: angles for name, angles in self.trace(direction).items() if len(angles) == POINTS}


def _lines(robot: Robot) -> tuple[dict[str, SX], dict[str, SX]]:
    q, named = SX.sym("q", robot.n), {}
    frames = link_frames(robot, q)
    for link, (before, root, tip) in zip(robot.links, frames, strict=True):
        points = [root.r, tip.r]
        if link.beam is not None:
            points[1:] = [root.r + root.R @ point for point in _points(link.beam, q[link.modal, :])]
        named[link.name] = casadi.horzcat(before.r, *points)
    hand = frames[robot.endpoint.link][-1]
    named["endpoint"] = casadi.horzcat(hand.r, hand.r + hand.R @ robot.endpoint.position)
    return {"q": q}, named


def _places() -> list[float]:
    return [float(xi) for xi in np.linspace(0, TIP, POINTS)]


def _points(beam: Beam, q_f: SX) -> list[SX]:
    """Positions (3 x 1) along a beam in its root frame; only those of a rod need the sections between them."""
    places = _places()
    if beam.order == "exact":
        return [section.pose.r for section in beam.cross_sections(places, q_f)]
    return [beam.position(xi, q_f) for xi in places]
