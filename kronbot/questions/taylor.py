"""The question ``taylor``: expansions of M, C*, g, Jacobians and positions about a point, Khang (36), (41), (47)."""

from __future__ import annotations

import casadi
import numpy as np
from casadi import SX

from kronbot.compute.arrays import Array as Named
from kronbot.compute.arrays import Scalar
from kronbot.compute.question import Quantity, Question, asked
from kronbot.compute.trace import traced
from kronbot.errors import ComputationError
from kronbot.floats import Array
from kronbot.kronecker.calculus import derivative_columns
from kronbot.kronecker.taylor import coefficients, directional
from kronbot.mechanics.multibody.kinematics import relative_motion
from kronbot.model.robot import Robot
from kronbot.questions.dynamics import dynamics
from kronbot.questions.jacobian import FrameView, jacobian
from kronbot.questions.result import Result

PURPOSE = "taylor"
DYNAMIC = ("M", "C_star", "g")


def taylor(robot: Robot, of: str, seen: FrameView, terms: int, q: Array, delta: Array | None) -> Result:
    """Coefficients d^k/dq^k up to k = terms at q, and with ``delta`` the expansion, the exact value and the errors.

    Coefficients that would be too large are left out where there is a delta (the expansion does not need them). Raises
    ComputationError where they are all that was asked for.
    """
    what = (of, seen, terms)
    symbol, quantity = robot.parameters.kept(("taylor", robot.order, of, seen), lambda: _quantity(robot, of, seen))
    arrays: dict[str, Named] = {}
    summary: dict[str, Scalar] = {"of": of, "terms": terms}
    try:
        question = asked(robot, ("taylor", *what), lambda: _coefficients(robot, of, symbol, quantity, terms))
        arrays |= question.at(q)
    except ComputationError as error:
        if delta is None:
            raise
        summary["left_out"] = str(error)
    if delta is not None:

        def expansion() -> tuple[dict[str, SX], dict[str, SX]]:
            change = SX.sym("delta", robot.n)
            parts = directional(quantity.expression, symbol, change, terms)
            outputs = {"exact": casadi.substitute(quantity.expression, symbol, symbol + change)}
            return {"q": symbol, "delta": change}, outputs | {f"term{k}": part for k, part in enumerate(parts)}

        values = traced(robot, what, PURPOSE, expansion)(q, delta)
        shape = (len(quantity.rows),) if quantity.columns is None else (len(quantity.rows), len(quantity.columns))
        exact, sums = (
            values["exact"].reshape(shape),
            np.cumsum([values[f"term{k}"].reshape(shape) for k in range(terms + 1)], 0),
        )
        for name, entries in (("expansion", sums[-1]), ("exact", exact), ("error", sums[-1] - exact)):
            arrays[name] = Named(entries, quantity.rows, quantity.units, quantity.columns)
        for k in range(terms + 1):
            summary[f"largest_error.{k}"] = float(np.abs(sums[k] - exact).max(initial=0.0))
    at = {"q": dict(zip(robot.coordinates, q.tolist(), strict=True))}
    if delta is not None:
        at["delta"] = dict(zip(robot.coordinates, delta.tolist(), strict=True))
    return Result(PURPOSE, robot.name, robot.order, at, arrays, {}, summary, about=robot)


def _quantity(robot: Robot, of: str, seen: FrameView) -> tuple[SX, Quantity]:
    """The matrix to expand and the symbols it depends on."""
    if of == "position":
        q = SX.sym("q", robot.n)
        pose = relative_motion(robot, q, seen.of, seen.to).pose
        return q, Quantity(pose.r, ("x", "y", "z"), None, "m")
    question = dynamics(robot, rates=False) if of in DYNAMIC else jacobian(robot, seen, rates=False)
    return question.inputs["q"], question.quantities[of]


def _coefficients(robot: Robot, of: str, q: SX, quantity: Quantity, terms: int) -> Question:
    parts = coefficients(quantity.expression, q, terms)
    # A vector has its Jacobian for first derivative: columns are the variables alone.
    columns = [""] if quantity.columns is None else list(quantity.columns)
    quantities = {}
    for k, part in enumerate(parts):
        name = of if k == 0 else f"d{of}_dq" if k == 1 else f"d{k}{of}_dq{k}"
        names = None if k == 0 and quantity.columns is None else [column.lstrip("|") for column in columns]
        quantities[name] = Quantity(part, quantity.rows, names, "SI" if k else quantity.units)
        columns = derivative_columns(columns, robot.coordinates)
    return Question(robot.parameters, {"q": q}, robot.derivative_names(["q"]), quantities, PURPOSE)
