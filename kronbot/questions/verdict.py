"""Verdicts about linear models, in words that name the model they hold for."""

from __future__ import annotations

from collections.abc import Sequence

from kronbot.compute.arrays import Scalar
from kronbot.mechanics.linear.deflation import SecondOrder
from kronbot.mechanics.linear.pole import Pole
from kronbot.mechanics.linear.stability import judge
from kronbot.model.robot import Robot


def verdict(
    robot: Robot, system: SecondOrder, found: Sequence[Pole], about: str, locked: frozenset[int]
) -> dict[str, Scalar]:
    """Whether deviations grow, for which model, and about what; poles at zero are free coordinates and left out."""
    growth = [pole.value.real for pole in found if not pole.free]
    still = len(found) - len(growth)
    without = f"; without {still} free coordinate{'s' if still > 1 else ''}" if still else ""
    said = f"{judge(system, found)} ({model_in_words(robot, locked)}; {about}{without})"
    return {"free_coordinates": still, "largest_growth_rate": max(growth, default=0.0), "verdict": said}


def told_of_rounding(found: Sequence[Pole], about: str = "") -> list[str]:
    """A word on poles of which rounding leaves nothing, ``about`` which model."""
    poles = [pole for pole in found if not pole.free]
    if not (lost := sum(abs(pole.value) <= pole.error for pole in poles)):
        return []
    which = f"any of the {len(poles)}" if lost == len(poles) else f"{lost} of the {len(poles)}"
    return [
        f"rounding leaves no digit of {which} pole{'s' * (len(poles) > 1)}{about}: M is all but singular, as with many "
        "shapes that are alike; fewer of them, or legendre (kronbot explain shapes)"
    ]


def model_in_words(robot: Robot, locked: frozenset[int]) -> str:
    """The model that a statement holds for: order, modes, free and locked joints."""
    base = "; the base floats" if robot.base else ""
    held = [joint.name for joint in robot.joints if joint.driven in locked]
    free = [joint.name for joint in robot.joints if joint.driven not in locked]
    joints = [f"{kind} {', '.join(names)}" for kind, names in (("free", free), ("locked", held)) if names]
    count = sum(link.modes for link in robot.links if link.beam is not None)
    return f"order {robot.order}, {count} mode{'s' * (count != 1)}, joints {' and '.join(joints) or 'none'}{base}"
