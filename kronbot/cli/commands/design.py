"""``kronbot design``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from kronbot.cli.input import completion, options
from kronbot.cli.input.option import LISTED, option
from kronbot.cli.input.options import Quantity, Subject
from kronbot.cli.output.answers import Output
from kronbot.cli.output.files import tell
from kronbot.description import choices

# Arrays of answers to rows alone.
OF_ROWS = ("q", "margins")


@click.command(short_help="State feedback about an equilibrium: LQR or poles, Kalman filter, margins; input shapers.")
@options.subject_options
@options.q_option
@option("--lqr", is_flag=True, help="The feedback of the least integral of weighted squares.")
@option(
    "--poles", type=LISTED, metavar="POLES", help="The feedback with these poles: -4,-2+3j; a complex one is a pair."
)
@option("--shaper", type=click.Choice(choices.SHAPERS), help="An input shaper for the lowest mode.")
@option(
    "--weights",
    type=LISTED,
    metavar="NAME=VALUE,...",
    help="With --lqr: of coordinates and rates; default: 1 of motors.",
)
@option("--effort", type=LISTED, metavar="JOINT=VALUE,...", help="With --lqr: weights of torques; default 1.")
@option(
    "--noise",
    type=LISTED,
    metavar="NAME=VALUE,...",
    help="Adds a Kalman filter: densities of sensors, and of torque.q1.",
)
@option(
    "--deviation", type=LISTED, metavar="NAME=VALUE,...", help="With --lqr: from where costs are told; default: 0.01."
)
@option(
    "--lock", type=LISTED, metavar="JOINTS", shell_complete=completion.joints, help="Joints that do not move: q1,q2."
)
@option("--motion", is_flag=True, help="With --lqr: gains over time, along the file's motion.")
@option("--duration", type=Quantity(), help="With --motion: how long, s; default: its period, or its length.")
@options.output_options(plot=True, page=False)
def design(subject: Subject, out: Output, **asked: Any) -> None:
    """Gains about the equilibrium of ROBOT at the joints of --q, or an input shaper for its lowest mode there.

    -o gains.csv is what "control: {state_feedback: {K: gains.csv}}" reads; the poles of the closed loop and the other
    arrays stand in .json, .npz and .mat, margins at the torques and the cost of coming back from a deviation, predicted
    and simulated, in the summary.

    \b
    Examples:
      kronbot design khang --lqr --weights qa=100 -o gains.csv
      kronbot design khang --poles=-1+2j,-20+60j --q qa=pi/4
      kronbot design canadarm --lqr --q @postures.csv -o schedule.npz
      kronbot design arm.yaml --lqr --motion -o gains.csv
      kronbot design canadarm --shaper ei --q 0.5,0.5,1
      kronbot design canadarm --lqr --noise q1=1e-4,q2=1e-4,q3=1e-4 --format json
    """
    out.check()
    alone = out.is_csv and out.array is None
    if alone:
        out = replace(out, array="impulses" if asked["shaper"] else "gains")
    robot = subject.load(out)

    from kronbot.cli.input.given import arguments

    given = arguments(robot.model, asked, rows=True)
    if out.panels is not None:
        from kronbot.plots.design import words

        shaper, motion, filtered = (bool(asked[name]) for name in ("shaper", "motion", "noise"))
        out.demand_panels(words(robot.model, shaper, motion, filtered))
    out.demand_held(robot, "design", given, OF_ROWS)
    out.answer(f"designing for {robot.name}", lambda progress: robot.design(**given, progress=progress))
    if alone and not asked["shaper"]:
        tell("csv holds the gains; for K and what else there is --array K, or -o with .json, .npz or .mat")
