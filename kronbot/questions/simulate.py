"""Motion of a driven robot in time, with an account of its energy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from casadi import SX

from kronbot.compute.arrays import Scalar
from kronbot.compute.native import policy
from kronbot.compute.trace import traced
from kronbot.errors import ComputationError, KronbotError, UsageError
from kronbot.floats import Array
from kronbot.mechanics.control.controllers import controllers
from kronbot.mechanics.motion.charts import Charts
from kronbot.mechanics.motion.drives import drives
from kronbot.mechanics.motion.equations import Equations, equations
from kronbot.mechanics.motion.integration import Integrator, Tolerances, stops
from kronbot.mechanics.motion.integrators import integrator
from kronbot.mechanics.multibody.elements import lengths_and_tensions
from kronbot.mechanics.multibody.energy import elastic_energy, gravity_energy, kinetic_energy
from kronbot.mechanics.multibody.kinematics import endpoint
from kronbot.mechanics.multibody.momentum import momentum
from kronbot.mechanics.multibody.outputs import Instant
from kronbot.mechanics.multibody.recursion import algorithm_of
from kronbot.mechanics.multibody.stops import Contacts, one_sided
from kronbot.mechanics.static.small import beyond_small
from kronbot.model.beam import TIP
from kronbot.model.robot import Robot
from kronbot.questions.between_rows import told_of_vibrations
from kronbot.questions.columns import columns_of_control, columns_of_simulate, series_of_elements, units_of
from kronbot.questions.commanded import commanded, motion_end
from kronbot.questions.elements import demand_directions
from kronbot.questions.grids import sampled, sampling, times
from kronbot.questions.initial_state import LARGEST_ANGLE, initial_state, matrices, step_of_gravity
from kronbot.questions.jolts import told_of_jolts
from kronbot.questions.keeping import gathered, kept
from kronbot.questions.limits import told_of_run
from kronbot.questions.measures import after_motion, all_held, efforts, places
from kronbot.questions.measures import names as measured
from kronbot.questions.momenta import CHANGES, MOMENTA, changes
from kronbot.questions.outline import Given, Outline
from kronbot.questions.outputs import asked as outputs_asked
from kronbot.questions.outputs import columns
from kronbot.questions.outputs import series as of_outputs
from kronbot.questions.outputs import traced as seen
from kronbot.questions.result import Outcome, Result
from kronbot.records import dataclass
from kronbot.system.interruption import Interruptions

PURPOSE = "simulate"
# Errors of a run over the tolerances, which are those of a step.
STRAY = 10.0
# What control engineers call settled: 2 % of the way.
BAND = 0.02


class Idle(list[Integrator]):
    """Integrators that no run has at the moment: they pickle as none, since they are made of memory and native code."""

    def __reduce__(self) -> tuple[type[Idle], tuple[()]]:
        return Idle, ()


@dataclass(frozen=True)
class Run:
    """What a simulation is asked for: duration and step of the output (s), algorithm, solver, tolerances.

    ``q`` and ``qd`` are initial values by place in the coordinates where they differ from the default: joints start on
    their motion (or at 0), beams at rest, by ``start`` straight or in the equilibrium at the first joint values.
    ``outputs`` are columns beside those that are always there, ``loads`` dead forces and moments on frames, by name;
    ``band`` is the share of its way in which a joint has settled.
    """

    duration: float
    step: float
    algorithm: str
    solver: str
    tolerances: Tolerances
    q: Mapping[int, float]
    qd: Mapping[int, float]
    start: str = "straight"
    outputs: tuple[str, ...] = ()
    loads: Sequence[tuple[str, Sequence[float]]] = ()
    band: float = BAND

    def error(self, size: float) -> float:
        """What the tolerances leave open of a joint value of that size (rad or m), over a run of many steps."""
        return STRAY * (self.tolerances.rtol * size + self.tolerances.atol)


def simulate(robot: Robot, run: Run, progress: Callable[[float], None]) -> Outcome:
    """Integrate the motion and report it on the grid 0, step, 2 step, ..., duration.

    ``progress`` is told the share that is done. What there is when the integrator gives up or the user interrupts is
    reported, marked incomplete. Raises UsageError where the run goes beyond a table or a parameter has no value,
    ComputationError where the mass matrix is singular.
    """
    return kept(lambda met: _simulate(robot, run, progress, met))


def _simulate(robot: Robot, run: Run, progress: Callable[[float], None], met: Interruptions) -> Outcome:
    with met.heard():
        which = run.algorithm, tuple(name for name, _ in run.loads)
        given = [np.ravel([each for _, each in run.loads])] if run.loads else []
        system = equations(robot, *which)
        parameters = robot.parameters
        parameters.require({name for name in system.parameters if parameters.values[name] is None}, PURPOSE)
        short = system.drives.beyond_tables(run.duration, parameters, PURPOSE)
        if short := short + system.forces.beyond_tables(run.duration):
            raise UsageError("; ".join(short))
        jolts = told_of_jolts(robot, system.drives, run.duration)
        report = traced(robot, ("report", which, run.outputs), PURPOSE, lambda: _report(system, run.outputs))
        key, end = ("corners", robot.order, run.duration), run.duration
        at = stops(end, parameters.own(key, lambda: system.corners(parameters, end, PURPOSE)))
        every_stop, instants = sampling(parameters, system.drives.sample_time, at)
        # Equations that were forgotten and traced again may see more symbols.
        kind = which, run.solver, run.tolerances, policy.choice(), system.extent
        idle = parameters.kept(("integrators", robot.order, kind), Idle)
        solver = idle.pop() if idle else integrator(run.solver, system.ode, run.tolerances)
        wanted = times(run.duration, run.step, at, motion_end(robot, system.drives, sampled(at)))
        start = initial_state(robot, system, run.start, run.q, run.qd)
        charts = Charts(len(system.free), start) if robot.base else None
        start = start if charts is None else charts.begun(start)
        numbers = np.concatenate([parameters.bound(system.extent), *given])
        numbers = numbers if charts is None else np.append(numbers, charts.chart)
        solver.begin(every_stop, numbers, charts, instants)
        start = solver.sampled(0.0, start)
        row = start if charts is None else charts.told(start[None])[0]
        demand_directions(robot, report.rows(np.zeros(1), row[None], *(each[None] for each in given))["q"])
        at_start = matrices(robot, system, row)
    states, reached, error = _follow(robot, system, solver, wanted.every, start, progress, met)
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
    series = _series(robot, done, rows) | of_outputs(robot, run.outputs, rows)
    shown = reached_times.shown[:count]
    # A run that stops early is summed up over all there is.
    seen = reached_times.watched[:count] | (error is not None)
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
    if error is None:  # what an error has left in it nobody knows
        idle.append(solver)
    summary |= {"start": run.start} if run.start == "equilibrium" else {}
    watching = {name: each[seen] for name, each in series.items()}
    summary |= highlights(robot, watching, run.solver) | efforts(robot, watching)
    if error is None and len(wanted.rest) and all_held(robot, system.drives):
        at_rest, then = np.append(0.0, wanted.rest), np.vstack([row, rested])
        there = places(robot, system, which).rows(at_rest, then, *(np.tile(each, (len(then), 1)) for each in given))
        summary |= after_motion(robot, system.drives, wanted.rest, there, run.band)
    if robot.base:
        summary |= changes(watching, rows["momentum_sizes"][seen])
    q = values["q"][:count]
    if beyond := int(beyond_small(robot, q[shown], PURPOSE).sum()):
        summary["rows_beyond_small_deflections"] = beyond
    series = {name: each[shown] for name, each in series.items()}
    names = robot.derivative_names(["q", "qd"])
    begin = {
        word: {name: float(series[column][0]) for name, column in zip(robot.coordinates, columns, strict=True)}
        for word, columns in names.items()
    }
    told = [*jolts, *told_of_run(robot, q[seen], done[seen], run.error)]
    if count > 1:  # of a run that did not begin nobody knows how far beams bend
        told += step_of_gravity(robot, system, report, start, summary, given)
        told += told_of_vibrations(robot, system.free, at_start, q, values["qd"][:count], run.step)
    units = units_of(robot, series, columns(robot, run.outputs))
    return Outcome(
        Result("simulate", robot.name, robot.order, begin, {}, series, summary, told, units=units, about=robot), error
    )


def _follow(
    robot: Robot,
    system: Equations,
    solver: Integrator,
    times: Array,
    x: Array,
    progress: Callable[[float], None],
    met: Interruptions,
) -> tuple[Array, float, KronbotError | None]:
    """States at the times (the first is that of x), as far as the solver gets; the time it reached; what stopped it."""
    reached, end = 0.0, float(times[-1])
    angles = [i for i, place in enumerate(system.free) if robot.units[place] == "rad"]
    solver.met = met
    told = np.asarray if solver.charts is None else solver.charts.told

    def blocks() -> Iterator[Array]:
        nonlocal reached
        yield told(x[None, :])
        for block in solver.run(times[1:], x):
            states = np.vstack([block.states, block.x])
            sound = np.isfinite(states).all(axis=1) & (np.abs(states[:, angles]) < LARGEST_ANGLE).all(axis=1)
            if not sound.all():
                yield told(block.states[: int(np.argmin(sound))])
                lost = f"the motion is no longer finite, or an angle beyond {LARGEST_ANGLE:g} rad,"
                raise ComputationError(f"{lost} between t = {reached:g} s and {block.t:g} s")
            reached = block.t
            yield told(states)[:-1]
            progress(reached / end)

    try:
        found, error = gathered(met, blocks(), lambda found: f"interrupted at t = {reached:g} s of {end:g} s")
    finally:
        solver.close()
    return np.concatenate(found), reached, error


def _report(system: Equations, asked: tuple[str, ...]) -> tuple[dict[str, SX], dict[str, SX]]:
    """All that a row of output holds, from t and x."""
    state = system.state
    q, qd = system.coordinates
    outputs = {"q": q, "qd": qd, "tau": system.tau}
    for at in state.links:
        if at.link.beam is not None:
            outputs[f"tip {at.link.name}"] = at.link.beam.moved(TIP, at.tip.pose.r)
    outputs |= {
        "endpoint": endpoint(state),
        "kinetic": kinetic_energy(state),
        "elastic": elastic_energy(state),
        "gravity": gravity_energy(state),
        "account": system.x[-2:],
        "stops": Contacts.of(state.robot, state.q, state.qd).energy,
        "remembered": system.memory[: len(system.drives.controllers.remembered), :],
    }
    outputs |= seen(Instant(state, system.qdd, system.tau, qd), asked)
    if system.told.numel():
        outputs |= dict(zip((*MOMENTA, "momentum_sizes"), momentum(state), strict=True))
    outputs |= lengths_and_tensions(state)
    given = {"given": system.given} if system.given.numel() else {}
    return {"t": system.t, "x": system.row} | given, outputs


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


def highlights(robot: Robot, series: Mapping[str, Array], solver: str) -> dict[str, Scalar]:
    """Energy balance, deflections, deviations from the motion, of the columns of a run at the times it is watched.

    ``energy_drift`` is the largest imbalance by the largest energy of any kind, of gravity from the base frame: what is
    held counts, since its rounding does, and a robot at rest turns nothing over. What ``rodas`` damps of vibrations
    that it steps over is what is missing in the balance at the end, nothing where errors have added.
    """
    largest = max(float(np.abs(series[f"energy.{kind}"]).max()) for kind in ("kinetic", "elastic", "gravity", "work"))
    imbalance = float(np.abs(series["energy.balance"]).max())
    summary: dict[str, Scalar] = {
        "largest_energy": largest,
        "energy_imbalance": imbalance,
        "energy_drift": imbalance / largest if largest else 0.0,
    }
    if solver == "rodas":
        summary["energy_taken_by_solver"] = max(0.0, -float(series["energy.balance"][-1]))
    for link in robot.links:
        if link.beam is not None and link.modes:
            tip = np.array([series[f"tip.{link.name}.{axis}"] for axis in "xyz"])
            summary[f"peak_deflection.{link.name}"] = float(np.linalg.norm(tip, axis=0).max())

    driven = {joint.name: robot.coordinates[joint.driven] for joint in robot.joints}
    for name, wanted in commanded(robot, series["t"]).items():
        if drives(robot).follows(name):
            summary[f"peak_deviation.{name}"] = float(np.abs(series[driven[name]] - wanted).max())
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
    return Outline([*numbers, "rows_beyond_small_deflections"], texts, series=list(series))
