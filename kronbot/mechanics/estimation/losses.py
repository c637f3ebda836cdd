"""Robust losses: how large errors count less than by their squares."""

from __future__ import annotations

import numpy as np

from kronbot.floats import Array

# Where robust losses leave the square, in sigmas: 95 % of the efficiency of least squares under Gaussian noise
# (Holland and Welsch 1977).
TUNING = {"linear": 1.0, "huber": 1.345, "cauchy": 2.385}


def counted(errors: Array, loss: str) -> Array:
    """The shares (M,) with which a loss counts squares of errors in sigmas."""
    return np.asarray(rho(errors**2, loss)[1])


def rho(squares: Array, loss: str) -> Array:
    """rho of squares of errors in sigmas and its two derivatives (3, M)."""
    if loss == "linear":
        return np.array([squares, np.ones_like(squares), np.zeros_like(squares)])
    size = TUNING[loss] ** 2
    z = squares / size
    if loss == "cauchy":
        return np.array([size * np.log1p(z), 1 / (1 + z), -1 / (size * (1 + z) ** 2)])
    root, inside = np.sqrt(np.maximum(z, 1.0)), z <= 1
    return np.array(
        [
            np.where(inside, squares, size * (2 * root - 1)),
            np.where(inside, 1.0, 1 / root),
            np.where(inside, 0.0, -0.5 / (size * root**3)),
        ]
    )
