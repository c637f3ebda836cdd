"""The README cannot drift: its commands run, print what it says, and mention what there is."""

import math
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from thinned import thinned

import kronbot
from kronbot.cli.commands import explain
from kronbot.cli.commands.sweep import OPTIONS, named_in
from kronbot.cli.main import kronbot as command_line
from kronbot.cli.main import run

README = Path(__file__).parents[1] / "README.md"
if not README.exists():
    pytest.skip("the tests do not stand in a checkout", allow_module_level=True)
TEXT = README.read_text()
FENCED = re.findall(r"^```(\w+)\n(.*?)^```$", TEXT, re.M | re.S)
# Numbers of an example may differ in the digits that rounding reaches on another machine.
CLOSE, NOISE = 2e-3, 1e-6
ROWS = "q1,q2\n0.1,0.2\n0.3,0.4\n"
URDF = """<robot name="one"><link name="base"/><link name="arm"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="q1" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the files that the examples name: the README's own robot, a URDF, rows of coordinates."""
    place = tmp_path_factory.mktemp("readme")
    (place / "arm.yaml").write_text(next(text for kind, text in FENCED if kind == "yaml"))
    (place / "arm.urdf").write_text(URDF)
    (place / "rows.csv").write_text(ROWS)
    (place / "bin").mkdir()
    (place / "bin" / "kronbot").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m kronbot "$@"\n')
    (place / "bin" / "kronbot").chmod(0o755)
    return place


def shell(line, folder, read=None):
    """What a line prints that reads a text, with this Python's kronbot."""
    path = os.pathsep.join([str(folder / "bin"), os.environ["PATH"]])
    environment = os.environ | {"PATH": path, "NO_COLOR": "1"}
    words = ["bash", "-o", "pipefail", "-c", line]
    done = subprocess.run(words, cwd=folder, input=read, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, f"{line}\n{done.stderr}"
    return done.stdout


@pytest.fixture
def told(folder, monkeypatch, capsys):
    """What a line prints: a shell's where it says more than the words of one command, which is asked in this process.

    Then no interpreter starts; nor for the first command of a pipe.
    """

    def ask(line):
        command, piped, rest = line.partition(" | ")
        if not command.startswith("kronbot ") or re.search(r"[|<>$*?&;(){}!\\`]", command):
            return shell(line, folder)
        monkeypatch.chdir(folder)
        code, said = run(shlex.split(command)[1:]), capsys.readouterr()
        assert code == 0, f"{line}\n{said.err}"
        return shell(rest, folder, said.out) if piped else said.out

    return ask


def needs(line):
    """Skip where a tool of the pipeline is missing."""
    for tool in ("jq",):
        if f"| {tool}" in line and shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")


def sessions():
    """(command, output) of every console block."""
    for kind, text in FENCED:
        if kind == "console":
            for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
                line, _, output = part.partition("\n")
                yield line, output


def commands():
    """Lines of the bash blocks after the first two, without their comments."""
    for text in [text for kind, text in FENCED if kind == "bash"][2:]:
        for line in text.splitlines():
            if command := re.split(r"\s#\s", line)[0].strip():
                yield command


LINES = list(commands())
# What other pictures and files of the same answers show by default, and of how little they are made here.
LONG = {
    "kronbot simulate canadarm --plot run.png": "--duration 0.5",
    "kronbot statics piedboeuf --plot figures.pdf": "--angles theta=0.3",
    "kronbot statics piedboeuf --order all -o sweep.csv": "--angles theta=0.3",
    "kronbot modes spin-up --qd q1=4 --convergence 5": "",
}


@pytest.mark.parametrize("line", thinned(LINES, [line for line in LINES if line not in LONG]))
def test_commands_run(line, told, unsettled, swept_here):
    """As written, one after the other in one folder."""
    needs(line)
    line = f"{line} {LONG.get(line, '')}".strip()
    told(line if "--overwrite" in line or " -o " not in line else f"{line} --overwrite")


def test_sessions_print_what_the_readme_says(told, swept_here):
    """Word by word, one after the other; a line of dots stands for any lines, numbers agree but for rounding."""
    if shutil.which("jq") is None:
        pytest.skip("jq is not installed")
    for line, output in sessions():
        printed = told(line).splitlines()
        pattern = [entry.split() for entry in output.rstrip("\n").splitlines()]
        assert agrees([entry.split() for entry in printed], pattern), "\n".join([line, *printed])


def agrees(lines, pattern):
    if not pattern:
        return not lines
    if pattern[0] == ["..."]:
        return any(agrees(lines[skip:], pattern[1:]) for skip in range(len(lines) + 1))
    return bool(lines) and alike(lines[0], pattern[0]) and agrees(lines[1:], pattern[1:])


def alike(words, wanted):
    return len(words) == len(wanted) and all(map(same, words, wanted))


def same(word, wanted):
    try:
        return math.isclose(float(word.strip(",")), float(wanted.strip(",")), rel_tol=CLOSE, abs_tol=NOISE)
    except ValueError:
        return word == wanted


def test_agreement_is_not_trivial():
    assert agrees([["a", "1.0001"], ["b"], ["c"]], [["a", "1"], ["..."], ["c"]])
    assert not agrees([["a", "1.1"]], [["a", "1"]])
    assert not agrees([["a"], ["b"]], [["a"]])
    assert not agrees([["a"]], [["a"], ["b"]])


def test_there_are_examples_to_check():
    assert len(list(commands())) > 10
    assert len(list(sessions())) > 3


def test_python_examples_run(folder):
    """Every block of the README, in order, in one process."""
    program = "\n".join(text for kind, text in FENCED if kind == "python")
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_robot_of_the_readme_is_right(folder):
    """Without warnings."""
    arm = kronbot.load(folder / "arm.yaml")
    assert arm.check().summary["warnings"] == 0
    moved = arm.simulate()
    assert not moved.warnings
    assert moved.summary["peak_deviation.q1"] < 0.02
    assert abs(moved["q1"][-1] - math.pi / 3) < 0.01
    assert "rows_beyond_small_deflections" not in moved.summary


@pytest.mark.parametrize("name", sorted(command_line.commands))
def test_every_command_is_told_of(name):
    assert re.search(rf"kronbot {name}\b", TEXT)


def test_it_is_short():
    assert TEXT.count("\n") <= 300


def test_every_shipped_robot_is_told_of():
    from kronbot.description import shipped_robots

    assert [name for name in shipped_robots() if f"`{name}`" not in TEXT] == []


def test_the_first_two_blocks_are_lines_of_bash():
    """What the house's own check runs."""
    assert [kind for kind, _ in FENCED[:2]] == ["bash", "bash"]
    assert [text.count("\n") for _, text in FENCED[:2]] == [1, 1]
    assert "kronbot simulate canadarm" in FENCED[0][1]
    assert "pytest" in FENCED[1][1]


@pytest.mark.parametrize("name", sorted(command_line.commands))
def test_every_option_is_documented(name):
    """In its help, and in the README, a topic of `kronbot explain` or what that says of the command."""
    told = TEXT + "".join(map(Path.read_text, (explain.FOLDER / "topics").glob("*.md")))
    told += (explain.FOLDER / "commands" / f"{name}.md").read_text()
    command = command_line.commands[name]
    parameters = named_in(OPTIONS).values() if name == "sweep" else command.params
    silent = []
    for parameter in parameters:
        if isinstance(parameter, click.Option):
            assert parameter.help
            silent += [] if parameter.opts[-1] in told or parameter.opts[0] in told else [parameter.opts]
    assert silent == [], silent
