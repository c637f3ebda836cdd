"""The robot of a page: its parts, its coordinates, and the function that says where they are."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any

import casadi
import numpy as np
from casadi import SX

from kronbot.cached import cached_property
from kronbot.compute.code import javascript
from kronbot.compute.code.routine import Routine
from kronbot.compute.question import Quantity
from kronbot.errors import FreeParameters
from kronbot.floats import Array
from kronbot.mechanics.multibody import drawing
from kronbot.model.joint import FreeJoint
from kronbot.model.robot import Robot
from kronbot.plots.page.document import demand_small
from kronbot.plots.reach import LARGEST_IN_PAGES, reach

# Places along a beam, most first, and operations of the function beyond which fewer are taken. So many beams are
# hardly ever seen at the most: the fewest are tried first, whose function takes least time.
PLACES, OPERATIONS, MANY = (25, 13, 7), 60_000, 12
# Bytes that the page has at least for each instruction of their sections (27 were counted).
BYTES = 20
# Where the frames of a link begin in what drawing.scene has of it.
ROOT, TIP = 6, 18
# Joints turn so far, and slide so far as shares of the robot's size, where the file sets no limits.
TURN, SLIDE = math.pi, 0.5
# Which robots keep in a plane: what is thinner than this share of the whole.
FLAT = 0.02
# A change of coordinates (rad, m) along which points move straight on.
SMALL = 1e-6


class Shown:
    """A robot as a page shows it: ``data`` for JSON, and ``scene``, its kinematics in JavaScript.

    It knows where further ``frames`` are, too. Raises ComputationError where beams are so many that no page holds them.
    """

    def __init__(self, robot: Robot, frames: Sequence[str] = ()) -> None:
        self.robot = robot
        demand_few(robot)
        many = _many(robot)
        for places in reversed(PLACES) if many else PLACES:
            tape = drawing.scene(robot, places, frames)
            fits = tape.n_instructions() <= OPERATIONS
            if fits or not many or places == PLACES[-1]:
                self._tape, self._places = tape, places
            if fits != many:
                break

    @property
    def scene(self) -> str:
        """A function q, y that fills y. Raises ComputationError where it is too long."""
        numbers = Quantity(casadi.SX(0, 0), (), None, "m")
        sizes = {"q": self.robot.n}
        return javascript.function(Routine("scene", "Where the robot is.", sizes, {"y": numbers}, self._tape))

    def at(self, q: Array) -> Array:
        """Points (K, 3) of the robot at q (n,), m: of links, elements and bodies, further frames, the endpoint."""
        y, at, points = np.asarray(self._tape(q)).ravel(), 0, [np.zeros(3)]
        for link in self.robot.links:
            points += [y[at + place : at + place + 3] for place in (0, 3, ROOT, TIP)]
            at += self._numbers(link.beam is not None)
        points += list(y[at:].reshape(-1, drawing.OF_POINT))
        end, starts = self.robot.endpoint, self._starts
        carried = [(body.link, TIP if body.at_tip else ROOT, body.com) for body in self._bodies]
        for number, place, point in [*carried, (end.link, TIP, self._endpoint)]:
            r, *axes = y[starts[number] + place :][:12].reshape(4, 3)
            points.append(r + point @ np.array(axes))
        return np.array(points)

    def place(self, further: int) -> int:
        """Where the origin of a further frame, by number, stands in what the function fills."""
        return self._starts[-1] + drawing.OF_POINT * (2 * self._pieces + further)

    @property
    def _pieces(self) -> int:
        """How many straight pieces all elements have."""
        return sum(len([*each.pieces]) for each in self.robot.elements)

    @property
    def _tendons(self) -> Iterator[dict[str, float]]:
        """Which pieces they have, and how long they are at rest, m; of those where that has a value."""
        ends = [0, *accumulate(len([*each.pieces]) for each in self.robot.elements)]
        for element, (first, end) in zip(self.robot.elements, pairwise(ends), strict=True):
            if element.one_sided and not self.robot.parameters.free_in(element.rest):
                rest = self.robot.parameters.evaluate(element.rest, "view")
                yield {"first": first, "count": end - first, "rest": rest}

    def _numbers(self, beam: bool) -> int:
        return drawing.OF_LINK + drawing.OF_SECTION * self._places * beam

    @property
    def _starts(self) -> list[int]:
        """Places of the links in what the function fills."""
        sizes = [self._numbers(link.beam is not None) for link in self.robot.links]
        return list(accumulate(sizes, initial=0))

    @cached_property
    def _bodies(self) -> list[drawing.Carried]:
        return drawing.carried(self.robot)

    @property
    def _endpoint(self) -> Array:
        return np.array(self._points(self.robot.endpoint.position)[0])

    def _points(self, *points: SX) -> list[list[float]]:
        """Numbers (3,) of points (3 x 1)."""
        return [self.robot.parameters.evaluate_all(casadi.densify(point), "view") for point in points]

    def data(self, states: Array) -> dict[str, Any]:
        """All that holds in every one of the states (N, n)."""
        robot = self.robot
        some = states[np.unique(np.linspace(0, len(states) - 1, 9).round().astype(int))]
        size = reach(np.vstack([self.at(q) for q in some]).T, LARGEST_IN_PAGES)
        limits = {limit.joint: (limit.low, limit.high) for limit in robot.limits}
        ends = [TURN if unit == "rad" else SLIDE * size for unit in robot.units]
        ranges = {i: (-ends[i], ends[i]) for i in robot.others(robot.flexible)}
        ranges |= {joint.driven: limits[joint.name] for joint in robot.joints if joint.name in limits}
        rigid, u = robot.others(robot.flexible), robot.undeformed(np.zeros(robot.n))
        U = (robot.undeformed(np.eye(robot.n)[rigid]) - u).T
        starts = self._starts
        return {
            "size": size,
            "numbers": self._tape.nnz_out(0),
            "gravity": self.gravity,
            "coordinates": [
                {"name": name, "unit": unit, **dict(zip(("low", "high"), ranges.get(i, ()), strict=False))}
                for i, (name, unit) in enumerate(zip(robot.coordinates, robot.units, strict=True))
            ],
            "rigid": rigid,
            "flexible": bool(robot.flexible),
            "U": U.tolist(),
            "u": u.tolist(),
            "links": [
                {
                    "label": "" if free else f"{link.name}{'' if link.joint is None else f', {link.joint.name}'}",
                    "at": at,
                    "sections": self._places if link.beam is not None else 0,
                    "joint": None if free or link.joint is None else {"revolute": link.joint.revolute},
                    "free": free,
                    "tilts": bool(link.tilts),
                }
                for link, at in zip(robot.links, starts, strict=False)
                for free in [isinstance(link.joint, FreeJoint)]
            ],
            "elements": [starts[-1] + 2 * drawing.OF_POINT * i for i in range(self._pieces)],
            "tendons": list(self._tendons),
            "mounts": [
                {"link": i, "tip": at_tip, **dict(zip(("from", "to"), self._points(*ends), strict=True))}
                for i, at_tip, *ends in [*drawing.stems(robot), *drawing.mounts(robot)]
            ],
            "bodies": [_body(body) for body in self._bodies],
            "endpoint": {"link": robot.endpoint.link, "position": self._endpoint.tolist()},
        }

    @property
    def gravity(self) -> list[float] | None:
        """m/s2, None where there is none or a parameter in it has no value."""
        try:
            g = self.robot.parameters.evaluate_all(casadi.densify(self.robot.gravity), "view")
        except FreeParameters:
            return None
        return g if any(g) else None

    def seen(self, states: Array, shapes: Sequence[Sequence[float]] = ()) -> dict[str, Any]:
        """Which axis points ``up``, and the direction to the ``eye``: across the plane of a robot that has one, also
        as it swings in ``shapes``.
        """
        some = states[np.unique(np.linspace(0, len(states) - 1, 25).round().astype(int))]
        extent = np.ptp(np.vstack([*(self.at(q) for q in some), *self._swung(states[0], shapes)]), axis=0)
        moving = [self.at(q) for q in self._swayed(states[-1])]
        extent = extent + 0.2 * np.ptp(np.vstack(moving), axis=0)
        thin = int(extent.argmin())
        flat = extent[thin] <= FLAT * extent.max()
        up = np.eye(3)[1 if flat and thin == 2 else 2]
        if (g := self.gravity) is not None and not (flat and abs(g[thin]) == max(map(abs, g))):
            upward = int(np.abs(g).argmax())
            up = -np.sign(g[upward]) * np.eye(3)[upward]
        sides = np.roll(up, 1), np.roll(up, 2)  # the other two axes, right-handed
        eye = np.abs(np.eye(3)[thin]) + 1e-4 * sides[0] if flat else 0.55 * up + abs(sides[0]) - abs(sides[1])
        if flat and thin == 1:  # with x to the right where z is up
            eye = -eye
        return {"up": up.tolist(), "eye": eye.tolist(), "flat": bool(flat)}

    def _swung(self, q: Array, shapes: Iterable[Sequence[float]]) -> Iterator[Array]:
        """Where shapes that move points have these, a tenth of the robot away on both sides."""
        here = self.at(q)
        size = float(np.ptp(here, axis=0).max())
        for shape in shapes:
            way = (self.at(q + SMALL * np.array(shape)) - here) / SMALL
            most = float(np.linalg.norm(way, axis=1).max())
            if most > SMALL * size:  # twist alone moves none
                yield from (here + side * size / most * way for side in (-0.1, 0.1))

    def _swayed(self, q: Array) -> list[Array]:
        """The robot with each joint moved a little, alone: where it can go."""
        robot = self.robot
        ways = robot.undeformed_rates(np.eye(robot.n)[robot.others(robot.flexible)])
        return [q, *(q + 0.3 * way for way in ways)]

    @property
    def model(self) -> str:
        """Which model it is, in words."""
        links = [] if self.robot.order == "0" else self.robot.file.links
        beams = [f"{link.name}: {_shapes(link)}" for link in links if link.flexible is not None]
        words = {"0": "all beams rigid", "1": "first order", "2": "second order, with geometric stiffening"}
        kind = words.get(self.robot.order, "any deflection")
        return "; ".join([f"order {self.robot.order} ({kind})", *beams])


def demand_few(robot: Robot) -> None:
    """Raise ComputationError, before all is traced for a minute, where beams are so many that no page holds them."""
    if _many(robot):
        demand_small(BYTES * drawing.length_of_sections(robot, PLACES[-1]), "more than ")


def _many(robot: Robot) -> bool:
    return sum(link.beam is not None for link in robot.links) > MANY


def _shapes(link: Any) -> str:
    """Modes by direction, and the family of the shapes."""
    flexible = link.flexible
    counts = {"v": flexible.modes.v, "w": flexible.modes.w, "torsion": flexible.modes.torsion}
    told = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    family = flexible.shape if isinstance(flexible.shape, str) else "shapes of a table"
    return f"{told}, {family}" if told else "no modes"


def _body(body: drawing.Carried) -> Mapping[str, object]:
    """A body as the ellipsoid of even density with its mass and inertia; without ``half`` axes where there is none."""
    moments, axes = np.linalg.eigh(body.inertia)
    axes = axes * np.sign(np.linalg.det(axes))
    squares = 2.5 * (moments.sum() - 2 * moments) / body.mass
    half = np.sqrt(squares).tolist() if (squares > 0).all() else None
    return {
        "link": body.link,
        "tip": body.at_tip,
        "payload": body.payload,
        "mass": body.mass,
        "com": body.com.tolist(),
        "R": axes.T.ravel().tolist(),
        "half": half,
    }
