"""What rounding leaves of zeros: no column of a table and no panel of a picture; files keep the numbers."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

import kronbot
from kronbot import loads
from kronbot.cli.main import run
from kronbot.mechanics.linear.deflation import SecondOrder
from kronbot.questions.fitting.report import _quality
from kronbot.questions.noise import family, summary_without_rounding, without_rounding

# Moves in its plane alone, with modes out of it.
ARM = """
kronbot: 1
name: planar
convention: standard
gravity: [0, -9.81, 0]
links:
  - name: arm
    joint: {type: revolute, name: q1}
    dh: {a: 0.9, d: 0, alpha: 0, theta: 0}
    flexible: {mass: 0.3, EI: {y: 80, z: 112}, GJ: 5, polar_inertia: 1e-4, modes: {v: 1, w: 1, torsion: 1}}
    payload: {mass: 0.25, com: [0, 0.05, 0]}
simulate: {duration: 0.2, step: 0.05, drive: {q1: {pd: {kp: 100, kd: 10, target: 0.2}}}}
"""


@pytest.fixture
def arm(tmp_path):
    file = tmp_path / "arm.yaml"
    file.write_text(ARM)
    return str(file)


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ("q1", "place"), ("arm.t1", "place"), ("tip.arm.rx", "place"), ("q1_dot", "rate"), ("torque.q1", "force"),
        ("reaction.mx", "force"), ("curvature_relative.g", "strain"), ("twist.g", "strain"), ("angle.q1", ""),
        ("energy.elastic", "energy"), ("energy.balance", ""), ("t", ""), ("force.x", ""),
        ("tension.jack", "force"), ("integral.q1", "force"), ("length.jack", "place"), ("estimate.q1_dot", "rate"),
        ("momentum.x", "momentum"), ("angular_momentum.x", "momentum"),
    ],
)  # fmt: skip
def test_families(column, expected):
    assert family(column) == expected


def test_only_what_is_small_beside_its_family_is_zero():
    series = {"q1": [1.0, 2.0], "arm.t1": [1e-17, -1e-10], "torque.q1": [1e-17, 1e-18], "t": [0.0, 1e-20]}
    found = without_rounding({name: np.array(values) for name, values in series.items()})
    assert {name: values.tolist() for name, values in found.items()} == series | {"arm.t1": [0.0, -1e-10]}


def test_squares_of_rounding_are_zero():
    """A family in which there is nothing else, beside numbers that are some."""
    series = {"torque.q1": [0.0, 30.0], "energy.elastic": [7.9e-58, 1e-50], "curvature.g": [0.0, 1e-20]}
    found = without_rounding({name: np.array(values) for name, values in series.items()})
    assert {name: values.tolist() for name, values in found.items()} == series | {"energy.elastic": [0.0, 0.0]}


def test_summaries_of_rounding_are_zero():
    """Beside the columns that they sum up; what is no number of columns stays, errors above all."""
    series = {"torque.a": np.array([8.2, 0.0]), "torque.b": np.array([2e-20, 1e-3]), "q1": np.array([0.5, 1.0])}
    given = {"complete": True, "peak_torque.a": 8.2, "peak_torque.b": 1e-3, "energy_drift": 1e-17, "steps": 3}
    dust = {"rms_torque.c": 1e-20, "peak_deviation.q1": 2e-17, "residual_amplitude.1": 1e-15, "overshoot.q1": 1e-15}
    assert summary_without_rounding(given | dust, series) == given | {
        "rms_torque.c": 0.0, "peak_deviation.q1": 0.0, "residual_amplitude.1": 0.0, "overshoot.q1": 1e-15
    }  # fmt: skip


TABLE = """
kronbot: 1
name: table
convention: standard
gravity: [0, 0, -9.81]
links:
  - name: table
    joint: {type: revolute, name: turn-table}
    dh: {a: 0.5, d: 0.2, alpha: pi/2, theta: pi/2}
    rigid: {mass: 3, com: [-0.25, 0, 0], inertia: {Izz: 0.3, Iyy: 0.3}}
  - name: arm
    joint: {type: revolute, name: arm}
    dh: {a: 0.6, d: 0, alpha: 0, theta: 0}
    rigid: {mass: 1, com: [-0.3, 0, 0]}
motion:
  arm: {type: cycloidal, from: 0, to: 0.5, duration: 0.1}
simulate: {duration: 0.2, step: 0.05, drive: {turn-table: {pd: {kp: 200, kd: 10}}, arm: {pd: {kp: 400, kd: 30}}}}
"""


def test_tables_of_runs_and_their_summaries(tmp_path, capsys):
    """A table that stands still turns by rounding alone; JSON has the digits."""
    file = tmp_path / "table.yaml"
    file.write_text(TABLE)
    assert run(["simulate", str(file), "--quiet", "--format", "json"]) == 0
    raw = json.loads(capsys.readouterr().out)["summary"]
    assert 0 < raw["peak_torque.turn-table"] < 1e-14 * raw["peak_torque.arm"]  # else this test tells nothing
    assert run(["simulate", str(file), "--quiet"]) == 0
    lines = dict(
        line.split(None, 1) for line in capsys.readouterr().out.splitlines() if line.startswith(("peak", "rms"))
    )
    assert lines["peak_torque.turn-table"] == lines["rms_torque.turn-table"] == "0 N m"


def test_entries_that_are_their_own_errors_are_zero():
    """Where they are nothing beside the largest, too: what is small is no rounding because of that."""
    A, errors = np.array([[1e6, -3e-18], [2e-18, 1e-3]]), np.array([[1e-9, 4e-18], [1e-18, 2e-3]])
    system = SecondOrder(A, A, A, errors, errors, errors, np.zeros((2, 0)))
    assert [each.tolist() for each in system.without_dust] == [[[1e6, 0.0], [2e-18, 1e-3]]] * 3


SCARA = """
kronbot: 1
name: scara
convention: standard
gravity: [0, 0, -9.81]
links:
  - {name: a, joint: {type: revolute, name: q1}, dh: {a: 0.4, d: 0.3, alpha: 0, theta: 0}, rigid: {mass: 1}}
  - name: b
    joint: {type: revolute, name: q2}
    dh: {a: 0.3, d: 0, alpha: pi, theta: 0}
    flexible: {mass: 1, EI: {y: 500, z: 500}, GJ: 100, polar_inertia: 1e-3, modes: {v: 1, w: 1, torsion: 1}}
  - {name: c, joint: {type: prismatic, name: z}, dh: {a: 0, d: 0.1, alpha: 0, theta: 0}, payload: {mass: 1.5}}
"""


def test_stiffness_of_joints_that_turn_about_the_vertical_is_zero():
    """It is a sum that cancels: weights times cos(pi/2)."""
    model = kronbot.loads(SCARA).linearize(q={"q1": "pi/2"}, equilibrium=True)
    K = model["K_L"]
    assert np.abs(K).max() > 100 and not K[:2, :2].any()
    assert model.summary["free_coordinates"] == 2
    assert not K[np.abs(K) < 1e-14].any()


@pytest.mark.slow
def test_tables_show_no_rounding_and_say_what_they_leave_out(arm, capsys):
    assert run(["simulate", arm, "--quiet", "--format", "json"]) == 0
    raw = json.loads(capsys.readouterr().out)["series"]
    noisy = [name for name in ("arm.w1", "arm.t1") if any(raw[name])]
    assert noisy  # else this test tells nothing
    assert max(abs(value) for name in noisy for value in raw[name]) < 1e-14
    assert run(["simulate", arm, "--quiet"]) == 0
    head = capsys.readouterr().out.splitlines()[3]
    assert "arm.v1" in head
    assert "arm.w1" not in head
    assert "arm.t1" not in head
    assert run(["statics", arm, "--q", "0.3"]) == 0
    shown = capsys.readouterr().out
    assert run(["statics", arm, "--q", "0.3", "--format", "json"]) == 0
    raw = json.loads(capsys.readouterr().out)["series"]
    rows = [line.split()[0] for line in shown.splitlines() if line and line.split()[0] in raw]
    assert f"{len(raw) - len(rows)} more columns are 0 (all with --format csv)" in shown
    assert "reaction.mz" in rows
    assert "reaction.mx" not in rows


TROLLEY = """
kronbot: 1
name: trolley
gravity: [0, 0, -9.81]
links:
  - {name: car, joint: {type: prismatic, name: x}, pose: {rpy: [0, pi/2, 0]}, rigid: {mass: 2}}
  - name: arm
    joint: {type: revolute, name: q1}
    pose: {rpy: [pi/2, 0, 0]}
    flexible: {length: 0.6, mass: 0.4, EI: {z: 90}, modes: {v: 2}}
    payload: {mass: 1}
  - {name: hand, joint: {type: revolute, name: q2, follows: -q1}, pose: {}, payload: {mass: 0.5, com: [0.1, 0, 0]}}
"""


def test_differences_of_orders_that_are_rounding_are_none():
    """Weight pulls at no trolley on a level bridge: its forces are 0 at every order, and so are their differences."""
    robot = loads(TROLLEY)
    answer = robot.statics(q=[[0, 0.3], [0, 0.9], [0, 1.3]], order="all")
    of_car = {name: each for name, each in answer.summary.items() if "torque.x[" in name}
    assert not answer["torque.x"].any()
    assert len(of_car) == 5 and not any(of_car.values())
    for pair in ("2-1", "exact-2"):
        column = answer.arrays["difference"].columns.index(pair)
        wanted = np.abs(answer["difference"][:, answer.arrays["difference"].rows.index("torque.q1"), column]).max()
        assert answer.summary[f"largest_difference.torque.q1[{pair}]"] == wanted > 0


def test_what_is_in_balance_to_rounding_has_no_h_L():
    """About an equilibrium nothing is left over; what is, is told: beams that are straight under gravity."""
    robot = loads(TROLLEY)
    for angle in (0.3, 0.9, 1.3):
        sagged, straight = (robot.linearize(q={"q1": angle}, equilibrium=each) for each in (True, False))
        assert not sagged["h_L"].any() and sagged.summary["largest_h_L"] == 0
        assert "about an equilibrium" in sagged.summary["verdict"]
        assert straight.summary["largest_h_L"] == np.abs(straight["h_L"]).max() > 1


def test_what_solved_a_robot_with_followers_is_told():
    """The recursion does not: the summary, and a header in C, name the algorithm that does."""
    robot = loads(TROLLEY)
    assert "(composite algorithm)" in robot.export("forward_dynamics").c()[1]
    assert robot.simulate(duration=0.02, step=0.01, solver="rodas").summary["algorithm"] == "composite"
    alone = loads("\n".join(TROLLEY.splitlines()[:-1]))
    assert alone.simulate(duration=0.02, step=0.01, solver="rodas").summary["algorithm"] == "recursive"


@pytest.mark.slow
def test_torques_that_are_given_are_told_as_they_are():
    """An equilibrium has them but for rounding of other forces, which is neither a torque nor a difference."""
    robot = loads(TROLLEY.replace("type: prismatic, name: x", "type: prismatic, name: x, spring: {stiffness: 300}"))
    for given in (0.0, 0.1):
        answer = robot.statics(q={"q1": 0.3}, tau={"x": given}, order="all")
        assert set(answer["torque.x"]) == {given}
        assert not any(each for name, each in answer.summary.items() if "difference.torque.x[" in name)


def test_columns_that_are_the_same_throughout_explain_nothing():
    """The mean of 0.1, 0.1, 0.1 is another number, of which R2 would be -1e28."""
    measured = np.column_stack([np.full(3, 0.1), np.full(3, 0.1), np.arange(3.0)])
    assert np.ptp(measured[:, 0]) == 0 and (measured[:, 0] != measured[:, 0].mean()).any()
    errors = np.column_stack([np.full(3, 1e-3), np.full(3, 1e-18), [0.1, 0, 0]])
    told = SimpleNamespace(columns=[SimpleNamespace(name=name, unit="m") for name in "abc"], measured=measured)
    found = _quality(SimpleNamespace(noise=SimpleNamespace(sigma=np.ones(3))), told, errors)
    assert found.values[:, found.columns.index("R2")] == pytest.approx([0, 1, 0.995])


def test_angles_that_are_found_are_places():
    """Given ones are as they are, however small."""
    series = {"angle.a": np.array([1e-31]), "angle.b": np.array([0.3]), "tip.link.y": np.array([1e-31])}
    assert without_rounding(series)["angle.a"] == [1e-31]
    found = without_rounding(series, places={"angle.a", "angle.b"})
    assert [values.item() for values in found.values()] == [0, 0.3, 0]
