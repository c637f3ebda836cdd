"""Forces of motions at measured rows, tau = M qdd + C* (qd x qd) + g + K q + D qd, and their derivatives."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field

import casadi
import numpy as np
from casadi import SX

from kronbot.cached import cached_property
from kronbot.compute.pullback import Pullback
from kronbot.compute.trace import traced
from kronbot.description.wording import listing
from kronbot.floats import Array
from kronbot.mechanics.multibody.recursion import inverse_dynamics
from kronbot.mechanics.multibody.state import propagate
from kronbot.model.robot import Robot
from kronbot.model.variation import Variation
from kronbot.questions.fitting.columns import torques
from kronbot.questions.fitting.data import Named
from kronbot.questions.fitting.points import AtPoints, placed
from kronbot.questions.fitting.sorting import Sorted, sort_out
from kronbot.records import dataclass

PURPOSE = "fit"
WORDS = ("q", "qd", "qdd")


@dataclass
class DynamicAnswers(AtPoints):
    """What ``dynamics`` says of the joints' torques at every row, less what is measured, with derivatives.

    The points are q, qd and qdd. ``carried`` are places in tau, by joint, whose forces a drive bears, and how many
    times: its own, and those behind shafts that are taken as undeformed.
    """

    carried: Mapping[str, tuple[tuple[int, float], ...]] = field(default_factory=dict)

    @staticmethod
    def read(variation: Variation, named: Named, only: Sequence[str]) -> tuple[DynamicAnswers, Sorted]:
        """The rows of a table. Raises UsageError for columns that do not fit."""
        robot, known = variation.robot, torques(variation.robot)
        told = sort_out(named, _inputs(robot), known.get, known, only)
        points, still = placed(robot, told, WORDS)
        if still:
            told.notes.append(f"not in {named.table.name}, where nothing is deformed, or 0: {listing(still)}")
        carried = _carried(robot, {i for i, name in enumerate(robot.coordinates) if name in told.inputs})
        return DynamicAnswers(variation, points, told.columns, told.measured, carried), told

    @property
    def linear(self) -> bool:
        """Whether the torques are linear in the parameters."""
        return self.variation.is_linear(self._torques)

    def errors(self, values: Array) -> Array:
        """Computed less measured (N, columns): NaN where nothing is measured."""
        robot = self.variation.at(values)
        trace = traced(robot, self._key, PURPOSE, lambda: (self._inputs, {"tau": self._torques}))
        return np.asarray(trace.rows(*self.points.values())["tau"].reshape(self.measured.shape) - self.measured)

    def jacobian(self, values: Array) -> Array:
        """Derivatives (measured numbers, k) of what is there of the errors, row by row."""
        row, column = np.nonzero(~np.isnan(self.measured))
        points = {word: each[row] for word, each in self.points.items()}
        made = Pullback.of(self.variation, self._key, PURPOSE, lambda: (self._inputs, self._torques))
        return made.derivatives(self.variation.at(values), values, points, np.eye(len(self.columns))[column])

    @property
    def _key(self) -> tuple[object, ...]:
        return "tau", tuple((column.name, self.carried[column.of]) for column in self.columns)

    @cached_property
    def _inputs(self) -> dict[str, SX]:
        return {word: SX.sym(word, self.variation.robot.n) for word in WORDS}

    @cached_property
    def _torques(self) -> SX:
        robot = self.variation.robot
        q, qd, qdd = self._inputs.values()
        tau = inverse_dynamics(propagate(robot, q, qd), qdd)
        borne = (self.carried[column.of] for column in self.columns)
        return casadi.vertcat(*(sum(times * tau[place] for place, times in each) for each in borne))


def _carried(robot: Robot, given: Collection[int]) -> dict[str, tuple[tuple[int, float], ...]]:
    """By joint the places in tau, and the ratio of their rates to that of its drive, of coordinates that move with it.

    Of a shaft that is undeformed since only one of its ends is ``given`` (places in q), or none, the drive bears what
    is behind it, as a rigid one does; where both are, the shaft does.
    """
    found = {}
    for joint in robot.joints:
        rates = robot.undeformed_rates(np.eye(robot.n)[joint.driven])
        behind = [i for i in np.flatnonzero(rates).tolist() if i != joint.driven]
        free = [i for i in behind if i not in given or (i == joint.index and joint.driven not in given)]
        found[joint.name] = ((joint.driven, 1.0), *((i, float(rates[i])) for i in free))
    return found


def _inputs(robot: Robot) -> dict[str, str]:
    """What is given in a row, by the names that columns of it may have."""
    known = {name: name for names in robot.derivative_names(WORDS).values() for name in names}
    return known | {f"angle.{joint.name}": robot.coordinates[joint.driven] for joint in robot.joints}
