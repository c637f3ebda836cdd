"""Massless elements of a model: springs, dampers and actuators between points of two frames."""

from __future__ import annotations

from dataclasses import dataclass, replace

from casadi import SX

from kronbot.description import element as described
from kronbot.description.entries import ZERO
from kronbot.model.parameters import Parameters


@dataclass(frozen=True, eq=False)
class Element:
    """It pulls a point of one frame to a point (3 x 1, m) of another with stiffness (length - rest) + damping (rate of
    the length) - force: N/m, m, N s/m, N.

    ``driven`` says that its force is an input.
    """

    name: str
    frames: tuple[str, str]
    points: tuple[SX, SX]
    stiffness: SX
    rest: SX
    damping: SX
    force: SX
    driven: bool

    @property
    def directed(self) -> bool:
        """Whether it needs the direction from one end to the other, which there is none of at length zero."""
        bent = not (self.stiffness.is_zero() or self.rest.is_zero())
        return bent or self.driven or not (self.damping.is_zero() and self.force.is_zero())

    def times(self, share: SX) -> Element:
        """A share (1 x 1) of its forces."""
        return replace(self, stiffness=share * self.stiffness, damping=share * self.damping, force=share * self.force)


def element(entry: described.Element, parameters: Parameters) -> Element:
    """What a file says of one."""
    number = parameters.number
    return Element(
        name=entry.name,
        frames=entry.between,
        points=(parameters.vector(entry.points[0]), parameters.vector(entry.points[1])),
        stiffness=number(entry.stiffness),
        rest=number(entry.rest),
        damping=number(entry.damping),
        force=number(entry.force or ZERO),
        driven=entry.force is not None,
    )
