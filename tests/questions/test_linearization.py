"""The linear model: Khang's example, the derivative of the nonlinear dynamics, equilibria, spinning beams, outputs."""

import json
from pathlib import Path

import casadi
import numpy as np
import pytest
import sympy
from hypothesis import strategies as st
from oracles import Lagrangian, shapes
from random_robots import SPATIAL_ARM, coordinates, robots
from robots_in_tests import columns, loaded, model, moving, run, shipped, turning
from scipy.io import loadmat
from scipy.linalg import expm
from thinned import drawn, rare

from kronbot import description, load, loads
from kronbot.cli.main import run as kronbot
from kronbot.compute.trace import Trace
from kronbot.errors import ComputationError, UsageError
from kronbot.mechanics.linear.linear_model import LinearModel
from kronbot.mechanics.linear.modal import of_first_order
from kronbot.mechanics.multibody.recursion import ALGORITHMS, inverse_dynamics
from kronbot.model.build import build
from kronbot.questions.linearize import Choice, Linearization, Point

KHANG = json.loads((Path(__file__).parents[1] / "data" / "khang.json").read_text())
WRIGHT = [3.5160, 3.6816, 4.1373, 4.7973, 5.5850, 6.4495]
STATE = {"q": {"qa": 0.6}, "qd": {"qa": 2.1}, "qdd": {"qa": -3.4}}
SPINNING = turning("flexible: {mass: 1, EI: {y: 1, z: 1}, modes: MODES, shape: SHAPE}")


def linearized(robot, at=None, *, tau=None, force=(0, 0, 0), lock=(), equilibrium=False, inputs=None, outputs=None):
    """The answer of ``linearize``: points by word, by name or as arrays; joints to lock by name."""
    words = {word: np.zeros(robot.n) for word in ("q", "qd", "qdd")}
    for word, values in (at or {}).items():
        if isinstance(values, dict):
            for name, value in values.items():
                words[word][robot.coordinates.index(name)] = value
        else:
            words[word] = np.asarray(values, float)
    point = Point(*words.values(), None if tau is None else np.asarray(tau, float), np.asarray(force, float))
    locked = frozenset(joint.index for joint in robot.joints if joint.name in lock)
    choice = Choice(locked, inputs or ("torques", "force"), outputs or ("joints", "endpoint"))
    return Linearization(robot, choice, equilibrium).at(point)


def arrays(result, *names):
    return [result.arrays[name].values for name in names]


def khang(order, **parameters):
    text = description.read("khang").text
    source = description.Source("khang.yaml", text, None)
    return build(description.load(source, {name: str(value) for name, value in parameters.items()}), str(order))


# ------------------------------------------------------------------------------------------------ Khang's example


def test_khang_at_order_1_has_the_numbers_of_the_reference():
    """M_L, D_L, K_L, h_L of (68)-(71) on the rigid motion, from an independent symbolic program."""
    found = linearized(khang(1), STATE, tau=[4.2])
    for name in ("M_L", "D_L", "K_L", "h_L"):
        values = np.array(KHANG[name])
        assert np.abs(found.arrays[name].values - values).max() <= 1e-12 * np.abs(values).max(), name


def test_khang_at_order_2_adds_the_foreshortening_and_nothing_else():
    """The point moves inwards by w^2/2 int X1'^2: qd^2 times inertia less weight along the beam, in K_L22 only."""
    one, two = (linearized(khang(order), STATE, tau=[4.2]) for order in (1, 2))
    for name in ("M_L", "D_L", "h_L"):
        assert np.abs(one.arrays[name].values - two.arrays[name].values).max() < 1e-13, name
    added = two.arrays["K_L"].values - one.arrays["K_L"].values
    assert two.arrays["K_L"].values[1, 1] == pytest.approx(KHANG["K_L22_with_foreshortening"], rel=1e-12)
    assert added[1, 1] == pytest.approx(KHANG["K_L22_foreshortening_added"], rel=1e-11)  # of 46: 1e-13 of rounding
    added[1, 1] = 0
    assert np.abs(added).max() < 1e-13


def test_khang_prints_the_formulas_of_the_paper(capsys):
    """(68)-(71) in the paper's own symbols, mOE = mu l and X1 = X1(l): equal as expressions, entry by entry."""
    assert kronbot(["linearize", "khang", "--order", "1", "--symbolic", "--format", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    names = "J1 mE l X1 D1 C1 m11 k11 mu EI g qa qa_dot qa_ddot tau"
    local = {name: sympy.Symbol(name) for name in names.split()}
    J1, mE, l, X1, D1, C1, m11, k11, mu, EI, g, qa, qd, qdd, tau = local.values()  # noqa: E741
    sin, cos = sympy.sin(qa), sympy.cos(qa)
    mOE = mu * l
    wanted = {
        "M_L": [
            [J1 + mE * l**2 + mOE * l**2 / 3, mE * l * X1 + mu * D1],
            [mE * l * X1 + mu * D1, mE * X1**2 + mu * m11],
        ],
        "D_L": [[0, 0], [0, 0]],
        "K_L": [
            [-(mE + mOE / 2) * g * l * sin, -(mE * X1 + mu * C1) * g * sin],
            [-(mE * X1 + mu * C1) * g * sin, EI * k11 - (mE * X1**2 + mu * m11) * qd**2],
        ],
        "h_L": [
            [tau - (J1 + mE * l**2 + mOE * l**2 / 3) * qdd - (mE + mOE / 2) * g * l * cos],
            [-(mE * l * X1 + mu * D1) * qdd - (mE * X1 + mu * C1) * g * cos],
        ],
    }
    for name, entries in wanted.items():
        text = answer["arrays"][name]["values"]
        rows = text if isinstance(text[0], list) else [[entry] for entry in text]
        for i, row in enumerate(entries):
            for j, entry in enumerate(row):
                assert sympy.expand(sympy.sympify(rows[i][j], locals=local) - entry) == 0, (name, i, j)
    mode, values = KHANG["mode"], {"l": KHANG["params"]["l"]}
    for name, key in {"X1": "X1_l", "D1": "D1", "C1": "C1", "m11": "m11", "k11": "k11"}.items():
        meaning = sympy.sympify(answer["summary"][f"where.{name}"]).subs(values)
        assert float(meaning) == pytest.approx(mode[key], rel=1e-12), name


def test_the_bare_beam_stiffens_by_southwells_coefficient():
    """Without tip mass int x phi / m11 = 1.1933: the net coefficient of qd^2 is -1 at order 1, +0.1933 at order 2."""
    net = []
    for order in (1, 2):
        robot = khang(order, mE=0)
        K0, K1 = (linearized(robot, {"qd": {"qa": rate}}, lock=["qa"]).arrays["K_L"].values for rate in (0, 10))
        net.append((K1 - K0)[0, 0] / 100 / (KHANG["params"]["rhoA"] * KHANG["mode"]["m11"]))
    assert net[0] == pytest.approx(-1, rel=1e-10)
    phi = KHANG["mode"]["int_x_phi"] / KHANG["mode"]["m11"]
    assert net[1] - net[0] == pytest.approx(phi, rel=1e-10)
    assert net[1] - net[0] == pytest.approx(1.1933, abs=5e-5)


@pytest.mark.slow
def test_only_order_1_predicts_an_instability_of_the_spinning_arm():
    """K_L22 = EI k11 - b qd^2 changes sign at qd^2 = EI k11 / b; with foreshortening it grows with qd (no gravity)."""
    parameters, mode = KHANG["params"], KHANG["mode"]
    b = parameters["mE"] * mode["X1_l"] ** 2 + parameters["rhoA"] * mode["m11"]
    critical = np.sqrt(parameters["EI"] * mode["k11"] / b)
    for order in (1, 2):
        for share in (0.999, 1.001):
            found = linearized(khang(order, g=0), {"qd": {"qa": share * critical}}, lock=["qa"])
            unstable = order == 1 and share > 1
            assert found.summary["verdict"].startswith("unstable" if unstable else "stable, undamped")
            assert f"order {order}, 1 mode, joints locked qa" in found.summary["verdict"]


# ------------------------------------------------------------------------------- derivative of the nonlinear model


@drawn(2, 3, robots(max_coordinates=6), st.sampled_from([1, 2]), st.integers(0, 10**6))
def test_the_linear_model_is_the_derivative_of_forward_dynamics(robot, order, seed):
    """-M^-1 K_L, -M^-1 D_L about any state that moves by its torques = d qdd / d(q, qd) of the O(n) recursion, to 1e-9.

    With qdd = f(q, qd, tau) nothing is left to balance, h_L = 0.
    """
    linear = model(robot, str(order))
    scale = np.array([scale for *_, scale in coordinates(robot, order)])
    rng = np.random.default_rng(seed)
    q, qd, tau = rng.uniform(0.3, 1, (3, len(scale))) * [scale, scale, np.ones(len(scale))]
    joints = [joint.index for joint in linear.joints]
    tau[[place for place in range(linear.n) if place not in joints]] = 0

    def accelerations(state, x):
        return ALGORITHMS["recursive"](state, x, {})

    functions = moving(
        linear,
        qdd=accelerations,
        slope=lambda state, x: casadi.jacobian(accelerations(state, x), casadi.vertcat(state.q, state.qd)),
    )
    exact = functions(q, qd, tau)
    about = LinearModel.about_any_motion(linear)
    inputs = {word: getattr(about, word) for word in ("q", "qd", "qdd", "tau", "force")}
    outputs = {word: getattr(about, word) for word in ("M_L", "D_L", "K_L", "h_L")}
    found = Trace(linear.parameters, inputs, outputs, "test")(q, qd, exact["qdd"], tau[joints], np.zeros(3))
    n, h = linear.n, found["h_L"]
    M, D, K = (found[word].reshape(n, n) for word in ("M_L", "D_L", "K_L"))
    A, _ = of_first_order(M, D, K, M)
    assert np.abs(A[:n] - np.eye(n, 2 * n, n)).max() == 0
    slope = exact["slope"].reshape(n, 2 * n)
    # Forces: what cancels is as large as the terms; accelerations lose what the condition of M takes.
    size = 1 + np.abs(K).max() + np.abs(D).max() + np.abs(M).max() * np.abs(slope).max()
    assert np.abs(M @ slope + np.hstack([K, D])).max() < 1e-11 * size
    assert np.abs(A[n:] - slope).max() < 1e-9 * np.abs(slope).max() + 1e-14 * np.linalg.cond(M) * size
    assert np.abs(h).max() < 1e-11 * (np.abs(K @ q).max() + np.abs(M).max() * np.abs(exact["qdd"]).max() + 1)


ARM = """
kronbot: 1
name: arm
convention: standard
gravity: [0, -9.81, 0]
links:
  - name: upper
    joint: {type: revolute, name: q1, damping: 0.1}
    dh: {a: 0.8, d: 0, alpha: 0, theta: 0}
    flexible: {mass: 0.5, EI: {z: 30}, modes: {v: 1}, damping: {ratio: 0.01}}
    hub: {mass: 0.2, inertia: {Izz: 0.05}}
  - name: fore
    joint: {type: revolute, name: q2, damping: 0.1}
    dh: {a: 0.6, d: 0, alpha: 0, theta: 0}
    flexible: {mass: 0.3, EI: {z: 20}, modes: {v: 1}, damping: {ratio: 0.01}}
    payload: {mass: 0.4}
simulate: {duration: 0.5, drive: {q1: {torque: TAU1}, q2: {torque: TAU2}}}
"""


def arm(tau):
    return model(ARM.replace("TAU1", repr(float(tau[0]))).replace("TAU2", repr(float(tau[1]))))


@pytest.mark.slow
def test_simulation_leaves_the_linear_model_with_the_square_of_the_disturbance():
    """About an equilibrium exp(A t) x0 misses the nonlinear motion by c |x0|^2: slope 2 over a decade of x0."""
    robot = arm([0, 0])
    found = linearized(robot, {"q": {"q1": -0.9, "q2": 0.5}}, equilibrium=True)
    rest = np.array([found.at["q"][name] for name in robot.coordinates])
    robot = arm([found.at["tau"][name] for name in ("q1", "q2")])
    names = [*robot.coordinates, *(f"{name}_dot" for name in robot.coordinates)]
    direction = np.array([0.3, 0.01, -0.4, 0.02, 0.5, 0, 0.8, 0])
    x_e = np.concatenate([rest, np.zeros(robot.n)])
    errors = []
    sizes = [0.1, 0.1 / np.sqrt(10), 0.01]
    for size in sizes:
        start = x_e + size * direction
        q, qd = (dict(zip(robot.coordinates, part, strict=True)) for part in np.split(start, 2))
        done = run(robot, duration=0.5, step=0.05, rtol=1e-11, q=q, qd=qd)
        assert done.error is None
        series = done.result.series
        linear = [x_e + expm(found.arrays["A"].values * t) @ (size * direction) for t in series["t"]]
        errors.append(np.abs(columns(series, *names) - linear).max())
    slopes = np.diff(np.log(errors)) / np.diff(np.log(sizes))
    assert slopes == pytest.approx([2, 2], abs=0.1)


# -------------------------------------------------------------------------------------------------------- equilibria


def residual(text, order, q, tau, force=(0, 0, 0)):
    """Generalized forces that act at rest, by the oracle: torques and an endpoint force less weight and strain."""
    oracle = Lagrangian(text, order)
    forces = -oracle.bias(q, np.zeros(oracle.n))
    forces[oracle.joints] += tau
    end = text.get("endpoint", {"link": text["links"][-1]["name"]})
    J_T, _ = oracle.jacobian(q, end["link"], "tip", end.get("position", (0, 0, 0)))
    return forces + J_T.T @ np.asarray(force, float)


@pytest.mark.parametrize(("name", "order"), [("arm in space", 1), rare("piedboeuf", 2), rare("torso", 2)])
def test_an_equilibrium_is_one_of_the_brute_force_lagrangian(name, order):
    """Deflections and holding torques under gravity and an endpoint force leave no force in the oracle."""
    text = SPATIAL_ARM if name == "arm in space" else shipped(name)
    robot = model(text, str(order))
    joints = {joint.name: 0.2 + 0.3 * i for i, joint in enumerate(robot.joints)}
    force = (0.3, -0.2, -0.5)
    found = linearized(robot, {"q": joints}, force=force, equilibrium=True)
    q = np.array(list(found.at["q"].values()))
    assert {name: found.at["q"][name] for name in joints} == joints
    assert np.abs(q[list(robot.flexible)]).max() > 1e-4
    tau = np.array([found.at["tau"][joint.name] for joint in robot.joints])
    left = residual(text, order, q, tau, force)
    assert np.abs(left).max() < 1e-8 * max(np.abs(tau).max(), 1)
    assert found.summary["verdict"].endswith("about an equilibrium)")


@pytest.mark.parametrize("order", ["2", "exact"])
def test_an_equilibrium_is_that_of_statics_and_of_a_start(order):
    """A mast that a stay bends far: forces that hold it straight, and fade, lead to one that is curled."""
    text = """
kronbot: 1
name: stay
gravity: [0, 0, 0]
links:
  - name: mast
    joint: {type: revolute, name: luff}
    pose: {rpy: [-pi/2, -pi/2, 0]}
    flexible: {mass: 18, length: 5, EI: {z: 9e3}, modes: {v: 2}, shape: craig-bampton}
    payload: {mass: 6}
elements:
  - {name: stay, type: tendon, between: [world, mast], points: [[-3, 0, 0.1], [0, 0, 0]], stiffness: 3e4, rest: 5.9}
simulate: {start: equilibrium}
"""
    robot, luff = loads(text, order=order), np.deg2rad(20)
    names = ["mast.v1", "mast.v2"]
    sag = [float(robot.statics(q=[luff])[name][0]) for name in names]
    assert -1.5 < sag[0] < -1
    model = robot.linearize(q=[luff], equilibrium=True)
    assert [model.at["q"][name] for name in names] == pytest.approx(sag, abs=1e-9)
    assert model.summary["verdict"].startswith("stable") or "asymptotically" in model.summary["verdict"]
    run = robot.simulate(duration=0.01, step=0.01, q=[luff])
    assert [run[name][0] for name in names] == pytest.approx(sag, abs=1e-9)
    rows = robot.linearize(q=[[luff], [0.1]], equilibrium=True)  # side by side as well
    assert rows["q"][0] == pytest.approx([luff, *sag], abs=1e-9)
    # Where modal coordinates are given that one is found that is there.
    curled = robot.linearize(q=[luff, -11.5, 15.6], equilibrium=True) if order == "exact" else None
    assert curled is None or curled.at["q"]["mast.v1"] == pytest.approx(-11.528, abs=1e-3)


def test_an_equilibrium_is_found_where_the_forces_that_hold_a_straight_beam_cannot_fade():
    """A stiff spring pulls the beam far round: what statics finds has no force in the oracle, and is linearized."""
    beam = {"mass": 1, "EI": {"z": 50}, "modes": {"v": 2}, "shape": "polynomial"}
    row = {"a": 1, "d": 0, "alpha": 0, "theta": 0}
    link = {"name": "a", "joint": {"type": "revolute", "name": "q"}, "dh": row, "flexible": beam}
    spring = {"name": "e", "type": "spring", "between": ["world", "a"], "points": [[-0.5, 0.6, 0], [0, 0, 0]]}
    text = {"kronbot": 1, "name": "pulled", "convention": "standard", "gravity": [0, 0, 0], "links": [link]}
    text |= {"elements": [spring | {"stiffness": 300, "rest": 0.1}]}
    found = linearized(model(text), {"q": {"q": 0}}, equilibrium=True)
    q, tau = list(found.at["q"].values()), list(found.at["tau"].values())
    assert np.abs(residual(text, 2, np.array(q), np.array(tau))).max() < 1e-9 * abs(tau[0])
    assert sum(q[1:]) > 0.9  # of x^2 and x^3 at the tip


@pytest.mark.slow
def test_nothing_moves_from_an_equilibrium():
    """Simulated with the holding torques for half a second, joints and deflections stay where they are."""
    found = linearized(arm([0, 0]), {"q": {"q1": -1.4, "q2": 0.2}}, equilibrium=True)
    assert found.summary["verdict"].startswith("asymptotically stable (order 2, 2 modes, joints free q1, q2")
    robot = arm([found.at["tau"][name] for name in ("q1", "q2")])
    done = run(robot, duration=0.5, step=0.1, rtol=1e-10, q=found.at["q"])
    moved = columns(done.result.series, *robot.coordinates) - list(found.at["q"].values())
    assert np.abs(moved).max() < 1e-8


def test_a_hanging_arm_is_straight_and_swings_like_a_pendulum():
    """Straight down no force bends the arm; a stiff arm has the frequency of the rigid pendulum."""
    robot = khang(2, EI=1e6)
    found = linearized(robot, {"q": {"qa": -np.pi / 2}}, equilibrium=True)
    assert abs(found.at["q"]["arm.v1"]) < 1e-12
    parameters = KHANG["params"]
    l, m = parameters["l"], parameters["mOE"]  # noqa: E741
    J = parameters["J1"] + parameters["mE"] * l**2 + m * l**2 / 3
    rigid = np.sqrt((parameters["mE"] + m / 2) * parameters["g"] * l / J)
    assert found.arrays["frequencies"].values[0] == pytest.approx(rigid, rel=1e-5)  # stiffness ratio 1e-6


@pytest.mark.parametrize("push", [rare(0.5), 2, rare(10), rare(100)])
def test_a_load_past_buckling_leaves_a_true_equilibrium_that_is_unstable(push):
    """Axial push times Euler's load on a cantilever with a small side force: linear in the one mode of order 2."""
    euler = np.pi**2 / 4 * KHANG["params"]["EI"] / KHANG["params"]["l"] ** 2
    force = (-push * euler, 0.3, 0)
    found = linearized(khang(2), force=force, lock=["qa"], equilibrium=True)
    q = np.array(list(found.at["q"].values()))
    left = residual(shipped("khang"), 2, q, [found.at["tau"]["qa"]], force)
    assert np.abs(left).max() < 1e-7 * push * euler
    assert (found.arrays["K_L"].values[0, 0] < 0) == (push > 1)
    assert found.summary["verdict"].startswith("unstable" if push > 1 else "stable")


# ---------------------------------------------------------------------------------------------------- spinning beam


@pytest.mark.parametrize(("shape", "modes"), [rare("legendre", 5), ("clamped-free", 4)])
def test_a_spinning_beam_has_wrights_frequencies(shape, modes):
    """Hub radius 0, joint locked to the spin: Wright's table out of plane, sqrt(f^2 - Omega^2) in plane, 0.05 %."""
    for plane in "wv":
        text = SPINNING.replace("MODES", f"{{{plane}: {modes}}}").replace("SHAPE", shape)
        robot = model(text)
        for Omega, published in enumerate(WRIGHT):
            found = linearized(robot, {"qd": {"q1": Omega}}, lock=["q1"])
            wanted = published if plane == "w" else np.sqrt(published**2 - Omega**2)
            assert found.arrays["frequencies"].values[0] == pytest.approx(wanted, rel=5e-4), (plane, Omega)
            assert found.summary["verdict"].startswith(f"stable, undamped (order 2, {modes} modes, joints locked q1;")


# ------------------------------------------------------------------------------------------------------ state space


def test_a_torque_about_the_vertical_does_not_reach_bending_out_of_plane():
    """Planar motion and bending out of plane are apart: 2 (1 + 2) of 2 (1 + 3) states are reached and seen by q1."""
    text = SPINNING.replace("MODES", "{v: 2, w: 1}").replace("SHAPE", "clamped-free")
    text = text.replace("name: q1", "name: q1, damping: 0.2")
    robot = model(text)
    found = linearized(robot, inputs=("torques",), outputs=("joints",)).summary
    assert (found["states"], found["controllable"], found["observable"]) == (8, 6, 6)
    found = linearized(robot, inputs=("torques", "force"), outputs=("joints", "endpoint")).summary
    assert (found["states"], found["controllable"], found["observable"]) == (8, 8, 8)


def test_a_beam_on_the_base_is_out_of_reach_of_another_arm():
    """A fixed flexible mast beside an arm: its four states are uncontrollable and unobservable."""
    mast = """
  - name: mast
    parent: base
    joint: {type: fixed}
    dh: {a: 0.5, d: 0, alpha: 0, theta: 1}
    flexible: {mass: 0.3, EI: {z: 20}, modes: {v: 2}}
endpoint: {link: fore}
simulate:"""
    text = ARM.replace("\nsimulate:", mast).replace("TAU1", "0").replace("TAU2", "0")
    found = linearized(model(text), {"q": {"q1": -1, "q2": 0.4}}, equilibrium=True)
    assert [found.summary[name] for name in ("states", "controllable", "observable")] == [12, 8, 8]


def test_state_space_against_differences_of_the_oracle():
    """A, B, C at a bent, moving state by central differences of step h: error h^2 and rounding 1e-16 cond / h."""
    text, order, h = SPATIAL_ARM, 2, 1e-5
    robot, oracle = model(text, str(order)), Lagrangian(text, order)
    n, rng = robot.n, np.random.default_rng(2)
    scale = np.array([scale for *_, scale in coordinates(text, order)])
    q, qd = rng.uniform(0.3, 1, (2, n)) * scale
    force, tau = np.array([0.7, -1.1, 0.4]), rng.uniform(-1, 1, len(robot.joints))
    position = text["endpoint"]["position"]

    def accelerations(q, qd, tau, force):
        forces = oracle.jacobian(q, "hand", "tip", position)[0].T @ force
        forces[oracle.joints] += tau
        return oracle.forward_dynamics(q, qd, forces)

    def slope(function, x):
        sides = [[function(x + sign * h * e) for e in np.eye(len(x))] for sign in (1, -1)]
        return (np.array(sides[0]) - np.array(sides[1])).T / (2 * h)

    found = linearized(robot, {"q": q, "qd": qd, "qdd": accelerations(q, qd, tau, force)}, tau=tau, force=force)
    A, B, C, D = arrays(found, "A", "B", "C", "D")
    wanted = np.hstack(
        [
            slope(lambda x: accelerations(x, qd, tau, force), q),
            slope(lambda x: accelerations(q, x, tau, force), qd),
            slope(lambda x: accelerations(q, qd, x, force), tau),
            slope(lambda x: accelerations(q, qd, tau, x), force),
        ]
    )
    ours = np.hstack([A[n:], B[n:]])
    for group in (slice(0, n), slice(n, 2 * n), slice(2 * n, None)):
        assert np.abs((ours - wanted)[:, group]).max() < 1e-6 * np.abs(wanted[:, group]).max()
    ends = slope(lambda x: oracle.frame(x, "hand", "tip", position)[0], q)
    assert np.abs(C[len(robot.joints) :, :n] - ends).max() < 1e-8
    assert np.array_equal(C[: len(robot.joints)], np.eye(2 * n)[[joint.index for joint in robot.joints]])
    assert not C[:, n:].any() and not B[:n].any() and not D.any()
    assert np.abs(found.arrays["h_L"].values).max() < 1e-8


def test_gauges_read_the_curvature_of_the_beam():
    """kappa_z = sum v_i''(x) q_i of Piedboeuf's link with the oracle's shapes."""
    robot, text = model(description.read("piedboeuf").text), shipped("piedboeuf")
    found = linearized(robot, outputs=("gauges",)).arrays["C"]
    flexible = next(link["flexible"] for link in text["links"] if link.get("flexible"))
    beam = next(iter(Lagrangian(text, 2).beams.values()))
    count, places = flexible["modes"]["v"], {"g1": 0.0191, "g2": 0.3985, "g3": 0.5889}
    assert list(found.rows) == [f"curvature.{name}" for name in places]
    for row, x in zip(found.values, places.values(), strict=True):
        curvature = shapes(flexible["shape"], "bending", count, [x], beam.length)[2, :, 0]
        assert row == pytest.approx([0, *curvature, *np.zeros(robot.n)], rel=1e-9)


def test_the_mat_file_opens_in_scipy_and_python_control(tmp_path, capsys):
    """A, B, C, D of the file are those on screen, and a system of python-control with the same poles."""
    import control

    file = tmp_path / "arm.mat"
    arguments = ["linearize", "khang", "--equilibrium", "--q", "qa=-pi/3"]
    assert kronbot([*arguments, "-q", "-o", str(file)]) == 0
    capsys.readouterr()
    assert kronbot([*arguments, "--format", "json"]) == 0
    shown = json.loads(capsys.readouterr().out)["arrays"]
    stored = loadmat(file, simplify_cells=True)["arrays"]
    for name in "ABCD":
        assert np.array_equal(np.atleast_2d(stored[name]), shown[name]["values"]), name
    system = control.ss(stored["A"], stored["B"], stored["C"], stored["D"])
    poles = np.array(shown["poles"]["real"]) + 1j * np.array(shown["poles"]["imag"])
    assert sorted(abs(system.poles())) == pytest.approx(sorted([*abs(poles), *abs(poles)]), rel=1e-9)
    assert system.dcgain() == pytest.approx(-system.C @ np.linalg.solve(system.A, system.B))


def test_matrices_balance_on_the_recursion():
    """h_L is what inverse dynamics misses: tau - J^T f less forces of the motion, at a state that is no solution."""
    text = SPATIAL_ARM
    robot, oracle = model(text), Lagrangian(text, 2)
    rng = np.random.default_rng(5)
    q, qd, qdd = rng.uniform(-0.3, 0.3, (3, robot.n))
    tau, force = np.array([0.3, -0.4, 0.8]), np.array([1.0, 2, -0.5])
    found = linearized(robot, {"q": q, "qd": qd, "qdd": qdd}, tau=tau, force=force)
    needed = moving(robot, tau=inverse_dynamics)(q, qd, qdd)["tau"]
    acting = oracle.jacobian(q, "hand", "tip", text["endpoint"]["position"])[0].T @ force
    acting[oracle.joints] += tau
    assert found.arrays["h_L"].values == pytest.approx(acting - needed, abs=1e-10)
    assert "h_L is not zero" in found.summary["verdict"]


def test_a_joint_that_moves_nothing_is_named():
    """By every question that solves with M: ComputationError, not what NumPy says."""
    text = """
kronbot: 1
name: idle
convention: standard
gravity: [0, 0, 0]
links:
  - {name: a, joint: {type: revolute, name: q1}, dh: {a: 1, d: 0, alpha: 0, theta: 0}, rigid: {mass: 1, com: [1, 0, 0]}}
  - {name: b, joint: {type: revolute, name: q2}, dh: {a: 0, d: 0, alpha: 0, theta: 0}}
motion: {q1: {type: sinusoid, amplitude: 0.1, frequency: 1}}
"""
    idle = loads(text)
    for ask in (
        idle.linearize,
        lambda: idle.linearize(equilibrium=True),
        idle.linearize_along,
        lambda: idle.simulate(0.1, 0.05),
    ):
        with pytest.raises(ComputationError, match="q2 moves no inertia"):
            ask()


HELD = """
kronbot: 1
name: held
convention: standard
gravity: [0, -9.81, 0]
links:
  - name: up
    joint: {type: revolute, name: q1, damping: 0.4}
    dh: {a: 0.8, d: 0, alpha: 0, theta: 0}
    flexible: {mass: 1, EI: {z: 90}, modes: {v: 1}, damping: {ratio: 0.02}}
  - name: fore
    joint: {type: revolute, name: q2, damping: 0.1}
    dh: {a: 0.5, d: 0, alpha: 0, theta: 0}
    rigid: {mass: 1, com: [-0.2, 0, 0], inertia: {Ixx: 0.01, Iyy: 0.05, Izz: 0.05}}
control: {q1: {pid: {kp: 100, kd: 10}, gravity: rigid}, q2: {pid: {kp: 40, ki: 3, kd: 4}, gravity: none}}
"""
SAGGING = HELD.replace("gravity: rigid", "gravity: flexible")
# With a shaft, a stop that is met, a spring and a taut rope, and damping that was measured on all of it.
MEASURED = SAGGING.replace("q1, damping: 0.4", "q1, limits: [-1, 0.05], stops: {stiffness: 1e3, damping: 10}")
MEASURED = MEASURED.replace("q2, damping: 0.1", "q2, rotor_inertia: 0.01, elastic: {stiffness: 300}")
MEASURED = f"""{MEASURED.replace(", damping: {ratio: 0.02}", "")}
damping: {{ratios: [0.01, 0.02], joints: free}}
elements:
  - {{name: coil, type: spring, between: [world, up], points: [[0, -0.5, 0], [-0.4, 0, 0]], stiffness: 50, rest: 0.5}}
  - {{name: rope, type: tendon, between: [world, up], points: [[0, 1.1, 0], [0, 0, 0]], stiffness: 60, rest: 1.2}}
"""
ALONG = MEASURED.partition("control")[0] + "motion: {q1: {type: sinusoid, amplitude: 0.1, frequency: 1}}\n"
ALONG += MEASURED[MEASURED.index("damping: {ratios") :]
LIFTED = {"q1": 0.1, "q2": 0.1}
QUESTIONS = {
    "closed": lambda robot: robot.linearize(LIFTED, closed_loop=True),
    "dop853": lambda robot: robot.simulate(0.01, solver="dop853", rtol=1e-3),
    "rodas": lambda robot: robot.simulate(0.01, solver="rodas", rtol=1e-3),
    "open": lambda robot: robot.linearize(LIFTED, equilibrium=True),
    "locked": lambda robot: robot.linearize(LIFTED, lock=["q1"]),
    "modes": lambda robot: robot.modes(LIFTED),
    "statics": lambda robot: robot.statics(LIFTED, loads={"up": [0.3, 1.7, 0.1]}),
    "design": lambda robot: robot.design(LIFTED, lqr=True),
    "dynamics": lambda robot: robot.dynamics(LIFTED),
}


@pytest.mark.slow
def test_a_closed_loop_is_the_same_after_a_run():
    """A run brings the numbers of masses and controllers in another order, by which chance moves them no otherwise, and
    its controllers are those of a robot that differs in symbols."""
    first, asked = loads(SAGGING, order="0"), loads(SAGGING, order="0")
    QUESTIONS["dop853"](asked)
    assert QUESTIONS["closed"](asked) == QUESTIONS["closed"](first)


@pytest.mark.slow
def test_measured_damping_is_the_same_whoever_asks_first():
    """Runs leave out stops and ropes, rigid arms shafts, linear models know no equal numbers: D is that of the file."""
    robot, other = loads(ALONG, order="0"), loads(ALONG, order="0")
    found = [QUESTIONS[asked](robot) for asked in ("dop853", "modes")]
    assert found == [QUESTIONS[asked](other) for asked in ("modes", "dop853")][::-1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "order", "ways"), [(SAGGING, "1", [-1]), (ALONG, "0", [1])], ids=["flexible", "measured"]
)
def test_the_same_question_has_the_same_answer_after_others(text, order, ways, unpaid, unmeasured):
    """Whatever other questions bring, before its own or after: of two, each comes first with one of the robots."""
    questions = {asked: ask for asked, ask in QUESTIONS.items() if "control" in text or asked != "closed"}
    alone = {asked: ask(loads(text, order=order)) for asked, ask in questions.items()}
    for order_of_questions in (list(questions)[::way] for way in ways):
        robot = loads(text, order=order)
        for asked in order_of_questions:
            assert questions[asked](robot) == alone[asked], asked


def test_torques_left_out_are_those_of_the_rigid_arm():
    """Inverse dynamics of the same arm at order 0, against gravity and the force."""
    q, qd, qdd = {"qa": 0.3}, {"qa": 2.0}, {"qa": -5.0}
    found = load("khang").linearize(q=q, qd=qd, qdd=qdd, force=[1, 2, 0])
    rigid = load("khang", order="0")
    pulled = rigid.jacobian(q=q)["J_T"].T @ [1, 2, 0]
    assert [found.at["tau"]["qa"]] == pytest.approx(rigid.dynamics(q, qd, qdd)["tau"] - pulled, rel=1e-12)


SHARED = """
kronbot: 1
name: shared
convention: standard
gravity: [0, -9.81, 0]
parameters: {EI: 70, turn: pi/3}
links:
  - name: b
    joint: {type: revolute, name: q1, damping: 0.3}
    dh: {a: 0.6, d: 0, alpha: turn, theta: 0}
    flexible: {mass: 1.7, EI: {z: EI}, modes: {v: 2}, damping: {ratio: 0.02}}
  - {name: c, joint: {type: revolute, name: q2}, dh: {a: 0.3, d: 0, alpha: 0, theta: 0}, rigid: {mass: 0.4}}
"""


@pytest.mark.parametrize(
    ("written", "values"), [rare("EI: 70", {"EI": 90}), ("turn: pi/3", {"turn": "pi/2"}), rare("EI: null", {"EI": 70})]
)
def test_robots_of_other_values_answer_as_if_read_anew(written, values, monkeypatch):
    """To the last bit, and without a trace where the structure is the same."""
    text = SHARED.replace(written.replace("null", "70"), written)
    first = loads(text)
    questions = (lambda r: r.linearize(q={"q1": 0.2}, tau=[0.1, 0.2]), lambda r: r.modes(q={"q1": 0.2}))
    for ask in questions:
        if "null" in written:
            with pytest.raises(UsageError, match="EI has no value"):
                ask(first)
        else:
            ask(first)
    if "EI" in values:
        monkeypatch.setattr(LinearModel, "about_any_motion", None)
    found = [ask(first.with_parameters(**values)) for ask in questions]
    monkeypatch.undo()
    anew = loads(text, parameters=values)
    for one, other in zip(found, (ask(anew) for ask in questions), strict=True):
        assert one.summary == other.summary
        for name, array in one.arrays.items():
            assert (array.values == other.arrays[name].values).all(), name


# ------------------------------------------------------------------------------------------------ structure


@pytest.mark.parametrize("q2, symmetric", [(0.4, False), (np.pi, True)])
def test_whether_forces_have_a_potential_is_known_where_it_is_chance(q2, symmetric):
    """Accelerations make K of two links unsymmetric, but not where the outer one is folded back."""
    link = "  - {{name: l{0}, joint: {{type: revolute, name: q{0}}}, dh: {{a: 1, d: 0, alpha: 0, theta: 0}}, {1}}}\n"
    head = "kronbot: 1\nname: r\nconvention: standard\ngravity: [0, 0, 0]\nlinks:\n"
    mass = "rigid: {mass: 1, com: [-0.5, 0, 0], inertia: {Izz: 0.1}}"
    robot = loads(head + link.format(1, mass) + link.format(2, mass)).model
    asked = Linearization(robot, Choice(frozenset(), ("torques",), ("joints",)), False)

    def system(q, qdd):
        return asked.found(Point(np.array(q), np.zeros(2), np.array(qdd), np.zeros(2), np.zeros(3))).solution.system

    moving, resting = system([0.3, q2], [1.0, 0.5]), system([0.3, q2], [0.0, 0.0])
    assert (moving.symmetric, moving.potential) == (symmetric, False)
    assert resting.symmetric and resting.potential


def test_symmetry_is_looked_at_once(monkeypatch):
    robot, looked = load("canadarm"), []
    beside = Trace.beside
    monkeypatch.setattr(Trace, "beside", lambda trace, *given: looked.append(1) or beside(trace, *given))
    counts = []
    for q in np.random.default_rng(0).uniform(-0.5, 0.5, (3, 3)):
        answer = robot.linearize(q)
        counts.append(len(looked))
    assert counts == [2, 3, 4] and answer.summary["verdict"].startswith("stable, undamped")


def test_friction_near_rest_is_told_along_motions_too():
    """A motion from rest to rest has it at its ends: |qd| < 3 smoothing, of (1 - cos(2 pi t/T)) travel/T."""
    joint = "joint: {type: prismatic, name: x, friction: {coulomb: 60, smoothing: 1e-3}}"
    text = f"""
kronbot: 1
name: slide
gravity: [0, 0, 0]
links:
  - {{name: slide, {joint}, pose: {{}}, rigid: {{mass: 10}}}}
  - {{name: beam, pose: {{}}, joint: {{type: revolute, name: y}}, rigid: {{mass: 1, com: [1, 0, 0]}}}}
motion: {{x: {{type: cycloidal, from: 0, to: 0.5, duration: 1}}}}
"""
    robot = loaded(text)
    t = np.linspace(0, 2, 201)
    near = np.where(t < 1, 0.5 * (1 - np.cos(2 * np.pi * t)), 0.0) < 3e-3
    (told,) = robot.linearize_along(duration=2, step=0.01).warnings
    assert told.startswith(
        f"x is near rest at {near.sum()} of 201 times, where friction is linear up to some 0.001 m/s"
    )
    assert not robot.linearize_along(lock=["x"], duration=2, step=0.01).warnings
    gains = robot.design(lqr=True, motion=True, duration=0.2, weights={"x": 1, "y": 1})
    assert any(each.startswith("x is near rest at ") for each in gains.warnings)
