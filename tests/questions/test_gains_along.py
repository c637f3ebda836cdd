"""Gains over time and from posture to posture: what the files do in simulations, against integrators of their own."""

import re
from dataclasses import replace

import numpy as np
import pytest
from robots_in_tests import boom_and_arm
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from scipy.optimize import brentq

import kronbot
from kronbot.cli.main import run as command_line
from kronbot.errors import DescriptionError, Interrupted, UsageError
from kronbot.mechanics.motion.drives import drives
from kronbot.mechanics.motion.integration import Tolerances
from kronbot.questions import design_along
from kronbot.questions.design import outline
from kronbot.questions.instants import Instants
from kronbot.questions.linearize_along import period_of

pytestmark = pytest.mark.usefixtures("interpreted")

ARM = boom_and_arm(", damping: {ratio: 0.05}")
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


@pytest.fixture
def coarse(monkeypatch, unmeasured):
    """Motions along which gains are wanted to 1e-6 or less are known to less than by default, and gains, too: a
    fifteenth of this is left."""
    monkeypatch.setattr(design_along, "FINE", Tolerances(1e-8, 1e-10))
    monkeypatch.setattr(design_along, "CHANGED", 1e-5)


@pytest.fixture
def explicit(monkeypatch):
    """Motions by the integrator whose steps are looked at for contacts whole: CVODES has shorter ones, in parts."""
    simulate = design_along.simulate

    def by_another(robot, run, progress):
        return simulate(robot, replace(run, solver="dop853"), progress)

    monkeypatch.setattr(design_along, "simulate", by_another)


@pytest.fixture
def once(monkeypatch):
    """Whoever asks again for gains along one motion gets those that were found first."""
    found, refined = [], design_along._refined

    def first(*given):
        found.extend([] if found else [refined(*given)])
        return found[0]

    monkeypatch.setattr(design_along, "_refined", first)


@pytest.mark.slow
def test_gains_of_a_motion_cost_what_they_promise(tmp_path, unmeasured):
    """In a simulation of the arm itself, from a small deviation; without one it stays on its way."""
    bare = kronbot.loads(ARM + FINITE)
    design = bare.design(motion=True, **GIVEN, deviation={"q1": 2e-4, "q2": -1e-4, "upper.v1_dot": 1e-3})
    table, rows = design.arrays["gains"], np.array(design.arrays["gains"].axis[1])
    header = ["t", *(f'"gains[{row},{column}]"' for row in table.rows for column in table.columns)]
    lines = (
        ",".join(map(repr, row)) for row in np.column_stack([rows, np.reshape(table.values, (len(rows), -1))]).tolist()
    )
    (tmp_path / "gains.csv").write_text("\n".join([",".join(header), *lines]) + "\n")
    (tmp_path / "arm.yaml").write_text(f"{ARM}{FINITE}control: {{state_feedback: {{K: gains.csv}}}}\n")
    robot = kronbot.load(tmp_path / "arm.yaml")
    assert design.summary["cost_simulated"] == pytest.approx(design.summary["cost_predicted"], rel=2e-3)
    assert design.summary["duration"] == 1.2
    assert {*design.summary, *design.arrays} <= set(outline(robot.model, {"motion": (True,)}).all)
    end = bare.design(q={"q1": 1}, **GIVEN)
    assert design["P"][-1] == pytest.approx(end["P"], rel=1e-9)
    run = robot.simulate(duration=1.2, step=0.3, start="equilibrium", rtol=1e-9, atol=1e-11)
    assert rows[-1] == pytest.approx(1.1 * 1.2, rel=0.01)
    far = re.search("the arm still swings, (.*) by ([^ ]*) (.*) beside its rest", design.warnings[0])
    place = robot.coordinates.index(far[1])
    assert float(far[2]) == pytest.approx(abs(run[far[1]][-1] - end.at["q"][far[1]]), rel=0.1)
    assert far[3] == robot.units[place] == "m"
    assert design["gains"][-1] == pytest.approx(end["gains"], abs=1e-12)
    for place, name in enumerate(design.arrays["gains"].columns[1:], 1):
        wanted = np.interp(run["t"], rows, design["gains"][:, 0, place])
        assert run[name][:-1] == pytest.approx(wanted[:-1], abs=2e-5)
    later = robot.simulate(duration=5, step=2.5, start="equilibrium", q={"q1": 0.05}, solver="rodas", rtol=1e-4)
    assert later["q1"][-1] == pytest.approx(1, abs=2e-3)


@pytest.mark.slow
def test_gains_of_a_period_hold_an_arm_on_its_orbit(tmp_path, coarse, once, unmeasured):
    """By what the command has written it comes back with the largest multiplier of the loop; without gains beams alone
    would swing."""
    (tmp_path / "bare.yaml").write_text(ARM + REPEATING)
    asked = ["design", str(tmp_path / "bare.yaml"), "--motion", *WORDS, "-o", str(tmp_path / "gains.csv")]
    assert command_line(asked) == 0
    feedback = "control: {state_feedback: {K: gains.csv, periodic: true}}\n"
    (tmp_path / "arm.yaml").write_text(f"{ARM}{REPEATING}{feedback}")
    robot = kronbot.load(tmp_path / "arm.yaml")
    design = kronbot.load(tmp_path / "bare.yaml").design(motion=True, **GIVEN)
    period, slowest = design.summary["period"], design.summary["largest_multiplier"]
    assert period == pytest.approx(2 * np.pi / 5, rel=1e-9) and slowest < 0.9
    begin = dict(zip(design.arrays["gains"].columns[1:], design["gains"][0, 0, 1:].tolist(), strict=True))
    assert design["gains"][-1] == pytest.approx(design["gains"][0], rel=1e-6, abs=1e-6)
    names, off = ("q1", "upper.v1", "q2"), []
    for more in (0.0, 1e-3):
        q = {name: begin[name] for name in names} | {"q1": begin["q1"] + more}
        qd = {name: begin[f"{name}_dot"] for name in names}
        run = robot.simulate(duration=3 * period, step=period, q=q, qd=qd, rtol=1e-9, atol=1e-12)
        off.append(np.column_stack([run[name] - begin[name] for name in names]))
    assert np.abs(off[0]).max() < 2e-5
    left = np.abs(off[1] - off[0]).max(axis=1)
    assert 0 < left[1] < 10 * slowest * left[0] and left[2] < 10 * slowest**2 * left[0]


SLIDER = """
kronbot: 1
name: slider
gravity: [0, 0, 0]
parameters: {s: 0.1, c: 0}
links:
  - name: a
    joint: {type: prismatic, name: x, spring: {stiffness: 20}, PART}
    pose: {}
    rigid: {mass: 1}
motion: {x: {type: sinusoid, amplitude: 0.5, frequency: 3, phase: 1.3}}
"""
TURN = 2 * np.pi / 3


def a_period_earlier(P, rate, jumps):
    """P (2 x 2) of the slider by an integrator that ends at times with the jumps of deviations."""
    ends = [TURN, *sorted(jumps, reverse=True), 0.0]

    def slope(u, p):
        P, A = p.reshape(2, 2), np.array([[0, 1], rate(-u)])
        return (A.T @ P + P @ A - np.outer(P[:, 1], P[1]) + np.diag([1, 0])).ravel()

    for start, end in zip(ends[:-1], ends[1:], strict=True):
        P = solve_ivp(slope, (-start, -end), P.ravel(), "DOP853", rtol=1e-10, atol=1e-13).y[:, -1].reshape(2, 2)
        S = jumps.get(end, np.eye(2))
        P = S.T @ P @ S
    return P


@pytest.mark.slow
@pytest.mark.parametrize("smoothing", [0.1, 1e-6])
def test_gains_see_the_peak_of_friction_where_a_joint_turns_back(smoothing):
    """Behind every reversal a deviation has lost 1 - exp(-2 F_c / (m |a|)) of its rate, where the peak is narrow."""
    friction = "friction: {coulomb: 3, smoothing: s}"
    found = kronbot.loads(SLIDER.replace("PART", friction)).with_parameters(s=smoothing)
    found = found.design(lqr=True, motion=True)
    turns = [(np.pi / 2 - 1.3) / 3, (3 * np.pi / 2 - 1.3) / 3]

    def rate(t):
        return [-20, -3 / smoothing / np.cosh(1.5 * np.cos(3 * t + 1.3) / smoothing) ** 2]

    lost = {t: np.diag([1, np.exp(-2 * 3 / 4.5)]) for t in turns}
    way = (rate, {}) if smoothing == 0.1 else (lambda t: [-20, 0], lost)
    assert found["P"][0] == pytest.approx(a_period_earlier(found["P"][-1], *way), rel=1e-6)
    assert all("x is near rest at" in each for each in found.warnings)


def test_a_stop_of_the_only_coordinate_has_instants():
    """Its slope is 1; where none is met there are none."""
    text = SLIDER.replace("PART", "limits: [-5, END], stops: {stiffness: 200, damping: c}")

    def instants(end):
        robot = kronbot.loads(text.replace("END", end)).with_parameters(c=5).model
        return Instants(robot, lambda t: (t[:, None], np.ones((len(t), 1))), np.linspace(-1, 1, 9), "test")

    (t,), (which,), (begins,) = instants("0.2").contacts
    assert t == pytest.approx(0.2, abs=1e-15)
    assert begins
    assert np.array_equal(instants("0.2").stiffening(t, which, [0]), [[1], [5]])
    assert [part.size for part in instants("3").contacts] == [0, 0, 0]


@pytest.mark.slow
def test_gains_see_where_stops_begin_and_cease_to_hold(coarse, explicit):
    """They push from depth 0, where rates of deviations y jump by -c y / m, until their force is 0."""
    stop, damping = "limits: [-5, 0.2], stops: {stiffness: 200, damping: c}", 5.0
    found = kronbot.loads(SLIDER.replace("PART", stop)).with_parameters(c=damping).design(lqr=True, motion=True)
    phase = np.arcsin(0.4)
    begins, ends = (phase - 1.3) / 3 + TURN, np.pi - phase
    ends = brentq(lambda w: 200 * (0.5 * np.sin(w) - 0.2) + damping * 1.5 * np.cos(w), 1.6, ends + 0.1)
    ends = (ends - 1.3) / 3

    def rate(t):
        return [-220, -damping] if t > begins or t < ends else [-20, 0]

    jumps = {begins: np.array([[1, 0], [-damping, 1]]), ends: np.eye(2)}
    assert found["P"][0] == pytest.approx(a_period_earlier(found["P"][-1], rate, jumps), rel=1e-6)


@pytest.mark.slow
def test_what_tables_of_gains_smear_where_torques_jump_is_told(coarse, explicit, once):
    """A damped stop asks for 3.3 N at once; without a deviation the arm pays for what a row is late."""
    stop = "limits: [-5, 0.2], stops: {stiffness: 200, damping: 5}"
    moved = "motion: {x: {type: cycloidal, from: 0, to: 0.4, duration: 1.2}}\n"
    robot = kronbot.loads(SLIDER[: SLIDER.index("motion")].replace("PART", stop) + moved)
    costs = [robot.design(lqr=True, motion=True, deviation={"x": x}) for x in (0, 1e-2)]
    paid, predicted = ([each.summary[f"cost_{word}"] for each in costs] for word in ("simulated", "predicted"))
    assert paid[0] > 10 * predicted[1] and predicted[0] == 0
    assert paid[1] - paid[0] == pytest.approx(predicted[1], rel=0.05)
    (told,) = costs[1].warnings
    assert told.startswith(f"{paid[0]:.2g} of cost_simulated is there without any deviation") and "t = 0.6 s" in told


@pytest.mark.slow
def test_gains_see_a_stop_that_throws_back_what_is_behind_a_shaft(coarse, explicit):
    """Its damper jolts a mass that no motion gives: two constant plants and a jump, at instants of an own orbit."""
    shaft = "rotor_inertia: 0.5, elastic: {stiffness: 300, damping: 6}"
    stop = "limits: [-5, 0.2], stops: {stiffness: 200, damping: 5}"
    found = kronbot.loads(SLIDER.replace("spring: {stiffness: 20}, PART", f"{shaft}, {stop}"))
    found = found.design(lqr=True, motion=True, weights={"x": 50, "x.motor": 50})

    def slope(t, y, held):
        x, v = y
        push = held * (200 * (x - 0.2) + 5 * v)
        return [v, 300 * (0.5 * np.sin(3 * t + 1.3) - x) + 6 * (1.5 * np.cos(3 * t + 1.3) - v) - push]

    def begins(t, y, held):
        return y[0] - 0.2 if not held else -200 * (y[0] - 0.2) - 5 * y[1]

    begins.terminal, begins.direction = True, 1
    t, y, held, instants = 0.0, [0.4, 0.0], 1, []
    while t < 8 * TURN:
        way = solve_ivp(slope, (t, 9 * TURN), y, "DOP853", events=begins, args=(held,), rtol=1e-11, atol=1e-13)
        t, y, held = way.t[-1], way.y[:, -1], 1 - held
        instants.append(t % TURN)
    on, off = sorted(instants[-2:], reverse=True)
    plants = {h: np.zeros((4, 4)) for h in (0, 1)}
    for h, A in plants.items():
        A[:2, 2:] = np.eye(2)
        A[2] = [-300 - 200 * h, 300, -6 - 5 * h, 6]
        A[3] = [600, -600, 12, -12]
    B, Q, S = np.array([[0, 0, 0, 2.0]]).T, np.diag([50.0, 50, 0, 0]), np.eye(4)
    S[2, 0] = -5
    P = found["P"][-1]
    for length, h, jump in ((TURN - on, 1, S), (on - off, 0, np.eye(4)), (off, 1, np.eye(4))):
        H = np.block([[plants[h], -B @ B.T], [-Q, -plants[h].T]])
        for _ in range(64):
            X, Y = np.split(expm(-H * length / 64) @ np.vstack([np.eye(4), P]), 2)
            P = Y @ np.linalg.inv(X)
        P = jump.T @ P @ jump
    assert found["P"][0] == pytest.approx(P, rel=1e-6, abs=1e-6 * P.max())
    assert found.summary["intervals"] <= 1600


@pytest.mark.slow
def test_gains_along_a_motion_with_corners_converge():
    """Accelerations of a trapezoid jump between rows: the next mesh changes P by a fifteenth of the last change."""
    text = SLIDER[: SLIDER.index("motion")].replace("spring: {stiffness: 20}, PART", "damping: 1")
    row = "dh: {a: 0.8, d: 0, alpha: pi/2, theta: 0}"
    beam = "mass: 1, EI: {z: 40}, modes: {v: 1}, shape: craig-bampton, damping: {ratio: 0.05}"
    text = text.replace("pose: {}\n    rigid: {mass: 1}", f"{row}\n    flexible: {{{beam}}}\n    payload: {{mass: 1}}")
    text = text.replace("type: prismatic", "type: revolute").replace(
        "name: slider", "name: slider\nconvention: standard"
    )
    text += "motion: {x: {type: trapezoid, from: 0, to: 1, rate: 2, acceleration: 9.7}}\n"
    found = kronbot.loads(text).design(lqr=True, motion=True, weights={"x": 50})
    assert found.summary["intervals"] <= 800


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
    s = np.minimum(run["t"] / 1.5, 1)
    strays = run["q1"] + 0.2 - 1.5 * (s - np.sin(2 * np.pi * s) / (2 * np.pi))
    assert np.abs(strays).max() <= run.summary["peak_deviation.q1"] < 1.1 * np.abs(strays).max()
    for angle in (0.6, 0.9, 1.3):
        k, d = np.interp(angle, at, stiff), np.interp(angle, at, damped)
        poles = robot.linearize(q={"q1": angle}, equilibrium=True, closed_loop=True)["poles"]
        wanted = np.roots([0.5, d, k - 9.81 * np.sin(angle)])
        assert np.sort_complex(poles) == pytest.approx(np.sort_complex(wanted[wanted.imag >= 0]), rel=1e-9)


def test_gains_of_one_posture_hold_it_whatever_motion_the_file_has(tmp_path):
    """Nobody wants the motion then: that is said, and the joint is where it is wanted from the start."""
    (tmp_path / "pendulum.yaml").write_text(PENDULUM)
    (tmp_path / "gains.csv").write_text(",torque,q1,q1_dot\nat,0,0,0\ntorque.q1,9.81,30,4\n")
    run = kronbot.load(tmp_path / "pendulum.yaml").simulate(duration=2, step=0.5, q={"q1": 0.1})
    assert run.warnings[0].startswith("the motion of q1 is not followed: the gains of 'gains.csv' hold the posture")
    assert (run.summary["motion_end"], run["q1"][-1]) == (0, pytest.approx(0, abs=1e-3))
    assert "peak_deviation.q1" not in run.summary
    swinging = "motion: {q1: {type: sinusoid, amplitude: 0.1, frequency: 16*pi}}"  # whose middle every 17th row meets
    for motion, told in (("motion: {q1: 0}", 0), (swinging, 1)):
        (tmp_path / "other.yaml").write_text(re.sub(r"motion: .*", motion, PENDULUM))
        other = kronbot.load(tmp_path / "other.yaml").simulate(duration=2)
        assert sum("is not followed" in each for each in other.warnings) == told


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
        ("2,0,0.6", "1,0,0.6", r"gains.csv:3:1: case = 1 does not come after 1"),
        ("0.6,0,8.1", "0.6,0,x", r"gains.csv:3:11: a finite number is wanted here, not 'x'"),
        ("3,0,1.1", "3,0,0.4", "want a joint with a motion whose values rise, or fall, .*motions have q1"),
        ('"gains[at,torque]",', "", 'columns case, "gains'),
        ("case", "t", r"3 rows of gains, at least 4 are wanted"),
        ("2,0,0.6,0,8.1,20,5\n3,0,1.1,0,4.4,50,2\n", "", r"1 row of gains, at least 2 are wanted"),
        ("[torque.q1,q1_dot]", "[torque.q1,q2_dot]", "columns case"),
        (
            POSTURES,
            ";torque;q1;q1_dot\nat;0;0;0\n",
            r"^[^\n]*gains.csv:1:1: columns are separated by commas, not by semi",
        ),
        (POSTURES, '{"command": "design", "K": [1]}', r"^[^\n]*gains.csv:1:1: a table in CSV is wanted, .*, not JSON"),
    ],
)
def test_mistakes_of_rows_are_told(old, new, said, tmp_path):
    """Each at its place; another format, or other signs between columns, is one mistake."""
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
    (tmp_path / "gains.csv").write_text(",torque,q1,q1_dot\nat,0,0,0\ntorque.q1,9.81,30,4\n")
    with pytest.raises(
        DescriptionError, match=r"gains.csv:2:1: rows over t \(s\) are wanted of gains that are periodic"
    ):
        kronbot.load(tmp_path / "pendulum.yaml").simulate(duration=0.1)
    (tmp_path / "gains.csv").write_text(f"{header}\n{rows}")
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


@pytest.mark.slow
def test_who_interrupts_the_simulation_of_their_cost_has_the_gains(monkeypatch):
    begun = design_along.simulate

    def simulate(robot, *given):
        if robot.file.control.state_feedback is not None:
            raise Interrupted("interrupted at t = 0.1 s of 1.5 s")
        return begun(robot, *given)

    monkeypatch.setattr(design_along, "simulate", simulate)
    robot = kronbot.loads(PENDULUM.replace("control: {state_feedback: {K: gains.csv}}", ""))
    with pytest.raises(Interrupted, match="of 1.5 s, in the simulation of the cost; the gains are there") as stopped:
        robot.design(motion=True, lqr=True)
    found = stopped.value.partial
    assert found.summary["complete"] is False and "cost_simulated" not in found.summary and "gains" in found.arrays
    assert not any("come back" in told for told in found.warnings)


# Sliding joints, which M_L, D_L, K_L do not depend on; beams that swing sideways by rounding alone.
GANTRY = """
kronbot: 1
name: gantry
gravity: [0, 0, -9.81]
links:
  - name: bridge
    joint: {type: prismatic, name: x, damping: 20}
    pose: {rpy: [0, pi/2, 0]}
    rigid: {mass: 15}
  - name: lift
    joint: {type: prismatic, name: z, damping: 20}
    pose: {rpy: [0, -pi/2, 0]}
    rigid: {mass: 6}
  - name: arm
    joint: {type: fixed}
    pose: {rpy: [0, 0, pi/2]}
    flexible: {mass: 1, length: 1.5, EI: {y: 900, z: 900}, modes: {v: 1, w: 1}, damping: {ratio: 0.05}}
    payload: {mass: 1.2}
"""


def gains_file(design, path):
    run = ["t", *(f'"gains[{r},{c}]"' for r in design.arrays["gains"].rows for c in design.arrays["gains"].columns)]
    times = np.array(design.arrays["gains"].axis[1])
    table = np.column_stack([times, design["gains"].reshape(len(times), -1)])
    path.write_text("\n".join([",".join(run), *(",".join(map(repr, row)) for row in table.tolist())]) + "\n")


@pytest.mark.slow
def test_gains_over_a_period_are_read_again_and_followed(tmp_path, coarse):
    """Columns of rounding do not count beside others; without periodic: true it is told where they end."""
    text = GANTRY + "motion: {x: {type: sinusoid, amplitude: 0.3, frequency: pi}, z: 0.2}\n"
    gains_file(kronbot.loads(text).design(motion=True, lqr=True, weights={"x": 1e6, "z": 1e6}), tmp_path / "K.csv")
    for more, told in ((", periodic: true", 0), ("", 1)):
        (tmp_path / "r.yaml").write_text(f"{text}control: {{state_feedback: {{K: K.csv{more}}}}}\n")
        run = kronbot.load(tmp_path / "r.yaml").simulate(5.0, 0.1, start="equilibrium")
        words = [each for each in run.warnings if "the motion of x is not followed, from t = " in each]
        assert len(words) == told
        if more:
            assert run["x"] == pytest.approx(0.3 * np.sin(np.pi * run["t"]), abs=1e-3)


def test_a_period_is_that_of_all_motions():
    """Where nothing depends on them, too: gains say where joints are to be. Whole turns count as the same place."""
    swing, turn = "{type: sinusoid, amplitude: 0.3, frequency: pi}", "{type: cycloidal, rate: pi, half_period: 1}"
    for other, period in (
        ("0.2", 2.0),
        ("{type: sinusoid, amplitude: 0.1, frequency: 2*pi/3}", 6.0),
        ("{type: polynomial, from: 0, to: 0.1, duration: 1, degree: 5}", "the motion of z does not repeat after 2 s"),
        ("{type: cycloidal, rate: 0.1, half_period: 1}", "the motion of z does not repeat after 2 s"),
    ):
        robot = kronbot.loads(f"{GANTRY}motion: {{x: {swing}, z: {other}}}\n").model
        found = period_of(robot)
        assert found == (period if isinstance(period, str) else pytest.approx(period))
    turning = GANTRY.replace("{type: prismatic, name: z, damping: 20}", "{type: revolute, name: z, damping: 20}")
    assert period_of(kronbot.loads(f"{turning}motion: {{x: {swing}, z: {turn}}}\n").model) == pytest.approx(2.0)


def test_gains_that_nearly_repeat_do_not_go_on(tmp_path):
    """A column may rise by a millionth of the largest: seven beside 1e7 is no whole turn."""
    names = ("at,torque", "at,x", "at,x_dot", "torque.x,torque", "torque.x,x", "torque.x,x_dot")
    rows = [[t, 0, 0, 0, 0, 1e7, rate] for t, rate in ((0, 1), (1, 2), (2, 3), (3, 8))]
    lines = [",".join(["t", *(f'"gains[{name}]"' for name in names)]), *(",".join(map(str, row)) for row in rows)]
    (tmp_path / "K.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "r.yaml").write_text(f"{GANTRY}control: {{state_feedback: {{K: K.csv, periodic: true}}}}\n")
    feedback = drives(kronbot.load(tmp_path / "r.yaml").model).controllers.feedback
    assert float(feedback._curve(feedback.gains.K["x"]["x_dot"]).travel) == 0
