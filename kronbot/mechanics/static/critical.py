"""The share of a load at which the stiffness of an equilibrium becomes singular, to rounding.

Of straight beams the stiffness is linear in the share: the eigenvalue of a pencil. On a path of equilibria the share is
near it a smooth function of h, which measures how far from singular the stiffness is: with a linear term where other
equilibria branch off, without one where the path turns back. So it is extrapolated to h = 0 from regular points, and
nothing is solved at a singular one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kronbot.floats import Array, all_finite
from kronbot.mechanics.static.equilibrium import Lost, Path
from kronbot.mechanics.static.tangent import to_unit
from kronbot.records import dataclass

EPS = float(np.finfo(float).eps)
# The first points are these shares of the load before its end; each further one has this share of the h of the last.
FIRST, NEARER, POINTS = (0.02, 0.01), 0.25, 9
# Where the extrapolation meets the end of a path within this share of the load, the stiffness is singular there.
NEAR = 1e-5
# Entries of the stiffness are off by more than their last digit.
SAFETY = 4
# Eigenvalues of a pencil below this share of the largest stand for "never", and those nearer than that are refined
# together.
NEVER = 1e-9


@dataclass(frozen=True)
class Critical:
    """A share of the load with singular stiffness, and how far it may be off."""

    share: float
    error: float


def at_end(path: Path, q: Array, lost: Lost) -> Critical:
    """Where the stiffness is singular at the end of the path from q (n,) without load, on which it was not before."""
    end, unit = lost.share, to_unit(path.metric)
    lefts, _, rights = np.linalg.svd(all_finite(unit @ path.balance(lost.q, end)[1] @ unit.T))
    left, right = lefts[:, -1], rights[-1]
    shares, heights, best = [end * (1 - part) for part in FIRST], list[float](), Critical(end, NEAR * abs(end))
    before, at = best.share, 0.0
    try:
        for _ in range(POINTS):
            q, at = path.follow(q, at, shares[len(heights)]), shares[len(heights)]
            K = path.balance(q, at)[1]
            # From [K, left; right^T, 0] [v; -h] = [0; 1]: zero where K is singular, and smooth on both sides.
            heights.append(float(1 / (right @ np.linalg.solve(unit @ K @ unit.T, left))))
            if len(heights) < len(FIRST):
                continue
            slope = (heights[-1] - heights[-2]) / (shares[-1] - shares[-2])
            rounding = np.abs(left @ unit) @ np.abs(K) @ np.abs(unit.T @ right) / abs(slope) + abs(end)
            share = extrapolated(heights, shares, 0.0)
            error = abs(share - before) + SAFETY * len(K) * EPS * float(rounding)
            if abs(share - end) <= NEAR * abs(end) and error < best.error:
                best = Critical(share, error)
            before, further = share, extrapolated(heights, shares, NEARER * heights[-1])
            shares.append(further if at < further < end else (at + end) / 2)
    except (Lost, np.linalg.LinAlgError):  # too near for a regular point
        pass
    return best


def of_pencil(K: Array, loaded: Array) -> Critical | None:
    """The smallest positive share with singular K + share (loaded - K) (n x n each), or None."""
    from scipy.linalg import eig

    inverse, vectors = eig(all_finite(K - loaded), all_finite(K))
    scale = np.abs(inverse).max(initial=0.0)
    held = (np.abs(inverse.imag) <= NEVER * scale) & (inverse.real > NEVER * scale)
    if not held.any():
        return None
    first = inverse.real[held].max()
    own = np.abs(inverse - first) <= NEVER * scale
    # Rayleigh quotients from both sides: off by the square of what vectors are.
    X, Y = vectors[:, own], np.linalg.inv(vectors)[own] @ np.linalg.inv(K)
    within = np.linalg.inv(Y @ K @ X) @ Y
    share = 1 / float(np.linalg.eigvals(within @ (K - loaded) @ X).real.max())
    off = SAFETY * len(K) * EPS * (abs(share - 1) * np.abs(K) + share * np.abs(loaded))
    error = share * float((np.abs(within) @ off @ np.abs(X)).sum(axis=1).max())
    return Critical(share, error + EPS * share)


def extrapolated(heights: Sequence[float], shares: Sequence[float], h: float) -> float:
    """The polynomial through all points at h, by Neville's scheme."""
    values = list(shares)
    for k in range(1, len(values)):
        for i in range(len(values) - k):
            a, b = heights[i], heights[i + k]
            values[i] = ((h - b) * values[i] - (h - a) * values[i + 1]) / (a - b)
    return values[0]
