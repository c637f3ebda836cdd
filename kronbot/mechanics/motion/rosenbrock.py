"""RODAS: one step as a traced function, and its steps in a row.

RODAS (Hairer and Wanner, Solving Ordinary Differential Equations II, section IV.7) is a Rosenbrock method: an implicit
one that solves linear equations only, with the exact Jacobian of the rate. Its order is 4, with an error estimate of
order 3, and it is L-stable: vibrations that are faster than the step and smaller than the tolerance are damped, not
followed, so that the highest natural frequency does not bound the step.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import NamedTuple

import casadi
import numpy as np
import numpy.typing as npt
from casadi import MX, SX

from kronbot.compute.buffered import Buffered
from kronbot.compute.native import policy
from kronbot.compute.native.compiling import Code, made
from kronbot.compute.native.cost import FULL, INTERPRETED
from kronbot.compute.native.kernel import Kernel
from kronbot.errors import ComputationError
from kronbot.floats import Array
from kronbot.mechanics.motion.integration import HOPELESS, PATIENCE, WHY, Block, Integrator, Ode, Tolerances
from kronbot.mechanics.motion.strides import Strides

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
# Work (s, interpreted) after which is told how far it is.
PAUSE = 0.02


class _Step(NamedTuple):
    """One that was taken, and how many rows of output lie in it; what D makes of it is ``within``."""

    rows: int
    t: float
    goal: float
    h: float
    here: Array
    end: Array
    within: Array


class Rodas(Integrator):
    """Quick where the tolerance is that of an engineer.

    The estimated error of a step, per number of the state, meets the tolerances in the mean square, as in CVODES.
    """

    ORDER = ORDER
    SAFETY, LEAST, MOST = 0.9, 0.1, 6.0

    def __init__(self, ode: Ode, tolerances: Tolerances) -> None:
        super().__init__(ode, tolerances)
        self.step = step(ode.t, ode.x, self.rate_at(ode.t), ode.coordinates, ode.beside, self.symbols)
        # A call by value would take as long as the step.
        self.t, self.here, self.h = np.zeros(1), np.zeros(ode.x.numel()), np.zeros(1)
        self.end, self.error = np.zeros_like(self.here), np.zeros(1)
        self.within = np.zeros(len(D) * len(self.here))
        self.limits = np.array([tolerances.rtol, tolerances.atol])
        self.attempts: dict[Code[casadi.Function] | None, Buffered] = {}
        self.strides: dict[Code[casadi.Function], Callable[[Array], int] | None] = {}
        self.use({self.step: 1 / STAGES})

    def follow(self, start: float, end: float, times: list[float], x: Array) -> Iterator[Block]:
        """Steps of the traced function, as long as the estimated errors allow."""
        # Contacts are looked for step by step, and charts may change after each.
        pause = 1 if self.looking else max(1, int(PAUSE / (INTERPRETED * STAGES * max(1, self.instructions))))
        stride = self._stride(pause) if self.charts is None and not self.contacts else None
        if stride is not None:
            yield from self._follow_natively(stride, start, end, np.array(times), x)
            return
        t, length, largest, steps = start, self.first_step(start, x, end), self.MOST, 0
        shown = done = 0
        attempt, kept = self._attempt(), list[_Step]()
        self.here[:] = x
        while t < end:
            # The last two are even, so that none is a rest.
            h = end - t if end - t <= length * (1 + 1e-9) else min(length, (end - t) / 2)
            self.t[0], self.h[0] = t, h
            attempt()
            error = self.error.item()
            steps += 1
            self.steps += 1
            self.evaluations += STAGES
            if error <= 1.0:
                goal = end if h == end - t else t + h
                last = bisect_right(times, goal)
                if last > done:
                    kept.append(_Step(last - done, t, goal, h, *map(np.copy, (self.here, self.end, self.within))))
                t, done = goal, last
                self.here[:] = self.end
                length = h * min(largest, self._factor(error))
                largest = self.MOST
            elif t + h * self.LEAST == t:
                raise ComputationError(f"Rodas gave up at t = {t:g} s: {WHY}")
            else:
                length = h * min(1.0, self._factor(error))
                largest = 1.0  # what has just failed is not made longer again at once
            self.demand_progress(t, end, length, steps)
            if steps - shown >= pause or t == end or self.leaves(self.here):
                here = self.here.copy()
                first = done - sum(each.rows for each in kept)
                yield Block(
                    t,
                    here,
                    _between(np.array(times[first:done]), *zip(*kept, strict=True)) if kept else np.empty((0, len(x))),
                )
                self.here[:] = here  # where others may have gone meanwhile, to look for contacts
                attempt, kept, shown = self._attempt(), [], steps

    def _follow_natively(
        self, stride: Callable[[Array], int], start: float, end: float, times: Array, x: Array
    ) -> Iterator[Block]:
        """The same by the loop in C, which stops where it has given up."""
        self.state[:] = start, self.first_step(start, x, end), self.MOST, end
        self.counts[:] = 0
        self.here[:] = x
        while self.state[0] < end:
            _, before, first, _ = self.counts.tolist()
            self.counts[3] = 0
            lost = stride(times)
            _, steps, done, count = self.counts.tolist()
            self.steps += steps - before
            self.evaluations += STAGES * (steps - before)
            t, length = self.state[:2].tolist()
            self.demand_progress(t, end, length, steps)
            if lost:
                raise ComputationError(f"Rodas gave up at t = {t:g} s: {WHY}")
            n, kept = len(x), self.kept[:count]
            parts = (*kept[:, :4].T, kept[:, 4 : 4 + n], kept[:, 4 + n : 4 + 2 * n], kept[:, 4 + 2 * n :])
            yield Block(t, self.here.copy(), _between(times[first:done], *parts))

    def _stride(self, pause: int) -> Callable[[Array], int] | None:
        """So many steps in C, where the step is native code and that is wanted in any case."""
        code = self.native.code()
        if code is None or policy.choice() != "on":
            return None
        if code not in self.strides:
            constants = {"SAFETY": self.SAFETY, "LEAST": self.LEAST, "MOST": self.MOST, "POWER": -1 / (ORDER + 1)}
            found = made(FULL, Strides(constants | {"PATIENCE": PATIENCE, "HOPELESS": HOPELESS}, self._factor))
            self.state, self.counts = np.zeros(4), np.zeros(4, dtype=np.int64)
            self.kept = np.empty((pause, 4 + 4 * len(self.here)))
            memory = (self.t, self.here, self.h, self.bound, self.limits), (self.end, self.error, self.within)
            self.strides[code] = None
            with suppress(OSError, AttributeError):  # evicted a moment ago
                if found is not None:
                    step = Kernel(self.step.name(), code.library)
                    self.strides[code] = found.function.prepared(step, *memory, self.state, self.counts, self.kept)
        return self.strides[code]

    def _attempt(self) -> Buffered:
        """The step from ``t`` and ``here``, ``h`` long, to ``end`` with its ``error`` and what is ``within``."""
        code = self.native.code()
        if code not in self.attempts:
            arguments = (self.t, self.here, self.h, self.bound, self.limits)
            results = (self.end, self.error, self.within)
            self.attempts[code] = Buffered(self.step if code is None else code.function, arguments, results)
        return self.attempts[code]

    def _factor(self, error: float) -> float:
        """How many times as long the next step may be; an error that is no number demands the least."""
        if not math.isfinite(error):
            return self.LEAST
        factor = self.SAFETY * math.pow(max(error, 1e-12), -1 / (ORDER + 1))
        return min(self.MOST, max(self.LEAST, factor))


def _between(times: Array, counts: npt.ArrayLike, *parts: npt.ArrayLike) -> Array:
    """States at times within steps that have been taken, many steps at once: they are short."""
    rows = np.asarray(counts).astype(int)
    t, goal, h, here, end, within = (np.repeat(np.asarray(part), rows, axis=0) for part in parts)
    s = np.where(times == goal, 1.0, (times - t) / h)[:, None]
    second, third = np.split(within, len(D), axis=1)
    return (1 - s) * here + s * (end + (1 - s) * (second + s * third))  # type: ignore[no-any-return]


def step(t: SX, x: SX, rate: SX, coordinates: int, beside: int, symbols: SX) -> casadi.Function:
    """(t, x, h, values of the symbols, (rtol, atol)) -> (x at t + h, error by the tolerances, what D makes within).

    A step of an error up to 1 is good.

    ``rate`` is that of x = [q, w, accounts] with so many coordinates q, and w = [qd, what stands beside]: the rate of q
    is qd, and no rate depends on an account. So the linear equations of a stage come down to as many as w has numbers:
    with the blocks A and B of the Jacobian of its rate (by q and by w) their matrix is I / (h GAMMA) - B - h GAMMA A,
    A being 0 in the columns of what stands beside.
    """
    jacobian = casadi.jacobian(rate, x)
    size = coordinates + beside
    q, w, accounts = slice(0, coordinates), slice(coordinates, coordinates + size), slice(coordinates + size, None)
    blocks = [jacobian[row, column] for row in (w, accounts) for column in (q, w)]
    parts = [casadi.densify(part) for part in (rate, casadi.jacobian(rate, t), *blocks)]
    linear = casadi.Function("linear", [t, x, symbols], parts)  # shares all but 1 to 4 % already
    rates = casadi.Function("rates", [t, x, symbols], parts[:1])
    solve = _solution(x.numel(), coordinates, size)

    start, here = MX.sym("t"), MX.sym("x", x.numel())
    h, bound, tolerances = MX.sym("h"), MX.sym("p", symbols.numel()), MX.sym("tolerances", 2)
    f, by_t, by_q, by_w, *others = linear(start, here, bound)
    length = h * GAMMA
    matrix = MX.eye(size) / length - by_w - length * casadi.horzcat(by_q, MX(size, beside))
    inverse = casadi.solve(matrix, MX.eye(size), "qr")
    increments: list[MX] = []
    for stage in range(STAGES):
        if stage:
            f = rates(start + ALPHAS[stage] * h, _sum(here, A[stage], increments), bound)
        right = _sum(f + GAMMAS[stage] * h * by_t, C[stage], [increment / h for increment in increments])
        increments.append(solve(length, inverse, by_q, *others, right))
    end = _sum(here, (*_LAST, 1.0, 1.0), increments)
    scale = tolerances[1] + tolerances[0] * casadi.fmax(casadi.fabs(here), casadi.fabs(end))
    error = casadi.norm_2(increments[-1] / scale) / x.numel() ** 0.5
    within = casadi.vertcat(*(_sum(MX.zeros(x.numel()), weights, increments) for weights in D))
    return casadi.Function("step", [start, here, h, bound, tolerances], [end, error, within])


def _solution(size: int, coordinates: int, rates: int) -> casadi.Function:
    """(h GAMMA, inverse of the matrix, A, the accounts' Jacobians by q and by w, right side) -> increments of a stage.

    Number by number: products of small matrices take several times as long.
    """
    length, right = SX.sym("length"), SX.sym("right", size)
    inverse, by_q = SX.sym("inverse", rates, rates), SX.sym("by_q", rates, coordinates)
    accounted = size - coordinates - rates
    of_q_in, of_w_in = SX.sym("of_q", accounted, coordinates), SX.sym("of_w", accounted, rates)
    of_first, of_second, of_accounts = casadi.vertsplit(right, [0, coordinates, coordinates + rates, size])
    w = inverse @ (of_second + length * (by_q @ of_first))
    q = length * (of_first + w[:coordinates, :])
    accounts = length * (of_accounts + of_q_in @ q + of_w_in @ w)
    return casadi.Function("solve", [length, inverse, by_q, of_q_in, of_w_in, right], [casadi.vertcat(q, w, accounts)])


def _sum(first: MX, weights: tuple[float, ...], increments: list[MX]) -> MX:
    for weight, increment in zip(weights, increments, strict=True):
        first = first + weight * increment
    return first
