"""Structural damping gives every mode of the bare beam its ratio."""

import casadi
import numpy as np
import pytest
from oracles import Beam
from robots_in_tests import model

SHAPES = ["clamped-free", "polynomial", "legendre", "craig-bampton"]
FLEXIBLE = {
    "mass": 2.0,
    "EI": {"y": 30.0, "z": 70.0},
    "GJ": 11.0,
    "polar_inertia": 0.01,
    "modes": {"v": 2, "w": 1, "torsion": 2},
}


def damping_matrix(flexible):
    link = {"name": "beam", "joint": {"type": "fixed"}, "dh": {"a": 1.3, "d": 0, "alpha": 0, "theta": 0}}
    robot = {"kronbot": 1, "name": "b", "convention": "standard", "gravity": [0, 0, 0]}
    built = model(robot | {"links": [link | {"flexible": flexible}]})
    function = casadi.Function("D", [built.parameters.symbols()], [casadi.densify(built.damping_of_parts)])
    return np.array(function(built.parameters.bound()))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "damping", [{"ratio": 0.03}, {"ratio": [0.1, 0.2, 0.3, 0.4, 0.5]}, {"alpha": 0.4, "beta": 2e-3}]
)
def test_damping_agrees_with_the_oracle(shape, damping):
    """The definition of the design, worked out by an independent program."""
    flexible = FLEXIBLE | {"shape": shape, "damping": damping}
    wanted = Beam(flexible, 1.3, 1).matrices()[2]
    ours = damping_matrix(flexible)
    size = np.sqrt(np.outer(np.diag(wanted), np.diag(wanted)))
    assert np.abs((ours - wanted) / size).max() < 1e-10  # the powers of a polynomial basis cost four digits
