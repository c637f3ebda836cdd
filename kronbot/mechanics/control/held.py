"""Torques of a motion, held in steps: plans of arms that swing, where least effort is lost.

Torques that save effort let links swing freely, in ways that are many and far from each other; a smooth motion that
motors could follow is one, and its torques move the arm without the motors' help. Steps of their means act like
tau + h^2/12 tau'' and a ripple that is far too fast for vibrations; a twelfth of the second differences less makes up
for it (nothing in all, as tau' is 0 at both ends), so that what is left is of the fourth order in the steps.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.interpolate import CubicSpline, make_interp_spline

from kronbot.floats import Array
from kronbot.mechanics.control.planned import Plan


def held(motion: Plan, times: Array, q: Array, qd: Array, torques: Array, steps: int) -> Plan:
    """The torques (rows, k) of a motion at ``times`` in so many steps, with its states q, qd (rows, n).

    Accelerations of motors that follow rows are straight between them, and so are torques.
    """
    ends = np.linspace(times[0], times[-1], steps + 1)
    impulses = np.diff(make_interp_spline(times, torques, 1).antiderivative()(ends), axis=0)
    places, rates = (CubicSpline(times, each)(ends) for each in (q, qd))
    means = impulses * steps / motion.duration
    inputs = means - np.diff(np.pad(means, ((1, 1), (0, 0)), "edge"), 2, axis=0) / 12
    return replace(motion, q=places, qd=rates, inputs=inputs, accelerations=0 * inputs)
