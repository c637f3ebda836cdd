"""Symbols for the numbers of a robot file, and what was traced with them, shared by robots of other values."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping
from contextlib import AbstractContextManager, suppress
from threading import RLock
from typing import ClassVar

import casadi
import numpy as np
from casadi import SX

from kronbot.description.expressions.expression import Expression, evaluate
from kronbot.floats import Array

Definitions = Mapping[str, Expression | None]
# For want of the memory that a first exception of C++ takes the C library ends the process: here there is enough.
with suppress(RuntimeError):
    casadi.Sparsity(-1, 1)


class Structure:
    """What robots have in common that differ in values only: symbols, and what was traced with them.

    ``made`` counts what this process has traced, for all structures.
    """

    made: ClassVar[int] = 0

    def __init__(self, names: Definitions) -> None:
        self.named = {name: SX.sym(name) for name in names}
        self.literals: dict[Hashable, tuple[SX, Expression]] = {}
        # Of the literals; by key, since an interruption may come between the two.
        self.numbers: dict[Hashable, float] = {}
        self.modal: dict[str, tuple[SX, SX]] = {}
        self.computed: set[str] = set()  # of the modal data
        # Angles with parameters and the quarter turns that they were folded to; numbers that were needed at once.
        self.angles: dict[Expression, int | None] = {}
        self.zeros: dict[Expression, bool] = {}  # numbers of which it was wanted whether they are 0
        self.shaping: dict[tuple[str, float], SX] = {}
        self.kept: dict[Hashable, object] = {}
        self._modal_data: tuple[tuple[int, int], casadi.Function] | None = None
        self._locks: dict[int, AbstractContextManager[object]] = {}

    def __getstate__(self) -> dict[str, object]:
        return {**vars(self), "_locks": {}}

    def keep(self, key: Hashable, found: object, most: int) -> None:
        """Keep what was traced, and so many of them."""
        while len(self.kept) >= most:
            del self.kept[next(iter(self.kept))]
        self.kept[key] = found
        Structure.made += 1

    def of_symbols(
        self,
        angles: Mapping[Expression, int | None],
        zeros: Mapping[Expression, bool],
        shaping: Mapping[tuple[str, float], SX],
    ) -> Structure:
        """One with the same symbols and nothing traced, for other values that shape it so."""
        other = Structure({})
        other.named, other.literals, other.numbers = self.named, dict(self.literals), dict(self.numbers)
        other.modal, other.angles, other.shaping = dict(self.modal), dict(angles), dict(shaping)
        other.zeros, other.computed = dict(zeros), set(self.computed)
        return other

    @property
    def lock(self) -> AbstractContextManager[object]:
        """Held while something is traced and while symbols are added. A forked process has its own: a thread that it
        does not have may hold that of its parent."""
        return self._locks.setdefault(os.getpid(), RLock())

    def symbols(self, literals: int, modal: int) -> list[SX]:
        """Those of named parameters and of so many literals and modal data."""
        first, last = list(self.literals.values())[:literals], list(self.modal.values())[:modal]
        return [*self.named.values(), *(symbol for symbol, _ in first), *(symbol for symbol, _ in last)]

    def literal(self, key: Hashable, expression: Expression) -> SX:
        """The symbol of a number, from now on."""
        with self.lock:
            if key not in self.literals:
                self.numbers[key] = evaluate(expression, {})
                self.literals[key] = (SX.sym(f"number {len(self.literals)}"), expression)
            return self.literals[key][0]

    def values_of(self, literals: int) -> list[float]:
        """Those of so many literals."""
        return [self.numbers[key] for key in [*self.literals][:literals]]

    def in_order(self, literals: int, modal: int) -> list[int]:
        """Their places in an order that does not depend on which came first: by names, and where literals stand."""
        parts = [""] * len(self.named), map(str, [*self.literals][:literals]), [*self.modal][:modal]
        keys = [(i, key) for i, part in enumerate(parts) for key in part]
        return sorted(range(len(keys)), key=keys.__getitem__)

    def modal_data(self, base: Array, count: int) -> Array:
        """The values of so many modal data for those of named parameters and literals."""
        size, known = (len(base), count), self._modal_data
        if known is None or known[0] != size:
            symbols = casadi.vertcat(*self.symbols(len(base) - len(self.named), 0))
            values = casadi.vertcat(*(value for _, value in list(self.modal.values())[:count]))
            self._modal_data = known = size, casadi.Function("modal", [symbols], [values])
        return np.asarray(known[1](base), dtype=float).ravel()
