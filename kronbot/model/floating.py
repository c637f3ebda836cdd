"""A floating base: massless links that slide along x, y, z and turn about z, y, x one after the other, and the base."""

from __future__ import annotations

from dataclasses import replace

from casadi import SX

from kronbot.description.entries import ZERO
from kronbot.description.names import BASE, FREEDOMS, carriers, is_fixed_frame
from kronbot.model.dh import Row
from kronbot.model.element import Element
from kronbot.model.joint import FreeJoint
from kronbot.model.pose import Pose
from kronbot.model.robot import BASE as FIXED
from kronbot.model.robot import Body, Link, Robot

# Brings z to x, x to y and y to z, and back; the axes are exact and no product with them is traced.
CYCLE = SX.eye(3)[:, [1, 2, 0]]
# What each of them moves by, with the turn that brings z to its axis. About z first: R = Rz(rz) Ry(ry) Rx(rx).
_CHAIN = (("x", CYCLE), ("y", CYCLE), ("z", CYCLE), ("rz", SX.eye(3)), ("ry", CYCLE.T), ("rx", CYCLE.T))
# The place of the first that turns.
_TURNING = 3


def base_links(body: Body | None) -> tuple[Link, ...]:
    """The links of a floating base with that body, whose coordinates are the first ones; the last is the base."""
    links = [
        _link(f"{BASE}.{word}", place - 1, turn, FreeJoint.at(f"{BASE}.{word}", FREEDOMS.index(word)), None)
        for place, (word, turn) in enumerate(_CHAIN)
    ]
    return (*links, _link(BASE, len(links) - 1, CYCLE.T, None, body))


def _link(name: str, parent: int, turn: SX, joint: FreeJoint | None, body: Body | None) -> Link:
    return Link(
        name=name,
        parent=parent if parent >= 0 else FIXED,
        joint=joint,
        row=Row(Pose(SX(3, 1), turn), ZERO, SX(0), along=SX(0), after=SX.eye(3)),
        modal=slice(len(FREEDOMS), len(FREEDOMS)),
        beam=None,
        damping=SX(0, 0),
        hub=None,
        bodies=() if body is None else (body,),
    )


def in_chart(robot: Robot, turn: SX) -> Robot:
    """The same robot, whose base turns by ``turn`` (3 x 3) Rz(rz) Ry(ry) Rx(rx)."""
    links = list(robot.links)
    row = links[_TURNING].row
    links[_TURNING] = replace(links[_TURNING], row=replace(row, before=Pose(row.before.r, turn)))
    return replace(robot, links=tuple(links))


def chart(robot: Robot) -> SX:
    """That turn (3 x 3) of a robot."""
    return robot.links[_TURNING].row.before.R


def hung(robot: Robot) -> dict[int, float]:
    """The coordinates of a floating base that elements hold from where nothing moves, each without a force."""
    return dict.fromkeys(robot.base, 0.0) if any(each.bears for each in grounded(robot)) else {}


def grounded(robot: Robot) -> list[Element]:
    """The elements that go to, or over, a frame that does not move."""
    moving = carriers(robot.file)
    return [each for each in robot.elements if any(is_fixed_frame(name, moving) for name in each.frames)]
