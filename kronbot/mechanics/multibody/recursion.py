"""DeNOC recursion of Mohan-Saha for trees: inverse dynamics, generalized inertia matrix, forward dynamics.

A link's twist follows from its parent's, t_i = A_i,parent t_parent + P_i qd_i (7). Neither matrix is formed: A leads
to the parent's tip (``Section.motion``) and on to the root frame of the child (``Mount.motion``), its transpose back
(``Mount.wrench``, ``Section.on_link``); P_i = blkdiag(p_i, 1) picks the joint's row and the modal rows. Everything of
link i is expressed in the axes of its own root frame.

Differences from the paper, each confirmed by the Lagrangian oracle of the tests: gamma is kept in phi (33), Coriolis
terms have their factor 2 (24b), the strain forces their sign (20a), the rates of N_l contain the tip's motion; links
may be rigid, joints prismatic or fixed, and the chain a tree. Forward dynamics eliminates one coordinate after the
other, and carries the velocity terms of phi along instead of finding phi by a sweep of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import casadi
from casadi import SX, cross, dot

from kronbot.description import choices
from kronbot.errors import ComputationError
from kronbot.mechanics.multibody.inertia import Inertia, Mount, Rigid, Section, carried, link_inertia, section
from kronbot.mechanics.multibody.size import demand_tractable
from kronbot.model.pose import Pose, symmetric
from kronbot.model.robot import BASE, Link, Robot


@dataclass(frozen=True)
class LinkState:
    """One link of a moving robot, in its root frame.

    ``pose`` is the root frame in the base, ``mount`` leads there from the parent's tip (from the base for the first),
    ``bias`` (6 x 1) is the acceleration of the root frame when all second derivatives are zero, ``twist``
    ((6 + n_f) x 1) as in (3). ``own`` is the inertia of hub and beam, ``at_tip`` (6) that of the bodies at the tip.
    """

    link: Link
    pose: Pose
    mount: Mount
    bias: SX
    twist: SX
    tip: Section
    own: Inertia
    at_tip: Inertia

    @property
    def M(self) -> SX:
        """Mass matrix M_i of (23), all bodies of the link."""
        return self.own.M + carried(self.at_tip, self.tip)


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
    demand_tractable(robot)
    states: dict[int, LinkState] = {}
    for i in robot.outward:
        link = robot.links[i]
        states[i] = _attach(robot, link, states.get(link.parent), q, qd)
    return State(robot, q, qd, tuple(states[i] for i in range(len(robot.links))))


def _attach(robot: Robot, link: Link, parent: LinkState | None, q: SX, qd: SX) -> LinkState:
    """Place a link on its parent's tip (or on the base, which rests)."""
    before, joint = link.row.before, link.joint_pose(q, robot.parameters)
    if parent is None:
        mount = Mount(before.R @ joint.R, before.r, joint.r)
        pose, twist, bias = mount.pose, SX(6, 1), SX(6, 1)
    else:
        tip = parent.tip
        mount = Mount((tip.pose.R @ before.R) @ joint.R, tip.pose.R @ before.r, joint.r)
        pose = parent.pose @ Pose(tip.pose.r, SX.eye(3)) @ mount.pose
        carrying = tip.moving(parent.twist[:6])
        twist = mount.motion(carrying)
        bias = mount.bias(tip.bias(parent.twist[3:6]), carrying[3:])
    if link.joint is not None:
        rate, omega = link.joint.axis * link.joint.along(qd), twist[3:]
        bias += casadi.vertcat(cross(2 * omega, rate[:3]), cross(omega, rate[3:]))
        twist = twist + rate
    q_f, qd_f = q[link.modal, :], qd[link.modal, :]
    tip = section(link.tip(q_f), q_f, qd_f)
    own, at_tip = link_inertia(link, tip, twist[3:], q_f, qd_f)
    return LinkState(link, pose, mount, bias, casadi.vertcat(twist, qd_f), tip, own, at_tip)


def inverse_dynamics(state: State, qdd: SX) -> SX:
    """Generalized forces tau (n x 1) that the motion needs: N^T (M tdot + gamma) + K q + D qd, Mohan-Saha (29).

    Gravity enters as the acceleration -g of the base (Walker and Orin).
    """
    robot = state.robot
    accelerations: dict[int, SX] = {}
    for i in robot.outward:
        accelerations[i] = _acceleration(state, i, accelerations, qdd)
    tau = robot.elastic_forces(state.q) + robot.dissipative_forces(state.qd)
    for place, rotor in _rotors(robot):
        tau[place] += rotor * qdd[place]
    wrenches: dict[int, SX] = {}
    for i in state.inward:
        at = state.links[i]
        on_tip = at.at_tip.wrench(at.tip.acceleration(accelerations[i]))
        for child in robot.children[i]:
            on_tip += state.links[child].mount.wrench(wrenches[child])
        wrench = at.own.wrench(accelerations[i]) + at.tip.on_link(on_tip)
        wrenches[i] = wrench[:6]
        for place, row, share in _coordinates(at.link):
            tau[place] += share * wrench[row]
    return tau


def _acceleration(state: State, i: int, accelerations: Mapping[int, SX], qdd: SX) -> SX:
    """tdot ((6 + n_f) x 1) of a link from its parent's and its own qdd; the base accelerates with -g."""
    at, parent = state.links[i], state.links[i].link.parent
    if parent == BASE:
        reached = casadi.vertcat(-state.robot.gravity, SX(3, 1))
    else:
        reached = state.links[parent].tip.acceleration(accelerations[parent])
    return casadi.vertcat(at.mount.motion(reached) + _bias(at, qdd), qdd[at.link.modal, :])


def _bias(at: LinkState, qdd: SX) -> SX:
    """Acceleration (6 x 1) of a root frame on a parent without any: velocity terms, and the joint's as far as known."""
    joint = at.link.joint
    return at.bias if joint is None else at.bias + joint.axis * joint.along(qdd)


def _coordinates(link: Link) -> list[tuple[int, int, SX]]:
    """P_i: coordinates that move a link as their places in q, rows in the link's twist, and how much they move it."""
    modes = [(place, 6 + k, SX(1)) for k, place in enumerate(range(link.modal.start, link.modal.stop))]
    joint = link.joint
    return modes if joint is None else [*((place, joint.row, share) for place, share in joint.shares), *modes]


def _rotors(robot: Robot) -> list[tuple[int, SX]]:
    """The rotors that turn with coordinates, or are these, as places in q and inertias."""
    return [(joint.driven, joint.rotor_inertia) for joint in robot.joints]


def generalized_inertia_matrix(state: State) -> SX:
    """The GIM M (n x n) from the composite flexible bodies M~_i = M_i + A^T M~_{i+1} A (32)."""
    robot = state.robot
    M = SX(robot.n, robot.n)
    for place, rotor in _rotors(robot):
        M[place, place] = rotor
    composite: dict[int, Rigid] = {}
    for i in state.inward:
        at = state.links[i]
        on_tip = Rigid.within(at.at_tip.M)
        for child in robot.children[i]:
            on_tip += state.links[child].mount.body(composite[child])
        whole = at.own.M + carried(on_tip, at.tip)
        composite[i] = Rigid.within(whole)
        places, P = _motion(at.link)
        if not places:
            continue
        force = whole @ P  # wrenches on the composite body per unit acceleration of its coordinates
        M[places, places] += P.T @ force
        below = at
        while below.link.parent != BASE:
            reaction = below.mount.wrench(force[:6, :])
            below = state.links[below.link.parent]
            force = below.tip.on_link(reaction)
            others, P = _motion(below.link)
            M[others, places] += P.T @ force
            M[places, others] += (P.T @ force).T
    return M


def _motion(link: Link) -> tuple[list[int], SX]:
    """Places in q of the coordinates that move a link, and P_i ((6 + n_f) x k), the twists of their unit rates."""
    places = [place for place, _, _ in _coordinates(link)]
    P = SX(6 + link.modes, len(places))
    for column, (_, row, share) in enumerate(_coordinates(link)):
        P[row, column] = share
    return places, P


@dataclass(frozen=True)
class Solved:
    """An eliminated coordinate: its second derivative is ``free`` + ``share`` . tdot, tdot as it would be without."""

    free: SX
    share: SX


def forward_dynamics(state: State, tau: SX, given: dict[int, SX]) -> SX:
    """Accelerations qdd (n x 1) under generalized forces tau by the factorization U D U^T (34)-(42).

    Cost is linear in the number of links and cubic in the modes of one. ``given`` holds the accelerations of joints
    that follow a prescribed motion, by place in q (hybrid recursion): they are not solved for. Joints that follow
    others couple what the factorization takes apart: the composite algorithm answers for them. Raises ComputationError
    where torsion modes have no polar inertia.
    """
    robot = state.robot
    if any(not joint.own for joint in robot.followers):
        return composite_forward_dynamics(state, tau, given)
    demand_inertia(robot)
    force = tau - robot.elastic_forces(state.q) - robot.dissipative_forces(state.qd)
    qdd = SX(robot.n, 1)
    rotors = dict(_rotors(robot))
    for joint in robot.joints:
        if joint.elastic:
            qdd[joint.driven] = force[joint.driven] / joint.rotor_inertia
    for place, acceleration in given.items():
        qdd[place] = acceleration

    # Articulated bodies inwards: what is left of M^_i without its coordinates, M-_i of (38), acts on the parent's tip.
    reduced: dict[int, Inertia] = {}
    solved: dict[int, Solved] = {}
    for i in state.inward:
        at = state.links[i]
        on_tip = at.at_tip
        for child in robot.children[i]:
            on_tip += state.links[child].mount.body(reduced[child])
        body = at.own + Inertia(carried(on_tip, at.tip), at.tip.on_link(on_tip.gamma))
        for place, row, _ in reversed(_coordinates(at.link)):
            if place not in given:
                body, solved[place] = _eliminated(body, row, force[place], rotors.get(place, SX(0)))
        reduced[i] = Inertia(body.M[:6, :6], body.gamma[:6]).biased(_bias(at, qdd))

    # Accelerations outwards: qdd_i = phi~_i - Psi_i^T mu_i (41).
    accelerations: dict[int, SX] = {}
    for i in robot.outward:
        a = _acceleration(state, i, accelerations, qdd)
        for place, row, _ in _coordinates(robot.links[i]):
            if place not in given:
                qdd[place] = solved[place].free + dot(solved[place].share, a)
                a[row] += qdd[place]
        accelerations[i] = a
    return qdd


def _eliminated(body: Inertia, row: int, force: SX, rotor: SX) -> tuple[Inertia, Solved]:
    """Solve the equation of one row, where ``force`` acts and a rotor turns along; what is left of the others.

    That row of what is left is zero but for the rotor, which is kept exactly, without rounding.
    """
    column = body.M[:, row]
    inverse = -1 / (column[row] + rotor)  # with this sign products with it stay products; casadi makes x (1/y) x/y
    share, free = column * inverse, (body.gamma[row] - force) * inverse
    share[row] = -1 - rotor * inverse
    M, gamma = symmetric(body.M + share @ column.T), body.gamma + free * column
    M[row, :], M[:, row], gamma[row] = -rotor * share.T, -rotor * share, force - rotor * free
    return Inertia(M, gamma), Solved(free, share)


def composite_forward_dynamics(state: State, tau: SX, given: dict[int, SX]) -> SX:
    """The same accelerations from the whole GIM and its L D L^T factorization (the paper's Cholesky)."""
    demand_inertia(state.robot)
    qdd = SX(state.robot.n, 1)
    for place, acceleration in given.items():
        qdd[place] = acceleration
    free = state.robot.others(given)
    if free:
        phi = tau - inverse_dynamics(state, qdd)
        qdd[free] = solve_positive(generalized_inertia_matrix(state)[free, free], phi[free])
    return qdd


ALGORITHMS = dict(zip(choices.ALGORITHMS, (forward_dynamics, composite_forward_dynamics), strict=True))


def solve_positive(A: SX, B: SX) -> SX:
    """A^-1 B for a symmetric positive definite A, by L D L^T without square roots."""
    D, LT, order = casadi.ldl(A, False)
    return casadi.ldl_solve(B, D, LT, order)


def demand_inertia(robot: Robot) -> None:
    """Raise ComputationError, naming links and joints, where torsion or motors without inertia make M singular."""
    if robot.massless_motors:
        names = ", ".join(repr(name) for name in robot.massless_motors)
        raise ComputationError(
            f"the mass matrix is singular: the motor of elastic joint {names} has no inertia; give the joint a "
            "rotor_inertia, or make it rigid"
        )
    if robot.massless_torsion:
        names = ", ".join(repr(name) for name in robot.massless_torsion)
        raise ComputationError(
            f"the mass matrix is singular: the torsion modes of link {names} carry no inertia; "
            "give the link a polar_inertia (kg m) or no torsion modes"
        )
