"""Equilibria found by following them from one that is known, while the load grows: Newton's method that cannot stray.

A step of the load is taken only where the corrections shrink fast from the first one on (the contraction test of
Deuflhard's affine invariant Newton methods) and none of them starts beyond a singular stiffness, from where it would
lead to another branch; otherwise the step is halved. What is returned lies on the path that begins at
the known state and meets no singular stiffness on the way (no equilibrium branches off), or nothing is returned.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import casadi
import numpy as np
import numpy.typing as npt
from casadi import SX

from kronbot.compute.trace import traced
from kronbot.mechanics.static.tangent import Index, Tangent, crossed
from kronbot.model.robot import Robot

Array = npt.NDArray[np.float64]
# (q, share of the load) -> unbalanced forces (m,) and their derivatives by the coordinates that are free (m x m).
Balance = Callable[[Array, float], tuple[Array, Array]]

CONTRACTION = 0.5
# Corrections (rad) that end the iteration; rounding alone may keep badly scaled coordinates above the first.
CLOSE, ROUNDING = 1e-12, 1e-8
CORRECTIONS = 12
# One step of the load bends no beam, and turns no joint, by more than this (rad).
REACH = 1.0
# Nor does the whole path: the polynomials of a low order have equilibria further on that no beam has.
FURTHEST = 100.0
# A path that needs shorter steps of the load than this has met a point where the stiffness is singular.
SHORTEST = 1e-8


@dataclass(eq=False)  # not frozen: Python writes the traceback into it
class Lost(Exception):
    """The path of equilibria ends: the last share of the load that was reached, and the state there."""

    share: float
    q: Array


def metric(robot: Robot, free: list[int], purpose: str) -> Array:
    """G (m x m) with sqrt(dq^T G dq) the size of a change of the free coordinates as an angle (rad).

    For a beam that is its length times the root mean square of its curvature and twist, whatever the shapes are;
    joints count as they are.
    """

    def whole() -> tuple[dict[str, SX], dict[str, SX]]:
        G = SX.eye(robot.n)
        for link in robot.links:
            if link.beam is not None and link.modes:
                parts = [link.beam.modal_matrix("k", d, d.strain) for d in link.beam.directions]
                G[link.modal, link.modal] = link.beam.length * casadi.diagcat(*parts)
        return {"q": SX.sym("q", robot.n)}, {"G": G}

    values = traced(robot, "metric", purpose, whole)(np.zeros(robot.n))
    return values["G"].reshape(robot.n, robot.n)[np.ix_(free, free)]


@dataclass(frozen=True)
class Path:
    """Equilibria over a share of the load: ``balance``, the places in q that are ``free``, and their metric."""

    balance: Balance
    free: list[int]
    metric: Array

    def size(self, change: npt.NDArray[np.floating]) -> float:
        """Size of a change of the free coordinates, rad."""
        return float(np.sqrt(np.maximum(change @ self.metric @ change, 0.0)))

    def follow(self, q: Array, share: float, goal: float) -> Array:
        """The equilibrium at the share ``goal``, on the path that leads through q (n,) at ``share``.

        Raises Lost where the path ends before.
        """
        step, index, origin = goal - share, self._index(q, share), q
        while share != goal:
            step = min(step, goal - share, key=abs)
            found = self.correct(q, share + step, index)
            if found is None or crossed(index, self._index(found, share + step)):
                step /= 2
                if abs(step) < SHORTEST * abs(goal or 1.0):
                    raise Lost(share, q)
                continue
            if self.size((found - origin)[self.free]) > FURTHEST:
                raise Lost(share, q)
            share = goal if step == goal - share else share + step
            q, step = found, 2 * step
        return q

    def _index(self, q: Array, share: float) -> Index:
        """What changes on a path where the stiffness is singular."""
        return Tangent(self.balance(q, share)[1], self.metric).index

    def correct(self, q: Array, share: float, index: Index) -> Array | None:
        """The equilibrium near q (n,), or None where Newton's method does not contract to it at once.

        None also where a singular stiffness, told by its ``index``, is on the way to it.
        """
        if not self.free:
            return q
        before, at = np.inf, q
        for _ in range(CORRECTIONS):
            F, K = self.balance(at, share)
            if not (np.isfinite(F).all() and np.isfinite(K).all()):
                return None
            if crossed(index, Tangent(K, self.metric).index):
                return None
            try:
                correction = np.linalg.solve(K, -F)
            except np.linalg.LinAlgError:
                return None
            size = self.size(correction)
            if not np.isfinite(size) or size > REACH:
                return None
            if size > max(CONTRACTION * before, CLOSE):
                return at if before < ROUNDING else None
            at = at.copy()
            at[self.free] += correction
            if size <= CLOSE:
                return at
            before = size
        return None
