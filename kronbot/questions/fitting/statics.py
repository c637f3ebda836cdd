"""Equilibria at measured rows: gauges, torques, deflections and poses of frames, and their derivatives.

At an equilibrium F(q, p) = 0 what is measured, h(q, p), follows the parameters by the implicit function theorem,
dh/dp = h_p - h_q K^-1 F_p with K = dF/dq. Taken backwards, with w = (1, -K^-T h_q^T) for every measured number, it is
the gradient of w . (h, F): as many sweeps as there are measured numbers in a row, however many parameters there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

import casadi
import numpy as np
from casadi import SX

from kronbot.cached import cached_property
from kronbot.compute.pullback import Pullback
from kronbot.compute.trace import Rows as Places
from kronbot.compute.trace import Trace, traced
from kronbot.description import schema
from kronbot.floats import Array
from kronbot.mechanics.estimation.knowledge import RANK
from kronbot.mechanics.static.equilibria import Cases, Equilibria, Given, whole
from kronbot.mechanics.static.equilibrium import CLOSE, CONTRACTION, REACH
from kronbot.mechanics.static.static_model import StaticModel
from kronbot.mechanics.static.tangent import Flags, Index, crossed
from kronbot.model.floating import hung
from kronbot.model.robot import Robot
from kronbot.model.variation import Variation
from kronbot.questions.fitting.attitude import attitude
from kronbot.questions.fitting.columns import Column, pose_of
from kronbot.questions.fitting.data import Named
from kronbot.questions.fitting.sorting import Sorted
from kronbot.questions.fitting.static_rows import Rows, read
from kronbot.questions.static_report import demand_supports
from kronbot.records import dataclass

PURPOSE = "fit"
# Steps of Newton's method with stiffnesses that are known.
CORRECTIONS = 20
# How many times as large as where they end corrections by one's own stiffness may be.
AGREED = 1e3


@dataclass
class _Found:
    """Equilibria q (N, n) of cases at some values of the parameters, and which rows have none."""

    values: Array
    robot: Robot
    equilibria: Equilibria
    cases: Cases
    q: Array
    lost: Flags

    @cached_property
    def _stiffnesses(self) -> tuple[Array, Array]:
        cases = self.cases
        _, K, S = self.equilibria.stiffness(self.q, cases.loads, whole(np.ones(len(self.q))), cases.free)
        return K, S

    @property
    def stiffness(self) -> Array:
        """Derivatives (N, m, m) of what is zero there."""
        return self._stiffnesses[0]

    @cached_property
    def index(self) -> Index:
        """What changes where they are singular."""
        return self.equilibria.index(self._stiffnesses[1], self.cases.free)

    @cached_property
    def inverse(self) -> Array:
        """Their inverses (N, m, m), NaN where there is none."""
        try:
            return np.asarray(np.linalg.inv(self.stiffness))
        except np.linalg.LinAlgError:  # some row's
            return np.full_like(self.stiffness, np.nan)

    def forget(self) -> None:
        """What is known of equilibria that have changed."""
        for word in ("_stiffnesses", "index", "inverse"):
            vars(self).pop(word, None)


@dataclass
class StaticAnswers:
    """What ``statics`` says at every row for any values of the parameters, less what is measured, with derivatives."""

    variation: Variation
    rows: Rows
    _found: _Found | None = None

    @staticmethod
    def read(variation: Variation, named: Named, only: Sequence[str]) -> tuple[StaticAnswers, Sorted]:
        """The rows of a table. Raises UsageError for columns that do not fit."""
        rows, told = read(variation.robot, named, only)
        return StaticAnswers(variation, rows), told

    def of(self, rows: Places) -> StaticAnswers:
        """The same of some of the rows."""
        return StaticAnswers(self.variation, self.rows[rows])

    def measuring(self, measured: Array) -> StaticAnswers:
        """The same with other measurements (N, columns), from the equilibria that are known."""
        return StaticAnswers(self.variation, replace(self.rows, measured=measured), self._found)

    def computed(self, values: Array) -> Array:
        """What is computed (N, columns), NaN where nothing is measured."""
        return self.rows.computed(self.errors(values))

    def postures(self, values: Array) -> Array:
        """Coordinates (N, n) of the equilibria, straight where a row has none."""
        return self._at(values).q

    def disturbed(self, measured: Array, noise: Array) -> Array:
        """Measurements (N, columns) with noise on them; rotations are turned by it."""
        return self.rows.disturbed(measured, noise)

    @cached_property
    def _model(self) -> StaticModel:
        return StaticModel(self.variation.robot, self._statics, self.rows.frames)

    @cached_property
    def _free(self) -> list[int]:
        """Coordinates that yield, those of a base that elements hold among them."""
        robot = self.variation.robot
        return sorted([*robot.flexible, *hung(robot)])

    @property
    def _statics(self) -> schema.Statics:
        return self.variation.robot.file.statics

    linear, accuracy = False, RANK
    beside: ClassVar[Mapping[str, float]] = {}
    reason = ""

    def rest(self) -> None:
        """Forget stiffnesses; equilibria stay."""
        if self._found is not None:
            self._found.forget()

    def doubts(self, values: Array) -> Iterator[str]:
        """What should be looked at where a search has ended."""
        yield from ()

    def errors(self, values: Array) -> Array:
        """Computed less measured (N, columns): NaN where nothing is measured, infinite where there is no equilibrium.

        Of a rotation the vector that turns the measured frame into the computed one, in base axes.
        """
        found, rows = self._at(values), self.rows
        h = self._trace(found.robot).rows(found.q, rows.loads, self._whole, rows.attitudes)["h"]
        h = h.reshape(len(rows), -1) - rows.zeros
        found.lost |= (rows.present & ~np.isfinite(h)).any(axis=1)
        h[found.lost] = np.where(rows.present[found.lost], np.inf, np.nan)
        return h

    def jacobian(self, values: Array) -> Array:
        """Derivatives (measured numbers, k) of what is there of the errors, row by row."""
        found, rows, robot = self._at(values), self.rows, self.variation.robot
        free, n, m = self._free, robot.n, len(rows.columns)
        slopes = self._slopes(found.robot).rows(found.q, rows.loads, self._whole, rows.attitudes)["h_q"]
        slopes = slopes.reshape(len(rows), m, -1)
        weights = np.zeros((len(rows), m, m + n))
        weights[:, range(m), range(m)] = 1.0
        if free:
            adjoint = np.linalg.solve(found.stiffness.swapaxes(1, 2), slopes.swapaxes(1, 2)).swapaxes(1, 2)
            weights[:, :, [m + place for place in free]] = -adjoint
        row, column = np.nonzero(rows.present)
        shares = whole(np.ones(len(row)))
        points = {"q": found.q[row], "given": rows.loads[row], "shares": shares, "attitudes": rows.attitudes[row]}
        J = self._pullback.derivatives(found.robot, values, points, weights[row, column])
        # Where numbers were too large there is no equilibrium to go on from, either.
        found.lost[row[~np.isfinite(J).all(axis=1)]] = True
        return J

    @property
    def _whole(self) -> Array:
        return whole(np.ones(len(self.rows)))

    def _at(self, values: Array) -> _Found:
        """The equilibria: on from those of the values before where Newton's method contracts at once."""
        known = self._found
        if known is not None and np.array_equal(known.values, values):
            return known
        rows, robot = self.rows, self.variation.at(values)
        given = Given([(frame, [0.0] * 6) for frame in rows.frames])  # the numbers are those of the rows
        equilibria = Equilibria(robot, self._statics, given)
        straight = np.zeros((len(rows), robot.n))
        straight[:, list(robot.rigid)] = rows.angles
        straight = robot.undeformed(straight)
        free, never = self._free, np.zeros(len(rows), dtype=bool)
        cases = Cases(rows.loads, straight, straight, np.zeros((len(rows), len(free))), free, never)
        found = _Found(values.copy(), robot, equilibria, cases, straight.copy(), never.copy())
        if free:
            # The first ones are Newton's to the last digit: they tell what is zero from what is rounding.
            left = np.arange(len(rows)) if known is None else np.flatnonzero(~self._followed(known, found))
            if len(left):
                ends = equilibria.newton(cases[left])
                found.q[left], found.lost[left] = ends.q, ends.lost
                found.forget()
        if robot.base and not hung(robot):
            demand_supports(robot, self._borne(robot).rows(found.q, rows.loads, self._whole)["forces"])
        self._found = found
        return found

    def _followed(self, known: _Found, found: _Found) -> Flags:
        """Put equilibria near those known in place, and say where this went well: no singular stiffness between.

        Newton's method with the known stiffnesses needs new forces only; it counts where it contracts all the way.
        """
        free, rows = found.cases.free, self.rows
        paths, forces = found.equilibria.paths(found.cases.loads, free), self._forces(found.robot)
        going, before = np.flatnonzero(~known.lost), np.full(len(rows), np.inf)
        found.q[going] = known.q[going]
        done = np.zeros(len(rows), dtype=bool)

        def corrected(inverse: Array, going: Places) -> tuple[Array, Array]:
            F = forces.rows(found.q[going], rows.loads[going], self._whole[going])["F"].reshape(len(going), -1)
            corrections = -(inverse[going] @ F[:, :, None])[:, :, 0]
            return corrections, paths.size(going, corrections)

        for _ in range(CORRECTIONS):
            if not len(going):
                break
            corrections, sizes = corrected(known.inverse, going)
            found.q[going[:, None], free] += corrections
            done[going] = sizes <= CLOSE
            on = (sizes > CLOSE) & (sizes <= np.minimum(CONTRACTION * before[going], REACH))
            before[going] = sizes
            going = going[on]
        done &= ~crossed(known.index, found.index)
        # Stiffnesses that are very much larger than those here make little of any forces.
        if done.any():
            done[done] = corrected(found.inverse, np.flatnonzero(done))[1] <= AGREED * CLOSE
        left = np.flatnonzero(~known.lost & ~done)
        if len(left):
            index = known.index[left] + found.equilibria.signs
            q, well = paths.correct(left, known.q[left], np.ones(len(left)), index)
            found.q[left[well]] = q[well]
            done[left[well]] = True
            found.forget()
            done &= ~crossed(known.index, found.index)
        return done

    def _forces(self, robot: Robot) -> Trace:
        """What is unbalanced of what yields."""

        def outputs() -> dict[str, SX]:
            return {"F": self._model.residual[self._free, :]}

        return traced(robot, ("F", *self._what), PURPOSE, lambda: (self._model.inputs, outputs()))

    def _borne(self, robot: Robot) -> Trace:
        """What joints and beams must bear, and a base that nothing holds."""
        return traced(
            robot, ("borne", *self._what), PURPOSE, lambda: (self._model.inputs, {"forces": self._model.forces})
        )

    @property
    def _what(self) -> tuple[object, ...]:
        statics = self._statics
        names = tuple(column.name for column in self.rows.columns)
        return "statics", names, statics.loads, statics.distributed, statics.gauges, self.rows.frames

    def _trace(self, robot: Robot) -> Trace:
        return traced(robot, ("h", *self._what), PURPOSE, lambda: (self._inputs, {"h": self._measured}))

    def _slopes(self, robot: Robot) -> Trace:
        def outputs() -> dict[str, SX]:
            return {"h_q": casadi.jacobian(self._measured, self._model.q[self._free, :])}

        return traced(robot, ("h_q", *self._what), PURPOSE, lambda: (self._inputs, outputs()))

    @cached_property
    def _pullback(self) -> Pullback:
        def made() -> tuple[dict[str, SX], SX]:
            return self._inputs, casadi.vertcat(self._measured, self._model.residual)

        return Pullback.of(self.variation, self._what, PURPOSE, made)

    @cached_property
    def _attitudes(self) -> SX:
        return SX.sym("attitudes", 9 * len(self.rows.turned))

    @property
    def _inputs(self) -> dict[str, SX]:
        return {**self._model.inputs, "attitudes": self._attitudes}

    @cached_property
    def _measured(self) -> SX:
        """What is measured (columns x 1)."""
        return casadi.vertcat(*measured(self._model, self.rows.columns, self._attitudes))


def measured(model: StaticModel, columns: Sequence[Column], attitudes: SX) -> list[SX]:
    """The columns as expressions; those of rotations against measured ones (9 x 1 each)."""
    robot, q, expressions = model.robot, model.q, []
    places = {joint.name: joint.driven for joint in robot.joints}
    turns: dict[str, SX] = {}
    for column in columns:
        axis, of = column.place, column.of
        match column.kind:
            case "position":
                each = pose_of(robot, q, of).r[axis]
            case "rotation":
                if of not in turns:
                    R = casadi.reshape(attitudes[9 * len(turns) : 9 * len(turns) + 9], 3, 3)
                    turned = model.turned(of.removeprefix("tip.")) if of.startswith("tip.") else pose_of(robot, q, of).R
                    turns[of] = attitude(turned, R)
                each = turns[of][axis]
            case "turn":
                each = model.positions[of.replace("tip.", "turns ", 1)][axis]
            case "torque":
                each = model.forces[places[of]]
            case "gauge":
                each = model.strains[f"gauge {of}"][axis]
            case "coordinate":
                each = q[robot.coordinates.index(of)]
            case "tip":
                each = model.positions[f"tip {of}"][axis]
            case "reaction" if not of:
                each = model.reaction[axis]
            case "reaction" | "spring":
                each = model.instant.of(column.kind, of)[axis]
            case "elastic":
                each = model.strains["elastic"]
            case "element":
                each = model.strains[f"element {of}"][axis]
            case _:  # endpoint, displacement, displacement_hub
                each = model.positions[column.kind][axis]
        expressions.append(each)
    return expressions
