"""Equilibria of many load cases at once, each found on its own path."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from kronbot.cached import cached_property
from kronbot.compute.trace import Rows, Trace
from kronbot.description import schema
from kronbot.floats import Array
from kronbot.mechanics.static.compliances import Scaling
from kronbot.mechanics.static.equilibrium import Balances, Ends, Paths, behind_edges, metric, solved, touching
from kronbot.mechanics.static.static_model import PURPOSE, StaticModel
from kronbot.mechanics.static.tangent import Flags, Index, Tangent, to_unit
from kronbot.model.robot import Robot
from kronbot.records import dataclass

# Shares of gravity, of elements and of all other loads by the share of a path.
Shares = Callable[[Array], Array]


def whole(shares: Array) -> Array:
    """Gravity, elements and loads (k, 3) that grow together."""
    return np.repeat(shares[:, None], 3, axis=1)


@dataclass(frozen=True)
class Case:
    """One load case: joint angles (joints,), endpoint wrench (6,), and torques by place of the joints set free.

    The angles of joints with a torque are where the search for their equilibrium begins; ``start`` (n,) is how far
    the flexible coordinates then are from where nothing is deformed, zero unless another solution than that of the
    growing load is wanted. ``base`` are the coordinates of a floating base, zeros unless given.
    """

    angles: Array
    wrench: Array
    torques: Mapping[int, float]
    start: Array
    base: Array | float = 0.0


@dataclass(frozen=True)
class Given:
    """Dead loads in every case beside those of the file: (frame, force N and moment N m), (beam, force N/m)."""

    on_frames: Sequence[tuple[str, Sequence[float]]] = ()
    along_beams: Sequence[tuple[str, Sequence[float]]] = ()

    @property
    def numbers(self) -> list[float]:
        """All of them, as :class:`StaticModel` takes them after the wrench on the endpoint."""
        return [number for _, numbers in (*self.on_frames, *self.along_beams) for number in numbers]


@dataclass(frozen=True)
class Cases:
    """Load cases as arrays, with torques on the same joints, which are free as flexible coordinates are.

    What acts (N, loads), where the search begins (N, n) and the same with straight beams; torques (N, free). ``begun``
    are those that begin elsewhere than with straight beams.
    """

    loads: Array
    start: Array
    straight: Array
    torques: Array
    free: list[int]
    begun: Flags

    def __len__(self) -> int:
        return len(self.loads)

    def __getitem__(self, rows: slice | Rows) -> Cases:
        """Some of them."""
        return Cases(free=self.free, **{word: getattr(self, word)[rows] for word in _ARRAYS})

    @staticmethod
    def joined(several: Sequence[Cases]) -> Cases:
        """Those of many robots, one after the other."""
        parts = {word: np.concatenate([getattr(each, word) for each in several]) for word in _ARRAYS}
        return Cases(free=several[0].free, **parts)


_ARRAYS = ("loads", "start", "straight", "torques", "begun")


@dataclass(frozen=True)
class Equilibria:
    """The static model of a robot at one order with its numbers, able to find equilibria.

    Cases that are asked for together have torques on the same joints. Where the robot is many, as
    :func:`kronbot.model.build.together` has them, there is a case for each. What comes of one does not depend on the
    others.
    """

    robot: Robot
    statics: schema.Statics
    given: Given = Given()

    @cached_property
    def model(self) -> StaticModel:
        """The traced model."""
        frames, beams = ([name for name, _ in loads] for loads in (self.given.on_frames, self.given.along_beams))
        return StaticModel(self.robot, self.statics, frames, beams)

    @cached_property
    def _balance(self) -> Trace:
        return self.model.balance()

    @cached_property
    def _scaling(self) -> Scaling | None:
        return self.model.scaling()

    def cases(self, cases: Sequence[Case]) -> Cases:
        """Load cases of this one robot as arrays."""
        free, straight = sorted([*self.robot.flexible, *cases[0].torques]), self.straight(cases)
        return Cases(
            loads=np.array([[*case.wrench, *self.given.numbers] for case in cases]),
            start=straight + np.array([case.start for case in cases]),
            straight=straight,
            torques=np.array([[case.torques.get(place, 0.0) for place in free] for case in cases]),
            free=free,
            begun=np.array([case.start.any() for case in cases]),
        )

    def straight(self, cases: Sequence[Case]) -> Array:
        """The same where nothing is deformed."""
        q = np.zeros((len(cases), self.robot.n))
        q[:, list(self.robot.rigid)] = [case.angles for case in cases]
        for row, case in zip(q, cases, strict=True):
            row[list(self.robot.base)] = case.base
        return self.robot.undeformed(q)

    def stiffness(
        self, q: Array, loads: Array, shares: Array, free: list[int], rows: Rows | None = None
    ) -> tuple[Array, Array, Array]:
        """Forces F (N, n) and the rows and columns of dF/dq (N, m, m) that belong to the free coordinates.

        Of joints with compliances F is what is zero there without 1/c; then the last, else dF/dq again, is the
        stiffness as :class:`Compliances` has it. ``rows`` are the robots, where they are many and these are some of
        them.
        """
        count, n = q.shape
        balance = self._balance if rows is None else self._balance.of_some(rows)
        F, K = balance.rows(q, loads, shares).values()
        F, K = F.reshape(count, n), K.reshape(count, n, n)
        if self._scaling is None:
            K = _of_free(K, free)
            return F, K, K
        scaling = self._scaling if rows is None else self._scaling.of_some(rows)
        return F, _of_free(scaling.residual(K), free), _of_free(scaling.symmetric(K), free)

    def index(self, S: Array, free: list[int]) -> Index:
        """What changes on a path where S (N, m, m) is singular; it does not where a compliance changes its sign."""
        return Tangent(S, self._unit(free)).index - self.signs

    @property
    def signs(self) -> Index:
        """What negative compliances add (1 or N, 2) to the index of such stiffnesses."""
        if self._scaling is None:
            return np.zeros((1, 2), dtype=int)
        return np.stack([np.zeros_like(self._scaling.negative), self._scaling.negative], axis=-1)

    def _unit(self, free: list[int]) -> Array:
        return to_unit(metric(self.robot, free, PURPOSE))

    def tangent(self, q: Array, cases: Cases) -> Tangent:
        """The stiffness (N, m, m) of the coordinates that are free, or of y of compliances, under the whole load."""
        S = self.stiffness(q, cases.loads, whole(np.ones(len(q))), cases.free)[2]
        return Tangent(S, self._unit(cases.free))

    def scaled(self, cases: Cases) -> tuple[Array, Flags] | None:
        """With compliances U (1 or N, m, m), the derivative of the free coordinates by those of the tangent, and
        whether some compliance is negative (1 or N,)."""
        if self._scaling is None:
            return None
        return _of_free(self._scaling.U, cases.free), self._scaling.negative > 0

    def paths(self, loads: Array, free: list[int], shares: Shares = whole, torques: Array | float = 0.0) -> Paths:
        """Equilibria of the free coordinates while gravity, elements and loads (N, loads) have the given shares.

        ``torques`` (free,) act on them all the way.
        """

        def balance(rows: Rows, q: Array, share: Array) -> tuple[Array, Array, Array]:
            F, K, S = self.stiffness(q, loads[rows], shares(share), free, rows)
            return F[:, free] - torques, K, S

        return self._paths(balance, free)

    def _paths(self, balance: Balances, free: list[int]) -> Paths:
        """Paths of the free coordinates, which know stops."""
        return Paths(balance, free, metric(self.robot, free, PURPOSE), touching(self.robot, PURPOSE))

    def newton(self, cases: Cases) -> Ends:
        """Equilibria that the growing load, or the start, leads to; then joints with torques are let go."""
        modal, q = list(self.robot.flexible), cases.start
        ends = Ends(q.copy(), np.ones(len(q)), np.zeros(len(q), dtype=bool))
        growing = np.flatnonzero(~cases.begun)
        ends.put(growing, self.paths(cases.loads, modal).follow(growing, q[growing], 0.0, 1.0))
        bending = replace(cases, free=modal, torques=np.zeros((len(q), len(modal))))
        self.release(ends, np.flatnonzero(cases.begun), bending)
        if cases.free != modal:
            self.release(ends, np.flatnonzero(~ends.lost), cases)
        return ends

    def release(self, ends: Ends, chosen: Rows, cases: Cases, acting: Shares = whole) -> None:
        """Go on in the chosen rows to where the forces have faded that hold the free coordinates there.

        ``acting`` of a share of one are the shares of gravity, elements and loads meanwhile.
        """
        if not len(chosen):
            return
        loads, torques, free = cases.loads, cases.torques, cases.free
        q, holding = ends.q[chosen], np.zeros_like(torques)
        holding[chosen] = self.stiffness(q, loads[chosen], acting(np.ones(len(q))), free, chosen)[0][:, free]

        def balance(rows: Rows, q: Array, share: Array) -> tuple[Array, Array, Array]:
            F, K, S = self.stiffness(q, loads[rows], acting(np.ones(len(q))), free, rows)
            share = share[:, None]
            return F[:, free] - (1 - share) * holding[rows] - share * torques[rows], K, S

        paths = self._paths(balance, free)
        ends.put(chosen, paths.follow(chosen, q, 0.0, 1.0))
        # Where a path begins unstable, exactly at what holds one side only, another one leads from the side that holds.
        held = behind_edges(self.robot, PURPOSE, chosen, q, free)
        at = np.flatnonzero((held != q).any(axis=1))
        at = at[paths.index(chosen[at], q[at], np.zeros(len(at)))[:, 1] > 0]
        if len(at):
            again = paths.follow(chosen[at], held[at], 0.0, 1.0)
            at, found = at[~again.lost], np.flatnonzero(~again.lost)
            ends.put(chosen[at], Ends(again.q[found], again.shares[found], again.lost[found]))

    def linear(self, cases: Cases) -> Array:
        """Coordinates (N, n) of one solve: the forces kept to first order in the deformation, Piedboeuf (39)-(42), and
        in how far a base goes that elements hold.

        NaN where the stiffness is singular.
        """
        free, q = cases.free, cases.straight.copy()
        F, K, _ = self.stiffness(q, cases.loads, whole(np.ones(len(q))), free)
        q[:, free] += solved(K, -F[:, free])
        return q


def _of_free(K: Array, free: list[int]) -> Array:
    """Rows and columns (N, m, m) of matrices (N, n, n)."""
    return K if len(free) == K.shape[1] else K[:, free][:, :, free]
