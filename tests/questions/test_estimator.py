"""A feedback of what a Kalman filter thinks: poles of both parts, decays, recursions of instants with equal noise."""

import casadi
import numpy as np
import pytest
from casadi import SX
from robots_in_tests import boom_and_arm
from scipy.linalg import expm, solve_continuous_are
from thinned import rare

import kronbot
from kronbot.cli.main import run as command_line
from kronbot.errors import DescriptionError
from kronbot.mechanics.control.randomness import normal, seeded
from kronbot.questions import design

pytestmark = pytest.mark.usefixtures("unmeasured")

ARM = boom_and_arm()
FEEDBACK = "K: gains.csv, estimator: kalman.csv"
AT = {"q1": 0.4, "q2": -0.3}
BLOCK = """
kronbot: 1
name: block
gravity: [0, 0, 0]
parameters: {T: 0.05, n: 0.02, seed: 3}
links:
  - {name: block, joint: {type: prismatic, name: q1}, pose: {}, rigid: {mass: 2}}
control: {sample_time: T, state_feedback: {K: gains.csv, estimator: kalman.csv, noise: {q1: n}, seed: seed}}
"""
GAINS = ",torque,q1,q1_dot\nat,0,0.5,0\ntorque.q1,0.3,8,1.6\n"
KALMAN = ",at,seen.q1,torque.q1,q1,q1_dot\nq1,0.5,3,0,0,1\nq1_dot,0,7,0.5,0,0\n"


def numbers(seed, count):
    """L'Ecuyer's generator in whole numbers, its first four left out."""
    a, b, found = 1 + seed % 2147483562, 1 + (seed + 1) % 2147483398, []
    for _ in range(4 + count):
        a, b = 40014 * a % 2147483563, 40692 * b % 2147483399
        found.append((a - b + (2147483562 if a - b < 1 else 0)) / 2147483563)
    return np.array(found[4:])


def pairs(seed, count):
    """Normal numbers of them."""
    u = numbers(seed, 2 * count).reshape(-1, 2)
    size, turn = np.sqrt(-2 * np.log(u[:, 0])), 2 * np.pi * u[:, 1]
    return np.column_stack([size * np.cos(turn), size * np.sin(turn)])


@pytest.mark.parametrize("seed", [0, 12, 4_000_000_000])
def test_noise_is_that_of_a_recursion_of_whole_numbers(seed):
    from scipy.stats import kstest

    state = SX.sym("state", 2)
    step = casadi.Function("step", [state], [*normal(state, 3)])
    at, found = casadi.evalf(seeded(SX(seed))), []
    for _ in range(500):
        values, at = step(at)
        found.append(np.array(values)[:, 0])
    wanted = pairs(seed, 1000).reshape(500, 4)[:, :3]
    assert np.array(found) == pytest.approx(wanted, rel=1e-13, abs=1e-13)
    many = pairs(seed, 20_000)
    assert kstest(many.ravel(), "norm").pvalue > 1e-3 and abs(np.corrcoef(many.T)[0, 1]) < 0.02
    assert abs(np.corrcoef(many[:-1, 0], many[1:, 0])[0, 1]) < 0.02
    assert abs(np.corrcoef(many[:, 0], pairs(seed + 1, 20_000)[:, 0])[0, 1]) < 0.02


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """An arm, its gains and its filter as the command writes them."""
    folder = tmp_path_factory.mktemp("loop")
    (folder / "bare.yaml").write_text(ARM)
    words = ["--lqr", "--weights", "q1=100,q2=50", "--effort", "q1=0.5,q2=0.5", "--q", "q1=0.4,q2=-0.3"]
    words += ["--noise", "q1=1e-3,q2=1e-3,torque.q1=0.1"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(design, "LONG", 1)  # nobody asks what they cost
        for file, array in (("gains.csv", "gains"), ("kalman.csv", "estimator")):
            asked = ["design", str(folder / "bare.yaml"), *words, "--array", array, "-o", str(folder / file)]
            assert command_line(asked) == 0
    return folder


def loop(folder, more=""):
    file = folder / "arm.yaml"
    file.write_text(f"{ARM}parameters: {{T: 0.05}}\ncontrol: {{state_feedback: {{{FEEDBACK}}}{more}}}\n")
    return kronbot.load(file)


@pytest.mark.slow
def test_poles_are_those_of_the_feedback_and_of_the_filter(folder, unpaid):
    """Separation; and a simulation of the arm near its rest decays as the matrix of the loop says."""
    best = kronbot.load(folder / "bare.yaml").design(
        q=AT,
        lqr=True,
        weights={"q1": 100, "q2": 50},
        effort={"q1": 0.5, "q2": 0.5},
        noise={"q1": 1e-3, "q2": 1e-3, "torque.q1": 0.1},
    )
    robot = loop(folder)
    found = robot.linearize(q=AT, equilibrium=True, closed_loop=True)
    states = list(found.arrays["A"].rows)
    assert states[6:] == [f"estimate.{name}" for name in states[:6]]
    wanted = np.concatenate([best["poles"], best["observer_poles"]])
    assert np.sort_complex(found["poles"]) == pytest.approx(np.sort_complex(wanted), rel=1e-5)
    rest = np.concatenate([[*best.at["q"].values()], np.zeros(3)])
    away = 1e-5 * np.array([1, 0.02, -2, 0, 0, 0])
    run = robot.simulate(
        duration=1, step=0.05, q=dict(zip(states, (rest + away).tolist()[:3], strict=False)), rtol=1e-11, atol=1e-14
    )
    began = np.concatenate([away, np.zeros(6)])
    wanted = np.array([expm(found["A"] * t) @ began for t in run["t"]])
    moved = np.column_stack([run[name] for name in states]) - np.tile(rest, 2)
    assert np.abs(moved - wanted).max(axis=0) == pytest.approx(0, abs=2e-3 * np.abs(wanted).max())
    assert np.abs(moved[-1, :3]).max() < 0.1 * np.abs(away).max()


@pytest.mark.slow
def test_what_samples_see_converges_to_what_is_seen_all_the_time(folder):
    """With the first order of the sample time."""
    start = {"q1": 0.41, "q2": -0.3}
    given = {"duration": 0.1, "step": 0.02, "q": start, "start": "equilibrium", "rtol": 1e-8, "atol": 1e-11}
    exact = loop(folder).simulate(**given, solver="rodas")
    sampled = loop(folder, ", sample_time: T")
    runs = [sampled.with_parameters(T=T).simulate(**given, solver="rodas") for T in (2e-4, 1e-4)]
    for name in ("q1", "estimate.q1"):
        first, second = ((run[name] - exact[name])[3:] for run in runs)
        assert first / second == pytest.approx([2, 2, 2], rel=0.1)


@pytest.mark.slow
def test_samples_that_make_a_loop_grow_are_told_with_their_factor(folder):
    """That of a simulation, in which a pair of poles has outgrown all others: y'' = a y' + b y, sample by sample."""
    T = 0.05
    robot, start = loop(folder, ", sample_time: T"), {"q1": AT["q1"] + 1e-7, "q2": AT["q2"]}
    told = " ".join(robot.linearize(q=AT, equilibrium=True, closed_loop=True).warnings)
    factor = float(told.partition("by a factor of ")[2].partition(" ")[0])
    run = robot.simulate(q=start, start="equilibrium", duration=20 * T, step=T, rtol=1e-11, atol=1e-15)
    y = run["q1"] - AT["q1"]
    _, b = np.linalg.solve([[y[-2], y[-3]], [y[-3], y[-4]]], y[-2:][::-1])
    assert np.sqrt(-b) == pytest.approx(factor, rel=2e-3)
    assert "sampled every 0.005 s they are half a sample late, and deviations do not grow" in " ".join(
        robot.with_parameters(T=0.005).linearize(q=AT, equilibrium=True, closed_loop=True).warnings
    )


def test_a_sampled_filter_with_noise_is_the_recursion_of_its_instants(tmp_path):
    """A mass, with the same numbers; other seeds give other noise, the same the same bytes."""
    (tmp_path / "block.yaml").write_text(BLOCK)
    (tmp_path / "gains.csv").write_text(GAINS)
    (tmp_path / "kalman.csv").write_text(KALMAN)
    robot, T, n = kronbot.load(tmp_path / "block.yaml"), 0.05, 0.02
    A, B, C, K, L = np.array([[0, 1.0], [0, 0]]), np.array([0, 0.5]), np.array([1.0, 0]), [8, 1.6], np.array([3.0, 7])
    F = A - np.outer(L, C)
    onward = expm(np.block([[F, np.eye(2)], [np.zeros((2, 4))]]) * T)
    plant = expm(np.block([[A, B[:, None]], [np.zeros((1, 3))]]) * T)
    x, e, rows = np.array([-0.3, 0.0]), np.zeros(2), []
    for noise in pairs(3, 40)[:, 0]:
        rows.append(np.concatenate([x, e]))
        u = -np.dot(K, e)
        e = onward[:2, :2] @ e + onward[:2, 2:] @ (B * u + L * (x[0] + n / np.sqrt(T) * noise))
        x = plant[:2, :2] @ x + plant[:2, 2] * (u + 0.3)
    rows = np.array(rows) + [0.5, 0, 0.5, 0]
    run = robot.simulate(duration=39 * T, step=T, q={"q1": 0.2}, solver="rodas", rtol=1e-10, atol=1e-12)
    assert np.column_stack([run["q1"], run["q1_dot"]]) == pytest.approx(rows[:, :2], abs=1e-8)
    assert run["estimate.q1"] == pytest.approx(rows[:, 2], abs=1e-8)
    assert run["q1"][:3] == pytest.approx(robot.simulate(duration=2 * T, step=T, q={"q1": 0.2})["q1"], abs=1e-8)
    other = robot.with_parameters(seed=4).simulate(duration=1, step=T, q={"q1": 0.2}, solver="rodas")
    assert np.abs(other["q1"] - run["q1"][:21]).max() > 1e-3
    still = robot.with_parameters(n=0).simulate(duration=1, step=T, q={"q1": 0.2}, solver="rodas")
    assert 1e-3 < np.abs(still["q1"] - run["q1"][:21]).max() < 0.2


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("kalman.csv", "seen.q1", "seen.q9", r"kalman.csv:1:\d+: 'q9' is none of the states: no sensor sees it"),
        ("kalman.csv", "q1,0.5", "q1,0.4", r"kalman.csv:1:\d+: the filter is about q1 = 0.4, the gains about 0.5"),
        ("kalman.csv", "torque.q1", "torque.q9", r"kalman.csv:1:\d+: the joints of the filter .*'q1'"),
        ("kalman.csv", "at,seen", "ta,seen", r"kalman.csv:1:1: a header"),
        ("kalman.csv", "q1_dot,0,7", "q1_dot,0,x", r"kalman.csv:3:10: a finite number is wanted here, not 'x'"),
        ("kalman.csv", "3,0,0,1\nq1_dot,0,7", "2,0,0,1\nq1_dot,0,1", r"poles of the filter are zero or meet"),
        ("kalman.csv", "q1_dot,0,7", "q1_dot,0,0", r"poles of the filter are zero or meet"),
        ("block.yaml", "noise: {q1: n}", "noise: {q2: n}", r"kalman.csv:1:1: no sensor 'q2'"),
        ("block.yaml", "{q1: n}", "{q1: -n}", "'q1' must be at least 0"),
        ("block.yaml", "sample_time: T, ", "", "'noise' wants 'sample_time' beside it"),
        ("block.yaml", "estimator: kalman.csv, ", "", "'noise' wants 'estimator' beside it"),
        ("block.yaml", "kalman.csv", "kalmann.csv", "did you mean 'kalman.csv'"),
    ],
)
def test_mistakes_of_filters_are_told_with_their_places(file, old, new, said, tmp_path):
    texts = {"block.yaml": BLOCK, "gains.csv": GAINS, "kalman.csv": KALMAN}
    assert old in texts[file]
    for name, text in texts.items():
        (tmp_path / name).write_text(text.replace(old, new) if name == file else text)
    with pytest.raises(DescriptionError, match=said):
        kronbot.load(tmp_path / "block.yaml").simulate(duration=0.1)


TURNED = """
kronbot: 1
name: turned
gravity: [0, 0, 0]
links:
  - {name: hub, joint: {type: revolute, name: q1, damping: 0.3}, pose: {}, rigid: {mass: 1, inertia: {Izz: 0.1}}}
  - name: arm
    joint: {type: fixed}
    pose: {rpy: [1.5707963267948966, 0, 0]}
    flexible: {length: 1, mass: 1, EI: {y: 13.7, z: 13.9}, modes: {v: 1, w: 1}, damping: {ratio: 0.003}}
"""


def test_what_no_noise_moves_has_no_gains():
    """In place of the dust that a sensor sees of it, whose cosine of a right angle is 6e-17."""
    found = kronbot.loads(TURNED).design(lqr=True, noise={"q1": 1e-4})
    L, names = found["L"], list(found.arrays["L"].rows)
    still = [names.index(name) for name in ("arm.v1", "arm.v1_dot")]
    assert not L[still].any() and np.count_nonzero(L) == len(L) - len(still)
    _, B, A = np.split(found["estimator"][:, 1:], [1, 2], axis=1)
    C = np.eye(len(A))[[names.index("q1")]]
    P = solve_continuous_are(A.T, C.T, B @ B.T, [[1e-8]])
    assert pytest.approx(P @ C.T / 1e-8, rel=1e-6, abs=1e-6) == L


WHIPPING = """
kronbot: 1
name: whipping
convention: standard
gravity: [0, 0, 0]
links:
  - name: a
    joint: {type: revolute, name: q1}
    dh: {a: 1, d: 0, alpha: 0, theta: 0}
    flexible: {mass: 1, EI: {y: 20, z: 20}, modes: {v: 1, w: 1}, shape: craig-bampton}
  - name: b
    joint: {type: revolute, name: q2}
    dh: {a: 0.8, d: 0, alpha: 0, theta: 0}
    flexible: {mass: 0.7, EI: {y: 11, z: 11}, modes: {v: 1, w: 1}, shape: craig-bampton}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "base",
    ["", rare("base: {type: floating, rigid: {mass: 5, inertia: {Ixx: 1, Iyy: 1.2, Izz: 1.4}}}\n")],
    ids=["fixed", "floating"],
)
def test_what_no_torque_reaches_is_left_alone_by_the_filter_too(base, unpaid):
    """Bending across the plane and momenta, undamped: the filter and its margin are those of an arm that does not bend
    so; its poles within what its gains of 1e7 make of a rounding.
    """
    asked = {"lqr": True, "q": {"q2": 0.5}, "noise": {"q1": 1e-4, "q2": 1e-3, "torque.q1": 0.3}}
    whole, planar = (
        kronbot.loads(text + base, order="1").design(**asked) for text in (WHIPPING, WHIPPING.replace(", w: 1", ""))
    )
    L, names = whole["L"], list(whole.arrays["L"].rows)
    across = [place for place, name in enumerate(names) if ".w" in name]
    assert (
        len(across) == 4
        and not L[across].any()
        and any("the filter leave them alone" in told for told in whole.warnings)
    )
    assert np.delete(L, across, axis=0) == pytest.approx(planar["L"], rel=1e-9, abs=1e-9 * np.abs(L).max())
    assert whole["observer_poles"] == pytest.approx(planar["observer_poles"], rel=1e-5)
    margins = [found.summary["filtered_disk_margin"] for found in (whole, planar)]
    assert margins[0] == pytest.approx(margins[1], rel=1e-7) and 0.5 < margins[0] < 2
