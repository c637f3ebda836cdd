"""What an evaluation is expected to cost, interpreted and as native code."""

from __future__ import annotations

import casadi

from kronbot.records import dataclass

# s an instruction, measured on functions of 1,000 to 250,000 of them, gcc 12 on x86-64:
INTERPRETED = 4e-9  # 3.2 to 5.5
NATIVE = 0.25e-9  # 0.16 to 0.34


@dataclass(frozen=True)
class Effort:
    """How hard the compiler tries: its flag, what it takes and what its code takes (s an instruction)."""

    flag: str
    compiling: float
    running: float


# Measured as above, of 1,000 to 250,000 instructions. More than -O1 is no faster and compiles for twice as long or
# much longer (250,000 instructions: 132 s).
FULL = Effort("-O1", 120e-6, NATIVE)  # 85 to 140 us on a quiet machine
QUICK = Effort("-O0", 30e-6, 0.95e-9)  # 23 to 36 us; 0.8 to 1.2 ns
EFFORTS = (FULL, QUICK)


def instructions(function: casadi.Function) -> int:
    """Instructions of a function and of the distinct functions that it calls; tables have none to count."""
    parts = (function, *function.find_functions())
    return sum(each.n_instructions() for each in parts if each.is_a("SXFunction") or each.is_a("MXFunction"))
