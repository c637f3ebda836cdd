"""What rounding does to the matrices of a linear model, and which of their zeros are more than chance."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from kronbot.compute.trace import Trace
from kronbot.mechanics.linear.deflation import SecondOrder, null_space
from kronbot.mechanics.linear.matrix_polynomial import ROUNDING

Array = npt.NDArray[np.float64]

# How often every number is moved by a rounding, and what the largest change found is multiplied by.
SAMPLES, SAFETY = 6, 4.0
# How often, and by which share, parameters are changed to see whether a zero stands for a symmetry.
OTHERS, SHARE = 2, 1e-2


def block(values: Array, kept: Sequence[int]) -> Array:
    """Rows and columns of a square matrix of a trace, which is no matrix where it has one entry."""
    size = math.isqrt(values.size)
    return np.asarray(values.reshape(size, size)[np.ix_(kept, kept)])


def second_order(
    trace: Trace, arguments: Sequence[npt.ArrayLike], values: Mapping[str, Array], kept: Sequence[int]
) -> SecondOrder:
    """M, D, K of a trace at a point with the errors of their entries, for the coordinates ``kept``.

    An error is the largest change of an entry where every number is moved by up to a rounding, times a factor. A
    direction without stiffness is one that stays so with other parameters: symmetry, and no accident as at a buckling
    load.
    """
    state = np.random.default_rng(0)
    M, D, K = exact = [block(values[name], kept) for name in "MDK"]
    changes = [np.zeros_like(A) for A in exact]
    for _ in range(SAMPLES):
        moved = trace.moved(arguments, (ROUNDING, ROUNDING), state)
        changes = [np.fmax(c, np.abs(block(moved[n], kept) - A)) for n, c, A in zip("MDK", changes, exact, strict=True)]
    dM, dD, dK = (SAFETY * c + ROUNDING * np.abs(A) for c, A in zip(changes, exact, strict=True))
    free = null_space(K, dK)
    for _ in range(OTHERS if free.size else 0):
        # The posture stays: a symmetry belongs to it.
        other = block(trace.moved(arguments, (0.0, SHARE), state)["K"], kept)
        free = free[:, : null_space(other, 2 * dK + ROUNDING * np.abs(other)).shape[1]]
    return SecondOrder(M, D, K, dM, dD, dK, free)
