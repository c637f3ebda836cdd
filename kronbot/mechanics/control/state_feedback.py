"""Feedback of the whole state: tau = torque - K (x - at), about one state, along a motion, or from posture to posture.

Gains over time, and the motion they are about, are C2 cubic splines through their rows, held outside, or repeating.
Those of postures are straight from row to row, by where the motion wants a joint to be: joints are to follow their
motions, all else lies in its equilibrium there.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import casadi
import numpy as np
from casadi import SX

from kronbot.cached import cached_property
from kronbot.description import controlling
from kronbot.description.gains import AT, CASE, TIME, Gains
from kronbot.description.mistakes import Mistakes, raise_all
from kronbot.description.wording import quote
from kronbot.errors import Mistake
from kronbot.mechanics.control.estimator import Estimator, tangled
from kronbot.model.motions import Motion, constant, periodic_spline, spline
from kronbot.model.robot import Robot
from kronbot.records import dataclass

# Digits of two files of one design; and of the ends of a period, as shares of what is between them.
SAME, PLACE = 1e-9, 1e-6


@dataclass(frozen=True)
class Fed:
    """Gains at an instant: states and their places in [q; qd], where they are to be, torques there, gains by joint."""

    places: Mapping[str, int]
    at: Mapping[str, SX]
    held: Mapping[str, SX]
    K: Mapping[str, Mapping[str, SX]]
    estimator: Estimator | None

    def told(self, symbol: SX, value: SX) -> Fed:
        """The same with a value in the place of a symbol."""

        def put(part: Mapping[str, SX]) -> dict[str, SX]:
            return dict(zip(part, casadi.substitute([*part.values()], [symbol], [value]), strict=True))

        K = {joint: put(row) for joint, row in self.K.items()}
        return replace(self, at=put(self.at), held=put(self.held), K=K)

    def _away(self, q: SX, qd: SX) -> dict[str, SX]:
        x = casadi.vertcat(q, qd)
        return {name: x[self.places[name]] - at for name, at in self.at.items()}

    def torques(self, q: SX, qd: SX, estimate: SX) -> dict[str, SX]:
        """By joint, of the state or of what an estimator thinks of it."""
        away = self._away(q, qd)
        if self.estimator is not None:
            away = dict(zip(self.estimator.states, casadi.vertsplit(estimate), strict=True))
        found = {}
        for joint, gains in self.K.items():
            found[joint] = SX(self.held[joint])
            for name, gain in gains.items():
                found[joint] -= gain * away[name]
        return found

    def seen(self, q: SX, qd: SX, torques: Mapping[str, SX]) -> tuple[SX, SX]:
        """Torques and what sensors see, less where the gains are about."""
        assert self.estimator is not None, "one estimates"
        away = list(self._away(q, qd).values())
        u = (tau - self.held[joint] for joint, tau in torques.items())
        return casadi.vertcat(*u), casadi.vertcat(*(away[place] for place in self.estimator.seen))


@dataclass(frozen=True, eq=False)
class StateFeedback:
    """That of a file of gains for a robot; ``by`` is the joint whose place tells the posture, by its coordinate."""

    robot: Robot
    gains: Gains
    periodic: bool
    estimator: Estimator | None
    by: str = ""

    @property
    def estimated(self) -> Mapping[str, float]:
        """States that are, and where they are first."""
        return {} if self.estimator is None else dict(zip(self.estimator.states, self.estimator.at, strict=True))

    def along(self, t: SX) -> Fed:
        """At a time, on the way of the joints' motions."""
        if self.gains.over != CASE:
            return self._fed(t)
        motions = {j.driven: self.robot.motions[j.name] for j in self.robot.joints if j.name in self.robot.motions}
        n, places = self.robot.n, self._places
        over, rate, _ = motions[places[self.by]].derivatives(t)
        wanted = SX.sym("wanted")
        found = self._fed(wanted)
        at = {}
        for name, value in found.at.items():
            place = places[name]
            if place % n in motions:
                at[name] = motions[place % n].derivatives(t)[place // n]
            elif place < n:
                at[name] = value
            else:
                coordinate = found.at.get(self.robot.coordinates[place - n], SX(0))
                at[name] = casadi.jacobian(coordinate, wanted) * rate
        fed = Fed(places, at, found.held, found.K, self.estimator)
        return fed.told(wanted, over)

    def near(self, q: SX) -> Fed:
        """Those that hold at coordinates q, of rows over postures or of a single one: about an equilibrium."""
        return self._fed(q[self._places[self.by]] if self.by else SX(0))

    def commanded(self, joint: str) -> Motion:
        """Where a joint is to be."""
        place = next(each.driven for each in self.robot.joints if each.name == joint)
        values = self.gains.at.get(self.robot.coordinates[place], [0.0] * len(self.gains.rows))
        if self.gains.over == TIME:
            return self._curve(values)
        motion = self.robot.motions.get(joint) if self.gains.over == CASE else None
        return motion or constant(SX(values[0]))

    @property
    def left_alone(self) -> Sequence[str]:
        """Joints with gains whose motions nobody follows, since these are about one posture, or have their own way."""
        return [joint for joint in self.gains.K if joint in self.robot.motions and self.gains.over != CASE]

    @cached_property
    def _places(self) -> dict[str, int]:
        (rates,) = self.robot.derivative_names(["qd"]).values()
        return {name: place for place, name in enumerate((*self.robot.coordinates, *rates))}

    def _fed(self, over: SX) -> Fed:
        gains = self.gains

        def value(values: Sequence[float]) -> SX:
            if len(gains.rows) == 1 or min(values) == max(values):
                return SX(values[0])
            if gains.over == TIME:
                return self._curve(values).value(over)
            order = np.argsort(gains.at[self.by])
            rows = np.array(gains.at[self.by])[order]
            line = casadi.interpolant("rows", "linear", [rows], np.array(values)[order])
            return SX(line(casadi.fmin(casadi.fmax(over, rows[0]), rows[-1])))

        at, torques = ({name: value(each) for name, each in part.items()} for part in (gains.at, gains.torques))
        K = {joint: {name: value(each) for name, each in row.items()} for joint, row in gains.K.items()}
        return Fed(self._places, at, torques, K, self.estimator)

    def _curve(self, values: Sequence[float]) -> Motion:
        rows = tuple(self.gains.rows)
        if self.periodic:  # what is left of a rise, but for whole turns of joints, would be there in every period again
            places = [self.robot.coordinates[joint.driven] for joint in self.robot.joints if joint.revolute]
            turning = any(values is self.gains.at.get(name) for name in places)
            turns = math.tau * round((values[-1] - values[0]) / math.tau) if turning else 0.0
            return periodic_spline(rows, (*values[:-1], values[0] + turns))
        curve = spline(rows, tuple(values))
        return replace(curve, form=lambda t, _: curve.value(casadi.fmin(casadi.fmax(t, rows[0]), rows[-1])), held=True)


def state_feedback(robot: Robot, said: controlling.StateFeedback, others: Collection[str]) -> StateFeedback:
    """What the file has said. Raises DescriptionError where gains or a filter are not for this robot; ``others`` are
    joints that have another controller."""
    gains, taken = robot.description.tables[said.K].gains(), {*others, *robot.file.simulate.by_joint}
    (rates,) = robot.derivative_names(["qd"]).values()
    known, joints = dict.fromkeys((*robot.coordinates, *rates)), dict.fromkeys(joint.name for joint in robot.joints)
    wrong = Mistakes(said.K)
    for name in gains.at:
        if name not in known:
            told = f"no coordinate or rate {quote(name)} at order {robot.order}{wrong.guess(name, known)}"
            wrong.found.append(gains.mistake(name, told))
    for name in gains.K:
        if name not in joints:
            wrong.found.append(gains.mistake(name, f"no joint {quote(name)}{wrong.guess(name, joints)}"))
        elif name in taken:
            why = f"{quote(name)} has another controller or drive: one of them is wanted"
            wrong.found.append(gains.mistake(name, why))
    if said.periodic:
        wrong.found += _of_period(robot, gains)
    wrong.raise_mistakes()
    by = _by(robot, gains) if gains.over == CASE else ""
    return StateFeedback(robot, gains, said.periodic, _estimator(robot, said, gains), by)


def _of_period(robot: Robot, gains: Gains) -> list[Mistake]:
    """What of gains does not repeat, beside all columns of its kind: of joints that turn whole turns further on do not
    count."""
    if gains.over != TIME:
        return [gains.mistake(AT, f"rows over {TIME} (s) are wanted of gains that are periodic")]
    turning, wrong = [robot.coordinates[joint.driven] for joint in robot.joints if joint.revolute], list[Mistake]()
    places = set(robot.coordinates)
    kinds = [
        {name: values for name, values in gains.at.items() if name in places},
        {name: values for name, values in gains.at.items() if name not in places},
        gains.torques,
        *gains.K.values(),
    ]
    for columns in kinds:
        largest = max((abs(value) for values in columns.values() for value in values), default=0.0)
        for name, values in columns.items():
            rise = values[-1] - values[0]
            rise -= math.tau * round(rise / math.tau) if name in turning and columns is kinds[0] else 0.0
            if abs(rise) > PLACE * largest:
                wrong.append(gains.mistake(name, f"the last row of a period is the first again, {quote(name)} is not"))
    return wrong[:1]


def _by(robot: Robot, gains: Gains) -> str:
    """The coordinate of the first joint with a motion whose values rise, or fall, from posture to posture."""
    moving = [robot.coordinates[joint.driven] for joint in robot.joints if joint.name in robot.motions]
    for name in moving:
        steps = [after - before for before, after in pairwise(gains.at.get(name, ()))]
        if steps and (min(steps) > 0 or max(steps) < 0):
            return name
    wanted = "gains of several postures want a joint with a motion whose values rise, or fall, from row to row"
    raise_all([gains.mistake(AT, f"{wanted}; motions have {', '.join(moving) or 'no joint'}")])
    return ""


def _estimator(robot: Robot, said: controlling.StateFeedback, gains: Gains) -> Estimator | None:
    """The file's filter, with the states in the order of the gains. Raises DescriptionError where it is for others."""
    if said.estimator is None:
        return None
    found, states, joints = robot.description.tables[said.estimator].filter(), [*gains.at], [*gains.K]
    if gains.over:
        raise_all([found.mistake(AT, f"a filter goes with gains about one posture, those of {said.K} change")])
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
        for name, (at,) in gains.at.items()
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
    at = np.array([value for (value,) in gains.at.values()])
    return Estimator(states, at, F, B, L, seen, noise, number(said.seed))
