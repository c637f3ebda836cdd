"""The question ``modes``: natural frequencies and shapes at a posture and spin rate, and how they converge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import casadi
import numpy as np
import numpy.typing as npt

from kronbot.compute.result import Array as Named
from kronbot.compute.result import Result, Scalar
from kronbot.compute.trace import Trace
from kronbot.description.schema import Modes as ModeCounts
from kronbot.errors import Argument, DescriptionError, UsageError
from kronbot.mechanics.deflation import SecondOrder
from kronbot.mechanics.linear_model import LinearModel
from kronbot.mechanics.linearization import model_in_words, verdict
from kronbot.mechanics.modal import Modes
from kronbot.mechanics.modal import arrays as named_modes
from kronbot.mechanics.recursion import demand_inertia
from kronbot.mechanics.regularity import demand_regular
from kronbot.mechanics.rounding import block, second_order
from kronbot.mechanics.size import demand_tractable
from kronbot.mechanics.spectrum import poles
from kronbot.model.build import build
from kronbot.model.robot import Robot

Array = npt.NDArray[np.float64]
PURPOSE = "modes"


def vibration(
    robot: Robot, q: Array, qd: Array, largest: int | None, progress: Callable[[float], None] = lambda share: None
) -> Result:
    """Frequencies, damping ratios and shapes with joints locked and with joints free, about the rigid motion at q, qd.

    Modal coordinates are at rest and straight; gravity and spin enter the stiffness. Joints that move stay locked in
    both. With ``largest`` also tables of the first frequencies over 1 ... largest modes a direction. Raises
    ComputationError where M is singular, UsageError where a parameter is free or modal coordinates are given.
    """
    joints = [joint.index for joint in robot.joints]
    if any(q[place] or qd[place] for place in robot.flexible):
        raise UsageError("modes are those of straight beams: give joints only")
    moving = frozenset(place for place in joints if qd[place])
    cases = {"locked": frozenset(joints), "free": moving}
    basic = "steady spin, straight beams, moving joints locked" if moving else "the straight posture at rest"
    spinning = [joint.name for joint in robot.joints if joint.index in moving]
    rates = dict(zip((joint.name for joint in robot.joints), qd[joints].tolist(), strict=True))
    posture = dict(zip((joint.name for joint in robot.joints), q[joints].tolist(), strict=True))
    if largest is not None:
        demand_tractable(_with_modes(robot, largest))  # before the work that leads there
    arrays: dict[str, Named] = {}
    summary: dict[str, Scalar] = {}
    for case, locked in cases.items():
        system = _system(robot, q, qd, locked)
        found = poles(system)
        free = [robot.coordinates[place] for place in range(robot.n) if place not in locked]
        arrays |= named_modes(Modes(found, len(free)), free, f"_{case}")
        if largest is not None:
            arrays[f"convergence_{case}"] = _convergence(
                robot, q[joints], qd[joints], case == "locked", largest, progress
            )
        said = verdict(robot, system, found, f"about {basic}", locked)
        growth = said.pop("largest_growth_rate", 0.0)
        if str(said.get("verdict", "")).startswith("unstable"):
            said["growth_rate"] = growth
        stays = "moves and stays locked" if len(spinning) == 1 else "move and stay locked"
        held = f"; {', '.join(spinning)} {stays}" if spinning and case == "free" else ""
        said["model"] = f"{model_in_words(robot, locked)}{held}"
        summary |= {f"{word}_{case}": value for word, value in said.items()}
    return Result(PURPOSE, robot.name, robot.order, {"q": posture, "qd": rates}, arrays, {}, summary)


def _system(robot: Robot, q: Array, qd: Array, locked: frozenset[int]) -> SecondOrder:
    demand_inertia(robot)
    linear = LinearModel.about_any_motion(robot)
    parts = {"M": linear.M_L, "D": linear.D_L, "K": linear.K_L}
    # Nothing here depends on the torques, and nothing but the rigid acceleration on qdd, which is zero at steady spin.
    parts = {name: casadi.substitute(part, linear.force, casadi.SX.zeros(3, 1)) for name, part in parts.items()}
    trace = Trace(robot.parameters, {"q": linear.q, "qd": linear.qd, "qdd": linear.qdd}, parts, PURPOSE)
    arguments = (q, qd, np.zeros(robot.n))
    values = trace(*arguments)
    free = [place for place in range(robot.n) if place not in locked]
    demand_regular(block(values["M"], free), [robot.coordinates[place] for place in free])
    return second_order(trace, arguments, values, free)


def _convergence(
    robot: Robot, q: Array, qd: Array, locked: bool, largest: int, progress: Callable[[float], None]
) -> Named:
    """Rows: 1 ... largest modes in every direction that has any; columns: the frequencies that the first row has."""
    rows = []
    for count in range(1, largest + 1):
        other = _with_modes(robot, count)
        joints = [joint.index for joint in other.joints]
        full_q, full_qd = np.zeros(other.n), np.zeros(other.n)
        full_q[joints], full_qd[joints] = q, qd
        held = frozenset(joints) if locked else frozenset(place for place in joints if full_qd[place])
        found = poles(_system(other, full_q, full_qd, held))
        rows.append(Modes(found, other.n - len(held)).frequencies)
        progress((count / largest) ** 3)
    width = min(len(row) for row in rows)
    table = np.array([row[:width] for row in rows])
    return Named(table, [str(k) for k in range(1, largest + 1)], "rad/s", [str(i + 1) for i in range(width)])


def _with_modes(robot: Robot, count: int) -> Robot:
    """The same robot with that many modes in every direction that has any."""
    links = []
    for link in robot.file.links:
        if link.flexible is not None:
            own = link.flexible.modes
            counts = ModeCounts(*(count if n else 0 for n in (own.v, own.w, own.torsion)))
            damping = link.flexible.damping
            if isinstance(damping.ratio, tuple):
                raise UsageError(Argument("convergence"), f": link {link.name!r} lists its damping ratios one by one")
            link = replace(link, flexible=replace(link.flexible, modes=counts))
        links.append(link)
    file = replace(robot.file, links=tuple(links))
    try:
        return build(replace(robot.description, robot=file), robot.order)
    except DescriptionError as error:  # a table with fewer shapes
        raise UsageError(Argument("convergence"), f": {error}") from None
