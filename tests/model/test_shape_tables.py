"""Shapes from tables: splines and their integrals, agreement with analytic shapes, every order and command.

What a spline misses of a wave phi'''' = beta^4 phi, sampled at distances h, is (beta h)^4 5/384 of it at most;
``missed`` is that of the second mode of a cantilever, and the tolerance wherever a table of eigenfunctions stands in.
"""

import itertools
import json
from functools import cached_property

import casadi
import numpy as np
import oracles
import pytest
from hypothesis import assume
from hypothesis import strategies as st
from numpy.polynomial import polynomial
from random_robots import coordinates, robots, to_yaml
from robots_in_tests import columns, moving, run, traced
from scipy.interpolate import CubicSpline
from thinned import drawn, rare

from kronbot import description
from kronbot.cli.main import run as kronbot
from kronbot.compute.trace import Trace
from kronbot.description.shape_tables import ShapeTable
from kronbot.errors import DescriptionError, FreeParameters, Mistake
from kronbot.mechanics.linear.modal import natural_frequencies
from kronbot.mechanics.multibody.energy import elastic_energy
from kronbot.mechanics.multibody.kinematics import tip_frame
from kronbot.mechanics.multibody.recursion import inverse_dynamics
from kronbot.mechanics.multibody.state import generalized_inertia_matrix, propagate
from kronbot.model import shape_functions, spline
from kronbot.model.beam_integrals import expansion, first_moment, gram, integral, running, running_twice
from kronbot.model.build import build

POINTS = np.array([0.0, 0.013, 0.3, 0.5, 0.77, 0.98, 1.0])
SECOND = 4.694  # beta of the second mode

BEAM = """
kronbot: 1
name: beam
convention: standard
gravity: [0, 0, -9.81]
parameters: {l: 1.3}
links:
  - name: arm
    joint: {type: revolute, name: q1}
    dh: {a: l, d: 0, alpha: 0, theta: 0}
    flexible: {mass: 1.2, EI: {y: 10, z: 7}, GJ: 5, polar_inertia: 0.01, modes: MODES, shape: SHAPE}
"""
SPATIAL = "{v: 2, w: 1, torsion: 1}"


def missed(rows):
    return 5 / 384 * (SECOND / (rows - 1)) ** 4


def write(path, length, xi, **families):
    """A table of shapes at the places xi; families by letter."""
    names = [f"{letter}{i + 1}" for letter, shapes in families.items() for i in range(len(shapes))]
    values = np.vstack([shapes.values(xi) for shapes in families.values()])
    np.savetxt(path, np.column_stack([length * xi, *values]), "%.17g", ",", header=",".join(["x", *names]), comments="")


def eigenfunctions(path, length, rows):
    """What `clamped-free` stands for."""
    bending = shape_functions.clamped_free(2)
    write(path, length, np.linspace(0, 1, rows), v=bending, w=bending, t=shape_functions.torsion_sine(1))


def loaded(folder, text, order="2", **overrides):
    return build(description.load(description.Source("robot.yaml", text, folder), overrides), order)


def beam(shape, modes=SPATIAL):
    return BEAM.replace("MODES", modes).replace("SHAPE", shape)


def state(robot, q):
    """Mass matrix, elastic energy and tip."""
    symbols = casadi.SX.sym("q", robot.n)
    at = propagate(robot, symbols, casadi.SX(robot.n, 1))
    tip = tip_frame(at.links[0])
    outputs = {"M": generalized_inertia_matrix(at), "elastic": elastic_energy(at), "tip": tip.r, "R": tip.R}
    return Trace(robot.parameters, {"q": symbols}, outputs, "test")(q)


def differences(a, b):
    """Relative to the largest entry of each quantity."""
    return {name: np.abs(a[name] - b[name]).max() / np.abs(b[name]).max() for name in b}


# --- splines -----------------------------------------------------------------------------------------------------


def random_places(rng, rows):
    """Places from 0 to 1, gaps different by a factor of three."""
    xi = np.concatenate([[0.0], np.cumsum(rng.uniform(0.5, 1.5, rows - 1))])
    return xi / xi[-1]


def random_table(rows=12, m=3):
    """Places and values of smooth shapes that no cubic is."""
    rng = np.random.default_rng(rows)
    xi = random_places(rng, rows)
    rows_of = rng.uniform(-1, 1, (m, 6))
    return xi, np.array([xi**2 * polynomial.polyval(xi, row) for row in rows_of])


def end_slope(xi, values):
    """Of the quintic through the first six rows."""
    return polynomial.polyfit(xi[:6] - xi[0], values[:6], min(5, len(xi) - 1))[1]


def scipy_splines(xi, values, strain):
    """The same splines by SciPy."""
    first = [0.0 if strain == 2 else end_slope(xi, row) for row in values]
    last = [end_slope(xi[::-1], row[::-1]) for row in values]
    return [CubicSpline(xi, row, bc_type=((1, a), (1, b))) for row, a, b in zip(values, first, last, strict=True)]


@pytest.mark.parametrize("strain", [1, 2])
@pytest.mark.parametrize("rows", [5, 6, 7, 30])
def test_splines_are_those_of_scipy(rows, strain):
    """Values to rounding, derivatives to what divisions by the shortest distance leave of it."""
    xi, values = random_table(rows)
    ours, theirs = spline.spline(xi, values, strain), scipy_splines(xi, values, strain)
    at = np.linspace(0, 1, 101)
    for n in range(3):
        exact = np.array([each(at, n) for each in theirs])
        assert np.abs(ours.values(at, n) - exact).max() < 1e-13 * rows**n * max(np.abs(exact).max(), 1)
    if strain == 2:
        assert not ours.values([0.0], 0).any() and not ours.values([0.0], 1).any()


def test_integrals_of_splines_are_exact():
    """Against SciPy's integrals of the products of piecewise polynomials."""
    xi, values = random_table()
    ours, theirs = spline.spline(xi, values, 2), scipy_splines(xi, values, 2)
    other = spline.spline(xi, values[:2], 1)
    others = scipy_splines(xi, values[:2], 1)

    def integrated(function, end):
        """Gauss of more points than the degree needs, from knot to knot."""
        cuts = np.unique([*xi[xi < end], end])
        t, w = np.polynomial.legendre.leggauss(8)
        return sum((b - a) / 2 * (w @ function((a + b) / 2 + (b - a) / 2 * t)) for a, b in itertools.pairwise(cuts))

    def same(mine, function):
        exact = np.array(function)
        assert np.abs(mine - exact).max() < 1e-13 * np.abs(exact).max()

    same(integral(ours), [f.integrate(0, 1) for f in theirs])
    same(first_moment(ours), [integrated(lambda t, f=f: t * f(t), 1.0) for f in theirs])
    for n in range(3):
        bent = [each.derivative(n) if n else each for each in theirs]
        products = [[integrated(lambda t, f=f, g=g: f(t) * g(t), 1.0) for g in bent] for f in bent]
        same(gram(ours, n), products)
    for x in (0.2, xi[4], 1.0):
        pairs = [[(f, g) for g in others] for f in theirs]
        once = [[integrated(lambda t, f=f, g=g: f(t, 2) * g(t, 1), x) for f, g in row] for row in pairs]
        twice = [[integrated(lambda t, x=x, f=f, g=g: (x - t) * f(t, 2) * g(t, 1), x) for f, g in row] for row in pairs]
        same(running(ours, 2, other, 1, x)[0], once)
        same(running_twice(ours, 2, other, 1, [0.1, x, 0.0])[1], twice)


def test_expansions_keep_the_moments_of_a_strain():
    """Those of degree 0 ... 4 over a step, on which the Magnus expansion stands; two terms between knots."""
    xi, values = random_table()
    shapes = spline.spline(xi, values, 2)
    a, b = 0.23, 0.61
    nodes, weights = shape_functions.gauss(8)
    found = expansion(shapes, 2, a, b, 4)
    cuts = [a, *xi[(xi > a) & (xi < b)], b]
    fine = [(s + (e - s) * nodes, (e - s) * weights) for s, e in itertools.pairwise(cuts)]
    ours = np.polynomial.legendre.legval(2 * nodes - 1, found)
    for degree in range(5):
        exact = sum(shapes.values(t, 2) @ (w * (t - a) ** degree) for t, w in fine)
        assert ours @ ((b - a) * weights * ((b - a) * nodes) ** degree) == pytest.approx(exact, rel=1e-12, abs=1e-13)
    start, end = xi[3] + 1e-3, xi[4] - 1e-3
    found = expansion(shapes, 2, start, end, 4)
    ends = shapes.values([start, end], 2)
    np.testing.assert_allclose(found[:2], np.array([ends.sum(axis=1), ends[:, 1] - ends[:, 0]]) / 2, rtol=1e-10)
    assert not found[2:].any()


@pytest.mark.parametrize("order", ["2", rare("exact")])
def test_cubics_are_their_own_splines(tmp_path, order):
    """All of legendre's cubics, from rows at random places: rounding, seen through second differences of the rows."""
    xi = random_places(np.random.default_rng(1), 9)
    cubics = shape_functions.legendre(2)
    write(tmp_path / "s.csv", 1.3, xi, v=cubics, w=cubics, t=shape_functions.torsion_legendre(3))
    counts = "{v: 2, w: 1, torsion: 3}"
    ours, theirs = (loaded(tmp_path, beam(shape, counts), order) for shape in ("{file: s.csv}", "legendre"))
    q = np.array([0.4, 0.1, -0.05, 0.08, 0.2, -0.1, 0.1])
    # The shapes are the same functions; numbers of Gauss nodes differ, which the polar term and the rod's steps see.
    for name, difference in differences(state(ours, q), state(theirs, q)).items():
        assert difference < (1e-9 if order == "exact" else 1e-10), name
    same, exact = (build_matrices(robot) for robot in (ours, theirs))
    assert np.abs(same - exact).max() < 1e-12 * np.abs(exact).max()


@pytest.mark.parametrize("order", ["2", rare("exact")])
def test_a_straight_beam_has_the_inertia_of_order_1(tmp_path, order):
    """Gauss nodes that straddle the corners of curvatures miss it by 1e-6."""
    eigenfunctions(tmp_path / "s.csv", 1.3, 21)
    robots = [loaded(tmp_path, beam("{file: s.csv}", "{v: 1, w: 2}"), each) for each in (order, "1")]
    ours, plain = (state(robot, np.zeros(robot.n))["M"].reshape(robot.n, robot.n) for robot in robots)
    size = np.sqrt(np.diag(plain))
    assert np.abs((ours - plain) / np.outer(size, size)).max() < 1e-14


def build_matrices(robot):
    """Stiffness and, at order 1, mass matrix from named integrals, as one array."""
    at = robot.links[0].beam
    parts = [at.stiffness_matrix(), *(at.modal_matrix("m", direction, 0) for direction in at.directions)]
    stacked = casadi.vertcat(*(casadi.vec(part) for part in parts))
    return np.array(casadi.Function("f", [robot.parameters.symbols()], [stacked])(robot.parameters.bound()))


# --- tables of eigenfunctions --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("order", "modes", "tables"),
    [
        ("2", SPATIAL, (21, 41)),
        rare("1", SPATIAL, (21, 41, 81)),
        rare("exact", "{v: 1, w: 1, torsion: 1}", (21, 41)),
    ],
)
def test_errors_fall_with_the_fourth_power_of_the_distance_of_rows(tmp_path, order, modes, tables):
    """Halving the distance takes 15 sixteenths of every error away, down to that of the steps of order exact.

    Curvatures of splines have corners inside these steps: sampled there, they would leave errors that do not fall.
    """
    exact = loaded(tmp_path, beam("clamped-free", modes), order)
    q = np.array([0.4, 0.3, 0.03, -0.2, 0.4])[: exact.n]
    wanted, found = state(exact, q), []
    for rows in tables:
        eigenfunctions(tmp_path / "s.csv", 1.3, rows)
        robot = loaded(tmp_path, beam("{file: s.csv}", modes), order)
        assert len(robot.links[0].beam.nodes[0]) == len(exact.links[0].beam.nodes[0])
        found.append(differences(state(robot, q), wanted))
        assert max(found[-1].values()) < 3 * missed(rows)  # sums of both modes and of products of them
    floor = 1e-8 if order == "exact" else 1e-12
    for coarse, fine in itertools.pairwise(found):
        for name in coarse:
            assert fine[name] < coarse[name] / 10 + floor, name


def test_frequencies_of_canadarm(tmp_path):
    """The next link turns with the tip's slope: to h^4 too, although it stands at the end of the spline."""
    exact = natural_frequencies(canadarm(tmp_path, None))[:2]
    errors = []
    for rows in (41, 81):
        pairs = zip(natural_frequencies(canadarm(tmp_path, rows))[:2], exact, strict=True)
        errors.append(max(np.abs(a[b > 0] / b[b > 0] - 1).max() for a, b in pairs))
        assert errors[-1] < missed(rows)
    assert 14 < errors[0] / errors[1] < 18  # 2^4, the next power left out
    assert errors[0] < 2e-7  # as `explain accuracy` tells


def canadarm(folder, rows):
    """The arm with its own shapes (rows: None) or with tables of them."""
    text = description.read("canadarm").text
    for length in (6, 7, 2) if rows else ():
        eigenfunctions(folder / f"s{length}.csv", length, rows)
        text = text.replace("shape: clamped-free", f"shape: {{file: s{length}.csv}}", 1)
    return loaded(folder, text)


REST = """
motion: {q1: {type: polynomial, from: 0, to: 0.5, duration: 1, degree: 5}}
statics:
  angles: {q1: [0.1]}
  forces: [[0, 0.5, -0.2]]
  gauges: [{name: g1, link: arm, x: 0.5}, {name: g2, link: arm, x: 0}]
simulate: {duration: 0.4, step: 0.1}
"""
COMMANDS = [
    "jacobian --q 0.1",
    "hessian --in body",
    "dynamics --q 0.1",
    "taylor --of J_T --terms 2",
    "linearize --q 0.1",
    "modes",
    "check",
    "statics",
    "simulate",
]


# Where order 2 answers, the others differ in the pose alone.
OF_ORDERS = [(command, "2") for command in COMMANDS if not command.startswith(("hessian", "check", "dynamics"))] + [
    ("jacobian --q 0.1", "exact"),
    ("check", "0"),
]


# Of what the rod and derivatives make of them.
RARELY = [
    *((command, "exact") for command in ("hessian --in body", "modes", "simulate")),
    *((command, "2") for command in ("check", "dynamics --q 0.1")),
    *((command, "1") for command in ("taylor --of J_T --terms 2", "statics")),
    ("linearize --q 0.1", "0"),
]


@pytest.mark.parametrize(("command", "order"), [*OF_ORDERS, *(rare(*each) for each in RARELY)])
def test_every_command_takes_tables_at_every_order(tmp_path, capsys, command, order):
    """Answers of 41 rows against those of the eigenfunctions themselves, each column relative to its largest entry."""
    eigenfunctions(tmp_path / "s.csv", 1.3, 41)
    answers = []
    for name, shape in (("ours", "{file: s.csv}"), ("theirs", "clamped-free")):
        path = tmp_path / f"{name}.yaml"
        path.write_text(beam(shape, "{v: 1}" if order == "exact" else "{v: 2}") + REST)
        word, *options = command.split()
        assert kronbot([word, str(path), *options, "--order", order, "--format", "json"]) == 0
        answers.append(json.loads(capsys.readouterr().out))
    ours, theirs = (numbers_of(answer) for answer in answers)
    assert ours.keys() == theirs.keys() and theirs
    # 0.4 s are 23 radians of the faster mode.
    share = missed(41) * (23 if word == "simulate" else 3)
    for name, exact in theirs.items():
        if name.startswith(("damping", "energy.balance")):
            continue  # rounding
        sign = np.abs if name.startswith("shapes") else np.asarray  # of a mode shape there is none
        tolerance = (SECOND / 40) ** 2 / 12 if name.startswith("curvature") else share
        difference = np.abs(sign(ours[name]) - sign(exact)).max(initial=0.0)
        assert difference <= tolerance * np.abs(exact).max(initial=0.0) + 1e-12, name


def numbers_of(answer):
    arrays = {name: array["values"] for name, array in answer.get("arrays", {}).items() if "values" in array}
    return {name: np.array(values, float) for name, values in (arrays | answer.get("series", {})).items()}


@pytest.mark.slow
def test_a_run_of_canadarm(tmp_path):
    """A second: the runs part by the phases that the frequencies, right to ``missed``, have gone through."""
    exact, ours = (run(canadarm(tmp_path, rows), duration=1, step=0.1).result.series for rows in (None, 81))
    names = [f"tip.{link}.y" for link in ("upper", "forearm", "wrist")]
    a, b = columns(ours, *names), columns(exact, *names)
    highest = natural_frequencies(canadarm(tmp_path, None))[1].max()
    assert np.abs(b).max() > 1e-3
    assert np.abs(a - b).max() < missed(81) * highest * 1 * np.abs(b).max()


@pytest.mark.parametrize("rows", [21, 81])
def test_gauges_see_the_second_derivative_of_the_spline(tmp_path, rows):
    """Between rows the curvature misses phi'''' h^2/12 at most (the interpolation itself and h^2/24 of its rows)."""
    eigenfunctions(tmp_path / "s.csv", 1.3, rows)
    robot = loaded(tmp_path, beam("{file: s.csv}", "{v: 2}"))
    at = robot.links[0].beam
    for xi in (0.2, 0.5, 0.512, 0.77):
        ours = np.array(
            traced(robot, k=lambda q, qd, x, xi=xi: at.curvature(xi, x[1:]))([0] * 3, [0] * 3, [0, 0, 1])["k"]
        )
        exact = shape_functions.clamped_free(2).values([xi], 2)[1] / 1.3**2
        bound = SECOND**4 / (rows - 1) ** 2 / 12 / 1.3**2
        assert abs(ours[2] - exact[0]) < bound * 1.1  # the largest value of the mode is 1


@pytest.mark.slow
def test_the_exact_order_is_the_rod_of_the_spline(tmp_path):
    """Bent to a right angle and twisted, against an adaptive integration of SciPy's own spline through the rows."""
    eigenfunctions(tmp_path / "s.csv", 1.3, 21)
    robot = loaded(tmp_path, beam("{file: s.csv}"), "exact")
    data = np.loadtxt(tmp_path / "s.csv", delimiter=",", skiprows=1)
    x, v, t = data[:, 0], data[:, 1:3].T, data[:, 5:].T
    bend, twist = scipy_splines(x, v, 2), scipy_splines(x, t, 1)
    q = np.array([0.0, 0.9, -0.03, 0.3, 0.5])

    def kappa(s):
        v1, v2 = (each(s, 2) for each in bend)
        return np.array([q[4] * twist[0](s, 1), -q[3] * v1, q[1] * v1 + q[2] * v2])

    pieces = np.linspace(0, 1.3, 21)
    r, R = np.zeros(3), np.eye(3)
    for a, b in itertools.pairwise(pieces):  # from corner to corner of the curvature
        step_r, step_R = oracles.rod(lambda s, a=a: kappa(a + s), b - a)
        r, R = r + R @ step_r, R @ step_R
    ours = state(robot, q)
    # What order exact promises at a right angle is 1e-10 in a plane; torsion and 21 corners take two digits.
    assert np.abs(ours["tip"] - r).max() < 1e-8
    assert np.abs(ours["R"].reshape(3, 3) - R).max() < 1e-8


def test_torsion_of_a_table(tmp_path):
    """Twisting frequencies of a shaft: (2 i - 1) pi/2 sqrt(GJ/(Ip l^2)), to h^4."""
    exact = np.pi / 2 * np.array([1, 3]) * np.sqrt(5 / 0.01) / 1.3
    errors = []
    for rows in (21, 81):
        write(tmp_path / "s.csv", 1.3, np.linspace(0, 1, rows), t=shape_functions.torsion_sine(2))
        found = natural_frequencies(loaded(tmp_path, beam("{file: s.csv}", "{torsion: 2}")))[0]
        errors.append(np.abs(found / exact - 1).max())
        assert errors[-1] < missed(rows)  # 3 pi/2 is beta of the second bending mode, nearly
    assert errors[0] / errors[1] > 60  # 4^4, but for the chance by which Gauss nodes meet the error between rows


# --- random tables -------------------------------------------------------------------------------------------------


def table_of(seed, counts, rows):
    """Places xi and random smooth shapes by letter."""
    rng = np.random.default_rng(seed)
    xi = random_places(rng, rows)
    families = {}
    for letter, count in counts.items():
        powers = polynomial.polyvander(xi, 4).T[: 2 + count] * (xi if letter == "t" else xi**2)
        families[letter] = rng.uniform(-1, 1, (count, len(powers))) @ powers
    return xi, families


class TableBeam(oracles.Beam):
    """The oracle's beam with SciPy's splines as shapes; integrals go from knot to knot. ``tables`` are by file."""

    tables = None

    @cached_property
    def splines(self):
        xi, families = self.tables[self.shape["file"]]
        return [
            scipy_splines(xi * self.length, families[letter], strain)
            for letter, strain in zip("vwt", (2, 2, 1), strict=True)
        ]

    def fields(self, x):
        x = np.asarray(x, float)
        return [
            np.array([[f(x, n) for f in family] for n in range(3)]).reshape(3, len(family), x.size)
            for family in self.splines
        ]

    def _piecewise(self, function, end):
        """The function with quadrature between the knots before xi = end."""
        xi, _ = self.tables[self.shape["file"]]
        cuts = np.array([*xi[xi < end], end]) / end
        node, weight = oracles.gauss(6)
        h = np.diff(cuts)[:, None]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(oracles, "gauss", lambda _: ((cuts[:-1, None] + h * node).ravel(), (h * weight).ravel()))
            return function()

    def _tables(self, x):
        return self._piecewise(lambda: super(TableBeam, self)._tables(x), x / self.length)

    def matrices(self):
        return self._piecewise(super().matrices, 1.0)


class TableLagrangian(oracles.Lagrangian):
    """Particles between the knots, exactly; sections turn where the model has its Gauss nodes.

    ``counts`` are the numbers of these nodes by link: only there the two know the polar inertia of a spline alike.
    """

    counts = None

    def _beam_particles(self, name, link, nodes):
        before = len(self.particles)
        super()._beam_particles(name, link, self.counts[name])
        del self.particles[before:]
        beam, (p, r) = self.beams[name], self.frames[name, "root"]
        root = casadi.DM([self._value(link["flexible"].get("root", 0)), 0, 0])
        xi, _ = TableBeam.tables[beam.shape["file"]]
        node, weight = oracles.gauss(7)
        h = np.diff(xi)[:, None]
        places, weights = (xi[:-1, None] + h * node).ravel() * beam.length, (h * weight).ravel()
        sections = beam.sections(places, self.q[self.index[name, "beam"]], rotation=False)
        self.particles += [(beam.mass * w, p + r @ (root + at)) for w, (at, _) in zip(weights, sections, strict=True)]


@drawn(1, 2, robots(max_links=2, max_coordinates=6), st.integers(0, 10**6), st.integers(12, 20))
def test_random_tables_recursion_and_lagrangian_agree(tmp_path_factory, robot, seed, rows):
    """Splines at order 2 with everything around them: trees, roots, damping, hubs, payloads, gravity."""
    folder = tmp_path_factory.mktemp("tables")
    beams = [link for link in robot["links"] if "flexible" in link]
    assume(any(sum(link["flexible"]["modes"].values()) for link in beams))
    tables = {}
    for k, link in enumerate(beams):
        flexible = link["flexible"]
        counts = {letter: flexible["modes"][key] for letter, key in (("v", "v"), ("w", "w"), ("t", "torsion"))}
        xi, families = tables[f"s{k}.csv"] = table_of(seed + k, counts, rows)
        standard = "dh" in link and robot["convention"] == "standard"
        length = link["dh"]["a"] - flexible.get("root", 0) if standard else flexible["length"]
        flexible["shape"] = {"file": f"s{k}.csv"}
        named = {f"{letter}{i + 1}": row for letter, family in families.items() for i, row in enumerate(family)}
        header = ",".join(["x", *named])
        lines = np.column_stack([xi * length, *named.values()])
        np.savetxt(folder / f"s{k}.csv", lines, "%.17g", ",", header=header, comments="")
    try:
        ours = loaded(folder, to_yaml(robot))
    except DescriptionError:
        assume(False)  # random shapes may be too much alike, or bend too fast for so few rows
    nodes = {link.name: len(link.beam.nodes[0]) for link in ours.links if link.beam is not None}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(oracles, "Beam", TableBeam)
        patch.setattr(TableBeam, "tables", tables)
        patch.setattr(TableLagrangian, "counts", nodes)
        oracle = TableLagrangian(robot, 2)
    scale = np.array([scale for _, _, scale in coordinates(robot, 2)])
    q, qd, qdd = np.random.default_rng(seed).uniform(0.3, 1, (3, ours.n)) * scale
    functions = moving(
        ours,
        tau=inverse_dynamics,
        M=lambda state, x: generalized_inertia_matrix(state),
    )(q, qd, qdd)
    M, tau = oracle.mass_matrix(q), oracle.inverse_dynamics(q, qd, qdd)
    size = np.sqrt(np.diag(M))
    # Rounding, of curvatures that come from second differences of 20 rows.
    assert np.abs((functions["M"].reshape(M.shape) - M) / np.outer(size, size)).max() < 1e-10
    assert np.abs(functions["tau"] - tau).max() < 1e-10 * (np.abs(tau).max() + np.abs(M).max())


# --- what is refused, what is printed --------------------------------------------------------------------------------


def tabulated(xi, values, letter="v"):
    names = [f"{letter}{i + 1}" for i in range(len(values))]
    table = ShapeTable(
        tuple(xi),
        {name: tuple(row) for name, row in zip(names, values, strict=True)},
        lambda column, message: Mistake(1, 3 * names.index(column) + 3, message, "s.csv"),
    )
    return spline.tabulated(table, {letter: len(values)})[letter]


@pytest.mark.parametrize("letter", ["v", "t"])
def test_shapes_that_depend_on_each_other(letter):
    xi = np.linspace(0, 1, 30)
    first, second = xi**2, xi**3
    assert len(tabulated(xi, [first, second, first + second + 1e-4 * xi**4], letter)) == 3
    with pytest.raises(DescriptionError) as caught:
        tabulated(xi, [first, second, first - 2 * second, xi**4, 1e3 * second], letter)
    assert [str(mistake) for mistake in caught.value.mistakes] == [
        f"s.csv:1:{place}: the shape {name} is a sum of multiples of the shapes before it: leave it out"
        for name, place in ((f"{letter}3", 9), (f"{letter}5", 15))
    ]


def test_more_shapes_than_rows():
    xi = np.linspace(0, 1, 5)
    with pytest.raises(DescriptionError, match="is a sum of multiples"):
        tabulated(xi, [xi ** (i + 2) for i in range(20)])


def test_shapes_whose_differences_are_noise():
    """Each is smooth; what one has beside the other needs more Gauss nodes than the 64th mode of a cantilever."""
    xi = np.linspace(0, 1, 801)
    noise = 1e-5 * np.where(np.arange(801) % 2, 1, -1) * xi**2
    with pytest.raises(DescriptionError, match="s.csv:1:6: differences of v1 ... v2 jump from row to row"):
        tabulated(xi, [xi**2, xi**2 + noise])


def test_the_length_must_be_a_number_and_that_of_the_table(tmp_path):
    eigenfunctions(tmp_path / "s.csv", 1.3, 21)
    text = beam("{file: s.csv}")
    with pytest.raises(DescriptionError, match="s.csv:22:1: the last x must be the length of the beam, 1.4 m"):
        loaded(tmp_path, text, l="1.4")
    free = text.replace("{l: 1.3}", "{l: }")
    with pytest.raises(FreeParameters, match="link 'arm': shape from a table needs numbers.*parameters l="):
        loaded(tmp_path, free)
    assert loaded(tmp_path, free, "0").n == 1  # a rigid beam has no shapes
    assert loaded(tmp_path, free, l="1.3").n == 5


def test_closed_forms_name_the_modal_data_of_a_table(tmp_path, capsys):
    eigenfunctions(tmp_path / "s.csv", 1.3, 41)
    path = tmp_path / "robot.yaml"
    path.write_text(beam("{file: s.csv}", "{v: 1}"))
    assert kronbot(["jacobian", str(path), "--order", "1", "--symbolic", "--format", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["arrays"]["J_T"]["values"][1][1] == "X1*cos(q1)"
    meaning = next(value for key, value in answer["summary"].items() if key.endswith("X1'"))
    slope = shape_functions.clamped_free(1).values([1.0], 1)[0, 0]
    assert float(str(meaning).split("/")[0]) == pytest.approx(slope, rel=missed(41))
