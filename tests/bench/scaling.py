"""Forward dynamics of chains of flexible links: the recursion against the whole inertia matrix as links are added; and
what large robots take, from the trace to a motion."""

import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import casadi
import numpy as np
from bench import kronbot_side
from bench.chains import Chain
from bench.timing import interleaved
from casadi import SX

from kronbot.compute.native.cost import FULL
from kronbot.compute.native.subjects import Functions
from kronbot.compute.trace import Trace
from kronbot.mechanics.motion.equations import equations
from kronbot.mechanics.multibody.recursion import ALGORITHMS
from kronbot.mechanics.multibody.state import propagate

LARGE = {
    "24 spatial links, 4 shapes each": Chain(links=24, spatial=True),
    "20 spatial links, 4 shapes each": Chain(links=20, spatial=True),
    "60 rigid links": Chain(links=60, modes=0, spatial=True),
}
# Of the motions of large robots, s, and their tolerance.
DURATION, RTOL = 0.1, 1e-8
SIZES = (1, 2, 3, 4, 6, 8, 12, 16)
COUNT = 64


def traces(robot):
    """Accelerations by either algorithm."""
    q, qd, tau = (SX.sym(word, robot.n) for word in ("q", "qd", "tau"))
    state = propagate(robot, q, qd)
    inputs = {"q": q, "qd": qd, "tau": tau}
    return {
        name: Trace(robot.parameters, inputs, {"qdd": solve(state, tau, {})}, "bench")
        for name, solve in ALGORITHMS.items()
    }


def compare(rounds=5, sizes=SIZES):
    """Entries of the report: instructions, microseconds of an interpreted evaluation, ratio to the recursion."""
    entries = []
    for links in sizes:
        robot = Chain(links=links).robot()
        made = traces(robot)
        rng = np.random.default_rng(links)
        states = [rng.uniform(-0.1, 0.1, (COUNT, robot.n)) for _ in range(3)]
        times = interleaved(
            {
                name: kronbot_side.Evaluation(trace.function.map(COUNT), trace, states).run
                for name, trace in made.items()
            },
            rounds,
        )
        for name, each in times.items():
            over = each.over(times["recursive"])
            entries.append(
                {
                    "part": "scaling",
                    "who": name,
                    "links": links,
                    "instructions": made[name].function.n_instructions(),
                    "best_us": each.best / COUNT * 1e6,
                    "median_us": each.median / COUNT * 1e6,
                    "ratio": over["median"],
                    "quartiles": over["quartiles"],
                }
            )
    return entries


def large(chosen=LARGE):
    """Entries of the report: processor time of the first trace, linear model and motions, compilers included."""
    entries = []
    for name, chain in chosen.items():
        entry = {"part": "large", "who": name}
        with tempfile.TemporaryDirectory() as cache, environment(KRONBOT_CACHE=str(Path(cache) / "cache")):
            robot = chain.robot()
            with timed(entry, "trace"):
                system = equations(robot, "recursive")
            with timed(entry, "linearize"):
                file, answer = Path(cache) / "chain.yaml", Path(cache) / "answer.npz"
                file.write_text(chain.text())
                asked = ["linearize", file, "--order", chain.order, "-o", answer, "--quiet"]
                subprocess.run([sys.executable, "-m", "kronbot", *asked], check=True)
            for solver in ("cvodes", "dop853"):
                for choice in ("off", "on"):
                    with timed(entry, f"{solver} {choice}, made"):
                        motion = kronbot_side.motion(
                            robot, RTOL, RTOL / 100, duration=DURATION, step=DURATION, solver=solver, choice=choice
                        )
                    set_off(robot, motion.start)
                    with timed(entry, f"{solver} {choice}"):
                        motion.run()
                entry[f"{solver} steps"] = motion.solver.steps
                functions = Functions(*(part for native in motion.solver.natives for part in native.functions))
                entry[f"{solver} instructions"], entry[f"{solver} differ"] = (
                    functions.instructions,
                    functions.statements(FULL),
                )
        entry |= {"coordinates": robot.n, "nodes": casadi.n_nodes(system.rate)}
        entries.append(entry)
    return entries


def set_off(robot, state):
    """A state of bent joints that turn."""
    joints = [joint.index for joint in robot.joints]
    state[joints], state[[robot.n + place for place in joints]] = (
        0.3 * np.cos(np.arange(len(joints))),
        0.5 * np.sin(np.arange(len(joints))),
    )


@contextmanager
def timed(entry, name):
    """Processor time of this process and of those that it has waited for."""
    before = sum(os.times()[:4])
    yield
    entry[f"{name}_s"] = sum(os.times()[:4]) - before


@contextmanager
def environment(**variables):
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
