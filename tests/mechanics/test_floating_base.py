"""Floating bases: against the Lagrangian, Pinocchio's free-flyer, and what is constant in free space."""

import numpy as np
import pytest
from hypothesis import strategies as st
from mechanics.test_recursion import check_against_lagrangian, equations
from random_robots import robots, turn
from robots_in_tests import model
from thinned import drawn

import kronbot
from kronbot.errors import DescriptionError, UsageError


@drawn(
    8,
    25,
    robots(max_links=3, max_coordinates=5, floating=True) | robots(max_links=2, yielding=True, floating=True),
    st.sampled_from([0, 1, 2]),
    st.integers(0, 10**6),
)
def test_recursion_composite_and_lagrangian_agree(robot, order, seed):
    """Random trees on a base that moves: recursion = composite = brute force."""
    check_against_lagrangian(robot, order, seed)


def body(rng):
    """A rigid body with a full tensor that a body can have."""
    moments, axes = rng.uniform(0.1, 0.5, 3), turn(*rng.uniform(-1, 1, 3))
    tensor = axes @ np.diag(moments.sum() - moments) @ axes.T
    rows = {"Ixx": (0, 0), "Iyy": (1, 1), "Izz": (2, 2), "Ixy": (0, 1), "Ixz": (0, 2), "Iyz": (1, 2)}
    inertia = {key: float(tensor[at]) for key, at in rows.items()}
    return {"mass": float(rng.uniform(1, 5)), "com": rng.uniform(-0.4, 0.4, 3).tolist(), "inertia": inertia}


def rigid_tree(seed):
    """Four links on a floating base, two of them on the same one."""
    rng = np.random.default_rng(seed)
    parents = ("base", "link1", "link1", "base")
    links = [
        {
            "name": f"link{i}",
            "parent": parent,
            "joint": {"type": "prismatic" if i == 3 else "revolute", "name": f"q{i}"},
            "pose": {"xyz": rng.uniform(-1, 1, 3).tolist(), "rpy": rng.uniform(-3, 3, 3).tolist()},
            "rigid": body(rng),
        }
        for i, parent in enumerate(parents, 1)
    ]
    base = {"type": "floating", "rigid": body(rng)}
    return {"kronbot": 1, "name": "tree", "gravity": [0.5, -1.0, -9.81], "base": base, "links": links}


def in_pinocchio(robot):
    """The same tree on Pinocchio's free-flyer."""
    import pinocchio as pin

    def inertia(body):
        entry = body["inertia"]
        rows = [["Ixx", "Ixy", "Ixz"], ["Ixy", "Iyy", "Iyz"], ["Ixz", "Iyz", "Izz"]]
        tensor = np.array([[entry[key] for key in row] for row in rows])
        return pin.Inertia(body["mass"], np.array(body["com"]), tensor)

    made, still = pin.Model(), pin.SE3.Identity()
    made.gravity.linear = np.array(robot["gravity"])
    known = {"base": made.addJoint(0, pin.JointModelFreeFlyer(), still, "base")}
    made.appendBodyToJoint(known["base"], inertia(robot["base"]["rigid"]), still)
    for link in robot["links"]:
        place = pin.SE3(turn(*link["pose"]["rpy"]), np.array(link["pose"]["xyz"]))
        joint = pin.JointModelRZ() if link["joint"]["type"] == "revolute" else pin.JointModelPZ()
        known[link["name"]] = made.addJoint(known[link["parent"]], joint, place, link["name"])
        made.appendBodyToJoint(known[link["name"]], inertia(link["rigid"]), still)
    return made


@pytest.mark.parametrize("seed", range(3))
def test_equations_of_motion_are_those_of_the_free_flyer_of_pinocchio(seed):
    """M, forces and accelerations, after the change from angles and their rates to twists of the body."""
    pin = pytest.importorskip("pinocchio")
    said = rigid_tree(seed)
    made = in_pinocchio(said)
    data = made.createData()
    rng = np.random.default_rng(seed + 100)
    n = 10
    q, qd, qdd = rng.uniform(-1.2, 1.2, (3, n))
    R = turn(*q[3:6])
    (cx, cy, _), (sx, sy, _) = np.cos(q[3:6]), np.sin(q[3:6])
    B = np.array([[1, 0, -sy], [0, cx, sx * cy], [0, -sx, cx * cy]])  # angular velocity in the axes of the base
    x, y = qd[3:5]
    B_dot = np.array(
        [
            [0, 0, -cy * y],
            [0, -sx * x, cx * cy * x - sx * sy * y],
            [0, -cx * x, -sx * cy * x - cx * sy * y],
        ]
    )
    T = np.eye(n)
    T[:3, :3], T[3:6, 3:6] = R.T, B
    extra = np.zeros(n)
    extra[:3], extra[3:6] = -np.cross(B @ qd[3:6], R.T @ qd[:3]), B_dot @ qd[3:6]
    their_q = np.concatenate([q[:3], pin.Quaternion(R).coeffs(), q[6:]])
    M = np.array(pin.crba(made, data, their_q))
    M = np.triu(M) + np.triu(M, 1).T
    bias = pin.rnea(made, data, their_q, T @ qd, extra)
    ours = equations(model(said, "0"))
    tau = T.T @ (M @ T @ qdd + bias)
    size = np.abs(tau).max() + np.abs(M).max()
    assert np.abs(ours(q, qd, qdd)["M"].reshape(n, n) - T.T @ M @ T).max() < 1e-10 * np.abs(M).max()
    assert np.abs(ours(q, qd, qdd)["tau"] - tau).max() < 1e-10 * size
    assert np.abs(ours(q, qd, 0 * q)["tau"] - T.T @ bias).max() < 1e-10 * size
    force = rng.uniform(-20, 20, n)
    theirs = np.linalg.solve(T, pin.aba(made, data, their_q, T @ qd, np.linalg.solve(T.T, force)) - extra)
    for algorithm in ("recursive", "composite"):
        assert np.abs(ours(q, qd, force)[algorithm] - theirs).max() < 1e-10 * np.abs(theirs).max()


ARM = """
kronbot: 1
name: arm
gravity: [0, 0, 0]
base: {type: floating, rigid: {mass: 10, com: [0.1, 0, 0.02], inertia: {Ixx: 2, Iyy: 3, Izz: 2.5}}}
links:
  - name: upper
    joint: {type: revolute, name: q1}
    pose: {xyz: [0.5, 0, 0], rpy: [0, pi/2, 0]}
    flexible: {mass: 2, length: 1, EI: {y: 100, z: 100}, modes: {v: 1, w: 1}}
  - name: fore
    joint: {type: revolute, name: q2}
    pose: {rpy: [0.3, 0, 0]}
    rigid: {mass: 1, com: [0.3, 0, 0], inertia: {Ixx: 0.1, Iyy: 0.2, Izz: 0.2}}
"""
BASE = ["base.x", "base.y", "base.z", "base.rx", "base.ry", "base.rz"]


@pytest.fixture(scope="module")
def arm():
    return kronbot.loads(ARM)


def test_coordinates_of_the_base_come_first_and_positional_values_are_of_joints(arm):
    assert arm.coordinates == (*BASE, "q1", "upper.v1", "upper.w1", "q2")
    assert arm.units[:6] == ("m", "m", "m", "rad", "rad", "rad")
    assert arm.joints == ("q1", "q2")
    answer = arm.kinematics(q=[0.3, 0.7])
    assert answer.at["q"]["q2"] == 0.7
    assert answer.at["q"]["base.x"] == 0


def test_base_is_a_frame_of_its_own_and_world_is_the_one_that_does_not_move(arm):
    q = {"base.x": 1, "base.y": -2, "base.z": 3, "base.rx": 0.3, "base.ry": -0.7, "base.rz": 2, "q1": 0.4}
    found = arm.kinematics(q=q, frame=["base", "base:root", "com:base", "world"])["T"].reshape(4, 4, 4)
    assert found[0][:3, :3] == pytest.approx(turn(0.3, -0.7, 2), abs=1e-15)
    assert found[0][:3, 3] == pytest.approx([1, -2, 3])
    assert found[1] == pytest.approx(found[0])
    assert found[2][:3, 3] == pytest.approx(found[0][:3, 3] + found[0][:3, :3] @ [0.1, 0, 0.02])
    assert found[3] == pytest.approx(np.eye(4))
    # Seen from the base the arm is where it is on a fixed one.
    fixed = kronbot.loads(ARM.replace(ARM.splitlines()[4], ""))
    seen = arm.kinematics(q=q, frame="base-to:base,endpoint")["T"]
    assert seen == pytest.approx(fixed.kinematics(q={"q1": 0.4})["T"], abs=1e-15)
    names = arm.kinematics(q=q, frame="all")["pose"]
    assert len(names) == 4  # endpoint, base, upper, fore
    held = arm.kinematics(q=q, inverse=arm.kinematics(q=q | {"q1": 0.6})["T"])
    assert held["solutions"][0] == pytest.approx([0.6, 0], abs=1e-9)
    assert held.at["q"]["base.ry"] == -0.7


def test_gimbal_lock_is_named(arm):
    for ask in (arm.dynamics, arm.jacobian, arm.linearize, arm.modes, arm.statics):
        with pytest.raises(UsageError, match=r"base\.ry = 1\.5708 rad is gimbal lock"):
            ask(q={"base.ry": "pi/2"})
    assert np.isfinite(arm.dynamics(q={"base.ry": 1.57})["M"]).all()


@pytest.mark.parametrize("gravity", ["[0, 0, 0]", "[0, 3, -9.81]"])
def test_modes_of_a_free_base_do_not_depend_on_where_it_is(arm, gravity):
    """Six free coordinates with joints locked, eight with joints free; gravity does not act on what falls."""
    robot = kronbot.loads(ARM.replace("gravity: [0, 0, 0]", f"gravity: {gravity}"))
    turned = robot.modes(q={"base.x": 3, "base.rx": 1, "base.ry": -1.1, "base.rz": 0.4})
    for case, count in (("locked", 6), ("free", 8)):
        assert turned.summary[f"free_coordinates_{case}"] == count
        found, wanted = turned[f"frequencies_{case}"], arm.modes()[f"frequencies_{case}"]
        assert not found[:count].any()
        assert found == pytest.approx(wanted, rel=1e-9)
        checked = robot.check()[f"frequency_{case}"]
        assert checked == pytest.approx(wanted, rel=1e-9)
    with pytest.raises(UsageError, match="give rates of joints only"):
        robot.modes(qd={"base.rz": 1})


def test_a_beam_on_a_base_without_weight_is_free_at_both_ends():
    """cos x cosh x = 1."""
    beam = kronbot.loads(
        "kronbot: 1\nname: rod\ngravity: [0, 0, 0]\nbase: {type: floating, rigid: {mass: 1e-7, inertia: "
        "{Ixx: 1e-3, Iyy: 1e-9, Izz: 1e-9}}}\nlinks:\n  - name: rod\n    joint: {type: revolute, name: q1, "
        "spring: {stiffness: 1}}\n    pose: {}\n    flexible: {mass: 2, length: 1.5, EI: {z: 300}, modes: {v: 12}, "
        "shape: legendre}\n"
    )
    x = np.array([4.730040744862704, 7.853204624095838, 10.99560783800167])
    wanted = x**2 * np.sqrt(300 * 1.5 / 2) / 1.5**2
    assert beam.modes()["frequencies_locked"][6:9] == pytest.approx(wanted, rel=1e-6)


def test_measured_damping_is_that_of_the_modes_of_the_free_robot():
    falling = ARM.replace("gravity: [0, 0, 0]", "gravity: [0, 0, -9.81]")
    robot = kronbot.loads(falling + "damping: {ratios: [0.01, 0.02]}\n")
    assert robot.modes(q={"base.rx": 1})["damping_locked"][6:] == pytest.approx([0.01, 0.02], rel=1e-9)


def test_linear_models_count_the_momenta_as_free_coordinates(arm):
    answer = arm.linearize(q={"base.rx": 1, "base.ry": -0.7, "q1": 0.4})
    assert answer.summary["free_coordinates"] == 8
    assert answer.summary["verdict"].startswith("stable, undamped")
    with pytest.raises(UsageError, match="a floating base goes along no given motion"):
        kronbot.loads(ARM + "motion: {q1: {type: sinusoid, amplitude: 1, frequency: 1}}\n").linearize_along()


def test_statics_of_a_floating_base_is_where_nothing_acts(arm):
    answer = arm.statics(q={"base.x": 2, "q1": 0.3})
    assert answer["torque.q1"] == pytest.approx([0])
    assert answer["base.x"] == [2]
    with pytest.raises(UsageError, match="a floating base has no supports"):
        arm.statics(q=[0.3, 0], forces=[[1, 0, 0]])
    with pytest.raises(UsageError, match="a floating base has no supports"):
        kronbot.loads(ARM.replace("gravity: [0, 0, 0]", "gravity: [0, 0, -9.81]")).statics(q=[0, 0])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (ARM.replace("name: upper", "name: base"), "the name 'base' is reserved: it is the body of the floating base"),
        (ARM.replace("type: floating", "type: fixed"), "a fixed base has no 'rigid': it does not move"),
        (ARM.replace("type: floating", "type: flying"), "'flying'"),
        (ARM.replace("mass: 10", "mass: -10"), "'mass' must be at least 0"),
        (ARM.replace("name: q2", "name: base, bearing: {stiffness: {x: 3}}"), "'base.x' twice"),
    ],
)
def test_mistakes_of_a_base_are_told(text, said):
    with pytest.raises(DescriptionError, match=said):
        kronbot.loads(text)


def test_links_may_stand_on_the_world_beside_a_floating_base(arm):
    """Whatever stands there is not moved by the base."""
    robot = kronbot.loads(
        ARM + "  - {name: mast, parent: world, joint: {type: revolute, name: q3}, pose: {}, rigid: {mass: 1, com: "
        "[1, 0, 0]}}\n  - {name: hand, parent: base, joint: {type: revolute, name: q4}, pose: {}, rigid: {mass: 1, "
        "com: [1, 0, 0]}}\n"
    )
    assert not robot.jacobian(frame="mast")["J_T"][:, :6].any()
    assert robot.jacobian(frame="com:hand")["J_T"][:, :3] == pytest.approx(np.eye(3))
