"""The mass matrix M_i and the velocity terms gamma_i of bodies and links, Mohan-Saha (23)-(24).

A body resists an acceleration tdot with the wrench w = M tdot + gamma. The twist of a link is t = [v; omega; qd_f]:
velocity of the root frame's origin, its angular velocity, modal rates, all in the root frame; tdot holds the true
(inertial) acceleration of the origin.

kronbot differs from the paper: the Coriolis terms carry the factor 2 that (24b) lacks, beams also have bending w,
torsion with polar inertia and second-order kinematics, and the bodies at both ends are rigid bodies, not points.

Symmetric matrices are computed on and below the diagonal and mirrored, so that no product is traced twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import casadi
from casadi import SX, cross, dot, skew

from kronbot.model.beam import Beam
from kronbot.model.pose import CrossSection, Pose, symmetric
from kronbot.model.robot import Body, Link
from kronbot.records import dataclass


@dataclass(frozen=True)
class Section:
    """A frame carried by a deforming link, seen in its root frame.

    ``v``, ``omega`` are the velocity and angular velocity relative to the root frame, ``a``, ``alpha`` their rates at
    constant modal rates (all 3 x 1).
    """

    place: CrossSection
    v: SX
    omega: SX
    a: SX
    alpha: SX

    @property
    def pose(self) -> Pose:
        """The frame in the root frame."""
        return self.place.pose

    def shifted(self, offset: SX) -> Section:
        """The frame with its origin at an offset (3 x 1) in its own axes."""
        at, r = self.place, self.pose.R @ offset
        place = CrossSection(Pose(at.pose.r + r, at.pose.R), at.J_T - skew(r) @ at.J_R, at.slope, at.theta)
        a = self.a + cross(self.alpha, r) + centripetal(self.omega) @ r
        return replace(self, place=place, v=self.v + cross(self.omega, r), a=a)

    def moving(self, twist: SX) -> SX:
        """Twist (6 x 1, root axes) of the frame while its link deforms and the root frame has a twist (6 x 1)."""
        v, omega = twist[:3], twist[3:]
        return casadi.vertcat(v + cross(omega, self.pose.r) + self.v, omega + self.omega)

    def acceleration(self, tdot: SX) -> SX:
        """Acceleration (6 x 1, root axes) of the frame without its bias: [1, -r~, J_T; 0, 1, J_R] tdot."""
        at, a, alpha, qdd_f = self.place, tdot[:3], tdot[3:6], tdot[6:, :]
        turning = at.V @ (at.slope @ qdd_f)
        return casadi.vertcat(a + cross(alpha, at.pose.r) + at.J_T @ qdd_f, alpha + turning)

    def bias(self, omega: SX) -> SX:
        """Acceleration (6 x 1) of the frame where tdot = 0 and the root frame turns with omega."""
        a = centripetal(omega) @ self.pose.r + cross(2 * omega, self.v) + self.a
        return casadi.vertcat(a, cross(omega, self.omega) + self.alpha)

    def on_link(self, wrench: SX) -> SX:
        """Wrenches (6 x k, root axes) on the frame as forces ((6 + n_f) x k) on the link."""
        return casadi.vertcat(moved(wrench, self.pose.r), self.on_modes(wrench))

    def on_modes(self, wrench: SX) -> SX:
        """Their modal forces (n_f x k), J_T^T f + J_R^T n."""
        at = self.place
        return at.J_T.T @ wrench[:3, :] + at.slope.T @ (at.V.T @ wrench[3:, :])


def section(at: CrossSection, q_f: SX, qd_f: SX) -> Section:
    """A section whose pose depends on the symbols q_f, moving with the modal rates qd_f."""
    moving = at.motion(q_f, qd_f)
    return Section(at, moving.v, moving.omega, moving.a, moving.alpha)


@dataclass(frozen=True)
class Mount:
    """How the root frame of a link stands on the tip of its parent, both in root axes.

    ``lever`` (parent's axes) leads to the joint, ``R`` turns into the link's own axes, ``slide`` (own axes) leads on.
    """

    R: SX
    lever: SX
    slide: SX

    @property
    def pose(self) -> Pose:
        """The root frame seen from the tip."""
        return Pose(self.lever + self.R @ self.slide, self.R)

    def motion(self, twist: SX) -> SX:
        """A twist (6 x 1) of the tip as one of the root frame."""
        v, omega = self.R.T @ (twist[:3] + cross(twist[3:], self.lever)), self.R.T @ twist[3:]
        return casadi.vertcat(v + cross(omega, self.slide), omega)

    def bias(self, acceleration: SX, omega: SX) -> SX:
        """Acceleration (6 x 1) of the root frame, fixed to a tip that accelerates so and turns with omega."""
        a = self.motion(acceleration)
        a[:3] += self.R.T @ (centripetal(omega) @ self.lever) + centripetal(self.R.T @ omega) @ self.slide
        return a

    def wrench(self, wrench: SX) -> SX:
        """Wrenches (6 x k) on the root frame as ones on the tip."""
        return moved(turned(self.R, moved(wrench, self.slide)), self.lever)

    def body(self, body: AnyBody) -> AnyBody:
        """A body on the root frame as one on the tip."""
        return body.shifted(self.slide).turned(self.R).shifted(self.lever)


@dataclass(frozen=True)
class Rigid:
    """A rigid body on a frame: ``mass``, ``moment`` (3 x 1, mass times centre of mass), ``tensor`` (3 x 3, inertia)."""

    mass: SX
    moment: SX
    tensor: SX

    @staticmethod
    def of(body: Body) -> Rigid:
        """A body of the robot file about the origin of its frame."""
        at_com = Rigid(body.mass, SX(3, 1), body.inertia)
        return at_com.shifted(body.com)

    @staticmethod
    def within(M: SX) -> Rigid:
        """The body that a link with the mass matrix M is while it keeps its shape; M[:3, 3:6] is -skew(moment)."""
        return Rigid(M[0, 0], casadi.vertcat(M[1, 5], M[2, 3], M[0, 4]), M[3:6, 3:6])

    @property
    def M(self) -> SX:
        """Its mass matrix (6 x 6)."""
        return _blocks(self.mass * SX.eye(3), -skew(self.moment), self.tensor)

    def __add__(self, other: Rigid) -> Rigid:
        """Both bodies on the same frame."""
        return Rigid(self.mass + other.mass, self.moment + other.moment, self.tensor + other.tensor)

    def turned(self, R: SX) -> Rigid:
        """The body in axes from which its own are turned by R (3 x 3)."""
        return Rigid(self.mass, R @ self.moment, _rotated(self.tensor, R))

    def shifted(self, r: SX) -> Rigid:
        """The body on a frame from whose origin its own lies at r (3 x 1), by the theorem of parallel axes."""
        if r.is_zero():
            return self
        between = self.moment + self.mass / 2 * r
        N = symmetric(between @ r.T + r @ between.T)
        return Rigid(self.mass, self.moment + self.mass * r, self.tensor + casadi.trace(N) * SX.eye(3) - N)

    def spinning(self, omega: SX) -> Inertia:
        """The body on a frame that turns with omega: its velocity terms are centrifugal and gyroscopic."""
        gyroscopic = cross(omega, self.tensor @ omega)
        return Inertia(self.M, casadi.vertcat(centripetal(omega) @ self.moment, gyroscopic))


def mass_moment(M: SX) -> tuple[SX, SX]:
    """Mass (1 x 1, kg) and first moment of mass (3 x 1, kg m) of a link from its M_i."""
    whole = Rigid.within(M)
    return whole.mass, whole.moment


@dataclass(frozen=True)
class Inertia:
    """The resistance of a body: the wrench ``M`` tdot + ``gamma``, on a frame (6) or on a link (6 + n_f)."""

    M: SX
    gamma: SX

    def __add__(self, other: Inertia) -> Inertia:
        """Both on the same coordinates."""
        return Inertia(self.M + other.M, self.gamma + other.gamma)

    def wrench(self, acceleration: SX) -> SX:
        """M tdot + gamma."""
        return self.M @ acceleration + self.gamma

    def biased(self, acceleration: SX) -> Inertia:
        """The same where the acceleration has that part besides tdot."""
        return Inertia(self.M, self.wrench(acceleration))

    def turned(self, R: SX) -> Inertia:
        """The body on a frame (6) in axes from which its own are turned by R (3 x 3)."""
        A, B, C = _rotated(self.M[:3, :3], R), (R @ self.M[:3, 3:]) @ R.T, _rotated(self.M[3:, 3:], R)
        return Inertia(_blocks(A, B, C), turned(R, self.gamma))

    def shifted(self, r: SX) -> Inertia:
        """The body on a frame (6) from whose origin its own lies at r (3 x 1): [1, -r~; 0, 1]^T M [1, -r~; 0, 1]."""
        if r.is_zero():
            return self
        A, B, r_cross = self.M[:3, :3], self.M[:3, 3:], skew(r)
        shifted = B - A @ r_cross
        C = self.M[3:, 3:] + symmetric(r_cross @ shifted - B.T @ r_cross)
        return Inertia(_blocks(A, shifted, C), moved(self.gamma, r))


AnyBody = TypeVar("AnyBody", Inertia, Rigid)


def carried(body: Inertia | Rigid, tip: Section) -> SX:
    """Mass matrix of a body at a section (on a frame in root axes) on the twist of the link (6 + n_f)."""
    at = tip.place
    columns = body.M[:, :3] @ at.J_T + (body.M[:, 3:] @ at.V) @ at.slope
    return _blocks(body.shifted(at.pose.r).M, moved(columns, at.pose.r), symmetric(tip.on_modes(columns)))


def centripetal(omega: SX) -> SX:
    """omega~ omega~ (3 x 3), symmetric."""
    return symmetric(skew(omega) @ skew(omega))


def turned(R: SX, vectors: SX) -> SX:
    """Both halves of a twist or wrench (6 x 1) turned by R."""
    return casadi.vertcat(R @ vectors[:3, :], R @ vectors[3:, :])


def moved(wrenches: SX, r: SX) -> SX:
    """Wrenches (6 x k) on a point at r as wrenches on the origin."""
    return casadi.vertcat(wrenches[:3, :], wrenches[3:, :] + skew(r) @ wrenches[:3, :])


def _rotated(S: SX, R: SX) -> SX:
    """R S R^T of a symmetric S (3 x 3): the part S[2, 2] 1 stays as it is, and so does the trace of the rest."""
    rest = S - S[2, 2] * SX.eye(3)
    result = symmetric(R @ (rest @ R.T))
    result[1, 1] = rest[0, 0] + rest[1, 1] - result[0, 0] - result[2, 2]
    return result + S[2, 2] * SX.eye(3)


def _blocks(A: SX, B: SX, C: SX) -> SX:
    """[A, B; B^T, C]."""
    return casadi.blockcat([[A, B], [B.T, C]])


def link_inertia(link: Link, tip: Section, omega: SX, q_f: SX, qd_f: SX) -> tuple[Inertia, Inertia]:
    """The inertia of a link whose root frame turns with omega (3 x 1), in two parts.

    On its twist (6 + n_f) that of the hub and the beam; on the tip (6), in root axes, that of the bodies there.
    """
    nothing = Rigid(SX(0), SX(3, 1), SX(3, 3))
    at_root, at_tip = Inertia(SX(6 + link.modes, 6 + link.modes), SX(6 + link.modes, 1)), Inertia(SX(6, 6), SX(6, 1))
    if link.bodies:
        bodies = sum((Rigid.of(body) for body in link.bodies), nothing).turned(tip.pose.R)
        at_tip = bodies.spinning(omega + tip.omega).biased(tip.bias(omega))
    hub = nothing if link.hub is None else Rigid.of(link.hub)
    if link.beam is not None:
        at_root = _flexible(link.beam, hub, omega, q_f, qd_f)
    elif link.hub is not None:
        at_root = hub.spinning(omega)
    return at_root, at_tip


def _flexible(beam: Beam, hub: Rigid, omega: SX, q_f: SX, qd_f: SX) -> Inertia:
    """The hub and the beam. Beams take most of the time of tracing: whoever moves one again has the same tape again,
    but in order exact, where all sections share one rod.
    """

    def made(omega: SX, q_f: SX, qd_f: SX, *of_hub: SX) -> tuple[SX, SX]:
        whole = _mass_line(beam, Rigid(*of_hub), omega, q_f, qd_f) + _polar(beam, omega, q_f, qd_f)
        return whole.M, whole.gamma

    given = omega, q_f, qd_f, hub.mass, hub.moment, hub.tensor
    return Inertia(*(made(*given) if beam.order == "exact" else beam.tapes.play(made, *given)))


def _mass_line(beam: Beam, hub: Rigid, omega: SX, q_f: SX, qd_f: SX) -> Inertia:
    """The hub, and the translation of the beam's mass: r = sum_k b_k c_k with integrals of rho b_k and of rho b_k b_l.

    With b_k as its columns' factors a product X gram Y^T, times their scale, is the integral of rho x y^T.
    """
    line = beam.mass_line(q_f)
    C, first, gram, scale = line.points, line.first, line.gram, line.scale
    slopes = [casadi.reshape(line.slopes[:, i], C.shape) for i in range(beam.n)]
    rates = line.slopes @ qd_f
    coriolis = skew(2 * omega) @ casadi.reshape(rates, C.shape)
    coriolis += line.acceleration(q_f, qd_f)

    weighted = C @ gram
    second = scale * symmetric(weighted @ C.T)
    shape = Rigid(beam.mass, scale * (C @ first), casadi.trace(second) * SX.eye(3) - second)
    frozen = (hub + shape).spinning(omega)
    by_mode = [weighted @ slope.T for slope in slopes]
    columns = [casadi.vertcat(slope @ first, _axial(Q)) for slope, Q in zip(slopes, by_mode, strict=True)]
    modal = SX(beam.n, beam.n)
    for i, slope in enumerate(slopes):
        tilted = slope @ gram
        for j in range(i + 1):
            modal[i, j] = modal[j, i] = dot(tilted, slopes[j])
    M = _blocks(frozen.M, scale * casadi.horzcat(SX(6, 0), *columns), scale * modal)

    pushed = casadi.vertcat(coriolis @ first, _axial(weighted @ coriolis.T))
    weighted_coriolis, about = coriolis @ gram, centripetal(omega)
    forces = [dot(about, Q) + dot(weighted_coriolis, slope) for slope, Q in zip(slopes, by_mode, strict=True)]
    return Inertia(M, casadi.vertcat(frozen.gamma + scale * pushed, *(scale * force for force in forces)))


def _polar(beam: Beam, omega: SX, q_f: SX, qd_f: SX) -> Inertia:
    """Rotation of the sections about the beam's own axis e = R e1: energy 1/2 int Ip (e . omega_section)^2 dx.

    The section is a rotor of inertia Ip e e^T, so that Euler's equations in their plain form give its moment.
    """
    M, gamma = SX(6 + beam.n, 6 + beam.n), SX(6 + beam.n, 1)
    if beam.polar_inertia.is_zero():
        return Inertia(M, gamma)
    nodes, weights = beam.nodes
    if beam.order == "exact":
        places = beam.cross_sections(nodes.tolist(), q_f)
        parts = [_rotor(beam, at, weight, omega, q_f, qd_f) for at, weight in zip(places, weights, strict=True)]
    else:

        def made(weight: SX, omega: SX, q_f: SX, qd_f: SX, *turning: SX) -> Sequence[SX]:
            return _rotor(beam, beam.turned(q_f, *turning), weight, omega, q_f, qd_f)

        given = ((SX(weight), omega, q_f, qd_f, *beam.turning(xi)) for xi, weight in zip(nodes, weights, strict=True))
        parts = [beam.tapes.play(made, *each) for each in given]
    for of_section, turning in parts:
        M += of_section
        gamma += turning
    return Inertia(M, gamma)


def _rotor(beam: Beam, place: CrossSection, weight: float | SX, omega: SX, q_f: SX, qd_f: SX) -> Sequence[SX]:
    """The part of one section, M and gamma."""
    at = section(place, q_f, qd_f)
    axis, inertia = at.pose.R[:, 0], beam.polar_inertia * beam.length * weight
    nothing, across = SX(3, 1), cross(omega + at.omega, axis)
    spin = at.on_link(casadi.vertcat(nothing, axis))
    heavy = inertia * spin
    gyroscopic = at.on_link(casadi.vertcat(nothing, inertia * dot(axis, omega + at.omega) * across))
    gamma = (dot(axis, at.alpha) - dot(at.omega, across)) * heavy + gyroscopic
    return symmetric(heavy @ spin.T), gamma


def _axial(S: SX) -> SX:
    """sum_k a_k x b_k (3 x 1) from S = sum_k a_k b_k^T."""
    return casadi.vertcat(S[1, 2] - S[2, 1], S[2, 0] - S[0, 2], S[0, 1] - S[1, 0])
