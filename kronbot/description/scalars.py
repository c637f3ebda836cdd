"""What one value in a robot file may be: a number over known parameters, a text, a count.

Each function takes a plain value (text, Number, bool, None, list, dict) and returns what the description holds, or
raises Fault with the message a user reads.
"""

from __future__ import annotations

from collections.abc import Mapping

from kronbot.description import limits
from kronbot.description.coupling import Coupling
from kronbot.description.expressions.expression import Expression, ExpressionError, Number, evaluate, parse
from kronbot.description.wording import is_shown, named, quote


class Fault(ValueError):
    """One value is wrong; the message says what is wanted. ``unknown`` is the name that nobody knows, if it is that."""

    def __init__(self, message: str, unknown: str = "") -> None:
        super().__init__(message)
        self.unknown = unknown


def kind(value: object) -> str:
    """What ``value`` is, in words for "..., not ...": quoted text, ``a list``, ``true``."""
    match value:
        case bool():
            return "true" if value else "false"
        case Number(text=text) | str(text):
            return quote(text)
        case list():
            return "a list"
        case dict():
            return "a mapping"
        case _:
            return "nothing"


def expression(value: object, parameters: Mapping[str, float | None]) -> Expression:
    """An expression over ``parameters``. Raises Fault for another kind of value, bad syntax or an unknown name."""
    if not isinstance(value, str | Number):
        raise Fault(f"a number or an expression is wanted here, not {kind(value)}")
    try:
        result = parse(value)
    except ExpressionError as error:
        raise Fault(error.message) from None
    unknown = sorted(name for name in result.names if name not in parameters)
    if unknown:
        inside = "" if result.text == unknown[0] else f" in {quote(result.text)}"
        raise Fault(f"unknown name {quote(unknown[0])}{inside}", unknown[0])
    return result


def quantity(value: object, parameters: Mapping[str, float | None]) -> Expression:
    """As ``expression``, and it has a finite real value unless it depends on a free parameter."""
    result = expression(value, parameters)
    known = {name: bound for name in result.names if (bound := parameters[name]) is not None}
    if len(known) == len(result.names):
        try:
            evaluate(result, known)
        except ExpressionError as error:
            raise Fault(error.message) from None
    return result


def combination(value: object, parameters: Mapping[str, float | None]) -> Coupling:
    """A linear expression of joints over ``parameters``, whose names are judged elsewhere. Raises Fault."""
    if not isinstance(value, str):
        raise Fault(f"an expression of other joints is wanted here, like -(q2 + q3), not {kind(value)}")
    try:
        result = Coupling.of(value)
        result.demand_linear(parameters)
    except ExpressionError as error:
        raise Fault(error.message) from None
    return result


def text(value: object, parameters: Mapping[str, float | None]) -> str:
    """Text that is not empty. Raises Fault; a number has to be quoted to be text."""
    if isinstance(value, Number):
        raise Fault(f"text is wanted here, not the number {quote(value.text)[1:-1]}: put it in quotes")
    if not isinstance(value, str):
        raise Fault(f"text is wanted here, not {kind(value)}")
    if not value.strip():
        raise Fault("text is wanted here, it is empty")
    return value


def name(value: object, parameters: Mapping[str, float | None]) -> str:
    """The name of a robot: one line of text. Raises Fault."""
    return _bounded(text(value, parameters), limits.ROBOT_NAME_LENGTH, "", "one line of text")


def prose(value: object, parameters: Mapping[str, float | None]) -> str:
    """Text of one or several lines. Raises Fault."""
    return _bounded(text(value, parameters), limits.TEXT_LENGTH, "\n\t", "text")


def _bounded(words: str, longest: int, signs: str, what: str) -> str:
    if len(words) > longest:
        raise Fault(f"{what} of at most {longest} characters is wanted here, not of {len(words)}")
    wrong = next((c for c in words if not (is_shown(c) or c in signs)), None)
    if wrong is not None:
        raise Fault(f"{what} is wanted here, without {named(wrong)}")
    return words


def count(value: object, parameters: Mapping[str, float | None]) -> int:
    """A plain integer from 0 to the largest number of modes. Raises Fault."""
    if isinstance(value, Number) and value.text.isdigit() and len(value.text) <= 20 and int(value.text) <= limits.MODES:
        return int(value.text)
    raise Fault(f"a plain integer from 0 to {limits.MODES} is wanted here, not {kind(value)}")


def word(value: object, parameters: Mapping[str, float | None]) -> str:
    """A value as somebody would write it behind an option. Raises Fault."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.text if isinstance(value, Number) else text(value, parameters)


def flag(value: object, parameters: Mapping[str, float | None]) -> bool:
    """true or false. Raises Fault."""
    if isinstance(value, bool):
        return value
    raise Fault(f"true or false is wanted here, not {kind(value)}")


def whole(value: object, parameters: Mapping[str, float | None]) -> int:
    """A plain integer. Raises Fault."""
    if isinstance(value, Number) and value.text.isdigit() and len(value.text) <= 9:
        return int(value.text)
    raise Fault(f"a plain integer of at most 9 digits is wanted here, not {kind(value)}")


def degree(value: object, parameters: Mapping[str, float | None]) -> int:
    """The degree of a polynomial motion. Raises Fault."""
    if isinstance(value, Number) and value.text in ("3", "5"):
        return int(value.text)
    raise Fault(f"3 or 5 is wanted here, not {kind(value)}")


def version(value: object, parameters: Mapping[str, float | None]) -> int:
    """The version of the format. Raises Fault."""
    if isinstance(value, Number) and value.text == "1":
        return 1
    raise Fault(f"the version of the format is 1 here, not {kind(value)}")
