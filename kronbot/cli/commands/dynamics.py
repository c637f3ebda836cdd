"""``kronbot dynamics``."""

from __future__ import annotations

import click

from kronbot.cli.input import asking as questions
from kronbot.cli.input import options
from kronbot.cli.input.asking import Formulas
from kronbot.cli.input.options import Subject
from kronbot.cli.output.answers import Output


@click.command(short_help="Equations of motion: M, C, C*, dM/dq, g, K, D, tau, as numbers or formulas.")
@options.subject_options
@options.q_option
@options.qd_option
@options.qdd_option
@questions.symbolic_options
@options.output_options(formulas=True)
def dynamics(subject: Subject, q: str | None, qd: str | None, qdd: str | None, formulas: Formulas, out: Output) -> None:
    """Equations of motion of ROBOT: M qdd + C_star (qd x qd) + g + K q + D qd = tau, x the Kronecker product.

    With --qd or --qdd also the Coriolis matrices C (Khang) and C_christoffel, and the forces tau of that motion.

    \b
    Examples:
      kronbot dynamics canadarm --q 0.1,pi/4,0 --array M
      kronbot dynamics stacker --symbolic --short
      kronbot dynamics puma560 --q 0,pi/4,0,0,0,0 --qd q1=1 --format json | jq .arrays.tau
    """
    out.check()
    at = {"q": q, "qd": qd, "qdd": qdd}
    formulas.check(at, out.output)
    robot = subject.load(out)
    if formulas.style is None:
        out.demand_held(robot, "dynamics", questions.given(at))
    out.render_blocks(questions.answer(robot, at, formulas, robot.dynamics, lambda forms: forms.dynamics(), out))
