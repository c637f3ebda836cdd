"""Frames of a robot and their motion: poses, Jacobians and Hessians relative to any other frame.

A frame is named as on the command line: ``endpoint``, ``LINK`` (its tip frame), ``LINK:root``, ``com:LINK`` (the
centre of mass of all bodies of the link, with the axes of its tip frame), ``base``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile

import casadi
import numpy as np
from casadi import SX

from kronbot.description import limits
from kronbot.description.names import frames, is_fixed_frame
from kronbot.description.wording import did_you_mean, listing, quote
from kronbot.errors import Argument, ComputationError, UsageError
from kronbot.floats import Array
from kronbot.kronecker.taylor import directional
from kronbot.mechanics.multibody.inertia import Rigid, Section, carried, link_inertia, section
from kronbot.mechanics.multibody.relative_motion import RelativeMotion, Step, along
from kronbot.mechanics.multibody.state import LinkState, State
from kronbot.model.pose import CrossSection, Pose
from kronbot.model.robot import BASE, Link, Robot
from kronbot.records import dataclass


def link_frames(robot: Robot, q: SX) -> list[tuple[Pose, Pose, Pose]]:
    """For every link, at q (n x 1) in the base frame: its parent's tip frame, its own root frame and tip frame."""
    frames: dict[int, tuple[Pose, Pose, Pose]] = {}
    for i in robot.outward:
        link = robot.links[i]
        before = Pose.identity() if link.parent == BASE else frames[link.parent][-1]
        root = before @ link.root_pose(q, robot.parameters)
        frames[i] = before, root, root @ link.tip(q[link.modal, :]).pose
    return [frames[i] for i in range(len(robot.links))]


def tip_frame(at: LinkState) -> Pose:
    """The tip frame of a link in the base frame."""
    return at.pose @ at.tip.pose


def endpoint(state: State) -> SX:
    """Position (3 x 1, m) of the endpoint in the base frame."""
    robot = state.robot
    frame = tip_frame(state.links[robot.endpoint.link])
    return frame.r + frame.R @ robot.endpoint.position


@dataclass(frozen=True)
class Frame:
    """A frame of a robot: its name and the frames on the way to it from the base, each as (link, which).

    ``which`` is "root", "tip", "com" or "endpoint".
    """

    name: str
    way: tuple[tuple[int, str], ...]


def frame(robot: Robot, name: str) -> Frame:
    """The frame of that name. Raises UsageError that lists the names there are."""
    names = [link.name for link in robot.links]
    if is_fixed_frame(name, names):
        return Frame(name, ())
    if name == "endpoint":
        return Frame(name, (*_way(robot, robot.endpoint.link), (robot.endpoint.link, "endpoint")))
    head, colon, tail = name.partition(":")
    if not colon and head in names:
        return Frame(name, _way(robot, names.index(head)))
    if tail == "root" and head in names:
        return Frame(name, _way(robot, names.index(head))[:-1])
    if head == "com" and tail in names:
        link = names.index(tail)
        return Frame(name, (*_way(robot, link)[:-1], (link, "com")))
    known = frames(robot.file)
    parts, hint = [part.strip() for part in name.split(",")], did_you_mean(name, known)
    if len(parts) > 1 and {*parts} <= {*known}:
        hint = f": it is {len(parts)}, give each by itself"
    raise UsageError(
        f"no frame {quote(name)}{hint}{' Frames' if hint.endswith('?') else '; frames'} are {listing(known)}"
    )


def relative_motion(robot: Robot, q: SX, of: Frame, to: Frame) -> RelativeMotion:
    """The motion of one frame relative to another, in the axes of the other, by the recursion over the frames between.

    q (n x 1) holds symbols. Raises ComputationError where the centre of mass of a massless link is asked for.
    """
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(of.way, to.way, strict=False)))
    back = [_step(robot, q, *place).reversed() for place in reversed(to.way[shared:])]
    there = [_step(robot, q, *place) for place in of.way[shared:]]
    return along([*back, *there], robot.n)


def _way(robot: Robot, link: int) -> tuple[tuple[int, str], ...]:
    """Root and tip frames from the base to the tip of a link."""
    way: tuple[tuple[int, str], ...] = ()
    while link != BASE:
        way = ((link, "root"), (link, "tip"), *way)
        link = robot.links[link].parent
    return way


def _step(robot: Robot, q: SX, place: int, which: str) -> Step:
    """The step that leads to a frame from the one before it."""
    link = robot.links[place]
    if which == "root":
        return _joint_step(robot, link, q)
    if which == "endpoint":
        return Step(Pose(robot.endpoint.position, SX.eye(3)), (), SX(0, 1), SX(3, 0), SX(3, 0))
    q_f = q[link.modal, :]
    places = tuple(range(link.modal.start, link.modal.stop))
    at = centre_of_mass(link, q_f, SX(link.modes, 1)).place if which == "com" else link.tip(q_f)
    return Step(at.pose, places, q_f, at.J_T, at.J_R)


def _joint_step(robot: Robot, link: Link, q: SX) -> Step:
    """From the tip frame of the parent to the root frame: constant Jacobians about or along the joint's axis."""
    pose = link.root_pose(q, robot.parameters)
    if link.joint is None:
        return Step(pose, (), SX(0, 1), SX(3, 0), SX(3, 0))
    axis = link.row.before.R[:, 2]
    J_T, J_R = (SX(3, 1), axis) if link.joint.revolute else (axis, SX(3, 1))
    places, shares = zip(*link.joint.shares, strict=True)
    row = casadi.horzcat(*shares)
    return Step(pose, places, q[list(places), :], J_T @ row, J_R @ row)


def centre_of_mass(link: Link, q_f: SX, qd_f: SX) -> Section:
    """The centre of mass of all bodies of a link, in its root frame, with the axes of its tip.

    Its derivatives are those of the first moment of mass, which the inertia of the link holds. Raises ComputationError
    where the link has no mass.
    """
    tip = section(link.tip(q_f), q_f, qd_f)
    own, at_tip = link_inertia(link, tip, SX(3, 1), q_f, qd_f)
    M, gamma = own.M + carried(at_tip, tip), own.gamma + tip.on_link(at_tip.gamma)
    whole = Rigid.within(M)
    if whole.mass.is_zero():
        raise ComputationError(f"link {link.name!r} has no mass, hence no centre of mass")
    J_T = M[:3, 6:] / whole.mass
    place = CrossSection(Pose(whole.moment / whole.mass, tip.pose.R), J_T, tip.place.slope, tip.place.theta)
    return replace(tip, place=place, v=J_T @ qd_f, a=gamma[:3] / whole.mass)


def truncated(
    robot: Robot, q: SX, expression: SX, degree: int, others: Sequence[int] = (), about: SX | None = None
) -> SX:
    """The Taylor polynomial of that degree in the flexible coordinates about where nothing is deformed, by entry.

    Of degree 1 it makes Piedboeuf's (26) of the endpoint Jacobian of order 2: zero and first order in q_f kept. It is
    one in ``others``, places in q, too: about ``about``.
    """
    q_f = q[[*robot.flexible, *others], :]
    if q_f.is_empty():
        return expression
    eta, rest = SX.sym("eta", q_f.rows()), casadi.vertcat(*attached(robot, q), SX(0, 1) if about is None else about)
    polynomial = sum(directional(expression, q_f, eta, degree), SX.zeros(expression.shape))
    return casadi.substitute(casadi.substitute(polynomial, q_f, rest), eta, q_f - rest)


def demand_told_apart(robot: Robot, values: Array, places: Sequence[int], *what: str | Argument) -> None:
    """Raise UsageError where values (..., k) of coordinates at these places are so large that digits of what they move
    are lost; ``what`` they are begins the message."""
    if (lost := np.abs(values) > limits.LARGEST).any():
        at = tuple(np.argwhere(lost)[0])
        place = places[at[-1]]
        name, unit = robot.coordinates[place], robot.units[place]
        cure = ": whole turns leave an angle as it is, take them off" if unit == "rad" else ""
        said = (
            f": {name} = {float(values[at]):.6g} {unit}; {limits.LARGEST:g} is the limit, where a double tells a value"
        )
        raise UsageError(*what, f"{said} from the next to 1e-4{cure}")


def attached(robot: Robot, q: SX, *rates: SX) -> list[SX]:
    """The flexible entries of q, and of qd, qdd (n x 1 each), where nothing is deformed, by their rigid ones."""
    U, u = (part[list(robot.flexible), :] for part in robot.attachment)
    by_rigid = [U @ each[list(robot.rigid), :] for each in (q, *rates)]
    return [casadi.densify(each) for each in (by_rigid[0] + u, *by_rigid[1:])]


def completed(robot: Robot, given: Mapping[int, float | Array], word: str, shape: tuple[int, ...] = ()) -> Array:
    """Values (*shape, n) of q, qd or qdd, the ``word``, of which some are given by place: joints are at 0 else.

    What else is not given is where nothing is deformed; of an elastic joint one of link and motor alone is both.
    """
    values = np.zeros((*shape, robot.n))
    for place, value in given.items():
        values[..., place] = value
    return filled(robot, values, given, word)


def filled(robot: Robot, values: Array, given: Collection[int], word: str) -> Array:
    """The same where values (..., n) hold what is ``given`` by place, and zeros."""
    # Without shafts nothing is deformed where its coordinate is 0.
    if not robot.attachments or len(given) == robot.n or (not given and word != "q"):
        return values
    known = robot.with_shafts({place: values[..., place] for place in given})
    for place in known.keys() - given:
        values[..., place] = known[place]
    straight = robot.undeformed(values) if word == "q" else robot.undeformed_rates(values)
    for place in known.keys() - robot.rigid:  # those are as they were
        straight[..., place] = values[..., place]
    return straight
