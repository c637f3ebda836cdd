"""Dead loads on a robot: gravity, wrenches on frames, forces along beams. They keep their directions in the base frame.

Their generalized forces come by virtual work, J_T^T f + J_R^T m, Piedboeuf (29). A dead moment in space has no
potential; forces have one.
"""

from __future__ import annotations

import casadi
from casadi import SX, cross

from kronbot.description import schema
from kronbot.description.names import WORLD
from kronbot.mechanics.multibody.inertia import mass_moment
from kronbot.mechanics.multibody.kinematics import frame, relative_motion
from kronbot.mechanics.multibody.state import State
from kronbot.model.robot import Robot
from kronbot.records import dataclass


@dataclass(frozen=True)
class Loads:
    """The sum of some loads: generalized forces (n x 1), force (3 x 1) and moment about the base's origin (3 x 1)."""

    generalized: SX
    force: SX
    moment: SX

    def __add__(self, other: Loads) -> Loads:
        """Both together."""
        return Loads(self.generalized + other.generalized, self.force + other.force, self.moment + other.moment)

    def times(self, share: SX) -> Loads:
        """A share (1 x 1) of the loads."""
        return Loads(share * self.generalized, share * self.force, share * self.moment)


def wrench(robot: Robot, q: SX, name: str, force: SX, moment: SX) -> Loads:
    """A dead force and moment (3 x 1 each) on a frame."""
    at = relative_motion(robot, q, frame(robot, name), frame(robot, WORLD))
    return Loads(at.J_T.T @ force + at.J_R.T @ moment, force, cross(at.pose.r, force) + moment)


def along_beam(state: State, link: str, force: SX) -> Loads:
    """A dead force per length of the undeformed beam of a link (3 x 1, N/m), the gradient of its potential."""
    at = next(at for at in state.links if at.link.name == link)
    beam = at.link.beam
    if beam is None:
        raise ValueError(f"link {link!r} has no beam")
    nodes, weights = beam.nodes
    moment = SX(3, 1)  # of unit density: int r dx
    for each, weight in zip(beam.cross_sections(nodes.tolist(), state.q[at.link.modal, :]), weights, strict=True):
        moment += weight * beam.length * (at.pose.r + at.pose.R @ each.pose.r)
    generalized = casadi.gradient(casadi.dot(force, moment), state.q)
    return Loads(generalized, beam.length * force, cross(moment, force))


def of_file(state: State, statics: schema.Statics) -> Loads:
    """The loads that the file puts on frames and beams in every case of its sweep."""
    robot = state.robot
    number = robot.parameters.vector
    total = Loads(SX(robot.n, 1), SX(3, 1), SX(3, 1))
    for load in statics.loads:
        total += wrench(robot, state.q, load.frame, number(load.force), number(load.moment))
    for each in statics.distributed:
        total += along_beam(state, each.link, number(each.force))
    return total


def weight(state: State) -> Loads:
    """Gravity as force and moment about the base's origin; its generalized forces are in the inverse dynamics."""
    robot = state.robot
    total, first = SX(1, 1), SX(3, 1)
    for at in state.links:
        mass, moment = mass_moment(at.M)
        total += mass
        first += mass * at.pose.r + at.pose.R @ moment
    return Loads(SX(robot.n, 1), total * robot.gravity, cross(first, robot.gravity))
