"""Postures at which entries of a linear model cancel: bars that hold a rounding of every number, counts of what is."""

import random

import mpmath as mp
import numpy as np
import pytest
from exact_poles import meant, poles, reached
from robots_in_tests import model
from scipy.optimize import linear_sum_assignment
from special_robots import special
from thinned import rare

from kronbot import loads
from kronbot.errors import ComputationError
from kronbot.mechanics.linear.rounding import Entries
from kronbot.questions.linearize import Choice, Linearization, Point

HEAD = "kronbot: 1\nname: special\nconvention: standard\ngravity: {}\n"
HANGING = """links:
  - {name: a, joint: {type: revolute, name: q0, damping: 2}, dh: {a: 1, d: 0, alpha: 0, theta: 0},
     rigid: {mass: 1, inertia: {Izz: 1}}}
  - {name: b, parent: a, joint: {type: revolute, name: q1, damping: 4, spring: {stiffness: 50, rest: 0}},
     dh: {a: 0, d: 0, alpha: 0, theta: 0}, rigid: {mass: 1, inertia: {Izz: 1}}}
  - {name: c, parent: a, joint: {type: revolute, name: q2, damping: 1, spring: {stiffness: 70, rest: 0}},
     dh: {a: 0, d: 0, alpha: 0, theta: 0}, rigid: {mass: 1, inertia: {Izz: 1}}}
"""
SLIDERS = """links:
  - {name: a, joint: {type: revolute, name: q0}, dh: {a: 1, d: 0, alpha: 0, theta: pi},
     rigid: {mass: 1, com: [-0.5, 0, 0], inertia: {Izz: 1}}}
  - {name: b, parent: a, joint: {type: prismatic, name: q1, spring: {stiffness: 50, rest: 0}},
     dh: {a: 2, d: 0, alpha: 0, theta: pi}, rigid: {mass: 1, inertia: {Izz: 1}}}
  - {name: c, parent: a, joint: {type: prismatic, name: q2, spring: {stiffness: 50, rest: 0}},
     dh: {a: 2, d: 0, alpha: 0, theta: pi}, rigid: {mass: 1, inertia: {Izz: 1}}}
"""
FOLDED = """links:
  - {name: a, joint: {type: revolute, name: q0, spring: {stiffness: 3, rest: 0}},
     dh: {a: 1, d: 0, alpha: 0, theta: 0}, rigid: {mass: 1, inertia: {Izz: 1}}}
  - {name: b, joint: {type: fixed}, dh: {a: 1, d: 0, alpha: 0, theta: THETA}, rigid: {mass: 1, inertia: {Izz: 1}}}
"""


@pytest.mark.parametrize(
    ("robot", "gravity", "q"),
    [
        (HANGING, "[0, -10, 0]", {"q0": "pi"}),
        rare(HANGING, "[0, -10, 0]", {"q0": "-pi"}),
        (SLIDERS, "[10, 0, 0]", {"q0": "pi/2", "q2": "1"}),
    ],
)
def test_a_pole_that_the_float_of_an_angle_moves_off_zero_is_zero_within_its_error(robot, gravity, q):
    answer = loads(HEAD.format(gravity) + robot).linearize(q=q)
    assert answer.summary["verdict"].startswith("undecided, pole 1 grows at ")
    assert abs(answer["poles"][0]) < answer["accuracy"][0, 0] < 1e-7
    assert (answer["accuracy"][1:, 0] < 1e-13).all()


def test_an_error_holds_the_neighbours_of_an_angle():
    robot = loads(HEAD.format("[0, -10, 0]") + HANGING)
    near = [np.nextafter(3.1415, -np.inf), 3.1415, np.nextafter(3.1415, np.inf)]
    below, at, above = (robot.linearize(q={"q0": float(q)}) for q in near)
    for other in (below, above):
        off = np.abs(other["poles"] - at["poles"])
        assert off[0] > 1e-15 and (off <= at["accuracy"][:, 0]).all()


@pytest.mark.parametrize(
    ("theta", "states"), [("pi", 0), rare("3.141592653589793", 0), rare("pi/2+pi/2", 0), ("3.14159", 2)]
)
def test_what_only_rounding_lets_a_force_reach_is_out_of_reach(theta, states):
    text = HEAD.format("[0, 0, 0]") + FOLDED.replace("THETA", theta)
    summary = loads(text).linearize(inputs="force", outputs="endpoint").summary
    assert (summary["controllable"], summary["observable"]) == (states, states)


def test_rounding_of_what_outputs_show_is_not_seen():
    text = HEAD.format("[0, 0, 0]") + FOLDED.replace("THETA", "3.141592653589793") + "endpoint: {link: b}\n"
    for output, states in (("position:endpoint", 0), ("acceleration:endpoint", 2), ("rotation:endpoint", 2)):
        assert loads(text).linearize(outputs=output).summary["observable"] == states


HUB = """links:
  - {name: hub, joint: {type: revolute, name: h, damping: 1}, dh: {a: 2, d: 0, alpha: pi/2, theta: 0},
     rigid: {mass: 2, com: [-0.5, 0, 0], inertia: {Ixx: 1, Iyy: 1, Izz: 1}}}
"""
SLIDER = """  - name: sNUMBER
    parent: hub
    joint: {type: prismatic, name: qNUMBER, damping: 3, rotor_inertia: 1, elastic: {stiffness: 1e6}}
    dh: {a: 1, d: 0, alpha: 0, theta: 0}
    rigid: {mass: 2, inertia: {Ixx: 1, Iyy: 2, Izz: 1}}
"""
FALLING = """base: {type: floating, rigid: {mass: 4, inertia: {Ixx: 2, Iyy: 2, Izz: 2}}}
links:
  - {name: a, parent: base, joint: {type: revolute, name: q0}, dh: {a: 1, d: 1, alpha: -pi/2, theta: 0},
     rigid: {mass: 1, com: [0, 1, 0], inertia: {Ixx: 1, Iyy: 2, Izz: 1}}}
"""
GEARED = """links:
  - name: a
    joint: {type: prismatic, name: q0, damping: 2, rotor_inertia: 1, gear: 2}
    dh: {a: 1, d: 0, alpha: 0, theta: pi}
    rigid: {mass: 1, com: [-0.5, 0, 0], inertia: {Ixx: 1, Iyy: 2, Izz: 1}}
  - {name: b, joint: {type: revolute, name: q1, rotor_inertia: 1, gear: 2}, dh: {a: 0, d: 1, alpha: 0, theta: 0},
     rigid: {mass: 1, com: [0, 1, 0], inertia: {Ixx: 1, Iyy: 1, Izz: 1}}}
  - name: c
    joint: {type: revolute, name: q2, rotor_inertia: 1, gear: 2, bearing: {stiffness: {x: 100, y: 100}}}
    dh: {a: 0, d: 1, alpha: -pi/2, theta: 0}
    rigid: {mass: 1, com: [0, 1, 0], inertia: {Ixx: 1, Iyy: 1, Izz: 1}}
"""
MIXED = """links:
  - {name: a, joint: {type: prismatic, name: q0}, dh: {a: 2, d: 0, alpha: 0, theta: -pi/2},
     rigid: {mass: 1, inertia: {Ixx: 1, Iyy: 1, Izz: 1}}}
  - name: b
    joint: {type: revolute, name: q1}
    dh: {a: 1, d: 0, alpha: -pi/2, theta: -pi/2}
    flexible: {mass: 1, EI: {z: 1000, y: 10}, modes: {v: 1, w: 1}, shape: polynomial, damping: {alpha: 1}}
  - name: c
    joint: {type: revolute, name: q2, damping: 4, rotor_inertia: 1, elastic: {stiffness: 1e6}}
    dh: {a: 1, d: 0, alpha: 0, theta: pi}
    rigid: {mass: 1, com: [0, 1, 0], inertia: {Ixx: 1, Iyy: 2, Izz: 1}}
  - {name: d, joint: {type: revolute, name: q3, damping: 4}, dh: {a: 1, d: 0, alpha: -pi/2, theta: pi},
     rigid: {mass: 1, inertia: {Ixx: 1, Iyy: 1, Izz: 1}}}
"""
FORKED = """links:
  - {name: a, joint: {type: revolute, name: q0}, dh: {a: 1, d: 0, alpha: pi/2, theta: 0},
     rigid: {mass: 2, inertia: {Ixx: 1, Iyy: 2, Izz: 1}}}
  - {name: b, parent: a, joint: {type: revolute, name: q1}, dh: {a: 1, d: 0, alpha: 0, theta: 0},
     rigid: {mass: 2, inertia: {Ixx: 1, Iyy: 2, Izz: 1}}}
  - {name: c, parent: a, joint: {type: revolute, name: q2}, dh: {a: 1, d: 0, alpha: 0, theta: 0},
     rigid: {mass: 2, inertia: {Ixx: 1, Iyy: 2, Izz: 1}}}
"""
ANGLES = {"pi": 2, "-pi": -2, "pi/2": 1, "-pi/2": -1}


def sliders(count):
    return HUB + "".join(SLIDER.replace("NUMBER", str(i)) for i in range(count))


def checked(text, inputs=("torques",), outputs=("joints",), q=(), qd=()):
    """The linear model, found right in 80 digits of what the file means: entries, poles, growth, counts and verdict."""
    robot, places = model(text), [dict(q), dict(qd)]
    with mp.workdps(80):
        given = [[_number(part.get(name, 0)) for name in robot.coordinates] for part in places]
        columns = [*given, *([mp.mpf(0)] * size for size in (robot.n, len(robot.joints), 3))]
        question = Linearization(robot, Choice(frozenset(), inputs, outputs), False)
        answer = question.at(Point(*(np.array(column, dtype=float) for column in columns)))
        exactly = meant(question.trace, "MDKEP", *columns)
        entries = Entries.at(question.trace, [np.array([column], dtype=float) for column in columns])
        for name, wanted in exactly.items():
            found, errors = (np.ravel(rows[name][0], order="F") for rows in (entries.values, entries.errors))
            off = [float(abs(mp.mpf(float(x)) - y)) for x, y in zip(found, wanted, strict=True)]
            assert (np.array(off) <= errors + 1e-60).all(), name
        n = robot.n
        M, D, K, E, P = (_matrix(exactly[name], len(exactly[name]) // n if name == "P" else n) for name in "MDKEP")
        left = [mp.mpc(0) if abs(s) < 1e-9 else s for s in poles(M, D, K)]  # roots of 80 digits: there are no slow ones
        _match(answer, left)
        A, B, C = mp.zeros(2 * n), mp.zeros(2 * n, E.cols), mp.zeros(2 * n, P.rows)
        A[:n, n:], A[n:, :n], A[n:, n:] = mp.eye(n), -mp.inverse(M) * K, -mp.inverse(M) * D
        B[n:, :], C[:n, :] = mp.inverse(M) * E, P.T
        counts = reached(A, B), reached(A.T, C)
    said = answer.summary
    assert (said["controllable"], said["observable"]) == counts
    growth = max((float(s.real) for s in left if s), default=0.0)
    growth = growth if abs(growth) > 1e-25 else 0.0
    if growth > 0:
        assert said["verdict"].startswith(("unstable", "undecided"))
    else:
        assert not said["verdict"].startswith("unstable" if growth else ("unstable", "asymptotically"))
    return answer


def _number(value):
    return mp.pi / 2 * ANGLES[value] if value in ANGLES else mp.mpf(value)


def _matrix(flat, rows):
    """Of columns one below the other; what is left of zeros by the digits of pi is none."""
    flat = [x if abs(x) > mp.mpf(10) ** -65 else mp.mpf(0) for x in flat]
    return mp.matrix([flat[i::rows] for i in range(rows)]) if flat else mp.matrix(rows, 0)


def _match(answer, left):
    """Whether exact poles can be given to those found, each to one whose errors hold it and its growth."""
    rows = []
    for s, (error, growth, *_, count) in zip(
        answer.arrays["poles"].values, answer.arrays["accuracy"].values, strict=True
    ):
        rows += [(s, error, growth)] * int(count) if not s.imag else [(z, error, growth) for z in (s, s.conjugate())]
    assert len(rows) == len(left)
    off = np.array([
        [abs(s - mp.mpc(z)) > error + 1e-18 * abs(s) or abs(s.real - z.real) > growth + 1e-18 * abs(s) for s in left]
        for z, error, growth in rows
    ])  # fmt: skip
    assert not off[linear_sum_assignment(off)].any()


@pytest.mark.slow
def test_equal_sliders_keep_the_poles_they_share_where_the_hub_is_indifferent():
    answer = checked(HEAD.format("[-10, 0, 0]") + sliders(3), q={"h": "pi/2"})
    shared = np.abs(answer.arrays["poles"].values + 1.000001333336000005) < 1e-9
    assert np.count_nonzero(shared) == 2
    assert (answer.arrays["accuracy"].values[shared][:, [0, 4]] <= [1e-12, 2]).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("robot", "gravity", "given", "counts"),
    [
        rare(FALLING, "[10, 0, 0]", {"inputs": ("force",), "outputs": ("endpoint",)}, (10, 10)),
        (GEARED, "[-10, 0, 0]",
         {"inputs": ("force",), "outputs": ("endpoint",), "q": {"q2": "-pi/2"}, "qd": {"q2": -3}}, (6, 6)),
        (MIXED, "[0, 0, 0]", {"inputs": ("force",), "q": {"q3": "pi"}}, (12, 14)),
        (FORKED, "[-10, 0, 0]", {"inputs": ("force",), "q": {"q0": "pi", "q2": "pi/2"}, "qd": {"q2": 2}}, (4, 6)),
    ],
)  # fmt: skip
def test_poles_at_zero_by_chance_count_with_those_of_free_coordinates(robot, gravity, given, counts):
    summary = checked(HEAD.format(gravity) + robot, **given).summary
    assert (summary["controllable"], summary["observable"]) == counts


# At a start of the last one the polynomial is singular to the last bit, and a rounding away, too.
@pytest.mark.parametrize("seeds", [range(2), rare([2, 3080])])
def test_random_robots_at_special_postures(seeds):
    for seed in seeds:
        text, given = special(random.Random(seed))
        try:
            checked(text, **given)
        except ComputationError as error:
            assert "moves no inertia of its own" in str(error)
