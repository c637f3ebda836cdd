"""Where records begin: as the file says, as their first rows say, or where a fit finds it; with derivatives."""

from __future__ import annotations

from collections.abc import Iterator

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
from kronbot.mechanics.motion.equations import Equations
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
    A base that floats begins where the first row has it, unless ``initial`` is file, else at rest at 0.

    ``initial`` is file (on the motion, or at 0), rows (where the first row has them measured, else as the file) or
    fitted: joints and rates of each record are found, from those of the rows on. Of what the rows have of the measured
    ``columns`` is taken away what their sensors add, ``zeros``.
    """

    variation: Variation
    system: Equations
    inputs: SX
    driven: Driven
    records: tuple[Record, ...]
    initial: str
    columns: tuple[Column, ...]
    zeros: Shifts

    @property
    def robot(self) -> Robot:
        """The robot as it was traced."""
        return self.variation.robot

    @cached_property
    def moving(self) -> list[int]:
        """Places of the driven joints that are free."""
        return [place for place in self.robot.rigid if place in self.system.free]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What is found beside the parameters, two numbers a joint and record."""
        if self.initial != "fitted":
            return ()
        words = self.robot.derivative_names(["q", "qd"]).values()
        return tuple(f"start[{each.label}].{word[i]}" for each in self.records for word in words for i in self.moving)

    @property
    def width(self) -> int:
        """How many of them a record has."""
        return len(self.names) // len(self.records)

    def first(self) -> Array:
        """Where a search for these begins."""
        n, found = self.robot.n, []
        if self.names:
            for record in self.records:
                z, _ = self._joints(self.robot, self._at_first(), record, rows=True)
                found += [z[place] for place in (*self.moving, *(n + place for place in self.moving))]
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
        count, width, n = len(self.variation.names), self.width, self.robot.n
        k, free = count + width, [*self.system.free, *(n + place for place in self.system.free)]
        found = np.zeros((len(self.records), len(free) + self.system.memory.numel(), 1 + k))
        for i, record in enumerate(self.records):
            z, dz = self._joints(robot, values[:count], record, rows=self.initial != "file")
            slopes = np.zeros((2 * n, k))
            slopes[:, :count] = dz
            if self.names:
                places = [*self.moving, *(n + place for place in self.moving)]
                z[places], slopes[places] = values[count + i * width : count + (i + 1) * width], 0.0
                slopes[places, range(count, k)] = 1.0
            whole = self._deformed(robot, values[:count], z, slopes, record)
            found[i, : len(free)] = whole[free]
        return found

    def doubts(self, data: Measured, errors: Array, accuracy: float) -> Iterator[str]:
        """Columns with ``errors`` (N, columns) beyond the accuracy of what is computed, whose first row is taken as
        exact."""
        if self.initial != "rows":
            return
        words = self.robot.derivative_names(["q", "qd"]).values()
        begun = {word[i] for word in words for i in self.moving for each in self.records if word[i] in each.given}
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

    def _told(self, robot: Robot, values: Array, record: Record, word: str) -> dict[int, Array]:
        """Coordinates, or rates, that the first row of a record holds, by place; each with derivatives (1 + count,)."""
        found = {name: np.array([value, *np.zeros(len(values))]) for name, value in record.given.items()}
        if self.zeros.expressions and not np.isnan(values).any():
            added = np.column_stack([self.zeros.values(robot), self.zeros.slopes(robot, values)])
            for column, place in zip(self.columns, self.zeros.of, strict=True):
                if place >= 0 and column.name in found:
                    found[column.name] -= added[place]
        names = robot.derivative_names([word])[word]
        return robot.with_shafts({i: found[name] for i, name in enumerate(names) if name in found})

    def _joints(self, robot: Robot, values: Array, record: Record, rows: bool) -> tuple[Array, Array]:
        """[q, qd] (2 n,) of the driven joints at the start of a record, and their derivatives (2 n, count)."""
        n, t = robot.n, record.times[0]
        symbols, z = self._on_motions
        key = "first of records", self.driven
        trace = traced(robot, key, PURPOSE, lambda: (symbols, {"z": z}))
        found = trace.rows(np.array([t]), record.inputs[:1])["z"].reshape(-1)
        made = Pullback.of(self.variation, key, PURPOSE, lambda: (symbols, z))
        points = {"t": np.full(2 * n, t), "inputs": np.tile(record.inputs[0], (2 * n, 1))}
        slopes = made.derivatives(robot, values, points, np.eye(2 * n))
        for shift, word in ((0, "q"), (n, "qd")) if rows else ():
            for place, both in self._told(robot, values, record, word).items():
                if place in self.moving:
                    found[shift + place], slopes[shift + place] = both[0], both[1:]
        return found, slopes

    @cached_property
    def _on_motions(self) -> tuple[dict[str, SX], SX]:
        """[q, qd] (2 n x 1) of joints on their motions, 0 of others, at a time."""
        robot, t, inputs = self.robot, self.system.t, self.inputs
        z = SX(2 * robot.n, 1)
        on_motion = {joint.driven: robot.motions[joint.name] for joint in robot.joints if joint.name in robot.motions}
        for place, motion in (on_motion | dict(self.system.drives.prescribed)).items():
            q, qd, _ = motion.derivatives(t)
            z[place], z[robot.n + place] = q, qd
        return {"t": t, "inputs": inputs}, casadi.densify(z)

    def _deformed(self, robot: Robot, values: Array, z: Array, slopes: Array, record: Record) -> Array:
        """[z, dz/dp] (2 n, 1 + k) of all coordinates and rates, by those of the driven joints."""
        n, k = robot.n, slopes.shape[1]
        both = np.column_stack([z, slopes])
        q, qd = both[:n].T, both[n:].T
        whole = np.concatenate([robot.undeformed_rates(q), robot.undeformed_rates(qd)], axis=1).T
        whole[:n, 0] = robot.undeformed(z[:n])
        if self.robot.file.simulate.start == "equilibrium":
            if falls(robot):
                raise UsageError(FALLING)
            whole[:n] = self._sagging(robot, values, whole[:n], k)
        elif self.initial != "file":  # of elastic joints the other side may be measured, and a base that floats
            links = {*robot.base, *(joint.index for joint in robot.joints)}.difference(robot.rigid)
            for shift, word in ((0, "q"), (n, "qd")):
                told = self._told(robot, values, record, word)
                for place in links & told.keys():
                    whole[shift + place] = [*told[place], *np.zeros(k - len(values))]
        return whole

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
        return model, Beginning(variation, model.system, model.inputs, driven, records, initial, columns, zeros)

    model, beginning = made(())
    if not model.contacts:
        return model, beginning
    robot, states = beginning.at_first
    return made(model.touching_at(robot, records[0].times[0], states[0], records[0].inputs[0]))
