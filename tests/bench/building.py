"""Shared libraries for the benchmarks, compiled once and kept in the user's cache folder."""

import ctypes
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

TIMEOUT = 900


class NoLibrary(Exception):
    """There is no compiler, or it refused."""


def cache():
    """The folder for what is compiled here, private to the user."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kronbot-bench"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def library(compilers, source, flags, suffix):
    """Compile a text with the first compiler there is and load the result; raises NoLibrary."""
    compiler = next(filter(None, map(shutil.which, compilers)), None)
    if compiler is None:
        raise NoLibrary(f"none of {', '.join(compilers)} is there")
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False).stdout
    key = hashlib.sha256("\0".join([version, source, *flags]).encode()).hexdigest()[:32]
    made = cache() / f"{key}.so"
    if not made.exists():
        build(compiler, source, flags, suffix, made)
    return ctypes.CDLL(str(made))


def build(compiler, source, flags, suffix, made):
    """Compile to a name of its own and move it into place, so that no half-written library is ever loaded."""
    text, fresh = made.with_suffix(f".{os.getpid()}{suffix}"), made.with_suffix(f".{os.getpid()}.so")
    text.write_text(source)
    try:
        command = [compiler, str(text), "-fPIC", "-shared", *flags, "-o", str(fresh)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT)
        if done.returncode != 0:
            raise NoLibrary("\n".join(line for line in done.stderr.splitlines() if "error" in line)[:500])
        fresh.rename(made)
    finally:
        text.unlink(missing_ok=True)
        fresh.unlink(missing_ok=True)


def pointers(*arrays):
    """C-ordered arrays as arguments of a foreign function; each keeps its array alive."""
    made = []
    for array in arrays:
        assert array.flags.c_contiguous, "a foreign function reads rows"
        pointer = ctypes.c_void_p(array.ctypes.data)
        pointer.array = array
        made.append(pointer)
    return made
