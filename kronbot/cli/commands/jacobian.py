"""``kronbot jacobian``."""

from __future__ import annotations

from functools import partial

import click

from kronbot.cli.input import asking as questions
from kronbot.cli.input import options
from kronbot.cli.input.asking import Formulas
from kronbot.cli.input.option import option
from kronbot.cli.input.options import Subject
from kronbot.cli.output.answers import Output


@click.command(short_help="Jacobians of translation and rotation of any frame, as numbers or formulas.")
@options.subject_options
@options.frame_options
@options.q_option
@options.qd_option
@option(
    "--generalized",
    is_flag=True,
    help="Of a robot that floats: by its joints, while its base goes as zero momentum demands.",
)
@questions.symbolic_options
@options.output_options(formulas=True, plot=True)
def jacobian(
    subject: Subject,
    frame: str,
    axes: str,
    q: str | None,
    qd: str | None,
    generalized: bool,
    formulas: Formulas,
    out: Output,
) -> None:
    """Jacobians J_T, J_R of a frame of ROBOT: velocity J_T qd, angular velocity J_R qd.

    Singular values, manipulability and condition number stand in the summary; with --qd the velocities too.

    \b
    Examples:
      kronbot jacobian canadarm --q 0.1,pi/4,0
      kronbot jacobian canadarm --frame base-to:upper,wrist --in body
      kronbot jacobian stacker --symbolic --short
      kronbot jacobian puma560 --q @rows.csv -o jacobians.npz
      kronbot jacobian floating-canadarm --q 0.1,pi/4,0 --generalized
      kronbot jacobian spatial --q 0,0.5,2,0.3 --plot ellipsoid.png
    """
    out.check()
    at = {"q": q, "qd": qd}
    formulas.check(at, out.output)
    formulas.check_picture(out.drawn)
    robot = subject.load(out)
    if formulas.style is None:
        out.demand_held(robot, "jacobian", questions.given(at | {"generalized": generalized or None}))
    numeric = partial(robot.jacobian, frame=frame, axes=axes, generalized=generalized)
    answers = questions.answer(robot, at, formulas, numeric, lambda f: f.jacobian(frame, axes, generalized), out)
    if out.drawn is None:
        out.render_blocks(answers)
        return

    from kronbot.cli.input.points import demand_point_to_draw

    demand_point_to_draw(out.drawn, at)
    out.answer(f"jacobian of {robot.name}", lambda progress: next(answers))
