"""What a robot file may say of the motions of its joints."""

from __future__ import annotations

from typing import Annotated, Literal

from kronbot.description import scalars
from kronbot.description.choices import ShaperType
from kronbot.description.entries import ZERO, Flag, Quantity, Text
from kronbot.description.expressions.expression import parse
from kronbot.description.in_time import Column, Sinusoid
from kronbot.description.marks import LIST_OR_VALUE, MAPPING_OR_VALUE, Check, Choice, Field, Tag
from kronbot.records import dataclass

Begin = Annotated[Quantity, Field(alias="start", description="when it begins, s; before, it stands where it begins")]


@dataclass(frozen=True)
class Shaper:
    """Impulses that a motion is convolved with, so that it leaves no vibration of one frequency."""

    type: Annotated[ShaperType, Field(description="kind of input shaper")]
    frequency: Annotated[Quantity, Field(description="natural frequency of the mode, rad/s")]
    damping: Annotated[Quantity, Field(description="damping ratio of the mode")] = ZERO
    tolerance: Annotated[Quantity, Field(description="vibration that ei and 2hump_ei leave, a share")] = parse("0.05")


Shaping = Annotated[
    Annotated[Annotated[Shaper, Tag("<value>")] | Annotated[tuple[Shaper, ...], Tag("<list>")], LIST_OR_VALUE] | None,
    Field(description="an input shaper, or several, one for each mode"),
]


@dataclass(frozen=True)
class Cycloidal:
    """q = k (t - T/pi sin(pi t/T)) for all t, or from + (to - from) (t/T - sin(2 pi t/T)/(2 pi)), held outside."""

    rate: Annotated[Quantity | None, Field(description="mean rate k, rad/s or m/s; with half_period")] = None
    half_period: Annotated[Quantity | None, Field(description="T of the first form, s; with rate")] = None
    start: Annotated[Quantity | None, Field(alias="from", description="first value, rad or m; with to, duration")] = (
        None
    )
    end: Annotated[Quantity | None, Field(alias="to", description="last value, rad or m; with from, duration")] = None
    duration: Annotated[Quantity | None, Field(description="T of the second form, s; with from, to")] = None
    begin: Begin = ZERO
    shaper: Shaping = None
    type: Annotated[Literal["cycloidal"], Field(description="kind of motion")] = "cycloidal"


@dataclass(frozen=True)
class SpinUp:
    """The rate grows as Omega (t/T - sin(2 pi t/T)/(2 pi)) up to T and is Omega afterwards."""

    rate: Annotated[Quantity, Field(description="final rate Omega, rad/s or m/s")]
    duration: Annotated[Quantity, Field(description="T, s")]
    begin: Begin = ZERO
    type: Annotated[Literal["spin-up"], Field(description="kind of motion")] = "spin-up"


@dataclass(frozen=True)
class PolynomialMotion:
    """From one value to another at rest, cubic or quintic; held afterwards."""

    start: Annotated[Quantity, Field(alias="from", description="first value, rad or m")]
    end: Annotated[Quantity, Field(alias="to", description="last value, rad or m")]
    duration: Annotated[Quantity, Field(description="s")]
    degree: Annotated[int, Check(scalars.degree), Field(description="3 or 5")]
    begin: Begin = ZERO
    shaper: Shaping = None
    type: Annotated[Literal["polynomial"], Field(description="kind of motion")] = "polynomial"


@dataclass(frozen=True)
class Trapezoid:
    """From one value to another, the rate growing evenly, constant, and falling evenly; held afterwards.

    Two of duration, rate and acceleration say how, or the duration alone: then a third of it each.
    """

    start: Annotated[Quantity, Field(alias="from", description="first value, rad or m")]
    end: Annotated[Quantity, Field(alias="to", description="last value, rad or m")]
    duration: Annotated[Quantity | None, Field(description="s; without it as fast as the other two allow")] = None
    rate: Annotated[Quantity | None, Field(description="largest rate, rad/s or m/s")] = None
    acceleration: Annotated[Quantity | None, Field(description="of the ramps, rad/s^2 or m/s^2")] = None
    begin: Begin = ZERO
    shaper: Shaping = None
    type: Annotated[Literal["trapezoid"], Field(description="kind of motion")] = "trapezoid"


@dataclass(frozen=True)
class ViaPoints:
    """A cubic spline through points, C2, at rest at the first and the last of them, where it stands outside."""

    through: Annotated[tuple[tuple[Quantity, Quantity], ...], Field(description="[time in s, value in rad or m], ...")]
    begin: Begin = ZERO
    shaper: Shaping = None
    type: Annotated[Literal["via-points"], Field(description="kind of motion")] = "via-points"


@dataclass(frozen=True)
class TableMotion:
    """A cubic spline through the rows of a CSV file: time in s, coordinate in rad or m."""

    file: Annotated[Text, Field(description="path relative to the robot file")]
    periodic: Annotated[Flag, Field(description="the rows are one period; the last is the first again")] = False
    held: Annotated[Flag, Field(description="it is at rest at both ends, and stands there outside")] = False
    column: Column = None
    begin: Begin = ZERO
    type: Annotated[Literal["table"], Field(description="kind of motion")] = "table"


Motion = Annotated[
    Annotated[Quantity, Tag("<value>"), Field(description="where it stands, rad or m")]
    | Annotated[
        Cycloidal | SpinUp | PolynomialMotion | Trapezoid | ViaPoints | Sinusoid | TableMotion,
        Choice("type"),
        Tag("<mapping>"),
    ],
    MAPPING_OR_VALUE,
]
