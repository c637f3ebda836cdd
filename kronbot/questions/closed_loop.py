"""Words about linear models with the controllers of a file, and which of their integrals stand still."""

from __future__ import annotations

from collections.abc import Sequence

from kronbot.description.gains import TIME
from kronbot.errors import Argument, UsageError
from kronbot.mechanics.control.controllers import controllers
from kronbot.mechanics.motion.drives import drives
from kronbot.model.robot import Robot
from kronbot.questions.signals import Choice


def controls(robot: Robot) -> bool:
    """Whether something controls a joint."""
    return bool(controllers(robot).joints)


def demand_loop(robot: Robot, choice: Choice) -> None:
    """Raise UsageError where nothing controls a joint, and for outputs that controllers change."""
    if not controls(robot):
        cure = ": the file has no control: {JOINT: {pid: {...}}}, nor a pd drive"
        raise UsageError(Argument("closed_loop"), f" wants controllers{cure}")
    feedback = controllers(robot).feedback
    if feedback is not None and feedback.gains.over == TIME:
        raise UsageError(Argument("closed_loop"), ": gains that change in time are those of a simulation")
    if any(each.kind == "power" for each in choice.measured):
        raise UsageError("power: of a closed loop, controllers have a part in it that is not told: leave it out")


def held(robot: Robot, locked: frozenset[int], integrals: Sequence[str]) -> frozenset[int]:
    """Locked coordinates, with the integrals of locked joints, by place behind the coordinates."""
    names = {f"integral.{joint.name}" for joint in robot.joints if joint.driven in locked}
    return locked | {robot.n + i for i, name in enumerate(integrals) if name in names}


def told_of_loop(robot: Robot) -> list[str]:
    """What of the controllers a linear model leaves out."""
    control, found = controllers(robot), list[str]()
    if drives(robot).sample_time is not None:
        found.append("the loop is closed as if controllers acted all the time: sampling delays them by half a sample")
    if limited := [name for name, each in control.by_joint.items() if each.effort is not None]:
        found.append(f"limits of effort are not in a linear model ({', '.join(limited)})")
    return found
