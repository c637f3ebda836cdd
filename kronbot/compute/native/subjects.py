"""What is compiled: traced functions as CasADi calls them, or the loop of one over rows of points."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from itertools import islice
from pathlib import Path
from typing import Protocol, TypeVar

import casadi
import numpy as np
import numpy.typing as npt

from kronbot.cached import cached_property
from kronbot.compute.native import blocks, trial
from kronbot.compute.native.cost import EFFORTS, FULL, Effort, instructions
from kronbot.compute.native.kernel import Kernel, Loop
from kronbot.system.platform import host

Made = TypeVar("Made", covariant=True)
# Lanes by the words for the processor's registers, with what makes the compiler use them, most first; else there are
# those of the smallest registers that are in use. The compiler's own choice of processor may hide them.
REGISTERS = {("avx512f",): (8, ("-mavx512f",)), ("avx2", "fma"): (4, ("-mavx2", "-mfma"))}
LEAST = 2
# Instructions that are compiled as they are: it takes seconds.
FEW = 20_000
# Instructions of which no compiler gets a text, however often they repeat themselves.
MOST = 2_000_000
# s an instruction to count what differs: 13 to 16 us, of 200,000 and 300,000 of them.
LOOKING = 15e-6


class Subject(Protocol[Made]):
    """Something to compile.

    ``instructions`` of it there are, ``efforts`` may be made, ``flags`` are further ones for the compiler.
    """

    efforts: tuple[Effort, ...]
    flags: tuple[str, ...]
    instructions: int

    @property
    def looking(self) -> float:
        """What it takes (s) to know how many statements a compiler sees, 0 where they are known."""

    def statements(self, effort: Effort) -> int:
        """So many the compiler sees."""

    def key(self) -> Iterator[str]:
        """Texts that tell it from every other, made in less than half the time of its C text."""

    def source(self, effort: Effort) -> str:
        """The C text."""

    def tried(self) -> list[str]:
        """The functions that a trial calls, in the words of :mod:`trial`."""

    def load(self, library: Path) -> Made:
        """What a library does. Raises RuntimeError where it does not load."""

    def agrees(self, library: Path) -> bool:
        """Whether a library has the answers of the interpreter to the bit, somewhere: options and headers of the user's
        may change what C means."""


class _Interface:
    """Functions with CasADi's interface in one library."""

    efforts: tuple[Effort, ...] = EFFORTS
    flags: tuple[str, ...] = ()

    def __init__(self, *functions: casadi.Function) -> None:
        self._functions = functions
        self.instructions = sum(map(instructions, functions))

    def key(self) -> Iterator[str]:
        """Serialized, they are as deterministic as C text (derivatives and maps made meanwhile leave no trace in them).

        Of a map what it maps and its shapes: its own text is as long as there are points.
        """
        for each in self._functions:
            (mapped,) = each.find_functions(0) if each.is_a("Map") else (each,)
            yield f"{each if each.is_a('Map') else ''}{mapped.serialize()}"

    def statements(self, effort: Effort) -> int:
        """Of long functions those in different blocks, but for an effort that gains nothing by these."""
        looked = self._in_blocks(effort) and self.instructions <= MOST
        return self._blocks.count("\n") if looked else self.instructions

    @property
    def looking(self) -> float:
        """Of long functions that of making their source."""
        known = "_blocks" in vars(self) or not FEW < self.instructions <= MOST
        return 0.0 if known else self.instructions * LOOKING

    def source(self, effort: Effort) -> str:
        """By CasADi, long functions in blocks."""
        return self._blocks if self._in_blocks(effort) else self._text()

    def _in_blocks(self, effort: Effort) -> bool:
        return self.instructions > FEW and effort == FULL

    @cached_property
    def _blocks(self) -> str:
        return blocks.in_blocks(self._text())

    def _text(self) -> str:
        generator = casadi.CodeGenerator("traced.c")
        for each in self._functions:
            generator.add(each)
        return str(generator.dump())

    def tried(self) -> list[str]:
        """All of them."""
        return [trial.interface(each.name(), *_sizes(each)) for each in self._functions]

    def agrees(self, library: Path) -> bool:
        """Of maps what they map is elsewhere the same."""
        for each in self._functions:
            if not each.is_a("Map"):
                point = next(_points(each))
                found = casadi.external(each.name(), str(library)).call(point)
                if not _same(each.call(point), found):
                    return False
        return True


class Functions(_Interface):
    """The first of some functions, for CasADi."""

    def load(self, library: Path) -> casadi.Function:
        """As CasADi finds it."""
        return casadi.external(self._functions[0].name(), str(library))


class Calls(_Interface):
    """A function that is called many times in a row."""

    def load(self, library: Path) -> Kernel:
        """Its calls."""
        return _loaded(lambda: Kernel(self._functions[0].name(), library))


class Rows:
    """The loop of a function over points, each a row of its inputs; those of the numbers ``shared`` are the same."""

    efforts: tuple[Effort, ...] = (FULL,)  # lanes are compiled as soon with it, and idle without
    looking = 0.0

    def __init__(self, function: casadi.Function, shared: Collection[int]) -> None:
        self._function, self._shared = function, sorted(shared)
        self.instructions = instructions(function)
        features = host.processor_features()
        found = (REGISTERS[each] for each in REGISTERS if features.issuperset(each))
        self.width, flags = next(found, (LEAST, ()))
        # Without the first a processor is left in a state in which the mathematics library is ten times slower.
        self.flags: tuple[str, ...] = ("-fexpensive-optimizations", *flags)

    def key(self) -> Iterator[str]:
        """The function, and what else the text depends on."""
        from kronbot.compute.code import lanes  # here, since few functions are looked for

        yield f"{self.width} {self._shared} {lanes.HEAD}"
        yield str(self._function.serialize())

    def statements(self, effort: Effort) -> int:
        """As many for any effort."""
        return self.instructions

    def source(self, effort: Effort) -> str:
        """By the tape."""
        from kronbot.compute.code import lanes

        return lanes.source(self._function, self._shared, self.width)

    def tried(self) -> list[str]:
        """The loop, at one point."""
        from kronbot.compute.code import lanes

        return [trial.rows(lanes.NAME, lanes.ROOM, *_sizes(self._function))]

    def load(self, library: Path) -> Loop:
        """The loop."""
        return _loaded(lambda: Loop(library))

    def agrees(self, library: Path) -> bool:
        """At so many points that some lanes are empty."""
        one, count = self._function, 2 * self.width + 1
        sides = zip(*islice(_points(one), count), strict=True)
        points = [np.array([matrix.ravel("F") for matrix in side]) for side in sides]
        for i in self._shared:
            points[i][:] = points[i][0]
        shapes = [(count * one.size2_in(i), one.size1_in(i)) for i in range(one.n_in())]
        wanted = one.map(count).call([rows.reshape(shape).T for rows, shape in zip(points, shapes, strict=True)])
        found = [np.empty((count, one.numel_out(i))) for i in range(one.n_out())]
        self.load(library)([rows[0] if i in self._shared else rows for i, rows in enumerate(points)], found)
        made = [(count * one.size2_out(i), one.size1_out(i)) for i in range(one.n_out())]
        return _same(wanted, [rows.reshape(shape).T for rows, shape in zip(found, made, strict=True)])


def _sizes(function: casadi.Function) -> tuple[list[int], list[int]]:
    """Numbers in each input, and in each output."""
    inputs, outputs = range(function.n_in()), range(function.n_out())
    return [function.nnz_in(i) for i in inputs], [function.nnz_out(i) for i in outputs]


def _loaded(load: Callable[[], Made]) -> Made:
    try:
        return load()
    except (OSError, AttributeError, ValueError) as error:
        raise RuntimeError(str(error)) from None


def _points(function: casadi.Function) -> Iterator[list[npt.NDArray[np.float64]]]:
    state = np.random.default_rng(0)
    while True:
        yield [state.uniform(0.2, 0.9, function.size_in(i)) for i in range(function.n_in())]


def _same(wanted: Collection[npt.ArrayLike], found: Collection[npt.ArrayLike]) -> bool:
    pairs = zip(wanted, found, strict=True)
    return all(np.array_equal(np.asarray(one), np.asarray(other), equal_nan=True) for one, other in pairs)
