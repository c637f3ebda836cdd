"""Walks over expression trees whose common parts are one object: their parts, their length, their value.

The trees are SymPy's, but nothing is asked of SymPy that could take long: a part is visited once however often it
stands in the whole, and no walk is recursive.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import casadi

from kronbot.records import dataclass

Tree = Any
ELEMENTARY = {
    name: getattr(math, name) for name in ("sin", "cos", "tan", "exp", "sinh", "cosh", "tanh", "asin", "acos")
}
# Two orders above what rounding leaves of sums of products in double precision.
SAME = 1e-11


@dataclass(frozen=True)
class Probe:
    """Numbers for the symbols of a matrix, and the true values of its entries there, row after row."""

    at: Mapping[Tree, float]
    values: tuple[float, ...]

    @staticmethod
    def somewhere(tape: casadi.Function, arguments: Sequence[Sequence[Tree]]) -> Probe:
        """The output of a tape (one column) at a point that is always the same; arguments are symbols or numbers."""
        chance = random.Random(1)
        at = {a: chance.uniform(0.3, 1.2) for group in arguments for a in group if a.is_Symbol}
        truth = tape(*(casadi.DM([value(a, at)[0] for a in group]) for group in arguments))
        return Probe(at, tuple(float(number) for number in truth.full().ravel()))

    def agrees(self, entry: Tree, original: Tree, place: int) -> bool:
        """Whether an entry has its true value, up to what rounding may do in the sums of the original one."""
        try:
            (number, size), (_, rounded) = value(entry, self.at), value(original, self.at)
        except (ArithmeticError, ValueError, TypeError):
            return False
        return abs(number - self.values[place]) <= SAME * max(size, rounded)


def parts(roots: Iterable[Tree], opens: Callable[[Tree], bool] = lambda part: True) -> list[Tree]:
    """Every part once, arguments before what is made of them; parts that ``opens`` refuses count as leaves."""
    order: dict[Tree, None] = {}
    waiting = [(root, False) for root in reversed(list(roots))]
    while waiting:
        part, ready = waiting.pop()
        if part in order:
            continue
        if ready or not part.args or not opens(part):
            order[part] = None
        else:
            waiting.append((part, True))
            waiting.extend((argument, False) for argument in reversed(part.args))
    return list(order)


def replaced(roots: Iterable[Tree], new: Mapping[Tree, Tree]) -> list[Tree]:
    """The trees with other parts in the place of some."""
    made: dict[Tree, Tree] = {}
    wanted = list(roots)
    for part in parts(wanted, lambda part: part not in new):
        if part in new:
            made[part] = new[part]
        else:
            arguments = [made[argument] for argument in part.args]
            changed = any(a is not b for a, b in zip(arguments, part.args, strict=True))
            made[part] = part.func(*arguments) if changed else part
    return [made[root] for root in wanted]


def shared(roots: Iterable[Tree], fresh: Iterator[Tree]) -> tuple[list[tuple[Tree, Tree]], list[Tree]]:
    """The trees with ``fresh`` symbols for the parts that stand in them more than once, and what these symbols mean."""
    wanted = list(roots)
    every = parts(wanted)
    uses = Counter(argument for part in every for argument in part.args)
    uses.update(wanted)
    made: dict[Tree, Tree] = {}
    meanings: list[tuple[Tree, Tree]] = []
    for part in every:
        made[part] = part
        if part.args:
            made[part] = part.func(*(made[argument] for argument in part.args))
            if uses[part] > 1:
                meanings.append((next(fresh), made[part]))
                made[part] = meanings[-1][0]
    return meanings, [made[root] for root in wanted]


def operations(root: Tree) -> int:
    """Operations of the tree written out, common parts counted as often as they stand in it."""
    return each_operations([root])[0]


def each_operations(roots: Iterable[Tree]) -> list[int]:
    """The same of many trees, in one walk through what they share."""
    wanted = list(roots)
    counts: dict[Tree, int] = {}
    for part in parts(wanted):
        own = len(part.args) - 1 if part.is_Add or part.is_Mul else bool(part.args)
        counts[part] = own + sum(counts[argument] for argument in part.args)
    return [counts[root] for root in wanted]


def value(root: Tree, at: Mapping[Tree, float]) -> tuple[float, float]:
    """The value with numbers for the symbols, and the size of what was added up for it (what rounding is measured by).

    Raises ArithmeticError, ValueError or TypeError where there is no real value.
    """
    values: dict[Tree, tuple[float, float]] = {}
    for part in parts([root], _arithmetic):
        if part.is_Symbol:
            values[part] = at[part], abs(at[part])
            continue
        if not part.args or not _arithmetic(part):
            number = float(part.subs(at) if part.args else part)
            values[part] = number, abs(number)
            continue
        numbers = [values[argument][0] for argument in part.args]
        sizes = [values[argument][1] for argument in part.args]
        if part.is_Add:
            values[part] = math.fsum(numbers), sum(sizes)
        elif part.is_Mul:
            values[part] = math.prod(numbers), math.prod(sizes)
        elif part.is_Pow:
            number = math.pow(*numbers)
            grown = numbers[1] > 0 and sizes[0] > 0
            values[part] = number, sizes[0] ** numbers[1] if grown else abs(number)
        else:
            number = ELEMENTARY[part.func.__name__](*numbers)
            values[part] = number, max(abs(number), sizes[0])
    return values[root]


def _arithmetic(part: Tree) -> bool:
    return bool(part.is_Add or part.is_Mul or part.is_Pow or part.func.__name__ in ELEMENTARY)
