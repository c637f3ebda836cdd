"""The question ``plan``: motions from rest to rest that the flexible arm can do, judged by a finer model of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import cast

import casadi
import numpy as np
from casadi import SX

from kronbot.compute.arrays import Scalar
from kronbot.description.controlling import Control
from kronbot.description.in_time import TimeTable
from kronbot.description.moving import TableMotion
from kronbot.description.schema import JointDrive, Modes, RobotFile, Simulate
from kronbot.description.table import Table
from kronbot.errors import Argument, ComputationError, Interrupted, KronbotError, UsageError
from kronbot.floats import Array
from kronbot.mechanics.control.collocation import Plan, Wanted
from kronbot.mechanics.control.collocation import plan as collocated
from kronbot.mechanics.motion.integration import Tolerances
from kronbot.mechanics.multibody.recursion import demand_inertia, inverse_dynamics
from kronbot.mechanics.multibody.state import propagate
from kronbot.model.build import build
from kronbot.model.robot import Robot
from kronbot.questions.columns import units_of
from kronbot.questions.keeping import kept
from kronbot.questions.outline import Given, Outline
from kronbot.questions.result import Outcome, Result
from kronbot.questions.simulate import Run, simulate
from kronbot.questions.statics import sag
from kronbot.records import dataclass
from kronbot.system.interruption import Interruptions

PURPOSE = "plan"
# Intervals to begin with, how often they are halved, and what may be left at the end, as a share of the way.
INTERVALS, MESHES, ARRIVED = 40, 4, 1e-5
# Rows of the answer at least; modes more a direction of the model that judges.
ROWS, FINER = 200, 2
FINE = Tolerances(1e-10, 1e-12)


@dataclass(frozen=True)
class Wish:
    """From rest at the motors' values ``start`` to rest at ``goal`` (joints,), torques within ``low`` and ``high``.

    In a ``duration`` (s) with the least effort, or as soon as possible (None). Vibrations are looked for so long
    ``after`` (s), by default as long as the motion.
    """

    start: Array
    goal: Array
    low: Array
    high: Array
    duration: float | None
    after: float | None = None


def plan(robot: Robot, wish: Wish, progress: Callable[[float], None]) -> Outcome:
    """The motion with the torques that make it; one that somebody interrupts is the best so far, with its error.

    Raises ComputationError where there is none.
    """
    if robot.base:
        raise UsageError("a floating base has no rest to plan for: plans are for arms that stand")
    return kept(lambda met: _plan(robot, wish, progress, met))


def _plan(robot: Robot, wish: Wish, progress: Callable[[float], None], met: Interruptions) -> Outcome:
    found = _Found()
    try:
        with met.heard():
            met.demand_none()
            demand_inertia(robot)
            found.search(robot, wish, progress, met)
            answer = _answer(robot, wish, found, True)
    except KeyboardInterrupt:
        if found.best is None:
            raise
        met.take_time()
        return Outcome(_answer(robot, wish, found, False), Interrupted(f"{found.stopped}; the best so far is told"))
    progress(1.0)
    return Outcome(answer, None)


@dataclass
class _Found:
    """What a search has found: the ``best`` plan, and the ``run`` of the arm under it, which ``missed`` its goal."""

    best: Plan | None = None
    run: Result | None = None
    missed: float = np.inf
    ends: Sequence[Array] = ()
    stopped: str = "interrupted"

    def search(self, robot: Robot, wish: Wish, progress: Callable[[float], None], met: Interruptions) -> None:
        """Halve intervals until the arm arrives."""
        self.ends = [sag(robot, _placed(robot, values)) for values in (wish.start, wish.goal)]
        forces = _forces(robot)
        inputs = np.eye(robot.n)[:, list(robot.rigid)]
        wanted = _wanted(robot, wish, forces, self.ends, inputs)
        for mesh in range(MESHES):
            intervals = INTERVALS * 2**mesh
            try:
                with met.polled(), met.at_work(lambda: "interrupted in a step of the search that did not end in time"):
                    best = collocated(forces, inputs, wanted, intervals, self.best, met.demand_none)
            except Interrupted as error:
                self.stopped = str(error)
                if self.best is None:
                    self.best = cast("Plan | None", error.partial)
                raise
            progress((mesh + 0.5) / (MESHES + 1))
            self.best, self.run = best, None
            self.run = _under(robot, best, wish)
            self.missed = _missed(robot, self.run, self.ends)
            if self.missed <= ARRIVED:
                return
        why = f"by {self.missed:.1g} of its way, {intervals} intervals"
        raise ComputationError(
            f"under the torques of the plan the arm misses its goal ({why}): vibrations are too fast beside the "
            "motion; fewer modes a link, damping, or a shorter motion want fewer intervals"
        )


def _answer(robot: Robot, wish: Wish, found: _Found, complete: bool) -> Result:
    best, run = found.best, found.run
    assert best is not None
    series = _rows(robot, best) if run is None else run.series
    names = [*robot.coordinates, *(f"{name}_dot" for name in robot.coordinates)]
    series = {name: series[name] for name in ["t", *names, *(f"torque.{joint.name}" for joint in robot.joints)]}
    summary: dict[str, Scalar] = {
        "complete": complete,
        "duration": best.duration,
        "least": "time" if wish.duration is None else "effort",
        "intervals": len(best.tau),
        "iterations": best.iterations,
    }
    summary |= {} if run is None else {"end_error": found.missed}
    for joint, tau in zip(robot.joints, best.tau.T, strict=True):
        summary[f"peak_torque.{joint.name}"] = float(np.abs(tau).max())
        summary[f"rms_torque.{joint.name}"] = float(np.sqrt((tau**2).mean()))
    told = [] if run is None else list(run.warnings)
    if run is None:
        told.append(
            "no simulation has judged this plan: its rows are those of the search, which misses equations of motion, "
            f"ends or limits by up to {best.missed:.1g} of their size"
        )
    elif complete:
        summary |= _judged(robot, run, wish, best.duration, told)
    at = {word: robot.by_name(q) for word, q in zip(("start", "goal"), found.ends, strict=True)}
    units = units_of(robot, series)
    return Result(PURPOSE, robot.name, robot.order, at, {}, series, summary, told, units=units, about=robot)


def _rows(robot: Robot, best: Plan) -> dict[str, Array]:
    """What the search knows: the ends of its intervals, torques of those that begin there."""
    series = {"t": np.linspace(0, best.duration, len(best.q))}
    for i, name in enumerate(robot.coordinates):
        series |= {name: best.q[:, i], f"{name}_dot": best.qd[:, i]}
    torques = np.vstack([best.tau, best.tau[-1:]])
    return series | {f"torque.{joint.name}": torques[:, i] for i, joint in enumerate(robot.joints)}


def _placed(robot: Robot, values: Array) -> Array:
    q = np.zeros(robot.n)
    q[list(robot.rigid)] = values
    return robot.undeformed(q)


def _forces(robot: Robot) -> casadi.Function:
    """(q, qd, qdd) -> forces that a motion needs, with the values of the robot's parameters."""
    q, qd, qdd = (SX.sym(word, robot.n) for word in ("q", "qd", "qdd"))
    needed = casadi.densify(inverse_dynamics(propagate(replace(robot, stops=()), q, qd), qdd))
    numbers = robot.parameters
    numbers.require({name for name in numbers.used_in(needed) if numbers.values[name] is None}, PURPOSE)
    extent = numbers.extent
    whole = casadi.Function("whole", [q, qd, qdd, numbers.symbols(extent)], [casadi.cse(needed)])
    return casadi.Function("forces", [q, qd, qdd], [whole(q, qd, qdd, numbers.bound(extent))])


def _wanted(robot: Robot, wish: Wish, forces: casadi.Function, ends: Sequence[Array], inputs: Array) -> Wanted:
    """The wish in numbers of the problem: a first guess of its time, sizes of torques."""
    start, goal = ends
    rest, places = np.zeros(robot.n), list(robot.rigid)
    way = np.abs(goal - start)[places]
    if not way.any():
        raise UsageError(Argument("to"), " is where the arm stands already")
    unit = robot.undeformed_rates(inputs.T)

    def needed(q: Array, qdd: Array) -> Array:
        return np.asarray(forces(q, rest, qdd))[:, 0]

    weight = [needed(q, rest)[places] for q in ends]
    inertia = np.array([np.abs((needed(start, e) - needed(start, rest)) @ e) for e in unit])
    held = np.max(np.abs(weight), axis=0)
    limit = np.minimum(np.abs(wish.low), np.abs(wish.high))
    if wish.duration is None:
        moving = way > 0
        if not np.isfinite(limit[moving]).all():
            names = ", ".join(
                j.name for j, bare in zip(robot.joints, ~np.isfinite(limit) & moving, strict=True) if bare
            )
            raise UsageError("the shortest time wants limits of torque: ", Argument("effort_limits"), f" of {names}")
        duration = float(1.5 * np.max(2 * np.sqrt(way * inertia / np.maximum(limit, 1e-300))[moving]))
    else:
        duration = wish.duration
    scale = np.where(np.isfinite(limit), limit, held + 6 * inertia * way.max() / np.square(duration))
    return Wanted(start, goal, wish.low, wish.high, np.maximum(scale, 1e-12), duration, wish.duration is None)


def _under(robot: Robot, best: Plan, wish: Wish) -> Result:
    """The arm itself under the torques of the plan, by another integrator."""
    times = np.linspace(0, best.duration, len(best.tau) + 1)
    tables, drives = {}, {}
    for joint, tau in zip(robot.joints, best.tau.T, strict=True):
        file = f"plan.{joint.name}.csv"
        rows = zip(times.tolist(), [*tau.tolist(), float(tau[-1])], strict=True)
        tables[file] = Table(file, "".join(f"{t!r},{value!r}\n" for t, value in rows))
        drives[joint.name] = JointDrive(torque=TimeTable(file, steps=True))
    step = best.duration / (len(best.tau) * -(-ROWS // len(best.tau)))
    q = dict(enumerate(sag(robot, _placed(robot, wish.start)).tolist()))
    moved = _driven(robot, robot.file, drives, tables, robot.order)
    outcome = simulate(moved, Run(best.duration, step, "recursive", "cvodes", FINE, q, {}), lambda share: None)
    if outcome.error is not None:
        raise outcome.error
    return outcome.result


def _driven(
    robot: Robot, file: RobotFile, drives: Mapping[str, JointDrive], tables: Mapping[str, Table], order: str
) -> Robot:
    said = robot.description
    file = replace(file, control=Control(), motion={}, simulate=Simulate(drive=dict(drives)))
    return build(replace(said, robot=file, tables={**said.tables, **tables}), order)


def _missed(robot: Robot, run: Result, ends: Sequence[Array]) -> float:
    """How far the arm is from its rest at the end, as a share of the way and of its pace."""
    start, goal = ends
    size = float(np.abs(goal - start).max())
    q = np.array([run.series[name][-1] for name in robot.coordinates])
    qd = np.array([run.series[f"{name}_dot"][-1] for name in robot.coordinates])
    pace = max(float(np.abs(run.series[f"{name}_dot"]).max()) for name in robot.coordinates)
    return max(float(np.abs(q - goal).max()) / size, float(np.abs(qd).max()) / pace)


def _judged(robot: Robot, run: Result, wish: Wish, duration: float, told: list[str]) -> dict[str, Scalar]:
    """What is left of vibration afterwards where motors follow the plan, by a model with more modes."""
    links = tuple(
        link
        if link.flexible is None or not isinstance(link.flexible.shape, str)
        else replace(link, flexible=replace(link.flexible, modes=_finer(link.flexible.modes)))
        for link in robot.file.links
    )
    if not robot.flexible:
        return {}
    after = duration if wish.after is None else wish.after
    times = run.series["t"]
    rest = duration + np.arange(1, max(4, int(np.ceil(after / (times[1] - times[0]))) + 2)) * (times[1] - times[0])
    tables, drives = {}, {}
    for joint in robot.joints:
        file, values = f"motion.{joint.name}.csv", run.series[robot.coordinates[joint.driven]]
        rows = zip([*times.tolist(), *rest.tolist()], [*values.tolist(), *[float(values[-1])] * len(rest)], strict=True)
        tables[file] = Table(file, "".join(f"{t!r},{value!r}\n" for t, value in rows))
        drives[joint.name] = JointDrive(motion=TableMotion(file))
    try:
        moved = _driven(robot, replace(robot.file, links=links), drives, tables, robot.order)
        end, tolerances = duration + after, Tolerances(1e-8, 1e-10)
        whole = Run(end, end / ROWS, "recursive", "rodas", tolerances, {}, {}, "equilibrium")
        outcome = simulate(moved, whole, lambda share: None)
        if outcome.error is not None:
            raise outcome.error
    except KronbotError as error:
        told.append(f"no finer model has judged the plan: {error}")
        return {}
    found = outcome.result.summary
    return {name: found[name] for name in ("residual_amplitude",) if name in found}


def _finer(modes: Modes) -> Modes:
    return Modes(*(count + FINER if count else 0 for count in (modes.v, modes.w, modes.torsion)))


def outline(robot: Robot, given: Given) -> Outline:
    """What the answer holds."""
    (q, qd) = robot.derivative_names(["q", "qd"]).values()
    series = ["t", *q, *qd, *(f"torque.{joint.name}" for joint in robot.joints)]
    numbers = ["duration", "intervals", "iterations", "end_error", "residual_amplitude"]
    numbers += [f"{word}_torque.{joint.name}" for joint in robot.joints for word in ("peak", "rms")]
    return Outline(numbers, ["complete", "least"], series=series)
