"""Controllers of joints: what torque they ask for, what their limits leave of it, and how their integrals go on.

tau = clip(kp e + I + kd e' + weight), I' = ki e + (tau - asked)/T_t, with Astroem and Haegglund's back-calculation:
T_t = sqrt(T_i T_d) = sqrt(kd/ki), or T_i = kp/ki without kd. Sampled, all of it is computed at the instants k T from
what is measured then and held, and I goes on by T I' (Euler). Gains for the whole state act on that itself, or on what
a filter thinks of it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import casadi
import numpy as np
from casadi import SX

from kronbot.cached import cached_property
from kronbot.description import schema
from kronbot.description.controlling import PID, Controller
from kronbot.description.gains import AT, Gains
from kronbot.description.mistakes import raise_all
from kronbot.description.wording import did_you_mean, quote
from kronbot.floats import Array
from kronbot.mechanics.control.estimator import Estimator, tangled
from kronbot.mechanics.multibody.energy import elastic_energy, gravity_energy
from kronbot.mechanics.multibody.state import propagate
from kronbot.model.joint import DrivenJoint
from kronbot.model.robot import Robot
from kronbot.records import dataclass

# Digits of two files of one design.
SAME = 1e-9
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

    ``along`` are torques of the rigid arm that are added, so that no weight is; ``feedback`` are gains for the whole
    state, of other joints, which an ``estimator`` tells, or the robot itself.
    """

    robot: Robot
    by_joint: Mapping[str, Controller]
    along: bool = False
    feedback: Gains | None = None
    estimator: Estimator | None = None

    @cached_property
    def joints(self) -> Sequence[DrivenJoint]:
        """Those that have one."""
        return [joint for joint in self.robot.joints if joint.name in self.by_joint or joint.name in self.fed_back]

    @property
    def fed_back(self) -> Mapping[str, float]:
        """Where gains for the whole state are about, by joint."""
        if self.feedback is None:
            return {}
        places = {joint.name: self.robot.coordinates[joint.driven] for joint in self.robot.joints}
        return {name: self.feedback.at.get(places[name], 0.0) for name in self.feedback.K}

    @cached_property
    def integrals(self) -> tuple[str, ...]:
        """Joints whose controller has one."""
        number = self.robot.parameters.number
        own = [joint.name for joint in self.joints if joint.name in self.by_joint]
        return tuple(name for name in own if not number(self.by_joint[name].pid.ki).is_zero())

    @cached_property
    def remembered(self) -> tuple[str, ...]:
        """What is integrated with the motion, by columns: integrals, and estimates of states."""
        estimates = () if self.estimator is None else self.estimator.states
        return (*(f"integral.{name}" for name in self.integrals), *(f"estimate.{name}" for name in estimates))

    @property
    def begun(self) -> Array:
        """What that is where nothing is remembered yet."""
        at = () if self.estimator is None else self.estimator.at
        return np.concatenate([np.zeros(len(self.integrals)), at])

    @property
    def draws(self) -> int:
        """How many numbers the noise of sensors remembers."""
        return 0 if self.estimator is None else self.estimator.draws

    def without(self, names: Collection[str]) -> Controllers:
        """The same without those of some joints; torques along a motion are gone."""
        left = {name: each for name, each in self.by_joint.items() if name not in names}
        return replace(self, by_joint=left, along=False)

    def measured(self, joint: DrivenJoint) -> int:
        """The place in q that the controller of a joint sees."""
        return joint.index if self.by_joint[joint.name].pid.side == "link" else joint.driven

    def law(
        self, q: SX, qd: SX, remembered: SX, targets: Mapping[str, tuple[SX, SX]], rigid: SX | None, along: SX
    ) -> Law:
        """What they do at q, qd (n x 1), with what they remember (m x 1), targets and their rates by joint, ``rigid``
        weight and torques ``along`` (n x 1)."""
        number = self.robot.parameters.number
        count = len(self.integrals)
        summed = dict(zip(self.integrals, casadi.vertsplit(remembered[:count, :]), strict=True))
        fed_back = self._fed_back(q, qd, remembered[count:, :])
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
        if self.estimator is not None:
            rates.append(self.estimator.rate(remembered[count:, :], *self._seen(q, qd, fed_back)))
        return Law(*(casadi.vertcat(SX(0, 1), *each) for each in (asked, given, rates)))

    def sampled(self, law: Law, remembered: SX, q: SX, qd: SX, T: SX, drawn: SX) -> tuple[SX, SX]:
        """What is remembered a sample time later, and what tells the noise then."""
        count = len(self.integrals)
        onward = remembered[:count, :] + T * law.rates[:count, :]
        if self.estimator is None:
            return onward, drawn
        e = remembered[count:, :]
        after, drawn = self.estimator.sampled(e, *self._seen(q, qd, self._fed_back(q, qd, e)), T, drawn)
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

    def _away(self, q: SX, qd: SX) -> dict[str, SX]:
        """How far the state is from where the gains are about."""
        if self.feedback is None:
            return {}
        (rates,) = self.robot.derivative_names(["qd"]).values()
        places = dict(zip((*self.robot.coordinates, *rates), casadi.vertsplit(casadi.vertcat(q, qd)), strict=True))
        return {name: places[name] - at for name, at in self.feedback.at.items()}

    def _fed_back(self, q: SX, qd: SX, estimate: SX) -> dict[str, SX]:
        """Torques of gains for the whole state, or what an estimator thinks of it, by joint."""
        if self.feedback is None:
            return {}
        away = self._away(q, qd)
        if self.estimator is not None:
            away = dict(zip(self.estimator.states, casadi.vertsplit(estimate), strict=True))
        found = {}
        for joint, gains in self.feedback.K.items():
            found[joint] = SX(self.feedback.torques[joint])
            for name, gain in gains.items():
                found[joint] -= gain * away[name]
        return found

    def _seen(self, q: SX, qd: SX, torques: Mapping[str, SX]) -> tuple[SX, SX]:
        """Torques and what sensors see, less where the gains are about."""
        assert self.feedback is not None and self.estimator is not None, "one estimates"
        away = list(self._away(q, qd).values())
        u = (tau - self.feedback.torques[joint] for joint, tau in torques.items())
        return casadi.vertcat(*u), casadi.vertcat(*(away[place] for place in self.estimator.seen))

    def _gravity(self, joint: str) -> str:
        if joint not in self.by_joint:
            return "none"
        return self.by_joint[joint].gravity or ("none" if self.along else "rigid")

    def _weight(self, q: SX) -> SX:
        """Torques (n x 1) that hold the arm in its sag at the motors' values of q, whatever it swings about it.

        The sag is that of two Newton's steps with the stiffness of the undeformed arm.
        """
        robot = self.robot
        U, u = robot.attachment
        at, flexible = SX.sym("q", robot.n), list(robot.flexible)
        state = propagate(robot, at, SX(robot.n, 1))
        forces = casadi.cse(casadi.gradient(elastic_energy(state) + gravity_energy(state), at))
        place = casadi.densify(U @ q[list(robot.rigid), :] + u)
        if flexible:
            K = casadi.substitute(casadi.jacobian(forces[flexible, :], at)[:, flexible], at, place)
            for _ in range(STEPS):
                place[flexible, :] -= casadi.solve(K, casadi.substitute(forces[flexible, :], at, place))
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
    feedback = _feedback(robot, by_joint_in_order)
    estimator = None if feedback is None else _estimator(robot, feedback)
    return Controllers(robot, by_joint_in_order, along, feedback, estimator)


def _feedback(robot: Robot, others: Mapping[str, Controller]) -> Gains | None:
    """The file's gains for the whole state. Raises DescriptionError where they are not for this robot."""
    said = robot.file.control.state_feedback
    if said is None:
        return None
    gains, taken = robot.description.tables[said.K].gains(), {*others, *robot.file.simulate.by_joint}
    (rates,) = robot.derivative_names(["qd"]).values()
    known, joints = (*robot.coordinates, *rates), [joint.name for joint in robot.joints]
    mistakes = [
        gains.mistake(name, f"no coordinate or rate {quote(name)} at order {robot.order}{did_you_mean(name, known)}")
        for name in gains.at
        if name not in known
    ]
    for name in gains.K:
        if name not in joints:
            mistakes.append(gains.mistake(name, f"no joint {quote(name)}{did_you_mean(name, joints)}"))
        elif name in taken:
            mistakes.append(
                gains.mistake(name, f"{quote(name)} has another controller or drive: one of them is wanted")
            )
    raise_all(mistakes)
    return gains


def _estimator(robot: Robot, gains: Gains) -> Estimator | None:
    """The file's filter, with the states in the order of the gains. Raises DescriptionError where it is for others."""
    said = robot.file.control.state_feedback
    if said is None or said.estimator is None:
        return None
    found, states, joints = robot.description.tables[said.estimator].filter(), [*gains.at], [*gains.K]
    mistakes = [
        found.mistake(name, f"the {word} of the filter and of the gains ({said.K}) are the same: {quote(name)}")
        for word, ours, theirs in (("states", states, [*found.A]), ("joints", joints, found.joints))
        for name in sorted({*ours} ^ {*theirs})
    ]
    mistakes += [
        found.mistake(name, f"{quote(name)} is none of the states: no sensor sees it")
        for name in found.sensors
        if name not in found.A
    ]
    mistakes += [
        found.mistake(name, f"no sensor {quote(name)}, of which control: state_feedback: tells the noise")
        for name in said.noise
        if name not in found.sensors
    ]
    mistakes += [
        found.mistake(AT, f"the filter is about {name} = {found.at[name]:g}, the gains about {at:g}: of one design")
        for name, at in gains.at.items()
        if abs(found.at.get(name, at) - at) > SAME * max(1.0, abs(at))
    ]
    raise_all(mistakes)
    A, B, L = (
        np.array([[rows[state][name] for name in names] for state in states])
        for rows, names in ((found.A, states), (found.B, joints), (found.L, found.sensors))
    )
    seen = [states.index(name) for name in found.sensors]
    F = A - L @ np.eye(len(states))[seen]
    if robot.file.control.sample_time is not None and tangled(F):
        raise_all([found.mistake(AT, "poles of the filter are zero or meet: it cannot be sampled; other densities")])
    number = robot.parameters.number
    noise = {found.sensors.index(name): number(density) for name, density in said.noise.items()}
    return Estimator(states, np.array([*gains.at.values()]), F, B, L, seen, noise, number(said.seed))


def _of_pd(pd: schema.PD) -> Controller:
    return Controller(PID(pd.kp, kd=pd.kd), "motion" if pd.target is None else pd.target, gravity="rigid")
