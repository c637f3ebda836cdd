"""The picture of ``sweep``: curves over one value, heat maps or families over two, histograms, Sobol indices."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, product
from typing import Any

import numpy as np
import numpy.typing as npt

from kronbot.errors import UsageError
from kronbot.plots import curves
from kronbot.plots.curves import CURVES, Curve, Diagram
from kronbot.plots.style import (
    COLOURS,
    ENTRY,
    GREY,
    HEIGHT,
    Picture,
    drawn,
    entitle,
    flow,
    head,
    number_ticks,
    readable,
    short,
    stroke,
)
from kronbot.plots.swept import Side, Table, finite
from kronbot.questions.columns import swings
from kronbot.questions.result import Result
from kronbot.questions.swept import Indices, Swept, undrawn
from kronbot.questions.tables import HERTZ

# Panels of a picture; values of a name that make a family and not an axis of a map.
PANELS, FEW = 12, 6
# Where a second scale stands below a first one, as a share of the height of a panel.
BELOW = -0.35
# Inches of a heat map and of bars; bins of a histogram at most; lines of equal value in a map.
MAP, BINS, LEVELS = 2.7, 60, 7


@drawn
def draw(result: Result) -> Picture:
    """The picture of a table. Raises UsageError where nothing of it is a number."""
    swept = result.asked
    assert isinstance(swept, Swept)
    table = Table(result, swept)
    varied = {name for names, _ in swept.factors for name in names}
    what = f"sweep {swept.question} {result.robot}" + ("" if "order" in varied else f", order {result.order}")
    failed = int(result.summary.get("failed", 0))
    tail = f"; {failed} of {result.summary['cases']} cases have failed" if failed else ""
    if left_out := [name for name in swept.single if name not in swept.usual]:
        tail += f"; without {short(', '.join(left_out))}"
    if level := table.level:
        tail += f"; the same in all cases: {short(', '.join(level))}"
    if not table.columns:
        cure = f": {undrawn(swept.single)}" if swept.single else ", which a picture could show"
        raise UsageError(f"no column of the table is a number{cure}")
    if swept.indices:
        return _bars(f"{what}: Sobol indices, 95 % confidence", swept)
    many = [i for i, side in enumerate(table.sides) if len(side.values) > 1]
    if swept.drawn:
        draws = len(swept.factors) - 1  # the fastest
        return _histograms(what, tail, table, [i for i in many if i != draws], draws)
    x = table.across
    others = [i for i in range(len(table.sides)) if i in many and i != x]
    over = " and ".join([f"over {table.sides[x].label}", *(table.sides[i].label for i in others)])
    maps = len(others) == 1 and all(len(table.sides[i].values) > FEW and not table.sides[i].words for i in (*others, x))
    if maps:
        return _maps(f"{what}: {over}{tail}", table, others[0], x)
    return _curves(f"{what}: {over}{tail}", table, others, x)


def _curves(title: str, table: Table, others: Sequence[int], x: int) -> Picture:
    """Curves over one side: of columns that belong together, or of one column for the values of the others."""
    side = table.sides[x]
    order = np.argsort(side.values, kind="stable")
    over = Curve(side.label, side.unit, side.values[order])
    at: list[int | slice] = [0] * len(table.sides)
    at[x] = slice(None)
    groups: dict[str, Diagram] = {}
    if not others:
        for stem, each in groupby(table.columns, _stem):
            names = [*each]
            columns, alone = table.together(names, x, at)
            several = len(columns) + len(alone) > 1
            labels = {name: name[len(stem) :].strip("[].") if several else "" for name in (*columns, *alone)}
            units = {name: table.unit(name if name in table.swept.kept else names[0]) for name in columns}
            found = [Curve(labels[name], units[name], values) for name, values in columns.items()]
            called = stem if several else next(iter(columns))
            if alone:
                told = [(labels[name].partition(" ")[0], over.values[place]) for name, place in alone.items()]
                at_one = ", ".join(f"{label} only at {value:.4g}" for label, value in told)
                called += f"; {at_one}" if len(alone) <= curves.NAMED else f"; {len(alone)} more at one value only"
            made = curves.diagrams(called, found) or [Diagram(called, found)]
            groups |= {f"{called} {i}": diagram for i, diagram in enumerate(made, len(groups))}
    else:
        places = _places(table, others)
        shown = _evenly(places)
        part = f", {len(shown)} of {len(places)} curves" if len(shown) < len(places) else ""
        for name in table.columns:
            found = []
            for place in shown:
                for i, value in zip(others, place, strict=True):
                    at[i] = value
                label = "" if groups else _said(table, others, place)
                found.append(Curve(label, table.unit(name), table.along(name, x, at)))
            groups[name] = Diagram(f"{short(name)}{part}", found)
    counts = {key for key, group in groups.items() if table.counts(group.title)}
    # Of families the first panel, across the whole picture, names the curves.
    axes, named = _panels(title, groups, HEIGHT, bool(others), counts)
    axes.naming = next(iter(named)) if others else None
    for key, group in named.items():
        if len(group.curves) == 1 and not others:
            (only,) = group.curves
            group = Diagram(f"{group.title} {only.label}".strip(), [replace(only, label="")])
        curves.draw(axes[key], over, group)
        if swings(group.title, group.curves[0].unit):
            _in_hertz(axes[key].secondary_yaxis, "right").set_ylabel("[Hz]")
        _number(axes[key].xaxis, side.whole)
        _number(axes[key].yaxis, key in counts)
        if side.words:
            axes[key].set_xticks(side.values, [short(word) for word in side.words])
        if len(over.values) <= FEW or side.words:
            for line in axes[key].get_lines():
                line.set(marker="o", markersize=3, markevery=None)
                if side.words:  # between which there is nothing
                    line.set_linestyle("none")
    return axes


def _places(table: Table, others: Sequence[int]) -> list[tuple[int, ...]]:
    """All places of these sides."""
    return list(product(*(range(len(table.sides[i].values)) for i in others)))


def _evenly(places: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """As many of them as can be told apart."""
    return [places[k] for k in np.unique(np.linspace(0, len(places) - 1, CURVES).round().astype(int))]


def _said(table: Table, others: Sequence[int], place: Sequence[int]) -> str:
    """A place of these sides, for a legend."""
    return ", ".join(table.sides[i].said(k) for i, k in zip(others, place, strict=True))


def _in_hertz(scale: Callable[..., Any], side: str | float, factor: float = 1.0) -> Any:
    """A second scale of frequencies, beside one of so many times rad/s."""
    hertz = HERTZ / factor
    return scale(side, functions=(lambda omega: hertz * omega, lambda f: f / hertz))


def _stem(name: str) -> str:
    """What columns that belong together have in common."""
    return name.partition("[")[0] if name.endswith("]") else name.rpartition(".")[0] or name


def words(columns: Iterable[str]) -> list[str]:
    """Of panels that may show these columns: alone, or all of a kind together."""
    return list(dict.fromkeys(word for name in columns for word in (_stem(name), name)))


def _maps(title: str, table: Table, y: int, x: int) -> Picture:
    """A heat map of each column with lines of equal value."""
    axes, named = _panels(title, {name: name for name in table.columns}, MAP)
    across, up = table.sides[x], table.sides[y]
    columns, rows = np.argsort(across.values, kind="stable"), np.argsort(up.values, kind="stable")
    for name, axis in ((name, axes[name]) for name in named):
        values = np.squeeze(table.numbers(name)) if x > y else np.squeeze(table.numbers(name)).T
        values = np.ma.masked_invalid(values[rows][:, columns])
        factor, unit = readable(float(np.abs(values).max()), table.unit(name))
        axis.set_facecolor(GREY)
        axis.grid(False)
        mesh = axis.pcolormesh(
            across.values[columns], up.values[rows], factor * values, shading="nearest", cmap="viridis", rasterized=True
        )
        if float(np.ptp(values.compressed())) > 0:
            lines = axis.contour(
                across.values[columns], up.values[rows], factor * values, LEVELS, colors="white", linewidths=0.6
            )
            axis.clabel(lines, fontsize=5, fmt="%.4g")
        bar = axes.figure.colorbar(mesh, ax=axis, label=f"[{unit}]" if unit else "")
        bar.outline.set_visible(False)
        if swings(name, table.unit(name)):
            _in_hertz(bar.ax.secondary_yaxis, "left", factor).set_ylabel("[Hz]")
        axis.set_xlabel(_labelled(across))
        axis.set_ylabel(_labelled(up))
        for scale, side in ((axis.xaxis, across), (axis.yaxis, up)):
            number_ticks(scale, float(np.abs(side.values).max()) or 1.0)
            _number(scale, side.whole)
        head(axis, short(name))
    return axes


def _number(scale: Any, whole: bool) -> None:
    """No ticks between ``whole`` numbers."""
    if whole:
        scale.get_major_locator().set_params(integer=True)


def _labelled(side: Side) -> str:
    return f"{side.label} [{side.unit}]" if side.unit else side.label


def _histograms(what: str, tail: str, table: Table, others: Sequence[int], draws: int) -> Picture:
    """How each column is spread over the draws, with its mean and standard deviation, for each place of the others."""
    places = _places(table, others)
    title = f"{what}: {len(table.sides[draws].values)} draws"
    if others:
        title += f" for each of {len(places)} values of {' and '.join(table.sides[i].label for i in others)}"
    entries = (
        1.5 * ENTRY / 72 * min(len(places), CURVES) if others else 0.0
    )  # above each panel, where means have their words
    axes, named = _panels(title + tail, {name: name for name in table.columns}, HEIGHT + entries)
    for name in named:
        whole, axis = table.numbers(name), axes[name]
        factor, unit = readable(float(np.abs(finite(whole)).max(initial=0.0)), table.unit(name))
        families = np.moveaxis(factor * whole, [*others, draws], range(len(others) + 1))
        families = families.reshape(*families.shape[: len(others)], -1)
        there = [place for place in places if finite(families[place]).size]  # of some all may have failed
        drawn = [(place, finite(families[place])) for place in _evenly(there)]
        part = f", {len(drawn)} of {len(places)}" if len(drawn) < len(places) else ""
        for i, (place, values) in enumerate(drawn):
            look = {"histtype": "step", **stroke(i)} if others else {"color": COLOURS[0]}
            label = f"{_said(table, others, place)}: {values.mean():.4g} ± {values.std():.3g}" if others else None
            level = np.ptp(values) <= 1e-12 * np.abs(values).max()
            axis.hist(values, bins=1 if level else max(1, min(BINS, int(math.sqrt(len(values))))), label=label, **look)
            axis.axvline(float(values.mean()), linewidth=1, color=look["color"] if others else COLOURS[1])
        axis.set_xlabel(f"[{unit}]" if unit else "")
        axis.set_ylabel("cases")
        if swings(name, table.unit(name)):
            # On top of families stands their legend.
            _in_hertz(axis.secondary_xaxis, BELOW if others else "top", factor).set_xlabel("[Hz]")
        number_ticks(axis.xaxis, max(float(np.abs(values).max()) for _, values in drawn) or 1.0)
        values = drawn[0][1]
        told = f"mean {values.mean():.4g}, std. deviation {values.std():.3g}"
        entitle(axis, f"{short(name)}: {f'mean ± std. deviation{part}' if others else told}")
    return axes


def _bars(title: str, swept: Swept) -> Picture:
    """First-order and total indices of each column, by what is drawn."""
    axes, named = _panels(title, swept.indices, HEIGHT)
    places = np.arange(len(swept.drawn))
    for name, found in named.items():
        axis = axes[name]
        for k, (label, values, interval) in enumerate(_sorts(found)):
            errors = np.abs(interval.T - values)
            axis.bar(
                places + 0.4 * k - 0.2, values, 0.38, yerr=errors, label=label, color=COLOURS[k],
                error_kw={"linewidth": 0.9, "capsize": 2},
            )  # fmt: skip
        axis.set_xticks(places, [short(each) for each in swept.drawn])
        axis.set_ylabel("[1]")
        axis.set_ylim(min(0.0, axis.get_ylim()[0]), max(1.05, axis.get_ylim()[1]))
        axis.grid(axis="x", visible=False)
        entitle(axis, short(name))
    return axes


def _sorts(found: Indices) -> Iterator[tuple[str, npt.NDArray[np.float64], npt.NDArray[np.float64]]]:
    yield "first order", found.first, found.first_interval
    yield "total", found.total, found.total_interval


def _panels(
    title: str, wanted: Mapping[str, Any], height: float, wide: bool = False, low: Container[str] = ()
) -> tuple[Picture, dict[str, Any]]:
    """A picture of as many panels as it has room for, the first one ``wide``, and what they are to show.

    Rows of panels that are all ``low`` have half of the height.
    """
    kept = dict(list(wanted.items())[:PANELS])
    told = f"; {len(kept)} of {len(wanted)} panels" if len(kept) < len(wanted) else ""
    names = list(kept)
    rows = [names[:1] * 2, *flow(names[1:])] if wide and len(names) > 1 else flow(names)
    heights = [height / 2 if all(name in low for name in row) else height for row in rows]
    return Picture(title + told, rows, heights), kept
