"""Dry friction near rest: what a linear model makes of it, and that it is worth a word."""

from __future__ import annotations

from kronbot.description.wording import listing
from kronbot.floats import Array
from kronbot.model.robot import Robot

PURPOSE = "the slope of friction"
# Rates over the smoothing of dry friction up to which its slope is that of the smoothing (tanh 3 = 0.995).
NEAR_REST = 3.0


def told_of_friction(robot: Robot, qd: Array, locked: frozenset[int]) -> list[str]:
    """Joints with dry friction, not ``locked``, that are near rest at rates qd (n,), where no linear model holds for
    long, in words.

    Those that are alike in it are told of together.
    """
    near: dict[str, list[str]] = {}
    for joint in (link.joint for link in robot.links):
        if joint is None or joint.friction is None or locked.issuperset(place for place, _ in joint.damped):
            continue
        rate = sum(robot.parameters.evaluate(share, PURPOSE) * qd[place] for place, share in joint.damped)
        smoothing = robot.parameters.evaluate(joint.friction.smoothing, PURPOSE)
        force = robot.parameters.evaluate(joint.friction.coulomb + joint.friction.static, PURPOSE)
        if force > 0 and abs(rate) < NEAR_REST * smoothing:
            near.setdefault(f"{smoothing:.3g} {'rad/s' if joint.revolute else 'm/s'}", []).append(joint.name)
    return [
        f"{listing(names)} {'is' if len(names) == 1 else 'are'} near rest, where friction is linear up to some {width} "
        "only and a real joint sticks: here it is a damping"
        for width, names in near.items()
    ]
