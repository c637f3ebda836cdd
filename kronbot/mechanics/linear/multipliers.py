"""Floquet multipliers with their errors, and what they say about stability."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from kronbot.errors import ComputationError
from kronbot.floats import Array, all_finite
from kronbot.mechanics.linear.monodromy import EPS, Monodromy
from kronbot.records import dataclass

Complex = npt.NDArray[np.complex128]

# Multipliers are sought together whose sizes are within this; sweeps that part others.
ALIKE, SWEEPS = 100.0, 60
# Of what a piece leaves nothing it leaves so much, that vectors be numbers.
FAINT = 1e-150
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

    Each is a product of Rayleigh quotients, one a piece, and has an error of its own, by its left and right vectors:
    what decays keeps its digits beside what grows. Raises ComputationError where one is beyond 1e300.
    """
    size, known = len(product.pieces[0]), product.at_one
    if not size:  # every deviation stays as it is, or grows like t
        return Multipliers(np.ones(known, dtype=complex), np.zeros(known), known, "stable", None)
    pieces = np.array(product.pieces)
    right, left, missed = _vectors(pieces)
    quotients = np.einsum("kij,kjl,kli->ki", left[1:], pieces, right[:-1])
    wrong = np.array(product.errors) + size * EPS * np.abs(pieces)
    wrong[-1] += np.abs(missed)
    moved = np.einsum("kij,kjl,kli->ki", np.abs(left[1:]), wrong, np.abs(right[:-1]))
    lengths = np.maximum(np.abs(quotients), TINY)
    length = np.log(lengths).sum(axis=0)
    if length.max() > math.log(LARGEST):
        raise ComputationError("deviations grow by more than 1e300 a period: unstable beyond all numbers")
    wider = np.log1p(moved / lengths).sum(axis=0) + EPS * (len(pieces) + np.abs(length))
    values = np.exp(length + 1j * np.angle(quotients).sum(axis=0))
    errors = np.exp(np.minimum(length + wider, math.log(LARGEST))) * -np.expm1(-wider)
    errors = np.maximum(errors, TINY)  # of what is less than any number
    # Those of a real matrix: no other is nearer to the conjugate of a real one.
    other = np.abs(values[:, None] - values.conj()).argmin(axis=1)
    values = np.where(other[other] == np.arange(size), (values + values[other].conj()) / 2, values) + 0.0
    word = _word(values, errors, right[0], product)
    largest = float(np.abs(values).max())
    values = np.concatenate([values, np.ones(known, dtype=complex)])
    errors = np.concatenate([errors, np.zeros(known)])
    order = np.lexsort((values.imag, values.real, -np.round(np.abs(values), 9)))
    return Multipliers(values[order], errors[order], known, word, largest)


def _vectors(pieces: Array) -> tuple[Complex, Complex, Complex]:
    """Right vectors (k + 1, m, m), columns, and left ones, rows, with left right = 1, where the k pieces begin and end.

    They are those of pieces of which the last is off by the third matrix. Columns of the periodic Schur form are taken
    from the end of the period to its start, where what else a vector is made of decays beside it.
    """
    bases, triangles, missed = _schur_form(pieces)
    size = pieces.shape[1]
    own = np.diagonal(triangles, axis1=1, axis2=2)
    ratios = np.triu(own[:, None, :] / own[:, :, None])
    inverses = np.linalg.inv(triangles / own[:, :, None])
    taken = np.repeat(np.eye(size, dtype=complex)[None], size, axis=0)
    for ratio, inverse in zip(ratios[::-1], inverses[::-1], strict=True):
        taken = inverse @ (ratio.T[:, :, None] * taken)
    ends = np.eye(size, dtype=complex)
    for i in range(1, size):
        ends[:i, i] = _fixed(taken[i, :i, :i], taken[i, :i, i])
    columns = [ends]
    for ratio, inverse in zip(ratios[:0:-1], inverses[:0:-1], strict=True):
        columns.append(np.triu(inverse @ (ratio * columns[-1]), 1) + np.eye(size))
    columns = [*columns, ends][::-1]
    lengths = np.linalg.norm(columns, axis=1)
    right = bases @ (columns / lengths[:, None])
    left = lengths[:, :, None] * np.linalg.inv(columns) @ bases.conj().swapaxes(1, 2)
    return right, left, missed


def _fixed(A: Complex, b: Complex) -> Complex:
    """x = A x + b of a triangle A. Where an entry of its diagonal is 1, x is as large as rounding leaves open."""
    x = b.copy()
    for j in reversed(range(len(b))):
        pivot = 1 - A[j, j]
        x[j] /= pivot if abs(pivot) > EPS else EPS
        x[:j] += A[:j, j] * x[j]
    return x


def _schur_form(pieces: Array) -> tuple[Complex, Complex, Complex]:
    """Unitary bases Q (k + 1, m, m), the last the first, and triangles R (k, m, m): P Q_before = Q_after R.

    Third, what the last piece P is off by. Sweeps of orthogonal iteration part multipliers of unlike sizes, Schur
    vectors of their products those of groups that are alike.
    """
    from scipy.linalg import schur

    size = pieces.shape[1]
    start = np.linalg.qr(np.random.default_rng(0).standard_normal((size, size)))[0]
    for _ in range(SWEEPS):
        bases, triangles = _swept(pieces, start)
        closing = start.T @ bases[-1]
        logs = np.log(np.abs(np.diagonal(triangles, axis1=1, axis2=2)))
        groups = _apart(closing)
        if all(np.ptp(logs[:, group].sum(axis=0)) < math.log(ALIKE) for group in groups):
            break
        start = bases[-1]
    start = bases[0].astype(complex)
    for group in groups:
        product = closing[group, group]
        for triangle, scale in zip(triangles[::-1], np.exp(-logs[::-1, group].mean(axis=1)), strict=True):
            product = product @ (scale * triangle[group, group])
        start[:, group] = start[:, group] @ schur(all_finite(product), output="complex")[1]
    bases, triangles = _swept(pieces, start)
    last = start.conj().T @ bases[-1] @ triangles[-1]
    triangles[-1], bases[-1] = np.triu(last), start
    return bases, triangles, start @ np.tril(last, -1) @ bases[-2].conj().T


def _swept(pieces: Array, start: Complex) -> tuple[Complex, Complex]:
    """Bases and triangles from piece to piece."""
    bases, triangles = [start], []
    for piece in pieces:
        after, triangle = np.linalg.qr(piece @ bases[-1])
        places = np.flatnonzero(np.abs(np.diagonal(triangle)) < FAINT)
        triangle[places, places] = FAINT
        bases.append(after)
        triangles.append(triangle)
    return np.array(bases), np.array(triangles)


def _apart(closing: Array) -> list[slice]:
    """Groups of columns that a sweep takes into themselves."""
    size = len(closing)
    ends = [i for i in range(1, size) if np.linalg.norm(closing[i:, :i]) <= 8 * size * EPS]
    return [slice(*each) for each in pairwise([0, *ends, size])]


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
    form, scale = product.form, float(np.linalg.norm(all_finite(product.form), 2))
    total = np.eye(len(form))
    for piece in product.pieces:
        total = piece @ total
    reach = float(np.linalg.norm(all_finite(total), 2)) ** 2
    return bool(np.linalg.norm(all_finite(total.T @ form @ total - form), 2) <= CONSERVED * scale * max(1.0, reach))


def _groups(values: Complex, errors: Array, places: npt.NDArray[np.intp]) -> Sequence[list[int]]:
    """Multipliers that may be one, as far as their errors tell."""
    groups: list[list[int]] = []
    for i in places:
        touching = [g for g in groups if any(abs(values[i] - values[j]) <= errors[i] + errors[j] for j in g)]
        groups = [g for g in groups if g not in touching] + [[int(i), *(j for g in touching for j in g)]]
    return groups


def _definite(vectors: Complex, form: Array) -> bool:
    """Krein: multipliers of one signature stay on the circle, and none is defective, however they meet."""
    left, scale, _ = np.linalg.svd(all_finite(vectors), full_matrices=False)
    if scale[-1] < DEFINITE * scale[0]:
        return False
    energies = np.linalg.eigvalsh(1j * left.conj().T @ form @ left)
    apart = np.abs(energies).min() > DEFINITE * np.linalg.norm(all_finite(form), 2)
    return bool(apart and (energies > 0).all() == (energies > 0).any())
