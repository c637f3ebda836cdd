"""A driven robot along records: its equations with what drives it from row to row, and what is measured."""

from __future__ import annotations

from dataclasses import replace

import casadi
import numpy as np
from casadi import SX

from kronbot.cached import cached_property
from kronbot.compute.trace import traced
from kronbot.description.wording import listing
from kronbot.errors import UsageError
from kronbot.floats import Array
from kronbot.mechanics.motion.charts import LEFT
from kronbot.mechanics.motion.drives import Polynomial, drives
from kronbot.mechanics.motion.equations import Equations, equations_of
from kronbot.mechanics.motion.sensitivity import Flow
from kronbot.mechanics.multibody.elements import lengths_and_tensions
from kronbot.mechanics.multibody.kinematics import endpoint
from kronbot.mechanics.multibody.outputs import Instant
from kronbot.model.beam import TIP
from kronbot.model.floating import hung
from kronbot.model.in_time import InTime
from kronbot.model.robot import Robot
from kronbot.model.variation import Variation
from kronbot.questions.columns import REACTION
from kronbot.questions.fitting.attitude import attitude
from kronbot.questions.fitting.columns import Column
from kronbot.questions.fitting.records import LOAD, MOTION, TORQUE, Driven
from kronbot.records import dataclass


@dataclass(frozen=True)
class DrivenModel:
    """A driven robot as it is traced: its equations, and what is measured at an instant.

    Where it begins may be ``fitted``. Stops and tendons that are ``touching`` at first are so all the time; none where
    nothing is said of them.
    """

    variation: Variation
    driven: Driven
    columns: tuple[Column, ...]
    fitted: bool
    touching: tuple[bool, ...] = ()

    @cached_property
    def inputs(self) -> SX:
        """What changes from row to row: the time of the row, and what drives the joints from there."""
        return SX.sym("inputs", self.driven.size)

    @cached_property
    def system(self) -> Equations:
        """The equations; a floating base is in its own chart."""
        torques, motions, loads = self._measured_drives
        robot, driven = self.variation.robot, drives(self.variation.robot).measuring(torques, motions)
        if driven.controllers.draws:
            raise UsageError("fits of motions know no noise of sensors under sample_time: leave it out")
        of_elements = ((each, loads.get(f"force.{each.name}")) for each in robot.elements)
        elements = (replace(each, in_time=InTime(force.at)) if force else each for each, force in of_elements)
        return equations_of(replace(robot, elements=tuple(elements)), driven, "composite", self._loaded)

    @cached_property
    def _measured_drives(self) -> tuple[dict[str, Polynomial], ...]:
        """Measured torques and motions by joint, and loads by column, in time."""
        place, found = 1, []
        for names, size in ((self.driven.torques, TORQUE), (self.driven.motions, MOTION), (self.driven.loads, LOAD)):
            parts = {name: self.inputs[place + i * size : place + (i + 1) * size] for i, name in enumerate(names)}
            found.append({name: Polynomial(self.inputs[0], each) for name, each in parts.items()})
            place += size * len(names)
        return tuple(found)

    @property
    def elsewhere(self) -> str:
        """What of a record may be elsewhere than where it was measured, in words: straight beams at its start, and
        torques that are measured in place of drives of the file; nothing where there are none.
        """
        robot = self.variation.robot
        straight = robot.file.simulate.start == "straight" and any(link.beam is not None for link in robot.links)
        return "; beams begin straight, unless simulate has start: equilibrium" * straight + self._in_place

    @property
    def _in_place(self) -> str:
        own = drives(self.variation.robot)
        driven = {*own.by_joint, *own.controllers.by_joint, *own.controllers.fed_back}
        names = [f"torque.{name}" for name in self.driven.torques if name in driven]
        if not names:
            return ""
        drive, each = ("drives", "this column") if len(names) == 1 else ("drive", "these columns")
        return f"; {listing(names)} {drive} in place of the file's drives, which act without {each}"

    @cached_property
    def _loaded(self) -> tuple[str, ...]:
        """Frames that measured loads act on."""
        heads = (name.rpartition(".")[0] for name in self.driven.loads if name.startswith("load."))
        return tuple(dict.fromkeys(head.removeprefix("load.") for head in heads))

    @cached_property
    def placed(self) -> tuple[int, ...]:
        """Coordinates whose first values and rates a record may have: driven joints, a floating base, unless it begins
        in its sag, and links behind shafts, unless these do.
        """
        robot, sags = self.variation.robot, self.variation.robot.file.simulate.start == "equilibrium"
        joints = [place for place in robot.rigid if place in self.system.free]
        links = [] if sags else [joint.index for joint in robot.joints if joint.index != joint.driven]
        return (*joints, *(() if sags and hung(robot) else robot.base), *links)

    @cached_property
    def found(self) -> tuple[int, ...]:
        """Those of them that the fit finds: of links the ones that are measured, and their motors, too, unless these
        follow a motion. Else shafts are slack at first.
        """
        measured = {column.place for column in self.columns if column.kind in ("q", "qd")}
        motors = {joint.index: joint.driven for joint in self.variation.robot.joints if joint.index != joint.driven}

        def told(place: int) -> bool:
            if place not in motors:
                return True
            return place in measured and (motors[place] in measured or motors[place] not in self.placed)

        return tuple(filter(told, self.placed)) if self.fitted else ()

    @property
    def size(self) -> int:
        """Of a state: free coordinates, their rates, and what controllers remember."""
        return 2 * len(self.system.free) + self.system.memory.numel()

    @cached_property
    def x(self) -> SX:
        """The state."""
        return self.system.x[: self.size, :]

    def plainly(self, expressions: list[SX]) -> list[SX]:
        """With measured loads and what touches, and without what no record has: accounts of energy, another chart."""
        system, told, loads = self.system, self.system.told, self._measured_drives[2]
        gone = casadi.vertcat(system.switch.touching, system.x[self.size :, :], told)
        known = SX.zeros(*gone.shape)
        known[: len(self.touching)] = casadi.DM([float(each) for each in self.touching])
        if told.numel():
            known[-3:] = self.x[3:6, :]
        on_frames = (loads.get(f"load.{frame}.{axis}") for frame in self._loaded for axis in REACTION)
        gone = casadi.vertcat(gone, system.given)
        known = casadi.vertcat(known, *(SX(0) if load is None else load.at(system.t) for load in on_frames))
        return list(casadi.substitute(expressions, [gone], [known]))

    @cached_property
    def flow(self) -> Flow:
        """What is integrated."""
        robot, (rate,) = self.variation.robot, self.plainly([self.system.rate[: self.size, :]])
        extent = robot.parameters.extent
        moved = self.variation.moved(extent)
        pattern = SX(self.variation.pattern(extent))[moved.tolist(), :]
        slopes = casadi.horzcat(pattern, SX(len(moved), 2 * len(self.found))).sparsity()
        numbers = robot.parameters.symbols(extent)
        sizes = len(self.system.free), self.system.memory.numel()
        return Flow(self.system.t, self.x, rate, self.inputs, numbers, moved, slopes, *sizes, extent, self._jump)

    @cached_property
    def _jump(self) -> SX | None:
        """The state after an instant of sampled controllers."""
        if not self.system.sampled.numel():
            return None
        (after,) = self.plainly([self.system.sampled])
        return casadi.vertcat(self.x[: 2 * len(self.system.free)], after)

    @cached_property
    def q(self) -> SX:
        """The coordinates."""
        return casadi.densify(self.plainly([self.system.coordinates[0]])[0])

    @cached_property
    def instant(self) -> dict[str, SX]:
        """What an instant is a function of."""
        turned = sum(column.kind == "rotation" for column in self.columns) // 3
        attitudes = SX.sym("attitudes", 9 * turned)
        return {"t": self.system.t, "x": self.x, "inputs": self.inputs, "attitudes": attitudes}

    @cached_property
    def watched(self) -> SX:
        """What must stay < 0: depths of stops and tendons, of those that touch what they pull with instead, and how
        near a floating base is to the gimbal lock of its angles.
        """
        seen, count = self.system.switch.seen, self.contacts
        held = casadi.DM([float(each) for each in self.touching or [False] * count])
        depths = (1 - held) * seen[:count] - held * seen[count : 2 * count]
        base = [LEFT - casadi.fabs(casadi.cos(self.x[4]))] if self.variation.robot.base else []
        (watched,) = self.plainly([casadi.vertcat(SX(0, 1), depths, *base)])
        return watched

    @property
    def contacts(self) -> int:
        """How many stops and tendons there are."""
        return self.system.switch.touching.numel()

    def touching_at(self, robot: Robot, t: float, x: Array, inputs: Array) -> tuple[bool, ...]:
        """Which stops and tendons of a robot are so at an instant."""
        key = "contacts", self.driven, self.columns

        def seen() -> dict[str, SX]:
            return {"seen": casadi.densify(self.plainly([self.system.switch.seen])[0])}

        trace = traced(robot, key, "fit", lambda: ({"t": self.system.t, "x": self.x, "inputs": self.inputs}, seen()))
        depths, forces, _ = trace.rows(np.array([t]), x[None], inputs[None])["seen"].reshape(3, -1)
        return tuple(((depths > 0) & (forces > 0)).tolist())

    @cached_property
    def measured(self) -> SX:
        """What is measured (columns x 1); rotations against measured ones."""
        system, robot = self.system, self.variation.robot
        q, qd = system.coordinates
        at = Instant(system.state, system.qdd, system.tau, qd)
        tips = {
            each.link.name: each.link.beam.moved(TIP, each.tip.pose.r)
            for each in system.state.links
            if each.link.beam is not None
        }
        elements, places = lengths_and_tensions(system.state), {joint.name: joint.driven for joint in robot.joints}
        found, turns = [], dict[str, SX]()
        for column in self.columns:
            i, of = column.place, column.of
            match column.kind:
                case "q":
                    each = q[i]
                case "qd":
                    each = qd[i]
                case "torque":
                    each = system.tau[places[of]]
                case "tip":
                    each = tips[of][i]
                case "endpoint":
                    each = endpoint(system.state)[i]
                case "element":
                    each = elements[f"element {of}"][i]
                case "rotation":
                    if of not in turns:
                        R = casadi.reshape(self.instant["attitudes"][9 * len(turns) : 9 * len(turns) + 9], 3, 3)
                        turns[of] = attitude(at.of("rotation", of), R)
                    each = turns[of][i]
                case _:
                    each = at.of(column.kind, of)[i]
            found.append(each)
        return casadi.densify(casadi.vertcat(*self.plainly(found)))
