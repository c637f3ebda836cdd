"""``kronbot jacobian``."""

from __future__ import annotations

import click

from kronbot.cli import options, questions
from kronbot.cli.files import check_target


@click.command(short_help="Jacobians of translation and rotation of any frame, as numbers or formulas.")
@options.robot_argument
@options.order_option
@options.set_option
@options.frame_options
@options.q_option
@options.qd_option
@questions.symbolic_options
@options.output_options
def jacobian(
    robot: str,
    order: str,
    settings: tuple[str, ...],
    frame: str,
    axes: str,
    q: str | None,
    qd: str | None,
    symbolic: str | None,
    latex: bool,
    short: bool,
    cse: bool,
    seconds: float,
    style: str,
    output: str | None,
    array: str | None,
    overwrite: bool,
    quiet: bool,
    debug: bool,
) -> None:
    """Jacobians J_T, J_R of a frame of ROBOT: velocity J_T qd, angular velocity J_R qd.

    Singular values, manipulability and condition number stand in the summary; with --qd the velocities too.

    \b
    Examples:
      kronbot jacobian canadarm --q 0.1,pi/4,0
      kronbot jacobian canadarm --frame base-to:upper,wrist --in body
      kronbot jacobian stacker --symbolic --short
      kronbot jacobian puma560 --q @rows.csv -o jacobians.npz
    """
    check_target(output, overwrite)
    wanted = questions.wish({"q": q, "qd": qd}, symbolic, latex, short, cse, seconds)
    model = options.load_robot(robot, order, settings, quiet)

    from kronbot.cli.render import render
    from kronbot.mechanics import jacobians

    asked = jacobians.jacobian(model, jacobians.view(model, frame, axes), rates=qd is not None)
    render(questions.answer(model, asked, wanted, jacobians.dexterity), style, output, array, quiet)
