"""What the types of a robot file's entries say beyond Python's, for the validator and the JSON Schema to read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from kronbot.records import dataclass


@dataclass(frozen=True)
class Field:
    """What a key means, and its name in the file where that is no name in Python."""

    description: str
    alias: str = ""


@dataclass(frozen=True)
class Check:
    """A value is what ``function(value, parameters)`` makes of it; where it is wrong that raises Fault."""

    function: Callable[[Any, Mapping[str, float | None]], object]


@dataclass(frozen=True)
class Tag:
    """The name of one member of a union."""

    name: str


@dataclass(frozen=True)
class Choice:
    """Which member of a union is meant: the tag that ``by`` finds for the value (a mapping without its values, a list
    without its items), or the content of the key ``by``.
    """

    by: str | Callable[[Any], str]


# Told by the kind in YAML; the tags are no keys of the format.
LIST_OR_VALUE: Final = Choice(lambda value: "<list>" if isinstance(value, list) else "<value>")
MAPPING_OR_VALUE: Final = Choice(lambda value: "<mapping>" if isinstance(value, dict) else "<value>")
