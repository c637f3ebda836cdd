"""What moves the joints in a simulation: torques as functions of time and state, or prescribed motions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import casadi
from casadi import SX

from kronbot.cached import cached_property
from kronbot.description import schema
from kronbot.description.expressions.expression import Expression
from kronbot.mechanics.control.controllers import Controllers, controllers
from kronbot.mechanics.multibody.recursion import forward_dynamics, inverse_dynamics
from kronbot.mechanics.multibody.state import propagate
from kronbot.mechanics.multibody.stops import without_contacts
from kronbot.model.build import rigid_arm
from kronbot.model.floating import chart, in_chart
from kronbot.model.in_time import InTime, in_time, told_beyond, told_short
from kronbot.model.motions import Motion, constant, motion
from kronbot.model.parameters import Parameters
from kronbot.model.robot import Robot
from kronbot.records import dataclass


@dataclass(frozen=True)
class Polynomial:
    """A torque that is a polynomial in the time since ``begin``, with ``coefficients`` of rising powers: symbols."""

    begin: SX
    coefficients: SX

    def at(self, t: SX) -> SX:
        """Its value at time t."""
        value = SX(0)
        for coefficient in reversed(casadi.vertsplit(self.coefficients)):
            value = value * (t - self.begin) + coefficient
        return value

    @property
    def motion(self) -> Motion:
        """A joint's that is so."""
        return Motion(lambda t, _: self.at(t))


@dataclass(frozen=True)
class Drives:
    """How the joints of robots of one structure are driven, as their file's ``simulate`` says.

    Without a ``drive`` there, joints get the torques of the rigid arm along the file's ``motion``; without a motion
    nothing drives them. ``prescribed`` are the joints that follow a motion exactly, by place in q; ``given`` the
    torques of the file by joint; ``commanded`` is where the drives want joints to be, by joint: prescribed motions,
    those that a drive looks at, targets. Where ``measured`` torques by joint are not None measurements drive some
    joints, whatever the file has for these.
    """

    robot: Robot
    by_joint: Mapping[str, schema.JointDrive]
    prescribed: Mapping[int, Motion]
    given: Mapping[str, InTime]
    commanded: Mapping[str, Motion]
    controllers: Controllers
    measured: Mapping[str, Polynomial] | None = None

    @property
    def along_motion(self) -> bool:
        """True where the torques of the rigid arm drive all joints."""
        file = self.robot.file
        drive = file.simulate.drive
        if self.measured is not None:
            return False
        return drive == "rigid-inverse-dynamics" or (
            drive is None and not file.control.acts and bool(self.robot.motions)
        )

    def follows(self, joint: str) -> bool:
        """True where a joint is driven to its motion, or to 0: by torques of the rigid arm, a controller, gains over
        time or postures.
        """
        controller = self.controllers.by_joint.get(joint)
        if controller is None:
            feedback = self.controllers.feedback
            if feedback is not None and joint in feedback.gains.K:  # gains of one posture have a target
                return bool(feedback.gains.over)
            return self.along_motion
        return controller.target == "motion"

    def holds(self, joint: str) -> bool:
        """True where a joint is held where it is wanted, by a controller or as it follows a motion exactly."""
        drive = self.by_joint.get(joint)
        controlled = {*self.controllers.by_joint, *self.controllers.fed_back}
        return joint in controlled or (drive is not None and drive.motion is not None)

    @property
    def undriven(self) -> Sequence[str]:
        """Joints that nothing drives."""
        driven = {*self.by_joint, *self.controllers.by_joint, *self.controllers.fed_back}
        return () if self.along_motion else [joint.name for joint in self.robot.joints if joint.name not in driven]

    @property
    def passive(self) -> Sequence[str]:
        """Joints that nothing drives where something drives others."""
        undriven = self.undriven
        return () if len(undriven) == len(self.robot.joints) else undriven

    @cached_property
    def sample_time(self) -> SX | None:
        """Between instants (s) at which controllers look, None of such as do all the time."""
        entry = self.robot.file.control.sample_time
        return None if entry is None or not self.controllers.joints else self.robot.parameters.number(entry)

    @property
    def states(self) -> int:
        """How many numbers the controllers remember: integrals, estimates, and torques that are held, with what tells
        the next noise."""
        held = 0 if self.sample_time is None else len(self.controllers.joints) + self.controllers.draws
        return len(self.controllers.remembered) + held

    def beyond_tables(self, duration: float, parameters: Parameters, wanted_for: str) -> list[str]:
        """Tables in use that do not reach over a run of that duration (s), in words: nothing is extrapolated.

        Raises FreeParameters where the start of a motion has no value.
        """
        tables = [
            (f"motion of {name}", motion.file, *motion.known(parameters, wanted_for))
            for name, motion in self.commanded.items()
            if motion.ends
        ]
        of_torques = ((f"torque of {name}", each) for name, each in self.given.items())
        return told_beyond(tables, duration) + told_short(of_torques, duration)

    def corners(self, parameters: Parameters, end: float, wanted_for: str) -> list[float]:
        """Times (s) up to an end at which a motion or a torque, or a derivative of it, jumps; in no order."""
        of_motions = [motion.corners(parameters, end, wanted_for) for motion in self.commanded.values()]
        of_torques = [torque.corners(parameters, wanted_for) for torque in self.given.values()]
        return [t for times in (*of_motions, *of_torques) for t in times]

    def measuring(self, torques: Mapping[str, Polynomial], motions: Mapping[str, Polynomial]) -> Drives:
        """The same where some joints are driven by measured torques and others follow measured motions."""
        if not torques and not motions:
            return self
        names = {joint.name: joint.driven for joint in self.robot.joints}
        gone = {names[name] for name in (*torques, *motions)}
        prescribed = {place: each for place, each in self.prescribed.items() if place not in gone}
        return replace(
            self,
            by_joint={name: each for name, each in self.by_joint.items() if names[name] not in gone},
            prescribed=prescribed | {names[name]: each.motion for name, each in motions.items()},
            given={name: each for name, each in self.given.items() if names[name] not in gone},
            commanded={name: each for name, each in self.commanded.items() if names[name] not in gone},
            controllers=self.controllers.without((*torques, *motions)),
            measured=torques,
        )

    def __str__(self) -> str:
        controlled = self.robot.file.control.acts
        if self.along_motion:
            return "rigid inverse dynamics along the motion" + (", and controllers" if controlled else "")
        if self.by_joint:
            return "joint by joint"
        return "controllers" if controlled else "none: joints are free"

    def torques(self, t: SX, q: SX, qd: SX, memory: SX) -> tuple[SX, SX, SX]:
        """Generalized forces (n x 1) of the drives at t with what controllers remember; its rates; its next values.

        Forces are zero for prescribed joints and modal coordinates. What is remembered are integrals, estimates and, of
        sampled controllers, torques: their rates are 0, and the next values follow at the instants.
        """
        tau = self._rigid_torques(t, q, qd) if self.along_motion else self._given_torques(t)
        control = self.controllers
        if not control.joints:
            return tau, SX(0, 1), SX(0, 1)
        targets = {joint.name: self.commanded[joint.name].derivatives(t)[:2] for joint in control.joints}
        first = len(control.remembered)
        weight = self.weight(q) if control.weighs else None
        fed = None if control.feedback is None else control.feedback.along(t)
        law = control.law(q, qd, memory[:first, :], targets, weight, tau, fed)
        places = [joint.driven for joint in control.joints]
        if self.sample_time is None:
            tau[places] = law.given
            return tau, law.rates, SX(0, 1)
        last = first + len(control.joints)
        tau[places] = memory[first:last, :]
        onward, drawn = control.sampled(law, memory[:first, :], q, qd, fed, self.sample_time, memory[last:, :])
        after = casadi.vertcat(onward, law.given, drawn)
        return tau, SX(after.rows(), 1), after

    def _given_torques(self, t: SX) -> SX:
        """Torques of the file, or those that were measured."""
        tau = SX(self.robot.n, 1)
        known: Mapping[str, InTime | Polynomial] = {**self.given, **(self.measured or {})}
        for joint in self.robot.joints:
            if joint.name in known:
                tau[joint.driven] = known[joint.name].at(t)
        return tau

    def _rigid_torques(self, t: SX, q: SX, qd: SX) -> SX:
        """Torques that move the rigid arm along the file's motion; joints without one rest at 0.

        A floating base is where it is: it accelerates as the joints make it.
        """
        rigid, base = self._on_base(), list(self.robot.base)
        at, rates, qdd = (SX(rigid.n, 1) for _ in range(3))
        at[base, :], rates[base, :] = q[base, :], qd[base, :]
        for joint in rigid.joints:
            at[joint.index], rates[joint.index], qdd[joint.index] = self.commanded[joint.name].derivatives(t)
        return self._spread(rigid, at, rates, qdd)

    def weight(self, q: SX) -> SX:
        """Torques that hold the rigid arm against gravity at the joint values that controllers measure."""
        rigid, at = self._on_base(), casadi.vertcat(q[list(self.robot.base), :], self.controllers.joint_values(q))
        rest = SX(rigid.n, 1)
        return self._spread(rigid, at, rest, rest)

    def _on_base(self) -> Robot:
        """The rigid arm with the robot's elements; on a floating base that is turned as the robot's.

        Drives know weights and springs, but nothing of contacts: what stops and tendons hold is theirs.
        """
        rigid = without_contacts(replace(rigid_arm(self.robot), elements=self.robot.elements))
        return rigid if not self.robot.base else in_chart(rigid, chart(self.robot))

    def _spread(self, rigid: Robot, q: SX, qd: SX, qdd: SX) -> SX:
        """Torques of the rigid arm's joints as a column over all coordinates; no force acts on a floating base."""
        state = propagate(rigid, q, qd)
        if rigid.base:
            qdd = forward_dynamics(state, SX(rigid.n, 1), {place: qdd[place] for place in rigid.rigid})
        needed, column = inverse_dynamics(state, qdd), SX(self.robot.n, 1)
        for place, joint in zip(rigid.rigid, self.robot.joints, strict=True):
            column[joint.driven] = needed[place]
        return column


def drives(robot: Robot) -> Drives:
    """The drives of all robots of one structure."""
    return robot.kept("drives", lambda: _drives(robot))


def _drives(robot: Robot) -> Drives:
    by_joint = robot.file.simulate.by_joint
    told, prescribed, given = robot.description.tables, {}, {}
    for joint in robot.joints:
        drive = by_joint.get(joint.name)
        if drive is not None and drive.motion is not None:
            prescribed[joint.driven] = motion(drive.motion, robot.parameters, told, joint.name, joint.revolute)
        elif drive is not None and drive.torque is not None:
            given[joint.name] = in_time(drive.torque, robot.parameters, told, f"torque.{joint.name}")
    found, wanted = Drives(robot, by_joint, prescribed, given, {}, controllers(robot)), {}
    for joint in robot.joints:
        controller = found.controllers.by_joint.get(joint.name)
        if joint.driven in prescribed:
            wanted[joint.name] = prescribed[joint.driven]
        elif controller is not None and isinstance(controller.target, Expression):
            wanted[joint.name] = constant(robot.parameters.number(controller.target))
        elif (feedback := found.controllers.feedback) is not None and joint.name in feedback.gains.K:
            wanted[joint.name] = feedback.commanded(joint.name)
        elif found.follows(joint.name):
            wanted[joint.name] = robot.motions.get(joint.name) or constant(SX(0))
    return replace(found, commanded=wanted)
