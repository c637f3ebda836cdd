"""Jacobians and Hessians: the recursion against references, 40-digit differences, and the exactly integrated rod."""

import functools
import json
from pathlib import Path

import casadi
import mpmath
import numpy as np
import pytest
from hypothesis import strategies as st
from local_jacobians import local_jacobians
from oracles import Beam, Lagrangian, rod
from random_robots import SPATIAL_ARM, coordinates, robots
from robots_in_tests import model
from thinned import drawn, rare, thinned

import kronbot
from kronbot.errors import ComputationError, UsageError
from kronbot.kronecker.calculus import khang_derivative
from kronbot.library.robot import Robot
from kronbot.mechanics.multibody.kinematics import frame, relative_motion, truncated

STACKER = json.loads((Path(__file__).parents[1] / "data" / "stacker.json").read_text())


def motion_at(robot, q, of, to="base", body=False):
    """Pose, Jacobians and Hessians as numbers."""
    symbols = casadi.SX.sym("q", robot.n)
    moving = relative_motion(robot, symbols, frame(robot, of), frame(robot, to))
    star = moving.H_T_star
    moving = moving.in_body() if body else moving
    parts = {"r": moving.pose.r, "R": moving.pose.R, "H_T_star": star}
    parts |= {name: getattr(moving, name) for name in ("J_T", "J_R", "H_T", "H_R")}
    dense = [casadi.densify(part) for part in parts.values()]
    function = casadi.Function("f", [symbols, robot.parameters.symbols()], dense)
    values = function.call([np.asarray(q, dtype=float), robot.parameters.bound()])
    return {name: np.array(value) for name, value in zip(parts, values, strict=True)}


def test_stacker_has_the_reference_numbers():
    """Frame and centre of mass of body 3, in the base and in the body, to 1e-12 of the largest entry."""
    robot, q = kronbot.load("stacker-numeric").model, STACKER["q"]
    base, body, centre = (motion_at(robot, q, *a) for a in (("boom",), ("boom", "base", True), ("com:boom",)))
    pairs = [
        (base["R"], "R03"), (base["r"][:, 0], "d03"), (base["J_T"], "J_T3"), (base["H_T"], "H_T3"),
        (base["J_R"], "J_R3"), (base["H_R"], "H_R3"), (body["J_R"], "J_R3_body"), (body["H_R"], "H_R3_body"),
        (base["H_T_star"], "Hstar_T3_body"), (centre["J_T"], "J_TG3"), (centre["H_T"], "H_TG3"),
    ]  # fmt: skip
    for ours, name in pairs:
        wanted = np.array(STACKER[name])
        assert np.abs(ours - wanted).max() < 1e-12 * max(1, np.abs(wanted).max()), name


@drawn(
    2,
    4,
    robots() | robots(max_links=3, max_coordinates=4, yielding=True, floating=True),
    st.sampled_from([0, 1, 2]),
    st.integers(0, 10**6),
)
def test_recursion_is_the_direct_derivative(robot, order, seed):
    """Random trees, also with bearings, followers and afloat: every tip and root frame against automatic
    differentiation of homogeneous transforms."""
    scale = np.array([scale for _, _, scale in coordinates(robot, order)])
    q = np.random.default_rng(seed).uniform(0.3, 1, len(scale)) * scale
    ours, oracle = model(robot, str(order)), Lagrangian(robot, order)
    for link in (each for each in ours.links if each.name in oracle.links):
        for which, name in (("tip", link.name), ("root", f"{link.name}:root")):
            at = motion_at(ours, q, name, "world")
            wanted = (*oracle.jacobian(q, link.name, which), *oracle.hessian(q, link.name, which))
            for part, value in zip(("J_T", "J_R", "H_T", "H_R"), wanted, strict=True):
                assert np.abs(at[part] - np.array(value)).max(initial=0) < 1e-12 * max(1, np.abs(value).max(initial=0))


PAIRS = [("hand", "arm"), ("column", "hand:root"), ("com:hand", "arm"), ("arm", "com:arm")]


@pytest.mark.parametrize(
    ("of", "to", "order"),
    thinned(
        [(*pair, order) for pair in PAIRS for order in "12"],
        [(*PAIRS[3], "1")],
    ),
)
def test_relative_motion_is_that_of_the_relative_pose(of, to, order):
    """Up and down the tree: d = A^T (r_of - r_to), R = A^T R_of, derived directly; body axes likewise (53), (61)."""
    robot = model(SPATIAL_ARM, order)
    q = casadi.SX.sym("q", robot.n)
    a, b = (relative_motion(robot, q, frame(robot, name), frame(robot, "base")).pose for name in (to, of))
    d, R = a.R.T @ (b.r - a.r), a.R.T @ b.R

    def spin(rotation):
        columns = [casadi.reshape(casadi.jacobian(casadi.vec(rotation), q[k]), 3, 3) for k in range(robot.n)]
        skews = [column @ rotation.T for column in columns]
        return casadi.horzcat(*(casadi.vertcat(s[2, 1], s[0, 2], s[1, 0]) for s in skews))

    J_T, J_R = casadi.jacobian(d, q), spin(R)
    value = np.linspace(0.1, 0.3, robot.n)
    for body in (False, True):
        at = motion_at(robot, value, of, to, body)
        J = [R.T @ part if body else part for part in (J_T, J_R)]
        wanted = dict(zip(("J_T", "J_R"), J, strict=True))
        wanted |= {"H_T": khang_derivative(J[0], q), "H_R": khang_derivative(J[1], q)}
        for name, expression in wanted.items():
            function = casadi.Function("f", [q, robot.parameters.symbols()], [casadi.densify(expression)])
            exact = np.array(function(value, robot.parameters.bound()))
            assert np.abs(at[name] - exact).max() < 1e-12 * max(1, np.abs(exact).max()), name


PUMA_ROWS = [
    (0, 0, "pi/2"),
    (0.4318, 0, "0"),
    (0.0203, 0.15005, "-pi/2"),
    (0, 0.4318, "pi/2"),
    (0, 0, "-pi/2"),
    (0, 0, "0"),
]
RRP_ROWS = [(0.2, 0.5, "pi/3"), (0.7, -0.1, "-pi/2"), (0.1, 0.3, "pi/4")]


def rigid_robot(rows, prismatic, convention, body=True):
    """The same robot in standard rows, or in modified rows: the row's a and alpha go before the next joint."""
    lines = [f"kronbot: 1\nname: r\nconvention: {convention}\ngravity: [0, 0, 0]\nlinks:"]
    before = (0, "0")
    for i, (a, d, alpha) in enumerate(rows):
        kind = "prismatic" if i in prismatic else "revolute"
        own = (a, alpha) if convention == "standard" else before
        lines.append(f"  - name: b{i}\n    joint: {{type: {kind}, name: q{i}}}")
        lines.append(f"    dh: {{a: {own[0]}, d: {d}, alpha: {own[1]}, theta: 0.3}}")
        if body:
            lines.append("    rigid: {mass: 1.7, com: [-0.1, 0.02, 0.03]}")
        before = (a, alpha)
    if convention == "modified":  # what the last standard row has after its joint
        lines.append(
            f"  - name: end\n    joint: {{type: fixed}}\n    dh: {{a: {before[0]}, d: 0, alpha: {before[1]}, theta: 0}}"
        )
    return model("\n".join(lines) + "\n")


def homogeneous(rows, prismatic, q):
    """Product of the standard rows with 40 digits."""
    T = mpmath.eye(4)
    for i, (a, d, alpha) in enumerate(rows):
        alpha = {"0": 0, "pi/2": mpmath.pi / 2, "-pi/2": -mpmath.pi / 2, "pi/3": mpmath.pi / 3, "pi/4": mpmath.pi / 4}[
            alpha
        ]
        theta, shift = mpmath.mpf("0.3"), mpmath.mpf(str(d))
        theta, shift = (theta, shift + q[i]) if i in prismatic else (theta + q[i], shift)
        c, s, ca, sa, a = mpmath.cos(theta), mpmath.sin(theta), mpmath.cos(alpha), mpmath.sin(alpha), mpmath.mpf(str(a))
        T = T * mpmath.matrix(
            [[c, -s * ca, s * sa, a * c], [s, c * ca, -c * sa, a * s], [0, sa, ca, shift], [0, 0, 0, 1]]
        )
    return T


@pytest.mark.parametrize(
    ("rows", "prismatic", "convention"),
    [
        rare(PUMA_ROWS[1:5], (), "standard"),
        (RRP_ROWS, (2,), "standard"),
        rare(RRP_ROWS, (2,), "modified"),
    ],
)
def test_rigid_arms_agree_with_high_precision_differences(rows, prismatic, convention):
    """J and H of translation and rotation, in base and body axes, at the tip and at the centre of mass.

    Central differences of step 1e-20 in 100 digits are exact to 1e-38; both conventions alike.
    """
    robot = rigid_robot(rows, prismatic, convention)
    q = [0.3, -0.7, 0.5, 1.1, -0.4, 0.9][: len(rows)]
    n, h = len(q), mpmath.mpf(10) ** -20
    com = mpmath.matrix(["-0.1", "0.02", "0.03", 1])
    with mpmath.workdps(100):
        exact = [mpmath.mpf(value) for value in q]

        def moved(*steps):
            point = list(exact)
            for place, step in steps:
                point[place] += step
            return homogeneous(rows, prismatic, point)

        T = moved()
        first = [(moved((j, h)) - moved((j, -h))) / (2 * h) for j in range(n)]
        second = {
            (j, k): (moved((j, h), (k, h)) - moved((j, h), (k, -h)) - moved((j, -h), (k, h)) + moved((j, -h), (k, -h)))
            / (4 * h * h)
            for j in range(n)
            for k in range(n)
        }
        R, dR = T[:3, :3], [part[:3, :3] for part in first]
        spins = [part * R.T for part in dR]
        turns = {(j, k): part[:3, :3] * R.T + dR[j] * dR[k].T for (j, k), part in second.items()}

        def vee(S):
            return mpmath.matrix([S[2, 1], S[0, 2], S[1, 0]])

        origin = mpmath.matrix([0, 0, 0, 1])
        wanted = {}
        for name, point in (("tip", origin), ("com", com)):
            wanted[name, "J_T"] = [(part * point)[:3] for part in first]
            wanted[name, "H_T"] = {pair: (part * point)[:3] for pair, part in second.items()}
            wanted[name, "J_R"] = [vee(part) for part in spins]
            wanted[name, "H_R"] = {pair: vee(part) for pair, part in turns.items()}
        # In body axes J^(b) = R^T J, and its derivative has that of R^T too.
        for name, J, H in [(f, f"J_{x}", f"H_{x}") for f in ("tip", "com") for x in "TR"]:
            wanted[name, J, "body"] = [R.T * mpmath.matrix(list(column)) for column in wanted[name, J]]
            wanted[name, H, "body"] = {
                (j, k): dR[k].T * mpmath.matrix(list(wanted[name, J][j])) + R.T * mpmath.matrix(list(column))
                for (j, k), column in wanted[name, H].items()
            }
    link = robot.links[-1].name
    frames = {"tip": link} | ({"com": f"com:{link}"} if convention == "standard" else {})
    for (name, quantity, *axes), columns in wanted.items():
        if name not in frames:
            continue  # a modified row has its bodies in another frame
        ours = motion_at(robot, q, frames[name], "base", bool(axes))[quantity]
        ordered = columns if isinstance(columns, list) else [columns[j, k] for j in range(n) for k in range(n)]
        reference = np.array([[float(value) for value in column] for column in ordered]).T
        assert np.abs(ours - reference).max() < 1e-10, (name, quantity, axes)


@pytest.mark.parametrize("order", ["1", "2"])
def test_accelerations_follow_from_jacobian_and_hessian(order):
    """r'' = J qdd + H (qd x qd) and alpha = J_R qdd + H_R (qd x qd) along a random motion, by Taylor series in time."""
    robot = model(SPATIAL_ARM, order)
    rng = np.random.default_rng(3)
    q0, qd, qdd = rng.uniform(0.05, 0.2, (3, robot.n))
    q, t = casadi.SX.sym("q", robot.n), casadi.SX.sym("t")
    pose = relative_motion(robot, q, frame(robot, "endpoint"), frame(robot, "base")).pose
    path = casadi.SX(q0) + t * casadi.SX(qd) + t**2 / 2 * casadi.SX(qdd)
    r, R = (casadi.substitute(part, q, path) for part in (pose.r, pose.R))
    spin = casadi.reshape(casadi.jacobian(casadi.vec(R), t), 3, 3) @ R.T
    omega = casadi.vertcat(spin[2, 1], spin[0, 2], spin[1, 0])
    outputs = [casadi.jacobian(casadi.jacobian(r, t), t), casadi.jacobian(omega, t)]
    function = casadi.Function("f", [t, robot.parameters.symbols()], outputs)
    a, alpha = (np.array(value)[:, 0] for value in function(0, robot.parameters.bound()))
    at = motion_at(robot, q0, "endpoint")
    assert at["J_T"] @ qdd + at["H_T"] @ np.kron(qd, qd) == pytest.approx(a, abs=1e-13)
    assert at["J_R"] @ qdd + at["H_R"] @ np.kron(qd, qd) == pytest.approx(alpha, abs=1e-13)


ROD = {
    "mass": 1.0,
    "EI": {"y": 1.0, "z": 1.0},
    "GJ": 1.0,
    "polar_inertia": 0.01,
    "modes": {"v": 2, "w": 1, "torsion": 1},
    "shape": "legendre",
}


def one_beam(order):
    link = {
        "name": "rod",
        "joint": {"type": "fixed"},
        "dh": {"a": 1.2, "d": 0, "alpha": 0, "theta": 0},
        "flexible": ROD,
    }
    return model({"kronbot": 1, "name": "r", "convention": "standard", "gravity": [0, 0, 0], "links": [link]}, order)


@functools.cache
def exact_jacobians():
    """(q_f, J_T, J_R) of the exactly integrated rod, by differences, at a deformation and at half of it."""
    direction = np.array([0.3, -0.2, 0.25, 0.4])
    beam, step = Beam(ROD, 1.2, "exact"), 1e-5  # of a solution good to 1e-13 they leave 1e-8, a hundredth of the errors

    def exact(q):
        r, R = rod(beam.curvature(q), 1.2, rtol=1e-13, atol=1e-15)
        return np.asarray(r).reshape(-1, 3)[-1], np.asarray(R).reshape(-1, 3, 3)[-1]

    found = []
    for size in (0.1, 0.05):
        q = size * direction
        J_T, J_R = np.zeros((2, 3, 4))
        _, R = exact(q)
        for k in range(4):
            (r1, R1), (r2, R2) = (exact(q + sign * step * np.eye(4)[k]) for sign in (1, -1))
            J_T[:, k] = (r1 - r2) / (2 * step)
            spin = (R1 - R2) / (2 * step) @ R.T
            J_R[:, k] = spin[2, 1], spin[0, 2], spin[1, 0]
        found.append((q, J_T, J_R))
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("order", "slope"), [("1", 1), ("2", 2)])
def test_error_against_the_exact_rod_falls_with_the_order(order, slope):
    """J by differences of R' = R skew(kappa): order 2 is exact to first order in q_f, order 1 only at zero.

    The deformation is halved; the error must fall as its power (measured slope within 0.1).
    """
    robot, errors = one_beam(order), []
    for q, J_T, J_R in exact_jacobians():
        at = motion_at(robot, q, "rod")
        errors.append(max(np.abs(at["J_T"] - J_T).max(), np.abs(at["J_R"] - J_R).max()))
    slopes = np.log2(np.array(errors[:-1]) / errors[1:])
    assert slopes[-1] == pytest.approx(slope, abs=0.1)


def test_local_jacobians_are_the_first_order_polynomials():
    """(23), (24), (62)-(66) against the Taylor polynomial in q_f of order 2's own Jacobians, bending and torsion."""
    robot = one_beam("2")
    beam = robot.links[0].beam
    q = casadi.SX.sym("q", robot.n)
    at = beam.cross_sections([1.0], q)[0]
    full = (at.J_T, at.J_R)
    constant = local_jacobians(beam)
    outputs = [*(truncated(robot, q, J, 1) for J in full), constant.J_T(q), constant.J_R(q)]
    function = casadi.Function("f", [q, robot.parameters.symbols()], [casadi.densify(J) for J in outputs])
    values = [np.array(v) for v in function(np.linspace(0.3, 0.9, robot.n), robot.parameters.bound())]
    for ours, wanted in zip(values[2:], values[:2], strict=True):
        assert np.abs(ours - wanted).max() < 1e-13


def test_piedboeuf_endpoint_jacobian():
    """(38) as corrected: first-order polynomial of order 2's endpoint Jacobian in the hub frame."""
    robot = kronbot.load("piedboeuf").model
    q = casadi.SX.sym("q", robot.n)
    J_T = relative_motion(robot, q, frame(robot, "endpoint"), frame(robot, "arm:root")).J_T
    J = truncated(robot, q, J_T, 1)
    function = casadi.Function("f", [q, robot.parameters.symbols()], [casadi.densify(J)])
    eta = np.array([-0.05, 0.02, 0.01, -0.03, 0.02])
    ours = np.array(function(np.concatenate([[0.3], eta]), robot.parameters.bound()))
    l, l2x, l2y, i = 0.7845, 0.0115, -0.3159, np.arange(1, 6)  # noqa: E741 (the paper's letter)
    phi, slope = l ** (i + 1), (i + 1) * l**i
    shortening = np.outer(i + 1, i + 1) * l ** (i[:, None] + i + 1) / (i[:, None] + i + 1)
    assert ours[0, 1:] == pytest.approx(-l2y * slope - eta @ (l2x * np.outer(slope, slope) + shortening), abs=1e-14)
    assert ours[1, 1:] == pytest.approx(phi + l2x * slope - l2y * eta @ np.outer(slope, slope), abs=1e-14)
    assert not ours[:, 0].any()  # the hub frame does not see the joint


def test_order_1_loses_the_foreshortening():
    """The same Jacobian at order 1: the lever terms stay, the integral of phi' phi'^T is gone (errata, last entry)."""
    first, second = (motion_at(kronbot.load("piedboeuf", order=o).model, [0, 0.1, 0, 0, 0, 0], "arm") for o in "12")
    missing = second["J_T"] - first["J_T"]
    i = np.arange(1, 6)
    assert missing[0, 1:] == pytest.approx(-0.1 * 2 * (i + 1) * 0.7845 ** (i + 2) / (i + 2), abs=1e-14)
    assert np.abs(missing[1:, 1:]).max() < 1e-15


def test_the_world_and_a_link_called_base():
    """``base`` is the link where there is one, ``world`` never moves; both are the same frame in other robots."""
    text = kronbot.load("canadarm").description.source.text
    named = Robot(model(text.replace("name: upper", "name: base"), "2"))
    q = [0.3, 0.01, 0.02, 0.4, 0, 0, 0.5, 0, 0]
    upper = kronbot.load("canadarm").jacobian(q, frame="upper")["J_T"]
    assert (named.jacobian(q, frame="base")["J_T"] == upper).all()
    assert (named.jacobian(q, frame="base-to:world,base")["J_T"] == upper).all()
    assert not named.jacobian(q, frame="world")["J_T"].any()
    assert not kronbot.load("canadarm").jacobian(q, frame="base")["J_T"].any()
    with pytest.raises(UsageError, match=r"com:wrist, world$"):
        named.jacobian(q, frame="nowhere")


def test_wrong_frames_name_the_choices():
    """A frame that is not there, and the centre of mass of nothing."""
    robot = kronbot.load("canadarm").model
    for name in ("uper", "upper:tip", "com:", "com:q1", "base:root", "endpoint:root", ""):
        with pytest.raises(UsageError, match="upper"):
            frame(robot, name)
    massless = rigid_robot(RRP_ROWS, (2,), "standard", body=False)
    with pytest.raises(ComputationError, match="b0.*no mass"):
        motion_at(massless, [0, 0, 0], "com:b0")


@pytest.mark.slow
def test_hessians_cost_what_they_are():
    """Twice the joints are four times the entries; from step to step over all of them, it would be eight times."""

    def nodes(joints):
        twists = ("pi/2", "-pi/2")
        rows = [
            f"  - {{name: l{i}, joint: {{type: revolute, name: q{i + 1}}}, "
            f"dh: {{a: 0.2, d: 0.1, alpha: {twists[i % 2]}, theta: 0}}}}"
            for i in range(joints)
        ]
        head = "kronbot: 1\nname: chain\nconvention: standard\ngravity: [0, 0, 0]\nlinks:\n"
        robot = model(head + "\n".join(rows) + "\n", "0")
        q = casadi.SX.sym("q", joints)
        motion = relative_motion(robot, q, frame(robot, "endpoint"), frame(robot, "world"))
        return casadi.n_nodes(casadi.vertcat(motion.H_T, motion.H_R))

    assert nodes(32) < 5 * nodes(16)
