"""Poles by another road: matrices of a trace in many digits, from the same floats, and their eigenvalues by mpmath."""

import casadi
import mpmath as mp
import numpy as np

from kronbot.kronecker.tape import replay

OPERATIONS = {
    casadi.OP_ASSIGN: lambda x: x,
    casadi.OP_NEG: lambda x: -x,
    casadi.OP_SQ: lambda x: x * x,
    casadi.OP_TWICE: lambda x: 2 * x,
    casadi.OP_SQRT: mp.sqrt,
    casadi.OP_SIN: mp.sin,
    casadi.OP_COS: mp.cos,
    casadi.OP_TAN: mp.tan,
    casadi.OP_EXP: mp.exp,
    casadi.OP_INV: lambda x: 1 / x,
    casadi.OP_FABS: abs,
    casadi.OP_ADD: lambda x, y: x + y,
    casadi.OP_SUB: lambda x, y: x - y,
    casadi.OP_MUL: lambda x, y: x * y,
    casadi.OP_DIV: lambda x, y: x / y,
    casadi.OP_POW: lambda x, y: x**y,
}


def matrices(trace, *arguments):
    """M, D, K of a trace as lists of rows of mpf: every float of the question and of the robot is taken as exact."""
    inputs = trace.function.sx_in()
    parts = dict(zip(trace.outputs, trace.function.call(inputs), strict=True))
    tape = casadi.Function("tape", inputs, [casadi.densify(casadi.vertcat(*(parts[name] for name in "MDK")))])
    numbers = [[mp.mpf(float(x)) for x in np.ravel(part)] for part in (*arguments, trace.bound)]
    flat = replay(tape, numbers, mp.mpf, lambda code, operands: OPERATIONS[code](*operands))
    n = round((len(flat) / 3) ** 0.5)
    return [mp.matrix(n, n) if not n else mp.matrix([flat[k * n * n + i :: n][:n] for i in range(n)]) for k in range(3)]


def poles(M, D, K):
    """All 2n eigenvalues of the state matrix."""
    n = len(M)
    A = mp.zeros(2 * n)
    A[:n, n:] = mp.eye(n)
    A[n:, :n], A[n:, n:] = -mp.inverse(M) * K, -mp.inverse(M) * D
    for more in range(0, 60, 7):  # now and then the QR steps of mpmath stand still
        try:
            with mp.workdps(mp.mp.dps + more):
                return list(mp.eig(A, left=False, right=False))
        except RuntimeError:
            continue
    raise AssertionError("mpmath finds no eigenvalues")
