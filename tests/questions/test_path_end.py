"""What is said where beams find no equilibrium: for the command that asked, with the posture and the likely cause."""

import pytest
from robots_in_tests import model, run

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
