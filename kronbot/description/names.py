"""Names that follow from a robot file: of coordinates, joints, beams and frames, in the order of the file."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kronbot.description.schema import RobotFile

RIGID_ORDER = "0"
# The frame that does not move; where no link is called base, that is another word for it.
WORLD: Final = "world"
BASE: Final = "base"
# Coordinates of a floating base, which is itself called base: its origin in the fixed frame, m, and the angles of
# R = Rz(rz) Ry(ry) Rx(rx), rad.
FREEDOMS: Final = ("x", "y", "z", "rx", "ry", "rz")
# What the coordinate of a motor is called after its joint.
MOTOR: Final = "motor"
# Names that no link and no joint may have, and what they stand for.
LINK_WORDS: Final = {WORLD: "the frame that does not move", "endpoint": "the frame of the endpoint"}
JOINT_WORDS: Final = {"t": "time", "order": "a column of results"}


def coordinates(robot: RobotFile, order: str) -> tuple[str, ...]:
    """Names of q: ``base.x`` to ``base.rz`` of a floating base, then link by link its joint ``q1``, unless it follows
    others, its motor ``q1.motor`` where it is elastic, tilts of its bearing ``q1.x``, ``q1.y``, then its modal
    coordinates ``LINK.v1``, ``LINK.w1``, ``LINK.t1``.

    At the kinematic order 0 beams are rigid and have none.
    """
    names = [*of_base(robot)]
    for link in robot.links:
        if link.joint.name is not None:
            if link.joint.elastic is not None or link.joint.follows is None:
                names.append(link.joint.name)
            if link.joint.elastic is not None and link.joint.follows is None:
                names.append(f"{link.joint.name}.{MOTOR}")
            if link.joint.bearing is not None:
                names += [f"{link.joint.name}.{axis}" for axis in link.joint.bearing.axes]
        if link.flexible is not None and order != RIGID_ORDER:
            modes = link.flexible.modes
            for letter, count in (("v", modes.v), ("w", modes.w), ("t", modes.torsion)):
                names += [f"{link.name}.{letter}{i + 1}" for i in range(count)]
    return tuple(names)


def of_base(robot: RobotFile) -> tuple[str, ...]:
    """Names of the coordinates of a floating base."""
    return tuple(f"{BASE}.{word}" for word in FREEDOMS) if robot.base.floats else ()


def joints(robot: RobotFile) -> tuple[str, ...]:
    """Names of the joints that a drive moves: those that follow others have none."""
    return tuple(joint.name for joint in (link.joint for link in robot.links) if joint.name and not joint.follows)


def beams(robot: RobotFile) -> tuple[str, ...]:
    """Names of the flexible links."""
    return tuple(link.name for link in robot.links if link.flexible is not None)


def is_fixed_frame(name: str, links: Iterable[str]) -> bool:
    """Whether a name is that of the frame that does not move: ``world``, and ``base`` where that is no link."""
    return name == WORLD or (name == BASE and name not in links)


def moving_frames(links: Iterable[str]) -> tuple[str, ...]:
    """Names of the frames on a robot: ``endpoint``, links (their tip frames), ``LINK:root``, ``com:LINK``."""
    links = list(links)
    return ("endpoint", *links, *(f"{link}:root" for link in links), *(f"com:{link}" for link in links))


def frames(robot: RobotFile) -> tuple[str, ...]:
    """Names of all frames, the one that does not move last: ``world``, and ``base`` where that is no link."""
    links = carriers(robot)
    return (*moving_frames(links), *fixed_frames(links))


def fixed_frames(links: Collection[str]) -> tuple[str, ...]:
    """The names that the frame that does not move has."""
    return (WORLD,) if BASE in links else (WORLD, BASE)


def carriers(robot: RobotFile) -> tuple[str, ...]:
    """Names of what moves: a floating base, and the links."""
    return (*((BASE,) if robot.base.floats else ()), *(link.name for link in robot.links))
