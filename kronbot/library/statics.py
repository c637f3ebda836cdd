"""The question ``statics``: the sweep of the file or another one, with other loads, torques and calibration."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kronbot.description import schema
from kronbot.description.expressions.expression import Expression, parse
from kronbot.description.wording import did_you_mean, quote
from kronbot.errors import Argument, ComputationError, UsageError
from kronbot.library import arguments
from kronbot.library.arguments import Scalar
from kronbot.library.values import Values, by_place, joint_values, joints_only, places_of, points
from kronbot.mechanics.static.static_model import PURPOSE
from kronbot.model.robot import Robot
from kronbot.questions import statics
from kronbot.questions.buckling import buckling
from kronbot.questions.comparison import at_orders
from kronbot.questions.load_cases import Case, Sweep
from kronbot.questions.result import Outcome, Result
from kronbot.questions.statics import Equilibria, Inquiry

Vectors = Sequence[Sequence[Scalar]]
SOLVERS = statics.SOLVERS
NEWTON = Argument("solver", "newton")
Loads = Iterable[tuple[str, object]]


@dataclass(frozen=True)
class Asked:
    """A sweep for one robot: what acts on it in every case, and the cases."""

    robot: Robot
    entry: schema.Statics
    inquiry: Inquiry

    def answer(self, progress: Callable[[float], None]) -> Outcome:
        """Equilibria of all cases, or of those before the first that has none."""
        return statics.statics(self.robot, self.entry, self.inquiry, progress)

    def at_orders(self, orders: Sequence[str], progress: Callable[[float], None]) -> dict[str, Outcome]:
        """The same cases at several kinematic orders, by order."""
        return at_orders(self.robot, self.entry, self.inquiry, orders, progress)

    def with_buckling(self, progress: Callable[[float], None]) -> Outcome:
        """The answer to one case with the smallest multiple of the loads that makes the stiffness singular.

        Where that is less than the load there is no equilibrium to report, and the answer is that factor. Raises
        UsageError where there is more than one case.
        """
        cases = self.inquiry.cases
        if len(cases) != 1:
            raise UsageError(f"buckling is for one case, not {len(cases)}: ", *_one_case(self.robot, cases))
        borne = buckling(Equilibria(self.robot, self.entry), cases[0], self.inquiry.solver)
        try:
            outcome = self.answer(progress)
        except ComputationError:
            factor = borne.get("buckling_factor")
            if not isinstance(factor, float) or factor > 1:
                raise
            summary: dict[str, Scalar] = {"complete": True, "cases": 0, "solver": self.inquiry.solver}
            summary["equilibrium"] = f"none under the whole load: the path ends at {factor:.4g} of it"
            outcome = Outcome(
                Result(PURPOSE, self.robot.name, self.robot.order, {}, {}, {}, summary, about=self.robot), None
            )
        return replace(outcome, result=replace(outcome.result, summary={**outcome.result.summary, **borne}))


def ask(
    robot: Robot,
    q: Values | None,
    angles: Mapping[str, Sequence[Scalar]],
    forces: Vectors | None,
    moments: Vectors | None,
    loads: Loads,
    distributed: Loads,
    tau: Values | None,
    calibration: Values | None,
    solver: str,
) -> Asked:
    """The sweep that these values ask for; the file's where they are silent.

    ``q`` places joints (those it names are not swept, the others keep the file's sweep; rows of it are the postures of
    the sweep), ``angles`` replaces the file's sweep, ``forces`` or ``moments`` its loads on the endpoint; ``loads`` and
    ``distributed`` come on top. Modal coordinates of ``q`` are where the search for those of an equilibrium begins.
    Joints with a torque in ``tau`` are free. Raises UsageError for names that are not there and values that do not fit.
    """
    places, batch = points(robot, {"q": q})
    torques = joints_only(robot, by_place(robot, tau, "tau"), "tau")
    if torques and solver == "linear":
        raise UsageError("the linear solver is about given angles: leave out ", Argument("tau"), ", or take ", NEWTON)
    if solver == "linear" and places["q"][:, list(robot.flexible)].any():
        raise UsageError("the linear solver finds deflections from straight beams: give joints only, or take ", NEWTON)
    rows = arguments.pairs(angles, "angles")
    places_of(robot, list(rows), "angles")
    swept = {name: _angles(robot, row, f"angles of {name}") for name, row in rows.items()}
    of_file = Sweep.of_file(robot)
    if batch and swept:
        raise UsageError("rows are the postures of the sweep: leave out ", Argument("angles"), ", or the rows")
    given = range(robot.n) if batch else by_place(robot, q, "q")
    named = {joint.name for joint in robot.joints if joint.index in given}
    kept = {name: row for name, row in of_file.angles.items() if name not in named and not swept}
    if forces is None and moments is None:
        sweep = Sweep(kept | swept, of_file.forces, of_file.moments)
    else:
        sweep = Sweep(kept | swept, _vectors(robot, forces, "forces"), _vectors(robot, moments, "moments"))
    entry = robot.file.statics or schema.Statics()
    entry = replace(
        entry,
        loads=entry.loads + tuple(_load(robot, *each) for each in loads),
        distributed=entry.distributed + tuple(_distributed(robot, *each) for each in distributed),
    )
    zero = joint_values(robot, calibration, "calibration")
    if zero is None and entry.calibration is not None:
        zero = statics.calibration_angles(robot, entry.calibration)
    cases = sweep.cases(robot, places["q"], torques)
    return Asked(robot, entry, Inquiry(cases, solver, zero))


def _one_case(robot: Robot, cases: Sequence[Case]) -> list[str | Argument]:
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


def _angles(robot: Robot, row: object, word: str) -> list[float]:
    found = arguments.array(arguments.entries(row, word), robot.description.values, word, 1)
    if not len(found):
        raise UsageError(f"{word}: no value is given")
    return [float(value) for value in found]


def _vectors(robot: Robot, rows: Vectors | None, word: str) -> list[list[float]]:
    found = [] if rows is None else arguments.entries(rows, word)
    if len(found) == 3 and not any(map(arguments.is_list, found)):
        raise UsageError(f"{word}: a list of vectors is wanted, [[x, y, z]] where there is one")
    return [arguments.numbers(row, robot.description.values, word, (3,)) for row in found]


def _load(robot: Robot, frame: str, row: object) -> schema.Load:
    numbers = arguments.numbers(row, robot.description.values, f"load on {frame}", (3, 6))
    fx, fy, fz, mx, my, mz = map(_expression, [*numbers, 0.0, 0.0, 0.0][:6])
    return schema.Load(frame, (fx, fy, fz), (mx, my, mz))


def _distributed(robot: Robot, link: str, row: object) -> schema.DistributedLoad:
    beams = [each.name for each in robot.links if each.beam is not None]
    if link not in beams:
        hint = did_you_mean(link, beams) or f"; flexible links are {', '.join(beams) or 'none'}"
        raise UsageError(f"distributed: no flexible link {quote(link)}{hint}")
    numbers = arguments.numbers(row, robot.description.values, f"distributed load on {link}", (3,))
    fx, fy, fz = map(_expression, numbers)
    return schema.DistributedLoad(link, (fx, fy, fz))


def _expression(value: float) -> Expression:
    return parse(repr(value))
