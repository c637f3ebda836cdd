"""The robot as a model: a tree of links with coordinates, parameters and the poses that join them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import field
from importlib import import_module
from typing import TypeVar

import casadi
import numpy as np
from casadi import SX

from kronbot.cached import cached_property
from kronbot.description import Description, names
from kronbot.description.compliance import Part, stiffened
from kronbot.description.expressions.expression import evaluate
from kronbot.description.schema import RobotFile
from kronbot.floats import Array, read_only
from kronbot.model.beam import TIP, Beam
from kronbot.model.dh import Row
from kronbot.model.element import Element
from kronbot.model.joint import DrivenJoint, FreeJoint, Joint, Limits, Shares, Spring, Stop
from kronbot.model.motions import Motion
from kronbot.model.parameters import Parameters
from kronbot.model.pose import CrossSection, Pose, exponential, rotation_z
from kronbot.model.shared import Relatives, Shared
from kronbot.records import dataclass

BASE = -1
Value = TypeVar("Value")


@dataclass(frozen=True)
class Body:
    """A rigid body in a frame: mass (kg), centre of mass (3 x 1, m), inertia tensor at it (3 x 3, kg m2)."""

    mass: SX
    com: SX
    inertia: SX


@dataclass(frozen=True)
class Link:
    """A link of the tree, rigid, flexible or massless.

    Its root frame stands right after the joint's motion, its tip frame at the end of the row or of the beam.
    ``modal`` is the place of its modal coordinates in q; ``hub`` is a body in the root frame, ``bodies`` are in the
    tip frame. ``damping`` is the structural damping matrix of the beam. A bearing is a massless link before that of
    its joint, whose modal coordinates are the components of a rotation vector about the axes ``tilts``.
    """

    name: str
    parent: int
    joint: Joint | None
    row: Row
    modal: slice
    beam: Beam | None
    damping: SX
    hub: Body | None
    bodies: tuple[Body, ...]
    tilts: tuple[int, ...] = ()

    @property
    def modes(self) -> int:
        """Number of modal coordinates."""
        return int(self.modal.stop - self.modal.start)

    def root_pose(self, q: SX, parameters: Parameters) -> Pose:
        """The root frame in the tip frame of the parent (or in the base), for all coordinates q (n x 1)."""
        return self.row.before @ self.joint_pose(q, parameters)

    def joint_pose(self, q: SX, parameters: Parameters) -> Pose:
        """The root frame in the frame that ``row.before`` leads to: a turn about z and a slide along it."""
        turn, slide = None, self.row.d
        if self.joint is not None:
            if self.joint.revolute:
                turn = self.joint.value(q)
            else:
                slide = slide + self.joint.value(q)
        rotation = rotation_z(*parameters.cosine_and_sine(self.row.theta, turn))
        return Pose(casadi.vertcat(0, 0, slide), rotation)

    def tip(self, q_f: SX) -> CrossSection:
        """The tip frame in the root frame, for the modal coordinates of this link."""
        if self.beam is None:
            slope = SX.eye(3)[:, list(self.tilts)]
            theta = slope @ q_f
            pose = Pose(casadi.vertcat(self.row.along, 0, 0), exponential(theta) @ self.row.after)
            return CrossSection(pose, SX(3, len(self.tilts)), slope, theta)
        return self.beam.cross_sections([TIP], q_f)[0].turned(self.row.after)


@dataclass(frozen=True)
class Endpoint:
    """The point that tasks and loads refer to: position (3 x 1, m) in the tip frame of a link."""

    link: int
    position: SX


@dataclass(frozen=True, repr=False, eq=False)
class Robot(Shared):
    """One robot at one kinematic order: everything the mechanics need, constant once built.

    ``links`` stand in file order, which is also the order of the coordinates; a parent may come later. ``springs`` are
    those between coordinates, ``attachments`` what flexible coordinates behind shafts are where these are slack, by
    place: a combination of others that stand before them, and an offset. ``elements`` join frames, ``stops`` hold
    joints. Of the file's joints ``rigid_parts`` do not yield, whose compliances are 0; a ``compliant`` robot, which
    statics asks, has coordinates for them, too. ``relatives`` are robots of the same file and order with other values
    that make other structures.
    """

    description: Description
    order: str
    parameters: Parameters
    links: tuple[Link, ...]
    springs: tuple[Spring, ...]
    attachments: tuple[tuple[int, Shares, SX], ...]
    gravity: SX
    endpoint: Endpoint
    motions: Mapping[str, Motion]
    elements: tuple[Element, ...] = ()
    stops: tuple[Stop, ...] = ()
    rigid_parts: frozenset[Part] = frozenset()
    compliant: bool = False
    relatives: Relatives[Robot] = field(default_factory=Relatives, compare=False)

    def __reduce__(self) -> tuple[object, ...]:
        """For pickle: built again from its description, since symbols are those of one process."""
        return import_module("kronbot.model.build").build, (self.description, self.order, None, self.compliant)

    def __repr__(self) -> str:
        """Which robot, and its coordinates."""
        return f"<model of {self.name}, order {self.order}: {', '.join(self.coordinates)}>"

    @cached_property
    def file(self) -> RobotFile:
        """What the robot file says, without what has a compliance of 0."""
        said = self.description.robot
        return stiffened(said, self.rigid_parts) if self.rigid_parts else said

    @property
    def name(self) -> str:
        """The robot's name."""
        return self.file.name

    @cached_property
    def joints(self) -> tuple[DrivenJoint, ...]:
        """The joints that drives move, in the order of the coordinates."""
        return tuple(link.joint for link in self.links if isinstance(link.joint, DrivenJoint))

    @cached_property
    def followers(self) -> tuple[Joint, ...]:
        """The joints that move with others, in the order of the file."""
        return tuple(
            link.joint for link in self.links if link.joint and not isinstance(link.joint, DrivenJoint | FreeJoint)
        )

    def row(self, shares: Shares) -> SX:
        """A combination of coordinates as a row (1 x n)."""
        row = SX(1, self.n)
        for place, share in shares:
            row[place] += share
        return row

    @cached_property
    def coordinates(self) -> tuple[str, ...]:
        """Names of q: of a floating base, then per link its joint, then ``LINK.v1``, ``LINK.w1``, ``LINK.t1``."""
        return names.coordinates(self.file, self.order)

    def force_units(self, indices: Iterable[int]) -> list[str]:
        """Units of the generalized forces on coordinates: J per unit of the coordinate."""
        known = {"rad": "N m", "m": "N"}
        return [known.get(self.units[i], f"J/({self.units[i]})") for i in indices]

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return len(self.coordinates)

    def derivative_names(self, words: Iterable[str]) -> dict[str, list[str]]:
        """Names of the entries of q, qd, qdd: ``q1``, ``q1_dot``, ``q1_ddot``."""
        suffixes = {"q": "", "qd": "_dot", "qdd": "_ddot"}
        return {word: [name + suffixes[word] for name in self.coordinates] for word in words}

    @cached_property
    def units(self) -> tuple[str, ...]:
        """Units of the coordinates: rad or m; coefficients of powers of x have those powers of m below them."""
        units = ["rad"] * self.n  # of tilts, whose links stand before those of their joints, with places behind
        for link in self.links:
            for place in () if link.joint is None or link.joint.revolute else link.joint.places:
                units[place] = "m"
            if link.beam is not None:
                units[link.modal] = [each.unit(i) for each in link.beam.directions for i in range(each.count)]
        return tuple(units)

    @cached_property
    def flexible(self) -> tuple[int, ...]:
        """Indices q_f of what springs and beams determine: modal coordinates, tilts, links behind elastic joints."""
        return tuple(self.others({*self.rigid, *self.base}))

    @cached_property
    def base(self) -> tuple[int, ...]:
        """Indices of what neither drives nor springs determine: where a floating base is, and how it is turned."""
        return tuple(sorted(link.joint.shares[0][0] for link in self.links if isinstance(link.joint, FreeJoint)))

    @cached_property
    def rigid(self) -> tuple[int, ...]:
        """Indices q_r of what drives determine, by joint: of its motor where it is elastic."""
        return tuple(joint.driven for joint in self.joints)

    @cached_property
    def attachment(self) -> tuple[SX, SX]:
        """U (n x joints) and u (n x 1) with q = U q_r + u where nothing is deformed.

        Beams are straight, links turn with their motors, elastic followers with what they follow.
        """
        U, u = SX(self.n, len(self.joints)), SX(self.n, 1)
        for i, place in enumerate(self.rigid):
            U[place, i] = 1
        for place, shares, offset in self.attachments:
            row = self.row(shares)
            U[place, :], u[place] = row @ U, row @ u + offset
        return U, u

    @cached_property
    def _attachment(self) -> tuple[Array, Array]:
        """The same as numbers, which are a matter of the structure."""

        def numbers() -> tuple[Array, Array]:
            U, u = self.attachment
            values = [
                float(each) if each.is_constant() else self.parameters.shape_by(each, wanted[i])
                for i, each in enumerate(casadi.vertsplit(casadi.densify(casadi.veccat(U, u))))
            ]
            return np.reshape(values[: U.numel()], U.shape, order="F"), np.array(values[U.numel() :])

        heads = [*(f"how {{}} follows {joint.name}" for joint in self.joints), "where {} follows"]
        wanted = [head.format(name) for head in heads for name in self.coordinates]
        return self.kept("attachment", numbers)

    def with_shafts(self, values: Mapping[int, Value]) -> dict[int, Value]:
        """Values by place in q, of an elastic joint for which there is one alone for its link and its motor."""
        found = dict(values)
        for joint in self.joints:
            for known, other in ((joint.index, joint.driven), (joint.driven, joint.index)):
                if known in values and other not in values:
                    found[other] = values[known]
        return found

    def undeformed(self, q: Array) -> Array:
        """Coordinates (..., n) with the same q_r where nothing is deformed."""
        return np.asarray(self.undeformed_rates(q) + self._attachment[1])

    def undeformed_rates(self, qd: Array) -> Array:
        """The same of rates or accelerations (..., n)."""
        rates = np.asarray(qd[..., list(self.rigid)] @ self._attachment[0].T)
        if self.base:
            base = list(self.base)
            rates[..., base] = qd[..., base]
        return rates

    def others(self, indices: Container[int]) -> list[int]:
        """Indices of the coordinates that are not among those."""
        return [i for i in range(self.n) if i not in indices]

    def by_name(self, values: Array) -> dict[str, float]:
        """Values (n,) of the coordinates by their names."""
        return dict(zip(self.coordinates, values.tolist(), strict=True))

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """For every link the links that hang on it."""
        return tuple(
            tuple(i for i, link in enumerate(self.links) if link.parent == parent) for parent in range(len(self.links))
        )

    @cached_property
    def outward(self) -> tuple[int, ...]:
        """All links, parents before children."""
        order = [i for i, link in enumerate(self.links) if link.parent == BASE]
        for parent in order:  # grows while it is walked
            order += self.children[parent]
        return tuple(order)

    @cached_property
    def limits(self) -> tuple[Limits, ...]:
        """Smallest and largest values of joints, where the file limits them and parameters in it have values."""
        known = {name: value for name, value in self.description.values.items() if value is not None}
        stopped = {stop.joint for stop in self.stops}
        ends = {link.joint.name: link.joint.limits for link in self.file.links}
        found = []
        for joint in (link.joint for link in self.links if link.joint is not None):
            pair = ends.get(joint.name)
            if pair is None or not pair[0].names | pair[1].names <= known.keys():
                continue
            row = casadi.horzcat(self.row(joint.shares), joint.offset)
            if self.parameters.free_in(row):
                continue
            numbers = np.array([self.parameters.evaluate(each, "limits") for each in casadi.horzsplit(row)])
            low, high = (evaluate(end, known) for end in pair)
            unit, turned = "rad" if joint.revolute else "m", read_only(numbers[:-1])
            found.append(Limits(joint.name, unit, low, high, turned, float(numbers[-1]), joint.name in stopped))
        return tuple(found)

    @cached_property
    def stiffness(self) -> SX:
        """K (n x n) of the elastic energy: its second derivative."""
        K = SX(self.n, self.n)
        for link in self.links:
            if link.beam is not None:
                K[link.modal, link.modal] = link.beam.stiffness_matrix()
        for spring in self.springs:
            row = self.row(spring.stretch)
            K += row.T @ (spring.stiffness * row)
        return K

    @cached_property
    def preload(self) -> SX:
        """Forces (n x 1) of the springs at q = 0, where they are not slack."""
        forces = (spring.stiffness * spring.rest * self.row(spring.stretch).T for spring in self.springs)
        return sum(forces, SX(self.n, 1))

    def elastic_forces(self, q: SX) -> SX:
        """Forces (n x 1) that beams and springs need: the derivative of their energy, K q less the preload."""
        return self.stiffness @ q - self.preload

    @cached_property
    def damping_of_parts(self) -> SX:
        """The viscous damping (n x n) of joints, springs and beams, each on its own."""
        D = SX(self.n, self.n)
        for link in self.links:
            if link.joint is not None:
                row = self.row(link.joint.damped)
                D += row.T @ (link.joint.damping * row)
            D[link.modal, link.modal] = link.damping
        for spring in self.springs:
            row = self.row(spring.stretch)
            D += row.T @ (spring.damping * row)
        return D

    def friction(self, qd: SX) -> SX:
        """Forces (n x 1) that dry friction takes at rates qd (n x 1)."""
        forces = SX(self.n, 1)
        for joint in (link.joint for link in self.links):
            if joint is not None and joint.friction is not None:
                row = self.row(joint.damped)
                forces += row.T @ joint.friction.force(row @ qd)
        return forces
