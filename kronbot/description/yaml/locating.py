"""From a place in the validator's words to the place in the file, and to the types that may stand there."""

from __future__ import annotations

import types
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from kronbot.description.expressions.expression import Expression
from kronbot.description.schema import RobotFile
from kronbot.description.yaml.nodes import Path

Location = tuple[str | int, ...]


def follow(location: Location) -> tuple[Path, list[Any]]:
    """The path of a validator's location, which names also the members of unions, and the types that stand there."""
    options: list[Any] = [RobotFile]
    path: list[str | int] = []
    for step in location:
        members = _members(options, step) if len(options) > 1 else []
        if not members:
            path.append(step)
        options = members or _step(options, step)
    return tuple(path), options


@cache
def keys_of(described: type) -> dict[str, Any]:
    """Types of a dataclass by the key in the file (which an alias may rename)."""
    hints = get_type_hints(described, include_extras=True)
    result = {}
    for item in fields(described):
        metadata = getattr(hints[item.name], "__metadata__", ())
        alias = next((entry.alias for entry in metadata if getattr(entry, "alias", None)), item.name)
        result[alias] = hints[item.name]
    return result


def _options(hint: Any) -> list[Any]:
    """The plain types a hint stands for; that a key may be left out does not count."""
    origin = get_origin(hint)
    if origin is Annotated:
        return _options(get_args(hint)[0])
    if origin in (Union, types.UnionType):
        return [option for argument in get_args(hint) for option in _options(argument)]
    return [] if hint is types.NoneType else [hint]


def is_mapping(option: Any) -> bool:
    """Whether a type is that of a mapping in the file."""
    return get_origin(option) is dict or (is_dataclass(option) and option is not Expression)


def _members(options: list[Any], tag: str | int) -> list[Any]:
    """The members of a union that a tag of the schema means."""
    match tag:
        case "<mapping>":
            return [option for option in options if is_mapping(option)]
        case "<list>":
            return [option for option in options if get_origin(option) is tuple]
        case "<value>":
            return [option for option in options if not is_mapping(option) and get_origin(option) is not tuple]
        case _:
            return [option for option in options if getattr(option, "type", None) == tag]


def _step(options: list[Any], step: str | int) -> list[Any]:
    inner: list[Any] = []
    for option in options:
        origin, arguments = get_origin(option), get_args(option)
        if origin is dict:
            inner += _options(arguments[1])
        elif origin is tuple:
            inner += _options(arguments[0])
        elif is_mapping(option):
            inner += _options(keys_of(option).get(str(step), types.NoneType))
    return inner
