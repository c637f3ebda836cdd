"""Stops at the limits of joints: at a penetration d > 0 the force max(0, k d + c dd/dt), which never pulls.

Tendons are alike: at d = l - rest > 0 they have the tension max(0, k d + c dd/dt), which never pushes.

The force F takes the power F dd/dt, of which a stop holds k max(0, d)^2/2. What one that has let go still has of it,
its damper takes: it comes back by itself, without mass.
"""

from __future__ import annotations

from dataclasses import replace

import casadi
from casadi import SX

from kronbot.mechanics.multibody.elements import tendons
from kronbot.model.robot import Robot
from kronbot.records import dataclass


def one_sided(robot: Robot) -> int:
    """How many parts of a robot act on one side only: stops and tendons."""
    return len(robot.stops) + sum(element.one_sided for element in robot.elements)


def without_contacts(robot: Robot) -> Robot:
    """The same robot where its stops and tendons are left out: what acts on either side is left."""
    return replace(robot, stops=(), elements=tuple(each for each in robot.elements if not each.one_sided))


@dataclass(frozen=True)
class Contacts:
    """The stops and tendons of a robot at q, qd (n x 1 each): ``depths`` (m x 1) of joints in stops, and by which
    tendons are longer than their rest, and the forces of contacts.

    ``inward`` (m x n) is the derivative of the depths by q; ``forces`` are those of contacts wherever the joints are,
    k d + c dd/dt, with ``k`` and ``c`` (m x 1).
    """

    k: SX
    c: SX
    inward: SX
    depths: SX
    rates: SX

    @staticmethod
    def of(robot: Robot, q: SX, qd: SX) -> Contacts:
        """Those of a robot."""
        stops, ropes = robot.stops, tendons(robot, q)
        inward = casadi.vertcat(SX(0, robot.n), *(stop.sign * robot.row(stop.shares) for stop in stops))
        ends = casadi.vertcat(SX(0, 1), *(stop.sign * (stop.offset - stop.limit) for stop in stops))
        every = [*stops, *(rope.element for rope in ropes)]
        k, c = (casadi.vertcat(SX(0, 1), *(getattr(each, word) for each in every)) for word in ("stiffness", "damping"))
        depths = casadi.vertcat(inward @ q + ends, *(rope.depth for rope in ropes))
        inward = casadi.vertcat(inward, *(rope.slope for rope in ropes))
        return Contacts(k, c, inward, depths, inward @ qd)

    @property
    def forces(self) -> SX:
        """k d + c dd/dt (m x 1)."""
        return self.k * self.depths + self.c * self.rates

    @property
    def acting(self) -> SX:
        """What stops push with and tendons pull with (m x 1): nothing beyond, and never the other way."""
        return casadi.if_else(self.depths > 0, casadi.fmax(0, self.forces), 0)

    @property
    def holding(self) -> SX:
        """Which of them push or pull (m x 1), 1 or 0."""
        return casadi.if_else(self.depths > 0, self.forces > 0, 0)

    @property
    def energy(self) -> SX:
        """Of all, J."""
        return casadi.dot(self.k, casadi.fmax(0, self.depths) ** 2) / 2

    @property
    def stiffness(self) -> SX:
        """What they add to the stiffness (n x n) where they hold, as if they had no tension."""
        return self._added(self.k)

    @property
    def damping(self) -> SX:
        """The same of the damping matrix (n x n)."""
        return self._added(self.c)

    def _added(self, of_each: SX) -> SX:
        holding = casadi.if_else(self.depths > 0, of_each, 0)
        return self.inward.T @ casadi.diag(holding) @ self.inward

    def taken(self, forces: SX) -> SX:
        """Generalized forces (n x 1) that they take with such forces (m x 1)."""
        return self.inward.T @ forces

    def power(self, forces: SX) -> SX:
        """What they take meanwhile to hold or to lose, W: smooth where the rate of what they hold has a corner."""
        return casadi.dot(forces, self.rates)


def stop_forces(robot: Robot, q: SX, qd: SX) -> SX:
    """Generalized forces (n x 1) that the stops and tendons of a robot take."""
    if not one_sided(robot):
        return SX(robot.n, 1)
    contacts = Contacts.of(robot, q, qd)
    return contacts.taken(contacts.acting)
