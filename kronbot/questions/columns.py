"""Units of the columns of `simulate` and `statics`."""

from __future__ import annotations

from collections.abc import Iterable

from kronbot.model.robot import Robot

# By the word before the first dot of a column; what depends on a joint or a coordinate is not here.
_UNITS = {
    "t": "s",
    "endpoint": "m",
    "displacement": "m",
    "displacement_hub": "m",
    "force": "N",
    "moment": "N m",
    "energy": "J",
    **dict.fromkeys(("curvature", "curvature_y", "twist"), "1/m"),
    **dict.fromkeys(("curvature_relative", "curvature_y_relative", "twist_relative"), "1/m"),
}


def units_of(robot: Robot, columns: Iterable[str]) -> dict[str, str]:
    """The unit of each column by its name."""
    known = dict(zip(robot.coordinates, robot.units, strict=True))
    (rates,) = robot.derivative_names(["qd"]).values()
    known |= {name: f"{unit}/s" for name, unit in zip(rates, robot.units, strict=True)}
    for joint, force in zip(robot.joints, robot.force_units([joint.index for joint in robot.joints]), strict=True):
        known |= {f"angle.{joint.name}": robot.units[joint.index]}
        known |= {f"torque.{joint.name}": force, f"torque_quadratic.{joint.name}": force}
    return {column: known.get(column) or _unit(column) for column in columns}


def _unit(column: str) -> str:
    head, _, rest = column.partition(".")
    if head == "tip":
        return "rad" if rest.rpartition(".")[2].startswith("r") else "m"
    if head == "reaction":
        return "N" if rest.startswith("f") else "N m"
    return _UNITS[head]
