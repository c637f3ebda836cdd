"""The Kronecker calculus against numpy, complex steps, multiple precision and the theorems of Tuan and Khang.

Matrix functions are sums of monomials times sines with seeded coefficients, written once for SX, complex and mpmath
numbers. First derivatives are held against complex steps, higher ones against mpmath at 40 digits; both are exact to
double rounding, so one tolerance serves everywhere: 1e-12 of the largest entry (of 1 where all are smaller).
"""

import json
import math
from itertools import product
from pathlib import Path

import casadi
import mpmath
import numpy as np
import pytest
from casadi import DM, SX

from kronbot.errors import ShapeError
from kronbot.kronecker import calculus, taylor
from kronbot.kronecker.calculus import (
    block_skew,
    commutation,
    derivative_columns,
    khang_derivative,
    kron,
    kron_power,
    product_derivative,
    skew,
    time_derivative,
    vec,
)

REFERENCE = json.loads((Path(__file__).parents[1] / "data" / "kronecker_linearisation.json").read_text())
E = SX.eye
STEP = 1e-30  # a complex step subtracts nothing: small enough that the cubic term is below rounding
TERMS = 3
SHAPES = [(1, 1, 1), (1, 1, 3), (3, 1, 2), (1, 4, 2), (2, 3, 4), (3, 2, 1), (3, 7, 7)]  # r, s, n


class MatrixFunction:
    """An r x s matrix of random functions of n variables: sum_t c_t x^(e_t) sin(w_t . x + phase_t) an entry."""

    def __init__(self, rng, r, s, n):
        self.shape, self.n = (r, s), n
        self.terms = {
            entry: [
                (rng.uniform(-1, 1), rng.integers(0, 3, n), rng.uniform(-1, 1, n), rng.uniform(0, 6))
                for _ in range(TERMS)
            ]
            for entry in product(range(r), range(s))
        }

    def entry(self, i, j, x, sin):
        total = 0
        for c, powers, w, phase in self.terms[i, j]:
            monomial = math.prod((x[k] ** int(powers[k]) for k in range(self.n)), start=float(c))
            total += monomial * sin(sum(float(w[k]) * x[k] for k in range(self.n)) + phase)
        return total

    def traced(self, x):
        """As an SX matrix of the symbols x."""
        symbols = [x[k] for k in range(self.n)]
        rows, columns = self.shape
        return casadi.blockcat([[self.entry(i, j, symbols, casadi.sin) for j in range(columns)] for i in range(rows)])

    def at(self, x):
        """As an array of complex numbers at the point x."""
        rows, columns = self.shape
        return np.array([[self.entry(i, j, x, np.sin) for j in range(columns)] for i in range(rows)], dtype=complex)

    def partial(self, i, j, point, orders):
        """One partial derivative of one entry, at 40 digits."""
        with mpmath.workdps(40):
            return float(mpmath.diff(lambda *x: self.entry(i, j, x, mpmath.sin), tuple(map(float, point)), orders))


def along(function, point, direction):
    """Derivative of an array function at a point along a direction, by a complex step."""
    return function(point + 1j * STEP * np.asarray(direction)).imag / STEP


def number(expression, *bindings):
    """The value of an expression; bindings are pairs of symbols and their values."""
    symbols = [s for s, _ in bindings]
    return casadi.Function("f", symbols, [expression]).call([v for _, v in bindings])[0].full()


def constant(rng, rows, columns):
    return SX(rng.uniform(-1, 1, (rows, columns)))


def difference(left, right, *bindings):
    left, right = (number(SX(side), *bindings) for side in (left, right))
    assert left.shape == right.shape
    return np.max(np.abs(left - right)) / max(1.0, np.max(np.abs(right)))


def assert_same(left, right, *bindings):
    assert difference(left, right, *bindings) <= 1e-12


def assert_differ(left, right, *bindings):
    """Wrong formulas are off by nine orders of magnitude more than right ones."""
    assert difference(left, right, *bindings) > 1e-3


@pytest.fixture
def rng():
    return np.random.default_rng(20190541)


# ------------------------------------------------------------------------------- products, powers, vec


@pytest.mark.parametrize("a, b", [((2, 3), (4, 1)), ((1, 1), (2, 2)), ((3, 1), (1, 3)), ((2, 2), (3, 0))])
def test_kron_is_the_block_matrix_of_products(rng, a, b):
    """Tuan (1), Khang (2)."""
    A, B = rng.uniform(-1, 1, a), rng.uniform(-1, 1, b)
    assert np.array_equal(number(kron(SX(A), SX(B))), np.kron(A, B))


def test_kron_keeps_structural_zeros():
    A, B = SX(2, 3), SX.sym("b", 2, 2)
    A[0, 1], A[1, 2] = 2, SX.sym("a")
    assert kron(A, B).nnz() == 2 * 4
    assert kron(A, E(5)).nnz() == 2 * 5


def test_rules_of_kronecker_products(rng):
    """Associativity Tuan (2), Khang (3); transposition Tuan (3), Khang (4); mixed product Tuan (4), Khang (5)."""
    A, B, C, D = (constant(rng, *size) for size in ((2, 3), (4, 2), (3, 2), (2, 5)))
    assert_same(kron(kron(A, B), C), kron(A, kron(B, C)))
    assert_same(kron(A, B).T, kron(A.T, B.T))
    assert_same(kron(A, B) @ kron(C, D), kron(A @ C, B @ D))


def test_rules_of_kronecker_products_with_vectors(rng):
    """Tuan (12)-(13), Khang (6)-(9)."""
    A, d, x, a = (constant(rng, *size) for size in ((4, 3), (3, 1), (2, 1), (5, 1)))
    assert_same(kron(E(4), x) @ A @ d, kron(A, E(2)) @ kron(d, x))
    assert_same(kron(d, x), kron(d, E(2)) @ x)
    assert_same(kron(E(3), a) @ d, kron(d, E(5)) @ a)
    assert_same(a @ d.T, kron(d.T, E(5)) @ kron(E(3), a))


def test_two_vectors_through_one_matrix(rng):
    """Tuan (14) with A of size p x (r m); the p x m of one text copy of the paper does not conform."""
    p, m, r, n = 4, 3, 2, 5
    A, x, y, d = (constant(rng, *size) for size in ((p, r * m), (n, 1), (m, 1), (r, 1)))
    assert_same(kron(E(p), x) @ A @ kron(E(r), y) @ d, kron(A, E(n)) @ kron(d, E(n * m)) @ kron(y, x))
    with pytest.raises(RuntimeError, match="dimension"):
        kron(E(p), x) @ A[:, :m] @ kron(E(r), y)


def test_kron_power(rng):
    """Khang (11)-(12), and the empty product."""
    A = constant(rng, 2, 3)
    assert_same(kron_power(A, 3), kron(A, kron(A, A)))
    assert_same(kron_power(A, 1), A)
    assert_same(kron_power(A, 0), E(1))
    with pytest.raises(ValueError, match="must not be negative, not -1"):
        kron_power(A, -1)


def test_vec(rng):
    """Tuan (7) and (10)."""
    A, X, B = (rng.uniform(-1, 1, size) for size in ((2, 3), (3, 4), (4, 5)))
    assert np.array_equal(number(vec(SX(X)))[:, 0], X.flatten(order="F"))
    assert_same(vec(SX(A @ X @ B)), kron(SX(B.T), SX(A)) @ vec(SX(X)))


@pytest.mark.parametrize("m, n", [(2, 3), (1, 4), (4, 1), (3, 3), (0, 2)])
def test_commutation_transposes(rng, m, n):
    A = constant(rng, m, n)
    K = commutation(m, n)
    assert K.shape == (m * n, m * n) and K.nnz() == m * n
    assert np.array_equal(number(K @ vec(A)), number(vec(A.T)))
    assert np.array_equal(number(K.T), number(commutation(n, m)))


def test_commutation_swaps_the_factors_of_a_product(rng):
    """With (A (x) B) vec(X) = vec(B X A^T): transposing X and the result swaps A and B."""
    A, B = constant(rng, 2, 3), constant(rng, 4, 5)
    assert_same(commutation(4, 2) @ kron(A, B) @ commutation(3, 5), kron(B, A))


def test_commutation_swaps_names_and_columns_alike(rng):
    n = 3
    A = rng.uniform(-1, 1, (2, n * n))
    swapped = number(SX(A) @ commutation(n, n))
    for j, k in product(range(n), repeat=2):
        assert np.array_equal(swapped[:, j * n + k], A[:, k * n + j])


def test_commutation_refuses_negative_sizes():
    with pytest.raises(ValueError, match="not 2 and -1"):
        commutation(2, -1)


# -------------------------------------------------------------------------------------- skew matrices


def test_skew_is_the_cross_product(rng):
    """Tuan (15)."""
    a, b = rng.uniform(-1, 1, 3), rng.uniform(-1, 1, 3)
    assert np.allclose(number(skew(SX(a)) @ SX(b))[:, 0], np.cross(a, b), rtol=0, atol=1e-15)


@pytest.mark.parametrize("size", [(1, 3), (4, 1), (3, 3), (1, 1)])
def test_skew_refuses_other_shapes(size):
    with pytest.raises(ValueError, match=f"not {size[0]} x {size[1]}"):
        skew(SX(*size))


@pytest.mark.parametrize("m", [1, 4])
def test_block_skew(rng, m):
    """Tuan (16)-(18), with the tilde that (17) lacks on its left side."""
    A, a, b = (constant(rng, *size) for size in ((3, m), (m, 1), (3, 1)))
    S, zero = block_skew(A), SX.zeros(1, m)
    assert S.shape == (3, 3 * m) and S.nnz() == 6 * m
    by_rows = casadi.blockcat([[zero, -A[2, :], A[1, :]], [A[2, :], zero, -A[0, :]], [-A[1, :], A[0, :], zero]])
    assert_same(S, by_rows)
    assert_same(skew(A @ a), S @ kron(E(3), a))
    assert_same(skew(b) @ A, -S @ kron(b, E(m)))


def test_tuan_17_as_printed_has_two_shapes(rng):
    A, a = constant(rng, 3, 4), constant(rng, 4, 1)
    assert (A @ a).shape == (3, 1)
    assert (block_skew(A) @ kron(E(3), a)).shape == (3, 3)


def test_block_skew_of_a_vector_is_skew(rng):
    a = constant(rng, 3, 1)
    assert_same(block_skew(a), skew(a))


def test_block_skew_keeps_structural_zeros():
    assert block_skew(casadi.diag(SX.sym("a", 3))).nnz() == 6


@pytest.mark.parametrize("rows", [1, 2, 6])
def test_block_skew_refuses_other_shapes(rows):
    with pytest.raises(ValueError, match=f"3 rows, not {rows} x 2"):
        block_skew(SX(rows, 2))


# ------------------------------------------------------------------------------------ the derivative


@pytest.mark.parametrize("r, s, n", SHAPES)
def test_block_columns_are_derivatives_of_columns(rng, r, s, n):
    """Tuan (5), Khang (13)-(15); scalars and vectors are r = s = 1 and s = 1."""
    f, x, point = MatrixFunction(rng, r, s, n), SX.sym("x", n), rng.uniform(-1, 1, n)
    derivative = number(khang_derivative(f.traced(x), x), (x, point))
    assert derivative.shape == (r, s * n)
    for k in range(n):
        by_xk = along(f.at, point, np.eye(n)[k])
        assert np.max(np.abs(derivative[:, k::n] - by_xk)) <= 1e-12 * max(1.0, np.max(np.abs(by_xk)))


@pytest.mark.parametrize("order", [0, 1, 2, 3])
@pytest.mark.parametrize("r, s, n", [(1, 1, 2), (2, 1, 3), (2, 2, 2)])
def test_higher_orders(rng, r, s, n, order):
    """Khang (16)-(18), read for k >= 2 and with n^k columns an entry."""
    f, x, point = MatrixFunction(rng, r, s, n), SX.sym("x", n), rng.uniform(-1, 1, n)
    derivative = number(khang_derivative(f.traced(x), x, order), (x, point))
    assert derivative.shape == (r, s * n**order)
    blocks = derivative.reshape((r, s, *[n] * order))  # the later a derivative, the faster its index
    exact = np.empty_like(blocks)
    for i, j, *by in np.ndindex(blocks.shape):
        exact[(i, j, *by)] = f.partial(i, j, point, tuple(by.count(k) for k in range(n)))
    assert np.max(np.abs(blocks - exact)) <= 1e-12 * max(1.0, np.max(np.abs(exact)))


def test_a_scalar_has_a_row_for_derivative():
    """Khang (13), (16): 1 x n and 1 x n^k, not columns."""
    x = SX.sym("x", 3)
    assert khang_derivative(x[0] * x[1], x).shape == (1, 3)
    assert khang_derivative(x[0] * x[1], x, 2).shape == (1, 9)


def test_derivative_keeps_structural_zeros():
    x = SX.sym("x", 3)
    A = SX(2, 2)
    A[0, 1], A[1, 0], A[1, 1] = x[0] * x[2], casadi.sin(x[1]), 5
    first, second = khang_derivative(A, x), khang_derivative(A, x, 2)
    assert {(0, 3), (0, 5), (1, 1)} == set(zip(*first.sparsity().get_triplet(), strict=True))
    assert {(0, 11), (0, 15), (1, 4)} == set(zip(*second.sparsity().get_triplet(), strict=True))


@pytest.mark.parametrize("r, s, n", [(0, 4, 3), (3, 0, 3), (2, 2, 0)])
def test_derivative_of_nothing_or_by_nothing(r, s, n):
    assert khang_derivative(SX(r, s), SX.sym("x", n)).shape == (r, s * n)


def test_derivative_refuses_what_is_not_a_column_of_symbols():
    x = SX.sym("x", 2)
    wrong = {
        "dense column": [x.T, SX(2, 1), SX.sym("X", 2, 2)],
        "an expression or a number": [2 * x, casadi.vertcat(x[0], 1)],
        "stands twice": [casadi.vertcat(x[0], x[0])],
    }
    for message, variables in wrong.items():
        for by in variables:
            with pytest.raises(ValueError, match=message):
                khang_derivative(x, by)
    with pytest.raises(ValueError, match="must not be negative, not -1"):
        khang_derivative(x, x, -1)


def test_derivatives_of_two_vectors_against_reference_numbers():
    x, y = SX.sym("x", 2), SX.sym("y", 3)
    A = casadi.blockcat(
        [
            [casadi.sin(x[0]) * y[0], x[1] * y[1] ** 2, casadi.exp(-x[0] * y[2])],
            [x[0] * x[1], casadi.cos(x[1] * y[0]), x[0] ** 2 * y[1] * y[2]],
        ]
    )
    at = (x, REFERENCE["x0"]), (y, REFERENCE["y0"])
    assert_same(A, SX(np.array(REFERENCE["A0"])), *at)
    assert_same(khang_derivative(A, x), SX(np.array(REFERENCE["dA_dx"])), *at)
    assert_same(khang_derivative(A, y), SX(np.array(REFERENCE["dA_dy"])), *at)


# -------------------------------------------------------------------------------------------- theorems


def test_derivative_by_time(rng):
    """Tuan (8) along x(t) = x0 + xd t."""
    f, x = MatrixFunction(rng, 3, 2, 4), SX.sym("x", 4)
    x0, xd = rng.uniform(-1, 1, 4), rng.uniform(-1, 1, 4)
    rate = time_derivative(khang_derivative(f.traced(x), x), SX(xd))
    assert rate.shape == (3, 2)
    assert_same(rate, along(f.at, x0, xd), (x, x0))


@pytest.mark.parametrize("rates", [SX(3, 1), SX(1, 2), SX(2, 2), SX(0, 1)])
def test_derivative_by_time_refuses_rates_that_do_not_fit(rates):
    with pytest.raises(ValueError, match="does not fit"):
        time_derivative(SX(2, 4), rates)


def test_acceleration_from_jacobian_and_hessian(rng):
    """Tuan (11) along q(t) = q0 + qd t + qdd t^2 / 2."""
    f, q = MatrixFunction(rng, 3, 4, 4), SX.sym("q", 4)
    q0, qd, qdd = rng.uniform(-1, 1, (3, 4))

    def velocity(t):
        return f.at(q0 + qd * t + qdd * t**2 / 2) @ (qd + qdd * t)

    J = f.traced(q)
    assert_same(J @ SX(qdd) + khang_derivative(J, q) @ kron_power(SX(qd), 2), along(velocity, 0, 1), (q, q0))


@pytest.mark.parametrize("r, p, s, n", [(2, 3, 4, 3), (1, 1, 1, 2), (1, 3, 1, 2), (3, 1, 2, 1), (2, 2, 2, 0)])
def test_product_rule(rng, r, p, s, n):
    """Tuan (9), Khang (19) against the derivative of the product, itself tested above."""
    x = SX.sym("x", n)
    A, B = MatrixFunction(rng, r, p, n).traced(x), MatrixFunction(rng, p, s, n).traced(x)
    by_rule = product_derivative(A, khang_derivative(A, x), B, khang_derivative(B, x), n)
    assert by_rule.shape == (r, s * n)
    if n:
        assert_same(by_rule, khang_derivative(A @ B, x), (x, rng.uniform(-1, 1, n)))


@pytest.mark.parametrize(
    "sizes, n, message",
    [
        (((2, 3), (2, 6), (4, 2), (4, 4)), 2, "product of 2 x 3 and 4 x 2"),
        (((2, 3), (2, 6), (3, 2), (3, 4)), -2, "product of 2 x 3 and 3 x 2 derived by -2 variables"),
        (((2, 3), (2, 5), (3, 2), (3, 4)), 2, "first factor .* must be 2 x 6, not 2 x 5"),
        (((2, 3), (2, 6), (3, 2), (2, 4)), 2, "second factor .* must be 3 x 4, not 2 x 4"),
        (((1, 1), (1, 2), (3, 2), (3, 4)), 2, "product of 1 x 1 and 3 x 2"),
    ],
)
def test_product_rule_refuses_shapes_that_do_not_fit(sizes, n, message):
    with pytest.raises(ValueError, match=message):
        product_derivative(*(SX(*size) for size in sizes), n)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_constants_and_unit_vectors_leave_the_derivative(rng, k):
    """Khang (20)-(21) with a constant on the right, (22)-(25) by entries and by columns."""
    n, x = 2, SX.sym("x", 2)
    at = (x, rng.uniform(-1, 1, n))
    A, C = MatrixFunction(rng, 2, 3, n).traced(x), constant(rng, 3, 4)
    dA = khang_derivative(A, x, k)
    assert_same(khang_derivative(A @ C, x, k), dA @ kron(C, kron_power(E(n), k)), at)
    a = A[:, 0]
    assert_same(khang_derivative(a, x, k), sum(E(2)[:, i] @ khang_derivative(a[i], x, k) for i in range(2)), at)
    by_columns = (khang_derivative(A[:, i], x, k) @ kron(E(3)[:, i].T, E(n**k)) for i in range(3))
    assert_same(dA, sum(by_columns), at)


def test_constant_factor_in_the_product_rule(rng):
    """Khang (20)."""
    x, C = SX.sym("x", 2), constant(rng, 3, 4)
    A = MatrixFunction(rng, 2, 3, 2).traced(x)
    dA = khang_derivative(A, x)
    assert_same(product_derivative(A, dA, C, SX(3, 8), 2), dA @ kron(C, E(2)), (x, rng.uniform(-1, 1, 2)))


def test_names_of_columns():
    names = derivative_columns(["q1", "q2"], ["q1", "arm.v1"])
    assert names == ["q1|q1", "q1|arm.v1", "q2|q1", "q2|arm.v1"]
    assert derivative_columns(names[:1], ["q1", "q2"]) == ["q1|q1|q1", "q1|q1|q2"]
    assert derivative_columns([], ["q1"]) == []


def test_names_stand_at_their_columns():
    x = SX.sym("x", 2)
    J = khang_derivative(x[0] ** 2 * x[1], x)
    H = khang_derivative(J, x)
    assert str(H[derivative_columns(["x1", "x2"], ["x1", "x2"]).index("x2|x1")]) == str(2 * x[0])


# ------------------------------------------------------- the calculus at work: relative motion of frames


class Frame:
    """Frame (b) seen from (a), both arbitrary functions of q: position d, rotation A and what derives from them."""

    def __init__(self, d, A, q):
        x, y, z = (A[:, i] for i in range(3))
        dx, dy, dz = (khang_derivative(axis, q) for axis in (x, y, z))
        self.d, self.A = d, A
        self.J_R_b = casadi.vertcat(z.T @ dy, x.T @ dz, y.T @ dx)  # Tuan (40), in frame (b)
        self.J_R_a = A @ self.J_R_b
        self.H_R_b, self.H_R_a = khang_derivative(self.J_R_b, q), khang_derivative(self.J_R_a, q)
        self.J_T_b = A.T @ khang_derivative(d, q)
        self.H_T_star = A.T @ khang_derivative(d, q, 2)  # Tuan (58)


def random_pose(rng, q):
    angles = MatrixFunction(rng, 3, 1, q.rows()).traced(q)
    A = E(3)
    for angle, axis in zip(casadi.vertsplit(angles), (0, 1, 0), strict=True):
        c, s, turn = casadi.cos(angle), casadi.sin(angle), E(3)
        i, j = (axis + 1) % 3, (axis + 2) % 3
        turn[i, i], turn[i, j], turn[j, i], turn[j, j] = c, -s, s, c
        A = A @ turn
    return MatrixFunction(rng, 3, 1, q.rows()).traced(q), A


@pytest.fixture
def motion(rng):
    """q, a point, and frames b and c seen from a, and c seen from b."""
    q = SX.sym("q", 3)
    (d_b, A_b), (d_bc, A_bc) = random_pose(rng, q), random_pose(rng, q)
    b, bc, c = Frame(d_b, A_b, q), Frame(d_bc, A_bc, q), Frame(d_b + A_b @ d_bc, A_b @ A_bc, q)
    return (q, rng.uniform(-1, 1, 3)), b, bc, c


def test_rotations_turn_block_skew_matrices_as_a_whole(motion):
    """bsk(R J) = R bsk(J) (R^T (x) E_n): the tilde of Tuan (89)-(90) belongs over the product."""
    at, b, _, _ = motion
    R, J = b.A.T, b.J_R_b
    assert_same(block_skew(R @ J), R @ block_skew(J) @ kron(R.T, E(3)), at)
    assert_differ(block_skew(R @ J), R @ block_skew(J), at)


def test_jacobian_of_rotation_is_the_angular_velocity(rng, motion):
    """Tuan (21) and (40), through Tuan (17) as corrected."""
    (q, point), b, _, _ = motion
    qd = SX(rng.uniform(-1, 1, 3))
    rate = time_derivative(khang_derivative(b.A, q), qd)
    assert_same(block_skew(b.J_R_b) @ kron(E(3), qd), b.A.T @ rate, (q, point))


def test_rotational_hessian_in_another_frame(rng, motion):
    """Tuan (65) holds applied to qd (x) qd; the equality of matrices needs one more term."""
    at, b, _, _ = motion
    twice = kron_power(constant(rng, 3, 1), 2)
    assert_same(b.H_R_b @ twice, b.A.T @ b.H_R_a @ twice, at)
    assert_differ(b.H_R_b, b.A.T @ b.H_R_a, at)
    assert_same(b.H_R_b, b.A.T @ (b.H_R_a - block_skew(b.J_R_a) @ kron(b.J_R_a, E(3))), at)


def test_rotational_hessian_of_relative_motion(rng, motion):
    """Tuan (90): a quadratic form with the tilde over the product, an equality of matrices with K on the last term."""
    at, b, bc, c = motion
    R, twice = bc.A.T, kron_power(constant(rng, 3, 1), 2)
    turned = R @ b.H_R_b + bc.H_R_b
    last = block_skew(R @ b.J_R_b) @ kron(bc.J_R_b, E(3))
    assert_same(c.H_R_b @ twice, (turned + last) @ twice, at)
    assert_differ(c.H_R_b, turned + last, at)
    assert_same(c.H_R_b, turned + last @ commutation(3, 3), at)
    assert_differ(c.H_R_b @ twice, (turned + R @ block_skew(b.J_R_b) @ kron(bc.J_R_b, E(3))) @ twice, at)


def test_translational_hessian_of_relative_motion(rng, motion):
    """Tuan (89): a quadratic form with the tilde over the products; the equality of matrices as in the errata."""
    at, b, bc, c = motion
    n, R, twice = 3, bc.A.T, kron_power(constant(rng, 3, 1), 2)
    d = R @ bc.d

    def sum_of_terms(S, H_R, coriolis, swap):
        centripetal = S @ kron(S, E(n)) @ kron(d, E(n * n)) @ swap
        return R @ b.H_T_star - skew(d) @ R @ H_R + S @ kron(bc.J_T_b, E(n)) @ coriolis + centripetal + bc.H_T_star

    S, same, K = block_skew(R @ b.J_R_b), E(n * n), commutation(n, n)
    corrected = sum_of_terms(S, b.H_R_b, 2 * same, same)
    assert_same(c.H_T_star @ twice, corrected @ twice, at)
    assert_differ(c.H_T_star, corrected, at)
    assert_same(c.H_T_star, sum_of_terms(S, b.A.T @ b.H_R_a, same + K, K), at)

    wrong = R @ block_skew(b.J_R_b)
    assert_differ(c.H_T_star @ twice, sum_of_terms(wrong, b.H_R_b, 2 * same, same) @ twice, at)
    with pytest.raises(RuntimeError, match="dimension"):  # no tilde at all, as printed
        sum_of_terms(R @ b.J_R_b, b.H_R_b, 2 * same, same)


@pytest.mark.parametrize(
    "value", [None, "x", object(), 1j, True, np.nan, [[1, 2], [3]], np.longdouble("inf"), np.zeros((1, 1, 1))]
)
def test_what_is_no_matrix_is_refused(value):
    """By every function and for every argument that is a matrix; and an order is an integer."""
    x, A = SX.sym("x", 3), SX.eye(3)
    calls = {
        calculus.kron: (A, A),
        calculus.kron_power: (A, 2),
        calculus.vec: (A,),
        calculus.commutation: (2, 2),
        calculus.skew: (x,),
        calculus.block_skew: (A,),
        calculus.khang_derivative: (A @ x, x, 1),
        calculus.product_derivative: (A, SX(3, 9), A, SX(3, 9), 3),
        calculus.time_derivative: (SX(3, 9), x),
        taylor.coefficients: (A @ x, x, 1),
        taylor.expansion: ([A], x),
        taylor.directional: (A @ x, x, x, 1),
        taylor.linearized_two: (A, x, SX.sym("y"), x, SX(1)),
        taylor.linearized_product: (A, x, x),
        taylor.linearized_product_two: (A, x, SX.sym("y", 3)),
    }
    for function, arguments in calls.items():
        function(*arguments)
        for place in range(len(arguments)):
            with pytest.raises(ShapeError):
                function(*arguments[:place], value, *arguments[place + 1 :])


def test_matrices_of_numbers_are_taken():
    """Of any real type, in any container, at their values."""
    for given in (2, 2.5, [1, 2], [[1.5, 2], [3, 4]], np.longdouble("0.5"), np.float32(0.5), DM([1, 2])):
        assert float(casadi.norm_inf(DM(calculus.kron(given, 2) - 2 * DM(np.asarray(given, dtype=float))))) == 0
