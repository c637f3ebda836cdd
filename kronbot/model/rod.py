"""Order ``exact``: the inextensible rod R' = R skew(kappa), r' = R e1, integrated along the beam.

A step of the beam is the exponential of a twist (theta, rho), the Magnus expansion of the rigid motion along the step
(Blanes, Casas and Ros 2000) on the Legendre coefficients of its curvature. To second order in the curvature it is exact
up to their degree, to first order always, so that frequencies of a straight beam are those of orders 1 and 2; the rest
is right to sixth order in the length. It is exact for constant curvature, and in a plane the rotation is exact always.
Positions, rotations and their tangents by the modal coordinates are carried
along together, so that the Jacobians are those of the very pose that is reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

import casadi
from casadi import SX, cross, skew

from kronbot.model.pose import CrossSection, Pose, stumpff
from kronbot.records import dataclass

# s^j / (2 j + 4)! is under 1e-17 from j = 8 on for steps that turn by up to 1 rad; sixteen of them make two full turns.
STEP_TERMS = 8
# Legendre polynomials that say the curvature of a step: with these a cantilever's 14th mode bends right to 1e-10.
DEGREE = 4
# c_ij = int (1 - u) I_i P_j du - (int I_i P_j du - int I_j P_i du)/4, u from 0 to 1, I_i = int_0^u P_i, where i, j > 0
# and not both are 1: c_ii = 1/(4 (2 i - 1) (2 i + 1) (2 i + 3)), c_i,i+2 = -(i + 2)/d, c_i+2,i = (i + 1)/d with
# d = 4 (2 i + 1) (2 i + 3) (2 i + 5); the others vanish.
SECOND_ORDER = {
    (2, 2): 1 / 420,
    (3, 3): 1 / 1260,
    (4, 4): 1 / 2772,
    (1, 3): -1 / 140,
    (3, 1): 1 / 210,
    (2, 4): -1 / 315,
    (4, 2): 1 / 420,
}


Twist = tuple[SX, SX]
"""Angular and linear part, 3 x 1 each."""


@dataclass(frozen=True)
class Step:
    """A stretch of the rod: its ``length`` and ``strains`` (15 x 1, linear in the modal coordinates).

    The strains are the Legendre coefficients k_0 ... k_4 (3 x 1 each) of kappa on the stretch.
    """

    length: SX
    strains: SX


def march(start: CrossSection, steps: Iterable[Step], q_f: SX) -> list[CrossSection]:
    """The cross-sections at the ends of the steps, one after the other from ``start``."""
    sections, at = [], start
    for each in steps:
        at = _advance(at, each, q_f)
        sections.append(at)
    return sections


def _advance(at: CrossSection, each: Step, q_f: SX) -> CrossSection:
    turned, moved, turn_slope, move_slope = map(casadi.sparsify, _exponential()(each.length, each.strains))
    by_mode = casadi.jacobian(each.strains, q_f)
    R = at.pose.R
    shift = R @ moved
    J_T = at.J_T - skew(shift) @ at.J_R + R @ (move_slope @ by_mode)
    J_R = at.J_R + R @ (turn_slope @ by_mode)
    return CrossSection(Pose(at.pose.r + shift, R @ turned), J_T, J_R)


@lru_cache(maxsize=1)
def _exponential() -> casadi.Function:
    """(length, strains) -> R and r of the step, and by the strains the angular velocity in axes of its start and r."""
    length, strains = SX.sym("length"), SX.sym("strains", 3 * (DEGREE + 1))
    theta, rho = _twist(length, casadi.vertsplit(strains, 3))
    c1, c2, c3 = stumpff(casadi.dot(theta, theta), STEP_TERMS)
    S = skew(theta)
    V = SX.eye(3) + c2 * S + c3 * (S @ S)
    moved = V @ rho
    outputs = [SX.eye(3) + c1 * S + c2 * (S @ S), moved, V @ casadi.jacobian(theta, strains)]
    return casadi.Function("exponential", [length, strains], [*outputs, casadi.jacobian(moved, strains)])


def _twist(length: SX, strains: Sequence[SX]) -> Twist:
    """The Magnus expansion (theta, rho) of a step on Legendre coefficients k_i of its curvature.

    With A = (k_0, e1) and B_i = (k_i, 0), all times the length, it is A + [A, B_1]/6 + [A, [A, B_2]]/60
    - [B_1, [A, B_1]]/60 - [A, [A, [A, B_1]]]/360 to sixth order, and what other k_i add to second order in them: to
    theta k_i x k_i+1/(2 (2 i + 1) (2 i + 3)), to rho c_ij k_i x (k_j x e1).
    """
    k, e1 = [length * each for each in strains], length * SX([1, 0, 0])
    a, b, c = (k[0], e1), (k[1], SX(3, 1)), (k[2], SX(3, 1))
    tilted = _bracket(a, b)
    outer = _bracket(a, _bracket(a, _sum((1, c), (-1 / 6, tilted))))
    theta, rho = _sum((1, a), (1 / 6, tilted), (1 / 60, outer), (-1 / 60, _bracket(b, tilted)))
    theta += sum((cross(k[i], k[i + 1]) / (2 * (2 * i + 1) * (2 * i + 3)) for i in range(1, DEGREE)), SX(3, 1))
    rho += sum((each * cross(k[i], cross(k[j], e1)) for (i, j), each in SECOND_ORDER.items()), SX(3, 1))
    return theta, rho


def _bracket(a: Twist, b: Twist) -> Twist:
    """Commutator of two twists."""
    return cross(a[0], b[0]), cross(a[0], b[1]) - cross(b[0], a[1])


def _sum(*terms: tuple[float, Twist]) -> Twist:
    """Linear combination of twists."""
    return sum((c * t[0] for c, t in terms), SX(3, 1)), sum((c * t[1] for c, t in terms), SX(3, 1))
