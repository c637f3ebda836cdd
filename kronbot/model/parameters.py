"""Exact numbers of a robot file as symbols of the trace, and the floats that are bound to them at evaluation."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from contextlib import AbstractContextManager
from copy import copy
from fractions import Fraction
from typing import TypeVar, cast

import casadi
import numpy as np
from casadi import SX

from kronbot.description.expressions.expression import Expression, depending, evaluate, exact, following, quarter_turns
from kronbot.description.wording import Entries
from kronbot.errors import Argument, FreeParameters
from kronbot.floats import Array, raised
from kronbot.model.structure import Definitions, Structure

FUNCTIONS = {"sin": casadi.sin, "cos": casadi.cos, "tan": casadi.tan, "sqrt": casadi.sqrt, "exp": casadi.exp}
# Traces and the like that a structure keeps at a time.
MOST_KEPT = 256
Kept = TypeVar("Kept")
Values = Mapping[str, float | None]


class Parameters:
    """The interning table from exact expressions to symbols, and values of the parameters.

    A literal 0 or 1, and the sine and cosine of an angle that is an exact multiple of pi/2, are structural constants;
    every other number becomes a symbol, so that ``pi/2`` never turns into 6e-17, free parameters give formulas and one
    trace serves all values. Equal literals share one symbol; those with a place in the file, a 1, too, have one of
    their own. *Named* parameters come from ``parameters:`` of the file; *modal data* (X1(l), D1, m11, ...) are symbols
    bound to an expression of the others, or (:meth:`written_out`) that expression. Symbols and traces are those of
    a structure, which parameters share that differ in values only (:meth:`with_values`).
    """

    def __init__(self, definitions: Definitions, values: Values, varied: Iterable[str] = ()) -> None:
        """``varied`` are parameters that will have many values: no angle with one of them is folded."""
        self.definitions = Entries(definitions)
        self._varied = depending(definitions, varied)
        self.values = Entries(values)
        self._structure = Structure(definitions)
        # So many angles and shaping numbers of the structure are known to agree with these values.
        self._agreed = 0, 0, 0
        self._own: dict[Hashable, object] = {}
        self._written_out = False

    def __getstate__(self) -> dict[str, object]:
        return {**vars(self), "_own": {}}

    def with_values(self, definitions: Definitions, values: Values) -> Parameters | None:
        """The same symbols with other values; None where these give another structure.

        That is where an angle becomes or ceases to be an exact multiple of pi/2, a compliance 0, and where a number
        changes that the traces were shaped by.
        """
        other = copy(self)
        other.definitions, other.values = Entries(definitions), Entries(values)
        other._own, other._agreed, shared = {}, (0, 0, 0), self._structure
        return other if other._fitting() == (shared.angles, shared.zeros, shared.shaping) else None

    def written_out(self) -> Parameters:
        """The same without symbols for modal data."""
        other = copy(self)
        other._written_out = True
        return other

    @property
    def structure(self) -> Hashable:
        """Equal for parameters that :class:`kronbot.model.parameter_rows.Rows` holds together."""
        return id(self._structure), tuple(value is None for value in self.values.values())

    def _fitting(self) -> tuple[dict[Expression, int | None], dict[Expression, bool], dict[tuple[str, float], SX]]:
        """The angles, zeros and shaping numbers of the structure that these values have shaped, or would have."""
        shared = self._structure
        angles = {angle: turns for angle, turns in list(shared.angles.items()) if self._turns(angle) == turns}
        zeros = {number: zero for number, zero in list(shared.zeros.items()) if self._vanishes(number) == zero}
        shaping = dict(shared.shaping)
        if shaping:
            column = casadi.vertcat(*shaping.values())
            values = [math.nan] * len(shaping) if self.free_in(column) else self.evaluate_all(column, "")
            shaping = {key: each for (key, each), now in zip(shaping.items(), values, strict=True) if key[1] == now}
        return angles, zeros, shaping

    def _parted(self) -> bool:
        """Whether something was traced meanwhile that other values have shaped: these go on with the symbols alone.

        Two robots may share a structure before anything is traced that tells them apart.
        """
        shared = self._structure
        extent = len(shared.angles), len(shared.zeros), len(shared.shaping)
        if extent == self._agreed:
            return False
        with shared.lock:
            fitting = self._fitting()
            self._agreed = len(fitting[0]), len(fitting[1]), len(fitting[2])
            if self._agreed == (len(shared.angles), len(shared.zeros), len(shared.shaping)):
                return False
            self._structure = shared.of_symbols(*fitting)
        return True

    def _turns(self, angle: Expression) -> int | None:
        return quarter_turns(angle, self.definitions) if self._varied.isdisjoint(angle.names) else None

    @property
    def lock(self) -> AbstractContextManager[object]:
        """Held by what is made of all symbols in several steps: none is added meanwhile."""
        return self._structure.lock

    def kept(self, key: Hashable, make: Callable[[], Kept]) -> Kept:
        """What ``make`` returned when this was first asked for the key, by whatever robot of this structure.

        It must not depend on values.
        """
        while True:
            structure = self._structure
            found = structure.kept.get(key)
            if found is None:
                with structure.lock:
                    found = None if self._parted() else structure.kept.get(key)
                    if found is None and structure is self._structure:
                        found = make()
                        structure.keep(key, found, MOST_KEPT)
            # What was traced is known to be shaped by other values before it is known itself.
            if found is not None and not self._parted():
                return cast("Kept", found)

    def own(self, key: Hashable, make: Callable[[], Kept]) -> Kept:
        """The same for what depends on these values."""
        found = self._own.get(key)
        if found is None:
            made = make()
            with self._structure.lock:
                while len(self._own) >= MOST_KEPT:
                    del self._own[next(iter(self._own))]
                found = self._own.setdefault(key, made)
        return cast("Kept", found)

    @property
    def named(self) -> dict[str, SX]:
        """Symbols of the parameters of the file."""
        return self._structure.named

    @property
    def literals(self) -> dict[Hashable, tuple[SX, Expression]]:
        """Symbols of numbers, with the numbers."""
        return self._structure.literals

    @property
    def modal(self) -> dict[str, tuple[SX, SX]]:
        """Symbols of modal data, with what they are in terms of the others."""
        return self._structure.modal

    def number(self, expression: Expression, others: Mapping[str, SX] | None = None) -> SX:
        """The expression as part of the trace (1 x 1): named parameters and literals are symbols, 0 and 1 constants."""
        names = {**self.named, **others} if others else self.named
        found = expression.fold_constants(self._literal, names, FUNCTIONS)
        return found if isinstance(found, SX) else SX(found)  # a copy takes as long as two operations

    def vector(self, expressions: tuple[Expression, ...]) -> SX:
        """A column of numbers."""
        return casadi.vertcat(*(self.number(expression) for expression in expressions))

    def cosine_and_sine(self, angle: Expression, coordinate: SX | None = None) -> tuple[SX, SX]:
        """Cosine and sine of an angle (rad), or of angle + coordinate; exact multiples of pi/2 are folded."""
        turns = self._turns(angle)
        if angle.names:
            with self._structure.lock:
                if self._structure.angles.get(angle, turns) != turns:
                    self._parted()
                self._structure.angles[angle] = turns
        if turns is None:
            total = self.number(angle) if coordinate is None else self.number(angle) + coordinate
            return casadi.cos(total), casadi.sin(total)
        c, s = (SX(1), SX(0)) if coordinate is None else (casadi.cos(coordinate), casadi.sin(coordinate))
        for _ in range(turns % 4):
            c, s = -s, c
        return c, s

    def vanishes(self, number: Expression) -> bool:
        """Whether it is 0, which decides what is traced; not where it has no value or is to have many."""
        zero = self._vanishes(number)
        if number.names:
            with self._structure.lock:
                if self._structure.zeros.get(number, zero) != zero:
                    self._parted()
                self._structure.zeros[number] = zero
        return zero

    def _vanishes(self, number: Expression) -> bool:
        values = {name: self.values[name] for name in number.names}
        known = {name: value for name, value in values.items() if value is not None}
        return self._varied.isdisjoint(number.names) and len(known) == len(values) and evaluate(number, known) == 0

    def datum(self, name: str, value: SX, computed: bool = False) -> SX:
        """A number that follows from others as a symbol of its own (structural if it is 0), also where it is 1.

        So closed forms print as in Khang (68)-(71). Of what is ``computed``, by no formula, they hold numbers.
        """
        if value.is_zero() or self._written_out:
            return value
        with self._structure.lock:
            symbol, _ = self.modal.setdefault(name, (SX.sym(name), value))
            self._structure.computed.update([name] if computed else [])
            return symbol

    def in_others(self, expression: SX) -> SX:
        """The expression without symbols for modal data."""
        symbols, values = zip(*self.modal.values(), strict=True) if self.modal else ((), ())
        return casadi.substitute(expression, casadi.vertcat(*symbols), casadi.vertcat(*values))

    @property
    def computed(self) -> dict[str, float]:
        """Values of what is computed by no formula."""
        data = self.bound()[len(self.named) + len(self.literals) :]
        return {name: float(data[i]) for i, name in enumerate(self.modal) if name in self._structure.computed}

    @property
    def extent(self) -> tuple[int, int]:
        """How many literals and modal data there are by now."""
        modal = len(self.modal)  # first: modal data depend on literals before them, which another thread may add
        return len(self.literals), modal

    def symbols(self, extent: tuple[int, int] | None = None) -> SX:
        """Every symbol interned so far, or up to an extent, one column: named parameters, literals, modal data."""
        return casadi.vertcat(*self._structure.symbols(*(extent or self.extent)))

    def in_order(self, extent: tuple[int, int]) -> list[int]:
        """Places of the symbols up to an extent in an order that does not depend on what was asked for first."""
        return self._structure.in_order(*extent)

    def bound(self, extent: tuple[int, int] | None = None) -> Array:
        """The floats of ``symbols()``; NaN for free parameters."""
        now = self.extent
        wanted = extent or now

        def bound() -> Array:
            base, data = self._bound_now(*now)
            literals, modal = wanted
            found: Array = np.concatenate([base[..., : len(self.named) + literals], data[..., :modal]], axis=-1)
            found.setflags(write=False)
            return found

        return self.own(("all", now, wanted), bound)

    def _bound_now(self, literals: int, modal: int) -> tuple[Array, Array]:
        return self.own(("bound", literals, modal), lambda: self._bind(literals, modal))

    def _bind(self, literals: int, modal: int) -> tuple[Array, Array]:
        named = [math.nan if self.values[name] is None else self.values[name] for name in self.named]
        base = np.array([*named, *self._structure.values_of(literals)], dtype=float)
        return base, self._structure.modal_data(base, modal)

    def others(self, extent: tuple[int, int], used: Sequence[int], share: float, power: float = 1.0) -> Array:
        """The same where the file has other numbers, a power of each, moved on its own by up to a share of itself.

        What follows from others does so: modal data, and parameters that are expressions over others. Zeros and pi
        stay, and of literals those whose places are not ``used``, which other questions have brought.
        """
        found, count = self.bound(extent).copy(), len(self.named) + extent[0]
        literals = dict(enumerate((literal for _, literal in self.literals.values()), len(self.named)))
        state = np.random.default_rng(1)
        for i in (*range(len(self.named)), *(i for i in used if i < count and i in literals and literals[i].numeric)):
            found[..., i] = raised(found[..., i], power) * (1 + share * state.uniform(-1, 1))
        found[..., : len(self.named)] = self._following(found, share, power)
        if max(used, default=0) >= count:
            data = self._structure.modal_data
            found[..., count:] = np.apply_along_axis(data, -1, found[..., :count], extent[1])
        return found

    def _following(self, found: Array, share: float, power: float) -> Array:
        """Values of named parameters by those of the independent ones."""
        state, named = np.random.default_rng(2), dict(zip(self.named, found.tolist(), strict=False))

        def other(number: Fraction) -> float:
            return float(raised(float(number), power)) * (1 + share * state.uniform(-1, 1))

        return np.array([*following(self.definitions, named, other).values()])

    def value(self, expression: Expression, wanted_for: str) -> float:
        """A number of the file as a float. Raises FreeParameters, with the cure, where a parameter in it is free."""
        self.require({name for name in expression.names if self.values[name] is None}, wanted_for)
        return evaluate(expression, {name: cast("float", self.values[name]) for name in expression.names})

    def evaluate(self, expression: SX, wanted_for: str) -> float:
        """A traced number (1 x 1) as a float. Raises FreeParameters, with the cure, where a parameter in it is free."""
        return self.evaluate_all(SX(expression), wanted_for)[0]

    def evaluate_all(self, column: SX, wanted_for: str) -> list[float]:
        """The same for a column of them."""
        self.require(self.free_in(column), wanted_for)
        numbers = casadi.Function("numbers", [self.symbols(extent := self.extent)], [casadi.densify(column)])
        return list(map(float, np.asarray(numbers(self.bound(extent)), dtype=float).ravel()))

    def shape_by(self, expression: SX, wanted_for: str) -> float:
        """The same for a number that decides what is traced: another value of it is another structure.

        What it is ``wanted_for`` tells it from the others, which may have the same value.
        """
        value = self.evaluate(expression, wanted_for)
        with self._structure.lock:
            self._structure.shaping[wanted_for, value] = expression
        return value

    @property
    def shaping(self) -> set[str]:
        """Names of the parameters whose values have shaped what was traced."""
        decided = [angle for angle, turns in self._structure.angles.items() if turns is not None]
        decided += [number for number, zero in self._structure.zeros.items() if zero]
        folded = {name for each in decided for name in each.names}
        computed = (self.modal[name][1] for name in self._structure.computed)
        return folded.union(*map(self.used_in, (*self._structure.shaping.values(), *computed)))

    def shaped_by(self, names: Set[str]) -> set[str]:
        """What numbers were wanted for that have shaped what was traced and depend on some of these parameters."""
        shaping = self._structure.shaping.items()
        return {wanted for (wanted, _), each in shaping if not names.isdisjoint(self.used_in(each))}

    def require(self, free: set[str], wanted_for: str) -> None:
        """Raise FreeParameters that names the free parameters, unless there are none."""
        if free:
            names = [name for name in self.named if name in free]
            verb = "has no value" if len(names) == 1 else "have no values"
            cure = [part for name in names for part in (" ", Argument("parameters", f"{name}=..."))]
            raise FreeParameters(f"{wanted_for} needs numbers, but {', '.join(names)} {verb}; give", *cure)

    def used_in(self, expression: SX) -> set[str]:
        """Names of the parameters that a traced expression depends on."""
        used = {symbol.element_hash() for symbol in casadi.symvar(expression)}
        for symbol, value in list(self.modal.values()):
            if symbol.element_hash() in used:
                used |= {inner.element_hash() for inner in casadi.symvar(value)}
        return {name for name, symbol in self.named.items() if symbol.element_hash() in used}

    def free_in(self, expression: SX) -> set[str]:
        """Names of those without a value."""
        return {name for name in self.used_in(expression) if self.values[name] is None}

    def _literal(self, expression: Expression) -> SX:
        value, place = exact(expression, {}), expression.place
        if value is not None and value.pi == 0 and value.rational in ((0, 1) if place is None else (0,)):
            return SX(int(value.rational))
        key = place or (expression.text if value is None else f"{Fraction(value.rational)}+{Fraction(value.pi)}pi")
        return self._structure.literal(key, expression)
