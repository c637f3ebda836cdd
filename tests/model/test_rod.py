"""Order exact: the integrals of orders 1 and 2 for a straight beam, an adaptive integration for a bent one."""

from dataclasses import replace

import casadi
import numpy as np
import pytest
from casadi import SX
from oracles import Beam, rod
from robots_in_tests import model
from thinned import rare

from kronbot.model.shape_functions import gauss
from kronbot.model.spline import spline

# Sampled at three Gauss points a step, 4 modes miss frequencies by 1e-7 and 14 miss stiffness by 4e-6.
MODES = [
    ("clamped-free", {"v": 1, "w": 2, "torsion": 1}),
    ("clamped-free", {"w": 4}),
    ("clamped-free", {"v": 10}),
    ("craig-bampton", {"v": 3, "w": 1, "torsion": 1}),
    rare("clamped-free", {"v": 3, "w": 4, "torsion": 1}),
    rare("craig-bampton", {"v": 4, "w": 3, "torsion": 2}),
    rare("clamped-free", {"v": 14}),
]
STIFF = ("legendre", {"v": 10})


def flexible(shape, modes):
    return {"mass": 1.0, "modes": modes, "shape": shape, "EI": {"y": 1.0, "z": 1.0}, "GJ": 1.0, "polar_inertia": 0.01}


def beam_of(shape, modes, order):
    """A beam, and the numbers of expressions in its coordinates."""
    link = {"name": "rod", "joint": {"type": "fixed"}, "dh": {"a": 1.2, "d": 0, "alpha": 0, "theta": 0}}
    links = [{**link, "flexible": flexible(shape, modes)}]
    robot = model({"kronbot": 1, "name": "r", "convention": "standard", "gravity": [0, 0, 0], "links": links}, order)

    def numbers(inputs, parts, *given):
        dense = [casadi.densify(part) for part in parts]
        function = casadi.Function("f", [*inputs, robot.parameters.symbols()], dense)
        return [np.array(each) for each in function.call([*given, robot.parameters.bound()])]

    return robot.links[0].beam, numbers


def values(shape, modes, order, q, parts):
    """Numbers of ``parts``, functions of a beam and its coordinates, at coordinates q."""
    beam, numbers = beam_of(shape, modes, order)
    q_f = SX.sym("q", beam.n)
    return numbers([q_f], parts(beam, q_f), np.broadcast_to(q, beam.n))


@pytest.mark.parametrize("order", [rare("0"), rare("1"), "2", "exact"])
@pytest.mark.parametrize(
    ("shape", "modes"),
    [
        ("clamped-free", {"v": 2, "w": 1, "torsion": 2}),
        ("polynomial", {"w": 2}),
        ("polynomial", {"v": 1, "torsion": 1}),
        rare("polynomial", {"v": 2, "w": 1, "torsion": 2}),
        rare("clamped-free", {"w": 2}),
        rare("clamped-free", {"v": 1, "torsion": 1}),
    ],
)
def test_poses_together_are_those_one_by_one(order, shape, modes):
    """Along the beam, with powers of its length; where there is no bending, or no torsion, too."""
    places = [0.0, 0.2, 0.55, 1.0]

    def parts(beam, q_f):
        apart = [section.pose for section in beam.cross_sections(places, q_f)]
        return [part for pose in (*apart, *beam.poses(places, q_f)) for part in (pose.r, pose.R)]

    found = values(shape, modes, order, np.linspace(-0.3, 0.4, beam_of(shape, modes, order)[0].n), parts)
    for one, other in zip(found[: 2 * len(places)], found[2 * len(places) :], strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-14)


def tip(beam, q_f):
    pose = beam.cross_sections([1.0], q_f)[0].pose
    return pose.r, pose.R


def inertia_and_stiffness(beam, q_f):
    """M and the geometric stiffness of unit loads at the tip and of weight: Hessians of these places."""
    line = beam.mass_line(q_f)
    slopes = [casadi.reshape(line.slopes[:, i], 3, -1) for i in range(beam.n)]
    M = casadi.blockcat([[line.scale * casadi.dot(a @ line.gram, b) for b in slopes] for a in slopes])
    places = casadi.vertsplit(casadi.vertcat(tip(beam, q_f)[0], line.scale * line.points @ line.first))
    return [M, *(casadi.hessian(place, q_f)[0] for place in places)]


@pytest.mark.parametrize(("shape", "modes"), [rare(*MODES[0]), *MODES[3:5], rare(*STIFF)])
def test_a_straight_beam_is_that_of_closed_forms(shape, modes):
    """Frequencies are those of order 1, geometric stiffness is that of order 2, which is exact there."""
    plain, second, ours = (values(shape, modes, order, 0.0, inertia_and_stiffness) for order in ("1", "2", "exact"))
    assert np.abs(ours[0] - plain[0]).max() < 1e-12 * np.abs(plain[0]).max()
    for one, other in zip(ours[1:], second[1:], strict=True):
        assert np.abs(one - other).max() <= 1e-9 * np.abs(other).max()


def bent(shape, modes, largest):
    """The independent rod with coordinates that bend and twist it by about as much in each field, its tip and ours."""
    rod_of = Beam(flexible(shape, modes), 1.2, "exact")
    strains = zip(rod_of.fields(np.linspace(0, 1.2, 50)), (2, 2, 1), strict=True)
    sizes = [np.abs(field[n]).max(axis=1) for field, n in strains]
    q = np.concatenate([largest / size * (-0.5) ** np.arange(len(size)) for size in sizes])
    r, R = values(shape, modes, "exact", q, tip)
    return (r[:, 0], R), rod(rod_of.curvature(q), 1.2, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize(("shape", "modes"), [MODES[0], *(rare(*each) for each in MODES[1:3]), *MODES[3:]])
def test_a_bent_rod_is_that_of_an_adaptive_integration(shape, modes):
    """Bent and twisted by up to 0.6 rad in each field."""
    for ours, wanted in zip(*bent(shape, modes, 0.5), strict=True):
        assert np.abs(ours - wanted).max() < 2e-10


@pytest.mark.parametrize(
    ("shape", "modes"), [MODES[1], rare(*MODES[2]), rare("craig-bampton", {"w": 2}), ("legendre", {"torsion": 3})]
)
def test_a_rod_about_one_axis_is_right_to_rounding(shape, modes):
    """It integrates an angle, of up to 2.4 rad, whatever the number of sections."""
    for ours, wanted in zip(*bent(shape, modes, 2.0), strict=True):
        assert np.abs(ours - wanted).max() < 5e-13


def with_knots(beam):
    """The same with splines of six rows for shapes."""
    xi = np.array([0, 0.15, 0.4, 0.6, 0.85, 1])

    def tabulated(direction):
        table = np.sin(np.outer(np.arange(1, direction.count + 1), xi)) * xi
        return replace(direction, shapes=replace(spline(xi, table, direction.strain), nodes=direction.shapes.nodes))

    return replace(beam, v=tabulated(beam.v), w=tabulated(beam.w), torsion=tabulated(beam.torsion))


@pytest.mark.parametrize(
    ("knots", "modes"),
    [
        rare(True, {"v": 2}),
        rare(False, {"w": 1, "torsion": 1}),
        (False, {"v": 2, "w": 1, "torsion": 1}),
        rare(True, {"v": 2, "w": 1, "torsion": 1}),
    ],
)
def test_what_moves_along_the_rod_is_its_derivative(knots, modes):
    """Jacobians, velocities and accelerations that the sections carry, against derivatives of poses; the mass, too."""
    beam, numbers = beam_of("craig-bampton", modes, "exact")
    beam = with_knots(beam) if knots else beam
    q, qd = SX.sym("q", beam.n), SX.sym("qd", beam.n)
    line = beam.mass_line(q)
    ours, wanted = [line.slopes, line.acceleration(q, qd)], [casadi.jacobian(casadi.vec(line.points), q)]
    wanted.append(replace(line, known=None).acceleration(q, qd))
    for at in beam.cross_sections([0.0, 0.37, beam.nodes[0][3], 1.0], q):
        r, R = at.pose.r, at.pose.R
        turning = [casadi.reshape(casadi.jacobian(casadi.vec(R), q[i]), 3, 3) @ R.T for i in range(beam.n)]
        ours += [at.J_T, at.J_R]
        wanted += [casadi.jacobian(r, q), casadi.horzcat(*(casadi.inv_skew(each) for each in turning))]
        for moving, known in ((ours, at), (wanted, replace(at, known=None))):
            found = known.motion(q, qd)
            moving += [found.v, found.omega, found.a, found.alpha]
    given = np.array([0.3, -0.2, 0.4, 0.25])[: beam.n], np.array([0.7, 0.9, -0.8, 1.1])[: beam.n]
    for one, other in zip(numbers([q, qd], ours, *given), numbers([q, qd], wanted, *given), strict=True):
        assert np.abs(one - other).max() < 1e-12 * max(np.abs(other).max(), 1)


def masses(shape, modes, count):
    """Moments of mass and modal masses, those by sums over so many sections, and how far the last section turns, as
    functions of coordinates."""
    beam, numbers = beam_of(shape, modes, "exact")
    q = SX.sym("q", beam.n)
    line = beam.mass_line(q)
    slopes = [casadi.reshape(line.slopes[:, i], 3, -1) for i in range(beam.n)]
    xi, weights = gauss(count)
    sections = beam.cross_sections(xi.tolist(), q)
    r, weighed = casadi.horzcat(*(at.pose.r for at in sections)), casadi.diag(SX(weights))
    by_mode = [casadi.horzcat(*(at.J_T[:, i] for at in sections)) for i in range(beam.n)]
    ours = [line.scale * each for each in (line.points @ line.first, line.points @ line.gram @ line.points.T)]
    wanted = [r @ weights, r @ weighed @ r.T]
    ours += [casadi.blockcat([[line.scale * casadi.dot(a @ line.gram, b) for b in slopes] for a in slopes])]
    wanted += [casadi.blockcat([[casadi.dot(a @ weighed, b) for b in by_mode] for a in by_mode])]
    turns = casadi.vertcat(*(at.J_R for at in sections))
    return beam, xi, lambda given: numbers([q], [*ours, *wanted, turns], given)


@pytest.mark.parametrize(
    ("shape", "modes"),
    [
        rare("legendre", {"w": 8}),
        ("craig-bampton", {"v": 2, "w": 1}),
    ],
)
def test_the_mass_of_a_bent_rod_is_that_of_its_sections(shape, modes):
    """Moments of mass and modal masses against sums over 80 sections of rods that turn by up to 1 rad."""
    beam, xi, found = masses(shape, modes, 80)
    sizes = [np.abs(field).max() for d in beam.directions for field in d.shapes.values(xi, d.strain)]
    *both, _ = found([0.4 / size * (-0.6) ** i for i, size in enumerate(sizes)])
    for one, other in zip(both[:3], both[3:], strict=True):
        assert np.abs(one - other).max() < 1e-12 * np.abs(other).max()


@pytest.mark.parametrize("shape", ["legendre", *map(rare, ["clamped-free", "craig-bampton"])])
def test_far_from_straight_the_mass_is_right_as_explain_says(shape):
    """`explain orders`: modal masses of a clamped beam with four shapes in a plane, as shares of those they couple."""
    _, _, found = masses(shape, {"v": 4}, 80)
    largest = np.abs(found(np.zeros(4))[-1]).max(axis=0)

    def error(mode, turn):
        given = np.zeros(4)
        given[mode] = turn / largest[mode]
        *both, _ = found(given)
        ours, wanted = both[2], both[5]
        sizes = np.sqrt(np.diag(wanted))
        return np.abs((ours - wanted) / np.outer(sizes, sizes)).max()

    assert error(0, 2 * np.pi) < 1e-10
    for turn, bound in ((1.0, 1e-8), (np.pi, 6e-5), (2 * np.pi, 2e-2)):
        assert error(3, turn) < bound
