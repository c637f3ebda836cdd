"""What a robot file describes, in a few numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress

import casadi
import numpy as np
import numpy.typing as npt

from kronbot.compute.arrays import NamedArray, Scalar
from kronbot.errors import Failure, FreeParameters, Mistake
from kronbot.mechanics.linear.modal import natural_frequencies
from kronbot.mechanics.motion.drives import drives
from kronbot.mechanics.motion.forces import forces
from kronbot.mechanics.multibody.energy import total_mass
from kronbot.model.robot import Robot
from kronbot.questions.elements import told_of_meeting
from kronbot.questions.inertia import told_of_inertia
from kronbot.questions.initial_state import FALLING, falls
from kronbot.questions.jolts import told_of_swings
from kronbot.questions.limits import told_of_motion
from kronbot.questions.outline import Given, Labels, Outline, numbered
from kronbot.questions.result import Result

PURPOSE = "check"
# What weighs on Earth, by other units of length, to a share.
EARTH, NEARLY = {"cm": 981.0, "mm": 9810.0}, 0.02


def survey(robot: Robot, of_sweep: Iterable[Mistake] = ()) -> Result:
    """Total mass, lengths of beams, numbers of coordinates and natural frequencies; with what is told ``of_sweep``.

    What depends on a parameter without a value is left out.
    """
    quantities = {"total_mass": total_mass(robot)}
    quantities |= {f"length.{link.name}": link.beam.length for link in robot.links if link.beam is not None}
    beams = [link.beam for link in robot.links if link.beam is not None]
    free = sorted(name for name, value in robot.description.values.items() if value is None)
    summary: dict[str, Scalar] = {
        "links": len(robot.file.links),
        "joints": len(robot.joints),
        "coordinates": robot.n,
        "modal_coordinates": sum(direction.count for beam in beams for direction in beam.directions),
    }
    missing = [name for name, expression in quantities.items() if robot.parameters.free_in(casadi.SX(expression))]
    for name, expression in quantities.items():
        if not robot.parameters.free_in(casadi.SX(expression)):
            summary[name] = robot.parameters.evaluate(expression, PURPOSE)
    if free:
        summary["free_parameters"] = ", ".join(free)
    if missing:
        summary["unknown_without_them"] = ", ".join(missing)
    driven, end, told = drives(robot), _duration(robot), list[str]()
    with suppress(FreeParameters):
        told += told_of_swings(robot, {**robot.motions, **driven.commanded})
        short = [] if end is None else driven.beyond_tables(end, robot.parameters, PURPOSE)
        short += [] if end is None else forces(robot).beyond_tables(end)
        short += [FALLING] if robot.file.simulate.start == "equilibrium" and falls(robot) else []
        if short:
            summary["simulate"] = f"refused: {'; '.join(short)}"
    for joint in robot.joints:
        motion = driven.prescribed.get(joint.driven) or robot.motions.get(joint.name)
        if motion is not None:
            with suppress(FreeParameters):
                told += told_of_motion(robot, joint.name, motion, end, PURPOSE)
    if told:
        summary["motion"] = "; ".join(told)
    arrays: dict[str, NamedArray] = {}
    meeting = list[str]()
    with suppress(FreeParameters):
        meeting = told_of_meeting(robot)
    try:
        found = None if meeting else natural_frequencies(robot)
    except (Failure, np.linalg.LinAlgError) as error:  # free parameters, too many operations, absurd numbers
        summary["frequencies"] = f"not known: {error}"
    else:
        if found is None:
            summary["frequencies"] = "not known: the ends of elements meet where all joints are at 0"
        elif found.idle:
            summary["joints_without_inertia"] = f"{', '.join(found.idle)} (locked in frequency_free too)"
        cases = {"frequency_locked": found.locked, "frequency_free": found.free} if found else {}
        arrays = {name: _named(values) for name, values in cases.items() if len(values)}
    for name, array in arrays.items():
        elastic = array.values[array.values > 0]
        if len(elastic):
            summary[f"first_{name}"] = float(elastic[0])
    described = robot.description
    warnings = [str(warning) for warning in (*described.warnings, *described.useless)]
    with suppress(FreeParameters):
        warnings += [*meeting, *_told_of_gravity(robot)]
    warnings += map(str, (*told_of_inertia(robot), *of_sweep))
    summary["warnings"] = len(warnings)
    return Result("check", robot.name, robot.order, {}, arrays, {}, summary, warnings, about=robot)


def _told_of_gravity(robot: Robot) -> Iterator[str]:
    """That it looks as if lengths were in another unit."""
    gravity = float(np.linalg.norm(robot.parameters.evaluate_all(robot.gravity, PURPOSE)))
    for unit, usual in EARTH.items():
        if abs(gravity / usual - 1) < NEARLY:
            yield f"gravity of {gravity:.6g} m/s2: is it in {unit}/s2? Numbers are read and told in SI units (m, kg, s)"


def _duration(robot: Robot) -> float | None:
    """That of the file's ``simulate`` (s), where it has one with a value."""
    given = robot.file.simulate.duration
    if given is None:
        return None
    duration = casadi.SX(robot.parameters.number(given))
    return None if robot.parameters.free_in(duration) else robot.parameters.evaluate(duration, PURPOSE)


def _named(frequencies: npt.NDArray[np.float64]) -> NamedArray:
    return NamedArray(frequencies, [str(i + 1) for i in range(len(frequencies))], "rad/s")


def outline(robot: Robot, given: Given) -> Outline:
    """What the answer holds: masses, lengths, counts and frequencies."""
    numbers = ["links", "joints", "coordinates", "modal_coordinates", "total_mass"]
    numbers += [f"length.{link.name}" for link in robot.links if link.beam is not None]
    numbers += ["first_frequency_locked", "first_frequency_free", "warnings"]
    texts = ["free_parameters", "unknown_without_them", "simulate", "motion", "frequencies", "joints_without_inertia"]
    arrays: dict[str, Labels] = {f"frequency_{case}": (numbered(2 * robot.n), None) for case in ("locked", "free")}
    return Outline(numbers, texts, arrays)
