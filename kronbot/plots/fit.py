"""The picture of ``fit``: residuals beside their sigmas, how well parameters are known, and what is correlated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from kronbot.errors import UsageError
from kronbot.floats import Array
from kronbot.plots.curves import decades
from kronbot.plots.style import COLOURS, GREY, HEIGHT, Picture, drawn, entitle, flow, number_ticks, readable, short
from kronbot.questions.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Quantities that get a panel, columns of one that can be told apart, points of one, and parameters of a panel.
KINDS, COLUMNS, POINTS, PARAMETERS = 6, 6, 2000, 40
# Parameters whose names stand below a map, too.
NAMED = 15
# Sigmas beside which residuals are drawn, and that a histogram reaches.
BAND, REACH = 2.0, 5.0
# Of errors, the ratio of the largest to the smallest from which their scale is logarithmic; what is free beyond them.
WIDE, RIM = 10.0, 0.05
# Inches of a panel for each of its parameters, and without them.
ROW, REST = 0.13, 0.6
# Axes, whose columns are one quantity.
_AXES = ("x", "y", "z")


@drawn
def draw(result: Result) -> Picture:
    """The picture of a fit, or of what a plan and a trial lead to expect. Raises UsageError where nothing is known."""
    fitted = "residual" in result.series
    kinds = _kinds(result) if fitted else {}
    known = result.arrays["standard_errors"].rows if "standard_errors" in result.arrays else []
    left = [f"residual {i}" for i in range(min(len(kinds), KINDS))] + ["histogram"] * bool(kinds)
    tall = [word for word, there in (("parameter", known), ("correlation", "correlations" in result.arrays)) if there]
    if not left and not tall:
        raise UsageError("nothing is known of the parameters: there is nothing to draw")
    rows = flow(left) + ([tall * (2 // len(tall))] if tall else [])
    shown = min(len(known), PARAMETERS)
    heights = [HEIGHT] * len(flow(left)) + [max(HEIGHT, REST + ROW * shown)] * bool(tall)
    others = {"plan": "plan of a fit", "synthetic": "trial of a fit"}
    what = others.get(str(result.asked), f"fit to {result.summary['question']}")
    told = "" if result.summary.get("complete", True) else ", incomplete: the best so far"
    axes = Picture(f"{what}, {result.robot}, order {result.order}{told}", rows, heights)
    for i, (name, columns) in enumerate(list(kinds.items())[:KINDS]):
        more = f", {KINDS} of {len(kinds)} quantities" if i == 0 and len(kinds) > KINDS else ""
        _residuals(axes[f"residual {i}"], result, name, columns, more)
    if kinds:
        _histogram(axes["histogram"], result)
    if known:
        _parameters(axes["parameter"], result, known[:shown], len(known))
    if "correlations" in result.arrays:
        _correlations(axes, result, known[:shown])
    return axes


def _kinds(result: Result) -> dict[str, list[str]]:
    """Measured columns by quantity: those that differ in an axis alone are one."""
    kinds: dict[str, list[str]] = {}
    for name in dict.fromkeys(np.asarray(result["column"]).tolist()):
        head, _, axis = str(name).rpartition(".")
        kinds.setdefault(head if axis in _AXES else str(name), []).append(str(name))
    return kinds


def _residuals(axis: Axes, result: Result, name: str, columns: Sequence[str], more: str) -> None:
    """What is computed less what was measured, row by row; rows that were not fitted are hollow."""
    column, fitted = np.asarray(result["column"]), np.asarray(result["fitted"]) > 0
    row, residual = np.asarray(result["row"], dtype=float), np.asarray(result["residual"], dtype=float)
    sigmas = dict(zip(result.arrays["residuals"].rows, np.asarray(result["residuals"])[:, -1].tolist(), strict=True))
    sigma = BAND * sigmas.get(columns[0], 0.0)
    mine = np.isin(column, columns)
    factor, unit = readable(max(sigma, float(np.abs(residual[mine]).max())), str(np.asarray(result["unit"])[mine][0]))
    for i, each in enumerate(columns[:COLUMNS]):
        for held in (False, True):
            own = np.flatnonzero((column == each) & (fitted != held))
            own = own[np.unique(np.linspace(0, len(own) - 1, min(len(own), POINTS)).astype(int))]
            label = each.rpartition(".")[2] if len(columns) > 1 and not held else None
            colour = COLOURS[i % len(COLOURS)]
            face = "none" if held else colour
            axis.plot(
                row[own],
                factor * residual[own],
                ".o"[held],
                color=colour,
                markersize=3,
                markerfacecolor=face,
                label=label,
            )
    for side in (-sigma, sigma) if sigma > 0 else ():
        axis.axhline(factor * side, color=GREY, linestyle="--", zorder=0)
    axis.set_xlabel("row")
    axis.set_ylabel(f"[{unit}]")
    axis.locator_params(axis="x", integer=True)
    number_ticks(axis.yaxis, float(np.abs(axis.get_ylim()).max()))
    hollow = ", hollow: not fitted" if not fitted[mine].all() else ""
    entitle(axis, f"{short(name)}, computed less measured{more}; dashed: 2 sigma{hollow}")


def _histogram(axis: Axes, result: Result) -> None:
    """Residuals over sigma beside the normal distribution."""
    values = np.asarray(result["standardized"], dtype=float)
    counts, ends = np.histogram(np.clip(values, -REACH, REACH), bins=41, range=(-REACH, REACH))
    width = ends[1] - ends[0]
    axis.bar(ends[:-1], counts / (len(values) * width), width, align="edge", color=COLOURS[5], linewidth=0)
    x = np.linspace(-REACH, REACH, 201)
    axis.plot(x, np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi), color="black", linewidth=1)
    axis.set_xlabel("sigma")
    axis.set_ylabel("share per sigma")
    beyond = int((np.abs(values) > REACH).sum())
    entitle(axis, "residuals beside a normal distribution" + (f"; {beyond} beyond 5 sigma" if beyond else ""))


def _parameters(axis: Axes, result: Result, names: Sequence[str], count: int) -> None:
    """Standard errors beside the sizes of the parameters, and of a trial the spread and the bias that there was."""
    errors = dict(zip(result.arrays["standard_errors"].rows, result["standard_errors"], strict=True))
    sizes = _sizes(result)
    place = np.arange(len(names))
    share = np.array([errors[name] / sizes.get(name, 1.0) for name in names])
    marks: dict[str, tuple[str, Array]] = {"standard error": ("o", share)}
    if "synthetic" in result.arrays:
        found = dict(zip(result.arrays["synthetic"].rows, np.asarray(result["synthetic"]), strict=True))
        for label, mark, i in (("spread", "x", 2), ("bias", "+", 1)):
            marks[label] = mark, np.array([abs(found[name][i]) / sizes.get(name, 1.0) for name in names])
    for i, (label, (mark, values)) in enumerate(marks.items()):
        axis.plot(values, place, mark, color=COLOURS[i], markersize=4, label=label if len(marks) > 1 else None)
    drawn = np.concatenate([values for _, values in marks.values()])
    least, most = float(drawn[drawn > 0].min(initial=np.inf)), float(drawn[np.isfinite(drawn)].max(initial=0.0))
    if (share > 0).all() and most >= WIDE * least:
        decades(axis, least, most, "x")
    else:  # a share of the largest is read from zero on
        axis.set_xlim(0, (1 + RIM) * most or 1.0)
        number_ticks(axis.xaxis, most or 1.0)
    axis.set_yticks(place, [short(name) for name in names], parse_math=False)
    axis.set_ylim(len(names) - 0.5, -0.5)
    what = "error" if len(marks) > 1 else "standard error"
    axis.set_xlabel(f"{what} over size [1]" if sizes else f"{what} [SI]")
    more = f"; {len(names)} of {count} are drawn" if len(names) < count else ""
    entitle(axis, f"errors of parameters, as shares of their sizes{more}" if sizes else f"errors of parameters{more}")


def _sizes(result: Result) -> Mapping[str, float]:
    """Sizes of parameters by name: of the estimate, else of where the search began; those that are 0 have none."""
    if "estimates" in result.arrays:
        rows = result.arrays["estimates"].rows
        pairs = np.abs(np.asarray(result["estimates"], dtype=float))
        return {name: float(pair.max()) for name, pair in zip(rows, pairs, strict=True) if pair.max() > 0}
    if "synthetic" in result.arrays:
        rows, table = result.arrays["synthetic"].rows, np.asarray(result["synthetic"], dtype=float)
        return {name: abs(float(row[0])) for name, row in zip(rows, table, strict=True) if row[0] != 0}
    return {}


def _correlations(axes: Picture, result: Result, names: Sequence[str]) -> None:
    """A map: blue where two grow together, red where one grows as the other falls."""
    axis, R = axes["correlation"], np.asarray(result["correlations"], dtype=float)[: len(names), : len(names)]
    mesh = axis.pcolormesh(R[::-1], cmap="RdBu", vmin=-1, vmax=1, rasterized=True)
    axes.figure.colorbar(mesh, ax=axis, label="[1]")
    place = np.arange(len(names)) + 0.5
    axis.set_yticks(place, [short(name) for name in reversed(names)], parse_math=False)
    labels = [short(name) for name in names] if len(names) <= NAMED else [""] * len(names)  # as those beside it
    axis.set_xticks(place, labels, rotation=90, parse_math=False)
    axis.grid(visible=False)
    entitle(axis, "correlations")
