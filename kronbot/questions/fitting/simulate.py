"""Motions at measured rows: what ``simulate`` answers with along records, and its derivatives by parameters.

With x' = f(t, x, p) and S = dx/dp what is measured, h(t, x, p), has the derivative h_x S + h_p. S follows its own
equation by the same steps as x (:mod:`kronbot.mechanics.motion.sensitivity`). These steps keep to the tolerances where
the search begins; they are chosen anew where they no longer do, and by the method for stiff equations where the other
one's do not hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace

import casadi
import numpy as np
from casadi import SX

from kronbot.compute.pullback import Pullback
from kronbot.compute.trace import Rows as Places
from kronbot.compute.trace import Trace, traced
from kronbot.description.expressions.expression import Expression
from kronbot.description.wording import listing
from kronbot.errors import Argument, UsageError
from kronbot.floats import Array
from kronbot.mechanics.motion.followers import Followers
from kronbot.mechanics.motion.integration import Tolerances
from kronbot.mechanics.motion.sensitivity import MOST, Grid, Stretches
from kronbot.mechanics.multibody.recursion import demand_inertia
from kronbot.mechanics.static.tangent import Flags
from kronbot.model.robot import Robot
from kronbot.model.variation import Variation
from kronbot.questions.fitting.beginning import Beginning, begun
from kronbot.questions.fitting.data import Named
from kronbot.questions.fitting.driven import DrivenModel
from kronbot.questions.fitting.measured import Measured
from kronbot.questions.fitting.records import Record, read, refused
from kronbot.questions.fitting.shifts import Shifts
from kronbot.questions.fitting.sorting import Sorted
from kronbot.records import dataclass

PURPOSE = "fit"
BEYOND = "; a stop or a tendon begins or ends to act there or before, or the base is near its gimbal lock"
# Errors of a step, over the tolerances, beyond which steps are chosen anew.
STALE = 10.0
# Times as many steps as at first, or so many where L-stable ones, which are fewer, were the first: parameters that want
# more lead to motions that nobody has measured.
MORE, PLENTY = 8, 20_000
# Times that a search goes through the records: what native code is to pay for.
EXPECTED = 20
TOLERANCES = Tolerances(1e-8, 1e-10)
ERRORS = 10.0  # times the tolerances of steps: what changes motions by less is not told by them
# Parameters whose derivatives cost little beside motions: each costs as much as two of these.
FEW = 4


@dataclass(frozen=True)
class _Seen:
    """Instants that sensors of one delay tell of: times (rows,), inputs (rows, size), [x, S] (rows, size, 1 + k).

    Rows ``held`` tell of a time before their record, where the robot is taken to have stood as it begins.
    """

    times: Array
    inputs: Array
    states: Array
    held: Flags


@dataclass
class _Run:
    """What records lead to with some values of the parameters, by delay, and at which rows they are lost.

    It may have derivatives before they are ``wanted``.
    """

    values: Array
    robot: Robot
    derivatives: bool
    seen: tuple[_Seen, ...]
    lost: Flags
    wanted: bool


@dataclass
class _Shared:
    """What answers at some of the rows and at all of them have in common: when the last of the records ends, steps by
    record, and who takes them.
    """

    end: float
    followers: Followers
    grids: dict[str, Grid] = field(default_factory=dict)
    corners: Sequence[float] | None = None
    sample_time: float | None = None
    most: dict[str, int] = field(default_factory=dict)
    ahead: bool = False


@dataclass
class SimulatedAnswers:
    """What ``simulate`` says at rows of records for any values of the parameters, less what is measured.

    ``chosen`` are the rows that are compared, ``delays`` say how late columns are. Values are those of the variation's
    parameters and then those that the ``beginning`` of the records adds.
    """

    variation: Variation
    model: DrivenModel
    records: tuple[Record, ...]
    beginning: Beginning
    chosen: Places
    data: Measured
    delays: Shifts
    _shared: _Shared
    _known: _Run | None = None

    linear, accuracy = False, ERRORS * TOLERANCES.rtol
    reason = ""

    @property
    def beside(self) -> Mapping[str, float]:
        """Joints and rates that records begin with, where these are to be found."""
        return dict(zip(self.beginning.names, self.beginning.first().tolist(), strict=True))

    @staticmethod
    def read(
        variation: Variation,
        named: Named,
        only: Sequence[str],
        initial: str = "rows",
        delay: Mapping[str, Expression] | None = None,
        offset: Mapping[str, Expression] | None = None,
    ) -> tuple[SimulatedAnswers, Sorted]:
        """The rows of a table. Raises UsageError for columns that do not fit."""
        robot = variation.robot
        demand_inertia(robot)
        records, driven, told, begins = read(robot, named, only)
        delays = Shifts.read(variation, delay or {}, told, "delay")
        zeros = Shifts.read(variation, offset or {}, replace(told, columns=begins), "offset")
        model, beginning = begun(variation, driven, told.columns, records, initial, zeros)
        rows, data = np.arange(len(told.rows)), Measured(told.columns, told.measured)
        shared = _Shared(max(r.times[-1] for r in records), Followers(model.flow, TOLERANCES))
        return SimulatedAnswers(variation, model, records, beginning, rows, data, delays, shared), told

    def of(self, rows: Places) -> SimulatedAnswers:
        """The same of some of the rows, and of the records that these are of."""
        chosen, data = self.chosen[rows], replace(self.data, measured=self.data.measured[rows])
        records = tuple(each for each in self.records if ((each.first <= chosen) & (chosen < each.last)).any())
        beginning = replace(self.beginning, records=records)
        return replace(self, records=records, beginning=beginning, chosen=chosen, data=data, _known=None)

    def measuring(self, measured: Array) -> SimulatedAnswers:
        """The same with other measurements (N, columns)."""
        return replace(self, data=replace(self.data, measured=measured))

    def computed(self, values: Array) -> Array:
        """What is computed (N, columns), NaN where nothing is measured."""
        return self.data.computed(self.errors(values))

    def postures(self, values: Array) -> Array:
        """Coordinates (N, n) at the rows, of records that are lost those they begin with."""
        run = self._at(values, False)
        return self._trace(run.robot, "postures").rows(*self._points(run.seen[0]))["q"].reshape(len(self.chosen), -1)

    def disturbed(self, measured: Array, noise: Array) -> Array:
        """Measurements (N, columns) with noise on them; rotations are turned by it."""
        return self.data.disturbed(measured, noise)

    def rest(self) -> None:
        """Forget motions and steps."""
        self._known = None
        self._shared.grids.clear()

    def doubts(self, values: Array) -> Iterator[str]:
        """What should be looked at where a search has ended."""
        return self.beginning.doubts(self.data, self.errors(values), self.accuracy)

    def errors(self, values: Array) -> Array:
        """Computed less measured (N, columns): NaN where nothing is measured, infinite where a motion is lost."""
        run = self._at(values, False)
        h, lost, self.reason = np.empty(self.data.measured.shape), run.lost[self.chosen], ""
        for columns, seen in self._by_delay(run):
            found = self._trace(run.robot, "seen").rows(*self._points(seen))
            h[:, columns] = found["h"].reshape(h.shape)[:, columns]
            watched = found["watched"].reshape(len(h), -1) > 0
            beyond = refused(self.records, self.chosen, watched, self.model.contacts) & ~run.lost[self.chosen]
            lost, self.reason = lost | beyond, BEYOND + self.model.elsewhere if beyond.any() else self.reason
        h -= self.data.zeros
        h[lost] = np.inf
        return np.asarray(np.where(self.data.present, h, np.nan))

    def jacobian(self, values: Array) -> Array:
        """Derivatives (measured numbers, k) of what is there of the errors, row by row."""
        run, count = self._at(values, True), len(self.variation.names)
        row, column = np.nonzero(self.data.present)
        J = np.zeros((len(row), run.seen[0].states.shape[2] - 1))
        made = Pullback.of(self.variation, self._key, PURPOSE, lambda: (self.model.instant, self.model.measured))
        late = self.delays.slopes(run.robot, values[:count]) if self.delays.expressions else np.zeros((0, count))
        for columns, seen in self._by_delay(run):
            own = np.flatnonzero(np.isin(column, columns))
            points = self._points(seen)
            slopes = self._trace(run.robot, "slopes").rows(*points)
            h_x, h_t = slopes["h_x"][row[own], column[own]], slopes["h_t"].reshape(self.data.measured.shape)
            J[own] = np.einsum("nx,nxk->nk", h_x, seen.states[self.chosen][row[own], :, 1:])
            at = dict(zip(self.model.instant, (each[row[own]] for each in points), strict=True))
            weights = np.eye(len(self.data.columns))[column[own]]
            J[own, :count] += made.derivatives(run.robot, values[:count], at, weights)
            place = self.delays.of[columns[0]]
            if place >= 0:  # it tells of another time
                by_t = h_t[row[own], column[own]] + np.einsum("nx,nx->n", h_x, slopes["rate"][row[own]])
                moving = ~seen.held[self.chosen][row[own]]
                J[own, :count] -= np.outer(by_t * moving, late[place])
        width = self.beginning.width
        whole = np.zeros((len(J), len(values)))
        whole[:, :count] = J[:, :count]
        for i, record in enumerate(self.records if width else ()):
            mine = (record.first <= self.chosen[row]) & (self.chosen[row] < record.last)
            whole[mine, count + i * width : count + (i + 1) * width] = J[mine, count:]
        return whole

    def _by_delay(self, run: _Run) -> Iterator[tuple[Places, _Seen]]:
        """Columns of each delay, and what they tell of."""
        for place, seen in enumerate(run.seen, -1):
            columns = np.flatnonzero(self.delays.of == place)
            if len(columns):
                yield columns, seen

    @property
    def _key(self) -> tuple[object, ...]:
        return "motions", self.model.driven, self.model.touching, tuple(column.name for column in self.model.columns)

    def _trace(self, robot: Robot, word: str) -> Trace:
        model = self.model

        def outputs() -> dict[str, SX]:
            h = model.measured
            if word == "postures":
                return {"q": model.q}
            if word == "slopes":
                by = {"h_x": casadi.jacobian(h, model.x), "h_t": casadi.jacobian(h, model.system.t)}
                return by | {"rate": model.flow.rate}
            return {"h": h, "watched": model.watched}

        return traced(robot, (word, *self._key), PURPOSE, lambda: (model.instant, outputs()))

    def _points(self, seen: _Seen) -> list[Array]:
        rows = self.chosen
        return [seen.times[rows], seen.states[rows, :, 0], seen.inputs[rows], self.data.attitudes]

    def _at(self, values: Array, derivatives: bool) -> _Run:
        """The states at the rows, with derivatives where they are wanted."""
        known, shared = self._known, self._shared
        same = known is not None and np.array_equal(known.values, values)
        if known is not None and same and known.derivatives >= derivatives:
            known.wanted |= derivatives
            return known
        # Values that turn out well want derivatives: few cost less beside the motion.
        shared.ahead = len(values) < FEW and (known is None or same or (known.wanted and shared.ahead))
        wanted, derivatives = derivatives, derivatives or shared.ahead
        count = len(self.variation.names)
        robot, flow = self.variation.at(values[:count]), self.model.flow
        self._corners(values[:count])
        moved = flow.moved, slice(None)
        own = self.variation.slopes(values[:count], flow.extent)[moved][flow.slopes.get_triplet()]
        numbers = robot.parameters.bound(flow.extent)
        first = self.beginning.states(robot, values)
        first = first if derivatives else first[:, :, :1]
        total, late = self.records[-1].last, [0.0]
        if self.delays.expressions:
            late += self.delays.values(robot).tolist()
        seen = tuple(
            _Seen(np.zeros(total), np.zeros((total, self.model.inputs.numel())), np.zeros((total, *first.shape[1:])),
                  np.zeros(total, dtype=bool))
            for _ in late
        )  # fmt: skip
        run = _Run(values.copy(), robot, derivatives, seen, np.zeros(total, dtype=bool), wanted)
        for record, start in zip(self.records, first, strict=True):
            self._follow(record, start, numbers, own, late, run)
        self._known = run
        return run

    def _follow(
        self, record: Record, start: Array, numbers: Array, slopes: Array, late: list[float], run: _Run
    ) -> None:
        """Put what is seen at the rows of a record in place, and say where there is nothing."""
        stretches, ends = record.stretches(self._shared.corners or (), self._shared.sample_time)
        derivatives, shape = start.shape[1] > 1, start.shape[::-1]
        follower = self._shared.followers.begun(derivatives, False, numbers, slopes)
        if self._shared.sample_time is not None:
            start = follower.begun(stretches, start.ravel(order="F")).reshape(shape).T
        rows, count = slice(record.first, record.last), len(record.times)
        times = np.concatenate([np.zeros(0), *(record.times - delay for delay in late[1:])])
        for seen, delay in zip(run.seen, late, strict=True):
            told = seen.times[rows] = np.maximum(record.times - delay, record.times[0])
            last = np.searchsorted(record.times, told, side="right") - 1
            seen.inputs[rows] = record.inputs[np.minimum(last, len(record.inputs) - 1)]
            seen.held[rows] = record.times - delay < record.times[0]
            seen.states[rows] = start
        for grid in self._grids(record, stretches, start[:, 0], numbers, slopes):
            self._shared.grids[record.label] = grid
            follower = self._shared.followers.begun(derivatives, grid.stiff, numbers, slopes)
            follower.expect(EXPECTED * self._steps)
            found, between, largest = follower.follow(stretches, grid, start.ravel(order="F"), times)
            if largest <= STALE:
                break
        else:
            run.lost[rows] = True
            return
        run.seen[0].states[record.first + 1 : record.last] = found[ends].reshape(len(ends), *shape).swapaxes(1, 2)
        for seen, part in zip(run.seen[1:], between.reshape(len(late) - 1, count, *shape), strict=True):
            seen.states[rows] = part.swapaxes(1, 2)
        lost = [~np.isfinite(seen.states[rows]).all(axis=(1, 2)) for seen in run.seen]
        run.lost[rows] = np.any(lost, axis=0)
        for seen in run.seen:
            seen.states[rows][run.lost[rows]] = start

    def _grids(self, record: Record, stretches: Stretches, x: Array, *numbers: Array) -> Iterator[Grid]:
        """Steps for a record that begins with x (nx,): those that are known, and where these do not hold new ones."""
        shared, label = self._shared, record.label
        if label in shared.grids:
            yield shared.grids[label]
        for grid in shared.followers.grids(stretches, x, shared.most.get(label, MOST), *numbers):
            shared.most.setdefault(label, max(MORE * len(grid.lengths), PLENTY * grid.stiff))
            yield grid

    @property
    def _steps(self) -> int:
        """How many there are in the records, one a row at least."""
        grids = self._shared.grids
        return sum(len(grids[each.label].lengths if each.label in grids else each.times) for each in self.records)

    def _instants(self, robot: Robot) -> tuple[list[float], float | None]:
        """Times (s) at which the equations jump, and how long sampled controllers hold what they do."""
        system, parameters = self.model.system, robot.parameters
        T, corners = system.drives.sample_time, sorted(system.corners(parameters, self._shared.end, PURPOSE))
        return corners, None if T is None else parameters.evaluate(T, "control.sample_time")

    def _corners(self, values: Array) -> Sequence[float]:
        """Times (s) at which the equations jump. Raises UsageError where these move with the parameters."""
        if self._shared.corners is None:
            moved = values * (1 + 1e-6 * np.arange(1, len(values) + 1)) + 1e-9
            found, beside = (self._instants(self.variation.at(each)) for each in (values, moved))
            if found != beside:
                raise UsageError(
                    "times at which a motion or a force begins or turns, or controllers look, depend on one of "
                    f"{listing(self.variation.names)}; leave it out with ", Argument("fix"),
                )  # fmt: skip
            self._shared.corners, self._shared.sample_time = found
        return self._shared.corners
