"""``kronbot dynamics``."""

from __future__ import annotations

import click

from kronbot.cli import options, questions
from kronbot.cli.files import check_target


@click.command(short_help="Equations of motion: M, C, C*, dM/dq, g, K, D, tau, as numbers or formulas.")
@options.robot_argument
@options.order_option
@options.set_option
@options.q_option
@options.qd_option
@options.qdd_option
@questions.symbolic_options
@options.output_options
def dynamics(
    robot: str,
    order: str,
    settings: tuple[str, ...],
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
    """Equations of motion of ROBOT: M qdd + C_star (qd x qd) + g + K q + D qd = tau, x the Kronecker product.

    With --qd or --qdd also the Coriolis matrices C (Khang) and C_christoffel, and the forces tau of that motion.

    \b
    Examples:
      kronbot dynamics canadarm --q 0.1,pi/4,0 --array M
      kronbot dynamics stacker --symbolic --short
      kronbot dynamics puma560 --q 0,pi/4,0,0,0,0 --qd q1=1 --format json | jq .arrays.tau
    """
    check_target(output, overwrite)
    wanted = questions.wish({"q": q, "qd": qd, "qdd": qdd}, symbolic, latex, short, cse, seconds)
    model = options.load_robot(robot, order, settings, quiet)

    from kronbot.cli.render import render
    from kronbot.mechanics import lagrange

    rates = qd is not None or qdd is not None or wanted.style is not None
    asked = lagrange.dynamics(model, rates)
    render(questions.answer(model, asked, wanted, lambda arrays: {}), style, output, array, quiet)
