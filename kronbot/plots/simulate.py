"""The picture of ``simulate``: the moving robot to scale, its joints, deflections, torques and energies over time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from kronbot.description.wording import listing
from kronbot.floats import Array
from kronbot.mechanics.motion.drives import drives
from kronbot.model.robot import Robot
from kronbot.plots import arms, curves
from kronbot.plots.curves import Curve, Diagram
from kronbot.plots.moving import moving, numbered
from kronbot.plots.panels import kind
from kronbot.plots.style import Picture, drawn
from kronbot.questions.columns import columns_of_simulate
from kronbot.questions.commanded import commanded
from kronbot.questions.result import Result

BALANCE = "balance"
# Metres and radians: what the integrator's tolerance does not tell from rest.
UNMOVED = 1e-10


@drawn
def draw(result: Result) -> Picture:
    """The picture of a run, whole or stopped early."""
    robot = result.model
    imbalance = Curve("", "J", np.abs(result.series["energy.balance"]))
    diagrams = _diagrams(robot, result)
    title = _title(robot, result) + _at_zero(robot, diagrams)
    axes = moving(result, title, diagrams, [BALANCE] if imbalance.peak else [])
    if imbalance.peak:
        share = f"imbalance of energy, {result.summary['energy_drift']:.1e} of the largest"
        curves.draw_logarithmic(axes[BALANCE], Curve("t", "s", result.series["t"]), Diagram(share, [imbalance]))
    return axes


def _title(robot: Robot, result: Result) -> str:
    whole = f"simulate {robot.name}, order {result.order}"
    return whole if result.summary["complete"] else f"{whole}: incomplete, stopped at t = {result.summary['end']:g} s"


def _at_zero(robot: Robot, diagrams: Mapping[str, Diagram]) -> str:
    """What a title says of loads that have no panel, since all of them are 0 all the time."""
    drawn = {kind(name) for name in diagrams}
    there = {
        "torque": ("joint torques", any(joint.revolute for joint in robot.joints)),
        "force": ("joint forces", not all(joint.revolute for joint in robot.joints)),
        "tension": ("tensions of elements", bool(robot.elements)),
    }
    still = [words for word, (words, loaded) in there.items() if loaded and word not in drawn]
    return f"; 0: {' and '.join(still)}" if still else ""


def _diagrams(robot: Robot, result: Result) -> dict[str, Diagram]:
    """By the words of their panels: the base, joints, deviations, deflections, torques, elements and energies.

    Those that are there.
    """
    told = result.series
    result = replace(result, series=curves.without_still(told, robot.coordinates))
    series = result.series
    wanted, controllers = commanded(robot, series["t"]), drives(robot).controllers
    strays, above = list[Curve](), list[str]()
    diagrams = numbered({}, "base", _base(robot, result))
    for word, title, revolute, unit in (
        ("angle", "joint angles", True, "rad"),
        ("slide", "sliding joints", False, "m"),
    ):
        joints = [joint for joint in robot.joints if joint.revolute == revolute]
        moving = [joint for joint in (*robot.joints, *robot.followers) if joint.own and joint.revolute == revolute]
        own = [Curve(joint.name, unit, series[joint.name], wanted.get(joint.name)) for joint in moving]
        followed = [joint for joint in joints if joint.name in wanted]
        # Of one target for all of them the panel shows what a panel of deviations would.
        same = len(own) == len(followed) and not np.ptp(
            np.array([wanted[joint.name] for joint in followed] or [np.zeros(1)])
        )
        for joint in followed:  # what is commanded is what is measured, as in the peak deviations of the summary
            driven, asked = robot.coordinates[controllers.measured(joint)], wanted[joint.name]
            stray = told[driven] - asked  # what is 0 beside a large number is none beside this
            # How far a joint still has to go to a target is seen in the angle itself.
            if np.ptp(asked) > 0 or (abs(stray[0]) <= UNMOVED and not same):
                strays.append(Curve(driven, unit, stray))
            elif np.abs(stray).max() > UNMOVED:
                above.append(driven)
        if own:
            whose = "motors as" if any(controllers.measured(joint) != joint.index for joint in followed) else "as"
            diagrams[word] = Diagram(title + (f", grey: {whose} commanded" if followed else ""), own)
    torsion = [Curve(robot.coordinates[i], robot.units[i], series[robot.coordinates[i]]) for i in arms.twisting(robot)]
    seen = f"; {listing(above) if len(above) <= curves.NAMED else f'{len(above)} more'}: see above" if above else ""
    for word, title, group, least in (
        ("deviation", "deviation from the commanded motion" + seen, strays, UNMOVED),
        ("deflection", "deflection of the tips", _deflections(robot, result), UNMOVED),
        (
            "twist",
            "twist of shafts, tilts of bearings",
            [*_shafts(robot, told, "rad"), *_tilts(robot, series)],
            UNMOVED,
        ),
        ("stretch", "stretch of shafts", _shafts(robot, told, "m"), UNMOVED),
        ("torsion", "torsion, modal coordinates", torsion, UNMOVED),
        ("torque", "joint torques", _torques(robot, result, True, "N m"), 0.0),
        ("force", "joint forces", _torques(robot, result, False, "N"), 0.0),
        ("length", "lengths of elements", _elements(robot, result, "length", "m"), 0.0),
        ("tension", "tensions of elements", _elements(robot, result, "tension", "N"), 0.0),
        ("energy", "energies", _energies(result), 0.0),
    ):
        diagrams |= numbered(diagrams, word, curves.diagrams(title, group, least))
    for title, group in _asked(robot, result).items():
        diagrams |= numbered(diagrams, title, curves.diagrams(title, group))
    return diagrams


def _torques(robot: Robot, result: Result, revolute: bool, unit: str) -> list[Curve]:
    turning = [joint.name for joint in robot.joints if joint.revolute == revolute]
    return [Curve(name, unit, result.series[f"torque.{name}"]) for name in turning]


def _base(robot: Robot, result: Result) -> list[Diagram]:
    """Where a floating base goes and how it turns."""
    own = [Curve(robot.coordinates[i], robot.units[i], result.series[robot.coordinates[i]]) for i in robot.base]
    return curves.diagrams("floating base", own, UNMOVED)


def _elements(robot: Robot, result: Result, word: str, unit: str) -> list[Curve]:
    return [Curve(each.name, unit, result.series[f"{word}.{each.name}"]) for each in robot.elements]


def _asked(robot: Robot, result: Result) -> dict[str, list[Curve]]:
    """The outputs that were asked for beside the columns of every run, by kind."""
    known, found = set(columns_of_simulate(robot)), dict[str, list[Curve]]()
    for name, values in result.series.items():
        if name not in known:
            kind, _, rest = name.partition(".")
            found.setdefault(kind, []).append(Curve(rest.replace(".", " "), result.units[name], values))
    return found


def _deflections(robot: Robot, result: Result) -> list[Curve]:
    """Tip displacements in the directions in which a beam has modes."""
    return [
        Curve(f"{link.name} {letter}", "m", result.series[f"tip.{link.name}.{letter}"])
        for link in robot.links
        if link.beam is not None
        for letter, direction in (("y", link.beam.v), ("z", link.beam.w))
        if direction.count
    ]


def _shafts(robot: Robot, told: Mapping[str, Array], unit: str) -> list[Curve]:
    """How far links behind shafts are ahead of where these would be slack, as it is ``told``.

    What nowhere is more than the rounding of the numbers that it is between is none: a joint that has turned far.
    """
    names, shafts = robot.coordinates, list[Curve]()
    if not robot.attachments:
        return shafts
    slack = robot.undeformed(np.column_stack([told[name] for name in names]))
    for place in (place for place, *_ in robot.attachments if robot.units[place] == unit):
        twist = Curve(names[place], unit, told[names[place]] - slack[:, place])
        floor = curves.ROUNDING * Curve(names[place], unit, told[names[place]]).peak
        shafts.append(twist if twist.peak > floor else replace(twist, values=np.zeros_like(twist.values)))
    return shafts


def _tilts(robot: Robot, series: Mapping[str, Array]) -> list[Curve]:
    """How far joints tilt in their bearings."""
    tilts = [i for link in robot.links if link.tilts for i in range(link.modal.start, link.modal.stop)]
    return [Curve(robot.coordinates[i], "rad", series[robot.coordinates[i]]) for i in tilts]


def _energies(result: Result) -> list[Curve]:
    """What is stored, gravity's from the start on, and what came and went."""
    weight = result.series["energy.gravity"]
    changed = [Curve("gravity, change", "J", weight - weight[0])]
    kinetic, elastic, work, lost = (
        Curve(word, "J", result.series[f"energy.{word}"]) for word in ("kinetic", "elastic", "work", "dissipated")
    )
    return [kinetic, elastic, *changed, work, lost]
