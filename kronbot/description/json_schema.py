"""The JSON Schema of a robot file, so that editors check and complete while one types.

It is read off the types of ``schema`` and says of shape what they say; names, references, signs and physics are for
``kronbot check``.
"""

from __future__ import annotations

import re
import types
from dataclasses import is_dataclass
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from kronbot.description import limits
from kronbot.description.coupling import Coupling
from kronbot.description.element import MAKES
from kronbot.description.expressions.expression import Expression, evaluate
from kronbot.description.schema import RobotFile
from kronbot.description.validation import keys_of, others_of

Schema = dict[str, Any]

_HEAD: Final[Schema] = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "title": "kronbot robot file",
    "description": "A robot, its links rigid or flexible. SI units and radians; a number may be an expression over "
    "parameters, such as pi/2, 90*deg, 2*EI; functions: sin, cos, tan, sqrt, exp.",
}
_NUMBER: Final[Schema] = {
    "title": "number or expression",
    "description": "SI units and radians",
    "type": ["number", "string"],
    "pattern": "^[-+*/(). 0-9A-Za-z_]+$",
    "maxLength": limits.EXPRESSION_LENGTH,
    "examples": ["pi/2", "90*deg", "2*EI"],
}
_SCALARS: Final[dict[type, Schema]] = {
    Expression: {"$ref": "#/$defs/number"},
    Coupling: {
        "type": "string",
        "maxLength": limits.EXPRESSION_LENGTH,
        "examples": ["-(q2 + q3)", "2*q1", "2*'left-hip'"],
    },
    str: {"type": "string", "minLength": 1},
    int: {"type": "integer", "minimum": 0, "maximum": limits.MODES},
    bool: {"type": "boolean"},
}


def _any_of(*keys: str) -> Schema:
    return {"anyOf": [{"required": [key]} for key in keys]}


# A value as it is written behind an option.
_WORD: Final[Schema] = {"type": ["string", "number", "boolean"]}
_WORDS: Final[Schema] = {"additionalProperties": {"anyOf": [_WORD, {"type": "array", "items": _WORD}]}}
_COUNT: Final[Schema] = {"type": "integer", "minimum": 0, "maximum": 999_999_999}
# What the types do not say: keys that exclude or need each other, and what is fixed.
_RULES: Final[dict[str, Schema]] = {
    "RobotFile": {
        "properties": {
            "kronbot": {"const": 1},
            "name": {"maxLength": limits.ROBOT_NAME_LENGTH},
            "links": {"minItems": 1, "maxItems": limits.LINKS},
            "elements": {"maxItems": limits.ELEMENTS},
            "parameters": {"propertyNames": {"pattern": "^[A-Za-z_][A-Za-z0-9_]*$", "maxLength": limits.NAME_LENGTH}},
        },
        "if": {"properties": {"links": {"contains": {"required": ["dh"]}}}},
        "then": {"required": ["convention"]},
    },
    "Joint": {
        "if": {"properties": {"type": {"const": "fixed"}}},
        "then": {"not": {"required": ["name"]}},
        "else": {"required": ["name"]},
    },
    "Shaft": {"oneOf": [{"required": ["stiffness"]}, {"required": ["compliance"]}]},
    "Bearing": {
        "anyOf": [{"required": [key], "properties": {key: {"minProperties": 1}}} for key in ("stiffness", "compliance")]
    },
    "Link": {"oneOf": [{"required": ["dh"]}, {"required": ["pose"]}], "not": {"required": ["rigid", "flexible"]}},
    "Push": _any_of("force", "moment"),
    "JointDrive": {"minProperties": 1, "maxProperties": 1},
    "StructuralDamping": {"not": {"anyOf": [{"required": ["ratio", key]} for key in ("alpha", "beta")]}},
    "Cycloidal": {
        "oneOf": [
            {"required": ["rate", "half_period"], "not": _any_of("from", "to", "duration", "shaper")},
            {"required": ["from", "to", "duration"], "not": _any_of("rate", "half_period")},
        ]
    },
    "Trapezoid": {
        "oneOf": [
            {"required": ["duration"], "not": {"required": ["rate", "acceleration"]}},
            {"required": ["rate", "acceleration"], "not": {"required": ["duration"]}},
        ]
    },
    "Element": {
        "allOf": [
            {"if": {"properties": {"type": {"const": kind}}}, "then": {"required": [key]}}
            for kind, key in MAKES.items()
        ]
    },
    "ViaPoints": {"properties": {"through": {"minItems": 2, "maxItems": limits.VIA_POINTS}}},
    "Fit": {"properties": {"validate": _WORD, **dict.fromkeys(("starts", "seed", "steps"), _COUNT)}},
    "Sweep": {
        "properties": {
            "options": _WORDS,
            "over": _WORDS,
            "cases": {"additionalProperties": {"items": _WORD}},
            "sample": _COUNT,
            "seed": _COUNT,
        }
    },
    "PolynomialMotion": {"properties": {"degree": {"enum": [3, 5]}}},
}


def robot_file_schema() -> Schema:
    """JSON Schema, draft 7, of a robot file."""
    definitions: dict[str, Schema] = {}
    body = {word: value for word, value in _mapping(RobotFile, definitions).items() if word not in _HEAD}
    return _HEAD | body | {"$defs": {"number": _NUMBER, **dict(sorted(definitions.items()))}}


def _mapping(described: type, definitions: dict[str, Schema]) -> Schema:
    """A mapping whose keys are the fields of a dataclass."""
    properties, required = {}, []
    for name, key in keys_of(described).items():
        content = _value(key.hint, definitions)
        if key.required or "const" in content:  # which tells the kind
            required.append(name)
        elif (default := _plain(key.default)) is not None:
            content = {**content, "default": default}
        properties[name] = {**content, "description": key.description}
    about = " ".join(str(described.__doc__).replace("``", "").split())
    rest = next((_value(hint, definitions) for hint in others_of(described).values()), False)
    body: Schema = {"type": "object", "properties": properties, "additionalProperties": rest}
    body |= {"required": required} if required else {}
    words = {"title": _words(described.__name__), "description": about}
    return words | _merged(body, _RULES.get(described.__name__, {}))


def _value(hint: Any, definitions: dict[str, Schema]) -> Schema:
    """What a type allows; dataclasses become definitions."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _value(arguments[0], definitions)
    if origin in (Union, types.UnionType):
        kinds = [{"type": "null"} if kind is types.NoneType else _value(kind, definitions) for kind in arguments]
        return {"anyOf": kinds}
    if origin is Literal:
        return {"const": arguments[0]} if len(arguments) == 1 else {"enum": list(arguments)}
    if origin is dict:
        return {"type": "object", "additionalProperties": _value(arguments[1], definitions)}
    if origin is tuple:
        size = {} if arguments[-1] is Ellipsis else {"minItems": len(arguments), "maxItems": len(arguments)}
        return {"type": "array", "items": _value(arguments[0], definitions), **size}
    if hint in _SCALARS:
        return _SCALARS[hint]
    if not (isinstance(hint, type) and is_dataclass(hint)):
        raise TypeError(f"no JSON Schema is known for {hint!r}")
    if hint.__name__ not in definitions:
        definitions[hint.__name__] = _mapping(hint, definitions)
    return {"$ref": f"#/$defs/{hint.__name__}"}


def _plain(default: object) -> object:
    """A default as a file would say it; None where the keys below say it, or where there is none."""
    if isinstance(default, Expression):
        value = evaluate(default, {})
        return int(value) if value == int(value) else value
    if isinstance(default, tuple):
        return [_plain(item) for item in default] or None
    return default if isinstance(default, str | int) else None


def _merged(node: Schema, rules: Schema) -> Schema:
    """The node with the words of the rules added, also below."""
    result = dict(node)
    for word, value in rules.items():
        held = result.get(word)
        result[word] = _merged(held, value) if isinstance(held, dict) and isinstance(value, dict) else value
    return result


def _words(name: str) -> str:
    """``BendingStiffness`` as ``bending stiffness``, ``DH`` as it is."""
    return name if name.isupper() else re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
