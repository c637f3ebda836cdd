"""kronbot's side of every comparison: the one module that knows how its functions are traced and evaluated.

A program's side offers ``batch(task, states)``: an object with ``run()``, which is what is timed, and ``result()``, its
answers for all states as the tasks order them (see ``puma.py``); and ``single(task, states)``: a call for one state.
"""

import os

import casadi
import numpy as np
from casadi import SX

from kronbot.compute.native import policy
from kronbot.compute.native.compiling import compiled, made
from kronbot.compute.native.cost import FULL
from kronbot.compute.native.subjects import Rows
from kronbot.compute.trace import Trace
from kronbot.mechanics.linear.linear_model import LinearModel
from kronbot.mechanics.motion.equations import equations
from kronbot.mechanics.motion.integration import Tolerances, stops
from kronbot.mechanics.motion.integrators import integrator
from kronbot.mechanics.multibody.recursion import ALGORITHMS, inverse_dynamics, solve_positive
from kronbot.mechanics.multibody.state import propagate
from kronbot.questions import grids, runs
from kronbot.questions import hessian as hessians
from kronbot.questions import jacobian as jacobians
from kronbot.questions.initial_state import initial_state

PURPOSE = "bench"
# Points a call: enough to forget the call, few enough to stay in the processor's cache.
CHUNK = 512


def traces(robot):
    """The Puma's tasks as traced functions."""
    q, qd, qdd, tau = (SX.sym(word, robot.n) for word in ("q", "qd", "qdd", "tau"))
    given = {"q": q, "qd": qd, "tau": tau}
    state = propagate(robot, q, qd)
    # Either may be shorter for an arm of few coordinates.
    solved = [
        (Trace(robot.parameters, given, {"qdd": qdd_of}, PURPOSE), qdd_of)
        for qdd_of in (solve(state, tau, {}) for solve in ALGORITHMS.values())
    ]
    forward, accelerations = min(solved, key=lambda pair: pair[0].function.n_instructions())

    linear = LinearModel.about_any_motion(robot)
    parts = casadi.substitute(
        [linear.K_L, linear.D_L, linear.M_L],
        [linear.force, linear.tau],
        [SX.zeros(linear.force.shape), SX.zeros(linear.tau.shape)],
    )
    motion = {"q": linear.q, "qd": linear.qd, "qdd": linear.qdd}
    # As for the state space: the accelerations change by -M^-1 K and -M^-1 D.
    at = casadi.substitute(parts, [linear.q, linear.qd, linear.qdd], [q, qd, casadi.cse(accelerations)])
    changes = solve_positive(at[2], casadi.horzcat(-at[0], -at[1], SX.eye(robot.n)))
    derivatives = dict(zip(given, casadi.horzsplit(changes, robot.n), strict=True))

    seen = jacobians.view(robot, "endpoint", "base")
    return {
        "forward dynamics": forward,
        "inverse dynamics": Trace(
            robot.parameters, {"q": q, "qd": qd, "qdd": qdd}, {"tau": inverse_dynamics(state, qdd)}, PURPOSE
        ),
        "forward dynamics derivatives": Trace(robot.parameters, given, derivatives, PURPOSE),
        "linearization": Trace(robot.parameters, motion, dict(zip("KDM", parts, strict=True)), PURPOSE),
        "Jacobian": asked(jacobians.jacobian(robot, seen, rates=False)),
        "Hessian": asked(hessians.hessian(robot, seen, rates=False)),
    }


def asked(question):
    """The trace of a question of the library."""
    outputs = {name: quantity.expression for name, quantity in question.quantities.items()}
    return Trace(question.parameters, question.inputs, outputs, question.purpose)


class Evaluation:
    """One traced function at rows of states, on one thread, with no copy but for what is left of the last chunk."""

    def __init__(self, mapped, trace, states):
        self.chunk = mapped.size2_in(0)
        self.buffer, self.evaluate = mapped.buffer()
        self.states = [np.ascontiguousarray(rows) for rows in states]
        self.answers = [np.empty((len(states[0]), rows * columns)) for rows, columns in trace._traced.shapes]
        self.taken = [np.zeros((self.chunk, rows.shape[1])) for rows in states]
        self.given = [np.zeros((self.chunk, rows.shape[1])) for rows in self.answers]
        self.bound, self.shapes = np.tile(trace.bound, (self.chunk, 1)), trace._traced.shapes
        self.buffer.set_arg(len(states), memoryview(self.bound))
        self.point(self.taken, self.given)

    def point(self, taken, given):
        """Let the call read and write these."""
        for place, array in enumerate(taken):
            self.buffer.set_arg(place, memoryview(array))
        for place, array in enumerate(given):
            self.buffer.set_res(place, memoryview(array))

    def run(self):
        count = len(self.states[0])
        for first in range(0, count - self.chunk + 1, self.chunk):
            part = slice(first, first + self.chunk)
            self.point([rows[part] for rows in self.states], [rows[part] for rows in self.answers])
            self.evaluate()
        left = count % self.chunk
        if left:
            for array, rows in zip(self.taken, self.states, strict=True):
                array[:left] = rows[-left:]
            self.point(self.taken, self.given)
            self.evaluate()
            for rows, array in zip(self.answers, self.given, strict=True):
                rows[-left:] = array[:left]

    def result(self):
        """Matrices (N, rows, columns) of all outputs."""
        pairs = zip(self.answers, self.shapes, strict=True)
        return [answer.reshape(-1, *reversed(shape)).swapaxes(1, 2) for answer, shape in pairs]


class Side:
    """kronbot, with native code or interpreted."""

    def __init__(self, traced, compiled):
        self.traces, self.compiled = traced, compiled

    def mapped(self, task, chunk):
        """The function for so many states at once; as native code the loop over them is native, too."""
        mapped = self.traces[task].function.map(chunk)
        if not self.compiled:
            return mapped
        found = compiled(FULL, mapped)
        if found is None:
            raise RuntimeError("no native code: is there a C compiler?")
        return found.function

    def batch(self, task, states):
        made = Evaluation(self.mapped(task, CHUNK), self.traces[task], states)
        return made.run, lambda: arranged(task, made.result())

    def single(self, task, states):
        """A call for one state on memory laid out before, as the others' ``data`` is."""
        made = Evaluation(self.mapped(task, 1), self.traces[task], [rows[:1] for rows in states])
        made.run()
        return lambda: made.evaluate()


class Lanes(Side):
    """kronbot with native code that takes several states at a time, as the library does with rows of them."""

    def __init__(self, traced):
        super().__init__(traced, compiled=True)

    def batch(self, task, states):
        trace = self.traces[task]
        found = made(FULL, Rows(trace.function, (len(states),)))
        if found is None:
            raise RuntimeError("no native code: is there a C compiler?")
        inputs = [*map(np.ascontiguousarray, states), trace.bound]
        evaluation = Evaluation(trace.function.map(CHUNK), trace, states)  # its memory alone
        return lambda: found.function(inputs, evaluation.answers), lambda: arranged(task, evaluation.result())


def arranged(task, outputs):
    """Matrices (N, rows, columns) of all outputs as the tasks order them."""
    match task:
        case "forward dynamics" | "inverse dynamics":
            return outputs[0][:, :, 0]
        case "Jacobian":
            return np.concatenate(outputs, axis=1)
        case "Hessian":
            n = round(outputs[0].shape[2] ** 0.5)
            return np.concatenate(outputs, axis=1).reshape(-1, 6, n, n)
    return np.stack(outputs, axis=1)


class Library:
    """kronbot as the library answers rows of states, on one core: it looks its native code up each time.

    That is meant for large batches: it gets all states ``TIMES`` over.
    """

    TIMES = 10

    def __init__(self, traced):
        self.traces = traced

    def batch(self, task, states):
        trace, many, answers = self.traces[task], [np.tile(rows, (self.TIMES, 1)) for rows in states], {}

        def run():
            cores = os.sched_getaffinity(0)
            os.sched_setaffinity(0, {min(cores)})
            try:
                with policy.native("on"):
                    answers.update(trace.rows(*many))
            finally:
                os.sched_setaffinity(0, cores)

        def result():
            pairs = zip(answers.values(), trace._traced.shapes, strict=True)
            return arranged(task, [values[: len(states[0])].reshape(-1, *shape) for values, shape in pairs])

        return run, result

    def single(self, task, states):
        return None


class Called:
    """Traced functions as native code, called as CasADi's users do: arrays in, matrices out."""

    def __init__(self, traced):
        self.traces = traced

    def batch(self, task, states):
        return None

    def single(self, task, states):
        function = compiled(FULL, self.traces[task].function).function
        state, bound = [rows[0] for rows in states], self.traces[task].bound
        return lambda: function(*state, bound)


class Motion:
    """A simulation whose parts can be timed: equations and integrator are made before, outputs afterwards.

    From its second run on an integrator also knows what it has found to suit the robot.
    """

    def __init__(self, robot, run, choice):
        self.robot, self.wanted, self.choice = robot, run, choice
        self.system = equations(robot, run.algorithm)
        self.report = Trace(robot.parameters, *runs.report_of(self.system, ()), PURPOSE)
        self.times = grids.grid(run.duration, run.step)
        self.start = initial_state(robot, self.system, run.start, run.q, run.qd)
        with policy.native(choice):
            self.solver = integrator(run.solver, self.system.ode, run.tolerances)
        at = stops(run.duration, self.system.drives.corners(robot.parameters, run.duration, PURPOSE))
        self.solver.begin(at, robot.parameters.bound(self.system.extent))
        self.states = []

    def run(self):
        """The integration alone."""
        self.states = [self.start]
        for block in self.solver.run(self.times[1:], self.start):
            self.states += list(block.states)

    def rows(self):
        """Outputs at all times, by name."""
        return self.report.rows(self.times, np.array(self.states))


def motion(
    robot,
    rtol,
    atol,
    *,
    duration=10.0,
    step=0.05,
    algorithm="recursive",
    solver="cvodes",
    choice="on",
    most_steps=None,
):
    """Such a simulation of a robot with the drives of its file; ``choice`` as --native."""
    run = runs.Run(duration, step, algorithm, solver, Tolerances(rtol, atol), {}, {})
    made = Motion(robot, run, choice)
    if most_steps is not None:
        made.solver.options["max_num_steps"] = most_steps
    return made


def rates(motion, run):
    """The rates of a system at the states of a run of the same robot."""
    system, parameters = motion.system, motion.robot.parameters
    trace = Trace(parameters, {"t": system.t, "x": system.x}, {"rate": system.rate}, PURPOSE)
    return trace.rows(run.times[: len(run.states)], np.array(run.states))["rate"]
