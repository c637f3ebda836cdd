"""The question ``jacobian``: of any frame relative to any other, in the axes of either."""

from __future__ import annotations

from collections.abc import Sequence

import casadi
import numpy as np
from casadi import SX

from kronbot.compute.arrays import NamedArray, Scalar
from kronbot.compute.question import Quantity, Question
from kronbot.description.names import WORLD
from kronbot.description.wording import quote
from kronbot.errors import Argument, UsageError
from kronbot.floats import all_finite
from kronbot.mechanics.multibody.kinematics import Frame, frame, relative_motion
from kronbot.mechanics.multibody.relative_motion import BodyMotion, RelativeMotion
from kronbot.mechanics.multibody.state import propagate
from kronbot.model.robot import Robot
from kronbot.questions.outline import Given, Labels, Outline, Sides
from kronbot.records import dataclass

AXES = ("x", "y", "z")


@dataclass(frozen=True)
class FrameView:
    """A moving frame, the frame it is seen from, and whether its Jacobians are in its own axes (``body``)."""

    of: Frame
    to: Frame
    body: bool

    @property
    def name(self) -> str:
        """As on the command line."""
        return f"base-to:{self.to.name},{self.of.name}" if self.to.way else self.of.name

    def motion(self, robot: Robot, q: SX) -> RelativeMotion | BodyMotion:
        """The motion in the axes asked for."""
        outer = relative_motion(robot, q, self.of, self.to)
        return outer.in_body() if self.body else outer


def view(robot: Robot, name: str, axes: str) -> FrameView:
    """The view of a frame in the axes ``base`` or ``body``. Raises UsageError that lists the frames."""
    if not name.startswith("base-to:"):
        return FrameView(frame(robot, name), frame(robot, WORLD), axes == "body")
    seen_from, comma, moving = name.removeprefix("base-to:").partition(",")
    if not comma:
        raise UsageError(
            Argument("frame", quote(name)), " should read base-to:A,B: the motion of frame B relative to frame A"
        )
    return FrameView(frame(robot, moving.strip()), frame(robot, seen_from.strip()), axes == "body")


def jacobian(robot: Robot, seen: FrameView, rates: bool, generalized: bool = False) -> Question:
    """J_T and J_R (3 x n) of a frame, Tuan (30)-(42), and with ``rates`` its velocities v = J_T qd, omega = J_R qd.

    ``generalized`` ones are by all coordinates but those of a floating base, which goes as they make it at zero
    momentum. Raises UsageError where the base is fixed.
    """
    words = ("q", "qd") if rates else ("q",)
    symbols = {word: SX.sym(word, robot.n) for word in words}
    motion, places = seen.motion(robot, symbols["q"]), _places(robot, generalized)
    found = {"J_T": motion.J_T, "J_R": motion.J_R}
    if generalized:
        if not robot.base:
            cure = " is about a robot that floats (base: {type: floating}); the base of this one is fixed"
            raise UsageError(Argument("generalized"), cure)
        rest = propagate(robot, symbols["q"], SX(robot.n, 1))
        # Here, since few ask for it.
        from kronbot.mechanics.multibody.momentum import reduced

        both = casadi.vertsplit(reduced(rest, casadi.vertcat(*found.values())), 3)
        found = dict(zip(found, both, strict=True))
    names, units = ([of[place] for place in places] for of in (robot.coordinates, robot.units))
    quantities = matrices(found, names, [_per(unit) for unit in units])
    if rates:
        qd = symbols["qd"][places, :]
        quantities["v"] = Quantity(found["J_T"] @ qd, AXES, None, "m/s")
        quantities["omega"] = Quantity(found["J_R"] @ qd, AXES, None, "rad/s")
    return Question(robot.parameters, symbols, robot.derivative_names(words), quantities, "jacobian")


def _places(robot: Robot, generalized: bool) -> list[int]:
    """Of the coordinates that the columns are by."""
    return robot.others(robot.base if generalized else ())


def dexterity(arrays: dict[str, NamedArray]) -> dict[str, Scalar]:
    """Singular values, manipulability sqrt(det(J J^T)) and condition number of J = [J_T; J_R] and of each part.

    J mixes metres and radians; its parts do not. The condition number is left out where J is singular to rounding.
    """
    T, R = (np.asarray(arrays[name].values, dtype=float) for name in ("J_T", "J_R"))
    summary: dict[str, Scalar] = {}
    for suffix, matrix in (("", np.vstack([T, R])), (".T", T), (".R", R)):
        if not matrix.size:
            continue
        try:
            singular = np.linalg.svd(all_finite(matrix), compute_uv=False)
        except np.linalg.LinAlgError:
            continue
        singular = np.where(singular > np.finfo(float).eps * max(matrix.shape) * singular[0], singular, 0.0)
        summary |= {f"singular_value{suffix}.{i + 1}": float(value) for i, value in enumerate(singular)}
        full = len(matrix) <= matrix.shape[1]
        summary[f"manipulability{suffix}"] = float(np.prod(singular)) if full else 0.0
        if singular[-1] > 0:
            summary[f"condition{suffix}"] = float(singular[0] / singular[-1])
    return summary


def outline(robot: Robot, given: Given) -> Outline:
    """What the answer holds: J_T, J_R, with rates v and omega, and the numbers of :func:`dexterity`."""
    numbers, names = [], robot.coordinates
    if any(given.get("generalized", ())):
        names = tuple(names[place] for place in _places(robot, generalized=True))
    for suffix, size in (("", 6), (".T", 3), (".R", 3)):
        numbers += [f"singular_value{suffix}.{i + 1}" for i in range(min(size, len(names)))]
        numbers += [f"manipulability{suffix}", f"condition{suffix}"]
    arrays: dict[str, Labels] = dict.fromkeys(("J_T", "J_R"), (AXES, names))
    if "qd" in given:
        arrays |= {"v": (AXES, None), "omega": (AXES, None)}
    per = {name: _per(unit) for name, unit in zip(robot.coordinates, robot.units, strict=True)}
    units: dict[str, Sides] = {"J_T": (dict.fromkeys(AXES, "m"), per), "J_R": (dict.fromkeys(AXES, "rad"), per)}
    units |= {"v": (dict.fromkeys(AXES, "m/s"), {}), "omega": (dict.fromkeys(AXES, "rad/s"), {})}
    return Outline(numbers, arrays=arrays, units=units)


def _per(unit: str) -> str:
    return f"1/({unit})" if "/" in unit else f"1/{unit}"


def matrices(named: dict[str, SX], columns: Sequence[str], per: list[str]) -> dict[str, Quantity]:
    """Matrices of translation (_T, m) and rotation (_R, rad), rows x, y, z; ``per`` are the units of the columns."""
    return {
        name: Quantity(matrix, AXES, columns, {"rows": ["rad" if "_R" in name else "m"] * 3, "columns": per})
        for name, matrix in named.items()
    }
