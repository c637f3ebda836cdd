"""dynamics, taylor, linearize and modes on the command line."""

import csv
import json

import numpy as np
import pytest
from scipy.io import loadmat

import kronbot
from kronbot import description
from kronbot.cli.main import run


def ask(capsys, *arguments):
    """The JSON answer of a command that succeeds."""
    assert run([*arguments, "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out, parse_constant=pytest.fail)


def test_dynamics_balances(capsys):
    """tau = M qdd + C qd + g + K q + D qd, with both Coriolis matrices."""
    point = ["--q", "q2=0.5,q3=-0.9", "--qd", "q1=1,q2=0.3", "--qdd", "q3=2"]
    arrays = ask(capsys, "dynamics", "puma560", *point)["arrays"]
    M, g, K, D, tau = (np.array(arrays[name]["values"]) for name in ("M", "g", "K", "D", "tau"))
    q, qd, qdd = np.array([0, 0.5, -0.9, 0, 0, 0]), np.array([1, 0.3, 0, 0, 0, 0]), np.array([0, 0, 2, 0, 0, 0])
    for name in ("C", "C_christoffel"):
        C = np.array(arrays[name]["values"])
        assert M @ qdd + C @ qd + g + K @ q + D @ qd == pytest.approx(tau, rel=1e-12)
    assert arrays["dM_dq"]["columns"][1] == "q1|q2"


def test_taylor_reports_its_errors(capsys):
    """The reference's largest errors of M for each order; coefficients by name."""
    answer = ask(
        capsys, "taylor", "stacker-numeric", "--terms", "4", "--q", "0.47,0.83,-0.36", "--delta", "0.09,0.23,-0.17"
    )
    errors = [answer["summary"][f"largest_error.{k}"] for k in range(1, 5)]
    assert errors == pytest.approx([720.200688135028, 87.58348065996324, 7.2889033525534614, 0.49275080683946726])
    assert list(answer["arrays"]) == ["M", "dM_dq", "d2M_dq2", "d3M_dq3", "d4M_dq4", "expansion", "exact", "error"]
    expansion, exact, error = (np.array(answer["arrays"][name]["values"]) for name in ("expansion", "exact", "error"))
    assert error == pytest.approx(expansion - exact, abs=1e-9)
    assert run(["taylor", "canadarm", "--terms", "6"]) == 1
    assert "delta" in capsys.readouterr().err
    answer = ask(capsys, "taylor", "canadarm", "--terms", "6", "--delta", "q2=0.1")
    assert "left_out" in answer["summary"]
    assert answer["summary"]["largest_error.6"] < 1e-6


def test_linearize_writes_matlab_files(tmp_path, capsys):
    """A, B, C, D as MATLAB sees them are those of the JSON answer."""
    point = ["linearize", "khang", "--equilibrium", "--q", "qa=pi/4"]
    answer = ask(capsys, *point)
    assert run([*point, "-o", str(tmp_path / "k.mat")]) == 0
    matlab = loadmat(tmp_path / "k.mat", simplify_cells=True)
    arrays = matlab["arrays"]
    assert matlab["names"]["B"]["rows"].tolist() == ["qa", "arm.v1", "qa_dot", "arm.v1_dot"]
    assert matlab["at"]["q"]["qa"] == answer["at"]["q"]["qa"]
    for name in "ABCD":
        assert np.array_equal(arrays[name], np.array(answer["arrays"][name]["values"]))
    assert arrays["poles"].dtype.kind == "c"
    shapes = answer["arrays"]["shapes"]
    assert np.shape(shapes["real"]) == np.shape(shapes["imag"]) == (2, len(answer["arrays"]["poles"]["rows"]))
    assert "order 2, 1 mode" in answer["summary"]["verdict"]
    assert "equilibrium" in answer["summary"]["verdict"]


def test_linearize_along_a_motion(capsys):
    """Stacks over time; a motion that is no period of anything has no multipliers."""
    answer = ask(capsys, "linearize", "canadarm", "--motion", "--step", "2.5")
    K_L = answer["arrays"]["K_L"]
    assert K_L["axis"] == {"name": "t", "values": [0.0, 2.5, 5.0, 7.5, 10.0]}
    assert np.shape(K_L["values"]) == (5, 9, 9)
    assert "multipliers" not in answer["arrays"]


def test_a_motion_of_the_command_line(capsys):
    """YAML text in place of the file's motion; what is wrong in it is a usage error with a place."""
    answer = ask(capsys, "linearize", "khang", "--motion", "qa: {type: sinusoid, amplitude: 0.2, frequency: 5}")
    assert answer["summary"]["period"] == pytest.approx(2 * np.pi / 5)
    assert "locked qa" in answer["summary"]["verdict"]
    for wrong in ("qb: {type: sinusoid, amplitude: 1, frequency: 2}", "qa: {type: sinusiod}", "qa: [", "5"):
        assert run(["linearize", "khang", "--motion", wrong]) == 2
        assert "motion" in capsys.readouterr().err


def test_modes_at_rest_agree_with_check(capsys):
    """Joints locked and free; rigid motions are exact zeros."""
    modes = ask(capsys, "modes", "canadarm")["arrays"]
    check = ask(capsys, "check", "canadarm")["arrays"]
    for case in ("locked", "free"):
        ours, theirs = (
            np.array(a[f"{name}_{case}"]["values"]) for a, name in ((modes, "frequencies"), (check, "frequency"))
        )
        assert ours == pytest.approx(theirs, rel=1e-6)
    assert modes["frequencies_free"]["values"][:3] == [0, 0, 0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["linearize", "canadarm", "--lock", "q9"], "q1, q2, q3"),
        (["linearize", "canadarm", "--inputs", "torque"], "torques"),
        (["linearize", "canadarm", "--motion", "--q", "1,2,3"], "--motion"),
        (["linearize", "khang", "--motion"], "no motion"),
        (["linearize", "khang", "--step", "1"], "--motion"),
        (["linearize", "khang", "--force", "1,2"], "3 numbers are wanted"),
        (["linearize", "khang", "--outputs", "gauges"], "statics"),
        (["linearize", "khang", "--tau", "arm.v1=1"], "by joint"),
        (["modes", "khang", "--q", "arm.v1=0.1"], "arm.v1 is 0 there, not 0.1; leave it out"),
        (["linearize", "stacker"], "--set"),
        (["linearize", "khang", "--equilibrium", "--tau", "1"], "--tau"),
        (["taylor", "khang", "--q", "@x.csv"], "no such file"),
    ],
)
def test_wrong_questions(arguments, message, capsys):
    """Exit 2 with the choices or the contradiction."""
    assert run(arguments) == 2
    err = capsys.readouterr().err
    assert message in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    "command", ["check", "jacobian", "hessian", "dynamics", "taylor", "linearize", "modes", "simulate"]
)
@pytest.mark.parametrize("style", ["table", "json"])
def test_a_robot_without_coordinates(command, style, tmp_path, capsys):
    """Nothing moves, and every command says so without a stumble."""
    file = tmp_path / "fixed.yaml"
    file.write_text(
        "kronbot: 1\nname: fixed\nconvention: standard\ngravity: [0, 0, -9.81]\nlinks:\n"
        "  - {name: a, joint: {type: fixed}, dh: {a: 1, d: 0, alpha: 0, theta: 0}, rigid: {mass: 2}}\n"
    )
    more = ["--duration", "1"] if command == "simulate" else []
    assert run([command, str(file), "--format", style, *more]) == 0
    assert capsys.readouterr().err == ""


def test_rigid_robots_without_stiffness(tmp_path, capsys):
    """All poles at zero; damped free joints have one pole at zero each, and all are counted."""
    summary = ask(capsys, "linearize", "stacker-numeric")["summary"]
    assert (summary["free_coordinates"], summary["controllable"], summary["observable"]) == (3, 6, 6)
    file = tmp_path / "p.yaml"
    file.write_text(description.read("puma560").text.replace("gravity: [0, 0, -9.81]", "gravity: [0, 0, 0]"))
    answer = ask(capsys, "linearize", str(file), "-q")
    assert answer["summary"]["free_coordinates"] == 6
    assert answer["arrays"]["frequencies"]["values"][:6] == [0.0] * 6


@pytest.mark.slow
def test_counts_of_reachable_modes_stay_within_the_states(capsys):
    """The symmetric arms of the torso have modes that the right endpoint does not see."""
    summary = ask(capsys, "linearize", "torso", "--equilibrium")["summary"]
    assert summary["controllable"] <= summary["states"] == 38
    assert 0 < summary["observable"] <= 38


def test_verdicts_do_not_claim_too_much(capsys):
    """An equilibrium, a steady spin, an instant of a motion and an arbitrary point are told apart."""
    words = {
        ("khang", "--equilibrium", "--q", "qa=-pi/2"): "about an equilibrium",
        ("spin-up", "--qd", "4", "--lock", "all"): "about a steady motion",
        ("khang", "--equilibrium", "--qd", "2"): "coefficients frozen at this instant",
        ("khang", "--q", "arm.v1=0.1", "--lock", "qa"): "about the given point, h_L is not zero",
        ("khang",): "about the rigid motion, h_L is not zero",
    }
    for arguments, expected in words.items():
        assert expected in ask(capsys, "linearize", *arguments)["summary"]["verdict"]
    for wrong in (["--equilibrium", "--qdd", "1"], ["--symbolic", "--tau", "3"], ["--symbolic", "--force", "1,0,0"]):
        assert run(["linearize", "khang", *wrong]) == 2
        assert "leave out" in capsys.readouterr().err


def test_frequencies_are_told_in_hertz_too(capsys):
    """For people; JSON keeps the rad/s that csv and the library have."""
    assert run(["modes", "khang", "--convergence", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    omega = kronbot.load("khang").modes()["frequencies_locked"][0]
    at = lines.index("frequencies_locked")
    assert lines[at + 1].split() == ["rad/s", "Hz"]
    assert lines[at + 2].split() == ["1", f"{omega:.6g}", f"{omega / 2 / np.pi:.6g}"]
    rad, hertz = (lines[lines.index(f"convergence_locked [{unit}]") + 2].split() for unit in ("rad/s", "Hz"))
    assert float(hertz[1]) == pytest.approx(float(rad[1]) / 2 / np.pi, rel=1e-5)
    assert run(["linearize", "khang"]) == 0
    assert "\nfrequencies\n" in capsys.readouterr().out
    assert run(["check", "khang"]) == 0
    first = kronbot.load("khang").check().summary["first_frequency_locked"]
    assert f"first_frequency_locked  {first:.6g} rad/s, {first / 2 / np.pi:.6g} Hz" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["modes", "khang", "--format", "csv"], "csv holds one array: give --array with one of poles_locked, "),
        (["linearize", "khang", "-o", "a.csv"], "csv holds one array: give --array with one of M_L, "),
        (["linearize", "khang", "--array", "AA"], "no array 'AA' in this answer; did you mean 'A'?"),
        (["linearize", "khang", "--motion", "qa: {type: sinusoid, amplitude: 1, frequency: 1}", "--array", "A"], "'A'"),
        (["taylor", "khang", "--terms", "1", "--format", "csv"], "csv holds one array: give --array with one of M, "),
        (["hessian", "khang", "--array", "J_T"], "no array 'J_T'"),
        (["dynamics", "khang", "--array", "tau"], "no array 'tau'"),
        (["jacobian", "khang", "--array", "v"], "no array 'v'"),
    ],
)
def test_what_an_answer_cannot_hold_is_told_before_it_is_computed(given, words, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for question in ("modes", "linearize", "linearize_along", "taylor", "hessian", "dynamics", "jacobian"):
        monkeypatch.setattr(f"kronbot.library.robot.Robot.{question}", None)
    assert run(given) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["dynamics", "khang"], "csv holds one array: give --array with one of M, C, "),
        (["hessian", "khang", "--in", "body"], "one of H_T, H_R, H_T_star"),
        (["linearize", "khang"], "one of M_L, D_L, K_L, h_L"),
    ],
)
def test_csv_of_several_formulas_is_refused_before_one_is_written(given, words, capsys, monkeypatch):
    monkeypatch.setattr("kronbot.questions.formulas.size", None)
    assert run([*given, "--symbolic", "--format", "csv"]) == 2
    assert words in capsys.readouterr().err


def test_latex_is_a_form_of_symbolic(capsys):
    """Either may stand alone, and both may."""
    texts = []
    for form in (["--latex"], ["--symbolic", "--latex"], ["--symbolic", "latex"]):
        assert run(["jacobian", "stacker", "--array", "J_R", *form]) == 0
        texts.append(capsys.readouterr().out)
    assert texts[0].startswith("\\[") and texts == texts[:1] * 3
    assert run(["jacobian", "stacker", "--symbolic", "python", "--latex"]) == 2


def test_tables_tell_bounds_of_errors_as_they_are(capsys):
    """A bound is not rounding beside a condition number, and no error is 0 that is not."""
    assert run(["modes", "canadarm"]) == 0
    lines = capsys.readouterr().out.splitlines()
    start = lines.index("accuracy_locked") + 3  # names and units
    shown = np.array([line.split()[1:] for line in lines[start : start + 6]], dtype=float)
    held = np.array(ask(capsys, "modes", "canadarm")["arrays"]["accuracy_locked"]["values"])
    assert (shown[:, :3] >= held[:, :3]).all() and (shown[:, :3] <= 2 * held[:, :3]).all()  # rounded up to one digit
    assert shown[:, 3:] == pytest.approx(held[:, 3:], rel=1e-5) and (held[:, 0] > 0).all()


def test_wide_arrays_are_told_by_their_size(capsys):
    assert run(["taylor", "stacker-numeric", "--terms", "4", "--delta", "q2=0.2"]) == 0
    out = capsys.readouterr().out
    assert "d4M_dq4: 3 x 243, all with --format json|csv or -o\n" in out
    assert "d2M_dq2 [SI]: 8 of 27 columns, the others are 0\n" in out and "d3M_dq3 [SI]: all 0 (3 x 81)\n" in out


def test_complex_arrays_have_columns_of_their_parts(tmp_path, capsys):
    """Of a vector and of a matrix: numbers that any program reads."""
    found = kronbot.load("khang").modes()
    assert run(["modes", "khang", "--array", "poles_locked", "--format", "csv"]) == 0
    head, *rows = csv.reader(capsys.readouterr().out.splitlines())
    assert head == ["", "real", "imag"]
    assert [complex(float(x), float(y)) for _, x, y in rows] == found["poles_locked"].tolist()
    assert run(["modes", "khang", "--array", "shapes_free", "--format", "csv"]) == 0
    head, *rows = csv.reader(capsys.readouterr().out.splitlines())
    assert head == ["", "1.real", "1.imag", "2.real", "2.imag"]
    parts = np.array([row[1:] for row in rows], dtype=float)
    assert (parts[:, ::2] + 1j * parts[:, 1::2] == found["shapes_free"]).all()
    (tmp_path / "q.csv").write_text("qa\n0\n1\n")
    command = ["modes", "khang", "--q", f"@{tmp_path / 'q.csv'}", "--array", "poles_locked", "--format", "csv"]
    assert run(command) == 0
    assert capsys.readouterr().out.startswith('case,"poles_locked[1,real]","poles_locked[1,imag]"')
