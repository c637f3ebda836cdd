"""Closed forms: the tape of a traced function replayed with SymPy symbols, made short, and printed.

SymPy is an output format here. The robot's exact numbers take the place of the trace's parameter symbols, and what is
printed was compared in numbers with the trace it comes from.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import casadi
import sympy
from casadi import SX
from sympy import Expr, Symbol
from sympy.printing.latex import LatexPrinter
from sympy.printing.pycode import PythonCodePrinter
from sympy.printing.str import StrPrinter

from kronbot.compute import naming, trees, writing
from kronbot.compute.polynomials import Reader
from kronbot.compute.simplification import Nested, Number, Unfinished
from kronbot.compute.tape import Arithmetic, replay
from kronbot.compute.trees import Probe
from kronbot.description.expressions import Expression, evaluate, exact
from kronbot.errors import ComputationError
from kronbot.model.parameters import Parameters

MOST_INSTRUCTIONS = 20_000
"""Longest tape that is replayed."""
MOST_OPERATIONS = 150_000
"""Most operations of a matrix that is printed, counted with every common part written out."""
TOO_LONG = "the closed form is too long: {}, {} are the limit; {}"
INSTEAD = "ask for numbers (--q), or take fewer modes or --order 1"

# A float of the tape that is the nearest one to a fraction with a smaller denominator stands for the fraction.
SIMPLE_DENOMINATOR = 1000
# Twos in the denominator of a coefficient that only a number of the mode shapes brings in.
FLOAT_DENOMINATOR = 1 << 30
# Powers of literals up to this are exact fractions, e.g. 1.05**40.
EXACT_POWER = 1000
# Terms up to which the plain sum is tried beside the one with brackets.
READABLE = 60

FUNCTIONS = ("sqrt", "exp", "log", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "sign", "floor")
UNARY: dict[int, Callable[[Expr], Expr]] = {
    casadi.OP_ASSIGN: lambda a: a,
    casadi.OP_NEG: operator.neg,
    casadi.OP_SQ: lambda a: a**2,
    casadi.OP_TWICE: lambda a: 2 * a,
    casadi.OP_INV: lambda a: 1 / a,
    casadi.OP_FABS: sympy.Abs,
    casadi.OP_NOT: lambda a: _choice(1, sympy.Not(_true(a))),
    **{getattr(casadi, f"OP_{name.upper()}"): getattr(sympy, name) for name in FUNCTIONS},
}
BINARY: dict[int, Callable[[Expr, Expr], Expr]] = {
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


@dataclass(frozen=True)
class ClosedForm:
    """A matrix of formulas.

    ``matrix`` is a SymPy matrix in the symbols of ``inputs`` (names in the order given), parameters and modal data;
    ``definitions`` are symbols that stand for parts of it (short sines, common parts), in terms of the ones before;
    ``modal`` says what modal data are in terms of the parameters. ``complete`` is False where :meth:`simplified` left
    entries as they were, because the time was up or they are too long.
    """

    matrix: sympy.ImmutableDenseMatrix
    inputs: tuple[str, ...]
    modal: dict[Symbol, Expr]
    values: Mapping[str, float | None]
    probe: Probe
    complete: bool = True
    definitions: tuple[tuple[Symbol, Expr], ...] = ()
    latex_names: dict[Symbol, str] = field(default_factory=dict)

    @property
    def operations(self) -> int:
        """Operations of all entries and definitions, common parts counted as often as they stand there."""
        return sum(trees.operations(part) for part in (*self.matrix, *(meaning for _, meaning in self.definitions)))

    def simplified(self, seconds: float) -> ClosedForm:
        """Every entry in its shortest form found within the time (s), short entries first.

        Products are multiplied out, squares and sums of angles of parallel joints found, common factors put before
        brackets; the result replaces an entry where it is not longer and agrees in numbers with the trace. To be called
        before :meth:`short` and :meth:`shared`.
        """
        entries = list(self.matrix)
        writer, sizes = _Writer(entries, self.inputs, seconds), list(map(trees.operations, entries))
        known: dict[Expr, Expr] = {}
        complete = True
        for place in sorted(range(len(entries)), key=lambda k: (sizes[k], k)):
            entry = entries[place]
            if entry not in known:
                known[entry] = entry
                try:
                    shorter = writer.shortest(entry)
                except (Unfinished, RecursionError):
                    complete = False
                else:
                    if trees.operations(shorter) <= sizes[place] and self.probe.agrees(shorter, entry, place):
                        known[entry] = shorter
            entries[place] = known[entry]
        return replace(self, matrix=self._shaped(entries), complete=complete)

    def short(self) -> ClosedForm:
        """With s2, c23 for sin(q2), cos(q2 + q3), where an angle is a sum of inputs; the meanings are definitions."""
        taken = self._names()
        places = {_symbol(name): place for place, name in enumerate(self.inputs)}
        calls: list[tuple[list[int], Expr]] = []
        for call in trees.parts(self.matrix):
            terms = sympy.Add.make_args(call.args[0]) if isinstance(call, (sympy.sin, sympy.cos)) else [None]
            if all(term in places for term in terms):
                calls.append((sorted(places[term] for term in terms), call))
        short: dict[Expr, Symbol] = {}
        latex = dict(self.latex_names)
        for angle, call in sorted(calls, key=lambda item: (item[0], str(item[1]))):
            names = [self.inputs[place] for place in angle]
            text, written = naming.short_call(call.func.__name__[0], names, self.inputs)
            if text not in taken:
                taken.add(text)
                short[call] = _symbol(text)
                latex[short[call]] = written
        matrix = self._shaped(trees.replaced(self.matrix, short))
        definitions = [(symbol, call) for call, symbol in short.items()]
        return replace(self, matrix=matrix, definitions=(*definitions, *self.definitions), latex_names=latex)

    def shared(self, letter: str = "x") -> ClosedForm:
        """With symbols x0, x1, ... for common subexpressions; the meanings are definitions."""
        fresh = (_symbol(name) for name in naming.unused(self._names(), letter))
        # The canonical order compares whole trees again and again.
        order = "canonical" if self.operations <= MOST_OPERATIONS else "none"
        common, matrices = sympy.cse([self.matrix], symbols=fresh, order=order)
        return replace(self, matrix=matrices[0].as_immutable(), definitions=(*self.definitions, *common))

    def text(self) -> list[list[str]]:
        """The entries as text. Raises ComputationError where they are too long, as the other writings do."""
        return self._written(_Text())

    def latex_entries(self) -> list[list[str]]:
        """The entries as LaTeX."""
        return self._written(self._latex())

    def latex(self) -> str:
        """The matrix as LaTeX (mathematics, without delimiters)."""
        return writing.latex_matrix(self.latex_entries())

    def legend(self, latex: bool = False) -> list[tuple[str, str]]:
        """What the symbols of ``definitions`` mean, then the modal data that the formulas hold."""
        self._demand_size()
        printer = self._latex() if latex else _Text()
        return [(printer.doprint(s), printer.doprint(meaning)) for s, meaning in (*self.definitions, *self._modal())]

    def python(self, name: str) -> str:
        """Source of a Python function that needs only ``math``: inputs, then parameters by name; nested lists.

        Parameters have the robot's values as defaults; modal data are computed from them. ``name`` must be an
        identifier.
        """
        self._demand_size()
        assigned = [*self._modal(), *self.definitions]
        used = self._free().union(*(meaning.free_symbols for _, meaning in assigned))
        parameters = [name for name in self.values if _symbol(name) in used]
        words = naming.identifiers([*self.inputs, *parameters, *(symbol.name for symbol, _ in assigned)])
        renamed = {_symbol(old): _symbol(new) for old, new in words.items()}

        def written(expression: Expr) -> str:
            return str(_Python().doprint(expression.xreplace(renamed)))

        return writing.python_function(
            name,
            [words[name] for name in self.inputs],
            {words[name]: self.values[name] for name in parameters},
            [(words[symbol.name], written(meaning)) for symbol, meaning in assigned],
            [map(written, row) for row in self.matrix.tolist()],
        )

    def _shaped(self, entries: list[Expr]) -> sympy.ImmutableDenseMatrix:
        return sympy.ImmutableDenseMatrix(*self.matrix.shape, entries)

    def _written(self, printer: _Text | LatexPrinter) -> list[list[str]]:
        self._demand_size()
        return [[printer.doprint(entry) for entry in row] for row in self.matrix.tolist()]

    def _latex(self) -> LatexPrinter:
        names = {s: written for s in self._free() if (written := naming.latex_name(s.name)) is not None}
        return _Latex({"symbol_names": names | self.latex_names})

    def _modal(self) -> list[tuple[Symbol, Expr]]:
        used = self._free()
        return [(symbol, value) for symbol, value in self.modal.items() if symbol in used]

    def _free(self) -> set[Symbol]:
        parts = trees.parts([*self.matrix, *(meaning for _, meaning in self.definitions)])
        return {part for part in parts if part.is_Symbol}

    def _names(self) -> set[str]:
        return {symbol.name for symbol in self._free()} | set(self.inputs) | set(self.values)

    def _demand_size(self) -> None:
        if (count := self.operations) > MOST_OPERATIONS:
            cure = f"{INSTEAD}, or have common parts written once (--cse)"
            raise ComputationError(TOO_LONG.format(f"{count} operations", MOST_OPERATIONS, cure))


def closed_form(expression: SX, inputs: Mapping[str, SX], parameters: Parameters) -> ClosedForm:
    """The traced expression (r x s) as formulas.

    ``inputs`` are the symbols (1 x 1 each) that it depends on besides those of ``parameters``, by the names they are to
    have. Literals of the robot file appear with their exact values, parameters by name, modal data as X1, D1, m11, ...
    Raises ComputationError where the tape is too long or holds something without a formula, such as a table.
    """
    column = casadi.cse(casadi.densify(casadi.vec(expression.T)))  # row after row, as SymPy counts entries
    tape = casadi.Function("closed_form", [*inputs.values(), parameters.symbols()], [column])
    named = naming.distinct(parameters.named, inputs)
    names = naming.modal_names(parameters.modal, {*inputs, *named.values()})
    base = [_symbol(name) for name in named.values()]
    base += [_exact(literal) for _, literal in parameters.literals.values()]
    modal = [_symbol(names[key]) for key in parameters.modal]
    arguments = [*([_symbol(name)] for name in inputs), [*base, *modal]]

    values = casadi.densify(casadi.vertcat(SX(0, 1), *(value for _, value in parameters.modal.values())))
    tape_of_modal = casadi.Function("modal", [parameters.symbols()[: len(base), :]], [values])
    return ClosedForm(
        matrix=sympy.ImmutableDenseMatrix(*expression.shape, _replayed(tape, arguments)),
        inputs=tuple(inputs),
        modal=dict(zip(modal, _replayed(tape_of_modal, [base]), strict=True)),
        values={name: parameters.values[key] for key, name in named.items()},
        probe=Probe.somewhere(tape, arguments),
    )


def _symbol(name: str) -> Symbol:
    return Symbol(name, real=True)


def _replayed(tape: casadi.Function, arguments: list[list[Expr]]) -> list[Expr]:
    if (count := tape.n_instructions()) > MOST_INSTRUCTIONS:
        raise ComputationError(TOO_LONG.format(f"{count} instructions", MOST_INSTRUCTIONS, INSTEAD))
    return replay(tape, arguments, Arithmetic(_constant, UNARY, BINARY))


def _constant(value: float) -> Expr:
    simple = Fraction(value).limit_denominator(SIMPLE_DENOMINATOR)
    dyadic = Fraction(value)
    if float(simple) == value:
        return _rational(simple)
    return _rational(dyadic) if dyadic.denominator < FLOAT_DENOMINATOR else sympy.Float(value, 17)


def _rational(value: Number) -> Expr:
    return sympy.Rational(value.numerator, value.denominator)


def _exact(literal: Expression) -> Expr:
    """The exact value of an expression without parameters; a float where its powers would fill the memory."""
    value = exact(literal, {})
    if value is not None:
        return _rational(value.rational) + _rational(value.pi) * sympy.pi
    functions = {name: getattr(sympy, name) for name in FUNCTIONS}
    with sympy.evaluate(False):
        tree = literal.fold(_rational, {"pi": sympy.pi, "deg": sympy.pi / 180}, functions)
    exponents = [abs(float(part.exp)) for part in trees.parts([tree]) if isinstance(part, sympy.Pow)]
    if math.prod(max(exponent, 1.0) for exponent in exponents) > EXACT_POWER:
        return sympy.Float(evaluate(literal, {}), 17)
    return tree.doit()


class _Writer(Reader):
    """Entries read as polynomials, made short and written as expressions again."""

    def shortest(self, entry: Expr) -> Expr:
        """The entry in a shorter form. Raises Unfinished."""
        polynomial = self.basis.shortest(self.polynomial(entry))
        nested = self._expression(self.basis.nested(polynomial))
        if len(polynomial) > READABLE:
            return nested
        return min(self._expression(self.basis.flat(polynomial)), nested, key=trees.operations)

    def _expression(self, nested: Nested) -> Expr:
        sums = []
        for coefficient, factors, bracket in nested:
            powers = [self._atom(self.basis.keys[atom]) ** exponent for atom, exponent in factors]
            inner = [] if bracket is None else [self._expression(bracket)]
            sums.append(sympy.Mul(self._coefficient(coefficient), *powers, *inner))
        return sympy.Add(*sums)

    def _coefficient(self, value: Number) -> Expr:
        twos = value.denominator & -value.denominator
        return sympy.Float(float(value), 17) if self.rounded and twos > FLOAT_DENOMINATOR else _rational(value)

    def _atom(self, key: Any) -> Expr:
        """The expression of an atom by its key: ("root", a, n), ("sin", angle), ("cos", angle) or the expression."""
        if not isinstance(key, tuple):
            return key
        if key[0] == "root":
            return sympy.Pow(key[1], sympy.Rational(1, key[2]))
        terms = list(self.terms)
        argument = sympy.Add(*(self._coefficient(factor) * terms[term] for term, factor in key[1]))
        return getattr(sympy, key[0])(argument)


class _Text(StrPrinter):  # type: ignore[misc]
    def _print_Float(self, number: Expr) -> str:
        return repr(float(number))


class _Python(PythonCodePrinter):  # type: ignore[misc]
    _print_Float = _Text._print_Float


class _Latex(LatexPrinter):  # type: ignore[misc]
    def _print_Float(self, number: Expr) -> str:
        mantissa, _, exponent = repr(float(number)).partition("e")
        return mantissa + (rf" \cdot 10^{{{int(exponent)}}}" if exponent else "")
