"""The load cases of a statics sweep: every combination of joint angles with every load on the endpoint."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, product
from typing import Any

import numpy as np

from kronbot.description.expressions.expression import Expression
from kronbot.description.limits import CASES
from kronbot.errors import Argument, UsageError
from kronbot.floats import Array
from kronbot.mechanics.multibody.kinematics import demand_told_apart
from kronbot.mechanics.static.equilibria import Case
from kronbot.model.floating import hung
from kronbot.model.robot import Robot
from kronbot.questions.outline import Given
from kronbot.records import dataclass


@dataclass(frozen=True)
class Sweep:
    """Angles by joint (rad or m), and forces (N) and moments (N m) on the endpoint, paired by index (base frame)."""

    angles: Mapping[str, Sequence[float]]
    forces: Sequence[Sequence[float]]
    moments: Sequence[Sequence[float]]

    @staticmethod
    def of_file(robot: Robot) -> Sweep:
        """The sweep of the robot file, of one case where it has none. Raises UsageError for angles far too large."""
        entry = robot.file.statics

        def numbers(expressions: Iterable[Expression], place: str) -> Array:
            return np.array([robot.parameters.value(each, place) for each in expressions])

        places = {joint.name: joint.driven for joint in robot.joints}
        angles = {joint: numbers(values, f"statics.angles.{joint}") for joint, values in entry.angles.items()}
        for joint, values in angles.items():
            demand_told_apart(robot, values[:, None], [places[joint]], "statics.angles")
        return Sweep(
            {joint: values.tolist() for joint, values in angles.items()},
            numbers(chain(*entry.forces), "statics.forces").reshape(-1, 3).tolist(),
            numbers(chain(*entry.moments), "statics.moments").reshape(-1, 3).tolist(),
        )

    def cases(self, robot: Robot, q: Array, torques: Mapping[int, float]) -> list[Case]:
        """Every angle with every load: first joint slowest, loads fastest.

        q (N, n) are places of the joints that are not swept, rows the slowest. Raises UsageError where forces and
        moments do not pair, or for too many cases.
        """
        loads = max(len(self.forces), len(self.moments), 1)
        forces, moments = (self._repeated(rows, loads) for rows in (self.forces, self.moments))
        joints = [joint.name for joint in robot.joints]
        count = len(q) * loads * int(np.prod([len(values) for values in self.angles.values()], dtype=float))
        if count > CASES:
            raise UsageError(f"{count} cases are too many; {CASES} is the limit")
        for name in self.angles:
            if name not in joints:
                raise UsageError(f"no joint {name!r}; joints are {', '.join(joints)}")
        start, torques = q - robot.undeformed(q), {**torques, **hung(robot)}
        return [
            Case(np.array(chosen, dtype=float), np.array([*force, *moment], dtype=float), torques, begun, base)
            for row, begun, base in zip(q, start, q[:, list(robot.base)], strict=True)
            for chosen in product(*(self.angles.get(joint.name, [row[joint.driven]]) for joint in robot.joints))
            for force, moment in zip(forces, moments, strict=True)
        ]

    @staticmethod
    def _repeated(rows: Sequence[Sequence[float]], count: int) -> Sequence[Sequence[float]]:
        if len(rows) == count:
            return rows
        if len(rows) > 1:
            raise UsageError(f"{count} forces and moments do not pair with {len(rows)}: as many, or one of them")
        return [rows[0] if rows else (0.0, 0.0, 0.0)] * count


def calibration_angles(robot: Robot, entry: Mapping[str, Expression]) -> Array:
    """Joint angles (joints,) of the file's calibration; joints that it does not name are at 0.

    Raises UsageError like :meth:`Sweep.of_file`.
    """
    values = [
        robot.parameters.value(entry[joint.name], "statics.calibration") if joint.name in entry else 0.0
        for joint in robot.joints
    ]
    demand_told_apart(robot, np.array(values), robot.rigid, "statics.calibration")
    return np.array(values)


def telling(robot: Robot, given: Given) -> list[str]:
    """Columns that tell the cases of one answer apart: those of joints and loads that are given several values."""
    try:
        listed = _listed(robot, {word: values[0] for word, values in given.items() if values})
        return [name for name, values in listed.items() if len(set(map(repr, values))) > 1]
    except (AttributeError, TypeError, ValueError):  # values of another kind, which the question refuses
        return []


def _listed(robot: Robot, given: Mapping[str, Any]) -> dict[str, Sequence[object]]:
    """The values of joints and loads by column, as they are given or as the file says."""
    entry, joints = robot.file.statics, [joint.name for joint in robot.joints]
    q = given.get("q") or {}
    if isinstance(q, list):
        columns = [list(column) for column in zip(*q, strict=True)] if isinstance(q[0], list) else q
        q = dict(zip(robot.coordinates if len(columns) == robot.n else joints, columns, strict=True))
    rows = {name: column for name, column in q.items() if isinstance(column, list)}
    of_file = {name: values for name, values in entry.angles.items() if name not in q}
    angles = rows or given.get("angles") or of_file
    told = {f"angle.{name}": angles[name] for name in joints if name in angles}
    silent = not {"forces", "moments"} & given.keys()
    for word in ("forces", "moments"):
        vectors = getattr(entry, word) if silent else given.get(word, ())
        entries = zip(*vectors, strict=True)
        told |= {f"{word[:-1]}.{axis}": values for axis, values in zip("xyz", entries, strict=False)}
    return told


def one_case(robot: Robot, cases: Sequence[Case]) -> list[str | Argument]:
    """What makes a sweep more than one case, and what makes it one again."""
    told: list[str | Argument] = []
    angles, wrenches = np.array([case.angles for case in cases]), np.array([case.wrench for case in cases])
    for joint, column in zip(robot.joints, angles.T, strict=True):
        if count := len(np.unique(column)) - 1:
            told += [f"{joint.name} has {count + 1} values (", Argument("q", f"{joint.name}=..."), " gives it one), "]
    for word, columns in (("forces", wrenches[:, :3]), ("moments", wrenches[:, 3:])):
        if count := len(np.unique(columns, axis=0)) - 1:
            told += [f"there are {count + 1} {word} on the endpoint (", Argument(word, "x,y,z"), " gives one), "]
    if not told:
        return ["they are alike: leave out all but one"]
    return [*told[:-1], str(told[-1]).removesuffix(", ")]
