"""Slips of the pen: unknown keys and words of a robot file, and going on with the file as it was meant.

What stands under a misspelt key is judged like what stands under the right one, which then is not missing; so every
mistake is found at once, and none is told twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kronbot.description.checks.report import Report, called, empty
from kronbot.description.scalars import kind
from kronbot.description.wording import listing, meant, quote
from kronbot.description.yaml.locating import Location, follow, keys_of
from kronbot.description.yaml.nodes import Path, Scalar, child, find, place_of_value, plain, renamed, replaced


@dataclass(frozen=True)
class Slip:
    """A key (the last of ``path``) or a word (the value there) that is not known; ``near`` are what it may mean."""

    path: Path
    key: bool
    near: Sequence[str]
    message: str

    def tell(self, report: Report) -> None:
        """Put it into the report."""
        (report.key if self.key else report.value)(self.path, self.message)

    def mend(self, report: Report) -> None:
        """Put the nearest in its place."""
        if self.key:
            report.root = renamed(report.root, self.path, self.near[0])
        else:
            place = place_of_value(report.root, self.path)
            report.root = replaced(report.root, self.path, Scalar(self.near[0], *place))
            report.forget(self.path)


def slip_of(fault: Mapping[str, Any], report: Report) -> Slip | None:
    """The slip that a fault of the validator is; None for a fault of another kind."""
    context = fault.get("ctx", {})
    match fault["type"]:
        case "unexpected_keyword_argument":
            return _key(fault["loc"], report)
        case "literal_error":
            path, _ = follow(fault["loc"])
            return _word(path, re.findall("'([^']*)'", context["expected"]), report)
        case "union_tag_invalid":
            path, _ = follow(fault["loc"])
            return _word((*path, "type"), re.findall("'([^']*)'", context["expected_tags"]), report)
        case _:
            return None


def mend_slips(faults: Iterable[Mapping[str, Any]], report: Report) -> bool:
    """Report the slips that can mean only one thing and go on with that; whether there was one."""
    found = [slip for fault in faults if (slip := slip_of(fault, report)) is not None and len(slip.near) == 1]
    mended = False
    for slip in found:
        slip.tell(report)
        # Of two slips for one key the second one stays.
        if not slip.key or find(report.root, (*slip.path[:-1], slip.near[0])) is None:
            slip.mend(report)
            mended = True
    return mended


def _key(location: Location, report: Report) -> Slip:
    path, _ = follow(location)
    word = str(path[-1])
    _, holders = follow(location[:-1])
    allowed = [key for holder in holders for key in keys_of(holder)]
    present = find(report.root, path[:-1])
    near = report.near(word, (key for key in allowed if child(present, key) is None))
    hint = meant(word, near[0]) if near else f"; known here: {listing(allowed)}"
    return Slip(path, True, near, f"unknown key {quote(word)}{hint}")


def _word(path: Path, allowed: Sequence[str], report: Report) -> Slip:
    value = plain(find(report.root, path))
    if value is None:
        return Slip(path, False, (), empty(path))
    near = report.near(value, allowed) if isinstance(value, str) else []
    hint = meant(str(value), near[0]) if near else ""
    message = f"{called(path)} must be one of {', '.join(allowed)}; not {kind(value)}{hint}"
    return Slip(path, False, near, message)
