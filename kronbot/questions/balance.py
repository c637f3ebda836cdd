"""Equilibria that linear models are about: joints as given, beams in balance with gravity, a force and steady spin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kronbot.compute.trace import Rows, Trace
from kronbot.description import schema
from kronbot.errors import Argument, ComputationError
from kronbot.floats import Array
from kronbot.mechanics.static.equilibria import Case, Equilibria
from kronbot.mechanics.static.equilibrium import Ends, Lost, Path, Paths, metric, touching
from kronbot.mechanics.static.static_model import PURPOSE
from kronbot.model.floating import hung
from kronbot.model.robot import Robot
from kronbot.questions import path_end
from kronbot.records import dataclass


@dataclass(frozen=True)
class Unbalanced:
    """A point q, qd (n,) with a force (3,) from which a path leads to no equilibrium, and where it ends."""

    q: Array
    qd: Array
    force: Array
    path: Path
    lost: Lost

    def told(self, robot: Robot, purpose: str) -> ComputationError:
        """Where the path ended, and what to try."""
        cures: list[str | Argument] = ["other values of the joints"]
        for word, given, cure in (("qd", self.qd, "lower rates"), ("force", self.force, "a smaller force")):
            cures += [f", {cure} (", Argument(word), ")"] if given.any() else []
        return ComputationError(
            f"{', '.join(path_end.posture(robot, self.q[list(robot.rigid)]))}: ",
            f"{path_end.told(robot, self.path, self.q, self.lost, 'load', purpose)}; try ",
            *cures,
            *path_end.other_order(robot, self.lost, purpose),
        )


def balanced(
    robot: Robot, trace: Trace, q: Array, qd: Array, qdd: Array, force: Array, purpose: str
) -> tuple[Array, Mapping[int, Unbalanced]]:
    """Equilibria (N, n) that points (N, n) lead to, by a trace of forces h and stiffness K, and those without, by row.

    Each path starts where constraint forces hold the modal coordinates, and lets these fade: of straight beams at the
    equilibrium of statics, to which a growing load leads, so that spin and force alone are left to balance; of others
    at their point. Where a path ends on the way the other one of these starts is tried; where that one ends, too, the
    point stays.
    """
    modal, still = sorted([*robot.flexible, *hung(robot)]), np.zeros((len(q), len(robot.joints)))
    if not modal:
        return q, {}

    def at(rows: Rows, q: Array) -> Mapping[str, Array]:
        return trace.of_some(rows).rows(q, qd[rows], qdd[rows], still[rows], force[rows])

    def balance(rows: Rows, q: Array, share: Array) -> tuple[Array, Array, Array]:
        values = at(rows, q)
        K = values["K"].reshape(len(q), robot.n, robot.n)[:, modal][:, :, modal]
        return (1 - share[:, None]) * held[rows] - values["h"][:, modal], K, K

    sags = _sagging(robot, q)
    straight = (q == robot.undeformed(q))[:, modal].all(axis=1)
    paths = Paths(balance, modal, metric(robot, modal, purpose), touching(robot, purpose))
    held = np.zeros((len(q), len(modal)))
    ends = Ends(q.copy(), np.zeros(len(q)), np.ones(len(q), dtype=bool))
    # Of what is lost from everywhere the path from the point is told.
    for start, chosen in ((sags.q, straight & ~sags.lost), (q, True), (sags.q, ~straight & ~sags.lost), (q, True)):
        rows = np.flatnonzero(chosen & ends.lost)
        held[rows] = at(rows, start[rows])["h"][:, modal]
        ends.put(rows, paths.follow(rows, start[rows], 0.0, 1.0))
    lost = {
        row: Unbalanced(q[row], qd[row], force[row], paths.of(row), Lost(float(ends.shares[row]), ends.q[row]))
        for row in np.flatnonzero(ends.lost).tolist()
    }
    return np.where(ends.lost[:, None], q, ends.q), lost


def _sagging(robot: Robot, q: Array) -> Ends:
    """The equilibria of statics under weight and elements at joints of q (N, n)."""
    equilibria, joints, base = Equilibria(robot, schema.Statics()), list(robot.rigid), list(robot.base)
    cases = [Case(each[joints], np.zeros(6), hung(robot), np.zeros(robot.n), each[base]) for each in q]
    return equilibria.newton(equilibria.cases(cases))


def let_go(robot: Robot, q: Array, joints: Sequence[int]) -> Array:
    """The equilibrium (n,) under weight and elements that joints, by place, come to from q (n,) as their torques fade.

    Others are held. Raises ComputationError where no stable path leads to one.
    """
    equilibria, torques = Equilibria(robot, schema.Statics()), {**dict.fromkeys(joints, 0.0), **hung(robot)}
    case = Case(q[list(robot.rigid)], np.zeros(6), torques, np.zeros(robot.n), q[list(robot.base)])
    cases = equilibria.cases([case])
    try:
        return equilibria.newton(cases).of(0)
    except Lost as lost:
        path, way = equilibria.paths(cases.loads, list(robot.flexible)).of(0), path_end.way(equilibria, case)
        ended = f"{path_end.told(robot, path, cases.straight[0], lost, way, PURPOSE)}; try other values of the joints"
        where = ", ".join(path_end.posture(robot, case.angles)) or robot.name
        raise ComputationError(f"{where}: ", *(path_end.loose(equilibria, case, lost) or [ended])) from None
