"""Kronecker products, block skew matrices and the Khang derivative of a matrix by a vector.

Everything works on ``casadi.SX`` matrices and keeps structural zeros structural: an entry that is absent from a matrix
is absent from what is made of it. E_n is the n x n identity, (x) the Kronecker product. A derivative dA/dx of an r x s
matrix by an n-vector has s n columns; column j n + k (from 0), called (j, k), is column j of A derived by x_k. Hence,
with ``E = SX.eye``, the theorems read

* dA/dt = dA/dx (E_s (x) xdot), Tuan (8): :func:`time_derivative`;
* d(A B)/dx = dA/dx (B (x) E_n) + A dB/dx, Tuan (9), Khang (19): :func:`product_derivative`;
* d^k(A C)/dx^k = d^kA/dx^k (C (x) E_(n^k)) for a constant C, Khang (21): ``dA @ kron(C, E(n**k))``;
* d(J qdot)/dt = J qddot + dJ/dq (qdot (x) qdot), Tuan (11): ``J @ qdd + dJ @ kron_power(qd, 2)``;
* (E_p (x) x) A d = (A (x) E_n) (d (x) x), Tuan (12), Khang (6), and d (x) x = (d (x) E_n) x, Tuan (13), Khang (7).

"Tuan" and "Khang" are papers (see the README). Matrices are SX, or what makes one: DM, numbers, arrays of
them. Every function raises ShapeError, a UsageError and a ValueError, for what is none and for shapes that do not fit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from inspect import signature
from typing import ParamSpec, TypeVar

import casadi
import numpy as np
from casadi import DM, SX, Sparsity

from kronbot.errors import ShapeError

Given = ParamSpec("Given")
Answer = TypeVar("Answer")


def matrix(A: object, word: str) -> SX:
    """An SX of what is one, or of finite numbers. Raises ShapeError, since casadi trusts whatever it is given."""
    if isinstance(A, SX):
        return A
    try:
        numbers = np.asarray(A)
        if numbers.dtype.kind in "iuf" and numbers.ndim <= 2 and (type(A) is np.ndarray or not np.ma.is_masked(A)):
            plain = numbers.astype(np.float64)
            if np.isfinite(plain).all():
                return SX(DM(plain))
    except Exception:  # of an object that says it were an array
        pass
    raise ShapeError(f"{word}: a matrix of expressions or finite numbers is wanted, not of type {type(A).__name__}")


def of_matrices(function: Callable[Given, Answer]) -> Callable[Given, Answer]:
    """A function whose arguments are looked at: those declared SX are made one, those declared int are integers."""
    declared = {name: str(each.annotation) for name, each in signature(function).parameters.items()}

    def plain(name: str, value: object) -> object:
        if declared.get(name) == "SX":
            return matrix(value, name)
        if declared.get(name) == "int" and (isinstance(value, bool) or not isinstance(value, int | np.integer)):
            raise ShapeError(f"{name}: an integer is wanted, not of type {type(value).__name__}")
        return value

    @wraps(function)
    def looked_at(*given: Given.args, **named: Given.kwargs) -> Answer:
        placed = [*map(plain, declared, given), *given[len(declared) :]]
        return function(*placed, **{name: plain(name, value) for name, value in named.items()})  # type: ignore[arg-type]

    return looked_at


@of_matrices
def kron(A: SX, B: SX) -> SX:
    """Kronecker product A (x) B: block (i, j) is A[i, j] B. Tuan (1), Khang (2).

    m x n and p x q give m p x n q. Any two matrices fit.
    """
    return casadi.kron(A, B)


@of_matrices
def kron_power(A: SX, k: int) -> SX:
    """Kronecker power A (x) A (x) ... (x) A of k factors, Khang (11)-(12).

    m x n gives m^k x n^k. The papers define k >= 1; kronbot adds the empty product k = 0, the 1 x 1 identity, so that
    rules over k may start there. Raises ShapeError for a negative k.
    """
    check_order(k, "a Kronecker power")
    power = SX.eye(1)
    for _ in range(k):
        power = kron(power, A)
    return power


@of_matrices
def vec(A: SX) -> SX:
    """The columns of A under each other, Tuan (7): r x s gives r s x 1.

    vec(A X B) = (B^T (x) A) vec(X), Tuan (10).
    """
    return casadi.vec(A)


@of_matrices
def commutation(m: int, n: int) -> SX:
    """Commutation matrix K_mn (m n x m n, structurally sparse): K_mn vec(A) = vec(A^T) for every m x n matrix A.

    Right-multiplying a matrix of n^2 columns by K_nn swaps column (j, k) with (k, j): for a Jacobian J with Khang
    derivative H = dJ/dq, column j of J derived by q_k becomes column k derived by q_j. Neither paper has this matrix:
    Tuan (86) and (88)-(91) hold only when applied to qdot (x) qdot, which K_nn leaves unchanged; as equalities of
    matrices they need it in some of their terms. Raises ShapeError for negative sizes.
    """
    if m < 0 or n < 0:
        raise ShapeError(f"the sizes of a commutation matrix must not be negative, not {m} and {n}")
    # Column j m + i stands for A[i, j], which is entry i n + j of vec(A^T).
    rows = [i * n + j for j in range(n) for i in range(m)]
    return SX.ones(Sparsity(m * n, m * n, list(range(m * n + 1)), rows))


@of_matrices
def skew(a: SX) -> SX:
    """Skew matrix of a vector, skew(a) b = a x b. Tuan (15).

    3 x 1 gives 3 x 3. Raises ShapeError for anything but a 3 x 1 vector.
    """
    if a.shape != (3, 1):
        raise ShapeError(f"skew needs a 3 x 1 vector, not {size_of(a)}")
    return casadi.skew(a)


@of_matrices
def block_skew(A: SX) -> SX:
    """Block skew matrix of a matrix with three rows, Tuan (16): the skew matrix with rows of A for components.

    3 x m gives 3 x 3m. With it

    * skew(A a) = block_skew(A) (E_3 (x) a) for m x 1 a, Tuan (17), where the paper has A a without the tilde: the two
      sides would be 3 x 1 and 3 x 3;
    * skew(a) A = -block_skew(A) (a (x) E_m) for 3 x 1 a, Tuan (18);
    * block_skew(R A) = R block_skew(A) (R^T (x) E_m) for a rotation R. In Tuan (89)-(90) the tilde therefore goes over
      the whole product of rotation and Jacobian; the paper has none there.

    Raises ShapeError unless A has three rows.
    """
    if A.rows() != 3:
        raise ShapeError(f"block_skew needs a matrix with 3 rows, not {size_of(A)}")
    x, y, z = casadi.vertsplit(A)
    zero = SX(1, A.columns())
    return casadi.blockcat([[zero, -z, y], [z, zero, -x], [-y, x, zero]])


@of_matrices
def khang_derivative(A: SX, x: SX, order: int = 1) -> SX:
    """Derivative of a matrix by a vector, Tuan (5), Khang (13)-(15); repeated ``order`` times, Khang (16)-(18).

    A is r x s, x is n x 1 and holds symbols, the result is r x s n^order. Block column i of the first derivative is the
    Jacobian of column i of A; the k-th is the first of the (k-1)-th. Column (j, k1, k2, ...) at
    ((j n + k1) n + k2) n + ... is column j derived by x_k1, then by x_k2 and so on; :func:`derivative_columns` names
    them. A vector (r x 1) gives its Jacobian r x n, a scalar a row: 1 x n^order, where Khang (13) and (16) print R^n
    and R^(n^k). Khang's k > 2 is meant to be k >= 2; kronbot adds order 0, A itself.

    Entries of A that do not depend on x_k leave structural zeros. Raises ShapeError for a negative order or an x that
    is not a dense column of different symbols.
    """
    check_order(order, "the order of a derivative")
    check_variables(x)
    r, n = A.rows(), x.rows()
    for _ in range(order):
        # Row i s + j of this Jacobian is entry (i, j) of A, so that row i of the derivative is n s entries in a row of
        # its transpose: one sparse reshape does the rearranging.
        by_entry = casadi.jacobian(vec(A.T), x)
        A = casadi.reshape(by_entry.T, A.columns() * n, r).T
    return A


@of_matrices
def product_derivative(A: SX, dA: SX, B: SX, dB: SX, n: int) -> SX:
    """Derivative of A B from those of its factors: dA (B (x) E_n) + A dB. Tuan (9), Khang (19).

    A is r x p, B is p x s, dA is r x p n, dB is p x s n (Khang derivatives by the same n-vector), the result r x s n.
    For a constant C in place of B, Khang (20), dB is ``SX(p, s * n)``. Raises ShapeError for shapes that do not fit.
    """
    if n < 0 or A.columns() != B.rows():
        raise ShapeError(f"a product of {size_of(A)} and {size_of(B)} derived by {n} variables does not exist")
    for name, factor, derivative in (("first", A, dA), ("second", B, dB)):
        if derivative.shape != (factor.rows(), factor.columns() * n):
            raise ShapeError(
                f"the derivative of the {name} factor ({size_of(factor)}) by {n} variables must be "
                f"{factor.rows()} x {factor.columns() * n}, not {size_of(derivative)}"
            )
    return dA @ kron(B, SX.eye(n)) + A @ dB


@of_matrices
def time_derivative(dA: SX, xd: SX) -> SX:
    """Derivative by time of A(x(t)) from the Khang derivative dA = dA/dx: dA (E_s (x) xd), Tuan (8).

    dA is r x s n, xd (the rate of x) is n x 1, the result r x s. Raises ShapeError unless xd is a column of at least
    one rate and n divides the number of columns of dA.
    """
    n = xd.rows()
    if xd.columns() != 1 or n == 0 or dA.columns() % n:
        raise ShapeError(f"a derivative of {size_of(dA)} does not fit rates of {size_of(xd)}")
    return dA @ kron(SX.eye(dA.columns() // n), xd)


def derivative_columns(columns: Sequence[str], variables: Sequence[str]) -> list[str]:
    """Names of the columns of a Khang derivative, in order: ``q1|q2`` is column q1 derived by q2.

    Apply it again for a second derivative: ``q1|q2|q3``.
    """
    return [f"{column}|{variable}" for column in columns for variable in variables]


def check_order(k: int, what: str) -> None:
    """Raise ShapeError for a negative order."""
    if k < 0:
        raise ShapeError(f"{what} must not be negative, not {k}")


def check_variables(x: SX) -> None:
    """Raise ShapeError unless x is a dense column of different symbols."""
    if x.columns() != 1 or not x.is_dense():
        raise ShapeError(f"a derivative is by a dense column of symbols, not by {size_of(x)} with {x.nnz()} entries")
    if not x.is_valid_input():
        raise ShapeError("a derivative is by symbols: an expression or a number stands among the variables")
    # SX.has_duplicates leaves marks on the symbols that make its next answer wrong.
    if len(casadi.symvar(x)) < x.rows():
        raise ShapeError("a derivative is by different symbols: one stands twice among the variables")


def size_of(A: SX) -> str:
    """The shape in words."""
    return f"{A.rows()} x {A.columns()}"
