"""Vibrations that are too fast for the rows of a run: what is drawn through these is another motion."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kronbot.floats import Array, rounded
from kronbot.model.robot import Robot

# Modes that swing with less than this share of the largest deflection (by modal mass) are not looked for in rows.
SHARE = 0.01
# Rows a period that show a vibration.
ROWS = 10


def told_of_vibrations(
    robot: Robot, free: list[int], at_start: Mapping[str, Array], q: Array, qd: Array, step: float
) -> list[str]:
    """A word on the fastest vibration of a run at q, qd (N, n each) that has less than two rows a period.

    Vibrations are told apart by the modes at the start: M and K of the ``free`` coordinates there, K with the gains of
    drives. Joints with gains are taken as locked, those without any as free.
    """
    M, K = (at_start[name].reshape(len(free), len(free)) for name in "MK")
    yielding = [i for i, place in enumerate(free) if place in robot.flexible]
    loose = [i for i, place in enumerate(free) if place not in robot.flexible and not K[i].any()]
    if not yielding:
        return []
    inertia, across = M[np.ix_(yielding, yielding)], M[np.ix_(yielding, loose)]
    try:
        inertia = inertia - across @ np.linalg.solve(M[np.ix_(loose, loose)], across.T)
        L = np.linalg.cholesky(inertia)
        squares, V = np.linalg.eigh(np.linalg.solve(L, np.linalg.solve(L, K[np.ix_(yielding, yielding)]).T))
    except np.linalg.LinAlgError:
        return []
    places = [free[i] for i in yielding]
    moved, rates = (np.abs(each[:, places] @ L @ V).max(axis=0) for each in (q - q[0], qd))
    swinging = np.sqrt(np.maximum(squares, 0.0))
    amplitudes = np.divide(rates, swinging, out=np.zeros_like(rates), where=swinging > 0)
    unseen = (amplitudes > SHARE * max(moved.max(), amplitudes.max())) & (swinging * step > np.pi)
    if not unseen.any():
        return []
    period = 2 * np.pi / float(swinging[unseen].max())
    return [
        f"a vibration of about {1 / period:.3g} Hz is too fast for rows that are {step:.3g} s apart: between them it "
        f"swings once in {rounded(period)} s; a step of {rounded(period / ROWS, 1)} s shows it"
    ]
