"""The validator's findings in words a user reads, each at its place in the node tree."""

from __future__ import annotations

import re
import types
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from itertools import islice
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from kronbot.description.expressions import CONSTANTS, Expression
from kronbot.description.nodes import Mapping as MappingNode
from kronbot.description.nodes import Node, Path, Scalar, Sequence, child, find, plain
from kronbot.description.report import Report
from kronbot.description.scalars import Fault, kind
from kronbot.description.schema import RobotFile
from kronbot.description.wording import listing, quote

Location = tuple[str | int, ...]

# Parameters among which the nearest to an unknown name is looked for: of thousands it would take seconds.
_SEARCHED = 500


def report_faults(faults: Iterable[Mapping[str, Any]], report: Report) -> None:
    """Put the validator's ``faults`` into ``report``, one line for one mistake."""
    missing: dict[Path, list[str]] = {}
    for fault in faults:
        path, _ = _follow(fault["loc"])
        if fault["type"] == "missing" and isinstance(path[-1], str):
            missing.setdefault(path[:-1], []).append(path[-1])
        elif fault["type"] == "unexpected_keyword_argument":
            _unknown_key(fault["loc"], path, report)
        else:
            _wrong_value(fault, path, report)
    for holder, keys in missing.items():
        names = ", ".join(quote(key) for key in keys)
        inside = f" in {_name(holder)}" if holder else ""
        report.value((*holder, keys[0]), f"missing key{'s' if len(keys) > 1 else ''} {names}{inside}")


def report_empty(root: Node, report: Report) -> None:
    """Refuse every empty value but the parameters declared without one."""

    def walk(node: Node, path: Path) -> None:
        match node:
            case Scalar(value=None) if not (len(path) == 2 and path[0] == "parameters"):
                report.value(path, _empty(path))
            case MappingNode(entries=entries):
                for key, (_, value) in entries.items():
                    walk(value, (*path, key))
            case Sequence(items=items):
                for index, item in enumerate(items):
                    walk(item, (*path, index))

    walk(root, ())


def _name(path: Path) -> str:
    """What a place is called: its key, or the key of its list with the number of the item."""
    if not path:
        return "the file"
    last = path[-1]
    if isinstance(last, str):
        return quote(last)
    holder = next((step for step in reversed(path) if isinstance(step, str)), "list")
    return f"item {last + 1} of {quote(holder)}"


def _empty(path: Path) -> str:
    return f"{_name(path)} is empty: give it a value or take it out"


def _unknown_key(location: Location, path: Path, report: Report) -> None:
    word = str(path[-1])
    _, holders = _follow(location[:-1])
    allowed = [key for holder in holders for key in _fields(holder)]
    present = find(report.root, path[:-1])
    free = [key for key in allowed if child(present, key) is None]
    hint = report.guess(word, free) or f"; known here: {listing(allowed)}"
    report.key(path, f"unknown key {quote(word)}{hint}")


def _wrong_value(fault: Mapping[str, Any], path: Path, report: Report) -> None:
    node = find(report.root, path)
    found = kind(plain(node)) if node is not None else "nothing"
    context = fault.get("ctx", {})
    if isinstance(node, Scalar) and node.value is None:
        report.value(path, _empty(path))
        return
    match fault["type"]:
        case "value_error":
            _fault(context["error"], path, report)
        case "missing":
            _wrong_length(fault["loc"][:-1], report)
        case "too_long":
            _wrong_length(fault["loc"], report)
        case "dataclass_type" | "dict_type" | "model_attributes_type":
            report.value(path, f"a mapping{_of_keys(fault['loc'])} is wanted here, not {found}")
        case "tuple_type":
            report.value(path, f"a list{_of_values(fault['loc'])} is wanted here, not {found}")
        case "literal_error":
            _wrong_word(path, re.findall("'([^']*)'", context["expected"]), report)
        case "union_tag_invalid":
            _wrong_word((*path, "type"), re.findall("'([^']*)'", context["expected_tags"]), report)
        case "union_tag_not_found" if child(node, "type") is None:
            report.value((*path, "type"), f"missing key 'type' in {_name(path)}")
        case "union_tag_not_found":
            _wrong_word((*path, "type"), (), report)
        case _:
            report.value(path, str(fault["msg"]))


def _of_keys(location: Location) -> str:
    """Which keys the mapping at a place has; of the whole file they would be too many."""
    if not location:
        return ""
    _, options = _follow(location)
    keys = [
        key for option in options if _is_mapping(option) and get_origin(option) is not dict for key in _fields(option)
    ]
    return f" with keys {listing(keys)}" if keys else ""


def _of_values(location: Location) -> str:
    """How many values the list at a place has, where that is fixed."""
    _, (wanted, *_) = _follow(location)
    arguments = get_args(wanted)
    return "" if Ellipsis in arguments or not arguments else f" of {len(arguments)} values"


def _fault(fault: ValueError, path: Path, report: Report) -> None:
    hint = ""
    if isinstance(fault, Fault) and fault.unknown:
        parameters = find(report.root, ("parameters",))
        names = parameters.entries if isinstance(parameters, MappingNode) else ()
        hint = report.guess(fault.unknown, (*CONSTANTS, *islice(names, _SEARCHED)))
    report.value(path, f"{fault}{hint}")


def _wrong_word(path: Path, allowed: Iterable[str], report: Report) -> None:
    node = find(report.root, path)
    value = plain(node) if node is not None else None
    if value is None:
        report.value(path, _empty(path))
        return
    hint = report.guess(value, allowed) if isinstance(value, str) else ""
    words = f"must be one of {', '.join(allowed)}" if allowed else "must be text"
    report.value(path, f"{_name(path)} {words}; not {kind(value)}{hint}")


def _wrong_length(location: Location, report: Report) -> None:
    path, (wanted, *_) = _follow(location)
    node = find(report.root, path)
    found = len(node.items) if isinstance(node, Sequence) else 0
    report.value(path, f"{len(get_args(wanted))} values are wanted here, not {found}")


@cache
def _fields(described: type) -> dict[str, Any]:
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


def _is_mapping(option: Any) -> bool:
    return get_origin(option) is dict or (is_dataclass(option) and option is not Expression)


def _members(options: list[Any], tag: str | int) -> list[Any]:
    """The members of a union that a tag of the schema means."""
    match tag:
        case "<mapping>":
            return [option for option in options if _is_mapping(option)]
        case "<list>":
            return [option for option in options if get_origin(option) is tuple]
        case "<value>":
            return [option for option in options if not _is_mapping(option) and get_origin(option) is not tuple]
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
        elif _is_mapping(option):
            inner += _options(_fields(option).get(str(step), types.NoneType))
    return inner


def _follow(location: Location) -> tuple[Path, list[Any]]:
    """The path of a validator's location, which names also the members of unions, and the types that stand there."""
    options: list[Any] = [RobotFile]
    path: list[str | int] = []
    for step in location:
        members = _members(options, step) if len(options) > 1 else []
        if not members:
            path.append(step)
        options = members or _step(options, step)
    return tuple(path), options
