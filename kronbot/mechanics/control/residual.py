"""What is left of vibration where motors have stopped: the energy of all coordinates but theirs, about their rest.

E = (v' M v + d' K d)/2, d = q - q at rest, with M and K of the arm at rest whose motors are held: the sum over its
modes of (omega a)^2/2, which a linear arm without damping keeps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from casadi import MX

from kronbot.floats import Array
from kronbot.mechanics.control.repeated import Repeated
from kronbot.records import dataclass

Values = TypeVar("Values", Array, MX)

# Of the energy of a whole arm: less than that is no size.
LEAST = 1e-9


@dataclass(frozen=True)
class Residual:
    """M and K (m x m) of the coordinates ``free``, which rest at ``place`` (m,); ``struck`` (J) is a size of energies:
    what is left where motors stop all at once."""

    free: Sequence[int]
    M: Array
    K: Array
    place: Array
    struck: float

    def energy(self, q: Values, qd: Values) -> Values:
        """Of coordinates and rates (n,), J."""
        away, rate = q[self.free] - self.place, qd[self.free]
        return (rate.T @ (self.M @ rate) + away.T @ (self.K @ away)) / 2


def residual(forces: Repeated, goal: Array, free: Sequence[int], rate: Array) -> Residual:
    """That of an arm with the forces [q, qd, qdd] -> n at rest at ``goal``; before motors stop it moves with ``rate``
    (n,)."""
    n, free = len(goal), list(free)
    J = np.asarray(forces.jacobian(np.concatenate([goal, np.zeros(2 * n)])).full())
    inertia, (M, K) = J[:, 2 * n :], (J[np.ix_(free, [first + i for i in free])] for first in (2 * n, 0))
    moved = np.where(np.isin(np.arange(n), free), 0.0, rate)
    after = rate[free] + np.linalg.solve(M, inertia[free] @ moved)
    struck = max(float(after @ M @ after), LEAST * float(rate @ inertia @ rate)) / 2
    return Residual(free, (M + M.T) / 2, (K + K.T) / 2, goal[free], struck)
