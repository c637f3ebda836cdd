"""Tips that follow paths, against the exact two-sided inverse of a one-link arm, and what a path cannot be."""

import json
import signal

import casadi
import numpy as np
import pytest
from robots_in_tests import BOOM, model
from scipy import signal as signals
from scipy.linalg import null_space

import kronbot
from kronbot.cli.main import run
from kronbot.errors import ComputationError, Interrupted, UsageError
from kronbot.library.robot import Robot
from kronbot.mechanics.control import inversion
from kronbot.mechanics.control.repeated import Repeated
from kronbot.mechanics.motion.integration import Tolerances
from kronbot.questions import following, judgement
from kronbot.questions.plan import outline

pytestmark = pytest.mark.usefixtures("interpreted", "unmeasured")

TWO = """
kronbot: 1
name: two
gravity: [0, -9.81, 0]
links:
  - name: boom
    joint: {type: revolute, name: q1}
    pose: {}
    flexible: {mass: 2, length: 1.2, EI: {z: 200}, modes: {v: 1}, shape: craig-bampton, damping: {ratio: 0.02}}
  - name: fore
    joint: {type: revolute, name: q2}
    pose: {}
    flexible: {mass: 1, length: 1, EI: {z: 100}, modes: {v: 1}, shape: craig-bampton, damping: {ratio: 0.02}}
    payload: {mass: 1}
"""


def smooth(s):
    """From 0 to 1 with five derivatives zero at both ends."""
    s = np.clip(s, 0, 1)
    return s**6 * (462 - 1980 * s + 3465 * s**2 - 3080 * s**3 + 1386 * s**4 - 252 * s**5)


def exact(robot, y, times):
    """Coordinates (N, n) of a linear arm whose tip has y at evenly spaced times: each mode of what is left of it from
    the side on which it stays bounded, by the integral of broken lines."""
    linear = robot.linearize(outputs="endpoint", inputs="torques")
    M, D, K = linear["M_L"], linear["D_L"], linear["K_L"]
    n, C = len(M), linear["C"][1:2, : len(M)]
    still, moved = null_space(C), np.linalg.pinv(C)
    (M, my), (D, dy), (K, ky) = (((A @ still)[1:], (A @ moved)[1:]) for A in (M, D, K))
    m = n - 1
    whole = np.block([[np.zeros((m, m)), np.eye(m)], [-np.linalg.solve(M, K), -np.linalg.solve(M, D)]])
    values, vectors = np.linalg.eig(whole)
    h = times[1] - times[0]
    rate = np.gradient(y, h)
    pushed = -np.linalg.solve(M, my @ np.gradient(rate, h)[None] + dy @ rate[None] + ky @ y[None])
    pushed = np.linalg.inv(vectors) @ np.vstack([0 * pushed, pushed])
    found = np.zeros(pushed.shape, dtype=complex)
    for value, g, x in zip(values, pushed, found, strict=True):
        order = slice(None) if value.real < 0 else slice(None, None, -1)
        s, (g, x) = value * h * np.sign(-value.real), (g[order], x[order])
        s, sign = -abs(s.real) + 1j * s.imag, -np.sign(value.real)
        first, second = sign * h * np.expm1(s) / s, sign * h * (np.expm1(s) - s) / s**2
        x[0] = -g[0] / value
        for i in range(len(x) - 1):
            x[i + 1] = np.exp(s) * x[i] + first * g[i] + second * (g[i + 1] - g[i])
    return (moved @ y[None] + still @ (vectors @ found).real[:m]).T, values


@pytest.fixture
def coarse(monkeypatch):
    """Paths are followed to 1e-5: what judges that knows motions to less than by default."""
    monkeypatch.setattr(judgement, "FINE", Tolerances(1e-8, 1e-10))


@pytest.mark.slow
def test_a_tip_behind_a_beam_follows_its_path_as_the_exact_inverse():
    """Zeros in both half planes: before and after a path of 1 s the hub moves, as the two-sided inverse says."""
    robot, t, way = Robot(model(BOOM)), np.linspace(0, 1, 201), 1e-3
    path = {"t": 5 + t, "endpoint.y": way * smooth(t)}
    found = robot.plan(follow=path)
    before, after = found.summary["pre_actuation"], found.summary["post_actuation"]
    times = np.linspace(-before, 1 + after, 40001)
    q, values = exact(robot, way * smooth(times), times)
    zeros = np.sort_complex(found["zeros"][:, 0])
    assert zeros == pytest.approx(np.sort_complex(values), rel=1e-9)
    assert (zeros.real > 0).sum() == (zeros.real < 0).sum() == 2
    assert np.exp(-before * zeros.real[zeros.real > 0].min()) < 1e-6 > np.exp(after * zeros.real[zeros.real < 0].max())
    for i, name in enumerate(robot.model.coordinates):
        wanted = np.interp(found["t"] - before, times, q[:, i])
        assert np.abs(found[name] - wanted).max() < 3e-6 * np.abs(wanted).max()
    early = found["t"] < before
    assert np.abs(found["q1"][early]).max() > 1e-3 * way and np.abs(found["endpoint.y"][early]).max() < 1e-5 * way
    assert found["endpoint.y"] == pytest.approx(way * smooth(found["t"] - before), abs=1e-5 * way)
    held = outline(robot.model, {"follow": [path]})
    assert set(found.summary) | set(found.series) | set(found.arrays) <= set(held.all)


@pytest.mark.slow
def test_a_tip_of_two_beams_follows_a_line_in_its_weight(tmp_path):
    """Half a metre along a line: the file of the plan, by another integrator, keeps the tip on it."""
    t, robot = np.linspace(0, 1.5, 151), Robot(model(TWO))
    posture = {"q1": 0.5, "q2": -1.0}
    place = robot.kinematics(q=robot.linearize(equilibrium=True, q=posture).at["q"])["pose"][0, :2]
    s = smooth(t / 1.5)
    path = {"t": t, "endpoint.x": place[0] - 0.4 * s, "endpoint.y": place[1] + 0.3 * s}
    found = robot.plan(q=posture, follow=path)
    assert found["q1"][0] == pytest.approx(0.5, abs=1e-5) and found.summary["path_error"] < 4e-6
    columns = found.series
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    text = "\n".join([",".join(columns), *(",".join(map(repr, row)) for row in rows)]) + "\n"
    (tmp_path / "plan.csv").write_text(text)
    drive = ", ".join(f"{joint}: {{motion: {{type: table, file: plan.csv, held: true}}}}" for joint in posture)
    (tmp_path / "two.yaml").write_text(f"{TWO}simulate: {{start: equilibrium, drive: {{{drive}}}}}\n")
    end = found.summary["duration"]
    again = kronbot.load(tmp_path / "two.yaml").simulate(end, end / 300, solver="rodas", rtol=1e-9, atol=1e-11)
    s = smooth((again["t"] - found.summary["pre_actuation"]) / 1.5)
    assert np.abs(again["endpoint.x"] - place[0] + 0.4 * s).max() < 1e-5
    assert np.abs(again["endpoint.y"] - place[1] - 0.3 * s).max() < 1e-5


def test_a_rigid_arm_follows_without_anything_before_or_after():
    robot, t = Robot(model(BOOM, "0")), np.linspace(0, 1, 101)
    found = robot.plan(follow={"t": t, "q1": 0.5 * smooth(t)})
    assert found.summary["pre_actuation"] == found.summary["post_actuation"] == 0 and not found.arrays
    assert found["q1"] == pytest.approx(0.5 * smooth(found["t"]), abs=1e-5)


@pytest.mark.slow
def test_constant_forces_act_on_a_beam_that_follows(coarse):
    """A force on its tip is carried by its torque throughout; at both ends it rests."""
    t = np.linspace(0, 1, 101)
    path = {"t": t, "endpoint.y": 0.1 * smooth(t)}
    free, pushed = (
        kronbot.loads(text).plan(follow=path)
        for text in (BOOM, BOOM + "simulate: {forces: [{frame: endpoint, force: [0, 2, 0]}]}\n")
    )
    assert pushed.summary["path_error"] < 1e-5 and not pushed.warnings
    for word in ("start", "goal"):
        assert pushed.at[word]["boom.v1"] - free.at[word]["boom.v1"] > 1e-3
    assert pushed["torque.q1"][0] - free["torque.q1"][0] == pytest.approx(-2, rel=0.05)


@pytest.mark.slow
def test_a_path_is_a_file_of_the_command_line(tmp_path, capsys, coarse):
    """Its columns by their header; the answer is a table that drives read, and the zeros an array of it."""
    (tmp_path / "one.yaml").write_text(BOOM)
    t = np.linspace(0, 1, 101)
    rows = zip(t.tolist(), (0.1 * smooth(t)).tolist(), strict=True)
    (tmp_path / "tip.csv").write_text("t,endpoint.y\n" + "".join(f"{a!r},{b!r}\n" for a, b in rows))
    asked = ["plan", str(tmp_path / "one.yaml"), "--follow", str(tmp_path / "tip.csv")]
    assert run([*asked, "-o", str(tmp_path / "plan.csv"), "--quiet"]) == 0
    header, *lines = (tmp_path / "plan.csv").read_text().splitlines()
    assert header.startswith("t,q1,boom.v1,boom.v2,q1_dot") and header.endswith("torque.q1,endpoint.y")
    assert len(lines) > 1000
    assert run([*asked, "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["arrays"]["zeros"]["columns"] == ["start", "goal"] and told["summary"]["pre_actuation"] > 0.1
    assert run([*asked, "--to", "q1=1"]) == 2 and "leave out --to" in capsys.readouterr().err
    (tmp_path / "tip.csv").write_text("t,endpoint.y\n0,1\n1,x\n")
    assert run(asked) == 2 and "tip.csv:3:3" in capsys.readouterr().err


@pytest.mark.slow
def test_paths_that_cannot_be_followed_are_refused(coarse):
    robot, t = Robot(model(BOOM)), np.linspace(0, 1, 101)
    good = {"t": t, "endpoint.y": 0.1 * smooth(t)}
    for given, said in (
        ({}, "a goal is wanted, to, or a path, follow"),
        ({"follow": good, "to": {"q1": 1}}, "leave out to"),
        ({"follow": good, "duration": 1}, "leave out duration"),
        ({"follow": {"endpoint.y": t}}, "wants a column t"),
        ({"follow": {"t": t, "endpoint.y": 0 * t}}, "goes somewhere"),
        ({"follow": {"t": t[::-1], "endpoint.y": t}}, "ascend"),
        ({"follow": {"t": t[:3], "endpoint.y": t[:3]}}, "six rows"),
        ({"follow": {**good, "endpoint.x": t}}, "1 joint follows as many columns, not 2: endpoint.., endpoint..; "),
        ({"follow": {"t": t, "endpoint": t}}, "no column 'endpoint'"),
        ({"follow": {**good, "extra": t}}, "no column 'extra'"),
        ({"follow": 3}, "follow: a path or a name"),
        ({"follow": {**good, "t": 1e-200 * t}}, "accelerations are numbers"),
        ({"follow": {**good, "t": 1e200 * t}}, "accelerations are numbers"),
    ):
        with pytest.raises(UsageError, match=said):
            robot.plan(**given)
    with pytest.raises(ComputationError, match="does not reach the path"):
        robot.plan(follow={"t": t, "endpoint.y": 2 * smooth(t)})
    slight, short = Robot(model(BOOM.replace("ratio: 0.02", "ratio: 2e-3"))), {"t": 0.1 * t, "q1": 1e-3 * smooth(t)}
    with pytest.raises(ComputationError, match="e.03 s after it; fewer are wanted with more damping or a slower path"):
        slight.plan(follow=short)
    undamped = Robot(model(BOOM.replace(", damping: {ratio: 0.02}", "")))
    with pytest.raises(ComputationError, match="would swing on with"):
        undamped.plan(follow={"t": t, "q1": smooth(t)})
    shaft = "{type: revolute, name: q1, rotor_inertia: 0.1, elastic: {stiffness: 100, damping: 1}}"
    text = BOOM.replace("{type: revolute, name: q1, damping: 0.3}", shaft)
    behind = Robot(model(text.replace(text[text.index("flexible:") : text.index("payload:")], "")))
    with pytest.raises(ComputationError, match=r"motors reach them .* shafts of q1 alone; .* \(q1.motor\) are wanted"):
        behind.plan(follow={"t": t, "q1": 0.01 * smooth(t)})
    still = behind.plan(follow={"t": t, "q1.motor": 0.01 * smooth(t)})
    assert still.summary["complete"] and still.summary["pre_actuation"] == 0


def test_torques_that_do_not_accelerate_outputs_are_known_by_a_determinant():
    """That of D = Y M^-1 E is that of [M_free; Y] over that of M; a direction that is lost turns its sign."""
    rng, free, driven = np.random.default_rng(2), [0, 3], [1, 2]
    for _ in range(20):
        root, Y = rng.normal(size=(4, 4)), rng.normal(size=(2, 4))
        M = root @ root.T
        whole = np.vstack([M[free], Y])[:, [*free, *driven]]
        sign, condition = inversion.answers(M, Y, free)
        assert sign == np.sign(np.linalg.det(whole))
        units = np.array([[1e9], [1e-3]])
        assert inversion.answers(M, units * Y, free) == pytest.approx((sign, condition))
    assert inversion.answers(M, np.vstack([Y[0], Y[0] + 1e-9 * rng.normal(size=4)]), free)[1] > 1e8


def test_vibrations_that_intervals_do_not_resolve_decay_in_the_motion_too():
    """Masses behind a motor, of 130 and 570 to 630 rad/s on intervals of 20 ms: as the first answers it, and still
    after 18 s, the motor where the path ends, whose knots are not those of the intervals."""
    s, q = casadi.SX.sym("s", 9), casadi.SX.sym("q", 3)
    x, v, a = casadi.vertsplit(s, 3)
    d, k = np.array([2.0, 40.0]), np.array([130.0, 570.0]) ** 2
    forces = a[1:] + d * (v[1:] - v[0]) + k * (1 + np.array([0, 2.2]) * x[0]) * (x[1:] - x[0])
    equations = Repeated(casadi.Function("f", [s], [casadi.vertcat(a[0], forces, a[0])]))
    outputs, h, N = Repeated(casadi.Function("y", [q], [q[0]])), 0.02, 1000
    t = np.linspace(0, 2, 28)
    path = following.Path(["m"], t, 0.1 * smooth(t / 2)[:, None])
    nodes = h * np.arange(N + 1)
    wanted = inversion.leading(path.at(nodes), path.at(nodes, 1), path.at(nodes[:-1, None] + h * inversion.TIMES, 2), h)
    found = inversion.inverse(equations, outputs, [1, 2], np.tile(path.at(nodes), 3), wanted, h, lambda: None)
    assert found.iterations <= 4
    assert found.q[:, 0] == pytest.approx(path.at(nodes)[:, 0], abs=1e-13)
    fine = np.linspace(0, nodes[-1], 100 * N + 1)
    right = signals.lsim(signals.lti([d[0], k[0]], [1, d[0], k[0]]), path.at(fine)[:, 0], fine)[1]
    assert found.q[:, 1] == pytest.approx(right[::100], abs=1e-7)
    assert found.q[nodes > 3, 2] == pytest.approx(0.1, abs=1e-12)


# De Luca and Siciliano 1991.
PUBLISHED = """
kronbot: 1
name: two links
convention: standard
gravity: [0, 0, -9.81]
links:
  - name: one
    joint: {type: revolute, name: q1}
    hub: {inertia: {Izz: 0.1}}
    dh: {a: 0.5, d: 0, alpha: 0, theta: 0}
    flexible: {mass: 0.5, EI: {z: 10}, modes: {v: 2}, shape: clamped-mass, damping: {ratio: 0.01},
               tip: {mass: 1.6, inertia: 0.1672}}
  - name: two
    joint: {type: revolute, name: q2}
    hub: {mass: 1, inertia: {Izz: 0.1}}
    dh: {a: 0.5, d: 0, alpha: 0, theta: 0}
    flexible: {mass: 0.5, EI: {z: 10}, modes: {v: 2}, shape: clamped-mass, damping: {ratio: 0.01}}
    payload: {mass: 0.1, inertia: {Izz: 0.0005}}
"""


@pytest.mark.slow
def test_where_torques_cannot_move_the_tip_is_told(monkeypatch, coarse):
    """Where a deflection turns the sign of the determinant they ring, or no motion is found; a mode less is smooth."""
    monkeypatch.setattr(inversion, "ITERATIONS", 12)  # what is not found soon is not found
    s, said = np.linspace(0, 1, 61), "torques do not accelerate endpoint.x, endpoint.y in some direction: they ring"
    first = 0.5 * np.array([np.cos(0.3) + np.cos(1.2), np.sin(0.3) + np.sin(1.2)])
    arms = {modes: kronbot.loads(PUBLISHED.replace("v: 2", f"v: {modes}")) for modes in (1, 2)}

    def plan(modes, duration, share):
        place = first + share * smooth(s)[:, None] * [-0.25, 0.1]
        follow = {"t": duration * s, "endpoint.x": place[:, 0], "endpoint.y": place[:, 1]}
        return arms[modes].plan(follow=follow, q={"q1": 0.3, "q2": 0.9})

    assert said in " ".join(plan(2, 1, 1).warnings)
    with pytest.raises(ComputationError, match=f"no motion is found that follows the path.*{said}"):
        plan(2, 0.5, 0.1)
    few = plan(1, 0.5, 0.1)
    assert few.summary["complete"] and not any("accelerate" in each for each in few.warnings)


@pytest.mark.slow
def test_limits_that_a_path_exceeds_are_told(coarse):
    """Of torques, of coordinates and of outputs; those that it keeps are not."""
    robot, t = Robot(model(BOOM)), np.linspace(0, 1, 101)
    path = {"t": t, "endpoint.y": 1e-3 * smooth(t)}
    kept = {"q1": [-1, 1], "acceleration.q1": 1e3}
    free = robot.plan(follow=path, limits=kept)
    assert not [each for each in free.warnings if "limits" in each]
    peak = np.abs(free["torque.q1"]).max()
    found = robot.plan(follow=path, effort_limits={"q1": 0.8 * peak}, limits={**kept, "q1_dot": 1e-6})
    told = [each for each in found.warnings if "limits" in each]
    assert len(told) == 2 and told[0].startswith("torque.q1 goes beyond") and "by 0.25 of them" in told[0]
    assert told[1].startswith("q1_dot goes beyond its limits -1e-06 and 1e-06")
    assert found["acceleration.q1"] == pytest.approx(np.gradient(found["q1_dot"], found["t"]), abs=0.05)
    with pytest.raises(UsageError, match="no column 'q9'"):
        robot.plan(follow=path, limits={"q9": 1})


@pytest.mark.slow
@pytest.mark.parametrize("how", ["missed", "interrupted"])
def test_a_path_that_is_left_or_interrupted_has_the_best_so_far(how, monkeypatch):
    """That of the last mesh, by its run; nothing where no mesh is done."""
    robot, t = Robot(model(BOOM)), np.linspace(0, 1, 101)
    monkeypatch.setattr(following, "ARRIVED", 0.0)
    monkeypatch.setattr(following, "MESHES", 2)
    simulated, runs = judgement.following, []

    def counted(*given):
        runs.append(given)
        if how == "interrupted" and len(runs) == 2:
            signal.raise_signal(signal.SIGINT)
        return simulated(*given)

    monkeypatch.setattr(judgement, "following", counted)
    with pytest.raises(Interrupted if how == "interrupted" else ComputationError, match="best so far is told") as error:
        robot.plan(follow={"t": t, "endpoint.y": 1e-3 * smooth(t)})
    found = error.value.partial
    assert found.summary["complete"] is False and 0 < found.summary["path_error"] < 1e-8
    assert len(runs) == 2
    told = runs[0] if how == "interrupted" else runs[1]
    assert found["t"] == pytest.approx(told[1], abs=1e-9)
