"""``kronbot explain``: a text for everything, true to the options there are."""

import json
import re
from importlib import import_module

import click
import pytest

from kronbot import load as kronbot_load
from kronbot.cli.commands import explain
from kronbot.cli.commands.sweep import QUESTIONS, command_of
from kronbot.cli.main import SECTIONS, kronbot, run

TEXTS = {path.stem: path for path in sorted(explain.FOLDER.glob("*/*.md"))}
TOPICS = {
    *("adding", "base", "compliance", "control", "coordinates", "damping", "drives", "elements", "errors"),
    *("file", "floquet", "formats", "formulas", "frames"),
    *(
        "accuracy",
        "calibration",
        "claims",
        "following",
        "integration",
        "joints",
        "kronecker",
        "library",
        "linearization",
        "loads",
        "measures",
        "motions",
        "orders",
        "pages",
        "records",
        "outputs",
        "papers",
        "poles",
        "recursion",
        "responses",
        "rows",
        "shapers",
        "shapes",
        "speed",
        "stops",
        "units",
    ),
    "large",
    "solvers",
}


def options_of(command):
    """All names of a command's options, as --name; of a group those of its commands."""
    commands = [command_of(name) for name in QUESTIONS] if isinstance(command, click.Group) else [command]
    params = [param for each in commands for param in each.params]
    known = {name for param in params for name in (*param.opts, *param.secondary_opts)}
    return {name for name in known if name.startswith("--")} | {"--help"}


def text(name):
    return TEXTS[name].read_text(encoding="utf-8")


def test_every_command_and_topic_has_a_text():
    assert set(kronbot.commands) <= {path.stem for path in (explain.FOLDER / "commands").glob("*.md")}
    assert {path.stem for path in (explain.FOLDER / "topics").glob("*.md")} == TOPICS
    assert len(TEXTS) == len(list(explain.FOLDER.rglob("*.*")))  # no name twice, nothing else


@pytest.mark.parametrize("name", TEXTS)
def test_texts_are_short_and_fit_a_terminal(name):
    lines = text(name).splitlines()
    assert lines[0].startswith(f"# {name}: ")
    assert max(map(len, lines)) <= 100
    assert 8 <= len(lines) <= 36
    assert all(line == line.rstrip() and line.isprintable() for line in lines)
    assert not text(name).endswith("\n\n")


@pytest.mark.parametrize("name", [name for name in TEXTS if name in kronbot.commands or name in TOPICS])
def test_options_exist(name):
    """Those of the command itself; a topic may speak of any. An option after another command's name is that one's."""
    everywhere = set().union(*map(options_of, kronbot.commands.values()))
    known = options_of(kronbot.commands[name]) if name in kronbot.commands else everywhere
    for line in text(name).splitlines():
        mentioned = [command for command in kronbot.commands if re.search(rf"kronbot {command}\b", line)]
        allowed = known.union(*(options_of(kronbot.commands[command]) for command in mentioned))
        assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", line)) <= allowed, line


@pytest.mark.parametrize("name", TEXTS)
def test_references_lead_somewhere(name):
    """``kronbot explain X``, also where the line breaks."""
    for found in re.findall(r"(?:kronbot )?explain\s+([a-z]+)", text(name)):
        assert found in TEXTS or found == "says", found


def test_the_list(capsys):
    assert run(["explain"]) == 0
    out = capsys.readouterr().out
    for name, path in TEXTS.items():
        title = path.read_text(encoding="utf-8").splitlines()[0].partition(": ")[2]
        assert re.search(rf"^  {name} +{re.escape(title)}$", out, re.MULTILINE)
    assert out.index("Commands:") < out.index("Topics:")
    assert max(map(len, out.splitlines())) <= 100


def test_one_text(capsys):
    assert run(["explain", "orders"]) == 0
    assert capsys.readouterr() == (text("orders"), "")
    assert run(["explain", "Orders"]) == 0
    assert run(["explain", "ordres"]) == 2
    assert "did you mean 'orders'?" in capsys.readouterr().err
    assert run(["explain", "../topics/orders"]) == 2
    for asked, there in (("robot-file", "file"), ("joint-stops", "stops"), ("Fit_motion", "fit")):
        assert run(["explain", asked]) == 2
        assert f"did you mean '{there}'?" in capsys.readouterr().err.splitlines()[-1]


def test_commands_stand_in_sections(capsys):
    """Each once in the help of the group; an option of every command is documented, and its help ends in examples."""
    listed = [kronbot.commands[name] for names in SECTIONS.values() for name in names]
    assert [command.name for command in listed] == list(kronbot.commands)
    assert run(["--help"]) == 0
    out = capsys.readouterr().out
    places = [out.index(f"\n{heading}:\n") for heading in SECTIONS]
    assert places == sorted(places)
    for command in listed:
        (line,) = (lines[command.name] for lines in SECTIONS.values() if command.name in lines)
        assert line == command.get_short_help_str(limit=100)
        assert len(re.findall(rf"^  {command.name} ", out, re.MULTILINE)) == 1
        *_, last = command.help.strip().split("\n\n")
        assert "Examples:" in last and f"  kronbot {command.name}" in last
        assert all(option.help for option in command.params if isinstance(option, click.Option)), command.name


def test_a_word_that_is_in_some_texts_leads_there(capsys):
    """Words of the papers are no names of texts; who asks for one is told where it stands."""
    assert run(["explain", "multipliers"]) == 2
    err = capsys.readouterr().err
    assert "no explanation of 'multipliers'" in err and "floquet" in err.partition("it is in: ")[2]
    assert run(["explain", "qwrtz"]) == 2
    assert "it is in" not in capsys.readouterr().err


# Whose meaning is in the name, or in what they say.
PLAIN = {"cases", "steps", "evaluations", "terms", "of", "starts", "motion", "simulate", "frequencies", "warnings"}
GIVEN = {"qd": (1,), "delta": (1,), "buckling": (True,), "calibration": (1,), "solver": ("linear", "rodas")}


@pytest.mark.parametrize("question", [*QUESTIONS, "linearize_along"])
def test_numbers_of_answers_are_explained(question):
    """Each number and text of a summary is named somewhere."""
    everything = "\n".join(map(text, TEXTS))
    known = import_module(f"kronbot.questions.{question}").outline(kronbot_load("piedboeuf").model, GIVEN)
    for name in (*known.numbers, *known.texts):
        stem = re.sub(r"(_locked|_free|_doubt|_error)?(\.[^_]*)?$", "", name)
        assert name in PLAIN or re.search(rf"\b{re.escape(stem)}", everything), name


CLAMPED = """
kronbot: 1
name: clamped
gravity: [0, 0, 0]
parameters: {EI: 15, m: 0.1}
links:
  - name: beam
    joint: {type: fixed}
    pose: {}
    flexible: {mass: 1, length: 1, EI: {z: EI}, modes: {v: 2}}
    payload: {mass: m}
"""


@pytest.mark.parametrize("question", ["fit", "sweep"])
def test_blocks_of_files_are_as_explained(question, tmp_path, swept_here, capsys):
    """What pages show of a file's blocks is what the commands ask."""
    (block,) = re.findall(rf"^    ({question}: .*)$", text(question), re.MULTILINE)
    (tmp_path / "clamped.yaml").write_text(CLAMPED + block)
    (tmp_path / "sag.csv").write_text("force.y,displacement.y\n-1,-0.0222\n-2,-0.0444\n")
    assert run([question, str(tmp_path / "clamped.yaml"), "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    found = {"fit": lambda: told["summary"]["rows"] == 2, "sweep": lambda: len(told["rows"]) == 12}
    assert found[question]()
