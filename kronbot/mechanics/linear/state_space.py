"""The linear model as x' = A x + B u, z = C x + D u, with x = [y; y'] of the coordinates that are not locked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kronbot.compute.arrays import Scalar
from kronbot.floats import Array, all_finite, cleared, within
from kronbot.mechanics.linear.blocks import Block
from kronbot.mechanics.linear.deflation import DUST, SecondOrder
from kronbot.mechanics.linear.matrix_polynomial import ROUNDING, Numbers
from kronbot.mechanics.linear.modal import of_first_order
from kronbot.mechanics.linear.pole import Pole
from kronbot.records import dataclass

MARGINS = ("controllable", "controllable_error", "observable", "observable_error")
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

    def without_dust(self, system: SecondOrder, E: Array, seen: Seen, errors: StateSpace) -> StateSpace:
        """The same with 0 in the place of entries that may be their own errors and are nothing beside the largest one,
        or, where M^-1 F is in them, beside the terms whose sums they are."""
        n, size = len(system.M), np.abs(np.linalg.inv(system.M))

        def clear(part: Array, error: Array, terms: Array | float = 0.0) -> Array:
            return cleared(part, error, DUST * np.maximum(np.abs(part).max(initial=0.0), terms))

        A, B = self.A.copy(), self.B.copy()
        of_states, of_inputs = size @ np.abs(np.hstack([system.K, system.D])), size @ np.abs(E)
        A[n:], B[n:] = clear(A[n:], errors.A[n:], of_states), clear(B[n:], errors.B[n:], of_inputs)
        q, qd, qdd, u = (np.abs(part) for part in (seen.q, seen.qd, seen.qdd, seen.u))
        C = clear(self.C, errors.C, np.hstack([q, qd]) + qdd @ of_states)
        return StateSpace(A, B, C, clear(self.D, errors.D, u + qdd @ of_inputs))


def state_space(system: SecondOrder, E: Array, seen: Seen, errors: Seen) -> StateSpace:
    """State space of M y'' + D y' + K y = E u with the outputs that are seen of it, which have ``errors``."""
    M, D, K = system.M, system.D, system.K
    (A, B), C, through = of_first_order(M, D, K, E), np.hstack([seen.q, seen.qd]), seen.u
    if seen.qdd.any():
        W = _by_equations(system, seen.qdd, errors.qdd)
        C, through = C - W @ np.hstack([K, D]), through + W @ E
    return StateSpace(A, B, C, through)


def _by_equations(system: SecondOrder, A: Array, dA: Array) -> Array:
    """W with W M = A, by which outputs A y'' are made of the equations of motion.

    It is whole where that holds within the errors of A and M: the moment about the axis of a joint is the left side of
    the joint's own equation, and there is nothing of the others in it.
    """
    W = np.linalg.solve(system.M.T, A.T).T
    whole = np.rint(W)
    dM = system.dM + len(W.T) * ROUNDING * np.abs(system.M)
    exact = (np.abs(A - whole @ system.M) <= dA + np.abs(whole) @ dM).all(axis=1, keepdims=True)
    return np.asarray(np.where(exact, whole, W))


def errors_of(space: StateSpace, system: SecondOrder, seen: Seen, errors: Seen, E: Array, dE: Array) -> StateSpace:
    """Bounds of the errors of a state space of M y'' + D y' + K y = E u, from those of the entries of M, D, K, of E and
    of what is seen.

    With M X = F the error of X is within |M^-1| (dF + dM |X|), dM with what rounding does in the solution.
    """
    n, inverse = len(system.M), np.linalg.inv(system.M)
    size, dM = np.abs(inverse), system.dM + n * ROUNDING * np.abs(system.M)

    def solved(X: Array, dF: Array) -> Array:
        return np.asarray(size @ (dF + dM @ np.abs(X)))

    A, B = np.zeros_like(space.A), np.zeros_like(space.B)
    A[n:], B[n:] = solved(space.A[n:], np.hstack([system.dK, system.dD])), solved(space.B[n:], dE)
    C, through = np.hstack([errors.q, errors.qd]), errors.u
    if seen.qdd.any():
        W = np.abs(seen.qdd @ inverse)
        dW = (errors.qdd + W @ system.dM + n * ROUNDING * np.abs(seen.qdd)) @ size
        parts = (system.K, system.dK), (system.D, system.dD)
        C = C + np.hstack([W @ dF + dW @ np.abs(F) for F, dF in parts])
        through = through + W @ dE + dW @ np.abs(E)
    return StateSpace(A, B, C, through)


@dataclass(frozen=True)
class Margins:
    """How far each mode is from being out of reach, ``table`` (modes x 4, columns ``MARGINS``), and how many states are
    not, ``counts``."""

    table: Array
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
    inverse, n, widest = np.linalg.inv(factor), len(M), max(E.shape[1], len(C))
    # Forces, and rows of outputs as columns, with no rates and with these; what is not there is zero.
    A, dA = np.zeros((2, 2, 2, n, widest))
    for part, forces, outputs in ((A, E, C), (dA, dE, dC)):
        if forces is not None:
            part[0, 0, :, : E.shape[1]] = forces
        if outputs is not None:
            part[1, :, :, : len(C)] = outputs.reshape(len(C), 2, n).transpose(1, 2, 0)
    A, dA = inverse @ A, np.abs(inverse) @ dA
    told = ((A**2).sum(axis=2) > (dA**2).sum(axis=2))[:, :, None]
    A, dA = A * told, dA * told
    rates = bool(A[1, 1].any())
    table, kept = _margins(factor, found, *((A, dA) if rates else (A[:, :1], dA[:, :1])))
    counts: dict[str, Scalar] = {}
    for word, states, (values, errors) in zip(("controllable", "observable"), kept, table, strict=True):
        counts[word] = states
        doubtful = (values + errors > LOST) & (values - errors <= LOST) & (errors > 0)
        if doubtful.any():
            first = int(np.flatnonzero(doubtful)[0])
            words = f"the margin of mode {first + 1}, {within(values[first], errors[first])}, holds {LOST:g}"
            counts[f"{word}_doubt"] = words
    return Margins(table.reshape(4, -1).T, counts)


def _margins(factor: Array, found: Sequence[Pole], A: Array, dA: Array) -> tuple[Array, list[int]]:
    """Margins and their errors (2, 2, m) of left vectors against forces, and of right ones against outputs, in the
    metric of a factor of M; and how many of all states are not lost.

    Columns A (2, orders, n, k) of a pole s are those of order 0 plus s times those of order 1, if any, at length one;
    ``dA`` are their errors.
    """
    vectors = np.array([[pole.left for pole in found], [pole.right for pole in found]], dtype=complex)
    V = vectors.reshape(2, len(found), len(factor)) @ factor
    lengths = np.sqrt((np.abs(V) ** 2).sum(axis=2))[:, :, None]
    V = V / lengths
    s = np.array([pole.value for pole in found], dtype=complex).reshape(-1, 1)
    sizes, scale = np.abs(s), _lengths(s, A)
    seen = V.conj()[:, None] @ A / scale[:, None]
    spread = _at(sizes, np.abs(V)[:, None] @ dA) / scale
    moving = [(i, pole.refined, pole.place) for i, pole in enumerate(found) if pole.refined is not None]
    if moving:
        rows, (refined, *_), own = zip(*moving, strict=True)
        at, (forces, outputs) = [*rows], factor @ A
        turned = np.array(
            [
                [refined.left_errors([*own], each) for each in forces],
                [refined.right_errors([*own], each.T) for each in outputs],
            ]
        )
        spread[:, at] += _at(sizes[at], turned) / (lengths * scale)[:, at]
        if A.shape[1] > 1:
            spread[:, at] += np.array([[found[i].error] for i in at]) * np.abs(seen[:, 1, at])
    both = (np.abs(_at(s.conj(), seen)) ** 2).sum(axis=2), (spread**2).sum(axis=2)
    table = np.sqrt(np.array(both)).swapaxes(0, 1)
    states = np.array([pole.count for pole in found], dtype=int)
    kept = states * (table[:, 0] > np.maximum(LOST, table[:, 1]))
    for side, left in enumerate((True, False)):
        shared: dict[Block | None, list[int]] = {}
        rates = not left and A.shape[1] > 1
        for i, pole in enumerate(found):
            block = pole.block(rates)
            if block is not None or pole.free:
                shared.setdefault(block, []).append(i)
        for block, places in shared.items():
            if block is None:
                basis = np.linalg.svd(all_finite(V[side, places].real), full_matrices=False)[2]
                values = _singular(basis @ A[side, 0] / scale[side, places[0]])
                error = float(np.linalg.norm(np.abs(basis) @ dA[side, 0] / scale[side, places[0]]))
            else:
                values, error = _of_block(block, factor, A[side], dA[side], left)
            # A pole has the least of its share of the values.
            ends = np.cumsum(states[places])
            all_states = int(ends[-1])
            table[side, 0, places], table[side, 1, places] = values[ends * len(values) // all_states - 1], error
            kept[side, places] = 0
            kept[side, places[0]] = (values > max(LOST, error)).sum() * all_states // len(values)
    values, errors = table[:, 0], table[:, 1]
    noise = np.where((values <= errors) & (errors <= LOST), values, 0.0)  # of what is lost anyway
    return np.stack([values - noise, errors + noise], axis=1), kept.sum(axis=1).tolist()


def _at(s: Numbers, orders: Numbers) -> Numbers:
    """Of order 0 and s times order 1, if any, the sum: orders (2, orders, m or 1, k)."""
    return orders[:, 0] if orders.shape[1] == 1 else orders[:, 0] + s * orders[:, 1]


def _lengths(s: Numbers, A: Array) -> Array:
    """By which the columns A (2, orders, n, k) of poles s (m, 1) are divided (2, m, k)."""
    sizes = np.abs(s)
    scale = _at(sizes, np.sqrt((A**2).sum(axis=2))[:, :, None]) + 0 * sizes
    return np.where(scale > 0, scale, 1.0)


def _singular(A: Numbers) -> Array:
    """Singular values, as many as there are rows."""
    values = np.zeros(len(A))
    found = np.linalg.svd(all_finite(A), compute_uv=False)
    values[: len(found)] = found
    return values


def _of_block(block: Block, factor: Array, A: Array, dA: Array, left: bool) -> tuple[Array, float]:
    """Margins (m,) of eigenvalues that cannot be told apart, and their error: Kalman's test on their common space.

    With an orthonormal basis of the rows Y^H, N Y^H, ... the columns are those of Y^H B, N Y^H B, ...; margins are the
    singular values. Of semisimple eigenvalues N is nothing, and these are angles between spaces.
    """
    rows, N = (block.Y.conj().T, block.N) if left else (block.X.conj().T, block.N.conj().T)
    many, moves = len(N), block.moved if left else block.moved.T
    S, scale = block.centre.conjugate() * np.eye(many) + N, _lengths(np.array([[block.scale]]), A[None])[0]
    met, own = factor @ A / scale, np.abs(rows @ factor) @ dA / scale
    turned = (block.rest[1] if left else block.rest[0].conj().T) @ met
    parts, moved = rows @ met[0], block.spread[left].T @ np.abs(turned[0]) + own[0]
    for each, B, error in zip(met[1:], turned[1:], own[1:], strict=True):
        parts = parts + S @ rows @ each
        moved = moved + np.abs(S) @ (block.spread[left].T @ np.abs(B) + error) + moves @ np.abs(rows @ each)
    basis, reached, errors = [rows @ factor], [parts], [moved]
    for _ in range(1, many):
        errors.append((np.abs(N) @ errors[-1] + moves @ np.abs(reached[-1])) / block.scale)
        basis.append(N @ basis[-1] / block.scale)
        reached.append(N @ reached[-1] / block.scale)
    U, sizes, _ = np.linalg.svd(all_finite(np.hstack(basis)), full_matrices=False)
    values = _singular((U.conj().T @ np.hstack(reached)) / sizes[:, None])
    return values, float(np.linalg.norm(np.hstack(errors)) / sizes[-1])
