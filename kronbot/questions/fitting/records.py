"""Records of motions: rows in time that belong together, what drives the robot between them, and where it begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from kronbot.compute.trace import Rows as Places
from kronbot.description.names import moving_frames
from kronbot.description.wording import listing
from kronbot.errors import UsageError
from kronbot.floats import Array
from kronbot.mechanics.motion.drives import drives
from kronbot.mechanics.motion.sensitivity import Stretches
from kronbot.mechanics.static.tangent import Flags
from kronbot.model.robot import Robot
from kronbot.questions.columns import REACTION, WRENCH
from kronbot.questions.fitting.columns import OF_SIMULATE_ONLY, Column, of_simulate
from kronbot.questions.fitting.data import Named
from kronbot.questions.fitting.sorting import Sorted, sort_out
from kronbot.questions.grids import SAMPLE_LIMIT
from kronbot.records import dataclass

# Powers of time of what drives a robot between rows: measured torques and loads are straight, motions cubic splines.
TORQUE, MOTION, LOAD = 2, 4, 2
# Instants of controllers and times of rows are one within this share of a sample time.
SAME = 1e-6


@dataclass(frozen=True)
class Record:
    """Rows ``first`` to ``last`` - 1 of a table as one motion, called ``label``.

    ``inputs`` (rows - 1, size) are, from row to row, the time of the row and what drives the joints from there.
    ``given`` are coordinates and rates that its first row holds, by name.
    """

    label: str
    first: int
    last: int
    times: Array
    inputs: Array
    given: Mapping[str, float]

    def stretches(
        self, corners: Sequence[float], sample_time: float | None = None
    ) -> tuple[Stretches, npt.NDArray[np.intp]]:
        """What is gone through from row to row and from corner to corner, and which stretches end at rows.

        Controllers look every ``sample_time`` (s) from the first row on, where what they do is a part of the state that
        a record begins with.
        """
        inside = [t for t in corners if self.times[0] < t < self.times[-1]]
        stations, instants = np.union1d(self.times, inside), np.zeros(0)
        if sample_time is not None:
            count = (self.times[-1] - self.times[0]) / sample_time
            if count > SAMPLE_LIMIT:
                limit = f"{SAMPLE_LIMIT} is the limit"
                raise UsageError(f"a sample time of {sample_time:g} s makes {count:.3g} samples; {limit}")
            instants = self.times[0] + sample_time * np.arange(1, int(count * (1 + SAME)) + 1)
            after = np.searchsorted(stations, instants).clip(1, len(stations) - 1)
            near = np.where(instants - stations[after - 1] < stations[after] - instants, after - 1, after)
            same = np.abs(stations[near] - instants) < SAME * sample_time
            instants[same] = stations[near[same]]
            stations = np.union1d(stations, instants[instants < self.times[-1]])
        rows = np.searchsorted(self.times, stations[:-1], side="right") - 1
        ends = np.searchsorted(stations, self.times[1:]) - 1
        return Stretches(stations, self.inputs[rows], np.isin(stations, instants).astype(float)), ends


def refused(records: Sequence[Record], rows: Places, watched: Flags, contacts: int) -> Flags:
    """Which of some rows (N,) of records tell nothing, of what is watched there (N, any) and must not be so.

    Of the first so many, ``contacts`` that another motion than the one without them follows, nor what is behind in its
    record.
    """
    found, begun = np.asarray(watched.any(axis=1)), np.asarray(watched[:, :contacts].any(axis=1))
    for record in records:
        own = (record.first <= rows) & (rows < record.last)
        found[own] |= np.logical_or.accumulate(begun[own])
    return found


@dataclass(frozen=True)
class Driven:
    """Joints by name that measured ``torques`` drive, and those that follow measured ``motions``.

    Measured ``loads`` are columns: forces of actuators (``force.NAME``), and on frames (``load.FRAME.fx``).
    """

    torques: tuple[str, ...]
    motions: tuple[str, ...]
    loads: tuple[str, ...]

    @property
    def size(self) -> int:
        """Numbers of an input."""
        return 1 + TORQUE * len(self.torques) + MOTION * len(self.motions) + LOAD * len(self.loads)


def read(
    robot: Robot, named: Named, only: Sequence[str]
) -> tuple[tuple[Record, ...], Driven, Sorted, tuple[Column, ...]]:
    """The records of a table, and the columns that tell where they begin, whether or not they are compared.

    Raises UsageError for columns that do not fit, and for times that do not grow.
    """
    known = of_simulate(robot)
    inputs = _inputs(robot, named.names)
    if "t" not in named.names:
        raise UsageError(f"{named.table.name}: a column t is wanted, the time in s")
    told = sort_out(named, inputs, known.get, known, only, driving=True, never=OF_SIMULATE_ONLY)
    joints = [joint.name for joint in robot.joints]
    torques, motions = (
        tuple(name for name in joints if f"{word}.{name}" in told.inputs) for word in ("torque", "motion")
    )
    loads = tuple(name for name in dict.fromkeys(inputs.values()) if name in told.inputs and _is_load(name))
    driven, of_file = Driven(torques, motions, loads), robot.file.simulate.drive
    replaced = [f"torque.{name}" for name in torques if isinstance(of_file, Mapping) and name in of_file]
    if replaced:
        verb = "drives" if len(replaced) == 1 else "drive"
        told.notes.append(f"{listing(replaced)} {verb} the robot, in place of what the file has under simulate.drive")
    t, numbers = told.inputs["t"], told.inputs.get("record", np.zeros(len(told.rows)))
    begins = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), len(t)]
    spans = list(pairwise(begins))
    back = [i for first, last in spans for i in range(first + 1, last) if not t[i] > t[i - 1]]
    if back:
        rows = listing(str(told.rows[i]) for i in back[:5]) + (" and others" if len(back) > 5 else "")
        cure = "" if "record" in told.inputs else "; a column record numbers the records of a table"
        wrong = f"the time t does not grow in row{'s' * (len(back) > 1)} {rows}{cure}"
        raise named.table.mistaken({"t": wrong}, {"t": int(told.rows[back[0]]) - 1})
    labels = [f"{numbers[first]:g}" for first, _ in spans] if "record" in told.inputs else ["1"]
    twice = [label for i, label in enumerate(labels) if label in labels[:i]]
    if twice:
        raise UsageError(f"{named.table.name}: rows of record {listing(dict.fromkeys(twice))} do not stand together")
    short = [label for label, (first, last) in zip(labels, spans, strict=True) if last - first < 2]
    if short:
        raise UsageError(f"{named.table.name}: two rows make a record at least; {listing(short)} has one")
    starting = tuple(known[name] for name in told.compared if known[name].kind in ("q", "qd"))
    beside = named.numbers([column.name for column in starting if column not in told.columns])
    states = {name: each[told.rows - 1] for name, each in beside.items()}
    measured = zip(told.columns, told.measured.T, strict=True)
    states |= {column.name: each for column, each in measured if column in starting}
    records = tuple(
        _record(told, driven, label, span, {name: float(each[span[0]]) for name, each in states.items()})
        for label, span in zip(labels, spans, strict=True)
    )
    return records, driven, replace(told, records=numbers), starting


def _inputs(robot: Robot, names: Sequence[str]) -> dict[str, str]:
    """What is given in a row, by the names that columns of it may have."""
    known = {"t": "t", "record": "record"}
    known |= {f"force.{each.name}": f"force.{each.name}" for each in robot.elements if each.driven}
    for frame in moving_frames([link.name for link in robot.file.links]):
        known |= {f"load.{frame}.{axis}": f"load.{frame}.{axis}" for axis in REACTION}
    known |= {name: f"load.endpoint.{axis}" for name, axis in zip(WRENCH, REACTION, strict=True)}
    by_file = drives(robot).prescribed
    for joint in robot.joints:
        motion, torque = f"motion.{joint.name}", f"torque.{joint.name}"
        known[motion] = motion
        if motion in names and torque in names or joint.driven in by_file:
            continue  # the torque that the motion needs is an answer
        known[torque] = torque
    return known


def _is_load(name: str) -> bool:
    return name.startswith(("force.", "load."))


def _record(told: Sorted, driven: Driven, label: str, span: tuple[int, int], begun: Mapping[str, float]) -> Record:
    rows = slice(*span)
    t = told.inputs["t"][rows]
    parts = [t[:-1, None]]
    parts += [straight(t, told.inputs[f"torque.{name}"][rows]) for name in driven.torques]
    parts += [spline(t, told.inputs[f"motion.{name}"][rows]) for name in driven.motions]
    parts += [straight(t, told.inputs[name][rows]) for name in driven.loads]
    given = {name: value for name, value in begun.items() if not np.isnan(value)}
    return Record(label, *span, t, np.concatenate(parts, axis=1), given)


def straight(t: Array, values: Array) -> Array:
    """Coefficients (rows - 1, 2) of rising powers of the time since each row: straight lines from row to row."""
    return np.column_stack([values[:-1], np.diff(values) / np.diff(t)])


def spline(t: Array, values: Array) -> Array:
    """Coefficients (rows - 1, 4) of rising powers of the time since each row: the cubic spline through all rows."""
    from scipy.interpolate import CubicSpline  # here, since it takes a quarter of a second

    return np.asarray(CubicSpline(t, values).c[::-1].T)
