"""What every question that is fitted says at measured rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np

from kronbot.compute.trace import Rows as Places
from kronbot.description.wording import listing
from kronbot.errors import Argument, ComputationError
from kronbot.floats import Array
from kronbot.model.variation import Variation
from kronbot.questions.fitting.sorting import Sorted
from kronbot.records import dataclass

# A cure where stops or tendons begin to act, with which derivatives are others.
SHORTER = "leave rows of a record out from the first such one on"


class Answers(Protocol):
    """What a question says at measured rows for any values of the parameters, less what is measured there."""

    @property
    def linear(self) -> bool:
        """Whether that is linear in the parameters."""

    @property
    def accuracy(self) -> float:
        """The share of what derivatives tell most of, below which they tell nothing, but how they were computed."""

    @property
    def beside(self) -> Mapping[str, float]:
        """What is to be found beside the parameters, after which it comes, and where a search for it begins."""

    @property
    def reason(self) -> str:
        """Why rows had no answer when errors were last asked for, where there is something to say of it."""

    def errors(self, values: Array) -> Array:
        """Computed less measured (N, columns), NaN where nothing is measured, infinite where there is no answer."""

    def jacobian(self, values: Array) -> Array:
        """Derivatives (measured numbers, k) of what is there of the errors, row by row."""

    def doubts(self, values: Array) -> Iterator[str]:
        """What should be looked at where a search has ended."""

    def postures(self, values: Array) -> Array:
        """Coordinates (N, n) of the robot at the rows."""

    def rest(self) -> None:
        """Forget what is large and can be found again, and steps: they are chosen where one asks next."""

    def of(self, rows: Places) -> Answers:
        """The same of some of the rows."""

    def measuring(self, measured: Array) -> Answers:
        """The same with other measurements (N, columns)."""

    def computed(self, values: Array) -> Array:
        """What is computed (N, columns), as it would be measured."""

    def disturbed(self, measured: Array, noise: Array) -> Array:
        """Measurements (N, columns) with noise on them."""


@dataclass(frozen=True)
class Through:
    """What other ``answers`` have become on their way; what they say is theirs but where another thing is said."""

    answers: Answers

    @property
    def linear(self) -> bool:
        """Whether they are linear in the parameters."""
        return self.answers.linear

    @property
    def accuracy(self) -> float:
        """The least share that derivatives tell of."""
        return self.answers.accuracy

    @property
    def beside(self) -> Mapping[str, float]:
        """What is to be found beside the parameters."""
        return self.answers.beside

    @property
    def reason(self) -> str:
        """Why rows had no answer."""
        return self.answers.reason

    def doubts(self, values: Array) -> Iterator[str]:
        """What should be looked at where a search has ended."""
        return self.answers.doubts(values)

    def postures(self, values: Array) -> Array:
        """Coordinates (N, n) of the robot at the rows."""
        return self.answers.postures(values)

    def rest(self) -> None:
        """Forget what is large and can be found again."""
        self.answers.rest()

    def disturbed(self, measured: Array, noise: Array) -> Array:
        """Measurements (N, columns) with noise on them."""
        return self.answers.disturbed(measured, noise)


def begun(variation: Variation, answers: Answers, told: Sorted, start: Array) -> tuple[Array, Array]:
    """The errors (N, columns) at the first values of the parameters, and derivatives of those that are there.

    Raises ComputationError where a row has no answer there or no derivatives, UsageError for a parameter that shapes
    what is traced.
    """
    errors = answers.errors(start)
    demand_answers(errors, told, answers.reason, "with the first values of the parameters")
    J = answers.jacobian(start)  # after which all traces are there
    demand_derivatives(J, variation.names)
    variation.demand_shapeless()
    return errors, J


def lost(errors: Array, told: Sorted, reason: str) -> str:
    """The rows whose errors (N, columns) are none though something was measured, and the reason; empty without one."""
    places = np.flatnonzero((~np.isfinite(errors) & ~np.isnan(told.measured)).any(axis=1))
    rows = listing(str(row) for row in told.rows[places])
    return f"in row{'s' * (len(places) > 1)} {rows}{reason}" if len(places) else ""


def demand_answers(errors: Array, told: Sorted, reason: str, where: str) -> None:
    """Raise ComputationError where a row has no answer at values of the parameters that are told ``where``."""
    if rows := lost(errors, told, reason):
        nearer = "give ", Argument("parameters"), " values that are nearer"
        cure = (SHORTER, ", or, where what was measured is not so, ", *nearer)
        raise ComputationError(
            f"no answer {where} {rows}; ", *(cure if reason else (*nearer, ", or leave such rows out"))
        )


def demand_derivatives(J: Array, names: Sequence[str]) -> None:
    """Raise ComputationError where derivatives (M, k) by parameters of such names, the first ones, are no numbers."""
    without = [name for i, name in enumerate(names) if not np.isfinite(J[:, i]).all()]
    if without:
        raise ComputationError(
            f"answers have no derivatives by {listing(without)} at values that the search has come to, as where "
            "damping ratios of a robot differ at equal frequencies; give ",
            Argument("parameters"), " other values, or leave it out with ", Argument("fix"),
        )  # fmt: skip
