"""Angles that look like degrees, wherever somebody gives one: the same doubt in the same words."""

from __future__ import annotations

import math
import re
from typing import Final

from kronbot.description.wording import written

FULL_TURN: Final = 2 * math.pi * (1 + 1e-9)
"""Angles (rad) beyond this are suspicious, unless somebody wrote pi or deg."""
_MEANT = re.compile(r"(?<![A-Za-z_])(pi|deg)(?!\w)")


def doubt_of(name: str, value: float, text: str = "") -> str | None:
    """What to say of an angle (rad), by its name, that was written as ``text``; None where it may be meant, or NaN."""
    if not abs(value) > FULL_TURN or _MEANT.search(text):
        return None
    called, number = f"{name} =" if name else "the angle", written(value)
    return f"{called} {number} is beyond 2 pi: is it in degrees? (write {number}*deg)"
