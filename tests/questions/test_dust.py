"""What cancels is 0 in answers: of terms within their errors nothing is left for a summary or a column."""

import numpy as np
import pytest
from robots_in_tests import loaded

import kronbot
from kronbot.description.shipped import shipped_robots

BLADE = """
  - name: blade{0}
    parent: hub
    joint: {{type: fixed}}
    pose: {{rpy: [0, 0, {0}*2*pi/3]}}
    flexible: {{length: 38, mass: 6000, EI: {{y: 2e9, z: 5e9}}, modes: {{v: 1, w: 1}}}}"""
TURBINE = """kronbot: 1
name: turbine
gravity: [0, 0, -9.81]
links:
  - name: tower
    joint: {type: fixed}
    pose: {rpy: [0, -pi/2, 0]}
    flexible: {length: 80, mass: 250000, EI: {y: 2e11, z: 2e11}, modes: {v: 1, w: 1}, shape: craig-bampton}
  - name: hub
    joint: {type: revolute, name: rotor}
    pose: {xyz: [-4, 0, 2]}
    rigid: {mass: 15000, inertia: {Ixx: 3e4, Iyy: 3e4, Izz: 6e4}}""" + "".join(BLADE.format(i) for i in (0, 1, -1))
SCARA = """kronbot: 1
name: scara
gravity: [0, 0, -9.81]
links:
  - name: a
    joint: {type: revolute, name: q1}
    pose: {}
    flexible: {mass: 2, length: 0.4, EI: {z: 4e3, y: 3e3}, GJ: 2e3, polar_inertia: 2e-3, modes: {w: 1, torsion: 1}}
  - {name: b, joint: {type: revolute, name: q2}, pose: {xyz: [0, 0, 0.05]}, rigid: {mass: 3, com: [0.15, 0, 0]}}
"""


def test_gains_of_what_no_torque_reaches_are_zero():
    """Of a beam that bends across the plane, too."""
    across = (
        shipped_robots()["khang"].read_text().replace("{z: EI}, modes: {v: 1}", "{z: EI, y: EI}, modes: {v: 1, w: 1}")
    )
    arm = kronbot.loads(across)
    best = arm.design(lqr=True)
    assert {name: best.arrays[name].values.any(axis=0).tolist() for name in ("K", "P")} == {
        name: [True, True, False] * 2 for name in ("K", "P")
    }
    assert not arm.design(poles=[-2, -3, -4, -5])["K"][:, [2, 5]].any()


@pytest.mark.slow
def test_forces_of_a_balance_are_zero_within_what_its_matrices_are_known_to():
    """Blades of a rotor in its plane bend across gravity by dust alone, which leaves a force that is dust of dust."""
    assert loaded(TURBINE).linearize(equilibrium=True, qd={"rotor": 1.8}).summary["largest_h_L"] == 0


@pytest.mark.slow
def test_matrices_along_a_motion_are_zero_where_terms_cancel():
    """Half way a cycloidal motion has no acceleration: what that would make of K_L and D_L was 1e-14 beside 1e6."""
    found = kronbot.load("canadarm").linearize_along()
    for name in ("D_L", "K_L"):
        sizes = np.abs(found[name])
        assert sizes[sizes > 0].min() > 1e-10


CART = """
kronbot: 1
name: cart and pendulum
gravity: [0, -9.81, 0]
links:
  - {name: cart, joint: {type: prismatic, name: x}, pose: {rpy: [0, pi/2, 0]}, rigid: {mass: 2.1}}
  - {name: bob, joint: {type: revolute, name: a}, pose: {rpy: [0, -pi/2, 0]}}
  - {name: rod, joint: {type: fixed}, pose: {xyz: [0, -1.3, 0]}, payload: {mass: 0.7}}
"""


def test_what_terms_of_a_state_space_leave_is_zero():
    """A force across on the weight of a pendulum moves that alone, not the cart, whatever rounding leaves of it; of the
    accelerations by what is seen the same."""
    cart = loaded(CART)
    found = cart.linearize(q=[0.3, 0], outputs=["acceleration:cart", "acceleration:endpoint"])
    B = dict(zip(found.arrays["B"].columns, found["B"][2:].T.tolist(), strict=True))
    assert B["force.x"][0] == 0 and B["force.x"][1] == pytest.approx(1 / (0.7 * 1.3))
    assert B["torque.x"] == pytest.approx([1 / 2.1, -1 / (2.1 * 1.3)])
    D = {(row, column): found["D"][i, j] for i, row in enumerate(found.arrays["D"].rows)
         for j, column in enumerate(found.arrays["D"].columns)}  # fmt: skip
    assert D["acceleration.endpoint.x", "force.x"] == pytest.approx(1 / 0.7)
    assert D["acceleration.cart.x", "force.x"] == D["acceleration.endpoint.x", "torque.x"] == 0


def test_moments_about_axes_of_joints_are_their_torques():
    """By the equation of the joint, whatever accelerates with it: nothing of states, of others, or of forces."""
    joints = ["q1", "q2", "q3"]
    arm = kronbot.load("canadarm", order=1)
    found = arm.linearize(q=[0.3, 0.5, 0.7], outputs=[f"reaction:{joint}" for joint in joints])
    C, D = found.arrays["C"], found.arrays["D"]
    axes = [D.rows.index(f"reaction.{joint}.mz") for joint in joints]
    assert D.values[axes].tolist() == np.eye(3, len(D.columns)).tolist() and not C.values[axes].any()
    forces = [D.rows.index(f"reaction.{joint}.fx") for joint in joints]
    assert D.values[forces, :3].all() and C.values[forces].any()


def test_torques_about_the_vertical_are_zero():
    """Of gravity, whose terms cancel to rounding there, as in the reaction; other torques are what they are."""
    angles = {"q1": [0.3, 0.9], "q2": [0.7, -1.2, 2.0]}
    answer = loaded(SCARA).statics(angles=angles)
    assert not answer["torque.q1"].any() and not answer["reaction.mz"].any()
    assert answer["torque.q2"][0] == pytest.approx(2e-3, rel=0.5)  # the axis leans where the arm twists


SPECK = """kronbot: 1
name: speck
parameters: {L: 0.1}
gravity: [0, 0, 0]
links:
  - {name: arm, joint: {type: revolute, name: q}, pose: {},
     flexible: {length: L, mass: 1, EI: {z: 1e-3*L**3}, modes: {v: 4}, shape: polynomial}}
"""


def test_what_is_small_by_its_unit_is_no_dust():
    """Polynomials have coordinates in m, 1/m, 1/m2 ..., whose inertia lies 40 decades apart in a beam of 1e-6 m."""
    arm = loaded(SPECK)
    frequencies = arm.modes()["frequencies_free"]
    for length in (1e-4, 1e-6):
        small = arm.with_parameters(L=length)
        assert small.modes()["frequencies_free"] == pytest.approx(frequencies, rel=1e-8)
    assert small.linearize()["M_L"] == pytest.approx(small.dynamics(q=[0] * 5)["M"], rel=1e-12, abs=0)
