"""Answers that pass the filter of what was measured: both sides of tau = M qdd + ... lose the same.

Friction that changes its sign has more frequencies than a filter lets through; a filter on one side only would be seen
as less of it (parallel filtering and decimation, Gautier 1997). What it lets through at rows near each other is nearly
the same noise, so that only rows are compared whose noise is their own: as many a second as twice its bandwidth.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from kronbot.compute.trace import Rows as Places
from kronbot.floats import Array
from kronbot.questions.fitting.answers import Answers, Through
from kronbot.questions.fitting.sorting import Sorted
from kronbot.records import dataclass
from kronbot.system.importing import whole_imports

ORDER = 4
# Periods of the cut-off after which the filter has forgotten most of an end, where noise does not cancel.
PERIODS = 2
# Of white noise beyond the filter, as a share of the cut-off: the integral of 1/(1 + x^8)^2 over all x > 0.
BANDWIDTH = 7 / 8 * np.pi / 8 / np.sin(np.pi / 8)


@dataclass(frozen=True)
class Filter:
    """Butterworth's of order 4, forward and back: gain 1/(1 + (f/cut-off)^8), phase 0; ``cutoff`` (Hz).

    ``rates`` (N,) are how many rows a second there are in the record of each row of a table.
    """

    cutoff: float
    rates: Array

    def __call__(self, values: Array, rate: float) -> Array:
        """What passes of values (N, ...) at so many rows a second."""
        with whole_imports():  # here, since it takes a quarter of a second
            from scipy.signal import butter, sosfiltfilt

        return np.asarray(sosfiltfilt(butter(ORDER, self.cutoff, fs=rate, output="sos"), values, axis=0))

    def end(self, rate: float) -> int:
        """How many rows at either end of what passes are not like the others."""
        return int(np.ceil(PERIODS * rate / self.cutoff))

    def every(self, rate: float) -> int:
        """Of how many rows one has noise of its own."""
        return max(1, int(np.rint(rate / (2 * BANDWIDTH * self.cutoff))))


@dataclass(frozen=True)
class Smoothed(Through):
    """The ``chosen`` rows of answers that pass a filter, ``runs`` (rows, rate) at a time; less ``measured`` ones."""

    filter: Filter
    runs: tuple[tuple[slice, float], ...]
    chosen: Places
    measured: Array

    @staticmethod
    def of_rows(answers: Answers, told: Sorted, passing: Filter) -> tuple[Smoothed, Sorted]:
        """The same answers through a filter, and the rows that are compared; of a record these follow each other."""
        ends = [0, *(np.flatnonzero(np.diff(told.rows) > 1) + 1).tolist(), len(told.rows)]
        runs = tuple((slice(*both), float(passing.rates[told.rows[both[0]] - 1])) for both in pairwise(ends))
        chosen = np.concatenate(
            [
                np.arange(run.start + (end := passing.end(rate)), run.stop - end, passing.every(rate))
                for run, rate in runs
            ]
        )
        found = Smoothed(answers, passing, runs, chosen, np.zeros(0))
        measured = found._passed(told.measured)
        inputs = {name: each[chosen] for name, each in told.inputs.items()}
        return replace(found, measured=measured), replace(
            told, inputs=inputs, measured=measured, rows=told.rows[chosen]
        )

    def _passed(self, values: Array) -> Array:
        return np.concatenate([self.filter(values[run], rate) for run, rate in self.runs])[self.chosen]

    def errors(self, values: Array) -> Array:
        """Computed less measured (N, columns)."""
        return self.computed(values) - self.measured

    def jacobian(self, values: Array) -> Array:
        """Derivatives (measured numbers, k) of what is there of the errors, row by row."""
        J = self.answers.jacobian(values)
        return self._passed(J.reshape(-1, self.measured.shape[1], J.shape[1]))[~np.isnan(self.measured)]

    def computed(self, values: Array) -> Array:
        """What is computed (N, columns), as it would be measured."""
        return self._passed(self.answers.computed(values))

    def postures(self, values: Array) -> Array:
        """Coordinates (N, n) of the robot at the rows."""
        return self.answers.postures(values)[self.chosen]

    def of(self, rows: Places) -> Smoothed:
        """The same of some of the rows."""
        return replace(self, chosen=self.chosen[rows], measured=self.measured[rows])

    def measuring(self, measured: Array) -> Smoothed:
        """The same with other measurements (N, columns)."""
        return replace(self, measured=measured)

    def disturbed(self, measured: Array, noise: Array) -> Array:
        """Measurements (N, columns) with noise on them."""
        return measured + noise
