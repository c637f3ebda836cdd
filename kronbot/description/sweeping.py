"""What a robot file may say of a sweep: texts as somebody would write them behind options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, ClassVar

from kronbot.description import foreign, scalars
from kronbot.description.choices import Swept
from kronbot.description.marks import LIST_OR_VALUE, Check, Field, Tag
from kronbot.description.wording import Entries
from kronbot.records import dataclass

Word = Annotated[str, Check(scalars.word)]
Words = Annotated[Annotated[Word, Tag("<value>")] | Annotated[tuple[Word, ...], Tag("<list>")], LIST_OR_VALUE]


@dataclass(frozen=True)
class Sweep:
    """What ``sweep`` asks unless told otherwise; its options go before these."""

    question: Annotated[Swept, Field(description="the command that is asked in every case")]
    options: Annotated[dict[str, Words], Field(description="of the question, by their long names")] = field(
        default_factory=Entries
    )
    over: Annotated[dict[str, Words], Field(description="by name: from:to:N, a list, or a distribution")] = field(
        default_factory=Entries
    )
    cases: Annotated[dict[str, tuple[Word, ...]], Field(description="columns of values that go together")] = field(
        default_factory=Entries
    )
    sample: Annotated[int | None, Check(scalars.whole), Field(description="how many draws of distributions")] = None
    seed: Annotated[int, Check(scalars.whole), Field(description="of the draws")] = 0
    indices: Annotated[bool, Check(scalars.flag), Field(description="Sobol indices of the draws")] = False
    keep: Annotated[Words, Field(description="columns, like max(abs(tip.arm.y)); default: usual ones")] = ()
    foreign: ClassVar[Mapping[str, str]] = foreign.SWEEP
