"""Answers: arrays and series with the names of their rows and columns and their units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from kronbot.errors import KronbotError

Scalar = float | int | str | bool
Units = str | Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Array:
    """A vector (``columns`` is None) or a matrix with named rows and columns, or a stack of them along an axis.

    ``units`` is one unit for all entries, or units of rows and of columns (an entry has their product). ``axis`` names
    the leading axis of a stack and its values. Entries are numbers, or formulas as text (a closed form).
    """

    values: npt.NDArray[Any]
    rows: Sequence[str]
    units: Units
    columns: Sequence[str] | None = None
    axis: tuple[str, Sequence[float]] | None = None

    @property
    def symbolic(self) -> bool:
        """True where the entries are formulas."""
        return self.values.dtype.kind in "UO"

    def to_dict(self) -> dict[str, object]:
        """The JSON object of design section 7."""
        head: dict[str, object] = {"rows": list(self.rows)}
        if self.columns is not None:
            head["columns"] = list(self.columns)
        if self.axis is not None:
            head["axis"] = {"name": self.axis[0], "values": list(self.axis[1])}
        if self.symbolic:
            head["symbolic"] = True
        head["units"] = self.units
        if np.iscomplexobj(self.values):
            return head | {"real": plain(self.values.real), "imag": plain(self.values.imag)}
        return head | {"values": plain(self.values)}


@dataclass(frozen=True)
class Result:
    """The answer of one command.

    ``at`` is the operating point (coordinates by name), ``series`` maps a column to its equally long values,
    ``summary`` holds scalars, ``source`` formulas written out by array in ``language`` (latex or python),
    ``warnings`` what the robot file should be looked at for.
    """

    command: str
    robot: str
    order: str
    at: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    arrays: Mapping[str, Array] = field(default_factory=dict)
    series: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    summary: Mapping[str, Scalar] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    source: Mapping[str, str] = field(default_factory=dict)
    language: str = ""

    def to_dict(self, version: str) -> dict[str, object]:
        """The JSON contract of design section 7; keys without content are left out."""
        content: dict[str, object] = {
            "at": {name: {key: plain(value) for key, value in point.items()} for name, point in self.at.items()},
            "arrays": {name: array.to_dict() for name, array in self.arrays.items()},
            "series": {name: plain(column) for name, column in self.series.items()},
            "summary": {name: plain(value) for name, value in self.summary.items()},
            "warnings": list(self.warnings),
        }
        head = {"kronbot": version, "command": self.command, "robot": self.robot, "order": self.order}
        return head | {key: value for key, value in content.items() if value}


@dataclass(frozen=True)
class Outcome:
    """The answer of a command that may stop early, and the error that stopped it (None where it is complete)."""

    result: Result
    error: KronbotError | None


def plain(value: object) -> object:
    """Numbers as Python numbers and nested lists; -0.0 becomes 0.0, so that equal answers have equal bytes."""
    if isinstance(value, np.ndarray):
        return value.tolist() if value.dtype.kind in "UO" else (value + 0.0).tolist()
    if isinstance(value, np.generic):
        value = value.item()
    return value + 0.0 if isinstance(value, float) else value
