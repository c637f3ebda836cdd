"""Whole sweeps: two processes against one, against a loop of commands, how time and memory of a case go with their
number, and, as a part of its own that takes minutes, against Exudyn's ParameterVariation. Ratios of neighbouring runs;
sizes by options.
"""

import os
import re
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
THEIRS = exudyn_arm.Choice(2, 0.005)
OURS = canadarm.MODES
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
    return float(np.abs(exudyn_arm.simulate(THEIRS).tips).max())


def as_accurate():
    """The fastest of kronbot's choices that is no less accurate than Exudyn's at the arm of the paper."""
    limits = canadarm.errors(*canadarm.on_grid(exudyn_arm.simulate(THEIRS, every_step=True)), canadarm.truth()[0])
    able = {}
    for choice in OURS:
        motion = choice.motion()
        motion.run()
        found = canadarm.errors(*canadarm.histories(motion), canadarm.truth()[0])
        if all(found[kind] <= limits[kind] * canadarm.ALIKE for kind in ("error", "angle_error")):
            able[choice] = motion.run
    times = interleaved({str(choice): run for choice, run in able.items()}, 3, warm=False)
    return min(able, key=lambda choice: times[str(choice)].median)


def against_exudyn(runs, rounds):
    """Simulations of the Canadarm over EI, both on all cores from their start to their end, at equal error."""
    from exudyn.processing import ParameterVariation

    choice = as_accurate()
    text = kronbot.load("canadarm").description.source.text
    text = re.sub(r"modes: \{v: \d+\}", f"modes: {{v: {choice.modes}}}", text)
    robot = kronbot.loads(text.replace("shape: clamped-free", f"shape: {choice.shape}"), order=choice.order)
    atol = choice.rtol if choice.loose else choice.rtol / 100
    how = {"solver": choice.solver, "rtol": choice.rtol, "atol": atol, "duration": exudyn_arm.DURATION, "step": 0.05}
    low, high = RANGE
    largest = {}

    def ours():
        over = {"EI": f"{low}:{high}:{runs}"}
        sweep = robot.sweep("simulate", over=over, keep=DEFLECTIONS, workers=CORES, **how)
        largest["kronbot"] = np.max([[row[name] for name in DEFLECTIONS] for row in sweep], axis=1)

    def theirs():
        options = {"useMultiProcessing": True, "numberOfThreads": CORES, "showProgress": False}
        largest["Exudyn"] = np.array(ParameterVariation(exudyn_case, {"EI": (low, high, runs)}, **options)[1])

    times = interleaved({"kronbot": ours, "Exudyn": theirs}, rounds, warm=False)
    if not np.allclose(largest["kronbot"], largest["Exudyn"], rtol=SAME):
        raise ValueError("the two compute different things")
    pairs = zip(times["Exudyn"].seconds, times["kronbot"].seconds, strict=True)
    who = f"Exudyn ({THEIRS.elements} elements, step {THEIRS.step:g}) over kronbot ({choice}), {CORES} processes"
    return entry(who, runs, [one / other for one, other in pairs], 1e3 * times["kronbot"].median / runs)


def variation(runs, rounds):
    """The entry of the report beside Exudyn, and what is missing."""
    try:
        return [against_exudyn(runs, rounds)], {}
    except ImportError as reason:
        return [], {"Exudyn": str(reason)}


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
