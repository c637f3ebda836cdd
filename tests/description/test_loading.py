"""A whole robot file: what it gives, every mistake at its place, rules, warnings, parameters."""

import errno
import os
import re
import subprocess
import sys
import textwrap
from dataclasses import FrozenInstanceError
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import strategies as st
from thinned import drawn, rare
from waiting import bounded

import kronbot
from kronbot.description import Source, limits, load
from kronbot.description.checks.tensors import possible_inertia
from kronbot.description.described import with_overrides
from kronbot.description.expressions.expression import exact, parse
from kronbot.description.in_time import TimeTable
from kronbot.description.moving import Cycloidal, PolynomialMotion
from kronbot.description.schema import PD, Endpoint, Link, Simulate, Statics
from kronbot.errors import DescriptionError, UsageError
from kronbot.model.build import build

HEAD = "kronbot: 1\nname: r\nconvention: standard\ngravity: [0, 0, 0]\n"
CANADARM = """\
kronbot: 1
name: canadarm
description: three-link arm with flexible links
convention: standard
gravity: [0, 0, 0]
parameters: {EI: 1e5, m3: , l: 2*3, k: m3/2}
links:
  - name: upper
    parent: base
    joint: {type: revolute, name: q1, damping: 0, rotor_inertia: 0, gear: 1, limits: [-pi, pi]}
    dh: {a: l, d: 0, alpha: pi/2, theta: 0}
    flexible: {mass: 140, EI: {y: EI, z: EI}, GJ: 1e5, modes: {v: 2, w: 0, torsion: 0}, shape: clamped-free,
               polar_inertia: 0, root: 0, damping: {ratio: [0.01, 0.02]}}
    hub: {mass: 0, com: [0, 0, 0], inertia: {Izz: 0}}
    payload: {mass: m3, com: [0, 0, 0], inertia: {}}
  - name: forearm
    joint: {type: prismatic, name: q2}
    dh: {a: 7, d: 0, alpha: 0, theta: 0}
    rigid: {mass: 1, com: [0, 0, 0], inertia: {Ixx: 1, Iyy: 1, Izz: 1/3, Ixy: 0, Ixz: 0, Iyz: 0}}
  - {name: wrist, joint: {type: fixed}, pose: {}}
endpoint: {link: wrist, position: [0, 0, 0]}
motion:
  q1: {type: cycloidal, rate: 0.075, half_period: 10}
  q2: {type: polynomial, from: 0, to: 1, duration: 2, degree: 3}
statics:
  angles: {q1: [-90*deg, 0, 90*deg]}
  forces: [[0, 0, 0], [0, -0.61, 0]]
  moments: [[0, 0, 1]]
  gauges: [{name: g1, link: upper, x: 0.0191}]
simulate: {duration: 10, step: 0.05, drive: {q1: {torque: 3}, q2: {pd: {kp: 1, kd: 2, target: 0}}}}
"""


def loaded(text, folder=None, overrides=None):
    return load(Source("r.yaml", text, folder), overrides or {})


def lines(text, folder=None):
    with pytest.raises(DescriptionError) as caught:
        loaded(text, folder)
    return [str(mistake).removeprefix("r.yaml:") for mistake in caught.value.mistakes]


def link(body, name="a", joint="{type: revolute, name: q1}"):
    """The lines of a link; its first line is line 6 after HEAD and ``links:``."""
    return f"  - name: {name}\n    joint: {joint}\n" + textwrap.indent(textwrap.dedent(body), "    ")


DH = "dh: {a: 1, d: 0, alpha: 0, theta: 0}\n"


def robot(body="", name="a", joint="{type: revolute, name: q1}", more=""):
    return HEAD + "links:\n" + link(DH + body, name, joint) + more


def test_a_whole_file():
    got = loaded(CANADARM)
    upper, forearm, wrist = got.robot.links
    assert got.values == {"EI": 1e5, "m3": None, "l": 6.0, "k": None}
    assert got.warnings == ()
    assert exact(upper.dh.a, got.robot.parameters).rational == 6
    assert upper.flexible.EI.z == parse("EI") and upper.flexible.modes.v == 2
    assert upper.flexible.damping.ratio == (parse("0.01"), parse("0.02"))
    assert upper.joint.limits == (parse("-pi"), parse("pi"))
    assert upper.payload.mass.names == {"m3"}
    assert exact(forearm.rigid.inertia.Izz, {}).rational == Fraction(1, 3)
    assert forearm.joint.gear == parse("1") and forearm.parent is None and forearm.flexible is None
    assert wrist.joint.name is None and wrist.pose.rpy == (parse("0"),) * 3
    assert got.robot.motion["q1"] == Cycloidal(parse("0.075"), parse("10"))
    assert got.robot.motion["q2"] == PolynomialMotion(parse("0"), parse("1"), parse("2"), 3)
    assert got.robot.simulate.drive["q1"].torque == parse("3")
    assert got.robot.simulate.drive["q2"].pd == PD(parse("1"), parse("2"), parse("0"))
    assert got.robot.statics.angles["q1"][0] == parse("-90*deg")
    assert got.robot.statics.gauges[0].link == "upper"
    assert type(upper) is Link
    with pytest.raises(FrozenInstanceError):
        upper.name = "x"


def test_the_shortest_file():
    got = loaded(robot()).robot
    assert (got.description, got.parameters, got.endpoint, got.motion, got.statics, got.simulate) == (
        None, {}, Endpoint(), {}, Statics(), Simulate(),
    )  # fmt: skip


WRONG = """\
kronbot: 2
name: 1
convention: standart
gravity: [0, -9.81]
parameters: {EI: 2*EJ, sin: 1, c1: c2, c2: c1, good: 1}
links:
  - nam: upper
    joint: {type: revolut, name: q1}
    dh: {a: 6, d: 0, theta: 0}
  - name: fore arm
    parent: uper
    joint: {type: revolute, name: q2, gear: 0, limits: [1, 0]}
    dh: {a: 1, d: '1,5', alpha: "__import__('os')", theta: 1/0}
    rigid: {mass: -1, com: 3, inertal: {}}
  - name: hand
    joint: {type: revolute, name: q2, damping: yes}
    dh: {a: 1, d: 0, alpha: 0, theta: godo}
    dh: {a: 1, d: 0, alpha: 0, theta: 0}
    hub: *x
  - name: hand
    joint: {type: fixed, name: q4}
    pose: {xyz: [0, 0, 0, 0], rpy: [0, true, [1]]}
    flexible: {mass: 1, length: 1, modes: {v: 1.5, w: 65}, shape: polynomal, GJ: {}}
endpoint: {link: hnd}
motion:
  q3: {type: cycloydal, rate: 1, half_period: 1}
  q2: {type: cycloidal, rate: 1, halfperiod: 1}
statics: {angles: {q2: 0}, gauges: [{name: g, link: hand, x: }]}
simulate: {duration: 0, drive: {q2: {torque: 1, motion: {rate: 1}}, q9: {}}}
"""

EXPECTED = [
    "1:10: the version of the format is 1 here, not '2'",
    "2:7: text is wanted here, not the number 1: put it in quotes",
    "3:13: 'convention' must be one of standard, modified; not 'standart'; did you mean 'standard'?",
    "4:10: 3 values are wanted here, not 2",
    "5:18: unknown name 'EJ' in '2*EJ'",
    "5:24: the parameter name 'sin' is reserved",
    "5:36: the parameters define each other in a circle: 'c1' -> 'c2' -> 'c1'",
    "7:5: unknown key 'nam'; did you mean 'name'?",
    "8:19: 'type' must be one of revolute, prismatic, fixed; not 'revolut'; did you mean 'revolute'?",
    "9:5: missing key 'alpha' in 'dh'",
    "10:11: the name 'fore arm' holds ' ': letters, digits, _ and - are allowed",
    "11:13: unknown link 'uper'; did you mean 'upper'?",  # which is the name under the key 'nam'
    "12:45: 'gear' must not be 0",
    "12:56: the limits must ascend, they are 1 and 0",
    "13:19: a comma has no meaning here (decimals are written with a point, functions take one argument)",
    "13:33: ''' is not allowed in an expression",
    "13:60: division by zero in '1/0'",
    "14:19: 'mass' must be at least 0, it is -1",
    "14:28: a list of 3 values is wanted here, not '3'",
    "14:31: unknown key 'inertal'; did you mean 'inertia'?",
    "16:35: the name 'q2' is given to two joints, first on line 12",
    "16:48: unknown name 'yes'",
    "17:39: unknown name 'godo'; did you mean 'good'?",
    "18:5: duplicate key 'dh', first on line 17",
    "19:10: aliases are not allowed: '*x' (use 'parameters')",
    "20:11: the name 'hand' is given to two links, first on line 15",
    "21:26: a fixed joint has no name",
    "22:17: 3 values are wanted here, not 4",
    "22:40: a number or an expression is wanted here, not true",
    "22:46: a number or an expression is wanted here, not a list",
    "23:5: missing key 'EI.y' in 'flexible', which must be greater than 0, because 'w' has modes",
    "23:47: a plain integer from 0 to 64 is wanted here, not '1.5'",
    "23:55: a plain integer from 0 to 64 is wanted here, not '65'",
    "23:67: 'shape' must be one of clamped-free, clamped-mass, polynomial, legendre, craig-bampton; "
    "not 'polynomal'; did you mean 'polynomial'?",
    "23:82: a number or an expression is wanted here, not a mapping",
    "24:18: unknown link 'hnd'; did you mean 'hand'?",
    "26:3: unknown joint 'q3'",
    "26:14: 'type' must be one of cycloidal, spin-up, polynomial, trapezoid, via-points, sinusoid, table; not "
    "'cycloydal'; did you mean 'cycloidal'?",
    "27:34: unknown key 'halfperiod'; did you mean 'half_period'?",
    "28:24: a list is wanted here, not '0'",
    "28:53: the link 'hand' is not flexible: a gauge sits on a beam",
    "28:62: 'x' is empty: give it a value or take it out",
    "29:22: 'duration' must be greater than 0, it is 0",
    "29:37: one of torque, motion, pd is wanted here, not torque and motion",
    "29:49: missing key 'type' in 'motion': cycloidal, spin-up, polynomial, trapezoid, via-points, sinusoid, table",
    "29:69: unknown joint 'q9'",
]


def test_forty_six_mistakes_of_all_kinds():
    assert lines(WRONG) == EXPECTED


@pytest.mark.slow
def test_thousands_of_mistakes_end_with_their_number():
    got = lines(HEAD + "links: []\n" + "".join(f"key{i}: 1\n" for i in range(9000)))
    assert len(got) == limits.MISTAKES + 1
    assert got[-1].endswith(": and 8901 more mistakes")


# (text, expected lines): every rule of the format by itself.
RULES = {
    "no link": (HEAD + "links: []\n", ["5:8: a robot has at least one link"]),
    "not a mapping": ("- 1\n", ["1:1: a mapping is wanted here, not a list"]),
    "a number for a list": (
        robot().replace("gravity: [0, 0, 0]", "gravity: 9.81"),
        [
            "4:10: a list of 3 values is wanted here, not '9.81'; write gravity: [0, 0, -9.81] where z points up "
            "(m/s^2), [0, 0, 0] in space"
        ],
    ),
    "a number for a mapping": (
        robot().replace("dh: {a: 1, d: 0, alpha: 0, theta: 0}", "dh: 1"),
        ["8:9: a mapping with keys a, d, alpha, theta is wanted here, not '1'"],
    ),
    "empty mapping": (
        "{}\n",
        [
            "1:1: missing keys 'kronbot', 'name', 'gravity', 'links'; a robot file begins with kronbot: 1; write "
            "gravity: [0, 0, -9.81] where z points up (m/s^2), [0, 0, 0] in space"
        ],
    ),
    "empty section": (robot(more="motion:\n"), ["9:8: 'motion' is empty: give it a value or take it out"]),
    "empty name": (robot(name="''"), ["6:11: text is wanted here, it is empty"]),
    "reserved link": (
        robot(name="world"), ["6:11: the name 'world' is reserved: it is the frame that does not move"]
    ),
    "reserved link endpoint": (
        robot(name="endpoint"), ["6:11: the name 'endpoint' is reserved: it is the frame of the endpoint"]
    ),
    "reserved joint": (robot(joint="{type: revolute, name: t}"), ["7:35: the name 't' is reserved: it is time"]),
    "reserved joint order": (
        robot(joint="{type: revolute, name: order}"),
        ["7:35: the name 'order' is reserved: it is a column of results"],
    ),
    "no convention": (
        robot().replace("convention: standard\n", ""),
        [
            "7:5: missing key 'convention' of the file: write 'convention: standard' beside 'links', or 'convention: "
            "modified' (Craig's rows)"
        ],
    ),
    "empty convention": (
        HEAD.replace(" standard", "") + "links:\n" + link("pose: {}\n"),
        ["3:12: 'convention' is empty: give it a value or take it out"],
    ),
    "name begins with a digit": (robot(name="1a"), ["6:11: the name '1a' must begin with a letter or _"]),
    "name begins with -": (robot(name="-a"), ["6:11: the name '-a' must begin with a letter or _"]),
    "name with a dot": (robot(name="a.b"), ["6:11: the name 'a.b' holds '.': letters, digits, _ and - are allowed"]),
    "name with an escape": (
        robot(name='"a\\e[1m"'),
        ["6:11: the name 'a\\x1b[1m' holds '\\x1b': letters, digits, _ and - are allowed"],
    ),
    "name not NFC": (robot(name="\u212b"), ["6:11: the name '\u212b' is not in Unicode normal form C"]),
    "long name": (robot(name="a" * 65), [f"6:11: the name '{'a' * 57}...' is longer than 64 characters"]),
    "name a number": (robot(name="12"), ["6:11: text is wanted here, not the number 12: put it in quotes"]),
    "two links of a name": (
        robot() + link(DH, "a", "{type: revolute, name: q2}"),
        ["9:11: the name 'a' is given to two links, first on line 6"],
    ),
    "two joints of a name": (
        robot() + link(DH, "b"),
        ["10:35: the name 'q1' is given to two joints, first on line 7"],
    ),
    "generated names": (
        robot() + link(DH, "b", "{type: revolute, name: q1_dot}"),
        ["10:35: results would hold the name 'q1_dot' twice, because of 'q1'"],
    ),
    "generated modal names": (
        robot(
            "flexible: {mass: 1, EI: {z: 1}, modes: {v: 1}}\n", name="torque", joint="{type: revolute, name: v1}"
        ),
        ["7:35: results would hold the name 'torque.v1' twice, because of 'torque'"],
    ),
    "own parent called base": (
        robot("parent: base\n", name="base"),
        ["9:13: the link 'base' is its own parent; 'world' is the frame that does not move"],
    ),
    "own parent": (robot("parent: a\n"), ["9:13: the link 'a' is its own parent"]),
    "parents in a circle": (
        robot("parent: c\n") + link(DH, "b", "{type: revolute, name: q2}") + link(DH, "c", "{type: fixed}"),
        ["9:13: the links are each other's parents in a circle: 'a' -> 'c' -> 'b' -> 'a'"],
    ),
    "unknown parent": (robot("parent: bass\n"), ["9:13: unknown link 'bass'; did you mean 'base'?"]),
    "unknown endpoint link": (robot(more="endpoint: {link: b}\n"), ["9:18: unknown link 'b'"]),
    "endpoint at the base": (robot(more="endpoint: {link: base}\n"), ["9:18: unknown link 'base'"]),
    "unknown joint of a motion": (
        robot(more="motion: {q11: {type: sinusoid, amplitude: 1, frequency: 1}}\n"),
        ["9:10: unknown joint 'q11'; did you mean 'q1'?"],
    ),
    "unknown joint of statics": (robot(more="statics: {angles: {q2: [0]}}\n"), ["9:20: unknown joint 'q2'"]),
    "unknown joint of a drive": (
        robot(more="simulate: {drive: {x: {torque: 1}}}\n"),
        ["9:20: unknown joint 'x'"],
    ),
    "unknown drive": (
        robot(more="simulate: {drive: inverse-dynamics}\n"),
        ["9:19: 'drive' must be one of rigid-inverse-dynamics; not 'inverse-dynamics'; "
         "did you mean 'rigid-inverse-dynamics'?"],
    ),
    "no drive": (
        robot(more="simulate: {drive: {q1: {}}}\n"),
        ["9:24: one of torque, motion, pd is wanted here, not none of them"],
    ),
    "no angles": (robot(more="statics: {angles: {q1: []}}\n"), ["9:24: at least one angle is wanted here"]),
    "forces and moments": (
        robot(more="statics: {forces: [[0, 0, 0], [0, 0, 1]], moments: [[0, 0, 0], [0, 0, 1], [0, 0, 2]]}\n"),
        ["9:52: 3 moments do not pair with 2 forces: as many, or one of them"],
    ),
    "neither dh nor pose": (
        HEAD + "links:\n" + link(""),
        ["6:5: a link needs 'dh' or 'pose' (pose: {} where its parent ends)"],
    ),
    "dh and pose": (robot("pose: {}\n"), ["9:5: 'pose' and 'dh' exclude each other"]),
    "rigid and flexible": (
        robot("flexible: {mass: 1}\nrigid: {}\n"),
        ["10:5: 'rigid' and 'flexible' exclude each other"],
    ),
    "joint without a name": (
        robot(joint="{type: prismatic}"),
        ["7:5: missing key 'name': a prismatic joint has one"],
    ),
    "fixed joint with a name": (robot(joint="{type: fixed, name: q1}"), ["7:26: a fixed joint has no name"]),
    "length with standard DH": (
        robot("flexible: {mass: 1, length: 1}\n"),
        ["9:25: 'length' has no meaning with standard DH: the beam's length is a - root"],
    ),
    "no length with modified DH": (
        robot("flexible: {mass: 1}\n").replace("standard", "modified"),
        ["9:5: missing key 'length': only with standard DH it follows from a"],
    ),
    "no length with a pose": (
        HEAD + "links:\n" + link("pose: {}\nflexible: {mass: 1}\n"),
        ["9:5: missing key 'length': only with standard DH it follows from a"],
    ),
    "length 0": (
        HEAD + "links:\n" + link("pose: {}\nflexible: {mass: 1, length: 0}\n"),
        ["9:33: 'length' must be greater than 0, it is 0"],
    ),
    "root as long as a": (
        robot("flexible: {mass: 1, root: 1}\n"),
        ["8:13: the beam's length a - root must be greater than 0, it is 0"],
    ),
    "negative root": (robot("flexible: {mass: 1, root: -1}\n"), ["9:31: 'root' must be at least 0, it is -1"]),
    "beam without mass": (
        robot("flexible: {}\n"),
        ["9:5: missing key 'mass' in 'flexible', which must be greater than 0"],
    ),
    "bending without stiffness": (
        robot("flexible: {mass: 1, EI: {y: 1, z: 0}, modes: {v: 1}}\n"),
        ["9:39: EI.z must be greater than 0, because 'v' has modes"],
    ),
    "bending across without stiffness": (
        robot("flexible: {mass: 1, EI: {z: 1}, modes: {w: 1}}\n"),
        ["9:25: missing key 'EI.y' in 'flexible', which must be greater than 0, because 'w' has modes"],
    ),
    "torsion without stiffness": (
        robot("flexible: {mass: 1, modes: {torsion: 1}, polar_inertia: 1}\n"),
        ["9:5: missing key 'GJ' in 'flexible', which must be greater than 0, because 'torsion' has modes"],
    ),
    "number of ratios": (
        robot("flexible: {mass: 1, EI: {z: 1}, modes: {v: 2}, damping: {ratio: [0, 0, 0]}}\n"),
        ["9:69: one ratio for each of the 2 modes is wanted here, not 3"],
    ),
    "no ratios of the whole": (
        robot("flexible: {mass: 1, EI: {z: 1}, modes: {v: 1}}\n", more="damping: {ratios: []}\n"),
        ["10:19: at least one ratio is wanted here"],
    ),
    "negative ratio": (
        robot("flexible: {mass: 1, EI: {z: 1}, modes: {v: 1}, damping: {ratio: [-1]}}\n"),
        ["9:70: a damping ratio must be at least 0, it is -1"],
    ),
    "two kinds of damping": (
        robot("flexible: {mass: 1, damping: {ratio: 0.1, beta: 1}}\n"),
        ["9:47: 'beta' and 'ratio' exclude each other"],
    ),
    "gauge on a rigid link": (
        robot("rigid: {mass: 1}\n", more="statics: {gauges: [{name: g, link: a, x: 0}]}\n"),
        ["10:36: the link 'a' is not flexible: a gauge sits on a beam"],
    ),
    "gauge off the beam": (
        robot("flexible: {mass: 1, root: 0.5}\n", more="statics: {gauges: [{name: g, link: a, x: 0.6}]}\n"),
        ["10:42: the gauge must be on the beam, between 0 and 0.5, it is at 0.6"],
    ),
    "two gauges of a name": (
        robot(
            "flexible: {mass: 1}\n", more="statics: {gauges: [{name: g, link: a, x: 0}, {name: g, link: a, x: 1}]}\n"
        ),
        ["10:53: the name 'g' is given to two gauges, first on line 10"],
    ),
    "gear 0": (robot(joint="{type: revolute, name: q1, gear: 1 - 1}"), ["7:45: 'gear' must not be 0"]),
    "equal limits": (
        robot(joint="{type: revolute, name: q1, limits: [1, 1]}"),
        ["7:47: the limits must ascend, they are 1 and 1"],
    ),
    "half a limit": (
        robot(joint="{type: revolute, name: q1, limits: [1]}"),
        ["7:47: 2 values are wanted here, not 1"],
    ),
    "degree": (
        robot(more="motion: {q1: {type: polynomial, from: 0, to: 1, duration: 1, degree: 4}}\n"),
        ["9:70: 3 or 5 is wanted here, not '4'"],
    ),
    "aliased keys": (
        robot(more="motion: {q1: {type: polynomial, from: 0, end: 1, duration: 1, degree: 3}}\n"),
        [
            "9:10: missing key 'to' in 'q1'",
            "9:42: unknown key 'end'; known here: from, to, duration, degree, start, shaper, type",
        ],
    ),
    "parameter names": (
        "parameters: {pi: 1, deg: 1, exp: 1, if: 1, a-b: 1, \u03b1: 1, 2a: 1, q1: 1, q1_ddot: 1}\n" + robot(),
        [
            *(
                f"1:{c}: the parameter name '{n}' is reserved"
                for c, n in ((14, "pi"), (21, "deg"), (29, "exp"), (37, "if"))
            ),
            *(
                f"1:{c}: the parameter name '{n}' must be ASCII letters, digits and _, not begin with a digit, "
                f"and have at most 64 characters{'; write a_b' * (n == 'a-b')}"
                for c, n in ((44, "a-b"), (52, "\u03b1"), (58, "2a"))
            ),
            "1:65: the parameter name 'q1' is the name of a joint too",
            "1:72: the parameter name 'q1_ddot' is that of a rate of joint 'q1' too",
        ],
    ),
    "parameter of another kind": (
        "parameters: {a: [1], b: true, c: 1/0, d: 1 +}\n" + robot(),
        [
            "1:17: a number or an expression is wanted here, not a list",
            "1:25: a number or an expression is wanted here, not true",
            "1:34: division by zero in '1/0'",
            "1:42: '1 +' is not an expression",
        ],
    ),
    "unknown key far from any": (
        robot(more="zzz: 1\n"),
        ["9:1: unknown key 'zzz'; known here: kronbot, name, gravity, links, base, convention, description, source, "
         "parameters, elements, endpoint, damping, motion, statics, simulate, control, sweep, fit"],
    ),
    "keys that look like tags": (
        robot(more="simulate: {drive: {q1: {motion: {type: table, table: 1, <mapping>: 2, file: x}}}}\n"),
        [
            "9:47: unknown key 'table'; known here: file, periodic, held, column, start, type",
            "9:57: unknown key '<mapping>'; known here: file, periodic, held, column, start, type",
            "9:77: the file 'x' cannot be used: a robot file on standard input has no folder",
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("rule", RULES)
def test_rules(rule):
    text, expected = RULES[rule]
    assert lines(text) == expected


NOT_NEGATIVE = {
    "joint": ("damping", "rotor_inertia"),
    "body": ("mass",),
    "inertia": ("Ixx", "Iyy", "Izz"),
    "beam": ("GJ", "polar_inertia"),
    "EI": ("y", "z"),
    "tip": ("mass", "inertia"),
    "damping": ("ratio", "alpha", "beta"),
}


def number_in(where, key, value):
    entry = f"{key}: {value}"
    match where:
        case "joint":
            return robot(joint=f"{{type: revolute, name: q1, {entry}}}")
        case "body":
            return robot(f"hub: {{{entry}}}\n")
        case "inertia":
            return robot(f"payload: {{mass: 1, inertia: {{{entry}}}}}\n")
        case "beam":
            return robot(f"flexible: {{mass: 1, {entry}}}\n")
        case _:
            return robot(f"flexible: {{mass: 1, {where}: {{{entry}}}}}\n")


@pytest.mark.parametrize(("where", "key"), [(where, key) for where, keys in NOT_NEGATIVE.items() for key in keys])
def test_what_must_not_be_negative(where, key):
    (line,) = lines(number_in(where, key, "1 - 2"))
    assert line.endswith(f": '{key}' must be at least 0, it is -1")
    row, column = map(int, line.split(":")[:2])
    assert number_in(where, key, "1 - 2").splitlines()[row - 1][column - 1 :].startswith("1 - 2")
    loaded(number_in(where, key, "0"))
    loaded("parameters: {free: }\n" + number_in(where, key, "free - 1"))


MUST_BE_POSITIVE = {
    "simulate: {duration: %s}\n": "duration",
    "simulate: {step: %s}\n": "step",
    "motion: {q1: {type: cycloidal, rate: 1, half_period: %s}}\n": "half_period",
    "motion: {q1: {type: spin-up, rate: 1, duration: %s}}\n": "duration",
    "motion: {q1: {type: polynomial, from: 0, to: 1, degree: 5, duration: %s}}\n": "duration",
    "simulate: {drive: {q1: {motion: {type: spin-up, rate: 1, duration: %s}}}}\n": "duration",
}


@pytest.mark.parametrize("more", MUST_BE_POSITIVE)
@pytest.mark.parametrize("value", ["0", "-1"])
def test_what_must_be_positive(more, value):
    column = more.index("%") + 1
    expected = f"9:{column}: '{MUST_BE_POSITIVE[more]}' must be greater than 0, it is {value}"
    assert lines(robot(more=more % value)) == [expected]
    loaded(robot(more=more % "1"))


@pytest.mark.parametrize("key", ["kp", "kd"])
def test_controller_gains(key):
    other = {"kp": "kd", "kd": "kp"}[key]
    more = "simulate: {drive: {q1: {pd: {%s: 1, %s: %s}}}}\n"
    assert lines(robot(more=more % (other, key, -1))) == [f"9:41: '{key}' must be at least 0, it is -1"]
    loaded(robot(more=more % (other, key, 0)))


def test_bound_parameters_are_judged_and_free_ones_are_not():
    text = "parameters: {m: %s}\n" + robot("rigid: {mass: 2*m}\n")
    loaded(text % "")
    loaded(text % "1")
    assert lines(text % "-1") == ["10:19: 'mass' must be at least 0, it is -2"]


def test_limits_on_size():
    links = [link("pose: {}\n", f"l{i}", "{type: fixed}") for i in range(limits.LINKS + 1)]
    assert len(loaded(HEAD + "links:\n" + "".join(links[:-1])).robot.links) == limits.LINKS
    assert lines(HEAD + "links:\n" + "".join(links)) == ["6:3: 1001 links, at most 1000 are allowed"]
    links = [link("pose: {}\n", f"l{i}", f"{{type: prismatic, name: q{i}}}") for i in range(limits.MOVING)]
    loaded(HEAD + "links:\n" + "".join(links) + link("pose: {}\n", "hand", "{type: fixed}"))
    many = "".join(links) + link(DH + "flexible: {mass: 1, EI: {y: 1, z: 1}, modes: {v: 1}}\n", "b", "{type: fixed}")
    assert lines(HEAD + "links:\n" + many) == ["6:3: 129 links with coordinates, at most 128 are allowed"]
    beam = "flexible: {mass: 1, EI: {y: 1, z: 1}, modes: {v: 64, w: 64}}\n"
    links = [link(DH + beam, f"l{i}", f"{{type: revolute, name: q{i}}}") for i in range(8)]
    assert lines(HEAD + "links:\n" + "".join(links)) == ["6:3: 1032 generalized coordinates, at most 1000 are allowed"]
    loaded(HEAD + "links:\n" + "".join(links[:7]))


def test_a_parent_may_come_later():
    robot_file = robot("parent: b\n") + link(DH + "parent: base\n", "b", "{type: revolute, name: q2}")
    assert loaded(robot_file).robot.links[0].parent == "b"


@pytest.mark.parametrize("name", ["Glied", "\u03b1_1", "arm-2", "_x", "\u5173\u8282", "\u00e5"])
def test_good_names(name):
    assert loaded(robot(name=name)).robot.links[0].name == name


def test_table_files(tmp_path):
    more = "motion: {q1: {type: table, file: %s}}\nsimulate: {drive: {q1: {torque: {file: %s}}}}\n"
    (tmp_path / "m.csv").write_text("0,1\n1,1\n2,1\n3,1\n")
    (tmp_path / "d").mkdir()
    got = loaded(robot(more=more % ("m.csv", "m.csv")), tmp_path).robot
    assert got.simulate.drive["q1"].torque == TimeTable("m.csv")
    assert lines(robot(more=more % ("../m.csv", "d")), tmp_path) == [
        "9:34: the file '../m.csv' must be beside the robot file: no absolute path, no '..'",
        "10:40: 'd' is not a regular file",
    ]
    assert lines(robot(more=more % ("/m.csv", "n.csv")), tmp_path) == [
        "9:34: the file '/m.csv' must be beside the robot file: no absolute path, no '..'",
        "10:40: there is no file 'n.csv' beside the robot file",
    ]
    assert lines(robot(more=more % ("m.csv", "1"))) == [
        "9:34: the file 'm.csv' cannot be used: a robot file on standard input has no folder",
        "10:40: text is wanted here, not the number 1: put it in quotes",
    ]


def test_why_a_table_cannot_be_read(tmp_path, monkeypatch):
    """It is said that there is none only where that is known, and a guess is a file."""
    text = robot(more="motion: {q1: {type: table, file: %s}}\n")
    told = "9:34: the file '{}' beside the robot file cannot be read: {}".format
    missing = "9:34: there is no file '{}' beside the robot file".format
    (tmp_path / "loop.csv").symlink_to("loop.csv")
    (tmp_path / "table.csv").mkdir()
    (tmp_path / "mine.csv").write_text("0,1\n1,1\n2,1\n3,1\n")
    assert lines(text % "loop.csv", tmp_path) == [told("loop.csv", os.strerror(errno.ELOOP))]
    assert lines(text % "tables.csv", tmp_path) == [missing("tables.csv")]
    assert lines(text % "mine.csv/m.csv", tmp_path) == [missing("mine.csv/m.csv")]

    def gone(path, mode):
        Path(path).unlink()
        return False

    with monkeypatch.context() as others:
        others.setattr(os, "access", lambda path, mode: False)  # root may read everything
        assert lines(text % "mine.csv", tmp_path) == [told("mine.csv", os.strerror(errno.EACCES))]
        others.setattr(os, "access", gone)
        assert lines(text % "mine.csv", tmp_path) == [missing("mine.csv")]
    stat = os.stat

    def closed(path, *given, **more):
        if "inner" in str(path):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return stat(path, *given, **more)

    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "mine.csv").touch()
    monkeypatch.setattr(os, "stat", closed)
    monkeypatch.setattr(os, "lstat", closed)  # a folder that one may list, but not enter
    assert lines(text % "inner/mind.csv", tmp_path) == [told("inner/mind.csv", os.strerror(errno.EACCES))]


CYCLOIDAL = "a cycloidal motion takes {rate, half_period} or {from, to, duration}; here is "


@pytest.mark.parametrize(
    ("keys", "found"),
    [
        ("rate: 1, duration: 2", "rate, duration"),
        ("duration: 2, to: 1", "duration, to"),
        ("from: 0, to: 1, duration: 2, half_period: 1", "from, to, duration, half_period"),
        ("", "nothing of it"),
    ],
)
def test_the_two_forms_of_a_cycloidal_motion_do_not_mix(keys, found):
    entry = f"{{type: cycloidal{', ' if keys else ''}{keys}}}"
    assert lines(robot(more=f"motion: {{q1: {entry}}}\n")) == [f"9:21: {CYCLOIDAL}{found}"]
    drive = f"simulate: {{drive: {{q1: {{motion: {entry}}}}}}}\n"
    assert lines(robot(more=drive)) == [f"9:40: {CYCLOIDAL}{found}"]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("trapezoid, from: 0, to: 1", "21: a trapezoid motion takes {duration} or {duration, rate} or {duration, "
         "acceleration} or {rate, acceleration}; here is nothing of it"),
        ("trapezoid, from: 0, to: 1, rate: 1", "21: a trapezoid motion takes {duration} or {duration, rate} or "
         "{duration, acceleration} or {rate, acceleration}; here is rate"),
        ("trapezoid, from: 0, to: 1, duration: 2, rate: 1, acceleration: 1", "21: a trapezoid motion takes {duration} "
         "or {duration, rate} or {duration, acceleration} or {rate, acceleration}; here is duration, rate, "
         "acceleration"),
        ("trapezoid, from: 0, to: -3, duration: 2, rate: 1.5", "68: 'rate' must be greater than the mean rate 1.5 and "
         "at most twice that, it is 1.5"),
        ("trapezoid, from: 0, to: 3, duration: 2, rate: 3.1", "67: 'rate' must be greater than the mean rate 1.5 and "
         "at most twice that, it is 3.1"),
        ("trapezoid, from: 0, to: 3, duration: 2, acceleration: 2.9", "75: 'acceleration' must be at least 3 to "
         "arrive in time, it is 2.9"),
        ("trapezoid, from: 0, to: 3, rate: 0, acceleration: 1", "54: 'rate' must be greater than 0, it is 0"),
        ("via-points, through: [[0, 0]]", "42: 2 to 100 points are wanted here, not 1"),
        ("via-points, through: [0, 1]", "42: a list of lists of 2 values is wanted here: [[...], ...]"),
        ("via-points, through: [[0, 0], [1, 1], [0.5, 0]]", "60: the times must grow from point to point: 0.5 "
         "after 1"),
        ("via-points, through: [" + ", ".join(f"[{i}, 0]" for i in range(101)) + "]", "42: 2 to 100 points are wanted "
         "here, not 101; a table takes more"),
        ("sinusoid, amplitude: 1, frequency: 1, start: x", "66: unknown name 'x'"),
        ("polynomial, from: 0, to: 1, duration: 1, degree: 5, shaper: {type: zv, frequency: 0}", "103: 'frequency' "
         "must be greater than 0, it is 0"),
        ("polynomial, from: 0, to: 1, duration: 1, degree: 5, shaper: {type: zv, frequency: 1, damping: 1}", "115: "
         "'damping' must be at least 0 and less than 1, it is 1"),
        ("polynomial, from: 0, to: 1, duration: 1, degree: 5, shaper: {type: zv}", "73: missing key 'frequency' in "
         "'shaper'"),
        ("cycloidal, rate: 1, half_period: 1, shaper: {type: zv, frequency: 1}", "57: an input shaper is for a motion "
         "that comes to rest: take from, to, duration"),
        ("cycloidal, from: 0, to: 1, duration: 1, shaper: []", "69: 1 to 3 input shapers are wanted here, not 0"),
    ],
)  # fmt: skip
def test_trapezoids_and_via_points(entry, message):
    assert lines(robot(more=f"motion: {{q1: {{type: {entry}}}}}\n")) == [f"9:{message}"]


def test_a_file_of_poses_needs_no_convention():
    text = HEAD.replace("convention: standard\n", "") + "links:\n" + link("pose: {}\n")
    assert loaded(text).robot.convention is None


def test_a_link_may_be_called_base():
    """``base`` is then that link, ``world`` the frame that does not move; without such a link they are the same."""
    text = (
        robot(name="base")
        + link(DH + "parent: base\n", "b", "{type: revolute, name: q2}")
        + link(DH + "parent: world\n", "c", "{type: revolute, name: q3}")
    )
    assert [link.parent for link in build(loaded(text), "0").links] == [-1, 0, -1]
    text = text.replace("name: base", "name: a")
    assert [link.parent for link in build(loaded(text), "0").links] == [-1, -1, -1]


def warnings(text):
    return [str(warning).removeprefix("r.yaml:") for warning in loaded(text).warnings]


IMPOSSIBLE = "no body can have this inertia: one principal moment is larger than the other two together"
DEGREES = "is beyond 2 pi: is it in degrees?"
PERCENT = "is beyond 1: is it in percent?"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (robot("rigid: {mass: 1, inertia: {Ixx: 3, Iyy: 1, Izz: 1}}\n"), [f"9:31: {IMPOSSIBLE}"]),
        (robot("hub: {mass: 1, inertia: {Ixx: 1, Iyy: 1, Izz: 1, Ixy: 0.6}}\n"), [f"9:29: {IMPOSSIBLE}"]),
        (robot("payload: {inertia: {Ixx: 1, Iyy: 1, Izz: 1}}\n"), ["9:24: this body has inertia and no mass"]),
        # Told once; and not where no body ever turns about anything but z.
        (
            robot("hub: {inertia: {Izz: 1}}\n").replace("alpha: 0", "alpha: 1"),
            ["9:20: this body has inertia and no mass"],
        ),
        (robot("hub: {inertia: {Izz: 1}}\n"), []),
        (robot("hub: {mass: 1, inertia: {Izz: 1}}\n"), []),
        (robot("hub: {inertia: {Izz: 1, Ixx: 1}}\n"), ["9:20: this body has inertia and no mass"]),
        (
            robot("hub: {inertia: {Izz: 1}}\nflexible: {mass: 1, EI: {y: 1}, modes: {w: 1}}\n"),
            ["9:20: this body has inertia and no mass"],
        ),
        (HEAD + "links:\n" + link("pose: {rpy: [pi/2, 0, 0]}\nhub: {inertia: {Izz: 1}}\n"), []),
        (
            HEAD + "links:\n" + link("pose: {}\nhub: {inertia: {Izz: 1}}\n")
            + link("pose: {rpy: [pi/2, 0, 0]}\n", "b", "{type: revolute, name: q2}"),
            ["9:20: this body has inertia and no mass"],
        ),
        (robot("rigid: {mass: 1, inertia: {Ixx: 2, Iyy: 1, Izz: 1}}\n"), []),
        (
            robot(more="motion: {q1: {type: trapezoid, from: 0, to: 90, duration: 2}}\n"),
            [f"9:45: the angle 90 {DEGREES} (write 90*deg)"],
        ),
        (
            robot(more="motion: {q1: {type: via-points, through: [[0, 0], [90, 45], [95, 90]]}}\n"),
            [f"9:56: the angle 45 {DEGREES} (write 45*deg)"],
        ),
        (robot().replace("alpha: 0", "alpha: 90"), [f"8:29: the angle 90 {DEGREES} (write 90*deg)"]),
        (robot().replace("theta: 0", "theta: -360"), [f"8:39: the angle -360 {DEGREES} (write -360*deg)"]),
        (robot().replace("theta: 0", "theta: 2*pi"), []),
        (HEAD + "links:\n" + link("pose: {rpy: [0, 0, 90]}\n"), [f"8:24: the angle 90 {DEGREES} (write 90*deg)"]),
        (
            robot(joint="{type: revolute, name: q1, limits: [-90, 1]}"),
            [f"7:48: the angle -90 {DEGREES} (write -90*deg)"],
        ),
        (robot(joint="{type: prismatic, name: q1, limits: [-90, 1]}"), []),
        (robot(more="statics: {angles: {q1: [0, 45]}}\n"), [f"9:28: the angle 45 {DEGREES} (write 45*deg)"]),
        (robot(joint="{type: prismatic, name: q1}", more="statics: {angles: {q1: [0, 45]}}\n"), []),
        (robot("flexible: {mass: 1, GJ: 1, modes: {torsion: 1}}\n"), []),  # check tells who refuses
        (
            robot(joint="{type: revolute, name: q1, spring: {stiffness: 1, rest: 30}}"),
            [f"7:68: the angle 30 {DEGREES} (write 30*deg)"],
        ),
        (robot(joint="{type: prismatic, name: q1, spring: {stiffness: 1, rest: 30}}"), []),
        (
            robot(
                "flexible: {mass: 1, EI: {z: 1}, modes: {v: 1}}\n", more="damping: {ratios: [0.01], at: {q1: 30}}\n"
            ),
            [f"10:36: the angle 30 {DEGREES} (write 30*deg)"],
        ),
        (
            robot("flexible: {mass: 1, EI: {z: 1}, modes: {v: 2}, damping: {ratio: [0.5, 2.5]}}\n"),
            [f"9:75: the damping ratio 2.5 {PERCENT} (write 0.025)"],
        ),
        (
            robot("flexible: {mass: 1, EI: {z: 1}, modes: {v: 1}, damping: {ratio: 5}}\n"),
            [f"9:69: the damping ratio 5 {PERCENT} (write 0.05)"],
        ),
        (
            robot("flexible: {mass: 1, EI: {z: 1}, modes: {v: 1}}\n", more="damping: {ratios: 5}\n"),
            [f"10:19: the damping ratio 5 {PERCENT} (write 0.05)"],
        ),
    ],
)  # fmt: skip
def test_warnings(text, expected):
    assert warnings(text) == expected


def test_warnings_about_a_motion_have_their_place_in_it():
    """Beside those of the file, whose motion it takes the place of."""
    source = Source("r.yaml", robot(joint="{type: revolute, name: q1, limits: [-90, 1]}"), None)
    described = load(source, motion="q1: {type: cycloidal, from: 0,\n  to: 90, duration: 1}")
    assert [(each.file, each.line, each.column, each.text) for each in described.warnings] == [
        ("r.yaml", 7, 48, source.text.splitlines()[6]), ("motion", 2, 7, "  to: 90, duration: 1}")
    ]  # fmt: skip


HIDDEN = "gravity: [0, 0, -9.81]  # note{}endpoint: {{link: a, position: [5, 0, 0]}}"


@pytest.mark.parametrize(("sign", "why"), [("\x85", "end a line"), ("\u2028", "end a line"), ("\u2029", "end a line"),
                                           ("\ufeff", "skip it")])  # fmt: skip
def test_characters_that_readers_of_yaml_take_for_something_else(sign, why):
    """YAML 1.2 has no line end but CR and LF: what looks like a comment would be keys."""
    (told,) = lines(robot().replace("gravity: [0, 0, 0]", HIDDEN.format(sign)))
    code = f"U+{ord(sign):04X}"
    assert re.fullmatch(rf"4:31: the character {re.escape(code)} .* {why}.*; take it out \(in quotes .*\)", told)
    loaded(robot().replace("gravity: [0, 0, 0]", HIDDEN.format("\t\u00a0")))
    loaded("\ufeff" + robot())


USES = """\
statics: {angles: {q1: [p1]}, loads: [{frame: a, force: [p2, 0, 0]}]}
simulate: {duration: p3, drive: {q1: {torque: p4}}}
control: {sample_time: p5}
motion: {q1: {type: cycloidal, rate: 2*p6, half_period: 1}}
sweep: {question: modes, options: {q: "q1=p7"}, over: {p8: "1:2:3"}, cases: {p9: ["1", "2"]}, keep: p10}
fit: {columns: {angle.q1: 2*p11}, parameters: {p12: , p13: {prior: [1, p14]}}, offset: {angle.q1: p15}, fix: p16}
"""


def test_parameters_that_nothing_depends_on():
    """But what sections of other commands name, and what is behind what is used, in the file or in values set."""
    names = "".join(f", p{i}: 1" for i in range(1, 17))
    head = HEAD + f"parameters: {{t: 2*u, u: , v: 2*w, w: , x: 1{names}}}\nlinks:\n"
    text = head + link("dh: {a: t, d: 0, alpha: 0, theta: 0}\n") + USES
    described = loaded(text)
    (told,) = described.useless
    assert str(told) == "r.yaml:5:27: nothing in this file depends on the parameters v, w, x" and told.text
    for line in USES.splitlines():
        left = loaded(text.replace(f"{line}\n", "")).unused
        assert {*left} == {"v", "w", "x", *re.findall(r"\bp\d+\b", line)}
    # What another motion or value leaves out is in the file all the same.
    moved = load(described.source, {"t": "3*w"}, "q1: {type: cycloidal, rate: x, half_period: 1}")
    assert with_overrides(moved, {"p1": "2"}).unused == ("v",)
    assert loaded(CANADARM).unused == ("k",)


@pytest.mark.parametrize(
    ("tensor", "possible"),
    [
        ((0, 0, 0, 0, 0, 0), True),
        ((0, 1, 1, 0, 0, 0), True),  # a rod
        ((1, 1, 2, 0, 0, 0), True),  # a plate
        ((0.1, 0.2, 0.3, 0, 0, 0), True),  # a plate in decimals: 0.1 + 0.2 > 0.3
        ((1, 1, 2.0001, 0, 0, 0), False),
        ((1, 1, 2 + 1e-8, 0, 0, 0), False),
        ((1, 0, 0, 0, 0, 0), False),
        ((0, 0, 0, 1, 0, 0), False),
        ((0.5, 0.5, 1, -0.5, 0, 0), True),  # a rod along the diagonal
        ((0.5, 0.5, 1, -0.50001, 0, 0), False),
        ((1, 1, 1, 0.25, 0.25, 0.25), True),
        ((1, 1, 1, 0.25, 0.25, 0.2501), False),
        ((1e-9, 1e-9, 3e-9, 0, 0, 0), False),
        ((2 / 3, 2 / 3, 2 / 3, -1 / 3, -1 / 3, -1 / 3), True),  # a rod along (1, 1, 1)
        ((2 / 3, 2 / 3, 2 / 3, 1 / 3, 1 / 3, 1 / 3), False),
    ],
)
def test_inertia_a_body_can_have(tensor, possible):
    assert possible_inertia(*map(float, tensor)) is possible


def test_overrides():
    got = loaded(CANADARM, overrides={"EI": "2e4*l", "m3": "4"})
    assert got.values == {"EI": 120000.0, "m3": 4.0, "l": 6.0, "k": 2.0}
    assert got.robot.parameters["EI"] == parse("2e4*l")
    with pytest.raises(DescriptionError, match=r"r.yaml:15:\d+: 'mass' must be at least 0, it is -1"):
        loaded(CANADARM, overrides={"m3": "-1"})


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ({"EJ1": "1"}, "unknown parameter 'EJ1' \\(parameters: EI, m3, l, k\\)"),
        ({"m33": "1"}, "unknown parameter 'm33'; did you mean 'm3'?"),
        ({"q1": "0.5"}, "'q1' is a joint and no parameter: q tells where it stands"),
        ({"EI": "1 +"}, "the value of parameter 'EI': '1 \\+' is not an expression"),
        ({"EI": ""}, "the value of parameter 'EI': an expression is missing"),
        ({"EI": "500*mm"}, "unknown name 'mm'; numbers are in SI units, which are not written: 1e-3 in its place"),
        ({"EI": "m33"}, "the value of parameter 'EI': unknown name 'm33'; did you mean 'm3'?"),
        ({"EI": "1/0"}, "the value of parameter 'EI': division by zero"),
        ({"m3": "k"}, "circle: 'm3' -> 'k' -> 'm3'"),
    ],
)
def test_wrong_overrides_are_usage_errors(overrides, words):
    with pytest.raises(UsageError, match=words):
        loaded(CANADARM, overrides=overrides)


def test_overrides_without_parameters():
    with pytest.raises(UsageError, match="the robot has no parameters"):
        loaded(robot(), overrides={"EI": "1"})
    with pytest.raises(DescriptionError):
        loaded("- 1")


HEAVY = ("numpy", "casadi", "sympy", "scipy", "click", "rich")


def test_nothing_heavy_is_imported(tmp_path):
    (tmp_path / "good.yaml").write_text(CANADARM)
    (tmp_path / "bad.yaml").write_text(WRONG)
    code = f"""
import sys
from kronbot.description import load, read
from kronbot.errors import DescriptionError
load(read("good.yaml"))
try:
    load(read("bad.yaml"))
except DescriptionError as error:
    print(len(error.mistakes))
print([name for name in {HEAVY} if name in sys.modules])
"""
    root = __file__.rsplit("/tests/", 1)[0]
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={"PYTHONPATH": root},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.stdout, run.stderr) == (f"{len(EXPECTED)}\n[]\n", "")


@drawn(40, 95, st.data())
def test_any_damage_to_a_file_is_reported_and_never_a_traceback(data):
    """Replace, drop or add a piece of a right file: it loads, or every mistake has a place inside the file."""
    pieces = re.split(r"([\s,:{}\[\]]+)", CANADARM)
    junk = st.sampled_from(
        ["", "{}", "[]", "~", "true", "1e999", "-1", "[", "'", "*a", "\t", "x", "<mapping>", "type", "é"]
    )
    for _ in range(data.draw(st.integers(1, 4))):
        pieces[data.draw(st.integers(0, len(pieces) - 1))] = data.draw(junk | st.sampled_from(pieces))
    text = "".join(pieces)
    try:
        loaded(text)
    except DescriptionError as error:
        rows = text.splitlines()
        for mistake in error.mistakes:
            assert 1 <= mistake.line <= len(rows) + 1
            assert mistake.column >= 1 and mistake.message


@pytest.mark.parametrize(
    "text",
    [
        HEAD + "links: [" + "{parent: x}," * 3000 + "]\n",
        rare(HEAD + "links: [{}]\nmotion: {" + ",".join(f"joint{i}: 1" for i in range(4000)) + "}\n"),
        rare(HEAD + "links: [{}]\nparameters: {" + ",".join(f"p{i}: q{i}" for i in range(4000)) + "}\n"),
        HEAD + "links: [{}]\nparameters: {" + ",".join(f"p{i}: p{(i + 1) % 4000}" for i in range(4000)) + "}\n",
        rare(HEAD + "links: [{}]\nsimulate: {drive: {" + ",".join(f"j{i}: {{}}" for i in range(4000)) + "}}\n"),
    ],
    ids=["links", "motions", "names", "cycle", "drives"],
)  # fmt: skip
def test_large_wrong_files_end_soon(text):
    """Some tenths of a second, as a command has to be."""
    with bounded(2):
        assert lines(text)


def test_keys_that_do_nothing_are_told():
    """A tip is what shapes are made for, and no load; a fixed joint does not move."""
    beam = "flexible: {mass: 1, length: 1, EI: {z: 10}, modes: {v: 1}, shape: SHAPE, tip: {mass: 5}}"
    links = f"links:\n  - name: b\n    joint: {{type: fixed, damping: 3, limits: [0, 1]}}\n    pose: {{}}\n    {beam}\n"
    text = "kronbot: 1\nname: told\ngravity: [0, 0, 0]\n" + links
    warnings = kronbot.loads(text.replace("SHAPE", "legendre")).check().warnings
    assert [each.partition(": ")[0] for each in warnings] == ["<text>:6:35", "<text>:6:46", "<text>:8:86"]
    assert "'damping' does nothing" in warnings[0] and "'limits' does nothing" in warnings[1]
    assert "'tip' is what the shapes clamped-mass are made for, and no load" in warnings[2]
    assert len(kronbot.loads(text.replace("SHAPE", "clamped-mass")).check().warnings) == 2


IDLE = """
kronbot: 1
name: idle
gravity: [0, 0, 0]
links:
  - name: a
    joint: {type: revolute, name: q1, gear: 100, ROTOR bearing: {stiffness: {x: 1e4}, damping: {x: 1, y: 5}}}
    pose: {}
    flexible: {mass: 1, length: 1, EI: {z: 10}, modes: {v: 1}}
statics: {calibration: {q1: 0.1} GAUGES}
control: {sample_time: 0.01 CONTROLLER}
"""


def test_every_one_of_them_and_none_that_does_something():
    """What turns one into a key that acts silences its warning, and no other."""
    effort = ", effort: [-1, 1]"
    parts = {
        "ROTOR": "rotor_inertia: 1e-4,", "GAUGES": ", gauges: [{name: g, link: a, x: 0}]",
        "CONTROLLER": ", q1: {pid: {kp: 1}, anti_windup: none}",
    }  # fmt: skip
    words = {"ROTOR": "'gear'", "GAUGES": "'gauges'", "CONTROLLER": "no controller that would be sampled"}

    def warned(*given):
        text = IDLE
        for part, filling in parts.items():
            text = text.replace(part, filling if part in given else "")
        return " ".join(kronbot.loads(text).check().warnings)

    for part, word in words.items():
        assert word in warned() and word not in warned(part)
        assert all(other in warned(part) for key, other in words.items() if key != part)
    assert "rigid about y" in warned() and "rigid about x" not in warned()
    assert "without 'effort'" in warned("CONTROLLER") and "without 'effort'" not in warned()
    parts["CONTROLLER"] = parts["CONTROLLER"].replace("}, anti", "}" + effort + ", anti")
    assert "without 'effort'" not in warned("CONTROLLER")


def test_motions_that_no_joint_makes_have_places(tmp_path):
    """Beyond 1e12 a double tells no angle from the next: a spline through 1e200 has been nan without a place."""
    (tmp_path / "r.yaml").write_text(
        IDLE.replace("ROTOR", "").replace("GAUGES", "").replace("CONTROLLER", "")
        + "motion: {q1: {type: table, file: t.csv}}\n"
    )
    (tmp_path / "t.csv").write_text("t,q1\n0,0\n1,1e200\n2,-1e13\n1e300,0\n")
    with pytest.raises(DescriptionError) as told:
        kronbot.load(tmp_path / "r.yaml")
    assert [(each.line, each.column) for each in told.value.mistakes] == [(3, 3), (4, 3), (5, 1)]
    (tmp_path / "t.csv").write_text("t,q1\n0,0\n1,1e12\n2,-1e12\n1e12,0\n")
    kronbot.load(tmp_path / "r.yaml")
