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

    ``sizes`` (2 x 1) are what these are sums of: |p_i| and |r_i x p_i| + |I_i omega_i| of all links, r_i their centres
    of mass. Rotors, which turn about their own axes only, have no part in them: their momentum is their joint's.
    """

    linear: SX
    angular: SX
    sizes: SX


def momentum(state: State) -> Momentum:
    """The momenta of all links: the first rows of M_i t_i (23), brought to the fixed frame."""
    linear, angular, sizes = SX(3, 1), SX(3, 1), SX(2, 1)
    for at in state.links:
        mass, moment = mass_moment(at.M)
        if mass.is_zero():
            continue
        share, R = at.M[:6, :] @ at.twist, at.pose.R
        p, about = R @ share[:3], R @ share[3:]
        centre = R @ (moment / mass)
        around = cross(at.pose.r + centre, p)
        spin = about - cross(centre, p)
        linear, angular = linear + p, angular + around + spin
        sizes += casadi.vertcat(casadi.norm_2(p), casadi.norm_2(around) + casadi.norm_2(spin))
    return Momentum(linear, angular, sizes)


def reduced(state: State, J: SX) -> SX:
    """J_m - J_b M_bb^-1 M_bm (k x m) of a Jacobian (k x n): Umetani and Yoshida's generalized Jacobian.

    What the other coordinates move (m) while a floating base (b) goes as they make it: M_bb qd_b + M_bm qd_m, its
    momenta, are zero.
    """
    base, others = list(state.robot.base), state.robot.others(state.robot.base)
    M = generalized_inertia_matrix(state)
    return J[:, others] - J[:, base] @ solve_positive(M[base, base], M[base, others])
