"""Linear and angular momentum of a moving robot, and what its joints move while these stay zero."""

from __future__ import annotations

from typing import NamedTuple

import casadi
from casadi import SX, cross

from kronbot.mechanics.multibody.inertia import mass_moment
from kronbot.mechanics.multibody.recursion import solve_positive
from kronbot.mechanics.multibody.state import State, generalized_inertia_matrix


class Momentum(NamedTuple):
    """``linear`` (3 x 1, N s) and ``angular`` (3 x 1, N m s) about the origin of the fixed frame, in its axes.

    They are bounded by the ``kinetic`` energy T (1 x 1, J) of the links and their ``masses`` (2 x 1), by Cauchy and
    Schwarz: |p| <= sqrt(2 T m), m = sum m_i (kg), and |L| <= sqrt(2 T J), J = sum (m_i r_i . (r_i + 2 c_i) + tr I_i)
    (kg m^2), with roots r_i of links, their centres of mass c_i and tensors I_i from there. Rotors, which turn about
    their own axes only, have no part in them: their momentum is their joint's.
    """

    linear: SX
    angular: SX
    kinetic: SX
    masses: SX


def momentum(state: State) -> Momentum:
    """The momenta of all links: the first rows of M_i t_i (23), brought to the fixed frame."""
    linear, angular, masses, twice_kinetic = SX(3, 1), SX(3, 1), SX(2, 1), SX(0)
    for at in state.links:
        mass, moment = mass_moment(at.M)
        share, R, r = at.M[:6, :] @ at.twist, at.pose.R, at.pose.r
        p = R @ share[:3]
        linear, angular = linear + p, angular + cross(r, p) + R @ share[3:]
        twice_kinetic += at.twist.T @ at.M @ at.twist
        own = 2 * casadi.dot(r, R @ moment) + casadi.trace(at.M[3:6, 3:6])
        masses += casadi.vertcat(mass, mass * casadi.sumsqr(r) + own)
    return Momentum(linear, angular, twice_kinetic / 2, masses)


def reduced(state: State, J: SX) -> SX:
    """J_m - J_b M_bb^-1 M_bm (k x m) of a Jacobian (k x n): Umetani and Yoshida's generalized Jacobian.

    What the other coordinates move (m) while a floating base (b) goes as they make it: M_bb qd_b + M_bm qd_m, its
    momenta, are zero.
    """
    base, others = list(state.robot.base), state.robot.others(state.robot.base)
    M = generalized_inertia_matrix(state)
    return J[:, others] - J[:, base] @ solve_positive(M[base, base], M[base, others])
