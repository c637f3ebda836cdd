"""One step of RODAS as a traced function.

RODAS (Hairer and Wanner, Solving Ordinary Differential Equations II, section IV.7) is a Rosenbrock method: an implicit
one that solves linear equations only, with the exact Jacobian of the rate. Its order is 4, with an error estimate of
order 3, and it is L-stable: vibrations that are faster than the step and smaller than the tolerance are damped, not
followed, so that the highest natural frequency does not bound the step.
"""

from __future__ import annotations

import casadi
from casadi import MX, SX

from kronbot.model.parameters import Parameters

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


def step(t: SX, x: SX, rate: SX, coordinates: int, parameters: Parameters) -> casadi.Function:
    """(t, x, h, parameters, (rtol, atol)) -> (x at t + h, error by the tolerances: a step up to 1 is good).

    ``rate`` is that of x = [q, qd, accounts] with so many coordinates q: the rate of q is qd, and no rate depends on an
    account. So the linear equations of a stage come down to as many as there are coordinates: with the blocks A and B
    of the accelerations' Jacobian (by q and by qd) their matrix is I / (h GAMMA) - B - h GAMMA A.
    """
    symbols = parameters.symbols()
    jacobian = casadi.jacobian(rate, x)
    q, qd, accounts = slice(0, coordinates), slice(coordinates, 2 * coordinates), slice(2 * coordinates, None)
    blocks = [jacobian[row, column] for row in (qd, accounts) for column in (q, qd)]
    parts = [casadi.densify(part) for part in (rate, casadi.jacobian(rate, t), *blocks)]
    linear = casadi.Function("linear", [t, x, symbols], parts)  # shares all but 1 to 4 % already
    rates = casadi.Function("rates", [t, x, symbols], parts[:1])
    solve = _solution(x.numel(), coordinates)

    start, here = MX.sym("t"), MX.sym("x", x.numel())
    h, bound, tolerances = MX.sym("h"), MX.sym("p", symbols.numel()), MX.sym("tolerances", 2)
    f, by_t, by_q, by_qd, *others = linear(start, here, bound)
    length = h * GAMMA
    matrix = MX.eye(coordinates) / length - by_qd - length * by_q
    inverse = casadi.solve(matrix, MX.eye(coordinates), "qr")
    increments: list[MX] = []
    for stage in range(STAGES):
        if stage:
            f = rates(start + ALPHAS[stage] * h, _sum(here, A[stage], increments), bound)
        right = _sum(f + GAMMAS[stage] * h * by_t, C[stage], [increment / h for increment in increments])
        increments.append(solve(length, inverse, by_q, *others, right))
    end = _sum(here, (*_LAST, 1.0, 1.0), increments)
    scale = tolerances[1] + tolerances[0] * casadi.fmax(casadi.fabs(here), casadi.fabs(end))
    error = casadi.norm_2(increments[-1] / scale) / x.numel() ** 0.5
    return casadi.Function("step", [start, here, h, bound, tolerances], [end, error])


def _solution(size: int, coordinates: int) -> casadi.Function:
    """(h GAMMA, inverse of the matrix, A, the accounts' Jacobians by q and by qd, right side) -> increments of a stage.

    Number by number: products of small matrices take several times as long.
    """
    length, right = SX.sym("length"), SX.sym("right", size)
    inverse, by_q = (SX.sym(name, coordinates, coordinates) for name in ("inverse", "by_q"))
    of_q_in, of_qd_in = (SX.sym(name, size - 2 * coordinates, coordinates) for name in ("of_q", "of_qd"))
    of_first, of_second, of_accounts = casadi.vertsplit(right, [0, coordinates, 2 * coordinates, size])
    qd = inverse @ (of_second + length * (by_q @ of_first))
    q = length * (of_first + qd)
    accounts = length * (of_accounts + of_q_in @ q + of_qd_in @ qd)
    return casadi.Function(
        "solve", [length, inverse, by_q, of_q_in, of_qd_in, right], [casadi.vertcat(q, qd, accounts)]
    )


def _sum(first: MX, weights: tuple[float, ...], increments: list[MX]) -> MX:
    for weight, increment in zip(weights, increments, strict=True):
        first = first + weight * increment
    return first
