"""``kronbot view``."""

from __future__ import annotations

import click

from kronbot.cli.input import options
from kronbot.cli.input.option import option
from kronbot.cli.input.options import Subject
from kronbot.cli.output.answers import Output, demand_page, save_page
from kronbot.cli.output.files import check_place
from kronbot.errors import UsageError


@click.command(short_help="A page with the robot in 3D, and sliders for its joints and beams.")
@options.subject_options
@options.q_of_one_point_option
@options.output_option("The page, a file that ends in .html.")
@option("--open", is_flag=True, help="Show it in the browser.")
@options.overwrite_option("Let -o replace a file that is there.")
@options.message_options
def view(subject: Subject, q: str | None, output: str | None, open: bool, overwrite: bool, quiet: bool) -> None:
    """Show ROBOT in a page: in 3D, with a slider for each joint and each mode of its beams, beginning at --q.

    The page needs no server: the kinematics of the robot, at the order that was asked, are in it.

    \b
    Examples:
      kronbot view canadarm -o robot.html
      kronbot view spatial --q q2=pi/4 -o robot.html --open
    """
    if output is None:
        raise UsageError("a page is a file: give -o robot.html")
    demand_page(output, "-o")
    check_place("-o", output, overwrite)
    robot = subject.load(Output("table", output, overwrite, quiet))

    from kronbot.cli.input.given import arguments
    from kronbot.cli.output.progress import progress_bar

    with progress_bar(f"drawing {robot.name}", quiet):  # of forty beams it takes ten seconds
        page = robot.view(**arguments(robot.model, {"q": q})).html
    save_page(output, page, open)
