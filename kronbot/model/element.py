"""Massless elements of a model: springs, dampers and actuators between points of two frames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
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
    """It pulls a point of one frame to a point (3 x 1, m) of another with stiffness (length - rest) + damping (rate of
    the length) - force: N/m, m, N s/m, N.

    ``driven`` says that its force is an input, ``in_time`` how it changes in a simulation: ``force`` is that at t = 0.
    """

    name: str
    frames: tuple[str, str]
    points: tuple[SX, SX]
    stiffness: SX
    rest: SX
    damping: SX
    force: SX
    driven: bool
    in_time: InTime | None

    @property
    def directed(self) -> bool:
        """Whether it needs the direction from one end to the other, which there is none of at length zero."""
        bent = not (self.stiffness.is_zero() or self.rest.is_zero())
        return bent or self.driven or not (self.damping.is_zero() and self.force.is_zero())

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
        frames=entry.between,
        points=(parameters.vector(entry.points[0]), parameters.vector(entry.points[1])),
        stiffness=number(entry.stiffness),
        rest=number(entry.rest),
        damping=number(entry.damping),
        force=number(cast("Expression", entry.force or ZERO)) if in_time is None else in_time.at(SX(0)),
        driven=entry.force is not None,
        in_time=in_time,
    )
