"""Rotation vectors (rad) of numeric rotation matrices."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kronbot.errors import ComputationError

Array = npt.NDArray[np.float64]

# Below this a rotation has no axis of its own: it is whole turns about the axis before it.
AXIS = 1e-7
TURNS = range(-8, 9)


def axial(R: Array) -> Array:
    """The rotation vectors (N, 3) of matrices (N, 3, 3) that are expanded in them to second order."""
    return np.stack([R[:, 2, 1] - R[:, 1, 2], R[:, 0, 2] - R[:, 2, 0], R[:, 1, 0] - R[:, 0, 1]], axis=1) / 2


def along(R: Array) -> Array:
    """Rotation vectors (K, 3) of matrices (K, 3, 3) that follow each other continuously from the identity.

    They may grow beyond pi: a beam that is bent into a full circle has turned by 2 pi at its tip, not by 0. Between
    neighbours the change must be under pi.
    """
    from scipy.spatial.transform import Rotation

    vectors = np.empty((len(R), 3))
    before = np.zeros(3)
    try:
        principals = Rotation.from_matrix(R).as_rotvec()
    except ValueError:  # rounding has left no rotation of them
        raise ComputationError("deflections are so large that numbers overflow") from None
    for k, principal in enumerate(principals):
        size = np.linalg.norm(principal)
        axis = principal / size if size > AXIS else before / (np.linalg.norm(before) or 1.0)
        branches = [principal + 2 * np.pi * turn * axis for turn in TURNS]
        before = vectors[k] = min(branches, key=lambda vector: float(np.linalg.norm(vector - before)))
    return vectors
