"""Equilibria of many load cases at once, each found on its own path."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kronbot.cached import cached_property
from kronbot.compute.trace import Trace
from kronbot.description import schema
from kronbot.floats import Array
from kronbot.mechanics.static.equilibrium import Ends, Paths, Rows, metric, solved
from kronbot.mechanics.static.static_model import PURPOSE, StaticModel
from kronbot.mechanics.static.tangent import Tangent, to_unit
from kronbot.model.robot import Robot

# Shares of gravity and of all other loads by the share of a path.
Shares = Callable[[Array], Array]


def whole(shares: Array) -> Array:
    """Gravity and loads (k, 2) that grow together."""
    return np.repeat(shares[:, None], 2, axis=1)


@dataclass(frozen=True)
class Case:
    """One load case: joint angles (joints,), endpoint wrench (6,), and torques by place of the joints set free.

    The angles of joints with a torque are where the search for their equilibrium begins; ``start`` (n,) is how far
    the flexible coordinates then are from where nothing is deformed, zero unless another solution than that of the
    growing load is wanted.
    """

    angles: Array
    wrench: Array
    torques: Mapping[int, float]
    start: Array


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
class Equilibria:
    """The static model of a robot at one order with its numbers, able to find equilibria.

    Cases that are asked for together have torques on the same joints. What comes of one does not depend on the others.
    """

    robot: Robot
    statics: schema.Statics
    given: Given = Given()

    @cached_property
    def model(self) -> StaticModel:
        """The traced model."""
        frames, beams = ([name for name, _ in loads] for loads in (self.given.on_frames, self.given.along_beams))
        return StaticModel.of(self.robot, self.statics, frames, beams)

    @cached_property
    def _balance(self) -> Trace:
        return self.model.balance()

    def loads(self, cases: Sequence[Case]) -> Array:
        """What acts in each case (N, 6 and the numbers of the given loads)."""
        return np.array([[*case.wrench, *self.given.numbers] for case in cases])

    def free(self, cases: Sequence[Case]) -> list[int]:
        """Places of the coordinates that have no given value."""
        return sorted([*self.robot.flexible, *cases[0].torques])

    def placed(self, cases: Sequence[Case]) -> Array:
        """Where the search begins (N, n)."""
        return np.asarray(self.straight(cases) + np.array([case.start for case in cases]))

    def straight(self, cases: Sequence[Case]) -> Array:
        """The same where nothing is deformed."""
        q = np.zeros((len(cases), self.robot.n))
        q[:, list(self.robot.rigid)] = [case.angles for case in cases]
        return self.robot.undeformed(q)

    def stiffness(self, q: Array, loads: Array, shares: Array, free: list[int]) -> tuple[Array, Array]:
        """Forces F (N, n) and the rows and columns of dF/dq (N, m, m) that belong to the free coordinates."""
        count, n = q.shape
        values = self._balance.rows(q, loads, shares)
        K = values["K"].reshape(count, n, n)
        return values["F"].reshape(count, n), K if len(free) == n else K[:, free][:, :, free]

    def tangent(self, q: Array, cases: Sequence[Case]) -> Tangent:
        """The stiffness (N, m, m) of the coordinates that are free, under the whole load."""
        free = self.free(cases)
        K = self.stiffness(q, self.loads(cases), whole(np.ones(len(q))), free)[1]
        return Tangent(K, to_unit(metric(self.robot, free, PURPOSE)))

    def paths(self, loads: Array, free: list[int], shares: Shares = whole) -> Paths:
        """Equilibria of the free coordinates while gravity and loads (N, loads) have the given shares."""

        def balance(rows: Rows, q: Array, share: Array) -> tuple[Array, Array]:
            F, K = self.stiffness(q, loads[rows], shares(share), free)
            return F[:, free], K

        return Paths(balance, free, metric(self.robot, free, PURPOSE))

    def newton(self, cases: Sequence[Case]) -> Ends:
        """Equilibria that the growing load, or the start, leads to; then joints with torques are let go."""
        modal, free, loads, q = list(self.robot.flexible), self.free(cases), self.loads(cases), self.placed(cases)
        ends = Ends(q, np.ones(len(q)), np.zeros(len(q), dtype=bool))
        begun = np.array([case.start.any() for case in cases])
        growing = np.flatnonzero(~begun)
        ends.put(growing, self.paths(loads[growing], modal).follow(q[growing], 0.0, 1.0))
        self._release(ends, np.flatnonzero(begun), loads, np.zeros((len(q), len(modal))), modal)
        if free != modal:
            torques = np.array([[case.torques.get(place, 0.0) for place in free] for case in cases])
            self._release(ends, np.flatnonzero(~ends.lost), loads, torques, free)
        return ends

    def _release(self, ends: Ends, chosen: Rows, loads: Array, torques: Array, free: list[int]) -> None:
        """Go on in the chosen rows to where the forces have faded that hold the free coordinates there."""
        if not len(chosen):
            return
        loads, torques, q = loads[chosen], torques[chosen], ends.q[chosen]
        holding = self.stiffness(q, loads, whole(np.ones(len(q))), free)[0][:, free]

        def balance(rows: Rows, q: Array, share: Array) -> tuple[Array, Array]:
            F, K = self.stiffness(q, loads[rows], whole(np.ones(len(q))), free)
            share = share[:, None]
            return F[:, free] - (1 - share) * holding[rows] - share * torques[rows], K

        ends.put(chosen, Paths(balance, free, metric(self.robot, free, PURPOSE)).follow(q, 0.0, 1.0))

    def linear(self, cases: Sequence[Case]) -> Array:
        """Coordinates (N, n) of one solve: the forces kept to first order in the deformation, Piedboeuf (39)-(42).

        NaN where the stiffness is singular.
        """
        modal, q = list(self.robot.flexible), self.straight(cases)
        F, K = self.stiffness(q, self.loads(cases), whole(np.ones(len(q))), modal)
        q[:, modal] += solved(K, -F[:, modal])
        return q
