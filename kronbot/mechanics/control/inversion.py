"""Motions under which k outputs of an arm with k drives follow a path exactly; torques are outcomes (stable inversion).

While outputs are held, what is left of a flexible arm moves by itself, with the zeros as its poles. Where some are in
the right half plane, as of a tip behind a beam, the one motion that stays bounded begins before the path does, where
some are in the left one it ends after it (Devasia, Chen and Paden 1996). It is found as a boundary value problem, of
Gauss collocation with five stages (order 10, symmetric: what grows does so in the discrete motion, too): equations of
motion without the driven ones, accelerations of the outputs, and of all such motions the nearest to rest at both ends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import casadi
import numpy as np
import numpy.typing as npt

from kronbot.errors import ComputationError
from kronbot.floats import Array, all_finite
from kronbot.mechanics.control.repeated import Repeated
from kronbot.records import dataclass

Complex = npt.NDArray[np.complex128]

# Ends of the stages, and monomials of the polynomials that are one at one and zero at the others.
STAGES = 5
TIMES = np.array([float(c) for c in casadi.collocation_points(STAGES, "legendre")])
MONOMIALS = np.linalg.inv(np.vander(TIMES, increasing=True))
# Iterations of Newton's method, and what they leave of equations of the size of one.
ITERATIONS, LEFT = 30, 1e-11
# Outputs whose accelerations heed no torque, by the condition of the matrix that tells them.
DEAF = 1e12


class NoMotion(ComputationError):
    """That Newton's method finds no motion, with the ``postures`` (N + 1, n) of its first step."""

    def __init__(self, *words: object, postures: Array) -> None:
        super().__init__(*words)
        self.postures = postures


@dataclass(frozen=True)
class Followed:
    """Coordinates (N + 1, n), rates, and accelerations (N, stages, n) on N intervals of the length h (s)."""

    q: Array
    qd: Array
    qdd: Array
    h: float
    iterations: int

    def dense(self, pieces: int) -> tuple[Array, Array]:
        """Times (s) and coordinates (rows, n), so many rows on each interval, and the last."""
        s = np.arange(pieces) / pieces
        _, twice = _integrals(s)
        rows = self.q[:-1, None] + s[:, None] * self.h * self.qd[:-1, None]
        rows = rows + self.h**2 * np.einsum("pk,ikn->ipn", twice, self.qdd)
        times = self.h * (np.arange(len(self.qdd))[:, None] + s).ravel()
        return np.append(times, self.h * len(self.qdd)), np.vstack([rows.reshape(-1, rows.shape[2]), self.q[-1:]])


def _integrals(s: Array) -> tuple[Array, Array]:
    """Integrals from 0 to s, once and twice, of the polynomials of the stages (len(s), stages)."""
    m = np.arange(STAGES)
    once, twice = s[:, None] ** (m + 1) / (m + 1), s[:, None] ** (m + 2) / ((m + 1) * (m + 2))
    return once @ MONOMIALS, twice @ MONOMIALS


def leading(places: Array, rates: Array, accelerations: Array, h: float) -> Array:
    """Accelerations (N, stages, k), least changed, under which places (N + 1, k) and rates follow one another: there is
    no drift along a path whose own are not polynomials on the intervals.
    """
    once, twice = _integrals(np.ones(1))
    integrals = np.vstack([once, twice])
    exact = np.stack([np.diff(rates, axis=0) / h, (np.diff(places, axis=0) - h * rates[:-1]) / h**2], axis=1)
    missing = exact - np.einsum("mj,ijk->imk", integrals, accelerations)
    return np.asarray(accelerations + np.einsum("jm,imk->ijk", np.linalg.pinv(all_finite(integrals)), missing))


def zeros(stiffness: Array, damping: Array, mass: Array, outputs: Array, free: Sequence[int]) -> Complex:
    """Poles of what moves while outputs (k, n) of the arm at rest stand still, torques acting on all rows but ``free``.

    Raises ComputationError where no torque accelerates an output at once.
    """
    from scipy.linalg import eig, null_space

    still = null_space(all_finite(outputs))
    count = still.shape[1]
    if not count:
        return np.zeros(0, dtype=complex)
    M, D, K = ((each[list(free)] @ still) for each in (mass, damping, stiffness))
    if count != len(free) or np.linalg.cond(all_finite(M)) > DEAF:
        raise ComputationError("no torque accelerates these outputs at once")
    unit, nothing = np.eye(count), np.zeros((count, count))
    pencil = np.block([[nothing, unit], [-K, -D]]), np.block([[unit, nothing], [nothing, M]])
    found = eig(all_finite(pencil[0]), all_finite(pencil[1]), right=False)
    return np.asarray(found[np.argsort(np.abs(found), kind="stable")])


def answers(mass: Array, outputs: Array, free: Sequence[int]) -> tuple[float, float]:
    """The sign of the determinant of the accelerations of outputs (k, n) by torques, and its condition, whatever their
    units are: where the sign changes along a motion, torques do not accelerate the outputs in some direction.
    """
    driven = [place for place in range(len(mass)) if place not in free]
    D = outputs @ np.linalg.solve(all_finite(mass), np.eye(len(mass))[:, driven])
    for axis in (1, 0):
        D = D / np.maximum(np.linalg.norm(D, axis=axis, keepdims=True), np.finfo(float).tiny)
    return float(np.linalg.slogdet(D)[0]), float(np.linalg.cond(all_finite(D)))


def standing(equations: Repeated, outputs: Repeated, free: Sequence[int], q: Array, place: Array) -> Array:
    """The posture (n,) near q in which the arm rests with its outputs at a place. Raises ComputationError."""
    n, still = len(q), np.zeros(2 * len(q))
    rows = [*free]
    for _ in range(ITERATIONS):
        slope = np.asarray(equations.jacobian(np.append(q, still)).full())[rows, :n]
        seen = np.asarray(outputs.jacobian(q).full())
        left = np.concatenate([equations(q, still)[rows], outputs(q) - place])
        try:
            step = np.linalg.solve(np.vstack([slope, seen]), left)
        except np.linalg.LinAlgError:
            break
        q = q - step
        if np.abs(step).max() <= LEFT * max(1.0, np.abs(q).max()):
            return q
    raise ComputationError("the arm does not reach the path: no posture at rest is found on it; begin nearer to it")


def inverse(
    equations: Repeated,
    outputs: Repeated,
    free: Sequence[int],
    guess: Array,
    wanted: Array,
    h: float,
    watch: Callable[[], None],
) -> Followed:
    """The motion near a ``guess`` (N + 1, n) of postures at rest whose outputs have the accelerations ``wanted``
    (N, stages, k), from rest to rest.

    ``equations`` [q, qd, qdd] are the forces of n coordinates and the accelerations of the outputs below; the arm
    stands in the first and last postures. ``watch`` is called in every step and may raise what stops it. Raises
    NoMotion where Newton's method finds none.
    """
    from scipy.sparse import coo_matrix, csc_matrix, diags
    from scipy.sparse.linalg import splu

    N, n = len(guess) - 1, guess.shape[1]
    k = wanted.shape[2]
    rows = [*free, *range(n, n + k)]
    once, _ = _integrals(TIMES)
    twice = once @ once  # as rates are: by the exact integral vibrations grow that intervals do not resolve
    ends, double = _integrals(np.ones(1))
    unit, width = np.eye(n), (2 + STAGES) * n
    # Places, rates and accelerations at the stages, and both states at the end, by what an interval begins with: rates
    # times h, accelerations times its square, all in units of places. In seconds, rounding of what is fast and hardly
    # decays stands beside them.
    stage = np.zeros((STAGES, 3 * n, width))
    for j in range(STAGES):
        parts = [np.eye(STAGES)[j], once[j], twice[j]]
        stage[j] = np.vstack(
            [
                np.hstack([unit, TIMES[j] * unit, np.kron(parts[2], unit)]),
                np.hstack([0 * unit, unit, np.kron(parts[1], unit)]) / h,
                np.hstack([0 * unit, 0 * unit, np.kron(parts[0], unit)]) / h**2,
            ]
        )
    onward = np.vstack(
        [
            np.hstack([unit, unit, np.kron(double[0], unit)]),
            np.hstack([0 * unit, unit, np.kron(ends[0], unit)]),
        ]
    )
    x = np.zeros((N + 1) * width)[: N * width + 2 * n]
    places = np.arange(N)[:, None] * width + np.arange(width)
    nodes = np.append(np.arange(N) * width, N * width)[:, None] + np.arange(2 * n)
    x[nodes[:, :n]] = guess
    x[nodes[:, n:]] = np.gradient(guess, axis=0)
    forces = np.abs(np.asarray(equations.function.map(N + 1)(np.hstack([guess, 0 * guess, 0 * guess]).T))).max(axis=1)
    jacobian = equations.jacobian(np.concatenate([guess[0], np.zeros(2 * n)])).full()
    size = np.maximum(forces, np.abs(jacobian).max(axis=1))[rows]
    still = np.concatenate([nodes[0], nodes[-1]])
    target = np.concatenate([guess[0], np.zeros(n), guess[-1], np.zeros(n)])
    weight = np.zeros(len(x))
    weight[still] = np.tile(np.repeat([1.0, 1 / h**2], n), 2)
    seen, place = outputs.jacobian(guess[0]).full(), outputs(guess[0])
    begun = guess
    for iteration in range(1, ITERATIONS + 1):
        watch()
        s = np.einsum("jaw,iw->ija", stage, x[places]).reshape(N * STAGES, 3 * n)
        values = np.asarray(equations.function.map(len(s))(s.T)).T[:, rows]
        values[:, n - k :] -= wanted.reshape(-1, k)
        slopes = _each(equations, s)[:, rows]
        blocks = np.einsum("ijra,jaw->ijrw", (slopes / size[:, None]).reshape(N, STAGES, n, 3 * n), stage)
        blocks = blocks.reshape(N, STAGES * n, width)
        gaps = x[nodes[1:]] - x[places] @ onward.T
        q0, v0 = x[:n], x[n : 2 * n]
        seen = outputs.jacobian(q0).full()
        g = np.concatenate([(values / size).ravel(), gaps.ravel(), outputs(q0) - place, seen @ v0])
        first, second = N * STAGES * n, N * STAGES * n + 2 * n * N
        begin = np.arange(second, second + 2 * k)[:, None]
        corner = np.block([[seen, 0 * seen], [0 * seen, seen]])
        entries = [
            (np.arange(first).reshape(N, -1)[:, :, None], places[:, None, :], blocks),
            (np.arange(first, second).reshape(N, -1)[:, :, None], places[:, None, :], -onward[None]),
            (np.arange(first, second).reshape(N, -1), nodes[1:], np.ones((1, 1))),
            (begin, np.arange(2 * n)[None, :], corner),
        ]
        parts = [np.broadcast_arrays(*each) for each in entries]
        r, c, v = (np.concatenate([each[i].ravel() for each in parts]) for i in range(3))
        J = coo_matrix((v, (r, c)), shape=(len(g), len(x))).tocsc()
        away = np.zeros(len(x))
        away[still] = weight[still] * (x[still] - target)
        whole = csc_matrix(_stacked(diags(weight), J))
        if not np.isfinite(whole.data).all() or not np.isfinite(g).all():
            break
        try:
            step = splu(whole).solve(np.concatenate([-away, -g]))[: len(x)]
        except RuntimeError:  # a singular factor
            break
        if not np.isfinite(step).all():
            break
        x = x + step
        if iteration == 1:
            begun = x[nodes][:, :n]
        if np.abs(g).max() <= LEFT and np.abs(step).max() <= 1e-9 * max(1.0, np.abs(x).max()):
            states = x[nodes]
            rises = x[places][:, 2 * n :].reshape(N, STAGES, n) / h**2
            return Followed(states[:, :n], states[:, n:] / h, rises, h, iteration)
    lost = "no motion is found that follows the path: a slower path, or one that is nearer to the arm"
    raise NoMotion(lost, postures=begun)


def _stacked(W: object, J: object) -> object:
    from scipy.sparse import bmat

    return bmat([[W, J.T], [J, None]])  # type: ignore[attr-defined]


def _each(function: Repeated, s: Array) -> Array:
    """Jacobians (N, m, n) at the rows of s (N, n)."""
    m, n = function.function.numel_out(0), s.shape[1]
    r, c = (np.array(each) for each in function.jacobian.sparsity_out(0).get_triplet())
    found = function.jacobian.map(len(s))(s.T)
    J = np.zeros((len(s), m, n))
    J[:, r, c] = np.array(found.nonzeros()).reshape(len(s), -1)
    return J
