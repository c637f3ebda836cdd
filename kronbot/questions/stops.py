"""Stops and tendons in linear models: which are in contact, on the edge of it, and which would begin or end there."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kronbot.floats import Array
from kronbot.model.robot import Robot
from kronbot.questions.elements import depths_of_tendons


def told_of_stops(robot: Robot, q: Array, locked: frozenset[int]) -> list[str]:
    """Joints at q (n,), not ``locked``, that are in their stops, or exactly at one, in words."""
    told = []
    for limits in robot.limits:
        if not limits.stops or locked.issuperset(np.flatnonzero(limits.row)):
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


def told_of_contacts(robot: Robot, before: Array, q: Array) -> list[str]:
    """What begins or ceases to hold between rows before linear statics (N, n) and those it leads to, in words."""
    told = []
    for (began, ceased, depth), (_, _, further) in zip(_depths(robot, before), _depths(robot, q), strict=True):
        for happened, rows in ((began, (depth <= 0) & (further > 0)), (ceased, (depth > 0) & (further <= 0))):
            if count := int(rows.sum()):
                first = int(rows.argmax()) + 1
                where = f" in {count} of {len(rows)} cases, first in case {first}" if len(rows) > 1 else ""
                told.append(
                    f"{happened}{where}: linear statics does not see that, and has it as where nothing is deformed; "
                    "solver newton does"
                )
    return told


def _depths(robot: Robot, q: Array) -> Iterator[tuple[str, str, Array]]:
    """How deep stops and tendons are in contact (N,), after what it is called when that begins and when it ends."""
    for limits in robot.limits:
        if limits.stops:
            value = limits.values(q)
            for end, depth in ((limits.low, limits.low - value), (limits.high, value - limits.high)):
                place = f"its stop at {end:.6g} {limits.unit}"
                yield f"{limits.joint} comes to {place}", f"{limits.joint} leaves {place}", depth
    for name, depth in depths_of_tendons(robot, q).items():
        yield f"tendon {name} becomes taut", f"tendon {name} becomes slack", depth
