"""Units of columns: the table of README's words by joints and shapes, and the same answer in other units."""

import numpy as np
import pytest

import kronbot

TEXT = """
kronbot: 1
name: crane
convention: standard
gravity: [0, -9.81, 0]
links:
  - name: mast
    joint: {type: revolute, name: slew}
    dh: {a: 1, d: 0, alpha: 0, theta: 0}
    flexible: {mass: 2, EI: {z: 4e3}, modes: {v: 2}, shape: polynomial}
  - name: cart
    joint: {type: prismatic, name: slide}
    dh: {a: 0, d: 0, alpha: pi/2, theta: 0}
    rigid: {mass: 1, inertia: {Ixx: 1, Iyy: 1, Izz: 1}}
statics: {gauges: [{link: mast, x: 0.5, name: g}], calibration: {slew: 0}}
simulate: {duration: 0.02, step: 0.01, drive: {slew: {torque: 1}}}
"""


@pytest.fixture(scope="module")
def crane():
    return kronbot.loads(TEXT)


def test_simulation(crane):
    units = crane.simulate().units
    expected = {"t": "s", "slew": "rad", "slew_dot": "rad/s", "torque.slew": "N m", "endpoint.x": "m"}
    expected |= {"slide": "m", "slide_dot": "m/s", "torque.slide": "N", "tip.mast.y": "m", "energy.work": "J"}
    expected |= {"mast.v1": "m^-1", "mast.v1_dot": "m^-1/s", "mast.v2": "m^-2"}
    assert {name: units[name] for name in expected} == expected


def test_statics(crane):
    units = crane.statics().units
    expected = {"angle.slew": "rad", "angle.slide": "m", "force.x": "N", "moment.z": "N m", "torque.slide": "N"}
    expected |= {"curvature.g": "1/m", "twist_relative.g": "1/m", "tip.mast.x": "m", "tip.mast.rz": "rad"}
    expected |= {"reaction.fx": "N", "reaction.mz": "N m", "displacement_hub.y": "m", "energy.elastic": "J"}
    assert {name: units[name] for name in expected} == expected


def test_linear_models(crane):
    """A generalized force per coordinate, rate or acceleration."""
    answer = crane.linearize()
    forces, coordinates = ["N m", "J/(m^-1)", "J/(m^-2)", "N"], ["rad", "m^-1", "m^-2", "m"]
    for name, time in (("M_L", "s2"), ("D_L", "s"), ("K_L", "1")):
        assert answer.arrays[name].plain_units["rows"] == forces
        assert list(answer.arrays[name].units["columns"]) == [f"{time}/({unit})" for unit in coordinates]


def test_jacobians(crane):
    """Metres and radians of the frame per coordinate; of Hessians per two."""
    J_T, J_R = (crane.jacobian().arrays[name].units for name in ("J_T", "J_R"))
    per = ["1/(rad)", "1/(m^-1)", "1/(m^-2)", "1/(m)"]
    assert (J_T["rows"], J_R["rows"]) == (("m",) * 3, ("rad",) * 3)
    assert [unit.replace("(", "").replace(")", "") for unit in J_T["columns"]] == [
        unit.replace("(", "").replace(")", "") for unit in per
    ]


@pytest.mark.slow
def test_torsion():
    """A twist is an angle, whose coordinate is over metres where the shape is a power of x."""
    text = TEXT.replace("EI: {z: 4e3}, modes: {v: 2}", "EI: {z: 4e3}, GJ: 10, polar_inertia: 1, modes: {torsion: 2}")
    polynomial, sine = kronbot.loads(text), kronbot.loads(text.replace("shape: polynomial", "shape: clamped-free"))
    assert [polynomial.simulate().units[f"mast.t{i}"] for i in (1, 2)] == ["rad/m^1", "rad/m^2"]
    assert sine.simulate().units["mast.t1"] == "rad"


def test_every_column_has_one(crane):
    """Of all questions that answer with series of numbers, at every order and by both solvers."""
    answers = [
        crane.simulate(),
        crane.statics(solver="linear"),
        crane.statics(),
        kronbot.load("torso", order="0").simulate(0.02, 0.01),
    ]
    for answer in [*answers, kronbot.load("piedboeuf").statics()]:
        assert list(answer.units) == list(answer.series)


def test_views_tell_them(crane):
    answer = crane.simulate()
    assert answer.to_pandas().attrs["units"]["slew"] == "rad"
    assert answer.to_xarray()["torque.slide"].attrs["units"] == "N"
    assert np.array_equal(answer.to_xarray()["t"].values, answer["t"])


def test_names_of_taylor_coefficients(crane):
    """The columns of a derivative: those of its quantity, which a vector lacks, then what it is derived by."""
    names = ["slew", "mast.v1", "mast.v2", "slide"]
    g, M = (crane.taylor(of, 2 if of == "g" else 1).arrays for of in ("g", "M"))
    assert g["g"].columns is None
    assert list(g["dg_dq"].columns) == names
    assert list(g["d2g_dq2"].columns) == [f"{a}|{b}" for a in names for b in names]
    assert list(M["dM_dq"].columns) == [f"{a}|{b}" for a in names for b in names]
