"""Whether a mass matrix can be solved with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kronbot.errors import ComputationError
from kronbot.floats import Array

# Smallest eigenvalue of the inertia matrix, scaled to a unit diagonal, that solving with it survives.
SINGULAR = 1e-15
TINY = float(np.finfo(float).tiny)


def weakest(M: Array) -> int | None:
    """The coordinate that moves no inertia of its own, by place in M (n x n); None where M is regular."""
    if not M.size or not np.isfinite(M).all():
        return None
    diagonal = np.diag(M)
    if diagonal.min() <= 0:
        return int(diagonal.argmin())
    size = np.sqrt(np.maximum(diagonal, TINY))
    values, vectors = np.linalg.eigh(M / np.outer(size, size))
    return int(np.abs(vectors[:, 0]).argmax()) if values[0] <= SINGULAR else None


def regular(M: Array) -> npt.NDArray[np.bool_]:
    """Which of many matrices (N, n, n) surely are; the others need a closer look."""
    size = np.sqrt(np.maximum(np.diagonal(M, axis1=1, axis2=2), TINY))
    if not M.size or not np.isfinite(M).all():
        return np.zeros(len(M), dtype=bool)
    return np.asarray(np.linalg.eigvalsh(M / (size[:, :, None] * size[:, None]))[:, 0] > 4 * SINGULAR)


def demand_regular(M: Array, names: Sequence[str]) -> None:
    """Raise ComputationError where M (n x n) is singular, naming the coordinate that moves least inertia."""
    weak = weakest(M)
    if weak is not None:
        raise ComputationError(
            f"the mass matrix is singular: {names[weak]} moves no inertia of its own; give its link inertia about "
            "its axis"
        )
