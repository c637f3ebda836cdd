"""Forces, moments and torques as functions of time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import casadi
import numpy as np
from casadi import SX

from kronbot.description import in_time as described
from kronbot.description.expressions.expression import Expression
from kronbot.description.wording import quote
from kronbot.model.motions import sinusoid
from kronbot.model.parameters import Parameters
from kronbot.records import dataclass

if TYPE_CHECKING:
    from kronbot.description.table import Table

# A step is a ramp so many units in the last place long before its row: less than integrators look before a stop.
STEP = 2


@dataclass(frozen=True)
class InTime:
    """What a file says of one: ``at(t)`` is its value (k x 1) at a time (1 x 1, s).

    At ``joints`` (j x 1, s), and at the ``times`` (s) of the rows of the table in ``file``, it or its derivative jumps.
    Behind the last one it stays as it is, unless it ``lasts``.
    """

    at: Callable[[SX], SX]
    joints: SX = field(default_factory=lambda: SX(0, 1))
    lasts: bool = False
    file: str = ""
    columns: tuple[tuple[float, ...], ...] = ()

    @property
    def times(self) -> tuple[float, ...]:
        """Those of the rows of its table (s)."""
        return self.columns[0] if self.columns else ()

    @property
    def changes(self) -> bool:
        """Whether it is no constant."""
        return self.lasts or bool(self.columns) or self.joints.numel() > 0

    def corners(self, parameters: Parameters, wanted_for: str) -> tuple[float, ...]:
        """Times (s) at which it, or its derivative, jumps; in no order. Raises FreeParameters."""
        return *self.times, *self._joints(parameters, wanted_for)

    def end(self, parameters: Parameters, wanted_for: str) -> float:
        """The time (s) from which on it stays as it is, inf where it never does. Raises FreeParameters."""
        if self.lasts:
            return math.inf
        pairs = zip(self.times[1:], pairwise(zip(*self.columns[1:], strict=True)), strict=True)
        rows = [t for t, (before, after) in pairs if before != after] if self.columns else []
        return max([0.0, *rows, *self._joints(parameters, wanted_for)])

    def _joints(self, parameters: Parameters, wanted_for: str) -> list[float]:
        return parameters.evaluate_all(self.joints, wanted_for) if self.joints.numel() else []


def in_time(given: Any, parameters: Parameters, tables: Mapping[str, Table], name: str = "") -> InTime:
    """The function that a file describes, a number (1 x 1) or a vector (3 x 1), which may name one of the tables.

    ``name`` is that of a number's column where a table has many.
    """

    def value(entry: Expression | tuple[Expression, Expression, Expression]) -> SX:
        return parameters.vector(entry) if isinstance(entry, tuple) else parameters.number(entry)

    match given:
        case described.VectorTable():
            return _of_table(given, tables[given.file].vector())
        case described.TimeTable():
            return _of_table(given, tables[given.file].torque(*given.columns(name)))
        case described.Step() | described.VectorStep():
            begin, height = parameters.number(given.begin), value(given.value)
            end = SX(math.inf) if given.end is None else parameters.number(given.end)
            nothing = SX.zeros(*height.shape)

            def step(t: SX) -> SX:
                risen = casadi.if_else(t < begin, nothing, height)
                return risen if given.end is None else casadi.if_else(t < end, risen, nothing)

            return InTime(step, casadi.vertcat(begin, *(() if given.end is None else (end,))))
        case described.Sinusoid() | described.VectorSinusoid():
            amplitude, begin = value(given.amplitude), parameters.number(given.begin)
            turning = parameters.number(given.frequency), parameters.number(given.phase)
            offset = SX(0) if given.offset is None else value(given.offset)
            wave = sinusoid(amplitude, *turning, offset).value
            if begin.is_zero():
                return InTime(wave, lasts=True)
            nothing = SX.zeros(*amplitude.shape)
            return InTime(lambda t: casadi.if_else(t < begin, nothing, wave(t - begin)), begin, lasts=True)
    constant = value(given)
    return InTime(lambda t: constant)


def _of_table(given: described.TimeTable | described.VectorTable, columns: tuple[tuple[float, ...], ...]) -> InTime:
    """Linear between the rows of a table, or in steps."""
    times, *components = columns

    def at(t: SX) -> SX:
        rows, places = times, [*range(len(times))]
        if given.steps:
            # What holds for no longer than rounding is no step.
            before = [row - STEP * float(np.spacing(row)) for row in times[1:]]
            places = [i for i in places if i + 1 == len(times) or times[i] < before[i]]
            steps = ((before[i - 1], times[i]) for i in places[1:])
            rows = (times[places[0]], *(each for pair in steps for each in pair))
            places = [*(i for i in places[:-1] for _ in range(2)), places[-1]]
        lines = (casadi.interpolant("rows", "linear", [rows], [each[i] for i in places]) for each in components)
        # At a known time it is a number, which formulas and code can write.
        return SX(casadi.vertcat(*(line(float(t) if t.is_constant() else t) for line in lines)))

    return InTime(at, file=given.file, columns=columns)


def told_short(functions: Iterable[tuple[str, InTime]], duration: float) -> list[str]:
    """In words those whose tables, each of what, a run of that duration (s) goes beyond: nothing is extrapolated."""
    return told_beyond(((what, f.file, f.times[0], f.times[-1]) for what, f in functions if f.times), duration)


def told_beyond(tables: Iterable[tuple[str, str, float, float]], duration: float) -> list[str]:
    """The same of tables, each of what, its file, first and last time (s)."""
    short = []
    for what, file, first, last in tables:
        if first > 0 or duration > last:
            told = f"goes from t = {first:g} s to {last:g} s" if first > -math.inf else f"goes to t = {last:g} s"
            run = f"but the run from 0 to {duration:g} s; nothing is extrapolated"
            short.append(f"the table of the {what}, {quote(file)}, {told}, {run}")
    return short
