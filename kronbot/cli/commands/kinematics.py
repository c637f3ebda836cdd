"""``kronbot kinematics``."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from kronbot.cli.input import asking as questions
from kronbot.cli.input import completion, options
from kronbot.cli.input.asking import Formulas
from kronbot.cli.input.option import VALUED, Whole, option
from kronbot.cli.input.options import Subject
from kronbot.cli.output.answers import Output
from kronbot.errors import UsageError


@click.command(short_help="Where frames are and how they are turned: matrices, angles, quaternions; as formulas.")
@options.subject_options
@option(
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
@option(
    "--inverse",
    type=VALUED,
    metavar="POSE",
    shell_complete=completion.pose,
    help="The joints for a pose: x,y,z, or with roll,pitch,yaw or qx,qy,qz,qw after them, or by name x=0.4,y=0.1 (what "
    "is left out is free). --q is where the search begins, and holds the beams.",
)
@option("--starts", type=Whole(1, 100_000), metavar="N", help="With --inverse: places to begin at; default 100.")
@questions.symbolic_options
@options.output_options(formulas=True, plot=True)
def kinematics(subject: Subject, frame: tuple[str, ...], formulas: Formulas, out: Output, **asked: Any) -> None:
    """Poses of frames of ROBOT at --q: position x, y, z, angles roll, pitch, yaw, quaternion qx, qy, qz, qw.

    Rotations are R = Rz(yaw) Ry(pitch) Rx(roll); T is the homogeneous matrix of each frame. With --inverse all joint
    values within the limits that bring a frame to a pose, as far as they are found.

    \b
    Examples:
      kronbot kinematics canadarm --q 0.1,pi/4,0
      kronbot kinematics puma560 --q q2=pi/4 --frame all --plot arm.png
      kronbot kinematics canadarm --frame base-to:upper,wrist
      kronbot kinematics stacker --symbolic --short
      kronbot kinematics puma560 --q @rows.csv --array pose -o poses.csv
      kronbot kinematics puma560 --inverse 0.4,0.1,0.3,0,pi/2,0 --format csv --array solutions
      kronbot kinematics canadarm --inverse x=9,y=4 --q 0.5,0.5,0.5
    """
    out.check()
    at = {"q": asked["q"]}
    formulas.check(at, out.output)
    formulas.check_picture(out.drawn)
    if formulas.style is not None and asked["inverse"] is not None:
        raise UsageError("--inverse finds numbers: leave out --symbolic")
    robot = subject.load(out)
    if asked["inverse"] is not None or asked["starts"] is not None:
        from kronbot.cli.input.given import arguments

        given = arguments(robot.model, asked)
        out.answer(f"inverse kinematics of {robot.name}", lambda progress: robot.kinematics(**given, frame=frame))
        return
    numeric = partial(robot.kinematics, frame=frame)
    answers = questions.answer(robot, at, formulas, numeric, lambda forms: forms.kinematics(frame), out)
    if out.drawn is None:
        out.render_blocks(answers)
        return

    from kronbot.cli.input.points import demand_point_to_draw

    demand_point_to_draw(out.drawn, at)
    out.answer(f"kinematics of {robot.name}", lambda progress: next(answers))
