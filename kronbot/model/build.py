"""From the description of a robot to its model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

import casadi
from casadi import SX, skew

from kronbot.description import Description, schema
from kronbot.description import joint as described
from kronbot.description.choices import ORDERS
from kronbot.description.compliance import compliances, stiffened
from kronbot.description.entries import ZERO
from kronbot.description.joint import TILTS
from kronbot.description.names import FREEDOMS, carriers, is_fixed_frame
from kronbot.description.placing import placed
from kronbot.description.wording import Entries, quote
from kronbot.errors import UsageError
from kronbot.model import dh
from kronbot.model.beam import Beam, Direction
from kronbot.model.damping import modal_damping, rayleigh_damping
from kronbot.model.dh import Row
from kronbot.model.element import element
from kronbot.model.floating import base_links
from kronbot.model.joint import Joint, Spring, Stop, joints_of, springs_of, stops_of
from kronbot.model.motions import motion
from kronbot.model.parameter_rows import Rows
from kronbot.model.parameters import Parameters
from kronbot.model.pose import Pose
from kronbot.model.robot import BASE, Body, Endpoint, Link, Robot
from kronbot.model.shape_functions import BENDING, TORSION, Shapes, clamped_mass, legendre
from kronbot.model.spline import tabulated

if TYPE_CHECKING:
    from kronbot.description.table import Table

STILL = schema.Modes(v=0, w=0, torsion=0)


def build(description: Description, order: str, parameters: Parameters | None = None, compliant: bool = False) -> Robot:
    """The model of a described robot at a kinematic order ("0", "1", "2" or "exact").

    Joints whose compliance is 0 are rigid, unless it is to be ``compliant``: then they have their coordinates. A robot
    without compliances never is.
    Models of one robot at several orders meet in one trace by sharing ``parameters``. Raises UsageError where a number
    is needed and a parameter is free (shapes ``clamped-mass`` or of a table), DescriptionError where a table is wrong.
    """
    if order not in ORDERS:
        raise UsageError(f"order must be one of {', '.join(map(repr, ORDERS))}, not {quote(order)}")
    file = description.robot
    if parameters is None:
        parameters = Parameters(file.parameters, description.values)
    known = tuple(compliances(file))
    compliant = compliant and bool(known)
    rigid = frozenset(each.part for each in known if not compliant and parameters.vanishes(each.value))
    file = stiffened(file, rigid) if rigid else file
    names = carriers(file)
    links: list[Link] = []
    if file.base.floats:
        links += base_links(None if file.base.rigid is None else _body(file.base.rigid, parameters))
    before = len(links) - 1  # what the first link stands on: BASE where that does not move
    tilting = [entry.joint.bearing is not None for entry in file.links]
    # A link stands behind its bearing.
    places = {entry.name: before + 1 + i + sum(tilting[: i + 1]) for i, entry in enumerate(file.links)}
    if file.base.floats:
        places[names[0]] = before
    springs: list[Spring] = []
    stops: list[Stop] = []
    joints, slack = joints_of(file, order, parameters)
    n = len(FREEDOMS) if file.base.floats else 0
    for i, entry in enumerate(file.links):
        if entry.parent is None:
            parent = places[file.links[i - 1].name] if i else before
        else:
            parent = BASE if is_fixed_frame(entry.parent, names) else places[entry.parent]
        link = _link(entry, parent, n, joints.get(entry.joint.name or ""), description, order, parameters)
        if tilting[i]:
            bearing, link = _on_bearing(entry.joint, link, len(links))
            links.append(bearing)
        tilts = links[-1].modal.start if tilting[i] else n
        springs += springs_of(entry.joint, link.joint, tilts, slack, parameters, compliant)
        stops += stops_of(entry.joint, link.joint, parameters)
        n = link.modal.stop
        links.append(link)
    turning = {link.joint.name for link in links if link.joint is not None and link.joint.revolute}
    return Robot(
        description=description,
        order=order,
        parameters=parameters,
        links=tuple(links),
        springs=tuple(springs),
        stops=tuple(stops),
        attachments=tuple((place, *each) for place, each in slack.items()),
        elements=tuple(element(entry, parameters, description.tables) for entry in file.elements),
        gravity=parameters.vector(file.gravity),
        endpoint=Endpoint(
            len(links) - 1 if file.endpoint.link is None else places[file.endpoint.link],
            parameters.vector(file.endpoint.position),
        ),
        motions=Entries(
            (joint, motion(entry, parameters, description.tables, joint, joint in turning))
            for joint, entry in file.motion.items()
        ),
        rigid_parts=rigid,
        compliant=compliant,
    )


def at_order(robot: Robot, order: str) -> Robot:
    """The same robot at another kinematic order, sharing its parameters: traced once for all robots of its structure.

    Raises UsageError and DescriptionError as :func:`build`.
    """
    if order == robot.order:
        return robot
    parameters = robot.parameters
    model = robot.kept(("model", order), lambda: build(robot.description, order, parameters, robot.compliant))
    return model.of_values(robot.description, parameters)


def numbers_apart(robot: Robot) -> Robot:
    """The same robot with a symbol of its own for every number of its file, whatever other numbers equal it.

    So it shows what is true because two numbers are equal. What the file states by one name of its ``parameters`` is
    one. Made once for all robots of a structure.
    """
    parameters = robot.parameters

    def made() -> Robot:
        said = robot.description
        return build(replace(said, robot=placed(said.robot)), robot.order, parameters.written_out(), robot.compliant)

    return robot.kept("apart", made).of_values(robot.description, parameters)


def rigid_arm(robot: Robot) -> Robot:
    """The same robot with all that yields made rigid, sharing its parameters: coordinates are its joints.

    Beams are rigid (order "0"), shafts and bearings too.
    """
    stiff = tuple(replace(link, joint=replace(link.joint, elastic=None, bearing=None)) for link in robot.file.links)
    file = replace(robot.file, links=stiff)
    return build(replace(robot.description, robot=file), "0", robot.parameters)


def anew_at_order(robot: Robot, order: str) -> Robot:
    """The same with parameters of its own, as if it was built at that order: once for all robots of a structure."""
    built = robot.kept(("anew", order), lambda: build(robot.description, order, compliant=robot.compliant))
    return with_values(built, robot.description)


def compliant(robot: Robot) -> Robot:
    """The robot that statics asks: joints with a compliance have their coordinates, whatever it is, and no value of it
    makes another trace."""
    if robot.compliant or not any(compliances(robot.description.robot)):
        return robot
    built = robot.kept("compliant", lambda: build(robot.description, robot.order, compliant=True))
    return with_values(built, robot.description)


def with_values(robot: Robot, description: Description) -> Robot:
    """The model of the same file with other values of its parameters.

    Of the same traces where these allow it, of those of a relative, or new.
    """
    for known in chain([robot], robot.relatives):
        parameters = known.parameters.with_values(description.robot.parameters, description.values)
        if parameters is not None:
            return known.of_values(description, parameters)
    built = replace(build(description, robot.order, compliant=robot.compliant), relatives=robot.relatives)
    robot.relatives.add(robot, built)
    return built


def together(robots: Sequence[Robot]) -> Robot:
    """Robots of one structure (:attr:`Parameters.structure`) as one, whose traces have a row of values for each."""
    first = robots[0]
    if len(robots) == 1:
        return first
    return first.of_values(first.description, Rows([robot.parameters for robot in robots]))


def _link(
    entry: schema.Link,
    parent: int,
    n: int,
    joint: Joint | None,
    description: Description,
    order: str,
    parameters: Parameters,
) -> Link:
    if entry.dh is not None:
        convention = description.robot.convention
        assert convention is not None, "a rule of files with rows"
        row = dh.CONVENTIONS[convention](entry.dh, parameters)
    else:
        row = dh.placed_row(entry.pose or schema.Placement(), parameters)
    start = n + (0 if joint is None else joint.own)
    start += 0 if entry.joint.bearing is None else len(entry.joint.bearing.axes)
    beam = None
    if entry.flexible is not None:
        beam = _beam(entry, entry.flexible, row, order, parameters, description.tables)
    at_tip = [_body(body, parameters) for body in (entry.rigid, entry.payload) if body is not None]
    return Link(
        name=entry.name,
        parent=parent,
        joint=joint,
        row=row,
        modal=slice(start, start + (0 if beam is None else beam.n)),
        beam=beam,
        damping=SX(0, 0) if beam is None or entry.flexible is None else _damping(entry.flexible, beam, parameters),
        hub=None if entry.hub is None else _body(entry.hub, parameters),
        bodies=tuple(at_tip),
    )


def _on_bearing(entry: described.Joint, link: Link, place: int) -> tuple[Link, Link]:
    """The bearing of a link's joint as a massless link at that place, which tilts before the joint, and it."""
    assert entry.bearing is not None and link.joint is not None
    still = Row(Pose.identity(), ZERO, SX(0), along=SX(0), after=SX.eye(3))
    tilts = tuple(TILTS.index(axis) for axis in entry.bearing.axes)
    bearing = Link(
        name=f"bearing of {link.joint.name}",
        parent=link.parent,
        joint=None,
        row=replace(still, before=link.row.before),
        modal=slice(link.modal.start - len(tilts), link.modal.start),
        beam=None,
        damping=SX(len(tilts), len(tilts)),
        hub=None,
        bodies=(),
        tilts=tilts,
    )
    return bearing, replace(link, parent=place, row=replace(link.row, before=Pose.identity()))


def _body(entry: schema.Body, parameters: Parameters) -> Body:
    tensor = entry.inertia
    xx, yy, zz, xy, xz, yz = (
        parameters.number(value) for value in (tensor.Ixx, tensor.Iyy, tensor.Izz, tensor.Ixy, tensor.Ixz, tensor.Iyz)
    )
    inertia = casadi.blockcat([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return Body(parameters.number(entry.mass), parameters.vector(entry.com), inertia)


def _turned(body: Body, R: SX) -> Body:
    """The body in axes from which its own are turned by R."""
    return Body(body.mass, R @ body.com, R @ body.inertia @ R.T)


def _beam(
    entry: schema.Link,
    flexible: schema.Flexible,
    row: Row,
    order: str,
    parameters: Parameters,
    tables: Mapping[str, Table],
) -> Beam:
    root = parameters.number(flexible.root)
    length = row.along - root if flexible.length is None else parameters.number(flexible.length)
    modes = STILL if order == "0" else flexible.modes
    wanted = f"link {entry.name!r}: shape"
    if isinstance(flexible.shape, schema.TableFile):
        v, w, t = _tabulated_shapes(flexible.shape, modes, length, parameters, f"{wanted} from a table", tables)
    else:
        # The payload seen in the axes of the beam: the tip frame is turned by Rx(alpha) against them.
        tip = None if entry.payload is None else _turned(_body(entry.payload, parameters), row.after)
        if flexible.shape == "clamped-mass":
            v, w = _loaded_shapes(flexible, modes, length, tip, parameters, f"{wanted} clamped-mass")
        else:
            v, w = (BENDING[flexible.shape](count) for count in (modes.v, modes.w))
        t = TORSION[flexible.shape](modes.torsion)
    return Beam(
        name=entry.name,
        order=order,
        parameters=parameters,
        root=root,
        length=length,
        mass=parameters.number(flexible.mass),
        polar_inertia=parameters.number(flexible.polar_inertia),
        v=Direction("v", v, parameters.number(flexible.EI.z), strain=2),
        w=Direction("w", w, parameters.number(flexible.EI.y), strain=2),
        torsion=Direction("t", t, parameters.number(flexible.GJ), strain=1),
    )


def _tabulated_shapes(
    shape: schema.TableFile,
    modes: schema.Modes,
    length: SX,
    parameters: Parameters,
    wanted: str,
    tables: Mapping[str, Table],
) -> tuple[Shapes, Shapes, Shapes]:
    """Shapes of v, w and torsion from a table; a beam without modes does not ask for it."""
    counts = {"v": modes.v, "w": modes.w, "t": modes.torsion}
    if not any(counts.values()):
        return legendre(0), legendre(0), legendre(0)
    shapes = tabulated(tables[shape.file].shapes(parameters.shape_by(length, wanted), counts), counts)
    return shapes["v"], shapes["w"], shapes["t"]


def _loaded_shapes(
    flexible: schema.Flexible, modes: schema.Modes, length: SX, tip: Body | None, parameters: Parameters, wanted: str
) -> tuple[Shapes, Shapes]:
    """Shapes of v and w of a beam with a mass at its tip: they differ in the two planes by the tip's inertia."""
    if flexible.tip is not None:
        mass = parameters.number(flexible.tip.mass)
        about_z = about_y = parameters.number(flexible.tip.inertia)
    elif tip is not None:
        mass = tip.mass
        about_tip = tip.inertia - tip.mass * skew(tip.com) @ skew(tip.com)
        about_z, about_y = about_tip[2, 2], about_tip[1, 1]
    else:
        mass = about_z = about_y = SX(0)
    beam_mass = parameters.number(flexible.mass)
    mu = parameters.shape_by(mass / beam_mass, f"{wanted}, its tip's mass")
    iota_z, iota_y = (
        parameters.shape_by(inertia / (beam_mass * length**2), f"{wanted}, its tip's inertia about {axis}")
        for axis, inertia in (("z", about_z), ("y", about_y))
    )
    return clamped_mass(modes.v, mu, iota_z), clamped_mass(modes.w, mu, iota_y)


def _damping(entry: schema.Flexible, beam: Beam, parameters: Parameters) -> SX:
    damping = entry.damping
    if damping.ratio is None:
        return rayleigh_damping(beam, parameters.number(damping.alpha), parameters.number(damping.beta))
    if isinstance(damping.ratio, tuple):
        # At order 0 the file still lists a ratio for every mode that the beam would have.
        return modal_damping(beam, tuple(parameters.number(ratio) for ratio in damping.ratio[: beam.n]))
    return modal_damping(beam, (parameters.number(damping.ratio),) * beam.n)
