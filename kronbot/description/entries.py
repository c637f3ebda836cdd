"""Kinds of entries of a robot file, as types that the validator reads."""

from __future__ import annotations

from typing import Annotated, Final

from kronbot.description import scalars
from kronbot.description.expressions.expression import Expression, parse
from kronbot.description.marks import Check

ZERO: Final = parse("0")
ONE: Final = parse("1")
ZEROS: Final = (ZERO, ZERO, ZERO)
Quantity = Annotated[Expression, Check(scalars.quantity)]
Definition = Annotated[Expression, Check(scalars.expression)]
Text = Annotated[str, Check(scalars.text)]
Name = Annotated[str, Check(scalars.name)]
Prose = Annotated[str, Check(scalars.prose)]
Count = Annotated[int, Check(scalars.count)]
Flag = Annotated[bool, Check(scalars.flag)]
Vector = tuple[Quantity, Quantity, Quantity]
