"""Words that a shell offers."""

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete

from kronbot.cli.commands import explain
from kronbot.cli.input import completion
from kronbot.cli.main import kronbot
from kronbot.description import names, shipped_robots
from kronbot.description.loading import load
from kronbot.description.yaml.source import read
from kronbot.model.build import build


@click.command()
@click.argument("robot", shell_complete=completion.robots)
@click.option("--order", type=click.Choice(["0", "1", "2"]), default="2")
@click.option("--q", shell_complete=completion.coordinates)
@click.option("--tau", shell_complete=completion.joint_values)
@click.option("--angles", multiple=True, shell_complete=completion.joint)
@click.option("--lock", shell_complete=completion.joints)
@click.option("--frame", shell_complete=completion.frame)
@click.option("--outputs", shell_complete=completion.outputs)
@click.option("--load", multiple=True, shell_complete=completion.frame_load)
@click.option("--distributed", multiple=True, shell_complete=completion.beam_load)
@click.option("--set", "settings", multiple=True, shell_complete=completion.parameter)
@click.option("--topic", shell_complete=explain.topics)
def command(**values):
    """Every kind of word."""


def offered(*arguments):
    """What is offered for the last of the arguments."""
    *before, incomplete = arguments
    items = ShellComplete(command, {}, "kronbot", "_X").get_completions(before, incomplete)
    return [item.value for item in items]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a robot, one that is wrong, and other things."""
    (tmp_path / "mine.yaml").write_text(read("canadarm").text)
    (tmp_path / "broken.yml").write_text("kronbot: [")
    (tmp_path / ".hidden.yaml").write_text("")
    (tmp_path / "notes.txt").write_text("")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "other.yaml").write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_names_that_are_no_text_leave_the_others(folder):
    """Bytes that are no UTF-8 cannot be among the words; somebody else may have put them there."""
    wanted = offered("")
    (folder / os.fsdecode(b"\xff.yaml")).write_text("")
    (folder / os.fsdecode(b"\xffd")).mkdir()
    assert offered("") == wanted


def test_robots_files_and_folders(folder):
    assert offered("") == [*shipped_robots(), "broken.yml", "mine.yaml", "sub/"]
    assert offered("can") == ["canadarm", "canadarm-craig-bampton"]
    assert offered("sub/") == ["sub/other.yaml"]
    assert offered("./m") == ["./mine.yaml"]
    assert offered(".h") == [".hidden.yaml"]
    assert offered("nowhere/x") == []
    assert offered(str(folder / "m")) == [str(folder / "mine.yaml")]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--q", ""], ["q1=", "upper.v1=", "upper.v2=", "q2=", "forearm.v1=", "forearm.v2=", "q3=", "wrist.v1=",
                       "wrist.v2="]),
        (["--q", "up"], ["upper.v1=", "upper.v2="]),
        (["--q", "q1=0.1,upper.v1=0,u"], ["q1=0.1,upper.v1=0,upper.v2="]),
        (["--q", "q1=0."], []),
        (["--order", "0", "--q", ""], ["q1=", "q2=", "q3="]),
        (["--tau", "q1=1,"], ["q1=1,q2=", "q1=1,q3="]),
        (["--angles", "q"], ["q1=", "q2=", "q3="]),
        (["--angles", "q1=0,q"], []),
        (["--lock", ""], ["all", "q1", "q2", "q3"]),
        (["--lock", "q2,"], ["q2,q1", "q2,q3"]),
        (["--frame", "w"], ["wrist", "wrist:root", "world"]),
        (["--frame", "com:"], ["com:upper", "com:forearm", "com:wrist"]),
        (["--frame", "b"], ["base", "base-to:"]),
        (["--outputs", "p"], ["position:", "power:"]),
        (["--outputs", "joints,e"], ["joints,endpoint"]),
        (["--outputs", "rate:q1,reaction:"], ["rate:q1,reaction:q1", "rate:q1,reaction:q2", "rate:q1,reaction:q3"]),
        (["--outputs", "velocity:com:w"], ["velocity:com:wrist"]),
        (["--frame", "base-to:up"], ["base-to:upper,", "base-to:upper:root,"]),
        (["--frame", "base-to:upper,w"], ["base-to:upper,wrist", "base-to:upper,wrist:root", "base-to:upper,world"]),
        (["--load", "e"], ["endpoint="]),
        (["--load", "b"], []),
        (["--distributed", ""], ["upper=", "forearm=", "wrist="]),
        (["--set", ""], ["EI="]),
        (["--topic", "ord"], ["orders"]),
    ],
)  # fmt: skip
def test_names_of_the_robot_on_the_command_line(words, expected):
    """Also of a file, at the order asked for, and after names that are given already."""
    assert offered("canadarm", *words) == expected


def test_names_of_ones_own_file(folder):
    assert offered("mine.yaml", "--set", "E") == ["EI="]
    assert offered("./mine.yaml", "--lock", "q3") == ["q3"]


def test_what_is_wrong_offers_nothing(folder, monkeypatch):
    """No robot, none that can be read, standard input (which nobody may wait for): no name and no exception."""
    for robot in ("broken.yml", "nosuch", "sub", "-", "/dev/stdin", ""):
        names = ("q", "tau", "angles", "lock", "frame", "outputs", "load", "distributed", "set")
        for option in (f"--{name}" for name in names):
            assert offered(robot, option, "") == []
    assert offered("--q", "") == []  # before any robot
    monkeypatch.setattr(completion, "STANDARD_INPUT", ())
    monkeypatch.setattr("sys.stdin", None)
    assert offered("-", "--q", "") == []


def test_words_that_go_on_are_told_from_whole_ones():
    """Bash puts no blank after them."""
    items = ShellComplete(command, {}, "kronbot", "_X").get_completions(["canadarm", "--frame"], "base")
    assert [(item.value, bool(item.open)) for item in items] == [("base", False), ("base-to:", True)]


@pytest.mark.parametrize("order", ["0", "1", "2"])
@pytest.mark.parametrize("name", sorted(shipped_robots()))
def test_names_are_those_of_the_model(name, order):
    """One implementation: the model has as many coordinates as there are names, joints at the places of theirs."""
    described = load(read(name))
    robot = build(described, order)
    found = names.coordinates(described.robot, order)
    assert robot.coordinates == found
    assert len(found) == len(robot.units) == len(robot.base) + len(robot.joints) + len(robot.flexible)
    assert tuple(found[joint.index] for joint in robot.joints) == names.joints(described.robot)
    for link in robot.links:
        assert all(found[place].startswith(f"{link.name}.") for place in range(link.modal.start, link.modal.stop))
    assert names.beams(described.robot) == tuple(link.name for link in robot.links if link.beam is not None)


def test_frames_are_those_of_the_command_line():
    from kronbot.mechanics.multibody.kinematics import frame

    described = load(read("torso"))
    robot = build(described, "0")
    for name in names.frames(described.robot):
        assert frame(robot, name).name == name


def completed(line, **environment):
    """What ``kronbot`` answers to a shell, in a process of its own."""
    script = (
        "import sys; from kronbot.cli.main import run; code = run([]); "
        "print([m for m in ('numpy', 'casadi', 'sympy', 'scipy', 'rich') if m in sys.modules], file=sys.stderr); "
        "sys.exit(code)"
    )
    return subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"_KRONBOT_COMPLETE": "bash_complete", "COMP_LINE": line} | environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_completion_imports_nothing_heavy():
    """Neither for commands nor for robots."""
    for line in ("kronbot jac", "kronbot robots c", "kronbot explain "):
        done = completed(line)
        assert done.stdout.strip(), line
        assert done.stderr == "[]\n", line
    loaded = "from kronbot.cli import main; from kronbot.cli.input import completion; import sys, click; "
    loaded += "context = click.Context(main.kronbot); context.params = {'robot': 'spatial', 'order': '2'}; "
    loaded += "assert len(completion.coordinates(context, None, '')) == 13; "
    loaded += "sys.exit(', '.join({'numpy', 'casadi', 'sympy'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == ""


def test_the_answer_to_bash(monkeypatch, capsys):
    """Bash breaks words at = and :, so that only what follows them is answered."""
    monkeypatch.setitem(kronbot.commands, "ask", command)
    for line, expected in {
        "kronbot ask canadarm --q up": ["open,upper.v1=", "open,upper.v2="],
        "kronbot ask canadarm --q q1=0.1,up": ["open,0.1,upper.v1=", "open,0.1,upper.v2="],
        "kronbot ask canadarm --q=q": ["open,q1=", "open,q2=", "open,q3="],
        "kronbot ask canadarm --frame com:w": ["plain,wrist"],
        "kronbot ask canadarm --lock q1,": ["plain,q1,q2", "plain,q1,q3"],
        "kronbot rob": ["plain,robots"],
    }.items():
        monkeypatch.setenv("COMP_LINE", line)
        assert completion.answer(kronbot, "bash_complete") == 0
        assert capsys.readouterr().out.split() == expected, line


def test_scripts_for_shells(capsys):
    for shell in ("bash", "zsh", "fish"):
        assert completion.answer(kronbot, f"{shell}_source") == 0
        assert "_KRONBOT_COMPLETE" in capsys.readouterr().out
    for unknown in ("tcsh_source", "bash_nothing", "bash", ""):
        assert completion.answer(kronbot, unknown) == 2
        assert "bash_source, zsh_source or fish_source" in capsys.readouterr().err


@pytest.mark.parametrize("variables", [{}, {"COMP_WORDS": "kronbot ja"}, {"COMP_WORDS": "kronbot", "COMP_CWORD": "x"}])
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_variables_that_the_shell_should_have_set(shell, variables, monkeypatch, capsys):
    """A key that is pressed prints no traceback."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert completion.answer(kronbot, f"{shell}_complete") in (0, 1)
    assert capsys.readouterr().err == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full disk")
def test_a_script_that_cannot_be_written():
    """One line, and a code that tells."""
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "kronbot"],
            env=os.environ | {"_KRONBOT_COMPLETE": "zsh_source"},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert done.stderr.startswith("Error: cannot write the script")


@pytest.mark.skipif(not Path("/bin/bash").exists(), reason="no bash")
def test_bash_itself(tmp_path):
    """The script, run by bash with a line as readline gives it, fills COMPREPLY."""
    tool = tmp_path / "kronbot"
    tool.write_text(f'#!/bin/bash\nexec {sys.executable} -m kronbot "$@"\n')
    tool.chmod(0o755)
    script = tmp_path / "try.sh"
    script.write_text(
        "source <(_KRONBOT_COMPLETE=bash_source kronbot)\n"
        "compopt() { :; }\n"
        'COMP_LINE="kronbot robots spi more"; COMP_POINT=18\n'
        "_kronbot_completion kronbot spi robots\n"
        'printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["/bin/bash", str(script)], env=os.environ | {"PATH": path}, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("spin-up\n", "")
