"""Motions at measured rows: what ``simulate`` answers with along records, and its derivatives by parameters.

With x' = f(t, x, p) and S = dx/dp what is measured, h(t, x, p), has the derivative h_x S + h_p. S follows its own
equation by the same steps as x (:mod:`kronbot.mechanics.motion.sensitivity`). These steps keep to the tolerances where
the search begins; they are chosen anew where they no longer do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import casadi
import numpy as np
from casadi import SX

from kronbot.compute.pullback import Pullback
from kronbot.compute.trace import Rows as Places
from kronbot.compute.trace import Trace, traced
from kronbot.description.wording import listing
from kronbot.errors import Argument, ComputationError, UsageError
from kronbot.floats import Array
from kronbot.mechanics.motion.integration import Tolerances
from kronbot.mechanics.motion.sensitivity import Follower, Grid
from kronbot.mechanics.multibody.recursion import demand_inertia
from kronbot.mechanics.static.tangent import Flags
from kronbot.model.robot import Robot
from kronbot.model.variation import Variation
from kronbot.questions.fitting.beginning import Beginning
from kronbot.questions.fitting.data import Named
from kronbot.questions.fitting.driven import DrivenModel
from kronbot.questions.fitting.measured import Measured
from kronbot.questions.fitting.records import Record, read
from kronbot.questions.fitting.sorting import Sorted

PURPOSE = "fit"
# Errors of a step, over the tolerances, beyond which steps are chosen anew.
STALE = 10.0
# Times that a search goes through the records: what native code is to pay for.
EXPECTED = 20
TOLERANCES = Tolerances(1e-8, 1e-10)


@dataclass
class _Run:
    """[x, S] (rows, size, 1 + k) at the rows of records with some values of the parameters, and where they are lost."""

    values: Array
    robot: Robot
    derivatives: bool
    states: Array
    lost: Flags


@dataclass
class _Shared:
    """What answers at some of the rows and at all of them have in common: steps by record, and who takes them."""

    grids: dict[str, Grid] = field(default_factory=dict)
    followers: dict[bool, Follower] = field(default_factory=dict)
    corners: Sequence[float] | None = None


@dataclass
class SimulatedAnswers:
    """What ``simulate`` says at rows of records for any values of the parameters, less what is measured.

    ``chosen`` are the rows that are compared. Values are those of the variation's parameters and then those that the
    ``beginning`` of the records adds.
    """

    variation: Variation
    model: DrivenModel
    records: tuple[Record, ...]
    beginning: Beginning
    chosen: Places
    data: Measured
    _shared: _Shared = field(default_factory=lambda: _Shared())
    _known: _Run | None = None

    linear = False
    reason = ""

    @property
    def beside(self) -> Mapping[str, float]:
        """Joints and rates that records begin with, where these are to be found."""
        return dict(zip(self.beginning.names, self.beginning.first().tolist(), strict=True))

    @staticmethod
    def read(variation: Variation, named: Named, only: Sequence[str], initial: str) -> tuple[SimulatedAnswers, Sorted]:
        """The rows of a table. Raises UsageError for columns that do not fit."""
        robot = variation.robot
        demand_inertia(robot)
        records, driven, told = read(robot, named, only)

        def traced_model() -> DrivenModel:
            made = DrivenModel(variation, driven, told.columns, initial == "fitted")
            assert made.flow
            return made

        key = "motions", robot.order, variation.names, driven, told.columns, initial == "fitted"
        model = robot.parameters.kept(key, traced_model)
        beginning = Beginning(variation, model.system, model.inputs, driven, records, initial)
        rows = np.arange(len(told.rows))
        data = Measured(told.columns, told.measured)
        return SimulatedAnswers(variation, model, records, beginning, rows, data), told

    def of(self, rows: Places) -> SimulatedAnswers:
        """The same of some of the rows."""
        data = replace(self.data, measured=self.data.measured[rows])
        return replace(self, chosen=self.chosen[rows], data=data, _known=None)

    def measuring(self, measured: Array) -> SimulatedAnswers:
        """The same with other measurements (N, columns)."""
        return replace(self, data=replace(self.data, measured=measured))

    def computed(self, values: Array) -> Array:
        """What is computed (N, columns), NaN where nothing is measured."""
        return self.data.computed(self.errors(values))

    def disturbed(self, measured: Array, noise: Array) -> Array:
        """Measurements (N, columns) with noise on them; rotations are turned by it."""
        return self.data.disturbed(measured, noise)

    def errors(self, values: Array) -> Array:
        """Computed less measured (N, columns): NaN where nothing is measured, infinite where a motion is lost."""
        run = self._at(values, False)
        seen = self._trace(run.robot, "seen").rows(*self._points(run))
        h = seen["h"].reshape(self.data.measured.shape) - self.data.zeros
        beyond = (seen["watched"].reshape(len(h), -1) > 0).any(axis=1) & ~run.lost[self.chosen]
        h[run.lost[self.chosen] | beyond] = np.inf
        self.reason = "; a joint is in its stop there, or the base near its gimbal lock" if beyond.any() else ""
        return np.asarray(np.where(self.data.present, h, np.nan))

    def jacobian(self, values: Array) -> Array:
        """Derivatives (measured numbers, k) of what is there of the errors, row by row."""
        run = self._at(values, True)
        row, column = np.nonzero(self.data.present)
        slopes = self._trace(run.robot, "slopes").rows(*self._points(run))["h_x"]
        J = np.einsum("rmx,rxk->rmk", slopes, run.states[self.chosen][:, :, 1:])[row, column]
        count = len(self.variation.names)
        points = dict(zip(self.model.instant, (each[row] for each in self._points(run)), strict=True))
        made = Pullback.of(self.variation, self._key, PURPOSE, lambda: (self.model.instant, self.model.measured))
        J[:, :count] += made.derivatives(run.robot, values[:count], points, np.eye(len(self.data.columns))[column])
        width = self.beginning.width
        whole = np.zeros((len(J), len(values)))
        whole[:, :count] = J[:, :count]
        for i, record in enumerate(self.records if width else ()):
            own = (record.first <= self.chosen[row]) & (self.chosen[row] < record.last)
            whole[own, count + i * width : count + (i + 1) * width] = J[own, count:]
        return whole

    @property
    def _key(self) -> tuple[object, ...]:
        return "motions", self.model.driven, tuple(column.name for column in self.model.columns)

    def _trace(self, robot: Robot, word: str) -> Trace:
        model = self.model

        def outputs() -> dict[str, SX]:
            if word == "slopes":
                return {"h_x": casadi.jacobian(model.measured, model.x)}
            return {"h": model.measured, "watched": model.watched}

        return traced(robot, (word, *self._key), PURPOSE, lambda: (model.instant, outputs()))

    def _points(self, run: _Run) -> list[Array]:
        t = np.concatenate([each.times for each in self.records])
        inputs = np.concatenate([np.concatenate([each.inputs, each.inputs[-1:]]) for each in self.records])
        return [t[self.chosen], run.states[self.chosen, :, 0], inputs[self.chosen], self.data.attitudes]

    def _at(self, values: Array, derivatives: bool) -> _Run:
        """The states at the rows, with derivatives where they are wanted."""
        known = self._known
        if known is not None and np.array_equal(known.values, values) and known.derivatives >= derivatives:
            return known
        count = len(self.variation.names)
        robot, flow = self.variation.at(values[:count]), self.model.flow
        self._corners(values[:count])
        moved = flow.moved, slice(None)
        own = self.variation.slopes(values[:count], flow.extent)[moved][flow.slopes.get_triplet()]
        numbers = robot.parameters.bound(flow.extent)
        first = self.beginning.states(robot, values)
        first = first if derivatives else first[:, :, :1]
        total = self.records[-1].last
        states = np.full((total, *first.shape[1:]), np.nan)
        lost = np.zeros(total, dtype=bool)
        for record, start in zip(self.records, first, strict=True):
            if not np.isin(self.chosen, np.arange(record.first, record.last)).any():
                continue
            self._follow(record, start, numbers, own, states, lost)
        self._known = _Run(values.copy(), robot, derivatives, states, lost)
        return self._known

    def _follow(self, record: Record, start: Array, numbers: Array, slopes: Array, states: Array, lost: Flags) -> None:
        """Put the states at the rows of a record in place, and say of which rows there is none."""
        stretches, ends = record.stretches(self._shared.corners or ())
        follower = self._follower(start.shape[1] > 1)
        follower.begin(numbers, slopes)
        rows = slice(record.first, record.last)
        for again in (False, True):
            if again or record.label not in self._shared.grids:
                plain = self._follower(False)
                plain.begin(numbers, slopes)
                try:
                    self._shared.grids[record.label] = plain.grid(stretches, start[:, 0])
                except ComputationError:
                    lost[rows], states[rows] = True, start
                    return
            found, largest = follower.follow(stretches, self._shared.grids[record.label], start.ravel(order="F"))
            states[record.first] = start
            states[rows][1:] = found[ends].reshape(-1, *start.shape[::-1]).swapaxes(1, 2)
            if largest <= STALE:
                break
        lost[rows] = ~np.isfinite(states[rows]).all(axis=(1, 2))
        states[rows][lost[rows]] = start

    def _follower(self, derivatives: bool) -> Follower:
        shared, flow = self._shared, self.model.flow
        if derivatives not in shared.followers:
            steps = EXPECTED * sum(len(each.times) for each in self.records)
            shared.followers[derivatives] = Follower(flow, TOLERANCES, derivatives, steps)
        return shared.followers[derivatives]

    def _corners(self, values: Array) -> Sequence[float]:
        """Times (s) at which the equations jump. Raises UsageError where these move with the parameters."""
        if self._shared.corners is None:
            end = max(float(each.times[-1]) for each in self.records)
            moved = values * (1 + 1e-6 * np.arange(1, len(values) + 1)) + 1e-9
            found, beside = (
                sorted(self.model.system.corners(self.variation.at(each).parameters, end, PURPOSE))
                for each in (values, moved)
            )
            if found != beside:
                raise UsageError(
                    "times at which a motion or a force begins or turns depend on one of "
                    f"{listing(self.variation.names)}; leave it out with ", Argument("fix"),
                )  # fmt: skip
            self._shared.corners = found
        return self._shared.corners
