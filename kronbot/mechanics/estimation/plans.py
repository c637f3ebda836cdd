"""The rows that tell most of parameters: D-optimal designs, greedy and then by exchange (Fedorov 1972)."""

from __future__ import annotations

import numpy as np

from kronbot.floats import Array

# What rows begin with that nothing is known before: this share of the information of all candidates, of rounding size.
LITTLE = 1e-9
# An exchange counts that adds more than this to log det; and so many rounds of exchanges, at most.
GAIN, ROUNDS = 1e-9, 50
# Exchanges end where no single one is better: of few candidates (by rows that are wanted) begun with other rows, too.
OTHERS, FEW = 16, 2000


def chosen(blocks: Array, known: Array, count: int) -> list[int]:
    """Places of the ``count`` rows whose information, with what is ``known`` (k, k), has the largest determinant.

    ``blocks`` (N, m, k) are weighted derivatives of rows, zero where nothing would be measured. Of rows that tell as
    much the first is taken.
    """
    k = known.shape[0]
    whole = known + np.einsum("nmi,nmj->ij", blocks, blocks)
    scale = 1 / np.sqrt(np.where(np.diag(whole) > 0, np.diag(whole), 1.0))  # whatever the units are
    J = blocks * scale
    A = known * np.outer(scale, scale) + LITTLE * np.eye(k)
    first: list[int | None] = [None]
    if len(J) * count <= FEW:
        order = np.argsort(-_gains(J, A), kind="stable")
        first += order[np.linspace(0, len(J) - 1, min(len(J), OTHERS)).astype(int)].tolist()
    return max((_exchanged(J, A, count, each) for each in first), key=lambda found: found[1])[0]


def _exchanged(J: Array, A: Array, count: int, first: int | None) -> tuple[list[int], float]:
    """Rows found greedily from a ``first`` one, then by exchange, beside what is known A, and log det of all that."""
    found: list[int] = []
    while len(found) < count:
        gains = _gains(J, A)
        gains[found] = -np.inf
        best = int(gains.argmax()) if found or first is None else first
        found.append(best)
        A = A + J[best].T @ J[best]
    for _ in range(ROUNDS):
        changed = False
        for i, row in enumerate(found):
            without = A - J[row].T @ J[row]
            gains = _gains(J, without)
            own = gains[row]
            gains[found] = -np.inf
            best = int(gains.argmax())
            if gains[best] > own + GAIN:
                found[i], A, changed = best, without + J[best].T @ J[best], True
        if not changed:
            break
    return sorted(found), float(np.linalg.slogdet(A)[1])


def _gains(J: Array, A: Array) -> Array:
    """By row how much it adds to log det A."""
    inner = np.eye(J.shape[1]) + J @ np.linalg.solve(A, J.swapaxes(1, 2))
    return np.asarray(np.linalg.slogdet(inner)[1])
