"""Traced expressions as callables: parameter values bound, rows of states evaluated in one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import casadi
import numpy as np
import numpy.typing as npt
from casadi import SX

from kronbot.model.parameters import Parameters

Array = npt.NDArray[np.float64]


class Trace:
    """Outputs as functions of inputs and of the parameters that they use.

    ``inputs`` and ``outputs`` map a word to a traced expression. ``purpose`` names the question in messages. Function
    names and argument names are fixed words, never user text.

    Raises UsageError, with the cure, where an output depends on a parameter without a value.
    """

    def __init__(
        self, parameters: Parameters, inputs: Mapping[str, SX], outputs: Mapping[str, SX], purpose: str
    ) -> None:
        expressions = list(outputs.values())
        parameters.require(parameters.free_in(casadi.veccat(*expressions)), purpose)
        self.symbols = parameters.symbols()
        self.bound = parameters.bound()
        self.outputs = tuple(outputs)
        self.shapes = [expression.shape for expression in expressions]
        dense = [casadi.densify(casadi.vec(expression)) for expression in expressions]
        self.function = casadi.Function("trace", [*inputs.values(), self.symbols], casadi.cse(dense))

    def __call__(self, *arguments: npt.ArrayLike) -> dict[str, Array]:
        """Every output at one point, by name, in its own shape (columns as 1-D arrays)."""
        values = self.function(*(np.asarray(argument, dtype=float) for argument in arguments), self.bound)
        return {
            name: _shaped(np.asarray(value), shape)
            for name, value, shape in zip(self.outputs, self._listed(values), self.shapes, strict=True)
        }

    def rows(self, *arguments: Array) -> dict[str, Array]:
        """Every output for many points: arguments are (N, size) or (N,), results have a leading axis of length N."""
        count = len(arguments[0])
        columns = [np.asarray(argument, dtype=float).reshape(count, -1).T for argument in arguments]
        mapped = self.function.map(count) if count > 1 else self.function
        values = mapped(*columns, np.tile(self.bound[:, None], (1, count)))
        return {
            name: np.stack([_shaped(column, shape) for column in np.asarray(value).T])
            for name, value, shape in zip(self.outputs, self._listed(values), self.shapes, strict=True)
        }

    def _listed(self, values: object) -> Sequence[object]:
        return [values] if len(self.outputs) == 1 else list(values)  # type: ignore[call-overload]


def _shaped(column: Array, shape: tuple[int, int]) -> Array:
    """A column-major vector in the shape of its expression; a column is a 1-D array."""
    matrix = column.reshape(shape, order="F")
    return matrix[:, 0] if shape[1] == 1 else matrix
