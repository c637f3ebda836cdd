"""What a tangent stiffness says of an equilibrium, the same in whatever coordinates it is written.

Other coordinates turn K into J^T K J. A symmetric K (all loads have a potential) keeps the number of its negative
eigenvalues, by Sylvester's law: it decides, as the second variation of the energy does. Of a K that is not symmetric
(a dead moment in space) only the sign of the determinant is kept, and that of its symmetric part; a negative
determinant is a deviation that grows whatever the masses are, a positive one leaves flutter open (Ziegler, Nikolai).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kronbot.cached import cached_property
from kronbot.floats import Array
from kronbot.records import dataclass

Flags = npt.NDArray[np.bool_]
# (..., 2): whether K is symmetric, and the number of directions without stiffness; of another K whether it is odd.
# That number is -1 where K is not finite.
Index = npt.NDArray[np.int_]

# A skew part below this share of K, and an eigenvalue below it, are rounding.
SKEW, ZERO = 1e-10, 1e-13
FLUTTER = "undecided: moments in space have no potential, and beams may flutter without losing stiffness"
SOFT = "a direction has no stiffness"
NEGATIVE = "undecided: a joint has a negative compliance"


@dataclass(frozen=True)
class Tangent:
    """Stiffnesses K (..., m, m) of the free coordinates, and what brings these to unit size, (m x m) or one each."""

    K: Array
    unit: Array

    @property
    def index(self) -> Index:
        """What changes on a path where K is singular."""
        negative = (self._eigenvalues <= 0).sum(axis=-1)
        if not self._symmetric.all():
            negative = np.where(self._symmetric, negative, ~self._upright)
        return np.stack([self._symmetric, np.where(self._finite, negative, -1)], axis=-1)

    @property
    def stability(self) -> npt.NDArray[np.str_]:
        """``stable``, ``unstable``, or ``undecided: `` and why, for every K."""
        values = self._eigenvalues
        if not values.shape[-1]:
            return np.full(values.shape[:-1], "stable")
        soft = np.abs(values[..., 0]) <= ZERO * np.abs(values).max(axis=-1)
        skew = ~self._symmetric
        return np.select(
            [skew & ~self._upright, skew, soft, values[..., 0] > 0],
            ["unstable", FLUTTER, f"undecided: {SOFT}", "stable"],
            "unstable",
        )

    @cached_property
    def _finite(self) -> Flags:
        return np.asarray(np.isfinite(self.K).all(axis=(-2, -1)))

    @cached_property
    def _scaled(self) -> Array:
        """K for coordinates of unit size; 0 where it is not finite, which would stop all others."""
        return self.unit @ np.where(self._finite[..., None, None], self.K, 0.0) @ self.unit.swapaxes(-2, -1)

    @cached_property
    def _symmetric(self) -> Flags:
        S = self._scaled
        skew = np.abs(S - S.swapaxes(-2, -1)).max(axis=(-2, -1), initial=0.0)
        return np.asarray(skew <= SKEW * np.abs(S).max(axis=(-2, -1), initial=0.0))

    @cached_property
    def _eigenvalues(self) -> Array:
        """Those of the symmetric part (..., m), the smallest first."""
        return np.asarray(np.linalg.eigvalsh((self._scaled + self._scaled.swapaxes(-2, -1)) / 2), dtype=np.float64)

    @property
    def _upright(self) -> Flags:
        """Whether the determinant is positive."""
        return np.asarray(np.linalg.slogdet(self._scaled)[0] > 0)


def to_unit(G: Array) -> Array:
    """U (m x m) with U G U^T = 1, for coordinates measured by a metric G (m x m, positive definite), or stacks."""
    return np.asarray(np.linalg.inv(np.linalg.cholesky(G)), dtype=np.float64)


def crossed(before: Index, after: Index) -> Flags:
    """Whether K was singular between two points of a path, as their indices tell."""
    both = (before[..., 0] & after[..., 0]).astype(bool)
    return np.asarray(np.where(both, before[..., 1] != after[..., 1], before[..., 1] % 2 != after[..., 1] % 2))
