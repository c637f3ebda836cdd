"""How many times its load a robot bears: the first multiple at which the tangent stiffness is singular.

The loads on endpoint, frames and beams are multiplied, gravity is not; gravity is where there is no other load. What
elements exert never is, nor are torques of joints: such joints are free all the way, as beams are.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from kronbot.compute.arrays import Scalar
from kronbot.description.wording import listing
from kronbot.errors import Argument, ComputationError, KronbotError
from kronbot.floats import Array
from kronbot.mechanics.static.critical import NEAR, Critical, at_end, of_pencil
from kronbot.mechanics.static.equilibria import Case, Equilibria, Shares
from kronbot.mechanics.static.equilibrium import Lost, Path
from kronbot.mechanics.static.small import beyond_small
from kronbot.mechanics.static.static_model import PURPOSE
from kronbot.mechanics.static.tangent import Tangent, to_unit
from kronbot.model.floating import hung
from kronbot.questions.elements import demand_directions
from kronbot.questions.path_end import joints_at, loose, stops_ahead
from kronbot.questions.static_report import demand_supports

GRAVITY, _, LOADS = np.eye(3)
# Steps to the multiple that the linear estimate gives, growing from one to the next, and where the search ends.
STEPS, GROWTH, FURTHEST = 16, 1.1, 100.0


def buckling(equilibria: Equilibria, case: Case, solver: str) -> dict[str, Scalar]:
    """The factor for a case: along the path of equilibria (``newton``), or of the straight beams (``linear``).

    It has an error, of rounding and, on the path, of its extrapolation. There deflections beyond what the order is made
    for are told, since the path of such an order may end where no beam buckles. Raises ComputationError where the robot
    buckles under its weight before any load, where torques find no balance before it, an element has no direction, or
    nothing loads it; UsageError where a floating base would have to bear the loads.
    """
    cases = equilibria.cases([case])
    straight, loads, free = cases.straight[0], cases.loads, cases.free
    if not free:
        return {"buckling": "none: all links are rigid"}
    demand_directions(equilibria.robot, cases.straight)
    multiplied = _multiplied(equilibria, loads[0], straight)
    path = equilibria.paths(loads, free, multiplied, cases.torques).of(0)
    if solver == "linear":
        linear = _of_pencil(path, straight)
        return {"buckling": "none"} if linear is None else _told(linear)
    before = _before(equilibria, case, multiplied)
    lost, passed = _on_path(path, before)
    if isinstance(lost, float):
        found: dict[str, Scalar] = {"buckling": f"none up to {lost:.3g} times the load"}
    else:
        found = _told(at_end(path, before, lost))
        if not Tangent(path.balance(lost.q, lost.share)[2], to_unit(path.metric)).index[0]:
            found["buckling"] = "by divergence; flutter may come first, since moments in space have no potential"
    if beyond_small(equilibria.robot, passed, PURPOSE).any():
        found["buckling_beyond_small_deflections"] = True
    return found


def tells(equilibria: Equilibria, case: Case) -> bool:
    """Whether :func:`buckling` along the path tells how much of the load, of which not all is borne, is."""
    cases = equilibria.cases([case])
    try:
        multiplied = _multiplied(equilibria, cases.loads[0], cases.straight[0])
        before = _before(equilibria, case, multiplied)
        equilibria.paths(cases.loads, cases.free, multiplied, cases.torques).of(0).follow(before, 0.0, 1 + NEAR)
    except Lost:
        return True
    except KronbotError:
        return False
    return False


def _before(equilibria: Equilibria, case: Case, multiplied: Shares) -> Array:
    """The equilibrium (n,) without the loads that are multiplied, joints with torques let go."""
    cases = equilibria.cases([case])

    def weight(shares: Array) -> Array:
        return shares[:, None] * multiplied(np.zeros_like(shares))

    modal = list(equilibria.robot.flexible)
    first = np.zeros(1, dtype=int)
    ends = equilibria.paths(cases.loads, modal, weight).follow(first, cases.straight, 0.0, 1.0)
    if ends.lost[0]:
        raise ComputationError("the robot buckles under its weight before any load is on it")
    if cases.free != modal:
        equilibria.release(ends, first, cases, weight)
    if ends.lost[0]:
        robot, torques = equilibria.robot, dict(sorted(case.torques.items()))
        names, when = listing(joints_at(robot, torques)), "in balance before any load is on the robot"
        if loose(equilibria, case, Lost(float(ends.shares[0]), ends.q[0]), weight):
            raise ComputationError(f"nothing holds the torques of {names} {when}", *stops_ahead(robot, torques))
        told = f"no stable path leads from these angles to where the torques of {names} are {when}"
        raise ComputationError(f"{told}; try other angles")
    return ends.of(0)


def _multiplied(equilibria: Equilibria, loads: Array, q: Array) -> Shares:
    """Shares of gravity, elements and loads (k, 3) by the multiple (k,)."""

    def acts(shares: Array) -> bool:
        values = report(q, loads, shares)
        return bool(values["forces"].any() or values["reaction"].any())

    report = equilibria.model.report()
    if not hung(equilibria.robot):  # where elements hold a base, it bears no force but where it comes to rest
        demand_supports(equilibria.robot, report(q, loads, np.ones(3))["forces"][None])
    for borne in (LOADS, GRAVITY):
        if acts(borne):
            return partial(_with, borne)
    given = [part for name in ("forces", "moments", "loads") for part in (Argument(name), ", ")][:-1]
    raise ComputationError("nothing loads the robot: give ", *given, " or gravity")


def _with(borne: Array, multiple: Array) -> Array:
    """Shares (k, 3) of what is borne once, but for one that is borne so many times (k,)."""
    return 1 - borne + multiple[:, None] * borne


def _told(critical: Critical) -> dict[str, Scalar]:
    return {"buckling_factor": critical.share, "buckling_factor_error": critical.error}


def _of_pencil(path: Path, q: Array) -> Critical | None:
    """The smallest positive multiple with singular K_0 + multiple (K_1 - K_0) at q, or None."""
    return of_pencil(path.balance(q, 0.0)[1], path.balance(q, 1.0)[1])


def _on_path(path: Path, q: Array) -> tuple[Lost | float, Array]:
    """Follow the equilibria from q at the multiple 0 to where the path ends: there the stiffness is singular.

    The multiple that was reached where it does not end; and the equilibria (k, n) that were passed, the last one too.
    """
    reached, passed = 0.0, [q]
    linear = _of_pencil(path, q)
    estimate = 1.0 if linear is None else linear.share
    step = estimate / STEPS
    while reached < FURTHEST * estimate:
        try:
            q = path.follow(q, reached, reached + step)
        except Lost as lost:
            return lost, np.array([*passed, lost.q])
        passed.append(q)
        reached, step = reached + step, GROWTH * step
    return reached, np.array(passed)
