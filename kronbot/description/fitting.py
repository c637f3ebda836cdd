"""What a robot file may say of a fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, ClassVar

from kronbot.description import foreign, scalars
from kronbot.description.choices import Fitted, Initial, Loss
from kronbot.description.entries import Quantity, Text
from kronbot.description.marks import Check, Field
from kronbot.description.sweeping import Word, Words
from kronbot.description.wording import Entries
from kronbot.records import dataclass


@dataclass(frozen=True)
class Estimated:
    """What is known of a parameter before it is fitted."""

    least: Annotated[Quantity | None, Field(alias="from", description="lower bound")] = None
    most: Annotated[Quantity | None, Field(alias="to", description="upper bound")] = None
    prior: Annotated[tuple[Quantity, Quantity] | None, Field(description="mean and standard deviation")] = None
    foreign: ClassVar[Mapping[str, str]] = foreign.ESTIMATED


@dataclass(frozen=True)
class Fit:
    """What ``fit`` asks unless told otherwise; its options go before these."""

    question: Annotated[Fitted, Field(description="what was measured")] = "statics"
    data: Annotated[Text | None, Field(description="CSV file, relative to the robot file")] = None
    columns: Annotated[dict[str, Word], Field(description="by name: an expression of the data's columns")] = field(
        default_factory=Entries
    )
    parameters: Annotated[dict[str, Estimated | None], Field(description="what is fitted; default: all numbers")] = (
        field(default_factory=Entries)
    )
    sigma: Annotated[dict[str, Quantity], Field(description="by column or prefix of columns")] = field(
        default_factory=Entries
    )
    offset: Annotated[dict[str, Quantity], Field(description="what sensors add, by column or prefix")] = field(
        default_factory=Entries
    )
    delay: Annotated[dict[str, Quantity], Field(description="how late they are in motions, s, likewise")] = field(
        default_factory=Entries
    )
    only: Annotated[Words, Field(description="measured columns that are fitted")] = ()
    fix: Annotated[Words, Field(description="parameters that stay as they are")] = ()
    validate: Annotated[Word | None, Field(description="rows that are not fitted: a file, or a share")] = None
    initial: Annotated[Initial, Field(description="where joints begin in records of motions")] = "rows"
    differentiate: Annotated[
        Quantity | None, Field(description="cut-off, Hz, of what makes rates and accelerations of dynamics from q")
    ] = None
    loss: Annotated[Loss, Field(description="how large errors count")] = "linear"
    starts: Annotated[int, Check(scalars.whole), Field(description="searches from drawn places")] = 1
    seed: Annotated[int, Check(scalars.whole), Field(description="of what is drawn")] = 0
    steps: Annotated[int, Check(scalars.whole), Field(description="most steps of a search")] = 200
    foreign: ClassVar[Mapping[str, str]] = foreign.FIT
