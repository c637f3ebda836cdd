"""What moves the joints in a simulation: torques as functions of time and state, or prescribed motions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import casadi
import numpy as np
from casadi import SX

from kronbot.description import schema
from kronbot.description.expressions.expression import Expression
from kronbot.description.wording import quote
from kronbot.mechanics.motion.integration import APART
from kronbot.mechanics.multibody.recursion import forward_dynamics, inverse_dynamics
from kronbot.mechanics.multibody.state import propagate
from kronbot.model.build import rigid_arm
from kronbot.model.floating import chart, in_chart
from kronbot.model.motions import Motion, constant, motion
from kronbot.model.parameters import Parameters
from kronbot.model.robot import Robot

# A step is a ramp so many units in the last place long before its row: integrators never look there.
STEP = APART // 4


@dataclass(frozen=True)
class TorqueTable:
    """A torque given by rows of time and value in a file, linear between them or in ``steps``, held from each row."""

    file: str
    times: tuple[float, ...]
    values: tuple[float, ...]
    steps: bool = False

    def at(self, t: SX) -> SX:
        """The torque at time t."""
        times, values = self.times, self.values
        if self.steps:
            before = [row - STEP * float(np.spacing(row)) for row in times[1:]]
            times = (times[0], *(each for pair in zip(before, times[1:], strict=True) for each in pair))
            values = (*(value for value in values[:-1] for _ in range(2)), values[-1])
        return casadi.interpolant("torque", "linear", [times], values)(t)


@dataclass(frozen=True)
class Drives:
    """How the joints of robots of one structure are driven, as their file's ``simulate`` says.

    Without a ``drive`` there, joints get the torques of the rigid arm along the file's ``motion``; without a motion
    nothing drives them. ``prescribed`` are the joints that follow a motion exactly, by place in q; ``tables`` the
    torque tables by joint; ``commanded`` is where the drives want joints to be, by joint: prescribed motions, those
    that a drive looks at, targets.
    """

    robot: Robot
    by_joint: Mapping[str, schema.JointDrive]
    prescribed: Mapping[int, Motion]
    tables: Mapping[str, TorqueTable]
    commanded: Mapping[str, Motion]

    @property
    def along_motion(self) -> bool:
        """True where the torques of the rigid arm drive all joints."""
        drive = self.robot.file.simulate.drive
        return drive == "rigid-inverse-dynamics" or (drive is None and bool(self.robot.motions))

    def follows(self, joint: str) -> bool:
        """True where a joint is driven to its motion, or to 0: torques of the rigid arm, or PD without a target."""
        drive = self.by_joint.get(joint)
        return self.along_motion or (drive is not None and drive.pd is not None and drive.pd.target is None)

    def holds(self, joint: str) -> bool:
        """True where a joint is held where it is wanted, by a controller or as it follows a motion exactly."""
        drive = self.by_joint.get(joint)
        return drive is not None and drive.torque is None

    def beyond_tables(self, duration: float, parameters: Parameters, wanted_for: str) -> list[str]:
        """Tables in use that do not reach over a run of that duration (s), in words: nothing is extrapolated.

        Raises FreeParameters where the start of a motion has no value.
        """
        tables = [
            (f"motion of {name}", motion.file, *motion.known(parameters, wanted_for))
            for name, motion in self.commanded.items()
            if motion.ends
        ]
        tables += [
            (f"torque of {name}", each.file, each.times[0], each.times[-1]) for name, each in self.tables.items()
        ]
        return told_short(tables, duration)

    def corners(self, parameters: Parameters, end: float, wanted_for: str) -> list[float]:
        """Times (s) up to an end at which a motion or a torque, or a derivative of it, jumps; in no order."""
        of_motions = [motion.corners(parameters, end, wanted_for) for motion in self.commanded.values()]
        return [t for times in (*of_motions, *(table.times for table in self.tables.values())) for t in times]

    def __str__(self) -> str:
        if self.along_motion:
            return "rigid inverse dynamics along the motion"
        return "joint by joint" if self.by_joint else "none: joints are free"

    def torques(self, t: SX, q: SX, qd: SX) -> SX:
        """Generalized forces (n x 1) of the drives at time t; zero for prescribed joints and modal coordinates."""
        if self.along_motion:
            return self._rigid_torques(t, q, qd)
        tau, number = SX(self.robot.n, 1), self.robot.parameters.number
        controlled = any(drive.pd is not None for drive in self.by_joint.values())
        weight = self._gravity_torques(q) if controlled else tau
        for joint in self.robot.joints:
            drive = self.by_joint.get(joint.name)
            if drive is None or drive.motion is not None:
                continue
            if drive.pd is not None:
                target, rate, _ = self.commanded[joint.name].derivatives(t)
                kp, kd = number(drive.pd.kp), number(drive.pd.kd)
                control = kp * (target - q[joint.driven]) + kd * (rate - qd[joint.driven])
                tau[joint.driven] = weight[joint.driven] + control
            elif joint.name in self.tables:
                tau[joint.driven] = self.tables[joint.name].at(t)
            elif isinstance(drive.torque, Expression):
                tau[joint.driven] = number(drive.torque)
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

    def _gravity_torques(self, q: SX) -> SX:
        """Torques that hold the rigid arm against gravity at the present joint coordinates."""
        rigid, at = self._on_base(), q[[*self.robot.base, *self.robot.rigid], :]
        rest = SX(rigid.n, 1)
        return self._spread(rigid, at, rest, rest)

    def _on_base(self) -> Robot:
        """The rigid arm; on a floating base that is turned as the robot's."""
        rigid = rigid_arm(self.robot)
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


def told_short(tables: Iterable[tuple[str, str, float, float]], duration: float) -> list[str]:
    """In words those of some tables, each of what, its file, first and last time (s), that a run goes beyond."""
    short = []
    for what, file, first, last in tables:
        if first > 0 or duration > last:
            told = f"goes from t = {first:g} s to {last:g} s" if first > -math.inf else f"goes to t = {last:g} s"
            run = f"but the run from 0 to {duration:g} s; nothing is extrapolated"
            short.append(f"the table of the {what}, {quote(file)}, {told}, {run}")
    return short


def drives(robot: Robot) -> Drives:
    """The drives of all robots of one structure."""
    return robot.parameters.kept(("drives", robot.order), lambda: _drives(robot))


def _drives(robot: Robot) -> Drives:
    by_joint = robot.file.simulate.by_joint
    told, prescribed, tables = robot.description.tables, {}, {}
    for joint in robot.joints:
        drive = by_joint.get(joint.name)
        if drive is not None and drive.motion is not None:
            prescribed[joint.driven] = motion(drive.motion, robot.parameters, told, joint.revolute)
        elif drive is not None and isinstance(drive.torque, schema.TorqueFile):
            file = drive.torque.file
            tables[joint.name] = TorqueTable(file, *told[file].torque(), drive.torque.steps)
    found, wanted = Drives(robot, by_joint, prescribed, tables, {}), {}
    for joint in robot.joints:
        drive = by_joint.get(joint.name)
        if joint.driven in prescribed:
            wanted[joint.name] = prescribed[joint.driven]
        elif drive is not None and drive.pd is not None and drive.pd.target is not None:
            wanted[joint.name] = constant(robot.parameters.number(drive.pd.target))
        elif found.follows(joint.name):
            wanted[joint.name] = robot.motions.get(joint.name) or constant(SX(0))
    return replace(found, commanded=wanted)
