"""Answers: arrays and series with the names of their rows and columns and their units."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kronbot.cached import cached_property
from kronbot.compute import views
from kronbot.compute.arrays import Columns, NamedArray, Scalar, dimensions, held_values, plain
from kronbot.compute.deferred import Deferred, demand_finite
from kronbot.description import Description
from kronbot.description.called import called_by_name
from kronbot.description.choices import ORDERS
from kronbot.description.wording import Entries, no_entry, quote, unknown
from kronbot.errors import KronbotError, UsageError
from kronbot.kinds import is_a
from kronbot.model.build import build
from kronbot.model.robot import Robot
from kronbot.questions.limits import Blocks
from kronbot.records import dataclass
from kronbot.system.forking import AtWork
from kronbot.system.importing import imported
from kronbot.system.sealed import demand_same, seal
from kronbot.version import __version__

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.figure import Figure


# Who draws answers stands above them and is found by its name, as a plug-in is.
PICTURES, PAGES, NOTEBOOK = "kronbot.plots.pictures", "kronbot.plots.page.pages", "kronbot.plots.notebook"
# And who writes them as text, beside.
TABLES = "kronbot.questions.tables"
_HELD = ("arrays", "summary", "source", "units")
_EMPTY: Mapping[str, Any] = Entries()


@called_by_name
@dataclass(frozen=True, repr=False, eq=False)
class Result:
    """The answer of one command.

    ``at`` is the operating point (coordinates by name), ``series`` maps a column to its equally long values and
    ``units`` to its unit, ``summary`` holds scalars, ``source`` formulas written out by array in ``language`` (latex or
    python), ``warnings`` what should be looked at, in the robot file or in the answer. Nothing in it can be changed.
    ``about`` is the robot, by its model (after a pickle by its description), ``asked`` what a picture wants to know of
    the question. Arrays and numbers that few look at are computed when somebody does (:meth:`settled`).

    ``name in answer``, ``list(answer)`` and ``answer[name]`` are about arrays and columns of the series.
    """

    command: str
    robot: str
    order: str
    at: Mapping[str, Mapping[str, float]] = _EMPTY
    arrays: Mapping[str, NamedArray] = _EMPTY
    series: Mapping[str, npt.NDArray[Any]] = _EMPTY
    summary: Mapping[str, Scalar] = _EMPTY
    warnings: Sequence[str] = ()
    source: Mapping[str, str] = _EMPTY
    language: str = ""
    units: Mapping[str, str] = _EMPTY
    about: Robot | Description | None = None
    asked: object = None

    def __post_init__(self) -> None:
        """Make it read-only. Raises ComputationError where a number is not finite."""
        put = object.__setattr__
        put(self, "at", Entries({name: Entries(point) for name, point in self.at.items()}))
        if self.series is not _EMPTY:
            put(self, "series", Columns(self.series))
            demand_finite(self.series)
        held = vars(self)
        for name in _HELD:
            if held[name] is not _EMPTY and type(held[name]) is not Deferred:
                put(self, name, Entries(held[name]))
        put(self, "warnings", tuple(self.warnings))
        demand_finite(
            {name: values for name, array in self.arrays.items() if (values := held_values(array)) is not None}
        )
        if type(held["summary"]) is not Deferred:
            demand_finite(self.summary)

    def __eq__(self, other: object) -> bool:
        """Whether another answer has the same words and numbers, to the last bit."""
        return self._content == other._content if is_a(other, Result) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._content)

    @cached_property
    def _content(self) -> str:
        return _sum(self._held())

    def _held(self) -> dict[str, Any]:
        return {entry.name: getattr(self, entry.name) for entry in fields(self)}

    def __reduce__(self) -> tuple[object, ...]:
        """For pickle, with all that is computed later."""
        held = self._held()
        held["at"] = {name: dict(point) for name, point in self.at.items()}
        held["about"] = self._described
        held = {name: dict(value) if isinstance(value, Mapping) else value for name, value in held.items()}
        return _again, (_sum(held), held)

    def settled(self) -> Result:
        """The answer itself, once all of it is computed. Raises ComputationError where a number has no answer."""
        for array in self.arrays.values():
            _ = array.values
        _ = self.summary
        return self

    def __contains__(self, name: object) -> bool:
        # By the text itself: what else a caller has may not be hashed.
        return is_a(name, str) and (str.__str__(name) in self.arrays or str.__str__(name) in self.series)

    def __iter__(self) -> Iterator[str]:
        return iter((*self.arrays, *self.series))

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """The values of an array, or a column of the series. Raises UnknownName, a KeyError that lists them."""
        if name not in self:
            refused = no_entry(name, self)
            if is_a(name, str) and str.__str__(name) in self.summary:
                refused.args = (f"{refused}; it is a number of the summary: answer.summary[{str.__str__(name)!r}]",)
            raise refused
        name = str.__str__(name)
        return self.arrays[name].values if name in self.arrays else self.series[name]

    def __repr__(self) -> str:
        """What the answer holds, without its numbers."""
        held = [("arrays", self.arrays), ("series", self.series), ("summary", self.summary)]
        parts = [f"{word}: {', '.join(entries)}" for word, entries in held if entries]
        return f"<{self.command} of {self.robot}, order {self.order}; {'; '.join(parts)}>"

    def __str__(self) -> str:
        """The answer as the table that the command line prints, in plain text."""
        tables = imported(TABLES)
        return str(tables.Table(self, tables.WIDTH, "all of them: answer[NAME]"))

    def _repr_html_(self) -> str:
        """The answer in a notebook."""
        shown: str = imported(NOTEBOOK).of_result(self)
        return shown

    @property
    def model(self) -> Robot:
        """The model of the robot that the answer is about, built again after a pickle.

        Raises UsageError where the answer is about none.
        """
        if self.about is None:
            raise UsageError("this answer is about no robot that is known here")
        if isinstance(self.about, Robot):
            return self.about
        # Of all orders side by side every one is the same robot.
        order = ORDERS[-1] if self.order == "all" else self.order
        with AtWork():
            model = build(self.about, order, compliant=self.command == "statics")
        object.__setattr__(self, "about", model)
        return model

    @property
    def _described(self) -> Description | None:
        """What the robot was read from, None where the answer is about none."""
        return self.about.description if isinstance(self.about, Robot) else self.about

    def plot(
        self,
        file: str | PathLike[str] | None = None,
        *,
        overwrite: bool = False,
        pair: tuple[str, str] | None = None,
        panels: str | Sequence[str] | None = None,
    ) -> Figure:
        """The picture of the answer as a matplotlib figure; with ``file`` (.png, .svg or .pdf) written there too.

        ``pair``, ("endpoint.y", "torque.q1"), are output and input of the frequency response of ``linearize``;
        ``panels``, "motion,deflection", leaves those of these words alone, in a picture that is smaller; "all" draws
        all modes. Raises UsageError for an answer that has no picture, for words that none of its panels has, without
        matplotlib, and for a file that is there already unless ``overwrite``.

        >>> import kronbot
        >>> kronbot.load("khang").jacobian(q={"qa": 0.3}).plot().get_suptitle()
        'jacobian khang, order 2: endpoint, joint rates of norm 1'
        """
        figure: Figure = imported(PICTURES).plot(lambda: self, self._described, file, overwrite, pair, panels)
        return figure

    def view(self, file: str | PathLike[str] | None = None, *, overwrite: bool = False, open: bool = False) -> Any:
        """The page in which the robot moves, ``html``, which a notebook shows; with ``file`` (.html) written there too.

        ``open`` shows the file in the browser. Raises UsageError for an answer that has no page, and for a file that is
        there already unless ``overwrite``.

        >>> import kronbot
        >>> kronbot.load("khang").kinematics(q={"qa": 0.3}).view().html[:15]
        '<!DOCTYPE html>'
        """
        return imported(PAGES).view(lambda: self, self._described, file, overwrite, open)

    def to_pandas(self) -> pd.DataFrame:
        """The series as a DataFrame. Raises UsageError without pandas, or where the answer holds no series."""
        if not self.series:
            raise UsageError(
                f"this answer has no series; its arrays, {', '.join(self.arrays)}, have views of their own"
            )
        return views.table(self.series, self.units)

    def to_xarray(self) -> xr.Dataset:
        """Arrays and series as a Dataset: dimensions NAME.row and NAME.column, ``t`` or ``row`` for the series.

        Raises UsageError without xarray.
        """
        arrays = {
            name: views.data_array(dimensions(array, f"{name}.row", f"{name}.column"), array.values, array.plain_units)
            for name, array in self.arrays.items()
        }
        return views.dataset(arrays, self.series, self.units, {"robot": self.robot, "order": self.order})

    def to_dict(self) -> dict[str, object]:
        """The JSON contract of design section 7; keys without content are left out."""
        content: dict[str, object] = {
            "at": {name: {key: plain(value) for key, value in point.items()} for name, point in self.at.items()},
            "arrays": {name: array.to_dict() for name, array in self.arrays.items()},
            "series": {name: plain(column) for name, column in self.series.items()},
            "units": dict(self.units) if self.series else {},
            "summary": {name: plain(value) for name, value in self.summary.items()},
            "warnings": list(self.warnings),
        }
        head = {"kronbot": __version__, "command": self.command, "robot": self.robot, "order": self.order}
        return head | {key: value for key, value in content.items() if value}


class _Summary:
    """The summary of an answer, computed by who asks for it first."""

    def __get__(self, answer: Result | None, owner: type[Result]) -> Mapping[str, Scalar] | _Summary:
        if answer is None:
            return self
        held = vars(answer)
        if type(held["summary"]) is Deferred:
            held["summary"] = held["summary"].found()
        summary: Entries = held["summary"]
        return summary

    def __set__(self, answer: Result, summary: Mapping[str, Scalar] | Deferred) -> None:
        """For initializers alone: what is frozen refuses all others."""
        vars(answer)["summary"] = summary


Result.summary = _Summary()  # type: ignore[assignment]


def with_warnings(answer: Result, warnings: Sequence[str]) -> Result:
    """The same answer with other warnings; what is computed later still is."""
    held = {entry.name: vars(answer)[entry.name] for entry in fields(answer)}
    return Result(**{**held, "warnings": warnings})


def _sum(held: Mapping[str, Any]) -> str:
    """Of all but the robot, which has its own, and what pictures want to know."""
    told = {name: value for name, value in held.items() if name not in ("about", "asked")}
    return seal({name: dict(value) if isinstance(value, Mapping) else value for name, value in told.items()})


def _again(then: str, held: dict[str, Any]) -> Result:
    demand_same("an answer", then, _sum(held))
    return Result(**held)


def demand_array(name: str, known: Iterable[str], absent: Mapping[str, str] = _EMPTY) -> None:
    """Raise UsageError where no array is called so; of those ``absent`` it says how they would be there."""
    names = list(known)
    if name not in names:
        if name in absent:
            raise UsageError(f"no array {quote(name)} in this answer: {absent[name]}")
        raise unknown(name, names, "no array ", behind=" in this answer", there="; arrays:")


def joined(blocks: Iterable[Result]) -> Result:
    """Answers at consecutive rows of one batch as one answer; cases are numbered through."""
    first, *rest = blocks
    if not rest:
        return first
    arrays = {}
    for name, array in first.arrays.items():
        values = np.concatenate([array.values, *(block.arrays[name].values for block in rest)])
        arrays[name] = replace(array, values=values, axis=("case", range(1, len(values) + 1)))
    told = Blocks()
    for block in (first, *rest):
        told.add(block.warnings, int(block.summary["cases"]))
    return replace(first, arrays=arrays, summary={"cases": told.rows}, warnings=told.told())


@dataclass(frozen=True)
class Outcome:
    """The answer of a command that may stop early, and the error that stopped it (None where it is complete)."""

    result: Result
    error: KronbotError | None

    def whole(self) -> Result:
        """The answer. Raises what stopped it."""
        if self.error is not None:
            raise self.error
        return self.result
