"""What a robot file may say of massless elements between frames."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from kronbot.description.entries import ZERO, ZEROS, Quantity, Text, Vector
from kronbot.description.in_time import InTime
from kronbot.description.marks import Field
from kronbot.records import dataclass

# Kinds of elements, and the key that makes each what it is.
MAKES: Final[Mapping[str, str]] = {
    "spring": "stiffness", "damper": "damping", "actuator": "force", "tendon": "stiffness",
}  # fmt: skip
# What kinds cannot have, and why not.
_HAS_SPRING: Final = "a {kind} has no {key}: it is a spring that has"
LACKS: Final[Mapping[str, Mapping[str, str]]] = {
    "damper": dict.fromkeys(("stiffness", "rest"), _HAS_SPRING),
    "actuator": dict.fromkeys(("stiffness", "rest"), _HAS_SPRING),
    "tendon": {"force": "a {kind} has no {key}: it pulls as far as it is longer than its rest"},
}
# Names that no element may have: forces at the endpoint are called so.
ELEMENT_WORDS: Final = dict.fromkeys("xyz", "a force at the endpoint (force.x)")


@dataclass(frozen=True)
class Via:
    """A point of a frame that an element goes over: an eye, or a roller without a radius, without friction."""

    frame: Annotated[Text, Field(description="LINK (tip), LINK:root, com:LINK, endpoint, world")]
    point: Annotated[Vector, Field(description="in that frame, m; default: its origin")] = ZEROS


@dataclass(frozen=True)
class Element:
    """A massless spring, damper or actuator between a point of one frame and a point of another, over others.

    It pulls the points together with stiffness (length - rest) + damping (rate of the length) - force; a tendon does so
    while it is longer than its rest, and never pushes.
    """

    name: Annotated[Text, Field(description="name of the element")]
    type: Annotated[Literal["spring", "damper", "actuator", "tendon"], Field(description="kind of element")]
    between: Annotated[
        tuple[Text, Text], Field(description="its two frames: LINK (tip), LINK:root, com:LINK, endpoint, world")
    ]
    points: Annotated[
        tuple[Vector, Vector], Field(description="its ends in these frames, m; default: their origins")
    ] = (ZEROS, ZEROS)
    via: Annotated[
        tuple[Via, ...],
        Field(description="points that it goes over on its way, whose length is its own"),
    ] = ()
    stiffness: Annotated[Quantity, Field(description="N/m")] = ZERO
    rest: Annotated[Quantity, Field(description="length at which the spring is slack, m")] = ZERO
    damping: Annotated[Quantity, Field(description="along the line between the points, N s/m")] = ZERO
    force: Annotated[
        InTime | None,
        Field(description="pushes the points apart, N, or how it changes in time; an input force.NAME"),
    ] = None
