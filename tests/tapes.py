"""Functions of every operation that traces are made of, and numbers that are hard on them."""

import casadi
import numpy as np
from casadi import SX

UNARY = [
    *(casadi.sin, casadi.cos, casadi.tan, casadi.asin, casadi.acos, casadi.atan, casadi.sinh, casadi.cosh),
    *(casadi.tanh, casadi.asinh, casadi.acosh, casadi.atanh, casadi.sqrt, casadi.exp, casadi.log, casadi.log1p),
    *(casadi.expm1, casadi.erf, casadi.floor, casadi.ceil, casadi.fabs, casadi.sign, casadi.logic_not),
    *(lambda x: x**2, lambda x: x**3, lambda x: x**-1, lambda x: x**0.5, lambda x: x**1.5, lambda x: x**-2.0),
    *(lambda x: 2.0**x, lambda x: -x, lambda x: x / 3, lambda x: x * 0.1 + 1 / 3, lambda x: x + 1e308),
    *(lambda x: x * 5e-324, lambda x: casadi.if_else(x > 0.3, x, 2 * x)),
]
# Without fmin, fmax and copysign, which show what is the C library's to choose: signs of NaN, and of one zero of two.
BINARY = [
    *(casadi.plus, casadi.minus, casadi.times, casadi.rdivide, casadi.power, casadi.atan2, casadi.fmod),
    *(casadi.remainder, casadi.hypot, casadi.lt, casadi.le, casadi.eq, casadi.ne, casadi.logic_and, casadi.logic_or),
    *(lambda a, b: a * a + b * b, lambda a, b: casadi.sin(a) * casadi.cos(a) + b),
]
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, 1e308, 5e-324, np.inf, -np.inf, np.nan]


def random_function(rng, operations=200):
    """A function of six numbers whose outputs are all its intermediate values."""
    x = SX.sym("x", 6)
    pool = casadi.vertsplit(x)
    for _ in range(operations):
        a, b = (pool[rng.integers(len(pool))] for _ in range(2))
        pool.append(
            UNARY[rng.integers(len(UNARY))](a) if rng.random() < 0.5 else BINARY[rng.integers(len(BINARY))](a, b)
        )
    return casadi.Function("trace", [x], [casadi.vertcat(*pool)])


def same_bits(a, b):
    """Equal to the bit, the sign of zero included; any NaN equals any other."""
    a, b = np.asarray(a), np.asarray(b)
    numbers = ~np.isnan(a)
    return np.array_equal(numbers, ~np.isnan(b)) and a[numbers].tobytes() == b[numbers].tobytes()
