"""What a whole process takes of a processor until it has answered, beside importing what it needs and Exudyn's.

Each command runs once before it is timed: kronbot knows the robot, as it does of who asks again. ``first`` runs have a
cache that is empty each time. Exudyn's arm is that of two elements a link, which is no more accurate than kronbot's
run (2.5 % of the largest deflection against 2.1 %).
"""

import os
import subprocess
import sys
import tempfile
from importlib.util import find_spec

from bench import exudyn_arm
from bench.timing import Times

BASELINE = "python -c 'import numpy, yaml'"
EXUDYN = "Exudyn, 2 elements, step 0.02"
SIMULATE = "kronbot simulate canadarm-craig-bampton --solver rodas --rtol 1e-2 --atol 1e-2"
COMMANDS = {
    "python -c 'import click'": ["-c", "import click"],
    BASELINE: ["-c", "import numpy, yaml"],
    "python -c 'import casadi, yaml'": ["-c", "import casadi, yaml"],
    **{
        command: ["-m", *command.split()]
        for command in (
            "kronbot --help",
            "kronbot check canadarm",
            "kronbot jacobian canadarm --q 0.1,pi/4,0",
            "kronbot jacobian puma560",
            SIMULATE,
        )
    },
}
FIRST = ("kronbot jacobian canadarm --q 0.1,pi/4,0", SIMULATE)


def processor_seconds(arguments, cache):
    """Of a process of its own, with its kernel's share."""
    environment = os.environ | {"KRONBOT_CACHE": cache}
    with open(os.devnull, "w") as nowhere:
        process = subprocess.Popen([sys.executable, *arguments], env=environment, stdout=nowhere, stderr=nowhere)
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, process.args)
    return used.ru_utime + used.ru_stime


def compare(rounds=7):
    """Entries of the report: seconds and the ratios to the bare import and to Exudyn's process; what is missing."""
    missing = {}
    with tempfile.TemporaryDirectory() as folder:
        known, commands = f"{folder}/known", dict(COMMANDS)
        if find_spec("exudyn"):
            commands[EXUDYN] = [exudyn_arm.__file__, "2", "0.02", f"{folder}/out.csv"]
        else:
            missing["Exudyn"] = "not installed"
        actions = {name: lambda i, given=given: (given, known) for name, given in commands.items()}
        for name in FIRST:
            actions[f"{name}, first"] = lambda i, given=COMMANDS[name]: (given, f"{folder}/new{i}")
        for given in commands.values():
            processor_seconds(given, known)
        seconds = {name: [] for name in actions}
        for i in range(rounds):
            for name, action in actions.items():
                given, cache = action(f"{i} {len(name)}")
                seconds[name].append(processor_seconds(given, cache))
    times = {name: Times(tuple(each)) for name, each in seconds.items()}
    return [
        {
            "part": "startup",
            "who": name,
            "best_s": each.best,
            "median_s": each.median,
            "ratio": (over := each.over(times[BASELINE]))["median"],
            "quartiles": over["quartiles"],
            "by_exudyn": each.over(times[EXUDYN]) if EXUDYN in times and name.startswith(SIMULATE) else None,
        }
        for name, each in times.items()
    ], missing
