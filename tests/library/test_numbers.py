"""Numbers and names of answers by other roads: derivatives of the mass matrix, accelerations, complex values, names."""

import json

import casadi
import numpy as np
import pytest
import sympy
from oracles import Lagrangian
from yaml import safe_load

from kronbot import loads
from kronbot.cli.main import run as kronbot

ARM = """
kronbot: 1
name: arm
convention: standard
gravity: [0.5, -9.81, 1]
links:
  - name: upper
    joint: {type: revolute, name: q1, damping: 0.4, rotor_inertia: 0.01, gear: 5}
    dh: {a: 1.1, d: 0.1, alpha: 0.6, theta: 0.2}
    flexible: {mass: 2, EI: {y: 90, z: 70}, modes: {v: 2, w: 1}, damping: {ratio: 0.02}, shape: legendre}
    hub: {mass: 0.5, com: [0.1, 0.2, 0]}
  - name: slide
    joint: {type: prismatic, name: q2, damping: 3}
    dh: {a: 0.8, d: 0, alpha: -0.4, theta: 0.3}
    rigid: {mass: 0.7, com: [-0.3, 0.1, 0.2], inertia: {Ixx: 0.01, Iyy: 0.02, Izz: 0.03, Ixy: 0.001}}
  - name: stub
    parent: upper
    joint: {type: revolute, name: q3}
    dh: {a: 0.3, d: 0, alpha: 0, theta: 0}
    rigid: {mass: 0.2}
"""
NAMES = ("q1", "upper.v1", "upper.v2", "upper.w1", "q2", "q3")
Q = np.array([0.4, 0.03, -0.01, 0.02, 0.15, -0.8])
QD = np.array([1.1, -0.3, 0.2, 0.4, 0.5, -0.9])
QDD = np.array([-2.0, 1.5, 0.7, -1.1, 0.9, 3.0])


@pytest.fixture(scope="module")
def oracle():
    return Lagrangian(safe_load(ARM), 2)


@pytest.fixture(scope="module")
def arm():
    return loads(ARM)


def test_matrices_of_dynamics_are_those_of_particles(arm, oracle):
    """M, K, D, g and dM_dq; column a|b of dM_dq is column a of M derived by b, exactly (the oracle's trace)."""
    answer = arm.dynamics(Q, QD, QDD)
    assert arm.coordinates == NAMES
    for name, wanted in (
        ("M", oracle.mass_matrix(Q)),
        ("K", oracle.stiffness),
        ("D", oracle.damping),
        ("g", oracle.gravity_torque(Q)),
        ("tau", oracle.inverse_dynamics(Q, QD, QDD)),
    ):
        assert answer[name] == pytest.approx(wanted, rel=1e-9, abs=1e-9), name
        assert tuple(answer.arrays[name].rows) == NAMES
    columns = list(answer.arrays["dM_dq"].columns)
    assert columns == list(answer.arrays["C_star"].columns) == [f"{a}|{b}" for a in NAMES for b in NAMES]
    q, qd = casadi.SX.sym("q", 6), casadi.SX.sym("qd", 6)
    M = casadi.jacobian(oracle._generalized(q, qd), qd)
    for k, name in enumerate(NAMES):
        slope = np.array(casadi.Function("slope", [q], [casadi.jacobian(casadi.vec(M), q[k])])(Q)).reshape(6, 6).T
        ours = np.column_stack([answer["dM_dq"][:, columns.index(f"{a}|{name}")] for a in NAMES])
        assert ours == pytest.approx(slope, rel=1e-9, abs=1e-9), name
    # C_star (qd x qd) and both C qd are Mdot qd - dT/dq.
    coriolis = oracle.coriolis_torque(Q, QD)
    assert answer["C_star"] @ np.kron(QD, QD) == pytest.approx(coriolis, rel=1e-9, abs=1e-9)
    assert answer["C"] @ QD == pytest.approx(coriolis, rel=1e-9, abs=1e-9)
    assert answer["C_christoffel"] @ QD == pytest.approx(coriolis, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("frame", ["slide", "upper:root", "stub"])
def test_velocities_and_accelerations_in_base_and_body_axes(arm, oracle, frame):
    """Of the point and of the frame on the path q + qd t + qdd t^2/2, derived by time; body axes by R^T."""
    link, _, which = frame.partition(":")
    t = casadi.SX.sym("t")
    r, R = oracle._point(link, which or "tip", (0, 0, 0), 0)(
        casadi.DM(Q) + casadi.DM(QD) * t + casadi.DM(QDD) * t**2 / 2
    )
    spin = casadi.reshape(casadi.jacobian(casadi.vec(R), t), 3, 3) @ R.T
    omega = casadi.vertcat(spin[2, 1], spin[0, 2], spin[1, 0])
    v = casadi.jacobian(r, t)
    at = casadi.Function("at", [t], [R, v, casadi.jacobian(v, t), omega, casadi.jacobian(omega, t)])
    R, v, a, omega, alpha = (np.array(each) for each in at(0))
    for axes, turn in (("base", np.eye(3)), ("body", R.T)):
        rates = arm.jacobian(Q, QD, frame=frame, axes=axes)
        assert rates["v"] == pytest.approx((turn @ v).ravel(), rel=1e-9, abs=1e-10)
        assert rates["omega"] == pytest.approx((turn @ omega).ravel(), rel=1e-9, abs=1e-10)
        second = arm.hessian(Q, QD, QDD, frame=frame, axes=axes)
        assert second["a"] == pytest.approx((turn @ a).ravel(), rel=1e-9, abs=1e-9)
        # omega in turned axes: its derivative is R^T alpha, since R^T omega_dot has no omega x omega.
        assert second["alpha"] == pytest.approx((turn @ alpha).ravel(), rel=1e-9, abs=1e-9)


def test_the_endpoint_is_the_tip_of_the_last_link_unless_it_is_named(arm, oracle):
    assert arm.jacobian(Q)["J_T"] == pytest.approx(oracle.jacobian(Q, "stub")[0], rel=1e-9, abs=1e-12)
    assert arm.jacobian(Q)["J_T"][:, 4] == pytest.approx(np.zeros(3))  # q2 is on the other branch
    named = loads(ARM + "endpoint: {link: slide}\n")
    assert named.jacobian(Q)["J_T"] == pytest.approx(oracle.jacobian(Q, "slide")[0], rel=1e-9, abs=1e-12)
    there = loads(ARM + "endpoint: {link: slide, position: [0.1, -0.2, 0.3]}\n")
    wanted = oracle.jacobian(Q, "slide", "tip", (0.1, -0.2, 0.3))[0]
    assert there.jacobian(Q)["J_T"] == pytest.approx(wanted, rel=1e-9, abs=1e-12)


def test_names_of_coordinates_rates_and_columns(arm):
    """Rates are not accelerations; Hessians have column a|b at a n + b, each unit in its place."""
    words = arm.derivative_names(("q", "qd", "qdd"))
    assert words["qd"] == [f"{name}_dot" for name in NAMES] and words["qdd"] == [f"{name}_ddot" for name in NAMES]
    hessian = arm.hessian(Q)
    assert list(hessian.arrays["H_T"].columns) == [f"{a}|{b}" for a in NAMES for b in NAMES]
    series = arm.simulate(duration=0.01, step=0.005, solver="rodas").series
    assert list(series)[:13] == ["t", *NAMES, *(f"{name}_dot" for name in NAMES)]
    arrays = arm.dynamics(Q, QD).arrays
    assert list(arrays["M"].units["columns"]) == ["s2/(rad)", *["s2/(m)"] * 4, "s2/(rad)"]
    assert list(arrays["D"].units["columns"]) == ["s/(rad)", *["s/(m)"] * 4, "s/(rad)"]
    assert list(arrays["M"].units["rows"]) == ["N m", *["N"] * 4, "N m"]


def test_formulas_tell_rates_from_accelerations():
    """The printed tau of a small arm, with numbers put in for its names, is tau in numbers."""
    text = """
kronbot: 1
name: two
convention: standard
gravity: [0, -9.81, 0]
links:
  - {name: a, joint: {type: revolute, name: q1}, dh: {a: 0.5, d: 0, alpha: 0, theta: 0}, rigid: {mass: 2}}
  - {name: b, joint: {type: prismatic, name: q2}, dh: {a: 0.3, d: 0, alpha: 0.5, theta: 0}, rigid: {mass: 3}}
"""
    values = {"q1": 0.3, "q2": 0.2, "q1_dot": 0.7, "q2_dot": -1.1, "q1_ddot": 5.0, "q2_ddot": -3.0}
    robot = loads(text.replace("alpha: 0,", "alpha: pi/2,", 1))
    written = robot.symbolic().dynamics()["tau"]
    numbers = robot.dynamics(*([values[f"{name}{dots}"] for name in ("q1", "q2")] for dots in ("", "_dot", "_ddot")))
    found = [float(sympy.sympify(str(each)).subs(values).evalf()) for each in written]
    assert found == pytest.approx(numbers["tau"], rel=1e-12)
    for name, each in zip(("q1_ddot", "q2_ddot"), written, strict=True):
        assert name in str(each)


def test_complex_numbers_keep_both_parts(arm, tmp_path, capsys):
    """real and imag in JSON, complex in .npz, of damped poles and shapes; columns of a CSV by part."""
    file = tmp_path / "arm.yaml"
    file.write_text(ARM)
    asked = ["linearize", str(file), "--q", "q1=-1.2", "--lock", "q2"]
    answer = arm.linearize({"q1": -1.2}, lock=["q2"])
    assert kronbot([*asked, "--format", "json"]) == 0
    arrays = json.loads(capsys.readouterr().out)["arrays"]
    assert kronbot([*asked, "-o", str(tmp_path / "out.npz")]) == 0
    with np.load(tmp_path / "out.npz") as stored:
        for name in ("poles", "shapes"):
            wanted = answer[name]
            assert np.abs(wanted.imag).max() > 1e-3 and np.abs(wanted.real).max() > 1e-3
            told = np.array(arrays[name]["real"]) + 1j * np.array(arrays[name]["imag"])
            assert "values" not in arrays[name]
            assert np.array_equal(told, wanted)
            (key,) = [
                each for each in stored.files if each == name or each.endswith(f"/{name}") or each == f"arrays.{name}"
            ]
            assert np.array_equal(stored[key], wanted)
    assert np.abs(answer["poles"].imag).max() > 1
