"""Forward dynamics of chains of flexible links: the recursion against the whole inertia matrix as links are added."""

import numpy as np
from bench import kronbot_side
from bench.chains import Chain
from bench.timing import interleaved
from casadi import SX

from kronbot.compute.trace import Trace
from kronbot.mechanics.multibody.recursion import ALGORITHMS
from kronbot.mechanics.multibody.state import propagate

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
