"""Stops at the limits of joints: at a penetration d > 0 the force max(0, k d + c dd/dt), which never pulls.

The force F takes the power F dd/dt, of which a stop holds k max(0, d)^2/2. What one that has let go still has of it,
its damper takes: it comes back by itself, without mass.
"""

from __future__ import annotations

import casadi
from casadi import SX

from kronbot.model.joint import Stop
from kronbot.model.robot import Robot
from kronbot.records import dataclass


@dataclass(frozen=True)
class Contacts:
    """The stops of a robot at q, qd (n x 1 each): depths (stops x 1) of joints in them, and the forces of contacts.

    ``inward`` (stops x n) is the derivative of the depths by q; ``forces`` are those of contacts wherever the joints
    are, k d + c dd/dt.
    """

    stops: tuple[Stop, ...]
    inward: SX
    depths: SX
    rates: SX

    @staticmethod
    def of(robot: Robot, q: SX, qd: SX) -> Contacts:
        """Those of a robot."""
        stops = robot.stops
        inward = casadi.vertcat(SX(0, robot.n), *(stop.sign * robot.row(stop.shares) for stop in stops))
        ends = casadi.vertcat(SX(0, 1), *(stop.sign * (stop.offset - stop.limit) for stop in stops))
        return Contacts(stops, inward, inward @ q + ends, inward @ qd)

    def _of_stops(self, word: str) -> SX:
        return casadi.vertcat(SX(0, 1), *(getattr(stop, word) for stop in self.stops))

    @property
    def forces(self) -> SX:
        """k d + c dd/dt (stops x 1)."""
        return self._of_stops("stiffness") * self.depths + self._of_stops("damping") * self.rates

    @property
    def acting(self) -> SX:
        """What stops push with (stops x 1): nothing outside of them, and never a pull."""
        return casadi.if_else(self.depths > 0, casadi.fmax(0, self.forces), 0)

    @property
    def energy(self) -> SX:
        """Of all stops, J."""
        return casadi.dot(self._of_stops("stiffness"), casadi.fmax(0, self.depths) ** 2) / 2

    @property
    def stiffness(self) -> SX:
        """What stops add to the stiffness (n x n) where joints are in them."""
        holding = casadi.if_else(self.depths > 0, self._of_stops("stiffness"), 0)
        return self.inward.T @ casadi.diag(holding) @ self.inward

    def taken(self, forces: SX) -> SX:
        """Generalized forces (n x 1) that stops take which push so (stops x 1)."""
        return self.inward.T @ forces

    def power(self, forces: SX) -> SX:
        """What they take meanwhile to hold or to lose, W: smooth where the rate of what they hold has a corner."""
        return casadi.dot(forces, self.rates)


def stop_forces(robot: Robot, q: SX, qd: SX) -> SX:
    """Generalized forces (n x 1) that the stops of a robot take."""
    if not robot.stops:
        return SX(robot.n, 1)
    contacts = Contacts.of(robot, q, qd)
    return contacts.taken(contacts.acting)
