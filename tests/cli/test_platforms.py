"""The main commands where there is nothing of POSIX, as on Windows."""

import inspect
import json
import subprocess
import sys

import pytest
from thinned import rare
from waiting import PATIENCE

from kronbot.system import plain, posix

# Takes from Python what it has on POSIX systems only.
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
"""
MAIN = """
from kronbot.__main__ import main
main()
"""
# Lines one after the other, what each says in files named after it; their exit codes on stdout.
LINES = """
from kronbot.cli.main import run

out, codes = os.dup(1), []
for place, line in enumerate(sys.argv[1:]):
    for stream, name in ((1, "out"), (2, "err")):
        with open(f"{place}.{name}", "wb") as file:
            os.dup2(file.fileno(), stream)
    codes.append(run(line.split()))
    sys.stdout.flush()
    sys.stderr.flush()
os.write(out, repr(codes).encode())
"""
COMMANDS = [
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
]
# Which of others in the same process could have what they import.
ALONE = {"simulate", "convert", "cache"}


def process(folder, script, *words):
    command = [sys.executable, "-c", WITHOUT + script, *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False)


def each_alone(folder, lines):
    """(code, out, err) of every line, in a process of its own."""
    for line in lines:
        done = process(folder, MAIN, *line.split())
        yield done.returncode, done.stdout, done.stderr


def all_in_one(folder, lines):
    """The same in one process for all."""
    done = process(folder, LINES, *lines)
    assert done.returncode == 0, done.stderr
    for place, code in enumerate(json.loads(done.stdout)):
        yield code, *((folder / f"{place}.{name}").read_text() for name in ("out", "err"))


@pytest.mark.parametrize(
    ("asked", "lines"),
    [(all_in_one, COMMANDS), *(rare(each_alone, [line]) for line in COMMANDS if line.split()[0] in ALONE)],
)
def test_the_main_commands(asked, lines, tmp_path):
    """Answer as elsewhere; files are whole, and kept where they are not to be replaced."""
    (tmp_path / "arm.urdf").write_text('<robot name="r"><link name="l"/></robot>')
    (tmp_path / "rows.csv").write_text("qa\n0.1\n0.2\n")
    (tmp_path / "rows.json").write_text("old")
    outputs = {line: line.split()[-1] for line in lines if line.endswith(("run.csv", "arm.yaml", "new.yaml", "arm.c"))}
    for line, (code, out, err) in zip(lines, asked(tmp_path, lines), strict=True):
        if line == "cache":
            assert (code, err) == (1, "Error: compiled functions are kept on POSIX systems only\n")
            continue
        assert code == 0, err
        assert "Traceback" not in err
        if "json" in line:
            json.loads((tmp_path / "rows.json").read_text() if "-o" in line else out)
    contents = {name: (tmp_path / name).read_bytes() for name in outputs.values()}
    assert all(contents.values())
    assert not list(tmp_path.glob(".kronbot-*"))
    for code, _, err in asked(tmp_path, outputs):
        assert code == 2
        assert "--overwrite" in err
    assert {name: (tmp_path / name).read_bytes() for name in contents} == contents


def public(place):
    return {name for name, each in vars(place).items() if not name.startswith("_") and inspect.isroutine(each)}


def test_the_substitute_has_all_but_what_native_code_takes():
    assert public(posix) - public(plain) == {"end_group"}
    assert public(posix.Folder) - public(plain.Folder) == {"spare"}
    assert public(posix.Channel) <= public(plain.Channel)
