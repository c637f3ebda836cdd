"""DeNOC recursion of Mohan-Saha for trees: inverse dynamics, forward dynamics, in the states of the links.

Differences from the paper, each confirmed by the Lagrangian oracle of the tests: gamma is kept in phi (33), Coriolis
terms have their factor 2 (24b), the strain forces their sign (20a), the rates of N_l contain the tip's motion; links
may be rigid, joints prismatic or fixed, and the chain a tree. Forward dynamics eliminates one coordinate after the
other, and carries the velocity terms of phi along instead of finding phi by a sweep of its own.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping

import casadi
from casadi import SX, dot

from kronbot.description import choices
from kronbot.errors import ComputationError
from kronbot.mechanics.multibody.damping import dissipative_forces
from kronbot.mechanics.multibody.elements import element_forces
from kronbot.mechanics.multibody.inertia import Inertia, carried
from kronbot.mechanics.multibody.state import LinkState, State, coordinates_of, generalized_inertia_matrix, rotors
from kronbot.mechanics.multibody.stops import stop_forces
from kronbot.model.pose import symmetric
from kronbot.model.robot import BASE, Robot
from kronbot.records import dataclass


def inverse_dynamics(state: State, qdd: SX) -> SX:
    """Generalized forces tau (n x 1) that the motion needs: N^T (M tdot + gamma) + K q + D qd, Mohan-Saha (29).

    Gravity enters as the acceleration -g of the base (Walker and Orin).
    """
    robot = state.robot
    tau = robot.elastic_forces(state.q) + dissipative_forces(robot, state.q, state.qd) + element_forces(state)
    tau += stop_forces(robot, state.q, state.qd)
    for place, rotor in rotors(robot):
        tau[place] += rotor * qdd[place]
    wrenches = link_wrenches(state, link_accelerations(state, qdd))
    for i in state.inward:
        for place, row, share in coordinates_of(robot.links[i]):
            tau[place] += share * wrenches[i][row]
    return tau


def link_accelerations(state: State, qdd: SX) -> dict[int, SX]:
    """tdot ((6 + n_f) x 1) of every link, outwards; the base accelerates with -g (Walker and Orin)."""
    accelerations: dict[int, SX] = {}
    for i in state.robot.outward:
        accelerations[i] = _acceleration(state, i, accelerations, qdd)
    return accelerations


def link_wrenches(state: State, accelerations: Mapping[int, SX]) -> dict[int, SX]:
    """What every link needs from its parent and its coordinates ((6 + n_f) x 1), inwards, with all that it carries."""
    wrenches: dict[int, SX] = {}
    for i in state.inward:
        at = state.links[i]
        on_tip = at.at_tip.wrench(at.tip.acceleration(accelerations[i]))
        for child in state.robot.children[i]:
            on_tip += state.links[child].mount.wrench(wrenches[child][:6])
        wrenches[i] = at.own.wrench(accelerations[i]) + at.tip.on_link(on_tip)
    return wrenches


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


@dataclass(frozen=True)
class Solved:
    """An eliminated coordinate: its second derivative is ``free`` + ``share`` . tdot, tdot as it would be without."""

    free: SX
    share: SX


def algorithm_of(robot: Robot, asked: str) -> str:
    """The one of ``ALGORITHMS`` that answers: joints that follow others couple what the recursion takes apart."""
    return "composite" if any(not joint.own for joint in robot.followers) else asked


def forward_dynamics(state: State, tau: SX, given: dict[int, SX]) -> SX:
    """Accelerations qdd (n x 1) under generalized forces tau by the factorization U D U^T (34)-(42).

    Cost is linear in the number of links and cubic in the modes of one. ``given`` holds the accelerations of joints
    that follow a prescribed motion, by place in q (hybrid recursion): they are not solved for. Joints that follow
    others couple what the factorization takes apart: the composite algorithm answers for them. Raises ComputationError
    where torsion modes have no polar inertia.
    """
    robot = state.robot
    if algorithm_of(robot, "recursive") == "composite":
        return composite_forward_dynamics(state, tau, given)
    demand_inertia(robot, given)
    force = tau - robot.elastic_forces(state.q) - dissipative_forces(robot, state.q, state.qd) - element_forces(state)
    force -= stop_forces(robot, state.q, state.qd)
    qdd = SX(robot.n, 1)
    turning = dict(rotors(robot))
    for joint in robot.joints:
        if joint.elastic and joint.driven not in given:
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
        for place, row, _ in reversed(coordinates_of(at.link)):
            if place not in given:
                body, solved[place] = _eliminated(body, row, force[place], turning.get(place, SX(0)))
        reduced[i] = Inertia(body.M[:6, :6], body.gamma[:6]).biased(_bias(at, qdd))

    # Accelerations outwards: qdd_i = phi~_i - Psi_i^T mu_i (41).
    accelerations: dict[int, SX] = {}
    for i in robot.outward:
        a = _acceleration(state, i, accelerations, qdd)
        for place, row, _ in coordinates_of(robot.links[i]):
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
    demand_inertia(state.robot, given)
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


def demand_inertia(robot: Robot, given: Container[int] = ()) -> None:
    """Raise ComputationError, naming links and joints, where torsion or motors without inertia make M singular.

    The motions of some coordinates may be ``given``: no inertia of theirs is asked for.
    """
    for told, _ in without_inertia(robot, given):
        raise ComputationError(told)


def without_inertia(robot: Robot, given: Container[int] = ()) -> Iterator[tuple[str, list[int]]]:
    """What makes M singular wherever the robot stands, in words, and the places of the coordinates it is about."""
    still = [joint for joint in robot.joints if joint.elastic and joint.rotor_inertia.is_zero()]
    if motors := [joint for joint in still if joint.driven not in given]:
        names = ", ".join(repr(joint.name) for joint in motors)
        yield (
            f"the mass matrix is singular: the motor of elastic joint {names} has no inertia; give the joint a "
            "rotor_inertia, or make it rigid",
            [joint.driven for joint in motors],
        )
    twisting = [(link, link.beam) for link in robot.links if link.beam is not None and link.beam.torsion.count]
    if massless := [(link, beam) for link, beam in twisting if beam.polar_inertia.is_zero()]:
        names = ", ".join(repr(beam.name) for _, beam in massless)
        yield (
            f"the mass matrix is singular: the torsion modes of link {names} carry no inertia; "
            "give the link a polar_inertia (kg m) or no torsion modes",
            [link.modal.stop - 1 - i for link, beam in massless for i in range(beam.torsion.count)],
        )
