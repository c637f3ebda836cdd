"""Controllers of joints: what torque they ask for, what their limits leave of it, and how their integrals go on.

tau = clip(kp e + I + kd e' + weight), I' = ki e + (tau - asked)/T_t, with Astroem and Haegglund's back-calculation:
T_t = sqrt(T_i T_d) = sqrt(kd/ki), or T_i = kp/ki without kd. Sampled, all of it is computed at the instants k T from
what is measured then and held, and I goes on by T I' (Euler). Gains for the whole state act on that itself, or on what
a filter thinks of it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import casadi
import numpy as np
from casadi import SX

from kronbot.cached import cached_property
from kronbot.description import schema
from kronbot.description.controlling import PID, Controller
from kronbot.floats import Array
from kronbot.mechanics.multibody.energy import elastic_energy, gravity_energy
from kronbot.mechanics.multibody.state import propagate
from kronbot.mechanics.multibody.stops import without_contacts
from kronbot.model.joint import DrivenJoint
from kronbot.model.robot import Robot
from kronbot.records import dataclass

if TYPE_CHECKING:
    from kronbot.mechanics.control.state_feedback import Fed, StateFeedback

# Newton's steps from the undeformed arm to its sag, with the stiffness there.
STEPS = 2


@dataclass(frozen=True)
class Law:
    """Torques asked for and given (k x 1 both, N m or N), and rates of what is remembered (m x 1)."""

    asked: SX
    given: SX
    rates: SX


@dataclass(frozen=True)
class Controllers:
    """The controllers of joints of robots of one structure, by joint in their order.

    ``along`` are torques of the rigid arm that are added, so that no weight is; ``feedback`` acts on the whole state,
    by other joints.
    """

    robot: Robot
    by_joint: Mapping[str, Controller]
    along: bool = False
    feedback: StateFeedback | None = None

    @cached_property
    def joints(self) -> Sequence[DrivenJoint]:
        """Those that have one."""
        return [joint for joint in self.robot.joints if joint.name in self.by_joint or joint.name in self.fed_back]

    @property
    def fed_back(self) -> Collection[str]:
        """Joints whose torques follow from the whole state."""
        return () if self.feedback is None else self.feedback.gains.K

    @cached_property
    def integrals(self) -> tuple[str, ...]:
        """Joints whose controller has one."""
        number = self.robot.parameters.number
        own = [joint.name for joint in self.joints if joint.name in self.by_joint]
        return tuple(name for name in own if not number(self.by_joint[name].pid.ki).is_zero())

    @cached_property
    def remembered(self) -> tuple[str, ...]:
        """What is integrated with the motion, by columns: integrals, and estimates of states."""
        estimates = () if self.feedback is None else self.feedback.estimated
        return (*(f"integral.{name}" for name in self.integrals), *(f"estimate.{name}" for name in estimates))

    @property
    def begun(self) -> Array:
        """What that is where nothing is remembered yet."""
        at = () if self.feedback is None else self.feedback.estimated.values()
        return np.array([*(0.0 for _ in self.integrals), *at])

    @property
    def draws(self) -> int:
        """How many numbers the noise of sensors remembers."""
        return 0 if self.feedback is None or self.feedback.estimator is None else self.feedback.estimator.draws

    def without(self, names: Collection[str]) -> Controllers:
        """The same without those of some joints; torques along a motion are gone."""
        left = {name: each for name, each in self.by_joint.items() if name not in names}
        return replace(self, by_joint=left, along=False)

    def measured(self, joint: DrivenJoint) -> int:
        """The place in q that the controller of a joint sees; of one without, the motor's."""
        entry = self.by_joint.get(joint.name)
        return joint.index if entry is not None and entry.pid.side == "link" else joint.driven

    def joint_values(self, q: SX) -> SX:
        """Values (joints x 1) of all joints as their controllers see them: of those without one, the motors'."""
        return q[[self.measured(joint) for joint in self.robot.joints], :]

    def law(
        self,
        q: SX,
        qd: SX,
        remembered: SX,
        targets: Mapping[str, tuple[SX, SX]],
        rigid: SX | None,
        along: SX,
        fed: Fed | None = None,
    ) -> Law:
        """What they do at q, qd (n x 1), with what they remember (m x 1), targets and their rates by joint, ``rigid``
        weight and torques ``along`` (n x 1), gains ``fed`` for the whole state."""
        number = self.robot.parameters.number
        count = len(self.integrals)
        summed = dict(zip(self.integrals, casadi.vertsplit(remembered[:count, :]), strict=True))
        fed_back = {} if fed is None else fed.torques(q, qd, remembered[count:, :])
        sagging = self._weight(q) if any(self._gravity(j.name) == "flexible" for j in self.joints) else None
        asked, given, rates = [], [], []
        for joint in self.joints:
            if joint.name not in self.by_joint:
                asked.append(fed_back[joint.name])
                given.append(asked[-1])
                continue
            entry = self.by_joint[joint.name]
            kp, ki, kd = (number(each) for each in (entry.pid.kp, entry.pid.ki, entry.pid.kd))
            place, (target, rate) = self.measured(joint), targets[joint.name]
            error = target - q[place]
            wanted = along[joint.driven] + kp * error + summed.get(joint.name, SX(0)) + kd * (rate - qd[place])
            weight = {"rigid": rigid, "flexible": sagging}.get(self._gravity(joint.name))
            if weight is not None:
                wanted += weight[joint.driven]
            tau = wanted
            if entry.effort is not None:
                low, high = (number(end) for end in entry.effort)
                tau = casadi.fmin(casadi.fmax(wanted, low), high)
            if joint.name in summed:
                back = SX(0)
                if entry.effort is not None and entry.anti_windup == "back-calculation":
                    back = (tau - wanted) * (ki / kp if kd.is_zero() else casadi.sqrt(ki / kd))
                rates.append(ki * error + back)
            asked.append(wanted)
            given.append(tau)
        if fed is not None and fed.estimator is not None:
            rates.append(fed.estimator.rate(remembered[count:, :], *fed.seen(q, qd, fed_back)))
        return Law(*(casadi.vertcat(SX(0, 1), *each) for each in (asked, given, rates)))

    def sampled(self, law: Law, remembered: SX, q: SX, qd: SX, fed: Fed | None, T: SX, drawn: SX) -> tuple[SX, SX]:
        """What is remembered a sample time later, and what tells the noise then."""
        count = len(self.integrals)
        onward = remembered[:count, :] + T * law.rates[:count, :]
        if fed is None or fed.estimator is None:
            return onward, drawn
        e = remembered[count:, :]
        after, drawn = fed.estimator.sampled(e, *fed.seen(q, qd, fed.torques(q, qd, e)), T, drawn)
        return casadi.vertcat(onward, after), drawn

    def spread(self, torques: SX) -> SX:
        """Torques of the joints that have a controller as a column over all coordinates."""
        column = SX(self.robot.n, 1)
        for joint, each in zip(self.joints, casadi.vertsplit(torques), strict=True):
            column[joint.driven] = each
        return column

    @property
    def weighs(self) -> bool:
        """Whether one adds the weight of the rigid arm."""
        return any(self._gravity(joint.name) == "rigid" for joint in self.joints)

    def _gravity(self, joint: str) -> str:
        if joint not in self.by_joint:
            return "none"
        return self.by_joint[joint].gravity or ("none" if self.along else "rigid")

    def _weight(self, q: SX) -> SX:
        """Torques (n x 1) that hold the arm in its sag at the measured joint values, whatever it swings about it.

        The sag is that of two of Newton's steps from the undeformed arm, without stops and tendons, of which drives
        know nothing. Of a joint that is measured behind its shaft the motor is what gives way.
        """
        robot = without_contacts(self.robot)
        U, u = robot.attachment
        at, flexible = SX.sym("q", robot.n), list(robot.flexible)
        state = propagate(robot, at, SX(robot.n, 1))
        forces = casadi.cse(casadi.gradient(elastic_energy(state) + gravity_energy(state), at))
        place = casadi.densify(U @ self.joint_values(q) + u)
        motors = {self.measured(j): j.driven for j in self.joints if j.name in self.by_joint}
        giving = [motors.get(each, each) for each in flexible]
        if flexible:
            left = forces[flexible, :]
            tangent = casadi.cse(casadi.horzcat(left, casadi.jacobian(left, at)[:, giving]))
            for _ in range(STEPS):
                there = casadi.substitute(tangent, at, place)
                place[giving, :] -= casadi.solve(there[:, 1:], there[:, 0])
        return casadi.substitute(forces, at, place)


def controllers(robot: Robot) -> Controllers:
    """Those of the file's ``control``, and its PD drives, which are such."""
    drive, by_joint = robot.file.simulate.drive, robot.file.simulate.by_joint
    found = dict(robot.file.control.joints)
    for name, each in by_joint.items():
        if each.pd is not None:
            found[name] = _of_pd(each.pd)
    along = drive == "rigid-inverse-dynamics"
    by_joint_in_order = {j.name: found[j.name] for j in robot.joints if j.name in found}
    feedback = None
    if robot.file.control.state_feedback is not None:
        from kronbot.mechanics.control.state_feedback import state_feedback  # here, since few robots have one

        feedback = state_feedback(robot, robot.file.control.state_feedback, by_joint_in_order)
    return Controllers(robot, by_joint_in_order, along, feedback)


def _of_pd(pd: schema.PD) -> Controller:
    return Controller(PID(pd.kp, kd=pd.kd), "motion" if pd.target is None else pd.target, gravity="rigid")
