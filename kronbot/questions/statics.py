"""The question ``statics``: Piedboeuf's endpoint test for any robot, one row a case."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from kronbot.cached import cached_property
from kronbot.compute.arrays import Array as Named
from kronbot.compute.arrays import Scalar
from kronbot.compute.trace import Trace
from kronbot.description import schema
from kronbot.description.expressions.expression import Expression
from kronbot.errors import Argument, ComputationError
from kronbot.mechanics.multibody.rotations import along, axial
from kronbot.mechanics.static.compliance import compliance
from kronbot.mechanics.static.equilibrium import Lost, Path, metric
from kronbot.mechanics.static.small import beyond_small
from kronbot.mechanics.static.static_model import PURPOSE, StaticModel
from kronbot.mechanics.static.tangent import Tangent
from kronbot.model.build import build
from kronbot.model.robot import Link, Robot
from kronbot.questions import path_end
from kronbot.questions.columns import units_of
from kronbot.questions.keeping import gathered, kept
from kronbot.questions.limits import passings, told_at
from kronbot.questions.load_cases import Case
from kronbot.questions.result import Outcome, Result
from kronbot.system.interruption import Interruptions

Array = npt.NDArray[np.float64]

SOLVERS = ("newton", "linear")
FULL = np.ones(2)
WRENCH = ("force.x", "force.y", "force.z", "moment.x", "moment.y", "moment.z")
REACTION = ("fx", "fy", "fz", "mx", "my", "mz")


@dataclass(frozen=True)
class Inquiry:
    """What is asked: the cases, the solver, and the angles of joints at which gauges are set to zero, if any."""

    cases: Sequence[Case]
    solver: str
    calibration: Array | None


@dataclass(frozen=True)
class Equilibria:
    """The static model of a robot at one order with its numbers, able to find equilibria."""

    robot: Robot
    statics: schema.Statics

    @cached_property
    def model(self) -> StaticModel:
        """The traced model."""
        return StaticModel.of(self.robot, self.statics)

    @cached_property
    def balance(self) -> Trace:
        """Forces, stiffness and endpoint Jacobian."""
        return self.model.balance()

    def stiffness(self, q: Array, wrench: Array, shares: Array, free: list[int]) -> tuple[Array, Array]:
        """Forces F (n,) and the rows and columns of dF/dq that belong to the free coordinates."""
        values = self.balance(q, wrench, shares)
        return values["F"], values["K"].reshape(self.robot.n, self.robot.n)[np.ix_(free, free)]

    def tangent(self, q: Array, case: Case) -> Tangent:
        """The stiffness of the coordinates that are free in a case, under its whole load."""
        free = sorted([*self.robot.flexible, *case.torques])
        return Tangent(self.stiffness(q, case.wrench, FULL, free)[1], metric(self.robot, free, PURPOSE))

    def path(self, wrench: Array, free: list[int], shares: Callable[[float], Array]) -> Path:
        """Equilibria of the free coordinates while gravity and loads have the given shares."""

        def balance(q: Array, share: float) -> tuple[Array, Array]:
            F, K = self.stiffness(q, wrench, shares(share), free)
            return F[free], K

        return Path(balance, free, metric(self.robot, free, PURPOSE))

    def newton(self, case: Case) -> Array:
        """The equilibrium (n,) that the growing load, or the start, leads to; then joints with torques are let go.

        Raises Lost where there is none on the way.
        """
        modal = list(self.robot.flexible)
        q = self._placed(case)
        if case.start[modal].any():
            q = self._released(q, case, modal)
        else:
            q = self.path(case.wrench, modal, lambda share: share * FULL).follow(q, 0.0, 1.0)
        return self._released(q, case, sorted([*modal, *case.torques])) if case.torques else q

    def _released(self, q: Array, case: Case, free: list[int]) -> Array:
        """The equilibrium (n,) that the free coordinates reach from q while the forces that hold them there fade."""
        given = np.array([case.torques.get(place, 0.0) for place in free])
        holding = self.stiffness(q, case.wrench, FULL, free)[0][free]

        def balance(q: Array, share: float) -> tuple[Array, Array]:
            F, K = self.stiffness(q, case.wrench, FULL, free)
            return F[free] - (1 - share) * holding - share * given, K

        return Path(balance, free, metric(self.robot, free, PURPOSE)).follow(q, 0.0, 1.0)

    def linear(self, case: Case) -> Array:
        """Modal coordinates of one solve: the forces kept to first order in q_f about 0, Piedboeuf (39)-(42)."""
        modal = list(self.robot.flexible)
        q = self._placed(replace(case, start=np.zeros(self.robot.n)))
        F, K = self.stiffness(q, case.wrench, FULL, modal)
        if modal:
            q[modal] = np.linalg.solve(K, -F[modal])
        return q

    def _placed(self, case: Case) -> Array:
        q = case.start.copy()
        q[[joint.index for joint in self.robot.joints]] = case.angles
        return q


def statics(robot: Robot, statics: schema.Statics, inquiry: Inquiry, progress: Callable[[float], None]) -> Outcome:
    """Equilibria of a robot, one row a case; for a single case also the compliance of the endpoint.

    What there is when a case has no equilibrium or the user interrupts is reported, marked incomplete. Raises
    UsageError where a parameter has no value.
    """
    return kept(lambda met: _statics(robot, statics, inquiry, progress, met))


def _statics(
    robot: Robot, statics: schema.Statics, inquiry: Inquiry, progress: Callable[[float], None], met: Interruptions
) -> Outcome:
    linear = inquiry.solver == "linear"
    with met.heard():
        # The linear statics of the exact rod is that of order 2, whose terms are its expansion.
        solved = build(robot.description, "2", robot.parameters) if linear and robot.order == "exact" else robot
        equilibria = Equilibria(solved, statics)
        trace = equilibria.model.linear_report() if linear else equilibria.model.report()
        at_rest = None
        if inquiry.calibration is not None:  # before the rows, which an error would lose
            still = Case(inquiry.calibration, np.zeros(6), {}, np.zeros(robot.n))
            bare = Equilibria(solved, replace(statics, loads=(), distributed=()))
            at_rest = trace(_solved(bare, still, linear, "calibration: "), np.zeros(6), FULL)
    count = len(inquiry.cases)

    def solutions() -> Iterator[Array]:
        for i, case in enumerate(inquiry.cases):
            yield _solved(equilibria, case, linear, f"case {i + 1}: " if count > 1 else "")
            progress((i + 1) / count)

    states, error = gathered(met, solutions(), lambda found: f"interrupted after {len(found)} of {count} cases")
    done = inquiry.cases[: len(states)]
    q = np.array(states)
    wrenches = np.array([case.wrench for case in done])
    rows = trace.rows(q, wrenches, np.tile(FULL, (len(done), 1)))
    series = _series(solved, statics, q, wrenches, rows, at_rest)
    beyond = int(beyond_small(solved, q, PURPOSE).sum())
    summary: dict[str, Scalar] = {"complete": error is None, "cases": len(done), "solver": inquiry.solver}
    if any(case.start.any() for case in inquiry.cases):
        summary["start"] = "the modal coordinates given; what is told are those of the equilibrium they lead to"
    if beyond:
        summary["cases_beyond_small_deflections"] = beyond
    arrays: dict[str, Named] = {}
    start: dict[str, dict[str, float]] = {}
    if len(inquiry.cases) == 1:
        case = done[0]
        free = sorted([*robot.flexible, *case.torques])
        place = equilibria._placed(case) if linear else q[0]
        values = equilibria.balance(place, case.wrench, FULL)
        K = values["K"].reshape(robot.n, robot.n)[np.ix_(free, free)]
        arrays, found = compliance(K, values["J"].reshape(6, robot.n)[:, free])
        summary |= _stability(equilibria.tangent(place, case).stability) | found
        start = {"q": dict(zip(solved.coordinates, q[0].tolist(), strict=True))}
    elif not linear:
        summary |= _unstable(equilibria, done, states)
    units = units_of(robot, series)
    told = [f"{each} by up to {each.amount}, first in case {each.first + 1}" for each in passings(solved, q)]
    if len(inquiry.cases) == 1:
        told = told_at(solved, q[0])
    return Outcome(
        Result(
            PURPOSE,
            robot.name,
            robot.order,
            start,
            arrays,
            series,
            summary,
            told,
            units=units,
            about=robot,
            asked=(statics, inquiry),
        ),
        error,
    )


def _solved(equilibria: Equilibria, case: Case, linear: bool, where: str) -> Array:
    """The equilibrium q (n,) of a case. Raises ComputationError that begins with where there is none."""
    try:
        return equilibria.linear(case) if linear else equilibria.newton(case)
    except np.linalg.LinAlgError:
        why = ": the stiffness is singular, there is no linear answer"
        raise ComputationError(where, _named(equilibria.robot, case), why) from None
    except Lost as lost:
        raise ComputationError(where, *_lost(equilibria, case, lost).args) from None


def sag(robot: Robot, angles: Array) -> Array:
    """The equilibrium q (n,) of the beams under gravity alone, at joint values (joints,) that something holds.

    Raises ComputationError where there is none on the way from straight beams, UsageError where a parameter is free.
    """
    equilibria = Equilibria(robot, schema.Statics())
    case = Case(angles, np.zeros(6), {}, np.zeros(robot.n))
    try:
        return equilibria.newton(case)
    except Lost as lost:
        raise ComputationError(
            f"no equilibrium to start in: {_named(robot, case)}: {_end(equilibria, case, lost, 'weight')}; ",
            Argument("start", "straight"),
            " does without; or give the joints other first values",
            *path_end.other_order(robot),
        ) from None


def _series(
    robot: Robot,
    statics: schema.Statics,
    q: Array,
    wrenches: Array,
    rows: Mapping[str, Array],
    at_rest: Mapping[str, Array] | None,
) -> dict[str, Array]:
    """The columns in the order of the contract (design section 7)."""
    series = {f"angle.{joint.name}": q[:, joint.index] for joint in robot.joints}
    series |= dict(zip(WRENCH, wrenches.T, strict=True))
    series |= {f"torque.{joint.name}": rows["forces"][:, joint.index] for joint in robot.joints}
    if "quadratic" in rows:
        series |= {f"torque_quadratic.{joint.name}": rows["quadratic"][:, joint.index] for joint in robot.joints}
    words = ("twist", "curvature_y", "curvature")
    for gauge in statics.gauges:
        values = rows[f"gauge {gauge.name}"]
        series |= {f"{word}.{gauge.name}": values[:, i] for i, word in reversed(list(enumerate(words)))}
        if at_rest is not None:
            zero = at_rest[f"gauge {gauge.name}"]
            relative = {f"{word}_relative.{gauge.name}": values[:, i] - zero[i] for i, word in enumerate(words)}
            series |= dict(reversed(relative.items()))
    for link, places, turns in _tips(robot, rows):
        series |= {f"tip.{link.name}.{axis}": places[:, i] for i, axis in enumerate("xyz")}
        series |= {f"tip.{link.name}.r{axis}": turns[:, i] for i, axis in enumerate("xyz")}
    for word in ("endpoint", "displacement", "displacement_hub"):
        series |= {f"{word}.{axis}": rows[word][:, i] for i, axis in enumerate("xyz")}
    series |= {f"reaction.{axis}": rows["reaction"][:, i] for i, axis in enumerate(REACTION)}
    series["energy.elastic"] = rows["elastic"][:, 0]
    return series | {robot.coordinates[place]: q[:, place] for place in robot.flexible}


def _tips(robot: Robot, rows: Mapping[str, Array]) -> Iterator[tuple[Link, Array, Array]]:
    """Displacements and rotation vectors (cases, 3) of the tip of every beam, in its root frame."""
    for link in robot.links:
        if link.beam is not None:
            places = rows[f"tip {link.name}"]
            turns = rows[f"turns {link.name}"].reshape(len(places), 3, -1, 3).transpose(0, 2, 1, 3)
            vectors = axial(turns[:, -1]) if "quadratic" in rows else np.array([along(each)[-1] for each in turns])
            yield link, places, vectors


def _stability(word: str) -> dict[str, Scalar]:
    """``stable`` of a single case, or why it is not told."""
    return {"stability": word} if word.startswith("undecided") else {"stable": word == "stable"}


def _unstable(equilibria: Equilibria, cases: Sequence[Case], states: Sequence[Array]) -> dict[str, Scalar]:
    """The number of equilibria that a disturbance leaves, and of those that may be such, where there are any."""
    words = [equilibria.tangent(q, case).stability.partition(":")[0] for case, q in zip(cases, states, strict=True)]
    return {f"{word}_cases": words.count(word) for word in ("unstable", "undecided") if word in words}


def _named(robot: Robot, case: Case) -> str:
    """A case by its angles and loads."""
    loads = [f"{name} = {value:.4g}" for name, value in zip(WRENCH, case.wrench, strict=True) if value]
    return ", ".join([*path_end.posture(robot, case.angles), *loads])


def _lost(equilibria: Equilibria, case: Case, lost: Lost) -> ComputationError:
    """Where the path of equilibria ended, and what to try."""
    robot = equilibria.robot
    return ComputationError(
        f"{_named(robot, case)}: {_end(equilibria, case, lost, 'torque' if case.torques else 'load')}; ",
        "try a smaller load",
        *path_end.other_order(robot),
        ", other angles, or ",
        Argument("buckling"),
        " to see what it bears",
    )


def _end(equilibria: Equilibria, case: Case, lost: Lost, what: str) -> str:
    path = equilibria.path(case.wrench, list(equilibria.robot.flexible), lambda share: share * FULL)
    straight = equilibria._placed(replace(case, start=np.zeros(equilibria.robot.n)))
    return path_end.told(equilibria.robot, path, straight, lost, what, PURPOSE)


def calibration_angles(robot: Robot, entry: Mapping[str, Expression]) -> Array:
    """Joint angles (joints,) of the file's calibration; joints that it does not name are at 0."""
    values = [
        robot.parameters.value(entry[joint.name], "statics.calibration") if joint.name in entry else 0.0
        for joint in robot.joints
    ]
    return np.array(values)
