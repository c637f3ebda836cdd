"""Numerical integration of x' = f(t, x) on a grid, one stretch of time after another.

A run is cut into stretches so that progress, Ctrl-C and partial results are possible: inside one CVODES call nothing
can be seen or saved.
"""

from __future__ import annotations

import itertools
import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stderr
from dataclasses import dataclass
from io import StringIO

import casadi
import numpy as np
import numpy.typing as npt
from casadi import SX

from kronbot.compute.buffered import Buffered
from kronbot.compute.compiling import Code
from kronbot.compute.cost import INTERPRETED, instructions
from kronbot.compute.interruption import Interruptions
from kronbot.compute.native import Native
from kronbot.errors import ComputationError
from kronbot.mechanics import rosenbrock
from kronbot.model.parameters import Parameters

Array = npt.NDArray[np.float64]

SOLVERS = ("cvodes", "rodas", "dop853", "radau")
STRETCHES = 40
# Work (s, interpreted) that a Ctrl-C may lose.
LOSS = 0.5
# Evaluations that tell which family of CVODES suits a robot.
TRIAL = 1000
EVALUATIONS_PER_JACOBIAN = 15
WHY = "the motion runs away there, or the tolerances are too tight"
# A stretch that needs more steps than this has met a singularity or an instability, not mere stiffness.
STEP_LIMIT = 200_000


@dataclass(frozen=True)
class Ode:
    """x' = rate(t, x): symbols t (1 x 1) and x (n x 1), the traced rate (n x 1), parameters bound at integration.

    x begins with so many ``coordinates``, whose rates are the next so many. ``longest_step`` (s) bounds the steps where
    the rate has features that a longer one would miss.
    """

    t: SX
    x: SX
    rate: SX
    coordinates: int
    parameters: Parameters
    longest_step: float | None


@dataclass(frozen=True)
class Tolerances:
    """Relative and absolute error allowed in a step."""

    rtol: float
    atol: float


class Integrator(ABC):
    """Advances a state over one stretch; ``steps`` (where it tells) and ``evaluations`` count.

    ``functions`` are what it evaluates, each so many times an evaluation of the rate; their native code is used where
    that pays.
    """

    def __init__(self, functions: Mapping[casadi.Function, float]) -> None:
        self.native = Native(*functions)
        self.weights = tuple(functions.values())
        # Of one evaluation, with its share of Jacobians.
        self.instructions = int(sum(weight * instructions(part) for part, weight in functions.items()))
        self.steps = 0
        self.evaluations = 0
        self.met = Interruptions()  # those of whoever runs this

    def advance(self, times: Array, x: Array) -> Array:
        """States (k, n) at ``times[1:]`` from x (n,) at ``times[0]``.

        Raises ComputationError where it gives up, KeyboardInterrupt for a Ctrl-C.
        """
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # what overflows is seen in the states
            try:
                return self.integrate(times, x)
            except (ValueError, ArithmeticError, np.linalg.LinAlgError):
                raise ComputationError(f"the motion overflows after t = {times[0]:g} s") from None

    def expect_more(self, share: float) -> None:
        """Told after a stretch which share of the run is done; what that took is a measure of what is to come."""
        left = self.evaluations * (1 - share) / share
        self.native.expect(*(int(left * weight) for weight in self.weights))

    def close(self) -> None:
        """Told when the run is over, however it ends: leaves no compiler at work."""
        self.native.close()

    def demand_no_interruption(self) -> None:
        """Raise KeyboardInterrupt after a Ctrl-C, also one that native code or a destructor has swallowed."""
        if self.met:
            raise KeyboardInterrupt from None

    @abstractmethod
    def integrate(self, times: Array, x: Array) -> Array:
        """The states of :meth:`advance`."""


class Cvodes(Integrator):
    """SUNDIALS CVODES with the exact sparse Jacobian of the trace.

    The first stretches are integrated by both of its families, Adams (made for oscillations) and BDF (for stiff, damped
    robots); the one that needs fewer evaluations does the rest.
    """

    def __init__(self, ode: Ode, tolerances: Tolerances) -> None:
        self.start = SX.sym("start")
        symbols = ode.parameters.symbols()
        elapsed = SX.sym("elapsed")
        rate = casadi.substitute(ode.rate, ode.t, self.start + elapsed)
        self.problem = {"t": elapsed, "x": ode.x, "p": casadi.vertcat(self.start, symbols), "ode": rate}
        self.bound = ode.parameters.bound()
        self.options = {
            "reltol": tolerances.rtol,
            "abstol": tolerances.atol,
            "max_num_steps": STEP_LIMIT,
            "disable_internal_warnings": True,
            "show_eval_warnings": False,
        }
        if ode.longest_step is not None:
            self.options["max_step_size"] = ode.longest_step
        self.costs = {"adams": 0, "bdf": 0}
        self.grids: dict[tuple[tuple[float, ...], str, Code | None], casadi.Function] = {}
        traced = casadi.integrator("stretch", "cvodes", self.problem, 0.0, [1.0], self.options)
        weights = {"dae": 0.0, "daeF": 1.0, "jacF": 1 / EVALUATIONS_PER_JACOBIAN}
        super().__init__({traced.get_function(name): weight for name, weight in weights.items()})

    def integrate(self, times: Array, x: Array) -> Array:
        """One CVODES call; of the first stretches one by each family."""
        found: dict[str, Array] = {}
        for family in tuple(self.costs):
            before = self.evaluations
            try:
                found[family] = self._call(times, x, family)
            except RuntimeError:
                self.demand_no_interruption()
                continue
            self.costs[family] += self.evaluations - before
        if not found:
            raise ComputationError(f"CVODES gave up between t = {times[0]:g} s and {times[-1]:g} s: {WHY}")
        finite = {family: states for family, states in found.items() if np.isfinite(states).all()} or found
        best = min(finite, key=lambda family: self.costs[family])
        if len(finite) < len(self.costs) or self.costs[best] > TRIAL:
            self.costs = {best: self.costs[best]}
        return found[best]

    def _call(self, times: Array, x: Array, family: str) -> Array:
        """A grid of the same relative times reuses the integrator."""
        code = self.native.code()
        grid = tuple(np.round(times - times[0], 12))
        place = (grid, family, code)
        if place not in self.grids:
            oracle = self.problem if code is None else code.function
            options = self.options | {"linear_multistep_method": family}
            self.grids[place] = casadi.integrator("stretch", "cvodes", oracle, 0.0, list(grid[1:]), options)
        solver = self.grids[place]
        with redirect_stderr(StringIO()):  # CasADi prints what it makes of a Ctrl-C
            states = solver(x0=x, p=np.concatenate([[times[0]], self.bound]))["xf"]
        statistics = solver.stats()
        self.steps += int(statistics["nsteps"])
        self.evaluations += int(statistics["nfevals"])
        return np.asarray(states).T


class Rodas(Integrator):
    """RODAS, an L-stable Rosenbrock method of order 4: quick where the tolerance is that of an engineer.

    Its steps end at the times of the grid. The estimated error of a step, per number of the state, meets the tolerances
    in the mean square, as in CVODES.
    """

    SAFETY, LEAST, MOST = 0.9, 0.1, 6.0

    def __init__(self, ode: Ode, tolerances: Tolerances) -> None:
        self.step = rosenbrock.step(ode.t, ode.x, ode.rate, ode.coordinates, ode.parameters)
        self.longest = math.inf if ode.longest_step is None else ode.longest_step
        self.length = math.inf  # of the next step (s), as the last one suggests
        # A call by value would take as long as the step.
        self.t, self.here, self.h = np.zeros(1), np.zeros(ode.x.numel()), np.zeros(1)
        self.end, self.error = np.zeros_like(self.here), np.zeros(1)
        self.given = np.asarray(ode.parameters.bound(), dtype=float), np.array([tolerances.rtol, tolerances.atol])
        self.attempts: dict[Code | None, Buffered] = {}
        super().__init__({self.step: 1 / rosenbrock.STAGES})

    def integrate(self, times: Array, x: Array) -> Array:
        """Steps of the traced function, as long as the estimated errors allow."""
        attempt = self._attempt()
        states = np.empty((len(times) - 1, len(x)))
        self.here[:] = x
        last = self.steps + STEP_LIMIT
        largest = self.MOST
        for row, (t, goal) in enumerate(itertools.pairwise(times.tolist())):
            while t < goal:
                # As many even steps as it takes, up to rounding.
                count = max(1, math.ceil((goal - t) / min(self.length, self.longest) * (1 - 1e-9)))
                h = (goal - t) / count
                self.t[0], self.h[0] = t, h
                attempt()
                error = self.error.item()
                self.steps += 1
                self.evaluations += rosenbrock.STAGES
                if error <= 1.0:
                    t = goal if count == 1 else t + h
                    self.here[:] = self.end
                    self.length = h * min(largest, self._factor(error))
                    largest = self.MOST
                    continue
                if t + h * self.LEAST == t or self.steps > last:
                    raise ComputationError(f"RODAS gave up at t = {t:g} s: {WHY}")
                self.length = h * min(1.0, self._factor(error))
                largest = 1.0  # what has just failed is not made longer again at once
            states[row] = self.here
        return states

    def _attempt(self) -> Buffered:
        """The step from ``t`` and ``here``, ``h`` long, to ``end`` with its ``error``."""
        code = self.native.code()
        if code not in self.attempts:
            arguments, results = (self.t, self.here, self.h, *self.given), (self.end, self.error)
            self.attempts[code] = Buffered(self.step if code is None else code.function, arguments, results)
        return self.attempts[code]

    def _factor(self, error: float) -> float:
        """How many times as long the next step may be; an error that is no number demands the least."""
        if not math.isfinite(error):
            return self.LEAST
        factor = self.SAFETY * math.pow(max(error, 1e-12), -1 / (rosenbrock.ORDER + 1))
        return min(self.MOST, max(self.LEAST, factor))


class Scipy(Integrator):
    """SciPy's ``solve_ivp``: DOP853 (explicit, order 8) or Radau (implicit, order 5) with the exact Jacobian."""

    def __init__(self, ode: Ode, tolerances: Tolerances, method: str) -> None:
        self.method = method
        self.longest_step = np.inf if ode.longest_step is None else ode.longest_step
        self.tolerances = tolerances
        self.bound = ode.parameters.bound()
        symbols = ode.parameters.symbols()
        self.rate = casadi.Function("rate", [ode.t, ode.x, symbols], [casadi.densify(ode.rate)])
        self.implicit: dict[str, Callable[[float, Array], Array]] = {}
        if method == "Radau":
            jacobian = casadi.densify(casadi.jacobian(ode.rate, ode.x))
            by_x = casadi.Function("jacobian", [ode.t, ode.x, symbols], [jacobian])
            self.implicit["jac"] = lambda t, x: np.asarray(by_x(t, x, self.bound))
        super().__init__({self.rate: 1.0})

    def integrate(self, times: Array, x: Array) -> Array:
        """One call of ``solve_ivp``."""
        from scipy.integrate import solve_ivp

        code = self.native.code()
        fastest = self.rate if code is None else code.function

        def rate(t: float, x: Array) -> Array:
            self.demand_no_interruption()
            return np.asarray(fastest(t, x, self.bound))[:, 0]

        solution = solve_ivp(
            rate,
            (times[0], times[-1]),
            x,
            method=self.method,
            t_eval=times[1:],
            rtol=self.tolerances.rtol,
            atol=self.tolerances.atol,
            max_step=self.longest_step,
            **self.implicit,
        )
        self.evaluations += int(solution.nfev)
        if not solution.success:
            raise ComputationError(f"{self.method} gave up between t = {times[0]:g} s and {times[-1]:g} s: {WHY}")
        return np.asarray(solution.y.T)


def integrator(solver: str, ode: Ode, tolerances: Tolerances) -> Integrator:
    """The integrator of that name."""
    if solver == "cvodes":
        return Cvodes(ode, tolerances)
    if solver == "rodas":
        return Rodas(ode, tolerances)
    return Scipy(ode, tolerances, {"dop853": "DOP853", "radau": "Radau"}[solver])


def stretches(times: Array, solver: Integrator) -> Iterator[Array]:
    """The grid cut into pieces that share their ends: of a fortieth, or so short that a Ctrl-C loses little.

    A piece is made as long as the evaluations that the one before it needed allow: counts, not times, so that the same
    run is always cut at the same places.
    """
    largest = max(1, -(-(len(times) - 1) // STRETCHES))
    bound = LOSS / (INTERPRETED * max(1, solver.instructions))
    first, size = 0, 1
    while first < len(times) - 1:
        before = solver.evaluations
        piece = times[first : first + size + 1]
        yield piece
        first += len(piece) - 1
        spent = max(1, solver.evaluations - before)
        if first == 1 or spent > bound:
            size = min(largest, max(1, int(size * bound / spent)))
