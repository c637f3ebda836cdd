"""What elements of a robot file must get right: names, frames, the key that each kind needs, signs."""

from __future__ import annotations

from kronbot.description.checks.judgements import part
from kronbot.description.checks.motions import check_in_time
from kronbot.description.checks.report import View
from kronbot.description.checks.sizes import not_negative, positive
from kronbot.description.element import MAKES
from kronbot.description.names import BASE, WORLD, is_fixed_frame, moving_frames
from kronbot.description.wording import quote


def check_ends(element: View, carriers: tuple[str, ...]) -> None:
    """Report frames that are unknown, an element that joins nothing, and keys that its kind lacks or cannot have."""
    known = (*moving_frames(carriers), *((WORLD,) if BASE in carriers else (BASE, WORLD)))
    ends = element["between"].items
    for view in ends:
        if view.text is not None and view.text not in known:
            view.refuse(f"unknown frame {quote(view.text)}{view.report.guess(view.text, known)}")
    names = [WORLD if is_fixed_frame(view.text or "", carriers) else view.text for view in ends]
    if len(names) == 2 and names[0] is not None and names[0] == names[1]:
        element["between"].refuse(f"both ends are on the frame {quote(names[0])}: their distance never changes")
    kind = element["type"].text or ""
    if kind in MAKES and MAKES[kind] not in element:
        element["type"].refuse(f"a {kind} needs {quote(MAKES[kind])}")
    if kind != "spring" and kind in MAKES:
        for key in ("stiffness", "rest"):
            if key in element:
                element[key].refuse_key(f"a {kind} has no {quote(key)}: it is a spring that has")


@part
def check_element(element: View) -> None:
    """Report signs that are wrong."""
    if "stiffness" in element:
        positive(element["stiffness"])
    not_negative(element["rest"], element["damping"])
    check_in_time(element["force"])
