"""The best feedback along a motion: -P' = A' P + P A - P B R^-1 B' P + Q, backward in time.

P = Y X^-1 where [X; Y]' = H [X; Y], H = [A, -B R^-1 B'; -Q, -A']: over a step by the exponential of Magnus' series of
fourth order, exact where A and B stay, in parts that are short beside H (Davison and Maki 1973).
"""

from __future__ import annotations

import numpy as np

from kronbot.cached import cached_property
from kronbot.errors import ComputationError
from kronbot.floats import Array
from kronbot.records import dataclass

# How far a mode may grow in a part of a step (a power of e); how many periods may pass until P repeats to that share.
SHORT, PERIODS, REPEATING = 5.0, 500, 1e-10
LOST = "the Riccati equation along the motion has no solution: other weights, or a shorter motion"


@dataclass(frozen=True, eq=False)
class Varying:
    """A (2N + 1, n, n) and B (2N + 1, n, k) at the ends and in the middle of N intervals of the length h (s), with the
    weights Q and R of the cost."""

    A: Array
    B: Array
    Q: Array
    R: Array
    h: float

    def backward(self, P: Array) -> Array:
        """P at the ends of all intervals (N + 1, n, n), from that at the last one. Raises ComputationError."""
        (back, parts, size), found = self._back, [P / self._back[2]]
        for step in reversed(back):
            P = found[-1]
            for _ in range(parts):
                P = _before(step, P)
            found.append(P)
        return size * np.array(found[::-1])

    @cached_property
    def _back(self) -> tuple[Array, int, float]:
        """Flows of [X; Y] back over equal parts of each step (N, 2n, 2n), their number, and a size of P: by it Y is
        divided, so that all of H is alike in size."""
        from scipy.linalg import expm

        n, spread = len(self.Q), self.B @ np.linalg.solve(self.R, self.B.transpose(0, 2, 1))
        size = float(np.sqrt(np.abs(self.Q).max() / np.abs(spread).max())) or 1.0
        H = np.zeros((len(self.A), 2 * n, 2 * n))
        H[:, :n, :n], H[:, n:, :n], H[:, n:, n:] = self.A, -self.Q / size, -self.A.transpose(0, 2, 1)
        H[:, :n, n:] = -size * spread
        exponents = magnus(H, self.h)
        if not np.isfinite(exponents).all():
            raise ComputationError(LOST)
        parts = max(1, int(np.ceil(np.linalg.eigvals(exponents).real.max() / SHORT)))
        return np.asarray(expm(-exponents / parts)), parts, size

    def periodic(self, P: Array) -> Array:
        """The same where all repeats behind the last interval; P is a first guess. Raises ComputationError."""
        for _ in range(PERIODS):
            found = self.backward(P)
            if np.abs(found[0] - P).max() <= REPEATING * np.abs(P).max():
                return found
            P = found[0]
        raise ComputationError(f"gains do not repeat after {PERIODS} periods: a mode that costs nothing, or hardly")

    def gains(self, P: Array) -> Array:
        """K = R^-1 B' P (N + 1, k, n) at the ends."""
        return np.asarray(np.linalg.solve(self.R, self.B[::2].transpose(0, 2, 1) @ P))

    def closed(self, K: Array) -> Array:
        """What the loop with gains at the ends, straight between them, makes of a state over all intervals (n, n)."""
        between = (K[1:] + K[:-1]) / 2
        every = np.zeros((len(self.A), *K.shape[1:]))
        every[::2], every[1::2] = K, between
        return flow(self.A - self.B @ every, self.h)


def magnus(A: Array, h: float) -> Array:
    """Exponents (N, n, n) of the flows of x' = A x over N steps of the length h; A (2N + 1, n, n) as above."""
    first, middle, last = A[:-1:2], A[1::2], A[2::2]
    return np.asarray(h / 6 * (first + 4 * middle + last) - h**2 / 12 * (first @ last - last @ first))


def flow(A: Array, h: float) -> Array:
    """What x' = A x makes of x over all steps (n, n)."""
    from scipy.linalg import expm

    whole = np.eye(A.shape[1])
    for step in expm(magnus(A, h)):
        whole = step @ whole
    return np.asarray(whole)


def _before(back: Array, P: Array) -> Array:
    """P before a step, by the flow of [X; Y] back over it."""
    n = len(P)
    try:
        found = np.linalg.solve((back[:n, :n] + back[:n, n:] @ P).T, (back[n:, :n] + back[n:, n:] @ P).T)
    except np.linalg.LinAlgError:
        raise ComputationError(LOST) from None
    if not np.isfinite(found).all():
        raise ComputationError(LOST)
    return np.asarray((found + found.T) / 2)
