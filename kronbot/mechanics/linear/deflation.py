"""Second-order systems with uncertain entries, and how their poles at zero are taken out exactly.

Directions without stiffness are coordinates whose columns of L(s) = M s^2 + D s + K are multiples of s: divided out,
they leave a polynomial without these poles. Where a momentum is conserved with such a coordinate a row is a multiple
of s, too (Routh's reduction), and so on until nothing is singular at s = 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from kronbot.cached import cached_property
from kronbot.errors import ComputationError
from kronbot.floats import Array, all_finite, cleared
from kronbot.mechanics.linear.blocks import Block
from kronbot.mechanics.linear.matrix_polynomial import ROUNDING, WIDE, Polynomial, balancing, inverse
from kronbot.mechanics.linear.null_spaces import Places, echelon, equilibrium, lasting, null_space
from kronbot.records import dataclass

Complex = npt.NDArray[np.complex128]
TINY = 1e-150
# Below this share of the largest entry an entry may be nothing but its error.
DUST = 1e-14
NOTHING = "no poles: errors of the mass matrix are as large as what it holds; take angles within a turn, and numbers \
of the robot that are nearer to each other"


@dataclass(frozen=True)
class SecondOrder:
    """M y'' + D y' + K y = 0 with bounds of the errors of the entries, n x n each.

    ``free`` (n, r) are directions that K maps to zero, exactly; a column has its own entry 1 where the others have 0.
    ``others`` gives the matrices with other numbers: what is zero there, too, is so by structure, and no accident.
    ``lasting`` says whether K is symmetric with other numbers (None: as those of the others are).
    """

    M: Array
    D: Array
    K: Array
    dM: Array
    dD: Array
    dK: Array
    free: Array
    others: Callable[[], Sequence[SecondOrder]] = tuple
    lasting: Callable[[], bool] | None = None

    @staticmethod
    def exact(M: Array, D: Array, K: Array) -> SecondOrder:
        """Matrices whose entries are right but for their last rounding; coordinates with zero columns in K are free."""
        dM, dD, dK = (ROUNDING * np.abs(A) for A in (M, D, K))
        return SecondOrder(M, D, K, dM, dD, dK, null_space(K, dK))

    @property
    def without_dust(self) -> tuple[Array, ...]:
        """M, D, K, 0 in the place of entries that may be their own errors and are nothing beside the largest one."""
        parts = ((self.M, self.dM), (self.D, self.dD), (self.K, self.dK))
        return tuple(cleared(A, dA, DUST * np.abs(A).max(initial=0.0)) for A, dA in parts)

    @cached_property
    def symmetric(self) -> bool:
        """Whether forces have a potential: K is symmetric within the errors of its entries."""
        return bool((np.abs(self.K - self.K.T) <= 2 * (self.dK + self.dK.T)).all())

    @cached_property
    def potential(self) -> bool:
        """Whether forces have a potential, with other numbers, too."""
        if not self.symmetric or self.lasting is None:
            return self.symmetric and all(each.symmetric for each in self.others())
        return self.lasting()

    @cached_property
    def conservative(self) -> bool:
        """Whether nothing takes energy, or brings it, with other numbers, too."""
        if not self.potential or not self.gyroscopic:
            return False
        return self.undamped or all(each.gyroscopic for each in self.others())

    @cached_property
    def undamped(self) -> bool:
        """Whether nothing depends on velocities: what is zero without errors is zero with other numbers."""
        return not self.D.any() and not self.dD.any()

    @cached_property
    def reciprocal(self) -> bool:
        """Whether L(s) is symmetric: forces have a potential, and D is symmetric within the errors of its entries."""
        return self.symmetric and bool((np.abs(self.D - self.D.T) <= 2 * (self.dD + self.dD.T)).all())

    @cached_property
    def gyroscopic(self) -> bool:
        """Whether velocities take no energy: D is skew within the errors of its entries."""
        return bool((np.abs(self.D + self.D.T) <= 2 * (self.dD + self.dD.T)).all())


def symmetric_part(K: Array, dK: Array) -> tuple[Array, Array]:
    """Stiffness (..., n, n) of forces that have a potential, with errors that hold what it leaves out."""
    other = K.swapaxes(-1, -2)
    return (K + other) / 2, np.maximum(dK, dK.swapaxes(-1, -2)) + np.abs(K - other) / 2


@dataclass(frozen=True)
class Step:
    """Rows of a polynomial are combined, R (n x n) times them, and those that are ``divided`` (n,) by s."""

    R: Array
    divided: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Deflated:
    """Coordinates z, y = T z, in which free directions are coordinates of their own, those at ``free``.

    Each stands for so many poles at zero as ``counts`` say; D leaves those at ``idle`` alone. T is None where it is 1.
    Where K is symmetric, rows and columns of T^T L(s) T at ``free`` are multiples of s, and stay so. Elsewhere they are
    divided out: ``polynomial`` is steps T^T L(s) T diag(1/s at free columns).
    """

    T: Array | None = None
    free: Sequence[int] = ()
    idle: Sequence[int] = ()
    counts: Sequence[int] = ()
    steps: Sequence[Step] = ()
    polynomial: Polynomial | None = None

    @property
    def structure(self) -> tuple[object, ...]:
        """What systems have alike that are solved together."""
        return tuple(self.free), tuple(self.idle), tuple(self.counts)

    @property
    def plain(self) -> bool:
        """Whether vectors are those of the coordinates y."""
        return self.T is None and self.polynomial is None

    def lifts(self, s: Complex, n: int) -> tuple[Complex, Complex]:
        """What takes right and left vectors at s (m,) back to the coordinates y, (m, n, n) each."""
        right, left = (np.tile((np.eye(n) if self.T is None else self.T).astype(complex), (len(s), 1, 1)) for _ in "xy")
        if self.polynomial is not None:
            s = np.where(s == 0, TINY, s)  # where one is at zero, too, its own vector is left
            right[:, :, np.setdiff1d(np.arange(n), self.free)] *= s[:, None, None]
            for step in self.steps:
                left = left @ (step.R.T * np.where(step.divided, 1.0, s.conj()[:, None])[:, None])
        return right, left

    def lifted(self, block: Block) -> Block:
        """A block in the coordinates y."""
        if self.plain:
            return block
        right, left = (each[0] for each in self.lifts(np.array([block.centre]), len(block.X)))
        X, rows, S = block.X.copy(), block.Y.conj().T, block.centre * np.eye(len(block.N)) + block.N
        if self.polynomial is not None:
            others = np.setdiff1d(np.arange(len(X)), self.free)
            X[others] = X[others] @ S
            for step in self.steps[::-1]:
                rows = np.asarray(np.where(step.divided, rows, S @ rows) @ step.R)
        T = (np.eye(len(X)) if self.T is None else self.T).astype(complex)
        rest = right @ block.rest[0], block.rest[1] @ left.conj().T
        return replace(block, X=T @ X, Y=T @ rows.conj().T, rest=rest)


def deflated(system: SecondOrder, degree: int, divided: bool = False) -> Deflated:
    """How poles in s (degree 2) or s^2 (1) are at zero, by the staircase of Van Dooren for the structure there.

    Columns of free coordinates are divided by s, then combinations of rows, as long as what is left is singular at 0;
    where K is symmetric only if they are to be ``divided``, since other poles are there within their errors. Raises
    ComputationError where errors of the entries leave nothing that would ever be regular.
    """
    if not system.free.size:
        return Deflated()
    n, free = len(system.K), np.asarray(system.free.argmax(axis=0))
    mixed = np.count_nonzero(system.free) > free.size
    # Potential, too, is structure here: an accident must not divide a row by s.
    if system.undamped and not mixed and not divided and system.potential:
        return Deflated(None, free.tolist(), (), [1] * len(free))
    every = [system, *system.others()]
    turns: list[Array | None] = [None] * len(every)
    if not system.symmetric or mixed:
        scale = balancing(np.diag(system.M))
        directions, free = echelon(system.free / scale[:, None])
        none = np.zeros((n, 0))
        turns = [_turn(scale, directions, each.free if i else none, free) for i, each in enumerate(every)]
    T, block = turns[0], np.ix_(free, free)
    symmetric = system.potential
    parts = [
        [congruent(A, E, turn) for A, E in ((m.K, m.dK), (m.D, m.dD), (m.M, m.dM))]
        for m, turn in zip(every, turns, strict=True)
    ]
    counts, held, alone, chance = np.zeros(n, dtype=int), free, np.zeros(n, dtype=bool), False
    counts[free] = 1
    if symmetric and degree == 1 and not divided:
        return Deflated(T, free.tolist(), (), counts[free].tolist())
    if symmetric and degree == 2:
        # Coordinates of the free ones in which those that meet no damping stand alone, rows like columns.
        idle = _idle([(D[block].T, dD[block].T) for _, (D, dD), _ in parts])
        whole = np.eye(n)
        whole[block] = _completed(idle)
        if np.count_nonzero(whole) > n:
            T = whole if T is None else T @ whole
            parts = [[congruent(A, E, whole) for A, E in each] for each in parts]
        coupled = parts[0][1][0] != 0
        alone[free] = ~(coupled.any(axis=0) | coupled.any(axis=1))[free]
        counts[alone] = 2
        chance = idle.shape[1] < alone.sum()
        if idle.shape[1] == alone.sum() and not divided:
            return Deflated(T, free.tolist(), np.flatnonzero(alone).tolist(), counts[free].tolist())
        counts[alone] = 1
    for each in parts:
        each[0] = each[0][0].copy(), each[0][1].copy()
        for A in each[0]:
            A[:, free] = 0.0
            if symmetric:
                A[free] = 0.0
    if not symmetric:
        held = echelon(null_space(system.K.T, system.dK.T))[1][: len(free)]
    polynomials, steps = [_divided(each if degree == 2 else each[::2], counts > 0) for each in parts], []
    while len(held) == len(free) > 0:
        step, more = _staircase(polynomials, held, free)
        if not step[0].divided.any():
            break
        if counts.sum() >= degree * n:  # all of its poles are at zero, and still more
            raise ComputationError(NOTHING)
        polynomials = [_stepped(*each) for each in zip(polynomials, step, strict=True)]
        steps.append(step[0])
        counts[more] += 1
    where = free.tolist(), np.flatnonzero(alone & (counts > 1)).tolist(), counts[free].tolist()
    # Damping that is zero by chance has errors, which s D hides at s = 0.
    plain = symmetric and not chance and not divided
    return Deflated(T, *where) if plain else Deflated(T, *where, steps, polynomials[0])


def _turn(scale: Array, directions: Array, own: Array, free: Places) -> Array:
    """Scaled coordinates of which those at ``free`` are a system's ``own`` directions, or these where it has others."""
    if own.shape[1] == len(free):
        V = own / scale[:, None]
        if np.linalg.cond(all_finite(V[free])) < 1 / np.sqrt(ROUNDING):
            directions = V @ np.linalg.inv(V[free])
    T = np.diag(scale)
    T[:, free] = scale[:, None] * directions
    return T


def _completed(directions: Array) -> Array:
    """Directions (r, k) in echelon form in the places of their pivots, unit vectors in the others (r x r)."""
    turn = np.eye(len(directions))
    directions, pivots = echelon(directions)
    turn[:, pivots] = directions
    return turn


def _idle(matrices: Sequence[tuple[Array, Array]]) -> Array:
    """Directions that the first of matrices (r x r), with errors, maps to zero by structure.

    With other numbers as many are zero, though they may be others; where fewer are, only those that are the same.
    """
    directions, others = null_space(*matrices[0]), matrices[1:]
    same = lasting(directions, others)
    count = directions.shape[1]
    changed = same.shape[1] < count and all(null_space(*each).shape[1] >= count for each in others)
    return directions if changed else same


def _staircase(every: Sequence[Polynomial], held: Places, free: Places) -> tuple[list[Step], Places]:
    """Combinations of rows that are zero at s = 0, to be divided by s; and which free columns meet nothing there.

    Each polynomial but the first has other numbers, and a step of its own.
    """
    corners = [_corner(p, held, free) for p in every]
    columns = [(S.T, dS.T) for S, dS, _ in corners]
    chosen = [_idle(columns), *(null_space(*each) for each in columns[1:])]
    n, others, steps = len(every[0].matrices[0]), _rest(len(every[0].matrices[0]), held), []
    for idle, (_, _, X) in zip(chosen, corners, strict=True):
        turned, pivots = echelon(idle)
        places, divided, R = held[pivots], np.zeros(n, dtype=bool), np.eye(n)
        divided[places] = True
        R[np.ix_(places, held)] = turned.T
        R[np.ix_(places, others)] = -turned.T @ X
        steps.append(Step(R, divided))
    return steps, free[echelon(null_space(*corners[0][:2]))[1][: chosen[0].shape[1]]]


def _corner(p: Polynomial, held: Places, free: Places) -> tuple[Array, Array, Array]:
    """What is singular at s = 0, with its errors, and the combinations X of other rows that were taken from it.

    Rows ``held`` are those of forces that no stiffness makes, columns ``free`` those of free directions; the others
    make a regular block A, and what is singular is its Schur complement S.
    """
    G, E, n = p.matrices[0], p.errors[0], len(p.matrices[0])
    others = _rest(n, held), _rest(n, free)
    inner, lower, upper = np.ix_(*others), np.ix_(held, others[1]), np.ix_(others[0], free)
    corner = np.ix_(held, free)
    X = np.zeros((len(held), len(others[0])))
    S, dS = G[corner].copy(), E[corner].copy()
    coupled = (np.abs(G[lower]) > 0).any(axis=1)
    if coupled.any():
        rows, columns = equilibrium(G[inner])
        within = columns[:, None] * inverse((rows[:, None] * G[inner] * columns).astype(complex)[None])[0].real * rows
        if np.abs(np.linalg.eigvals(np.abs(within) @ E[inner])).max() < 0.1:
            X = G[lower] @ within
            for _ in range(2):  # what it leaves of rows is dropped when they are divided by s
                left = G[lower] - X.astype(np.longdouble) @ G[inner]
                X = X + left.astype(float) @ within
            noise = 8 * WIDE * (np.abs(G[lower]) + np.abs(X) @ np.abs(G[inner])) @ np.abs(within)
            X[np.abs(X) <= noise] = 0.0
            S -= X @ G[upper]
            moved = (E[lower] + np.abs(X) @ E[inner]) @ np.abs(within) @ np.abs(G[upper])
            dS += np.abs(X) @ (E[upper] + 4 * ROUNDING * np.abs(G[upper])) + moved
        else:  # as at a buckling load: nothing is known of the rows that it moves
            S[coupled], dS[coupled] = np.eye(*S.shape)[coupled], 0.0
    return S, dS, X


def _rest(n: int, places: Places) -> Places:
    return np.setdiff1d(np.arange(n), places)


def _stepped(p: Polynomial, step: Step) -> Polynomial:
    """The polynomial after a step; errors grow in combined rows only."""
    size, mixed = np.abs(step.R), (np.eye(len(step.R)) != step.R).any(axis=1)[:, None]
    matrices = [step.R @ A for A in p.matrices]
    errors = [size @ E + 4 * ROUNDING * mixed * (size @ np.abs(A)) for A, E in zip(p.matrices, p.errors, strict=True)]
    for parts in (matrices, errors):
        for k, A in enumerate(parts):
            A[step.divided] = parts[k + 1][step.divided] if k + 1 < len(parts) else 0.0
    return Polynomial(matrices, errors)


def _divided(parts: list[tuple[Array, Array]], columns: npt.NDArray[np.bool_]) -> Polynomial:
    """The polynomial of coefficients and errors with columns divided by s."""
    matrices, errors = (_stepped_columns([part[i] for part in parts], columns) for i in (0, 1))
    return Polynomial(matrices, errors)


def _stepped_columns(parts: list[Array], columns: npt.NDArray[np.bool_]) -> list[Array]:
    after = [*parts[1:], np.zeros_like(parts[0])]
    return [np.where(columns, later, A) for A, later in zip(parts, after, strict=True)]


def congruent(A: Array, E: Array, T: Array | None) -> tuple[Array, Array]:
    """T^T A T with its errors; exact where T only scales by powers of two."""
    if T is None:
        return A, E
    size = np.abs(T)
    plain = (np.count_nonzero(T, axis=0) == 1).all() and (np.log2(size[size > 0]) % 1 == 0).all()
    rounding = 0.0 if plain else 4 * ROUNDING
    return T.T @ A @ T, size.T @ (E + rounding * np.abs(A)) @ size
