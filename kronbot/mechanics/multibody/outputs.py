"""What is seen of a moving robot beside its coordinates: frames, joints, springs and gauges, by kind and name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

import casadi
from casadi import SX

from kronbot.cached import cached_property
from kronbot.description.names import carriers, moving_frames
from kronbot.mechanics.multibody.carried import Carried, carried
from kronbot.mechanics.multibody.elements import acted_on
from kronbot.mechanics.multibody.recursion import link_accelerations, link_wrenches
from kronbot.mechanics.multibody.state import State
from kronbot.model.gauge import gauge_place
from kronbot.model.robot import Robot
from kronbot.records import dataclass


@dataclass(frozen=True)
class Instant:
    """A robot at an instant: its state with all that acts on its links, accelerations ``qdd`` and torques ``tau`` of
    its drives (n x 1 each). ``rates`` are those of the coordinates where the state has others, ``borne`` what springs
    exert of which only that is known, by joint and word.
    """

    state: State
    qdd: SX
    tau: SX
    rates: SX | None = None
    borne: Mapping[tuple[str, str], SX] = field(default_factory=dict)

    @cached_property
    def _tdot(self) -> dict[int, SX]:
        return link_accelerations(self.state, self.qdd)

    @cached_property
    def _wrenches(self) -> dict[int, SX]:
        return link_wrenches(acted_on(self.state), self._tdot)

    @property
    def robot(self) -> Robot:
        """The robot."""
        return self.state.robot

    def of(self, kind: str, name: str) -> SX:
        """The output of a kind (k x 1) that :func:`kronbot.description.outputs.named` knows the name of; a rotation as
        its matrix R (3 x 3)."""
        found: SX = getattr(self, f"_{kind}")(name)
        return found

    def frame(self, name: str) -> Carried:
        """A frame as the state has it."""
        return carried(self.state, name)

    def _position(self, name: str) -> SX:
        return self.frame(name).pose.r

    def _rotation(self, name: str) -> SX:
        return self.frame(name).pose.R

    def _velocity(self, name: str) -> SX:
        return self.frame(name).twist

    def _acceleration(self, name: str) -> SX:
        if name not in moving_frames(carriers(self.robot.file)):
            return self._row(name) @ self.qdd
        at = self.frame(name)
        return at.acceleration(self._tdot[at.link])

    def _rate(self, name: str) -> SX:
        return self._row(name) @ (self.state.qd if self.rates is None else self.rates)

    def _row(self, name: str) -> SX:
        """A joint, whatever it follows, or a coordinate, as a combination of coordinates (1 x n)."""
        robot = self.robot
        joint = next((link.joint for link in robot.links if link.joint is not None and link.joint.name == name), None)
        return robot.row(((robot.coordinates.index(name), SX(1)),) if joint is None else joint.shares)

    def _reaction(self, name: str) -> SX:
        """Force and moment of the parent on the link, at the origin and in the axes of its root frame."""
        own = {link.joint.name or link.name: link.name for link in self.robot.file.links}[name]
        place = next(i for i, link in enumerate(self.robot.links) if link.name == own)
        return self._wrenches[place][:6]

    def _spring(self, name: str) -> SX:
        """What the springs of a joint, with their dampers, exert on what they turn, in the robot's order."""
        q, qd, torques = self.state.q, self.state.qd, []
        for spring in self.robot.springs:
            if spring.joint == name:
                row = self.robot.row(spring.stretch)
                own = spring.stiffness * (spring.rest - row @ q) - spring.damping * (row @ qd)
                torques.append(self.borne.get((name, spring.word), own))
        return casadi.vertcat(*torques)

    def _gauge(self, name: str) -> SX:
        """Curvature kappa_z = v'', kappa_y = -w'' and twist."""
        gauge = next(gauge for gauge in self.robot.file.statics.gauges if gauge.name == name)
        link, beam, xi = gauge_place(self.robot, gauge)
        twist, kappa_y, kappa_z = casadi.vertsplit(beam.curvature(xi, self.state.q[link.modal, :]))
        return casadi.vertcat(kappa_z, kappa_y, twist)

    def _power(self, name: str) -> SX:
        joint = next(joint for joint in self.robot.joints if joint.name == name)
        return self.tau[joint.driven] * self.state.qd[joint.driven]
