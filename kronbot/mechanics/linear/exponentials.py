"""Exponentials of many small matrices.

SciPy's wakes all threads of its BLAS for each of them, where a process has not been told to take one: 8 ms a matrix of
any size, of which NumPy's products and solutions take some hundredths.
"""

from __future__ import annotations

import math

import numpy as np

from kronbot.floats import Array

# Degree of both polynomials: for a norm up to 1/2 exp(A) is that of A + E, with |E| / |A| below 1e-18.
DEGREE = 7
_WEIGHTS = [
    math.factorial(2 * DEGREE - k) * math.comb(DEGREE, k) / math.factorial(2 * DEGREE) for k in range(DEGREE + 1)
]


def exponentials(A: Array) -> Array:
    """exp(A) of matrices A (..., n, n): the Pade approximant of A/2^s, squared s times.

    Golub and Van Loan, Matrix Computations, 9.3.1, each with an s of its own. What overflows is not finite.
    """
    norms = np.abs(A).sum(axis=-2).max(axis=-1, initial=0.0)
    finite = np.isfinite(norms)
    halvings = np.where(finite, np.maximum(0, np.frexp(norms)[1] + 1), 0)
    A = np.ldexp(np.where(finite[..., None, None], A, 0.0), -halvings[..., None, None])
    powers = [np.eye(A.shape[-1]), squares := A @ A, fourth := squares @ squares, fourth @ squares]
    even, odd = (sum(w * power for w, power in zip(_WEIGHTS[k::2], powers, strict=True)) for k in (0, 1))
    odd = A @ odd
    found = np.asarray(np.linalg.solve(even - odd, even + odd), dtype=float)
    with np.errstate(over="ignore", invalid="ignore"):
        for step in range(halvings.max(initial=0)):
            more = halvings > step
            found[more] = found[more] @ found[more]
    found[~finite] = np.nan
    return found
