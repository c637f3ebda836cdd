"""``kronbot init``: the file that a newcomer starts from."""

import re
from pathlib import Path

import pytest
from thinned import thinned

from kronbot import description
from kronbot.cli.main import run
from kronbot.description.shipped import starter


@pytest.fixture
def arm(tmp_path):
    file = tmp_path / "arm.yaml"
    assert run(["init", str(file), "-q"]) == 0
    return str(file)


def test_it_is_right_and_raises_no_eyebrow(arm, capsys):
    assert description.load(description.read(arm)).warnings == ()
    assert run(["check", arm]) == 0
    assert capsys.readouterr().err == ""


# Whatever a command does of its own with this robot, a slow test asks for the rest.
OFTEN = ["check", "hessian --frame com:upper", "linearize --motion --duration 1 --step 0.5", "modes --qd q1=1"]
OFTEN += ["statics", "simulate --duration 0.1", "export --of jacobian -o {folder}/arm.c"]
EVERY = [
    "check",
    "jacobian --order 1 --symbolic --short",
    "hessian --frame com:upper",
    "dynamics --qd q1=1",
    "taylor --delta q2=0.2",
    "linearize --equilibrium --q q1=30*deg",
    "linearize --motion --duration 1 --step 0.5",
    "linearize --outputs gauges",
    "modes --qd q1=1",
    "statics",
    "simulate --duration 0.1",
    "simulate --solver rodas --rtol 1e-4 --atol 1e-4",
    "complexity",
    "export --of jacobian -o {folder}/arm.c",
    "check --set payload=1",
]


@pytest.mark.parametrize("question", thinned(EVERY, OFTEN))
def test_it_answers_everything_at_once(question, arm, capsys):
    command, *options = question.format(folder=Path(arm).parent).split()
    assert run([command, arm, *options, "--format", "json"]) == 0
    err = capsys.readouterr().err
    assert not [line for line in err.splitlines() if not line.startswith("wrote ")]


def test_it_is_worth_looking_at(arm):
    """The beam bends visibly, but stays within what order 2 is made for."""
    import kronbot

    robot = kronbot.load(arm)
    answer = robot.statics(q={})
    deflection = abs(answer["tip.upper.y"][0])
    length = robot.check().summary["length.upper"]
    assert 0.001 < deflection / length < 0.1


def test_every_line_is_explained():
    """Every key that a newcomer changes stands beside a comment with its unit; lines fit a terminal."""
    lines = starter().splitlines()
    assert max(map(len, lines)) <= 120
    assert lines[0].startswith("# ")
    for key in ("gravity:", "mass: 2700", "EI:", "damping: 0.05", "rotor_inertia:", "com:", "inertia:", "forces:",
                "duration: 3", "step:", "endpoint:", "dh: {a: length", "limits:"):  # fmt: skip
        (line,) = [line for line in lines if line.strip().startswith(key)]
        assert re.search(r"# .*(\bm\b|\bkg\b|\bN\b|\bs\b|\brad\b|m/s\^2)", line), key
    # An editor would take a comment that reads like this for an order to look for a schema that is not there.
    assert not any(re.match(r"#\s+yaml-language-server", line) for line in lines)


def test_where_it_goes(tmp_path, capsys):
    assert run(["init"]) == 0
    assert capsys.readouterr() == (starter(), "")
    assert run(["init", "-"]) == 0
    assert capsys.readouterr() == (starter(), "")
    file = tmp_path / "mine.yml"
    assert run(["init", str(file)]) == 0
    assert capsys.readouterr() == ("", f"wrote {file}\nkronbot check {file} says what it describes\n")
    assert file.read_text() == starter()


def test_nothing_is_replaced_unless_asked(tmp_path, capsys):
    file = tmp_path / "arm.yaml"
    file.write_text("mine")
    assert run(["init", str(file)]) == 2
    assert "--overwrite" in capsys.readouterr().err
    assert file.read_text() == "mine"
    assert run(["init", str(file), "--overwrite"]) == 0
    assert file.read_text() == starter()
    for wrong in ("arm.json", "arm", "no/arm.yaml"):
        assert run(["init", str(tmp_path / wrong)]) == 2
    assert [path.name for path in Path(tmp_path).iterdir()] == ["arm.yaml"]
