"""Ten seconds of the flexible Canadarm: time to solution against error, kronbot's modes against Exudyn's elements.

Errors are those of the tip deflections in the links' frames, over the whole motion, by the largest deflection (link 1,
0.155 m); the truth is kronbot's beam with five Legendre shapes a link, which Exudyn's elements converge to (within
0.5 % at 3e7 N of axial stiffness; kronbot's order ``exact`` differs from its order 2 by 0.1 %). What of an error comes
from the time integration alone is told beside it: the difference to the same model at a far finer step or tolerance.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from bench import exudyn_arm, kronbot_side
from bench.building import NoLibrary
from bench.fixed_step import FixedStep
from bench.timing import interleaved
from scipy.interpolate import CubicSpline

from kronbot import description
from kronbot.model.build import build

REFERENCE = Path(__file__).with_name("canadarm_reference.json")
ELEMENTS = [exudyn_arm.Choice(*pair) for pair in ((1, 0.02), (1, 0.005), (2, 0.02), (2, 0.01), (2, 0.005), (3, 0.0025))]
FINE_STEP, FINE_RTOL = 0.0005, 1e-10
IN_C = "kronbot's rate in C"
# Errors that differ by less count as equal.
ALIKE = 1.1


@dataclass(frozen=True)
class Choice:
    """Shapes a link, or a digit for each link, kinematic order, tolerances and solver of kronbot; ``loose`` takes atol
    as large as rtol, which is a hundredth of it otherwise, or ``own_atol``."""

    shape: str
    modes: int
    order: str
    rtol: float
    loose: bool = False
    solver: str = "cvodes"
    own_atol: float | None = None

    @property
    def atol(self):
        return self.own_atol or (self.rtol if self.loose else self.rtol / 100)

    @property
    def text(self):
        """Of the robot's file."""
        each = iter(exudyn_arm.by_link(self.modes))
        text = re.sub(r"modes: \{v: \d+\}", lambda _: f"modes: {{v: {next(each)}}}", description.read("canadarm").text)
        return text.replace("shape: clamped-free", f"shape: {self.shape}")

    def robot(self):
        return build(description.load(description.Source("canadarm.yaml", self.text, None)), self.order)

    def motion(self, choice="on"):
        return kronbot_side.motion(self.robot(), self.rtol, self.atol, solver=self.solver, choice=choice)

    def __str__(self):
        atol = f", atol {self.atol:g}" if self.loose or self.own_atol else ""
        return f"{self.modes} {self.shape}, order {self.order}, {self.solver}, rtol {self.rtol:g}{atol}"


MODES = [
    Choice("clamped-free", 2, "1", 1e-6),
    Choice("craig-bampton", 2, "1", 1e-6),
    Choice("craig-bampton", 2, "2", 1e-3, loose=True),
    Choice("craig-bampton", 2, "2", 1e-4),
    Choice("craig-bampton", 2, "2", 1e-6),
    Choice("craig-bampton", 2, "2", 1e-8),
    Choice("legendre", 3, "2", 1e-6),
    *(
        Choice(shape, modes, order, rtol, loose=True, solver="rodas")
        for shape, modes, order in (("craig-bampton", 2, "1"), ("craig-bampton", 2, "2"), ("legendre", 3, "2"))
        for rtol in (1e-2, 1e-3)
    ),
    *(
        Choice("craig-bampton", modes, "2", rtol, loose, solver="rodas")
        for modes in (3, 4)
        for rtol, loose in ((3e-4, True), (1e-2, False))
    ),
    Choice("legendre", 4, "2", 1e-2, loose=True, solver="rodas"),
    Choice("legendre", 4, "2", 1e-3, loose=True, solver="rodas"),
    Choice("legendre", 4, "2", 1e-4, loose=True, solver="rodas"),
    Choice("craig-bampton", 2, "2", 1e-4, loose=True, solver="dop853"),
    Choice("craig-bampton", 2, "2", 1e-6, solver="dop853"),
    Choice("craig-bampton", 2, "2", 1e-8, solver="dop853"),
    Choice("legendre", 4, "2", 1e-4, loose=True, solver="dop853"),
]
# The same rates in a loop of C, as with `kronbot export`: steps (s) of Runge and Kutta's method of order 4.
LOOPS = [
    (Choice("craig-bampton", 2, "1", 1e-6), 0.0025),
    (Choice("craig-bampton", 2, "2", 1e-6), 0.0025),
    (Choice("legendre", 3, "2", 1e-6), 0.001),
    (Choice("legendre", 4, "2", 1e-6), 0.0005),
]
INTERPRETED = [
    Choice("clamped-free", 2, "1", 1e-6),
    Choice("craig-bampton", 2, "2", 1e-6),
    Choice("craig-bampton", 2, "2", 1e-3, loose=True, solver="rodas"),
]
TRUTH = Choice("legendre", 5, "2", 1e-8)


def histories(motion):
    """Tip deflections and joint angles (3, k each) after a run."""
    rows = motion.rows()
    robot = motion.robot
    tips = np.array([rows[f"tip {link.name}"][:, 1] for link in robot.links])
    return tips, np.array([rows["q"][:, joint.index] for joint in robot.joints])


def renew_reference():
    """Compute the truth anew (minutes) and write it beside this file."""
    motion = TRUTH.motion()
    motion.run()
    tips, angles = histories(motion)
    about = f"canadarm, {TRUTH}; rows are the links: tip deflection (m) and joint angle (rad) each 0.05 s"
    table = {"about": about, "tips": np.round(tips, 9).tolist(), "angles": np.round(angles, 9).tolist()}
    REFERENCE.write_text(json.dumps(table, separators=(",", ":")) + "\n")


@cache
def truth():
    data = json.loads(REFERENCE.read_text())
    return np.array(data["tips"]), np.array(data["angles"])


def error(tips, expected):
    """Largest difference of tip deflections by the largest deflection."""
    return float(np.abs(tips - expected).max() / np.abs(truth()[0]).max())


def errors(tips, angles, fine):
    """Against the truth, against the same model integrated finely, and of the joint angles (rad) against the truth."""
    return {
        "error": error(tips, truth()[0]),
        "integration_error": error(tips, fine),
        "angle_error": float(np.abs(angles - truth()[1]).max()),
    }


@cache
def finely(choice):
    """Tip deflections of the same model, integrated far more exactly."""
    if isinstance(choice, Choice):
        motion = choice.motion()
        motion.run()
        return histories(motion)[0]
    return on_grid(exudyn_arm.simulate(choice, every_step=True))[0]


def on_grid(solution):
    """Tip deflections and angles at the times of the reference; Exudyn shortens steps that do not converge."""
    times = np.linspace(0.0, exudyn_arm.DURATION, truth()[0].shape[1])
    return [CubicSpline(solution.t, values, axis=1)(times) for values in (solution.tips, solution.angles)]


def compare(rounds=5):
    """Entries of the report, pairs at equal accuracy, and what is missing."""
    missing, entries, actions = {}, {}, {}
    for choice in MODES:
        entries[f"kronbot, {choice}"], actions[f"kronbot, {choice}"] = ours(choice, "on")
    for choice in INTERPRETED:
        name = f"kronbot, interpreted, {choice}"
        entries[name], actions[name] = ours(choice, "off")
    try:
        for choice, step in LOOPS:
            name = f"{IN_C}, {choice.modes} {choice.shape}, order {choice.order}, step {step:g}"
            entries[name], actions[name] = in_c(choice, step)
    except NoLibrary as reason:
        missing[IN_C] = str(reason)
    try:
        for choice in ELEMENTS:
            name = f"Exudyn, {choice.elements} elements, step {choice.step:g}"
            entries[name], actions[name] = theirs(choice)
    except ImportError as reason:
        missing["Exudyn"] = str(reason)
    seconds = solve_times(actions, rounds)
    for name, entry in entries.items():
        entry |= {"part": "canadarm", "who": name, "best_s": seconds[name].best, "median_s": seconds[name].median}
    return list(entries.values()), pairs(entries, seconds), missing


def ours(choice, native):
    """Errors of kronbot, and what solves once."""
    motion = choice.motion(native)
    motion.run()
    fine = Choice(choice.shape, choice.modes, choice.order, FINE_RTOL)
    return errors(*histories(motion), finely(fine)), motion.run


def in_c(choice, step):
    """The same of kronbot's rate in a loop of C."""
    motion = choice.motion("off")
    system, parameters = motion.system, motion.robot.parameters
    loop = FixedStep(system.t, system.x, system.rate, parameters.symbols(), parameters.bound(), "double")

    def run():
        motion.states = list(loop.run(motion.start, exudyn_arm.DURATION, step, motion.wanted.step))

    run()
    fine = Choice(choice.shape, choice.modes, choice.order, FINE_RTOL)
    return errors(*histories(motion), finely(fine)), run


def theirs(choice):
    """The same of Exudyn: a system is solved once, so each run builds it anew, outside what is timed."""
    found = on_grid(exudyn_arm.simulate(choice, every_step=True))
    return errors(*found, finely(exudyn_arm.Choice(choice.elements, FINE_STEP))), choice


def solve_times(actions, rounds):
    """Interleaved times; Exudyn's are its solver's alone."""
    own = {}

    def solver(name, choice):
        def run():
            own.setdefault(name, []).append(exudyn_arm.simulate(choice).seconds)

        return run

    runs = {name: solver(name, a) if isinstance(a, exudyn_arm.Choice) else a for name, a in actions.items()}
    times = interleaved(runs, rounds, warm=False)
    return {name: type(times[name])(tuple(own[name])) if name in own else times[name] for name in times}


def pairs(entries, seconds):
    """For each of Exudyn's choices the fastest of kronbot's that is no less accurate, with its own integrator and in C.

    By all of the error (deflections and angles), or by that of the integration alone.
    """
    found = []
    for name, entry in entries.items():
        if not name.startswith("Exudyn"):
            continue
        for kinds in (("error", "angle_error"), ("integration_error",)):
            for group in ("kronbot,", IN_C):
                able = [
                    ours
                    for ours, own in entries.items()
                    if ours.startswith(group) and all(own[kind] <= entry[kind] * ALIKE for kind in kinds)
                ]
                if able:
                    fastest = min(able, key=lambda each: seconds[each].median)
                    ratio = seconds[name].over(seconds[fastest])
                    found.append({"by": kinds[0], "exudyn": name, "kronbot": fastest, **ratio})
    return found


def processes(rounds=3):
    """Whole processes, output included: kronbot at rtol 1e-6 with native code found, made, and never used."""
    with tempfile.TemporaryDirectory() as folder:
        out = str(Path(folder) / "out.csv")
        kronbot = [sys.executable, "-m", "kronbot", "simulate", "canadarm-craig-bampton", "--rtol", "1e-6"]
        kronbot += ["--quiet", "-o", out, "--overwrite"]
        exudyn = [sys.executable, exudyn_arm.__file__]
        commands = {
            "kronbot, native code found": [*kronbot, "--native", "on"],
            "kronbot, native code where it pays": [*kronbot, "--native", "auto"],
            "kronbot, interpreted": [*kronbot, "--native", "off"],
            "kronbot, order 1, native code found": [*kronbot, "--order", "1", "--native", "on"],
            "Exudyn, 1 elements, step 0.02": [*exudyn, "1", "0.02", out],
            "Exudyn, 2 elements, step 0.005": [*exudyn, "2", "0.005", out],
        }
        missing, actions = {}, {}
        for name, command in commands.items():
            action = process(command)
            try:
                action()
                actions[name] = action
            except subprocess.CalledProcessError as reason:
                missing[f"process: {name}"] = reason.stderr.decode(errors="replace").strip().splitlines()[-1][:200]
        times = interleaved(actions, rounds, warm=False)
        empty = process([*kronbot, "--native", "on"], {"XDG_CACHE_HOME": str(Path(folder) / "cache")})
        entries = [
            {"part": "processes", "who": name, "best_s": each.best, "median_s": each.median}
            for name, each in times.items()
        ]
        if "kronbot, native code found" in actions:
            first = interleaved({"first": empty}, 1, warm=False)["first"]
            name = "kronbot, native code made first"
            entries.append({"part": "processes", "who": name, "best_s": first.best, "median_s": first.median})
        return entries, missing


def process(command, environment=None):
    """A whole process, its words thrown away."""
    return lambda: subprocess.run(command, env=os.environ | (environment or {}), capture_output=True, check=True)
