"""Columns of measurements that look like another unit than ours, beside what is computed at the start; and silent ones.

A wrong unit is told from a wrong length or an unknown camera: what is measured goes along with what is computed, or a
frame moves as many times as far, which no turn and no shift of a camera changes; and with inputs in another unit errors
are a fraction of what they were.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from kronbot.description.wording import listing
from kronbot.errors import Failure
from kronbot.floats import Array
from kronbot.model.robot import Robot
from kronbot.questions.fitting.data import Columns, Named
from kronbot.questions.fitting.sorting import Sorted

# Rows that show a unit, and such that are tried with another one.
ROWS, TRIED = 3, 200
# What numbers of another unit are, as multiples of ours: within a factor of 1.5 of these, and along with ours.
_UNITS = {"m": {1e3: ("mm", "*1e-3"), 1e2: ("cm", "*1e-2")}, "rad": {180 / np.pi: ("degrees", "*deg")}}
_UNITS |= {"s": {1e3: ("ms", "*1e-3")}}
_OTHERS = {1e3: ("thousandths", "*1e-3"), 1e-3: ("thousands", "*1e3")}
NEAR, ALONG = 1.5, 0.9
# Angles (rad) beyond these are rarely meant, rotation vectors never; changes below this share of a column are rounding.
TURNS, TURN, STILL = 4 * np.pi, 2 * np.pi, 1e-9
# Errors beyond this share of what is measured ask for another unit, and one that leaves this share of them is it.
POOR, BETTER = 0.2, 0.2


def doubts(robot: Robot, told: Sorted, errors: Array) -> Iterator[str]:
    """Columns that are empty, that stand still where what is computed (``errors`` (N, columns) with it) does not, and
    that look like another unit.
    """
    units = dict(zip(robot.coordinates, robot.units, strict=True))
    units |= {f"angle.{joint.name}": robot.units[joint.driven] for joint in robot.joints}
    reached = {key: float(np.abs(values).max()) for key, values in told.inputs.items() if units.get(key) == "rad"}
    far = {key.removeprefix("angle."): largest for key, largest in reached.items() if largest > TURNS}
    if far:
        which = f"{listing(far)} reach" if len(far) > 1 else f"{next(iter(far))} reaches"
        verb = "are they" if len(far) > 1 else "is it"
        cure = f'columns: {{{next(iter(far))}: "...*deg"}} makes it rad'
        yield f"{which} {max(far.values()):.4g} rad: {verb} in degrees? {cure}"
    computed, asked = told.measured + errors, set[str]()  # the names of what was asked about
    reaches = dict.fromkeys((column.unit for column in told.columns), 0.0)
    for column, h in zip(told.columns, computed.T, strict=True):
        reaches[column.unit] = max(reaches[column.unit], float(np.abs(h[~np.isnan(h)]).max(initial=0.0)))
    for i, column in enumerate(told.columns):
        there = ~np.isnan(told.measured[:, i])
        y, h = told.measured[there, i], computed[there, i]
        if not there.any():
            yield f"{column.name} is empty in every row"
        elif column.kind == "rotation":
            size = float(np.sqrt(np.nanmax((told.measured[:, i : i + 3] ** 2).sum(axis=1)))) if column.place == 0 else 0
            if size > TURN:
                cure = f'columns: {{{column.name}: "...*deg"}} and so on'
                yield f"{column.name.rpartition('.')[0]} reaches {size:.4g} rad: is it in degrees? {cure}"
        elif len(y) < ROWS:
            pass
        elif not np.ptp(y) and np.ptp(h) > STILL * reaches[column.unit]:  # beside it rounding is still
            yield f"{column.name} is {y[0]:.4g} in every row, what is computed is not: does its sensor work?"
        else:
            known = _OTHERS | _UNITS.get(column.unit, {})
            ratios = [_ratio(y, h), _ratio(y - y.mean(), h - h.mean())]
            for times, (unit, factor) in known.items():
                if any(times / NEAR < ratio < times * NEAR for ratio in ratios):
                    asked.add(column.of)
                    yield f"{column.name} is about {times:.4g} times what is computed: is it in {unit}? " + (
                        f'columns: {{{column.name}: "...{factor}"}} makes it {column.unit}'
                    )
                    break
            else:  # a record that begins in degrees goes along with nothing
                reach, off = float(np.abs(y).max()), float(np.sqrt(np.mean((y - h) ** 2)))
                if column.unit == "rad" and reach > TURNS and off > POOR * np.ptp(y):
                    cure = f'columns: {{{column.name}: "...*deg"}} makes it rad'
                    yield f"{column.name} reaches {reach:.4g} rad: is it in degrees? {cure}"
    yield from _frames(told, computed, asked)


def _frames(told: Sorted, computed: Array, asked: set[str]) -> Iterator[str]:
    """Frames, but those ``asked`` about, that move many times as far as is computed (N, columns)."""
    for frame in dict.fromkeys(column.of for column in told.columns if column.kind == "position"):
        own = [i for i, column in enumerate(told.columns) if (column.kind, column.of) == ("position", frame)]
        whole = ~np.isnan(told.measured[:, own]).any(axis=1)
        if frame in asked or len(own) < 3 or whole.sum() < ROWS:
            continue
        spread, of_computed = (
            float(np.sqrt(each[whole][:, own].var(axis=0).sum())) for each in (told.measured, computed)
        )
        for times, (unit, factor) in _UNITS["m"].items():
            if times / NEAR * of_computed < spread < times * NEAR * of_computed:
                cure = f'columns: {{position.{frame}.x: "...{factor}"}} and so on'
                yield f"position.{frame} moves about {times:.4g} times as far as is computed: is it in {unit}? {cure}"


def _ratio(y: Array, h: Array) -> float:
    """How many times as large one column is as another that it goes along with, else 0."""
    square = float(np.sum(h * h))
    size = float(np.sqrt(square * np.sum(y * y)))
    return size / square if size > 0 and abs(float(h @ y)) >= ALONG * size else 0.0


def other_inputs(robot: Robot, told: Sorted, errors: Array, again: Callable[[Named], Array]) -> Iterator[str]:
    """Inputs of another unit with which errors (N, columns) would be a fraction of what they are.

    ``again`` gives the errors of other rows.
    """
    first = np.arange(len(told.rows))
    if told.records is not None:
        first = np.flatnonzero(told.records == told.records[0])
    rows = first[:TRIED]
    before = poor(errors[rows], told.measured[rows])
    if len(rows) < ROWS or not before > POOR:
        return
    units = {name: unit for names in robot.derivative_names(("q", "qd", "qdd")).values()
             for name, unit in zip(names, robot.units, strict=True)}  # fmt: skip
    for joint in robot.joints:
        units |= {f"{word}.{joint.name}": robot.units[joint.driven] for word in ("angle", "motion")}
    units["t"] = "s"
    measured = {column.name: told.measured[rows, i] for i, column in enumerate(told.columns)}
    for ours, others in _UNITS.items():
        names = [name for name, values in told.inputs.items() if units.get(name) == ours and values[rows].any()]
        for times, (unit, factor) in others.items() if names else ():
            table = {name: values[rows] / (times if name in names else 1.0) for name, values in told.inputs.items()}
            try:
                after = poor(again(Named(Columns({**table, **measured}), {})), told.measured[rows])
            except Failure:
                continue
            if after < BETTER * before:
                shown = [name.removeprefix("angle.") for name in names]
                yield f"errors would be {before / after:.3g} times smaller were {listing(shown)} in {unit}: " + (
                    f'columns: {{{shown[0]}: "...{factor}"}} makes it {ours}'
                )
                break


def poor(errors: Array, measured: Array) -> float:
    """How large errors are beside the changes of what is measured, whatever is added to all of a column."""
    with np.errstate(all="ignore"):
        there = np.isfinite(errors) & ~np.isnan(measured)
        count = np.maximum(there.sum(axis=0), 1)

        def spread(values: Array) -> Array:
            kept = np.where(there, values, 0.0)
            return np.asarray((np.where(there, kept - kept.sum(axis=0) / count, 0.0) ** 2).sum(axis=0))

        shares = spread(errors) / spread(measured)
    shares = shares[np.isfinite(shares)]
    lost = bool((~np.isfinite(errors) & ~np.isnan(measured)).any())
    return float(np.sqrt(shares.mean())) if len(shares) and not lost else np.inf
