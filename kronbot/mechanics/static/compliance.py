"""How an endpoint yields at an equilibrium, and how much load a robot bears."""

from __future__ import annotations

import numpy as np

from kronbot.floats import Array, all_finite
from kronbot.records import dataclass

DIRECTIONS = ("x", "y", "z", "rx", "ry", "rz")
UNITS = {
    "compliance": {"rows": ["m"] * 3 + ["rad"] * 3, "columns": ["1/N"] * 3 + ["1/(N m)"] * 3},
    "stiffness": {"rows": ["N"] * 3 + ["N m"] * 3, "columns": ["1/m"] * 3 + ["1/rad"] * 3},
}
# What two directions have in common is rounding below this share of what is their own.
ROUNDING = 1e-14
# Directions of the compliance weaker than this share of the strongest do not yield.
YIELDING = 1e-10


@dataclass(frozen=True)
class Yielding:
    """Endpoint compliance and stiffness (6 x 6), and in how many directions it yields."""

    compliance: Array
    stiffness: Array
    directions: int


def yielding(K: Array, J: Array) -> Yielding:
    """Endpoint compliance J K^-1 J^T (6 x 6) and stiffness from the tangent stiffness K of the free coordinates.

    Where the endpoint cannot yield in some directions, the stiffness is the pseudo-inverse of the compliance, which
    weighs metres against radians by the norms of their blocks, so that it turns with the base: zero stands for "does
    not yield there".
    """
    C = J @ np.linalg.solve(K, J.T) if len(K) else np.zeros((6, 6))
    blocks = [np.linalg.norm(all_finite(C[block, block]), 2) for block in (slice(0, 3), slice(3, 6))]
    weight = np.repeat([1 / np.sqrt(norm) if norm > 0 else 1.0 for norm in blocks], 3)
    weighed = weight[:, None] * C * weight
    parts = {part: np.linalg.svd(all_finite(weighed[np.ix_(part, part)])) for part in _parts(weighed)}
    least = YIELDING * max(sizes[0] for _, sizes, _ in parts.values())
    S, directions = np.zeros((6, 6)), 0
    for part, (U, sizes, Vh) in parts.items():
        yields = sizes > least
        S[np.ix_(part, part)] = Vh[yields].T / sizes[yields] @ U[:, yields].T
        directions += int(yields.sum())
    return Yielding(C, weight[:, None] * S * weight, directions)


def _parts(C: Array) -> set[tuple[int, ...]]:
    """Directions that no others have to do with, as those in a plane of symmetry and those across.

    Inverted together, the rounding of a stiff part would stand between it and the others.
    """
    own = np.abs(np.diag(C))
    own = np.maximum(own, YIELDING * own.max())
    coupled = np.abs(C) > ROUNDING * np.sqrt(np.outer(own, own))
    reached = np.linalg.matrix_power(np.eye(6) + coupled + coupled.T, 5) > 0
    return {tuple(np.flatnonzero(row).tolist()) for row in reached}
