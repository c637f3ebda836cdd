"""Damping of a robot: of its joints, springs and beams, or measured on the whole as ratios of its modes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import casadi
import numpy as np
from casadi import SX

from kronbot.description.schema import RobotDamping
from kronbot.floats import Array
from kronbot.mechanics.multibody.energy import elastic_energy, gravity_energy
from kronbot.mechanics.multibody.state import generalized_inertia_matrix, propagate
from kronbot.model.build import build
from kronbot.model.floating import hung
from kronbot.model.robot import Robot

# A share of the largest square of a frequency: less is rounding.
LOOSE = 1e-14


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


def modal_damping(M: Array, K: Array, ratios: Array, swinging: int) -> Array:
    """D (m x m) of the first m = ``swinging`` coordinates, while the others follow without stiffness; K is m x m.

    Ratios (m,) go by ascending frequency. Directions without a positive stiffness, but for rounding, do not swing and
    have no damping.
    """
    inertia, across = M[:swinging, :swinging], M[:swinging, swinging:]
    if across.size:
        inertia = inertia - across @ np.linalg.solve(M[swinging:, swinging:], across.T)
    try:
        L = np.asarray(np.linalg.cholesky(inertia), dtype=float)
        squares, V = np.linalg.eigh(_scaled(L, K))
        swings = squares > LOOSE * squares[-1:]
    except np.linalg.LinAlgError:  # what moves no mass swings infinitely fast
        swings = np.ones(swinging, dtype=bool)
    if swings.all():  # by K, which keeps the lowest frequencies to rounding
        L = np.asarray(np.linalg.cholesky(K), dtype=float)
        slowness, V = np.linalg.eigh(_scaled(L, inertia))
        shapes, factors = (L @ V)[:, ::-1], np.sqrt(np.maximum(slowness[::-1], 0.0))
    else:
        shapes, factors = (L @ V)[:, swings], np.sqrt(squares[swings])
    return np.asarray((shapes * (2 * ratios[: len(factors)] * factors)) @ shapes.T)


def _scaled(L: Array, A: Array) -> Array:
    """L^-1 A L^-T."""
    return np.asarray(np.linalg.solve(L, np.linalg.solve(L, A).T), dtype=float)


class _Solver(casadi.Callback):
    """:func:`modal_damping` as a function that expressions can call; NaN where there is none."""

    def __init__(self, swinging: int, following: int) -> None:
        casadi.Callback.__init__(self)
        self.swinging, self.size = swinging, swinging + following
        self.construct("modal_damping", {})

    def get_n_in(self) -> int:
        """M, K and the ratios."""
        return 3

    def get_n_out(self) -> int:
        """D."""
        return 1

    def get_sparsity_in(self, i: int) -> casadi.Sparsity:
        """Their sizes."""
        m = self.swinging
        return casadi.Sparsity.dense(*((self.size, self.size), (m, m), (m, 1))[i])

    def get_sparsity_out(self, i: int) -> casadi.Sparsity:
        """Its size."""
        return casadi.Sparsity.dense(self.swinging, self.swinging)

    def damping(self, arguments: Sequence[Any]) -> list[Array]:
        """D; NaN where a number has no value or matrices are those of no robot."""
        M, K, ratios = (np.array(each) for each in arguments)
        nothing = np.full((self.swinging, self.swinging), np.nan)
        if not all(np.isfinite(each).all() for each in (M, K, ratios)):
            return [nothing]
        try:
            with np.errstate(all="ignore"):
                return [modal_damping(M, (K + K.T) / 2, ratios[:, 0], self.swinging)]
        except np.linalg.LinAlgError:
            return [nothing]

    eval = damping  # the name that CasADi calls


@cache  # expressions that call one hold no reference that keeps it alive
def _solver(swinging: int, following: int) -> _Solver:
    return _Solver(swinging, following)
