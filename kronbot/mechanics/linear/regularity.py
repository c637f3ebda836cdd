"""Whether a mass matrix can be solved with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kronbot.errors import ComputationError
from kronbot.floats import Array

# Smallest eigenvalue of the inertia matrix, scaled to a unit diagonal, that solving with it survives.
SINGULAR = 1e-15
# Smaller shares of a motion are rounding.
MOVED = 1e-3
TINY = float(np.finfo(float).tiny)


def weakest(M: Array) -> int | None:
    """The coordinate that moves no inertia of its own, by place in M (n x n); None where M is regular.

    Of several that together move none that is the first one, from the base: its link is what has none, whatever the
    others do with what is behind it.
    """
    if not M.size or not np.isfinite(M).all():
        return None
    diagonal = np.diag(M)
    if diagonal.min() <= 0:
        return int(diagonal.argmin())
    size = np.sqrt(np.maximum(diagonal, TINY))
    values, vectors = np.linalg.eigh(M / np.outer(size, size))
    shares = np.abs(vectors[:, 0])
    return int((shares > MOVED * shares.max()).argmax()) if values[0] <= SINGULAR else None


def idle(M: Array) -> list[int]:
    """The coordinates that move no inertia of their own, by place in M (n x n): without them it is regular."""
    left = list(range(len(M)))
    found = []
    while (weak := weakest(M[np.ix_(left, left)])) is not None:
        found.append(left.pop(weak))
    return sorted(found)


def regular(M: Array) -> npt.NDArray[np.bool_]:
    """Which of many matrices (N, n, n) surely are; the others need a closer look."""
    size = np.sqrt(np.maximum(np.diagonal(M, axis1=1, axis2=2), TINY))
    if not M.size or not np.isfinite(M).all():
        return np.zeros(len(M), dtype=bool)
    return np.asarray(np.linalg.eigvalsh(M / (size[:, :, None] * size[:, None]))[:, 0] > 4 * SINGULAR)


def demand_regular(M: Array, names: Sequence[str]) -> None:
    """Raise ComputationError where M (n x n) is singular, naming the coordinates that move no inertia of their own."""
    if places := idle(M):
        raise ComputationError(singular([names[place] for place in places]))


def singular(names: Sequence[str]) -> str:
    """That M is singular where these move no inertia of their own, and the cure."""
    moves, of = ("moves", "its") if len(names) == 1 else ("move", "their")
    link, axis = ("link", "axis") if len(names) == 1 else ("links", "axes")
    return (
        f"the mass matrix is singular: {', '.join(names)} {moves} no inertia of {of} own; give {of} {link} inertia "
        f"about {of} {axis} (mass, where one slides)"
    )
