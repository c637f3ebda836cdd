"""``--outputs`` of simulate, statics and linearize: balances of forces and power, derivatives, words, mistakes."""

import numpy as np
import pytest
from casadi import SX
from random_robots import SPATIAL_ARM, to_yaml
from robots_in_tests import moving
from thinned import rare

import kronbot
from kronbot.errors import UsageError
from kronbot.mechanics.multibody.carried import carried, loaded
from kronbot.mechanics.multibody.outputs import Instant
from kronbot.mechanics.multibody.recursion import ALGORITHMS
from kronbot.questions.outputs import series

ARM = """
kronbot: 1
name: arm
convention: standard
gravity: [0, -9.81, 0]
links:
  - name: upper
    joint: {type: revolute, name: q1, damping: 0.4, rotor_inertia: 0.2, elastic: {stiffness: 900, damping: 2}}
    dh: {a: 1, d: 0, alpha: pi/2, theta: 0.1}
    rigid: {mass: 4, com: [-0.5, 0.1, 0], inertia: {Izz: 0.3, Ixx: 0.2, Iyy: 0.3}}
  - name: fore
    joint: {type: revolute, name: q2, spring: {stiffness: 30, rest: 0.2},
            bearing: {stiffness: {x: 400}, damping: {x: 1}}}
    dh: {a: 0.8, d: 0.1, alpha: 0, theta: 0.2}
    flexible: {mass: 2, EI: {y: 200, z: 300}, modes: {v: 2, w: 1}, damping: {ratio: 0.02}}
    payload: {mass: 0.5, com: [0.1, 0, 0.05]}
  - name: plate
    joint: {type: fixed}
    pose: {xyz: [0.1, 0, 0]}
    rigid: {mass: 0.3, com: [0, 0.1, 0]}
statics:
  gauges: [{name: g1, link: fore, x: 0.1}]
  loads: [{frame: fore, force: [1, 2, 3], moment: [0.4, 0, -1]}]
  distributed: [{link: fore, force: [0, -2, 1]}]
simulate:
  duration: 0.01
  step: 0.01
  drive: {q1: {torque: 3}, q2: {motion: {type: sinusoid, amplitude: 0.3, frequency: 4}}}
"""
WHOLE = "reaction:q1,reaction:plate,spring:q1,spring:q2,power:q1,power:q2,gauge:g1,rate:q1.motor"
MOVING = f"{WHOLE},acceleration:q1.motor,velocity:com:plate,position:endpoint,rotation:fore"


@pytest.fixture(scope="module")
def arm():
    return kronbot.loads(ARM)


def together(answer, *names):
    return np.column_stack([answer[name] for name in names])


def six(answer, head):
    return [together(answer, *(f"{head}.{kind}{axis}" for axis in "xyz")) for kind in "fm"]


def test_power_springs_and_motors_of_a_run(arm):
    """The work of drives is the integral of their power; a motor has its torque less damping and shaft."""
    run = arm.simulate(duration=0.4, step=0.001, q={"q1": 0.2}, outputs=MOVING, rtol=1e-10, atol=1e-12)
    weights = np.full(401, 0.001 / 3) * np.where(np.arange(401) % 2, 4, 2)
    weights[[0, -1]] /= 2
    power = run["power.q1"] + run["power.q2"]
    assert weights @ power == pytest.approx(run["energy.work"][-1], rel=1e-6)
    assert np.abs(run["power.q2"]).max() > 1
    shaft = 900 * (run["q1.motor"] - run["q1"]) + 2 * (run["q1.motor_dot"] - run["q1_dot"])
    assert run["spring.q1.elastic"] == pytest.approx(shaft, abs=1e-9)
    motor = 3 - 0.4 * run["q1.motor_dot"] - shaft
    assert 0.2 * run["acceleration.q1.motor"] == pytest.approx(motor, abs=1e-8)
    assert run["spring.q2.spring"] == pytest.approx(30 * (0.2 - run["q2"]), abs=1e-10)
    assert run["spring.q2.x"] == pytest.approx(-400 * run["q2.x"] - run["q2.x_dot"], abs=1e-8)
    assert run["rate.q1.motor"] == pytest.approx(run["q1.motor_dot"], abs=1e-14)
    # the plate: m (a - g) at its centre of mass, from the velocity by differences
    a = np.gradient(together(run, *(f"velocity.com:plate.{axis}" for axis in "xyz")), 0.001, axis=0)[1:-1]
    force, _ = six(run, "reaction.plate")
    R = turned(together(run, *(f"rotation.fore.{axis}" for axis in "xyz")))
    base = np.einsum("tij,tj->ti", R, force)[1:-1]
    assert base == pytest.approx(0.3 * (a + [0, 9.81, 0]), abs=2e-4 * np.abs(a).max())
    assert run.units["reaction.plate.mx"] == "N m" and run.units["power.q1"] == "W"


def turned(vectors):
    """Matrices (N, 3, 3) of rotation vectors, by Rodrigues."""
    angle = np.linalg.norm(vectors, axis=1)[:, None, None]
    x, y, z = (vectors / angle[:, 0]).T
    zero = np.zeros_like(x)
    K = np.array([[zero, -z, y], [z, zero, -x], [-y, x, zero]]).transpose(2, 0, 1)
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


@pytest.mark.parametrize("order", ["2", rare("exact")])
def test_the_reaction_of_the_first_joint_is_that_of_the_base(arm, order):
    """Of all loads and the weight, seen in the root frame that stands at the base's origin, turned by q1."""
    robot = arm if order == "2" else kronbot.loads(ARM.replace("v: 2, w: 1", "v: 1, w: 1"), order=order)
    outputs = "reaction:q1,rotation:upper:root,position:upper:root,spring:q1,gauges"
    loads = {"forces": [[3, -4, 5]], "moments": [[1, 0, 2]], "loads": {"com:upper": [5, 6, 7, 1, 2, 3]}}
    answer = robot.statics(q=[0.4, -0.3], outputs=outputs, **loads)
    force, moment = (together(answer, *(f"reaction.{kind}{axis}" for axis in "xyz")) for kind in "fm")
    R = turned(together(answer, *(f"rotation.upper:root.{axis}" for axis in "xyz")))
    own_force, own_moment = six(answer, "reaction.q1")
    assert np.einsum("tij,tj->ti", R, own_force) == pytest.approx(force, abs=1e-10)
    assert np.einsum("tij,tj->ti", R, own_moment) == pytest.approx(moment, abs=1e-10)
    assert answer["spring.q1.elastic"] == pytest.approx(answer["torque.q1"], abs=1e-10)
    assert own_moment[:, 2] == pytest.approx(answer["torque.q1"], abs=1e-10)
    assert list(answer.series).count("curvature.g1") == 1


@pytest.mark.slow
def test_linear_statics_keeps_its_degree(arm):
    """Reactions are of first order as the balance is, which the axis of a free joint shows; places as elsewhere."""
    answer = arm.statics(q=[0.4, -0.3], solver="linear", outputs="reaction:q1,position:endpoint,spring:q1")
    assert answer["reaction.q1.mz"] == pytest.approx(answer["torque.q1"], abs=1e-10)
    assert answer["spring.q1.elastic"] == pytest.approx(answer["torque.q1"], abs=1e-10)
    assert abs(answer["torque.q1"] - arm.statics(q=[0.4, -0.3])["torque.q1"])[0] > 1e-3
    for axis in "xyz":
        assert answer[f"position.endpoint.{axis}"] == pytest.approx(answer[f"endpoint.{axis}"], abs=1e-15)


POINTED = (
    "position:com:arm,rotation:hand,velocity:endpoint,acceleration:arm,rate:q2,acceleration:q3,reaction:q2,power:q1"
)


def seen_of(model, outputs):
    """The outputs as functions of q, qd and (torques, force), with accelerations by the forward dynamics."""
    names = outputs.split(",")

    made = {}

    def instant(state, x):
        if id(x) not in made:
            made[id(x)] = with_load(state, x)
        return made[id(x)]

    def with_load(state, x):
        at = carried(state, "endpoint")
        state = loaded(state, [(at.link, at.on_link(x[3:6], SX(3, 1)))])
        tau = SX(model.n, 1)
        for i, joint in enumerate(model.joints):
            tau[joint.driven] = x[i]
        return Instant(state, ALGORITHMS["recursive"](state, tau, {}), tau)

    pairs = [name.split(":", 1) for name in names]
    of = {":".join(pair): (lambda state, x, pair=pair: instant(state, x).of(*pair)) for pair in pairs}
    return moving(model, qdd=lambda state, x: instant(state, x).qdd, **of)


@pytest.mark.slow
def test_linear_models_have_the_exact_derivatives_of_outputs():
    """C and D against central differences of the outputs along the motion that the equations have."""
    column, beam, hand = SPATIAL_ARM["links"]
    beam = beam | {"flexible": beam["flexible"] | {"modes": {"v": 1, "w": 1, "torsion": 1}}}
    robot = kronbot.loads(to_yaml(SPATIAL_ARM | {"links": [column, beam, hand]}))
    model, n = robot.model, robot.model.n
    functions = seen_of(model, POINTED)
    rng = np.random.default_rng(8)
    q, qd = rng.normal(size=(2, n)) * np.where(np.isin(np.arange(n), model.rigid), 1, 0.02)
    x = np.zeros(n)
    x[:6] = rng.normal(size=6)
    qdd = functions(q, qd, x)["qdd"]
    found = robot.linearize(q, qd, qdd, tau=x[:3], force=x[3:6], outputs=POINTED)
    assert found.summary["largest_h_L"] < 1e-9
    assert found.summary["observable"] == 2 * n

    def outputs(q, qd, x):
        rows = {name: values[None] for name, values in functions(q, qd, x).items()}
        return np.array([column[0] for column in series(model, POINTED.split(","), rows).values()])

    def slopes(place, size, h=1e-5):
        at = [q, qd, x]
        columns = []
        for i in range(size):
            step = np.zeros(len(at[place]))
            step[i] = h
            ends = [outputs(*at[:place], at[place] + sign * step, *at[place + 1 :]) for sign in (1, -1)]
            columns.append((ends[0] - ends[1]) / (2 * h))
        return np.array(columns).T

    C, D = (found.arrays[name].values for name in "CD")
    wanted = np.hstack([slopes(0, n), slopes(1, n)])
    # differences are right to h^2 times third derivatives, which grow with the stiffness of beams
    assert pytest.approx(wanted, rel=1e-5, abs=1e-7 * np.abs(wanted).max(axis=1, keepdims=True).max()) == C
    assert pytest.approx(slopes(2, 6), rel=1e-6, abs=1e-7) == D


@pytest.mark.slow
def test_power_of_a_locked_joint_is_that_of_the_torque_it_needs(arm):
    """(tau qd)' = qd tau', with tau from the locked joint's own row of the linear model."""
    at = {"qd": {"q1": 2.0}, "lock": "q1", "outputs": "power:q1,acceleration:q2"}
    rigid = kronbot.loads(ARM.replace(", elastic: {stiffness: 900, damping: 2}", ""))
    whole, held = rigid.linearize(qd={"q1": 2.0}), rigid.linearize(**at)
    M, D, K = (whole.arrays[name].values for name in ("M_L", "D_L", "K_L"))
    free = np.arange(1, len(M))
    own = [part[0, free] for part in (M, D, K)]
    acceleration = np.linalg.solve(M[np.ix_(free, free)], np.hstack([-K[free][:, free], -D[free][:, free]]))
    wanted = 2.0 * (np.hstack([own[2], own[1]]) + own[0] @ acceleration)
    assert held.arrays["C"].values[0] == pytest.approx(wanted, rel=1e-10, abs=1e-9)
    assert (held.arrays["D"].values[0, 0], held.arrays["C"].rows[0]) == (0, "power.q1")


def test_words_go_with_outputs():
    """In any order, each once; gauges are curvatures v'' of linear models, and all three strains elsewhere."""
    arm = kronbot.loads(ARM, order="1")
    rows = arm.linearize(outputs="gauge:g1,gauges,joints,endpoint,rate:q2").arrays["C"].rows
    joints, ends = ["q1", "q1.motor", "q2"], [f"endpoint.{axis}" for axis in "xyz"]
    assert list(rows) == [*joints, *ends, "curvature.g1", "curvature_y.g1", "twist.g1", "rate.q2"]
    assert list(arm.linearize(outputs="all").arrays["C"].rows) == [*joints, *ends, "curvature.g1"]
    plain, more = (
        arm.simulate(0.01, 0.01, solver="rodas", outputs=outputs) for outputs in ((), ["joints", "gauges", "endpoint"])
    )
    assert list(more.series) == [*plain.series, "curvature.g1", "curvature_y.g1", "twist.g1"]
    alone = arm.linearize(outputs="rate:q1")
    assert alone.arrays["C"].values.shape == (1, 2 * arm.model.n)


def test_a_rate_does_not_see_where_a_free_joint_is():
    """A rotor on its own: of its two states the rate alone sees one."""
    rotor = kronbot.loads("""
kronbot: 1
name: rotor
gravity: [0, 0, 0]
links:
  - {name: a, joint: {type: revolute, name: q}, pose: {}, rigid: {inertia: {Izz: 2}}}
""")
    seen = [rotor.linearize(outputs=outputs).summary["observable"] for outputs in ("joints", "rate:q")]
    assert seen == [2, 1]


@pytest.mark.slow
def test_side_by_side_and_alone_are_one(swept_here):
    """Cases of a sweep, and orders side by side."""
    arm = kronbot.loads(
        ARM.replace("modes: {v: 2, w: 1}", "modes: {v: 1}").replace("EI: {y: 200, z: 300}", "EI: {z: 300}")
    )
    kept = ["max(abs(reaction.q1.mz))", "last(position.endpoint.x)"]
    asked = {"outputs": "reaction:q1,position:endpoint"}
    _, two = arm.sweep("statics", over={"q1": [0.1, 0.2]}, keep=kept, workers=1, **asked)
    assert two[kept[0]] == abs(arm.statics(q={"q1": 0.2}, **asked)["reaction.q1.mz"][0])
    every = arm.statics(q=[0.1, 0.2], order="all", outputs="spring:q1")
    assert (np.asarray(every["spring.q1.elastic"]) > 1).all()


@pytest.mark.parametrize(
    ("outputs", "told"),
    [
        ("positon:endpoint", "did you mean 'position'"),
        ("position:hand", "position of 'hand'"),
        ("rate:", "rate of what?"),
        ("rate", "did you mean 'rate:NAME'?"),
        ("endpont", "did you mean 'endpoint'"),
        ("power:plate", "power of 'plate'"),
        ("reaction:fore", "reaction of 'fore'"),
        ("gauge:g2", "names are g1"),
    ],
)
def test_mistakes_have_their_cure(arm, outputs, told):
    for ask in (arm.simulate, arm.statics, arm.linearize):
        with pytest.raises(UsageError, match="outputs") as error:
            ask(outputs=outputs)
        assert told in str(error.value)


def test_a_name_of_two_things_is_told():
    twice = kronbot.loads(ARM.replace("name: q2,", "name: fore,").replace("q2", "fore"), order="1")
    with pytest.raises(UsageError, match="a frame and a joint have that name"):
        twice.simulate(outputs="acceleration:fore")
    assert "rate.fore" in twice.simulate(0.01, 0.01, solver="rodas", outputs="rate:fore")
    bare = kronbot.load("puma560")
    with pytest.raises(UsageError, match="nothing of that kind"):
        bare.statics(outputs="spring:q1")
