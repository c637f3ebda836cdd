"""The questions ``jacobian`` and ``hessian``: of any frame relative to any other, in the axes of either."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from casadi import SX

from kronbot.compute.arrays import Array, Scalar
from kronbot.compute.question import Quantity, Question
from kronbot.description.names import WORLD
from kronbot.description.wording import quote
from kronbot.errors import Argument, UsageError
from kronbot.kronecker.calculus import derivative_columns, kron_power
from kronbot.mechanics.multibody.kinematics import Frame, frame, relative_motion
from kronbot.mechanics.multibody.relative_motion import BodyMotion, RelativeMotion
from kronbot.mechanics.multibody.size import demand_entries
from kronbot.model.robot import Robot

AXES = ("x", "y", "z")


@dataclass(frozen=True)
class View:
    """A moving frame, the frame it is seen from, and whether its Jacobians are in its own axes (``body``)."""

    of: Frame
    to: Frame
    body: bool


def view(robot: Robot, name: str, axes: str) -> View:
    """The view of a frame in the axes ``base`` or ``body``. Raises UsageError that lists the frames."""
    if not name.startswith("base-to:"):
        return View(frame(robot, name), frame(robot, WORLD), axes == "body")
    seen_from, comma, moving = name.removeprefix("base-to:").partition(",")
    if not comma:
        raise UsageError(
            Argument("frame", quote(name)), " should read base-to:A,B: the motion of frame B relative to frame A"
        )
    return View(frame(robot, moving.strip()), frame(robot, seen_from.strip()), axes == "body")


def jacobian(robot: Robot, seen: View, rates: bool) -> Question:
    """J_T and J_R (3 x n) of a frame, Tuan (30)-(42), and with ``rates`` its velocities v = J_T qd, omega = J_R qd."""
    symbols = _symbols(robot, ("q", "qd") if rates else ("q",))
    motion, _ = _motions(robot, seen, symbols["q"])
    quantities = _matrices({"J_T": motion.J_T, "J_R": motion.J_R}, robot.coordinates, _units(robot, 1))
    if rates:
        quantities["v"] = Quantity(motion.J_T @ symbols["qd"], AXES, None, "m/s")
        quantities["omega"] = Quantity(motion.J_R @ symbols["qd"], AXES, None, "rad/s")
    return _question(robot, symbols, quantities, "jacobian")


def hessian(robot: Robot, seen: View, rates: bool) -> Question:
    """H_T and H_R (3 x n^2), the Khang derivatives of the Jacobians asked for, Tuan (51), (53), (60), (61).

    In body axes also H_T_star = R^T H_T (58). With ``rates`` the accelerations a and alpha at rates qd and qdd in the
    axes asked for, a = J_T qdd + H (qd (x) qd), where H is H_T_star in body axes (59).
    """
    demand_entries(f"the Hessian of {robot.n} coordinates", 3 * robot.n**2)
    symbols = _symbols(robot, ("q", "qd", "qdd") if rates else ("q",))
    motion, outer = _motions(robot, seen, symbols["q"])
    matrices = {"H_T": motion.H_T, "H_R": motion.H_R}
    if seen.body:
        matrices["H_T_star"] = outer.H_T_star
    columns = derivative_columns(robot.coordinates, robot.coordinates)
    quantities = _matrices(matrices, columns, _units(robot, 2))
    if rates:
        pairs = kron_power(symbols["qd"], 2)
        a = motion.J_T @ symbols["qdd"] + (outer.H_T_star if seen.body else motion.H_T) @ pairs
        alpha = motion.J_R @ symbols["qdd"] + motion.H_R @ pairs
        quantities["a"] = Quantity(a, AXES, None, "m/s2")
        quantities["alpha"] = Quantity(alpha, AXES, None, "rad/s2")
    return _question(robot, symbols, quantities, "hessian")


def dexterity(arrays: dict[str, Array]) -> dict[str, Scalar]:
    """Singular values, manipulability sqrt(det(J J^T)) and condition number of J = [J_T; J_R] and of each part.

    J mixes metres and radians; its parts do not. The condition number is left out where J is singular to rounding.
    """
    T, R = (np.asarray(arrays[name].values, dtype=float) for name in ("J_T", "J_R"))
    summary: dict[str, Scalar] = {}
    for suffix, matrix in (("", np.vstack([T, R])), (".T", T), (".R", R)):
        # LAPACK would print about numbers that are not finite; the report refuses them.
        if not matrix.size or not np.isfinite(matrix).all():
            continue
        singular = np.linalg.svd(matrix, compute_uv=False)
        singular = np.where(singular > np.finfo(float).eps * max(matrix.shape) * singular[0], singular, 0.0)
        summary |= {f"singular_value{suffix}.{i + 1}": float(value) for i, value in enumerate(singular)}
        full = len(matrix) <= matrix.shape[1]
        summary[f"manipulability{suffix}"] = float(np.prod(singular)) if full else 0.0
        if singular[-1] > 0:
            summary[f"condition{suffix}"] = float(singular[0] / singular[-1])
    return summary


def _motions(robot: Robot, seen: View, q: SX) -> tuple[RelativeMotion | BodyMotion, RelativeMotion]:
    """The motion in the axes asked for, and in those of the frame it is seen from."""
    outer = relative_motion(robot, q, seen.of, seen.to)
    return (outer.in_body() if seen.body else outer), outer


def _symbols(robot: Robot, words: tuple[str, ...]) -> dict[str, SX]:
    return {word: SX.sym(word, robot.n) for word in words}


def _question(robot: Robot, symbols: dict[str, SX], quantities: dict[str, Quantity], purpose: str) -> Question:
    return Question(robot.parameters, symbols, robot.derivative_names(tuple(symbols)), quantities, purpose)


def _matrices(matrices: dict[str, SX], columns: Sequence[str], per: list[str]) -> dict[str, Quantity]:
    """Matrices with rows x, y, z; ``per`` are the units of the columns."""
    return {
        name: Quantity(matrix, AXES, columns, {"rows": ["rad" if "_R" in name else "m"] * 3, "columns": per})
        for name, matrix in matrices.items()
    }


def _units(robot: Robot, order: int) -> list[str]:
    """Units of the columns of a derivative by q of that order: 1/rad, 1/m, 1/rad2, ..."""
    own = robot.units
    return [f"1/{unit}" for unit in own] if order == 1 else [f"1/({a} {b})" for a in own for b in own]
