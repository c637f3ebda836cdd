"""The question ``statics``: Piedboeuf's endpoint test for any robot, one row a case."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from kronbot.compute.arrays import NamedArray, Scalar
from kronbot.description import schema
from kronbot.errors import Argument, ComputationError, Interrupted, KronbotError, UsageError
from kronbot.floats import Array
from kronbot.mechanics.multibody.rotations import along
from kronbot.mechanics.static.compliance import DIRECTIONS, compliance
from kronbot.mechanics.static.critical import NEAR
from kronbot.mechanics.static.equilibria import Case, Equilibria, Given, whole
from kronbot.mechanics.static.equilibrium import Lost
from kronbot.mechanics.static.small import beyond_small
from kronbot.mechanics.static.static_model import PURPOSE
from kronbot.model.build import at_order
from kronbot.model.robot import Link, Robot
from kronbot.questions import path_end
from kronbot.questions.buckling import buckling
from kronbot.questions.columns import REACTION, WRENCH, columns_of_statics, units_of
from kronbot.questions.keeping import gathered, kept
from kronbot.questions.limits import told_of_rows
from kronbot.questions.load_cases import one_case, telling
from kronbot.questions.outline import Given as Possible
from kronbot.questions.outline import Labels, Outline
from kronbot.questions.result import Outcome, Result
from kronbot.system.interruption import Interruptions

SINGULAR = ": the stiffness is singular, there is no linear answer"
# The block of cases after one that took less (s) is twice as large; a signal loses those of one block.
BLOCK = 0.1


@dataclass(frozen=True)
class Inquiry:
    """What is asked: the cases, the solver, joint angles at which gauges are set to zero, if any, and further loads."""

    cases: Sequence[Case]
    solver: str
    calibration: Array | None
    given: Given = Given()


@dataclass(frozen=True)
class Found:
    """The states q (N, n) of the cases before one that has no equilibrium, and what that one's error is."""

    q: Array
    error: ComputationError | None = None


def statics(robot: Robot, inquiry: Inquiry, progress: Callable[[float], None]) -> Outcome:
    """Equilibria of a robot, one row a case; for a single case also the compliance of the endpoint.

    What there is when a case has no equilibrium or the user interrupts is reported, marked incomplete. Raises
    UsageError where a parameter has no value.
    """
    return kept(lambda met: _statics(robot, inquiry, progress, met))


def _statics(robot: Robot, inquiry: Inquiry, progress: Callable[[float], None], met: Interruptions) -> Outcome:
    statics, linear = robot.file.statics, inquiry.solver == "linear"
    with met.heard():
        # The linear statics of the exact rod is that of order 2, whose terms are its expansion.
        solved = at_order(robot, "2") if linear and robot.order == "exact" else robot
        equilibria = Equilibria(solved, statics, inquiry.given)
        trace = equilibria.model.linear_report() if linear else equilibria.model.report()
        at_rest = None
        if inquiry.calibration is not None:  # before the rows, which an error would lose
            still, bare = [_still(solved, inquiry.calibration)], replace(statics, loads=(), distributed=())
            found = _solved(Equilibria(solved, bare), still, linear, lambda row: "calibration: ")
            if found.error is not None:
                raise found.error
            at_rest = trace.rows(found.q, equilibria.loads(still), whole(np.ones(1)))
    q, error = _gathered(met, equilibria, inquiry, progress)
    done = inquiry.cases[: len(q)]
    rows = trace.rows(q, equilibria.loads(done), whole(np.ones(len(q))))
    series = _series(solved, statics, q, np.array([case.wrench for case in done]), rows, at_rest)
    beyond = int(beyond_small(solved, q, PURPOSE).sum())
    summary: dict[str, Scalar] = {"complete": error is None, "cases": len(done), "solver": inquiry.solver}
    if any(case.start.any() for case in inquiry.cases):
        summary["start"] = "the modal coordinates given; what is told are those of the equilibrium they lead to"
    if beyond:
        summary["cases_beyond_small_deflections"] = beyond
    arrays: dict[str, NamedArray] = {}
    start: dict[str, dict[str, float]] = {}
    if len(inquiry.cases) == 1:
        place = equilibria.straight(done) if linear else q
        tangent = equilibria.tangent(place, done)
        J = equilibria.model.endpoint()(place[0], equilibria.loads(done)[0], np.ones(2))["J"]
        arrays, found_too = compliance(tangent.K[0], J.reshape(6, robot.n)[:, equilibria.free(done)])
        word = str(tangent.stability[0])
        summary |= {"stability": word} if word.startswith("undecided") else {"stable": word == "stable"}
        summary |= found_too
        start = {"q": solved.by_name(q[0])}
    else:
        if not linear:
            summary |= _unstable(equilibria.tangent(q, done).stability)
    told = told_of_rows(solved, q)
    units = units_of(robot, series)
    answer = Result(
        PURPOSE, robot.name, robot.order, start, arrays, series, summary, told, units=units, about=robot, asked=inquiry
    )
    return Outcome(answer, error)


def _gathered(
    met: Interruptions, equilibria: Equilibria, inquiry: Inquiry, progress: Callable[[float], None]
) -> tuple[Array, KronbotError | None]:
    """The states (N, n) of the cases before one fails or a signal comes, and what stopped them.

    Cases are solved in blocks that grow as long as a block takes no time; a case does not depend on its block.
    """
    cases, linear = inquiry.cases, inquiry.solver == "linear"
    count, done = len(cases), 0

    def where(row: int) -> str:
        return f"case {done + row + 1}: " if count > 1 else ""

    def blocks() -> Iterator[Array]:
        nonlocal done
        size = 1
        while done < count:
            begun = time.perf_counter()
            found = _solved(equilibria, cases[done : done + size], linear, where)
            done += len(found.q)
            if len(found.q):
                yield found.q
                progress(done / count)
            if found.error is not None:
                raise found.error
            if time.perf_counter() - begun < BLOCK:
                size *= 2

    found, error = gathered(met, blocks(), lambda found: f"interrupted after {sum(map(len, found))} of {count} cases")
    return np.concatenate(found), error


def _solved(equilibria: Equilibria, cases: Sequence[Case], linear: bool, where: Callable[[int], str]) -> Found:
    """Equilibria of some cases; the error of the first that has none begins with ``where`` it is."""
    robot = equilibria.robot
    try:
        ends = None if linear else equilibria.newton(cases)
        q = equilibria.linear(cases) if ends is None else ends.q
        failed = np.isnan(q).any(axis=1) if ends is None else ends.lost
        row = int(failed.argmax()) if failed.any() else len(q)
        if ends is None or row == len(q):
            singular = ComputationError(where(row), _named(robot, cases[row]), SINGULAR) if row < len(q) else None
            return Found(q[:row], singular)
        lost = Lost(float(ends.shares[row]), q[row])
        return Found(q[:row], ComputationError(where(row), *_lost(equilibria, cases[row], lost).args))
    except np.linalg.LinAlgError:
        raise ComputationError(where(0), _named(robot, cases[0]), SINGULAR) from None


def with_buckling(robot: Robot, inquiry: Inquiry, progress: Callable[[float], None]) -> Outcome:
    """The answer to one case with the smallest multiple of the loads that makes the stiffness singular.

    Where that is less than the load there is no equilibrium to report, and the answer is that factor. Raises
    UsageError where there is more than one case.
    """
    cases = inquiry.cases
    if len(cases) != 1:
        raise UsageError(f"buckling is for one case, not {len(cases)}: ", *one_case(robot, cases))
    borne = buckling(Equilibria(robot, robot.file.statics, inquiry.given), cases[0], inquiry.solver)
    try:
        outcome = statics(robot, inquiry, progress)
    except ComputationError:
        factor = borne.get("buckling_factor")
        if not isinstance(factor, float) or factor > 1 + NEAR:
            raise
        summary: dict[str, Scalar] = {"complete": True, "cases": 0, "solver": inquiry.solver}
        summary["equilibrium"] = f"none under the whole load: the path ends at {factor:.4g} of it"
        outcome = Outcome(Result(PURPOSE, robot.name, robot.order, summary=summary, about=robot), None)
    return replace(outcome, result=replace(outcome.result, summary={**outcome.result.summary, **borne}))


def at_orders(
    robot: Robot, inquiry: Inquiry, orders: Sequence[str], progress: Callable[[float], None]
) -> dict[str, Outcome]:
    """The same cases at several kinematic orders, by order, each with the cases before the first that fails.

    Errors name the order. Who interrupts waits for no further one. Raises the first error where there is no case at
    all.
    """
    outcomes: dict[str, Outcome] = {}
    for i, order in enumerate(orders):
        other = at_order(robot, order)
        cases = [_renamed(case, robot, other) for case in inquiry.cases]

        def show(share: float, before: int = i) -> None:
            progress((before + share) / len(orders))

        outcomes[order] = outcome = _at_order(other, replace(inquiry, cases=cases), show)
        if isinstance(outcome.error, Interrupted):
            break
    errors = [outcome.error for outcome in outcomes.values() if outcome.error is not None]
    if errors and not any(outcome.result.summary["cases"] for outcome in outcomes.values()):
        raise errors[0]
    return outcomes


def _at_order(robot: Robot, inquiry: Inquiry, progress: Callable[[float], None]) -> Outcome:
    try:
        outcome = statics(robot, inquiry, progress)
    except (ComputationError, Interrupted) as error:
        summary: dict[str, Scalar] = {"complete": False, "cases": 0, "solver": inquiry.solver}
        outcome = Outcome(Result(PURPOSE, robot.name, robot.order, summary=summary, about=robot), error)
    if outcome.error is None:
        return outcome
    return replace(outcome, error=type(outcome.error)(f"order {robot.order}: ", *outcome.error.args))


def _renamed(case: Case, robot: Robot, other: Robot) -> Case:
    """The case for the same robot at another order, whose coordinates have other places."""
    places = {name: place for place, name in enumerate(other.coordinates)}
    start = np.zeros(other.n)
    for name, value in zip(robot.coordinates, case.start, strict=True):
        if name in places:
            start[places[name]] = value
    torques = {places[robot.coordinates[place]]: value for place, value in case.torques.items()}
    return replace(case, torques=torques, start=start)


def sag(robot: Robot, angles: Array) -> Array:
    """The equilibrium q (n,) of the beams under gravity alone, at joint values (joints,) that something holds.

    Raises ComputationError where there is none on the way from straight beams, UsageError where a parameter is free.
    """
    equilibria = Equilibria(robot, schema.Statics())
    case = _still(robot, angles)
    try:
        return equilibria.newton([case]).of(0)
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
    series["energy.elastic"] = rows["elastic"][:, 0]
    return series | {robot.coordinates[place]: q[:, place] for place in robot.flexible}


def outline(robot: Robot, given: Possible) -> Outline:
    """What the answer holds: the columns, and of a single case its compliance and stability."""
    relative = "calibration" in given or robot.file.statics.calibration is not None
    columns = columns_of_statics(robot, "linear" in given.get("solver", ()), relative)
    numbers = ["cases", "stable", "yielding_directions", "cases_beyond_small_deflections"]
    numbers += ["unstable_cases", "undecided_cases"]
    texts = ["complete", "solver", "start", "stability"]
    if any(given.get("buckling", ())):
        numbers += ["buckling_factor", "buckling_factor_error", "buckling_beyond_small_deflections"]
        texts += ["buckling", "equilibrium"]
    arrays: dict[str, Labels] = dict.fromkeys(("compliance", "stiffness"), (DIRECTIONS, DIRECTIONS))
    return Outline(numbers, texts, arrays, columns, columns, rows=telling(robot, given))


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


def _still(robot: Robot, angles: Array) -> Case:
    """Joints at given values (joints,), nothing on the endpoint."""
    return Case(angles, np.zeros(6), {}, np.zeros(robot.n))


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
    path = equilibria.paths(equilibria.loads([case]), list(equilibria.robot.flexible)).of(0)
    return path_end.told(equilibria.robot, path, equilibria.straight([case])[0], lost, what, PURPOSE)
