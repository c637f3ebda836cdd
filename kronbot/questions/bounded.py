"""What a plan keeps between limits beside torques: columns of a simulation that its coordinates and rates tell."""

from __future__ import annotations

from collections.abc import Sequence

import casadi
from casadi import SX

from kronbot.description.outputs import named
from kronbot.description.wording import unknown
from kronbot.errors import Argument
from kronbot.mechanics.control.repeated import Repeated
from kronbot.mechanics.multibody.kinematics import endpoint
from kronbot.mechanics.multibody.outputs import Instant
from kronbot.mechanics.multibody.recursion import inverse_dynamics
from kronbot.mechanics.multibody.state import State, propagate
from kronbot.model.beam import TIP
from kronbot.model.robot import Robot
from kronbot.questions.outputs import Output
from kronbot.questions.pressed import pressed


def outputs(robot: Robot) -> dict[str, tuple[Output, int]]:
    """Columns that may be asked for beside those that are always there, each as an entry of an output.

    Rotations are none: their vectors jump.
    """
    every = (Output(kind, name) for kind, names in named(robot.file).items() if kind != "rotation" for name in names)
    return {column: (each, i) for each in every for i, column in enumerate(each.columns(robot))}


def demand_known(robot: Robot, columns: Sequence[str]) -> None:
    """Raise UsageError for a name of nothing that can be limited."""
    if not columns:
        return
    torques = [f"torque.{joint.name}" for joint in robot.joints]
    known = [*_always(propagate(robot, SX(robot.n, 1), SX(robot.n, 1))), *outputs(robot), *torques]
    for name in columns:
        if name not in known:
            raise unknown(name, known, Argument("limits"), ": no column ")


def _always(state: State) -> dict[str, SX]:
    """Columns of every simulation: coordinates and their rates, tips of beams, the endpoint."""
    rates = zip(state.robot.coordinates, casadi.vertsplit(state.qd), strict=True)
    return places(state) | {f"{name}_dot": rate for name, rate in rates}


def places(state: State) -> dict[str, SX]:
    """Those of them that depend on the posture alone."""
    found = dict(zip(state.robot.coordinates, casadi.vertsplit(state.q), strict=True))
    moved = {
        f"tip.{at.link.name}": at.link.beam.moved(TIP, at.tip.pose.r) for at in state.links if at.link.beam is not None
    }
    for word, place in (moved | {"endpoint": endpoint(state)}).items():
        found |= {f"{word}.{axis}": place[i] for i, axis in enumerate("xyz")}
    return found


def seen(robot: Robot, columns: Sequence[str]) -> casadi.Function:
    """(q, qd, qdd, parameters) -> the columns."""
    q, qd, qdd = (SX.sym(word, robot.n) for word in ("q", "qd", "qdd"))
    state = pressed(propagate(robot, q, qd))
    always, others = _always(state), outputs(robot)
    instant = Instant(state, qdd, inverse_dynamics(state, qdd))
    values = []
    for name in columns:
        if name in always:
            values.append(always[name])
        else:
            output, place = others[name]
            values.append(instant.of(output.kind, output.name)[place])
    numbers = robot.parameters
    return casadi.Function("seen", [q, qd, qdd, numbers.symbols(numbers.extent)], [casadi.cse(casadi.vertcat(*values))])


def with_values(robot: Robot, function: casadi.Function) -> Repeated:
    """A function of q, qd, qdd (or some of them) and the parameters of the robot, with their values."""
    count, numbers = function.n_in() - 1, robot.parameters
    s = SX.sym("s", count * robot.n)
    (y,) = function.call([*casadi.vertsplit(s, robot.n), SX(numbers.bound(numbers.extent))])
    return Repeated(casadi.Function("repeated", [s], [casadi.cse(y)]))
