"""Integrals of shape functions over a beam, all in xi = x/l and phihat: the powers of l are the caller's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from kronbot.floats import Array, all_finite, ascending
from kronbot.model.eigenfunctions import Eigenfunctions
from kronbot.model.shape_functions import Polynomial, Shapes, gauss

# Integrals over two orthogonal functions come out of the quadrature below this share of their squares: zeros.
ORTHOGONAL = 1e-12
# What is left of a function beside the others is rounding where it is smaller than this share.
INDEPENDENT = 1e-15
# Legendre coefficients below this share of the largest are rounding.
NEGLIGIBLE = 1e-14
# Nodes between two knots: exact for two cubics and a factor of xi.
PIECE_NODES = 4
# And for squares of int int phi'' phi, of degree 6.
FINE_NODES = 7


def rule(shapes: Shapes) -> tuple[Array, Array]:
    """Return nodes on [0, 1] and weights, both (k,), for integrals of products of two shapes and of xi."""
    return composite(np.array([0.0, *shapes.knots, 1.0]), _piece_nodes(shapes))


def fine_rule(*families: Shapes) -> tuple[Array, Array]:
    """Return nodes on [0, 1] and weights, both (k,), for products of four shapes or derivatives as in ``nodes_needed``.

    Between knots, so that it is exact for splines.
    """
    cuts = ascending(np.concatenate([[0.0, 1.0], *(family.knots for family in families)]))
    return composite(cuts, max(FINE_NODES if family.knots.size else family.nodes for family in families))


def integral(shapes: Shapes) -> Array:
    """Return C_i = int_0^1 phi_i dxi, shape (m,)."""
    xi, weight = rule(shapes)
    known = None if shapes.waves is None else shapes.waves.integrals()
    return _with_exact(shapes.values(xi) @ weight, [_moment(row, 0) for row in shapes.rational], known)


def first_moment(shapes: Shapes) -> Array:
    """Return D_i = int_0^1 xi phi_i dxi, shape (m,)."""
    xi, weight = rule(shapes)
    known = None if shapes.waves is None else shapes.waves.first_moments()
    return _with_exact(shapes.values(xi) @ (xi * weight), [_moment(row, 1) for row in shapes.rational], known)


def gram(shapes: Shapes, derivative: int) -> Array:
    """Return the symmetric (m, m) matrix int_0^1 phi_i^(n) phi_j^(n) dxi, n = ``derivative`` in 0, 1, 2.

    n = 0 is the mass matrix m_ij, n = 2 in bending and n = 1 in torsion the stiffness k_ij. Entries that vanish by
    orthogonality come out within rounding of zero, seen against the diagonal; those of polynomials are rational numbers
    rounded once, those of orthogonal eigenfunctions their closed forms. Raises ValueError for another n.
    """
    xi, weight = rule(shapes)
    values = shapes.values(xi, derivative)
    product = (values * weight) @ values.T
    known = _wave_gram(shapes.waves, derivative)
    return _with_exact((product + product.T) / 2, _rational_gram(shapes.rational, derivative), known)


def _with_exact(numbers: Array, first: Sequence[float] | Sequence[Sequence[float]], last: Array | None = None) -> Array:
    """The numbers (m,) or (m, m) of quadrature with those of polynomials, the first, and of waves, the last, exact."""
    block = np.array(first, dtype=float)
    if block.size:
        numbers[tuple(slice(length) for length in block.shape)] = block
    if last is not None and last.size:
        numbers[tuple(slice(-length, None) for length in last.shape)] = last
    return numbers


def _wave_gram(waves: Eigenfunctions | None, derivative: int) -> Array | None:
    """int phi_i^(n) phi_j^(n) dxi of orthogonal eigenfunctions, whose curvatures are orthogonal too; None elsewhere."""
    if waves is None or waves.squares is None or derivative == 1:
        return None
    return np.diag(waves.roots ** (2 * derivative) * waves.squares)


def _moment(row: Polynomial, power: int) -> float:
    """int_0^1 xi^power p dxi of a polynomial by its ascending coefficients."""
    return float(sum(c / (k + power + 1) for k, c in enumerate(row)))


@lru_cache(maxsize=256)
def _rational_gram(rows: tuple[Polynomial, ...], derivative: int) -> list[list[float]]:
    """int_0^1 p_i^(n) p_j^(n) dxi of polynomials."""
    turned = [
        {k - derivative: c * math.perm(k, derivative) for k, c in enumerate(row) if c and k >= derivative}
        for row in rows
    ]
    return [
        [float(sum(c * d / (k + j + 1) for k, c in p.items() for j, d in q.items())) for q in turned] for p in turned
    ]


def running(a: Shapes, da: int, b: Shapes, db: int, xi: npt.ArrayLike) -> Array:
    """Return int_0^xi a_i^(da) b_j^(db) dt at the points ``xi`` (k,) in [0, 1], any order, as an array (k, m_a, m_b).

    ``da``, ``db``: orders of derivative, 0, 1 or 2. Errors are of rounding size. Raises ValueError for another
    derivative and for points outside of [0, 1].
    """
    points, lengths, back = _panels(xi, a, b)
    area, _ = _panel_integrals(a, da, b, db, points, lengths)
    return np.asarray(np.cumsum(area, axis=0)[back])


def running_twice(a: Shapes, da: int, b: Shapes, db: int, xi: npt.ArrayLike) -> Array:
    """Return int_0^xi int_0^s a_i^(da) b_j^(db) dt ds = int_0^xi (xi - t) a_i^(da) b_j^(db) dt; else as ``running``."""
    points, lengths, back = _panels(xi, a, b)
    area, moment = _panel_integrals(a, da, b, db, points, lengths)
    before = np.cumsum(area, axis=0) - area
    return np.asarray(np.cumsum(moment + lengths[:, None, None] * before, axis=0)[back])


@lru_cache(maxsize=4096)
def running_to(a: Shapes, da: int, b: Shapes, db: int, xi: float, *, twice: bool = False) -> Array:
    """The same (m_a, m_b) to one point, read-only: beams of equal shapes, and robots, have it in common."""
    found: Array = (running_twice if twice else running)(a, da, b, db, [xi])[0]
    found.setflags(write=False)
    return found


def expansion(shapes: Shapes, derivative: int, start: float, end: float, degree: int) -> Array:
    """Return the Legendre coefficients (degree + 1, m) of phi_i^(n) on [start, end], zero where they are rounding.

    Raises ValueError for a derivative other than 0, 1 and 2.
    """
    from numpy.polynomial import legendre  # here, since robots that are known do without

    inside = shapes.knots[(shapes.knots > start) & (shapes.knots < end)]
    xi, weight = composite(np.array([start, *inside, end]), max(_piece_nodes(shapes), degree + 1))
    across = legendre.legvander(2 * (xi - start) / (end - start) - 1, degree) * (2 * np.arange(degree + 1) + 1)
    found = (across.T * weight) @ shapes.values(xi, derivative).T / (end - start)
    return np.where(np.abs(found) < NEGLIGIBLE * np.abs(found).max(axis=0, initial=0.0), 0.0, found)


def composite(cuts: Array, n: int) -> tuple[Array, Array]:
    """n Gauss nodes and weights between each two neighbours of the ascending ``cuts``."""
    xi, weight = gauss(n)
    lengths = np.diff(cuts)[:, None]
    return (cuts[:-1, None] + lengths * xi).ravel(), (lengths * weight).ravel()


def _piece_nodes(*families: Shapes) -> int:
    """Nodes for products of two shapes on a piece without knots."""
    return max(PIECE_NODES if family.knots.size else family.nodes for family in families)


def _panels(xi: npt.ArrayLike, a: Shapes, b: Shapes) -> tuple[Array, Array, npt.NDArray[np.intp]]:
    """Starts and lengths (k,) of the panels from 0 through the sorted points and knots; the panel each point ends."""
    points = np.atleast_1d(np.asarray(xi, dtype=float))
    if points.size and not (points.min() >= 0 and points.max() <= 1):
        raise ValueError("points along a beam must lie in [0, 1]")
    knots = np.concatenate([a.knots, b.knots])
    last = points.max(initial=0.0)
    ends, back = np.unique(np.concatenate([points, knots[knots < last]]), return_inverse=True)
    starts = np.concatenate([[0.0], ends])[:-1]
    return starts, ends - starts, back[: points.size]


def _panel_integrals(a: Shapes, da: int, b: Shapes, db: int, starts: Array, lengths: Array) -> tuple[Array, Array]:
    """Integrals over each panel of a_i b_j and of (end - t) a_i b_j, both (k, m_a, m_b)."""
    xi, weight = gauss(_piece_nodes(a, b))
    t = starts[:, None] + lengths[:, None] * xi
    left = a.values(t.ravel(), da).reshape(len(a), *t.shape)
    right = b.values(t.ravel(), db).reshape(len(b), *t.shape)
    w = lengths[:, None] * weight
    arm = lengths[:, None] * (1 - xi)
    weighed, right = (left * w).swapaxes(0, 1), right.transpose(1, 2, 0)
    return weighed @ right, (weighed * arm[:, None]) @ right


def cleaned(products: Array, *squares: Array) -> Array:
    """Return integrals of products of two functions, exactly zero where these are orthogonal.

    ``squares``: the integrals of the squares of the functions of rows and columns, by default the diagonal.
    """
    rows, columns = squares or (np.diag(products),) * 2
    return np.where(np.abs(products) < ORTHOGONAL * np.sqrt(np.outer(rows, columns)), 0.0, products)


def orthonormal(families: Sequence[Array], weights: Array) -> tuple[Array, list[Array]]:
    """Return functions that are orthonormal under the weights (k,), and the shares of them in each of the families.

    A family (k, m_a, m_b) holds the values of m_a m_b functions at k nodes. With r functions, as many as rounding
    leaves independent, it is their values (k, r) times its shares (r, m_a, m_b).
    """
    flat = [family.reshape(len(weights), -1) for family in families]
    stacked = np.hstack(flat) * np.sqrt(weights)[:, None]
    size = np.linalg.norm(stacked, axis=0)
    size[size == 0] = 1.0
    # By their sizes: small functions keep their digits.
    left, scale, right = np.linalg.svd(all_finite(stacked / size), full_matrices=False)
    rank = int(np.count_nonzero(scale > INDEPENDENT * scale.max(initial=0.0)))
    ends = np.cumsum([part.shape[1] for part in flat])[:-1]
    shares = np.split(scale[:rank, None] * right[:rank] * size, ends, axis=1)
    basis = left[:, :rank] / np.sqrt(weights)[:, None]
    return basis, [part.reshape(rank, *family.shape[1:]) for part, family in zip(shares, families, strict=True)]
