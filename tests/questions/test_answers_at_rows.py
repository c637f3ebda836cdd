"""Answers of modes, linearize and statics at rows of ``--q @file.csv``: those of the points, one after the other."""

import json
import signal

import numpy as np
import pytest
from robots_in_tests import loaded, shipped_robot, turning

import kronbot
from kronbot.cli.main import run
from kronbot.errors import ComputationError, Interrupted, UsageError
from kronbot.questions.linearize import Linearization
from kronbot.questions.modes import Vibrations

PENDULUM = turning("rigid: {mass: 1, com: [0, 0, 0]}", more=", damping: 0.1", gravity=9.81)
POSTURES = [[0.0, 0.0, 0.0], [0.3, 1.0, -0.5], [0.1, -1.0, 0.2]]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder where the tests run, with a pendulum and rows of its angle: hanging, upright, sideways."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pendulum.yaml").write_text(PENDULUM)
    (tmp_path / "rows.csv").write_text("q1\n-pi/2\npi/2\n0\n")
    return tmp_path


def asked(capsys, *arguments):
    """Exit code, JSON (None where there is none) and messages."""
    code = run([*arguments, "--format", "json"])
    out, err = capsys.readouterr()
    return code, json.loads(out) if out else None, err


def same_as_points(rows, points):
    """Stacks hold the numbers of the points to the last bit, and zeros beyond their modes."""
    for name in points[0].arrays:
        stack = rows.arrays[name]
        assert stack.axis == ("case", range(1, len(points) + 1))
        assert list(stack.rows) in [list(point.arrays[name].rows) for point in points]
        for case, point in zip(stack.values, points, strict=True):
            inside = tuple(map(slice, point[name].shape))
            np.testing.assert_array_equal(case[inside], point[name])
            assert np.count_nonzero(case) == np.count_nonzero(point[name])


def test_linear_models_at_rows_are_those_of_the_points():
    robot = shipped_robot("canadarm")
    rates = [[0.0, 0.1, 0.2]] * 3
    rows = robot.linearize(q=POSTURES, qd=rates, tau={"q1": 2}, lock="q3")
    points = [robot.linearize(q=q, qd=qd, tau={"q1": 2}, lock="q3") for q, qd in zip(POSTURES, rates, strict=True)]
    same_as_points(rows, points)
    assert rows.summary["cases"] == 3
    assert rows.summary["complete"] is True
    assert rows.summary["largest_h_L"] == max(point.summary["largest_h_L"] for point in points)


@pytest.mark.slow
def test_no_row_depends_on_how_many_are_asked_together():
    """Nine coordinates, more rows than are solved at a time: every part of the rows has the same bits."""
    robot, rng = shipped_robot("canadarm"), np.random.default_rng(0)
    q, qd = rng.uniform(-2, 2, (40, 3)), rng.uniform(-1, 1, (40, 3))
    q[::5], qd[::3] = 0.0, 0.0
    for asked in (lambda rows: robot.linearize(q[rows], qd[rows]), lambda rows: robot.modes(q[rows])):
        whole = asked(slice(0, 40))
        for rows in (slice(0, 1), slice(31, 33), slice(12, 19)):
            for name, array in asked(rows).arrays.items():
                inside = tuple(map(slice, array.values.shape[1:]))
                np.testing.assert_array_equal(array.values, whole[name][(rows, *inside)], err_msg=name)


def test_equilibria_at_rows_say_where_they_are():
    robot = shipped_robot("khang")
    angles = {"qa": [0.0, 0.5, "pi/4"]}
    seen = []
    rows = robot.linearize(q=angles, equilibrium=True, progress=seen.append)
    points = [robot.linearize(q={"qa": angle}, equilibrium=True) for angle in angles["qa"]]
    same_as_points(rows, points)
    np.testing.assert_array_equal(rows["q"], [list(point.at["q"].values()) for point in points])
    np.testing.assert_array_equal(rows["tau"], [list(point.at["tau"].values()) for point in points])
    assert list(rows.arrays["tau"].rows) == ["qa"]
    assert seen == pytest.approx([1 / 3, 2 / 3, 1.0])


def test_modes_at_rows_are_those_of_the_points():
    robot = shipped_robot("canadarm")
    same_as_points(robot.modes(q=POSTURES), [robot.modes(q=q) for q in POSTURES])


def test_what_spins_in_some_row_stays_locked_in_all():
    """Frequencies over the rate begin with those of the arm that stands, held."""
    robot = kronbot.load("spin-up")
    rows = robot.modes(qd={"q1": [0.0, 2.0]})
    np.testing.assert_array_equal(rows["frequencies_free"][0], robot.modes()["frequencies_locked"])
    np.testing.assert_array_equal(rows["frequencies_free"][1], robot.modes(qd={"q1": 2})["frequencies_free"])


def test_rows_with_fewer_modes_end_with_zeros_that_count_for_none(folder, capsys):
    """The damped pendulum swings where it hangs (one pair of poles) and falls where it stands (two real ones)."""
    code, answer, _ = asked(capsys, "modes", "pendulum.yaml", "--q", "@rows.csv")
    assert code == 0
    poles, accuracy = answer["arrays"]["poles_free"], answer["arrays"]["accuracy_free"]
    found = np.array(poles["real"]) + 1j * np.array(poles["imag"])
    root = np.sqrt(9.81 - 0.05**2)
    assert found[0, 0] == pytest.approx(-0.05 + 1j * root)
    assert found[0, 1] == 0
    assert sorted(found[1].real) == pytest.approx([-0.05 - np.sqrt(9.81 + 0.05**2), -0.05 + np.sqrt(9.81 + 0.05**2)])
    counts = np.array(accuracy["values"])[:, :, accuracy["columns"].index("count")]
    assert counts.sum(axis=1).tolist() == [2, 2, 2]
    assert counts[0].tolist() == [2, 0]
    assert answer["summary"]["unstable_cases_free"] == 1
    assert answer["summary"]["cases"] == 3


def test_verdicts_of_linear_models_are_counted(folder, capsys):
    code, answer, _ = asked(capsys, "linearize", "pendulum.yaml", "--q", "@rows.csv")
    assert (code, answer["summary"]["unstable_cases"]) == (0, 1)
    assert len(answer["arrays"]["A"]["values"]) == 3
    assert np.array(answer["arrays"]["q"]["values"]).ravel() == pytest.approx([-np.pi / 2, np.pi / 2, 0])


def test_the_torques_of_a_sweep_by_rows(folder, capsys):
    """A row of the file is a row of the answer, times the loads: m g cos q and the moment of the force."""
    code, answer, _ = asked(capsys, "statics", "pendulum.yaml", "--q", "@rows.csv", "--forces", "0,0,0;0,-2,0")
    assert code == 0
    series = {name: np.array(column) for name, column in answer["series"].items()}
    q = np.repeat([-np.pi / 2, np.pi / 2, 0], 2)
    np.testing.assert_array_equal(series["angle.q1"], q)
    assert series["torque.q1"] == pytest.approx((9.81 - series["force.y"]) * np.cos(q), abs=1e-12)
    assert answer["summary"]["cases"] == 6


def test_rows_take_the_place_of_the_sweep_of_the_file():
    robot = kronbot.load("piedboeuf")
    rows = robot.statics(q={"theta": [0.1, 0.2]}, forces=[[0, -1, 0]])
    points = [robot.statics(q={"theta": angle}, forces=[[0, -1, 0]]) for angle in (0.1, 0.2)]
    for name in rows.series:
        np.testing.assert_array_equal(rows[name], np.concatenate([point[name] for point in points]))
    with pytest.raises(UsageError, match="leave out angles"):
        robot.statics(q={"theta": [0.1, 0.2]}, angles={"theta": [0.3]})


def test_a_row_that_fails_keeps_those_before(folder, capsys):
    """Pushed beyond its buckling load; the arm that is pulled, or exactly straight, has an equilibrium."""
    (folder / "arms.csv").write_text("q1,q2,q3\npi,0,0\npi,0,0\n0.1,0.2,0.3\npi,0,0\n")
    push = ["canadarm", "--q", "@arms.csv", "--equilibrium", "--force=-1e5,0,0"]
    code, answer, err = asked(capsys, "linearize", *push)
    assert (code, answer["summary"]["complete"], answer["summary"]["cases"]) == (1, False, 2)
    assert "case 3: q1 = " in err
    np.testing.assert_array_equal(answer["arrays"]["A"]["values"][0], answer["arrays"]["A"]["values"][1])
    (folder / "turned.csv").write_text("qa\npi\npi\n0.1\npi\n")
    code, answer, err = asked(capsys, "statics", "khang", "--q", "@turned.csv", "--forces=-1e4,0,0")
    assert (code, answer["summary"]["complete"], answer["summary"]["cases"]) == (1, False, 2)
    assert "case 3: qa = 0.1, force.x = -1e+04: no stable path" in err


def test_the_first_row_that_fails_leaves_nothing():
    robot = shipped_robot("canadarm")
    with pytest.raises(ComputationError, match="^case 1: q1 = .*equilibri") as caught:
        robot.linearize(q=[[0.1, 0.2, 0.3], [0, 0, 0]], equilibrium=True, force=(-1e5, 0, 0))
    assert caught.value.partial is None


@pytest.mark.parametrize(
    ("question", "kind", "step"), [("modes", Vibrations, "at"), ("linearize", Linearization, "_answer")]
)
def test_a_ctrl_c_keeps_the_rows_before(question, kind, step, monkeypatch):
    at, begun = getattr(kind, step), []

    def interrupted(self, *given):
        begun.append(given)
        if len(begun) == 3:
            signal.raise_signal(signal.SIGINT)
        return at(self, *given)

    monkeypatch.setattr(kind, step, interrupted)
    robot = shipped_robot("khang")
    with pytest.raises(Interrupted, match="interrupted after 2 of 4 cases") as caught:
        getattr(robot, question)(q=[[0.0], [0.1], [0.2], [0.3]])
    assert caught.value.partial.summary["cases"] == 2
    assert caught.value.partial.summary["complete"] is False


def test_the_model_is_traced_once(monkeypatch):
    from kronbot.mechanics.linear.linear_model import LinearModel

    traced, about = [], LinearModel.about_any_motion
    monkeypatch.setattr(LinearModel, "about_any_motion", staticmethod(lambda robot: traced.append(1) or about(robot)))
    kronbot.load("khang").modes(q=[[0.0], [0.1], [0.2]])
    assert len(traced) == 1


@pytest.mark.parametrize("question", ["modes", "linearize", "jacobian"])
def test_pictures_are_of_one_point(question, folder, capsys):
    code, answer, err = asked(capsys, question, "pendulum.yaml", "--q", "@rows.csv", "--plot", "x.png")
    assert (code, answer) == (2, None)
    assert "--plot draws one point" in err


def test_rows_do_not_converge(folder, capsys):
    code, _, err = asked(capsys, "modes", "pendulum.yaml", "--q", "@rows.csv", "--convergence", "2")
    assert code == 2
    assert "leave out --convergence, or the rows" in err


def test_too_many_rows(folder, capsys, monkeypatch):
    monkeypatch.setattr("kronbot.cli.input.points.CASES", 2)
    code, _, err = asked(capsys, "statics", "pendulum.yaml", "--q", "@rows.csv")
    assert code == 2
    assert "more than 2 rows" in err


STAYED = """kronbot: 1
name: stayed
gravity: [0, 0, 0]
links:
  - {name: base, joint: {type: fixed}, pose: {}}
  - name: arm
    joint: {type: revolute, name: q, friction: {coulomb: 1, smoothing: 1e-2}}
    pose: {}
    rigid: {mass: 1, com: [0.5, 0, 0], inertia: {Izz: 0.1}}
elements:
  - {name: stay, type: tendon, between: [base, arm], points: [[0, -1, 0], [1, 0, 0]], stiffness: 100, rest: 1.6}
"""


def test_warnings_say_in_which_rows():
    """What all rows have is said once; what is slack, or in a stop, in some of them is said with their number."""
    robot = loaded(STAYED)
    angles = {"q": [0.5, 0.2, 0.9, 0.1]}
    for ask in (robot.linearize, robot.modes):
        friction, slack = ask(q=angles).warnings
        assert friction.startswith("q is near rest")
        assert slack.startswith("in 2 of 4 cases, first in case 2: tendon stay is slack by")
    point = ask(q=[0.2]).warnings
    assert ask(q=[[0.2]]).warnings == point and ask(q=[[0.5], [0.2]]).warnings[1] == f"in case 2: {point[1]}"
