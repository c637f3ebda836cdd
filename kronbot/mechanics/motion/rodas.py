"""RODAS follows a motion."""

from __future__ import annotations

import casadi
import numpy as np

from kronbot.floats import Array
from kronbot.mechanics.motion import rosenbrock
from kronbot.mechanics.motion.one_step import OneStep


class Rodas(OneStep):
    """Quick where the tolerance is that of an engineer."""

    ORDER, STAGES = rosenbrock.ORDER, rosenbrock.STAGES

    def traced(self) -> casadi.Function:
        """With the exact Jacobian of the rate."""
        ode = self.ode
        return rosenbrock.step(ode.t, ode.x, self.expression, ode.coordinates, ode.beside, self.symbols)

    def between(self, times: Array, steps: Array) -> Array:
        """Many at once: they are short. What is kept of a step is what D makes of it."""
        every = np.repeat(steps, steps[:, 0].astype(int), axis=0)
        t, goal, h = every[:, 1:4].T
        here, end, second, third = np.split(every[:, 4:], 2 + len(rosenbrock.D), axis=1)
        s = np.where(times == goal, 1.0, (times - t) / h)[:, None]
        return (1 - s) * here + s * (end + (1 - s) * (second + s * third))
