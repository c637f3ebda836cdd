"""Stops, tendons and dry friction along a rigid motion: when they begin and cease to hold, and what that does to
deviations."""

from __future__ import annotations

import numpy as np
from casadi import SX

from kronbot.cached import cached_property
from kronbot.compute.trace import traced
from kronbot.floats import Array
from kronbot.mechanics.linear.linear_model import LinearModel
from kronbot.mechanics.multibody.stops import one_sided
from kronbot.model.robot import Robot
from kronbot.questions.friction import told_of_friction_along
from kronbot.questions.instants import Instants
from kronbot.questions.periods import Along
from kronbot.records import dataclass

# Shares of the shortest motion at which contacts are looked for, at most so many in all.
FINELY, MOST = 2000, 200_000
# A share of a period, beside an instant at which coefficients jump: errors of their entries are looked for there.
ASIDE = 1e-9


@dataclass(frozen=True)
class ContactsAlong:
    """Those of a robot within a period (s) of a motion, on which its linear model depends."""

    along: Along
    period: float

    @cached_property
    def instants(self) -> Instants:
        """Where they begin and end, and where friction turns back."""
        robot = self.along.robot
        spans = [motion.span(robot.parameters, self.along.purpose) for motion in robot.motions.values()]
        shortest = min((span for span in spans if span), default=self.period)
        count = 1 + min(MOST, FINELY * max(1, int(np.ceil(self.period / shortest))))
        return _instants(robot, np.linspace(0.0, self.period, count), self.along.purpose)

    def jumps(self) -> list[tuple[float, Array]]:
        """Instants (s) at which rates of the free coordinates jump, y' by -G y, with G (m x m)."""
        times, which, touching = self.instants.contacts
        made: list[tuple[float, Array]] = []
        for t, contact in zip(times[touching].tolist(), which[touching].tolist(), strict=True):
            if found := self.instants.stiffening(t, contact, list(self.along.free)):
                made.append((t, np.linalg.solve(self.along.at(np.array([t]))[0][0], np.outer(*found))))
        return made

    def aside(self, times: Array) -> Array:
        """Times (N,) of a period, those that are at an instant a little later or earlier."""
        instants, T = self.instants.contacts[0], self.period
        if not instants.size:
            return times
        apart = np.abs((times[:, None] - instants + T / 2) % T - T / 2).min(axis=1)
        step = 2 * ASIDE * T
        return np.where(apart < ASIDE * T, np.where(times < T / 2, times + step, times - step), times)


def told_of_validity_along(robot: Robot, times: Array, locked: frozenset[int], purpose: str) -> list[str]:
    """Which stops and tendons hold at some of the times (N,) of a motion, and which joints are near rest, in words.

    These have dry friction, unless they are ``locked``.
    """
    looks = _instants(robot, times, purpose)
    if not one_sided(robot):
        return told_of_friction_along(robot, looks.way(times)[1], locked)
    depths = looks.rows(times)["depths"]
    stops = [f"{stop.joint} is in its stop" for stop in robot.stops]
    ropes = [f"tendon {element.name} is taut" for element in robot.elements if element.one_sided]
    held = dict.fromkeys((*stops, *ropes), 0)
    for name, column in zip((*stops, *ropes), depths.T, strict=True):
        held[name] += int((column > 0).sum())
    told = told_of_friction_along(robot, looks.way(times)[1], locked)
    return told + [
        f"{name} at {count} of {len(times)} times: there it holds in these models, elsewhere not"
        for name, count in held.items()
        if 0 < count < len(times)
    ]


def _instants(robot: Robot, looks: Array, purpose: str) -> Instants:
    def way(times: Array) -> tuple[Array, Array]:
        rows = trace.rows(np.tile(times[:, None], len(robot.motions)))
        return rows["q"].reshape(-1, robot.n), rows["qd"].reshape(-1, robot.n)

    trace = traced(robot, "way", purpose, lambda: _way(robot))
    return Instants(robot, way, looks, purpose)


def _way(robot: Robot) -> tuple[dict[str, SX], dict[str, SX]]:
    linear = LinearModel.about_any_motion(robot)
    return linear.along_motions({"q": linear.q, "qd": linear.qd})
