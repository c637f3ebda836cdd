"""DeNOC recursion of Mohan-Saha for trees: inverse dynamics, generalized inertia matrix, forward dynamics.

A link's twist follows from its parent's, t_i = A_i,parent t_parent + P_i qd_i (7); here the six rows of A that are not
zero are kept as N_i (6 x (6 + n_f of the parent)), and everything of link i is expressed in its own root frame.
P_i = blkdiag(p_i, 1) is never formed: p_i acts on the joint's row, the identity on the modal rows.

Differences from the paper, each confirmed by the Lagrangian oracle of the tests: gamma is kept in phi (33), Coriolis
terms have their factor 2 (24b), the strain forces their sign (20a), the rates of N_l contain the tip's motion; links
may be rigid, joints prismatic or fixed, and the chain a tree.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import casadi
from casadi import SX, cross, skew

from kronbot.errors import ComputationError
from kronbot.mechanics.inertia import Section, carried_bias, carry, link_inertia, section
from kronbot.model.pose import Pose
from kronbot.model.robot import BASE, Link, Robot


@dataclass(frozen=True)
class LinkState:
    """One link of a moving robot, in its root frame.

    ``pose`` is the root frame in the base, ``R`` its rotation in the parent's root frame (in the base for the first),
    ``N`` (6 x (6 + n_f of the parent)) the rows of A_i,parent, ``bias`` (6 x 1) the acceleration of the root frame when
    all second derivatives are zero, ``twist`` ((6 + n_f) x 1), ``M`` and ``gamma`` as in (23).
    """

    link: Link
    pose: Pose
    R: SX
    N: SX
    bias: SX
    twist: SX
    tip: Section
    M: SX
    gamma: SX


@dataclass(frozen=True)
class State:
    """A robot at q, qd (n x 1 each): the states of its links in file order."""

    robot: Robot
    q: SX
    qd: SX
    links: tuple[LinkState, ...]

    @property
    def inward(self) -> Iterable[int]:
        """Links, children before parents."""
        return reversed(self.robot.outward)


def propagate(robot: Robot, q: SX, qd: SX) -> State:
    """Poses, twists and inertias of all links, from the base outwards (7).

    q and qd are n x 1; the modal entries of q must be symbols, joint entries may be any expression.
    """
    states: dict[int, LinkState] = {}
    for i in robot.outward:
        link = robot.links[i]
        states[i] = _attach(robot, link, states.get(link.parent), q, qd)
    return State(robot, q, qd, tuple(states[i] for i in range(len(robot.links))))


def _attach(robot: Robot, link: Link, parent: LinkState | None, q: SX, qd: SX) -> LinkState:
    """Place a link on its parent's tip (or on the base, which rests)."""
    own = link.root_pose(q, robot.parameters)
    if parent is None:
        pose = seen = own
        N, twist, bias, omega = SX(6, 6), SX(6, 1), SX(6, 1), SX(3, 1)
    else:
        tip = parent.tip
        seen = tip.pose @ own
        pose = parent.pose @ seen
        omega = parent.twist[3:6] + tip.omega
        lever = tip.pose.R @ own.r
        to_root = SX.eye(6)
        to_root[:3, 3:] = -skew(lever)
        N = _turned(seen.R.T, to_root @ carry(tip, 6 + parent.link.modes))
        twist = N @ parent.twist
        a, alpha = carried_bias(tip, parent.twist[3:6])
        a += cross(alpha, lever) + cross(omega, cross(omega, lever))
        bias = _turned(seen.R.T, casadi.vertcat(a, alpha))
    if link.joint is not None:
        rate = link.joint.axis * qd[link.joint.index]
        carried = seen.R.T @ omega
        sliding = 2 * cross(carried, rate[:3])
        bias = bias + casadi.vertcat(sliding, cross(carried, rate[3:]))
        twist = twist + rate
    q_f, qd_f = q[link.modal, :], qd[link.modal, :]
    tip = section(link.tip(q_f), q_f, qd_f)
    M, gamma = link_inertia(link, tip, twist[3:], q_f, qd_f)
    return LinkState(link, pose, seen.R, N, bias, casadi.vertcat(twist, qd_f), tip, M, gamma)


def _turned(R: SX, rows: SX) -> SX:
    """Both halves of six rows turned by R."""
    return casadi.vertcat(R @ rows[:3, :], R @ rows[3:, :])


def inverse_dynamics(state: State, qdd: SX) -> SX:
    """Generalized forces tau (n x 1) that the motion needs: N^T (M tdot + gamma) + K q + D qd, Mohan-Saha (29).

    Gravity enters as the acceleration -g of the base (Walker and Orin).
    """
    robot = state.robot
    accelerations: dict[int, SX] = {}
    wrenches: dict[int, SX] = {}
    for i in robot.outward:
        at = state.links[i]
        a = at.bias
        if at.link.parent == BASE:
            a = a - casadi.vertcat(at.R.T @ robot.gravity, SX(3, 1))
        else:
            a = a + at.N @ accelerations[at.link.parent]
        if at.link.joint is not None:
            a = a + at.link.joint.axis * qdd[at.link.joint.index]
        accelerations[i] = casadi.vertcat(a, qdd[at.link.modal, :])
        wrenches[i] = at.M @ accelerations[i] + at.gamma
    tau = robot.stiffness @ state.q + robot.damping @ state.qd
    for i in state.inward:
        at = state.links[i]
        for child in robot.children[i]:
            wrenches[i] += state.links[child].N.T @ wrenches[child][:6]
        joint = at.link.joint
        if joint is not None:
            tau[joint.index] += joint.axis.T @ wrenches[i][:6] + joint.rotor_inertia * qdd[joint.index]
        tau[at.link.modal, :] += wrenches[i][6:, :]
    return tau


def generalized_inertia_matrix(state: State) -> SX:
    """The GIM M (n x n) from the composite flexible bodies M~_i = M_i + A^T M~_{i+1} A (32)."""
    robot = state.robot
    M = SX(robot.n, robot.n)
    composite: dict[int, SX] = {}
    for i in state.inward:
        at = state.links[i]
        composite[i] = at.M
        for child in robot.children[i]:
            N = state.links[child].N
            composite[i] = composite[i] + N.T @ composite[child][:6, :6] @ N
        columns = _places(at.link)
        force = _project(at.link, composite[i]).T  # wrench on the composite body per unit acceleration of q_i
        M[columns, columns] = _project(at.link, force)
        if at.link.joint is not None:
            M[at.link.joint.index, at.link.joint.index] += at.link.joint.rotor_inertia
        below = at
        while below.link.parent != BASE:
            force = below.N.T @ force[:6, :]
            below = state.links[below.link.parent]
            rows = _places(below.link)
            M[rows, columns] = _project(below.link, force)
            M[columns, rows] = M[rows, columns].T
    return M


def forward_dynamics(state: State, tau: SX, given: dict[int, SX]) -> SX:
    """Accelerations qdd (n x 1) under generalized forces tau by the block U D U^T factorization (34)-(42).

    Cost is linear in the number of links and cubic in the modes of one. ``given`` holds the accelerations of joints
    that follow a prescribed motion, by place in q (hybrid recursion): they are not solved for. Raises ComputationError
    where torsion modes have no polar inertia.
    """
    demand_inertia(state.robot)
    robot = state.robot
    qdd = SX(robot.n, 1)
    for place, acceleration in given.items():
        qdd[place] = acceleration
    phi = tau - inverse_dynamics(state, qdd)

    # Articulated bodies inwards: I^_i = P^T M^ P, Psi^T = I^^-1 P^T M^ (its six columns that reach the parent).
    articulated = {i: at.M for i, at in enumerate(state.links)}
    eta = {i: SX(at.M.shape[0], 1) for i, at in enumerate(state.links)}
    psi, solved = {}, {}
    for i in state.inward:
        link = state.links[i].link
        for child in robot.children[i]:
            N = state.links[child].N
            articulated[i] = articulated[i] + N.T @ articulated[child][:6, :6] @ N
            eta[i] += N.T @ eta[child][:6]
        free = [place for place in _places(link) if place not in given]
        if not free:
            continue
        rows = _project(link, articulated[i], given)
        pivot = _project(link, rows.T, given)
        if link.joint is not None and link.joint.index not in given:
            pivot[0, 0] += link.joint.rotor_inertia
        phi_hat = phi[free] - _project(link, eta[i], given)
        solution = solve_positive(pivot, casadi.horzcat(rows[:, :6], phi_hat))
        psi[i], solved[i] = solution[:, :6], solution[:, 6]
        eta[i][:6] += psi[i].T @ phi_hat
        articulated[i] = articulated[i][:6, :6] - rows[:, :6].T @ psi[i]

    # Accelerations outwards: qdd_i = phi~_i - Psi_i^T mu_i.
    mu: dict[int, SX] = {}
    for i in robot.outward:
        at = state.links[i]
        reached = SX(6, 1) if at.link.parent == BASE else at.N @ mu[at.link.parent]
        free = [place for place in _places(at.link) if place not in given]
        own = SX(robot.n, 1)
        if free:
            own[free] = solved[i] - psi[i] @ reached
            qdd[free] = own[free]
        if at.link.joint is not None:
            reached = reached + at.link.joint.axis * own[at.link.joint.index]
        mu[i] = casadi.vertcat(reached, own[at.link.modal, :])
    return qdd


def composite_forward_dynamics(state: State, tau: SX, given: dict[int, SX]) -> SX:
    """The same accelerations from the whole GIM and its L D L^T factorization (the paper's Cholesky)."""
    demand_inertia(state.robot)
    qdd = SX(state.robot.n, 1)
    for place, acceleration in given.items():
        qdd[place] = acceleration
    free = [place for place in range(state.robot.n) if place not in given]
    if free:
        phi = tau - inverse_dynamics(state, qdd)
        qdd[free] = solve_positive(generalized_inertia_matrix(state)[free, free], phi[free])
    return qdd


ALGORITHMS = {"recursive": forward_dynamics, "composite": composite_forward_dynamics}


def solve_positive(A: SX, B: SX) -> SX:
    """A^-1 B for a symmetric positive definite A, by L D L^T without square roots."""
    D, LT, order = casadi.ldl(A, False)
    return casadi.ldl_solve(B, D, LT, order)


def _places(link: Link) -> list[int]:
    """Places of a link's coordinates in q: its joint, then its modes."""
    joint = [] if link.joint is None else [link.joint.index]
    return joint + list(range(link.modal.start, link.modal.stop))


def _project(link: Link, columns: SX, given: Iterable[int] = ()) -> SX:
    """P_i^T times a matrix whose rows belong to the twist of the link; the row of a given joint is left out."""
    rows = columns[6:, :]
    if link.joint is None or link.joint.index in given:
        return rows
    return casadi.vertcat(link.joint.axis.T @ columns[:6, :], rows)


def demand_inertia(robot: Robot) -> None:
    """Raise ComputationError, naming the links, where torsion modes without polar inertia make M singular."""
    if robot.massless_torsion:
        names = ", ".join(repr(name) for name in robot.massless_torsion)
        raise ComputationError(
            f"the mass matrix is singular: the torsion modes of link {names} carry no inertia; "
            "give the link a polar_inertia (kg m) or no torsion modes"
        )
