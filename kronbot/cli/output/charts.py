"""A few columns of a series as a small chart of text, for people who look at the table of an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np

from kronbot.description.wording import cut
from kronbot.questions.given_columns import given_columns
from kronbot.questions.result import Result
from kronbot.questions.swept import Swept
from kronbot.records import dataclass

# Curves of a chart, lines of text that each takes, signs that it is wide at most and at least, rows worth drawing.
CURVES, LINES = 4, 2
WIDEST, NARROWEST = 100, 20
FEWEST = 4
# Changes below this share of the largest value, or below this many metres or radians, are rounding.
ROUNDING = 1e-12
# Bits of the dots of a Braille sign by column, from the lowest dot up.
DOTS = ((0x40, 0x04, 0x02, 0x01), (0x80, 0x20, 0x10, 0x08))
BRAILLE = 0x2800
# ASCII signs of one level of a line, from the lowest up, and of several.
STROKES, COLUMN = ".-'", "|"
# A text column of orders.
ORDER = "order"


@dataclass(frozen=True)
class Selection:
    """Columns (N,) worth a look by name, over another one of ascending values (N,), and that one in words."""

    heading: str
    over: np.ndarray
    columns: Mapping[str, np.ndarray]


def chart(result: Result, width: int, ascii_only: bool) -> list[str]:
    """The joints and deflections that move most, over time or the swept angle: lines of text, none without a series
    and for a table of a sweep.

    At most 9 lines of ``width`` signs; Braille dots, or ASCII where the reader has nothing else. A curve is the band
    between the smallest and the largest value in the width of a dot, so that no oscillation is lost.
    """
    if isinstance(result.asked, Swept):  # rows of many robots are no curve
        return []
    chosen = _over_time(result) if "t" in result.series else _over_sweep(result)
    if chosen is None or not chosen.columns:
        return []
    ends = {name: (float(values.min()), float(values.max())) for name, values in chosen.columns.items()}
    left = max(map(len, ends))
    right = max(len(f"{value:.4g}") for pair in ends.values() for value in pair) + len("  max ")
    signs = min(WIDEST, width - left - 2 - right)
    if signs < NARROWEST:
        return []
    heading = chosen.heading
    lines = [cut(heading, width)]
    for name, values in chosen.columns.items():
        upper, lower = curve(chosen.over, values, signs, ascii_only)
        least, most = ends[name]
        unit = f"  [{unit}]" if (unit := result.units.get(name)) else ""
        lines += [f"{name:{left}}  {upper}  max {most:.4g}", f"{unit:{left}}  {lower}  min {least:.4g}"]
    return lines


def curve(over: np.ndarray, values: np.ndarray, signs: int, ascii_only: bool) -> list[str]:
    """Two lines of so many signs that draw values (N,) over ascending ones (N,), from the smallest to the largest."""
    across, levels = (1, len(STROKES)) if ascii_only else (len(DOTS), len(DOTS[0]))
    low, high = _bands(over, values, signs * across, LINES * levels)
    marked = np.array([(low <= level) & (level <= high) for level in range(LINES * levels)])
    lines = []
    for line in reversed(range(LINES)):
        part = marked[line * levels : (line + 1) * levels].reshape(levels, signs, across)
        lines.append((_strokes if ascii_only else _braille)(part.transpose(1, 2, 0)))
    return lines


def _bands(over: np.ndarray, values: np.ndarray, count: int, levels: int) -> tuple[np.ndarray, np.ndarray]:
    """The lowest and highest level (count,) that a curve takes in each of equally wide parts."""
    least, most = float(values.min()), float(values.max())
    # Halves, since the difference of two numbers may be too large for a number.
    share = (values / 2 - least / 2) / (most / 2 - least / 2)
    edges = np.linspace(over[0], over[-1], count + 1)
    at = np.interp(edges, over, share)
    place = np.searchsorted(over, edges)
    # A part has what lies between its edges, and these.
    every, first = np.insert(share, place, at)[: place[-1] + count], place[:-1] + np.arange(count)
    ends = [side(side.reduceat(every, first), at[1:]) for side in (np.minimum, np.maximum)]
    low, high = np.floor(np.array(ends) * (levels - 1) + 0.5).astype(int)
    return low, high


def _braille(dots: np.ndarray) -> str:
    """Signs from two columns of dots each (signs, 2, 4), from the lowest up; a blank where there is none."""
    bits = (np.array(DOTS) * dots).sum(axis=(1, 2)).tolist()
    return "".join(chr(BRAILLE + each) if each else " " for each in bits)


def _strokes(levels: np.ndarray) -> str:
    """Signs from the levels (signs, 1, 3) of a line."""
    lowest, counts = (side.tolist() for side in (levels[:, 0].argmax(axis=1), levels[:, 0].sum(axis=1)))
    return "".join(
        " " if not count else STROKES[place] if count == 1 else COLUMN
        for place, count in zip(lowest, counts, strict=True)
    )


def _over_time(result: Result) -> Selection | None:
    series, t = result.series, result.series["t"]
    if len(t) < FEWEST:
        return None
    joints = [name for name in result.at.get("q", {}) if f"torque.{name}" in series]
    columns = {name: series[name] for name in _telling(series, joints, _tips(series))}
    return Selection(f"over t = {t[0]:.4g} ... {t[-1]:.4g} s{_told(series, joints, columns)}", t, columns)


def _over_sweep(result: Result) -> Selection | None:
    """The angle (or load) with most values, at the last one of everything else that is given."""
    series = result.series
    telling = {ORDER, *given_columns(result)}
    counts = {name: len(np.unique(series[name])) for name in series if name in telling}
    swept = [name for name, count in counts.items() if name != ORDER and count >= FEWEST]
    angles = [name for name in swept if name.startswith("angle.")]
    over = max(angles or swept, key=lambda name: counts[name], default=None)
    if over is None:
        return None
    others = {name: series[name][-1] for name, count in counts.items() if name != over and count > 1}
    same = np.ones(len(series[over]), dtype=bool)
    for name, value in others.items():
        same &= series[name] == value
    rows = np.flatnonzero(same)
    rows = rows[np.argsort(series[over][rows], kind="stable")]
    x = series[over][rows]
    if len(np.unique(x)) < FEWEST:
        return None
    numbers = {name: values[rows] for name, values in series.items() if name != ORDER}
    torques = [name for joint in result.model.joints if (name := f"torque.{joint.name}") in numbers]
    columns = {name: numbers[name] for name in _telling(numbers, torques, _tips(numbers))}
    at = [f"{name} = {value}" if name == ORDER else f"{name} = {value:.4g}" for name, value in others.items()]
    where = f" at {', '.join(at)}" if at else ""
    return Selection(f"over {over} = {x[0]:.4g} ... {x[-1]:.4g}{where}{_told(numbers, torques, columns)}", x, columns)


def _told(series: Mapping[str, np.ndarray], joints: Sequence[str], columns: Mapping[str, np.ndarray]) -> str:
    """How many of the curves there are, and in which units."""
    moving = [name for name in (*joints, *chain.from_iterable(_directions(series))) if _change(series[name]) > 0]
    some = f"{len(columns)} of {len(moving)} curves, --plot FILE draws more; " if len(columns) < len(moving) else ""
    return f" ({some}SI units, angles in rad)"


def _directions(series: Mapping[str, np.ndarray]) -> list[list[str]]:
    """Those of the tip of each beam."""
    tips: dict[str, list[str]] = {}
    for name in series:
        head, _, axis = name.rpartition(".")
        if head.startswith("tip.") and axis in "xyz":
            tips.setdefault(head, []).append(name)
    return [*tips.values()]


def _tips(series: Mapping[str, np.ndarray]) -> list[str]:
    """The direction in which the tip of each beam moves most."""
    return [max(names, key=lambda name: _change(series[name])) for names in _directions(series)]


def _telling(series: Mapping[str, np.ndarray], joints: Sequence[str], tips: Sequence[str]) -> list[str]:
    """Of both kinds those that change most, half and half where there are enough, in the order of the series."""
    moving = [
        sorted((name for name in kind if _change(series[name]) > 0), key=lambda name: -_change(series[name]))
        for kind in (joints, tips)
    ]
    share = max(CURVES // 2, CURVES - len(moving[1]))
    chosen = {*moving[0][:share], *moving[1][: CURVES - min(share, len(moving[0]))]}
    return [name for name in (*joints, *tips) if name in chosen]


def _change(values: np.ndarray) -> float:
    """The largest value less the smallest, halved so that it is a number; 0 where it is rounding."""
    change = float(values.max() / 2 - values.min() / 2)
    return change if change > ROUNDING * max(1.0, float(np.abs(values).max())) else 0.0
