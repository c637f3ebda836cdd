"""What a run tells of the momenta of a robot that floats free."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from kronbot.compute.arrays import Scalar
from kronbot.floats import Array

MOMENTA: Final = ("momentum", "angular_momentum")
EPSILON: Final = float(np.finfo(float).eps)
CHANGES: Final = tuple(f"{word}_change" for word in MOMENTA)


def changes(series: Mapping[str, Array], sizes: Array, noise: float) -> dict[str, Scalar]:
    """How far each has come from where it began, by the largest sizes (N, 2) that the motion allows: 0 but for what
    acts from outside and rounding, and where kinetic energies are below the ``noise`` of a robot that rests."""
    if series["energy.kinetic"].max() <= noise:
        return dict.fromkeys(CHANGES, 0.0)
    found: dict[str, Scalar] = {}
    for change, word, largest in zip(CHANGES, MOMENTA, sizes.max(axis=0).tolist(), strict=True):
        rows = np.array([series[f"{word}.{axis}"] for axis in "xyz"])
        moved = float(np.linalg.norm(rows - rows[:, :1], axis=0).max())
        found[change] = moved / largest if moved > EPSILON * largest else 0.0
    return found
