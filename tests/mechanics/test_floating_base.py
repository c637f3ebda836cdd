"""Floating bases: against the Lagrangian, Pinocchio's free-flyer, and what is constant in free space."""

import importlib.util
import inspect

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from mechanics.test_recursion import check_against_lagrangian, random_state
from oracles import Lagrangian, number
from random_robots import robots, to_yaml, turn
from robots_in_tests import loaded, model, moving
from scipy.integrate import solve_ivp
from thinned import drawn, rare

import kronbot
from kronbot.compute.native import policy
from kronbot.errors import DescriptionError, UsageError
from kronbot.mechanics.multibody.momentum import momentum
from kronbot.mechanics.multibody.recursion import ALGORITHMS, inverse_dynamics
from kronbot.mechanics.multibody.rotations import of_quaternion, quaternions
from kronbot.mechanics.multibody.state import generalized_inertia_matrix


@drawn(
    1,
    2,
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
    """The same tree on Pinocchio's free-flyer, where our rates stand among those of Pinocchio, and dampers.

    Branch by branch: Pinocchio takes the coordinates of a subtree for neighbours, and answers wrongly where they are
    not.
    """
    import pinocchio as pin

    def moved(xyz=(0, 0, 0), rpy=(0, 0, 0)):
        return pin.SE3(turn(*map(number, rpy)), np.array(list(map(number, xyz))))

    def inertia(body):
        entry = body.get("inertia", {})
        rows = [["Ixx", "Ixy", "Ixz"], ["Ixy", "Iyy", "Iyz"], ["Ixz", "Iyz", "Izz"]]
        tensor = np.array([[number(entry.get(key, 0)) for key in row] for row in rows])
        return pin.Inertia(body["mass"], np.array(body["com"]), tensor)

    made = pin.Model()
    made.gravity.linear = np.array(robot["gravity"])
    flyer = made.addJoint(0, pin.JointModelFreeFlyer(), moved(), "base")
    made.appendBodyToJoint(flyer, inertia(robot["base"]["rigid"]), moved())
    links, places = robot["links"], {}
    parents = [link.get("parent") or ([{"name": "base"}, *links])[i]["name"] for i, link in enumerate(links)]

    def hang(name, joint, place):
        for link in (link for link, parent in zip(links, parents, strict=True) if parent == name):
            row = {key: number(value) for key, value in link.get("dh", {}).items()}
            before, root = moved(**link.get("pose", {})), moved()
            tip = moved()
            if row and robot["convention"] == "modified":
                before = moved(rpy=[row["alpha"], 0, 0]) * moved(xyz=[row["a"], 0, 0])
            elif row:
                tip = moved(xyz=[row["a"], 0, 0], rpy=[row["alpha"], 0, 0])
            if row:
                root = moved(xyz=[0, 0, row["d"]], rpy=[0, 0, row["theta"]])
            own, held = joint, place * before
            if link["joint"]["type"] != "fixed":
                kind = pin.JointModelRZ() if link["joint"]["type"] == "revolute" else pin.JointModelPZ()
                own, held = made.addJoint(joint, kind, held, link["name"]), moved()
                places[link["joint"]["name"]] = made.joints[own].idx_v
            root = held * root
            for key, at in (("rigid", root * tip), ("hub", root), ("payload", root * tip)):
                if key in link:
                    made.appendBodyToJoint(own, inertia(link[key]), at)
            hang(link["name"], own, root * tip)

    hang("base", flyer, moved())
    moving = [link["joint"] for link in links if link["joint"]["type"] != "fixed"]
    at = [*range(6), *(places[joint["name"]] for joint in moving)]
    made.armature[at[6:]] = [joint.get("rotor_inertia", 0) * joint.get("gear", 1) ** 2 for joint in moving]
    return made, at, np.array([0.0] * 6 + [joint.get("damping", 0) for joint in moving])


@pytest.mark.slow
@drawn(1, 3, robots(max_links=6, flexible=False, floating=True), st.integers(0, 10**6))
def test_equations_of_motion_are_those_of_the_free_flyer_of_pinocchio(robot, seed):
    """M, forces, accelerations and momenta of random rigid trees, after the change from angles and rates to twists."""
    pin = pytest.importorskip("pinocchio")
    made, at, damping = in_pinocchio(robot)
    data = made.createData()
    q, qd, qdd = random_state(robot, 0, seed)
    n = len(q)
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
    # Rates of Pinocchio are T times ours, accelerations T qdd + extra.
    T = np.zeros((n, n))
    T[at, range(n)] = 1
    T[:3, :3], T[3:6, 3:6] = R.T, B
    extra = np.zeros(n)
    extra[:3], extra[3:6] = -np.cross(B @ qd[3:6], R.T @ qd[:3]), B_dot @ qd[3:6]
    their_q = np.zeros(n + 1)
    their_q[:3], their_q[3:7] = q[:3], pin.Quaternion(R).coeffs()
    their_q[np.array(at[6:], int) + 1] = q[6:]
    M = np.array(pin.crba(made, data, their_q))
    M = T.T @ (np.triu(M) + np.triu(M, 1).T) @ T
    bias = T.T @ pin.rnea(made, data, their_q, T @ qd, extra) + damping * qd
    found = moving(
        model(robot, "0"),
        tau=inverse_dynamics,
        M=lambda state, x: generalized_inertia_matrix(state),
        recursive=lambda state, x: ALGORITHMS["recursive"](state, x, {}),
        composite=lambda state, x: ALGORITHMS["composite"](state, x, {}),
        p=lambda state, x: momentum(state).linear,
        L=lambda state, x: momentum(state).angular,
    )
    size = np.abs(bias).max() + np.abs(M).max() * max(1, np.abs(qdd).max())
    ours = found(q, qd, qdd)
    assert np.abs(ours["M"].reshape(n, n) - M).max() < 1e-10 * np.abs(M).max()
    assert np.abs(ours["tau"] - M @ qdd - bias).max() < 1e-10 * size
    assert np.abs(found(q, qd, 0 * q)["tau"] - bias).max() < 1e-10 * size
    their = pin.computeCentroidalMomentum(made, data, their_q, T @ qd)
    turning = their.angular + np.cross(pin.centerOfMass(made, data, their_q), their.linear)
    assert np.abs(ours["p"] - their.linear).max() < 1e-10 * size
    assert np.abs(ours["L"] - turning).max() < 1e-10 * size
    force = np.random.default_rng(seed).uniform(-20, 20, n)
    theirs = pin.aba(made, data, their_q, T @ qd, np.linalg.solve(T.T, force - damping * qd))
    theirs = np.linalg.solve(T, theirs - extra)
    for algorithm in ("recursive", "composite"):
        rest = found(q, qd, force)[algorithm] - theirs
        assert np.abs(M @ rest).max() < 1e-10 * (size + np.abs(M).max() * np.abs(theirs).max())


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


@pytest.mark.slow
@pytest.mark.parametrize("gravity", [rare("[0, 0, 0]"), "[0, 3, -9.81]"])
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


@pytest.mark.slow
def test_measured_damping_is_that_of_the_modes_of_the_free_robot():
    falling = ARM.replace("gravity: [0, 0, 0]", "gravity: [0, 0, -9.81]")
    robot = kronbot.loads(falling + "damping: {ratios: [0.01, 0.02]}\n")
    assert robot.modes(q={"base.rx": 1})["damping_locked"][6:] == pytest.approx([0.01, 0.02], rel=1e-9)


@pytest.mark.slow
def test_a_run_has_measured_damping_in_whatever_angles_its_base_is():
    """A run that is asked first takes that of the robot's own angles, as one that ``dynamics`` was asked before."""
    text = ARM[: ARM.index("  - name: fore")] + "damping: {ratios: 0.1, joints: locked}\n"
    fresh, asked = (kronbot.loads(text) for _ in range(2))
    D = asked.dynamics()["D"]
    asked_for = {"duration": 1e-4, "step": 1e-4, "q": {"base.ry": 0.4}, "qd": {"upper.v1": 1}}
    first, second = (robot.simulate(**asked_for) for robot in (fresh, asked))
    assert first.to_dict() == second.to_dict()
    place = asked.coordinates.index("upper.v1")
    assert first["energy.dissipated"][-1] == pytest.approx(D[place, place] * 1e-4, rel=0.05)


def test_linear_models_count_the_momenta_as_free_coordinates(arm):
    answer = arm.linearize(q={"base.rx": 1, "base.ry": -0.7, "q1": 0.4})
    assert answer.summary["free_coordinates"] == 8
    assert answer.summary["verdict"].startswith("stable, undamped")
    with pytest.raises(UsageError, match="a floating base goes along no given motion"):
        kronbot.loads(ARM + "motion: {q1: {type: sinusoid, amplitude: 1, frequency: 1}}\n").linearize_along()


def test_a_base_floats_whatever_is_locked(arm):
    said = arm.modes().summary
    assert said["model_locked"].endswith("joints locked q1, q2; the base floats")
    assert said["model_free"].endswith("joints free q1, q2; the base floats")


def test_statics_of_a_floating_base_is_where_nothing_acts(arm):
    answer = arm.statics(q={"base.x": 2, "q1": 0.3})
    assert answer["torque.q1"] == pytest.approx([0])
    assert answer["base.x"] == [2]
    with pytest.raises(UsageError, match="a floating base has no supports.*{type: fixed} without its rigid"):
        arm.statics(q=[0.3, 0], forces=[[1, 0, 0]])
    with pytest.raises(UsageError, match="a floating base has no supports"):
        kronbot.loads(ARM.replace("gravity: [0, 0, 0]", "gravity: [0, 0, -9.81]")).statics(q=[0, 0])


def test_statics_says_where_it_holds_a_floating_base(arm):
    """A force that yields the compliance has no equilibrium, nor has one that buckles an arm which nothing holds."""
    answer = arm.statics(q=[0.3, 0])
    assert answer.summary["stable"] and answer.summary["base"].startswith("held: compliance, stability and buckling")
    with pytest.raises(UsageError, match="a floating base has no supports"):
        arm.statics(q=[0, 0], forces=[[-1e5, 0, 0]], buckling=True)
    assert "base" not in kronbot.load("khang").statics().summary


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


# ------------------------------------------------------------------------------------------------- in free space

TUMBLING = {"base.rx": 0.5, "base.ry": 1.2, "base.rz": 0.3, "base.x": 0.2}


@pytest.mark.slow
def test_momenta_of_a_tumbling_canadarm_are_constant():
    """Its arm unfolds while the orbiter turns head over heels: both momenta to 1e-9, energy by the work of drives."""
    robot = kronbot.load("floating-canadarm", order="1")
    with policy.native("off"):  # compiling takes longer than the run
        run = robot.simulate(duration=2, step=0.2, qd=TUMBLING)
    assert run.summary["momentum_change"] < 1e-9
    assert run.summary["angular_momentum_change"] < 1e-9
    assert run.summary["energy_drift"] < 1e-8
    assert np.abs(np.cos(run["base.ry"])).min() < 0.4, "it should come near gimbal lock"
    L = np.stack([run[f"angular_momentum.{axis}"] for axis in "xyz"])
    assert np.abs(L).max() > 1e6
    assert np.ptp(L, axis=1) == pytest.approx(0, abs=1e-9 * np.abs(L).max() * 10)


def test_momenta_are_those_of_the_particles(arm):
    """Linear ones as the generalized momenta of base.x, y, z, angular ones summed up over particles."""
    robot = rigid_tree(3)
    robot["links"][1]["flexible"] = {"mass": 2, "length": 1, "EI": {"z": 50, "y": 60}, "modes": {"v": 2, "w": 1}}
    del robot["links"][1]["rigid"]
    oracle = Lagrangian(robot, 2)
    ours = moving(
        model(robot, "2"), p=lambda state, x: momentum(state).linear, L=lambda state, x: momentum(state).angular
    )
    rng = np.random.default_rng(0)
    q, qd = rng.uniform(-1, 1, (2, oracle.n)) * np.where([".v" in c or ".w" in c for c in oracle.coordinates], 0.1, 1)
    found = ours(q, qd, qd)
    assert found["p"] == pytest.approx((oracle.mass_matrix(q) @ qd)[:3], rel=1e-11)
    assert found["L"] == pytest.approx(oracle.angular_momentum(q, qd), rel=1e-10)


@pytest.mark.parametrize("solver", [rare("cvodes"), rare("rodas"), "dop853", rare("radau")])
def test_a_base_turns_head_over_heels(solver):
    """About a principal axis of its own: ry goes on evenly through both gimbal locks, and rx and rz rest."""
    robot = loaded(LONE)
    run = robot.simulate(duration=5, step=0.37, qd={"base.ry": 2, "base.x": 1}, solver=solver, rtol=1e-9)
    assert run["base.ry"] == pytest.approx(2 * run["t"], abs=1e-6)
    assert run["base.ry_dot"] == pytest.approx(2 * np.ones(len(run["t"])), abs=1e-6)
    assert run["base.x"] == pytest.approx(run["t"], abs=1e-7)
    for name in ("base.rx", "base.rz"):
        assert np.abs(run[name]).max() < 1e-9


LONE = """
kronbot: 1
name: lone
gravity: [0, 0, 0]
base: {type: floating, rigid: {mass: 3, inertia: {Ixx: 0.3, Iyy: 0.7, Izz: 0.8}}}
links:
  - {name: mast, joint: {type: fixed}, pose: {}}
"""


@pytest.mark.parametrize("start", [rare({}), {"base.rx": 0.4, "base.ry": 1.5, "base.rz": -2}])
def test_a_tumbling_body_follows_eulers_equations(start):
    """Against quaternions: angles may go round, the attitude is the same; also from a start near gimbal lock."""
    rates = {"base.rx": 0.4, "base.ry": 1.1, "base.rz": -0.7}
    run = loaded(LONE).simulate(duration=12, step=0.5, q=start, qd=rates, rtol=1e-11, atol=1e-13)
    J = np.array([0.3, 0.7, 0.8])

    def equations(t, y):
        (x, y_, z, w), omega = y[:4], y[4:]
        a, b, c = omega
        turning = 0.5 * np.array([w * a + y_ * c - z * b, w * b + z * a - x * c, w * c + x * b - y_ * a,
                                  -x * a - y_ * b - z * c])  # fmt: skip
        return np.concatenate([turning, np.cross(J * omega, omega) / J])

    rx, ry, rz = (start.get(f"base.r{axis}", 0.0) for axis in "xyz")
    B = np.array(
        [
            [1, 0, -np.sin(ry)],
            [0, np.cos(rx), np.sin(rx) * np.cos(ry)],
            [0, -np.sin(rx), np.cos(rx) * np.cos(ry)],
        ]
    )
    first = np.concatenate([quaternions(turn(rx, ry, rz)), B @ list(rates.values())])
    wanted = solve_ivp(equations, (0, 12), first, "DOP853", run["t"], rtol=1e-12, atol=1e-13).y.T
    crossed = np.abs(np.sin(run["base.ry"])).max()
    assert crossed > np.cos(np.pi / 6), "it should come into the other chart"
    for row, angles in zip(wanted, zip(*(run[f"base.r{axis}"] for axis in "xyz"), strict=True), strict=True):
        assert turn(*angles) == pytest.approx(of_quaternion(*row[:4]), abs=1e-7)
    rows = np.stack([[run[f"base.r{axis}{end}"] for axis in "xyz"] for end in ("", "_dot")])
    (x, y, _), (dx, dy, dz) = rows
    across = np.cos(y) * dz
    omega = np.array([dx - np.sin(y) * dz, np.cos(x) * dy + np.sin(x) * across, np.cos(x) * across - np.sin(x) * dy])
    assert pytest.approx(wanted[:, 4:], abs=1e-6) == omega.T


@pytest.mark.slow
def test_angles_are_continuous_and_the_same_by_any_solver():
    """The nearer a lock is passed the faster rx and rz go round: which way is no matter of the steps."""
    robot = loaded(LONE)
    qd = {"base.ry": 1.0, "base.rz": 0.004, "base.rx": 0.002}
    runs = [robot.simulate(duration=10, step=0.05, qd=qd, rtol=1e-10, solver=s) for s in ("cvodes", "dop853")]
    for axis in "xyz":
        assert runs[0][f"base.r{axis}"] == pytest.approx(runs[1][f"base.r{axis}"], abs=1e-6)
    assert max(np.abs(np.diff(runs[0]["base.rx"])).max(), np.abs(np.diff(runs[0]["base.rz"])).max()) < np.pi + 0.1


@pytest.mark.slow
def test_rows_do_not_change_a_run(arm):
    """Also not where it changes its chart."""
    qd = {"base.ry": 1.3, "base.rx": 0.3, "q1": 1}
    few, many = (arm.simulate(duration=2, step=step, qd=qd, rtol=1e-7) for step in (1.0, 0.25))
    assert many["base.rx"][::4].tolist() == few["base.rx"].tolist()
    assert {**few.summary} == {**many.summary}
    assert np.abs(np.cos(many["base.ry"])).min() < 0.5


@pytest.mark.slow
def test_outputs_of_a_tumbling_base_are_its_own(arm):
    """Rates of its angles and accelerations of its frame whatever the chart: against differences in time."""
    h, wanted = 1e-3, ["rate:base.rz", "acceleration:base", "velocity:base"]
    qd = {"base.ry": 1.3, "base.rx": 0.3, "q1": 1}
    run = arm.simulate(duration=1.4, step=h, qd=qd, rtol=1e-10, outputs=wanted)
    assert np.abs(np.cos(run["base.ry"])).min() < 0.4
    pairs = [("base.rz", "rate.base.rz"), ("rate.base.rz", "base.rz_dot"), ("base.x", "velocity.base.x")]
    pairs += [(f"velocity.base.{axis}", f"acceleration.base.{axis}") for axis in ("x", "z", "rx", "ry", "rz")]
    for name, rate in pairs:
        if name == "rate.base.rz":
            assert run[name] == pytest.approx(run[rate], abs=1e-12)
            continue
        size = np.abs(run[rate]).max()
        assert (run[name][2:] - run[name][:-2]) / (2 * h) == pytest.approx(run[rate][1:-1], abs=1e-3 * size)
    with pytest.raises(UsageError, match="acceleration of 'base.rz'"):
        arm.simulate(duration=1, outputs=["acceleration:base.rz"])


@pytest.mark.slow
def test_drives_leave_the_base_alone():
    """Joints of a rigid arm go along their motion by torques, or exactly, while the base goes where it must."""
    text = ARM.replace(
        "    flexible: {mass: 2, length: 1, EI: {y: 100, z: 100}, modes: {v: 1, w: 1}}",
        "    rigid: {mass: 2, com: [0.5, 0, 0], inertia: {Ixx: 0.1, Iyy: 0.3, Izz: 0.4}}",
    )
    moves = "{type: polynomial, from: 0, to: 1, duration: 2, degree: 5}"
    text = text.replace("gravity: [0, 0, 0]", "gravity: [0, 0, -9.81]")
    motion = f"motion: {{q1: {moves}, q2: {moves}}}\n"
    exact = f"simulate: {{drive: {{q1: {{motion: {moves}}}, q2: {{motion: {moves}}}}}}}\n"
    start = {"qd": {"base.ry": 0.8, "base.rx": 0.2}, "duration": 0.4, "step": 0.1, "rtol": 1e-11, "atol": 1e-13}
    torques, prescribed = kronbot.loads(text + motion).simulate(**start), kronbot.loads(text + exact).simulate(**start)
    assert torques.summary["peak_deviation.q1"] < 1e-9
    assert torques["torque.q1"] == pytest.approx(prescribed["torque.q1"], abs=1e-8)
    for name in (*BASE, "momentum.z", "angular_momentum.x"):
        assert torques[name] == pytest.approx(prescribed[name], abs=1e-8)
    # Weight alone acts from outside.
    assert torques["momentum.z"] == pytest.approx(torques["momentum.z"][0] - 13 * 9.81 * torques["t"], abs=1e-8)
    assert torques["momentum.x"] == pytest.approx(torques["momentum.x"][0], abs=1e-9)
    # What holds an arm against gravity is nothing where all of it falls.
    held = "simulate: {drive: {q1: {pd: {kp: 3, kd: 1}}, q2: {pd: {kp: 3, kd: 1}}}}\n"
    falls = kronbot.loads(text + held).simulate(duration=0.5, step=0.5)
    for name in ("q1", "q2", "torque.q1", "torque.q2", "base.rx", "base.ry", "base.rz"):
        assert np.abs(falls[name]).max() < 1e-9
    assert falls["base.z"][-1] == pytest.approx(-9.81 / 8, rel=1e-7)


def test_a_run_may_not_begin_in_gimbal_lock_nor_in_an_equilibrium_of_what_falls(arm):
    with pytest.raises(UsageError, match="gimbal lock"):
        arm.simulate(duration=1, q={"base.ry": "pi/2"})
    assert arm.simulate(duration=0.1, step=0.1, start="equilibrium", q={"base.y": 2})["base.y"] == pytest.approx([2, 2])
    with pytest.raises(UsageError, match="a floating base falls"):
        kronbot.loads(ARM.replace("gravity: [0, 0, 0]", "gravity: [0, 0, -9.81]")).simulate(1, start="equilibrium")
    start = "simulate: {start: equilibrium}\n"
    assert "simulate" not in kronbot.loads(ARM + start).check().summary
    falling = kronbot.loads(ARM.replace("gravity: [0, 0, 0]", "gravity: [0, 0, -9.81]") + start)
    assert falling.check().summary["simulate"].startswith("refused: a floating base falls")


def test_outer_forces_act_in_every_chart():
    """One in the axes of the world, a moment in those of the base: x = t^2/2, ry = t^2/2 through gimbal lock."""
    forces = "[{frame: base, force: [3, 0, 0]}, {frame: base, moment: [0, 0.7, 0], axes: body}]"
    run = kronbot.loads(f"{LONE}simulate: {{forces: {forces}}}\n").simulate(duration=3, step=0.5, rtol=1e-10)
    for name in ("base.x", "base.ry"):
        assert run[name] == pytest.approx(run["t"] ** 2 / 2, abs=1e-7)
    assert run["angular_momentum.y"] == pytest.approx(0.7 * run["t"], abs=1e-7)
    assert run["momentum.x"] == pytest.approx(3 * run["t"], abs=1e-7)
    assert run.summary["energy_drift"] < 1e-8


HUNG = LONE.replace("gravity: [0, 0, 0]", "gravity: [0, 0, -9.81]") + "elements:\n"
CORNERS = [(-1, -1), (-1, 1), (1, -1), (1, 1)]
HUNG += "".join(
    f"  - {{name: s{i}, type: spring, between: [world, base], points: [[{x}, {y}, 2], [{x}, {y}, 0.1]], stiffness: 50, "
    "rest: 1}\n"
    for i, (x, y) in enumerate(CORNERS)
)


@pytest.mark.slow
def test_springs_from_the_world_hold_a_floating_base():
    """Four upright springs: 4 k (1.9 - z - 1) = m g, from a start that is off and turned; a run may begin there."""
    robot = kronbot.loads(HUNG)
    wanted = 0.9 - 3 * 9.81 / 200
    found = robot.statics(q={"base.x": 0.2, "base.ry": 0.1, "base.rz": -0.1, "base.z": 0.3})
    assert found["base.z"] == pytest.approx([wanted], rel=1e-9)
    for name in ("base.x", "base.y", "base.rx", "base.ry", "base.rz"):
        assert abs(found[name][0]) < 1e-9
    assert found.summary["stable"] is True
    pulled = robot.statics(q={}, forces=[[0, 0, -10]])
    assert pulled["base.z"] == pytest.approx([wanted - 10 / 200], rel=1e-9)
    # About it nothing falls: upright sqrt(4 k / m), whatever question is asked.
    at = {"base.z": wanted}
    for answer in (robot.modes(q=at)["frequencies_free"], robot.linearize(equilibrium=True)["frequencies"]):
        assert np.abs(answer - np.sqrt(200 / 3)).min() < 1e-6
        assert answer.min() > 0.1
    linear = robot.linearize(q=at)
    assert linear.summary["largest_h_L"] < 1e-9
    assert linear["frequencies"] == pytest.approx(robot.modes(q=at)["frequencies_free"], rel=1e-9)
    still = robot.simulate(duration=2, step=0.5, start="equilibrium")
    assert still["base.z"] == pytest.approx(np.full(5, wanted), abs=1e-7)


TOP = LONE.replace("gravity: [0, 0, 0]", "gravity: [0, 0, -9.81]").replace(
    "pose: {}}", "pose: {xyz: [0, 0, 0.4]}, rigid: {mass: 2}}"
)
ROPE = "type: tendon, between: [world, base], points: [[0, 0, 3], [0, 0, 0]], stiffness: 8e4, rest"
OF_NOTHING = {
    "slack": f"{ROPE}: 3.5",
    "damper": "type: damper, between: [world, base], points: [[0, 0, 3], [0, 0, 0]], damping: 0.001",
    "idle": "type: actuator, between: [world, base], points: [[0, 0, 3], [0, 0, 0]], force: 0",
}


@pytest.mark.parametrize("kind", OF_NOTHING)
def test_what_holds_nothing_leaves_a_base_to_its_fall(kind):
    """Like a fall without the element."""
    said = loaded(f"{TOP}elements: [{{name: r, {OF_NOTHING[kind]}}}]\n").modes().summary
    assert said["free_coordinates_free"] == 6
    assert "unstable" not in said["verdict_free"] and "falling freely" in said["verdict_free"]


@pytest.mark.slow
def test_a_base_that_nothing_holds_falls_as_it_is_turned():
    """Beside all that holds nothing."""
    elements = ", ".join(f"{{name: {kind}, {said}}}" for kind, said in OF_NOTHING.items())
    robot = loaded(f"{TOP}elements: [{elements}]\n", "0")
    run = robot.simulate(duration=0.3, step=0.1, q={"base.ry": 1e-3}, rtol=1e-10)
    assert run["base.ry"] == pytest.approx(np.full(4, 1e-3), rel=1e-3)
    assert run["base.z"][-1] == pytest.approx(-9.81 * 0.045, rel=1e-3)


def test_a_tendon_holds_a_base_where_it_is_taut_alone():
    """A rope slack at 0 and taut lower down: a row of each."""
    robot = loaded(f"{TOP}elements: [{{name: r, {ROPE}: 3.5}}]\n")
    here, there = (robot.modes(q={"base.z": z}).summary["verdict_free"] for z in (0, -1))
    assert "falling freely" in here and here.startswith("stable")
    assert "falling freely" not in there and there.startswith("unstable")
    both = robot.modes(q={"base.z": [0, -1]})
    assert both.arrays["frequencies_free"].values[0, :6] == pytest.approx(np.zeros(6), abs=0)


def test_a_linear_model_of_a_base_that_does_not_fall_is_of_one_that_forces_hold():
    """It topples as in a run under m g at its origin; with the acceleration of its fall K_L is nothing."""
    robot = loaded(TOP)
    linear = robot.linearize()
    assert "in which the base does not fall, h_L is not zero" in linear.summary["verdict"]
    weight = loaded(f"{TOP}simulate: {{forces: [{{frame: base, force: [0, 0, {-linear['h_L'][2]}]}}]}}\n")
    run = weight.simulate(duration=1, step=0.5, q={"base.rx": 1e-4}, rtol=1e-11, atol=1e-14)
    rate = np.arccosh(run["base.rx"][-1] / 1e-4)
    assert run["base.z"][-1] == pytest.approx(0, abs=1e-6)
    assert np.abs(linear["poles"] - rate).min() == pytest.approx(0, abs=1e-5 * rate)
    falls = robot.linearize(qdd={"base.z": -9.81})
    assert "does not fall" not in falls.summary["verdict"]
    assert falls["K_L"] == pytest.approx(np.zeros((6, 6)), abs=1e-12)
    assert falls["h_L"] == pytest.approx(np.zeros(6), abs=1e-12)


# ------------------------------------------------------------------------------------------ the generalized Jacobian


@pytest.fixture(scope="module")
def lagrangian():
    return Lagrangian(yaml.safe_load(ARM), 2)


@pytest.mark.parametrize(
    ("frame", "axes"),
    [rare("endpoint", "body"), ("com:upper", "base"), rare("base", "body"), rare("base-to:base,fore", "base")],
)
def test_the_generalized_jacobian_is_the_motion_at_zero_momentum(arm, lagrangian, frame, axes):
    """Against poses a little later and earlier, when the base has gone as the momenta of the oracle demand."""
    rng = np.random.default_rng(8)
    q = rng.uniform(-1, 1, 10)
    q[7:9] *= 0.1
    rates = rng.uniform(-1, 1, 4)
    M = lagrangian.mass_matrix(q)
    qd = np.concatenate([-np.linalg.solve(M[:6, :6], M[:6, 6:] @ rates), rates])
    later, earlier = (arm.kinematics(q=q + h * qd, frame=frame)["T"] for h in (1e-5, -1e-5))
    now = arm.kinematics(q=q, frame=frame)["T"][:3, :3]
    change = (later - earlier) / 2e-5
    turning = change[:3, :3] @ now.T
    velocity, omega = change[:3, 3], np.array([turning[2, 1], turning[0, 2], turning[1, 0]])
    if axes == "body":
        velocity, omega = now.T @ velocity, now.T @ omega
    given = {"q": q, "frame": frame, "axes": axes, "generalized": True}
    found = arm.jacobian(**given)
    assert list(found.arrays["J_T"].columns) == ["q1", "upper.v1", "upper.w1", "q2"]
    assert found["J_T"] @ rates == pytest.approx(velocity, abs=1e-8)
    assert found["J_R"] @ rates == pytest.approx(omega, abs=1e-8)
    named = dict(zip(found.arrays["J_T"].columns, rates, strict=True))
    moving = arm.jacobian(qd=named, **given)
    assert moving["v"] == pytest.approx(velocity, abs=1e-8)
    assert moving["omega"] == pytest.approx(omega, abs=1e-8)


def test_generalized_jacobians_are_refused_where_they_mean_nothing(arm):
    with pytest.raises(UsageError, match="the base of this one is fixed"):
        kronbot.load("puma560").jacobian(generalized=True)
    with pytest.raises(UsageError, match="give no rates of it"):
        arm.jacobian(qd={"base.x": 1}, generalized=True)
    planar = kronbot.loads(PLANAR)
    # Where a third of the mass slides away, the rest goes back by a third.
    assert planar.jacobian(generalized=True)["J_T"] == pytest.approx(np.array([[0], [2 / 3], [0]]))
    assert planar.jacobian(generalized=True, frame="base")["J_T"] == pytest.approx(np.array([[0], [-1 / 3], [0]]))


PLANAR = """
kronbot: 1
name: planar
gravity: [0, 0, 0]
base: {type: floating, rigid: {mass: 2, inertia: {Ixx: 1, Iyy: 1, Izz: 1}}}
links:
  - {name: bar, joint: {type: prismatic, name: q1}, pose: {rpy: [-pi/2, 0, 0]}, rigid: {mass: 1}}
"""


# --------------------------------------------------------------------------- the same numbers, whoever computes them


def imported(text, folder):
    """The module of a text."""
    path = folder / f"module{len(list(folder.iterdir()))}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@settings(max_examples=1)
@given(robots(max_links=2, max_coordinates=4, floating=True), st.integers(0, 10**6))
def test_exported_functions_are_those_of_the_library(robot, seed):
    """M, forces, accelerations and Jacobians of random trees on a base that moves."""
    robot["name"] = "tree"
    ours = kronbot.loads(to_yaml(robot))
    q, qd, qdd = random_state(robot, 2, seed)
    functions = ours.export("mass_matrix", "inverse_dynamics", "forward_dynamics", "jacobian").casadi()

    def called(name, **given):
        function = functions[name]
        found = function(**{word: given[word] for word in function.name_in() if word in given})
        return {word: np.array(found[word]) for word in function.name_out()}

    wanted = ours.dynamics(q=q, qd=qd, qdd=qdd)
    size = np.abs(wanted["tau"]).max() + np.abs(wanted["M"]).max()
    assert called("mass_matrix", q=q)["M"] == pytest.approx(wanted["M"], abs=1e-11 * size)
    tau = called("inverse_dynamics", q=q, qd=qd, qdd=qdd)["tau"].ravel()
    assert tau == pytest.approx(wanted["tau"], abs=1e-11 * size)
    back = called("forward_dynamics", q=q, qd=qd, tau=tau)["qdd"].ravel()
    assert wanted["M"] @ (back - qdd) == pytest.approx(np.zeros(len(q)), abs=1e-10 * size)
    J = ours.jacobian(q=q)
    for name, values in called("jacobian", q=q).items():
        assert values == pytest.approx(J[name], abs=1e-12 * (1 + np.abs(J[name]).max()))


@pytest.mark.slow
def test_native_code_gives_the_same_bytes():
    """Also of runs that change their chart."""
    rows = np.random.default_rng(2).uniform(-0.7, 0.7, (40, 7))
    robot = ARM[: ARM.index("  - name: upper")] + ARM[ARM.index("  - name: fore") :]
    answers = []
    for choice in ("off", "on"):
        with policy.native(choice):
            fresh = kronbot.loads(robot)
            run = fresh.simulate(duration=1, step=0.1, qd={"base.ry": 1.3, "base.rx": 0.3, "q2": 1}, rtol=1e-6)
            answers.append((fresh.jacobian(q=rows, generalized=True), run))
    assert np.abs(np.cos(run["base.ry"])).min() < 0.5
    for interpreted, native in zip(*answers, strict=True):
        assert list(interpreted) == list(native)
        for name in interpreted:
            assert interpreted[name].tobytes() == native[name].tobytes()


def test_formulas_have_the_same_values(tmp_path):
    """M, J_T, J_R as functions of Python."""
    robot = kronbot.loads(
        "kronbot: 1\nname: a\ngravity: [0, 0, -9.81]\nbase: {type: floating, rigid: {mass: 3, com: [0.1, 0, 0.2], "
        "inertia: {Ixx: 1, Iyy: 2, Izz: 3/2}}}\nlinks:\n  - {name: a, joint: {type: revolute, name: q1}, "
        "pose: {xyz: [1, 0, 0], rpy: [pi/2, 0, 0]}, rigid: {mass: 2, com: [1/2, 0, 0]}}\n"
    )
    q = np.array([0.3, -0.2, 0.5, 0.7, -0.4, 1.1, 0.6])
    known = {name.replace(".", "_"): value for name, value in zip(robot.coordinates, q.tolist(), strict=True)}
    M, J = (robot.symbolic("python", array=array) for array in ("M", None))
    for written, numbers in ((M.dynamics(), robot.dynamics(q=q)), (J.jacobian(), robot.jacobian(q=q))):
        for name, text in written.source.items():
            function = getattr(imported(text, tmp_path), name)
            given = {word: known.get(word, 0.0) for word in inspect.signature(function).parameters}
            assert np.array(function(**given), dtype=float) == pytest.approx(numbers[name], abs=2e-12)


@pytest.mark.slow
def test_formulas_of_the_generalized_jacobian_are_its_numbers():
    """Written once with common parts: functions of every coordinate and parameter."""
    text = """
kronbot: 1
name: free
gravity: [0, 0, 0]
parameters: {m: 3}
base: {type: floating, rigid: {mass: 5, inertia: {Ixx: 1, Iyy: 2, Izz: 3}}}
links:
  - {name: a, joint: {type: prismatic, name: q1, rotor_inertia: 2, elastic: {stiffness: 9}}, pose: {xyz: [1, 0, 0]},
     rigid: {mass: m}}
"""
    robot, written = kronbot.loads(text), {}
    formulas = robot.symbolic("python", shared=True, seconds=600).jacobian(generalized=True)
    for code in formulas.source.values():
        exec(code, written)
    q = [0.3, -0.2, 0.5, 0.4, -0.7, 1.1, 0.6, 0.2]
    for m in (3.0, 1.7):
        numbers = robot.with_parameters(m=m).jacobian(q=q, generalized=True)
        for name in ("J_T", "J_R"):
            np.testing.assert_allclose(written[name](*q, m=m), numbers[name], rtol=0, atol=1e-14)
        assert not numbers["J_T"][:, 1].any()  # a motor moves nothing that is seen
