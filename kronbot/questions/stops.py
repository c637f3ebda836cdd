"""Stops and tendons in linear models: which are in contact, on the edge of it, and which would begin or end there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from kronbot.floats import Array
from kronbot.model.joint import Limits
from kronbot.model.robot import Robot
from kronbot.questions.elements import EDGE, depths_of_tendons, told_of_rest, varying_tendons


def told_of_stops(robot: Robot, q: Array, locked: frozenset[int]) -> list[str]:
    """Joints at q (n,), not ``locked``, that are in their stops, or exactly at one, in words."""
    told = []
    for limits, place, (depth,) in _stops(robot, q[None], locked):
        if abs(depth) <= EDGE:
            told.append(_told_of_edge(limits, place, depth))
        elif depth > 0:
            told.append(f"{limits.joint} is in {place}, {depth:.3g} {limits.unit} deep: it holds in this model")
    return told


def told_of_edges(robot: Robot, q: Array, free: Sequence[int]) -> list[str]:
    """Stops and tendons that rows q (N, n) are exactly at the beginning of, in words.

    Those that do not change with the ``free`` coordinates have no part in it.
    """
    told = []
    for limits, place, depth in _stops(robot, q, frozenset(range(robot.n)).difference(free)):
        told += _told_of_rows(depth, partial(_told_of_edge, limits, place))
    depths = depths_of_tendons(robot, q)
    if any((np.abs(depth) <= EDGE).any() for depth in depths.values()):
        for name in varying_tendons(robot, free):
            told += _told_of_rows(depths[name], partial(told_of_rest, name))
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
    for limits, place, depth in _stops(robot, q, frozenset()):
        yield f"{limits.joint} comes to {place}", f"{limits.joint} leaves {place}", depth
    for name, depth in depths_of_tendons(robot, q).items():
        yield f"tendon {name} becomes taut", f"tendon {name} becomes slack", depth


def _stops(robot: Robot, q: Array, locked: frozenset[int]) -> Iterator[tuple[Limits, str, Array]]:
    """Stops of what is not ``locked``: whose, where, in words, and how deep rows q (N, n) are in them (N,)."""
    for limits in robot.limits:
        if limits.stops and not locked.issuperset(np.flatnonzero(limits.row)):
            value = limits.values(q)
            for end, depth in ((limits.low, limits.low - value), (limits.high, value - limits.high)):
                yield limits, f"its stop at {end:.6g} {limits.unit}", depth


def _told_of_edge(limits: Limits, place: str, depth: float) -> str:
    side = "side where it holds" if depth > 0 else "other side"
    return f"{limits.joint} is exactly at {place}, which holds it on one side only: the model is that of the {side}"


def _told_of_rows(depth: Array, told: Callable[[float], str]) -> list[str]:
    """Of depths (N,) those at an edge, in the words of the first."""
    (rows,) = np.nonzero(np.abs(depth) <= EDGE)
    if not len(rows):
        return []
    where = f"in {len(rows)} of {len(depth)} cases, first in case {rows[0] + 1}: " if len(depth) > 1 else ""
    return [f"{where}{told(float(depth[rows[0]]))}"]
