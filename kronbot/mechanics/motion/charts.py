"""Two charts of how a floating base is turned, so that a run comes near the gimbal lock of neither."""

from __future__ import annotations

import math

import casadi
import numpy as np
from casadi import SX

from kronbot.floats import Array
from kronbot.mechanics.multibody.attitude import angles_behind, angles_near, angular_velocity, rates
from kronbot.mechanics.multibody.rotations import of_roll_pitch_yaw
from kronbot.model.floating import CYCLE, in_chart
from kronbot.model.robot import Robot

# cos(ry) below which a chart is left. There the x-axis of the base is 30 degrees from the axis that locks it, so that
# it is 60 degrees at least from that of the other chart: they do not follow each other at once.
LEFT = 0.5
# The base may turn by this angle (rad) before it is looked at again.
WATCHED = 0.25

TURNS = np.array([np.eye(3), np.asarray(casadi.DM(CYCLE), dtype=float)])


def charted(robot: Robot, chart: SX) -> Robot:
    """The robot with a floating base, R = C Rz(rz) Ry(ry) Rx(rx), where C is that of the chart 0 or 1."""
    return in_chart(robot, SX.eye(3) + chart * (CYCLE - SX.eye(3)))


def own_rates(angles: SX, omega: SX) -> SX:
    """Rates (3 x 1) of angles at an angular velocity in the axes of the base."""
    (cx, cy, _), (sx, sy, _) = map(casadi.vertsplit, (casadi.cos(angles), casadi.sin(angles)))
    about_z = (sx * omega[1] + cx * omega[2]) / cy
    return casadi.vertcat(omega[0] + sy * about_z, cx * omega[1] - sx * omega[2], about_z)


class Charts:
    """How a base is turned along a run whose states are x = [q, qd, accounts], with so many ``coordinates`` q.

    ``chart`` is that of the state, 0 that of the robot's own angles, of which ``near`` (3,) are the latest, and
    ``turn`` (3 x 3) the latest rotation.
    """

    def __init__(self, coordinates: int, x: Array) -> None:
        self.chart = 0
        self.angles, self.rates = slice(3, 6), slice(coordinates + 3, coordinates + 6)
        self.near = x[self.angles].copy()
        self.turn = of_roll_pitch_yaw(self.near)

    def begun(self, x: Array) -> Array:
        """The state that a run begins with."""
        return self.changed(x) if self.leaves(x) else x

    def leaves(self, x: Array) -> bool:
        """Whether the state is so near to gimbal lock that it belongs into the other chart."""
        return abs(math.cos(x[4])) < LEFT

    def changed(self, x: Array) -> Array:
        """The state in the other chart, which is that of the run from here on."""
        turn, omega = self._motion(x[None], np.array([self.chart]))
        self.chart = 1 - self.chart
        C, x = TURNS[self.chart], x.copy()
        x[self.angles] = angles_near(C.T @ turn[0], np.zeros(3) if self.chart else self.near)
        x[self.rates] = rates(x[None, self.angles], omega @ C)[0]
        return x

    def longest(self, x: Array) -> float:
        """How long (s) the base may go on before it is looked at again."""
        speed = float(np.linalg.norm(angular_velocity(x[None, self.angles], x[None, self.rates])))
        return WATCHED / speed if speed > 0 else math.inf

    def told(self, states: Array) -> Array:
        """The next states (N, size) of the run, with their chart and the robot's own angles, continuous (N, 4)."""
        charts = np.full(len(states), self.chart)
        found, turns = states[:, self.angles].copy(), self._motion(states, charts)[0]
        for row, turn in zip(found, turns, strict=True) if self.chart else ():
            self.near = row[:] = angles_behind(self.turn, self.near, turn)
            self.turn = turn
        if len(found):
            self.near, self.turn = found[-1].copy(), turns[-1]
        return np.column_stack([states, charts, found])

    def _motion(self, states: Array, charts: Array) -> tuple[Array, Array]:
        """R (N, 3, 3) and angular velocity (N, 3) in the fixed frame."""
        C, angles = TURNS[charts], states[:, self.angles]
        omega = angular_velocity(angles, states[:, self.rates])
        return C @ of_roll_pitch_yaw(angles), (C @ omega[:, :, None])[:, :, 0]
