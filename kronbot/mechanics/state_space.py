"""The linear model as x' = A x + B u, z = C x + D u, with x = [y; y'] of the coordinates that are not locked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi
import numpy as np
import numpy.typing as npt
from casadi import SX

from kronbot.errors import Argument, UsageError
from kronbot.mechanics.linear_model import LinearModel
from kronbot.mechanics.modal import state_matrix
from kronbot.model.robot import Robot, gauge_place

Array = npt.NDArray[np.float64]

INPUTS = ("torques", "force")
OUTPUTS = ("joints", "endpoint", "gauges")
# Directions of the balanced pencil that are weaker than this share of the strongest count as missing.
RANK = 1e-9
# Poles closer than this share of the fastest are one (a double pole at zero splits by the root of rounding).
SAME_POLE = 1e-7


@dataclass(frozen=True)
class Ports:
    """Where signals enter and leave: traced E (n x inputs) with forces E u, and P (outputs x n) with outputs P y."""

    input_names: tuple[str, ...]
    E: SX
    output_names: tuple[str, ...]
    P: SX


@dataclass(frozen=True)
class StateSpace:
    """A (2n x 2n), B (2n x inputs), C (outputs x 2n), D (outputs x inputs, zero)."""

    A: Array
    B: Array
    C: Array
    D: Array


def ports(linear: LinearModel, inputs: Sequence[str], outputs: Sequence[str]) -> Ports:
    """Inputs from joint ``torques`` and the endpoint ``force``; outputs from ``joints``, ``endpoint``, ``gauges``.

    Gauges are those of the file's ``statics``; their output is the curvature kappa_z = v''. Raises UsageError where
    there are none.
    """
    robot = linear.robot
    forces: dict[str, SX] = {}
    if "torques" in inputs:
        for joint in robot.joints:
            column = SX(robot.n, 1)
            column[joint.index] = 1
            forces[f"torque.{joint.name}"] = column
    if "force" in inputs:
        forces |= {f"force.{axis}": linear.J_T[i, :].T for i, axis in enumerate("xyz")}
    positions: dict[str, SX] = {}
    if "joints" in outputs:
        for joint in robot.joints:
            row = SX(1, robot.n)
            row[joint.index] = 1
            positions[joint.name] = row
    if "endpoint" in outputs:
        positions |= {f"endpoint.{axis}": linear.J_T[i, :] for i, axis in enumerate("xyz")}
    if "gauges" in outputs:
        positions |= _gauges(robot)
    return Ports(
        tuple(forces),
        casadi.horzcat(SX(robot.n, 0), *forces.values()),
        tuple(positions),
        casadi.vertcat(SX(0, robot.n), *positions.values()),
    )


def state_space(M: Array, D: Array, K: Array, E: Array, P: Array) -> StateSpace:
    """State space of M y'' + D y' + K y = E u with outputs P y."""
    B = np.vstack([np.zeros_like(E), np.linalg.solve(M, E)])
    C = np.hstack([P, np.zeros_like(P)])
    return StateSpace(state_matrix(M, D, K), B, C, np.zeros((len(P), E.shape[1])))


def reachable(A: Array, B: Array) -> int:
    """Number of modes that the columns of B reach, by Popov, Belevitch and Hautus; observability is that of A^T, C^T.

    A pole counts as often as it stands in the spectrum, less the directions that [A - pole, B] leaves out. Equations
    and states are balanced first, by the size of their own entries.
    """
    size = len(A)
    if not size:
        return 0
    left_out = 0
    poles = np.linalg.eigvals(A)
    spread = max(float(np.abs(poles).max()), 1.0)
    seen: list[complex] = []
    for pole in poles:
        if any(abs(pole - other) <= SAME_POLE * spread for other in seen):
            continue
        seen.append(pole)
        pencil = np.hstack([A - pole * np.eye(size), B])
        rows = np.abs(pencil).max(axis=1)
        pencil = pencil / np.where(rows > 0, rows, 1.0)[:, None]
        columns = np.abs(pencil).max(axis=0)
        pencil = pencil / np.where(columns > 0, columns, 1.0)[None, :]
        singular = np.linalg.svd(pencil, compute_uv=False)
        left_out += int((singular <= RANK * singular[0]).sum())
    return size - left_out


def _gauges(robot: Robot) -> dict[str, SX]:
    statics = robot.file.statics
    if statics is None or not statics.gauges:
        raise UsageError(Argument("outputs", "gauges"), ": the file has no statics: {gauges: [...]}")
    rows: dict[str, SX] = {}
    for gauge in statics.gauges:
        link, beam, xi = gauge_place(robot, gauge)
        row = SX(1, robot.n)
        row[0, slice(link.modal.start, link.modal.start + beam.v.count)] = beam.row(beam.v, xi, 2)
        rows[f"curvature.{gauge.name}"] = row
    return rows
