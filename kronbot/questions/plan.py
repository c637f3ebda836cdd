"""The question ``plan``: motions from rest to rest that the flexible arm can do, judged by a finer model of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import cast

import casadi
import numpy as np
from casadi import SX

from kronbot.compute.arrays import Scalar
from kronbot.errors import Argument, ComputationError, Interrupted, UsageError
from kronbot.floats import Array
from kronbot.mechanics.control.collocation import Arm, Plan, Wanted
from kronbot.mechanics.control.collocation import plan as collocated
from kronbot.mechanics.control.nearest import nearest
from kronbot.mechanics.control.repeated import Repeated
from kronbot.mechanics.control.residual import residual
from kronbot.mechanics.multibody.recursion import demand_inertia, inverse_dynamics
from kronbot.mechanics.multibody.state import propagate
from kronbot.model.robot import Robot
from kronbot.questions import judgement
from kronbot.questions.bounded import demand_known, seen, with_values
from kronbot.questions.columns import columns_of_simulate, units_of
from kronbot.questions.judgement import Wish
from kronbot.questions.keeping import kept
from kronbot.questions.outline import Given, Outline, numbered
from kronbot.questions.result import Outcome, Result
from kronbot.questions.statics import sag
from kronbot.records import dataclass
from kronbot.system.interruption import Interruptions
from kronbot.system.platform import host

PURPOSE = "plan"
# Intervals to begin with, how often they are halved, and what may be left at the end, as a share of the way.
INTERVALS, MESHES, ARRIVED = 40, 5, 1e-5
# Limits are drawn in by more than they were passed, and by at most this share of what is between them.
DRAWN, MOST_DRAWN = 1.5, 0.1
# Bytes for IPOPT's own BLAS, which waits for ever where it does not get them.
SEARCH = 200 << 20


def plan(robots: Sequence[Robot], wish: Wish, progress: Callable[[float], None]) -> Outcome:
    """The motion that several arms share, in numbers of the first, with the torques that make it.

    One that somebody interrupts, or whose search ends without one that arrives, is the best so far, with its error.
    Raises ComputationError where there is none.
    """
    if robots[0].base:
        raise UsageError("a floating base has no rest to plan for: plans are for arms that stand")
    demand_known(robots[0], [*wish.limits])
    return kept(lambda met: _plan(robots, wish, progress, met))


def _plan(robots: Sequence[Robot], wish: Wish, progress: Callable[[float], None], met: Interruptions) -> Outcome:
    robot, found = robots[0], _Found()
    if host.memory_left() < SEARCH:
        raise MemoryError(f"a search wants {SEARCH >> 20} MB more")
    try:
        with met.heard():
            met.demand_none()
            demand_inertia(robot)
            found.search(robots, wish, progress, met)
            answer = _answer(robot, wish, found, True)
    except KeyboardInterrupt:
        if found.best is None:
            raise
        met.take_time()
        return Outcome(_answer(robot, wish, found, False), Interrupted(f"{found.stopped}; the best so far is told"))
    except ComputationError as error:
        if found.best is None:
            raise
        told = ComputationError(*error.args, "; the best so far is told")
        return Outcome(_answer(robot, wish, found, False), told)
    progress(1.0)
    return Outcome(answer, None)


@dataclass
class _Found:
    """What a search has found: the ``best`` plan, and the ``run`` of the arm under it; ``missed`` is the worst's."""

    best: Plan | None = None
    run: Result | None = None
    missed: float = np.inf
    ends: Sequence[Array] = ()
    left: Sequence[float] = ()
    stopped: str = "interrupted"
    least: str = ""
    lost: str = ""

    def search(
        self, robots: Sequence[Robot], wish: Wish, progress: Callable[[float], None], met: Interruptions
    ) -> None:
        """Find one; that of least effort of torques begins at the nearest to a smooth motion, which stands where it
        is lost."""
        self.least, near = wish.least, dict[str, object]()
        if wish.least == "effort" and not wish.follows:
            self.least = "nearest"
            try:
                self._search(robots, replace(wish, least=self.least), progress, met)
                near = {**vars(self)}
            except ComputationError:
                self.best = self.run = None
            self.least = wish.least
        try:
            self._search(robots, wish, progress, met)
        except (ComputationError, Interrupted, KeyboardInterrupt) as error:
            vars(self).update(near | {"stopped": self.stopped, "lost": str(error)})
            if not near or not isinstance(error, ComputationError):
                raise

    def _search(
        self, robots: Sequence[Robot], wish: Wish, progress: Callable[[float], None], met: Interruptions
    ) -> None:
        """Halve intervals, or draw limits in, until all arms arrive within them."""
        robot, arms = robots[0], [_arm(each, wish) for each in robots]
        self.ends = arms[0].start, arms[0].goal
        _demand_within(robots, arms, wish)
        wanted, bounds, intervals = _wanted(robot, wish, arms[0]), _bounds(robot, wish), INTERVALS
        find = nearest if wish.least == "nearest" else collocated
        for mesh in range(MESHES):
            try:
                with met.polled(), met.at_work(lambda: "interrupted in a step of the search that did not end in time"):
                    best = find(arms, wanted, intervals, self.best, met.demand_none)
            except (Interrupted, ComputationError) as error:
                self.stopped = str(error)
                if self.best is None:
                    self.best = cast("Plan | None", error.partial)
                raise
            progress((mesh + 0.5) / (MESHES + 1))
            self.best, self.run = best, None
            runs = [judgement.under(each, best, wish) for each in robots]
            self.run = runs[0]
            way = float(np.abs(arms[0].goal - arms[0].start).max())
            strayed = [judgement.strayed(each, run, wish, way) for each, run in zip(robots, runs, strict=True)]
            still = np.zeros(robot.n)
            ends = best.ends if wish.least == "residual" else [(arm.goal, still) for arm in arms]
            self.missed = max(*map(judgement.missed, arms, robots, runs, ends), *strayed)
            rests = map(judgement.ended, robots, runs)
            self.left = [float(a.residual.energy(*end)) for a, end in zip(arms, rests, strict=True) if a.residual]
            passed = {name: max(judgement.passed(run, name, *pair) for run in runs) for name, pair in bounds.items()}
            if self.missed <= ARRIVED and max(passed.values(), default=0.0) <= ARRIVED:
                return
            efforts = [passed.get(f"torque.{joint.name}", 0.0) for joint in robot.joints]
            wanted = _tighter(wanted, efforts, [passed[name] for name in wish.limits])
            intervals *= 2 if self.missed > ARRIVED else 1
        _refuse(wish, self.missed, passed, best.intervals)


def _answer(robot: Robot, wish: Wish, found: _Found, complete: bool) -> Result:
    best, run = found.best, found.run
    assert best is not None
    series = _rows(robot, best, wish) if run is None else run.series
    names = ["t", *robot.coordinates, *(f"{name}_dot" for name in robot.coordinates)]
    names += [name for name in (*(f"torque.{joint.name}" for joint in robot.joints), *wish.limits) if name in series]
    series = {name: series[name] for name in dict.fromkeys(names)}
    summary: dict[str, Scalar] = {
        "complete": complete,
        "duration": best.duration,
        "least": found.least,
        "intervals": best.intervals,
        "iterations": best.iterations,
    }
    summary |= {} if run is None else {"end_error": found.missed}
    if run is not None and found.left:
        summary |= {"residual_energy": float(np.mean(found.left)), "largest_residual_energy": float(max(found.left))}
    for i, joint in enumerate(robot.joints):
        tau = series.get(f"torque.{joint.name}") if wish.follows else best.inputs[:, i]
        if tau is not None:
            summary[f"peak_torque.{joint.name}"] = float(np.abs(tau).max())
            summary[f"rms_torque.{joint.name}"] = float(np.sqrt((tau**2).mean()))
    told = [] if run is None else list(run.warnings)
    if found.lost and found.least != wish.least:
        told.append(
            f"least effort has not been found ({found.lost}): these are the torques nearest to those of a smooth motion"
        )
    if run is None:
        told.append(
            "no simulation has judged this plan: its rows are those of the search, which misses equations of motion, "
            f"ends or limits by up to {best.missed:.1g} of their size"
        )
    elif complete:
        summary |= judgement.judged(robot, run, wish, best.duration, told)
    at = {word: robot.by_name(q) for word, q in zip(("start", "goal"), found.ends, strict=True)}
    units = units_of(robot, series) if run is None else {name: run.units[name] for name in series}
    return Result(PURPOSE, robot.name, robot.order, at, {}, series, summary, told, units=units, about=robot)


def _rows(robot: Robot, best: Plan, wish: Wish) -> dict[str, Array]:
    """What the search knows: the ends of its intervals, torques of those that begin there."""
    series = {"t": np.linspace(0, best.duration, len(best.q))}
    for i, name in enumerate(robot.coordinates):
        series |= {name: best.q[:, i], f"{name}_dot": best.qd[:, i]}
    if wish.follows:
        return series
    torques = np.vstack([best.inputs, best.inputs[-1:]])
    return series | {f"torque.{joint.name}": torques[:, i] for i, joint in enumerate(robot.joints)}


def _arm(robot: Robot, wish: Wish) -> Arm:
    """Its equations with its values, and both ends: equilibria."""
    start, goal = (sag(robot, judgement.placed(robot, values)) for values in (wish.start, wish.goal))
    forces, columns = _forces(robot), with_values(robot, seen(robot, [*wish.limits]))
    if wish.least != "residual" or wish.duration is None:
        return Arm(forces, columns, start, goal)
    left = residual(forces, goal, robot.others(frozenset(robot.rigid)), (goal - start) / wish.duration)
    return Arm(forces, columns, start, goal, left)


def _demand_within(robots: Sequence[Robot], arms: Sequence[Arm], wish: Wish) -> None:
    """Raise ComputationError where an end itself is beyond a limit, which no motion can mend."""
    for robot, arm in zip(robots, arms, strict=True):
        still, efforts = np.zeros(robot.n), [*zip(wish.low.tolist(), wish.high.tolist(), strict=True)]
        for word, q in (("starts", arm.start), ("ends", arm.goal)):
            values = arm.seen(q, still, still) if wish.limits else still[:0]
            found = [*zip(wish.limits.items(), values.tolist(), strict=True)]
            held = arm.forces(q, still, still)[list(robot.rigid)]
            names = (f"torque.{joint.name}" for joint in robot.joints)
            found += [*zip(zip(names, efforts, strict=True), held.tolist(), strict=True)]
            for (name, (low, high)), value in found:
                if not low <= value <= high:
                    raise ComputationError(
                        f"no plan is found: the arm {word} with {name} = {value:.6g}, beyond its limits {low:g} and "
                        f"{high:g}: wider ones, or another place"
                    )


def _bounds(robot: Robot, wish: Wish) -> dict[str, tuple[float, float]]:
    """Limits that may be passed between the stages: of columns, and of torques that are outcomes."""
    efforts = zip(robot.joints, wish.low.tolist(), wish.high.tolist(), strict=True)
    own = {f"torque.{joint.name}": (low, high) for joint, low, high in efforts} if wish.follows else {}
    return {name: pair for name, pair in (dict(wish.limits) | own).items() if np.isfinite(pair).any()}


def _tighter(wanted: Wanted, efforts: Sequence[float], others: Sequence[float]) -> Wanted:
    """Limits drawn in by what was beyond them between the stages, by shares, and a little more."""
    low, high = drawn_in(wanted.low, wanted.high, DRAWN * np.array(efforts) * wanted.scale)
    seen_low, seen_high = drawn_in(wanted.low_seen, wanted.high_seen, DRAWN * np.array(others) * wanted.sizes)
    return replace(wanted, low=low, high=high, low_seen=seen_low, high_seen=seen_high)


def drawn_in(low: Array, high: Array, inward: Array) -> tuple[Array, Array]:
    """Limits that are closer to each other; an arm that went astray does not take away more than a share of them."""
    inward = np.minimum(inward, MOST_DRAWN * (high - low))
    return low + inward, high - inward


def _refuse(wish: Wish, missed: float, passed: Mapping[str, float], intervals: int) -> None:
    if missed > ARRIVED:
        why = f"by {missed:.1g} of its way, {intervals} intervals"
        cure = "" if wish.follows else ", motors that follow a motion (drive motion)"
        raise ComputationError(
            f"under the plan the arm misses its goal ({why}): vibrations are too fast beside the motion; fewer modes a "
            f"link, damping, a shorter motion{cure} want fewer intervals"
        )
    name, beyond = max(passed.items(), key=lambda item: item[1])
    raise ComputationError(f"under the plan {name} goes beyond its limits, by {beyond:.1g} of them")


def _forces(robot: Robot) -> Repeated:
    """[q, qd, qdd] -> forces that a motion needs."""
    q, qd, qdd = (SX.sym(word, robot.n) for word in ("q", "qd", "qdd"))
    needed = casadi.densify(inverse_dynamics(propagate(replace(robot, stops=()), q, qd), qdd))
    numbers = robot.parameters
    numbers.require({name for name in numbers.used_in(needed) if numbers.values[name] is None}, PURPOSE)
    return with_values(robot, casadi.Function("forces", [q, qd, qdd, numbers.symbols(numbers.extent)], [needed]))


def _wanted(robot: Robot, wish: Wish, arm: Arm) -> Wanted:
    """The wish in numbers of the problem: a first guess of its time, sizes of torques."""
    rest, places = np.zeros(robot.n), list(robot.rigid)
    way = np.abs(arm.goal - arm.start)[places]
    if not way.any():
        raise UsageError(Argument("to"), " is where the arm stands already")
    for _, place in wish.through:
        way = np.fmax(way, np.abs(place - arm.start[places]))
    unit = robot.undeformed_rates(np.eye(robot.n)[places])

    def needed(q: Array, qdd: Array) -> Array:
        return arm.forces(q, rest, qdd)

    weight = [needed(q, rest)[places] for q in (arm.start, arm.goal)]
    inertia = np.array([np.abs((needed(arm.start, e) - needed(arm.start, rest)) @ e) for e in unit])
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
    rise = 6 * way.max() / np.square(duration)
    scale = np.maximum(np.where(np.isfinite(limit), limit, held + inertia * rise), 1e-12)
    moved = [np.abs(needed(arm.start, rise * e) - needed(arm.start, rest)) for e in unit]
    weights = np.maximum(np.sum(moved, axis=0), 1e-6 * np.max(moved))
    weights[places] = scale
    least, most = np.array([*wish.limits.values()], dtype=float).reshape(-1, 2).T
    sizes = np.array([judgement.size_of(*each) for each in wish.limits.values()])
    return Wanted(
        tuple(places), wish.low, wish.high, scale, weights, least, most, sizes, duration,
        wish.least, wish.follows, [(time / duration, place) for time, place in wish.through],
    )  # fmt: skip


def outline(robot: Robot, given: Given) -> Outline:
    """What the answer holds."""
    (q, qd) = robot.derivative_names(["q", "qd"]).values()
    limited = [name for each in given.get("limits", ()) if isinstance(each, Mapping) for name in each]
    series = ["t", *dict.fromkeys((*q, *qd, *(f"torque.{joint.name}" for joint in robot.joints), *limited))]
    numbers = ["duration", "intervals", "iterations", "end_error", "residual_amplitude", "residual_energy"]
    numbers += ["largest_residual_energy"]
    numbers += [f"{word}_torque.{joint.name}" for joint in robot.joints for word in ("peak", "rms")]
    if not any(each is not None for each in given.get("follow", ())):
        return Outline(numbers, ["complete", "least"], series=series)
    numbers += ["pre_actuation", "post_actuation", "path_error"]
    zeros = numbered(2 * robot.n), ["start", "goal"]
    return Outline(numbers, ["complete"], {"zeros": zeros}, columns_of_simulate(robot), complex=("zeros",))
