"""Floquet multipliers with their errors, and what they say about stability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate, pairwise

import numpy as np
import numpy.typing as npt

from kronbot.errors import ComputationError
from kronbot.floats import Array
from kronbot.mechanics.linear.monodromy import EPS, Monodromy

Complex = npt.NDArray[np.complex128]

# Pieces are multiplied as long as the product grows no further than this.
GROWTH = 100.0
# The motion conserves its skew form to this share where it is undamped; and eigenvectors count as a basis, and the
# form as definite on it, beyond this.
CONSERVED, DEFINITE = 1e-7, 1e-5
LARGEST, TINY = 1e300, 1e-300


@dataclass(frozen=True)
class Multipliers:
    """The multipliers (m,), largest first, with bounds of their errors; ``word`` says what they mean for stability.

    Those at +1 of cyclic coordinates are among them, ``at_one`` in number and without an error, and do not count.
    """

    values: Complex
    errors: Array
    at_one: int
    word: str
    largest: float | None


def multipliers(product: Monodromy) -> Multipliers:
    """Eigenvalues of the monodromy matrix, with errors to first order in those of its pieces.

    They are powers of the eigenvalues of the cyclic matrix of a few factors, which keeps the digits of small ones
    beside large ones. Each has an error of its own, by its left and right vectors. Raises ComputationError where one is
    beyond 1e300.
    """
    from scipy.linalg import eig

    size, known = len(product.pieces[0]), product.at_one
    if not size:  # every deviation stays as it is, or grows like t
        return Multipliers(np.ones(known, dtype=complex), np.zeros(known), known, "stable", None)
    ends = _ends(product.pieces)
    count = len(ends) - 1
    cyclic = np.zeros((count * size, count * size))
    for k, (start, end) in enumerate(pairwise(ends)):
        after = (k + 1) % count
        within = reduce(lambda before, piece: piece @ before, product.pieces[start:end])
        cyclic[after * size : (after + 1) * size, k * size : (k + 1) * size] = within
    roots, left, right = eig(cyclic, left=True, right=True)
    roots, left, right = (part[..., _one_of_each(roots, count, size)] for part in (roots, left, right))
    if count * np.log(max(float(np.abs(roots).max(initial=0.0)), 1.0)) > np.log(LARGEST):
        raise ComputationError("deviations grow by more than 1e300 a period: unstable beyond all numbers")
    left, right = (part.reshape(count, size, -1) for part in (left, right))
    roots, moved = _quotients(product, ends, left, right)
    values, lengths = roots**count, np.maximum(np.abs(roots), TINY)
    errors = lengths**count * np.expm1(count * np.log1p(moved / lengths))
    # Powers of a root that stands for a real one: no other is nearer to its conjugate.
    real = np.abs(values[:, None] - values.conj()).argmin(axis=1) == np.arange(size)
    values = values.real + 1j * np.where(real & (np.abs(values.imag) <= errors), 0.0, values.imag) + 0.0
    word = _word(values, errors, right[0], product)
    largest = float(np.abs(values).max())
    values = np.concatenate([values, np.ones(known, dtype=complex)])
    errors = np.concatenate([errors, np.zeros(known)])
    order = np.lexsort((values.imag, values.real, -np.round(np.abs(values), 9)))
    return Multipliers(values[order], errors[order], known, word, largest)


def _ends(pieces: Sequence[Array]) -> list[int]:
    """Ends of factors, as few as have products that grow no further than GROWTH."""
    ends, product = [0], np.eye(len(pieces[0]))
    for k, piece in enumerate(pieces):
        product = piece @ product
        if k > ends[-1] and np.linalg.norm(product, 2) > GROWTH:
            ends.append(k)
            product = piece
    return [*ends, len(pieces)]


def _quotients(product: Monodromy, ends: Sequence[int], left: Complex, right: Complex) -> tuple[Complex, Array]:
    """Rayleigh quotients (m,), roots of the multipliers, and what the errors of the pieces move them by.

    Vectors (factors, m, m) of the cyclic matrix are carried through the pieces of each factor, right ones on, left ones
    back: what decays within a factor keeps its digits.
    """
    size, met, moved = len(right[0]), np.zeros(right.shape[2], dtype=complex), np.zeros(right.shape[2])
    for k, (start, end) in enumerate(pairwise(ends)):
        pieces, errors = product.pieces[start:end], product.errors[start:end]
        befores = [*accumulate(pieces, lambda x, P: P @ x, initial=right[k])]
        afters = [*accumulate(pieces[:0:-1], lambda y, P: P.T @ y, initial=left[(k + 1) % len(right)])][::-1]
        met += (afters[-1].conj() * befores[-1]).sum(axis=0)
        for P, E, x, y in zip(pieces, errors, befores, afters, strict=False):
            moved += (np.abs(y) * ((E + size * EPS * np.abs(P)) @ np.abs(x))).sum(axis=0)
    own = (left.conj() * right).sum(axis=(0, 1))
    own[np.abs(own) < EPS] = EPS
    return np.asarray(met / own), moved / np.abs(own)


def _one_of_each(roots: Complex, count: int, size: int) -> npt.NDArray[np.intp]:
    """Places of the roots in one of ``count`` equal sectors, with its sides where there are no roots."""
    if count == 1:
        return np.arange(len(roots))
    sector = 2 * np.pi / count
    angles = np.angle(roots)
    spread = np.sort(angles % sector)
    gaps = np.diff(np.append(spread, spread[0] + sector))
    side = spread[int(gaps.argmax())] + gaps.max() / 2
    inside = np.flatnonzero((angles - side) % (2 * np.pi) < sector)
    # Roots at zero have no angle: those that the sector holds too many or too few of are the smallest ones.
    rest = np.setdiff1d(np.arange(len(roots)), inside)
    rest = rest[np.argsort(np.abs(roots[rest]))]
    return np.concatenate([inside[np.argsort(-np.abs(roots[inside]))], rest])[:size]


def _word(values: Complex, errors: Array, vectors: Complex, product: Monodromy) -> str:
    """Whether deviations grow, with every multiplier as uncertain as its error."""
    sizes = np.abs(values)
    if (sizes - errors > 1).any():
        return "unstable"
    near = np.flatnonzero(sizes + errors >= 1)
    if not near.size:
        return "asymptotically stable"
    if not _conservative(product):
        return "undecided: a multiplier is on the unit circle as far as its error tells"
    for group in _groups(values, errors, near):
        if len(group) > 1 and not _definite(vectors[:, group], product.form):
            return "undecided: multipliers meet on the unit circle as far as their errors tell"
    return "stable, undamped"


def _conservative(product: Monodromy) -> bool:
    """Whether the skew form is conserved from the start of the period to its end, piece by piece back from the end."""
    form, scale = product.form, float(np.linalg.norm(product.form, 2))
    total = np.eye(len(form))
    for piece in product.pieces:
        total = piece @ total
    reach = float(np.linalg.norm(total, 2)) ** 2
    return bool(np.linalg.norm(total.T @ form @ total - form, 2) <= CONSERVED * scale * max(1.0, reach))


def _groups(values: Complex, errors: Array, places: npt.NDArray[np.intp]) -> Sequence[list[int]]:
    """Multipliers that may be one, as far as their errors tell."""
    groups: list[list[int]] = []
    for i in places:
        touching = [g for g in groups if any(abs(values[i] - values[j]) <= errors[i] + errors[j] for j in g)]
        groups = [g for g in groups if g not in touching] + [[int(i), *(j for g in touching for j in g)]]
    return groups


def _definite(vectors: Complex, form: Array) -> bool:
    """Krein: multipliers of one signature stay on the circle, and none is defective, however they meet."""
    left, scale, _ = np.linalg.svd(vectors, full_matrices=False)
    if scale[-1] < DEFINITE * scale[0]:
        return False
    energies = np.linalg.eigvalsh(1j * left.conj().T @ form @ left)
    return bool(
        np.abs(energies).min() > DEFINITE * np.linalg.norm(form, 2) and (energies > 0).all() == (energies > 0).any()
    )
