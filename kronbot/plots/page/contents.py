"""What the page of an answer shows: its steps, modes, posture, curves, arrows and numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from kronbot.errors import ComputationError, UsageError
from kronbot.floats import Array, all_finite
from kronbot.model.robot import Robot
from kronbot.plots.jacobian import ellipsoids, of_what
from kronbot.plots.kinematics import other_solutions
from kronbot.plots.loads import UNITS
from kronbot.plots.modes import Shape, swinging
from kronbot.plots.page import decimated
from kronbot.plots.swept import CASE, Table, finite
from kronbot.questions.columns import columns_of_tips, places_in_statics, swings
from kronbot.questions.given_columns import found_angles, given_columns
from kronbot.questions.jacobian import FrameView
from kronbot.questions.result import Result
from kronbot.questions.swept import Swept
from kronbot.questions.tables import columns_shown, number, shown

Content = dict[str, Any]
# What answers are called that are asked for their posture alone.
POSTURE = "view"
# How large ellipsoids are beside the distance of the frame from the base.
REACH = 0.2
# Columns that are shown at once: of each kind so many at most.
FIRST = 4
# How the tips of beams move: along axes, and about them.
TIP = ("x", "y", "z", "rx", "ry", "rz")
# What arrows show: the kind, where it acts, and the columns.
ARROWS = (
    ("force", "endpoint", "force."),
    ("moment", "endpoint", "moment."),
    ("reaction force", "base", "reaction.f"),
    ("reaction moment", "base", "reaction.m"),
)


def _motion(result: Result) -> tuple[Array, Content]:
    """Steps in time of a run or a plan, and all columns as curves."""
    series, robot = columns_shown(result), result.model
    t = series["t"]
    states = _columns(result, robot.coordinates, len(t))
    rows = decimated.rows(len(t), robot.n)
    joints = [joint.name for joint in robot.joints][:FIRST]
    moving = _most_moving(robot, series)
    first = {*joints, *moving[:FIRST], *(f"torque.{name}" for name in joints)}
    content: Content = {
        "steps": _steps("t", "s", t[rows], states[rows]),
        "curves": _curves(
            "t", "s", t, {name: each for name, each in series.items() if name != "t"}, result.units, first, robot
        ),
    }
    if not result.summary["complete"]:
        end = result.summary.get("end")
        content["note"] = "incomplete: " + ("the best so far" if end is None else f"stopped at t = {end:g} s")
    return states, content


def _statics(result: Result) -> tuple[Array, Content]:
    """Cases one by one, the loads on the endpoint, and all columns over the cases."""
    if not result.summary["cases"]:
        raise ComputationError("there is no equilibrium under the whole load to show")
    series, robot = columns_shown(result), result.model
    count = len(series["force.x"])
    states = _columns(result, places_in_statics(robot), count)
    numbers = {name: each for name, each in series.items() if each.dtype.kind in "fi"}
    rows, case = decimated.rows(count, robot.n), np.arange(1.0, count + 1)
    given = [
        *(f"angle.{joint.name}" for joint in robot.joints),
        *(f"{kind}.{axis}" for kind in UNITS for axis in "xyz"),
    ]
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
        first = {*_most_moving(robot, numbers)[:FIRST], *(f"torque.{joint.name}" for joint in robot.joints)}
        # As of a sweep whose one case has these rows.
        asked = Swept("statics", [((CASE,), 1)], (), [*numbers], found=[*found_angles(result)])
        table = Table(replace(result, series={CASE: np.ones(count), **numbers}), asked)
        content["curves"] = _over_values(table, numbers, numbers, result.units, first, robot) or _curves(
            CASE, "", case, numbers, result.units, first, robot
        )
    else:
        content |= {"note": labels[0], "numbers": [_number(result, name, each[0]) for name, each in numbers.items()]}
    return states, content


def _sweep(result: Result) -> tuple[Array, Content]:
    """Cases one by one, in the posture that they vary or have for an answer, and all columns over the cases."""
    swept, robot, series = result.asked, result.model, result.series
    assert isinstance(swept, Swept)
    count = len(series["case"])
    numbers = {name: each for name, column in series.items() if (each := _numbers(column)) is not None}
    q = np.tile([swept.q.get(name, 0.0) for name in robot.coordinates], (count, 1))
    for place, names in enumerate(zip(robot.coordinates, places_in_statics(robot), strict=True)):
        for column in names:
            if column in numbers:
                q[:, place] = np.nan_to_num(numbers[column])
    places = {place for place in robot.flexible if robot.coordinates[place] in numbers or q[0, place]}
    rest = robot.undeformed(q)
    bent = [place in places or place not in robot.flexible for place in range(robot.n)]
    states = np.where(np.array(bent, dtype=bool), q, rest)
    varied = [name for names, _ in swept.factors for name in names]
    given = [name for name in given_columns(result) if name in numbers and name not in varied]
    varied += [name for name in given if len({*finite(numbers[name]).tolist()}) > 1]
    rows, row = decimated.rows(count, robot.n), np.arange(1.0, count + 1)
    labels = [
        ", ".join([f"case {series['case'][i]}{failed}", *(f"{name} = {number(series[name][i])}" for name in varied)])
        for i in rows.tolist()
        for failed in (": failed" if series.get("error", [""] * count)[i] else "",)
    ]
    content: Content = {
        "steps": {**_steps("row", "", row[rows], states[rows]), "labels": labels, "apart": True},
        "ghost": bool(places),
    }
    kept = {name: each for name, each in numbers.items() if name in swept.kept}
    if count > 1 and kept:
        table = Table(result, swept)
        units, first = {name: table.unit(name) for name in kept}, set(table.columns[:FIRST])
        content["curves"] = _over_values(table, numbers, kept, units, first, robot) or _curves(
            "row", "", row, kept, units, first, robot
        )
    values = [name for name in varied if name in robot.parameters.values]
    drawn = [f"with the file's {', '.join(values)}"] if values else []
    if hidden := [name for name in swept.found if name not in numbers]:
        drawn.append(f"without the angles found: keep {', '.join(hidden)}")
    if drawn:
        content["note"] = f"drawn {', '.join(drawn)}"
    return states, content


def _most_moving(robot: Robot, series: Mapping[str, Array]) -> list[str]:
    """Columns of the tips of beams, what changes most first."""
    tips = (name for name in columns_of_tips(robot, TIP) if name in series)
    return sorted(tips, key=lambda name: -np.ptp(series[name]))


def _numbers(column: npt.NDArray[Any]) -> Array | None:
    """A column as numbers, NaN where a case has none; None where it holds words."""
    if column.dtype.kind == "O":
        known = [each for each in column.tolist() if each is not None]
        if not known or not all(isinstance(each, int | float) and not isinstance(each, bool) for each in known):
            return None
        return np.array([np.nan if each is None else float(each) for each in column.tolist()])
    return column.astype(float) if column.dtype.kind in "iuf" else None


def _over_values(
    table: Table,
    numbers: Mapping[str, Array],
    kept: Mapping[str, Array],
    units: Mapping[str, str],
    first: set[str],
    robot: Robot,
) -> Content | None:
    """Columns over the value that is varied, slice by slice for the values of others, and the rows of the table.

    None where it is no number, or where they are more than a page shows.
    """
    name, R = table.sides[table.across].label, table.slices(table.across)
    if table.sides[table.across].words or name == CASE or name not in numbers:
        return None
    if R.shape[1] > decimated.POINTS or R.size * len(kept) > decimated.CURVES:
        return None
    columns = {each: np.where(R < 0, np.nan, values[R]).ravel() for each, values in kept.items()}
    over = _over(name, table.unit(name), numbers[name][R.max(axis=0)])
    return {"over": over, "rows": (R + 1).ravel().tolist(), "series": _series(columns, units, first, robot)}


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
    shown, numbers, reach = [], [], REACH * max(float(np.linalg.norm(centre)), 1e-9)
    for kind, ellipsoid, share in zip(("velocity", "rotation"), found, (1.0, 0.6), strict=True):
        name, _, text = ellipsoid.title.partition(": ")
        numbers.append((name, text, kind))
        if ellipsoid.sizes.size:
            axes = ellipsoid.axes / ellipsoid.sizes.max()
            U = np.linalg.svd(all_finite(axes))[0]
            U = U * np.sign(np.linalg.det(U))
            half = share * reach * np.linalg.norm(axes, axis=0)
            shown.append({"kind": kind, "centre": centre.tolist(), "R": U.T.ravel().tolist(), "half": half.tolist()})
    assert isinstance(result.asked, FrameView)
    note = f"{of_what(result.asked)}; each ellipsoid to a scale of its own"
    return q[None], {"ellipsoids": shown, "numbers": numbers, "note": note}


def _posture(result: Result) -> tuple[Array, Content]:
    """A robot with sliders."""
    return _point(result)[None], {"sliders": True}


def _kinematics(result: Result) -> tuple[Array, Content]:
    """The posture with sliders; other solutions of an inverse as ghosts."""
    q, pose = _point(result), result.arrays["pose"]
    rows = [f"{row}.{column}" for row in pose.rows for column in pose.columns or ()]
    numbers = [(name, number(value)) for name, value in zip(rows, shown("pose", pose).ravel(), strict=True)]
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
    "plan": _motion,
    "simulate": _motion,
    "statics": _statics,
    "sweep": _sweep,
}


def _number(result: Result, name: str, value: float) -> tuple[str, str]:
    unit = result.units.get(name, "1")
    return name if unit == "1" else f"{name} [{unit}]", f"{value + 0.0:.5g}"  # no -0


def _point(result: Result) -> Array:
    return np.array([result.at["q"][name] for name in result.model.coordinates])


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
    name: str,
    unit: str,
    over: Array,
    columns: Mapping[str, Array],
    units: Mapping[str, str],
    first: set[str],
    robot: Robot,
) -> Content:
    """Columns over values (N,), some of which are drawn at ``first``."""
    places, seen = decimated.curves(over, columns)
    return {"over": _over(name, unit, places), "series": _series(seen, units, first, robot)}


def _over(name: str, unit: str, values: Array) -> Content:
    return {"name": name, "unit": unit, "values": decimated.digits(values, decimated.EXACT)}


def _series(columns: Mapping[str, Array], units: Mapping[str, str], first: set[str], robot: Robot) -> list[Content]:
    """Columns as curves. Small movements have charts of their own, where large ones would make them lines at 0."""
    bent = {robot.coordinates[i] for link in robot.links for i in range(link.modal.start, link.modal.stop)}
    small = {*bent, *(f"{name}_dot" for name in bent), *columns_of_tips(robot, TIP)}
    return [
        {
            "name": each,
            "unit": units.get(each, ""),
            "small": each in small,
            "values": decimated.digits(values, decimated.SEEN),
            "shown": each in first,
            "hertz": swings(each, units.get(each, "")),
        }
        for each, values in columns.items()
    ]
