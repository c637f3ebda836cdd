"""What ``statics`` tells of equilibria: the columns, and of a single case its compliance and stability."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from kronbot.cached import cached_property
from kronbot.compute.arrays import NamedArray, Scalar
from kronbot.compute.deferred import later, summary_later
from kronbot.compute.trace import Trace
from kronbot.description import schema
from kronbot.errors import KronbotError, UsageError
from kronbot.floats import Array
from kronbot.mechanics.linear.rounding import without_dust
from kronbot.mechanics.multibody.rotations import along
from kronbot.mechanics.static.compliance import DIRECTIONS, UNITS, yielding
from kronbot.mechanics.static.equilibria import Case, Cases, Equilibria, Given, whole
from kronbot.mechanics.static.equilibrium import solved
from kronbot.mechanics.static.small import beyond_small
from kronbot.mechanics.static.static_model import PURPOSE
from kronbot.mechanics.static.tangent import NEGATIVE, SOFT, Flags, Tangent
from kronbot.model.floating import hung
from kronbot.model.robot import Link, Robot
from kronbot.questions import path_end
from kronbot.questions.columns import REACTION, WRENCH, series_of_elements, units_of
from kronbot.questions.elements import demand_directions, told_of_time
from kronbot.questions.limits import told_of_pressing, told_of_rows
from kronbot.questions.outputs import beside, columns
from kronbot.questions.outputs import series as of_outputs
from kronbot.questions.result import Outcome, Result
from kronbot.questions.stops import told_of_contacts, told_of_edges
from kronbot.records import dataclass

# Forces on a floating base below this share of the largest force are rounding.
SUPPORTED = 1e-9
# What is said of a floating base that nothing holds.
HELD = "held: compliance, stability and buckling are those with a base that stands; free it yields to every force"


@dataclass(frozen=True)
class Inquiry:
    """What is asked: the cases, the solver, joint angles at which gauges are set to zero, if any, further loads,
    outputs beside the columns that are always there, and whether ``buckling`` loads.
    """

    cases: Sequence[Case]
    solver: str
    calibration: Array | None
    given: Given = Given()
    outputs: tuple[str, ...] = ()
    buckling: bool = False


@dataclass(frozen=True)
class Report:
    """Equilibria q (N, n) of cases and what is told of them, evaluated when it is asked for.

    Of many robots side by side, as :func:`kronbot.model.build.together` has them, each has a row of its own.
    """

    equilibria: Equilibria
    cases: Cases
    q: Array
    linear: bool
    outputs: tuple[str, ...]

    @cached_property
    def rows(self) -> Mapping[str, Array]:
        """What the columns are made of."""
        traces = trace_of(self.equilibria, self.linear), outputs_of(self.equilibria, self.linear, self.outputs)
        found: dict[str, Array] = {}
        for trace in traces:
            if trace is not None:
                points = [self.q, self.cases.loads, self._whole, *self._about]
                found |= without_dust(trace, points, trace.rows(*points))
        if "coupling" in found:
            driven = [joint.driven for joint in self.equilibria.robot.joints]
            found["quadratic"][:, driven] += self._coupled(found["coupling"], found["second"])
        return found

    @property
    def _about(self) -> list[Array]:
        """Where linear statics has a base that elements hold (N, 6 or 0) before it moves."""
        return [self.cases.straight[:, list(hung(self.equilibria.robot))]] if self.linear else []

    def _coupled(self, coupling: Array, second: Array) -> Array:
        """What deflections of second order (N, m) add to torques (N, joints) of the linear statics."""
        q, cases = self.cases.straight, self.cases
        K = self.equilibria.stiffness(q, cases.loads, self._whole, cases.free)[1]
        further = solved(K, -second.reshape(len(q), -1))
        return np.asarray((coupling.reshape(len(q), -1, K.shape[-1]) @ further[:, :, None])[:, :, 0])

    @cached_property
    def tangent(self) -> Tangent:
        """The stiffness there; that of linear statics is about straight beams."""
        return self.equilibria.tangent(self.place, self.cases)

    @cached_property
    def stability(self) -> npt.NDArray[np.str_]:
        """What a disturbance makes of each."""
        told = self.tangent.stability
        return told if self._scaled is None else np.where(self._scaled[1], NEGATIVE, told)

    @property
    def soft(self) -> Flags:
        """Whether a direction has no stiffness."""
        return np.char.endswith(self.stability, SOFT)

    @cached_property
    def J(self) -> Array:
        """Jacobians of the endpoint (N, 6, m) by the free coordinates, those of the tangent."""
        rows = self.equilibria.model.endpoint().rows(self.place, self.cases.loads, self._whole)["J"]
        J = rows.reshape(len(self.q), 6, -1)[:, :, self.cases.free]
        return J if self._scaled is None else J @ self._scaled[0]

    @cached_property
    def _scaled(self) -> tuple[Array, Flags] | None:
        return self.equilibria.scaled(self.cases)

    @cached_property
    def beyond(self) -> Flags:
        """Whether deflections are larger than the order is made for."""
        return beyond_small(self.equilibria.robot, self.q, PURPOSE)

    @property
    def place(self) -> Array:
        """Where compliance and stability are told of (N, n)."""
        return self.cases.straight if self.linear else self.q

    @property
    def _whole(self) -> Array:
        return whole(np.ones(len(self.q)))


def trace_of(equilibria: Equilibria, linear: bool) -> Trace:
    """What the columns are made of, as the solver sees it."""
    return equilibria.model.linear_report() if linear else equilibria.model.report()


def outputs_of(equilibria: Equilibria, linear: bool, outputs: tuple[str, ...]) -> Trace | None:
    """What the columns of outputs are made of, if there are any."""
    asked = [(each.kind, each.name) for each in beside(equilibria.robot, outputs)]
    return equilibria.model.outputs(asked, linear) if asked else None


def answer(
    robot: Robot,
    solved: Robot,
    inquiry: Inquiry,
    report: Report,
    part: slice,
    at_rest: Mapping[str, Array] | None,
    error: KronbotError | None,
) -> Outcome:
    """The answer about the first cases of an inquiry, whose equilibria are a part of those of a report.

    ``solved`` is the robot at the order that they are of, ``at_rest`` what gauges see where they are to be zero.
    """
    q, done = report.q[part], inquiry.cases[: part.stop - part.start]
    rows = {name: values[part] for name, values in report.rows.items()}
    demand_supports(solved, rows["forces"])
    forces = rows["forces"] = rows["forces"].copy()
    for row, case in zip(forces, done, strict=True):
        row[[*case.torques]] = [*case.torques.values()]  # what is given, which the equilibrium has but for rounding
    series = _series(solved, robot.file.statics, q, np.array([case.wrench for case in done]), rows, at_rest)
    beyond = int(report.beyond[part].sum())
    series = series | of_outputs(solved, inquiry.outputs, rows)
    summary: dict[str, Scalar] = {"complete": error is None, "cases": len(done), "solver": inquiry.solver}
    if any(case.start.any() for case in inquiry.cases):
        summary["start"] = "the modal coordinates given; what is told are those of the equilibrium they lead to"
    if beyond:
        summary["cases_beyond_small_deflections"] = beyond
    summary |= held_base(robot)
    arrays: dict[str, NamedArray] = {}
    start: dict[str, dict[str, float]] = {}
    # Of joints with torques alone: beams have stiffness in every direction, or no equilibrium.
    soft = len(inquiry.cases) == 1 and len(report.cases.free) > len(solved.flexible) and report.soft[part.start]
    if len(inquiry.cases) == 1 and not soft:
        yields = cache(lambda: yielding(report.tangent.K[part.start], report.J[part.start]))
        for name, values in (("compliance", lambda: yields().compliance), ("stiffness", lambda: yields().stiffness)):
            arrays[name] = later(name, values, DIRECTIONS, UNITS[name], DIRECTIONS)
    if len(inquiry.cases) == 1:
        start = {"q": solved.by_name(q[0])}

    def numbers() -> dict[str, Scalar]:
        if start:
            word = str(report.stability[part.start])
            held: dict[str, Scalar] = (
                {"stability": word} if word.startswith("undecided") else {"stable": word == "stable"}
            )
            return summary | held | ({} if soft else {"yielding_directions": yields().directions})
        return summary if report.linear else summary | _unstable(report.stability[part])

    demand_directions(solved, q)
    told = [*told_of_time(robot), *told_of_rows(solved, q), *told_of_pressing(solved, q, report.cases.free)]
    if soft:
        told.append(path_end.told_of_soft(report.equilibria, done[0], q[0]))
    if report.linear:
        told += told_of_contacts(solved, report.cases.straight[part], q)
    if start or not report.linear:  # that tells compliance or stability
        told += told_of_edges(solved, report.place[part], report.cases.free)
    known = robot.kept(
        ("units", PURPOSE, inquiry.outputs, *series),
        lambda: tuple(units_of(robot, series, columns(robot, inquiry.outputs)).values()),
    )
    units = dict(zip(series, known, strict=True))
    answer = Result(
        PURPOSE, robot.name, robot.order, start, arrays, series, summary_later(numbers), told,
        units=units, about=robot, asked=inquiry,
    )  # fmt: skip
    return Outcome(answer, error)


def held_base(robot: Robot) -> dict[str, Scalar]:
    """That a floating base is held, where it is so, for a summary."""
    return {"base": HELD} if robot.base and not hung(robot) else {}


def demand_supports(robot: Robot, forces: Array) -> None:
    """Raise UsageError where a floating base would have to bear forces: row by row (N, n)."""
    borne = np.abs(forces[:, list(robot.base)]).max(axis=1, initial=0.0)
    if (borne > SUPPORTED * np.maximum(np.abs(forces).max(axis=1, initial=0.0), 1.0)).any():
        raise UsageError(
            "a floating base has no supports: the weight or the loads move it, and there is no equilibrium; statics "
            "wants gravity: [0, 0, 0] and loads in balance, springs from the world (elements), or base: {type: fixed} "
            "without its rigid"
        )


def _series(
    robot: Robot,
    statics: schema.Statics,
    q: Array,
    wrenches: Array,
    rows: Mapping[str, Array],
    at_rest: Mapping[str, Array] | None,
) -> dict[str, Array]:
    """The columns in the order of the contract (design section 7)."""
    series = {f"angle.{joint.name}": q[:, joint.driven] for joint in robot.joints}
    series |= dict(zip(WRENCH, wrenches.T, strict=True))
    series |= {f"torque.{joint.name}": rows["forces"][:, joint.driven] for joint in robot.joints}
    if "quadratic" in rows:
        series |= {f"torque_quadratic.{joint.name}": rows["quadratic"][:, joint.driven] for joint in robot.joints}
    words = ("twist", "curvature_y", "curvature")
    for gauge in statics.gauges:
        values = rows[f"gauge {gauge.name}"]
        series |= {f"{word}.{gauge.name}": values[:, i] for i, word in reversed(list(enumerate(words)))}
        if at_rest is not None:
            zero = at_rest[f"gauge {gauge.name}"][0]
            relative = {f"{word}_relative.{gauge.name}": values[:, i] - zero[i] for i, word in enumerate(words)}
            series |= dict(reversed(relative.items()))
    for link, places, turns in _tips(robot, rows):
        series |= {f"tip.{link.name}.{axis}": places[:, i] for i, axis in enumerate("xyz")}
        series |= {f"tip.{link.name}.r{axis}": turns[:, i] for i, axis in enumerate("xyz")}
    for word in ("endpoint", "displacement", "displacement_hub"):
        series |= {f"{word}.{axis}": rows[word][:, i] for i, axis in enumerate("xyz")}
    series |= {f"reaction.{axis}": rows["reaction"][:, i] for i, axis in enumerate(REACTION)}
    series |= series_of_elements(robot, rows)
    series["energy.elastic"] = rows["elastic"][:, 0]
    return series | {robot.coordinates[place]: q[:, place] for place in (*robot.base, *robot.flexible)}


def _tips(robot: Robot, rows: Mapping[str, Array]) -> Iterator[tuple[Link, Array, Array]]:
    """Displacements and rotation vectors (cases, 3) of the tip of every beam, in its root frame."""
    for link in robot.links:
        if link.beam is not None:
            places, turns = rows[f"tip {link.name}"], rows[f"turns {link.name}"]
            if link.beam.order == "exact":
                turns = along(turns.reshape(len(places), 3, -1, 3).transpose(0, 2, 1, 3))[:, -1]
            yield link, places, turns


def _unstable(verdicts: npt.NDArray[np.str_]) -> dict[str, Scalar]:
    """The number of equilibria that a disturbance leaves, and of those that may be such, where there are any."""
    counts = {word: int(np.char.startswith(verdicts, word).sum()) for word in ("unstable", "undecided")}
    return {f"{word}_cases": count for word, count in counts.items() if count}
