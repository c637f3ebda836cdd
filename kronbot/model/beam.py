"""The flexible link: an inextensible Euler-Bernoulli beam with curvatures and twist as coordinates.

One class, several kinematic orders, one thing offered to the rest: the pose r(x), R(x) of a section as a function of
the modal coordinates q_f = [v, w, torsion]. Everything else (Jacobians, inertia, stiffness) is derived from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import casadi
import numpy as np
from casadi import SX

from kronbot.cached import cached_property
from kronbot.model import beam_integrals
from kronbot.model.parameters import Parameters
from kronbot.model.pose import CrossSection, Pose, Sloped, bent, exponential, quadratic
from kronbot.model.rod import DEGREE, Rod, Step, antiderivative, corners
from kronbot.model.shape_functions import Shapes, gauss, nodes_needed
from kronbot.model.tapes import Tapes
from kronbot.records import dataclass

TIP = 1.0
# A beam without modes still needs int x^2 exactly.
RIGID_NODES = 2
# Rotations of sections are no polynomials of the shapes: those of one or two gentle ones take as many as of three.
BENT_NODES = 7
# Sections of order exact are the Gauss nodes of its mass; with so many a beam bent by a right angle is right to 1e-10.
# Of so many degrees the mass takes a share, which is larger where they are cheap: of rods that turn by 1 rad in their
# first shape it misses less than 1e-12. It is known to all of them from a few more sections, and only steps in space
# have to be as short as the nodes are near.
ROD_NODES, IN_PLANE, IN_SPACE, FOLDED = 16, 7 / 8, 3 / 4, 2


@dataclass(frozen=True)
class Direction:
    """One field of the beam (``v``, ``w`` or ``t`` for torsion): its shapes and the stiffness EI or GJ against them.

    ``strain`` is the derivative of the shapes that the elastic energy sees: 2 in bending, 1 in torsion.
    """

    name: str
    shapes: Shapes
    stiffness: SX
    strain: int

    @property
    def count(self) -> int:
        """Number of modes."""
        return len(self.shapes.powers)

    def unit(self, mode: int) -> str:
        """Unit of a modal coordinate: m in bending, rad in torsion, over m**p where the shape is x**p."""
        power = self.shapes.powers[mode]
        if self.strain == 1:
            return f"rad/m^{power}" if power else "rad"
        return f"m^{1 - power}" if power else "m"


# Integrals from the root on of a product of derivatives of shapes, by (direction, derivative, direction, derivative).
Running = Callable[[Direction, int, Direction, int], SX]
# Along each axis products of two directions' coordinates, with what multiplies them.
Blocks = Sequence[Sequence[tuple[Direction, Direction, SX]]]


@dataclass(frozen=True)
class MassLine:
    """The mass of a beam as r(x) = sum_k b_k(x) c_k(q_f), all that the inertia integrals of Mohan-Saha (24) need.

    ``points`` (3 x K, m) are the c_k in the root frame, ``slopes`` (3 K x n) the derivatives of their columns by q_f,
    ``first`` (K x 1) times ``scale`` the integrals of rho b_k and ``gram`` (K x K) times it those of rho b_k b_l.
    ``known`` gives the accelerations by modal rates where they do not have to be found by differentiating the slopes.
    """

    points: SX
    slopes: SX
    first: SX
    gram: SX
    known: Callable[[SX], SX] | None = None
    scale: float | SX = 1.0

    def acceleration(self, q_f: SX, qd_f: SX) -> SX:
        """Second derivatives of the points (3 x K) at constant modal rates qd_f; they depend on the symbols q_f."""
        if self.known is not None:
            return self.known(qd_f)
        return casadi.reshape(casadi.jtimes(self.slopes @ qd_f, q_f, qd_f), self.points.shape)


@dataclass(frozen=True)
class Beam:
    """A beam along the x-axis of its root frame, from x = root to x = root + length.

    Orders: ``0`` the rigid slender rod (no modes); ``1`` first-order kinematics r = (x, v, w),
    R = exp(skew(alpha, -w', v')); ``2`` r of Piedboeuf (18) and the rotation whose expansion is (16), second Magnus
    term included; ``exact`` the rod of any deflection. R is orthogonal in every order, so that R and the angular
    velocity never disagree.
    Mass is in kg, polar inertia in kg m, EI and GJ in N m2, lengths in m.
    """

    name: str
    order: str
    parameters: Parameters
    root: SX
    length: SX
    mass: SX
    polar_inertia: SX
    v: Direction
    w: Direction
    torsion: Direction

    @property
    def directions(self) -> tuple[Direction, Direction, Direction]:
        """The three fields in the order of the coordinates."""
        return self.v, self.w, self.torsion

    @property
    def n(self) -> int:
        """Number of modal coordinates."""
        return sum(direction.count for direction in self.directions)

    @property
    def nodes(self) -> tuple[np.ndarray, np.ndarray]:
        """Gauss nodes in xi and weights (sum 1) for integrals over the beam's mass."""
        needed = nodes_needed(*(direction.shapes for direction in self.directions))
        if self.order != "exact":
            return gauss(max(needed, BENT_NODES if self.n else RIGID_NODES))
        return gauss(self._degrees + FOLDED if self._about_an_axis else max(needed, ROD_NODES))

    @property
    def _degrees(self) -> int:
        """Legendre polynomials that order exact takes of where the mass is."""
        needed = nodes_needed(*(direction.shapes for direction in self.directions))
        return math.ceil((IN_PLANE if self._about_an_axis else IN_SPACE) * max(needed, ROD_NODES))

    @property
    def _about_an_axis(self) -> bool:
        """Whether its sections turn by an angle."""
        return sum(direction.count > 0 for direction in self.directions) < 2

    def cross_sections(self, places: Sequence[float], q_f: SX) -> list[CrossSection]:
        """The sections at x = root + xi length for every xi of ``places`` (0 <= xi <= 1), in the root frame."""
        if self.order == "exact":
            rod, root = self._rod(q_f), casadi.vertcat(self.root, 0, 0)
            return [rod.section(xi).shifted(root) for xi in places]
        return [self._expanded(xi, q_f) for xi in places]

    def poses(self, places: Sequence[float], q_f: SX) -> list[Pose]:
        """Where these sections are, for pictures: but for order exact all places are traced at once, in less time."""
        if self.order == "exact":
            return [section.pose for section in self.cross_sections(places, q_f)]
        xi, (v, w, a) = np.array(places), self.directions
        powers = (self.power(p) for d in self.directions for p in d.shapes.powers)
        own = dict(zip("vwt", self._split(casadi.vertcat(SX(0, 1), *powers) * q_f), strict=True))

        def field(d: Direction, derivative: int) -> SX:
            return SX(d.shapes.values(xi, derivative).T) @ own[d.name] * self.power(-derivative)

        def product(twice: bool, share: float, d: Direction, dd: int, e: Direction, de: int) -> SX:
            """That share of the quadratic form in their coordinates, K x 1."""
            if not (d.count and e.count):
                return SX(len(xi), 1)
            integrals = beam_integrals.running_twice if twice else beam_integrals.running
            hat = (share / 2 if d is e else share) * integrals(d.shapes, dd, e.shapes, de, xi).reshape(-1, e.count)
            rows = casadi.reshape(SX(hat) @ own[e.name], d.count, len(xi))
            return (own[d.name].T @ rows).T * self.power(1 + twice - dd - de)

        r = casadi.horzcat(self.root + SX(xi) * self.length, field(v, 0), field(w, 0))
        theta = casadi.horzcat(field(a, 0), -field(w, 1), field(v, 1))
        if self.order == "2":
            moved = self._position_blocks(partial(product, False, 1.0), partial(product, True, 1.0))
            turned = self._rotation_blocks(partial(product, False, 0.5))
            r, theta = (
                start + casadi.horzcat(*(sum(column for _, _, column in along) for along in blocks))
                for start, blocks in ((r, moved), (theta, turned))
            )
        pairs = zip(casadi.vertsplit(r), casadi.vertsplit(theta), strict=True)
        return [Pose(point.T, exponential(vector.T)) for point, vector in pairs]

    def turned(self, q_f: SX, linear: SX, *forms: SX) -> CrossSection:
        """A section that turns so, on the x-axis, where it does not matter how far it is from it or how it goes."""
        theta, slope = bent(SX(3, 1), linear, forms, q_f)
        return CrossSection(Pose(SX(3, 1), exponential(theta)), SX(3, self.n), slope, theta)

    def turning(self, xi: float) -> tuple[SX, ...]:
        """By what a section turns, but in order exact: what multiplies q_f (3 x n), and its quadratic forms."""
        linear, forms = self._polynomial("rotation", xi)
        return linear, *forms

    @cached_property
    def tapes(self) -> Tapes:
        """What was traced of it for some coordinates, to be had for others."""
        return Tapes()

    def moved(self, xi: float, r: SX) -> SX:
        """How far a section at r (3 x 1, m, root frame) is from where it is while the beam is straight."""
        return r - casadi.vertcat(self.root + xi * self.length, 0, 0)

    def _expanded(self, xi: float, q_f: SX) -> CrossSection:
        """A section whose position and rotation vector are polynomials in q_f."""
        (r, J_T), (theta, slope) = self._position(xi, q_f), self._rotation_vector(xi, q_f)
        return CrossSection(Pose(r, exponential(theta)), J_T, slope, theta)

    def _rod(self, q_f: SX) -> Rod:
        """The rod of order exact; whoever asks for it at the same coordinates again has the same."""
        q_f = casadi.densify(q_f)
        known = [each for each in self._rods if casadi.is_equal(each.q_f, q_f)]
        if not known:
            known = [Rod(self.length, self.nodes, q_f, lambda xi: self._step(xi, q_f), self._missed)]
            self._rods[:] = known
        return known[0]

    @cached_property
    def _rods(self) -> list[Rod]:
        """The last rod that was traced."""
        return []

    def _step(self, xi: float, q_f: SX) -> tuple[float, Step]:
        """From where a section of the rod is reached, and the step: from the root where it is about one axis."""
        if self._about_an_axis:
            return 0.0, Step.about_an_axis(self._rotation_forms(xi)[0], q_f)
        before = max([0.0, *(node for node in self.nodes[0].tolist() if node < xi)])
        return before, Step.curved(self._strains(before, xi), q_f)

    def _strains(self, a: float, b: float) -> SX:
        """Legendre coefficients of kappa from xi = a to b, times the length of that: 15 x n, times q_f."""
        if (a, b) not in self._fields:
            v, w, a_x = (self._expansion(direction, a, b) for direction in self.directions)
            rows = (casadi.diagcat(a_x[i, :], -w[i, :], v[i, :]) for i in range(DEGREE + 1))
            order = [place for d in (self.torsion, self.w, self.v) for place in self._places(d)]
            self._fields[a, b] = casadi.vertcat(*rows)[:, np.argsort(order).tolist()]
        return self._fields[a, b]

    def _expansion(self, direction: Direction, a: float, b: float) -> SX:
        hat = (b - a) * beam_integrals.expansion(direction.shapes, direction.strain, a, b, DEGREE)
        return self._entries(direction, hat, direction.strain - 1)

    @cached_property
    def _fields(self) -> dict[tuple[float, float], SX]:
        """Strains by step, which whoever traces the rod has again."""
        return {}

    def _missed(self, xi: float) -> list[SX]:
        """What q_f moves the section at xi (3 x n, axes of each node) where its slopes turn between nodes at knots."""
        count = len(self.nodes[0])
        missed = [SX(3, self.n) for _ in range(count if self._has_knots else 0)]
        for axis, d in ((1, self.v), (2, self.w)):
            if d.shapes.knots.size:
                for node, values in zip(missed, corners(d.shapes, xi, count), strict=True):
                    node[axis, self._places(d)] = self._entries(d, values, 0)
        return missed

    @property
    def _has_knots(self) -> bool:
        return any(direction.shapes.knots.size for direction in self.directions)

    def curvature(self, xi: float, q_f: SX) -> SX:
        """kappa (3 x 1, 1/m) of a section in its own axes: twist alpha', -w'', v''; the same in every order."""
        qv, qw, qa = self._split(q_f)
        a, w, v = self.row(self.torsion, xi, 1), self.row(self.w, xi, 2), self.row(self.v, xi, 2)
        return casadi.vertcat(a @ qa, -w @ qw, v @ qv)

    def twist(self, xi: float, q_f: SX) -> SX:
        """alpha (rad), by which torsion turns a section about the beam; the same in every order."""
        return self.row(self.torsion, xi, 0) @ self._split(q_f)[2]

    def _position(self, xi: float, q_f: SX) -> Sloped:
        """r (3 x 1): (x, v, w), in order 2 foreshortening and the bending that torsion carries along (18), too."""
        return self._bent("position", xi, q_f, casadi.vertcat(self.root + xi * self.length, 0, 0))

    def _bent(self, what: str, xi: float, q_f: SX, start: SX) -> Sloped:
        """A polynomial in q_f; integrals of shapes and their forms are those of the section, whoever traces it."""
        return bent(start, *self._polynomial(what, xi), q_f)

    def _polynomial(self, what: str, xi: float) -> tuple[SX, tuple[SX, ...]]:
        if (what, xi) not in self._forms:
            self._forms[what, xi] = self._position_forms(xi) if what == "position" else self._rotation_forms(xi)
        return self._forms[what, xi]

    @cached_property
    def _forms(self) -> dict[tuple[str, float], tuple[SX, tuple[SX, ...]]]:
        """What multiplies q_f (3 x n), and the quadratic forms (n x n) along each axis from order 2 on."""
        return {}

    def _position_forms(self, xi: float) -> tuple[SX, tuple[SX, ...]]:
        v, w, _ = self.directions
        linear = SX(3, self.n)
        linear[1, self._places(v)], linear[2, self._places(w)] = self.row(v, xi, 0), self.row(w, xi, 0)
        if self.order != "2":
            return linear, ()
        once, twice = (partial(each, xi=xi) for each in (self.running, self.running_twice))
        return linear, self._summed(self._position_blocks(once, twice))

    def _position_blocks(self, once: Running, twice: Running) -> Blocks:
        """What order 2 adds to x, y and z of a section: pairs of directions with the integrals that multiply them."""
        v, w, a = self.directions
        shortened = [(v, v, -once(v, 1, v, 1)), (w, w, -once(w, 1, w, 1))]
        return shortened, [(w, a, -twice(w, 2, a, 0))], [(v, a, twice(v, 2, a, 0))]

    def _rotation_vector(self, xi: float, q_f: SX) -> Sloped:
        """theta (3 x 1) with R = exp(skew(theta)): theta_1 = (alpha, -w', v'), from order 2 on a second Magnus term.

        That term, 1/2 int theta_1 x kappa dx, is what (16) has beyond the exponential of theta_1: R' = R skew(kappa)
        to second order, with kappa = (alpha', -w'', v'').
        """
        return self._bent("rotation", xi, q_f, SX(3, 1))

    def _rotation_forms(self, xi: float) -> tuple[SX, tuple[SX, ...]]:
        v, w, a = self.directions
        linear = SX(3, self.n)
        linear[0, self._places(a)] = self.row(a, xi, 0)
        linear[1, self._places(w)], linear[2, self._places(v)] = -self.row(w, xi, 1), self.row(v, xi, 1)
        if self.order != "2":
            return linear, ()
        return linear, tuple(form / 2 for form in self._summed(self._rotation_blocks(partial(self.running, xi=xi))))

    def _rotation_blocks(self, once: Running) -> Blocks:
        """Twice what order 2 adds to the rotation vector, like that of the position."""
        v, w, a = self.directions
        about_x = once(v, 1, w, 2) - once(v, 2, w, 1)
        about_y = once(a, 1, v, 1) - once(a, 0, v, 2)
        about_z = once(a, 1, w, 1) - once(a, 0, w, 2)
        return [(v, w, about_x)], [(a, v, about_y)], [(a, w, about_z)]

    def _summed(self, blocks: Blocks) -> tuple[SX, ...]:
        """The forms (n x n) along each axis."""
        forms = ([self._form(*each) for each in along] for along in blocks)
        return tuple(sum(rest, first) for first, *rest in forms)

    def _places(self, direction: Direction) -> list[int]:
        """Places of a direction's modes among all of the beam."""
        start = sum(each.count for each in self.directions[: "vwt".index(direction.name)])
        return list(range(start, start + direction.count))

    def _form(self, a: Direction, b: Direction, block: SX) -> SX:
        """The symmetric F (n x n) with this block in its rows of a and columns of b."""
        F = SX(self.n, self.n)
        F[self._places(a), self._places(b)] = block
        F[self._places(b), self._places(a)] = block.T
        return F

    def mass_line(self, q_f: SX) -> MassLine:
        """The mass of the beam in the root frame.

        Orders 0 and 1 are linear in the shapes, so that named modal integrals carry them (C1, D1, m11 of Khang (68));
        order 2 adds functions that are orthonormal over the beam, order ``exact`` takes the Gauss nodes.
        """
        lines = {"exact": self._rod_mass_line, "2": self._bent_mass_line}
        return lines.get(self.order, self._modal_mass_line)(q_f)

    def _rod_mass_line(self, q_f: SX) -> MassLine:
        """Legendre polynomials along the beam, and what these miss of a straight beam where shapes have knots."""
        rod, kept = self._rod(q_f), self._degrees
        reached = antiderivative(rod.tangents, kept)
        slopes = casadi.horzcat(SX(3 * kept, 0), *map(casadi.vec, casadi.vertsplit(reached, 3)[1:]))
        points = reached[:3, :]
        points[0, 0] += self.root
        first = SX(kept, 1)
        first[0] = 1

        def accelerations(qd_f: SX) -> SX:
            return antiderivative(rod.moving(qd_f).tangents, kept)

        if not self._has_knots:
            return MassLine(points, slopes, first, SX.eye(kept), accelerations, self.mass)
        line, xi = self._modal_mass_line(q_f), self.nodes[0]
        fields = (casadi.vertcat(*(self.row(d, each, 1) for each in xi)).T for d in (self.v, self.w))
        b = self.length * antiderivative(casadi.vertcat(SX.ones(1, len(xi)), *fields), kept).T
        b[0, 0] += self.root
        first *= self.mass
        missed = line.gram - self.mass * b.T @ b
        return MassLine(
            casadi.horzcat(points, line.points),
            casadi.vertcat(slopes, line.slopes),
            casadi.vertcat(first, line.first - b.T @ first),
            casadi.diagcat(self.mass * SX.eye(kept), missed),
            lambda qd_f: casadi.horzcat(accelerations(qd_f), SX(*line.points.shape)),
        )

    def _bent_mass_line(self, q_f: SX) -> MassLine:
        """b = [x, phi_v..., phi_w...] and functions for the quadratic forms that order 2 adds along each axis."""
        v, w, a = self.directions
        xi, weights = beam_integrals.fine_rule(*(d.shapes for d in self.directions))
        along = [(d, d, -beam_integrals.running(d.shapes, 1, d.shapes, 1, xi)) for d in (v, w)]
        up, out = (beam_integrals.running_twice(d.shapes, 2, a.shapes, 0, xi) for d in (w, v))
        stretch = casadi.vertcat(SX(0, 1), *(self.power(p) for d in self.directions for p in d.shapes.powers))
        points, slopes = self._straight(q_f)
        functions = [np.vstack([d.shapes.values(xi) for d in (v, w)]).T]
        sizes = [stretch[: v.count + w.count, :]]
        for axis, (added, power) in enumerate(((along, -1), ([(w, a, -up)], 0), ([(v, a, out)], 0))):
            basis, shares = beam_integrals.orthonormal([values for _, _, values in added], weights)
            functions.append(basis)
            for k in range(basis.shape[1]):
                sizes.append(self.power(power))
                forms = [SX(self.n, self.n)] * 3
                for (d, e, _), share in zip(added, shares, strict=True):
                    forms[axis] += self._form(d, e, SX(share[k]))
                point, slope = quadratic(forms, stretch * q_f)
                points = casadi.horzcat(points, point)
                slopes = casadi.vertcat(slopes, slope @ casadi.diag(stretch))
        values, size = np.hstack(functions), casadi.vertcat(*sizes)
        weighted = values * weights[:, None]
        first, with_xi = self.mass * (size * SX(weighted.sum(axis=0))), self.mass * (size * SX(xi @ weighted))
        own = casadi.diag(size) @ SX(beam_integrals.cleaned(values.T @ weighted)) @ casadi.diag(size)
        return self._with_x(points, slopes, first, self.length * with_xi, self.mass * own)

    def _with_x(self, points: SX, slopes: SX, first: SX, moment: SX, gram: SX) -> MassLine:
        """A mass line whose b_0 is x, from integrals of rho b, rho (x - root) b and rho b b of the others."""
        a, length = self.root, self.length
        cross = moment + a * first
        corner = self.mass * (a * a + a * length + length * length / 3)
        first = casadi.vertcat(self.mass * (a + length / 2), first)
        return MassLine(points, slopes, first, casadi.blockcat([[corner, cross.T], [cross, gram]]))

    def stiffness_matrix(self) -> SX:
        """K_f (n x n): elastic energy 1/2 q_f^T K_f q_f in every order, since curvatures are the coordinates."""
        return casadi.diagcat(*(d.stiffness * self.modal_matrix("k", d, d.strain) for d in self.directions))

    def _split(self, q_f: SX) -> tuple[SX, SX, SX]:
        a, b = self.v.count, self.v.count + self.w.count
        return q_f[:a, :], q_f[a:b, :], q_f[b:, :]  # one index alone would make a 1 x 1 column of nothing a row

    def _modal_mass_line(self, q_f: SX) -> MassLine:
        """b = [x, phi_v..., phi_w...] with integrals of rho b and rho b b as named modal data."""
        rho, bending = self.mass / self.length, (self.v, self.w)
        C = casadi.vertcat(*(self._modal_column("C", d, beam_integrals.integral(d.shapes), 1) for d in bending))
        D = casadi.vertcat(*(self._modal_column("D", d, beam_integrals.first_moment(d.shapes), 2) for d in bending))
        m_v, m_w, m_vw = self.modal_matrix("m", self.v, 0), self.modal_matrix("m", self.w, 0), self._mixed_matrix()
        return self._with_x(*self._straight(q_f), rho * C, rho * D, rho * casadi.blockcat([[m_v, m_vw], [m_vw.T, m_w]]))

    def _straight(self, q_f: SX) -> Sloped:
        """The c_k of [x, phi_v..., phi_w...] side by side (3 x K), and the derivatives of their columns (3 K x n)."""
        points = [SX([1, 0, 0])]
        for axis, d in ((1, self.v), (2, self.w)):
            points += [casadi.vertcat(*(q_f[k] if i == axis else 0 for i in range(3))) for k in self._places(d)]
        line = casadi.horzcat(*points)
        return line, casadi.jacobian(casadi.vec(line), q_f)

    def modal_matrix(self, letter: str, direction: Direction, derivative: int) -> SX:
        """int phi_i^(d) phi_j^(d) dx over the beam, m x m, exactly zero where the shapes are orthogonal."""
        hat = beam_integrals.cleaned(beam_integrals.gram(direction.shapes, derivative))
        powers = direction.shapes.powers
        result = SX(direction.count, direction.count)
        for i in range(direction.count):
            for j in range(i + 1):
                name, power = f"{letter}{j + 1}{i + 1}", powers[i] + powers[j] + 1 - 2 * derivative
                result[i, j] = result[j, i] = self._datum(name, direction, float(hat[i, j]), power)
        return result

    def _mixed_matrix(self) -> SX:
        """int phi_v phi_w dx, m_v x m_w: what the products y z of a bent beam need in its inertia."""
        hat = beam_integrals.running_to(self.v.shapes, 0, self.w.shapes, 0, TIP)
        own = (np.diag(beam_integrals.gram(d.shapes, 0)) for d in (self.v, self.w))
        hat = beam_integrals.cleaned(hat, *own)
        result = SX(self.v.count, self.w.count)
        for i, p in enumerate(self.v.shapes.powers):
            for j, r in enumerate(self.w.shapes.powers):
                name = f"{self.name}.m{i + 1}{j + 1}(v,w)"
                result[i, j] = self.parameters.datum(name, float(hat[i, j]) * self.power(p + r + 1))
        return result

    def _modal_column(self, letter: str, direction: Direction, hat: np.ndarray, power: int) -> SX:
        """Integrals over the beam that are linear in the shapes, m x 1, from their values in xi."""
        entries = [
            self._datum(f"{letter}{i + 1}", direction, float(value), direction.shapes.powers[i] + power)
            for i, value in enumerate(hat)
        ]
        return casadi.vertcat(SX(0, 1), *entries)

    def row(self, direction: Direction, xi: float, derivative: int) -> SX:
        """The shapes (or derivatives by x) at xi, 1 x m; at the tip they are modal data with a name of their own."""
        values = direction.shapes.values(np.array([xi]), derivative)[:, 0]
        if xi != TIP:
            return self._entries(direction, values, derivative)
        entries = [
            self._datum(f"X{i + 1}{derivative * chr(39)}(l)", direction, float(value), power - derivative)
            for i, (value, power) in enumerate(zip(values, direction.shapes.powers, strict=True))
        ]
        return casadi.horzcat(SX(1, 0), *entries)

    def _entries(self, direction: Direction, values: np.ndarray, derivative: int) -> SX:
        """Values (m,) of a derivative of the shapes by xi, or rows of them, as those of the derivative by x."""
        rows, powers = SX(np.atleast_2d(values)), direction.shapes.powers
        factors = {power: self.power(power - derivative) for power in powers}
        if len(factors) == 1:
            return rows * factors[powers[0]]
        return casadi.horzcat(SX(rows.rows(), 0), *(rows[:, i] * factors[power] for i, power in enumerate(powers)))

    def running(self, a: Direction, da: int, b: Direction, db: int, xi: float) -> SX:
        """int_root^x phi_a^(da) phi_b^(db) dx, m_a x m_b."""
        if not (a.count and b.count):
            return SX(a.count, b.count)
        hat = beam_integrals.running_to(a.shapes, da, b.shapes, db, xi)
        return self._scaled(hat, a, b, 1 - da - db)

    def running_twice(self, a: Direction, da: int, b: Direction, db: int, xi: float) -> SX:
        """The same integral taken once more from the root to x, m_a x m_b."""
        if not (a.count and b.count):
            return SX(a.count, b.count)
        hat = beam_integrals.running_to(a.shapes, da, b.shapes, db, xi, twice=True)
        return self._scaled(hat, a, b, 2 - da - db)

    def _scaled(self, hat: np.ndarray, a: Direction, b: Direction, power: int) -> SX:
        """Numbers of shapes in xi brought to shapes in x by powers of the length."""
        if len(set(a.shapes.powers)) == len(set(b.shapes.powers)) == 1:
            return SX(hat) * self.power(a.shapes.powers[0] + b.shapes.powers[0] + power)
        result = SX(a.count, b.count)
        for i, p in enumerate(a.shapes.powers):
            for j, r in enumerate(b.shapes.powers):
                result[i, j] = float(hat[i, j]) * self.power(p + r + power)
        return result

    def _datum(self, letter: str, direction: Direction, factor: float, power: int) -> SX:
        return self.parameters.datum(f"{self.name}.{direction.name}.{letter}", factor * self.power(power))

    def power(self, power: int) -> SX:
        """length**power, the plain 1 where power is 0."""
        return self.length**power if power else SX(1)
