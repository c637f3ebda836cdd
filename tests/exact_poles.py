"""Poles by another road: matrices of a trace in many digits, from the same floats, and their eigenvalues by mpmath."""

import casadi
import mpmath as mp
import numpy as np

from kronbot.description.expressions.expression import exact
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


def turned(angle):
    """A number, or the quarter turns that it is within a rounding."""
    turns = mp.nint(2 * angle / mp.pi)
    near = turns and abs(angle - turns * mp.pi / 2) < mp.mpf(2) ** -52 * abs(angle)
    return turns * mp.pi / 2 if near else angle


def meant(trace, words, *arguments):
    """Outputs (``words``) of a trace, column by column, where numbers of the file are what they mean: pi is pi.

    Arguments are columns of mpf. Decimals that are quarter turns within a rounding are meant as these.
    """
    known = trace._parameters
    numbers = [mp.mpf(float(x)) for x in trace.bound]
    for i, (_, expression) in enumerate(list(known.literals.values())[: len(numbers) - len(known.named)]):
        value = exact(expression, {})
        if value is not None:
            parts = [mp.mpf(part.numerator) / part.denominator for part in (value.rational, value.pi)]
            numbers[len(known.named) + i] = turned(mp.fdot(parts, (1, mp.pi)))
    inputs = trace.function.sx_in()
    parts = dict(zip(trace.outputs, trace.function.call(inputs), strict=True))
    tape = casadi.Function("tape", inputs, [casadi.densify(casadi.vertcat(*(casadi.vec(parts[w]) for w in words)))])
    flat = replay(tape, [*arguments, numbers], mp.mpf, lambda code, operands: OPERATIONS[code](*operands))
    ends = np.cumsum([0, *(parts[word].numel() for word in words)])
    return {word: flat[start:end] for word, start, end in zip(words, ends[:-1], ends[1:], strict=True)}


def reached(A, B):
    """The dimension of the space of columns B, A B, A^2 B, ..., grown vector by vector, to half of the digits."""
    basis, waiting, n = [], [[B[i, j] for i in range(B.rows)] for j in range(B.cols)], A.rows
    size, nothing = max([abs(x) for x in A] or [1]), mp.mpf(10) ** (-mp.mp.dps // 3)
    while waiting:
        x = waiting.pop(0)
        length = mp.norm(x)
        if length <= nothing:
            continue
        x = [each / length for each in x]
        for known in basis * 2:
            part = mp.fdot(known, x)
            x = [a - part * b for a, b in zip(x, known, strict=True)]
        length = mp.norm(x)
        if length > nothing:
            basis.append([each / length for each in x])
            waiting.append([mp.fdot([A[i, j] for j in range(n)], basis[-1]) / size for i in range(n)])
    return len(basis)
