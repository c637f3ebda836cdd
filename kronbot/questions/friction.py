"""Dry friction near rest: what a linear model makes of it, and that it is worth a word."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

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
    for name, width, flags in _near_rest(robot, qd[None], locked):
        if flags.any():
            near.setdefault(width, []).append(name)
    return [f"{_are(names)} near rest, {_damping(width)}" for width, names in near.items()]


def told_of_friction_along(robot: Robot, qd: Array, locked: frozenset[int]) -> list[str]:
    """The same of rates (N, n) along a motion: at how many of its times."""
    near: dict[tuple[str, int], list[str]] = {}
    for name, width, flags in _near_rest(robot, qd, locked):
        near.setdefault((width, int(flags.sum())), []).append(name)
    return [
        f"{_are(names)} near rest at {count} of {len(qd)} times, {_damping(width)}"
        for (width, count), names in near.items()
        if count
    ]


def _are(names: list[str]) -> str:
    return f"{listing(names)} {'is' if len(names) == 1 else 'are'}"


def _damping(width: str) -> str:
    return f"where friction is linear up to some {width} only and a real joint sticks: here it is a damping"


def _near_rest(robot: Robot, qd: Array, locked: frozenset[int]) -> Iterator[tuple[str, str, npt.NDArray[np.bool_]]]:
    """Joints with dry friction, up to what rate its slope is that of rest, and in which rows (N, n) they are there."""
    for joint in (link.joint for link in robot.links):
        if joint is None or joint.friction is None or locked.issuperset(place for place, _ in joint.damped):
            continue
        rates = sum(robot.parameters.evaluate(share, PURPOSE) * qd[:, place] for place, share in joint.damped)
        smoothing = robot.parameters.evaluate(joint.friction.smoothing, PURPOSE)
        force = robot.parameters.evaluate(joint.friction.coulomb + joint.friction.static, PURPOSE)
        if force > 0:
            width = f"{smoothing:.3g} {'rad/s' if joint.revolute else 'm/s'}"
            yield joint.name, width, np.abs(rates) < NEAR_REST * smoothing
