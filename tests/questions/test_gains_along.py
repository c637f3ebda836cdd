"""Gains over time and from posture to posture: what the files do in simulations, against integrators of their own."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import kronbot
from kronbot.cli.main import run as command_line
from kronbot.errors import DescriptionError, UsageError
from kronbot.questions.design import outline

ARM = """
kronbot: 1
name: arm
convention: standard
gravity: [0, -9.81, 0]
links:
  - name: upper
    joint: {type: revolute, name: q1, damping: 0.1}
    dh: {a: 0.8, d: 0, alpha: 0, theta: 0}
    flexible: {mass: 0.4, EI: {z: 20}, modes: {v: 1}, shape: craig-bampton, damping: {ratio: 0.05}}
  - name: lower
    joint: {type: revolute, name: q2}
    dh: {a: 0.5, d: 0, alpha: 0, theta: 0}
    rigid: {mass: 0.3, com: [-0.2, 0, 0], inertia: {Izz: 0.01}}
"""
FINITE = "motion: {q1: {type: cycloidal, from: 0, to: 1, duration: 1.2}}\n"
REPEATING = "motion: {q1: {type: sinusoid, amplitude: 0.4, frequency: 5, offset: 0.2}}\n"
WORDS = ["--lqr", "--weights", "q1=100,q2=50", "--effort", "q1=0.5,q2=0.5"]
GIVEN = {"lqr": True, "weights": {"q1": 100, "q2": 50}, "effort": {"q1": 0.5, "q2": 0.5}}
PENDULUM = """
kronbot: 1
name: pendulum
gravity: [0, -9.81, 0]
links:
  - {name: rod, joint: {type: revolute, name: q1}, pose: {}, rigid: {mass: 2, com: [0.5, 0, 0]}}
motion: {q1: {type: cycloidal, from: -0.2, to: 1.3, duration: 1.5}}
control: {state_feedback: {K: gains.csv}}
"""
HEADER = 'case,"gains[at,torque]","gains[at,q1]","gains[at,q1_dot]","gains[torque.q1,torque]"'
HEADER += ',"gains[torque.q1,q1]","gains[torque.q1,q1_dot]"\n'
POSTURES = HEADER + "1,0,0,0,9.81,30,4\n2,0,0.6,0,8.1,20,5\n3,0,1.1,0,4.4,50,2\n"


def written(folder, motion, words, feedback="K: gains.csv"):
    """The arm whose file reads what the command has written."""
    (folder / "bare.yaml").write_text(ARM + motion)
    asked = ["design", str(folder / "bare.yaml"), "--motion", *words, "-o", str(folder / "gains.csv")]
    assert command_line(asked) == 0
    (folder / "arm.yaml").write_text(f"{ARM}{motion}control: {{state_feedback: {{{feedback}}}}}\n")
    return kronbot.load(folder / "arm.yaml")


def test_gains_of_a_motion_cost_what_they_promise(tmp_path):
    """In a simulation of the arm itself, from a small deviation; without one it stays on its way."""
    robot = written(tmp_path, FINITE, WORDS)
    bare = kronbot.load(tmp_path / "bare.yaml")
    design = bare.design(motion=True, **GIVEN, deviation={"q1": 2e-4, "q2": -1e-4, "upper.v1_dot": 1e-3})
    assert design.summary["cost_simulated"] == pytest.approx(design.summary["cost_predicted"], rel=2e-3)
    assert design.summary["duration"] == 1.2
    assert {*design.summary, *design.arrays} <= set(outline(robot.model, {"motion": (True,)}).all)
    end = bare.design(q={"q1": 1}, **GIVEN)
    assert design["P"][-1] == pytest.approx(end["P"], rel=1e-9)
    run = robot.simulate(duration=1.2, step=0.3, start="equilibrium", rtol=1e-9, atol=1e-11)
    rows = np.array(design.arrays["gains"].axis[1])
    assert rows[-1] == pytest.approx(1.1 * 1.2, rel=0.01) and "still swings" in design.warnings[0]
    assert design["gains"][-1] == pytest.approx(end["gains"], abs=1e-12)
    for place, name in enumerate(design.arrays["gains"].columns[1:], 1):
        wanted = np.interp(run["t"], rows, design["gains"][:, 0, place])
        assert run[name][:-1] == pytest.approx(wanted[:-1], abs=2e-5)
    later = robot.simulate(duration=5, step=2.5, start="equilibrium", q={"q1": 0.05}, solver="rodas")
    assert later["q1"][-1] == pytest.approx(1, abs=2e-3)


def test_gains_of_a_period_hold_an_arm_on_its_orbit(tmp_path):
    """It comes back with the largest multiplier of the loop; without gains beams alone would swing."""
    robot = written(tmp_path, REPEATING, WORDS, "K: gains.csv, periodic: true")
    design = kronbot.load(tmp_path / "bare.yaml").design(motion=True, **GIVEN)
    period, slowest = design.summary["period"], design.summary["largest_multiplier"]
    assert period == pytest.approx(2 * np.pi / 5, rel=1e-9) and slowest < 0.9
    begin = dict(zip(design.arrays["gains"].columns[1:], design["gains"][0, 0, 1:].tolist(), strict=True))
    assert design["gains"][-1] == pytest.approx(design["gains"][0], rel=1e-6, abs=1e-6)
    names, off = ("q1", "upper.v1", "q2"), []
    for more in (0.0, 1e-3):
        q = {name: begin[name] for name in names} | {"q1": begin["q1"] + more}
        qd = {name: begin[f"{name}_dot"] for name in names}
        run = robot.simulate(duration=6 * period, step=period, q=q, qd=qd, rtol=1e-9, atol=1e-12)
        off.append(np.column_stack([run[name] - begin[name] for name in names]))
    assert np.abs(off[0]).max() < 2e-5
    left = np.abs(off[1] - off[0]).max(axis=1)
    assert 0 < left[1] < 10 * slowest * left[0] and left[2] < 10 * slowest**2 * left[0]


def test_rows_of_postures_are_followed_by_what_the_motion_wants(tmp_path):
    """A pendulum by its own equation with straight lines between the rows; and poles there and between them."""
    (tmp_path / "pendulum.yaml").write_text(PENDULUM)
    (tmp_path / "gains.csv").write_text(POSTURES)
    robot = kronbot.load(tmp_path / "pendulum.yaml")
    at, held, stiff, damped = [0, 0.6, 1.1], [9.81, 8.1, 4.4], [30, 20, 50], [4, 5, 2]

    def rate(t, x):
        s = min(t / 1.5, 1.0)
        wanted = -0.2 + 1.5 * (s - np.sin(2 * np.pi * s) / (2 * np.pi))
        speed = (1 - np.cos(2 * np.pi * s)) * (t < 1.5)
        gains = (np.interp(wanted, at, each) for each in (held, stiff, damped))
        tau, k, d = gains
        return [x[1], (tau - k * (x[0] - wanted) - d * (x[1] - speed) - 9.81 * np.cos(x[0])) / 0.5]

    run = robot.simulate(duration=2.5, step=0.25, rtol=1e-10, atol=1e-12)
    found = solve_ivp(rate, (0, 2.5), [-0.2, 0], "LSODA", run["t"], rtol=1e-10, atol=1e-12, max_step=0.01).y
    assert np.column_stack([run["q1"], run["q1_dot"]]) == pytest.approx(found.T, abs=1e-6)
    for angle in (0.6, 0.9, 1.3):
        k, d = np.interp(angle, at, stiff), np.interp(angle, at, damped)
        poles = robot.linearize(q={"q1": angle}, equilibrium=True, closed_loop=True)["poles"]
        wanted = np.roots([0.5, d, k - 9.81 * np.sin(angle)])
        assert np.sort_complex(poles) == pytest.approx(np.sort_complex(wanted[wanted.imag >= 0]), rel=1e-9)


def test_rows_over_time_that_stay_are_gains_that_do(tmp_path):
    header = POSTURES.splitlines()[0].replace("case", "t")
    rows = "".join(f"{t},0,0.6,0,8.1,20,5\n" for t in range(5))
    plain = PENDULUM[: PENDULUM.index("motion:")] + PENDULUM[PENDULUM.index("control:") :]
    (tmp_path / "pendulum.yaml").write_text(plain)
    ends = []
    for text in (f"{header}\n{rows}", ",torque,q1,q1_dot\nat,0,0.6,0\ntorque.q1,8.1,20,5\n"):
        (tmp_path / "gains.csv").write_text(text)
        ends.append(kronbot.load(tmp_path / "pendulum.yaml").simulate(duration=6, step=0.5)["q1"])
    assert ends[0] == pytest.approx(ends[1], abs=1e-7) and abs(ends[0][-1] - 0.6) < 0.01


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("2,0,0.6", "1,0,0.6", r"gains.csv:3:1: case = 1 does not come after 1.0"),
        ("0.6,0,8.1", "0.6,0,x", r"gains.csv:3:11: a finite number is wanted here, not 'x'"),
        ("3,0,1.1", "3,0,0.4", "want a joint with a motion whose values rise, or fall, .*motions have q1"),
        ('"gains[at,torque]",', "", 'columns case, "gains'),
        ("case", "t", r"3 rows of gains, at least 4 are wanted"),
        ("2,0,0.6,0,8.1,20,5\n3,0,1.1,0,4.4,50,2\n", "", r"1 rows of gains, at least 2 are wanted"),
        ("[torque.q1,q1_dot]", "[torque.q1,q2_dot]", "columns case"),
    ],
)
def test_mistakes_of_rows_are_told(old, new, said, tmp_path):
    assert old in POSTURES
    (tmp_path / "pendulum.yaml").write_text(PENDULUM)
    (tmp_path / "gains.csv").write_text(POSTURES.replace(old, new))
    with pytest.raises(DescriptionError, match=said):
        kronbot.load(tmp_path / "pendulum.yaml").simulate(duration=0.1)


def test_what_gains_over_time_do_not_go_with(tmp_path):
    (tmp_path / "pendulum.yaml").write_text(PENDULUM.replace("K: gains.csv", "K: gains.csv, periodic: true"))
    rows = "".join(f"{t},0,{0.1 * t},0,8.1,20,5\n" for t in range(5))
    header = POSTURES.splitlines()[0].replace("case", "t")
    (tmp_path / "gains.csv").write_text(f"{header}\n{rows}")
    with pytest.raises(DescriptionError, match="the last row of a period is the first again, 'q1' is not"):
        kronbot.load(tmp_path / "pendulum.yaml").simulate(duration=0.1)
    (tmp_path / "pendulum.yaml").write_text(PENDULUM)
    robot = kronbot.load(tmp_path / "pendulum.yaml")
    with pytest.raises(UsageError, match="gains that change in time are those of a simulation"):
        robot.linearize(closed_loop=True)
    for given, said in (
        ({"poles": [-1, -2], "motion": True}, "motion goes with lqr"),
        ({"lqr": True, "motion": True, "q": {"q1": 1}}, "tells where: leave out q"),
        ({"lqr": True, "duration": 1}, "duration goes with motion"),
    ):
        with pytest.raises(UsageError, match=said):
            robot.design(**given)
    with pytest.raises(UsageError, match="motion wants one in the file"):
        kronbot.loads(ARM).design(lqr=True, motion=True)
