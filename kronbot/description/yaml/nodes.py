"""The node tree of a robot file: every value with its line and column, and ways to a place in it."""

from __future__ import annotations

from typing import Final

from kronbot.description.expressions.expression import Number
from kronbot.description.wording import Entries
from kronbot.records import dataclass


class Refused:
    """Stands where a value was refused and reported while reading (an alias), so that nobody reports it again."""

    def __repr__(self) -> str:
        return "REFUSED"


REFUSED: Final = Refused()

Path = tuple[str | int, ...]
Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Scalar:
    """A single value; line and column count from 1."""

    value: str | Number | bool | Refused | None
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Sequence:
    """A list of nodes."""

    items: tuple[Node, ...]
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Mapping:
    """Nodes by key, each with the node of the key; a block mapping stands where its first key stands."""

    entries: dict[str, tuple[Scalar, Node]]
    line: int
    column: int

    def __post_init__(self) -> None:
        """Make it read-only."""
        object.__setattr__(self, "entries", Entries(self.entries))


Node = Scalar | Sequence | Mapping


def child(node: Node | None, step: str | int) -> Node | None:
    """The value under a key or index, or None where there is none."""
    if isinstance(node, Mapping):
        entry = node.entries.get(step)  # type: ignore[arg-type]
        return None if entry is None else entry[1]
    if isinstance(node, Sequence) and isinstance(step, int) and 0 <= step < len(node.items):
        return node.items[step]
    return None


def find(root: Node, path: Path) -> Node | None:
    """The node at ``path`` (keys and indices), or None."""
    node: Node | None = root
    for step in path:
        node = child(node, step)
    return node


def replaced(root: Node, path: Path, value: Node) -> Node:
    """The tree with another value at ``path``, which is there."""
    if not path:
        return value
    step, inner = path[0], child(root, path[0])
    assert inner is not None, "the path ends in the tree"
    changed = replaced(inner, path[1:], value)
    if isinstance(root, Mapping):
        key = root.entries[str(step)][0]
        return Mapping({**root.entries, str(step): (key, changed)}, root.line, root.column)
    assert isinstance(root, Sequence), "a scalar holds nothing"
    items = (changed if i == step else item for i, item in enumerate(root.items))
    return Sequence(tuple(items), root.line, root.column)


def renamed(root: Node, path: Path, key: str) -> Node:
    """The tree with another name for the last key of ``path``, at its place."""
    holder = find(root, path[:-1])
    assert isinstance(holder, Mapping), "the key is in the tree"
    entries = {key if name == path[-1] else name: entry for name, entry in holder.entries.items()}
    return replaced(root, path[:-1], Mapping(entries, holder.line, holder.column))


def place_of_value(root: Node, path: Path) -> Place:
    """Line and column of the value at ``path``; where it is missing, of the key that should hold it, or of the item."""
    node, holder = root, root
    for step in path:
        inner = child(node, step)
        if inner is None:
            break
        # A block mapping stands where its first key stands, which has nothing to do with a key it lacks.
        holder = node.entries[str(step)][0] if isinstance(node, Mapping) else inner
        node = inner
    else:
        return node.line, node.column
    return holder.line, holder.column


def place_of_key(root: Node, path: Path) -> Place:
    """Line and column of the last key of ``path``; of the value where that is no key in the file."""
    holder = find(root, path[:-1])
    if isinstance(holder, Mapping) and path[-1] in holder.entries:
        key = holder.entries[str(path[-1])][0]
        return key.line, key.column
    return place_of_value(root, path)


def plain(node: Node) -> object:
    """The value of a scalar, an empty dict or list for a mapping or a list: of these only the kind is asked for."""
    match node:
        case Mapping():
            return {}
        case Sequence():
            return []
        case Scalar(value=value):
            return value
