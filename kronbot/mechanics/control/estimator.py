"""The Kalman filter of a state feedback: it tells the state from what sensors see, e' = F e + B u + L z.

e, u, z are the state that it thinks of, torques and what is seen, each less where the gains are about; F = A - L C.
Sampled, z and u are held and e goes on exactly; what sensors see then has noise of the density n (unit times sqrt(s)):
numbers with the variance n^2/T, each independent of the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import casadi
import numpy as np
from casadi import SX

from kronbot.cached import cached_property
from kronbot.floats import Array, all_finite
from kronbot.mechanics.control.randomness import normal, seeded
from kronbot.mechanics.linear.matrix_polynomial import eigen
from kronbot.records import dataclass

# How alike directions of modes may be that are told apart, and how small a pole beside others.
ALIKE, NOTHING = 1e7, 1e-14


def tangled(F: Array) -> bool:
    """Whether exp(F t) and its integral are no sums over modes to seven digits: poles meet, or one is zero."""
    values, vectors = eigen(F)
    sizes = np.abs(values)
    rows = np.abs(vectors).max(axis=1, keepdims=True)
    return bool(sizes.min() <= NOTHING * sizes.max() or not np.linalg.cond(all_finite(vectors / rows)) < ALIKE)


@dataclass(frozen=True)
class Estimator:
    """``F`` (n x n), ``B`` (n x k) of torques, ``L`` (n x m) of sensors that see the states ``seen``, all in numbers.

    ``noise`` has densities by sensor, of a generator with a ``seed``; without any there is none.
    """

    states: Sequence[str]
    at: Array
    F: Array
    B: Array
    L: Array
    seen: Sequence[int]
    noise: Mapping[int, SX]
    seed: SX

    @property
    def draws(self) -> int:
        """How many numbers its generator remembers."""
        return 2 if self.noise else 0

    def rate(self, e: SX, u: SX, z: SX) -> SX:
        """That of e (n x 1)."""
        return SX(self.F) @ e + SX(self.B) @ u + SX(self.L) @ z

    def sampled(self, e: SX, u: SX, z: SX, T: SX, drawn: SX) -> tuple[SX, SX]:
        """The same a sample time later, u and z held; and what the generator remembers then: its state less the first,
        which is 0 at the start like all that is remembered."""
        onward, held = self._flow(T)
        after = drawn
        if self.noise:
            first = seeded(self.seed)
            numbers, state = normal(first + drawn, len(self.noise))
            after, z = state - first, SX(z)
            for (sensor, density), number in zip(self.noise.items(), casadi.vertsplit(numbers), strict=True):
                z[sensor] += density / casadi.sqrt(T) * number
        return onward @ e + held @ (SX(self.B) @ u + SX(self.L) @ z), after

    @cached_property
    def _modes(self) -> tuple[Array, Array]:
        """Eigenvalues of F, and the share of each in exp(F t) (n, n x n)."""
        values, vectors = eigen(self.F)
        return values, np.einsum("im,mj->mij", vectors, np.linalg.inv(vectors))

    def _flow(self, T: SX) -> tuple[SX, SX]:
        """exp(F T), and its integral from 0 to T: sums over modes, of which T alone is no number."""
        n = len(self.states)
        onward, held = SX(n, n), SX(n, n)
        for value, share in zip(*self._modes, strict=True):
            size = casadi.exp(value.real * T)
            parts = size * casadi.cos(value.imag * T), size * casadi.sin(value.imag * T)
            onward += SX(share.real) * parts[0] - SX(share.imag) * parts[1]
            whole = share / value
            held += SX(whole.real) * (parts[0] - 1) - SX(whole.imag) * parts[1]
        return onward, held
