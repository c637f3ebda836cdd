"""Input shapers: impulses that a motion is convolved with, so that a mode of vibration is at rest after the last."""

from __future__ import annotations

from collections.abc import Sequence

import casadi
import numpy as np
from casadi import SX

from kronbot.description.moving import Shaper
from kronbot.model.parameters import Parameters

# The time between two impulses, as a share of the period of the damped vibration.
STEPS = {"zv": 0.5, "mzv": 0.375, "zvd": 0.5, "ei": 0.5, "2hump_ei": 0.5}


def impulses(shapers: Sequence[Shaper], parameters: Parameters) -> tuple[SX, SX]:
    """Times (s) and amplitudes (k x 1 both, of sum 1) of all shapers one after the other; the last impulse last."""
    times, amplitudes = SX(0), SX(1)
    for shaper in shapers:
        damping = parameters.number(shaper.damping)
        apart, decay = spacing(shaper.type, parameters.number(shaper.frequency), damping)
        weights = undamped(shaper.type, parameters.number(shaper.tolerance))
        order = SX(range(weights.numel()))
        weights, delays = weights * decay**order, apart * order
        times = casadi.vec(casadi.repmat(times.T, delays.numel(), 1) + casadi.repmat(delays, 1, times.numel()))
        amplitudes = casadi.vec(weights / casadi.sum1(weights) @ amplitudes.T)
    return times, amplitudes


def spacing(kind: str, frequency: SX, damping: SX) -> tuple[SX, SX]:
    """The time (s) between impulses, and what is left of a vibration after it.

    ``frequency`` omega (rad/s) is the natural one, ``damping`` zeta < 1: a vibration exp(-zeta omega t) cos(omega_d t)
    with omega_d = omega sqrt(1 - zeta^2), whose period is 2 pi/omega_d.
    """
    share = 2 * np.pi * STEPS[kind]
    root = casadi.sqrt(1 - damping**2)
    return share / (frequency * root), casadi.exp(-share * damping / root)


def undamped(kind: str, tolerance: SX) -> SX:
    """Amplitudes (k x 1, of sum 1) where nothing damps; impulse i of a damped mode is weighted by its decay**i.

    zv and zvd: Singer and Seering 1990. mzv: three impulses 3/8 of a period apart. ei: Singhose, Seering and Singer
    1994, which leaves the share ``tolerance`` at the frequency itself, and nothing at one on either side. 2hump_ei:
    Singhose, Porter, Tuttle and Singer 1997, nothing at the frequency and at one on either side, ``tolerance`` between.
    """
    match kind:
        case "zv":
            return SX([0.5, 0.5])
        case "zvd":
            return SX([0.25, 0.5, 0.25])
        case "mzv":
            outer, inner = 1 - np.sqrt(0.5), np.sqrt(2) - 1
            return SX(np.array([outer, inner, outer]) / (2 * outer + inner))
        case "ei":
            outer = (1 + tolerance) / 4
            return casadi.vertcat(outer, (1 - tolerance) / 2, outer)
        case _:
            X = (tolerance**2 * (casadi.sqrt(1 - tolerance**2) + 1)) ** (1 / 3)
            outer = (3 * X**2 + 2 * X + 3 * tolerance**2) / (16 * X)
            return casadi.vertcat(outer, 0.5 - outer, 0.5 - outer, outer)
