"""RODAS: one step as a traced function.

RODAS (Hairer and Wanner, Solving Ordinary Differential Equations II, section IV.7) is a Rosenbrock method: an implicit
one that solves linear equations only, with the exact Jacobian of the rate. Its order is 4, with an error estimate of
order 3, and it is L-stable: vibrations that are faster than the step and smaller than the tolerance are damped, not
followed, so that the highest natural frequency does not bound the step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import casadi
from casadi import MX, SX

STAGES = 6
# Order of the error estimate.
ORDER = 3
# Coefficients of the transformed method: of stage i in row i - 1, for the increments of the stages before it. With
# them (I / (h GAMMA) - J) U_i = f(t + ALPHA_i h, x + sum A_ij U_j) + sum C_ij U_j / h + GAMMAS_i h df/dt.
GAMMA = 0.25
ALPHAS = (0.0, 0.386, 0.21, 0.63, 1.0, 1.0)
GAMMAS = (0.25, -0.1043, 0.1035, -0.0362, 0.0, 0.0)
_LAST = (1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950)
A = (
    (),
    (1.544,),
    (0.9466785280815826, 0.2557011698983284),
    (3.314825187068521, 2.896124015972201, 0.9986419139977817),
    _LAST,
    (*_LAST, 1.0),
)
C = (
    (),
    (-5.6688,),
    (-2.430093356833875, -0.2063599157091915),
    (-0.1073529058151375, -9.594562251023355, -20.47028614809616),
    (7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160),
    (8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136, -6.058818238834054),
)
# Within a step x = (1 - s) x_0 + s (x_1 + (1 - s) (sum D_1j U_j + s sum D_2j U_j)) at t + s h, of order 3.
D = (
    (10.12623508344586, -7.487995877610167, -34.80091861555747, -7.992771707568823, 1.025137723295662, 0.0),
    (-0.6762803392801253, 6.087714651680015, 16.43084320892478, 24.76722511418386, -6.594389125716872, 0.0),
)
# Rows of a matrix that is eliminated number by number: of a larger one CasADi's loops are shorter than its text.
WRITTEN_OUT = 40


def step(t: SX, x: SX, rate: SX, coordinates: int, beside: int, symbols: SX) -> casadi.Function:
    """(t, x, h, values of the symbols, (rtol, atol)) -> (x at t + h, error by the tolerances, what D makes within).

    A step of an error up to 1 is good. It is made of calls alone, which lanes of code take over each for itself.

    ``rate`` is that of x = [q, w, accounts] with so many coordinates q, and w = [qd, what stands beside]: the rate of q
    is qd, and no rate depends on an account. So the linear equations of a stage come down to as many as w has numbers:
    with the blocks A and B of the Jacobian of its rate (by q and by w) their matrix is I / (h GAMMA) - B - h GAMMA A,
    A being 0 in the columns of what stands beside.
    """
    jacobian = casadi.jacobian(rate, casadi.vertcat(x, t))  # at once: each goes through the rate
    size, n = coordinates + beside, x.numel()
    q, w, accounts = slice(0, coordinates), slice(coordinates, coordinates + size), slice(coordinates + size, n)
    blocks = [jacobian[row, column] for row in (w, accounts) for column in (q, w)]
    parts = [casadi.densify(part) for part in (rate, jacobian[:, n], *blocks)]
    linear = casadi.Function("linear", [t, x, symbols], parts)  # shares all but 1 to 4 % already
    rates = casadi.Function("rates", [t, x, symbols], parts[:1])
    eliminate, solve = _elimination(n, coordinates, size)

    h, f, by_t, tolerances = SX.sym("h"), SX.sym("f", n), SX.sym("by_t", n), SX.sym("tolerances", 2)
    U = [SX.sym("U", n) for _ in range(STAGES)]
    end = _sum(x, (*_LAST, 1.0, 1.0), U)
    scale = tolerances[1] + tolerances[0] * casadi.fmax(casadi.fabs(x), casadi.fabs(end))
    error = casadi.norm_2(U[-1] / scale) / n**0.5
    within = casadi.vertcat(*(_sum(SX.zeros(n), weights, U) for weights in D))
    ended = casadi.Function("ended", [x, tolerances, *U], [end, error, within])

    start, here, length = MX.sym("t"), MX.sym("x", n), MX.sym("h")
    bound, limits = MX.sym("p", symbols.numel()), MX.sym("tolerances", 2)
    slope, of_time, of_q, of_w, *others = linear(start, here, bound)
    eliminated = eliminate(length, of_q, of_w)
    over: list[SX] = [each / h for each in U]
    increments: list[MX] = []
    for stage in range(STAGES):
        before = U[:stage]
        if stage:
            at = casadi.Function("at", [t, x, h, *before], [t + ALPHAS[stage] * h, _sum(x, A[stage], before)])
            slope = rates(*at(start, here, length, *increments), bound)
        right = _sum(f + GAMMAS[stage] * h * by_t, C[stage], over[:stage])
        of_stage = casadi.Function("right", [h, f, by_t, *before], [right])(length, slope, of_time, *increments)
        increments.append(solve(length, *eliminated, of_q, *others, of_stage))
    return casadi.Function("step", [start, here, length, bound, limits], [*ended(here, limits, *increments)])


def _elimination(size: int, coordinates: int, rates: int) -> tuple[Callable[..., Sequence[MX]], casadi.Function]:
    """(h, A, B) -> what is left of the matrix; (h, that, A, the accounts' Jacobians by q and by w, right side) ->
    increments of a stage. Number by number by Householder's Q R: products of small matrices take several times as long,
    and reflections need no choice of pivots, which would part lanes.
    """
    h, right = SX.sym("h"), SX.sym("right", size)
    by_q, by_w = SX.sym("by_q", rates, coordinates), SX.sym("by_w", rates, rates)
    length = h * GAMMA
    matrix = SX.eye(rates) / length - by_w - length * casadi.horzcat(by_q, SX(rates, rates - coordinates))
    written = rates <= WRITTEN_OUT
    of_matrix = _reflected(matrix) if written else [casadi.densify(matrix)]
    first = casadi.Function("eliminate", [h, by_q, by_w], of_matrix)

    def eliminate(*given: MX) -> Sequence[MX]:
        found = first(*given)
        return [*found] if written else [casadi.solve(found, MX.eye(rates), "qr")]

    left = [SX.sym("left", each.sparsity()) for each in of_matrix]
    accounted = size - coordinates - rates
    of_q_in, of_w_in = SX.sym("of_q", accounted, coordinates), SX.sym("of_w", accounted, rates)
    of_first, of_second, of_accounts = casadi.vertsplit(right, [0, coordinates, coordinates + rates, size])
    second = of_second + length * (by_q @ of_first)
    w = _solved(left, second) if written else left[0] @ second
    q = length * (of_first + w[:coordinates, :])
    accounts = length * (of_accounts + of_q_in @ q + of_w_in @ w)
    increments = casadi.vertcat(q, w, accounts)
    return eliminate, casadi.Function("solve", [h, *left, by_q, of_q_in, of_w_in, right], [increments])


def _reflected(matrix: SX) -> list[SX]:
    """Householder's Q R of a matrix M: CasADi's vectors and factors of the reflections, and of R = (U + I) D the part U
    above the diagonal, on it -1 / D. It is taken of -M, whose diagonal is negative where h is small: above numbers
    whose squares are 0, or nearly so, CasADi's reflections need that."""
    v, r, factors, *_ = casadi.qr_sparse(-matrix, False)
    scales = -1 / casadi.diag(r)
    return [v, factors, casadi.diag(scales) - casadi.triu(r, False) @ casadi.diag(scales)]


def _solved(left: Sequence[SX], right: SX) -> SX:
    v, factors, upper = left
    order, r = range(right.numel()), casadi.triu(upper, False) + SX.eye(right.numel())
    return casadi.diag(upper) * casadi.qr_solve(right, v, r, factors, order, order)


def _sum(first: SX, weights: tuple[float, ...], increments: Sequence[SX]) -> SX:
    """The first and increments by their weights, added in that order."""
    return casadi.horzcat(first, *increments) @ SX([1.0, *weights])
