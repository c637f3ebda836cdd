"""fit on the command line: the file with new numbers, residuals, refusals with their places."""

import csv
import io
import json
import os
import re
import signal
import sys
import threading

import numpy as np
import pytest
from lines import demand_same

import kronbot
from kronbot.cli.input import fitting
from kronbot.cli.input.options import settings_of
from kronbot.cli.main import run
from kronbot.description.shipped import shipped_robots
from kronbot.errors import UsageError
from kronbot.questions.fitting import sorting
from kronbot.questions.fitting.statics import StaticAnswers
from kronbot.sweeps import grammar
from kronbot.system.interruption import SIGNALS

ARM = """# My arm.
kronbot: 1
name: small
convention: standard
gravity: [0, -9.81, 0]
parameters:
  l: 0.5      # m
  k: 40       # N m/rad
  mp:         # to be found
  half: l/2
links:
  - name: a
    joint: {type: revolute, name: q1, elastic: {stiffness: k}}
    dh: {a: l, d: 0, alpha: 0, theta: 0}
    rigid: {mass: 1, com: [-half, 0, 0]}
    payload: {mass: mp}
"""
FOUND = {"l": 0.52, "k": 44.0, "mp": 1.1}


@pytest.fixture
def files(tmp_path, monkeypatch):
    """The robot and its measurements in the folder one is in."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm.yaml").write_text(ARM)
    q = np.linspace(-2, 2, 9)
    at = kronbot.loads(ARM).with_parameters(**FOUND).statics(q=q[:, None])
    with open(tmp_path / "data.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["q1", "endpoint.x", "endpoint.y", "torque.q1"])
        rows.writerows(zip(q, at["endpoint.x"], at["endpoint.y"], at["torque.q1"], strict=True))
    return tmp_path


NEEDS_PIPES = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFO here")
FIT = [
    "fit",
    "arm.yaml",
    "--data",
    "data.csv",
    "--prior",
    "mp=1,0.5",
    "--sigma",
    "endpoint=1e-6",
    "--sigma",
    "torque=1e-6",
]


def test_the_file_with_new_numbers(files, capsys):
    assert run([*FIT, "-o", "fitted.yaml"]) == 0
    said = capsys.readouterr()
    assert "estimates" in said.out and "wrote fitted.yaml" in said.err
    text = (files / "fitted.yaml").read_text()
    head = "# Fitted to data.csv; before:\n#   l: 0.5\n#   k: 40\n#   mp: (no value)\n# My arm.\n"
    assert text.startswith(head)
    fitted = kronbot.load(files / "fitted.yaml")
    for name, value in FOUND.items():
        assert fitted.description.values[name] == pytest.approx(value, rel=1e-8)
    # Nothing else has changed.
    lines = zip(ARM.splitlines(), text.removeprefix(head.removesuffix("# My arm.\n")).splitlines(), strict=True)
    changed = [(old, new) for old, new in lines if old != new]
    assert [new.split("#")[1] for _, new in changed] == [" m", " N m/rad", " to be found"]
    assert run([*FIT, "-o", "fitted.yaml"]) == 2  # it is there


def test_the_shipped_example_is_what_its_header_says(capfd):
    """Its command makes it again, and the fit finds what it was made with, within its errors."""
    path = shipped_robots()["piedboeuf"].with_name("piedboeuf-sag.csv")
    head = [line.removeprefix("# ") for line in path.read_text().splitlines() if line.startswith("# ")]
    command = "\n".join(head[head.index("python -c '") + 1 : head.index("'")])
    exec(command, {})
    made = capfd.readouterr().out.splitlines()
    shipped = path.read_text().splitlines()[len(head) :]
    assert made[0] == shipped[0] and len(made) == len(shipped) == 50
    rows = (np.array([line.split(",") for line in lines[1:]], dtype=float) for lines in (made, shipped))
    np.testing.assert_allclose(*rows, rtol=1e-5, atol=1e-9)
    answer = kronbot.load("piedboeuf").fit()
    errors = dict(zip(answer.arrays["standard_errors"].rows, answer["standard_errors"], strict=True))
    for name, value in {"EI": 14.2, "mt": 0.175}.items():
        assert abs(answer.at["parameters"][name] - value) < 4 * errors[name]


def test_lines_before_the_names_count(files, capsys):
    rows = (files / "data.csv").read_text().splitlines()
    rows[3] = rows[3].replace(rows[3].split(",")[1], "oops")
    (files / "data.csv").write_text("\n".join(["# Made by hand.", "# Twice.", *rows]))
    assert run(FIT) == 2
    assert "data.csv:6:" in capsys.readouterr().err


def test_json_and_residuals(files, capsys):
    assert run([*FIT, "--format", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["at"]["parameters"]["k"] == pytest.approx(44) and answer["summary"]["rows"] == 9
    units = {"endpoint.x": "m", "endpoint.y": "m", "torque.q1": "N m"}
    told = answer["arrays"]["residuals"]
    assert dict(zip(told["rows"], told["units"]["rows"], strict=True)) == units
    shares = [bool(unit) for unit in told["units"]["columns"]]
    assert dict(zip(told["columns"], shares, strict=True)) == {
        "count": False, "mean": True, "rms": True, "largest": True, "R2": False, "sigma": True
    }  # fmt: skip
    assert dict(zip(answer["series"]["column"], answer["series"]["unit"], strict=True)) == units
    assert run(FIT) == 0
    shown = capsys.readouterr().out
    assert re.search(r"^torque.q1 +N m +9 ", shown, re.M) and re.search(r"^row +column +unit +measured ", shown, re.M)
    assert run([*FIT, "--validate", "0.3", "-q", "-o", "residuals.csv"]) == 0
    with open(files / "residuals.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 27 and {row["fitted"] for row in rows} == {"0", "1"}
    assert {row["column"] for row in rows} == {"endpoint.x", "endpoint.y", "torque.q1"}


def test_a_changed_value_is_written_too(files):
    assert run([*FIT, "--set", "l=0.52", "--fix", "l", "-o", "fitted.yaml", "-q"]) == 0
    assert "\n  l: 0.52      # m\n" in (files / "fitted.yaml").read_text()


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--set", "half=0.2", "-o", "fitted.yaml"], 2, "keep these: half"),
        (["--estimate", "half"], 2, "half is l/2; fit l instead"),
        (["--estimate", "k=3"], 2, "should read NAME, or NAME=FROM:TO"),
        (["--estimate", "k=50:60", "--estimate", "l"], 2, "--prior: mp is not fitted: it stays as it is; fitted are"),
        (["--sigma", "endpoint"], 2, "should read COLUMN=NUMBER"),
        (["--only", "endpont"], 2, "did you mean 'endpoint'"),
        (["-o", "data.csv", "--overwrite"], 2, "that is the file of measurements itself"),
        (["-o", "data.tex"], 2, "must be one of .json, .csv, .npz, .mat, .yaml, .yml"),
        (["--sigma", "endpoint.x=1e-300"], 1, "too large: give larger ones to --sigma and --prior"),
        (["--prior", "l=1e300,1e-300"], 1, "too large: give larger ones to --sigma and --prior"),
    ],
)
def test_what_is_refused(files, capsys, options, code, words):
    assert run([*FIT, *options]) == code
    assert words in capsys.readouterr().err
    assert not (files / "fitted.yaml").exists()


@pytest.mark.parametrize(
    ("name", "words"), [("", "--data: no file ''"), ("date.csv", "no file 'date.csv'; did you mean 'data.csv'?")]
)
def test_data_that_are_not_there(files, capsys, name, words):
    assert run([name if word == "data.csv" else word for word in FIT]) == 2
    assert words in capsys.readouterr().err


def test_expressions_are_told_before_anything_is_fitted(files, capsys):
    """Constants may be fitted; the file with new numbers would have no place for them."""
    (files / "arm.yaml").write_text(ARM.replace("k: 40 ", "k: 4*10"))
    assert run([*FIT, "-o", "fitted.yaml"]) == 2
    told = capsys.readouterr()
    assert told.out == "" and "keep these: k (arm.yaml:8: '4*10'); put numbers there" in told.err
    assert run([*FIT, "-o", "fitted.yaml", "--set", "k=41"]) == 2
    assert "keep these: k (arm.yaml:8: '4*10'); put numbers there" in capsys.readouterr().err  # asked twice, told once
    assert run([*FIT, "-o", "fitted.yaml", "--fix", "k"]) == 0


@pytest.mark.parametrize("number", [*SIGNALS, None])
def test_the_best_so_far_is_written(files, monkeypatch, capsys, number):
    """Where a search ends early by itself or by a signal: as a robot file that says so, too."""
    first = len(evaluated := [])

    def interrupted(self, *given, known=StaticAnswers.errors):
        evaluated.append(given)
        if len(evaluated) == first + 3 and number is not None:
            signal.raise_signal(number)
        return known(self, *given)

    monkeypatch.setattr(StaticAnswers, "errors", interrupted)
    asked = [*FIT, "-o", "fitted.yaml", "--format", "json", *(["--steps", "2"] if number is None else [])]
    assert run(asked) == (1 if number is None else 128 + number)
    said = capsys.readouterr()
    answer = json.loads(said.out)
    assert answer["summary"]["complete"] is False
    assert said.err.endswith("the best so far is told\n" if number else "what is told is the best so far\n")
    text = (files / "fitted.yaml").read_text()
    assert text.startswith("# Incomplete, the best so far of a fit to data.csv; before:\n#   l: 0.5\n")
    values = kronbot.load(files / "fitted.yaml").description.values
    assert {name: values[name] for name in FOUND} == answer["at"]["parameters"]


def test_a_file_that_no_robot_has_is_not_written(files, capsys):
    """Torques that nothing could need make the payload's mass negative."""
    (files / "data.csv").write_text("q1,torque.q1\n0,-9\n0.1,-9\n")
    assert run(["fit", "arm.yaml", "--data", "data.csv", "--set", "mp=1", "--estimate", "mp", "-o", "fitted.yaml"]) == 1
    said = capsys.readouterr().err
    assert "no robot has these estimates, give them bounds: arm.yaml:16:21: 'mass' must be at least 0" in said
    assert "Error: fitted.yaml is not written" in said and not (files / "fitted.yaml").exists()


def test_options_by_name_take_lists():
    """As those of other commands do, beside being repeated; values may have commas, bounds are those of one name."""
    given = {
        "estimate": ("EI=1e3:1e6,l=:2", "k, m=0:"), "prior": ("EI=1,2,l=3,4",), "offset": ("torque.q1=a-b,q1=c",),
        "sigma": ("endpoint.x=2e-5, endpoint.y=3e-5", "q1=1"), "delay": (), "columns": ("q1='x = 2'*deg",),
    }  # fmt: skip
    assert fitting.arguments(given) == {
        "estimate": {"EI": ("1e3", "1e6"), "l": (None, "2"), "k": None, "m": ("0", None)},
        "prior": {"EI": ["1", "2"], "l": ["3", "4"]},
        "offset": {"torque.q1": "a-b", "q1": "c"},
        "sigma": {"endpoint.x": "2e-5", "endpoint.y": "3e-5", "q1": "1"},
        "columns": {"q1": "'x = 2'*deg"},
    }
    assert settings_of(("EI=1,k=2*EI", "l=3")) == {"EI": "1", "k": "2*EI", "l": "3"}


def test_steps_out_of_all_numbers_are_shortened(files, capsys):
    rows = "".join(f"{q},{torque}\n" for q, torque in enumerate([1e150, -1e150, 1e150]))
    (files / "data.csv").write_text("q1,torque.q1\n" + rows)
    options = ["--set", "mp=1", "--estimate", "l,mp", "--steps", "3"]
    assert run(["fit", "arm.yaml", "--data", "data.csv", *options]) == 1
    seen = capsys.readouterr()
    count = next(line.split()[1] for line in seen.out.splitlines() if line.startswith("evaluations"))
    assert f"no convergence after {count} evaluations, in at most 3 steps a search (--steps)" in seen.err


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "data.csv:1:1: empty: a header of names is wanted"),
        (b"\xff", "data.csv:1:1: not UTF-8 text"),
    ],
)
def test_data_that_are_no_table_are_named_as_such(files, capsys, content, words):
    (files / "data.csv").write_bytes(content)
    assert run(FIT) == 2
    said = capsys.readouterr().err
    assert words in said and "name it -" not in said


@NEEDS_PIPES
def test_data_through_pipes(files, capfd, monkeypatch):
    """The answer is that of the file; from standard input too, which has one reader."""
    assert run([*FIT, "--format", "json"]) == 0
    whole = capfd.readouterr().out
    text = (files / "data.csv").read_text()
    os.mkfifo(files / "pipe")
    writer = threading.Thread(target=(files / "pipe").write_text, args=(text,))
    writer.start()
    asked = ["pipe" if word == "data.csv" else word for word in FIT]
    assert run([*asked, "--format", "json"]) == 0
    writer.join()
    demand_same(capfd.readouterr().out, whole)
    for name in ("-", "/dev/stdin"):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        asked = [name if word == "data.csv" else word for word in FIT]
        assert run([*asked, "--format", "json", "-o", f"fitted{len(name)}.yaml"]) == 0
        demand_same(capfd.readouterr().out, whole)
        assert (files / f"fitted{len(name)}.yaml").read_text().startswith("# Fitted to <stdin>; before:")
    for words, told in [
        (["fit", "-", "--data", "-"], "--data -: the robot file is read from standard input already"),
        (["fit", "arm.yaml", "--data", "-", "--validate", "-"], "--validate -: --data reads standard input already"),
    ]:
        content = (files / "arm.yaml").read_bytes() if words[1] == "-" else text.encode()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        assert run(words) == 2
        assert told in capfd.readouterr().err


def test_tables_of_plans_through_standard_input(capsys, monkeypatch):
    """Read as often as somebody asks; mistakes in them have their places."""
    for word in ("through", "follow"):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"t,qa\n1,0.1\n2,x\n")))
        end = ["--to", "qa=0.5", "--duration", "3"] if word == "through" else []
        assert run(["plan", "khang", *end, f"--{word}", "-"]) == 2
        assert "<stdin>:3:3: 'x' is not a number" in capsys.readouterr().err
    for content, told in (
        (b"t,qa\n1,0.1\n0.5,0.2\n", "<stdin>:3:1: the times t of a path ascend: 0.5 comes after 1"),
        (b"t,qa\n1,0.1\n2,\n", "<stdin>:3:3: a number is wanted in row 2 of a path"),
        (b"t,qx\n1,0.1\n", "<stdin>:1:3: no column 'qx'; there are qa,"),
        (b"t,qa\n1,0.1\n", "six rows of numbers at least, not 1"),
        (b"", "<stdin>:1:1: empty: a header of names is wanted here, and rows of numbers below it"),
    ):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        assert run(["plan", "khang", "--follow", "-"]) == 2 and told in capsys.readouterr().err


def test_errors_of_many_columns_are_cut(monkeypatch):
    """At a hundred, and no more is guessed."""
    arm, guesses, guess = kronbot.loads(ARM), [], sorting.did_you_mean
    monkeypatch.setattr(sorting, "did_you_mean", lambda *given: guesses.append(given) or guess(*given))
    for header, told in (
        ("," * 400, "and 301 more mistakes"),
        ("q1," * 400, "and 300 more mistakes"),
        (",".join(f"endpoint.x{i}" for i in range(400)), "did you mean 'endpoint.x'"),
    ):
        with pytest.raises(UsageError, match=told) as error:
            arm.fit(io.StringIO(f"{header}\n"), estimate="l")
        assert len(error.value.mistakes) <= 101
    assert len(guesses) == 100
    with pytest.raises(UsageError) as error:
        grammar.table([["q1," * 400 + "q1", "0"]], "cases.csv")
    assert len(error.value.mistakes) == 101


def test_columns_that_are_renamed_are_not_meant(files, capsys):
    """The cure that is proposed for a name that is almost one."""
    asked = ["fit", "arm.yaml", "--data", "data.csv", "--estimate", "l"]
    text = (files / "data.csv").read_text()
    (files / "data.csv").write_text(text.replace("torque.q1", "tau.q1"))
    assert run(asked) == 2 and "can be renamed, for example to '#tau.q1'" in capsys.readouterr().err
    (files / "data.csv").write_text(text.replace("torque.q1", "#tau.q1"))
    assert run([*asked, "--set", "k=50", "--set", "mp=1"]) == 0
    assert "columns of data.csv that are not used: #tau.q1" in capsys.readouterr().err


def test_names_of_columns_do_not_write_to_the_terminal(files, capsys):
    """Nor where they come back in a cure."""
    with open("data.csv", "w") as odd:
        odd.write("q1,\u202eendpoint.x\n0,1\n")
    assert run(["fit", "arm.yaml", "--data", "data.csv", "--estimate", "l"]) == 2
    told = capsys.readouterr().err
    assert "\u202e" not in told and "for example to '#\\u202eendpoint.x'" in told
    with pytest.raises(UsageError) as error:
        kronbot.loads(ARM).fit("data.csv", estimate="l")
    assert "\u202e" not in str(error.value)


def test_open_files_in_the_library(files):
    """Text and bytes, with the places of mistakes."""
    arm = kronbot.loads(ARM)
    asked = {"prior": {"mp": [1, 0.5]}, "sigma": {"endpoint": 1e-6, "torque": 1e-6}}
    whole = arm.fit("data.csv", **asked).to_dict()
    with open("data.csv") as text, open("data.csv", "rb") as content:
        assert arm.fit(text, **asked).to_dict() == arm.fit(content, **asked).to_dict() == whole
    with pytest.raises(UsageError, match="data:2:4: 'x' is not a number"):
        arm.fit(io.StringIO("q1,endpoint.x\n10,x\n"), estimate="l")
    with pytest.raises(UsageError, match="data: .* cannot be used, asking it raises ValueError"):
        arm.fit(text)


def test_mistakes_of_a_file_have_their_places(files, capsys):
    (files / "data.csv").write_text("q1,endpoint.x\n0.1,0.2\n0.2,abc\n0.3;0.4\n")
    assert run(FIT[:4] + ["--estimate", "l"]) == 2
    said = capsys.readouterr().err
    assert "data.csv:3:5: 'abc' is not a number" in said and "data.csv:4:1:" in said
    assert run(["fit", "arm.yaml"]) == 2 and "--data FILE" in capsys.readouterr().err


SECTION = """
fit:
  data: data.csv
  columns: {endpoint.x: "1e-3*x_mm"}
  parameters: {l: , k: {from: 10, to: l*200}, mp: {prior: [1, 0.5]}}
  sigma: {endpoint: 1e-6, torque: 1e-6}
  validate: 0.3
"""


def test_the_file_may_say_it_all(files, capsys):
    (files / "arm.yaml").write_text(ARM + SECTION)
    head, *rows = (files / "data.csv").read_text().splitlines()
    cells = [row.split(",") for row in rows]
    scaled = [[q, repr(1000 * float(x)), *more] for q, x, *more in cells]
    (files / "data.csv").write_text("\n".join(map(",".join, [head.replace("endpoint.x", "x_mm").split(","), *scaled])))
    assert run(["fit", "arm.yaml", "--format", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["at"]["parameters"] == pytest.approx(FOUND, rel=1e-8)
    assert answer["summary"]["validation_rows"] == 3
    assert run(["fit", "arm.yaml", "--format", "json", "--fix", "k", "--set", "k=44", "--validate", "0.5"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert list(answer["at"]["parameters"]) == ["l", "mp"] and answer["summary"]["validation_rows"] == 4
    assert run(["fit", "arm.yaml", "-o", "data.csv", "--overwrite"]) == 2
    assert "that is the file of measurements itself" in capsys.readouterr().err
    # Other commands check the section and open nothing.
    (files / "data.csv").unlink()
    assert run(["statics", "arm.yaml", "--set", "mp=1"]) == 0
    assert run(["fit", "arm.yaml"]) == 3 and "no file 'data.csv'" in capsys.readouterr().err
    os.symlink("/etc/hostname", "data.csv")  # nobody is told what stands elsewhere
    for name in ("../data.csv", "data.csv"):
        (files / "arm.yaml").write_text(ARM + SECTION.replace("data: data.csv", f"data: {name}"))
        assert run(["fit", "arm.yaml"]) == 3 and f"the file '{name}' " in capsys.readouterr().err


def test_mistakes_of_the_section_are_told_at_once(files, capsys):
    wrong = (
        SECTION.replace("l: ,", "ll: , half: ,").replace("10, to: l*200", "50, to: l*20").replace("[1, 0.5]", "[1, 0]")
    )
    wrong = wrong.replace("1e-3*x_mm", "1e-3*").replace("torque: 1e-6", "torque: -1") + "  fix: kk\n  losss: huber\n"
    (files / "arm.yaml").write_text(ARM + wrong)
    assert run(["statics", "arm.yaml"]) == 3
    said = capsys.readouterr().err
    for words in (
        "21:16: unknown parameter 'll'; did you mean 'l'?", "21:22: half follows from l: fit these instead",
        "21:48: the upper bound 10 must lie above the lower one, 50", "a standard deviation is positive, not 0",
        "a standard deviation is positive, not -1", "unknown parameter 'kk'; did you mean 'k'?", "unknown key 'losss'",
    ):  # fmt: skip
        assert words in said, words


def test_plans_and_trials(files, capsys):
    plan = ["fit", "arm.yaml", "--set", "mp=1", "--candidates", "data.csv"]
    plan += ["--sigma", "endpoint=1e-3", "--sigma", "torque=1"]
    assert run([*plan, "--plan", "3", "-o", "chosen.csv"]) == 0
    with open(files / "chosen.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 3 and list(rows[0]) == ["row", "angle.q1"]
    assert all(row["row"].isdecimal() for row in rows)
    assert run([*FIT, "--synthetic", "5", "--format", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["arrays"]["synthetic"]["columns"] == ["value", "bias", "spread", "predicted"]
    assert run([*FIT, "--synthetic", "5", "-o", "fitted.yaml"]) == 2
    assert "there is no robot file to write" in capsys.readouterr().err
    assert run([*plan, "--plan", "3", "-o", "chosen.foo"]) == 2
    assert "it must be one of .json, .csv, .npz, .mat\n" in capsys.readouterr().err
    assert run([*plan, "--plan", "3", "-o", "data.csv", "--overwrite"]) == 2
    assert "that is the file of candidates itself" in capsys.readouterr().err
    assert run([*plan, "--data", "data.csv"]) == 2 and "add --plan" in capsys.readouterr().err
