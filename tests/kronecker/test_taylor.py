"""Taylor expansions against independent numbers, multiple precision and the order of their errors.

Two computations of one expression differ by rounding only: 1e-12 of the largest entry.
"""

import json
import math
from pathlib import Path

import casadi
import mpmath
import numpy as np
import pytest
from casadi import DM, SX
from thinned import rare, thinned

import kronbot
from kronbot.errors import ComputationError
from kronbot.kronecker import taylor
from kronbot.kronecker.calculus import kron, kron_power
from kronbot.kronecker.taylor import (
    LIMIT,
    coefficients,
    columns,
    directional,
    expansion,
    linearized_product,
    linearized_product_two,
    linearized_two,
)
from kronbot.mechanics.multibody.state import generalized_inertia_matrix, propagate

DATA = Path(__file__).parents[1] / "data"
STACKER = json.loads((DATA / "stacker.json").read_text())["taylor"]
PRODUCT = json.loads((DATA / "kronecker_linearised_product.json").read_text())
ROUNDING = 1e-12
E = SX.eye
# Where slopes are measured: the next term of the error shifts them by about the step times a number near 1 (more along
# the rare direction where the leading term nearly vanishes), and the error of order 6 is still 50 times above rounding.
STEPS = 0.1, 0.05
SLOPE = 0.15


@pytest.fixture
def rng():
    return np.random.default_rng(20190337)


def values(expressions, *bindings):
    """Numbers of a list of expressions; bindings are pairs of symbols and their values."""
    symbols, numbers = zip(*bindings, strict=True)
    return [value.full() for value in casadi.Function("f", symbols, expressions).call(numbers)]


def assert_close(left, right, tolerance=ROUNDING):
    left, right = np.asarray(left), np.asarray(right)
    assert left.shape == right.shape
    assert np.max(np.abs(left - right)) <= tolerance * max(1.0, np.max(np.abs(right)))


def instructions(expressions):
    return casadi.Function("f", [], expressions, {"allow_free": True}).n_instructions()


def random_matrix(rng, x, r, s):
    """An r x s matrix of smooth random functions of x, every kind of operation in each entry."""

    def linear():
        return casadi.dot(SX(rng.uniform(-1, 1, x.rows())), x)

    def entry():
        u, v, w = linear(), linear(), linear()
        return casadi.sin(u) * casadi.exp(v) + casadi.sqrt(3 + w * u) - casadi.cos(v) / (3 + casadi.tanh(w) + u**2)

    return casadi.blockcat([[entry() for _ in range(s)] for _ in range(r)])


class Matrix:
    """A matrix function A of the symbols x, with a point x0, a direction and values for the other symbols."""

    def __init__(self, rng, A, x, others=None):
        self.A, self.x, self.delta = A, x, SX.sym("delta", x.rows())
        self.x0, self.direction = rng.uniform(-0.5, 0.5, x.rows()), rng.uniform(-1, 1, x.rows())
        self.others = others or (SX(0, 1), [])

    def at(self, expressions, step=1.0):
        return values(expressions, (self.x, self.x0), (self.delta, step * self.direction), self.others)


def random_function(rng):
    x = SX.sym("x", 3)
    return Matrix(rng, random_matrix(rng, x, 2, 3), x)


def mass_matrix(name):
    def function(rng):
        robot = kronbot.load(name).model
        q = SX.sym("q", robot.n)
        M = generalized_inertia_matrix(propagate(robot, q, SX(robot.n, 1)))
        return Matrix(rng, M, q, (robot.parameters.symbols(), robot.parameters.bound()))

    return function


FUNCTIONS = {"random": random_function} | {n: mass_matrix(n) for n in ("stacker-numeric", "canadarm", "piedboeuf")}


@pytest.fixture(params=thinned([*FUNCTIONS], ["random", "piedboeuf"]))
def function(request, rng):
    return FUNCTIONS[request.param](rng)


# ------------------------------------------------------------------------------------- the polynomial


def test_error_of_order_k_falls_with_power_k_plus_1(function):
    """Khang (1), (47), orders 1 to 6."""
    terms = directional(function.A, function.x, function.delta, 6)
    exact = casadi.substitute(function.A, function.x, function.x + function.delta)
    errors = []
    for step in STEPS:
        *parts, there = function.at([*terms, exact], step)
        errors.append([np.max(np.abs(sum(parts[: k + 1]) - there)) for k in range(1, 7)])
    slopes = np.log(np.divide(*errors)) / math.log(STEPS[0] / STEPS[1])
    assert slopes == pytest.approx([2, 3, 4, 5, 6, 7], abs=SLOPE)


@pytest.mark.parametrize("name, order", [("random", 4), ("stacker-numeric", 6), rare("canadarm", 3)])
def test_directional_derivatives_equal_the_kronecker_form(rng, name, order):
    """Term k is 1/k! d^kA/dx^k (E_s (x) Delta^(x)k), from coefficients as numbers and as expressions."""
    function = FUNCTIONS[name](rng)
    derivatives = coefficients(function.A, function.x, order)
    *parts, polynomial = function.at(
        [*directional(function.A, function.x, function.delta, order), expansion(derivatives, function.delta)]
    )
    assert_close(polynomial, sum(parts))
    s, power = function.A.columns(), DM(1)
    for k, derivative in enumerate(function.at(derivatives)):
        assert derivative.shape == (function.A.rows(), columns(s, function.x.rows(), k))
        assert_close(DM(derivative) @ casadi.kron(DM.eye(s), power) / math.factorial(k), parts[k])
        power = casadi.kron(power, DM(function.direction))
    numeric = expansion(function.at(derivatives), function.direction)
    assert isinstance(numeric, DM)
    assert_close(numeric, polynomial)


@pytest.mark.parametrize("r, s, n", [(1, 1, 1), (1, 1, 3), (3, 1, 2), (2, 3, 2)])
def test_expansion_is_the_formula_of_the_paper(rng, r, s, n):
    """Khang (36) for scalars, (41) for vectors, (47) for matrices, as printed."""
    derivatives = [SX(rng.uniform(-1, 1, (r, s * n**k))) for k in range(5)]
    delta = SX(rng.uniform(-1, 1, n))
    printed = derivatives[0]
    for k in range(1, 5):
        printed += derivatives[k] @ kron(E(s), kron_power(delta, k)) / math.factorial(k)
    assert_close(DM(expansion(derivatives, delta)), DM(printed))


def test_expansion_takes_what_an_evaluation_returns():
    """Vectors as one-dimensional arrays, numbers with a symbolic deviation."""
    assert_close(expansion([np.ones(2), np.ones((2, 3))], np.array([1.0, 2.0, 3.0])).full(), [[7], [7]])
    delta = SX.sym("delta", 3)
    symbolic = expansion([np.ones(2), np.ones((2, 3))], delta)
    assert isinstance(symbolic, SX)
    assert_close(values([symbolic], (delta, [1, 2, 3]))[0], [[7], [7]])


@pytest.mark.parametrize("way", ["coefficients", "directional"])
def test_stacker_against_reference_numbers(rng, way):
    function = mass_matrix("stacker-numeric")(rng)
    function.x0, function.direction = STACKER["q0"], np.array(STACKER["delta"])
    derivatives = coefficients(function.A, function.x, 4)
    if way == "directional":
        parts = function.at(directional(function.A, function.x, function.delta, 4))
    else:
        parts = function.at([expansion(derivatives[: k + 1], function.delta) for k in range(5)])
        parts = [parts[0], *np.diff(parts, axis=0)]
        assert_close(function.at(derivatives)[2], STACKER["d2M_dq2"], 1e-9)
    (exact,) = function.at([casadi.substitute(function.A, function.x, function.x + function.delta)])
    assert_close(parts[0], STACKER["M_q0"], 1e-9)
    assert_close(exact, STACKER["exact"], 1e-9)
    for k in range(1, 5):
        polynomial = sum(parts[: k + 1])
        assert_close(polynomial, STACKER[f"order{k}"], 1e-9)
        # The error is a difference of numbers near 3e4.
        error = np.max(np.abs(polynomial - exact))
        assert error == pytest.approx(STACKER["max_abs_error"][k - 1], rel=1e-9, abs=1e-10)


# ------------------------------------------------------------------------------ directional derivatives

UNARY = {
    "sin": (casadi.sin, mpmath.sin),
    "cos": (casadi.cos, mpmath.cos),
    "tan": (casadi.tan, mpmath.tan),
    "asin": (casadi.asin, mpmath.asin),
    "acos": (casadi.acos, mpmath.acos),
    "atan": (casadi.atan, mpmath.atan),
    "sinh": (casadi.sinh, mpmath.sinh),
    "cosh": (casadi.cosh, mpmath.cosh),
    "tanh": (casadi.tanh, mpmath.tanh),
    "asinh": (casadi.asinh, mpmath.asinh),
    "acosh": (lambda u: casadi.acosh(2 + u), lambda u: mpmath.acosh(2 + u)),
    "atanh": (casadi.atanh, mpmath.atanh),
    "exp": (casadi.exp, mpmath.exp),
    "expm1": (casadi.expm1, mpmath.expm1),
    "log": (casadi.log, mpmath.log),
    "log1p": (casadi.log1p, mpmath.log1p),
    "sqrt": (casadi.sqrt, mpmath.sqrt),
    "erf": (casadi.erf, mpmath.erf),
    "fabs": (lambda u: casadi.fabs(-u), abs),
    "inverse": (lambda u: 1 / u, lambda u: 1 / u),
    "twice": (lambda u: u + u, lambda u: 2 * u),
    "cube": (lambda u: u**3, lambda u: u**3),
    "constant power": (lambda u: u**1.7, lambda u: u ** mpmath.mpf(1.7)),
    "constant base": (lambda u: 1.7**u, lambda u: mpmath.mpf(1.7) ** u),
    "a branch": (lambda u: casadi.if_else(u < 1, casadi.sin(u), u), mpmath.sin),
}
BINARY = {
    "quotient": (lambda u, v: u / v, lambda u, v: u / v),
    "difference": (lambda u, v: u - v * v, lambda u, v: u - v * v),
    "power": (lambda u, v: u**v, lambda u, v: u**v),
    "atan2": (casadi.atan2, mpmath.atan2),
    "hypot": (casadi.hypot, mpmath.hypot),
    "smaller": (casadi.fmin, lambda u, v: min(u, v)),
}


@pytest.mark.parametrize("name", [*UNARY, *BINARY])
def test_every_operation_against_multiple_precision(name):
    """Terms up to 6 of f(u), f(u, v) with u, v themselves curved in t, against derivatives at 60 digits."""
    x, x0, delta = SX.sym("x", 2), (0.3, 0.7), (0.6, -0.4)

    def inside(a, b):
        return a + a * b / 4, b + a * a / 4

    u, v = inside(x[0], x[1])
    traced, precise = (UNARY | BINARY)[name]
    terms = directional(traced(u) if name in UNARY else traced(u, v), x, delta, 6)
    with mpmath.workdps(60):

        def along(t):
            u, v = inside(*(mpmath.mpf(a) + t * mpmath.mpf(b) for a, b in zip(x0, delta, strict=True)))
            return precise(u) if name in UNARY else precise(u, v)

        exact = [float(c) for c in mpmath.taylor(along, 0, 6)]
    assert_close([term.item() for term in values(terms, (x, x0))], exact)


def test_deviation_may_be_any_expression_and_sparse(rng):
    """Delta is a constant of the differentiation also where it depends on x."""
    x, scale = SX.sym("x", 3), SX.sym("scale")
    A, delta, x0 = random_matrix(rng, x, 2, 2), SX(3, 1), rng.uniform(-0.5, 0.5, 3)
    delta[1] = scale * x[0]
    parts = values(directional(A, x, delta, 4), (x, x0), (scale, 2.0))
    same = values(directional(A, x, [0, 2 * x0[0], 0], 4), (x, x0))
    for left, right in zip(parts, same, strict=True):
        assert_close(left, right)


def test_functions_without_an_inside_are_derived_too(rng):
    """A call in the tape has no operations to follow; it gives what the same formula without a call gives."""
    u, x = SX.sym("u"), SX.sym("x", 2)
    called = casadi.Function("called", [u], [casadi.sin(u) * u], {"never_inline": True})
    delta = casadi.vertcat(x[1], -1)
    terms = directional(casadi.vertcat(called(x[0] * x[1]), x[0]), x, delta, 4)
    open_terms = directional(casadi.vertcat(casadi.sin(x[0] * x[1]) * x[0] * x[1], x[0]), x, delta, 4)
    x0 = rng.uniform(-1, 1, 2)
    for left, right in zip(values(terms, (x, x0)), values(open_terms, (x, x0)), strict=True):
        assert_close(left, right)


def test_terms_of_a_polynomial_end():
    x, delta = SX.sym("x", 2), SX.sym("delta", 2)
    A = SX(2, 2)
    A[0, 1], A[1, 1] = x[0] * x[1], 5
    terms = directional(A, x, delta, 4)
    assert [term.nnz() for term in terms] == [2, 1, 1, 0, 0]
    assert [term.shape for term in terms] == [(2, 2)] * 5


@pytest.mark.parametrize("r, s, n", [(0, 2, 3), (2, 0, 3), (2, 2, 0)])
def test_expansion_of_nothing_or_by_nothing(r, s, n):
    x, A = SX.sym("x", n), SX.ones(r, s)
    assert [term.shape for term in directional(A, x, SX(n, 1), 2)] == [(r, s)] * 3
    assert expansion(coefficients(A, x, 2), SX(n, 1)).shape == (r, s)


def test_order_0_is_the_matrix_itself():
    x = SX.sym("x", 2)
    A = casadi.sin(x) / x
    assert casadi.is_equal(directional(A, x, SX.sym("delta", 2), 0)[0], A, 9)
    assert casadi.is_equal(coefficients(A, x, 0)[0], A, 9)


@pytest.mark.slow
def test_cost_grows_as_a_low_power_of_the_order(rng):
    """A product of two series to order 6 costs 7 * 8 / 2 products at most; n^6 would be 5e5 columns for each of M."""
    function = mass_matrix("canadarm")(rng)
    once = instructions([casadi.cse(function.A)])
    counts = [instructions(directional(function.A, function.x, function.delta, k)) for k in (2, 4, 6)]
    assert counts[2] < 28 * once
    assert counts[2] - counts[1] < 1.5 * (counts[1] - counts[0])


# ------------------------------------------------------------------------------------------- the guard


def test_columns():
    assert [columns(3, 4, k) for k in range(4)] == [3, 12, 48, 192]
    assert columns(2, 0, 0) == 2


def test_coefficients_that_would_be_too_large_are_refused():
    x = SX.sym("x", 15)
    A = casadi.sin(x) @ x.T
    with pytest.raises(ComputationError) as refused:
        coefficients(A, x, 6)
    message = str(refused.value)
    for part in ("15 x 15 matrix by 15 variables", "170,859,375 columns", f"{LIMIT:,}", "delta", "directional"):
        assert part in message
    assert len(directional(A, x, SX.sym("delta", 15), 6)) == 7


def test_too_many_entries_are_refused_before_anything_is_traced(monkeypatch):
    monkeypatch.setattr("kronbot.questions.taylor._quantity", lambda *_: pytest.fail("traced"))
    with pytest.raises(ComputationError, match="derivative 2 of a 19 x 361 matrix by 19 variables"):
        kronbot.load("torso").taylor("C_star")


def test_limit_counts_entries(monkeypatch):
    x = SX.sym("x", 2)
    monkeypatch.setattr(taylor, "LIMIT", 2 * 3 * 2**3)
    assert len(coefficients(SX(2, 3), x, 3)) == 4
    with pytest.raises(ComputationError, match="derivative 4 .* 48 columns and 96 entries"):
        coefficients(SX(2, 3), x, 4)


# --------------------------------------------------------------------------------------- linearization


def test_product_of_two_variables_against_reference_numbers():
    """Khang (52) with E_ny beside d/dy and E_nx beside d/dx."""
    x, y = SX.sym("x", 2), SX.sym("y", 3)
    A = casadi.blockcat(
        [
            [casadi.sin(x[0]) * y[0], x[1] * y[1] ** 2, casadi.exp(-x[0] * y[2])],
            [x[0] * x[1], casadi.cos(x[1] * y[0]), x[0] ** 2 * y[1] * y[2]],
        ]
    )
    product, L_y, L_x = values(linearized_product_two(A, x, y), (x, PRODUCT["x0"]), (y, PRODUCT["y0"]))
    assert_close(product[:, 0], PRODUCT["A0y0"])
    assert_close(L_y, PRODUCT["L_y"])
    assert_close(L_x, PRODUCT["L_x"])


def assert_error_is_of_second_order(exact, model, point, deviations, rng):
    """Both hold x, y and the deviations; the error is quartered when the deviation is halved."""
    x0, directions = rng.uniform(-0.5, 0.5, point.rows()), rng.uniform(-1, 1, deviations.rows())
    errors = []
    for step in (0.002, 0.001):
        left, right = values([exact, model], (point, x0), (deviations, step * directions))
        errors.append(np.max(np.abs(left - right)))
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2, abs=0.05)


@pytest.mark.parametrize("formula", [50, 52, 53])
def test_linear_models_touch_the_function(rng, formula):
    """Khang (50), (52), (53) with vectors of different sizes; (51) as printed does not touch."""
    x, y, dx, dy = SX.sym("x", 2), SX.sym("y", 3), SX.sym("dx", 2), SX.sym("dy", 3)
    point, deviations = casadi.vertcat(x, y), casadi.vertcat(dx, dy)
    A = random_matrix(rng, x if formula == 53 else point, 4, 3)
    if formula == 50:
        function, model = A, linearized_two(A, x, y, dx, dy)
    else:
        product, L_y, L_x = linearized_product_two(A, x, y) if formula == 52 else linearized_product(A, x, y)
        function, model = A @ y, product + L_y @ dy + L_x @ dx
    assert model.shape == function.shape
    exact = casadi.substitute(function, point, point + deviations)
    assert_error_is_of_second_order(exact, model, point, deviations, rng)
    if formula == 52:
        printed = model + (linearized_two(A, x, y, dx, dy) - A) @ (y + dy)
        with pytest.raises(AssertionError):
            assert_error_is_of_second_order(exact, printed, point, deviations, rng)


# ---------------------------------------------------------------------------------------- wrong shapes

X, Y = SX.sym("x", 2), SX.sym("y", 3)
WRONG = {
    "the order of an expansion must not be negative, not -1": [
        lambda: coefficients(X, X, -1),
        lambda: directional(X, X, X, -1),
    ],
    "dense column of symbols": [lambda: coefficients(X, X.T, 0), lambda: directional(X, X.T, X.T, 1)],
    "an expression or a number": [lambda: coefficients(X, 2 * X, 0), lambda: directional(X, X + 1, X, 1)],
    "deviation from 2 x 1 must be 2 x 1, not 3 x 1": [
        lambda: directional(X, X, Y, 1),
        lambda: linearized_two(SX(2, 2), X, Y, Y, Y),
    ],
    "deviation from 3 x 1 must be 3 x 1, not 1 x 3": [lambda: linearized_two(SX(2, 2), X, Y, X, Y.T)],
    "needs at least the coefficient of order 0": [lambda: expansion([], X)],
    "deviation is a column, not 1 x 2": [lambda: expansion([X], X.T)],
    "coefficient 1 of a 2 x 3 matrix and 2 variables must be 2 x 6, not 2 x 5": [
        lambda: expansion([SX(2, 3), SX(2, 5)], X)
    ],
    "coefficient 2 of a 1 x 1 matrix and 2 variables must be 1 x 4, not 2 x 4": [
        lambda: expansion([1, SX(1, 2), SX(2, 4)], X)
    ],
    "stands twice": [lambda: linearized_two(SX(2, 2), X, X, X, X), lambda: linearized_product_two(SX(2, 2), X, X)],
    "matrix of 2 x 2 multiplies a column of 2, not 3 x 1": [
        lambda: linearized_product_two(SX(2, 2), X, Y),
        lambda: linearized_product(SX(2, 2), X, Y),
    ],
}


@pytest.mark.parametrize("message", WRONG)
def test_wrong_arguments_are_refused(message):
    for wrong in WRONG[message]:
        with pytest.raises(ValueError, match=message):
            wrong()
