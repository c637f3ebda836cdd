"""What ``check`` tells of missing inertia: the questions that it names refuse at q = 0, and no others."""

import random
import re

import pytest
from special_robots import special

import kronbot
from kronbot.errors import ComputationError
from kronbot.questions.inertia import told_of_inertia

ASKED = {
    "modes": lambda robot: robot.modes(),
    "linearize": lambda robot: robot.linearize(),
    "simulate": lambda robot: robot.simulate(duration=1e-3, step=1e-3),
}


def named(robot):
    """The questions that refuse, as check tells it."""
    told = [each.message.rsplit("; ", 1)[1].partition(", modes keeps")[0] for each in told_of_inertia(robot.model)]
    return {name for name in ASKED if any(name in each for each in told)}


def refusing(robot):
    """Those that do, for a singular mass matrix."""
    found = set()
    for name, ask in ASKED.items():
        try:
            ask(robot)
        except ComputationError as error:
            assert "the mass matrix is singular" in str(error)
            found.add(name)
    return found


def arm(joint="", link="", more="", gravity="[0, 0, -9.81]", turn="[pi/2, 0, 0]"):
    """A beam with a payload, on a joint."""
    return f"""
kronbot: 1
name: arm
gravity: {gravity}
links:
  - name: b
    joint: {{type: revolute, name: s{joint}}}
    pose: {{rpy: {turn}}}
    flexible: {{mass: 12, EI: {{z: 9e3}}, length: 2, modes: {{v: 1{link}}}}}
    payload: {{mass: 3}}
{more}"""


def wrist(joint=""):
    """A point mass on the axis of a joint."""
    return f"""\
  - {{name: turn, joint: {{type: fixed}}, pose: {{rpy: [0, pi/2, 0]}}}}
  - {{name: w, joint: {{type: revolute, name: r{joint}}}, pose: {{}}, rigid: {{mass: 1, com: [0, 0, 0.1]}}}}
"""


FURTHER = "  - {name: x, joint: {type: revolute, name: p}, pose: {}, payload: {mass: 1}}\n"
MOTION = "{type: cycloidal, rate: 1, half_period: 1}"
ALL = {"modes", "linearize", "simulate"}
WITHOUT = [
    (arm(), set(), ""),
    (arm(", bearing: {stiffness: {x: 3e4}}"), ALL, "7:12: at q = 0 the mass matrix is singular: s.x moves no inertia"),
    (arm(", elastic: {stiffness: 100}"), ALL, "7:12: the mass matrix is singular: the motor of elastic joint 's'"),
    (arm(", elastic: {stiffness: 100}, rotor_inertia: 1"), set(), ""),
    (
        arm(", elastic: {stiffness: 100}", more=f"simulate: {{drive: {{s: {{motion: {MOTION}}}}}}}\n"),
        {"modes", "linearize"},
        "give the joint a rotor_inertia, or make it rigid; modes, linearize, design, plan refuse",
    ),
    (
        arm(
            ", elastic: {stiffness: 9}, bearing: {stiffness: {x: 1}}",
            more=f"simulate: {{drive: {{s: {{motion: {MOTION}}}}}}}\n",
        ),
        ALL,
        "plan refuse$",
    ),
    (arm(link=", torsion: 1}, GJ: 10, damping: {beta: 0"), ALL, "9:58: the mass matrix is singular: the torsion modes"),
    (arm(more=wrist(), gravity="[0, 0, 0]"), {"linearize", "simulate"}, "r moves.*there, modes keeps it locked"),
    (arm(more=wrist(", spring: {stiffness: 5}"), gravity="[0, 0, 0]"), ALL, "r moves no inertia of its own"),
    (arm(more=wrist(", rotor_inertia: 0.1"), gravity="[0, 0, 0]"), set(), ""),
    (
        arm(more=wrist() + FURTHER, gravity="[0, 0, 0]"),
        {"linearize", "simulate"},
        "r, p move no inertia of their own.*them",
    ),
]


@pytest.mark.parametrize(("text", "refuse", "told"), WITHOUT)
def test_check_names_the_questions_that_refuse(text, refuse, told):
    robot = kronbot.loads(text)
    assert named(robot) == refuse
    warnings = [each for each in robot.check().warnings if "mass matrix" in each]
    assert re.search(told, warnings[0]) if told else not warnings


@pytest.mark.slow
@pytest.mark.parametrize(("text", "refuse"), [each[:2] for each in WITHOUT])
def test_questions_that_check_names_refuse(text, refuse):
    assert refusing(kronbot.loads(text)) == refuse


def test_of_joints_that_together_move_none_the_first_is_named():
    """A joint and a bearing about one axis with a massless link between them: inertia of that alone is the cure."""
    text = """
kronbot: 1
name: s
gravity: [0, -9.81, 0]
links:
  - {name: yaw, joint: {type: revolute, name: s1}, pose: {rpy: [0, pi/2, 0]}}
  - name: boom
    joint: {type: revolute, name: s2, bearing: {stiffness: {x: 3e3}}}
    pose: {rpy: [0, -pi/2, 0]}
    flexible: {mass: 4, length: 1.2, EI: {y: 2500, z: 2500}, modes: {v: 1}}
  - {name: stick, joint: {type: revolute, name: elbow}, pose: {}, rigid: {mass: 2, com: [0.35, 0, 0], inertia: BODY}}
""".replace("BODY", "{Ixx: 0.01, Iyy: 0.1, Izz: 0.1}")
    (told,) = (each for each in kronbot.loads(text).check().warnings if "singular" in each)
    assert "s1 moves no inertia of its own" in told
    cured = kronbot.loads(text.replace("[0, pi/2, 0]}}", "[0, pi/2, 0]}, rigid: {mass: 1, inertia: {Izz: 0.1}}}"))
    assert not [each for each in cured.check().warnings if "singular" in each]


def lighter(seed):
    """A special robot from which inertia is taken here and there."""
    rng = random.Random(seed)

    def less(pattern, into, share):
        return re.sub(pattern, lambda found: into if rng.random() < share else found[0], links)

    head, links = special(rng)[0].split("links:\n", 1)
    links = less(r", inertia: \{[^}]*\}", "", 0.6)
    links = less(r", rotor_inertia: 1, elastic", ", elastic", 0.3)
    links = less(r"com: \[[^]]*\]", "com: [0, 0, 0]", 0.5)
    links = less(r"    rigid: .*\n", "", 0.2)
    if rng.random() < 0.3:
        links += f"motion: {{q0: {MOTION}}}\nsimulate: {{drive: {{q0: {{motion: {MOTION}}}}}}}\n"
    return f"{head}links:\n{links}"


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [range(2), range(2, 4)])
def test_random_robots_with_little_inertia(seeds):
    for seed in seeds:
        robot = kronbot.loads(lighter(seed))
        assert named(robot) == refusing(robot), seed


def test_rigid_robots_are_not_asked_for_a_mass_matrix_they_surely_have(monkeypatch):
    monkeypatch.delattr("kronbot.questions.inertia.mass_and_stiffness")
    assert not told_of_inertia(kronbot.load("puma560").model)


def test_a_joint_and_a_beam_of_one_name_have_their_own_places():
    text = (
        "kronbot: 1\nname: r\ngravity: [0, 0, 0]\nlinks:\n"
        "  - {name: a, joint: {type: revolute, name: b}, pose: {},\n"
        "     flexible: {length: 1, mass: 1, EI: {z: 1}, GJ: 1, modes: {v: 1, torsion: 1}}}\n"
        "  - {name: c, joint: {type: revolute, name: a, elastic: {stiffness: 1}}, pose: {}, rigid: {mass: 1}}\n"
    )
    told = kronbot.loads(text).check().warnings
    assert [each.split(": ")[0].split(":")[-2:] for each in told] == [["7", "22"], ["6", "63"], ["7", "22"]]
