"""Massless elements of a model: springs, dampers and actuators between points of two frames, over those of others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, cast

from casadi import SX

from kronbot.description import element as described
from kronbot.description.entries import ZERO
from kronbot.description.expressions.expression import Expression
from kronbot.model.in_time import InTime
from kronbot.model.in_time import in_time as function_of_time
from kronbot.model.parameters import Parameters
from kronbot.records import dataclass

if TYPE_CHECKING:
    from kronbot.description.table import Table


@dataclass(frozen=True, eq=False)
class Element:
    """It pulls a point of one frame to a point (3 x 1, m) of another, over those of the ``frames`` between these, with
    stiffness (length - rest) + damping (rate of the length) - force: N/m, m, N s/m, N.

    ``driven`` says that its force is an input, ``in_time`` how it changes in a simulation: ``force`` is that at t = 0.
    One that is ``one_sided`` pulls while it is longer than its rest, and never pushes.
    """

    name: str
    frames: tuple[str, ...]
    points: tuple[SX, ...]
    stiffness: SX
    rest: SX
    damping: SX
    force: SX
    driven: bool
    in_time: InTime | None
    one_sided: bool = False

    @property
    def straight(self) -> bool:
        """Whether it goes over nothing."""
        return len(self.frames) == 2

    @property
    def pieces(self) -> Iterator[tuple[tuple[str, SX], tuple[str, SX]]]:
        """Its straight pieces by their ends: a frame and a point of it."""
        return pairwise(zip(self.frames, self.points, strict=True))

    @property
    def unstretched(self) -> bool:
        """Whether the energy of its spring is that of the way from end to end, which may be nothing."""
        return self.straight and bool(self.rest.is_zero()) and not self.one_sided

    @property
    def directed(self) -> bool:
        """Whether it needs the directions of its pieces, which there are none of at length zero."""
        bent = not (self.stiffness.is_zero() or self.unstretched)
        return bent or self.driven or not (self.damping.is_zero() and self.force.is_zero())

    @property
    def bears(self) -> bool:
        """Whether it may bear a load at rest, as dampers alone do not."""
        return self.driven or not self.stiffness.is_zero()

    def at(self, t: SX) -> Element:
        """The same at a time (1 x 1, s)."""
        return self if self.in_time is None else replace(self, force=self.in_time.at(t))

    def times(self, share: SX) -> Element:
        """A share (1 x 1) of its forces."""
        return replace(self, stiffness=share * self.stiffness, damping=share * self.damping, force=share * self.force)


def element(entry: described.Element, parameters: Parameters, tables: Mapping[str, Table]) -> Element:
    """What a file says of one."""
    number = parameters.number
    in_time = None
    if not isinstance(entry.force or ZERO, Expression):
        in_time = function_of_time(entry.force, parameters, tables, f"force.{entry.name}")
    return Element(
        name=entry.name,
        frames=(entry.between[0], *(point.frame for point in entry.via), entry.between[1]),
        points=tuple(map(parameters.vector, (entry.points[0], *(each.point for each in entry.via), entry.points[1]))),
        stiffness=number(entry.stiffness),
        rest=number(entry.rest),
        damping=number(entry.damping),
        force=number(cast("Expression", entry.force or ZERO)) if in_time is None else in_time.at(SX(0)),
        driven=entry.force is not None,
        in_time=in_time,
        one_sided=entry.type == "tendon",
    )
