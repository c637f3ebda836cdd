"""Plans are judged by simulations: of the arm under the plan, and of a finer model whose motors follow it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from itertools import compress

import numpy as np
from casadi import SX

from kronbot.compute.arrays import Scalar
from kronbot.compute.trace import traced
from kronbot.description.controlling import Control
from kronbot.description.in_time import TimeTable
from kronbot.description.moving import TableMotion
from kronbot.description.schema import JointDrive, Modes, RobotFile, Simulate
from kronbot.description.table import Table
from kronbot.description.wording import listing
from kronbot.errors import Failure
from kronbot.floats import Array, rounded
from kronbot.mechanics.control.planned import Plan
from kronbot.mechanics.control.wanted import Arm
from kronbot.mechanics.linear.modal import stiffness
from kronbot.mechanics.motion.forces import forces
from kronbot.mechanics.motion.integration import Tolerances
from kronbot.mechanics.multibody.kinematics import endpoint
from kronbot.mechanics.multibody.state import propagate
from kronbot.model.build import build
from kronbot.model.robot import Robot
from kronbot.questions.bounded import outputs
from kronbot.questions.pressed import PURPOSE, at_rest
from kronbot.questions.result import Result
from kronbot.questions.simulate import Run, simulate
from kronbot.records import dataclass

# Rows of the answer at least; modes more a direction of the model that judges.
ROWS, FINER = 200, 2
# Rows of a motion at least: the spline through them leaves it by less than what excites fast vibrations.
FOLLOWED = 1000
# Rows in a step of torque, within which columns rise and fall that are kept within limits.
WITHIN = 8
# Vibrations are looked for so many durations of the motion at most: rows of the motors' table go on to there.
LONGEST = 40
# By default for so many periods of the slowest one at least; half of one has its largest distance. In so many rows.
SWINGS, HALF, WATCHED = 2, 0.5, 2000
# Torques below this share of what a joint has of weight and inertia leave it alone.
ALONE = 1e-2
FINE = Tolerances(1e-10, 1e-12)


@dataclass(frozen=True)
class Wish:
    """From rest at the motors' values ``start`` to rest at ``goal`` (joints,), torques within ``low`` and ``high``.

    ``least`` is the effort, change or residual vibration of a motion that takes a ``duration`` (s), or the time (None).
    Inputs are torques, or motions that motors follow exactly (``follows``). ``limits`` are those of other columns.
    Motors pass ``through`` places (joints,), NaN for any, at times (s), or ``whenever`` it is best, in this order.
    Vibrations are looked for so long ``after`` (s), LONGEST times the motion at most, by default as long as that, and
    for SWINGS periods of the slowest one.
    """

    start: Array
    goal: Array
    low: Array
    high: Array
    duration: float | None
    least: str
    follows: bool = False
    limits: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    after: float | None = None
    through: Sequence[tuple[float, Array]] = ()
    whenever: bool = False


def under(robot: Robot, best: Plan, wish: Wish, finer: int, watch: Callable[[], None]) -> Result:
    """The arm itself under the plan, by another integrator, with so many times the rows; ``watch`` may stop it."""
    pieces = -(-finer * (FOLLOWED if wish.follows else ROWS) // best.intervals)
    pieces = max(pieces, WITHIN) if wish.limits and not wish.follows else pieces
    step = best.duration / (best.intervals * pieces)
    tables, drives = dict[str, Table](), {}
    if wish.follows:
        times, places = best.followed(robot.rigid, pieces)
        for joint, way in zip(robot.joints, places.T, strict=True):
            drives[joint.name] = JointDrive(motion=TableMotion(_table(tables, joint.name, times, way)))
    else:
        times = np.linspace(0, best.duration, best.intervals + 1)
        for joint, tau in zip(robot.joints, best.inputs.T, strict=True):
            file = _table(tables, joint.name, times, np.append(tau, tau[-1]))
            drives[joint.name] = JointDrive(torque=TimeTable(file, steps=True))
    held = {joint.driven for joint in robot.joints} if wish.follows else set()
    start = at_rest(robot, placed(robot, wish.start)).tolist()
    q = {place: value for place, value in enumerate(start) if place not in held}
    watch()
    moved = _driven(robot, robot.file, drives, tables, robot.order)
    watch()
    asked = _outputs(robot, [*wish.limits])
    run = Run(best.duration, step, "recursive", "cvodes", FINE, q, {}, outputs=asked)
    found = simulate(moved, run, lambda share: watch()).whole()
    if wish.follows:
        return found
    # Rows that are a rounding before their step have the torque of the last one: who drives by them would be late.
    rows = np.minimum(np.arange(len(found.series["t"])) // pieces, best.intervals - 1)
    steps = {f"torque.{joint.name}": tau[rows] for joint, tau in zip(robot.joints, best.inputs.T, strict=True)}
    return replace(found, series={**found.series, **steps})


def following(robot: Robot, times: Array, q: Array, columns: Sequence[str], watch: Callable[[], None]) -> Result:
    """The arm from rest whose motors follow coordinates q (N, n) at evenly spaced times (N,), by another integrator;
    with ``columns`` of outputs beside those that are always there."""
    tables, drives = dict[str, Table](), {}
    for joint in robot.joints:
        drives[joint.name] = JointDrive(motion=TableMotion(_table(tables, joint.name, times, q[:, joint.driven])))
    held = {joint.driven for joint in robot.joints}
    start = {place: value for place, value in enumerate(q[0].tolist()) if place not in held}
    moved = _driven(robot, robot.file, drives, tables, robot.order)
    end, step = float(times[-1]), float(times[-1]) / (len(times) - 1)
    asked = _outputs(robot, columns)
    run = Run(end, step, "recursive", "cvodes", FINE, start, {}, outputs=asked)
    return simulate(moved, run, lambda share: watch()).whole()


def _outputs(robot: Robot, columns: Sequence[str]) -> tuple[str, ...]:
    """Those that columns are of."""
    known = outputs(robot)
    return tuple(dict.fromkeys(str(known[name][0]) for name in columns if name in known))


def _table(tables: dict[str, Table], name: str, times: Array, values: Array) -> str:
    """The name of one more table."""
    file = f"plan.{name}.csv"
    rows = zip(times.tolist(), values.tolist(), strict=True)
    tables[file] = Table(file, "".join(f"{t!r},{value!r}\n" for t, value in rows))
    return file


def _driven(
    robot: Robot, file: RobotFile, drives: Mapping[str, JointDrive], tables: Mapping[str, Table], order: str
) -> Robot:
    said, acting = robot.description, tuple(each.push for each in forces(robot).constant.on_frames)
    file = replace(file, control=Control(), motion={}, simulate=Simulate(drive=dict(drives), forces=acting))
    return build(replace(said, robot=file, tables={**said.tables, **tables}), order)


def ways(arm: Arm, robot: Robot, wish: Wish) -> Array:
    """What coordinates go (n,), in the order of size: motors as far as the one of their unit that goes furthest, what
    nothing drives, and motors where none of their unit goes, as far as what has the energy of the whole way.

    They change with units as coordinates do: w_i sqrt(M_ii) = max_k |q_k| sqrt(M_kk), of an arm at its goal.
    """
    away, driven = np.abs(arm.goal - arm.start), list(robot.rigid)
    for _, place in wish.through:
        away[driven] = np.fmax(away[driven], np.abs(place - arm.start[driven]))
    heavy = np.sqrt(np.diag(_inertia(arm)))
    found: Array = np.max(away * heavy) / heavy
    for unit in ("rad", "m"):
        alike = [i for i in driven if robot.units[i] == unit]
        if (most := float(np.max(away[alike], initial=0.0))) > 0:
            found[alike] = most
    return found


def _inertia(arm: Arm) -> Array:
    """M (n, n) at the goal."""
    still, unit = np.zeros(len(arm.goal)), np.eye(len(arm.goal))
    held = arm.forces(arm.goal, still, still)
    return np.array([arm.forces(arm.goal, still, each) - held for each in unit])


def missed(arm: Arm, robot: Robot, run: Result, end: tuple[Array, Array], ways: Array) -> float:
    """How far the arm is at the end from where it should be, with its rates: as shares of ways (n,), and of rates in
    the norm of inertia at its goal."""
    M = _inertia(arm)
    q, qd = ended(robot, run)
    rates = np.column_stack([run.series[f"{name}_dot"] for name in robot.coordinates])
    speeds = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", rates, M, rates), 0.0).max())
    off = float(np.sqrt(max(float((qd - end[1]) @ M @ (qd - end[1])), 0.0)) / speeds)
    return max(float((np.abs(q - end[0]) / ways).max()), off)


def ended(robot: Robot, run: Result) -> tuple[Array, Array]:
    """q and qd (n,) at the end of a run."""
    q, qd = (np.array([run.series[f"{name}{dot}"][-1] for name in robot.coordinates]) for dot in ("", "_dot"))
    return q, qd


def strayed(robot: Robot, run: Result, best: Plan, wish: Wish, ways: Array) -> float:
    """How far motors are from the places that they pass through, as a share of ways (n,)."""
    found, t = 0.0, run.series["t"]
    for time, (_, place) in zip(best.instants, wish.through, strict=True):
        for driven, value in zip(robot.rigid, place.tolist(), strict=True):
            name = robot.coordinates[driven]
            at = _between(t, run.series[name], run.series[f"{name}_dot"], time)
            found = max(found, 0.0 if np.isnan(value) else abs(at - value) / ways[driven])
    return found


def _between(t: Array, values: Array, rates: Array, time: float) -> float:
    """A value between rows, by Hermite's polynomial of degree three."""
    i = int(np.clip(np.searchsorted(t, time) - 1, 0, len(t) - 2))
    h = t[i + 1] - t[i]
    s = (time - t[i]) / h
    rise, first, last = values[i + 1] - values[i], rates[i] * h, rates[i + 1] * h
    return float(values[i] + s * (first + s * (3 * rise - 2 * first - last + s * (first + last - 2 * rise))))


def left_alone(arm: Arm, robot: Robot, run: Result, wish: Wish) -> list[str]:
    """Limited joints whose torques are none beside weight and what accelerates them: they swing, as no motor would."""
    every = slice(None, None, max(1, len(run.series["t"]) // ROWS))
    t = run.series["t"][every]
    q, qd = (np.array([run.series[f"{name}{dot}"][every] for name in robot.coordinates]) for dot in ("", "_dot"))
    many, still, qdd = arm.forces.function.map(len(t)), np.zeros_like(q), np.gradient(qd, t, axis=1)
    weight, found = np.asarray(many(np.vstack([q, still, still]))), list[str]()
    limited = np.isfinite(wish.low) | np.isfinite(wish.high)
    for place, joint in compress(zip(robot.rigid, robot.joints, strict=True), limited):
        alone = still.copy()
        alone[place] = qdd[place]
        own = np.asarray(many(np.vstack([q, still, alone])))[place] - weight[place]
        if np.abs(run.series[f"torque.{joint.name}"]).max() < ALONE * (np.abs(own) + np.abs(weight[place])).max():
            found.append(joint.name)
    return found


def judged(
    arm: Arm, robot: Robot, run: Result, wish: Wish, duration: float, told: list[str], watch: Callable[[], None]
) -> dict[str, Scalar]:
    """What is left of vibration afterwards where motors follow the plan, by a model with more modes: how far its
    endpoint is at most from where it rests while motors stand as they do then."""
    links = tuple(
        link
        if link.flexible is None or not isinstance(link.flexible.shape, str)
        else replace(link, flexible=replace(link.flexible, modes=_finer(link.flexible.modes)))
        for link in robot.file.links
    )
    if not robot.flexible:
        return {}
    period = _longest_period(arm, robot)
    after = min(max(duration, SWINGS * period), LONGEST * duration) if wish.after is None else wish.after
    if after > LONGEST * duration:
        most = f"vibrations are looked for {LONGEST} times its duration at most"
        told.append(f"no finer model has judged the plan: {most}")
        return {}
    if not wish.follows and (alone := left_alone(arm, robot, run, wish)):
        left = f"{listing(alone)} {'is' if len(alone) == 1 else 'are'} left alone, where no motor follows it"
        told.append(f"no finer model has judged the plan: {left}")
        return {}
    times = run.series["t"]
    rest = duration + np.arange(1, max(4, int(np.ceil(after / (times[1] - times[0]))) + 2)) * (times[1] - times[0])
    tables, drives = dict[str, Table](), {}
    for joint in robot.joints:
        values = run.series[robot.coordinates[joint.driven]]
        places = np.append(values, np.full(len(rest), values[-1]))
        drives[joint.name] = JointDrive(motion=TableMotion(_table(tables, joint.name, np.append(times, rest), places)))
    try:
        moved = _driven(robot, replace(robot.file, links=links), drives, tables, robot.order)
        watch()
        end, tolerances = duration + after, Tolerances(1e-8, 1e-10)
        start = at_rest(moved, placed(moved, wish.start))
        q = {place: float(start[place]) for place in moved.others(frozenset(moved.rigid))}
        whole = Run(end, end / WATCHED, "recursive", "rodas", tolerances, q, {})
        found = simulate(moved, whole, lambda share: watch()).whole()
        stood = np.array([found.series[moved.coordinates[place]][-1] for place in moved.rigid])
        place = _endpoint(moved, at_rest(moved, placed(moved, stood)))
    except Failure as error:
        told.append(f"no finer model has judged the plan: {error}")
        return {}
    if after < HALF * period:
        told.append(
            f"what is left is looked for in {after:.3g} s (after), and the slowest vibration swings once in "
            f"{rounded(period)} s: there may be more"
        )
    if "motion_end" not in found.summary:  # hardly anything is watched behind it
        return {}
    # Splines through rows end a little later than the plan.
    later = found.series["t"] >= float(found.summary["motion_end"])
    away = np.column_stack([found.series[f"endpoint.{axis}"] for axis in "xyz"])[later] - place
    return {"residual_amplitude": float(np.linalg.norm(away, axis=1).max())}


def _longest_period(arm: Arm, robot: Robot) -> float:
    """That (s) of the slowest vibration at the goal while motors stand, without what weight adds to K; else 0."""
    f = np.ix_(robot.flexible, robot.flexible)
    least = float(np.linalg.eigvals(np.linalg.solve(_inertia(arm)[f], stiffness(robot, arm.goal)[f])).real.min())
    return 2 * math.pi / math.sqrt(least) if least > 0 else 0.0


def _endpoint(robot: Robot, q: Array) -> Array:
    """Where it is (3,), m, at q (n,)."""

    def parts() -> tuple[dict[str, SX], dict[str, SX]]:
        at = SX.sym("q", robot.n)
        return {"q": at}, {"endpoint": endpoint(propagate(robot, at, SX(robot.n, 1)))}

    return traced(robot, "endpoint", PURPOSE, parts)(q)["endpoint"].ravel()


def _finer(modes: Modes) -> Modes:
    return Modes(*(count + FINER if count else 0 for count in (modes.v, modes.w, modes.torsion)))


def jumps(arm: Arm, robot: Robot, run: Result, best: Plan, wish: Wish) -> dict[str, Array]:
    """Limited columns where steps of torque begin and end, on their side of the jump: a row has one of both."""
    every = range(0, len(run.series["t"]), (len(run.series["t"]) - 1) // best.intervals)
    q, qd = (np.array([run.series[f"{name}{dot}"][every] for name in robot.coordinates]) for dot in ("", "_dot"))
    tau = np.zeros((robot.n, 2 * best.intervals))
    tau[list(robot.rigid)] = np.repeat(best.inputs, 2, axis=0).T
    sides = np.arange(1, 2 * best.intervals + 1) // 2
    at = np.vstack([q[:, sides], qd[:, sides]])
    many = arm.forces.function.map(at.shape[1])

    def needed(qdd: Array) -> Array:
        return np.asarray(many(np.vstack([at, np.broadcast_to(qdd[:, None], q[:, sides].shape)])))

    held = needed(np.zeros(robot.n))
    M = np.array([needed(unit) - held for unit in np.eye(robot.n)])
    qdd = np.linalg.solve(M.T, (tau - held).T[:, :, None])[:, :, 0].T
    seen = np.asarray(arm.seen.function.map(at.shape[1])(np.vstack([at, qdd])))
    return dict(zip(wish.limits, seen, strict=True))


def passed(values: Array, low: float, high: float) -> float:
    """How far a column goes beyond its limits, as a share of their size."""
    return max(0.0, float((low - values).max()), float((values - high).max())) / size_of(low, high)


def room(run: Result, limits: Mapping[str, tuple[float, float]]) -> float:
    """How many times what columns do beside rest may grow until they reach their limits, infinite without any."""
    least = np.inf
    for name, pair in limits.items():
        values = run.series[name]
        rest = np.linspace(values[0], values[-1], len(values))
        for end in (each for each in pair if np.isfinite(each)):
            way, free = values - rest, end - rest
            towards = way * free > 0
            least = min(least, float((free[towards] / way[towards]).min(initial=np.inf)))
    return least


def size_of(low: float, high: float) -> float:
    """That of what is between limits, one of which may be none."""
    return max((abs(each) for each in (low, high) if np.isfinite(each)), default=0.0) or 1.0


def placed(robot: Robot, values: Array) -> Array:
    """q (n,) of motors at values, all else undeformed."""
    q = np.zeros(robot.n)
    q[list(robot.rigid)] = values
    return robot.undeformed(q)
