"""Every number of an answer is in the unit that is told of it: another metre, kilogram and second change it so."""

import re

import numpy as np
import pytest

import kronbot

TEXT = """
kronbot: 1
name: dimensions
gravity: [0, -1.3*L/T**2, -9.81*L/T**2]
parameters: {L: 1, M: 1, T: 1}
BASE
links:
  - name: cart
    joint:
      type: prismatic
      name: s
      damping: 20*M/T
      rotor_inertia: 2*M
      elastic: {stiffness: 9e3*M/T**2, damping: 4*M/T}
      bearing: {stiffness: {x: 5e3*M*L**2/T**2, y: 4e3*M*L**2/T**2}, damping: {x: 3*M*L**2/T}}
      friction: {coulomb: 2*M*L/T**2, smoothing: 0.5*L/T}
      limits: [-9*L, 9*L]
    pose: {rpy: [0, pi/2, 0]}
    rigid: {mass: 8*M, com: [0.1*L, 0.2*L, 0], inertia: {Ixx: M*L**2, Iyy: M*L**2, Izz: M*L**2}}
  - name: mast
    joint:
      type: revolute
      name: a
      damping: 0.3*M*L**2/T
      rotor_inertia: 0.4*M*L**2
      elastic: {stiffness: 400*M*L**2/T**2}
    pose: {rpy: [0.3, -pi/2, 0]}
    flexible:
      length: 1.1*L
      mass: 0.8*M
      EI: {y: 90*M*L**3/T**2, z: 60*M*L**3/T**2}
      GJ: 50*M*L**3/T**2
      polar_inertia: 1e-2*M*L
      modes: {v: 1, torsion: 1}
      shape: SHAPE
      damping: {ratio: 0.02}
    payload: {mass: 0.5*M, com: [0, 0.02*L, 0], inertia: {Ixx: 0.02*M*L**2, Iyy: 0.02*M*L**2, Izz: 0.02*M*L**2}}
  - name: fork
    joint: {type: prismatic, name: f, follows: s/2 + 0.1*L*a, elastic: {stiffness: 5e3*M/T**2}}
    pose: {rpy: [pi/2, 0, 0]}
    rigid: {mass: 2*M}
  - name: hand
    joint:
      type: revolute
      name: b
      spring: {stiffness: 6*M*L**2/T**2, rest: 0.1}
      bearing: {stiffness: {y: 700*M*L**2/T**2}}
    pose: {xyz: [0.2*L, 0, 0]}
    rigid: {mass: M, com: [0.1*L, 0, 0.05*L], inertia: {Ixx: 0.01*M*L**2, Iyy: 0.01*M*L**2, Izz: 0.01*M*L**2}}
endpoint: {link: hand, position: [0.2*L, 0.1*L, 0]}
elements:
  - name: rope
    type: spring
    between: [GROUND, mast]
    points: [[0.5*L, 2*L, L], [0, 0, 0]]
    stiffness: 30*M/T**2
    rest: 0.5*L
    damping: M/T
  - {name: ram, type: actuator, between: [cart, hand], points: [[0, L, 0], [0, 0, 0]], force: 3*M*L/T**2}
statics: {gauges: [{name: g, link: mast, x: 0.2*L}]}
simulate:
  duration: 0.2*T
  step: 0.05*T
  drive:
    s: {torque: 30*M*L/T**2}
    b: {pd: {kp: 20*M*L**2/T**2, kd: 2*M*L**2/T, target: 0.5}}
"""
OTHER = {"L": 0.6, "M": 1.7, "T": 1.3}
# Metre, kilogram, second.
POWERS = {
    "m": (1, 0, 0), "kg": (0, 1, 0), "s": (0, 0, 1), "rad": (0, 0, 0), "1": (0, 0, 0), "N": (1, 1, -2),
    "J": (2, 1, -2), "W": (2, 1, -3), "Hz": (0, 0, -1), "deg": (0, 0, 0),
}  # fmt: skip


FLOATING = "base: {type: floating, rigid: {mass: 9*M, inertia: {Ixx: 2*M*L**2, Iyy: 2*M*L**2, Izz: 3*M*L**2}}}"


def powers(unit):
    """Of metre, kilogram and second in a unit: factors between spaces, each with what it is divided by."""
    total, rest = np.zeros(3), unit
    while rest:
        sign, match = 1, re.match(r" ?([A-Za-z]+|1)(?:\^?(-?\d+))?", rest)
        while match:
            total = total + sign * np.array(POWERS[match[1]]) * int(match[2] or 1)
            rest = rest[match.end() :]
            if rest.startswith("/("):
                inner = rest[2 : rest.index(")")]
                total, rest = total - powers(inner), rest[len(inner) + 3 :]
            sign, match = -1, re.match(r"/([A-Za-z]+|1)(?:\^?(-?\d+))?", rest)
    return total


def factor(unit):
    """By which a number in that unit grows where the metre, the kilogram and the second are others."""
    return float(np.prod(np.array([OTHER["L"], OTHER["M"], OTHER["T"]]) ** powers(unit)))


def test_units_are_read_as_they_are_written():
    for unit, wanted in (
        ("N m s/rad", (2, 1, -1)), ("J/(m^-1)", (3, 1, -2)), ("s2/(rad m^-1)", (1, 0, 2)), ("1/(m rad/m^1)", (0, 0, 0)),
        ("rad/m^1/s", (-1, 0, -1)), ("1/m", (-1, 0, 0)), ("m/s2", (1, 0, -2)), ("kg m2", (2, 1, 0)),
    ):  # fmt: skip
        assert tuple(powers(unit)) == wanted, unit


def written(base, shape, order):
    text = TEXT.replace("BASE", base).replace("GROUND", "base" if base else "world").replace("SHAPE", shape)
    return kronbot.loads(text, order=order)


def asked(robot, scales):
    """Answers at one state, told in the units of the robot."""
    n, draw = robot.n, np.random.default_rng(3)
    per = np.array([factor(unit) for unit in robot.units]) if scales is OTHER else np.ones(n)
    T = scales["T"]
    q, qd, qdd = draw.uniform(-0.4, 0.4, n) * per, draw.uniform(-1, 1, n) * per / T, draw.uniform(-1, 1, n) * per / T**2
    force = np.array([3.0, -2.0, 5.0]) * (factor("N") if scales is OTHER else 1)
    still = dict(zip(robot.joints, q[[robot.coordinates.index(name) for name in robot.joints]], strict=True))
    if not robot.coordinates[0].startswith("base"):  # what a base that floats is not asked; it has all other units
        yield robot.statics(q=still, forces=[force])
        yield robot.linearize(q=still, qd=qd, qdd=qdd)
        return
    yield robot.kinematics(q=q, frame=["endpoint", "mast"])
    yield robot.jacobian(q=q, qd=qd)
    yield robot.hessian(q=q, qd=qd, qdd=qdd)
    yield robot.dynamics(q=q, qd=qd, qdd=qdd)
    yield robot.taylor("M", 1, q=q)
    yield robot.modes(q=still)
    yield robot.check()
    outputs = (
        "reaction:a,velocity:endpoint,acceleration:a,power:b,spring:a,spring:s,rotation:mast,acceleration:endpoint"
    )
    yield robot.simulate(0.05 * T, q=still, outputs=outputs, rtol=1e-8, atol=1e-11)


def entries(array):
    """The factor of every entry of an array; NaN where units are not told."""
    units = array.units
    if isinstance(units, str):
        return np.full(np.shape(array.values), np.nan if units == "SI" else factor(units))
    sides = [np.array([np.nan if each == "SI" else factor(each) for each in units.get(side, ["1"])])
             for side in ("rows", "columns")]  # fmt: skip
    return sides[0][:, None] * sides[1] if array.columns is not None else sides[0]


# What rounding leaves, and shapes, which are known but for a factor.
LOOSE = ("accuracy", "energy.balance", "shapes", "shapes_locked", "shapes_free")


@pytest.mark.slow
@pytest.mark.parametrize(("base", "shape", "order"), [("", "polynomial", 2), (FLOATING, "craig-bampton", 0)])
def test_answers_are_in_the_units_that_they_tell(base, shape, order, unmeasured):
    robot = written(base, shape, order)
    other = robot.with_parameters(**OTHER)
    ones = dict.fromkeys("LMT", 1.0)
    wrong = []
    for plain, changed in zip(asked(robot, ones), asked(other, OTHER), strict=True):
        for name, array in plain.arrays.items():
            if name in LOOSE:
                continue
            grown, now = array.values * entries(array), changed.arrays[name].values
            known = np.isfinite(np.broadcast_to(grown, now.shape))
            size = np.abs(now).max(initial=0.0)
            if not np.allclose(np.where(known, now, 0), np.where(known, grown, 0), rtol=1e-6, atol=1e-8 * size):
                wrong.append((plain.command, name))
        for name, column in plain.series.items():
            if name not in LOOSE and column.dtype.kind == "f":
                grown, now = column * factor(plain.units[name]), changed.series[name]
                size = np.abs(now).max(initial=0.0)
                if not np.allclose(now, grown, rtol=1e-5, atol=1e-7 * max(size, 1e-3)):
                    wrong.append((plain.command, name))
    assert not wrong


@pytest.mark.parametrize(
    ("gravity", "unit"), [("0, 0, -9810", "mm"), ("0, -981, 0", "cm"), ("0, 0, -g", None), ("0, 0, -50", None)]
)
def test_gravity_of_the_earth_in_other_units_is_asked_about(gravity, unit):
    """By ``check`` alone: who means it so is not told again."""
    robot = kronbot.loads(
        f"kronbot: 1\nname: a\ngravity: [{gravity}]\nparameters: {{g: }}\nlinks:\n"
        "  - {name: a, joint: {type: revolute, name: q1}, pose: {}, rigid: {mass: 1, com: [1, 0, 0]}}\n"
    )
    asked = [each for each in robot.check().warnings if "gravity of" in each]
    assert [f"is it in {unit}/s2?" in each for each in asked] == [True] * (unit is not None)
    assert unit is None or not any("gravity of" in each for each in robot.statics().warnings)
