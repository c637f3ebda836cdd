"""The linear model along a rigid motion, Khang (59)-(67), and Floquet multipliers where it is periodic."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import casadi
import numpy as np
from casadi import SX

from kronbot.compute.arrays import NamedArray, Scalar
from kronbot.compute.trace import Trace, traced
from kronbot.errors import Argument, UsageError
from kronbot.floats import Array
from kronbot.mechanics.linear.linear_model import LinearModel
from kronbot.mechanics.linear.monodromy import Monodromy, monodromy
from kronbot.mechanics.linear.multipliers import Multipliers, multipliers
from kronbot.mechanics.linear.regularity import demand_regular
from kronbot.mechanics.linear.rounding import Entries
from kronbot.mechanics.multibody.recursion import demand_inertia
from kronbot.model.robot import Robot
from kronbot.questions.limits import told_of_motion
from kronbot.questions.linearize import PURPOSE, matrix_units, model_in_words, rigid_forces
from kronbot.questions.outline import Given, Labels, Outline, numbered
from kronbot.questions.result import Result
from kronbot.questions.simulate import SHORTEST_STEP, demand_rows, grid

STEPS = 100
# Coefficients one period apart must agree to this share of themselves, but for rounding of the largest.
PERIODIC, ROUNDING = 1e-8, 1e-13
LONGEST_CYCLE = 1000


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
    if not robot.motions:
        raise UsageError("the file has no motion: {JOINT: {...}}")
    demand_inertia(robot)
    trace = traced(robot, "along", PURPOSE, lambda: _along(robot))
    if period is not None:
        _demand_tables(robot, period, "the period")
    found = _period(robot, trace) if period is None else period
    if period is not None and (period < SHORTEST_STEP or not _repeats(trace, period)):
        raise UsageError(Argument("period", f"{period:g}"), ": M_L, D_L, K_L do not repeat after it")
    if duration is None:
        duration = _own_duration(robot) if isinstance(found, str) else found
    step = duration / STEPS if step is None else step
    demand_rows(duration, step, 3 * robot.n**2 + robot.n)
    times = grid(duration, step)
    _demand_tables(robot, times[-1], "the grid")
    rows = trace.rows(times)
    arrays = _stacks(robot, rows, times, locked or frozenset())
    told = [
        words
        for joint in robot.joints
        if joint.name in robot.motions
        for words in told_of_motion(robot, joint.index, robot.motions[joint.name], times[-1], PURPOSE)
    ]
    summary: dict[str, Scalar] = {"largest_h_L": float(np.abs(arrays["h_L"].values).max(initial=0.0))}
    if isinstance(found, str):
        summary["multipliers"] = f"none: {found}"
        return Result(PURPOSE, robot.name, robot.order, {}, arrays, {}, summary, told, about=robot)
    moving = frozenset(joint.index for joint in robot.joints if joint.name in robot.motions)
    held = moving if locked is None else locked
    summary["period"] = found
    product = _monodromy(robot, trace, found, held, progress)
    if product is None:
        summary["multipliers"] = "none: all coordinates are locked"
    else:
        answer = multipliers(product)
        numbers = [str(i + 1) for i in range(len(answer.values))]
        arrays["multipliers"] = NamedArray(answer.values, numbers, "1")
        arrays["multiplier_errors"] = NamedArray(answer.errors, numbers, "1")
        summary |= _verdict(robot, answer, held)
    return Result(PURPOSE, robot.name, robot.order, {}, arrays, {}, summary, told, about=robot)


def _own_duration(robot: Robot) -> float:
    """The duration (s) of the file's simulation. Raises UsageError where it has none."""
    duration = robot.file.simulate.duration
    if duration is None:
        raise UsageError("how long? give ", Argument("duration"), ", or a ", Argument("period"))
    return robot.parameters.value(duration, PURPOSE)


def _along(robot: Robot) -> tuple[dict[str, SX], dict[str, SX]]:
    """M_L, D_L, K_L, h_L as functions of time."""
    linear = LinearModel.about_any_motion(robot)
    t = SX.sym("t")
    symbols, values = [], []
    for joint in robot.joints:
        known = joint.name in robot.motions
        motion = robot.motions[joint.name].derivatives(t) if known else (SX(0), SX(0), SX(0))
        symbols += [linear.q[joint.index], linear.qd[joint.index], linear.qdd[joint.index]]
        values += list(motion)
    rigid = rigid_forces(robot, linear)
    parts = [casadi.substitute(part, linear.tau, rigid) for part in (linear.M_L, linear.D_L, linear.K_L, linear.h_L)]
    parts = linear.on_rigid_motion(*parts)
    placed = casadi.substitute(
        parts, [casadi.vertcat(*symbols), linear.force], [casadi.densify(casadi.vertcat(*values)), SX.zeros(3, 1)]
    )
    return {"t": t}, dict(zip("MDKh", placed, strict=True))


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


def _period(robot: Robot, trace: Trace) -> float | str:
    """The common period (s) of all motions after which the matrices repeat, or why there is none."""
    periods = []
    for name, motion in robot.motions.items():
        if motion.period is None:
            return f"the motion of {name} does not repeat"
        period = abs(robot.parameters.evaluate(motion.period, PURPOSE))
        periods += [period] if math.isfinite(period) else []  # a joint that stands still has any
    if not periods:
        return "no motion moves"
    if not math.isfinite(max(periods) / min(periods)):
        return "the motions have no common period"
    ratios = [Fraction(period / periods[0]).limit_denominator(LONGEST_CYCLE) for period in periods]
    if any(abs(float(ratio) - period / periods[0]) > 1e-9 for ratio, period in zip(ratios, periods, strict=True)):
        return "the motions have no common period"
    common = math.lcm(*(ratio.numerator for ratio in ratios)) / math.gcd(*(ratio.denominator for ratio in ratios))
    period = common * periods[0]
    return period if _repeats(trace, period) else f"M_L, D_L, K_L do not repeat after {period:g} s, the motions' period"


def _repeats(trace: Trace, period: float) -> bool:
    shares = np.array([0.0, 0.13, 0.37, 0.71])
    first, second = trace.rows(shares * period), trace.rows((shares + 1) * period)
    return all(
        (np.abs(first[name] - second[name]) <= PERIODIC * np.abs(first[name]).max(axis=0) + ROUNDING * size).all()
        for name in "MDK"
        for size in [np.abs(first[name]).max(initial=0.0)]
    )


def _monodromy(
    robot: Robot, trace: Trace, period: float, locked: frozenset[int], progress: Callable[[float], None]
) -> Monodromy | None:
    """The monodromy matrix of the free coordinates, None where all are locked."""
    free = robot.others(locked)
    if not free:
        return None
    demand_regular(trace(0.0)["M"].reshape(robot.n, robot.n)[np.ix_(free, free)], [robot.coordinates[i] for i in free])

    def coefficients(times: Array) -> tuple[Array, Array, Array]:
        rows = trace.rows(times)
        M, D, K = (rows[name].reshape(-1, robot.n, robot.n)[:, free][:, :, free] for name in "MDK")
        return M, D, K

    def roundings(times: Array) -> tuple[Array, Array, Array]:
        dM, dD, dK = (E[:, free][:, :, free] for E in Entries.at(trace, [times[:, None]]).errors)
        return dM, dD, dK

    corners = [t for motion in robot.motions.values() for t in motion.corners(robot.parameters, PURPOSE)]
    return monodromy(coefficients, roundings, period, corners, progress)


def _verdict(robot: Robot, found: Multipliers, locked: frozenset[int]) -> dict[str, Scalar]:
    """Whether deviations grow from period to period; multipliers at +1 of free cyclic coordinates do not count."""
    summary: dict[str, Scalar] = {"multipliers_at_one": found.at_one}
    if found.largest is not None:
        summary["largest_multiplier"] = found.largest
        without = f"; without {found.at_one} at 1" if found.at_one else ""
        word, _, reason = found.word.partition(": ")
        about = f"{model_in_words(robot, locked)}; about the periodic rigid motion{without}"
        summary["verdict"] = f"{word} ({about}){reason and f': {reason}'}"
    return summary


def _demand_tables(robot: Robot, end: float, what: str) -> None:
    for motion in robot.motions.values():
        if motion.times and not motion.times[0] <= 0 <= end <= motion.times[-1]:
            raise UsageError(
                f"a table goes from t = {motion.times[0]:g} s to {motion.times[-1]:g} s, {what} to {end:g} s"
            )


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
