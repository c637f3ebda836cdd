"""The same file in which every number is one of its own, whatever numbers it equals elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from itertools import count
from typing import TypeVar

from kronbot.description.expressions.expression import Expression
from kronbot.description.schema import RobotFile
from kronbot.description.wording import Entries

Said = TypeVar("Said")


def placed(file: RobotFile) -> RobotFile:
    """The file with a place in each expression that says something of the robot and its motion."""
    places = count()
    parts = {
        word: _placed(getattr(file, word), places)
        for word in ("gravity", "base", "links", "elements", "endpoint", "motion")
    }
    return replace(file, **parts)


def _placed(said: Said, places: Iterator[int]) -> Said:
    if isinstance(said, Expression):
        return replace(said, place=(next(places), 0))
    if isinstance(said, tuple):
        return tuple(_placed(each, places) for each in said)  # type: ignore[return-value]
    if isinstance(said, Mapping):
        return Entries({key: _placed(each, places) for key, each in said.items()})  # type: ignore[return-value]
    if is_dataclass(said) and not isinstance(said, type):
        return replace(said, **{each.name: _placed(getattr(said, each.name), places) for each in fields(said)})
    return said
