"""How long a simulation takes: the integration alone beside the whole process, and start-up against a bare import.

Run it by hand: python tests/bench/simulate.py. Figures are medians; only ratios of one run mean something.
"""

import statistics
import subprocess
import sys
import time

import numpy as np

import kronbot
from kronbot.mechanics import simulation
from kronbot.mechanics.integrators import Ode, Tolerances, integrator, stretches

RUNS = 5


def median(action):
    """Median wall time of a few runs, s."""
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def process(*arguments):
    """A whole process, output thrown away."""
    return lambda: subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True)


def integration(robot, tolerances):
    """The integration of canadarm's 10 s alone: equations traced, integrator made, outputs not evaluated."""
    system = simulation.equations(robot, "recursive")
    run = simulation.Run(10.0, 0.05, "recursive", "cvodes", tolerances, {}, {})
    start = simulation._initial_state(robot, system, run)
    solver = integrator("cvodes", Ode(system.t, system.x, system.rate, robot.parameters, None), tolerances)
    pieces = list(stretches(simulation.grid(run.duration, run.step)))

    def action():
        x = start
        for piece in pieces:
            x = solver.advance(piece, x)[-1]
        assert np.isfinite(x).all()

    action()  # the integrators of the pieces are made in the first run
    return action


def main():
    tolerances = Tolerances(1e-8, 1e-10)
    rows = {
        "python -c 'import click'": median(process("-c", "import click")),
        "kronbot --help": median(process("-m", "kronbot", "--help")),
        "python -c 'import casadi, pydantic, yaml'": median(process("-c", "import casadi, pydantic, yaml")),
    }
    for order in ("1", "2"):
        robot = kronbot.load("canadarm", order=order)
        rows[f"canadarm, order {order}: integration of 10 s"] = median(integration(robot, tolerances))
        command = ("-m", "kronbot", "simulate", "canadarm", "--order", order)
        rows[f"canadarm, order {order}: whole process"] = median(process(*command))
    for name, seconds in rows.items():
        print(f"{name:48s} {seconds:8.3f} s")
    ratio = rows["kronbot --help"] / rows["python -c 'import click'"]
    print(f"kronbot --help takes {ratio:.2f} times python -c 'import click'")


if __name__ == "__main__":
    main()
