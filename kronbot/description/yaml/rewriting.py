"""A robot file with other numbers for some of its parameters: comments and layout stay."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from kronbot.description.expressions.expression import Number
from kronbot.description.wording import listing, quote
from kronbot.description.yaml.composing import compose
from kronbot.description.yaml.nodes import Mapping as MappingNode
from kronbot.description.yaml.nodes import Scalar, find
from kronbot.description.yaml.source import Source
from kronbot.errors import UsageError

_NOTHING = re.compile("~|null|Null|NULL")
_LINES = re.compile("\r\n|\r|\n")


def demand_numbers(source: Source, names: Sequence[str]) -> None:
    """Raise UsageError where a parameter stands in the file as an expression, in whose place no number can go."""
    places = _places(source)
    wrong = [f"{name} ({source.name}:{places[name].line}: {_text(places[name])})" for name in names
             if isinstance(places[name].value, str)]  # fmt: skip
    if wrong:
        raise UsageError(
            f"parameters that stand in the file as expressions keep these: {listing(wrong)}; put numbers there"
        )


def rewritten(source: Source, values: Mapping[str, str], heading: str) -> str:
    """The text with other numbers; what stood in their places goes in a comment on top, below a heading.

    Raises UsageError where a parameter is an expression.
    """
    demand_numbers(source, list(values))
    places = _places(source)
    ends = [0, *(match.end() for match in _LINES.finditer(source.text))]
    text = source.text
    told = []
    for name in sorted(values, key=lambda name: (places[name].line, places[name].column), reverse=True):
        node, old = places[name], _text(places[name])
        at = ends[node.line - 1] + node.column - 1
        if old:
            assert text.startswith(old, at), "a number stands where it was read"
            text = text[:at] + values[name] + text[at + len(old) :]
        else:  # a parameter without a value: behind its colon, or in the place of a word for nothing
            nothing = _NOTHING.match(text, at)
            rest = at if nothing is None else nothing.end()
            text = text[:at] + ("" if text[at - 1].isspace() else " ") + values[name] + text[rest:]
        told.append(f"#   {name}: {old or '(no value)'}")
    end = "\r\n" if "\r\n" in source.text else "\n"
    return end.join([f"# {heading}", *reversed(told), text])


def _places(source: Source) -> dict[str, Scalar]:
    parameters = find(compose(source), ("parameters",))
    entries = parameters.entries if isinstance(parameters, MappingNode) else {}
    return {name: node for name, (_, node) in entries.items() if isinstance(node, Scalar)}


def _text(node: Scalar) -> str:
    """What stands there."""
    match node.value:
        case Number(text=text):
            return text
        case str() as text:
            return quote(text)
    return ""
