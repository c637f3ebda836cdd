"""Runs of a driven robot: what is asked of them, their beginning, and their way alone or beside others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from casadi import SX

from kronbot.compute.trace import Trace, traced
from kronbot.description import limits
from kronbot.errors import ComputationError, KronbotError, UsageError
from kronbot.floats import Array
from kronbot.mechanics.motion.charts import Charts
from kronbot.mechanics.motion.equations import Equations, equations
from kronbot.mechanics.motion.integration import WAITING, Integrator, Tolerances, stops
from kronbot.mechanics.multibody.elements import lengths_and_tensions
from kronbot.mechanics.multibody.energy import elastic_energy, gravity_energy, gravity_size, kinetic_energy
from kronbot.mechanics.multibody.kinematics import endpoint
from kronbot.mechanics.multibody.momentum import momentum
from kronbot.mechanics.multibody.outputs import Instant
from kronbot.mechanics.multibody.stops import Contacts
from kronbot.model.beam import TIP
from kronbot.model.robot import Robot
from kronbot.questions.commanded import motion_end
from kronbot.questions.elements import demand_directions
from kronbot.questions.grids import Times, sampled, sampling, times
from kronbot.questions.initial_state import initial_state, matrices
from kronbot.questions.jolts import told_of_gains, told_of_jolts, told_of_swings
from kronbot.questions.keeping import gathered
from kronbot.questions.measures import SAMPLES
from kronbot.questions.momenta import BOUNDS, MOMENTA
from kronbot.questions.outputs import traced as seen
from kronbot.records import dataclass
from kronbot.system.interruption import Interruptions

PURPOSE = "simulate"
# Errors of a run over the tolerances, which are those of a step.
STRAY = 10.0
# What control engineers call settled: 2 % of the way.
BAND = 0.02


@dataclass(frozen=True)
class Run:
    """What a simulation is asked for: duration and step of the output (s), algorithm, solver, tolerances.

    ``q`` and ``qd`` are initial values by place in the coordinates where they differ from the default: joints start on
    their motion (or at 0), beams at rest, by ``start`` straight or in the equilibrium at the first joint values.
    ``outputs`` are columns beside those that are always there, ``loads`` dead forces and moments on frames, by name;
    ``band`` is the share of its way in which a joint has settled, ``samples`` are those behind the motion.
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
    samples: int = SAMPLES

    def error(self, size: float) -> float:
        """What the tolerances leave open of a joint value of that size (rad or m), over a run of many steps."""
        return STRAY * (self.tolerances.rtol * size + self.tolerances.atol)


@dataclass(frozen=True)
class Begun:
    """A run that is ready to be integrated, and what its answer wants to know of its beginning.

    ``given`` are its loads, ``start`` the state that the integrator takes, ``row`` the same as a run tells it.
    """

    robot: Robot
    run: Run
    system: Equations
    given: Sequence[Array]
    report: Trace
    unmoved: Sequence[str]
    wanted: Times
    solver: Integrator
    start: Array
    row: Array
    at_start: Mapping[str, Array]


class Course:
    """A run on its way: the time that it has ``reached``, its states, and the error that stopped it."""

    def __init__(self, begun: Begun, progress: Callable[[float], None]) -> None:
        self.begun, self.progress = begun, progress
        self.reached, self.end = 0.0, float(begun.wanted.every[-1])
        self.found = list[Array]()
        self.error: KronbotError | None = None

    def alone(self, met: Interruptions) -> None:
        """To its end, or as far as the integrator or a signal lets it."""
        solver = self.begun.solver
        solver.met = met
        try:
            self.found, self.error = gathered(
                met, self._pieces(), lambda found: f"interrupted at t = {self.reached:g} s of {self.end:g} s"
            )
        finally:
            solver.close()

    def abreast(self) -> Iterator[object]:
        """The same beside others, with a pause wherever it waits for them."""
        try:
            for piece in self._pieces():
                if piece is WAITING.states:
                    yield WAITING
                else:
                    self.found.append(piece)
        except KronbotError as error:
            self.error = error

    def _pieces(self) -> Iterator[Array]:
        """States at the times that are wanted, of which the first is the start."""
        begun = self.begun
        robot, system, solver = begun.robot, begun.system, begun.solver
        angles = [i for i, place in enumerate(system.free) if robot.units[place] == "rad"]
        told = np.asarray if solver.charts is None else solver.charts.told
        yield begun.row[None]
        for block in solver.run(begun.wanted.every[1:], begun.start):
            if block is WAITING:
                yield block.states
                continue
            states = np.vstack([block.states, block.x])
            sound = np.isfinite(states).all(axis=1) & (np.abs(states[:, angles]) < limits.LARGEST).all(axis=1)
            if not sound.all():
                yield told(block.states[: int(np.argmin(sound))])
                lost = f"the motion is no longer finite, or an angle beyond {limits.LARGEST:g} rad,"
                raise ComputationError(f"{lost} between t = {self.reached:g} s and {block.t:g} s")
            self.reached = block.t
            yield told(states)[:-1]
            self.progress(self.reached / self.end)


def which(run: Run) -> tuple[str, tuple[str, ...]]:
    """What its equations depend on beside the robot: the algorithm, and the frames that bear loads."""
    return run.algorithm, tuple(name for name, _ in run.loads)


def equations_of(robot: Robot, run: Run) -> Equations:
    """Those of a run. Raises UsageError where it goes beyond a table or a parameter has no value."""
    system = equations(robot, *which(run))
    parameters = robot.parameters
    parameters.require({name for name in system.parameters if parameters.values[name] is None}, PURPOSE)
    short = system.drives.beyond_tables(run.duration, parameters, PURPOSE)
    if short := short + system.forces.beyond_tables(run.duration):
        raise UsageError("; ".join(short))
    return system


def begun_of(robot: Robot, run: Run, system: Equations, solver: Integrator) -> Begun:
    """The run at its start, where the integrator is, too."""
    parameters = robot.parameters
    given = [np.ravel([each for _, each in run.loads])] if run.loads else []
    unmoved = told_of_jolts(robot, system.drives, run.duration)
    unmoved += told_of_gains(robot, system.drives, run.duration)
    unmoved += told_of_swings(robot, system.drives.commanded)
    report = traced(robot, ("report", which(run), run.outputs), PURPOSE, lambda: report_of(system, run.outputs))
    key, end = ("corners", run.duration), run.duration
    at = stops(end, robot.own(key, lambda: system.corners(parameters, end, PURPOSE)))
    every_stop, instants = sampling(parameters, system.drives.sample_time, at)
    wanted = times(run.duration, run.step, at, motion_end(robot, system.drives, sampled(at)), run.samples)
    start = initial_state(robot, system, run.start, run.q, run.qd)
    charts = Charts(len(system.free), start) if robot.base else None
    start = start if charts is None else charts.begun(start)
    numbers = np.concatenate([parameters.bound(system.extent), *given])
    numbers = numbers if charts is None else np.append(numbers, charts.chart)
    solver.begin(every_stop, numbers, charts, instants)
    row, start = solver.row_at(0.0, start), solver.sampled(0.0, start)
    row = row if charts is None else charts.told(row[None])[0]
    demand_directions(robot, report.rows(np.zeros(1), row[None], *(each[None] for each in given))["q"])
    at_start = matrices(robot, system, row)
    return Begun(robot, run, system, given, report, unmoved, wanted, solver, start, row, at_start)


def report_of(system: Equations, asked: tuple[str, ...]) -> tuple[dict[str, SX], dict[str, SX]]:
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
        "gravity_size": gravity_size(state),
        "account": system.accounts,
        "efforts": system.efforts,
        "stops": Contacts.of(state.robot, state.q, state.qd).energy,
        "remembered": system.memory[: len(system.drives.controllers.remembered), :],
    }
    outputs |= seen(Instant(state, system.qdd, system.tau, qd), asked)
    if system.told.numel():
        outputs |= dict(zip((*MOMENTA, *BOUNDS), momentum(state), strict=True))
    outputs |= lengths_and_tensions(state)
    given = {"given": system.given} if system.given.numel() else {}
    return {"t": system.t, "x": system.row} | given, outputs
