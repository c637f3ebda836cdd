"""Joints with a compliance c at rest: the stretch is d = c tau of what they bear, tau, which needs no 1/c.

Each alone determines one coordinate. In those where it is replaced by d, the others held, the forces are R = T^T F with
q = T (d, others) + ..., and a spring bears tau = -R_d; so the balance of its row is d + c R_d = 0, that of the others
R = 0 as ever. The limit c = 0 is the rigid joint, and a negative c (a fit's) meets nothing singular on its way there.

Symmetric is what y with d = sqrt|c| y has for a stiffness, the sign of c (1 for 0) beside sqrt|c| R' sqrt|c|: by
Sylvester's law it is singular and has as many negative directions as the stiffness with 1/c, where c is positive.
"""

from __future__ import annotations

import casadi
import numpy as np
import numpy.typing as npt
from casadi import SX

from kronbot.cached import cached_property
from kronbot.compute.trace import Rows
from kronbot.floats import Array
from kronbot.model.joint import Spring
from kronbot.model.robot import Robot
from kronbot.records import dataclass


@dataclass(frozen=True)
class Compliances:
    """Those of a robot at q (n x 1), under the forces F (n x 1) of all but them."""

    robot: Robot
    q: SX
    F: SX

    @cached_property
    def springs(self) -> tuple[Spring, ...]:
        """What they are."""
        return tuple(spring for spring in self.robot.springs if spring.compliance is not None)

    @cached_property
    def own(self) -> list[int]:
        """The coordinates that they determine."""
        return [spring.own for spring in self.springs]

    @cached_property
    def c(self) -> SX:
        """Their values (k x 1)."""
        values = (spring.compliance for spring in self.springs)
        return casadi.vertcat(SX(0, 1), *(value for value in values if value is not None))

    @cached_property
    def stretches(self) -> SX:
        """How far they yield (k x 1)."""
        rows = (self.robot.row(spring.stretch) @ self.q - spring.rest for spring in self.springs)
        return casadi.vertcat(SX(0, 1), *rows)

    @cached_property
    def T(self) -> SX:
        """Derivative (n x n) of the coordinates by stretches in their places and the others."""
        N = SX(self.robot.n, self.robot.n)
        for spring in self.springs:
            N[spring.own, :] = -self.robot.row(spring.stretch)
            N[spring.own, spring.own] = 0
        T, power = SX.eye(self.robot.n), casadi.sparsify(N)
        while power.nnz():  # nobody follows himself
            T, power = T + power, casadi.sparsify(N @ power)
        return T

    @cached_property
    def R(self) -> SX:
        """Forces (n x 1) on stretches and the other coordinates."""
        return self.T.T @ self.F

    @property
    def exerted(self) -> SX:
        """What they exert on what they turn (k x 1), less than 0 where they are stretched."""
        return self.R[self.own, :]

    @property
    def energy(self) -> SX:
        """Theirs, c tau^2/2."""
        return casadi.dot(self.c, self.exerted**2) / 2

    @property
    def forces(self) -> SX:
        """F with what they bear (n x 1): they are in balance."""
        forces = SX(self.R)
        forces[self.own] = 0
        return forces

    @property
    def residual(self) -> SX:
        """What is zero in equilibrium (n x 1) on all coordinates that are free."""
        residual = SX(self.R)
        residual[self.own] = self.stretches + self.c * self.exerted
        return residual

    @property
    def slope(self) -> SX:
        """Derivative (n x n) of R by q, from which :class:`Scaling` has all others."""
        return casadi.jacobian(self.R, self.q)

    @property
    def constants(self) -> dict[str, SX]:
        """What parameters alone determine: c, T, and D (k x n), the derivative of the stretches."""
        return {"c": self.c, "T": self.T, "D": casadi.jacobian(self.stretches, self.q)}


@dataclass(frozen=True)
class Scaling:
    """Numbers of compliances at the coordinates ``own``, of one robot for all or of one each.

    ``c`` (1 or N, k), ``T`` (1 or N, n, n) and ``D`` (1 or N, k, n) are those of :class:`Compliances`.
    """

    own: list[int]
    c: Array
    T: Array
    D: Array

    def of_some(self, robots: Rows) -> Scaling:
        """The same of some of many robots, by number; of one robot itself."""
        if len(self.c) == 1:
            return self
        return Scaling(self.own, self.c[robots], self.T[robots], self.D[robots])

    @property
    def negative(self) -> npt.NDArray[np.int_]:
        """How many compliances are less than 0 (1 or N,)."""
        return np.asarray((self.c < 0).sum(axis=1))

    @cached_property
    def _weights(self) -> Array:
        """Derivatives (1 or N, n) of stretches, and of all else, by y."""
        weights = np.ones(self.T.shape[:2])
        weights[:, self.own] = np.sqrt(np.abs(self.c))
        return weights

    @property
    def U(self) -> Array:
        """The derivative (1 or N, n, n) of q by y and the other coordinates."""
        return np.asarray(self.T * self._weights[:, None, :])

    def residual(self, H: Array) -> Array:
        """Derivatives (N, n, n) of what is zero in equilibrium, from those of R."""
        K = H.copy()
        K[:, self.own] = self.D + self.c[:, :, None] * H[:, self.own]
        return K

    def symmetric(self, H: Array) -> Array:
        """The stiffness S (N, n, n) of y and the other coordinates."""
        S, places = H.copy(), range(H.shape[1])
        moved = np.flatnonzero((np.eye(len(places)) != self.T).any(axis=(0, 1)))
        S[:, :, moved] = H @ self.T[:, :, moved]
        S *= self._weights[:, :, None] * self._weights[:, None, :]
        S[:, self.own, self.own] += np.where(self.c < 0, -1.0, 1.0)
        return S
