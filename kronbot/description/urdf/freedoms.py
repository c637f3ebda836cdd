"""Joints of URDF that move in more than one way: one base that floats, or as many joints with massless links between.

A planar joint slides along two axes across its own and turns about that, a floating one slides along x, y, z and turns
about z, y, x.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Final

from kronbot.description.urdf.rotations import IDENTITY, transposed, turn_to
from kronbot.description.urdf.tree import Joint, Link, Origin, Triple

PLANAR: Final = "planar"
FLOATING: Final = "floating"
KINDS: Final = (FLOATING, PLANAR)


def floating_base(root: Link, joints: Collection[Joint]) -> Joint | None:
    """The joint by which all of a robot floats in a massless root, and which leads to a link that carries others."""
    first = [joint for joint in joints if joint.parent == root.name]
    floats = len(first) == 1 and first[0].type == FLOATING and root.body is None
    return first[0] if floats and any(joint.parent == first[0].child for joint in joints) else None


def spread(
    links: Mapping[str, Link], joints: Collection[Joint], base: Joint | None
) -> tuple[dict[str, Link], tuple[Joint, ...]]:
    """Links and joints in which every joint but that of the base moves in one way."""
    found, taken, more = list[Joint](), {*links, *(joint.name for joint in joints)}, dict(links)
    for joint in joints:
        if joint.type not in KINDS or joint is base:
            found.append(joint)
            continue
        chain = list(_chain(joint, taken))
        more |= {each.child: replace(links[joint.child], name=each.child, inertial=None) for each in chain[:-1]}
        found += chain
    return more, tuple(found)


def _chain(joint: Joint, taken: set[str]) -> Iterator[Joint]:
    """The joints that a joint stands for, the last of which leads to its link."""
    x, y, z = (
        tuple(map(float, axis)) for axis in transposed(turn_to(joint.axis) if joint.type == PLANAR else IDENTITY)
    )
    ways: list[tuple[str, Triple]] = [("x", x), ("y", y), ("z", z), ("rz", z), ("ry", y), ("rx", x)]
    ways = ways if joint.type == FLOATING else [ways[0], ways[1], ways[3]]
    parent, origin = joint.parent, joint.origin
    for i, (word, axis) in enumerate(ways):
        name = f"{joint.name}_{word}"
        while name in taken:
            name += "_"
        taken.add(name)
        child = joint.child if i == len(ways) - 1 else name
        kind = "continuous" if word.startswith("r") else "prismatic"
        yield replace(joint, name=name, type=kind, parent=parent, child=child, origin=origin, axis=axis)
        parent, origin = child, Origin()
