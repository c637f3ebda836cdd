"""jacobian and hessian on the command line: points, batches, formulas, wrong questions."""

import csv
import io
import json
import re

import numpy as np
import pytest

from kronbot import description
from kronbot.cli.main import run

Q = "0.47,0.83,-0.36"


def ask(capsys, *arguments):
    """Exit code and JSON answer."""
    code = run([*arguments, "--format", "json"])
    out = capsys.readouterr().out
    return code, json.loads(out, parse_constant=pytest.fail) if out else None


def test_numbers_carry_their_names_and_units(capsys):
    """The contract of one point."""
    code, answer = ask(capsys, "hessian", "stacker-numeric", "--q", Q)
    assert code == 0
    assert answer["at"] == {"q": {"q1": 0.47, "q2": 0.83, "q3": -0.36}}
    H_T = answer["arrays"]["H_T"]
    assert H_T["rows"] == ["x", "y", "z"]
    assert H_T["columns"][:4] == ["q1|q1", "q1|q2", "q1|q3", "q2|q1"]
    assert H_T["units"]["columns"][5] == "1/(rad rad)"
    assert np.shape(H_T["values"]) == (3, 9)
    assert H_T["values"][0][4] == pytest.approx(-5.368719681937413, rel=1e-12)
    code, answer = ask(capsys, "hessian", "stacker-numeric", "--q", Q, "--in", "body")
    assert list(answer["arrays"]) == ["H_T", "H_R", "H_T_star"]


def test_rates_give_velocities_and_accelerations(capsys):
    """v = J_T qd and a = J_T qdd + H_T (qd x qd), also in body axes, where the length stays."""
    rates = ["--qd", "0.31,-0.72,0.55", "--qdd", "q2=0.44"]
    lengths = []
    for axes in ("base", "body"):
        _, first = ask(capsys, "jacobian", "stacker-numeric", "--q", Q, "--in", axes, *rates[:2])
        _, second = ask(capsys, "hessian", "stacker-numeric", "--q", Q, "--in", axes, *rates)
        arrays = {**first["arrays"], **second["arrays"]}
        v = np.array(arrays["J_T"]["values"]) @ [0.31, -0.72, 0.55]
        assert arrays["v"]["values"] == pytest.approx(v)
        lengths.append([np.linalg.norm(arrays[name]["values"]) for name in ("v", "omega", "a", "alpha")])
    assert lengths[0] == pytest.approx(lengths[1], rel=1e-12)


def test_summary_of_dexterity(capsys):
    """Singular values, manipulability, condition number; none of the last where J is singular."""
    _, answer = ask(capsys, "jacobian", "puma560", "--q", "0.1,0.5,-0.9,0.3,0.7,0.2")
    J = np.vstack([answer["arrays"][name]["values"] for name in ("J_T", "J_R")])
    summary = answer["summary"]
    assert summary["manipulability"] == pytest.approx(abs(np.linalg.det(J)))
    assert summary["condition"] == pytest.approx(np.linalg.cond(J))
    assert summary["singular_value.1"] == pytest.approx(np.linalg.norm(J, 2))
    _, answer = ask(capsys, "jacobian", "puma560")  # the wrist is singular at 0
    assert answer["summary"]["manipulability"] == 0
    assert "condition" not in answer["summary"]


def test_batch_from_a_file(tmp_path, capsys):
    """Rows of a CSV file with some names in another order: the stack holds what single points give."""
    file = tmp_path / "rows.csv"
    file.write_text("q3,q1\n0.3,1\n-0.2,2\n0.1,-0.5\n")
    code, answer = ask(capsys, "jacobian", "stacker-numeric", "--q", f"@{file}")
    assert code == 0
    J_T = answer["arrays"]["J_T"]
    assert J_T["axis"] == {"name": "case", "values": [1, 2, 3]}
    _, single = ask(capsys, "jacobian", "stacker-numeric", "--q", "q1=2,q3=-0.2")
    assert J_T["values"][1] == single["arrays"]["J_T"]["values"]
    assert run(["jacobian", "stacker-numeric", "--q", f"@{file}", "--format", "csv", "--array", "J_T"]) == 0
    table = list(csv.reader(io.StringIO(capsys.readouterr().out)))
    assert table[0][:3] == ["case", "J_T[x,q1]", "J_T[x,q2]"]
    assert [float(entry) for entry in table[2][1:]] == np.ravel(J_T["values"][1]).tolist()
    assert run(["jacobian", "stacker-numeric", "--q", f"@{file}"]) == 0
    assert "3 times 3 x 3" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("q1,qx\n1,2\n", "qx"), ("q1,q1\n1,2\n", "twice"), ("q1,q2\n1\n", "names in the header: 2"),
        ("q1\nnan\n", "not a finite number"),
        ("q1\nabc\n", "abc"), ("", "header"), ("q1\n", "rows of numbers"), (b"\xff\xfe\x00", "UTF-8"),
    ],
)  # fmt: skip
def test_wrong_files_of_rows(content, message, tmp_path, capsys):
    """Usage errors that say what is wrong."""
    file = tmp_path / "rows.csv"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert run(["jacobian", "stacker-numeric", "--q", f"@{file}"]) == 2
    err = capsys.readouterr().err
    assert "rows.csv" in err
    assert message in err
    assert "Traceback" not in err


def test_stacker_prints_the_formulas_of_the_paper(capsys):
    """(102)-(105) as corrected in the errata, exactly as text."""
    code, answer = ask(capsys, "hessian", "stacker", "--symbolic")
    assert code == 0
    _, first = ask(capsys, "jacobian", "stacker", "--symbolic")
    arrays = {**answer["arrays"], **first["arrays"]}
    assert all(array["symbolic"] for array in arrays.values())
    cc, ss, sc, cs = "a3*cos(q2)*cos(q3)", "a3*sin(q2)*sin(q3)", "a3*sin(q2)*cos(q3)", "a3*sin(q3)*cos(q2)"
    assert arrays["J_T"]["values"] == [
        ["0", f"-{sc}", f"-{cs}"], ["0", "0", "-a3*cos(q3)"], ["1", cc, f"-{ss}"],
    ]  # fmt: skip
    assert arrays["H_T"]["values"] == [
        ["0", "0", "0", "0", f"-{cc}", ss, "0", ss, f"-{cc}"],
        ["0", "0", "0", "0", "0", "0", "0", "0", "a3*sin(q3)"],
        ["0", "0", "0", "0", f"-{sc}", f"-{cs}", "0", f"-{cs}", f"-{sc}"],
    ]
    assert arrays["J_R"]["values"] == [["0", "0", "sin(q2)"], ["0", "-1", "0"], ["0", "0", "-cos(q2)"]]
    zero = ["0"] * 9
    assert arrays["H_R"]["values"] == [[*zero[:7], "cos(q2)", "0"], zero, [*zero[:7], "sin(q2)", "0"]]


def test_formulas_are_exact(tmp_path, capsys):
    """alpha pi/2 leaves no 6e-17, alpha pi/3 prints sqrt(3)/2."""
    text = """
kronbot: 1
name: exact
convention: standard
gravity: [0, 0, 0]
links:
  - name: a
    joint: {type: revolute, name: q1}
    dh: {a: 2/3, d: 0, alpha: pi/3, theta: 0}
  - name: b
    joint: {type: revolute, name: q2}
    dh: {a: 0.1, d: 0, alpha: pi/2, theta: -pi/2}
"""
    file = tmp_path / "exact.yaml"
    file.write_text(text)
    assert run(["hessian", str(file), "--symbolic"]) == 0
    assert run(["jacobian", str(file), "--symbolic"]) == 0
    out = capsys.readouterr().out
    assert "sqrt(3)" in out
    assert "2/3" in out
    assert not re.search(r"e-1\d|\d\.\d", out)


@pytest.mark.slow
def test_formulas_of_a_seven_joint_arm_come_in_time(tmp_path, capsys):
    """The Jacobian within its 10 s, the Hessian within its 30 s, both complete."""
    signs = ["-pi/2", "pi/2", "pi/2", "-pi/2", "-pi/2", "pi/2", "0"]
    offsets = ["0.34", "0", "0.4", "0", "0.4", "0", "0.126"]
    links = "".join(
        f"  - {{name: l{i}, joint: {{type: revolute, name: q{i}}}, dh: {{a: 0, d: {d}, alpha: {alpha}, theta: 0}}}}\n"
        for i, (alpha, d) in enumerate(zip(signs, offsets, strict=True), 1)
    )
    file = tmp_path / "seven.yaml"
    file.write_text(f"kronbot: 1\nname: seven\nconvention: standard\ngravity: [0, 0, 0]\nlinks:\n{links}")
    for command, seconds in (("jacobian", "10"), ("hessian", "30")):
        assert run([command, str(file), "--symbolic", "--seconds", seconds]) == 0
        captured = capsys.readouterr()
        assert "simplification" not in captured.err  # complete
        assert "q7" not in captured.out.split("J_R")[0] or command == "jacobian"


def test_latex_and_python(tmp_path, capsys):
    """A document one can use: LaTeX displays, a module that runs and agrees with the numbers."""
    assert run(["jacobian", "stacker-numeric", "--symbolic", "python"]) == 0
    scope = {}
    module = capsys.readouterr().out
    exec(module, scope)
    written = tmp_path / "J.py"
    assert run(["jacobian", "stacker-numeric", "--symbolic", "python", "-o", str(written)]) == 0
    assert written.read_text() == module
    assert run(["jacobian", "stacker-numeric", "--latex", "-o", str(tmp_path / "K.py")]) == 2
    assert "wants --symbolic python" in capsys.readouterr().err
    _, answer = ask(capsys, "jacobian", "stacker-numeric", "--q", Q)
    assert np.allclose(scope["J_T"](0.47, 0.83, -0.36), answer["arrays"]["J_T"]["values"], rtol=1e-13)
    file = tmp_path / "J.tex"
    assert run(["jacobian", "stacker", "--latex", "-o", str(file)]) == 0
    assert file.read_text().startswith("\\[\nJ_{T} = \\begin{bmatrix}")
    assert run(["jacobian", "stacker-numeric", "-o", str(tmp_path / "K.tex")]) == 2
    assert run(["dynamics", "khang", "--latex"]) == 0
    heads = [line.partition(" = ")[0] for line in capsys.readouterr().out.splitlines() if line.endswith("{bmatrix}")]
    written = ["M", "C", r"C_{\mathrm{Christoffel}}", "C^{*}", r"\frac{\partial M}{\partial q}", "g", "K", "D", r"\tau"]
    assert [head for head in heads if not head.startswith(r"\end")] == written


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--frame", "upperr"], "did you mean 'upper'"), (["--frame", "base-to:upper"], "base-to:A,B"),
        (["--frame", "com:elbow"], "com:upper"), (["--q", "1,2"], "9 coordinates"), (["--short"], "--symbolic"),
        (["--symbolic", "--q", "0"], "--q"), (["--latex", "--symbolic", "python"], "exclude"),
        (["--q", "@nothing.csv"], "no such file"), (["--array", "J"], "J_T"),
        (["--seconds", "3"], "--symbolic"), (["--cse"], "--symbolic"),
    ],
)  # fmt: skip
def test_wrong_questions_name_the_choices(arguments, message, capsys):
    """Exit 2 with what is missing."""
    assert run(["jacobian", "canadarm", *arguments]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert "Traceback" not in err


def test_motion_without_a_value_may_stand_before_the_robot(tmp_path, capsys):
    file = tmp_path / "moving.yaml"
    file.write_text(description.read("khang").text + "motion:\n  qa: {type: sinusoid, amplitude: 0.2, frequency: 5}\n")
    grid = ["--order", "1", "--lock", "qa", "--duration", "0.1", "--step", "0.05", "--format", "json"]
    answers = []
    for words in (["--motion", str(file), *grid], [str(file), "--motion", *grid], [str(file), *grid, "--motion="]):
        assert run(["linearize", *words]) == 0
        answers.append(capsys.readouterr().out)
    assert run(["linearize", "--motion", "qa: {type: sinusoid, amplitude: 0.2, frequency: 5}", "khang", *grid]) == 0
    answers.append(capsys.readouterr().out)
    assert len(set(answers)) == 1
    assert json.loads(answers[0])["arrays"]["h_L"]["values"] != []


def test_numbers_of_a_file_with_free_symbols(capsys):
    """What is missing, and both cures."""
    assert run(["jacobian", "stacker", "--q", "1,2,3"]) == 2
    err = capsys.readouterr().err
    assert "a3" in err
    assert "--set a3=" in err
    assert "--symbolic" in err
    assert run(["jacobian", "stacker", "--q", "1,2,3", "--set", "a3=2", "--set", "d2=1", "-q"]) == 0


def test_batches_come_in_blocks(tmp_path, capsys, monkeypatch):
    """However many there are: the same bytes, cases numbered through, in every form."""
    file = tmp_path / "rows.csv"
    rows = np.random.default_rng(3).uniform(-1, 1, (1300, 3))
    file.write_text("q1,q2,q3\n" + "".join(",".join(map(repr, row)) + "\n" for row in rows.tolist()))
    line = ["jacobian", "stacker-numeric", "--q", f"@{file}", "--array", "J_T", "--quiet"]
    told = {}
    for size in (512, 65_536):
        monkeypatch.setattr("kronbot.cli.input.points.MOST", size)
        assert run([*line, "--format", "csv"]) == 0
        told[size] = [capsys.readouterr().out]
        for suffix in ("csv", "json", "npz"):
            target = tmp_path / f"{size}.{suffix}"
            assert run([*line, "-o", str(target)]) == 0
            told[size].append(target.read_bytes())
    assert told[512] == told[65_536]
    cases = [entry.split(",")[0] for entry in told[512][0].splitlines()]
    assert cases == ["case", *map(str, range(1, 1301))]


def test_a_wrong_row_far_down_leaves_no_file(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("kronbot.cli.input.points.MOST", 512)
    file, target = tmp_path / "rows.csv", tmp_path / "out.csv"
    file.write_text("q1,q2,q3\n" + "1,2,3\n" * 1200 + "1,nan,3\n")
    line = ["jacobian", "stacker-numeric", "--q", f"@{file}", "--array", "J_T", "-o", str(target)]
    assert run(line) == 2
    assert "rows.csv:1202:3: 'nan' is not a finite number" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.csv"]


def test_files_of_rows_have_equal_length(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("kronbot.cli.input.points.MOST", 512)
    (tmp_path / "q.csv").write_text("q1\n" + "1\n" * 512)
    (tmp_path / "qd.csv").write_text("q1\n" + "1\n" * 513)
    assert run(["jacobian", "stacker-numeric", "--q", f"@{tmp_path / 'q.csv'}", "--qd", f"@{tmp_path / 'qd.csv'}"]) == 2
    assert "--q and --qd must have equally many rows" in capsys.readouterr().err
