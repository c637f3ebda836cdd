"""The best feedback along a motion: -P' = A' P + P A - P B R^-1 B' P + Q, backward in time.

P = Y X^-1 where [X; Y]' = H [X; Y], H = [A, -B R^-1 B'; -Q, -A']: over a piece by the exponential of Magnus' series of
fourth order, exact where A and B stay, in parts that are short beside H (Davison and Maki 1973). Where x jumps to S x,
as where a damped stop begins to hold, P is S' P S before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

import numpy as np
import numpy.typing as npt

from kronbot.cached import cached_property
from kronbot.errors import ComputationError
from kronbot.floats import Array
from kronbot.records import dataclass

Places = npt.NDArray[np.intp]
# S (n, n) by the number of the border, from 1 on.
Jumps = Mapping[int, Array]

# How far a mode may grow in a part of a piece (a power of e); how many periods may pass until P repeats to that share.
SHORT, PERIODS, REPEATING = 5.0, 500, 1e-10
LOST = "the Riccati equation along the motion has no solution: other weights, or a shorter motion"


@dataclass(frozen=True, eq=False)
class Varying:
    """x' = A x + B u in N pieces of the lengths h (N,) s, with the weights Q and R of the cost.

    A (N, 3, n, n) and B (N, 3, n, k) are those where a piece begins, in its middle and where it ends. At some borders,
    1 to N, x ``jumps`` to S x, S (n, n). Answers are told at the borders ``kept`` (M + 1,), from 0 to N, and of those
    with a jump as they are behind it.
    """

    A: Array
    B: Array
    Q: Array
    R: Array
    h: Array
    kept: Places
    jumps: Jumps = field(default_factory=dict)

    def backward(self, P: Array) -> Array:
        """P at the borders (M + 1, n, n), from that at the last one. Raises ComputationError."""
        (back, parts, size), found = self._back, [P / self._back[2]]
        for border in range(len(back), 0, -1):
            P, jump = found[-1], self.jumps.get(border)
            P = P if jump is None else jump.T @ P @ jump
            for _ in range(parts):
                P = _before(back[border - 1], P)
            found.append(P)
        return size * np.array(found[::-1])[self.kept]

    @cached_property
    def _back(self) -> tuple[Array, int, float]:
        """Flows of [X; Y] back over equal parts of each piece (N, 2n, 2n), their number, and a size of P: by it Y is
        divided, so that all of H is alike in size."""
        from scipy.linalg import expm

        n, spread = len(self.Q), self.B @ np.linalg.solve(self.R, self.B.swapaxes(2, 3))
        size = float(np.sqrt(np.abs(self.Q).max() / np.abs(spread).max())) or 1.0
        H = np.zeros((len(self.A), 3, 2 * n, 2 * n))
        H[..., :n, :n], H[..., n:, :n], H[..., n:, n:] = self.A, -self.Q / size, -self.A.swapaxes(2, 3)
        H[..., :n, n:] = -size * spread
        exponents = magnus(H, self.h)
        if not np.isfinite(exponents).all():
            raise ComputationError(LOST)
        parts = max(1, int(np.ceil(np.linalg.eigvals(exponents).real.max() / SHORT)))
        return np.asarray(expm(-exponents / parts)), parts, size

    def periodic(self, P: Array) -> Array:
        """The same where all repeats behind the last piece; P is a first guess. Raises ComputationError."""
        for _ in range(PERIODS):
            found = self.backward(P)
            if np.abs(found[0] - P).max() <= REPEATING * np.abs(P).max():
                return found
            P = found[0]
        why = "a mode that costs nothing, or hardly; weights of more states let it cost something"
        raise ComputationError(f"gains do not repeat after {PERIODS} periods: {why}")

    def gains(self, P: Array) -> Array:
        """K = R^-1 B' P (M + 1, k, n) at the borders kept."""
        B = np.append(self.B[:, 0], self.B[-1:, 2], axis=0)[self.kept]
        return np.asarray(np.linalg.solve(self.R, B.transpose(0, 2, 1) @ P))

    def closed(self, K: Array) -> Array:
        """What the loop with gains at the borders kept, straight between them, makes of a state over all (n, n)."""
        t = np.append(0.0, np.cumsum(self.h))
        rows, times = t[self.kept], np.stack([t[:-1], t[:-1] + self.h / 2, t[1:]], axis=1)
        place = np.clip(np.searchsorted(rows, times, "right") - 1, 0, len(rows) - 2)
        share = ((times - rows[place]) / (rows[place + 1] - rows[place]))[..., None, None]
        return flow(self.A - self.B @ ((1 - share) * K[place] + share * K[place + 1]), self.h, self.jumps)


def magnus(A: Array, h: Array) -> Array:
    """Exponents (N, n, n) of the flows of x' = A x over pieces of the lengths h (N,) s; A (N, 3, n, n) as above."""
    (first, middle, last), h = A.swapaxes(0, 1), h[:, None, None]
    return np.asarray(h / 6 * (first + 4 * middle + last) - h**2 / 12 * (first @ last - last @ first))


def flow(A: Array, h: Array, jumps: Jumps) -> Array:
    """What x' = A x, with jumps, makes of x over all pieces (n, n)."""
    from scipy.linalg import expm

    whole = np.eye(A.shape[2])
    for border, piece in enumerate(expm(magnus(A, h)), 1):
        whole = piece @ whole
        whole = jumps[border] @ whole if border in jumps else whole
    return np.asarray(whole)


def _before(back: Array, P: Array) -> Array:
    """P before a piece, by the flow of [X; Y] back over it."""
    n = len(P)
    try:
        found = np.linalg.solve((back[:n, :n] + back[:n, n:] @ P).T, (back[n:, :n] + back[n:, n:] @ P).T)
    except np.linalg.LinAlgError:
        raise ComputationError(LOST) from None
    if not np.isfinite(found).all():
        raise ComputationError(LOST)
    return np.asarray((found + found.T) / 2)
