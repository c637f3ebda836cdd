"""Equilibria found by following them from one that is known, while the load grows: Newton's method that cannot stray.

A step of the load is taken only where the corrections shrink fast from the first one on (the contraction test of
Deuflhard's affine invariant Newton methods) and none of them starts beyond a singular stiffness, from where it would
lead to another branch; otherwise the step is halved. What is returned lies on the path that begins at
the known state and meets no singular stiffness on the way (no equilibrium branches off), or nothing is returned.
"""

from __future__ import annotations

from collections.abc import Callable

import casadi
import numpy as np
import numpy.typing as npt
from casadi import SX

from kronbot.cached import cached_property
from kronbot.compute.trace import Rows, traced
from kronbot.floats import Array
from kronbot.mechanics.multibody.stops import Contacts, one_sided
from kronbot.mechanics.static.tangent import Flags, Index, Tangent, crossed, to_unit
from kronbot.model.robot import Robot
from kronbot.records import dataclass

# (q, share of the load) -> unbalanced forces (m,) and their derivatives by the coordinates that are free (m x m), as
# they are and as those of an energy: the same unless joints have compliances.
Balance = Callable[[Array, float], tuple[Array, Array, Array]]
# The same for some rows of many cases: (which (k,), q (k, n), shares (k,)) -> (k, m) and twice (k, m, m).
Balances = Callable[[Rows, Array, Array], tuple[Array, Array, Array]]

CONTRACTION = 0.5
# Corrections (rad) that end the iteration; rounding alone may keep badly scaled coordinates above the first.
CLOSE, ROUNDING = 1e-12, 1e-8
CORRECTIONS = 12
# One step of the load bends no beam, and turns no joint, by more than this (rad).
REACH = 1.0
# Nor does the whole path: the polynomials of a low order have equilibria further on that no beam has.
FURTHEST = 100.0
# Depths in a stop up to this share of sizes of coordinates are rounding.
EDGE = 1e-14
# A path that needs shorter steps of the load than this has met a point where the stiffness is singular.
SHORTEST = 1e-8


@dataclass(eq=False)  # not frozen: Python writes the traceback into it
class Lost(Exception):
    """The path of equilibria ends: the last share of the load that was reached, and the state there."""

    share: float
    q: Array


@dataclass(frozen=True)
class Ends:
    """Where paths of equilibria end: the states q (N, n), the shares of the load there (N,), and which were lost."""

    q: Array
    shares: Array
    lost: Flags

    def put(self, rows: Rows, ends: Ends) -> None:
        """Other ends in place of those of some rows."""
        self.q[rows], self.shares[rows], self.lost[rows] = ends.q, ends.shares, ends.lost

    def of(self, row: int) -> Array:
        """The equilibrium (n,) of a case. Raises Lost."""
        if self.lost[row]:
            raise Lost(float(self.shares[row]), self.q[row])
        return np.asarray(self.q[row])


def metric(robot: Robot, free: list[int], purpose: str) -> Array:
    """G (m x m) with sqrt(dq^T G dq) the size of a change of the free coordinates as an angle (rad).

    For a beam that is its length times the root mean square of its curvature and twist, whatever the shapes are;
    joints count as they are. Of many robots a stack, one each.
    """

    def whole() -> tuple[dict[str, SX], dict[str, SX]]:
        G = SX.eye(robot.n)
        for link in robot.links:
            if link.beam is not None and link.modes:
                parts = [link.beam.modal_matrix("k", d, d.strain) for d in link.beam.directions]
                G[link.modal, link.modal] = link.beam.length * casadi.diagcat(*parts)
        return {"q": SX.sym("q", robot.n)}, {"G": G}

    def found() -> Array:
        trace = traced(robot, "metric", purpose, whole)
        robots = trace.bound.shape[:-1]
        G = trace.rows(np.zeros((*(robots or (1,)), robot.n)))["G"]
        return G.reshape(*robots, robot.n, robot.n)[..., free, :][..., free]

    return robot.own(("metric", purpose, *free), found)


def touching(robot: Robot, purpose: str) -> Callable[[Rows, Array], Flags] | None:
    """Which stops and tendons hold at rows q (k, n) of some robots (k,): where that changes forces bend.

    None without any.
    """
    if not one_sided(robot):
        return None

    def depths() -> tuple[dict[str, SX], dict[str, SX]]:
        q = SX.sym("q", robot.n)
        return {"q": q}, {"depths": Contacts.of(robot, q, SX(robot.n, 1)).depths}

    trace = traced(robot, "depths of stops", purpose, depths)
    return lambda rows, q: trace.of_some(rows).rows(q)["depths"] > 0


def behind_edges(robot: Robot, purpose: str, rows: Rows, q: Array, free: list[int]) -> Array:
    """The same q (k, n) of some robots (k,), but those exactly at stops, or where tendons become taut, beyond by what
    one can tell: there these hold."""
    if not one_sided(robot):
        return q

    def edges() -> tuple[dict[str, SX], dict[str, SX]]:
        q = SX.sym("q", robot.n)
        contacts = Contacts.of(robot, q, SX(robot.n, 1))
        return {"q": q}, {"depths": contacts.depths, "inward": contacts.inward.T}

    found = traced(robot, "edges of stops", purpose, edges).of_some(rows).rows(q)
    depths, beyond = found["depths"].reshape(len(q), -1), q.copy()
    ways = found["inward"].reshape(len(q), robot.n, -1)[:, free]
    edge = EDGE * (1 + np.abs(q).max(axis=1, initial=0.0))
    for row, contact in zip(*np.nonzero(np.abs(depths) <= edge[:, None]), strict=True):
        way = ways[row, :, contact]
        if way.any():
            beyond[row, free] += way * (2 * edge[row] - depths[row, contact]) / (way @ way)
    return beyond


@dataclass(frozen=True)
class Paths:
    """Equilibria of many cases over a share of the load, each on its own path with its own steps.

    ``balance``, the places in q that are ``free``, and their metric, or that of each case; ``touching`` tells which
    stops hold at rows q (k, n) of some cases (k,). What comes of a case does not depend on the others beside it.
    """

    balance: Balances
    free: list[int]
    metric: Array
    touching: Callable[[Rows, Array], Flags] | None = None

    @cached_property
    def _unit(self) -> Array:
        return to_unit(self.metric)

    def size(self, rows: Rows, changes: Array) -> Array:
        """Sizes (k,) of changes (k, m) of the free coordinates of some rows (k,), rad."""
        with np.errstate(all="ignore"):
            squares = changes[:, None, :] @ _of(self.metric, rows) @ changes[:, :, None]
            return np.asarray(np.sqrt(np.maximum(squares[:, 0, 0], 0.0)))

    def follow(self, rows: Rows, q: Array, share: float, goal: float) -> Ends:
        """The equilibria of some rows (k,) at the share ``goal``, on paths that lead through q (k, n) at ``share``."""
        count = len(q)
        origin, q, shares, steps = q, q.copy(), np.full(count, share), np.full(count, goal - share)
        lost, going = np.zeros(count, dtype=bool), np.arange(count if share != goal else 0)
        index = self.index(rows[going], q, shares)
        while len(going):
            left = goal - shares[going]
            step = np.where(np.abs(steps[going]) <= np.abs(left), steps[going], left)
            tried = np.where(step == left, goal, shares[going] + step)
            now = rows[going]
            found, well = self.correct(now, q[going], tried, index[going])
            well[well] = ~crossed(index[going[well]], self.index(now[well], found[well], tried[well]))
            far = well & (self.size(now, (found - origin[going])[:, self.free]) > FURTHEST)
            short = ~well & (np.abs(step) / 2 < SHORTEST * abs(goal or 1.0))
            lost[going] = far | short
            on = well & ~far
            q[going[on]], shares[going[on]] = found[on], tried[on]
            steps[going] = np.where(well, 2 * step, step / 2)
            going = going[~lost[going] & (shares[going] != goal)]
        return Ends(q, shares, lost)

    def of(self, row: int) -> Path:
        """The path of one case."""

        def balance(q: Array, share: float) -> tuple[Array, Array, Array]:
            F, K, S = self.balance(np.array([row]), q[None], np.array([share]))
            return F[0], K[0], S[0]

        known = self.touching
        held = None if known is None else lambda q: known(np.array([row]), q[None])[0]
        return Path(balance, self.free, _of(self.metric, row), held)

    def index(self, rows: Rows, q: Array, shares: Array) -> Index:
        """What changes on a path where the stiffness is singular."""
        if not len(rows):
            return np.zeros((0, 2), dtype=int)
        return Tangent(self.balance(rows, q, shares)[2], _of(self._unit, rows)).index

    def correct(self, rows: Rows, q: Array, shares: Array, index: Index) -> tuple[Array, Flags]:
        """The equilibria near the rows q (k, n), and to which of them Newton's method contracts at once.

        It does not where a singular stiffness, told by the ``index`` (k, 2), is on the way.
        """
        at, well = q.copy(), np.full(len(q), not self.free)
        going, before = np.arange(len(q) if self.free else 0), np.full(len(q), np.inf)
        held = None if self.touching is None else self.touching(rows, at)
        for _ in range(CORRECTIONS):
            if not len(going):
                break
            now = rows[going]
            if held is not None and self.touching is not None:
                holding = self.touching(now, at[going])
                # Where a stop has come or gone the forces have a bend, and Newton's method begins afresh behind it.
                before[(holding != held[going]).any(axis=1)] = np.inf
                held[going] = holding
            F, K, S = self.balance(now, at[going], shares[going])
            tangent = Tangent(S, _of(self._unit, now)).index
            corrections = solved(K, -F)
            sizes = self.size(now, corrections)
            fine = (tangent[:, 1] >= 0) & ~crossed(index[going], tangent) & (sizes <= REACH)
            stalled = sizes > np.maximum(CONTRACTION * before, CLOSE)
            well[going[fine & stalled & (before < ROUNDING)]] = True
            on = fine & ~stalled
            going, before = going[on], sizes[on]
            at[going[:, None], self.free] += corrections[on]
            close = before <= CLOSE
            well[going[close]] = True
            going, before = going[~close], before[~close]
        return at, well


def _of(matrices: Array, rows: Rows | int) -> Array:
    """Those of some rows (k, m, m), where there is not one for all (m, m)."""
    return matrices if matrices.ndim == 2 else matrices[rows]


def solved(K: Array, F: Array) -> Array:
    """K^-1 F (k, m) for rows of matrices (k, m, m), NaN where one is singular."""
    try:
        return np.asarray(np.linalg.solve(K, F[..., None])[..., 0])
    except np.linalg.LinAlgError:
        if len(K) == 1:
            return np.full_like(F, np.nan)
        return np.concatenate([solved(K[row : row + 1], F[row : row + 1]) for row in range(len(K))])


@dataclass(frozen=True)
class Path:
    """The same of one case: ``balance``, the places in q that are ``free``, and their metric; which stops hold at q."""

    balance: Balance
    free: list[int]
    metric: Array
    touching: Callable[[Array], Flags] | None = None

    def size(self, change: npt.NDArray[np.floating]) -> float:
        """Size of a change (m,) of the free coordinates, rad."""
        return float(self._paths.size(np.zeros(1, dtype=int), np.asarray(change[None], dtype=float))[0])

    def follow(self, q: Array, share: float, goal: float) -> Array:
        """The equilibrium at the share ``goal``, on the path that leads through q (n,) at ``share``.

        Raises Lost where the path ends before.
        """
        return self._paths.follow(np.zeros(1, dtype=int), q[None], share, goal).of(0)

    @property
    def _paths(self) -> Paths:
        def balance(rows: Rows, q: Array, shares: Array) -> tuple[Array, Array, Array]:
            found = [self.balance(at, share) for at, share in zip(q, shares.tolist(), strict=True)]
            m = len(self.free)
            F, K, S = (np.array(each).reshape(len(found), m, *more) for each, more in zip(
                zip(*found, strict=True), ((), (m,), (m,)), strict=True))  # fmt: skip
            return F, K, S

        known = self.touching
        held = None if known is None else lambda rows, q: np.array([known(each) for each in q])
        return Paths(balance, self.free, self.metric, held)
