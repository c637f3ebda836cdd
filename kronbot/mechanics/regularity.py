"""Whether a mass matrix can be solved with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kronbot.errors import ComputationError

Array = npt.NDArray[np.float64]

# Smallest eigenvalue of the inertia matrix, scaled to a unit diagonal, that solving with it survives.
SINGULAR = 1e-15


def demand_regular(M: Array, names: Sequence[str]) -> None:
    """Raise ComputationError where M (n x n) is singular, naming the coordinate that moves least inertia."""
    if not M.size or not np.isfinite(M).all():
        return
    size = np.sqrt(np.maximum(np.diag(M), np.finfo(float).tiny))
    values, vectors = np.linalg.eigh(M / np.outer(size, size))
    if values[0] <= SINGULAR or np.diag(M).min() <= 0:
        weak = int(np.argmin(np.diag(M))) if np.diag(M).min() <= 0 else int(np.abs(vectors[:, 0]).argmax())
        raise ComputationError(
            f"the mass matrix is singular: {names[weak]} moves no inertia of its own; give its link mass"
        )
