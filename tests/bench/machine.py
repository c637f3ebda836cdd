"""What the figures were measured on, described without names or paths."""

import math
import os
import platform
import re
import shutil
import subprocess
from importlib import metadata
from pathlib import Path

PACKAGES = (
    "kronbot",
    "casadi",
    "numpy",
    "scipy",
    "pin",
    "mujoco",
    "roboticstoolbox-python",
    "exudyn",
    "sympy",
)


def version(package):
    """The version of an installed package, None where it is missing."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def describe():
    """Processor, cores, load, interpreter, compiler and versions."""
    return {
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
        "system": platform.system(),
        "python": platform.python_version(),
        "compiler": compiler(),
        "packages": {name: version(name) for name in PACKAGES},
    }


def processor():
    """Its model's name, as the system tells it."""
    try:
        found = re.search(r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        found = None
    return found[1].strip() if found else platform.processor() or platform.machine()


def compiler():
    """First line of what the C compiler says of itself."""
    found = shutil.which("cc")
    if found is None:
        return None
    said = subprocess.run([found, "--version"], capture_output=True, text=True, check=False).stdout
    return said.splitlines()[0] if said else None


def plain(report):
    """The same for JSON, which has no infinity."""
    if isinstance(report, dict):
        return {key: plain(value) for key, value in report.items()}
    if isinstance(report, list | tuple):
        return [plain(value) for value in report]
    return None if isinstance(report, float) and not math.isfinite(report) else report
