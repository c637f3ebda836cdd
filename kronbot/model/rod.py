"""Order ``exact``: the inextensible rod R' = R skew(kappa), r' = R e1, integrated along the beam.

A step of the beam is the exponential of a twist (theta, rho), the Magnus expansion of the rigid motion along the step
to sixth order in its length (three Gauss points; Blanes, Casas and Ros 2000). It is exact for constant curvature, and
in a plane the rotation is exact always. Positions, rotations and their tangents by the modal coordinates are carried
along together, so that the Jacobians are those of the very pose that is reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import casadi
from casadi import SX, cross, skew

from kronbot.model.pose import CrossSection, Pose, stumpff

# s^j / (2 j + 4)! is under 1e-17 from j = 8 on for steps that turn by up to 1 rad; sixteen of them make two full turns.
STEP_TERMS = 8


Twist = tuple[SX, SX]
"""Angular and linear part, 3 x 1 each."""


@dataclass(frozen=True)
class Step:
    """A stretch of the rod: its ``length`` and ``strains`` (12 x 1, linear in the modal coordinates).

    The strains are the integral of kappa over the stretch and kappa at its three Gauss points.
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
    length, strains = SX.sym("length"), SX.sym("strains", 12)
    theta, rho = _twist(length, strains[:3], [strains[i : i + 3] for i in (3, 6, 9)])
    c1, c2, c3 = stumpff(casadi.dot(theta, theta), STEP_TERMS)
    S = skew(theta)
    V = SX.eye(3) + c2 * S + c3 * (S @ S)
    moved = V @ rho
    outputs = [SX.eye(3) + c1 * S + c2 * (S @ S), moved, V @ casadi.jacobian(theta, strains)]
    return casadi.Function("exponential", [length, strains], [*outputs, casadi.jacobian(moved, strains)])


def _twist(length: SX, turn: SX, kappa: Sequence[SX]) -> Twist:
    """The Magnus expansion (theta, rho) from the integral of kappa and kappa at the three Gauss points."""
    first, middle, last = kappa
    straight = SX([1, 0, 0])
    a1: Twist = (length * middle, length * straight)
    a2: Twist = (15**0.5 / 3 * length * (last - first), SX(3, 1))
    a3: Twist = (10 / 3 * length * (last - 2 * middle + first), SX(3, 1))
    c1 = _bracket(a1, a2)
    c2 = _sum((-1 / 60, _bracket(a1, _sum((2, a3), (1, c1)))))
    corrected = _bracket(_sum((-20, a1), (-1, a3), (1, c1)), _sum((1, a2), (1, c2)))
    return _sum((1, (turn, length * straight)), (1 / 240, corrected))


def _bracket(a: Twist, b: Twist) -> Twist:
    """Commutator of two twists, with the sign it has for R' = R skew(kappa), where increments stand on the right."""
    return cross(b[0], a[0]), cross(b[0], a[1]) - cross(a[0], b[1])


def _sum(*terms: tuple[float, Twist]) -> Twist:
    """Linear combination of twists."""
    return sum((c * t[0] for c, t in terms), SX(3, 1)), sum((c * t[1] for c, t in terms), SX(3, 1))
