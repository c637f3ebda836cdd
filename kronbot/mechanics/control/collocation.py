"""Motions from rest to rest that are best: direct collocation, solved by IPOPT with exact Hessians.

On each of N equal intervals the states follow Radau IIA of three stages (order 5, L-stable: stiff modes do not set the
mesh). Accelerations at the stages are unknowns, so that the equations of motion stand as inverse dynamics and no
inertia matrix is inverted. What moves the joints is either torques, constant on each interval, or their jerks, linear
on each and continuous, and zero at both ends: then joints follow C3 splines of degree four exactly, torques are
outcomes, and vibrations that are faster than the intervals are hardly excited. Several arms may share one motion.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import casadi
import numpy as np
from casadi import MX
from scipy.interpolate import PchipInterpolator

from kronbot.errors import ComputationError, Interrupted, out_of_memory
from kronbot.floats import Array
from kronbot.mechanics.control.planned import Plan, summed
from kronbot.mechanics.control.repeated import Call, Repeated, derivatives, inlined
from kronbot.mechanics.control.wanted import Arm, Wanted
from kronbot.mechanics.control.watch import Watch
from kronbot.system.silence import unheard

# Radau IIA of three stages: the rows of its matrix, the last of which are the weights.
_ROOT = np.sqrt(6.0)
RADAU = np.array(
    [
        [(88 - 7 * _ROOT) / 360, (296 - 169 * _ROOT) / 1800, (-2 + 3 * _ROOT) / 225],
        [(296 + 169 * _ROOT) / 1800, (88 + 7 * _ROOT) / 360, (-2 - 3 * _ROOT) / 225],
        [(16 - _ROOT) / 36, (16 + _ROOT) / 36, 1 / 9],
    ]
)
STAGES, TIMES, WEIGHTS = len(RADAU), RADAU.sum(axis=1).tolist(), RADAU[-1].tolist()
# Integrals from 0 to s, twice, of the polynomials of the stages: factors of s^2, s^3, s^4 by stage.
TWICE = np.linalg.inv(np.vander(TIMES, increasing=True)).T / (np.arange(1, STAGES + 1) * np.arange(2, STAGES + 2))
# Iterations of IPOPT, and the share of the best value to which it is found.
ITERATIONS, TOLERANCE = 1000, 1e-8
# Of searches for the least time, and effort of torques, which end soon or never: arms that swing have many ways to save
# some. Those nearest to a motion's are found at once, or intervals are too long for the vibrations.
SOON = {"time": 250, "effort": 100, "nearest": 30, "excess": 100}
# Pivots of IPOPT's linear equations are at least this share of their column (its own 1e-6): rounding of smaller ones
# leaves wrong signs, which IPOPT takes for a problem that is not convex, where beams are stiff beside the motion.
PIVOT = 1e-3
# Bounds of the end time, as shares of the first guess.
SPAN = (1e-2, 1e2)
# Between places that are passed whenever it is best: intervals at least, and the share of the time.
BETWEEN, SHORTEST = 6, 1e-3
# What may be left of rest in coordinates that nothing drives: what is too fast for the intervals hardly heeds inputs.
LEFT = 1e-6
BEYOND = "no plan is found: its speeds are too large or too small for double precision"
# So much the squares of changes count, in the search alone: they are of the order of one with it. And so much effort
# counts beside what is left of vibration: among motions that leave as little one is taken.
CHANGE, ASIDE = 1e-4, 1e-9
BESIDE = 1e-4  # and beside what limits are passed by, which is told to two digits


def plan(arms: Sequence[Arm], wanted: Wanted, intervals: int, before: Plan | None, watch: Callable[[], None]) -> Plan:
    """The best motion on about so many intervals, from the one ``before`` or a smooth one.

    Where places are passed whenever it is best, intervals between two of them have one length, which is an unknown.

    ``watch`` is called now and then and may raise what stops the search: then Interrupted is raised, with the plan so
    far as ``partial``. Raises ComputationError where there is none, likewise with it where iterations run out. A search
    that nothing stands in for may give up at a motion that meets all equations and limits: this has not ``ended``.
    """
    problem = _Problem(arms, wanted, intervals, before)
    opti, met = problem.opti, Watch(problem.opti, watch)
    options = {"print_time": False, "ipopt.print_level": 0, "ipopt.sb": "yes", "show_eval_warnings": False}
    often = wanted.follows and wanted.least not in ("time", "excess")
    patient = often or wanted.least not in SOON
    most = ITERATIONS if patient else min(ITERATIONS, SOON[wanted.least])
    options |= {"ipopt.max_iter": most, "ipopt.tol": TOLERANCE, "ipopt.constr_viol_tol": TOLERANCE}
    options |= {"ipopt.nlp_scaling_method": "none", "ipopt.mumps_pivtol": PIVOT}  # all is of a size of one already
    options |= {"ipopt.option_file_name": ""}  # not what somebody has laid into the current folder
    opti.solver("ipopt", options | derivatives(*problem.program, watch) | {"iteration_callback": met})
    solved = True
    try:
        unheard(opti.solve)
    except RuntimeError as failed:
        if out_of_memory(failed):
            raise
        solved = False
    value = opti.debug.value

    def reached() -> Plan | None:
        if not (value(problem.h) > 0).all():
            return None  # an iteration may miss bounds
        q, qd, inputs, accelerations, *ends = (
            np.asarray(value(each), dtype=float).reshape(each.shape).T for each in problem.parts
        )
        beyond = np.maximum(value(opti.lbg) - value(opti.g), value(opti.g) - value(opti.ubg))
        missed, duration = max(0.0, float(beyond.max())), wanted.duration * float(value(problem.T))
        nodes = summed(np.zeros(1), np.ravel(value(problem.lengths))[:, None])[:, 0]
        shares = nodes[problem.passing] if wanted.whenever else np.array([share for share, _ in wanted.through])
        pairs, times = [(end[0], end[1]) for end in ends], (duration * shares).tolist()
        excess = np.ravel(value(problem.excess)) if wanted.least == "excess" else np.zeros(0)
        found = Plan(q, qd, inputs, accelerations, pairs, duration, met.done, missed, times, excess)
        return found.evenly(nodes / nodes[-1]) if wanted.whenever else found

    if met.heard:
        stopped = Interrupted(f"{met.reason} after {met.done} iterations on {intervals} intervals")
        stopped.partial = reached() if met.done else None
        raise stopped from met.heard[0]
    found = reached() if solved or patient or met.done >= most else None
    if found is not None and (solved or (patient and found.missed <= TOLERANCE)):
        return replace(found, ended=solved)
    status = str(opti.stats().get("return_status", "")).replace("_", " ").lower()
    error = ComputationError(f"no plan is found ({status or 'IPOPT gave up'}): try {wanted.cures}")
    if met.done >= most:
        error.partial = found
    raise error


class _Problem:
    """Unknowns, equations and what is least: states of every arm, and the inputs that all share."""

    def __init__(self, arms: Sequence[Arm], wanted: Wanted, intervals: int, before: Plan | None) -> None:
        parts = np.diff([0.0, *(share for share, _ in wanted.through if wanted.whenever), 1.0])
        counts = [intervals] if len(parts) == 1 else [max(BETWEEN, round(intervals * part)) for part in parts]
        self.wanted, self.before, self.intervals = wanted, before, sum(counts)
        # Where intervals end in the first guess, as shares of the time; those that end at places on the way.
        self.ends = np.append(0.0, np.cumsum(np.repeat(parts / counts, counts)))
        self.passing = np.cumsum(counts)[:-1]
        self.opti: Any = casadi.Opti()
        self.unknowns, self.calls, self.held = list[MX](), list[Call](), list[tuple[MX, Array, Array]]()
        # Sizes of places, rates and accelerations (n,), and of what moves driven ones (k,).
        self.size, driven = wanted.ways, list(wanted.driven)
        self.pace = self.size / wanted.duration
        self.rise = self.pace / wanted.duration
        self.unit = self.rise[driven] / wanted.duration if wanted.follows else wanted.scale
        sizes = np.concatenate([self.rise / wanted.duration, wanted.scale, wanted.weights])
        if not ((sizes > 0) & (sizes < np.inf)).all():
            raise ComputationError(BEYOND)
        self.T = self._unknown(1, 1) if wanted.least == "time" else MX(1)
        self.lengths = self._shares(counts, parts)
        self.h = self.T * wanted.duration * self.lengths
        count, N = len(driven), self.intervals
        limits = count + len(wanted.sizes)
        self.excess = self._unknown(limits, 1) if wanted.least == "excess" else MX.zeros(limits, 1)
        U = self._unknown(count, N + wanted.follows)
        A = self._unknown(count, N + 1) if wanted.follows else MX.zeros(count, N + 1)
        self.inputs, self.accelerations = _by(self.unit, U), _by(self.rise[driven], A)
        begun = self._begin_inputs(U, A, arms[0])
        efforts = [self._moved(arm, arm is arms[0]) for arm in arms]
        ends = [casadi.horzcat(q[:, -1], v[:, -1]) for _, q, v in efforts]
        self.parts = (*efforts[0][1:], self.inputs, self.accelerations, *ends)
        if wanted.follows:
            rising = _each(self.h, self.inputs[:, :-1] + self.inputs[:, 1:]) / 2
            self._zero(A[:, :-1] + _by(1 / self.rise[driven], rising) - A[:, 1:])
            self._zero(*(each[:, end] for each in (U, A) for end in (0, -1)))
        apart = self.lengths if wanted.follows else (self.lengths[:-1] + self.lengths[1:]) / 2
        changes = casadi.dot(casadi.sum1((U[:, 1:] - U[:, :-1]) ** 2), 1 / apart)
        effort = sum((each for each, *_ in efforts), MX(0))
        least = CHANGE * changes if wanted.least == "change" else effort
        if wanted.least == "nearest":
            least = casadi.sumsqr(U - MX(begun.T)) / N
        if wanted.least == "residual":
            pairs = [(arm.residual, end) for arm, end in zip(arms, ends, strict=True) if arm.residual is not None]
            left = sum((each.energy(*casadi.horzsplit(end)) for each, end in pairs), MX(0))
            least = left / (len(pairs) * max(each.struck for each, _ in pairs)) + ASIDE * effort
        if wanted.least == "excess":
            self._hold(self.excess, 0.0, np.inf)
            least = casadi.sum1(self.excess) + BESIDE * effort
        if wanted.least == "time":
            self._hold(self.T, *SPAN)
            self.opti.set_initial(self.T, 1.0 if before is None else before.duration / wanted.duration)
            least = self.T
        every, *bounds = zip(*self.held, strict=True)
        g, (low, high) = casadi.vertcat(*every), map(np.concatenate, bounds)
        self.opti.minimize(inlined(least, self.calls))
        self.opti.subject_to(self.opti.bounded(low, inlined(g, self.calls), high))
        self.program = casadi.veccat(*self.unknowns), least, g, self.calls

    def _shares(self, counts: Sequence[int], parts: Array) -> MX:
        """How long intervals are, as shares of the time (1 x N): so many of one length, one after the other."""
        if len(counts) == 1:
            return MX(np.full((1, counts[0]), 1 / counts[0]))
        part = self._unknown(len(counts), 1)
        self._hold(part, SHORTEST, 1.0)
        self._zero(casadi.sum1(part) - 1)
        self.opti.set_initial(part, parts)
        return casadi.horzcat(*(casadi.repmat(part[i] / count, 1, count) for i, count in enumerate(counts)))

    def _unknown(self, rows: int, columns: int) -> MX:
        self.unknowns.append(self.opti.variable(rows, columns))
        return self.unknowns[-1]

    def _called(self, function: Repeated, *given: MX) -> MX:
        self.calls.append(Call(function, casadi.vertcat(*given)))
        return self.calls[-1].answer

    def _hold(self, values: MX, low: Array | float, high: Array | float) -> None:
        """Values between bounds; of nothing none."""
        count = values.numel()
        if count:
            self.held.append((casadi.vec(values), np.broadcast_to(low, count), np.broadcast_to(high, count)))

    def _moved(self, arm: Arm, first: bool) -> tuple[MX, MX, MX]:
        """Equations and limits of an arm: its effort and its states."""
        wanted, N, n = self.wanted, self.intervals, len(arm.start)
        Q, V, A = self._unknown(n, N + 1), self._unknown(n, N + 1), self._unknown(n * STAGES, N)
        q, v = _by(self.size, Q), _by(self.pace, V)
        accelerations = [_by(self.rise, A[i * n : (i + 1) * n, :]) for i in range(STAGES)]
        rates = [v[:, :-1] + _each(self.h, _combined(row, accelerations)) for row in RADAU]
        places = [q[:, :-1] + _each(self.h, _combined(row, rates)) for row in RADAU]
        driven, free = list(wanted.driven), [i for i in range(n) if i not in wanted.driven]
        share = casadi.repmat(MX(wanted.weights), 1, N)
        efforts = []
        for c, at, rate, change in zip(TIMES, places, rates, accelerations, strict=True):
            needed = self._called(arm.forces, at, rate, change)
            taus = needed[driven, :]
            if wanted.follows:
                self._zero((needed / share)[free, :])
                jerk, change_of_jerk = self.inputs[:, :-1], self.inputs[:, 1:] - self.inputs[:, :-1]
                along = self.accelerations[:, :-1] + _each(self.h, c * (jerk + c / 2 * change_of_jerk))
                self._zero(_by(1 / self.rise[driven], change[driven, :] - along))
            else:
                self._zero((needed - _placed(self.inputs, driven, n)) / share)
                taus = self.inputs
            squares = casadi.sum1((taus / casadi.repmat(MX(wanted.scale), 1, N)) ** 2)
            efforts.append(casadi.dot(squares, self.lengths))
            if wanted.follows or c == TIMES[0]:
                self._between(taus, wanted.low, wanted.high, wanted.scale, 0)
            if len(wanted.sizes):
                columns = self._called(arm.seen, at, rate, change)
                self._between(columns, wanted.low_seen, wanted.high_seen, wanted.sizes, len(driven))
        if not wanted.follows and (jumping := arm.jumping):
            self._jump(arm, q[:, :-1], v[:, :-1], share, jumping)
        self._zero(_by(1 / self.size, places[-1] - q[:, 1:]), _by(1 / self.pace, rates[-1] - v[:, 1:]))
        for k, (when, place) in enumerate(wanted.through if first or not wanted.follows else ()):
            i = self.passing[k] if wanted.whenever else min(int(when * N), N - 1)
            s = 0.0 if wanted.whenever else when * N - i
            bends = _combined(TWICE @ s ** np.arange(2, STAGES + 2), [each[:, i] for each in accelerations])
            there = q[:, i] + self.h[i] * (s * v[:, i] + self.h[i] * bends)
            kept = np.flatnonzero(np.isfinite(place))
            those = [driven[j] for j in kept]
            self._zero((there[those] - place[kept]) / self.size[those])
        still = np.zeros(n)
        self._zero(Q[:, 0] - arm.start / self.size, V[:, 0])
        for side, value in ((Q[:, -1], arm.goal / self.size), (V[:, -1], still)):
            if first or not wanted.follows:  # joints that follow one motion end in one place
                self._zero(side[driven] - value[driven])
            if wanted.least != "residual":
                self._hold(side[free], value[free] - LEFT, value[free] + LEFT)
        self._begin(Q, V, A, arm)
        return sum(w * effort for w, effort in zip(WEIGHTS, efforts, strict=True)), q, v

    def _jump(self, arm: Arm, q: MX, v: MX, share: MX, jumping: Sequence[int]) -> None:
        """Limits of columns that jump with torques, where intervals begin: stages are after that."""
        wanted, n = self.wanted, len(arm.start)
        A = self._unknown(n, self.intervals)
        needed = self._called(arm.forces, q, v, _by(self.rise, A))
        self._zero((needed - _placed(self.inputs, list(wanted.driven), n)) / share)
        columns = self._called(arm.seen, q, v, _by(self.rise, A))
        for i in jumping:
            bounds = wanted.low_seen[[i]], wanted.high_seen[[i]], wanted.sizes[[i]]
            self._between(columns[i, :], *bounds, len(wanted.driven) + i)
        if self.before is not None:
            self._guess(A, self._rises(self.before, 0.0))

    def _zero(self, *parts: MX) -> None:
        for part in parts:
            self._hold(part, 0.0, 0.0)

    def _between(self, values: MX, low: Array, high: Array, sizes: Array, first: int) -> None:
        """Rows of values between bounds, where these are finite; ``first`` is the place of their excess."""
        for i, (least, most) in enumerate(zip(low / sizes, high / sizes, strict=True)):
            if self.wanted.least == "excess":
                beyond = casadi.repmat(self.excess[first + i], 1, values.shape[1])
                self._hold(values[i, :] / sizes[i] - beyond, -np.inf, most)
                self._hold(values[i, :] / sizes[i] + beyond, least, np.inf)
            elif np.isfinite([least, most]).any():
                self._hold(values[i, :] / sizes[i], least, most)

    def _begin(self, Q: MX, V: MX, A: MX, arm: Arm) -> None:
        """Where the search begins: a polynomial from rest to rest, or what is known of the first arm."""
        s = self.ends
        if self.before is None:
            way = arm.goal - arm.start
            q = arm.start + np.outer(s**3 * (10 - 15 * s + 6 * s**2), way)
            v = np.outer(30 * s**2 * (1 - s) ** 2, way) / self.wanted.duration
            for k, i in enumerate(self.wanted.driven if self.wanted.whenever else ()):
                known = [(t, place[k]) for t, place in self.wanted.through if np.isfinite(place[k])]
                curve = PchipInterpolator(*np.transpose([(0.0, arm.start[i]), *known, (1.0, arm.goal[i])]))
                q[:, i], v[:, i] = curve(s), curve(s, 1) / self.wanted.duration
        else:
            q, v = _at(s, self.before.q), _at(s, self.before.qd)
        self._guess(Q, q / self.size)
        self._guess(V, v / self.pace)
        if self.before is not None:
            self._guess(A, np.hstack([self._rises(self.before, c) for c in TIMES]))

    def _rises(self, before: Plan, c: float) -> Array:
        """What accelerations begin with, at shares c of the intervals (N, n)."""
        s, rises = self.ends, np.diff(before.qd, axis=0) * before.intervals / before.duration / self.rise
        return _at(s[:-1] + c * np.diff(s), rises, 0.5)

    def _guess(self, unknown: MX, values: Array) -> None:
        if not np.isfinite(values).all():
            raise ComputationError(BEYOND)
        self.opti.set_initial(unknown, values.T)

    def _begin_inputs(self, U: MX, A: MX, arm: Arm) -> Array:
        """What U begins with, rows by interval."""
        wanted, before, s = self.wanted, self.before, self.ends
        if before is None:
            way = (arm.goal - arm.start)[list(wanted.driven)]
            rises = np.outer(60 * s - 180 * s**2 + 120 * s**3, way) / np.square(wanted.duration)
            jerks = np.outer(60 - 360 * s + 360 * s**2, way) / np.power(wanted.duration, 3)
            given = jerks if wanted.follows else np.zeros((self.intervals, len(way)))
        elif wanted.follows:
            given, rises = _at(s, before.inputs), _at(s, before.accelerations)
        else:
            impulses = summed(0 * before.inputs[0], before.inputs / before.intervals)
            given = np.diff(_at(s, impulses), axis=0) / np.diff(s)[:, None]
        self._guess(U, given / self.unit)
        if wanted.follows:
            self._guess(A, rises / self.rise[list(wanted.driven)])
        return np.asarray(given / self.unit)


def _at(s: Array, rows: Array, first: float = 0.0) -> Array:
    """Rows, evenly from 0 to 1 or in the middle of as many intervals, at shares s."""
    places = (first + np.arange(len(rows))) / (len(rows) - 1 + 2 * first)
    return np.column_stack([np.interp(s, places, column) for column in rows.T])


def _by(sizes: Array, rows: MX) -> MX:
    """Rows, each times its size."""
    return casadi.diag(MX(sizes)) @ rows


def _each(lengths: MX, rows: MX) -> MX:
    """Columns, one an interval, each times its length."""
    return rows * casadi.repmat(lengths, rows.shape[0], 1)


def _combined(weights: Array, parts: Sequence[MX]) -> MX:
    return sum((float(w) * part for w, part in zip(weights, parts, strict=True)), MX(0))


def _placed(inputs: MX, driven: Sequence[int], n: int) -> MX:
    """Inputs at their coordinates, of n."""
    return MX(np.eye(n)[:, list(driven)]) @ inputs
