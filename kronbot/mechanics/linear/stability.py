"""Whether deviations grow: from poles with their error bounds, and by theorem where the matrices allow it.

Where forces have a potential with a minimum (K positive on all but free directions) and damping takes energy or none (D
with a symmetric part >= 0), no deviation grows (Kelvin, Tait and Chetaev); it dies out where every mode is damped. The
theorem knows no errors: what it needs must be so by structure, and not because numbers happen to be equal: words say
where only that is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kronbot.floats import Array, within
from kronbot.mechanics.linear.deflation import SecondOrder
from kronbot.mechanics.linear.matrix_polynomial import ROUNDING
from kronbot.mechanics.linear.null_spaces import echelon
from kronbot.mechanics.linear.pole import Pole
from kronbot.records import dataclass

# Said where the theorem would decide if numbers that make it hold were not equal by chance.
BY_CHANCE = "by energy nothing grows with these numbers, but may with others near them (kronbot explain poles)"


@dataclass(frozen=True)
class Judgement:
    """A verdict in a word, and in ``doubt`` which pole, counted from 1, its error bound leaves open (or empty)."""

    word: str
    doubt: str = ""

    def __str__(self) -> str:
        return f"{self.word}, {self.doubt}" if self.doubt else self.word


def judge(system: SecondOrder, poles: Sequence[Pole]) -> Judgement:
    """The verdict on all poles but those at zero of free directions; where there are no others nothing grows."""
    moving = [(i + 1, pole) for i, pole in enumerate(poles) if not pole.free]
    if any(pole.value.real > pole.growth_error for _, pole in moving):
        return Judgement("unstable")
    open_ = [(i, pole) for i, pole in moving if pole.growth_error > 0 and pole.value.real >= -pole.growth_error]
    still = [pole for _, pole in moving if pole.value.real == 0 and pole.growth_error == 0]
    if moving and not open_ and not still:
        return Judgement("asymptotically stable")
    bounded = keeps_energy_bounded(system)
    if (bounded and system.conservative) or (len(still) == len(moving) and system.gyroscopic):
        return Judgement("stable, undamped")
    if not open_ or bounded:
        return Judgement("stable")
    by_chance = keeps_energy_bounded(replace(system, others=tuple, lasting=None))
    pole = _words(max(open_, key=lambda each: _most(each[1])))
    return Judgement("undecided", f"{pole}: {BY_CHANCE}" if by_chance else pole)


def _most(pole: Pole) -> float:
    """The fastest growth that its error leaves open."""
    return pole.value.real + pole.growth_error


def _words(numbered: tuple[int, Pole]) -> str:
    i, pole = numbered
    growth = pole.value.real if abs(pole.value.real) > 1e-3 * pole.growth_error else 0.0
    return f"pole {i} grows at {within(growth, pole.growth_error + abs(pole.value.real - growth))} rad/s"


def keeps_energy_bounded(system: SecondOrder) -> bool:
    """Whether no deviation can grow: K symmetric and positive but for free directions, D taking no energy in."""
    if not system.potential:
        return False
    K, dK = system.K, system.dK
    if system.free.size:
        size = np.sqrt(np.abs(np.diag(K)))
        pivots = {*echelon(system.free * np.where(size > 0, size, 1.0)[:, None])[1].tolist()}
        rest = np.array([i for i in range(len(K)) if i not in pivots], dtype=int)
        K, dK = K[rest[:, None], rest], dK[rest[:, None], rest]
    stiffness, error = _spectrum(K, dK)
    return len(stiffness) == len(K) and bool((stiffness > error).all()) and _takes_energy(system)


def _takes_energy(system: SecondOrder) -> bool:
    """Whether the symmetric part of D is >= 0, and what it leaves undamped so with other numbers, too."""
    never, idle = _damping(system)
    if not never or not idle or system.undamped:
        return never
    elsewhere = [_damping(each) for each in system.others()]
    return all(sure and count >= idle for sure, count in elsewhere)


def _damping(system: SecondOrder) -> tuple[bool, int]:
    """Whether velocities never bring energy within the errors of D, and in how many directions they take none."""
    D, dD = (system.D + system.D.T) / 2, (system.dD + system.dD.T) / 2
    known = np.flatnonzero((np.abs(D) > dD).any(axis=1))  # other rows are nothing but errors
    if not known.size:
        return True, len(D)
    values, error = _spectrum(D[known][:, known], dD[known][:, known])
    return bool((values >= -error).all()), len(D) - int((values > error).sum())


def _spectrum(A: Array, E: Array) -> tuple[Array, float]:
    """Eigenvalues of the symmetric part of A, scaled to a unit diagonal, and their error; zero rows are left out."""
    A, E = (A + A.T) / 2, (E + E.T) / 2
    size = np.sqrt(np.abs(A.diagonal()))
    if not size.all():
        used = np.flatnonzero(A.any(axis=0) | E.any(axis=0))
        A, E, size = A[used][:, used], E[used][:, used], size[used]
    if not size.all():
        return np.full(len(A), -np.inf), 0.0
    scale = size[:, None] * size
    error = (E / scale).sum(axis=1).max(initial=0.0) + 4 * len(A) * ROUNDING
    return np.asarray(np.linalg.eigvalsh(A / scale)), float(error)
