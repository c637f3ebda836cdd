"""Gains against SciPy and python-control, margins against their own disks, the loop against simulations of it."""

import json
import re

import mpmath
import numpy as np
import pytest
from robots_in_tests import boom_and_arm, model
from scipy.integrate import solve_ivp
from scipy.linalg import solve_continuous_are
from thinned import rare

import kronbot
from kronbot.cli.main import run as command_line
from kronbot.errors import ComputationError, DescriptionError, Interrupted, UsageError
from kronbot.library.robot import Robot
from kronbot.mechanics.control.feedback import Reached, disk_margin, filtered
from kronbot.questions import design
from kronbot.questions.design import outline, with_gains

ARM = boom_and_arm()
AT = {"q1": 0.4, "q2": -0.3}
WEIGHTS, EFFORT = {"q1": 100, "q2": 50, "upper.v1": 10, "q1_dot": 1}, {"q1": 0.1, "q2": 0.5}


@pytest.fixture(scope="module")
def arm():
    return Robot(model(ARM))


@pytest.fixture(scope="module")
def best(arm):
    return arm.design(q=AT, lqr=True, weights=WEIGHTS, effort=EFFORT, noise={"q1": 1e-3, "q2": 1e-3, "torque.q1": 0.1})


def matrices(arm):
    linear = arm.linearize(q=AT, equilibrium=True, inputs="torques")
    states = list(linear.arrays["A"].rows)
    return linear["A"], linear["B"], states


def test_lqr_and_kalman_are_those_of_others(arm, best):
    import control  # and with it SciPy's statistics, which most tests do without

    A, B, states = matrices(arm)
    Q, R = np.diag([WEIGHTS.get(name, 0) for name in states]), np.diag([0.1, 0.5])
    P = solve_continuous_are(A, B, Q, R)
    assert best["K"] == pytest.approx(np.linalg.solve(R, B.T @ P), rel=1e-7)
    assert best["P"] == pytest.approx(P, rel=1e-7, abs=1e-9 * np.abs(P).max())
    assert best["K"] == pytest.approx(control.lqr(A, B, Q, R)[0], rel=1e-7)
    every = np.concatenate([best["poles"], best["poles"][best["poles"].imag > 0].conj()])
    assert np.sort_complex(every) == pytest.approx(np.sort_complex(np.linalg.eigvals(A - B @ best["K"])), rel=1e-6)
    C = np.eye(len(A))[[states.index("q1"), states.index("q2")]]
    L = control.lqe(A, B, C, np.diag([0.01, 1]), 1e-6 * np.eye(2))[0]
    assert best["L"] == pytest.approx(L, rel=1e-6)
    assert best["observer_poles"].real.max() < 0


def test_poles_that_are_all_0_have_no_cost_to_simulate():
    """A body that nothing holds and no weight asks back: neither a slowest rate nor a fastest one."""
    floats = kronbot.loads("""
        kronbot: 1
        name: block
        gravity: [0, 0, 0]
        links: [{name: b, joint: {type: prismatic, name: q1}, pose: {}, rigid: {mass: 1}}]
        """)
    answer = floats.design(lqr=True, weights={"q1": 0})
    assert (answer["poles"] == 0).all() and (answer["K"] == 0).all()
    assert answer.warnings == ("no cost is simulated: the slowest pole, 0 1/s, would take inf s",)
    assert answer.summary["cost_predicted"] == 0 and "cost_simulated" not in answer.summary


def test_a_filter_takes_margins_away(arm, best):
    """Doyle (1978): with gains f [1, 1] and d [1, 1] the loop bears gains up to 1 + 1/(d f) at most; and of the arm the
    largest of the sensitivity less a half, by python-control, and the poles of both parts."""
    import control

    A, B, C = np.array([[1.0, 1], [0, 1]]), np.array([[0.0], [1]]), np.array([[1.0, 0]])
    before = 1.0
    for size in (1.0, 1e2, 1e4):
        f = d = 2 + np.sqrt(4 + size)
        alpha, _ = disk_margin(
            *filtered(Reached(A, B, np.eye(2), np.eye(2)), C, f * np.ones((1, 2)), d * np.ones((2, 1)))
        )
        most = (2 + alpha) / (2 - alpha)
        assert 1 < most <= 1 + 1 / (d * f) + 1e-9 and 0 < alpha < before
        before = alpha
    A, B, states = matrices(arm)
    C = np.eye(len(A))[[states.index("q1"), states.index("q2")]]
    whole = filtered(Reached(A, B, *[np.eye(len(A))] * 2), C, best["K"], best["L"])
    poles = np.concatenate([np.linalg.eigvals(A - B @ best["K"]), np.linalg.eigvals(A - best["L"] @ C)])
    assert np.sort_complex(np.linalg.eigvals(whole[0] - whole[1] @ whole[2])) == pytest.approx(
        np.sort_complex(poles), rel=1e-4
    )
    controller = control.ss(A - B @ best["K"] - best["L"] @ C, best["L"], best["K"], np.zeros((2, 2)))
    loop = controller * control.ss(A, B, C, np.zeros((2, 2)))
    w = np.geomspace(1e-2, 1e3, 2001)
    S = np.linalg.inv(np.eye(2) + loop(1j * w).transpose(2, 0, 1)) - np.eye(2) / 2
    margin = best.summary["filtered_disk_margin"]
    scales = np.geomspace(1e-3, 1e3, 301)[:, None, None, None] ** np.array([[0, 1], [-1, 0]])
    # The largest singular value of D S D^-1, by the sum of squares of both and their product: what inputs bear apart.
    squares, both = np.sum(np.abs(scales * S) ** 2, axis=(2, 3)), 2 * np.abs(np.linalg.det(S))
    least = (np.sqrt(squares + both) + np.sqrt(np.maximum(squares - both, 0))).min(axis=0) / 2
    assert margin == pytest.approx(1 / least.max(), rel=1e-3)
    assert margin < best.summary["disk_margin"]


@pytest.mark.slow
def test_costs_predicted_and_simulated_meet_for_small_deviations(arm, best):
    assert best.summary["cost_simulated"] == pytest.approx(best.summary["cost_predicted"], rel=0.05)
    near = arm.design(q=AT, lqr=True, weights=WEIGHTS, effort=EFFORT, deviation={"q1": 1e-4, "q2_dot": 2e-4}).summary
    assert near["cost_simulated"] == pytest.approx(near["cost_predicted"], rel=1e-3)


@pytest.mark.parametrize(("away", "back"), [(3.0, True), (3.5, False)])
def test_a_pendulum_that_goes_over_the_top_does_not_come_back(away, back):
    """It hangs then a turn away, where weak gains pull in vain: the cost of that is told."""
    pendulum = kronbot.loads(
        "kronbot: 1\nname: pendulum\ngravity: [9.81, 0, 0]\nlinks:\n  - {name: rod, joint: {type: revolute, name: q1, "
        "damping: 0.1}, pose: {}, rigid: {mass: 1, com: [0.5, 0, 0], inertia: {Izz: 0.1}}}\n"
    )
    found = pendulum.design(lqr=True, deviation={"q1": away}, effort={"q1": 100})
    paid = found.summary["cost_simulated"] / found.summary["cost_predicted"]
    assert (paid < 2) == back
    assert [f"pays {paid:.2g} times what its linear model" in each for each in found.warnings] == [True] * (not back)


def test_the_file_of_gains_is_the_loop(arm, best, tmp_path, capsys):
    """Written by the command, read by control:, its poles are those of the design."""
    (tmp_path / "bare.yaml").write_text(ARM)
    words = ["--lqr", "--weights", "q1=100,q2=50,upper.v1=10,q1_dot=1", "--effort", "q1=0.1,q2=0.5", "--q", "0.4,-0.3"]
    gains = tmp_path / "gains.csv"
    assert command_line(["design", str(tmp_path / "bare.yaml"), *words, "-o", str(gains)]) == 0, capsys.readouterr().err
    (tmp_path / "arm.yaml").write_text(ARM + "control: {state_feedback: {K: gains.csv}}\n")
    robot = kronbot.load(str(tmp_path / "arm.yaml"))
    loop = robot.linearize(q=AT, equilibrium=True, closed_loop=True)
    assert np.sort_complex(loop["poles"]) == pytest.approx(np.sort_complex(best["poles"]), rel=1e-5)
    elsewhere = robot.linearize(q={**AT, "q2": 0.1}, equilibrium=True, closed_loop=True).warnings
    assert not loop.warnings and [each for each in elsewhere if "the gains are about q2 = -0.3" in each]
    start = {name: best.at["q"][name] for name in robot.coordinates}
    still = robot.simulate(duration=0.2, step=0.1, q=start)
    assert still["q1"] == pytest.approx([0.4] * 3, abs=1e-7)
    assert still["torque.q1"] == pytest.approx(best.at["tau"]["q1"], rel=1e-6)
    inner = Robot(with_gains(arm.model, best.arrays["gains"]))
    assert inner.simulate(duration=0.1)["q1"] == pytest.approx(robot.simulate(duration=0.1)["q1"], abs=1e-12)
    for old, new, said in (
        ("upper.v1", "upper.v9", r"gains.csv:1:\d+: no coordinate or rate 'upper.v9'"),
        ("torque.q2", "torque.q9", r"gains.csv:4:1: no joint 'q9'"),
        ("at,0.0", "at,x", r"gains.csv:2:4: a finite number is wanted here, not 'x'"),
    ):
        text = gains.read_text()
        (tmp_path / "wrong.csv").write_text(text.replace(old, new))
        (tmp_path / "wrong.yaml").write_text(ARM + "control: {state_feedback: {K: wrong.csv}}\n")
        with pytest.raises(DescriptionError, match=said.replace("gains", "wrong")):
            kronbot.load(str(tmp_path / "wrong.yaml")).simulate(duration=0.1)


def test_poles_are_where_they_are_wanted(arm):
    wanted = [-3 + 4j, -6 + 0j, -7 + 0j, -8 + 30j]
    found = arm.design(q=AT, poles="-3+4i,-6,-7,-8+30j")
    assert np.sort_complex(found["poles"]) == pytest.approx(np.sort_complex(wanted), rel=1e-5)
    assert found.warnings == ()
    pairs = arm.design(q=AT, poles=[-3 - 4j, -8 + 30j, -6, -3 + 4j, -7, -8 - 30j])  # both of a pair are that pair
    assert np.sort_complex(pairs["poles"]) == pytest.approx(np.sort_complex(wanted), rel=1e-5)
    for poles, count in (([-1, -2], 2), ([-3 + 4j, -3 - 4j, -8 + 30j], 4), ([-3 - 4j] * 2 + [-1 + 1j, -2], 7)):
        with pytest.raises(UsageError, match=f"6 poles are wanted, .*; these are {count},"):
            arm.design(q=AT, poles=poles)


@pytest.mark.parametrize(("pole", "how"), [(2j, "does not die out"), (3, "grows"), (1 + 2j, "grows")])
def test_loops_that_do_not_come_to_rest_are_told(arm, pole, how):
    others = [-6, -7, -8 + 30j] if pole.imag else [-5, -6, -7, -8 + 30j]
    (told,) = arm.design(q=AT, poles=[pole, *others]).warnings
    assert told.startswith("the loop does not come to rest: what has the pole ") and told.endswith(f"asked for, {how}")


@pytest.mark.parametrize("fast", [1e3, rare(30), rare(1e5)])
def test_poles_told_are_those_of_the_loop(arm, fast, unpaid):
    """Where gains leave no digit of A in A - B K: against 30 digits, within the errors that are told; what is missed is
    said, and so is what rounding moves."""
    wanted = fast * np.array([-3 + 4j, -6, -7, -8 + 30j])
    found, linear = arm.design(q=AT, poles=wanted.tolist()), arm.linearize(q=AT, equilibrium=True, inputs="torques")
    n = len(linear["M_L"])
    E = np.eye(n)[:, [linear.arrays["M_L"].rows.index(name) for name in ("q1", "q2")]]
    with mpmath.workdps(30):
        M, D, K, fed = (mpmath.matrix(each) for each in (*(linear[f"{name}_L"] for name in "MDK"), E @ found["K"]))
        loop, inverse = mpmath.eye(2 * n), mpmath.inverse(M)
        loop[:n, :n], loop[:n, n:] = mpmath.zeros(n), mpmath.eye(n)
        loop[n:, :n], loop[n:, n:] = -inverse * (K + fed[:, :n]), -inverse * (D + fed[:, n:])
        exact = np.array([complex(s) for s in mpmath.eig(loop, left=False, right=False)])
    off = np.abs(found["poles"][:, None] - exact).min(axis=1)
    assert (off <= found["accuracy"][:, 0]).all()
    assert off.max() < 1e-7 * np.abs(exact).max() or fast > 1e3
    said = " ".join(found.warnings)
    assert (re.search(r"in place of \S+ rad/s", said) is not None) == (fast > 30)
    assert ("a rounding of gains" in said) == (fast > 1e3)


def test_disk_margins():
    """At the edge of the disk a factor of the inputs brings a pole to the axis; a closed form; LQR has 2/3."""
    A, B, K = np.array([[0.0, 1.0], [-2.0, -0.4]]), np.array([[0.0], [1.0]]), np.array([[3.0, 0.5]])
    alpha, at = disk_margin(A, B, K)
    w = np.linspace(1e-3, 40, 400_001)
    L = (3.0 + 0.5j * w) / (2.0 - w**2 + 0.4j * w)
    assert alpha == pytest.approx(1 / np.abs(1 / (1 + L) - 0.5).max(), rel=1e-7)
    S = 1 / (1 + (3.0 + 0.5j * at) / (2.0 - at**2 + 0.4j * at))
    half = 1 / (S - 0.5)  # delta with 1 + L f = 0, f = (1 + delta/2)/(1 - delta/2)
    factor = (1 + half / 2) / (1 - half / 2)
    assert abs(half) == pytest.approx(alpha, rel=1e-6)
    assert np.abs(np.linalg.eigvals(A - factor * B @ K) - 1j * at).min() == pytest.approx(0, abs=1e-6)
    rng = np.random.default_rng(4)
    for _ in range(5):
        A, B = rng.normal(size=(4, 4)), rng.normal(size=(4, 1))
        K = B.T @ solve_continuous_are(A, B, np.eye(4), np.eye(1))
        assert disk_margin(A, B, K)[0] >= 2 / 3 - 1e-9
    assert disk_margin(np.eye(1), np.eye(1), np.zeros((1, 1))) == (0.0, 0.0)


def test_disk_margins_of_several_inputs():
    """A loop that only feeds another takes nothing away from either."""
    one = np.array([[0.0, 1.0], [-2.0, -0.4]])
    A, B = np.kron(np.eye(2), one), np.kron(np.eye(2), [[0.0], [1.0]])
    K = np.array([[3.0, 0.5, 40.0, 7.0], [0.0, 0.0, 1.0, 2.0]])
    alone = [disk_margin(one, np.array([[0.0], [1.0]]), row) for row in (K[:1, :2], K[1:, 2:])]
    assert disk_margin(A, B, K)[0] == pytest.approx(min(alone)[0], rel=1e-4)


@pytest.mark.parametrize("inputs", [2, rare(3)])
def test_disk_margins_of_the_best_feedback(inputs):
    """Inputs with an f each: the best feedback has 2/3 whatever its efforts weigh, units of inputs do not matter."""
    rng = np.random.default_rng(4)
    A, B, R = rng.normal(size=(6, 6)), rng.normal(size=(6, inputs)), np.diag(10 ** rng.uniform(-3, 3, inputs))
    K = np.linalg.solve(R, B.T @ solve_continuous_are(A, B, np.eye(6), R))
    alpha, units = disk_margin(A, B, K)[0], 10 ** rng.uniform(-3, 3, inputs)
    assert alpha >= 2 / 3 - 1e-9
    assert disk_margin(A, B * units, K / units[:, None])[0] == pytest.approx(alpha, rel=1e-5)


@pytest.mark.slow
def test_what_no_torque_reaches_is_taken_out_and_named(unpaid):
    """A beam that also bends out of its plane: the gains are those of the arm that cannot, and see nothing of it."""
    text = ARM.replace("[0, -9.81, 0]", "[0, 0, 0]")
    plane = Robot(model(text)).design(q={"q1": 0.4}, lqr=True)
    both = Robot(model(text.replace("EI: {z: 20}, modes: {v: 1}", "EI: {y: 20, z: 20}, modes: {v: 1, w: 1}")))
    found = both.design(q={"q1": 0.4}, lqr=True)
    assert found.summary["reached"] == 6 and found.summary["states"] == 8
    assert "upper.w1" in found.summary["unreached"] and "leave it alone" in found.warnings[0]
    gains = dict(zip(found.arrays["K"].columns, found["K"].T, strict=True))
    assert pytest.approx(plane["K"], rel=1e-6) == np.array([gains[name] for name in plane.arrays["K"].columns]).T
    assert np.abs([gains["upper.w1"], gains["upper.w1_dot"]]).max() < 1e-9
    assert set(found.summary) <= set(outline(both.model, {}).all)


@pytest.mark.slow
def test_momentum_of_a_floating_arm_is_left_alone(unpaid):
    """Gains see no momentum: moving along with everything changes no torque."""
    text = ARM.replace("[0, -9.81, 0]", "[0, 0, 0]")
    base = "base: {type: floating, rigid: {mass: 5, inertia: {Ixx: 1, Iyy: 1, Izz: 1}}}"
    floating = text.replace("links:", f"{base}\nlinks:")
    robot = Robot(model(floating))
    found = robot.design(lqr=True)
    assert found.summary["reached"] == 6 and "momentum of base.x" in found.summary["unreached"]
    gains = dict(zip(found.arrays["K"].columns, found["K"].T, strict=True))
    assert not any(gains[name].any() for name in ("base.x", "base.y", "base.z", "base.x_dot", "base.rz"))
    assert found["poles"].real.max() < 0


HOVER = """
kronbot: 1
name: hover
gravity: [0, 0, -9.81]
base: {type: floating, rigid: {mass: 6, inertia: {Ixx: 0.12, Iyy: 0.13, Izz: 0.2}}}
links:
  - name: arm
    joint: {type: revolute, name: tilt, damping: 0.3}
    pose: {rpy: [-pi/2, 0, 0]}
    rigid: {mass: 0.4, com: [0.3, 0, 0], inertia: {Ixx: 1e-3, Iyy: 1e-3, Izz: 1e-3}}
"""


def test_a_base_that_falls_is_told_with_gains_of_its_arm_as_the_cure():
    """No cost is simulated of what the model does not do; without gravity it is."""
    falling = kronbot.loads(HOVER).design(lqr=True)
    still = kronbot.loads(HOVER.replace("-9.81", "0")).design(lqr=True)
    by_number = kronbot.loads(HOVER.replace("-9.81]", "-g]\nparameters: {g: 9.81}"))
    assert by_number.design(lqr=True).warnings == falling.warnings
    assert not any("falls" in each for each in by_number.with_parameters(g=0).design(lqr=True).warnings)
    assert falling.warnings[0].startswith("the base falls, that of this model does not")
    assert "cost_simulated" not in falling.summary and not any("pays" in each for each in falling.warnings)
    assert still["K"] == pytest.approx(falling["K"], rel=1e-9) and not any("falls" in each for each in still.warnings)
    assert still.summary["cost_simulated"] == pytest.approx(still.summary["cost_predicted"], rel=1e-3)


def test_what_costs_nothing_is_named():
    """Joints that no weight sees, at rest, not the modes that it does."""
    robot = kronbot.load("canadarm", order="0")
    with pytest.raises(ComputationError, match=r"without damping costs nothing, q2 \(0 rad/s\), q3 \(0 rad/s\); give"):
        robot.design(lqr=True, weights={"q1": 1})


@pytest.mark.slow
def test_friction_near_rest_is_told_as_of_any_linear_model(unpaid):
    """The gains are those of its slope; stops are, too. It has no part where joints are locked, as for a shaper."""
    text = ARM.replace("name: q1", "name: q1, friction: {coulomb: 0.05, smoothing: 1e-2}", 1)
    robot = kronbot.loads(text)
    words = list(robot.linearize(q=AT, equilibrium=True).warnings)
    assert any("q1 is near rest" in each for each in words)
    assert {*words} <= {*robot.design(q=AT, lqr=True).warnings}
    assert not {*words} & {*robot.design(q=AT, shaper="zv").warnings}


def test_a_shaper_is_for_the_lowest_mode(arm):
    found = arm.design(q=AT, shaper="zv").summary
    locked = arm.linearize(q=AT, equilibrium=True, lock="all")
    assert found["frequency"] == pytest.approx(locked["frequencies"][0], rel=1e-12)
    assert found["longer"] == pytest.approx(np.pi / abs(locked["poles"][0].imag))
    table = arm.design(q=AT, shaper="2hump_ei")["impulses"]
    assert len(table) == 4 and table[:, 1].sum() == pytest.approx(1)


def test_the_line_of_a_shaper_has_the_digits_that_are_known():
    beam = "{length: 1, mass: 1, EI: {z: 50}, modes: {v: 1}, damping: {ratio: 0.01}}"
    joint = "joint: {type: revolute, name: q}"
    text = f"kronbot: 1\nname: a\ngravity: [0, 0, 0]\nlinks:\n  - {{name: b, {joint}, pose: {{}}, flexible: {beam}}}\n"
    line = kronbot.loads(text).design(q={"q": 1}, shaper="zv").summary["shaper"]
    assert line.endswith(", damping: 0.01}") and len(line) < 60


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "one of lqr, poles or shaper is wanted"),
        ({"lqr": True, "shaper": "zv"}, "not lqr and shaper"),
        ({"lqr": True, "weights": {"q9": 1}}, "weights: no 'q9'"),
        ({"lqr": True, "effort": {"q1": 0}}, "must be positive"),
        ({"poles": "a"}, "a pole like -4 or"),
        ({"lqr": True, "noise": {}}, "wants sensors"),
        ({"lqr": True, "lock": "all"}, "all joints are locked"),
        ({"lqr": True, "deviation": {"x": 1}}, "deviation: no 'x'"),
    ],
)
def test_wrong_wishes(arm, given, said):
    with pytest.raises(UsageError, match=said):
        arm.design(**given)


@pytest.mark.slow
def test_gains_of_rows_are_those_of_every_posture(arm, tmp_path, unpaid):
    """A schedule: stacks of gains and margins by posture, also of a file of rows; a row that fails ends it."""
    angles = [-0.4, 0.6]
    given = {"lqr": True, "weights": {"q1": 3.0, "q2": 1.0}}
    found = arm.design(q={"q1": 0.4, "q2": angles}, **given)
    assert found["K"].shape[0] == 2 and "cost_simulated" not in found.summary and found.summary["cases"] == 2
    for i, angle in enumerate(angles):
        one = arm.design(q={"q1": 0.4, "q2": angle}, **given)
        for name in ("K", "gains", "poles", "P"):
            assert found[name][i] == pytest.approx(one[name], rel=1e-9, abs=1e-9 * np.abs(one[name]).max()), name
        words = found.arrays["margins"].rows
        assert found["margins"][i] == pytest.approx([one.summary[word] for word in words])
        assert found["q"][i] == pytest.approx([*one.at["q"].values()])
    assert np.ptp(found["K"], axis=0).max() > 1e-3 * np.abs(found["K"]).max()
    (tmp_path / "arm.yaml").write_text(ARM)
    (tmp_path / "rows.csv").write_text("q1,q2\n" + "".join(f"0.4,{angle}\n" for angle in angles))
    asked = ["design", str(tmp_path / "arm.yaml"), "--lqr", "--weights", "q1=3,q2=1"]
    assert command_line([*asked, "--q", f"@{tmp_path / 'rows.csv'}", "-o", str(tmp_path / "schedule.npz"), "-q"]) == 0
    with np.load(tmp_path / "schedule.npz") as schedule:
        assert schedule["gains"] == pytest.approx(found["gains"], rel=1e-12)
    shapers = arm.design(q={"q2": angles}, shaper="zv")
    assert shapers["impulses"].shape == (2, 2, 2) and "margins" not in shapers.arrays


def interrupting(monkeypatch, module):
    """What begins to simulate is interrupted."""

    def simulate(*given):
        raise Interrupted("interrupted at t = 0.1 s of 2 s")

    monkeypatch.setattr(module, "simulate", simulate)


def test_who_interrupts_the_simulation_of_the_cost_has_the_gains(arm, best, monkeypatch, tmp_path, capsys):
    """In the library, and on the command line; nothing is said of the robot."""
    interrupting(monkeypatch, design)
    with pytest.raises(
        Interrupted, match="0.1 s of 2 s, in the simulation of the cost; the gains are there"
    ) as stopped:
        arm.design(q=AT, lqr=True, weights=WEIGHTS, effort=EFFORT)
    found = stopped.value.partial
    assert found.summary["complete"] is False and "cost_simulated" not in found.summary and not found.warnings
    assert (found["K"] == best["K"]).all() and found.summary["cost_predicted"] == best.summary["cost_predicted"]
    file = tmp_path / "gains.json"
    assert command_line(["design", "khang", "--lqr", "-o", str(file)]) == Interrupted.exit_code
    said = capsys.readouterr().err
    assert "in the simulation of the cost" in said and "come back" not in said
    assert json.loads(file.read_text())["summary"]["complete"] is False


SLOSH = """
kronbot: 1
name: slosh
gravity: [0, -9.81, 0]
links:
  - {name: cart, joint: {type: prismatic, name: x}, pose: {rpy: [0, pi/2, 0]}, rigid: {mass: 10}}
  - {name: back, joint: {type: fixed}, pose: {rpy: [0, -pi/2, 0]}}
  - {name: bob, joint: {type: revolute, name: th}, pose: {}, rigid: {mass: 2, com: [0, -0.8, 0]}}
simulate: {drive: {x: {torque: 0}}}
"""


def test_motors_that_the_file_does_not_have_are_told():
    """As of a plan: a pendulum in a cart that alone is driven. A large effort leaves it alone, a lock too."""
    robot = kronbot.loads(SLOSH)
    whole = robot.design(lqr=True)
    assert "th has no drive in the file, where others have one: gains are for a motor there, too" in whole.warnings[0]
    left = robot.design(lqr=True, effort={"th": 1e9})
    for quiet in (left, robot.design(lqr=True, lock="th")):
        assert not any("no drive" in told for told in quiet.warnings)
    assert np.abs(left["K"][1]).max() < 1e-6 * np.abs(left["K"][0]).max() < np.abs(whole["K"][1]).max()
    # Away from where it hangs a motor that is not there would have to hold it.
    (told,) = robot.design(lqr=True, effort={"th": 1e9}, q={"th": 0.1}).warnings
    assert told.startswith(
        f"th has no drive in the file, but is held here with {2 * 9.81 * 0.8 * np.sin(0.1):.4g} N m: "
    )


CRANE = """
kronbot: 1
name: crane
gravity: [0, -9.81, 0]
links:
  - {name: trolley, joint: {type: prismatic, name: x}, pose: {rpy: [0, pi/2, 0]}, rigid: {mass: 800}}
  - {name: back, joint: {type: fixed}, pose: {rpy: [0, -pi/2, 0]}}
  - {name: bob, joint: {type: revolute, name: swing}, pose: {}, rigid: {mass: 2000, com: [0, -4, 0], inertia: {Izz: 9}}}
"""
ON_RAILS = """
simulate: {duration: 10, step: 0.02, drive: {x: {motion: {type: trapezoid, from: 0, to: 5, duration: 5SHAPER}}}}
"""
# A physical pendulum, m g l and J of the load about its joint.
WEIGHT, ABOUT_JOINT = 2000 * 9.81 * 4, 9 + 2000 * 4**2


def residual(shaper=""):
    """The most (rad) that the load of the crane swings behind its motion."""
    series = kronbot.loads(CRANE + ON_RAILS.replace("SHAPER", shaper)).simulate().series
    return np.abs(series["swing"][series["t"] > 7.5]).max()


def test_a_shaper_is_for_the_swing_of_a_joint_without_a_motor():
    """By the frequency of a pendulum, wherever it is asked from."""
    crane = kronbot.loads(CRANE + ON_RAILS.replace("SHAPER", ""))
    found = crane.design(shaper="zv")
    assert found.summary["frequency"] == pytest.approx(np.sqrt(WEIGHT / ABOUT_JOINT), rel=1e-12)
    assert found.summary["model"] == "x locked, swing free" and not found.warnings
    away = crane.design(shaper="zv", q={"swing": 0.3, "x": 2})
    assert away.summary["frequency"] == pytest.approx(found.summary["frequency"], rel=1e-12)
    assert away.at["q"] == pytest.approx({"swing": 0, "x": 2}, abs=1e-9)
    assert away.warnings[0].endswith("the shaper is for its equilibrium, swing = 0 rad, not 0.3")
    rows = crane.design(shaper="zv", q={"swing": [0.3, -0.2]})
    assert rows["impulses"] == pytest.approx(np.stack([found["impulses"]] * 2)) and rows["q"] == pytest.approx(0)


@pytest.mark.slow
def test_that_shaper_leaves_little_swing_behind_a_motion():
    """Swings here are small: what is nonlinear in them is, too."""
    told = kronbot.loads(CRANE + ON_RAILS.replace("SHAPER", "")).design(shaper="zv").summary["shaper"]
    assert residual(f", shaper: {told}") < 1e-3 * residual()


def test_a_shaper_has_the_locked_joints_that_are_asked_for():
    """Where the file drives none, or all along a motion; else all are locked, and that is told where nothing swings."""
    still = kronbot.loads(CRANE)
    assert still.design(shaper="zv", lock="x").summary["frequency"] == pytest.approx(np.sqrt(WEIGHT / ABOUT_JOINT))
    crane = kronbot.loads(CRANE + ON_RAILS.replace("SHAPER", ""))
    for robot, lock in ((still, ()), (crane, "all")):
        with pytest.raises(ComputationError, match="nothing swings with x, swing locked.*name the others: lock"):
            robot.design(shaper="zv", lock=lock)
    with pytest.raises(ComputationError, match="nothing swings with x locked, deviations grow"):
        crane.design(shaper="zv", q={"swing": np.pi})


def test_a_shaper_of_a_loop_leaves_no_joint_free_that_follows_a_motion():
    """A pendulum with the stiffness of its controller; on a trolley that rolls freely it would swing faster."""
    control = "control: {swing: {pid: {kp: 1000}, gravity: none}}"
    found = kronbot.loads(CRANE + ON_RAILS.replace("SHAPER", "") + control).design(shaper="zv").summary
    assert found["frequency"] == pytest.approx(np.sqrt((WEIGHT + 1000) / ABOUT_JOINT), rel=1e-12)
    assert found["model"] == "closed loop, x locked"
    # A loop of the trolley: the load is passive, and hangs.
    robot = kronbot.loads(CRANE + "control: {x: {pid: {kp: 1e9, kd: 1e7}}}")
    found = robot.design(shaper="zv", q={"swing": 0.5})
    assert found.summary["frequency"] == pytest.approx(np.sqrt(WEIGHT / ABOUT_JOINT), rel=1e-3)
    assert found.at["q"]["swing"] == pytest.approx(0, abs=1e-9)
    # Upside down the trolley swings in its loop, and the load falls.
    robot = kronbot.loads(CRANE + "control: {x: {pid: {kp: 1e9, kd: 1e4}}}")
    assert robot.design(shaper="zv", q={"swing": np.pi}).warnings[0].startswith("deviations grow about the equilibrium")


@pytest.mark.slow
def test_costs_with_locked_joints_are_those_of_what_is_left():
    """Of two links that are one pendulum, by SciPy's Riccati equation and by integrating the pendulum itself."""
    link = "joint: {type: revolute, name: NAME}, rigid: {mass: 1, com: [0.5, 0, 0], inertia: {Izz: 0.1}}}"
    links = f"  - {{name: a, pose: {{}}, {link}\n  - {{name: b, pose: {{xyz: [1, 0, 0]}}, {link}\n"
    links = links.replace("NAME", "q1", 1).replace("NAME", "q2", 1)
    robot = kronbot.loads(f"kronbot: 1\nname: two\ngravity: [0, -9.81, 0]\nlinks:\n{links}")
    bent, start = 0.7, 0.05
    tip = np.exp(1j * np.array([0, bent]))
    arms = np.array([0.5 * tip[0], tip[0] + 0.5 * tip[1]])  # of the centres of mass at q1 = 0
    J, pull = 0.2 + (np.abs(arms) ** 2).sum(), 9.81 * arms.sum()
    at = -np.pi / 2 - np.angle(pull) + 0.2

    def weight(q):
        return (pull * np.exp(1j * q)).real

    A, B = np.array([[0, 1], [(pull * np.exp(1j * at)).imag / J, 0]]), np.array([[0], [1 / J]])
    P = solve_continuous_are(A, B, np.diag([3.0, 0]), np.array([[0.5]]))
    K = (B.T @ P / 0.5)[0]
    given = {"q": {"q1": at, "q2": bent}, "lqr": True, "weights": {"q1": 3}, "effort": {"q1": 0.5}, "lock": "q2"}
    found = robot.design(**given, deviation={"q1": start})
    assert found.summary["cost_predicted"] == pytest.approx(P[0, 0] * start**2, rel=1e-9)

    def rates(t, x):
        e = np.array([x[0] - at, x[1]])
        return [x[1], (weight(at) - K @ e - weight(x[0])) / J, 3 * e[0] ** 2 + 0.5 * (K @ e) ** 2]

    end = design.LONG / np.abs(np.linalg.eigvals(A - B * K).real).min()
    paid = solve_ivp(rates, (0, end), [at + start, 0, 0], rtol=1e-10, atol=1e-12).y[2, -1]
    assert found.summary["cost_simulated"] == pytest.approx(paid, rel=1e-4)
    assert paid != pytest.approx(found.summary["cost_predicted"], rel=1e-3)
    assert robot.design(**given).summary["cost_predicted"] == pytest.approx(P[0, 0] * 1e-4, rel=1e-9)
    for word in ("deviation", "weights", "effort"):
        with pytest.raises(UsageError, match=f"{word}: no 'q2' here"):
            robot.design(**given | {word: {"q2": 0.02}})


STAGE = """
kronbot: 1
name: stage
gravity: [0, 0, 0]
links:
  - name: stage
    joint: {type: prismatic, name: x, damping: 1.5, spring: {stiffness: 4000}, limits: [-0.005, 0.005]STOPS}
    pose: {}
    rigid: {mass: 0.35}
"""


@pytest.mark.parametrize("stops", ["", ", stops: {stiffness: 1e6, damping: 100}"])
def test_costs_are_told_within_limits_and_where_a_deviation_is_beyond_them_that_is_told(stops):
    """By default a tenth of a range that is small: nothing is beyond, and a linear robot pays what is predicted."""
    stage, asked = kronbot.loads(STAGE.replace("STOPS", stops)), {"lqr": True, "weights": {"x": 1e6, "x_dot": 10}}
    found = stage.design(**asked)
    assert found.summary["cost_simulated"] == pytest.approx(found.summary["cost_predicted"], rel=1e-4)
    assert not found.warnings
    given = stage.design(**asked, deviation={"x": 1e-3})
    assert given.summary["cost_predicted"] == found.summary["cost_predicted"]
    at = "at the start " if stops else ""
    beyond = f"with the deviation, {at}x is beyond its limit of 0.005 m by 0.005 m"
    assert beyond in stage.design(**asked, deviation={"x": 0.01}).warnings
