"""What a fit says in words: combinations that data cannot tell apart, correlations, units that look like others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from kronbot.description.wording import listing
from kronbot.floats import Array
from kronbot.mechanics.estimation.knowledge import Ambiguity, Combination, Knowledge
from kronbot.model.robot import Robot
from kronbot.questions.fitting.sorting import Sorted

# Correlations that are worth a word, and rows that show a unit.
CORRELATED, ROWS = 0.9, 3
# Those of two parameters along which a search hardly gets on.
HARDLY = 0.999
# More sums of a group, and more pairs, are left to the arrays.
MOST_SUMS, MOST_PAIRS = 6, 10
# What numbers of another unit are, as multiples of ours: within a factor of 1.5 of these, and along with ours.
_UNITS = {"m": {1e3: ("mm", "*1e-3"), 1e2: ("cm", "*1e-2")}, "rad": {180 / np.pi: ("degrees", "*deg")}}
_OTHERS = {1e3: ("thousandths", "*1e-3"), 1e-3: ("thousands", "*1e3")}
NEAR, ALONG = 1.5, 0.9
# Angles (rad) beyond these are rarely meant, and changes below this share of a column are rounding.
TURNS, STILL = 4 * np.pi, 1e-9


def ambiguous(found: Sequence[Ambiguity], names: Sequence[str], held_by_priors: bool) -> Iterator[str]:
    """What each group of parameters that the data cannot tell apart is known by."""
    behind = "; the rest is the priors'" if held_by_priors else ""
    for group in found:
        who = _and([names[i] for i in group.places])
        if len(group.known) > MOST_SUMS:
            rest = len(group.places) - len(group.known)
            behind = f"; {rest} combination{'s' * (rest > 1)} of them {'is' if rest == 1 else 'are'} left open{behind}"
            yield f"these data tell {who} only as {len(group.known)} sums, those of the array combinations{behind}"
        elif group.known:
            sums = _and([sum_of(each, names) for each in group.known])
            yield f"these data tell {who} only as {sums}{behind}"
        else:
            yield f"these data tell nothing of {who}{behind}"


def sum_of(combination: Combination, names: Sequence[str]) -> str:
    """A combination as a sum: ``0.8 m3 + 0.6 m4``."""
    text = ""
    for place, share in zip(combination.places, combination.shares, strict=True):
        sign = (" - " if share < 0 else " + ") if text else ("-" if share < 0 else "")
        number = "" if (shown := f"{abs(share):.4g}") == "1" else f"{shown} "
        text += f"{sign}{number}{names[place]}"
    return text


def correlated(knowledge: Knowledge, names: Sequence[str]) -> Iterator[str]:
    """Pairs of parameters of which one is known as far as the other is, the strongest first."""
    R = knowledge.correlations
    pairs = [(float(R[i, j]), i, j) for i in range(len(R)) for j in range(i) if abs(R[i, j]) > CORRELATED]
    for value, i, j in sorted(pairs, key=lambda pair: -abs(pair[0]))[:MOST_PAIRS]:
        yield f"{names[j]} and {names[i]} are correlated: {value:.4f}"
    if len(pairs) > MOST_PAIRS:
        yield f"{len(pairs) - MOST_PAIRS} more pairs are correlated by more than {CORRELATED}: the array correlations"


def alike(knowledge: Knowledge, names: Sequence[str]) -> tuple[str, str] | None:
    """The two parameters that the data tell apart the least, where they hardly do."""
    R = np.abs(np.nan_to_num(np.tril(knowledge.correlations, -1)))
    if not R.max(initial=0.0) > HARDLY:
        return None
    i, j = divmod(int(R.argmax()), len(R))
    return names[j], names[i]


def doubts(robot: Robot, told: Sorted, errors: Array) -> Iterator[str]:
    """Columns that are empty, that stand still where what is computed does not, and that look like another unit.

    Beside what is computed at the start those are some power of ten larger; angles that are given are many turns.
    """
    units = dict(zip(robot.coordinates, robot.units, strict=True))
    units |= {f"angle.{joint.name}": robot.units[joint.driven] for joint in robot.joints}
    for key, values in told.inputs.items():
        name, largest = key.removeprefix("angle."), float(np.abs(values).max())
        if units.get(key) == "rad" and largest > TURNS:
            yield f'{name} reaches {largest:.4g} rad: is it in degrees? columns: {{{name}: "...*deg"}} makes it rad'
    for i, column in enumerate(told.columns):
        y, e = told.measured[:, i], errors[:, i]
        there = ~np.isnan(y)
        if not there.any():
            yield f"{column.name} is empty in every row"
        if column.kind == "rotation" or there.sum() < ROWS:
            continue
        y, h = y[there], y[there] + e[there]
        if not np.ptp(y) and np.ptp(h) > STILL * np.abs(h).max():
            yield f"{column.name} is {y[0]:.4g} in every row, what is computed is not: does its sensor work?"
            continue
        size = float(np.sqrt(np.sum(h * h) * np.sum(y * y)))
        if not size > 0 or abs(float(h @ y)) < ALONG * size:
            continue
        ratio = float(np.sqrt(np.sum(y * y) / np.sum(h * h)))
        for times, (unit, factor) in {**_OTHERS, **_UNITS.get(column.unit, {})}.items():
            if times / NEAR < ratio < times * NEAR:
                cure = f'columns: {{{column.name}: "...{factor}"}} makes it {column.unit}'
                yield f"{column.name} is about {times:.4g} times what is computed: is it in {unit}? {cure}"


def _and(words: Sequence[str]) -> str:
    listed = listing(words[:-1]) if len(words) > 1 else ""
    return f"{listed} and {words[-1]}" if listed else words[0]
