"""Strict YAML 1.2 with positions: text to a node tree, from the parser's events.

Aliases, anchors, tags, duplicate keys and keys that are no text are refused. Plain scalars follow the core schema only:
``1e5`` is a number, ``yes``, ``12:30`` and dates are text.
"""

from __future__ import annotations

import re
from typing import Any, Final

import yaml

from kronbot.description import limits
from kronbot.description.expressions.expression import Number
from kronbot.description.expressions.grammar import DECIMAL
from kronbot.description.mistakes import Mistakes, first_of, raise_all
from kronbot.description.wording import quote
from kronbot.description.yaml.nodes import REFUSED, Mapping, Node, Refused, Scalar, Sequence
from kronbot.description.yaml.source import Source, demand_plain_lines, demand_text, lines_in
from kronbot.errors import DescriptionError, Mistake

_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_WORDS: Final[dict[str, bool | None]] = {
    "": None,
    "~": None,
    **dict.fromkeys(("null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_NUMBER = re.compile(rf"[-+]?{DECIMAL}|0o[0-7]+|0x[0-9a-fA-F]+")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


# Of YAML, whose readers of 1.1 take yes for true and 017 for 15.
VERSION = 1, 2
# PyYAML's words for a line that is no key.
NO_COLON = "could not find expected ':'"
# Words of libyaml 0.2.6 and newer, which reads ahead and stops at a depth of its own before it says what it has read.
_TOO_DEEP = "maximum nesting depth"
_DEEPER: Final = f"nested deeper than {limits.DEPTH} levels"


def compose(source: Source) -> Node:
    """The node tree of a robot file. Raises DescriptionError with everything that strict YAML refuses."""
    root, mistakes = compose_leniently(source)
    raise_all(mistakes)
    return root


def demand_readable(text: str, file: str, words: str) -> None:
    """Raise DescriptionError, in words about a file, where a text that was made of it is larger than one may be."""
    if len(text) > limits.NODES:  # of which each takes a character at least
        try:
            compose(Source("", text, None))
        except DescriptionError as error:
            raise DescriptionError([Mistake(1, 1, f"{words} ({error.mistakes[0].message})", file)]) from None


def compose_leniently(source: Source) -> tuple[Node, tuple[Mistake, ...]]:
    """The node tree as far as it makes sense, and what strict YAML refuses in it.

    Raises DescriptionError where there is no tree: wrong syntax, too many nodes, nested too deep, no document.
    """
    composer = _Composer(source)
    # Text that comes from elsewhere than a file has not been looked at.
    if len(source.text) > limits.TEXT_BYTES:
        composer.give_up((1, 1), f"longer than {limits.TEXT_BYTES // 1024} kB")
    demand_text(source.name, source.text)
    demand_plain_lines(source.name, source.text)
    if re.match(r"\s*<[?!\w]", source.text):
        composer.give_up((1, 1), "this is XML, not YAML; kronbot convert makes a robot file from a URDF")
    try:
        root = composer.document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        if NO_COLON in (error.problem or ""):
            mark = error.context_mark  # where the key begins
        place = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        composer.refuse(place, _syntax_message(error, source.text))
    except yaml.YAMLError as error:
        composer.refuse((1, 1), f"this is not YAML: {quote(str(error))}")
    else:
        if root is not None:
            return root, tuple(composer.found)
        composer.refuse((1, 1), "empty: a robot file begins with 'kronbot: 1'")
    raise DescriptionError(first_of(composer.found))


def _syntax_message(error: yaml.MarkedYAMLError, text: str) -> str:
    """PyYAML's problem in plain words; its own where nothing plainer is known."""
    problem, context, mark = error.problem or "wrong syntax", error.context or "", error.problem_mark
    if _TOO_DEEP in problem:
        return _DEEPER
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
    def __init__(self, source: Source) -> None:
        super().__init__(source.name)
        self._text = source.text
        self._events = iter(yaml.parse(source.text, Loader=_LOADER))
        self._nodes = 0

    def document(self) -> Node | None:
        """The one document, None where there is none."""
        root = None
        for event in self._events:
            if isinstance(event, yaml.NodeEvent):
                root = self._node(event, 0)
            elif isinstance(event, yaml.DocumentStartEvent):
                if root is not None:
                    self.give_up(_place(event), "more than one document in the file")
                if event.version not in (None, VERSION):
                    self._refuse_version(event)
        return root

    def _refuse_version(self, event: Any) -> None:
        first = event.start_mark.line  # of directives, among which that of the version is
        lines = enumerate(lines_in(self._text)[first:], first + 1)
        line = next((i for i, text in lines if text.startswith("%YAML")), first + 1)
        version = ".".join(map(str, event.version))
        message = f"in YAML {version} yes and 017 mean other things than in YAML 1.2, as which files are read"
        self.refuse((line, 1), f"{message}: write %YAML 1.2, or leave the line out")

    def _node(self, event: Any, depth: int) -> Node:
        """The node that begins with an event; its other events are taken."""
        place = _place(event)
        self._nodes += 1
        if self._nodes > limits.NODES:
            self.give_up(place, f"more than {limits.NODES} values")
        if isinstance(event, yaml.AliasEvent):
            self.refuse(place, f"aliases are not allowed: {quote(f'*{event.anchor}')} (use 'parameters')")
            return Scalar(REFUSED, *place)
        if event.anchor is not None:
            self.refuse(place, f"anchors are not allowed: {quote(f'&{event.anchor}')} (use 'parameters')")
        if event.tag is not None:
            self.refuse(place, f"tags are not allowed: {quote(event.tag)}")
        if isinstance(event, yaml.ScalarEvent):
            return Scalar(self._value(event, place), *place)
        if depth >= limits.DEPTH:
            self.give_up(place, _DEEPER)
        inside = (self._node(inner, depth + 1) for inner in iter(self._inner, None))
        if isinstance(event, yaml.SequenceStartEvent):
            return Sequence(tuple(inside), *place)
        entries: dict[str, tuple[Scalar, Node]] = {}
        for key in inside:
            self._enter(entries, key, next(inside))
        return Mapping(entries, *place)

    def _inner(self) -> Any:
        """The next event in a collection, None at its end."""
        event = next(self._events)
        return None if isinstance(event, yaml.CollectionEndEvent) else event

    def give_up(self, place: tuple[int, int], message: str) -> None:
        self.refuse(place, message)
        raise DescriptionError(first_of(self.found))

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


def _place(event: Any) -> tuple[int, int]:
    return event.start_mark.line + 1, event.start_mark.column + 1
