"""``robot.sweep``: one question to many robots, as rows, as a table, as a file that is never half written."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kronbot.cached import cached_property
from kronbot.compute import views
from kronbot.compute.native import policy
from kronbot.description.called import called_by_name
from kronbot.description.limits import MISTAKES
from kronbot.description.wording import no_entry
from kronbot.errors import Argument, ComputationError, Interrupted, UsageError
from kronbot.kinds import is_a
from kronbot.library import arguments as plain_arguments
from kronbot.library.cases import QUESTIONS, demand_accepted, plain_option
from kronbot.library.values import points
from kronbot.questions.result import Result
from kronbot.questions.swept import ERROR, Swept
from kronbot.records import dataclass
from kronbot.sweeps import cases as varied
from kronbot.sweeps import cells, grammar, names, output
from kronbot.sweeps import indices as sobol
from kronbot.sweeps import kept as columns
from kronbot.sweeps.driver import Driver, Remembered, in_order
from kronbot.sweeps.engines.interface import Engine
from kronbot.sweeps.place import Place
from kronbot.sweeps.tally import Tally
from kronbot.sweeps.work import Done, Parcel, Subject, Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kronbot.plots.page.pages import Page

# Arguments that take rows of points where a question is asked once.
_POINTS = ("q", "qd", "qdd")
# More processes than this are a mistake.
MOST_WORKERS = 4096


@dataclass(frozen=True)
class Hands:
    """Who computes: so many processes of this machine, or a Dask scheduler at an address or described in a file."""

    workers: int | None = None
    scheduler: str | None = None

    def __post_init__(self) -> None:
        """Raises UsageError for both."""
        if self.workers is not None and self.scheduler is not None:
            raise UsageError(Argument("scheduler"), " has workers of its own: leave out ", Argument("workers"))

    def engine(self, parcel: Parcel, cases: int) -> Engine:
        """Ready to be given work. Raises UsageError without Dask, ComputationError where there is no scheduler."""
        if self.scheduler is None:
            from kronbot.sweeps.engines.local import Local

            return Local(parcel, self.workers, cases)
        from kronbot.sweeps.engines.dask import Dask

        return Dask(parcel, self.scheduler)


@called_by_name
@dataclass(frozen=True, repr=False, eq=False)
class Sweep:
    """One question in many cases. Iterating computes them and yields their rows, by column, in the order of the cases.

    So do :meth:`result`, columns and the like, and compute nothing again; before, nothing is computed, written, raised.
    """

    robot: Subject
    task: Task
    hands: Hands
    place: Place | None
    strict: bool
    progress: plain_arguments.Progress
    tally: Tally

    def __getstate__(self) -> dict[str, object]:
        """With the rows where all of them are computed; else another process computes its own."""
        return {name: each for name, each in vars(self).items() if name != "_kept" or self.tally.complete}

    def __repr__(self) -> str:
        """What is asked, and the columns of the answer."""
        return f"<sweep {self.task.question} of {self.robot.model.name}, {len(self)} cases: {', '.join(self.header)}>"

    def _repr_html_(self) -> str:
        """In a notebook the table, where it is computed; what is asked before."""
        from kronbot.plots import notebook

        if self.tally.complete and "_kept" in vars(self):
            return notebook.of_result(self.result())
        ends = [(each.names, each.size, each.at(np.array([0, each.size - 1]))) for each in self.task.cases.factors]
        title = f"sweep {self.task.question} of {self.robot.model.name}, {len(self)} cases"
        return notebook.of_sweep(title, ends, [column.name for column in self.task.kept.columns])

    @property
    def header(self) -> list[str]:
        """Names of the columns: the case, what is varied, what is kept, the error."""
        return self.task.kept.header

    def __len__(self) -> int:
        """How many cases there are."""
        return self.task.cases.count

    def __contains__(self, name: object) -> bool:
        return is_a(name, str) and str.__str__(name) in self.header

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """A column of the table, by name as of any answer. Raises UnknownName, a KeyError that lists them."""
        if name not in self:
            raise no_entry(name, self.header, "column")
        return self._table[str.__str__(name)]

    def __iter__(self) -> Iterator[dict[str, object]]:
        """The rows, as they come in the order of the cases."""
        header = self.header
        for done in self.kept_chunks:
            for row in output.rows(done):
                yield dict(zip(header, row, strict=False))

    @property
    def kept_chunks(self) -> Iterable[Done]:
        """The same, remembered for whoever asks again; what was interrupted begins anew."""
        known: Remembered | None = vars(self).get("_kept")
        if known is None or known.interrupted:
            # Of a copy: processes end as soon as nobody holds the sweep, which would hold itself by its own generator.
            known = vars(self)["_kept"] = Remembered(replace(self).chunks())
        return known

    def chunks(self) -> Iterator[Done]:
        """The rows as text, many cases at a time, in the order of the cases; the file is there after the last.

        With a file they come when all cases are computed. Raises Interrupted at Ctrl-C, with a word on how to go on.
        """
        self.tally.begin()
        coming = (
            in_order(self._computed(self.task)) if self.place is None else self.place.written(self.task, self._computed)
        )
        try:
            for done in coming:
                self.tally.add(done)
                yield done
        except (KeyboardInterrupt, Interrupted) as error:
            if self.place is not None and isinstance(error, Interrupted):  # which says how to go on
                raise
            raise Interrupted("interrupted", *self.tally.told(len(self), self.place is None)) from None
        self.tally.complete = True
        if self.tally.failed and self.strict:
            raise ComputationError(self.tally.failures)

    @property
    def failed(self) -> int:
        """How many cases have failed, when all are computed."""
        for _ in () if self.tally.complete else self.kept_chunks:
            pass
        return self.tally.failed

    @property
    def finished(self) -> bool:
        """Whether the file of a sweep that is to be resumed is there already, with all cases of this sweep in it.

        Raises UsageError where it is another one.
        """
        if self.place is None or not self.place.resume:
            return False
        return self.place.holds(self.task)

    def _computed(self, task: Task, spans: Iterable[tuple[int, int]] = ()) -> Iterator[Done]:
        """Chunks as they come, but for those that are there."""
        progress = plain_arguments.progress(self.progress)
        with self.hands.engine(Parcel.of(task), len(self)) as engine:
            for done in Driver(task, engine, spans, progress).chunks():
                if done.interpreted is not None:
                    policy.interpreted(done.interpreted)
                yield done

    def result(self) -> Result:
        """The whole table as an answer: a column of the series each, None where a case has no value."""
        return self._table

    @cached_property
    def _table(self) -> Result:
        rows = [row for done in self.kept_chunks for row in output.rows(done)]
        width = len(self.header)
        table = zip(*(row[:width] for row in rows), strict=True)
        series = {name: cells.column(values) for name, values in zip(self.header, table, strict=True)}
        hidden = self.task.kept.hidden
        beside = {name: [row[i] if i < len(row) else None for row in rows] for i, name in enumerate(hidden, width)}
        robot, task = self.robot.model, self.task
        factors = [(tuple(each.names), each.size) for each in task.cases.factors]
        draws = task.cases.factors[-1]
        drawn = draws.names if isinstance(draws, varied.Draws) else ()
        kept, warnings = [column.name for column in task.kept.columns], [*self.tally.doubts()]
        if hidden and all(len(row) <= width for row in rows) and self.tally.failed < self.tally.cases:
            beside = {}
            warnings.append("frequencies are drawn by number: the sweep was begun without a picture, it has no shapes")
        warnings += cells.uneven(series, task.kept.numbered, [each is not None for each in series[ERROR]])
        numbers = {name: series[name].tolist() for name in kept if cells.is_number(series[name])}
        found, doubts = sobol.told(task.cases, self.failed, numbers, kept, task.kept.usual)
        warnings += doubts
        said = task.kept.usual, task.kept.single, names.free_angles(robot, task.arguments, task.meanings)
        at, many = points(robot, {"q": task.arguments.get("q")})  # type: ignore[dict-item]
        own = {} if many else robot.by_name(at["q"][0])  # rows stand in columns
        asked = Swept(task.question, factors, drawn, kept, found, beside, *said, own)
        return Result(
            "sweep", robot.name, robot.order,
            arrays={f"indices {name}": sobol.array(each, drawn) for name, each in found.items()},
            series=series,
            units=task.units,
            summary={"question": task.question, **self.tally.summary},
            warnings=warnings, about=robot, asked=asked,
        )  # fmt: skip

    def to_dict(self) -> Any:
        """The JSON object (kronbot explain formats)."""
        return json.loads(b"".join(output.Json().pieces(self.task, lambda: self.kept_chunks)))

    def to_pandas(self) -> Any:
        """The table as a DataFrame, NaN where a case has no number. Raises UsageError without pandas."""
        table = {name: cells.plain(name, each) for name, each in self.result().series.items()}
        return views.table(table, self.task.units)

    def to_xarray(self) -> Any:
        """The table as a Dataset with the varied values as coordinates; a grid has a dimension for each of them.

        Whole arrays have dimensions NAME.row and NAME.column. Raises UsageError without xarray.
        """
        result = self.result()
        series = {name: cells.form_of(name, each).array(each.tolist()) for name, each in result.series.items()}
        cases = self.task.cases
        # Where a case has rows, these are rows.
        grid = len(series[columns.CASE]) == cases.count and all(len(factor.names) == 1 for factor in cases.factors)
        dims = [factor.names[0] for factor in cases.factors] if grid else [columns.CASE]
        sizes = [factor.size for factor in cases.factors] if grid else [len(series[columns.CASE])]
        coordinates: dict[str, Any] = {}
        told = {name: {"units": unit} for name, unit in self.task.units.items()}
        for name in (columns.CASE, *cases.names):
            whole = series.pop(name).reshape(sizes)
            if grid and name in dims:
                axis = dims.index(name)
                whole = whole[tuple(slice(None) if i == axis else 0 for i in range(len(dims)))]
            coordinates[name] = ([name] if grid and name in dims else dims, whole, told.get(name))
        data = {
            name: (
                [*dims, *(f"{name}.{side}" for side in ("row", "column")[: values.ndim - 1])],
                values.reshape(*sizes, *values.shape[1:]),
                told.get(name),
            )
            for name, values in series.items()
        }
        return views.swept(data, coordinates, {"robot": result.robot, "order": result.order})

    def plot(
        self, file: str | None = None, *, overwrite: bool = False, panels: str | Sequence[str] | None = None
    ) -> Figure:
        """The picture of the table, as of :meth:`kronbot.questions.result.Result.plot`."""
        from kronbot.plots import pictures

        return pictures.plot(self.result, self.robot.model.description, file, overwrite, None, panels)

    def view(self, file: str | None = None, *, overwrite: bool = False, open: bool = False) -> Page:
        """The page of the table, as of :meth:`kronbot.questions.result.Result.view`."""
        from kronbot.plots.page import pages

        return pages.view(self.result, self.robot.model.description, file, overwrite, open)


def columns_of(cases: object) -> dict[str, Sequence[object]]:
    """Columns of cases by name. Raises UsageError where they are not equally long, or empty."""
    found = {name: _column(each, f"cases {name}") for name, each in plain_arguments.pairs(cases, "cases").items()}
    lengths = {len(column) for column in found.values()}
    if len(lengths) != 1 or 0 in lengths:
        raise UsageError(Argument("cases"), ": columns of equally many values are wanted, one at least")
    return found


def _column(given: object, word: str) -> Sequence[object]:
    if is_a(given, varied.Numbers | varied.Read):
        return given
    listed = plain_arguments.array_like(given, word)
    if is_a(listed, np.ndarray) and listed.ndim == 1 and listed.dtype.kind == "f" and listed.dtype.itemsize <= 8:
        numbers = plain_arguments.array(listed, {}, word, depth=1)
        return varied.Numbers(numbers, np.zeros(len(numbers), dtype=bool))
    return plain_arguments.plain_column(listed, word)


def sweep(
    robot: Subject,
    question: str,
    over: Mapping[str, object],
    table: Mapping[str, Sequence[object]] | None,
    draws: tuple[int | None, int, bool],
    keep: str | Sequence[str] | None,
    pictured: bool,
    given: Mapping[str, object],
    hands: Hands,
    place: Place | None,
    strict: bool,
    progress: plain_arguments.Progress,
) -> Sweep:
    """The sweep that is asked for, of which nothing is computed yet. Raises UsageError for what is wrong with it."""
    asked = plain_arguments.choice(question, QUESTIONS, "question")
    accepted = demand_accepted(robot, asked, given, but="progress")
    fixed = {name: plain_option(name, value) for name, value in given.items() if value is not None}
    for word, value in fixed.items():
        entries = list(value.values()) if is_a(value, dict) else value if is_a(value, list) else []
        if word in _POINTS and asked != "statics" and any(is_a(each, list) for each in entries):
            raise UsageError(Argument(word), ": a case is one point, not rows: ", Argument("cases"), " takes rows")
    meant = names.meanings(robot.model, accepted, [*(table or ()), *over])
    varying = {name: plain_arguments.plain(each, name) for name, each in over.items()}
    made = grammar.cases(varying, table, *draws)
    options: dict[str, Sequence[object]] = {}
    wrong: list[tuple[int, str, str]] = []
    for name, meaning in zip(made.names, meant, strict=True):
        wrong += islice(names.strange_values(robot.model, name, meaning, made), MISTAKES + 1)
        if meaning.argument is not None and not meaning.keys:
            if meaning.argument in fixed:
                raise UsageError(f"{name} is varied, and fixed: leave one out")
            options[meaning.argument] = tuple(map(names.whole, made.values_of(name)))
    if wrong:
        raise names.strange(sorted(wrong), () if table is None else table)
    prepared = names.prepared(robot.model, fixed, made.names, meant)
    _, first = names.placed(prepared, meant, made.rows(0, 1)[0])
    possible = {name: (value,) for name, value in first.items()} | options
    wanted = None if keep is None else columns.listed(_names(keep, "keep"))
    apart = place is not None and place.form.apart
    kept = columns.kept(robot.model, asked, possible, made.names, wanted, pictured, apart)
    sobol.demand_one_row(made, kept)
    task = Task(robot, asked, prepared, made, meant, kept)
    if place is not None:
        place.demand_possible(task)
    degrees = names.in_degrees(robot.model, dict(zip(made.names, meant, strict=True)), {**(table or {}), **varying})
    return Sweep(robot, task, hands, place, strict, progress, Tally(kept, of_names=tuple(degrees)))


def _names(value: object, word: str) -> str | list[str]:
    if is_a(value, str):
        return plain_arguments.text(value, word)
    return [plain_arguments.text(each, word) for each in plain_arguments.entries(value, word)]
