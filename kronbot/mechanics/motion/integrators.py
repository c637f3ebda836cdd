"""The integrators by name: SUNDIALS' CVODES, RODAS, DOP853, and SciPy's Radau, to check by."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

import casadi
import numpy as np
import numpy.typing as npt
from casadi import MX, SX

from kronbot.compute.native.cost import INTERPRETED
from kronbot.errors import ComputationError, out_of_memory
from kronbot.floats import Array
from kronbot.mechanics.motion.charts import Charts
from kronbot.mechanics.motion.dop853 import Dop853
from kronbot.mechanics.motion.integration import WHY, Block, Integrator, Ode, Tolerances
from kronbot.mechanics.motion.one_step import OneStep
from kronbot.mechanics.motion.rodas import Rodas
from kronbot.system.silence import unheard

if TYPE_CHECKING:
    from kronbot.compute.native.compiling import Code

# CVODES goes through a run in so many pieces at least, so that progress is seen.
PIECES = 40
# Work (s, interpreted) that a Ctrl-C may lose.
LOSS = 0.5
# Evaluations that a step of the length to begin with may stand for, until it is known what a piece takes.
CAUTION = 8
GROWTH = 64
# Evaluations that tell which family of CVODES suits a robot.
TRIAL = 1000
EVALUATIONS_PER_JACOBIAN = 15
EVALUATIONS_PER_STEP = 1.6
# Nodes of the rate times numbers of the state beyond which no Jacobian is made, of about half as many instructions:
# it would take most of the time (of 24 spatial links with 4 shapes each nine tenths).
MOST_OF_JACOBIAN = 2_000_000
# Directions in which its linear equations are solved at most, each by a derivative of the rate.
KRYLOV = 30
# Steps from one time that is asked for to the next.
STEP_LIMIT = 200_000
# CasADi takes times that are 1e-9 apart for one: a piece is 2^20 long for it. Times closer than a unit are one.
LENGTH, UNIT = 2.0**20, 2.0**-26
# Steps of a piece at least: of a motion that is small beside atol the first ones, of order 1, would miss a part.
STEPS = 16
# Blocks of a piece at least where contacts are looked for.
CLOSELY = 32
# Integrators that are kept.
KEPT = 32


class Cvodes(Integrator):
    """SUNDIALS CVODES with the exact sparse Jacobian of the trace, of large robots with exact derivatives of the rate
    in the directions that GMRES asks for, without preconditioning.

    The first pieces are integrated by both of its families, Adams (made for oscillations) and BDF (for stiff, damped
    robots); the one that needs fewer evaluations does the rest. Nothing can be seen or saved inside a call, so that a
    stretch takes several: as long as the evaluations that the one before needed allow. These are counts, not times, so
    that the same run is always cut at the same places.
    """

    ORDER = 1

    def __init__(self, ode: Ode, tolerances: Tolerances) -> None:
        super().__init__(ode, tolerances)
        piece, elapsed = SX.sym("piece", 2), SX.sym("elapsed")
        start, scale = casadi.vertsplit(piece)
        self.states = ode.x.numel() - ode.unseen
        rate, squares = casadi.vertsplit(scale * self.rate_at(start + scale * elapsed), [0, self.states, ode.x.numel()])
        without = casadi.n_nodes(rate) * self.states > MOST_OF_JACOBIAN
        symbols = elapsed, ode.x[: self.states, :], casadi.vertcat(piece, self.symbols)
        self.rates = _Rates(*symbols, rate, squares, without)
        self.options: dict[str, Any] = {
            "reltol": tolerances.rtol,
            "abstol": tolerances.atol,
            "max_num_steps": STEP_LIMIT,
            "max_step_size": LENGTH / STEPS,
            "disable_internal_warnings": True,
            "show_eval_warnings": False,
        }
        if without:
            self.options |= {"newton_scheme": "gmres", "use_preconditioner": False, "max_krylov": KRYLOV}
        self.grids: dict[tuple[tuple[float, ...], str, float, _Codes], casadi.Function] = {}
        self.problems: dict[_Codes, dict[str, MX]] = {}
        self.use(*self.rates.groups)

    def begin(
        self,
        stops: tuple[float, ...],
        values: npt.ArrayLike = (),
        charts: Charts | None = None,
        instants: Collection[float] = (),
    ) -> None:
        """Both families are tried anew."""
        super().begin(stops, values, charts, instants)
        self.costs = {"adams": 0, "bdf": 0}
        self.first = 1.0  # step of a piece (s)

    def follow(self, start: float, end: float, times: list[float], x: Array) -> Iterator[Block]:
        """One call a piece, of the first ones one by each family."""
        most = max(1.0, LOSS / (INTERPRETED * max(1, self.instructions)))
        longest = (end - start) / math.ceil(PIECES * (end - start) / self.span * (1 - 1e-9))
        # CVODES makes the next step up to 10,000 times as long. Pieces with the same first step share an integrator.
        first = min(self.first_step(start, x, end), longest / 1024)
        self.first = _rounded(first)
        length, t, done = longest, start, 0
        while length > min(max(most / CAUTION, 1.0) * first, self.longest(x)):
            length /= 2
        while t < end:
            goal = start + length * math.floor((t - start) / length + 1 + 1e-6)
            goal = end if goal > end - 1e-6 * length else goal
            if goal <= t:  # between neighbouring numbers, where CVODES would not end
                raise ComputationError(f"CVODES gave up at t = {t:g} s, in pieces of {length:.1g} s: {WHY}")
            last, before = bisect_right(times, goal), self.evaluations
            taken, places = self.steps, np.array([*times[done:last], goal])
            marks = _marks(t, goal, CLOSELY)[:-1] if self.looking else places[:0]
            # What is done next depends on states at marks alone, and on no row.
            at_marks, states = np.split(self._piece(t, np.concatenate([marks, places]), x), [len(marks)])
            near = np.vstack([x, at_marks, states[-1:]])
            if self.switch is None or not self.looking or self.switch.far([t, *marks.tolist(), goal], near):
                yield Block(goal, states[-1], states[:-1])
            else:
                first = self.first
                yield from self._closely(t, places, x, self.steps - taken)
                self.first = first
            t, done, x = goal, last, states[-1]
            wanted = min(length * min(GROWTH, most / max(1, self.evaluations - before)), self.longest(x))
            length = longest / 2 ** max(0, math.ceil(math.log2(longest / wanted)))

    def _closely(self, t: float, times: Array, x: Array, steps: int) -> Iterator[Block]:
        """The piece from t and x to the last of the times in blocks that are shorter than its steps."""
        count = 2 ** math.ceil(math.log2(max(CLOSELY, 2 * steps)))
        marks = _marks(t, times[-1], count)
        every = np.union1d(marks, times)
        states, asked = self._piece(t, every, x), np.isin(every, times[:-1])
        first = 0
        for mark in np.searchsorted(every, marks).tolist():
            rows = slice(first, mark + 1)
            yield Block(float(every[mark]), states[mark], states[rows][asked[rows]])
            first = mark + 1

    def _piece(self, t: float, times: Array, x: Array) -> Array:
        """States at ``times``, the last of which is where the piece ends."""
        found: dict[str, Array] = {}
        least, start = math.inf, self.evaluations
        for family in tuple(self.costs):
            before = self.evaluations
            try:
                found[family] = self._call(t, times, x, family)
            except RuntimeError as error:
                if out_of_memory(error):
                    raise
                self.demand_no_interruption()
                continue
            self.costs[family] += self.evaluations - before
            least = min(least, self.evaluations - before)
        if not found:
            raise ComputationError(f"CVODES gave up between t = {t:g} s and {times[-1]:g} s: {WHY}")
        finite = {family: states for family, states in found.items() if np.isfinite(states).all()} or found
        best = min(finite, key=lambda family: self.costs[family])
        self.tried += self.evaluations - start - int(least)
        if len(finite) < len(self.costs) or self.costs[best] > TRIAL:
            self.costs = {best: self.costs[best]}
        return found[best]

    def _call(self, t: float, times: Array, x: Array, family: str) -> Array:
        """A grid of the same relative times reuses the integrator."""
        scale = (times[-1] - t) / LENGTH
        grid, places = np.unique(np.round((times - t) / scale / UNIT) * UNIT, return_inverse=True)
        first = self.first / scale
        # Pieces up to where a contact changes have any length.
        solver = self._integrator(tuple(grid.tolist()), family, _rounded(first) if self.contacts else first)
        found = unheard(solver, x0=x[: self.states], p=np.concatenate([[t, scale], self.bound]))
        statistics = solver.stats()
        self.steps += int(statistics["nsteps"])
        self.evaluations += int(statistics["nfevals"])
        states, squares = (np.asarray(found[name]).T for name in ("xf", "qf"))
        return np.hstack([states, x[self.states :] + squares])[places]

    def _integrator(self, grid: tuple[float, ...], family: str, first: float) -> casadi.Function:
        codes = tuple(native.code() for native in self.natives)
        place = (grid, family, first, codes)
        if place not in self.grids:
            if len(self.grids) == KEPT:
                del self.grids[next(iter(self.grids))]
            if codes not in self.problems:
                self.problems = {codes: self.rates.by(codes)}
            options: dict[str, Any] = self.options | {"linear_multistep_method": family, "step0": first}
            self.grids[place] = casadi.integrator("piece", "cvodes", self.problems[codes], 0.0, list(grid), options)
        return self.grids[place]


def _marks(t: float, end: float, count: int) -> Array:
    """Times (count,) at equal distances after t up to an end."""
    marks = t + (end - t) * np.arange(1, count + 1) / count
    marks[-1] = end
    return marks


def _rounded(first: float) -> float:
    """A power of 16 up to it."""
    return float(2.0 ** ((math.frexp(first)[1] - 1) // 4 * 4))


_Codes: TypeAlias = "tuple[Code[casadi.Function] | None, ...]"


class _Rates:
    """x' = rate(t, x, p) by a call of a function that knows its Jacobian: all integrators made of it share that, where
    each would derive its own (as long as some 5,000 evaluations). ``without`` it has derivatives in one direction at a
    time, and an empty matrix in the place of the Jacobian, which CasADi makes in any case.

    What no step is to see are quadratures, ``squares``: Newton's iterations end when what is seen has converged, and
    what lags behind in each step may grow without bound.

    ``groups`` are what may be native code by itself, as an evaluation of the rate takes them: the rate is asked for so
    much oftener than the Jacobian, which is longer, that it may pay alone.
    """

    def __init__(self, t: SX, x: SX, p: SX, rate: SX, squares: SX, without: bool) -> None:
        n, inputs = x.numel(), ["t", "x", "p"]
        matrix, of_the_rate = SX(n, n) if without else casadi.jacobian(rate, x), [*inputs, "out_ode"]
        outputs = ["jac_ode_t", "jac_ode_x", "jac_ode_p"]

        def jacobian(matrix: SX) -> casadi.Function:
            parts = [SX(n, 1), matrix, SX(n, p.numel())]
            return casadi.Function("jac_scaled", [t, x, p, SX(*x.shape)], parts, of_the_rate, outputs)

        self.known: dict[str, Any] = {"is_diff_in": [False, True, False], "never_inline": True}
        self.known |= {"enable_forward": False, "enable_reverse": False, "jac_penalty": -1}
        if without:  # by its own heuristics CasADi takes the Jacobian for three directions and more at once
            self.known |= {"enable_forward": True, "enable_reverse": True, "jac_penalty": 4 / n, "ad_weight": 0.5}
        self.rate = casadi.Function("scaled", [t, x, p], [casadi.densify(rate)], inputs, ["ode"])
        self.jacobian = jacobian(matrix)
        self.squares = casadi.Function("squares", [t, x, p], [casadi.densify(squares)], inputs, ["quad"])
        self.groups: list[dict[casadi.Function, float]]
        if without:
            self.groups = [{self.rate: 1.0, self.rate.forward(1): 1.0}]
        else:  # of the Jacobian beside the rate CasADi looks at the pattern alone
            pattern = jacobian(SX(matrix.sparsity(), 0.0))
            self.groups = [{self.rate: 1.0, pattern: 0.0}, {self.jacobian: 1 / EVALUATIONS_PER_JACOBIAN}]
        self.groups += [{self.squares: 1 / EVALUATIONS_PER_STEP}] if squares.numel() else []

    def by(self, codes: _Codes) -> dict[str, MX]:
        """The problem, by the native code that there is of the groups."""
        compiled = zip(self.groups, codes, strict=True)
        native = {next(iter(group)): code.function for group, code in compiled if code is not None}
        rate, jacobian, squares = (native.get(each, each) for each in (self.rate, self.jacobian, self.squares))
        given = {name: MX.sym(name, self.rate.sparsity_in(name)) for name in self.rate.name_in()}
        symbols, known = [*given.values()], self.known | {"custom_jacobian": jacobian}
        function = casadi.Function("scaled", symbols, [rate(*symbols)], [*given], ["ode"], known)
        return given | {"ode": function(*symbols), "quad": squares(*symbols)}


class Radau(Integrator):
    """The implicit Runge-Kutta method Radau IIA of order 5, SciPy's, step by step."""

    ORDER = 3

    def __init__(self, ode: Ode, tolerances: Tolerances) -> None:
        super().__init__(ode, tolerances)
        jacobian = casadi.densify(casadi.jacobian(self.rate_at(ode.t), ode.x))
        self.jacobian = casadi.Function("jacobian", [ode.t, ode.x, self.symbols], [jacobian])
        self.use({self.rate: 1.0})

    def follow(self, start: float, end: float, times: list[float], x: Array) -> Iterator[Block]:
        """Its steps, and what it interpolates within them."""
        from scipy import integrate

        def rate(t: float, x: Array) -> Array:
            self.demand_no_interruption()
            return np.asarray(fastest(t, x, self.bound))[:, 0]

        def jacobian(t: float, x: Array) -> Array:
            return np.asarray(self.jacobian(t, x, self.bound))

        fastest = self.rate
        first = self.first_step(start, x, end)
        tolerances = {"rtol": self.tolerances.rtol, "atol": self.tolerances.atol}
        stepper = integrate.Radau(rate, start, x, end, first_step=first, jac=jacobian, **tolerances)
        done, steps, counted = 0, 0, 0
        while stepper.status == "running":
            code = self.natives[0].code()
            fastest = self.rate if code is None else code.function
            before = stepper.t
            stepper.step()
            steps += 1
            self.steps += 1
            if stepper.status == "failed":
                raise ComputationError(f"Radau gave up at t = {before:g} s: {WHY}")
            self.demand_progress(stepper.t, end, stepper.t - before, steps)
            self.evaluations += stepper.nfev - counted
            last = bisect_right(times, stepper.t)
            states = np.empty((last - done, len(x)))
            if last > done:
                between = stepper.dense_output()
                for row, t in enumerate(times[done:last]):  # one by one: several at once may round otherwise
                    states[row] = stepper.y if t == stepper.t else between(t)
            done, counted = last, stepper.nfev  # without those of interpolating
            yield Block(float(stepper.t), stepper.y, states)


# Methods that many runs can take beside each other.
ONE_STEP: dict[str, type[OneStep]] = {"rodas": Rodas, "dop853": Dop853}
INTEGRATORS: dict[str, type[Cvodes | OneStep | Radau]] = {"cvodes": Cvodes, **ONE_STEP, "radau": Radau}


def integrator(solver: str, ode: Ode, tolerances: Tolerances) -> Integrator:
    """The integrator of that name."""
    return INTEGRATORS[solver](ode, tolerances)
