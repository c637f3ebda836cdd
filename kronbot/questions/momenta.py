"""What a run tells of the momenta of a robot that floats free."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from kronbot.compute.arrays import Scalar
from kronbot.floats import Array

MOMENTA: Final = ("momentum", "angular_momentum")
# What bounds them, of links alone.
BOUNDS: Final = ("link_kinetic", "link_masses")
EPSILON: Final = float(np.finfo(float).eps)
CHANGES: Final = tuple(f"{word}_change" for word in MOMENTA)


def changes(series: Mapping[str, Array], rows: Mapping[str, Array], noise: float) -> dict[str, Scalar]:
    """How far each has come from where it began, by the largest that the motion of the links allows, whose BOUNDS the
    ``rows`` hold: 0 but for what acts from outside and rounding, and where kinetic energies are below the ``noise`` of
    a robot that rests. Rounding is that of all that moves, rotors too, which may be all that does."""
    kinetic = series["energy.kinetic"]
    if kinetic.max() <= noise:
        return dict.fromkeys(CHANGES, 0.0)
    links, masses = (rows[name].reshape(len(kinetic), -1) for name in BOUNDS)
    sizes, every = (
        np.sqrt(np.maximum(2 * energy * masses, 0)).max(axis=0).tolist() for energy in (links, kinetic[:, None])
    )
    found: dict[str, Scalar] = {}
    for change, word, largest, most in zip(CHANGES, MOMENTA, sizes, every, strict=True):
        values = np.array([series[f"{word}.{axis}"] for axis in "xyz"])
        moved = float(np.linalg.norm(values - values[:, :1], axis=0).max())
        found[change] = moved / largest if moved > EPSILON * most else 0.0
    return found
