"""Damping ratios of the whole robot: its modes have them, whatever else is asked; and nothing else is damped."""

import casadi
import mpmath as mp
import numpy as np
import pytest
import yaml
from hypothesis import strategies as st
from random_robots import robots, to_yaml
from scipy.integrate import simpson
from scipy.linalg import eigh
from thinned import drawn, rare

import kronbot
from kronbot.errors import ComputationError, DescriptionError, FreeParameters
from kronbot.mechanics.multibody.damping import ModalDamping, measured_damping

ARM = """
kronbot: 1
name: arm
convention: standard
gravity: [0, GRAVITY, 0]
parameters: {EI: 200, m: 0.5, z: 0.01}
links:
  - name: upper
    joint: {type: revolute, name: q1}
    dh: {a: 1, d: 0, alpha: 0, theta: 0}
    flexible: {mass: 1, EI: {z: EI}, modes: {v: 2}, shape: SHAPE}
  - name: fore
    joint: {type: revolute, name: q2}
    dh: {a: 0.8, d: 0, alpha: 0, theta: 0}
    flexible: {mass: 0.6, EI: {z: EI}, modes: {v: 2}}
    payload: {mass: m}
damping: {DAMPING}
simulate: {duration: 0.2, step: 0.05}
"""
POSTURE = {"q2": np.pi / 3}


def arm(damping, gravity="-9.81", shape="craig-bampton", order="2", modes=2, **parameters):
    text = (
        ARM.replace("DAMPING", damping)
        .replace("GRAVITY", gravity)
        .replace("SHAPE", shape)
        .replace("v: 2", f"v: {modes}")
    )
    return kronbot.loads(text, order=order, parameters=parameters)


@pytest.mark.parametrize("order", [rare("1"), "2", rare("exact")])
def test_locked_modes_have_the_ratios(order):
    """At the posture, with gravity; further modes have the last one; elsewhere they differ."""
    robot = arm("ratios: [z, 0.012], at: {q2: pi/3}", order=order)
    assert robot.modes(POSTURE)["damping_locked"] == pytest.approx([0.01, 0.012, 0.012, 0.012], rel=1e-9)
    elsewhere = robot.modes()["damping_locked"]
    assert abs(elsewhere[0] - 0.01) > 1e-3 and abs(elsewhere[1] - 0.012) > 1e-3


@pytest.mark.parametrize(
    ("ratios", "shape"),
    [rare("0.02", "polynomial"), ("[0.02, 0.02, 0.02, 0.02]", "legendre"), rare("[0.02]", "clamped-mass")],
)
def test_one_ratio_is_for_all(ratios, shape):
    found = arm(f"ratios: {ratios}", shape=shape).modes()["damping_locked"]
    assert found == pytest.approx(np.full(4, 0.02), rel=1e-9)


def test_a_zero_behind_leaves_the_others_undamped():
    found = arm("ratios: [0.01, 0.03, 0]").modes()
    assert found["damping_locked"][:2] == pytest.approx([0.01, 0.03], rel=1e-9)
    assert np.abs(found["damping_locked"][2:]).max() < 1e-9


def test_free_modes_have_the_ratios():
    """Without gravity, after the two coordinates that turn freely, whose damping is nothing."""
    robot = arm("ratios: [0.01, 0.02], joints: free, at: {q2: pi/3}", gravity="0")
    answer = robot.modes({"q1": 0.7, **POSTURE})
    assert answer["damping_free"] == pytest.approx([0, 0, 0.01, 0.02, 0.02, 0.02], rel=1e-9, abs=1e-15)
    assert answer.summary["free_coordinates_free"] == 2
    D = robot.dynamics()["D"]
    assert not D[[0, 3]].any() and not D[:, [0, 3]].any()


def test_joint_damping_is_beside_that_with_joints_locked():
    text = ARM.replace("DAMPING", "ratios: 0.02").replace("GRAVITY", "0").replace("SHAPE", "legendre")
    robot = kronbot.loads(text.replace("name: q1}", "name: q1, damping: 0.3}"))
    D = robot.dynamics()["D"]
    assert D[0].tolist() == [0.3, 0, 0, 0, 0, 0]
    assert robot.modes()["damping_locked"] == pytest.approx(np.full(4, 0.02), rel=1e-9)


@drawn(2, 3, robots(max_links=3, gravity=False), st.lists(st.sampled_from([0.0, 0.005, 0.02]), min_size=1, max_size=3))
def test_random_trees(robot, ratios):
    """M and D at q = 0 from another question: their pencil with K has the ratios, by SciPy's eigenvectors."""
    for link in robot["links"]:
        link["joint"].pop("damping", None)
        if "flexible" in link:
            link["flexible"].pop("damping", None)
            if link["flexible"].get("shape") == "polynomial":
                link["flexible"]["shape"] = "legendre"
    plain = kronbot.loads(to_yaml(robot), order="1")
    f = list(plain.model.flexible)
    robot["damping"] = {"ratios": ratios[: len(f)] or ratios[:1]}
    if not f:
        with pytest.raises(DescriptionError, match="1 ratios, but the robot has 0 modes"):
            kronbot.loads(to_yaml(robot))
        return
    answer = kronbot.loads(to_yaml(robot), order="1").dynamics()
    M, K, D = (answer[name][np.ix_(f, f)] for name in ("M", "K", "D"))
    squares, Phi = eigh(K, M)
    wanted = np.array([robot["damping"]["ratios"][min(i, len(robot["damping"]["ratios"]) - 1)] for i in range(len(f))])
    size = np.sqrt(squares)
    modal = Phi.T @ D @ Phi
    assert np.abs(modal - np.diag(2 * wanted * size)).max() < 1e-7 * size.max() * 0.02
    rest = [i for i in range(plain.n) if i not in f]
    assert not answer["D"][rest].any() and not answer["D"][:, rest].any()


def test_motors_and_links_that_turn_together_are_not_damped():
    """A shaft behind a motor: the locked mode sqrt(k/J) has its ratio, turning as a whole has none."""
    text = """
kronbot: 1
name: shaft
gravity: [0, 0, 0]
parameters: {k: 50}
links:
  - name: a
    joint: {type: revolute, name: q1, rotor_inertia: 0.2, elastic: {stiffness: k}}
    pose: {}
    rigid: {mass: 1, inertia: {Izz: 0.5}}
damping: {ratios: 0.03, joints: JOINTS}
"""
    locked = kronbot.loads(text.replace("JOINTS", "locked"))
    d = 2 * 0.03 * np.sqrt(50 * 0.5)
    assert locked.dynamics()["D"] == pytest.approx(d * np.array([[1, -1], [-1, 1]]), rel=1e-12)
    assert locked.modes()["damping_locked"] == pytest.approx([0.03], rel=1e-12)
    free = kronbot.loads(text.replace("JOINTS", "free")).modes()
    assert free["damping_free"] == pytest.approx([0, 0.03], rel=1e-9)
    assert free["frequencies_free"][1] == pytest.approx(np.sqrt(50 * (1 / 0.2 + 1 / 0.5)), rel=1e-12)


@pytest.mark.slow
def test_other_values_trace_nothing_anew_and_have_the_bits_of_a_fresh_robot(swept_here):
    """Masses and stiffness move the modes, and D with them; ratios are values as others are."""
    robot = arm("ratios: [z, 0.012]")
    robot.modes()
    kept = len(robot.model.parameters._structure.kept)
    for values in ({"EI": 900.0}, {"m": 0.1, "z": 0.05}, {"z": 0.0}):
        found = robot.with_parameters(**values).modes()
        assert found["damping_locked"][0] == pytest.approx(values.get("z", 0.01), rel=1e-9, abs=1e-12)
        assert found.to_dict() == arm("ratios: [z, 0.012]", **values).modes().to_dict()
    assert len(robot.model.parameters._structure.kept) == kept
    swept = robot.sweep("modes", over={"EI": [100, 400], "z": [0.01, 0.02]}, keep="damping_locked[1]", workers=1)
    assert [row["damping_locked[1]"] for row in swept] == pytest.approx([0.01, 0.02] * 2, rel=1e-9)


def test_every_command_has_it():
    """Lagrange's D in simulate's account, in the linear model, in exported functions, in formulas as numbers."""
    robot = arm("ratios: [z, 0.012]", order="1", modes=1)
    D = robot.dynamics()["D"]
    np.testing.assert_allclose(robot.linearize()["D_L"], D, rtol=0, atol=1e-13)
    run = robot.simulate(q={"upper.v1": 0.05})
    assert run["energy.dissipated"][-1] > 1e-3
    assert np.abs(run["energy.balance"]).max() < 1e-7
    composite = robot.simulate(q={"upper.v1": 0.05}, algorithm="composite")
    assert composite["upper.v1"] == pytest.approx(run["upper.v1"], abs=1e-7)
    scope = {}
    exec(robot.export("bias").python(), scope)
    rates = [0.1, 0.2, -0.3, 0.4]
    still, moving = (np.array(scope["bias"]([0.0] * 4, each)) for each in ([0.0] * 4, rates))
    exact = robot.dynamics(qd=rates)["tau"] - robot.dynamics(qd=[0.0] * 4)["tau"]
    np.testing.assert_allclose(moving - still, exact, rtol=0, atol=1e-12)
    assert set(scope.get("PARAMETERS", ())) == set()
    formulas = robot.symbolic(array="D").dynamics()["D"]
    assert float(formulas[1, 3]) == pytest.approx(D[1, 3], rel=1e-15)
    assert robot.symbolic().jacobian()["J_R"].shape == (3, 4)


def test_numbers_are_needed_where_it_counts():
    text = ARM.replace("DAMPING", "ratios: 0.02").replace("GRAVITY", "0").replace("SHAPE", "legendre")
    robot = kronbot.loads(text.replace("EI: 200", "EI: "))
    assert robot.jacobian()["J_T"].shape == (3, 6)
    with pytest.raises(FreeParameters, match="EI has no value"):
        robot.dynamics()
    with pytest.raises(FreeParameters, match="EI has no value"):
        robot.at_order("1").symbolic(array="D").dynamics()
    assert robot.at_order("1").symbolic(array="g").dynamics()["g"].shape == (6,)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("shape: SHAPE", "damping: {ratio: 0.01}"), "the damping of the whole robot, as measured, holds this one"),
        (("shape: SHAPE", "damping: {alpha: 0.1}"), "holds this one"),
        (("ratios: 0.02", "ratios: [0.01, -0.02]"), "must be at least 0, it is -0.02"),
        (("ratios: 0.02", "ratios: [1, 1, 1, 1, 1]"), "5 ratios, but the robot has 4 modes that swing"),
        (("ratios: 0.02", "joints: locked"), "missing key 'ratios'"),
        (("ratios: 0.02", "ratios: 0.02, joints: loose"), "'joints' must be one of locked, free; not 'loose'"),
        (("ratios: 0.02", "ratios: 0.02, at: {q3: 1}"), "unknown joint 'q3'"),
        (("name: q1}", "name: q1, elastic: {stiffness: 1, damping: 1}, rotor_inertia: 1}"), "holds this one"),
    ],
)
def test_what_does_not_go_with_it(change, message):
    text = ARM.replace("DAMPING", "ratios: 0.02").replace("GRAVITY", "0").replace(*change).replace("SHAPE", "legendre")
    with pytest.raises(DescriptionError, match=message):
        kronbot.loads(text)


def test_joint_damping_and_free_joints():
    text = ARM.replace("DAMPING", "ratios: 0.02, joints: JOINTS").replace("GRAVITY", "0").replace("SHAPE", "legendre")
    text = text.replace("name: q1}", "name: q1, damping: d}").replace("z: 0.01}", "z: 0.01, d: 0}")
    robot = kronbot.loads(text.replace("JOINTS", "free"))
    with pytest.raises(DescriptionError, match="holds this one"):
        robot.with_parameters(d=1)
    kronbot.loads(text.replace("JOINTS", "locked")).with_parameters(d=1)


def test_directions_without_stiffness_are_not_damped():
    """An arm that gravity buckles has a mode that does not swing: ratios are those of the others."""
    M, K = np.diag([1.0, 2.0, 1.0]), np.diag([-3.0, 8.0, 9.0])
    D = ModalDamping.of(M, K, np.array([0.1, 0.2, 0.3]), 3).D
    assert pytest.approx(np.diag([0, 2 * 0.1 * 2 * 2, 2 * 0.2 * 3])) == D
    D = ModalDamping.of(M, np.diag([3.0, 8.0, 9.0]), np.array([0.1, 0.2, 0.3]), 3).D
    assert pytest.approx(np.diag([2 * 0.1 * np.sqrt(3), 2 * 0.2 * 2 * 2, 2 * 0.3 * 3])) == D


@pytest.mark.slow
def test_it_survives_the_ways_of_a_robot():
    """Order 0 has nothing to damp; pickles, other orders and motions keep it."""
    import pickle

    robot = arm("ratios: 0.02")
    assert not robot.at_order("0").dynamics()["D"].any()
    again = pickle.loads(pickle.dumps(robot)).with_motion("q1: {type: sinusoid, amplitude: 0.1, frequency: 3}")
    np.testing.assert_array_equal(again.dynamics()["D"], robot.dynamics()["D"])
    assert yaml.safe_load(again.description.source.text)["damping"] == {"ratios": 0.02}


@pytest.mark.slow
def test_on_a_base_that_floats_a_run_may_be_the_first_question():
    """D is that of the robot's own angles, whichever the run is in; the dissipation is that of D."""
    text = ARM.replace("DAMPING", "ratios: 0.02, joints: free").replace("GRAVITY", "0").replace("SHAPE", "legendre")
    text = text.replace(
        "links:", "base: {type: floating, rigid: {mass: 5, inertia: {Ixx: 1, Iyy: 1, Izz: 1}}}\nlinks:", 1
    )
    start = {"q": {"upper.v1": 0.02, "base.ry": 1.4}, "qd": {"base.rx": 2, "q1": 1}}
    run = kronbot.loads(text, order="1").simulate(**start)
    robot = kronbot.loads(text, order="1")
    D = robot.dynamics()["D"]
    assert robot.simulate(**start).to_dict() == run.to_dict()
    fine = robot.simulate(**start, step=1e-4)
    qd = np.column_stack([fine[f"{name}_dot"] for name in robot.coordinates])
    power = np.einsum("ij,jk,ik->i", qd, D, qd)
    assert fine["energy.dissipated"][-1] == pytest.approx(simpson(power, x=fine["t"]), rel=1e-6)
    assert np.abs(run["energy.balance"]).max() < 1e-7


HUNG = """
kronbot: 1
name: hung
gravity: {gravity}
base: {{type: floating, rigid: {{mass: 3, inertia: {inertia}}}}}
links:
  - {{name: arm, joint: {{type: revolute, name: q1}}, pose: {{rpy: {turn}}},
     flexible: {{length: 1, mass: 1, EI: {{z: 30}}, modes: {{v: 1}}}}}}
elements:
  - {{name: a, type: spring, between: [world, base], points: {a}, stiffness: 100, rest: 0.5}}
  - {{name: b, type: spring, between: [world, base], points: {b}, stiffness: 100}}
  - {{name: c, type: spring, between: [world, base], points: {c}, stiffness: 100}}
damping: {{ratios: 0.05, joints: free}}
"""


def hung(turned):
    """The robot with the axes x, y, z of world and base called y, z, x where they are turned."""

    def vector(x, y, z):
        return [z, x, y] if turned else [x, y, z]

    ends = {
        "a": [vector(1, 0, 2), vector(0.3, 0, 0)],
        "b": [vector(-1, 1, 2), vector(-0.3, 0.3, 0)],
        "c": [vector(-1, -1, 2), vector(-0.3, -0.3, 0)],
    }
    inertia = dict(zip(("Ixx", "Iyy", "Izz"), vector(0.1, 0.2, 0.3), strict=True))
    written = "{" + ", ".join(f"{key}: {value}" for key, value in inertia.items()) + "}"
    turn = "[pi/2, 0, pi/2]" if turned else "[0, 0, 0]"
    return kronbot.loads(HUNG.format(gravity=vector(0, 0, -3), inertia=written, turn=turn, **ends), order="1")


@pytest.mark.slow
def test_damping_of_a_hung_base_does_not_depend_on_how_its_angles_are_counted():
    """It pitches beyond 60 degrees, where the chart changes, or it rolls by as much, where none does."""
    pitching, rolling = hung(turned=False), hung(turned=True)
    run = pitching.simulate(1, 0.05, q={"base.ry": 1.3}, rtol=1e-11, atol=1e-12, outputs="velocity:base")
    other = rolling.simulate(1, 0.05, q={"base.rz": 1.3}, rtol=1e-11, atol=1e-12, outputs="velocity:base")
    assert np.abs(run["base.ry"]).max() > 1.2 and run["energy.dissipated"][-1] > 10
    for axis, called in zip("xyz", "yzx", strict=True):
        for kind in ("endpoint", "velocity.base"):
            assert run[f"{kind}.{axis}"] == pytest.approx(other[f"{kind}.{called}"], abs=1e-7)
    assert run["energy.dissipated"] == pytest.approx(other["energy.dissipated"], rel=1e-8)
    assert run.summary["energy_drift"] < 1e-8
    still = pitching.dynamics()["D"]
    assert still[3:6, 3:6].any() and not np.array_equal(pitching.dynamics(q={"base.ry": 0.5})["D"], still)


@pytest.mark.slow
@pytest.mark.parametrize(("count", "joints"), [(2, "locked"), (6, "free")])
def test_a_base_on_springs_swings_with_the_rest(joints, count):
    """M, K and D of the linear model: their pencil has the ratios, by SciPy; what no spring holds is no mode."""
    rng = np.random.default_rng(count)
    places = [(each / np.linalg.norm(each), rng.uniform(-0.4, 0.4, 3)) for each in rng.normal(size=(count, 3))]
    robot = {
        "kronbot": 1,
        "name": "hung",
        "gravity": [0, 0, 0],
        "base": {"type": "floating", "rigid": {"mass": 3, "inertia": {"Ixx": 0.1, "Iyy": 0.2, "Izz": 0.25}}},
        "links": [
            {
                "name": "arm",
                "joint": {"type": "revolute", "name": "q1", "rotor_inertia": 0.1, "elastic": {"stiffness": 40}},
                "pose": {"xyz": [0.1, 0.2, 0]},
                "flexible": {"length": 1, "mass": 1, "EI": {"z": 30}, "modes": {"v": 1}},
            }
        ],
        "elements": [
            {"name": f"e{i}", "type": "spring", "between": ["world", "base"], "stiffness": 100 + 10 * i, "rest": 2.0,
             "points": [(near + 2 * way).tolist(), near.tolist()]}
            for i, (way, near) in enumerate(places)
        ],
        "damping": {"ratios": [0.01, 0.03, 0.02], "joints": joints},
    }  # fmt: skip
    found = kronbot.loads(to_yaml(robot), order="1").linearize(tau=[0])
    moving = [i for i, name in enumerate(found.arrays["M_L"].rows) if joints == "free" or name != "q1.motor"]
    M, K, D = (found[name][np.ix_(moving, moving)] for name in ("M_L", "K_L", "D_L"))
    squares, Phi = eigh(K, M)
    swings = squares > 1e-9 * squares.max()
    assert swings.sum() == count + 2
    wanted = np.zeros(len(squares))
    wanted[swings] = 2 * np.sqrt(squares[swings]) * [0.01, 0.03, *[0.02] * count]
    assert Phi.T @ D @ Phi == pytest.approx(np.diag(wanted), abs=1e-8 * wanted.max())


def test_there_may_be_a_ratio_for_each_mode_of_a_base_on_springs():
    text = HUNG.format(gravity=[0, 0, 0], inertia="{Ixx: 1, Iyy: 1, Izz: 1}", turn=[0, 0, 0],
                       **{name: [[i, 0, 2], [0, i, 1]] for i, name in enumerate("abc")})  # fmt: skip
    kronbot.loads(text.replace("ratios: 0.05", "ratios: [1, 1, 1, 1, 1, 1, 1]"))
    with pytest.raises(DescriptionError, match="9 ratios, but the robot has at most 8 modes that swing"):
        kronbot.loads(text.replace("ratios: 0.05", "ratios: [1, 1, 1, 1, 1, 1, 1, 1, 1]"))


@pytest.mark.slow
@drawn(
    1,
    2,
    robots(max_links=2, max_coordinates=3, joined=True, yielding=True, floating=True, gravity=False),
    st.sampled_from(["locked", "free"]),
)
def test_random_trees_on_a_spring_of_the_world(robot, joints):
    """The same pencil of the linear model, where a spring or some hold a base in one direction or in some."""
    ratios = [0.01, 0.02, 0.03]
    robot["elements"] = [each for each in robot["elements"] if each["type"] == "spring"]
    stay = {"type": "spring", "between": ["world", "base"], "points": [[0, 0.3, 2], [0.1, 0.2, 0]], "stiffness": 50.0}
    robot["elements"].append({"name": "stay", **stay})
    parts = [each for link in robot["links"] for each in (link["joint"], link.get("flexible", {}))]
    parts += [part.get(key, {}) for part in parts for key in ("elastic", "bearing")] + robot["elements"]
    for part in parts:
        for key in ("damping", "friction", "force"):
            part.pop(key, None)
    robot["damping"] = {"ratios": ratios, "joints": joints}
    found = kronbot.loads(to_yaml(robot), order="1")
    model, found = found.model, found.linearize(tau=[0] * len(found.model.joints))
    free = [i for i in range(model.n) if joints == "free" or i not in model.rigid]
    M, K, D = (found[name][np.ix_(free, free)] for name in ("M_L", "K_L", "D_L"))
    squares, Phi = eigh(K, M)
    swings, wanted = squares > 1e-12 * squares.max(), np.zeros(len(squares))
    wanted[swings] = 2 * np.sqrt(squares[swings]) * [ratios[min(i, 2)] for i in range(swings.sum())]
    assert np.abs(Phi.T @ D @ Phi - np.diag(wanted)).max() < 1e-7 * wanted.max()


def in_digits(M, K, ratios, m):
    """D by its definition, of eigenvectors of L^-1 K L^-T where L L^T is what is left of M."""
    inertia = M[:m, :m]
    if M.rows > m:
        inertia -= M[:m, m:] * mp.inverse(M[m:, m:]) * M[m:, :m]
    L = mp.cholesky(inertia)
    squares, V = mp.eigsy(mp.inverse(L) * K * mp.inverse(L).T)
    swinging = [i for i in range(m) if squares[i] > 0]
    G = mp.zeros(m)
    for ratio, i in zip(ratios, swinging, strict=False):
        G[i, i] = 2 * ratio * mp.sqrt(squares[i])
    return L * V * G * V.T * L.T


@pytest.mark.parametrize("kind", ["swinging", "equal", "following", "buckled", "massless"])
def test_derivatives_are_those_of_differences_in_many_digits(kind):
    """Forward and back; where frequencies and ratios are equal, and where a direction does not swing or has no mass."""
    state, m = np.random.default_rng(1), 3
    size = m + (kind == "following")
    root, zeta = state.normal(size=(size, size)), np.array([0.05, 0.02, 0.03])
    dM, dK, dzeta = (state.normal(size=each) for each in ((size, size), (m, m), m))
    M, K, dM, dK = root @ root.T + np.eye(size), np.diag([3.0, 9.0, 20.0]) + 0.5, dM + dM.T, dK + dK.T
    if kind == "equal":
        K, zeta, dzeta = 4 * M, np.full(m, 0.02), np.ones(m)
    if kind == "buckled":
        K[0, 0] = -2
    if kind == "massless":
        M[:, 0], M[0], dM[:, 0], dM[0] = 0, 0, 0, 0
    with mp.workdps(120):
        step, little = mp.mpf(10) ** -30, mp.zeros(size)
        little[0, 0] = mp.mpf(10) ** -70 if kind == "massless" else 0
        of = (mp.matrix(M) + little, dM), (mp.matrix(K), dK), (mp.matrix(zeta), dzeta)
        low, D, high = (in_digits(*(each + by * step * mp.matrix(to) for each, to in of), m) for by in (-1, 0, 1))
        slopes = (high - low) / (2 * step)
    D, slopes = (np.array(each.tolist(), dtype=float) for each in (D, slopes))
    found, scale, seed = ModalDamping.of(M, K, zeta, m), np.abs(slopes).max(), state.normal(size=(m, m))
    np.testing.assert_allclose(
        found.D, D, rtol=0, atol=1e-7 if kind == "massless" else 1e-13
    )  # the root of what is rounded
    np.testing.assert_allclose(found.forward(dM, dK, dzeta), slopes, rtol=0, atol=1e-12 * scale)
    by_M, by_K, by_ratios = found.reverse(seed)
    back = (by_M * dM).sum() + (by_K * dK).sum() + by_ratios @ dzeta
    assert back == pytest.approx((seed * slopes).sum(), abs=1e-11 * scale)


def test_shapes_of_one_frequency_and_two_ratios_have_no_derivative():
    both = ModalDamping.of(np.eye(2), 4 * np.eye(2), np.array([0.1, 0.2]), 2)
    assert np.isnan(both.forward(np.eye(2), np.eye(2), np.zeros(2))).all()
    assert np.isnan(both.reverse(np.eye(2))[0]).all()


def test_expressions_are_derived_either_way():
    """Of one number by many things derivatives go back, of many by few forward: what they are is the same."""
    robot = arm("ratios: [z, 0.012], at: {q2: pi/3}").model
    D, parameters = measured_damping(robot), robot.parameters
    by = [parameters.named[name] for name in ("EI", "m", "z")]
    one = parameters.in_others(D[-1, -1])
    numbers, values = parameters.symbols((len(parameters.literals), 0)), parameters.bound((len(parameters.literals), 0))
    rest = casadi.vertcat(*by)
    back = casadi.Function("back", [numbers], [casadi.gradient(one, rest)])(values)
    forth = casadi.Function("forth", [numbers], [casadi.jtimes(one, rest, casadi.SX.eye(3))])(values)
    assert np.abs(forth.full()).min() > 0
    np.testing.assert_allclose(back.full().ravel(), forth.full().ravel(), rtol=1e-9)


@pytest.mark.slow
def test_fits_follow_it():
    """Modes tell stiffness and ratios, by the derivatives of D; where it has none, the fit says so."""
    robot, estimate = arm("ratios: [z, 0.012], at: {q2: pi/3}"), ["EI", "z"]
    columns = [f"{word}_locked[{i}]" for word in ("frequencies", "damping") for i in (1, 2)]
    postures, true = [0.3, 1.2, 2.0], np.array([230, 0.013])

    def answers(EI, z):
        each = [robot.with_parameters(EI=EI, z=z).modes({"q2": q2}) for q2 in postures]
        return np.array([[*modes["frequencies_locked"][:2], *modes["damping_locked"][:2]] for modes in each])

    table = dict(zip(["q2", *columns], np.column_stack([postures, answers(*true)]).T, strict=True))
    found = robot.fit(table, question="modes", estimate=estimate, sigma=dict.fromkeys(columns, 1e-6))
    assert found["estimates"][:, 1] == pytest.approx(true, rel=1e-9)
    steps = np.diag(1e-4 * true)
    J = np.array([(answers(*(true + each)) - answers(*(true - each))).ravel() / (2 * each.sum()) for each in steps])
    assert found["standard_errors"] == pytest.approx(1e-6 * np.sqrt(np.diag(np.linalg.inv(J @ J.T))), rel=1e-6)
    text = ARM.replace("DAMPING", "ratios: [z, 0.012]").replace("GRAVITY", "0").replace("SHAPE", "legendre")
    text = text.replace("EI: {z: EI}, modes: {v: 2}", "EI: {y: EI, z: EI}, modes: {v: 1, w: 1}", 1)
    twin = kronbot.loads(text.partition("  - name: fore")[0] + "damping: {ratios: [z, 0.012]}\n")
    with pytest.raises(ComputationError, match="no derivatives by EI"):
        twin.fit({"damping_locked[1]": [0.02]}, question="modes", estimate="EI", sigma={"damping_locked[1]": 1e-3})
    table = {"damping_locked[1]": [0.01], "damping_locked[2]": [0.02], "frequencies_locked[1]": [99]}
    twin = kronbot.loads(twin.description.source.text.replace("z: 0.01}", "z: 0.01, y: 0.01}").replace("0.012", "y"))
    with pytest.raises(ComputationError, match="no derivatives by EI, y"):
        twin.fit(table, question="modes", estimate=["EI", "y"], sigma=dict.fromkeys(table, 1e-3))
