"""``kronbot robots``: what is shipped."""

import csv
import io
import json

import pytest

from kronbot import __version__, description
from kronbot.cli.main import run
from kronbot.description import shipped_robots
from kronbot.model.build import build


def listed(capsys):
    assert run(["robots", "--format", "json"]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return json.loads(captured.out)


def test_the_list_counts_what_the_models_have(capsys):
    answer = listed(capsys)
    assert list(answer) == ["kronbot", "command", "series"]
    assert (answer["kronbot"], answer["command"]) == (__version__, "robots")
    series = answer["series"]
    assert series["robot"] == list(shipped_robots()) == sorted(series["robot"])
    for name, joints, modal, words in zip(*series.values(), strict=True):
        robot = build(description.load(description.read(name)), "2")
        assert (joints, modal, words) == (len(robot.joints), len(robot.flexible), robot.file.description)


def test_table_and_csv_hold_the_same(capsys):
    series = listed(capsys)["series"]
    assert run(["robots", "--format", "csv"]) == 0
    header, *rows = csv.reader(io.StringIO(capsys.readouterr().out))
    assert header == list(series)
    assert [list(map(str, row)) for row in zip(*series.values(), strict=True)] == rows
    assert run(["robots"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == list(series)
    assert [line.split(maxsplit=3) for line in lines[1:]] == rows


@pytest.mark.parametrize("name", sorted(shipped_robots()))
def test_a_robot_to_start_from(name, tmp_path, capsys):
    """The file itself on stdout, so that a copy is the robot again; what belongs beside it on stderr."""
    assert run(["robots", name]) == 0
    captured = capsys.readouterr()
    assert captured.out == shipped_robots()[name].read_text(encoding="utf-8")
    assert "kronbot schema -o robot.schema.json" in captured.err
    assert run(["robots", name, "-q"]) == 0
    assert capsys.readouterr() == (captured.out, "")


def test_tables_are_named(tmp_path, monkeypatch, capsys):
    """With the folder to copy them from."""
    path = tmp_path / "mine.yaml"
    text = (
        "kronbot: 1\nname: mine\nconvention: standard\ngravity: [0, 0, 0]\nlinks:\n"
        "  - {name: a, joint: {type: revolute, name: q1}, dh: {a: 1, d: 0, alpha: 0, theta: 0}, rigid: {mass: 1}}\n"
        "motion: {q1: {type: table, file: m.csv}}\n"
        "simulate: {drive: {q1: {torque: {file: t.csv}}}}\n"
    )
    path.write_text(text)
    for name in ("m.csv", "t.csv"):
        (tmp_path / name).write_text("t,q1\n0,0\n1,1\n2,0\n3,1\n")
    monkeypatch.setattr(description, "shipped_robots", lambda: {"mine": path})
    assert run(["robots", "mine"]) == 0
    assert capsys.readouterr() == (text, f"mine: beside a copy belong m.csv (in {tmp_path}), t.csv (in {tmp_path})\n")


def test_wrong_names_and_options(capsys):
    assert run(["robots", "canadrm"]) == 2
    assert "did you mean 'canadarm'?" in capsys.readouterr().err
    assert run(["robots", "zzz"]) == 2
    assert "puma560" in capsys.readouterr().err
    assert run(["robots", "canadarm", "--format", "json"]) == 2
    assert "leave out NAME" in capsys.readouterr().err


def test_no_file_of_ones_own_is_taken_for_a_shipped_robot(tmp_path, monkeypatch, capsys):
    """The list is of what is shipped, whatever lies in the current folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "khang").write_text("kronbot: [")
    assert run(["robots"]) == 0
    assert "one-link flexible arm" in capsys.readouterr().out
    assert run(["robots", "khang"]) == 0
    assert capsys.readouterr().out == shipped_robots()["khang"].read_text(encoding="utf-8")
