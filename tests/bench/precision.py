"""Traced functions in other arithmetic than double precision: any number of digits, and single precision."""

import operator

import casadi
import mpmath
import numpy as np

from kronbot.kronecker.tape import replay

ALGEBRA = {
    casadi.OP_ADD: operator.add,
    casadi.OP_SUB: operator.sub,
    casadi.OP_MUL: operator.mul,
    casadi.OP_DIV: operator.truediv,
    casadi.OP_POW: operator.pow,
    casadi.OP_CONSTPOW: operator.pow,
    casadi.OP_NEG: operator.neg,
    casadi.OP_SQ: lambda x: x * x,
    casadi.OP_TWICE: lambda x: x + x,
    casadi.OP_INV: lambda x: 1 / x,
}
NAMES = {
    casadi.OP_SIN: "sin",
    casadi.OP_COS: "cos",
    casadi.OP_TAN: "tan",
    casadi.OP_SQRT: "sqrt",
    casadi.OP_EXP: "exp",
    casadi.OP_LOG: "log",
}


def exactly(function, arguments, digits=60):
    """The one output of a function of floats taken as exact, computed with so many digits."""
    with mpmath.workdps(digits):
        operations = ALGEBRA | {code: getattr(mpmath, name) for code, name in NAMES.items()}
        played = [[mpmath.mpf(float(value)) for value in values] for values in arguments]
        return replay(function, played, mpmath.mpf, lambda code, operands: operations[code](*operands))


def rounded(function, arguments, kind):
    """The one output (N, size) for rows of arguments, every operation rounded to a NumPy type."""
    operations = ALGEBRA | {code: getattr(np, name) for code, name in NAMES.items()}
    played = [list(np.asarray(rows, dtype=kind).T) for rows in arguments]
    with np.errstate(all="ignore"):
        results = replay(function, played, kind, lambda code, operands: operations[code](*operands))
    return np.array(np.broadcast_arrays(*results)).T
