"""Traced expressions as callables: parameter values bound, one point or rows of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import casadi
import numpy as np
import numpy.typing as npt
from casadi import SX

from kronbot.compute.batch import evaluate
from kronbot.model.parameters import Parameters

Array = npt.NDArray[np.float64]

# Looking for common parts costs more than it saves beyond so many nodes (8 s for a million, to drop 0.3 % of them).
SHARING_LIMIT = 300_000


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
        used = {symbol.element_hash() for symbol in casadi.symvar(casadi.veccat(*expressions))}
        # Those of other questions come and go, and must not change what chance does to this one.
        self._used = np.array([symbol.element_hash() in used for symbol in casadi.vertsplit(self.symbols)], dtype=bool)
        self.outputs = tuple(outputs)
        self.shapes = [expression.shape for expression in expressions]
        dense = [casadi.densify(casadi.vec(expression)) for expression in expressions]
        shared = casadi.cse(dense) if sum(map(casadi.n_nodes, dense)) <= SHARING_LIMIT else dense
        self.function = casadi.Function("trace", [*inputs.values(), self.symbols], shared)

    def __call__(self, *arguments: npt.ArrayLike) -> dict[str, Array]:
        """Every output at one point, by name, in its own shape (columns as 1-D arrays)."""
        rows = self.rows(*(np.asarray(argument, dtype=float).reshape(1, -1) for argument in arguments))
        return {name: values[0] for name, values in rows.items()}

    def rows(self, *arguments: Array) -> dict[str, Array]:
        """Every output for many points: arguments are (N, size) or (N,), results have a leading axis of length N."""
        count = len(arguments[0])
        points = [np.asarray(argument, dtype=float).reshape(count, -1) for argument in arguments]
        results = evaluate(self.function, points, self.bound, [rows * columns for rows, columns in self.shapes])
        return {
            name: _shaped(result, shape) for name, result, shape in zip(self.outputs, results, self.shapes, strict=True)
        }

    def moved(
        self, arguments: Sequence[npt.ArrayLike], shares: tuple[float, float], state: np.random.Generator
    ) -> dict[str, Array]:
        """Every output with each number moved at random, arguments and parameters by up to a share of themselves.

        Shares of one rounding show what rounding does to the outputs, here and on the way to them. Zeros stay.
        """

        def near(numbers: npt.ArrayLike, share: float) -> Array:
            column = np.asarray(numbers, dtype=float).ravel()
            return np.asarray(column * (1 + share * state.uniform(-1, 1, column.shape)))

        inputs = [near(argument, shares[0]) for argument in arguments]
        bound = self.bound.copy()
        bound[self._used] = near(bound[self._used], shares[1])
        results = self.function.call([*inputs, bound])
        return {
            name: _shaped(np.asarray(result, dtype=float).reshape(1, -1), shape)[0]
            for name, result, shape in zip(self.outputs, results, self.shapes, strict=True)
        }


def _shaped(rows: Array, shape: tuple[int, int]) -> Array:
    """Rows of column-major entries as a stack of matrices, or of 1-D arrays where these are columns."""
    matrices = rows.reshape(len(rows), *reversed(shape)).swapaxes(1, 2)
    return matrices[:, :, 0] if shape[1] == 1 else matrices
