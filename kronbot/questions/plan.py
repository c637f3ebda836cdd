"""The question ``plan``: motions from rest to rest that the flexible arm can do, judged by a finer model of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

import numpy as np

from kronbot.compute.arrays import NamedArray, Scalar
from kronbot.description.degrees import doubt_of
from kronbot.description.wording import listing
from kronbot.errors import Argument, ComputationError, Interrupted
from kronbot.floats import Array, percent
from kronbot.mechanics.control.planned import Plan
from kronbot.mechanics.control.wanted import Arm
from kronbot.mechanics.multibody.recursion import demand_inertia
from kronbot.model.robot import Robot
from kronbot.questions import judgement, posed
from kronbot.questions.bounded import demand_known
from kronbot.questions.columns import columns_of_simulate, units_of
from kronbot.questions.judgement import Wish
from kronbot.questions.keeping import SO_FAR, Deadline, in_time, kept
from kronbot.questions.limits import nothing, passings_of, told_of_run
from kronbot.questions.noise import summary_without_rounding, without_rounding
from kronbot.questions.outline import Given, Outline, numbered
from kronbot.questions.pressed import told_of_forces
from kronbot.questions.result import Outcome, Result
from kronbot.questions.searching import Candidate, Search
from kronbot.system.platform import host

PURPOSE = "plan"
# By this share torques at rest are larger than those of the motion.
HELD = 1e-3
# A share of limits from which on they are used up.
ALL = 0.95
# Bytes for IPOPT's own BLAS, which waits for ever where it does not get them.
SEARCH = 200 << 20


def plan(
    robots: Sequence[Robot],
    between: Sequence[Robot],
    wish: Wish,
    deadline: Deadline,
    progress: Callable[[float], None],
) -> Outcome:
    """The motion that several arms share, in numbers of the first, with the torques that make it.

    How it does for others ``between`` them is told.

    One that somebody interrupts, or the ``deadline``, or whose search ends without one that arrives, is the best so
    far, with its error. Raises ComputationError where there is none, Interrupted where it was not begun in time.
    """
    posed.demand_standing(robots[0])
    demand_known(robots[0], [*wish.limits])
    return kept(lambda met: _plan(robots, between, wish, Search(met, deadline, progress)))


def _plan(robots: Sequence[Robot], between: Sequence[Robot], wish: Wish, found: Search) -> Outcome:
    robot, met = robots[0], found.met
    if host.memory_left() < SEARCH:
        raise MemoryError(f"a search wants {SEARCH >> 20} MB more")
    try:
        with met.heard():
            found.watch()
            demand_inertia(robot)
            told_of_forces(robot)
            found.watch()
            found.search(robots, wish)
            found.look(between, wish)
            answer = _answer(robot, wish, found, True)
    except KeyboardInterrupt:
        if found.best is None:
            raise
        met.take_time()
        return Outcome(_answer(robot, wish, found, False), Interrupted(f"{found.stopped}{SO_FAR}"))
    except (ComputationError, Interrupted) as error:
        if found.best is None:
            refused = in_time(error, met)
            raise type(refused)(
                *refused.args,
                *(f"; {each}" for each in (*_told_of_ends(robot, wish, False), *_told_of_degrees(robot, wish))),
            ) from None
        better = ("; more ", Argument("seconds"), " may find a better one") if found.deadline.met else ()
        return Outcome(_answer(robot, wish, found, False), type(error)(*error.args, SO_FAR, *better))
    found.progress(1.0)
    return Outcome(answer, None)


def _answer(robot: Robot, wish: Wish, found: Search, complete: bool) -> Result:
    assert found.best is not None and found.arm is not None
    best, run, own = found.best.plan, found.best.run, found.best.wish
    series = _rows(robot, best, own) if run is None else run.series
    names = ["t", *robot.coordinates, *(f"{name}_dot" for name in robot.coordinates)]
    names += [name for name in (*(f"torque.{joint.name}" for joint in robot.joints), *wish.limits) if name in series]
    series = without_rounding({name: series[name] for name in dict.fromkeys(names)}, places=robot.coordinates)
    summary: dict[str, Scalar] = {
        "complete": complete,
        "duration": best.duration,
        "least": own.least,
        "intervals": best.intervals,
        "iterations": best.iterations,
    }
    summary |= {} if run is None else {"end_error": found.best.missed}
    summary |= {"between_error": max(found.between)} if found.between else {}
    if left := found.best.left:
        summary |= {"residual_energy": float(np.mean(left)), "largest_residual_energy": float(max(left))}
    for i, joint in enumerate(robot.joints):
        tau = series.get(f"torque.{joint.name}") if own.follows else best.inputs[:, i]
        if tau is not None:
            summary[f"peak_torque.{joint.name}"] = float(np.abs(tau).max())
            summary[f"rms_torque.{joint.name}"] = float(np.sqrt((tau**2).mean()))
    limited = [j.name for j, *ends in zip(robot.joints, wish.low, wish.high, strict=True) if np.isfinite(ends).any()]
    told = [
        *told_of_forces(robot),
        *_told_of_degrees(robot, wish),
        *posed.told_of_passive(robot, limited, summary, series),
        *posed.told_of_detours(robot, wish, series),
    ]
    told += [] if run is None else run.warnings
    if own.follows and not wish.follows:
        told.append("torques in steps are not found yet: this is a smooth motion, of which they are made")
    elif found.lost and own.least != wish.least:
        what = (
            "this is a smooth motion" if wish.follows else "these are the torques nearest to those of a smooth motion"
        )
        what += _used(robot, found.best) if wish.least == "time" else ""
        why = found.lost.partition(": try ")[0].removeprefix("no plan is found ")
        why = why[1:-1] if why.startswith("(") else why
        told.append(f"least {wish.least} has not been found ({why}): {what}")
    if not best.ended:
        told.append(f"the search gave up after {best.iterations} iterations: this is a motion, but not the best one")
    if run is None and own.least == "time":
        told.append("the search for the least time did not end: much less may do (duration)")
    told += [each for each in _told_of_ends(robot, wish, True) if each not in told]
    told += _told_of_holding(robot, found.arm, summary)
    if run is None:
        told += told_of_run(robot, best.q, series["t"], nothing)
        told.append(
            "no simulation has judged this plan: its rows are those of the search, which misses equations of motion, "
            f"ends or limits by up to {best.missed:.1g} of their size"
        )
    elif wrong := found.best.shortcomings:
        made = f"{best.iterations} iterations on {best.intervals} intervals"
        told.append(f"under this plan, of {made}, the arm {' and '.join(wrong)}: it is not to be driven as it is")
    elif complete:
        summary |= judgement.judged(found.arm, robot, run, wish, best.duration, told, found.watch)
    summary = summary_without_rounding(summary, series, robot.coordinates)
    at = {word: robot.by_name(q) for word, q in (("start", found.arm.start), ("goal", found.arm.goal))}
    units = units_of(robot, series) if run is None else {name: run.units[name] for name in series}
    arrays = {"through": NamedArray(np.array(best.instants), numbered(len(best.instants)), "s")} if wish.through else {}
    return Result(PURPOSE, robot.name, robot.order, at, arrays, series, summary, told, units=units, about=robot)


def _used(robot: Robot, best: Candidate) -> str:
    """What share of its limits a motion reaches that stands in for the fastest, in words."""
    if best.run is None:
        return ""
    shares = {
        name: max(float((best.run.series[name] / end).max()) for end in pair if np.isfinite(end) and end)
        for name, pair in posed.limits(robot, best.wish).items()
        if any(np.isfinite(end) and end for end in pair)
    }
    name = max(shares, key=lambda each: shares[each])
    told = f" that reaches {percent(shares[name])} % of its limits at most ({name})"
    return told + (": less time may do (duration)" if shares[name] < ALL else "")


def _told_of_ends(robot: Robot, wish: Wish, rows: bool) -> list[str]:
    """Limits of joints that a start or a goal is beyond; where there are ``rows`` they tell of those without stops."""
    return [
        f"at the {word} {beyond}"
        for word, values in (("start", wish.start), ("goal", wish.goal))
        for each in robot.limits
        if each.stops or not rows
        for beyond in passings_of(each, each.values(np.array([judgement.placed(robot, values)])))
    ]


def _told_of_holding(robot: Robot, arm: Arm, summary: Mapping[str, Scalar]) -> Iterator[str]:
    """Torques that an arm at rest needs before and after the motion, where all of those within it are smaller."""
    still = np.zeros(robot.n)
    peaks = [float(summary.get(f"peak_torque.{joint.name}", np.inf)) for joint in robot.joints]
    least = posed.ROUNDING * max(peaks)
    for word, q in (("start", arm.start), ("goal", arm.goal)):
        held = arm.forces(q, still, still)[list(robot.rigid)]
        more = [
            f"torque.{joint.name} = {value:.4g}"
            for joint, value, peak in zip(robot.joints, held.tolist(), peaks, strict=True)
            if abs(value) > max((1 + HELD) * peak, least)
        ]
        if more:
            yield f"at the {word} {listing(more)} is needed to stay there, more than the peak of the motion"


def _told_of_degrees(robot: Robot, wish: Wish) -> Iterator[str]:
    """The first place on the way that looks like degrees."""
    turning = [(i, joint.name) for i, joint in enumerate(robot.joints) if joint.revolute]
    found = (doubt_of(name, float(row[i])) for _, row in wish.through for i, name in turning)
    return islice((f"through: {doubt}" for doubt in found if doubt), 1)


def _rows(robot: Robot, best: Plan, wish: Wish) -> dict[str, Array]:
    """What the search knows: the ends of its intervals, torques of those that begin there."""
    series = {"t": np.linspace(0, best.duration, len(best.q))}
    for i, name in enumerate(robot.coordinates):
        series |= {name: best.q[:, i], f"{name}_dot": best.qd[:, i]}
    if wish.follows:
        return series
    torques = np.vstack([best.inputs, best.inputs[-1:]])
    return series | {f"torque.{joint.name}": torques[:, i] for i, joint in enumerate(robot.joints)}


def outline(robot: Robot, given: Given) -> Outline:
    """What the answer holds."""
    (q, qd) = robot.derivative_names(["q", "qd"]).values()
    limited = [name for each in given.get("limits", ()) if isinstance(each, Mapping) for name in each]
    series = ["t", *dict.fromkeys((*q, *qd, *(f"torque.{joint.name}" for joint in robot.joints), *limited))]
    numbers = ["duration", "intervals", "iterations", "end_error", "residual_amplitude"]
    numbers += ["residual_energy", "largest_residual_energy"] if "residual" in given.get("least", ()) else []
    numbers += ["between_error"] if any(each is not None for each in given.get("robust", ())) else []
    numbers += [f"{word}_torque.{joint.name}" for joint in robot.joints for word in ("peak", "rms")]
    if not any(each is not None for each in given.get("follow", ())):
        passed = any(each is not None for each in given.get("through", ()))
        return Outline(numbers, ["complete", "least"], {"through": ((), None)} if passed else {}, series=series)
    numbers += ["pre_actuation", "post_actuation", "path_error"]
    zeros = numbered(2 * robot.n), ["start", "goal"]
    return Outline(numbers, ["complete"], {"zeros": zeros}, columns_of_simulate(robot), complex=("zeros",))
