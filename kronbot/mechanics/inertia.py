"""The mass matrix M_i and the velocity terms gamma_i of one link, Mohan-Saha (23)-(24), from the pose of its sections.

Everything is expressed in the link's root frame. The twist of a link is t = [v; omega; qd_f]: velocity of the root
frame's origin, its angular velocity, modal rates; inertia wrench w = M_i tdot + gamma_i, where tdot holds the true
(inertial) acceleration of the origin.

kronbot differs from the paper: the Coriolis terms carry the factor 2 that (24b) lacks, beams also have bending w,
torsion with polar inertia and second-order kinematics, and the bodies at both ends are rigid bodies, not points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi
from casadi import SX, cross, skew

from kronbot.model.beam import Beam
from kronbot.model.pose import CrossSection, Pose
from kronbot.model.robot import Body, Link


@dataclass(frozen=True)
class Section:
    """A frame carried by a deforming link, seen in its root frame.

    ``J_T``, ``J_R`` (3 x n_f) are the local Jacobians, Piedboeuf (23)-(24); ``v``, ``omega`` the
    velocity and angular velocity relative to the root frame, ``a``, ``alpha`` their rates at constant
    modal rates (all 3 x 1).
    """

    pose: Pose
    J_T: SX
    J_R: SX
    v: SX
    omega: SX
    a: SX
    alpha: SX


def sections(places: Sequence[CrossSection], q_f: SX, qd_f: SX) -> list[Section]:
    """Sections whose poses depend on the symbols q_f, moving with the modal rates qd_f.

    All are differentiated in one sweep: on a rod every section is on the way to the next.
    """
    rates = casadi.vertcat(*(part @ qd_f for at in places for part in (at.J_T, at.J_R)))
    changes = casadi.jtimes(rates, q_f, qd_f)
    result = []
    for i, at in enumerate(places):
        parts = (matrix[6 * i + 3 * half : 6 * i + 3 * half + 3] for matrix in (rates, changes) for half in (0, 1))
        result.append(Section(at.pose, at.J_T, at.J_R, *parts))
    return result


def section(at: CrossSection, q_f: SX, qd_f: SX) -> Section:
    """One such section."""
    return sections([at], q_f, qd_f)[0]


def link_inertia(link: Link, tip: Section, omega: SX, q_f: SX, qd_f: SX) -> tuple[SX, SX]:
    """M_i ((6 + n_f) x (6 + n_f)) and gamma_i ((6 + n_f) x 1) of a link whose root frame turns with omega (3 x 1)."""
    size = 6 + link.modes
    M, gamma = SX(size, size), SX(size, 1)
    if link.beam is not None:
        for part, bias in (_mass_line(link.beam, omega, q_f, qd_f), _polar(link.beam, omega, q_f, qd_f)):
            M, gamma = M + part, gamma + bias
    if link.hub is not None:
        M6, bias = _body(link.hub, SX.eye(3), omega)
        M[:6, :6] += M6
        gamma[:6] += bias
    for body in link.bodies:
        part, bias = _carried(body, tip, omega)
        M, gamma = M + part, gamma + bias
    return M, gamma


def mass_moment(M: SX) -> tuple[SX, SX]:
    """Mass (1 x 1, kg) and first moment of mass (3 x 1, kg m) of a link from its M_i.

    The upper middle block of M_i is -skew(m r).
    """
    return M[0, 0], casadi.vertcat(M[1, 5], M[2, 3], M[0, 4])


def carry(frame: Section, size: int) -> SX:
    """Twist of a carried frame (6 x 1, root axes) = carry @ t: [1, -skew(r), J_T; 0, 1, J_R]."""
    result = SX(6, size)
    result[:3, :3] = result[3:, 3:6] = SX.eye(3)
    result[:3, 3:6] = -skew(frame.pose.r)
    result[:3, 6:] = frame.J_T
    result[3:, 6:] = frame.J_R
    return result


def carried_bias(frame: Section, omega: SX) -> tuple[SX, SX]:
    """Acceleration and angular acceleration (3 x 1 each) of a carried frame for tdot = 0."""
    a = cross(omega, cross(omega, frame.pose.r)) + 2 * cross(omega, frame.v) + frame.a
    return a, cross(omega, frame.omega) + frame.alpha


def _mass_line(beam: Beam, omega: SX, q_f: SX, qd_f: SX) -> tuple[SX, SX]:
    """Translation of the beam's mass: r = sum_k b_k c_k with integrals of rho b_k and of rho b_k b_l."""
    line = beam.mass_line(q_f)
    C, slopes, first = line.points, line.slopes, line.first
    n_f = beam.n
    rates = slopes @ qd_f
    A = 2 * skew(omega) @ casadi.reshape(rates, C.shape) + casadi.reshape(casadi.jtimes(rates, q_f, qd_f), C.shape)
    A += skew(omega) @ (skew(omega) @ C)
    dC = [casadi.reshape(slopes[:, i], C.shape) for i in range(n_f)]
    weighted = C @ line.gram

    M, gamma = SX(6 + n_f, 6 + n_f), SX(6 + n_f, 1)
    second = weighted @ C.T
    M[:3, :3] = beam.mass * SX.eye(3)
    M[:3, 3:6] = -skew(C @ first)
    M[3:6, :3] = M[:3, 3:6].T
    M[3:6, 3:6] = casadi.trace(second) * SX.eye(3) - second
    gamma[:3] = A @ first
    gamma[3:6] = _axial(weighted @ A.T)
    for i in range(n_f):
        tilted = dC[i] @ line.gram
        M[:3, 6 + i] = dC[i] @ first
        M[3:6, 6 + i] = _axial(weighted @ dC[i].T)
        M[6 + i, :6] = M[:6, 6 + i].T
        for j in range(i + 1):
            M[6 + i, 6 + j] = M[6 + j, 6 + i] = casadi.dot(tilted, dC[j])
        gamma[6 + i] = casadi.dot(tilted, A)
    return M, gamma


def _polar(beam: Beam, omega: SX, q_f: SX, qd_f: SX) -> tuple[SX, SX]:
    """Rotation of the sections about the beam's own axis e = R e1: energy 1/2 int Ip (e . omega_section)^2 dx.

    The section is a rotor of inertia Ip e e^T, so that Euler's equations in their plain form give its moment.
    """
    size = 6 + beam.n
    M, gamma = SX(size, size), SX(size, 1)
    if beam.polar_inertia.is_zero():
        return M, gamma
    nodes, weights = beam.nodes
    for at, weight in zip(sections(beam.cross_sections(nodes.tolist(), q_f), q_f, qd_f), weights, strict=True):
        axis, inertia = at.pose.R[:, 0], beam.polar_inertia * beam.length * weight
        J = carry(at, size)[3:, :]
        spin = axis.T @ J
        total = omega + at.omega
        _, alpha = carried_bias(at, omega)
        moment = axis * casadi.dot(axis, alpha) + casadi.dot(axis, total) * cross(total, axis)
        M += inertia * spin.T @ spin
        gamma += inertia * J.T @ moment
    return M, gamma


def _body(body: Body, R: SX, omega: SX) -> tuple[SX, SX]:
    """Spatial inertia (6 x 6) and velocity terms (6 x 1) of a body in a frame turned by R that turns with omega."""
    p, inertia = R @ body.com, R @ body.inertia @ R.T
    M, bias = SX(6, 6), SX(6, 1)
    M[:3, :3] = body.mass * SX.eye(3)
    M[:3, 3:] = -body.mass * skew(p)
    M[3:, :3] = body.mass * skew(p)
    M[3:, 3:] = inertia - body.mass * skew(p) @ skew(p)
    bias[:3] = body.mass * cross(omega, cross(omega, p))
    bias[3:] = cross(omega, M[3:, 3:] @ omega)
    return M, bias


def _carried(body: Body, frame: Section, omega: SX) -> tuple[SX, SX]:
    """The same for a body in a frame that the deforming link carries, on the coordinates of the link's twist."""
    M6, bias = _body(body, frame.pose.R, omega + frame.omega)
    J = carry(frame, 6 + frame.J_T.shape[1])
    return J.T @ M6 @ J, J.T @ (M6 @ casadi.vertcat(*carried_bias(frame, omega)) + bias)


def _axial(S: SX) -> SX:
    """sum_k a_k x b_k (3 x 1) from S = sum_k a_k b_k^T."""
    return casadi.vertcat(S[1, 2] - S[2, 1], S[2, 0] - S[0, 2], S[0, 1] - S[1, 0])
