"""Motion of a driven robot in time, with an account of its energy."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from kronbot.compute.arrays import Scalar
from kronbot.compute.native import policy
from kronbot.description.wording import listing
from kronbot.errors import ComputationError, Interrupted, KronbotError
from kronbot.floats import Array
from kronbot.mechanics.control.controllers import controllers
from kronbot.mechanics.motion.drives import drives
from kronbot.mechanics.motion.equations import Equations
from kronbot.mechanics.motion.integration import Integrator
from kronbot.mechanics.motion.integrators import ONE_STEP, integrator
from kronbot.mechanics.motion.one_step import Abreast
from kronbot.mechanics.multibody.recursion import algorithm_of
from kronbot.mechanics.multibody.stops import one_sided
from kronbot.mechanics.static.small import beyond_small
from kronbot.model.robot import Robot
from kronbot.questions.between_rows import told_of_vibrations, with_rigid_joints
from kronbot.questions.columns import (
    columns_of_control,
    columns_of_simulate,
    columns_of_tips,
    series_of_elements,
    units_of,
)
from kronbot.questions.commanded import commanded
from kronbot.questions.initial_state import step_of_gravity, told_of_letting_go, told_of_standing, told_of_tendons
from kronbot.questions.keeping import kept
from kronbot.questions.limits import told_of_run, told_of_start
from kronbot.questions.measures import (
    NOTHING,
    NUMBERS,
    SAMPLES,
    SAMPLES_AT_MOST,
    Behind,
    absent,
    after_motion,
    all_held,
    efforts,
    places,
)
from kronbot.questions.measures import names as measured
from kronbot.questions.momenta import CHANGES, MOMENTA, changes
from kronbot.questions.noise import ROUNDING, squared
from kronbot.questions.outline import Given, Outline
from kronbot.questions.outputs import asked as outputs_asked
from kronbot.questions.outputs import columns
from kronbot.questions.outputs import series as of_outputs
from kronbot.questions.result import Outcome, Result
from kronbot.questions.runs import Begun, Course, begun_of, equations_of, which
from kronbot.questions.runs import Run as Run
from kronbot.system.interruption import Interruptions, interruptions

PURPOSE = "simulate"
# Runs beside each other, enough for the registers of every processor where some end before the others.
LANES = 32
# The share of an arm's reach that errors of its coordinates may be, and nothing is told.
SMALL = 1e-3
# How many times too many samples may seem to be wanted of few; how many times as many are taken at least where those
# that an even vibration would want were too few.
GUESSED, FURTHER = 4, 4
# The share of a root mean square that is less by more than its error.
SEEN = 0.99
SAMPLING = "interrupted while more samples behind the motion were taken, for what vibrates there; all rows are told"
Kept = TypeVar("Kept")


class Idle(list[Kept]):
    """Integrators that no run has at the moment: they pickle as none, since they are made of memory and native code."""

    def __reduce__(self) -> tuple[type[Idle[Kept]], tuple[()]]:
        return Idle, ()


def simulate(robot: Robot, run: Run, progress: Callable[[float], None]) -> Outcome:
    """Integrate the motion and report it on the grid 0, step, 2 step, ..., duration.

    ``progress`` is told the share that is done. What there is when the integrator gives up or the user interrupts is
    reported, marked incomplete. Raises UsageError where the run goes beyond a table or a parameter has no value,
    ComputationError where the mass matrix is singular.
    """
    return kept(lambda met: _simulate(robot, run, progress, met))


def _simulate(robot: Robot, run: Run, progress: Callable[[float], None], met: Interruptions) -> Outcome:
    with met.heard():
        system = equations_of(robot, run)
        progress(0.0)  # which may stop it
        idle: Idle[Integrator] = _idle(robot, run, system, 1)
        solver = idle.pop() if idle else integrator(run.solver, system.ode, run.tolerances)
        progress(0.0)
        course = Course(begun_of(robot, run, system, solver), progress)
    course.alone(met)
    answer = _told(course)
    if answer.error is None:  # what an error has left in it nobody knows
        idle.append(solver)
    return answer


def alike(robot: Robot, run: Run) -> Hashable:
    """Equal for runs that :func:`each` takes together; None for one that is better off alone."""
    if run.solver not in ONE_STEP or policy.choice() != "on" or robot.base or one_sided(robot):
        return None
    return PURPOSE, run.solver, run.algorithm, run.tolerances, tuple(name for name, _ in run.loads)


def each(
    robots: Sequence[Robot], runs: Sequence[Run], progress: Callable[[float], None]
) -> list[Callable[[], Outcome]]:
    """The same of robots of one structure, each with a run like the others, as what answers or raises each: beside each
    other in lanes where there is native code for these."""
    found: list[Callable[[], Outcome]] = []
    for first in range(0, len(robots), LANES):
        pairs = list(zip(robots[first : first + LANES], runs[first : first + LANES], strict=True))
        system = equations_of(*pairs[0])
        idle: Idle[Abreast] = _idle(*pairs[0], system, LANES)
        try:
            lanes = idle.pop() if idle else Abreast(ONE_STEP[runs[0].solver], system.ode, runs[0].tolerances, LANES)
        except RuntimeError:
            return [partial(simulate, *pair, progress) for pair in zip(robots, runs, strict=True)]
        courses: list[Course] = []
        for pair in pairs:
            try:
                solver = lanes.lanes[len(courses)]
                courses.append(Course(begun_of(*pair, equations_of(*pair), solver), lambda share: None))
                found.append(partial(_told, courses[-1]))
            except KronbotError as error:
                found.append(partial(_refused, error))
        lanes.drive(course.abreast() for course in courses)
        idle.append(lanes)
    return found


def _refused(error: KronbotError) -> Outcome:
    raise error


def _idle(robot: Robot, run: Run, system: Equations, lanes: int) -> Idle[Any]:
    """Integrators of robots of that structure for runs like this one, so many beside each other."""
    # Equations that were forgotten and traced again may see more symbols.
    kind = which(run), run.solver, run.tolerances, policy.choice(), system.extent
    return robot.kept(("integrators", lanes, kind), Idle)


def _told(course: Course) -> Outcome:
    """The answer of a run that has gone as far as it goes. Raises what stopped it at its very start."""
    begun, reached = course.begun, course.reached
    robot, run, system, given, report = begun.robot, begun.run, begun.system, begun.given, begun.report
    error = with_rigid_joints(course.error, robot, system.free, begun.at_start, run.duration)
    if error is not None and not course.found:
        raise error
    wanted, solver, states = begun.wanted, begun.solver, np.concatenate(course.found)
    # Between rows a run is looked at for what vibrates, and nothing else.
    reached_times = wanted.of(len(states))
    rested, states = states[reached_times.resting], states[reached_times.in_rows]
    values = report.rows(reached_times.told, states, *(np.tile(each, (len(states), 1)) for each in given))
    sound = np.all([np.isfinite(each).reshape(len(states), -1).all(axis=1) for each in values.values()], axis=0)
    count = len(states) if sound.all() else int(np.argmin(sound))
    if count == 0:
        raise ComputationError("the motion overflows at its very start: initial values or parameters are too large")
    if count < len(states):
        error = error or ComputationError(f"energies or torques overflow after t = {reached_times.told[count - 1]:g} s")
    done = reached_times.told[:count]
    rows = {name: each[:count] for name, each in values.items()}
    behind = NOTHING
    if error is None and len(wanted.rest) and all_held(robot, system.drives):
        behind, error = _behind_motion(begun, rested, course.progress)
    series = _series(robot, done, rows) | of_outputs(robot, run.outputs, rows)
    shown = reached_times.shown[:count]
    summary: dict[str, Scalar] = {
        "complete": error is None,
        "end": reached if error is None else float(done[shown][-1]),
        "drive": str(system.drives),
        "algorithm": algorithm_of(robot, run.algorithm),
        "solver": run.solver,
        "steps": solver.steps,
        "evaluations": solver.evaluations,
    }
    summary |= {"stop_events": solver.events} if one_sided(robot) else {}
    summary |= {"start": run.start} if run.start == "equilibrium" else {}
    sizes = (float(np.abs(each).max()) for each in series.values())
    noise = ROUNDING * float(rows["gravity_size"].max()) + squared(sizes)
    summary |= highlights(robot, series, run.solver, noise) | efforts(robot, series, rows["efforts"][-1])
    summary |= behind.summary
    if robot.base:
        summary |= changes(series, rows, noise)
    q = values["q"][:count]
    if beyond := int(beyond_small(robot, q[shown], PURPOSE).sum()):
        summary["rows_beyond_small_deflections"] = beyond
    series = {name: each[shown] for name, each in series.items()}
    names = robot.derivative_names(["q", "qd"])
    begin = {
        word: {name: float(series[column][0]) for name, column in zip(robot.coordinates, columns, strict=True)}
        for word, columns in names.items()
    }
    told = [*begun.unmoved, *told_of_start(robot, q[0]), *told_of_standing(robot, system, q[0])]
    told += [*told_of_tendons(robot, system), *told_of_run(robot, q, done, run.error), *behind.told]
    told += [*_told_of_size(robot, run.tolerances.atol, q[0], series), *_told_of_peaks(robot, summary)]
    if run.start == "equilibrium":
        told += told_of_letting_go(robot, system, run.q, q[0], float(rows["gravity_size"].max()))
    if count > 1:  # of a run that did not begin nobody knows how far beams bend
        told += step_of_gravity(robot, system, which(run), report, begun.start, summary, given)
        # Those of a run that stops early are all there are.
        seen = reached_times.watched[:count] | (error is not None)
        looked = [(done[each], q[each], values["qd"][:count][each]) for each in (shown, seen)]
        told += told_of_vibrations(robot, system.free, begun.at_start, looked, run.step, run.tolerances)
    key = ("units", *series)  # the same for all robots of a structure
    units = robot.kept(key, lambda: units_of(robot, series, columns(robot, run.outputs)))
    return Outcome(
        Result("simulate", robot.name, robot.order, begin, {}, series, summary, told, units=units, about=robot), error
    )


def _behind_motion(begun: Begun, rested: Array, progress: Callable[[float], None]) -> tuple[Behind, Interrupted | None]:
    """How a run that has begun so ends, by its states behind the motion; where these are too few for what vibrates
    there, by those of the same run with as many as that needs, if so many are not too many; and what interrupted it."""
    robot, run, system, given = begun.robot, begun.run, begun.system, begun.given
    pushed = system.forces.last_corner(robot.parameters, run.duration, PURPOSE)
    at_rest, then = np.append(0.0, begun.wanted.rest), np.vstack([begun.row, rested])
    there = places(robot, system, which(run)).rows(at_rest, then, *(np.tile(each, (len(then), 1)) for each in given))
    most = min(SAMPLES_AT_MOST, max(SAMPLES, NUMBERS // then.shape[1]))
    behind = after_motion(robot, system.drives, at_rest[1:], there, run.band, pushed, run.tolerances, most)
    wanted = run.samples * (behind.finer if run.samples == SAMPLES else max(behind.finer, FURTHER))
    if behind.finer == 1 or run.samples >= most or wanted > GUESSED * most:
        return behind, None
    finer = replace(run, samples=min(math.ceil(wanted), most), step=run.duration)
    idle: Idle[Integrator] = _idle(robot, run, system, 1)
    solver = idle.pop() if idle else integrator(run.solver, system.ode, run.tolerances)
    again = Course(begun_of(robot, finer, system, solver), progress)
    with interruptions() as met:
        again.alone(met)
    if again.error is not None:
        return behind, Interrupted(SAMPLING) if isinstance(again.error, Interrupted) else None
    idle.append(solver)
    return _behind_motion(again.begun, np.concatenate(again.found)[again.begun.wanted.resting], progress)


def _told_of_size(robot: Robot, atol: float, q: Array, series: Mapping[str, Array]) -> list[str]:
    """That an arm is hardly larger than errors which its coordinates in m may have, so that no step heeds them.

    How far it reaches is that of its endpoint and tips in the run, and of its lines and bodies at the start q (n,): an
    endpoint may stand in the base frame's origin.
    """
    places = (*columns_of_tips(robot), *(f"endpoint.{axis}" for axis in "xyz"))
    reach = max(float(np.abs(series[name]).max()) for name in places)
    if "m" not in robot.units or not 0 < SMALL * reach < atol:
        return []
    from kronbot.mechanics.multibody import drawing  # here, since few arms seem so small

    points = np.hstack([*drawing.lines(robot)(q), drawing.bodies(robot, q).centres])
    reach = max(reach, float(np.linalg.norm(points, axis=0).max()))
    if SMALL * reach >= atol:
        return []
    return [
        f"coordinates in m may be off by {atol:g} (atol), and the arm reaches {reach:.2g} m: implicit solvers "
        "hardly move there, or miss; numbers of the file in another unit of length, or dop853"
    ]


def _told_of_peaks(robot: Robot, summary: Mapping[str, Scalar]) -> list[str]:
    """That the largest torques were not looked at: none is below the root mean square, which is that of all steps."""
    names = [joint.name for joint in robot.joints]
    peaks, means = ([float(summary.get(f"{word}_torque.{name}", 0.0)) for name in names] for word in ("peak", "rms"))
    missed = [name for name, peak, mean in zip(names, peaks, means, strict=True) if peak < SEEN * mean]
    if not missed:
        return []
    return [
        f"peak_torque of {listing(missed)} is below its root mean square: the largest torques are over between the "
        "times that are looked at; a shorter step shows them (explain measures)"
    ]


def _series(robot: Robot, times: Array, rows: Mapping[str, Array]) -> dict[str, Array]:
    """The columns in the order of the contract (design section 7)."""
    series = {"t": times}
    series |= {name: rows["q"][:, i] for i, name in enumerate(robot.coordinates)}
    series |= {f"{name}_dot": rows["qd"][:, i] for i, name in enumerate(robot.coordinates)}
    series |= {f"torque.{joint.name}": rows["tau"][:, joint.driven] for joint in robot.joints}
    remembered = rows["remembered"].reshape(len(times), -1) + controllers(robot).begun
    series |= dict(zip(columns_of_control(robot), remembered.T, strict=True))
    for link in robot.links:
        if link.beam is not None:
            series |= {f"tip.{link.name}.{axis}": rows[f"tip {link.name}"][:, i] for i, axis in enumerate("xyz")}
    for word in ("endpoint", *MOMENTA) if robot.base else ("endpoint",):
        series |= {f"{word}.{axis}": rows[word][:, i] for i, axis in enumerate("xyz")}
    series |= series_of_elements(robot, rows)
    stored = {name: rows[name][:, 0] for name in ("kinetic", "elastic", "gravity")}
    work, taken = rows["account"].T
    held = rows["stops"][:, 0]
    dissipated = taken - (held - held[0])
    total = stored["kinetic"] + stored["elastic"] + stored["gravity"]
    balance = total - total[0] - work + dissipated
    energies = stored | {"work": work, "dissipated": dissipated, "balance": balance}
    return series | {f"energy.{name}": values for name, values in energies.items()}


def highlights(robot: Robot, series: Mapping[str, Array], solver: str, noise: float) -> dict[str, Scalar]:
    """Energy balance, deflections, deviations from the motion, of all that is known of a run.

    ``energy_drift`` is the largest imbalance by the largest energy of any kind, of gravity from the base frame: what is
    held counts, since its rounding does, and a robot at rest turns nothing over. Where all of them are ``noise``, which
    the rounding of a robot that rests makes, it is 0. What ``rodas`` damps of vibrations
    that it steps over is what is missing in the balance at the end, nothing where errors have added.
    """
    largest = max(float(np.abs(series[f"energy.{kind}"]).max()) for kind in ("kinetic", "elastic", "gravity", "work"))
    imbalance = float(np.abs(series["energy.balance"]).max())
    summary: dict[str, Scalar] = {
        "largest_energy": largest,
        "energy_imbalance": imbalance,
        "energy_drift": imbalance / largest if largest > noise else 0.0,
    }
    if solver == "rodas":
        summary["energy_taken_by_solver"] = max(0.0, -float(series["energy.balance"][-1]))
    for link in robot.links:
        if link.beam is not None and link.modes:
            tip = np.array([series[f"tip.{link.name}.{axis}"] for axis in "xyz"])
            summary[f"peak_deflection.{link.name}"] = float(np.linalg.norm(tip, axis=0).max())
    driven = drives(robot)
    seen = {joint.name: robot.coordinates[driven.controllers.measured(joint)] for joint in robot.joints}
    for name, wanted in commanded(robot, series["t"]).items():
        if driven.follows(name):
            summary[f"peak_deviation.{name}"] = float(np.abs(series[seen[name]] - wanted).max())
    return summary


def outline(robot: Robot, given: Given) -> Outline:
    """What the answer holds: the columns, and what :func:`highlights` and the run tell."""
    driven = drives(robot)
    numbers = ["end", "steps", "evaluations", "largest_energy", "energy_imbalance", "energy_drift"]
    numbers += ["stop_events"] if one_sided(robot) else []
    numbers += ["energy_taken_by_solver"] if "rodas" in given.get("solver", ()) else []
    numbers += [f"peak_deflection.{link.name}" for link in robot.links if link.beam is not None and link.modes]
    numbers += [f"peak_deviation.{name}" for name in driven.commanded if driven.follows(name)]
    numbers += [*measured(robot, driven), *(CHANGES if robot.base else ())]
    texts = ["complete", "drive", "algorithm", "solver", "start"]
    series = dict.fromkeys((*columns_of_simulate(robot), *outputs_asked(robot, given)))
    numbers.append("rows_beyond_small_deflections")
    return Outline(numbers, texts, series=list(series), absent=absent(robot, driven))
