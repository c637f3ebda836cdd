"""``kronbot modes``."""

from __future__ import annotations

from typing import Any

import click

from kronbot.cli.input import options
from kronbot.cli.input.option import Whole, option
from kronbot.cli.input.options import Subject
from kronbot.cli.output.answers import Output


@click.command(short_help="Natural frequencies and shapes, joints locked and free, at any posture and spin rate.")
@options.subject_options
@options.q_option
@options.qd_option
@option("--convergence", type=Whole(1, 64), metavar="N", help="Frequencies over 1 ... N modes a direction.")
@options.output_options(plot=True)
def modes(subject: Subject, out: Output, **asked: Any) -> None:
    """Modes of ROBOT about its straight posture at the joints of --q, spinning with the rates of --qd.

    With joints locked and with joints free; joints that spin stay locked in both. Gravity and spin enter the stiffness.

    \b
    Examples:
      kronbot modes canadarm --plot shapes.pdf
      kronbot modes spin-up --qd q1=4 --convergence 5
      kronbot modes spatial --q 0,0.5,0,0.3 --format csv --array frequencies_locked
      kronbot modes spin-up --qd @rates.csv -o frequencies.csv --array frequencies_free
    """
    out.check()
    robot = subject.load(out)

    from kronbot.cli.input.given import arguments
    from kronbot.cli.input.points import demand_point_to_draw

    demand_point_to_draw(out.drawn, asked)
    given = arguments(robot.model, asked, rows=True)
    out.demand_held(robot, "modes", given)
    out.answer(f"modes of {robot.name}", lambda progress: robot.modes(**given, progress=progress))
