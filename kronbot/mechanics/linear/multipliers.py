"""Floquet multipliers with their errors, and what they say about stability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kronbot.errors import ComputationError
from kronbot.floats import Array
from kronbot.mechanics.linear.monodromy import EPS, Monodromy

Complex = npt.NDArray[np.complex128]

# Pieces are multiplied as long as the product grows no further than this.
GROWTH = 1e4
# The motion conserves its skew form to this share where it is undamped; and eigenvectors count as a basis, and the
# form as definite on it, beyond this.
CONSERVED, DEFINITE = 1e-7, 1e-5
LARGEST = 1e300


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
    """Eigenvalues of the monodromy matrix, to first order in the errors of its pieces.

    They are powers of the eigenvalues of the cyclic matrix of a few factors, which keeps the digits of small ones
    beside large ones. Raises ComputationError where one is beyond 1e300.
    """
    from scipy.linalg import eig

    factors, bounds = _factors(product)
    count, size = len(factors), len(product.pieces[0])
    cyclic = np.zeros((count * size, count * size))
    for k, factor in enumerate(factors):
        after = (k + 1) % count
        cyclic[after * size : (after + 1) * size, k * size : (k + 1) * size] = factor
    roots, left, right = eig(cyclic, left=True, right=True)
    roots, left, right = (part[..., _one_of_each(roots, count, size)] for part in (roots, left, right))
    if count * np.log(max(float(np.abs(roots).max(initial=0.0)), 1.0)) > np.log(LARGEST):
        raise ComputationError("deviations grow by more than 1e300 a period: unstable beyond all numbers")
    values = roots**count
    real = np.abs(values.imag) <= 100 * count * EPS * np.abs(values)
    values = np.where(real & (count > 1), values.real, values) + 0.0  # powers of a root that stands for a real one
    parts = [part.reshape(count, size, -1) for part in (left, right)]
    lengths, widths = (np.linalg.norm(part, axis=1) for part in parts)
    # What the perturbed blocks do to a root, |l_(k+1) E_k r_k| over |l . r|.
    moved = (np.roll(lengths, -1, axis=0) * np.array(bounds)[:, None] * widths).sum(axis=0)
    overlap = np.maximum(np.abs((left.conj() * right).sum(axis=0)), EPS)
    errors = count * np.abs(roots) ** (count - 1) * moved / overlap
    word = _word(values, errors, right[:size], product) if size else "stable"
    largest = float(np.abs(values).max()) if size else None
    values = np.concatenate([values, np.ones(product.at_one, dtype=complex)])
    errors = np.concatenate([errors, np.zeros(product.at_one)])
    order = np.lexsort((values.imag, values.real, -np.round(np.abs(values), 9)))
    return Multipliers(values[order], errors[order], product.at_one, word, largest)


def _factors(product: Monodromy) -> tuple[list[Array], list[float]]:
    """The pieces multiplied into as few factors as grow no further than GROWTH, with bounds of their errors."""
    factors, bounds = [], []
    factor, bound = product.pieces[0], product.errors[0]
    for piece, error in zip(product.pieces[1:], product.errors[1:], strict=True):
        size, own = float(np.linalg.norm(factor, 2)), float(np.linalg.norm(piece, 2))
        longer = piece @ factor
        if np.linalg.norm(longer, 2) > GROWTH:
            factors.append(factor)
            bounds.append(bound)
            factor, bound = piece, error
        else:
            factor, bound = longer, own * bound + (error + len(piece) * EPS * own) * size
    factors.append(factor)
    bounds.append(bound)
    # The eigenvalues come with a backward error of their own.
    whole = len(factors) * len(factor) * EPS * max(float(np.linalg.norm(factor, 2)) for factor in factors)
    return factors, [bound + whole for bound in bounds]


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
