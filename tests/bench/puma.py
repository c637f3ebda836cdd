"""The Puma 560: forward and inverse dynamics, their derivatives, Jacobian and Hessian, as batches and as single calls.

Every program gets the same arm and the same random states; its answers have to agree with kronbot's before anything is
timed.
"""

import numpy as np
from bench import kronbot_side, mujoco_side, pinocchio_side, puma_model, toolbox_side
from bench.timing import interleaved

# Inputs by task: rows of q, qd and a third (torques or accelerations).
TASKS = {
    "forward dynamics": ("q", "qd", "tau"),
    "inverse dynamics": ("q", "qd", "qdd"),
    "forward dynamics derivatives": ("q", "qd", "tau"),
    "linearization": ("q", "qd", "qdd"),
    "Jacobian": ("q",),
    "Hessian": ("q",),
}
# Relative difference of results that passes for equal: rounding, and what the condition of M makes of it.
EQUAL = 1e-12
BASELINE = "kronbot"


def states(n, count, seed=560):
    """Random states by word: angles anywhere, rates and accelerations of a few units, torques of some N m."""
    rng = np.random.default_rng(seed)
    spans = {"q": np.pi, "qd": 2.0, "qdd": 5.0, "tau": 20.0}
    return {word: rng.uniform(-span, span, (count, n)) for word, span in spans.items()}


def sides(missing, whole=False):
    """Every program that is there, by name; ``missing`` collects why others are not."""
    robot = puma_model.robot()
    arm = puma_model.numeric(robot)
    traced = kronbot_side.traces(robot)
    makers = {
        BASELINE: lambda: kronbot_side.Lanes(traced),
        "kronbot, state by state": lambda: kronbot_side.Side(traced, compiled=True),
        "kronbot, interpreted": lambda: kronbot_side.Side(traced, compiled=False),
        "kronbot, library": lambda: kronbot_side.Library(traced),
        "kronbot, called as a CasADi function": lambda: kronbot_side.Called(traced),
        "Pinocchio, C++": lambda: pinocchio_side.InCpp(arm),
        "Pinocchio, Python": lambda: pinocchio_side.InPython(arm),
        "MuJoCo, C": lambda: mujoco_side.InC(arm),
        "MuJoCo, Python": lambda: mujoco_side.InPython(arm),
        "Robotics Toolbox": lambda: toolbox_side.Toolbox(arm),
    }
    if whole:
        makers["Pinocchio, C++, whole"] = lambda: pinocchio_side.InCpp(arm, whole=True)
    found = {}
    for name, make in makers.items():
        try:
            found[name] = make()
        except (ImportError, RuntimeError) as reason:
            missing[name] = str(reason)
    return found


def difference(answers, expected):
    """Largest difference relative to the largest entry, state by state and matrix by matrix."""
    size = 2 if expected.ndim > 2 else 1
    answers, expected = (values.reshape(*values.shape[:-size], -1) for values in (answers, expected))
    return float((np.abs(answers - expected).max(axis=-1) / np.abs(expected).max(axis=-1)).max())


def rows(task, given, count):
    return [given[word][:count] for word in TASKS[task]]


def compare(count=10_000, rounds=9, whole=False, tasks=TASKS):
    """Entries of the report for batches and single calls, and what is missing."""
    missing, entries = {}, []
    programs = sides(missing, whole)
    given = states(puma_model.JOINTS, count)
    for task in tasks:
        entries += batches(task, programs, given, count, rounds)
        entries += singles(task, programs, given, rounds)
    return entries, missing


def batches(task, programs, given, count, rounds):
    """Throughput on one thread; slow programs get fewer states."""
    answers, actions, counts = {}, {}, {}
    for name, program in programs.items():
        counts[name] = min(count, getattr(program, "MOST", count))
        made = program.batch(task, rows(task, given, counts[name]))
        if made is not None:
            actions[name], result = made
            actions[name]()
            answers[name] = result()
    expected = answers[BASELINE]
    wrong = {name: difference(answer, expected[: len(answer)]) for name, answer in answers.items()}
    counts |= {name: counts[name] * getattr(programs[name], "TIMES", 1) for name in actions}
    times = interleaved(actions, rounds)
    return [entry(task, "batch", name, times, wrong[name], counts) for name in actions]


def singles(task, programs, given, rounds):
    """One state a call, from Python."""
    actions = {name: program.single(task, rows(task, given, 1)) for name, program in programs.items()}
    actions = {name: action for name, action in actions.items() if action is not None}
    times = interleaved(actions, rounds)
    return [entry(task, "call", name, times, None, dict.fromkeys(actions, 1)) for name in actions]


def entry(task, way, name, times, wrong, counts):
    """Microseconds a state, and how many times kronbot's time that is."""
    base, own = times[BASELINE], times[name]
    ratio = own.over(base)
    scale = counts[BASELINE] / counts[name]
    return {
        "part": "puma",
        "task": task,
        "way": way,
        "who": name,
        "best_us": own.best / counts[name] * 1e6,
        "median_us": own.median / counts[name] * 1e6,
        "ratio": ratio["median"] * scale,
        "quartiles": [value * scale for value in ratio["quartiles"]],
        "difference": wrong,
        "equal": None if wrong is None else wrong <= EQUAL,
    }
