"""The question ``statics``: Piedboeuf's endpoint test for any robot, one row a case."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate, pairwise
from typing import Final, TypeAlias

import numpy as np

from kronbot.compute.arrays import Scalar
from kronbot.description import schema
from kronbot.errors import Argument, ComputationError, Interrupted, KronbotError, UsageError
from kronbot.floats import Array
from kronbot.mechanics.static.compliance import DIRECTIONS, UNITS
from kronbot.mechanics.static.critical import NEAR
from kronbot.mechanics.static.equilibria import Case, Cases, Equilibria
from kronbot.mechanics.static.equilibrium import Ends, Lost
from kronbot.mechanics.static.static_model import PURPOSE
from kronbot.mechanics.static.tangent import Flags
from kronbot.model.build import at_order, compliant, together
from kronbot.model.floating import hung
from kronbot.model.robot import Robot
from kronbot.questions import buckling, path_end
from kronbot.questions.columns import WRENCH, columns_of_statics
from kronbot.questions.keeping import gathered, kept
from kronbot.questions.load_cases import one_case, telling
from kronbot.questions.outline import Given as Possible
from kronbot.questions.outline import Labels, Outline, sides
from kronbot.questions.outputs import asked as outputs_asked
from kronbot.questions.result import Outcome, Result
from kronbot.questions.static_report import Inquiry, Report, answer, held_base, outputs_of, trace_of
from kronbot.system.interruption import Interruptions

SINGULAR = ": the stiffness is singular, there is no linear answer"
# What is told at rest, where gauges are to be zero, or why nobody knows.
AtRest: TypeAlias = Mapping[str, Array] | ComputationError | None
# The block of cases after one that took less (s) is twice as large; a signal loses those of one block.
BLOCK = 0.1
# Inquiries of more cases than this fill the processor by themselves.
FEW = 64


def statics(robot: Robot, inquiry: Inquiry, progress: Callable[[float], None]) -> Outcome:
    """Equilibria of a robot, one row a case; for a single case also the compliance of the endpoint.

    What there is when a case has no equilibrium or the user interrupts is reported, marked incomplete. Raises
    UsageError where a parameter has no value.
    """
    return kept(lambda met: _statics(robot, inquiry, progress, met))


def _statics(robot: Robot, inquiry: Inquiry, progress: Callable[[float], None], met: Interruptions) -> Outcome:
    with met.heard():
        equilibria, linear = _equilibria(robot, inquiry), inquiry.solver == "linear"
        cases = equilibria.cases(inquiry.cases)
        trace_of(equilibria, linear)
        outputs_of(equilibria, linear, inquiry.outputs)
        (at_rest,) = _at_rest([equilibria], [inquiry])  # before the rows, which an error would lose
        if isinstance(at_rest, ComputationError):
            raise at_rest
    q, error = _gathered(met, equilibria, inquiry, cases, progress)
    report = Report(equilibria, cases[: len(q)], q, linear, inquiry.outputs)
    return answer(robot, equilibria.robot, inquiry, report, slice(0, len(q)), at_rest, error)


def alike(inquiry: Inquiry) -> Hashable:
    """Equal for inquiries that :func:`each` takes together; None for one that is better off alone."""
    if len(inquiry.cases) > FEW:
        return None
    places = [tuple(name for name, _ in loads) for loads in (inquiry.given.on_frames, inquiry.given.along_beams)]
    calibrated = inquiry.calibration is not None
    return PURPOSE, inquiry.solver, calibrated, *places, tuple(sorted(inquiry.cases[0].torques)), inquiry.outputs


def each(
    robots: Sequence[Robot], inquiries: Sequence[Inquiry], progress: Callable[[float], None]
) -> list[Callable[[], Outcome]]:
    """The same of robots of one structure, each with an inquiry like the others, as what answers or raises each."""
    if len(robots) == 1:
        return [partial(statics, robots[0], inquiries[0], progress)]
    linear = inquiries[0].solver == "linear"
    own = [_equilibria(*pair) for pair in zip(robots, inquiries, strict=True)]
    parts = [equilibria.cases(inquiry.cases) for equilibria, inquiry in zip(own, inquiries, strict=True)]
    side_by_side = _together(own, [len(part) for part in parts])
    cases = Cases.joined(parts)
    ends = _ends(side_by_side, cases, linear)
    report, at_rest = Report(side_by_side, cases, ends.q, linear, inquiries[0].outputs), _at_rest(own, inquiries)
    bounds = accumulate(map(len, parts), initial=0)
    one = partial(_one, report, ends)
    return [
        partial(one, *given, slice(*bound))
        for *given, bound in zip(robots, inquiries, own, at_rest, pairwise(bounds), strict=True)
    ]


def _one(
    report: Report, ends: Ends, robot: Robot, inquiry: Inquiry, own: Equilibria, at_rest: AtRest, part: slice
) -> Outcome:
    """The answer of one of many robots, whose rows are a part of all."""
    if isinstance(at_rest, ComputationError):
        raise at_rest
    done, error = _first(ends.lost[part]), None
    if part.start + done < part.stop:
        error = _error(own, inquiry, done, ends, part.start + done)
        if not done:
            raise error
    return answer(robot, own.robot, inquiry, report, slice(part.start, part.start + done), at_rest, error)


def _equilibria(robot: Robot, inquiry: Inquiry) -> Equilibria:
    # The linear statics of the exact rod is that of order 2, whose terms are its expansion.
    solved = at_order(robot, "2") if inquiry.solver == "linear" and robot.order == "exact" else robot
    return Equilibria(solved, robot.file.statics, inquiry.given)


def _together(own: Sequence[Equilibria], counts: Sequence[int]) -> Equilibria:
    """Those of many robots as one, each with so many cases."""
    rows = [each.robot for each, count in zip(own, counts, strict=True) for _ in range(count)]
    return replace(own[0], robot=together(rows))


def _at_rest(own: Sequence[Equilibria], inquiries: Sequence[Inquiry]) -> list[AtRest]:
    """What gauges see without loads at the joint angles of the calibration, if any, or that there is no equilibrium."""
    angles = [inquiry.calibration for inquiry in inquiries]
    if angles[0] is None:
        return [None] * len(own)
    linear, single = inquiries[0].solver == "linear", [1] * len(own)
    still = [[_still(each.robot, given)] for each, given in zip(own, angles, strict=True) if given is not None]
    unloaded = replace(own[0].statics, loads=(), distributed=())
    bare = [Equilibria(each.robot, unloaded) for each in own]
    begun = Cases.joined([each.cases(case) for each, case in zip(bare, still, strict=True)])
    ends = _ends(_together(bare, single), begun, linear)
    loads = np.concatenate([each.cases(case).loads for each, case in zip(own, still, strict=True)])
    rows = Report(_together(own, single), replace(begun, loads=loads), ends.q, linear, ()).rows
    found: list[AtRest] = [{name: values[i : i + 1] for name, values in rows.items()} for i in range(len(own))]
    for i in np.flatnonzero(ends.lost).tolist():
        inquiry = replace(inquiries[i], cases=still[i])
        error = _error(bare[i], inquiry, 0, ends, i)
        found[i] = ComputationError("calibration: ", *error.args)
    return found


def _gathered(
    met: Interruptions, equilibria: Equilibria, inquiry: Inquiry, cases: Cases, progress: Callable[[float], None]
) -> tuple[Array, KronbotError | None]:
    """The states (N, n) of the cases before one fails or a signal comes, and what stopped them.

    Cases are solved in blocks that grow as long as a block takes no time; a case does not depend on its block.
    """
    count, done = len(cases), 0

    def blocks() -> Iterator[Array]:
        nonlocal done
        size = 1
        while done < count:
            begun = time.perf_counter()
            try:
                ends = _ends(equilibria, cases[done : done + size], inquiry.solver == "linear")
            except np.linalg.LinAlgError:
                raise ComputationError(*_singular(equilibria, inquiry, done)) from None
            row = _first(ends.lost)
            lost = None if row == len(ends.q) else _error(equilibria, inquiry, done + row, ends, row)
            done += row
            if row:
                yield ends.q[:row]
                progress(done / count)
            if lost is not None:
                raise lost
            if time.perf_counter() - begun < BLOCK:
                size *= 2

    found, error = gathered(met, blocks(), lambda found: f"interrupted after {sum(map(len, found))} of {count} cases")
    return np.concatenate(found), error


def _ends(equilibria: Equilibria, cases: Cases, linear: bool) -> Ends:
    """The equilibria, and which cases have none. Raises LinAlgError."""
    if not linear:
        return equilibria.newton(cases)
    q = equilibria.linear(cases)
    return Ends(q, np.ones(len(q)), np.asarray(np.isnan(q).any(axis=1)))


def _first(lost: Flags) -> int:
    """The place of the first that is lost."""
    return int(lost.argmax()) if lost.any() else len(lost)


def _error(equilibria: Equilibria, inquiry: Inquiry, place: int, ends: Ends, row: int) -> ComputationError:
    """That a case of a robot has no equilibrium; its path ends in a row of some ends."""
    if inquiry.solver == "linear":
        return ComputationError(*_singular(equilibria, inquiry, place))
    lost = Lost(float(ends.shares[row]), ends.q[row])
    told = _lost(equilibria, inquiry.cases[place], lost, inquiry.buckling)
    return ComputationError(_where(inquiry, place), *told.args)


def _singular(equilibria: Equilibria, inquiry: Inquiry, place: int) -> tuple[str, ...]:
    return _where(inquiry, place), _named(equilibria.robot, inquiry.cases[place]), SINGULAR


def _where(inquiry: Inquiry, place: int) -> str:
    return f"case {place + 1}: " if len(inquiry.cases) > 1 else ""


def with_buckling(robot: Robot, inquiry: Inquiry, progress: Callable[[float], None]) -> Outcome:
    """The answer to one case with the smallest multiple of the loads that makes the stiffness singular.

    Where that is less than the load there is no equilibrium to report, and the answer is that factor. Raises
    UsageError where there is more than one case.
    """
    cases = inquiry.cases
    if len(cases) != 1:
        raise UsageError(f"buckling is for one case, not {len(cases)}: ", *one_case(robot, cases))
    borne = buckling.buckling(Equilibria(robot, robot.file.statics, inquiry.given), cases[0], inquiry.solver)
    try:
        outcome = statics(robot, replace(inquiry, buckling=True), progress)
    except ComputationError:
        factor = borne.get("buckling_factor")
        if not isinstance(factor, float) or factor > 1 + NEAR:
            raise
        summary: dict[str, Scalar] = {"complete": True, "cases": 0, "solver": inquiry.solver}
        summary |= held_base(robot)
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


# What a run does that has no equilibrium to start in.
STRAIGHT: Final = (Argument("start", "straight"), " does without; or give the joints other first values")


def sag(robot: Robot, at: Array, wanted: str = "to start in", cures: Sequence[str | Argument] = STRAIGHT) -> Array:
    """The equilibrium q (n,) of the beams under gravity alone, at joint values that something holds, of q (n,).

    Raises ComputationError where there is none on the way from straight beams, with what it is ``wanted`` for and
    ``cures``, UsageError where a parameter is free.
    """
    equilibria = Equilibria(robot, schema.Statics())
    case = replace(_still(robot, at[list(robot.rigid)]), base=at[list(robot.base)])
    try:
        return equilibria.newton(equilibria.cases([case])).of(0)
    except Lost as lost:
        raise ComputationError(
            f"no equilibrium {wanted}: {_named(robot, case)}: {_end(equilibria, case, lost, 'weight')}; ",
            *cures,
            *path_end.other_order(robot, lost, PURPOSE),
        ) from None


def outline(robot: Robot, given: Possible) -> Outline:
    """What the answer holds: the columns, and of a single case its compliance and stability."""
    robot = compliant(robot)
    relative = "calibration" in given or robot.file.statics.calibration is not None
    columns = columns_of_statics(robot, "linear" in given.get("solver", ()), relative)
    columns = list(dict.fromkeys((*columns, *outputs_asked(robot, given))))
    numbers = ["cases", "stable", "yielding_directions", "cases_beyond_small_deflections"]
    numbers += ["unstable_cases", "undecided_cases"]
    texts = ["complete", "solver", "start", *["base"] * bool(robot.base and not hung(robot)), "stability"]
    if any(given.get("buckling", ())):
        numbers += ["buckling_factor", "buckling_factor_error", "buckling_beyond_small_deflections"]
        texts += ["buckling", "equilibrium"]
    arrays: dict[str, Labels] = dict.fromkeys(("compliance", "stiffness"), (DIRECTIONS, DIRECTIONS))
    units = {name: sides(DIRECTIONS, each["rows"], DIRECTIONS, each["columns"]) for name, each in UNITS.items()}
    return Outline(numbers, texts, arrays, columns, columns, rows=telling(robot, given), units=units)


def _still(robot: Robot, angles: Array) -> Case:
    """Joints at given values (joints,), nothing on the endpoint."""
    return Case(angles, np.zeros(6), hung(robot), np.zeros(robot.n))


def _named(robot: Robot, case: Case) -> str:
    """A case by its angles and loads, by the robot where it has none."""
    loads = [f"{name} = {value:.4g}" for name, value in zip(WRENCH, case.wrench, strict=True) if value]
    return ", ".join([*path_end.posture(robot, case.angles), *loads]) or robot.name


def _lost(equilibria: Equilibria, case: Case, lost: Lost, multiplied: bool) -> ComputationError:
    """Where the path of equilibria ended, and what to try: of buckling where it helps and was not yet asked for."""
    robot = equilibria.robot
    if loose := path_end.loose(equilibria, case, lost):
        return ComputationError(f"{_named(robot, case)}: ", *loose)
    acting = case.wrench.any() or equilibria.given.numbers
    loaded = acting or robot.file.statics.loads or robot.file.statics.distributed
    smaller = "a smaller load, " * bool(loaded) + "other torques, " * any(case.torques.values())
    borne = [", or ", Argument("buckling"), " to see what it bears"]
    return ComputationError(
        f"{_named(robot, case)}: {_end(equilibria, case, lost, path_end.way(equilibria, case))}; try ",
        f"{smaller}other angles",
        *path_end.other_order(robot, lost, PURPOSE),
        *(borne if not multiplied and buckling.tells(equilibria, case) else []),
    )


def _end(equilibria: Equilibria, case: Case, lost: Lost, what: str) -> str:
    path = equilibria.paths(equilibria.cases([case]).loads, list(equilibria.robot.flexible)).of(0)
    return path_end.told(equilibria.robot, path, equilibria.straight([case])[0], lost, what, PURPOSE)
