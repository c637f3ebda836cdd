"""What a run tells of the momenta of a robot that floats free."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from kronbot.compute.arrays import Scalar
from kronbot.floats import Array

MOMENTA: Final = ("momentum", "angular_momentum")
CHANGES: Final = tuple(f"{word}_change" for word in MOMENTA)


def changes(series: Mapping[str, Array], sizes: Array) -> dict[str, Scalar]:
    """How far each has come from where it began, by the largest of the sums (N, 2) that it is: 0 but for what acts from
    outside."""
    found: dict[str, Scalar] = {}
    for change, word, largest in zip(CHANGES, MOMENTA, sizes.max(axis=0).tolist(), strict=True):
        rows = np.array([series[f"{word}.{axis}"] for axis in "xyz"])
        moved = float(np.linalg.norm(rows - rows[:, :1], axis=0).max())
        found[change] = moved / largest if largest else 0.0
    return found
