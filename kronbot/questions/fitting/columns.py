"""Names of what may be measured, as answers have them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from casadi import SX

from kronbot.description.choices import XYZ
from kronbot.description.names import WORLD, carriers, moving_frames
from kronbot.description.outputs import KINDS, named
from kronbot.errors import UsageError
from kronbot.mechanics.multibody.kinematics import frame, relative_motion
from kronbot.model.floating import hung
from kronbot.model.pose import Pose
from kronbot.model.robot import Robot
from kronbot.questions.columns import REACTION
from kronbot.questions.outputs import TURNS, Output
from kronbot.records import dataclass

BETWEEN = "base-to:"
_GAUGES = ("twist", "curvature_y", "curvature")
# What answers have and no fit compares, by what names begin with, and why.
_STILL = "0 in statics"
_ZEROED = "curvature and twist are compared; offset has what a gauge reads at first"
OF_STATICS_ONLY = {
    **dict.fromkeys(("velocity", "acceleration", "rate", "power"), _STILL),
    **dict.fromkeys(("curvature_relative", "curvature_y_relative", "twist_relative"), _ZEROED),
    "torque_quadratic": "it is of linear statics; torque is compared",
}
OF_SIMULATE_ONLY = {
    **dict.fromkeys(("energy", "momentum", "angular_momentum"), "sums over the robot, which no sensor measures"),
    **dict.fromkeys(("integral", "estimate"), "what a controller remembers, which no sensor measures"),
}


@dataclass(frozen=True)
class Column:
    """A measured number: what ``kind`` it is, ``of`` what (a frame, a joint, a gauge), and which ``place`` of it.

    Three of the kind rotation are a rotation vector, compared whole.
    """

    name: str
    kind: str
    of: str
    place: int
    unit: str

    @property
    def axis(self) -> str:
        """The last part of its name, an axis."""
        return self.name.rpartition(".")[2]

    @property
    def point(self) -> str:
        """The frame of which it is a coordinate along an axis of the base, nothing where it is none."""
        of = "endpoint" if self.kind in ("endpoint", "displacement") else self.of * (self.kind == "position")
        return "" if of.startswith(BETWEEN) else of


def pose_of(robot: Robot, q: SX, name: str) -> Pose:
    """The pose of a frame in the base frame, of ``base-to:A,B`` that of B in A. Raises UsageError for others."""
    to, of = WORLD, name
    if name.startswith(BETWEEN):
        to, _, of = name.removeprefix(BETWEEN).partition(",")
    return relative_motion(robot, q, frame(robot, of.strip()), frame(robot, to.strip())).pose


def of_statics(robot: Robot) -> dict[str, Column]:
    """All that rows of statics may hold, by name; any frame's that is not listed :func:`of_frame` finds."""
    known: list[Column] = []
    for word in ("endpoint", "displacement", "displacement_hub"):
        known += [Column(f"{word}.{axis}", word, "", i, "m") for i, axis in enumerate(XYZ)]
    for name in moving_frames(carriers(robot.file)):
        known += [each for axis in XYZ for each in of_frame(robot, name, axis)]
    known += torques(robot).values()
    for gauge in robot.file.statics.gauges:
        known += [Column(f"{word}.{gauge.name}", "gauge", gauge.name, i, "1/m") for i, word in enumerate(_GAUGES)]
    for link in robot.links:
        if link.beam is not None:
            tip, way = f"tip.{link.name}", "rotation" if link.beam.order == "exact" else "turn"
            known += [Column(f"{tip}.{axis}", "tip", link.name, i, "m") for i, axis in enumerate(XYZ)]
            known += [Column(f"{tip}.{turn}", way, tip, i, "rad") for i, turn in enumerate(TURNS)]
    known += of_elements(robot)
    for i, axis in enumerate(REACTION):
        known.append(Column(f"reaction.{axis}", "reaction", "", i, "N" if i < 3 else "N m"))
    known += outputs(robot, ("reaction", "spring"))
    known.append(Column("energy.elastic", "elastic", "", 0, "J"))
    for place in (*hung(robot), *robot.flexible):
        name = robot.coordinates[place]
        known.append(Column(name, "coordinate", name, 0, robot.units[place]))
    return {column.name: column for column in known}


def of_simulate(robot: Robot) -> dict[str, Column]:
    """All that rows of a motion may hold, by name: what ``simulate`` answers with, and its outputs by kind and name."""
    words = robot.derivative_names(["q", "qd"])
    known = [Column(name, "q", name, i, robot.units[i]) for i, name in enumerate(words["q"])]
    known += [Column(name, "qd", name, i, f"{robot.units[i]}/s") for i, name in enumerate(words["qd"])]
    known += torques(robot).values()
    for name in [f"tip.{link.name}" for link in robot.links if link.beam is not None] + ["endpoint"]:
        head, _, of = name.partition(".")
        known += [Column(f"{name}.{axis}", head, of, i, "m") for i, axis in enumerate(XYZ)]
    known += of_elements(robot)
    known += outputs(robot, KINDS)
    return {column.name: column for column in known}


def outputs(robot: Robot, kinds: Iterable[str]) -> Iterator[Column]:
    """The outputs of some kinds, but those of a name that means two things."""
    every = named(robot.file)
    for kind in kinds:
        for of in every[kind]:
            if every[kind].count(of) == 1:
                units = Output(kind, of).columns(robot)
                yield from (Column(name, kind, of, i, unit) for i, (name, unit) in enumerate(units.items()))


def of_elements(robot: Robot) -> list[Column]:
    """Their lengths and what pulls their ends together."""
    kinds = (("length", "m"), ("tension", "N"))
    names = [element.name for element in robot.elements]
    return [
        Column(f"{word}.{name}", "element", name, i, unit) for name in names for i, (word, unit) in enumerate(kinds)
    ]


def torques(robot: Robot) -> dict[str, Column]:
    """Those of the joints, by name."""
    units = zip(robot.joints, robot.force_units(robot.rigid), strict=True)
    return {f"torque.{each.name}": Column(f"torque.{each.name}", "torque", each.name, 0, unit) for each, unit in units}


def of_frame(robot: Robot, name: str, axis: str) -> list[Column]:
    """Position and rotation vector of a frame along an axis."""
    i = XYZ.index(axis)
    return [
        Column(f"position.{name}.{axis}", "position", name, i, "m"),
        Column(f"rotation.{name}.{axis}", "rotation", name, i, "rad"),
    ]


def found(robot: Robot, name: str, known: Mapping[str, Column]) -> Column | None:
    """The column of a name, None where there is none. A frame of ``base-to:A,B`` is made where it is asked for."""
    head, _, rest = name.partition(".")
    of, _, axis = rest.rpartition(".")
    if head in ("position", "rotation") and of.startswith(BETWEEN) and axis in XYZ:
        try:
            for part in of.removeprefix(BETWEEN).split(",", 1):
                frame(robot, part.strip())
        except UsageError:
            return None
        return of_frame(robot, of, axis)[head == "rotation"]
    return known.get(name)
