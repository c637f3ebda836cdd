"""Stops and tendons along a rigid motion: when they begin and cease to hold, and what that does to deviations.

A deviation y meets a contact of depth d earlier by (dd/dq y)/d', and with damping c has its force c d' for that time
more: the rates of deviations jump by -M^-1 s^T c s y, s = dd/dq (Aizerman and Gantmakher 1958). Contacts end where
their force is zero: nothing jumps there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import casadi
import numpy as np
import numpy.typing as npt
from casadi import SX

from kronbot.cached import cached_property
from kronbot.compute.trace import traced
from kronbot.floats import Array
from kronbot.mechanics.linear.linear_model import LinearModel
from kronbot.mechanics.multibody.stops import Contacts, one_sided
from kronbot.model.robot import Robot
from kronbot.questions.periods import Along
from kronbot.records import dataclass

Flags = npt.NDArray[np.bool_]
Places = npt.NDArray[np.intp]

# Shares of the shortest motion at which contacts are looked for, at most so many in all; halvings to an instant.
FINELY, MOST, HALVINGS = 2000, 200_000, 60
# Shares of the smoothing between which the slope of friction has its peak: tanh 20 is 1.
PEAK = -20.0, -5.0, 0.0, 5.0, 20.0
# A share of a period, beside an instant at which coefficients jump: errors of their entries are looked for there.
ASIDE = 1e-9


@dataclass(frozen=True)
class ContactsAlong:
    """Those of a robot within a period (s) of a motion, on which its linear model depends."""

    along: Along
    period: float

    @cached_property
    def found(self) -> tuple[Array, Places, Flags]:
        """Instants (K,) s, which contact it is (K,), and whether it begins there with a depth of zero (K,)."""
        none = np.zeros(0), np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.bool_)
        if not one_sided(self.along.robot):
            return none
        times = np.linspace(0.0, self.period, self._count)
        a, b, which, was = turning(self._held, times)
        if not which.size:
            return none
        touching = self._contacts(self._rows(a), "depths")[np.arange(len(which)), which] <= 0
        return b, which, np.logical_not(was) & touching

    @property
    def reversals(self) -> Array:
        """Instants (K,) s at which joints with dry friction come near rest, at which they are and leave it: its slope
        is a peak there, which steps of any order could step over.
        """
        robot = self.along.robot
        if not any(link.joint is not None and link.joint.friction is not None for link in robot.links):
            return np.zeros(0)
        trace = traced(robot, "reversals along", self.along.purpose, lambda: _reversing(robot))

        def beyond(times: Array) -> Flags:
            rows = trace.rows(np.tile(times[:, None], len(robot.motions)))["shares"]
            return np.asarray(rows.reshape(len(times), -1, 1) > np.array(PEAK)).reshape(len(times), -1)

        return turning(beyond, np.linspace(0.0, self.period, self._count))[1]

    def jumps(self) -> list[tuple[float, Array]]:
        """Instants (s) at which rates of the free coordinates jump, y' by -G y, with G (m x m)."""
        times, which, touching = self.found
        made: list[tuple[float, Array]] = []
        for t, contact in zip(times[touching].tolist(), which[touching].tolist(), strict=True):
            at = np.array([t])
            rows = self._rows(at)
            c = float(self._contacts(rows, "c")[0, contact])
            s = rows["inward"].reshape(-1, self.along.robot.n)[contact][list(self.along.free)]
            if c and s.any():
                made.append((t, np.linalg.solve(self.along.at(at)[0][0], np.outer(s, c * s))))
        return made

    def aside(self, times: Array) -> Array:
        """Times (N,) of a period, those that are at an instant a little later or earlier."""
        instants, T = self.found[0], self.period
        if not instants.size:
            return times
        apart = np.abs((times[:, None] - instants + T / 2) % T - T / 2).min(axis=1)
        step = 2 * ASIDE * T
        return np.where(apart < ASIDE * T, np.where(times < T / 2, times + step, times - step), times)

    @property
    def _count(self) -> int:
        robot = self.along.robot
        spans = [motion.span(robot.parameters, self.along.purpose) for motion in robot.motions.values()]
        shortest = min((span for span in spans if span), default=self.period)
        return 1 + min(MOST, FINELY * max(1, int(np.ceil(self.period / shortest))))

    def _held(self, times: Array) -> Flags:
        rows = self._rows(times)
        return np.asarray((self._contacts(rows, "depths") > 0) & (self._contacts(rows, "forces") > 0))

    def _rows(self, times: Array) -> Mapping[str, Array]:
        return _rows(self.along.robot, times, self.along.purpose)

    def _contacts(self, rows: Mapping[str, Array], name: str) -> Array:
        return rows[name].reshape(len(rows[name]), -1)


def turning(flags: Callable[[Array], Flags], times: Array) -> tuple[Array, Array, Places, Flags]:
    """When flags (N, m) of times (N,) change between such times: just before and after it, which, and what it was."""
    values = flags(times)
    before, which = np.nonzero(values[1:] != values[:-1])
    a, b, was, pick = times[before], times[before + 1], values[before, which], np.arange(len(which))
    for _ in range(HALVINGS if len(which) else 0):
        middle = (a + b) / 2
        same = flags(middle)[pick, which] == was
        a, b = np.where(same, middle, a), np.where(same, b, middle)
    return a, b, which, was


def told_of_contacts_along(robot: Robot, times: Array, purpose: str) -> list[str]:
    """Which stops and tendons hold at some of the times (N,) of a motion, in words."""
    if not one_sided(robot):
        return []
    rows = _rows(robot, times, purpose)
    stops = [f"{stop.joint} is in its stop" for stop in robot.stops]
    ropes = [f"tendon {element.name} is taut" for element in robot.elements if element.one_sided]
    held = dict.fromkeys((*stops, *ropes), 0)
    for name, depths in zip((*stops, *ropes), rows["depths"].reshape(len(times), -1).T, strict=True):
        held[name] += int((depths > 0).sum())
    return [
        f"{name} at {count} of {len(times)} times: there it holds in these models, elsewhere not"
        for name, count in held.items()
        if 0 < count < len(times)
    ]


def _rows(robot: Robot, times: Array, purpose: str) -> Mapping[str, Array]:
    """Depths, forces, damping (N, m each) and the derivatives of depths by q (N, m, n) at times (N,)."""
    trace = traced(robot, "contacts along", purpose, lambda: _along(robot))
    return trace.rows(np.tile(times[:, None], len(robot.motions)))


def _reversing(robot: Robot) -> tuple[dict[str, SX], dict[str, SX]]:
    """Rates of joints with dry friction, as shares of their smoothing, and of that of Stribeck."""
    linear, shares = LinearModel.about_any_motion(robot), []
    for joint in (link.joint for link in robot.links):
        if joint is not None and joint.friction is not None:
            rate = sum((share * linear.qd[place] for place, share in joint.damped), SX(0))
            shares += [rate / joint.friction.smoothing, rate / joint.friction.stribeck_rate]
    return linear.along_motions({"shares": casadi.vertcat(*shares)})


def _along(robot: Robot) -> tuple[dict[str, SX], dict[str, SX]]:
    linear = LinearModel.about_any_motion(robot)
    contacts = Contacts.of(robot, linear.q, linear.qd)
    parts = {"depths": contacts.depths, "forces": contacts.forces, "c": contacts.c, "inward": contacts.inward}
    return linear.along_motions(parts)
