"""Which mode of a robot a measured one is: by its order, or by what was measured of its shape.

How alike two shapes are is the modal assurance criterion |a^H b|^2/((a^H a)(b^H b)) (Allemang and Brown 1982), which no
scale and no sign changes. Numbers of one unit are compared with each other, and count by how many they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import casadi
import numpy as np
import numpy.typing as npt
from casadi import SX

from kronbot.compute.trace import Rows as Places
from kronbot.compute.trace import Trace, traced
from kronbot.description.wording import quote, unknown
from kronbot.errors import UsageError
from kronbot.floats import Array
from kronbot.mechanics.static.static_model import StaticModel
from kronbot.model.robot import Robot
from kronbot.questions.fitting.columns import Column, found, of_statics
from kronbot.questions.fitting.data import Named
from kronbot.questions.fitting.statics import measured
from kronbot.records import dataclass

PURPOSE = "fit"
CASES = ("locked", "free")
_NAME = re.compile(r"shape_(\w+)\[(\d+)\]\.(.+)")
# What moves as the coordinates do.
KINDS = ("endpoint", "position", "tip", "gauge", "coordinate")
# How much more alike a mode must be for each place that it is away from its own, more so a higher one; and what is no
# match.
AWAY, HIGHER, UNLIKE = 0.05, 1.1, 0.8
# What measured shapes count beside those that are left.
FIRST = 1e6
Complex = npt.NDArray[np.complex128]


@dataclass(frozen=True)
class Component:
    """A number of a measured shape: of which mode of which case, from 0, and what moved."""

    case: str
    place: int
    moved: Column


@dataclass(frozen=True)
class Shapes:
    """What was measured of shapes (N, components), NaN where nothing was; ``rows`` (N,) have numbers in their table."""

    components: tuple[Component, ...]
    measured: Array
    rows: Places

    def __getitem__(self, rows: Places) -> Shapes:
        """Those of some rows."""
        return replace(self, measured=self.measured[rows], rows=self.rows[rows])

    def of(self, case: str) -> list[int]:
        """Places of the components of a case."""
        return [i for i, each in enumerate(self.components) if each.case == case]

    def _trace(self, robot: Robot) -> Trace:
        columns = tuple(each.moved for each in self.components)

        def made() -> tuple[dict[str, SX], dict[str, SX]]:
            model = StaticModel(robot, robot.file.statics)
            moved = casadi.vertcat(*measured(model, columns, SX(0, 1)))
            return {"q": model.q}, {"H": casadi.densify(casadi.jacobian(moved, model.q))}

        return traced(robot, ("shapes", columns), PURPOSE, made)

    def alike(
        self, robot: Robot, q: Array, case: str, free: list[int], right: Complex
    ) -> tuple[Array, npt.NDArray[Any]]:
        """How alike modes (N, m, f) of the free coordinates are to measured ones (N, used, m), and which are measured
        (N, used) there; used are the :meth:`numbers` of a case.
        """
        own, used = self.of(case), self.numbers(case)
        H = self._trace(robot).rows(q)["H"].reshape(len(q), len(self.components), -1)[:, own][:, :, free]
        computed = np.einsum("rcf,rmf->rmc", H, right)
        total, count = np.zeros((len(q), len(used), right.shape[1])), np.zeros((len(q), len(used)))
        for unit in sorted({self.components[i].moved.unit for i in own}):
            for j, place in enumerate(used):
                parts = [k for k, i in enumerate(own) if self._is(i, place, unit)]
                phi, h = self.measured[:, [own[k] for k in parts]], computed[:, :, parts]
                there = ~np.isnan(phi)
                phi, h = np.where(there, phi, 0.0), h * there[:, None]
                sizes = (phi**2).sum(axis=1)[:, None] * (np.abs(h) ** 2).sum(axis=2)
                along = np.abs(np.einsum("rc,rmc->rm", phi, h)) ** 2
                weight = np.where((counts := there.sum(axis=1)) > 1, counts, 0)  # one number has no shape
                total[:, j] += weight[:, None] * np.where(sizes > 0, along / np.where(sizes > 0, sizes, 1.0), 0.0)
                count[:, j] += weight
        return total / np.maximum(count, 1.0)[:, :, None], count > 0

    def _is(self, i: int, place: int, unit: str) -> bool:
        each = self.components[i]
        return each.place == place and each.moved.unit == unit

    def numbers(self, case: str) -> list[int]:
        """Places of the modes of a case that have a shape."""
        return sorted({self.components[i].place for i in self.of(case)})


def matched(places: Sequence[int], alike: Mapping[int, Array], there: npt.NDArray[np.bool_]) -> dict[int, int]:
    """By place of a measured mode that of the model's which it is: the best pairs together.

    ``alike`` (m,) is known of measured shapes, ``there`` (m,) says which modes the model has. Modes without a shape are
    those that are left nearest to their order.
    """
    from scipy.optimize import linear_sum_assignment  # here, since it takes a quarter of a second

    away = np.arange(len(there)) - np.array(places)[:, None]
    score = -AWAY * np.where(away > 0, HIGHER * away, -away)
    score[:, ~there] -= len(there)
    for i, place in enumerate(places):
        if place in alike:
            score[i] = FIRST * (score[i] + alike[place])
    _, chosen = linear_sum_assignment(score, maximize=True)
    return dict(zip(places, chosen.tolist(), strict=True))


def told_apart(case: str, row: int, found: Mapping[int, int], alike: Mapping[int, Array]) -> Iterator[str]:
    """Shapes that nothing is like, and modes that are not those of their order."""
    for place, values in alike.items():
        value, number = float(values[found[place]]), found[place] + 1
        if value < UNLIKE:
            yield f"row {row}: no mode is like shape_{case}[{place + 1}]: MAC {value:.2f} with mode {number}"
        elif number != place + 1:
            yield f"row {row}: by its shape mode {place + 1} ({case}) is number {number}, MAC {value:.2f}"


def components(robot: Robot, named: Named) -> dict[str, Component]:
    """Columns of a table that are parts of shapes, ``shape_locked[1].position.hand.y``.

    Raises UsageError for those that are almost so.
    """
    parts: dict[str, Component] = {}
    known: dict[str, Column] = {}
    for name in named.names:
        if not name.startswith("shape_"):
            continue
        if not known:
            known = of_statics(robot)
            for joint in robot.joints:
                word = robot.coordinates[joint.driven]
                known[word] = Column(word, "coordinate", word, 0, robot.units[joint.driven])
            known = {word: each for word, each in known.items() if each.kind in KINDS}
        told = _NAME.fullmatch(name)
        if told is None or told[1] not in CASES:
            raise UsageError(
                f"{named.table.name}: {quote(name)} is none of a mode's shape; it is called "
                "shape_locked[1].NAME or shape_free[1].NAME"
            )
        count = 2 * (len(robot.flexible) if told[1] == "locked" else robot.n)
        if not 1 <= int(told[2]) <= count:
            raise UsageError(f"{named.table.name}: {quote(name)}: modes are numbered from 1 to {count}")
        column = found(robot, told[3], known)
        if column is None:
            raise unknown(told[3], known, f"{named.table.name}: {quote(name)}: nothing that moves is called ")
        parts[name] = Component(told[1], int(told[2]) - 1, column)
    return parts
