"""Poses of frames: against the oracle's, in every form that a rotation has, and as formulas."""

import numpy as np
import pytest
from hypothesis import strategies as st
from oracles import Lagrangian
from random_robots import coordinates, robots, to_yaml
from scipy.spatial.transform import Rotation
from thinned import drawn

import kronbot
from kronbot.cli.main import run
from kronbot.errors import UsageError
from kronbot.mechanics.multibody.rotations import quaternions, roll_pitch_yaw

POSTURE = [0.3, 0.5, 0.2, -0.7, 0.4, 1.1]


def matrices(answer):
    """Homogeneous matrices by frame."""
    T = answer["T"].reshape(-1, 4, 4)
    return dict(zip(answer.arrays["pose"].rows, T, strict=True))


def turned(pose):
    """The rotation of a row of ``pose``, by its angles and by its quaternion."""
    return Rotation.from_euler("ZYX", pose[[5, 4, 3]]).as_matrix(), Rotation.from_quat(pose[6:]).as_matrix()


@drawn(3, 6, robots(), st.sampled_from(["0", "1", "2"]), st.integers(0, 10**6))
def test_random_trees(robot, order, seed):
    """Every tip and root frame where the oracle's transforms put it, turned as they are."""
    scale = np.array([scale for _, _, scale in coordinates(robot, order)])
    q = np.random.default_rng(seed).uniform(-1, 1, len(scale)) * scale
    asked, oracle = kronbot.loads(to_yaml(robot), order=order), Lagrangian(robot, int(order))
    names = [name for link in robot["links"] for name in (link["name"], f"{link['name']}:root")]
    answer = asked.kinematics(q, frame=names)
    found, poses = matrices(answer), dict(zip(names, answer["pose"], strict=True))
    for name in names:
        link, _, which = name.partition(":")
        r, R = oracle.frame(q, link, which or "tip")
        size = max(1.0, np.abs(r).max())
        np.testing.assert_allclose(found[name][:3, 3], np.ravel(r), rtol=0, atol=1e-13 * size)
        np.testing.assert_allclose(found[name][3], [0, 0, 0, 1], rtol=0, atol=0)
        for form in (found[name][:3, :3], *turned(poses[name])):
            np.testing.assert_allclose(form, R, rtol=0, atol=1e-13)
        np.testing.assert_array_equal(poses[name][:3], found[name][:3, 3])


@pytest.mark.parametrize("pitch", [np.pi / 2, -np.pi / 2, np.pi / 2 - 1e-9, -np.pi / 2 + 1e-13, 0.3])
def test_angles_and_quaternions_make_the_rotation_again(pitch):
    """At every angle, also where roll and yaw turn about one axis: there roll is 0."""
    angles = np.array([(roll, pitch, yaw) for roll in (-3, 0, 0.1, np.pi) for yaw in (-2, 0, 0.5, np.pi)])
    R = Rotation.from_euler("ZYX", angles[:, ::-1]).as_matrix()
    found, q = roll_pitch_yaw(R), quaternions(R)
    np.testing.assert_allclose(Rotation.from_euler("ZYX", found[:, ::-1]).as_matrix(), R, rtol=0, atol=2e-12)
    np.testing.assert_allclose(Rotation.from_quat(q).as_matrix(), R, rtol=0, atol=2e-15)
    assert (q[:, 3] >= 0).all()
    assert abs(np.cos(pitch)) > 1e-12 or not found[:, 0].any()
    if pitch == 0.3:
        np.testing.assert_allclose(np.exp(1j * found), np.exp(1j * angles), rtol=0, atol=1e-15)


def test_frames_seen_from_each_other():
    """B seen from A is A's inverse times B; all are the endpoint and the links, each once."""
    robot = kronbot.load("puma560")
    links = [f"link{i}" for i in range(1, 7)]
    found = matrices(robot.kinematics(POSTURE, frame=["link4", "all", "com:link2", "link3:root", "world"]))
    assert list(found) == ["link4", "endpoint", *links[:3], *links[4:], "com:link2", "link3:root", "world"]
    np.testing.assert_array_equal(found["world"], np.eye(4))
    (seen,) = matrices(robot.kinematics(POSTURE, frame="base-to:com:link2,link5")).values()
    np.testing.assert_allclose(seen, np.linalg.solve(found["com:link2"], found["link5"]), rtol=0, atol=1e-15)
    assert list(robot.kinematics(frame="base-to: link2 , link5").arrays["pose"].rows) == ["base-to:link2,link5"]
    assert list(robot.kinematics(frame="base-to:world,link5").arrays["pose"].rows) == ["link5"]
    with pytest.raises(UsageError, match="no frame 'lonk5'; did you mean 'link5'"):
        robot.kinematics(frame=["link2", "lonk5"])
    for ask in (robot.kinematics, robot.jacobian):
        with pytest.raises(UsageError, match="no frame 'link2, com:link5': it is 2, give each by itself; frames are"):
            ask(frame="link2, com:link5")


def test_a_link_called_all_is_itself():
    text = "kronbot: 1\nname: r\ngravity: [0, 0, 0]\nlinks:\n"
    text += "  - {name: all, joint: {type: revolute, name: q1}, pose: {xyz: [1, 0, 0]}}\n"
    text += "  - {name: other, joint: {type: fixed}, pose: {xyz: [1, 0, 0]}}\n"
    assert list(kronbot.loads(text).kinematics(frame="all").arrays["pose"].rows) == ["all"]


def test_rows_are_points():
    robot = kronbot.load("canadarm")
    q = np.random.default_rng(1).uniform(-0.1, 0.1, (7, robot.n))
    rows = robot.kinematics(q, frame="all")
    for i, point in enumerate(q):
        single = robot.kinematics(point, frame="all")
        for name in ("pose", "T"):
            np.testing.assert_array_equal(rows[name][i], single[name])
    assert rows.arrays["pose"].axis == ("case", tuple(range(1, 8)))


def test_formulas_are_the_numbers(capsys):
    robot = kronbot.load("stacker-numeric")
    q = [0.47, 0.83, -0.36]
    scope = {}
    exec(robot.symbolic("python").kinematics(frame=["boom", "endpoint"]).source["T"], scope)
    np.testing.assert_allclose(scope["T"](*q), robot.kinematics(q, frame=["boom", "endpoint"])["T"], atol=1e-15)
    assert run(["kinematics", "stacker", "--symbolic", "--short"]) == 0
    assert "T = [[c2*c3, -c2*s3, s2, a3*c2*c3]," in capsys.readouterr().out


def test_the_table_has_a_line_a_frame(capsys, tmp_path):
    assert run(["kinematics", "canadarm", "--q", "0.1,pi/4,0", "--frame", "upper", "--frame", "endpoint"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[3].split() == ["x", "y", "z", "roll", "pitch", "yaw", "qx", "qy", "qz", "qw"]
    assert lines[4].split() == ["m", "m", "m", "rad", "rad", "rad"]
    assert lines[5].split()[:7] == ["upper", "5.97002", "0.599", "0", "0", "0", "0.1"]
    (tmp_path / "rows.csv").write_text("q1\n0\npi/2\n")
    rows = ["kinematics", "canadarm", "--q", f"@{tmp_path / 'rows.csv'}", "--array", "pose", "--format", "csv"]
    assert run(rows) == 0
    head, *rest = capsys.readouterr().out.splitlines()
    assert head.split(",")[:3] == ["case", '"pose[endpoint', 'x]"']
    assert [row.split(",")[:2] for row in rest] == [["1", "15.0"], ["2", "9.184850993605148e-16"]]


def test_sweeps_keep_poses(swept_here):
    """Also of frames whose names hold a comma."""
    robot, seen = kronbot.load("canadarm"), "base-to:upper,wrist"
    swept = robot.sweep("kinematics", over={"q2": [0, 1]}, frame=[seen, "upper"], workers=1)
    assert swept.header[2:5] == [f"pose[{seen},{axis}]" for axis in "xyz"]
    last = list(swept)[1]
    single = robot.kinematics({"q2": 1}, frame=seen)["pose"][0]
    assert [last[f"pose[{seen},{name}]"] for name in ("x", "y", "yaw")] == single[[0, 1, 5]].tolist()
    over = {"frame": ["upper", "all"]}
    kept = robot.sweep("kinematics", over=over, keep=["pose[upper,x]", "pose[wrist,x]"], workers=1)
    assert [row["pose[wrist,x]"] for row in kept] == [None, 15.0]


def test_a_frame_that_stays_has_formulas_of_numbers():
    """Nothing in them depends on a symbol."""
    found = kronbot.load("canadarm").symbolic().kinematics(frame="base").arrays["T"].values
    assert [str(entry) for entry in np.ravel(found)] == [str(int(i % 5 == 0)) for i in range(16)]


def test_half_a_turn_is_pi_whichever_sign_rounding_gives_it():
    """A tool that points down has the roll of its file, pi, not -pi; so has one that is turned about the vertical."""
    half = np.diag([1.0, -1.0, -1.0])
    for dust in (0.0, -0.0, 1e-16, -1e-16, 3e-16, -3e-16):
        R = half.copy()
        R[2, 1] = dust
        assert roll_pitch_yaw(R)[0] == pytest.approx(np.pi)
        assert roll_pitch_yaw(R[::-1, ::-1])[2] == pytest.approx(np.pi)
    assert roll_pitch_yaw(np.array([[1, 0, 0], [0, -0.6, 0.8], [0, -0.8, -0.6]]))[0] == np.arctan2(-0.8, -0.6)
