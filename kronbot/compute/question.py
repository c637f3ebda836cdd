"""A question about a model: named, traced quantities, answered as numbers, as many rows of numbers, or as formulas."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt
from casadi import SX

from kronbot.cached import cached_property
from kronbot.compute.arrays import NamedArray, Units, alike, units_kept
from kronbot.compute.deferred import settled
from kronbot.compute.trace import Trace, Traced
from kronbot.model.parameters import Parameters
from kronbot.model.robot import Robot
from kronbot.records import dataclass


@dataclass(frozen=True)
class Quantity:
    """A traced matrix with the names of its rows and columns (None for a vector) and its units.

    One that is ``late`` is computed when somebody looks at it.
    """

    expression: SX
    rows: Sequence[str]
    columns: Sequence[str] | None
    units: Units
    late: bool = False

    def __post_init__(self) -> None:
        """Names and units are made once, for all answers."""
        object.__setattr__(self, "rows", tuple(self.rows))
        object.__setattr__(self, "columns", None if self.columns is None else tuple(self.columns))
        object.__setattr__(self, "units", units_kept(self.units))

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """That of its numbers."""
        return (len(self.rows),) if self.columns is None else (len(self.rows), len(self.columns))

    def shaped(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Numbers in that shape: those of a column, or of one entry, may come in another one."""
        return values if values.shape == self.shape else values.reshape(self.shape)

    @cached_property
    def _named(self) -> NamedArray:
        """Its names and units."""
        return NamedArray(np.zeros(0), self.rows, self.units, self.columns)

    def array(self, values: npt.NDArray[Any]) -> NamedArray:
        """Its numbers, or formulas, with their names and units."""
        return alike(self._named, self.shaped(values))

    def stack(self, values: npt.NDArray[Any], axis: tuple[str, Sequence[float]]) -> NamedArray:
        """The same along an axis."""
        return NamedArray(values.reshape(len(axis[1]), *self.shape), self.rows, self.units, self.columns, axis)

    def later(self, name: str, found: Callable[[], Mapping[str, npt.NDArray[Any]]]) -> NamedArray:
        """The same of what is found by that name, when somebody looks at it."""
        return alike(self._named, partial(settled, name, lambda: self.shaped(found()[name])))


@dataclass(frozen=True)
class Question:
    """Quantities as functions of inputs (columns of symbols by word) and of the parameters.

    ``names`` are the names of the inputs' entries, ``purpose`` names the question in messages.
    """

    parameters: Parameters
    inputs: Mapping[str, SX]
    names: Mapping[str, Sequence[str]]
    quantities: Mapping[str, Quantity]
    purpose: str

    def __getstate__(self) -> dict[str, object]:
        return {name: each for name, each in vars(self).items() if name != "_trace"}

    def at(self, *point: npt.ArrayLike) -> dict[str, NamedArray]:
        """The quantities at one point, a value for every input. Raises UsageError where a parameter has no value."""
        return self._at(self._trace(*point), lambda: self._rest(*point))

    def each(self, *points: npt.NDArray[np.float64]) -> list[dict[str, NamedArray]]:
        """The quantities at many points, each input (N, size), point by point; with the values of a robot for each."""
        if len(points[0]) == 1:
            return [self._at(self._trace(*points), lambda: self._rest(*points))]
        rows, more = self._trace.rows(*points), cache(lambda: self._rest.rows(*points))

        def rest(i: int) -> dict[str, npt.NDArray[np.float64]]:
            return _row(more(), i)

        return [self._at(_row(rows, i), partial(rest, i)) for i in range(len(points[0]))]

    def at_rows(self, *points: npt.NDArray[np.float64]) -> dict[str, NamedArray]:
        """The quantities at many points, each input (N, size), as stacks with the axis ``case`` 1 ... N."""
        cases = list(range(1, len(points[0]) + 1))
        rows = {**self._trace.rows(*points), **(self._rest.rows(*points) if self.late.quantities else {})}
        return self.arrays(rows, ("case", cases))

    @property
    def symbols(self) -> dict[str, SX]:
        """Every input symbol (1 x 1) by the name of its entry."""
        return {name: column[i] for word, column in self.inputs.items() for i, name in enumerate(self.names[word])}

    def with_values(self, parameters: Parameters) -> Question:
        """The same question about a robot that differs in values only."""
        if parameters is self.parameters:
            return self
        other = replace(self, parameters=parameters)
        vars(other)["traced"] = self.traced
        vars(other)["late"] = self.late.with_values(parameters) if self.late.quantities else self.late
        return other

    @cached_property
    def late(self) -> Question:
        """The same of what is late in it."""
        late = {name: replace(quantity, late=False) for name, quantity in self.quantities.items() if quantity.late}
        return replace(self, quantities=late)

    @cached_property
    def traced(self) -> Traced:
        """Its quantities that are not late, the same for all robots of one structure."""
        outputs = {name: quantity.expression for name, quantity in self.quantities.items() if not quantity.late}
        return Traced(self.parameters, self.inputs, outputs, self.purpose)

    @cached_property
    def _trace(self) -> Trace:
        return Trace.of(self.traced, self.parameters)

    @property
    def _rest(self) -> Trace:
        return self.late._trace

    def _at(
        self, values: Mapping[str, npt.NDArray[np.float64]], rest: Callable[[], Mapping[str, npt.NDArray[np.float64]]]
    ) -> dict[str, NamedArray]:
        """Numbers at one point with their names and units; what is late is found by ``rest``."""
        if not self.late.quantities:
            return self.arrays(values, None)
        rest = cache(rest)
        return {
            name: quantity.later(name, rest) if quantity.late else quantity.array(values[name])
            for name, quantity in self.quantities.items()
        }

    def arrays(
        self, values: Mapping[str, npt.NDArray[np.float64]], axis: tuple[str, Sequence[float]] | None
    ) -> dict[str, NamedArray]:
        """Numbers of quantities with their names and units, along an axis as stacks."""
        known = ((name, quantity) for name, quantity in self.quantities.items() if name in values)
        if axis is None:
            return {name: quantity.array(values[name]) for name, quantity in known}
        return {name: quantity.stack(values[name], axis) for name, quantity in known}


def _row(rows: Mapping[str, npt.NDArray[np.float64]], i: int) -> dict[str, npt.NDArray[np.float64]]:
    return {name: values[i].copy() for name, values in rows.items()}


def asked(robot: Robot, what: Hashable, make: Callable[[], Question]) -> Question:
    """What ``make`` gives, with the values of a robot: made and traced once for all robots of one structure."""
    key = ("question", what)
    return robot.own(key, lambda: robot.kept(key, make).with_values(robot.parameters))
