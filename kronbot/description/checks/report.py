"""Collecting what is wrong with a robot file, by place, and looking at its node tree without trusting it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kronbot.description.expressions.expression import ExpressionError, Number, evaluate, parse
from kronbot.description.mistakes import Mistakes
from kronbot.description.wording import quote
from kronbot.description.yaml.nodes import (
    REFUSED,
    Node,
    Path,
    Place,
    Scalar,
    Sequence,
    child,
    find,
    place_of_key,
    place_of_value,
)
from kronbot.description.yaml.nodes import Mapping as MappingNode
from kronbot.errors import Mistake
from kronbot.records import dataclass


def called(path: Path) -> str:
    """What a place is called: its key, or the key of its list with the number of the item."""
    if not path:
        return "the file"
    last = path[-1]
    if isinstance(last, str):
        return quote(last)
    holder = next((step for step in reversed(path) if isinstance(step, str)), "list")
    return f"item {last + 1} of {quote(holder)}"


def empty(path: Path) -> str:
    """That nothing stands at a place where something must."""
    return f"{called(path)} is empty: give it a value or take it out"


class Report(Mistakes):
    """Mistakes and warnings of one file. One path is reported once: the first message stands.

    ``root`` is the node tree, in which slips may be mended.
    """

    def __init__(self, name: str, root: Node, mistakes: Iterable[Mistake] = ()) -> None:
        super().__init__(name, mistakes)
        self.root = root
        self.warnings: list[Mistake] = []
        self._paths: set[Path] = set()

    def value(self, path: Path, message: str) -> None:
        """The value at ``path`` is wrong; where it is missing, the key of its mapping is the place."""
        self._add(path, place_of_value(self.root, path), message)

    def key(self, path: Path, message: str) -> None:
        """The last key of ``path`` is wrong."""
        self._add(path, place_of_key(self.root, path), message)

    def warn(self, path: Path, message: str) -> None:
        """The value at ``path`` is allowed but looks wrong."""
        self.warnings.append(Mistake(*place_of_value(self.root, path), message, self.file))

    def knows(self, path: Path) -> bool:
        """Whether ``path`` is reported already, or was refused while reading."""
        if not self.found:
            return False
        node = find(self.root, path)
        return path in self._paths or (isinstance(node, Scalar) and node.value is REFUSED)

    def mend(self, root: Node, path: Path | None = None) -> None:
        """Go on with another tree; what else is wrong at ``path`` is another mistake than what was reported there."""
        self.root = root
        if path is not None:
            self._paths.discard(path)

    def _add(self, path: Path, place: Place, message: str) -> None:
        if not self.knows(path):
            self._paths.add(path)
            self.refuse(place, message)


@dataclass(slots=True)  # not frozen, which takes twice the time: there are hundreds in a small file
class View:
    """A place in the tree that may or may not be there, of the kind one hopes for or not."""

    report: Report
    values: Mapping[str, float | None]
    path: Path = ()
    node: Node | None = None

    def __getitem__(self, step: str | int) -> View:
        return View(self.report, self.values, (*self.path, step), child(self.node, step))

    def __contains__(self, key: str) -> bool:
        return child(self.node, key) is not None

    @property
    def place(self) -> Place:
        """Line and column; of the key of its mapping where the value is missing."""
        return place_of_value(self.report.root, self.path)

    @property
    def is_list(self) -> bool:
        """There is a list, of any length."""
        return isinstance(self.node, Sequence)

    @property
    def is_mapping(self) -> bool:
        """There is a mapping, of any size."""
        return isinstance(self.node, MappingNode)

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of a mapping, else nothing."""
        return tuple(self.node.entries) if isinstance(self.node, MappingNode) else ()

    @property
    def entries(self) -> tuple[View, ...]:
        """Values of a mapping, else nothing."""
        return tuple(self[key] for key in self.keys)

    @property
    def items(self) -> tuple[View, ...]:
        """Items of a list, else nothing."""
        return tuple(self[i] for i in range(len(self.node.items))) if isinstance(self.node, Sequence) else ()

    @property
    def text(self) -> str | None:
        """The text of a scalar that is one and is not reported."""
        if isinstance(self.node, Scalar) and isinstance(self.node.value, str) and not self.report.knows(self.path):
            return self.node.value
        return None

    @property
    def count(self) -> int:
        """A plain integer, else 0."""
        match self.node:
            case Scalar(value=Number(text=text)) if text.isdigit() and len(text) < 10:
                return int(text)
            case _:
                return 0

    def number(self, default: float | None = 0.0) -> float | None:
        """The value; ``default`` where there is none, None where it is free or wrong."""
        if self.node is None:  # of a holder that is wrong nothing is known
            return None if self.report.knows(self.path[:-1]) else default
        if not isinstance(self.node, Scalar) or self.report.knows(self.path):
            return None
        if not isinstance(self.node.value, str | Number):
            return None
        try:
            expression = parse(self.node.value)
            known = {name: value for name in expression.names if (value := self.values.get(name)) is not None}
            return evaluate(expression, known) if len(known) == len(expression.names) else None
        except ExpressionError:
            return None

    def refuse(self, message: str) -> None:
        """This value is wrong."""
        self.report.value(self.path, message)

    def refuse_key(self, message: str) -> None:
        """The key of this value is wrong."""
        self.report.key(self.path, message)

    def warn(self, message: str) -> None:
        """This value looks wrong."""
        self.report.warn(self.path, message)
