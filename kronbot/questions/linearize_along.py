"""The linear model along a rigid motion, Khang (59)-(67), and Floquet multipliers where it is periodic."""

from __future__ import annotations

import math
from collections.abc import Callable

import casadi
import numpy as np
from casadi import SX

from kronbot.compute.arrays import NamedArray, Scalar
from kronbot.compute.trace import Trace, traced
from kronbot.description.wording import listing, quote
from kronbot.errors import Argument, UsageError
from kronbot.floats import Array
from kronbot.mechanics.linear.linear_model import LinearModel, rigid_forces
from kronbot.mechanics.linear.monodromy import Monodromy, monodromy
from kronbot.mechanics.linear.multipliers import Multipliers, multipliers
from kronbot.mechanics.linear.regularity import demand_regular
from kronbot.mechanics.linear.rounding import without_dust
from kronbot.mechanics.multibody.recursion import demand_inertia
from kronbot.model.build import numbers_apart
from kronbot.model.robot import Robot
from kronbot.questions.contacts_along import ContactsAlong, told_of_validity_along
from kronbot.questions.elements import demand_constant
from kronbot.questions.grids import SHORTEST_STEP, demand_rows, grid
from kronbot.questions.jolts import told_of_swings
from kronbot.questions.limits import told_of_motion
from kronbot.questions.linearize import PURPOSE
from kronbot.questions.outline import Given, Labels, Outline, matrix_units, numbered
from kronbot.questions.periods import ALL_LOCKED, Along
from kronbot.questions.result import Result
from kronbot.questions.verdict import balances, model_in_words
from kronbot.records import dataclass

STEPS = 100


@dataclass(frozen=True)
class Asked:
    """What a picture wants to know: the coordinates (places) that are locked for multipliers and verdict."""

    locked: frozenset[int]


def linearize_along(
    robot: Robot,
    locked: frozenset[int] | None,
    duration: float | None,
    step: float | None,
    period: float | None,
    progress: Callable[[float], None],
) -> Result:
    """M_L, D_L, K_L, h_L along the file's motion (s, on a grid), and Floquet multipliers where they are periodic.

    ``locked`` joints follow the motion exactly and are left out; None leaves all coordinates in the matrices, and locks
    the moving joints for the multipliers. ``progress`` is told the share of the period that is done. Raises UsageError
    without a motion, without a duration, for a period that is none; ComputationError where M is singular.
    """
    if robot.base:
        raise UsageError("a floating base goes along no given motion: linear models of it are those at points")
    if not robot.motions:
        raise UsageError("the file has no motion: {JOINT: {...}}")
    demand_constant(robot)
    demand_inertia(robot)
    trace = _traced(robot)
    moving = frozenset(joint.driven for joint in robot.joints if joint.name in robot.motions)
    held = moving if locked is None else locked
    along = Along(robot, trace, robot.others(held), PURPOSE)
    found = along.period() if period is None else _demand_repeating(along, period)
    if duration is None:
        duration = length_of(robot) if isinstance(found, str) else found
    step = duration / STEPS if step is None else step
    demand_rows(duration, step, 3 * robot.n**2 + robot.n)
    times = grid(duration, step)
    _demand_tables(robot, times[-1], "the grid")
    points = [np.tile(times[:, None], len(robot.motions))]
    rows = without_dust(trace, points, trace.rows(*points))
    arrays = _stacks(robot, rows, times, locked or frozenset())
    told = [
        words
        for joint in robot.joints
        if joint.name in robot.motions
        for words in told_of_motion(robot, joint.name, robot.motions[joint.name], times[-1], PURPOSE)
    ]
    told += told_of_swings(robot, robot.motions)
    told += told_of_validity_along(robot, times, locked or frozenset(), PURPOSE)
    summary: dict[str, Scalar] = {"largest_h_L": float(np.abs(arrays["h_L"].values).max(initial=0.0))}
    if isinstance(found, str):
        summary["multipliers"] = f"none: {found}"
        return Result(PURPOSE, robot.name, robot.order, {}, arrays, {}, summary, told, about=robot, asked=Asked(held))
    summary["period"] = found
    answer = multipliers(_monodromy(along, found, progress))
    numbers = [str(i + 1) for i in range(len(answer.values))]
    arrays["multipliers"] = NamedArray(answer.values, numbers, "1")
    arrays["multiplier_errors"] = NamedArray(answer.errors, numbers, "1")
    summary |= _verdict(robot, answer, held, balances(arrays["h_L"].values, np.zeros(0)))
    return Result(PURPOSE, robot.name, robot.order, {}, arrays, {}, summary, told, about=robot, asked=Asked(held))


def _traced(robot: Robot) -> Trace:
    return traced(robot, "along", PURPOSE, lambda: _along(robot))


def period_of(robot: Robot) -> float | str:
    """The time (s) after which the linear model of all coordinates and all motions repeat, or why none is."""
    along = Along(robot, _traced(robot), robot.others(frozenset()), PURPOSE)
    period = along.period()
    if isinstance(period, str) or not (going_on := along.going_on(period)):
        return period
    return f"the motion of {listing(going_on)} does not repeat after {period:g} s"


def _demand_repeating(along: Along, period: float) -> float | str:
    """The period (s) where the matrices repeat after it, or why there are no multipliers. Raises UsageError."""
    given = Argument("period", f"{period:g}")
    if period < SHORTEST_STEP:
        raise UsageError(given, f" is shorter than {SHORTEST_STEP:g} s")
    _demand_tables(along.robot, period, "the period")
    if not along.free:
        return ALL_LOCKED
    change = along.change(period)
    if not change.counts:
        return period
    cure = "".join(f"; the spline of {quote(file)} repeats where it is periodic: true" for file in along.open_tables)
    raise UsageError(given, f": M_L, D_L, K_L do not repeat after it, {change}{cure}")


def length_of(robot: Robot) -> float:
    """That of the file's simulation, or of its longest motion (s). Raises UsageError where there is neither."""
    duration = robot.file.simulate.duration
    if duration is not None:
        return robot.parameters.value(duration, PURPOSE)
    longest = max(motion.span(robot.parameters, PURPOSE) for motion in robot.motions.values())
    if not longest:
        raise UsageError("how long? give ", Argument("duration"))
    return longest


def _along(robot: Robot) -> tuple[dict[str, SX], dict[str, SX]]:
    """M_L, D_L, K_L, h_L as functions of a time for each motion, in the order of the file."""
    robot = numbers_apart(robot)
    linear = LinearModel.about_any_motion(robot)
    rigid = rigid_forces(robot, linear)
    parts = [casadi.substitute(part, linear.tau, rigid) for part in (linear.M_L, linear.D_L, linear.K_L, linear.h_L)]
    return linear.along_motions(dict(zip("MDKh", parts, strict=True)) | linear.holding)


def _stacks(robot: Robot, rows: dict[str, Array], times: Array, locked: frozenset[int]) -> dict[str, NamedArray]:
    free = robot.others(locked)
    names = [robot.coordinates[place] for place in free]
    axis = ("t", times.tolist())
    square = (len(times), robot.n, robot.n)
    stacks = {
        name: NamedArray(rows[letter].reshape(square)[:, free][:, :, free], names, units, names, axis)
        for name, letter, units in zip(("M_L", "D_L", "K_L"), "MDK", matrix_units(robot, free), strict=True)
    }
    h = rows["h"].reshape(len(times), robot.n)[:, free]
    return stacks | {"h_L": NamedArray(h, names, {"rows": robot.force_units(free)}, None, axis)}


def _monodromy(along: Along, period: float, progress: Callable[[float], None]) -> Monodromy:
    """The monodromy matrix of the free coordinates."""
    robot = along.robot
    demand_regular(along.at(np.zeros(1))[0][0], [robot.coordinates[place] for place in along.free])
    contacts = ContactsAlong(along, period)
    corners = [t for motion in robot.motions.values() for t in motion.meetings(robot.parameters, period, PURPOSE)]
    corners += [*contacts.instants.contacts[0].tolist(), *contacts.instants.reversals.tolist()]

    def errors(times: Array) -> tuple[Array, Array, Array]:
        return along.errors(contacts.aside(times), period)

    return monodromy(along.at, errors, period, corners, progress, along.elsewhere, contacts.jumps())


def _verdict(robot: Robot, found: Multipliers, locked: frozenset[int], balanced: bool) -> dict[str, Scalar]:
    """Whether deviations grow from period to period; multipliers at +1 of free cyclic coordinates do not count.

    It says of what: deviations from a motion on which h_L is zero, or not.
    """
    summary: dict[str, Scalar] = {"multipliers_at_one": found.at_one}
    if found.largest is not None:
        summary["largest_multiplier"] = found.largest
        about = f"{model_in_words(robot, locked)}; about the periodic rigid motion"
        about += "" if balanced else ", h_L is not zero"
        about += f"; without {found.at_one} at 1" if found.at_one else ""
        word, _, reason = found.word.partition(": ")
        summary["verdict"] = f"{word} ({about}){reason and f': {reason}'}"
    return summary


def _demand_tables(robot: Robot, end: float, what: str) -> None:
    for motion in robot.motions.values():
        first, last = motion.known(robot.parameters, PURPOSE)
        if not first <= 0 <= end <= last:
            told = f"goes from t = {first:g} s to {last:g} s" if math.isfinite(first) else f"goes to t = {last:g} s"
            raise UsageError(f"a table {told}, {what} to {end:g} s")


def outline(robot: Robot, given: Given) -> Outline:
    """What the answer holds: matrices over time, and the multipliers."""
    names = robot.coordinates
    stacks: dict[str, Labels] = dict.fromkeys(("M_L", "D_L", "K_L"), (names, names))
    stacks["h_L"] = names, None
    multipliers: dict[str, Labels] = {
        name: (numbered(2 * robot.n), None) for name in ("multipliers", "multiplier_errors")
    }
    numbers = ["largest_h_L", "period", "multipliers_at_one", "largest_multiplier"]
    texts, arrays = ["verdict", "multipliers"], {**stacks, **multipliers}
    return Outline(numbers, texts, arrays, complex=["multipliers"], stacks=list(stacks))
