"""How far away what is drawn may be, and how large its numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kronbot.errors import ComputationError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Squares of larger numbers overflow, and margins around them; browsers draw in single precision.
LARGEST, LARGEST_IN_PAGES = 1e150, 1e15


def reach(points: np.ndarray, largest: float = LARGEST) -> float:
    """The largest distance (m) of points (3, K) from the base, 1 where all are there.

    Raises ComputationError for what is further away than the ``largest``, or overflows.
    """
    size = float(np.abs(points).max(initial=0.0))
    if not size <= largest:
        told = f"{size:.2g} m away" if np.isfinite(size) else "so far away that it overflows"
        raise ComputationError(
            f"a part of the robot is {told}: it cannot be drawn; take smaller coordinates or lengths"
        )
    return float(np.linalg.norm(points, axis=0).max(initial=0.0)) or 1.0


def demand_drawable(figure: Figure) -> None:
    """Raise ComputationError for numbers on scales of a figure around which matplotlib has no room."""
    bounds = np.concatenate([axis.dataLim.get_points().ravel() for axis in figure.axes])
    size = np.abs(bounds, where=np.isfinite(bounds), out=np.zeros_like(bounds)).max(initial=0.0)
    if size > LARGEST:
        raise ComputationError(f"there are numbers up to {size:.2g}: no scale holds them; take smaller ones")
