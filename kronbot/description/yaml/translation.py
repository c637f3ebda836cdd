"""The validator's findings in words a user reads, each at its place in the node tree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, get_args, get_origin

from kronbot.description.checks.report import Report, called, empty
from kronbot.description.checks.slips import slip_of
from kronbot.description.expressions.expression import CONSTANTS
from kronbot.description.scalars import Fault, kind
from kronbot.description.wording import listing, quote
from kronbot.description.yaml.locating import Location, follow, is_mapping, keys_of
from kronbot.description.yaml.nodes import Mapping as MappingNode
from kronbot.description.yaml.nodes import Node, Path, Scalar, Sequence, child, find, plain

# Parameters among which the nearest to an unknown name is looked for: of thousands it would take seconds.
_SEARCHED = 500


def report_faults(faults: Iterable[Mapping[str, Any]], report: Report) -> None:
    """Put the validator's ``faults`` into ``report``, one line for one mistake."""
    missing: dict[Path, list[str]] = {}
    faults = list(faults)
    flat = _flat_lists(faults, report)
    for fault in faults:
        path, _ = follow(fault["loc"])
        if path[:-1] in flat:
            report.value(path[:-1], f"a list of lists{_of_values(fault['loc'])} is wanted here: [[...], ...]")
            continue
        if fault["type"] == "missing" and isinstance(path[-1], str):
            missing.setdefault(path[:-1], []).append(path[-1])
        elif slip := slip_of(fault, report):
            slip.tell(report)
        else:
            _wrong_value(fault, path, report)
    for holder, keys in missing.items():
        names = ", ".join(quote(key) for key in keys)
        inside = f" in {called(holder)}" if holder else ""
        report.value((*holder, keys[0]), f"missing key{'s' if len(keys) > 1 else ''} {names}{inside}")


def _flat_lists(faults: Iterable[Mapping[str, Any]], report: Report) -> set[Path]:
    """Lists of values in the place of lists of lists: [0, 1, 0] for [[0, 1, 0]]."""
    flat: dict[Path, int] = {}
    for fault in faults:
        path, _ = follow(fault["loc"])
        if fault["type"] == "tuple_type" and path and isinstance(path[-1], int):
            flat[path[:-1]] = flat.get(path[:-1], 0) + 1
    return {
        path
        for path, count in flat.items()
        if isinstance(node := find(report.root, path), Sequence) and count == len(node.items)
    }


def report_empty(root: Node, report: Report) -> None:
    """Refuse every empty value but the parameters declared without one."""

    def walk(node: Node, path: Path) -> None:
        match node:
            case Scalar(value=None) if not (len(path) == 2 and path[0] == "parameters"):
                report.value(path, empty(path))
            case MappingNode(entries=entries):
                for key, (_, value) in entries.items():
                    walk(value, (*path, key))
            case Sequence(items=items):
                for index, item in enumerate(items):
                    walk(item, (*path, index))

    walk(root, ())


def _wrong_value(fault: Mapping[str, Any], path: Path, report: Report) -> None:
    node = find(report.root, path)
    found = kind(plain(node)) if node is not None else "nothing"
    context = fault.get("ctx", {})
    if isinstance(node, Scalar) and node.value is None:
        report.value(path, empty(path))
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
        case "union_tag_not_found" if child(node, "type") is None:
            report.value((*path, "type"), f"missing key 'type' in {called(path)}")
        case "union_tag_not_found":
            tag = (*path, "type")
            value = plain(find(report.root, tag))
            report.value(tag, empty(tag) if value is None else f"'type' must be text; not {kind(value)}")
        case _:
            report.value(path, str(fault["msg"]))


def _of_keys(location: Location) -> str:
    """Which keys the mapping at a place has; of the whole file they would be too many."""
    if not location:
        return ""
    _, options = follow(location)
    keys = [
        key for option in options if is_mapping(option) and get_origin(option) is not dict for key in keys_of(option)
    ]
    return f" with keys {listing(keys)}" if keys else ""


def _of_values(location: Location) -> str:
    """How many values the list at a place has, where that is fixed."""
    _, (wanted, *_) = follow(location)
    arguments = get_args(wanted)
    return "" if Ellipsis in arguments or not arguments else f" of {len(arguments)} values"


def _fault(fault: ValueError, path: Path, report: Report) -> None:
    hint = ""
    if isinstance(fault, Fault) and fault.unknown:
        parameters = find(report.root, ("parameters",))
        names = parameters.entries if isinstance(parameters, MappingNode) else ()
        hint = report.guess(fault.unknown, (*CONSTANTS, *islice(names, _SEARCHED)))
    report.value(path, f"{fault}{hint}")


def _wrong_length(location: Location, report: Report) -> None:
    path, (wanted, *_) = follow(location)
    node = find(report.root, path)
    found = len(node.items) if isinstance(node, Sequence) else 0
    report.value(path, f"{len(get_args(wanted))} values are wanted here, not {found}")
