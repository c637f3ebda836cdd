"""Mohan and Saha, section 7.2: is the recursion numerically more stable than the whole inertia matrix?

    python tests/bench/stability.py [PART ...] [--json FILE] [--slow]

The paper lets a Canadarm with two modes a link move for ten seconds by either forward dynamics. The one that builds
the inertia matrix (here ``composite``) gives no result after about 5 s (its figure 6), an unacceptable power difference
from 3.5 s on (figure 7) and accelerations with peaks (figure 8). Parts of the study:

- ``motions``: that simulation over integrators and tolerances in double precision.
- ``precision``: the same by fixed steps of Runge and Kutta, in double and in single precision, and beyond the step's
  limit of stability, where both have to fail.
- ``accuracy``: accelerations of both against exact ones, over chains of links, modes, payloads, hubs and shapes.
- ``breakdown``: simulations of the chains where the errors of the two differ most.
- ``shapes``: the paper's arm with polynomial shapes, whose inertia matrix loses its definiteness in double precision.

Needs mpmath, and a C compiler for the parts ``precision`` and ``breakdown``; some minutes.
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).parents[1])

import argparse
import json
from dataclasses import asdict

import casadi
import numpy as np
from bench import accuracy, canadarm, kronbot_side, machine
from bench.chains import Chain
from bench.command import table
from bench.fixed_step import FixedStep
from casadi import SX

import kronbot
from kronbot.compute.trace import Trace
from kronbot.errors import ComputationError

ALGORITHMS = ("recursive", "composite")
ALL = (1e-4, 1e-6, 1e-8, 1e-10, 1e-12)
TOLERANCES = {"cvodes": ALL, "dop853": ALL, "radau": (1e-4,)}
# SciPy's integrator calls each rate from Python.
SLOW = {"radau": (1e-6, 1e-8)}
# The fastest vibration has 1034 rad/s: beyond 2.83 / 1034 s the method is unstable.
STEPS = (2.8e-3, 2.5e-3, 1e-3, 1e-4)
CHAINS = [
    *(Chain(links=n) for n in (1, 3, 6, 8, 12, 16)),
    *(Chain(links=n, modes=0) for n in (8, 16, 32)),
    Chain(links=4, spatial=True),
    *(Chain(modes=n) for n in (4, 6)),
    *(Chain(modes=n, shape="polynomial") for n in (4, 6, 8)),
    *(Chain(modes=n, shape="legendre") for n in (4, 8)),
    *(Chain(EI=EI) for EI in (1e1, 1e9)),
    *(Chain(hub=hub) for hub in (1e4, 1e6, 1e8)),
    Chain(links=6, taper=0.1),
    *(Chain(links=6, taper=taper) for taper in (3.0, 10.0)),
    *(Chain(payload=payload) for payload in (1e2, 1e4, 1e6, 1e8)),
    Chain(links=8, payload=1e6),
    Chain(links=8, modes=0, payload=1e6),
]
BREAKDOWNS = [Chain(links=3), Chain(links=8), *(Chain(hub=hub) for hub in (1e4, 1e5, 1e6, 1e8, 1e9))]
BREAKDOWN_STEP = 5e-4
POLYNOMIALS, SHORT = (4, 6, 7, 8), 0.25
# Initial modal coordinates of free vibrations, m.
DEFLECTION = 0.02
# Share of the largest energy that is missed by a run that counts as wrong.
WRONG = 0.01
# Coordinates beyond are no motion any more.
FAR = 1e3


def ledger(motion):
    """What the figures show, from the states of a run (as far as it went).

    ``balance``: largest error of the energy by the largest energy turned over, None where nothing was. ``power`` (k,):
    output power of the simulated rates less that of the wanted ones under the same torques (W), figure 7. ``joints``
    (k, joints): the angles, figure 6.
    """
    motion.times = motion.times[: len(motion.states)]
    rows = motion.rows()
    energy = (rows["kinetic"] + rows["elastic"] + rows["gravity"])[:, 0]
    work, lost = rows["account"].T
    imbalance = np.abs(energy - energy[0] - work + lost)
    largest = max(np.abs(energy).max(), np.abs(work).max())
    joints = [joint.index for joint in motion.robot.joints]
    power = ((rows["qd"][:, joints] - wanted_rates(motion)) * rows["tau"][:, joints]).sum(axis=1)
    wrong = np.flatnonzero(imbalance > WRONG * largest)
    return {
        "end": float(motion.times[-1]),
        "balance": float(imbalance.max() / largest) if largest > 0 else None,
        "wrong_from": float(motion.times[wrong[0]]) if len(wrong) else None,
        "power": power,
        "joints": rows["q"][:, joints],
    }


def wanted_rates(motion):
    """Rates (k, joints) of the motions in the robot file."""
    t, robot = SX.sym("t"), motion.robot
    own = robot.motions
    rates = casadi.vertcat(*(own[j.name].derivatives(t)[1] if j.name in own else SX(0) for j in robot.joints))
    return Trace(robot.parameters, {"t": t}, {"rates": rates}, "bench").rows(motion.times)["rates"]


def apart(found, other):
    """Largest differences between the runs of the two algorithms, over the time that both lasted."""
    count = min(len(found["power"]), len(other["power"]))
    pairs = ((found[word][:count], other[word][:count]) for word in ("joints", "power"))
    joints, power = (float(np.abs(a - b).max()) for a, b in pairs)
    return {"joints_apart": joints, "power_apart": power, "power": float(np.max(np.abs(found["power"])))}


def motions(slow):
    """The paper's simulation by solver and tolerance."""
    robot, entries = kronbot.load("canadarm", order="1").model, []
    for solver, tolerances in TOLERANCES.items():
        for rtol in (*tolerances, *(SLOW.get(solver, ()) if slow else ())):
            found = {}
            for algorithm in ALGORITHMS:
                motion = kronbot_side.motion(robot, rtol, rtol / 100, solver=solver, algorithm=algorithm)
                found[algorithm] = ledger(as_far_as_it_goes(motion))
            accelerations = sharpness(robot, motion)
            for algorithm in ALGORITHMS:
                run = found[algorithm]
                entry = {"part": "motions", "solver": solver, "rtol": rtol, "algorithm": algorithm}
                entry |= {key: run[key] for key in ("end", "balance")} | apart(run, found["recursive"])
                entries.append(entry | {"accelerations_apart": accelerations})
    columns = {
        "solver": lambda e: e["solver"],
        "rtol": lambda e: f"{e['rtol']:g}",
        "algorithm": lambda e: e["algorithm"],
        "reached, s": lambda e: f"{e['end']:g}",
        "energy balance": balance,
        "joints apart, rad": lambda e: f"{e['joints_apart']:.1e}",
        "power difference, W": lambda e: f"{e['power']:.4g}",
        "apart, W": lambda e: f"{e['power_apart']:.1e}",
        "accelerations apart": lambda e: f"{e['accelerations_apart']:.1e}",
    }
    table("Canadarm of the paper, 10 s, double precision", columns, entries)
    return entries


def as_far_as_it_goes(motion):
    """The motion after its run; where the integrator gives up there are the states before."""
    try:
        motion.run()
    except ComputationError as reason:
        print(f"{motion.wanted.algorithm}: {reason}", file=sys.stderr)
    return motion


def sharpness(robot, motion):
    """Largest relative difference of the joints' accelerations of both algorithms at the states of a run, figure 8."""
    rates = [
        kronbot_side.rates(kronbot_side.motion(robot, 1e-8, 1e-10, algorithm=algorithm, choice="off"), motion)
        for algorithm in ALGORITHMS
    ]
    places = [robot.n + joint.index for joint in robot.joints]
    first, second = (values[:, places] for values in rates)
    return float((np.abs(first - second).max(axis=0) / np.abs(first).max(axis=0)).max())


def fixed(robot, algorithm, precision, step, deflection):
    """A run by fixed steps from modal coordinates of that size, as far as it is finite."""
    motion = kronbot_side.motion(robot, 1e-8, 1e-10, algorithm=algorithm, choice="off")
    motion.start[list(robot.flexible)] = deflection
    system, parameters = motion.system, robot.parameters
    solver = FixedStep(system.t, system.x, system.rate, parameters.symbols(), parameters.bound(), precision)
    interval = step * max(1, round(0.05 / step))
    states = solver.run(motion.start, 10.0, step, interval)
    motion.times = interval * np.arange(len(states))
    with np.errstate(all="ignore"):
        sound = np.isfinite(states).all(axis=1) & (np.abs(states[:, : robot.n]).max(axis=1) < FAR)
    motion.states = list(states[: len(states) if sound.all() else int(np.argmin(sound))])
    return motion


def by_steps(robot, step, about, deflection=0.0):
    """Entries for both precisions and algorithms, against the double precision's recursion."""
    found = {
        (precision, algorithm): ledger(fixed(robot, algorithm, precision, step, deflection))
        for precision in ("double", "single")
        for algorithm in ALGORITHMS
    }
    truth, entries = found["double", "recursive"], []
    for (precision, algorithm), run in found.items():
        entry = about | {"step": step, "precision": precision, "algorithm": algorithm}
        entries.append(entry | {key: run[key] for key in ("end", "balance", "wrong_from")} | apart(run, truth))
    return entries


def balance(entry):
    return "-" if entry["balance"] is None else f"{entry['balance']:.1e}"


FIXED = {
    "step, s": lambda e: f"{e['step']:g}",
    "precision": lambda e: e["precision"],
    "algorithm": lambda e: e["algorithm"],
    "reached, s": lambda e: f"{e['end']:.3g}",
    "energy balance": balance,
    "wrong by 1 % from, s": lambda e: "never" if e["wrong_from"] is None else f"{e['wrong_from']:.3g}",
    "joints off, rad": lambda e: f"{e['joints_apart']:.1e}",
}


def precision(slow):
    """The paper's simulation by fixed steps."""
    robot = kronbot.load("canadarm", order="1").model
    entries = [entry for step in STEPS for entry in by_steps(robot, step, {"part": "precision"})]
    table("Canadarm of the paper, 10 s, Runge-Kutta of order 4", FIXED, entries)
    return entries


def breakdown(slow):
    """Free vibration of chains in which accelerations differ."""
    entries = []
    for chain in BREAKDOWNS:
        entries += by_steps(chain.robot(), BREAKDOWN_STEP, {"part": "breakdown", "chain": str(chain)}, DEFLECTION)
    table("Free vibration of chains, 10 s, Runge-Kutta of order 4", {"chain": lambda e: e["chain"]} | FIXED, entries)
    return entries


def shapes(slow):
    """The paper's arm with more and more polynomials a link, by CVODES at its order 1."""
    entries = []
    for modes in POLYNOMIALS:
        robot = canadarm.Choice("polynomial", modes, "1", 1e-6).robot()
        for algorithm in ALGORITHMS:
            motion = kronbot_side.motion(
                robot, 1e-6, 1e-8, algorithm=algorithm, choice="off", duration=SHORT, step=0.05, most_steps=20_000
            )
            run = ledger(as_far_as_it_goes(motion))
            entry = {"part": "shapes", "modes": modes, "algorithm": algorithm, "steps": motion.solver.steps}
            entries.append(entry | {key: run[key] for key in ("end", "balance")})
    columns = {
        "polynomials a link": lambda e: str(e["modes"]),
        "algorithm": lambda e: e["algorithm"],
        "reached, s": lambda e: f"{e['end']:g}",
        "steps": lambda e: str(e["steps"]),
        "energy balance": balance,
    }
    table(f"Canadarm with polynomial shapes, {SHORT:g} s, CVODES, rtol 1e-6, double precision", columns, entries)
    return entries


def forward_errors(slow):
    """Errors of single accelerations."""
    entries = []
    for chain in CHAINS:
        entry = accuracy.errors(chain)
        entries.append(entry | {"part": "accuracy", "chain": str(chain), "values": asdict(chain)})
    columns = {"chain": lambda e: e["chain"], "coordinates": lambda e: str(e["coordinates"])}
    for kind in accuracy.KINDS:
        columns |= {f"{kind}, {name}": show(f"{kind} {name}") for name in ALGORITHMS}
        columns[f"{kind}, times"] = times(kind)
    table("Error of accelerations by the largest one, median of random states", columns, entries)
    return entries


def show(key):
    return lambda entry: f"{entry[key]:.1e}"


def times(kind):
    """Error of the composite by that of the recursion."""
    return lambda entry: f"{entry[f'{kind} composite'] / entry[f'{kind} recursive']:.2g}"


PARTS = {
    "motions": motions,
    "precision": precision,
    "accuracy": forward_errors,
    "breakdown": breakdown,
    "shapes": shapes,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)} (default: all)")
    parser.add_argument("--slow", action="store_true", help="SciPy's integrators at more tolerances: minutes more")
    parser.add_argument("--json", type=Path, help="write everything there")
    options = parser.parse_args()
    unknown = set(options.parts) - set(PARTS)
    if unknown:
        parser.error(f"no part {', '.join(sorted(unknown))}: there are {', '.join(PARTS)}")
    entries = [entry for part in options.parts or PARTS for entry in PARTS[part](options.slow)]
    if options.json is not None:
        report = {"machine": machine.describe(), "entries": entries}
        options.json.write_text(json.dumps(machine.plain(report), indent=1) + "\n")


if __name__ == "__main__":
    main()
