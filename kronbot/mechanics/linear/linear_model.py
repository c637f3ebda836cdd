"""The linear model about a motion, Khang (63)-(67): M_L y'' + D_L y' + K_L y = h_L.

y is the deviation of q from the basic motion. With the forces tau(q, qd, qdd) of Lagrange's equations, M_L = M,
D_L = dtau/dqd and K_L = dtau/dq; that is (66) plus the damping D, and (67) plus the stiffness K, which the paper leaves
out (its example has EI k11 in g). A dead load f at the endpoint adds -d(J^T f)/dq to K_L and J^T f to h_L.
"""

from __future__ import annotations

from collections.abc import Mapping

import casadi
from casadi import SX

from kronbot.cached import cached_property
from kronbot.description.names import WORLD
from kronbot.mechanics.linear.rounding import HOLDING
from kronbot.mechanics.multibody.elements import falls
from kronbot.mechanics.multibody.kinematics import attached, frame, relative_motion
from kronbot.mechanics.multibody.recursion import inverse_dynamics
from kronbot.mechanics.multibody.state import State, generalized_inertia_matrix, propagate
from kronbot.mechanics.multibody.stops import Contacts, one_sided
from kronbot.model.build import rigid_arm
from kronbot.model.robot import Robot
from kronbot.records import dataclass


@dataclass(frozen=True)
class LinearModel:
    """The linear model of a robot as functions of the symbols of the basic motion and of the loads.

    ``q``, ``qd``, ``qdd`` (n x 1) are the basic motion, ``tau`` (joints x 1) the joint torques in h_L, ``force``
    (3 x 1, N, base frame) a dead load at the endpoint.
    """

    robot: Robot
    q: SX
    qd: SX
    qdd: SX
    tau: SX
    force: SX

    @staticmethod
    def about_any_motion(robot: Robot) -> LinearModel:
        """The linear model with symbols for all coordinates."""
        q, qd, qdd = (SX.sym(word, robot.n) for word in ("q", "qd", "qdd"))
        return LinearModel(robot, q, qd, qdd, SX.sym("tau", len(robot.joints)), SX.sym("force", 3))

    @cached_property
    def state(self) -> State:
        """The robot in the basic motion."""
        return propagate(self.robot, self.q, self.qd)

    @cached_property
    def _needed(self) -> SX:
        return inverse_dynamics(self.state, self.qdd)

    @cached_property
    def _balance(self) -> SX:
        """Forces that the motion needs beyond those that act: zero where the basic motion is one of the robot."""
        acting = self.J_T.T @ self.force
        for i, joint in enumerate(self.robot.joints):
            acting[joint.driven] += self.tau[i]
        return self._needed - acting

    @cached_property
    def forces(self) -> SX:
        """Forces of the rigid size of the problem (n x 1): gravity and the endpoint force, to measure h_L by."""
        return casadi.substitute(self._needed, self.qd, SX.zeros(self.robot.n)) - self.J_T.T @ self.force

    @cached_property
    def J_T(self) -> SX:
        """Endpoint Jacobian (3 x n), by which forces enter and positions leave."""
        return relative_motion(self.robot, self.q, frame(self.robot, "endpoint"), frame(self.robot, WORLD)).J_T

    @cached_property
    def M_L(self) -> SX:
        """Inertia (n x n) (65)."""
        return generalized_inertia_matrix(self.state)

    @cached_property
    def D_L(self) -> SX:
        """Damping and gyroscopic matrix (n x n) (66), with the robot's own damping."""
        return casadi.jacobian(self._balance, self.qd)

    @cached_property
    def K_L(self) -> SX:
        """Stiffness (n x n) (67), with the strain stiffness and the geometric stiffness of the load."""
        return casadi.jacobian(self._balance, self.q)

    @cached_property
    def h_L(self) -> SX:
        """What acts on the deviation (n x 1) (64): zero at an equilibrium."""
        return -self._balance

    @cached_property
    def holding(self) -> dict[str, SX]:
        """Which stops and tendons hold (m x 1), under the word that :mod:`rounding` looks for; nothing without any."""
        return {HOLDING: Contacts.of(self.robot, self.q, self.qd).holding} if one_sided(self.robot) else {}

    def in_steady_spin(self) -> tuple[SX, SX, SX]:
        """M_L, D_L, K_L (n x n) about straight beams, without torques, load and accelerations; a floating base that
        nothing holds there falls.

        What is not differentiated by is put in before: a tenth of the expressions is left.
        """
        flexible = list(self.robot.flexible)
        q_f, qd_f = self.q[flexible, :], self.qd[flexible, :]
        straight, steady = attached(self.robot, self.q, self.qd)
        qdd = SX(self.robot.n, 1)
        if self.robot.base:
            qdd[list(self.robot.base[:3])] = falls(self.robot, self.q) * self.robot.gravity
        needed = inverse_dynamics(self.state, qdd)
        D_L = casadi.jacobian(casadi.substitute(needed, q_f, straight), self.qd)
        K_L = casadi.jacobian(casadi.substitute(needed, qd_f, steady), self.q)
        M_L, D_L, K_L = self.on_rigid_motion(self.M_L, D_L, K_L)
        return M_L, D_L, K_L

    def on_rigid_motion(self, *expressions: SX) -> list[SX]:
        """Expressions where nothing is deformed (59)."""
        flexible = list(self.robot.flexible)
        if not flexible:
            return list(expressions)
        motion = self.q, self.qd, self.qdd
        symbols = casadi.vertcat(*(each[flexible, :] for each in motion))
        return casadi.substitute(list(expressions), [symbols], [casadi.vertcat(*attached(self.robot, *motion))])

    def along_motions(self, parts: Mapping[str, SX]) -> tuple[dict[str, SX], dict[str, SX]]:
        """Expressions by name along the robot's motions, where nothing is deformed and no force acts at the endpoint.

        They are functions of a time ``t`` for each motion, in the order of the file.
        """
        motions = self.robot.motions
        t = SX.sym("t", len(motions))
        times = dict(zip(motions, casadi.vertsplit(t), strict=True))
        symbols, values = [], []
        for joint in self.robot.joints:
            known = joint.name in motions
            motion = motions[joint.name].derivatives(times[joint.name]) if known else (SX(0), SX(0), SX(0))
            symbols += [part[joint.driven] for part in (self.q, self.qd, self.qdd)]
            values += list(motion)
        placed = casadi.substitute(
            self.on_rigid_motion(*parts.values()),
            [casadi.vertcat(*symbols), self.force],
            [casadi.densify(casadi.vertcat(*values)), SX.zeros(3, 1)],
        )
        return {"t": t}, dict(zip(parts, placed, strict=True))


def rigid_forces(robot: Robot, linear: LinearModel) -> SX:
    """Torques (joints x 1) that move the rigid arm (order 0) like the joints of a model, against gravity and force."""
    rigid = LinearModel.about_any_motion(rigid_arm(robot))
    given = [*robot.base, *robot.rigid]
    needed = -casadi.substitute(rigid.h_L[list(rigid.robot.rigid), :], rigid.tau, SX.zeros(rigid.tau.shape))
    old = casadi.vertcat(rigid.q, rigid.qd, rigid.qdd, rigid.force)
    new = casadi.vertcat(*(part[given, :] for part in (linear.q, linear.qd, linear.qdd)), linear.force)
    return casadi.substitute(needed, old, new)
