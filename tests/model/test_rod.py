"""Order exact: the integrals of orders 1 and 2 for a straight beam, an adaptive integration for a bent one."""

import casadi
import numpy as np
import pytest
from casadi import SX
from oracles import Beam, rod
from robots_in_tests import model
from thinned import rare

# Sampled at three Gauss points a step, 4 modes miss frequencies by 1e-7 and 14 miss stiffness by 4e-6.
MODES = [
    ("clamped-free", {"v": 1, "w": 2, "torsion": 1}),
    ("clamped-free", {"w": 4}),
    ("clamped-free", {"v": 10}),
    ("craig-bampton", {"v": 3, "w": 1, "torsion": 1}),
    rare("clamped-free", {"v": 2, "w": 2, "torsion": 2}),
    rare("clamped-free", {"v": 3, "w": 4, "torsion": 1}),
    rare("craig-bampton", {"v": 4, "w": 3, "torsion": 2}),
    rare("clamped-free", {"v": 14}),
]
STIFF = ("legendre", {"v": 10})


def flexible(shape, modes):
    return {"mass": 1.0, "modes": modes, "shape": shape, "EI": {"y": 1.0, "z": 1.0}, "GJ": 1.0, "polar_inertia": 0.01}


def values(shape, modes, order, q, parts):
    """Numbers of ``parts``, functions of a beam and its coordinates, at coordinates q."""
    link = {"name": "rod", "joint": {"type": "fixed"}, "dh": {"a": 1.2, "d": 0, "alpha": 0, "theta": 0}}
    links = [{**link, "flexible": flexible(shape, modes)}]
    robot = model({"kronbot": 1, "name": "r", "convention": "standard", "gravity": [0, 0, 0], "links": links}, order)
    beam = robot.links[0].beam
    q_f = SX.sym("q", beam.n)
    dense = [casadi.densify(part) for part in parts(beam, q_f)]
    function = casadi.Function("f", [q_f, robot.parameters.symbols()], dense)
    return [np.array(each) for each in function.call([np.broadcast_to(q, beam.n), robot.parameters.bound()])]


def tip(beam, q_f):
    pose = beam.cross_sections([1.0], q_f)[0].pose
    return pose.r, pose.R


def inertia_and_stiffness(beam, q_f):
    """M and the geometric stiffness of unit loads at the tip and of weight: Hessians of these places."""
    line = beam.mass_line(q_f)
    slopes = [casadi.reshape(line.slopes[:, i], 3, -1) for i in range(beam.n)]
    M = casadi.blockcat([[casadi.dot(a @ line.gram, b) for b in slopes] for a in slopes])
    places = casadi.vertsplit(casadi.vertcat(tip(beam, q_f)[0], line.points @ line.first))
    return [M, *(casadi.hessian(place, q_f)[0] for place in places)]


@pytest.mark.parametrize(("shape", "modes"), [MODES[0], rare(*MODES[1]), rare(*MODES[2]), *MODES[3:], STIFF])
def test_a_straight_beam_is_that_of_closed_forms(shape, modes):
    """Frequencies are those of order 1, geometric stiffness is that of order 2, which is exact there."""
    plain, second, ours = (values(shape, modes, order, 0.0, inertia_and_stiffness) for order in ("1", "2", "exact"))
    assert np.abs(ours[0] - plain[0]).max() < 1e-12 * np.abs(plain[0]).max()
    for one, other in zip(ours[1:], second[1:], strict=True):
        assert np.abs(one - other).max() <= 1e-9 * np.abs(other).max()


@pytest.mark.parametrize(("shape", "modes"), MODES)
def test_a_bent_rod_is_that_of_an_adaptive_integration(shape, modes):
    """Bent and twisted by up to 0.6 rad in each field."""
    rod_of = Beam(flexible(shape, modes), 1.2, "exact")
    strains = zip(rod_of.fields(np.linspace(0, 1.2, 50)), (2, 2, 1), strict=True)
    largest = [np.abs(field[n]).max(axis=1) for field, n in strains]
    q = np.concatenate([0.5 / size * (-0.5) ** np.arange(len(size)) for size in largest])
    r, R = values(shape, modes, "exact", q, tip)
    wanted_r, wanted_R = rod(rod_of.curvature(q), 1.2, rtol=1e-13, atol=1e-15)
    assert np.abs(r[:, 0] - wanted_r).max() < 2e-10
    assert np.abs(R - wanted_R).max() < 2e-10
