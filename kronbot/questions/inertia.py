"""Coordinates that move no inertia, and the questions that refuse for it: told before these are asked."""

from __future__ import annotations

from collections.abc import Collection
from itertools import chain

import casadi
import numpy as np
from casadi import SX

from kronbot.description.described import placed
from kronbot.description.names import BASE
from kronbot.description.wording import listing
from kronbot.errors import Failure, Mistake
from kronbot.floats import Array
from kronbot.mechanics.linear.modal import mass_and_stiffness
from kronbot.mechanics.linear.regularity import idle, singular
from kronbot.mechanics.motion.drives import drives
from kronbot.mechanics.multibody.recursion import without_inertia
from kronbot.model.robot import Body, Robot

PURPOSE = "check"


def told_of_inertia(robot: Robot) -> tuple[Mistake, ...]:
    """What has none wherever the robot stands, what else has none at q = 0, and who refuses, at places in the file.

    Nothing is told where parameters have no value, and of robots that are too large for their mass matrix.
    """
    return robot.own("without inertia", lambda: _told(robot))


def _told(robot: Robot) -> tuple[Mistake, ...]:
    try:
        return _without_inertia(robot)
    except Failure:
        return ()


def _without_inertia(robot: Robot) -> tuple[Mistake, ...]:
    found, known, given = [], set[int](), drives(robot).prescribed
    for told, places in without_inertia(robot):
        found.append((places[0], f"{told}; {_refuse('modes', 'linearize', 'design', 'plan', *_runs(places, given))}"))
        known.update(places)
    if not _surely_regular(robot):
        M, _ = mass_and_stiffness(robot)
        rest = robot.others(known)
        if places := [rest[i] for i in idle(M[np.ix_(rest, rest)])]:
            free = [place for place in rest if place not in given]
            runs = _runs([free[i] for i in idle(M[np.ix_(free, free)])], given)
            locked = not known and _locked_by_modes(robot).issuperset(places)
            told = f"at q = 0 {singular([robot.coordinates[place] for place in places])}; "
            told += f"{_refuse(*(() if locked else ('modes',)), 'linearize', *runs)} there"
            if locked:
                told += f", modes keeps {'it' if len(places) == 1 else 'them'} locked"
            found.append((places[0], told))
    each = (placed(robot.description, [(_path(robot, place), told, False)]) for place, told in found)
    return tuple(chain.from_iterable(each))  # one by one: of a place more than one may be told


def _runs(places: Collection[int], given: Collection[int]) -> list[str]:
    """The question that refuses where one of these is not given."""
    return [] if set(places) <= set(given) else ["simulate"]


def _refuse(*questions: str) -> str:
    return f"{listing(questions)} refuse{'s' if len(questions) == 1 else ''}"


def _locked_by_modes(robot: Robot) -> frozenset[int]:
    from kronbot.questions.modes import Vibrations  # here, since few robots have such joints

    return Vibrations(robot).idle(robot.undeformed(np.zeros((1, robot.n))))[0]


def _surely_regular(robot: Robot) -> bool:
    """Whether M is regular anywhere, at a glance: all is rigid, and each joint turns, or slides, a link with inertia.

    Where the links below stand still the energy of a link is that of its own joint: outwards none is 0.
    """
    if robot.base or robot.flexible or robot.followers:
        return False
    none = Body(SX(0), SX(3, 1), SX(3, 3))
    of_bodies, inertias = [SX(0, 1)], []
    for joint in robot.joints:
        link = next(link for link in robot.links if link.joint is joint)
        framed = [(link.hub or none, SX.eye(3), SX(0)), *((b, link.row.after, link.row.along) for b in link.bodies)]
        of_bodies += [casadi.veccat(b.mass, b.com, b.inertia, R, along) for b, R, along in framed]
        inertias.append((joint, len(framed)))
    numbers = iter(np.reshape(robot.parameters.evaluate_all(casadi.vertcat(*of_bodies), PURPOSE), (-1, 23)))
    rotors = robot.parameters.evaluate_all(casadi.vertcat(SX(0, 1), *(j.rotor_inertia for j, _ in inertias)), PURPOSE)
    return all(
        rotor + sum(_about_axis(next(numbers), joint.revolute) for _ in range(count)) > 0
        for (joint, count), rotor in zip(inertias, rotors, strict=True)
    )


def _about_axis(numbers: Array, turning: bool) -> float:
    """The inertia of a body about its joint's axis (kg m2), or its mass (kg)."""
    mass, com, inertia = numbers[0], numbers[1:4], numbers[4:13].reshape(3, 3)
    R = numbers[13:22].reshape(3, 3).T
    x, y, _ = R @ com + (numbers[22], 0, 0)
    return float(R[2] @ inertia @ R[2] + mass * (x * x + y * y)) if turning else float(mass)


def _path(robot: Robot, place: int) -> tuple[str | int, ...]:
    """Where the file says what moves with a coordinate: a joint, a beam's modes or the base."""
    owner, _, part = robot.coordinates[place].partition(".")
    of_beam = part[-1:].isdigit()  # v1, and not motor, x or rx
    for i, entry in enumerate(robot.file.links):
        if of_beam and owner == entry.name:
            return "links", i, "flexible", "modes"
        if not of_beam and owner == entry.joint.name:
            return "links", i, "joint"
    return (BASE,)
