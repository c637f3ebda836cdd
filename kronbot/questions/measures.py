"""What a run is judged by: how soon it settles, how far it overshoots, what vibrates afterwards, what drives give."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence

import casadi
import numpy as np
from casadi import SX

from kronbot.compute.arrays import Scalar
from kronbot.compute.trace import Trace, traced
from kronbot.description.wording import listing
from kronbot.floats import Array, rounded
from kronbot.mechanics.motion.drives import Drives
from kronbot.mechanics.motion.equations import Equations
from kronbot.mechanics.motion.integration import Tolerances
from kronbot.mechanics.motion.sampling import BETWEEN, between, finer, missed
from kronbot.mechanics.motion.settling import MOST, Residual, overshoot, residual, settling_time, vibrations
from kronbot.mechanics.multibody.kinematics import endpoint
from kronbot.model.robot import Robot
from kronbot.questions.commanded import commanded
from kronbot.records import dataclass

PURPOSE = "simulate"
# Samples after the motion, the last one apart, that are no waste, and the most there may be; with all numbers of a
# state, too.
SAMPLES, SAMPLES_AT_MOST, NUMBERS = 1024, 1 << 16, 1 << 23
# What samples may miss, of the largest distance from rest, and of a band.
MISSED = 0.02, 0.1
# Fewer have no spectrum: four in a period of what swings twice.
FEW = 8
# A rest that is shorter than this share of a run is none.
REST = 1e-3
# Shares of a way (rad or m) under which a joint was where it should be all the time.
WAY = 1e-9
# The share of a band to which a place is known that times of settling are told of.
PLACED = 0.05
# Periods of a swing that tell its place, by its line.
ENOUGH = 3
# What is told of single joints.
WORDS = ("settling_time", "overshoot")


def all_held(robot: Robot, driven: Drives) -> bool:
    """Whether the drives hold all joints where they want them."""
    return _loose(robot, driven) is None


def times_of_rest(end: float | None, duration: float, samples: int) -> Array:
    """So many even times (s) from the end of the motion to that of the run; none where there is no rest."""
    if end is None or duration - end < REST * duration:
        return np.zeros(0)
    times: Array = np.linspace(end, duration, samples + 1)
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
    """q and the endpoint, and their rates, of a robot on a fixed base, by time, state, and loads on frames where
    ``which`` (the key of ``system``) tells of some."""

    def parts() -> tuple[dict[str, SX], dict[str, SX]]:
        inputs = {"t": system.t, "x": system.row} | ({"given": system.given} if system.given.numel() else {})
        q, qd = system.coordinates
        r, free = endpoint(system.state), len(system.free)
        rate = casadi.jtimes(r, system.x[:free, :], system.x[free : 2 * free, :]) + casadi.jacobian(r, system.t)
        return inputs, {"q": q, "qd": qd, "endpoint": r, "rate": rate}

    return traced(robot, ("places", which), PURPOSE, parts)


@dataclass(frozen=True)
class Behind:
    """What is told behind a motion, in numbers and in words, and how many times as many samples would tell of what is
    left out since these are too few: 1 where they are not."""

    summary: dict[str, Scalar]
    told: list[str]
    finer: float


NOTHING = Behind({}, [], 1.0)


class _Between:
    """What lies between samples at even times (s), as far as they show it to the ``tolerances`` of their run."""

    def __init__(self, times: Array, tolerances: Tolerances) -> None:
        self.step, self.tolerances = float(times[1] - times[0]), tolerances
        self.times = np.linspace(times[0], times[-1], (len(times) - 1) * BETWEEN + 1)
        self.finer, self.unseen = 1.0, list[str]()

    def away(self, values: Array, rates: Array, place: Array | float, band: float, names: list[str]) -> Array | None:
        """Values (N, k) at all times, from a place; None where the samples miss too much of them, for a band about it,
        to tell what has the ``names``, which are noted."""
        found = between(self.step, values - place, rates)
        largest = float(np.linalg.norm(found, axis=1).max())
        allowed = min(MISSED[0] * largest, MISSED[1] * band) + _error(self.tolerances, self.step, values, rates)
        if (gone := missed(self.step, values, rates)) <= allowed:
            return found
        if names:
            self.finer = max(self.finer, finer(gone, allowed, largest))
            self.unseen += names
        return None


def after_motion(
    robot: Robot,
    drives: Drives,
    times: Array,
    seen: Mapping[str, Array],
    band: float,
    pushed: float,
    tolerances: Tolerances,
    most: int,
) -> Behind:
    """Settling times, overshoots and residual vibrations, from :func:`places` at the start and at N even ``times``.

    ``band`` is the share of its way in which what moves has settled. What is left vibrates behind the time (s) up to
    which something ``pushed`` from outside, and is not told where that is the end. Nor is it where it swings too seldom
    to tell how far, and about which place, or creeps, which is said in words; and what vibrates too fast for these
    samples beyond the ``tolerances`` of the run is not told, with how long a run tells of it by ``most`` samples.
    """
    found: dict[str, Scalar] = {"motion_end": float(times[0])}
    told, samples = list[str](), _Between(times, tolerances)
    alone = times >= pushed
    let_go = bool(alone.sum() >= FEW)
    alone |= not let_go
    first, r, rate = seen["endpoint"][0], seen["endpoint"][1:], seen["rate"][1:]
    vibrating = vibrations(times[alone], r[alone])
    left = residual(r[alone], vibrating)
    way = float(np.linalg.norm(first - left.place))
    own = band * way if way > WAY else math.inf
    if left.error > PLACED * own:
        left = residual(r[alone], vibrating, PLACED * own)
    resting = way > WAY and left.error < PLACED * own
    names = [name for name, there in (("residual_amplitude", let_go), ("settling_time", resting)) if there]
    if (away := samples.away(r, rate, left.place, own, names)) is not None:
        off = np.linalg.norm(away, axis=1)
        settled = settling_time(samples.times, off, own, vibrating.swing(own)) if resting else None
        found |= {} if settled is None else {"settling_time": settled}
        if let_go and not left.known:
            told = _told_of_unknown(left, times[alone])
        elif let_go:
            found["residual_amplitude"] = float(off[samples.times >= times[alone][0]].max())
        for k, line in enumerate(left.lines if let_go and not left.slow else [], 1):
            found[f"residual_frequency.{k}"] = line.frequency
            found |= {f"residual_amplitude.{k}": line.size} if line.known else {}
    for name, wanted in commanded(robot, np.array([0.0, times[-1]])).items():
        place = next(drives.controllers.measured(joint) for joint in robot.joints if joint.name == name)
        q, qd, goal = seen["q"][1:, [place]], seen["qd"][1:, [place]], float(wanted[-1])
        way = goal - float(seen["q"][0, place])
        if place in drives.prescribed or abs(way) <= WAY:
            continue
        own, names = band * abs(way), [f"{word}.{name}" for word in WORDS]
        if (away := samples.away(q, qd, goal, own, names)) is not None:
            settled = settling_time(samples.times, np.abs(away[:, 0]), own, vibrations(times, q).swing(own))
            found |= {} if settled is None else {f"settling_time.{name}": settled}
            found[f"overshoot.{name}"] = overshoot(away[:, 0], way)
    if samples.unseen:
        told += _told_of_fast(samples.unseen, times, most, most * samples.step / samples.finer)
    return Behind(found, told, samples.finer)


def _error(tolerances: Tolerances, step: float, values: Array, rates: Array) -> float:
    """What they leave open of a step of values by their rates."""
    of_values, of_rates = (tolerances.of(float(np.abs(each).max())) for each in (values, rates))
    return of_values + step * of_rates


def _told_of_unknown(left: Residual, times: Array) -> list[str]:
    """That the place of rest is not known, but for an error smaller than the way: of what swings slowly, and how long a
    run may tell it, or, where nothing does or the run is as long, of what creeps."""
    slow, told, watched = left.slow, "residual_amplitude is left out: ", float(times[-1] - times[0])
    if slow and watched < ENOUGH * 2 * math.pi / slow:
        period = 2 * math.pi / slow
        # One that is written as the run's own duration is none: there is more beside that swings or creeps.
        enough = rounded(float(times[0]) + max(ENOUGH * period, watched + period))
        return [
            f"{told}behind the motion the endpoint swings once in about {rounded(period)} s, and {watched:.3g} s do "
            f"not tell how far; a duration of {enough} s may (explain measures)"
        ]
    return [
        f"{told}{watched:.3g} s behind the motion do not tell where the endpoint comes to rest"
        + (f", but for {left.error:.1g} m" if left.error < left.amplitude else "")
        + "; a longer duration may (explain measures)"
    ]


def _told_of_fast(names: Sequence[str], times: Array, most: int, longest: float) -> list[str]:
    """That samples are too few for what vibrates, and the longest rest (s) that the most of them do for."""
    verb = "are" if len(names) > 1 else "is"
    enough = rounded(float(times[0]) + longest)
    return [
        f"{listing(names)} {verb} left out: {most} samples do not show what vibrates for {times[-1] - times[0]:.3g} s "
        f"behind the motion; a duration of {enough} s is one that they do for (explain measures)"
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
