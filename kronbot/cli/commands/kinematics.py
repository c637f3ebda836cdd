"""``kronbot kinematics``."""

from __future__ import annotations

from functools import partial

import click

from kronbot.cli.input import asking as questions
from kronbot.cli.input import completion, options
from kronbot.cli.input.asking import Formulas
from kronbot.cli.input.options import Output, Subject


@click.command(short_help="Where frames are and how they are turned: matrices, angles, quaternions; as formulas.")
@options.subject_options
@click.option(
    "--frame",
    multiple=True,
    default=("endpoint",),
    show_default=True,
    metavar="FRAME",
    shell_complete=completion.frames,
    help="endpoint, LINK (its tip), LINK:root, com:LINK, base-to:A,B (B seen from A), or all: endpoint and links; "
    "may be repeated.",
)
@options.q_option
@questions.symbolic_options
@options.output_options(formulas=True, plot=True)
def kinematics(subject: Subject, frame: tuple[str, ...], q: str | None, formulas: Formulas, out: Output) -> None:
    """Poses of frames of ROBOT at --q: position x, y, z, angles roll, pitch, yaw, quaternion qx, qy, qz, qw.

    Rotations are R = Rz(yaw) Ry(pitch) Rx(roll); T is the homogeneous matrix of each frame.

    \b
    Examples:
      kronbot kinematics canadarm --q 0.1,pi/4,0
      kronbot kinematics puma560 --q q2=pi/4 --frame all --plot arm.png
      kronbot kinematics canadarm --frame base-to:upper,wrist
      kronbot kinematics stacker --symbolic --short
      kronbot kinematics puma560 --q @rows.csv --array pose -o poses.csv
    """
    out.check()
    at = {"q": q}
    formulas.check(at)
    formulas.check_picture(out.plot)
    robot = subject.load(out)
    numeric = partial(robot.kinematics, frame=frame)
    answers = questions.answer(robot, at, formulas, numeric, lambda forms: forms.kinematics(frame), out.array)
    if out.plot is None:
        out.render_blocks(answers)
        return

    from kronbot.cli.input.points import demand_point_to_draw

    demand_point_to_draw(out.plot, at)
    out.answer(f"kinematics of {robot.name}", lambda progress: next(answers))
