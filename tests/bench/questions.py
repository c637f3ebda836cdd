"""The second answer of the library with other values, and whole processes, beside another version of kronbot.

    git worktree add ../before 1592a5f
    python tests/bench/run.py questions --before ../before

Each version answers in a process of its own, which is asked in turns with the others'; native code is left out.
"""

import itertools
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from unittest import mock

HERE = Path(__file__).resolve().parents[2]

# Goals, s; None where the version before is the measure.
GOALS = {
    "jacobian": 1e-4,
    "dynamics": 1e-4,
    "taylor": 1e-3,
    "linearize": 2e-3,
    "modes": 2e-3,
    "statics, one case": 2e-3,
    "simulate, 0.01 s": None,
    "simulate, beyond its integration": 5e-3,
    "other value": 1e-3,
    "other value and jacobian": 1e-3,
}
# Whole processes, s.
PROCESSES = {
    "jacobian canadarm": ["-m", "kronbot", "jacobian", "canadarm"],
    "linearize canadarm": ["-m", "kronbot", "linearize", "canadarm"],
    "simulate canadarm --duration 0.1": ["-m", "kronbot", "simulate", "canadarm", "--duration", "0.1", "--step", "0.1"],
    "statics piedboeuf": ["-m", "kronbot", "statics", "piedboeuf"],
    "statics, 10,000 cases": ["-m", "kronbot", "statics", "sweep.yaml"],
    "modes of 18 coordinates, 1,000 rows": ["-m", "kronbot", "modes", "boom.yaml", "--q", "@rows.csv"],
    "--help": ["-m", "kronbot", "--help"],
    "import click": ["-c", "import click"],
}
PROCESS_GOALS = {
    "statics piedboeuf": 0.5,
    "statics, 10,000 cases": 3.0,
    "modes of 18 coordinates, 1,000 rows": 3.0,
}
# The version before takes hours for these.
LONG = ("statics, 10,000 cases", "modes of 18 coordinates, 1,000 rows")

HEAD = "kronbot: 1\nname: r\nconvention: standard\ngravity: [0, -9.81, 0]\nlinks:\n"
LINK = "  - {{name: l{0}, joint: {{type: revolute, name: q{0}}}, dh: {{a: 1, d: 0, alpha: 0, theta: 0}}, {1}}}\n"
BEAM = "flexible: {{mass: 1, EI: {{y: 1000, z: 1000}}, modes: {{v: {0}, w: {1}}}}}"


def questions():
    """Actions by name, each with values of its own at every call."""
    import numpy as np

    import kronbot
    from kronbot.compute.native import policy

    policy._choice.set("off")
    robot = kronbot.load("canadarm")
    rng, number = np.random.default_rng(0), itertools.count(1)

    def q():
        return rng.uniform(-0.5, 0.5, 3)

    def other():
        EI = 1e5 + next(number)
        again = getattr(robot, "with_parameters", None)
        return kronbot.load("canadarm", parameters={"EI": EI}) if again is None else again(EI=EI)

    def beyond_integration():
        with mock.patch.object(*standing_still()):
            robot.simulate(0.01, 0.01, q=q())

    return {
        "jacobian": lambda: robot.jacobian(q()),
        "dynamics": lambda: robot.dynamics(q()),
        "taylor": lambda: robot.taylor("M", 2, q(), delta=q()),
        "linearize": lambda: robot.linearize(q()),
        "modes": lambda: robot.modes(q()),
        "statics, one case": lambda: robot.statics(q(), forces=[[0, -float(next(number) % 7), 0]]),
        "simulate, 0.01 s": lambda: robot.simulate(0.01, 0.01, q=q()),
        "simulate, beyond its integration": beyond_integration,
        "other value": other,
        "other value and jacobian": lambda: other().jacobian(q()),
    }


def standing_still():
    """What integrates (class and method), and what takes no time in its place: states that stay as they are."""
    import numpy as np

    try:
        from kronbot.mechanics.motion.integration import Block, Integrator
    except ImportError:
        from kronbot.mechanics.integrators import Integrator

        return Integrator, "advance", lambda self, times, x: np.tile(x, (len(times) - 1, 1))
    return Integrator, "run", lambda self, times, x: iter([Block(times[-1], x, np.tile(x, (len(times), 1)))])


def work():
    """Answer on standard output, for every name that comes, how long its question takes at best, s."""
    from bench.timing import LEAST_SECONDS, timed

    actions = questions()
    for name in map(str.strip, sys.stdin):
        actions[name]()
        once = timed(actions[name])
        best = min(timed(actions[name]) for _ in range(max(1, round(LEAST_SECONDS / once))))
        print(min(once, best), flush=True)


def path_of(version):
    """The environment of a process that imports that version, as installed: with its bytecode, outside the checkout."""
    paths = os.pathsep.join([str(version), str(HERE / "tests")])
    cache = Path(tempfile.gettempdir()) / "kronbot-bench-bytecode"
    return os.environ | {"PYTHONPATH": paths, "PYTHONPYCACHEPREFIX": str(cache), "PYTHONDONTWRITEBYTECODE": ""}


def compare(before=None, rounds=5):
    """Entries of the report: seconds now, before where that is given, and the goal."""
    from bench.timing import Times

    versions = {"now": HERE} | ({} if before is None else {"before": Path(before).resolve()})
    command = [sys.executable, "-c", "from bench.questions import work; work()"]
    workers = {
        who: subprocess.Popen(  # from a folder without a kronbot, which would come first
            command,
            cwd=HERE / "tests",
            env=path_of(path),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for who, path in versions.items()
    }
    seconds = {(name, who): [] for name in GOALS for who in workers}
    for _ in range(rounds):
        for name, who in seconds:
            print(name, file=workers[who].stdin, flush=True)
            seconds[name, who].append(float(workers[who].stdout.readline()))
    for worker in workers.values():
        worker.communicate()
    with tempfile.TemporaryDirectory() as folder:
        models(Path(folder))
        for _ in range(rounds):
            for name, arguments in PROCESSES.items():
                for who, path in versions.items():
                    if who == "now" or name not in LONG:
                        run = process([sys.executable, *arguments], folder, path_of(path))
                        seconds.setdefault((name, who), []).append(run)
    times = {key: Times(tuple(each)) for key, each in seconds.items()}
    return [
        {
            "part": "questions",
            "who": name,
            "best_s": each.best,
            "before_s": times[name, "before"].best if (name, "before") in times else None,
            "goal_s": (GOALS | PROCESS_GOALS).get(name),
            "ratio": each.over(times[name, "before"])["median"] if (name, "before") in times else None,
        }
        for (name, who), each in times.items()
        if who == "now"
    ]


def process(command, folder, environment):
    """Seconds of a whole process."""
    from bench.timing import timed

    return timed(lambda: subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=True))


def models(folder):
    """A sweep of 10,000 cases, and a boom of six beams with 18 coordinates at 1,000 postures."""
    loads = ", ".join(f"[0, {-0.01 * k}, 0]" for k in range(100))
    angles = ", ".join(str(k / 100) for k in range(100))
    sweep = HEAD + LINK.format(1, BEAM.format(2, 0)) + f"statics: {{angles: {{q1: [{angles}]}}, forces: [{loads}]}}\n"
    (folder / "sweep.yaml").write_text(sweep)
    (folder / "boom.yaml").write_text(HEAD + "".join(LINK.format(i, BEAM.format(1, 1)) for i in range(6)))
    names = ",".join(f"q{i}" for i in range(6))
    rows = "\n".join(",".join(str((37 * k * i) % 100 / 100) for i in range(1, 7)) for k in range(1000))
    (folder / "rows.csv").write_text(f"{names}\n{rows}\n")
