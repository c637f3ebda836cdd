"""Pictures of ``statics``: Piedboeuf's Figures 6 to 12 for any sweep, and the deformed robot to scale."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kronbot.description.choices import ORDERS
from kronbot.description.wording import listing
from kronbot.errors import ComputationError, Interrupted
from kronbot.floats import rounded
from kronbot.mechanics.multibody import drawing
from kronbot.mechanics.multibody.drawing import Lines
from kronbot.model.build import at_order
from kronbot.plots import arms, loads, stills, style
from kronbot.plots.arms import View
from kronbot.plots.curves import ROUNDING, level, without_still
from kronbot.plots.style import GREY, HEIGHT, WIDTH, Picture, columns, drawn, head, readable, short
from kronbot.questions.columns import places_in_statics
from kronbot.questions.given_columns import given_columns
from kronbot.questions.static_report import Inquiry
from kronbot.questions.statics import at_orders
from kronbot.records import dataclass

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from kronbot.model.robot import Robot
    from kronbot.questions.result import Result

# Curves that can still be told apart, and outlines that do not hide each other.
CURVES, OUTLINES = 12, 7
# Quantities of one kind that get a panel: of beams both directions of three.
ALIKE = {"torques": 3, "strains": 3, "sags": 3, "deflections": 6, "twists": 3}
# Marks of curves whose strokes come again, for grey print.
MARKS = (".", "s", "^")
# Points that the legend has beside each other.
ROOM = 0.99 * 72 * WIDTH
# What postures that have nothing in common are drawn over; the panel in space.
CASE, SPACE = "case", "space"
# What the columns of how far the endpoint sags begin with.
SAG = "sag."


@dataclass(frozen=True)
class Panel:
    """One diagram: its title, which names its orders, and the SI unit of its values (cases,)."""

    title: str
    unit: str
    values: np.ndarray


@dataclass(frozen=True)
class Curve:
    """The cases of a curve, and what tells it from the others, empty where there is one only."""

    label: str
    cases: Sequence[int]


@drawn
def draw(result: Result) -> Picture:
    """The picture of a sweep, beside what lower orders make of it, or of one case.

    Raises ComputationError where there is no case.
    """
    if not result.summary["cases"]:
        raise ComputationError("there is no equilibrium under the whole load to draw")
    results = by_order(result)
    order, main = next(iter(results.items()))
    robot = at_order(main.model, order)
    swept = _swept(robot, main)
    panels = {} if swept is None else _panels(robot, results, swept)
    shapes = {order: _states(robot, main)}
    count = len(shapes[order])
    if swept is None:  # what sweeps have in their panels
        shapes |= {other: _states(at_order(main.model, other), each) for other, each in results.items()}
    chosen = np.unique(np.linspace(0, count - 1, min(count, OUTLINES)).round().astype(int))
    drawings = {each: (drawing.lines(at_order(main.model, each)), states[chosen]) for each, states in shapes.items()}
    seen = arms.views(robot, shapes[order][chosen])
    views = {f"robot {i}": view for i, view in enumerate(seen)}
    # Two views belong side by side; one may stand beside the last panel.
    spatial = [SPACE] if stills.wanted(robot, seen) else []
    mosaic = style.flow([*views, *spatial, *panels] if len(views) > 1 else [*panels, *views])
    share = max(row.count(key) / len(row) for row in mosaic for key in views)
    outlines = [lines(q) for lines, states in drawings.values() for q in states]
    tall = max(HEIGHT, arms.height(seen, outlines, share))
    heights = [tall if views.keys() & set(row) else stills.HEIGHT if SPACE in row else HEIGHT for row in mosaic]
    curves = [] if swept is None else _curves(robot, main, swept)
    over = None if swept is None else _over(robot, main, swept)
    if len(curves) > 1 and all(len(curve.cases) == 1 for curve in curves):  # postures with nothing in common
        curves, over = [Curve("", range(count))], (CASE, np.arange(1.0, count + 1))
    labels = [curve.label for curve in curves[:CURVES] if curve.label]
    foot = 0.0
    if labels:
        rows = math.ceil(len(labels) / columns(labels, ROOM)) * max(label.count("\n") + 1 for label in labels)
        foot = 1.5 * style.ENTRY * rows / 72
    drawn = f"order {order}"
    if len(results) > 1 and swept is None:
        drawn += f" beside {listing([other for other in results if other != order])}"
    if result.order == "all" and (left := [each for each in reversed(ORDERS) if each not in results]):
        drawn += f" (without {listing(left)}, of other cases)"
    title = f"statics of {robot.name}, {drawn}, {main.summary['solver']} solver"
    axes = Picture(title, mosaic, heights, foot, spatial)
    for key in spatial:
        which = f" (order {order})" if len(results) > 1 else ""
        unmarked, forces = loads.unmarked(main, ["force"]), loads.at_endpoint(main, "force")[:, chosen].T
        colours = [style.COLOURS[0]] * len(chosen)
        stills.states(axes[key], robot, drawings[order][1], colours, True, which, forces=forces, left=unmarked)
    for key, panel in panels.items():
        assert over is not None
        _draw_curves(axes[key], over, panel, curves)
        if over[0] == CASE:
            axes[key].locator_params(axis="x", integer=True)
    if labels:
        handles = axes[next(iter(panels))].get_legend_handles_labels()[0]
        figure = axes[next(iter(panels))].get_figure(root=True)
        assert figure is not None
        figure.legend(
            handles, labels, loc="outside lower center", ncols=columns(labels, ROOM), handlelength=3,
            columnspacing=1.2,
        )  # fmt: skip
    part = f"{len(chosen)} of" if len(chosen) < count else "all"
    what = f"{part} {count} cases" if count > 1 else "the case"
    what += f" to scale{f' (order {order})' if panels and len(results) > 1 else ''}, grey: undeformed"
    for i, (key, view) in enumerate(views.items()):
        _outlines(axes[key], robot, drawings, view, i == 0)
        unmarked = loads.unmarked(main, loads.draw(axes[key], main, chosen.tolist(), view))
        arms.finish(axes[key], view, what + unmarked if i == 0 else f"the same, seen along {view.along}")
    return axes


def _states(robot: Robot, result: Result) -> np.ndarray:
    """The coordinates (cases, n) of a robot at the order of a result."""
    cases = len(next(iter(result.series.values())))
    return np.column_stack([result.series[name] for name in places_in_statics(robot)] or [np.zeros((cases, 0))])


def by_order(result: Result) -> dict[str, Result]:
    """An answer by kinematic order, the highest first: its own, and of a whole sweep those that it is compared with."""
    found = {result.order: result}
    if result.order == "all":
        orders = result.series["order"]
        whole = [order for order in reversed(ORDERS) if (orders == order).any()]
        rows = {order: orders == order for order in whole if (orders == order).sum() == (orders == whole[0]).sum()}
        found = {
            order: replace(result, order=order, series={name: each[own] for name, each in result.series.items()})
            for order, own in rows.items()
        }
    main = next(iter(found))
    missing = [each for each in "10" if each < main and each not in found]
    if (
        len(found[main].series["force.x"]) == 1
        or not result.summary["complete"]
        or not isinstance(result.asked, Inquiry)
    ):
        return found
    lower = at_orders(result.model, result.asked, missing, lambda share: None) if missing else {}
    for order, outcome in lower.items():
        if isinstance(outcome.error, Interrupted):
            raise outcome.error
        if outcome.error is None:
            found[order] = outcome.result
    return found


def _swept(robot: Robot, result: Result) -> str | None:
    """The column of the joint with most different angles, where all stay of the load with most; None where these do."""
    numbers = {name: len(np.unique(result.series[name])) for name in given_columns(result)}
    for angles in (True, False):
        counts = {name: count for name, count in numbers.items() if name.startswith("angle.") is angles}
        if counts and max(counts.values()) > 1:
            return max(counts, key=lambda name: counts[name])
    return None


def _panels(robot: Robot, results: Mapping[str, Result], swept: str) -> dict[str, Panel]:
    """What Figures 6 to 12 show, by the words of their panels, and what lower orders miss.

    Torque, curvature at the first gauge, displacement of the endpoint, tip deflections and twists of all beams.

    Of each the one of the figures is first, compared between orders; further ones where they are not zero. Orders that
    agree to rounding are named in the title.
    """
    results = {
        order: replace(each, series=without_still(series, robot.coordinates))
        for order, each in results.items()
        for series in ({**each.series, **_sagged(robot, order, each)},)
    }
    order, main = next(iter(results.items()))
    others = [(other, result) for other, result in results.items() if other != order]
    panels: dict[str, Panel] = {}
    kinds = {
        "torques": _torques(robot, main, swept),
        "strains": _strains(robot, main),
        "sags": [(f"{SAG}{axis}", f"displacement of the endpoint, {axis}", "m") for axis in "xyz"],
        "deflections": _deflections(robot),
        "twists": _twists(robot),
    }
    for many, kind in kinds.items():
        peaks = {column: float(np.abs(main.series[column]).max()) for column, _, _ in kind}
        telling = [each for each in kind if peaks[each[0]] > ROUNDING * max(peaks.values())]
        found = []
        most = ALIKE[many]
        for place, (column, title, unit) in enumerate(telling[:most]):
            values = main.series[column]
            count = f"; {most} of {len(telling)} {many} are drawn" if len(telling) > most else ""
            lower = {
                other: result.series[column]
                for other, result in (others if place == 0 else [])
                if other != "0" or column.startswith("torque")
            }
            floor = ROUNDING * np.abs(values).max()
            alike = [other for other in lower if (np.abs(values - lower[other]) <= floor).all()]
            agreeing = f" (the same in {' and '.join(alike)})" if alike else ""
            found.append(Panel(f"{title}, order {order}{agreeing}{count}", unit, values))
            for other in [each for each in lower if each not in alike]:
                strain = column.startswith("curvature")
                what = f"order {other}" if strain else f"order {order} - order {other}"
                found.append(Panel(f"{title}, {what}", unit, lower[other] if strain else values - lower[other]))
        panels |= {f"{many.removesuffix('s')} {i}": panel for i, panel in enumerate(found)}
    return panels


def _sagged(robot: Robot, order: str, result: Result) -> dict[str, np.ndarray]:
    """How far (m) beams and shafts that give way let the endpoint go, by columns over the cases."""
    own = at_order(robot, order)
    lines, states = drawing.lines(own), _states(own, result)
    ways = [
        lines(q)[-1][:, -1] - lines(rest)[-1][:, -1] for q, rest in zip(states, own.undeformed(states), strict=True)
    ]
    return {f"{SAG}{axis}": values for axis, values in zip("xyz", np.transpose(ways), strict=True)}


def _torques(robot: Robot, result: Result, swept: str) -> list[tuple[str, str, str]]:
    """Columns, titles and units of what joints bear: the swept one first, then the others, the largest first."""

    def rank(name: str) -> tuple[bool, float]:
        return f"angle.{name}" != swept, -float(np.abs(result.series[f"torque.{name}"]).max())

    words = {joint.name: ("torque", "N m") if joint.revolute else ("force", "N") for joint in robot.joints}
    return [(f"torque.{name}", f"{word} of {short(name)}", unit) for name, (word, unit) in
            sorted(words.items(), key=lambda each: rank(each[0]))]  # fmt: skip


def _strains(robot: Robot, result: Result) -> list[tuple[str, str, str]]:
    """Those of the gauges, the first one first, relative to the calibration where there is one."""
    for kind, against in (("_relative", ", relative to the calibration"), ("", "")):
        gauges = [each.name for each in robot.file.statics.gauges if f"curvature{kind}.{each.name}" in result.series]
        if gauges:
            words = {"curvature": "curvature", "curvature_y": "curvature across (y)", "twist": "twist"}
            return [
                (f"{word}{kind}.{gauge}", f"{title} at {short(gauge)}{against}", "1/m")
                for gauge in gauges
                for word, title in words.items()
            ]
    return []


def _deflections(robot: Robot) -> list[tuple[str, str, str]]:
    """Of the tips of the beams that bend, the last one first."""
    bent = [link.name for link in reversed(robot.links) if link.beam is not None and link.modes]
    words = [(name, axis, f"deflection of the tip of {short(name)}, {axis}") for name in bent for axis in "yz"]
    return [(f"tip.{name}.{axis}", title, "m") for name, axis, title in words]


def _twists(robot: Robot) -> list[tuple[str, str, str]]:
    """Of the tips of the beams that twist, the last one first."""
    twisted = [link.name for link in reversed(robot.links) if link.beam is not None and link.beam.torsion.count]
    return [(f"tip.{name}.rx", f"turn of the tip of {short(name)}, rx", "rad") for name in twisted]


def _curves(robot: Robot, result: Result, swept: str) -> list[Curve]:
    """One for every load (and angle of the other joints) over the swept joint, or load; what grows with it is none."""
    given = given_columns(result)
    varied = [name for name in given if name != swept and len(np.unique(result.series[name])) > 1]
    if not swept.startswith("angle."):
        over = result.series[swept]
        varied = [name for name in varied if not _alike(result.series[name], over)]
    shown = [_readable(robot, name, result.series[name]) for name in varied]
    keys = list(zip(*(result.series[name] for name in varied), strict=True)) or [()] * len(result.series[given[0]])
    found = []
    for key in dict.fromkeys(keys):
        pairs = zip(shown, key, strict=True)
        words = [f"{word} = {rounded(factor * value, 3)} {unit}" for (word, factor, unit), value in pairs]
        cases = [place for place, other in enumerate(keys) if other == key]
        found.append(Curve(style.wrapped(words, ROOM) if words else "", cases))
    return found


def _alike(values: np.ndarray, others: np.ndarray) -> bool:
    """Whether columns are multiples of each other."""
    sizes = np.abs(values).max(), np.abs(others).max()
    place = int(np.abs(others).argmax())
    return bool((np.abs(values - values[place] / others[place] * others) <= ROUNDING * max(sizes)).all())


def _readable(robot: Robot, column: str, values: np.ndarray) -> tuple[str, float, str]:
    """What a column of given values is called, and its factor and unit: degrees where an axis has degrees."""
    kind, _, name = column.partition(".")
    if kind != "angle":
        return column, *readable(float(np.abs(values).max()), loads.UNITS[kind])
    if next(each for each in robot.joints if each.name == name).revolute:
        return short(name), 180 / math.pi, "deg"
    return short(name), *readable(float(np.abs(values).max()), "m")


def _over(robot: Robot, result: Result, swept: str) -> tuple[str, np.ndarray]:
    """The label of an abscissa, and the values (cases,) of the swept joint or load on it."""
    values = result.series[swept]
    word, along, unit = _readable(robot, swept, values)
    return f"{word} [{unit}]", along * values


def _draw_curves(axis: Axes, over: tuple[str, np.ndarray], panel: Panel, curves: Sequence[Curve]) -> None:
    """A diagram over what is swept; only the first of many curves."""
    label, places = over
    peak = float(np.abs(panel.values).max())
    factor, shown = readable(peak, panel.unit)
    for i, curve in enumerate(curves[:CURVES]):
        mark = MARKS[i // len(style.STROKES) % len(MARKS)]
        values = factor * panel.values[curve.cases]
        axis.plot(places[curve.cases], values, label=curve.label or None, marker=mark, markersize=3, **style.stroke(i))
    axis.set_xlabel(label)
    axis.set_ylabel(f"[{shown}]")
    style.number_ticks(axis.yaxis, factor * peak or 1.0)
    level(axis)
    head(axis, panel.title + (f", {CURVES} of {len(curves)}" if len(curves) > CURVES else ""))


def _outlines(
    axis: Axes, robot: Robot, drawings: Mapping[str, tuple[Lines, np.ndarray]], view: View, named: bool
) -> None:
    """The deformed robot to scale over the undeformed one, at the orders of some lines and states (cases, n)."""
    lines, states = next(iter(drawings.values()))
    for q in robot.undeformed(states):
        arms.trace(axis, view, lines(q), color=GREY, linewidth=0.8)
    for i, (order, (outline, own)) in reversed([*enumerate(drawings.items())]):
        for q in own:
            arms.trace(axis, view, outline(q), **style.stroke(i))
        if named and len(drawings) > 1:
            axis.plot([], [], label=f"order {order}", **style.stroke(i))
    for q in states:
        arms.bodies(axis, view, robot, q, named)
