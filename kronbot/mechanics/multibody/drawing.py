"""What draws a robot: the lines of its links, where its bodies are, how its beams are twisted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import casadi
import numpy as np
import numpy.typing as npt
from casadi import SX

from kronbot.compute.trace import traced
from kronbot.description.names import WORLD
from kronbot.floats import Array
from kronbot.mechanics.multibody.kinematics import frame, link_frames, relative_motion
from kronbot.model.beam import TIP, Beam
from kronbot.model.robot import Body, Robot
from kronbot.records import dataclass

PURPOSE = "drawing"
# Places along a beam.
PLACES = [float(xi) for xi in np.linspace(0, TIP, 25)]
# The polylines (3, K) of a robot at q (n,).
Lines = Callable[[Array], list[Array]]


def lines(robot: Robot) -> Lines:
    """Polylines by link in the base frame, m: from the parent's tip to the root, which a slide leads to, along the beam
    to the tip.

    Where nothing else shows how a link turns lines lead to the centres of mass of its bodies, more to where
    elements hold one, a last one to the endpoint.
    """

    def polylines() -> tuple[dict[str, SX], dict[str, SX]]:
        q, named = SX.sym("q", robot.n), {}
        frames = link_frames(robot, q)
        for i, (link, (before, root, tip)) in enumerate(zip(robot.links, frames, strict=True)):
            points = [root.r, tip.r]
            if link.beam is not None:
                points[1:] = [root.r + root.R @ pose.r for pose in link.beam.poses(PLACES, q[link.modal, :])]
            if robot.base and i <= len(robot.base):  # what moves a floating base is not seen
                before, points = frames[len(robot.base)][-1], [frames[len(robot.base)][-1].r] * 2
            elif link.joint is not None and not link.joint.revolute and not link.row.before.r.is_zero():
                points.insert(0, (before @ link.row.before).r)  # where it slides from
            named[link.name] = casadi.horzcat(before.r, *points)
        for k, (i, at_tip, *ends) in enumerate([*stems(robot), *mounts(robot)]):
            at = frames[i][2 if at_tip else 1]
            named[f":{k}"] = casadi.horzcat(*(at.r + at.R @ end for end in ends))
        hand = frames[robot.endpoint.link][-1]
        named["endpoint"] = casadi.horzcat(hand.r, hand.r + hand.R @ robot.endpoint.position)
        return {"q": q}, named

    trace = traced(robot, ("lines", _free(robot)), PURPOSE, polylines)
    return lambda q: list(trace(q).values())


def outline(robot: Robot) -> Lines:
    """All that is drawn of a robot at q (n,), by points (3, K), m: its lines, bodies and elements."""
    shape = lines(robot)
    return lambda q: [*shape(q), bodies(robot, q).centres, elements(robot, q).reshape(-1, 3).T]


def mounts(robot: Robot) -> Iterator[tuple[int, bool, SX, SX]]:
    """Lines from links to where elements hold them off their lines: the link, whether at its tip, both ends (3 x 1, m).

    They begin where a rigid link is nearest, else at the tip or the root of the beam, in whose frame they are.
    """
    for name, point in (end for each in robot.elements for end in zip(each.frames, each.points, strict=True)):
        way, foot = frame(robot, name).way, SX(3, 1)
        if not way or way[-1][1] == "com":
            continue
        i, which = way[-1]
        link = robot.links[i]
        if which == "endpoint":
            foot, point = robot.endpoint.position, robot.endpoint.position + point
        elif link.beam is None and not link.row.along.is_zero():
            tip = link.tip(SX(len(link.tilts), 1)).pose
            start, along = (SX(3, 1), tip.r) if which == "root" else (-tip.R.T @ tip.r, tip.R.T @ tip.r)
            share = casadi.dot(point - start, along) / casadi.dot(along, along)
            foot = start + casadi.fmax(0, casadi.fmin(1, share)) * along
        if not (robot.parameters.free_in(casadi.horzcat(foot, point)) or (point - foot).is_zero()):
            yield i, which != "root", foot, point


def stems(robot: Robot) -> Iterator[tuple[int, bool, SX, SX]]:
    """Lines to the centres of mass of the bodies of links that nothing else shows the turns of, as :func:`mounts`."""
    for i, link in enumerate(robot.links):
        known = [body.com for body in link.bodies if not robot.parameters.free_in(body.com)]
        for com in known if _bare(robot, i) else []:
            yield i, True, SX(3, 1), com


def _bare(robot: Robot, i: int) -> bool:
    """Whether no line shows how a link turns: it ends its chain where its joint is, without another endpoint."""
    link, end = robot.links[i], robot.endpoint
    ends = link.beam is None and link.row.along.is_zero() and all(other.parent != i for other in robot.links)
    return ends and (end.link != i or bool(end.position.is_zero()))


def _free(robot: Robot) -> frozenset[str]:
    """The parameters without a value: which bodies have a place is a matter of these."""
    return frozenset(name for name, value in robot.parameters.values.items() if value is None)


# Numbers that :func:`scene` has of a link, of a section of its beam, and of a point.
OF_LINK, OF_SECTION, OF_POINT = 30, 12, 3


def scene(robot: Robot, places: int, frames: Sequence[str] = ()) -> casadi.Function:
    """q (n,) -> all that stands where it stands, in one column, with the values of the robot.

    Of each link where its parent ends, where its joint is (3 each), its root frame and its tip frame (origin, then the
    axes one by one), in the base frame; then so many sections of its beam, in the root frame, written like frames.
    Behind the links both ends of each massless element, and the origins of further frames. Raises UsageError for a
    frame that is not there.
    """

    def column() -> tuple[dict[str, SX], dict[str, SX]]:
        q, parts, world = SX.sym("q", robot.n), [], frame(robot, WORLD)
        for link, (before, root, tip) in zip(robot.links, link_frames(robot, q), strict=True):
            hinge = before @ link.row.before
            parts += [before.r, hinge.r, root.r, casadi.vec(root.R), tip.r, casadi.vec(tip.R)]
            if link.beam is not None:
                parts += _sections(link.beam, places, q[link.modal, :])
        parts += _ends(robot, q)
        parts += [relative_motion(robot, q, frame(robot, name), world).pose.r for name in frames]
        return {"q": q}, {"scene": casadi.vertcat(*parts)}

    trace, q = traced(robot, ("scene", places, tuple(frames)), PURPOSE, column), SX.sym("q", robot.n)
    return casadi.Function("scene", [q], [casadi.cse(trace.function(q, trace.bound))], ["q"], ["y"])


def length_of_sections(robot: Robot, places: int) -> int:
    """Instructions that so many sections of each beam take in :func:`scene`; beams of as many modes take as many."""
    beams = Counter[tuple[int, ...]]()
    lengths = dict[tuple[int, ...], int]()
    for link in robot.links:
        if link.beam is not None:
            kind = tuple(each.count for each in link.beam.directions)
            beams[kind] += 1
            if kind not in lengths:
                q = SX.sym("q", sum(kind))
                column = casadi.cse(casadi.vertcat(*_sections(link.beam, places, q)))
                p = robot.parameters.symbols(robot.parameters.extent)  # sections may have asked for more of the shapes
                lengths[kind] = casadi.Function("sections", [q, p], [column]).n_instructions()
    return sum(count * lengths[kind] for kind, count in beams.items())


def _sections(beam: Beam, places: int, q: SX) -> list[SX]:
    """Origins and axes of cross-sections from root to tip, in the root frame, at the modal coordinates."""
    along = [float(xi) for xi in np.linspace(0, TIP, places)]
    return [part for pose in beam.poses(along, q) for part in (pose.r, casadi.vec(pose.R))]


def elements(robot: Robot, q: Array) -> Array:
    """Both ends (P, 2, 3) of each straight piece of massless elements at q (n,), in the base frame, m."""

    def ends() -> tuple[dict[str, SX], dict[str, SX]]:
        q = SX.sym("q", robot.n)  # among the outputs, since nothing at all has no trace
        return {"q": q}, {"q": q, "ends": casadi.vertcat(SX(0, 1), *_ends(robot, q))}

    return np.reshape(traced(robot, "elements", PURPOSE, ends)(q).get("ends", []), (-1, 2, 3))


def _ends(robot: Robot, q: SX) -> list[SX]:
    """The ends (3 x 1) of the pieces of elements, two of each."""
    world, found = frame(robot, WORLD), []
    for name, point in (end for each in robot.elements for piece in each.pieces for end in piece):
        pose = relative_motion(robot, q, frame(robot, name), world).pose
        found.append(pose.r + pose.R @ point)
    return found


@dataclass(frozen=True)
class Carried:
    """A rigid body with a mass (kg) on a link, in its tip frame or its root frame.

    ``com`` (3,) is its centre of mass, m, ``inertia`` (3, 3) its tensor there, kg m2; it may be a ``payload``.
    """

    link: int
    at_tip: bool
    payload: bool
    mass: float
    com: Array
    inertia: Array


def carried(robot: Robot) -> list[Carried]:
    """The rigid bodies, without those whose numbers have no value and those without mass."""
    found = []
    for i, on_link in enumerate(_rigid(robot)):
        for body, at_tip, payload in on_link:
            column = casadi.veccat(*map(casadi.densify, (body.mass, body.com, body.inertia)))
            if robot.parameters.free_in(column):
                continue
            mass, *numbers = robot.parameters.evaluate_all(column, PURPOSE)
            if mass > 0:
                com, inertia = np.array(numbers[:3]), np.reshape(numbers[3:], (3, 3))
                found.append(Carried(i, at_tip, payload, mass, com, inertia))
    return found


def _rigid(robot: Robot) -> Iterator[list[tuple[Body, bool, bool]]]:
    """The rigid bodies of each link, and of each whether it is at the tip, and a payload."""
    loaded = {entry.name for entry in robot.file.links if entry.payload is not None}
    for link in robot.links:
        hubs = [] if link.hub is None else [(link.hub, False, False)]
        yield [*hubs, *((body, True, link.name in loaded and body is link.bodies[-1]) for body in link.bodies)]


@dataclass(frozen=True)
class Bodies:
    """Rigid bodies that have a mass: masses (B,), kg, and centres of mass (3, B) in the base frame, m.

    Which of them are a ``payload`` (B,), and the origins (3, B) of the ``frames`` that carry them, m.
    """

    masses: Array
    centres: Array
    payload: npt.NDArray[np.bool_]
    frames: Array


def bodies(robot: Robot, q: Array) -> Bodies:
    """The bodies at q (n,), without those whose mass or place has no value."""

    def centres() -> tuple[dict[str, SX], dict[str, SX]]:
        q, places = SX.sym("q", robot.n), [SX(8, 1)]  # of the base, since nothing at all has no trace
        for on_link, (_, root, tip) in zip(_rigid(robot), link_frames(robot, q), strict=True):
            for body, at_tip, payload in on_link:
                at = tip if at_tip else root
                if not robot.parameters.free_in(casadi.vertcat(body.mass, body.com)):
                    centre = at.r + at.R @ body.com
                    places.append(casadi.vertcat(body.mass, payload, at.r, centre))
        return {"q": q}, {"bodies": casadi.horzcat(*places)}

    found = traced(robot, ("bodies", _free(robot)), PURPOSE, centres)(q)["bodies"].reshape(8, -1)
    masses, payload, *places = found[:, found[0] > 0]
    return Bodies(masses, np.array(places[3:]), payload > 0, np.array(places[:3]))


def sections(robot: Robot) -> Callable[[Array], list[Array]]:
    """Of every beam points (3, K) of its line (base frame, m) above unit vectors (3, K) along y of its sections."""

    def along() -> tuple[dict[str, SX], dict[str, SX]]:
        q, found = SX.sym("q", robot.n), {"none": SX(6, 1)}  # since nothing at all has no trace
        for link, (_, root, _) in zip(robot.links, link_frames(robot, q), strict=True):
            if link.beam is not None:
                poses = link.beam.poses(PLACES, q[link.modal, :])
                found[link.name] = casadi.horzcat(
                    *(casadi.vertcat(root.r + root.R @ pose.r, root.R @ pose.R[:, 1]) for pose in poses)
                )
        return {"q": q}, found

    trace = traced(robot, "sections", PURPOSE, along)
    return lambda q: [each for each in trace(q).values() if each.shape == (6, len(PLACES))]


def twists(robot: Robot, direction: Array) -> dict[str, Array]:
    """Angles (rad) by which sections of beams with torsion turn about them, by link, at the points of their lines.

    They are linear in the change of the coordinates (n,).
    """

    def angles() -> tuple[dict[str, SX], dict[str, SX]]:
        q, found = SX.sym("q", robot.n), {"none": SX(1, 1)}  # since nothing at all has no trace
        for link in robot.links:
            if link.beam is not None and link.beam.torsion.count:
                found[link.name] = casadi.vertcat(*(link.beam.twist(xi, q[link.modal, :]) for xi in PLACES))
        return {"q": q}, found

    turned = traced(robot, "twists", PURPOSE, angles)(direction)
    return {name: each for name, each in turned.items() if len(each) == len(PLACES)}
