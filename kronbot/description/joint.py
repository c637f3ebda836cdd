"""What a robot file may say of a joint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Final, Literal

from kronbot.description import foreign, scalars
from kronbot.description.coupling import Coupling
from kronbot.description.entries import ONE, ZERO, Quantity, Text
from kronbot.description.expressions.expression import parse
from kronbot.description.marks import Check, Field
from kronbot.records import dataclass

# Axes about which a bearing may tilt.
TILTS: Final = ("x", "y")

Combination = Annotated[Coupling, Check(scalars.combination)]


@dataclass(frozen=True)
class Shaft:
    """What yields between a motor and its link, a gear or a drive shaft, seen from the joint side of the gear.

    It has a stiffness or a compliance.
    """

    stiffness: Annotated[Quantity | None, Field(description="N m/rad (revolute) or N/m (prismatic)")] = None
    compliance: Annotated[
        Quantity | None, Field(description="in its place, rad/(N m) or m/N; 0 is rigid, below only for statics")
    ] = None
    damping: Annotated[Quantity, Field(description="N m s (revolute) or N s/m (prismatic)")] = ZERO
    foreign: ClassVar[Mapping[str, str]] = foreign.SHAFT


@dataclass(frozen=True)
class AcrossAxis:
    """Values about x and y of a bearing, whose axes do not turn with the joint."""

    x: Annotated[
        Quantity | None, Field(description="N m/rad (stiffness), rad/(N m) (compliance) or N m s (damping)")
    ] = None
    y: Annotated[
        Quantity | None, Field(description="N m/rad (stiffness), rad/(N m) (compliance) or N m s (damping)")
    ] = None


@dataclass(frozen=True)
class Bearing:
    """What lets a joint tilt across its axis; an axis without stiffness and compliance is rigid."""

    stiffness: Annotated[AcrossAxis, Field(description="about x and y, N m/rad")] = AcrossAxis()
    compliance: Annotated[
        AcrossAxis, Field(description="about axes without stiffness, rad/(N m); 0 is rigid, below only for statics")
    ] = AcrossAxis()
    damping: Annotated[AcrossAxis, Field(description="about x and y, N m s")] = AcrossAxis()

    @property
    def axes(self) -> tuple[str, ...]:
        """Names of the axes about which it yields."""
        known = (self.stiffness, self.compliance)
        return tuple(axis for axis in TILTS if any(getattr(each, axis) is not None for each in known))


@dataclass(frozen=True)
class Spring:
    """A spring that pulls a joint back to its rest."""

    stiffness: Annotated[Quantity, Field(description="N m/rad (revolute) or N/m (prismatic)")]
    rest: Annotated[Quantity, Field(description="coordinate where it is slack, rad or m")] = ZERO


@dataclass(frozen=True)
class Stops:
    """What pushes a joint back beyond its limits: stiffness d + damping (rate of d) at a depth d, never pulling."""

    stiffness: Annotated[Quantity, Field(description="N m/rad (revolute) or N/m (prismatic)")]
    damping: Annotated[Quantity, Field(description="N m s (revolute) or N s/m (prismatic)")] = ZERO


@dataclass(frozen=True)
class Friction:
    """Dry friction (F_c + (F_s - F_c) exp(-(qd/v_s)^2)) tanh(qd/smoothing): it creeps where a real joint sticks."""

    coulomb: Annotated[Quantity, Field(description="F_c, N m (revolute) or N (prismatic)")]
    static: Annotated[Quantity | None, Field(description="F_s, N m or N; default: coulomb; with stribeck_rate")] = None
    stribeck_rate: Annotated[Quantity | None, Field(description="v_s, rad/s or m/s; with static")] = None
    smoothing: Annotated[
        Quantity, Field(description="rate at which friction is three quarters of it, rad/s or m/s")
    ] = parse("1e-3")
    foreign: ClassVar[Mapping[str, str]] = foreign.FRICTION


@dataclass(frozen=True)
class Joint:
    """How a link moves against its parent. Torque, damping and limits are on the joint side of the gear.

    With ``elastic`` the motor has a coordinate of its own: torque, damping and rotor act there, spring and limits on
    the link.
    """

    type: Annotated[Literal["revolute", "prismatic", "fixed"], Field(description="kind of motion, about or along z")]
    name: Annotated[Text | None, Field(description="name of the joint and of its coordinate; none for fixed")] = None
    damping: Annotated[Quantity, Field(description="viscous damping, N m s (revolute) or N s/m (prismatic)")] = ZERO
    rotor_inertia: Annotated[Quantity, Field(description="inertia on the motor side, kg m^2 (prismatic: kg)")] = ZERO
    gear: Annotated[Quantity, Field(description="motor turns per joint turn; not 0")] = ONE
    limits: Annotated[tuple[Quantity, Quantity] | None, Field(description="smallest and largest coordinate")] = None
    stops: Annotated[Stops | None, Field(description="what pushes back at the limits; of the link")] = None
    elastic: Annotated[Shaft | None, Field(description="what yields between the motor and the link")] = None
    bearing: Annotated[Bearing | None, Field(description="what lets the joint tilt across its axis")] = None
    spring: Annotated[Spring | None, Field(description="a spring between parent and link")] = None
    friction: Annotated[Friction | None, Field(description="dry friction; of the motor where there is a shaft")] = None
    follows: Annotated[
        Combination | None, Field(description="a linear expression of other joints, in place of a drive")
    ] = None
    foreign: ClassVar[Mapping[str, str]] = foreign.JOINT
