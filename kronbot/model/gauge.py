"""Where gauges sit on beams."""

from __future__ import annotations

from kronbot.description import schema
from kronbot.errors import UsageError
from kronbot.model.beam import TIP, Beam
from kronbot.model.robot import Link, Robot


def gauge_place(robot: Robot, entry: schema.Gauge) -> tuple[Link, Beam, float]:
    """Where a gauge of the file sits: link, beam and xi. Raises UsageError where a parameter in it is free."""
    link = next(link for link in robot.links if link.name == entry.link)
    if link.beam is None:
        raise UsageError(f"gauge {entry.name!r} sits on link {entry.link!r}, which is not flexible")
    place = robot.parameters.number(entry.x) / link.beam.length
    return link, link.beam, min(robot.parameters.shape_by(place, f"gauge {entry.name!r}"), TIP)
