"""Where records begin: as the file says, as their first rows say, or where a fit finds it; with derivatives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import casadi
import numpy as np
from casadi import SX

from kronbot.cached import cached_property
from kronbot.compute.pullback import Pullback
from kronbot.compute.trace import traced
from kronbot.description import schema
from kronbot.description.wording import listing
from kronbot.errors import UsageError
from kronbot.floats import Array
from kronbot.mechanics.static.static_model import StaticModel
from kronbot.model.floating import hung
from kronbot.model.robot import Robot
from kronbot.model.variation import Variation
from kronbot.questions.fitting.columns import Column
from kronbot.questions.fitting.driven import DrivenModel
from kronbot.questions.fitting.measured import Measured
from kronbot.questions.fitting.records import Driven, Record
from kronbot.questions.fitting.shifts import Shifts
from kronbot.questions.initial_state import FALLING, falls
from kronbot.questions.statics import sag
from kronbot.records import dataclass

PURPOSE = "fit"


@dataclass(frozen=True)
class Beginning:
    """First states of records: joints by ``initial``, and beams straight or in their sag, as the file's simulate says.
    A base that floats begins at rest at 0 where nothing else is said, links behind shafts with their motors.

    ``initial`` is file (on the motion, or at 0), rows (where the first row has them measured, else as the file) or
    fitted: what the ``model`` says is found of each record, from where rows would have it on. Of what the rows have of
    the measured columns is taken away what their sensors add, ``zeros``.
    """

    model: DrivenModel
    records: tuple[Record, ...]
    initial: str
    zeros: Shifts

    @property
    def variation(self) -> Variation:
        """The robot at many values."""
        return self.model.variation

    @property
    def robot(self) -> Robot:
        """The robot as it was traced."""
        return self.variation.robot

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What is found beside the parameters, two numbers a coordinate and record."""
        words = self.robot.derivative_names(["q", "qd"]).values()
        return tuple(
            f"start[{each.label}].{word[i]}" for each in self.records for word in words for i in self.model.found
        )

    @property
    def width(self) -> int:
        """How many of them a record has."""
        return len(self._places)

    @property
    def _places(self) -> list[int]:
        """Where they are in [q, qd]."""
        return [shift + place for shift in (0, self.robot.n) for place in self.model.found]

    def first(self) -> Array:
        """Where a search for these begins."""
        found, values = [], self._at_first()
        for record in self.records if self.names else ():
            given = self._told(self.robot, values, record)
            found += self._straight(self.robot, values, record, given, len(values))[self._places, 0].tolist()
        return np.array(found)

    @property
    def at_first(self) -> tuple[Robot, Array]:
        """The robot with the values of the file, and its states (records, size)."""
        values = self._at_first()
        robot = self.variation.at(values)
        return robot, self.states(robot, np.concatenate([values, self.first()]))[:, :, 0]

    def _at_first(self) -> Array:
        values = self.robot.parameters.values
        return np.array(
            [np.nan if values[name] is None else values[name] for name in self.variation.names], dtype=float
        )

    def states(self, robot: Robot, values: Array) -> Array:
        """[x, S] (records, size, 1 + k) of the robot at values of its parameters and of what is found beside.

        Derivatives are by the parameters and then by what is found of the record itself.
        """
        count, width, n, system = len(self.variation.names), self.width, self.robot.n, self.model.system
        k, free = count + width, [*system.free, *(n + place for place in system.free)]
        found = np.zeros((len(self.records), len(free) + system.memory.numel(), 1 + k))
        own, others = values[:count], values[count:].reshape(len(self.records), width)
        for i, record in enumerate(self.records):
            given = dict(zip(self._places, np.column_stack([others[i], np.eye(k)[count:]]), strict=True))
            if self.initial == "rows":
                given = self._told(robot, own, record)
            whole = self._straight(robot, own, record, given, k)
            if self._sags:
                if falls(robot):
                    raise UsageError(FALLING)
                whole[:n] = self._sagging(robot, own, whole[:n], k)
            found[i, : len(free)] = whole[free]
        return found

    @property
    def _sags(self) -> bool:
        return self.robot.file.simulate.start == "equilibrium"

    def doubts(self, data: Measured, errors: Array, accuracy: float) -> Iterator[str]:
        """Columns with ``errors`` (N, columns) beyond the accuracy of what is computed, whose first row is taken as
        exact."""
        if self.initial != "rows":
            return
        words = self.robot.derivative_names(["q", "qd"]).values()
        begun = {word[i] for word in words for i in self.model.placed for each in self.records if word[i] in each.given}
        noisy = []
        for column, measured, off in zip(data.columns, data.measured.T, errors.T, strict=True):
            off, size = off[np.isfinite(off)], np.nanmax(np.abs(measured), initial=0.0)
            if column.name in begun and len(off) and np.sqrt(np.mean(off**2)) > accuracy * size:
                noisy.append(column.name)
        if noisy:
            yield (
                f"records begin exactly where their first row has {listing(noisy)}, though other rows have errors: "
                "where these are noise, initial: fitted has that of the first row in the standard errors, too"
            )

    def _told(self, robot: Robot, values: Array, record: Record) -> dict[int, Array]:
        """What the first row of a record holds, by its place in [q, qd]; each with derivatives (1 + count,)."""
        found = {name: np.array([value, *np.zeros(len(values))]) for name, value in record.given.items()}
        if self.zeros.expressions and not np.isnan(values).any():
            added = np.column_stack([self.zeros.values(robot), self.zeros.slopes(robot, values)])
            for name, place in zip(self.zeros.names, self.zeros.of, strict=True):
                if place >= 0 and name in found:
                    found[name] -= added[place]
        told: dict[int, Array] = {}
        placed = self.model.placed
        for shift, names in zip((0, robot.n), robot.derivative_names(["q", "qd"]).values(), strict=True):
            known = robot.with_shafts({place: found[names[place]] for place in placed if names[place] in found})
            told |= {shift + place: each for place, each in known.items() if place in placed}
        return told

    def _straight(self, robot: Robot, values: Array, record: Record, given: Mapping[int, Array], k: int) -> Array:
        """[z, dz/dp] (2 n, 1 + k) of all coordinates and rates at the start of a record where nothing is deformed but
        by what is ``given`` of them, by place.
        """
        n, t = robot.n, record.times[0]
        symbols, z = self._on_motions
        key = "first of records", self.model.driven
        trace = traced(robot, key, PURPOSE, lambda: (symbols, {"z": z}))
        made = Pullback.of(self.variation, key, PURPOSE, lambda: (symbols, z))
        points = {"t": np.full(2 * n, t), "inputs": np.tile(record.inputs[0], (2 * n, 1))}
        both = np.zeros((2 * n, 1 + k))
        both[:, 0] = trace.rows(np.array([t]), record.inputs[:1])["z"].reshape(-1)
        both[:, 1 : 1 + len(values)] = made.derivatives(robot, values, points, np.eye(2 * n))
        for place, each in given.items():
            both[place] = each
        q, qd = both[:n].T, both[n:].T
        whole = np.concatenate([robot.undeformed_rates(q), robot.undeformed_rates(qd)], axis=1).T
        whole[:n, 0] = robot.undeformed(q[0])
        for place, each in given.items():
            whole[place] = each
        return whole

    @cached_property
    def _on_motions(self) -> tuple[dict[str, SX], SX]:
        """[q, qd] (2 n x 1) of joints on their motions, 0 of others, at a time."""
        robot, system, inputs = self.robot, self.model.system, self.model.inputs
        z = SX(2 * robot.n, 1)
        on_motion = {joint.driven: robot.motions[joint.name] for joint in robot.joints if joint.name in robot.motions}
        for place, motion in (on_motion | dict(system.drives.prescribed)).items():
            q, qd, _ = motion.derivatives(system.t)
            z[place], z[robot.n + place] = q, qd
        return {"t": system.t, "inputs": inputs}, casadi.densify(z)

    def _sagging(self, robot: Robot, values: Array, q: Array, k: int) -> Array:
        """The same of q (n, 1 + k) in the sag under gravity, by the implicit function theorem; of a base that elements
        hold, too.
        """
        free, rigid = sorted([*robot.flexible, *hung(robot)]), list(robot.rigid)
        found = q.copy()
        if not free:
            return found
        found[:, 0] = sag(robot, q[:, 0])
        inputs, F = self._balance
        by = {"K": casadi.jacobian(F, inputs["q"])}
        trace = traced(robot, "sagging", PURPOSE, lambda: (inputs, by))
        K = trace.rows(found[:, 0][None])["K"].reshape(len(free), -1)
        made = Pullback.of(self.variation, "sagging", PURPOSE, lambda: (inputs, F))
        points = {"q": np.tile(found[:, 0], (len(free), 1))}
        right = np.zeros((len(free), k))
        right[:, : len(values)] = made.derivatives(robot, values, points, np.eye(len(free)))
        right += K[:, rigid] @ q[rigid, 1:]
        found[free, 1:] = -np.linalg.solve(K[:, free], right)
        return found

    @cached_property
    def _balance(self) -> tuple[dict[str, SX], SX]:
        model = StaticModel(self.robot, schema.Statics())
        forces = model.forces[sorted([*self.robot.flexible, *hung(self.robot)]), :]
        gone = casadi.vertcat(model.given, model.shares)
        known = casadi.vertcat(SX.zeros(model.given.numel(), 1), SX.ones(model.shares.numel(), 1))
        return {"q": model.q}, casadi.densify(casadi.substitute(forces, gone, known))


def begun(
    variation: Variation,
    driven: Driven,
    columns: tuple[Column, ...],
    records: tuple[Record, ...],
    initial: str,
    zeros: Shifts,
) -> tuple[DrivenModel, Beginning]:
    """The driven robot and where its records begin. Stops and tendons act all the time that do as the first one begins,
    with the values of the file.
    """
    kept, fitted = variation.robot.kept, initial == "fitted"

    def made(touching: tuple[bool, ...]) -> tuple[DrivenModel, Beginning]:
        def traced_model() -> DrivenModel:
            model = DrivenModel(variation, driven, columns, fitted, touching)
            assert model.flow
            return model

        key = "motions", variation.names, driven, columns, fitted, touching
        model = kept(key, traced_model)
        return model, Beginning(model, records, initial, zeros)

    model, beginning = made(())
    if not model.contacts:
        return model, beginning
    robot, states = beginning.at_first
    return made(model.touching_at(robot, records[0].times[0], states[0], records[0].inputs[0]))
