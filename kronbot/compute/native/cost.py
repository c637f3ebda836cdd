"""What an evaluation is expected to cost, interpreted and as native code."""

from __future__ import annotations

import casadi

# s an instruction, measured on functions of 1,000 to 250,000 of them, gcc 12 on x86-64:
INTERPRETED = 4e-9  # 3.2 to 5.5
NATIVE = 0.25e-9  # 0.16 to 0.34


def instructions(function: casadi.Function) -> int:
    """Instructions of a function and of the distinct functions that it calls; tables have none to count."""
    parts = (function, *function.find_functions())
    return sum(each.n_instructions() for each in parts if each.is_a("SXFunction") or each.is_a("MXFunction"))
