"""``kronbot linearize``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from kronbot.cli.input import asking as questions
from kronbot.cli.input import completion, options
from kronbot.cli.input.asking import Formulas
from kronbot.cli.input.options import Output, Quantity, Subject
from kronbot.errors import UsageError

if TYPE_CHECKING:
    from kronbot.questions.result import Result


class Moving(click.Command):
    """A command whose ``--motion`` may stand without a value, and before ROBOT."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """What follows ``--motion`` is its value where it reads as a mapping, or ROBOT stands before."""
        for place in [i for i, word in enumerate(args) if word == "--motion"]:
            following = args[place + 1] if place + 1 < len(args) else ""
            mapping = "{" in following or ": " in following or following.endswith(":")
            if not mapping and args[0].startswith("-"):
                args[place] = "--motion="
        return super().parse_args(ctx, args)


@click.command(
    cls=Moving, short_help="Linear model about a point, an equilibrium or a motion: matrices, state space, modes."
)
@options.subject_options
@options.q_option
@options.qd_option
@options.qdd_option
@click.option(
    "--tau",
    metavar="VALUES",
    shell_complete=completion.joint_values,
    help="Joint torques in h_L; default: those of the rigid arm.",
)
@click.option("--force", metavar="X,Y,Z", help="Dead force at the endpoint, N, base frame.")
@click.option("--equilibrium", is_flag=True, help="Solve for deflections and holding torques at the joints of --q.")
@click.option(
    "--motion",
    is_flag=False,
    flag_value="",
    metavar="[MOTION]",
    help="Along the file's motion, or along the one given, written as in a file; Floquet multipliers if periodic.",
)
@click.option("--duration", type=Quantity(), help="With --motion: how long, s; default: a period, else simulate's.")
@click.option("--step", type=Quantity(), help="With --motion: step of the grid, s.")
@click.option("--period", type=Quantity(), help="With --motion: its period, s; default: found from the motions.")
@click.option(
    "--lock",
    metavar="JOINTS",
    shell_complete=completion.joints,
    help="Joints that follow the basic motion exactly: q1,q2 or all.",
)
@click.option("--inputs", default="torques,force", show_default=True, help="Of the state space: torques, force.")
@click.option("--outputs", default="joints,endpoint", show_default=True, help="joints, endpoint, gauges.")
@questions.symbolic_options
@options.output_options(formulas=True, plot=True, pair=True)
def linearize(
    subject: Subject,
    q: str | None,
    qd: str | None,
    qdd: str | None,
    tau: str | None,
    force: str | None,
    equilibrium: bool,
    motion: str | None,
    duration: float | None,
    step: float | None,
    period: float | None,
    lock: str | None,
    inputs: str,
    outputs: str,
    formulas: Formulas,
    out: Output,
) -> None:
    """Linear model M_L y'' + D_L y' + K_L y = h_L of ROBOT, y being the deviation from the basic motion.

    About a point (--q, --qd, --qdd; torques of the rigid arm unless --tau), about an --equilibrium, or along the file's
    --motion. With it come the state space A, B, C, D, natural frequencies, damping ratios, mode shapes and a verdict
    about stability that names the model it holds for. --symbolic gives the matrices about a rigid motion as formulas.

    \b
    Examples:
      kronbot linearize canadarm
      kronbot linearize khang --equilibrium --q qa=pi/4 -o khang.mat --plot khang.pdf
      kronbot linearize canadarm --equilibrium --q @postures.csv -o models.npz
      kronbot linearize khang --order 1 --symbolic
      kronbot linearize torso --motion --lock all --format json
      kronbot linearize khang --motion 'qa: {type: sinusoid, amplitude: 0.2, frequency: 5}'
    """
    out.check()
    at = {"q": q, "qd": qd, "qdd": qdd}
    formulas.check(at)
    formulas.check_picture(out.plot)
    along = motion is not None
    if along and (equilibrium or formulas.style is not None or any(at.values()) or tau or force):
        raise UsageError("--motion takes its points from the file: leave out --q, --tau, --equilibrium and --symbolic")
    if formulas.style is not None and (equilibrium or tau or force):
        raise UsageError("formulas hold for any torques, without load: leave out --equilibrium, --tau and --force")
    if not along and (duration or step or period):
        raise UsageError("--duration, --step and --period go with --motion")
    robot = subject.load(out)

    from kronbot.cli.input.points import all_rows, demand_point_to_draw, of_joints
    from kronbot.description.yaml.source import Source

    if along:
        moving = robot.with_motion(motion) if motion else robot
        if motion:
            options.keep_tables_apart(Source("motion", motion, robot.description.source.folder))
        out.answer(
            f"linear models of {robot.name}",
            lambda progress: moving.linearize_along(
                lock=lock, duration=duration, step=step, period=period, progress=progress
            ),
        )
        return
    demand_point_to_draw(out.plot, at)

    def ask(progress: Callable[[float], None]) -> Result:
        def numeric() -> Result:
            return robot.linearize(
                **all_rows(robot.model, at),
                tau=of_joints(robot.model, tau, "--tau"),
                force=(0.0, 0.0, 0.0) if force is None else force.split(","),
                equilibrium=equilibrium,
                lock=lock or (),
                inputs=inputs,
                outputs=outputs,
                progress=progress,
            )

        return next(
            questions.answer(robot, {}, formulas, numeric, lambda forms: forms.linearize(lock or ()), out.array)
        )

    out.answer(f"linear models of {robot.name}", ask)
