"""Columns of measurements sorted into what is given in a row and what was measured there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace

import numpy as np

from kronbot.compute.trace import Rows as Places
from kronbot.description.limits import MISTAKES
from kronbot.description.wording import did_you_mean, listing, quote, unknown
from kronbot.errors import Argument, UsageError
from kronbot.floats import Array
from kronbot.mechanics.static.tangent import Flags
from kronbot.questions.fitting.columns import Column
from kronbot.questions.fitting.data import Named
from kronbot.records import dataclass

NONE: Mapping[str, str] = {}
# Columns without a use for whose names others are guessed: milliseconds each.
GUESSED = 1000


@dataclass(frozen=True)
class Sorted:
    """What is given (N,) by name, the measured columns and their numbers (N, columns), NaN where there is none.

    ``columns`` are those that are used of all that are ``compared``, by name. ``rows`` are the numbers of the rows in
    the table, from 1; ``known`` all that may be measured; ``notes`` are what somebody should know. Rows that tell
    something together only have the same number in ``records`` (N,). ``marks`` (N,) by name say what else is known of
    rows.
    """

    inputs: Mapping[str, Array]
    columns: tuple[Column, ...]
    measured: Array
    rows: Places
    known: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)
    records: Array | None = None
    marks: Mapping[str, Array] = field(default_factory=dict)
    compared: tuple[str, ...] = ()

    def some(self, rows: Flags) -> Sorted:
        """The same of some rows, without notes."""
        inputs = {name: each[rows] for name, each in self.inputs.items()}
        records = None if self.records is None else self.records[rows]
        measured, numbers = self.measured[rows], self.rows[rows]
        return replace(self, inputs=inputs, measured=measured, rows=numbers, notes=[], records=records, marks={})


def matches(key: str, name: str) -> bool:
    """Whether a key means a column: it is its name, or what stands before a dot or a number in it."""
    return name == key or name.startswith((f"{key}.", f"{key}["))


def keys(names: Iterable[str]) -> list[str]:
    """All that means some of the columns: what stands before their dots or numbers, and their names."""
    heads = [name.rsplit(".", count)[0] for name in names for count in range(name.count("."), -1, -1)]
    return list(dict.fromkeys(key for head in heads for key in (head.partition("[")[0], head)))


def sort_out(
    named: Named,
    inputs: Mapping[str, str],
    known: Callable[[str], Column | None],
    every: Iterable[str],
    only: Sequence[str],
    driving: bool = False,
    marking: Iterable[str] = (),
    never: Mapping[str, str] = NONE,
) -> Sorted:
    """Sort the columns of a table; ``inputs`` say by name what is given, ``known`` what a name would measure.

    ``every`` lists names that may be measured, for guesses; ``only`` are keys of those that are to be used, ``marking``
    the columns that are neither given nor compared, ``never`` says by what names begin with why some are not. A row
    without all that is given is left out, and so is one in which nothing is measured, unless rows are ``driving``.
    Raises UsageError for a column that is almost one of these, for one that is given twice, and where nothing is
    measured.
    """
    given: dict[str, str] = {}
    outputs: list[Column] = []
    notes: list[str] = []
    unused: list[str] = []
    silent: dict[str, list[str]] = {}
    strange: dict[str, str] = {}
    marks = [*marking]
    for name in named.names:
        if name in marks:
            continue
        if name in inputs:
            if inputs[name] in given:
                raise UsageError(f"{named.table.name}: {quote(given[inputs[name]])} and {quote(name)} say the same")
            given[inputs[name]] = name
        elif (column := known(name)) is not None:
            outputs.append(column)
        elif (why := never.get(name.partition(".")[0])) is not None:
            if name in named.expressions:
                raise UsageError(Argument("columns"), f": {name} is not compared: {why}")
            silent.setdefault(why, []).append(name)
        elif name in named.expressions:
            raise unknown(name, (*inputs, *every), Argument("columns"), ": nothing is called ")
        elif name not in named.spent:
            guessed = len(unused) < GUESSED and not name.startswith("#")  # as one that is not meant is renamed
            if hint := did_you_mean(name, (*inputs, *every)) if guessed else "":
                cure = f"{hint} a column that is not meant can be renamed, for example to {quote('#' + name)}"
                strange[name] = f"no input and no answer is called {quote(name)}{cure}"
                if len(strange) == MISTAKES:  # guesses cost too much to go on with them
                    break
            unused.append(name)
    if strange:
        raise named.table.mistaken(strange)
    if unused:
        timed = "; records over t are those of the question simulate" * ("t" in unused)
        notes.append(f"columns of {named.table.name} that are not used: {listing(unused)}{timed}")
    notes += [f"{listing(names)} of {named.table.name} not compared: {why}" for why, names in silent.items()]
    chosen = _chosen(outputs, only)
    if not chosen:
        kinds = {name.partition(".")[0].partition("[")[0]: name for name in reversed([*every])}
        refused = f"{named.table.name}: no column is an answer to compare with, of {listing(named.names)}; "
        if not kinds:
            raise UsageError(f"{refused}this robot has none to this question")
        refused += f"such are {listing(reversed(kinds.values()))}; "
        raise UsageError(
            refused,
            Argument("columns"),
            " says what makes one of others, another ",
            Argument("question"),
            " has others",
        )
    numbers = named.numbers([*given.values(), *(column.name for column in chosen), *marks])
    measured = np.array([numbers[column.name] for column in chosen]).T.copy()
    _complete_rotations(chosen, measured)
    values = {key: numbers[name] for key, name in given.items()}
    short = np.isnan(np.array(list(values.values())).reshape(len(values), len(measured))).any(axis=0)
    empty = ~short & np.isnan(measured).all(axis=1) & (not driving)
    rows = np.arange(1, len(measured) + 1)
    for left, why in ((short, named.lacking), (empty, "in which nothing is measured")):
        if left.any():
            notes.append(f"rows {why}, left out: {listing(map(str, rows[left]))}")
    keep = ~short & ~empty
    if not keep.any() or np.isnan(measured[keep]).all():
        raise UsageError(f"{named.table.name}: no row has all that is given and something measured")
    return Sorted(
        {key: each[keep] for key, each in values.items()}, chosen, measured[keep], rows[keep], (*every,), notes,
        marks={name: numbers[name][keep] for name in marks}, compared=tuple(column.name for column in outputs),
    )  # fmt: skip


def _chosen(outputs: Sequence[Column], only: Sequence[str]) -> tuple[Column, ...]:
    """The columns that are to be used, those of a rotation next to each other in the order of the axes."""
    names = [column.name for column in outputs]
    for key in only:
        if not any(matches(key, name) for name in names):
            raise unknown(key, keys(names), Argument("only"), ": no measured column ")
    kept = [column for column in outputs if not only or any(matches(key, column.name) for key in only)]
    whole: list[Column] = []
    for column in kept:
        if column.kind != "rotation":
            whole.append(column)
            continue
        parts = sorted((each for each in kept if (each.kind, each.of) == ("rotation", column.of)), key=_place)
        if len(parts) < 3:
            stem, axis = column.name.rpartition(".")[0], column.axis.removesuffix("xyz"[column.place])
            ends = f"{axis}x, {axis}y and {axis}z"
            raise UsageError(f"{stem} is measured whole: columns {ends} of a rotation vector, rad")
        whole += parts if parts[0] not in whole else []
    return tuple(whole)


def _place(column: Column) -> int:
    return column.place


def _complete_rotations(columns: Sequence[Column], measured: Array) -> None:
    """Where a component of a rotation is missing all of it is."""
    for i, column in enumerate(columns):
        if column.kind == "rotation" and column.place == 0:
            gone = np.isnan(measured[:, i : i + 3]).any(axis=1)
            measured[gone, i : i + 3] = np.nan


def drawn(told: Sorted, share: float, seed: int) -> Flags:
    """A share of rows (N,), at least one and not all; of several records whole ones."""
    if told.records is not None and len(records := np.unique(told.records)) > 1:
        return np.isin(told.records, records[_drawn_of(len(records), share, seed)])
    return _drawn_of(len(told.rows), share, seed)


def _drawn_of(count: int, share: float, seed: int) -> Flags:
    size = min(max(round(count * share), 1), count - 1)
    chosen = np.random.default_rng(seed).permutation(count)[:size]
    flags = np.zeros(count, dtype=bool)
    flags[chosen] = True
    return flags
