"""Steps of an integration with the exact derivatives of what they lead to, on grids that stay as they are.

A step of a one-step method is a function x_1 = Phi(t, x_0, h, p). Its derivative, with S = dx/dp,
S_1 = Phi_x S_0 + Phi_p, is the step of the same method on the variational equation S' = f_x S + f_p (Bock 1983,
internal differentiation): exact for what is computed, as long as the steps stay the same ones whatever p is.

Steps are those of Dormand and Prince. Where their stability and not their error bounds them, as where smoothed friction
holds a light link, they are RODAS's (:mod:`kronbot.mechanics.motion.rosenbrock`), which are L-stable: on the edge of
stability a step that was good for one x_0 is not for the next one.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi
import numpy as np
import numpy.typing as npt
from casadi import MX, SX

from kronbot.cached import cached_property
from kronbot.compute.buffered import Buffered
from kronbot.compute.native.kernel import Kernel
from kronbot.compute.native.use import calls_at_once
from kronbot.errors import ComputationError
from kronbot.floats import Array
from kronbot.mechanics.motion import rosenbrock
from kronbot.mechanics.motion.integration import PATIENCE, WHY, Tolerances
from kronbot.records import dataclass

# Dormand and Prince 1980, of order 5, with the error of its companion of order 4.
NODES = (0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0)
STAGES: tuple[tuple[float, ...], ...] = (
    (),
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
)
WEIGHTS = (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84)
COMPANION = (5179 / 57600, 0.0, 7571 / 16695, 393 / 640, -92097 / 339200, 187 / 2100, 1 / 40)
# Of the estimated error.
ORDER = 4
# A distance that is none.
TINY = 1e-300
# Where stability bounds steps (Solving ODEs II, section IV.2): h times the rate at which stages at the end part or meet
# is larger in so many good steps, without as many others in a row between.
EDGE, BOUND, FREE = 3.25, 15, 6
# A record takes so many steps at most; how much longer or shorter than the one before a step may be.
MOST = 5_000_000
SAFETY, LEAST, GROWTH = 0.9, 0.1, 6.0
# A motion that would need so many times as many steps as it may take, at the pace of its last ones, is given up.
FAR = 10
# Native code is thought of anew where so many times as many steps are due as when it was.
MANY_MORE = 2
# Steps of which all states are kept at a time.
BLOCK = 4096


@dataclass(frozen=True)
class Flow:
    """x' = rate(t, x, inputs, numbers) as symbols.

    ``inputs`` change from stretch to stretch, ``numbers`` do not; of these ``moved`` depend on parameters, with
    derivatives whose pattern is that of ``slopes`` (moved, k); ``extent`` says which numbers these are of a robot's.
    At instants of its own x becomes ``jump``, where there is one. x begins with so many ``coordinates``, whose rates
    are the next so many; so many numbers ``beside`` come last.
    """

    t: SX
    x: SX
    rate: SX
    inputs: SX
    numbers: SX
    moved: npt.NDArray[np.intp]
    slopes: casadi.Sparsity
    coordinates: int
    beside: int
    extent: tuple[int, int] = (0, 0)
    jump: SX | None = None

    @cached_property
    def plain(self) -> casadi.Function:
        """(t, x, inputs, numbers) -> rate."""
        return self._of_state("rate", self.rate)

    def _of_state(self, name: str, value: SX) -> casadi.Function:
        return casadi.Function(name, [self.t, self.x, self.inputs, self.numbers], [casadi.densify(value)])

    @cached_property
    def sensitive(self) -> casadi.Function:
        """(t, [x, S], inputs, numbers, slopes) -> [rate, f_x S + f_p], nx x (1 + k)."""
        return self._with_slopes("sensitive", self.rate)

    def _with_slopes(self, name: str, value: SX) -> casadi.Function:
        size, count = self.x.numel(), self.slopes.size2()
        S, D = SX.sym("S", size, count), SX.sym("D", self.slopes)
        by = casadi.vertcat(self.x, self.numbers[self.moved.tolist()])
        if count < size:
            dot = casadi.jtimes(value, by, casadi.vertcat(S, D))
        else:  # one Jacobian costs less than so many directions
            J = casadi.jacobian(value, by)
            dot = casadi.cse(J[:, :size] @ S + J[:, size:] @ D)
        states = casadi.horzcat(self.x, S)
        both = casadi.densify(casadi.horzcat(value, dot))
        return casadi.Function(name, [self.t, states, self.inputs, self.numbers, D], [both])

    def step(self, derivatives: bool, stiff: bool) -> casadi.Function:
        """(t, h, [x, S], inputs, numbers, slopes, tolerances, jumps) -> ([x, S] at t + h, error by the tolerances, h
        times the rate at which stages part, 0 of ``stiff`` ones, which are L-stable).

        Where ``jumps`` is 1 the state jumps first, where it is 0 it does not.
        """
        key = derivatives, stiff
        if key not in self._made:
            self._made[key] = self._stepping(*key)
        return self._made[key]

    @cached_property
    def _made(self) -> dict[tuple[bool, bool], casadi.Function]:
        return {}

    @cached_property
    def _l_stable(self) -> casadi.Function:
        symbols = casadi.vertcat(self.inputs, self.numbers)
        return rosenbrock.step(self.t, self.x, casadi.densify(self.rate), self.coordinates, self.beside, symbols)

    def _stepping(self, derivatives: bool, stiff: bool) -> casadi.Function:
        count = self.slopes.size2() if derivatives else 0
        t, h, start = MX.sym("t"), MX.sym("h"), MX.sym("Z", self.x.numel(), 1 + count)
        inputs, numbers = MX.sym("inputs", self.inputs.numel()), MX.sym("numbers", self.numbers.numel())
        D, tolerances, jumps = MX.sym("D", self.slopes), MX.sym("tolerances", 2), MX.sym("jumps")
        Z = start
        if self.jump is not None:
            made = self._with_slopes("jump", self.jump) if derivatives else self._of_state("jump", self.jump)
            given = (t, start, inputs, numbers, D) if derivatives else (t, start, inputs, numbers)
            Z = casadi.if_else(jumps, made(*given), start)
        step = [t, h, start, inputs, numbers, D, tolerances, jumps]
        if stiff:
            bound = casadi.vertcat(inputs, numbers)
            found = self._l_stable(t, Z[:, 0], h, bound, tolerances)
            end, size = found[0], found[1]
            if derivatives:
                seeds = MX(bound.numel(), count)
                seeds[(self.inputs.numel() + self.moved).tolist(), :] = D
                given = t, Z[:, 0], h, bound, tolerances
                none = [MX(1, count), Z[:, 1:], MX(1, count), seeds, MX(2, count)]
                end = casadi.horzcat(end, self._l_stable.forward(count)(*given, *found, *none)[0])
            end, size = casadi.if_else(h > 0, end, Z), casadi.if_else(h > 0, size, 0)  # its matrix is over h
            return casadi.Function("step", step, [end, size, MX.zeros(1)])

        def rate(share: float, at: MX) -> MX:
            given = t + share * h, at, inputs, numbers
            return self.sensitive(*given, D) if derivatives else self.plain(*given)

        rates, last = list[MX](), Z
        for share, weights in zip(NODES, STAGES, strict=True):
            last = Z + h * _sum(weights, rates)
            rates.append(rate(share, last))
        end = Z + h * _sum(WEIGHTS, rates)
        rates.append(self.plain(t + h, end[:, 0], inputs, numbers))
        both = zip((*WEIGHTS, 0.0), COMPANION, strict=True)
        error = h * _sum([a - b for a, b in both], [each[:, 0] for each in rates])
        size = _size(error, Z[:, 0], end[:, 0], tolerances)
        parting = h * casadi.norm_2(rates[-1] - rates[-2][:, 0]) / casadi.fmax(casadi.norm_2((end - last)[:, 0]), TINY)
        return casadi.Function("step", step, [end, size, parting])


def _sum(weights: Sequence[float], parts: Sequence[MX]) -> MX:
    total = MX.zeros(*parts[0].shape) if parts else MX(0)
    for weight, part in zip(weights, parts, strict=False):
        total = total + weight * part if weight else total
    return total


def _size(error: MX, start: MX, end: MX, tolerances: MX) -> MX:
    scale = tolerances[1] + tolerances[0] * casadi.fmax(casadi.fabs(start), casadi.fabs(end))
    return MX(casadi.norm_2(error / scale) / max(1, start.numel()) ** 0.5)


@dataclass(frozen=True)
class Stretches:
    """What a record goes through: from ``times`` (n + 1,) to the next with ``inputs`` (n, size).

    ``jumps`` (n + 1,) say whether the state jumps at a time, 1 or 0.
    """

    times: Array
    inputs: Array
    jumps: Array

    def __len__(self) -> int:
        return len(self.inputs)


@dataclass(frozen=True)
class Grid:
    """Steps along stretches: their ``lengths`` (s, steps), and how many there are up to the end of each stretch.

    ``stiff`` are those of the L-stable method.
    """

    lengths: Array
    ends: npt.NDArray[np.intp]
    stiff: bool


class Follower:
    """Follows states along stretches, in the steps of a grid, by the method for ``stiff`` equations or the other one.

    ``begin`` binds numbers and their slopes, ``expect`` says how many steps it will be asked for.
    """

    def __init__(self, flow: Flow, tolerances: Tolerances, derivatives: bool, stiff: bool) -> None:
        self._function = function = flow.step(derivatives, stiff)
        self._stiff, self._order, self._stages = stiff, ORDER, len(NODES)
        if stiff:
            self._order, self._stages = rosenbrock.ORDER, rosenbrock.STAGES
        arguments = [np.zeros(function.nnz_in(i)) for i in range(function.n_in())]  # sparse ones hold their entries
        self._step = Buffered(function, arguments, [np.zeros(function.numel_out(i)) for i in range(3)])
        self._kernel: Kernel | None = None
        self._expected = 0
        arguments[6][:] = tolerances.rtol, tolerances.atol

    def expect(self, steps: int) -> None:
        """So many steps are due: native code takes them where that pays."""
        if steps > MANY_MORE * self._expected:
            self._expected = steps
            self._kernel = calls_at_once(self._function, self._stages * steps)

    def begin(self, numbers: Array, slopes: Array) -> None:
        """With these numbers, and the entries of their slopes column by column."""
        self._step.arguments[4][:], self._step.arguments[5][:] = numbers, slopes

    def follow(self, stretches: Stretches, grid: Grid, start: Array, times: Array) -> tuple[Array, Array, float]:
        """[x, S] after every stretch and what jumps there, at other times, and the largest error of a step.

        [x, S] are rows (nx (1 + k),), errors infinite where they are lost. Other times, in any order, are reached by a
        shorter step from the one before; those before the start are the start itself.
        """
        counts = np.diff(grid.ends, prepend=0)
        stretch = np.repeat(np.arange(len(stretches)), counts)
        before = np.cumsum(grid.lengths) - grid.lengths
        begins = stretches.times[stretch] + before - before[(grid.ends - counts)[stretch]]
        jumps = np.zeros(len(stretch))
        jumps[grid.ends - counts] = stretches.jumps[:-1]
        found, at, largest = np.empty((len(stretches), len(start))), start, 0.0
        node = np.clip(np.searchsorted(begins, times, side="right") - 1, 0, None)
        between = np.empty((len(times), len(start)))
        for first in range(0, len(stretch), BLOCK):
            steps = slice(first, first + BLOCK)
            inputs = stretches.inputs[stretch[steps]]
            Z, errors = self._walk(begins[steps], grid.lengths[steps], inputs, jumps[steps], at)
            inside = np.flatnonzero((first <= node) & (node < first + len(errors)))
            if len(inside):
                own = node[inside]
                lengths = np.maximum(times[inside] - begins[own], 0.0)
                given = stretches.inputs[stretch[own]], jumps[own]
                between[inside] = self._steps(begins[own], lengths, *given, Z[own - first])
            ended = np.flatnonzero((first < grid.ends) & (grid.ends <= first + len(errors)))
            found[ended], at = Z[grid.ends[ended] - first], Z[-1]
            largest = max(largest, float(np.where(np.isfinite(errors), errors, np.inf).max()))
        after = np.flatnonzero(stretches.jumps[1:])
        inputs = stretches.inputs[np.minimum(after + 1, len(stretches) - 1)]
        still = np.zeros(len(after))
        found[after] = self._steps(stretches.times[after + 1], still, inputs, still + 1, found[after])
        return found, between, largest

    def begun(self, stretches: Stretches, start: Array) -> Array:
        """[x, S] after a jump at the beginning of the first stretch."""
        one = stretches.times[:1], np.zeros(1), stretches.inputs[:1], np.ones(1), start[None]
        return np.asarray(self._steps(*one)[0])

    def _steps(self, times: Array, lengths: Array, inputs: Array, jumps: Array, starts: Array) -> Array:
        """[x, S] a step after each of some (steps, size)."""
        ends = np.empty_like(starts)
        for i, start in enumerate(starts):
            one = slice(i, i + 1)
            ends[i] = self._walk(times[one], lengths[one], inputs[one], jumps[one], start)[0][1]
        return ends

    def _walk(self, times: Array, lengths: Array, inputs: Array, jumps: Array, start: Array) -> tuple[Array, Array]:
        """[x, S] before and after steps that begin at some times (steps + 1, size), and their errors."""
        Z, errors = np.empty((len(times) + 1, len(start))), np.empty(len(times))
        Z[0] = start
        t, h, here, given, *fixed, jump = self._step.arguments
        end, error, _ = self._step.results
        if self._kernel is None:
            for i in range(len(times)):
                t[0], h[0], here[:], given[:], jump[0] = times[i], lengths[i], Z[i], inputs[i], jumps[i]
                self._step()
                Z[i + 1], errors[i] = end, error[0]
            return Z, errors
        inputs, jumps = np.ascontiguousarray(inputs), np.ascontiguousarray(jumps)
        moving = (each.strides[0] for each in (times, lengths, Z, inputs))
        reads = [(each.ctypes.data, stride) for each, stride in zip((times, lengths, Z, inputs), moving, strict=True)]
        reads += [*((each.ctypes.data, 0) for each in fixed), (jumps.ctypes.data, jumps.strides[0])]
        unread = self._step.results[2].ctypes.data, 0
        self._kernel.walk(reads, [(Z[1:].ctypes.data, Z.strides[0]), (errors.ctypes.data, 8), unread], len(times))
        return Z, errors

    def grid(self, stretches: Stretches, start: Array, most: int = MOST) -> Grid:
        """Steps with which the errors keep to the tolerances. Raises ComputationError where they are too many, or where
        stability bounds them."""
        taken, ends, tried = list[float](), list[int](), 0
        edge, free, hopeless, before = 0, 0, False, stretches.times[0]
        length = stretches.times[1] - stretches.times[0]
        at, h_, x, inputs, *_, jump = self._step.arguments
        after, size, parting = self._step.results
        x[:] = start
        for i in range(len(stretches)):
            t, end = stretches.times[i : i + 2]
            inputs[:], jump[0] = stretches.inputs[i], stretches.jumps[i]
            while t < end:
                h = end - t if end - t <= length * (1 + 1e-9) else min(length, (end - t) / 2)
                at[0], h_[0] = t, h
                self._step()
                tried += 1
                error = float(size[0])
                factor = SAFETY * max(error, 1e-12) ** (-1 / (self._order + 1)) if np.isfinite(error) else LEAST
                if error <= 1:
                    taken.append(h)
                    x[:], jump[0] = after, 0.0
                    t = end if h == end - t else t + h
                    length = max(length if h < length else 0.0, h * min(GROWTH, factor))
                    edge, free = (edge + 1, 0) if parting[0] > EDGE else (edge, free + 1)
                    edge = 0 if free == FREE else edge
                    if edge == BOUND:
                        raise ComputationError(f"stability bounds steps at t = {t:g} s")
                else:
                    length = h * max(LEAST, min(factor, 1.0))
                if tried % PATIENCE == 0:  # the next step alone tells little: where a joint comes to rest it is short
                    hopeless, before = stretches.times[-1] - t > FAR * most * (t - before) / PATIENCE, t
                if t + length == t or tried > most or hopeless:
                    raise ComputationError(f"the motion cannot be followed after t = {t:g} s: {WHY}")
            ends.append(len(taken))
        return Grid(np.array(taken), np.array(ends), self._stiff)
