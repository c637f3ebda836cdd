"""Equations of motion in Tuan's Kronecker form against numbers, high precision and the brute-force Lagrangian."""

import json
from pathlib import Path

import casadi
import mpmath
import numpy as np
import pytest
import yaml
from oracles import Lagrangian
from random_robots import SPATIAL_ARM, coordinates
from robots_in_tests import model, moving, shipped
from thinned import rare

from kronbot import description
from kronbot.compute.trace import Trace
from kronbot.mechanics.multibody.recursion import inverse_dynamics
from kronbot.mechanics.multibody.state import generalized_inertia_matrix
from kronbot.questions.dynamics import Equations

STACKER = json.loads((Path(__file__).parents[1] / "data" / "stacker.json").read_text())
KHANG = json.loads((Path(__file__).parents[1] / "data" / "khang.json").read_text())


def terms(robot):
    """Every term of the equations at (q, qd, qdd)."""
    q, qd, qdd = (casadi.SX.sym(word, robot.n) for word in ("q", "qd", "qdd"))
    found = Equations(robot, q)
    outputs = {name: getattr(found, name) for name in ("M", "dM_dq", "C_star", "g")}
    outputs |= {"C": found.C(qd), "C_christoffel": found.C_christoffel(qd), "tau": found.tau(qd, qdd)}
    return Trace(robot.parameters, {"q": q, "qd": qd, "qdd": qdd}, outputs, "test")


def stacker():
    """The shipped stacker with the numbers of the reference."""
    text = yaml.safe_load(description.read("stacker").text)
    text["parameters"] |= STACKER["params"]
    return model(yaml.safe_dump(text, sort_keys=False))


def state_of(robot, order, seed):
    """q, qd, qdd without zeros."""
    scale = np.array([scale for *_, scale in coordinates(robot, order)])
    return np.random.default_rng(seed).uniform(0.3, 1, (3, len(scale))) * scale


def test_the_stacker_has_the_numbers_of_the_reference():
    """M (106), dM/dq, C* (107), C (97), Christoffel C, g and tau of the symbolic program; rounding only."""
    q, qd, qdd = (np.array(STACKER[word]) for word in ("q", "qdot", "qddot"))
    found = terms(stacker())(q, qd, qdd)
    wanted = {
        "M": STACKER["M"],
        "dM_dq": STACKER["dM_dq"],
        "C_star": STACKER["Cstar"],
        "C": STACKER["C_eq97"],
        "C_christoffel": STACKER["C_christoffel"],
        "g": STACKER["g_0_plus981_0"],
        "tau": np.add(STACKER["tau_no_gravity"], STACKER["g_0_plus981_0"]),
    }
    for name, values in wanted.items():
        values = np.array(values)
        assert np.abs(found[name] - values).max() < 1e-12 * np.abs(values).max(), name


def test_khang_at_a_bent_state_has_the_numbers_of_the_reference():
    """First-order kinematics off the rigid motion: M, both C, g + K q and tau of the one-link flexible arm."""
    robot = model(description.read("khang").text, "1")
    at = KHANG["nonlinear"]["state"]
    q, qd, qdd = [at["qa"], at["w"]], [at["qd"], at["wd"]], [at["qdd"], at["wdd"]]
    found, wanted = terms(robot)(q, qd, qdd), KHANG["nonlinear"]
    strain = np.array([0, KHANG["params"]["EI"] * KHANG["mode"]["k11"] * at["w"]])
    pairs = {"M": "M", "C": "C_eq97", "C_christoffel": "C_christoffel", "tau": "tau"}
    for name, key in pairs.items():
        assert np.abs(found[name] - wanted[key]).max() < 1e-12 * np.abs(wanted[key]).max(), name
    assert found["g"] + strain == pytest.approx(wanted["g"], rel=1e-12)


@pytest.mark.parametrize("name", ["stacker", rare("arm in space"), "puma560"])
def test_only_the_christoffel_form_is_skew_and_both_act_alike(name):
    """Mdot - 2C is skew for Christoffel's C, for (97) only its quadratic form is 0; C qd is one vector."""
    if name == "stacker":
        robot, (q, qd) = stacker(), (np.array(STACKER["q"]), np.array(STACKER["qdot"]))
    else:
        text = SPATIAL_ARM if name == "arm in space" else shipped(name)
        robot, (q, qd, _) = model(text), state_of(text, 2, 3)
    found = terms(robot)(q, qd, qd)
    n = robot.n
    Mdot = np.einsum("ijk,k->ij", found["dM_dq"].reshape(n, n, n), qd)
    skew, not_skew = Mdot - 2 * found["C_christoffel"], Mdot - 2 * found["C"]
    size = np.abs(found["C"]).max()
    assert np.abs(skew + skew.T).max() < 1e-12 * size
    assert np.abs(not_skew + not_skew.T).max() > 0.05 * size
    assert abs(qd @ not_skew @ qd) < 1e-12 * size * (qd @ qd)
    assert np.abs((found["C"] - found["C_christoffel"]) @ qd).max() < 1e-12 * size * np.abs(qd).max()
    assert np.abs(found["C"] - found["C_christoffel"]).max() > 0.05 * size


@pytest.mark.slow
@pytest.mark.parametrize(("name", "order"), [("puma560", 0), rare("arm in space", 2)])
def test_lagrange_is_the_recursion_and_the_oracle(name, order):
    """M, g, tau by derivatives of M, by the DeNOC recursion and by particles, stiffness and damping included."""
    text = SPATIAL_ARM if name == "arm in space" else shipped(name)
    robot, oracle = model(text, str(order)), Lagrangian(text, order)
    q, qd, qdd = state_of(text, order, 7)
    found = terms(robot)(q, qd, qdd)
    recursion = moving(
        robot,
        M=lambda state, x: generalized_inertia_matrix(state),
        tau=inverse_dynamics,
    )(q, qd, qdd)
    M, g, tau = oracle.mass_matrix(q), oracle.gravity_torque(q), oracle.inverse_dynamics(q, qd, qdd)
    assert np.abs(found["M"] - recursion["M"]).max() < 1e-12 * np.abs(M).max()
    assert np.abs(found["M"] - M).max() < 1e-11 * np.abs(M).max()
    size = np.abs(tau).max() + np.abs(g).max()  # what cancels in a torque is as large as this
    assert np.abs(found["g"] - g).max() < 1e-11 * size
    assert np.abs(found["tau"] - tau).max() < 1e-11 * size
    assert np.abs(found["tau"] - recursion["tau"]).max() < 1e-11 * size


class HighPrecision:
    """A rigid serial robot of standard rows in mpmath: M and g from homogeneous transforms and geometric Jacobians."""

    def __init__(self, robot):
        self.robot, self.n = robot, len(robot["links"])
        self.gravity = mpmath.matrix(robot["gravity"])

    def inertia_and_gravity(self, q):
        """M (n x n) and g (n x 1)."""
        T, axes, origins = mpmath.eye(4), [], []
        M, g = mpmath.zeros(self.n), mpmath.zeros(self.n, 1)
        for i, link in enumerate(self.robot["links"]):
            joint, row, body = link["joint"], link["dh"], link["rigid"]
            axes.append(T[:3, 2])
            origins.append(T[:3, 3])
            angle, tilt = q[i] + row["theta"], mpmath.mpf(row["alpha"])
            c, s, ca, sa = mpmath.cos(angle), mpmath.sin(angle), mpmath.cos(tilt), mpmath.sin(tilt)
            T = T * mpmath.matrix(
                [
                    [c, -s * ca, s * sa, row["a"] * c],
                    [s, c * ca, -c * sa, row["a"] * s],
                    [0, sa, ca, row["d"]],
                    [0, 0, 0, 1],
                ]
            )
            R = T[:3, :3]
            com = T[:3, 3] + R * mpmath.matrix(body.get("com", [0, 0, 0]))
            inertia = body["inertia"]
            tensor = R * mpmath.diag([inertia.get(key, 0) for key in ("Ixx", "Iyy", "Izz")]) * R.T
            J_T, J_R = mpmath.zeros(3, self.n), mpmath.zeros(3, self.n)
            for j in range(i + 1):
                a, r = axes[j], com - origins[j]
                J_T[:, j] = mpmath.matrix(
                    [a[1] * r[2] - a[2] * r[1], a[2] * r[0] - a[0] * r[2], a[0] * r[1] - a[1] * r[0]]
                )
                J_R[:, j] = a
            M += body["mass"] * J_T.T * J_T + J_R.T * tensor * J_R
            g -= body["mass"] * J_T.T * self.gravity
            M[i, i] += mpmath.mpf(joint["rotor_inertia"]) * mpmath.mpf(joint["gear"]) ** 2
        return M, g

    def slopes(self, q):
        """dM_ij/dq_k as [i, j, k], by central differences of step 1e-15 in 50 digits (error 1e-30)."""
        step = mpmath.mpf(10) ** -15
        slopes = np.empty((self.n,) * 3)
        for k in range(self.n):
            plus, minus = ([x + sign * step * (i == k) for i, x in enumerate(q)] for sign in (1, -1))
            change = (self.inertia_and_gravity(plus)[0] - self.inertia_and_gravity(minus)[0]) / (2 * step)
            slopes[:, :, k] = np.array(change.tolist(), dtype=float)
        return slopes


def test_puma560_against_fifty_digits():
    """dM/dq, C*, g and tau of a six-axis robot against differences in 50 digits; what is left is double rounding."""
    text = shipped("puma560")
    q, qd, qdd = state_of(text, 0, 11)
    found = terms(model(text))(q, qd, qdd)
    with mpmath.workdps(50):
        exact = HighPrecision(text)
        M, g = (np.array(part.tolist(), dtype=float) for part in exact.inertia_and_gravity([mpmath.mpf(x) for x in q]))
        slopes = exact.slopes([mpmath.mpf(x) for x in q])
    damping = np.array([link["joint"]["damping"] for link in text["links"]])
    C_star = slopes - slopes.transpose(2, 0, 1) / 2  # [i, j, k]: dM_ij/dq_k - 1/2 dM_jk/dq_i
    tau = M @ qdd + np.einsum("ijk,j,k", C_star, qd, qd) + g.ravel() + damping * qd
    wanted = {"M": M, "dM_dq": slopes.reshape(6, 36), "C_star": C_star.reshape(6, 36), "g": g.ravel(), "tau": tau}
    for name, values in wanted.items():
        assert np.abs(found[name] - values).max() < 1e-12 * np.abs(values).max(), name
