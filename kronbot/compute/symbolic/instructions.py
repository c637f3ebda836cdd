"""What the instructions of a tape and the expressions of a robot file are in SymPy, and how many there will be."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from fractions import Fraction

import casadi
import sympy
from sympy import Expr

from kronbot.compute.symbolic import trees
from kronbot.compute.symbolic.simplification import FLOAT_DENOMINATOR, Number, unbounded
from kronbot.description.expressions.expression import Expression, evaluate, exact
from kronbot.description.wording import quote
from kronbot.errors import Argument, ComputationError
from kronbot.kronecker.tape import replay

# A float of the tape that is the nearest one to a fraction with a smaller denominator stands for the fraction.
SIMPLE_DENOMINATOR = 1000
# So does one that rounding in sums moved by up to so many units in the last place off a fraction whose
# numerator times denominator is at most this: chance brings 2 in 10**9 numbers there, however large they are.
ROUNDED, SIMPLE_FRACTION = 16, 10**6
# Another number is written as the shortest decimal so many units from it.
SHORTENED = 2
# Powers of literals up to this are exact fractions, e.g. 1.05**40.
EXACT_POWER = 1000

FUNCTIONS = ("sqrt", "exp", "log", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "sign", "floor")
OPERATIONS: dict[int, Callable[..., Expr]] = {
    casadi.OP_ASSIGN: lambda a: a,
    casadi.OP_NEG: operator.neg,
    casadi.OP_SQ: lambda a: a**2,
    casadi.OP_TWICE: lambda a: 2 * a,
    casadi.OP_INV: lambda a: 1 / a,
    casadi.OP_FABS: sympy.Abs,
    casadi.OP_NOT: lambda a: _choice(1, sympy.Not(_true(a))),
    **{getattr(casadi, f"OP_{name.upper()}"): getattr(sympy, name) for name in FUNCTIONS},
    casadi.OP_ADD: operator.add,
    casadi.OP_SUB: operator.sub,
    casadi.OP_MUL: operator.mul,
    casadi.OP_DIV: operator.truediv,
    casadi.OP_POW: operator.pow,
    casadi.OP_CONSTPOW: operator.pow,
    casadi.OP_ATAN2: sympy.atan2,
    casadi.OP_FMIN: sympy.Min,
    casadi.OP_FMAX: sympy.Max,
    casadi.OP_LT: lambda a, b: _choice(1, a < b),
    casadi.OP_LE: lambda a, b: _choice(1, a <= b),
    casadi.OP_EQ: lambda a, b: _choice(1, sympy.Eq(a, b)),
    casadi.OP_NE: lambda a, b: _choice(1, sympy.Ne(a, b)),
    casadi.OP_AND: lambda a, b: _choice(1, sympy.And(_true(a), _true(b))),
    casadi.OP_OR: lambda a, b: _choice(1, sympy.Or(_true(a), _true(b))),
    casadi.OP_IF_ELSE_ZERO: lambda a, b: _choice(b, _true(a)),
}


def _choice(value: Expr, condition: sympy.Basic) -> Expr:
    return sympy.Piecewise((value, condition), (0, True))


def _true(number: Expr) -> sympy.Basic:
    """The condition behind a 0 or 1 of the tape."""
    if isinstance(number, sympy.Piecewise) and number.args[0][0] == 1 and len(number.args) == 2:
        return number.args[0][1]
    return sympy.Ne(number, 0)


def _function(code: int) -> Callable[..., Expr]:
    """What an instruction is in SymPy. Raises ComputationError for one that has no formula."""
    if code not in OPERATIONS:
        raise ComputationError(
            "there is no closed form: a table in it has no formula; ask for numbers (", Argument("q"), ")"
        )
    return OPERATIONS[code]


def expressions(
    tape: casadi.Function, arguments: Sequence[Sequence[Expr]], check_time: Callable[[], None] = unbounded
) -> list[Expr]:
    """The entries of a tape for symbols or numbers in the place of its inputs."""

    def done(code: int, operands: list[Expr]) -> Expr:
        check_time()
        return _function(code)(*operands)

    return replay(tape, arguments, _constant, done)


def operations(tape: casadi.Function) -> list[int]:
    """Operations of every entry of a tape, common parts counted as often as they stand in it, without writing it."""

    def counted(code: int, operands: list[int]) -> int:
        _function(code)
        return sum(operands) + (code != casadi.OP_ASSIGN)

    return replay(tape, [[0] * tape.size1_in(i) for i in range(tape.n_in())], lambda number: 0, counted)


def _constant(value: float) -> Expr:
    simple = Fraction(value).limit_denominator(SIMPLE_DENOMINATOR)
    dyadic = Fraction(value)
    if float(simple) == value:
        return rational(simple)
    return rational(dyadic) if dyadic.denominator < FLOAT_DENOMINATOR else unrounded(dyadic)


def unrounded(value: Number) -> Expr:
    """What a rounded number stands for: the simple fraction it was rounded from, else the shortest decimal near it."""
    number = float(value)
    unit = math.ulp(number)
    largest = max(1, math.isqrt(int(SIMPLE_FRACTION / max(abs(number), 1 / SIMPLE_FRACTION))))
    simple = Fraction(value).limit_denominator(largest)
    if abs(simple - value) <= ROUNDED * unit:
        return rational(simple)
    decimals = (float(f"{number:.{digits}g}") for digits in range(1, 18))
    return sympy.Float(next(decimal for decimal in decimals if abs(decimal - number) <= SHORTENED * unit), 17)


def rational(value: Number) -> Expr:
    """A whole number or a fraction in SymPy."""
    return sympy.Rational(value.numerator, value.denominator)


def literal_value(literal: Expression) -> Expr:
    """The exact value of an expression without parameters; a float where its powers would fill the memory.

    Raises ComputationError where there is none, and the rounding of numbers made one: 1/(sin(pi/6) - 1/2).
    """
    value = exact(literal, {})
    if value is not None:
        return rational(value.rational) + rational(value.pi) * sympy.pi
    functions = {name: getattr(sympy, name) for name in FUNCTIONS}
    with sympy.evaluate(False):
        tree = literal.fold(rational, {"pi": sympy.pi, "deg": sympy.pi / 180}, functions)
    exponents = [abs(float(part.exp)) for part in trees.parts([tree]) if isinstance(part, sympy.Pow)]
    if math.prod(max(exponent, 1.0) for exponent in exponents) > EXACT_POWER:
        return sympy.Float(evaluate(literal, {}), 17)
    value = tree.doit()
    if value.has(sympy.zoo, sympy.nan, sympy.oo, -sympy.oo):
        raise ComputationError(f"{quote(literal.text)} has no finite value in exact arithmetic, and formulas are exact")
    return value
