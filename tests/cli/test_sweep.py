"""``kronbot sweep``: the question's own options, what varies, and what becomes of the table."""

import csv
import errno
import io
import json
import math
import os
import re
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from thinned import rare
from waiting import PATIENCE

import kronbot
from kronbot.cli.commands.sweep import QUESTIONS
from kronbot.cli.input import cases
from kronbot.cli.main import run
from kronbot.description import limits
from kronbot.description.shipped import shipped_robots
from kronbot.description.wording import shown_path
from kronbot.errors import StrangeValues
from kronbot.library.of_file import told_of_sweep
from kronbot.sweeps import grammar
from kronbot.sweeps.folder import Folder
from kronbot.sweeps.journal import Journal
from kronbot.sweeps.output import Csv

ONE = ["--workers", "1"]
pytestmark = pytest.mark.usefixtures("swept_here")


def test_rows_are_those_of_single_commands(capsys):
    """With the options of the question, read as its own command reads them."""
    given = ["--set", "EI=30", "--order", "1", "--frame", "com:arm", "--in", "body"]
    over = ["--over", "qa=0:pi/2:2", "--keep", "manipulability.T,J_T[x,qa]", "--format", "csv"]
    assert run(["sweep", "jacobian", "khang", *given, *over, *ONE]) == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    for row, angle in zip(rows, ["0", "pi/2"], strict=True):
        assert run(["jacobian", "khang", *given, "--q", f"qa={angle}", "--format", "json"]) == 0
        answer = json.loads(capsys.readouterr().out)
        assert float(row["manipulability.T"]) == answer["summary"]["manipulability.T"]
        assert float(row["J_T[x,qa]"]) == answer["arrays"]["J_T"]["values"][0][0]


def test_options_that_have_a_default_can_be_varied(capsys):
    given = ["--over", "solver=rodas,cvodes", "--over", "rtol=1e-6", "--keep", "solver,end", "--format", "csv", *ONE]
    assert run(["sweep", "simulate", "khang", "--duration", "0.1", *given]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == ["1,rodas,1e-06,0.1,", "2,cvodes,1e-06,0.1,"]
    assert run(["sweep", "simulate", "khang", "--solver", "rodas", *given]) == 2
    assert "solver is varied, and fixed" in capsys.readouterr().err


def test_help_is_whole_where_nothing_is_asked(capsys):
    assert run(["sweep"]) == 2
    assert " ... " not in capsys.readouterr().err


def test_indices_are_told(capsys, monkeypatch):
    monkeypatch.setattr("kronbot.sweeps.indices.RESAMPLES", 20)
    over = ["--over", "EI~uniform(10,30)", "--over", "mu~uniform(1,1.01)", "--sample", "4", "--indices"]
    asked = ["sweep", "check", "khang", *over, "--keep", "first_frequency_locked,links", *ONE]
    assert run(asked) == 0
    out, err = capsys.readouterr()
    assert "indices first_frequency_locked" in out and "first_low" in out
    assert "warning: no indices of links: it is the same in all cases\n" in err
    assert run([*asked, "--format", "csv"]) == 0
    told = capsys.readouterr()
    assert len(told.out.splitlines()) == 1 + 4 * 4
    assert "indices first_frequency_locked, EI: first 0." in told.err


def test_nothing_is_printed_before_a_refusal(tmp_path, capsys):
    file = tmp_path / "free.yaml"
    file.write_text(FILE.replace("l: 1}", "l: }").partition("sweep:")[0])
    assert run(["sweep", "statics", str(file), "--over", "m=1,2", "--format", "csv", *ONE]) == 2
    told = capsys.readouterr()
    assert told.out == "" and "l has no value" in told.err


def test_tables_and_json(capsys):
    asked = ["sweep", "modes", "khang", "--over", "EI=20:40:3", "--keep", "frequencies_free", *ONE]
    assert run([*asked, "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["columns"] == ["case", "EI", "frequencies_free", "error"]
    assert told["units"] == {"frequencies_free": "rad/s"}
    assert [told[word] for word in ("command", "question", "robot", "order")] == ["sweep", "modes", "khang", "2"]
    assert [row[1] for row in told["rows"]] == [20, 30, 40] and len(told["rows"][0][2]) == 2
    assert run([*asked, "--format", "csv"]) == 2
    assert "frequencies_free is no single number" in capsys.readouterr().err
    assert run([*asked[:-4], "--keep", "frequencies_free[2]", *ONE]) == 0
    out = capsys.readouterr().out
    assert out.startswith("sweep khang, order 2\n") and "frequencies_free[2]" in out


def test_a_table_of_statics_in_which_a_case_has_failed(capsys):
    assert run(["sweep", "statics", "piedboeuf", "--over", "EI=-1,38", *ONE]) == 0
    told = capsys.readouterr()
    assert told.out.startswith("sweep piedboeuf") and "1 of 2 cases have failed" in told.err


def test_a_file_a_journal_and_its_picture(tmp_path, capsys):
    file, picture = tmp_path / "sweep.csv", tmp_path / "sweep.png"
    asked = ["sweep", "modes", "khang", "--over", "EI=-20,20", "--keep", "frequencies_free[2]", "-o", str(file), *ONE]
    assert run([*asked, "--plot", str(picture)]) == 0
    err = capsys.readouterr().err
    assert all(f"wrote {shown_path(str(each))}\n" in err for each in (file, picture))
    assert "warning: 1 of 2 cases have failed (case 1: " in err and "must be at least 0, it is -20" in err
    assert sorted(tmp_path.iterdir()) == [file, picture]
    text = file.read_text()
    assert text.splitlines()[0] == "case,EI,frequencies_free[2],error" and text.splitlines()[1].startswith("1,-20,,")
    # All is there.
    assert run([*asked, "--resume"]) == 0
    assert "all 2 cases are in it" in capsys.readouterr().err
    picture.unlink()
    assert run([*asked, "--resume", "--plot", str(picture), "-q"]) == 2
    assert "are in it; for a picture they are taken anew: --overwrite without --resume" in capsys.readouterr().err
    assert run(["sweep", "modes", "khang", "--cases", str(file)]) == 2
    assert "is missing; a sweep has answered here: keep the columns that it varied alone" in capsys.readouterr().err
    assert run(asked) == 2
    assert "the file is there already; --overwrite replaces it" in capsys.readouterr().err
    assert run([*asked, "--over", "qa=1", "--resume"]) == 2
    assert "of another sweep" in capsys.readouterr().err
    assert run([*asked, "--overwrite", "--strict", "-q"]) == 1
    assert "1 of 2 cases have failed" in capsys.readouterr().err
    assert file.read_text() == text


@pytest.mark.parametrize("question", QUESTIONS)
def test_help(question, capsys):
    assert run(["sweep", question, "--help"]) == 0
    out = capsys.readouterr().out
    assert "--over" in out and "--set" in out and "--array" not in out and "--symbolic" not in out
    assert f"kronbot sweep {question} " in out


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["modes", "khang"], "nothing is varied: give --over NAME=FROM:TO:N or --cases"),
        (["mode", "khang"], "no question and no robot file 'mode'; did you mean 'modes'?"),
        (["canadrm"], "did you mean 'canadarm'?"),
        (["modes", "khang", "--over", "EI=1", "--keep", "frequencies_locked[3]"], "no row or column '3'"),
        (["modes", "khang", "--over", "EJ=1:2:3"], "nothing to vary called 'EJ'; there are g, l, mu, EI"),
        (["statics", "khang", "--over", "angle.qa=0,1"], "'angle.qa' is a column of answers: what is varied is qa"),
        (["statics", "khang", "--over", "torque.qa=0"], "'torque.qa' is a column of answers: what is varied is tau.qa"),
        (["modes", "khang", "--over", "EI"], "--over 'EI' should read NAME=FROM:TO:N"),
        (["modes", "khang", "--over", "EI=1:2"], "should read FROM:TO:N"),
        (["modes", "khang", "--over", "EI=1:2:0"], "1 or more"),
        (["modes", "khang", "--over", "EI=nan"], "EI"),
        (["modes", "khang", "--over", "EI="], "--over 'EI=' should read"),
        (["modes", "khang", "--over", "EI=1:2:1e12"], "1e+12 cases are too many"),
        (["modes", "khang", "--over", "EI=1:2:1e6", "--over", "qa=1:2:1e6"], "1e+12 cases are too many"),
        (["modes", "khang", "--over", "EI=1", "--over", "EI=2"], "--over: EI is given twice"),
        (["modes", "khang", "--over", "EI~normal(1,1)"], "give --sample N"),
        (["modes", "khang", "--over", "EI~gauss(1)", "--sample", "4"], "no distribution and no function 'gauss'"),
        (["modes", "khang", "--over", "EI~normal(1,1)", "--sample", "3", "--indices"], "a power of 2"),
        (["modes", "khang", "--over", "EI=1", "--sample", "3"], "nothing is drawn"),
        (["modes", "khang", "--over", "EI=1", "--keep", "frequency_free[1]"], "frequencies_free"),
        (["modes", "khang", "--over", "EI=1", "--resume"], "name it with -o"),
        (["modes", "khang", "--over", "EI=1", "-o", "a.xls"], "the suffix must be one of"),
        (["modes", "khang", "--over", "EI=1", "-o", "no/a.csv"], "there is no folder"),
        (["modes", "khang", "--over", "EI=1", "--plot", "a.bmp"], "the suffix decides the format"),
        (["modes", "khang", "--cases", "nothing.csv"], "--cases nothing.csv: there is no such file"),
        (["linearize", "khang", "--over", "qa=0", "--keep", "poles", "-o", "poles.csv"], "max(abs(poles)) or the like"),
        (["modes", "khang", "--cases", "."], "--cases .: a directory, not a file"),
        (["modes", "khang", "--cases", ""], "--cases is empty: name a file, or - for standard input"),
        (
            ["jacobian", "khang", "--over", "EI=1", "--keep", ""],
            "--keep names nothing beside what varies: name something",
        ),
        (["modes", "khang", "--q", "qb=1", "--over", "EI=1"], "qb"),
        (["modes", "khang", "--set", "EI=1", "--over", "EI=2,3"], "--set EI and --over EI both give EI values"),
        (["statics", "khang", "--order", "all", "--over", "EI=1"], "--over order=0,1,2,exact"),
    ],
)
def test_mistakes_are_told_at_once(given, words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(["sweep", *given]) == 2
    assert words in " ".join(capsys.readouterr().err.split())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("cell", "words"),
    [("nan", "unknown name 'nan'"), ("1/0", "division by zero"), ("1e999", "too large"), ("EJ", "unknown name 'EJ'")],
)
def test_mistakes_of_cases_have_their_rows(cell, words, tmp_path, capsys):
    (tmp_path / "cases.csv").write_text(f"mu,EI\n0.1,20\n0.3,20\n0.2,{cell}\nx,{cell}\n")
    assert run(["sweep", "modes", "khang", "--cases", str(tmp_path / "cases.csv"), *ONE]) == 2
    first, second, third = [line for line in capsys.readouterr().err.splitlines() if "cases.csv:" in line]
    assert first.startswith(f"{tmp_path / 'cases.csv'}:4:5: EI: ") and words in first
    assert second.endswith("cases.csv:5:1: mu: unknown name 'x'")
    assert "cases.csv:5:3: EI: " in third and words in third


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("EI,q9\n20,0\n", "1:4: there is nothing to vary called 'q9'"),
        ("EI,EI\n20,0\n", "1:4: 'EI' stands twice in the header"),
        ("EI;mu\n20;0\n", "1:1: columns are separated by commas, not by semicolons"),
        ("EI,mu\n", "1:1: a header of names is wanted here, and rows of values below it"),
        ("EI,order\n20,2\n\n30,7\n", "4:4: order must be one of '0', '1', '2', 'exact', not '7'"),
        ("EI,mu\n20,\udcff\n", "2:4: not UTF-8 text"),
    ],
)
def test_mistakes_of_columns_of_cases_have_their_places(text, words, tmp_path, capsys):
    (tmp_path / "cases.csv").write_bytes(text.encode(errors="surrogateescape"))
    assert run(["sweep", "modes", "khang", "--cases", str(tmp_path / "cases.csv"), *ONE]) == 2
    assert f"cases.csv:{words}" in capsys.readouterr().err


def test_of_many_columns_that_are_none_the_first_are_told(tmp_path, capsys, monkeypatch):
    """The others nobody looks at, one by one."""
    (tmp_path / "cases.csv").write_text(f"{','.join(f'c{i}' for i in range(3000))}\n{','.join('1' * 3000)}\n")
    asked, refused = [], cases.wrong_values
    monkeypatch.setattr(cases, "wrong_values", lambda *given: asked.append(given[1]) or refused(*given))
    assert run(["sweep", "modes", "khang", "--cases", str(tmp_path / "cases.csv"), *ONE]) == 2
    told = capsys.readouterr().err
    assert "cases.csv:1:1: " in told and "and more mistakes" in told
    assert len(asked) == limits.MISTAKES + 1


def test_mistakes_of_cases_in_the_robot_file_have_their_places(tmp_path, capsys):
    """Each value its own, in a list as well as in a column."""
    text = shipped_robots()["khang"].read_text()
    (tmp_path / "r.yaml").write_text(f"{text}sweep: {{question: modes, cases: {{EI: [20, EJ], mu: [x, 0.3]}}}}\n")
    assert run(["sweep", str(tmp_path / "r.yaml"), *ONE]) == 3
    line = len(text.splitlines()) + 1
    told = [each.partition("r.yaml:")[2] for each in capsys.readouterr().err.splitlines() if "r.yaml:" in each]
    assert told == [f"{line}:43: EI: unknown name 'EJ'", f"{line}:53: mu: unknown name 'x'"]


def test_strange_values_have_their_rows():
    """In the library, which knows no lines."""
    with pytest.raises(StrangeValues, match="^row 2 of the cases, EI: unknown name 'EJ'$") as refused:
        kronbot.load("khang").sweep("modes", cases={"EI": [20, "EJ"]})
    assert refused.value.values == [(2, "EI", "unknown name 'EJ'")]


def test_rows_that_do_not_fit_are_told_at_once(tmp_path, capsys):
    """Blank lines are none, and count as lines."""
    (tmp_path / "cases.csv").write_text('mu,EI\n0.1,20\n\n0.2,\n0.2,3,4\n7\n"8",""\n5,\1\n')
    assert run(["sweep", "modes", "khang", "--cases", str(tmp_path / "cases.csv"), *ONE]) == 2
    told = [line for line in capsys.readouterr().err.splitlines() if "cases.csv:" in line]
    assert [line.partition("cases.csv:")[2] for line in told] == [
        "4:5: a value of 'EI' is missing",
        "5:7: values in this row: 3, names in the header: 2",
        "6:2: values in this row: 1, names in the header: 2",
        "7:5: a value of 'EI' is missing",
        r"8:3: '\x01' is no text of printable characters",
    ]


def test_cases_of_a_file(tmp_path, capsys):
    (tmp_path / "cases.csv").write_text("EI,order\n20,1\n30,exact\n")
    assert run(["sweep", "check", "khang", "--cases", str(tmp_path / "cases.csv"), "--format", "csv", *ONE]) == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert [(row["EI"], row["order"]) for row in rows] == [("20", "1"), ("30", "exact")]
    alone = kronbot.load("khang", order="exact", parameters={"EI": 30}).check()
    assert float(rows[1]["first_frequency_locked"]) == alone.summary["first_frequency_locked"]


def test_cases_from_standard_input(capsys, monkeypatch):
    """Which the robot file may be from, too, but not both."""
    for robot, code, words in [("khang", 0, ""), ("-", 2, "--cases -: the robot file is read from standard input")]:
        text = b"EI\n20\n30\n" if code == 0 else Path(shipped_robots()["khang"]).read_bytes()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
        assert run(["sweep", "check", robot, "--cases", "-", "--format", "csv", *ONE]) == code
        told = capsys.readouterr()
        assert words in told.err
        assert [row["EI"] for row in csv.DictReader(told.out.splitlines())] == ["20", "30"] * (code == 0)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names")
def test_cases_without_an_end_are_refused(tmp_path, capsys, monkeypatch):
    """They would fill the memory."""
    pipe = tmp_path / "cases.csv"
    os.mkfifo(pipe)

    def write():
        with suppress(BrokenPipeError), pipe.open("w") as file:
            while True:
                file.write("EI\n" * 1000)

    writer = threading.Thread(target=write)
    writer.start()
    monkeypatch.setattr(cases, "LARGEST", 1 << 20)
    assert run(["sweep", "check", "khang", "--cases", str(pipe), *ONE]) == 2
    writer.join()
    assert "larger than 1 MB" in capsys.readouterr().err


FILE = """
kronbot: 1
name: one
gravity: [0, -9.81, 0]
parameters: {m: 1, l: 1}
convention: standard
links:
  - name: arm
    joint: {type: revolute, name: q1}
    dh: {a: l, d: 0, alpha: 0, theta: 0}
    rigid: {mass: m, inertia: {Izz: 0.1}}
sweep:
  question: statics
  options: {q: q1=0.2, forces: ["0,-1,0"], order: 1}
  over: {m: 1:2:3, l: [1, 2]}
  keep: [torque.q1]
"""


def test_the_sweep_of_a_file(tmp_path, capsys):
    file = tmp_path / "one.yaml"
    file.write_text(FILE)
    assert run(["sweep", str(file), "--format", "csv", *ONE]) == 0
    of_file = capsys.readouterr().out
    given = ["--q", "q1=0.2", "--forces", "0,-1,0", "--over", "m=1:2:3", "--over", "l=1,2", "--keep", "torque.q1"]
    file.write_text(FILE.partition("sweep:")[0])
    assert run(["sweep", "statics", str(file), *given, "--format", "csv", *ONE]) == 0
    assert capsys.readouterr().out == of_file and len(of_file.splitlines()) == 7
    # The command line goes before; other commands do not look.
    file.write_text(FILE)
    assert run(["sweep", str(file), "--over", "m=1", "--q", "0", "--format", "json", *ONE]) == 0
    assert '"columns": ["case", "m", "torque.q1", "error"]' in capsys.readouterr().out
    assert run(["statics", str(file), "--q", "0"]) == 0
    assert run(["sweep", "check", str(file)]) == 2
    assert "nothing is varied" in capsys.readouterr().err


def test_check_doubts_what_the_sweep_doubts(tmp_path, capsys):
    """Degrees in what the file varies, in a range, a list, a distribution or a column, each at its place."""

    def text(parts):
        return FILE.replace("q: q1=0.2, ", "").replace("over: {m: 1:2:3, l: [1, 2]}", parts)

    file, told = tmp_path / "one.yaml", "q1 = 90 is beyond 2 pi: is it in degrees? (write 90*deg)"
    file.write_text(text("over: {m: 90, q1: 0:90:3}"))
    assert run(["sweep", str(file), *ONE]) == 0
    assert told in capsys.readouterr().err
    assert run(["check", str(file), "--format", "json"]) == 0
    out, err = capsys.readouterr()
    assert f"{file}:15:21: warning: {told}\n" in err and err.count(told) == 1
    assert json.loads(out)["warnings"] == [f"{file}:15:21: {told}"]
    for parts in (
        "over: {q1: [0, 90]}",
        "over: {q1: 'uniform(0, 90)'}\n  sample: 4",
        "cases: {m: [1, 2], q1: [0, 90]}",
    ):
        robot = kronbot.loads(text(parts))
        assert [mistake.message for mistake in told_of_sweep(robot.model, robot)] == [told], parts
    # What is no angle, or meant, is not doubted.
    for parts in ("over: {m: 90}", "over: {q1: 0:90*deg:3}"):
        robot = kronbot.loads(text(parts))
        assert not told_of_sweep(robot.model, robot), parts
    # What the sweep refuses is told, too, where it refuses it.
    for parts, where, what in (
        ("over: {q1: x}", (15, 14), "q1: unknown name 'x'"),
        ("over: {m: 1:2:1e18}", (15, 13), "1e+18 cases are too many; 1000000000 is the limit"),
        ("over: {m: 'normal(1, 2, 3)'}\n  sample: 4", (15, 13), "m: normal(mean,"),
        ("over: {'': 1}", (15, 10), "there is nothing to vary called ''"),
        ("cases: {m: [1, x]}", (15, 18), "m: unknown name 'x'"),
    ):
        robot = kronbot.loads(text(parts))
        (mistake,) = told_of_sweep(robot.model, robot)
        assert ((mistake.line, mistake.column), mistake.message[: len(what)]) == (where, what)
        file.write_text(text(parts))
        assert run(["sweep", str(file), *ONE]) == 3
        assert f"{file}:{where[0]}:{where[1]}: " in capsys.readouterr().err
    # Of linear models along a motion all that these take may be varied.
    along = FILE.replace("statics", "linearize").replace('forces: ["0,-1,0"], order: 1', "motion: motion")
    for parts, count in (("period: 1:2:2", 0), ("step: 0.1", 0), ("force.y: 1", 1)):
        robot = kronbot.loads(along.replace("m: 1:2:3, l: [1, 2]", parts))
        assert len(told_of_sweep(robot.model, robot)) == count, parts


MISTAKES = [
    (("statics", "static"), ["12:13: 'question' must be one of check,"]),
    (("over:", "ovre:"), ["14:3: unknown key 'ovre'; did you mean 'over'?"]),
    (("order:", "ordre:"), ["13:44: no option 'ordre'; did you mean 'order'?"]),
    (("1:2:3", "1:2"), ["14:13: m: the range '1:2' should read FROM:TO:N"]),
    (("m: 1:2:3", "n: 1:2:3"), ["14:10: there is nothing to vary called 'n'"]),
    (("keep: [torque.q1]", "sample: -1"), ["15:11: a plain integer"]),
    (("order: 1", "order: 7"), ["13:51: '7' is not one of '0', '1', '2', 'exact'"]),
    (("[torque.q1]", "[tork.q1, torque.q1]"), ["15:10: answers of statics hold no 'tork.q1'"]),
    (("q1=0.2", "q2=0.2"), ["13:16: --q: no coordinate 'q2'"]),
    (("1:2:3", "~"), ["14:13: "]),
    (("1:2:3", "'normal(1,2)'"), ["11:1: how many draws of m? give sample N"]),
    (("l: [1, 2]", "order: [1]"), []),
    # All of them at once.
    (("m: 1:2:3, l: [1, 2]}\n  keep: [", "m: 1:2, k: 1}\n  keep: [tork.q1, "), ["14:13: m: ", "14:18: ", "15:10: "]),
    (("q1=0.2, forces", "q2=0.2, forcs"), ["13:16: --q", "13:24: no option 'forcs'"]),
]


@pytest.mark.parametrize(("wrong", "told"), MISTAKES)
def test_mistakes_of_a_file(wrong, told, tmp_path, capsys):
    """Each with its place, which is nothing that the command line is about."""
    file = tmp_path / "one.yaml"
    assert wrong[0] in FILE
    file.write_text(FILE.replace(*wrong).lstrip())
    assert run(["sweep", str(file)]) == (3 if told else 0)
    err = capsys.readouterr().err
    assert [line for line in err.splitlines() if "one.yaml:" in line] == [
        line for words in told for line in err.splitlines() if f"one.yaml:{words}" in line
    ]
    assert err.count("one.yaml:") == len(told)


def test_mistakes_of_the_command_line_are_not_of_the_file(tmp_path, capsys):
    file = tmp_path / "one.yaml"
    file.write_text(FILE)
    for given in (["--over", "n=1"], ["--keep", "tork.q1"], ["--q", "q2=1"], ["-o", "a.xls"], ["--resume"]):
        assert run(["sweep", str(file), *given]) == 2
        assert "one.yaml:" not in capsys.readouterr().err
    file.write_text(FILE.replace("order: 1", "solver: linear, tau: q1=1"))
    assert run(["sweep", str(file), *ONE]) == 3  # which the first case tells
    assert "one.yaml:12:1: " in capsys.readouterr().err


# Says on stdout that three chunks are in the journal, and goes no further.
HELD = """
import os, signal, sys, time
from kronbot.sweeps.journal import Journal

signal.signal(signal.SIGINT, signal.default_int_handler)  # of a child of a job in the background it is ignored

def held(journal, done, add=Journal.add):
    add(journal, done)
    if len(journal.places) == 3:
        os.write(sys.stdout.fileno(), b".")
        time.sleep(600)

Journal.add = held
from kronbot.__main__ import main
main()
"""


def started(*given, cwd, script="from kronbot.__main__ import main; main()"):
    command = [sys.executable, "-c", script, "sweep", *given]
    return subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """What a sweep writes that nothing stops."""
    file = tmp_path_factory.mktemp("whole") / "run.csv"
    assert run(["sweep", *STOPPED, "-o", str(file)]) == 0
    return file.read_bytes()


STOPPED = ["jacobian", "khang", "--over", "qa=0:1:12", *ONE]


@pytest.mark.parametrize(
    ("number", "code"), [rare(signal.SIGINT, 130), rare(signal.SIGTERM, 143), (signal.SIGKILL, -9)]
)
def test_a_sweep_that_is_stopped_goes_on(number, code, undisturbed, tmp_path, monkeypatch, capsys):
    """What is computed is kept, and computed once; the file is that of a sweep that nothing has stopped."""
    monkeypatch.chdir(tmp_path)
    asked = [*STOPPED, "-o", "run.csv"]
    child = started(*asked, cwd=tmp_path, script=HELD)
    assert child.stdout.read(1) == "."
    os.kill(child.pid, number)
    _, err = child.communicate(timeout=PATIENCE)
    part = tmp_path / "run.csv.part"
    assert child.returncode == code and [path.name for path in tmp_path.iterdir()] == [part.name]
    assert number == signal.SIGKILL or "--resume goes on" in err
    before = part.read_bytes()
    assert run(["sweep", *asked]) == 2 and part.read_bytes() == before
    assert "--resume goes on with it, --overwrite begins afresh" in capsys.readouterr().err
    add, added = Journal.add, []
    monkeypatch.setattr(
        Journal, "add", lambda journal, done: added.append(done.stop - done.start) or add(journal, done)
    )
    assert run(["sweep", *asked, "--resume"]) == 0
    kept = sum(int(stop) - int(start) for start, stop in re.findall(rb'"cases":\[(\d+),(\d+)\]', before))
    assert 3 <= kept == 12 - sum(added)
    assert (tmp_path / "run.csv").read_bytes() == undisturbed
    assert [path.name for path in tmp_path.iterdir()] == ["run.csv"]


@pytest.mark.slow
def test_who_reads_may_go(tmp_path):
    line = f"{sys.executable} -m kronbot sweep check khang --over EI=1:9:9 --format csv --workers 1 | head -1"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, cwd=tmp_path, timeout=PATIENCE)
    assert done.stdout.startswith("case,EI,") and done.stderr == ""


@pytest.mark.parametrize("style", ["csv", rare("table")])
def test_a_picture_is_drawn_whoever_reads(style, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    read, written = os.pipe()
    os.close(read)
    over = ["--over", "EI=1:9:9", "--keep", "total_mass", "--format", style, "--plot", "a.svg", *ONE]
    with open(written, "w") as gone, monkeypatch.context() as reading:
        reading.setattr(sys, "stdout", gone)
        assert run(["sweep", "check", "khang", *over]) == 0
    assert (tmp_path / "a.svg").read_bytes().startswith(b"<?xml") and "wrote a.svg" in capsys.readouterr().err


def test_errors_of_cases_name_options(capsys):
    asked = [
        "--set",
        "g=0",
        "--buckling",
        "--over",
        "force.x=0,-1",
        "--keep",
        "buckling_factor",
        "--format",
        "csv",
        *ONE,
    ]
    assert run(["sweep", "statics", "khang", *asked]) == 0
    assert "give --forces, --moments, --load or gravity" in capsys.readouterr().out


def test_tables_show_what_is_not_0_or_was_asked_for(capsys):
    """Nothing is said of rows and columns where none is left out."""
    over = ["--over", "force.y=-1,-2", *ONE]
    assert run(["sweep", "statics", "khang", "--q", "0", *over]) == 0
    head = capsys.readouterr().out.splitlines()[3].split()
    assert "force.y" in head and "torque.qa" in head and "moment.x" not in head and "force.x" not in head
    assert run(["sweep", "statics", "khang", "--q", "0", "--keep", "force.x,torque.qa", *over]) == 0
    assert capsys.readouterr().out.splitlines()[2].split() == ["case", "force.y", "force.x", "torque.qa"]


def test_tables_tell_units_and_frequencies_in_hertz(capsys):
    asked = ["sweep", "modes", "khang", "--over", "qa=0,1", "--over", "EI=20", *ONE]
    assert run([*asked, "--keep", "frequencies_locked[1],max(abs(frequencies_locked)),free_coordinates_free"]) == 0
    _, _, _, units, first, second = capsys.readouterr().out.splitlines()[:6]
    assert units.split() == ["rad", "rad/s", "Hz", "rad/s", "Hz"]
    for row in (first, second):
        omega, hertz, largest, same = map(float, row.split()[3:7])
        assert hertz == pytest.approx(omega / (2 * math.pi), rel=1e-5)
        assert same == pytest.approx(largest / (2 * math.pi), rel=1e-5)


@pytest.mark.slow
def test_whole_arrays_that_nothing_shows_are_told(tmp_path, capsys):
    picture = tmp_path / "a.png"
    asked = ["sweep", "modes", "khang", "--over", "EI=20,30", "--plot", str(picture), *ONE]
    cure = "frequencies_free is a whole array, a picture shows single numbers: keep frequencies_free[1:2]"
    assert run([*asked, "--keep", "frequencies_free[2],frequencies_free"]) == 0
    assert capsys.readouterr().err.count(cure) == 1
    picture.unlink()
    assert run([*asked, "--keep", "frequencies_free"]) == 2
    told = capsys.readouterr()
    assert cure in told.err and told.out == ""  # before a case is computed
    assert run([*asked, "--keep", "poles_free,shapes_free"]) == 2
    assert "keep abs(poles_free[1:" in capsys.readouterr().err
    assert (
        run(["sweep", "simulate", "khang", "--over", "EI=20", "--duration", "1", "--keep", "t", "--plot", "a.png"]) == 2
    )
    assert "keep max(abs(t))" in capsys.readouterr().err
    asked = ["sweep", "simulate", "khang", "--over", "EI=20,30", "--duration", "1", "--keep", "t", *ONE]
    assert run(asked) == 0
    assert "t is a whole array, too wide for this table: keep max(abs(t))" in capsys.readouterr().out


def test_columns_that_nothing_fills_are_doubted(tmp_path, capsys):
    asked = ["sweep", "modes", "khang", "--over", "EI=20,30", "--keep", "frequencies_free[1:4]", *ONE]
    for form in ([], ["--format", "csv"], ["-o", str(tmp_path / "a.csv")]):
        assert run([*asked, *form]) == 0
        assert "warning: no case has frequencies_free[3], frequencies_free[4]" in capsys.readouterr().err
    assert run(["sweep", "modes", "khang", "--over", "EI=20,30", *ONE]) == 0  # by default some may be empty
    assert capsys.readouterr().err == ""


def test_files_of_cases_in_other_columns(tmp_path, capsys):
    file = tmp_path / "cases.csv"
    file.write_text("EI;qa\n20;0\n")
    assert run(["sweep", "modes", "khang", "--cases", str(file), *ONE]) == 2
    assert "columns are separated by commas, not by semicolons" in capsys.readouterr().err


def test_keep_of_a_file_may_be_one_text(tmp_path, capsys):
    """As behind --keep: in a list of YAML the brackets of an entry want quotes."""
    file = tmp_path / "file.yaml"
    file.write_text(FILE.partition("sweep:")[0] + "sweep: {question: modes, over: {m: 2}, keep: KEPT}\n")
    text = file.read_text()
    for kept in ('"frequencies_free[1], free_coordinates_free"', '["frequencies_free[1]", free_coordinates_free]'):
        file.write_text(text.replace("KEPT", kept))
        assert run(["sweep", str(file), "--format", "csv", *ONE]) == 0
        head = capsys.readouterr().out.splitlines()[0]
        assert head == "case,m,frequencies_free[1],free_coordinates_free,error"


@pytest.mark.parametrize(
    ("text", "most"),
    [
        ("mu,EI\n" + "0.1,x\n" * 3000, 10),
        ('EI\n"' + "a\n" * 3000, 10),
        ("mu,EI\n" + "".join(f"{i}/7,{i}*EJ\n" for i in range(150)), 420),  # again those that are told
    ],
)
def test_a_text_that_comes_in_many_rows_is_looked_at_once(tmp_path, capsys, monkeypatch, text, most):
    """A file of millions of them took minutes; how many more mistakes there are nobody has counted."""
    looked = []

    def parsed(given, found=grammar.parse):
        looked.append(given)
        return found(given)

    monkeypatch.setattr(grammar, "parse", parsed)
    file = tmp_path / "cases.csv"
    file.write_text(text)
    assert run(["sweep", "modes", "khang", "--cases", str(file), *ONE]) == 2
    told = [line for line in capsys.readouterr().err.splitlines() if "cases.csv:" in line]
    assert len(told) == 101 and told[-1].endswith(": and more mistakes")
    assert len(looked) < most


@pytest.mark.parametrize("cell", ["=1+1", "@SUM(1)", "+cmd", "-"])
def test_words_that_spreadsheets_would_run_are_refused(tmp_path, capsys, cell):
    """They stood in the table of the sweep beside the message that there is no such frame."""
    file = tmp_path / "cases.csv"
    file.write_text(f"frame,qa\narm,0.1\n{cell},0.1\n")
    assert run(["sweep", "jacobian", "khang", "--cases", str(file), *ONE]) == 2
    told = f"cases.csv:3:1: frame: '{cell}' is no number, and no word begins with {cell[0]}"
    assert told in capsys.readouterr().err


@pytest.mark.skipif(os.name != "posix", reason="links and limits of processes are others elsewhere")
def test_what_is_in_the_way_of_an_output_is_told_as_it_was_typed(tmp_path, monkeypatch, capsys):
    """As of other commands: -o, and a folder with its slash; also where the disk is full on the way."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "others").mkdir()
    (tmp_path / "others" / "a.txt").touch()
    (tmp_path / "there.csv").touch()
    asked = ["sweep", "modes", "khang", "--over", "EI=1,2", "--keep", "frequencies_free[1]", "-o"]
    for output in ("none/runs/", "others/", "none/runs/.json", "there.csv"):
        assert run([*asked, output]) == 2
        assert f"Error: -o {output}: " in (err := capsys.readouterr().err) and "--output" not in err

    def full(*given):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    for form, output in ((Folder, "runs/"), (Csv, "runs.csv")):
        monkeypatch.setattr(form, "save", full)
        assert run([*asked, output]) == 1
        assert (
            f"Error: -o {output}: {os.strerror(errno.ENOSPC)}; 2 of 2 cases are in the journal"
            in capsys.readouterr().err
        )
