"""Rows of statics: the angles and loads that were given, and what was measured there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kronbot.compute.trace import Rows as Places
from kronbot.description.names import moving_frames
from kronbot.description.wording import listing
from kronbot.floats import Array
from kronbot.model.robot import Robot
from kronbot.questions.columns import REACTION, WRENCH
from kronbot.questions.fitting.columns import OF_STATICS_ONLY, found, of_statics
from kronbot.questions.fitting.data import Named
from kronbot.questions.fitting.measured import Measured
from kronbot.questions.fitting.sorting import Sorted, sort_out
from kronbot.records import dataclass


@dataclass(frozen=True)
class Rows(Measured):
    """Rows of statics: angles (N, joints) of the drives, loads (N, 6 (1 + frames)), and what is measured there.

    Loads are force and moment on the endpoint and on each of ``frames``.
    """

    angles: Array
    loads: Array
    frames: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.angles)

    def __getitem__(self, rows: Places) -> Rows:
        """Some of them."""
        chosen = {word: getattr(self, word)[rows] for word in ("angles", "loads", "measured")}
        return replace(self, **chosen)


def read(robot: Robot, named: Named, only: Sequence[str]) -> tuple[Rows, Sorted]:
    """The rows of a table. Raises UsageError for columns that do not fit."""
    known = of_statics(robot)
    inputs = _inputs(robot, named.names)
    told = sort_out(named, inputs, lambda name: found(robot, name, known), known, only, never=OF_STATICS_ONLY)
    loaded = {key.rpartition(".")[0] for key in told.inputs}
    frames = tuple(name for name in _frames(robot) if f"load.{name}" in loaded)
    none = np.zeros(len(told.rows))
    angles = [told.inputs.get(f"angle.{joint.name}", none) for joint in robot.joints]
    wrench = [told.inputs.get(name, none) for name in WRENCH]
    loads = [told.inputs.get(f"load.{frame}.{axis}", none) for frame in frames for axis in REACTION]
    still = [joint.name for joint in robot.joints if f"angle.{joint.name}" not in told.inputs]
    if still:
        verb = "is" if len(still) == 1 else "are"
        told.notes.append(f"{listing(still)} {verb} not in {named.table.name}: 0 in every row")
    turned = np.array(angles).reshape(len(angles), len(none)).T  # without a joint, too
    return Rows(told.columns, told.measured, turned, np.array([*wrench, *loads]).T, frames), told


def _inputs(robot: Robot, names: Sequence[str]) -> dict[str, str]:
    """What is given in a row, by the names that columns of it may have."""
    known = {name: name for name in WRENCH}
    for joint in robot.joints:
        key, motor = f"angle.{joint.name}", robot.coordinates[joint.driven]
        known |= {key: key, motor: key}
        if joint.elastic and not {key, motor} & set(names):  # else that of the link may be measured
            known[joint.name] = key
    for frame in _frames(robot):
        known |= {f"load.{frame}.{axis}": f"load.{frame}.{axis}" for axis in REACTION}
    return known


def _frames(robot: Robot) -> tuple[str, ...]:
    return moving_frames([link.name for link in robot.file.links])
