"""Motions from rest to rest that are best: direct collocation, solved by IPOPT with exact Hessians.

Torques are constant on each of N equal intervals; within one the states follow Radau IIA of three stages (order 5,
L-stable: stiff modes do not set the mesh). Accelerations at the stages are unknowns, so that the equations of motion
stand as inverse dynamics and no inertia matrix is inverted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi
import numpy as np
from casadi import MX

from kronbot.errors import ComputationError, Interrupted
from kronbot.floats import Array
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
STAGES = len(RADAU)
# Iterations of IPOPT, and the share of the best value to which it is found.
ITERATIONS, TOLERANCE = 1000, 1e-8
# Bounds of the end time, as shares of the first guess.
SPAN = (1e-2, 1e2)


@dataclass(frozen=True)
class Wanted:
    """From rest at ``start`` to rest at ``goal`` (n,), torques (k,) between ``low`` and ``high``.

    ``duration`` (s) is kept, or, with ``shortest``, a first guess. The integral of the squares of the torques, each by
    its ``scale`` (k,), is least otherwise.
    """

    start: Array
    goal: Array
    low: Array
    high: Array
    scale: Array
    duration: float
    shortest: bool


@dataclass(frozen=True)
class Plan:
    """States q, qd (N + 1, n) at the ends of N intervals, torques (N, k) on them, duration (s).

    ``missed`` is how far conditions are missed, of a size of one: nearly nothing, unless the search was stopped.
    """

    q: Array
    qd: Array
    tau: Array
    duration: float
    iterations: int
    missed: float = 0.0


def plan(
    forces: casadi.Function,
    inputs: Array,
    wanted: Wanted,
    intervals: int,
    before: Plan | None,
    watch: Callable[[], None],
) -> Plan:
    """The best motion on so many intervals, from the one ``before`` or a smooth one.

    ``forces`` (q, qd, qdd) -> n are what a motion needs, ``inputs`` (n x k) where torques act; ``watch`` is called now
    and then and may raise what stops the search: then Interrupted is raised, with the plan so far as ``partial``.
    Raises ComputationError where there is none.
    """
    n, k = inputs.shape
    opti: Any = casadi.Opti()
    size = np.maximum(np.abs(wanted.goal - wanted.start).max(initial=0.0), 1e-6)
    pace = size / wanted.duration
    T = opti.variable() if wanted.shortest else MX(1)
    h = T * wanted.duration / intervals
    Q, V = opti.variable(n, intervals + 1), opti.variable(n, intervals + 1)
    A, U = opti.variable(n * STAGES, intervals), opti.variable(k, intervals)
    q, v, u = size * Q, pace * V, casadi.diag(MX(wanted.scale)) @ U
    a = pace / wanted.duration * A
    parts = [a[i * n : (i + 1) * n, :] for i in range(STAGES)]
    every = forces.map(intervals)
    stages_v = [v[:, :-1] + h * sum(float(c) * each for c, each in zip(row, parts, strict=True)) for row in RADAU]
    stages_q = [q[:, :-1] + h * sum(float(c) * each for c, each in zip(row, stages_v, strict=True)) for row in RADAU]
    weight = np.maximum(np.abs(inputs) @ wanted.scale, wanted.scale.min())
    for at, rate, change in zip(stages_q, stages_v, parts, strict=True):
        left = every(at, rate, change) - MX(inputs) @ u
        opti.subject_to(casadi.vec(left / MX(weight[:, None] * np.ones((1, intervals)))) == 0)
    opti.subject_to(casadi.vec(stages_q[-1] - q[:, 1:]) / size == 0)
    opti.subject_to(casadi.vec(stages_v[-1] - v[:, 1:]) / pace == 0)
    ends = ((Q[:, 0], wanted.start / size), (Q[:, -1], wanted.goal / size), (V[:, 0], 0), (V[:, -1], 0))
    for side, value in ends:
        opti.subject_to(side == value)
    for i in range(k):
        low, high = wanted.low[i] / wanted.scale[i], wanted.high[i] / wanted.scale[i]
        if np.isfinite([low, high]).any():
            opti.subject_to(opti.bounded(low, U[i, :], high))
    effort = casadi.sumsqr(U) / intervals
    if wanted.shortest:
        opti.subject_to(opti.bounded(SPAN[0], T, SPAN[1]))
        opti.minimize(T)
        opti.set_initial(T, 1.0 if before is None else before.duration / wanted.duration)
    else:
        opti.minimize(effort)
    _begin(opti, (Q, V, U), wanted, size, pace, before, intervals)
    heard: list[BaseException] = []
    done = 0

    def tell(iteration: int) -> None:
        nonlocal done
        done = iteration
        try:
            watch()
        except BaseException as error:
            heard.append(error)
            raise RuntimeError from None  # of a KeyboardInterrupt CasADi would warn

    def made(value: Callable[[MX], Any], missed: float = 0.0) -> Plan:
        values = [np.asarray(value(each), dtype=float) for each in (q, v, u)]
        rows = [each.reshape(shape) for each, shape in zip(values, ((n, -1), (n, -1), (k, -1)), strict=True)]
        return Plan(rows[0].T, rows[1].T, rows[2].T, wanted.duration * float(value(T)), done, missed)

    opti.callback(tell)
    options = {"print_time": False, "ipopt.print_level": 0, "ipopt.sb": "yes"}
    options |= {"ipopt.max_iter": ITERATIONS, "ipopt.tol": TOLERANCE, "show_eval_warnings": False}
    opti.solver("ipopt", options)
    try:
        found = opti.solve()
    except RuntimeError:
        if heard:
            error = Interrupted(f"interrupted after {done} iterations on {intervals} intervals")
            value = opti.debug.value
            beyond = np.maximum(value(opti.lbg) - value(opti.g), value(opti.g) - value(opti.ubg))
            error.partial = made(value, max(0.0, float(beyond.max()))) if done else None
            raise error from heard[0]
        status = str(opti.stats().get("return_status", "")).replace("_", " ").lower()
        cure = "more time, wider limits of torque, or a goal that is nearer"
        raise ComputationError(f"no plan is found ({status or 'IPOPT gave up'}): try {cure}") from None
    done = int(opti.stats()["iter_count"])
    return made(found.value)


def _begin(
    opti: Any, parts: tuple[MX, MX, MX], wanted: Wanted, size: float, pace: float, before: Plan | None, intervals: int
) -> None:
    """Where the search begins: a polynomial from rest to rest, or what is known."""
    Q, V, U = parts
    s = np.linspace(0, 1, intervals + 1)
    if before is None:
        way = wanted.goal - wanted.start
        q = wanted.start + np.outer(s**3 * (10 - 15 * s + 6 * s**2), way)
        v = np.outer(30 * s**2 * (1 - s) ** 2, way) / wanted.duration
        tau = np.zeros((intervals, U.shape[0]))
    else:
        old = np.linspace(0, 1, len(before.q))
        q, v = (np.column_stack([np.interp(s, old, c) for c in each.T]) for each in (before.q, before.qd))
        tau = before.tau[np.minimum((s[:-1] * len(before.tau) + 1e-9).astype(int), len(before.tau) - 1)]
    if not all(np.isfinite(each).all() for each in (q / size, v / pace, tau / wanted.scale)):
        raise ComputationError("no plan is found: its speeds are too large or too small for double precision")
    opti.set_initial(Q, q.T / size)
    opti.set_initial(V, v.T / pace)
    opti.set_initial(U, (tau / wanted.scale).T)
