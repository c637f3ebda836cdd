"""What a tangent stiffness says of an equilibrium, the same in whatever coordinates it is written.

Other coordinates turn K into J^T K J. A symmetric K (all loads have a potential) keeps the number of its negative
eigenvalues, by Sylvester's law: it decides, as the second variation of the energy does. Of a K that is not symmetric
(a dead moment in space) only the sign of the determinant is kept, and that of its symmetric part; a negative
determinant is a deviation that grows whatever the masses are, a positive one leaves flutter open (Ziegler, Nikolai).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
# Whether K is symmetric, and the number of directions without stiffness; of another K only whether it is odd.
Index = tuple[bool, int]

# A skew part below this share of K, and an eigenvalue below it, are rounding.
SKEW, ZERO = 1e-10, 1e-13


@dataclass(frozen=True)
class Tangent:
    """The stiffness K (m x m) of the free coordinates, measured by their metric G (m x m, positive definite)."""

    K: Array
    G: Array

    @property
    def _scaled(self) -> Array:
        """K for coordinates of unit size."""
        L = np.linalg.cholesky(self.G)
        return np.asarray(np.linalg.solve(L, np.linalg.solve(L, self.K).T).T)

    @property
    def index(self) -> Index:
        """What changes on a path where K is singular."""
        S = self._scaled
        if self._symmetric(S):
            return True, int((np.linalg.eigvalsh((S + S.T) / 2) <= 0).sum())
        return False, int(np.linalg.slogdet(S)[0] <= 0)

    @property
    def stability(self) -> str:
        """``stable``, ``unstable``, or ``undecided: `` and why."""
        S = self._scaled
        if not len(S):
            return "stable"
        if not self._symmetric(S):
            if np.linalg.slogdet(S)[0] < 0:
                return "unstable"
            return "undecided: moments in space have no potential, and beams may flutter without losing stiffness"
        values = np.linalg.eigvalsh((S + S.T) / 2)
        if abs(values[0]) <= ZERO * np.abs(values).max():
            return "undecided: a direction has no stiffness"
        return "stable" if values[0] > 0 else "unstable"

    @staticmethod
    def _symmetric(S: Array) -> bool:
        return bool(np.abs(S - S.T).max(initial=0.0) <= SKEW * np.abs(S).max(initial=0.0))


def crossed(before: Index, after: Index) -> bool:
    """Whether K was singular between two points of a path, as their indices tell."""
    if before[0] and after[0]:
        return before[1] != after[1]
    return before[1] % 2 != after[1] % 2
