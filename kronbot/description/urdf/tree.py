"""A robot as URDF has it: links and joints that are one tree."""

from __future__ import annotations

from typing import Final

from kronbot.description.yaml.nodes import Place
from kronbot.records import dataclass

Triple = tuple[float, ...]
"""Three numbers."""

ORIGIN: Final[Triple] = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Origin:
    """A frame in another one: translation (m), then Rz(yaw) Ry(pitch) Rx(roll) by roll, pitch, yaw (rad)."""

    xyz: Triple = ORIGIN
    rpy: Triple = ORIGIN


@dataclass(frozen=True)
class Inertial:
    """A body: mass (kg), and its tensor Ixx, Iyy, Izz, Ixy, Ixz, Iyz (kg m^2) at the origin, in the origin's axes."""

    origin: Origin
    mass: float
    tensor: tuple[float, ...]
    place: Place


@dataclass(frozen=True)
class Link:
    """A link; its frame is the frame of the joint that leads to it, after the joint's motion."""

    name: str
    inertial: Inertial | None
    place: Place

    @property
    def body(self) -> Inertial | None:
        """Its inertial where that says something."""
        inertial = self.inertial
        return inertial if inertial is not None and (inertial.mass != 0 or any(inertial.tensor)) else None


@dataclass(frozen=True)
class Mimic:
    """What a joint does: ``multiplier`` times what another does, and an offset (rad or m)."""

    joint: str
    multiplier: float
    offset: float
    place: Place


@dataclass(frozen=True)
class Joint:
    """A joint: ``origin`` in the parent's frame, ``axis`` (of any length but 0) in the child's, limits in rad or m.

    ``friction`` is dry, N m or N.
    """

    name: str
    type: str
    parent: str
    child: str
    origin: Origin
    axis: Triple
    limits: tuple[float, float] | None
    damping: float
    friction: float
    mimic: Mimic | None

    @property
    def moves(self) -> bool:
        """It has a coordinate."""
        return self.type != "fixed"


@dataclass(frozen=True)
class Urdf:
    """A robot that is one tree.

    ``left_out``: by kind, the names of the links or joints that had what is not read; ``angles``: of those whose angles
    are or may be meant as multiples of pi/2; ``base``: the joint by which it floats in its root, if any.
    """

    name: str
    file: str
    root: Link
    links: dict[str, Link]
    joints: tuple[Joint, ...]
    left_out: dict[str, tuple[str, ...]]
    angles: dict[str, tuple[str, ...]]
    base: Joint | None
