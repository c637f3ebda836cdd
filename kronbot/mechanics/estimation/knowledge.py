"""What measurements tell of parameters: errors, correlations, what no data can tell apart, which rows stand out.

All of it follows from the Jacobian J (M x k) of the weighted errors where the search has ended. Parameters are brought
to the norm of their columns first, so that ranks are no matter of units.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from kronbot.cached import cached_property
from kronbot.floats import Array, all_finite
from kronbot.records import dataclass

# Singular values of columns of norm 1 below this are those of rounding: equilibria are known to 1e-12 of what turns.
RANK = 1e-9
# Columns of a scaled Jacobian below this share of the largest are rounding: what they are of moves nothing.
UNSEEN = 1e-3 * RANK
# Rows of a Jacobian at a time.
BLOCK = 20_000
# Entries of reduced combinations that are rounding.
NOTHING = 1e-7


@dataclass(frozen=True)
class Combination:
    """A linear combination of parameters, places and what each of them counts."""

    places: tuple[int, ...]
    shares: tuple[float, ...]


@dataclass(frozen=True)
class Ambiguity:
    """Parameters ``places`` of which data tell some ``known`` combinations only, or nothing where there are none."""

    places: tuple[int, ...]
    known: tuple[Combination, ...]


@dataclass(frozen=True)
class Knowledge:
    """What a Jacobian (M, k) of weighted errors, and priors with their deviations (k,), NaN for none, tell.

    ``held`` are places of parameters that lie on bounds: what is said is said of the others. Singular values of columns
    of norm 1 below the share ``accuracy`` of the largest are errors of what was computed, and tell nothing.
    """

    jacobian: Array
    scale: Array
    deviation: Array
    held: frozenset[int] = frozenset()
    accuracy: float = RANK

    @cached_property
    def free(self) -> list[int]:
        """Places of the parameters that are not held."""
        return [i for i in range(len(self.scale)) if i not in self.held]

    @cached_property
    def _scaled(self) -> Array:
        """The scaled Jacobian, of many measurements a triangle (k, k) with the same squares."""
        J = self.jacobian
        return triangle(J) * self.scale if len(J) > len(self.scale) else J * self.scale

    @cached_property
    def singular_values(self) -> Array:
        """Those of the Jacobian by scaled parameters, without priors, the largest first."""
        return np.asarray(np.linalg.svd(all_finite(self._scaled[:, self.free]), compute_uv=False))

    @cached_property
    def _hearing(self) -> Array:
        """(free, free): after the scaled Jacobian it leaves what this tells."""
        return hearing(self._scaled[:, self.free], self.accuracy)

    @cached_property
    def _heard(self) -> Array:
        """What the scaled Jacobian tells (M, free)."""
        return np.asarray(self._scaled[:, self.free] @ self._hearing)

    @cached_property
    def _norms(self) -> Array:
        """Norms of the columns of the scaled Jacobian (free,), 0 where there is nothing but rounding."""
        norms = np.sqrt((self._heard**2).sum(axis=0))
        return np.where(seen(norms), norms, 0.0)

    @cached_property
    def _unseen(self) -> Array:
        """Directions (d, free) of parameters over their scales that leave all errors as they are, orthonormal."""
        norms = self._norms
        told = np.flatnonzero(norms > 0)
        J = self._heard[:, told] / norms[told]
        if len(J) < len(told):
            J = np.concatenate([J, np.zeros((len(told) - len(J), len(told)))])
        _, sizes, V = np.linalg.svd(all_finite(J), full_matrices=False)
        inside = V[sizes <= RANK * max(float(sizes.max(initial=0.0)), 1.0)] / norms[told]
        blind = np.flatnonzero(norms == 0)
        found = np.zeros((len(inside) + len(blind), len(norms)))
        found[: len(inside), told] = inside
        found[range(len(inside), len(found)), blind] = 1.0
        return np.linalg.qr(found.T)[0].T if len(found) else found

    @cached_property
    def rank(self) -> int:
        """How many combinations of the free parameters the data tell."""
        return len(self.free) - len(self._unseen)

    @cached_property
    def ambiguities(self) -> list[Ambiguity]:
        """Groups of parameters that cannot be told apart, each with the combinations that can."""
        unseen = self._unseen
        if not len(unseen):
            return []
        projector = unseen.T @ unseen
        touched = [i for i in range(len(projector)) if projector[i, i] > NOTHING**2]
        groups: list[list[int]] = []
        left = set(touched)
        while left:
            group, waiting = [], [min(left)]
            left.discard(waiting[0])
            while waiting:
                i = waiting.pop()
                group.append(i)
                joined = [j for j in sorted(left) if abs(projector[i, j]) > NOTHING * 1e-2]
                left.difference_update(joined)
                waiting += joined
            groups.append(sorted(group))
        return [self._ambiguity(group, projector) for group in groups]

    def _ambiguity(self, group: list[int], projector: Array) -> Ambiguity:
        """What is known of a group: the rows that vanish on every unseen direction, reduced to few parameters each."""
        sizes, V = np.linalg.eigh(projector[np.ix_(group, group)])
        rows = _reduced(V[:, sizes < 0.5].T)
        scale = self.scale[self.free][group]
        places = [self.free[i] for i in group]
        known = []
        for row in rows:
            shares = row / scale
            shares /= np.sqrt(shares @ shares) * np.sign(shares[np.flatnonzero(shares)[0]])
            entries = np.flatnonzero(np.abs(row) > NOTHING)
            known.append(Combination(tuple(places[i] for i in entries), tuple(shares[entries].tolist())))
        return Ambiguity(tuple(places), tuple(known))

    @cached_property
    def _root(self) -> tuple[Array, npt.NDArray[np.bool_]]:
        """R (r, k) with R^T R the covariance of what data and priors tell, and which parameters these are (k,)."""
        k, free = len(self.scale), self.free
        root, clear = np.zeros((0, k)), np.zeros(k, dtype=bool)
        prior = np.diag(np.nan_to_num(self.scale / self.deviation))[:, free]
        whole = np.concatenate([self._heard, prior, np.zeros((k, len(free)))])
        norms = np.sqrt((whole**2).sum(axis=0))
        told = np.flatnonzero(seen(norms))
        if len(told):
            places = np.array(free)[told]
            _, sizes, V = np.linalg.svd(all_finite(whole[:, told] / norms[told]), full_matrices=False)
            good = sizes > RANK * sizes.max()
            clear[places] = (V[~good] ** 2).sum(axis=0) <= NOTHING**2
            root = np.zeros((int(good.sum()), k))
            root[:, places] = V[good] / sizes[good, None] * (self.scale[places] / norms[told])
        return root, clear

    @cached_property
    def covariance(self) -> Array:
        """(k, k) with priors; NaN for parameters that neither data nor priors tell, and for those held."""
        root, clear = self._root
        return np.asarray(np.where(np.outer(clear, clear), root.T @ root, np.nan))

    def error(self, combination: Combination) -> float:
        """The standard error of a combination that the data tell."""
        along = self._root[0][:, list(combination.places)] @ combination.shares
        return float(np.sqrt(along @ along))

    @cached_property
    def errors(self) -> Array:
        """Standard errors (k,) of the parameters, NaN as in the covariance, whose squares may be beyond all numbers."""
        root, clear = self._root
        largest = np.maximum(np.abs(root).max(axis=0, initial=0.0), np.finfo(float).tiny)
        return np.asarray(np.where(clear, largest * np.sqrt(((root / largest) ** 2).sum(axis=0)), np.nan))

    @cached_property
    def correlations(self) -> Array:
        """Correlations (k, k)."""
        whole = self._root[0] / self.errors
        return np.asarray(whole.T @ whole)

    def leverage(self) -> Array:
        """By measurement (M,) how much of its own error the fit takes away: 1 where a parameter follows it alone."""
        free = np.array(self.free, dtype=int)
        prior = np.diag(np.nan_to_num(self.scale / self.deviation))[free]
        whole = np.concatenate([self._heard, prior[:, free]])
        norms = np.sqrt((whole**2).sum(axis=0))
        told = norms > 0
        _, sizes, V = np.linalg.svd(all_finite(whole[:, told] / norms[told]), full_matrices=False)
        good = sizes > RANK * sizes.max(initial=0.0)
        heard = self.scale[free, None] * self._hearing[:, told]
        U = heard @ (V[good] / norms[told]).T / sizes[good]  # after J[:, free], of which it makes U
        parts = (self.jacobian[rows][:, free] @ U for rows in blocks(len(self.jacobian)))
        found = np.concatenate([np.zeros(0), *((part**2).sum(axis=1) for part in parts)])
        return np.asarray(np.minimum(found, 1.0))


def blocks(count: int) -> Iterator[slice]:
    """Rows of a matrix, a block at a time."""
    return (slice(first, first + BLOCK) for first in range(0, count, BLOCK))


def triangle(J: Array, *beside: Array) -> Array:
    """R (r, k) with R^T R = J^T J of a matrix (M, k) with columns (M,) ``beside`` it, by blocks one after the other."""
    R = np.zeros((0, J.shape[1] + len(beside)))
    for rows in blocks(len(J)):
        block = np.column_stack([J[rows], *(each[rows] for each in beside)])
        R = np.asarray(np.linalg.qr(np.concatenate([R, block]), mode="r"))
    return R


def hearing(J: Array, accuracy: float) -> Array:
    """(k, k): after a scaled Jacobian it leaves what this tells. J (M, k) has as many rows as columns at most.

    Gone are columns of nothing but rounding and, where columns have norm 1, directions whose singular values are below
    the share ``accuracy`` of the largest.
    """
    norms = np.sqrt((J**2).sum(axis=0))
    told = np.flatnonzero(seen(norms) & (norms > 0))
    left = np.zeros((len(norms), len(norms)))
    if len(told):
        norms = norms[told]
        _, sizes, V = np.linalg.svd(all_finite(J[:, told] / norms))
        sizes = np.concatenate([sizes, np.zeros(len(V) - len(sizes))])
        blind = V[sizes <= accuracy * sizes[0]]
        left[np.ix_(told, told)] = np.eye(len(told)) - (blind / norms).T @ (blind * norms)
    return left


def seen(norms: Array, among: Array | None = None) -> npt.NDArray[np.bool_]:
    """Which columns of a scaled Jacobian with these norms (k,) are more than rounding: ``among`` others, or these."""
    return np.asarray(norms > UNSEEN * (norms if among is None else among).max(initial=0.0))


def _reduced(rows: Array) -> Array:
    """The reduced row echelon form of rows, with the largest entries as pivots; what is rounding becomes 0."""
    R = np.array(rows)
    for i in range(len(R)):
        pivot = int(np.abs(R[i]).argmax())
        R[i] /= R[i, pivot]
        for j in range(len(R)):
            if j != i:
                R[j] -= R[j, pivot] * R[i]
    R[np.abs(R) <= NOTHING * np.abs(R).max(axis=1, keepdims=True, initial=0.0)] = 0.0
    return R[np.lexsort([np.argmax(R != 0, axis=1)])] if len(R) else R


def unlikely(factor: float, freedom: float, level: float = 0.01) -> bool:
    """Whether chance makes errors so many times as large as sigma says in less than this share of fits (chi2)."""
    from scipy.special import chdtrc

    return bool(chdtrc(freedom, factor**2 * freedom) < level)


def following(errors: Array, leverages: Array, records: Array, level: float = 1e-3) -> float:
    """The correlation of neighbours among errors (M,) in the order of time, 0 where chance, or the fit, may make it.

    Neighbours are rows that follow each other in one of the ``records`` (M,). Of independent symmetric errors, however
    large each is, products e_i e_i+1 have independent signs, so that their sum is beyond sqrt(2 ln(1/level) sum (e_i
    e_i+1)^2), on each side, in less than this share of fits (Hoeffding). What a fit takes away correlates what it
    leaves: sums of such products change by the sum of the leverages (M,) times the variance at most.
    """
    joined = records[1:] == records[:-1]
    before, after = errors[:-1][joined], errors[1:][joined]
    products = before * after
    total, size = float(products.sum()), float(np.sqrt((before @ before) * (after @ after)))
    chance = np.sqrt(-2 * np.log(level) * (products @ products)) + leverages.sum() * (errors @ errors) / len(errors)
    return total / size if abs(total) > chance else 0.0


def outlying(errors: Array, leverages: Array, rows: npt.NDArray[np.intp], level: float = 0.01) -> list[int]:
    """Rows whose errors, over their own standard deviations, are larger than chance allows one row among all (chi2).

    ``errors`` and ``leverages`` (M,) are those of measurements in units of the noise, each of a row.
    """
    from scipy.special import chdtrc

    squares = errors**2 / np.maximum(1 - leverages, 1e-6)
    names, place = np.unique(rows, return_inverse=True)
    totals, counts = np.bincount(place, squares), np.bincount(place)
    beyond = chdtrc(counts, totals) < level / len(names)
    return [int(name) for name in names[beyond]]
