"""The linear model along a rigid motion, Khang (59)-(67), and Floquet multipliers where it is periodic."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import casadi
import numpy as np
import numpy.typing as npt
from casadi import SX

from kronbot.compute.buffered import Buffered
from kronbot.compute.result import Array as Named
from kronbot.compute.result import Result, Scalar
from kronbot.compute.trace import Trace
from kronbot.errors import UsageError
from kronbot.mechanics.linear_model import LinearModel
from kronbot.mechanics.linearization import PURPOSE, matrix_units, model_in_words, rigid_forces
from kronbot.mechanics.recursion import demand_inertia
from kronbot.mechanics.regularity import demand_regular
from kronbot.mechanics.simulation import grid
from kronbot.model.robot import Robot

Array = npt.NDArray[np.float64]
STEPS = 100
# The variational equations are integrated to this; multipliers are trusted to TRUSTED.
RTOL, ATOL = 1e-10, 1e-12
TRUSTED = 1e-6
# A free cyclic coordinate has a multiplier at +1, a double one where its momentum is conserved; rounding splits a
# double one by its square root.
NEAR_ONE = 1e-3
# Coefficients one period apart must agree to this share of the largest.
PERIODIC = 1e-8
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
        raise UsageError("--motion: the file has no motion: {JOINT: {...}}")
    demand_inertia(robot)
    trace = _along(robot)
    found = _period(robot, trace) if period is None else period
    if period is not None and not _repeats(trace, period):
        raise UsageError(f"--period {period:g}: M_L, D_L, K_L do not repeat after it")
    settings = robot.file.simulate
    if duration is None and found is None and (settings is None or settings.duration is None):
        raise UsageError("--motion: give --duration, or a --period")
    if duration is None:
        given = None if settings is None or settings.duration is None else robot.parameters.number(settings.duration)
        duration = found if found is not None or given is None else robot.parameters.evaluate(given, PURPOSE)
    assert duration is not None
    times = grid(duration, duration / STEPS if step is None else step)
    _demand_tables(robot, times[-1])
    rows = trace.rows(times)
    arrays = _stacks(robot, rows, times, locked or frozenset())
    summary: dict[str, Scalar] = {"largest_h_L": float(np.abs(arrays["h_L"].values).max(initial=0.0))}
    if found is not None:
        moving = frozenset(joint.index for joint in robot.joints if joint.name in robot.motions)
        held = moving if locked is None else locked
        summary["period"] = found
        multipliers = _multipliers(robot, trace, found, held, progress)
        arrays["multipliers"] = Named(multipliers, [str(i + 1) for i in range(len(multipliers))], "1")
        summary |= _verdict(robot, multipliers, _cyclic(robot, rows, held), held)
    return Result(PURPOSE, robot.name, robot.order, {}, arrays, {}, summary)


def _along(robot: Robot) -> Trace:
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
        parts, [casadi.vertcat(*symbols), linear.force], [casadi.vertcat(*values), SX.zeros(3, 1)]
    )
    return Trace(robot.parameters, {"t": t}, dict(zip("MDKh", placed, strict=True)), PURPOSE)


def _stacks(robot: Robot, rows: dict[str, Array], times: Array, locked: frozenset[int]) -> dict[str, Named]:
    free = [place for place in range(robot.n) if place not in locked]
    names = [robot.coordinates[place] for place in free]
    axis = ("t", times.tolist())
    square = (len(times), robot.n, robot.n)
    stacks = {
        name: Named(rows[letter].reshape(square)[:, free][:, :, free], names, units, names, axis)
        for name, letter, units in zip(("M_L", "D_L", "K_L"), "MDK", matrix_units(robot, free), strict=True)
    }
    h = rows["h"].reshape(len(times), robot.n)[:, free]
    return stacks | {"h_L": Named(h, names, {"rows": robot.force_units(free)}, None, axis)}


def _period(robot: Robot, trace: Trace) -> float | None:
    """The common period (s) of all motions, None where one has none, they never meet, or the matrices do not repeat."""
    periods = []
    for motion in robot.motions.values():
        if motion.period is None:
            return None
        periods.append(robot.parameters.evaluate(motion.period, PURPOSE))
    ratios = [Fraction(period / periods[0]).limit_denominator(LONGEST_CYCLE) for period in periods]
    if any(abs(float(ratio) - period / periods[0]) > 1e-9 for ratio, period in zip(ratios, periods, strict=True)):
        return None
    common = math.lcm(*(ratio.numerator for ratio in ratios)) / math.gcd(*(ratio.denominator for ratio in ratios))
    return common * periods[0] if _repeats(trace, common * periods[0]) else None


def _repeats(trace: Trace, period: float) -> bool:
    shares = np.array([0.0, 0.13, 0.37, 0.71])
    first, second = trace.rows(shares * period), trace.rows((shares + 1) * period)
    return all(
        np.abs(first[name] - second[name]).max(initial=0.0) <= PERIODIC * np.abs(first[name]).max(initial=0.0)
        for name in "MDK"
    )


def _multipliers(
    robot: Robot, trace: Trace, period: float, locked: frozenset[int], progress: Callable[[float], None]
) -> npt.NDArray[np.complex128]:
    """Eigenvalues of the monodromy matrix of x' = A(t) x, largest first."""
    from scipy.integrate import solve_ivp

    free = [place for place in range(robot.n) if place not in locked]
    size = 2 * len(free)
    if not size:
        return np.zeros(0, dtype=complex)

    start = trace(0.0)["M"].reshape(robot.n, robot.n)[np.ix_(free, free)]
    demand_regular(start, [robot.coordinates[place] for place in free])
    at = Buffered(trace.function)
    at.arguments[1][:] = trace.bound
    count, places = len(free), np.array(free)[:, None] + robot.n * np.array(free)

    def rate(t: float, x: Array) -> Array:
        """By A = [0, 1; -M^-1 K, -M^-1 D]; tens of thousands of calls are of small matrices."""
        progress(t / period)
        at.arguments[0][0] = t
        at()
        M, D, K = (values[places] for values in at.results[:3])
        state = x.reshape(size, size)
        forces = K @ state[:count] + D @ state[count:]
        return np.concatenate([state[count:], -np.linalg.solve(M, forces)]).ravel()

    solution = solve_ivp(rate, (0.0, period), np.eye(size).ravel(), method="DOP853", rtol=RTOL, atol=ATOL)
    multipliers = np.linalg.eigvals(solution.y[:, -1].reshape(size, size)).astype(complex)
    return multipliers[np.lexsort((multipliers.imag, multipliers.real, -np.round(np.abs(multipliers), 9)))]


def _cyclic(robot: Robot, rows: dict[str, Array], locked: frozenset[int]) -> int:
    """How many free coordinates the stiffness does not see, anywhere along the motion: constant deviations remain."""
    free = [place for place in range(robot.n) if place not in locked]
    K = np.abs(rows["K"].reshape(-1, robot.n, robot.n)).max(axis=(0, 1))
    size = float(K.max(initial=0.0))
    return sum(1 for place in free if K[place] <= PERIODIC * size)


def _verdict(
    robot: Robot, multipliers: npt.NDArray[np.complex128], cyclic: int, locked: frozenset[int]
) -> dict[str, Scalar]:
    """Whether deviations grow from period to period; multipliers at +1 of free cyclic coordinates do not count."""
    near = np.argsort(np.abs(multipliers - 1))[: 2 * cyclic]
    left_out = [i for i in near if abs(multipliers[i] - 1) < NEAR_ONE]
    counted = np.delete(np.abs(multipliers), left_out)
    summary: dict[str, Scalar] = {"multipliers_at_one": len(left_out), "multiplier_tolerance": TRUSTED}
    if len(counted):
        largest = float(counted.max())
        word = "unstable" if largest > 1 + TRUSTED else "asymptotically stable"
        word = "stable, undamped" if abs(largest - 1) <= TRUSTED else word
        summary["largest_multiplier"] = largest
        without = f"; without {len(left_out)} at 1" if left_out else ""
        summary["verdict"] = f"{word} ({model_in_words(robot, locked)}; about the periodic rigid motion{without})"
    return summary


def _demand_tables(robot: Robot, end: float) -> None:
    for motion in robot.motions.values():
        if motion.times and not motion.times[0] <= 0 <= end <= motion.times[-1]:
            raise UsageError(
                f"a table goes from t = {motion.times[0]:g} s to {motion.times[-1]:g} s, the grid to {end:g} s"
            )
