"""What sensors add to columns, and how late they are: expressions of parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import casadi
import numpy as np
import numpy.typing as npt
from casadi import SX

from kronbot.cached import cached_property
from kronbot.compute.pullback import Pullback
from kronbot.compute.trace import Rows as Places
from kronbot.compute.trace import traced
from kronbot.description.expressions.expression import Expression
from kronbot.description.wording import unknown
from kronbot.errors import Argument, UsageError
from kronbot.floats import Array
from kronbot.model.robot import Robot
from kronbot.model.variation import Variation
from kronbot.questions.fitting.answers import Answers, Through
from kronbot.questions.fitting.columns import Column
from kronbot.questions.fitting.sorting import Sorted, keys, matches
from kronbot.records import dataclass

PURPOSE = "fit"


@dataclass(frozen=True)
class Shifts:
    """Expressions of parameters, ``of`` (columns,) which each column, by ``names``, has one: its place, -1 for none."""

    variation: Variation
    expressions: tuple[Expression, ...]
    of: npt.NDArray[np.intp]
    names: tuple[str, ...]

    @staticmethod
    def read(variation: Variation, given: Mapping[str, Expression], told: Sorted, word: str) -> Shifts:
        """Those of some columns by keys, of which the longest counts. Raises UsageError for keys that mean none."""
        names = [column.name for column in told.columns]
        for key in given:
            if not any(matches(key, name) for name in (*names, *told.known)):
                raise unknown(key, keys(told.known), Argument(word), ": nothing is called ")
        order = [*given]
        meant = ([key for key in given if matches(key, name)] for name in names)
        of = np.array([order.index(max(each, key=len)) if each else -1 for each in meant], dtype=int)
        return Shifts(variation, tuple(given.values()), of, tuple(names))

    @cached_property
    def _symbols(self) -> SX:
        return casadi.densify(casadi.vertcat(*map(self.variation.robot.parameters.number, self.expressions)))

    @property
    def _key(self) -> tuple[object, ...]:
        return "shifts", self.expressions

    def values(self, robot: Robot) -> Array:
        """The numbers (expressions,) of a robot."""
        trace = traced(robot, self._key, PURPOSE, lambda: ({"t": SX.sym("t")}, {"shifts": self._symbols}))
        return trace.rows(np.zeros(1))["shifts"].reshape(-1)

    def slopes(self, robot: Robot, values: Array) -> Array:
        """Their derivatives (expressions, k) by the parameters at some values (k,)."""
        count = len(self.expressions)
        made = Pullback.of(self.variation, self._key, PURPOSE, lambda: ({"t": SX.sym("t")}, self._symbols))
        return made.derivatives(robot, values, {"t": np.zeros(count)}, np.eye(count))

    @property
    def linear(self) -> bool:
        """Whether they are linear in the parameters."""
        return self.variation.is_linear(self._symbols)


@dataclass(frozen=True)
class Shifted(Through):
    """Answers to whose columns something is added."""

    shifts: Shifts
    present: npt.NDArray[np.bool_]

    @staticmethod
    def of_columns(answers: Answers, shifts: Shifts, told: Sorted) -> Shifted:
        """The same answers with what sensors add. Raises UsageError for rotations."""
        demand_numbers(column for column, place in zip(told.columns, shifts.of, strict=True) if place >= 0)
        return Shifted(answers, shifts, ~np.isnan(told.measured))

    @property
    def linear(self) -> bool:
        """Whether they are linear in the parameters."""
        return self.answers.linear and self.shifts.linear

    def errors(self, values: Array) -> Array:
        """Computed, with what is added, less measured (N, columns)."""
        return np.asarray(self.answers.errors(values) + self._added(values))

    def jacobian(self, values: Array) -> Array:
        """Derivatives (measured numbers, k) of what is there of the errors, row by row."""
        own = values[: len(self.shifts.variation.names)]
        _, column = np.nonzero(self.present)
        slopes = self.shifts.slopes(self.shifts.variation.at(own), own)
        J = self.answers.jacobian(values)
        J[:, : len(own)] += np.concatenate([slopes, np.zeros((1, len(own)))])[self.shifts.of[column]]
        return J

    def _added(self, values: Array) -> Array:
        robot = self.shifts.variation.at(values[: len(self.shifts.variation.names)])
        return np.append(self.shifts.values(robot), 0.0)[self.shifts.of]

    def of(self, rows: Places) -> Shifted:
        """The same of some of the rows."""
        return replace(self, answers=self.answers.of(rows), present=self.present[rows])

    def measuring(self, measured: Array) -> Shifted:
        """The same with other measurements (N, columns)."""
        return replace(self, answers=self.answers.measuring(measured), present=~np.isnan(measured))

    def computed(self, values: Array) -> Array:
        """What is computed (N, columns), as it would be measured."""
        return np.asarray(self.answers.computed(values) + self._added(values))


def demand_numbers(columns: Iterable[Column]) -> None:
    """Raise UsageError for columns of rotations, to which nothing can be added."""
    for column in columns:
        if column.kind == "rotation":
            cure = "turn a fixed link by a pose of parameters"
            raise UsageError(Argument("offset"), f" {column.name}: rotations do not add up; {cure}")
