"""Where the drives want the joints to be, and when they want them to rest."""

from __future__ import annotations

import casadi
import numpy as np
from casadi import SX

from kronbot.compute.trace import traced
from kronbot.floats import Array
from kronbot.mechanics.motion.drives import Drives, drives
from kronbot.model.robot import Robot

PURPOSE = "simulate"
# Rates below this share of the largest one are rounding, and so are those that lead by less than it of where a joint
# is in the whole time: of one that stands all else is.
STILL = 1e-9
# Of splines through rows, which swing a little behind where these end to change.
STILL_BETWEEN = 1e-6


def commanded(robot: Robot, times: Array) -> dict[str, Array]:
    """Where the drives want the joints to be at the times (N,), by joint: motions they look at, and targets."""
    motions = drives(robot).commanded

    def wanted() -> tuple[dict[str, SX], dict[str, SX]]:
        t = SX.sym("t")  # among the outputs, since nothing at all has no trace
        return {"t": t}, {"wanted": casadi.vertcat(t, *(motion.value(t) for motion in motions.values()))}

    columns = traced(robot, "commanded", PURPOSE, wanted).rows(times)["wanted"].T
    return dict(zip(motions, columns[1:], strict=True))


def motion_end(robot: Robot, driven: Drives, watched: Array) -> float | None:
    """The first of the times that a run is watched at (s) from which on drives want joints to stay where they are.

    Torques that change count as what they want. None where nothing is wanted, or to its end something else.
    """
    motions = driven.commanded
    torques = [each for each in driven.given.values() if each.changes]
    if not motions and not torques:
        return None

    def rates() -> tuple[dict[str, SX], dict[str, SX]]:
        t = SX.sym("t")
        ways = [motion.derivatives(t) for motion in motions.values()]
        moved = {word: casadi.vertcat(0 * t, *(way[i] for way in ways)) for i, word in enumerate(("places", "rates"))}
        return {"t": t}, moved

    trace = traced(robot, "commanded rates", PURPOSE, rates)
    columns = trace.rows(watched)
    places, found = np.abs(columns["places"]), np.abs(columns["rates"])
    still = np.maximum(found.max(axis=0), places.max(axis=0) / float(np.ptp(watched) or np.inf))
    shares = [0.0, *(STILL_BETWEEN if motion.times else STILL for motion in motions.values())]
    given = max((torque.end(robot.parameters, PURPOSE) for torque in torques), default=-np.inf)
    last = np.flatnonzero((found > shares * still).any(axis=1) | (watched < given))
    if not len(last):
        return float(watched[0])
    if last[-1] + 1 == len(watched):
        return None
    before, end = watched[last[-1]], float(watched[last[-1] + 1])
    # The rows of a table whose corners are none are watched by chance alone.
    own = [motion.span(robot.parameters, PURPOSE) for motion in motions.values()]
    if own := [each for each in own if before < each <= end]:
        return max(own)
    tables = [motion for motion in motions.values() if motion.times and motion.period is None]
    rows = {row for motion in tables for row in motion.meetings(robot.parameters, end, PURPOSE) if before < row < end}
    between = np.array([before, *sorted(rows), end])
    found = np.abs(trace.rows(between)["rates"])
    last = np.flatnonzero((found > shares * still).any(axis=1) | (between < given))
    return float(between[last[-1] + 1])
