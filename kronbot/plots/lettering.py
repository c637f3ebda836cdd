"""Words of pictures: how wide they are, and how titles break into lines."""

from __future__ import annotations

import re

# Lines of a title.
LINES = 4


def in_lines(title: str, room: float, most: int = LINES) -> list[str]:
    """A title in lines of a width (a multiple of the size of its type), in no more than it needs and never more than
    ``most``; where it has no places for that, lines are wider."""
    halves = [title] if most == 1 or width(title) <= room else _halves(title)
    if len(halves) == 1:
        return halves
    second = in_lines(halves[1], room, most - 1)
    return [*in_lines(halves[0], room, most - len(second)), *second]


def _halves(title: str) -> list[str]:
    """A title in two lines, parted behind a semicolon, else in like width behind a comma or a colon, if it has one."""
    places = [match.end() for match in re.finditer("; " if "; " in title else "[,:] ", title)]
    if not places:
        return [title]
    place = min(places, key=lambda place: abs(2 * place - len(title)))
    return [title[:place].rstrip(), title[place:]]


def width(text: str) -> float:
    """Width of a line of text as a multiple of the size of its type; 1 of what has no ink."""
    import numpy as np
    from matplotlib.font_manager import FontProperties
    from matplotlib.path import Path as Outline
    from matplotlib.textpath import TextToPath, text_to_path

    # A dollar would begin a formula.
    points, codes = map(np.array, text_to_path.get_text_path(FontProperties(), text.replace("$", "0").strip()))
    # What TextPath.get_extents() finds arc by arc, in ten times as long: type is of lines and quadratic arcs. An arc
    # goes beyond its ends where its control point does.
    inked = codes != Outline.CLOSEPOLY
    x = points.reshape(-1, 2)[inked, 0]
    arcs = np.flatnonzero(codes[inked] == Outline.CURVE3)[::2]
    a, b, c = x[arcs - 1], x[arcs], x[arcs + 1]
    beyond = (b - a) * (b - c) > 0
    x[arcs] = np.where(beyond, (a * c - b * b) / np.where(beyond, a - 2 * b + c, 1), a)
    return float(np.ptp(x)) / TextToPath.FONT_SCALE if x.size else 1.0
