"""How an endpoint yields at an equilibrium, and how much load a robot bears."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kronbot.compute.result import Array as Named
from kronbot.compute.result import Scalar

Array = npt.NDArray[np.float64]

DIRECTIONS = ("x", "y", "z", "rx", "ry", "rz")
# Directions of the compliance weaker than this share of the strongest do not yield.
YIELDING = 1e-10


def compliance(K: Array, J: Array) -> tuple[dict[str, Named], dict[str, Scalar]]:
    """Endpoint compliance J K^-1 J^T (6 x 6) and stiffness from the tangent stiffness K of the free coordinates.

    Where the endpoint cannot yield in some directions, the stiffness is the pseudo-inverse of the compliance, each
    direction in units of the square root of its own entry of the diagonal: zero stands for "does not yield there".
    """
    units_m, units_n = ["m"] * 3 + ["rad"] * 3, ["1/N"] * 3 + ["1/(N m)"] * 3
    force, per = ["N"] * 3 + ["N m"] * 3, ["1/m"] * 3 + ["1/rad"] * 3
    C = J @ np.linalg.solve(K, J.T) if len(K) else np.zeros((6, 6))
    # Metres and radians are weighed against each other by the size of their own entries.
    size = np.sqrt(np.abs(np.diag(C)))
    size = np.where(size > 0, size, 1.0)
    S = np.linalg.pinv(C / np.outer(size, size), rcond=YIELDING) / np.outer(size, size)
    arrays = {
        "compliance": Named(C, DIRECTIONS, {"rows": units_m, "columns": units_n}, DIRECTIONS),
        "stiffness": Named(S, DIRECTIONS, {"rows": force, "columns": per}, DIRECTIONS),
    }
    return arrays, {"yielding_directions": int(np.linalg.matrix_rank(S))}
