"""Stops at the limits of joints: against motion from event to event in closed form, energy balances, equilibria."""

import math
import re
from pathlib import Path

import casadi
import numpy as np
import pytest
from hypothesis import strategies as st
from mechanics.test_recursion import check_against_lagrangian
from random_robots import robots
from robots_in_tests import loaded
from thinned import drawn, rare

import kronbot
from kronbot.compute.buffered import Buffered
from kronbot.compute.native import policy
from kronbot.mechanics.motion.contacts import Switching
from kronbot.mechanics.motion.equations import equations
from kronbot.questions.initial_state import initial_state, matrices

pytestmark = pytest.mark.usefixtures("interpreted")


@drawn(
    2,
    3,
    robots(max_links=3, max_coordinates=5, joined=True, stopped=True, yielding=True)
    | robots(max_links=2, max_coordinates=3, joined=True, stopped=True, yielding=True, floating=True),
    st.sampled_from([0, 1, 2]),
    st.integers(0, 10**6),
)
def test_recursion_composite_and_lagrangian_agree(robot, order, seed):
    """Random trees of everything, in their stops, some afloat: recursion = composite = brute force."""
    check_against_lagrangian(robot, order, seed)


EVERYTHING = {
    "kronbot": 1,
    "name": "everything",
    "gravity": [0.3, -0.5, -9.81],
    "base": {
        "type": "floating",
        "rigid": {"mass": 6, "com": [0.1, 0, 0.2], "inertia": {"Ixx": 1, "Iyy": 2, "Izz": 1.5}},
    },
    "links": [
        {
            "name": "arm",
            "joint": {
                "type": "revolute",
                "name": "q1",
                "rotor_inertia": 0.02,
                "gear": 3,
                "limits": [-0.1, 0.2],
                "stops": {"stiffness": 40, "damping": 0.9},
                "elastic": {"stiffness": 90, "damping": 0.2},
                "bearing": {"stiffness": {"x": 400}, "damping": {"x": 1}},
                "spring": {"stiffness": 4, "rest": 0.1},
            },
            "pose": {"xyz": [0.4, 0.1, 0], "rpy": [0.3, -0.7, 0.2]},
            "flexible": {"mass": 1.5, "length": 1, "EI": {"y": 120, "z": 60}, "modes": {"v": 1, "w": 1}, "root": 0.1},
        },
        {
            "name": "slide",
            "joint": {"type": "prismatic", "name": "q2", "damping": 0.3},
            "pose": {"xyz": [0, 0.1, 0.2], "rpy": [1, 0.2, 0]},
            "rigid": {"mass": 0.7, "com": [0.1, 0, 0.05], "inertia": {"Ixx": 0.02, "Iyy": 0.04, "Izz": 0.03}},
        },
    ],
    "elements": [
        {
            "name": "rope",
            "type": "spring",
            "between": ["world", "arm"],
            "points": [[1, 2, 3], [0.1, 0, 0.05]],
            "stiffness": 50,
            "rest": 0.4,
            "damping": 0.6,
        },
        {"name": "pull", "type": "damper", "between": ["base", "slide"], "damping": 1.2, "force": 0.3},
    ],
}


@pytest.mark.slow
def test_everything_at_once_agrees():
    """What few random robots leave to chance: bending in both planes afloat, in a stop, behind shaft and bearing."""
    check_against_lagrangian(EVERYTHING, 2, seed=2)


DROPPED = """
kronbot: 1
name: dropped
gravity: [0, 0, -9.81]
parameters: {k: 2e4, c: 30}
links:
  - name: block
    joint: {type: prismatic, name: h, limits: [0, 3], stops: {stiffness: k, damping: c}}
    pose: {}
    rigid: {mass: 2}
"""
G, MASS, K, C = 9.81, 2.0, 2e4, 30.0


def bounces(height, times, mass=MASS, g=G):
    """Heights and rates at times, flight by flight: parabolas, and damped swings that end where the force is zero."""
    decay, turning = C / (2 * mass), math.sqrt(K / mass - (C / (2 * mass)) ** 2)
    sag = mass * g / K

    def contact(s, entering):
        """Depth and its rate after s from depth 0."""
        a, b = -sag, (entering - decay * sag) / turning
        swing, fade = (math.cos(turning * s), math.sin(turning * s)), math.exp(-decay * s)
        depth = sag + fade * (a * swing[0] + b * swing[1])
        rate = fade * ((b * turning - decay * a) * swing[0] - (a * turning + decay * b) * swing[1])
        return depth, rate

    pieces, t, h, v = [], 0.0, height, 0.0
    while t < times[-1]:
        flight = (v + math.sqrt(v * v + 2 * g * h)) / g
        pieces.append((t, lambda s, h=h, v=v: (h + v * s - g * s * s / 2, v - g * s)))
        t += flight
        entering = g * flight - v
        pieces.append((t, lambda s, entering=entering: tuple(-each for each in contact(s, entering))))
        low, high = 1e-4, 2 * math.pi / turning
        while K * contact(high, entering)[0] + C * contact(high, entering)[1] > 0:
            high /= 1.01
        for _ in range(200):
            middle = (low + high) / 2
            depth, rate = contact(middle, entering)
            low, high = (middle, high) if K * depth + C * rate > 0 else (low, middle)
        depth, rate = contact(low, entering)
        t, h, v = t + low, -depth, -rate
    return np.array([next(of(at - begin) for begin, of in reversed(pieces) if begin <= at) for at in times]).T


@pytest.fixture(scope="module")
def dropped():
    return kronbot.loads(DROPPED)


@pytest.mark.parametrize(("solver", "rtol"), [rare("cvodes", 1e-11), rare("rodas", 1e-9), ("dop853", 1e-10)])
def test_a_block_bounces_from_event_to_event(dropped, solver, rtol):
    run = dropped.simulate(q=[0.5], duration=1.6, step=0.02, solver=solver, rtol=rtol, atol=1e-12)
    heights, rates = bounces(0.5, run["t"])
    assert np.abs(run["h"] - heights).max() < 1e-9
    assert np.abs(run["h_dot"] - rates).max() < 1e-7
    assert run.summary["stop_events"] == 6
    assert run.summary["energy_drift"] < 1e-8
    assert not run.warnings
    assert run["energy.dissipated"][-1] > 1


def test_a_block_is_pushed_down_from_outside():
    """By as much as it weighs, without weight: it bounces as often, and the force works."""
    text = DROPPED.replace("-9.81]", "0]") + f"simulate: {{forces: [{{frame: block, force: [0, 0, {-MASS * G}]}}]}}\n"
    run = kronbot.loads(text).simulate(q=[0.5], duration=1.6, step=0.02, solver="dop853", rtol=1e-10, atol=1e-12)
    heights, _ = bounces(0.5, run["t"])
    assert run["h"] == pytest.approx(heights, abs=1e-9)
    assert run["energy.work"] == pytest.approx(MASS * G * (0.5 - run["h"]), abs=1e-7)
    assert run.summary["stop_events"] == 6 and run.summary["energy_drift"] < 1e-8


@pytest.mark.slow
def test_a_block_bounces_on_a_base_that_floats():
    """What is between them moves as a block of the reduced mass m M/(m + M) does; the whole stays where it is."""
    base, push = 3.0, 20.0
    text = (
        DROPPED.replace("-9.81]", "0]")
        + f"""
base: {{type: floating, rigid: {{mass: {base}, inertia: {{Ixx: 1, Iyy: 1, Izz: 1}}}}}}
simulate: {{drive: {{h: {{torque: {-push}}}}}}}
"""
    )
    run = kronbot.loads(text).simulate(q={"h": 0.5}, duration=1.2, step=0.02, solver="dop853", rtol=1e-10, atol=1e-12)
    reduced = MASS * base / (MASS + base)
    heights, _ = bounces(0.5, run["t"], reduced, push / reduced)
    assert run["h"] == pytest.approx(heights, abs=1e-8)
    centre = (MASS * (run["base.z"] + run["h"]) + base * run["base.z"]) / (MASS + base)
    assert np.abs(centre - MASS * 0.5 / (MASS + base)).max() < 1e-9
    assert run.summary["stop_events"] >= 4 and run.summary["energy_drift"] < 1e-8
    assert run.summary["momentum_change"] < 1e-9


TRUSS = """
kronbot: 1
name: truss
gravity: [0, 0, 0]
links:
  - {name: top, joint: {type: prismatic, name: s, limits: [0.4, 9], stops: {stiffness: KS}}, pose: {}, rigid: {mass: 1}}
elements:
  - {name: bar, type: spring, between: [world, top], points: [[1, 0, 0], [0, 0, 0]], stiffness: 1000, rest: sqrt(1.25)}
"""


def truss(s, stop):
    """The load under which the flat truss stands at the height s, its bars 0.5 high without one, on a stop at 0.4."""
    length = math.hypot(1, s)
    return 1000 * (math.sqrt(1.25) - length) * s / length + stop * max(0.0, 0.4 - s)


@pytest.mark.parametrize("stop", [0.001, rare(50.0)])
def test_a_truss_on_a_stop_snaps_later(stop):
    """Where 1000 (L0/L^3 - 1) is the stiffness of the stop, which its height bends the path to."""
    robot = kronbot.loads(TRUSS.replace("KS", str(stop)))
    length = (math.sqrt(1.25) / (1 + stop / 1000)) ** (1 / 3)
    most = truss(math.sqrt(length**2 - 1), stop)
    asked = {"q": [0.5], "tau": {"s": 0}}
    found = robot.statics(forces=[[0, 0, -10]], buckling=True, **asked).summary
    assert found["buckling_factor"] == pytest.approx(most / 10, rel=1e-7)
    for share in (0.5, 0.97):
        height = robot.statics(forces=[[0, 0, -share * most]], **asked)["angle.s"][0]
        assert truss(height, stop) == pytest.approx(share * most, rel=1e-9)
    with pytest.raises(kronbot.errors.ComputationError, match=r"no stable path of equilibria beyond 0\.990"):
        robot.statics(forces=[[0, 0, -1.01 * most]], **asked)


def test_a_stiff_stop_keeps_a_truss_from_snapping():
    robot = kronbot.loads(TRUSS.replace("KS", "5000"))
    asked = {"q": [0.5], "tau": {"s": 0}}
    assert "none up to" in robot.statics(forces=[[0, 0, -10]], buckling=True, **asked).summary["buckling"]
    for load in (5, 50, 500):
        assert truss(robot.statics(forces=[[0, 0, -load]], **asked)["angle.s"][0], 5000) == pytest.approx(
            load, rel=1e-9
        )


LEANING = """
kronbot: 1
name: leaning
gravity: [0, -10, 0]
links:
  - name: rod
    joint: {type: revolute, name: q, limits: [0, 2], stops: {stiffness: 50}}
    pose: {rpy: [0, 0, pi/2 - 0.1 * SIDE]}
    rigid: {mass: 1, com: [0.5, 0, 0]}
"""


def test_a_path_that_begins_at_a_stop_is_that_of_the_side_that_holds():
    """A rod that leans towards its stop rests on it, and does not balance upright on the other side, to where a path
    leads that has no stop yet; one that leans away falls."""
    robot = kronbot.loads(LEANING.replace("SIDE", "1"))
    (low, began) = (float(robot.statics(tau={"q": 0}, q=q)["angle.q"][0]) for q in (None, [-1e-6]))
    assert low == pytest.approx(began, rel=1e-9) and low < 0
    assert 50 * -low == pytest.approx(5 * math.sin(0.1 - low), rel=1e-9)
    with pytest.raises(kronbot.errors.ComputationError, match="no stable path of equilibria beyond 0 of"):
        kronbot.loads(LEANING.replace("SIDE", "-1")).statics(tau={"q": 0})


def test_cures_are_those_that_can_help():
    """Nothing of a truss is bent, and a weight is no load that could be smaller; it bears a share of either."""
    heavy = TRUSS.replace("gravity: [0, 0, 0]", "gravity: [0, 0, -100]").replace("KS", "0.001")
    said = []
    for text, given in ((heavy, {}), (TRUSS.replace("KS", "0.001"), {"forces": [[0, 0, -100]]})):
        robot, asked = kronbot.loads(text), {"q": [0.5], "tau": {"s": 0}, **given}
        with pytest.raises(kronbot.errors.ComputationError, match="no stable path of equilibria") as lost:
            robot.statics(**asked)
        said.append(str(lost.value).partition("rigid; ")[2])
        assert robot.statics(**asked, buckling=True).summary["buckling_factor"] < 1
    what = "other angles, or buckling to see what it bears"
    assert said == [f"try {what}", f"try a smaller load, {what}"]


def test_its_steps_do_not_depend_on_its_rows(dropped):
    few, many = (dropped.simulate(q=[0.5], duration=0.5, step=step, solver="rodas") for step in (0.1, 0.01))
    assert few.summary["steps"] == many.summary["steps"]
    assert few["h"].tolist() == many["h"][::10].tolist()


HANGING = """
kronbot: 1
name: hanging
convention: standard
gravity: [0, -9.81, 0]
links:
  - name: upper
    joint: {type: revolute, name: q1, limits: [-2, -1], stops: {stiffness: 300, damping: 2}, damping: 0.3,
            elastic: {stiffness: 200, damping: 1}, rotor_inertia: 0.05, friction: {coulomb: 1, smoothing: 0.1}}
    dh: {a: 0.8, d: 0, alpha: 0, theta: 0}
    flexible: {mass: 2, EI: {z: 300}, modes: {v: 1}}
  - name: fore
    joint: {type: revolute, name: q2, follows: -q1/2 + 0.3, limits: [0.9, 1.1], stops: {stiffness: 100, damping: 1}}
    dh: {a: 0.6, d: 0, alpha: 0, theta: 0}
    rigid: {mass: 1, com: [-0.3, 0, 0], inertia: {Izz: 0.1}}
elements:
  - {name: stay, type: spring, between: [world, fore], points: [[1, 0, 0], [0, 0, 0]], stiffness: 15, rest: 0.5,
     damping: 3, force: 2}
"""


SHAKEN = HANGING.replace("coulomb: 1, smoothing: 0.1", "coulomb: 1, static: 1.4, stribeck_rate: 0.1, smoothing: 1e-2")
SHAKEN += """
simulate:
  forces:
    - {frame: fore, force: {type: sinusoid, amplitude: [3, -2, 0], frequency: 9}}
    - {frame: endpoint, axes: body, force: {type: step, value: [0, 5, 0], start: 0.3, end: 0.5}}
"""


def test_stops_that_are_far_cost_no_steps():
    """A piece in which a contact is further away than it moves is not gone over again."""
    text = """
kronbot: 1
name: swing
gravity: [0, -9.81, 0]
links:
  - name: bob
    joint: {type: revolute, name: q1, limits: [-1, 1], stops: {stiffness: 4000, damping: 1}}
    pose: {rpy: [0, 0, -pi/2]}
    rigid: {mass: 1, com: [0.5, 0, 0], inertia: {Izz: 0.1}}
"""
    free = text.replace(", limits: [-1, 1], stops: {stiffness: 4000, damping: 1}", "")
    runs = [loaded(each).simulate(4.0, 0.1, q=[0.3]) for each in (text, free)]
    steps = [run.summary["steps"] for run in runs]
    assert runs[0]["q1"] == pytest.approx(runs[1]["q1"], abs=1e-6) and steps[0] < 1.1 * steps[1]
    reached = loaded(text).simulate(4.0, 0.1, q=[0.98], qd=[1.0]).summary
    assert reached["stop_events"] >= 2


@pytest.mark.parametrize("solver", [rare("cvodes"), "rodas", rare("dop853")])
def test_energy_is_balanced_with_everything_that_takes_and_gives(solver):
    """A shaft, a beam, friction, stops, an element, forces from outside: at the tolerances of runs by default."""
    run = loaded(SHAKEN, "1").simulate(q={"q1": -1.4}, qd={"q1": 3}, duration=0.6, solver=solver)
    assert run.summary["energy_drift"] < 1e-8
    assert run.summary["stop_events"] >= 2
    assert max(run["q1"].max() + 1, (0.3 - run["q1"] / 2).max() - 1.1) > 0.01


BOUNCING = """
kronbot: 1
name: bouncing
gravity: [0, 0, -9.81]
links:
  - name: a
    joint: {type: revolute, name: q1, damping: 0.05, friction: {coulomb: 0.3, smoothing: 0.05}, limits: [-0.4, 0.6],
            stops: {stiffness: 4000, damping: 3}}
    pose: {rpy: [pi/2, 0, 0]}
    rigid: {mass: 2, com: [0.3, 0, 0], inertia: {Ixx: 0.01, Iyy: 0.08, Izz: 0.08}}
  - name: b
    joint: {type: revolute, name: q2, spring: {stiffness: 5, rest: 0.2}, limits: [-0.5, 0.8], stops: {stiffness: 2000}}
    pose: {xyz: [0.6, 0, 0]}
    rigid: {mass: 1, com: [0.25, 0, 0], inertia: {Ixx: 0.01, Iyy: 0.04, Izz: 0.04}}
elements:
  - {name: e, type: spring, between: [world, b], points: [[0.5, 0, 1], [0.3, 0, 0]], stiffness: 30, rest: 0.5,
     damping: 0.3}
simulate: {forces: [{frame: endpoint, force: {type: sinusoid, amplitude: [5, 0, 3], frequency: 7}}]}
"""


def test_what_many_contacts_leave_of_the_energy_is_the_error_of_steps():
    """No contact leaves more than its steps do."""
    start = {"qd": {"q1": 3, "q2": -2}, "duration": 3, "step": 0.05, "solver": "dop853"}
    run = loaded(BOUNCING).simulate(**start, rtol=1e-9, atol=1e-11)
    assert run.summary["stop_events"] == 16
    assert run.summary["energy_drift"] < 1e-10


def test_a_stop_loses_what_it_held_and_the_block_has_not(dropped):
    """Thrown up from within a stop: k d^2/2 at first, in flight what the motion has of it, the rest is lost."""
    run = dropped.simulate(q=[-0.02], duration=0.3, step=0.005, solver="dop853", rtol=1e-10)
    moving = MASS * (run["h_dot"] ** 2 / 2 + G * run["h"])
    assert run["energy.elastic"][0] == K * 0.02**2 / 2 and run["energy.dissipated"][0] == 0
    flying = run["h"] > 0
    assert 50 < flying.sum() < 60
    assert run["energy.dissipated"][flying] == pytest.approx(moving[0] + 4 - moving[flying], abs=1e-8)


@pytest.mark.slow
def test_contacts_are_found_whatever_the_tolerance():
    """Where a step is refused right after one, and where two integrations to its time differ within tolerances."""
    robot = kronbot.loads(HANGING, order="1")
    right = robot.simulate(duration=1, step=0.05, rtol=1e-7, atol=1e-9)["q1"]
    for solver, tolerance in (("rodas", 1e-2), ("rodas", 1e-4), ("dop853", 0.1), ("radau", 1e-2)):
        found = robot.simulate(duration=1, step=0.05, solver=solver, rtol=tolerance, atol=tolerance)
        assert found.summary["stop_events"] > 0
        assert found["q1"] == pytest.approx(right, abs=tolerance)


@pytest.mark.parametrize("begin", [0.0, 4.0])
def test_a_contact_that_has_just_begun_ends_later(begin):
    """An undamped one has no force at first: it is looked at again within the block, and ends half a swing later."""
    w, entering, end = 3.0, 0.2, begin + 1.9
    x, t = casadi.SX.sym("x", 2), casadi.SX.sym("t")
    touching = casadi.SX.sym("touching")
    seen = casadi.vertcat(x[0], w**2 * x[0], x[1])

    def swing(start, at, time):
        s = time - start
        return np.array(
            [at[0] * np.cos(w * s) + at[1] / w * np.sin(w * s), at[1] * np.cos(w * s) - w * at[0] * np.sin(w * s)]
        )

    first = np.array([0.0, entering])
    look = Buffered(casadi.Function("look", [t, x, touching], [seen]))
    contacts = Switching(flags := np.zeros(1), look, flags, swing)
    contacts.set(begin, np.array([-1e-9, entering]))
    contacts.change(0, begin, first)
    assert flags == [1.0]
    assert contacts.first_change(begin, first, end, swing(begin, first, end)) == (
        pytest.approx(begin + np.pi / w, rel=1e-14),
        0,
    )


def test_forces_are_those_of_the_law_and_never_pull(dropped):
    """By differences of energy, by the law, at the edges, in every algorithm."""

    def pushed(h, rate):
        return MASS * G - float(dropped.dynamics(q=[h], qd=[rate], qdd=[0]).arrays["tau"].values[0])

    assert pushed(0.1, -5) == pushed(0, -5) == pytest.approx(0, abs=1e-13)
    assert pushed(-0.01, 0) == pytest.approx(200)
    assert pushed(-0.01, -2) == pytest.approx(260)
    assert pushed(-0.01, 6) == pytest.approx(20)
    assert pushed(-0.01, 7) == pytest.approx(0, abs=1e-13)
    assert pushed(3.02, 0.5) == pytest.approx(-415)


def test_statics_leans_on_a_stop_and_linear_models_say_so(dropped):
    depth = (50 + MASS * G) / K
    resting = dropped.statics(q=[-0.001], tau={"h": -50})
    assert resting["angle.h"] == pytest.approx([-depth], rel=1e-10)
    assert resting["energy.elastic"] == pytest.approx([K * depth**2 / 2], rel=1e-10)
    sprung = kronbot.loads(DROPPED.replace("name: h,", "name: h, spring: {stiffness: 100, rest: 0.3},"))
    for posture in (0.1, 0.5, -0.1):  # from outside the path goes through where the stop begins
        lying = sprung.statics(q=[posture], tau={"h": -50})
        assert lying["angle.h"] == pytest.approx([-(50 + MASS * G - 30) / (K + 100)], rel=1e-9)
        assert not any("beyond its limit" in told for told in lying.warnings)
    linear = dropped.linearize(q=[-depth], tau=[-50])
    assert linear["K_L"][0, 0] == pytest.approx(K) and linear["D_L"][0, 0] == pytest.approx(C)
    assert any("h is in its stop at 0 m" in told and "deep: it holds" in told for told in linear.warnings)
    assert not any("beyond its limit" in told for told in linear.warnings)
    edge = dropped.linearize(q=[0])
    assert edge["K_L"][0, 0] == 0
    assert any("h is exactly at its stop at 0 m" in told for told in edge.warnings)
    assert not any("stop" in told for told in dropped.linearize(q=[1]).warnings)


FINGERS = """
kronbot: 1
name: fingers
gravity: [0, 0, 0]
links:
  - name: a
    joint: {type: revolute, name: q1, spring: {stiffness: 0.05, rest: 0}, limits: [0, 2], stops: {stiffness: 20}}
    pose: {}
    rigid: {mass: 0.1, inertia: {Izz: 1e-4}}
  - name: b
    joint: {type: revolute, name: q2, spring: {stiffness: 0.05, rest: 0}, limits: [0, 2], stops: {stiffness: 20}}
    pose: {xyz: [0.1, 0, 0]}
    rigid: {mass: 0.1, inertia: {Izz: 1e-4}}
endpoint: {link: b, position: [0.1, 0, 0]}
"""


def edges(answer):
    return [str(told) for told in answer.warnings if "exactly at" in told]


def test_compliance_of_one_side_of_a_stop_is_told_as_such():
    """Where the joints are free to come to their stops; 400 times as stiff the other way."""
    robot, free = kronbot.loads(FINGERS), {"q1": 0, "q2": 0}
    at = robot.statics(q=[0, 0], tau=free)
    assert edges(at) == edges(robot.linearize(q=[0, 0])) and len(edges(at)) == 2
    pushed = [robot.statics(q=[0, 0], tau=free, forces=[[0, sign * 1e-6, 0]]) for sign in (1, -1)]
    away, against = (abs(each["endpoint.y"][0]) for each in pushed)
    assert at["compliance"][1, 1] == pytest.approx(away / 1e-6, rel=1e-3)
    assert away / against == pytest.approx(401, rel=1e-3)
    assert not any(edges(each) for each in pushed)
    assert edges(robot.statics(q=[0, 0], tau={"q2": 0})) == edges(at)[1:]  # q1 is held
    assert not edges(robot.statics(q=[0, 0]))
    several = robot.statics(q=[0, 0], tau=free, forces=[[0, 0, 0], [0, 1e-6, 0]])
    assert edges(several) == [f"in 1 of 2 cases, first in case 1: {told}" for told in edges(at)]


@pytest.mark.parametrize(("depth", "side"), [(-1e-17, "other side"), (1e-17, "side where it holds")])
def test_rounding_has_the_side_of_an_edge(depth, side):
    robot = kronbot.loads(FINGERS)
    (told,) = edges(robot.linearize(q=[-depth, 1]))
    assert told.startswith("q1 is exactly at its stop at 0 rad") and told.endswith(f"that of the {side}")


REACHING = """
kronbot: 1
name: reaching
gravity: [0, -9.81, 0]
links:
  - {name: a, joint: {type: revolute, name: q1, limits: [-1, 0.7], stops: {stiffness: 1e4, damping: 3}},
     pose: {}, rigid: {mass: 1, com: [0.4, 0, 0]}}
  - {name: b, joint: {type: revolute, name: q2, limits: [-0.3, 1], stops: {stiffness: 1e4}},
     pose: {xyz: [1, 0, 0]}, rigid: {mass: 1, com: [0.4, 0, 0]}}
  - {name: c, joint: {type: revolute, name: q3, limits: [-1.1, 0.9], stops: {stiffness: 1e4}},
     pose: {xyz: [1, 0, 0]}, rigid: {mass: 1, com: [0.4, 0, 0]}}
  - name: d
    joint: {type: revolute, name: q4}
    pose: {xyz: [1, 0, 0]}
    flexible: {length: 1, mass: 1, EI: {z: 50}, modes: {v: 1}, shape: craig-bampton}
elements:
  - {name: rope, type: tendon, between: [world, a], points: [[1.1, -2.3, 0], [0, 0, 0]], stiffness: 1e4, rest: hypot}
motion: {q1: {type: polynomial, from: 0.2, to: 0.7, duration: 1, degree: 5}}
""".replace("hypot", "sqrt(0.1**2 + 2.3**2)")


def test_exactly_at_what_is_one_sided_models_are_those_of_the_free_side():
    """Not those of both sides, as if what jumps there were rounding: at stops, and a tendon at its rest."""
    arm = kronbot.loads(REACHING)
    posture = {"q1": 0.7, "q2": -0.3, "q3": 0.9}
    inside = {name: value * (1 - 1e-9) for name, value in posture.items()}
    for question in (arm.modes, arm.linearize):
        at, beside = question(q=posture), question(q=inside)
        for name in (name for name in at.arrays if name.startswith(("frequencies", "poles"))):
            assert at[name] == pytest.approx(beside[name], rel=1e-7)
        told = [{word: said for word, said in each.summary.items() if isinstance(said, str)} for each in (at, beside)]
        assert told[0] == told[1]
    free = kronbot.loads(REACHING.replace(", stops: {stiffness: 1e4, damping: 3}", ""))
    assert arm.linearize_along(duration=1, step=0.5)["K_L"] == pytest.approx(
        free.linearize_along(duration=1, step=0.5)["K_L"], rel=1e-12, abs=1e-12
    )


SLIDERS = """
kronbot: 1
name: sliders
gravity: [0, 0, -9.81]
links:
"""
SLIDER = """\
  - name: NAME
    parent: world
    joint: {type: prismatic, name: yNAME, limits: [-9, 0.8]STOP}
    pose: {rpy: [-pi/2, 0, 0]}
    rigid: {mass: 8}
"""
STOP = ", stops: {stiffness: 2e4, damping: 100}"
ROPE, SPRING = (
    f"  - {{name: eNAME, type: {kind}, between: [world, NAME], points: [[0, -1, 0], [0, 0, 0]], {more}}}\n"
    for kind, more in (("tendon", "stiffness: 2e4, rest: 1.8, damping: 100"), ("spring", "stiffness: 300, rest: 1"))
)
CONTROLLED = """
endpoint: {link: a}
simulate: {duration: 1.6, step: 1.6, drive: {ya: {pd: {kp: 2000, kd: 250, target: 1.2}}}}
control:
  yb: {pid: {kp: 2000, kd: 250}, target: 1.2}
  yc: {pid: {kp: 2000, kd: 250}, target: 1.2, gravity: flexible}
  yd: {pid: {kp: 2000, kd: 250}, target: 1.2, gravity: none}
"""


def pressed(stop, beside):
    """Four sliders, each with its controller."""
    sliders, elements = ("".join(part.replace("NAME", name) for name in "abcd") for part in (SLIDER, beside))
    return kronbot.loads(
        SLIDERS + sliders.replace("STOP", stop) + (f"elements:\n{elements}" if beside else "") + CONTROLLED
    )


HOLDING = pytest.mark.parametrize(("stop", "beside", "spring"), [(STOP, SPRING, 300), rare("", ROPE, 0)])


@HOLDING
def test_loops_at_what_is_one_sided_are_as_stiff_as_it(stop, beside, spring):
    """K_L = kp + k: springs are compensated, contacts are not; but without compensation."""
    found = pressed(stop, beside).linearize(q=[0.9] * 4, closed_loop=True, equilibrium=True)["K_L"]
    assert found == pytest.approx(np.diag([22000.0, 22000, 22000, 22000 + spring]), rel=1e-9, abs=1e-9)


@pytest.mark.slow
@HOLDING
def test_controllers_press_against_what_is_one_sided(stop, beside, spring):
    """kp (1.2 - y) = k (y - 0.8), beside springs that are compensated but for the last."""
    found, y = pressed(stop, beside).simulate(), (2000 * 1.2 + 2e4 * 0.8) / (22000 + np.array([0, 0, 0, spring]))
    assert [found[f"y{name}"][-1] for name in "abcd"] == pytest.approx(y, abs=1e-6)
    torques = [found[f"torque.y{name}"][-1] for name in "abcd"]
    assert torques == pytest.approx(2e4 * (y - 0.8) + spring * y, rel=1e-6)


@pytest.mark.slow
def test_torques_along_a_motion_know_nothing_of_stops():
    """A motion that goes on beyond a stop is that of an arm without one, m qdd: what it wants of its drive at rest."""
    slider = SLIDER.replace("NAME", "a").replace("STOP", STOP)
    robot = kronbot.loads(SLIDERS + slider + "motion: {ya: {type: cycloidal, from: 0, to: 1.2, duration: 2}}\n")
    t = np.linspace(0, 3, 7)
    wanted = np.where(t < 2, 8 * 2 * math.pi * 1.2 / 2**2 * np.sin(math.pi * t), 0)
    assert robot.simulate(3, 0.5)["torque.ya"] == pytest.approx(wanted, abs=1e-9)


def test_a_link_behind_a_shaft_is_held_by_its_stop():
    """Statics with the motor beyond: shaft, weight and stop are in balance, as dynamics has them."""
    text = HANGING[: HANGING.index("elements:")].replace(
        "flexible: {mass: 2, EI: {z: 300}, modes: {v: 1}}", "rigid: {mass: 2}"
    )
    unheld = text.replace("stops: {stiffness: 300, damping: 2}, ", "")
    held, free = (loaded(said).statics(q=[-0.4]) for said in (text, unheld))
    assert -1 < held["q1"][0] < free["q1"][0] - 0.05
    tau = loaded(text).dynamics(q=[held["q1"][0], -0.4], qd=[0, 0], qdd=[0, 0]).arrays["tau"].values
    assert tau == pytest.approx([0, held["torque.q1"][0]], abs=1e-8)
    about = loaded(text).linearize(q={"q1.motor": -0.4, "q1": -1.2}, equilibrium=True)
    assert about.at["q"]["q1"] == pytest.approx(held["q1"][0], abs=1e-10)
    assert any("q1 is in its stop at -1 rad" in told for told in about.warnings)


def test_a_run_knows_how_stiff_its_elements_and_stops_are():
    """K and D at the start, by which vibrations are told apart: without weight those of the linear model, stop and
    all."""
    text = HANGING.replace("[0, -9.81, 0]", "[0, 0, 0]").replace(", friction: {coulomb: 1, smoothing: 0.1}", "")
    robot, q = kronbot.loads(text), {"q1": -0.9, "q1.motor": -0.9}
    system = equations(robot.model, "recursive")
    found = matrices(robot.model, system, initial_state(robot.model, system, "straight", {0: -0.9, 1: -0.9}, {}))
    wanted = robot.linearize(q=q, tau=[0])
    for name in "MDK":
        assert found[name].reshape(3, 3) == pytest.approx(wanted[f"{name}_L"], rel=1e-9, abs=1e-9)


def test_what_stops_need_is_told():
    with pytest.raises(kronbot.errors.DescriptionError, match="stops stand at the limits of a joint: give it 'limits'"):
        kronbot.loads(DROPPED.replace("limits: [0, 3], ", ""))
    with pytest.raises(kronbot.errors.DescriptionError, match="a fixed joint has no 'stops'"):
        kronbot.loads(DROPPED.replace("prismatic, name: h, limits: [0, 3]", "fixed"))


@pytest.fixture(scope="module")
def stiff():
    return kronbot.load(str(Path(__file__).parents[1] / "data" / "held.yaml"), order=0)


@pytest.mark.slow
def test_native_code_runs_into_stops_as_any_does(stiff):
    """The same bytes, event by event, with every kind of element; energy is balanced."""
    runs = {}
    for choice in ("off", "on"):
        with policy.native(choice):
            runs[choice] = stiff.simulate(0.2, 0.02, q={"q1": 0.3}, rtol=1e-9, atol=1e-10)
    for name, column in runs["off"].series.items():
        assert column.tobytes() == runs["on"][name].tobytes(), name
    assert runs["on"].summary["stop_events"] > 0 and runs["on"].summary["energy_drift"] < 1e-8


def test_formulas_hold_stops(dropped):
    """Symbolic = numeric, in contact and out of it."""
    (written,) = dropped.symbolic("python").dynamics()["g"]

    def piecewise(*branches):
        return next(value for value, true in branches if true)

    for h in (-0.2, 0.5, 3.1):
        known = {"h": h, "k": K, "Max": max, "Piecewise": piecewise}
        assert eval(written, {}, known) == pytest.approx(dropped.dynamics(q=[h])["g"][0], rel=1e-13)  # noqa: S307


@pytest.mark.slow
def test_rows_of_sweeps_are_those_of_runs_into_stops(stiff, swept_here):
    over, asked = {"k": [200, 400], "F": [-5]}, {"duration": 0.05, "step": 0.05, "q": {"q1": 0.3}}
    with policy.native("off"):
        rows = [*stiff.sweep("simulate", over=over, keep="last(q1)", workers=1, **asked)]
        for row in rows:
            assert row["last(q1)"] == stiff.with_parameters(k=row["k"], F=row["F"]).simulate(**asked)["q1"][-1]
    assert len({row["last(q1)"] for row in rows}) == 2


def test_an_element_and_stops_cost_operations(stiff):
    """The same robot without them takes fewer."""
    text = (Path(__file__).parents[1] / "data" / "held.yaml").read_text()
    bare = kronbot.loads(re.sub(r", stops: {[^}]*}", "", text[: text.index("elements:")]), order=0)
    with_them, without = (each.complexity("inverse")["operations"][0] for each in (stiff, bare))
    assert (with_them >= without).all() and with_them.sum() > without.sum() + 50
