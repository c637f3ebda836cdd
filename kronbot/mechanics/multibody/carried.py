"""Frames that the links of a moving robot carry: where they are, how they move, and what acts on them from outside."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import casadi
from casadi import SX, cross

from kronbot.mechanics.multibody.inertia import Inertia, Section, section, turned
from kronbot.mechanics.multibody.kinematics import centre_of_mass, frame
from kronbot.mechanics.multibody.state import LinkState, State
from kronbot.model.pose import CrossSection, Pose
from kronbot.records import dataclass


@dataclass(frozen=True)
class Carried:
    """A frame on a link of a moving robot: the link by its place, and the frame as a section in its root frame."""

    state: State
    link: int
    section: Section

    @property
    def _at(self) -> LinkState:
        return self.state.links[self.link]

    @property
    def pose(self) -> Pose:
        """The frame in the base frame."""
        return self._at.pose @ self.section.pose

    @property
    def twist(self) -> SX:
        """Velocity of its origin and angular velocity (6 x 1), in the axes of the base."""
        return turned(self._at.pose.R, self.section.moving(self._at.twist[:6]))

    def acceleration(self, tdot: SX) -> SX:
        """Acceleration of its origin and angular acceleration (6 x 1), in the axes of the base.

        ``tdot`` is that of its link, with a base that accelerates with -g.
        """
        local = self.section.acceleration(tdot) + self.section.bias(self._at.twist[3:6])
        return turned(self._at.pose.R, local) + casadi.vertcat(self.state.robot.gravity, SX(3, 1))

    def on_link(self, force: SX, moment: SX) -> SX:
        """What a force at its origin and a moment (3 x 1 each, axes of the base) do to its link ((6 + n_f) x 1)."""
        return self.section.on_link(turned(self._at.pose.R.T, casadi.vertcat(force, moment)))


def carried(state: State, name: str, offset: SX | None = None) -> Carried:
    """A frame that moves, by its name on the command line, or a point fixed to it: ``offset`` (3 x 1, m) in its axes.

    Raises UsageError for a name that is none, ComputationError for the centre of mass of a massless link.
    """
    place, which = frame(state.robot, name).way[-1]
    at = state.links[place]
    q_f, qd_f = state.q[at.link.modal, :], state.qd[at.link.modal, :]
    if which == "root":
        rest = SX(3, q_f.rows())
        there = section(CrossSection(Pose.identity(), rest, rest), q_f, qd_f)
    else:
        there = centre_of_mass(at.link, q_f, qd_f) if which == "com" else at.tip
    if which == "endpoint":
        offset = state.robot.endpoint.position + (SX(3, 1) if offset is None else offset)
    return Carried(state, place, there if offset is None or offset.is_zero() else there.shifted(offset))


def along_beam(state: State, link: str, force: SX) -> tuple[int, SX]:
    """The place of a flexible link, and what a force per length of its undeformed beam (3 x 1, N/m, axes of the base)
    does to it ((6 + n_f) x 1).
    """
    place = next(i for i, at in enumerate(state.links) if at.link.name == link)
    at = state.links[place]
    beam = at.link.beam
    assert beam is not None, "a rule of distributed loads"
    local, action = at.pose.R.T @ force, SX(6 + at.link.modes, 1)
    nodes, weights = beam.nodes
    for each, weight in zip(beam.cross_sections(nodes.tolist(), state.q[at.link.modal, :]), weights, strict=True):
        share = weight * beam.length * local
        action += casadi.vertcat(share, cross(each.pose.r, share), each.J_T.T @ share)
    return place, action


def loaded(state: State, actions: Iterable[tuple[int, SX]]) -> State:
    """The robot with that acting on links, by place, besides gravity: dynamics count it among a link's own forces."""
    links = list(state.links)
    for place, action in actions:
        own = links[place].own
        links[place] = replace(links[place], own=Inertia(own.M, own.gamma - action))
    return replace(state, links=tuple(links))
