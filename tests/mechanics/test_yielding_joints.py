"""Elastic joints, bearings and springs: against the Lagrangian, closed forms, and frequency equations of beams."""

import numpy as np
import pytest
from hypothesis import strategies as st
from mechanics.test_recursion import check_against_lagrangian
from random_robots import robots
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from thinned import drawn

import kronbot
from kronbot.errors import UsageError


@drawn(2, 3, robots(max_links=3, max_coordinates=5, yielding=True), st.sampled_from([0, 1, 2]), st.integers(0, 10**6))
def test_recursion_composite_and_lagrangian_agree(robot, order, seed):
    """Random trees whose joints yield: recursion = composite = brute force."""
    check_against_lagrangian(robot, order, seed)


RIGID = "rigid: {mass: 3, com: [0.4, 0, 0], inertia: {Ixx: 0.1, Iyy: 0.7, Izz: 0.5}}"
B, J, STIFFNESS = 0.02 * 25, 0.5 + 3 * 0.4**2, 1.2e4


def arm(joint, link=RIGID, gravity="[0, 0, 0]"):
    """One link on a joint about z."""
    return kronbot.loads(
        f"""
kronbot: 1
name: arm
gravity: {gravity}
links:
  - name: arm
    joint: {{type: revolute, name: q1, rotor_inertia: 0.02, gear: 5{joint and ", "}{joint}}}
    pose: {{}}
    {link}
"""
    )


def test_two_masses_on_a_shaft():
    """Free sqrt(k (1/B + 1/J)), locked sqrt(k/J); equations as Spong has them."""
    robot = arm(f"elastic: {{stiffness: {STIFFNESS}}}")
    found = robot.modes()
    assert found.arrays["frequencies_locked"].values == pytest.approx([np.sqrt(STIFFNESS / J)], rel=1e-12)
    free = [0.0, np.sqrt(STIFFNESS * (1 / B + 1 / J))]
    assert found.arrays["frequencies_free"].values == pytest.approx(free, rel=1e-12, abs=0)
    equations = robot.dynamics(q={"q1": 0.3, "q1.motor": 0.1}, qd={}, qdd={"q1": 2.0, "q1.motor": -1.0})
    assert equations.arrays["M"].values == pytest.approx(np.diag([J, B]))
    torque = STIFFNESS * 0.2
    assert equations.arrays["tau"].values == pytest.approx([2 * J + torque, -B - torque])


def test_an_elastic_arm_of_two_links_is_spongs_reduced_model():
    """Entry by entry: links M(q2), C, g and K (q - motor); motors B and the other side of the shafts, uncoupled."""
    links = "".join(
        f"""
  - name: link{i}
    joint: {{type: revolute, name: q{i}, rotor_inertia: {rotor}, gear: 10, elastic: {{stiffness: {k}}}}}
    dh: {{a: {length}, d: 0, alpha: 0, theta: 0}}
    rigid: {{mass: {mass}, com: [{centre - length}, 0, 0], inertia: {{Izz: {about}}}}}
"""
        for i, rotor, k, length, mass, centre, about in (
            (1, 0.002, 500, 0.9, 3, 0.5, 0.2),
            (2, 0.001, 300, 0.7, 2, 0.3, 0.1),
        )
    )
    robot = kronbot.loads(HEAD + links)
    q, motor, qd, qdd = (0.4, -0.8), (0.5, -1.1), (0.7, -1.3), (2.0, 0.6)
    both = {"q1": 0, "q2": 1}

    def named(values, of_motors):
        found = {name: values[i] for name, i in both.items()}
        return found | {f"{name}.motor": of_motors[i] for name, i in both.items()}

    found = robot.dynamics(q=named(q, motor), qd=named(qd, (0.2, 0.3)), qdd=named(qdd, (-1.0, 1.5))).arrays
    coupled, c2, s2 = 2 * 0.9 * 0.3, np.cos(q[1]), np.sin(q[1])
    far = 0.1 + 2 * 0.3**2
    M = np.array(
        [[0.2 + 3 * 0.5**2 + far + 2 * 0.9**2 + 2 * coupled * c2, far + coupled * c2], [far + coupled * c2, far]]
    )
    turning = coupled * s2 * np.array([-qd[1] * (2 * qd[0] + qd[1]), qd[0] ** 2])
    c1, c12 = np.cos(q[0]), np.cos(q[0] + q[1])
    weight = 9.81 * np.array([3 * 0.5 * c1 + 2 * (0.9 * c1 + 0.3 * c12), 2 * 0.3 * c12])
    shafts, rotors = np.array([500, 300]) * (np.array(q) - motor), np.array([0.2, 0.1])
    links_first = [0, 2, 1, 3]
    assert list(robot.coordinates) == ["q1", "q1.motor", "q2", "q2.motor"]
    whole = np.block([[M, np.zeros((2, 2))], [np.zeros((2, 2)), np.diag(rotors)]])
    assert found["M"].values[np.ix_(links_first, links_first)] == pytest.approx(whole, rel=1e-13, abs=1e-15)
    wanted = [*(M @ qdd + turning + weight + shafts), *(rotors * (-1.0, 1.5) - shafts)]
    assert found["tau"].values[links_first] == pytest.approx(wanted, rel=1e-12)


def test_a_rigid_beam_behind_a_shaft_has_the_frequency_of_the_shaft():
    """At order 0, where joints yield and beams do not."""
    beam = "flexible: {length: 1, mass: 3, EI: {z: 1e3}, modes: {v: 2}}"
    robot = arm(f"elastic: {{stiffness: {STIFFNESS}}}", beam).at_order(0)
    about_joint = 3 * 1**2 / 3
    wanted = np.sqrt(STIFFNESS / about_joint)
    assert robot.check().summary["first_frequency_locked"] == pytest.approx(wanted, rel=1e-12)
    assert robot.modes()["frequencies_locked"] == pytest.approx([wanted], rel=1e-12)


TAIL = """
  - name: fore
    joint: {type: revolute, name: q2, damping: 0.1}
    dh: {a: 0.8, d: 0, alpha: 0, theta: 0.2}
    flexible: {mass: 2, EI: {z: 300}, modes: {v: 2}, damping: {ratio: 0.02}}
"""
HEAD = "kronbot: 1\nname: arm\nconvention: standard\ngravity: [0, -9.81, 0]\nlinks:\n"
BODY = "{mass: 4, com: [-0.5, 0.1, 0], inertia: {Izz: 0.3}}"
ELASTIC = f"""
  - name: upper
    joint: {{type: revolute, name: q1, damping: 0.4, rotor_inertia: 0.2, elastic: {{stiffness: 900, damping: 2}}}}
    dh: {{a: 1, d: 0, alpha: 0, theta: 0}}
    rigid: {BODY}
"""
BY_HAND = f"""
  - name: rotor
    joint: {{type: revolute, name: m, damping: 0.4}}
    dh: {{a: 0, d: 0, alpha: 0, theta: 0}}
    rigid: {{inertia: {{Izz: 0.2}}}}
  - name: upper
    joint: {{type: revolute, name: shaft, spring: {{stiffness: 900}}, damping: 2}}
    dh: {{a: 1, d: 0, alpha: 0, theta: 0}}
    rigid: {BODY}
"""


def test_a_shaft_is_a_joint_with_a_spring_between_two_bodies():
    """Where the first joint is elastic, whose axis rests: its rotor as a body, its shaft as a joint with a spring."""
    elastic, chain = kronbot.loads(HEAD + ELASTIC + TAIL), kronbot.loads(HEAD + BY_HAND + TAIL)
    T = np.eye(5)  # (q1, q1.motor, ...) = T (m, shaft, ...)
    T[:2, :2] = [[1, 1], [1, 0]]
    rng = np.random.default_rng(5)
    q, qd, qdd = rng.normal(size=(3, 5)) * np.array([1, 0.2, 1, 0.05, 0.01])
    ours = elastic.dynamics(q=T @ q, qd=T @ qd, qdd=T @ qdd).arrays["tau"].values
    assert T.T @ ours == pytest.approx(chain.dynamics(q=q, qd=qd, qdd=qdd).arrays["tau"].values, rel=1e-12)

    posture = {"m": 0.3, "q2": -0.7}
    free = elastic.modes(q={"q1.motor": 0.3, "q2": -0.7}).arrays["frequencies_free"].values
    assert free == pytest.approx(chain.modes(q=posture).arrays["frequencies_free"].values, rel=1e-9)

    sag = elastic.statics(q=[0.3, -0.7]).series
    held = chain.statics(q=posture, tau={"shaft": 0.0}).series
    for name in ("endpoint.x", "endpoint.y", "fore.v1", "torque.q2", "energy.elastic"):
        assert sag[name] == pytest.approx(held[name], rel=1e-9)
    assert sag["torque.q1"] == pytest.approx(held["torque.m"], rel=1e-9)
    assert sag["q1"] - sag["angle.q1"] == pytest.approx(held["angle.shaft"], rel=1e-7)


def test_a_stiff_shaft_is_none():
    """With stiffness k frequencies come to those of the rigid drive as 1/k."""
    beam = "flexible: {mass: 2, length: 0.9, EI: {z: 400}, modes: {v: 2}}"
    limit = arm("", beam).modes().arrays["frequencies_free"].values[1:3]
    coarse, fine = (
        arm(f"elastic: {{stiffness: {k}}}", beam).modes().arrays["frequencies_free"].values[1:3] - limit
        for k in (1e7, 2e7)
    )
    assert coarse / fine == pytest.approx(2 * np.ones(2), rel=0.02)


@pytest.mark.slow
def test_a_beam_on_a_shaft_has_the_frequencies_of_a_sprung_root():
    """EI w'' = k w' at the root, EI w''' = -m omega^2 w at the tip: roots of the determinant, found here."""
    EI, length, mass, tip, k = 350.0, 1.2, 1.6, 0.9, 500.0
    beam = f"flexible: {{mass: {mass}, length: {length}, EI: {{z: {EI}}}, modes: {{v: 12}}, shape: legendre}}"
    robot = arm(f"elastic: {{stiffness: {k}}}", f"{beam}\n    payload: {{mass: {tip}}}")

    def determinant(x):
        # w = a (cosh - cos) + b (sinh - sin) + c (sinh + sin) of x s/l: w' = 2 c, w'' = 2 a at s = 0.
        C, c, S, s = np.cosh(x), np.cos(x), np.sinh(x), np.sin(x)
        load = tip / mass * x
        rows = [
            [EI / length * x, 0, -k],
            [C + c, S + s, S - s],
            [S - s + load * (C - c), C + c + load * (S - s), C - c + load * (S + s)],
        ]
        return np.linalg.det(np.array(rows) / np.cosh(x))

    grid = np.linspace(0.3, 11, 400)
    values = [determinant(x) for x in grid]
    pairs = zip(grid, grid[1:], values, values[1:], strict=False)
    roots = [brentq(determinant, a, b, xtol=1e-14) for a, b, f, g in pairs if f * g < 0]
    wanted = np.array(roots[:3]) ** 2 * np.sqrt(EI * length / mass) / length**2
    assert robot.modes().arrays["frequencies_locked"].values[:3] == pytest.approx(wanted, rel=1e-8)


def test_a_bearing_tilts_under_weight_and_swings():
    """A rigid arm on a vertical axis: k y = m g a cos y, and sqrt(k/J) about y and about x."""
    k, weight = 900.0, 3 * 9.81
    bearing = f"bearing: {{stiffness: {{x: 500, y: {k}}}}}"
    robot = arm(bearing, gravity="[0, 0, -9.81]")
    tilt = brentq(lambda y: k * y - weight * 0.4 * np.cos(y), 0, 1, xtol=1e-15)
    found = robot.statics(q=[0.0]).series
    assert found["q1.y"] == pytest.approx([tilt], rel=1e-12)
    assert abs(found["q1.x"][0]) < 1e-15
    # It does not turn with its joint: after a quarter turn the arm tilts about x.
    about_x = brentq(lambda x: 500 * x - weight * 0.4 * np.cos(x), 0, 1, xtol=1e-15)
    assert robot.statics(q=[np.pi / 2]).series["q1.x"] == pytest.approx([-about_x], rel=1e-12)
    swings = [np.sqrt(k / (0.7 + 3 * 0.4**2)), np.sqrt(500 / 0.1)]
    assert arm(bearing).modes().arrays["frequencies_locked"].values == pytest.approx(swings, rel=1e-12)


def test_linear_statics_starts_where_nothing_is_deformed():
    """Under a light load it is Newton's answer to second order, at a posture far from zero."""
    text = HEAD + ELASTIC + TAIL.replace("{type: revolute, name: q2,", "{type: revolute, name: q2, follows: -q1/2 + 1,")
    robot = kronbot.loads(text.replace("-9.81", "0").replace("name: q2", "elastic: {stiffness: 500}, name: q2"))
    for force in (1e-3, 1e-2):
        exact, linear = (robot.statics(q=[0.7], forces=[[0, force, 0]], solver=s).series for s in ("newton", "linear"))
        for name in ("q1", "q2", "fore.v1", "torque.q1", "displacement.x", "displacement.y"):
            assert linear[name] == pytest.approx(exact[name], rel=1e-2 * force, abs=1e-6 * force**2)


DRIVEN = """
kronbot: 1
name: two
convention: standard
gravity: [0, -9.81, 0]
links:
  - name: upper
    joint: {type: revolute, name: q1, rotor_inertia: 0.2, damping: 0.3, elastic: {stiffness: 900, damping: 2}}
    dh: {a: 1, d: 0, alpha: 0.4, theta: 0}
    rigid: {mass: 4, com: [-0.5, 0.1, 0], inertia: {Ixx: 0.1, Iyy: 0.3, Izz: 0.3}}
  - name: fore
    joint: {type: revolute, name: q2, rotor_inertia: 0.1, elastic: {stiffness: 700}, bearing: {stiffness: {x: 4e3}},
            spring: {stiffness: 20, rest: 0.5}}
    dh: {a: 0.8, d: 0, alpha: 0, theta: 0.2}
    rigid: {mass: 2, com: [-0.3, 0, 0], inertia: {Ixx: 0.05, Iyy: 0.1, Izz: 0.1}}
simulate:
  duration: 0.4
  step: 0.1
  drive:
    q1: {motion: {type: cycloidal, from: 0, to: 0.5, duration: 0.4}}
    q2: {torque: 3}
"""


def test_a_prescribed_motion_and_a_torque_act_on_motors():
    answer = kronbot.loads(DRIVEN).simulate()
    assert answer.summary["energy_drift"] < 1e-7
    assert answer.series["q1.motor"][-1] == pytest.approx(0.5, abs=1e-12)
    assert answer.series["torque.q2"] == pytest.approx(3 * np.ones(5))
    assert np.abs(answer.series["q1"] - answer.series["q1.motor"]).max() > 1e-3


@pytest.mark.slow
def test_a_run_that_starts_in_the_sag_stays_there():
    held = "{motion: {type: sinusoid, amplitude: 0, frequency: 1}}"
    robot = kronbot.loads(DRIVEN.split("simulate:")[0] + f"simulate: {{drive: {{q1: {held}, q2: {held}}}}}\n")
    still = robot.simulate(duration=0.5, step=0.1, start="equilibrium").series
    assert np.ptp(still["q1"]) < 1e-7
    assert abs(still["q1"][0]) > 0.01
    assert still["torque.q1"][0] == pytest.approx(robot.statics(q=[0.0, 0.0]).series["torque.q1"][0], rel=1e-9)


def test_a_motor_without_inertia_is_named_where_that_matters():
    light = kronbot.loads(
        "kronbot: 1\nname: a\ngravity: [0, 0, 0]\nlinks:\n  - {name: a, joint: {type: revolute, name: q1, "
        "elastic: {stiffness: 10}}, pose: {}, rigid: {mass: 1, com: [1, 0, 0]}}\n"
    )
    with pytest.raises(kronbot.errors.ComputationError, match="motor of elastic joint 'q1' has no inertia"):
        light.modes()
    assert light.statics(q=[0.1]).series["angle.q1"] == pytest.approx([0.1])


PARALLELOGRAM = """
kronbot: 1
name: parallelogram
convention: standard
gravity: [0, -9.81, 0]
parameters: {ratio: 1}
links:
  - name: crank
    joint: {type: revolute, name: q1, damping: 0.3}
    dh: {a: 0.8, d: 0, alpha: 0, theta: 0}
    rigid: {mass: 5, com: [-0.4, 0, 0], inertia: {Izz: 0.3}}
  - name: coupler
    joint: {type: revolute, name: q2, follows: -ratio*q1 + pi/6, damping: 0.2, limits: [-1, 1]}
    dh: {a: 1, d: 0, alpha: 0, theta: 0}
    rigid: {mass: 2, com: [-0.7, 0.1, 0], inertia: {Izz: 0.2}}
  - name: rocker
    parent: base
    joint: {type: revolute, name: q3, follows: q1}
    pose: {xyz: [0.3, 0, 0]}
    rigid: {mass: 3, com: [0.3, 0, 0], inertia: {Izz: 0.1}}
"""


def test_a_parallelogram_has_one_coordinate():
    """The coupler only moves along a circle, the rocker turns as the crank: M, weight and damping by hand."""
    robot = kronbot.loads(PARALLELOGRAM)
    assert robot.coordinates == ("q1",)
    answer = robot.dynamics(q=[0.4], qd=[1.3], qdd=[0.7]).arrays
    M = 0.3 + 5 * 0.4**2 + 2 * 0.8**2 + 0.1 + 3 * 0.3**2
    weight = 9.81 * np.cos(0.4) * (5 * 0.4 + 2 * 0.8 + 3 * 0.3)
    assert answer["M"].values == pytest.approx(np.array([[M]]), rel=1e-14)
    assert answer["g"].values == pytest.approx([weight], rel=1e-14)
    assert answer["tau"].values == pytest.approx([0.7 * M + weight + 1.3 * (0.3 + 0.2)], rel=1e-14)
    assert robot.simulate(duration=1, step=0.5, rtol=1e-11).summary["energy_drift"] < 1e-9
    # The torque of the crank carries all of it, and the coupler does not turn.
    assert robot.statics(q=[0.4]).series["torque.q1"] == pytest.approx([weight])
    assert robot.jacobian(q=[0.4], frame="coupler").arrays["J_R"].values == pytest.approx(np.zeros((3, 1)))
    # The ratio is a parameter like any other; with 2 the coupler turns, and passes its limit.
    double = robot.with_parameters(ratio=2)
    assert double.jacobian(q=[0.4], frame="coupler").arrays["J_R"].values[2] == pytest.approx([-1])
    assert "q2 is beyond its limit of -1 rad by 0.0764 rad" in double.jacobian(q=[0.8], frame="coupler").warnings


@pytest.mark.parametrize(
    ("follows", "said"),
    [
        ("q1*q1", "a joint follows others linearly"),
        ("sin(q1)", "a joint follows others linearly"),
        ("1/q1", "a joint follows others linearly"),
        ("q1/(ratio - ratio)", "division by zero in"),
        ("q1 + sqrt(-ratio**2)", "has no real value"),
        ("1e308*q1 + 1e309/10*ratio*q1", "too large"),
        ("2*ratio", "names no joint that 'q2' could follow"),
        ("q7 + q1", "unknown joint 'q7'"),
        ("q3 + q2", "the joints follow each other in a circle"),
        ("q1 +", "expression"),
    ],
)
def test_what_cannot_be_followed_is_named_with_its_place(follows, said):
    with pytest.raises(kronbot.errors.DescriptionError, match=said) as error:
        kronbot.loads(PARALLELOGRAM.replace("-ratio*q1 + pi/6", follows).replace("follows: q1}", "follows: q2}"))
    assert error.value.mistakes[0].line in (13, 18)


def test_factors_are_judged_with_other_values():
    robot = kronbot.loads(PARALLELOGRAM.replace("-ratio*q1 + pi/6", "q1/ratio"))
    with pytest.raises(kronbot.errors.KronbotError, match=r":13:48: division by zero in 'q1/ratio'"):
        robot.with_parameters(ratio=0)


def test_a_followed_joint_with_a_hyphen_wants_quotes():
    """Without them it reads as a difference of two that are unknown."""
    links = "links:\n" + "".join(
        f"  - {{name: {link}, joint: {{type: revolute, name: {joint}}}, dh: {{a: 1, d: 0, alpha: 0, theta: 0}}}}\n"
        for link, joint in (("a", "q-fore"), ("b", "j2"), ("c", 'j3, follows: "q-fore - j2"'))
    )
    with pytest.raises(kronbot.errors.DescriptionError) as error:
        kronbot.loads("kronbot: 1\nname: r\nconvention: standard\ngravity: [0, 0, 0]\n" + links)
    cure = "follows: \"'q-fore' - j2\""
    assert f"unknown joint 'fore'; names with hyphens stand in quotes of their own: {cure}" in str(error.value)
    head = "kronbot: 1\nname: r\nconvention: standard\ngravity: [0, 0, 0]\n"
    assert kronbot.loads(head + links.replace('follows: "q-fore - j2"', cure)).joints == ("q-fore", "j2")
    with pytest.raises(kronbot.errors.DescriptionError, match="'2' names no joint that 'j3' could follow"):
        kronbot.loads(
            "kronbot: 1\nname: r\nconvention: standard\ngravity: [0, 0, 0]\n" + links.replace("q-fore - j2", "2")
        )


def test_who_follows_has_no_drive():
    with pytest.raises(kronbot.errors.DescriptionError, match="'q2' follows other joints: nothing moves it for itself"):
        kronbot.loads(PARALLELOGRAM + "motion: {q2: {type: sinusoid, amplitude: 1, frequency: 1}}\n")
    with pytest.raises(kronbot.errors.DescriptionError, match="follows others and has no motor: take out 'gear'"):
        kronbot.loads(PARALLELOGRAM.replace("follows: q1}", "follows: q1, gear: 3}"))


PULLED = """
kronbot: 1
name: pulled
gravity: [0, 0, 0]
links:
  - name: carriage
    joint: {type: prismatic, name: pull}
    pose: {}
    rigid: {mass: 1}
  - name: block
    joint: {type: prismatic, name: stretch, spring: {stiffness: 40}}
    pose: {}
    rigid: {mass: 2}
  - name: sole
    parent: world
    joint: {type: prismatic, name: slip, follows: pull + stretch,
            friction: {coulomb: 3, static: 5, stribeck_rate: 0.1, smoothing: 1e-5}}
    pose: {}
simulate: {drive: {pull: {motion: {type: polynomial, from: 0, to: 0.4, duration: 1, degree: 3}}}}
"""


def test_a_block_that_is_pulled_by_a_spring_sticks_and_slips():
    """Against events: it rests until the spring pulls with F_s, slips by Stribeck's law, rests again."""
    wanted, t, x, v = [], 0.0, 0.0, 0.0

    def pull(t):
        return 0.4 * (3 * t**2 - 2 * t**3)

    def friction(v):
        return 3 + 2 * np.exp(-((v / 0.1) ** 2))

    times = np.linspace(0, 1, 21)
    values = np.zeros(21)
    while t < 1:
        if v == 0:
            later = np.linspace(t, 1, 200001)
            loose = next(iter(later[40 * (pull(later) - x) > 5]), 1.0)
            start = brentq(lambda s, x=x: 40 * (pull(s) - x) - 5, t, loose, xtol=1e-14) if loose < 1 else 1.0
            values[(times >= t) & (times <= start)] = x
            t, v = start, 1e-9
            continue

        def rests(t, y):
            return y[1]

        rests.terminal, rests.direction = True, -1
        run = solve_ivp(
            lambda t, y: [y[1], (40 * (pull(t) - y[0]) - friction(y[1])) / 2],
            (t, 1),
            [x, v],
            events=rests,
            rtol=1e-10,
            atol=1e-13,
            dense_output=True,
        )
        inside = (times >= t) & (times <= run.t[-1])
        values[inside] = run.sol(times[inside])[0]
        wanted.append(run.t[-1])
        t, (x, v) = run.t[-1], (run.y[0, -1], 0.0)
    series = kronbot.loads(PULLED).simulate(duration=1, step=0.05, rtol=1e-9, solver="radau").series
    block = series["pull"] + series["stretch"]
    assert values.max() > 0.1
    # The block creeps while it should stick: by less than smoothing times time, and what that costs at the start.
    assert np.abs(block - values).max() < 20 * 1e-5
    assert np.abs(series["energy.balance"]).max() < 1e-8 * series["energy.work"].max()


def test_friction_enters_every_equation_once():
    """tau at a rate, by the formula; forward dynamics; its slope in the linear model."""
    text = PARALLELOGRAM.replace(
        "name: q1, damping: 0.3", "name: q1, friction: {coulomb: 3, static: 4, stribeck_rate: 0.5, smoothing: 0.1}"
    )
    with_friction, without = kronbot.loads(text), kronbot.loads(PARALLELOGRAM.replace(", damping: 0.3", ""))

    def force(rate):
        return (3 + np.exp(-((rate / 0.5) ** 2))) * np.tanh(rate / 0.1)

    at = {"q": [0.4], "qd": [0.4], "qdd": [0.7]}
    ours, bare = with_friction.dynamics(**at).arrays, without.dynamics(**at).arrays
    assert ours["friction"].values == pytest.approx([force(0.4)], rel=1e-14)
    assert ours["tau"].values - bare["tau"].values == pytest.approx([force(0.4)], rel=1e-12)
    slope = (force(0.4 + 1e-6) - force(0.4 - 1e-6)) / 2e-6
    linear = [robot.linearize(**at).arrays["D_L"].values for robot in (with_friction, without)]
    assert linear[0] - linear[1] == pytest.approx(np.array([[slope]]), rel=1e-7)
    words = (
        "near rest, where friction is linear up to some 0.1 rad/s only and a real joint sticks: here it is a damping"
    )
    assert list(with_friction.linearize(q=[0.4]).warnings) == [f"q1 is {words}"]
    both = text.replace("follows: q1}", "follows: q1, friction: {coulomb: 1, smoothing: 0.1}}")
    assert list(kronbot.loads(both).linearize(q=[0.4]).warnings) == [f"q1, q3 are {words}"]
    assert not with_friction.linearize(**at).warnings
    assert not with_friction.linearize(q=[0.4], lock="all").warnings  # of what has no part in the model
    off = text.replace("coulomb: 3, static: 4", "coulomb: 0, static: 0")
    assert not kronbot.loads(off).linearize(q=[0.4]).warnings
    assert with_friction.simulate(duration=0.5, step=0.1, rtol=1e-10).summary["energy_drift"] < 1e-8


@pytest.mark.parametrize("word", ["stiffness", "compliance"])
def test_a_bearing_yields_about_an_axis_at_least(word):
    with pytest.raises(kronbot.errors.DescriptionError, match="an axis is wanted here about which the joint tilts"):
        arm(f"bearing: {{{word}: {{}}}}")


SLIDES = """
kronbot: 1
name: slides
gravity: [0, 0, -9.81]
links:
  - name: cart
    joint: {type: prismatic, name: s, rotor_inertia: 2, elastic: {stiffness: 9e4}, bearing: {stiffness: {x: 5e4}}}
    pose: {rpy: [0, pi/2, 0]}
    rigid: {mass: 80, com: [0.1, 0.2, 0], inertia: {Ixx: 1, Iyy: 1, Izz: 1}}
  - name: fork
    joint: {type: prismatic, name: f, follows: s/2, elastic: {stiffness: 5e4}}
    pose: {rpy: [0, -pi/2, 0]}
    flexible: {mass: 2, length: 0.8, EI: {y: 400}, GJ: 90, polar_inertia: 1e-3, modes: {w: 1, torsion: 1}}
  - name: wrist
    joint: {type: revolute, name: w, follows: 2*s, elastic: {stiffness: 60}, bearing: {stiffness: {y: 7e3}}}
    pose: {}
    rigid: {mass: 1, inertia: {Ixx: 1e-2, Iyy: 1e-2, Izz: 1e-2}}
endpoint: {link: cart, position: [0.2, 0, 0]}
simulate: {duration: 0.02, step: 0.01, drive: {s: {torque: 300}}}
"""


def test_coordinates_of_slides_on_bearings_have_their_own_units():
    """By their names; a bearing stands before its joint among links, and behind it among coordinates."""
    robot = kronbot.loads(SLIDES)
    slides = {"s", "s.motor", "f", "fork.w1"}
    assert dict(zip(robot.coordinates, robot.units, strict=True)) == {
        name: "m" if name in slides else "rad" for name in robot.coordinates
    }
    reached = robot.kinematics(inverse={"x": 7})
    assert reached.at["q"]["s"] == pytest.approx(7, abs=1e-9)  # a turn would be 7 - 2 pi as well
    rows = robot.linearize(equilibrium=False).arrays["C"].rows
    assert rows[: len(rows) - 3] == ("s", "s.motor", "f", "w")
    with pytest.raises(UsageError, match="f is 0.5 there, not 0.2; leave it out"):
        robot.modes(q={"s": 1, "f": 0.2})
