"""Where the frames of a robot are: poses of links and of the endpoint in the base frame."""

from __future__ import annotations

from casadi import SX

from kronbot.mechanics.recursion import LinkState, State
from kronbot.model.pose import Pose


def tip_frame(at: LinkState) -> Pose:
    """The tip frame of a link in the base frame."""
    return at.pose @ at.tip.pose


def endpoint(state: State) -> SX:
    """Position (3 x 1, m) of the endpoint in the base frame."""
    robot = state.robot
    frame = tip_frame(state.links[robot.endpoint.link])
    return frame.r + frame.R @ robot.endpoint.position
