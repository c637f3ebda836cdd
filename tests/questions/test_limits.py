"""Joints beyond their limits: named once each, with the amount and the time, but not for rounding."""

import pickle

import numpy as np
import pytest
from robots_in_tests import model
from scipy.optimize import brentq

from kronbot.cli.main import run as command_line
from kronbot.errors import Interrupted
from kronbot.library.robot import Robot
from kronbot.questions.limits import passings
from kronbot.questions.result import joined

ARM = """
kronbot: 1
name: limited
gravity: [0, 0, 0]
parameters: {most: 1, free: }
links:
  - {name: a, joint: {type: revolute, name: q1, limits: [-60*deg, 60*deg]}, pose: {}, rigid: {mass: 1, com: [1, 0, 0]}}
  - {name: b, joint: {type: prismatic, name: q2, limits: [0.1, most]}, pose: {}, rigid: {mass: 1}}
  - {name: c, joint: {type: revolute, name: q3, limits: [-free, free]}, pose: {}, rigid: {mass: 1, com: [1, 0, 0]}}
MORE
"""
DRIVE = """simulate:
  duration: 2
  step: 0.01
  drive:
    q1: {motion: {type: polynomial, from: -60*deg, to: END, duration: 1, degree: 5}}
    q2: {motion: {type: cycloidal, from: 0.2, to: 0.05, duration: 1}}
"""


def arm(more=""):
    return Robot(model(ARM.replace("MORE", more)))


def test_a_run_tells_each_joint_once_with_time_and_amount():
    """q2 falls below 0.1 where 0.15 (s - sin(2 pi s)/(2 pi)) = 0.1, s = 0.585; q1 rests at its limit."""
    answer = arm(DRIVE.replace("END", "60*deg")).simulate()
    assert list(answer.warnings) == ["q2 is beyond its limit of 0.1 m by up to 0.05 m, first at t = 0.59 s"]
    assert answer["q2"][58] > 0.1 > answer["q2"][59]
    answer = arm(DRIVE.replace("END", "70*deg")).simulate()
    assert [warning.split(",")[0] for warning in answer.warnings] == [
        "q1 is beyond its limit of 1.0472 rad by up to 0.175 rad", "q2 is beyond its limit of 0.1 m by up to 0.05 m",
    ]  # fmt: skip


@pytest.mark.parametrize("solver", ["cvodes", "rodas"])
def test_what_the_integration_leaves_open_is_not_told(solver):
    """Torques of the rigid arm along a motion that ends at the limit: the arm arrives there to the tolerances."""
    more = "motion: {q1: {type: polynomial, from: 0, to: 60*deg, duration: 1, degree: 5}, q2: {type: sinusoid, "
    more += "amplitude: 0, frequency: 1, offset: 0.5}}\nsimulate: {duration: 1.01, step: 0.01}\n"
    answer = arm(more).simulate(solver=solver, rtol=1e-6, atol=1e-8)
    assert answer["q1"].max() - np.pi / 3 != 0
    assert list(answer.warnings) == []


def test_check_holds_motions_against_limits():
    """The motions of the file and those of drives, over the run or, without one, to their end."""
    told = arm(DRIVE.replace("END", "70*deg")).check().summary["motion"]
    # q2 falls below 0.1 where s - sin(2 pi s)/(2 pi) = 2/3, q1 passes 60 degrees where 130 (10 s^3 - ...) = 120.
    s = brentq(lambda s: s - np.sin(2 * np.pi * s) / (2 * np.pi) - 2 / 3, 0, 1)
    r = brentq(lambda s: s**3 * (10 - 15 * s + 6 * s**2) - 12 / 13, 0, 1)
    assert told == (
        f"q1 is beyond its limit of 1.0472 rad by up to 0.175 rad, first at t = {np.ceil(r * 2000) / 2000:.4g} s; "
        f"q2 is beyond its limit of 0.1 m by up to 0.05 m, first at t = {np.ceil(s * 2000) / 2000:.4g} s"
    )
    assert "motion" not in arm(DRIVE.replace("END", "60*deg").replace("to: 0.05", "to: 0.1")).check().summary
    swing = "motion: {q1: {type: sinusoid, amplitude: A, frequency: 3}}"
    assert "motion" not in arm(swing.replace("A", "60*deg")).check().summary
    assert arm(swing.replace("A", "61*deg")).check().summary["motion"].startswith("q1 is beyond its limit of")
    assert "motion" not in arm(swing.replace("A", "free")).check().summary


def test_commands_at_a_point_and_at_rows():
    """Values that were given; zeros by default are nobody's choice. A limit without a value is none."""
    robot = arm()
    told = ["q1 is beyond its limit of -1.0472 rad by 0.953 rad", "q2 is beyond its limit of 1 m by 0.5 m"]
    beyond, default = [-2, 1.5, 99], [0, 0.5, 0]
    for ask in (robot.jacobian, robot.hessian, robot.dynamics, robot.modes, robot.linearize, robot.statics):
        assert list(ask(beyond).warnings) == told, ask
        assert not ask(default).warnings
    for ask in (robot.jacobian, robot.modes, robot.linearize):
        assert not ask().warnings
    assert list(robot.taylor(q=beyond).warnings) == told
    rows = robot.jacobian([default, beyond, beyond])
    assert list(rows.warnings) == [
        f"{words.replace(' by ', ' by up to ')}, in 2 of 3 cases, first in case 2" for words in told
    ]
    for ask in (robot.hessian, robot.dynamics, robot.modes, robot.linearize, robot.statics):
        assert list(ask([default, beyond, beyond]).warnings) == list(rows.warnings), ask
        assert list(ask([beyond]).warnings) == told, ask
    (told,) = robot.statics(angles={"q1": [0, 1, 1.5, 2], "q2": [0.5]}).warnings
    assert told == "q1 is beyond its limit of 1.0472 rad by up to 0.953 rad, in 2 of 4 cases, first in case 3"
    assert not robot.jacobian([np.nextafter(np.pi / 3, 2), 1, 0]).warnings


LIFT = """
kronbot: 1
name: lift
gravity: [0, 0, -9.81]
links:
  - name: column
    joint: {type: prismatic, name: lift, limits: [0.3, 0.8], stops: {stiffness: 1e6}}
    pose: {}
    rigid: {mass: 30}
"""


def test_statics_tells_of_a_joint_that_is_held_in_its_stop():
    """Its torque holds against the stop; where it rests on the stop by itself nothing is said."""
    lift = Robot(model(LIFT))
    held = lift.statics()
    assert held["torque.lift"][0] == pytest.approx(30 * 9.81 - 1e6 * 0.3)
    assert list(held.warnings) == ["lift is held in its stop at 0.3 m by 0.3 m"]
    assert list(lift.statics([[0.1], [0.5], [0.2], [0.9]]).warnings) == [
        "lift is held in its stop at 0.3 m by up to 0.2 m, in 2 of 4 cases, first in case 1",
        "lift is held in its stop at 0.8 m by up to 0.1 m, in 1 of 4 cases, first in case 4",
    ]
    resting = lift.statics([0.2], tau={"lift": 0})
    assert resting["angle.lift"][0] == pytest.approx(0.3 - 30 * 9.81 / 1e6)
    assert not lift.statics([0.5]).warnings and not resting.warnings


def test_a_run_tells_of_a_joint_that_starts_deep_in_its_stop():
    """From where it is thrown back; resting on it is no such start."""
    lift = Robot(model(LIFT + "simulate: {duration: 0.05, step: 0.01, drive: {lift: {torque: 0}}}"))
    for start, told in (
        (0, ["at the start lift is beyond its limit of 0.3 m by 0.3 m"]),
        (0.3 - 30 * 9.81 / 1e6, []),
        (0.5, []),
    ):
        assert list(lift.simulate(q={"lift": start}).warnings) == told


@pytest.mark.slow
def test_on_the_command_line(tmp_path, capsys):
    """On stderr, exit 0; blocks of many rows tell it once; --quiet does not."""
    file, rows = tmp_path / "arm.yaml", tmp_path / "rows.csv"
    file.write_text(ARM.replace("MORE", ""))
    assert command_line(["modes", str(file), "--q", "2,0.5,0"]) == 0
    assert capsys.readouterr().err == "warning: q1 is beyond its limit of 1.0472 rad by 0.953 rad\n"
    assert command_line(["modes", str(file), "--q", "2,0.5,0", "--quiet"]) == 0
    assert capsys.readouterr().err == ""
    rows.write_text("q1,q2\n" + "0,0.5\n" * 5 + "1.5,0.5\n" * 69_999 + f"{np.pi / 3 + 1},0.5\n")
    assert command_line(["jacobian", str(file), "--q", f"@{rows}", "--format", "csv", "--array", "J_T"]) == 0
    told = "q1 is beyond its limit of 1.0472 rad by up to 1 rad, in 70000 of 70005 cases, first in case 6"
    assert capsys.readouterr().err == f"warning: {told}\n"


def test_a_joint_beyond_both_limits_is_told_of_each():
    """Cases are those beyond the limit that is named; blocks of rows, pickled or not, are told as one answer."""
    robot = arm()
    rows = np.array([[q1, 0.5, 0] for q1 in (0, 2, -2, 0, 3)])
    told = list(robot.jacobian(rows).warnings)
    assert told == [
        "q1 is beyond its limit of -1.0472 rad by up to 0.953 rad, in 1 of 5 cases, first in case 3",
        "q1 is beyond its limit of 1.0472 rad by up to 1.95 rad, in 2 of 5 cases, first in case 2",
    ]
    blocks = [pickle.loads(pickle.dumps(robot.jacobian(part))) for part in (rows[:3], rows[3:4], rows[4:])]
    assert sorted(joined(blocks).warnings) == told


def test_rows_that_are_not_answered_are_not_told(monkeypatch):
    robot = arm()

    def stop(share):
        if share > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as stopped:
        robot.modes([[0, 0.5, 0], [0, 0.5, 0], [2, 0.5, 0]], progress=stop)
    assert stopped.value.partial.summary["cases"] == 2
    assert not stopped.value.partial.warnings


def test_a_linear_model_along_a_motion_beyond_a_limit():
    swing = "motion: {q1: {type: sinusoid, amplitude: 61*deg, frequency: 1}}"
    (low, high) = sorted(arm(swing).linearize_along().warnings)
    assert low.startswith("q1 is beyond its limit of -1.0472 rad by up to 0.0175 rad, first at t = 4.5")
    assert high.startswith("q1 is beyond its limit of 1.0472 rad by up to 0.0175 rad, first at t = 1.39")


def test_the_overshoot_of_a_spline_is_not_told():
    """Relative to the range: 1e-7 of it is nobody's motion, 1e-5 is."""
    q = np.array([[0.0, 1 + 0.9e-7, 0.0]])
    assert passings(model(ARM.replace("MORE", "")), q) == []
    q[0, 1] = 1 + 0.9e-5
    assert [each.joint for each in passings(model(ARM.replace("MORE", "")), q)] == ["q2"]
