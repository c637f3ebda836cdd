"""Vibrations that are too fast for the rows of a run: what is drawn through these is another motion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from kronbot.floats import Array, all_finite, rounded
from kronbot.model.robot import Robot

# Times (N,) with q and qd (N x n) there.
Seen = tuple[Array, Array, Array]
# Modes that swing with less than this share of the largest deflection are not looked for in rows.
SHARE = 0.01
# Rows a period that show a vibration.
ROWS = 10
# Times that are closer (rad of a vibration) tell solvers' errors rather than how far it swings.
CLOSE = 0.5
# Gaps between times differ by less than this share where they are the same.
SAME = 1e-6


def told_of_vibrations(
    robot: Robot, free: list[int], at_start: Mapping[str, Array], seen: Iterable[Seen], step: float
) -> list[str]:
    """A word on the fastest vibration of a run that has less than two rows, which are a step (s) apart, a period.

    It is looked for in all that is ``seen``, in the deflections of tips, and in those of shafts, bearings and torsion.
    Vibrations are told apart by the modes at the start: M and K of the ``free`` coordinates there, K with the gains of
    drives. Joints with gains are taken as locked.
    """
    count = len(free)
    M, K, gains = (at_start[name].reshape(count, count) for name in ("M", "K", "gains"))
    if not (elastic := [i for i, place in enumerate(free) if place in robot.flexible]):
        return []
    # In terms of what is deformed, and of what carries it along undeformed.
    carried = robot.undeformed_rates(np.eye(robot.n))[np.ix_(free, free)].T
    carried[:, elastic] = np.eye(count)[:, elastic]
    M, K = (carried.T @ each @ carried for each in (M, K))
    held = [i for i in range(count) if i not in elastic and gains[i].any()]
    loose = [i for i in range(count) if i not in elastic and not gains[i].any() and not K[i].any()]
    moving = [i for i in range(count) if i not in held and i not in loose]
    across = M[np.ix_(moving, loose)]
    try:
        inertia = M[np.ix_(moving, moving)] - across @ np.linalg.solve(M[np.ix_(loose, loose)], across.T)
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
    amplitudes, largest = np.zeros(len(swinging)), dict[str, float]()
    measures = list(_measures(robot, [free[i] for i in moving], at_start["tips"].reshape(-1, count)[:, moving]))
    for times, q, qd in seen:
        away, rates = (q - robot.undeformed(q))[:, free], (qd - robot.undeformed_rates(qd))[:, free]
        place, rate = (each[:, moving] @ inertia @ shapes for each in (away, rates))
        amplitudes = np.maximum(amplitudes, _amplitudes(times, place, rate, swinging))
        for kind, rows in measures:
            size = float(np.linalg.norm(away[:, moving] @ rows.T, axis=1).max())
            largest[kind] = max(largest.get(kind, 0.0), size)
    shares = [np.linalg.norm(rows @ shapes, axis=0) * amplitudes > SHARE * largest[kind] for kind, rows in measures]
    unseen = np.any(shares, axis=0)
    if not unseen.any():
        return []
    period = 2 * np.pi / float(swinging[unseen].max())
    return [
        f"a vibration of about {1 / period:.3g} Hz is too fast for rows that are {step:.3g} s apart: between them it "
        f"swings once in {rounded(period)} s; a step of {rounded(period / ROWS, 1)} s shows it"
    ]


def _measures(robot: Robot, places: list[int], tips: Array) -> Iterator[tuple[str, Array]]:
    """Kinds of deflections that are told beside each other, with their rows over coordinates in these places."""
    for first in range(0, len(tips), 3):
        yield "tips", tips[first : first + 3]
    ends = [(link.modal, link.beam.torsion.count) for link in robot.links if link.beam is not None]
    bending = {place for modal, twisting in ends for place in range(modal.start, modal.stop - twisting)}
    for i, place in enumerate(places):
        if place in robot.flexible and place not in bending:
            yield robot.units[place], np.eye(len(places))[[i]]


def _amplitudes(times: Array, place: Array, rate: Array, swinging: Array) -> Array:
    """How far modes (N x modes) swing that are seen at times: of sin(w t + p), with d = t_2 - t_1 = t_1 - t_0,

        s_2 - s_0 - 2 d s_1' = 2 (sin(w d) - w d) cos(w t_1 + p),

    while what changes slowly leaves terms of the third order in d.
    """
    if len(times) < 3:
        return np.zeros(len(swinging))
    gaps = np.diff(times)
    even = np.abs(np.diff(gaps)) < SAME * gaps[1:]
    left = place[2:] - place[:-2] - (times[2:] - times[:-2])[:, None] * rate[1:-1]
    turns = gaps[1:, None] * swinging
    swings = 2 * (turns - np.sin(turns))
    counted = even[:, None] & (turns > CLOSE)
    found: Array = np.divide(np.abs(left), swings, out=np.zeros_like(left), where=counted).max(axis=0)
    return found
