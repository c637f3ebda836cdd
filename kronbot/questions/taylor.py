"""The question ``taylor``: expansions of M, C*, g, Jacobians and positions about a point, Khang (36), (41), (47)."""

from __future__ import annotations

import casadi
import numpy as np
from casadi import SX

from kronbot.compute.arrays import NamedArray, Scalar
from kronbot.compute.question import Quantity, Question, asked
from kronbot.compute.trace import traced
from kronbot.description.choices import TERMS
from kronbot.errors import ComputationError
from kronbot.floats import Array
from kronbot.kronecker.calculus import derivative_columns
from kronbot.kronecker.taylor import coefficients, demand_writable, directional
from kronbot.mechanics.multibody.kinematics import relative_motion
from kronbot.model.robot import Robot
from kronbot.questions.dynamics import dynamics
from kronbot.questions.elements import demand_directions, told_of_time
from kronbot.questions.jacobian import AXES, FrameView, jacobian
from kronbot.questions.outline import Given, Labels, Outline
from kronbot.questions.result import Result

PURPOSE = "taylor"
DYNAMIC = ("M", "C_star", "g")
# Coefficients with more columns are kept whole, not entry by entry.
_NAMED = 100_000


def taylor(robot: Robot, of: str, seen: FrameView, terms: int, q: Array, delta: Array | None) -> Result:
    """Coefficients d^k/dq^k up to k = terms at q, and with ``delta`` the expansion, the exact value and the errors.

    Coefficients that would be too large are left out where there is a delta (the expansion does not need them). Raises
    ComputationError where they are all that was asked for, or where an element has no direction that g has.
    """
    if delta is None:  # before the matrix is traced, which takes seconds of a large robot
        n = robot.n
        shape = {"M": (n, n), "C_star": (n, n * n), "g": (n, 1), "position": (3, 1)}.get(of, (3, n))
        demand_writable(shape, n, terms)
    if of == "g":
        demand_directions(robot, q[None])
    what = (of, seen, terms)
    symbol, quantity = robot.kept(("taylor", of, seen), lambda: _quantity(robot, of, seen))
    arrays: dict[str, NamedArray] = {}
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
        exact = values["exact"].reshape(quantity.shape)
        sums = np.cumsum([values[f"term{k}"].reshape(quantity.shape) for k in range(terms + 1)], 0)
        for name, entries in (("expansion", sums[-1]), ("exact", exact), ("error", sums[-1] - exact)):
            arrays[name] = quantity.array(entries)
        for k in range(terms + 1):
            summary[f"largest_error.{k}"] = float(np.abs(sums[k] - exact).max(initial=0.0))
    at = {"q": robot.by_name(q)}
    if delta is not None:
        at["delta"] = robot.by_name(delta)
    told = told_of_time(robot) if of == "g" else []
    return Result(PURPOSE, robot.name, robot.order, at, arrays, {}, summary, told, about=robot)


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


def outline(robot: Robot, given: Given) -> Outline:
    """What the answer holds: the coefficients, and with ``delta`` the expansion and its errors."""
    arrays: dict[str, Labels] = {}
    terms = max((each for each in given.get("terms", ()) if isinstance(each, int)), default=2)
    terms = min(terms, TERMS)
    for of in map(str, given.get("of", ("M",))):
        rows = robot.coordinates if of in DYNAMIC else AXES
        pairs = derivative_columns(robot.coordinates, robot.coordinates)
        columns = {"g": None, "position": None, "C_star": pairs}.get(of, robot.coordinates)
        if "delta" in given:
            arrays |= dict.fromkeys(("expansion", "exact", "error"), (rows, columns))
        for k in range(terms + 1):
            arrays[of if k == 0 else f"d{of}_dq" if k == 1 else f"d{k}{of}_dq{k}"] = rows, columns
            known = [""] if columns is None else list(columns)
            columns = derivative_columns(known, robot.coordinates) if len(known) * robot.n <= _NAMED else []
            columns = [column.lstrip("|") for column in columns]
    errors = [f"largest_error.{k}" for k in range(terms + 1)] if "delta" in given else []
    return Outline(["terms", *errors], ["of", "left_out"], arrays)
