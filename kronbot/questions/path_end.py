"""What is told where a path of equilibria ends: how far beams are bent there, and whether units may be wrong."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

import numpy as np

from kronbot.description.wording import listing
from kronbot.errors import Argument
from kronbot.floats import Array, all_finite, rounded
from kronbot.mechanics.static.equilibria import Case, Equilibria, Shares, whole
from kronbot.mechanics.static.equilibrium import Lost, Path, metric
from kronbot.mechanics.static.small import beyond_small, tips
from kronbot.mechanics.static.static_model import PURPOSE
from kronbot.mechanics.static.tangent import SOFT, to_unit
from kronbot.model.robot import Robot
from kronbot.questions.elements import demand_directions

# Beams that a load turns by more than this (rad) by linear theory are not of this world.
ABSURD = 10.0
# A share of the largest stiffness: less is none. And one of the way that is gone without any: less is rounding.
LOOSE, MOVES = 1e-14, 1e-6
# What nothing holds is loose further on, too (rad, m), on one side at least: on the other one may be a stop. Each joint
# is by a share of the one before it away: of equal ways some may happen to have no stiffness.
ELSEWHERE, APART = (0.37, -0.61), 0.83


def told(robot: Robot, path: Path, straight: Array, lost: Lost, what: str, purpose: str) -> str:
    """Where the path from the ``straight`` state q (n,) ends; ``what`` grows along it is named.

    Raises ComputationError where an element has no direction there, or at its beginning.
    """
    for at in (straight, lost.q):
        demand_directions(robot, at[None], f" at {', '.join(posture(robot, at[list(robot.rigid)]))}")
    bent = [f"the tip of {name} is {tip[0, 0]:.3g} m off, {rounded(100 * tip[0, 1], 3)} % of its length"
            for name, tip in tips(robot, purpose, lost.q[None]).items()]  # fmt: skip
    end = f"no stable path of equilibria beyond {lost.share:.4g} of the {what}"
    if lost.share > 1 - MOVES:
        end = f"at the end of the {what} nothing holds the robot in some direction: it has no place of its own"
    text = f"{end}; there "
    text += " and ".join(bent) or "all links are rigid"
    turn = _linear_turn(path, straight)
    if turn > ABSURD:
        far = f"{turn:.3g} rad" if turn < np.inf else "more rad than any number says"
        text += f"; by linear theory beams would turn by {far}: are EI, lengths and masses in SI units?"
    return text


def way(equilibria: Equilibria, case: Case) -> str:
    """What grows along the path of a case that has ended: loads where joints are held, behind that torques."""
    if case.torques and not equilibria.newton(equilibria.cases([replace(case, torques={})])).lost[0]:
        if set(case.torques) <= {*equilibria.robot.base}:
            return "way from the forces that hold the base to none"
        return "way from the torques that hold these angles to those that are given"
    return "way from the forces that hold the start to none" if case.start.any() else "load"


def loose(equilibria: Equilibria, case: Case, lost: Lost, acting: Shares = whole) -> list[str | Argument]:
    """Joints with torques that move without any stiffness where the path ended and further on, neither of gravity nor
    of loads, as far as these are ``acting``, told with a cure; nothing where there are none.
    """
    robot, shares = equilibria.robot, acting(np.ones(1))
    count, free = _loose(equilibria, case, lost.q, shares)
    if free:
        joints = list(case.torques)
        moved = np.repeat(lost.q[None], len(ELSEWHERE), axis=0)
        moved[:, joints] += np.outer(ELSEWHERE, APART ** np.arange(len(joints)))
        counts, others = zip(*(_loose(equilibria, case, q, shares) for q in moved), strict=True)
        count, free = min(count, max(counts)), free & set[int]().union(*others)
    if not free:
        return []
    told = (
        f"{_in_words(robot, count, free)}: no torque has an angle of its own there; {_cure(count, free)} in place of "
    )
    told += "torques, or what holds: a spring, elements, gravity"
    return [told, *stops_ahead(robot, {place: case.torques[place] for place in sorted(free)})]


def told_of_soft(equilibria: Equilibria, case: Case, q: Array) -> str:
    """That there is no compliance at an equilibrium q (n,), in which a direction has no stiffness."""
    count, free = _loose(equilibria, case, q, whole(np.ones(1)))
    why = (
        f"{_in_words(equilibria.robot, count, free)} there; {_cure(count, free)} in place of torques" if free else SOFT
    )
    return f"no compliance and stiffness are told: {why}"


def _in_words(robot: Robot, count: int, places: Collection[int]) -> str:
    """That so many directions, in which joints move by places of what torques act on, have no stiffness."""
    names = listing(joints_at(robot, sorted(places)))
    if count >= len(places):
        return f"nothing holds {names}"
    return f"nothing holds {'a direction' if count == 1 else f'{count} directions'} in which {names} move together"


def _cure(count: int, places: Collection[int]) -> str:
    if count >= len(places):
        return "give angles"
    return "give the angle of one of them" if count == 1 else f"give the angles of {count} of them"


def _loose(equilibria: Equilibria, case: Case, q: Array, shares: Array) -> tuple[int, set[int]]:
    """How many directions the null space of the stiffness at q (n,) has, and places of joints with torques in it, in
    which what yields in them moves along."""
    cases = equilibria.cases([case])
    K = equilibria.stiffness(q[None], cases.loads, shares, cases.free)[1][0]
    U = to_unit(metric(equilibria.robot, cases.free, PURPOSE))
    try:
        _, values, rows = np.linalg.svd(all_finite(U @ K @ U.T))
    except np.linalg.LinAlgError:
        return 0, set()
    ways = np.abs(rows[values <= LOOSE * values.max(initial=0.0)] @ U)
    moving = (ways > MOVES * ways.max(axis=1, initial=0.0, keepdims=True)).any(axis=0)
    return len(ways), {
        place for place, moves in zip(cases.free, moving, strict=True) if moves and place in case.torques
    }


def joints_at(robot: Robot, places: Iterable[int]) -> list[str]:
    """Joints by the places of what torques act on."""
    names = {joint.driven: joint.name for joint in robot.joints}
    return [names.get(place, robot.coordinates[place]) for place in places]


def stops_ahead(robot: Robot, torques: Mapping[int, float]) -> list[str | Argument]:
    """As a cure the stops that torques, by place, push to: there they hold, where a search begins with them."""
    ends = {each.joint: (each.low, each.high) for each in robot.limits if each.stops}
    pushed = zip(joints_at(robot, torques), torques.values(), strict=True)
    ahead = ((name, ends[name][torque > 0]) for name, torque in pushed if torque and name in ends)
    values = ",".join(f"{name}={end!r}".removesuffix(".0") for name, end in ahead if np.isfinite(end))
    return ["; or begin at what stops the torque: ", Argument("q", values)] if values else []


def other_order(robot: Robot, lost: Lost, purpose: str) -> list[str | Argument]:
    """The order whose deflections have no bound, as a cure, where the one that is taken does not hold: order 2, which
    has all terms of small ones, for beams that are bent further where the path ended.
    """
    helps = robot.order != "2" or beyond_small(robot, lost.q[None], purpose).any()
    return [" or ", Argument("order", "exact")] if robot.flexible and robot.order != "exact" and helps else []


def posture(robot: Robot, angles: Array) -> list[str]:
    """Joint values (joints,) in words."""
    return [f"{joint.name} = {value:.4g}" for joint, value in zip(robot.joints, angles, strict=True)]


def _linear_turn(path: Path, straight: Array) -> float:
    """The size (rad) of the answer to the whole load of the stiffness before it."""
    F, K = path.balance(straight, 1.0)[0], path.balance(straight, 0.0)[1]
    most = float(np.abs(F).max(initial=0.0))
    try:
        change = np.linalg.lstsq(all_finite(K), all_finite(F / (most or 1.0)))[0]
    except np.linalg.LinAlgError:
        return 0.0
    largest = float(np.abs(change).max(initial=0.0))  # of squares of more there is no number
    return most * largest * path.size(change / (largest or 1.0))
