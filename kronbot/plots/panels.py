"""Panels of a picture that are wanted: the others go, these keep their sizes and move together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from kronbot.description.outputs import KINDS
from kronbot.description.wording import unknown
from kronbot.errors import Argument, UsageError
from kronbot.kinds import is_a
from kronbot.plots.style import Picture, entitle, look

# Commas outside of brackets: a column of a sweep may be M[q1,q2].
_COMMA = re.compile(r",(?![^\[(]*[\])])")
# Words that are looked at, since a sequence may never end, and characters of them all, whose commas take their square.
MOST, LONGEST = 1000, 10_000
# The word for all panels, and for all of what there are many.
ALL = "all"
# Those of all pictures of a command; of others they are names of columns or of gains, which the question tells.
WORDS: Mapping[str, Sequence[str]] = {
    "fit": ("residual", "histogram", "parameter", "correlation"),
    "jacobian": ("velocity", "angular-velocity"),
    "kinematics": ("robot", "space"),
    "linearize": ("pole", "response", "magnitude", "phase", "mode", "multiplier", "stiffness", "frequency"),
    "modes": ("locked", "free", "convergence"),
    "plan": ("motion", "space", "joint", "rate", "torque", "bending", "torsion", "tilt", "column"),
    "simulate": (
        *("motion", "space", "base", "angle", "slide", "deviation", "deflection", "twist", "stretch", "torsion"),
        *("torque", "force", "length", "tension", "energy", "balance", "curvature", "curvature_y"),
        *(kind for kind in KINDS if kind != "gauge"),
    ),
    "statics": ("robot", "space", "torque", "strain", "sag", "deflection", "twist"),
}
_NUMBERED = re.compile(r"(.+) \d+")


def kind(name: str) -> str:
    """The word for a panel and those like it: "motion" of "motion 1"."""
    found = _NUMBERED.fullmatch(name)
    return found[1] if found else name


def words_of(panels: str | Sequence[str]) -> list[str]:
    """Words of panels, one by one or with commas between them. Raises UsageError where there is none."""
    try:
        given = [panels] if is_a(panels, str) else list(islice(iter(panels), MOST))
        texts = [str.__str__(each) for each in given]
        if sum(map(len, texts)) > LONGEST:
            raise UsageError(Argument("panels"), f": more than {LONGEST} characters")
        words = [word.strip() for each in texts for word in _COMMA.split(each)]
    except UsageError:
        raise
    except Exception:  # of classes of others, whatever they raise
        raise UsageError(Argument("panels"), ": words are wanted, such as motion,deflection") from None
    words = list(dict.fromkeys(filter(None, words)))
    if not words:
        raise UsageError(Argument("panels"), ": name one at least")
    return words


def demand_words(command: str | None, panels: str, there: Iterable[str] | None = None) -> None:
    """Raise UsageError, before anything is computed, for words that no picture of a command has, or not ``there``."""
    told = f"; {command} has" if there is None else "; there are"
    known = WORDS.get(command or "") if there is None else list(there)
    for word in words_of(panels):
        if known is not None and word not in (*known, ALL):
            raise _no_panel(word, known, told)


def keep(picture: Picture, words: Sequence[str]) -> None:
    """Leave the panels of these kinds alone, in their order. Raises UsageError for what the picture has not."""
    there = {name: kind(name) for name in picture}
    for word in words:
        if word not in there.values():
            raise _no_panel(word, there.values())
    kept = [name for name in there if there[name] in words]
    if len(kept) == len(picture):
        return
    with look():
        _hand_on(picture, kept)
        _remove(picture, [name for name in picture if name not in kept])
        _pack(picture, kept)


def _no_panel(word: str, known: Iterable[str], there: str = "; there are") -> UsageError:
    return unknown(word, dict.fromkeys([*known, ALL]), Argument("panels"), ": no panel ", there=there)


def _hand_on(picture: Picture, kept: Sequence[str]) -> None:
    """Where the panel goes whose legend is for all, the first that stays without one takes it: lines are alike."""
    heir = next((picture[name] for name in kept if not picture[name].get_legend_handles_labels()[1]), None)
    if picture.naming is None or picture.naming in kept or heir is None:
        return
    for line, own in zip(picture[picture.naming].lines, heir.lines, strict=False):
        own.set_label(line.get_label())
    entitle(heir, heir.get_title(loc="left").replace("\n", " "))


def _remove(picture: Picture, names: Sequence[str]) -> None:
    """Take panels away, and the bars beside them; a legend below all goes with the last panel that it is for."""
    for name in names:
        axis = picture.panels.pop(name)
        for drawn in axis.collections:
            if drawn.colorbar is not None:
                drawn.colorbar.remove()
        axis.remove()
    left = {label for axis in picture.values() for label in axis.get_legend_handles_labels()[1]}
    for legend in picture.figure.legends:
        if not left & {text.get_text() for text in legend.get_texts()}:
            legend.remove()
            picture.foot = 0.0


def _pack(picture: Picture, names: Sequence[str]) -> None:
    """Lay panels out anew as wide and as high as they are, row by row; the last of a row takes what is left of it."""
    from matplotlib.gridspec import GridSpec

    across = len(picture.mosaic[0])
    spans = {name: max(row.count(name) for row in picture.mosaic) for name in names}
    tall = {
        name: sum(h for row, h in zip(picture.mosaic, picture.heights, strict=True) if name in row) for name in names
    }
    rows: list[list[str]] = [[]]
    for name in names:
        if sum(spans[each] for each in rows[-1]) + spans[name] > across:
            rows.append([])
        rows[-1].append(name)
    # A legend below all is laid out for the whole width.
    taken = across if picture.figure.legends else max(sum(spans[name] for name in row) for row in rows)
    heights = [max(tall[name] for name in row) for row in rows]
    grid = GridSpec(len(rows), taken, figure=picture.figure, height_ratios=heights)
    mosaic = []
    for i, row in enumerate(rows):
        ends = [sum(spans[name] for name in row[:k]) for k in range(len(row))] + [taken]
        for name, start, end in zip(row, ends, ends[1:], strict=False):
            picture[name].set_subplotspec(grid[i, start:end])
        mosaic.append([name for name, start, end in zip(row, ends, ends[1:], strict=False) for _ in range(start, end)])
    picture.lay(mosaic, heights, taken / across)
