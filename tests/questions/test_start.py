"""Flexible arms that start in the equilibrium of their first posture: no step of gravity at t = 0."""

import numpy as np
import pytest
from robots_in_tests import columns, model, run
from thinned import rare

import kronbot
from kronbot.cli.main import run as command_line
from kronbot.compute.trace import Trace
from kronbot.errors import ComputationError, UsageError
from kronbot.library.robot import Robot
from kronbot.mechanics.motion.equations import equations

pytestmark = pytest.mark.usefixtures("interpreted", "unmeasured")

ARM = """
kronbot: 1
name: sagging
convention: standard
gravity: [0.5, -9.81, 1]
links:
  - name: upper
    joint: {type: revolute, name: q1}
    dh: {a: 0.9, d: 0.1, alpha: 0.4, theta: 0}
    flexible: {mass: 0.3, EI: {y: 20, z: 11.2}, modes: {v: 1, w: 1}, shape: craig-bampton}
  - name: fore
    joint: {type: prismatic, name: q2}
    dh: {a: 0.4, d: 0, alpha: 0, theta: 0.3}
    rigid: {mass: 0.1}
    payload: {mass: 0.25, com: [0, 0.05, 0]}
simulate: {duration: 0.3, step: 0.05, drive: {q1: DRIVE, q2: {motion: HELD}}}
"""
HELD = "{type: polynomial, from: 0.2, to: 0.2, duration: 1, degree: 5}"


def arm(drive="{motion: HELD}", order="2"):
    return Robot(model(ARM.replace("DRIVE", drive).replace("HELD", HELD), order))


def first_accelerations(robot, series):
    """Of the free coordinates at the first row, by their place."""
    system = equations(robot, "recursive")
    q = np.array([series[name][0] for name in robot.coordinates])
    qd = np.array([series[f"{name}_dot"][0] for name in robot.coordinates])
    trace = Trace(robot.parameters, {"t": system.t, "x": system.x}, {"rate": system.rate}, "test")
    accounts = np.zeros(system.x.numel() - 2 * len(system.free))
    rate = trace(0.0, np.concatenate([q[system.free], qd[system.free], accounts]))["rate"]
    return dict(zip(system.free, rate[len(system.free) :], strict=False))


@pytest.mark.parametrize("order", [rare("1"), "2", rare("exact")])
def test_held_joints_and_beams_stay_where_they_are(order):
    """Accelerations are those that rounding of Newton's method (1e-12 rad) leaves: 1e-12 of stiffness over mass."""
    text = ARM.replace("DRIVE", "{motion: HELD}").replace("HELD", HELD)
    # Both directions of the exact rod would take half a minute, most of it tracing.
    robot = model(text.replace(", w: 1", "") if order == "exact" else text, order)
    answer = run(robot, start="equilibrium", duration=0.1).result
    assert answer.summary["start"] == "equilibrium"
    assert max(map(abs, first_accelerations(robot, answer.series).values())) < 1e-6
    straight = run(robot, duration=0.05).result
    assert min(map(abs, first_accelerations(robot, straight.series).values())) > 0.5
    q = columns(answer.series, *robot.coordinates)
    assert np.abs(q[:, list(robot.flexible)]).min() > 1e-3
    assert np.abs(q - q[0]).max() < 1e-9


def test_constant_torques_of_the_statics_hold_it():
    """The torque that statics gives, as a constant: nothing moves, the free joint neither."""
    wanted = arm().statics(q={"q1": 0.7, "q2": 0.2})
    robot = arm(f"{{torque: {float(wanted['torque.q1'][0])!r}}}")
    answer = run(robot, q={"q1": 0.7}, start="equilibrium", duration=0.1).result
    assert max(map(abs, first_accelerations(robot.model, answer.series).values())) < 1e-6
    for name in robot.coordinates[1:3]:
        assert answer.series[name][0] == pytest.approx(wanted[name][0], abs=1e-11)
        assert np.abs(answer.series[name] - wanted[name][0]).max() < 1e-8
    assert np.abs(answer.series["q1"] - 0.7).max() < 1e-8


@pytest.mark.slow
def test_a_controller_starts_in_the_same_sag_with_the_rates_given():
    """Beams lie in the equilibrium of the first posture whatever drives the joint, and move as they are told."""
    robot = arm("{pd: {kp: 50, kd: 5, target: 0.7}}")
    wanted = robot.statics(q={"q1": 0.7, "q2": 0.2})
    start = run(robot, q={"q1": 0.7}, qd={"upper.v1": 0.1, "q1": 0.2}, start="equilibrium", duration=0.01).result.at
    for name in robot.coordinates[1:3]:
        assert start["q"][name] == pytest.approx(wanted[name][0], abs=1e-11)
    assert [start["qd"][name] for name in ("q1", "upper.v1", "upper.w1")] == [0.2, 0.1, 0]


@pytest.mark.parametrize("given", ["q1", "q1.motor"])
def test_followers_with_a_shaft_start_slack_wherever_what_they_follow_is_said_to_be(given):
    """As in kinematics: else the run would begin with a spring that is wound up, as no fit of it does."""
    robot = kronbot.loads("""
kronbot: 1
name: belt
gravity: [0, 0, 0]
links:
  - {name: a, joint: {type: revolute, name: q1, rotor_inertia: 1, elastic: {stiffness: 9}}, pose: {},
     rigid: {mass: 1, com: [1, 0, 0]}}
  - {name: b, joint: {type: revolute, name: q2, follows: 2*q1 + 0.3, elastic: {stiffness: 5}}, pose: {},
     rigid: {mass: 1, com: [1, 0, 0]}}
""")
    run = robot.simulate(duration=0.01, step=0.01, q={given: 0.2}, qd={given: 1})
    assert run["q2"][0] == robot.kinematics(q={given: 0.2}).at["q"]["q2"] == pytest.approx(0.7)
    assert run["q2_dot"][0] == 2 and run["energy.elastic"][0] == pytest.approx(0, abs=1e-30)
    assert [run[name][0] for name in ("q1", "q1.motor", "q1_dot", "q1.motor_dot")] == [0.2, 0.2, 1, 1]
    assert robot.simulate(duration=0.01, step=0.01, q={given: 0.2, "q2": 0.1})["q2"][0] == 0.1


def test_how_it_is_asked_for(tmp_path, capsys):
    """By the file, the library and the command line; the words there are; a deflection beside it is refused."""
    file = tmp_path / "arm.yaml"
    text = ARM.replace("DRIVE", "{motion: HELD}").replace("HELD", HELD)
    file.write_text(text.replace("simulate: {", "simulate: {start: equilibrium, "))
    by_file, plain = kronbot.load(str(file)), arm()
    assert [each.model.file.simulate.start for each in (by_file, plain)] == ["equilibrium", "straight"]
    sagging = plain.simulate(start="equilibrium", solver="rodas")["upper.v1"][0]
    assert by_file.simulate(solver="rodas")["upper.v1"][0] == sagging != 0
    assert by_file.simulate(start="straight", solver="rodas")["upper.v1"][0] == 0
    line = ["simulate", str(file), "--start", "straight", "--solver", "rodas", "--format", "csv", "--quiet"]
    assert command_line(line) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("0.0,0.2,0.0,")
    with pytest.raises(UsageError, match="start 'sagging': there are straight, equilibrium"):
        plain.simulate(start="sagging")
    with pytest.raises(UsageError, match=r"upper\.v1 starts in the equilibrium"):
        plain.simulate(start="equilibrium", q={"upper.v1": 0.1})
    assert "start" not in plain.simulate(duration=0.01, solver="rodas").summary


def test_an_arm_that_gravity_breaks_down_has_no_start():
    """The message is that of statics: where the path of equilibria ends."""
    soft = ARM.replace("z: 11.2", "z: 1e-4").replace("DRIVE", "{motion: HELD}").replace("HELD", HELD)
    with pytest.raises(ComputationError, match="no stable path of equilibria"):
        run(model(soft), start="equilibrium")


MOORED = """
kronbot: 1
name: moored
gravity: [0, 0, -9.81]
base: {type: floating, rigid: {mass: 30, inertia: {Ixx: 2, Iyy: 2, Izz: 2}}}
links:
  - name: a
    joint: {type: revolute, name: s, damping: 1}
    pose: {rpy: [pi/2, 0, 0]}
    rigid: {mass: 3, com: [0.5, 0, 0], inertia: {Ixx: 0.1, Iyy: 0.1, Izz: 0.1}}
elements:
  - {name: t1, type: tendon, between: [world, base], points: [[1, 1, 2], [0.5, 0.5, 0]], stiffness: 4000, rest: 2}
  - {name: t2, type: tendon, between: [world, base], points: [[-1, 1, 2], [-0.5, 0.5, 0]], stiffness: 4000, rest: 2}
  - {name: t3, type: tendon, between: [world, base], points: [[0, -1, 2], [0, -0.5, 0]], stiffness: 4000, rest: 2}
"""
HOLDING = "simulate: {drive: {s: {pd: {kp: 200, kd: 20, target: 0.3}}}}\n"


def test_a_base_that_springs_hold_in_no_direction_across_has_no_place_of_its_own():
    """Without weight they are slack at the end of the way: other angles do not help, and the message says why."""
    upright = "points: [[1, 1, 2], [1, 1, 0]]", "points: [[-1, 1, 2], [-1, 1, 0]]", "points: [[0, -1, 2], [0, -1, 0]]"
    hung = MOORED.replace("tendon", "spring").replace("-9.81", "0").replace("rest: 2", "rest: 1.9")
    for line, points in zip([each for each in hung.splitlines() if "points" in each], upright, strict=True):
        hung = hung.replace(line, f"{line[: line.index('points')]}{points}, stiffness: 4000, rest: 1.9}}")
    with pytest.raises(ComputationError, match="of the weight nothing holds the robot in some direction"):
        kronbot.loads(hung).simulate(0.02, 0.01, start="equilibrium")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (MOORED + HOLDING, True),
        (MOORED.replace("tendon", "spring") + HOLDING, False),
        (MOORED.replace("-9.81", "0") + HOLDING, False),
        (MOORED.replace("-9.81]", "g]\nparameters: {g: 0}") + HOLDING, False),
        (MOORED + "simulate: {drive: {s: {torque: 14}}}\n", False),
        (MOORED + "control: {s: {pid: {kp: 200, kd: 20}, target: 0.3, gravity: none}}\n", False),
    ],
)
def test_drives_that_take_a_base_on_tendons_for_one_that_falls_are_told(text, told):
    run = kronbot.loads(text).simulate(0.02, 0.01, q={"s": 0.3})
    assert any(each.startswith("tendons alone hold the base") for each in run.warnings) == told
    assert not told or abs(run["torque.s"][0]) < 1e-9


@pytest.mark.slow
def test_who_starts_straight_under_gravity_is_told(capsys):
    """Where gravity alone bends a beam by more than a tenth of its largest deflection, and only there."""

    def told(robot, **more):
        return [each for each in robot.simulate(**more).warnings if "start equilibrium" in each]

    (words,) = told(arm())
    assert words.startswith("gravity alone bends upper by")
    assert not told(arm(), start="equilibrium")
    assert not told(arm(), q={"upper.v1": 0.01})  # who gives deflections has thought of it
    assert not told(arm(order="0"))
    light = ARM.replace("[0.5, -9.81, 1]", "[0, -0.01, 0]").replace("HELD", HELD)
    shaken = light.replace("DRIVE", "{motion: {type: sinusoid, amplitude: 0.5, frequency: 10}}")
    assert not told(Robot(model(shaken)))
    assert command_line(["simulate", "khang", "--duration", "0.1", "--format", "csv"]) == 0
    assert "warning: gravity alone bends arm by " in capsys.readouterr().err
    assert command_line(["simulate", "khang", "--duration", "0.1", "--quiet"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.slow
def test_nobody_is_told_to_let_a_bent_arm_go():
    """What falls does not sag: a start in the sag would bend its beams further than a straight one."""
    falling = ARM[: ARM.index("simulate:")]
    straight, bent = (
        kronbot.loads(falling).simulate(duration=0.3, start=start) for start in ("straight", "equilibrium")
    )
    assert not [each for each in straight.warnings if "acts as a step" in each]
    assert straight.summary["peak_deflection.upper"] < bent.summary["peak_deflection.upper"]


@pytest.mark.slow
def test_the_sag_that_is_told_is_that_of_small_deflections():
    """-K^-1 g_f against the equilibrium itself, where the beam hardly bends."""
    stiff = ARM.replace("z: 11.2", "z: 11.2e3").replace("y: 20", "y: 20e3")
    robot = Robot(model(stiff.replace("DRIVE", "{motion: HELD}").replace("HELD", HELD)))
    row = robot.statics(q=[0.2, 0.2])
    sag = np.linalg.norm([row[f"tip.upper.{axis}"][0] for axis in "xyz"])
    assert f"gravity alone bends upper by {sag:.3g} m" in robot.simulate(duration=0.05).warnings[0]


BED = """
kronbot: 1
name: bed
gravity: [0, 0, -9.81]
links:
  - name: bed
    pose: {}
    joint: {type: prismatic, name: heave, spring: {stiffness: 2e5}FRICTION}
    rigid: {mass: 1800}
  - name: mast
    pose: {rpy: [-pi/2, 0, 0]}
    joint: {type: revolute, name: erect}
    flexible: {mass: 60, length: 4, EI: {z: 3e4}, modes: {v: 2}, damping: {ratio: 0.01}}
  - name: bob
    pose: {rpy: [0, 0, -pi/2]}
    joint: {type: revolute, name: swing}
    rigid: {mass: 5, com: [1, 0, 0], inertia: {Izz: 1}}
simulate: {duration: 0.02, step: 0.01, start: equilibrium, drive: {erect: {motion: HELD}}}
"""


def test_joints_that_nothing_drives_are_let_go_where_they_do_not_rest():
    """Beams alone are laid into their sag: a spring is told of with the weight on it, a bob that hangs is not."""
    erect = "{type: polynomial, from: -60*deg, to: -60*deg, duration: 1, degree: 5}"
    text = BED.replace("HELD", erect)
    bed, weight = kronbot.loads(text.replace("FRICTION", "")), (1800 + 60 + 5) * 9.81

    def told(robot, **given):
        return [each for each in robot.simulate(**given).warnings if "nothing holds it" in each]

    heave = f"heave starts at 0 m, where nothing holds it against {weight:.3g} N"
    first, second = told(bed)
    assert first.startswith(heave) and second.startswith("swing starts at 0 rad")
    erect, hanging = np.deg2rad(-60), {"heave": 0.0, "swing": 0.0}
    rest = bed.statics(q={"erect": erect}, tau=hanging)
    places = {name: float(rest[f"angle.{name}"][0]) for name in hanging}
    assert places["heave"] == pytest.approx(-weight / 2e5)
    assert not told(bed, q=places) and told(bed, q={"swing": places["swing"]}) == [first]
    sticks = kronbot.loads(text.replace("FRICTION", ", friction: {coulomb: 3e4, smoothing: 1e-3}"))
    assert told(sticks, q={"swing": places["swing"]}) == []
    assert not told(bed, start="straight")


def test_all_joints_are_let_go_where_nothing_drives_any():
    """Two rods that lie across: weights by levers from each joint. Hung straight down they rest."""
    rods = """
kronbot: 1
name: rods
gravity: [0, -9.81, 0]
links:
  - {name: upper, joint: {type: revolute, name: q1}, pose: {}, rigid: {mass: 2, com: [0.5, 0, 0], inertia: {Izz: 1}}}
  - name: lower
    joint: {type: revolute, name: q2}
    pose: {xyz: [1, 0, 0]}
    rigid: {mass: 1, com: [1, 0, 0], inertia: {Izz: 1}}
simulate: {duration: 0.02, step: 0.01, start: equilibrium}
"""

    def told(robot, **given):
        words = " starts at 0 rad, where nothing holds it against "
        found = [each.split(words) for each in robot.simulate(**given).warnings if "holds it" in each]
        return {name: what[: what.index(" N m")] for name, what in found}

    free, first, second = kronbot.loads(rods), f"{9.81 * (2 * 0.5 + 1 * 2):.3g}", f"{9.81 * 1:.3g}"
    assert told(free) == {"q1": first, "q2": second}
    assert told(free, q={"q1": 0.0}) == {"q2": second} and told(free, q={"q1": -np.pi / 2}) == {}
    driven = kronbot.loads(rods.replace("equilibrium}", "equilibrium, drive: {q1: {torque: 0}}}"))
    assert told(driven) == {"q2": second}


def test_joints_without_a_motion_that_start_off_0_are_told():
    """Torques of the rigid arm are those with such a joint at 0: a motion that is a number has them where it starts."""
    text = BED.replace(", start: equilibrium, drive: {erect: {motion: HELD}}", "").replace("FRICTION", "")
    text += "motion: {erect: {type: polynomial, from: 0, to: 0.1, duration: 1, degree: 5}}\n"
    places = {"swing": 1.2, "heave": 1e-5}
    told = [each for each in kronbot.loads(text).simulate(q=places).warnings if "has no motion" in each]
    assert told == [
        "swing starts at 1.2 rad and has no motion: torques of the rigid arm are those with swing at 0; "
        "motion: {swing: 1.2} has them where it starts"
    ]
    mended = kronbot.loads(text.replace("motion: {", "motion: {swing: 1.2, "))
    assert not any("has no motion" in each for each in mended.simulate().warnings)


def test_what_lets_a_joint_go_is_told_with_the_loads_that_it_rests_under():
    """Constant forces of a run count, of which statics knows nothing unless they are loads there."""
    text = """
kronbot: 1
name: pushed
gravity: [0, 0, 0]
links:
  - {name: a, joint: {type: revolute, name: q}, pose: {}, rigid: {mass: 1, com: [1, 0, 0]}}
simulate: {duration: 0.01, step: 0.01, start: equilibrium, forces: [{frame: a, at: [1, 0, 0], force: [0, 50, 0]}]}
"""
    (told,) = (each for each in kronbot.loads(text).simulate().warnings if "nothing holds it" in each)
    assert told.startswith("q starts at 0 rad, where nothing holds it against 50 N m")
    assert "with no torque there (tau) and what acts on frames here as loads tells where" in told
