"""Mistakes that people make: each is found at its place, all in one go, with a guess at what was meant."""

import os
import re

import pytest

from kronbot.description import Source, load
from kronbot.description.expressions.expression import ExpressionError, evaluate, parse
from kronbot.errors import DescriptionError

ROBOT = """\
kronbot: 1
name: arm
convention: standard
gravity: [0, -9.81, 0]
parameters: {EI: 1e4, payload: 2}
links:
  - name: upper
    joint: {type: revolute, name: shoulder, limits: [-pi, pi]}
    dh: {a: 1, d: 0, alpha: pi/2, theta: 0}
    flexible: {mass: 2, EI: {z: EI}, modes: {v: 2}, shape: craig-bampton}
  - name: lower
    parent: upper
    joint: {type: prismatic, name: slide}
    pose: {xyz: [0, 0, 1], rpy: [0, pi, 0]}
    rigid: {mass: payload, com: [0, 0, 0.1], inertia: {Ixx: 1, Iyy: 1, Izz: 1}}
endpoint: {link: lower}
motion:
  shoulder: {type: polynomial, from: 0, to: 1, duration: 2, degree: 5}
statics:
  angles: {shoulder: [0, pi/4]}
  loads: [{frame: com:lower, force: [0, 0, 1]}]
  distributed: [{link: upper, force: [0, 0, 1]}]
  gauges: [{name: g1, link: upper, x: 0.5}]
  calibration: {shoulder: 0}
simulate: {duration: 1, drive: {shoulder: {pd: {kp: 1, kd: 1, target: 1}}, slide: {torque: 3}}}
"""


def mistakes(text):
    with pytest.raises(DescriptionError) as caught:
        load(Source("arm.yaml", text, None))
    return caught.value.mistakes


def warnings(text):
    return load(Source("arm.yaml", text, None)).warnings


def test_the_robot_is_right():
    assert warnings(ROBOT) == ()


# What is right, what is written instead, and what the message says; the place is where the wrong word stands.
MISTYPED = [
    ("gravity:", "gravty:", "unknown key 'gravty'; did you mean 'gravity'?"),
    ("alpha:", "alfa:", "unknown key 'alfa'; did you mean 'alpha'?"),
    ("flexible:", "flexibel:", "unknown key 'flexibel'; did you mean 'flexible'?"),
    ("Iyy:", "Ijj:", "unknown key 'Ijj'"),
    ("degree:", "degre:", "unknown key 'degre'; did you mean 'degree'?"),
    ("EI: {z: EI}", "EI: {z: EI2}", "unknown name 'EI2'; did you mean 'EI'?"),
    ("mass: payload", "mass: 2*pay_load", "unknown name 'pay_load' in '2*pay_load'; did you mean 'payload'?"),
    ("standard", "standart", "must be one of standard, modified; not 'standart'; did you mean 'standard'?"),
    ("revolute", "revolut", "did you mean 'revolute'?"),
    ("prismatic", "Prismatic", "did you mean 'prismatic'?"),
    ("craig-bampton", "craig_bampton", "did you mean 'craig-bampton'?"),
    ("polynomial", "polynom", "did you mean 'polynomial'?"),
    ("parent: upper", "parent: uper", "unknown link 'uper'; did you mean 'upper'?"),
    ("endpoint: {link: lower", "endpoint: {link: lowr", "unknown link 'lowr'; did you mean 'lower'?"),
    ("motion:\n  shoulder", "motion:\n  sholder", "unknown joint 'sholder'; did you mean 'shoulder'?"),
    ("angles: {shoulder", "angles: {sholder", "unknown joint 'sholder'; did you mean 'shoulder'?"),
    ("calibration: {shoulder", "calibration: {sholder", "unknown joint 'sholder'; did you mean 'shoulder'?"),
    ("slide: {torque", "slid: {torque", "unknown joint 'slid'; did you mean 'slide'?"),
    ("frame: com:lower", "frame: com:lwer", "unknown frame 'com:lwer'; did you mean 'com:lower'?"),
    ("distributed: [{link: upper", "distributed: [{link: uppr", "unknown link 'uppr'; did you mean 'upper'?"),
    ("name: g1, link: upper", "name: g1, link: uppr", "unknown link 'uppr'; did you mean 'upper'?"),
    ("torque: 3", "torqe: 3", "unknown key 'torqe'; did you mean 'torque'?"),
    ("pd: {kp", "PD: {kp", "unknown key 'PD'; did you mean 'pd'?"),
]


def test_a_drive_that_stands_elsewhere_is_one_mistake():
    """What an unknown key says is all there is to say: none of those that are known was meant."""
    (found,) = mistakes(ROBOT.replace("torque: 3", "pid: {kp: 3}"))
    assert found.message.startswith("unknown key 'pid': PID controllers stand in control: ")
    (found,) = mistakes(ROBOT.replace("{torque: 3}", "{}"))
    assert found.message.startswith("one of torque, motion, pd is wanted here, not none")


@pytest.mark.parametrize(("right", "wrong", "message"), MISTYPED)
def test_what_was_meant(right, wrong, message):
    """At the wrong word itself, or at the value that holds it."""
    assert ROBOT.count(right) == 1
    text = ROBOT.replace(right, wrong)
    (found,) = [mistake for mistake in mistakes(text) if message in mistake.message]
    changed = text.index(wrong) + len(os.path.commonprefix([right, wrong]))
    line = text.count("\n", 0, changed) + 1
    column = changed - text.rfind("\n", 0, changed)
    assert found.line == line
    assert column - 10 < found.column <= column


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("200*mm", "numbers are in SI units, which are not written: 1e-3 in its place"),
        ("2*N", "numbers are in SI units, which are not written"),
        ("sin(3*t)", "numbers do not change in time: a sinusoid, a step or a table does where it may stand"),
    ],
)
def test_units_and_functions_of_time_in_expressions(wrong, said):
    """Unless a parameter has nearly the name."""
    (found,) = mistakes(ROBOT.replace("mass: payload", f"mass: {wrong}"))
    assert found.message.startswith("unknown name") and f" in '{wrong}'; {said}" in found.message


def test_all_at_once():
    """Every one of them in one file, each told as if it were alone, in the order of the file."""
    text, together = ROBOT, []
    for right, wrong, message in MISTYPED:
        if right not in ("flexible:", "motion:\n  shoulder", "prismatic", "polynomial", "parent: upper"):
            text = text.replace(right, wrong)
            together.append(message)
    found = mistakes(text)
    assert list(found) == sorted(found)
    for message in together:
        assert any(message in mistake.message for mistake in found), message


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("alpha: pi/2", "alpha: 90"),
        ("theta: 0}", "theta: -45}"),
        ("rpy: [0, pi, 0]", "rpy: [0, 180, 0]"),
        ("limits: [-pi, pi]", "limits: [-180, 180]"),
        ("{shoulder: [0, pi/4]}", "{shoulder: [0, 45]}"),
        ("calibration: {shoulder: 0}", "calibration: {shoulder: 90}"),
        ("to: 1,", "to: 60,"),
        ("target: 1", "target: 30"),
    ],
)
def test_angles_in_degrees(right, wrong):
    """90 where radians are meant is allowed and told, with the cure."""
    found = warnings(ROBOT.replace(right, wrong))
    assert 1 <= len(found) <= 2  # both limits
    for warning in found:
        number, cure = re.fullmatch(r"the angle (.*) is beyond 2 pi: .*\(write (.*)\*deg\)", warning.message).groups()
        assert float(number) == float(cure)
        assert ROBOT.replace(right, wrong).splitlines()[warning.line - 1][warning.column - 1] in "-0123456789"


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("alpha: pi/2", "alpha: 90*deg"),
        ("alpha: pi/2", "alpha: 2*pi"),
        ("to: 1,", "to: 10*pi,"),  # five turns are meant
        ("alpha: pi/2", "alpha: 400*deg"),
        ("alpha: pi/2", "alpha: -5*pi/2"),
        ("xyz: [0, 0, 1]", "xyz: [0, 0, 90]"),
        ("calibration: {shoulder: 0}", "calibration: {shoulder: 0, slide: 90}"),  # metres
    ],
)
def test_what_is_no_angle_in_degrees(right, wrong):
    assert warnings(ROBOT.replace(right, wrong)) == ()


@pytest.mark.parametrize(
    ("inertia", "message"),
    [
        ("{Ixx: 1, Iyy: 1, Izz: 3}", "one principal moment is larger than the other two together"),
        ("{Ixx: 1, Iyy: 1, Izz: 1, Ixy: 2}", "one principal moment is larger than the other two together"),
    ],
)
def test_bodies_that_cannot_be(inertia, message):
    text = ROBOT.replace("{Ixx: 1, Iyy: 1, Izz: 1}", inertia)
    (warning,) = warnings(text)
    assert message in warning.message
    assert text.splitlines()[warning.line - 1][warning.column - 1 :].startswith(inertia)


def test_inertia_without_mass():
    (warning,) = warnings(ROBOT.replace("mass: payload", "mass: 0"))
    assert warning.message == "this body has inertia and no mass"


def test_a_wrong_robot_says_nothing_about_oddities():
    """First what stops it; warnings follow when that is mended."""
    found = mistakes(ROBOT.replace("alpha: pi/2", "alpha: 90").replace("gravity:", "gravty:"))
    assert not any("degrees" in mistake.message for mistake in found)


def loaded_with(old, new):
    text = COMMON.replace(old, new, 1)
    assert text != COMMON
    return text


COMMON = """kronbot: 1
name: arm
convention: standard
gravity: [0, -9.81, 0]
links:
  - name: upper
    joint: {type: revolute, name: q1, limits: [-1, 1]}
    dh: {a: 0.9, d: 0, alpha: 0, theta: 0}
    flexible: {mass: 0.3, EI: {z: 11}, modes: {v: 2}, damping: {ratio: 0.01}}
    hub: {mass: 1, inertia: {Ixx: 1, Iyy: 1, Izz: 1}}
motion: {q1: {type: polynomial, from: 0, to: 1, duration: 2, degree: 5}}
statics: {angles: {q1: [0, 1]}, forces: [[0, -1, 0]], gauges: [{name: g, link: upper, x: 0.1}]}
simulate: {duration: 3, step: 0.01, drive: {q1: {pd: {kp: 1, kd: 1}}}}
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("duration: 2", "duration: 2s"), ("duration: 3", "duration: 3 s"), ("duration: 3", "duration: "),
        ("step: 0.01", "step: 10ms"), ("a: 0.9", "a: 0.9m"), ("mass: 0.3", "mass: -0.3"), ("mass: 0.3", "mas: 0.3"),
        ("{z: 11}", "11"), ("z: 11", "z: 0"), ("z: 11", "z: EI"), ("v: 2", "v: two"), ("modes: {v: 2}", "modes: 2"),
        ("ratio: 0.01", "ratio: 1%"), ("ratio: 0.01", "ratio: [0.01]"), ("limits: [-1, 1]", "limits: [1, -1]"),
        ("limits: [-1, 1]", "limits: [-180, 180]"), ("limits: [-1, 1]", "limits: 1"), ("revolute", "revolut"),
        ("[0, -9.81, 0]", "9.81"), ("[0, -9.81, 0]", "[0, -9.81]"), ("degree: 5", "degree: 4"), (", degree: 5", ""),
        ("polynomial", "linear"), ("type: polynomial, ", ""), ("angles: {q1", "angles: {q2"),
        ("[0, 1]}", "[0, 90, 135]}"),
        ("[0, 1]}", "90}"), ("[[0, -1, 0]]", "[0, -1, 0]"), ("[[0, -1, 0]]", "[[0, -1]]"),
        ("link: upper", "link: uper"),
        ("x: 0.1", "x: 1"), ("{kp: 1, kd: 1}", "{kp: 1}"), ("{pd: {kp: 1, kd: 1}}", "1"), ("Izz: 1", "Izz: 5"),
        ("mass: 1, ", ""), ("Izz: 1", "izz: 1"), ("convention: standard\n", ""),
    ],
)  # fmt: skip
def test_a_typical_mistake_is_told_once(old, new):
    try:
        told = load(Source("r", loaded_with(old, new), None)).warnings
    except DescriptionError as error:
        told = error.mistakes
    assert len(told) == 1, [str(mistake) for mistake in told]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("2s", "'2s' is not a number (a product needs *; units are SI; no _, hexadecimal or imaginary numbers)"),
        ("90deg", "'90deg' is not a number (write 90*deg; units are SI; no _, hexadecimal or imaginary numbers)"),
        ("3 s", "'3 s' is not a number"),
        ("1/0", "'1/0' is not a number: division by zero in '1/0'"),
        ("2+x", "'2+x' is not a number: unknown name 'x'"),
    ],
)
def test_a_text_that_is_no_number_is_told_once(text, told):
    with pytest.raises(ExpressionError) as caught:
        evaluate(parse(text), {})
    assert caught.value.of(text).startswith(told)
