"""Very many rows, a part at a time: what is large of one part is forgotten before the next."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np

from kronbot.cached import cached_property
from kronbot.compute.trace import Rows as Places
from kronbot.floats import Array
from kronbot.questions.fitting.answers import Answers, Through
from kronbot.records import dataclass

# Rows that are many, and those of a part.
MANY, PART = 200_000, 20_000


@dataclass(frozen=True)
class InParts(Through):
    """The ``answers`` of so many rows, asked for part by part."""

    count: int

    @staticmethod
    def of_many(answers: Answers, count: int) -> Answers:
        """The same answers, in parts where these are many."""
        if count <= MANY:
            return answers
        return InParts(answers, count)

    @cached_property
    def _parts(self) -> list[Answers]:
        starts = range(0, self.count, PART)
        return [self.answers.of(np.arange(start, min(start + PART, self.count))) for start in starts]

    def _each(self) -> Iterator[Answers]:
        for part in self._parts:
            yield part
            part.rest()

    @property
    def reason(self) -> str:
        """Why rows had no answer."""
        return next(filter(None, (part.reason for part in self._parts)), "")

    def errors(self, values: Array) -> Array:
        """Computed less measured (N, columns)."""
        return np.concatenate([part.errors(values) for part in self._each()])

    def jacobian(self, values: Array) -> Array:
        """Derivatives (measured numbers, k) of what is there of the errors, row by row."""
        return np.concatenate([part.jacobian(values) for part in self._each()])

    def computed(self, values: Array) -> Array:
        """What is computed (N, columns), as it would be measured."""
        return np.concatenate([part.computed(values) for part in self._each()])

    def doubts(self, values: Array) -> Iterator[str]:
        """What should be looked at where a search has ended."""
        return chain.from_iterable(part.doubts(values) for part in self._each())

    def postures(self, values: Array) -> Array:
        """Coordinates (N, n) of the robot at the rows."""
        return np.concatenate([part.postures(values) for part in self._each()])

    def of(self, rows: Places) -> Answers:
        """The same of some of the rows."""
        return InParts.of_many(self.answers.of(rows), len(rows))

    def measuring(self, measured: Array) -> InParts:
        """The same with other measurements (N, columns)."""
        return InParts(self.answers.measuring(measured), self.count)

    def rest(self) -> None:
        """Nothing is kept between parts."""
