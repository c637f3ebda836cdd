"""The picture of ``sweep``: curves over one value, heat maps or families over two, histograms, Sobol indices."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
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
)
from kronbot.plots.swept import Side, Table, finite
from kronbot.questions.result import Result
from kronbot.questions.swept import Indices, Swept, undrawn
from kronbot.questions.tables import HERTZ

# Panels of a picture; values of a name that make a family and not an axis of a map.
PANELS, FEW = 12, 6
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
    if not table.columns:
        cure = f": {undrawn(swept.single)}" if swept.single else ", which a picture could show"
        raise UsageError(f"no column of the table is a number{cure}")
    if swept.indices:
        return _bars(f"{what}: Sobol indices, 95 % confidence", swept)
    if swept.drawn:
        return _histograms(f"{what}: {result.summary['cases']} draws{tail}", table)
    many = [i for i, side in enumerate(table.sides) if len(side.values) > 1]
    x = max(many, key=lambda i: table.sides[i].rank) if many else 0
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
        for stem, names in groupby(table.columns, _stem):
            listed = list(names)
            labels = [name[len(stem) :].strip("[].") for name in listed] if len(listed) > 1 else [""]
            found = [
                Curve(label, table.unit(name), table.along(name, x, at))
                for label, name in zip(labels, listed, strict=True)
            ]
            called = stem if len(listed) > 1 else listed[0]
            made = curves.diagrams(called, found) or [Diagram(called, found)]
            groups |= {f"{called} {i}": diagram for i, diagram in enumerate(made, len(groups))}
    else:
        places = list(product(*(range(len(table.sides[i].values)) for i in others)))
        shown = [places[k] for k in np.unique(np.linspace(0, len(places) - 1, CURVES).round().astype(int))]
        part = f", {len(shown)} of {len(places)} curves" if len(shown) < len(places) else ""
        for name in table.columns:
            found = []
            for place in shown:
                for i, value in zip(others, place, strict=True):
                    at[i] = value
                label = "" if groups else ", ".join(table.sides[i].said(k) for i, k in zip(others, place, strict=True))
                found.append(Curve(label, table.unit(name), table.along(name, x, at)))
            groups[name] = Diagram(f"{short(name)}{part}", found)
    # Of families the first panel, across the whole picture, names the curves.
    axes, named = _panels(title, groups, HEIGHT, bool(others))
    axes.naming = next(iter(named)) if others else None
    for key, group in named.items():
        if len(group.curves) == 1 and not others:
            (only,) = group.curves
            group = Diagram(f"{group.title} {only.label}".strip(), [replace(only, label="")])
        curves.draw(axes[key], over, group)
        _in_hertz(axes[key], group)
        if side.words:
            axes[key].set_xticks(side.values, [short(word) for word in side.words])
        if len(over.values) <= FEW:
            for line in axes[key].get_lines():
                line.set_marker("o")
                line.set_markersize(3)
    return axes


def _in_hertz(axis: Any, diagram: Diagram) -> None:
    """A second scale, to the right, of frequencies."""
    if diagram.curves[0].unit == "rad/s" and "frequenc" in diagram.title:
        scale = axis.secondary_yaxis("right", functions=(lambda omega: HERTZ * omega, lambda hertz: hertz / HERTZ))
        scale.set_ylabel("[Hz]")


def _stem(name: str) -> str:
    """What columns that belong together have in common."""
    return name.partition("[")[0] if name.endswith("]") else name.rpartition(".")[0] or name


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
        axis.set_xlabel(_labelled(across))
        axis.set_ylabel(_labelled(up))
        number_ticks(axis.xaxis, float(np.abs(across.values).max()) or 1.0)
        number_ticks(axis.yaxis, float(np.abs(up.values).max()) or 1.0)
        head(axis, short(name))
    return axes


def _labelled(side: Side) -> str:
    return f"{side.label} [{side.unit}]" if side.unit else side.label


def _histograms(title: str, table: Table) -> Picture:
    """How each column is spread, with its mean and standard deviation."""
    axes, named = _panels(title, {name: name for name in table.columns}, HEIGHT)
    for name in named:
        values = finite(table.numbers(name))
        factor, unit = readable(float(np.abs(values).max(initial=0.0)), table.unit(name))
        shown = factor * values
        bins = max(1, min(BINS, int(math.sqrt(len(shown))))) if np.ptp(shown) > 1e-12 * np.abs(shown).max() else 1
        axes[name].hist(shown, bins=bins, color=COLOURS[0])
        axes[name].axvline(float(shown.mean()), color=COLOURS[1], linewidth=1)
        axes[name].set_xlabel(f"[{unit}]" if unit else "")
        axes[name].set_ylabel("cases")
        number_ticks(axes[name].xaxis, float(np.abs(shown).max()) or 1.0)
        entitle(axes[name], f"{short(name)}: mean {shown.mean():.4g}, std. deviation {shown.std():.3g}")
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
        axis.set_ylim(min(0.0, axis.get_ylim()[0]), max(1.05, axis.get_ylim()[1]))
        axis.grid(axis="x", visible=False)
        entitle(axis, short(name))
    return axes


def _sorts(found: Indices) -> Iterator[tuple[str, npt.NDArray[np.float64], npt.NDArray[np.float64]]]:
    yield "first order", found.first, found.first_interval
    yield "total", found.total, found.total_interval


def _panels(title: str, wanted: Mapping[str, Any], height: float, wide: bool = False) -> tuple[Picture, dict[str, Any]]:
    """A picture of as many panels as it has room for, the first one ``wide``, and what they are to show."""
    kept = dict(list(wanted.items())[:PANELS])
    told = f"; {len(kept)} of {len(wanted)} panels" if len(kept) < len(wanted) else ""
    names = list(kept)
    rows = [names[:1] * 2, *flow(names[1:])] if wide and len(names) > 1 else flow(names)
    return Picture(title + told, rows, [height] * len(rows)), kept
