"""Frequencies and damping ratios at measured postures, and their derivatives by left and right vectors.

Of a pole s with (s^2 M + s D + K) x = 0 and y^T (s^2 M + s D + K) = 0 the derivative is
ds = -y^T (s^2 dM + s dD + dK) x / (y^T (2 s M + D) x), a weighted sum of those of the entries of M, D and K.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

import casadi
import numpy as np
import numpy.typing as npt
from casadi import SX

from kronbot.cached import cached_property
from kronbot.compute.pullback import Pullback
from kronbot.compute.trace import Rows as Places
from kronbot.compute.trace import traced
from kronbot.description.wording import listing
from kronbot.floats import Array
from kronbot.mechanics.linear.linear_model import LinearModel
from kronbot.mechanics.linear.matrix_polynomial import eigen
from kronbot.mechanics.multibody.recursion import demand_inertia
from kronbot.model.robot import Robot
from kronbot.model.variation import Variation
from kronbot.questions.fitting.columns import Column
from kronbot.questions.fitting.data import Named
from kronbot.questions.fitting.points import AtPoints, placed
from kronbot.questions.fitting.shapes import CASES, Shapes, components, matched, told_apart
from kronbot.questions.fitting.sorting import Sorted, sort_out
from kronbot.records import dataclass

PURPOSE = "fit"
# Poles below this share of the largest are those of free coordinates, two each.
FREE = 1e-7


@dataclass
class ModalAnswers(AtPoints):
    """What ``modes`` says at every row, less what is measured, with derivatives.

    The points are q and qd; joints that spin in some row are locked in both cases. Modes are told apart by their
    ``shapes`` where these are measured, else by their order.
    """

    shapes: Shapes

    @staticmethod
    def read(variation: Variation, named: Named, only: Sequence[str]) -> tuple[ModalAnswers, Sorted]:
        """The rows of a table. Raises UsageError for columns that do not fit."""
        robot = variation.robot
        demand_inertia(robot)
        known = {column.name: column for column in of_modes(robot)}
        parts = components(robot, named)
        told = sort_out(named, _inputs(robot), known.get, known, only, marking=parts)
        points, _ = placed(robot, told, ("q", "qd"))
        joints = [joint.name for joint in robot.joints if robot.coordinates[joint.driven] not in told.inputs]
        if joints:
            told.notes.append(f"not in {named.table.name}, 0 in every row: {listing(joints)}")
        moved = np.array([*told.marks.values()]).reshape(len(parts), len(told.rows)).T
        shapes = Shapes(tuple(parts.values()), moved, told.rows)
        return ModalAnswers(variation, points, told.columns, told.measured, shapes), told

    linear = False
    accuracy: ClassVar[float] = 1e-8  # rounding of eigenvalues and their derivatives beside the stiffest mode

    def of(self, rows: Places) -> ModalAnswers:
        """The same of some of the rows."""
        return replace(super().of(rows), shapes=self.shapes[rows])

    def errors(self, values: Array) -> Array:
        """Computed less measured (N, columns): NaN where nothing is measured."""
        found = np.full(self.measured.shape, np.nan)
        for case in self._cases:
            modes = self._modes(values, case)
            places = self._places(values, case, modes)
            for i, column in enumerate(self.columns):
                if column.of == case:
                    s = modes.poles[range(len(found)), places[column.place]]
                    found[:, i] = np.abs(s) if column.kind == "frequency" else _damping(s)
        return np.asarray(found - self.measured)

    def jacobian(self, values: Array) -> Array:
        """Derivatives (measured numbers, k) of what is there of the errors, row by row."""
        n = self.variation.robot.n
        weights = np.zeros((*self.measured.shape, 3, n, n))
        for case in self._cases:
            modes = self._modes(values, case)
            places = self._places(values, case, modes)
            for i, column in enumerate(self.columns):
                if column.of == case:
                    weights[:, i] = modes.weights(places[column.place], column.kind, n)
        row, column_ = np.nonzero(~np.isnan(self.measured))
        points = {word: each[row] for word, each in self.points.items()}
        made = Pullback.of(self.variation, "modes", PURPOSE, lambda: (self._symbols, self._entries))
        # Symmetric or not, CasADi has entries column by column.
        by_column = weights[row, column_].swapaxes(2, 3).reshape(len(row), -1)
        return made.derivatives(self.variation.at(values), values, points, by_column)

    @property
    def _cases(self) -> list[str]:
        return [case for case in CASES if any(column.of == case for column in self.columns)]

    def doubts(self, values: Array) -> Iterator[str]:
        """Measured shapes that no mode has, and modes that are others by their shape than by their order."""
        for case in self._cases:
            modes = self._modes(values, case)
            for row, (found, alike) in self._matched(values, case, modes).items():
                yield from told_apart(case, int(self.shapes.rows[row]), found, alike)

    def _places(self, values: Array, case: str, modes: _Modes) -> dict[int, Places]:
        """By place of a measured mode which one it is in each row (N,)."""
        places = {place: np.full(len(self.measured), place) for place in self._used(case)}
        for row, (found, _) in self._matched(values, case, modes).items():
            for place, which in found.items():
                places[place][row] = which
        return places

    def _used(self, case: str) -> list[int]:
        """Places of modes of a case of which something is measured."""
        columns = {column.place for column in self.columns if column.of == case}
        return sorted(columns.union(self.shapes.numbers(case)))

    def _matched(self, values: Array, case: str, modes: _Modes) -> dict[int, tuple[dict[int, int], dict[int, Array]]]:
        """By row with measured shapes which modes these are, and how alike each of the model's is to each of them."""
        numbers = self.shapes.numbers(case)
        if not numbers:
            return {}
        robot, there = self.variation.at(values), np.isfinite(modes.poles)
        alike, known = self.shapes.alike(robot, self.points["q"], case, modes.free, modes.right)
        found = {}
        for row in np.flatnonzero(known.any(axis=1)).tolist():
            own = {place: alike[row, j] for j, place in enumerate(numbers) if known[row, j]}
            found[row] = matched(self._used(case), own, there[row]), own
        return found

    def _modes(self, values: Array, case: str) -> _Modes:
        robot = self.variation.at(values)
        trace = traced(robot, "modes", PURPOSE, lambda: (self._symbols, {"MDK": self._entries}))
        entries = trace.rows(*self.points.values())["MDK"].reshape(-1, 3, robot.n, robot.n).swapaxes(2, 3)
        spinning = {place for place in robot.rigid if self.points["qd"][:, place].any()}
        locked = frozenset(robot.rigid) if case == "locked" else frozenset(spinning)
        return _Modes.of(entries, [i for i in range(robot.n) if i not in locked])

    @cached_property
    def _symbols(self) -> dict[str, SX]:
        return {"q": self._model.q, "qd": self._model.qd}

    @cached_property
    def _model(self) -> LinearModel:
        return LinearModel.about_any_motion(self.variation.robot)

    @cached_property
    def _entries(self) -> SX:
        """M, D and K, column by column (3 n^2 x 1)."""
        return casadi.vertcat(*(casadi.vec(casadi.densify(each)) for each in self._model.in_steady_spin()))


@dataclass(frozen=True)
class _Modes:
    """Modes of rows: poles (N, m), right and left vectors (N, m, f), of the coordinates ``free``.

    A pair of poles is one mode, and so are a free coordinate and a pole that creeps, by ascending frequency.
    """

    free: list[int]
    entries: Array
    poles: npt.NDArray[np.complex128]
    right: npt.NDArray[np.complex128]
    left: npt.NDArray[np.complex128]

    @staticmethod
    def of(entries: Array, free: list[int]) -> _Modes:
        """Those of matrices M, D, K (N, 3, n, n)."""
        M, D, K = (entries[:, i][:, free][:, :, free] for i in range(3))
        count, f = len(M), len(free)
        A = np.zeros((count, 2 * f, 2 * f))
        A[:, :f, f:] = np.eye(f)
        A[:, f:] = -np.linalg.solve(M, np.concatenate([K, D], axis=2))
        s, V = eigen(A)
        W = np.linalg.inv(V) if f else V
        y = np.linalg.solve(M.swapaxes(1, 2), W[:, :, f:].swapaxes(1, 2)).swapaxes(1, 2)
        shape = (count, 2 * f)
        poles, right, left = (
            np.full(shape, np.inf, complex),
            np.zeros((*shape, f), complex),
            np.zeros((*shape, f), complex),
        )
        for row in range(count):
            chosen = _chosen(s[row])
            m = len(chosen)
            poles[row, :m], right[row, :m], left[row, :m] = s[row][chosen], V[row][:f, chosen].T, y[row][chosen]
        return _Modes(free, entries, poles, right, left)

    def weights(self, places: Places, kind: str, n: int) -> Array:
        """How a frequency or a damping ratio of one mode a row (N,) follows the entries of M, D, K: (N, 3, n, n)."""
        rows = np.arange(len(places))
        s, x, y = (each[rows, places] for each in (self.poles, self.right, self.left))
        M, D = (self.entries[:, i][:, self.free][:, :, self.free] for i in range(2))
        size = np.abs(s)
        along = np.conj(s) / size if kind == "frequency" else -1 / size + s.real * np.conj(s) / size**3
        scale = np.einsum("ri,rij,rj->r", y, 2 * s[:, None, None] * M + D, x)
        outer = (-along / scale)[:, None, None] * y[:, :, None] * x[:, None, :]
        found = np.zeros((len(s), 3, n, n))
        for i, power in enumerate((2, 1, 0)):
            found[np.ix_(range(len(s)), [i], self.free, self.free)] = (s**power * outer.T).T.real[:, None]
        return found


def _damping(s: npt.NDArray[np.complex128]) -> Array:
    """Damping ratios of poles: infinite where there is none, 0 of free coordinates."""
    size = np.abs(s)
    there = np.isfinite(size) & (size > 0)
    ratio = -s.real / np.where(there, size, 1.0)
    return np.asarray(np.where(np.isfinite(size), np.where(there, ratio, 0.0), np.inf))


def _chosen(s: npt.NDArray[np.complex128]) -> Places:
    """Places of one pole of every mode, by ascending frequency."""
    size = np.abs(s)
    rounded = np.array([float(f"{each:.10e}") for each in size])  # so that a pair that creeps has an order
    order = np.lexsort((s.real, rounded))
    zero = [i for i in order if size[i] <= FREE * size.max(initial=0.0)][::2]
    real = np.abs(s.imag) <= 1e-12 * size
    others = [i for i in order if size[i] > FREE * size.max(initial=0.0) and (s[i].imag > 0 or real[i])]
    return np.array([*zero, *others], dtype=int)


def of_modes(robot: Robot) -> list[Column]:
    """What rows of modes may hold: ``frequencies_locked[1]``, ``damping_free[2]`` and so on."""
    counts = {"locked": len(robot.flexible), "free": robot.n}
    words = {"frequencies": ("frequency", "rad/s"), "damping": ("damping", "1")}
    return [
        Column(f"{word}_{case}[{i + 1}]", kind, case, i, unit)
        for word, (kind, unit) in words.items()
        for case, count in counts.items()
        for i in range(2 * count)  # where pairs creep
    ]


def _inputs(robot: Robot) -> dict[str, str]:
    """What is given in a row, by the names that columns of it may have: joints and their rates."""
    known: dict[str, str] = {}
    rates = robot.derivative_names(["qd"])["qd"]
    for joint in robot.joints:
        name = robot.coordinates[joint.driven]
        known |= {name: name, joint.name: name, f"angle.{joint.name}": name, rates[joint.driven]: rates[joint.driven]}
    return known
