"""The robot of a fit: in the postures of its rows with what was found, measured points beside computed ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kronbot.description.described import with_overrides
from kronbot.errors import DescriptionError
from kronbot.floats import Array
from kronbot.model.build import compliant, with_values
from kronbot.model.robot import Robot
from kronbot.plots.loads import UNITS, Load, of_file
from kronbot.plots.page import decimated
from kronbot.plots.page.robot import Shown
from kronbot.questions.columns import REACTION
from kronbot.questions.fitting.report import Fitted
from kronbot.questions.result import Result
from kronbot.questions.tables import number

ENDPOINT = "endpoint"


def robot_of(result: Result) -> Robot | None:
    """The robot with the estimates, None where no point in space was measured, or no robot has such numbers."""
    if not isinstance(result.asked, Fitted):
        return None
    statics = result.asked.question == "statics"
    model = compliant(result.model) if statics else result.model
    found = {name: repr(value) for name, value in result.at["parameters"].items()}
    try:
        return with_values(model, with_overrides(result.model.description, found))
    except DescriptionError:
        return None


class Scene:
    """Rows one by one: the posture, what was given, and how far measured points are from computed ones."""

    def __init__(self, result: Result, robot: Robot) -> None:
        assert isinstance(result.asked, Fitted)
        self.fitted, self.robot, self.series = result.asked, robot, result.series
        self.frames = sorted({*self.fitted.points.values(), *self._loaded} - {ENDPOINT})
        self._own = decimated.rows(len(self.fitted.rows), robot.n)

    @property
    def _loaded(self) -> list[str]:
        """Frames on which rows have loads."""
        names = [name.split(".") for name in self.fitted.given]
        return list(dict.fromkeys(".".join(parts[1:-1]) for parts in names if parts[0] == "load"))

    @property
    def acting(self) -> list[Load]:
        """What acts in every row."""
        return of_file(self.robot) if self.fitted.question == "statics" else []

    @property
    def states(self) -> Array:
        """Coordinates (N, n) of the rows that are shown."""
        return np.asarray(self.fitted.q[self._own])

    def content(self, shown: Shown, begin: int) -> dict[str, Any]:
        """What the page shows of them; from the further frame ``begin`` on they are those of this scene."""
        rows = np.arange(1.0, len(self._own) + 1)
        errors = self._errors()
        told = {name: each for name, each in self.fitted.given.items() if np.ptp(each) or each.any()}
        labels = [self._label(row, told, errors) for row in self._own.tolist()]
        places = {ENDPOINT: ENDPOINT} | {name: shown.place(begin + i) for i, name in enumerate(self.frames)}
        return {
            "steps": {
                "name": "row",
                "unit": "",
                "digits": 0,
                "values": rows.tolist(),
                "states": [decimated.digits(q, decimated.EXACT) for q in self.states],
                "labels": labels,
                "apart": True,
            },
            "measured": {
                "fitted": self.fitted.fitted[self._own].tolist(),
                "points": [
                    {"at": places[name], "errors": [decimated.digits(e, decimated.EXACT) for e in each[self._own]]}
                    for name, each in errors.items()
                ],
            },
            "arrows": [*self._arrows(places)],
        }

    def _errors(self) -> dict[str, Array]:
        """Computed less measured (N, 3) by frame, m; NaN along axes that nobody measured."""
        found = {name: np.full((len(self.fitted.rows), 3), np.nan) for name in self.fitted.points.values()}
        keys = zip(self.fitted.rows.tolist(), self.fitted.fitted.tolist(), strict=True)
        row_of = {key: i for i, key in enumerate(keys)}
        columns = (self.series[name].tolist() for name in ("row", "fitted", "column", "residual"))
        for row, fitted, column, residual in zip(*columns, strict=True):
            if column in self.fitted.points:
                found[self.fitted.points[column]][row_of[row, bool(fitted)], "xyz".index(column[-1])] = residual
        return found

    def _label(self, row: int, given: Mapping[str, Array], errors: Mapping[str, Array]) -> str:
        parts = [f"row {self.fitted.rows[row]}{'' if self.fitted.fitted[row] else ', validates'}"]
        parts += [f"{name} = {number(each[row])}" for name, each in given.items()]
        for name, each in errors.items():
            if np.isfinite(each[row]).any():
                parts.append(f"{name} {np.sqrt(np.nansum(each[row] ** 2)):.3g} m off")
        return ", ".join(parts)

    def _arrows(self, places: Mapping[str, int | str]) -> list[dict[str, Any]]:
        """Forces and moments that rows have given."""
        given, none, found = self.fitted.given, np.zeros(len(self.fitted.rows)), []
        named = {ENDPOINT: [f"{kind}.{axis}" for kind in UNITS for axis in "xyz"]}
        for name in self._loaded:
            named[f"load.{name}"] = [f"load.{name}.{axis}" for axis in REACTION]
        for of, columns in named.items():
            numbers = np.column_stack([given.get(name, none) for name in columns])[self._own]
            for kind, vectors in zip(UNITS, (numbers[:, :3], numbers[:, 3:]), strict=True):
                if vectors.any():
                    found.append({"kind": kind, "at": places[of.removeprefix("load.")], "vectors": vectors.tolist()})
        return found
