"""Words of URDF: which are read, which are known, and what is meant by one that is neither.

What a misspelt word holds would be lost, and with it a mass or a pose; so it is a mistake where it can mean only one
thing that is read, and the document is read on as it was meant.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from kronbot.description.urdf.elements import Element, Inspector
from kronbot.description.wording import meant, near, quote

# A mimic of what does not move: what is told of the joint.
MIMIC: Final = "mimic of a joint that does not move is dropped: the joint moves freely"
ROUNDED: Final = "angles that are multiples of pi/2 to the digits they have are taken for these"
NEARLY: Final = "angles near multiples of pi/2, like 1.5708, are kept as they are written"

# What stands in an element: children that are read, attributes that are read, and what the others are called.
READ: Final = {
    "robot": ("link", "joint"),
    "link": ("inertial",),
    "inertial": ("origin", "mass", "inertia"),
    "joint": ("parent", "child", "origin", "axis", "limit", "dynamics", "mimic"),
}
ATTRIBUTES: Final = {
    "link": ("name",),
    "joint": ("name", "type"),
    "origin": ("xyz", "rpy"),
    "axis": ("xyz",),
    "limit": ("lower", "upper", "effort", "velocity"),
    "dynamics": ("damping", "friction"),
    "mimic": ("joint", "multiplier", "offset"),
}
NOT_READ: Final = {
    ("robot", "transmission"): "transmissions",
    ("robot", "gazebo"): "settings of Gazebo",
    ("robot", "material"): "materials",
    ("link", "visual"): "visuals",
    ("link", "collision"): "collisions",
    ("joint", "safety_controller"): "safety controllers",
    ("joint", "calibration"): "calibrations",
}
# What changes the model.
_MODEL: Final = (
    *("name", "type", "xyz", "rpy", "lower", "upper", "damping", "friction"),
    *("joint", "multiplier", "offset"),
)
# Words of dialects (loop_joint, gear_velocity) are less like those of URDF than slips are, or longer.
_LIKENESS: Final = 0.75
_LONGER: Final = 2
# Different unknown words for which the word that was meant is looked for: of thousands it would take seconds.
_SEARCHED: Final = 500


class Speller:
    """Knows what is meant; mistakes go to ``inspector``."""

    def __init__(self, inspector: Inspector) -> None:
        self._inspector = inspector
        self._meant: dict[tuple[str, tuple[str, ...]], str] = {}

    def mended(self, element: Element) -> Element:
        """The element with misspelt elements and attributes put right that are read, each a mistake."""
        read, attributes = READ.get(element.name, ()), ATTRIBUTES.get(element.name, ())
        children, values = [], {}
        for child in element.children:
            right = self._right(child.name, _elements(element.name))
            if right in read and right != child.name:
                hint = meant(child.name, right)
                self._inspector.refuse(child.place, f"unknown element {quote(child.name)} in <{element.name}>{hint}")
            children.append(self.mended(replace(child, name=right)) if right in read else child)
        for key, value in element.attributes.items():
            right = self._right(key, attributes)
            if right in _MODEL and right not in element.attributes:
                self._inspector.refuse(
                    element.place, f"unknown attribute {quote(key)} of <{element.name}>{meant(key, right)}"
                )
                key = right
            values[key] = value
        return replace(element, children=children, attributes=values)

    def hint(self, child: str, holder: str) -> str:
        """``"; did you mean 'visual'?"`` for an element that is not known, where that can be told."""
        right = self._right(child, _elements(holder))
        return meant(child, right) if right != child else ""

    def _right(self, word: str, known: tuple[str, ...]) -> str:
        """The one word that can be meant of those that are known, else the word itself."""
        # Words with a prefix belong to somebody else.
        if word in known or ":" in word:
            return word
        if (word, known) not in self._meant and len(self._meant) < _SEARCHED:
            turned = [option for option in known if sorted(option) == sorted(word)]
            alike = [option for option in known if abs(len(word) - len(option)) <= _LONGER]
            found = turned or near(word, alike, _LIKENESS)
            self._meant[word, known] = found[0] if len(found) == 1 else word
        return self._meant.get((word, known), word)


def _elements(holder: str) -> tuple[str, ...]:
    """Elements that are known in an element, read or not."""
    return (*READ.get(holder, ()), *(name for where, name in NOT_READ if where == holder))
