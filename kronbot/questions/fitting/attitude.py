"""How a frame is turned against a measured rotation, as three numbers that vanish smoothly where they agree."""

from __future__ import annotations

import casadi
import numpy as np
from casadi import SX

from kronbot.floats import Array
from kronbot.mechanics.multibody.rotations import rotation_vectors


def attitude(R: SX, measured: SX) -> SX:
    """2 tan(angle/2) along the axis (3 x 1, base axes) of the turn from a measured rotation (3 x 3) to R.

    The rotation vector up to its third power: without its square root at 0, and growing all the way to pi.
    """
    S = R @ measured.T
    trace = S[0, 0] + S[1, 1] + S[2, 2]
    return 2 * casadi.vertcat(S[2, 1] - S[1, 2], S[0, 2] - S[2, 0], S[1, 0] - S[0, 1]) / (1 + trace)


def turned_by(vectors: Array, turns: Array) -> Array:
    """Rotation vectors (N, 3) turned in base axes by 2 tan(angle/2) along an axis (N, 3); NaN where one of them is."""
    found = np.full_like(vectors, np.nan)
    there = ~np.isnan(vectors + turns).any(axis=1)
    size = np.sqrt((turns[there] ** 2).sum(axis=1))[:, None]
    half = size / 2
    by = turns[there] * np.where(half > 0, np.arctan(half) / np.where(half > 0, half, 1.0), 1.0)
    found[there] = rotation_vectors(matrices(by) @ matrices(vectors[there]))
    return found


def matrices(vectors: Array) -> Array:
    """Rotation matrices (N, 3, 3) of rotation vectors (N, 3, rad), Rodrigues."""
    angle = np.sqrt((vectors * vectors).sum(axis=1))[:, None, None]
    x, y, z = vectors.T
    zero = np.zeros_like(x)
    skew = np.array([[zero, -z, y], [z, zero, -x], [-y, x, zero]]).transpose(2, 0, 1)
    sine, versine = np.sinc(angle / np.pi), np.sinc(angle / (2 * np.pi)) ** 2 / 2
    return np.asarray(np.eye(3) + sine * skew + versine * skew @ skew)
