"""Springs, dampers and actuators between frames: against the Lagrangian, closed forms, and energy balances."""

import math

import numpy as np
import pytest
from hypothesis import strategies as st
from mechanics.test_recursion import check_against_lagrangian
from random_robots import robots
from robots_in_tests import loaded
from thinned import drawn, rare

import kronbot
from kronbot.errors import ComputationError, DescriptionError


@drawn(
    1,
    2,
    robots(max_links=3, max_coordinates=6, joined=True)
    | robots(max_links=2, max_coordinates=3, joined=True, yielding=True, floating=True),
    st.sampled_from([0, 1, 2]),
    st.integers(0, 10**6),
)
def test_recursion_composite_and_lagrangian_agree(robot, order, seed):
    """Random trees whose links are joined by elements: recursion = composite = brute force."""
    check_against_lagrangian(robot, order, seed)


CRANE = """
kronbot: 1
name: crane
gravity: [0, 0, -9.81]
parameters: {k: 400, F: 5, c: 1}
links:
  - name: swing
    joint: {type: revolute, name: q1}
    pose: {rpy: [pi/2, 0, 0]}
  - name: bob
    joint: {type: prismatic, name: q2}
    pose: {rpy: [0, pi/2, 0]}
    rigid: {mass: 2}
elements:
  - {name: rope, type: spring, between: [world, bob], stiffness: k, rest: 0.5, damping: c, force: F}
"""
K, F, C, REST, MASS, G = 400.0, 5.0, 1.0, 0.5, 2.0, 9.81


@pytest.fixture(scope="module")
def crane():
    return loaded(CRANE)


def test_a_spring_pendulum_is_that_of_the_books(crane):
    """m r'' = m r phi'^2 + m g sin(..) - T, m r^2 phi'' + 2 m r r' phi' = weight's moment; q1 from the horizontal."""
    phi, r, rate, slide, turning, sliding = 0.4, 0.7, 1.3, -0.6, 0.9, 2.1
    tau = crane.dynamics(q=[phi, r], qd=[rate, slide], qdd=[turning, sliding]).arrays["tau"].values
    moment = MASS * r**2 * turning + 2 * MASS * r * slide * rate + MASS * G * r * math.cos(phi)
    tension = K * (r - REST) + C * slide - F
    along = MASS * sliding - MASS * r * rate**2 + MASS * G * math.sin(phi) + tension
    assert tau == pytest.approx([moment, along], rel=1e-13)


def test_statics_hangs_it_where_it_hangs_and_linear_models_know_its_forces(crane):
    length = REST + (MASS * G + F) / K
    hung = crane.statics(q=[-math.pi / 2 + 0.1, 0.6], tau={"q1": 0, "q2": 0})
    assert hung.series["length.rope"] == pytest.approx([length], rel=1e-12)
    assert hung.series["tension.rope"] == pytest.approx([MASS * G], rel=1e-11)
    assert hung.series["energy.elastic"] == pytest.approx([K * (length - REST) ** 2 / 2], rel=1e-10)
    linear = crane.linearize(q=[-math.pi / 2, length], tau=[0, 0])
    assert np.diag(linear["K_L"]) == pytest.approx([MASS * G * length, K], rel=1e-12)
    assert linear["D_L"][1, 1] == pytest.approx(C, rel=1e-13)
    names = linear.arrays["B"].columns
    assert list(names)[-1] == "force.rope"
    assert linear["B"][:, -1] == pytest.approx([0, 0, 0, 1 / MASS], abs=1e-13)
    frequencies = crane.with_parameters(c=0).linearize(q=[-math.pi / 2, length], tau=[0, 0])["frequencies"]
    assert sorted(frequencies) == pytest.approx([math.sqrt(G / length), math.sqrt(K / MASS)], rel=1e-10)


def test_formulas_hold_the_elements(crane):
    """Symbolic = numeric, with a force without a value."""
    symbolic = kronbot.loads(CRANE.replace("F: 5", "F: "))
    with pytest.raises(kronbot.errors.UsageError, match="F"):
        symbolic.dynamics(q=[0.4, 0.7], qd=[1.3, -0.6])
    written = symbolic.symbolic("python").dynamics()["g"]
    known = {"q1": 0.4, "q2": 0.7, "F": 5, "k": 400, "sin": math.sin, "cos": math.cos, "sqrt": math.sqrt, "Abs": abs}
    values = [eval(each, {}, known) for each in written]  # noqa: S307 - text of a robot of this test
    assert values == pytest.approx(crane.dynamics(q=[0.4, 0.7])["g"], rel=1e-13)
    numbers = symbolic.with_parameters(F=5).dynamics(q=[0.4, 0.7], qd=[1.3, -0.6]).arrays["tau"].values
    assert numbers.tolist() == crane.dynamics(q=[0.4, 0.7], qd=[1.3, -0.6]).arrays["tau"].values.tolist()


BALANCED = """
kronbot: 1
name: balanced
convention: standard
gravity: [0, -9.81, 0]
links:
  - name: upper
    joint: {type: revolute, name: q1}
    dh: {a: 0.8, d: 0, alpha: 0, theta: 0}
    rigid: {mass: 3, com: [-0.3, 0, 0], inertia: {Izz: 0.2}}
elements:
  - {name: counterweight, type: spring, between: [upper:root, world], points: [[0.4, 0, 0], [0, 0.25, 0]],
     stiffness: 3*9.81*0.5/(0.4*0.25)}
"""


def test_a_zero_length_spring_balances_an_arm_everywhere():
    """k a h = m g s: no torque at any angle, no stiffness, a constant energy."""
    robot = kronbot.loads(BALANCED)
    for q in np.linspace(-3, 3, 7):
        answer = robot.dynamics(q=[q], qd=[0], qdd=[0]).arrays
        assert abs(answer["tau"].values[0]) < 1e-13 * 3 * 9.81
        assert abs(robot.linearize(q=[q])["K_L"][0, 0]) < 1e-13 * 3 * 9.81
    series = robot.simulate(duration=1, q=[0.3], qd=[1.5], rtol=1e-10, atol=1e-12).series
    assert series["q1_dot"] == pytest.approx(np.full(len(series["t"]), 1.5), rel=1e-9)


ARM = """
kronbot: 1
name: arm
convention: standard
gravity: [0, -9.81, 0]
links:
  - name: upper
    joint: {type: revolute, name: q1, friction: {coulomb: 2, smoothing: 0.1}, rotor_inertia: 0.3,
            elastic: {stiffness: 900, damping: 2}}
    dh: {a: 0.8, d: 0, alpha: 0, theta: 0}
    flexible: {mass: 4, EI: {z: 900}, modes: {v: 1}, damping: {ratio: 0.01}}
  - name: fore
    joint: {type: revolute, name: q2, spring: {stiffness: 20, rest: 0.5}, damping: 0.1}
    dh: {a: 0.6, d: 0, alpha: 0, theta: 0}
    rigid: {mass: 2, com: [-0.3, 0, 0], inertia: {Izz: 0.1}}
elements:
  - {name: cylinder, type: spring, between: [upper, fore], points: [[-0.3, 0.1, 0], [-0.2, 0.05, 0]],
     stiffness: 500, rest: 0.2, damping: 10, force: 30}
  - {name: stay, type: spring, between: [world, fore], points: [[0, 1, 0], [0, 0, 0]], stiffness: 40}
  - {name: piston, type: actuator, between: ["com:fore", base], points: [[0, 0, 0], [1, -1, 0]], force: -8}
simulate: {duration: 0.5, drive: {q1: {torque: 15}}}
"""


@pytest.mark.parametrize("solver", ["cvodes", rare("dop853")])
def test_energy_is_balanced_with_friction_springs_dampers_and_forces(solver):
    answer = loaded(ARM).simulate(q=[-0.4, 0.3], solver=solver, rtol=1e-11, atol=1e-12)
    assert answer.summary["energy_drift"] < 1e-8
    assert answer.series["energy.dissipated"][-1] > 0.1  # J
    assert abs(answer.series["energy.work"][-1]) > 1


def test_spring_and_force_of_an_element_are_told_along_a_run():
    answer = loaded(ARM).simulate(q=[-0.4, 0.3], duration=0.1)
    series = answer.series
    assert answer.units["length.stay"] == "m" and answer.units["tension.stay"] == "N"
    assert series["tension.stay"] == pytest.approx(40 * series["length.stay"], rel=1e-12)
    assert series["tension.piston"] == pytest.approx(np.full(len(series["t"]), 8.0))
    ends = np.array([series[f"endpoint.{axis}"] for axis in "xyz"]).T - [0, 1, 0]
    assert series["length.stay"] == pytest.approx(np.linalg.norm(ends, axis=1), rel=1e-12)


def test_reactions_bear_the_pulls_of_elements():
    """By the equations of motion: the link side of a joint's torque is its reaction about its axis; and the crane."""
    robot = loaded(ARM)
    series = robot.simulate(q=[-0.4, 0.3], duration=0.1, outputs=["reaction:q2", "spring:q2", "rate:q2"]).series
    borne = series["torque.q2"] + series["spring.q2.spring"] - 0.1 * series["q2_dot"]
    assert series["reaction.q2.mz"] == pytest.approx(borne, abs=1e-9 * np.abs(series["tension.stay"]).max())
    pendulum = loaded(CRANE).statics(q=[-math.pi / 2, 0.6], outputs=["reaction:q2"]).series
    pulled = pendulum["tension.rope"] - MASS * G
    assert pendulum["reaction.q2.fz"] == pytest.approx(pulled, rel=1e-12)


def test_length_zero_is_named():
    robot = loaded(CRANE)
    for question in (robot.dynamics, robot.linearize, robot.modes, lambda q: robot.simulate(q=q, duration=1)):
        with pytest.raises(ComputationError, match="the ends of element 'rope' meet"):
            question(q=[0.4, 0.0])
    slack = kronbot.loads(CRANE.replace("rest: 0.5, damping: c, force: F", "rest: 0"))
    assert slack.dynamics(q=[0.4, 0.0], qd=[0, 0]).arrays["tau"].values == pytest.approx([0, 2 * 9.81 * math.sin(0.4)])


@pytest.mark.parametrize(
    ("was", "new", "said"),
    [
        ("[world, bob]", "[world, bib]", "unknown frame 'bib'; did you mean 'bob'"),
        ("[world, bob]", "[world, base]", "both ends are on the frame 'world': their distance never changes"),
        ("type: spring", "type: damper", "a damper has no 'stiffness'"),
        ("stiffness: k, ", "", "a spring needs 'stiffness'"),
        ("name: rope", "name: x", "the name 'x' is reserved"),
        ("rest: 0.5", "rest: -0.5", "'rest' must be at least 0"),
        ("stiffness: k", "stiffness: 0", "'stiffness' must be"),
        ("[world, bob]", "[world]", "2"),
    ],
)
def test_mistakes_are_named_with_their_places(was, new, said):
    with pytest.raises(DescriptionError, match=said) as error:
        kronbot.loads(CRANE.replace(was, new))
    assert error.value.mistakes[0].line == 15


STAYED = """
kronbot: 1
name: stayed
gravity: [0, -9.81, 0]
links:
  - name: boom
    joint: {type: revolute, name: q}
    pose: {}
    flexible: {length: 2, mass: 3, EI: {z: 300}, modes: {v: 2}}
elements: [{name: stay, type: spring, between: [world, boom], points: [[0, 1, 0], [0, 0, 0]], stiffness: 80, rest: 2}]
simulate: {duration: 0.3, step: 0.05, drive: {q: {motion: {type: polynomial, from: 0, to: 0, duration: 1, degree: 3}}}}
"""


@pytest.mark.slow
def test_the_step_at_the_start_is_that_of_weight_and_elements():
    """Told as linear statics has it, whose beams begin straight, too."""
    robot = kronbot.loads(STAYED)
    sag = abs(robot.statics(q=[0], solver="linear")["tip.boom.y"][0])
    (told,) = (each for each in robot.simulate().warnings if "acts as a step" in each)
    assert told.startswith(f"gravity with elements bends boom by {sag:.3g} m, ")
    bare = kronbot.loads(STAYED[: STAYED.index("elements:")] + STAYED[STAYED.index("simulate:") :])
    assert any(each.startswith("gravity alone bends boom by") for each in bare.simulate().warnings)


@pytest.mark.parametrize(
    "beam", [rare(""), "flexible: {length: 1, mass: 0.6, EI: {y: 40, z: 40}, modes: {v: 1, w: 1}}"]
)
@pytest.mark.parametrize("floating", [rare(False), True])
def test_frequencies_where_elements_hold_fewer_directions_than_they_end_on(floating, beam):
    """One rope over two joints, and a body on it: what swings does so as in ``modes``, the rest is free."""
    base = "base: {type: floating, rigid: {mass: 2, inertia: {Ixx: 1, Iyy: 1.2, Izz: 0.7}}}" if floating else ""
    text = f"""
kronbot: 1
name: roped
gravity: [0, 0, 0]
{base}
links:
  - {{name: a, joint: {{type: revolute, name: q1}}, pose: {{xyz: [0.2, 0, 0]}}, {beam or "hub: {mass: 0.1}"}}}
  - {{name: b, joint: {{type: revolute, name: q2}}, pose: {{xyz: [{0 if beam else 1}, 0, 0]}},
     rigid: {{mass: 1, com: [0.5, 0.1, 0], inertia: {{Ixx: 0.1, Iyy: 0.1, Izz: 0.1}}}}}}
elements:
  - {{name: rope, type: spring, between: [world, b], points: [[0.2, 2, 0], [1, 0.5, 0]], stiffness: 70, rest: 2.5}}
"""
    robot = kronbot.loads(text)  # with the rope slack
    checked, asked = robot.check(), robot.modes()
    for case in ("locked", "free"):
        found = checked[f"frequency_{case}"] if f"frequency_{case}" in checked.arrays else np.zeros(0)  # nothing swings
        wanted = np.sort(asked[f"frequencies_{case}"])
        zeros = int((wanted < 1e-6).sum())
        assert (found[:zeros] == 0).all() and found[zeros:] == pytest.approx(wanted[zeros:], rel=1e-8)
    assert checked.summary["first_frequency_free"] > 1


HUNG = """
kronbot: 1
name: hung
gravity: [0, 0, -9.81]
base: {type: floating, rigid: {mass: 3, inertia: {Ixx: 0.1, Iyy: 0.2, Izz: 0.2}}}
links:
  - {name: arm, joint: {type: revolute, name: q1}, pose: {}, rigid: {mass: 1, com: [0.2, 0, 0]}}
elements:
  - {name: a, type: spring, between: [world, base], points: [[1, 0, 2], [0.3, 0, 0]], stiffness: 100}
  - {name: b, type: spring, between: [world, base], points: [[-1, 1, 2], [-0.3, 0.3, 0]], stiffness: 100}
  - {name: c, type: spring, between: [world, base], points: [[-1, -1, 2], [-0.3, -0.3, 0]], stiffness: 100}
"""


BEAM = "flexible: {length: 0.5, mass: 1, EI: {z: 300, y: 200}, modes: {v: 1, w: 1}}"


@pytest.mark.parametrize(("link", "order"), [("rigid: {mass: 1, com: [0.2, 0, 0]}", "2"), rare(BEAM, "1")])
def test_the_linear_solver_moves_a_hung_base_by_one_solve(link, order):
    """By forces and stiffness where nothing has moved, from the linear model there."""
    text = HUNG.replace("rigid: {mass: 1, com: [0.2, 0, 0]}", link)
    robot = kronbot.loads(text, order=order)
    force = [1.0, -2.0, 3.0]
    model = robot.linearize(q={"q1": 0.3}, force=force, tau=[0])
    free = [i for i, name in enumerate(robot.coordinates) if name != "q1"]
    moved = np.linalg.solve(model["K_L"][np.ix_(free, free)], model["h_L"][free])
    found = robot.statics(q=[0.3], forces=[force], solver="linear", outputs="position:base")
    names = [robot.coordinates[i] for i in free]
    assert [found[name][0] for name in names] == pytest.approx(moved, rel=1e-9, abs=1e-12)
    assert [found[f"position.base.{axis}"][0] for axis in "xyz"] == pytest.approx(moved[:3], rel=1e-9)
    if robot.model.flexible:
        with pytest.raises(kronbot.errors.UsageError, match="give joints, and where its base is, only, or take solver"):
            robot.statics(q={"arm.v1": 0.1}, solver="linear")


STEADY = """
kronbot: 1
name: steady
gravity: [0, 0, -10]
base: {type: floating, rigid: {mass: 59, inertia: {Ixx: 0.1, Iyy: 0.2, Izz: 0.2}}}
links:
  - {name: arm, joint: {type: revolute, name: q1}, pose: {}, rigid: {mass: 1}}
endpoint: {position: [0.2, 0.1, 0]}
elements:
  - {name: a, type: spring, between: [world, base], points: [[1, 0, 2], [0.3, 0, 0]], stiffness: 100}
  - {name: b, type: spring, between: [world, base], stiffness: 100,
     points: [[-1/2, sqrt(3)/2, 2], [-0.15, 0.15*sqrt(3), 0]]}
  - {name: c, type: spring, between: [world, base], stiffness: 100,
     points: [[-1/2, -sqrt(3)/2, 2], [-0.15, -0.15*sqrt(3), 0]]}
"""


@pytest.mark.slow
def test_the_linear_solver_is_what_newtons_comes_to_under_small_loads():
    """About a base that springs and weight hold at 0: the two differ by the square of the load."""
    robot, apart = kronbot.loads(STEADY), []
    for load in (2.0, 1.0):
        asked = {"q": [0.3], "forces": [[load, 0.3 * load, -0.5 * load]]}
        linear, newton = (robot.statics(solver=solver, **asked) for solver in ("linear", "newton"))
        names = [*robot.coordinates[:6], "endpoint.x", "endpoint.z", "torque.q1"]
        apart.append(np.array([linear[name][0] - newton[name][0] for name in names]))
        assert np.abs(apart[-1][:6]).max() < 0.1 * abs(newton["base.x"][0])
    assert np.linalg.norm(apart[0]) / np.linalg.norm(apart[1]) == pytest.approx(4, rel=0.1)


def test_check_tells_of_ends_that_meet():
    text = CRANE.replace("between: [world, bob]", "between: [world, bob], points: [[0, 0, 0], [0, 0, D]]")
    meeting, apart = (
        kronbot.loads(text.replace("points: [[0, 0, 0], [0, 0, D]]", f"points: [[0, 0, 0], [0, 0, {d}]]"))
        for d in (0, 1)
    )
    told, beside = meeting.check().warnings
    assert told.startswith("where all joints are at 0 the ends of element 'rope' meet")
    assert "q1 moves no inertia" in beside  # of a load on its axis
    assert "rope" not in meeting.check().summary["frequencies"]  # told once
    assert meeting.check().summary["warnings"] == 2 and list(apart.check().warnings) == [beside]
