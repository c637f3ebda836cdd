"""Rows of points, and numbers that were measured at them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Self

from kronbot.compute.trace import Rows as Places
from kronbot.floats import Array
from kronbot.mechanics.estimation.knowledge import RANK
from kronbot.mechanics.multibody.kinematics import completed
from kronbot.model.robot import Robot
from kronbot.model.variation import Variation
from kronbot.questions.fitting.columns import Column
from kronbot.questions.fitting.sorting import Sorted
from kronbot.records import dataclass


@dataclass
class AtPoints(ABC):
    """What :class:`Answers` of a question at points have in common, whose columns are compared one by one.

    ``points`` (N, n) are coordinates and what else a point has by word, ``measured`` (N, columns) is so of the
    ``columns``.
    """

    variation: Variation
    points: dict[str, Array]
    columns: tuple[Column, ...]
    measured: Array

    accuracy: ClassVar[float] = RANK
    beside: ClassVar[Mapping[str, float]] = {}
    reason: ClassVar[str] = ""

    def of(self, rows: Places) -> Self:
        """The same of some of the rows."""
        points = {word: each[rows] for word, each in self.points.items()}
        return replace(self, points=points, measured=self.measured[rows])

    def measuring(self, measured: Array) -> Self:
        """The same with other measurements (N, columns)."""
        return replace(self, measured=measured)

    def doubts(self, values: Array) -> Iterator[str]:
        """What should be looked at where a search has ended."""
        yield from ()

    def rest(self) -> None:
        """Nothing is kept."""
        return

    @abstractmethod
    def errors(self, values: Array) -> Array:
        """Computed less measured (N, columns): NaN where nothing is measured."""

    def postures(self, values: Array) -> Array:
        """Coordinates (N, n) at the rows, whatever the values are."""
        return self.points["q"]

    def computed(self, values: Array) -> Array:
        """What is computed (N, columns), NaN where nothing is measured."""
        return self.errors(values) + self.measured

    def disturbed(self, measured: Array, noise: Array) -> Array:
        """Measurements (N, columns) with noise on them."""
        return measured + noise


def placed(robot: Robot, told: Sorted, words: Sequence[str]) -> tuple[dict[str, Array], list[str]]:
    """Coordinates, rates and accelerations (N, n) by word, and names of those that were not given."""
    points, still = {}, []
    for word, names in robot.derivative_names(words).items():
        given = {i: told.inputs[name] for i, name in enumerate(names) if name in told.inputs}
        points[word] = completed(robot, given, word, (len(told.rows),))
        still += [name for i, name in enumerate(names) if i not in robot.with_shafts(given)]
    return points, still
