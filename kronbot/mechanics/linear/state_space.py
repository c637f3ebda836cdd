"""The linear model as x' = A x + B u, z = C x + D u, with x = [y; y'] of the coordinates that are not locked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import casadi
import numpy as np
import numpy.typing as npt
from casadi import SX

from kronbot.compute.arrays import NamedArray, Scalar
from kronbot.description.schema import Gauge
from kronbot.errors import Argument, UsageError
from kronbot.floats import Array
from kronbot.mechanics.linear.linear_model import LinearModel
from kronbot.mechanics.linear.modal import state_matrix
from kronbot.mechanics.linear.pole import Pole, Refined
from kronbot.model.gauge import gauge_place
from kronbot.model.robot import Robot

# Modes with smaller margins are out of reach, or out of sight.
LOST = 1e-8
# Singular values of unit vectors below this share of the largest are those of vectors that depend on each other.
INDEPENDENT = 1e-7


@dataclass(frozen=True)
class StateSpace:
    """A (2n x 2n), B (2n x inputs), C (outputs x 2n), D (outputs x inputs, zero)."""

    A: Array
    B: Array
    C: Array
    D: Array


def signals(robot: Robot, inputs: Sequence[str], outputs: Sequence[str]) -> tuple[list[str], list[str]]:
    """Names of inputs from joint ``torques`` and the endpoint ``force``, of outputs from ``joints``, ``endpoint``,
    ``gauges``.

    Gauges are those of the file's ``statics``; their output is the curvature kappa_z = v''. Raises UsageError where
    there are none.
    """
    enter = {
        "torques": [f"torque.{joint.name}" for joint in robot.joints],
        "force": [f"force.{axis}" for axis in "xyz"],
    }
    joints = [robot.coordinates[place] for place in _measured(robot)]
    leave = {"joints": joints, "endpoint": [f"endpoint.{axis}" for axis in "xyz"]}
    if "gauges" in outputs:
        leave["gauges"] = [f"curvature.{gauge.name}" for gauge in _gauges(robot)]
    return (
        [name for word, names in enter.items() if word in inputs for name in names],
        [name for word, names in leave.items() if word in outputs for name in names],
    )


def ports(linear: LinearModel, inputs: Sequence[str], outputs: Sequence[str]) -> tuple[SX, SX]:
    """Where these signals enter and leave: E (n x inputs) with forces E u, and P (outputs x n) with outputs P y."""
    robot = linear.robot
    E = {"torques": SX.eye(robot.n)[:, list(robot.rigid)], "force": linear.J_T.T}
    P = {"joints": SX.eye(robot.n)[_measured(robot), :], "endpoint": linear.J_T}
    if "gauges" in outputs:
        P["gauges"] = casadi.vertcat(*(_curvature(robot, gauge) for gauge in _gauges(robot)))
    return (
        casadi.horzcat(SX(robot.n, 0), *(side for word, side in E.items() if word in inputs)),
        casadi.vertcat(SX(0, robot.n), *(side for word, side in P.items() if word in outputs)),
    )


def _measured(robot: Robot) -> list[int]:
    """Places of what sensors in joints see: their angles or ways, and those of motors behind shafts."""
    return sorted({place for joint in robot.joints for place in (joint.index, joint.driven)})


def state_space(M: Array, D: Array, K: Array, E: Array, P: Array) -> StateSpace:
    """State space of M y'' + D y' + K y = E u with outputs P y."""
    B = np.vstack([np.zeros_like(E), np.linalg.solve(M, E)])
    C = np.hstack([P, np.zeros_like(P)])
    return StateSpace(state_matrix(M, D, K), B, C, np.zeros((len(P), E.shape[1])))


@dataclass(frozen=True)
class Margins:
    """How far each mode is from being out of reach, ``array`` (modes x 4), and how many states are not, ``counts``."""

    array: NamedArray
    counts: dict[str, Scalar]


def margins(M: Array, E: Array, P: Array, found: Sequence[Pole]) -> Margins:
    """How well forces E u reach, and outputs P y see, each mode, by Popov, Belevitch and Hautus.

    [L(s), E] loses rank where a left vector y of the pole has y^H E = 0, [L(s); P] where P x = 0. Vectors have
    length one in the metric of M, columns of E and rows of P in that of M^-1; the margin of one input is at most 1.
    Poles that cannot be told apart have the singular values on their common space. A mode is lost where its margin is
    below LOST, or within its error.
    """
    factor = np.asarray(np.linalg.cholesky(M), dtype=float)
    sides = _unit(np.asarray(np.linalg.solve(factor, np.hstack([E, P.T])), dtype=float))
    forces, outputs = sides[:, : E.shape[1]], sides[:, E.shape[1] :]
    reach = _margins(factor, found, [pole.left for pole in found], forces, Refined.left_errors)
    sight = _margins(factor, found, [pole.right for pole in found], outputs, _of_rows)
    table = np.hstack([reach, sight])
    counts: dict[str, Scalar] = {}
    for k, word in enumerate(("controllable", "observable")):
        values, errors = table[:, 2 * k], table[:, 2 * k + 1]
        kept = values > np.maximum(LOST, errors)
        counts[word] = int(sum(pole.count for pole, keeps in zip(found, kept, strict=True) if keeps))
        doubtful = (values + errors > LOST) & (values - errors <= LOST) & (errors > 0)
        if doubtful.any():
            first = int(np.flatnonzero(doubtful)[0])
            words = f"the margin of mode {first + 1}, {values[first]:.2g} +- {errors[first]:.2g}, holds {LOST:g}"
            counts[f"{word}_doubt"] = words
    names = ["controllable", "controllable_error", "observable", "observable_error"]
    return Margins(NamedArray(table, [str(i + 1) for i in range(len(found))], "1", names), counts)


def _of_rows(refined: Refined, places: Sequence[int], sides: Array) -> Array:
    return refined.right_errors(places, sides.T)


def _unit(columns: Array) -> Array:
    sizes = np.sqrt((columns**2).sum(axis=0))
    return np.asarray(columns / np.where(sizes > 0, sizes, 1.0))


def _margins(
    factor: Array,
    found: Sequence[Pole],
    vectors: Sequence[npt.NDArray[np.complex128]],
    sides: Array,
    errors: Callable[[Refined, Sequence[int], Array], Array],
) -> Array:
    """Margins and their errors (m, 2) of vectors against unit columns (n x k), in the metric of a factor of M."""
    by_group: dict[int, list[int]] = {}
    for i, pole in enumerate(found):
        by_group.setdefault(pole.group, []).append(i)
    V = factor.T @ np.array(vectors, dtype=complex).reshape(len(found), len(factor)).T
    lengths = np.sqrt((np.abs(V) ** 2).sum(axis=0))
    V = V / lengths
    table = np.zeros((len(found), 2))
    table[:, 0] = np.sqrt((np.abs(V.conj().T @ sides) ** 2).sum(axis=1))
    moving = [(i, pole.refined, pole.place) for i, pole in enumerate(found) if pole.refined is not None]
    if moving:
        rows, refined, own = zip(*moving, strict=True)
        table[[*rows], 1] = np.sqrt((errors(refined[0], [*own], factor @ sides) ** 2).sum(axis=1)) / lengths[[*rows]]
    for places in by_group.values():
        if len(places) == 1:
            continue
        U, sizes, _ = np.linalg.svd(V[:, places], full_matrices=False)
        rank = int((sizes > INDEPENDENT * sizes[0]).sum())
        values = np.zeros(len(places))
        seen = np.linalg.svd(U[:, :rank].conj().T @ sides, compute_uv=False)
        values[: len(seen)] = seen[:rank]
        # Vectors that a defective pole lacks go with the weakest that it has.
        values[rank:] = values[rank - 1]
        table[places, 0] = values
        table[places, 1] = table[places, 1].max() / sizes[rank - 1]
    return table


def _gauges(robot: Robot) -> Sequence[Gauge]:
    if not robot.file.statics.gauges:
        raise UsageError(Argument("outputs", "gauges"), ": the file has no statics: {gauges: [...]}")
    return robot.file.statics.gauges


def _curvature(robot: Robot, gauge: Gauge) -> SX:
    link, beam, xi = gauge_place(robot, gauge)
    row = SX(1, robot.n)
    row[0, slice(link.modal.start, link.modal.start + beam.v.count)] = beam.row(beam.v, xi, 2)
    return row
