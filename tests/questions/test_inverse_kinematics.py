"""Joint values for poses: against closed forms, on random trees, at the ends of what an arm can reach."""

import itertools
import json

import numpy as np
import pytest
from hypothesis import strategies as st
from random_robots import coordinates, robots, to_yaml
from scipy.optimize import brentq
from thinned import drawn, rare

import kronbot
from kronbot.cli.main import run
from kronbot.errors import ComputationError, UnknownName, UsageError

PLANAR = """
kronbot: 1
name: planar
convention: standard
gravity: [0, 0, 0]
links:
  - {name: upper, joint: {type: revolute, name: q1}, dh: {a: 1, d: 0, alpha: 0, theta: 0}}
  - {name: fore, joint: {type: revolute, name: q2LIMITS}, dh: {a: 0.8, d: 0, alpha: 0, theta: 0}}
"""
HAND = "  - {name: hand, joint: {type: revolute, name: q3LAST}, dh: {a: 0.5, d: 0, alpha: 0, theta: 0}}\n"
# Of the Puma in rows of Corke and Armstrong-Helouvry.
A2, A3, D3, D4 = 0.4318, 0.0203, 0.15005, 0.4318


def planar(limits=""):
    return kronbot.loads(PLANAR.replace("LIMITS", limits))


def puma(limits):
    """The shipped robot, without the limits of its joints perhaps."""
    text = kronbot.description.read("puma560").text
    if not limits:
        text = "\n".join(line.split("limits:")[0].rstrip().rstrip(",") + "}" if "limits:" in line else line
                         for line in text.splitlines())  # fmt: skip
        text = text.replace(",}", "}")
    return kronbot.loads(text)


def closed_form(r, R):
    """The eight postures of the Puma for the pose of its wrist: shoulder, elbow and wrist, by hand."""
    found = []
    for side, bend, flip in itertools.product((1, -1), repeat=3):
        A = side * np.sqrt(r[0] ** 2 + r[1] ** 2 - D3**2)
        q1 = np.arctan2(r[1], r[0]) - np.arctan2(-D3, A)
        rho, phi = np.hypot(A3, D4), np.arctan2(D4, A3)
        elbow = bend * np.arccos((A**2 + r[2] ** 2 - A2**2 - rho**2) / (2 * A2 * rho))
        q2 = np.arctan2(r[2], A) - np.arctan2(rho * np.sin(elbow), A2 + rho * np.cos(elbow))
        q23 = q2 + elbow - phi
        c1, s1, c, s = np.cos(q1), np.sin(q1), np.cos(q23), np.sin(q23)
        wrist = np.array([[c1 * c, s1 * c, s], [-s1, c1, 0], [-c1 * s, -s1 * s, c]]) @ R
        q5 = flip * np.arccos(wrist[2, 2])
        q4, q6 = (
            np.arctan2(-flip * wrist[1, 2], -flip * wrist[0, 2]),
            np.arctan2(-flip * wrist[2, 1], flip * wrist[2, 0]),
        )
        found.append([q1, q2, elbow - phi, q4, q5, q6])
    return np.array(found)


def apart(one, other):
    """Angles between postures, whole turns left out."""
    return np.abs(np.remainder(one - other + np.pi, 2 * np.pi) - np.pi).max(axis=-1)


@pytest.mark.parametrize("seed", [0, rare(1), rare(2)])
def test_all_eight_postures_of_the_puma(seed):
    """Each is one of the closed form, and none is missing; the nearest to the start stands first."""
    robot, rng = puma(limits=False), np.random.default_rng(seed)
    q, start = rng.uniform(-3, 3, (2, 6))
    T = robot.kinematics(q)["T"]
    wanted = closed_form(T[:3, 3], T[:3, :3])
    assert apart(wanted, q).min() < 1e-9
    answer = robot.kinematics(start, inverse=T)
    found = answer["solutions"]
    assert len(found) == answer.summary["solutions_found"] == 8
    for posture in wanted:
        assert apart(found, posture).min() < 1e-8
    away = np.linalg.norm(found - start, axis=1)
    assert (np.diff(away) > 0).all() and (np.abs(found - start) < np.pi).all()
    assert answer.summary["idle_directions"] == 0 and answer.summary["reached"]
    np.testing.assert_allclose(answer["T"], T, rtol=0, atol=1e-12)
    assert answer.at["q"] == dict(zip(robot.coordinates, found[0], strict=True))
    assert set(answer["solution"]) == set(range(1, 9)) and answer["converged"].all()


@pytest.mark.parametrize("seed", [0, rare(1), rare(2)])
def test_postures_within_the_limits(seed):
    """Those of the eight that fit, some of them by whole turns, and no other."""
    robot = puma(limits=True)
    low, high = np.array([(each.low, each.high) for each in robot.model.limits]).T
    T = robot.kinematics(np.random.default_rng(seed).uniform(low, high))["T"]
    turned = closed_form(T[:3, 3], T[:3, :3])[:, None] + 2 * np.pi * np.arange(-2, 3)[:, None]
    fits = ((turned >= low) & (turned <= high)).any(axis=1).all(axis=1)
    found = robot.kinematics(inverse=T)["solutions"]
    assert ((found >= low) & (found <= high)).all()
    assert len(found) == fits.sum()
    for posture in turned[fits, 0]:
        assert apart(found, posture).min() < 1e-8


@drawn(4, 7, robots(), st.sampled_from(["0", "1", "2"]), st.integers(0, 10**6))
def test_poses_of_random_trees_are_reached(robot, order, seed):
    """With beams bent as they are given; every solution leads there, and joints that move nothing stay."""
    scale = np.array([scale for _, _, scale in coordinates(robot, order)])
    rng = np.random.default_rng(seed)
    q = rng.uniform(-1, 1, len(scale)) * scale
    asked = kronbot.loads(to_yaml(robot), order=order)
    frame = robot["links"][rng.integers(len(robot["links"]))]["name"]
    T = asked.kinematics(q, frame=frame)["T"]
    joints = list(asked.model.rigid)
    start = q.copy()
    start[joints] = rng.uniform(-1, 1, len(joints))
    if not any(asked.jacobian(q, frame=frame)[name][:, joints].any() for name in ("J_T", "J_R")):
        with pytest.raises(UsageError, match="no joint moves"):
            asked.kinematics(start, frame=frame, inverse=T)
        return
    answer = asked.kinematics(start, frame=frame, inverse=T, starts=30)
    size = np.abs(T).max()
    for solution in answer["solutions"]:
        there = start.copy()
        there[joints] = solution
        np.testing.assert_allclose(asked.kinematics(there, frame=frame)["T"], T, rtol=0, atol=1e-8 * size)
    assert answer["error.position"][0] <= 1e-8 * size


def test_elbow_up_and_down():
    answer = planar().kinematics({"q2": 0.5}, inverse={"x": 1.2, "y": 0.7})
    bend = np.arccos((1.2**2 + 0.7**2 - 1 - 0.64) / 1.6)
    wanted = [[np.arctan2(0.7, 1.2) - np.arctan2(0.8 * np.sin(b), 1 + 0.8 * np.cos(b)), b] for b in (bend, -bend)]
    np.testing.assert_allclose(answer["solutions"], wanted, rtol=0, atol=1e-12)
    with pytest.raises(ComputationError, match=r"the nearest is 0\.1 m away"):
        planar().kinematics(inverse={"x": 1.2, "y": 0.7, "z": 0.1})


def test_a_stretched_arm_has_one_posture():
    """Where two meet, the pose leaves the square root of its error open."""
    answer = planar().kinematics([0.3, 1.0], inverse=[1.8 * np.cos(0.4), 1.8 * np.sin(0.4), 0])
    assert answer["solutions"] == pytest.approx(np.array([[0.4, 0]]), abs=1e-4)
    assert answer.summary["idle_directions"] == 1  # singular


@pytest.mark.parametrize("far", [1.8 + 1e-6, 2.5, 100.0])
def test_out_of_reach_the_nearest_is_told(far):
    with pytest.raises(ComputationError) as refused:
        planar().kinematics([0.3, 1.0], inverse=[far * np.cos(0.4), far * np.sin(0.4), 0])
    partial = refused.value.partial
    assert f"from any of 100 starts: the nearest is {far - 1.8:.3g} m away; take one within reach" in str(refused.value)
    assert partial.summary["position_error"] == pytest.approx(far - 1.8, rel=1e-6)
    assert list(partial.at["q"].values()) == pytest.approx([0.4, 0], abs=2e-3)
    assert not partial.summary["reached"] and "solutions" not in partial.arrays and not partial["converged"].any()


def test_limits_are_kept_and_told():
    """The other elbow where one is beyond its limits; none, and which joint is at its limit, where both are."""
    target = {"x": 1.2, "y": 0.7}
    free = planar().kinematics(inverse=target)["solutions"]
    (only,) = planar(", limits: [0, 3]").kinematics(inverse=target)["solutions"]
    assert only == pytest.approx(free[free[:, 1] > 0][0], abs=1e-12)
    with pytest.raises(ComputationError, match=r"away \(at their limits: q2 at (0.1|-0.1) rad\)") as refused:
        planar(", limits: [-0.1, 0.1]").kinematics(inverse=target)
    nearest = np.hypot(1 + 0.8 * np.cos(0.1), 0.8 * np.sin(0.1)) - np.hypot(1.2, 0.7)
    assert refused.value.partial.summary["position_error"] == pytest.approx(nearest, rel=1e-9)
    told = planar(", limits: [0, 3]").kinematics({"q2": 3.5}, inverse=target)
    assert list(told.warnings) == ["q2 is beyond its limit of 3 rad by 0.5 rad"]


def test_a_solution_takes_the_turn_nearest_to_the_start():
    """Within the limits, also where these are more than a turn."""
    robot = planar(", limits: [-4.8, 4.8]")
    for start in (-4.5, -1, 1, 4.5):
        found = robot.kinematics([7.0, start], inverse={"x": 1.2, "y": 0.7})["solutions"]
        assert (np.abs(found[:, 0] - 7) <= np.pi).all()
        assert (np.abs(found[:, 1]) <= 4.8).all()
        bend = np.abs(np.remainder(found[:, 1] + np.pi, 2 * np.pi) - np.pi)
        assert bend == pytest.approx(np.full(2, bend[0]))
        if start == 4.5:  # bent by -1.39, that is 4.89 otherwise, which is too much
            assert found[:, 1].max() < 2


def test_what_follows_by_a_half_is_where_it_was_after_two_turns():
    """sin(q) + 0.8 sin(1.5 q) = 0.9 has the period 4 pi, and so have the solutions, which all hold."""
    robot = planar(", follows: 0.5*q1")
    rest = lambda q: np.sin(q) + 0.8 * np.sin(1.5 * q) - 0.9  # noqa: E731
    grid = np.linspace(-2 * np.pi, 2 * np.pi, 2001)
    brackets = [pair for pair in itertools.pairwise(grid) if rest(pair[0]) * rest(pair[1]) < 0]
    wanted = sorted(brentq(rest, *pair, xtol=1e-14) for pair in brackets)
    found = robot.kinematics(inverse={"y": 0.9})["solutions"][:, 0]
    assert len(wanted) == 4
    np.testing.assert_allclose(np.sort(found), wanted, rtol=0, atol=1e-9)
    other = robot.kinematics(q={"q1": 0.4 + 2 * np.pi})["pose"][0, :2]  # a turn away from 0.4 and its pose
    (only,) = robot.kinematics(inverse=dict(zip("xy", other, strict=True)))["solutions"]
    assert np.remainder(only[0], 4 * np.pi) == pytest.approx(0.4 + 2 * np.pi, abs=1e-9)


def test_what_follows_has_limits():
    """Of two joints: of both elbows one keeps the hand within, and where none does it is told; and of one joint."""
    text, target = PLANAR.replace("LIMITS", "") + HAND, {"x": 1.6, "y": 0.7}
    both = kronbot.loads(text.replace("LAST", ", follows: -(q1 + q2)")).kinematics(inverse=target)["solutions"]
    assert len(both) == 2
    for row in both:
        hand = -row.sum()
        limited = text.replace("LAST", f", follows: -(q1 + q2), limits: [{hand - 0.1}, {hand + 0.1}]")
        (only,) = kronbot.loads(limited).kinematics(inverse=target)["solutions"]
        assert only == pytest.approx(row, abs=1e-9)
    with pytest.raises(ComputationError, match=r"beyond the limits of q3"):
        kronbot.loads(text.replace("LAST", ", follows: -(q1 + q2), limits: [2, 2.1]")).kinematics(inverse=target)
    bent = planar(", follows: -2*q1, limits: [-2, -1]").kinematics(inverse={"x": np.cos(0.7) + 0.8 * np.cos(0.7)})
    assert bent["solutions"] == pytest.approx(np.array([[0.7]]), abs=1e-9)


@pytest.mark.slow
def test_shafts_of_what_follows_stay_slack():
    """The posture of a solution, asked for by its joints, has the pose."""
    text = PLANAR.replace("LIMITS", "") + HAND.replace("LAST", ", follows: -(q1 + q2), elastic: {stiffness: 3}")
    robot = kronbot.loads(text)
    for row in robot.kinematics(inverse={"x": 1.6, "y": 0.7})["solutions"]:
        at = robot.kinematics(q=dict(zip(robot.joints, row, strict=True)))["pose"][0, :2]
        assert at == pytest.approx([1.6, 0.7], abs=1e-8)


def test_what_does_not_move_the_frame_stays():
    """Joints beyond it, beams, and a last joint that only turns it in place."""
    robot = kronbot.load("canadarm")
    start = {"q1": 0.2, "q2": 0.3, "q3": 0.7, "upper.v1": 0.05, "forearm.v2": -0.01}
    answer = robot.kinematics(start, frame="wrist:root", inverse={"x": 9, "y": 5}, starts=4)
    at = answer.at["q"]
    assert {name: at[name] for name in list(start)[2:]} == {name: start[name] for name in list(start)[2:]}
    assert (answer["angle.q3"] == 0.7).all()
    np.testing.assert_allclose(robot.kinematics(at, frame="wrist:root")["pose"][0, :2], [9, 5], rtol=0, atol=1e-10)
    turned = kronbot.load("puma560").kinematics([0, 0.5, 0, 0.1, 0.2, 0.3], inverse=[0.5, 0.1, 0.2], starts=5)
    assert (turned["solutions"][:, 3:] == [0.1, 0.2, 0.3]).all()
    with pytest.raises(UsageError, match="no joint moves world"):
        robot.kinematics(frame="world", inverse=[1, 0, 0])
    with pytest.raises(UsageError, match="no joint moves endpoint as it is wanted"):
        robot.kinematics(inverse={"z": 1})


def test_poses_may_be_relative_and_joints_may_slide():
    robot = kronbot.load("spatial", order="1")
    start = {"q1": 0.4, "q2": 0.3, "q3": 2.0, "q4": 0.2}
    frame = "base-to:turret,forearm"
    T = robot.kinematics(start, frame=frame)["T"]
    answer = robot.kinematics({"q3": 1.0}, frame=frame, inverse=T)
    np.testing.assert_allclose(answer["T"], T, rtol=0, atol=1e-10)
    assert min(apart(answer["solutions"][:, 1:], [0.3, 2.0, 0.2])) < 1e-8
    assert (answer["solutions"][:, 0] == 0).all()  # the turret turns both


def test_joints_that_do_the_same():
    """Two sliders in one line: J^T J is singular everywhere."""
    text = "kronbot: 1\nname: lift\ngravity: [0, 0, 0]\nlinks:\n"
    text += "".join(f"  - {{name: l{i}, joint: {{type: prismatic, name: d{i}}}, pose: {{}}}}\n" for i in (1, 2))
    answer = kronbot.loads(text).kinematics({"d1": 0.5}, inverse={"z": 3}, starts=5)
    assert answer["solutions"].sum(axis=1) == pytest.approx(np.full(5, 3.0))
    assert answer["solutions"][0] == pytest.approx([1.75, 1.25], abs=1e-6)  # half of the way each
    assert answer.summary["idle_directions"] == 1
    with pytest.raises(ComputationError, match="nearest is 1 m"):
        kronbot.loads(text).kinematics({"d1": 0.5}, inverse={"z": 3, "x": 1}, starts=5)


def test_of_a_family_the_nearest_members_are_listed():
    """Four parallel joints for a point: two directions are idle; the two elbows of two joints are all there are."""
    row = "  - {{name: l{i}, joint: {{type: revolute, name: q{i}}}, dh: {{a: 1, d: 0, alpha: 0, theta: 0}}}}\n"
    text = "kronbot: 1\nname: snake\nconvention: standard\ngravity: [0, 0, 0]\nlinks:\n"
    robot = kronbot.loads(text + "".join(row.format(i=i) for i in range(1, 5)))
    start = np.array([0.1, 0.4, 0.5, 0.6])
    answer = robot.kinematics(start, inverse={"x": 1.5, "y": 2}, starts=40)
    found, reached = answer["solutions"], answer["converged"].astype(bool)
    assert len(found) == answer.summary["solutions_found"] == 5 and answer.summary["idle_directions"] == 2
    assert answer.summary["starts_that_reach_it"] == reached.sum() == 40
    told = "joints may move in 2 directions and keep the pose: of 40 such solutions the 5 nearest"
    assert answer.summary["family"] == told
    assert set(answer["solution"]) == set(range(6))
    angles = np.array([answer[f"angle.q{i}"] for i in range(1, 5)]).T
    away = np.linalg.norm(angles - start, axis=1)
    assert np.linalg.norm(found - start, axis=1) == pytest.approx(np.sort(away)[:5])
    assert "family" not in planar().kinematics(inverse={"x": 1.2, "y": 0.7}).summary


def test_what_rounding_leaves_is_told_as_none():
    """Errors of a pose that is reached, and joints at 0, in the solutions as among the starts."""
    robot = puma(limits=False)
    for q in ([0, 0.5, -1.2, 0.4, 0.7, 1.1], [0.3, 0, -1.2, 0.4, 0.7, 0]):
        answer = robot.kinematics(inverse=robot.kinematics(q)["T"], starts=20)
        near = answer["converged"].astype(bool)
        assert near.any() and not answer["error.position"][near].any() and not answer["error.rotation"][near].any()
        angles = np.array([answer[f"angle.{joint}"] for joint in robot.joints])
        assert not ((angles != 0) & (np.abs(angles) < 1e-13)).any() and (answer["solutions"] == 0).any()


def test_all_ways_to_write_a_pose():
    robot = puma(limits=False)
    row, T = (robot.kinematics([0.3, 0.5, -1.2, 0.4, 0.7, 1.1])[name] for name in ("pose", "T"))
    x, y, z, roll, pitch, yaw, *quaternion = row[0].tolist()
    forms = [
        row[0, :6], (x, y, z, *quaternion), {"x": x, "y": y, "z": z, "roll": roll, "pitch": pitch, "yaw": str(yaw)},
        dict(zip(["x", "y", "z", "qx", "qy", "qz", "qw"], [x, y, z, *(-part for part in quaternion)], strict=True)),
    ]  # fmt: skip
    wanted = robot.kinematics(inverse=T, starts=20)["solutions"]
    for form in forms:
        assert robot.kinematics(inverse=form, starts=20)["solutions"] == pytest.approx(wanted, abs=1e-9)
    only = robot.kinematics([0.1] * 6, inverse={"yaw": yaw, "pitch": pitch, "roll": roll}, starts=3)
    np.testing.assert_allclose(only["T"][:3, :3], T[:3, :3], rtol=0, atol=1e-9)
    assert only.summary["idle_directions"] == 3


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ([1, 2], "x, y, z are wanted"),
        ([[1, 2, 3]], "x, y, z are wanted"),
        ({}, "nothing of a pose is given"),
        ({"x": 1, "Roll": 2}, "no part of a pose 'Roll'; did you mean 'roll'"),
        ({"roll": 1, "qx": 1}, "roll and qx both say how it is turned"),
        ({"qx": 1}, "a quaternion has qx, qy, qz, qw: give all four"),
        ([0, 0, 0, 1, 1, 0, 0], "the length of a unit quaternion is 1, not 1.41421"),
        (np.diag([1, 1, -1, 1]), "is not \\[\\[R, r\\], \\[0, 1\\]\\]"),
        (np.ones((4, 4)), "is not"),
        ({"x": "one"}, "unknown name 'one'"),
        ("0.5,0,0", "not a number|wanted"),
        (np.ma.masked_array([0.5, 0, 0], mask=[False, True, False]), "masked entries have no value"),
    ],
)
def test_what_is_no_pose(wrong, words):
    with pytest.raises(UsageError, match=words):
        planar().kinematics(inverse=wrong)


def test_wrong_questions():
    robot = planar()
    with pytest.raises(UsageError, match="is about one frame, not 3"):
        robot.kinematics(frame="all", inverse=[1, 0, 0])
    with pytest.raises(UsageError, match="one point is wanted here"):
        robot.kinematics([[0, 0], [1, 1]], inverse=[1, 0, 0])
    with pytest.raises(UsageError, match="starts are those of an inverse"):
        robot.kinematics(starts=3)
    with pytest.raises(UnknownName):
        robot.kinematics({"q3": 1}, inverse=[1, 0, 0])


def test_no_start_depends_on_how_many_there_are():
    robot = puma(limits=True)
    T = robot.kinematics([0.3, 0.5, -1.2, 0.4, 0.7, 1.1])["T"]

    def rows(count):
        answer = robot.kinematics(inverse=T, starts=count)
        names = [name for name in answer.series if name != "solution"]
        return {row[0]: row for row in zip(*(answer[name].tolist() for name in names), strict=True)}

    many, few = rows(40), rows(7)
    assert few == {start: many[start] for start in range(1, 8)}


def test_on_the_command_line(capsys, tmp_path):
    """The nearest posture is told beside exit code 1; solutions as csv; sweeps over the pose."""
    (tmp_path / "planar.yaml").write_text(PLANAR.replace("LIMITS", ""))
    ask = ["kinematics", str(tmp_path / "planar.yaml")]
    assert run([*ask, "--inverse", "2,0,0", "--format", "json"]) == 1
    told = capsys.readouterr()
    assert json.loads(told.out)["summary"]["reached"] is False
    assert "the nearest is 0.2 m away; take one within reach, other first values (--q) or more --starts" in told.err
    assert run([*ask, "--inverse", "x=1.2,y=0.7", "--q", "q2=0.1", "--array", "solutions", "--format", "csv"]) == 0
    assert [line.split(",")[0] for line in capsys.readouterr().out.splitlines()] == ["", "1", "2"]
    assert run([*ask, "--inverse", "1,0,0,0,0,90"]) == 1
    assert "yaw = 90 is beyond 2 pi: is it in degrees?" in capsys.readouterr().err
    for wrong, words in (
        (["--inverse", "1,0,0", "--symbolic"], "leave out --symbolic"),
        (["--inverse", "1,y=0"], "should read NAME=VALUE"),
        (["--inverse", "1,0,0", "--q", "@rows.csv"], "no such file"),
        (["--starts", "3"], "leave it out, or add --inverse"),
    ):
        assert run([*ask, *wrong]) == 2
        assert words in capsys.readouterr().err
    over = ["sweep", *ask, "--inverse", "1,0.7,0", "--over", "inverse.x=1.2,5", "--keep", "solutions[1,q2]", "-q"]
    assert run([*over, "--workers", "1", "--format", "csv"]) == 0
    head, first, second = capsys.readouterr().out.splitlines()
    assert head == 'case,inverse.x,"solutions[1,q2]",error'
    assert abs(float(first.split(",")[2])) == pytest.approx(np.arccos((1.2**2 + 0.7**2 - 1.64) / 1.6), abs=1e-12)
    assert second.startswith('3,5,,"the pose is not reached'.replace("3", "2", 1))


WRIST = """
kronbot: 1
name: wrist
convention: modified
gravity: [0, 0, 0]
links:
"""
WRIST += "".join(
    f"  - {{name: l{i}, joint: {{type: revolute, name: q{i}}}, dh: {{a: {a}, d: {d}, alpha: {alpha}, theta: 0}}}}\n"
    for i, (a, d, alpha) in enumerate(
        ((0, 0.3, 0), (0.05, 0, "-pi/2"), (0.45, 0.02, 0), (0.03, 0.4, "-pi/2"), (0, 0, "pi/2"), (0, 0.1, "-pi/2")), 1
    )
)


def test_near_two_singular_postures_at_once_each_solution_is_one():
    """Two elbows and two wrists, a thousandth of a radian from where each pair is one: steps with damping end on the
    way there, where poses are within 1e-9 and joints a thousandth off."""
    robot = kronbot.loads(WRIST)
    T = robot.kinematics([0.110435011, 0.70585462, -1.494936479, 0.410079003, 0.001, 2.148873477])["T"]
    answer = robot.kinematics(inverse=T)
    assert answer.summary["solutions_found"] == 4
    for q in answer["solutions"]:
        np.testing.assert_allclose(robot.kinematics(q)["T"], T, rtol=0, atol=1e-12)
