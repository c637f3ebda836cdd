"""Robots that have everything at once, shafts, bearings, followers, friction, springs, stops, elements, a base that
floats: linear models and formulas against the Lagrangian and the numbers of the library."""

import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mechanics.test_recursion import random_state
from oracles import Lagrangian
from random_robots import robots, to_yaml
from robots_in_tests import model, moving
from thinned import drawn

import kronbot
from kronbot.compute.native import policy
from kronbot.compute.trace import Trace
from kronbot.errors import ComputationError
from kronbot.mechanics.linear.linear_model import LinearModel
from kronbot.mechanics.multibody.recursion import inverse_dynamics
from kronbot.model.floating import hung

STEP = 1e-5
CC = shutil.which("cc")
EVERYTHING = (
    robots(max_links=2, max_coordinates=3, joined=True, stopped=True, yielding=True)
    | robots(max_links=2, max_coordinates=2, joined=True, stopped=True, yielding=True, floating=True),
    st.sampled_from([1, 2]),
    st.integers(0, 10**6),
)


@drawn(2, 3, *EVERYTHING)
def test_linear_models_are_derivatives_of_the_lagrangian(robot, order, seed):
    """M_L, D_L, K_L about any motion by central differences of the forces that the oracle needs for it."""
    q, qd, qdd = random_state(robot, order, seed)
    oracle, linear = Lagrangian(robot, order), LinearModel.about_any_motion(model(robot, str(order)))
    inputs = {word: getattr(linear, word) for word in ("q", "qd", "qdd", "tau", "force")}
    outputs = {word: getattr(linear, word) for word in ("M_L", "D_L", "K_L", "h_L")}
    none = np.zeros(linear.tau.rows())
    found = Trace(linear.robot.parameters, inputs, outputs, "test")(q, qd, qdd, none, np.zeros(3))
    tau = oracle.inverse_dynamics(q, qd, qdd)
    size = np.abs(tau).max()
    assert np.abs(found["h_L"] + tau).max() < 1e-10 * (size + np.abs(found["K_L"]).max())
    for word, place in (("M_L", 2), ("D_L", 1), ("K_L", 0)):
        columns = []
        for unit in np.eye(len(q)):
            both = [
                [each + sign * STEP * unit * (i == place) for i, each in enumerate((q, qd, qdd))] for sign in (1, -1)
            ]
            columns.append((oracle.inverse_dynamics(*both[0]) - oracle.inverse_dynamics(*both[1])) / (2 * STEP))
        wanted = np.array(columns).T
        assert np.abs(found[word].reshape(wanted.shape) - wanted).max() < 1e-6 * (np.abs(wanted).max() + size), word


@drawn(1, 2, *EVERYTHING)
def test_poles_are_those_of_differences_of_the_lagrangian(robot, order, seed):
    """s^2 M + s D + K of the oracle, at rest or falling where nothing is deformed, is singular at every pole."""
    ours = kronbot.loads(to_yaml(robot), order=str(order))
    q, _, _ = random_state(robot, order, seed)
    posture = {joint.name: q[joint.driven] for joint in ours.model.joints}
    found, oracle = ours.modes(q=posture), Lagrangian(robot, order)
    q[list(ours.model.base)] = 0
    q = ours.model.undeformed(q)
    still, falling = np.zeros(len(q)), np.zeros(len(q))
    if ours.model.base and not hung(ours.model):
        falling[:3] = robot["gravity"]  # where nothing holds the base, modes are those of a free fall

    def slopes(place):
        """Central differences by coordinates (0) or rates (1)."""
        columns = []
        for unit in np.eye(len(q)):
            moved = [
                [each + sign * STEP * unit * (i == place) for i, each in enumerate((q, still, falling))]
                for sign in (1, -1)
            ]
            columns.append((oracle.inverse_dynamics(*moved[0]) - oracle.inverse_dynamics(*moved[1])) / (2 * STEP))
        return np.array(columns).T

    M, D, K = oracle.mass_matrix(q), slopes(1), slopes(0)
    size = np.sqrt(np.diag(M))
    M, D, K = (each / np.outer(size, size) for each in (M, D, K))
    for case, free in (("locked", ours.model.others(ours.model.rigid)), ("free", range(len(q)))):
        if f"poles_{case}" not in found:
            continue
        at = np.ix_(list(free), list(free))
        for pole in np.ravel(found[f"poles_{case}"]):
            terms = abs(pole) ** 2 * np.linalg.norm(M[at]) + abs(pole) * np.linalg.norm(D[at]) + np.linalg.norm(K[at])
            smallest = np.linalg.svd(pole**2 * M[at] + pole * D[at] + K[at], compute_uv=False)[-1]
            assert smallest < 1e-7 * terms, (case, pole)


@pytest.mark.skipif(CC is None, reason="needs a C compiler")
@drawn(1, 2, *EVERYTHING)
def test_exported_and_native_code_have_the_numbers_of_the_library(robot, order, seed):
    """C to rounding, native code to the last bit."""
    ours = kronbot.loads(to_yaml(robot), order=str(order))
    state = [np.ascontiguousarray(each) for each in random_state(robot, order, seed)]
    forces, torques = moving(ours.model, tau=inverse_dynamics), []
    for choice in ("off", "on"):
        with policy.native(choice):
            torques.append(forces(*state)["tau"])
    assert torques[0].tobytes() == torques[1].tobytes()
    with tempfile.TemporaryDirectory() as folder:
        source, header = ours.export("inverse_dynamics", "forward_dynamics").c()
        written, library = Path(folder, "random.c"), Path(folder, "random.so")
        written.write_text(source)
        Path(folder, "random.h").write_text(header)
        subprocess.run([CC, "-O0", "-fPIC", "-shared", str(written), "-o", str(library), "-lm"], check=True)
        code = ctypes.CDLL(str(library))
    tau, qdd = np.empty(ours.n), np.empty(ours.n)

    def call(function, *arrays):
        function(*(each.ctypes.data_as(ctypes.c_void_p) for each in arrays))

    call(code.random_inverse_dynamics, *state, tau)
    found = ours.dynamics(*state)
    wanted, M = found["tau"].ravel(), found["M"]
    assert max(np.abs(each - wanted).max() for each in (tau, *torques)) < 1e-11 * (
        np.abs(wanted).max() + np.abs(M).max()
    )
    call(code.random_forward_dynamics, *state[:2], tau, qdd)
    assert np.abs(M @ (qdd - state[2])).max() < 1e-9 * (np.abs(wanted).max() + np.abs(M).max() * np.abs(qdd).max())


@pytest.mark.slow
@settings(max_examples=2)
@given(
    robots(max_links=1, max_coordinates=2, max_modes=1, joined=True, stopped=True, yielding=True),
    st.integers(0, 10**6),
)
def test_formulas_of_random_robots_have_the_values_of_the_library(robot, seed):
    """Torques that a motion needs, with common parts written once where they are too long; bearings about one axis."""
    for stiffness in (link["joint"].get("bearing", {}).get("stiffness", {}) for link in robot["links"]):
        if len(stiffness) > 1:
            del stiffness["x"]
    ours, state = kronbot.loads(to_yaml(robot), order="1"), random_state(robot, 1, seed)
    written = {}
    try:
        formulas = ours.symbolic("python", array="tau", seconds=2).dynamics()
    except ComputationError:
        formulas = ours.symbolic("python", array="tau", seconds=600, shared=True).dynamics()
    for code in formulas.source.values():
        exec(code, written)
    found, wanted = np.ravel(written["tau"](*np.ravel(state))), ours.dynamics(*state)["tau"].ravel()
    assert np.abs(found - wanted).max() < 1e-9 * np.abs(wanted).max()


ALL = """
kronbot: 1
name: all
gravity: [0, -9.81, 1]
links:
  - name: upper
    joint: {type: revolute, name: q1, rotor_inertia: 0.05, damping: 0.2, elastic: {stiffness: 200, damping: 1},
            bearing: {stiffness: {x: 400}, damping: {x: 1}}, spring: {stiffness: 3, rest: 0.5},
            friction: {coulomb: 2, static: 3, stribeck_rate: 0.2, smoothing: 0.1},
            limits: [-1, 0.2], stops: {stiffness: 300, damping: 2}}
    pose: {}
    rigid: {mass: 2, com: [0.3, 0, 0], inertia: {Ixx: 0.1, Iyy: 0.2, Izz: 0.2}}
  - name: fore
    joint: {type: prismatic, name: q2, follows: 0.3 - q1/2, limits: [0.1, 0.2], stops: {stiffness: 100, damping: 9}}
    pose: {xyz: [0.6, 0, 0], rpy: [0, pi/2, 0]}
    rigid: {mass: 1, com: [0.1, 0, 0.2]}
elements:
  - {name: stay, type: spring, between: [world, fore], points: [[0, 2, 0], [0, 0, 0.1]], stiffness: 15, rest: 0.5,
     damping: 3, force: {type: sinusoid, amplitude: 4, frequency: 5, phase: pi/2}}
"""


@pytest.mark.slow
def test_formulas_of_everything_have_the_values_of_the_library():
    """In a stop that pushes and in one that has let go, between stops, in a follower's stop."""
    robot, written = kronbot.loads(ALL), {}
    for code in robot.symbolic("python", seconds=30).dynamics().source.values():
        exec(code, written)
    for q1, rate in ((0.35, 0.7), (0.35, -9.0), (0.1, 0.4), (-1.2, -0.3)):
        state = {"q": [q1, 0.2, 0.05], "qd": [rate, -0.4, 0.1], "qdd": [1.0, 2.0, -0.5]}
        numbers, values = robot.dynamics(**state), [value for values in state.values() for value in values]
        for name in ("M", "C_star", "g", "K", "D", "tau"):
            found = np.array(written[name](*values)).ravel()
            assert found == pytest.approx(numbers[name].ravel(), abs=1e-9), (name, q1, rate)
