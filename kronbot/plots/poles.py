"""Poles of a linear model in the plane, and lines of equal damping that keep out of their way."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kronbot.plots.lettering import width
from kronbot.plots.style import COLOURS, GREY, entitle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Beyond this ratio of the largest to the smallest part, an axis of the plane of poles becomes logarithmic.
WIDE = 30.0
# Real parts below this share of a pole do not show.
ROUNDING = 1e-9
# Imaginary parts below this share of an eigenvalue leave it real to the eye.
ALMOST = 1e-6
# Damping ratios of the lines that can be drawn (decades where a scale is logarithmic), and how many at most.
DECADES = (1e-5, 1e-4, 1e-3, 1e-2, 0.1)
GUIDES = tuple(digit * decade for decade in DECADES for digit in (1, 2, 5))
MOST_GUIDES = 4
# Size of the type of a line's label, and its height as a multiple of that.
TYPE, TALL = 6, 1.3
# Points of type: between a label and its line, half a pole's mark, and what is left free between labels and poles (the
# size of the axes is not yet exactly known).
OFF, MARK, CLEAR = 2.0, 3.5, 3.0
SIDES = tuple(np.array(side) for side in ((1, -1), (-1, -1), (1, 1), (-1, 1)))
# The number of a point of a line, the side of it, and a box (2, 2) there on paper.
Place = tuple[int, np.ndarray, np.ndarray]
# Points of a line, so dense that no label slips between them; each so manieth is drawn.
POINTS, FINE = 4000, 20


def visible(poles: np.ndarray) -> np.ndarray:
    """Poles (N,) without the parts too small to see, so that they are not drawn on a scale of their own."""
    real = np.where(np.abs(poles.real) <= ROUNDING * np.abs(poles), 0.0, poles.real)
    return np.asarray(real + 1j * np.where(np.abs(poles.imag) <= ALMOST * np.abs(poles), 0.0, poles.imag))


def draw_poles(axis: Axes, poles: np.ndarray, free: int = 0) -> None:
    """Poles of the upper half plane, so many of those at 0 of ``free`` coordinates, and lines of equal damping."""
    from matplotlib.ticker import MaxNLocator

    poles = visible(poles)
    real = poles.real
    scaled = {"x": _scaled(axis.set_xscale, real), "y": _scaled(axis.set_yscale, poles.imag)}
    for word, wide in scaled.items():
        ticks = getattr(axis, f"{word}axis").get_major_locator()
        if wide:
            ticks.set_params(numticks=6)
        else:
            getattr(axis, f"{word}axis").set_major_locator(MaxNLocator(5))
    moving, fixed = poles != 0, int((poles == 0).sum())
    axis.axvline(0, color="black", linewidth=0.8)
    look: dict[str, Any] = {"linestyle": "none", "clip_on": False, "zorder": 3}
    if moving.any():
        axis.plot(real[moving], poles.imag[moving], marker="x", color=COLOURS[0], markeredgewidth=1.5, **look)
    if fixed:
        sorts = [(free, ": free coordinates"), (fixed - free, "")]  # others are so within their errors
        label = ", ".join(f"{count} at 0{what}" for count, what in sorts if count)
        axis.plot(0, 0, marker="o", color=COLOURS[1], markerfacecolor="none", label=label, **look)
    if not real.any():
        axis.set_xlim(-1, 1)
    left, right = axis.get_xlim()
    top = axis.get_ylim()[1] if poles.imag.any() else 1.0
    grows = bool((real > 0).any())
    if grows:
        axis.axvspan(0, right, color="#eeeeee", zorder=0)
    axis.set_xlim(left, right)
    axis.set_ylim(0, top)
    _guides(axis, poles, any(scaled.values()))
    axis.set_xlabel("real part [rad/s]")
    if poles.imag.any():
        axis.set_ylabel("imaginary part [rad/s]")
    else:
        axis.set_yticks([])
    where = "upper half plane" if poles.imag.any() else "all real"
    undamped = ", undamped" if poles.imag.any() and not real.any() else ""
    entitle(axis, f"poles, {where}{undamped}{', grey: growing' if grows else ''}")


def _scaled(scale: Callable[..., None], parts: np.ndarray) -> bool:
    """Make a scale logarithmic, but for a neighbourhood of zero, where the parts are of very different size."""
    sizes = np.abs(parts[parts != 0])
    wide = bool(sizes.size and sizes.max() > WIDE * sizes.min())
    if wide:
        scale("symlog", linthresh=10.0 ** math.floor(math.log10(sizes.min())))
    return wide


def _guides(axis: Axes, poles: np.ndarray, coarse: bool) -> None:
    """Lines of equal damping ratio up to the left or upper edge, a few around the ratios of the poles that swing.

    Each has a label beside it where nothing else is; one that finds no such place is left out.
    """
    swings = poles[(poles.imag > 0) & (poles.real < 0)]
    if not swings.size:
        return
    left, top = axis.get_xlim()[0], axis.get_ylim()[1]
    ratios = -swings.real / np.abs(swings)
    known, margin = (DECADES, 10.0) if coarse else (GUIDES, 2.5)
    near = [ratio for ratio in known if ratios.min() / margin <= ratio <= ratios.max() * margin]
    kept = np.unique(np.linspace(0, len(near) - 1, min(len(near), MOST_GUIDES)).round().astype(int))
    lines = {ratio: _line(ratio, left, top) for ratio in (near[i] for i in kept)}
    points = {ratio: _on_paper(axis, line) for ratio, line in lines.items()}
    poles_on_paper = _on_paper(axis, np.column_stack([poles.real, poles.imag]))
    taken = [np.array([point - MARK, point + MARK]) for point in poles_on_paper]
    frame = _on_paper(axis, np.array([[left, 0.0], [0.0, top]]))
    for ratio, line in lines.items():
        words = f"{100 * ratio:g} %"
        found = _free(points[ratio], np.array([TYPE * width(words), TALL * TYPE]), frame, taken, list(points.values()))
        if found is None:
            continue
        place, side, box = found
        taken.append(box)
        axis.plot(*line[::-FINE].T, color=GREY, linewidth=0.8, zorder=1)
        axis.annotate(
            words, line[place], xytext=tuple(OFF * side), textcoords="offset points", fontsize=TYPE, color="#666666",
            ha="left" if side[0] > 0 else "right", va="bottom" if side[1] > 0 else "top",
        )  # fmt: skip


def _free(
    line: np.ndarray, extent: np.ndarray, frame: np.ndarray, taken: Sequence[np.ndarray], lines: Sequence[np.ndarray]
) -> Place | None:
    """The first place of a label beside a line that is within the frame, away from what is taken, and on no line."""
    for place, side, box in _places(line, extent):
        inside = bool((box[0] >= frame[0]).all() and (box[1] <= frame[1]).all())
        crossed = any(((box[0] <= each) & (each <= box[1])).all(axis=1).any() for each in lines)
        if inside and not crossed and not any(_meet(box, other) for other in taken):
            return place, side, box
    return None


def _line(ratio: float, left: float, top: float) -> np.ndarray:
    """Points (N, 2) of the plane, from the origin to its edge, where the damping ratio is that."""
    slope = ratio / math.sqrt(1 - ratio**2)
    y = np.geomspace(1e-6 * top, min(top, -left / slope), POINTS)
    return np.column_stack([-slope * y, y])


def _on_paper(axis: Axes, points: np.ndarray) -> np.ndarray:
    """Where points (N, 2) are on paper, in points of type."""
    figure = axis.get_figure(root=True)
    assert figure is not None
    return 72 / figure.dpi * np.asarray(axis.transData.transform(points))


def _places(line: np.ndarray, extent: np.ndarray) -> Iterator[Place]:
    """Where a label of that extent may stand beside a line (N, 2): the point, the side, and the box (2, 2)."""
    for place in range(len(line) - 1, len(line) // 2, -FINE):
        for side in SIDES:
            ends = line[place] + OFF * side, line[place] + OFF * side + extent * side
            yield place, side, np.array([np.minimum(*ends), np.maximum(*ends)])


def _meet(box: np.ndarray, other: np.ndarray) -> bool:
    """Whether two boxes (2, 2) on paper are nearer to each other than things should be."""
    return bool((box[0] < other[1] + CLEAR).all() and (other[0] < box[1] + CLEAR).all())
