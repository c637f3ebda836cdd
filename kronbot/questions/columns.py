"""Names and units of the columns of `simulate` and `statics`, and units of numbers of summaries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from kronbot.floats import Array
from kronbot.model.robot import Robot
from kronbot.questions.momenta import MOMENTA

WRENCH = ("force.x", "force.y", "force.z", "moment.x", "moment.y", "moment.z")
# How far two orders differ in a column.
_DIFFERENCE = re.compile(r"largest_difference\.(.*)\[\w+-\w+\]")
# What a function of a sweep is made of; how arrays of frequencies are called.
_INNER = re.compile(r"(?:\w+\()*([^()]+?)\)*")
FREQUENCIES = "frequenc"
REACTION = ("fx", "fy", "fz", "mx", "my", "mz")

# By the word before the first dot of a column; what depends on a joint or a coordinate is not here.
_UNITS = {
    "t": "s",
    "endpoint": "m",
    "displacement": "m",
    "displacement_hub": "m",
    "force": "N",
    "moment": "N m",
    "tension": "N",
    "energy": "J",
    "momentum": "N s",
    "angular_momentum": "N m s",
    **dict.fromkeys(("largest_energy", "energy_imbalance", "energy_taken_by_solver"), "J"),
    **dict.fromkeys(("length", "peak_deflection", "position_error"), "m"),
    **dict.fromkeys(("first_frequency_locked", "first_frequency_free"), "rad/s"),
    **dict.fromkeys((f"largest_growth_rate{case}" for case in ("", "_locked", "_free")), "1/s"),
    "total_mass": "kg",
    "end": "s",
    **dict.fromkeys(("motion_end", "settling_time", "pre_actuation", "post_actuation"), "s"),
    "residual_amplitude": "m",
    **dict.fromkeys(("residual_frequency", "disk_margin_frequency", "frequency"), "rad/s"),
    "overshoot": "1",
    **dict.fromkeys(("period", "duration", "longer"), "s"),
    **dict.fromkeys(("rotation_error", "phase_margin"), "rad"),
    **dict.fromkeys(("curvature", "curvature_y", "twist"), "1/m"),
    **dict.fromkeys(("curvature_relative", "curvature_y_relative", "twist_relative"), "1/m"),
}


def units_of(robot: Robot, columns: Iterable[str], others: Mapping[str, str] | None = None) -> dict[str, str]:
    """The unit of each column by its name, where it is not among ``others``."""
    known = dict(others or {}) | dict(zip(robot.coordinates, robot.units, strict=True))
    (rates,) = robot.derivative_names(["qd"]).values()
    known |= {name: f"{unit}/s" for name, unit in zip(rates, robot.units, strict=True)}
    known |= {f"estimate.{name}": unit for name, unit in known.items()}
    for joint, force in zip(robot.joints, robot.force_units(robot.rigid), strict=True):
        known |= dict.fromkeys((f"angle.{joint.name}", f"peak_deviation.{joint.name}"), robot.units[joint.driven])
        words = ("torque", "integral", "torque_quadratic", "peak_torque", "rms_torque")
        known |= dict.fromkeys((f"{word}.{joint.name}" for word in words), force)
    return {column: known.get(column) or _unit(column) for column in columns}


def unit_of_number(robot: Robot, name: str) -> str:
    """The unit of a number of a summary; "" where it has none, is a count, or mixes several."""
    if name in _UNITS:  # whatever joints are called
        return "" if _UNITS[name] == "1" else _UNITS[name]
    if name in robot.coordinates:  # a count, which is called like one
        return ""
    name = _DIFFERENCE.sub(r"\1", name)
    if name == "largest_h_L":
        return _one_of(robot.force_units(range(robot.n)))
    if name.startswith("singular_value.T."):
        return {"m": "", "": ""}.get(unit := _one_of(robot.units), f"m/{unit}")
    try:
        unit = units_of(robot, [name])[name]
    except KeyError:
        return ""
    return "" if unit == "1" else unit


def unit_of_kept(robot: Robot, name: str, number: bool = False) -> str:
    """The unit of a column of a sweep: of a ``number`` of the summary, an entry or a function of what an answer holds;
    "" where it is not known."""
    inner = _INNER.fullmatch(name)
    key = inner[1] if inner else name
    if number:
        return unit_of_number(robot, key)
    try:
        return units_of(robot, [key])[key]
    except KeyError:
        return "rad/s" if key.startswith(FREQUENCIES) else ""


def swings(name: str, unit: str) -> bool:
    """Whether a column is a frequency, which is told in Hz, too; rates of what is called like one are none."""
    inner = _INNER.fullmatch(name)
    key = inner[1] if inner else name
    return unit == "rad/s" and FREQUENCIES in key and "." not in key and not key.endswith("_dot")


def _one_of(units: Sequence[str]) -> str:
    """The unit that all have, else ""."""
    return units[0] if len(set(units)) == 1 else ""


def _unit(column: str) -> str:
    head, _, rest = column.partition(".")
    if head == "tip":
        return "rad" if rest.rpartition(".")[2].startswith("r") else "m"
    if head == "reaction":
        return "N" if rest.startswith("f") else "N m"
    return _UNITS[head]


def columns_of_simulate(robot: Robot) -> list[str]:
    """Names in their order (design section 7), before anything is computed."""
    (q, qd) = robot.derivative_names(["q", "qd"]).values()
    columns = ["t", *q, *qd, *(f"torque.{joint.name}" for joint in robot.joints)]
    columns += columns_of_control(robot)
    columns += columns_of_tips(robot)
    columns += [f"{place}.{axis}" for place in ("endpoint", *(MOMENTA if robot.base else ())) for axis in "xyz"]
    columns += columns_of_elements(robot)
    return columns + [f"energy.{kind}" for kind in ("kinetic", "elastic", "gravity", "work", "dissipated", "balance")]


def columns_of_tips(robot: Robot, axes: Iterable[str] = "xyz") -> list[str]:
    """Where the tips of beams are from where they would be straight."""
    return [f"tip.{link.name}.{axis}" for link in robot.links if link.beam is not None for axis in axes]


def columns_of_control(robot: Robot) -> list[str]:
    """What controllers integrate: the torques or forces that integrals give, and estimates of the state."""
    from kronbot.mechanics.control.controllers import controllers  # here, since the tables of all answers come by

    return [*controllers(robot).remembered]


def columns_of_elements(robot: Robot) -> list[str]:
    """How long elements are, and what pulls their ends together."""
    return [f"{word}.{element.name}" for element in robot.elements for word in ("length", "tension")]


def series_of_elements(robot: Robot, rows: Mapping[str, Array]) -> dict[str, Array]:
    """The same with their values, of a report's rows."""
    values = (column for element in robot.elements for column in rows[f"element {element.name}"].T)
    return dict(zip(columns_of_elements(robot), values, strict=True))


def places_in_statics(robot: Robot) -> list[str]:
    """The columns that hold the coordinates, in their order: what drives move is an angle."""
    driven = {joint.driven: f"angle.{joint.name}" for joint in robot.joints}
    return [driven.get(place, name) for place, name in enumerate(robot.coordinates)]


def columns_of_statics(robot: Robot, quadratic: bool, relative: bool) -> list[str]:
    """The same, with torques of second order and curvatures against a calibration."""
    joints = [joint.name for joint in robot.joints]
    columns = [*(f"angle.{name}" for name in joints), *WRENCH]
    columns += [f"{word}.{name}" for word in ("torque", "torque_quadratic")[: 1 + quadratic] for name in joints]
    words = ["curvature", "curvature_y", "twist"]
    words += [f"{word}_relative" for word in words] if relative else []
    columns += [f"{word}.{gauge.name}" for gauge in robot.file.statics.gauges for word in words]
    columns += columns_of_tips(robot, ("x", "y", "z", "rx", "ry", "rz"))
    columns += [f"{word}.{axis}" for word in ("endpoint", "displacement", "displacement_hub") for axis in "xyz"]
    columns += [*(f"reaction.{axis}" for axis in REACTION), *columns_of_elements(robot), "energy.elastic"]
    return columns + [robot.coordinates[place] for place in (*robot.base, *robot.flexible)]
