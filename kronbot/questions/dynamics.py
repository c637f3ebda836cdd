"""Lagrange's equations in the Kronecker form of Tuan: M qdd + C* (qd (x) qd) + g + K q + D qd = tau.

M is the generalized inertia matrix of the recursion, which is (95) for bodies and for the mass of beams; every other
term is its Khang derivative P = dM/dq (n x n^2) rearranged. The C of (97), C = P (E (x) qd) - 1/2 (P (qd (x) E))^T, and
the Christoffel form agree when applied to qd only: Mdot - 2 C is skew for the Christoffel form, not for (97).
"""

from __future__ import annotations

import casadi
from casadi import SX

from kronbot.cached import cached_property
from kronbot.compute.question import Quantity, Question
from kronbot.kronecker.calculus import commutation, derivative_columns, khang_derivative, kron, kron_power
from kronbot.mechanics.multibody.damping import damping_matrix
from kronbot.mechanics.multibody.elements import element_forces, two_sided
from kronbot.mechanics.multibody.energy import gravity_energy
from kronbot.mechanics.multibody.size import demand_entries
from kronbot.mechanics.multibody.state import State, generalized_inertia_matrix, propagate
from kronbot.mechanics.multibody.stops import stop_forces
from kronbot.model.robot import Robot
from kronbot.questions.outline import Given, Labels, Outline, Sides
from kronbot.records import dataclass


@dataclass(frozen=True)
class Equations:
    """The terms of the equations of motion at the symbols q (n x 1); matrices are n x n unless said otherwise."""

    robot: Robot
    q: SX

    @cached_property
    def _rest(self) -> State:
        return propagate(self.robot, self.q, SX(self.robot.n, 1))

    @cached_property
    def M(self) -> SX:
        """Inertia matrix (95)."""
        return casadi.cse(generalized_inertia_matrix(self._rest))

    @cached_property
    def dM_dq(self) -> SX:
        """Khang derivative of M (n x n^2)."""
        return khang_derivative(self.M, self.q)

    @cached_property
    def C_star(self) -> SX:
        """C* (n x n^2), velocity-free: dM/dq - 1/2 (dvec(M)/dq)^T (101)."""
        return self.dM_dq - casadi.jacobian(casadi.vec(self.M), self.q).T / 2

    def C(self, qd: SX) -> SX:
        """Coriolis matrix of (97): dM/dq (E (x) qd) - 1/2 (dM/dq (qd (x) E))^T."""
        E = SX.eye(self.robot.n)
        return self.dM_dq @ kron(E, qd) - (self.dM_dq @ kron(qd, E)).T / 2

    def C_christoffel(self, qd: SX) -> SX:
        """Coriolis matrix by Christoffel symbols, 1/2 C* (E + K)(E (x) qd): Mdot - 2 C is skew."""
        n = self.robot.n
        E = SX.eye(n)
        return (self.C_star + self.C_star @ commutation(n, n)) @ kron(E, qd) / 2

    @cached_property
    def g(self) -> SX:
        """Gravity forces (n x 1), the gradient of its energy, less the preload of springs that are not slack at 0, and
        what elements and stops take at rest."""
        weight = casadi.gradient(gravity_energy(self._rest), self.q)
        stopped = stop_forces(self.robot, self.q, self._rest.qd)
        return weight - self.robot.preload + element_forces(self._rest) + stopped

    @cached_property
    def D(self) -> SX:
        """Damping matrix (n x n); of elements it depends on q. Those that act on one side only are not in it."""
        of_elements = (each.damping for each in two_sided(self.robot, self.q))
        return sum(of_elements, damping_matrix(self.robot, self.q))

    def tau(self, qd: SX, qdd: SX) -> SX:
        """Generalized forces of a motion (n x 1): M qdd + C* (qd (x) qd) + g + K q + D qd (100)."""
        robot = self.robot
        inertia = self.M @ qdd + self.C_star @ kron_power(qd, 2)
        moving = stop_forces(robot, self.q, qd) - stop_forces(robot, self.q, SX(robot.n, 1))
        return inertia + self.g + robot.stiffness @ self.q + self.D @ qd + robot.friction(qd) + moving


def dynamics(robot: Robot, rates: bool, derived: bool = True) -> Question:
    """M, dM_dq, C_star, g, K, D at q; with ``rates`` also C, C_christoffel, friction and tau of a motion qd, qdd.

    Without what is ``derived`` from M, which takes longest to trace, M, g, K and D alone.
    """
    demand_entries(f"dM/dq of {robot.n} coordinates", robot.n**3)
    words = ("q", "qd", "qdd") if rates else ("q",)
    symbols = {word: SX.sym(word, robot.n) for word in words}
    terms = Equations(robot, symbols["q"])
    names = robot.coordinates
    pairs = derivative_columns(names, names)
    force = robot.force_units(range(robot.n))

    def matrix(expression: SX, per: list[str], late: bool = False) -> Quantity:
        columns = pairs if expression.columns() == robot.n**2 else names
        return Quantity(expression, names, columns, {"rows": force, "columns": per}, late)

    acceleration = [f"s2/({unit})" for unit in robot.units]
    rate = [f"s/({unit})" for unit in robot.units]
    both = [f"s2/({a} {b})" for a in robot.units for b in robot.units]
    position = [f"1/({unit})" for unit in robot.units]
    quantities = {"M": matrix(terms.M, acceleration)}
    if rates and derived:
        quantities["C"] = matrix(terms.C(symbols["qd"]), rate)
        quantities["C_christoffel"] = matrix(terms.C_christoffel(symbols["qd"]), rate)
    if derived:
        # Four fifths of the work, and few look at them.
        quantities["C_star"] = matrix(terms.C_star, both, late=True)
        quantities["dM_dq"] = matrix(terms.dM_dq, both, late=True)
    quantities["g"] = Quantity(terms.g, names, None, {"rows": force})
    quantities["K"] = matrix(robot.stiffness, position)
    quantities["D"] = matrix(terms.D, rate)
    if rates and derived:
        friction = robot.friction(symbols["qd"])
        quantities |= {} if friction.is_zero() else {"friction": Quantity(friction, names, None, {"rows": force})}
        quantities["tau"] = Quantity(terms.tau(symbols["qd"], symbols["qdd"]), names, None, {"rows": force})
    return Question(robot.parameters, symbols, robot.derivative_names(words), quantities, "dynamics")


def names(robot: Robot) -> list[str]:
    """The quantities of :func:`dynamics` of a motion, before they are traced."""
    rubbed = [] if robot.friction(SX.sym("qd", robot.n)).is_zero() else ["friction"]
    return ["M", "C", "C_christoffel", "C_star", "dM_dq", "g", "K", "D", *rubbed, "tau"]


def outline(robot: Robot, given: Given) -> Outline:
    """What the answer holds: the terms of the equations, with rates the forces tau."""
    names, rates = robot.coordinates, "qd" in given or "qdd" in given
    pairs = derivative_columns(names, names)
    arrays: dict[str, Labels] = dict.fromkeys(("M", "K", "D"), (names, names))
    arrays |= {"C_star": (names, pairs), "dM_dq": (names, pairs), "g": (names, None)}
    if rates:
        arrays |= {"C": (names, names), "C_christoffel": (names, names), "tau": (names, None)}
        arrays |= {"friction": (names, None)} if any(link.joint.friction for link in robot.file.links) else {}
    motion = () if rates else ("tau", "C", "C_christoffel")
    absent = dict.fromkeys(motion, "it belongs to a motion: give rates (qd) or accelerations (qdd) too")
    force = dict(zip(names, robot.force_units(range(robot.n)), strict=True))
    per = {
        word: {name: f"{time}/({unit})" for name, unit in zip(names, robot.units, strict=True)}
        for word, time in (("M", "s2"), ("C", "s"), ("C_christoffel", "s"), ("D", "s"), ("K", "1"))
    }
    units: dict[str, Sides] = {word: (force, per.get(word, {})) for word in (*per, "g", "tau", "friction")}
    both = [f"s2/({a} {b})" for a in robot.units for b in robot.units]
    units |= {word: (force, dict(zip(pairs, both, strict=True))) for word in ("C_star", "dM_dq")}
    usual = [f"{'tau' if rates else 'g'}[{name}]" for name in names]
    return Outline(arrays=arrays, absent=absent, usual=usual, units=units)
