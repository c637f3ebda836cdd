"""Natural frequencies, damping and mode shapes of M y'' + D y' + K y = 0."""

from __future__ import annotations

from dataclasses import dataclass, replace

import casadi
import numpy as np
import numpy.typing as npt
from casadi import SX

from kronbot.mechanics.recursion import inverse_dynamics, propagate
from kronbot.model.build import build
from kronbot.model.robot import Robot

Array = npt.NDArray[np.float64]

# Eigenvalues of M relative to K below this share of the largest are those of coordinates without inertia.
MASSLESS = 1e-14
PURPOSE = "natural frequencies"


def mass_and_stiffness(robot: Robot) -> tuple[Array, Array]:
    """M and K (n x n) at q = 0, without gravity and load.

    The columns of M are the forces of unit accelerations from rest, by inverse dynamics (Walker and Orin's first
    method): its trace grows with the links, that of the inertia matrix with the square of the coordinates.
    """
    if robot.flexible:
        # Quadratic terms of the kinematics have no part in M at q_f = 0, and order 1 costs least.
        robot = build(robot.description, "1", robot.parameters)
    parameters, rest = robot.parameters, SX(robot.n, 1)
    q, qdd = SX.sym("q", robot.n), SX.sym("qdd", robot.n)
    forces = inverse_dynamics(propagate(replace(robot, gravity=SX(3, 1)), q, rest), qdd)
    parameters.require(parameters.free_in(casadi.veccat(forces, robot.stiffness)), PURPOSE)
    traced = casadi.Function("traced", [q, qdd, parameters.symbols()], [forces, robot.stiffness])
    # With everything else put in, little is left to do for each of the columns.
    forces, K = traced(rest, qdd, parameters.bound())
    M = np.asarray(casadi.Function("forces", [qdd], [forces]).map(robot.n)(np.eye(robot.n)))
    return (M + M.T) / 2, np.asarray(casadi.evalf(K))


def natural_frequencies(robot: Robot) -> tuple[Array, Array]:
    """Angular frequencies (rad/s) at q = 0 without gravity, joints locked and joints free, ascending.

    Solved as 1/omega^2 of K_f^-1 M, which keeps the low frequencies accurate to rounding; free joints enter by the
    Schur complement of their inertia, so that rigid motions are exact zeros instead of small numbers. Frequencies of
    coordinates without inertia (torsion without polar inertia) are infinite and left out. Raises UsageError where a
    parameter has no value, numpy.linalg.LinAlgError where free joints move no mass.
    """
    f = list(robot.flexible)
    r = [joint.index for joint in robot.joints]
    if not f:  # nothing swings; M of a long chain would take seconds
        return np.zeros(0), np.zeros(len(r))
    M, K = mass_and_stiffness(robot)
    M_f, K_f = M[np.ix_(f, f)], K[np.ix_(f, f)]
    reduced = M_f
    if r:
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


# A free coordinate has a double pole at zero, which rounding splits by the square root of its size.
ZERO_POLE = 1e-7


@dataclass(frozen=True)
class Modes:
    """Modes of a linear model, one for every pair of poles or real pole, ascending frequency.

    ``poles`` (complex, rad/s), ``frequencies`` |pole| and ``damping`` ratios -Re/|pole| are (m,), ``shapes`` (n, m)
    have the largest entry 1. Poles at zero (free coordinates) are exact zeros.
    """

    poles: npt.NDArray[np.complex128]
    frequencies: Array
    damping: Array
    shapes: npt.NDArray[np.complex128]


def state_matrix(M: Array, D: Array, K: Array) -> Array:
    """A (2n x 2n) of the state [y; y']: [0, 1; -M^-1 K, -M^-1 D]."""
    n = len(M)
    return np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(M, np.hstack([K, D]))]])


def modes(M: Array, D: Array, K: Array) -> Modes:
    """The modes of M y'' + D y' + K y = 0, any D and K (gyroscopic, follower, unstable)."""
    n = len(M)
    poles, vectors = np.linalg.eig(state_matrix(M, D, K))
    size = np.abs(poles).max(initial=0.0)
    poles = np.where(np.abs(poles) < ZERO_POLE * size, 0.0, poles)
    # A real matrix has its complex poles in pairs. Every direction without stiffness has a pole at zero, a double one
    # where nothing damps it either; it stands once.
    rest = n - np.linalg.matrix_rank(K) if n else 0
    zeros = [i for i in range(2 * n) if poles[i] == 0][:rest]
    upper = [i for i in range(2 * n) if poles[i].imag > 0 or (poles[i].imag == 0 and poles[i] != 0)]
    kept = np.array(zeros + upper, dtype=int)
    kept = kept[np.lexsort((poles[kept].imag, poles[kept].real, np.round(np.abs(poles[kept]), 12)))]
    poles, shapes = poles[kept], vectors[:n, kept]
    if rest:
        # eig splits a multiple pole at random; the directions without stiffness are exact.
        shapes[:, : len(zeros)] = np.linalg.svd(K)[2][n - len(zeros) :].T
    frequencies = np.abs(poles)
    moving = frequencies > 0
    damping = np.zeros(len(poles))
    damping[moving] = -poles[moving].real / frequencies[moving]
    if len(kept):
        shapes = shapes / shapes[np.abs(shapes).argmax(axis=0), np.arange(len(kept))]
    return Modes(poles, frequencies, damping, shapes)
