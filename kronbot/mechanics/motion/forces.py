"""Forces and moments that act on frames from outside in a simulation, as functions of time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import casadi
from casadi import SX

from kronbot.description.forcing import InTime, Push, VectorSinusoid, VectorStep, VectorTable
from kronbot.description.table import Table
from kronbot.mechanics.motion.drives import TorqueTable, told_short
from kronbot.mechanics.multibody.carried import Carried, carried, loaded
from kronbot.mechanics.multibody.state import State
from kronbot.model.parameters import Parameters
from kronbot.model.robot import Robot


@dataclass(frozen=True)
class Forces:
    """The forces of the ``simulate`` of robots of one structure; times (s) of steps are numbers of their parameters."""

    pushes: Sequence[Push]
    parameters: Parameters
    tables: Mapping[str, Table]

    def beyond_tables(self, duration: float) -> list[str]:
        """Tables that do not reach over a run of that duration (s), in words: nothing is extrapolated."""
        tables = []
        for push, word, given in self._given():
            if isinstance(given, VectorTable):
                times = self.tables[given.file].vector()[0]
                tables.append((f"{word} on {push.frame}", given.file, times[0], times[-1]))
        return told_short(tables, duration)

    def corners(self, parameters: Parameters, wanted_for: str) -> Iterator[float]:
        """Times (s) at which a force, or its derivative, jumps; in no order. Raises FreeParameters."""
        for _, _, given in self._given():
            if isinstance(given, VectorTable):
                yield from self.tables[given.file].vector()[0]
            elif isinstance(given, VectorStep | VectorSinusoid):
                ends = (given.begin, given.end) if isinstance(given, VectorStep) else (given.begin,)
                yield from (parameters.value(each, wanted_for) for each in ends if each is not None)

    def on(self, state: State, t: SX) -> tuple[State, SX]:
        """The robot with what acts on its links at a time, and the power of that (1 x 1, W)."""
        actions, power = [], SX(0)
        for push in self.pushes:
            at = carried(state, push.frame, self.parameters.vector(push.at))
            force, moment = (self._turned(push, at, self._vector(each, t)) for each in (push.force, push.moment))
            actions.append((at.link, at.on_link(force, moment)))
            power += casadi.dot(casadi.vertcat(force, moment), at.twist)
        return loaded(state, actions), power

    def _given(self) -> Iterator[tuple[Push, str, InTime]]:
        for push in self.pushes:
            yield from ((push, "force", push.force), (push, "moment", push.moment))

    @staticmethod
    def _turned(push: Push, at: Carried, vector: SX) -> SX:
        """In axes of the base."""
        return at.pose.R @ vector if push.axes == "body" else vector

    def _vector(self, given: InTime, t: SX) -> SX:
        """A vector (3 x 1) at a time."""
        number, vector = self.parameters.number, self.parameters.vector
        match given:
            case VectorTable():
                times, *columns = self.tables[given.file].vector()
                return casadi.vertcat(*(TorqueTable(given.file, times, c, given.steps).at(t) for c in columns))
            case VectorStep():
                value = casadi.if_else(t < number(given.begin), SX.zeros(3, 1), vector(given.value))
                return value if given.end is None else casadi.if_else(t < number(given.end), value, SX.zeros(3, 1))
            case VectorSinusoid():
                own = t if given.begin is None else t - number(given.begin)
                wave = casadi.sin(number(given.frequency) * own + number(given.phase))
                value = vector(given.offset) + vector(given.amplitude) * wave
                return value if given.begin is None else casadi.if_else(own < 0, SX.zeros(3, 1), value)
        return vector(given)


def forces(robot: Robot) -> Forces:
    """The forces of all robots of one structure."""
    return Forces(robot.file.simulate.forces, robot.parameters, robot.description.tables)
