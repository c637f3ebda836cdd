"""What ``linearize`` tells of how outputs answer to inputs: columns over time or frequency."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kronbot.floats import rounded
from kronbot.mechanics.linear.responses import A_PERIOD, frequencies, how_long, in_time, transfer
from kronbot.mechanics.linear.state_space import StateSpace
from kronbot.model.robot import Robot
from kronbot.questions.columns import units_of
from kronbot.questions.outputs import units
from kronbot.questions.result import Result

FREQUENCY = "frequency"
# Words of columns of frequency responses, and the unit of the second.
MAGNITUDE, PHASE = "magnitude", "phase"
# Phases whose sine is smaller are 0 or 180 degrees but for rounding.
STRAIGHT = 1e-9


def columns(kind: str, outputs: Sequence[str], inputs: Sequence[str]) -> list[str]:
    """Names of the columns of a response: OUTPUT/INPUT, of frequency responses magnitudes and phases."""
    pairs = [f"{output}/{source}" for source in inputs for output in outputs]
    if kind != FREQUENCY:
        return ["t", *pairs]
    return [FREQUENCY, *(f"{word}.{pair}" for pair in pairs for word in (MAGNITUDE, PHASE))]


def units_of_columns(robot: Robot, kind: str, outputs: Sequence[str], inputs: Sequence[str]) -> dict[str, str]:
    """Their units by name."""
    by_pair = [unit_of_pair(robot, output, source, kind) for source in inputs for output in outputs]
    every = ["s", *by_pair] if kind != FREQUENCY else ["rad/s", *(u for each in by_pair for u in (each, "deg"))]
    return dict(zip(columns(kind, outputs, inputs), every, strict=True))


def with_response(answer: Result, kind: str, duration: float | None) -> Result:
    """A linear model with the response of all its outputs to a ``step`` or an ``impulse`` of each input over a time
    (s), or with its ``frequency`` response, as a series. Raises ComputationError where it overflows.
    """
    model, robot = StateSpace(*(answer.arrays[name].values for name in "ABCD")), answer.model
    outputs, inputs = answer.arrays["C"].rows, answer.arrays["B"].columns or ()
    poles = np.asarray(answer.arrays["poles"].values, dtype=complex)
    names, told = columns(kind, outputs, inputs), list(answer.warnings)
    if kind == FREQUENCY:
        over = frequencies(poles, len(model.A))
        found = transfer(model, over).transpose(2, 1, 0).reshape(-1, len(over))
        values = [part for each in found for part in (np.abs(each), phase(each))]
    else:
        time = how_long(poles) if duration is None else duration
        over, rows, hidden = in_time(model, time, kind == "impulse")
        values = [*rows.transpose(2, 1, 0).reshape(-1, len(over))]
        if kind == "impulse" and model.D.any():
            told.append("outputs that feel an input at once feel its impulse, too: that is left out at t = 0")
        if hidden:
            each, shown = hidden / (2 * np.pi), 1.8 * np.pi / hidden * (len(over) - 1) / A_PERIOD
            apart = f"is too fast for rows that are {over[1]:.3g} s apart"
            told.append(f"a vibration of about {each:.3g} Hz {apart}: a duration of {rounded(shown)} s shows it")
    series, named = dict(zip(names, [over, *values], strict=True)), units_of_columns(robot, kind, outputs, inputs)
    summary = {"response": kind, **answer.summary}
    return replace(answer, series=series, units=named, summary=summary, warnings=told)


def phase(values: np.ndarray) -> np.ndarray:
    """Phase (N,) in degrees without jumps of a turn; -180 where it lies on the negative axis but for rounding."""
    real = np.abs(values.imag) <= STRAIGHT * np.abs(values)
    angle = np.where(real, np.where(values.real < 0, -np.pi, 0.0), np.angle(values))
    return np.asarray(np.degrees(np.unwrap(angle)))


def unit_of_pair(robot: Robot, output: str, source: str, kind: str = "step") -> str:
    """Unit of an output over that of an input, of impulses over that and a second."""
    above = _unit(robot, output)
    moment = source.startswith("outside.") and source[-2] == "m"
    below = _unit(robot, source) if source.startswith("torque.") else "N m" if moment else "N"
    below += " s" if kind == "impulse" else ""
    return f"{above}/({below})" if " " in below else f"{above}/{below}"


def _unit(robot: Robot, name: str) -> str:
    try:
        return units_of(robot, [name], robot.kept("units of outputs", lambda: units(robot)))[name]
    except KeyError:
        return "1"
