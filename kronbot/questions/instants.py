"""Instants on the way of a robot: stops and tendons begin and cease to hold, joints with dry friction turn back."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import casadi
import numpy as np
import numpy.typing as npt
from casadi import SX

from kronbot.cached import cached_property
from kronbot.compute.trace import Trace, traced
from kronbot.floats import Array
from kronbot.mechanics.multibody.stops import Contacts, one_sided
from kronbot.model.robot import Robot
from kronbot.records import dataclass

Flags = npt.NDArray[np.bool_]
Places = npt.NDArray[np.intp]

# Halvings to an instant.
HALVINGS = 60
# Shares of the smoothing between which the slope of friction has its peak: tanh 20 is 1.
PEAK = -20.0, -5.0, 0.0, 5.0, 20.0


@dataclass(frozen=True)
class Instants:
    """Those of the ``way``, times (N,) s -> q, qd (N, n), between ``looks``, times (K,) s in their order."""

    robot: Robot
    way: Callable[[Array], tuple[Array, Array]]
    looks: Array
    purpose: str

    @cached_property
    def contacts(self) -> tuple[Array, Places, Flags]:
        """Instants (K,) s, which contact it is (K,), and whether it begins there with a depth of zero (K,)."""
        if not one_sided(self.robot):
            return np.zeros(0), np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.bool_)

        def held(times: Array) -> Flags:
            rows = self.rows(times)
            return np.asarray((rows["depths"] > 0) & (rows["forces"] > 0))

        a, b, which, was = _turning(held, self.looks)
        touching = self.rows(a)["depths"][np.arange(len(which)), which] <= 0
        return b, which, np.logical_not(was) & touching

    def stiffening(self, t: float, contact: int, free: list[int]) -> tuple[Array, Array] | None:
        """s and c s (free,) of a contact that begins to hold at t (s): rates of deviations y jump by -M^-1 s^T c s y.

        A deviation y meets a contact of depth d earlier by (dd/dq y)/d', and with damping c has its force c d' for that
        time more, s = dd/dq (Aizerman and Gantmakher 1958). Contacts end where their force is zero: nothing jumps
        there, nor where nothing is damped.
        """
        rows = self.rows(np.array([t]))
        s, c = rows["inward"].reshape(-1, self.robot.n)[contact, free], rows["c"][0, contact]
        return (s, c * s) if c and s.any() else None

    @cached_property
    def reversals(self) -> Array:
        """Instants (K,) s at which joints with dry friction come near rest, at which they are and leave it: its slope
        is a peak there, which steps of any order could step over.
        """
        shares = self._shares
        if not shares.size:
            return np.zeros(0)

        def beyond(times: Array) -> Flags:
            rates = self.way(times)[1] @ shares
            return np.hstack([rates > peak for peak in PEAK])

        return _turning(beyond, self.looks)[1]

    def rows(self, times: Array) -> Mapping[str, Array]:
        """Depths, forces, damping c (N, m each) and the derivatives of depths by q, ``inward`` (N, m, n), (N, m) of one
        coordinate."""
        return _contacts(self.robot, self.purpose).rows(*self.way(times))

    @property
    def _shares(self) -> Array:
        """(n, k): rates of joints with dry friction, as shares of their smoothing, and of that of Stribeck."""
        values, rows = self.robot.parameters, []
        for joint in (link.joint for link in self.robot.links):
            if joint is not None and joint.friction is not None:
                for width in (joint.friction.smoothing, joint.friction.stribeck_rate):
                    row = np.zeros(self.robot.n)
                    for place, share in joint.damped:
                        row[place] += values.evaluate(share, self.purpose)
                    rows.append(row / values.evaluate(width, self.purpose))
        return np.array(rows).reshape(-1, self.robot.n).T


def _contacts(robot: Robot, purpose: str) -> Trace:
    def parts() -> tuple[Mapping[str, SX], Mapping[str, SX]]:
        q, qd = SX.sym("q", robot.n), SX.sym("qd", robot.n)
        found = Contacts.of(robot, q, qd)
        words = "depths", "forces", "c", "inward"
        return {"q": q, "qd": qd}, {word: casadi.densify(getattr(found, word)) for word in words}

    return traced(robot, "contacts", purpose, parts)


def _turning(flags: Callable[[Array], Flags], times: Array) -> tuple[Array, Array, Places, Flags]:
    """When flags (N, m) of times (N,) change between such times: just before and after it, which, and what it was."""
    values = flags(times)
    before, which = np.nonzero(values[1:] != values[:-1])
    a, b, was, pick = times[before], times[before + 1], values[before, which], np.arange(len(which))
    for _ in range(HALVINGS if len(which) else 0):
        middle = (a + b) / 2
        same = flags(middle)[pick, which] == was
        a, b = np.where(same, middle, a), np.where(same, b, middle)
    return a, b, which, was
