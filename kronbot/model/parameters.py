"""Exact numbers of a robot file as symbols of the trace, and the floats that are bound to them at evaluation."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

import casadi
import numpy as np
from casadi import SX

from kronbot.description.expressions.expression import Expression, evaluate, exact, quarter_turns
from kronbot.errors import Argument, FreeParameters

FUNCTIONS = {"sin": casadi.sin, "cos": casadi.cos, "tan": casadi.tan, "sqrt": casadi.sqrt, "exp": casadi.exp}


class Parameters:
    """The interning table from exact expressions to symbols.

    A literal 0 or 1, and the sine and cosine of an angle that is an exact multiple of pi/2, are structural constants;
    every other number becomes a symbol, so that ``pi/2`` never turns into 6e-17, free parameters give formulas and one
    trace serves all values. Equal literals share one symbol. *Named* parameters come from ``parameters:`` of the file;
    *modal data* (X1(l), D1, m11, ...) are symbols bound to an expression of the others.
    """

    def __init__(self, definitions: Mapping[str, Expression | None], values: Mapping[str, float | None]) -> None:
        self.definitions = dict(definitions)
        self.values = dict(values)
        self.named = {name: SX.sym(name) for name in definitions}
        self.literals: dict[str, tuple[SX, Expression]] = {}
        self.modal: dict[str, tuple[SX, SX]] = {}

    def number(self, expression: Expression) -> SX:
        """The expression as part of the trace (1 x 1): named parameters and literals are symbols, 0 and 1 constants."""
        return SX(expression.fold_constants(self._literal, self.named, FUNCTIONS))

    def vector(self, expressions: tuple[Expression, ...]) -> SX:
        """A column of numbers."""
        return casadi.vertcat(*(self.number(expression) for expression in expressions))

    def cosine_and_sine(self, angle: Expression, coordinate: SX | None = None) -> tuple[SX, SX]:
        """Cosine and sine of an angle (rad), or of angle + coordinate; exact multiples of pi/2 are folded."""
        turns = quarter_turns(angle, self._bound)
        if turns is None:
            total = self.number(angle) if coordinate is None else self.number(angle) + coordinate
            return casadi.cos(total), casadi.sin(total)
        c, s = (SX(1), SX(0)) if coordinate is None else (casadi.cos(coordinate), casadi.sin(coordinate))
        for _ in range(turns % 4):
            c, s = -s, c
        return c, s

    def modal_datum(self, name: str, factor: float, power: int, length: SX) -> SX:
        """A number of the mode shapes, ``factor * length**power``, as a symbol of its own (structural if it is 0).

        It stays a symbol even where its value is 1, so that closed forms print as in Khang (68)-(71) and sensitivities
        to the length include it.
        """
        if factor == 0:
            return SX(0)
        if name not in self.modal:
            self.modal[name] = (SX.sym(name), factor * length**power if power else SX(factor))
        return self.modal[name][0]

    def symbols(self) -> SX:
        """Every symbol interned so far, one column: named parameters, literals, modal data."""
        return casadi.vertcat(
            *self.named.values(),
            *(symbol for symbol, _ in self.literals.values()),
            *(symbol for symbol, _ in self.modal.values()),
        )

    def bound(self) -> np.ndarray:
        """The floats of ``symbols()``; NaN where a named parameter has no value."""
        named = [math.nan if self.values[name] is None else self.values[name] for name in self.named]
        literals = [evaluate(expression, {}) for _, expression in self.literals.values()]
        base = np.array([*named, *literals], dtype=float)
        symbols = casadi.vertcat(*self.named.values(), *(symbol for symbol, _ in self.literals.values()))
        modal = casadi.vertcat(*(value for _, value in self.modal.values()))
        return np.concatenate([base, np.asarray(casadi.Function("modal", [symbols], [modal])(base)).ravel()])

    def evaluate(self, expression: SX, wanted_for: str) -> float:
        """A traced number (1 x 1) as a float. Raises FreeParameters, with the cure, where a parameter in it is free."""
        return float(self.evaluate_all(expression, wanted_for)[0])

    def evaluate_all(self, column: SX, wanted_for: str) -> np.ndarray:
        """The same for a column of them (k x 1), as (k,)."""
        dense = casadi.densify(SX(column))
        self.require(self.free_in(dense), wanted_for)
        numbers = casadi.Function("numbers", [self.symbols()], [dense])
        return np.asarray(numbers(self.bound())).ravel()

    def require(self, free: set[str], wanted_for: str) -> None:
        """Raise FreeParameters that names the free parameters, unless there are none."""
        if free:
            names = [name for name in self.named if name in free]
            verb = "has no value" if len(names) == 1 else "have no values"
            cure = [part for name in names for part in (" ", Argument("parameters", f"{name}=..."))]
            raise FreeParameters(f"{wanted_for} needs numbers, but {', '.join(names)} {verb}; give", *cure)

    def free_in(self, expression: SX) -> set[str]:
        """Names of the parameters without a value that a traced expression depends on."""
        used = {symbol.element_hash() for symbol in casadi.symvar(expression)}
        for symbol, value in self.modal.values():
            if symbol.element_hash() in used:
                used |= {inner.element_hash() for inner in casadi.symvar(value)}
        return {n for n, symbol in self.named.items() if self.values[n] is None and symbol.element_hash() in used}

    @property
    def _bound(self) -> dict[str, Expression]:
        return {name: definition for name, definition in self.definitions.items() if definition is not None}

    def _literal(self, expression: Expression) -> SX:
        value = exact(expression, {})
        if value is not None and value.pi == 0 and value.rational in (0, 1):
            return SX(int(value.rational))
        key = expression.text if value is None else f"{Fraction(value.rational)}+{Fraction(value.pi)}pi"
        if key not in self.literals:
            self.literals[key] = (SX.sym(f"number {len(self.literals)}"), expression)
        return self.literals[key][0]
