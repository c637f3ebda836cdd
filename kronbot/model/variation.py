"""One robot at many values of some of its parameters, and how the numbers of its traces follow from these."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TypeAlias

import casadi
import numpy as np
import numpy.typing as npt
from casadi import SX

from kronbot.cached import cached_property
from kronbot.description.expressions.expression import CONSTANTS, depending, evaluate, parse, resolve_each
from kronbot.description.wording import listing
from kronbot.errors import Argument, UsageError
from kronbot.floats import Array
from kronbot.model.build import build
from kronbot.model.parameters import FUNCTIONS, Parameters
from kronbot.model.robot import Robot
from kronbot.records import dataclass

# How many literals and modal data there were.
Extent: TypeAlias = "tuple[int, int]"
_CONSTANTS = {name: SX(evaluate(parse(name), {})) for name in CONSTANTS}


@dataclass(frozen=True)
class Variation:
    """A robot that is traced for all values of the parameters ``names``: none of its angles with them is folded."""

    robot: Robot
    names: tuple[str, ...]

    @staticmethod
    def of(robot: Robot, names: Sequence[str], apart: Hashable = None) -> Variation:
        """The variation of a robot, built and traced once for all robots of its structure.

        What is traced with others ``apart`` shapes nothing here.
        """
        own, varied = robot.parameters, tuple(names)

        def opened() -> Robot:
            parameters = Parameters(own.definitions, own.values, varied)
            return build(robot.description, robot.order, parameters, robot.compliant)

        model = robot.kept(("varied", varied, depending(own.definitions, varied), apart), opened)
        parameters = model.parameters.with_values(own.definitions, own.values)
        if parameters is None:
            return Variation(opened(), varied)
        return Variation(model.of_values(robot.description, parameters), varied)

    def at(self, values: Array) -> Robot:
        """The robot at some values (k,) of the parameters.

        Raises UsageError where these have shaped what was traced.
        """
        own = self.robot.parameters
        numbers = zip(self.names, values.tolist(), strict=True)
        definitions = {**own.definitions, **{name: parse(repr(value)) for name, value in numbers}}
        parameters = own.with_values(definitions, resolve_each(definitions)[0])
        if parameters is None:
            self.demand_shapeless()
            raise UsageError(f"other values of {listing(self.names)} make another structure: leave out what shapes it")
        return self.robot.of_values(self.robot.description, parameters)

    def demand_shapeless(self) -> None:
        """Raise UsageError, naming them, where parameters were needed as numbers while the traces were made."""
        own = self.robot.parameters
        found = {name: own.shaped_by(depending(own.definitions, (name,))) for name in self.names}
        if shaped := {name: numbers for name, numbers in found.items() if numbers}:
            what = listing(sorted(set().union(*shaped.values())))
            why = f"equations are made for these values of {listing(shaped)} alone ({what})"
            leave = "leave it out" if len(shaped) == 1 else "leave them out"
            raise UsageError(f"{why}; {leave} with ", Argument("fix"))

    def pattern(self, extent: Extent) -> casadi.Sparsity:
        """Where the derivatives (symbols, k) of all symbols of an extent by the parameters are not structurally 0."""
        return self._jacobian(extent).sparsity()

    def moved(self, extent: Extent) -> npt.NDArray[np.intp]:
        """Which of the symbols of an extent depend on the parameters."""
        return np.unique(np.array(self.pattern(extent).get_triplet()[0], dtype=int))

    def _jacobian(self, extent: Extent) -> SX:
        return casadi.jacobian(self._numbers(extent), self._theta)

    @cached_property
    def _theta(self) -> SX:
        return SX.sym("theta", len(self.names))

    def _numbers(self, extent: Extent) -> SX:
        """All symbols of an extent as functions of the parameters; the others have their values."""
        own = self.robot.parameters
        found: dict[str, SX] = {name: self._theta[i] for i, name in enumerate(self.names)}

        def value(name: str) -> SX:
            if name not in found:
                definition, number = own.definitions[name], own.values[name]
                if definition is None or not moving & {name}:
                    found[name] = SX(np.nan if number is None else number)
                else:
                    others = {other: value(other) for other in definition.names} | _CONSTANTS
                    found[name] = SX(definition.fold(lambda fraction: SX(float(fraction)), others, FUNCTIONS))
            return found[name]

        moving = depending(own.definitions, self.names)
        literals, modal = extent
        base = own.symbols((literals, 0))
        given = casadi.vertcat(*map(value, own.named), *own.bound((literals, 0))[len(own.named) :].tolist())
        data = casadi.vertcat(SX(0, 1), *(each for _, each in list(own.modal.values())[:modal]))
        return casadi.vertcat(given, casadi.substitute(data, base, given))

    def is_linear(self, expression: SX) -> bool:
        """Whether a traced expression is linear in the parameters."""
        own = self.robot.parameters
        extent = own.extent
        by_theta = casadi.substitute(expression, own.symbols(extent), self._numbers(extent))
        return bool(casadi.is_linear(by_theta, self._theta))

    @cached_property
    def _slopes(self) -> dict[Extent, casadi.Function]:
        return {}

    def slopes(self, values: Array, extent: Extent) -> Array:
        """Derivatives (symbols, k) of all symbols of an extent by the parameters at some values (k,)."""
        function = self._slopes.get(extent)
        if function is None:
            function = self._slopes[extent] = casadi.Function("slopes", [self._theta], [self._jacobian(extent)])
        return np.asarray(function(values).full(), dtype=float)
