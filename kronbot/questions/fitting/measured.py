"""Measured numbers in rows, and what is computed in their place; rotations are compared whole."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kronbot.cached import cached_property
from kronbot.floats import Array
from kronbot.questions.fitting.attitude import matrices, turned_by
from kronbot.questions.fitting.columns import Column
from kronbot.records import dataclass


@dataclass(frozen=True)
class Measured:
    """What is ``measured`` (N, columns) by its ``columns``, NaN where a measurement is missing.

    Of a rotation all three columns stand one after the other, and all are there or none. Their errors are vectors of
    the turn from the measured frame to the computed one, in base axes.
    """

    columns: tuple[Column, ...]
    measured: Array

    @cached_property
    def present(self) -> npt.NDArray[np.bool_]:
        """What is measured (N, columns)."""
        return ~np.isnan(self.measured)

    @cached_property
    def turned(self) -> tuple[int, ...]:
        """The columns in which rotations begin."""
        return tuple(i for i, column in enumerate(self.columns) if column.kind == "rotation" and column.place == 0)

    @cached_property
    def attitudes(self) -> Array:
        """Measured rotations (N, 9 each), column by column."""
        parts = [matrices(np.nan_to_num(self.measured[:, i : i + 3])) for i in self.turned]
        count = len(self.measured)
        return np.concatenate([np.zeros((count, 0)), *(R.swapaxes(1, 2).reshape(-1, 9) for R in parts)], axis=1)

    @cached_property
    def zeros(self) -> Array:
        """What computed columns (N, columns) are compared with: 0 for rotations, which are compared in the trace."""
        wanted = self.measured.copy()
        for i in self.turned:
            wanted[:, i : i + 3] = np.where(np.isnan(wanted[:, i : i + 3]), np.nan, 0.0)
        return wanted

    def computed(self, errors: Array) -> Array:
        """What is computed (N, columns) where these are the errors, as it would be measured."""
        found = errors + self.zeros
        for i in self.turned:
            found[:, i : i + 3] = turned_by(self.measured[:, i : i + 3], errors[:, i : i + 3])
        return found

    def disturbed(self, measured: Array, noise: Array) -> Array:
        """Measurements (N, columns) with noise on them; rotations are turned by it."""
        found = measured + noise
        for i in self.turned:
            found[:, i : i + 3] = turned_by(measured[:, i : i + 3], noise[:, i : i + 3])
        return found
