"""Forces and energies of massless elements between two frames.

A piece of an element knows the way d from one of its points to the next in the axes of the first's frame, and the
Jacobian J of d by the coordinates between the frames: others move both alike. With the length l = sum |d| of the pieces
its rate is dl/dq qd with dl/dq = sum d^T J / |d|, and the forces that it takes are (dl/dq)^T T for the tension T = k
(l - l0) + c dl/dt - F, which is that of all pieces: what it goes over has no friction. A straight spring with rest
length zero has the energy k d.d/2, and J^T k d has no direction that it could lack. Tendons, which pull on one side of
their rest only, are contacts (:mod:`kronbot.mechanics.multibody.stops`). The forces are applied to
the recursion, whose cost stays linear in the number of links; each element adds that of the links between its frames.
What it does to links as bodies, which reactions of joints bear, is told by :func:`acted_on`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import casadi
from casadi import SX

from kronbot.cached import cached_property
from kronbot.kronecker.calculus import skew
from kronbot.mechanics.multibody.carried import Carried, carried, loaded
from kronbot.mechanics.multibody.kinematics import frame, relative_motion
from kronbot.mechanics.multibody.state import State
from kronbot.model.element import Element
from kronbot.model.floating import grounded
from kronbot.model.robot import Robot
from kronbot.records import dataclass

# Of the way that leads over the links from one end of a piece to the other: no length beyond rounding.
ROUNDING = 1e-14


@dataclass(frozen=True)
class Piece:
    """A straight piece of an element: ``d`` (3 x 1, m) from one point to the next, ``J`` (3 x n) its derivative.

    ``around`` (m) is the way between the points that leads over the links: rounding errors of d are a share of it.
    """

    d: SX
    J: SX
    around: SX

    @cached_property
    def length(self) -> SX:
        """How far the points are apart, m."""
        return casadi.sqrt(casadi.sumsqr(self.d))

    @cached_property
    def slope(self) -> SX:
        """Derivative of the length by q (1 x n)."""
        return (self.d / self.length).T @ self.J


@dataclass(frozen=True)
class Stretched:
    """An element of a robot at q, piece by piece."""

    element: Element
    pieces: tuple[Piece, ...]

    @cached_property
    def length(self) -> SX:
        """That of all pieces, m."""
        return sum((piece.length for piece in self.pieces[1:]), self.pieces[0].length)

    @property
    def meets(self) -> SX:
        """1 where the ends of a piece meet but for rounding, else 0."""
        return casadi.mmax(casadi.vertcat(*(piece.length <= ROUNDING * piece.around for piece in self.pieces)))

    @cached_property
    def slope(self) -> SX:
        """Derivative of the length by q (1 x n)."""
        return sum((piece.slope for piece in self.pieces[1:]), self.pieces[0].slope)

    @property
    def _whole(self) -> Piece:
        """That of a straight one."""
        return self.pieces[0]

    @property
    def _size(self) -> int:
        return int(self._whole.J.columns())

    @property
    def depth(self) -> SX:
        """By how much it is longer than its rest, m."""
        return self.length - self.element.rest

    @cached_property
    def spring(self) -> SX:
        """Generalized forces (n x 1) that its spring takes."""
        element = self.element
        if element.stiffness.is_zero():
            return SX(self._size, 1)
        if element.unstretched:
            return self._whole.J.T @ (element.stiffness * self._whole.d)
        return self.slope.T @ (element.stiffness * (self.length - element.rest))

    @property
    def energy(self) -> SX:
        """Of its spring, J."""
        element = self.element
        stretch = casadi.sumsqr(self._whole.d) if element.unstretched else (self.length - element.rest) ** 2
        return element.stiffness * stretch / 2

    @property
    def stiffness(self) -> SX:
        """What its spring adds to the stiffness (n x n) if it is slack at this length."""
        along = self.slope.T @ (self.element.stiffness * self.slope)
        if self.element.one_sided:
            return casadi.if_else(self.depth > 0, along, SX.zeros(*along.shape))
        if not self.element.unstretched:
            return along
        around = self._whole.J.T @ (self.element.stiffness * self._whole.J)
        return casadi.if_else(self.length > 0, along, around)

    @property
    def damping(self) -> SX:
        """What it adds to the damping matrix (n x n)."""
        zero = self.element.damping.is_zero()
        return SX(self._size, self._size) if zero else self.slope.T @ (self.element.damping * self.slope)

    @property
    def push(self) -> SX:
        """Generalized forces (n x 1) of a unit force that pushes the points apart."""
        return self.slope.T

    def forces(self, qd: SX) -> SX:
        """Generalized forces (n x 1) that it takes at rates qd (n x 1)."""
        total = self.spring + self.damping @ qd
        return total if self.element.force.is_zero() else total - self.push * self.element.force

    def tension(self, qd: SX) -> SX:
        """What pulls the points together, N."""
        element = self.element
        total = element.stiffness * self.depth - element.force
        if not element.damping.is_zero():
            total += element.damping * (self.slope @ qd)
        return _taut(self.depth, total) if element.one_sided else total

    def power(self, qd: SX) -> SX:
        """What its force gives and its damper takes, W (2 x 1)."""
        if self.element.force.is_zero() and self.element.damping.is_zero():
            return SX(2, 1)
        rate = self.slope @ qd
        return casadi.vertcat(self.element.force * rate, self.element.damping * rate**2)


def stretched(robot: Robot, q: SX) -> tuple[Stretched, ...]:
    """The elements of a robot at q (n x 1)."""
    return tuple(_stretched(robot, element, q) for element in robot.elements)


def two_sided(robot: Robot, q: SX) -> tuple[Stretched, ...]:
    """Those that are no tendons."""
    return tuple(_stretched(robot, element, q) for element in robot.elements if not element.one_sided)


def tendons(robot: Robot, q: SX) -> tuple[Stretched, ...]:
    """Those that pull on one side of their rest only."""
    return tuple(_stretched(robot, element, q) for element in robot.elements if element.one_sided)


def falls(robot: Robot, q: SX) -> SX:
    """1 where no element holds a floating base that rests at q (n x 1), 0 where one does (1 x 1).

    Dampers hold nothing at rest, nor do slack tendons, or what has neither stiffness nor force.
    """
    free = SX(1)
    for element in (each for each in grounded(robot) if each.bears):
        bearing = casadi.logic_or(element.stiffness != 0, element.force != 0)
        if element.one_sided:
            bearing = casadi.logic_and(element.stiffness > 0, _stretched(robot, element, q).depth > 0)
        free = casadi.logic_and(free, casadi.logic_not(bearing))
    return free


def _taut(depth: SX, pull: SX) -> SX:
    """The pull of a tendon that is longer than its rest by a depth."""
    return casadi.if_else(depth > 0, casadi.fmax(0, pull), 0)


def _stretched(robot: Robot, element: Element, q: SX) -> Stretched:
    return Stretched(element, tuple(_piece(robot, q, *ends) for ends in element.pieces))


def _piece(robot: Robot, q: SX, *ends: tuple[str, SX]) -> Piece:
    placed = [(frame(robot, name), point) for name, point in ends]
    # In the axes of the outer frame what is fixed to the ground comes out short.
    (first, near), (second, far) = sorted(placed, key=lambda end: -len(end[0].way))
    at = relative_motion(robot, q, second, first)
    lever = at.pose.R @ far
    around = casadi.norm_2(near) + at.way + casadi.norm_2(far)
    return Piece(at.pose.r + lever - near, at.J_T - skew(lever) @ at.J_R, around)


def element_forces(state: State) -> SX:
    """Generalized forces (n x 1) that the elements of a moving robot take, without tendons."""
    return sum((each.forces(state.qd) for each in two_sided(state.robot, state.q)), SX(state.robot.n, 1))


def elements_at_rest(state: State) -> SX:
    """Generalized forces (n x 1) that they take of a robot that does not move."""
    return sum((each.forces(SX(state.robot.n, 1)) for each in two_sided(state.robot, state.q)), SX(state.robot.n, 1))


def element_power(state: State) -> SX:
    """What forces of elements give and their dampers take, W (2 x 1), without tendons."""
    return sum((each.power(state.qd) for each in two_sided(state.robot, state.q)), SX(2, 1))


def lengths_and_tensions(state: State) -> dict[str, SX]:
    """Of every element (2 x 1, m and N), as ``element NAME``."""
    found = stretched(state.robot, state.q)
    return {f"element {each.element.name}": casadi.vertcat(each.length, each.tension(state.qd)) for each in found}


def acted_on(state: State) -> State:
    """The robot with the pulls of its elements acting on its links, so that reactions of joints hold them."""
    actions = [action for element in state.robot.elements for action in _pulls(state, element)]
    return loaded(state, actions) if actions else state


def _pulls(state: State, element: Element) -> Iterator[tuple[int, SX]]:
    """The places of the links that an element pulls at, and what it does to them ((6 + n_f) x 1)."""
    ends = [
        carried(state, name, point) if frame(state.robot, name).way else point
        for name, point in zip(element.frames, element.points, strict=True)
    ]
    places = [end.pose.r if isinstance(end, Carried) else end for end in ends]
    rates = [end.twist[:3] if isinstance(end, Carried) else SX(3, 1) for end in ends]
    ways = [after - before for before, after in pairwise(places)]
    lengths = [casadi.sqrt(casadi.sumsqr(d)) for d in ways]
    length = sum(lengths[1:], lengths[0])
    units = [d / each for d, each in zip(ways, lengths, strict=True)]
    moving = zip(units, pairwise(rates), strict=True)
    rate = sum((casadi.dot(unit, after - before) for unit, (before, after) in moving), SX(0))
    besides = element.damping * rate - element.force
    for (before, after), d, unit in zip(pairwise(ends), ways, units, strict=True):
        if element.unstretched:  # which may have no direction
            pull = element.stiffness * d + (SX(3, 1) if besides.is_zero() else unit * besides)
        else:
            depth = length - element.rest
            tension = element.stiffness * depth + besides
            pull = unit * (_taut(depth, tension) if element.one_sided else tension)
        for end, force in ((before, pull), (after, -pull)):
            if isinstance(end, Carried):
                yield end.link, end.on_link(force, SX(3, 1))
