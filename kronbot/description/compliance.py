"""Joints that say how far they yield, not how stiff they are: where, and the file in which some of them do not."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from kronbot.description import Description
from kronbot.description.described import mistaken
from kronbot.description.expressions.expression import Expression, evaluate
from kronbot.description.joint import TILTS, Joint
from kronbot.description.schema import RobotFile
from kronbot.description.wording import written

if TYPE_CHECKING:
    from kronbot.description.yaml.nodes import Path

# A joint by its name, and what yields there: elastic, or the axis of its bearing.
Part = tuple[str, str]


class Compliance(NamedTuple):
    """What a file says of one: the part of a joint, the value, and its place."""

    part: Part
    value: Expression
    path: Path


def compliances(file: RobotFile) -> Iterator[Compliance]:
    """Those of a file."""
    for i, joint in enumerate(link.joint for link in file.links):
        name, path = joint.name or "", ("links", i, "joint")
        if joint.elastic is not None and joint.elastic.compliance is not None:
            yield Compliance((name, "elastic"), joint.elastic.compliance, (*path, "elastic", "compliance"))
        for axis in TILTS:
            value = None if joint.bearing is None else getattr(joint.bearing.compliance, axis)
            if value is not None:
                yield Compliance((name, axis), value, (*path, "bearing", "compliance", axis))


def stiffened(file: RobotFile, rigid: Container[Part]) -> RobotFile:
    """The file without what yields in some parts of joints."""
    return replace(file, links=tuple(replace(link, joint=_stiffened(link.joint, rigid)) for link in file.links))


def _stiffened(joint: Joint, rigid: Container[Part]) -> Joint:
    if (joint.name, "elastic") in rigid:
        joint = replace(joint, elastic=None)
    if joint.bearing is not None:
        still = dict.fromkeys(axis for axis in TILTS if (joint.name, axis) in rigid)
        parts = {word: replace(getattr(joint.bearing, word), **still) for word in ("stiffness", "compliance")}
        bearing = replace(joint.bearing, **parts)
        joint = replace(joint, bearing=bearing if bearing.axes else None)
    return joint


def rigid(described: Description) -> list[str]:
    """The coordinates of parts that do not yield, since their compliances are 0 with the values of a file."""
    found = []
    for each in compliances(described.robot):
        known = {name: described.values[name] for name in each.value.names}
        numbers = {name: value for name, value in known.items() if value is not None}
        if len(numbers) == len(known) and evaluate(each.value, numbers) == 0:
            joint, what = each.part
            found.append(f"{joint}.{'motor' if what == 'elastic' else what}")
    return found


def demand_none_negative(described: Description) -> None:
    """Raise DescriptionError, with the places, where compliances are negative."""
    wrong = []
    for each in compliances(described.robot):
        values = {name: described.values[name] for name in each.value.names}
        known = {name: value for name, value in values.items() if value is not None}
        if len(known) == len(values) and evaluate(each.value, known) < 0:
            told = (
                f"a negative 'compliance', {written(evaluate(each.value, known))}, is for statics and its fits alone: "
            )
            wrong.append((each.path, f"{told}give 0 (rigid) or more", False))
    if wrong:
        raise mistaken(described, wrong)
