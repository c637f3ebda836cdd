"""Numbers that look random to a simulation, and are the same whenever it runs: a recursion of whole numbers in doubles.

L'Ecuyer's combination of two multiplicative generators (1988, period 2.3e18), whose products stay below 2^53 and are
exact, so that each step is the same in any code; pairs of normal numbers by Box and Muller.
"""

from __future__ import annotations

import casadi
from casadi import SX

# Multipliers and moduli; how many steps are left out after a seed.
FACTORS, MODULI = (40014.0, 40692.0), (2147483563.0, 2147483399.0)
UNHEARD = 4


def seeded(seed: SX) -> SX:
    """The state (2 x 1) of a generator that begins with a whole number."""
    state = [1 + _left_over(casadi.floor(casadi.fabs(seed)) + place, m - 1) for place, m in enumerate(MODULI)]
    for _ in range(UNHEARD):
        state, _ = _next(state)
    return casadi.vertcat(*state)


def normal(state: SX, count: int) -> tuple[SX, SX]:
    """So many independent numbers of mean 0 and variance 1 (count x 1), and the state from which others follow."""
    at, found = casadi.vertsplit(state), list[SX]()
    for _ in range(-(-count // 2)):
        at, first = _next(at)
        at, second = _next(at)
        size, turn = casadi.sqrt(-2 * casadi.log(first)), 2 * casadi.pi * second
        found += [size * casadi.cos(turn), size * casadi.sin(turn)]
    return casadi.vertcat(SX(0, 1), *found[:count]), casadi.vertcat(*at)


def _next(state: list[SX]) -> tuple[list[SX], SX]:
    """The state after a step, and its number between 0 and 1, both left out."""
    after = [_left_over(a * s, m) for a, s, m in zip(FACTORS, state, MODULI, strict=True)]
    apart = after[0] - after[1]
    return after, (apart + casadi.if_else(apart < 1, MODULI[0] - 1, 0)) / MODULI[0]


def _left_over(value: SX, modulus: float) -> SX:
    """Of a whole number below 2^53: its quotient is not rounded up to the next one."""
    return value - modulus * casadi.floor(value / modulus)
