"""Strict YAML 1.2 with positions: text to a node tree, from the parser's events.

Aliases, anchors, tags, duplicate keys and keys that are no text are refused. Plain scalars follow the core schema only:
``1e5`` is a number, ``yes``, ``12:30`` and dates are text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

from kronbot.description import limits
from kronbot.description.expressions.expression import Number
from kronbot.description.mistakes import Mistakes, first_of, raise_all
from kronbot.description.wording import quote
from kronbot.description.yaml.nodes import REFUSED, Mapping, Node, Refused, Scalar, Sequence
from kronbot.description.yaml.source import Source, demand_text
from kronbot.errors import DescriptionError, Mistake

_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_WORDS: Final[dict[str, bool | None]] = {
    "": None,
    "~": None,
    **dict.fromkeys(("null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|0o[0-7]+|0x[0-9a-fA-F]+", re.ASCII)
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


# PyYAML's words for a line that is no key.
NO_COLON = "could not find expected ':'"


@dataclass
class _Open:
    """A collection whose end has not come; ``key`` is the mapping key that waits for its value."""

    line: int
    column: int
    mapping: bool
    items: list[Node] = field(default_factory=list)
    entries: dict[str, tuple[Scalar, Node]] = field(default_factory=dict)
    key: Node | None = None


def compose(source: Source) -> Node:
    """The node tree of a robot file. Raises DescriptionError with everything that strict YAML refuses."""
    root, mistakes = compose_leniently(source)
    raise_all(mistakes)
    return root


def compose_leniently(source: Source) -> tuple[Node, tuple[Mistake, ...]]:
    """The node tree as far as it makes sense, and what strict YAML refuses in it.

    Raises DescriptionError where there is no tree: wrong syntax, too many nodes, nested too deep, no document.
    """
    composer = _Composer(source.name)
    # Text that comes from elsewhere than a file has not been looked at.
    if len(source.text) > limits.TEXT_BYTES:
        composer.give_up((1, 1), f"longer than {limits.TEXT_BYTES // 1024} kB")
    demand_text(source.name, source.text)
    if source.text.lstrip().startswith("<"):
        composer.give_up((1, 1), "this is XML, not YAML; kronbot convert makes a robot file from a URDF")
    try:
        for event in _events(source.text):
            composer.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        if NO_COLON in (error.problem or ""):
            mark = error.context_mark  # where the key begins
        place = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        composer.refuse(place, _syntax_message(error, source.text))
    except yaml.YAMLError as error:
        composer.refuse((1, 1), f"this is not YAML: {quote(str(error))}")
    else:
        if composer.root is None:
            composer.refuse((1, 1), "empty: a robot file begins with 'kronbot: 1'")
        else:
            return composer.root, tuple(composer.found)
    raise DescriptionError(first_of(composer.found))


def _events(text: str) -> Iterator[Any]:
    return iter(yaml.parse(text, Loader=_LOADER))


def _syntax_message(error: yaml.MarkedYAMLError, text: str) -> str:
    """PyYAML's problem in plain words; its own where nothing plainer is known."""
    problem, context, mark = error.problem or "wrong syntax", error.context or "", error.problem_mark
    began = f" begun on line {error.context_mark.line + 1}" if error.context_mark else ""
    if "cannot start any token" in problem and mark is not None:
        line = text.splitlines()[mark.line : mark.line + 1]
        character = line[0][mark.column : mark.column + 1] if line else ""
        if character == "\t":
            return "this is not YAML: a tab, where only spaces may indent"
        return f"this is not YAML: {quote(character)} cannot begin a value (put the text in quotes)"
    if "quoted scalar" in context and "end of stream" in problem:
        return f"this is not YAML: the quotes{began} are never closed"
    if NO_COLON in problem:
        return "this is not YAML: ':' is missing after this key (text of several lines needs quotes)"
    if "mapping values are not allowed" in problem:
        return (
            "this is not YAML: a ':' is out of place (missing on the line before? text with ': ' needs quotes, "
            "keys of a mapping one indentation)"
        )
    return f"this is not YAML: {problem}" + (f", {context}{began}" if "parsing" in context else "")


class _Composer(Mistakes):
    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.root: Node | None = None
        self._stack: list[_Open] = []
        self._nodes = 0
        self._documents = 0

    def take(self, event: Any) -> None:
        place = (event.start_mark.line + 1, event.start_mark.column + 1)
        match event:
            case yaml.ScalarEvent():
                self._count(place)
                self._refuse_extras(event, place)
                self._put(Scalar(self._value(event, place), *place))
            case yaml.AliasEvent():
                self._count(place)
                self.refuse(place, f"aliases are not allowed: {quote(f'*{event.anchor}')} (use 'parameters')")
                self._put(Scalar(REFUSED, *place))
            case yaml.SequenceStartEvent() | yaml.MappingStartEvent():
                self._count(place)
                self._refuse_extras(event, place)
                if len(self._stack) >= limits.DEPTH:
                    self.give_up(place, f"nested deeper than {limits.DEPTH} levels")
                self._stack.append(_Open(*place, mapping=isinstance(event, yaml.MappingStartEvent)))
            case yaml.SequenceEndEvent():
                done = self._stack.pop()
                self._put(Sequence(tuple(done.items), done.line, done.column))
            case yaml.MappingEndEvent():
                done = self._stack.pop()
                self._put(Mapping(done.entries, done.line, done.column))
            case yaml.DocumentStartEvent():
                self._documents += 1
                if self._documents > 1:
                    self.give_up(place, "more than one document in the file")

    def give_up(self, place: tuple[int, int], message: str) -> None:
        self.refuse(place, message)
        raise DescriptionError(first_of(self.found))

    def _count(self, place: tuple[int, int]) -> None:
        self._nodes += 1
        if self._nodes > limits.NODES:
            self.give_up(place, f"more than {limits.NODES} values")

    def _refuse_extras(self, event: Any, place: tuple[int, int]) -> None:
        if event.anchor is not None:
            self.refuse(place, f"anchors are not allowed: {quote(f'&{event.anchor}')} (use 'parameters')")
        if event.tag is not None:
            self.refuse(place, f"tags are not allowed: {quote(event.tag)}")

    def _value(self, event: Any, place: tuple[int, int]) -> str | Number | bool | Refused | None:
        text: str = event.value
        if event.style:
            return text
        if text in _WORDS:
            return _WORDS[text]
        if _NUMBER.fullmatch(text):
            return Number(text)
        if _NOT_FINITE.fullmatch(text):
            self.refuse(place, f"{quote(text)} is no number a robot can have: finite numbers only")
            return REFUSED
        return text

    def _put(self, node: Node) -> None:
        if not self._stack:
            self.root = node
            return
        holder = self._stack[-1]
        if not holder.mapping:
            holder.items.append(node)
        elif holder.key is None:
            holder.key = node
        else:
            key, holder.key = holder.key, None
            self._enter(holder.entries, key, node)

    def _enter(self, entries: dict[str, tuple[Scalar, Node]], key: Node, value: Node) -> None:
        place = (key.line, key.column)
        match key:
            case Scalar(value=str(text)) if text in entries:
                self.refuse(place, f"duplicate key {quote(text)}, first on line {entries[text][0].line}")
            case Scalar(value=str(text)):
                entries[text] = (key, value)
            case Scalar(value=Refused()):
                pass
            case Scalar(value=Number(text=text)):
                self.refuse(place, f"a key must be text, not the number {text[:60]}")
            case Scalar():
                self.refuse(place, "a key must be text, not true, false or null")
            case _:
                self.refuse(place, "a key must be text, not a list or a mapping")
