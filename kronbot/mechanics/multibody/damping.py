"""Damping of a robot: of its joints, springs and beams, or measured on the whole as ratios of its modes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeAlias

import casadi
import numpy as np
import numpy.typing as npt
from casadi import SX

from kronbot.cached import cached_property
from kronbot.description.schema import RobotDamping
from kronbot.floats import Array
from kronbot.mechanics.multibody.energy import elastic_energy, gravity_energy
from kronbot.mechanics.multibody.state import generalized_inertia_matrix, propagate
from kronbot.model.build import build
from kronbot.model.floating import hung
from kronbot.model.robot import Robot
from kronbot.records import dataclass

# A share of the largest square of a frequency: less is rounding.
LOOSE = 1e-14
# Frequencies that differ by less, as a share of their sum, are those of one pair of shapes that are nobody's own.
TOGETHER = 1e-7
Size: TypeAlias = "tuple[int, int]"
Compute: TypeAlias = "Callable[..., list[Array]]"


def dissipative_forces(robot: Robot, q: SX, qd: SX) -> SX:
    """Forces (n x 1) that damping and friction take at q with rates qd (n x 1 each)."""
    return damping_matrix(robot, q) @ qd + robot.friction(qd) if qd.nnz() else SX(robot.n, 1)


def damping_matrix(robot: Robot, q: SX) -> SX:
    """D (n x n): viscous joint damping, that of springs, structural damping, and what was measured on the whole.

    What was measured of a base that hangs on elements is of its angular velocity in its own axes, so that it is the
    same however its angles are counted: D depends on these.
    """
    measured, turning = measured_damping(robot), list(robot.base[3:])
    if turning and not measured[turning, :].is_zero():
        S = SX.eye(robot.n)
        S[turning, turning] = turning_of(q[turning, :])
        measured = S.T @ measured @ S
    return robot.damping_of_parts + measured


def turning_of(angles: SX) -> SX:
    """The angular velocity of a base in its own axes, by the rates of its angles (3 x 3)."""
    (cx, cy, _), (sx, sy, _) = map(casadi.vertsplit, (casadi.cos(angles), casadi.sin(angles)))
    return casadi.blockcat([[1, 0, -sy], [0, cx, sx * cy], [0, -sx, cx * cy]])


def measured_damping(robot: Robot) -> SX:
    """D (n x n) = M Phi diag(2 zeta omega) Phi^T M, with which the modes of the robot have the ratios of its file.

    M and K are those of what is deformed at the posture of the file. With joints locked K has the stiffness of gravity
    there, as ``modes``; with joints free these move along, so that M is what is left of it when they are eliminated,
    and gravity, under which a free arm does not stand, is left out. A floating base moves along in both, unless
    elements hold it: then it swings. The last ratio holds for all further modes. Entries are symbols whose values
    follow those of the robot: they take no part in what is traced.
    """
    said = robot.file.damping
    if said is None or not (robot.flexible or robot.elements):
        return SX(robot.n, robot.n)

    def of_file() -> SX:
        # Whatever was left out of this robot: contacts, say, or the chart in which a base turns.
        return _matrix(build(robot.description, robot.order, robot.parameters, robot.compliant), said)

    return robot.parameters.kept(("measured damping", robot.order, robot.n), of_file)


def _matrix(robot: Robot, said: RobotDamping) -> SX:
    parameters, (U, u) = robot.parameters, robot.attachment
    values = (said.at.get(joint.name) for joint in robot.joints)
    posture = U @ casadi.vertcat(SX(0, 1), *(0 if v is None else parameters.number(v) for v in values)) + u
    q, flexible = SX.sym("q", robot.n), list(robot.flexible)
    state = propagate(robot, q, SX(robot.n, 1))
    T = SX.eye(robot.n)  # from joint values and deformations to coordinates
    T[:, list(robot.rigid)] = U
    M = T.T @ generalized_inertia_matrix(state) @ T
    if said.joints == "locked":
        held = bool(hung(robot))
        swinging, following = ([*robot.base, *flexible], []) if held else (flexible, list(robot.base))
        falls = robot.base and not held  # so that it has no weight
        energy = elastic_energy(state) + (0 if falls else gravity_energy(state))
        K = casadi.hessian(energy, q)[0][swinging, swinging]
    else:
        springs = casadi.hessian(elastic_energy(state), q)[0] if robot.elements else robot.stiffness
        elastic = T.T @ springs @ T
        following = [place for place in (*robot.base, *robot.rigid) if elastic[place, :].is_zero()]
        swinging = robot.others(following)
        K = elastic[swinging, swinging]
    if not swinging:
        return SX(robot.n, robot.n)
    places = [*swinging, *following]
    numbers = casadi.substitute([casadi.densify(M[places, places]), casadi.densify(K)], [q], [casadi.densify(posture)])
    ratios = said.ratios if isinstance(said.ratios, tuple) else (said.ratios,)
    zeta = casadi.vertcat(*(parameters.number(ratios[min(i, len(ratios) - 1)]) for i in range(len(swinging))))
    block = _solver(len(swinging), len(following))(*map(parameters.in_others, numbers), parameters.in_others(zeta))
    D = SX(len(swinging), len(swinging))
    for i in range(len(swinging)):
        for j in range(i + 1):
            name = f"damping at order {robot.order} of {robot.n}, {i} {j}"
            D[i, j] = D[j, i] = parameters.datum(name, block[i, j], computed=True)
    S = SX.eye(robot.n)  # back from coordinates: deformations are what differs from where joints lead
    S[flexible, list(robot.rigid)] = -U[flexible, :]
    return S[swinging, :].T @ D @ S[swinging, :]


@dataclass(frozen=True)
class ModalDamping:
    """D = W diag(2 zeta r) W^T, W = A Phi, where Phi^T A Phi = 1 and Phi^T B Phi = diag(squares), and its derivatives.

    A is the M (m x m) of what swings and B is K, so that r are frequencies, or, where all of it swings, A is K and B is
    M, so that r are their inverses. That M is T M_0 T^T of all that moves. What does not swing, with squares <= 0, has
    zeta = 0 and r = 0; ``swings`` are the places of the rest.

    With A + dA and B + dB perturbed eigenvectors (Fox and Kapoor 1968) give

        W^-1 dD W^-T = Q o (Phi^T dB Phi) + R o (Phi^T dA Phi) + diag(2 r dzeta), where o is by entries,
        Q_ij = (zeta_i + zeta_j) / (r_i + r_j) + (zeta_j - zeta_i) / (r_j - r_i),
        R_ij = r_i r_j ((zeta_i + zeta_j) / (r_i + r_j) - (zeta_j - zeta_i) / (r_j - r_i)),

    and Q_ij = 2 zeta_j r_j / (r_j^2 - squares_i), R_ij = -squares_i Q_ij where i does not swing. Modes of one frequency
    may have one ratio. With two, D depends on which shapes of theirs have which, so that it has no derivative: NaN.
    What moves no mass is taken to go on so.
    """

    Phi: Array
    W: Array
    squares: Array
    zeta: Array
    swings: npt.NDArray[np.intp]
    by_stiffness: bool
    T: Array

    @staticmethod
    def of(M: Array, K: Array, ratios: Array, swinging: int) -> ModalDamping:
        """That of the first m = ``swinging`` coordinates, while the others follow without stiffness; K is m x m.

        Ratios (m,) go by ascending frequency. Directions without a positive stiffness, but for rounding, do not swing
        and have no damping. Raises LinAlgError for matrices of no robot.
        """
        inertia, across, T = M[:swinging, :swinging], M[:swinging, swinging:], np.eye(swinging, len(M))
        if across.size:
            along = np.linalg.solve(M[swinging:, swinging:], across.T)
            inertia = inertia - across @ along
            T[:, swinging:] = -along.T
        try:
            L = np.asarray(np.linalg.cholesky(inertia), dtype=float)
            squares, V = np.linalg.eigh(_scaled(L, K))
            swings = squares > LOOSE * squares[-1:]
        except np.linalg.LinAlgError:  # what moves no mass swings infinitely fast
            swings = np.ones(swinging, dtype=bool)
        by_stiffness, zeta = bool(swings.all()), np.zeros(swinging)
        if by_stiffness:  # which keeps the lowest frequencies to rounding
            L = np.asarray(np.linalg.cholesky(K), dtype=float)
            squares, V = (each[..., ::-1] for each in np.linalg.eigh(_scaled(L, inertia)))
        places = np.flatnonzero(swings)
        zeta[places] = ratios[: len(places)]
        return ModalDamping(np.linalg.solve(L.T, V), L @ V, squares, zeta, places, by_stiffness, T)

    @property
    def D(self) -> Array:
        """D (m x m) = M Phi diag(2 zeta omega) Phi^T M with the Phi that have Phi^T M Phi = 1."""
        return np.asarray((self.W * (2 * self.zeta * np.sqrt(np.maximum(self.squares, 0.0)))) @ self.W.T)

    @cached_property
    def _factors(self) -> tuple[Array, Array, Array]:
        """Q and R (m x m), and 2 r (m,)."""
        zeta, squares = self.zeta, self.squares
        r = np.sqrt(np.where(squares > LOOSE * squares.max(initial=0.0), squares, 0.0))
        sums, beyond = np.add.outer(r, r), np.add.outer(np.minimum(squares, 0.0), np.minimum(squares, 0.0))
        apart, other = np.subtract.outer(r, r), np.subtract.outer(zeta, zeta)
        together = (np.abs(apart) <= TOGETHER * sums) & (sums > 0)
        even = _ratio(np.add.outer(zeta, zeta), sums)
        odd = np.where(together & (other != 0), np.nan, _ratio(other, np.where(together, 0.0, apart)))
        Q = (even + odd) / (1 - _ratio(beyond, np.maximum.outer(r, r) ** 2))
        return Q, np.multiply.outer(r, r) * (even - odd) - beyond * Q, 2 * r

    def forward(self, dM: Array, dK: Array, dzeta: Array) -> Array:
        """dD (m x m) for changes of M_0 and of K, both symmetric, and of ratios (m,)."""
        dA, dB = self._ordered(self.T @ dM @ self.T.T, dK)
        Q, R, slopes = self._factors
        inside = Q * (self.Phi.T @ dB @ self.Phi) + R * (self.Phi.T @ dA @ self.Phi)
        inside[self.swings, self.swings] += slopes[self.swings] * dzeta[: len(self.swings)]
        return np.asarray(self.W @ inside @ self.W.T)

    def reverse(self, seed: Array) -> tuple[Array, Array, Array]:
        """Derivatives of the sum of seed o D, ``seed`` m x m, by M_0, by K and by ratios (m,)."""
        Q, R, slopes = self._factors
        inside, by_ratios = self.W.T @ seed @ self.W, np.zeros(len(seed))
        by_ratios[: len(self.swings)] = (slopes * np.diag(inside))[self.swings]
        by_B, by_A = (self.Phi @ (each * inside) @ self.Phi.T for each in (Q, R))
        by_M, by_K = self._ordered(by_A, by_B)
        return self.T.T @ by_M @ self.T, by_K, by_ratios

    def _ordered(self, one: Array, other: Array) -> tuple[Array, Array]:
        """Of M and K what is of A and B, and back."""
        return (other, one) if self.by_stiffness else (one, other)


def _scaled(L: Array, A: Array) -> Array:
    """L^-1 A L^-T."""
    return np.asarray(np.linalg.solve(L, np.linalg.solve(L, A).T), dtype=float)


def _ratio(one: Array, other: Array) -> Array:
    """Entry by entry, 0 where the other one is 0."""
    return np.divide(one, other, out=np.zeros_like(other), where=other != 0)


class _Function(casadi.Callback):
    """A function of M, K and ratios and of what else its derivatives take, that expressions can call."""

    def __init__(self, name: str, sizes: Sequence[Size], results: Sequence[Size], compute: Compute) -> None:
        casadi.Callback.__init__(self)
        self.sizes, self.results, self.compute = sizes, results, compute
        self.construct(name, {})

    def get_n_in(self) -> int:
        """How many arguments there are."""
        return len(self.sizes)

    def get_n_out(self) -> int:
        """How many results there are."""
        return len(self.results)

    def get_sparsity_in(self, i: int) -> casadi.Sparsity:
        """The size of an argument."""
        return casadi.Sparsity.dense(*self.sizes[i])

    def get_sparsity_out(self, i: int) -> casadi.Sparsity:
        """The size of a result."""
        return casadi.Sparsity.dense(*self.results[i])

    def answer(self, arguments: Sequence[Any]) -> list[Array]:
        """The results; NaN where a number has no value or matrices are those of no robot."""
        M, K, ratios, *others = (np.array(each) for each in arguments)
        try:
            if not all(np.isfinite(each).all() for each in (M, K, ratios)):
                raise np.linalg.LinAlgError
            with np.errstate(all="ignore"):
                return self.compute(ModalDamping.of(M, (K + K.T) / 2, ratios[:, 0], self.sizes[1][0]), *others)
        except np.linalg.LinAlgError:
            return [np.full(size, np.nan) for size in self.results]

    eval = answer  # the name that CasADi calls


class _Solver(_Function):
    """:class:`ModalDamping` as a function, with derivatives."""

    def __init__(self, swinging: int, following: int) -> None:
        m = swinging
        self.of_D, self.of_numbers = [(m, m)], [(m + following, m + following), (m, m), (m, 1)]
        self.kept: list[_Function] = []  # what is called holds no reference that keeps it alive
        super().__init__("modal_damping", self.of_numbers, self.of_D, lambda found: [found.D])

    def has_forward(self, nfwd: int) -> bool:
        """One direction at a time."""
        return nfwd == 1

    def has_reverse(self, nadj: int) -> bool:
        """One direction at a time."""
        return nadj == 1

    def get_forward(self, nfwd: int, name: str, *_: object) -> casadi.Function:
        """dD by the arguments, D, and changes of the arguments."""

        def forward(found: ModalDamping, D: Array, dM: Array, dK: Array, dzeta: Array) -> list[Array]:
            return [found.forward(dM, (dK + dK.T) / 2, dzeta[:, 0])]

        return self._keep(_Function(name, [*self.of_numbers, *self.of_D, *self.of_numbers], self.of_D, forward))

    def get_reverse(self, nadj: int, name: str, *_: object) -> casadi.Function:
        """Derivatives by the arguments, by these, D, and the seed of D."""

        def reverse(found: ModalDamping, D: Array, seed: Array) -> list[Array]:
            by_M, by_K, by_ratios = found.reverse(seed)
            return [by_M, by_K, by_ratios[:, None]]

        return self._keep(_Function(name, [*self.of_numbers, *self.of_D, *self.of_D], self.of_numbers, reverse))

    def _keep(self, function: _Function) -> casadi.Function:
        self.kept.append(function)
        return function


@cache  # expressions that call one hold no reference that keeps it alive
def _solver(swinging: int, following: int) -> _Solver:
    return _Solver(swinging, following)
