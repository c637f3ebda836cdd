"""``kronbot modes``."""

from __future__ import annotations

import click

from kronbot.cli import options
from kronbot.cli.files import check_target


@click.command(short_help="Natural frequencies and shapes, joints locked and free, at any posture and spin rate.")
@options.robot_argument
@options.order_option
@options.set_option
@options.q_option
@options.qd_option
@click.option(
    "--convergence", type=click.IntRange(1, 64), metavar="N", help="Frequencies over 1 ... N modes a direction."
)
@options.output_options
def modes(
    robot: str,
    order: str,
    settings: tuple[str, ...],
    q: str | None,
    qd: str | None,
    convergence: int | None,
    style: str,
    output: str | None,
    array: str | None,
    overwrite: bool,
    quiet: bool,
    debug: bool,
) -> None:
    """Modes of ROBOT about its straight posture at the joints of --q, spinning with the rates of --qd.

    With joints locked and with joints free; joints that spin stay locked in both. Gravity and spin enter the stiffness.

    \b
    Examples:
      kronbot modes canadarm
      kronbot modes spin-up --qd q1=4 --convergence 5
      kronbot modes spatial --q 0,0.5,0,0.3 --format csv --array frequencies_locked
    """
    check_target(output, overwrite)
    model = options.load_robot(robot, order, settings, quiet)

    from kronbot.cli.points import one_point
    from kronbot.cli.render import render
    from kronbot.mechanics.vibration import vibration

    at = one_point(model, {"q": q, "qd": qd})
    render(vibration(model, at["q"], at["qd"], convergence), style, output, array, quiet)
