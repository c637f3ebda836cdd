"""The linear model as x' = A x + B u, z = C x + D u, with x = [y; y'] of the coordinates that are not locked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kronbot.compute.arrays import NamedArray, Scalar
from kronbot.floats import Array, within
from kronbot.mechanics.linear.blocks import Block
from kronbot.mechanics.linear.deflation import SecondOrder
from kronbot.mechanics.linear.matrix_polynomial import ROUNDING, Numbers
from kronbot.mechanics.linear.modal import of_first_order
from kronbot.mechanics.linear.pole import Pole
from kronbot.records import dataclass

# Modes with smaller margins are out of reach, or out of sight.
LOST = 1e-8


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
    (A, B), C, through = of_first_order(M, D, K, E), np.hstack([seen.q, seen.qd]), seen.u
    if seen.qdd.any():
        by_acceleration = np.linalg.solve(M.T, seen.qdd.T).T
        C, through = C - by_acceleration @ np.hstack([K, D]), through + seen.qdd @ B[len(M) :]
    return StateSpace(A, B, C, through)


def seen_errors(system: SecondOrder, seen: Seen, errors: Seen) -> Array:
    """Bounds of the errors of C (outputs x 2n), from those of what is seen and of the entries of M, D, K."""
    if not seen.qdd.any():
        return np.hstack([errors.q, errors.qd])
    inverse = np.linalg.inv(system.M)
    W, size = np.abs(seen.qdd @ inverse), np.abs(inverse)
    dW = (errors.qdd + W @ system.dM + len(inverse) * ROUNDING * np.abs(seen.qdd)) @ size
    parts = ((errors.q, system.K, system.dK), (errors.qd, system.D, system.dD))
    return np.hstack([own + W @ dA + dW @ np.abs(A) for own, A, dA in parts])


@dataclass(frozen=True)
class Margins:
    """How far each mode is from being out of reach, ``array`` (modes x 4), and how many states are not, ``counts``."""

    array: NamedArray
    counts: dict[str, Scalar]


def margins(
    M: Array, E: Array, C: Array, found: Sequence[Pole], dE: Array | None = None, dC: Array | None = None
) -> Margins:
    """How well forces E u reach, and outputs C [y; y'] see, each mode, by Popov, Belevitch and Hautus.

    [L(s), E] loses rank where a left vector y of the pole has y^H E = 0, [L(s); C_0 + s C_1] where (C_0 + s C_1) x = 0.
    Vectors have length one in the metric of M, columns of E and rows of C in that of M^-1, a row of both with
    |C_0| + |s| |C_1|; the margin of one input is at most 1. Poles that cannot be told apart have the singular values on
    their common space, generalized vectors among them. A mode is lost where its margin is below LOST, or within its
    error. Entries of E and C have errors ``dE`` and ``dC``; forces and outputs that are no more than these are none.
    """
    factor = np.asarray(np.linalg.cholesky(M), dtype=float)
    inverse = np.linalg.inv(factor)
    pairs = [(E, np.zeros_like(E) if dE is None else dE)]
    both, halves = (C, np.zeros_like(C) if dC is None else dC), (slice(0, len(M)), slice(len(M), None))
    pairs += [(both[0][:, half].T, both[1][:, half].T) for half in halves]
    forces, *outputs = (_told(inverse @ A, np.abs(inverse) @ dA) for A, dA in pairs)
    if not any(part.any() for part in outputs[1]):
        del outputs[1]
    counts: dict[str, Scalar] = {}
    columns = []
    for word, left, sides in (("controllable", True, [forces]), ("observable", False, outputs)):
        table, counts[word] = _margins(factor, found, sides, left)
        values, errors = table.T
        doubtful = (values + errors > LOST) & (values - errors <= LOST) & (errors > 0)
        if doubtful.any():
            first = int(np.flatnonzero(doubtful)[0])
            words = f"the margin of mode {first + 1}, {within(values[first], errors[first])}, holds {LOST:g}"
            counts[f"{word}_doubt"] = words
        columns.append(table)
    names = ["controllable", "controllable_error", "observable", "observable_error"]
    numbers = [str(i + 1) for i in range(len(found))]
    return Margins(NamedArray(np.hstack(columns), numbers, "1", names), counts)


def _told(side: Array, error: Array) -> tuple[Array, Array]:
    """Columns with their errors, nothing where they cannot be told from it."""
    told = (side**2).sum(axis=0) > (error**2).sum(axis=0)
    return side * told, error * told


def _margins(
    factor: Array, found: Sequence[Pole], known: Sequence[tuple[Array, Array]], left: bool
) -> tuple[Array, int]:
    """Margins and their errors (m, 2) of left or right vectors against columns (n x k), in the metric of a factor of M;
    and how many of all states are not lost.

    The columns of a pole s are those of the first side plus s times those of the second, if any, at length one; sides
    are ``known`` with errors.
    """
    sides = [side for side, _ in known]
    vectors = np.array([pole.left if left else pole.right for pole in found], dtype=complex)
    V = factor.T @ vectors.reshape(len(found), len(factor)).T
    lengths = np.sqrt((np.abs(V) ** 2).sum(axis=0))
    V = V / lengths
    s = np.array([pole.value for pole in found], dtype=complex).reshape(-1, 1)
    sizes, scale = np.abs(s), _lengths(s, sides)
    seen = [V.conj().T @ side / scale for side in sides]
    spread = _at(sizes, [np.abs(V.T) @ error / scale for _, error in known])
    moving = [(i, pole.refined, pole.place) for i, pole in enumerate(found) if pole.refined is not None]
    if moving:
        rows, (refined, *_), own = zip(*moving, strict=True)
        at, met = [*rows], [factor @ side for side in sides]
        turned = [refined.left_errors([*own], A) if left else refined.right_errors([*own], A.T) for A in met]
        spread[at] += _at(sizes[at], turned) / (lengths[at, None] * scale[at])
        if len(seen) > 1:
            spread[at] += np.array([[found[i].error] for i in at]) * np.abs(seen[1][at])
    table = np.sqrt(np.array([(np.abs(part) ** 2).sum(axis=1) for part in (_at(s.conj(), seen), spread)]).T)
    states = np.array([pole.count for pole in found], dtype=int)
    kept = states * (table[:, 0] > np.maximum(LOST, table[:, 1]))
    rates, shared = any(side.any() for side in sides[1:]), dict[Block | None, list[int]]()
    for i, pole in enumerate(found):
        block = pole.block(rates)
        if block is not None or pole.free:
            shared.setdefault(block, []).append(i)
    for block, places in shared.items():
        if block is None:
            basis = np.linalg.svd(V[:, places].real, full_matrices=False)[0].T
            values = _singular(basis @ sides[0] / scale[places[0]])
            error = float(np.linalg.norm(np.abs(basis) @ known[0][1] / scale[places[0]]))
        else:
            values, error = _of_block(block, factor, known, left)
        # A pole has the least of its share of the values.
        ends, all_states = np.cumsum(states[places]), int(states[places].sum())
        table[places, 0], table[places, 1] = values[ends * len(values) // all_states - 1], error
        kept[places] = 0
        kept[places[0]] = (values > max(LOST, error)).sum() * all_states // len(values)
    return table, int(kept.sum())


def _at(s: Numbers, sides: Sequence[Numbers]) -> Numbers:
    """Of a first side and s times a second one, if any, the sum."""
    return sides[0] if len(sides) == 1 else sides[0] + s * sides[1]


def _lengths(s: Numbers, sides: Sequence[Array]) -> Array:
    """By which the columns of poles s (m, 1) are divided."""
    sizes = np.abs(s)
    scale = _at(sizes, [np.sqrt((side**2).sum(axis=0)) for side in sides]) + 0 * sizes
    return np.where(scale > 0, scale, 1.0)


def _singular(A: Numbers) -> Array:
    """Singular values, as many as there are rows."""
    values = np.zeros(len(A))
    found = np.linalg.svd(A, compute_uv=False)
    values[: len(found)] = found
    return values


def _of_block(block: Block, factor: Array, known: Sequence[tuple[Array, Array]], left: bool) -> tuple[Array, float]:
    """Margins (m,) of eigenvalues that cannot be told apart, and their error: Kalman's test on their common space.

    With an orthonormal basis of the rows Y^H, N Y^H, ... the columns are those of Y^H B, N Y^H B, ...; margins are the
    singular values. Of semisimple eigenvalues N is nothing, and these are angles between spaces.
    """
    rows, N = (block.Y.conj().T, block.N) if left else (block.X.conj().T, block.N.conj().T)
    many, moves = len(N), block.moved if left else block.moved.T
    sides = [side for side, _ in known]
    S, scale = block.centre.conjugate() * np.eye(many) + N, _lengths(np.array([[block.scale]]), sides)[0]
    met, size = [factor @ side / scale for side in sides], np.abs(rows @ factor)
    own = [size @ error / scale for _, error in known]
    turned = [block.rest[1] @ A if left else block.rest[0].conj().T @ A for A in met]
    parts, moved = rows @ met[0], block.spread[left].T @ np.abs(turned[0]) + own[0]
    for A, B, error in zip(met[1:], turned[1:], own[1:], strict=True):
        parts = parts + S @ rows @ A
        moved = moved + np.abs(S) @ (block.spread[left].T @ np.abs(B) + error) + moves @ np.abs(rows @ A)
    basis, reached, errors = [rows @ factor], [parts], [moved]
    for _ in range(1, many):
        errors.append((np.abs(N) @ errors[-1] + moves @ np.abs(reached[-1])) / block.scale)
        basis.append(N @ basis[-1] / block.scale)
        reached.append(N @ reached[-1] / block.scale)
    U, sizes, _ = np.linalg.svd(np.hstack(basis), full_matrices=False)
    values = _singular((U.conj().T @ np.hstack(reached)) / sizes[:, None])
    return values, float(np.linalg.norm(np.hstack(errors)) / sizes[-1])
