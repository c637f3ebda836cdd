"""The linear model as x' = A x + B u, z = C x + D u, with x = [y; y'] of the coordinates that are not locked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kronbot.compute.arrays import NamedArray, Scalar
from kronbot.floats import Array
from kronbot.mechanics.linear.modal import state_matrix
from kronbot.mechanics.linear.pole import Pole, Refined

# Modes with smaller margins are out of reach, or out of sight.
LOST = 1e-8
# Singular values of unit vectors below this share of the largest are those of vectors that depend on each other.
INDEPENDENT = 1e-7


@dataclass(frozen=True)
class Seen:
    """Outputs z = q y + qd y' + qdd y'' + u (inputs): q, qd, qdd (outputs x n), u (outputs x inputs)."""

    q: Array
    qd: Array
    qdd: Array
    u: Array


@dataclass(frozen=True)
class StateSpace:
    """A (2n x 2n), B (2n x inputs), C (outputs x 2n), D (outputs x inputs)."""

    A: Array
    B: Array
    C: Array
    D: Array


def state_space(M: Array, D: Array, K: Array, E: Array, seen: Seen) -> StateSpace:
    """State space of M y'' + D y' + K y = E u with the outputs that are seen of it."""
    B, by_acceleration = np.linalg.solve(M, E), np.linalg.solve(M.T, seen.qdd.T).T
    C = np.hstack([seen.q - by_acceleration @ K, seen.qd - by_acceleration @ D])
    return StateSpace(state_matrix(M, D, K), np.vstack([np.zeros_like(E), B]), C, seen.u + seen.qdd @ B)


@dataclass(frozen=True)
class Margins:
    """How far each mode is from being out of reach, ``array`` (modes x 4), and how many states are not, ``counts``."""

    array: NamedArray
    counts: dict[str, Scalar]


def margins(M: Array, E: Array, C: Array, found: Sequence[Pole]) -> Margins:
    """How well forces E u reach, and outputs C [y; y'] see, each mode, by Popov, Belevitch and Hautus.

    [L(s), E] loses rank where a left vector y of the pole has y^H E = 0, [L(s); C_0 + s C_1] where (C_0 + s C_1) x = 0.
    Vectors have length one in the metric of M, columns of E and rows of C in that of M^-1, a row of both with
    |C_0| + |s| |C_1|; the margin of one input is at most 1. Poles that cannot be told apart have the singular values on
    their common space. A mode is lost where its margin is below LOST, or within its error.
    """
    factor = np.asarray(np.linalg.cholesky(M), dtype=float)
    forces, *outputs = (
        np.asarray(np.linalg.solve(factor, side), dtype=float) for side in (E, *(part.T for part in np.hsplit(C, 2)))
    )
    reach = _margins(factor, found, [pole.left for pole in found], [forces], Refined.left_errors)
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


def _margins(
    factor: Array,
    found: Sequence[Pole],
    vectors: Sequence[npt.NDArray[np.complex128]],
    sides: Sequence[Array],
    errors: Callable[[Refined, Sequence[int], Array], Array],
) -> Array:
    """Margins and their errors (m, 2) of vectors against columns (n x k), in the metric of a factor of M.

    The columns of a pole s are those of the first side plus s times those of the second, if any, at length one.
    """
    by_group: dict[int, list[int]] = {}
    for i, pole in enumerate(found):
        by_group.setdefault(pole.group, []).append(i)
    V = factor.T @ np.array(vectors, dtype=complex).reshape(len(found), len(factor)).T
    lengths = np.sqrt((np.abs(V) ** 2).sum(axis=0))
    V = V / lengths
    s = np.array([pole.value for pole in found], dtype=complex).reshape(-1, 1)
    powers = [s.conj() ** k for k in range(len(sides))]
    scale = sum(np.abs(power) * np.sqrt((side**2).sum(axis=0)) for power, side in zip(powers, sides, strict=True))
    scale = np.where(scale > 0, scale, 1.0)
    seen = [V.conj().T @ side / scale for side in sides]
    table = np.zeros((len(found), 2))
    whole = sum(power * part for power, part in zip(powers, seen, strict=True))
    table[:, 0] = np.sqrt((np.abs(whole) ** 2).sum(axis=1))
    moving = [(i, pole.refined, pole.place) for i, pole in enumerate(found) if pole.refined is not None]
    if moving:
        rows, refined, own = zip(*moving, strict=True)
        at = [*rows]
        of_vectors = [errors(refined[0], [*own], factor @ side) / lengths[at, None] / scale[at] for side in sides]
        spread = sum(np.abs(power[at]) * part for power, part in zip(powers, of_vectors, strict=True))
        of_poles = np.array([[found[i].error] for i in at]) * np.abs(sum(part[at] for part in seen[1:]))
        table[at, 1] = np.sqrt(((spread + of_poles) ** 2).sum(axis=1))
    for places in by_group.values():
        if len(places) == 1:
            continue
        U, sizes, _ = np.linalg.svd(V[:, places], full_matrices=False)
        rank = int((sizes > INDEPENDENT * sizes[0]).sum())
        values = np.zeros(len(places))
        first = places[0]
        columns = sum(power[first] * side for power, side in zip(powers, sides, strict=True)) / scale[first]
        strengths = np.linalg.svd(U[:, :rank].conj().T @ columns, compute_uv=False)
        values[: len(strengths)] = strengths[:rank]
        # Vectors that a defective pole lacks go with the weakest that it has.
        values[rank:] = values[rank - 1]
        table[places, 0] = values
        table[places, 1] = table[places, 1].max() / sizes[rank - 1]
    return table
