"""What measurements are good for: sigmas that were given, and those that follow from the errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from kronbot.description.wording import unknown
from kronbot.errors import Argument
from kronbot.floats import Array
from kronbot.mechanics.estimation.beliefs import Flags
from kronbot.questions.fitting.columns import Column
from kronbot.questions.fitting.sorting import Sorted, keys, matches
from kronbot.records import dataclass

# A sigma that follows from errors is no less than this share of what rows usually measure, and than what rounding
# leaves of the largest ones, which few rows far larger than the others may be: the rest is no noise.
LEAST, ROUNDING = 1e-9, 1e-14
# Axes, whose measurements of one unit share what they are good for.
_AXES = ("x", "y", "z", "rx", "ry", "rz")
# The median of absolute errors of Gaussian noise, times this, is its standard deviation.
MEDIAN = 1.4826
# Of fewer degrees of freedom a sigma is off by half and more, and may fall upon a chance: likelihood likes it small.
FEW = 2.5


@dataclass
class Noise:
    """Standard deviations ``sigma`` (columns,), and the ``groups`` of columns by whose errors theirs are found, by
    what they are called and their unit. ``least`` (columns,) is what a sigma cannot be below.

    The sigma of a group is that of maximum likelihood, with the degrees of freedom that the fit leaves it; of robust
    losses that of the median.
    """

    sigma: Array
    groups: Mapping[tuple[str, str], list[int]]
    least: Array
    robust: bool

    @staticmethod
    def of(told: Sorted, given: Mapping[str, float], loss: str) -> Noise:
        """That of some columns. The longest key that means one counts. Raises UsageError where it can mean none."""
        names = [column.name for column in told.columns]
        sigma = np.ones(len(names))
        groups: dict[tuple[str, str], list[int]] = {}
        for key in given:
            if not any(matches(key, name) for name in (*names, *told.known)):
                raise unknown(key, keys(told.known), Argument("sigma"), ": nothing is called ")
        for i, name in enumerate(names):
            meant = [key for key in given if matches(key, name)]
            if meant:
                sigma[i] = given[max(meant, key=len)]
            else:
                groups.setdefault(alike(told.columns[i]), []).append(i)
        least = np.array([_least(np.abs(column)) for column in told.measured.T])
        return Noise(sigma, groups, least, loss != "linear")

    @property
    def unknown(self) -> bool:
        """Whether there are sigmas that nobody gave."""
        return bool(self.groups)

    def weights(self, present: Flags) -> Array:
        """One over sigma (M,) of what is ``present`` (N, columns)."""
        return np.broadcast_to(1 / self.sigma, present.shape)[present]

    def begin(self, errors: Array) -> None:
        """Begin with the sizes of the errors (N, columns) before anything is fitted."""
        for group in self.groups.values():
            if not np.isnan(own := errors[:, group]).all():
                self._put(group, _root_mean_square(own[~np.isnan(own)]))

    def follow(self, errors: Array, leverages: Array) -> float:
        """Take the sigmas from errors and leverages (N, columns); the largest relative change of one."""
        change = 0.0
        for group in self.groups.values():
            own = errors[:, group]
            count = float((~np.isnan(own)).sum())
            left = count - float(np.nansum(leverages[:, group]))
            if left < 0.5:  # the parameters follow these measurements: they tell nothing of their noise
                continue
            before = self.sigma[group[0]]
            self._put(group, self.scale(own[~np.isnan(own)], left))
            change = max(change, abs(float(self.sigma[group[0]] / before) - 1))
        return change

    def doubtful(self, errors: Array, leverages: Array) -> Iterator[tuple[str, int, float]]:
        """What sigmas are of that follow from fewer than FEW degrees of freedom: how many measurements, and these."""
        for (name, _), group in self.groups.items():
            count = int((~np.isnan(errors[:, group])).sum())
            left = count - float(np.nansum(leverages[:, group]))
            if left < FEW:
                yield name, count, left

    def scale(self, errors: Array, freedom: float) -> float:
        """The standard deviation of errors (M,) to which a fit has left so many degrees of freedom.

        Of robust losses it is that of the median, which outliers do not move.
        """
        if self.robust:
            return float(MEDIAN * np.median(np.abs(errors)) * np.sqrt(len(errors) / freedom))
        return _root_mean_square(errors) * float(np.sqrt(len(errors) / freedom))

    def _put(self, group: list[int], value: float) -> None:
        # Of a column of zeros nothing is known but the others.
        self.sigma[group] = max(value, float(self.least[group].max()) or float(self.least.max(initial=0.0)) or LEAST)


def _root_mean_square(errors: Array) -> float:
    """That of errors (M,) whose squares may be too large for numbers."""
    largest = float(np.abs(errors).max(initial=0.0))
    return largest * float(np.sqrt(np.mean((errors / largest) ** 2))) if largest else 0.0


def _least(sizes: Array) -> float:
    """What a sigma cannot be below for measurements of such sizes (N,), NaN where there are none; 0 of zeros alone."""
    found = sizes[sizes > 0]
    return max(LEAST * float(np.median(found)), ROUNDING * float(found.max())) if len(found) else 0.0


def alike(column: Column) -> tuple[str, str]:
    """What columns of one unit share that are axes of one thing, and the unit."""
    head, _, axis = column.name.rpartition(".")
    return head if axis in _AXES else column.name, column.unit
