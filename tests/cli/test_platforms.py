"""The main commands where there is nothing of POSIX, as on Windows."""

import inspect
import json
import subprocess
import sys

import pytest
from waiting import PATIENCE

from kronbot.system import plain, posix

# Takes from Python what it has on POSIX systems only, and then is the command line.
WITHOUT = """
import os, select, signal, sys

for name in ("fcntl", "pwd", "grp", "resource", "termios"):
    sys.modules[name] = None
for name in [name for name in dir(signal) if name.startswith("SIG") and name not in (
    "SIGINT", "SIGTERM", "SIGABRT", "SIGFPE", "SIGILL", "SIGSEGV", "SIG_DFL", "SIG_IGN")]:
    delattr(signal, name)
for name in '''fork forkpty geteuid getuid getegid getgid getgroups fchmod fchown chown lchown mkfifo mknod killpg
    getpgid setsid setpgid sched_getaffinity sched_setaffinity O_DIRECTORY O_NOFOLLOW O_NONBLOCK O_CLOEXEC O_PATH
    set_blocking posix_spawn'''.split():
    delattr(os, name)
os.supports_dir_fd.clear()


def without_descriptors(function):
    def called(path, *given, **named):
        if named.keys() & {"dir_fd", "src_dir_fd", "dst_dir_fd"}:
            raise NotImplementedError("dir_fd unavailable on this platform")
        return function(path, *given, **named)
    return called


for name in "open stat link unlink replace mkdir rmdir readlink access utime".split():
    setattr(os, name, without_descriptors(getattr(os, name)))


def sockets_only(*lists, select=select.select):
    if any(isinstance(each, int) for some in lists[:3] for each in some):
        raise OSError("not a socket")
    return select(*lists)


select.select = sockets_only
from kronbot.__main__ import main
main()
"""


def run(folder, line):
    words = [sys.executable, "-c", WITHOUT, *line.split()]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False)


@pytest.mark.parametrize(
    "line",
    [
        "check khang",
        "jacobian khang --format json",
        "linearize khang --format json",
        "modes khang",
        "statics khang --q 0.1 --order 1",
        "simulate khang --duration 0.02 --step 0.01 --native on -o run.csv",
        "jacobian khang --q @rows.csv --array J_T -o rows.json --overwrite",
        "convert arm.urdf -o arm.yaml",
        "init new.yaml",
        "export khang --of jacobian -o arm.c",
        "cache",
    ],
)
def test_the_main_commands(tmp_path, line):
    """Answer as elsewhere; files are whole, and kept where they are not to be replaced."""
    (tmp_path / "arm.urdf").write_text('<robot name="r"><link name="l"/></robot>')
    (tmp_path / "rows.csv").write_text("qa\n0.1\n0.2\n")
    (tmp_path / "rows.json").write_text("old")
    done = run(tmp_path, line)
    if line == "cache":
        assert (done.returncode, done.stderr) == (1, "Error: compiled functions are kept on POSIX systems only\n")
        return
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    if "json" in line:
        json.loads((tmp_path / "rows.json").read_text() if "-o" in line else done.stdout)
    output = [word for word in line.split() if word in ("run.csv", "arm.yaml", "new.yaml", "arm.c")]
    assert all((tmp_path / name).stat().st_size for name in output)
    assert not list(tmp_path.glob(".kronbot-*"))
    if output:
        content = (tmp_path / output[0]).read_bytes()
        again = run(tmp_path, line)
        assert again.returncode == 2
        assert "--overwrite" in again.stderr
        assert (tmp_path / output[0]).read_bytes() == content


def public(place):
    return {name for name, each in vars(place).items() if not name.startswith("_") and inspect.isroutine(each)}


def test_the_substitute_has_all_but_what_native_code_takes():
    assert public(posix) - public(plain) == {"end_group"}
    assert public(posix.Folder) - public(plain.Folder) == {"spare"}
    assert public(posix.Channel) <= public(plain.Channel)
