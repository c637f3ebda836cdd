"""What rounding does to the matrices of a linear model, and which of their zeros are more than chance."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kronbot.cached import cached_property
from kronbot.compute.trace import Trace
from kronbot.floats import Array
from kronbot.mechanics.linear.deflation import SecondOrder, null_spaces
from kronbot.mechanics.linear.matrix_polynomial import ROUNDING

# How often every number is moved by a rounding, and what the largest change found is multiplied by.
SAMPLES, SAFETY = 6, 4.0
# How often, and by which share, parameters are changed to see whether a zero stands for a symmetry.
OTHERS, SHARE = 2, 1e-2


@dataclass(frozen=True)
class Entries:
    """M, D, K of a trace (N, n, n) at points, each input (N, size), with the errors of their entries.

    An error is the largest change of an entry where every number is moved by up to a rounding, times a factor.
    """

    trace: Trace
    points: Sequence[Array]
    matrices: Sequence[Array]
    errors: Sequence[Array]

    @staticmethod
    def at(trace: Trace, points: Sequence[Array], values: Mapping[str, Array] | None = None) -> Entries:
        """Those at points where the trace has given these ``values``, or will."""
        state = np.random.default_rng(0)
        exact = _squares(trace.rows(*points) if values is None else values)
        changes = [np.zeros_like(A) for A in exact]
        for _ in range(SAMPLES):
            moved = _squares(trace.moved(points, (ROUNDING, ROUNDING), state))
            changes = [np.fmax(c, np.abs(B - A)) for c, A, B in zip(changes, exact, moved, strict=True)]
        errors = [SAFETY * c + ROUNDING * np.abs(A) for c, A in zip(changes, exact, strict=True)]
        return Entries(trace, points, exact, errors)

    def systems(self, kept: Sequence[int]) -> list[SecondOrder]:
        """The systems of the coordinates ``kept``.

        A direction without stiffness is one that stays so with other parameters: symmetry, and no accident as at a
        buckling load.
        """
        M, D, K, dM, dD, dK = (A[:, kept][:, :, kept] for A in (*self.matrices, *self.errors))
        free = null_spaces(K, dK)
        if any(each.size for each in free):
            for other in self._others:
                others = other[:, kept][:, :, kept]
                left = null_spaces(others, 2 * dK + ROUNDING * np.abs(others))
                free = [each[:, : rest.shape[1]] for each, rest in zip(free, left, strict=True)]
        return [SecondOrder(*each) for each in zip(M, D, K, dM, dD, dK, free, strict=True)]

    @cached_property
    def _others(self) -> list[Array]:
        """K with other parameters; the posture stays, as a symmetry belongs to it."""
        state = np.random.default_rng(1)
        return [_squares(self.trace.moved(self.points, (0.0, SHARE), state))[2] for _ in range(OTHERS)]


def _squares(values: Mapping[str, Array]) -> list[Array]:
    """M, D, K from the rows of a trace: a matrix of one entry is none there."""
    count = len(values["M"])
    n = math.isqrt(values["M"].size // count)
    return [values[name].reshape(count, n, n) for name in "MDK"]
