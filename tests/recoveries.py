"""Fits of the shipped robots to what they answer with themselves, with each question that fits them.

Without noise what the data tell comes back to rounding, wherever the rest is. With noise, and true values drawn from
the priors, errors of estimates over their covariance are chi-square. All of them: python tests/recoveries.py
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.linalg import null_space, qr

import kronbot
from kronbot.description import choices
from kronbot.errors import KronbotError
from kronbot.model.build import compliant
from kronbot.model.variation import Variation
from kronbot.questions.fitting.data import Columns, Named
from kronbot.questions.fitting.dynamics import DynamicAnswers
from kronbot.questions.fitting.modes import ModalAnswers
from kronbot.questions.fitting.simulate import SimulatedAnswers
from kronbot.questions.fitting.statics import StaticAnswers

# Priors are known to this share of their means, sensors to this share of what they measure.
SPREAD, NOISE = 0.03, 0.01
# What a robot is pulled with (N), how long it is watched (s), and what shapes a trace.
PULL = {"canadarm": 50.0, "canadarm-craig-bampton": 50.0, "piedboeuf": 4.0, "stacker-numeric": 1e4, "stacker": 1e4}
WATCHED = {
    "spatial": 0.1,
    "torso": 0.1,
    "canadarm": 1.0,
    "canadarm-craig-bampton": 1.0,
    "floating-canadarm": 1.0,
    "spin-up": 6.0,
}
FIXED = {"spin-up": ("T",), "piedboeuf": ("l1x", "l")}
READERS = {"statics": StaticAnswers, "dynamics": DynamicAnswers, "modes": ModalAnswers}
# The Puma has numbers only: some of them become parameters.
PUMA = {"mass: 17.4": "m2", "mass: 4.8": "m3", "mass: 0.82": "m4", "Izz: 0.539": "I2", "a: 0.4318": "a2"}


@dataclass(frozen=True)
class Case:
    """A robot, a question, and the rows of an experiment; what is measured in them is made from any values."""

    robot: object
    question: str
    names: tuple[str, ...]
    answers: object
    table: dict
    columns: tuple[str, ...]

    @property
    def start(self):
        """The values of the file."""
        return np.array([self.robot.description.values[name] for name in self.names])

    def measured(self, values):
        """What would be measured (rows, columns) with these values."""
        return self.answers.computed(values)

    def fit(self, measured, sigma, names=None, true=None, **more):
        """The answer to measurements (rows, columns); parameters not among ``names`` are where they truly are."""
        names = self.names if names is None else names
        held = {} if true is None else {n: v for n, v in zip(self.names, true, strict=True) if n not in names}
        data = {**self.table, **dict(zip(self.columns, measured.T, strict=True))}
        if self.question == "simulate":
            more["initial"] = "file"
        robot = self.robot.with_parameters(**held) if held else self.robot
        return robot.fit(data, question=self.question, estimate=list(names), sigma=sigma, **more)


def loaded(name):
    """A shipped robot that has parameters with values."""
    if name == "puma560":
        text = next(Path(__file__).parent.parent.glob(f"robots/{name}.yaml")).read_text()
        values = {}
        for number, word in PUMA.items():
            key, _, value = number.partition(": ")
            assert text.count(number) >= 1
            text, values[word] = text.replace(number, f"{key}: {word}", 1), value
        numbers = ", ".join(f"{word}: {value}" for word, value in values.items())
        return kronbot.loads(text.replace("links:\n", f"parameters: {{{numbers}}}\nlinks:\n", 1))
    text = next(Path(__file__).parent.parent.glob(f"robots/{name}.yaml")).read_text()
    robot = kronbot.loads(re.sub(r"^fit:\n(  .*\n?)*", "", text, flags=re.MULTILINE))  # whose priors are others
    if name == "stacker":
        numeric = kronbot.load("stacker-numeric").description.values
        return robot.with_parameters(**{each: numeric[each] for each in robot.description.values})
    return robot


def of(name, question, robot=None):
    """The experiment of a robot. Raises kronbot's errors where the question has no answer."""
    robot = loaded(name) if robot is None else robot
    rng = np.random.default_rng([len(name), choices.FITTED.index(question)])
    built = robot.model
    names = tuple(
        each for each, one in built.parameters.definitions.items()
        if (one is None or one.constant) and each not in FIXED.get(name, ())
    )  # fmt: skip
    joints = [joint.name for joint in built.joints]
    table, columns = TABLES[question](name, robot, rng, joints)
    variation = Variation.of(compliant(built) if question == "statics" else built, names)
    count = len(next(iter(table.values())))
    whole = Named(Columns({**table, **dict.fromkeys(columns, np.zeros(count))}), {})
    if question == "simulate":
        answers, told = SimulatedAnswers.read(variation, whole, (), "file")
    else:
        answers, told = READERS[question].read(variation, whole, ())
    return Case(robot, question, names, answers, table, tuple(column.name for column in told.columns))


def _statics(name, robot, rng, joints):
    table = {f"angle.{each}": rng.uniform(-0.8, 0.8, 10) for each in joints}
    table |= {f"force.{axis}": PULL.get(name, 2.0) * rng.normal(size=10) for axis in "xyz"}
    gauges = [f"curvature.{gauge.name}" for gauge in robot.model.file.statics.gauges]
    return table, [*(f"endpoint.{axis}" for axis in "xyz"), *(f"torque.{each}" for each in joints), *gauges]


def _dynamics(name, robot, rng, joints):
    built, table = robot.model, {}
    for names in built.derivative_names(("q", "qd", "qdd")).values():
        sizes = np.where(np.isin(range(built.n), built.rigid), 1.0, 0.02)
        table |= {each: size * rng.uniform(-1, 1, 12) for each, size in zip(names, sizes, strict=True)}
    return table, [f"torque.{each}" for each in joints]


def _modes(name, robot, rng, joints):
    built = robot.model
    table = {each: rng.uniform(-1, 1, 5) for each in joints}
    count = min(len(built.flexible), 4)
    words = ("frequencies_locked", "frequencies_free")
    columns = [f"{words[0]}[{len(built.base) + i + 1}]" for i in range(count - len(built.base) // 3)]
    return table, [*columns, *(f"{words[1]}[{built.n - i}]" for i in range(min(count, 2)))]


def _simulate(name, robot, rng, joints):
    built = robot.model
    t = np.linspace(0, WATCHED.get(name, 0.6), 16)
    driven = dict(built.file.simulate.drive) if isinstance(built.file.simulate.drive, dict) else {}
    columns = [joint for joint in joints if getattr(driven.get(joint), "motion", None) is None]
    columns += [f"tip.{link.name}.y" for link in built.links if link.beam is not None]
    table = {"t": t}
    if not built.flexible:
        table |= {f"torque.{each}": 5 * np.sin(3 * t + rng.uniform(0, 6)) for each in joints}
    return table, [*columns, "endpoint.x", "endpoint.y"]


TABLES = {"statics": _statics, "dynamics": _dynamics, "modes": _modes, "simulate": _simulate}


def drawn(case, rng):
    """True values, from the priors."""
    return case.start * (1 + SPREAD * rng.normal(size=len(case.names)))


def sigmas(case, exact):
    """What sensors are good for, by column."""
    sizes = np.sqrt(np.mean(exact**2, axis=0))
    return {name: NOISE * max(size, 1e-6 * sizes.max()) for name, size in zip(case.columns, sizes, strict=True)}


def exact(case):
    """Where true values are, how far estimates of all that is told are from there (relative), and what is not told.

    What is not told is held at the truth, as few parameters as will do.
    """
    true = drawn(case, np.random.default_rng(3))
    measured = case.measured(true)
    sigma = {name: each * 1e-6 for name, each in sigmas(case, measured).items()}
    values, held = dict(zip(case.names, true, strict=True)), []
    answer = case.fit(measured, sigma)
    known = list(answer.arrays["standard_errors"].rows)
    off = [answer.at["parameters"][each] / values[each] - 1 for each in known]
    unknown = [each for each in case.names if each not in known]
    if unknown:
        rows = np.zeros((0, len(case.names)))
        if "combinations" in answer:
            rows = answer["combinations"] * true
            rows /= np.abs(rows).max(axis=1, keepdims=True)
        blind = null_space(rows[:, [case.names.index(each) for each in unknown]], rcond=1e-9)
        order = qr(blind.T, pivoting=True, mode="r")[1]
        held = [unknown[i] for i in order[: blind.shape[1]]]
        rest = [each for each in case.names if each not in held]
        if rest:
            again = case.fit(measured, sigma, rest, true)
            assert list(again.arrays["standard_errors"].rows) == rest, again.warnings
            off += [again.at["parameters"][each] / values[each] - 1 for each in rest]
    return true, np.abs(off).max(initial=0.0), held


def chi_square(case, count, seed=5):
    """Squares of errors over their covariance, summed over draws of truths and noise, and their degrees of freedom.

    The last number is what that sum would be were answers linear in the parameters: all of it is the draws'.
    """
    rng, start = np.random.default_rng(seed), case.start
    typical = sigmas(case, case.measured(start))
    sigma = np.array([typical[name] for name in case.columns])
    first = int(case.question == "simulate")  # a row that is known
    J = case.answers.jacobian(start).reshape(-1, len(sigma), len(start))[first:]
    J = (J * (SPREAD * start) / sigma[:, None]).reshape(-1, len(start))
    H, chance = J.T @ J + np.eye(len(start)), 0.0
    prior = {name: (value, SPREAD * abs(value)) for name, value in zip(case.names, start, strict=True)}
    total = 0.0
    for _ in range(count):
        true = drawn(case, rng)
        measured = case.measured(true)
        draws = rng.normal(size=measured.shape)
        far = np.linalg.solve(H, J.T @ draws[first:].ravel() - (true / start - 1) / SPREAD)
        chance += far @ H @ far
        measured = np.where(np.arange(len(measured))[:, None] >= first, measured + sigma * draws, np.nan)
        answer = case.fit(measured, typical, prior=prior)
        assert list(answer.arrays["standard_errors"].rows) == list(case.names)
        off = np.array([answer.at["parameters"][name] for name in case.names]) - true
        errors = answer["standard_errors"]
        scaled = off / errors
        R = answer["correlations"] if len(off) > 1 else np.eye(1)
        total += scaled @ np.linalg.solve(R, scaled)
    return total, count * len(case.names), chance


def main():
    """Every robot and question, or those that are named."""
    from time import process_time

    names = [each for each in sys.argv[1:] if each not in choices.FITTED and not each.isdigit()]
    questions = [each for each in sys.argv[1:] if each in choices.FITTED] or choices.FITTED
    count = next((int(each) for each in sys.argv[1:] if each.isdigit()), 200)
    every = sorted(path.stem for path in (Path(__file__).parent.parent / "robots").glob("*.yaml"))
    for name in names or every:
        for question in questions:
            began = process_time()
            try:
                case = of(name, question)
            except KronbotError as error:
                print(f"{name} {question}: {error}", flush=True)
                continue
            for told in (_exactly, _with_noise):
                try:
                    words = told(case, count)
                except KronbotError as error:
                    words = str(error)
                print(f"{name} {question}: {words}; {process_time() - began:.1f} s", flush=True)


def _exactly(case, _):
    _, off, held = exact(case)
    return f"off {off:.1e}, held {held}"


def _with_noise(case, count):
    total, freedom, chance = chi_square(case, count)
    beyond, by_chance = ((each - freedom) / np.sqrt(2 * freedom) for each in (total, chance))
    return f"chi-square {total:.1f} of {freedom} ({beyond:+.2f}, {by_chance:+.2f} of it the draws')"


if __name__ == "__main__":
    main()
