"""Rigid placements: a position and a rotation matrix, both traced expressions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from functools import cache

import casadi
from casadi import SX, cross, dot, skew

from kronbot.cached import cached_property
from kronbot.records import dataclass

# pi**(2 j) / (2 j + 4)! is under 1e-17 from j = 14 on: full double precision for rotations up to |theta| = pi.
SERIES_TERMS = 14


@dataclass(frozen=True)
class Pose:
    """A frame seen from another one: origin ``r`` (3 x 1, m) and rotation ``R`` (3 x 3), p_outer = r + R p_inner."""

    r: SX
    R: SX

    def __matmul__(self, inner: Pose) -> Pose:
        """The inner frame seen from the outer one, Tuan (71)-(72)."""
        return Pose(self.r + self.R @ inner.r, self.R @ inner.R)

    @staticmethod
    def identity() -> Pose:
        """The frame itself."""
        return Pose(SX(3, 1), SX.eye(3))


@dataclass(frozen=True)
class Motion:
    """Velocity and angular velocity of a frame, and their derivatives at constant modal rates (3 x 1 each)."""

    v: SX
    omega: SX
    a: SX
    alpha: SX


@dataclass(frozen=True)
class CrossSection:
    """A frame carried by a flexible link: its pose in the root frame and its local Jacobians there.

    ``J_T`` and ``J_R`` = V(theta) ``slope`` (3 x n_f) map modal rates to velocity and angular velocity, Piedboeuf
    (23)-(24) in full. Where the section turns by a rotation vector ``theta`` (3 x 1) that is known, ``slope`` is
    dtheta/dq_f; elsewhere theta is structurally zero and the slope J_R itself. ``known`` gives the motion of the frame
    by modal rates where it does not have to be found by differentiating all this.
    """

    pose: Pose
    J_T: SX
    slope: SX
    theta: SX = field(default_factory=lambda: SX(3, 1))
    known: Callable[[SX], Motion] | None = None

    @property
    def J_R(self) -> SX:
        """Local Jacobian of rotation."""
        return self.V @ self.slope

    @cached_property
    def V(self) -> SX:
        """Left Jacobian (3 x 3) of the rotation vector."""
        return left_jacobian(self.theta)

    def turned(self, R: SX) -> CrossSection:
        """The same place with axes turned by R (3 x 3) against these."""
        return replace(self, pose=Pose(self.pose.r, self.pose.R @ R))

    def shifted(self, r: SX) -> CrossSection:
        """The frame seen from an origin that lies at -r (3 x 1) in the axes of the root frame."""
        return replace(self, pose=Pose(r + self.pose.r, self.pose.R))

    def motion(self, q_f: SX, qd_f: SX) -> Motion:
        """How the frame moves against the root frame with the modal rates qd_f; its pose depends on the symbols q_f."""
        if self.known is not None:
            return self.known(qd_f)
        rates = casadi.vertcat(self.J_T @ qd_f, self.slope @ qd_f)
        changes = casadi.jtimes(rates, q_f, qd_f)
        omega, alpha = angular_motion(self.theta, rates[3:], changes[3:])
        return Motion(rates[:3], omega, changes[:3], alpha)


def rotation_x(c: SX, s: SX) -> SX:
    """Rotation about x by the angle whose cosine and sine are given, 3 x 3."""
    return _rotation(0, c, s)


def rotation_y(c: SX, s: SX) -> SX:
    """Rotation about y by the angle whose cosine and sine are given, 3 x 3."""
    return _rotation(1, c, s)


def rotation_z(c: SX, s: SX) -> SX:
    """Rotation about z by the angle whose cosine and sine are given, 3 x 3."""
    return _rotation(2, c, s)


def _rotation(axis: int, c: SX, s: SX) -> SX:
    """Entry by entry, which CasADi does in half the time of putting blocks together."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R = SX.zeros(3, 3)
    R[axis, axis], R[i, i], R[j, j], R[i, j], R[j, i] = 1, c, c, -s, s
    return R


def exponential(theta: SX, terms: int = SERIES_TERMS) -> SX:
    """Rotation matrix exp(skew(theta)) of a rotation vector (3 x 1, rad), smooth everywhere including zero.

    There is no branch on values: a vector with at most one structural component turns about a coordinate axis (plain
    sine and cosine); otherwise sin(t)/t and (1 - cos t)/t^2 are entire functions of t^2 = theta . theta. The textbook
    quotient is 0/0 at theta = 0, where every command starts.
    """
    turning = _components(theta)
    if not turning:
        return SX.eye(3)
    if len(turning) == 1:
        about = (rotation_x, rotation_y, rotation_z)[turning[0]]
        angle = theta[turning[0]]
        return about(angle.cos(), angle.sin())
    s = dot(theta, theta)
    c1, c2, _ = stumpff(s, terms)
    return _rodrigues(1 - s * c2, c1, c2, theta)


def left_jacobian(theta: SX, terms: int = SERIES_TERMS) -> SX:
    """V (3 x 3) with Rdot R^T = skew(V thetadot) for R = exp(skew(theta)): dR R^T carried out, term by term.

    V = sin(t)/t + (1 - cos t)/t^2 skew(theta) + (t - sin t)/t^3 theta theta^T; the identity where theta has one
    structural component, since then thetadot has no other. It is not a second model of the rotation: tests hold it
    against the derivative of :func:`exponential` to rounding.
    """
    if len(_components(theta)) < 2:
        return SX.eye(3)
    return _rodrigues(*stumpff(dot(theta, theta), terms), theta)


def _rodrigues(along: SX, about: SX, outer: SX, theta: SX) -> SX:
    """along 1 + about skew(theta) + outer theta theta^T."""
    return along * SX.eye(3) + skew(about * theta) + symmetric((outer * theta) @ theta.T)


def angular_motion(theta: SX, rate: SX, second: SX, terms: int = SERIES_TERMS) -> tuple[SX, SX]:
    """Angular velocity V thetadot of R = exp(skew(theta)) and its derivative (3 x 1), from thetadot and thetaddot.

    The derivative is written out, by dc_k/ds = (k c_(k+2) - c_(k+1))/2: differentiating the series would sum them anew.
    """
    if len(_components(theta)) < 2:
        return rate, second
    swept = cross(theta, rate)
    twice = cross(theta, swept)
    s, growth = dot(theta, theta), dot(theta, rate)
    c4, c5 = _remainders(s, terms)
    c2, c3 = 1 / 2 - s * c4, 1 / 6 - s * c5
    omega = rate + c2 * swept + c3 * twice
    sweeping = cross(theta, second)
    alpha = second + c2 * sweeping + c3 * (cross(rate, swept) + cross(theta, sweeping))
    return omega, alpha + growth * ((2 * c4 - c3) * swept + (3 * c5 - c4) * twice)


Sloped = tuple[SX, SX]
"""A vector (k x 1) that depends on coordinates, and its derivative by them (k x n)."""


def quadratic(forms: Sequence[SX], q: SX) -> Sloped:
    """1/2 q^T F q for each symmetric F (n x n)."""
    slope = casadi.reshape(casadi.vertcat(*forms) @ q, q.rows(), len(forms)).T
    return slope @ q / 2, slope


def bent(start: SX, linear: SX, forms: Sequence[SX], q: SX) -> Sloped:
    """What begins at ``start`` (k x 1), goes on by ``linear`` (k x n), and by quadratic forms where it has any."""
    if not forms:
        return start + linear @ q, linear
    more, slope = quadratic(forms, q)
    return start + linear @ q + more, linear + slope


def symmetric(S: SX) -> SX:
    """The lower triangle and its mirror image: what is above the diagonal of a symmetric result is not computed."""
    return casadi.tril2symm(casadi.tril(S))


def _components(theta: SX) -> list[int]:
    """Places of the structurally nonzero components."""
    return [i for i in range(3) if not theta[i].is_zero()]


def stumpff(s: SX, terms: int) -> tuple[SX, SX, SX]:
    """c_k(s) = sum_j (-s)^j / (2 j + k)! for k = 1, 2, 3: sin(t)/t, (1 - cos t)/t^2, (t - sin t)/t^3 with s = t^2.

    From c_k = 1/k! - s c_(k+2), which loses no digits; c4 and c5 by Horner's rule with so many terms.
    """
    c4, c5 = _remainders(s, terms)
    c2, c3 = 1 / 2 - s * c4, 1 / 6 - s * c5
    return 1 - s * c3, c2, c3


def _remainders(s: SX, terms: int) -> tuple[SX, SX]:
    """The series c4 and c5."""
    c4, c5 = _series(terms).call([s], True, False)
    return c4, c5


@cache
def _series(terms: int) -> casadi.Function:
    """Of s: written anew for every section, operation by operation, they took a fifth of what tracing takes."""
    s, c4, c5 = SX.sym("s"), SX(0), SX(0)
    for j in range(terms - 1, -1, -1):
        c4 = 1 / math.factorial(2 * j + 4) - s * c4
        c5 = 1 / math.factorial(2 * j + 5) - s * c5
    return casadi.Function("series", [s], [c4, c5])
