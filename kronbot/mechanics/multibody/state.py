"""A moving robot: poses, twists and inertias of its links from the base outwards, and its inertia matrix.

A link's twist follows from its parent's, t_i = A_i,parent t_parent + P_i qd_i, Mohan-Saha (7). Neither matrix is
formed: A leads to the parent's tip (``Section.motion``) and on to the root frame of the child (``Mount.motion``), its
transpose back (``Mount.wrench``, ``Section.on_link``); P_i = blkdiag(p_i, 1) picks the joint's row and the modal rows.
Everything of link i is expressed in the axes of its own root frame.
"""

from __future__ import annotations

from collections.abc import Iterable

import casadi
from casadi import SX, cross

from kronbot.mechanics.multibody.inertia import Inertia, Mount, Rigid, Section, carried, link_inertia, section
from kronbot.mechanics.multibody.size import demand_tractable
from kronbot.model.pose import Pose
from kronbot.model.robot import BASE, Link, Robot
from kronbot.records import dataclass


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


def coordinates_of(link: Link) -> list[tuple[int, int, SX]]:
    """P_i: coordinates that move a link as their places in q, rows in the link's twist, and how much they move it."""
    modes = [(place, 6 + k, SX(1)) for k, place in enumerate(range(link.modal.start, link.modal.stop))]
    joint = link.joint
    return modes if joint is None else [*((place, joint.row, share) for place, share in joint.shares), *modes]


def rotors(robot: Robot) -> list[tuple[int, SX]]:
    """The rotors that turn with coordinates, or are these, as places in q and inertias."""
    return [(joint.driven, joint.rotor_inertia) for joint in robot.joints]


def generalized_inertia_matrix(state: State) -> SX:
    """The GIM M (n x n) from the composite flexible bodies M~_i = M_i + A^T M~_{i+1} A (32)."""
    robot = state.robot
    M = SX(robot.n, robot.n)
    for place, rotor in rotors(robot):
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
    places = [place for place, _, _ in coordinates_of(link)]
    P = SX(6 + link.modes, len(places))
    for column, (_, row, share) in enumerate(coordinates_of(link)):
        P[row, column] = share
    return places, P
