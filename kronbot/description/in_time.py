"""What a robot file may say of functions of time: forces, moments and torques, numbers or vectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Generic, Literal, TypeVar

from kronbot.description.entries import ZERO, Flag, Quantity, Text, Vector
from kronbot.description.marks import Choice, Field, Tag
from kronbot.records import dataclass

Value = TypeVar("Value")


Column = Annotated[
    Text | None, Field(description="of a file of more columns than two; default: the one that has the name of it")
]


@dataclass(frozen=True)
class _Rows:
    """A table in a file."""  # dataclasses would write one, which takes milliseconds

    file: Annotated[Text, Field(description="path relative to the robot file")]
    steps: Annotated[Flag, Field(description="the value of a row holds until the next row")] = False
    foreign: ClassVar[Mapping[str, str]] = {"type": ": a file needs none"}


@dataclass(frozen=True)
class TimeTable(_Rows):
    """A CSV file of time in s and a value, linear between the rows or in steps."""

    column: Column = None

    def columns(self, name: str) -> tuple[str, ...]:
        """Names of the column that is meant, the first of which a file has."""
        return (name,) if self.column is None else (self.column,)


class VectorTable(_Rows):
    """A CSV file of time in s and three components, linear between the rows or in steps."""


@dataclass(frozen=True)
class _Step(Generic[Value]):
    """Something from one time on."""

    value: Annotated[Value, Field(description="N or N m")]
    begin: Annotated[Quantity, Field(alias="start", description="when it begins, s")] = ZERO
    end: Annotated[Quantity | None, Field(description="when it ends, s; default: never")] = None
    type: Annotated[Literal["step"], Field(description="kind of function of time")] = "step"


class Step(_Step[Quantity]):
    """A value from one time on, up to another if there is one; zero before and after."""


class VectorStep(_Step[Vector]):
    """A vector from one time on, up to another if there is one; zero before and after."""


@dataclass(frozen=True)
class _Sinusoid(Generic[Value]):
    """Something that swings."""

    amplitude: Annotated[Value, Field(description="rad or m of a motion; N or N m")]
    frequency: Annotated[Quantity, Field(description="rad/s")]
    phase: Annotated[Quantity, Field(description="rad")] = ZERO
    offset: Annotated[Value | None, Field(description="as the amplitude; default: 0")] = None
    begin: Annotated[
        Quantity,
        Field(alias="start", description="when it begins, s; before, a motion stands where it begins, a force is zero"),
    ] = ZERO
    type: Annotated[Literal["sinusoid"], Field(description="kind of function of time")] = "sinusoid"


class Sinusoid(_Sinusoid[Quantity]):
    """offset + amplitude sin(frequency t + phase) with t counted from its beginning."""


class VectorSinusoid(_Sinusoid[Vector]):
    """offset + amplitude sin(frequency t + phase) with t counted from its beginning, vectors."""


def _form(value: Any) -> str:
    if isinstance(value, dict):
        return "<file>" if "file" in value else "<mapping>"
    return "<value>"


InTime = Annotated[
    Annotated[Quantity, Tag("<value>")]
    | Annotated[TimeTable, Tag("<file>")]
    | Annotated[Step | Sinusoid, Choice("type"), Tag("<mapping>")],
    Choice(_form),
]
VectorInTime = Annotated[
    Annotated[Vector, Tag("<value>")]
    | Annotated[VectorTable, Tag("<file>")]
    | Annotated[VectorStep | VectorSinusoid, Choice("type"), Tag("<mapping>")],
    Choice(_form),
]
