"""How large a model gets when it is written down: refused before the work where it would fill the memory."""

from __future__ import annotations

from kronbot.errors import ComputationError
from kronbot.model.robot import Robot

# Entries of one matrix of an answer.
ENTRIES = 1_000_000
# Operations of the equations of motion grow with the fourth power of the modes of one beam (20 modes take 0.4 GB,
# 30 take 2.6 GB), at order 1 with the third (120 take 0.5 GB): how many one beam may have, by order.
MODES = {"0": 1, "1": 100, "2": 32, "exact": 32}
POWER = {"0": 1, "1": 3, "2": 4, "exact": 4}


def demand_entries(what: str, entries: int) -> None:
    """Raise ComputationError where a matrix has too many entries to be written down."""
    if entries > ENTRIES:
        raise ComputationError(f"{what} would have {entries:,} entries ({ENTRIES:,} is the limit): take fewer modes")


def demand_tractable(robot: Robot) -> None:
    """Raise ComputationError where the equations of motion would fill the memory."""
    beams = [link.beam for link in robot.links if link.beam is not None]
    if sum((beam.n / MODES[beam.order]) ** POWER[beam.order] for beam in beams) > 1:
        largest = max(beams, key=lambda beam: beam.n)
        raise ComputationError(
            f"the equations of motion of {len(robot.flexible)} modal coordinates, {largest.n} of them of link "
            f"{largest.name!r}, are too large at order {largest.order}: take fewer modes"
        )
