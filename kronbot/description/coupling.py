"""Joints that follow others: a linear expression of their coordinates, over the parameters of the file."""

from __future__ import annotations

from collections.abc import Container, Mapping

from kronbot.description.expressions.grammar import CONSTANTS, FUNCTIONS, Expression, ExpressionError, parse, unquoted
from kronbot.records import dataclass


@dataclass(frozen=True)
class Coupling:
    """What a joint follows. It has names of joints and parameters, so that it is no quantity of the file.

    A name in quotes is that of a joint, whatever letters it has: ``-2*'left-hip' + offset``.
    """

    expression: Expression

    @staticmethod
    def of(text: str) -> Coupling:
        """What a text says. Raises ExpressionError."""
        return Coupling(parse(text, quoted=True))

    def named(self, parameters: Container[str]) -> dict[str, str]:
        """The joints by their names in the expression: those that are no parameters, without quotes."""
        return {name: unquoted(name) for name in sorted(self.expression.names) if name not in parameters}

    def joints(self, parameters: Container[str]) -> frozenset[str]:
        """The joints in it."""
        return frozenset(self.named(parameters).values())

    def demand_linear(self, parameters: Mapping[str, object]) -> None:
        """Raise ExpressionError where it is not linear in what are no parameters."""
        flat = _Power(0)
        names = {name: _Power(int(name not in parameters)) for name in self.expression.names}
        self.expression.fold(
            lambda value: flat,
            {**dict.fromkeys(CONSTANTS, flat), **names},
            dict.fromkeys(FUNCTIONS, lambda argument: argument.within(0)),
        )


@dataclass(frozen=True)
class _Power:
    """The degree of an expression in joints, 0 or 1, by its arithmetic."""

    degree: int

    def within(self, most: int) -> _Power:
        """The same. Raises ExpressionError where it is more."""
        if self.degree > most:
            raise ExpressionError("a joint follows others linearly: k1*q1 + k2*q2 + c")
        return self

    def __neg__(self) -> _Power:
        return self

    def __add__(self, other: _Power) -> _Power:
        return _Power(max(self.degree, other.degree))

    __sub__ = __add__

    def __mul__(self, other: _Power) -> _Power:
        return _Power(self.degree + other.degree).within(1)

    def __truediv__(self, other: _Power) -> _Power:
        other.within(0)
        return self

    def __pow__(self, other: int | _Power) -> _Power:
        return self.within(0)
