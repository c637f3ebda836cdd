"""The picture of ``plan``: the moving arm to scale, joints, rates, bending, torsion, torques, and what is limited."""

from __future__ import annotations

from kronbot.plots import arms, curves
from kronbot.plots.curves import Curve, Diagram
from kronbot.plots.moving import moving, numbered
from kronbot.plots.simulate import UNMOVED
from kronbot.plots.style import Picture, drawn
from kronbot.questions.result import Result


@drawn
def draw(result: Result) -> Picture:
    """The picture of a plan from rest to rest, or of one that follows a path."""
    robot, series, units = result.model, result.series, result.units
    joints = [joint.name for joint in (*robot.joints, *robot.followers) if joint.own]
    motors = [name for i, name in enumerate(robot.coordinates) if i in robot.rigid and name not in joints]
    rates = [f"{name}_dot" for name in robot.coordinates]
    tilted = [
        robot.coordinates[i] for link in robot.links if link.tilts for i in range(link.modal.start, link.modal.stop)
    ]
    twisted = [robot.coordinates[i] for i in arms.twisting(robot)]
    bent = [name for name in robot.coordinates if name not in (*joints, *motors, *tilted, *twisted)]
    kinds = {"torques" if joint.revolute else "forces": None for joint in robot.joints}
    groups = {
        "joint": ("joints", [*joints, *motors]),
        "rate": ("rates of joints", [f"{name}_dot" for name in joints]),
        "torque": (
            f"{' and '.join(kinds)} of the plan",
            [name for name in (f"torque.{joint}" for joint in joints) if name in series],
        ),
        "bending": ("bending, modal coordinates", bent),
        "torsion": ("torsion, modal coordinates", twisted),
        "tilt": ("tilts of bearings", tilted),
    }
    known = {"t", *rates, *(name for _, names in groups.values() for name in names)}
    groups["column"] = ("columns that are kept", [name for name in series if name not in known])
    panels: dict[str, Diagram] = {}
    unmoved = ("rate", "bending", "torsion", "tilt", "column")
    for word, (title, names) in groups.items():
        shown = [Curve(name.removeprefix("torque."), units[name], series[name]) for name in names]
        panels |= numbered(panels, word, curves.diagrams(title, shown, UNMOVED if word in unmoved else 0.0))
    told = "" if result.summary["complete"] else ", incomplete: the best so far"
    if told and "end_error" in result.summary:
        told += f", end_error {result.summary['end_error']:.2g}"
    how = f"least {result.summary['least']}" if "least" in result.summary else "following a path"
    how = "nearest to a smooth motion" if how == "least nearest" else how
    return moving(result, f"plan for {robot.name}, order {result.order}, {how}{told}", panels)
