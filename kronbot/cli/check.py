"""``kronbot check``."""

from __future__ import annotations

import click

from kronbot.cli import options
from kronbot.cli.files import check_target


@click.command(short_help="What the file describes: masses, lengths, coordinates, natural frequencies, warnings.")
@options.robot_argument
@options.order_option
@options.set_option
@options.output_options
def check(
    robot: str,
    order: str,
    settings: tuple[str, ...],
    style: str,
    output: str | None,
    array: str | None,
    overwrite: bool,
    quiet: bool,
    debug: bool,
) -> None:
    """Check the file of ROBOT and say what it describes.

    Every mistake is reported as file:line:column: message, and warnings likewise. Natural frequencies are those at
    q = 0 without gravity, with joints locked and with joints free.

    \b
    Examples:
      kronbot check canadarm
      kronbot check arm.yaml --format json | jq .summary.total_mass
    """
    check_target(output, overwrite)
    model = options.load_robot(robot, order, settings, quiet)

    from kronbot.cli.render import render
    from kronbot.mechanics.survey import survey

    render(survey(model), style, output, array, quiet)
