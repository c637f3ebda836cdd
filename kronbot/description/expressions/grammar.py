"""Expressions of a robot file: exact trees, read by a whitelist and folded with the caller's arithmetic.

Python's ``ast`` gives the tree; everything that is not a number, a name, ``+ - * / **``, a parenthesis or a known
function of one argument is refused. Nothing is ever executed.
"""

from __future__ import annotations

import ast
import keyword
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import field
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, TypeGuard, TypeVar

from kronbot.cached import cached_property
from kronbot.description import limits
from kronbot.description.wording import UNITS, did_you_mean, named, quote, unknown_name
from kronbot.errors import UsageError
from kronbot.records import dataclass

T = TypeVar("T")

FUNCTIONS: Final = ("sin", "cos", "tan", "sqrt", "exp")
CONSTANTS: Final = ("pi", "deg")

DECIMAL: Final = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
"""A number without a sign, as a pattern for texts in ASCII."""

_TOKEN = re.compile(
    rf" *(?:(?P<number>{DECIMAL})(?P<glued>[\w.]*)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)|(?P<symbol>\*\*|[-+*/()])|(?P<end>$))"
)
# A name in quotes, or of words with dots between them.
_QUOTED = re.compile(r"""( *)('[^'"\\]+'|"[^'"\\]+"|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+)""", re.ASCII)
_HINTS = {
    ",": "a comma has no meaning here (decimals are written with a point, functions take one argument)",
    "^": "'^' is not known, a power is written **",
    "π": "'π' is written pi",
    "°": "'°' is written *deg: 30*deg",
    "−": "the minus sign is the hyphen of the keyboard, -",
    "×": "a product is written *",
    "·": "a product is written *",
    "²": "a power is written **: a**2",
}
_LOGARITHMS = dict.fromkeys(("log", "ln", "log10", "log2"), ", and a logarithm is written as its number")


_SUM, _PRODUCT = (ast.Add, ast.Sub), (ast.Mult, ast.Div)
_OPERATORS: Final[Mapping[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
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


@dataclass(frozen=True)
class Expression:
    """An exact expression; equal and hashed by its text, and by its ``place`` in a file where it was told one.

    ``names`` are the parameters it depends on, without ``pi`` and ``deg``; ``constant`` says that there are none.
    Names in quotes, and with dots, where they are allowed, stand there with single quotes.
    """

    text: str
    root: ast.expr = field(repr=False, compare=False)
    whole: str = field(repr=False, compare=False)
    """What ``text`` is a part of, and the columns of the ``root`` count in."""
    place: tuple[int, int] | None = None
    """Tells numbers of a file from equal ones elsewhere in it: which expression, and from which column."""

    def __str__(self) -> str:
        return self.text

    @cached_property
    def names(self) -> frozenset[str]:
        """Parameter names, without ``pi`` and ``deg``."""
        return frozenset(node.id for node in ast.walk(self.root) if _is_parameter(node))

    @cached_property
    def constant(self) -> bool:
        """True where the value depends on no parameter."""
        return not self.names

    @cached_property
    def numeric(self) -> bool:
        """True where it holds a number: ``pi/2`` does, ``pi`` does not."""
        return any(isinstance(node, ast.Constant) for node in ast.walk(self.root))

    def fold(
        self, number: Callable[[Fraction], T], names: Mapping[str, T], functions: Mapping[str, Callable[[T], T]]
    ) -> T:
        """Evaluate with the caller's arithmetic (Python operators on ``T``).

        ``names`` holds every parameter and also ``pi`` and ``deg``. Small integer exponents reach ``**`` as ``int``.
        Raises ExpressionError for a name that is missing; the caller's operators raise what they raise.
        """

        def leaf(node: ast.expr) -> T | None:
            return number(_value(node)) if isinstance(node, ast.Constant) else None

        return _fold(self.root, leaf, names, functions)

    def fold_constants(
        self, constant: Callable[[Expression], T], names: Mapping[str, T], functions: Mapping[str, Callable[[T], T]]
    ) -> T:
        """As ``fold``, but each largest part without parameters goes to ``constant`` as an expression of its own.

        Small integer exponents stay ``int``. Raises ExpressionError for a name that is missing.
        """

        changing: set[ast.AST] = set()
        for node in reversed(list(ast.walk(self.root))):  # what a node is made of before it
            if _is_parameter(node) or not changing.isdisjoint(ast.iter_child_nodes(node)):
                changing.add(node)

        def leaf(node: ast.expr) -> T | None:
            if node in changing:
                return None
            start, place = node.col_offset, self.place and (self.place[0], node.col_offset)
            return constant(Expression(self.whole[start : node.end_col_offset], node, self.whole, place))

        return _fold(self.root, leaf, names, functions)


@lru_cache(4096)
def parse(text: str | Number, quoted: bool = False) -> Expression:
    """The expression in ``text``, where names may be ``quoted`` that are no identifiers, or have dots.

    Raises ExpressionError with the offset of the first thing that does not belong.
    """
    if isinstance(text, Number):
        if len(text.text) > limits.EXPRESSION_LENGTH:
            raise ExpressionError(f"a number of more than {limits.EXPRESSION_LENGTH} characters")
        root = ast.Constant(0, lineno=1, col_offset=0, end_col_offset=len(text.text))
        root.value = exact_number(text.text)  # type: ignore[assignment]
        return Expression(text.text, root, text.text)
    if len(text) > limits.EXPRESSION_LENGTH:
        raise ExpressionError(f"an expression of more than {limits.EXPRESSION_LENGTH} characters")
    spaced = re.sub(r"[\t\r\n]", " ", text)
    bare = spaced.strip(" ")
    shift = len(spaced) - len(spaced.lstrip(" "))
    if not bare:
        raise ExpressionError("an expression is missing")
    try:
        _check_tokens(bare, quoted)
        # Python counts bytes: behind what is not ASCII its columns would be others.
        plain = _QUOTED.sub(lambda name: f"{name[1]}'{'_' * (len(name[2]) - 2)}'", bare) if quoted else bare
        return Expression(bare, _checked(ast.parse(plain, mode="eval").body, bare, 0), bare)
    except ExpressionError as error:
        raise ExpressionError(error.message, error.offset + shift) from None
    except SyntaxError as error:
        offset = shift + max((error.offset or 1) - 1, 0)
        unit = re.search(r"(?<![\w.])([-+]?[\d.]{1,25}(?:[eE][-+]?\d{1,3})?) +([A-Za-z_]\w{0,24})\b", bare)
        cure = f" ({_cure(*unit.groups())}; units are SI)" if unit else ""
        raise ExpressionError(f"{quote(bare)} is not an expression{cure}", offset) from None
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


def unquoted(name: str) -> str:
    """A name of an expression without the quotes that it may stand in."""
    return name[1:-1] if name[0] in "'\"" else name


def is_taken(name: str) -> bool:
    """Whether a name means something in every expression, or is none there."""
    return name in CONSTANTS or name in FUNCTIONS or keyword.iskeyword(name)


def _too_deep(text: str, offset: int) -> ExpressionError:
    return ExpressionError(f"{quote(text)} is nested deeper than {limits.EXPRESSION_DEPTH} levels", offset)


def _check_tokens(text: str, quoted: bool) -> None:
    """Refuse every character and word that Python knows and an expression does not, before Python sees the text."""
    position = 0
    while position < len(text):
        if quoted and (name := _QUOTED.match(text, position)):
            position = name.end()
            continue
        token = _TOKEN.match(text, position)
        if token is None:
            start = len(text) - len(text[position:].lstrip(" "))
            character = text[start]
            raise ExpressionError(_HINTS.get(character, f"{named(character)} is not allowed in an expression"), start)
        if token["glued"]:
            wrong = quote(token["number"] + token["glued"])
            cure = _cure(token["number"], token["glued"])
            raise ExpressionError(
                f"{wrong} is not a number ({cure}; units are SI; no _, hexadecimal or imaginary numbers)",
                token.start("number"),
            )
        if token["name"] and keyword.iskeyword(token["name"]):
            raise ExpressionError(f"{quote(token['name'])} is not allowed in an expression", token.start("name"))
        position = token.end()


def _cure(number: str, unit: str) -> str:
    """How a number with a unit behind it is written."""
    if unit in ("deg", "degree", "degrees"):
        return f"write {number}*deg"
    if unit in UNITS:
        return f"write {number}" + ("" if UNITS[unit] == "1" else f"*{UNITS[unit]}")
    return "a product needs *"


def _is_parameter(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and node.id not in FUNCTIONS and node.id not in CONSTANTS


def _checked(node: ast.expr, text: str, depth: int) -> ast.expr:
    """The tree with exact numbers and without plus signs. Raises ExpressionError for what is no expression."""
    start, end = node.col_offset, node.end_col_offset
    if depth > limits.EXPRESSION_DEPTH:
        raise _too_deep(text, start)
    match node:
        case ast.Constant(value=str()) if _QUOTED.fullmatch(text[start:end]):
            return ast.copy_location(ast.Name(f"'{unquoted(text[start:end])}'"), node)
        case ast.Constant(value=int() | float()):
            node.value = exact_number(text[start:end], start)  # type: ignore[assignment]
        case ast.Name(id=name):
            if name in FUNCTIONS:
                raise ExpressionError(f"{name} is a function: write {name}(...)", start)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _checked(operand, text, depth + 1)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            node.operand = _checked(operand, text, depth + 1)
        case ast.BinOp(op=ast.Pow(), left=base, right=exponent):
            node.left, node.right = _checked(base, text, depth + 1), _checked(exponent, text, depth + 1)
        case ast.BinOp(op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div()):
            # The length of a sum or a product is no depth.
            alike = _SUM if isinstance(node.op, _SUM) else _PRODUCT
            steps = [node]
            while isinstance(left := steps[-1].left, ast.BinOp) and isinstance(left.op, alike):
                steps.append(left)
            steps[-1].left = _checked(steps[-1].left, text, depth + 1)
            for step in reversed(steps):
                step.right = _checked(step.right, text, depth + 1)
        case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]):
            if name not in FUNCTIONS:
                near = "" if name in _LOGARITHMS else did_you_mean(name, FUNCTIONS)
                known = f"; known are {', '.join(FUNCTIONS)}{_LOGARITHMS.get(name, '')}"
                raise ExpressionError(f"{quote(name)} is not a function{near or known}", start)
            node.args = [_checked(argument, text, depth + 1)]
        case _:
            raise ExpressionError(f"{quote(text[start:end])} is not allowed in an expression", start)
    return node


def _value(node: ast.Constant) -> Fraction:
    """The exact number that ``_checked`` has put there."""
    return node.value  # type: ignore[return-value]


def _integer_exponent(node: ast.expr) -> int | None:
    match node:
        case ast.Constant() if _value(node).denominator == 1 and abs(_value(node)) <= limits.INTEGER_POWER:
            return int(_value(node))
        case ast.UnaryOp(operand=ast.Constant() as inner):
            positive = _integer_exponent(inner)
            return None if positive is None else -positive
        case _:
            return None


def _fold(
    node: ast.expr,
    leaf: Callable[[ast.expr], T | None],
    names: Mapping[str, T],
    functions: Mapping[str, Callable[[T], T]],
) -> T:
    """Recursion is bounded by EXPRESSION_DEPTH; ``leaf`` answers for the nodes it wants to end at."""

    def inside(part: ast.expr) -> Any:
        return _fold(part, leaf, names, functions)

    steps: list[ast.BinOp] = []  # of a sum or product from the left
    while (result := leaf(node)) is None and isinstance(node, ast.BinOp) and not isinstance(node.op, ast.Pow):
        steps.append(node)
        node = node.left
    if result is None:
        match node:
            case ast.Name(id=name):
                if name not in names:
                    raise ExpressionError(unknown_name(name, names), node.col_offset)
                result = names[name]
            case ast.UnaryOp(operand=operand):
                result = -inside(operand)
            case ast.Call(func=ast.Name(id=function), args=[argument]):
                result = functions[function](inside(argument))
            case ast.BinOp(left=base, right=exponent):
                power = _integer_exponent(exponent)
                result = inside(base) ** (inside(exponent) if power is None else power)
            case _:
                raise AssertionError(f"a leaf was not answered: {node!r}")
    for step in reversed(steps):
        result = _OPERATORS[type(step.op)](result, inside(step.right))
    return result
