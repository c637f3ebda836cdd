"""Diagrams of several quantities over one: grouped so that none hides the others, in units that read easily."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kronbot.plots.style import GREY, entitle, number_ticks, readable, short, stroke
from kronbot.questions.noise import without_rounding
from kronbot.records import dataclass

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Curves of one diagram that can still be told apart.
CURVES = 8
# A curve smaller than the largest of its diagram by more than this goes to the next one; so many diagrams at most.
SPREAD, GROUPS = 30.0, 3
# Curves without anything to draw that a title names.
NAMED = 2
# Parts of a curve of very many points.
STEPS = 1000
# A share of the width of a diagram that is left free on both sides.
MARGIN = 0.03
# A share of the largest curve: what is smaller is no answer.
ROUNDING = 1e-12
# Curves that vary by a smaller share than this are level to the eye; the scale goes so far from them.
LEVEL, BESIDE = 1e-9, 0.05
# Decades between a curve and the ends of its scale.
CLEAR = 0.05


@dataclass(frozen=True)
class Curve:
    """A quantity (N,) with its label and unit, and the values (N,) that were asked of it, where there are any."""

    label: str
    unit: str
    values: np.ndarray
    wanted: np.ndarray | None = None

    @property
    def peak(self) -> float:
        """The largest value without its sign, 0 where there is none."""
        given = np.abs(self.values[np.isfinite(self.values)])
        return float(given.max(initial=0.0))

    @property
    def range(self) -> float:
        """The largest value less the smallest."""
        given = self.values[np.isfinite(self.values)]
        return float(np.ptp(given)) if given.size else 0.0


@dataclass(frozen=True)
class Diagram:
    """Curves of one unit and of like size under a title."""

    title: str
    curves: Sequence[Curve]


def without_still(series: Mapping[str, npt.NDArray[Any]], places: Collection[str]) -> dict[str, npt.NDArray[Any]]:
    """The columns, 0 where all of one is rounding beside its family: of a curve that is none every number is drawn."""
    clean = without_rounding(series, ROUNDING, places)
    return {name: each if clean[name].any() else clean[name] for name, each in series.items()}


def diagrams(title: str, curves: Sequence[Curve], least: float = 0.0) -> list[Diagram]:
    """Diagrams of curves: by unit, then by size; those that nowhere exceed ``least`` or rounding are told as 0.

    A curve without any value is in none of them.
    """
    result = []
    curves = [curve for curve in curves if np.isfinite(curve.values).any()]
    for unit in dict.fromkeys(curve.unit for curve in curves):
        of_unit = [curve for curve in curves if curve.unit == unit]
        floor = max(least, ROUNDING * max(curve.peak for curve in of_unit))
        left = [curve for curve in of_unit if curve.peak > floor]
        still = [short(curve.label) for curve in of_unit if not curve.peak > floor]
        said = f"; 0: {' and '.join(still)}" if len(still) <= NAMED else f"; {len(still)} more are 0"
        for last in (False,) * (GROUPS - 1) + (True,):
            limit = 0.0 if last else max((curve.peak for curve in left), default=0.0) / SPREAD
            chosen = [curve for curve in left if curve.peak >= limit]
            left = [curve for curve in left if curve.peak < limit]
            if chosen:
                result.append(Diagram(title + (said if still else ""), chosen))
                still = []
    return result


def draw(axis: Axes, over: Curve, diagram: Diagram) -> None:
    """One diagram over another quantity; what was asked is broad and grey behind. Only the largest of many curves."""
    kept = largest(diagram.curves)
    factor, unit = readable(max(curve.peak for curve in kept), kept[0].unit)
    for curve in kept:
        if curve.wanted is not None:
            axis.plot(*thinned(over.values, factor * curve.wanted), color=GREY, linewidth=2.8)
    _lines(axis, over, kept, factor)
    axis.set_ylabel(f"[{unit}]" if unit else "")
    number_ticks(axis.yaxis, factor * max(curve.peak for curve in kept) or 1.0)
    number_ticks(axis.xaxis, over.peak or 1.0)
    level(axis)
    left_out = len(diagram.curves) - len(kept)
    entitle(axis, diagram.title + (f", {len(kept)} of {len(diagram.curves)}" if left_out else ""))


def draw_logarithmic(axis: Axes, over: Curve, diagram: Diagram) -> None:
    """One diagram with a logarithmic scale of whole decades; values that are not positive are left out."""
    kept = [
        replace(curve, values=np.where(curve.values > 0, curve.values, np.nan)) for curve in largest(diagram.curves)
    ]
    _lines(axis, over, kept, 1.0)
    axis.set_ylabel(f"[{kept[0].unit}]")
    values = np.concatenate([curve.values[np.isfinite(curve.values)] for curve in kept])
    if values.size:
        decades(axis, float(values.min()), float(values.max()))
    entitle(axis, diagram.title)


def level(axis: Axes) -> None:
    """Give an ordinate whose curves are level but for rounding a scale that does not show the rounding."""
    low, high = axis.dataLim.intervaly
    peak = max(abs(low), abs(high))
    if 0 < peak < math.inf and high - low <= LEVEL * peak:
        axis.set_ylim(low - BESIDE * peak, high + BESIDE * peak)


def decades(axis: Axes, least: float, most: float, along: str = "y") -> None:
    """A logarithmic scale from decade to decade that holds two positive values, neither of them on the frame."""
    from matplotlib.ticker import NullFormatter

    low, high = math.floor(math.log10(least) - CLEAR), math.ceil(math.log10(most) + CLEAR)
    axis.set(**{f"{along}scale": "log", f"{along}lim": (10.0**low, 10.0 ** max(high, low + 1))})  # in this order
    getattr(axis, f"{along}axis").set_minor_formatter(NullFormatter())


def thinned(over: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A curve of very many points by the smallest and the largest of each of STEPS parts: paper shows no more."""
    if len(values) <= 4 * STEPS:
        return over, values
    ends = np.linspace(0, len(values), STEPS + 1).astype(int)
    # A gap would be the smallest and the largest of its part.
    known = np.nan_to_num(values)
    kept = {0, len(values) - 1}
    for a, b in pairwise(ends.tolist()):
        kept |= {a + int(known[a:b].argmin()), a + int(known[a:b].argmax())}
    rows = sorted(kept)
    return over[rows], values[rows]


def largest(curves: Sequence[Curve]) -> list[Curve]:
    """As many curves as can be told apart, those that change most, in their order."""
    chosen = sorted(curves, key=lambda curve: -curve.range)[:CURVES]
    return [curve for curve in curves if any(curve is other for other in chosen)]


def _lines(axis: Axes, over: Curve, shown: Sequence[Curve], factor: float) -> None:
    for i, curve in enumerate(shown):
        x, y = thinned(over.values, factor * curve.values)
        (line,) = axis.plot(x, y, label=short(curve.label) or None, **stroke(i))
        # Between gaps one row is a point, which a line does not show.
        there = np.pad(np.isfinite(y), 1)
        alone = np.flatnonzero(there[1:-1] & ~there[:-2] & ~there[2:])
        if alone.size:
            line.set(marker="o", markevery=alone.tolist())
    if len(over.values) > 1:
        # Also where curves have gaps at the ends.
        rim = MARGIN * float(over.values[-1] - over.values[0])
        axis.set_xlim(float(over.values[0]) - rim, float(over.values[-1]) + rim)
    axis.set_xlabel(f"{over.label} [{over.unit}]" if over.unit else over.label)
