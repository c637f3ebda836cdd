"""Signals of linear models: the inputs and outputs of their state spaces by name, and the numbers of outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kronbot.compute.arrays import Units, units_kept
from kronbot.errors import Argument, UsageError
from kronbot.floats import Array
from kronbot.mechanics.linear.ports import measured, turning
from kronbot.mechanics.linear.state_space import Seen
from kronbot.model.robot import Robot
from kronbot.questions.columns import REACTION
from kronbot.questions.outline import matrix_units
from kronbot.questions.outputs import Output
from kronbot.records import dataclass

# Those that are there unless others are asked for.
OUTPUTS = ("joints", "endpoint")
# What inputs are of that files may lack.
LACKING = {"elements": "elements with a force", "outside": "simulate: {forces: [...]}"}


@dataclass(frozen=True)
class Choice:
    """Joints that follow their basic motion exactly (places in q), and the signals of the state space."""

    locked: frozenset[int]
    inputs: Sequence[str]
    outputs: Sequence[str]

    @property
    def measured(self) -> list[Output]:
        """Outputs that are no words for places: what they are depends on rates, accelerations and torques, too."""
        return [Output(*text.split(":", 1)) for text in self.outputs if ":" in text]


def signals(robot: Robot, choice: Choice) -> tuple[list[str], list[str]]:
    """Names of inputs from joint ``torques``, the endpoint ``force``, forces of ``elements`` and from ``outside`` (by
    their numbers in the file), and of outputs.

    A gauge among ``gauges`` has the curvature kappa_z = v''. Raises UsageError where none of the inputs is there.
    """
    enter = {
        "torques": [f"torque.{joint.name}" for joint in robot.joints],
        "force": [f"force.{axis}" for axis in "xyz"],
        "elements": [f"force.{element.name}" for element in robot.elements if element.driven],
        "outside": [
            f"outside.{number}.{REACTION[place]}"
            for number, push in enumerate(robot.file.simulate.forces, 1)
            for place in push.given
        ],
    }
    leave = {
        "joints": [robot.coordinates[place] for place in measured(robot)],
        "endpoint": [f"endpoint.{axis}" for axis in "xyz"],
        "gauges": [f"curvature.{gauge.name}" for gauge in robot.file.statics.gauges],
    }
    lacking = [word for word in choice.inputs if word in LACKING]
    if lacking and not any(enter[word] for word in choice.inputs):
        raise UsageError(Argument("inputs", lacking[0]), f": the file has no {LACKING[lacking[0]]}")
    names = [name for word, names in leave.items() if word in choice.outputs for name in names]
    return (
        [name for word, names in enter.items() if word in choice.inputs for name in names],
        names + [name for each in choice.measured for name in each.columns(robot)],
    )


@dataclass(frozen=True)
class Coordinates:
    """Places of the coordinates that are ``free``, of these and what controllers remember that are ``locked``, and not
    (``own``); names of the free ones, of states and of signals, units of M_L, D_L, K_L and of forces."""

    free: list[int]
    locked: frozenset[int]
    own: list[int]
    names: Sequence[str]
    states: Sequence[str]
    inputs: list[str]
    outputs: list[str]
    matrices: Sequence[Units]
    forces: Units


def coordinates(robot: Robot, choice: Choice, integrals: Sequence[str], locked: frozenset[int]) -> Coordinates:
    """Of a model with that choice, whose controllers remember so many ``integrals``."""
    free = robot.others(choice.locked)
    own = [place for place in range(robot.n + len(integrals)) if place not in locked]
    names = tuple(robot.coordinates[place] for place in free)
    remembered = (integrals[place - robot.n] for place in own[len(free) :])
    states = (*names, *(f"{name}_dot" for name in names), *remembered)
    units = [units_kept(each) for each in matrix_units(robot, free)]
    forces = units_kept({"rows": robot.force_units(free)})
    return Coordinates(free, locked, own, names, states, *signals(robot, choice), units, forces)


def outputs_seen(
    robot: Robot,
    values: Mapping[str, Array],
    errors: Mapping[str, Array],
    names: Sequence[str],
    inputs: int,
    free: list[int],
    choice: Choice,
) -> tuple[list[str], Seen, Seen]:
    """Outputs, each once, what they are made of, and the errors of that."""
    sizes = [len(each.columns(robot)) for each in choice.measured]
    first = [names.index(name) for name in dict.fromkeys(names)]
    turns = {str(each): turning(values[str(each)]) for each in choice.measured if each.kind == "rotation"}

    def made(parts: Mapping[str, Array], turns: Mapping[str, Array]) -> Seen:
        rows, count = len(names) - sum(sizes), len(names)
        places = parts["P"].reshape(rows, robot.n)
        if not choice.measured:
            none = np.zeros((len(first), len(free)))
            return Seen(places[first][:, free], none, none, np.zeros((len(first), inputs)))
        q, qd, qdd, u = (np.zeros((count, size)) for size in (robot.n, robot.n, robot.n, inputs))
        q[:rows] = places
        for word, whole in (("by q", q), ("by qd", qd), ("by qdd", qdd), ("by u", u)):
            whole[rows:] = parts[word].reshape(count - rows, -1)
        for each, size in zip(choice.measured, sizes, strict=True):
            if str(each) in turns:
                q[rows : rows + size] = turns[str(each)] @ q[rows : rows + size]
            rows += size
        return Seen(q[first][:, free], qd[first][:, free], qdd[first][:, free], u[first])

    sure = {word: np.abs(turn) for word, turn in turns.items()}
    return [names[i] for i in first], made(values, turns), made(errors, sure)
