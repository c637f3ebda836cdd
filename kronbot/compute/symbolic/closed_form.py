"""Closed forms: the tape of a traced function replayed with SymPy symbols, made short, and printed.

SymPy is an output format here. The robot's exact numbers take the place of the trace's parameter symbols, and what is
printed was compared in numbers with the trace it comes from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any

import casadi
import sympy
from casadi import SX
from sympy import Expr, Symbol
from sympy.core.cache import clear_cache
from sympy.printing.printer import Printer

from kronbot.compute.symbolic import naming, printers, trees, writing
from kronbot.compute.symbolic.instructions import expressions, literal_value, operations, rational, unrounded
from kronbot.compute.symbolic.polynomials import Reader
from kronbot.compute.symbolic.simplification import FLOAT_DENOMINATOR, Nested, Number, Unfinished, unbounded
from kronbot.compute.symbolic.trees import Probe
from kronbot.errors import Argument, ComputationError
from kronbot.model.parameters import Parameters
from kronbot.records import dataclass

MOST_INSTRUCTIONS = 20_000
"""Longest tape that is replayed."""
MOST_OPERATIONS = 150_000
"""Most operations of a matrix that is printed, counted with every common part written out."""
MOST_WRITTEN_OUT = 20 * MOST_OPERATIONS
"""Most of them before simplification, which finds a tenth where joints are parallel and hardly ever less."""
MOST_MATCHED = 2_000
"""Most different parts of a matrix in which sums and products are searched for common terms, not only compared."""
TOO_LONG = "the closed form is too long: {}, {} are the limit; "
INSTEAD = ("ask for numbers (", Argument("q"), ")")
SHARE = (*INSTEAD, ", or have common parts written once (", Argument("shared"), ")")

# Terms up to which the plain sum is tried beside the one with brackets.
READABLE = 60


@dataclass(frozen=True)
class ClosedForm:
    """A matrix of formulas.

    ``matrix`` is a SymPy matrix in the symbols of ``inputs`` (names in the order given), parameters and modal data;
    ``definitions`` are symbols that stand for parts of it (short sines, common parts), in terms of the ones before;
    ``modal`` says what modal data are in terms of the parameters; ``spelling`` has the names in the robot file of
    symbols that are written otherwise (a-b and pi are no formula's names). ``complete`` is False where
    :meth:`simplified` left entries as they were, because the time was up or they are too long. ``check_time`` is asked
    at every step of sharing and writing, and may raise Unfinished.
    """

    matrix: sympy.ImmutableDenseMatrix
    inputs: tuple[str, ...]
    modal: dict[Symbol, Expr]
    values: Mapping[str, float | None]
    probe: Probe
    spelling: dict[str, str]
    complete: bool = True
    definitions: tuple[tuple[Symbol, Expr], ...] = ()
    latex_names: dict[Symbol, str] = field(default_factory=dict)
    check_time: Callable[[], None] = unbounded

    @property
    def operations(self) -> int:
        """Operations of all entries and definitions, common parts counted as often as they stand there."""
        return sum(trees.each_operations([*self.matrix, *(meaning for _, meaning in self.definitions)]))

    @property
    def parts(self) -> int:
        """Different parts of all entries: what the formulas take with common parts written once, about."""
        return len(trees.parts(self.matrix))

    def simplified(self, seconds: float) -> ClosedForm:
        """Every entry in its shortest form found within the time (s), short entries first.

        Products are multiplied out, squares and sums of angles of parallel joints found, common factors put before
        brackets; the result replaces an entry where it is not longer and agrees in numbers with the trace. To be called
        before :meth:`short` and :meth:`shared`.
        """
        entries = list(self.matrix)
        if seconds <= 0.0:
            return replace(self, complete=not entries)
        writer, sizes = _Writer(entries, self.inputs, seconds), trees.each_operations(entries)
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
            words = [self.inputs[place] for place in angle]
            names = [self.spelling.get(word, word) for word in words]
            text, written = naming.short_call(call.func.__name__[0], words, self.inputs, names)
            if text not in taken:
                taken.add(text)
                short[call] = _symbol(text)
                latex[short[call]] = written
        matrix = self._shaped(trees.replaced(self.matrix, short))
        definitions = [(symbol, call) for call, symbol in short.items()]
        return replace(self, matrix=matrix, definitions=(*definitions, *self.definitions), latex_names=latex)

    def shared(self, letter: str = "x") -> ClosedForm:
        """With symbols x0, x1, ... for common subexpressions; the meanings are definitions."""
        clear_cache()
        fresh = (self._in_time(_symbol(name)) for name in naming.unused(self._names(), letter))
        if self.parts > MOST_MATCHED:
            common, entries = trees.shared(self.matrix, fresh)
        else:
            # The canonical order compares whole trees again and again.
            order = "canonical" if self.operations <= MOST_OPERATIONS else "none"
            common, (matrix,) = sympy.cse([self.matrix], symbols=fresh, order=order)
            entries = list(matrix)
        return replace(self, matrix=self._shaped(entries), definitions=(*self.definitions, *common))

    def text(self) -> list[list[str]]:
        """The entries as text. Raises ComputationError where they are too long, as the other writings do."""
        return self._written(printers.Text().asking(self.check_time))

    def latex(self) -> list[list[str]]:
        """The entries as LaTeX."""
        return self._written(self._latex())

    def legend(self, latex: bool = False) -> list[tuple[str, str]]:
        """What symbols mean: those of ``definitions``, modal data that the formulas hold, names spelt otherwise."""
        self.demand_size()
        printer = self._latex() if latex else printers.Text().asking(self.check_time)
        means = (*self.definitions, *self._modal())
        meanings = [(printer.doprint(s), printer.doprint(self._in_time(value))) for s, value in means]
        free = self._free()
        spelt = ((w, name) for w, name in self.spelling.items() if not latex and _symbol(w) in free)
        known = {symbol for symbol, _ in meanings}
        return [*meanings, *(each for each in spelt if each[0] not in known)]

    def python(self, name: str) -> str:
        """Source of a Python function that needs only ``math``: inputs, then parameters by name; nested lists.

        Parameters have the robot's values as defaults; modal data are computed from them. ``name`` must be an
        identifier.
        """
        self.demand_size()
        assigned = [*self._modal(), *self.definitions]
        used = self._free().union(*(meaning.free_symbols for _, meaning in assigned))
        parameters = [name for name in self.values if _symbol(name) in used]
        words = naming.identifiers([*self.inputs, *parameters, *(symbol.name for symbol, _ in assigned)])
        renamed = {_symbol(old): _symbol(new) for old, new in words.items()}

        def written(expression: Expr) -> str:
            return str(printers.Python().asking(self.check_time).doprint(self._in_time(expression).xreplace(renamed)))

        return writing.python_function(
            name,
            [words[name] for name in self.inputs],
            {words[name]: self.values[name] for name in parameters},
            [(words[symbol.name], written(meaning)) for symbol, meaning in assigned],
            [map(written, row) for row in self.matrix.tolist()],
        )

    def _shaped(self, entries: list[Expr]) -> sympy.ImmutableDenseMatrix:
        return sympy.ImmutableDenseMatrix(*self.matrix.shape, entries)

    def _written(self, printer: Printer) -> list[list[str]]:
        self.demand_size()
        return [[printer.doprint(self._in_time(entry)) for entry in row] for row in self.matrix.tolist()]

    def _in_time(self, expression: Expr) -> Expr:
        self.check_time()
        return expression

    def _latex(self) -> Printer:
        return printers.latex(map(_symbol, self._names()), self.spelling, self.latex_names).asking(self.check_time)

    def _modal(self) -> list[tuple[Symbol, Expr]]:
        used = self._free()
        return [(symbol, value) for symbol, value in self.modal.items() if symbol in used]

    def _free(self) -> set[Symbol]:
        parts = trees.parts([*self.matrix, *(meaning for _, meaning in self.definitions)])
        return {part for part in parts if part.is_Symbol}

    def _names(self) -> set[str]:
        return {symbol.name for symbol in self._free()} | set(self.inputs) | set(self.values)

    def demand_size(self) -> None:
        """Raise ComputationError where the formulas are too long to be printed."""
        if (count := self.operations) > MOST_OPERATIONS:
            raise ComputationError(TOO_LONG.format(f"{count} operations", MOST_OPERATIONS), *SHARE)


def closed_form(
    expression: SX, inputs: Mapping[str, SX], parameters: Parameters, check_time: Callable[[], None] = unbounded
) -> ClosedForm:
    """The traced expression (r x s) as formulas.

    ``inputs`` are the symbols (1 x 1 each) that it depends on besides those of ``parameters``, by the names they are to
    have. Literals of the robot file appear with their exact values, parameters by name, modal data as X1, D1, m11, ...
    Raises ComputationError where the tape is too long or holds something without a formula, such as a table, and what
    ``check_time`` raises, which is asked at every instruction and later by the closed form.
    """
    # SymPy keeps parts of earlier formulas, and comparing a part of these with an equal one that is not the same object
    # walks through it as often as its own parts stand in it.
    clear_cache()
    tape = _tape(expression, inputs, parameters)
    if (count := tape.n_instructions()) > MOST_INSTRUCTIONS:
        raise ComputationError(TOO_LONG.format(f"{count} instructions", MOST_INSTRUCTIONS), *INSTEAD)
    named = naming.distinct(parameters.named, inputs)
    computed, used = parameters.computed, {symbol.element_hash() for symbol in casadi.symvar(SX(expression))}
    for key in computed:
        symbol, meaning = parameters.modal[key]
        if symbol.element_hash() in used:
            parameters.require(parameters.free_in(meaning), "what no formula gives")
    spoken = {key: value for key, (_, value) in parameters.modal.items() if key not in computed}
    data = naming.modal_names(spoken, {*inputs, *named.values()})
    words = naming.readable([*inputs, *named.values(), *data.values()])
    base = [_symbol(name) for name in named.values()]
    base += [literal_value(literal) for _, literal in parameters.literals.values()]
    symbols = {key: _symbol(words[data[key]]) for key in spoken}
    modal = [symbols[key] if key in symbols else sympy.Float(computed[key], 17) for key in parameters.modal]
    arguments = [*([_symbol(words[name])] for name in inputs), [*base, *modal]]

    values = casadi.densify(casadi.vertcat(SX(0, 1), *spoken.values()))
    tape_of_modal = casadi.Function("modal", [parameters.symbols()[: len(base), :]], [values])
    return ClosedForm(
        matrix=sympy.ImmutableDenseMatrix(*expression.shape, expressions(tape, arguments, check_time)),
        inputs=tuple(words[name] for name in inputs),
        modal=dict(zip(symbols.values(), expressions(tape_of_modal, [base]), strict=True)),
        values={name: parameters.values[key] for key, name in named.items()},
        probe=Probe.somewhere(tape, arguments),
        spelling={word: name for name, word in words.items() if word != name},
        check_time=check_time,
    )


def size(expression: SX, inputs: Mapping[str, SX], parameters: Parameters) -> tuple[int, int]:
    """Instructions of an expression, and its operations written out as it is traced: known in next to no time."""
    tape = _tape(expression, inputs, parameters)
    return tape.n_instructions(), sum(operations(tape))


def _symbol(name: str) -> Symbol:
    return Symbol(name, real=True)


def _tape(expression: SX, inputs: Mapping[str, SX], parameters: Parameters) -> casadi.Function:
    column = casadi.cse(casadi.densify(casadi.vec(expression.T)))  # row after row, as SymPy counts entries
    return casadi.Function("closed_form", [*inputs.values(), parameters.symbols()], [column])


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
        return unrounded(value) if self.rounded and twos > FLOAT_DENOMINATOR else rational(value)

    def _atom(self, key: Any) -> Expr:
        """The expression of an atom by its key: ("root", a, n), ("sin", angle), ("cos", angle) or the expression."""
        if not isinstance(key, tuple):
            return key
        if key[0] == "root":
            return sympy.Pow(key[1], sympy.Rational(1, key[2]))
        terms = list(self.terms)
        argument = sympy.Add(*(self._coefficient(factor) * terms[term] for term, factor in key[1]))
        return getattr(sympy, key[0])(argument)
