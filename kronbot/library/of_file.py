"""What questions doubt in a robot's file beside what is told when it is read."""

from __future__ import annotations

from kronbot.errors import Mistake
from kronbot.model.robot import Robot


def told_of_sweep(robot: Robot, subject: object) -> tuple[Mistake, ...]:
    """What the sweep of the file doubts in it, at its places; ``subject`` is who answers its question."""
    if (sweep := robot.file.sweep) is None:
        return ()
    from kronbot.library.cases import demand_accepted
    from kronbot.sweeps.names import doubts_of_file

    # As the command line understands it.
    along = sweep.question == "linearize" and "motion" in sweep.options
    return doubts_of_file(robot, sweep, demand_accepted(subject, "linearize_along" if along else sweep.question, ()))
