"""The robot as a model: a tree of links with coordinates, parameters and the poses that join them."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass, field

import casadi
from casadi import SX

from kronbot.cached import cached_property
from kronbot.description import Description, names, schema
from kronbot.description.expressions.expression import evaluate
from kronbot.description.schema import RobotFile
from kronbot.errors import UsageError
from kronbot.floats import Array
from kronbot.model.beam import TIP, Beam
from kronbot.model.dh import Row
from kronbot.model.motions import Motion
from kronbot.model.parameters import Parameters
from kronbot.model.pose import CrossSection, Pose, rotation_z

BASE = -1


@dataclass(frozen=True)
class Joint:
    """A joint with a coordinate: revolute about or prismatic along the z-axis of the link's root frame.

    ``index`` is that in q. Damping is in N m s or N s/m on the joint side, ``rotor_inertia`` (kg m2 or kg) the
    inertia that the rotor adds to its own equation, gear^2 J_r.
    """

    name: str
    revolute: bool
    index: int
    damping: SX
    rotor_inertia: SX

    @property
    def axis(self) -> SX:
        """Twist [v; omega] (6 x 1) of the root frame for unit joint rate, in the root frame: p_i of Mohan-Saha (9)."""
        axis = SX(6, 1)
        axis[self.row] = 1
        return axis

    @property
    def row(self) -> int:
        """The row of the twist that the joint moves, the one entry of its axis."""
        return 5 if self.revolute else 2


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
    tip frame. ``damping`` is the structural damping matrix of the beam.
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
                turn = q[self.joint.index]
            else:
                slide = slide + q[self.joint.index]
        rotation = rotation_z(*parameters.cosine_and_sine(self.row.theta, turn))
        return Pose(casadi.vertcat(0, 0, slide), rotation)

    def tip(self, q_f: SX) -> CrossSection:
        """The tip frame in the root frame, for the modal coordinates of this link."""
        if self.beam is None:
            nothing = SX(3, 0)
            return CrossSection(Pose(casadi.vertcat(self.row.along, 0, 0), self.row.after), nothing, nothing)
        return self.beam.cross_sections([TIP], q_f)[0].turned(self.row.after)


@dataclass(frozen=True)
class Endpoint:
    """The point that tasks and loads refer to: position (3 x 1, m) in the tip frame of a link."""

    link: int
    position: SX


@dataclass(frozen=True, repr=False)
class Robot:
    """One robot at one kinematic order: everything the mechanics need, constant once built.

    ``links`` stand in file order, which is also the order of the coordinates; a parent may come later. ``relatives``
    are robots of the same file and order with other values that make other structures, the latest last.
    """

    description: Description
    order: str
    parameters: Parameters
    links: tuple[Link, ...]
    gravity: SX
    endpoint: Endpoint
    motions: dict[str, Motion]
    relatives: list[Robot] = field(default_factory=list, compare=False)

    def __repr__(self) -> str:
        """Which robot, and its coordinates."""
        return f"<model of {self.name}, order {self.order}: {', '.join(self.coordinates)}>"

    @property
    def file(self) -> RobotFile:
        """What the robot file says."""
        return self.description.robot

    @property
    def name(self) -> str:
        """The robot's name."""
        return self.file.name

    @cached_property
    def joints(self) -> tuple[Joint, ...]:
        """The joints that have a coordinate, in the order of the coordinates."""
        return tuple(link.joint for link in self.links if link.joint is not None)

    @cached_property
    def coordinates(self) -> tuple[str, ...]:
        """Names of q: per link its joint, then its modal coordinates ``LINK.v1``, ``LINK.w1``, ``LINK.t1``."""
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
        units: list[str] = []
        for link in self.links:
            if link.joint is not None:
                units.append("rad" if link.joint.revolute else "m")
            if link.beam is not None:
                units += [direction.unit(i) for direction in link.beam.directions for i in range(direction.count)]
        return tuple(units)

    @cached_property
    def flexible(self) -> tuple[int, ...]:
        """Indices of the modal coordinates in q."""
        return tuple(i for link in self.links for i in range(link.modal.start, link.modal.stop))

    @cached_property
    def rigid(self) -> tuple[int, ...]:
        """Indices of the joint coordinates in q."""
        return tuple(joint.index for joint in self.joints)

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
    def limits(self) -> dict[int, tuple[float, float]]:
        """Smallest and largest values of joints (rad or m) by index in q, where the file limits them.

        Limits that depend on a parameter without a value are left out.
        """
        known = {name: value for name, value in self.description.values.items() if value is not None}
        ends = [link.joint.limits for link in self.file.links if link.joint.name is not None]
        return {
            joint.index: (evaluate(pair[0], known), evaluate(pair[1], known))
            for joint, pair in zip(self.joints, ends, strict=True)
            if pair is not None and pair[0].names | pair[1].names <= known.keys()
        }

    @cached_property
    def stiffness(self) -> SX:
        """K (n x n) of the elastic energy 1/2 q^T K q."""
        K = SX(self.n, self.n)
        for link in self.links:
            if link.beam is not None:
                K[link.modal, link.modal] = link.beam.stiffness_matrix()
        return K

    @cached_property
    def damping(self) -> SX:
        """D (n x n): viscous joint damping and structural damping."""
        D = SX(self.n, self.n)
        for link in self.links:
            if link.joint is not None:
                D[link.joint.index, link.joint.index] = link.joint.damping
            D[link.modal, link.modal] = link.damping
        return D

    @cached_property
    def massless_torsion(self) -> tuple[str, ...]:
        """Links whose torsion modes carry no polar inertia: the mass matrix is singular."""
        return tuple(
            link.name
            for link in self.links
            if link.beam is not None and link.beam.torsion.count and link.beam.polar_inertia.is_zero()
        )


def gauge_place(robot: Robot, entry: schema.Gauge) -> tuple[Link, Beam, float]:
    """Where a gauge of the file sits: link, beam and xi. Raises UsageError where a parameter in it is free."""
    link = next(link for link in robot.links if link.name == entry.link)
    if link.beam is None:
        raise UsageError(f"gauge {entry.name!r} sits on link {entry.link!r}, which is not flexible")
    place = robot.parameters.number(entry.x) / link.beam.length
    return link, link.beam, min(robot.parameters.shape_by(place, f"gauge {entry.name!r}"), TIP)
