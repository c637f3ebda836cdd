"""``kronbot taylor``."""

from __future__ import annotations

from typing import Any

import click

from kronbot.cli.input import options
from kronbot.cli.input.option import Whole, option
from kronbot.cli.input.options import Subject
from kronbot.cli.output.answers import Output
from kronbot.description import choices


@click.command(short_help="Taylor expansions of M, C*, g, Jacobians and positions to any order.")
@options.subject_options
@options.choice_option("--of", choices.EXPANDED, "M", "What to expand.")
@option(
    "--terms",
    type=Whole(0, choices.TERMS),
    default=2,
    show_default=True,
    help="Highest power of the expansion.",
)
@options.q_of_one_point_option
@options.values_option("--delta", "Change of q: the expansion there, the exact value and the error.")
@options.frame_options
@options.output_options()
def taylor(subject: Subject, out: Output, **asked: Any) -> None:
    """Taylor coefficients d^k/dq^k of a matrix of ROBOT at --q, Khang derivatives of s n^k columns.

    With --delta the expansion there, by directional derivatives whose cost does not grow as n^k, beside the exact
    value; largest_error.k in the summary is the error of order k.

    \b
    Examples:
      kronbot taylor canadarm --of M --terms 1
      kronbot taylor stacker-numeric --terms 4 --q 0.47,0.83,-0.36 --delta 0.09,0.23,-0.17
      kronbot taylor puma560 --of position --terms 6 --delta q2=0.3
    """
    out.check()
    robot = subject.load(out)

    from kronbot.cli.input.given import arguments

    given = arguments(robot.model, asked)
    out.demand_held(robot, "taylor", given)
    out.render(robot.taylor(**given))
