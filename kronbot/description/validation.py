"""From the node tree of a robot file to frozen dataclasses, read off their types; every mistake at its place.

A misspelt key or word that can mean only one thing is told and mended on the way: what stands there is judged as it was
meant, so that every mistake is found at once and none is told twice.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from itertools import islice
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from kronbot.description.checks.report import Report, called, empty
from kronbot.description.expressions.expression import CONSTANTS
from kronbot.description.foreign import NEEDED, VALUES
from kronbot.description.marks import Check, Choice, Field, Tag
from kronbot.description.scalars import Fault, kind
from kronbot.description.wording import Entries, listing, meant, quote
from kronbot.description.yaml.nodes import Mapping as MappingNode
from kronbot.description.yaml.nodes import Node, Path, Scalar, child, find, plain, renamed, replaced
from kronbot.description.yaml.nodes import Sequence as SequenceNode
from kronbot.records import dataclass

# Parameters among which the nearest to an unknown name is looked for: of thousands it would take seconds.
_SEARCHED = 500


@dataclass(frozen=True)
class Key:
    """A key of a mapping: the field of the dataclass it is for, the type of its value, and what is said of it."""

    field: str
    hint: Any
    required: bool
    default: object
    description: str


def hints_of(described: type) -> dict[str, Any]:
    """The types of the fields of a dataclass; where it is a generic one for some type, with this one."""
    hints = get_type_hints(described, include_extras=True)
    for base in getattr(described, "__orig_bases__", ()):
        held = dict(zip(get_origin(base).__parameters__, get_args(base), strict=True))
        own = {name: getattr(hint, "__parameters__", ()) for name, hint in hints.items()}
        hints |= {name: hints[name][tuple(held[each] for each in names)] for name, names in own.items() if names}
    return hints


@cache
def keys_of(described: type) -> dict[str, Key]:
    """The keys of the mapping that a dataclass stands for, in its order; ``others`` of it names what has all others."""
    hints, keys = hints_of(described), {}
    for entry in (each for each in fields(described) if each.name != getattr(described, "others", "")):
        hint = hints[entry.name]
        said = next((said for said in getattr(hint, "__metadata__", ()) if isinstance(said, Field)), Field(""))
        required = entry.default is MISSING and entry.default_factory is MISSING
        keys[said.alias or entry.name] = Key(entry.name, _without_none(hint), required, entry.default, said.description)
    return keys


@cache
def others_of(described: type) -> dict[str, Any]:
    """The field of a dataclass that has all other keys, and the type of their values; nothing where there are none."""
    name = getattr(described, "others", None)
    if name is None:
        return {}
    return {name: get_args(get_args(get_type_hints(described, include_extras=True)[name])[0])[1]}


def _without_none(hint: Any) -> Any:
    """The type of a key that may be left out: written down it has a value."""
    if get_origin(hint) is Annotated:
        inner, *said = get_args(hint)
        return Annotated[(_without_none(inner), *said)]
    return next(iter(_members(hint))) if _may_be_empty(hint) else hint


def _may_be_empty(hint: Any) -> bool:
    return get_origin(hint) in (Union, types.UnionType) and types.NoneType in get_args(hint)


def _members(union: Any) -> list[Any]:
    return [member for member in get_args(union) if member is not types.NoneType]


def _foreign(made: type, word: str) -> str:
    """What to say of a word that other programs have for something else; nothing of others."""
    return str(getattr(made, "foreign", {}).get(word.casefold().replace("-", "_"), ""))


def _inside(keys: Mapping[str, Key], word: str) -> str:
    """What to say of a word that is a key of mappings under some of the keys; nothing of others."""
    holders = [quote(name) for name, key in keys.items() if word in _keys_under(key.hint)]
    return f": it belongs in {' or '.join(filter(None, (', '.join(holders[:-1]), *holders[-1:])))}" if holders else ""


def _keys_under(hint: Any) -> Iterable[str]:
    """The keys of the mapping that a type stands for; none of another type."""
    inner = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    return keys_of(inner) if isinstance(inner, type) and is_dataclass(inner) else ()


class Validator:
    """Makes instances of dataclasses out of nodes; what is wrong goes to the ``report``, and None in its place.

    ``parameters(root)`` are the values of the parameters for every Check; asked for once, when the keys of the whole
    file are mended.
    """

    def __init__(self, report: Report, parameters: Callable[[Node], Mapping[str, float | None]]) -> None:
        self._report = report
        self._parameters = parameters
        self._values: Mapping[str, float | None] | None = None

    @property
    def values(self) -> Mapping[str, float | None]:
        """Values of the parameters."""
        if self._values is None:
            self._values = self._parameters(self._report.root)
        return self._values

    def read(self, hint: Any, path: Path = ()) -> Any:
        """What a type makes of the value at ``path``, which is there."""
        node = find(self._report.root, path)
        assert node is not None, "the path ends in the tree"
        return self._read(hint, path, node)

    def _read(self, hint: Any, path: Path, node: Node) -> Any:
        if isinstance(node, Scalar) and node.value is None:
            if not _may_be_empty(hint):
                self._report.value(path, empty(path))
            return None
        origin, arguments = get_origin(hint), get_args(hint)
        if origin is Annotated:
            for said in hint.__metadata__:
                if isinstance(said, Check):
                    return self._checked(said, path, node)
                if isinstance(said, Choice):
                    return self._chosen(said, get_args(arguments[0]), path, node)
            return self._read(arguments[0], path, node)
        if origin in (Union, types.UnionType):
            (only,) = _members(hint)
            return self._read(only, path, node)
        if origin is Literal:
            word = self._word(arguments, path, node)
            return word if word in arguments else None
        if origin is dict:
            if isinstance(node, MappingNode):
                return Entries(
                    {key: self._read(arguments[1], (*path, key), each) for key, (_, each) in node.entries.items()}
                )
            self._no_mapping((), path, node)
            return None
        if origin is tuple:
            return self._list(arguments, path, node)
        assert is_dataclass(hint), f"no validator for {hint!r}"
        return self._dataclass(cast("type", hint), path, node)

    def _checked(self, check: Check, path: Path, node: Node) -> object:
        try:
            return check.function(plain(node), self.values)
        except Fault as fault:
            known = filter(str.isidentifier, (*CONSTANTS, *islice(self.values, _SEARCHED)))
            hint = self._report.meant(fault.unknown, known) if fault.unknown else ""
            self._report.value(path, f"{fault}{hint}")
            return None

    def _chosen(self, choice: Choice, members: tuple[Any, ...], path: Path, node: Node) -> Any:
        """The member of a union that is meant, made."""
        if not isinstance(choice.by, str):
            tag = Tag(choice.by(dict.fromkeys(node.entries) if isinstance(node, MappingNode) else plain(node)))
            return self._read(next(member for member in members if tag in member.__metadata__), path, node)
        if not isinstance(node, MappingNode):
            self._no_mapping([key for member in members for key in keys_of(member)], path, node)
            return None
        by_tag = {tag: m for m in members for tag in get_args(keys_of(m)[choice.by].hint.__origin__)}
        place, written = (*path, choice.by), child(node, choice.by)
        if written is None:
            self._report.value(place, f"missing key {quote(choice.by)} in {called(path)}: {', '.join(by_tag)}")
            return None
        member = by_tag.get(str(self._word(tuple(by_tag), place, written)))
        return None if member is None else self.read(member, path)

    def _word(self, allowed: Sequence[str], path: Path, node: Node) -> object:
        """The value, which must be one of some words; mended where one alone can be meant."""
        value = plain(node)
        if value in allowed:
            return value
        if value is None:
            self._report.value(path, empty(path))
            return None
        known = VALUES.get(value.casefold(), "") if isinstance(value, str) else ""
        near = [known] if known in allowed else self._report.near(value, allowed) if isinstance(value, str) else []
        hint = meant(str(value), near[0]) if near else ""
        self._report.value(path, f"{called(path)} must be one of {', '.join(allowed)}; not {kind(value)}{hint}")
        if len(near) != 1:
            return None
        self._report.mend(replaced(self._report.root, path, Scalar(near[0], node.line, node.column)), path)
        return near[0]

    def _no_mapping(self, keys: Iterable[str], path: Path, node: Node) -> None:
        """Another thing stands in the place of a mapping with these keys; of the whole file they are too many."""
        known = f" with keys {listing(dict.fromkeys(keys))}" if keys and path else ""
        self._report.value(path, f"a mapping{known} is wanted here, not {kind(plain(node))}")

    def _list(self, arguments: tuple[Any, ...], path: Path, node: Node) -> tuple[Any, ...]:
        size = 0 if Ellipsis in arguments else len(arguments)
        if not isinstance(node, SequenceNode):
            keys = listing(_keys_under(arguments[0])) if len(path) > 1 and isinstance(arguments[0], type) else ""
            values = f" of {size} values" if size else f" of mappings with keys {keys}" if keys else ""
            cure = f"; {NEEDED[str(path[0])]}" if len(path) == 1 and path[0] in NEEDED else ""
            self._report.value(path, f"a list{values} is wanted here, not {kind(plain(node))}{cure}")
            return ()
        inner = get_args(arguments[0]) if get_origin(arguments[0]) is tuple else ()
        if inner and node.items and not any(isinstance(item, SequenceNode) for item in node.items):
            self._report.value(path, f"a list of lists of {len(inner)} values is wanted here: [[...], ...]")
            return ()
        if size and len(node.items) != size:
            self._report.value(path, f"{size} values are wanted here, not {len(node.items)}")
        return tuple(self._read(arguments[0], (*path, i), item) for i, item in enumerate(node.items[: size or None]))

    def _dataclass(self, made: type, path: Path, node: Node) -> object:
        keys = keys_of(made)
        if not isinstance(node, MappingNode):
            self._no_mapping(keys, path, node)
            return None
        entries = self._mended(made, path, node).entries
        given = [name for name in keys if name in entries]
        content = {keys[name].field: self._read(keys[name].hint, (*path, name), entries[name][1]) for name in given}
        for name, hint in others_of(made).items():
            rest = [word for word in entries if word not in keys]
            content[name] = Entries({word: self._read(hint, (*path, word), entries[word][1]) for word in rest})
        missing = [name for name, key in keys.items() if key.required and name not in entries]
        if not missing:
            return made(**content)
        names = ", ".join(map(quote, missing))
        inside = f" in {called(path)}" if path else ""
        cures = "".join(f"; {NEEDED[name]}" for name in missing if name in NEEDED and not path)
        self._report.value((*path, missing[0]), f"missing key{'s' if len(missing) > 1 else ''} {names}{inside}{cures}")
        return None

    def _mended(self, made: type, path: Path, node: MappingNode) -> MappingNode:
        """The mapping with its unknown keys told, and those put right that can mean only one."""
        keys = keys_of(made)
        if others_of(made):
            return node
        free = [key for key in keys if key not in node.entries]
        for word in [word for word in node.entries if word not in keys]:
            cure = _foreign(made, word)
            near = [] if cure else self._report.near(word, free)
            hint = meant(word, near[0]) if near else cure or _inside(keys, word) or f"; known here: {listing(keys)}"
            self._report.key((*path, word), f"unknown key {quote(word)}{hint}")
            # Of two slips for one key the second one stays.
            if len(near) == 1 and near[0] not in node.entries:
                self._report.mend(renamed(self._report.root, (*path, word), near[0]))
                node = cast("MappingNode", find(self._report.root, path))
        return node
