"""Vibrations that are too fast for the rows of a run: what is drawn through these is another motion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import numpy.typing as npt

from kronbot.description.wording import listing
from kronbot.errors import ComputationError, KronbotError
from kronbot.floats import Array, all_finite, rounded
from kronbot.mechanics.motion.integration import Tolerances
from kronbot.model.robot import Robot

# Times (N,) with q and qd (N x n) there.
Seen = tuple[Array, Array, Array]
# Modes that swing with less than this share of the largest deflection are not looked for in rows.
SHARE = 0.01
# What comes back on the other side by less than this share creeps home: one mode from a damping ratio of 0.69 on.
BACK = 0.05
# Rows a period that show a vibration.
ROWS = 10
# Times that are closer (rad of a vibration) tell solvers' errors rather than how far it swings.
CLOSE = 0.5
# How many times its tolerances a run may be off.
ERRORS = 10
# Gaps between times differ by less than this share where they are the same.
SAME = 1e-6
# A joint that yields and would swing more often than this in a run is as good as rigid.
OFTEN = 1e6


def told_of_vibrations(
    robot: Robot,
    free: list[int],
    at_start: Mapping[str, Array],
    seen: Iterable[Seen],
    step: float,
    tolerances: Tolerances,
) -> list[str]:
    """A word on the fastest vibration of a run that has less than two rows, which are a step (s) apart, a period.

    It is looked for in all that is ``seen``, in the deflections of tips, those of torsion at levers as long as beams,
    and those of shafts and bearings. Vibrations are told apart by the modes at the start: M and K of the ``free``
    coordinates there, K with the gains of drives. Joints with gains are taken as locked. Of what each is seen to do
    that part counts by which it :func:`swings <_swings>` back, beyond errors that the ``tolerances`` of the run leave.
    """
    count = len(free)
    gains = at_start["gains"].reshape(count, count)
    if not (elastic := [i for i, place in enumerate(free) if place in robot.flexible]):
        return []
    M, D, K = _deformed(robot, free, elastic, at_start)
    held = [i for i in range(count) if i not in elastic and gains[i].any()]
    loose = [i for i in range(count) if i not in elastic and not gains[i].any() and not K[i].any()]
    moving = [i for i in range(count) if i not in held and i not in loose]
    across = M[np.ix_(moving, loose)]
    try:
        along = np.linalg.solve(M[np.ix_(loose, loose)], across.T)
        inertia = M[np.ix_(moving, moving)] - across @ along
        L = np.linalg.cholesky(inertia)
        half = np.linalg.solve(L, all_finite(K[np.ix_(moving, moving)]))
        squares, V = np.linalg.eigh(all_finite(np.linalg.solve(L, half.T)))
    except np.linalg.LinAlgError:
        return []
    swinging = np.sqrt(np.maximum(squares, 0.0))
    fast = swinging * step > np.pi
    if not fast.any():
        return []
    swinging, shapes = swinging[fast], np.linalg.solve(L.T, V)[:, fast]
    amplitudes, largest, weights = np.zeros(len(swinging)), dict[str, float](), np.abs(inertia @ shapes)
    measures = list(_measures(robot, [free[i] for i in moving], at_start["tips"].reshape(-1, count)[:, moving]))
    for times, q, qd in seen:
        away, rates = (q - robot.undeformed(q))[:, free], (qd - robot.undeformed_rates(qd))[:, free]
        place, rate = (each[:, moving] @ inertia @ shapes for each in (away, rates))
        doubts = (
            ERRORS * np.array([tolerances.of(size) for size in np.abs(each).max(axis=0).tolist()]) @ weights
            for each in (q[:, free][:, moving], qd[:, free][:, moving])
        )
        amplitudes = np.maximum(amplitudes, _amplitudes(times, place, rate, swinging, *doubts))
        for kind, rows in measures:
            size = float(np.linalg.norm(away[:, moving] @ rows.T, axis=1).max())
            largest[kind] = max(largest.get(kind, 0.0), size)

    def large(sizes: Array) -> npt.NDArray[np.bool_]:
        shares = [np.linalg.norm(rows @ shapes, axis=0) * sizes > SHARE * largest[kind] for kind, rows in measures]
        return np.asarray(np.any(shares, axis=0))

    if not large(amplitudes).any():
        return []
    let_go = np.zeros((count, len(swinging)))
    let_go[moving], let_go[loose] = shapes, -along @ shapes
    kept = [*moving, *held, *(i for i in loose if K[:, i].any())]
    try:
        swinging, back = _swings(M, D, K, kept, let_go, inertia @ shapes, step)
    except np.linalg.LinAlgError:
        return []
    unseen = (back > BACK) & large(amplitudes * np.minimum(back, 1.0))
    if not unseen.any():
        return []
    period = 2 * np.pi / float(swinging[unseen].max())
    return [
        f"a vibration of about {1 / period:.3g} Hz is too fast for rows that are {step:.3g} s apart: between them it "
        f"swings once in {rounded(period)} s; a step of {rounded(period / ROWS, 1)} s shows it"
    ]


def _swings(
    M: Array, D: Array, K: Array, kept: list[int], let_go: Array, seen: Array, step: float
) -> tuple[Array, Array]:
    """At which frequency (rad/s) each of k modes swings that is let go of at rest, ``let_go`` (n x k), and which share
    of it comes back on the other side, as far as rows that are a step (s) apart do not show it.

    Whatever the damping, and the gains of drives with it, it goes back by the poles s of M s^2 + D s + K,

        a(t) = seen^T q(t) = sum over poles of c exp(s t),  sum of c = 1,

    and a pair brings it to the other side, half a swing later, by 2 Re(c) exp(pi min(0, Re s)/Im s). The share is the
    sum of these over all pairs that have less than two rows a period, the frequency that of the largest. One mode by
    itself, of damping ratio z, comes back by exp(-pi z/sqrt(1 - z^2)), and with z >= 1 not at all. ``kept`` are the
    coordinates on which forces depend, of which the first m are ``seen`` (m x k).

    Raises LinAlgError where numbers are not finite.
    """
    count, size = len(M), len(kept)
    rates = np.eye(count)[kept]
    A = np.block([[np.zeros((size, size)), rates], [-np.linalg.solve(M, np.hstack([K[:, kept], D]))]])
    poles, V = np.linalg.eig(all_finite(A))
    start = np.vstack([let_go[kept], np.zeros_like(let_go)])
    c = (np.linalg.pinv(all_finite(V)) @ start) * (seen.T @ V[: len(seen)]).T
    pairs = poles.imag * step > np.pi
    if not pairs.any():
        return np.zeros(len(seen.T)), np.zeros(len(seen.T))
    poles, c = poles[pairs], c[pairs]
    back = 2 * c.real * np.exp(np.pi * np.minimum(poles.real, 0) / poles.imag)[:, None]
    return poles.imag[back.argmax(axis=0)], back.sum(axis=0)


def with_rigid_joints(
    error: KronbotError | None, robot: Robot, free: list[int], at_start: Mapping[str, Array], duration: float
) -> KronbotError | None:
    """An error that ends a run of so long a ``duration`` (s), with the joints that yield so little that no solver
    follows them, and the cure."""
    bending = _bending(robot)
    yielding = [i for i, place in enumerate(free) if place in robot.flexible and place not in bending]
    if type(error) is not ComputationError or not yielding:
        return error
    M, _, K = _deformed(robot, free, [i for i, place in enumerate(free) if place in robot.flexible], at_start)
    try:
        loose = np.diag(np.linalg.inv(all_finite(M)))
    except np.linalg.LinAlgError:
        return error
    swings = np.sqrt(np.maximum(np.diag(K) * loose, 0.0)) * duration / (2 * np.pi)
    if not (stiff := [robot.coordinates[free[i]] for i in yielding if swings[i] > OFTEN]):
        return error
    most = max(swings[i] for i in yielding)
    they = "yields so little that it" if len(stiff) == 1 else "yield so little that they"
    why = f"; {listing(stiff)} {they} would swing {most:.2g} times in this run"
    return ComputationError(*error.args, f"{why}: a compliance of 0, or no stiffness there, is rigid")


def _deformed(
    robot: Robot, free: list[int], elastic: list[int], at_start: Mapping[str, Array]
) -> tuple[Array, Array, Array]:
    """M, D and K in terms of what is deformed, at ``elastic`` places, and of what carries it along undeformed."""
    count = len(free)
    carried = robot.undeformed_rates(np.eye(robot.n))[np.ix_(free, free)].T
    carried[:, elastic] = np.eye(count)[:, elastic]
    M, D, K = (carried.T @ at_start[name].reshape(count, count) @ carried for name in ("M", "D", "K"))
    return M, D, K


def _bending(robot: Robot) -> set[int]:
    """Coordinates in which beams bend."""
    ends = [(link.modal, link.beam.torsion.count) for link in robot.links if link.beam is not None]
    return {place for modal, twisting in ends for place in range(modal.start, modal.stop - twisting)}


def _measures(robot: Robot, places: list[int], tips: Array) -> Iterator[tuple[str, Array]]:
    """Kinds of deflections that are told beside each other, with their rows over coordinates in these places."""
    for first in range(0, len(tips), 3):
        yield "tips", tips[first : first + 3]
    beams = [link.modal for link in robot.links if link.beam is not None]
    shapes = {place for modal in beams for place in range(modal.start, modal.stop)}
    for i, place in enumerate(places):
        if place in robot.flexible and place not in shapes:
            yield robot.units[place], np.eye(len(places))[[i]]


def _amplitudes(times: Array, place: Array, rate: Array, swinging: Array, doubt: Array, rate_doubt: Array) -> Array:
    """How far modes (N x modes) swing that are seen at times: of sin(w t + p), with d = t_2 - t_1 = t_1 - t_0,

        s_2 - s_0 - 2 d s_1' = 2 (sin(w d) - w d) cos(w t_1 + p),

    while what changes slowly leaves terms of the third order in d, and errors of places and rates (modes,) theirs.
    """
    if len(times) < 3:
        return np.zeros(len(swinging))
    gaps = np.diff(times)
    even = np.abs(np.diff(gaps)) < SAME * gaps[1:]
    left = place[2:] - place[:-2] - (times[2:] - times[:-2])[:, None] * rate[1:-1]
    turns = gaps[1:, None] * swinging
    swings = 2 * (turns - np.sin(turns))
    counted = even[:, None] & (turns > CLOSE)
    seen = np.maximum(np.abs(left) - 2 * (doubt + gaps[1:, None] * rate_doubt), 0.0)
    found: Array = np.divide(seen, swings, out=np.zeros_like(left), where=counted).max(axis=0)
    return found
