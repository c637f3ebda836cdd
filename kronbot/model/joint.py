"""Joints of a model: how they move, what yields in them, what resists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from graphlib import TopologicalSorter
from typing import TypeAlias

import casadi
import numpy as np
from casadi import SX

from kronbot.description import joint as described
from kronbot.description import schema
from kronbot.description.coupling import Coupling
from kronbot.description.entries import ONE, ZERO, Quantity
from kronbot.description.names import coordinates
from kronbot.floats import Array
from kronbot.model.parameters import Parameters
from kronbot.records import dataclass

# A linear combination of coordinates: places in q, and what each of them counts.
Shares: TypeAlias = tuple[tuple[int, SX], ...]


@dataclass(frozen=True)
class Spring:
    """A linear spring and damper on a combination of coordinates: energy 1/2 stiffness (stretch - rest)^2.

    Stiffness in N m/rad or N/m, damping in N m s or N s/m. It belongs to a ``joint``, where a ``word`` tells it apart:
    elastic, spring, or the axis of a bearing. With a ``compliance`` (rad/(N m) or m/N) it has no stiffness here: what
    it bears is told by the balance of ``own``, the coordinate that it alone determines.
    """

    joint: str
    word: str
    stretch: Shares
    stiffness: SX
    damping: SX
    rest: SX
    own: int = -1
    compliance: SX | None = None


@dataclass(frozen=True)
class Friction:
    """Dry friction of Coulomb, static and Stribeck, smoothed where it would jump: forces in N m or N, rates per s."""

    coulomb: SX
    static: SX
    stribeck_rate: SX
    smoothing: SX

    def force(self, rate: SX) -> SX:
        """What it takes to move at a rate."""
        more = (self.static - self.coulomb) * casadi.exp(-((rate / self.stribeck_rate) ** 2))
        return (self.coulomb + more) * casadi.tanh(rate / self.smoothing)


@dataclass(frozen=True, eq=False)
class Stop:
    """One end of a joint's motion: ``limit`` (rad or m) of its shares of coordinates and an offset, from below (sign 1)
    or above (sign -1), and what pushes back beyond it: N m/rad and N m s, or N/m and N s/m.
    """

    joint: str
    sign: int
    limit: SX
    stiffness: SX
    damping: SX
    shares: Shares
    offset: SX


@dataclass(frozen=True)
class Joint:
    """A joint that moves: revolute about or prismatic along the z-axis of the link's root frame.

    It moves by its ``shares`` of coordinates and an ``offset`` (rad or m): by one of its own, or, where it follows
    others, by theirs; so many coordinates are its ``own``. Damping is in N m s or N s/m on the joint side.
    """

    name: str
    revolute: bool
    shares: Shares
    offset: SX
    damping: SX
    own: int
    friction: Friction | None

    def value(self, q: SX) -> SX:
        """How far it has moved at q (n x 1)."""
        return self.along(q) + self.offset

    def along(self, direction: SX) -> SX:
        """How far it moves where q does by this (n x 1): its rate for qd, and so on."""
        return sum((share * direction[place] for place, share in self.shares), SX(0))

    @property
    def damped(self) -> Shares:
        """What its damping and friction act on."""
        return self.shares

    @property
    def places(self) -> range:
        """Places in q of its own coordinates: that of the link, then that of its motor behind a shaft."""
        first = self.shares[0][0] if self.own else 0
        return range(first, first + self.own)

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
class DrivenJoint(Joint):
    """A joint that a drive moves.

    ``index`` is that of the link's angle or way in q, ``driven`` that of what the drive moves: where a shaft yields
    between them, the motor has a coordinate of its own (Spong's reduced model: the rotor turns about its own axis
    only). ``rotor_inertia`` (kg m2 or kg) is what the rotor adds to the equation of what is driven, gear^2 J_r.
    """

    index: int
    driven: int
    rotor_inertia: SX

    @property
    def elastic(self) -> bool:
        """Whether the motor has a coordinate of its own."""
        return self.driven != self.index

    @property
    def damped(self) -> Shares:
        """What its damping and friction act on."""
        return ((self.driven, SX(1)),)


@dataclass(frozen=True)
class FreeJoint(Joint):
    """One of the six by which a floating base moves; nothing drives it."""

    @staticmethod
    def at(name: str, place: int) -> FreeJoint:
        """The one of a coordinate, which slides or, with a name in r, turns."""
        return FreeJoint(name, name.rpartition(".")[2].startswith("r"), ((place, SX(1)),), SX(0), SX(0), 1, None)


@dataclass(frozen=True, eq=False)
class Limits:
    """Smallest and largest value of a joint (rad or m), which is ``row`` (n,) times q plus an offset.

    With ``stops`` it is pushed back beyond them.
    """

    joint: str
    unit: str
    low: float
    high: float
    row: Array
    offset: float
    stops: bool = False

    def values(self, q: Array) -> Array:
        """Of the joint at rows q (N, n)."""
        return np.asarray(q @ self.row + self.offset)


def joints_of(
    file: schema.RobotFile, order: str, parameters: Parameters
) -> tuple[dict[str, Joint], dict[int, tuple[Shares, SX]]]:
    """The joints that move, by name, and what links behind shafts do where these are slack: see :class:`Robot`."""
    entries = {link.joint.name: link.joint for link in file.links if link.joint.name and link.joint.type != "fixed"}
    places = {name: place for place, name in enumerate(coordinates(file, order))}
    found: dict[str, Joint] = {}
    slack: dict[int, tuple[Shares, SX]] = {}
    follows = {
        name: entry.follows.joints(parameters.definitions) if entry.follows else () for name, entry in entries.items()
    }
    for name in TopologicalSorter(follows).static_order():
        entry = entries[name]
        damping = parameters.number(entry.damping)
        if entry.follows is None:
            index = places[name]
            driven = index + (entry.elastic is not None)
            if driven != index:
                slack[index] = ((driven, SX(1)),), SX(0)
            found[name] = DrivenJoint(
                name=name,
                revolute=entry.type == "revolute",
                shares=((index, SX(1)),),
                offset=SX(0),
                damping=damping,
                own=1 + driven - index,
                friction=_friction(entry.friction, parameters),
                index=index,
                driven=driven,
                rotor_inertia=parameters.number(entry.gear) ** 2 * parameters.number(entry.rotor_inertia),
            )
            continue
        shares, offset = _combination(entry.follows, found, parameters)
        if entry.elastic is not None:
            slack[places[name]] = shares, offset
            shares, offset = ((places[name], SX(1)),), SX(0)
        own = int(entry.elastic is not None)
        friction = _friction(entry.friction, parameters)
        found[name] = Joint(name, entry.type == "revolute", shares, offset, damping, own, friction)
    return found, slack


def _friction(entry: described.Friction | None, parameters: Parameters) -> Friction | None:
    if entry is None:
        return None
    static, rate = entry.static or entry.coulomb, entry.stribeck_rate or ONE
    return Friction(*(parameters.number(each) for each in (entry.coulomb, static, rate, entry.smoothing)))


def _combination(follows: Coupling, others: Mapping[str, Joint], parameters: Parameters) -> tuple[Shares, SX]:
    """What a joint follows as a combination of coordinates and an offset."""
    named = follows.named(parameters.definitions)
    symbols = {name: SX.sym("joint") for name in named}
    whole = parameters.number(follows.expression, symbols)
    column = casadi.vertcat(*symbols.values())
    offset = casadi.substitute(whole, column, SX.zeros(column.shape))
    shares: dict[int, SX] = {}
    for name, symbol in symbols.items():
        factor = casadi.simplify(casadi.jacobian(whole, symbol))
        other = others[named[name]]
        offset += factor * other.offset
        for place, share in other.shares:
            shares[place] = shares.get(place, SX(0)) + factor * share
    return tuple(sorted(shares.items())), offset


def stops_of(entry: described.Joint, joint: Joint | None, parameters: Parameters) -> Iterator[Stop]:
    """The stops of a joint at its limits."""
    if joint is None or entry.stops is None or entry.limits is None:
        return
    stiffness, damping = (parameters.number(each) for each in (entry.stops.stiffness, entry.stops.damping))
    for sign, end in zip((-1, 1), entry.limits, strict=True):
        yield Stop(joint.name, sign, parameters.number(end), stiffness, damping, joint.shares, joint.offset)


def springs_of(
    entry: described.Joint,
    joint: Joint | None,
    bearing: int,
    slack: Mapping[int, tuple[Shares, SX]],
    parameters: Parameters,
    compliant: bool,
) -> Iterator[Spring]:
    """The springs of a joint: its shaft, the one between parent and link, those of its bearing from a place on.

    Compliances become stiffnesses unless the robot is to be ``compliant``.
    """
    number = parameters.number

    if joint is None:
        return
    name = joint.name

    def spring(word: str, stretch: Shares, k: Quantity | None, c: Quantity | None, damping: SX, rest: SX) -> Spring:
        own = stretch[0][0]
        if c is None:
            return Spring(name, word, stretch, number(k or ZERO), damping, rest, own)
        if not compliant:
            return Spring(name, word, stretch, 1 / number(c), damping, rest, own)
        return Spring(name, word, stretch, SX(1, 1), damping, rest, own, number(c))

    if entry.elastic is not None:
        said = entry.elastic
        shares, offset = slack[joint.shares[0][0]]
        stretch = *joint.shares, *((place, -share) for place, share in shares)
        yield spring("elastic", stretch, said.stiffness, said.compliance, number(said.damping), offset)
    if entry.spring is not None:
        rest = number(entry.spring.rest) - joint.offset
        yield Spring(joint.name, "spring", joint.shares, number(entry.spring.stiffness), SX(0), rest)
    if entry.bearing is not None:
        for place, axis in enumerate(entry.bearing.axes, bearing):
            parts = entry.bearing.stiffness, entry.bearing.compliance, entry.bearing.damping
            stiffness, compliance, damping = (getattr(part, axis) for part in parts)
            yield spring(axis, ((place, SX(1)),), stiffness, compliance, number(damping or ZERO), SX(0))
