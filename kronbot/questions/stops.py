"""Stops of joints in linear models: which are in contact, and which are on the edge of it."""

from __future__ import annotations

from kronbot.floats import Array
from kronbot.model.robot import Robot


def told_of_stops(robot: Robot, q: Array) -> list[str]:
    """Joints at q (n,) that are in their stops, or exactly at one, in words."""
    told = []
    for limits in robot.limits:
        if not limits.stops:
            continue
        value = float(limits.values(q[None])[0])
        for end, beyond in ((limits.low, limits.low - value), (limits.high, value - limits.high)):
            place = f"its stop at {end:.6g} {limits.unit}"
            if beyond > 0:
                told.append(f"{limits.joint} is in {place}, {beyond:.3g} {limits.unit} deep: it holds in this model")
            elif beyond == 0:
                told.append(
                    f"{limits.joint} is exactly at {place}, which holds it on one side only: the model is that of the "
                    "other side"
                )
    return told
