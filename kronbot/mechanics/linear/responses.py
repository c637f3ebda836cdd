"""How a linear model x' = A x + B u, z = C x + D u answers to steps, impulses and vibrations of its inputs.

In time every row is exact: the matrix exponential of a step, from which the next ones follow.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kronbot.errors import ComputationError
from kronbot.floats import Array, all_finite, decimals
from kronbot.mechanics.linear.state_space import StateSpace

EPS = float(np.finfo(float).eps)
Complex = npt.NDArray[np.complex128]

# Points of the grid of frequencies; fewer where the model is large: each costs the solution of a system of its size, a
# row in time the product of its matrix with the states.
POINTS, FEWEST, WORK = 600, 60, 3e9
# The grid goes on by this factor below the slowest pole and above the fastest, and closes in on each by these shares.
MARGIN = 10.0
CLOSER = np.logspace(-4, -1, 13)
# A share of the pole: nearer to an undamped one nothing can be solved.
ON_THE_POLE = 1e-9
# Rows in time; so many time constants of what decays or grows most slowly, within so many of the longest periods.
ROWS, CONSTANTS, PERIODS = 1000, 7.0, (2.0, 40.0)
# More rows where vibrations want so many a period that swing by this share of a response; at most so many, and numbers.
A_PERIOD, SHARE, MOST, NUMBERS = 10, 0.02, 20_000, 250_000
# Errors of eigenvectors, in units of rounding.
ERRORS = 1e3
# Real parts below this share of a pole are rounding.
STILL = 1e-9


def frequencies(poles: Complex, states: int) -> Array:
    """A logarithmic grid (rad/s) around the poles that is dense where they are near."""
    sizes = np.abs(poles[poles != 0])
    low, high = (sizes.min(), sizes.max()) if sizes.size else (1.0, 1.0)
    count = int(np.clip(WORK / max(1, states) ** 3, FEWEST, POINTS))
    swinging = np.unique(np.abs(poles[poles.imag > 0]))
    near = np.outer(swinging, np.concatenate([1 - CLOSER, 1 + CLOSER]))
    grid = np.unique(np.concatenate([np.geomspace(low / MARGIN, high * MARGIN, count), near.ravel()]))
    for pole in swinging:
        grid = grid[np.abs(grid - pole) > ON_THE_POLE * pole]
    return np.asarray(grid)


def transfer(model: StateSpace, at: Array) -> Complex:
    """C (i omega - A)^-1 B + D (N, outputs, inputs) at frequencies (N,), rad/s; 0 within the error of the solution.

    With L = i omega - A and x = L^-1 B that is eps (|C L^-1| (|L| |x| + |B|) + |C| |x| + |D|), entry by entry.
    """
    A, B, C, D = model.A, model.B, model.C, model.D
    unit, found = np.eye(len(A)), np.empty((len(at), *D.shape), dtype=complex)
    for values, omega in zip(found, at, strict=True):
        L = 1j * omega * unit - A
        x, y = np.linalg.solve(L, B), np.linalg.solve(L.T, C.T).T
        size = np.abs(x)
        error = EPS * (np.abs(y) @ (np.abs(L) @ size + np.abs(B)) + np.abs(C) @ size + np.abs(D))
        values[:] = C @ x + D
        values[np.abs(values) <= error] = 0.0
    return found


def how_long(poles: Complex) -> float:
    """A time (s) in which poles show what they are: the slowest dies out, or an unstable one has grown a lot."""
    moving = poles[np.abs(poles) > 0]
    if not moving.size:
        return 1.0
    rates, swinging = np.abs(moving.real), moving[moving.imag != 0]
    rates = rates[rates > STILL * np.abs(moving)]
    unstable = moving.real[moving.real > STILL * np.abs(moving)]
    rate = unstable.max() if unstable.size else rates.min() if rates.size else np.inf
    least = PERIODS[0] * 2 * np.pi / np.abs(swinging).min() if swinging.size else 0.0
    most = PERIODS[1] * 2 * np.pi / np.abs(moving).min()
    return float(CONSTANTS / rate if unstable.size else np.clip(CONSTANTS / rate, least, most))


def in_time(model: StateSpace, duration: float, impulse: bool) -> tuple[Array, Array, float]:
    """Times (N,) and outputs (N, outputs, inputs) after a unit step of every input at t = 0, or an impulse, and the
    frequency (rad/s) of the fastest vibration in these for which a largest number of rows is not enough, or 0.

    The impulse itself that an output feels through D is left out. Raises ComputationError where numbers overflow.
    """
    values, count = _rows(model, duration, impulse, ROWS), ROWS
    turns = duration * A_PERIOD / (2 * np.pi)
    fast = _fast(model, np.ptp(values, axis=0), impulse, ROWS / turns)
    most = min(MOST, NUMBERS // max(1, model.D.size), WORK / max(1, model.A.size * model.B.shape[1]))
    shown = fast[fast * turns <= most]
    if shown.size:
        count = int(np.ceil(shown.max() * turns))
        values = _rows(model, duration, impulse, count)
    (end,), denominator = decimals(duration)
    times = np.array([end * row / (count * denominator) for row in range(count + 1)])
    return times, values, float(fast.max(initial=0.0)) if fast.size > shown.size else 0.0


def _fast(model: StateSpace, sizes: Array, impulse: bool, beyond: float) -> Array:
    """Frequencies (rad/s) above ``beyond`` of vibrations in responses of such ``sizes`` (outputs, inputs).

    Of a pole s with x' = A x there, A V = V diag(s), a response has C v w^T B exp(s t), w^T the row of V^-1, to a step
    that over s: half a swing later a pair has brought it to the other side by twice the size of it then.
    """
    poles, V = np.linalg.eig(all_finite(model.A))
    fast = poles.imag > beyond
    if not fast.any():
        return np.zeros(0)
    W = np.linalg.pinv(all_finite(V))[fast]
    s, shapes = poles[fast], model.C @ V[:, fast]
    back = 2 * np.exp(np.pi * np.minimum(s.real, 0) / s.imag) / (1.0 if impulse else np.abs(s))
    swings = np.abs(shapes)[:, :, None] * (np.abs(W @ model.B) * back[:, None])
    largest = (np.abs(model.C) @ np.abs(V[:, fast]))[:, :, None] * (np.abs(W) @ np.abs(model.B) * back[:, None])
    seen = (swings > np.maximum(SHARE * sizes[:, None, :], ERRORS * EPS * largest)).any(axis=(0, 2))
    return np.asarray(s.imag[seen])


def _rows(model: StateSpace, duration: float, impulse: bool, count: int) -> Array:
    """Outputs (count + 1, outputs, inputs) at times that are evenly apart."""
    from scipy.linalg import expm  # here, since it takes a quarter of a second

    n, inputs = model.B.shape
    h = duration / count
    whole = np.zeros((n + inputs, n + inputs))
    whole[:n] = np.hstack([model.A, model.B]) * h
    whole = np.asarray(expm(whole))
    step, forced = whole[:n, :n], whole[:n, n:]
    x, values = model.B.copy() if impulse else np.zeros((n, inputs)), np.empty((count + 1, *model.D.shape))
    for row in values:
        np.matmul(model.C, x, out=row)
        x = step @ x if impulse else step @ x + forced
    values += 0.0 if impulse else model.D
    if not np.isfinite(values).all():
        raise ComputationError(f"the response overflows in {duration:g} s: ask for a shorter duration")
    return values
