"""XML from strangers as a tree of elements, each with its place: bounded, and nothing in it is ever expanded."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from dataclasses import field
from pathlib import Path
from typing import Final, NoReturn
from xml.parsers import expat

from kronbot.description import limits
from kronbot.description.expressions.grammar import DECIMAL
from kronbot.description.mistakes import Mistakes
from kronbot.description.wording import quote, written
from kronbot.description.yaml.nodes import Place
from kronbot.description.yaml.source import (
    STANDARD_INPUT_NAME,
    Source,
    decode,
    demand_no_text,
    exists,
    near_file,
    read_bytes,
    read_standard_input,
)
from kronbot.errors import DescriptionError, Mistake, UsageError
from kronbot.records import dataclass

ELEMENTS: Final = 100_000
"""Most elements of a document."""

_RUN_XACRO: Final = "run xacro first, which writes the URDF"
_NUMBER = re.compile(rf"[-+]?{DECIMAL}")
_NUMBER_LENGTH = 100
# Products of larger numbers overflow.
_LARGEST = 1e100
# Encodings of Python's own, which no file is saved with.
_NO_CHARACTER_SETS = {
    *("charmap", "idna", "mbcs", "oem", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"),
}


@dataclass(frozen=True, slots=True)
class Element:
    """One element; the text between elements is left out, since URDF says everything in attributes."""

    name: str
    attributes: dict[str, str]
    place: Place
    children: list[Element] = field(default_factory=list)

    def all(self, name: str) -> list[Element]:
        """The child elements of that name."""
        return [child for child in self.children if child.name == name]


def read_xml(argument: str, limit: int) -> Source:
    """The document at a path, or of standard input for ``-``, of at most ``limit`` bytes.

    Raises UsageError where there is no such file, DescriptionError where it is no text or too long.
    """
    if argument == "-":
        name, content = STANDARD_INPUT_NAME, read_standard_input(limit, "a URDF file")
    elif not exists(argument):
        demand_no_text(argument, ("<robot",), "write it to a file, or pipe it into kronbot convert -")
        raise UsageError(f"no file {quote(argument)}{near_file(argument, Path(), ('.urdf', '.xml'))}")
    else:
        name, content = argument, read_bytes(Path(argument), argument, limit)
    return Source(name, decode(name, content, "a URDF file begins with '<robot name=\"...\">'"), None)


def parse_xml(source: Source) -> Element:
    """The outermost element of a document.

    Raises DescriptionError at the first place that is no XML, and at an encoding that nobody knows, a document type
    that says more than a name (so no entity is ever declared, hence none expanded and no other file read), an element
    of xacro, too many elements, or too deep a nesting.
    """
    parser = expat.ParserCreate()
    outside = Element("", {}, (1, 1))
    opened = [outside]
    prefixes = {"xacro"}
    count = 0

    def give_up(message: str) -> NoReturn:
        place = parser.CurrentLineNumber, parser.CurrentColumnNumber + 1
        raise DescriptionError([Mistake(*place, message, source.name)])

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        prefixes.update(key[6:] for key, value in attributes.items() if key.startswith("xmlns:") and "/xacro" in value)
        prefix, colon, _ = name.partition(":")
        if colon and prefix in prefixes:
            give_up(f"{quote(name)} is an instruction to xacro: {_RUN_XACRO}")
        if count > ELEMENTS:
            give_up(f"more than {ELEMENTS} elements")
        if len(opened) > limits.DEPTH:
            give_up(f"nested deeper than {limits.DEPTH} levels")
        element = Element(name, attributes, (parser.CurrentLineNumber, parser.CurrentColumnNumber + 1))
        opened[-1].children.append(element)
        opened.append(element)

    def doctype(_: str, system: str | None, public: str | None, declarations: int) -> None:
        if system is not None or public is not None or declarations:
            give_up(
                "a document type (DOCTYPE) with declarations or another file is not allowed: entities are never "
                "expanded; take it out"
            )

    def declaration(_: str, encoding: str | None, standalone: int) -> None:
        if encoding is not None and not _is_character_set(encoding):
            give_up(f'unknown encoding {quote(encoding)}: save the file as UTF-8, and write encoding="utf-8"')

    parser.XmlDeclHandler = declaration
    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _: opened.pop()
    parser.StartDoctypeDeclHandler = doctype
    try:
        parser.Parse(source.text, True)
    except expat.ExpatError as error:
        problem = f"this is not XML: {expat.ErrorString(error.code)}"
        if not source.text.lstrip("\ufeff \t\r\n").startswith("<"):
            problem += "; a URDF begins with <?xml ...> or <robot name=...>"
        raise DescriptionError([Mistake(error.lineno, error.offset + 1, problem, source.name)]) from None
    return outside.children[0]


class Inspector(Mistakes):
    """Takes what is wanted out of elements; a harmless value goes on in the place of a wrong one."""

    def optional(self, holder: Element, name: str) -> Element | None:
        """The one child element of that name, or None; a second one is a mistake."""
        found = holder.all(name)
        for child in found[1:]:
            self.refuse(child.place, f"a second <{name}> in one <{holder.name}>")
        return found[0] if found else None

    def required(self, holder: Element, name: str) -> Element | None:
        """As ``optional``; None is a mistake."""
        found = self.optional(holder, name)
        if found is None:
            self.refuse(holder.place, f"missing element <{name}> in <{holder.name}>{_called(holder)}")
        return found

    def text(self, element: Element, key: str) -> str:
        """An attribute that must be there and not blank."""
        text = element.attributes.get(key, "").strip()
        if not text:
            self.refuse(element.place, f"missing attribute '{key}' of <{element.name}>{_called(element)}")
        elif "${" in text or "$(" in text:
            self.refuse(element.place, f"{quote(text)} is an instruction to xacro: {_RUN_XACRO}")
        return text

    def number(self, element: Element, key: str) -> float:
        """A number that must be there."""
        if key not in element.attributes:
            self.refuse(element.place, f"missing attribute '{key}' of <{element.name}>")
        return self.numbers(element, key, (0.0,))[0]

    def numbers(self, element: Element, key: str, default: tuple[float, ...]) -> tuple[float, ...]:
        """As many numbers as ``default`` has, which stands for a missing attribute."""
        text = element.attributes.get(key)
        if text is None:
            return default
        parts = text.split()
        if len(parts) == len(default) and all(map(_is_number, parts)):
            numbers = tuple(float(part) for part in parts)
            if all(abs(number) <= _LARGEST for number in numbers):
                self._demand_held(element, key, parts, numbers)
                return numbers
        wanted = (
            f"a number up to {written(_LARGEST)}"
            if len(default) == 1
            else f"{len(default)} numbers up to {written(_LARGEST)}"
        )
        cure = f" ({_RUN_XACRO})" if "$" in text else ""
        self.refuse(element.place, f"'{key}' of <{element.name}> must be {wanted}, not {quote(text)}{cure}")
        return default

    def _demand_held(self, element: Element, key: str, parts: Sequence[str], numbers: Sequence[float]) -> None:
        for part, number in zip(parts, numbers, strict=True):
            if not number and re.match("[-+.0]*[1-9]", part):
                small = f"{quote(part)} is too small for a floating point number"
                self.refuse(element.place, f"'{key}' of <{element.name}>: {small}")

    def not_negative(self, element: Element, key: str, value: float) -> float:
        """The value of an attribute, which must be at least 0."""
        if value < 0:
            self.refuse(element.place, f"'{key}' of <{element.name}> must be at least 0, it is {written(value)}")
        return value


def _called(element: Element) -> str:
    name = element.attributes.get("name", "")
    return f" {quote(name)}" if name else ""


def _is_character_set(name: str) -> bool:
    """Whether files may be saved with an encoding of that name, whatever this one is saved with."""
    try:
        b"<".decode(name)
    except UnicodeError:  # known: it takes more than a byte
        pass
    except LookupError:
        return False
    return codecs.lookup(name).name.replace("_", "-") not in _NO_CHARACTER_SETS


def _is_number(text: str) -> bool:
    # Millions of digits would take float() very long.
    return len(text) <= _NUMBER_LENGTH and _NUMBER.fullmatch(text) is not None
