"""How long a whole process takes until it answers, beside importing what it needs."""

import subprocess
import sys

from bench.timing import interleaved

BASELINE = "python -c 'import casadi, yaml'"
COMMANDS = {
    "python -c 'import click'": ["-c", "import click"],
    "kronbot --help": ["-m", "kronbot", "--help"],
    BASELINE: ["-c", "import casadi, yaml"],
    "kronbot jacobian canadarm": ["-m", "kronbot", "jacobian", "canadarm"],
    "kronbot check canadarm": ["-m", "kronbot", "check", "canadarm"],
    "kronbot jacobian puma560": ["-m", "kronbot", "jacobian", "puma560"],
}


def compare(rounds=7):
    """Entries of the report: seconds and the ratio to the bare import."""

    def process(arguments):
        return lambda: subprocess.run([sys.executable, *arguments], capture_output=True, check=True)

    times = interleaved({name: process(arguments) for name, arguments in COMMANDS.items()}, rounds)
    return [
        {
            "part": "startup",
            "who": name,
            "best_s": each.best,
            "median_s": each.median,
            "ratio": (over := each.over(times[BASELINE]))["median"],
            "quartiles": over["quartiles"],
        }
        for name, each in times.items()
    ]
