"""What can be asked for beside an answer: ``KIND:NAME``, and the names that a robot file has for each kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from kronbot.description.names import RIGID_ORDER, carriers, coordinates, joints, moving_frames, of_base

if TYPE_CHECKING:
    from kronbot.description.schema import RobotFile

# Several at once, without a name.
WORDS: Final = ("joints", "endpoint", "gauges")
KINDS: Final = (
    "position", "rotation", "velocity", "acceleration", "rate", "reaction", "spring", "gauge", "power",
)  # fmt: skip


def named(robot: RobotFile) -> Mapping[str, tuple[str, ...]]:
    """The names that go with each kind.

    Of joints that move, also of those that follow others, of motors and tilts; reactions of fixed joints go by the
    name of the link. Whatever is a frame and a joint has a ``acceleration`` under neither.
    """
    frames = moving_frames(carriers(robot))
    moving = [link.joint.name for link in robot.links if link.joint.name is not None]
    rates = tuple(dict.fromkeys((*moving, *coordinates(robot, RIGID_ORDER))))
    yielding = [link.joint for link in robot.links if link.joint.elastic or link.joint.bearing or link.joint.spring]
    return {
        "position": frames,
        "rotation": frames,
        "velocity": frames,
        # That of a floating base is its frame's, whose columns have these names.
        "acceleration": (*frames, *(name for name in rates if name not in of_base(robot))),
        "rate": rates,
        "reaction": tuple(link.joint.name or link.name for link in robot.links),
        "spring": tuple(joint.name for joint in yielding if joint.name is not None),
        "gauge": tuple(gauge.name for gauge in robot.statics.gauges),
        "power": joints(robot),
    }
