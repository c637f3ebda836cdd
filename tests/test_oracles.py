"""The independent mechanics of oracles.py against textbooks, reference numbers, conservation laws and the exact rod."""

import copy
import functools
import itertools
import json
import math
from pathlib import Path

import mpmath
import numpy as np
import pytest
import scipy.linalg
import scipy.optimize
import yaml
from hypothesis import strategies as st
from oracles import Beam, Lagrangian, exp_rotation, gauss, number, rod, rotate_x, rotate_y, rotate_z, shapes, skew
from random_robots import SHAPES, SPATIAL_ARM, coordinates, robots, states, thin, to_yaml
from scipy.integrate import solve_ivp
from thinned import drawn, rare, thinned

REFERENCE = json.loads((Path(__file__).parent / "data" / "oracles_reference.json").read_text())


def robot_of(*links, gravity=(0, 0, 0), convention="standard"):
    return {"kronbot": 1, "name": "r", "convention": convention, "gravity": list(gravity), "links": list(links)}


def row(a=0, d=0, alpha=0, theta=0):
    return {"a": a, "d": d, "alpha": alpha, "theta": theta}


def revolute(name):
    return {"type": "revolute", "name": name}


def central(function, h=1e-3):
    """Sixth-order central difference of a function of one number at 0."""
    weights = {1: 45, 2: -9, 3: 1}
    return sum(w * (function(k * h) - function(-k * h)) for k, w in weights.items()) / (60 * h)


# ------------------------------------------------------------------------------------- rigid textbooks


def test_double_pendulum_of_point_masses():
    """The textbook M, Coriolis terms and gravity torque, relative angles from the horizontal."""
    m1, m2, l1, l2, g = 1.3, 0.7, 0.9, 0.6, 9.81
    arm = Lagrangian(
        robot_of(
            {"name": "a", "joint": revolute("q1"), "dh": row(l1), "payload": {"mass": m1}},
            {"name": "b", "joint": revolute("q2"), "dh": row(l2), "rigid": {"mass": m2}},
            gravity=(0, -g, 0),
        )
    )
    q, qd = np.array([0.4, -1.1]), np.array([1.7, -0.6])
    c2, s2 = math.cos(q[1]), math.sin(q[1])
    m12 = m2 * l2**2 + m2 * l1 * l2 * c2
    mass = [[m1 * l1**2 + m2 * (l1**2 + l2**2 + 2 * l1 * l2 * c2), m12], [m12, m2 * l2**2]]
    h = m2 * l1 * l2 * s2
    coriolis = [-h * (2 * qd[0] * qd[1] + qd[1] ** 2), h * qd[0] ** 2]
    g2 = m2 * g * l2 * math.cos(q.sum())
    np.testing.assert_allclose(arm.mass_matrix(q), mass, rtol=1e-14)
    np.testing.assert_allclose(arm.coriolis_torque(q, qd), coriolis, rtol=1e-14)
    np.testing.assert_allclose(arm.gravity_torque(q), [(m1 + m2) * g * l1 * math.cos(q[0]) + g2, g2], rtol=1e-14)


def test_stacker():
    """Tuan's stacker: pose, Jacobians, Hessians, M and torque of an independent symbolic program."""
    ref = REFERENCE["stacker"]
    p = ref["params"]
    inertia = {i: {f"I{c}{c}": p[f"I{i}{c}"] for c in "xyz"} for i in (2, 3)}
    stacker = Lagrangian(
        robot_of(
            {
                "name": "b1",
                "joint": {"type": "prismatic", "name": "q1"},
                "dh": row(alpha="pi/2"),
                "rigid": {"mass": p["m1"]},
            },
            {
                "name": "b2",
                "joint": revolute("q2"),
                "dh": row(d=p["d2"], alpha="pi/2"),
                "rigid": {"mass": p["m2"], "com": [0, p["yG2"], 0], "inertia": inertia[2]},
            },
            {
                "name": "b3",
                "joint": revolute("q3"),
                "dh": row(p["a3"]),
                "rigid": {"mass": p["m3"], "com": [p["l3"] - p["a3"], 0, 0], "inertia": inertia[3]},
            },
        )
    )
    q, qd, qdd = ref["q"], ref["qdot"], ref["qddot"]
    position, rotation = stacker.frame(q, "b3")
    pairs = [
        (position, ref["d03"]),
        (rotation, ref["R03"]),
        (np.hstack(stacker.jacobian(q, "b3")), np.hstack([ref["J_T3"], ref["J_R3"]])),
        (np.hstack(stacker.hessian(q, "b3")), np.hstack([ref["H_T3"], ref["H_R3"]])),
        (stacker.mass_matrix(q) / 1e3, np.array(ref["M"]) / 1e3),
        (stacker.inverse_dynamics(q, qd, qdd) / 1e3, np.array(ref["tau_no_gravity"]) / 1e3),
    ]
    for mine, theirs in pairs:
        np.testing.assert_allclose(mine, theirs, rtol=1e-13, atol=1e-13)


@drawn(5, 8, st.data())
def test_frames_are_products_of_four_by_four_matrices(data):
    """Rigid chains: both DH conventions and poses, multiplied out one elementary motion at a time."""
    robot = data.draw(robots(flexible=False, trees=False))
    q, *_ = data.draw(states(robot))
    oracle, at, joint_values = Lagrangian(robot), np.eye(4), dict(zip(Lagrangian(robot).coordinates, q, strict=True))

    def move(rotation=None, xyz=(0, 0, 0)):
        t = np.eye(4)
        t[:3, :3] = np.eye(3) if rotation is None else rotation
        t[:3, 3] = xyz
        return t

    for link in robot["links"]:
        joint = link["joint"]
        value = joint_values.get(joint.get("name"), 0.0)
        turned, slid = (0.0, value) if joint["type"] == "prismatic" else (value, 0.0)
        a, d, alpha, theta = (number(link.get("dh", row())[k]) for k in ("a", "d", "alpha", "theta"))
        motion = [move(rotate_z(theta + turned)), move(xyz=[0, 0, d + slid])]
        if "pose" in link:
            roll, pitch, yaw = (number(v) for v in link["pose"]["rpy"])
            before = [move(xyz=link["pose"]["xyz"]), move(rotate_z(yaw)), move(rotate_y(pitch)), move(rotate_x(roll))]
            steps, root = [*before, *motion], 6
        elif robot["convention"] == "standard":
            steps, root = [*motion, move(xyz=[a, 0, 0]), move(rotate_x(alpha))], 2
        else:
            steps, root = [move(rotate_x(alpha)), move(xyz=[a, 0, 0]), *motion], 4
        for k, step in enumerate(steps):
            at = at @ step
            if k + 1 == root:
                position, rotation = oracle.frame(q, link["name"], "root")
                np.testing.assert_allclose(np.c_[rotation, position], at[:3], atol=1e-13)
        position, rotation = oracle.frame(q, link["name"], "tip")
        np.testing.assert_allclose(np.c_[rotation, position], at[:3], atol=1e-13)


def test_body_equals_its_particles():
    """Five point masses on massless fixed links move like the one rigid body of their mass, centre and inertia."""
    rng = np.random.default_rng(3)
    mass, place = rng.uniform(0.2, 1, 5), rng.uniform(-0.5, 0.5, (5, 3))
    total, centre = mass.sum(), mass @ place / mass.sum()
    tensor = sum(-m * skew(s) @ skew(s) for m, s in zip(mass, place - centre, strict=True))
    inertia = {"I" + "xyz"[i] + "xyz"[j]: tensor[i, j] for i in range(3) for j in range(i, 3)}
    carrier = [
        {"name": "a", "joint": revolute("q1"), "dh": row(0.4, 0.1, 0.7, 0.2), "hub": {"inertia": {"Izz": 1}}},
        {"name": "b", "joint": revolute("q2"), "dh": row(0.3, 0, -0.5, 0)},
        {"name": "c", "joint": revolute("q3"), "dh": row(0.2, 0, 0, 0)},
    ]
    points = [
        {
            "name": f"p{k}",
            "parent": "c",
            "joint": {"type": "fixed"},
            "pose": {"xyz": list(place[k])},
            "payload": {"mass": mass[k]},
        }
        for k in range(5)
    ]
    body = {"mass": total, "com": list(centre), "inertia": inertia}
    many = Lagrangian(robot_of(*carrier, *points, gravity=(1, 2, 3)))
    one = Lagrangian(robot_of(*carrier[:2], {**carrier[2], "rigid": body}, gravity=(1, 2, 3)))
    q, qd, qdd = rng.normal(size=(3, 3))
    np.testing.assert_allclose(one.mass_matrix(q), many.mass_matrix(q), rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(one.inverse_dynamics(q, qd, qdd), many.inverse_dynamics(q, qd, qdd), rtol=1e-12)
    np.testing.assert_allclose(one.angular_momentum(q, qd), many.angular_momentum(q, qd), rtol=1e-12)


# ------------------------------------------------------------------------------------ flexible numbers


def khang_arm(order):
    p = REFERENCE["khang_one_link"]["params"]
    link = {
        "name": "arm",
        "joint": revolute("q1"),
        "dh": row(p["l"]),
        "flexible": {"mass": p["mOE"], "EI": {"z": p["EI"]}, "modes": {"v": 1}},
        "hub": {"inertia": {"Izz": p["J1"]}},
        "payload": {"mass": p["mE"]},
    }
    return Lagrangian(robot_of(link, gravity=(0, -p["g"], 0)), order=order)


def test_one_link_arm_of_khang():
    """M, g and tau at a bent, moving state, first-order kinematics."""
    ref = REFERENCE["khang_one_link"]["nonlinear"]
    s, arm = ref["state"], khang_arm(1)
    q, qd, qdd = [s["qa"], s["w"]], [s["qd"], s["wd"]], [s["qdd"], s["wdd"]]
    np.testing.assert_allclose(arm.mass_matrix(q), ref["M"], rtol=1e-13)
    np.testing.assert_allclose(arm.gravity_torque(q) + arm.stiffness @ q, ref["g"], rtol=1e-13)
    np.testing.assert_allclose(arm.inverse_dynamics(q, qd, qdd), ref["tau"], rtol=1e-13)


@pytest.mark.parametrize("order", [2, rare("exact")])
def test_second_order_adds_the_foreshortening_stiffness(order):
    """d tau_w/dw at w = 0 grows by the errata's term, from rotation and gravity; the first order lacks it."""
    ref = REFERENCE["khang_one_link"]
    s = ref["state_rigid"]
    slopes = [
        central(lambda w, arm=arm: arm.inverse_dynamics([s["q_a"], w], [s["qd_a"], 0], [s["qdd_a"], 0])[1])
        for arm in (khang_arm(1), khang_arm(order))
    ]
    assert slopes[1] - slopes[0] == pytest.approx(ref["K_L22_foreshortening_added"], rel=1e-9)


@functools.cache
def piedboeuf():
    """The arm of the paper with the rod of order 'exact'."""
    p = REFERENCE["piedboeuf"]["parameters"]
    link = {
        "name": "arm",
        "joint": revolute("q1"),
        "dh": row(p["l1x"] + p["l"]),
        "flexible": {
            "mass": p["rho"] * p["l"],
            "EI": {"z": p["EI"]},
            "modes": {"v": 8},
            "shape": "legendre",
            "root": p["l1x"],
        },
        "payload": {"mass": p["mt"], "com": [p["lcx"], p["lcy"], 0]},
    }
    return Lagrangian(robot_of(link, gravity=(0, -p["g"], 0)), order="exact")


@pytest.mark.parametrize("case", REFERENCE["piedboeuf"]["cases"], ids=lambda c: f"{c['theta_deg']}deg{c['fey']}N")
def test_exact_statics_of_piedboeuf_is_the_elastica(case):
    """Equilibrium under gravity and a dead load against the boundary value problem."""
    p, arm = REFERENCE["piedboeuf"]["parameters"], piedboeuf()
    force, tool = np.array([0, case["fey"], 0]), (p["l2x"], p["l2y"], 0)

    def place(x):
        return np.concatenate([[math.radians(case["theta_deg"])], x])

    def unbalanced(x):
        q = place(x)
        return arm.gravity_torque(q) + arm.stiffness @ q - arm.jacobian(q, "arm", point=tool)[0].T @ force

    x = scipy.optimize.root(lambda x: unbalanced(x)[1:], np.zeros(8), tol=1e-13).x
    curvature = [arm.beams["arm"].curvature(x)(g)[2] for g in p["gauges"]]
    assert unbalanced(x)[0] == pytest.approx(case["torque"], abs=1e-11)
    np.testing.assert_allclose(arm.frame(place(x), "arm", point=tool)[0][:2], case["e_R0"], atol=1e-11)
    np.testing.assert_allclose(curvature, case["kappa"], atol=1e-8)


@pytest.mark.parametrize(("order", "modes"), thinned([*itertools.product((1, 2), (1, 2, 3, 4))], [(1, 4), (2, 2)]))
def test_frequencies_of_the_canadarm(modes, order):
    """Joints locked and free at q = 0, where both orders have the same M."""
    ref = REFERENCE["canadarm"]
    data, known = ref["data"], ref["natural_frequencies_rad_s"][f"m{modes}"]
    links = [
        {
            "name": f"link{i}",
            "joint": revolute(f"q{i}"),
            "dh": row(data["a"][i]),
            "flexible": {"mass": data["mass"][i], "EI": {"z": data["EI"][i]}, "modes": {"v": modes}},
        }
        for i in range(3)
    ]
    arm = Lagrangian(robot_of(*links), order=order)
    mass, stiffness, f = arm.mass_matrix(np.zeros(arm.n)), arm.stiffness, arm.flexible
    locked = np.sqrt(scipy.linalg.eigh(stiffness[np.ix_(f, f)], mass[np.ix_(f, f)], eigvals_only=True))
    free = np.sqrt(np.abs(scipy.linalg.eigh(stiffness, mass, eigvals_only=True)))
    np.testing.assert_allclose(locked, known["joints_locked"], rtol=1e-9)
    np.testing.assert_allclose(free[3:], known["joints_free"][3:], rtol=1e-9)


# ---------------------------------------------------------------------------------------------- shapes


@pytest.mark.parametrize("i", [1, 2, 3, 8, 20])
def test_clamped_free_against_forty_digits(i):
    with mpmath.workdps(40):
        b = mpmath.findroot(lambda z: mpmath.cos(z) + 1 / mpmath.cosh(z), (2 * i - 1) * mpmath.pi / 2)
        sg = (mpmath.cosh(b) + mpmath.cos(b)) / (mpmath.sinh(b) + mpmath.sin(b))

        def phi(z):
            return mpmath.cosh(z) - mpmath.cos(z) - sg * (mpmath.sinh(z) - mpmath.sin(z))

        length, x = 1.7, np.linspace(0, 1.7, 13)
        exact = [[float(mpmath.diff(phi, b * s / length, k) / phi(b) * (b / length) ** k) for s in x] for k in range(3)]
    mine = shapes("clamped-free", "bending", i, x, length)[:, i - 1]
    for k in range(3):
        np.testing.assert_allclose(mine[k], exact[k], atol=1e-13 * float(b / length) ** k * 5)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", ["bending", "torsion"])
def test_shapes_are_clamped_and_their_derivatives_belong_to_them(shape, kind):
    length, x = 1.3, np.linspace(0.1, 1.2, 7)
    f = shapes(shape, kind, 4, x, length)
    for k in range(2):
        slope = central(lambda h, k=k: shapes(shape, kind, 4, x + h, length)[k])
        np.testing.assert_allclose(f[k + 1], slope, rtol=1e-8, atol=1e-8)
    at_zero = shapes(shape, kind, 4, [0.0], length)
    assert np.abs(at_zero[: 2 if kind == "bending" else 1]).max() < 1e-13


def test_normalization_of_shapes():
    length, x = 0.8, np.linspace(0, 0.8, 4001)
    tip = slice(-1, None)
    free = shapes("clamped-free", "bending", 5, x, length)
    np.testing.assert_allclose(free[0, :, -1], 1, rtol=1e-13)
    np.testing.assert_allclose(free[2, :, -1] / np.abs(free[2]).max(axis=1), 0, atol=1e-12)
    cb = shapes("craig-bampton", "bending", 6, x, length)
    np.testing.assert_allclose(cb[0, :, tip].ravel(), [1, 1, 0, 0, 0, 0], atol=1e-12)
    np.testing.assert_allclose(cb[1, 2:, -1] * length, 0, atol=1e-11)
    np.testing.assert_allclose(cb[0, 2:].max(axis=1), 1, rtol=1e-6)
    assert (np.abs(cb[0, 2:]).max(axis=1) < 1 + 1e-12).all()
    assert (cb[0, 2:, 5] > 0).all()
    np.testing.assert_allclose(shapes("polynomial", "bending", 2, [0.5], length)[0, :, 0], [0.25, 0.125])
    np.testing.assert_allclose(shapes("polynomial", "torsion", 2, [0.5], length)[0, :, 0], [0.5, 0.25])
    np.testing.assert_allclose(shapes("legendre", "bending", 2, [0.6], length)[0, :, 0], [0.5625, 0.5625 * 0.5])
    np.testing.assert_allclose(shapes("legendre", "torsion", 2, [0.6], length)[0, :, 0], [0.75, 0.75 * 0.5])
    np.testing.assert_allclose(shapes("legendre", "torsion", 3, [length], length)[0, :, 0], 1)
    np.testing.assert_allclose(np.abs(shapes("clamped-free", "torsion", 3, [length], length)[0, :, 0]), 1)


# ----------------------------------------------------------------------------------- pose of a section


def test_exponential_of_a_rotation_vector():
    """The series is scipy's expm up to |theta| = pi."""
    for theta in ([0, 0, 0], [1e-9, 0, 0], [0.3, -0.2, 0.5], [math.pi, 0, 0], [1.8, -1.7, 1.9]):
        theta = np.array(theta, float)
        np.testing.assert_allclose(exp_rotation(theta), scipy.linalg.expm(skew(theta)), atol=3e-15)


def test_rod_of_constant_curvature():
    """A helix: R = exp(x skew(kappa)), r its integral."""
    kappa, length = np.array([0.7, -0.9, 1.3]), 2.0
    r, rotation = rod([lambda x, k=k: k for k in kappa], length)
    np.testing.assert_allclose(rotation, scipy.linalg.expm(length * skew(kappa)), atol=1e-11)
    block = np.zeros((4, 4))
    block[:3, :3], block[:3, 3] = skew(kappa), [1, 0, 0]
    np.testing.assert_allclose(r, scipy.linalg.expm(length * block)[:3, 3], atol=1e-11)


def bent_beam(shape, order):
    data = {"mass": 1, "EI": {"y": 1, "z": 1}, "GJ": 1, "modes": {"v": 2, "w": 2, "torsion": 2}, "shape": shape}
    return Beam(data, 1.2, order)


Q_F = np.array([0.2, -0.05, 0.15, 0.06, 0.3, -0.1])


def piedboeuf_16(beam, x, q_f):
    """Rotation matrix (16) of Piedboeuf, each entry integrated as printed."""
    node, weight = gauss(60)

    def at(s):
        f = beam.fields(s)
        out = [np.einsum("i,kij->kj", q, part) for q, part in zip(np.split(q_f, [2, 4]), f, strict=True)]
        return out[0], out[1], out[2]

    (_, v1, v2), (_, w1, w2), (a0, a1, _) = at(node * x)
    vp, wp, a = (values[k][0] for values, k in zip(at(np.array([x])), (1, 1, 0), strict=True))

    def integral(f):
        return float(f @ weight * x)

    return np.array(
        [
            [1 - (vp**2 + wp**2) / 2, -vp - integral(a1 * w1), -wp + integral(a1 * v1)],
            [vp - integral(a0 * w2), 1 - (vp**2 + a**2) / 2, -a - integral(v1 * w2)],
            [wp + integral(a0 * v2), a - integral(v2 * w1), 1 - (wp**2 + a**2) / 2],
        ]
    )


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("x", [0.5, 1.2])
def test_rotation_expands_to_piedboeuf_16(shape, x):
    """exp(theta) - (16) is of third order: halving the deformation divides it by eight."""
    beam = bent_beam(shape, 2)
    error = [np.abs(beam.pose(x, e * Q_F)[1] - piedboeuf_16(beam, x, e * Q_F)).max() for e in (0.02, 0.01)]
    assert error[0] / error[1] == pytest.approx(8, rel=0.06)


@pytest.mark.parametrize("shape", thinned([*SHAPES], [*SHAPES][:2]))
@pytest.mark.parametrize(("order", "factor"), [(1, 4), (2, 8)])
def test_pose_against_the_exact_rod(shape, order, factor):
    """The error of the truncated kinematics is of the next order, in position and rotation."""
    beam, errors = bent_beam(shape, order), []
    for e in (0.1, 0.05):
        r, rotation = rod(beam.curvature(e * Q_F), beam.length)
        mine = beam.pose(beam.length, e * Q_F)
        errors.append([np.abs(mine[0] - r).max(), np.abs(mine[1] - rotation).max()])
    np.testing.assert_allclose(np.array(errors[0]) / errors[1], factor, rtol=0.12)


@pytest.mark.parametrize("shape", SHAPES)
def test_exact_order_is_the_rod(shape):
    """Magnus steps in the dynamics against DOP853, at deflections of a third of the length."""
    beam = bent_beam(shape, "exact")
    places = [0.3, 0.31, 1.2]
    r, rotation = rod(beam.curvature(2 * Q_F), 1.2, places)
    for k, x in enumerate(places):
        mine = beam.pose(x, 2 * Q_F)
        np.testing.assert_allclose(mine[0], r[k], atol=2e-11)
        np.testing.assert_allclose(mine[1], rotation[k], atol=2e-11)


# --------------------------------------------------------------------------- polar inertia and damping


def spinning_beam(order, modes, tilt=0.0):
    """A beam lying along its joint's axis z (tilted by an angle), spinning about itself."""
    wrist = {
        "name": "beam",
        "joint": {"type": "fixed"},
        "pose": {"xyz": [0, 0, 0], "rpy": [0, -math.pi / 2 + tilt, 0]},
        "flexible": {"mass": 1, "length": 2, "polar_inertia": 0.3, "EI": {"y": 1, "z": 1}, "GJ": 1, "modes": modes},
    }
    return Lagrangian(robot_of({"name": "hub", "joint": revolute("q1"), "dh": row()}, wrist), order)


@pytest.mark.parametrize("order", [rare(0), rare(1), 2, "exact"])
def test_polar_inertia_of_a_straight_beam(order):
    beam = spinning_beam(order, {"v": 1})
    q, qd = np.zeros(beam.n), np.eye(beam.n)[0] * 3.0
    assert beam.kinetic_energy(q, qd) == pytest.approx(0.3 * 2 * 9 / 2, rel=1e-13)
    np.testing.assert_allclose(beam.angular_momentum(q, qd), [0, 0, 0.3 * 2 * 3], atol=1e-13)
    tilted = spinning_beam(order, {"v": 1}, tilt=0.3)  # rod m l^2 / 3 sin^2 and the axial part of the rate
    inertia = 4 / 3 * math.sin(0.3) ** 2 + 0.6 * math.cos(0.3) ** 2
    assert tilted.mass_matrix(q)[0, 0] == pytest.approx(inertia, rel=1e-13)


def test_polar_inertia_of_torsion():
    """At rest T = 1/2 int Ip alpha_dot^2 dx; the first torsion mode has int sin^2 = l / 2."""
    beam = spinning_beam(2, {"torsion": 1})
    mass = beam.mass_matrix([0.4, 0.2])
    np.testing.assert_allclose(mass, [[0.6, 0.3 * 2 * 2 / math.pi], [0.3 * 2 * 2 / math.pi, 0.3]], rtol=1e-12)


@pytest.mark.parametrize("order", [2, "exact"])
def test_axial_rate_of_a_bent_beam(order):
    """In section axes the axial rate of a rod that bends only is int (w'' v'_dot - v'' w'_dot) dx, to second order."""
    data = {"mass": 1, "polar_inertia": 0.5, "EI": {"y": 1, "z": 1}, "modes": {"v": 1, "w": 1}, "shape": "legendre"}
    flexible = {**data, "length": 1, "mass": 1e-12}
    link = {"name": "b", "joint": {"type": "fixed"}, "pose": {"xyz": [0, 0, 0]}, "flexible": flexible}
    beam = Lagrangian(robot_of(link), order)
    q, qd = 1e-3 * np.array([1.0, -2.0]), np.array([0.7, 0.4])
    axial = 2 * (q[1] * qd[0] - q[0] * qd[1])  # times x^2, both shapes being x^2
    assert beam.kinetic_energy(q, qd) == pytest.approx(0.5 / 2 * axial**2 / 5, rel=1e-4)


def test_structural_damping_of_the_clamped_beam():
    """Each mode of the bare beam gets its own ratio; Rayleigh damping is alpha M + beta K."""
    modes = {"v": 2, "w": 1, "torsion": 2}
    base = {"mass": 2, "EI": {"y": 30, "z": 70}, "GJ": 9, "polar_inertia": 0.02, "modes": modes, "shape": "legendre"}
    ratios = [0.01, 0.02, 0.03, 0.04, 0.05]
    mass, stiffness, damping = Beam({**base, "damping": {"ratio": ratios}}, 1.4, 2).matrices()
    np.testing.assert_allclose(damping, damping.T, atol=1e-12)
    for block in (slice(0, 2), slice(2, 3), slice(3, 5)):
        square, phi = scipy.linalg.eigh(stiffness[block, block], mass[block, block])
        modal = phi.T @ damping[block, block] @ phi
        np.testing.assert_allclose(modal, np.diag(2 * np.array(ratios[block]) * np.sqrt(square)), atol=1e-9)
    *_, rayleigh = Beam({**base, "damping": {"alpha": 0.3, "beta": 0.02}}, 1.4, 1).matrices()
    np.testing.assert_allclose(rayleigh, 0.3 * mass + 0.02 * stiffness, rtol=1e-12)
    one = Beam({"mass": 2, "EI": {"z": 5}, "modes": {"v": 1}, "damping": {"ratio": 0.07}}, 1.4, 1).matrices()
    assert one[2][0, 0] == pytest.approx(2 * 0.07 * math.sqrt(one[0][0, 0] * one[1][0, 0]), rel=1e-12)


def test_mass_matrix_of_the_bare_beam_is_that_of_the_robot():
    link = copy.deepcopy(SPATIAL_ARM["links"][1])
    link["joint"] = {"type": "fixed"}
    del link["hub"]
    link["flexible"]["modes"] = {"v": 2, "w": 2, "torsion": 2}
    oracle = Lagrangian(robot_of(link), 2)
    mass, stiffness, _ = oracle.beams["arm"].matrices()
    np.testing.assert_allclose(oracle.mass_matrix(np.zeros(6)), mass, atol=1e-13)
    np.testing.assert_allclose(oracle.stiffness, stiffness, atol=1e-10)


# --------------------------------------------------------------------------------------- random robots


@drawn(1, 2, st.data())
def test_power_is_the_rate_of_energy(data):
    """d(T + V)/dt = tau qd - qd D qd along any motion, for every order."""
    robot, order = data.draw(robots()), data.draw(st.sampled_from([0, 1, 2, "exact"]))
    q, qd, qdd = data.draw(states(robot, order))
    oracle = Lagrangian(robot, order)

    def energy(t):
        at, rate = q + t * qd + t * t / 2 * qdd, qd + t * qdd
        return oracle.kinetic_energy(at, rate) + sum(oracle.potential_energy(at))

    power = qd @ oracle.inverse_dynamics(q, qd, qdd) - qd @ oracle.damping @ qd
    scale = 1 + abs(power) + abs(energy(0))
    assert abs(central(energy, 2e-3) - power) < 2e-8 * scale


@drawn(2, 3, st.data())
def test_random_robots_are_sound(data):
    """M is positive definite and gives T; forward undoes inverse; Jacobians are rates of the pose; enough nodes."""
    robot = data.draw(robots())
    q, qd, qdd = data.draw(states(robot))
    oracle = Lagrangian(robot)
    assert oracle.coordinates == [name for name, *_ in coordinates(robot)]
    mass = oracle.mass_matrix(q)
    scale = np.sqrt(np.diag(mass))
    np.testing.assert_allclose(mass, mass.T, atol=1e-12 * np.abs(mass).max())
    assert np.linalg.eigvalsh(mass / np.outer(scale, scale)).min() > 1e-7
    assert oracle.kinetic_energy(q, qd) == pytest.approx(qd @ mass @ qd / 2, rel=1e-11, abs=1e-13)
    back = oracle.forward_dynamics(q, qd, oracle.inverse_dynamics(q, qd, qdd))
    np.testing.assert_allclose(mass @ back, mass @ qdd, rtol=1e-9, atol=1e-9)
    name = robot["links"][-1]["name"]
    linear, angular = oracle.jacobian(q, name, point=(0.1, 0.2, -0.3))
    rate = central(lambda t: oracle.frame(q + t * qd, name, point=(0.1, 0.2, -0.3))[0])
    turning = central(lambda t: oracle.frame(q + t * qd, name)[1]) @ oracle.frame(q, name)[1].T
    np.testing.assert_allclose(linear @ qd, rate, atol=1e-8)
    np.testing.assert_allclose(skew(angular @ qd), turning, atol=1e-8)
    finer = Lagrangian(robot, nodes=36)
    reference = finer.inverse_dynamics(q, qd, qdd)
    error = np.abs(oracle.inverse_dynamics(q, qd, qdd) - reference).max()
    assert error < 1e-11 * (1 + np.abs(reference).max() + np.abs(mass).max())


@drawn(2, 4, robots())
def test_yaml_text_says_the_same(robot):
    text = to_yaml(robot)
    assert yaml.safe_load(text) == robot
    assert not any(mark in text for mark in ("&", "*", "!!"))


def test_expressions():
    names = {"a": 2, "b": "a/4", "c": "-b**2"}
    assert number("pi/2") == math.pi / 2
    assert number("-90*deg") == pytest.approx(-math.pi / 2)
    assert number("sqrt(2)*sin(pi/4) + c", names) == pytest.approx(0.75)
    assert number("1e5") == 1e5
    with pytest.raises(ValueError, match="not an arithmetic"):
        number("__import__('os')")


# ---------------------------------------------------------------------------------------- conservation


@pytest.mark.slow
def test_spatial_arm_conserves_energy_and_momentum():
    """Free motion: energy with gravity along the first axis, momentum about it; without gravity the same."""
    arm = Lagrangian(thin(SPATIAL_ARM), 2)
    assert arm.coordinates == ["q1", "q2", "arm.v1", "arm.w1", "arm.t1", "q3"]
    q = np.array([0.3, 0.5, 0.02, -0.03, 0.05, -0.7])
    qd = np.array([0.8, -0.5, 0.1, 0.2, 0.0, 0.9])
    n, tau = arm.n, np.zeros(arm.n)

    def rate(_, y):
        return np.concatenate([y[n:], arm.forward_dynamics(y[:n], y[n:], tau)])

    end = solve_ivp(rate, (0, 0.1), np.concatenate([q, qd]), method="DOP853", rtol=1e-11, atol=1e-12).y[:, -1]

    def invariants(at, speed):
        energy = arm.kinetic_energy(at, speed) + sum(arm.potential_energy(at))
        return [energy, arm.angular_momentum(at, speed)[2]]

    np.testing.assert_allclose(invariants(end[:n], end[n:]), invariants(q, qd), atol=2e-9)
    # the momentum of the first joint is the angular momentum about its axis
    assert (arm.mass_matrix(q) @ qd)[0] == pytest.approx(arm.angular_momentum(q, qd)[2], rel=1e-12)
