"""``kronbot modes``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kronbot.cli.input import options
from kronbot.cli.input.options import Output, Subject
from kronbot.cli.output.pictures import check_picture, write

if TYPE_CHECKING:
    from kronbot.questions.result import Result


@click.command(short_help="Natural frequencies and shapes, joints locked and free, at any posture and spin rate.")
@options.subject_options
@options.q_option
@options.qd_option
@click.option(
    "--convergence", type=click.IntRange(1, 64), metavar="N", help="Frequencies over 1 ... N modes a direction."
)
@options.plot_option
@options.output_options
def modes(
    subject: Subject,
    q: str | None,
    qd: str | None,
    convergence: int | None,
    plot: str | None,
    out: Output,
) -> None:
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
    check_picture(plot, out.overwrite)
    robot = subject.load(out)

    from kronbot.cli.input.points import all_rows, demand_point_to_draw
    from kronbot.cli.output.progress import progress_bar
    from kronbot.plots.modes import draw

    at = {"q": q, "qd": qd}
    demand_point_to_draw(plot, at)

    def answer() -> Result:
        with progress_bar(f"modes of {robot.name}", out.quiet) as progress:
            return robot.modes(**all_rows(robot.model, at), convergence=convergence, progress=progress)

    def picture(result: Result) -> None:
        if plot is not None:
            write(plot, draw(robot.model, result))

    out.render_all_there_is(answer, picture)
