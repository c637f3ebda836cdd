"""Taylor expansion and linearization of matrix functions of vectors, Khang section 3.

Derivatives are Khang derivatives (see ``calculus``), E_n the n x n identity, (x) the Kronecker product. Coefficients,
terms and linear models are expressions in the symbols x: the point of expansion x0 is what is bound to x when they
are evaluated, and the deviation Delta = x - x0 is an argument of its own, ``delta``.

There are two ways to the polynomial (36), (41), (47). :func:`coefficients` and :func:`expansion` are the paper's, with
n^k columns for each column of A. :func:`directional` never forms these: its terms are those of A(x + t Delta) in t.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial, reduce
from itertools import zip_longest
from typing import Any

import casadi
from casadi import DM, SX

from kronbot.errors import ComputationError, ShapeError
from kronbot.kronecker.calculus import (
    check_order,
    check_variables,
    khang_derivative,
    kron,
    matrix,
    of_matrices,
    size_of,
)
from kronbot.kronecker.tape import instructions, replay

LIMIT = 1_000_000
"""Largest number of entries, structural zeros counted, of a derivative that :func:`coefficients` makes."""

Series = list[SX]
"""Coefficients (1 x 1) of 1, t, t^2, ... of one entry; those that are left out at the end are zero."""


def columns(s: int, n: int, k: int) -> int:
    """Number of columns, s n^k, of the k-th derivative of a matrix of s columns by n variables. Khang (18)."""
    return s * int(n**k)


def demand_writable(shape: tuple[int, int], n: int, order: int) -> None:
    """Raise ComputationError where a derivative of a matrix r x s by n variables would have more than LIMIT entries."""
    width = columns(shape[1], n, order)
    entries = shape[0] * width
    if entries > LIMIT:
        raise ComputationError(
            f"derivative {order} of a {shape[0]} x {shape[1]} matrix by {n} variables would have {width:,} columns and "
            f"{entries:,} entries (the limit is {LIMIT:,}): ask for a lower order, or give the deviation delta, "
            "whose expansion comes from directional derivatives without these columns"
        )


@of_matrices
def coefficients(A: SX, x: SX, order: int) -> list[SX]:
    """The Khang derivatives d^kA/dx^k for k = 0, ..., order: the coefficients of Khang (36), (41), (47) at x.

    A is r x s, x is n x 1 and holds symbols; number k is r x s n^k, structurally sparse, without the factor 1/k!.
    Raises ComputationError, before any work, where the last one would have more than LIMIT entries; ShapeError for a
    negative order or an x that is not a dense column of different symbols.
    """
    check_order(order, "the order of an expansion")
    check_variables(x)
    demand_writable(A.shape, x.rows(), order)
    derivatives = [A]
    for _ in range(order):
        derivatives.append(khang_derivative(casadi.cse(derivatives[-1]), x))
    return derivatives


def expansion(coefficients_at_x0: Sequence[Any], delta: Any) -> Any:
    """The Taylor polynomial A(x0) + sum 1/k! d^kA/dx^k (E_s (x) Delta^(x)k), Khang (36), (41), (47); (48) for k = 1.

    Coefficient k is r x s n^k, delta n x 1, the result r x s: an SX if there is an SX among them, else a DM. Whatever
    DM takes will do for numbers, vectors as one-dimensional arrays included.
    Delta^(x)k, with n^k rows, is not formed: by Horner's rule the last derivative is multiplied by E (x) Delta, added
    to the one before, and so on. Raises ShapeError for no coefficients and for shapes that do not fit.
    """
    if not isinstance(coefficients_at_x0, Sequence):
        raise ShapeError("coefficients_at_x0: a list of matrices is wanted")
    matrices: list[Any] = [matrix(A, "a coefficient or delta") for A in (delta, *coefficients_at_x0)]
    if not any(isinstance(A, SX) for A in (delta, *coefficients_at_x0)):
        matrices = [casadi.evalf(A) for A in matrices]
    delta, *derivatives = matrices
    if not derivatives:
        raise ShapeError("an expansion needs at least the coefficient of order 0")
    n, (r, s) = delta.rows(), derivatives[0].shape
    if delta.columns() != 1:
        raise ShapeError(f"a deviation is a column, not {size_of(delta)}")
    for k, derivative in enumerate(derivatives):
        if derivative.shape != (r, columns(s, n, k)):
            raise ShapeError(
                f"coefficient {k} of a {r} x {s} matrix and {n} variables must be {r} x {columns(s, n, k)}, "
                f"not {size_of(derivative)}"
            )
    polynomial = derivatives[-1]
    for k in range(len(derivatives) - 1, 0, -1):
        step = casadi.kron(DM.eye(columns(s, n, k - 1)), delta)
        polynomial = derivatives[k - 1] + polynomial @ step / k
    return polynomial


@of_matrices
def directional(A: SX, x: SX, delta: SX, order: int) -> list[SX]:
    """Terms k = 0, ..., order of Khang (36), (41), (47): 1/k! d^k/dt^k A(x + t Delta) at t = 0, r x s each.

    A is r x s, x is n x 1 and holds symbols, delta is n x 1 (numbers or an expression, a constant of the
    differentiation); the sum of the terms is the Taylor polynomial. They equal 1/k! d^kA/dx^k (E_s (x) Delta^(x)k).

    The paper has no such form. Every instruction of A is done once, on power series in t cut off after t^order, at a
    cost that grows as a low power of the order (2 for products) and never as n^k. An A that calls functions whose
    inside is not seen is derived by jtimes, again and again. Raises ShapeError for a negative order, for an x that is
    not a dense column of different symbols and for a delta of another size.
    """
    check_order(order, "the order of an expansion")
    check_variables(x)
    if delta.shape != x.shape:
        raise ShapeError(f"a deviation from {size_of(x)} must be {size_of(x)}, not {size_of(delta)}")
    lean = casadi.cse(A)
    others = casadi.vertcat(*casadi.Function("A", [x], [lean], {"allow_free": True}).free_sx())
    tape = casadi.Function("A", [x, others], [lean])
    if any(each.code == casadi.OP_CALL for each in instructions(tape)):
        return _repeated(A, x, delta, order)
    along = [_trimmed([x[i], delta[i]]) for i in range(x.rows())]
    entries = _series(tape, [along, [[others[i]] for i in range(others.rows())]], order)
    terms = [A]
    for k in range(1, order + 1):
        column = casadi.vertcat(*(entry[k] if k < len(entry) else SX(0) for entry in entries))
        terms.append(casadi.sparsify(SX(A.sparsity(), column)))
    return list(casadi.cse(terms))


@of_matrices
def linearized_two(A: SX, x: SX, y: SX, delta_x: SX, delta_y: SX) -> SX:
    """Linear model of A(x, y): A + dA/dy (E_p (x) Delta_y) + dA/dx (E_p (x) Delta_x), Khang (50).

    A is m x p, x and delta_x are n_x x 1, y and delta_y n_y x 1, the result m x p. x and y are symbols that stand for
    the point x0, y0. The paper has one size n for both, which is not needed. Raises ShapeError for variables that are
    not dense columns of different symbols and for shapes that do not fit.
    """
    check_variables(casadi.vertcat(x, y))
    model = A
    for variables, delta in ((x, delta_x), (y, delta_y)):
        if delta.shape != variables.shape:
            raise ShapeError(
                f"a deviation from {size_of(variables)} must be {size_of(variables)}, not {size_of(delta)}"
            )
        model = model + khang_derivative(A, variables) @ kron(SX.eye(A.columns()), delta)
    return model


@of_matrices
def linearized_product_two(A: SX, x: SX, y: SX) -> tuple[SX, SX, SX]:
    """A y, L_y, L_x of A(x, y) y ~ A0 y0 + L_y (y - y0) + L_x (x - x0), Khang (52).

    L_y = A + dA/dy (y (x) E_ny), m x n_y, and L_x = dA/dx (y (x) E_nx), m x n_x. A is m x n_y, x n_x x 1, y n_y x 1;
    x and y are symbols that stand for the point x0, y0. The paper prints one E_n in both. Its way there, (51), counts
    the terms with y0 twice; (52) is right.
    Raises ShapeError for variables that are not dense columns of different symbols, and where y does not fit A.
    """
    check_variables(casadi.vertcat(x, y))
    product, L_y, L_x = linearized_product(A, x, y)
    return product, L_y + khang_derivative(A, y) @ kron(y, SX.eye(y.rows())), L_x


@of_matrices
def linearized_product(A: SX, x: SX, y: SX) -> tuple[SX, SX, SX]:
    """A y, L_y, L_x of A(x) y ~ A0 y0 + L_y (y - y0) + L_x (x - x0), Khang (53): L_y = A, L_x = dA/dx (y (x) E_nx).

    A is m x p, x n_x x 1 symbols, y p x 1 any expression that does not count as a function of x; L_y is m x p and L_x
    m x n_x. The paper's E_n is E_nx. Raises ShapeError for an x that is not a dense column of different symbols, and
    where y does not fit A.
    """
    if y.shape != (A.columns(), 1):
        raise ShapeError(f"a matrix of {size_of(A)} multiplies a column of {A.columns()}, not {size_of(y)}")
    return A @ y, A, khang_derivative(A, x) @ kron(y, SX.eye(x.rows()))


def _repeated(A: SX, x: SX, delta: SX, order: int) -> list[SX]:
    """The terms of ``directional`` by derivatives of derivatives; cse in between keeps them from doubling."""
    direction = SX.sym("direction", x.rows())  # delta itself may depend on x
    terms = [A]
    for k in range(1, order + 1):
        terms.append(casadi.cse(casadi.jtimes(terms[-1], x, direction) / k))
    return list(casadi.substitute(terms, [direction], [delta]))


def _series(tape: casadi.Function, arguments: Sequence[Sequence[Series]], order: int) -> list[Series]:
    """The entries of a tape's one output as series, for series in the place of its inputs."""
    return replay(tape, arguments, lambda number: [SX(number)], lambda code, series: _apply(code, series, order))


def _apply(code: int, series: list[Series], order: int) -> Series:
    """One instruction done on series, up to t^order."""
    if code in _LINEAR:
        return _trimmed(_combined(code, *series))
    if code in _RULES:
        return _trimmed(_RULES[code](order, *series))
    result = [_operation(code, [a[0] for a in series])]
    varying = tuple(place for place, a in enumerate(series) if len(a) > 1)
    if order == 0 or not varying:
        return result
    # f(a, b)' = f_a a' + f_b b', where casadi knows f_a and f_b; they are needed to one order less.
    slopes = _series(_slopes(code, len(series), varying), [[a[:order] for a in series]], order - 1)
    rate: Series = []
    for slope, place in zip(slopes, varying, strict=True):
        inner = [_times(SX(k), c) for k, c in enumerate(series[place])][1:]
        rate = _combined(casadi.OP_ADD, rate, _product(order - 1, slope, inner))
    return _trimmed(result + [SX.binary(casadi.OP_DIV, c, SX(k + 1)) for k, c in enumerate(rate)])


@cache
def _slopes(code: int, arity: int, by: tuple[int, ...]) -> casadi.Function:
    """Partial derivatives of an operation by the arguments in ``by``, as a tape of its one vector of arguments."""
    arguments = SX.sym("a", arity)
    values = [arguments[i] for i in range(arity)]
    jacobian = casadi.jacobian(_operation(code, values), arguments)
    return casadi.Function("slopes", [arguments], [casadi.densify(jacobian[:, list(by)])])


def _operation(code: int, values: Sequence[SX]) -> SX:
    return SX.unary(code, *values) if len(values) == 1 else SX.binary(code, *values)


# The same as the operators * and +, which look for the types that both operands have, eight times as long as this.
_times, _plus = (partial(SX.binary, code) for code in (casadi.OP_MUL, casadi.OP_ADD))


def _combined(code: int, *series: Series) -> Series:
    """A linear operation: term by term."""
    return [_operation(code, terms) for terms in zip_longest(*series, fillvalue=SX(0))]


def _product(order: int, a: Series, b: Series) -> Series:
    return [
        reduce(_plus, (_times(a[i], b[k - i]) for i in range(max(0, k + 1 - len(b)), min(k + 1, len(a)))), SX(0))
        for k in range(min(order + 1, len(a) + len(b) - 1))
    ]


def _quotient(order: int, a: Series, b: Series) -> Series:
    """c = a / b from a = b c, term by term."""
    c: Series = []
    for k in range(order + 1 if len(b) > 1 else len(a)):
        known = reduce(_plus, (_times(b[i], c[k - i]) for i in range(1, min(k + 1, len(b)))), SX(0))
        left = SX.binary(casadi.OP_SUB, a[k] if k < len(a) else SX(0), known)
        c.append(SX.binary(casadi.OP_DIV, left, b[0]))
    return c


def _trimmed(a: Series) -> Series:
    """Without the zeros at its end: a polynomial stays one."""
    while len(a) > 1 and a[-1].is_zero():
        a = a[:-1]
    return a


_LINEAR = {casadi.OP_ADD, casadi.OP_SUB, casadi.OP_NEG, casadi.OP_TWICE}
_RULES: dict[int, Callable[..., Series]] = {
    casadi.OP_MUL: _product,
    casadi.OP_SQ: lambda order, a: _product(order, a, a),
    casadi.OP_DIV: _quotient,
    casadi.OP_INV: lambda order, a: _quotient(order, [SX(1)], a),
}
