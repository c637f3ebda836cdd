"""What is asked for beside an answer, ``KIND:NAME``: which there are, their columns with units, and their numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from casadi import SX

from kronbot.description.outputs import KINDS, WORDS, named
from kronbot.description.wording import listing, quote, unknown
from kronbot.errors import Argument, UsageError
from kronbot.floats import Array
from kronbot.mechanics.multibody.rotations import rotation_vectors
from kronbot.model.robot import Robot
from kronbot.questions.outline import Given
from kronbot.records import dataclass

if TYPE_CHECKING:
    from kronbot.mechanics.multibody.outputs import Instant

XYZ, TURNS = ("x", "y", "z"), ("rx", "ry", "rz")
WRENCH = ("fx", "fy", "fz", "mx", "my", "mz")
STRAINS = ("curvature", "curvature_y", "twist")
# Units of velocities and accelerations by the power of time.
_UNITS = {"velocity": ("m/s", "rad/s"), "acceleration": ("m/s2", "rad/s2")}


@dataclass(frozen=True)
class Output:
    """One output of a robot by its kind and name, as :class:`kronbot.mechanics.multibody.outputs.Instant` has it."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"

    def columns(self, robot: Robot) -> dict[str, str]:
        """Its columns, each with its unit."""
        units = dict(zip(robot.coordinates, robot.units, strict=True))
        moving = {link.joint.name: link.joint for link in robot.links if link.joint is not None}
        units |= {name: "rad" if joint.revolute else "m" for name, joint in moving.items()}
        whole = f"{self.kind}.{self.name}"
        match self.kind:
            case "position":
                return {f"{whole}.{axis}": "m" for axis in XYZ}
            case "rotation":
                return {f"{whole}.{axis}": "rad" for axis in XYZ}
            case "gauge":
                return {f"{word}.{self.name}": "1/m" for word in STRAINS}
            case "power":
                return {whole: "W"}
            case "reaction":
                return {f"{whole}.{part}": "N" if part.startswith("f") else "N m" for part in WRENCH}
            case "spring":
                forces = {"rad": "N m", "m": "N"}
                springs = (spring for spring in robot.springs if spring.joint == self.name)
                return {f"{whole}.{s.word}": "N m" if s.word in XYZ else forces[units[self.name]] for s in springs}
        if self.name in units:
            return {whole: f"{units[self.name]}/s{'2' * (self.kind == 'acceleration')}"}
        straight, turning = _UNITS[self.kind]
        return {f"{whole}.{axis}": straight for axis in XYZ} | {f"{whole}.{axis}": turning for axis in TURNS}


def chosen(robot: Robot, texts: Iterable[str]) -> tuple[str, ...]:
    """The outputs asked for, each once: words and ``KIND:NAME``. Raises UsageError for what there is not."""
    return tuple(dict.fromkeys(_known(robot, *(part.strip() for part in text.partition(":"))) for text in texts))


def _known(robot: Robot, kind: str, colon: str, name: str) -> str:
    """An output by its parts, as it is written."""
    if kind == "gauges" and not robot.file.statics.gauges:
        raise UsageError(Argument("outputs", "gauges"), ": the file has no statics: {gauges: [...]}")
    if kind in WORDS and not colon:
        return kind
    where, names = Argument("outputs"), named(robot.file)
    if not colon:
        raise unknown(kind, (*WORDS, *(f"{each}:NAME" for each in KINDS)), where, ": no output ")
    if kind not in KINDS:
        raise unknown(kind, KINDS, where, ": no kind of output ")
    there = names[kind]
    if not there:
        raise UsageError(where, f": {quote(f'{kind}:{name}')}: this robot has nothing of that kind")
    if not name:
        raise UsageError(where, f": {kind} of what? {kind}:NAME; names are {listing(dict.fromkeys(there))}")
    if name not in there:
        raise unknown(name, there, where, f": {kind} of ", there="; names are")
    if there.count(name) > 1:
        both = "a frame and a joint" if kind == "acceleration" else "a link and a joint"
        raise UsageError(where, f": {quote(f'{kind}:{name}')}: {both} have that name; give one of them another")
    return f"{kind}:{name}"


def beside(robot: Robot, outputs: Sequence[str]) -> list[Output]:
    """What outputs add to a series, where joints and endpoint are anyway; gauges are each by its name."""
    gauges = named(robot.file)["gauge"] if "gauges" in outputs else ()
    pairs = [text.split(":", 1) for text in outputs if text not in WORDS]
    return list(dict.fromkeys((*(Output(*pair) for pair in pairs), *(Output("gauge", name) for name in gauges))))


def columns(robot: Robot, outputs: Sequence[str]) -> dict[str, str]:
    """Names of the columns that outputs add to a series, each with its unit."""
    return {name: unit for each in beside(robot, outputs) for name, unit in each.columns(robot).items()}


def added(robot: Robot, names: Iterable[str]) -> set[str]:
    """Which columns of a series are there because somebody has asked for them; those of gauges are anyway."""
    of_gauges = chain.from_iterable(Output("gauge", name).columns(robot) for name in named(robot.file)["gauge"])
    return (units(robot).keys() - {*of_gauges}).intersection(names)


def units(robot: Robot) -> dict[str, str]:
    """Names of all columns that somebody may ask for beside an answer, each with its unit."""
    every = (Output(kind, name).columns(robot) for kind, there in named(robot.file).items() for name in there)
    return {name: unit for each in every for name, unit in each.items()}


def traced(at: Instant, outputs: Sequence[str]) -> dict[str, SX]:
    """What the columns are made of, by output."""
    return {str(each): at.of(each.kind, each.name) for each in beside(at.robot, outputs)}


def series(robot: Robot, outputs: Sequence[str], rows: Mapping[str, Array]) -> dict[str, Array]:
    """The columns from rows (N, ...) of what they are made of; of a rotation the shortest vector."""
    found: dict[str, Array] = {}
    for each in beside(robot, outputs):
        values = rows[str(each)]
        values = rotation_vectors(values) if each.kind == "rotation" else values
        found |= dict(zip(each.columns(robot), values.T, strict=True))
    return found


def asked(robot: Robot, given: Given) -> list[str]:
    """The columns of all outputs that an argument may name."""
    texts = (each for value in given.get("outputs", ()) for each in named_in(value))
    return list(columns(robot, chosen(robot, texts)))


def named_in(given: object) -> list[str]:
    """The words of an argument that is text or a list of it."""
    return given.split(",") if isinstance(given, str) else [str(each) for each in given]  # type: ignore[attr-defined]
