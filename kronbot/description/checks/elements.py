"""What elements of a robot file must get right: names, frames, the key that each kind needs, signs."""

from __future__ import annotations

from kronbot.description import limits
from kronbot.description.checks.judgements import part
from kronbot.description.checks.motions import check_in_time
from kronbot.description.checks.report import View
from kronbot.description.checks.sizes import not_negative, positive
from kronbot.description.element import LACKS, MAKES
from kronbot.description.names import WORLD, fixed_frames, is_fixed_frame, moving_frames
from kronbot.description.wording import quote


def check_ends(element: View, carriers: tuple[str, ...]) -> None:
    """Report frames that are unknown, an element that joins nothing, and keys that its kind lacks or cannot have."""
    known = (*moving_frames(carriers), *fixed_frames(carriers))
    ends, via = element["between"].items, element["via"].items
    if len(via) > limits.VIA:
        element["via"].refuse(f"{len(via)} points on the way, at most {limits.VIA} are allowed")
    every = [*ends, *(point["frame"] for point in via)]
    for view in every:
        if view.text is not None and view.text not in known:
            view.refuse(f"unknown frame {quote(view.text)}{view.report.guess(view.text, known)}")
    names = [WORLD if is_fixed_frame(view.text or "", carriers) else view.text for view in every]
    if len(ends) == 2 and names[0] is not None and set(names) == {names[0]}:
        what = "all points" if via else "both ends"
        element["between"].refuse(f"{what} are on the frame {quote(names[0])}: their distance never changes")
    kind = element["type"].text or ""
    if kind in MAKES and MAKES[kind] not in element:
        element["type"].refuse(f"a {kind} needs {quote(MAKES[kind])}")
    for key, why in LACKS.get(kind, {}).items():
        if key in element:
            element[key].refuse_key(why.format(kind=kind, key=quote(key)))


@part
def check_element(element: View) -> None:
    """Report signs that are wrong."""
    if "stiffness" in element:
        positive(element["stiffness"])
    not_negative(element["rest"], element["damping"])
    check_in_time(element["force"])
