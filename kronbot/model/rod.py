"""Order ``exact``: the inextensible rod R' = R skew(kappa), r' = R e1, integrated along the beam.

Rotations go from section to section. A step is the exponential of a rotation vector, the Magnus expansion (Blanes,
Casas and Ros 2000) on the Legendre coefficients of its curvature: to second order in the curvature it is exact up to
their degree, to first order always; the rest is right to sixth order in the length. It is exact for constant curvature.
A rod that turns about one axis alone integrates an angle: one step leads from the root to any section, exactly.

Positions are the integral of R e1, by its values at the Gauss nodes of the beam's mass. The sections are a chain of
joints that few coordinates drive: Jacobians, angular velocities and their rates are carried along it, so that they
are those of the very pose that is reported, and cost what is linear in sections and coordinates.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache

import casadi
import numpy as np
from casadi import SX, cross, dot, skew

from kronbot.cached import cached_property
from kronbot.floats import Array
from kronbot.model import beam_integrals
from kronbot.model.pose import CrossSection, Motion, Pose, angular_motion, exponential, left_jacobian
from kronbot.model.shape_functions import Shapes, gauss
from kronbot.records import dataclass

# s^j / (2 j + 4)! is under 1e-17 from j = 8 on for steps that turn by up to 1 rad; sixteen of them make two full turns.
STEP_TERMS = 8
# Legendre polynomials that say the curvature of a step: with these a cantilever's 14th mode bends right to 1e-10.
DEGREE = 4


@dataclass(frozen=True)
class Step:
    """A stretch of the rod that turns by the rotation vector ``theta`` (3 x 1), whose derivative by q_f is ``slope``.

    ``growth`` gives the second derivative of theta in time (3 x 1) at constant modal rates (n x 1).
    """

    theta: SX
    slope: SX
    growth: Callable[[SX], SX]

    @staticmethod
    def about_an_axis(slope: SX, q_f: SX) -> Step:
        """By an angle that is linear in q_f."""
        return Step(slope @ q_f, slope, lambda qd_f: SX(3, 1))

    @staticmethod
    def curved(strains: SX, q_f: SX) -> Step:
        """With strains (15 x n) times q_f as the Legendre coefficients k_0 ... k_4 of kappa times the step's length."""
        k = strains @ q_f
        theta, by_strain = _magnus()(k)
        slope = casadi.sparsify(by_strain) @ strains
        return Step(casadi.sparsify(theta), slope, lambda qd_f: casadi.sparsify(_growth()(k, strains @ qd_f)))


@dataclass(frozen=True)
class Turn:
    """The rotation of a section and its Jacobian (3 x n) in the root frame."""

    R: SX
    J_R: SX

    def then(self, step: Step) -> Turn:
        """That of the section behind a step."""
        V = self.R @ left_jacobian(step.theta, STEP_TERMS)
        return Turn(self.R @ exponential(step.theta, STEP_TERMS), self.J_R + V @ step.slope)


@dataclass(frozen=True)
class Spin:
    """Angular velocity of a section and its derivative at constant modal rates (3 x 1), in the root frame."""

    omega: SX
    alpha: SX

    def then(self, R: SX, step: Step, qd_f: SX) -> Spin:
        """That of the section behind a step from this one, which is turned by R."""
        omega, alpha = angular_motion(step.theta, step.slope @ qd_f, step.growth(qd_f), STEP_TERMS)
        relative = R @ omega
        return Spin(self.omega + relative, self.alpha + cross(self.omega, relative) + R @ alpha)

    def acceleration(self, r: SX) -> SX:
        """Of a point at r (3 x 1) that turns along."""
        return cross(self.alpha, r) + cross(self.omega, cross(self.omega, r))


class Rod:
    """A rod at modal coordinates q_f (n x 1), whose sections are known by xi = x/length; the root is at x = 0.

    ``nodes`` are places and weights of Gauss, ``step(xi)`` the place from which a section is reached and the step.
    ``missed(xi)`` is what q_f moves the section at xi beyond what the nodes see where shapes have knots: for every node
    in its axes (3 x n), or nothing.
    """

    def __init__(
        self,
        length: SX,
        nodes: tuple[Array, Array],
        q_f: SX,
        step: Callable[[float], tuple[float, Step]],
        missed: Callable[[float], list[SX]],
    ) -> None:
        self.length, self.nodes, self.q_f, self.step, self._missed = length, nodes, q_f, cache(step), missed
        self._turns = {0.0: Turn(SX.eye(3), SX(3, q_f.rows()))}
        self._moving: tuple[Moving, ...] = ()

    def turn(self, xi: float) -> Turn:
        """The rotation of the section at xi."""
        if xi not in self._turns:
            before, step = self.step(xi)
            self._turns[xi] = self.turn(before).then(step)
        return self._turns[xi]

    def tangent(self, xi: float) -> SX:
        """dr/dxi (3 x 1)."""
        return self.length * self.turn(xi).R[:, 0]

    @cached_property
    def tangents(self) -> SX:
        """dr/dxi at the nodes (3 x N), below it its derivatives by q_f one by one (3 n x N)."""
        columns = []
        for xi in self.nodes[0].tolist():
            t = self.tangent(xi)
            columns.append(casadi.vertcat(t, casadi.vec(-skew(t) @ self.turn(xi).J_R)))
        return casadi.horzcat(*columns)

    @cached_property
    def moments(self) -> SX:
        """Their moments."""
        return moments(self.tangents)

    def section(self, xi: float) -> CrossSection:
        """The section at xi."""
        at, reached = self.turn(xi), _integral(self, xi)
        r, J_T = reached[:3], casadi.reshape(reached[3:], 3, -1)
        for turn, missed in self._corners(xi):
            by_mode = turn.R @ missed
            r += by_mode @ self.q_f
            J_T += by_mode - skew(by_mode @ self.q_f) @ turn.J_R
        return CrossSection(Pose(r, at.R), J_T, at.J_R, known=lambda qd_f: self._motion(xi, J_T, qd_f))

    def _motion(self, xi: float, J_T: SX, qd_f: SX) -> Motion:
        moving = self.moving(qd_f)
        spin, a = moving.spin(xi), _integral(moving, xi)
        for node, (turn, missed) in zip(self.nodes[0].tolist(), self._corners(xi), strict=False):
            at, by_mode = moving.spin(node), turn.R @ missed
            a += at.acceleration(by_mode @ self.q_f) + cross(2 * at.omega, by_mode @ qd_f)
        return Motion(J_T @ qd_f, spin.omega, a, spin.alpha)

    def _corners(self, xi: float) -> list[tuple[Turn, SX]]:
        missed = self._missed(xi)
        return [(self.turn(node), each) for node, each in zip(self.nodes[0].tolist(), missed, strict=False)]

    def moving(self, qd_f: SX) -> Moving:
        """It with modal rates (n x 1); whoever asks for the same again has the same."""
        qd_f = casadi.densify(qd_f)
        known = [each for each in self._moving if casadi.is_equal(each.qd_f, qd_f)]
        if not known:
            known = [Moving(self, qd_f)]
            self._moving = tuple(known)
        return known[0]


class Moving:
    """A rod with modal rates qd_f (n x 1)."""

    def __init__(self, rod: Rod, qd_f: SX) -> None:
        self.rod, self.qd_f = rod, qd_f
        self._spins = {0.0: Spin(SX(3, 1), SX(3, 1))}

    def spin(self, xi: float) -> Spin:
        """How the section at xi turns."""
        if xi not in self._spins:
            before, step = self.rod.step(xi)
            self._spins[xi] = self.spin(before).then(self.rod.turn(before).R, step, self.qd_f)
        return self._spins[xi]

    @cached_property
    def tangents(self) -> SX:
        """Second derivatives of dr/dxi at constant rates, at the nodes (3 x N)."""
        nodes = self.rod.nodes[0].tolist()
        return casadi.horzcat(*(self.spin(xi).acceleration(self.rod.tangent(xi)) for xi in nodes))

    @cached_property
    def moments(self) -> SX:
        """Their moments."""
        return moments(self.tangents)


def moments(values: SX) -> SX:
    """int_0^1 f P_n/2 dxi (k x N) of k functions from their values (k x N) at N Gauss nodes, n < N."""
    rule = _rule(values.columns())
    return _by_parity(values, rule)


def antiderivative(values: SX, kept: int) -> SX:
    """int_0^xi f by the polynomials (2 n + 1)^1/2 P_n, which are orthonormal (k x kept), from the same values.

    The integral of (2 n + 1) P_n is (P_n+1 - P_n-1)/2. Higher degrees count by their square in what is integrated
    along the beam.
    """
    rule = _rule(values.columns())
    first = _by_parity(values, rule[:, :2])
    rest = (rule[:, : kept - 1] - rule[:, 2 : kept + 1]) / np.sqrt(2 * np.arange(1, kept) + 1)
    return casadi.horzcat(first[:, 0] - first[:, 1], _by_parity(values, rest))


def _by_parity(values: SX, rule: Array) -> SX:
    """Values (k x N) times a rule (N x m) whose columns are even and odd by turns: opposite nodes are one."""
    count, columns = rule.shape
    half = count // 2
    first, last = values[:, :half], values[:, list(range(count - 1, count - 1 - half, -1))]
    even, odd = casadi.horzcat(first + last, values[:, half : count - half]), first - last
    result = SX(values.rows(), columns)
    result[:, ::2], result[:, 1::2] = even @ SX(rule[: even.columns(), ::2]), odd @ SX(rule[:half, 1::2])
    return result


def _integral(of: Rod | Moving, xi: float) -> SX:
    """int_0^xi of its tangents (k x 1); up to the tip by the weights of the nodes."""
    count = of.tangents.columns()
    return 2 * _by_parity(of.tangents, _rule(count)[:, :1]) if xi == 1 else of.moments @ _reaching(xi, count)


@lru_cache(maxsize=256)
def _reaching(xi: float, count: int) -> SX:
    """What the moments (k x N) times it (N x 1) are int_0^xi f; at the tip only the first is left."""
    values = _legendre(np.array([2 * xi - 1]), count)[0]
    return casadi.sparsify(SX(values[1:] - np.array([-1.0, *values[:-2]])))


def corners(shapes: Shapes, xi: float, count: int) -> Array:
    """int_0^xi L_j (phi_i' - sum_k phi_i'(xi_k) L_k) (N, m): what the L_k of N Gauss nodes miss of shapes with knots.

    L_k are Lagrange's polynomials; a tangent that turns by what is missed goes on by its sum over nodes, to first
    order in it.
    """
    t, w = beam_integrals.composite(np.array([0.0, *shapes.knots[shapes.knots < xi], xi]), count)
    P = _legendre(2 * t - 1, count - 1)
    L = 2 * P * (2 * np.arange(count) + 1) @ _rule(count).T
    return np.asarray((L.T * w) @ (shapes.values(t, 1) - shapes.values(gauss(count)[0], 1) @ L.T).T)


@lru_cache(maxsize=256)
def _rule(count: int) -> Array:
    """w_j P_n(2 xi_j - 1)/2, a row for each of so many Gauss nodes, a column for each degree n < N."""
    nodes, weights = gauss(count)
    return np.asarray(weights[:, None] / 2 * _legendre(2 * nodes - 1, count - 1))


@lru_cache(maxsize=1)
def _magnus() -> casadi.Function:
    """Of the Legendre coefficients of a step (15 x 1): its rotation vector and the derivative by them."""
    k = SX.sym("k", 3 * (DEGREE + 1))
    theta = _rotation_vector(k)
    return casadi.Function("magnus", [k], [theta, casadi.jacobian(theta, k)])


@lru_cache(maxsize=1)
def _growth() -> casadi.Function:
    """Of the same and their rates: the second derivative of the rotation vector at constant rates."""
    k, rate = SX.sym("k", 3 * (DEGREE + 1)), SX.sym("rate", 3 * (DEGREE + 1))
    theta = _rotation_vector(k)
    return casadi.Function("growth", [k, rate], [casadi.jtimes(casadi.jtimes(theta, k, rate), k, rate)])


def _rotation_vector(k: SX) -> SX:
    """The Magnus expansion of a step on the Legendre coefficients k_i of its curvature times its length.

    It is k_0 + [k_0, k_1]/6 + [k_0, [k_0, k_2]]/60 - [k_1, [k_0, k_1]]/60 - [k_0, [k_0, [k_0, k_1]]]/360 to sixth order
    with cross products as brackets, here as multiples of k_0, k_1, k_2 and k_0 x k_1, and what other k_i add to second
    order: k_i x k_i+1/(2 (2 i + 1) (2 i + 3)).
    """
    a, b, c, *_ = parts = casadi.vertsplit(k, 3)
    s, along = dot(a, a) / 60, dot(a, b) / 60
    theta = a + (dot(a, c) - dot(b, b)) / 60 * a + along * b - s * c + (1 + s) / 6 * cross(a, b)
    pairs = zip(parts[1:], parts[2:], strict=False)
    return theta + sum((cross(x, y) / (2 * (2 * i + 1) * (2 * i + 3)) for i, (x, y) in enumerate(pairs, 1)), SX(3, 1))


def _legendre(t: Array, degree: int) -> Array:
    """P_n(t) (k, degree + 1)."""
    from numpy.polynomial import legendre  # here, since few robots have rods

    return np.asarray(legendre.legvander(t, degree), dtype=float)
