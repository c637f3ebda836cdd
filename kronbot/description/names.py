"""Names that follow from a robot file: of coordinates, joints, beams and frames, in the order of the file."""

from __future__ import annotations

from kronbot.description.schema import RobotFile

RIGID_ORDER = "0"


def coordinates(robot: RobotFile, order: str) -> tuple[str, ...]:
    """Names of q: link by link its joint, then its modal coordinates ``LINK.v1``, ``LINK.w1``, ``LINK.t1``.

    At the kinematic order 0 beams are rigid and have none.
    """
    names: list[str] = []
    for link in robot.links:
        if link.joint.name is not None:
            names.append(link.joint.name)
        if link.flexible is not None and order != RIGID_ORDER:
            modes = link.flexible.modes
            for letter, count in (("v", modes.v), ("w", modes.w), ("t", modes.torsion)):
                names += [f"{link.name}.{letter}{i + 1}" for i in range(count)]
    return tuple(names)


def joints(robot: RobotFile) -> tuple[str, ...]:
    """Names of the joints that have a coordinate."""
    return tuple(link.joint.name for link in robot.links if link.joint.name is not None)


def beams(robot: RobotFile) -> tuple[str, ...]:
    """Names of the flexible links."""
    return tuple(link.name for link in robot.links if link.flexible is not None)


def frames(robot: RobotFile) -> tuple[str, ...]:
    """Names of frames: ``endpoint``, links (their tip frames), ``LINK:root``, ``com:LINK``, ``base``."""
    links = [link.name for link in robot.links]
    return ("endpoint", *links, *(f"{link}:root" for link in links), *(f"com:{link}" for link in links), "base")
