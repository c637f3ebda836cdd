"""``kronbot hessian``."""

from __future__ import annotations

from functools import partial

import click

from kronbot.cli.input import asking as questions
from kronbot.cli.input import options
from kronbot.cli.input.asking import Formulas
from kronbot.cli.input.options import Subject
from kronbot.cli.output.answers import Output


@click.command(short_help="Hessians of any frame (Khang derivatives of the Jacobians), as numbers or formulas.")
@options.subject_options
@options.frame_options
@options.q_option
@options.qd_option
@options.qdd_option
@questions.symbolic_options
@options.output_options(formulas=True)
def hessian(
    subject: Subject,
    frame: str,
    axes: str,
    q: str | None,
    qd: str | None,
    qdd: str | None,
    formulas: Formulas,
    out: Output,
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
    out.check()
    at = {"q": q, "qd": qd, "qdd": qdd}
    formulas.check(at, out.output)
    robot = subject.load(out)
    if formulas.style is None:
        out.demand_held(robot, "hessian", {**questions.given(at), "axes": axes})
    numeric = partial(robot.hessian, frame=frame, axes=axes)
    answers = questions.answer(robot, at, formulas, numeric, lambda forms: forms.hessian(frame, axes), out)
    out.render_blocks(answers)
