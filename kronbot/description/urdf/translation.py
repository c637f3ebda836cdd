"""From a robot read from URDF to the text of a robot file.

A joint of kronbot turns about or slides along z of its link's root frame. So the frame of a link is the URDF's frame
turned by a rotation A that takes z to the joint's axis (after a fixed joint: not turned). With A of the parent, P, the
pose before the joint is P^T (origin) A; a body's centre of mass is A^T c and its tensor A^T R I R^T A.
"""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import PurePath
from typing import Final

from kronbot.description import limits
from kronbot.description.checks.rules import name_fault
from kronbot.description.expressions.grammar import is_taken
from kronbot.description.mistakes import Mistakes
from kronbot.description.names import BASE, JOINT_WORDS, LINK_WORDS, WORLD
from kronbot.description.urdf.rotations import (
    IDENTITY,
    Matrix,
    beside_quarter_turns,
    from_rpy,
    placed,
    product,
    quarter_turns,
    rounded,
    to_rpy,
    transposed,
    turn_to,
    turned_tensor,
)
from kronbot.description.urdf.tree import Inertial, Joint, Mimic, Triple, Urdf
from kronbot.description.urdf.words import MIMIC
from kronbot.description.wording import is_shown, quote, unknown
from kronbot.description.yaml.composing import demand_readable
from kronbot.errors import Argument
from kronbot.records import dataclass

_WIDTH: Final = 120
_NAMES_SHOWN: Final = 5
_KINDS_SHOWN: Final = 20
_NOWHERE: Final[tuple[Triple, Triple]] = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
_TENSOR: Final = ("Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")
_JOINT_COLUMNS: Final = ("", "_dot", "_ddot")
# What strict YAML 1.2 reads as something else than text, of all that names can be.
_YAML_WORDS: Final = ("null", "true", "false")


@dataclass(frozen=True)
class Translation:
    """The text of a robot file, and what its user has to know: what was not carried, renamed or decided."""

    text: str
    notes: tuple[str, ...]


def translate(urdf: Urdf, tip: str | None) -> Translation:
    """The robot file of a URDF; its endpoint is the link ``tip``, by default the only or the deepest leaf.

    Raises UsageError where there is no link ``tip``, DescriptionError where kronbot cannot hold the robot.
    """
    writer = _Writer(urdf, tip)
    body = writer.body()
    file = quote(PurePath(urdf.file).name)
    comments = [f"# Converted from the URDF {file}."]
    for note in writer.notes:
        comments += textwrap.wrap(note, _WIDTH, initial_indent="# - ", subsequent_indent="#   ", break_on_hyphens=False)
    text = "\n".join([*comments, *body, ""])
    demand_readable(text, urdf.file, "the robot file is too large: join links that do not move")
    return Translation(text, writer.notes)


class _Writer:
    def __init__(self, urdf: Urdf, tip: str | None) -> None:
        self._urdf = urdf
        self._leading = {joint.child: joint for joint in urdf.joints}
        self._children: dict[str, list[str]] = {name: [] for name in urdf.links}
        for joint in urdf.joints:
            self._children[joint.parent].append(joint.child)
        self._endpoint, why = self._choose_endpoint(tip)
        self._order = tuple(self._outward())
        moving = [joint for joint in map(self._leading.get, self._order) if joint is not None and joint.moves]
        self._turns = dict.fromkeys(urdf.links, IDENTITY) | {joint.child: turn_to(joint.axis) for joint in moving}
        # The link that floats is the base; another one is not called so beside it.
        floats = {} if urdf.base is None else {urdf.base.child: BASE}
        reserved = LINK_WORDS | dict.fromkeys(floats.values(), "the body of the floating base")
        self._links = _allowed_names("link", self._order, reserved, ("",)) | floats
        self._joints = _allowed_names("joint", [joint.name for joint in moving], JOINT_WORDS, _JOINT_COLUMNS)
        self._ground = WORLD if BASE in self._links.values() else BASE
        self._first = BASE if floats else self._ground
        self._robot = _one_line(urdf.name)[: limits.ROBOT_NAME_LENGTH]
        self.notes = (f"endpoint: {quote(self._links[self._endpoint])}, {why}", *self._notes())

    def body(self) -> list[str]:
        """The lines of the robot file. Raises DescriptionError where a tensor cannot be turned into new axes."""
        moving = [name for name in self._order if name in self._leading and self._leading[name].moves]
        mistakes = Mistakes(self._urdf.file)
        few = (self._order, limits.LINKS, "links"), (moving, limits.MOVING, "links with coordinates")
        for names, most, what in few:
            if len(names) > most:
                message = f"{len(names)} {what}, at most {most} are allowed"
                mistakes.refuse(self._urdf.links[names[most]].place, message)
                mistakes.raise_mistakes()
        lines = [
            "kronbot: 1",
            f"name: {_yaml_text(self._robot)}",
            f"source: {_yaml_text('converted from ' + _one_line(PurePath(self._urdf.file).name))}",
            "gravity: [0, 0, -9.81]  # not in the URDF",
        ]
        if self._urdf.base is not None:
            lines += ["base:", "    type: floating", *self._body(self._urdf.base.child, mistakes)]
        lines.append("links:")
        before = self._first
        for name in self._order:
            joint = self._leading.get(name)
            parent = self._ground if joint is None or joint.parent not in self._links else self._links[joint.parent]
            lines.append(f"  - name: {_yaml_text(self._links[name])}")
            if parent != before:
                lines.append(f"    parent: {_yaml_text(parent)}")
            before = self._links[name]
            lines += _flow("joint", self._joint(joint))
            lines += _flow("pose", self._pose(joint))
            lines += self._body(name, mistakes)
        mistakes.raise_mistakes()
        return [*lines, f"endpoint: {{link: {_yaml_text(self._links[self._endpoint])}}}"]

    def _body(self, name: str, mistakes: Mistakes) -> list[str]:
        """The body of a link, where it has one."""
        body = self._urdf.links[name].body
        if body is None:
            return []
        try:
            return _flow("rigid", _rigid(body, self._turns[name]))
        except ValueError as error:
            mistakes.refuse(body.place, f"the link {quote(name)} {error}")
            return []

    def _choose_endpoint(self, tip: str | None) -> tuple[str, str]:
        """The link whose frame is the endpoint, and why it is this one."""
        links = self._urdf.links
        if tip is not None:
            if tip not in links:
                raise unknown(tip, links, Argument("tip"), ": no link ", there="; links are")
            return tip, "as asked for"
        leaves = [name for name in links if not self._children[name]]
        if len(leaves) == 1:
            return leaves[0], "the only leaf"
        why = f"the deepest of {len(leaves)} leaves, since no tip is named (kronbot explain convert)"
        return max(leaves, key=self._depth), why

    def _depth(self, name: str) -> int:
        depth = 0
        while name in self._leading:
            name = self._leading[name].parent
            depth += 1
        return depth

    def _outward(self) -> Iterator[str]:
        """The links that kronbot has, depth first, children in the order of the document.

        A root without mass is the base and no link, unless it is the endpoint; what floats in it is no link either.
        """
        waiting = [self._urdf.root.name]
        while waiting:
            name = waiting.pop()
            floats = self._urdf.base is not None and name == self._urdf.base.child
            grounded = name == self._urdf.root.name and self._urdf.root.body is None and name != self._endpoint
            if not grounded and not floats:
                yield name
            waiting += reversed(self._children[name])

    def _notes(self) -> Iterator[str]:
        left_out = dict(self._urdf.left_out)
        mimic = left_out.pop(MIMIC, ())
        if mimic:
            yield f"{MIMIC} ({_shown(mimic)})"
        for kind, names in list(left_out.items())[:_KINDS_SHOWN]:
            yield f"not carried: {kind} ({_shown(names)})"
        if len(left_out) > _KINDS_SHOWN:
            yield f"not carried: {len(left_out) - _KINDS_SHOWN} more kinds of elements and attributes"
        for kind, names in self._urdf.angles.items():
            yield f"{kind} ({_shown(names)})"
        turned = [self._links[name] for name in self._order if self._turns[name] != IDENTITY]
        if turned:
            yield f"frames turned against the URDF's, so that z is the joint's axis ({_shown(turned)})"
        root = self._urdf.root.name
        if root not in self._links:
            yield f"the massless root link {quote(root)} is the {self._ground}"
        tables = {"robot": {self._urdf.name: self._robot}, "link": self._links, "joint": self._joints}
        for what, table in tables.items():
            changed = [f"{quote(old)} to {quote(new)}" for old, new in table.items() if old != new]
            if changed:
                yield f"renamed {what}s: {', '.join(changed)}"

    def _joint(self, joint: Joint | None) -> list[str]:
        if joint is None or not joint.moves:
            return ["type: fixed"]
        kind = "prismatic" if joint.type == "prismatic" else "revolute"
        parts = [f"type: {kind}", f"name: {_yaml_text(self._joints[joint.name])}"]
        if joint.mimic is not None:
            other = self._joints[joint.mimic.joint]
            parts.append(f"follows: {_yaml_text(_following(other, joint.mimic, kind == 'revolute'))}")
        if joint.damping:
            parts.append(f"damping: {_number(joint.damping)}")
        if joint.friction:
            parts.append(f"friction: {{coulomb: {_number(joint.friction)}}}")
        if joint.limits is not None:
            # Limits that are one multiple of pi/2 to its tolerance would not ascend as multiples of pi/2.
            low, high = map(_angle if kind == "revolute" else _number, joint.limits)
            parts.append(f"limits: {_vector((low, high) if low != high else map(_number, joint.limits))}")
        return parts

    def _pose(self, joint: Joint | None) -> list[str]:
        xyz, rpy = _NOWHERE
        if joint is not None:
            back, turn = transposed(self._turns[joint.parent]), self._turns[joint.child]
            xyz = placed(back, joint.origin.xyz)
            rpy = joint.origin.rpy
            if back != IDENTITY or turn != IDENTITY:
                R = product(back, product(from_rpy(rpy), turn))
                rpy = rounded(to_rpy(R), 1.0, R)
        turns = [f"rpy: {_vector(map(_angle, rpy))}"] if any(rpy) else []
        return [f"xyz: {_vector(map(_number, xyz))}", *turns]


def _following(name: str, mimic: Mimic, revolute: bool) -> str:
    """What follows a joint, whose name stands in quotes where it is no word of expressions."""
    word = name if name.isascii() and name.isidentifier() and not is_taken(name) else f"'{name}'"
    factor = {1.0: "", -1.0: "-"}.get(mimic.multiplier, f"{_number(mimic.multiplier)}*")
    offset = (_angle if revolute else _number)(mimic.offset)
    if offset == "0":
        return f"{factor}{word}"
    return f"{factor}{word} - {offset[1:]}" if offset.startswith("-") else f"{factor}{word} + {offset}"


def _rigid(inertial: Inertial, turn: Matrix) -> list[str]:
    """Mass, centre of mass and tensor in the frame of a link. Raises ValueError for a negative moment of inertia."""
    parts = [f"mass: {_number(inertial.mass)}"]
    com = placed(transposed(turn), inertial.origin.xyz)
    if any(com):
        parts.append(f"com: {_vector(map(_number, com))}")
    tensor = turned_tensor(inertial.tensor, product(transposed(turn), from_rpy(inertial.origin.rpy)))
    entries = [f"{key}: {_number(entry)}" for key, entry in zip(_TENSOR, tensor, strict=True) if entry]
    if entries:
        entries[0] = "inertia: {" + entries[0]
        entries[-1] += "}"
    return [*parts, *entries]


def _allowed_names(
    what: str, names: Sequence[str], reserved: Mapping[str, str], columns: Sequence[str]
) -> dict[str, str]:
    """Names that a robot file may hold by the URDF's; those that are right already stay.

    No two names plus ``columns`` (what names of results end with) are equal.
    """
    taken: set[str] = set()
    result: dict[str, str] = {}

    def take(old: str, new: str) -> bool:
        generated = {new + column for column in columns}
        if name_fault(new, reserved) or generated & taken:
            return False
        taken.update(generated)
        result[old] = new
        return True

    for name in [name for name in names if not take(name, name)]:
        normal = unicodedata.normalize("NFC", name)
        clean = "".join(c if c.isalpha() or c.isdecimal() or c in "_-" else "_" for c in normal)
        if not (clean[0].isalpha() or clean[0] == "_"):
            clean = f"_{clean}"
        if clean in reserved:
            clean = f"{clean}_{what}"
        endings = ("" if number == 1 else f"-{number}" for number in count(1))
        next(ending for ending in endings if take(name, clean[: limits.NAME_LENGTH - len(ending)] + ending))
    return {name: result[name] for name in names}


def _shown(names: Sequence[str]) -> str:
    """How many there are, and the first of their names."""
    different = [quote(name) for name in dict.fromkeys(names) if name]
    more = ", ..." if len(different) > _NAMES_SHOWN else ""
    return f"{len(names)}: {', '.join(different[:_NAMES_SHOWN])}{more}" if different else str(len(names))


def _flow(key: str, parts: Iterable[str]) -> list[str]:
    """A key of a link with its mapping, filled into lines."""
    lines = [f"    {key}: {{"]
    indent = " " * len(lines[0])
    for part in parts:
        piece = f"{part}, "
        if len(lines[-1]) + len(piece) > _WIDTH and lines[-1].strip():
            lines.append(indent)
        lines[-1] += piece
    return [line.rstrip() for line in [*lines[:-1], lines[-1].removesuffix(", ") + "}"]]


def _vector(texts: Iterable[str]) -> str:
    return f"[{', '.join(texts)}]"


def _angle(value: float) -> str:
    """An angle (rad), exactly where it is meant to be a multiple of pi/2, perhaps with a short decimal besides."""
    turns, left = quarter_turns(value), ""
    if turns is None and (parted := beside_quarter_turns(value)):
        turns, rest = parted
        left = f" {'-' if rest < 0 else '+'} {_number(abs(rest))}"
    if not turns:
        return _number(value if turns is None else 0.0)
    factor, denominator = (turns // 2, "") if turns % 2 == 0 else (turns, "/2")
    return {1: "", -1: "-"}.get(factor, f"{factor}*") + "pi" + denominator + left


def _number(value: float) -> str:
    """A number as short as it reads back the same; whole ones without a fraction."""
    return repr(int(value)) if value.is_integer() and abs(value) < 1e6 else repr(value)


def _one_line(text: str) -> str:
    """The text without what a name or a source may not hold."""
    return "".join(character if is_shown(character) else "_" for character in text)


def _yaml_text(text: str) -> str:
    """Text as YAML reads it back: plain where it is a name, else in quotes."""
    if not name_fault(text, {}) and text.casefold() not in _YAML_WORDS:
        return text
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    return character if character.isprintable() else f"\\U{ord(character):08x}"
