"""Traced expressions as callables: parameter values bound, one point or rows of them."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import accumulate
from typing import Any, TypeVar

import casadi
import numpy as np
import numpy.typing as npt
from casadi import SX

from kronbot.cached import cached_property
from kronbot.compute.batch import CHUNK, evaluate
from kronbot.compute.buffered import Buffered, BufferedRows
from kronbot.compute.native import policy
from kronbot.compute.native.cost import INTERPRETED, instructions
from kronbot.floats import Array, raised
from kronbot.model.parameters import Parameters
from kronbot.model.robot import Robot

Rows = npt.NDArray[np.intp]
Known = TypeVar("Known")
# Looking for common parts costs more than it saves beyond so many nodes (8 s for a million, to drop 0.3 % of them).
SHARING_LIMIT = 300_000
# Work (s, interpreted) that is done at once, on memory that is kept: nothing hears a Ctrl-C meanwhile.
AT_ONCE = 0.008
# Angles beyond have lost digits, which they are to lack elsewhere, too.
FAR = 1e3
# Numbers of points for which memory is kept, the latest.
MOST_COUNTS = 4


class Traced:
    """Outputs as functions of inputs and of symbols for the parameters: what robots share that differ in values only.

    ``inputs`` and ``outputs`` map a word to a traced expression. ``purpose`` names the question in messages. Function
    names and argument names are fixed words, never user text. Of more nodes than ``sharing`` common parts are not
    looked for: derivatives of what has none left have few, and the search takes as long as all that was traced before.
    """

    def __init__(
        self,
        parameters: Parameters,
        inputs: Mapping[str, SX],
        outputs: Mapping[str, SX],
        purpose: str,
        *,
        sharing: int = SHARING_LIMIT,
    ) -> None:
        expressions = list(outputs.values())
        self.purpose = purpose
        column = casadi.veccat(*expressions)
        needed = casadi.symvar(column)  # walks through all of it
        self.parameters = parameters.used_in(casadi.veccat(SX(), *needed))
        self.extent = parameters.extent
        symbols = parameters.symbols(self.extent)
        used = {symbol.element_hash() for symbol in needed}
        is_used = [symbol.element_hash() in used for symbol in casadi.vertsplit(symbols)]
        # Symbols of other questions come and go, also before those of this one, and must not change what chance does.
        self.used = [place for place in parameters.in_order(self.extent) if is_used[place]]
        self.outputs = tuple(outputs)
        self.shapes = [expression.shape for expression in expressions]
        dense = [casadi.densify(casadi.vec(expression)) for expression in expressions]
        few = sharing and sum(map(casadi.n_nodes, dense)) <= sharing  # to count takes a while, too
        shared = casadi.cse(dense) if few else dense
        self.function = casadi.Function("trace", [*inputs.values(), symbols], shared)
        self.instructions = instructions(self.function)
        self._memory = threading.local()
        self._codes: dict[bool, Any] = {}
        self._factors: dict[tuple[int, float, int], Array] = {}

    def __getstate__(self) -> dict[str, object]:
        return {**vars(self), "_memory": None, "_codes": {}, "_factors": {}}  # what is loaded, and what is quickly made

    def __setstate__(self, state: dict[str, object]) -> None:
        vars(self).update(state, _memory=threading.local())

    def factors(self, count: int, share: float, pairs: int) -> Array:
        """By which so many numbers and all parameters are multiplied (1 + 2 pairs, numbers): by 1, then by random ones
        that are off by half a share or more, then by those that are as far off to the other side.
        """
        found = self._factors.get((count, share, pairs))
        if found is None:
            state, shape = np.random.default_rng(0), (pairs, count + len(self.used))
            ways = np.zeros((pairs, self.function.numel_in()))
            moving = [*range(count), *(count + place for place in self.used)]
            ways[:, moving] = state.uniform(0.5, 1, shape) * state.choice([-1.0, 1.0], shape)
            found = self._factors[count, share, pairs] = 1 + share * np.concatenate([ways[:1] * 0, ways, -ways])
        return found

    @cached_property
    def row_major(self) -> tuple[Rows, list[tuple[str, int, int, tuple[int, ...]]]]:
        """Where the numbers of all outputs at one point are, those of matrices row by row; and by output its name,
        where it begins and ends among these, and its shape."""
        ends = list(accumulate((rows * columns for rows, columns in self.shapes), initial=0))
        numbers = zip(ends, ends[1:], self.shapes, strict=False)
        order = [np.arange(start, end).reshape(*reversed(shape)).T.ravel() for start, end, shape in numbers]
        shapes = [shape[:1] if shape[1] == 1 else shape for shape in self.shapes]
        return np.concatenate([np.zeros(0, dtype=int), *order]), [
            *zip(self.outputs, ends, ends[1:], shapes, strict=False)
        ]

    def buffered(self, count: int = 1, alike: bool = False) -> Buffered:
        """The function at so many points, a row each, on memory of this thread; as native code where that is wanted in
        any case. Of points that are ``alike`` in the parameters these are one row."""
        key, kept = (count, alike, policy.choice() == "on"), vars(self._memory).setdefault("buffered", {})
        found: Buffered | None = kept.pop(key, None)
        if found is None:
            native = self._native(alike) if key[2] else None
            if native is not None and alike:
                found = BufferedRows(self.function, native, count, (self.function.n_in() - 1,))
            else:
                function = native or self.function
                found = Buffered(function if count == 1 else function.map(count))
            while len(kept) >= MOST_COUNTS:
                del kept[next(iter(kept))]
        kept[key] = found
        return found

    def _native(self, alike: bool) -> Any:
        """A function, or the loop over points that are alike in the parameters; None where there is no native code."""
        from kronbot.compute.native import use  # here, since most questions do without

        if self._codes.get(alike) is None:
            last = self.function.n_in() - 1
            found = use.rows_in_any_case(self.function, (last,)) if alike else use.in_any_case(self.function)
            self._codes[alike] = found
        return self._codes[alike]


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
        self._elsewhere: dict[tuple[float, float], Array] = {}
        self._known: dict[Hashable, Any] = {}
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
        return self._at(arguments, self.bound)

    def _at(self, arguments: Sequence[npt.ArrayLike], bound: Array) -> dict[str, Array]:
        order, places = self._traced.row_major
        whole = self._evaluated(arguments, bound, 1).whole.take(order)
        return {name: whole[start:end].reshape(shape) for name, start, end, shape in places}

    def _at_once(self, arguments: Sequence[Array], bound: Array) -> list[Array]:
        """All outputs (N, numbers) at points (N, size), in memory that the next call writes."""
        count = len(bound) if bound.ndim == 2 else len(arguments[0])
        return [values.reshape(count, -1) for values in self._evaluated(arguments, bound, count).results]

    def _evaluated(self, arguments: Sequence[npt.ArrayLike], bound: Array, count: int) -> Buffered:
        """The function after a call at so many points."""
        buffered = self._traced.buffered(count, bound.ndim == 1)
        for place, given in zip(buffered.arguments, [*arguments, bound], strict=True):
            values = np.asarray(given)
            if place.size == values.size:
                place[:] = values.ravel()
            else:
                place.reshape(count, -1)[:] = values
        buffered()
        return buffered

    def rows(self, *arguments: Array) -> dict[str, Array]:
        """Every output for many points: arguments are (N, size) or (N,), results have a leading axis of length N.

        Of many robots each is at a point of its own.
        """
        return self._rows(arguments, self.bound)

    def _rows(self, arguments: Sequence[Array], bound: Array) -> dict[str, Array]:
        count = len(arguments[0])
        if count == 1:
            found = self._at(arguments, bound)
            return {name: values[None] for name, values in found.items()}
        wide = [self.function.numel_in(i) for i in range(len(arguments))]
        points = [
            np.asarray(part, dtype=float).reshape(count, size) for part, size in zip(arguments, wide, strict=True)
        ]
        outputs, shapes = self._traced.outputs, self._traced.shapes
        if 0 < count <= CHUNK and count * self._traced.instructions * INTERPRETED <= AT_ONCE:
            named = zip(outputs, self._at_once(points, bound), shapes, strict=True)
            return {name: _shaped(result.copy(), shape) for name, result, shape in named}
        sizes = [rows * columns for rows, columns in shapes]
        robots = bound.ndim == 2
        results = evaluate(
            self._traced.function, [*points, bound] if robots else points, None if robots else bound, sizes
        )
        named = zip(outputs, results, shapes, strict=True)
        return {name: _shaped(result, shape) for name, result, shape in named}

    def of_some(self, robots: Rows) -> Trace:
        """The same of some of many robots, by number; of one robot itself."""
        if self.bound.ndim == 1:
            return self
        other = Trace.__new__(Trace)
        other._traced, other.bound = self._traced, self.bound[robots]
        return other

    def beside(self, points: Sequence[Array], share: float, pairs: int) -> Array:
        """All outputs (1 + 2 pairs, N, numbers) at points (N, size), with every number moved by up to a share of itself
        at random, alike at all points, and with as many moved as far back; :meth:`named` names them. Zeros stay.
        """
        count, rows = sum(part.shape[1] for part in points), len(points[0])
        factors = self._traced.factors(count, share, pairs)
        if rows != 1:
            every = [self._rows(_scaled(points, own), self.bound * own[count:]) for own in factors]
            return np.array([np.hstack([_flat(part) for part in each.values()]) for each in every])
        start, moved = 0, list[Array]()
        for part in points:
            moved.append(part * factors[:, start : start + part.shape[1]])
            start += part.shape[1]
        return np.hstack(self._at_once(moved, self.bound.ravel() * factors[:, count:]))[:, None]

    def named(self, flat: Array) -> dict[str, Array]:
        """Outputs by name, each in its own shape, of rows of their numbers (N, numbers)."""
        ends = list(accumulate((rows * columns for rows, columns in self._traced.shapes), initial=0))
        parts = zip(self.outputs, ends, ends[1:], self._traced.shapes, strict=False)
        return {name: _shaped(flat[:, start:end], shape) for name, start, end, shape in parts}

    def elsewhere(self, points: Sequence[Array], share: float, power: float = 1.0) -> tuple[Trace, list[Array]]:
        """The same with other numbers in the file (``Parameters.others``), and at other points (N, size).

        There, too, it is a power of the numbers, but of those beyond FAR.
        """
        which = share, power
        if which not in self._elsewhere:
            self._elsewhere[which] = self._parameters.others(self._traced.extent, self._traced.used, *which)
        state = np.random.default_rng(3)  # not that of the parameters
        factors = 1 + share * state.uniform(-1, 1, sum(part.shape[1] for part in points))
        others = [np.where(np.abs(part) < FAR, raised(part, power), part) for part in points]
        return self.bound_to(self._elsewhere[which]), _scaled(others, factors)

    def once(self, what: Hashable, find: Callable[[], Known]) -> Known:
        """What is so for these values of the parameters, found when it is first asked for."""
        if what not in self._known:
            self._known[what] = find()
        known: Known = self._known[what]
        return known

    def bound_to(self, bound: Array) -> Trace:
        """The same with other numbers for the parameters' symbols."""
        other = Trace.__new__(Trace)
        other._traced, other._parameters, other.bound = self._traced, self._parameters, bound
        other._elsewhere, other._known = {}, {}
        return other


def _scaled(points: Sequence[Array], factors: Array) -> list[Array]:
    *ends, _ = accumulate((part.shape[1] for part in points), initial=0)
    return [part * factors[at : at + part.shape[1]] for part, at in zip(points, ends, strict=True)]


Expressions = Callable[[], tuple[Mapping[str, SX], Mapping[str, SX]]]


def traced(robot: Robot, what: Hashable, purpose: str, make: Expressions, *, sharing: int = SHARING_LIMIT) -> Trace:
    """What ``make`` gives, inputs and outputs by word, as a trace with the values of a robot.

    It is made once for all robots of one structure; ``what`` says what else it depends on. Raises UsageError, with the
    cure, where an output depends on a parameter without a value. ``sharing`` is that of :class:`Traced`.
    """
    parameters, key = robot.parameters, ("trace", purpose, what)

    def bound() -> Trace:
        return Trace.of(robot.kept(key, lambda: Traced(parameters, *make(), purpose, sharing=sharing)), parameters)

    return robot.own(key, bound)


def _flat(values: Array) -> Array:
    """Rows of column-major entries of a stack of matrices, or of 1-D arrays."""
    return values.swapaxes(1, -1).reshape(len(values), math.prod(values.shape[1:]))


def _shaped(rows: Array, shape: tuple[int, int]) -> Array:
    """Rows of column-major entries as a stack of matrices, or of 1-D arrays where these are columns."""
    matrices = rows.reshape(len(rows), *reversed(shape)).swapaxes(1, 2)
    return matrices[:, :, 0] if shape[1] == 1 else matrices
