"""Traced expressions as callables: parameter values bound, one point or rows of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from itertools import accumulate

import casadi
import numpy as np
import numpy.typing as npt
from casadi import SX

from kronbot.compute.batch import evaluate
from kronbot.compute.buffered import Buffered
from kronbot.compute.native import policy
from kronbot.floats import Array
from kronbot.model.parameters import Parameters
from kronbot.model.robot import Robot

Rows = npt.NDArray[np.intp]
# Looking for common parts costs more than it saves beyond so many nodes (8 s for a million, to drop 0.3 % of them).
SHARING_LIMIT = 300_000


class Traced:
    """Outputs as functions of inputs and of symbols for the parameters: what robots share that differ in values only.

    ``inputs`` and ``outputs`` map a word to a traced expression. ``purpose`` names the question in messages. Function
    names and argument names are fixed words, never user text.
    """

    def __init__(
        self, parameters: Parameters, inputs: Mapping[str, SX], outputs: Mapping[str, SX], purpose: str
    ) -> None:
        expressions = list(outputs.values())
        self.purpose = purpose
        self.parameters = parameters.used_in(casadi.veccat(*expressions))
        self.extent = parameters.extent
        symbols = parameters.symbols(self.extent)
        used = {symbol.element_hash() for symbol in casadi.symvar(casadi.veccat(*expressions))}
        # Symbols of other questions come and go, and must not change what chance does to this one.
        self.used = np.array([symbol.element_hash() in used for symbol in casadi.vertsplit(symbols)], dtype=bool)
        self.outputs = tuple(outputs)
        self.shapes = [expression.shape for expression in expressions]
        dense = [casadi.densify(casadi.vec(expression)) for expression in expressions]
        shared = casadi.cse(dense) if sum(map(casadi.n_nodes, dense)) <= SHARING_LIMIT else dense
        self.function = casadi.Function("trace", [*inputs.values(), symbols], shared)
        self._memory = threading.local()
        self._ways: dict[tuple[int, int], Array] = {}

    def way(self, count: int, which: int) -> Array:
        """One of random ways to move so many numbers and the parameters that are used, each by 1/2 to 1 or back."""
        found = self._ways.get((count, which))
        if found is None:
            state, size = np.random.default_rng(which), count + np.count_nonzero(self.used)
            found = self._ways[count, which] = state.uniform(0.5, 1, size) * state.choice([-1.0, 1.0], size)
        return found

    @property
    def buffered(self) -> Buffered:
        """The function on memory of this thread."""
        found = getattr(self._memory, "buffered", None)
        if found is None:
            found = self._memory.buffered = Buffered(self.function)
        return found


class Trace:
    """What was traced, with the values of a robot's parameters, or of many robots, one a row.

    Raises UsageError, with the cure, where an output depends on a parameter without a value.
    """

    def __init__(
        self, parameters: Parameters, inputs: Mapping[str, SX], outputs: Mapping[str, SX], purpose: str
    ) -> None:
        self._bind(Traced(parameters, inputs, outputs, purpose), parameters)

    @staticmethod
    def of(traced: Traced, parameters: Parameters) -> Trace:
        """What was traced already, with the values of a robot."""
        trace = Trace.__new__(Trace)
        trace._bind(traced, parameters)
        return trace

    def _bind(self, traced: Traced, parameters: Parameters) -> None:
        free = {name for name in traced.parameters if parameters.values[name] is None}
        parameters.require(free, traced.purpose)
        self._traced, self._parameters = traced, parameters
        self._elsewhere: dict[float, Array] = {}
        self.bound = parameters.bound(traced.extent)

    @property
    def function(self) -> casadi.Function:
        """Of the inputs and the parameters."""
        return self._traced.function

    @property
    def outputs(self) -> tuple[str, ...]:
        """Words of the outputs."""
        return self._traced.outputs

    def __call__(self, *arguments: npt.ArrayLike) -> dict[str, Array]:
        """Every output at one point, by name, in its own shape (columns as 1-D arrays)."""
        return self._at(arguments, self.bound, self.outputs)

    def _at(self, arguments: Sequence[npt.ArrayLike], bound: Array, wanted: Collection[str]) -> dict[str, Array]:
        if policy.choice() == "on":  # native code is for rows
            points = [np.asarray(argument, dtype=float).reshape(1, -1) for argument in arguments]
            return {name: values[0] for name, values in self._rows(points, bound, wanted).items()}
        buffered = self._traced.buffered
        *places, constants = buffered.arguments
        constants[:] = bound
        for place, argument in zip(places, arguments, strict=True):
            place[:] = np.ravel(argument)
        buffered()
        return {
            name: values.copy() if columns == 1 else values.reshape(columns, rows).T.copy()
            for name, values, (rows, columns) in zip(
                self._traced.outputs, buffered.results, self._traced.shapes, strict=True
            )
            if name in wanted
        }

    def rows(self, *arguments: Array) -> dict[str, Array]:
        """Every output for many points: arguments are (N, size) or (N,), results have a leading axis of length N.

        Of many robots each is at a point of its own.
        """
        return self._rows(arguments, self.bound, self.outputs)

    def _rows(self, arguments: Sequence[Array], bound: Array, wanted: Collection[str]) -> dict[str, Array]:
        count = len(arguments[0])
        if count == 1 and policy.choice() != "on":
            found = self._at([part[0] for part in arguments], bound, wanted)
            return {name: values[None] for name, values in found.items()}
        points = [np.asarray(argument, dtype=float).reshape(count, -1) for argument in arguments]
        outputs, shapes = self._traced.outputs, self._traced.shapes
        sizes = [rows * columns for rows, columns in shapes]
        robots = bound.ndim == 2
        results = evaluate(
            self._traced.function, [*points, bound] if robots else points, None if robots else bound, sizes
        )
        named = zip(outputs, results, shapes, strict=True)
        return {name: _shaped(result, shape) for name, result, shape in named if name in wanted}

    def of_some(self, robots: Rows) -> Trace:
        """The same of some of many robots, by number; of one robot itself."""
        if self.bound.ndim == 1:
            return self
        other = Trace.__new__(Trace)
        other._traced, other.bound = self._traced, self.bound[robots]
        return other

    def moved(self, points: Sequence[Array], share: float, which: int) -> tuple[Trace, list[Array]]:
        """The same with other parameters and points (N, size), each number moved by half a share of itself or more.

        The way is random and the same at all points, ``which`` tells several. Zeros stay.
        """
        bound, used = self.bound.copy(), self._traced.used
        factors = 1 + share * self._traced.way(sum(part.shape[1] for part in points), which)
        bound[..., used] *= factors[len(factors) - np.count_nonzero(used) :]
        return self.bound_to(bound), _scaled(points, factors)

    def elsewhere(self, points: Sequence[Array], share: float) -> tuple[Trace, list[Array]]:
        """The same with other numbers in the file (``Parameters.others``), and at other points (N, size)."""
        if share not in self._elsewhere:
            self._elsewhere[share] = self._parameters.others(self._traced.extent, self._traced.used, share)
        state = np.random.default_rng(3)  # not that of the parameters
        factors = 1 + share * state.uniform(-1, 1, sum(part.shape[1] for part in points))
        return self.bound_to(self._elsewhere[share]), _scaled(points, factors)

    def bound_to(self, bound: Array) -> Trace:
        """The same with other numbers for the parameters' symbols."""
        other = Trace.__new__(Trace)
        other._traced, other._parameters, other._elsewhere, other.bound = self._traced, self._parameters, {}, bound
        return other


def _scaled(points: Sequence[Array], factors: Array) -> list[Array]:
    *ends, _ = accumulate((part.shape[1] for part in points), initial=0)
    return [part * factors[at : at + part.shape[1]] for part, at in zip(points, ends, strict=True)]


Expressions = Callable[[], tuple[Mapping[str, SX], Mapping[str, SX]]]


def traced(robot: Robot, what: Hashable, purpose: str, make: Expressions) -> Trace:
    """What ``make`` gives, inputs and outputs by word, as a trace with the values of a robot.

    It is made once for all robots of one structure; ``what`` says what else it depends on. Raises UsageError, with the
    cure, where an output depends on a parameter without a value.
    """
    parameters, key = robot.parameters, ("trace", robot.order, purpose, what)

    def bound() -> Trace:
        return Trace.of(parameters.kept(key, lambda: Traced(parameters, *make(), purpose)), parameters)

    return parameters.own(key, bound)


def _shaped(rows: Array, shape: tuple[int, int]) -> Array:
    """Rows of column-major entries as a stack of matrices, or of 1-D arrays where these are columns."""
    matrices = rows.reshape(len(rows), *reversed(shape)).swapaxes(1, 2)
    return matrices[:, :, 0] if shape[1] == 1 else matrices
