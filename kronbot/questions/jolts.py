"""Motions that are not what they seem: they begin with a rate at once, gains hold the joint where it is, or the spline
of a table swings far beyond its rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import casadi
import numpy as np
from casadi import SX, vertcat

from kronbot.compute.trace import Trace, traced
from kronbot.description.wording import listing, quote
from kronbot.errors import UsageError
from kronbot.mechanics.motion.drives import Drives
from kronbot.model.motions import Motion
from kronbot.model.robot import Robot

PURPOSE = "simulate"
# The rates of a motion in so many rows tell what is a rate at its beginning, and what is rounding.
ROWS, SHARE = 17, 1e-9
# Where in every interval between rows splines are looked at, and how far they swing beyond them at most, as a share of
# what all rows are apart: those of rows that stand evenly, by half of it at a jump.
BETWEEN, SWINGS = np.array([[0.2], [0.5], [0.8]]), 2.0
# Of the largest place and rate of a motion, how far off a way is that is another one: splines are nearer.
ASTRAY = 1e-2
# What is as near as this to a posture (rad or m), with rates as small (per s), stands there.
NEAR = 1e-6


def told_of_jolts(robot: Robot, driven: Drives, duration: float) -> list[str]:
    """The motions that begin so within a run (s), in words.

    Raises UsageError for a joint that is to follow one exactly. A PD controller has nothing against it.
    """
    places = {joint.name: joint.driven for joint in robot.joints}
    begun = {
        name: motion
        for name, motion in driven.commanded.items()
        if motion.start is not None and (driven.along_motion or places[name] in driven.prescribed)
    }

    def rates() -> tuple[dict[str, SX], dict[str, SX]]:
        t = SX.sym("t")  # among the outputs, since nothing at all has no trace
        return {"t": t}, {"t": t} | {name: motion.derivatives(t)[1] for name, motion in begun.items()}

    trace, told = traced(robot, "jolts", PURPOSE, rates), []
    for name, motion in begun.items():
        start, end = motion.begins(robot.parameters, PURPOSE), motion.span(robot.parameters, PURPOSE)
        if not 0 < start < duration:
            continue
        found = trace.rows(np.linspace(start, end, ROWS))[name][:, 0]
        if abs(found[0]) > SHARE * np.abs(found).max():
            unit = robot.units[places[name]]
            jump = f"the motion of {name} begins at t = {start:g} s with a rate of {found[0]:.3g} {unit}/s at once"
            if places[name] in driven.prescribed:
                cure = "let it begin at rest (a sinusoid: phase pi/2 or -pi/2), or at t = 0"
                raise UsageError(f"{jump}, which no joint can follow exactly: {cure}")
            told.append(f"{jump}: torques do not give the joint that rate, and it stays behind the motion")
    return told


def told_of_swings(robot: Robot, motions: Mapping[str, Motion]) -> list[str]:
    """The tables of these motions of joints whose splines swing far beyond their rows between them, in words."""
    of_tables = {name: motion for name, motion in motions.items() if motion.times}
    if not of_tables:
        return []
    t = SX.sym("t")
    values = {name: replace(motion, start=None).value(t) for name, motion in of_tables.items()}
    # Not kept by name: a joint may have one table as its motion and follow another one.
    trace, told = Trace(robot.parameters, {"t": t}, values, PURPOSE), []
    units = {joint.name: robot.units[joint.driven] for joint in robot.joints}
    for name, motion in of_tables.items():
        rows = np.array(motion.times)
        at_rows, between = (trace.rows(t.ravel())[name] for t in (rows, rows[:-1] + BETWEEN * np.diff(rows)))
        low, high = at_rows.min(), at_rows.max()
        beyond = np.maximum(between - high, low - between).reshape(len(BETWEEN), -1).max(axis=0)
        if beyond.max() > max(SWINGS * (high - low), SHARE * max(abs(low), abs(high))):
            k, file = int(beyond.argmax()), quote(motion.file) if motion.file else "the gains"
            told.append(
                f"between the rows of {file} at {rows[k]:.7g} s and {rows[k + 1]:.7g} s the spline of {name} "
                f"swings {beyond[k]:.3g} {units[name]} beyond all of its rows: rows much nearer to each other "
                "than others do that; leave some out"
            )
    return told


def told_of_gains(robot: Robot, driven: Drives, duration: float) -> list[str]:
    """Motions of the file that nobody follows, since a state feedback holds one posture, or goes another way, in words;
    of those that leave it within a run (s)."""
    said, feedback = robot.file.control.state_feedback, driven.controllers.feedback
    if said is None or feedback is None or not feedback.left_alone:
        return []
    held = not feedback.gains.over

    def apart() -> tuple[dict[str, SX], dict[str, SX]]:
        t = SX.sym("t")
        pairs = {name: (robot.motions[name], feedback.commanded(name)) for name in feedback.left_alone}
        # Rates, too: what swings may be at its middle in every row.
        ways = {name: [vertcat(*each.derivatives(t)[:2]) for each in pair] for name, pair in pairs.items()}
        return {"t": t}, {"t": t} | {name: casadi.horzcat(there, there - at) for name, (there, at) in ways.items()}

    # At its very first row a curve that is held has half its rate.
    times = np.linspace(SHARE * duration, duration, ROWS)
    found = traced(robot, "left alone", PURPOSE, apart).rows(times)
    names, first = list[str](), np.inf
    for name in feedback.left_alone:
        there, off = np.abs(found[name].reshape(-1, 2, 2)).transpose(2, 0, 1)
        place, rate = there.max(axis=0)
        largest = np.array([place, max(rate, place / duration)])
        apart_at = (off > np.maximum(NEAR, 0.0 if held else ASTRAY * largest)).any(axis=1)
        if apart_at.any():
            names.append(name)
            first = min(first, float(times[apart_at.argmax()]))
    if not names:
        return []
    own, whose = ("the motion", "is") if len(names) == 1 else ("the motions", "are")
    when, why = "", "hold the posture that they are about; gains along a motion are designed along it"
    if not held:
        when = f", from t = {first:.2g} s or earlier on"
        why = f"go another way: design them along the whole of {own}, or say periodic: true of rows that are a period"
    return [f"{own} of {listing(names)} {whose} not followed{when}: the gains of {quote(said.K)} {why}"]
