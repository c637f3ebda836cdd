"""Forces and moments that act on frames from outside in a simulation, and those of elements, as functions of time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import casadi
from casadi import SX

from kronbot.description.forcing import Push
from kronbot.mechanics.multibody.carried import Carried, carried, loaded
from kronbot.mechanics.multibody.state import State
from kronbot.model.in_time import InTime, in_time, told_short
from kronbot.model.parameters import Parameters
from kronbot.model.robot import Robot
from kronbot.records import dataclass


@dataclass(frozen=True)
class Acting:
    """A force and a moment on a frame, as its ``push`` says."""

    push: Push
    force: InTime
    moment: InTime

    @property
    def changes(self) -> bool:
        """Whether it is no constant."""
        return self.force.changes or self.moment.changes

    def at(self, state: State, t: SX, parameters: Parameters) -> tuple[Carried, SX]:
        """Where it acts, and force and moment at a time (6 x 1) in axes of the base."""
        at = carried(state, self.push.frame, parameters.vector(self.push.at))
        vectors = (each.at(t) for each in (self.force, self.moment))
        return at, casadi.vertcat(*(at.pose.R @ each if self.push.axes == "body" else each for each in vectors))


@dataclass(frozen=True)
class Forces:
    """The forces of the ``simulate`` of robots of one structure, and those of their elements, by name."""

    on_frames: Sequence[Acting]
    of_elements: Mapping[str, InTime]
    parameters: Parameters

    def beyond_tables(self, duration: float) -> list[str]:
        """Tables that do not reach over a run of that duration (s), in words: nothing is extrapolated."""
        return told_short(self._named(), duration)

    def corners(self, parameters: Parameters, wanted_for: str) -> Iterator[float]:
        """Times (s) at which a force, or its derivative, jumps; in no order. Raises FreeParameters."""
        for _, each in self._named():
            yield from each.corners(parameters, wanted_for)

    def last_corner(self, parameters: Parameters, end: float, wanted_for: str) -> float:
        """The last time before the end (s) at which a force, or its derivative, jumps; 0 where none does."""
        return max((each for each in self.corners(parameters, wanted_for) if 0 < each < end), default=0.0)

    @property
    def constant(self) -> Forces:
        """Those of them that are the same all the time."""
        return replace(self, on_frames=[each for each in self.on_frames if not each.changes], of_elements={})

    def on(self, state: State, t: SX, share: SX | float = 1.0) -> tuple[State, SX]:
        """The robot with a share of what acts on its links at a time, and the power of that (1 x 1, W)."""
        actions, power = [], SX(0)
        for acting in self.on_frames:
            at, wrench = acting.at(state, t, self.parameters)
            wrench = share * wrench
            actions.append((at.link, at.on_link(wrench[:3], wrench[3:])))
            power += casadi.dot(wrench, at.twist)
        return loaded(state, actions), power

    def _named(self) -> Iterator[tuple[str, InTime]]:
        for acting in self.on_frames:
            yield f"force on {acting.push.frame}", acting.force
            yield f"moment on {acting.push.frame}", acting.moment
        for name, each in self.of_elements.items():
            yield f"force of {name}", each


def forces(robot: Robot) -> Forces:
    """The forces of all robots of one structure."""
    parameters, tables = robot.parameters, robot.description.tables
    acting = (
        Acting(push, in_time(push.force, parameters, tables), in_time(push.moment, parameters, tables))
        for push in robot.file.simulate.forces
    )
    of_elements = {each.name: each.in_time for each in robot.elements if each.in_time is not None}
    return Forces(tuple(acting), of_elements, parameters)


def at_time(robot: Robot, t: SX) -> Robot:
    """The robot with what its elements push with at a time (1 x 1, s)."""
    elements = tuple(each.at(t) for each in robot.elements)
    return robot if elements == robot.elements else replace(robot, elements=elements)
