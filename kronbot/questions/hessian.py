"""The question ``hessian``: Khang derivatives of the Jacobians of any frame, in the axes of either."""

from __future__ import annotations

from casadi import SX

from kronbot.compute.question import Quantity, Question
from kronbot.kronecker.calculus import derivative_columns, kron_power
from kronbot.mechanics.multibody.kinematics import relative_motion
from kronbot.mechanics.multibody.size import demand_entries
from kronbot.model.robot import Robot
from kronbot.questions.jacobian import AXES, FrameView, matrices
from kronbot.questions.outline import Given, Labels, Outline, Sides


def hessian(robot: Robot, seen: FrameView, rates: bool) -> Question:
    """H_T and H_R (3 x n^2), the Khang derivatives of the Jacobians asked for, Tuan (51), (53), (60), (61).

    In body axes also H_T_star = R^T H_T (58). With ``rates`` the accelerations a and alpha at rates qd and qdd in the
    axes asked for, a = J_T qdd + H (qd (x) qd), where H is H_T_star in body axes (59).
    """
    demand_entries(f"the Hessian of {robot.n} coordinates", 3 * robot.n**2)
    words = ("q", "qd", "qdd") if rates else ("q",)
    symbols = {word: SX.sym(word, robot.n) for word in words}
    outer = relative_motion(robot, symbols["q"], seen.of, seen.to)
    motion = outer.in_body() if seen.body else outer
    hessians = {"H_T": motion.H_T, "H_R": motion.H_R}
    if seen.body:
        hessians["H_T_star"] = outer.H_T_star
    columns = derivative_columns(robot.coordinates, robot.coordinates)
    quantities = matrices(hessians, columns, _per(robot))
    if rates:
        pairs = kron_power(symbols["qd"], 2)
        a = motion.J_T @ symbols["qdd"] + (outer.H_T_star if seen.body else motion.H_T) @ pairs
        alpha = motion.J_R @ symbols["qdd"] + motion.H_R @ pairs
        quantities["a"] = Quantity(a, AXES, None, "m/s2")
        quantities["alpha"] = Quantity(alpha, AXES, None, "rad/s2")
    return Question(robot.parameters, symbols, robot.derivative_names(words), quantities, "hessian")


def outline(robot: Robot, given: Given) -> Outline:
    """What the answer holds: the Hessians, with rates the accelerations."""
    columns = derivative_columns(robot.coordinates, robot.coordinates)
    names = ("H_T", "H_R", "H_T_star") if "body" in given.get("axes", ()) else ("H_T", "H_R")
    arrays: dict[str, Labels] = dict.fromkeys(names, (AXES, columns))
    rates: dict[str, Labels] = {"a": (AXES, None), "alpha": (AXES, None)}
    per = dict(zip(columns, _per(robot), strict=True))
    units: dict[str, Sides] = {name: (dict.fromkeys(AXES, "rad" if name == "H_R" else "m"), per) for name in names}
    units |= {"a": (dict.fromkeys(AXES, "m/s2"), {}), "alpha": (dict.fromkeys(AXES, "rad/s2"), {})}
    return Outline(arrays=arrays | (rates if "qd" in given or "qdd" in given else {}), units=units)


def _per(robot: Robot) -> list[str]:
    """Units of the columns."""
    return [f"1/({a} {b})" for a in robot.units for b in robot.units]
