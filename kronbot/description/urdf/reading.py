"""Reading URDF: links and joints as a small tree, everything else counted, every mistake at once with its place."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from kronbot.description import limits
from kronbot.description.circles import circles
from kronbot.description.urdf.elements import Element, Inspector, parse_xml
from kronbot.description.urdf.freedoms import FLOATING, PLANAR, floating_base, spread
from kronbot.description.urdf.rotations import as_meant, nearly
from kronbot.description.urdf.tree import ORIGIN, Inertial, Joint, Link, Mimic, Origin, Triple, Urdf
from kronbot.description.urdf.words import ATTRIBUTES, MIMIC, NEARLY, NOT_READ, READ, ROUNDED, Speller
from kronbot.description.wording import listing, quote
from kronbot.description.yaml.source import Source
from kronbot.errors import DescriptionError, Mistake

URDF_BYTES: Final = 4 * 1024 * 1024
"""Largest URDF file, bytes: larger than a robot file, since visuals and plug-ins stand in it too."""

_KINDS: Final = ("revolute", "continuous", "prismatic", "fixed")
_SEVERAL: Final = (FLOATING, PLANAR)
_TENSOR: Final = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
_AXIS: Final[Triple] = (1.0, 0.0, 0.0)
# CAD programs write negative moments of this size (kg m^2) for bodies that have none.
_NO_MOMENT: Final = 1e-15


def parse_urdf(source: Source) -> Urdf:
    """The robot in a URDF document. Raises DescriptionError with every mistake of it."""
    root = parse_xml(source)
    if root.name != "robot":
        message = f"this is no URDF: the outermost element is {quote(root.name)}, not 'robot'"
        raise DescriptionError([Mistake(*root.place, message, source.name)])
    return _Reader(source.name).robot(root)


class _Reader(Inspector):
    def __init__(self, file: str) -> None:
        super().__init__(file)
        # The first to be told changes how the robot moves.
        self._left_out: defaultdict[str, list[str]] = defaultdict(list, {MIMIC: []})
        self._angles: defaultdict[str, list[str]] = defaultdict(list)
        self._speller = Speller(self)

    def robot(self, root: Element) -> Urdf:
        """The whole robot. Raises DescriptionError with every mistake."""
        root = self._speller.mended(root)
        name = self.text(root, "name")
        self._note_rest(root, name)
        elements = root.all("link")
        self._unique(elements)
        self._unique(root.all("joint"))
        if not elements:
            self.refuse(root.place, "the robot has no link")
        if len(elements) > limits.LINKS + 1:  # a massless root is the base of kronbot, and no link of it
            message = f"{len(elements)} links, at most {limits.LINKS} are allowed"
            self.refuse(elements[limits.LINKS + 1].place, message)
            self.raise_mistakes()
        links = {link.name: link for link in map(self._link, elements)}
        joints = [self._joint(element, links) for element in root.all("joint")]
        whole = tuple(joint for joint in joints if joint is not None)
        roots = self._roots(links, whole) if len(whole) == len(joints) else []
        whole = self._followed(whole)
        self.raise_mistakes()
        base = floating_base(roots[0], whole)
        if base is not None and base.origin != Origin():
            self._left_out["origins of a floating base, which begins where the fixed frame is"].append(base.name)
        links, whole = spread(links, whole, base)
        left_out = {kind: tuple(names) for kind, names in self._left_out.items() if names}
        angles = {kind: tuple(self._angles[kind]) for kind in (ROUNDED, NEARLY) if kind in self._angles}
        return Urdf(name, self.file, roots[0], links, whole, left_out, angles, base)

    def _link(self, element: Element) -> Link:
        name = self.text(element, "name")
        self._note_rest(element, name)
        inertial = self.optional(element, "inertial")
        return Link(name, None if inertial is None else self._inertial(inertial, name), element.place)

    def _inertial(self, element: Element, owner: str) -> Inertial:
        self._note_rest(element, owner)
        mass, tensor = 0.0, [0.0] * 6
        holder = self.required(element, "mass")
        if holder is not None:
            mass = self.not_negative(holder, "value", self.number(holder, "value"))
        holder = self.required(element, "inertia")
        if holder is not None:
            tensor = [self.number(holder, key) for key in _TENSOR]
            for i, key in enumerate(_TENSOR[:3]):
                if -_NO_MOMENT < tensor[i] < 0:
                    self._left_out[f"moments of inertia between -{_NO_MOMENT!r} and 0"].append(owner)
                    tensor[i] = 0.0
                self.not_negative(holder, key, tensor[i])
        return Inertial(self._origin(element, owner), mass, tuple(tensor), element.place)

    def _joint(self, element: Element, links: Iterable[str]) -> Joint | None:
        """The joint, or None where its links are not known."""
        name, kind = self.text(element, "name"), self.text(element, "type")
        parent, child = self._reference(element, "parent", links), self._reference(element, "child", links)
        origin = self._origin(element, name)
        axis, ends, damping, friction, mimic = _AXIS, None, 0.0, 0.0, None
        if kind == "fixed":
            self._left_out["names of fixed joints"].append(name)
        elif kind in _KINDS:
            self._note_rest(element, name)
            axis = self._axis(element, name)
            ends = self._limits(element, name, kind)
            damping, friction = self._dynamics(element, name)
            mimic = self._mimic(element, name)
        elif kind in _SEVERAL:
            axis = self._axis(element, name) if kind == PLANAR else _AXIS
            self._note_rest(element, name)
            for word in {each.name for each in element.children} & {"limit", "dynamics", "mimic"}:
                self._left_out[f"elements {quote(word)} of planar and floating joints"].append(name)
        elif kind:
            hint = self.guess(kind, (*_KINDS, *_SEVERAL)) or f"; known are {listing((*_KINDS, *_SEVERAL))}"
            self.refuse(element.place, f"the joint {quote(name)} has the unknown type {quote(kind)}{hint}")
        if parent is None or child is None:
            return None
        return Joint(name, kind, parent, child, origin, axis, ends, damping, friction, mimic)

    def _origin(self, holder: Element, owner: str) -> Origin:
        element = self.optional(holder, "origin")
        if element is None:
            return Origin()
        if "quat_xyzw" in element.attributes:
            self.refuse(element.place, "quaternions are not read: write 'rpy' in place of 'quat_xyzw'")
        self._note_rest(element, owner)
        written = self.numbers(element, "rpy", ORIGIN)
        rpy = tuple(map(as_meant, written))
        for kind in {
            ROUNDED if angle != own else NEARLY for angle, own in zip(written, rpy, strict=True) if nearly(angle)
        }:
            self._angles[kind].append(owner)
        return Origin(self.numbers(element, "xyz", ORIGIN), rpy)

    def _axis(self, joint: Element, owner: str) -> Triple:
        element = self.optional(joint, "axis")
        if element is None:
            return _AXIS
        self._note_rest(element, owner)
        axis = self.numbers(element, "xyz", _AXIS)
        if not any(axis):
            self.refuse(element.place, f"the axis of the joint {quote(owner)} is zero: it has no direction")
        return axis

    def _limits(self, joint: Element, owner: str, kind: str) -> tuple[float, float] | None:
        element = self.optional(joint, "limit")
        if element is None:
            return None
        self._note_rest(element, owner)
        for key in ("effort", "velocity"):
            if key in element.attributes:
                self._left_out[f"{key} limits"].append(owner)
        (low,), (high,) = self.numbers(element, "lower", (0.0,)), self.numbers(element, "upper", (0.0,))
        if kind != "continuous" and low < high:
            return low, high
        if "lower" in element.attributes or "upper" in element.attributes:
            which = "of continuous joints" if kind == "continuous" else "that do not ascend"
            self._left_out[f"limits {which}"].append(owner)
        return None

    def _dynamics(self, joint: Element, owner: str) -> tuple[float, float]:
        """Damping and friction."""
        element = self.optional(joint, "dynamics")
        if element is None:
            return 0.0, 0.0
        self._note_rest(element, owner)
        keys = ("damping", "friction")
        damping, friction = (self.not_negative(element, key, self.numbers(element, key, (0.0,))[0]) for key in keys)
        return damping, friction

    def _mimic(self, joint: Element, owner: str) -> Mimic | None:
        element = self.optional(joint, "mimic")
        if element is None:
            return None
        self._note_rest(element, owner)
        (multiplier,), (offset,) = self.numbers(element, "multiplier", (1.0,)), self.numbers(element, "offset", (0.0,))
        return Mimic(self.text(element, "joint"), multiplier, offset, element.place)

    def _followed(self, joints: tuple[Joint, ...]) -> tuple[Joint, ...]:
        """The joints without what mimics nothing that moves; unknown names and circles are refused."""
        by_name = {joint.name: joint for joint in joints}
        found, following = [], dict[str, str]()
        for joint in joints:
            mimic = joint.mimic
            if mimic is not None and mimic.joint and mimic.joint not in by_name:
                self.refuse(mimic.place, f"unknown joint {quote(mimic.joint)}{self.guess(mimic.joint, by_name)}")
            elif mimic is not None and mimic.joint and by_name[mimic.joint].type in _SEVERAL:
                several = f"{quote(joint.name)} mimics {quote(mimic.joint)}, which moves in more ways than one"
                self.refuse(mimic.place, several)
            elif mimic is not None and mimic.joint and by_name[mimic.joint].moves:
                following[joint.name] = mimic.joint
            elif mimic is not None:
                self._left_out[MIMIC].append(joint.name)
                joint = replace(joint, mimic=None)
            found.append(joint)
        for circle in circles(following):
            shown = " -> ".join(map(quote, (*circle[:10], circle[0])))
            first = next(joint.mimic for joint in joints if joint.name == circle[0] and joint.mimic)
            self.refuse(first.place, f"the joints mimic each other in a circle: {shown}")
        return tuple(found)

    def _reference(self, joint: Element, key: str, links: Iterable[str]) -> str | None:
        """The link that ``parent`` or ``child`` of a joint names, or None."""
        element = self.required(joint, key)
        name = "" if element is None else self.text(element, "link")
        if element is not None and name and name not in links:
            self.refuse(element.place, f"unknown link {quote(name)}{self.guess(name, links)}")
        return name if name in links else None

    def _roots(self, links: dict[str, Link], joints: tuple[Joint, ...]) -> list[Link]:
        """The links that no joint leads to; everything that makes the joints no tree is refused."""
        leading: dict[str, Joint] = {}
        for joint in joints:
            other = leading.setdefault(joint.child, joint)
            if other is not joint:
                both = f"{quote(other.name)} and {quote(joint.name)}"
                self.refuse(links[joint.child].place, f"two joints lead to the link {quote(joint.child)}: {both}")
        roots = [link for name, link in links.items() if name not in leading]
        for link in roots[1:]:
            both = f"{quote(roots[0].name)} and {quote(link.name)}"
            self.refuse(link.place, f"more than one root: no joint leads to {both}")
        for circle in circles({child: joint.parent for child, joint in leading.items()}):
            shown = " -> ".join(map(quote, (*circle[:10], circle[0])))
            self.refuse(links[circle[0]].place, f"the links are each other's parents in a circle: {shown}")
        return roots

    def _unique(self, elements: list[Element]) -> None:
        first: dict[str, Element] = {}
        for element in elements:
            name = element.attributes.get("name", "").strip()
            other = first.setdefault(name, element)
            if name and other is not element:
                both = f"two {element.name}s, first on line {other.place[0]}"
                self.refuse(element.place, f"the name {quote(name)} is given to {both}")

    def _note_rest(self, element: Element, owner: str) -> None:
        """Note under the name of the link or joint what its element holds beyond what is read."""
        for child in element.children:
            if child.name not in READ.get(element.name, ()):
                hint = self._speller.hint(child.name, element.name)
                other = f"elements {quote(child.name)} of {quote(element.name)}{hint}"
                kind = NOT_READ.get((element.name, child.name), other)
                name = child.attributes.get("name", "") if element.name == "robot" else owner
                self._left_out[kind].append(name)
        for key in element.attributes:
            if key not in ATTRIBUTES.get(element.name, (key,)):
                kind = f"attribute {quote(key)} of {quote(element.name)}"
                self._left_out[kind].append(owner)
