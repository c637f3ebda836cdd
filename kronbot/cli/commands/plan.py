"""``kronbot plan``."""

from __future__ import annotations

from typing import Any

import click

from kronbot.cli.input import completion, options
from kronbot.cli.input.option import LISTED, option
from kronbot.cli.input.options import Quantity, Subject
from kronbot.cli.output.answers import Output
from kronbot.description import choices
from kronbot.errors import UsageError


@click.command(short_help="Motions from rest to rest that the flexible arm can do: least effort or time.")
@options.subject_options
@options.values_option("--to", "Joints at the end; others end where they begin.", completion.joint_values)
@options.q_of_one_point_option
@option("--duration", type=Quantity(), help="How long, s: with the least effort.")
@option("--shortest", is_flag=True, help="As soon as the limits of torque allow.")
@option(
    "--drive",
    type=click.Choice(choices.PLANNED),
    help="What moves joints: torques in steps (default), or a motion that they follow.",
)
@option(
    "--least",
    type=click.Choice(choices.LEAST),
    help="What is, in a given time: effort, change of what moves, residual vibration; nearest to a motion's torques.",
)
@option("--effort-limits", type=LISTED, metavar="JOINT=LIMIT,...", help="Of torques or forces: q1=40,q2=-5:10.")
@option(
    "--limits",
    type=LISTED,
    metavar="COLUMN=LIMIT,...",
    help="Of other columns: q1_dot=0.5,tip.boom.y=0.1,endpoint.z=0:.",
)
@option(
    "--robust",
    type=LISTED,
    metavar="NAME=LOW:HIGH,...",
    help="Arms at these ends of a parameter's range come to rest, too.",
)
@option(
    "--after",
    type=Quantity(),
    help="How long vibrations are looked for afterwards, s: 40 times as long at most; default: as long, "
    "and two periods of the slowest.",
)
@option(
    "--through",
    metavar="FILE.csv",
    help="Places of joints on the way, in order: columns q1, q2; at times t.",
)
@option(
    "--follow",
    metavar="FILE.csv",
    help="A path of the tip instead of --to, from near --q: columns t, endpoint.x, endpoint.y, one a joint.",
)
@option(
    "--seconds",
    type=Quantity(),
    default=300.0,
    show_default=True,
    help="Time to search: then the best so far is told, as at Ctrl-C.",
)
@options.output_options(plot=True, view=True)
def plan(subject: Subject, out: Output, **asked: Any) -> None:
    """The best motion of ROBOT from rest at the joints of --q to rest at those of --to, beams and shafts at rest, too.

    The answer is the arm under the torques of the plan, by an independent simulation; what vibrates afterwards is that
    of a model with more modes whose motors follow the plan.

    \b
    Examples:
      kronbot plan khang --to qa=0.5 --duration 2
      kronbot plan canadarm-craig-bampton --to q1=0.5,q2=0.5,q3=1 --duration 10 --drive motion -o plan.csv
      kronbot plan arm.yaml --to q1=pi/2,q2=0 --shortest --effort-limits q1=40,q2=-5:10 -o plan.csv
      kronbot plan arm.yaml --follow tip.csv --q q1=0.3,q2=-0.5 -o plan.csv
    """
    held = {"follow": "zeros", "through": "through"}
    out.check(arrays=tuple(array for word, array in held.items() if asked[word] is not None))
    if not asked["to"] and not asked["follow"]:
        raise UsageError("where to? --to q1=0.5,q2=0, or --follow tip.csv")
    from kronbot.cli.input.given import arguments

    robot = subject.load(out)
    given = arguments(robot.model, asked)
    out.answer(f"planning for {robot.name}", lambda progress: robot.plan(**given, progress=progress))
