"""Torques nearest to those of a motion that motors could follow: plans of arms that swing, where least effort is lost.

Torques that save effort let links swing freely, in ways that are many and far from each other; those near a smooth
motion are one way, and near it the equations are nearly linear.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from kronbot.errors import ComputationError, Interrupted
from kronbot.floats import Array
from kronbot.mechanics.control.collocation import Arm, Plan, Wanted, plan


def nearest(
    arms: Sequence[Arm], wanted: Wanted, intervals: int, before: Plan | None, watch: Callable[[], None]
) -> Plan:
    """The torques, constant on intervals, nearest to those of the motion that changes least.

    Raises like :func:`plan`; what the motion alone was stopped at is no plan.
    """
    none = np.full(len(wanted.driven), np.inf)
    smooth = replace(wanted, follows=True, least="change", low=-none, high=none)
    try:
        motion = plan(arms, smooth, intervals, None if before is None else before.motion, watch)
    except (Interrupted, ComputationError) as error:
        error.partial = None
        raise
    near = _torques(arms[0], wanted, motion)
    found = plan(arms, replace(wanted, near=near), intervals, replace(motion, inputs=near), watch)
    return replace(found, motion=motion, iterations=found.iterations + motion.iterations)


def _torques(arm: Arm, wanted: Wanted, motion: Plan) -> Array:
    """Those of a motion in the middle of its intervals (N, k)."""
    q, qd = ((each[1:] + each[:-1]) / 2 for each in (motion.q, motion.qd))
    qdd = np.diff(motion.qd, axis=0) * motion.intervals / motion.duration
    return np.array([arm.forces(*each)[list(wanted.driven)] for each in zip(q, qd, qdd, strict=True)])
