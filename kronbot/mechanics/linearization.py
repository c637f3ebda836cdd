"""Linear models of a robot: for now its natural frequencies at rest."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from casadi import SX

from kronbot.compute.trace import Trace
from kronbot.mechanics.recursion import generalized_inertia_matrix, propagate
from kronbot.model.robot import Robot

Array = npt.NDArray[np.float64]

# Eigenvalues of M relative to K below this share of the largest are those of coordinates without inertia.
MASSLESS = 1e-14


def mass_and_stiffness(robot: Robot) -> tuple[Array, Array]:
    """M and K (n x n) at q = 0, without gravity and load."""
    q = SX.sym("q", robot.n)
    state = propagate(robot, q, SX(robot.n, 1))
    outputs = {"M": generalized_inertia_matrix(state), "K": robot.stiffness}
    matrices = Trace(robot.parameters, {"q": q}, outputs, "natural frequencies")(np.zeros(robot.n))
    shape = (robot.n, robot.n)
    return matrices["M"].reshape(shape), matrices["K"].reshape(shape)


def natural_frequencies(robot: Robot) -> tuple[Array, Array]:
    """Angular frequencies (rad/s) at q = 0 without gravity, joints locked and joints free, ascending.

    Solved as 1/omega^2 of K_f^-1 M, which keeps the low frequencies accurate to rounding; free joints enter by the
    Schur complement of their inertia, so that rigid motions are exact zeros instead of small numbers. Frequencies of
    coordinates without inertia (torsion without polar inertia) are infinite and left out. Raises UsageError where a
    parameter has no value, numpy.linalg.LinAlgError where free joints move no mass.
    """
    M, K = mass_and_stiffness(robot)
    f = list(robot.flexible)
    r = [joint.index for joint in robot.joints]
    M_f, K_f = M[np.ix_(f, f)], K[np.ix_(f, f)]
    reduced = M_f
    if r and f:
        M_rf = M[np.ix_(r, f)]
        reduced = M_f - M_rf.T @ np.linalg.solve(M[np.ix_(r, r)], M_rf)
    return _frequencies(M_f, K_f), np.concatenate([np.zeros(len(r)), _frequencies(reduced, K_f)])


def _frequencies(M: Array, K: Array) -> Array:
    """omega of M a + K q = 0, ascending, for positive definite K."""
    if not len(K):
        return np.zeros(0)
    L = np.linalg.cholesky(K)
    half = np.linalg.solve(L, M)
    flexibilities = np.linalg.eigvalsh(np.linalg.solve(L, half.T))
    return np.sort(1 / np.sqrt(flexibilities[flexibilities > MASSLESS * flexibilities.max()]))
