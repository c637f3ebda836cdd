"""What a run is judged by: how soon it settles, how far it overshoots, what vibrates afterwards, what drives give."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence

import numpy as np
from casadi import SX

from kronbot.compute.arrays import Scalar
from kronbot.compute.trace import Trace, traced
from kronbot.description.wording import listing
from kronbot.floats import Array, rounded
from kronbot.mechanics.motion.drives import Drives
from kronbot.mechanics.motion.equations import Equations
from kronbot.mechanics.motion.settling import MOST, overshoot, residual, settling_time
from kronbot.mechanics.multibody.kinematics import endpoint
from kronbot.model.robot import Robot
from kronbot.questions.commanded import commanded

PURPOSE = "simulate"
# Samples after the motion, the last one apart: vibrations up to half as many periods are told apart.
SAMPLES = 1024
# Fewer have no spectrum: four in a period of what swings twice.
FEW = 8
# A rest that is shorter than this share of a run is none.
REST = 1e-3
# Shares of a way (rad or m) under which a joint was where it should be all the time.
WAY = 1e-9
# Periods of a swing that tell its place, by its line.
ENOUGH = 3
# What is told of single joints.
WORDS = ("settling_time", "overshoot")


def all_held(robot: Robot, driven: Drives) -> bool:
    """Whether the drives hold all joints where they want them."""
    return _loose(robot, driven) is None


def times_of_rest(end: float | None, duration: float) -> Array:
    """Even times (s) from the end of the motion to that of the run; none where there is no rest."""
    if end is None or duration - end < REST * duration:
        return np.zeros(0)
    times: Array = np.linspace(end, duration, SAMPLES + 1)
    return times


def efforts(robot: Robot, series: Mapping[str, Array], squares: Array) -> dict[str, Scalar]:
    """Largest torque or force of each joint in the columns, and the root mean square: by the integrals of the squares
    (joints,) up to the last time."""
    end, found = float(series["t"][-1]), dict[str, Scalar]()
    for joint, square in zip(robot.joints, squares.tolist(), strict=True):
        found[f"peak_torque.{joint.name}"] = float(np.abs(series[f"torque.{joint.name}"]).max())
        if end > 0:
            found[f"rms_torque.{joint.name}"] = math.sqrt(max(0.0, square) / end)
    return found


def places(robot: Robot, system: Equations, which: Hashable) -> Trace:
    """q and the endpoint by time, state, and loads on frames where ``which`` (the key of ``system``) tells of some."""

    def parts() -> tuple[dict[str, SX], dict[str, SX]]:
        inputs = {"t": system.t, "x": system.row} | ({"given": system.given} if system.given.numel() else {})
        return inputs, {"q": system.coordinates[0], "endpoint": endpoint(system.state)}

    return traced(robot, ("places", which), PURPOSE, parts)


def after_motion(
    robot: Robot, drives: Drives, times: Array, seen: Mapping[str, Array], band: float, pushed: float
) -> tuple[dict[str, Scalar], list[str]]:
    """Settling times, overshoots and residual vibrations, from :func:`places` at the start and at N even ``times``.

    ``band`` is the share of its way in which what moves has settled. What is left vibrates behind the time (s) up to
    which something ``pushed`` from outside, and is not told where that is the end. Nor is it where it swings too seldom
    to tell how far, and about which place, which is said in words.
    """
    found: dict[str, Scalar] = {"motion_end": float(times[0])}
    alone = times >= pushed
    let_go = alone.sum() >= FEW
    alone |= not let_go
    left = residual(times[alone], seen["endpoint"][1:][alone])
    away = np.linalg.norm(seen["endpoint"] - left.place, axis=1)
    own = band * away[0]
    known = away[0] > WAY and left.creeps < own / 2 and not left.slow
    settled = settling_time(times, away[1:], own, left.swing(own)) if known else None
    found |= {} if settled is None else {"settling_time": settled}
    told = _told_of_slow(left.slow, times[alone]) if let_go and left.slow else []
    let_go &= not left.slow
    found |= {"residual_amplitude": left.amplitude} if let_go else {}
    for k, (frequency, amplitude) in enumerate(left.lines if let_go else [], 1):
        found |= {f"residual_frequency.{k}": frequency, f"residual_amplitude.{k}": amplitude}
    for name, wanted in commanded(robot, np.array([0.0, times[-1]])).items():
        place = next(joint.driven for joint in robot.joints if joint.name == name)
        q, goal = seen["q"][:, place], float(wanted[-1])
        way = goal - float(q[0])
        if place in drives.prescribed or abs(way) <= WAY:
            continue
        off = np.abs(q[1:] - goal)
        settled = settling_time(times, off, band * abs(way), residual(times, q[1:, None]).swing(band * abs(way)))
        found |= {} if settled is None else {f"settling_time.{name}": settled}
        found[f"overshoot.{name}"] = overshoot(q, float(q[0]), goal)
    return found, told


def _told_of_slow(frequency: float, times: Array) -> list[str]:
    """That what swings so often (rad/s) is watched too shortly, and how long a run tells of it."""
    period, watched = 2 * math.pi / frequency, float(times[-1] - times[0])
    enough = rounded(float(times[0]) + ENOUGH * period)
    return [
        f"residual_amplitude is left out: behind the motion the endpoint swings once in about {rounded(period)} s, and "
        f"{watched:.3g} s do not tell how far; a duration of {enough} s does (explain measures)"
    ]


def names(robot: Robot, driven: Drives) -> Sequence[str]:
    """What these may tell."""
    told = [f"{word}_torque.{joint.name}" for joint in robot.joints for word in ("peak", "rms")]
    return [*told, *(_behind_motion(driven) if _lacking(robot, driven) is None else ())]


def absent(robot: Robot, driven: Drives) -> Mapping[str, str]:
    """What these do not tell of this robot, and why."""
    why = _lacking(robot, driven)
    return {} if why is None else dict.fromkeys(_behind_motion(driven), why)


def _behind_motion(driven: Drives) -> Iterator[str]:
    yield from ("motion_end", "settling_time", "residual_amplitude")
    yield from (f"residual_{word}.{k + 1}" for k in range(MOST) for word in ("frequency", "amplitude"))
    yield from (f"{word}.{name}" for name in driven.commanded if driven.holds(name) for word in WORDS)


def _lacking(robot: Robot, driven: Drives) -> str | None:
    """Why nothing is told behind a motion; None where it is."""
    idle = None if driven.commanded else "nothing is wanted of its joints"
    why = _loose(robot, driven) or idle
    return why and f"{why} (explain measures)"


def _loose(robot: Robot, driven: Drives) -> str | None:
    """What the drives do not hold where they want it, in words; None where that is nothing."""
    if robot.base:
        return "its base floats, and no place is wanted of it"
    loose = [joint.name for joint in robot.joints if not driven.holds(joint.name)]
    return f"its drives do not hold {listing(loose)}" if loose else None
