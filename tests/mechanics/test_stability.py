"""Verdicts and poles of robots: nothing lost beside stiff beams, symmetry exact, counts by mode."""

import mpmath as mp
import numpy as np
import pytest
from exact_poles import matrices, poles
from hypothesis import given, settings
from hypothesis import strategies as st
from random_robots import robots
from robots_in_tests import columns, loaded, model, run
from scipy.linalg import eigh
from thinned import rare

from kronbot import loads
from kronbot.compute.trace import Trace
from kronbot.mechanics.linear.deflation import SecondOrder
from kronbot.mechanics.linear.linear_model import LinearModel
from kronbot.mechanics.linear.null_spaces import null_space
from kronbot.mechanics.linear.pole import Pole, without_noise
from kronbot.mechanics.linear.rounding import Entries
from kronbot.mechanics.linear.spectrum import poles as found_poles
from kronbot.mechanics.linear.stability import BY_CHANCE, judge
from kronbot.model.build import build
from kronbot.questions.linearize import Choice, Linearization, Point
from kronbot.questions.modes import vibration

HEAD = "kronbot: 1\nname: r\nconvention: standard\ngravity: GRAVITY\nlinks:\n"
INVERTED = """
  - name: arm
    joint: {type: revolute, name: q1, damping: 20}
    dh: {a: 0.5, d: 0, alpha: 0, theta: pi/2}
    rigid: {mass: 2, com: [-0.25, 0, 0]}
  - name: finger
    joint: {type: fixed}
    dh: {a: 0.1, d: 0, alpha: 0, theta: 0}
    flexible: {mass: 0.002, EI: {z: 1}, modes: {v: 4}}
"""
COAXIAL = """
  - {name: a, joint: {type: revolute, name: q1, damping: D}, dh: {a: 0, d: 0.3, alpha: 0, theta: 0},
     rigid: {mass: 1.3, inertia: {Izz: 0.07}}}
  - name: b
    joint: {type: revolute, name: q2, damping: D}
    dh: {a: 0.37, d: 0, alpha: 0, theta: -pi/2}
    flexible: {mass: 1.7, EI: {z: 70}, modes: {v: 2}}
"""
WRIST = """
  - {name: yaw, joint: {type: revolute, name: q1}, dh: {a: 0, d: 0.3, alpha: pi/2, theta: 0},
     rigid: {mass: 1.3, inertia: {Ixx: 0.1, Iyy: 0.1, Izz: 0.07}}}
  - {name: arm, joint: {type: revolute, name: q2}, dh: {a: 0, d: 0, alpha: pi/2, theta: 0},
     rigid: {mass: 1.7, com: [0, 0, 0.2], inertia: {Ixx: 0.03, Iyy: 0.02, Izz: 0.01}}}
  - {name: wrist, joint: {type: revolute, name: q3}, dh: {a: 0, d: 0.4, alpha: 0, theta: 0},
     rigid: {mass: 0.7, com: [0, 0, -0.1], inertia: {Ixx: 0.003, Iyy: 0.002, Izz: 0.001}}}
"""
BESIDE = """
  - name: p
    joint: {type: revolute, name: q1}
    dh: {a: 1, d: 0, alpha: 0, theta: -pi/2}
    rigid: {mass: 1, com: [-0.999999, 0, 0], inertia: {Izz: 1000}}
  - name: s
    joint: {type: fixed}
    dh: {a: 0.1, d: 0, alpha: 0, theta: 0}
    flexible: {mass: 1e-4, EI: {z: 1e5}, modes: {v: 3}}
"""
HUB = """
  - name: beam
    joint: {type: revolute, name: q1}
    dh: {a: 0.3, d: 0, alpha: 0, theta: 0}
    hub: {mass: 1, inertia: {Izz: 10}}
    flexible: {mass: 0.01, EI: {z: 100}, modes: {v: 3}}
"""


PAIR = """
kronbot: 1
name: pair
convention: standard
gravity: [0, -9.81, 0]
links:
  - {name: a, joint: {type: revolute, name: q1}, dh: {a: 1, d: 0, alpha: 0, theta: -pi/2}, rigid: {mass: 1}}
  - {name: b, parent: base, joint: {name: q2, type: revolute}, dh: {a: 2, d: 0, alpha: 0, theta: -pi/2},
     rigid: {mass: 1}}
endpoint: {link: b}
"""


def made(links, gravity="[0, -9.81, 0]"):
    return model(HEAD.replace("GRAVITY", gravity) + links.lstrip("\n"))


def about(robot, q=(), qd=(), inputs=("torques", "force"), outputs=("joints", "endpoint")):
    words = [np.array([dict(part).get(name, 0.0) for name in robot.coordinates]) for part in (q, qd)]
    point = Point(*words, np.zeros(robot.n), np.zeros(len(robot.joints)), np.zeros(3))
    return Linearization(robot, Choice(frozenset(), inputs, outputs), False).at(point)


def test_an_inverted_arm_with_a_light_stiff_finger_is_unstable():
    """Its slow pole is 1e-6 of the fastest, that of the rigid pendulum, and its own simulation falls at that rate."""
    robot = made(INVERTED)
    found = about(robot)
    assert found.summary["verdict"].startswith("unstable (order 2, 4 modes, joints free q1; about an equilibrium)")
    pole = found.arrays["poles"].values[0]
    mass, inertia = 2 * 0.25 + 0.002 * 0.55, 2 * 0.25**2 + 0.002 * (0.55**2 + 0.1**2 / 12)
    rigid = -10 / inertia + np.sqrt(100 / inertia**2 + mass * 9.81 / inertia)
    assert pole == pytest.approx(rigid, rel=1e-6)
    assert found.arrays["accuracy"].values[0, 0] < 1e-12 * pole.real
    shape = found.arrays["shapes"].values[:, 0].real
    start = dict(zip(robot.coordinates, 1e-4 * shape, strict=True))
    rates = dict(zip(robot.coordinates, 1e-4 * shape * pole.real, strict=True))
    q1 = columns(run(robot, duration=1.0, step=0.5, rtol=1e-10, q=start, qd=rates).result.series, "q1")[:, 0]
    assert np.diff(np.log(q1)) == pytest.approx(pole.real / 2, rel=1e-4)


@pytest.mark.parametrize("damping", [rare(2e3), 2e6])
def test_growth_however_slow_is_growth(damping):
    """The rate of a heavily damped inverted pendulum, m g l / d."""
    found = about(made(INVERTED.replace("damping: 20", f"damping: {damping}")))
    assert found.summary["verdict"].startswith("unstable")
    assert found.summary["largest_growth_rate"] == pytest.approx((2 * 0.25 + 0.002 * 0.55) * 9.81 / damping, rel=1e-4)


def test_inputs_control_and_outputs_observe():
    """Two arms side by side: a torque reaches its own arm only, what is seen is the endpoint of the other one."""
    answer = loads(PAIR).linearize(inputs=["torques"], outputs=["endpoint"], lock=["q2"])
    assert (answer.summary["controllable"], answer.summary["observable"]) == (2, 0)
    answer = loads(PAIR).linearize(inputs=["force"], outputs=["joints"], lock=["q2"])
    assert (answer.summary["controllable"], answer.summary["observable"]) == (0, 2)


def test_a_slow_pendulum_keeps_its_frequency_beside_stiff_shapes():
    """Ten decades below the fastest, by its closed form as a rigid body."""
    robot = made(BESIDE)
    m, I = 1e-6 + 1e-4 * 1.05, 1000 + 1e-12 + 1e-4 * (1.05**2 + 0.01 / 12)  # noqa: E741
    for answer, names in ((about(robot), ("frequencies", "accuracy", "verdict")),
                          (vibration(robot, np.zeros(robot.n), np.zeros(robot.n), None),
                           ("frequencies_free", "accuracy_free", "verdict_free"))):  # fmt: skip
        slow = answer.arrays[names[0]].values
        assert slow[0] == pytest.approx(np.sqrt(m * 9.81 / I), rel=1e-10)
        assert slow[-1] > 1e10 * slow[0]
        assert answer.arrays[names[1]].values[0, 0] < 1e-9 * slow[0]
        assert answer.summary[names[2]].startswith("stable, undamped")


@pytest.mark.parametrize(("damping", "word"), [(0, "stable, undamped"), (0.3, "asymptotically stable")])
def test_coaxial_joints_have_one_free_direction_that_is_no_coordinate(damping, word):
    found = about(made(COAXIAL.replace("D}", f"{damping}}}"), "[1.3, -9.71, 0.7]"), {"q1": 0.13})
    assert found.summary["free_coordinates"] == 1
    assert found.arrays["poles"].values[0] == 0
    assert found.arrays["accuracy"].values[:, 5].sum() == found.summary["states"] == 8
    assert found.arrays["shapes"].values[:2, 0] == pytest.approx([1, -1])
    assert found.summary["verdict"].startswith(word)
    assert found.summary["verdict"].endswith("without 1 free coordinate)")
    assert (found.arrays["damping"].values[1:] > 0).all() == (damping > 0)


def test_three_coaxial_joints_have_two_free_directions_however_heavy_the_middle_one():
    """Weight sees q1 + q2 + q3 only: K = 9.81 v v^T, v = (1, 1, 1), and the one frequency is w^2 = 9.81 v^T M^-1 v."""
    links = [
        {"name": name, "joint": {"type": "revolute", "name": f"q_{name}", "rotor_inertia": inertia}, "pose": {}}
        for name, inertia in (("a", 1), ("b", 60), ("c", 1))
    ]
    links[2]["rigid"] = {"mass": 1, "com": [0, -1, 0]}
    found = about(model({"kronbot": 1, "name": "coax", "gravity": [0, -9.81, 0], "links": links}))
    M = np.ones((3, 3)) + np.diag([1, 60, 1])
    assert found.summary["free_coordinates"] == 2
    assert found.summary["verdict"].startswith("stable, undamped")
    v = np.ones(3)
    assert abs(found.arrays["poles"].values[2]) == pytest.approx(np.sqrt(9.81 * v @ np.linalg.solve(M, v)), rel=1e-12)


@pytest.mark.parametrize("straight", [0.0, np.pi])
def test_a_wrist_in_line_with_the_vertical_turns_freely(straight):
    """Yaw and wrist are free exactly; what swings is the pendulum of both bodies, up or down."""
    found = about(made(WRIST, "[0, 0, -9.81]"), {"q2": straight})
    values = found.arrays["poles"].values
    assert found.summary["free_coordinates"] == 2 and (values[:2] == 0).all()
    # Bodies turn about the y axis of the arm's root frame, y of both tips.
    inertia, moment = 0.02 + 1.7 * 0.04 + 0.002 + 0.7 * 0.09, 1.7 * 0.2 + 0.7 * 0.3
    word = found.summary["verdict"].split(" (")[0]
    assert word == ("unstable" if values[-1].real else "stable, undamped")
    assert abs(values[-1]) == pytest.approx(np.sqrt(9.81 * moment / inertia), rel=1e-12)


def test_every_mode_of_a_light_beam_on_a_heavy_hub_counts():
    """Torque and angle at the hub reach and see all of them, the last by 3e-4; so do torso's inputs and outputs."""
    found = about(made(HUB, "[0, 0, 0]"), inputs=("torques",), outputs=("joints",))
    assert [found.summary[word] for word in ("states", "controllable", "observable")] == [8, 8, 8]
    margins = found.arrays["margins"].values
    M, K = found.arrays["M_L"].values, found.arrays["K_L"].values
    _, shapes = eigh(K, M)
    wanted = np.abs(shapes[0]) / np.sqrt(np.linalg.inv(M)[0, 0])
    assert margins[:, 0] == pytest.approx(wanted, rel=1e-8) and margins[:, 2] == pytest.approx(wanted, rel=1e-8)
    assert margins[-1, 0] > 1e-5


@pytest.mark.slow
@pytest.mark.parametrize(("beams", "modes", "inertia"), [rare(2, 4, 7e4), (3, 3, 6e5), rare(4, 4, 2e4)])
def test_of_equal_beams_on_a_heavy_hub_one_shape_of_each_is_reached(beams, modes, inertia):
    """All but one of a cluster of poles swing against each other; margins of the others against 50 digits."""
    beam = f"flexible: {{mass: 0.3, EI: {{z: 2000}}, modes: {{v: {modes}}}, shape: legendre, length: 0.8}}"
    yaws = ("0", "pi/2", "pi", "-pi/2")[:beams]
    links = [
        f"  - {{name: b{i}, parent: hub, joint: {{type: fixed}}, pose: {{rpy: [0, 0, {yaw}]}}, {beam}}}\n"
        for i, yaw in enumerate(yaws)
    ]
    hub = f"rigid: {{mass: 1, inertia: {{Izz: {inertia}}}}}"
    head = HEAD.replace("GRAVITY", "[0, 0, 0]").replace("convention: standard\n", "")
    head += f"  - {{name: hub, joint: {{type: revolute, name: q1}}, pose: {{}}, {hub}}}\n"
    found = about(model(head + "".join(links)), inputs=("torques",), outputs=("joints",))
    assert [found.summary[word] for word in ("controllable", "observable")] == 2 * [2 * (1 + modes)]
    table = found.arrays["margins"].values
    with mp.workdps(50):
        M, K = (mp.matrix(found.arrays[name].values.tolist()) for name in ("M_L", "K_L"))
        half = mp.inverse(mp.cholesky(M))
        _, V = mp.eigsy(half * (K + K.T) / 2 * half.T)
        reach = V.T * half * mp.matrix([1] + [0] * (len(M) - 1))
        true = np.array([abs(float(x / mp.norm(reach))) for x in reach])
    for k in range(1 + modes):
        group = slice(0, 1) if not k else slice(1 + (k - 1) * beams, 1 + k * beams)
        # The pole of the shape that is reached lies beside the others, or is none of them by no more than its error.
        for value, error in ((0, 1), (2, 3)):
            off = np.linalg.norm(table[group, value]) - np.linalg.norm(true[group])
            assert abs(off) <= table[group, error].max() + 1e-13


TIED = """
  - {name: a, joint: {type: revolute, name: q1, spring: {stiffness: 1.3}, damping: 0.01}, pose: {}, rigid: {mass: 2}}
  - name: b
    joint: {type: revolute, name: q2, elastic: {stiffness: 3e3}, rotor_inertia: 0.3}
    pose: {xyz: [1, 0, 0], rpy: [pi/2, 0, 0]}
    rigid: {mass: 1, com: [0, 0.3, 0], inertia: {Izz: 0.1}}
"""


def test_what_its_own_error_holds_is_no_number():
    """Shapes of equal panels that swing against each other, a shaft that nothing damps, weight that a spring holds."""
    beam = "flexible: {mass: 0.3, EI: {z: 5}, length: 0.8, modes: {v: 2}, damping: {ratio: 0.005}}"
    panels = [
        f"  - {{name: {name}, parent: hub, joint: {{type: fixed}}, pose: {{rpy: [0, 0, {yaw}]}}, {beam}}}\n"
        for name, yaw in (("a", "0"), ("b", "pi"))
    ]
    still = HEAD.replace("GRAVITY", "[0, 0, 0]").replace("convention: standard\n", "")
    upright = TIED.replace("pose: {}", "pose: {rpy: [0, 0, pi/2]}").replace("com: [0, 0.3, 0]", "com: [0, 0, 0]")
    heavy = HEAD.replace("GRAVITY", "[0, -1.3, 0]").replace("convention: standard\n", "")
    for text, told in ((still + EQUAL.lstrip("\n") + "".join(panels), 2), (still + TIED, 0), (heavy + upright, 0)):
        answer = loaded(text).linearize(inputs=("torques",), outputs=("joints",))
        rates, errors = answer["poles"].real, answer["accuracy"][:, 1]
        assert ((rates == 0) | (np.abs(rates) > errors)).all()
        assert ((rates == 0) == (answer["damping"] == 0)).all()
        for value, error in ((0, 1), (2, 3)):
            margins = answer["margins"][:, [value, error]]
            assert ((margins[:, 0] == 0) | (margins[:, 0] > margins[:, 1])).all()
            assert (margins[:, 0] == 0).sum() == told


@settings(deadline=None)
@given(
    st.floats(-16, 0), st.floats(-16, 0), st.floats(0, 6.3), st.floats(0, 1), st.floats(0, 20).map(lambda d: 10.0**d)
)
def test_noise_goes_into_the_errors(size, error, angle, share, largest):
    """Where the pole can be stays inside."""
    value = 10**size * complex(np.cos(angle), abs(np.sin(angle)))
    old = Pole(value, lambda: (np.ones(1), np.ones(1)), 2, 1, 10**error, share * 10**error, refined=object())
    new = without_noise(old, largest)
    assert abs(new.value - value) + old.error <= new.error * (1 + 1e-15)
    assert abs(new.value.real - value.real) + old.growth_error <= new.growth_error * (1 + 1e-15)
    assert new.value in (value, 0, 1j * value.imag)
    if new.value != value:
        assert abs(new.value - value) <= old.error or abs(value.real) <= old.growth_error <= 1e-9 * abs(value)
    if old.error <= 1e-9 * largest and abs(value) <= old.error:
        assert not new.value


EQUAL = """
  - {name: hub, joint: {type: revolute, name: q1}, pose: {}, rigid: {mass: 1, inertia: {Izz: 3}}}
"""


@pytest.mark.parametrize("ratio", [1, rare(1.5), rare(3), 10])
@pytest.mark.parametrize(("parent", "counts"), [("base", (4, 2, 2)), ("hub", (6, 4, 4))])
def test_of_equal_damped_beams_one_shape_of_each_is_reached(ratio, parent, counts):
    """Double real poles, and at ratio 1 two chains of two at each: the other shape swings against the first."""
    beam = "flexible: {mass: m, EI: {z: E}, length: L, modes: {v: 1}, damping: {ratio: Z}}"
    links = [
        f"  - {{name: {name}, parent: {parent}, joint: {{type: fixed}}, pose: {{rpy: [0, 0, {yaw}]}}, {beam}}}\n"
        for name, yaw in (("a", "0"), ("b", "pi"))
    ]
    values = "parameters: {E: 10, m: 1, L: 1, Z: 1}"
    head = HEAD.replace("GRAVITY", "[0, 0, 0]").replace("convention: standard", values)
    text = head + (EQUAL.lstrip("\n") if parent == "hub" else "") + "".join(links)
    said = ("force", "endpoint") if parent == "base" else ("torques", "joints")
    answer = loaded(text).with_parameters(Z=ratio).linearize(inputs=said[:1], outputs=said[1:])
    assert tuple(answer.summary[word] for word in ("states", "controllable", "observable")) == counts
    assert answer.summary["verdict"].startswith("asymptotically stable")
    assert not answer["poles"].imag.any()
    assert (answer["accuracy"][:, 0] <= 1e-6 * np.abs(answer["poles"])).all()


WHEEL = """
  - name: arm
    joint: {type: revolute, name: q1, damping: 5}
    pose: {}
    flexible: {mass: 2, EI: {y: 50, z: 50}, modes: {w: 2}, length: 0.8}
    payload: {mass: 1}
  - name: wheel
    joint: {type: revolute, name: q2}
    pose: {rpy: [TILT, 0, 0]}
    rigid: {mass: 1.3, inertia: {Ixx: ROUND, Iyy: ROUND, Izz: 0.2}}
"""


@pytest.mark.parametrize("tilt", [rare("0"), "pi/2"])
def test_a_verdict_is_the_same_at_every_yaw(tilt):
    """A flywheel on a damped, turning arm: nothing sees the yaw, but sin(pi) is no zero among floats."""
    head = HEAD.replace("GRAVITY", "[0, 0, 0]").replace("convention: standard", "parameters: {I: 0.13}")
    text = head + WHEEL.replace("TILT", tilt).replace("ROUND", "I")
    said = [
        about(model(text.replace("\n\n", "\n")), {"q1": yaw, "q2": yaw}, {"q2": 50.0}).summary["verdict"]
        for yaw in (0.0, np.pi, np.pi / 2, -np.pi)
    ]
    assert len(set(said)) == 1 and said[0].startswith("stable (")


DOUBLE = """
  - name: a
    joint: {type: revolute, name: q1}
    pose: {}
    rigid: {mass: 1, com: [-0.9, 0.6, 0], inertia: {Izz: 0.1}}
  - name: b
    joint: {type: revolute, name: q2}
    pose: {xyz: [-0.24, 0, 0]}
    rigid: {mass: MASS, com: [0, -0.637, 0], inertia: {Izz: 0.01}}
"""


def test_a_motion_is_steady_where_nothing_changes_along_it():
    """What a turning elbow stiffens is a rounding here, and its inertia is another further on; a hub just turns."""
    text = HEAD + DOUBLE.replace("MASS", "1").lstrip("\n")
    for gravity, q, qd, words in (
        ("[9.81, 0, 0]", {"q1": np.pi, "q2": np.pi}, {"q2": -2.0}, "about the rigid motion, coefficients frozen"),
        ("[0, 0, 0]", {"q2": 0.4}, {"q1": -2.0}, "about a steady motion"),
        ("[0, 0, 0]", {"q2": 0.4}, {"q1": -2.0, "q2": 1e-3}, "about the rigid motion, coefficients frozen"),
    ):
        assert words in loads(text.replace("GRAVITY", gravity)).linearize(q=q, qd=qd).summary["verdict"]


def test_a_growth_within_its_error_is_undecided_however_small():
    """With damping that is not symmetric no theorem holds, and the error holds zero, at a 1e-20 of the pole."""
    M, D = np.array([[1.28, 0.01], [0.01, 0.01]]), -4.86e-6 * np.array([[1.0, 1.0], [0.0, 0.0]])
    system = SecondOrder.exact(M, D, np.diag([8.8, 0.0]))
    found = found_poles(system)
    assert abs(found[1].value.real) <= found[1].growth_error < 1e-19
    assert str(judge(system, found)).startswith("undecided, pole 2 grows at ")


LYING = """
  - name: a
    joint: {type: revolute, name: q1, damping: DAMPING}
    pose: {}
    rigid: {mass: 2, com: [1, 0, 0]}
"""
HORIZONTAL = """
  - {name: a, joint: {type: revolute, name: q1}, pose: {}, rigid: {mass: 2, com: [0.5, 0, 0], inertia: {Izz: 0.1}}}
  - name: b
    joint: {type: revolute, name: q2}
    pose: {xyz: [0.7, 0, 0]}
    rigid: {mass: 1.3, com: [0.3, 0, 0], inertia: {Izz: 0.03}}
"""
STIFF = """
  - name: arm
    joint: {type: revolute, name: q1, damping: 1}
    pose: {}
    flexible: {mass: 2e-6, EI: {z: 2e4}, modes: {v: 3}, shape: clamped-free, length: 2, damping: {ratio: 7e-7}}
    payload: {mass: 100, com: [-0.1, 0.1, 0], inertia: {Izz: 0.05}}
    hub: {mass: 400, inertia: {Izz: 40}}
"""


@pytest.mark.parametrize(
    ("links", "gravity", "q", "qd", "zeros"),
    [
        rare(LYING.replace("DAMPING", "0"), "[9.81, 0, 0]", [np.pi / 2], [0.0], 0),
        rare(LYING.replace("DAMPING", "1e-7"), "[9.81, 0, 0]", [np.pi / 2], [0.0], 0),
        (LYING.replace("DAMPING", "0.4"), "[9.81, 0, 0]", [-np.pi / 2], [0.0], 0),
        rare(DOUBLE.replace("MASS", "1"), "[-9.81, 0, 0]", [np.pi, np.pi], [0.0, -0.5], 0),
        (DOUBLE.replace("MASS", "3e-5"), "[9.81, 0, 0]", [np.pi, np.pi], [0.1, -0.5], 0),
        rare(STIFF, "[0, 0, 0]", [0.0] * 4, [0.0] * 4, 1),
        # What turning elbows brake is a rounding at pi, not structure: K without symmetry, and with, by these rates.
        (HORIZONTAL, "[0, 0, 0]", [0.4, np.pi], [0.3, -0.5], 1),
        rare(HORIZONTAL, "[0, 0, 0]", [0.4, np.pi], [0.25, -0.5], 1),
        rare(HORIZONTAL, "[0, 0, 0]", [0.4, -np.pi], [0.3, 1.0], 1),
        (HORIZONTAL, "[0, 0, 0]", [0.4, np.pi], [0.3, 0.0], 2),  # a momentum that is kept
    ],
)
def test_what_a_float_of_a_posture_leaves_of_forces_is_in_the_errors(links, gravity, q, qd, zeros):
    """All poles but those of symmetry, within their errors and those of growth, by the trace replayed in 60 digits.

    pi/2 is a number like others: where gravity misses a joint there, its poles are near zero, and not at zero.
    """
    robot = made(links, gravity)
    trace, n = traced(robot), robot.n
    arguments = (np.array(q), np.array(qd), np.zeros(n), np.zeros(len(robot.joints)), np.zeros(3))
    found = found_poles(Entries.at(trace, [each[None] for each in arguments]).systems(list(range(n)))[0])
    with mp.workdps(60):
        left = sorted(poles(*matrices(trace, *arguments)), key=abs)
        at_zero = sum(pole.count for pole in found if pole.free)
        assert at_zero == zeros
        for pole in sorted((pole for pole in found if not pole.free), key=lambda pole: -abs(pole.value)):
            for value in (pole.value, pole.value.conjugate())[: pole.count]:
                nearest = min(left, key=lambda s: abs(s - value))
                left.remove(nearest)
                assert abs(nearest - value) <= pole.error
                assert abs(nearest.real - value.real) <= pole.growth_error
        assert len(left) == at_zero


def test_zeros_of_a_file_are_symmetry_whatever_the_posture():
    """Gravity along the joints by exact quarter turns, or none: free coordinates at every angle."""
    links = """
  - {name: a, joint: {type: revolute, name: q1}, pose: {rpy: [-pi/2, 0, 0]}, rigid: {mass: 2, com: [1, 0.1, 0.2]}}
  - {name: b, joint: {type: revolute, name: q2}, pose: {xyz: [0.7, 0, 0]}, rigid: {mass: 2, com: [1, 0.1, 0.2]}}
"""
    for gravity in ("[0, -9.81, 0]", "[0, 0, 0]"):
        answer = about(made(links, gravity), {"q1": np.pi / 2, "q2": -np.pi})
        assert answer.summary["free_coordinates"] == 2 and not answer.arrays["poles"].values.any()


SPUN = """
kronbot: 1
name: spun
gravity: [0, 0, 0]
parameters: {PARAMETERS}
links:
  - {name: a, joint: {type: revolute, name: qz}, pose: {}}
  - {name: b, joint: {type: revolute, name: qx}, pose: {rpy: [0, pi/2, 0]}}
  - {name: c, joint: {type: revolute, name: qy}, pose: {rpy: [-pi/2, 0, 0]},
     rigid: {mass: 1, inertia: {Ixx: FIRST, Iyy: 2, Izz: SECOND}}}
"""
BALANCED = """
kronbot: 1
name: balanced
gravity: [0, -9.81, 0]
parameters: {PARAMETERS}
links:
  - {name: a, joint: {type: revolute, name: q1}, pose: {}, rigid: {mass: FIRST, com: [0, 0.4, 0]}}
  - {name: b, joint: {type: fixed}, pose: {}, rigid: {mass: SECOND, com: [0, -0.4, 0]}}
"""


@pytest.mark.parametrize(
    ("parameters", "first", "second", "same"),
    [
        rare("", "1", "1", False),
        rare("", "2*0.5", "1", False),
        ("A: 1.3", "A", "1.3", False),
        rare("A: 1.3, B: 1.3", "A", "B", False),
        rare("A: 2.6, B: A/2, C: A/2", "B", "C", False),
        ("A: 1.3, B: A", "A", "B", True),
        rare("A: pi", "A", "A", True),
    ],
)
def test_what_equal_numbers_cancel_is_no_structure_unless_a_name_says_so(parameters, first, second, same):
    """(I3 - I1) W^2 of a body that spins freely, and (m1 - m2) g r of a wheel whose radius is a number, too."""
    words = {"PARAMETERS": parameters, "FIRST": first, "SECOND": second}
    for text, qd, free in ((SPUN, {"qz": 3.0}, 2), (BALANCED, {}, 1)):
        for word, value in words.items():
            text = text.replace(word, value)
        text = text.replace("0.4", "R").replace("parameters: {", "parameters: {R: 0.4, ")
        answer = loads(text).linearize(qd=qd)
        said, counted = answer.summary["verdict"], answer.summary["free_coordinates"]
        assert said.startswith("stable, undamped" if same else "undecided") and counted == free - (not same)
        assert abs(answer["poles"][free - 1]) <= answer["accuracy"][free - 1, 0] + (not same) * 1e-12


@pytest.mark.parametrize(
    ("parameters", "damping", "word"),
    [
        rare("c: 2, d: 1", "0.5*c - d", "undecided"),
        ("c: 1.3, d: 3.9", "3*c - d", "undecided"),
        ("c: 2, d: 1", "c - d", "stable"),
        rare("c: 2, d: 1", "c - c", "stable"),
    ],
)
@pytest.mark.parametrize("braked", [False, True])
def test_damping_that_numbers_cancel_is_undecided(parameters, damping, word, braked):
    """A rate that nothing brakes by chance has a pole at -D/M that is zero within an error, and not by structure."""
    links = """
  - {name: a, joint: {type: revolute, name: q1, damping: DAMPING}, pose: {}, rigid: {mass: 2, com: [1, 0, 0]}}
""".replace("DAMPING", damping)
    if braked:
        links += """
  - name: b
    joint: {type: revolute, name: q2, damping: 0.3}
    pose: {xyz: [0.7, 0, 0]}
    rigid: {mass: 1, com: [1, 0, 0]}
""".lstrip("\n")
    head = HEAD.replace("GRAVITY", "[0, 0, 0]").replace("convention: standard", f"parameters: {{{parameters}}}")
    answer = loads(head + links.lstrip("\n")).linearize()
    said = answer.summary["verdict"]
    assert word in said.split(" (")[0]
    if word == "undecided":
        least = 1 + braked
        assert abs(answer["poles"][least]) <= answer["accuracy"][least, 1] and 0 < answer["accuracy"][least, 1] < 1e-13


@pytest.mark.parametrize("tie", ["gravity", "angle", "force"])
def test_what_gravity_angles_and_forces_cancel_is_undecided(tie):
    """A pendulum at the height where its weight has no moment, and one that a force carries."""
    com, gravity, q, force = {
        "gravity": ("[0.5, -0.5, 0]", "[-5, -5, 0]", 0.0, [0, 0, 0]),
        "angle": ("[0.5, 0, 0]", "[0, -9.81, 0]", -0.3, [0, 0, 0]),
        "force": ("[0, -0.5, 0]", "[0, -10, 0]", 0.0, [0, 15, 0]),
    }[tie]
    turn = 0.3 if tie == "angle" else 0
    links = f"""
  - {{name: a, joint: {{type: revolute, name: q1}}, pose: {{rpy: [0, 0, {turn}]}}, rigid: {{mass: 1.5, com: {com}}}}}
endpoint: {{position: [0, -0.5, 0]}}
"""
    text = HEAD.replace("GRAVITY", gravity).replace("convention: standard\n", "") + links.lstrip("\n")
    answer = loads(text).linearize(q={"q1": q}, force=force)
    assert answer.summary["verdict"].startswith("undecided, pole 1") and answer.summary["free_coordinates"] == 0


@pytest.mark.parametrize(("gyroscopic", "damped", "word"), [
    (False, False, "stable, undamped"), (True, False, "stable, undamped"), (False, True, "stable"),
])  # fmt: skip
def test_a_free_direction_that_depends_on_numbers_is_free(gyroscopic, damped, word):
    """A belt between two pulleys, K = k v v^T with v = (r1, -r2, 0): with other radii others turn freely."""
    turn = np.array([[0, 0, 1.0], [0, 0, 2], [-1, -2, 0]])

    def system(r1, r2, elsewhere=tuple):
        v = np.array([r1, -r2, 0])
        K = 30 * np.outer(v, v) + np.diag([0, 0, 5.0])
        D = 0.3 * gyroscopic * turn + damped * 0.1 * np.outer(v, v)
        errors = [4e-16 * np.abs(A) for A in (np.eye(3), D, K)]
        return SecondOrder(np.diag([1.0, 2, 3]), D, K, *errors, null_space(K, errors[2]), elsewhere)

    one = system(0.3, 0.7, lambda: [system(0.303, 0.698)])
    found = found_poles(one)
    assert [pole.count for pole in found if pole.free] == [2]
    assert str(judge(one, found)) == word


def test_joints_on_one_axis_behind_a_gear_are_free_in_a_direction_of_its_ratio():
    """Weight sees (1 + r) q1 + q2 of a pendulum whose joint follows r q1: the direction (1, -1 - r) is free."""
    links = """
  - {name: a, joint: {type: revolute, name: q1, rotor_inertia: 1}, pose: {}}
  - {name: b, joint: {type: revolute, name: q2, rotor_inertia: 2}, pose: {}}
  - {name: c, joint: {type: revolute, name: q3, follows: 2.3*q1}, pose: {}, rigid: {mass: 1.7, com: [0, -0.6, 0]}}
"""
    answer = loads(HEAD.replace("GRAVITY", "[0, -9.81, 0]").replace("convention: standard\n", "") + links).linearize()
    assert answer.summary["free_coordinates"] == 1
    assert answer.summary["verdict"].startswith("stable, undamped")
    assert answer["shapes"][:, 0] / answer["shapes"][0, 0] == pytest.approx([1, -3.3], rel=1e-12)


def test_energy_does_not_judge_where_other_numbers_break_its_symmetry():
    """K or D is symmetric only because two numbers are equal: two equal poles may leave the axis, and words say so."""
    EYE, zero = np.eye(2), np.zeros((2, 2))
    skew = np.array([[0.0, 1], [-1, 0]])
    errors = [1e-15 * np.ones((2, 2))] * 3

    def said(D, K, others):
        def elsewhere():
            return [SecondOrder(EYE, *each, *errors, np.zeros((2, 0))) for each in others]

        system = SecondOrder(EYE, D, K, *errors, np.zeros((2, 0)), elsewhere)
        return str(judge(system, found_poles(system))).split(", pole")[0]

    assert said(zero, EYE, [(zero, 1.01 * EYE)]) == "stable, undamped"
    assert said(zero, EYE, [(zero, EYE + 0.01 * skew)]) == "undecided"
    assert said(skew, EYE, [(1.01 * skew, 1.01 * EYE)]) == "stable, undamped"
    assert said(skew, EYE, [(skew, EYE + 0.01 * skew)]) == "undecided"
    assert said(skew, EYE, [(skew - 0.01 * EYE, EYE)]) == "undecided"
    one = np.diag([1.0, 0.0])
    assert said(one, np.diag([1.0, 2]), [(one, np.diag([1.0, 2.1]))]) == "stable"
    assert said(one, np.diag([1.0, 2]), [(np.diag([1.0, -0.01]), np.diag([1.0, 2]))]) == "undecided"


GIMBAL = """
kronbot: 1
name: gimbal
gravity: [0, 0, 0]
parameters: {J: 0.002}
links:
  - {name: outer, joint: {type: revolute, name: psi}, pose: {},
     rigid: {mass: 0.5, inertia: {Ixx: 0.002, Iyy: 0.002, Izz: 0.0028}}}
  - {name: inner, joint: {type: revolute, name: theta}, pose: {rpy: [pi/2, 0, 0]},
     rigid: {mass: 0.5, inertia: {Ixx: 0.002, Iyy: 0.0021, Izz: 0.0041}}}
  - {name: rotor, joint: {type: revolute, name: spin}, pose: {rpy: [0, pi/2, 0]},
     rigid: {mass: 1, inertia: {Ixx: J, Iyy: ACROSS, Izz: 0.002}}}
"""


def test_a_gimbal_is_undamped_where_its_rotor_is_round_by_more_than_chance():
    """Its nutation, Izz W / sqrt(I_psi I_theta), is on the axis; where Iyy is a rounding more it grows, or decays, at
    an instant: by 40 digits, and by less than the error that leaves it undecided."""
    arguments = (np.array([0, 0, 0.3]), np.array([0, 0, 800.0]), np.zeros(3), np.zeros(3), np.zeros(3))

    def nutation(trace):
        return max(poles(*matrices(trace, *arguments)), key=mp.im)

    for across, begun, said in (("J", "stable, undamped (", ""), ("0.002", "undecided, pole 4 grows at ", BY_CHANCE)):
        robot = model(GIMBAL.replace("ACROSS", across))
        found = about(robot, {"spin": 0.3}, {"spin": 800.0})
        verdict = found.summary["verdict"]
        assert verdict.startswith(begun) and said in verdict
        trace = traced(robot)
        with mp.workdps(40):
            pole = nutation(trace)
            assert abs(pole.imag - 1.6 / mp.sqrt(0.0069 * 0.0061)) < 1e-12 and abs(pole.real) < 1e-30
            if across == "J":
                continue
            uneven = [trace.bound * np.where(np.arange(len(trace.bound)) == i, 1 + 2**-52, 1) for i in (0, 1)]
            rates = [float(nutation(trace.bound_to(bound)).real) for bound in uneven]
        assert min(rates) < -1e-15 < 1e-15 < max(rates) < found.arrays["accuracy"].values[3, 1]


def test_a_verdict_is_there_wherever_poles_are():
    """A rigid arm without weight is free in all its coordinates: nothing grows at a rate. Locked it has no motion."""
    answer = loads(PAIR.replace("-9.81", "0")).linearize()
    assert answer.summary["verdict"].startswith("stable, undamped (") and answer.summary["free_coordinates"] == 2
    assert answer.summary["verdict"].endswith("; without 2 free coordinates)")
    assert answer.summary["largest_growth_rate"] == 0
    said = loads(PAIR.replace("-9.81", "0")).modes().summary
    assert said["verdict_free"].endswith("; without 2 free coordinates)")
    assert "verdict_locked" not in said and said["model_locked"] == "order 2, 0 modes, joints locked q1, q2"
    damped = loads(PAIR.replace("-9.81", "0").replace("name: q1", "name: q1, damping: 0.1"))
    assert damped.linearize(lock="q2").summary["verdict"].startswith("asymptotically stable (")


def test_a_model_in_words_counts_the_shapes_of_beams_and_no_shafts():
    """q1 beside its motor is a coordinate that yields, and no mode of a beam."""
    elastic = HUB.replace("name: q1}", "name: q1, rotor_inertia: 2, elastic: {stiffness: 300}}")
    for links, modes in ((HUB, 3), (elastic, 3)):
        said = about(made(links, "[0, 0, 0]")).summary["verdict"]
        assert f"(order 2, {modes} modes, joints free q1; " in said


def test_moving_joints_are_locked_in_words_too():
    robot = made(HUB + """
  - {name: tip, joint: {type: revolute, name: q2}, dh: {a: 0.2, d: 0, alpha: 0, theta: 0}, rigid: {mass: 0.1}}
""", "[0, 0, 0]")  # fmt: skip
    qd = np.array([3.0, *np.zeros(robot.n - 1)])
    said = vibration(robot, np.zeros(robot.n), qd, None).summary
    assert said["model_free"] == "order 2, 3 modes, joints free q2 and locked q1; q1 moves and stays locked"
    assert said["verdict_free"].startswith("stable, undamped (order 2, 3 modes, joints free q2 and locked q1; about")
    assert said["free_coordinates_free"] == 0
    said = vibration(robot, np.zeros(robot.n), 0 * qd, None).summary
    assert said["free_coordinates_free"] == 2 and said["verdict_free"].endswith("without 2 free coordinates)")


def traced(robot):
    linear = LinearModel.about_any_motion(robot)
    inputs = {word: getattr(linear, word) for word in ("q", "qd", "qdd", "tau", "force")}
    return Trace(robot.parameters, inputs, {"M": linear.M_L, "D": linear.D_L, "K": linear.K_L}, "test")


@settings(max_examples=3)
@given(robots(max_links=3, max_coordinates=5, max_modes=1), st.integers(0, 10**6), st.sampled_from([0, 3, 6]))
def test_poles_of_random_robots_are_those_of_their_exact_matrices(robot, seed, decades):
    """The trace replayed with 50 digits from the same floats, mpmath's eigenvalues: all 2n, each within its error."""
    rng = np.random.default_rng(seed)
    for link in robot["links"]:
        if "flexible" in link:
            stiff = 10 ** rng.uniform(-decades / 2, decades)
            link["flexible"]["EI"] = {axis: EI * stiff for axis, EI in link["flexible"]["EI"].items()}
    built = build(model(robot).description, "2")
    q, qd = np.zeros((2, built.n))
    for joint in built.joints:
        q[joint.index], qd[joint.index] = rng.choice([0, np.pi / 2, 0.3]), rng.choice([0, 2.0])
    arguments = (q, qd, np.zeros(built.n), np.zeros(len(built.joints)), np.zeros(3))
    trace = traced(built)
    found = found_poles(Entries.at(trace, [each[None] for each in arguments]).systems(list(range(built.n)))[0])
    with mp.workdps(50):
        left = poles(*matrices(trace, *arguments))
        assert sum(pole.count for pole in found) == len(left)
        for pole in sorted(found, key=lambda pole: -abs(pole.value)):
            for value in (pole.value, pole.value.conjugate())[: pole.count]:
                nearest = min(left, key=lambda s: abs(s - value))
                left.remove(nearest)
                # What the floats of an angle leave of a symmetry is the root of a rounding.
                assert abs(nearest - value) <= (1e-6 if pole.free else pole.error + 1e-40)
                if not pole.free:
                    assert abs(nearest.real - value.real) <= pole.growth_error + 1e-40
