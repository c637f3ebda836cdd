"""Motions from rest to rest that are best: direct collocation, solved by IPOPT with exact Hessians.

On each of N equal intervals the states follow Radau IIA of three stages (order 5, L-stable: stiff modes do not set the
mesh). Accelerations at the stages are unknowns, so that the equations of motion stand as inverse dynamics and no
inertia matrix is inverted. What moves the joints is either torques, constant on each interval, or their jerks, linear
on each and continuous, and zero at both ends: then joints follow C3 splines of degree four exactly, torques are
outcomes, and vibrations that are faster than the intervals are hardly excited. Several arms may share one motion.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import casadi
import numpy as np
from casadi import MX

from kronbot.errors import ComputationError, Interrupted
from kronbot.floats import Array
from kronbot.mechanics.control.repeated import Call, Repeated, derivatives, inlined
from kronbot.mechanics.control.residual import Residual
from kronbot.mechanics.control.watch import Watch
from kronbot.records import dataclass

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
# Of searches for the least effort of torques, which end soon or never: arms that swing have many ways to save some.
SOON = 250
# Bounds of the end time, as shares of the first guess.
SPAN = (1e-2, 1e2)
# What may be left of rest in coordinates that nothing drives: what is too fast for the intervals hardly heeds inputs.
LEFT = 1e-6
BEYOND = "no plan is found: its speeds are too large or too small for double precision"
# So much the squares of changes count, in the search alone: they are of the order of one with it. And so much effort
# counts beside what is left of vibration: among motions that leave as little one is taken.
CHANGE, ASIDE = 1e-4, 1e-9


@dataclass(frozen=True)
class Arm:
    """One that moves from rest at ``start`` to rest at ``goal`` (n,), with the ``forces`` [q, qd, qdd] -> n.

    ``seen`` [q, qd, qdd] -> m is what limits hold, ``residual`` what is left at the end, where that is least.
    """

    forces: Repeated
    seen: Repeated
    start: Array
    goal: Array
    residual: Residual | None = None


@dataclass(frozen=True)
class Wanted:
    """Torques or forces (k,) at the coordinates ``driven`` between ``low`` and ``high``; ``scale`` (k,) is their size,
    ``weights`` (n,) are those of the forces in all equations.

    What is seen of an arm is between ``low_seen`` and ``high_seen`` (m,), of the size ``sizes``. ``least`` is the
    "time", of which ``duration`` (s), kept otherwise, is a first guess; the "effort", the integral of the squares of
    the torques, each by its scale; the "change", that of the rates of what moves them; the "residual" energy of all
    arms, whose coordinates that are not driven end anywhere; or what torques are away from those ``near`` (N, k),
    "nearest". ``follows``: motors follow a motion. The coordinates ``driven`` pass ``through`` places (k,), NaN for
    any, at shares of the time.
    """

    driven: tuple[int, ...]
    low: Array
    high: Array
    scale: Array
    weights: Array
    low_seen: Array
    high_seen: Array
    sizes: Array
    duration: float
    least: str
    follows: bool
    through: Sequence[tuple[float, Array]] = ()
    near: Array | None = None


@dataclass(frozen=True)
class Plan:
    """States q, qd (N + 1, n) of the first arm at the ends of N intervals, ``inputs``, duration (s).

    Inputs are torques (N, k) on the intervals, or jerks (N + 1, k) at their ends, beside ``accelerations``. ``ends``
    are q and qd of every arm at the end. ``missed`` is how far conditions are missed, of a size of one: nearly nothing,
    unless the search was stopped. ``motion`` is that of motors which it is near to, where it is.
    """

    q: Array
    qd: Array
    inputs: Array
    accelerations: Array
    ends: Sequence[tuple[Array, Array]]
    duration: float
    iterations: int
    missed: float
    motion: Plan | None = None

    @property
    def intervals(self) -> int:
        """Their number."""
        return len(self.q) - 1

    def followed(self, driven: Sequence[int], pieces: int) -> tuple[Array, Array]:
        """Times (s) and places of the joints that follow it, so many on each interval, at rest at the end to rounding.

        Integrated from its jerks, of which the least change undoes what the search has left of the end.
        """
        N, h = self.intervals, self.duration / self.intervals
        ahead = self.duration - h * np.arange(1, N)
        left = h * np.array([np.ones(N - 1), ahead, ahead**2 / 2 + h**2 / 12])
        way = np.zeros((3, len(driven)))
        way[2] = self.q[-1, driven] - self.q[0, driven]
        j = np.zeros((N + 1, len(driven)))
        j[1:-1] = self.inputs[1:-1] + np.linalg.lstsq(left, way - left @ self.inputs[1:-1], rcond=None)[0]
        a = _summed(0 * way[0], h * (j[:-1] + j[1:]) / 2)
        v = _summed(0 * way[0], h * a[:-1] + h**2 * (j[:-1] / 3 + j[1:] / 6))
        q = _summed(self.q[0, driven], h * v[:-1] + h**2 * a[:-1] / 2 + h**3 * (j[:-1] / 8 + j[1:] / 24))
        parts = np.arange(pieces) / pieces * h
        snap, s = np.diff(j, axis=0)[:, None] / h, parts[None, :, None]
        rows = q[:-1, None] + s * (v[:-1, None] + s / 2 * (a[:-1, None] + s / 3 * (j[:-1, None] + s / 4 * snap)))
        times = (np.arange(N)[:, None] * h + parts).ravel()
        return np.append(times, self.duration), np.vstack([rows.reshape(-1, len(driven)), self.q[-1, driven]])


def _summed(first: Array, changes: Array) -> Array:
    return np.vstack([first, first + np.cumsum(changes, axis=0)])


def plan(arms: Sequence[Arm], wanted: Wanted, intervals: int, before: Plan | None, watch: Callable[[], None]) -> Plan:
    """The best motion on so many intervals, from the one ``before`` or a smooth one.

    ``watch`` is called now and then and may raise what stops the search: then Interrupted is raised, with the plan so
    far as ``partial``. Raises ComputationError where there is none, likewise with it where iterations run out.
    """
    problem = _Problem(arms, wanted, intervals, before)
    opti = problem.opti
    met = Watch(opti, watch)
    options = {"print_time": False, "ipopt.print_level": 0, "ipopt.sb": "yes", "show_eval_warnings": False}
    most = min(ITERATIONS, SOON) if wanted.least == "effort" and not wanted.follows else ITERATIONS
    options |= {"ipopt.max_iter": most, "ipopt.tol": TOLERANCE, "ipopt.constr_viol_tol": TOLERANCE}
    options |= {"ipopt.nlp_scaling_method": "none"}  # all is of a size of one already
    opti.solver("ipopt", options | problem.derivatives | {"iteration_callback": met})
    solved = True
    try:
        opti.solve()
    except RuntimeError:
        solved = False
    value = opti.debug.value

    def reached() -> Plan:
        q, qd, inputs, accelerations, *ends = (
            np.asarray(value(each), dtype=float).reshape(each.shape).T for each in problem.parts
        )
        beyond = np.maximum(value(opti.lbg) - value(opti.g), value(opti.g) - value(opti.ubg))
        missed, duration = max(0.0, float(beyond.max())), wanted.duration * float(value(problem.T))
        return Plan(q, qd, inputs, accelerations, [(end[0], end[1]) for end in ends], duration, met.done, missed)

    if met.heard:
        stopped = Interrupted(f"interrupted after {met.done} iterations on {intervals} intervals")
        stopped.partial = reached() if met.done else None
        raise stopped from met.heard[0]
    if not solved:
        status = str(opti.stats().get("return_status", "")).replace("_", " ").lower()
        other = "" if wanted.follows else "motors that follow a motion (drive motion), "
        cure = f"more time, wider limits, {other}or a goal that is nearer"
        error = ComputationError(f"no plan is found ({status or 'IPOPT gave up'}): try {cure}")
        if met.done >= most:
            error.partial = reached()
        raise error
    return reached()


class _Problem:
    """Unknowns, equations and what is least: states of every arm, and the inputs that all share."""

    def __init__(self, arms: Sequence[Arm], wanted: Wanted, intervals: int, before: Plan | None) -> None:
        self.wanted, self.intervals, self.before = wanted, intervals, before
        self.opti: Any = casadi.Opti()
        self.unknowns, self.calls, self.held = list[MX](), list[Call](), list[tuple[MX, Array, Array]]()
        self.size = max(max(float(np.abs(arm.goal - arm.start).max(initial=0.0)) for arm in arms), 1e-6)
        self.pace = self.size / wanted.duration
        self.rise = self.pace / wanted.duration
        if not 0 < self.rise / wanted.duration < np.inf:
            raise ComputationError(BEYOND)
        self.T = self._unknown(1, 1) if wanted.least == "time" else MX(1)
        self.h = self.T * wanted.duration / intervals
        count, self.unit = len(wanted.driven), np.full(len(wanted.driven), self.rise / wanted.duration)
        if not wanted.follows:
            self.unit = wanted.scale
        U = self._unknown(count, intervals + wanted.follows)
        A = self._unknown(count, intervals + 1) if wanted.follows else MX.zeros(count, intervals + 1)
        self.inputs, self.accelerations = casadi.diag(MX(self.unit)) @ U, self.rise * A
        self._begin_inputs(U, A, arms[0])
        efforts = [self._moved(arm, arm is arms[0]) for arm in arms]
        ends = [casadi.horzcat(q[:, -1], v[:, -1]) for _, q, v in efforts]
        self.parts = (*efforts[0][1:], self.inputs, self.accelerations, *ends)
        if wanted.follows:
            rising = self.h * (self.inputs[:, :-1] + self.inputs[:, 1:]) / 2
            self._zero(A[:, :-1] + rising / self.rise - A[:, 1:])
            self._zero(*(each[:, end] for each in (U, A) for end in (0, -1)))
        changes = casadi.sumsqr(U[:, 1:] - U[:, :-1]) * intervals
        effort = sum((each for each, *_ in efforts), MX(0))
        least = CHANGE * changes if wanted.least == "change" else effort
        if wanted.near is not None:
            least = casadi.sumsqr(U - MX((wanted.near / wanted.scale).T)) / intervals
        if wanted.least == "residual":
            pairs = [(arm.residual, end) for arm, end in zip(arms, ends, strict=True) if arm.residual is not None]
            left = sum((each.energy(*casadi.horzsplit(end)) for each, end in pairs), MX(0))
            least = left / (len(pairs) * max(each.struck for each, _ in pairs)) + ASIDE * effort
        if wanted.least == "time":
            self._hold(self.T, *SPAN)
            self.opti.set_initial(self.T, 1.0 if before is None else before.duration / wanted.duration)
            least = self.T
        every, *bounds = zip(*self.held, strict=True)
        g, (low, high) = casadi.vertcat(*every), map(np.concatenate, bounds)
        self.opti.minimize(inlined(least, self.calls))
        self.opti.subject_to(self.opti.bounded(low, inlined(g, self.calls), high))
        self.derivatives = derivatives(casadi.veccat(*self.unknowns), least, g, self.calls)

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
        q, v, a = self.size * Q, self.pace * V, self.rise * A
        accelerations = [a[i * n : (i + 1) * n, :] for i in range(STAGES)]
        rates = [v[:, :-1] + self.h * _combined(row, accelerations) for row in RADAU]
        places = [q[:, :-1] + self.h * _combined(row, rates) for row in RADAU]
        driven, free = list(wanted.driven), [i for i in range(n) if i not in wanted.driven]
        share = casadi.repmat(MX(wanted.weights), 1, N)
        efforts = []
        for c, at, rate, change in zip(TIMES, places, rates, accelerations, strict=True):
            needed = self._called(arm.forces, at, rate, change)
            taus = needed[driven, :]
            if wanted.follows:
                self._zero((needed / share)[free, :])
                jerk, change_of_jerk = self.inputs[:, :-1], self.inputs[:, 1:] - self.inputs[:, :-1]
                along = self.accelerations[:, :-1] + self.h * c * (jerk + c / 2 * change_of_jerk)
                self._zero((change[driven, :] - along) / self.rise)
            else:
                self._zero((needed - _placed(self.inputs, driven, n)) / share)
                taus = self.inputs
            efforts.append(casadi.sumsqr(taus / casadi.repmat(MX(wanted.scale), 1, N)) / N)
            if wanted.follows or c == TIMES[0]:
                self._between(taus, wanted.low, wanted.high, wanted.scale)
            if len(wanted.sizes):
                columns = self._called(arm.seen, at, rate, change)
                self._between(columns, wanted.low_seen, wanted.high_seen, wanted.sizes)
        self._zero((places[-1] - q[:, 1:]) / self.size, (rates[-1] - v[:, 1:]) / self.pace)
        for when, place in wanted.through if first or not wanted.follows else ():
            i = min(int(when * N), N - 1)
            s = when * N - i
            bends = _combined(TWICE @ s ** np.arange(2, STAGES + 2), [each[:, i] for each in accelerations])
            there = q[:, i] + self.h * (s * v[:, i] + self.h * bends)
            kept = np.flatnonzero(np.isfinite(place))
            self._zero((there[[driven[k] for k in kept]] - place[kept]) / self.size)
        still = np.zeros(n)
        self._zero(Q[:, 0] - arm.start / self.size, V[:, 0])
        for side, value in ((Q[:, -1], arm.goal / self.size), (V[:, -1], still)):
            if first or not wanted.follows:  # joints that follow one motion end in one place
                self._zero(side[driven] - value[driven])
            if wanted.least != "residual":
                self._hold(side[free], value[free] - LEFT, value[free] + LEFT)
        self._begin(Q, V, A, arm)
        return sum(w * effort for w, effort in zip(WEIGHTS, efforts, strict=True)), q, v

    def _zero(self, *parts: MX) -> None:
        for part in parts:
            self._hold(part, 0.0, 0.0)

    def _between(self, values: MX, low: Array, high: Array, sizes: Array) -> None:
        """Rows of values between bounds, where these are finite."""
        for i, (least, most) in enumerate(zip(low / sizes, high / sizes, strict=True)):
            if np.isfinite([least, most]).any():
                self._hold(values[i, :] / sizes[i], least, most)

    def _begin(self, Q: MX, V: MX, A: MX, arm: Arm) -> None:
        """Where the search begins: a polynomial from rest to rest, or what is known of the first arm."""
        s = np.linspace(0, 1, self.intervals + 1)
        if self.before is None:
            way = arm.goal - arm.start
            q = arm.start + np.outer(s**3 * (10 - 15 * s + 6 * s**2), way)
            v = np.outer(30 * s**2 * (1 - s) ** 2, way) / self.wanted.duration
        else:
            old = np.linspace(0, 1, self.before.intervals + 1)
            q, v = (np.column_stack([np.interp(s, old, c) for c in x.T]) for x in (self.before.q, self.before.qd))
        self._guess(Q, q / self.size)
        self._guess(V, v / self.pace)
        if self.before is not None and self.wanted.near is not None:
            self._guess(A, np.tile(np.diff(v, axis=0) * self.intervals / self.wanted.duration / self.rise, STAGES))

    def _guess(self, unknown: MX, values: Array) -> None:
        if not np.isfinite(values).all():
            raise ComputationError(BEYOND)
        self.opti.set_initial(unknown, values.T)

    def _begin_inputs(self, U: MX, A: MX, arm: Arm) -> None:
        wanted, before = self.wanted, self.before
        s = np.linspace(0, 1, self.intervals + 1)
        if before is None:
            way = (arm.goal - arm.start)[list(wanted.driven)]
            rises = np.outer(60 * s - 180 * s**2 + 120 * s**3, way) / np.square(wanted.duration)
            jerks = np.outer(60 - 360 * s + 360 * s**2, way) / np.power(wanted.duration, 3)
            given = jerks if wanted.follows else np.zeros((self.intervals, len(way)))
        elif wanted.follows:
            old = np.linspace(0, 1, before.intervals + 1)
            parts = (before.inputs, before.accelerations)
            given, rises = (np.column_stack([np.interp(s, old, c) for c in x.T]) for x in parts)
        else:
            given = before.inputs[np.minimum((s[:-1] * before.intervals + 1e-9).astype(int), before.intervals - 1)]
        self._guess(U, given / self.unit)
        if wanted.follows:
            self._guess(A, rises / self.rise)


def _combined(weights: Array, parts: Sequence[MX]) -> MX:
    return sum((float(w) * part for w, part in zip(weights, parts, strict=True)), MX(0))


def _placed(inputs: MX, driven: Sequence[int], n: int) -> MX:
    """Inputs at their coordinates, of n."""
    return MX(np.eye(n)[:, list(driven)]) @ inputs
