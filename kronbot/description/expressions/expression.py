"""Values of expressions: floating point, exact multiples of pi, and tables of parameters that refer to each other."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache
from graphlib import CycleError as GraphlibCycleError
from graphlib import TopologicalSorter
from typing import Final

from kronbot.description import limits
from kronbot.description.circles import beginning_with, circles
from kronbot.description.expressions.grammar import CONSTANTS, FUNCTIONS, Expression, ExpressionError, Number, parse
from kronbot.description.wording import quote, unknown_name
from kronbot.records import dataclass

__all__ = [
    "CONSTANTS",
    "FUNCTIONS",
    "CycleError",
    "Expression",
    "ExpressionError",
    "Number",
    "PiLinear",
    "depending",
    "evaluate",
    "exact",
    "exact_values",
    "following",
    "parse",
    "quarter_turns",
    "resolve_each",
]

# Enough digits that a + b pi rounds correctly whatever a and b a file can hold short of a contrived cancellation.
_PI = Fraction(
    "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798214808651"
)


@dataclass(frozen=True, slots=True)
class PiLinear:
    """The exact number ``rational + pi * PI``; its operators give floats where a result is not of this form."""

    rational: Fraction
    pi: Fraction

    def __float__(self) -> float:
        return float(self.rational + self.pi * _PI) if self.pi else float(self.rational)

    def __neg__(self) -> PiLinear:
        return PiLinear(-self.rational, -self.pi)

    def __add__(self, other: Real) -> Real:
        if isinstance(other, PiLinear):
            return _bounded(self.rational + other.rational, self.pi + other.pi)
        return float(self) + other

    def __radd__(self, other: float) -> float:
        return other + float(self)

    def __sub__(self, other: Real) -> Real:
        return self + (-other)

    def __rsub__(self, other: float) -> float:
        return other - float(self)

    def __mul__(self, other: Real) -> Real:
        if not isinstance(other, PiLinear):
            return float(self) * other
        if self.pi and other.pi:
            return float(self) * float(other)
        return _bounded(self.rational * other.rational, self.rational * other.pi + self.pi * other.rational)

    def __rmul__(self, other: float) -> float:
        return other * float(self)

    def __truediv__(self, other: Real) -> Real:
        if not isinstance(other, PiLinear):
            return float(self) / other
        if not other.pi:
            return _bounded(self.rational / other.rational, self.pi / other.rational)
        if not self.rational and not other.rational:
            return _bounded(self.pi / other.pi, Fraction(0))
        return float(self) / float(other)

    def __rtruediv__(self, other: float) -> float:
        return other / float(self)

    def __pow__(self, other: int | Real) -> Real:
        if isinstance(other, PiLinear) and not other.pi and other.rational.denominator == 1:
            other = int(other.rational)
        small = isinstance(other, int) and abs(other) <= limits.INTEGER_POWER
        if not isinstance(other, int) or not small or self.pi or _bits(self.rational) * abs(other) > limits.EXACT_BITS:
            return float(self) ** float(other)  # type: ignore[no-any-return]
        return PiLinear(self.rational**other, Fraction(0))

    def __rpow__(self, other: float) -> float:
        return other ** float(self)  # type: ignore[no-any-return]


Real = PiLinear | float

_EXACT_NAMES: Final[dict[str, Real]] = {
    "pi": PiLinear(Fraction(0), Fraction(1)),
    "deg": PiLinear(Fraction(0), Fraction(1, 180)),
}
_FLOAT_NAMES: Final = {name: float(value) for name, value in _EXACT_NAMES.items()}


def _bits(value: Fraction) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def _bounded(rational: Fraction, pi: Fraction) -> Real:
    """Exact as long as the fractions stay small enough to compute with."""
    result = PiLinear(rational, pi)
    return result if max(_bits(rational), _bits(pi)) <= limits.EXACT_BITS else float(result)


def _number(value: Fraction) -> Real:
    return PiLinear(value, Fraction(0))


def _through_floats(function: Callable[[float], float]) -> Callable[[Real], Real]:
    return lambda argument: function(float(argument))


def _exact_at_quarters(name: str, value: Callable[[int, int], Fraction]) -> Callable[[Real], Real]:
    """A function of an angle, exact where that is a multiple of pi/2: there ``value`` of its sine and cosine.

    As floats the pole of the tangent would be a number.
    """
    rounded = _through_floats(getattr(math, name))

    def function(angle: Real) -> Real:
        turns = _quarters(angle) if isinstance(angle, PiLinear) else None
        return rounded(angle) if turns is None else _number(value(*_QUARTERS[turns % 4]))

    return function


def _quarters(angle: PiLinear) -> int | None:
    return None if angle.rational or (2 * angle.pi).denominator != 1 else int(2 * angle.pi)


# Sine and cosine of 0, pi/2, pi, 3 pi/2.
_QUARTERS: Final = ((0, 1), (1, 0), (0, -1), (-1, 0))

_FLOAT_FUNCTIONS: Final[dict[str, Callable[[float], float]]] = {name: getattr(math, name) for name in FUNCTIONS}
_FUNCTIONS: Final[dict[str, Callable[[Real], Real]]] = {
    **{name: _through_floats(getattr(math, name)) for name in FUNCTIONS},
    "sin": _exact_at_quarters("sin", lambda s, c: Fraction(s)),
    "cos": _exact_at_quarters("cos", lambda s, c: Fraction(c)),
    "tan": _exact_at_quarters("tan", Fraction),
}


def evaluate(expression: Expression, values: Mapping[str, float]) -> float:
    """The value of ``expression`` as a float, with the parameters in ``values``.

    Rational parts and multiples of pi are computed exactly and rounded once. Raises ExpressionError where a name has
    no value, and where the result is no finite real number (division by zero, overflow, root of a negative number).
    """
    return float(_real(expression, values)) if expression.names else _constant(expression)


@lru_cache(4096)
def _constant(expression: Expression) -> float:
    return float(_real(expression, {}))


def exact(expression: Expression, parameters: Mapping[str, Expression | None]) -> PiLinear | None:
    """The value as ``a + b pi`` with fractions a and b, or None where it is not of this form.

    ``parameters`` are expressions over each other; None is a free one. None is also the answer for anything that has
    no value (a free or unknown name, a cycle, a division by zero) or whose fractions grow too large.
    """
    needed: dict[str, Expression] = {}
    waiting = list(expression.names)
    while waiting:
        name = waiting.pop()
        definition = parameters.get(name)
        if definition is None:
            return None
        if name not in needed:
            needed[name] = definition
            waiting.extend(definition.names)
    values, mistakes = exact_values(needed)
    if mistakes:
        return None
    try:
        result = _real(expression, {name: value for name, value in values.items() if value is not None})
    except ExpressionError:
        return None
    return result if isinstance(result, PiLinear) else None


def quarter_turns(expression: Expression, parameters: Mapping[str, Expression | None]) -> int | None:
    """How many times pi/2 the value exactly is, or None where it is no integer multiple."""
    value = exact(expression, parameters)
    return None if value is None else _quarters(value)


class CycleError(ExpressionError):
    """Parameters define each other in a circle; ``cycle`` names them in order."""

    def __init__(self, cycle: tuple[str, ...]) -> None:
        shown = " -> ".join(quote(name) for name in (*cycle[:10], *(("...",) if len(cycle) > 10 else ()), cycle[0]))
        text = f"the parameters define each other in a circle: {shown}"
        super().__init__(text if len(cycle) > 1 else f"the parameter {quote(cycle[0])} is defined by itself")
        self.cycle = cycle


def resolve_each(
    parameters: Mapping[str, Expression | None],
) -> tuple[dict[str, float | None], dict[str, ExpressionError]]:
    """Value of every parameter; None for the free ones, for those that depend on them, and for mistaken ones.

    With them what is wrong, by parameter: CycleError for a circle, ExpressionError for an unknown name or no value.
    """
    values, mistakes = exact_values(parameters)
    return {name: None if value is None else float(value) for name, value in values.items()}, mistakes


def exact_values(
    parameters: Mapping[str, Expression | None],
) -> tuple[dict[str, Real | None], dict[str, ExpressionError]]:
    """As ``resolve_each``, with exact values where they are known."""
    values: dict[str, Real | None] = dict.fromkeys(parameters)
    mistakes: dict[str, ExpressionError] = {}
    order, cycles = _ordered(parameters)
    for cycle in cycles:
        mistakes[cycle[0]] = CycleError(cycle)
    for name in order:
        expression = parameters[name]
        if expression is None:
            continue
        unknown = sorted(name for name in expression.names if name not in parameters)
        if unknown:
            guessed = parameters if len(mistakes) < limits.MISTAKES else ()
            mistakes[name] = ExpressionError(unknown_name(unknown[0], guessed))
            continue
        known = {other: value for other in expression.names if (value := values[other]) is not None}
        if len(known) == len(expression.names):
            try:
                values[name] = _real(expression, known)
            except ExpressionError as error:
                mistakes[name] = error
    return values, mistakes


def following(
    parameters: Mapping[str, Expression | None], values: Mapping[str, float], number: Callable[[Fraction], float]
) -> dict[str, float]:
    """The values, with those of expressions over other parameters made anew from these, each literal by ``number``.

    What has no real value then keeps the one that it had.
    """
    found = dict(values)
    for name in _ordered(parameters)[0]:
        expression = parameters[name]
        if expression is not None and expression.names:
            with suppress(ArithmeticError, ValueError, TypeError):
                found[name] = float(expression.fold(number, {**found, **_FLOAT_NAMES}, _FLOAT_FUNCTIONS))
    return found


def depending(parameters: Mapping[str, Expression | None], names: Iterable[str]) -> frozenset[str]:
    """Some parameters, and all whose expressions depend on them."""
    found = set(names)
    for name in _ordered(parameters)[0]:
        expression = parameters[name]
        if expression is not None and not found.isdisjoint(expression.names):
            found.add(name)
    return frozenset(found)


def _ordered(parameters: Mapping[str, Expression | None]) -> tuple[list[str], list[tuple[str, ...]]]:
    """Names with every definition before its use, as far as there is an order, and the cycles."""
    needs = {
        name: sorted(other for other in e.names if other in parameters) if e else [] for name, e in parameters.items()
    }
    sorter = TopologicalSorter(needs)
    with suppress(GraphlibCycleError):  # of which it tells one
        sorter.prepare()
    order: list[str] = []
    while ready := sorter.get_ready():
        order += ready
        sorter.done(*ready)
    # What is left waits for something that is left too, so that following first needs must come to a circle.
    left = dict.fromkeys(parameters)
    for name in order:
        del left[name]
    place = {name: index for index, name in enumerate(left)}
    waits = {name: next(other for other in needs[name] if other in left) for name in left}
    return order, [tuple(beginning_with(min(circle, key=place.__getitem__), circle)) for circle in circles(waits)]


def _real(expression: Expression, values: Mapping[str, Real]) -> Real:
    """Fold with exact arithmetic as far as it goes. Raises ExpressionError where there is no finite real value."""
    try:
        result = expression.fold(_number, {**values, **_EXACT_NAMES}, _FUNCTIONS)
        rounded: object = float(result) if isinstance(result, PiLinear) else result
    except ZeroDivisionError:
        raise ExpressionError(f"division by zero in {quote(expression.text)}") from None
    except OverflowError:
        raise ExpressionError(f"{quote(expression.text)} is too large for a floating point number") from None
    except (ValueError, TypeError) as error:
        if isinstance(error, ExpressionError):
            raise
        raise ExpressionError(f"{quote(expression.text)} has no real value") from None
    if not isinstance(rounded, float):
        raise ExpressionError(f"{quote(expression.text)} has no real value")
    if not math.isfinite(rounded):
        raise ExpressionError(f"{quote(expression.text)} is too large for a floating point number")
    return result
