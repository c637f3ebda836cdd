"""What is said where beams find no equilibrium: for the command that asked, with the posture and the likely cause."""

import math

import numpy as np
import pytest
from robots_in_tests import model, run
from thinned import rare

import kronbot
from kronbot.cli.main import run as command_line
from kronbot.description import Source, load
from kronbot.errors import ComputationError

SOFT = """
kronbot: 1
name: soft
convention: standard
gravity: [0, -9.81, 0]
links:
  - name: arm
    joint: {type: revolute, name: q1}
    dh: {a: 1, d: 0, alpha: 0, theta: 0}
    flexible: {mass: 1, EI: {z: 1.2e-7}, modes: {v: 2}, shape: craig-bampton}
    payload: {mass: PAYLOAD}
simulate: {duration: 1}
"""


def text(stiffness="1.2e-7", payload=0):
    return SOFT.replace("1.2e-7", stiffness).replace("PAYLOAD", str(payload))


def test_a_start_without_equilibrium_says_so_in_terms_of_simulate():
    with pytest.raises(ComputationError) as failure:
        run(model(text()), start="equilibrium", q={"q1": 0.25})
    message = str(failure.value)
    assert message.startswith("no equilibrium to start in: q1 = 0.25: no stable path of equilibria beyond")
    assert "of the weight; there the tip of arm is" in message and "% of its length" in message
    assert "by linear theory" in message and "SI units?" in message
    assert "start straight" in message and "buckling" not in message and "load" not in message
    with pytest.raises(ComputationError, match=r"by linear theory beams would turn by \d\.?\d*e\+\d{3} rad"):
        run(model(text("1.2e-300")), start="equilibrium", q={"q1": 0.25})


@pytest.mark.slow
def test_linearize_at_no_equilibrium_names_joints_and_what_it_was_given(tmp_path, capsys):
    """Rates and forces are to be lowered only where there are some."""
    file = tmp_path / "soft.yaml"
    file.write_text(text())
    said = {}
    for given in ("q1=0", "q1=0.5"):
        assert command_line(["linearize", str(file), "--equilibrium", "--q", "q1=0", "--qd", given]) == 1
        said[given] = capsys.readouterr().err
        assert "Error: q1 = 0: no stable path of equilibria" in said[given] and "the tip of arm" in said[given]
        assert "--buckling" not in said[given] and "--force" not in said[given]
    assert "lower rates (--qd)" in said["q1=0.5"] and "--qd" not in said["q1=0"]


def test_a_beam_that_is_stiff_enough_is_not_said_to_be_in_other_units(tmp_path):
    """One that a load alone breaks down: the message of statics keeps its cures."""
    file = tmp_path / "stiff.yaml"
    file.write_text(text("2"))
    with pytest.raises(ComputationError) as failure:
        kronbot.load(str(file)).statics(q={"q1": 1.57}, forces=[[0, -10, 0]])
    assert "buckling" in str(failure.value) and "SI units" not in str(failure.value)


@pytest.mark.parametrize(
    ("stiffness", "payload", "told"),
    [("1.2", 0, "1."), ("1.3", 0, None), ("1.3", 0.1, "1."), ("1e-305", 1e10, "more than 1e300 times its length")],
)
def test_a_beam_that_sags_by_its_length_is_warned_of(stiffness, payload, told):
    """(m/8 + m_p/3) g l^2/(EI) > 1, here for EI < 1.226 without a payload."""
    found = [str(each) for each in load(Source("soft.yaml", text(stiffness, payload), None)).warnings]
    assert len(found) == (told is not None)
    assert all(f"its own weight, across it, would bend this beam by {told}" in each for each in found)


def test_a_joint_that_nothing_holds_is_named(tmp_path, capsys):
    """Where a torque is given and no angle is its own: without gravity."""
    file = tmp_path / "free.yaml"
    file.write_text(text("10").replace("-9.81", "0"))
    for torque in (0, 1):
        assert command_line(["statics", str(file), "--tau", f"q1={torque}"]) == 1
        assert "Error: q1 = 0: nothing holds q1: no torque has an angle" in capsys.readouterr().err
    file.write_text(text("10"))
    assert command_line(["statics", str(file), "--tau", "q1=0", "--q", "q1=-1.5"]) == 0


@pytest.mark.parametrize("shaft", ["", ", elastic: {stiffness: 400}"])
def test_stops_that_torques_push_to_are_the_cure(shaft):
    """And hold there, as deep as the torque over their stiffness; without a torque there is none."""
    joint = f"{{type: revolute, name: q1{shaft}, limits: [-2, 150*deg], stops: {{stiffness: 1000, damping: 1}}}}"
    robot = kronbot.loads(f"""
kronbot: 1
name: one
gravity: [0, 0, 0]
links:
  - {{name: a, joint: {joint}, pose: {{}}, rigid: {{mass: 1}}}}
""")
    for torque, end in ((5, 2.6179938779914944), (-5, -2)):
        for asked in ({}, {"buckling": True, "forces": [[0, 0, 1]]}):
            with pytest.raises(ComputationError, match=f"what stops the torque: q q1={end}$"):
                robot.statics(q={"q1": 0.5}, tau={"q1": torque}, **asked)
        held = robot.statics(q={"q1": end}, tau={"q1": torque})
        assert held["q1" if shaft else "angle.q1"][0] == pytest.approx(end + torque / 1000, abs=1e-12)
    with pytest.raises(ComputationError, match="a spring, elements, gravity$"):
        robot.statics(tau={"q1": 0})


@pytest.mark.parametrize("shaft", ["", ", elastic: {stiffness: 400}", ", elastic: {compliance: 1/400}"])
def test_a_joint_that_turns_with_its_motor_and_another_is_named_alone(shaft):
    """No row of the stiffness is empty where a shaft turns as a whole; what a spring holds beside it is held."""
    robot = kronbot.loads(f"""
kronbot: 1
name: two
gravity: [0, 0, 0]
links:
  - {{name: a, joint: {{type: revolute, name: q1{shaft}}}, pose: {{}}, rigid: {{mass: 1}}}}
  - {{name: b, joint: {{type: revolute, name: q2{shaft}, spring: {{stiffness: 3}}}}, pose: {{}}, rigid: {{mass: 1}}}}
""")
    with pytest.raises(ComputationError, match="nothing holds q1: .* give angles in place of torques, or what holds"):
        robot.statics(tau={"q1": 1, "q2": 1})
    assert robot.statics(tau={"q2": 1.5})["q2" if shaft else "angle.q2"][0] == pytest.approx(0.5)


LAMP = """
kronbot: 1
name: lamp
gravity: [0, -9.81, 0]
parameters: {k: 58.86}
convention: standard
links:
  - {name: lower, joint: {type: revolute, name: s}, dh: {a: 0.45, d: 0, alpha: 0, theta: 0}}
  - {name: fore, joint: {type: revolute, name: e}, dh: {a: 0.45, d: 0, alpha: 0, theta: 0}, FORE}
  - name: shade
    joint: {type: revolute, name: tilt, follows: -(s + e)}
    dh: {a: 0.05, d: 0, alpha: 0, theta: 0}
    payload: {mass: 0.6}
elements:
  - {name: b1, type: spring, between: [world, lower], points: [[0, 0.1, 0], [0, 0, 0]], stiffness: k, rest: 0}
  - {name: b2, type: spring, between: [lower, "shade:root"], points: [[0, 0.1, 0], [0, 0, 0]], stiffness: k, rest: 0}
"""
RIGID = "rigid: {mass: 0.1, com: [-0.225, 0, 0]}"
BENT = "flexible: {mass: 0.1, EI: {z: 20}, modes: {v: 2}, shape: craig-bampton}"
STOPPED = "name: s, limits: [10*deg, 150*deg], stops: {stiffness: 500}}"


def lamp(fore, gravity=-9.81, s="name: s}"):
    return kronbot.loads(LAMP.replace("FORE", fore).replace("-9.81", str(gravity)).replace("name: s}", s))


@pytest.mark.parametrize("fore", [RIGID, rare(BENT)])
def test_cures_of_torques_without_balance_are_those_that_help(fore):
    """From s = 1.5, e = -1 the way to no torques ends at a stop; from 140 deg, 60 deg it does not. Torques are not
    multiplied, and the weight is borne as far as it goes: buckling would say nothing. Nothing is bent so far that its
    order matters."""
    robot = lamp(fore, s=STOPPED)
    way = r" of the way from the torques that hold these angles to those that are given; there .*; try "
    for tau, cure in ((0.0, "other angles$"), (0.5, "other torques, other angles$")):
        asked = {"tau": {"s": tau, "e": tau}, "q": {"s": 1.5, "e": -1}}
        for more in ({}, {"buckling": True}):
            with pytest.raises(ComputationError, match=way + cure):
                robot.statics(**asked, **more)
    assert robot.statics(tau={"s": 0, "e": 0}, q={"s": 2.4, "e": 1.0}).summary["complete"]


def test_what_ends_before_joints_are_let_go_is_the_load():
    """Beams bend first, while joints are held: no torque has grown by then."""
    robot = kronbot.loads(text("2"))
    with pytest.raises(ComputationError, match="beyond 0.[0-9]+ of the load; there the tip of arm") as met:
        robot.statics(q={"q1": 1.57}, tau={"q1": 0}, forces=[[0, -10, 0]])
    assert "of the way" not in str(met.value)


@pytest.mark.slow
def test_order_exact_is_a_cure_where_beams_are_bent_too_far_for_another():
    with pytest.raises(ComputationError, match="of the load; .* or order exact"):
        kronbot.loads(text("0.5")).statics(q={"q1": 0}, forces=[[0, -100, 0]])


def test_a_start_without_stiffness_is_not_a_joint_that_nothing_holds():
    """V = -k a L (sin s + sin e) has none by e at e = 0, which is no matter of what holds: at s = e = pi/2 both do."""
    robot = lamp(RIGID)
    asked = {"tau": {"s": 0, "e": 0}, "buckling": True}
    told = "no stable path leads from these angles to where the torques of s, e are in balance before any load is on"
    with pytest.raises(ComputationError, match=f"{told} the robot; try other angles$"):
        robot.statics(q={"s": 1.5, "e": 0}, **asked)
    assert robot.statics(q={"s": 1.5, "e": 0.1}, **asked).summary["complete"]
    light = lamp(RIGID, gravity=0)
    with pytest.raises(ComputationError, match="beyond 0 of the way from .*; try other angles$"):
        light.statics(q={"s": 1.5, "e": 0}, tau={"s": 0, "e": 0})
    held = light.statics(q={"s": 1.5, "e": 0.1}, tau={"s": 0, "e": 0})
    assert [held["angle.s"][0], held["angle.e"][0]] == pytest.approx([math.pi / 2] * 2, abs=1e-9)


BALL = """
kronbot: 1
name: ball
gravity: [0, 0, -9.81]
links:
  - {name: a, joint: {type: revolute, name: yaw}, pose: {rpy: [0, TILT, 0]}}
  - {name: b, joint: {type: revolute, name: pitch}, pose: {rpy: [pi/2, 0, 0]}}
  - name: head
    joint: {type: revolute, name: roll}
    pose: {rpy: [0, pi/2, 0]}
    rigid: {mass: 2, com: [0.12, 0, 0], inertia: {Ixx: 0.004, Iyy: 0.01, Izz: 0.01}}
"""


@pytest.mark.parametrize("yaw", [0, 0.3])
def test_a_head_that_turns_about_the_vertical_has_no_compliance(yaw):
    """Its ball joint hangs: one direction, of two or three joints together, has no stiffness, whatever rounding is."""
    robot = kronbot.loads(BALL.replace("TILT", "0.0157"))
    free = {"yaw": 0, "pitch": 0, "roll": 0}
    answer = robot.statics(q={"roll": -np.pi / 2, "yaw": yaw}, tau=free).settled()
    assert not answer.arrays and "yielding_directions" not in answer.summary
    assert answer.summary["stability"] == "undecided: a direction has no stiffness"
    assert answer["endpoint.x"] == pytest.approx([0], abs=1e-9)
    (told,) = (each for each in answer.warnings if each.startswith("no compliance"))
    assert "nothing holds a direction in which yaw, " in told and "give the angle of one of them" in told
    held = robot.statics(q={"roll": -np.pi / 2, "yaw": yaw}, tau={"pitch": 0, "roll": 0})
    assert held.summary["stable"] and "compliance" in held.arrays


def test_joints_that_gravity_holds_elsewhere_are_not_those_that_nothing_holds():
    """At its horizontal arm a ball joint has no stiffness in any direction; about the vertical it never has one."""
    robot = kronbot.loads(BALL.replace("TILT", "0"))
    with pytest.raises(ComputationError, match="nothing holds yaw: "):
        robot.statics(tau={"yaw": 0, "pitch": 0, "roll": 0})
    with pytest.raises(ComputationError, match="no stable path .* try other angles"):
        robot.statics(tau={"pitch": 0, "roll": 0})
    assert robot.statics(tau={"pitch": 0, "roll": 0}, q={"roll": -1.2}).summary["stable"]
