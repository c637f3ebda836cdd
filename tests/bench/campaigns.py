"""Whole sweeps: two processes against one, against a loop of commands, how time and memory of a case go with their
number, and, as a part of its own that takes minutes, against Exudyn's ParameterVariation. Ratios of neighbouring runs;
sizes by options.
"""

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from bench import canadarm, exudyn_arm, sweeps
from bench.timing import interleaved

import kronbot

CORES = 2
KEPT = "frequencies_locked[1]"
# Exudyn's side of a campaign; as accurate may be any of kronbot's choices.
THEIRS = [exudyn_arm.Choice(*pair) for pair in ((221, 0.02), (221, 0.01), (321, 0.005), (3, 0.0025))]
OURS = [
    *canadarm.MODES,
    *(
        canadarm.Choice("craig-bampton", modes, "2", rtol, solver="rodas", own_atol=atol)
        for modes in (221, 321, 331, 332, 431)
        for rtol, atol in ((0.1, 3e-4), (0.1, 1e-4), (0.02, 1e-4), (0.02, 3e-5), (0.01, 3e-4), (0.01, 1e-4))
    ),
]
# Stiffnesses (N m^2), what both compute of each, and how alike that is at the errors of both.
RANGE = 9e4, 1.1e5
DEFLECTIONS = [f"max(abs(tip.{link}.y))" for link in ("upper", "forearm", "wrist")]
SAME = 0.02


@dataclass(frozen=True)
class Sizes:
    """Cases of modes, of a loop of commands, of simulations, and of the sweeps whose costs are compared."""

    cases: int = 10_000
    loop: int = 5
    runs: int = 40
    counts: tuple[int, ...] = (1_000, 10_000)


def warm(sweep):
    """Cases a second once all processes have answered their first chunk."""
    workers, begun, first, count = sweep.hands.workers, 0.0, 0, 0
    for i, done in enumerate(sweep.chunks()):
        count = done.stop
        if i == 2 * workers:
            begun, first = time.perf_counter(), done.stop
    if not begun:
        raise ValueError("too few cases: everything was computed while the processes began")
    return (count - first) / (time.perf_counter() - begun)


def workers(question, make, count, rounds):
    """Cases a second with one process and with two, interleaved, and their ratio."""
    rates = {1: [], CORES: []}
    for i in range(rounds):
        for many in sorted(rates, reverse=bool(i % 2)):
            rates[many].append(warm(make(many)))
    ratios = [two / one for one, two in zip(rates[1], rates[CORES], strict=True)]
    return entry(f"{question}: {CORES} processes, warm, over one", count, ratios, 1e3 / np.median(rates[1]))


def entry(who, count, ratios, ms, memory=None):
    """One line of the report: ratios of interleaved runs, milliseconds a case, memory (MB)."""
    ratios = list(map(float, ratios))
    return {"part": "campaigns", "who": who, "cases": count, "ratios": ratios, "ms": float(ms), "MB": memory}


def process(command):
    """Seconds of a whole process, and the most memory (MB) that it, or a process that it has waited for, had."""
    begun = time.perf_counter()
    with subprocess.Popen([sys.executable, "-m", "kronbot", *command], stdout=subprocess.DEVNULL) as started:
        _, status, used = os.wait4(started.pid, 0)
        started.returncode = os.waitstatus_to_exitcode(status)
    if started.returncode:
        raise RuntimeError(f"kronbot {' '.join(command)} has failed")
    return time.perf_counter() - begun, used.ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def swept(robot, count, out, *more):
    """The command of a sweep of modes over EI."""
    over = ["--over", f"EI=100:1000:{count}", "--keep", KEPT, "-q"]
    return ["sweep", "modes", str(robot), *over, "-o", str(out), "--overwrite", *more]


def against_a_loop(robot, out, sizes, rounds):
    """Whole processes: one command a case, by a sweep's share of a case."""
    ratios, shares = [], []
    for i in range(rounds):
        seconds, _ = process(swept(robot, sizes.cases, out))
        shares.append(seconds / sizes.cases)
        loop = [process(["modes", str(robot), "--set", f"EI={100 + i + k}"])[0] for k in range(sizes.loop)]
        ratios.append(np.mean(loop) / shares[-1])
    return entry(
        "a loop of `kronbot modes` over a sweep, whole processes", sizes.cases, ratios, 1e3 * np.median(shares)
    )


def growth(robot, out, sizes):
    """Time and memory of a case by their number: more of them over the fewest."""
    found = {count: process(swept(robot, count, out, "--workers", "1")) for count in sizes.counts}
    first = found[sizes.counts[0]][0] / sizes.counts[0]
    return [
        entry(
            f"modes: time of a case over that of {sizes.counts[0]}", count, [s / count / first], 1e3 * s / count, memory
        )
        for count, (s, memory) in found.items()
    ]


def exudyn_case(parameters):
    """What Exudyn computes of one case: the largest tip deflection."""
    exudyn_arm.EI = parameters["EI"]
    choice = exudyn_arm.Choice(round(parameters["elements"]), parameters["step"])
    return float(np.abs(exudyn_arm.simulate(choice).tips).max())


def as_accurate():
    """For each of Exudyn's choices the fastest of kronbot's that is no less accurate at the arm of the paper."""
    errors, actions = {}, {}
    for choice in OURS:
        motion = choice.motion()
        motion.run()
        errors[choice] = canadarm.errors(*canadarm.histories(motion), canadarm.truth()[0])
        actions[choice] = motion.run
    times = interleaved(actions, 3, warm=False)
    found = {}
    for theirs in THEIRS:
        solution = exudyn_arm.simulate(theirs, every_step=True)
        limits = canadarm.errors(*canadarm.on_grid(solution), canadarm.truth()[0])
        able = [
            choice
            for choice, own in errors.items()
            if all(own[kind] <= limits[kind] * canadarm.ALIKE for kind in ("error", "angle_error"))
        ]
        found[theirs] = min(able, key=lambda choice: times[choice].best)
    return found


def against_exudyn(theirs, choice, runs, rounds):
    """Simulations of the Canadarm over EI, both on all cores from their start to their end, at equal error.

    By the clock, and by the time of the processors, of which others on the machine take less.
    """
    from exudyn.processing import ParameterVariation

    robot = kronbot.loads(choice.text, order=choice.order)
    how = {
        "solver": choice.solver,
        "rtol": choice.rtol,
        "atol": choice.atol,
        "duration": exudyn_arm.DURATION,
        "step": 0.05,
    }
    largest = {}

    def ours():
        over = {"EI": f"{RANGE[0]}:{RANGE[1]}:{runs}"}
        sweep = robot.sweep("simulate", over=over, keep=DEFLECTIONS, workers=CORES, **how)
        largest["kronbot"] = np.max([[row[name] for name in DEFLECTIONS] for row in sweep], axis=1)

    def exudyn():
        fixed = {"elements": [theirs.elements], "step": [theirs.step]}
        options = {"useMultiProcessing": True, "numberOfThreads": CORES, "showProgress": False}
        largest["Exudyn"] = np.array(ParameterVariation(exudyn_case, {"EI": (*RANGE, runs)} | fixed, **options)[1])

    processors = {"kronbot": [], "Exudyn": []}

    def counted(name, action):
        def run():
            before = processor_time()
            action()
            processors[name].append(processor_time() - before)

        return run

    actions = {"kronbot": ours, "Exudyn": exudyn}
    times = interleaved({name: counted(name, action) for name, action in actions.items()}, rounds, warm=False)
    if not np.allclose(largest["kronbot"], largest["Exudyn"], rtol=SAME):
        raise ValueError("the two compute different things")
    clock = {name: each.seconds for name, each in times.items()}
    who = f"Exudyn ({theirs.elements} elements, step {theirs.step:g}) over kronbot ({choice}), {CORES} processes"
    return [
        entry(
            f"{who}, {by}",
            runs,
            [one / other for one, other in zip(seconds["Exudyn"], seconds["kronbot"], strict=True)],
            1e3 * np.median(seconds["kronbot"]) / runs,
        )
        for by, seconds in (("by the clock", clock), ("processor time", processors))
    ]


def processor_time():
    """Of this process and of those that it has waited for (s)."""
    return sum(os.times()[:4])


def variation(runs, rounds):
    """Entries of the report beside Exudyn, and what is missing."""
    try:
        pairs = as_accurate()
    except ImportError as reason:
        return [], {"Exudyn": str(reason)}
    return [each for pair in pairs.items() for each in against_exudyn(*pair, runs, rounds)], {}


def compare(sizes, rounds):
    """Entries of the report."""
    with tempfile.TemporaryDirectory() as folder:
        arm = sweeps.arm(folder)
        robot, out = Path(folder) / "planar.yaml", Path(folder) / "out.csv"
        over = {"EI": f"100:1000:{sizes.cases}"}
        found = [
            workers("modes", lambda many: arm.sweep("modes", over=over, keep=KEPT, workers=many), sizes.cases, rounds),
            against_a_loop(robot, out, sizes, rounds),
            *growth(robot, out, sizes),
        ]
    canadarms, over = kronbot.load("canadarm"), {"EI": f"9e4:1.1e5:{sizes.runs}"}
    simulated = workers(
        "simulate canadarm --solver rodas",
        lambda many: canadarms.sweep("simulate", over=over, solver="rodas", keep="energy_drift", workers=many),
        sizes.runs,
        rounds,
    )
    return [*found, simulated]
