"""Expressions of a robot file: exact trees, read by a whitelist and folded with the caller's arithmetic.

Python's ``ast`` gives the syntax; everything that is not a number, a name, ``+ - * / **``, a parenthesis or a known
function of one argument is refused. Nothing is ever executed.
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Final, TypeVar

from kronbot.description import limits
from kronbot.description.wording import did_you_mean, named, quote, unknown_name
from kronbot.errors import UsageError

T = TypeVar("T")

FUNCTIONS: Final = ("sin", "cos", "tan", "sqrt", "exp")
CONSTANTS: Final = ("pi", "deg")

_TOKEN = re.compile(
    r" *(?:(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)(?P<glued>[\w.]*)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)|(?P<symbol>\*\*|[-+*/()])|(?P<end>$))"
)
_HINTS = {
    ",": "a comma has no meaning here (decimals are written with a point, functions take one argument)",
    "^": "'^' is not known, a power is written **",
}


class ExpressionError(UsageError, ValueError):
    """A text is not an expression, or has no finite real value; ``offset`` counts characters from 0."""

    def __init__(self, message: str, offset: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset

    def of(self, text: str, what: str = "a number") -> str:
        """What is wrong with a text that should be a number, told once where the message says the same of it."""
        whole = quote(text.strip())
        for word in ("a number", "an expression"):
            same = f"{whole} is not {word}"
            if self.message.startswith(same):
                return f"{whole} is not {what}{self.message.removeprefix(same)}"
        return f"{whole} is not {what}: {self.message}"


@dataclass(frozen=True, slots=True)
class Number:
    """A number as it stands in a file: its text, because its value stays exact."""

    text: str


@dataclass(frozen=True, slots=True)
class _Term:
    """Part of an expression: where it stands in the whole text, and the names it depends on."""

    whole: str
    start: int
    end: int
    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Literal(_Term):
    value: Fraction


@dataclass(frozen=True, slots=True)
class _Name(_Term):
    name: str


@dataclass(frozen=True, slots=True)
class _Negative(_Term):
    operand: _Term


@dataclass(frozen=True, slots=True)
class _Call(_Term):
    function: str
    argument: _Term


@dataclass(frozen=True, slots=True)
class _Power(_Term):
    base: _Term
    exponent: _Term


@dataclass(frozen=True, slots=True)
class _Chain(_Term):
    """Sum or product of any length, taken from left to right (kept flat: its length is no depth)."""

    first: _Term
    rest: tuple[tuple[str, _Term], ...]


@dataclass(frozen=True)
class Expression:
    """An exact expression; equal and hashed by its text.

    ``names`` are the parameters it depends on, without ``pi`` and ``deg``; ``constant`` says that there are none.
    """

    text: str
    root: _Term = field(repr=False, compare=False)

    def __str__(self) -> str:
        return self.text

    @property
    def names(self) -> frozenset[str]:
        """Parameter names, without ``pi`` and ``deg``."""
        return self.root.names

    @property
    def constant(self) -> bool:
        """True where the value depends on no parameter."""
        return not self.root.names

    def fold(
        self,
        number: Callable[[Fraction], T],
        names: Mapping[str, T],
        functions: Mapping[str, Callable[[T], T]],
    ) -> T:
        """Evaluate with the caller's arithmetic (Python operators on ``T``).

        ``names`` holds every parameter and also ``pi`` and ``deg``. Small integer exponents reach ``**`` as ``int``.
        Raises ExpressionError for a name that is missing; the caller's operators raise what they raise.
        """

        def leaf(term: _Term) -> T | None:
            return number(term.value) if isinstance(term, _Literal) else None

        return _fold(self.root, leaf, names, functions)

    def fold_constants(
        self,
        constant: Callable[[Expression], T],
        names: Mapping[str, T],
        functions: Mapping[str, Callable[[T], T]],
    ) -> T:
        """As ``fold``, but each largest part without parameters goes to ``constant`` as an expression of its own.

        Small integer exponents stay ``int``. Raises ExpressionError for a name that is missing.
        """

        def leaf(term: _Term) -> T | None:
            return None if term.names else constant(Expression(term.whole[term.start : term.end], term))

        return _fold(self.root, leaf, names, functions)


@lru_cache(4096)
def parse(text: str | Number) -> Expression:
    """The expression in ``text``. Raises ExpressionError with the offset of the first thing that does not belong."""
    if isinstance(text, Number):
        if len(text.text) > limits.EXPRESSION_LENGTH:
            raise ExpressionError(f"a number of more than {limits.EXPRESSION_LENGTH} characters")
        return Expression(text.text, _Literal(text.text, 0, len(text.text), frozenset(), exact_number(text.text)))
    if len(text) > limits.EXPRESSION_LENGTH:
        raise ExpressionError(f"an expression of more than {limits.EXPRESSION_LENGTH} characters")
    spaced = re.sub(r"[\t\r\n]", " ", text)
    bare = spaced.strip(" ")
    shift = len(spaced) - len(spaced.lstrip(" "))
    if not bare:
        raise ExpressionError("an expression is missing")
    try:
        _check_tokens(bare)
        return Expression(bare, _build(ast.parse(bare, mode="eval").body, bare, 0))
    except ExpressionError as error:
        raise ExpressionError(error.message, error.offset + shift) from None
    except SyntaxError as error:
        offset = shift + max((error.offset or 1) - 1, 0)
        raise ExpressionError(f"{quote(bare)} is not an expression", offset) from None
    except (RecursionError, MemoryError):
        raise _too_deep(bare, shift) from None


def exact_number(text: str, offset: int = 0) -> Fraction:
    """The exact value of one literal. Raises ExpressionError where a float cannot hold its size."""
    if text[:2] in ("0x", "0o"):
        value = Fraction(int(text, 0))
    else:
        exponent = re.split("[eE]", text)[1:]
        if exponent and len(exponent[0].lstrip("+-")) > limits.EXPONENT_DIGITS:
            raise ExpressionError(f"the exponent of {quote(text)} is too long", offset)
        value = Fraction(text)
    try:
        rounded = float(value)
    except OverflowError:
        raise ExpressionError(f"{quote(text)} is too large for a floating point number", offset) from None
    if value and not rounded:
        raise ExpressionError(f"{quote(text)} is too small for a floating point number", offset)
    return value


def _too_deep(text: str, offset: int) -> ExpressionError:
    return ExpressionError(f"{quote(text)} is nested deeper than {limits.EXPRESSION_DEPTH} levels", offset)


def _check_tokens(text: str) -> None:
    """Refuse every character and word that Python knows and an expression does not, before Python sees the text."""
    position = 0
    while position < len(text):
        token = _TOKEN.match(text, position)
        if token is None:
            start = len(text) - len(text[position:].lstrip(" "))
            character = text[start]
            raise ExpressionError(_HINTS.get(character, f"{named(character)} is not allowed in an expression"), start)
        if token["glued"]:
            wrong = quote(token["number"] + token["glued"])
            cure = f"write {token['number']}*deg" if token["glued"] == "deg" else "a product needs *"
            raise ExpressionError(
                f"{wrong} is not a number ({cure}; units are SI; no _, hexadecimal or imaginary numbers)",
                token.start("number"),
            )
        if token["name"] and keyword.iskeyword(token["name"]):
            raise ExpressionError(f"{quote(token['name'])} is not allowed in an expression", token.start("name"))
        position = token.end()


def _build(node: ast.expr, text: str, depth: int) -> _Term:
    start, end = node.col_offset, node.end_col_offset or len(text)
    if depth > limits.EXPRESSION_DEPTH:
        raise _too_deep(text, start)
    match node:
        case ast.Constant():
            return _Literal(text, start, end, frozenset(), exact_number(text[start:end], start))
        case ast.Name(id=name):
            if name in FUNCTIONS:
                raise ExpressionError(f"{name} is a function: write {name}(...)", start)
            return _Name(text, start, end, frozenset() if name in CONSTANTS else frozenset((name,)), name)
        case ast.UnaryOp(op=ast.UAdd(), operand=inner):
            return _build(inner, text, depth + 1)
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            operand = _build(inner, text, depth + 1)
            return _Negative(text, start, end, operand.names, operand)
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            base, exponent = _build(left, text, depth + 1), _build(right, text, depth + 1)
            return _Power(text, start, end, base.names | exponent.names, base, exponent)
        case ast.BinOp(op=ast.Add() | ast.Sub()):
            return _chain(node, {ast.Add: "+", ast.Sub: "-"}, text, depth)
        case ast.BinOp(op=ast.Mult() | ast.Div()):
            return _chain(node, {ast.Mult: "*", ast.Div: "/"}, text, depth)
        case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]):
            if name not in FUNCTIONS:
                hint = did_you_mean(name, FUNCTIONS) or f"; known are {', '.join(FUNCTIONS)}"
                raise ExpressionError(f"{quote(name)} is not a function{hint}", start)
            inside = _build(argument, text, depth + 1)
            return _Call(text, start, end, inside.names, name, inside)
        case _:
            raise ExpressionError(f"{quote(text[start:end])} is not allowed in an expression", start)


def _chain(node: ast.BinOp, symbols: Mapping[type[ast.operator], str], text: str, depth: int) -> _Term:
    """Flatten a left-nested sum or product; leading terms without names become one term of their own."""
    steps: list[ast.BinOp] = []
    left: ast.expr = node
    while isinstance(left, ast.BinOp) and type(left.op) in symbols:
        steps.append(left)
        left = left.left
    result = _build(left, text, depth + 1)
    rest: list[tuple[str, _Term]] = []
    names, inner = result.names, node
    for step in reversed(steps):
        term = _build(step.right, text, depth + 1)
        if term.names and not names and rest:
            result = _Chain(text, inner.col_offset, inner.end_col_offset or 0, names, result, tuple(rest))
            rest = []
        rest.append((symbols[type(step.op)], term))
        names, inner = names | term.names, step
    return _Chain(text, node.col_offset, node.end_col_offset or 0, names, result, tuple(rest))


def _integer_exponent(term: _Term) -> int | None:
    match term:
        case _Literal(value=value) if value.denominator == 1 and abs(value) <= limits.INTEGER_POWER:
            return int(value)
        case _Negative(operand=_Literal() as inner):
            positive = _integer_exponent(inner)
            return None if positive is None else -positive
        case _:
            return None


def _fold(
    term: _Term,
    leaf: Callable[[_Term], T | None],
    names: Mapping[str, T],
    functions: Mapping[str, Callable[[T], T]],
) -> T:
    """Recursion is bounded by EXPRESSION_DEPTH; ``leaf`` answers for the terms it wants to end at."""
    ready = leaf(term)
    if ready is not None:
        return ready
    match term:
        case _Name(name=name):
            if name not in names:
                raise ExpressionError(unknown_name(name, names), term.start)
            return names[name]
        case _Negative(operand=operand):
            return -_fold(operand, leaf, names, functions)  # type: ignore[operator, no-any-return]
        case _Call(function=function, argument=argument):
            return functions[function](_fold(argument, leaf, names, functions))
        case _Power(base=base, exponent=exponent):
            power: object = _integer_exponent(exponent)
            if power is None:
                power = _fold(exponent, leaf, names, functions)
            return _fold(base, leaf, names, functions) ** power  # type: ignore[operator, no-any-return]
        case _Chain(first=first, rest=rest):
            result = _fold(first, leaf, names, functions)
            for symbol, other in rest:
                result = _apply(symbol, result, _fold(other, leaf, names, functions))
            return result
        case _:
            raise AssertionError(f"a leaf was not answered: {term!r}")


def _apply(symbol: str, left: T, right: T) -> T:
    match symbol:
        case "+":
            return left + right  # type: ignore[operator, no-any-return]
        case "-":
            return left - right  # type: ignore[operator, no-any-return]
        case "*":
            return left * right  # type: ignore[operator, no-any-return]
        case _:
            return left / right  # type: ignore[operator, no-any-return]
