"""What ``plan`` does with a path: motions and torques under which the tip of a flexible arm follows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import casadi
import numpy as np
from casadi import SX

from kronbot.compute.arrays import NamedArray, Scalar
from kronbot.description.wording import listing
from kronbot.errors import Argument, ComputationError, Interrupted, UsageError
from kronbot.floats import Array
from kronbot.mechanics.control.inversion import (
    TIMES,
    Complex,
    Followed,
    NoMotion,
    answers,
    inverse,
    leading,
    standing,
    zeros,
)
from kronbot.mechanics.control.repeated import Repeated
from kronbot.mechanics.multibody.recursion import demand_inertia, inverse_dynamics
from kronbot.mechanics.multibody.state import propagate
from kronbot.model.robot import Robot
from kronbot.questions import judgement, posed
from kronbot.questions.bounded import demand_known, places, with_values
from kronbot.questions.keeping import Deadline, gathered, in_time, kept
from kronbot.questions.noise import without_rounding
from kronbot.questions.outline import numbered
from kronbot.questions.pressed import at_rest, pressed, told_of_forces
from kronbot.questions.result import Outcome, Result
from kronbot.records import dataclass
from kronbot.system.interruption import Interruptions

PURPOSE = "plan"
# The motion outside the path is left out where it has decayed to exp(-DECAY), 1e-8 of itself.
DECAY = 18.5
# Zeros whose real part is a smaller share of them: what they move hardly decays.
SWINGING = 1e-3
# Intervals at least while the path lasts, at most, and at first: in each the fastest zero goes by so much, if it may.
LEAST, MOST, FIRST, FAST = 40, 4000, 1000, 2.0
# How far the simulated arm may leave the path, as a share of its way, and how often intervals are halved.
ARRIVED, MESHES = 1e-5, 3
# Shares by which limits may be passed and nothing is told.
PASSED = 1e-5
# Conditions of the accelerations by torques beyond which some direction hardly heeds them.
HARDLY = 1e3
# Rows of the motion that is simulated, at least.
ROWS = 1000


@dataclass(frozen=True)
class Path:
    """Finite values (N, k) of columns at times (N,), ascending (s): at rest at both ends."""

    columns: Sequence[str]
    times: Array
    values: Array

    def __post_init__(self) -> None:
        """Raise UsageError where it is none."""
        if len(self.times) < 6:
            raise UsageError(Argument("follow"), f": a path wants six rows of numbers at least, not {len(self.times)}")
        if not self.way:
            raise UsageError(Argument("follow"), ": a path that goes somewhere is wanted")
        if not 0 < np.float64(self.way) / np.square(np.float64(self.duration)) < np.inf:
            raise UsageError(Argument("follow"), ": a path whose accelerations are numbers is wanted")

    @property
    def duration(self) -> float:
        """How long it is (s)."""
        return float(self.times[-1] - self.times[0])

    @property
    def way(self) -> float:
        """How far it goes, of the column that goes furthest."""
        return float(np.ptp(self.values, axis=0).max())

    def at(self, times: np.ndarray, order: int = 0) -> Array:
        """Its values (..., k) or derivatives so long after its beginning: a spline of degree five, still outside."""
        from scipy.interpolate import make_interp_spline  # here, since it takes a quarter of a second

        still = [(1, np.zeros(len(self.columns))), (2, np.zeros(len(self.columns)))]
        shares, asked = (self.times - self.times[0]) / self.duration, times / self.duration
        spline = make_interp_spline(shares, self.values, 5, bc_type=(still, still))
        inside = (asked > 0) & (asked < 1)
        found: Array = np.asarray(spline(np.clip(asked, 0, 1), order), dtype=float) / self.duration**order
        return found if order == 0 else found * inside[..., None]


def follow(
    robot: Robot,
    start: Array,
    path: Path,
    within: Mapping[str, tuple[float, float]],
    deadline: Deadline,
    progress: Callable[[float], None],
) -> Outcome:
    """The arm that follows a path, from rest near the motors' values ``start``, by an independent simulation.

    Columns that go beyond the limits that they are to stay ``within`` are told: there is one such motion. Where
    somebody interrupts, or the ``deadline``, or the arm leaves the path on all meshes, that of the last one is told.

    Raises UsageError for columns that cannot be followed, ComputationError where no motion is found.
    """

    def stopped(found: Sequence[Result]) -> str:
        return f"interrupted{after(found)}"

    def after(found: Sequence[Result]) -> str:
        return f" after {len(found)} of at most {MESHES} meshes; the best so far is told"

    def asked(met: Interruptions) -> Outcome:
        try:
            found, error = gathered(met, _meshes(robot, start, path, within, deadline, progress), stopped)
        except Interrupted as early:
            raise in_time(early, met) from None
        if isinstance(error, Interrupted) and not met:
            error = Interrupted(f"{error}{after(found)}")
        return Outcome(found[-1], error)

    return kept(asked)


def _meshes(
    robot: Robot,
    start: Array,
    path: Path,
    within: Mapping[str, tuple[float, float]],
    deadline: Deadline,
    progress: Callable[[float], None],
) -> Iterator[Result]:
    """The answer on one mesh after the other; the last one is complete."""
    posed.demand_standing(robot)
    demand_known(robot, [*within])
    demand_inertia(robot)
    limited = [name.removeprefix("torque.") for name in within]
    free = robot.others(frozenset(robot.rigid))
    deadline.demand()
    equations, outputs = _equations(robot, path.columns)
    deadline.demand()
    guess = at_rest(robot, judgement.placed(robot, start))
    # From where the arm is to where the path begins, and along it, at rest.
    first = path.at(np.zeros(1))[0]
    for share in np.linspace(0, 1, 11)[1:]:
        deadline.demand()
        guess = standing(equations, outputs, free, guess, share * first + (1 - share) * outputs(guess))
    found = _zeros(robot, equations, outputs, free, guess)
    last = guess
    for t in np.linspace(0, path.duration, LEAST + 1)[1:]:
        deadline.demand()
        last = standing(equations, outputs, free, last, path.at(np.array([t]))[0])
    behind = _zeros(robot, equations, outputs, free, last)
    growing, decaying = found.real[found.real > 0], -behind.real[behind.real < 0]
    before, after = (DECAY / float(rates.min(initial=np.inf)) for rates in (growing, decaying))
    whole, fastest = before + path.duration + after, float(np.abs(np.append(found, behind)).max(initial=0.0))
    intervals = int(np.ceil(whole * max(LEAST / path.duration, min(fastest / FAST, FIRST / whole))))
    # More than FIRST are those that the path wants, as long as what decays after it.
    cures = "more damping or a slower path" if after > before else "a slower path"
    for mesh in range(MESHES):
        if intervals > MOST:
            raise ComputationError(
                f"{intervals} intervals would be wanted, {MOST} are taken: the arm moves {before:.3g} s before a path "
                f"of {path.duration:g} s and {after:.3g} s after it; fewer are wanted with {cures}"
            )
        h = whole / intervals
        guesses = _along(path, before, h, intervals, (equations, outputs, free, guess), deadline)
        try:
            motion = inverse(equations, outputs, free, *guesses, h, deadline.demand)
        except NoMotion as lost:
            met = _deaf(path, equations, outputs, free, lost.postures, h, before, HARDLY)
            raise ComputationError(*lost.args, "; ".join(["", *met])) from None
        progress((mesh + 0.5) / (MESHES + 1))
        times, q = motion.dense(-(-ROWS // intervals))
        run = judgement.following(robot, times, q, [*within], deadline.demand)
        error = np.column_stack([run.series[name] for name in path.columns]) - path.at(run.series["t"] - before)
        missed = float(np.abs(error).max())
        arrived = missed <= ARRIVED * path.way
        answer = _answer(robot, path, within, run, motion, (found, behind), (before, after, missed), arrived)
        deaf = _deaf(path, equations, outputs, free, motion.q, h, before, np.inf)
        told = [*told_of_forces(robot), *posed.told_of_passive(robot, limited, answer.summary, answer.series)]
        yield replace(answer, warnings=[*told, *deaf, *answer.warnings])
        if arrived:
            progress(1.0)
            return
        intervals *= 2
    raise ComputationError(
        f"the arm leaves the path by {missed:.1g} of {path.way:.3g}: vibrations are too fast beside the path; fewer "
        "modes a link, damping, or more rows of a smoother path; the best so far is told"
    )


def followable(robot: Robot) -> Sequence[str]:
    """Columns that may follow a path."""
    q, qd = (SX.sym(word, robot.n) for word in ("q", "qd"))
    return [*places(propagate(robot, q, qd))]


def _equations(robot: Robot, columns: Sequence[str]) -> tuple[Repeated, Repeated]:
    """[q, qd, qdd] -> forces and accelerations of followable columns, and [q] -> these. Raises UsageError."""
    q, qd, qdd = (SX.sym(word, robot.n) for word in ("q", "qd", "qdd"))
    state = pressed(propagate(robot, q, qd))
    known = places(state)
    if len(columns) != len(robot.joints):
        follow = f"{count} joints follow" if (count := len(robot.joints)) != 1 else "1 joint follows"
        why = f": {follow} as many columns, not {len(columns)}: {listing(columns)}; there are {listing(known)}"
        raise UsageError(Argument("follow"), why)
    y = casadi.vertcat(*(known[name] for name in columns))
    rate = casadi.jtimes(y, q, qd)
    bent = casadi.jtimes(rate, q, qd) + casadi.jtimes(rate, qd, qdd)
    whole = casadi.densify(casadi.vertcat(inverse_dynamics(state, qdd), bent))
    numbers = robot.parameters
    numbers.require(numbers.free_in(whole), PURPOSE)
    symbols = numbers.symbols(numbers.extent)
    of_motion = casadi.Function("equations", [q, qd, qdd, symbols], [whole])
    return with_values(robot, of_motion), with_values(robot, casadi.Function("y", [q, symbols], [casadi.densify(y)]))


def _zeros(robot: Robot, equations: Repeated, outputs: Repeated, free: Sequence[int], q: Array) -> Complex:
    """Those of the columns of the arm at rest. Raises ComputationError where one swings for ever."""
    n = robot.n
    J = np.asarray(equations.jacobian(np.concatenate([q, np.zeros(2 * n)])).full())[:n]
    rows = np.asarray(outputs.jacobian(q).full())
    try:
        found = zeros(J[:, :n], J[:, n : 2 * n], J[:, 2 * n :], rows, free)
    except ComputationError as error:
        shafts = [joint for joint in robot.joints if joint.elastic]
        names, motors = [each.name for each in shafts], [robot.coordinates[each.driven] for each in shafts]
        why = f": motors reach them through the elastic shafts of {', '.join(names)} alone; columns of motors "
        why += f"({', '.join(motors)}) are wanted, or rigid joints"
        raise ComputationError(*error.args, why if shafts else ": others are wanted, like the endpoint") from None
    for zero in found:
        if abs(zero.real) <= SWINGING * abs(zero):
            raise ComputationError(
                f"while the columns stand still the arm would swing on with {abs(zero):.4g} rad/s: no motion begins "
                "and ends at rest; damping, or other columns"
            )
    return found


def _deaf(
    path: Path,
    equations: Repeated,
    outputs: Repeated,
    free: Sequence[int],
    q: Array,
    h: float,
    before: float,
    hardly: float,
) -> list[str]:
    """Where torques do not accelerate the columns of a path in some direction, between postures q (N + 1, n) every h
    seconds, or ``hardly`` do so, by their condition: a motion is none to trust there."""
    n, found = q.shape[1], list[tuple[float, float]]()
    for posture in q:
        mass = np.asarray(equations.jacobian(np.concatenate([posture, np.zeros(2 * n)])).full())[:n, 2 * n :]
        try:
            found.append(answers(mass, np.asarray(outputs.jacobian(posture).full()), free))
        except np.linalg.LinAlgError:  # postures of a search that went astray
            return []
    signs, conditions = (np.array(each) for each in zip(*found, strict=True))
    turned = np.flatnonzero(np.diff(signs))
    if not len(turned) and conditions.max() < hardly:
        return []
    worst, what = (turned[0], "do not") if len(turned) else (conditions.argmax(), "hardly")
    return [
        f"at {h * worst - before:.3g} s of the path torques {what} accelerate {listing(path.columns)} in some "
        "direction: they ring there; fewer modes a link, or a slower path, may keep clear of that"
    ]


def _along(
    path: Path,
    before: float,
    h: float,
    intervals: int,
    arm: tuple[Repeated, Repeated, Sequence[int], Array],
    deadline: Deadline,
) -> tuple[Array, Array]:
    """Postures at rest at the ends of the intervals (N + 1, n), and accelerations at their stages (N, stages, k)."""
    equations, outputs, free, q = arm
    nodes, rows = h * np.arange(intervals + 1) - before, [q]
    for place in path.at(nodes[1:]):
        deadline.demand()
        q = standing(equations, outputs, free, q, place) if np.abs(outputs(q) - place).max() > 0 else q
        rows.append(q)
    rises = path.at(nodes[:-1, None] + h * TIMES, 2)
    return np.array(rows), leading(path.at(nodes), path.at(nodes, 1), rises, h)


def _answer(
    robot: Robot,
    path: Path,
    within: Mapping[str, tuple[float, float]],
    run: Result,
    motion: Followed,
    found: tuple[Complex, Complex],
    numbers: tuple[float, float, float],
    arrived: bool,
) -> Result:
    (before, after, missed), names = numbers, robot.coordinates
    columns = ["t", *names, *(f"{name}_dot" for name in names), *(f"torque.{joint.name}" for joint in robot.joints)]
    series = {name: run.series[name] for name in dict.fromkeys([*columns, *path.columns, *within])}
    series = without_rounding(series, places=names)
    summary: dict[str, Scalar] = {
        "complete": arrived,
        "duration": float(series["t"][-1]),
        "pre_actuation": before,
        "post_actuation": after,
        "path_error": missed,
        "intervals": len(motion.qdd),
        "iterations": motion.iterations,
    }
    for joint in robot.joints:
        tau = series[f"torque.{joint.name}"]
        summary[f"peak_torque.{joint.name}"] = float(np.abs(tau).max())
        summary[f"rms_torque.{joint.name}"] = float(np.sqrt((tau**2).mean()))
    at: Mapping[str, Mapping[str, float]] = {
        word: robot.by_name(q) for word, q in (("start", motion.q[0]), ("goal", motion.q[-1]))
    }
    table = NamedArray(np.column_stack(found), numbered(len(found[0])), "rad/s", ["start", "goal"])
    arrays = {"zeros": table} if len(found[0]) else {}
    units = {name: run.units[name] for name in series}
    told = [*run.warnings]
    for name, (low, high) in within.items():
        if (share := judgement.passed(run.series[name], low, high)) > PASSED:
            told.append(
                f"{name} goes beyond its limits {low:g} and {high:g}, by {share:.2g} of them: a slower path, or wider "
                "limits"
            )
    return Result(PURPOSE, robot.name, robot.order, at, arrays, series, summary, told, units=units, about=robot)
