"""What forces of ``simulate`` do to arms that are planned for: constant ones act all the time, others are told."""

from __future__ import annotations

import casadi
import numpy as np
from casadi import SX

from kronbot.compute.trace import traced
from kronbot.errors import ComputationError
from kronbot.floats import Array
from kronbot.mechanics.motion.forces import forces
from kronbot.mechanics.multibody.recursion import inverse_dynamics
from kronbot.mechanics.multibody.state import State, propagate
from kronbot.model.robot import Robot
from kronbot.questions.elements import demand_constant, demand_directions
from kronbot.questions.path_end import posture
from kronbot.questions.statics import sag

PURPOSE = "plan"
# The load grows in so many shares, each with so many of Newton's steps, the last of which changes q by so little.
SHARES, STEPS, LEFT = 8, 20, 1e-13


def pressed(state: State, share: SX | float = 1.0) -> State:
    """The robot with a share of the constant ones."""
    return forces(state.robot).constant.on(state, SX(0), share)[0]


def told_of_forces(robot: Robot) -> list[str]:
    """Those that a plan leaves out, in words. Raises UsageError where the force of an element changes in time."""
    demand_constant(robot)
    frames = [each.push.frame for each in forces(robot).on_frames if each.changes]
    return [f"what acts on {frame} in simulate changes in time: plans have constant forces only" for frame in frames]


def at_rest(robot: Robot, q: Array) -> Array:
    """The equilibrium (n,) under weight and constant forces whose motors stand as in q (n,).

    Raises ComputationError where there is none on the way from that under weight alone, or an element has no direction.
    """
    free, found = robot.others(frozenset(robot.rigid)), sag(robot, q, "to rest in", ["another place, or a stiffer arm"])
    demand_directions(robot, found[None], f" at {', '.join(posture(robot, found[list(robot.rigid)]))}")
    if not free or not forces(robot).constant.on_frames:
        return found

    def parts() -> tuple[dict[str, SX], dict[str, SX]]:
        at, share, still = SX.sym("q", robot.n), SX.sym("share"), SX(robot.n, 1)
        left = inverse_dynamics(pressed(propagate(robot, at, still), share), still)[free]
        return {"q": at, "share": share}, {"left": left, "slope": casadi.jacobian(left, at)[:, free]}

    trace = traced(robot, "pressed", PURPOSE, parts)
    for share in np.linspace(0, 1, SHARES + 1)[1:]:
        for _ in range(STEPS):
            values = trace(found, share)
            try:
                step = np.linalg.solve(values["slope"].reshape(len(free), -1), values["left"].ravel())
            except np.linalg.LinAlgError:
                step = np.full(len(free), np.inf)
            found[free] -= step
            if np.abs(step).max() <= LEFT * max(1.0, float(np.abs(found).max())):
                break
        else:
            raise ComputationError(
                "the arm finds no equilibrium under the constant forces of simulate: smaller ones, or another place"
            )
    return found
