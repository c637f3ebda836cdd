"""What a plan is asked for, from arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from kronbot.description import choices
from kronbot.description.described import with_overrides
from kronbot.description.limits import MISTAKES
from kronbot.description.wording import unknown
from kronbot.errors import Argument, UsageError
from kronbot.floats import Array
from kronbot.kinds import is_a
from kronbot.library import arguments
from kronbot.library.fit import table
from kronbot.library.loads import Limits
from kronbot.library.values import by_joint
from kronbot.mechanics.multibody.kinematics import demand_told_apart
from kronbot.model.build import with_values
from kronbot.model.robot import Robot
from kronbot.questions.following import Path, followable
from kronbot.questions.judgement import LONGEST, Wish

# Arguments of plans from rest to rest, and their defaults: a path tells all of that.
TOLD_BY_A_PATH = {
    "to": None, "duration": None, "shortest": False, "drive": "torque", "least": None, "robust": None, "after": None,
    "through": None,
}  # fmt: skip
# Places on the way at most: each is some intervals of the search, which takes seconds to begin with so many.
PLACES = 100
# What to do for a joint that is to have none.
NO_TORQUE = ": a small one, 1e-3 of its peak_torque without a limit, leaves a plan hardly any"


def followed(
    robot: Robot, follow: object, asked: Mapping[str, Any]
) -> tuple[Array, Path, dict[str, tuple[float, float]]]:
    """Where motors start, the path, and limits by column. Raises UsageError."""
    for word, default in TOLD_BY_A_PATH.items():
        given = asked[word]
        if given is not default and not (is_a(given, str) and arguments.text(given, word) == default):
            raise UsageError(Argument("follow"), " tells the way and its time: leave out ", Argument(word))
    rows = table(follow, "follow")
    if "t" not in rows.header:
        raise rows.mistaken({"t": "a path wants a column t, s"})
    columns = [name for name in rows.header if name != "t"]
    known = followable(robot)
    if strange := [name for name in columns if name not in known]:
        raise rows.mistaken({name: str(unknown(name, known, "no column ")) for name in strange[:MISTAKES]})
    found = rows.numbers(["t", *columns])
    blank = {name: int(np.isnan(each).argmax()) for name, each in found.items() if np.isnan(each).any()}
    if blank:
        raise rows.mistaken({name: f"a number is wanted in row {i + 1} of a path" for name, i in blank.items()}, blank)
    for i in np.flatnonzero(~(np.diff(found["t"]) > 0))[:1]:
        told = f"the times t of a path ascend: {found['t'][i + 1]:g} comes after {found['t'][i]:g}"
        raise rows.mistaken({"t": told}, {"t": int(i) + 1})
    values = np.column_stack([found[name] for name in columns] or [np.zeros((len(found["t"]), 0))])
    efforts, limits = _limits(robot, asked)
    within = {f"torque.{name}": pair for name, pair in efforts.items()} | limits
    return _start(robot, asked["q"]), Path(columns, found["t"], values), within


def wish(robot: Robot, asked: Mapping[str, Any]) -> Wish:
    """The wish that the arguments of :meth:`Robot.plan` tell. Raises UsageError where they tell none."""
    if asked["to"] is None:
        raise UsageError("a goal is wanted, ", Argument("to"), ", or a path, ", Argument("follow"))
    known = robot.description.values
    times = [
        None if asked[word] is None else arguments.positive(asked[word], known, word) for word in ("duration", "after")
    ]
    if arguments.flag(asked["shortest"], "shortest") == (times[0] is not None):
        raise UsageError("one of ", Argument("duration"), " and ", Argument("shortest"), " is wanted")
    if times[0] and times[1] and times[1] > LONGEST * times[0]:
        most = f"{LONGEST} times its duration at most, {LONGEST * times[0]:g} s"
        raise UsageError(Argument("after"), f": vibrations are looked for {most}, not {times[1]:g} s")
    follows = arguments.choice(asked["drive"], choices.PLANNED, "drive") == "motion"
    least = "time" if times[0] is None else "change" if follows else "effort"
    if asked["least"] is not None:
        least = arguments.choice(asked["least"], choices.LEAST, "least")
        if times[0] is None:
            raise UsageError(Argument("least"), " goes with ", Argument("duration"), ": the shortest time is least")
    if least == "nearest" and follows:
        raise UsageError(Argument("least", "nearest"), " goes with ", Argument("drive", "torque"))
    if least == "residual" and not follows:
        why = ": what is left is that of an arm whose motors stand"
        raise UsageError(Argument("least", "residual"), " goes with ", Argument("drive", "motion"), why)
    if times[1] and not robot.flexible:
        raise UsageError(Argument("after"), ": nothing vibrates here; leave it out")
    if least == "residual" and not robot.others(frozenset(robot.rigid)):
        raise UsageError(Argument("least", "residual"), ": nothing vibrates here; leave it out")
    places, start = list(robot.rigid), _start(robot, asked["q"])
    ends = by_joint(robot, asked["to"], "to")
    goal = np.array([ends.get(place, first) for place, first in zip(places, start.tolist(), strict=True)])
    efforts, limits = _limits(robot, asked)
    low, high = np.array([efforts.get(joint.name, (-np.inf, np.inf)) for joint in robot.joints]).reshape(-1, 2).T
    if least == "residual" and not limits and not efforts:
        why = ": without them arms of any range come to rest (leave it out)"
        raise UsageError(
            Argument("least", "residual"), " wants ", Argument("effort_limits"), " or ", Argument("limits"), why
        )
    through = () if asked["through"] is None else _through(robot, asked["through"], times[0])
    whenever = any(np.isnan(time) for time, _ in through)
    return Wish(start, goal, low, high, times[0], least, follows, limits, times[1], through, whenever)


def _limits(robot: Robot, asked: Mapping[str, Any]) -> tuple[dict[str, tuple[float, float]], ...]:
    """Those of torques by joint, and of other columns. Raises UsageError."""
    efforts = _pairs(robot, asked["effort_limits"], "effort_limits", [joint.name for joint in robot.joints])
    words = {name: f"effort_limits {name}" for name in efforts}
    limits = _pairs(robot, asked["limits"], "limits", None)
    for joint in robot.joints:  # whose torques are columns, too
        if (pair := limits.pop(f"torque.{joint.name}", None)) is not None:
            word = f"limits torque.{joint.name}"
            if joint.name in efforts:
                raise UsageError(Argument(word), ": ", Argument(words[joint.name]), " limits it already")
            efforts[joint.name], words[joint.name] = pair, word
    for name, pair in efforts.items():
        if not pair[0] < 0 < pair[1]:
            said = f": limits on either side of 0 are wanted, not {pair[0]:g} and {pair[1]:g}"
            raise UsageError(Argument(words[name]), said, "" if any(pair) else NO_TORQUE)
    for name, pair in limits.items():
        if not pair[0] < pair[1]:
            said = f": a lower and a higher one are wanted, not {pair[0]:g} and {pair[1]:g}"
            raise UsageError(Argument(f"limits {name}"), said)
    return efforts, limits


def _through(robot: Robot, given: object, duration: float | None) -> Sequence[tuple[float, Array]]:
    """Times, NaN where these are told nowhere, and places of motors on the way. Raises UsageError."""
    joints, rows = [joint.name for joint in robot.joints], table(given, "through")
    names = [name for name in rows.header if name != "t"]
    if strange := [name for name in names if name not in joints]:
        raise rows.mistaken({name: str(unknown(name, joints, "no joint ")) for name in strange[:MISTAKES]})
    if not names:
        raise rows.mistaken({"t": "columns of joints are wanted, and t, s, or none for any time"})
    found = rows.numbers(rows.header)
    times, timed = np.full(len(found[names[0]]), np.nan), "t" in found
    if timed and duration is None:
        raise UsageError(Argument("through"), " tells times: leave t out, or ", Argument("shortest"))
    times = found.get("t", times)
    if duration is not None and timed and not (np.diff(times, prepend=0.0, append=duration) > 0).all():
        wrong = (np.diff(times, prepend=0.0) <= 0) | (times >= duration) | np.isnan(times)
        told = f"times between 0 and {duration:g} s are wanted, in their order, one a row; without t they are free"
        raise rows.mistaken({"t": told}, {"t": int(wrong.argmax())})
    nothing = np.full(len(times), np.nan)
    places = np.column_stack([found.get(name, nothing) for name in joints])
    for i in np.flatnonzero(np.isnan(places).all(axis=1))[:1]:
        raise rows.mistaken({names[0]: f"row {i + 1} has no place of any joint"}, {names[0]: int(i)})
    if len(places) > PLACES:
        told = f"{PLACES} places on the way at most are wanted, not {len(places)}"
        raise rows.mistaken({names[0]: told}, {names[0]: PLACES})
    demand_told_apart(robot, places, robot.rigid, Argument("through"))
    bare = np.isnan(places)
    same = (places[1:] == places[:-1]) | (bare[1:] & bare[:-1])
    for i in np.flatnonzero(same.all(axis=1))[:1] if np.isnan(times).any() else ():
        told = f"row {i + 2} is the place of row {i + 1} again, which is passed at the same time: leave one out"
        raise rows.mistaken({names[0]: told}, {names[0]: int(i) + 1})
    return [*zip(times.tolist(), places, strict=True)]


def _start(robot: Robot, q: Any) -> Array:
    """Where the motors stand at first. Raises UsageError where there is none."""
    if not robot.joints:
        raise UsageError("the robot has no joint, hence nothing to plan")
    given = by_joint(robot, q, "q")
    return np.array([given.get(place, 0.0) for place in robot.rigid])


def sharing(robot: Robot, robust: Mapping[str, Any] | None, follows: bool) -> tuple[list[Robot], list[Robot]]:
    """The robot, and those of the ends of ranges of parameters, that are to share its motion; those midway to them."""
    ranges = _pairs(robot, robust, "robust", [*robot.description.values])
    if ranges and not follows:
        raise UsageError(
            Argument("robust"),
            " goes with ",
            Argument("drive", "motion"),
            ": arms that differ under one torque go apart",
        )
    corners = [dict(corner) for corner in product(*(((name, end) for end in pair) for name, pair in ranges.items()))]
    own = robot.description.values
    middles = [{name: (end + (own.get(name) or end)) / 2 for name, end in corner.items()} for corner in corners]

    def like(values: Mapping[str, float]) -> Robot:
        told = {name: repr(value) for name, value in values.items()}
        return with_values(robot, with_overrides(robot.description, told))

    if not ranges:
        return [robot], []
    return [robot, *map(like, corners)], [*map(like, middles)]


def _pairs(
    robot: Robot, given: Limits | None, word: str, names: Sequence[str] | None
) -> dict[str, tuple[float, float]]:
    """Smallest and largest by name; one number is that and its negative."""
    known, found = robot.description.values, {}
    for name, each in arguments.pairs({} if given is None else given, word).items():
        if names is not None and name not in names:
            raise unknown(name, names, Argument(word), f": no {'parameter' if word == 'robust' else 'joint'} ")
        if arguments.is_list(each):
            low, high = _range(each, known, f"{word} {name}", open_ended=word != "robust")
        elif word == "robust":
            raise UsageError(Argument("robust"), f" {name}: a range is wanted, from one value to another")
        else:
            high = arguments.number(each, known, f"{word} {name}")
            if high <= 0:
                cure = NO_TORQUE if word == "effort_limits" and not high else ""
                raise UsageError(Argument(f"{word} {name}"), f" must be positive, not {high:g}{cure}")
            low = -high
        found[name] = low, high
    return found


def _range(given: object, known: arguments.Known, word: str, open_ended: bool) -> tuple[float, float]:
    """Two numbers, one of which may be left out (None or an empty text)."""
    pair = arguments.entries(given, word)
    bare = [each is None or (is_a(each, str) and not each.strip()) for each in pair]
    if len(pair) != 2 or not open_ended or not any(bare) or all(bare):
        low, high = arguments.numbers(given, known, word, (2,))
        return low, high
    value = arguments.number(pair[bare.index(False)], known, word)
    return (-np.inf, value) if bare[0] else (value, np.inf)
