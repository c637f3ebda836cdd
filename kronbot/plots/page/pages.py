"""Which page shows an answer: its steps, modes, posture, curves, arrows and numbers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kronbot.description.expressions.expression import Expression
from kronbot.description.wording import quote
from kronbot.errors import Argument, ComputationError, UsageError
from kronbot.floats import Array
from kronbot.model.build import at_order
from kronbot.model.robot import Robot
from kronbot.plots import files
from kronbot.plots.jacobian import ellipsoids
from kronbot.plots.kinematics import other_solutions
from kronbot.plots.modes import Shape, swinging
from kronbot.plots.page import decimated
from kronbot.plots.page.document import document
from kronbot.plots.page.robot import Shown
from kronbot.plots.statics import by_order
from kronbot.plots.swept import Table
from kronbot.questions.result import Result
from kronbot.questions.static_report import Inquiry
from kronbot.questions.swept import Swept
from kronbot.questions.tables import number

Content = dict[str, Any]
SUFFIX = ".html"
# What answers are called that are asked for their posture alone.
POSTURE = "view"
# Of a page in a notebook, pixels.
HEIGHT = 640
# Loads on the endpoint; how large ellipsoids are beside the distance of the frame from the base.
LOADS = ("force", "moment")
# What arrows show: the kind, where it acts, and the columns.
ARROWS = (
    ("force", "endpoint", "force."),
    ("moment", "endpoint", "moment."),
    ("force", "base", "reaction.f"),
    ("moment", "base", "reaction.m"),
)
REACH = 0.2
# Columns of a simulation that are shown at once: of these kinds so many at most.
FIRST = 4


def page(result: Result) -> str:
    """The page of an answer. Raises UsageError where it has none, ComputationError where it would be too large."""
    if result.command not in CONTENTS:
        raise UsageError(
            f"{result.command} has no page; {', '.join(each for each in CONTENTS if each != POSTURE)} have one"
        )
    if any(array.symbolic for array in result.arrays.values()):
        raise UsageError("pages show numbers, not formulas")
    if result.command != "statics" and any(array.axis and array.axis[0] == "case" for array in result.arrays.values()):
        raise UsageError("pages show one point, not rows")
    if result.command == "statics" and result.order == "all":
        _, result = next(iter(by_order(result).items()))
    robot = at_order(result.model, result.order)
    acting = _loads(result)
    shown = Shown(robot, [load.frame for load in acting if load.frame])
    states, content = CONTENTS[result.command](result)
    content = {**content, "arrows": [*content.get("arrows", ()), *_arrows(robot, shown, acting)]}
    title = f"{result.command} of {result.robot}, order {result.order}"
    data = {
        "title": title,
        "model": shown.model,
        "warnings": [*dict.fromkeys((*map(str, robot.description.warnings), *result.warnings))],
        "robot": shown.data(states),
        "q": states[0].tolist(),
        **shown.seen(states),
        **content,
    }
    return document(title, data, shown.scene)


@dataclass(frozen=True)
class Page:
    """A page as HTML; a notebook shows it."""

    html: str

    def _repr_html_(self) -> str:
        """The page in a frame of its own, in which its scripts run and reach nothing outside."""
        return (
            f'<iframe srcdoc="{escape(self.html)}" sandbox="allow-scripts" width="100%" height="{HEIGHT}" '
            'style="border: 0"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<page of {len(self.html.encode()) / 1e6:.2f} MB>"


def demand_suffix(file: str) -> None:
    """Raise UsageError where a file cannot hold a page by its name."""
    if Path(file).suffix != SUFFIX:
        raise UsageError(Argument("view", quote(file)), f": a page ends in {SUFFIX}")


def view(result: Result, file: str | os.PathLike[str] | None, overwrite: bool, opened: bool) -> Page:
    """The page of an answer, written to a file where one is named, and shown there. Raises UsageError, KronbotError."""
    if file is None:
        if opened:
            raise UsageError(Argument("open"), " shows a file: name one")
        return Page(page(result))
    name = files.name_of(file, SUFFIX)
    demand_suffix(name)
    made = Page(page(result))
    files.write(name, made.html.encode, overwrite, "the page")
    if opened:
        show(name)
    return made


def show(name: str) -> None:
    """Open a page that was written, in the browser."""
    import webbrowser

    webbrowser.open(Path(name).resolve().as_uri())


def _simulate(result: Result) -> tuple[Array, Content]:
    """Steps in time, and all columns as curves."""
    series, robot = result.series, result.model
    t = series["t"]
    states = _columns(result, robot.coordinates, len(t))
    rows = decimated.rows(len(t), robot.n)
    joints = [joint.name for joint in robot.joints][:FIRST]
    moving = sorted((name for name in series if name.startswith("tip.")), key=lambda name: -np.ptp(series[name]))
    first = {*joints, *moving[:FIRST], *(f"torque.{name}" for name in joints)}
    content: Content = {
        "steps": _steps("t", "s", t[rows], states[rows]),
        "curves": _curves(
            "t", "s", t, {name: each for name, each in series.items() if name != "t"}, result.units, first
        ),
    }
    if not result.summary["complete"]:
        content["note"] = f"incomplete: stopped at t = {result.summary['end']:g} s"
    return states, content


def _statics(result: Result) -> tuple[Array, Content]:
    """Cases one by one, the loads on the endpoint, and all columns over the cases."""
    if not result.summary["cases"]:
        raise ComputationError("there is no equilibrium under the whole load to show")
    series, robot = result.series, result.model
    count = len(series["force.x"])
    swept = {name: f"angle.{name}" for name in robot.coordinates if f"angle.{name}" in series}
    states = _columns(result, [swept.get(name, name) for name in robot.coordinates], count)
    numbers = {name: each for name, each in series.items() if each.dtype.kind in "fi"}
    rows, case = decimated.rows(count, robot.n), np.arange(1.0, count + 1)
    given = [*swept.values(), *(f"{kind}.{axis}" for kind in LOADS for axis in "xyz")]
    varied = [name for name in given if np.ptp(series[name])] or [name for name in given if series[name].any()]
    labels = [
        ", ".join([f"case {row + 1} of {count}", *(f"{name} = {series[name][row]:.4g}" for name in varied)])
        for row in rows.tolist()
    ]
    content: Content = {
        "steps": {**_steps("case", "", case[rows], states[rows]), "labels": labels, "apart": True},
        "arrows": [
            {
                "kind": kind,
                "at": at,
                "vectors": np.column_stack([series[f"{name}{axis}"][rows] for axis in "xyz"]).tolist(),
            }
            for kind, at, name in ARROWS
        ],
        "ghost": True,
    }
    if count > 1:
        moving = sorted((name for name in numbers if name.startswith("tip.")), key=lambda name: -np.ptp(numbers[name]))
        first = {*moving[:FIRST], *(name for name in numbers if name.startswith("torque."))}
        content["curves"] = _curves("case", "", case, numbers, result.units, first)
    else:
        content |= {"note": labels[0], "numbers": [_number(result, name, each[0]) for name, each in numbers.items()]}
    return states, content


def _sweep(result: Result) -> tuple[Array, Content]:
    """Cases one by one, in the posture that they vary or have for an answer, and all columns over the cases."""
    swept, robot, series = result.asked, result.model, result.series
    assert isinstance(swept, Swept)
    count = len(series["case"])
    numbers = {name: each for name, column in series.items() if (each := _numbers(column)) is not None}
    q = np.zeros((count, robot.n))
    for place, name in enumerate(robot.coordinates):
        for column in (name, f"angle.{name}"):
            if column in numbers:
                q[:, place] = np.nan_to_num(numbers[column])
    places = {place for place in robot.flexible if robot.coordinates[place] in numbers}
    rest = robot.undeformed(q)
    bent = [place in places or place not in robot.flexible for place in range(robot.n)]
    states = np.where(np.array(bent, dtype=bool), q, rest)
    varied = [name for names, _ in swept.factors for name in names]
    rows, row = decimated.rows(count, robot.n), np.arange(1.0, count + 1)
    labels = [
        ", ".join([f"case {series['case'][i]}", *(f"{name} = {number(series[name][i])}" for name in varied)])
        + (": failed" if series.get("error", [""] * count)[i] else "")
        for i in rows.tolist()
    ]
    content: Content = {
        "steps": {**_steps("row", "", row[rows], states[rows]), "labels": labels, "apart": True},
        "ghost": bool(places),
    }
    kept = {name: each for name, each in numbers.items() if name in swept.kept}
    if count > 1 and kept:
        table = Table(result, swept)
        units = {name: table.unit(name) for name in kept}
        content["curves"] = _curves("row", "", row, kept, units, set(table.columns[:FIRST]))
    values = [name for name in varied if name in robot.parameters.values]
    if values:
        content["note"] = f"drawn with the file's {', '.join(values)}"
    return states, content


def _numbers(column: npt.NDArray[Any]) -> Array | None:
    """A column as numbers, NaN where a case has none; None where it holds words."""
    if column.dtype.kind == "O":
        known = [each for each in column.tolist() if each is not None]
        if not known or not all(isinstance(each, int | float) and not isinstance(each, bool) for each in known):
            return None
        return np.array([np.nan if each is None else float(each) for each in column.tolist()])
    return column.astype(float) if column.dtype.kind in "iuf" else None


def _modes(result: Result) -> tuple[Array, Content]:
    """Shapes that swing, with joints locked and with joints free, about the straight posture."""
    robot, at = result.model, result.at["q"]
    q = np.array([at.get(name, 0.0) for name in robot.coordinates])
    for joint in robot.joints:
        q[joint.driven] = at[joint.name]
    q = robot.undeformed(q)
    cases = [case for case in ("locked", "free") if f"poles_{case}" in result.arrays]
    return q[None], {"modes": _swinging((case, swinging(result, f"_{case}")) for case in cases)}


def _linearize(result: Result) -> tuple[Array, Content]:
    """Shapes that swing about the point."""
    if "poles" not in result.arrays:
        raise UsageError("pages show the modes about a point, not linear models along a motion")
    return _point(result)[None], {"modes": _swinging([("", swinging(result, ""))])}


def _jacobian(result: Result) -> tuple[Array, Content]:
    """The velocities that the frame takes at joint rates of norm one, as ellipsoids to one scale each."""
    q = _point(result)
    centre, found = ellipsoids(result, q)
    shown, reach = [], REACH * max(float(np.linalg.norm(centre)), 1e-9)
    for kind, ellipsoid, share in zip(("velocity", "rotation"), found, (1.0, 0.6), strict=True):
        if ellipsoid.sizes.size:
            axes = ellipsoid.axes / ellipsoid.sizes.max()
            U = np.linalg.svd(axes)[0]
            U = U * np.sign(np.linalg.det(U))
            half = share * reach * np.linalg.norm(axes, axis=0)
            shown.append({"kind": kind, "centre": centre.tolist(), "R": U.T.ravel().tolist(), "half": half.tolist()})
    return q[None], {"ellipsoids": shown, "numbers": [each.title.partition(": ")[::2] for each in found]}


def _posture(result: Result) -> tuple[Array, Content]:
    """A robot with sliders."""
    return _point(result)[None], {"sliders": True}


def _kinematics(result: Result) -> tuple[Array, Content]:
    """The posture with sliders; other solutions of an inverse as ghosts."""
    q, pose = _point(result), result.arrays["pose"]
    rows = [f"{row}.{column}" for row in pose.rows for column in pose.columns or ()]
    numbers = [(name, f"{value:.6g}") for name, value in zip(rows, pose.values.ravel(), strict=True)]
    return q[None], {
        "sliders": True,
        "axes": True,
        "others": [each.tolist() for each in other_solutions(result, q)],
        "numbers": numbers,
    }


CONTENTS: Mapping[str, Callable[[Result], tuple[Array, Content]]] = {
    POSTURE: _posture,
    "kinematics": _kinematics,
    "jacobian": _jacobian,
    "linearize": _linearize,
    "modes": _modes,
    "simulate": _simulate,
    "statics": _statics,
    "sweep": _sweep,
}


def _number(result: Result, name: str, value: float) -> tuple[str, str]:
    unit = result.units.get(name, "1")
    return name if unit == "1" else f"{name} [{unit}]", f"{value:.5g}"


def _point(result: Result) -> Array:
    return np.array([result.at["q"][name] for name in result.model.coordinates])


@dataclass(frozen=True)
class _Load:
    """A dead force (N, or N/m) and moment (N m) on a frame, or along a beam."""

    frame: str
    beam: str
    numbers: Sequence[float]


def _loads(result: Result) -> list[_Load]:
    """What acts in every case of statics, by the file and by the question."""
    asked = result.asked
    if not isinstance(asked, Inquiry):
        return []
    robot, told = result.model, result.model.file.statics

    def numbers(*vectors: Sequence[Expression]) -> list[float]:
        return [robot.parameters.value(each, "view") for vector in vectors for each in vector]

    found = [_Load(each.frame, "", numbers(each.force, each.moment)) for each in told.loads]
    found += [_Load("", each.link, numbers(each.force)) for each in told.distributed]
    found += [_Load(name, "", each) for name, each in asked.given.on_frames]
    return found + [_Load("", name, each) for name, each in asked.given.along_beams]


def _arrows(robot: Robot, shown: Shown, loads: Sequence[_Load]) -> Iterator[Content]:
    """Forces and moments on frames, and forces along beams at some of their sections."""
    names = [link.name for link in robot.links]
    place = 0
    for load in loads:
        if load.beam:
            yield {"kind": "line", "along": names.index(load.beam), "vectors": [list(load.numbers)]}
            continue
        for kind, vector in zip(LOADS, (load.numbers[:3], load.numbers[3:]), strict=True):
            if any(vector):
                yield {"kind": kind, "at": shown.place(place), "vectors": [list(vector)]}
        place += 1


def _swinging(cases: Iterable[tuple[str, Sequence[Shape]]]) -> Content:
    """Modes by case, as a list."""
    return {
        "list": [
            {"label": f"{case}: {shape.title}" if case else shape.title, "direction": shape.direction.tolist()}
            for case, shapes in cases
            for shape in shapes
        ]
    }


def _columns(result: Result, names: Sequence[str], count: int) -> Array:
    """Columns (N, n) of the series."""
    return np.column_stack([result.series[name] for name in names] or [np.zeros((count, 0))])


def _steps(name: str, unit: str, values: Array, states: Array) -> Content:
    """What the slider of time goes through: values (N,) of what it is called after, and states (N, n)."""
    step = float(np.diff(values).min()) if len(values) > 1 else 1.0
    return {
        "name": name,
        "unit": unit,
        "digits": int(np.clip(np.ceil(-np.log10(step or 1.0)), 0, 9)),
        "values": values.tolist(),
        "states": [decimated.digits(row, decimated.EXACT) for row in states],
    }


def _curves(
    name: str, unit: str, over: Array, columns: Mapping[str, Array], units: Mapping[str, str], first: set[str]
) -> Content:
    """Columns over values (N,), some of which are drawn at ``first``."""
    places, seen = decimated.curves(over, columns)
    return {
        "over": {"name": name, "unit": unit, "values": decimated.digits(places, decimated.EXACT)},
        "series": [
            {
                "name": each,
                "unit": units.get(each, ""),
                "values": decimated.digits(values, decimated.SEEN),
                "shown": each in first,
            }
            for each, values in seen.items()
        ],
    }
