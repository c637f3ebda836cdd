"""statics on the command line: sweeps, orders side by side, loads, refusals, pictures."""

import csv
import io
import json
import math

import pytest

from kronbot import description
from kronbot.cli.main import run

CASE = ["statics", "piedboeuf", "--q", "theta=0", "--forces", "0,-1,0"]


def ask(capsys, *arguments):
    """The JSON answer of a command that succeeds."""
    assert run([*arguments, "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out, parse_constant=pytest.fail)


def test_the_sweep_of_the_file(capsys):
    answer = ask(capsys, "statics", "piedboeuf")
    series = answer["series"]
    assert answer["summary"]["cases"] == 49 and answer["summary"]["complete"] is True
    # First joint slowest, loads fastest.
    assert series["angle.theta"][:8] == [series["angle.theta"][0]] * 7 + [series["angle.theta"][7]]
    assert series["force.y"][:7] == [0, -0.61, -1.22, -1.84, -2.46, -4.19, -5.4]
    head = ["angle.theta", "force.x", "force.y", "force.z", "moment.x", "moment.y", "moment.z", "torque.theta"]
    assert list(series)[:8] == head
    assert {"curvature.g1", "curvature_relative.g3", "curvature_y.g1", "twist.g1", "tip.arm.rz"} <= set(series)
    assert {"endpoint.y", "displacement.y", "displacement_hub.y", "reaction.mz", "energy.elastic"} <= set(series)
    assert list(series)[-1] == "arm.v5" and "arrays" not in answer


def test_one_case_has_compliance_and_stiffness(capsys):
    answer = ask(capsys, *CASE)
    assert list(answer["arrays"]) == ["compliance", "stiffness"]
    assert answer["arrays"]["compliance"]["rows"] == ["x", "y", "z", "rx", "ry", "rz"]
    assert answer["at"]["q"]["theta"] == 0
    assert answer["summary"]["stable"] is True and answer["summary"]["yielding_directions"] == 3


def test_places_without_names_yield_to_a_sweep(capsys):
    """Where q gives all joints, some of them may be swept."""
    assert run(["statics", "puma560", "--q", "1,2,3,4,5,6", "--angles", "q2=0,1", "--format", "json"]) == 0
    series = json.loads(capsys.readouterr().out)["series"]
    assert (series["angle.q1"], series["angle.q2"]) == ([1, 1], [0, 1])


def test_ranges_and_lists_of_angles(capsys):
    one = ["statics", "piedboeuf", "--order", "0", "--forces", "0,0,0"]
    angles = ask(capsys, *one, "--angles", "theta=-0.2:0.1:0.1,0.5")["series"]["angle.theta"]
    assert angles == [-0.2, -0.1, 0, 0.1, 0.5]
    for given, place in (("-60*deg:0:20*deg", -1), ("-60*deg:10*deg:20*deg", 3), ("-0.3:0.1:0.1", -1)):
        angles = ask(capsys, *one, "--angles", f"theta={given}")["series"]["angle.theta"]
        assert angles[place] == (0.1 if given.startswith("-0.3") else 0.0)  # the end, and 0, as they are written
    turned = ask(capsys, "statics", "piedboeuf", "--q", "theta=1", "--moments", "0,0,1;0,0,2", "--forces", "1,0,0")
    assert turned["series"]["moment.z"] == [1, 2] and turned["series"]["force.x"] == [1, 1]


@pytest.fixture
def file(tmp_path):
    """The robot of piedboeuf with fewer modes."""
    path = tmp_path / "piedboeuf.yaml"
    path.write_text(description.read("piedboeuf").text.replace("v: 5", "v: 2"))
    return path


@pytest.mark.slow
def test_all_orders_side_by_side(capsys, file):
    assert run(["statics", str(file), "--q", "theta=0.2", "--order", "all", "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["order"] for row in rows] == [o for o in ("0", "1", "2", "exact") for _ in range(7)]
    assert float(rows[0]["arm.v1"]) == 0 and float(rows[-1]["arm.v1"]) < 0
    answer = ask(capsys, "statics", str(file), "--q", "theta=0.2", "--order", "all")
    difference = answer["arrays"]["difference"]
    assert difference["columns"] == ["2-0", "2-1", "exact-0", "exact-1", "exact-2"]
    torque = [float(row["torque.theta"]) for row in rows]
    place = difference["rows"].index("torque.theta")
    assert difference["values"][6][place][1] == pytest.approx(torque[20] - torque[13], abs=1e-15)
    assert answer["order"] == "all"


def test_loads_on_frames_and_along_beams(capsys):
    """A force on the tip frame is that force on the endpoint with the moment of its lever; both ways, same torque."""
    plain = ["statics", "piedboeuf", "--q", "theta=0.1", "--forces", "0,0,0", "--order", "0"]
    load = ask(capsys, *plain, "--load", "arm=0,-2,0,0,0,0.5", "--distributed", "arm=0,-1,0")["series"]
    none = ask(capsys, *plain)["series"]
    change = load["torque.theta"][0] - none["torque.theta"][0]
    lever, line = 0.821 * math.cos(0.1), 0.7845 * (0.0365 + 0.7845 / 2) * math.cos(0.1)
    assert change == pytest.approx(2 * lever - 0.5 + line, rel=1e-12)


def test_a_row_of_a_file_is_a_row_of_the_answer(capsys, tmp_path):
    """In its order, in place of the angles of the file, each with the one load."""
    (tmp_path / "rows.csv").write_text("q2,q1\n0.3,0.1\n-0.2,0.5\n0.3,0.1\n")
    rows = ["statics", "canadarm", "--q", f"@{tmp_path / 'rows.csv'}", "--forces", "0,-5,0"]
    found = ask(capsys, *rows, "--outputs", "reaction:q2")["series"]
    assert (found["angle.q1"], found["angle.q2"]) == ([0.1, 0.5, 0.1], [0.3, -0.2, 0.3])
    alone = ask(capsys, "statics", "canadarm", "--q", "0.5,-0.2,0", "--forces", "0,-5,0", "--outputs", "reaction:q2")
    for name in ("reaction.q2.fx", "reaction.q2.mz", "endpoint.y", "torque.q1"):
        assert found[name][1] == alone["series"][name][0]


@pytest.mark.slow
def test_buckling(capsys):
    case = ["statics", "canadarm", "--q", "0,0,0", "--load", "endpoint=-1,0,0", "--buckling"]
    newton = ask(capsys, *case)["summary"]["buckling_factor"]
    # At order 2 a straight arm under a load along it: the path stays straight, so that both solvers see one problem.
    assert ask(capsys, *case, "--solver", "linear")["summary"]["buckling_factor"] == pytest.approx(newton, rel=1e-7)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["statics", "piedboeuf", "--angles", "theta=0:1"], "should read FROM:TO:STEP"),
        (["statics", "piedboeuf", "--angles", "theta=0:1:-0.1"], "a step towards TO"),
        (["statics", "piedboeuf", "--angles", "thet=0"], "no joint 'thet'"),
        (
            ["statics", "piedboeuf", "--q", "theta=1", "--angles", "theta=0,1"],
            "--q and --angles both place theta",
        ),
        (["statics", "piedboeuf", "--forces", "1,2"], "takes vectors x,y,z"),
        (["statics", "piedboeuf", "--forces", "1,2,x"], "--forces: 'x'"),
        (["statics", "piedboeuf", "--load", "arm=1,2"], "should read FRAME="),
        (["statics", "piedboeuf", "--load", "arn=1,2,3"], "did you mean 'arm'"),
        (["statics", "piedboeuf", "--distributed", "arn=1,2,3"], "did you mean 'arm'"),
        (["statics", "piedboeuf", "--tau", "arm.v1=2"], "--tau is by joint"),
        (["statics", "piedboeuf", "--tau", "theta=2", "--solver", "linear"], "leave out --tau"),
        (["statics", "piedboeuf", "--buckling"], "for one case"),
        (["statics", "piedboeuf", "--order", "all", "--buckling"], "goes with one order"),
        (["statics", "piedboeuf", "--plot", "x.gif"], "the suffix decides"),
        (["jacobian", "piedboeuf", "--order", "exact", "--symbolic"], "order exact is integrated along the beam"),
        (["linearize", "piedboeuf", "--order", "exact", "--latex"], "order exact is integrated along the beam"),
        (["statics", "puma560", "--angles", "q1=0:1:1e-9"], "is the limit"),
    ],
)
def test_wrong_questions_say_what_is_wanted(arguments, message, capsys):
    assert run(arguments) == 2
    captured = capsys.readouterr()
    assert message in captured.err and not captured.out


def test_a_load_that_is_too_large_keeps_what_came_before(tmp_path, capsys):
    target = tmp_path / "out.json"
    loads = "0,0,0;-20,0,0;-400,0,0"
    assert run(["statics", "piedboeuf", "--q", "theta=0", "--forces", loads, "-o", str(target)]) == 1
    message = capsys.readouterr().err
    assert "beyond 0." in message and "% of its length" in message and "try" in message
    answer = json.loads(target.read_text())
    assert answer["summary"]["complete"] is False and answer["series"]["force.x"] == [0, -20]


@pytest.mark.slow
def test_pictures(tmp_path, capsys, file, unsettled):
    pytest.importorskip("matplotlib")
    drawings = []
    for name in ("a", "b"):
        target = tmp_path / f"{name}.svg"
        asked = ["statics", str(file), "--angles", "theta=-1:1:1", "--forces", "0,-1,0", "--order", "1"]
        assert run([*asked, "--plot", str(target), "--format", "json"]) == 0
        drawings.append(target.read_bytes())
    assert drawings[0].startswith(b"<?xml")
    assert drawings[0] == drawings[1]  # same input, same bytes
    text = drawings[0].decode()
    assert all(word in text for word in ("torque of theta, order 1", "theta [deg]", "N m", "1/m", "x [m]"))
    assert run(["statics", "piedboeuf", "--plot", str(target)]) == 2  # it is there already


TWO_JOINTS = """
kronbot: 1
name: two
convention: standard
gravity: [0, -9.81, 0]
links:
  - name: a
    joint: {type: revolute, name: q1}
    dh: {a: 1, d: 0, alpha: 0, theta: 0}
    flexible: {mass: 1, EI: {z: 9}, modes: {v: 1}}
  - {name: b, joint: {type: revolute, name: q2}, dh: {a: 1, d: 0, alpha: 0, theta: 0}}
statics: {angles: {q1: [0, 1], q2: [0, 0.5]}, forces: [[0, 0, 0], [0, -1, 0]]}
"""


def test_joints_that_q_does_not_name_keep_the_sweep_and_buckling_says_so(tmp_path, capsys):
    """The message names what makes several cases of it, each with its cure, which works."""
    file = tmp_path / "two.yaml"
    file.write_text(TWO_JOINTS)
    series = ask(capsys, "statics", str(file), "--q", "q1=0.2")["series"]
    assert series["angle.q1"] == [0.2] * 4 and series["angle.q2"] == [0, 0, 0.5, 0.5]
    assert run(["statics", str(file), "--q", "q1=0.2", "--buckling"]) == 2
    assert capsys.readouterr().err == (
        "Error: buckling is for one case, not 4: q2 has 2 values (--q q2=... gives it one), "
        "there are 2 forces on the endpoint (--forces x,y,z gives one)\n"
    )
    cured = ["statics", str(file), "--q", "q1=0.2,q2=0", "--forces", "0,-1,0", "--buckling"]
    assert run(cured) == 0


def test_angles_in_degrees_are_doubted(tmp_path, capsys):
    """As those of --q and of files are, each by its own text; not where deg or pi stand in it. The number is the
    user's, of a range one that stands there."""
    file = tmp_path / "two.yaml"
    file.write_text(TWO_JOINTS)
    assert run(["statics", str(file), "--angles", "q1=0:90:30"]) == 0
    assert "warning: --angles: q1 = 90 is beyond 2 pi: is it in degrees? (write 90*deg)" in capsys.readouterr().err
    for values in ("0,pi/2,90", "-pi:90:pi/2"):
        assert run(["statics", str(file), "--angles", f"q1={values}"]) == 0
        assert "--angles: q1 = 90 is beyond" in capsys.readouterr().err
    assert run(["statics", str(file), "--angles", "q1=0:90*deg:30*deg"]) == 0
    assert "degrees" not in capsys.readouterr().err
    file.write_text(TWO_JOINTS.replace("[0, 1]", "[-180, 0]"))
    assert run(["check", str(file)]) == 0
    assert "(write -180*deg)" in capsys.readouterr().err


def test_arrays_that_an_answer_cannot_hold_are_refused_before_it_is_computed(capsys):
    """Not after the run; simulate has none at all, and no such option."""
    assert run(["statics", "piedboeuf", "--array", "J_T"]) == 2
    assert "there are compliance, stiffness" in capsys.readouterr().err


@pytest.mark.slow
def test_arrays_of_one_case_are_refused_for_many_before_they_are_computed(capsys, monkeypatch, file):
    with monkeypatch.context() as uncomputed:
        uncomputed.setattr("kronbot.library.robot.Robot.statics", None)
        assert run(["statics", str(file), "--array", "compliance"]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "--array compliance is about one case, here are 49: theta has 7 values (--q theta=... gives it one)" in told
    one = ["--q", "theta=0", "--forces", "0,-1,0", "--format", "csv"]
    assert run(["statics", str(file), "--array", "compliance", *one]) == 0
    assert capsys.readouterr().out.startswith(",")
    assert run(["statics", str(file), "--array", "difference", "--order", "all", *one]) == 0
    assert capsys.readouterr().out.startswith('case,"difference[')
