"""Verdicts about linear models, in words that name the model they hold for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from kronbot.compute.arrays import Scalar
from kronbot.compute.trace import Trace
from kronbot.floats import Array
from kronbot.mechanics.linear.deflation import SecondOrder
from kronbot.mechanics.linear.frozen import further
from kronbot.mechanics.linear.pole import NOISE, Pole
from kronbot.mechanics.linear.stability import Judgement, judge
from kronbot.model.robot import Robot
from kronbot.questions.elements import falling

SINGULAR = (
    "M is all but singular, as with many shapes that are alike; fewer of them, or legendre (kronbot explain shapes)"
)
# h_L below this share of the largest force counts as zero: what Newton's method leaves.
BALANCED = 1e-9
# What is said where coefficients are those of an instant, of the verdict and of what it is about.
FROZEN = Judgement("undecided", "coefficients change with time (kronbot explain floquet)")
AN_INSTANT = "coefficients frozen at this instant"
AT_ZERO = "such a pole is 0 within its error (kronbot explain poles)"


def verdict(
    robot: Robot, system: SecondOrder, found: Sequence[Pole], about: str, locked: frozenset[int], frozen: bool
) -> dict[str, Scalar]:
    """Whether deviations grow, for which model, and about what; poles at zero are free coordinates and left out.

    Where M, D, K are ``frozen``, since they change with time, poles decide nothing.
    """
    growth = [pole.value.real for pole in found if not pole.free]
    still = len(found) - len(growth)
    without = f"; without {still} free coordinate{'s' if still > 1 else ''}" if still else ""
    about += f", {AN_INSTANT}" if frozen else ""
    word = FROZEN if frozen else judge(system, found)
    said = f"{word} ({model_in_words(robot, locked)}; {about}{without})"
    return {"free_coordinates": still, "largest_growth_rate": max(growth, default=0.0), "verdict": said}


def told_of_rounding(system: SecondOrder, found: Sequence[Pole], about: str = "") -> Iterator[str]:
    """Words on poles of which rounding leaves nothing, and which are no exact zeros or noise beside the largest one,
    ``about`` which model."""
    noise = NOISE * max((abs(pole.value) for pole in found), default=0.0)
    lost = [pole for pole in found if abs(pole.value) <= pole.error and (pole.value or pole.error > noise)]
    for poles, why in (
        ([pole for pole in lost if _fast(system, pole)], SINGULAR),
        (
            [pole for pole in lost if not _fast(system, pole)],
            "such a pole is 0 within its error (kronbot explain poles)",
        ),
    ):
        if poles:
            which = f"any of the {len(found)}" if len(poles) == len(found) else f"{len(poles)} of the {len(found)}"
            yield f"rounding leaves no digit of {which} pole{'s' * (len(found) > 1)}{about}: {why}"


def _fast(system: SecondOrder, pole: Pole) -> bool:
    """Whether what a pole within its error lacks is inertia, not stiffness: errors of M move it by more than others."""
    s, x, y = max(abs(pole.value), pole.error), np.abs(pole.right), np.abs(pole.left)
    return bool(s * s * (y @ system.dM @ x) > y @ (system.dK + s * system.dD) @ x)


def model_in_words(robot: Robot, locked: frozenset[int]) -> str:
    """The model that a statement holds for: order, modes, free and locked joints."""
    return robot.own(("in words", locked), lambda: _model_in_words(robot, locked))


def _model_in_words(robot: Robot, locked: frozenset[int]) -> str:
    base = "; the base floats" if robot.base else ""
    held = [joint.name for joint in robot.joints if joint.driven in locked]
    free = [joint.name for joint in robot.joints if joint.driven not in locked]
    joints = [f"{kind} {', '.join(names)}" for kind, names in (("free", free), ("locked", held)) if names]
    count = sum(link.modes for link in robot.links if link.beam is not None)
    return f"order {robot.order}, {count} mode{'s' * (count != 1)}, joints {' and '.join(joints) or 'none'}{base}"


def about_which(
    robot: Robot, trace: Trace, point: Sequence[Array], free: Sequence[int], balanced: bool, frozen: bool
) -> str:
    """What a linear model about a point (q, qd, qdd, torques and force) is about, so that a statement is not taken for
    more than it is: whether it is ``balanced`` there, and its coefficients are ``frozen``."""
    q, qd, qdd, *_ = point
    moves = qd.any() or qdd.any()
    stays = balanced and not frozen and (not moves or _stays_balanced(trace, point, free))
    if stays:
        return "about a steady motion" if moves else "about an equilibrium"
    rates = ((values, robot.undeformed_rates(values)) for values in (qd, qdd))
    straight = all((a == b).all() for a, b in ((q, robot.undeformed(q)), *rates))
    passing = "" if frozen else ", h_L is zero at this instant"
    what = "the rigid motion" if straight else "the given point"
    return f"about {what}{passing if balanced else f'{_held(robot, q, qdd)}, h_L is not zero'}"


def _held(robot: Robot, q: Array, qdd: Array) -> str:
    """That what would fall is held in the basic motion q, qdd (n,), in words: as by constant forces -h_L."""
    return ", in which the base does not fall" if falling(robot, q) and not qdd[list(robot.base[:3])].any() else ""


def _stays_balanced(trace: Trace, point: Sequence[Array], free: Sequence[int]) -> bool:
    """Whether nothing acts on the deviation where the motion goes on, either."""
    found = (trace.rows(*points) for _, points in further([part[None] for part in point]))
    return all(balances(rows["h"][0, free], rows["g"][0]) for rows in found)


def balances(h: Array, forces: Array) -> bool:
    """Whether h_L is zero beside the forces of a robot."""
    return bool(np.abs(h).max(initial=0.0) <= BALANCED * max(1.0, np.abs(forces).max(initial=0.0)))
