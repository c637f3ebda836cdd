"""What a robot file may say of forces that act from outside in a simulation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Final, Literal

from kronbot.description.entries import ZERO, ZEROS, Flag, Quantity, Text, Vector
from kronbot.description.validation import Choice, Field, Tag


@dataclass(frozen=True)
class VectorTable:
    """A CSV file of time in s and three components, linear between the rows or in steps."""

    file: Annotated[Text, Field(description="path relative to the robot file")]
    steps: Annotated[Flag, Field(description="the values of a row hold until the next row")] = False
    foreign: ClassVar[Mapping[str, str]] = {"type": ": a file needs none"}


@dataclass(frozen=True)
class VectorStep:
    """A vector from one time on, up to another if there is one; zero before and after."""

    value: Annotated[Vector, Field(description="x, y, z, N or N m")]
    begin: Annotated[Quantity, Field(alias="start", description="when it begins, s")] = ZERO
    end: Annotated[Quantity | None, Field(description="when it ends, s; default: never")] = None
    type: Annotated[Literal["step"], Field(description="kind of function of time")] = "step"


@dataclass(frozen=True)
class VectorSinusoid:
    """offset + amplitude sin(frequency t + phase) with t counted from its beginning; zero before."""

    amplitude: Annotated[Vector, Field(description="x, y, z, N or N m")]
    frequency: Annotated[Quantity, Field(description="rad/s")]
    phase: Annotated[Quantity, Field(description="rad")] = ZERO
    offset: Annotated[Vector, Field(description="x, y, z, N or N m")] = ZEROS
    begin: Annotated[Quantity | None, Field(alias="start", description="when it begins, s; default: before t = 0")] = (
        None
    )
    type: Annotated[Literal["sinusoid"], Field(description="kind of function of time")] = "sinusoid"


def _form(value: Any) -> str:
    if isinstance(value, dict):
        return "<file>" if "file" in value else "<mapping>"
    return "<list>"


InTime = Annotated[
    Annotated[Vector, Tag("<list>")]
    | Annotated[VectorTable, Tag("<file>")]
    | Annotated[VectorStep | VectorSinusoid, Choice("type"), Tag("<mapping>")],
    Choice(_form),
]
NOTHING: Final = ZEROS


@dataclass(frozen=True)
class Push:
    """A force and a moment on a frame, in time; constant, from a table, a step or a sinusoid."""

    frame: Annotated[Text, Field(description="endpoint, LINK (its tip frame), LINK:root or com:LINK")]
    force: Annotated[InTime, Field(description="x, y, z in N, or how they change in time")] = NOTHING
    moment: Annotated[InTime, Field(description="x, y, z in N m, or how they change in time")] = NOTHING
    axes: Annotated[Literal["base", "body"], Field(description="of the base, or of the frame as it turns")] = "base"
    at: Annotated[Vector, Field(description="where the force acts, from the frame's origin in its axes, m")] = ZEROS
