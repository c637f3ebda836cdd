"""``kronbot hessian``."""

from __future__ import annotations

import click

from kronbot.cli import options, questions
from kronbot.cli.files import check_target


@click.command(short_help="Hessians of any frame (Khang derivatives of the Jacobians), as numbers or formulas.")
@options.robot_argument
@options.order_option
@options.set_option
@options.frame_options
@options.q_option
@options.qd_option
@options.qdd_option
@questions.symbolic_options
@options.output_options
def hessian(
    robot: str,
    order: str,
    settings: tuple[str, ...],
    frame: str,
    axes: str,
    q: str | None,
    qd: str | None,
    qdd: str | None,
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
    """Hessians H_T, H_R of a frame of ROBOT: the Khang derivatives of its Jacobians, 3 x n^2.

    Acceleration is J_T qdd + H_T (qd x qd), the Kronecker product of the rates; --qd and --qdd give it. With --in body
    also H_T_star = R^T H_T, which takes the place of H_T there.

    \b
    Examples:
      kronbot hessian canadarm --q 0.1,pi/4,0
      kronbot hessian stacker --symbolic
      kronbot hessian stacker --frame com:boom --latex
    """
    check_target(output, overwrite)
    wanted = questions.wish({"q": q, "qd": qd, "qdd": qdd}, symbolic, latex, short, cse, seconds)
    model = options.load_robot(robot, order, settings, quiet)

    from kronbot.cli.render import render
    from kronbot.mechanics import jacobians

    rates = qd is not None or qdd is not None
    asked = jacobians.hessian(model, jacobians.view(model, frame, axes), rates)
    render(questions.answer(model, asked, wanted, lambda arrays: {}), style, output, array, quiet)
