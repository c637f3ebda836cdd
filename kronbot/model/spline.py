"""Shape functions from a table: cubic splines with a continuous curvature, at rest at the clamped root.

In bending the slope at the root is 0. Nothing is known of the other ends, the tip (another link may load it) and the
root of a shaft: there the slope is that of the polynomial through the last rows. Splines that leave their ends free
(not-a-knot) miss this slope by the third power of the distance h of the rows, and it turns all that the tip carries;
so deflections, end slopes and frequencies are right to h^4. Cubics are their own splines.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import casadi
import numpy as np

from kronbot.description import limits
from kronbot.description.mistakes import raise_all
from kronbot.errors import ComputationError, Mistake
from kronbot.floats import Array
from kronbot.model.beam_integrals import gram, rule
from kronbot.model.shape_functions import Shapes, wave_nodes

if TYPE_CHECKING:
    from kronbot.description.shape_tables import ShapeTable

# Rows that say the slope at an end, to h^5.
END_ROWS = 6
# What a shape has beside the shapes before it, as a share of its size: its square is all that a mass matrix sees.
INDEPENDENT = 1e-6
# Waves as short as those of the largest number of modes.
LARGEST_ROOT = math.pi * limits.MODES

# Derivatives that the elastic energy sees.
STRAIN = {"v": 2, "w": 2, "t": 1}


def tabulated(table: ShapeTable, counts: Mapping[str, int]) -> dict[str, Shapes]:
    """Splines through columns of a table by letter; ``counts`` says how many of v, w (bending) and t (torsion).

    Raises DescriptionError for shapes that depend on each other, or that differ by nothing but noise.
    """
    families: dict[str, Shapes] = {}
    mistakes: list[Mistake] = []
    xi = np.array([0.0, *table.x[1:]]) / table.x[-1]
    for letter, count in counts.items():
        names = [f"{letter}{i + 1}" for i in range(count)]
        values = np.array([[0.0, *table.columns[name][1:]] for name in names]).reshape(count, len(xi))
        shapes = spline(xi, values, STRAIN[letter])
        faults = _faults(names, shapes, STRAIN[letter])
        mistakes += [table.mistake(name, fault) for name, fault in faults.items()]
        if not faults:
            # As many Gauss nodes as eigenfunctions need that bend and twist as fast.
            nodes = wave_nodes(np.full(min(count, 1), _highest_root(shapes, STRAIN[letter])))
            families[letter] = replace(shapes, nodes=nodes)
    raise_all(mistakes)
    return families


def spline(xi: Array, values: Array, strain: int) -> Shapes:
    """The splines through ``values`` (m, k) at the ascending ``xi`` (k,) from 0 to 1, k > 2.

    ``strain`` is 2 in bending, where the slope at 0 is 0, and 1 in torsion. Gauss nodes for integrals over the whole
    beam are left to the caller.
    """
    h = np.diff(xi)
    d = np.diff(values) / h
    root = np.zeros(len(values)) if strain == 2 else _end_slopes(xi[:END_ROWS][::-1], values[:, :END_ROWS][:, ::-1])
    s = np.array(slopes(list(h), list(d.T), root, _end_slopes(xi[-END_ROWS:], values[:, -END_ROWS:]))).T
    left, right = s[:, :-1], s[:, 1:]
    pieces = np.stack([values[:, :-1], left, (3 * d - 2 * left - right) / h, (left + right - 2 * d) / h**2])
    return Shapes((0,) * len(values), 1, partial(_evaluate, xi, pieces), xi[1:-1])


def _evaluate(xi: Array, pieces: Array, at: Array, n: int) -> Array:
    """n-th derivatives (m, k) of cubics (4, m, pieces) between ``xi``."""
    piece = np.clip(np.searchsorted(xi, at, side="right") - 1, 0, len(xi) - 2)
    a, b, c, e = pieces[:, :, piece]
    t = at - xi[piece]
    return np.asarray([a + t * (b + t * (c + t * e)), b + t * (2 * c + 3 * t * e), 2 * c + 6 * t * e][n])


def _end_slopes(xi: Array, values: Array) -> Array:
    """Slopes (m,) at the last of the places ``xi`` (k,) of the polynomials through ``values`` (m, k)."""
    weight = 1 / np.prod(xi[:, None] - xi + np.eye(len(xi)), axis=1)  # barycentric
    share = weight[:-1] / weight[-1] / (xi[-1] - xi[:-1])
    return np.asarray((values[:, :-1] - values[:, -1:]) @ share)


def slopes(h: Sequence[Any], d: Sequence[Any], first: Any, last: Any) -> list[Any]:
    """Slopes in the k rows of a cubic spline that make its second derivative continuous: a tridiagonal system.

    ``h`` are the lengths of the k - 1 pieces, ``d`` their secants, the slopes at both ends are known: numbers, arrays
    of them or symbols, which elimination does not tell apart.
    """
    s, ratios = [first], [0.0]
    for (above, below), (left, right) in zip(pairwise(h), pairwise(d), strict=True):
        pivot = 2 * (below + above) - below * ratios[-1]
        s.append((3 * (below * left + above * right) - below * s[-1]) / pivot)
        ratios.append(above / pivot)
    s.append(last)
    for i in reversed(range(1, len(ratios))):
        s[i] = s[i] - ratios[i] * s[i + 1]
    return s


def not_a_knot(times: tuple[float, ...], values: tuple[float, ...]) -> casadi.Function:
    """The C2 cubic spline through rows in time (s) whose first two pieces, and last two, are one cubic.

    Raises ComputationError where rows are so near to each other that rounding leaves no equation of its own to each.
    """
    try:
        return casadi.interpolant("spline", "bspline", [times], values, {"linear_solver": "csparse"})
    except RuntimeError:
        near = int(np.argmin(np.diff(times)))
        rows = f"rows at t = {times[near]!r} s and {times[near + 1]!r} s"
        why = "they are too near to each other beside the others; leave one out"
        raise ComputationError(f"no spline goes through {rows}: {why}") from None


def _faults(names: list[str], shapes: Shapes, strain: int) -> dict[str, str]:
    """Columns that cannot be used, and why."""
    faults = {
        name: f"the shape {name} is a sum of multiples of the shapes before it: leave it out"
        for name, share in zip(names, _independent(shapes), strict=True)
        if share < INDEPENDENT
    }
    if not faults and _highest_root(shapes, strain) > LARGEST_ROOT:
        faults[names[-1]] = f"differences of {names[0]} ... {names[-1]} jump from row to row: write more digits"
    return faults


def _independent(shapes: Shapes) -> Array:
    """Share of each shape (m,) that no sum of multiples of the shapes before it has."""
    xi, weight = rule(shapes)
    values = shapes.values(xi) * np.sqrt(weight)
    triangle = np.linalg.qr((values / np.linalg.norm(values, axis=1)[:, None]).T, mode="r")
    shares = np.zeros(len(shapes))  # none beyond the dimension of the splines
    shares[: len(triangle)] = np.abs(np.diag(triangle))
    return shares


def _highest_root(shapes: Shapes, strain: int) -> float:
    """Root beta of the highest frequency of a beam with these shapes, as an eigenfunction has one; 0 without shapes."""
    L = np.linalg.cholesky(gram(shapes, 0))
    half = np.linalg.solve(L, gram(shapes, strain))
    squares = np.linalg.eigvalsh(np.linalg.solve(L, half.T))
    return math.pow(squares.max(initial=0.0), 0.5 / strain)
