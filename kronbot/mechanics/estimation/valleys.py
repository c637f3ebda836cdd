"""Along the floor of a curved valley: whole steps of Gauss and Newton, brought back to it before they are judged.

Where data hardly tell a combination the least squares lie in a valley whose floor is curved. A step along it that gains
little leaves the floor by more than it gains, so that a trust region shrinks to where the floor is straight, and the
search crawls. Here the way back is taken first: with U S V^T = J and the step J v = -a U U^T f the point x + v is
brought to where U^T f is (1 - a) of what it was at x, by corrections with the J that is known. They want errors alone;
half of the first of them is the geodesic acceleration of Transtrum and Sethna 2012.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kronbot.floats import Array, all_finite
from kronbot.mechanics.estimation.knowledge import RANK, seen

# Steps along a valley at a time, ever shorter tries of one, and how much shorter these are.
LEAPS, TRIES, SHORTER = 10, 6, 3.0
# Corrections of a try, each of which is to leave at most this share of the error of the one before.
CORRECTIONS, CONTRACTION = 8, 0.7
# A step counts that gains this share of what it promises; one that promises less than this share of the cost is none.
GAIN, NOTHING = 0.1, 1e-9
# On a floor steps across it promise no more than this share of the cost; singular values below this share of the
# largest are of directions along it.
FLOOR, SOFT = 0.1, 1e-3


def followed(errors: Callable[[Array], Array], slope: Callable[[Array], Array], x: Array) -> tuple[Array, int]:
    """A point (k,) further along the floor of the valley that x (k,) lies in, and how many steps away; 0 without one.

    ``errors`` (M,) are infinite where there are none, ``slope`` (M, k) are their derivatives.
    """
    share, steps = 1.0, 0
    while steps < LEAPS and share:
        x, share = _leapt(errors, slope, x, share)
        steps += bool(share)
        share = min(1.0, share * SHORTER)
    return x, steps


def _leapt(
    errors: Callable[[Array], Array], slope: Callable[[Array], Array], x: Array, share: float
) -> tuple[Array, float]:
    """A step along the floor, and which share it is of a whole one; 0 where there is none."""
    f, J = errors(x), slope(x)
    norms = np.sqrt((J**2).sum(axis=0))
    told = seen(norms) & (norms > 0)
    U, sizes, V = np.linalg.svd(all_finite(J[:, told] / norms[told]), full_matrices=False)
    good = sizes > RANK * sizes.max(initial=0.0)
    U, V = U[:, good], V[good] / norms[told]

    def back(along: Array) -> Array:
        """What changes U^T f by -along."""
        step = np.zeros(len(x))
        step[told] = -(along / sizes[good]) @ V
        return step

    along, cost = U.T @ f, float(f @ f)
    promised = float(along @ along)
    across = along[sizes[good] > SOFT * sizes.max(initial=0.0)]
    if float(across @ across) > FLOOR * cost or promised <= NOTHING * cost:
        return x, 0.0
    for _ in range(TRIES):
        at, before = x + back(share * along), np.inf
        for _ in range(CORRECTIONS):
            there = errors(at)
            if not np.isfinite(there).all():
                break
            if float(there @ there) < cost - GAIN * share * promised:
                return at, share
            left = U.T @ there - (1 - share) * along
            size = float(np.sqrt(left @ left))
            if size > CONTRACTION * before:
                break
            before, at = size, at + back(left)
        share /= SHORTER
    return x, 0.0
