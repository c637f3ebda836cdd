"""Fits of torques along motions and of frequencies: derivatives, numbering, parameters that come back."""

import numpy as np
import pytest
from differences import demand_derivatives
from thinned import rare, thinned

import kronbot
from kronbot.errors import ComputationError, UsageError
from kronbot.model.variation import Variation
from kronbot.questions.fitting.data import Columns, Named
from kronbot.questions.fitting.dynamics import DynamicAnswers
from kronbot.questions.fitting.modes import ModalAnswers
from kronbot.questions.fitting.smoothed import BANDWIDTH, Filter

# Damping, friction, rotors, a shaft, a follower, a beam with structural damping, gravity in any direction.
ARM = """
kronbot: 1
name: arm
convention: standard
gravity: [0.3, gy, 0.1]
parameters:
  {gy: -9.81, l: 0.6, m1: 2, cx: -0.25, I1: 0.05, m2: 0.7, EI: 40, damp: 0.2, fc: 0.5, fs: 0.7, vs: 0.2, jr: 1e-3,
   k: 300, d: 0.4, zeta: 0.01, share: 0.5, mp: 0.4, twist: 0}
links:
  - name: a
    joint: {type: revolute, name: q1, damping: damp, rotor_inertia: jr, gear: 10,
            friction: {coulomb: fc, static: fs, stribeck_rate: vs, smoothing: 0.01}}
    dh: {a: l, d: 0.1, alpha: pi/2 + twist, theta: 0}
    rigid: {mass: m1, com: [cx, 0.01, 0.02], inertia: {Ixx: 0.01, Iyy: I1, Izz: I1}}
  - name: b
    joint: {type: revolute, name: q2, rotor_inertia: jr, elastic: {stiffness: k, damping: d}}
    dh: {a: 0.5, d: 0, alpha: 0, theta: 0}
    flexible: {mass: m2, EI: {y: EI, z: EI/2}, modes: {v: 1, w: 1}, damping: {ratio: zeta}}
    payload: {mass: mp, com: [0.02, 0, 0], inertia: {Ixx: 0.001, Iyy: 0.001, Izz: 0.001}}
  - name: c
    joint: {type: revolute, name: q3, follows: -q2*share}
    dh: {a: 0.2, d: 0, alpha: 0, theta: 0}
    payload: {mass: 0.3, inertia: {Izz: 0.01}}
"""

# A camera, lengths and angles, EI and GJ, a shaft, a bearing, a spring, friction, damping; gravity in any direction.
LATHE = """
kronbot: 1
name: lathe
convention: standard
gravity: [gx, -9.81, 0.2]
parameters:
  {gx: 0.1, cx: 0, roll: 0, l: 0.8, da: 0, k: 300, kd: 0.5, kb: 90, EI: 30, GJ: 20, m: 0.5, mp: 0.3, dx: 0.1, jr: 0.02,
   fc: 0.2, b: 0.1, ks: 4, zeta: 0.02, amp: 0.3, w: 4}
links:
  - name: camera
    joint: {type: fixed}
    pose: {xyz: [cx, 0.1, 0.2], rpy: [roll, 0, 0]}
  - name: a
    joint: {type: revolute, name: q1, elastic: {stiffness: k, damping: kd}, rotor_inertia: jr,
            bearing: {stiffness: {x: kb}, damping: {x: 0.2}}, damping: b, friction: {coulomb: fc, smoothing: 0.3}}
    dh: {a: l, d: 0, alpha: pi/2 + da, theta: 0}
    flexible: {mass: m, EI: {z: EI}, GJ: GJ, modes: {v: 1, torsion: 1}, polar_inertia: 1e-2,
               damping: {ratio: zeta}}
  - name: b
    joint: {type: revolute, name: q2, spring: {stiffness: ks, rest: 0.1}}
    dh: {a: 0.5, d: 0.1, alpha: 0, theta: 0}
    rigid: {mass: 0.4, com: [-0.2, 0, 0], inertia: {Ixx: 0.01, Iyy: 0.02, Izz: 0.02}}
    payload: {mass: mp, com: [0, dx, 0], inertia: {Izz: 0.001}}
statics: {gauges: [{name: g1, link: a, x: l/8}]}
simulate:
  start: equilibrium
  drive: {q1: {motion: {type: sinusoid, amplitude: amp, frequency: w, phase: pi/2}}}
"""


@pytest.fixture(scope="module")
def arm():
    return kronbot.loads(ARM)


def moving(robot, count, seed=0):
    """Rows of random coordinates, rates and accelerations by name."""
    rng = np.random.default_rng(seed)
    names = [name for names in robot.derivative_names(["q", "qd", "qdd"]).values() for name in names]
    return {name: 0.3 * rng.normal(size=count) for name in names}


def torques(robot, data):
    """Those of dynamics, M qdd + C* (qd x qd) + g + K q + D qd and friction, for these rows."""
    names = robot.derivative_names(["q", "qd", "qdd"])
    rows = {word: np.array([data[name] for name in names[word]]).T for word in names}
    tau = robot.dynamics(**rows)["tau"]
    return {f"torque.{joint.name}": tau[:, joint.driven] for joint in robot.model.joints}


@pytest.mark.parametrize("order", ["2", rare("0")])
def test_derivatives_of_torques(arm, order):
    """Beside a beam, a payload on it, rotors and friction."""
    arm = arm.at_order(order)
    names = [name for name in arm.description.values if name != "share"]
    data = moving(arm, 4)
    measured = {"torque.q1": np.zeros(4), "torque.q2": np.array([0.0, np.nan, 1.0, 2.0])}
    answers, _ = DynamicAnswers.read(Variation.of(arm.model, names), Named(Columns({**data, **measured}), {}), ())
    at = np.array([arm.description.values[name] for name in names])
    wanted = torques(arm, data)
    np.testing.assert_allclose(answers.errors(at)[:, 0], wanted["torque.q1"], rtol=1e-12)
    J = answers.jacobian(at)
    assert J.shape == (7, len(names)) and not answers.linear
    demand_derivatives(answers.errors, at, J, names)


def test_masses_are_one_linear_least_squares():
    """The classical identification of a rigid arm: what adds up in every torque is told as a sum, with its value."""
    arm = kronbot.loads(PLANAR)
    true = arm.with_parameters(m1=2.2, I1=0.3, jr=0.02, m2=1.3, I2=0.11, fc=0.5, b=0.25)
    data = moving(arm, 12, 3)
    answer = arm.fit({**data, **torques(true, data)}, question="dynamics", sigma={"torque": 1e-2})
    assert (
        answer.summary["solved_at_once"] is True and answer.summary["rank"] == 6 and answer.summary["complete"] is True
    )
    assert any("I1 and jr only as 0.7071 I1 + 0.7071 jr" in each for each in answer.warnings)
    for name in ("m1", "m2", "I2", "fc", "b"):
        assert answer.at["parameters"][name] == pytest.approx(true.description.values[name], rel=1e-9)
    assert answer["combined"][0, 0] == pytest.approx(0.32 / np.sqrt(2)) and answer["combined"][0, 1] > 0
    assert np.abs(answer["residual"]).max() < 1e-10
    data |= torques(true, data)
    prior = arm.fit(data, question="dynamics", sigma={"torque": 1e-6}, prior={"jr": (0.02, 1e-3)})
    assert prior.at["parameters"]["I1"] == pytest.approx(0.3, rel=1e-6)
    errors = dict(zip(prior.arrays["standard_errors"].rows, prior["standard_errors"], strict=True))
    assert errors["I1"] == pytest.approx(1e-3, rel=1e-3)


PLANAR = """
kronbot: 1
name: planar
convention: modified
gravity: [0, -9.81, 0]
parameters: {m1: 2, I1: 0.2, jr: 0.01, m2: 1, I2: 0.1, fc: 0.4, b: 0.2}
links:
  - name: a
    joint: {type: revolute, name: q1, damping: b, rotor_inertia: jr, friction: {coulomb: fc, smoothing: 0.01}}
    dh: {a: 0, d: 0, alpha: 0, theta: 0}
    rigid: {mass: m1, com: [0.3, 0, 0], inertia: {Izz: I1}}
  - name: b
    joint: {type: revolute, name: q2}
    dh: {a: 0.5, d: 0, alpha: 0, theta: 0}
    rigid: {mass: m2, com: [0.2, 0.1, 0], inertia: {Izz: I2}}
"""


def of_modes(robot, q, words=("frequencies_locked", "damping_locked", "frequencies_free", "damping_free")):
    answer = robot.modes(q=q)
    return {f"{word}[{i + 1}]": answer[word][:, i] for word in words for i in range(answer[word].shape[1])}


@pytest.mark.parametrize("name", ["khang", *map(rare, ["spatial", "piedboeuf"])])
def test_modes_have_the_numbers_of_the_answer(name):
    robot = kronbot.load(name)
    names = [name for name, value in robot.description.values.items() if value is not None][:1]
    rng = np.random.default_rng(4)
    q = 0.4 * rng.normal(size=(1, len(robot.joints)))
    table = {**dict(zip(robot.joints, q.T, strict=True)), **of_modes(robot, q)}
    answers, _ = ModalAnswers.read(Variation.of(robot.model, names), Named(Columns(table), {}), ())
    errors = answers.errors(np.array([robot.description.values[names[0]]]))
    assert np.abs(errors / (1 + np.abs(answers.measured))).max() < 1e-8


def test_derivatives_of_frequencies_and_damping(arm):
    names = [name for name in arm.description.values if name not in ("share", "fs", "vs")]
    q, rng = np.random.default_rng(1).normal(size=(2, 2)), np.random.default_rng(2)
    columns = ["frequencies_locked[1]", "frequencies_locked[3]", "damping_locked[2]", "frequencies_free[4]"]
    columns += ["damping_free[5]", "damping_locked[1]"]
    table = {"q1": q[:, 0], "angle.q2": q[:, 1], **{name: rng.normal(size=2) for name in columns}}
    answers, _ = ModalAnswers.read(Variation.of(arm.model, names), Named(Columns(table), {}), ())
    at = np.array([arm.description.values[name] for name in names])
    demand_derivatives(answers.errors, at, answers.jacobian(at), names)


def test_stiffness_and_damping_come_back_from_frequencies(arm):
    true = {"EI": 47.0, "k": 340.0, "mp": 0.45, "zeta": 0.013, "d": 0.5}
    q = np.array([[0, 0.2], [0.4, 1.0], [0.1, -1.5]])
    measured = of_modes(arm.with_parameters(**true), q, ("frequencies_locked", "damping_locked"))
    table = {"q1": q[:, 0], "q2": q[:, 1], **measured}
    answer = arm.fit(table, question="modes", estimate=list(true))
    for name, value in true.items():
        assert answer.at["parameters"][name] == pytest.approx(value, rel=1e-7), name


BEAM = """
kronbot: 1
name: beam
convention: standard
gravity: [0, 0, -9.81]
parameters: {y: 30, z: 60, zeta: 0.01, mp: 0.3}
links:
  - name: a
    joint: {type: revolute, name: q1}
    dh: {a: 0.2, d: 0, alpha: pi/2, theta: 0}
    rigid: {mass: 1, com: [-0.1, 0, 0], inertia: {Izz: 0.01}}
  - name: b
    joint: {type: revolute, name: q2}
    dh: {a: 0.8, d: 0, alpha: 0, theta: 0}
    flexible: {mass: 0.7, EI: {y: y, z: z}, modes: {v: 2, w: 2}, damping: {ratio: zeta}}
    payload: {mass: mp}
statics: {gauges: [{name: g, link: b, x: 0.1}]}
"""
SHAKEN = {"y": 57.0, "z": 31.0, "zeta": 0.013, "mp": 0.33}


def shaken(robot, q, rng):
    """Frequencies and shapes of a robot as a hammer finds them: in any scale, with a percent of noise."""
    told = of_modes(robot, q, ("frequencies_locked", "damping_locked"))
    for i, at in enumerate(q):
        answer, full = robot.modes(q=at), np.zeros(robot.model.n)
        full[list(robot.model.rigid)] = at
        J = robot.jacobian(q=full)["J_T"][:, list(robot.model.flexible)]
        for k, shape in enumerate(answer["shapes_locked"].T):
            each = J @ shape.real * rng.normal()
            each += 0.01 * np.abs(each).max() * rng.normal(size=3)
            for axis, number in zip("xyz", each, strict=True):
                told.setdefault(f"shape_locked[{k + 1}].endpoint.{axis}", np.full(len(q), np.nan))[i] = number
    return {"q1": q[:, 0], "q2": q[:, 1], **told}


@pytest.mark.slow
def test_modes_are_matched_by_measured_shapes():
    """Bending in and out of a plane changes places between the first values and the truth; by order that is lost."""
    robot, rng = kronbot.loads(BEAM), np.random.default_rng(4)
    q = np.array([[0, 0.2], [0.4, 0.7], [0.1, -1.1]])
    table = shaken(robot.with_parameters(**SHAKEN), q, rng)
    table["shape_locked[2].endpoint.x"][1] = np.nan  # a sensor that was not there
    sigma = {"frequencies_locked": 0.1, "damping_locked": 1e-4}
    asked = {"question": "modes", "estimate": list(SHAKEN), "sigma": sigma}
    answer = robot.fit(table, **asked)
    for name, value in SHAKEN.items():
        assert answer.at["parameters"][name] == pytest.approx(value, rel=1e-7), name
    assert not [text for text in answer.warnings if "shape" in text]
    by_order = {name: each for name, each in table.items() if not name.startswith("shape")}
    lost = robot.fit(by_order, **asked).at["parameters"]
    assert lost["y"] == pytest.approx(SHAKEN["z"], rel=1e-3) and lost["z"] == pytest.approx(SHAKEN["y"], rel=1e-3)


def test_shapes_may_say_which_way_a_mode_bends():
    """Ones and zeros do, where a mode has lost its place; a row without them goes by order, and so does one number."""
    robot, count = kronbot.loads(BEAM).with_parameters(mp=0.0), 3
    true = robot.with_parameters(y=57, z=31)
    found = true.modes(q=[0, 0])["frequencies_locked"]
    ways = [f"shape_locked[{k}].tip.b.{axis}" for k in (1, 2) for axis in "yz"]
    table = {"q1": np.zeros(count), "frequencies_locked[1]": np.full(count, found[0])}
    table |= {"frequencies_locked[2]": np.full(count, found[1])}
    table |= dict(zip(ways, np.array([[1, 0, 0, 1], [np.nan, 0, 0, 1], [np.nan] * 4]).T, strict=True))
    answers, _ = ModalAnswers.read(Variation.of(robot.model, ["y", "z"]), Named(Columns(table), {}), ())
    at = np.array([57.0, 31.0])
    np.testing.assert_allclose(answers.errors(at), 0, atol=1e-9)
    away = answers.computed(np.array([30.0, 60.0]))  # bending along y, the first one of the truth, comes second
    first, second = robot.with_parameters(y=30, z=60).modes(q=[0, 0])["frequencies_locked"][:2]
    np.testing.assert_allclose(away, [[second, first], [second, first], [first, second]])
    told = list(answers.doubts(np.array([30.0, 60.0])))
    assert told[0] == "row 1: by its shape mode 1 (locked) is number 2, MAC 1.00" and len(told) == 3


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("shape_lokced[1].tip.b.y", r"none of a mode's shape; it is called shape_locked\[1\].NAME or shape_free"),
        ("shape_locked[9].tip.b.y", "modes are numbered from 1 to 8"),
        ("shape_free[1].tip.d.y", "nothing that moves is called 'tip.d.y'; did you mean 'tip.b.y'"),
        ("shape_free[1].torque.q1", "nothing that moves is called 'torque.q1'"),
    ],
)
def test_shapes_that_are_none_are_told(name, words):
    with pytest.raises(UsageError, match=words):
        kronbot.loads(BEAM).fit({"q1": [0.0], name: [1.0], "frequencies_locked[1]": [30.0]}, question="modes")


# Parameters whose derivatives are 0: motors do not feel behind shafts, given angles bend nothing, the camera is level.
BLIND = {
    "dynamics": {"amp", "w", "cx", "kb", "m", "EI", "GJ", "zeta"},
    "modes": {"amp", "w", "cx"},
}


@pytest.mark.parametrize(
    ("question", "order"),
    thinned(
        [(question, order) for question in ("dynamics", "modes") for order in ("0", "1", "2", "exact")],
        [("modes", "1")],
    ),
)
def test_derivatives_are_exact_for_every_kind_of_parameter(question, order):
    """Lengths, angles, EI, GJ, masses, damping, shaft and bearing, friction, gravity, the frame that all stands on."""
    robot = kronbot.loads(LATHE).at_order(order).model
    rigid = {"EI", "GJ", "zeta"} if order == "0" else set()
    names = [name for name in robot.parameters.definitions if name not in rigid]
    rng = np.random.default_rng(7)
    words = ["q", "qd", "qdd"] if question == "dynamics" else ["q"]
    given = {name: 0.3 * rng.normal(size=3) for each in robot.derivative_names(words).values() for name in each}
    if question == "dynamics":
        measured, reader = ["torque.q1", "torque.q2"], DynamicAnswers
    else:
        count = 2 if order == "0" else 4
        measured = [f"{word}[{i + 1}]" for word in ("frequencies_locked", "damping_locked") for i in range(count)]
        measured += ["frequencies_free[2]", "damping_free[3]"]
        reader = ModalAnswers
        given = {"q1": given["q1.motor"], "q2": given["q2"]}
    table = {**given, **{name: rng.normal(size=3) for name in measured}}
    answers, _ = reader.read(Variation.of(robot, names), Named(Columns(table), {}), ())
    at = np.array([robot.parameters.values[name] for name in names])
    J = answers.jacobian(at)
    demand_derivatives(answers.errors, at, J, names)
    moving = {name for name, column in zip(names, J.T, strict=True) if np.abs(column).max() > 1e-9}
    assert set(names) - moving == BLIND[question] & set(names)


def test_rates_are_found_from_coordinates():
    """Masses from angles and torques alone: exactly without noise, and with noise that no difference would survive."""
    robot, rng, t = kronbot.loads(PLANAR.replace("fc: 0.4", "fc: 0")), np.random.default_rng(6), np.arange(0, 8, 0.005)
    true, names = {"m2": 1.3, "I2": 0.15, "b": 0.3}, ["m2", "I2", "b"]
    angles, w = {}, 2 * np.pi * np.array([0.3, 0.5])
    for i in (1, 2):
        a, phase = rng.normal(size=2), rng.uniform(0, 6, 2)
        wave = w * t[:, None] + phase
        angles |= {f"q{i}": np.sin(wave) @ a, f"q{i}_dot": np.cos(wave) @ (a * w)}
        angles[f"q{i}_ddot"] = -np.sin(wave) @ (a * w**2)
    tau = torques(robot.with_parameters(**true), angles)
    told = {"t": t, "record": np.repeat([1, 2], 800), **{name: angles[name] for name in ("q1", "q2")}, **tau}
    asked = {"question": "dynamics", "estimate": names, "sigma": {"torque": 0.1}, "differentiate": 10}
    answer = robot.fit(told, **asked)
    for name in names:
        assert answer.at["parameters"][name] == pytest.approx(true[name], rel=1e-4)  # exp(-0.38 2 pi 4)
    left = [each for each in answer.warnings if "left out" in each]
    assert len(left) == 1 and left[0].startswith(
        "rows near the ends of a record, where derivatives are not taken, left out: 1, 2, 3, "
    )
    assert left[0].endswith("(320 in all)")  # 4 periods of 20 rows at either end of both records
    assert np.unique(answer["row"]).tolist() == [*range(121, 681, 11), *range(921, 1481, 11)]  # 200/(2 0.898 10)
    noisy = {name: each + 1e-4 * rng.normal(size=1600) if name[0] == "q" else each for name, each in told.items()}
    answer = robot.fit(noisy, **asked)
    for name in names:
        assert answer.at["parameters"][name] == pytest.approx(true[name], rel=0.01)
    for change, words in [
        ({"t": t**2 + t}, "even steps of t"),
        ({"q1_dot": t}, "'q1_dot' is there already"),
        ({"q1": np.where(t == t[3], np.nan, t)}, "q1 is empty in row 4"),
        ({"record": np.arange(1600) // 263}, r"rows 1 to 263: 263 rows are too short .* wants 264 rows \(1.32 s\)"),
        ({"record": (np.arange(1600) - 264) // 300}, "rows 1465 to 1600: 136 rows are too short"),
    ]:
        with pytest.raises(UsageError, match=words):
            robot.fit({**told, **change}, **asked)
    with pytest.raises(UsageError, match="below half the rate of the rows, 100 Hz"):
        robot.fit(told, **{**asked, "differentiate": 100})
    for cutoff in (5e-324, 1e-310):
        with pytest.raises(UsageError, match="too short for a cut-off"):
            robot.fit(told, **{**asked, "differentiate": cutoff})
    with pytest.raises(UsageError, match="only rows of dynamics have rates"):
        robot.fit({"q1": [0.1], "torque.q1": [0.1]}, estimate="m1", differentiate=3)


@pytest.mark.slow
def test_friction_and_noise_pass_the_filter_as_they_were_measured():
    """Torques that jump where a joint turns back come back, and errors of estimates are as large as they say."""
    robot, rng, t = kronbot.loads(PLANAR), np.random.default_rng(8), np.arange(0, 12, 0.004)
    true = {"m2": 1.3, "fc": 0.7, "b": 0.3}
    names = list(true)
    wave = 2 * np.pi * np.array([0.25, 0.6]) * t[:, None] + [0.3, 2.0]
    w, angles = 2 * np.pi * np.array([0.25, 0.6]), {}
    for i, a in enumerate(([0.9, 0.4], [-0.6, 0.5]), 1):
        angles |= {f"q{i}": np.sin(wave) @ a, f"q{i}_dot": np.cos(wave) @ (a * w)}
        angles[f"q{i}_ddot"] = -np.sin(wave) @ (a * w * w)
    tau = torques(robot.with_parameters(**true), angles)
    told = {"t": t, "q1": angles["q1"], "q2": angles["q2"]}
    asked = {"question": "dynamics", "estimate": names, "differentiate": 5}
    answer = robot.fit({**told, **tau}, sigma={"torque": 1.0}, **asked)
    for name in names:
        assert answer.at["parameters"][name] == pytest.approx(true[name], rel=2e-3)
    passing = Filter(5.0, np.zeros(0))
    sigma = 0.1 * np.sqrt(2 * BANDWIDTH * 5.0 / 250)
    assert np.std(passing(rng.normal(size=200_000), 250.0)) == pytest.approx(10 * sigma, rel=0.03)
    total, draws = 0.0, 16
    for _ in range(draws):
        noisy = {name: each + 0.1 * rng.normal(size=len(t)) for name, each in tau.items()}
        found = robot.fit({**told, **noisy}, sigma={"torque": sigma}, **asked)
        off = np.array([found.at["parameters"][name] - answer.at["parameters"][name] for name in names])
        assert list(found.arrays["standard_errors"].rows) == names
        scaled = off / found["standard_errors"]
        total += scaled @ np.linalg.solve(found["correlations"], scaled)
    assert abs(total - 3 * draws) < 4 * np.sqrt(6 * draws)


def test_what_is_not_there_is_said(arm):
    with pytest.raises(UsageError, match="no column is an answer"):
        arm.fit({"q1": [0.1], "endpoint.x": [0.2]}, question="dynamics")
    with pytest.raises(ComputationError, match="no answer with the first values"):
        arm.fit({"q1": [0.1], "frequencies_locked[6]": [20.0]}, question="modes", estimate="EI")
    data = {"q1": [0.1, 0.4], "q2": [0.3, 0.5], "torque.q1": [1.0, 2.0]}
    told = arm.fit(data, question="dynamics", estimate="m1", sigma={"torque": 1}).warnings
    assert any("where nothing is deformed, or 0: " in each and "q1_dot" in each for each in told)


def test_what_floats_without_weight_may_begin_in_its_equilibrium():
    """As in simulate: where nothing falls nothing needs to be held."""
    robot = kronbot.loads(
        "kronbot: 1\nname: f\ngravity: [0, 0, 0]\nparameters: {m: 2}\n"
        "base: {type: floating, rigid: {mass: 5, inertia: {Ixx: 1, Iyy: 1, Izz: 1}}}\nlinks:\n"
        "  - {name: a, joint: {type: revolute, name: q1}, pose: {xyz: [0.5, 0, 0]}, rigid: {mass: m, com: [1, 0, 0]}}\n"
        "simulate: {duration: 1, step: 0.25, start: equilibrium, drive: {q1: {torque: 0.5}}}\n"
    )
    run = robot.simulate()
    begun = robot.with_parameters(m=1.8)
    found = begun.fit(question="simulate", data={"t": run["t"], "q1": run["q1"]}, estimate=["m"])
    assert found["estimates"][0][-1] == pytest.approx(2, rel=1e-5)


SHAFT = """
kronbot: 1
name: shaft
gravity: [0, -9.81, 0]
parameters: {m: 1.5, b: 0.2, Jr: 0.3}
links:
  - name: arm
    joint: {type: revolute, name: q1, damping: b, rotor_inertia: Jr, elastic: {stiffness: 5000, damping: 2}}
    pose: {}
    rigid: {mass: m, com: [0.5, 0, 0], inertia: {Izz: 0.1}}
"""


@pytest.mark.parametrize("end", ["q1", "q1.motor"])
def test_a_drive_bears_what_is_behind_a_shaft_of_which_one_end_is_measured(end):
    """Undeformed: (Jr + J + m l^2) q'' + b q' + m g l cos q, by hand; of both ends it is the shaft's torque."""
    rng = np.random.default_rng(3)
    q, qd, qdd = rng.uniform(-1, 1, (3, 20))
    tau = (0.1 + 0.1 + 2 * 0.25) * qdd + 0.5 * qd + 2 * 9.81 * 0.5 * np.cos(q)
    robot = kronbot.loads(SHAFT)
    table = {end: q, f"{end}_dot": qd, f"{end}_ddot": qdd, "torque.q1": tau}
    found = robot.fit(table, question="dynamics", estimate="m,b,Jr", sigma={"torque.q1": 1e-6})
    assert found.at["parameters"] == pytest.approx({"m": 2.0, "b": 0.5, "Jr": 0.1}, rel=1e-9)
    twist, rate = 1e-3 * rng.uniform(-1, 1, (2, 20))
    both = {"q1": q, "q1_dot": qd, "q1_ddot": qdd, "q1.motor": q + twist, "q1.motor_dot": qd + rate}
    both |= {"q1.motor_ddot": qdd, "torque.q1": 0.1 * qdd + 5000 * twist + 2 * rate + 0.5 * (qd + rate)}
    told = robot.fit(both, question="dynamics", estimate="b,Jr", sigma={"torque.q1": 1e-6})
    assert told.at["parameters"] == pytest.approx({"b": 0.5, "Jr": 0.1}, rel=1e-6)


def test_noise_that_is_differentiated_alternates_and_is_told():
    """Of joints, not of torques alone: standard errors of independent errors are too large."""
    arm = kronbot.loads(
        "kronbot: 1\nname: arm\ngravity: [0, -9.81, 0]\nparameters: {m: 1.5, b: 0.3}\nlinks:\n"
        "  - {name: a, joint: {type: revolute, name: q1, damping: b}, pose: {}, rigid: {mass: m, com: [0.4, 0, 0],\n"
        "     inertia: {Izz: 0.05}}}\n"
    )
    t, rng, waves = np.arange(0, 6, 0.005), np.random.default_rng(4), ((0.5, 2.0), (0.3, 5.0), (0.1, 11.0))
    q, v, a = (sum(s * w**k * np.sin(w * t + k * np.pi / 2) for s, w in waves) for k in range(3))
    torque = (0.05 + 1.5 * 0.4**2) * a + 0.3 * v + 1.5 * 9.81 * 0.4 * np.cos(q)

    def told(of_joint, of_torque):
        data = {"t": t, "q1": q + of_joint * rng.normal(size=len(t)), "torque.q1": torque}
        data["torque.q1"] = torque + of_torque * rng.normal(size=len(t))
        found = arm.fit(data, question="dynamics", estimate=["m", "b"], differentiate=8)
        return any("alternate along the rows" in each for each in found.warnings)

    assert told(5e-4, 1e-3) and not told(0, 0.1)
