"""What ``design`` does for a shaper: the lowest mode of what swings while joints follow their motions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import casadi
import numpy as np
from casadi import SX

from kronbot.compute.arrays import NamedArray, Scalar
from kronbot.description.wording import listing
from kronbot.errors import Argument, ComputationError
from kronbot.floats import known
from kronbot.mechanics.linear.stability import judge
from kronbot.mechanics.motion.drives import drives
from kronbot.model.robot import Robot
from kronbot.model.shapers import spacing, undamped
from kronbot.questions.balance import let_go
from kronbot.questions.closed_loop import controls
from kronbot.questions.designed_poles import HELD
from kronbot.questions.linearize import Found, Linearization, Point
from kronbot.questions.outline import numbered
from kronbot.questions.result import Result
from kronbot.questions.signals import Choice
from kronbot.questions.validity import told_of_validity

PURPOSE = "design"
# What ei and 2hump_ei leave, as in files.
TOLERANCE = 0.05
# What Newton's method leaves is not told of a place (rad, m).
DIGITS = 9
CURE = "; if one of them swings without a motor, name the others: ", Argument("lock")
GROWS = "deviations grow about the equilibrium that the shaper is for: no motion ends at rest there"


def shaper(robot: Robot, point: Point, asked: frozenset[int], kind: str) -> Result:
    """An input shaper for the lowest mode: of the closed loop where controllers are, else with joints locked.

    Joints that nothing drives are free where others are driven, or locked as ``asked``, about their equilibrium. Raises
    ComputationError where they have none, and where nothing swings.
    """
    loop = controls(robot)
    locked = _locked(robot, asked, loop)
    asked_for = Linearization(robot, Choice(locked, ("torques",), ()), True, loop).found(point)
    found = _settled(robot, asked_for, locked, loop)
    told = [*_told_of_moves(robot, asked_for, found)]
    swinging = (pole for pole in found.solution.poles if pole.value.imag > 0 and not pole.free)
    lowest = min(swinging, key=lambda each: abs(each.value), default=None)
    grows = judge(found.solution.system, found.solution.poles).word == "unstable"
    if lowest is None:
        held, end = listing(_names(robot, locked)), ": a shaper has no mode to be for"
        what = f"nothing swings{f' with {held} locked' * bool(held)}{', deviations grow' * grows}{end}"
        raise ComputationError(what, *(CURE if held and not grows else ()))
    told += [GROWS] if grows else []
    frequency, error = abs(lowest.value), lowest.error
    damping, relative = max(0.0, -lowest.value.real / frequency), error / frequency
    apart, decay = (float(each) for each in spacing(kind, SX(frequency), SX(damping)))
    weights = np.array(casadi.evalf(undamped(kind, SX(TOLERANCE)))).ravel()
    weights *= decay ** np.arange(len(weights))
    times, amplitudes = apart * np.arange(len(weights)), weights / weights.sum()
    summary: dict[str, Scalar] = {
        "shaper": f"{{type: {kind}, frequency: {known(frequency, error)!r}, damping: {known(damping, relative)!r}}}",
        "frequency": float(frequency),
        "damping": float(damping),
        "model": _model(robot, locked, loop),
        "longer": float(times[-1]),
    }
    units, columns = {"columns": ["s", "1"]}, ["t", "amplitude"]
    table = NamedArray(np.column_stack([times, amplitudes]), numbered(len(times)), units, columns)
    named = {"q": robot.by_name(found.point.q)}
    told += told_of_validity(robot, found.point.q, found.point.qd, locked)
    return Result(PURPOSE, robot.name, robot.order, named, {"impulses": table}, {}, summary, told, about=robot)


def _locked(robot: Robot, asked: frozenset[int], loop: bool) -> frozenset[int]:
    """Places of joints that stand in the model: in a closed loop those asked for and what follows a motion exactly;
    else those asked for, or all but those that nothing drives beside others.
    """
    driven = drives(robot)
    if loop:
        return asked | frozenset(driven.prescribed)
    return asked or frozenset(joint.driven for joint in robot.joints if joint.name not in driven.passive)


def _settled(robot: Robot, found: Found, locked: frozenset[int], loop: bool) -> Found:
    """The model about where joints come to that are free and have no drive."""
    driven, K = drives(robot), found.values["K"]
    K, loose, off = K.reshape(math.isqrt(K.size), -1), list[int](), False
    for joint, torque in zip(robot.joints, np.asarray(found.point.tau).ravel().tolist(), strict=True):
        passive = joint.name in driven.passive if loop else joint.name not in driven.by_joint
        if passive and joint.driven not in locked:
            loose.append(joint.driven)
            off = off or abs(torque) > HELD * np.abs(K[joint.driven]).max()
    if not off:
        return found
    q = let_go(robot, found.point.q, loose)
    return Linearization(robot, Choice(locked, ("torques",), ()), True, loop).found(replace(found.point, q=q, tau=None))


def _told_of_moves(robot: Robot, before: Found, after: Found) -> Iterator[str]:
    """Joints that are not where they were asked to be, in words."""
    for joint in robot.joints:
        old, new = (float(each.point.q[joint.driven]) for each in (before, after))
        if old != new:
            new = round(new, DIGITS) + 0.0
            yield (
                f"{joint.name} has no drive in the file: the shaper is for its equilibrium, {joint.name} = {new:.4g} "
                f"{'rad' if joint.revolute else 'm'}, not {old:.4g}"
            )


def _names(robot: Robot, places: frozenset[int]) -> list[str]:
    return [joint.name for joint in robot.joints if joint.driven in places]


def _model(robot: Robot, locked: frozenset[int], loop: bool) -> str:
    """The model that the mode is of, in words."""
    held, free = _names(robot, locked), _names(robot, frozenset(robot.rigid) - locked)
    if loop:
        return "closed loop" + (f", {listing(held)} locked" if held else "")
    return f"{listing(held)} locked, {listing(free)} free" if free else "joints locked"
