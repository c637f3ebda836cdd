"""A plan that is wished for, in numbers of the problem: arms with their equations and ends, limits, sizes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

import casadi
import numpy as np
from casadi import SX

from kronbot.compute.arrays import Scalar
from kronbot.errors import Argument, ComputationError, UsageError
from kronbot.floats import Array, rounded
from kronbot.mechanics.control.planned import Plan
from kronbot.mechanics.control.repeated import Repeated
from kronbot.mechanics.control.residual import residual
from kronbot.mechanics.control.wanted import Arm, Wanted
from kronbot.mechanics.motion.drives import drives
from kronbot.mechanics.multibody.recursion import inverse_dynamics
from kronbot.mechanics.multibody.state import propagate
from kronbot.model.robot import Robot
from kronbot.questions import judgement
from kronbot.questions.bounded import seen, with_values
from kronbot.questions.judgement import Wish
from kronbot.questions.pressed import at_rest, pressed

Bounds = Mapping[str, tuple[float, float]]
# What the first guess of the time between two places has beside the way there, as a share of the whole way.
EVENLY = 0.1
# As a share of torques: less weight is none.
WEIGHTLESS = 1e-6
# Torques below this share of the largest are rounding. A share of what a joint needs that leaves it alone, and that
# splines of motions hold on the first mesh: they are to keep it at three stages of each interval by one jerk.
ROUNDING, SMALL = 1e-9, 1e-3
# Of the ways of joints alike, how far one may go that ends where it begins, without a word.
DETOUR = 0.1
# What forces of an equation are at least, as a share of those that do most work.
LEAST = 1e-6


def demand_standing(robot: Robot) -> None:
    """Raise UsageError for a floating base, with what to do instead."""
    if robot.base:
        hold = ", with the elements that end on it" if robot.elements else ""
        raise UsageError(
            "a floating base cannot be planned for: where it ends, and turns to, depends on the whole motion, so that "
            f"joints alone are no goal. Leave base out of the file{hold}, plan with the base held (",
            Argument("drive", "motion"),
            ", which motors follow wherever the base is), and simulate this motion with the base: it comes to rest "
            "with the joints, and so do, nearly, beams that joints carry, where the base is heavy beside them; what "
            "hangs on the base itself swings",
        )


def told_of_passive(
    robot: Robot, limited: Collection[str], summary: Mapping[str, Scalar], series: Mapping[str, Array]
) -> list[str]:
    """Joints that the file does not drive beside others that it does, in words; limits say that one is meant to.

    A limit is proposed that is small beside the peak torques of a ``summary``, unless the joint does not rest by itself
    where a ``series`` begins or ends.
    """
    told = list[str]()
    passive = [name for name in drives(robot).passive if name not in limited]
    if not passive:
        return told
    peaks = {joint.name: float(summary.get(f"peak_torque.{joint.name}", 0.0)) for joint in robot.joints}
    forces, still = _forces(robot), np.zeros(robot.n)
    ends = [np.array([series[name][row] for name in robot.coordinates]) for row in (0, -1)]
    held = np.max([np.abs(forces(q, still, still)) for q in ends], axis=0)
    for joint in robot.joints:
        if joint.name not in passive:
            continue
        what, least = f"{joint.name} has no drive in the file, where others have one: the plan drives it", 0.0
        if peaks[joint.name] > ROUNDING * max(peaks.values()):
            least = SMALL * peaks[joint.name]
        if held[joint.driven] > max(least, ROUNDING * max(peaks.values())):
            told.append(f"{what}, and holds it at rest where it would not stay by itself")
        else:
            small = f", {rounded(least, 1)} say," if least else ""
            told.append(f"{what}; within a small limit of effort{small} a plan from rest to rest leaves it alone")
    return told


def told_of_detours(robot: Robot, wish: Wish, series: Mapping[str, Array]) -> Iterator[str]:
    """Joints that end where they begin and are elsewhere between, with limits that keep them nearer.

    Those that nothing drives, or that have limits, or places to pass, are meant to.
    """
    ways = np.abs(wish.goal - wish.start)
    passed = np.isfinite(np.reshape([place for _, place in wish.through], (-1, len(ways)))).any(axis=0)
    for i, joint in enumerate(robot.joints):
        if ways[i] or passed[i] or joint.name in {*drives(robot).passive, *wish.limits}:
            continue
        away = float(np.abs(series[joint.name] - series[joint.name][0]).max())
        alike = [way for way, other in zip(ways, robot.joints, strict=True) if other.revolute == joint.revolute]
        if away > DETOUR * (max(alike) or 1.0):
            low, high = (rounded(wish.start[i] + sign * DETOUR * away, 3) for sign in (-1, 1))
            unit = "rad" if joint.revolute else "m"
            yield (
                f"{joint.name} ends where it begins, and is up to {away:.3g} {unit} away between: a limit keeps it "
                f"near, {joint.name}={low}:{high} say (limits)"
            )


def arm(robot: Robot, wish: Wish) -> Arm:
    """Its equations with its values, and both ends: equilibria."""
    start, goal = (at_rest(robot, judgement.placed(robot, values)) for values in (wish.start, wish.goal))
    forces, columns = _forces(robot), with_values(robot, seen(robot, [*wish.limits]))
    if wish.least != "residual" or wish.duration is None:
        return Arm(forces, columns, start, goal)
    left = residual(forces, goal, robot.others(frozenset(robot.rigid)), (goal - start) / wish.duration)
    return Arm(forces, columns, start, goal, left)


def demand_within(robots: Sequence[Robot], arms: Sequence[Arm], wish: Wish) -> None:
    """Raise ComputationError where an end itself is beyond a limit, which no motion can mend."""
    for robot, arm in zip(robots, arms, strict=True):
        still, efforts = np.zeros(robot.n), [*zip(wish.low.tolist(), wish.high.tolist(), strict=True)]
        for word, q in (("starts", arm.start), ("ends", arm.goal)):
            values = arm.seen(q, still, still) if wish.limits else still[:0]
            found = [*zip(wish.limits.items(), values.tolist(), strict=True)]
            held = arm.forces(q, still, still)[list(robot.rigid)]
            names = (f"torque.{joint.name}" for joint in robot.joints)
            found += [*zip(zip(names, efforts, strict=True), held.tolist(), strict=True)]
            for (name, (low, high)), value in found:
                if not low <= value <= high:
                    raise ComputationError(
                        f"no plan is found: the arm {word} with {name} = {value:.6g}, beyond its limits {low:g} and "
                        f"{high:g}: wider ones, or another place"
                    )


def bounds(robot: Robot, wish: Wish) -> Bounds:
    """Limits that may be passed between the stages: of columns, and of torques that are outcomes."""
    own = {f"torque.{joint.name}" for joint in robot.joints} if not wish.follows else ()
    return {name: pair for name, pair in limits(robot, wish).items() if name not in own}


def limits(robot: Robot, wish: Wish) -> Bounds:
    """All limits of columns that a wish has."""
    efforts = zip(robot.joints, wish.low.tolist(), wish.high.tolist(), strict=True)
    own = {f"torque.{joint.name}": (low, high) for joint, low, high in efforts}
    return {name: pair for name, pair in (dict(wish.limits) | own).items() if np.isfinite(pair).any()}


def passing(robot: Robot, wish: Wish, arm: Arm) -> tuple[Wanted, Wanted, Array]:
    """A wish without its limits, and with least excess beyond them, and their own sizes, of torques and of columns.

    Limits of torque may be tiny beside what passes them: excess is measured by SMALL of what the motion needs at least.
    """
    unlimited = replace(wish, low=wish.low - np.inf, high=wish.high + np.inf, least="change")
    free, kept = (replace(wanted(robot, each, arm), whenever=wish.whenever) for each in (unlimited, wish))
    excess = replace(kept, least="excess", scale=np.maximum(kept.scale, SMALL * free.scale))
    boundless = replace(free, low_seen=free.low_seen - np.inf, high_seen=free.high_seen + np.inf)
    return boundless, excess, np.append(kept.scale, kept.sizes)


def _gone(start: Array, places: Sequence[Array]) -> Array:
    """How far motors go from place to place (places, joints); NaN is any place, where they do not."""
    rows = [start]
    for place in places:
        rows.append(np.where(np.isfinite(place), place, rows[-1]))
    return np.abs(np.diff(rows, axis=0))


def falling(robot: Robot, arm: Arm, wanted: Wanted, intervals: int) -> list[Plan]:
    """One without torques that gives way to its weight, by a radian, on a smooth motion; none where nothing weighs."""
    s = np.linspace(0, 1, intervals + 1)
    q = arm.start + np.outer(s**3 * (10 - 15 * s + 6 * s**2), arm.goal - arm.start)
    still, turning = np.zeros(robot.n), [i for i in wanted.driven if robot.units[i] == "rad"]
    weight = arm.forces(q[intervals // 2], still, still)[turning]
    if not np.abs(weight).max(initial=0.0) > WEIGHTLESS * wanted.scale.max():
        return []
    q[:, turning] -= np.outer(np.sin(np.pi * s) ** 2, weight / np.abs(weight).max())
    qd, inputs = np.gradient(q, wanted.duration / intervals, axis=0), np.zeros((intervals, len(wanted.driven)))
    instants = [wanted.duration * share for share, _ in wanted.through]
    return [Plan(q, qd, inputs, inputs, [], wanted.duration, 0, 0.0, instants)]


def _forces(robot: Robot) -> Repeated:
    """[q, qd, qdd] -> forces that a motion needs."""
    q, qd, qdd = (SX.sym(word, robot.n) for word in ("q", "qd", "qdd"))
    needed = casadi.densify(inverse_dynamics(pressed(propagate(replace(robot, stops=()), q, qd)), qdd))
    numbers = robot.parameters
    numbers.require(numbers.free_in(needed), "plan")
    return with_values(robot, casadi.Function("forces", [q, qd, qdd, numbers.symbols(numbers.extent)], [needed]))


def wanted(robot: Robot, wish: Wish, arm: Arm) -> Wanted:
    """The wish in numbers of the problem: a first guess of its time, sizes of torques."""
    rest, places = np.zeros(robot.n), list(robot.rigid)
    gone = _gone(arm.start[places], [*(place for _, place in wish.through), arm.goal[places]])
    way = gone.sum(axis=0)
    if not way.any():
        raise UsageError(Argument("to"), " is where the arm stands already")
    unit = robot.undeformed_rates(np.eye(robot.n)[places])

    def needed(q: Array, qdd: Array) -> Array:
        return arm.forces(q, rest, qdd)

    weight = [needed(q, rest)[places] for q in (arm.start, arm.goal)]
    inertia = np.array([np.abs((needed(arm.start, e) - needed(arm.start, rest)) @ e) for e in unit])
    held = np.max(np.abs(weight), axis=0)
    limit = np.minimum(np.abs(wish.low), np.abs(wish.high))
    if wish.duration is None:
        moving = way > 0
        if not np.isfinite(limit[moving]).all():
            names = ", ".join(
                j.name for j, bare in zip(robot.joints, ~np.isfinite(limit) & moving, strict=True) if bare
            )
            raise UsageError("the shortest time wants limits of torque: ", Argument("effort_limits"), f" of {names}")
        duration = float(1.5 * np.max(2 * np.sqrt(way * inertia / np.maximum(limit, 1e-300))[moving]))
    else:
        duration = wish.duration
    ways = judgement.ways(arm, robot, wish)
    rises = 6 * ways[places] / np.square(duration)
    moved = [np.abs(needed(arm.start, each) - needed(arm.start, rest)) for each in rises[:, None] * unit]
    scale = np.where(np.isfinite(limit) & (limit > 0), limit, held + inertia * rises)
    works = [force * ways for force in moved]  # forces at other coordinates are of other units, their work is not
    weights = np.maximum(np.sum(moved, axis=0), LEAST * np.max(works) / ways)
    weights[places] = scale
    least, most = np.array([*wish.limits.values()], dtype=float).reshape(-1, 2).T
    sizes = np.array([judgement.size_of(*each) for each in wish.limits.values()])
    times = np.array([time for time, _ in wish.through]) / duration
    if wish.whenever:
        parts = gone.max(axis=1) + EVENLY * gone.max(axis=1).sum()
        times = np.cumsum(parts)[:-1] / parts.sum()
    return Wanted(
        tuple(places), wish.low, wish.high, scale, ways, weights, least, most, sizes, duration,
        wish.least, wish.follows, [*zip(times.tolist(), (place for _, place in wish.through), strict=True)],
    )  # fmt: skip


def too_fast(robot: Robot, follows: bool) -> str:
    """What is too fast for the intervals of a search, and what wants fewer of them, in words."""
    rubs = any(joint.friction is not None for joint in robot.joints)
    sharp = [*["vibrations"] * bool(robot.flexible), *["friction that turns over"] * rubs] or ["what the arm does"]
    cures = [*["fewer modes a link"] * bool(robot.flexible), *["more smoothing of friction"] * rubs, "damping"]
    cures += ["a shorter motion", *["motors that follow a motion (drive motion)"] * (not follows)]
    verb = "are" if robot.flexible else "is"
    return f"{' and '.join(sharp)} {verb} too fast beside the motion; {', '.join(cures)} want fewer intervals"
